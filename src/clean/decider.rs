//! What decides which records are left out: a scan, or an index.

use super::decisions::OfFile;
use super::folder::{Folder, IndexRecord, Request, State};
use super::inputs::{APART, Inputs};
use super::request::{CutReport, Remembered};
use crate::engine::{Observer, Report};
use crate::error::Error;
use crate::source::{self, Input};
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// The input, and the reference if there is one.
pub(super) type Sides = (Input, Option<Input>);

/// What decides which records are left out.
pub(super) trait Decider {
    /// Refuses places of its own files.
    fn refuse(&mut self, _inputs: &Inputs, _paths: &[PathBuf], _output: Option<&Path>) -> Result<(), Error> {
        Ok(())
    }

    /// How to clean inputs that would have one output.
    fn apart(&self) -> &'static str {
        APART
    }

    /// The options that decide the output.
    ///
    /// # Errors
    /// They cannot be resolved.
    fn request(&self) -> Result<Request, Error>;

    /// Decides on everything; with a folder, lists what is left out in it.
    fn decide(
        &mut self,
        sides: Sides,
        inputs: &Inputs,
        folder: Option<&Folder>,
        observer: &dyn Observer,
    ) -> Result<Decisions, Error>;

    /// Continues with what an earlier run decided, before files are written.
    fn continue_with(&mut self, _state: &State, _files: &[OfFile], _folder: &Folder) -> Result<(), Error> {
        Ok(())
    }

    /// Does what is to be done when all files are written.
    fn complete(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// What the index remembers, if there is one.
    fn remembered(&mut self) -> Option<Remembered> {
        None
    }

    /// Whether the output must be on the disk before the end.
    fn is_durable(&self) -> bool {
        false
    }
}

/// What was decided on all records.
pub(super) struct Decisions {
    pub files: Vec<OfFile>,
    /// The length of `removed.jsonl` in bytes.
    pub removed_bytes: u64,
    /// What was found, for `summary.json`.
    pub scan: Box<RawValue>,
    /// The number of files and records that could not be read.
    pub failed: u64,
    /// What was counted of both sides.
    pub read: source::Counts,
    pub report: Option<Report>,
    pub cut: Option<CutReport>,
    pub index: Option<IndexRecord>,
    /// A row of the request that is known only now.
    pub replaced: Option<(&'static str, Value)>,
}
