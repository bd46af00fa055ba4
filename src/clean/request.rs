//! The options of cleaning, and what it returns.

use crate::Error;
use crate::algorithm::Row;
use crate::engine::{self, KeepPolicy, Report};
use crate::filter;
use crate::index::{IndexOptions, Plan, Repair};
use crate::passages::{CutCounts, PassageCounts};
use crate::source;
use serde::Deserialize;
use std::path::PathBuf;

/// What happens to records that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnError {
    /// They stay.
    #[default]
    Keep,
    /// They are left out, with a line that says why. A file that is damaged, or has no column of texts, stays as it is.
    Drop,
    /// Nothing is written.
    Fail,
}

impl OnError {
    /// Whether a record is kept, given its verdict: with [`Drop`](Self::Drop), a record that failed is not. One that was skipped by rule
    /// did not fail, and must not be deleted.
    pub fn keeps(self, keep: bool, error: Option<&str>, is_skipped: bool) -> bool {
        keep && (error.is_none() || is_skipped || self != OnError::Drop)
    }

    /// Checks how many files and records failed. `results` is what happened to the results, as the end of a message.
    ///
    /// # Errors
    /// [`Error::Failed`] if some failed, and none may.
    pub fn check(self, failed: u64, results: &str) -> Result<(), Error> {
        if self != OnError::Fail || failed == 0 {
            return Ok(());
        }
        Err(Error::Failed { failed, results: results.into() })
    }
}

/// Options of [`clean`](super::clean()) and [`move_duplicates`](super::move_duplicates).
#[derive(Clone)]
pub struct CleanOptions {
    /// How files are read.
    pub source: source::ReadOptions,
    /// How documents are compared.
    pub engine: engine::ScanOptions,
    /// Which of several near-duplicates is kept.
    pub keep: KeepPolicy,
    /// Files and folders that count as earlier and kept, and are not written. Each must have a document, unless
    /// [`allow_empty`](Self::allow_empty). For files that are among the inputs too see [`Input::sides`](source::Input::sides).
    pub against: Vec<PathBuf>,
    /// What happens to records that cannot be read.
    pub on_error: OnError,
    /// Whether a file of which nothing is left out becomes another name of its input (a hard link) where the system
    /// allows it.
    pub link: bool,
    /// Whether input without any document is accepted.
    pub allow_empty: bool,
    /// Where nothing is written but the decisions: a file that is replaced by the list of what would be left out, with the lines that
    /// `removed.jsonl` would have. With a folder for the output, and for files that would move, it has no effect.
    pub removed: Option<PathBuf>,
    /// Warnings that the caller has given already, as they are worded: the first ones of `summary.json`.
    pub warnings: Vec<String>,
    /// How a warning is worded in `summary.json`. The library names parameters in backticks; a program may name its options
    /// instead.
    pub worded: fn(&str) -> String,
    /// The same for what is wrong with a record or a file, in `failed.jsonl` and `removed.jsonl`: the message has text of the user
    /// before the parameter at its end.
    pub worded_problem: fn(&str) -> String,
}

impl Default for CleanOptions {
    fn default() -> Self {
        CleanOptions {
            source: source::ReadOptions::default(),
            engine: engine::ScanOptions::default(),
            keep: KeepPolicy::First,
            against: Vec::new(),
            on_error: OnError::Keep,
            link: false,
            allow_empty: false,
            removed: None,
            warnings: Vec::new(),
            worded: str::to_string,
            worded_problem: str::to_string,
        }
    }
}

/// An index that decides instead of a scan, for [`clean_by_index`](super::clean_by_index).
#[derive(Clone, Debug)]
pub struct ByIndex {
    /// Its file, which is made if it does not exist.
    pub path: PathBuf,
    /// How documents are signed: as for the documents that are in it.
    pub plan: Plan,
    /// How it is opened. `mode` and `sync` have no effect: what is kept is remembered, and on the disk, once the output is.
    pub options: IndexOptions,
    /// Whether documents are left out that it knew before the run with the same id and tokens. Otherwise each is kept once
    /// more, as a stream passes it again. Within the run a repetition is a duplicate.
    pub drops_known: bool,
}

