//! What happens to each record, by the verdicts on all of them; the file `removed.jsonl`.

use super::inputs::Inputs;
use super::request::OnError;
use crate::engine::{At, Kept, Verdict};
use crate::error::Error;
use crate::passages::{ContainmentVerdict, PassageVerdict};
use crate::run::observer::{Estimate, Observer, Stage};
use crate::source::rest::LeftOut;
use crate::source::snip::Snips;
use crate::source::{Place, Problem, ProblemKind, Severity};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufRead, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// What happens to the records of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OfFile {
    /// The records that are left out, ascending.
    pub left_out: Vec<u64>,
    /// What is left out of the texts of others.
    pub snips: Snips,
    /// Whether the file is one document, which is left out.
    pub is_left_out: bool,
    pub counts: Counts,
}

/// The numbers of records of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts {
    /// Documents, and records that could not be read.
    pub records: u64,
    /// Of these, left out.
    pub removed: u64,
    /// Of these, the ones whose most similar kept document is of the reference.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed_for_references: u64,
    /// Records that could not be read. One more if the file is [refused](Condition::Refused), or no copy of it could be written.
    pub failed: u64,
    /// Near-duplicates that stay, because the file is damaged or refused.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicates_kept: u64,
    pub condition: Condition,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How a file could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Condition {
    #[default]
    Whole,
    /// Whole, but no copy without the records that are to be left out can be made, so that its copy has everything.
    Refused,
    /// Not to its end, or it is damaged elsewhere, so that its copy must have everything. The damage may show only when a copy without
    /// some records is written.
    Damaged,
    /// Not at all.
    Unreadable,
}

impl Condition {
    /// The condition of a file with this problem.
    pub fn after(problem: &Problem) -> Self {
        match problem.kind {
            ProblemKind::Damaged | ProblemKind::DamagedColumn | ProblemKind::Changed => Condition::Damaged,
            // Its records are unknown without a column of texts.
            ProblemKind::Unreadable | ProblemKind::Header => Condition::Unreadable,
            _ => Condition::Whole,
        }
    }
}

/// The files whose copies have everything, or may.
#[derive(Default)]
pub(super) struct Conditions {
    /// Those that cannot be read, or not to their end.
    worse: BTreeMap<String, Condition>,
    /// Why no copy of others without some of their records can be made.
    refusals: Vec<Problem>,
    /// Records and files that could not be read; none if they are too many.
    pub unread: Vec<Unread>,
    /// Their memory, in bytes.
    unread_bytes: u64,
    /// Whether they took more than they may.
    has_too_many_unread: bool,
}

/// A record that could not be read, or a file.
pub(super) struct Unread {
    pub path: Arc<str>,
    /// `None` for a file.
    pub line: Option<u64>,
    pub id: Option<String>,
    pub why: String,
}

impl Unread {
    fn bytes(&self) -> u64 {
        (size_of::<Unread>() + self.id.as_ref().map_or(0, String::len) + self.why.len()) as u64
    }
}

impl Conditions {
    fn add_unread(&mut self, unread: Unread, most: u64) {
        self.unread_bytes += unread.bytes();
        self.has_too_many_unread |= self.unread_bytes > most;
        match self.has_too_many_unread {
            true => self.unread = Vec::new(),
            false => self.unread.push(unread),
        }
    }

    /// Checks that all records that could not be read are listed.
    ///
    /// # Errors
    /// They do not fit the memory.
    pub fn check_unread(&self) -> Result<(), Error> {
        if !self.has_too_many_unread {
            return Ok(());
        }
        let message = "the records that could not be read do not fit `memory`: allow more, or repair the input";
        Err(Error::Full(format!("{message} (they take {} bytes)", self.unread_bytes)))
    }

    /// What happens to files with these names, before any record is decided on.
    pub fn files<'a>(&self, names: &[&'a str], on_error: OnError) -> Files<'a> {
        let mut files = Files::new(names, on_error);
        self.worse.iter().for_each(|(name, &condition)| _ = files.worsen(name, condition));
        self.refusals.iter().for_each(|problem| _ = files.refuse(problem));
        files
    }
}

