//! Problems with single records. For people, the first few of each kind are printed and the others counted; for programs, they are
//! records in the file of `--rejects`.

use super::files::{cannot_write, is_at, open_to_append, reopened, replacement};
use super::spelling;
use crate::readable::{count, counted as counted_noun};
use neardups::Error;
use neardups::replace::Replacement;
use neardups::source::{Problem, ProblemKind, Severity, write_rejected};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use tempfile::SpooledTempFile;

/// How many problems of a kind are printed.
pub const MAX_PRINTED: usize = 10;

/// The problems so far.
#[derive(Default)]
pub struct Problems {
    counted: Mutex<BTreeMap<(Severity, ProblemKind), Counted>>,
    /// Files without a column of texts, of which nothing was read.
    without_column: AtomicU64,
    /// [Bad records](Problem::is_bad_record), and other failures.
    bad_records: AtomicU64,
    other_failures: AtomicU64,
    rejects: Option<Rejects>,
}

/// The problems of a kind.
#[derive(Default)]
struct Counted {
    total: u64,
    printed: u64,
    /// Records without a text field that were not printed, and files without a column of texts.
    lacking: u64,
    /// The messages of those that were: a mistyped field gives each record the same one.
    messages: BTreeSet<String>,
}

impl Counted {
    /// Counts a problem. Returns whether it should be printed.
    fn add(&mut self, problem: &Problem) -> bool {
        self.total += 1;
        let lacks = problem.lacks_field || lacks_column(problem);
        let is_printed = problem.kind != ProblemKind::NeedsProgram
            && self.printed < MAX_PRINTED as u64
            && !(lacks && self.messages.contains(&problem.message));
        self.printed += u64::from(is_printed);
        if lacks && is_printed {
            self.messages.insert(problem.message.clone());
        }
        self.lacking += u64::from(lacks && !is_printed);
        is_printed
    }

    fn unprinted(&self) -> u64 {
        self.total - self.printed
    }
}

/// What has a problem of a kind, as a noun, and what is wrong with it, of one as of several.
fn in_words(kind: ProblemKind) -> (&'static str, &'static str) {
    match kind {
        ProblemKind::Unreadable => ("file", "that cannot be read"),
        ProblemKind::Damaged => ("file", "cut short or damaged"),
        ProblemKind::DamagedColumn => ("file", "with a damaged column that is not read"),
        ProblemKind::Uncopied => ("file", "of which no copy without what is left out can be made"),
        ProblemKind::TooLong => ("record", "longer than allowed"),
        ProblemKind::Json => ("line", "without a JSON object"),
        ProblemKind::Text => ("record", "without a usable text"),
        ProblemKind::Encoding => ("text", "of which too much is not UTF-8 to compare it"),
        ProblemKind::Id => ("record", "with an id that is neither a string nor a number"),
        ProblemKind::Header => ("file", "without the requested columns"),
        ProblemKind::Archive => ("record", "of an archive in an invalid format"),
        ProblemKind::Coding => ("page", "with a content coding that is not supported"),
        ProblemKind::NotText => ("file", "without text"),
        ProblemKind::NeedsProgram => ("document", "in PDF or an office format"),
        ProblemKind::JsonArray => ("file", "with a JSON array"),
        ProblemKind::Program => ("file", "on which the program failed"),
        ProblemKind::SameFile => ("file", "already read under another name"),
        ProblemKind::Loop => ("symbolic link", "back to a folder above"),
        ProblemKind::Special => ("special file", "(pipe, socket or device)"),
        ProblemKind::Changed => ("document", "changed between two readings"),
        ProblemKind::Decoded => ("text", "not in UTF-8, decoded from an encoding that was guessed"),
        ProblemKind::Replaced => ("text", "with invalid bytes or escapes, each replaced by U+FFFD"),
        ProblemKind::Incomplete => ("incomplete page", "read as far as possible"),
        ProblemKind::MissingColumn => ("file", "without some of the columns of the text"),
        ProblemKind::RepeatedColumn => ("file", "with several columns of one name"),
        ProblemKind::MainText => ("page", "without a recognised main text"),
        ProblemKind::Rank => ("record", "with a value that ranks nothing"),
    }
}

