//! Reports: the same copies, for each who reads them.

mod diff;
mod github;
mod gitlab;
mod html;
mod human;
mod jsonl;
mod junit;
mod sarif;

use super::baseline::Entry;
use super::copies::{Copy, Place};
use super::copies_of;
use super::pages::shown;
use crate::cli::arguments::{count, counted};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

/// What was found, as reports tell it.
pub struct Outcome<'a> {
    pub copies: &'a [Copy<'a>],
    /// What the baseline accepts and is not there any more.
    pub stale: &'a [Entry],
    /// Copies that the configuration allows.
    pub allowed: usize,
    pub pages: usize,
    pub words: usize,
    /// Whether accepted copies count like new ones.
    pub any: bool,
    /// The root of the repository that this ran in.
    pub root: Option<PathBuf>,
}

/// The nearest folder from the current one upward that has a `.git`, without links.
pub fn repository() -> Option<PathBuf> {
    repository_of(&fs::canonicalize(env::current_dir().ok()?).ok()?)
}

/// The nearest folder from a place upward that has a `.git`. The place is without links, and so is the folder.
pub fn repository_of(place: &Path) -> Option<PathBuf> {
    place.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf)
}

/// A mark for words that are not shown.
fn left_out(words: usize) -> String {
    format!("… {} …", counted(words as u64, "word"))
}

impl<'a> Outcome<'a> {
    /// The copies that people should do something about: those that nobody accepted, or all.
    pub fn told(&self) -> impl Iterator<Item = &'a Copy<'a>> {
        self.copies.iter().filter(|copy| !copy.known || self.any)
    }

    /// The path of a place for services that know the repository: from its root, unless the path is absolute as it was given or leads
    /// out of it. Without a repository, from the current folder.
    pub fn path(&self, place: &'a Place<'a>) -> Cow<'a, str> {
        self.below_root(place).map_or(Cow::Borrowed(&place.page.path), Cow::Owned)
    }

    /// The path from the root of the repository, if it is to be told so.
    fn below_root(&self, place: &Place) -> Option<String> {
        let is_relative = !Path::new(&place.page.path).is_absolute();
        let inside = place.page.place.strip_prefix(self.root.as_ref()?).ok()?;
        is_relative.then(|| shown(inside))
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
