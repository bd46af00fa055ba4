//! Bounds on how far a stream is read ahead of its decisions.

use crate::support::scanning::factory;
use neardups::Error;
use neardups::filter::{Counts, Filter, IN_FLIGHT, Sink};
use neardups::index::{Decision, Index, Limits, Plan};
use neardups::source::{Format, Live, ReadOptions};
use neardups::tokenizer::{Tokenizer, Tokens, Whitespace};
use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

const THREADS: usize = 2;
const LINES: usize = 500;

/// How many lines were read and decided on, and by how many the first was ahead at most.
#[derive(Default)]
struct Progress {
    read: AtomicUsize,
    decided: AtomicUsize,
    ahead: AtomicUsize,
}

/// Gives a line at a time.
struct Input(Arc<Progress>);

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Progress { read, decided, ahead } = &*self.0;
        let number = read.load(SeqCst);
        if number == LINES {
            return Ok(0);
        }
        ahead.fetch_max(number + 1 - decided.load(SeqCst), SeqCst);
        read.store(number + 1, SeqCst);
        let line = format!("{number} {number}a {number}b\n");
        line.as_bytes().read(buffer)
    }
}

struct Decided(Arc<Progress>, usize);

impl Sink for Decided {
    fn decided(&mut self, line: &[u8], _: &str, _: &Decision) -> Result<(), Error> {
        let number = self.0.decided.fetch_add(1, SeqCst);
        assert!(line.starts_with(format!("{number} ").as_bytes()), "in the order of the input");
        Ok(())
    }

    fn passed(&mut self, record: &[u8]) -> Result<(), Error> {
        panic!("every line is a document: {}", record.escape_ascii());
    }

    fn release(&mut self, counts: &Counts, _: &Index) -> Result<(), Error> {
        self.1 = counts.documents as usize;
        Ok(())
    }
}

/// Is done with the first line only when others have been read, and some time was left to read more.
struct Dear(Arc<Progress>);

impl Tokenizer for Dear {
    fn name(&self) -> Cow<'_, str> {
        "dear".into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        if text.starts_with("0 ") {
            while self.0.read.load(SeqCst) < IN_FLIGHT * THREADS {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(50));
        }
        Whitespace.tokenize(text, tokens);
    }
}

/// Panics in the middle.
struct Panicking;

impl Tokenizer for Panicking {
    fn name(&self) -> Cow<'_, str> {
        "panicking".into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        assert!(!text.starts_with("250 "), "a tokenizer panics");
        Whitespace.tokenize(text, tokens);
    }
}

fn run(tokenizer: Arc<dyn Tokenizer>, limits: Limits, progress: &Arc<Progress>) -> (Result<Counts, Error>, usize) {
    let plan = Plan::new(&factory("minhash", &[("shingle", "2")]), tokenizer).unwrap();
    let mut index = Index::in_memory(&plan, limits);
    let options = ReadOptions { format: Format::Lines, ..ReadOptions::default() };
    let live = Live::new(Input(Arc::clone(progress)), "-", &options);
    let mut sink = Decided(Arc::clone(progress), 0);
    let result = Filter::new(&mut index).threads(THREADS).run(live, &mut sink);
    (result, sink.1)
}

#[test]
fn while_one_line_is_signed_no_more_than_the_bound_are_read() {
    let progress = Arc::default();
    let (counts, released) = run(Arc::new(Dear(Arc::clone(&progress))), Limits::default(), &progress);
    assert_eq!((counts.unwrap().documents as usize, released), (LINES, LINES));
    assert_eq!(progress.ahead.load(SeqCst), IN_FLIGHT * THREADS);
}

#[test]
fn the_end_is_the_same_when_the_index_is_full_in_the_middle() {
    let progress = Arc::default();
    let limits = Limits { max_documents: Some(250), ..Limits::default() };
    let (result, released) = run(Arc::new(Whitespace), limits, &progress);
    assert_eq!((result.is_err(), released), (true, 250));
}

#[test]
#[should_panic(expected = "a tokenizer panics")]
fn a_panic_of_a_tokenizer_is_not_lost() {
    _ = run(Arc::new(Panicking), Limits::default(), &Arc::default());
}