/// Whether a file has none of the columns of texts.
fn lacks_column(problem: &Problem) -> bool {
    problem.kind == ProblemKind::Header && problem.message.starts_with("no text column")
}

impl Problems {
    /// Problems that are also written to a file.
    pub fn with_rejects(rejects: Option<Rejects>) -> Self {
        Problems { rejects, ..Problems::default() }
    }

    /// Counts a problem. Returns whether it should be printed.
    pub fn add(&self, problem: &Problem) -> bool {
        if let Some(rejects) = self.rejects.as_ref().filter(|_| problem.kind.is_rejection()) {
            rejects.add(problem);
        }
        match problem.severity {
            Severity::Failed if problem.is_bad_record() => {
                self.bad_records.fetch_add(problem.records, Ordering::Relaxed)
            }
            Severity::Failed => self.other_failures.fetch_add(problem.records, Ordering::Relaxed),
            _ => 0,
        };
        if problem.kind == ProblemKind::Header {
            self.without_column.fetch_add(1, Ordering::Relaxed);
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.entry((problem.severity, problem.kind)).or_default().add(problem)
    }

    /// The number of bad records, if all of these failures are bad records.
    pub fn all_bad_records(&self, failed: u64) -> Option<u64> {
        let [bad, others] = [&self.bad_records, &self.other_failures].map(|number| number.load(Ordering::Relaxed));
        (others == 0 && failed <= bad).then_some(bad)
    }

    /// A number of failures, in words that name those of whole files.
    pub fn failed(&self, failed: u64) -> String {
        let whole = self.without_column.load(Ordering::Relaxed).min(failed);
        let files = match (whole, failed) {
            (0, _) => String::new(),
            (1, 1) => " (a whole file without a column of texts)".into(),
            (1, _) => " (1 of them a whole file without a column of texts)".into(),
            (whole, _) if whole == failed => " (whole files without a column of texts)".into(),
            (whole, _) => format!(" ({} of them whole files without a column of texts)", count(whole)),
        };
        format!("{} failed{files}", count(failed))
    }

    /// The number of unprinted problems of each kind, a line each. Resets the counts.
    pub fn unprinted(&self) -> Vec<(Severity, ProblemKind, String)> {
        let counted = std::mem::take(&mut *self.counted.lock().unwrap_or_else(PoisonError::into_inner));
        let is_more =
            |((_, kind), counted): &((_, _), Counted)| *kind == ProblemKind::JsonArray || counted.unprinted() > 0;
        let more = counted.into_iter().filter(is_more);
        more.map(|((severity, kind), counted)| {
            let Counted { total, lacking, .. } = counted;
            if kind == ProblemKind::JsonArray {
                let files = if total == 1 {
                    "1 file is a JSON array"
                } else {
                    &format!("{} files are JSON arrays", count(total))
                };
                let advice = "jq -c '.[]' FILE > FILE.jsonl makes JSON lines of one, --format text reads it as text";
                return (severity, kind, format!("{files}: {advice}"));
            }
            if kind == ProblemKind::NeedsProgram {
                let documents = counted_noun(total, "PDF or office document");
                let list = if self.rejects.is_none() { ", or use --rejects FILE to list them" } else { "" };
                let advice = "read them through a program with --pre (see dedup help formats)";
                return (severity, kind, format!("{documents}: {advice}{list}"));
            }
            let advice = match self.rejects {
                None if kind.is_rejection() => " (use --rejects FILE to list all)",
                _ => "",
            };
            let more = counted.unprinted();
            let noun = |noun: &str| format!("{} more {noun}{}", count(more), if more == 1 { "" } else { "s" });
            let line = match more == lacking {
                true if kind == ProblemKind::Header => format!("{} without a text column{advice}", noun("file")),
                true => format!("{} without a text field{advice}", noun("record")),
                false => {
                    let (what, which) = in_words(kind);
                    format!("{} {which}{advice}", noun(what))
                }
            };
            (severity, kind, line)
        })
        .collect()
    }

    /// Keeps apart the rejected records so far: the next time, only these are [flushed](Self::flush).
    pub fn keep_apart(&self) {
        if let Some(rejects) = &self.rejects {
            rejects.keep_apart();
        }
    }

    /// Flushes the file of rejected records, if it is appended to.
    ///
    /// # Errors
    /// It could not be written.
    pub fn flush(&self) -> Result<(), Error> {
        self.rejects.as_ref().map_or(Ok(()), Rejects::flush)
    }

    /// Opens the file of rejected records again under its name, if it is appended to.
    ///
    /// # Errors
    /// It cannot be written. Records then go where they went before.
    pub fn reopen(&self) -> Result<(), Error> {
        self.rejects.as_ref().map_or(Ok(()), Rejects::reopen)
    }

    /// Completes the file of rejected records. A run that failed and rejected none leaves an older file as it is.
    ///
    /// # Errors
    /// It could not be written.
    pub fn finish(&self, has_failed: bool) -> Result<(), Error> {
        self.rejects.as_ref().map_or(Ok(()), |rejects| rejects.finish(has_failed))
    }
}

/// The file of `--rejects`: one line for each rejected record, in input order.
pub struct Rejects {
    path: PathBuf,
    /// The first error ends the file.
    out: Mutex<io::Result<Out>>,
}

/// What was added and not written yet, and where it goes.
struct Out {
    target: Target,
    lines: Vec<u8>,
    /// The number of bytes of `lines` that are written next, if not all.
    apart: Option<usize>,
    /// Whether lines wait until they are flushed, because they belong to records that have not left.
    waits: bool,
}

impl Out {
    /// Writes the lines, or those that are kept apart.
    fn flush(&mut self) -> io::Result<()> {
        let bytes = self.apart.take().unwrap_or(self.lines.len());
        self.target.write_all(&self.lines[..bytes])?;
        self.lines.drain(..bytes);
        self.target.flush()
    }
}

enum Target {
    /// A file that is appended to, a pipe or a device.
    Direct(File),
    /// Lines until the end of the run, when they replace this file. They have no name until then, so that a run that is killed leaves
    /// nothing.
    Held(SpooledTempFile, PathBuf),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Direct(file) => file.write(bytes),
            Target::Held(lines, _) => lines.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Direct(file) => file.flush(),
            Target::Held(lines, _) => lines.flush(),
        }
    }
}

