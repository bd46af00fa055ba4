//! Messages, warnings and the progress bar, all on standard error.

use super::preparation::Tokenization;
use super::problems::{Problems, Rejects};
use super::spelling;
use super::status::Status;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use neardups::algorithm::{Row, Value};
use neardups::engine::{Estimate, Observer, Report, Stage};
use neardups::source::{Problem, ProblemKind, Severity};
use neardups::{Error, ErrorKind};
use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use crate::readable::{count, counted, escaped, escaped_lines};

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// Reports the error that ends the program: its kind, then the message.
pub fn error(error: &Error) {
    print_error(error.kind(), &spelling::of_error(error));
}

/// As [`error`], for `check`: in its messages on the request, backticks quote `dedup.toml`.
pub fn error_of_check(error: &Error) {
    match error {
        Error::Usage(message) => print_error(error.kind(), message),
        error => self::error(error),
    }
}

/// Reports that a signal ended the program.
pub fn stopped(message: &str) {
    print_line(Styled::label(RED, "error:").text(&format!(" signal: {message}")));
}

fn print_error(kind: ErrorKind, message: &str) {
    print_line(Styled::label(RED, "error:").text(&format!(" {}: {message}", kind.name())));
}

/// Reports an error in the command line. Unlike others, the message may have several lines.
pub fn usage(message: &str) {
    let mut text = Styled::label(RED, "error:");
    text = text.text(&format!(" {}: ", ErrorKind::Usage.name()));
    for (number, line) in message.split('\n').enumerate() {
        text = if number > 0 { text.end_line() } else { text }.text(line);
    }
    print_line(text);
}

/// Prints a line to standard error. A failure is ignored: it cannot be reported anywhere.
fn print_line(line: Styled) {
    let _ = writeln!(anstream::stderr(), "dedup: {line}");
}

/// Text for people. Added text is escaped, so that only styles and line ends of the program itself reach a terminal.
#[derive(Debug, Default)]
pub struct Styled(String);

impl Styled {
    fn label(style: Style, label: &str) -> Self {
        Styled::default().styled(style, label)
    }

    /// Appends text with control and bidirectional characters escaped, including line ends; for chaining.
    pub fn text(mut self, text: &str) -> Self {
        self.push(text);
        self
    }

    /// Appends text with a style; for chaining.
    pub fn styled(mut self, style: Style, text: &str) -> Self {
        self.open(style);
        self.push(text);
        self.close(style);
        self
    }

    /// Ends the line; for chaining.
    pub fn end_line(mut self) -> Self {
        self.0.push('\n');
        self
    }

    /// Appends text, escaped.
    pub fn push(&mut self, text: &str) {
        self.0.push_str(&escaped(text));
    }

    /// Starts a style.
    pub fn open(&mut self, style: Style) {
        _ = write!(self.0, "{style}");
    }

    /// Ends a style.
    pub fn close(&mut self, style: Style) {
        _ = write!(self.0, "{style:#}");
    }
}

