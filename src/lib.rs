//! Near-duplicate detection for text.
//!
//! ```text
//! bytes → documents → tokens → features → fingerprint → keys → candidate pairs → verified pairs → clusters → JSON lines
//!        [`source`]  [`tokenizer`]       [`algorithm`]             [`engine`]                              [`report`]
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
//! let outcome = Scan::new(&minhash).texts(&texts)?;
//! assert_eq!(outcome.keep(KeepPolicy::First).indices().collect::<Vec<_>>(), [0, 1]);
//! # Ok::<(), neardups::Error>(())
//! ```
//!
//! # Programs
//!
//! Each is some ten lines:
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
//! take ([choosing](guide::choosing)); the commands ([scanning](guide::scanning), [filtering](guide::filtering),
//! [checking](guide::checking), [comparing](guide::comparing)); the details ([algorithms](guide::algorithms), [tokens](guide::tokens),
//! [formats](guide::formats), [records](guide::records)); the [limits](guide::limits); and this [library](guide::library).
//!
//! # The map
//!
//! A module uses only those that stand before it, in this order, line by line; a test holds the drawing to that.
//!
//! ```text
//! numbers       error  readable  union_find  hash  similarity  outline  kernel  hamming
//! files         replace
//! bytes →       source     files, streams, formats, compression → batches of documents
//! text →        tokenizer  &str → tokens                lexicon  counts over a collection, then frozen
//! algorithms    algorithm  tokens → features → fingerprint → keys; compare; a folder a family
//! running       run        text → what is known of it, once; the ordered parallel map; the observer
//! passages      passages   what two documents share     prose    markup → the words that a reader sees
//! batch         engine     keys → groups → candidates → pairs → clusters, kept documents
//! stream        index      what was let through         filter   records in, decisions in their order, records out
//! pairs         compare    two documents, as any algorithm sees them
//! gate          check      folder → pages → findings; baselines, rules, reports
//! results       report     records as JSON lines        evaluate results against labelled pairs
//! guide         guide      the chapters for users, as text
//! program       cli        arguments → request → one call → report
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`hash`] | the hashes that fingerprints are made of, with test vectors |
//! | [`kernel`] | inner loops by vectors, each beside its plain version: the only unsafe code |
//! | [`mod@similarity`], [`hamming`] | exact measures, rational thresholds, sign-bit fingerprints and their block tables, joins of codes |
//! | [`replace`] | a file that takes the place of another, all or nothing |
//! | [`source`] | where documents come from: files, folders, standard input, JSON lines, CSV, HTML, WARC, compressed or not |
//! | [`tokenizer`] | text to tokens: the trait and the table, a file each |
//! | [`lexicon`] | what is counted over a whole collection, then frozen; or kept in a file |
//! | [`algorithm`] | the families: the trait and the table, a folder each; presets |
//! | [`passages`] | the passages that two documents share: winnowing, common runs, containment |
//! | [`prose`] | markup read as the words that a reader sees, with their places: Markdown, reStructuredText, AsciiDoc, HTML, docstrings |
//! | [`engine`] | the batch |
//! | [`index`] | the stream's memory: a log of what was let through, and the tables that find it |
//! | [`filter`] | the stream |
//! | [`compare`] | two documents, as any algorithm sees them |
//! | [`check`] | copies in documentation: files, passages and paragraphs that stand elsewhere with small edits |
//! | [`report`], [`evaluate`] | results as JSON lines; results against labels: precision, recall, F1, clusters |
//! | [`guide`] | the chapters for users, as text; `dedup help` prints them |
//!
//! `main.rs` and `cli/` are the program `dedup`; they alone print and look at the terminal (`cli` is a module of the library only so
//! that its unit tests run with the others, and not part of its interface); the library reads the clock only to time its stages, and to
//! date what a stream lets through.
//!
//! # Features
//!
//! With `default-features = false` the library is the algorithms, the tokenizers, the hashes, the batch over documents in memory
//! ([`source::Documents`]) or over a [`source::Source`] of your own, the stream over lines and JSON lines ([`filter`]), and the index. That is
//! fewer than 35 crates, and no C code. The other parts are features; [`guide::library`] lists them. The default is `cli` and
//! `main-content`.
//!
//! # What always holds
//!
//! * A reported pair is at or above the threshold by the algorithm's own exact measure. Thresholds are fractions, decided in
//!   integers.
//! * The result depends on the documents and the parameters: not on threads, batch sizes, memory or the CPU. The set of pairs
//!   does not depend on the order of the documents either.
//! * A document that is not kept has a kept one at or above the threshold.
//! * A document without features is never like another.
//! * One bad document does not stop a run, and is not lost silently: it is a [`source::Problem`], reported and counted.
//! * The batch has no map from keys to documents, and there is no map whose order could show in a result.
//!

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]
#![warn(missing_docs)]

// The command line uses the library as any other program would, by its name.
extern crate self as neardups;

pub mod algorithm;
pub mod check;
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
#[cfg(feature = "check")]
pub mod prose;
#[cfg(feature = "check")]
mod readable;
pub mod replace;
#[cfg(feature = "report")]
pub mod report;
mod run;
pub mod similarity;
pub mod source;
pub mod tokenizer;
mod union_find;

pub use algorithm::imatch::IMatch;
pub use algorithm::minhash::MinHash;
pub use algorithm::projection::RandomProjection;
pub use algorithm::simhash::SimHash;
pub use algorithm::spotsigs::SpotSigs;
pub use compare::similarity;
pub use engine::{KeepPolicy, Scan};
pub use error::{Error, ErrorKind, IndexFault};
