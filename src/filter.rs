//! The stream: documents come in one by one, and new ones go out. Records without a document pass through.
//!
//! A stream that is read once is decided on while it comes ([`Filter::run`]); files, or any other source, in their order
//! ([`Filter::documents`]).
//!
//! One thread reads the available input, others make signatures, and the calling thread decides in input order. The
//! number of chunks between reading and deciding is bounded: while an expensive one is signed, the others wait, and so
//! does the input. Decisions are released when the input pauses, when there are many, and after some milliseconds: first the
//! index is written, then the records leave.

#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::index::{Decision, Index, Signatures, Signer, Unsigned};
use crate::readable::shortened_id;
use crate::run::observer::{Observer, Stage};
use crate::run::ordered::{self, READER, Results, Room, Taken, workers};
use crate::run::sign::{Budget, SigningMemory};
use crate::source::{Batch, Chunk, Live, Place, Problem, Severity, Source, is_numbered};
use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use std::{fmt, io};

/// The counts of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Counts {
    /// Documents read.
    pub documents: u64,
    /// Documents that passed for the first time, including those without features.
    pub fresh: u64,
    /// Documents that came again: with the same id and tokens as before, or after an interruption by their tokens alone. Only with an index in a file.
    pub known: u64,
    /// Near-duplicates.
    pub duplicates: u64,
    /// Documents whose earlier text was forgotten, whether they passed or not: with [`Filter::replace`].
    pub replaced: u64,
    /// Documents that passed because they have too few features to be compared.
    pub featureless: u64,
    /// Documents that passed although not all that share a key with them were compared: see [`Decision::Crowded`].
    pub crowded: u64,
    /// Records whose text was not valid in its encoding and was read with replacements.
    pub repaired: u64,
    /// Pages whose whole text was read because no main text was found.
    pub fell_back: u64,
    /// Records that could not be read.
    pub failed: u64,
    /// Records without a document, passed unchanged.
    pub passed: u64,
    /// Bytes read, decompressed.
    pub bytes: u64,
    /// Those among the known ones that passed again because an interrupted run may not have written them. See [`Decision::Unconfirmed`].
    pub unconfirmed: u64,
}

impl Counts {
    fn count(&mut self, decision: &Decision) {
        self.documents += 1;
        match decision {
            Decision::Fresh => self.fresh += 1,
            Decision::Known => self.known += 1,
            Decision::Unconfirmed => {
                self.known += 1;
                self.unconfirmed += 1;
            }
            Decision::Crowded => {
                self.fresh += 1;
                self.crowded += 1;
            }
            Decision::Featureless => {
                self.fresh += 1;
                self.featureless += 1;
            }
            Decision::Duplicate { .. } => self.duplicates += 1,
            Decision::Nearest(nearest) => self.featureless += u64::from(nearest.is_featureless),
        }
    }

    /// Counts a problem, unless its record is counted otherwise.
    fn problem(&mut self, problem: &Problem) {
        match problem.severity {
            Severity::FellBack => self.fell_back += 1,
            Severity::Repaired => self.repaired += u64::from(problem.is_repair()),
            Severity::Deferred | Severity::Skipped | Severity::Failed => {}
        }
    }
}

/// Receives the decisions.
pub trait Sink {
    /// The line of the next record, or its number in an archive, from 1. Called before any other method for that record, unless its
    /// position is not known.
    fn at(&mut self, _record: u64) {}

    /// A document, with its record unchanged: a line with its end, or a record of an archive without the two empty
    /// lines after it. It must not leave before the next [`release`](Self::release) that is for it.
    ///
    /// # Errors
    /// An error ends the stream.
    fn decided(&mut self, record: &[u8], id: &str, decision: &Decision) -> Result<(), Error>;

    /// The next document that is [decided](Self::decided) on takes the place of an earlier text with its id, which is forgotten, whether it passes
    /// or not: with [`Filter::replace`].
    fn replaces(&mut self) {}

    /// A record that holds no document, unchanged. It passes.
    ///
    /// # Errors
    /// An error ends the stream.
    fn passed(&mut self, record: &[u8]) -> Result<(), Error>;

