//! The stream: documents come in one by one, and new ones go out. Records without a document pass through.
//!
//! One thread reads what is there, others make signatures, and the calling one decides in input order. So many chunks and no more are
//! between reading and deciding: while an expensive one is signed the others wait, and so does the input. Decisions go out when the input
//! pauses, and when there are many: first the index is written, then they leave.

use crate::algorithm::minhash::sketch::stored_name;
use crate::algorithm::{Algorithm, Learns, Recipe, Setup};
use crate::engine::{Observer, workers};
use crate::error::Error;
use crate::index::{Decision, Index, Signature, Signer};
use crate::source::{Chunk, Live, Problem, Severity};
use crate::tokenizer::Tokenizer;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

/// Where a setup depends on the median length of documents, it is made for texts of so many tokens: how long those of a stream are is not
/// known when it starts.
pub const MEDIAN_TOKENS: usize = 500;

/// For so many documents the choice of keys is made.
const MANY_DOCUMENTS: usize = 1_000_000;

/// How signatures are made.
#[derive(Clone)]
pub struct Plan {
    /// The algorithm.
    pub algorithm: Arc<dyn Algorithm>,
    tokenizer: Arc<dyn Tokenizer>,
    /// The name of a tokenizer that the algorithm asked for.
    own_tokenizer: Option<String>,
    seed: u64,
    warnings: Vec<String>,
}

impl Plan {
    /// The plan of a recipe.
    ///
    /// # Errors
    /// The algorithm is refused, or has to count the whole collection first.
    pub fn new(recipe: &dyn Recipe, tokenizer: Arc<dyn Tokenizer>, seed: u64) -> Result<Self, Error> {
        let Setup { mut algorithm, tokenizer: own, warnings, refusal } = recipe.prepare(MEDIAN_TOKENS)?;
        if let Some(refusal) = refusal {
            return Err(Error::Unsuitable(refusal));
        }
        match algorithm.learns() {
            // In what order features come changes the cost, not the result.
            None | Some(Learns::Features) => {}
            Some(Learns::Terms) => {
                return Err(Error::Usage(format!(
                    "{} must know in how many documents terms are: give it a lexicon of documents like these with --lexicon \
                     (dedup lexicon build makes one)",
                    algorithm.name()
                )));
            }
            Some(Learns::Bounds | Learns::Frequencies { .. }) => {
                return Err(Error::Usage(
                    "--drop-common counts over all documents, which a stream has not seen yet".into(),
                ));
            }
        }
        algorithm.tune(MANY_DOCUMENTS);
        let (tokenizer, own_tokenizer) = match own {
            Some((own, name)) => (own, Some(name)),
            None => (tokenizer, None),
        };
        Ok(Plan { algorithm: algorithm.into(), tokenizer, own_tokenizer, seed, warnings })
    }

    /// Makes signatures.
    pub fn signer(&self) -> Signer {
        Signer::new(&self.algorithm, &self.tokenizer, self.seed)
    }

    /// What an index says of how its signatures were made, beside what the caller adds.
    pub fn header(&self) -> Map<String, Value> {
        let mut header = Map::new();
        header.insert("algo".into(), json!(self.algorithm.name()));
        header.insert("seed".into(), json!(self.seed));
        header.insert("hash version".into(), json!(crate::hash::HASH_VERSION));
        if let Some(name) = &self.own_tokenizer {
            header.insert("own tokenizer".into(), json!(name));
        }
        // What is worked out from the others says nothing, and numbers with a point are the same only as they are written.
        let given = self.algorithm.resolved().into_iter().filter(|(name, _)| !name.starts_with("recall"));
        for (name, value) in given {
            let value = match (name, value.as_str()) {
                ("sketch", Some(sketch)) => json!(stored_name(sketch)),
                _ => value,
            };
            let value = if value.is_f64() { json!(value.to_string()) } else { value };
            header.insert(name.replace('_', " "), value);
        }
        header
    }

