//! A parallel map with its results in order: the only one in this crate.
//!
//! ```text
//! next() → piece 0, 1, 2, …   one thread at a time     [`Room`] bounds what is between here …
//!          work(piece)        any thread
//!          results 0, 1, 2, … the calling thread       … and here
//! ```
//!
//! A piece is taken only while there is room for it, so that one slow piece delays the others instead of letting their
//! results accumulate. The thread with the earliest piece never waits, so there is no deadlock. With a [`feed`], a piece
//! needs room from when it was read: what waits for a worker counts too, so that at most one piece more is in memory. A result that outgrows
//! the weight of its piece [waits](Load) for room while it is made. A panic of `next` or
//! `work` replaces its result: it ends the map and continues in the calling thread. If the calling thread stops taking
//! results, by an error or a panic of its own, the workers end after their current piece. If the system starts fewer threads,
//! fewer work; if none, the calling thread does, where it can.

use crate::error::Error;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The names of threads, by which a profile or a list of threads shows what waits: the one that reads, and those that work on what it read. Those
/// of a pool are `dedup pool`.
pub(crate) const READER: &str = "dedup read";
const WORKER: &str = "dedup work";

/// The number of threads for the value of an option: 0 is one per core. More than 64, and more than four a core, are of no use and take
/// memory each: a greater value means that many.
pub(crate) fn workers(threads: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    match threads {
        0 => cores,
        threads => threads.min(64.max(4 * cores)),
    }
}

/// A pool of as many threads as [`workers`] returns.
///
/// # Errors
/// The system starts no threads.
pub(crate) fn thread_pool(threads: usize) -> Result<ThreadPool, Error> {
    ThreadPoolBuilder::new()
        .num_threads(workers(threads))
        .thread_name(|_| "dedup pool".into())
        .build()
        .map_err(Error::no_threads)
}

/// The maximum load between taking a piece and passing on its result. One piece is always allowed, however large.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Pieces.
    pub pieces: usize,
    /// Bytes, by the weight that the caller gives to pieces.
    pub bytes: u64,
}

/// Passes the pieces of `next` through workers on `threads` threads, and their results to `take`, in the order of the
/// pieces. `worker` is called once for each thread; `weigh` returns the weight of a piece in bytes.
///
/// # Errors
/// The first error of `take`, which ends the map.
///
/// # Panics
/// Continues a panic of `next` or of a worker, in the place of its result.
pub(crate) fn map<I: Send, T: Send, E, W: FnMut(I) -> T + Send>(
    threads: usize,
    room: Room,
    next: impl FnMut() -> Option<I> + Send,
    weigh: impl Fn(&I) -> u64 + Sync,
    worker: impl Fn() -> W,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    map_line(threads, Line::new(next, weigh, Gate::new(room), true), worker, take)
}

/// Passes the pieces of `next`, which takes them from a feed, through workers, as `map` does. `pass` is the counter of the
/// feed, whose room bounds the load.
///
/// # Errors
/// The first error of `take`, which ends the map.
///
/// # Panics
/// Continues a panic of the reader, of `next` or of a worker, in the place of its result.
pub(crate) fn map_fed<I: Send, T: Send, E, W: FnMut(I) -> T + Send>(
    threads: usize,
    pass: Pass,
    next: impl FnMut() -> Option<Weighed<I>> + Send,
    worker: impl Fn() -> W,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let line = Line::new(next, |piece: &Weighed<I>| piece.weight, pass.0, false);
    map_line(threads, line, || unweighed(worker()), take)
}