    /// A record that could not be read, unchanged; `None` if its bytes are not available, because it is too long or
    /// broken. It is dropped unless the sink writes it.
    ///
    /// # Errors
    /// An error ends the stream, as if the input ended before this record.
    fn rejected(&mut self, _record: Option<&[u8]>, _problem: &Problem) -> Result<(), Error> {
        Ok(())
    }

    /// A document with more tokens than can be compared within the memory of the index, with its record unchanged. If this returns true, it counts
    /// as a record that could not be read, and is dropped unless the sink writes it. Otherwise, which is the default, the stream ends with an
    /// error.
    ///
    /// # Errors
    /// An error ends the stream, as if the input ended before this record.
    fn too_large(&mut self, _record: &[u8], _problem: &Problem) -> Result<bool, Error> {
        Ok(false)
    }

    /// The number of pieces of input that were read and not decided on: lines that came together, of some 128 KiB at most unless one is
    /// longer. This is called after each piece, and every 50 ms while the input pauses.
    ///
    /// # Errors
    /// An error ends the stream.
    fn queued(&mut self, _pieces: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Keeps apart the records so far, of whatever kind: the next [`release`](Self::release) is for these only. Records that come until
    /// then wait for the release after it. So the stream goes on while the index reaches the disk. Returns false if the sink cannot do this, which
    /// is the default: then the stream waits. It is not called again before that release.
    fn keep_apart(&mut self) -> bool {
        false
    }

    /// The records decided so far may leave now, or those that were [kept apart](Self::keep_apart). The counts are those of when they were
    /// decided.
    ///
    /// # Errors
    /// An error ends the stream.
    fn release(&mut self, counts: &Counts, index: &Index) -> Result<(), Error>;

    /// The stream has ended, and the index will take it that all records have arrived: what left for a file should be on the disk
    /// now. This is called if there were documents, unless the index is left to the operating system as well ([`Sync::Off`](crate::index::Sync::Off)).
    ///
    /// # Errors
    /// The stream counts as interrupted.
    fn keep(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// A record, by its position in the chunk, and its content.
struct Read {
    record: Range<usize>,
    /// Its line or number, if it has one.
    number: Option<u64>,
    content: Content,
}

enum Content {
    /// The next of the signatures.
    Document,
    /// A document that is too large to be signed: the error if it ends the stream, and the problem if it does not.
    TooLarge(Error, Problem),
    /// No document.
    None,
    /// An unreadable record.
    Rejected(Problem),
}

/// The result of a chunk.
#[derive(Default)]
struct Part {
    /// The records; `None` for a problem alone.
    chunk: Option<Chunk>,
    records: Vec<Read>,
    signatures: Signatures,
    problems: Vec<Problem>,
    bytes: u64,
}

/// The maximum number of chunks per thread between reading and deciding. A chunk is the input available at once: at
/// most some 128 KiB, unless a record is longer. Where there are more threads than cores, each of them must have enough to do while
/// another one runs, which is some milliseconds.
pub const IN_FLIGHT: usize = 32;

/// The maximum size, in bytes, of the chunks between reading and deciding, of which each byte counts as
/// [`BYTES_A_BYTE`]. A longer chunk is alone.
const ROOM: u64 = 24 << 20;

/// The memory of a chunk and of its signatures for each byte.
const BYTES_A_BYTE: u64 = 3;

/// The memory for signing: of all documents at a time, and of a long one that is signed alone, if the index is bounded.
const SIGNING: u64 = 32 << 20;
const SIGNING_ALONE: u64 = 72 << 20;

/// The memory of each feature while the index takes it: in the signature, decoded, and twice in the log while that grows.
const BYTES_A_FEATURE: u64 = 28;

/// The maximum size, in bytes, of the records that are decided on before the index is written, and the time after which it is written in any
/// case. Then they leave, or once the disk has it: until then, as many others are decided on at most.
const HELD: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };
const HELD_FOR: Duration = Duration::from_millis(20);

/// A filter: an index, and how the stream is processed. [`run`](Self::run) starts it. Each document passes unless the index
/// has a near-duplicate of it.
///
/// ```
/// use neardups::filter::{Counts, Filter, Sink};
/// use neardups::index::{Decision, Index, Limits, Plan};
/// use neardups::source::{Format, Live, ReadOptions};
/// use neardups::{Error, MinHash, tokenizer::Word};
/// use std::sync::Arc;
///
/// struct Passed(Vec<u8>);
///
/// impl Sink for Passed {
///     fn decided(&mut self, record: &[u8], _id: &str, decision: &Decision) -> Result<(), Error> {
///         if decision.passes() { self.passed(record) } else { Ok(()) }
///     }
///     fn passed(&mut self, record: &[u8]) -> Result<(), Error> {
///         self.0.extend_from_slice(record);
///         Ok(())
///     }
///     fn release(&mut self, _counts: &Counts, _index: &Index) -> Result<(), Error> {
///         Ok(()) // The index is written: write these records now.
///     }
/// }
///
/// let lines = "to be or not to be\nthat is the question\nTo be, or not to be!\n";
/// let stream = Live::new(lines.as_bytes(), "lines", &ReadOptions { format: Format::Lines, ..ReadOptions::default() });
/// let plan = Plan::new(&MinHash::builder().shingle(2).build()?, Arc::new(Word))?;
/// let (mut index, mut passed) = (Index::in_memory(&plan, Limits::default()), Passed(Vec::new()));
/// let counts = Filter::new(&mut index).run(stream, &mut passed)?;
/// assert_eq!((counts.fresh, counts.duplicates), (2, 1));
/// assert_eq!(passed.0, b"to be or not to be\nthat is the question\n");
/// # Ok::<(), Error>(())
/// ```
#[must_use = "a filter does nothing until it is run"]
pub struct Filter<'a> {
    index: &'a mut Index,
    threads: usize,
    stop: Option<&'a AtomicBool>,
    observer: &'a dyn Observer,
    unnamed: Option<&'a Unnamed>,
    replaces: bool,
    drops_known: bool,
}

/// Whether a document at a place has no id of its own, but only this: then what stands before its number in the index.
pub(crate) type Unnamed = dyn Fn(&Place, &str) -> Option<&'static str>;

impl fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter").field("index", &self.index).field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl<'a> Filter<'a> {
    /// A filter by this index and the defaults: all cores, and a no-op observer.
    pub fn new(index: &'a mut Index) -> Self {
        Filter { index, threads: 0, stop: None, observer: &(), unnamed: None, replaces: false, drops_known: false }
    }