    /// What users should know.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Documents read.
    pub documents: u64,
    /// Let through for the first time, those without features included.
    pub fresh: u64,
    /// Let through again: the same id and tokens as before, with an index in a file.
    pub known: u64,
    /// Near-duplicates.
    pub duplicates: u64,
    /// Let through because they have too few features to be compared.
    pub featureless: u64,
    /// Records whose text had to be repaired.
    pub repaired: u64,
    /// Pages of which all text was read because no main text was found.
    pub fell_back: u64,
    /// Records that could not be read.
    pub failed: u64,
    /// Records that hold no text that is read, let through as they came.
    pub passed: u64,
    /// Bytes read, decompressed.
    pub bytes: u64,
}

impl Counts {
    fn count(&mut self, decision: &Decision) {
        self.documents += 1;
        match decision {
            Decision::Fresh => self.fresh += 1,
            Decision::Known => self.known += 1,
            Decision::Featureless => {
                self.fresh += 1;
                self.featureless += 1;
            }
            Decision::Duplicate { .. } => self.duplicates += 1,
        }
    }
}

/// Takes what was decided.
pub trait Sink {
    /// A document, with its record as it came: a line with its end, or a record of an archive without the two empty lines behind it.
    /// It must not leave before the next [`release`](Self::release).
    ///
    /// # Errors
    /// Ends the stream.
    fn decided(&mut self, record: &[u8], id: &str, decision: &Decision) -> Result<(), Error>;

    /// A record that holds no document, and passes; as it came.
    ///
    /// # Errors
    /// Ends the stream.
    fn passed(&mut self, record: &[u8]) -> Result<(), Error>;

    /// A record that could not be read, as it came; `None` if it is not at hand, because it is too long or broken. It is dropped unless
    /// the sink writes it.
    ///
    /// # Errors
    /// Ends the stream, as if it ended before this record.
    fn rejected(&mut self, _record: Option<&[u8]>, _problem: &Problem) -> Result<(), Error> {
        Ok(())
    }

    /// What was decided may leave, now.
    ///
    /// # Errors
    /// Ends the stream.
    fn release(&mut self, counts: &Counts, index: &Index) -> Result<(), Error>;
}

/// A record, and what is in it.
struct Read {
    record: Vec<u8>,
    content: Content,
}

enum Content {
    Document(String, Signature),
    /// No text that is read.
    None,
    /// It could not be read.
    Rejected(Problem),
}

/// What a chunk became.
#[derive(Default)]
struct Part {
    records: Vec<Read>,
    problems: Vec<Problem>,
    bytes: u64,
}

/// At most so many chunks for each thread are between reading and deciding. A chunk is what was there of the input, at most a few hundred
/// KiB, unless a record is longer.
pub const IN_FLIGHT: usize = 8;

/// At most so many bytes of records are decided on before they leave.
const HELD: usize = 1 << 20;

/// Filters a stream: each document is let through unless the index has one like it. Ends at the end of the input, at the first error, or
/// soon after `stop` is set; what was let through is then in the index, and has left.
///
/// # Errors
/// The input breaks off, the index cannot be written or is full, or the sink has an error.
///
/// Cost: documents are signed on `threads` threads (0: one a core) and decided on by one.
pub fn filter<R: io::Read + Send + 'static>(
    input: Live<R>,
    plan: &Plan,
    index: &mut Index,
    threads: usize,
    stop: &AtomicBool,
    observer: &dyn Observer,
    sink: &mut dyn Sink,
) -> Result<Counts, Error> {
    let Signed { parts, permits } = signed(input, plan, workers(threads));
    let mut counts = Counts::default();
    let (mut early, mut expected, mut held) = (BTreeMap::new(), 0u64, 0);
    let mut failure = None;
    'stream: loop {
        let (number, part) = match parts.try_recv() {
            Ok(next) => next,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                // The input pauses.
                if held > 0 {
                    index.commit()?;
                    sink.release(&counts, index)?;
                    held = 0;
                }
                match parts.recv_timeout(Duration::from_millis(50)) {
                    Ok(next) => next,
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => break,
                    Err(RecvTimeoutError::Timeout) => continue,
                }
            }
        };
        early.insert(number, part);
        while let Some(part) = early.remove(&expected) {
            expected += 1;
            let part = match part {
                Ok(Ok(part)) => part,
                Err(panic) => resume_unwind(panic),
                Ok(Err(error)) => {
                    failure = Some(Error::input("cannot read standard input", error));
                    break 'stream;
                }
            };
            counts.bytes += part.bytes;
            for problem in &part.problems {
                match problem.severity {
                    Severity::FellBack => counts.fell_back += 1,
                    Severity::Repaired => counts.repaired += 1,
                    // It passes, and is counted there; what failed is among the records.
                    Severity::Skipped | Severity::Failed => {}
                }
                observer.problem(problem);
            }
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
            for Read { record, content } in &part.records {
                match content {
                    Content::None => {
                        counts.passed += 1;
                        sink.passed(record)?;
                    }
                    Content::Rejected(problem) => {
                        counts.failed += 1;
                        observer.problem(problem);
                        if let Err(error) = sink.rejected((!record.is_empty()).then_some(record), problem) {
                            failure = Some(error);
                            break 'stream;
                        }
                    }
                    Content::Document(id, signature) => match index.decide(id, signature, now) {
                        Ok(decision) => {
                            counts.count(&decision);
                            sink.decided(record, id, &decision)?;
                        }
                        Err(error) => {
                            failure = Some(error);
                            break 'stream;
                        }
                    },
                }
                held += record.len() + 64;
                if held >= HELD {
                    index.commit()?;
                    sink.release(&counts, index)?;
                    held = 0;
                }
            }
            // The reader has sent one for each chunk.
            _ = permits.try_recv();
            if stop.load(Ordering::Relaxed) {
                break 'stream;
            }
        }
    }
    index.commit()?;
    sink.release(&counts, index)?;
    index.seal()?;
    failure.map_or(Ok(counts), Err)
}

