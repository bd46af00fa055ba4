//! The inner loops on fixed data, each beside a plain version: `stages` times them, `instructions` counts their
//! instructions.
//!
//! The kernels are private to the library, so their source is compiled again here. It uses `crate::hash`, so a bench
//! with this module needs `use neardups::hash`.

#[allow(dead_code, unused_imports)]
#[path = "../../src/kernel/mod.rs"]
pub mod kernel;

use kernel::Level;
use kernel::near::PADDING;
use kernel::words::{Block, is_word};
use neardups::algorithm::Entry;
use neardups::algorithm::minhash::sketch::{Kind, Sketch};
use neardups::algorithm::parameter::Settings;
use neardups::engine::{Outcome, ScanOptions, scan};
use neardups::hash::{combine, mix, shingle_hashes, token_hash};
use neardups::source::{self, Documents, Input, Source};
use neardups::tokenizer::{TokenDetail, Tokenizer, Tokens, Word};
use neardups::{hamming, similarity};
use std::hint::black_box;
use std::ops::ControlFlow;

/// Puts its answer into the buffer, in place of what was there.
pub type Run = Box<dyn FnMut(&mut Vec<u64>)>;

/// A loop on fixed data.
pub struct Loop {
    /// The amount of data of one run.
    pub unit: &'static str,
    /// How much of it.
    pub amount: u64,
    /// The result of the plain version, which is the same for every level of the kernels.
    pub plain: Option<Run>,
    /// As the library does it, at the level in use.
    pub fast: Run,
}

/// Makes a loop and its data.
type Make = fn() -> Loop;

impl Loop {
    fn new<D: Clone + 'static>(
        (amount, unit): (usize, &'static str),
        data: D,
        plain: impl Fn(&D, &mut Vec<u64>) + 'static,
        fast: impl Fn(&D, &mut Vec<u64>) + 'static,
    ) -> Self {
        Loop { unit, amount: amount as u64, plain: Some(on(data.clone(), plain)), fast: on(data, fast) }
    }

    /// Asserts that both give the same answer.
    pub fn check(&mut self) {
        let (mut expected, mut out) = (Vec::new(), Vec::new());
        (self.fast)(&mut out);
        assert!(!out.is_empty());
        if let Some(plain) = &mut self.plain {
            plain(&mut expected);
            assert!(out == expected);
        }
    }
}

/// What fills an emptied buffer from these data, again and again.
fn on<D: 'static>(data: D, fill: impl Fn(&D, &mut Vec<u64>) + 'static) -> Run {
    Box::new(move |out| {
        out.clear();
        fill(black_box(&data), out);
        black_box(&*out);
    })
}

/// All loops, by name. Data is made only when a loop is used.
pub const LOOPS: &[(&str, Make)] = &[
    ("JSON string", json),
    ("blocks of ASCII", blocks),
    ("words and their hashes", words),
    ("shingles of 3", || shingles(3)),
    ("shingles of 5", || shingles(5)),
    ("shingles of 8", || shingles(8)),
    ("mix_all", mixed),
    ("combine_all", combined),
    ("keys of 16 bands of 6", combined_rows),
    ("sign bits", signs),
    ("sign bits, weighted", weighted_signs),
    ("near", near),
    ("look-ups in 128 MiB", look_ups),
    ("fss, 200 in 96 slots", || fss(200)),
    ("fss, 2,000 in 96 slots", || fss(2000)),
    ("classic, 200 in 96 slots", classic),
    ("jaccard of 1,000 and 900", jaccard),
    ("scan, minhash", || scanned(&[])),
    ("scan, minhash --exact", || scanned(&[("exact", "true")])),
];

/// The texts of a folder of fixtures, repeated to at least this many bytes.
pub fn text(folder: &str, bytes: usize) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut input = Input::new(vec![format!("{root}/fixtures/{folder}/docs").into()], source::ReadOptions::default());
    let mut text = String::new();
    input.read(&mut |batch| {
        batch.documents(&mut |document| text += &document.expect("fixtures are sound").text);
        ControlFlow::Continue(())
    });
    assert!(text.len() > 10_000, "{folder}");
    text.repeat(bytes / text.len() + 1)
}

