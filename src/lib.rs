//! Near-duplicate detection for text.
//!
//! ```text
//! bytes → documents → tokens → features → fingerprint → keys
//!       source   tokenizer           algorithm
//!
//! keys → candidate pairs → verified pairs → clusters → JSON lines
//!                        engine                      report
//! ```
//!
//! ```
//! use neardups::{KeepPolicy, MinHash, Scan};
//!
//! let texts = [
//!     "the quick brown fox jumps over the lazy dog near the bank of the river",
//!     "an entirely different sentence that says nothing about any animals at all",
//!     "The quick brown fox jumps over the lazy dog, near the bank of the River!",
//! ];
//! let minhash = MinHash::builder().threshold(0.8).build()?;
//! let outcome = Scan::new(minhash).deduplicate_texts(&texts, KeepPolicy::First)?;
//! assert_eq!(outcome.kept().indices().collect::<Vec<_>>(), [0, 1]);
//! # Ok::<(), neardups::Error>(())
//! ```
//!
//! # Programs
//!
//! Each is ten to twenty lines; the last one, with an algorithm, thirty:
//! [deduplicate texts in memory](guide::library#deduplicate-texts-in-memory),
//! [iterate over pairs](guide::library#iterate-over-pairs),
//! [filter a stream](guide::library#filter-a-stream-in-a-loop-of-your-own),
//! [read from a source of your own](guide::library#read-documents-from-a-source-of-your-own),
//! [compare two texts](guide::library#the-similarity-of-two-texts-the-fingerprint-of-one),
//! [check documentation](guide::library#check-a-folder-of-documentation),
//! [add a tokenizer or an algorithm](guide::library#a-tokenizer-or-an-algorithm-of-your-own).
//!
//! # The guide
//!
//! The chapters of [`guide`] are written for users of the program and explain what the library does too: which algorithm and threshold to
//! take ([choosing](guide::choosing)); the commands ([scanning](guide::scanning), [cleaning](guide::cleaning), [filtering](guide::filtering),
//! [checking](guide::checking), [passages](guide::repeats), [containment](guide::containing), [comparing](guide::comparing)); the details ([algorithms](guide::algorithms), [tokens](guide::tokens),
//! [formats](guide::formats), [records](guide::records)); the [limits](guide::limits); and this [library](guide::library).
//!
//! # The map
//!
//! A module uses only modules that precede it in this order, line by line. A test checks the drawing.
//!
//! ```text
//! numbers       readable  error  union_find  hash  similarity  outline  kernel  hamming
//! files         replace      postings  keys → numbered documents, in memory and in sorted runs
//! bytes →       source     files, streams, formats, compression → batches of documents
//! text →        tokenizer  &str → tokens                lexicon  counts of a collection
//! algorithms    algorithm  tokens → features → fingerprint → keys; compare; a folder a family
//! running       run        text → signature data, once; the ordered parallel map; the observer
//! passages      passages   what documents share         prose    markup → words that are read
//! batch         engine     keys → groups → candidates → pairs → clusters, kept documents
//! cluster       steps      a scan in functions of Arrow batches, for engines with many machines
//! reviewing     review     clusters → a page on which people choose what is kept
//! stream        index      the documents that passed    filter   records in, decisions, records out
//! corpus        clean      files → the same files without near-duplicates
//! pairs         compare    two documents, as any algorithm sees them
//! gate          check      folder → pages → findings; baselines, rules, reports
//! results       report     records as JSON lines        evaluate results against labelled pairs
//! guide         guide      the chapters for users, as text
//! program       cli        arguments → request → one call → report
//! Python        python     the extension module: names and values → request → one call → Arrow
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`hash`] | the hashes that fingerprints are made of, with test vectors |
//! | [`kernel`] | vectorised inner loops, each beside its plain version; the allocator; closed streams: the only unsafe code |
//! | [`mod@similarity`], [`hamming`] | exact measures, rational thresholds, sign-bit fingerprints and their block tables, joins of codes |
//! | [`replace`] | atomic replacement of a file |
//! | [`source`] | where documents come from: files, folders, standard input, JSON lines, CSV, Parquet, HTML, WARC, compressed or not |
//! | [`tokenizer`] | text to tokens: the trait and the table, one file each |
//! | [`lexicon`] | counts over a whole collection, then frozen; or stored in a file |
//! | [`algorithm`] | the families: the trait and the table, one folder each; presets |
//! | [`passages`] | the passages that two documents share, and those that repeat in a corpus; how much of each document others contain |
//! | [`prose`] | markup read as the words that a reader sees, with their places: Markdown, reStructuredText, AsciiDoc, HTML, docstrings |
//! | [`engine`] | the batch: all near-duplicates among the documents of a source |
//! | `steps` | a scan in functions of Arrow batches, for engines that move rows between machines (feature `arrow`) |
//! | [`review`] | a page on which people review clusters and choose what is kept |
//! | [`index`] | the memory of the stream: a log of the documents that passed, and the tables that find them |
//! | [`filter`] | the stream: records in, decisions in input order, records out |
//! | [`clean`] | a corpus without its near-duplicates, or without passages that repeat, in the files and formats that it came in |
//! | [`compare`] | two documents, as any algorithm sees them |
//! | [`check`] | copies in documentation: files, passages and paragraphs that occur elsewhere with small edits |
//! | [`report`], [`evaluate`] | results as JSON lines; results against labels: precision, recall, F1, clusters |
//! | [`guide`] | the chapters for users, as text; `dedup help` prints them |
//!
//! `python.rs` and `python/` are the module of Python, which `pyproject.toml` describes, with the program in it.
//!
//! `main.rs` and `cli/` are the program `dedup`. Only they print and use the terminal. `cli` is a module of the library
//! only so that its unit tests run with the others; it is not part of the interface. The library reads the clock only
//! to time its stages, and to date the documents that pass a stream.
//!
//! # Features
//!
//! ```toml
//! [dependencies]
//! neardups = { path = "../neardups", default-features = false }
//! ```
//!
//! With `default-features = false` the library consists of the algorithms, the tokenizers, the hashes, the batch over
//! documents in memory ([`source::Documents`]) or over a [`source::Source`] of your own, the stream over lines and JSON
//! lines ([`filter`]), and the index. It then has fewer than 35 dependencies and no C code. The other parts are
//! features, listed in [`guide::library`]. The default is `cli`, `main-content` and `jieba`.
//!
//! # Invariants
//!
//! * A reported pair is at or above the threshold by the algorithm's own exact measure. Thresholds are fractions, decided in
//!   integers.
//! * The result depends on the documents and the parameters, and not on threads, batch sizes, memory or the CPU. The
//!   set of pairs does not depend on the order of the documents either.
//! * A document that is not kept has a kept one at or above the threshold.
//! * A document without features is never similar to another.
//! * One bad document does not stop a run, and is not lost silently: it is reported and counted as a
//!   [`source::Problem`].
//! * The batch has no map from keys to documents. No output depends on the order of a map.
//!

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