    /// Makes signatures on this many threads; 0 means one per core. One more thread decides.
    pub fn threads(self, threads: usize) -> Self {
        Filter { threads, ..self }
    }

    /// Ends the stream soon after this becomes true, for example on a signal.
    pub fn stop(self, stop: &'a AtomicBool) -> Self {
        Filter { stop: Some(stop), ..self }
    }

    /// Reports records that could not be read.
    pub fn observer(self, observer: &'a dyn Observer) -> Self {
        Filter { observer, ..self }
    }

    /// Remembers those [documents](Self::documents) under their numbers that have no id of their own.
    #[cfg(feature = "python")]
    pub(crate) fn unnamed(self, unnamed: &'a Unnamed) -> Self {
        Filter { unnamed: Some(unnamed), ..self }
    }

    /// Whether the documents of a [stream](Self::run) [replace](Index::replace) earlier ones with the same id. Those without an id of
    /// their own do not, nor do those with too few features to be compared. Without a window of documents.
    pub fn replace(self, replaces: bool) -> Self {
        Filter { replaces, ..self }
    }

    /// Whether documents that are [known](Decision::Known) are dropped. Those that an interrupted run of a stream may not have
    /// written are then [unconfirmed](Decision::Unconfirmed) instead, once, so that none is lost.
    pub fn drop_known(self, drops_known: bool) -> Self {
        Filter { drops_known, ..self }
    }

