//! The least that a whole run can take with the loops of this library: what it must do at least, and nothing between.
//!
//! ```text
//! cargo bench --bench least -- million.jsonl
//! ```
//!
//! Every part reads the corpus on one thread and does its work on all others, like a run; nothing is kept, ordered, spilled or compared that
//! the part does not name. Prints a table in Markdown: the time, the processor's time, and the least time on these cores, which is the
//! processor's time by their number. Each part is a process of its own, so that none finds the memory of another. Linux alone.
//!
//! A run that does its own part and others takes longer than that part. Faster loops would move the limit; a better arrangement of the
//! same ones would not.

#[path = "../src/kernel/fetch.rs"]
#[allow(dead_code, unused_imports)]
mod fetch;

use fetch::fetch;
use neardups::MinHash;
use neardups::algorithm::parameter::Settings;
use neardups::algorithm::{Algorithm, AlgorithmFactory, Entry, Features};
use neardups::hash::{combine, mix, sequence_hash};
use neardups::index::{Index, Limits, Plan, Signer};
use neardups::similarity::{Threshold, jaccard_at_least};
use neardups::source::{Batch, Input, ReadOptions, Source};
use neardups::tokenizer::{TokenDetail, Tokenizer, Tokens, Word};
use sha1::{Digest, Sha1};
use std::hint::black_box;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use std::{env, fs, thread};

/// A part and what it does.
type Part = (&'static str, &'static str);