fn map_line<I: Send, T: Send, E, W: FnMut(I) -> T + Send>(
    threads: usize,
    line: Line<impl FnMut() -> Option<I> + Send, impl Fn(&I) -> u64 + Sync>,
    worker: impl Fn() -> W,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (done, receiver) = channel();
        // Closes the gate however this function ends, before the scope waits for the workers.
        let mut results = Results::new(receiver, Arc::clone(&line.gate));
        let start = |_| {
            let (line, done, work) = (&line, done.clone(), worker());
            thread::Builder::new().name(WORKER.into()).spawn_scoped(scope, move || line.work(&done, work)).is_ok()
        };
        let started = (0..threads.max(1)).take_while(|number| start(*number)).count();
        drop(done);
        if started == 0 {
            return line.work_here(worker(), take);
        }
        while let Some(result) = results.wait() {
            take(result)?;
        }
        Ok(())
    })
}

/// The work on pieces that carry their weight.
fn unweighed<I, T>(mut work: impl FnMut(I) -> T) -> impl FnMut(Weighed<I>) -> T {
    move |piece| work(piece.piece)
}

/// [`map_fed`] on threads of its own. They end soon after the results are dropped, or with the process, because the
/// reader may block for ever.
///
/// # Errors
/// No thread can be started.
pub(crate) fn spawn_fed<I: Send + 'static, T: Send + 'static, W: FnMut(I) -> T + Send + 'static>(
    threads: usize,
    mut feed: Feed<I>,
    worker: impl Fn() -> W,
) -> io::Result<Results<T>> {
    let gate = feed.pass().0;
    let line = Arc::new(Line::new(move || feed.next(), |piece: &Weighed<I>| piece.weight, gate, false));
    let (done, receiver) = channel();
    for number in 0..threads.max(1) {
        let (line, done, work) = (Arc::clone(&line), done.clone(), unweighed(worker()));
        match thread::Builder::new().name(WORKER.into()).spawn(move || line.work(&done, work)) {
            Err(error) if number == 0 => return Err(error),
            Err(_) => break,
            Ok(_) => {}
        }
    }
    Ok(Results::new(receiver, Arc::clone(&line.gate)))
}

/// A channel from a thread that reads pieces ahead of a map to the `next` of the map, with the room for what is between
/// reading a piece and passing on its result.
pub(crate) fn feed<I>(room: Room) -> (Feeder<I>, Feed<I>) {
    let (send, pieces) = channel();
    let gate = Gate::new(room);
    (Feeder { send: Some(send), gate: Arc::clone(&gate) }, Feed { pieces, gate })
}

/// A piece with its weight in bytes.
pub(crate) struct Weighed<I> {
    pub piece: I,
    weight: u64,
}

/// The counter of a feed, for [`map_fed`].
pub(crate) struct Pass(Arc<Gate>);

/// The sending end of a [`feed`].
pub(crate) struct Feeder<I> {
    /// `None` once it is being dropped.
    send: Option<Sender<thread::Result<Weighed<I>>>>,
    gate: Arc<Gate>,
}

impl<I> Feeder<I> {
    /// Runs the reader. A panic of it is sent in the place of its next piece.
    pub fn run(self, read: impl FnOnce(&Self)) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| read(&self))) {
            self.gate.enter(0);
            // If it cannot be sent, the calling thread has ended with an error or a panic of its own.
            _ = self.send(Err(panic));
        }
    }

    fn send(&self, piece: thread::Result<Weighed<I>>) -> ControlFlow<()> {
        match &self.send {
            Some(send) if send.send(piece).is_ok() => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }

    /// The load of the piece of this number, counted from 0 as they are sent.
    pub fn load(&self, number: u64) -> Load {
        Load { gate: Arc::clone(&self.gate), number, bytes: 0 }
    }

    /// Sends a piece of this weight, once there is room for it. `Break` if results are no longer taken.
    pub fn give(&self, piece: I, weight: u64) -> ControlFlow<()> {
        if !self.gate.wait_to_enter(weight) {
            return ControlFlow::Break(());
        }
        let sent = self.send(Ok(Weighed { piece, weight }));
        self.gate.announce();
        sent
    }
}