/// A line of `removed.jsonl`.
#[derive(Serialize)]
#[serde(tag = "type", rename = "removed")]
pub(super) struct Removed<'a> {
    pub file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub id: &'a str,
    /// Of a passage of the reference, its bytes in the text of the record, as it was read, and its length in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<Partner<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// Why the record could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
    /// The file of which this is another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_file: Option<&'a str>,
    /// The share of its words that stand elsewhere, if these were to be cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<f64>,
    /// The document that contains it, the share of its runs that stand there, and with a reference that in all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contained_in: Option<Partner<'a>>,
    /// The document of the reference that it contains, with the share of the runs of that one; or of which it has a passage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<Partner<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_all: Option<f64>,
    /// Further documents of the reference that it contains: the first ones, and how many there are after them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_contains: Vec<Share<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

/// A further document of a reference, and the share of its runs.
#[derive(Serialize)]
pub(super) struct Share<'a> {
    #[serde(flatten)]
    pub partner: Partner<'a>,
    pub coverage: f64,
}

/// A line of `removed.jsonl` for a part of a text.
#[derive(Serialize)]
#[serde(tag = "type", rename = "cut")]
pub(super) struct CutLine<'a> {
    pub file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub id: &'a str,
    /// Its bytes in the text of the record, as it was read.
    pub start: usize,
    pub end: usize,
    pub words: u64,
    /// Where the same words stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<First<'a>>,
}

/// Where a passage stays.
#[derive(Serialize)]
pub(super) struct First<'a> {
    pub file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub id: &'a str,
    pub start: usize,
    pub end: usize,
}

/// The kept document, or that of a reference. What an index knows of one is its id.
#[derive(Default, Serialize)]
pub(super) struct Partner<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    pub id: &'a str,
    /// Of a passage, its bytes in the text of that document, as it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
}

/// What is read back of a line.
#[derive(Deserialize)]
struct Line {
    r#type: String,
    file: String,
    record: Option<u64>,
    same_file: Option<String>,
    start: Option<usize>,
    end: Option<usize>,
}

/// What happens to each file, in the order of the input. Passes each record that is left out to a function, with the number
/// of its file. Returns the problems with files that are [refused](Condition::Refused), too.
///
/// # Errors
/// Those of the function.
pub(super) fn decide(
    kept: &Kept<'_>,
    names: &[&str],
    conditions: &Conditions,
    on_error: OnError,
    each: impl FnMut(usize, &Verdict<'_>, At<'_>) -> io::Result<()>,
) -> io::Result<(Vec<OfFile>, Vec<Problem>)> {
    let mut files = conditions.files(names, on_error);
    take_all(&mut files, kept, each)?;
    Ok((files.files, files.refused))
}

/// Takes all verdicts in order, and passes on those on records that are left out.
///
/// # Errors
/// Those of the function.
pub(super) fn take_all(
    files: &mut Files<'_>,
    kept: &Kept<'_>,
    mut each: impl FnMut(usize, &Verdict<'_>, At<'_>) -> io::Result<()>,
) -> io::Result<()> {
    for verdict in kept.located_verdicts() {
        let Some(at) = verdict.at else { continue };
        if let Some(number) = files.take(at, Found::from(&verdict)) {
            let is_for_reference = verdict.duplicate_of_index.is_some_and(|index| kept.is_of_reference(index));
            files.files[number].counts.removed_for_references += u64::from(is_for_reference);
            each(number, &verdict, at)?;
        }
    }
    Ok(())
}

/// The number of a record that is a whole file.
const WHOLE: u64 = 0;

/// What was found at a place.
#[derive(Clone, Copy)]
pub(super) enum Found {
    Document {
        keep: bool,
    },
    /// A record that could not be read.
    Failed,
    /// A file without text, which holds no records.
    Skipped,
}

impl Found {
    /// By a verdict: whether the record could not be read, and that by rule; and whether it is kept.
    fn of(is_rejected: bool, is_skipped: bool, keep: bool) -> Self {
        match (is_rejected, is_skipped) {
            (true, true) => Found::Skipped,
            (true, false) => Found::Failed,
            (false, _) => Found::Document { keep },
        }
    }
}