/// The parts. Each of the corpus does what the first three do, too.
const PARTS: &[Part] = &[
    ("read", "the lines of the file, in batches"),
    ("text", "and their texts, from JSON"),
    ("words", "and their words, cut and hashed, and the hash of all of them"),
    ("minhash", "and fingerprint and keys of the default"),
    ("simhash", "the same of SimHash"),
    ("projection", "the same of random projection"),
    ("sets", "of a fifth of the documents, their sets of shingles, sorted"),
    ("exact", "the sets of all"),
    ("again", "a second reading: all lines, and of a fifth of the documents all that \"sets\" does"),
    ("signed", "what an index takes of each document: keys, and its set, sorted and coded, made by the library"),
    ("terms", "distinct terms of each document, counted in a table of each thread"),
    (
        "digests",
        "distinct terms of each, sorted by their texts, and eleven SHA-1 digests, ten of them of half of the terms",
    ),
    ("sorting", "no corpus: a million keys in each of 16 tables, sorted"),
    ("pairs", "no corpus: 1,768,309 pairs of sets of 213 shingles, of which 202 are common, compared"),
    ("copy", "no documents: the bytes of the corpus read and written to a file"),
    ("kept", "no corpus: the codes of 830,000 documents, 1 KB each, appended to a list in memory"),
    ("index", "no corpus: 16 keys of each of a million documents looked up in a table and added to it"),
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [corpus] if cfg!(target_os = "linux") => {
            let threads = threads();
            println!("| part | wall s | CPU s | s, at least, on {threads} cores |\n|---|---|---|---|");
            for (part, what) in PARTS {
                let begun = Instant::now();
                let child =
                    std::process::Command::new(env::current_exe().expect("it runs")).args([*part, &**corpus]).output();
                let output = child.expect("it runs");
                assert!(output.status.success(), "{part}: {}", String::from_utf8_lossy(&output.stderr));
                let (wall, cpu) =
                    (begun.elapsed().as_secs_f64(), String::from_utf8_lossy(&output.stdout).trim().parse::<f64>());
                let cpu = cpu.expect("the time");
                println!("| {part}: {what} | {wall:.1} | {cpu:.1} | {:.1} |", cpu / threads as f64);
            }
        }
        [part, corpus] => {
            run(part, corpus);
            println!("{}", cpu_seconds());
        }
        _ => println!("nothing is measured: on Linux, cargo bench --bench least -- FILE does"),
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The time that this process has taken of processors, in seconds.
fn cpu_seconds() -> f64 {
    /// Ticks a second, on every Linux.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux has it");
    let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
    let mut fields = fields.split_whitespace().skip(11).map(|field| field.parse::<f64>().expect("a number"));
    (fields.next().expect("user") + fields.next().expect("system")) / TICKS
}

fn run(part: &str, corpus: &str) {
    match part {
        "sorting" => return sorting(),
        "pairs" => return pairs(),
        "kept" => return kept(),
        "copy" => return copy(corpus),
        "index" => return index(),
        _ => {}
    }
    let (send, receive) = sync_channel::<Batch>(4 * threads());
    let receive = Arc::new(Mutex::new(receive));
    thread::scope(|scope| {
        for _ in 0..threads() {
            let receive = Arc::clone(&receive);
            scope.spawn(move || work(part, &receive));
        }
        let mut input = Input::new(vec![corpus.into()], ReadOptions::default());
        input.read(&mut |batch| {
            send.send(batch).expect("the workers run");
            ControlFlow::Continue(())
        });
        drop(send);
    });
}

/// An algorithm with its defaults, and these settings.
fn algorithm(part: &str) -> Box<dyn Algorithm> {
    let name = match part {
        "minhash" | "simhash" | "projection" => part,
        _ => "minhash",
    };
    let factory = Entry::by_name(name).and_then(|entry| entry.factory(Settings::default()));
    factory.and_then(|factory| factory.prepare(200)).expect("defaults are sound").algorithm
}

fn signer() -> Signer {
    let factory = MinHash::builder().build().expect("defaults are sound");
    let plan = Plan::new(&factory, Arc::new(Word)).expect("defaults are sound");
    Index::in_memory(&plan, Limits::default()).signer()
}

/// The words of several documents and what is made of them, on one thread.
fn work(part: &str, receive: &Mutex<Receiver<Batch>>) {
    let detail = if part == "digests" { TokenDetail::Texts } else { TokenDetail::Hashes };
    let (algorithm, mut tokens) = (algorithm(part), Tokens::new(detail, 0));
    let (mut features, mut fingerprint, mut keys) = (Features::default(), Vec::new(), Vec::new());
    let mut signer = (part == "signed").then(signer);
    let (mut counts, mut digests, mut number) = (Counts::new(1 << 22), Digests::default(), 0u32);
    loop {
        let next = receive.lock().expect("no thread panics").recv();
        let Ok(batch) = next else { break };
        if part == "read" {
            black_box(&batch);
            continue;
        }
        let is_wanted = &mut |record| part != "again" || record % 5 == 0;
        batch.selected(is_wanted, &mut |_, document| {
            let text = document.expect("the corpus is sound").text;
            if part == "text" {
                black_box(&text);
                return;
            }
            if let Some(signer) = &mut signer {
                black_box(signer.sign(&text));
                return;
            }
            number += 1;
            Word.tokenize(&text, &mut tokens);
            black_box(sequence_hash(tokens.hashes(), 0));
            match part {
                "words" => {}
                "terms" => counts.add(tokens.hashes(), number),
                "digests" => digests.make(&tokens),
                "sets" | "exact" | "again" if part != "sets" || number.is_multiple_of(5) => {
                    features.clear();
                    algorithm.features(&mut tokens, &mut features);
                    features.hashes.sort_unstable();
                    features.hashes.dedup();
                    black_box(&features.hashes);
                }
                "sets" => {}
                _ => {
                    features.clear();
                    algorithm.features(&mut tokens, &mut features);
                    fingerprint.clear();
                    algorithm.fingerprint(&features, &mut fingerprint);
                    keys.clear();
                    if !fingerprint.is_empty() {
                        algorithm.keys(&fingerprint, &mut keys);
                    }
                    black_box(&keys);
                }
            }
        });
    }
}

/// In how many documents each term is, in a table of fixed size: the counts of one thread, which others would still be added to.
struct Counts {
    places: Vec<(u64, u32, u32)>,
}

impl Counts {
    fn new(places: usize) -> Self {
        Counts { places: vec![(0, 0, 0); places] }
    }

    fn place(&self, term: u64) -> usize {
        term as usize & (self.places.len() - 1)
    }

    fn add(&mut self, terms: &[u64], document: u32) {
        for terms in terms.chunks(16) {
            terms.iter().for_each(|&term| fetch(&self.places, self.place(term)));
            for &term in terms {
                let mut at = self.place(term);
                while self.places[at].0 != term && self.places[at].1 > 0 {
                    at = (at + 1) & (self.places.len() - 1);
                }
                let (known, count, last) = &mut self.places[at];
                *known = term;
                *count += u32::from(*last != document);
                *last = document;
            }
        }
    }
}

/// The digests of a document, of the share of its distinct terms that I-Match keeps on the corpora of the benchmarks.
#[derive(Default)]
struct Digests {
    terms: Vec<(u64, u32)>,
    joined: Vec<u8>,
}

/// Of 16 distinct terms, so many are in the band.
const KEPT: u64 = 9;

impl Digests {
    fn make(&mut self, tokens: &Tokens) {
        let Digests { terms, joined } = self;
        terms.clear();
        let first = |i: usize| {
            let mut first = [0; 8];
            let text = tokens.text(i).as_bytes();
            let length = text.len().min(8);
            first[..length].copy_from_slice(&text[..length]);
            u64::from_be_bytes(first)
        };
        let kept = tokens.hashes().iter().enumerate().filter(|(_, hash)| mix(**hash) % 16 < KEPT);
        terms.extend(kept.map(|(i, _)| (first(i), i as u32)));
        terms.sort_unstable();
        terms.dedup_by_key(|(_, i)| tokens.hashes()[*i as usize]);
        for lexicon in 0..11u64 {
            joined.clear();
            for &(_, i) in &*terms {
                if lexicon == 0 || combine(lexicon, tokens.hashes()[i as usize]) >> 63 == 0 {
                    joined.extend_from_slice(tokens.text(i as usize).as_bytes());
                    joined.push(b'\n');
                }
            }
            black_box(Sha1::digest(&*joined));
        }
    }
}

/// The documents, and the keys of each, of the parts without a corpus.
const DOCUMENTS: u64 = 1_000_000;
const KEYS: u64 = 16;

fn sorting() {
    let next = Mutex::new(0..KEYS);
    thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                loop {
                    let table = next.lock().expect("no thread panics").next();
                    let Some(table) = table else { break };
                    let mut keys: Vec<u64> = (0..DOCUMENTS).map(|document| combine(table, document)).collect();
                    keys.sort_unstable();
                    black_box(keys);
                }
            });
        }
    });
}