impl<I> Drop for Feeder<I> {
    fn drop(&mut self) {
        // First the end, then its announcement.
        self.send = None;
        self.gate.announce();
    }
}

/// What the result of a piece takes in addition to the weight of the piece, until it is dropped.
pub(crate) struct Load {
    gate: Arc<Gate>,
    /// The number of the piece.
    number: u64,
    bytes: u64,
}

impl Load {
    /// Raises it to this many bytes, once there is room. The earliest piece does not wait, so that there is no deadlock: a worker that
    /// calls this must hold nothing that others wait for. What it made already is there while it waits.
    pub fn raise(&mut self, bytes: u64) {
        if let Some(more) = bytes.checked_sub(self.bytes).filter(|&more| more > 0) {
            self.gate.add(self.number, more);
            self.bytes = bytes;
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.gate.subtract(self.bytes);
        }
    }
}

/// The receiving end of a [`feed`].
pub(crate) struct Feed<I> {
    pieces: Receiver<thread::Result<Weighed<I>>>,
    gate: Arc<Gate>,
}

impl<I> Feed<I> {
    /// Waits for the next piece.
    ///
    /// # Panics
    /// If the reader panicked: with the same panic.
    pub fn next(&mut self) -> Option<Weighed<I>> {
        self.pieces.recv().ok().map(|piece| piece.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// As [`next`](Self::next), before any result is taken; `None` also if the pieces so far leave no room for another.
    pub fn next_with_room(&mut self) -> Option<Weighed<I>> {
        loop {
            let announced = self.gate.announced();
            match self.pieces.try_recv() {
                Ok(piece) => return Some(piece.unwrap_or_else(|panic| resume_unwind(panic))),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) if !self.gate.wait_for_piece(announced) => return None,
                Err(TryRecvError::Empty) => {}
            }
        }
    }

    /// The counter of this feed.
    pub fn pass(&self) -> Pass {
        Pass(Arc::clone(&self.gate))
    }
}

impl<I> Drop for Feed<I> {
    fn drop(&mut self) {
        self.gate.close();
    }
}

/// A piece or a result: its number, its weight, and itself or the panic in its place.
type Done<T> = (u64, u64, thread::Result<T>);

/// The state that the workers share.
struct Line<N, G> {
    input: Mutex<Input<N>>,
    weigh: G,
    gate: Arc<Gate>,
    /// Whether pieces are counted when they are taken, and not when they were read.
    counts: bool,
}

struct Input<N> {
    next: N,
    /// It is not called again. It is there while pieces are worked on: without a feed, nothing would wait for room.
    is_ended: bool,
    taken: u64,
}

impl<N, G> Line<N, G> {
    fn new(next: N, weigh: G, gate: Arc<Gate>, counts: bool) -> Self {
        Line { input: Mutex::new(Input { next, is_ended: false, taken: 0 }), weigh, gate, counts }
    }

    fn work<I, T>(&self, done: &Sender<Done<T>>, mut work: impl FnMut(I) -> T)
    where
        N: FnMut() -> Option<I>,
        G: Fn(&I) -> u64,
    {
        while let Some((number, weight, piece)) = self.claim() {
            // State that a panic left inconsistent is never used again: the worker ends with it.
            let result = piece.and_then(|piece| catch_unwind(AssertUnwindSafe(|| work(piece))));
            let panicked = result.is_err();
            if done.send((number, weight, result)).is_err() || panicked {
                return;
            }
        }
    }