/// What an index remembered before a run and after it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Remembered {
    /// Documents that it remembered before.
    pub before: u64,
    /// Documents that it remembers now; or would, if nothing was written.
    pub after: u64,
    /// How documents were decided; `None` if an earlier run had decided.
    pub decided: Option<DecidedByIndex>,
    /// Why there is no new checkpoint, as a warning.
    pub without_checkpoint: Option<String>,
}

/// How documents were decided by an index.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DecidedByIndex {
    /// The name of the algorithm.
    pub algorithm: &'static str,
    /// What its similarity measures.
    pub measure: &'static str,
    /// The parameters as resolved.
    pub parameters: Vec<Row>,
    /// The counts.
    pub counts: filter::Counts,
    /// Documents that shared a key with more others than were compared, and that maximum.
    pub capped: (u64, usize),
    /// Warnings about this algorithm on these documents.
    pub warnings: Vec<String>,
    /// The incomplete end of the index that an interrupted write left. It was cut off, unless nothing is written.
    pub repair: Option<Repair>,
    /// Whether the file of the index existed, but was empty or ended within its header: a new index was begun in it, unless nothing is
    /// written. If it once remembered something, that is lost.
    pub is_begun_anew: bool,
    /// Seconds that it took.
    pub seconds: f64,
}

/// How passages were cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutReport {
    /// What was read.
    pub counts: PassageCounts,
    /// What was cut. Files that are damaged and copied whole do not count.
    pub cuts: CutCounts,
    /// The number of passages that are not cut because they are in fewer documents than
    /// [`min_documents`](crate::passages::PassageOptions::min_documents).
    pub below_min_documents: u64,
    /// Warnings about the input.
    pub warnings: Vec<String>,
}

/// The result of [`clean`](super::clean()) and [`move_duplicates`](super::move_duplicates).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Cleaned {
    /// The settings and statistics of the scan; `None` if an earlier run had scanned, or an index decided.
    #[serde(skip)]
    pub report: Option<Report>,
    /// What was counted of the files of both sides; nothing if an earlier run had decided.
    #[serde(skip)]
    pub read: source::Counts,
    /// What the index remembers, if one decided; `None` if the output was whole already.
    #[serde(skip)]
    pub remembered: Option<Remembered>,
    /// How passages were cut, for [`cut_passages`](super::cut_passages); `None` if an earlier run had decided.
    #[serde(skip)]
    pub cut: Option<CutReport>,
    /// Files of the input, without further names of one file.
    #[serde(skip)]
    pub files: u64,
    /// Files of the output; or files that moved, each name of a file counted.
    pub files_written: u64,
    /// Of these, written by an earlier run that was interrupted.
    pub files_continued: u64,
    /// Bytes of the output.
    pub bytes_written: u64,
    /// Documents, and records that could not be read.
    pub records: u64,
    /// Of these, left out.
    pub removed: u64,
    /// Of these, the ones whose most similar kept document is of the reference, where all are compared with each other too.
    pub removed_for_references: u64,
    /// Records or files that could not be read, files of which no copy without some records can be made, and files that were not
    /// moved because something had changed.
    pub failed: u64,
    /// Files that could not be read to their end, and are copied whole.
    #[serde(skip)]
    pub damaged: u64,
    /// Files that could be read, and are copied whole because no copy without what was to be left out can be made.
    #[serde(skip)]
    pub refused: u64,
    /// Near-duplicates in damaged files, which are not left out.
    #[serde(skip)]
    pub duplicates_kept: u64,
    /// Files that are not kept and stay where they are, for any reason, or are gone; 0 if nothing should move.
    pub stayed: u64,
    /// Of these, the ones that the same call tries to move again, because the system refused, for example for lack of space.
    #[serde(skip)]
    pub to_retry: u64,
    /// Why the same call with a folder is an error, if two files would have one output; `None` with a folder.
    #[serde(skip)]
    pub not_writable: Option<String>,
    /// Whether the output was whole already, and nothing was done.
    pub was_complete: bool,
}