impl From<&Verdict<'_>> for Found {
    fn from(verdict: &Verdict<'_>) -> Self {
        Found::of(verdict.error.is_some(), verdict.is_skipped, verdict.keep)
    }
}

impl From<&ContainmentVerdict<'_>> for Found {
    fn from(verdict: &ContainmentVerdict<'_>) -> Self {
        Found::of(verdict.error.is_some(), verdict.is_skipped, verdict.keep)
    }
}

impl From<&PassageVerdict<'_>> for Found {
    fn from(verdict: &PassageVerdict<'_>) -> Self {
        Found::of(verdict.error.is_some(), verdict.is_skipped, verdict.keep)
    }
}

/// What happens to each file, while its records are decided on.
pub(super) struct Files<'a> {
    numbers: HashMap<&'a str, usize>,
    pub files: Vec<OfFile>,
    on_error: OnError,
    /// Why no copy of a file without some of its records can be made, if none was to be left out so far.
    refusals: HashMap<usize, Problem>,
    /// The same of files with records that were to be left out, as failures.
    pub refused: Vec<Problem>,
}

impl<'a> Files<'a> {
    pub fn new(names: &[&'a str], on_error: OnError) -> Self {
        let numbers = names.iter().copied().zip(0..).collect();
        let (refusals, refused) = Default::default();
        Files { numbers, files: vec![OfFile::default(); names.len()], on_error, refusals, refused }
    }

    /// Takes the next record. Returns the number of its file if it is left out.
    pub fn take(&mut self, at: At<'_>, found: Found) -> Option<usize> {
        let number = *self.numbers.get(at.path)?;
        let counts = &mut self.files[number].counts;
        counts.failed += u64::from(matches!(found, Found::Failed));
        // How many records an unreadable file has is not known.
        let is_unknown =
            matches!(found, Found::Failed) && counts.condition == Condition::Unreadable && at.line.is_none();
        counts.records += u64::from(!matches!(found, Found::Skipped) && !is_unknown);
        let is_removed = match found {
            Found::Document { keep } => !keep,
            Found::Failed => self.on_error == OnError::Drop,
            Found::Skipped => false,
        };
        if is_removed {
            self.change(number);
        }
        let counts = &mut self.files[number].counts;
        let is_left_out = is_removed && counts.condition == Condition::Whole;
        counts.duplicates_kept += u64::from(matches!(found, Found::Document { keep: false }) && !is_left_out);
        is_left_out.then(|| {
            self.files[number].leave_out(at.line);
            number
        })
    }

    /// Something is to be left out of a file: if no copy without it can be made, nothing is, and that is a failure.
    pub fn change(&mut self, number: usize) {
        let counts = &mut self.files[number].counts;
        if counts.condition == Condition::Whole
            && let Some(problem) = self.refusals.remove(&number)
        {
            counts.condition = Condition::Refused;
            counts.failed += 1;
            self.refused.push(problem);
        }
    }

    /// As [`change`](Self::change), of the file of this name.
    pub fn change_at(&mut self, name: &str) {
        if let Some(&number) = self.numbers.get(name) {
            self.change(number);
        }
    }

    /// No copy of a file without some of its records can be made. Returns its number if something was left out.
    pub fn refuse(&mut self, problem: &Problem) -> Option<usize> {
        let number = *self.numbers.get(&*problem.place.path)?;
        let counts = &mut self.files[number].counts;
        let problem = Problem { severity: Severity::Failed, ..problem.clone() };
        if counts.condition != Condition::Whole {
            return None;
        }
        if counts.removed == 0 {
            self.refusals.entry(number).or_insert(problem);
            return None;
        }
        counts.failed += 1;
        self.refused.push(problem);
        self.worsen_number(number, Condition::Refused)
    }

    /// A file cannot be read, or not to its end: nothing of it is left out. Returns its number if something was.
    pub fn worsen(&mut self, name: &str, condition: Condition) -> Option<usize> {
        let number = *self.numbers.get(name)?;
        self.worsen_number(number, condition)
    }

    fn worsen_number(&mut self, number: usize, condition: Condition) -> Option<usize> {
        let OfFile { counts, .. } = &mut self.files[number];
        counts.condition = condition.max(counts.condition);
        if counts.condition == Condition::Whole || counts.removed == 0 {
            return None;
        }
        self.files[number].stay_whole(condition);
        Some(number)
    }
}

/// Writes the line of a record that is left out.
///
/// # Errors
/// It cannot be written.
pub(super) fn list(
    verdict: &Verdict<'_>,
    at: At<'_>,
    worded: fn(&str) -> String,
    out: &mut impl Write,
) -> io::Result<()> {
    let error = verdict.error.map(worded);
    line(out, &Removed { error: error.as_deref(), ..removed(verdict, at) })
}

/// Writes a line for each further name of a file.
///
/// # Errors
/// It cannot be written.
pub(super) fn list_further_names(inputs: &Inputs, mut out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    for same in &inputs.same {
        let (name, of) = (&*same.file.shown, &inputs.files[same.of].shown);
        line(&mut out, &Removed { same_file: Some(of), ..Removed::at(At { path: name, line: None }, name) })?;
    }
    Ok(())
}

fn removed<'a>(verdict: &Verdict<'a>, at: At<'a>) -> Removed<'a> {
    let partner = verdict.duplicate_of.zip(verdict.duplicate_of_at);
    Removed {
        duplicate_of: partner.map(|((id, _), at)| Partner {
            file: Some(at.path),
            record: at.line,
            id,
            ..Partner::default()
        }),
        similarity: verdict.duplicate_of.map(|(_, similarity)| similarity.value()),
        ..Removed::at(at, verdict.id)
    }
}

impl<'a> Removed<'a> {
    /// A record at a place, without a reason.
    pub fn at(at: At<'a>, id: &'a str) -> Self {
        Removed {
            file: at.path,
            record: at.line,
            id,
            start: None,
            end: None,
            words: None,
            duplicate_of: None,
            similarity: None,
            error: None,
            same_file: None,
            cut: None,
            contained_in: None,
            contains: None,
            coverage: None,
            coverage_all: None,
            also_contains: Vec::new(),
            left_out: 0,
        }
    }
}

/// Writes a record as a line of JSON.
///
/// # Errors
/// It cannot be written.
pub(super) fn line(out: &mut (impl Write + ?Sized), record: &impl Serialize) -> io::Result<()> {
    let mut out = out;
    serde_json::to_writer(&mut out, record)?;
    out.write_all(b"\n")
}

impl OfFile {
    /// What is left out of its copy.
    pub fn left_out(&self) -> LeftOut<'_> {
        LeftOut { records: &self.left_out, snips: Some(&self.snips) }
    }

