//! What leaves, and when, while the index reaches the disk.

use super::*;
use crate::MinHash;
use crate::index::{IndexOptions, Plan, Seed, documents};
use crate::source::{Format, ReadOptions};
use crate::tokenizer::Word;
use std::path::Path;
use std::sync::atomic::AtomicUsize;

/// What a sink and the disk have seen.
#[derive(Default)]
struct Seen {
    decided: AtomicUsize,
    /// The number of syncs that have ended.
    synced: AtomicUsize,
}

/// Keeps apart what is decided, and checks that it leaves after a sync.
struct Apart<'a> {
    seen: &'a Seen,
    waiting: Vec<String>,
    apart: Option<usize>,
    /// The number of times that records were kept apart.
    begun: usize,
    /// How often a record was decided on between that and its release.
    overlapped: usize,
    left: Vec<String>,
    /// The release that fails, counted from 1.
    fails_at: usize,
    releases: usize,
}

impl Apart<'_> {
    fn new(seen: &Seen, fails_at: usize) -> Apart<'_> {
        let (waiting, left) = (Vec::new(), Vec::new());
        Apart { seen, waiting, apart: None, begun: 0, overlapped: 0, left, fails_at, releases: 0 }
    }
}

impl Sink for Apart<'_> {
    fn decided(&mut self, _record: &[u8], id: &str, decision: &Decision) -> Result<(), Error> {
        self.seen.decided.fetch_add(1, Ordering::SeqCst);
        self.overlapped += usize::from(self.apart.is_some());
        self.waiting.extend(decision.passes().then(|| id.to_string()));
        Ok(())
    }

    fn passed(&mut self, record: &[u8]) -> Result<(), Error> {
        panic!("every line is a document: {}", record.escape_ascii());
    }

    fn keep_apart(&mut self) -> bool {
        assert!(self.apart.replace(self.waiting.len()).is_none(), "those before have left");
        self.begun += 1;
        true
    }

    fn release(&mut self, _counts: &Counts, _index: &Index) -> Result<(), Error> {
        if self.apart.is_some() {
            assert_eq!(self.seen.synced.load(Ordering::SeqCst), self.begun, "records leave before the disk has them");
        }
        self.releases += 1;
        if self.releases == self.fails_at {
            return Err(Error::output("cannot write results", io::Error::other("for a test")));
        }
        let count = self.apart.take().unwrap_or(self.waiting.len());
        self.left.extend(self.waiting.drain(..count));
        Ok(())
    }
}

fn plan() -> Plan {
    let factory = MinHash::builder().shingle(2).build().unwrap();
    Plan::new(&factory, Arc::new(Word)).unwrap().with_seed(Seed::Fixed(0)).unwrap()
}

/// Documents without ids, which differ.
fn lines(range: Range<usize>) -> String {
    range.map(|number| (0..12).map(|word| format!("w{} ", 100 * number + word)).collect::<String>() + "\n").collect()
}

fn run(index: &mut Index, lines: String, sink: &mut Apart<'_>) -> Result<Counts, Error> {
    let options = ReadOptions { format: Format::Lines, ..ReadOptions::default() };
    Filter::new(index).threads(1).run(Live::new(io::Cursor::new(lines), "-", &options), sink)
}

fn open(path: &Path) -> Index {
    Index::open(path, &plan(), &IndexOptions::default()).unwrap().0
}