    /// Filters a stream. Ends at the end of the input, at the first error, or when it is [stopped](Self::stop). Documents
    /// that passed are then in the index, and their records have left.
    ///
    /// A document without an id is recognised as such, if it comes again after an interruption, in a stream whose name is `-`.
    ///
    /// # Errors
    /// The input ends prematurely, the index cannot be written or is full, or the sink returns an error.
    pub fn run<R: io::Read + Send + 'static>(self, input: Live<R>, sink: &mut dyn Sink) -> Result<Counts, Error> {
        let Filter { index, threads, stop, observer, replaces, drops_known, .. } = self;
        index.begin_stream(drops_known);
        let numbers_of = replaces.then(|| input.name().to_string());
        let mut parts = signed(input, index, workers(threads)).map_err(Error::no_threads)?;
        let (counts, since) = (Counts::default(), Instant::now());
        let mut stream = Stream { index, observer, sink, numbers_of, counts, held: 0, since, apart: None };
        let is_stopped = || stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let ended = stream.take(&mut parts, is_stopped).and_then(|ended| stream.release().map(|()| ended));
        let ended = ended.inspect_err(|_| stream.index.doubt())?;
        let is_complete = ended.is_ok() && !is_stopped();
        let kept = if is_complete && stream.index.will_confirm() { stream.sink.keep() } else { Ok(()) };
        match is_complete && kept.is_ok() {
            true => stream.index.seal()?,
            false => stream.index.interrupt()?,
        }
        kept.inspect_err(|_| stream.index.doubt())?;
        ended.map(|()| stream.counts)
    }
}

impl Filter<'_> {
    /// Decides on the documents of a source, in its order, as on those of a stream. Passes each record and each problem to
    /// a function, with its location. The index is sealed at the end; after an error it remembers the documents before it.
    ///
    /// # Errors
    /// The index cannot be written or is full, the source [failed](Source::failure), or the function returns an error.
    ///
    /// # Cost
    /// Signatures are made on all threads. Memory: as for [`run`](Self::run).
    pub fn documents(
        self,
        source: &mut dyn Source,
        each: &mut dyn FnMut(&Place, Decided<'_>) -> Result<(), Error>,
    ) -> Result<Counts, Error> {
        let Filter { index, threads, stop, observer, unnamed, drops_known, .. } = self;
        index.drop_known(drops_known);
        observer.stage(Stage::Reading);
        let threads = workers(threads);
        let memory = SigningMemory::new(budget(index), threads);
        let signer = |_| index.signer().within(Arc::clone(&memory));
        let signers: RefCell<Vec<Signer>> = RefCell::new((0..threads).map(signer).collect());
        let worker = || {
            let mut signer = signers.borrow_mut().pop().expect("there is one for each thread");
            move |batch: Batch| signed_batch(&batch, &mut signer)
        };
        let (mut counts, now) = (Counts::default(), now());
        let is_stopped = || stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let take = |part: SignedBatch| {
            let before = counts.documents;
            if is_stopped() {
                return Ok(());
            }
            let mut documents = 0..part.signatures.len();
            for (place, content) in part.records {
                match content {
                    Outcome::Document => {
                        let number = documents.next().expect("one for each document");
                        index.fetch(&part.signatures, number + 1);
                        let (id, signature) = part.signatures.get(number);
                        let decision = match unnamed.and_then(|prefix_of| prefix_of(&place, id)) {
                            Some(prefix) => index.decide_unnamed(prefix, signature, now)?,
                            None => index.decide_signed(id, signature, now)?,
                        };
                        counts.count(&decision);
                        each(&place, Decided::Document(id, &decision))?;
                    }
                    Outcome::TooLarge(error) => return Err(error),
                    Outcome::Problem(problem) => {
                        counts.problem(&problem);
                        counts.failed += if problem.severity == Severity::Failed { problem.records } else { 0 };
                        observer.problem(&problem);
                        each(&place, Decided::Problem(&problem))?;
                    }
                }
            }
            counts.bytes += part.bytes;
            observer.progress(part.bytes, counts.documents - before);
            index.commit()
        };
        let decided = thread::scope(|scope| {
            let (feeder, mut batches) = ordered::feed(Room { pieces: IN_FLIGHT * threads, bytes: ROOM });
            let (pass, source) = (batches.pass(), &mut *source);
            let read = move || {
                feeder.run(|feeder| {
                    source.read(&mut |batch| {
                        let weight = BYTES_A_BYTE * batch.bytes_held();
                        if is_stopped() { ControlFlow::Break(()) } else { feeder.give(batch, weight) }
                    });
                });
            };
            thread::Builder::new().name(READER.into()).spawn_scoped(scope, read).map_err(Error::no_threads)?;
            ordered::map_fed(threads, pass, || batches.next(), worker, take)
        });
        let decided = decided.and_then(|()| source.failure().map_or(Ok(()), Err));
        let ended = if decided.is_ok() && !is_stopped() { index.seal() } else { index.interrupt() };
        decided.and(ended).map(|()| counts)
    }
}