// The command line uses the library by its name, as any other program does.
extern crate self as neardups;

pub mod algorithm;
pub mod check;
#[cfg(feature = "clean")]
pub mod clean;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod compare;
pub mod engine;
mod error;
pub mod evaluate;
pub mod filter;
pub mod guide;
pub mod hamming;
pub mod hash;
pub mod index;
#[allow(unsafe_code)]
pub mod kernel;
pub mod lexicon;
mod outline;
pub mod passages;
mod postings;
#[cfg(feature = "check")]
pub mod prose;
#[cfg(feature = "python")]
mod python;
mod readable;
pub mod replace;
#[cfg(feature = "report")]
pub mod report;
#[cfg(feature = "report")]
pub mod review;
mod run;
pub mod similarity;
pub mod source;
#[cfg(feature = "arrow")]
pub mod steps;
pub mod tokenizer;
mod union_find;

pub use algorithm::TableFactory;
pub use algorithm::imatch::IMatch;
pub use algorithm::minhash::MinHash;
pub use algorithm::projection::RandomProjection;
pub use algorithm::simhash::SimHash;
pub use algorithm::spotsigs::SpotSigs;
pub use compare::similarity;
pub use engine::{KeepPolicy, Scan};
pub use error::{Error, ErrorKind, IndexFault};
pub use filter::Filter;
