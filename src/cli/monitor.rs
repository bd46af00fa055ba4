//! What a stream reports while it runs: a line on standard error, and the file of `--metrics`.
//!
//! The stream notes its state after each batch. A thread of its own writes the file every ten seconds and when a signal asks for it, also
//! while the stream waits for input or for the reader of its output.

use super::files::OutFile;
use super::signals::Ask;
use super::terminal::{Terminal, bytes, count, counted};
use neardups::filter::{self, Counts};
use neardups::index::{Index, Pace, TableWork};
use std::fmt::{Display, Write};
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How often the file is written.
const WRITE_EVERY: Duration = Duration::from_secs(10);

/// How often a line is printed, while documents come.
const REPORT_EVERY: Duration = Duration::from_secs(30);

/// After a signal, how long the stream may take to end without a line about it.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

/// How long the file may take that is written before the process ends at once.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// The exit status after a signal.
const BY_SIGNAL: u8 = 130;

/// The state of a stream.
#[derive(Clone, Copy, Default)]
struct State {
    counts: Counts,
    pace: Pace,
    work: TableWork,
    capped: u64,
    remembered: u64,
    bytes_held: u64,
    /// Of these, what the limit counts.
    bytes_needed: u64,
    bytes_stored: u64,
    queued: usize,
    /// When documents were last decided on and remembered, in seconds since 1970; 0 before that.
    decided_at: f64,
    /// The same of when they left, and how many did.
    left_at: f64,
    left: u64,
    /// The exit status, once the stream has ended.
    status: Option<u8>,
}

/// The state of a stream, for the threads that note and report it.
pub struct Monitor {
    state: Mutex<State>,
    /// When input last came, in milliseconds since 1970; 0 before that.
    read_at: Arc<AtomicU64>,
    reopens: AtomicBool,
    file: Option<OutFile>,
    /// Whether the index is in a file.
    is_stored: bool,
    /// The limit of the memory of the index.
    memory_limit: Option<u64>,
    /// The labels that say how it runs.
    labels: String,
    /// The labels of every value.
    of_all: String,
    began: f64,
    started: Instant,
}

