//! Passages that stand elsewhere decide: they are left out of the texts of records.

use super::decider::{Decider, Decisions, Sides};
use super::decisions::{self, Condition, Conditions, CutLine, Files, First, Found, OfFile, Removed, Unread, Watch};
use super::folder::{Folder, PASSAGES, Request, cannot_write};
use super::inputs::{Inputs, apart_by_content};
use super::removed_list::RemovedList;
use super::request::{CleanOptions, CutReport, OnError};
use super::scan::{all_warnings, as_source, read_of, search, with_options};
use crate::engine::{At, Observer};
use crate::error::Error;
use crate::passages::{Cut, CutCounts, CutOptions, CutUnit, Cuts, DocumentCuts, FirstPlace, KeptPlaces};
use crate::passages::{PassageCounts, PassageOptions, find_cuts};
use crate::source::rest::{self, OnDisk};
use crate::source::{Encoding, Format, Input, Place, Problem, ProblemKind, ReadOptions, Severity, Source};
use serde::Serialize;
use serde_json::value::to_raw_value;
use std::collections::{HashMap, VecDeque};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Decides by passages.
pub(super) struct ByPassages<'a> {
    pub passages: &'a PassageOptions,
    pub cut: &'a CutOptions,
    pub options: &'a CleanOptions,
    /// The numbers of the files out of which nothing can be cut, with their formats.
    uncuttable: Vec<(usize, Format)>,
}

/// What is found, as in `summary.json`.
#[derive(Serialize)]
struct CutRecord<'a> {
    algo: &'a str,
    counts: &'a PassageCounts,
    cuts: &'a CutCounts,
    below_min_documents: u64,
    warnings: Vec<String>,
    seconds: f64,
}