impl fmt::Display for Styled {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Describes the algorithm that ran, its tokens and its parameters. `tokens` are the requested ones.
pub fn what_ran(report: &Report, tokens: &Tokenization) -> String {
    let median = report.median_tokens as u64;
    // The algorithm may choose another tokenizer for short documents.
    let tokenizer = match &report.tokenizer {
        Some(chosen) if tokens.by_length.is_some() => {
            let chosen = chosen.split(", ").next().unwrap_or(chosen);
            format!("{chosen} tokens (by the median of {} a document", counted(median, "word"))
        }
        Some(chosen) => format!("{chosen} tokens (the documents are short: median {}", counted(median, "word")),
        None => format!("{} tokens (median {} a document", tokens.name, count(median)),
    };
    let prepared = tokens.prepared.as_ref().map(|prepared| format!("; {prepared}")).unwrap_or_default();
    format!("{} on {tokenizer}{prepared}): {}", report.algorithm, listed(&report.parameters))
}

/// The same for an index, which decides one document after the other: nothing is chosen by their median length.
pub fn what_ran_by_index(algorithm: &str, parameters: &[Row], tokens: &Tokenization) -> String {
    let prepared = tokens.prepared.as_ref().map(|prepared| format!("; {prepared}")).unwrap_or_default();
    format!("{algorithm} on {} tokens (whatever their number{prepared}): {}", tokens.name, listed(parameters))
}

fn listed(parameters: &[Row]) -> String {
    let shown = parameters.iter().map(|row| format!("{} {}", row.name.replace('_', " "), short(&row.value)));
    shown.collect::<Vec<_>>().join(", ")
}

/// The value of a parameter for people, to four decimals.
fn short(value: &Value) -> String {
    match value {
        Value::Decimal(number) => ((number * 1e4).round() / 1e4).to_string(),
        value => value.to_string(),
    }
}

/// A number of bytes, for people.
pub fn bytes(n: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut n = n;
    let mut unit = 0;
    while n >= 1024.0 && unit + 1 < units.len() {
        n /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n:.0} B") } else { format!("{n:.1} {}", units[unit]) }
}

/// Shows messages and progress, unless it is quiet.
pub struct Terminal {
    quiet: bool,
    /// Its position is in bytes of the files, as they are: compressed or not.
    bar: ProgressBar,
    /// The bytes of this stage without compression.
    unpacked: Arc<AtomicU64>,
    /// The most of an earlier stage.
    most_unpacked: AtomicU64,
    problems: Problems,
    /// `--max-bad`.
    max_bad: u64,
    /// Values that rank nothing, reported so far.
    unranked: AtomicU64,
    /// The warnings so far, printed or not.
    warnings: Mutex<Vec<String>>,
}

impl Terminal {
    /// `total` is the number of bytes to read, if known. The bar shows only on a terminal.
    pub fn new(quiet: bool, total: Option<u64>) -> Self {
        let unpacked = Arc::new(AtomicU64::new(0));
        let style = |template| {
            let (of_amount, of_speed) = (Arc::clone(&unpacked), Arc::clone(&unpacked));
            style(template)
                .with_key("amount", move |state: &ProgressState, out: &mut dyn fmt::Write| {
                    _ = out.write_str(&bytes(state.pos().max(of_amount.load(Ordering::Relaxed)) as f64));
                })
                .with_key("speed", move |state: &ProgressState, out: &mut dyn fmt::Write| {
                    _ = out.write_str(&speed(state.per_sec(), state.pos(), of_speed.load(Ordering::Relaxed)));
                })
        };
        let bar = match total {
            Some(total) => ProgressBar::new(total)
                .with_style(style("{msg:9} {wide_bar} {bytes:>10} of {total_bytes} {speed:>12} {eta:>4} left")),
            None => ProgressBar::no_length().with_style(style("{msg:9} {spinner} {amount:>10} {speed:>12}")),
        };
        bar.set_draw_target(if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) });
        let (most_unpacked, problems, max_bad, unranked, warnings) = Default::default();
        Terminal { quiet, bar, unpacked, most_unpacked, problems, max_bad, unranked, warnings }
    }

    /// How much was read in how many seconds, for a summary: `read` bytes of the files.
    pub fn cost(&self, read: u64, seconds: f64) -> String {
        cost(read, self.decoded(read), seconds)
    }

    /// The bytes of `read` bytes of the files without compression, in UTF-8; no fewer.
    pub fn decoded(&self, read: u64) -> u64 {
        // No stage reads anything twice.
        read.max(self.unpacked.load(Ordering::Relaxed)).max(self.most_unpacked.load(Ordering::Relaxed))
    }

    /// How many values that `--keep` cannot go by were reported.
    pub fn unranked(&self) -> u64 {
        self.unranked.load(Ordering::Relaxed)
    }

    /// Shows no progress.
    pub fn without_bar(self) -> Self {
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        self
    }

    /// Also writes rejected records to a file.
    pub fn with_rejects(self, rejects: Option<Rejects>) -> Self {
        Terminal { problems: Problems::with_rejects(rejects), ..self }
    }

    /// Accepts this number of bad records: [`status_of`](Self::status_of) then ignores them.
    pub fn with_max_bad(self, max_bad: u64) -> Self {
        Terminal { max_bad, ..self }
    }

    /// The status of a run that did its work, of whose input this number of records and files failed.
    pub fn status_of(&self, failed: u64) -> Status {
        match self.problems.all_bad_records(failed) {
            Some(bad) if bad <= self.max_bad => Status::Done,
            _ => Status::of_input(failed),
        }
    }

    /// The same, at the end of the run. Reports what `--max-bad` decides.
    pub fn end_with(&self, failed: u64) -> Status {
        let status = self.status_of(failed);
        if failed > 0 && self.max_bad > 0 {
            let max_bad = self.max_bad;
            match (self.problems.all_bad_records(failed), status) {
                (Some(bad), Status::Done) => {
                    self.line(&format!(
                        "{}, within --max-bad {max_bad}: the exit status is 0",
                        counted(bad, "bad record")
                    ));
                }
                (Some(bad), _) => {
                    self.failed(&format!("{}, more than --max-bad {max_bad}", counted(bad, "bad record")))
                }
                (None, _) => self.line("not only single records failed, so that --max-bad does not apply"),
            }
        }
        status
    }

    /// Keeps apart the rejected records so far: the next time, only these are [flushed](Self::flush_rejects).
    pub fn keep_rejects_apart(&self) {
        self.problems.keep_apart();
    }

    /// Flushes the file of rejected records, if it is appended to.
    ///
    /// # Errors
    /// It could not be written.
    pub fn flush_rejects(&self) -> Result<(), Error> {
        self.problems.flush()
    }

    /// Opens the file of rejected records again under its name.
    ///
    /// # Errors
    /// It cannot be written. Records then go where they went before.
    pub fn reopen_rejects(&self) -> Result<(), Error> {
        self.problems.reopen()
    }

    /// Completes the file of rejected records, whether the run failed or not.
    ///
    /// # Errors
    /// That of the run, or the file could not be written.
    pub fn finish_rejects<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        match (self.problems.finish(result.is_err()), result) {
            (Err(failure), Err(reason)) => {
                error(&failure);
                Err(reason)
            }
            (Err(failure), Ok(_)) => Err(failure),
            (Ok(()), result) => result,
        }
    }

    /// Whether only failures are shown.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints a line.
    pub fn line(&self, line: &str) {
        self.unless_quiet(Styled::default().text(line));
    }

    /// Reports that something could not be read, also if quiet: it is the reason of the status.
    pub fn failed(&self, message: &str) {
        self.bar.suspend(|| print_line(Styled::label(RED, "failed:").text(" ").text(message)));
    }

    /// A number of failures, in words that name those of whole files.
    pub fn failures(&self, failed: u64) -> String {
        self.problems.failed(failed)
    }

    /// The warnings so far, in order, whether they were printed or not.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Prints a warning, as it is, unless it is quiet.
    pub fn warning(&self, message: &str) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_string());
        self.unless_quiet(Styled::label(YELLOW, "warning:").text(" ").text(message));
    }

    fn unless_quiet(&self, line: Styled) {
        if !self.quiet {
            self.bar.suspend(|| print_line(line));
        }
    }

    /// Removes the bar, and reports the number of problems that were not printed.
    pub fn done(&self) {
        self.bar.finish_and_clear();
        for (severity, kind, message) in self.problems.unprinted() {
            self.print_problem(severity, kind, &message);
        }
    }

    fn print_problem(&self, severity: Severity, kind: ProblemKind, message: &str) {
        match severity {
            // The text that is there was read as it is.
            Severity::Repaired if kind.is_about_columns() => self.warning(message),
            Severity::Deferred | Severity::FellBack => {}
            Severity::Failed => self.failed(message),
            Severity::Skipped => self.line(&format!("skipped: {message}")),
            Severity::Repaired => self.unless_quiet(Styled::label(YELLOW, "repaired:").text(&format!(" {message}"))),
        }
    }
}

