//! Copies in documentation: files, passages and paragraphs that occur more than once, with small edits.
//!
//! ```text
//! request   what to check, with every value resolved         (config: dedup.toml)
//! walk      folders → files, except those that .gitignore excludes
//! pages     files → prose → words with their positions
//! find      words → findings; independent of files
//! rules, baseline, since, staged   which findings count, which are accepted, which touch a change
//! links     which page links to which; sources: what places have besides their words
//! grading   how much each finding is worth, and why
//! proposal  which page should keep the text, and how others include it
//! outcome   findings with all places, their lines and texts
//! report    the outcome in one of several formats, with totals and links
//! ```
//!
//! [`run`] does all of it. It prints and writes nothing: reports, and the new text of a baseline, are returned.
//! [`find`](mod@find), which works on words, does not need the feature `check`.
//!
//! ```
//! # #[cfg(feature = "check")] {
//! use neardups::check::{Request, report::Format, run};
//!
//! let mut request = Request::new(["fixtures/english/docs"]);
//! request.find.min_words = 30;
//! request.baseline = Some("fixtures/english/no-baseline.json".into());
//! let outcome = run(&request)?;
//! for finding in &outcome {
//!     for place in &finding.places {
//!         println!("{}:{}", place.path(), place.stretch.start);
//!     }
//!     println!("    {}: {}", finding.grade.name(), finding.summary());
//! }
//! assert!(outcome.fails() && outcome.findings.iter().all(|finding| !finding.accepted));
//! let report = Format::Sarif.render(&outcome);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod find;

#[cfg(feature = "check")]
mod accepted;
#[cfg(feature = "check")]
pub mod baseline;
#[cfg(feature = "check")]
pub mod config;
#[cfg(feature = "check")]
mod error;
#[cfg(feature = "check")]
mod finding;
#[cfg(feature = "check")]
mod git;
#[cfg(feature = "check")]
mod globs;
#[cfg(feature = "check")]
mod grade;
#[cfg(feature = "check")]
mod grading;
#[cfg(feature = "check")]
mod link;
#[cfg(feature = "check")]
mod links;
#[cfg(feature = "check")]
mod outcome;
#[cfg(feature = "check")]
mod pages;
#[cfg(feature = "check")]
mod past;
#[cfg(feature = "check")]
pub(crate) mod paths;
#[cfg(feature = "check")]
mod proposal;
#[cfg(feature = "check")]
pub mod report;
#[cfg(feature = "check")]
mod request;
#[cfg(feature = "check")]
mod rules;
#[cfg(feature = "check")]
mod run;
#[cfg(feature = "check")]
mod runs;
#[cfg(feature = "check")]
mod since;
#[cfg(feature = "check")]
mod sources;
#[cfg(feature = "check")]
mod staged;
#[cfg(feature = "check")]
mod texts;
#[cfg(feature = "check")]
mod totals;
#[cfg(feature = "check")]
mod unused;
#[cfg(feature = "check")]
mod walk;
#[cfg(feature = "check")]
mod whole_files;

#[cfg(feature = "check")]
pub use {
    error::{Error, InvalidBaseline, InvalidConfig, List, PruneError, SinceError},
    finding::{Finding, Pair, Place, Proposal},
    grade::{Grade, Preset, Reason},
    link::Link,
    outcome::{FailOn, Outcome, Sort},
    pages::{Page, Stretch, Tree},
    request::{Counted, Request},
    rules::{Allow, Rule},
    run::{Check, Pages, run},
    totals::PageTotal,
    unused::Unused,
    walk::Walk,
};
