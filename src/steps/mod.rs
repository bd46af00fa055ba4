//! A scan in steps, for engines that move rows between machines: each step is a function of Arrow batches, which knows no engine.
//!
//! ```text
//! count     doc, text                        → what, documents                   any rows, if the algorithm learns
//! sign      doc, text                        → tokens, seq, keys, outline, …     any rows
//!           (the engine: documents with equal seq become one, the first; its keys become rows)
//! pairs     key, doc, last, outline          → a, b, similarity?  or a, hot      rows of a key together
//! prefix    hot, doc, last, seq, text        → a, b, similarity   or new keys    rows of a hot key together
//!           (the engine: each pair once, in a block; the sketches of the documents in pairs)
//! filter    block, kind, a, b, sketch        → block, a, b                       rows of a block together
//!           (the engine: the texts of the documents in pairs)
//! verify    block, kind, a, b, seq, text     → a, b, similarity                  rows of a block together
//! keep      a_rank, a, b_rank, b             → doc: what is not kept             all rows
//! clusters  a, b                             → doc, cluster                      all rows
//! ```
//!
//! The engine sorts, groups and joins; every decision about texts is taken here, by the code of a scan on one machine, with the same pairs
//! and similarities. The columns are those of [`Entry::takes`] and [`Entry::gives`], so that an engine needs to know no algorithm.
//!
//! # Documents
//! Documents are numbered by `doc`: any different integers, ascending in input order, and negative for documents of a reference.
//! A document stands for its copies, those with equal `seq_hi` and `seq_lo`, if it has an `outline`, and is the least of them; `last` is the
//! greatest. Documents without an outline have no features, and are never similar to another. A row without a text is no document.
//! A document whose text changes between steps is named by a row with `a` alone: no pair with it is found in that step.
//!
//! # Learning
//! An algorithm that [learns](Spec::learns) from the whole collection has no keys before. Then `sign` gives lengths and `seq` alone, by which
//! the engine finds the distinct documents; `count` counts what is to be learned, and the sums are [`Counts`], which go with the plan.
//!
//! # Order
//! Each step checks that its rows come in the order of [`Entry::order`], and raises an error otherwise. Rows under one value of the first of these
//! columns must go to one step; this cannot be checked.
//!
//! ```
//! use arrow_array::{Int64Array, RecordBatch, StringArray};
//! use neardups::MinHash;
//! use neardups::steps::{self, Median, Spec, StepOptions};
//! use neardups::tokenizer::Word;
//! use std::sync::Arc;
//!
//! let minhash = MinHash::builder().build()?;
//! let plan = Spec::new(&minhash, Arc::new(Word), 0, Median::Known(300), StepOptions::default())?.to_json();
//! // On another machine:
//! let spec = Arc::new(Spec::read(&plan, &minhash, Arc::new(Word), 0, &[])?);
//! let mut sign = steps::by_name("sign")?.start(spec)?;
//! sign.push(&RecordBatch::try_from_iter([
//!     ("doc", Arc::new(Int64Array::from(vec![7])) as _),
//!     ("text", Arc::new(StringArray::from(vec!["the quick brown fox"])) as _),
//! ])?)?;
//! sign.finish();
//! let signatures = sign.take()?.expect("a batch of one row");
//! assert_eq!(signatures.num_rows(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | one idea |
//! |---|---|
//! | `spec` | what the steps of a run have in common, and how it travels |
//! | `rows`, `step` | columns in and out; a step at work |
//! | `document` | numbers and outlines of documents |
//! | `sketch` | what rules pairs out |
//! | `count`, `counts` | what algorithms learn from a collection |
//! | `sign`, `pairs`, `prefix`, `filter`, `verify` | the steps of a search |
//! | `graph` | what follows from all pairs together |

mod count;
mod counts;
mod document;
mod filter;
mod graph;
mod pairs;
mod prefix;
mod rows;
mod sign;
mod sketch;
mod spec;
mod step;
#[cfg(test)]
mod tests;
mod verify;

use crate::error::Error;

pub use counts::Counts;
pub use rows::{Column, Kind};
pub use spec::{Median, Spec, StepOptions};
pub use step::{Entry, Step};

/// Every step, in the order in which they run.
pub static STEPS: &[&Entry] = &[
    &count::ENTRY,
    &sign::ENTRY,
    &pairs::ENTRY,
    &prefix::ENTRY,
    &filter::ENTRY,
    &verify::ENTRY,
    &graph::KEEP,
    &graph::CLUSTERS,
];

/// Finds a step by its name.
///
/// # Errors
/// [`Error::Parameter`] that lists the names.
pub fn by_name(name: &str) -> Result<&'static Entry, Error> {
    STEPS.iter().find(|entry| entry.name == name).copied().ok_or_else(|| {
        let names: Vec<_> = STEPS.iter().map(|entry| entry.name).collect();
        Error::parameter("step", name, format!("one of {}", names.join(", ")))
    })
}