/// How much was read in how many seconds: `read` bytes of files, which are `unpacked` bytes without compression, in UTF-8.
fn cost(read: u64, unpacked: u64, seconds: f64) -> String {
    let speed = speed(read as f64 / seconds.max(1e-9), read, unpacked);
    let without = if unpacked > read { format!(" ({} decoded)", bytes(unpacked as f64)) } else { String::new() };
    format!("{}{without} in {seconds:.2} s ({speed})", bytes(read as f64))
}

/// A speed in bytes without compression, in UTF-8, from that in bytes of files and both numbers of bytes so far.
fn speed(files_per_second: f64, read: u64, unpacked: u64) -> String {
    if unpacked <= read {
        return format!("{}/s", bytes(files_per_second));
    }
    format!("{}/s decoded", bytes(files_per_second * unpacked as f64 / read.max(1) as f64))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is well formed")
}

impl Observer for Terminal {
    fn stage(&self, stage: Stage) {
        self.most_unpacked.fetch_max(self.unpacked.load(Ordering::Relaxed), Ordering::Relaxed);
        self.bar.set_message(match stage {
            Stage::Counting => "counting",
            Stage::Reading => "reading",
            Stage::ReadingAgain | Stage::Rereading => "rereading",
            Stage::Grouping => "grouping",
            Stage::Verifying => "verifying",
            Stage::Writing => "writing",
        });
        match stage {
            Stage::Counting | Stage::Reading | Stage::ReadingAgain | Stage::Rereading | Stage::Writing => {
                self.bar.set_position(0);
                self.unpacked.store(0, Ordering::Relaxed);
            }
            // It takes a thread, also for a bar that is not shown.
            Stage::Grouping | Stage::Verifying if self.bar.is_hidden() => {}
            Stage::Grouping | Stage::Verifying => self.bar.enable_steady_tick(Duration::from_millis(125)),
        }
    }

