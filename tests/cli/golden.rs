//! Cases as text files: commands, and what each prints.
//!
//! ```text
//! # A line of explanation.
//! $ dedup scan missing -q
//! > --keep first
//! ? 2
//! standard output, as it is
//! ! standard error, marked
//! ```
//!
//! The lines after `$` (continued by `>`) are run by `sh`, one after the other in one temporary folder, where `fixtures`
//! leads to those of the repository. The status follows `?` if it is not 0. `[..]` stands for anything within a line. White
//! space at the end of a line and empty lines at the end of an output do not count.
//!
//! With `UPDATE_CASES=1` the files are rewritten with the current output; lines that match stay as they are.

use std::fs;
use std::path::PathBuf;

use super::records;
use super::shell::{Run, Shell, root};

/// Where the files are.
pub fn folder() -> PathBuf {
    root().join("tests/cli/cases")
}

/// Runs the commands of a file and compares.
pub fn check(name: &str) {
    let path = folder().join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut parts = parse(&text);
    let update = std::env::var_os("UPDATE_CASES").is_some();
    let shell = Shell::new();
    let mut differences = Vec::new();
    for part in &mut parts {
        let Part::Step(expected) = part else { continue };
        let found = Step::of(expected.command.clone(), shell.sh(&expected.command.join("\n")));
        if update {
            expected.update(found);
        } else if !expected.matches(&found) {
            differences.push(format!("--- expected\n{expected}--- found\n{found}"));
        }
    }
    if update {
        fs::write(&path, write(&parts)).expect("the file can be written");
    }
    assert!(differences.is_empty(), "{name} (UPDATE_CASES=1 rewrites it)\n{}", differences.join("\n"));
}

/// Whether a line is as expected, where `[..]` stands for anything.
pub fn line_matches(expected: &str, found: &str) -> bool {
    let mut pieces = expected.split("[..]");
    let first = pieces.next().expect("a split has a first piece");
    let Some(mut rest) = found.strip_prefix(first) else { return false };
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        let at = if pieces.peek().is_some() {
            rest.find(piece)
        } else {
            rest.ends_with(piece).then(|| rest.len() - piece.len())
        };
        match at {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

/// The commands of a file of cases, each with the lines of its expected standard output.
pub fn outputs(text: &str) -> Vec<(String, Vec<String>)> {
    let step = |part| match part {
        Part::Step(step) => Some((step.command.join("\n"), step.stdout)),
        Part::Prose(_) => None,
    };
    parse(text).into_iter().filter_map(step).collect()
}

enum Part {
    Prose(String),
    Step(Step),
}

/// A command and its outcome.
struct Step {
    command: Vec<String>,
    status: i32,
    stdout: Vec<String>,
    stderr: Vec<String>,
}

fn parse(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            let command = vec![command.to_string()];
            parts.push(Part::Step(Step { command, status: 0, stdout: Vec::new(), stderr: Vec::new() }));
        } else if line.starts_with("# ") {
            parts.push(Part::Prose(line.to_string()));
        } else if let Some(Part::Step(step)) = parts.last_mut() {
            let fresh = step.stdout.is_empty() && step.stderr.is_empty();
            if let (true, Some(more)) = (fresh, line.strip_prefix("> ")) {
                step.command.push(more.to_string());
            } else if let (true, Some(status)) = (fresh, line.strip_prefix("? ")) {
                step.status = status.parse().expect("a status is a number");
            } else if line == "!" || line.starts_with("! ") {
                step.stderr.push(line.get(2..).unwrap_or_default().trim_end().to_string());
            } else {
                step.stdout.push(line.trim_end().to_string());
            }
        } else {
            assert!(line.is_empty(), "neither a command nor an explanation: {line}");
        }
    }
    for part in &mut parts {
        if let Part::Step(step) = part {
            step.trim();
        }
    }
    parts
}

fn write(parts: &[Part]) -> String {
    let mut out = String::new();
    for (i, part) in parts.iter().enumerate() {
        match part {
            Part::Prose(line) => out += &format!("{line}\n"),
            Part::Step(step) => {
                out += &step.to_string();
                // A command that prints nothing is one of a few that prepare the next.
                let prints = !step.stdout.is_empty() || !step.stderr.is_empty() || step.status != 0;
                if i + 1 < parts.len() && (prints || matches!(parts[i + 1], Part::Prose(_))) {
                    out.push('\n');
                }
            }
        }
    }
    out
}

impl Step {
    fn of(command: Vec<String>, run: Run) -> Self {
        let whole = command.join(" ");
        assert!(run.stdout.is_empty() || run.stdout.ends_with('\n'), "{whole}: the last line does not end");
        let prints_records =
            ["dedup scan", "dedup eval", "dedup compare --json"].iter().any(|command| whole.contains(command));
        // Kept records are those of the input, and paths are no records.
        if prints_records
            && !["-h", "--help", "--version", "2>&1", "--emit kept", "--print0"].iter().any(|mark| whole.contains(mark))
        {
            run.stdout.lines().for_each(|line| drop(records::parse(line)));
        }
        let lines = |text: &str| text.lines().map(|line| line.trim_end().to_string()).collect();
        let mut step = Step { command, status: run.status, stdout: lines(&run.stdout), stderr: lines(&run.stderr) };
        step.trim();
        step
    }

    fn trim(&mut self) {
        for lines in [&mut self.stdout, &mut self.stderr] {
            while lines.last().is_some_and(String::is_empty) {
                lines.pop();
            }
        }
    }

    fn matches(&self, found: &Step) -> bool {
        let same = |a: &[String], b: &[String]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| line_matches(a, b));
        self.status == found.status && same(&self.stdout, &found.stdout) && same(&self.stderr, &found.stderr)
    }

    /// Takes over the actual output, except for lines that match already.
    fn update(&mut self, found: Step) {
        let merge = |old: &mut Vec<String>, new: Vec<String>| {
            let keep = |(i, line): (usize, String)| match old.get(i).filter(|old| line_matches(old, &line)) {
                Some(old) => old.clone(),
                None => without_times(&line),
            };
            *old = new.into_iter().enumerate().map(keep).collect();
        };
        self.status = found.status;
        merge(&mut self.stdout, found.stdout);
        merge(&mut self.stderr, found.stderr);
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "$ {}", self.command.join("\n> "))?;
        if self.status != 0 {
            writeln!(f, "? {}", self.status)?;
        }
        self.stdout.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        self.stderr.iter().try_for_each(|line| writeln!(f, "{}", format!("! {line}").trim_end()))
    }
}

/// Puts `[..]` for the time, and the speed, at the end of a summary.
fn without_times(line: &str) -> String {
    let is_time = |text: &str| text.strip_suffix(" s").is_some_and(|number| number.parse::<f64>().is_ok());
    match line.rsplit_once(" in ") {
        Some((before, after)) if after.ends_with("/s)") || is_time(after) => format!("{before} in [..]"),
        _ => line.to_string(),
    }
}

#[test]
fn brackets_stand_for_anything() {
    for (expected, found) in [("a[..]c", "abc"), ("a[..]c", "ac"), ("[..]b[..]", "abc"), ("abc", "abc"), ("[..]", "")] {
        assert!(line_matches(expected, found), "{expected} {found}");
    }
    for (expected, found) in [("a[..]c", "ab"), ("a[..]c", "bc"), ("ab[..]bc", "abc"), ("abc", "abcd"), ("[..]b", "bc")]
    {
        assert!(!line_matches(expected, found), "{expected} {found}");
    }
}
