//! The batches of sources: read on one thread, worked on on all, their results in input order.

use super::ordered::{self, Feed, Feeder, Load, READER, Room, Weighed};
use crate::error::Error;
use crate::source::{Batch, Source};
use std::collections::VecDeque;
use std::thread;

/// What the promise about the memory of the process allows for each of these, in addition to a share of the budget: signing, a
/// long document that is signed alone, and the batches between reading and taking.
pub(crate) const SIGNING_BYTES: u64 = 32 << 20;
pub(crate) const ALONE_BYTES: u64 = 56 << 20;
const ROOM_BYTES: u64 = 24 << 20;

/// The maximum number and size of the batches between reading and taking.
pub(crate) fn room(threads: usize, memory: u64) -> Room {
    Room { pieces: 6 * threads, bytes: memory / 16 + ROOM_BYTES }
}

/// One of the sources of a run.
pub(crate) struct Side<'a> {
    /// Whether it is the reference.
    pub reference: bool,
    pub source: &'a mut dyn Source,
}

impl<'a> Side<'a> {
    /// The sides of a run. The reference comes first in input order.
    pub fn both<'s: 'a, 'r: 'a>(
        source: &'a mut (dyn Source + 's),
        reference: Option<&'r mut (dyn Source + 'r)>,
    ) -> Vec<Self> {
        let reference: Option<Side<'a>> = reference.map(|source| Side { reference: true, source });
        reference.into_iter().chain([Side { reference: false, source }]).collect()
    }
}

/// A batch with its place in the order.
pub(crate) struct Numbered {
    pub number: usize,
    /// Of what is made of it.
    pub load: Load,
    pub reference: bool,
    pub batch: Batch,
}

/// Batches for the workers: those that were read ahead, then the rest.
pub(crate) struct Queue {
    pub held: VecDeque<Weighed<Numbered>>,
    pub batches: Feed<Numbered>,
}

impl Queue {
    fn next(&mut self) -> Option<Weighed<Numbered>> {
        self.held.pop_front().or_else(|| self.batches.next())
    }
}

/// Passes every batch through `work` on some thread, with what `scratch` makes for each thread, and passes the results to `take` in
/// input order. `begin` runs first and may read the first batches; its value is lent to every call of `work`. The first error ends the
/// run, and so does a [failure](Source::failure) of a source.
///
/// Between reading a batch and taking its result there are no more batches and bytes than there is room for, however long one
/// batch takes. A panic of the source, or of a worker, continues in the calling thread.
pub(crate) fn in_parallel<C: Sync, S: Send, T: Send>(
    (threads, room): (usize, Room),
    sources: &mut [Side<'_>],
    begin: impl FnOnce(&mut Queue) -> Result<C, Error>,
    scratch: impl Fn() -> S,
    work: impl Fn(&C, Numbered, &mut S) -> T + Sync,
    take: impl FnMut(T) -> Result<(), Error>,
) -> Result<C, Error> {
    let result: Result<C, Error> = thread::scope(|scope| {
        let (feeder, batches) = ordered::feed(room);
        let pass = batches.pass();
        let sources = &mut *sources;
        let read = move || feeder.run(|feeder| read_all(sources, feeder));
        thread::Builder::new().name(READER.into()).spawn_scoped(scope, read).map_err(Error::no_threads)?;
        let mut queue = Queue { held: VecDeque::new(), batches };
        let context = begin(&mut queue)?;
        let worker = || {
            let (context, work, mut scratch) = (&context, &work, scratch());
            move |numbered| work(context, numbered, &mut scratch)
        };
        ordered::map_fed(threads, pass, || queue.next(), worker, take)?;
        Ok(context)
    });
    let context = result?;
    sources.iter().find_map(|side| side.source.failure()).map_or(Ok(context), Err)
}

/// Sends the batches of all sources, until the receiver is dropped.
fn read_all(sources: &mut [Side<'_>], feeder: &Feeder<Numbered>) {
    let mut number = 0;
    for side in sources {
        side.source.read(&mut |batch| {
            number += 1;
            let weight = BYTES_A_BYTE * batch.bytes_held();
            let load = feeder.load(number as u64 - 1);
            feeder.give(Numbered { number: number - 1, load, reference: side.reference, batch }, weight)
        });
    }
}

/// The memory of a batch and of its result for each byte of its records.
const BYTES_A_BYTE: u64 = 2;