/// What a source has at a place.
#[derive(Clone, Copy, Debug)]
pub enum Decided<'a> {
    /// A document: its id, and the decision on it.
    Document(&'a str, &'a Decision),
    /// A problem: a record that could not be read, or a warning about the document that follows.
    Problem(&'a Problem),
}

/// The records and problems of a batch.
struct SignedBatch {
    records: Vec<(Place, Outcome)>,
    signatures: Signatures,
    bytes: u64,
}

enum Outcome {
    /// The next of the signatures.
    Document,
    /// A document that is too large to be signed.
    TooLarge(Error),
    Problem(Problem),
}

fn signed_batch(batch: &Batch, signer: &mut Signer) -> SignedBatch {
    let (mut records, mut signatures) = (Vec::new(), signer.begin_batch());
    batch.documents(&mut |read| {
        records.push(match read {
            Ok(document) => {
                let signed = signer.sign_within(&document.id, &document.text, &mut signatures);
                let unsigned = signed.map_err(|unsigned: Unsigned| unsigned.at(&document.place, &document.id));
                let outcome = match unsigned {
                    Ok(()) => Outcome::Document,
                    Err((_, Some(error))) => Outcome::TooLarge(error),
                    Err((problem, None)) => Outcome::Problem(problem),
                };
                (document.place, outcome)
            }
            Err(problem) => (problem.place.clone(), Outcome::Problem(problem)),
        });
    });
    SignedBatch { records, signatures, bytes: batch.bytes_read() }
}

/// The number of documents that an index remembers now. [`Index::len`] is that at the last decision.
///
/// Cost: that of [`Index::len_at`].
pub fn remembered(index: &Index) -> u64 {
    index.len_at(now())
}

/// The time, in seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// A stream that is being decided on.
struct Stream<'a> {
    index: &'a mut Index,
    observer: &'a dyn Observer,
    sink: &'a mut dyn Sink,
    /// If documents replace earlier ones: the name of the stream, by which those are known that have no id of their own.
    numbers_of: Option<String>,
    counts: Counts,
    /// The size, in bytes, of the records that were decided on and whose commit has not begun, and when the first of them was decided on.
    held: usize,
    since: Instant,
    /// The counts of the records that the sink keeps apart until the disk has their documents.
    apart: Option<Counts>,
}