impl Decider for ByPassages<'_> {
    fn refuse(&mut self, inputs: &Inputs, _: &[PathBuf], _: Option<&Path>) -> Result<(), Error> {
        refuse_options(&self.options.source)?;
        for (file, number) in inputs.files.iter().zip(0..) {
            let Ok(mut on_disk) = OnDisk::open(&file.path) else { continue };
            match rest::format(&mut on_disk, &self.options.source) {
                Ok(Format::Parquet) => refuse_columns(&file.shown, &on_disk, &self.options.source)?,
                Ok(format) if uncuttable(format).is_some() => self.uncuttable.push((number, format)),
                _ => {}
            }
        }
        // If no file can be cut, the request is wrong.
        match self.uncuttable.first() {
            Some(&(number, format)) if self.uncuttable.len() == inputs.files.len() => {
                refuse_format(&inputs.files[number].shown, format)
            }
            _ => Ok(()),
        }
    }

    fn apart(&self) -> &'static str {
        apart_by_content(&self.options.against)
    }

    fn request(&self) -> Result<Request, Error> {
        let PassageOptions { tokenizer, min_words, min_documents, .. } = self.passages;
        let unit = match self.cut.unit {
            CutUnit::Words => "words",
            CutUnit::Paragraph => "paragraph",
            CutUnit::Line => "line",
        };
        let keep = match self.cut.keep {
            KeptPlaces::First => "first",
            KeptPlaces::None => "none",
        };
        let mut request = with_options(Request::new(), self.options)?;
        let rows = [
            ("algo", PASSAGES.into()),
            ("tokenizer", tokenizer.name().into()),
            ("minimum of words", (*min_words).into()),
            ("minimum of documents", (*min_documents > 1).then_some(*min_documents).into()),
            ("keep", keep.into()),
            ("unit", unit.into()),
            ("maximum cut", self.cut.max_cut.map(|max_cut| max_cut.to_string()).into()),
        ];
        request.extend(rows.map(|(name, value)| (name.to_string(), value)));
        Ok(request)
    }

    fn decide(
        &mut self,
        mut sides: Sides,
        inputs: &Inputs,
        folder: Option<&Folder>,
        observer: &dyn Observer,
    ) -> Result<Decisions, Error> {
        let started = Instant::now();
        let watch = Watch::new(observer).with_unread(self.passages.memory);
        self.uncuttable_files(inputs).for_each(|problem| watch.problem(&problem));
        let mut cuts = self.find(&mut sides.0, &mut sides.1, &watch)?;
        let (warnings, read) = read_of(&sides, self.options);
        let (conditions, names) = (watch.conditions(), inputs.names());
        if self.options.on_error == OnError::Fail {
            // Before anything is written.
            let mut files = conditions.files(&names, OnError::Fail);
            cuts.changed_documents().for_each(|at| files.change_at(at.path));
            files.refused.iter().for_each(|problem| observer.problem(problem));
            decisions::check_failed(OnError::Fail, files.refused.len() as u64)?;
        }
        let mut deciding = Deciding::new(&conditions, &names, self.options, false);
        let mut decide = |out: &mut dyn Write, path: &Path| {
            let cannot = |error| cannot_write(path, error);
            let sides = (&mut sides.0 as &mut dyn Source, as_source(&mut sides.1));
            deciding.decide(&mut cuts, sides, observer, &mut |line| line.write(out).map_err(cannot))?;
            decisions::list_further_names(inputs, out).and_then(|()| out.flush()).map_err(cannot)
        };
        let removed_bytes = RemovedList::of(folder, self.options).write(|file| match file {
            None => decide(&mut io::sink(), Path::new("")).map(|()| 0),
            Some((file, path)) => {
                decide(&mut BufWriter::with_capacity(1 << 16, &mut *file), path)?;
                file.metadata().map(|found| found.len()).map_err(|error| cannot_write(path, error))
            }
        })?;
        let Decided { files, refused, counts: cut_counts } = deciding.finish();
        refused.iter().for_each(|problem| observer.problem(problem));
        decisions::check_failed(self.options.on_error, refused.len() as u64)?;
        let failed = cuts.counts().failed + refused.len() as u64;
        let (counts, below_min_documents) = (cuts.counts().clone(), cuts.below_min_documents());
        let report = CutReport { counts, cuts: cut_counts, below_min_documents, warnings };
        let (seconds, CutReport { counts, cuts, warnings, .. }) = (started.elapsed().as_secs_f64(), &report);
        let warnings = all_warnings(self.options, warnings.iter().cloned());
        let record = CutRecord { algo: PASSAGES, counts, cuts, below_min_documents, warnings, seconds };
        let scan = to_raw_value(&record).expect("strings and numbers make JSON");
        let (report, cut) = (None, Some(report));
        Ok(Decisions { files, removed_bytes, scan, failed, read, report, cut, index: None, replaced: None })
    }
}

impl<'a> ByPassages<'a> {
    pub fn new(passages: &'a PassageOptions, cut: &'a CutOptions, options: &'a CleanOptions) -> Self {
        ByPassages { passages, cut, options, uncuttable: Vec::new() }
    }

    /// The problems with the files out of which nothing can be cut. They matter only if something was to be cut.
    fn uncuttable_files(&self, inputs: &Inputs) -> impl Iterator<Item = Problem> {
        self.uncuttable.iter().filter_map(|&(number, format)| {
            let place = Place { path: inputs.files[number].shown.as_str().into(), line: None };
            let message = format!(
                "copied whole, with passages that were to be cut, because it is {} (convert it to JSON lines)",
                uncuttable(format)?
            );
            Some(Problem::at(place, Severity::Deferred, ProblemKind::Uncopied, message))
        })
    }

    /// Finds what is to be cut.
    ///
    /// # Errors
    /// Those of [`find_cuts`]; no document was read, or some failed, and that is not allowed.
    pub fn find(&self, input: &mut Input, reference: &mut Option<Input>, watch: &Watch<'_>) -> Result<Cuts, Error> {
        let find = |input: &mut Input, reference: Option<&mut dyn Source>| {
            find_cuts(input, reference, self.passages, self.cut, watch)
        };
        search((input, reference), self.options, find, Cuts::counts)
    }
}