    fn progress(&self, bytes: u64, _documents: u64) {
        self.bar.inc(bytes);
    }

    fn unpacked(&self, bytes: u64) {
        self.unpacked.fetch_add(bytes, Ordering::Relaxed);
    }

    fn estimate(&self, estimate: &Estimate) {
        if estimate.spills {
            self.line(&format!(
                "about {}: {} in memory, and {} of keys in a temporary file because of --memory",
                counted(estimate.documents, "document"),
                bytes(estimate.memory as f64),
                bytes(estimate.keys as f64),
            ));
        }
    }

    fn many_pairs(&self, most: u64) {
        self.line(&format!(
            "up to {} pairs may be near-duplicates; a scan with --emit verdicts, --emit clusters or --emit kept compares far fewer",
            count(most)
        ));
    }

    fn problem(&self, problem: &Problem) {
        if problem.kind == ProblemKind::Rank {
            self.unranked.fetch_add(1, Ordering::Relaxed);
        }
        if self.problems.add(problem) {
            let message = format!("{}: {}", problem.place, spelling::of_problem(problem));
            self.print_problem(problem.severity, problem.kind, &message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readable::controls_display;
    use proptest::prelude::*;

    #[test]
    fn bytes_for_people() {
        assert_eq!([17.0, 1536.0, 3e9, 6e15, 2e19].map(bytes), ["17 B", "1.5 KiB", "2.8 GiB", "5.3 PiB", "17.3 EiB"]);
    }

    #[test]
    fn a_speed_is_that_without_compression() {
        assert_eq!(speed(2e6, 100, 100), "1.9 MiB/s");
        assert_eq!(speed(2e6, 100, 90), "1.9 MiB/s");
        assert_eq!(speed(2e6, 100, 500), "9.5 MiB/s decoded");
        assert_eq!(speed(0.0, 0, 0), "0 B/s");
        assert_eq!(speed(0.0, 0, 5), "0 B/s decoded");
        assert_eq!(cost(2048, 2048, 2.0), "2.0 KiB in 2.00 s (1.0 KiB/s)");
        assert_eq!(cost(2048, 8192, 2.0), "2.0 KiB (8.0 KiB decoded) in 2.00 s (4.0 KiB/s decoded)");
        assert_eq!(cost(0, 0, 0.0), "0 B in 0.00 s (0 B/s)");
    }

    proptest! {
        #[test]
        fn only_own_styles_and_line_ends_are_left(text: String, more in "[a\u{1b}\u{7}\u{9b}\u{202e}\u{2066}\\[0m\n]*") {
            for text in [text, more] {
                let styled = Styled::label(RED, &text).text(&text).end_line().text(&text).to_string();
                let expected = format!("{RED}{0}{RED:#}{0}\n{0}", escaped(&text));
                prop_assert_eq!(styled, expected);
                prop_assert!(!escaped(&text).contains(controls_display));
                prop_assert_eq!(escaped(&escaped(&text)), escaped(&text));
            }
        }
    }
}