/// As many pairs as there are at a similarity of .8 or more in `million`, of sets as large as these are on average.
fn pairs() {
    const SETS: u64 = 1000;
    const PAIRS: u64 = 1_768_309;
    const SHINGLES: u64 = 213;
    let set = |number: u64| {
        let shingles =
            (0..SHINGLES).map(|shingle| if shingle < 202 { mix(shingle) } else { combine(number + 1, shingle) });
        let mut set: Vec<u64> = shingles.collect();
        set.sort_unstable();
        set
    };
    let sets: Vec<Vec<u64>> = (0..SETS).map(set).collect();
    let threshold: Threshold = "0.8".parse().expect("a threshold");
    thread::scope(|scope| {
        for thread in 0..threads() as u64 {
            let sets = &sets;
            scope.spawn(move || {
                for pair in (thread..PAIRS).step_by(threads()) {
                    let (a, b) = (&sets[(pair / SETS % SETS) as usize], &sets[(pair % SETS) as usize]);
                    black_box(jaccard_at_least(a, b, threshold));
                }
            });
        }
    });
}

/// As many documents as pass of `million`, with as much of each as is kept on average.
fn kept() {
    const KEPT: u64 = 830_000;
    let (code, mut all) = ([1u8; 1000], Vec::<Vec<u8>>::new());
    for _ in 0..KEPT {
        if all.last().is_none_or(|last| last.len() + code.len() > last.capacity()) {
            all.push(Vec::with_capacity(1 << 20));
        }
        all.last_mut().expect("one was pushed").extend_from_slice(black_box(&code));
    }
    black_box(all);
}

/// On one thread, through a buffer, as output is written.
fn copy(corpus: &str) {
    let copied = format!("{corpus}.copy");
    let mut reader = fs::File::open(corpus).expect("the corpus");
    let mut writer = fs::File::create(&copied).expect("a file beside the corpus");
    let mut buffer = vec![0; 1 << 18];
    loop {
        let length = reader.read(&mut buffer).expect("it can be read");
        if length == 0 {
            break;
        }
        writer.write_all(&buffer[..length]).expect("there is room");
    }
    fs::remove_file(&copied).expect("it was created");
}

fn index() {
    let mut places = vec![0u64; (2 * DOCUMENTS * KEYS).next_power_of_two() as usize];
    let mask = places.len() - 1;
    let keys = |document: u64| (0..KEYS).map(move |table| combine(table, document) | 1);
    let mut found = 0u64;
    for document in 0..DOCUMENTS {
        keys(document + 2).for_each(|key| fetch(&places, key as usize & mask));
        for key in keys(document) {
            let mut at = key as usize & mask;
            while places[at] != 0 && places[at] != key {
                at = (at + 1) & mask;
            }
            found += u64::from(places[at] == key);
            places[at] = key;
        }
    }
    black_box(found);
}