    /// Works on the calling thread, which also takes the results.
    fn work_here<I, T, E>(
        &self,
        mut work: impl FnMut(I) -> T,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E>
    where
        N: FnMut() -> Option<I>,
        G: Fn(&I) -> u64,
    {
        while let Some((_, weight, piece)) = self.claim() {
            take(work(piece.unwrap_or_else(|panic| resume_unwind(panic))))?;
            self.gate.leave(weight);
        }
        Ok(())
    }

    /// The next piece, once there is room, or the panic in its place.
    fn claim<I>(&self) -> Option<Done<I>>
    where
        N: FnMut() -> Option<I>,
        G: Fn(&I) -> u64,
    {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        if self.counts && !self.gate.wait_for_room() {
            return None;
        }
        if input.is_ended {
            return None;
        }
        let next = &mut input.next;
        let (weight, piece) = match catch_unwind(AssertUnwindSafe(|| next().map(|piece| ((self.weigh)(&piece), piece))))
        {
            Ok(Some((weight, piece))) => (weight, Ok(piece)),
            Ok(None) => {
                input.is_ended = true;
                return None;
            }
            Err(panic) => {
                input.is_ended = true;
                (0, Err(panic))
            }
        };
        if self.counts {
            self.gate.enter(weight);
        }
        input.taken += 1;
        Some((input.taken - 1, weight, piece))
    }
}

/// Counts the load between input and results.
struct Gate {
    room: Room,
    flight: Mutex<Flight>,
    /// Notified of every change.
    changed: Condvar,
    /// Notified when the reader, which waits for room, should go on.
    refill: Condvar,
}

#[derive(Default)]
struct Flight {
    pieces: usize,
    bytes: u64,
    /// How many pieces are gone: the number of the earliest one that is here.
    gone: u64,
    /// Results are no longer taken.
    closed: bool,
    /// The weight of the piece that the reader waits with for room.
    waiting: Option<u64>,
    /// How often a reader sent a piece, or ended.
    announced: u64,
}

impl Flight {
    /// Whether there is room for another piece of this weight. One is always allowed.
    fn fits(&self, weight: u64, room: Room) -> bool {
        self.pieces == 0 || (self.pieces < room.pieces && self.bytes.saturating_add(weight) <= room.bytes)
    }
}

impl Gate {
    fn new(room: Room) -> Arc<Self> {
        Arc::new(Gate { room, flight: Mutex::default(), changed: Condvar::new(), refill: Condvar::new() })
    }

