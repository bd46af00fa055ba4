//! The stream: documents come in one by one, and new ones go out.
//!
//! One thread reads what is there, others make signatures, and the calling one decides in input order. Decisions go out when the input
//! pauses, and when there are many: first the index is written, then they leave.

use crate::algorithm::{Algorithm, Learns, Recipe, Setup};
use crate::engine::{Observer, workers};
use crate::error::Error;
use crate::index::{Decision, Index, Signature, Signer};
use crate::source::{Chunk, Live, Problem, Severity};
use crate::tokenizer::Tokenizer;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Read;
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
    /// Let through again: the same id and tokens as before.
    pub known: u64,
    /// Near-duplicates.
    pub duplicates: u64,
    /// Let through because they have too few features to be compared.
    pub featureless: u64,
    /// Records whose text had to be repaired.
    pub repaired: u64,
    /// Records that could not be read.
    pub failed: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// Takes what was decided.
pub trait Sink {
    /// A document, with its line as it came. It must not leave before the next [`release`](Self::release).
    ///
    /// # Errors
    /// Ends the stream.
    fn decided(&mut self, line: &[u8], id: &str, decision: &Decision) -> Result<(), Error>;

    /// What was decided may leave, now.
    ///
    /// # Errors
    /// Ends the stream.
    fn release(&mut self, counts: &Counts, index: &Index) -> Result<(), Error>;
}

/// A line and what was made of it.
struct Signed {
    line: Vec<u8>,
    id: String,
    signature: Signature,
}

/// What a chunk became.
#[derive(Default)]
struct Part {
    signed: Vec<Signed>,
    problems: Vec<Problem>,
    bytes: u64,
}

/// At most so many bytes of lines are decided on before they leave.
const HELD: usize = 1 << 20;

/// Filters a stream: each document is let through unless the index has one like it. Ends at the end of the input, at the first error, or
/// soon after `stop` is set; what was let through is then in the index, and has left.
///
/// # Errors
/// The input breaks off, the index cannot be written or is full, or the sink has an error.
///
/// Cost: documents are signed on `threads` threads (0: one a core) and decided on by one.
pub fn filter<R: Read + Send + 'static>(
    input: Live<R>,
    plan: &Plan,
    index: &mut Index,
    threads: usize,
    stop: &AtomicBool,
    observer: &dyn Observer,
    sink: &mut dyn Sink,
) -> Result<Counts, Error> {
    let parts = signed(input, plan, workers(threads));
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
            let part: Part = match part {
                Ok(part) => part,
                Err(error) => {
                    failure = Some(Error::io("cannot read standard input", error));
                    break 'stream;
                }
            };
            counts.bytes += part.bytes;
            for problem in &part.problems {
                match problem.severity {
                    Severity::Repaired => counts.repaired += 1,
                    _ => counts.failed += 1,
                }
                observer.problem(problem);
            }
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
            for Signed { line, id, signature } in &part.signed {
                let decision = match index.decide(id, signature, now) {
                    Ok(decision) => decision,
                    Err(error) => {
                        failure = Some(error);
                        break 'stream;
                    }
                };
                counts.documents += 1;
                match &decision {
                    Decision::Fresh => counts.fresh += 1,
                    Decision::Known => counts.known += 1,
                    Decision::Featureless => {
                        counts.fresh += 1;
                        counts.featureless += 1;
                    }
                    Decision::Duplicate { .. } => counts.duplicates += 1,
                }
                sink.decided(line, id, &decision)?;
                held += line.len() + 64;
                if held >= HELD {
                    index.commit()?;
                    sink.release(&counts, index)?;
                    held = 0;
                }
            }
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

/// What came of the chunks, each with its number, in no particular order.
type Parts = Receiver<(u64, Result<Part, std::io::Error>)>;

/// Reads and signs on threads of their own, which end when nobody listens any more, or with the process: reading can wait for ever.
fn signed<R: Read + Send + 'static>(mut input: Live<R>, plan: &Plan, threads: usize) -> Parts {
    let (send_chunk, chunks) = sync_channel::<(u64, Result<Chunk, Problem>)>(2 * threads);
    // Bounded too: who decides can be slower than who signs.
    let (done, parts) = sync_channel(4 * threads);
    let (failed, failure) = channel();
    let on_failure = done.clone();
    thread::spawn(move || {
        for number in 0.. {
            match input.next_chunk() {
                Ok(Some(chunk)) => {
                    if send_chunk.send((number, chunk)).is_err() {
                        return;
                    }
                }
                Ok(None) => return,
                Err(error) => return drop(failed.send((number, error))),
            }
        }
    });
    let chunks = Arc::new(Mutex::new(chunks));
    let workers: Vec<_> = (0..threads)
        .map(|_| {
            let (chunks, done, mut signer) = (Arc::clone(&chunks), done.clone(), plan.signer());
            thread::spawn(move || {
                loop {
                    let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, chunk)) = next else { return };
                    if done.send((number, Ok(part(chunk, &mut signer)))).is_err() {
                        return;
                    }
                }
            })
        })
        .collect();
    drop(done);
    // The error of the input comes after everything that was read.
    thread::spawn(move || {
        workers.into_iter().for_each(|worker| drop(worker.join()));
        if let Ok((number, error)) = failure.recv() {
            _ = on_failure.send((number, Err(error)));
        }
    });
    parts
}

fn part(chunk: Result<Chunk, Problem>, signer: &mut Signer) -> Part {
    let mut part = Part::default();
    match chunk {
        Ok(chunk) => {
            part.bytes = chunk.bytes();
            chunk.documents(&mut |line, result| match result {
                Ok(document) => part.signed.push(Signed {
                    line: line.to_vec(),
                    id: document.id.to_string(),
                    signature: signer.sign(&document.text),
                }),
                Err(problem) => part.problems.push(problem),
            });
        }
        Err(problem) => part.problems.push(problem),
    }
    part
}