impl Monitor {
    /// For a stream by this index, which may be in a file. It is reported to a file if there is one, each value with these labels.
    pub fn new((file, of_all): (Option<OutFile>, &[Label]), index: &Index, is_stored: bool, started: Instant) -> Self {
        let spec = index.spec();
        let rows = [("version", env!("CARGO_PKG_VERSION")), ("algo", spec.algorithm), ("tokenizer", &spec.tokenizer)];
        let labels = rows.map(|(name, value)| label(name, value));
        let of_all: Vec<String> = of_all.iter().map(|(name, value)| label(name, value)).collect();
        let monitor = Monitor {
            state: Mutex::default(),
            read_at: Arc::default(),
            reopens: AtomicBool::new(false),
            file,
            is_stored,
            memory_limit: index.limits().memory,
            labels: labels.join(","),
            of_all: of_all.join(","),
            began: seconds(now()),
            started,
        };
        monitor.note(&Counts::default(), index, filter::remembered(index));
        monitor
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The input, of which it is noted when some of it comes.
    pub fn watched<R: Read>(&self, input: R) -> Watched<R> {
        Watched { input, read_at: Arc::clone(&self.read_at) }
    }

    /// Notes the state when documents are decided on, and how many are remembered then.
    pub fn note(&self, counts: &Counts, index: &Index, remembered: u64) {
        let mut state = self.state();
        let is_moving = counts.documents > state.counts.documents;
        *state = State {
            counts: *counts,
            pace: index.pace(),
            work: index.table_work(),
            capped: index.capped(),
            remembered,
            bytes_held: index.bytes_held(),
            bytes_needed: index.bytes_needed(),
            bytes_stored: index.bytes_stored(),
            decided_at: if is_moving { seconds(now()) } else { state.decided_at },
            ..*state
        };
    }

    /// Notes that so many documents have left.
    pub fn note_left(&self, documents: u64) {
        let mut state = self.state();
        if documents > state.left {
            (state.left, state.left_at) = (documents, seconds(now()));
        }
    }

    /// Notes how much input waits for decisions.
    pub fn note_queue(&self, pieces: usize) {
        self.state().queued = pieces;
    }

    /// Whether files are to be opened again. The answer is given once for each time that it is asked for.
    pub fn reopens(&self) -> bool {
        self.reopens.load(Ordering::Relaxed) && self.reopens.swap(false, Ordering::Relaxed)
    }

    /// Reports until the stream ends.
    pub fn watch(&self, requests: &Receiver<Ask>, terminal: &Terminal) {
        let (mut reported_at, mut reported) = (Instant::now(), State::default());
        // The first time at once: a file of an earlier run does not stay.
        let (mut has_failed, mut next) = (false, Instant::now());
        // When it should have ended.
        let mut ending: Option<Instant> = None;
        loop {
            let due = ending.map_or(next, |ending| ending.min(next));
            let is_asked = match requests.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(Ask::End) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Ask::Reopen) => {
                    self.reopens.store(true, Ordering::Relaxed);
                    continue;
                }
                Ok(Ask::Stop) => {
                    ending = Some(Instant::now() + ENDS_WITHIN);
                    continue;
                }
                Ok(Ask::Report) => true,
                Err(RecvTimeoutError::Timeout) => false,
            };
            next = Instant::now() + WRITE_EVERY;
            let state = *self.state();
            if ending.take_if(|ending| *ending <= Instant::now()).is_some() {
                terminal.line(&format!(
                    "stopped by a signal: ends when the {} of {} decided documents that did not leave are written; is their reader stuck? A \
                     second signal ends the run at once",
                    count(state.counts.documents.saturating_sub(state.left)),
                    count(state.counts.documents)
                ));
            }
            let is_due = reported_at.elapsed() >= REPORT_EVERY && state.counts.documents > reported.counts.documents;
            if is_asked || is_due {
                terminal.line(&self.line(&state, &reported));
                (reported_at, reported) = (Instant::now(), state);
            }
            // Reported once: the next attempt may succeed, and the last one decides.
            if let Err(error) = self.write(&state)
                && !std::mem::replace(&mut has_failed, true)
            {
                terminal.warning(&format!("{error}; the stream goes on"));
            }
        }
    }

    /// Writes the file for the last time, with this exit status.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end(&self, status: u8) -> Result<(), neardups::Error> {
        let state = State { queued: 0, status: Some(status), ..*self.state() };
        self.write(&state)
    }

    /// Writes the file before the process ends at once. It waits for the disk for a second.
    pub fn end_at_once(self: Arc<Self>) {
        // What is written beside this says the same.
        self.state().status = Some(BY_SIGNAL);
        let (sender, is_written) = mpsc::channel();
        let write = move || {
            let state = *self.state();
            _ = self.write(&state);
            _ = sender.send(());
        };
        if thread::Builder::new().spawn(write).is_ok() {
            _ = is_written.recv_timeout(LAST_WRITE);
        }
    }

    fn write(&self, state: &State) -> Result<(), neardups::Error> {
        self.file.as_ref().map_or(Ok(()), |file| file.write(&self.metrics(state)))
    }

    /// A line about the state, with the mean time of decisions since an earlier one.
    fn line(&self, state: &State, earlier: &State) -> String {
        let State { counts, pace, .. } = state;
        format!(
            "{} ({}/s), {}, {} remembered; a decision takes {:.0} µs, at most {:.1} ms; index: {} in memory, {} stored",
            counted(counts.documents, "document"),
            count((counts.documents as f64 / self.started.elapsed().as_secs_f64().max(1e-9)) as u64),
            counted(counts.duplicates, "duplicate"),
            count(state.remembered),
            pace.mean_since(earlier.pace).as_secs_f64() * 1e6,
            pace.longest.as_secs_f64() * 1e3,
            bytes(state.bytes_held as f64),
            bytes(state.bytes_stored as f64),
        )
    }

    /// The state in the text format of Prometheus, version 0.0.4.
    fn metrics(&self, state: &State) -> String {
        let State { counts, pace, work, .. } = *state;
        let mut out = Metrics { text: String::new(), labels: &self.of_all };
        out.family("info", "gauge", "How the stream runs.");
        out.value("info", &self.labels, 1);
        out.gauge("running", "Whether the stream runs: 0 after its end.", u8::from(state.status.is_none()));
        out.gauge(
            "exit_status",
            "How it ended: 0 well, 2 with an error, 3 with more records than --max-bad that could not be read, 130 by a signal; -1 while it runs.",
            state.status.map_or(-1, i16::from),
        );
        out.gauge("start_time_seconds", "When it started, in seconds since 1970.", self.began);
        let read_at = seconds(self.read_at.load(Ordering::Relaxed));
        let times =
            [("read", "input last came", read_at), ("decision", "documents were last decided on", state.decided_at)];
        for (name, what, at) in times.into_iter().chain([("release", "documents last left", state.left_at)]) {
            out.gauge(
                &format!("last_{name}_time_seconds"),
                &format!("When {what}, in seconds since 1970; 0 before the first."),
                at,
            );
        }
        out.counter("documents", "Documents that were decided on.", counts.documents);
        out.counter("released_documents", "Of these, how many have left, or were dropped.", state.left);
        let decisions = [("fresh", counts.fresh), ("known", counts.known), ("duplicate", counts.duplicates)];
        out.family(
            "decisions_total",
            "counter",
            "Decisions on documents. Fresh and known ones pass; --drop-known drops known ones, unless an interrupted run may not have written them.",
        );
        decisions
            .iter()
            .for_each(|(decision, count)| out.value("decisions_total", &format!("decision={decision:?}"), count));
        out.counter("replaced", "Documents whose earlier text was forgotten.", counts.replaced);
        out.counter("featureless", "Documents that passed because they have too few features.", counts.featureless);
        out.counter("crowded", "Documents that passed although not all candidates were compared.", counts.crowded);
        out.counter("capped", "Decisions for which not all candidates were compared.", state.capped);
        out.counter(
            "repaired",
            "Documents that were read with changes, such as U+FFFD for invalid bytes.",
            counts.repaired,
        );
        out.counter("failed_records", "Records that could not be read.", counts.failed);
        out.counter("passed_records", "Records without a document.", counts.passed);
        out.counter("read_bytes", "Bytes read, decompressed.", counts.bytes);
        out.histogram("decision_seconds", "The time of a decision.", &pace);
        out.gauge("decision_seconds_max", "The time of the slowest decision.", pace.longest.as_secs_f64());
        out.gauge("queued_pieces", "Pieces of input that were read and not decided on.", state.queued);
        out.gauge("index_documents", "Documents that are remembered.", state.remembered);
        out.gauge("index_memory_bytes", "The memory of the index.", state.bytes_held);
        out.gauge("index_counted_memory_bytes", "What --memory counts of it.", state.bytes_needed);
        if let Some(limit) = self.memory_limit {
            out.gauge("index_memory_limit_bytes", "The limit of --memory.", limit);
        }
        if self.is_stored {
            out.gauge("index_file_bytes", "The size of the file of the index.", state.bytes_stored);
        }
        out.counter("index_files", "Files of tables that were written.", work.written);
        out.counter("index_merges", "Merges of files of tables.", work.merges);
        out.gauge("index_merging_documents", "Documents in the files that are being merged.", work.merging);
        out.text
    }
}