/// Passages of 64 words, of which one in ten is an earlier one with a word changed: 5 of 60 shingles of 5 words.
pub fn passages(count: u64) -> Vec<(String, String)> {
    let word = |passage: u64, place: u64| mix(passage << 32 | place) % 50_000;
    let text = |n: u64| {
        let original = if n % 10 == 9 { n - 1 } else { n };
        let words = (0..64).map(|place| if original != n && place == 30 { !0 } else { word(original, place) });
        words.map(|word| format!("{word:x}")).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(|n| (n.to_string(), text(n))).collect()
}

/// A scan of passages in memory.
///
/// # Panics
/// If the settings are refused.
pub fn scan_of(
    documents: &mut Documents,
    algorithm: &str,
    settings: &[(&'static str, &'static str)],
    threads: usize,
) -> Outcome {
    let settings = Settings::from_pairs(settings.iter().copied());
    let factory = Entry::by_name(algorithm).and_then(|entry| entry.factory(settings)).expect("the settings are sound");
    scan(documents, None, &factory, &ScanOptions { threads, ..ScanOptions::default() }, &()).expect("it is in memory")
}

/// None of which is 0.
fn hashes(count: u64) -> Vec<u64> {
    (1..=count).map(mix).collect()
}

fn ascii() -> String {
    let mut text = text("english", 1 << 16);
    text.retain(|c| c.is_ascii());
    text
}

/// Where it stops: at each backslash, which is passed over with what it escapes, and at the quotation mark at the end.
fn stops(bytes: &[u8], prefix: impl Fn(&[u8]) -> usize, out: &mut Vec<u64>) {
    let mut at = 0;
    while let Some(rest) = bytes.get(at..) {
        at += prefix(rest);
        out.push(at as u64);
        at += 2;
    }
}

fn json() -> Loop {
    let string = serde_json::to_string(&text("english", 1 << 16)).expect("a string")[1..].to_string().into_bytes();
    let stops_at = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < 0x20;
    Loop::new(
        (string.len(), "byte"),
        string,
        move |string, out| stops(string, |rest| rest.iter().position(stops_at).unwrap_or(rest.len()), out),
        |string, out| stops(string, |rest| kernel::json::plain_prefix(Level::current(), rest), out),
    )
}

fn blocks() -> Loop {
    let text = ascii().into_bytes();
    Loop::new(
        (text.len(), "byte"),
        text,
        |text, out| {
            for bytes in text.chunks(Block::LEN) {
                let (mut starts, mut lower, mut before) = (0, [0; Block::LEN], false);
                for (i, byte) in bytes.iter().enumerate() {
                    lower[i] = byte.to_ascii_lowercase();
                    starts |= u64::from(is_word(*byte) && !before) << i;
                    before = is_word(*byte);
                }
                out.extend([starts, u64::from(black_box(&lower)[0])]);
            }
        },
        |text, out| {
            let (mut block, level) = (Block::EMPTY, Level::current());
            for bytes in text.chunks(Block::LEN) {
                block.fill(level, bytes);
                out.extend([block.starts(), u64::from(black_box(&block.lower)[0])]);
            }
        },
    )
}

fn words() -> Loop {
    let text = ascii();
    Loop::new(
        (text.len(), "byte"),
        text,
        |text, out| {
            let words = text.split(|c| !is_word(c as u8)).filter(|word| !word.is_empty());
            out.extend(words.map(|word| token_hash(word.to_ascii_lowercase().as_bytes(), 0)));
        },
        |text, out| {
            let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
            Word.tokenize(text, &mut tokens);
            out.extend_from_slice(tokens.hashes());
        },
    )
}

fn shingles(width: usize) -> Loop {
    /// Each shingle by itself.
    fn hash(tokens: &[u64]) -> u64 {
        if let [token] = tokens {
            return *token;
        }
        let power = tokens.len().next_power_of_two() / 2;
        let x = u128::from(hash(&tokens[..power]) ^ mix(tokens.len() as u64));
        let y = u128::from(hash(&tokens[tokens.len() - power..]));
        let sum = (x * y).wrapping_add(x | y << 64);
        (sum as u64) ^ ((sum >> 64) as u64)
    }
    Loop::new(
        (1000, "token"),
        hashes(1000),
        move |tokens, out| out.extend(tokens.windows(width).map(hash)),
        move |tokens, out| shingle_hashes(tokens, width, out),
    )
}

fn mixed() -> Loop {
    Loop::new(
        (1024, "element"),
        hashes(1024),
        |elements, out| out.extend(elements.iter().map(|x| mix(x.wrapping_add(7)))),
        |elements, out| {
            let mut mixed = [0; 1024];
            kernel::sketch::mix_all(Level::current(), elements, 7, &mut mixed);
            out.extend_from_slice(&mixed);
        },
    )
}

fn combined() -> Loop {
    Loop::new(
        (1024, "element"),
        hashes(1024),
        |words, out| out.extend(words.iter().map(|&word| combine(7, word))),
        |words, out| {
            let mut combined = [0; 1024];
            kernel::sketch::combine_all(Level::current(), 7, words, &mut combined);
            out.extend_from_slice(&combined);
        },
    )
}

fn combined_rows() -> Loop {
    let states = || (1..=16).map(mix);
    Loop::new(
        (96, "word"),
        hashes(96),
        move |words, out| {
            let rows = states().zip(words.chunks(6));
            out.extend(rows.map(|(state, row)| row.iter().fold(state, |state, &word| combine(state, word))));
        },
        move |words, out| {
            out.extend(states());
            kernel::sketch::combine_rows(Level::current(), words, 6, out);
        },
    )
}

fn bits_set(patterns: &[u64]) -> impl Iterator<Item = u64> {
    (0..64).map(|bit| patterns.iter().filter(|&pattern| pattern >> bit & 1 == 1).count() as u64)
}

fn signs() -> Loop {
    let word = |count: &[u64]| (0..64).fold(0, |word, bit| word | u64::from(count[bit] > 500) << bit);
    Loop::new(
        (1000, "feature"),
        hashes(1000),
        move |features, out| out.push(word(&bits_set(features).collect::<Vec<_>>())),
        |features, out| hamming::sign_bits(features, &[], 64, out),
    )
}

fn weighted_signs() -> Loop {
    let weights: Vec<u32> = (0..1000).map(|i| 1 + i % 7).collect();
    Loop::new(
        (1000, "feature"),
        (hashes(1000), weights),
        |(features, weights), out| {
            let sum = |bit: u64| {
                let signed = |(hash, weight): (&u64, &u32)| [-1, 1][(hash >> bit & 1) as usize] * i64::from(*weight);
                features.iter().zip(weights).map(signed).sum::<i64>()
            };
            out.push((0..64).fold(0, |word, bit| word | u64::from(sum(bit) > 0) << bit));
        },
        |(features, weights), out| hamming::sign_bits(features, weights, 64, out),
    )
}

fn near() -> Loop {
    const CODES: usize = 2000;
    const DISTANCE: u32 = 3;
    let codes: Vec<u32> = (0..(CODES + PADDING) as u64).map(|i| mix(i % 1990) as u32).collect();
    Loop::new(
        (CODES * (CODES - 1) / 2, "pair"),
        codes,
        |codes, out| {
            for i in 0..CODES {
                let near = (i + 1..CODES).filter(|&j| (codes[i] ^ codes[j]).count_ones() <= DISTANCE);
                out.extend(near.map(|j| (i << 32 | j) as u64));
            }
        },
        |codes, out| {
            kernel::near::near(Level::current(), codes, CODES, 0..CODES, DISTANCE, &mut |i, j| {
                out.push((i << 32 | j) as u64)
            });
            out.sort_unstable();
        },
    )
}

/// Half of the places of an open hash table are taken, and terms are looked up that are there: with and without saying which one is
/// next but so many.
fn look_ups() -> Loop {
    const PLACES: usize = 1 << 24;
    const PREFETCH_DISTANCE: usize = 16;
    // More than any cache holds the lines of.
    const LOOKED_UP: usize = 1 << 20;
    fn home(term: u64) -> usize {
        term as usize % PLACES
    }
    fn place(places: &[u64], term: u64) -> u64 {
        let mut at = home(term);
        while places[at] != term && places[at] != 0 {
            at = (at + 1) % PLACES;
        }
        at as u64
    }
    let mut places = vec![0; PLACES];
    for term in (1..PLACES as u64 / 2).map(mix) {
        let at = place(&places, term);
        places[at as usize] = term;
    }
    let wanted: Vec<u64> = (0..LOOKED_UP as u64).map(|i| mix(1 + mix(i) % (PLACES as u64 / 2 - 1))).collect();
    let shared = std::sync::Arc::new((places, wanted));
    Loop::new(
        (LOOKED_UP, "look-up"),
        shared,
        |both, out| out.extend(both.1.iter().map(|&term| place(&both.0, term))),
        |both, out| {
            let (places, wanted) = &**both;
            out.extend(wanted.iter().enumerate().map(|(i, &term)| {
                if let Some(&later) = wanted.get(i + PREFETCH_DISTANCE) {
                    kernel::fetch::fetch(places, home(later));
                }
                place(places, term)
            }));
        },
    )
}

/// As many as a signature has by default.
const SLOTS: usize = 96;

fn fss(elements: u64) -> Loop {
    let sketch = Sketch::new(Kind::Fss, SLOTS);
    Loop::new(
        (elements as usize, "element"),
        hashes(elements),
        |elements, out| {
            // Algorithm 1 of the paper, round by round.
            out.resize(SLOTS, 0);
            let mut filled = [false; SLOTS];
            for round in 0..2 * SLOTS {
                let mut least = [u64::MAX; SLOTS];
                for element in elements {
                    let value = mix(element.wrapping_add((round as u64).wrapping_mul(0x9e3779b97f4a7c15)));
                    let scaled = (u128::from(value) * SLOTS as u128) >> 64;
                    let slot = if round < SLOTS { scaled as usize } else { round - SLOTS };
                    least[slot] = least[slot].min(value);
                }
                for slot in (0..SLOTS).filter(|&slot| least[slot] < u64::MAX) {
                    if !std::mem::replace(&mut filled[slot], true) {
                        out[slot] = least[slot];
                    }
                }
                if filled == [true; SLOTS] {
                    return;
                }
            }
        },
        move |elements, out| sketch.signature(elements, out),
    )
}

fn classic() -> Loop {
    let sketch = Sketch::new(Kind::Classic, SLOTS);
    Loop::new(
        (200, "element"),
        hashes(200),
        |elements, out| {
            for k in 0..SLOTS as u64 {
                let (factor, addend) = (mix(2 * k + 1) | 1, mix(2 * k + 2));
                let mut least = u64::MAX;
                for element in elements {
                    let value = factor.wrapping_mul(*element).wrapping_add(addend) >> 32;
                    if value < least {
                        least = value;
                    }
                }
                out.push(least);
            }
        },
        move |elements, out| sketch.signature(elements, out),
    )
}

fn jaccard() -> Loop {
    let mut a = hashes(1000);
    a.sort_unstable();
    let b: Vec<u64> = a.iter().enumerate().filter(|(i, _)| i % 10 != 3).map(|(_, x)| *x).collect();
    let threshold: similarity::Threshold = "0.8".parse().expect("a threshold");
    Loop::new(
        (a.len() + b.len(), "element"),
        (a, b),
        |(a, b), out| {
            let shared = a.iter().filter(|x| b.binary_search(x).is_ok()).count();
            out.push((shared as f64 / (a.len() + b.len() - shared) as f64).to_bits());
        },
        move |(a, b), out| {
            out.extend(similarity::jaccard_at_least(a, b, threshold).map(|similarity| similarity.value().to_bits()))
        },
    )
}

/// By one thread, so that counts of instructions come again.
fn scanned(settings: &'static [(&'static str, &'static str)]) -> Loop {
    const COUNT: u64 = 2000;
    let mut documents = Documents::new(passages(COUNT));
    let fast: Run = Box::new(move |out| {
        out.clear();
        let pairs = scan_of(&mut documents, "minhash", settings, 1).report.counts.pairs.expect("a scan counts them");
        assert!((COUNT / 10 * 9 / 10..=COUNT / 10).contains(&pairs), "{pairs}");
        out.push(pairs);
    });
    Loop { unit: "document", amount: COUNT, plain: None, fast }
}
