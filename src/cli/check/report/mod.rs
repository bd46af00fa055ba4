//! Reports: the same copies, for each who reads them.

mod github;
mod gitlab;
mod html;
mod human;
mod jsonl;
mod junit;
mod sarif;

use super::baseline::Entry;
use super::copies::Copy;
use super::copies_of;
use crate::cli::arguments::{count, counted};
use std::fmt;
use std::path::PathBuf;

/// What was found, as reports tell it.
pub struct Outcome<'a> {
    pub copies: &'a [Copy],
    /// What the baseline accepts and is not there any more.
    pub stale: &'a [Entry],
    /// Copies that the configuration allows.
    pub allowed: usize,
    pub pages: usize,
    pub words: usize,
    /// Whether accepted copies count like new ones.
    pub any: bool,
}

impl Outcome<'_> {
    /// The copies that people should do something about: those that nobody accepted, or all.
    pub fn told(&self) -> impl Iterator<Item = &Copy> {
        self.copies.iter().filter(|copy| !copy.known || self.any)
    }

    /// The numbers, in a line.
    pub fn summary(&self) -> String {
        let known = self.copies.iter().filter(|copy| copy.known).count();
        let mut summary = format!(
            "{}, {}: {}",
            counted(self.pages as u64, "page"),
            counted(self.words as u64, "word"),
            copies_of(self.copies.len() - known)
        );
        for (number, what) in [(known, "accepted"), (self.allowed, "allowed")] {
            if number > 0 {
                summary += &format!(", {} {what}", count(number as u64));
            }
        }
        summary
    }
}

/// One line of the table of reports.
pub struct Format {
    pub name: &'static str,
    pub help: &'static str,
    pub render: fn(&Outcome) -> String,
}

/// Every report, the default first.
pub static FORMATS: &[Format] = &[
    Format { name: "human", help: "for people: both places, the text, the differences marked", render: human::render },
    Format { name: "jsonl", help: "one JSON object a line for each copy", render: jsonl::render },
    Format { name: "sarif", help: "SARIF 2.1.0, for code scanning", render: sarif::render },
    Format { name: "github", help: "annotations of GitHub Actions", render: github::render },
    Format { name: "gitlab", help: "the code quality report of GitLab", render: gitlab::render },
    Format { name: "junit", help: "JUnit XML, for whatever shows tests", render: junit::render },
    Format { name: "html", help: "one page with the texts side by side, for a browser", render: html::render },
];

/// A report and where it goes: to standard output, or to a file.
#[derive(Clone)]
pub struct Target {
    pub format: &'static Format,
    pub file: Option<PathBuf>,
}

impl Target {
    /// From `FORMAT` or `FORMAT=FILE`.
    pub fn parse(typed: &str) -> Result<Self, String> {
        let (name, file) = typed.split_once('=').map_or((typed, None), |(name, file)| (name, Some(file)));
        let Some(format) = FORMATS.iter().find(|format| format.name == name) else {
            let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
            return Err(format!("expected one of {}, perhaps with =FILE behind it", names.join(", ")));
        };
        match file {
            Some("") => Err("expected a file behind '='".into()),
            file => Ok(Target { format, file: file.map(PathBuf::from) }),
        }
    }
}

/// As it is typed.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}={}", self.format.name, file.display()),
            None => f.write_str(self.format.name),
        }
    }
}