/// The number of bytes of lines that are written at once, if they do not wait.
const AT_ONCE: usize = 1 << 13;

/// The maximum size of the lines that are held in memory, in bytes.
const HELD: usize = 1 << 20;

/// The start of a line.
const START: &[u8] = b"{\"type\":\"rejected\",";

impl Rejects {
    /// Creates a file that replaces an older one at the end of the run.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let opened = match path.metadata() {
            Ok(found) if !found.is_file() => File::options().write(true).open(path).map(Target::Direct),
            found => replacement(path, found.is_ok()).map(|new| {
                let target = new.target();
                let folder = target.parent().expect("it is the absolute path of a file");
                Target::Held(SpooledTempFile::new_in(HELD, folder), target.to_path_buf())
            }),
        };
        Self::new(path, opened, false)
    }

    /// Opens a file for appending, for runs without an end. Lines wait until they are flushed.
    ///
    /// # Errors
    /// It cannot be written, or has another writer.
    pub fn append(path: &Path) -> Result<Self, Error> {
        Self::new(path, open_to_append(path, START).map(|(file, _)| Target::Direct(file)), true)
    }

    fn new(path: &Path, opened: io::Result<Target>, waits: bool) -> Result<Self, Error> {
        let target = opened.map_err(|error| cannot_write(path, error))?;
        let out = Out { target, lines: Vec::new(), apart: None, waits };
        Ok(Rejects { path: path.to_path_buf(), out: Mutex::new(Ok(out)) })
    }

    fn add(&self, problem: &Problem) {
        let error = spelling::of_problem(problem);
        let mut writer = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(out) = &mut *writer else { return };
        let mut added = write_rejected(problem, &error, &mut out.lines);
        if !out.waits && out.lines.len() >= AT_ONCE {
            added = added.and_then(|()| out.flush());
        }
        if let Err(error) = added {
            *writer = Err(error);
        }
    }

    /// Keeps apart the lines so far: the next time, only these are [flushed](Self::flush).
    fn keep_apart(&self) {
        let mut writer = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(out) = &mut *writer {
            out.apart = Some(out.lines.len());
        }
    }

    /// Flushes the added lines, or those that were [kept apart](Self::keep_apart). They can be read now, unless the file replaces another at
    /// the end.
    fn flush(&self) -> Result<(), Error> {
        let mut writer = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let flushed = match &mut *writer {
            Ok(out) => out.flush(),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        };
        if let Err(error) = &flushed {
            // A part of a line may be written: nothing may follow it.
            *writer = Err(io::Error::new(error.kind(), error.to_string()));
        }
        flushed.map_err(|error| cannot_write(&self.path, error))
    }

    /// Opens the file again, if another has taken its place, or none. A pipe stays open.
    fn reopen(&self) -> Result<(), Error> {
        let mut writer = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(out) = &mut *writer else { return Ok(()) };
        let Target::Direct(file) = &out.target else { return Ok(()) };
        if !file.metadata().is_ok_and(|found| found.is_file()) || is_at(file, &self.path) {
            return Ok(());
        }
        let (file, _) = reopened(&self.path, START)?;
        out.target = Target::Direct(file);
        Ok(())
    }

    /// Completes the file. A run that failed and rejected none leaves an older file as it is: it may have been refused, by a typo.
    fn finish(&self, has_failed: bool) -> Result<(), Error> {
        if let Ok(out) = &mut *self.out.lock().unwrap_or_else(PoisonError::into_inner) {
            // After an error also those of records that have not left: a line that comes again is better than none.
            out.apart = None;
        }
        self.flush()?;
        let mut writer = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let replaced = match writer.as_mut().map(|out| &mut out.target) {
            Ok(Target::Held(lines, target)) => lines.stream_position().and_then(|end| {
                if has_failed && end == 0 && target.exists() {
                    return Ok(());
                }
                lines.rewind()?;
                let mut new = Replacement::new(target)?;
                io::copy(lines, new.file())?;
                new.commit()
            }),
            _ => Ok(()),
        };
        replaced.map_err(|error| cannot_write(&self.path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use neardups::source::Place;

    fn problem(kind: ProblemKind, line: u64, message: &str) -> Problem {
        let mut problem = Problem::at(Place { path: "a".into(), line: Some(line) }, Severity::Failed, kind, message);
        problem.lacks_field = message.starts_with("no field");
        problem
    }

    /// Which of these are printed, and what is at the end.
    fn printed(problems: &[(ProblemKind, &str)]) -> (Vec<u64>, Vec<String>) {
        let all = Problems::default();
        let lines = (1..).zip(problems).filter(|(line, (kind, message))| all.add(&problem(*kind, *line, message)));
        let lines = lines.map(|(line, _)| line).collect();
        (lines, all.unprinted().into_iter().map(|(.., line)| line).collect())
    }

    /// A pipe that is full takes a part of a line. Once it has room again, nothing follows that part.
    #[cfg(unix)]
    #[test]
    fn nothing_follows_a_line_that_was_written_in_part() {
        use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
        use std::io::Read;
        use std::os::fd::OwnedFd;
        let (mut reader, writer) = io::pipe().unwrap();
        let writer = OwnedFd::from(writer);
        fcntl_setfl(&writer, fcntl_getfl(&writer).unwrap() | OFlags::NONBLOCK).unwrap();
        let rejects = Rejects::new(Path::new("rejects"), Ok(Target::Direct(File::from(writer))), true).unwrap();
        let message = "x".repeat(1_000);
        (1..=2_000).for_each(|line| rejects.add(&problem(ProblemKind::Json, line, &message)));
        let error = rejects.flush().unwrap_err().to_string();
        let mut taken = vec![0; 4 << 20];
        let count = reader.read(&mut taken).unwrap();
        assert!(count > 0 && taken[count - 1] != b'\n', "{count} bytes are no part of a line");
        rejects.add(&problem(ProblemKind::Json, 2_001, "after it"));
        let ends = [rejects.flush(), rejects.finish(true)].map(|ended| ended.unwrap_err().to_string());
        assert_eq!(ends, [error.clone(), error]);
        drop(rejects);
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty(), "{} bytes follow", rest.len());
    }

    #[test]
    fn whole_files_are_named_among_failures() {
        let failed = |headers: u64, failed: u64| {
            let all = Problems::default();
            (0..headers).for_each(|_| _ = all.add(&problem(ProblemKind::Header, 1, "no text column 'a'")));
            all.add(&problem(ProblemKind::Json, 2, "no object"));
            all.failed(failed)
        };
        assert_eq!(failed(0, 1_000), "1,000 failed");
        assert_eq!(failed(1, 1), "1 failed (a whole file without a column of texts)");
        assert_eq!(failed(1, 2), "2 failed (1 of them a whole file without a column of texts)");
        assert_eq!(failed(2, 2), "2 failed (whole files without a column of texts)");
        assert_eq!(failed(2, 3), "3 failed (2 of them whole files without a column of texts)");
    }

    #[test]
    fn what_was_not_printed_is_named() {
        let end = |kind| printed(&[(kind, "a"); 12]).1;
        assert_eq!(end(ProblemKind::Replaced), ["2 more texts with invalid bytes or escapes, each replaced by U+FFFD"]);
        let decoded = "2 more texts not in UTF-8, decoded from an encoding that was guessed";
        assert_eq!(end(ProblemKind::Decoded), [decoded]);
        let list = "(use --rejects FILE to list all)";
        let encoding = format!("2 more texts of which too much is not UTF-8 to compare it {list}");
        assert_eq!(end(ProblemKind::Encoding), [encoding]);
        assert_eq!(end(ProblemKind::Rank), ["2 more records with a value that ranks nothing"]);
        assert_eq!(end(ProblemKind::Json), [format!("2 more lines without a JSON object {list}")]);
    }

    #[test]
    fn the_same_field_is_missed_once() {
        use ProblemKind::{Json, Text};
        let missing = [(Text, "no field a"); 30];
        let list = "(use --rejects FILE to list all)";
        assert_eq!(printed(&missing), (vec![1], vec![format!("29 more records without a text field {list}")]));
        assert_eq!(printed(&missing[..2]).1, [format!("1 more record without a text field {list}")]);
        assert_eq!(printed(&missing[..1]), (vec![1], vec![]));
        // Others are not hidden by them.
        let mut mixed = missing.to_vec();
        mixed.extend([
            (Text, "no field b"),
            (Text, "a number"),
            (Text, "a number"),
            (Json, "no object"),
            (Text, "no field b"),
        ]);
        assert_eq!(
            printed(&mixed),
            (vec![1, 31, 32, 33, 34], vec![format!("30 more records without a text field {list}")])
        );
        mixed.extend([(Text, "a number"); 7]);
        let (lines, end) = printed(&mixed);
        assert_eq!(lines, [1, 31, 32, 33, 34, 36, 37, 38, 39, 40, 41]);
        assert_eq!(end, [format!("31 more records without a usable text {list}")]);
        // Records with other fields each are limited like any.
        let names: Vec<String> = (0..12).map(|name| format!("no field, but {name}")).collect();
        let others: Vec<(ProblemKind, &str)> = names.iter().map(|name| (Text, &**name)).collect();
        assert_eq!(printed(&others), ((1..=10).collect(), vec![format!("2 more records without a text field {list}")]));
    }
}