#[test]
fn others_are_decided_on_while_the_index_reaches_the_disk_and_records_leave_after_that() {
    let (folder, seen) = (tempfile::tempdir().unwrap(), Arc::new(Seen::default()));
    let mut index = open(&folder.path().join("index"));
    let of_disk = Arc::clone(&seen);
    index.sync_by(move || {
        // Until another document is decided on; at the end there is none.
        let (before, since) = (of_disk.decided.load(Ordering::SeqCst), Instant::now());
        while of_disk.decided.load(Ordering::SeqCst) == before && since.elapsed() < Duration::from_secs(2) {
            thread::sleep(Duration::from_micros(50));
        }
        of_disk.synced.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    let mut sink = Apart::new(&seen, usize::MAX);
    run(&mut index, lines(0..100), &mut sink).unwrap();
    assert_eq!(sink.left, (1..=100).map(|number| format!("-:{number}")).collect::<Vec<_>>());
    assert!(sink.begun >= 8 && sink.overlapped >= sink.begun - 1, "{} {}", sink.begun, sink.overlapped);
}

#[test]
fn nothing_leaves_that_the_disk_refused() {
    let (folder, seen) = (tempfile::tempdir().unwrap(), Arc::new(Seen::default()));
    let path = folder.path().join("index");
    let mut index = open(&path);
    let of_disk = Arc::clone(&seen);
    index.sync_by(move || match of_disk.synced.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => Ok(()),
        _ => Err(io::Error::other("the disk is gone")),
    });
    let mut sink = Apart::new(&seen, usize::MAX);
    let error = run(&mut index, lines(0..100), &mut sink).unwrap_err().to_string();
    assert!(error.contains("the disk is gone") && error.contains("feed it again"), "{error}");
    assert!(!sink.left.is_empty() && sink.left.len() < 40, "{:?}", sink.left);
    drop(index);
    // The index has what has left, and no more.
    let remembered: Vec<String> = documents(&path).unwrap().map(|document| document.unwrap().id).collect();
    assert_eq!(remembered, sink.left);
}

/// Counts what has left; a release fails.
struct Plainly {
    waiting: usize,
    left: usize,
    fails_at: usize,
    releases: usize,
}

impl Sink for Plainly {
    fn decided(&mut self, record: &[u8], _id: &str, decision: &Decision) -> Result<(), Error> {
        if decision.passes() { self.passed(record) } else { Ok(()) }
    }

    fn passed(&mut self, _record: &[u8]) -> Result<(), Error> {
        self.waiting += 1;
        Ok(())
    }

    fn release(&mut self, _counts: &Counts, _index: &Index) -> Result<(), Error> {
        self.releases += 1;
        if self.releases == self.fails_at {
            return Err(Error::output("cannot write results", io::Error::other("for a test")));
        }
        self.left += std::mem::take(&mut self.waiting);
        Ok(())
    }
}

/// In the same index: what the output refused passes again.
#[test]
fn a_run_after_one_whose_output_failed_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = open(&folder.path().join("index"));
    let options = ReadOptions { format: Format::Lines, ..ReadOptions::default() };
    for fails_at in [1, 2, 4] {
        let from = 1000 * fails_at;
        let mut feed = |from: usize, fails_at| {
            let mut sink = Plainly { waiting: 0, left: 0, fails_at, releases: 0 };
            let input = Live::new(io::Cursor::new(lines(from..from / 1000 * 1000 + 60)), "-", &options);
            let result = Filter::new(&mut index).threads(1).run(input, &mut sink);
            (result.is_ok(), sink.left)
        };
        let (is_whole, left) = feed(from, fails_at);
        assert!(!is_whole && left < 60, "{fails_at}");
        assert_eq!(feed(from + left, usize::MAX), (true, 60 - left), "{fails_at}");
    }
}

/// Keeps what could not be read, and the ids of what was decided on.
#[derive(Default)]
struct Rejected {
    decided: Vec<String>,
    rejected: Vec<(Option<Vec<u8>>, String)>,
}

impl Sink for Rejected {
    fn decided(&mut self, _record: &[u8], id: &str, decision: &Decision) -> Result<(), Error> {
        assert_eq!(decision, &Decision::Fresh);
        self.decided.push(id.to_string());
        Ok(())
    }

    fn passed(&mut self, record: &[u8]) -> Result<(), Error> {
        panic!("every line is a document: {}", record.escape_ascii());
    }

    fn rejected(&mut self, record: Option<&[u8]>, problem: &Problem) -> Result<(), Error> {
        self.rejected.push((record.map(<[u8]>::to_vec), problem.message.clone()));
        Ok(())
    }

    fn release(&mut self, _counts: &Counts, _index: &Index) -> Result<(), Error> {
        Ok(())
    }
}

/// It is one record that fails, in a stream and in a source; and those after it are decided on.
#[test]
fn a_record_that_no_index_can_have_does_not_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let long = "w1 w2 ".to_string() + &lines(7..107).replace('\n', " ");
    let input = format!("{}{long}\n{}", lines(0..2), lines(2..4));
    for is_stored in [true, false] {
        let mut index = match is_stored {
            true => open(&folder.path().join("index")),
            false => Index::in_memory(&plan(), crate::index::Limits::default()),
        };
        index.bound_records(1_000);
        let mut sink = Rejected::default();
        let options = ReadOptions { format: Format::Lines, ..ReadOptions::default() };
        let live = Live::new(io::Cursor::new(input.clone()), "-", &options);
        let counts = Filter::new(&mut index).threads(2).run(live, &mut sink).unwrap();
        assert_eq!((counts.documents, counts.fresh, counts.failed), (4, 4, 1));
        assert_eq!(sink.decided, ["-:1", "-:2", "-:4", "-:5"]);
        let message = "too many tokens: an index has at most 256 MiB of a document";
        assert_eq!(sink.rejected, [(Some(format!("{long}\n").into_bytes()), message.to_string())]);
        assert!(index.decide("long", &index.signer().sign(&long), 0).is_err() && index.len() == 4);
    }
    let mut index = Index::in_memory(&plan(), crate::index::Limits::default());
    index.bound_records(1_000);
    let documents =
        input.lines().zip(["a", "b", "long", "c", "d"]).map(|(line, id)| (id.to_string(), line.to_string()));
    let mut problems = 0;
    let counts = Filter::new(&mut index)
        .documents(&mut documents.collect::<crate::source::Documents>(), &mut |place, decided| {
            if let Decided::Problem(problem) = decided {
                assert_eq!((&*place.path, problem.id.as_deref()), ("long", Some("long")));
                problems += 1;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!((counts.documents, counts.failed, problems), (4, 1, 1));
}