impl Stream<'_> {
    /// Decides on all parts, until the input ends or is to stop. The inner error ends the stream after everything before
    /// it has left, the outer one at once.
    fn take(
        &mut self,
        parts: &mut Results<io::Result<Part>>,
        is_stopped: impl Fn() -> bool,
    ) -> Result<Result<(), Error>, Error> {
        loop {
            let taken = match parts.wait_for(Duration::ZERO) {
                Taken::Nothing if self.held > 0 || self.apart.is_some() => {
                    // What was read already comes soon, unless it is expensive. Otherwise the input pauses.
                    let is_soon = self.held > 0 && parts.are_coming();
                    let time = if is_soon { HELD_FOR.saturating_sub(self.since.elapsed()) } else { Duration::ZERO };
                    match parts.wait_for(time) {
                        Taken::Nothing => {
                            self.release()?;
                            continue;
                        }
                        taken => taken,
                    }
                }
                Taken::Nothing => parts.wait_for(Duration::from_millis(50)),
                taken => taken,
            };
            let part = match taken {
                Taken::Result(Ok(part)) => part,
                Taken::Result(Err(error)) => return Ok(Err(Error::input("cannot read standard input", error))),
                Taken::End => return Ok(Ok(())),
                Taken::Nothing if is_stopped() => return Ok(Ok(())),
                Taken::Nothing => {
                    self.sink.queued(parts.waiting())?;
                    continue;
                }
            };
            let decided = self.decide(part)?;
            self.sink.queued(parts.waiting())?;
            if decided.is_err() || is_stopped() {
                return Ok(decided);
            }
        }
    }

    /// Decides on the records of a part. The inner error ends the stream after everything before it has left, the outer one at once.
    fn decide(&mut self, mut part: Part) -> Result<Result<(), Error>, Error> {
        self.count(&part);
        let now = now();
        let raw = part.chunk.as_ref().map_or(&[][..], Chunk::raw);
        let mut documents = 0..part.signatures.len();
        for Read { record, number, content } in &mut part.records {
            let record = &raw[record.clone()];
            if let Some(number) = *number {
                self.sink.at(number);
            }
            match content {
                Content::TooLarge(error, problem) => match self.sink.too_large(record, problem) {
                    Ok(true) => {
                        self.counts.failed += 1;
                        self.observer.problem(problem);
                    }
                    Ok(false) => return Ok(Err(std::mem::replace(error, Error::Full(String::new())))),
                    Err(error) => return Ok(Err(error)),
                },
                Content::None => {
                    self.counts.passed += 1;
                    self.sink.passed(record)?;
                }
                Content::Rejected(problem) => {
                    self.counts.failed += 1;
                    self.observer.problem(problem);
                    if let Err(error) = self.sink.rejected((!record.is_empty()).then_some(record), problem) {
                        return Ok(Err(error));
                    }
                }
                Content::Document => {
                    let number = documents.next().expect("one for each document");
                    self.index.fetch(&part.signatures, number + 1);
                    let (id, signature) = part.signatures.get(number);
                    let decided = match &self.numbers_of {
                        Some(name) if !is_numbered(id, name) => {
                            self.index.replace_signed(id, signature, now).map(|(decision, replaced)| {
                                self.counts.replaced += u64::from(replaced);
                                if replaced {
                                    self.sink.replaces();
                                }
                                decision
                            })
                        }
                        _ => self.index.decide_signed(id, signature, now),
                    };
                    match decided {
                        Ok(decision) => {
                            self.counts.count(&decision);
                            self.sink.decided(record, id, &decision)?;
                        }
                        Err(Error::Full(message)) => {
                            let message = format!("{message}; '{}' was not decided on", shortened_id(id));
                            return Ok(Err(Error::Full(message)));
                        }
                        Err(error) => return Ok(Err(error)),
                    }
                }
            }
            if self.held == 0 {
                self.since = Instant::now();
            }
            self.held += record.len() + 64;
            if self.held >= HELD || self.since.elapsed() >= HELD_FOR {
                self.begin_release()?;
            }
        }
        // What the disk has meanwhile leaves.
        self.release_apart(false)?;
        Ok(Ok(()))
    }

    /// Counts the bytes of a part and its problems, and reports these.
    fn count(&mut self, part: &Part) {
        self.counts.bytes += part.bytes;
        for problem in &part.problems {
            // A skipped record passes and is counted there. Failed ones are among the records.
            self.counts.problem(problem);
            self.observer.problem(problem);
        }
    }

    /// Writes what was decided to the index; then its records may leave.
    fn release(&mut self) -> Result<(), Error> {
        self.release_apart(true)?;
        self.index.commit()?;
        self.sink.release(&self.counts, self.index)?;
        self.held = 0;
        Ok(())
    }

    /// As [`release`](Self::release), but if the index takes time to reach the disk, the records leave later.
    fn begin_release(&mut self) -> Result<(), Error> {
        self.release_apart(true)?;
        let is_begun = self.index.begin_commit()?;
        self.held = 0;
        if is_begun && self.sink.keep_apart() {
            self.apart = Some(self.counts);
            return Ok(());
        }
        self.index.end_commit(true)?;
        self.sink.release(&self.counts, self.index)
    }

    /// Lets the records leave that were kept apart, if the disk has their documents or this `waits` for it.
    fn release_apart(&mut self, waits: bool) -> Result<(), Error> {
        if self.apart.is_none() || !self.index.end_commit(waits)? {
            return Ok(());
        }
        let counts = self.apart.take().expect("it was there");
        self.sink.release(&counts, self.index)
    }
}