    /// Leaves nothing out of a file in this condition, or a worse one.
    pub fn stay_whole(&mut self, condition: Condition) {
        let Counts { removed, duplicates_kept, .. } = self.counts;
        self.counts = Counts {
            removed: 0,
            removed_for_references: 0,
            duplicates_kept: duplicates_kept + removed,
            condition: condition.max(self.counts.condition),
            ..self.counts
        };
        *self = OfFile { counts: self.counts, ..OfFile::default() };
    }

    /// Leaves out a part of the text of a record.
    pub fn snip(&mut self, record: Option<u64>, range: Range<usize>) {
        self.snips.push(record.unwrap_or(WHOLE), range);
    }

    /// Leaves out a record.
    pub fn leave_out(&mut self, record: Option<u64>) {
        self.snips.remove(record.unwrap_or(WHOLE));
        self.counts.removed += 1;
        match record {
            Some(record) => self.left_out.push(record),
            None => self.is_left_out = true,
        }
    }
}

/// Whether a line of `removed.jsonl` is about a record of one of these files, or a part of it.
///
/// # Errors
/// It is no such line.
pub(super) fn is_of_any(line: &[u8], files: &BTreeSet<&str>) -> io::Result<bool> {
    let line: Line = serde_json::from_slice(line)?;
    Ok(line.same_file.is_none() && files.contains(line.file.as_str()))
}