    fn flight(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another piece may be taken; `false` if results are no longer taken. Only the holder of the input
    /// waits here, so that the room is still free when it [enters](Self::enter).
    fn wait_for_room(&self) -> bool {
        let Room { pieces, bytes } = self.room;
        let is_full = |flight: &mut Flight| {
            !flight.closed && flight.pieces > 0 && (flight.pieces >= pieces || flight.bytes >= bytes)
        };
        !self.changed.wait_while(self.flight(), is_full).unwrap_or_else(PoisonError::into_inner).closed
    }

    /// Waits until a piece of this weight fits, and counts it. One piece is always allowed. `false` if results are no
    /// longer taken.
    ///
    /// A reader that has to wait goes on when only half of the pieces are left, so that it is not woken for each.
    fn wait_to_enter(&self, weight: u64) -> bool {
        let mut flight = self.flight();
        if !flight.closed && !flight.fits(weight, self.room) {
            flight.waiting = Some(weight);
            self.changed.notify_all();
            let must_wait = |flight: &mut Flight| !flight.closed && !self.is_to_refill(flight);
            flight = self.refill.wait_while(flight, must_wait).unwrap_or_else(PoisonError::into_inner);
            flight.waiting = None;
        }
        flight.pieces += 1;
        flight.bytes += weight;
        !flight.closed
    }

    /// Whether the reader waits, and should go on.
    fn is_to_refill(&self, flight: &Flight) -> bool {
        let half = Room { pieces: self.room.pieces / 2 + 1, ..self.room };
        flight.waiting.is_some_and(|weight| flight.fits(weight, half))
    }

    /// Notifies those that wait for what changed.
    fn notify(&self, flight: MutexGuard<'_, Flight>) {
        let is_to_refill = flight.closed || self.is_to_refill(&flight);
        drop(flight);
        if is_to_refill {
            self.refill.notify_all();
        }
        self.changed.notify_all();
    }

    fn announce(&self) {
        self.flight().announced += 1;
        self.changed.notify_all();
    }

    fn announced(&self) -> u64 {
        self.flight().announced
    }

    /// Waits for another announcement; `false` if none will come before something leaves.
    fn wait_for_piece(&self, announced: u64) -> bool {
        let is_coming =
            |flight: &mut Flight| flight.announced == announced && flight.waiting.is_none() && !flight.closed;
        let flight = self.changed.wait_while(self.flight(), is_coming).unwrap_or_else(PoisonError::into_inner);
        flight.announced > announced
    }

    fn enter(&self, weight: u64) {
        let mut flight = self.flight();
        flight.pieces += 1;
        flight.bytes += weight;
    }

    /// Counts more bytes for the piece of this number, once there is room or it is the earliest.
    fn add(&self, number: u64, more: u64) {
        let is_full = |flight: &mut Flight| {
            !flight.closed && flight.gone < number && flight.bytes.saturating_add(more) > self.room.bytes
        };
        self.changed.wait_while(self.flight(), is_full).unwrap_or_else(PoisonError::into_inner).bytes += more;
    }

    fn subtract(&self, bytes: u64) {
        let mut flight = self.flight();
        flight.bytes -= bytes;
        self.notify(flight);
    }

    fn leave(&self, weight: u64) {
        let mut flight = self.flight();
        flight.pieces -= 1;
        flight.gone += 1;
        flight.bytes -= weight;
        self.notify(flight);
    }

    fn close(&self) {
        let mut flight = self.flight();
        flight.closed = true;
        self.notify(flight);
    }
}

/// Results in the order of their pieces.
pub(crate) struct Results<T> {
    done: Receiver<Done<T>>,
    /// Results that came before their turn.
    early: BTreeMap<u64, (u64, thread::Result<T>)>,
    expected: u64,
    /// The weight of the last result passed on. It counts until the next one is requested.
    handed_out: Option<u64>,
    gate: Arc<Gate>,
}

/// The state of the results.
#[derive(Debug, PartialEq)]
pub(crate) enum Taken<T> {
    /// The next result.
    Result(T),
    /// The next result is not ready.
    Nothing,
    /// All results were taken.
    End,
}

impl<T> Results<T> {
    fn new(done: Receiver<Done<T>>, gate: Arc<Gate>) -> Self {
        Results { done, early: BTreeMap::new(), expected: 0, handed_out: None, gate }
    }

    /// Waits for the next result, without a limit; `None` at the end.
    ///
    /// # Panics
    /// If the piece, or the input in its place, panicked: with the same panic. Likewise for
    /// [`wait_for`](Self::wait_for).
    pub fn wait(&mut self) -> Option<T> {
        loop {
            if let Some(result) = self.in_turn() {
                return Some(result);
            }
            let (number, weight, result) = self.done.recv().ok()?;
            self.early.insert(number, (weight, result));
        }
    }

    /// The next result if it is ready within this time.
    pub fn wait_for(&mut self, time: Duration) -> Taken<T> {
        let begun = Instant::now();
        loop {
            if let Some(result) = self.in_turn() {
                return Taken::Result(result);
            }
            // Results that are not next in turn do not extend the time.
            match self.done.recv_timeout(time.saturating_sub(begun.elapsed())) {
                Ok((number, weight, result)) => drop(self.early.insert(number, (weight, result))),
                Err(RecvTimeoutError::Timeout) => return Taken::Nothing,
                Err(RecvTimeoutError::Disconnected) => return Taken::End,
            }
        }
    }

    /// Whether pieces were read whose results were not taken yet.
    pub fn are_coming(&self) -> bool {
        self.waiting() > 0
    }

    /// The number of pieces that were read and whose results were not taken yet.
    pub fn waiting(&self) -> usize {
        self.gate.flight().pieces - usize::from(self.handed_out.is_some())
    }

