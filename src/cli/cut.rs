//! `dedup passages` that writes a corpus: without the passages that stand earlier.

use super::arguments::passages::{Arguments, Emit, Unit};
use super::input::{failed_in_copy, failed_with, report_interrupted};
use super::spelling::{of_rejection, spelled};
use super::status::usage_error;
use super::terminal::{Terminal, bytes, count, counted};
use neardups::Error;
use neardups::clean::{self, CleanOptions, Cleaned, CutReport, OnError, cut_passages};
use neardups::passages::{CutCounts, CutOptions, CutUnit, PassageOptions};
use neardups::source::{Input, ReadOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is cut, and where the rest is written.
pub struct CutRequest {
    /// The folder; standard output without one.
    pub output: Option<PathBuf>,
    cut: CutOptions,
    pub options: CleanOptions,
}

impl CutRequest {
    /// Resolves the arguments; `None` if nothing is cut.
    ///
    /// # Errors
    /// They contradict each other.
    pub fn resolve(arguments: &Arguments, source: &ReadOptions) -> Result<Option<Self>, Error> {
        let Arguments { output, keep, unit, max_cut, on_error, emit, is_emit_typed, max_places, .. } = arguments;
        if output.is_some() && *is_emit_typed && *emit != Emit::Kept {
            return Err(usage_error(
                "--output writes the corpus without passages: leave --emit out, or use --emit kept",
            ));
        }
        if output.is_none() && *emit != Emit::Kept {
            let typed = [
                (keep.is_some(), "--keep"),
                (unit.is_some(), "--unit"),
                (max_cut.is_some(), "--max-cut"),
                (on_error.is_typed, "--on-error"),
            ];
            return match typed.iter().find(|(is_typed, _)| *is_typed) {
                None => Ok(None),
                Some((_, flag)) => {
                    let why = "has an effect only on what is cut: add --output DIR or --emit kept";
                    Err(usage_error(format!("{flag} {why}")))
                }
            };
        }
        refuse_standard_input(arguments)?;
        if max_places.is_typed {
            return Err(usage_error("--max-places has no effect on what is cut: every place is"));
        }
        let unit = match unit {
            Some(Unit::Part(unit)) => *unit,
            // Whole documents are left out without a cut: `WholeRequest`.
            None | Some(Unit::Document) => CutUnit::default(),
        };
        let cut = CutOptions { keep: keep.unwrap_or_default(), unit, max_cut: *max_cut };
        Ok(Some(CutRequest { output: output.clone(), cut, options: clean_options(arguments, source) }))
    }

    /// Writes records to standard output. The second result is their number, or why they were not all written.
    ///
    /// # Errors
    /// Those of [`clean::write_cut`].
    pub fn write_stream(
        &self,
        input: &mut Input,
        reference: &mut Option<Input>,
        passages: &PassageOptions,
        terminal: &Terminal,
    ) -> Result<(CutReport, Result<u64, Error>), Error> {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout());
        let (report, written) =
            clean::write_cut(input, reference, passages, &self.cut, &self.options, terminal, &mut out)?;
        let written = written.and_then(|records| {
            out.flush().map_err(|error| Error::output("cannot write results", error))?;
            Ok(records)
        });
        Ok((report, written))
    }

    /// Writes files to the folder.
    ///
    /// # Errors
    /// Those of [`cut_passages`].
    pub fn write_folder(
        &self,
        paths: &[PathBuf],
        passages: &PassageOptions,
        terminal: &Terminal,
    ) -> Result<Cleaned, Error> {
        let folder = self.output.as_deref();
        let options = CleanOptions { warnings: terminal.warnings(), ..self.options.clone() };
        let cleaned = cut_passages(paths, folder, passages, &self.cut, &options, terminal);
        terminal.done();
        report_interrupted(terminal, folder, &cleaned);
        cleaned
    }
}

/// Refuses standard input where files are written.
///
/// # Errors
/// It is read.
pub fn refuse_standard_input(arguments: &Arguments) -> Result<(), Error> {
    let is_standard = |path: &PathBuf| path.as_os_str() == "-";
    let reads_standard =
        arguments.paths.is_empty() || arguments.paths.iter().chain(&arguments.against).any(is_standard);
    if arguments.output.is_some() && reads_standard {
        let why = "standard input (-) cannot be written back to a folder: name files or folders (--emit kept writes to standard output)";
        return Err(usage_error(why));
    }
    Ok(())
}

/// The options of what is written.
pub fn clean_options(arguments: &Arguments, source: &ReadOptions) -> CleanOptions {
    CleanOptions {
        source: source.clone(),
        against: arguments.against.clone(),
        on_error: arguments.on_error.value.into(),
        allow_empty: arguments.input.allow_empty,
        worded: |warning| spelled(warning).into_owned(),
        worded_problem: |message| of_rejection(message).into_owned(),
        ..CleanOptions::default()
    }
}

/// How much was cut, in words as in the lines of `removed.jsonl`.
pub fn cut_in_words(cuts: &CutCounts) -> String {
    let &CutCounts { cut_documents, cut_words, cuts, left_out, left_out_words, .. } = cuts;
    let mut what = format!(
        "{} cut at {} in {}",
        counted(cut_words, "word"),
        counted(cuts, "place"),
        counted(cut_documents, "document")
    );
    if left_out > 0 {
        what += &format!("; {} with {} left out", counted(left_out, "document"), counted(left_out_words, "word"));
    }
    what
}

/// What happens to files of which no copy without what is cut, or without records, can be made.
const STAYS_WHOLE: &str = "files of which no copy without what is left out can be made are copied whole";

/// Prints what was written to the folder.
/// `listed` is what `removed.jsonl` lists.
pub fn summarise_folder(
    terminal: &Terminal,
    (folder, on_error): (&Path, OnError),
    cleaned: &Cleaned,
    listed: &str,
    started: Instant,
) {
    let failed = match cleaned.failed {
        refused if refused == cleaned.refused => failed_with(terminal, refused, STAYS_WHOLE, Some(folder)),
        failed => failed_in_copy(terminal, (failed, 0), on_error, Some(folder)),
    };
    let report_failed = || failed.iter().for_each(|line| terminal.line(line));
    let (shown, own) = (folder.display(), folder.join("_dedup"));
    let Cleaned { files, records, removed, damaged, .. } = *cleaned;
    if cleaned.was_complete {
        terminal.line(&format!("{shown} is the whole output of this run already: nothing to do"));
        return report_failed();
    }
    let all = format!("{} in {}", counted(records, "record"), counted(files, "file"));
    terminal.line(&format!("{all}: {} left out, {} kept", count(removed), count(records - removed)));
    let continued = match cleaned.files_continued {
        0 => String::new(),
        n => format!(", {} of them by the run that was interrupted", count(n)),
    };
    let (written, size) = (counted(cleaned.files_written, "file"), bytes(cleaned.bytes_written as f64));
    let (seconds, list) = (started.elapsed().as_secs_f64(), own.join("removed.jsonl"));
    terminal
        .line(&format!("{written} ({size}) in {shown}{continued}, {seconds:.2} s; {} lists {listed}", list.display()));
    if damaged > 0 {
        let files =
            if damaged == 1 { "1 damaged file is".into() } else { format!("{} damaged files are", count(damaged)) };
        terminal.line(&format!("{files} copied whole: summary.json names each"));
    }
    report_failed();
    if (1..cleaned.failed).contains(&cleaned.refused) {
        terminal.line(&format!("{} of these: {STAYS_WHOLE}", count(cleaned.refused)));
    }
}