/// Refuses options by which a text is not that of its record.
///
/// # Errors
/// There are such options.
pub(super) fn refuse_options(options: &ReadOptions) -> Result<(), Error> {
    let has_states = options.encoding.is_some_and(Encoding::has_states);
    let refused = [
        (
            has_states,
            "encoding iso-2022-jp",
            "what a byte means depends on those before it (convert the text to UTF-8 first)",
        ),
        (options.pages_in_fields, "content", "the text of a page is not that of its record"),
        (!options.programs.is_empty(), "pre", "what a program prints is not the text of the file"),
    ];
    refused
        .into_iter()
        .find(|(is_refused, ..)| *is_refused)
        .map_or(Ok(()), |(_, name, why)| Err(Error::Usage(format!("passages cannot be cut with `{name}`: {why}"))))
}

/// Refuses a Parquet file by its columns of texts.
///
/// # Errors
/// One is JSON by its type, or a path chooses elements of lists.
fn refuse_columns(shown: &str, on_disk: &OnDisk<'_>, options: &ReadOptions) -> Result<(), Error> {
    if let Some(path) = rest::chosen_texts(on_disk, options) {
        return Err(Error::Usage(format!(
            "{shown}: '{path}' chooses elements of a list, and passages are not cut out of such texts in Parquet: name all elements, or \
             leave the file out"
        )));
    }
    match rest::json_texts(on_disk, options) {
        None => Ok(()),
        Some(column) => Err(Error::Usage(format!(
            "{shown}: the column '{column}' is JSON by its type, and would not be with passages cut out of it: choose another column of \
             texts, or leave the file out"
        ))),
    }
}

/// What files of a format are, if their texts cannot be changed.
fn uncuttable(format: Format) -> Option<&'static str> {
    match format {
        Format::Html => Some("HTML, whose text is not that of the file"),
        Format::Warc => Some("an archive, whose records state their length and their digests"),
        _ => None,
    }
}

/// Refuses a file whose texts cannot be changed.
///
/// # Errors
/// It is one.
pub(super) fn refuse_format(shown: &str, format: Format) -> Result<(), Error> {
    let Some(what) = uncuttable(format) else { return Ok(()) };
    Err(Error::Usage(format!(
        "{shown} is {what}: passages cannot be cut out of it (convert it to JSON lines, or leave it out: do not name it, or use \
         `exclude` if it is in a folder)"
    )))
}

/// A line of `removed.jsonl`.
pub(super) enum Line<'a> {
    Cut(CutLine<'a>),
    Removed(Box<Removed<'a>>),
}

impl Line<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Line::Cut(line) => decisions::line(out, line),
            Line::Removed(line) => decisions::line(out, &**line),
        }
    }
}

/// Records that are left out because they could not be read, each with the number of its file.
type Dropped<'a> = VecDeque<(usize, &'a Unread)>;

/// Lists those before a place.
fn list_dropped(
    dropped: &mut Dropped<'_>,
    before: (usize, Option<u64>),
    worded: fn(&str) -> String,
    list: &mut dyn FnMut(Line<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    while let Some((_, unread)) = dropped.pop_front_if(|(number, unread)| (*number, unread.line) < before) {
        let Unread { path, line, id, why } = unread;
        let at = At { path, line: *line };
        // As a record without an id is identified.
        let by_place = line.map_or(path.to_string(), |line| format!("{path}:{line}"));
        let id = id.as_deref().unwrap_or(&by_place);
        list(Line::Removed(Box::new(Removed { error: Some(&worded(why)), ..Removed::at(at, id) })))?;
    }
    Ok(())
}

/// Decides what happens to each file.
pub(super) struct Deciding<'a> {
    conditions: &'a Conditions,
    numbers: HashMap<&'a str, usize>,
    files: Files<'a>,
    /// Whether something is cut also in files that are damaged, of which not all is copied.
    in_damaged: bool,
    worded: fn(&str) -> String,
    counts: CutCounts,
}

/// What happens to each file.
pub(super) struct Decided {
    pub files: Vec<OfFile>,
    /// The problems with files of which nothing can be left out.
    pub refused: Vec<Problem>,
    /// What is cut of the files, without those that are damaged and copied whole.
    pub counts: CutCounts,
}