/// What happens to each file, by what an earlier run wrote.
///
/// # Errors
/// The lines cannot be read, or are not those of these files.
pub(super) fn read(lines: impl BufRead, inputs: &Inputs, counts: &[Counts]) -> io::Result<Vec<OfFile>> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it was changed");
    let numbers = inputs.numbers();
    let mut files = vec![OfFile::default(); inputs.files.len()];
    for line in lines.lines() {
        let place: Line = serde_json::from_str(&line?).map_err(|_| damaged())?;
        if place.same_file.is_none() {
            let number = *numbers.get(place.file.as_str()).ok_or_else(damaged)?;
            match (place.r#type.as_str(), place.start.zip(place.end)) {
                ("cut", Some((start, end))) => files[number].snip(place.record, start..end),
                ("removed", _) => files[number].leave_out(place.record),
                _ => return Err(damaged()),
            }
        }
    }
    if counts.len() != files.len() {
        return Err(damaged());
    }
    for (of_file, counts) in files.iter_mut().zip(counts) {
        if of_file.counts.removed != counts.removed {
            return Err(damaged());
        }
        of_file.counts = *counts;
        of_file.left_out.sort_unstable();
        if counts.condition != Condition::Whole {
            of_file.snips = Snips::default();
        }
    }
    Ok(files)
}

/// Passes events on, and notes which files cannot be read, or not to their end. Problems that matter only if records are left
/// out are not passed on.
pub(super) struct Watch<'a> {
    observer: &'a dyn Observer,
    conditions: Mutex<Conditions>,
    /// The memory for records and files that cannot be read, in bytes, if these are listed.
    unread: Option<u64>,
}

impl<'a> Watch<'a> {
    pub fn new(observer: &'a dyn Observer) -> Self {
        Watch { observer, conditions: Mutex::default(), unread: None }
    }

    /// Lists the records and files that cannot be read, too, in an eighth of this memory and 8 MiB.
    pub fn with_unread(self, memory: u64) -> Self {
        Watch { unread: Some((memory / 8).saturating_add(8 << 20)), ..self }
    }

    pub fn conditions(self) -> Conditions {
        self.conditions.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Watch<'_> {
    fn stage(&self, stage: Stage) {
        self.observer.stage(stage);
    }

    fn progress(&self, bytes: u64, documents: u64) {
        self.observer.progress(bytes, documents);
    }

    fn unpacked(&self, bytes: u64) {
        self.observer.unpacked(bytes);
    }

    fn estimate(&self, estimate: &Estimate) {
        self.observer.estimate(estimate);
    }

    fn many_pairs(&self, most: u64) {
        self.observer.many_pairs(most);
    }

    fn problem(&self, problem: &Problem) {
        let condition = Condition::after(problem);
        let mut conditions = self.conditions.lock().unwrap_or_else(PoisonError::into_inner);
        if problem.severity == Severity::Deferred {
            conditions.refusals.push(problem.clone());
            return;
        }
        if let Some(most) = self.unread
            && problem.severity == Severity::Failed
            && problem.kind.is_rejection()
        {
            for Place { path, line } in problem.places() {
                let (id, why) = (problem.id.clone(), problem.message.clone());
                conditions.add_unread(Unread { path, line, id, why }, most);
            }
        }
        if condition != Condition::Whole {
            let known = conditions.worse.entry(problem.place.path.to_string()).or_default();
            *known = condition.max(*known);
        }
        drop(conditions);
        self.observer.problem(problem);
    }

    fn is_stopped(&self) -> bool {
        self.observer.is_stopped()
    }
}

/// Leaves these records out of a stream of kept records also where a file is damaged, so that its copy would have them: those that are
/// not kept, and what comes after the damage.
pub(super) fn without_damaged<'a>(left_out: impl Iterator<Item = At<'a>>, names: &[&str], files: &mut [OfFile]) {
    let numbers: HashMap<&str, usize> = names.iter().copied().zip(0..).collect();
    for At { path, line } in left_out {
        let Some(&number) = numbers.get(path) else { continue };
        if files[number].counts.condition == Condition::Damaged {
            files[number].leave_out(line);
        }
    }
}

/// An error if records failed and none may.
pub(super) fn check_failed(on_error: OnError, failed: u64) -> Result<(), Error> {
    on_error.check(failed, "nothing was written")
}