    fn in_turn(&mut self) -> Option<T> {
        if let Some(weight) = self.handed_out.take() {
            self.gate.leave(weight);
        }
        let (weight, result) = self.early.remove(&self.expected)?;
        self.expected += 1;
        self.handed_out = Some(weight);
        Some(result.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

impl<T> Drop for Results<T> {
    fn drop(&mut self) {
        self.gate.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    const ROOM: Room = Room { pieces: 8, bytes: 1000 };

    #[test]
    fn threads_beyond_use_are_not_started() {
        assert_eq!((workers(3), workers(0)), (3, thread::available_parallelism().unwrap().get()));
        assert!((64..100_000).contains(&workers(100_000)));
    }

    /// A feed of these pieces, from a thread of its own.
    fn fed<I: Send + 'static>(
        room: Room,
        pieces: impl Iterator<Item = I> + Send + 'static,
        weigh: impl Fn(&I) -> u64 + Send + 'static,
    ) -> Feed<I> {
        let (feeder, feed) = feed(room);
        thread::spawn(move || {
            feeder.run(|feeder| {
                _ = pieces
                    .map(|piece| (weigh(&piece), piece))
                    .try_for_each(|(weight, piece)| feeder.give(piece, weight));
            });
        });
        feed
    }

    /// Later pieces tend to be done first.
    fn uneven(piece: u64) -> u64 {
        thread::sleep(Duration::from_micros(300 * (7 - piece % 8)));
        piece * piece
    }

    #[test]
    fn results_come_in_the_order_of_their_pieces() {
        let expected: Vec<u64> = (0..200).map(|n| n * n).collect();
        for threads in [0, 1, 2, 5] {
            for room in [ROOM, Room { pieces: 1, bytes: 0 }, Room { pieces: 100, bytes: 3 }] {
                let (mut pieces, mut taken) = (0..200, Vec::new());
                let all = map(
                    threads,
                    room,
                    || pieces.next(),
                    |_| 1,
                    || uneven,
                    |n| {
                        taken.push(n);
                        Ok::<_, Infallible>(())
                    },
                );
                assert!(all.is_ok() && taken == expected, "{threads} threads, {room:?}");
                let mut results = spawn_fed(threads, fed(room, 0..200, |_| 1), || uneven).unwrap();
                assert_eq!(std::iter::from_fn(|| results.wait()).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn one_slow_piece_holds_up_the_others() {
        for (room, weight, bound) in [(ROOM, 1, 8), (Room { pieces: 1000, bytes: 50 }, 10, 5)] {
            let (begun, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let most = AtomicUsize::new(0);
            let work = |piece: usize| {
                let ahead = begun.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
                most.fetch_max(ahead, Ordering::SeqCst);
                if piece == 0 {
                    let deadline = Instant::now() + Duration::from_secs(20);
                    // As many pieces as allowed are started while this one is not done.
                    while begun.load(Ordering::SeqCst) < bound && Instant::now() < deadline {
                        thread::yield_now();
                    }
                }
            };
            let mut pieces = 0..500;
            _ = map(
                4,
                room,
                || pieces.next(),
                |_| weight,
                || work,
                |()| {
                    taken.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, Infallible>(())
                },
            );
            assert_eq!(most.into_inner(), bound, "{room:?}");
        }
    }

    /// Every result is as large as the room: while the earliest is made, or waits to be taken, no other is.
    #[test]
    fn results_that_outgrow_their_pieces_wait_for_room() {
        const BYTES: u64 = 100;
        let (feeder, feed) = feed(Room { pieces: 8, bytes: BYTES });
        thread::spawn(move || {
            feeder.run(|feeder| _ = (0..200).try_for_each(|number| feeder.give((number, feeder.load(number)), 1)));
        });
        let made = Arc::new(AtomicUsize::new(0));
        let work = || {
            let made = Arc::clone(&made);
            move |(number, mut load): (u64, Load)| {
                uneven(number);
                load.raise(BYTES / 2);
                load.raise(BYTES);
                load.raise(BYTES / 4);
                (number, made.fetch_add(1, Ordering::SeqCst) + 1, load)
            }
        };
        let mut results = spawn_fed(4, feed, work).unwrap();
        let mut taken = 0;
        while let Some((number, made, load)) = results.wait() {
            assert_eq!(number, taken);
            // Those before it, itself, and one that began while there was nothing.
            assert!(made as u64 <= number + 2, "{made} at {number}");
            taken += 1;
            drop(load);
        }
        assert_eq!(taken, 200);
    }

    #[test]
    fn a_piece_larger_than_the_room_is_alone() {
        let mut pieces = 0..20u64;
        let mut taken = Vec::new();
        _ = map(
            3,
            Room { pieces: 100, bytes: 10 },
            || pieces.next(),
            |_| 1 << 40,
            || uneven,
            |n| {
                taken.push(n);
                Ok::<_, Infallible>(())
            },
        );
        assert_eq!(taken.len(), 20);
    }

    #[test]
    fn the_first_error_ends_it() {
        for threads in [1, 4] {
            let mut pieces = 0..;
            let mut count = 0;
            let ended = map(
                threads,
                ROOM,
                || pieces.next(),
                |_| 1,
                || uneven,
                |_| {
                    count += 1;
                    if count == 10 { Err("full") } else { Ok(()) }
                },
            );
            assert_eq!((ended, count), (Err("full"), 10));
        }
    }

    /// The message of the panic that ends `run`, which must end.
    fn panic_of(run: impl FnOnce() + Send + 'static) -> String {
        let (ended, end) = channel();
        thread::spawn(move || {
            let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
            _ = ended.send(panic.downcast_ref::<String>().cloned().unwrap_or_default());
        });
        end.recv_timeout(Duration::from_secs(60)).expect("it ends")
    }

    /// As where no thread can be started.
    #[test]
    fn the_calling_thread_can_do_all_the_work() {
        let (mut pieces, mut taken) = (0u64..200, Vec::new());
        let line = Line::new(|| pieces.next(), |_: &u64| 400, Gate::new(ROOM), true);
        let all = line.work_here(
            |piece| piece * piece,
            |result| {
                taken.push(result);
                Ok::<_, Infallible>(())
            },
        );
        assert!(all.is_ok() && taken.into_iter().eq((0..200).map(|piece| piece * piece)));
        let (line, mut count) = (Line::new(|| Some(1), |_: &u64| 400, Gate::new(ROOM), true), 0);
        let ended = line.work_here(
            |piece| piece,
            |_| {
                count += 1;
                if count == 10 { Err("full") } else { Ok(()) }
            },
        );
        assert_eq!((ended, count), (Err("full"), 10));
        let feed = fed(ROOM, 0..200u64, |_| 400);
        let (pass, mut feed, mut taken) = (feed.pass(), feed, Vec::new());
        let line = Line::new(|| feed.next(), |piece: &Weighed<u64>| piece.weight, pass.0, false);
        let all = line.work_here(unweighed(|piece| piece + 1), |result| {
            taken.push(result);
            Ok::<_, Infallible>(())
        });
        assert!(all.is_ok() && taken.into_iter().eq(1..201));
    }

    #[test]
    fn a_panic_anywhere_ends_the_call_with_that_panic() {
        fn check(place: &'static str, detached: bool) {
            let fail = move |here: &str, piece: u64| assert!(here != place || piece != 50, "{here} {piece}");
            let message = panic_of(move || {
                let mut pieces = 0u64..;
                let next = move || {
                    let piece = pieces.next().unwrap();
                    fail("next", piece);
                    Some(piece)
                };
                let weigh = move |piece: &u64| {
                    fail("weigh", *piece);
                    1
                };
                let worker = move || {
                    move |piece| {
                        fail("work", piece);
                        uneven(piece);
                        piece
                    }
                };
                let mut taken = 0;
                let mut take = |piece: u64| {
                    assert_eq!(piece, taken);
                    taken += 1;
                    fail("take", piece);
                    Ok::<_, Infallible>(())
                };
                if detached {
                    let mut results = spawn_fed(3, fed(ROOM, std::iter::from_fn(next), weigh), worker).unwrap();
                    while let Some(piece) = results.wait() {
                        _ = take(piece);
                    }
                } else {
                    _ = map(3, ROOM, next, weigh, worker, take);
                }
            });
            assert_eq!(message, format!("{place} 50"), "detached: {detached}");
        }
        for place in ["next", "weigh", "work", "take"] {
            check(place, false);
            check(place, true);
        }
    }

    #[test]
    fn a_panic_of_who_reads_ahead_comes_in_the_place_of_a_piece() {
        let pieces = (0..=50).inspect(|&piece| assert!(piece < 50, "disk on fire at {piece}"));
        let mut feed = fed(ROOM, pieces, |_| 1);
        let mut taken = 0;
        let message = panic_of(move || {
            let take = |piece: u64| {
                assert_eq!(piece, taken * taken);
                taken += 1;
                Ok::<_, Infallible>(())
            };
            _ = map_fed(2, feed.pass(), || feed.next(), || uneven, take);
        });
        assert_eq!(message, "disk on fire at 50");
    }

    /// A large piece waits until it is alone, and so do those after it: what was read counts before it is taken.
    #[test]
    fn what_waits_for_a_worker_counts() {
        let (begun, taken, most) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let read = Arc::new(AtomicUsize::new(0));
        let reading = Arc::clone(&read);
        let mut feed = fed(
            Room { pieces: 100, bytes: 10 },
            (0..40).inspect(move |_| _ = reading.fetch_add(1, Ordering::SeqCst)),
            |n: &u64| if n.is_multiple_of(4) { 50 } else { 5 },
        );
        let work = |n: u64| {
            begun.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2));
            n
        };
        let take = |n: u64| {
            let ahead = read.load(Ordering::SeqCst) - taken.fetch_add(1, Ordering::SeqCst);
            most.fetch_max(ahead, Ordering::SeqCst);
            // Itself, and the one that waits for room; beside a small piece, another small one.
            assert!(ahead <= if n.is_multiple_of(4) { 2 } else { 3 }, "{n}: {ahead}");
            Ok::<_, Infallible>(())
        };
        _ = map_fed(4, feed.pass(), || feed.next(), || work, take);
        assert_eq!((begun.into_inner(), taken.into_inner(), most.into_inner()), (40, 40, 3));
    }

    #[test]
    fn a_sample_ends_when_there_is_no_room() {
        let mut full = fed(Room { pieces: 3, bytes: 1000 }, 0..10u64, |_| 1);
        let sample: Vec<u64> = std::iter::from_fn(|| full.next_with_room()).map(|piece| piece.piece).collect();
        assert_eq!(sample, [0, 1, 2]);
        let mut ended = fed(ROOM, 0..5u64, |_| 1);
        let sample: Vec<u64> = std::iter::from_fn(|| ended.next_with_room()).map(|piece| piece.piece).collect();
        assert_eq!(sample, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn detached_results_can_be_waited_for_a_while() {
        let (send, pieces) = channel();
        let mut results = spawn_fed(2, fed(ROOM, pieces.into_iter(), |_| 1), || |piece: u64| piece + 1).unwrap();
        assert_eq!(results.wait_for(Duration::ZERO), Taken::Nothing);
        send.send(1).unwrap();
        assert_eq!(results.wait_for(Duration::from_secs(60)), Taken::Result(2));
        drop(send);
        assert_eq!(results.wait_for(Duration::from_secs(60)), Taken::End);
    }
}
