//! What people see: messages, warnings, the progress bar, all on standard error.

use super::arguments::{bytes, count, counted};
use super::preparation::Described;
use super::problems::{Problems, Rejects};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use neardups::Error;
use neardups::engine::{Estimate, Observer, Report, Stage};
use neardups::source::{Problem, Severity};
use serde_json::Value;
use std::io::Write;
use std::time::Duration;

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// Reports why the program ends: what kind of trouble it is, then the message.
pub fn error(error: &Error) {
    say(&format!("{RED}error:{RED:#} {}: {}", error.kind().name(), escaped_lines(&error.to_string())));
}

/// A line to standard error. If nobody can read it there is nobody to tell.
fn say(line: &str) {
    let _ = writeln!(anstream::stderr(), "dedup: {line}");
}

/// Which algorithm ran, on which tokens, with which parameters. `tokenizer` is the one that was asked for; `prepared`, what was
/// done to its tokens.
pub fn what_ran(report: &Report, tokenizer: &str, prepared: Option<&Described>) -> String {
    let median = report.median_tokens as u64;
    // Chosen by the algorithm only where the documents call for it.
    let tokenizer = match &report.tokenizer {
        Some(chosen) => format!("{chosen} tokens (the documents are short: median {}", counted(median, "word")),
        None => format!("{tokenizer} tokens (median {} a document", count(median)),
    };
    let parameters = report.resolved.iter().map(|(name, value)| format!("{} {}", name.replace('_', " "), short(value)));
    let prepared = prepared.map(|prepared| format!("; {prepared}")).unwrap_or_default();
    format!("{} on {tokenizer}{prepared}): {}", report.algorithm, parameters.collect::<Vec<_>>().join(", "))
}

/// A parameter's value for people: no more digits than help.
fn short(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if value.is_f64() => format!("{}", (number * 1e4).round() / 1e4),
        _ => value.as_str().map_or_else(|| value.to_string(), str::to_string),
    }
}

/// Shows how a scan goes on, unless it is to be quiet.
pub struct Terminal {
    quiet: bool,
    bar: ProgressBar,
    problems: Problems,
}

impl Terminal {
    /// `total` is the number of bytes to read, if known. The bar shows only on a terminal.
    pub fn new(quiet: bool, total: Option<u64>) -> Self {
        let bar = match total {
            Some(total) => ProgressBar::new(total)
                .with_style(style("{msg:9} {wide_bar} {bytes:>10} of {total_bytes} {bytes_per_sec:>12} {eta:>4} left")),
            None => ProgressBar::no_length().with_style(style("{msg:9} {spinner} {bytes:>10} {bytes_per_sec:>12}")),
        };
        bar.set_draw_target(if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) });
        Terminal { quiet, bar, problems: Problems::default() }
    }

    /// Writes what is rejected to a file too.
    pub fn with_rejects(self, rejects: Option<Rejects>) -> Self {
        Terminal { problems: Problems::with_rejects(rejects), ..self }
    }

    /// Ends the file of what was rejected.
    ///
    /// # Errors
    /// It could not be written.
    pub fn finish_rejects(&self) -> Result<(), Error> {
        self.problems.finish()
    }

    /// A line for people.
    pub fn line(&self, line: &str) {
        if !self.quiet {
            self.bar.suspend(|| say(line));
        }
    }

    /// Says that something could not be read, and why: what the status tells is said even if it is to be quiet.
    pub fn failed(&self, message: &str) {
        self.bar.suspend(|| say(&format!("{RED}failed:{RED:#} {}", escaped(message))));
    }

    /// A line that people should not miss.
    pub fn warning(&self, message: &str) {
        self.line(&format!("{YELLOW}warning:{YELLOW:#} {message}"));
    }

    /// Takes the bar away, and reports how many problems were not printed.
    pub fn done(&self) {
        self.bar.finish_and_clear();
        for (severity, message) in self.problems.unprinted() {
            self.print_problem(severity, &message);
        }
    }

    fn print_problem(&self, severity: Severity, message: &str) {
        match severity {
            Severity::FellBack => {}
            Severity::Failed => self.failed(message),
            Severity::Skipped => self.line(&format!("skipped: {}", escaped(message))),
            Severity::Repaired => self.line(&format!("{YELLOW}repaired:{YELLOW:#} {}", escaped(message))),
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is well formed")
}

/// A text on one line. Ids, file names and passages come from anywhere, and must not speak to the terminal.
pub fn escaped(text: &str) -> String {
    let escape = |c: char| if speaks_to_terminal(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}

/// A message of the program, which may have several lines, with all else escaped.
fn escaped_lines(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// Whether a character could change how the text around it is shown: controls, and characters that set the direction of writing
/// (Unicode Standard Annex 9) or separate lines.
fn speaks_to_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Observer for Terminal {
    fn stage(&self, stage: Stage) {
        self.bar.set_message(match stage {
            Stage::Counting => "counting",
            Stage::Reading => "reading",
            Stage::ReadingAgain | Stage::Rereading => "rereading",
            Stage::Grouping => "grouping",
            Stage::Verifying => "verifying",
        });
        match stage {
            Stage::Counting | Stage::Reading | Stage::ReadingAgain | Stage::Rereading => self.bar.set_position(0),
            Stage::Grouping | Stage::Verifying => self.bar.enable_steady_tick(Duration::from_millis(125)),
        }
    }

    fn progress(&self, bytes: u64, _documents: u64) {
        self.bar.inc(bytes);
    }

    fn estimate(&self, estimate: &Estimate) {
        if estimate.spills {
            self.line(&format!(
                "about {}: {} in memory, and {} of keys in a temporary file, because of --memory",
                counted(estimate.documents, "document"),
                bytes(estimate.memory as f64),
                bytes(estimate.keys as f64),
            ));
        }
    }

    fn problem(&self, problem: &Problem) {
        if self.problems.add(problem) {
            self.print_problem(problem.severity, &problem.to_string());
        }
    }
}