/// What other threads make of the input.
struct Signed {
    /// What came of the chunks, each with its number, in no particular order; at the end the error of the input. A panic of a tokenizer
    /// or an algorithm comes in the place of its part.
    parts: Receiver<(u64, thread::Result<io::Result<Part>>)>,
    /// One for each chunk that is in flight. The reader waits while there is no room for another, and ends when this is dropped.
    permits: Receiver<()>,
}

/// Reads and signs on threads of their own, which end when the receiver is dropped, or with the process: reading can wait for ever.
fn signed<R: io::Read + Send + 'static>(input: Live<R>, plan: &Plan, threads: usize) -> Signed {
    let (permit, permits) = sync_channel(IN_FLIGHT * threads);
    // These have no bounds of their own: the permits bound both.
    let (send_chunk, chunks) = channel::<(u64, Result<Chunk, Problem>)>();
    let (done, parts) = channel();
    let chunks = Arc::new(Mutex::new(chunks));
    for _ in 0..threads {
        let (chunks, done, mut signer) = (Arc::clone(&chunks), done.clone(), plan.signer());
        thread::spawn(move || {
            loop {
                let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok((number, chunk)) = next else { return };
                // The signer clears what it works on before each document.
                let part = catch_unwind(AssertUnwindSafe(|| Ok(part(chunk, &mut signer))));
                if done.send((number, part)).is_err() {
                    return;
                }
            }
        });
    }
    thread::spawn(move || {
        let mut number = 0;
        let read = || {
            let mut chunks = input.open()?;
            while permit.send(()).is_ok()
                && let Some(chunk) = chunks.next_chunk()?
                && send_chunk.send((number, chunk)).is_ok()
            {
                number += 1;
            }
            Ok(())
        };
        if let Err(error) = read() {
            // By its number it comes after everything that was read.
            _ = done.send((number, Ok(Err(error))));
        }
    });
    Signed { parts, permits }
}

fn part(chunk: Result<Chunk, Problem>, signer: &mut Signer) -> Part {
    let mut part = Part::default();
    match chunk {
        Ok(chunk) => {
            part.bytes = chunk.bytes();
            chunk.documents(&mut |record, result| {
                let content = match result {
                    Ok(None) => Content::None,
                    Ok(Some(document)) => Content::Document(document.id.to_string(), signer.sign(&document.text)),
                    Err(problem) if problem.severity == Severity::Failed => Content::Rejected(problem),
                    Err(problem) => {
                        let passes = problem.severity == Severity::Skipped;
                        part.problems.push(problem);
                        // The text of others comes behind the problem.
                        if !passes {
                            return;
                        }
                        Content::None
                    }
                };
                part.records.push(Read { record: record.to_vec(), content });
            });
        }
        Err(problem) => part.records.push(Read { record: Vec::new(), content: Content::Rejected(problem) }),
    }
    part
}