impl<'a> Deciding<'a> {
    /// For files with these names.
    pub fn new(conditions: &'a Conditions, names: &[&'a str], options: &CleanOptions, in_damaged: bool) -> Self {
        let numbers = names.iter().copied().zip(0..).collect();
        let (files, counts) = (conditions.files(names, options.on_error), CutCounts::default());
        Deciding { conditions, numbers, files, in_damaged, worded: options.worded_problem, counts }
    }

    /// Decides what happens to each record, and passes on what is left out.
    ///
    /// # Errors
    /// Those of the function, and of [`Cuts::for_each`]; a document has changed meanwhile.
    pub fn decide(
        &mut self,
        cuts: &mut Cuts,
        (source, reference): (&mut dyn Source, Option<&mut dyn Source>),
        observer: &dyn Observer,
        list: &mut dyn FnMut(Line<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.conditions.check_unread()?;
        let mut dropped = Dropped::new();
        for unread in &self.conditions.unread {
            let at = At { path: &unread.path, line: unread.line };
            if let Some(number) = self.files.take(at, Found::Failed) {
                dropped.push_back((number, unread));
            } else if let Some(&number) = self.numbers.get(at.path)
                && at.line.is_some()
                && self.cuts_damaged(number)
            {
                self.files.files[number].leave_out(at.line);
            }
        }
        for (at, is_left_out) in cuts.documents() {
            let At { path, line } = at;
            let number = self.numbers.get(path).copied().filter(|&number| is_left_out && self.cuts_damaged(number));
            if self.files.take(at, Found::Document { keep: !is_left_out }).is_none()
                && let Some(number) = number
            {
                self.files.files[number].leave_out(line);
            }
        }
        let (failed, worded) = (cuts.counts().failed, self.worded);
        cuts.for_each(source, reference, observer, |document| {
            let At { path, line } = document.place;
            let Some(&number) = self.numbers.get(path) else { return Ok(()) };
            list_dropped(&mut dropped, (number, line), worded, list)?;
            self.cut(document, number, list)
        })?;
        list_dropped(&mut dropped, (usize::MAX, None), worded, list)?;
        self.files.files.iter_mut().for_each(|file| file.left_out.sort_unstable());
        match cuts.counts().failed - failed {
            0 => Ok(()),
            changed => {
                let why = format!("{changed} of them changed between two readings: nothing was written");
                Err(Error::input("documents", io::Error::other(why)))
            }
        }
    }

    /// Whether a file is damaged, and something is cut of it nevertheless.
    fn cuts_damaged(&self, number: usize) -> bool {
        self.in_damaged && self.files.files[number].counts.condition == Condition::Damaged
    }

    /// What is cut of a document.
    fn cut(
        &mut self,
        document: &DocumentCuts<'_>,
        number: usize,
        list: &mut dyn FnMut(Line<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let At { path, line } = document.place;
        self.files.change(number);
        let is_cut = self.files.files[number].counts.condition == Condition::Whole || self.cuts_damaged(number);
        let of_file = &mut self.files.files[number];
        if !is_cut {
            of_file.counts.duplicates_kept += u64::from(!document.is_left_out);
            return Ok(());
        }
        self.counts.add(document.is_left_out, document.tokens, (document.cut_tokens, document.cuts().count()));
        self.counts.add_words(document);
        for Cut { range, words, first, .. } in document.cuts() {
            if !document.is_left_out {
                of_file.snip(line, range.clone());
            }
            let first = first.map(|FirstPlace { id, place, range, .. }| First {
                file: place.path,
                record: place.line,
                id,
                start: range.start,
                end: range.end,
            });
            let (start, end) = (range.start, range.end);
            list(Line::Cut(CutLine { file: path, record: line, id: document.id, start, end, words, first }))?;
        }
        if document.is_left_out {
            let share = document.cut_tokens as f64 / document.tokens as f64;
            list(Line::Removed(Box::new(Removed { cut: Some(share), ..Removed::at(At { path, line }, document.id) })))?;
        }
        Ok(())
    }

    /// What happens to each file.
    pub fn finish(self) -> Decided {
        Decided { files: self.files.files, refused: self.files.refused, counts: self.counts }
    }
}