/// A label of values: its name and its value.
pub type Label = (String, String);

/// A label in the text format, in which three characters are escaped.
fn label(name: &str, value: &str) -> String {
    format!("{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// Ends the [watch](Monitor::watch) of a stream when it is dropped.
pub struct Ending(pub Sender<Ask>);

impl Drop for Ending {
    fn drop(&mut self) {
        _ = self.0.send(Ask::End);
    }
}

/// An input, of which it is noted when some of it comes.
pub struct Watched<R> {
    input: R,
    read_at: Arc<AtomicU64>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        if read > 0 {
            self.read_at.store(now(), Ordering::Relaxed);
        }
        Ok(read)
    }
}

/// The time, in milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1e3
}

/// Metrics as text; each has the prefix of the program, and these labels.
struct Metrics<'l> {
    text: String,
    labels: &'l str,
}

/// The prefix of all names.
const PREFIX: &str = "dedup_filter";

impl Metrics<'_> {
    /// Begins a family of values.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        _ = write!(self.text, "# HELP {PREFIX}_{name} {help}\n# TYPE {PREFIX}_{name} {kind}\n");
    }

    /// Adds a value, with labels or none.
    fn value(&mut self, name: &str, labels: &str, value: impl Display) {
        let and = if labels.is_empty() || self.labels.is_empty() { "" } else { "," };
        _ = match [self.labels, and, labels].concat() {
            none if none.is_empty() => writeln!(self.text, "{PREFIX}_{name} {value}"),
            all => writeln!(self.text, "{PREFIX}_{name}{{{all}}} {value}"),
        };
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.value(name, "", value);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        let name = format!("{name}_total");
        self.family(&name, "counter", help);
        self.value(&name, "", value);
    }

    /// Adds the times of decisions. Each bucket includes those below it.
    fn histogram(&mut self, name: &str, help: &str, pace: &Pace) {
        self.family(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        let mut count = 0;
        for (bound, within) in Pace::BOUNDS.iter().zip(pace.within) {
            count += within;
            self.value(&bucket, &format!("le=\"{}\"", bound.as_secs_f64()), count);
        }
        self.value(&bucket, "le=\"+Inf\"", pace.decisions);
        self.value(&format!("{name}_sum"), "", pace.total.as_secs_f64());
        self.value(&format!("{name}_count"), "", pace.decisions);
    }
}