/// Reads and signs on threads of their own. They end soon after the parts are dropped, or with the process, because
/// reading can block for ever. An error of the input comes after everything that was read.
fn signed<R: io::Read + Send + 'static>(
    input: Live<R>,
    index: &Index,
    threads: usize,
) -> io::Result<Results<io::Result<Part>>> {
    // One more waits to be sent.
    let room = Room { pieces: IN_FLIGHT * threads - 1, bytes: ROOM };
    let (feeder, chunks) = ordered::feed::<io::Result<Result<Chunk, Problem>>>(room);
    let run = move || {
        feeder.run(|feeder| {
            let read = || {
                let mut chunks = input.open()?;
                while let Some(chunk) = chunks.next_chunk()? {
                    let weight = BYTES_A_BYTE * chunk.as_ref().map_or(0, Chunk::bytes);
                    if feeder.give(Ok(chunk), weight).is_break() {
                        break;
                    }
                }
                Ok(())
            };
            if let Err(error) = read() {
                _ = feeder.give(Err(error), 0);
            }
        });
    };
    thread::Builder::new().name(READER.into()).spawn(run)?;
    let memory = SigningMemory::new(budget(index), threads);
    let worker = || {
        let mut signer = index.signer().within(Arc::clone(&memory));
        move |chunk: io::Result<Result<Chunk, Problem>>| chunk.map(|chunk| part(chunk, &mut signer))
    };
    ordered::spawn_fed(threads, chunks, worker)
}

/// The memory for signing documents for this index. Beside it and what the index takes, there are two copies of long
/// records: of this one and of the next.
fn budget(index: &Index) -> Budget {
    let later_a_token = if index.keeps_features() { BYTES_A_FEATURE } else { 0 };
    let budget = Budget { together: SIGNING, alone: SIGNING_ALONE, alone_a_byte: 2, later_a_token };
    if index.limits().memory.is_some() { budget } else { Budget { alone: u64::MAX, ..budget } }
}

fn part(chunk: Result<Chunk, Problem>, signer: &mut Signer) -> Part {
    let mut part = Part::default();
    match chunk {
        Ok(chunk) => {
            part.bytes = chunk.bytes();
            part.signatures = signer.begin_batch();
            let Part { records, signatures, problems, .. } = &mut part;
            chunk.places(&mut |record, result| {
                let number = match &result {
                    Ok(document) => document.as_ref().and_then(|document| document.place.line),
                    Err(problem) => problem.place.line,
                };
                let content = match result {
                    Ok(None) => Content::None,
                    Ok(Some(document)) => match signer.sign_within(&document.id, &document.text, signatures) {
                        Ok(()) => Content::Document,
                        Err(unsigned) => match unsigned.at(&document.place, &document.id) {
                            (problem, Some(error)) => Content::TooLarge(error, problem),
                            // More memory does not help.
                            (problem, None) => Content::Rejected(problem),
                        },
                    },
                    Err(problem) if problem.severity == Severity::Failed => Content::Rejected(problem),
                    Err(problem) => {
                        let passes = problem.severity == Severity::Skipped;
                        problems.push(problem);
                        // The text of other records comes after the problem.
                        if !passes {
                            return;
                        }
                        Content::None
                    }
                };
                records.push(Read { record, number, content });
            });
            part.chunk = Some(chunk);
        }
        Err(problem) => {
            part.records.push(Read { record: 0..0, number: problem.place.line, content: Content::Rejected(problem) })
        }
    }
    part
}
