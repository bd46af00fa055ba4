//! What a check found.

use super::baseline::{Entry, Update};
use super::finding::{Finding, Place};
use super::paths::shown;
use super::unused::Unused;
use crate::readable::{count, counted};
use serde::Serialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::slice;

/// Which findings make a check fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailOn {
    /// Those that nobody accepted.
    #[default]
    New,
    /// Accepted ones too.
    Any,
    /// None at all.
    None,
}

impl FailOn {
    /// All of them, the default first.
    pub const ALL: [FailOn; 3] = [FailOn::New, FailOn::Any, FailOn::None];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            FailOn::New => "new",
            FailOn::Any => "any",
            FailOn::None => "none",
        }
    }

    /// The one of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        FailOn::ALL.into_iter().find(|fail_on| fail_on.name() == name)
    }
}

/// What a check found, and what it read. Iterated, it gives all findings, accepted ones too.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// All findings by their places, accepted ones too; with [`since`](super::Request::since), those that touch a change.
    pub findings: Vec<Finding>,
    /// What the baseline accepts and was not found, although the pages were checked or are gone.
    pub stale: Vec<Entry>,
    /// How many findings [`allow`](super::Request::allow) accepts. They are not among the others.
    pub allowed: usize,
    /// How many pages were read.
    pub pages: usize,
    /// How many words they have.
    pub words: usize,
    /// How many bytes were read.
    pub bytes: u64,
    /// How many pages repeat themselves or others so much that not all of them was compared.
    pub cut_short: usize,
    /// Files that could not be read, each with why.
    pub failed: Vec<String>,
    /// Warnings about files that were read, and about what was not followed.
    pub notices: Vec<String>,
    /// Globs that match nothing.
    pub unused: Vec<Unused>,
    /// What became of the baseline, if it is to be updated.
    pub update: Option<Update>,
    /// Which findings make the check fail.
    pub fail_on: FailOn,
    /// How many of them it takes more than.
    pub max_findings: usize,
    /// The root of the repository that the check ran in: reports for services that know it start paths there.
    pub root: Option<PathBuf>,
}

impl Outcome {
    /// The findings that people should act on: those that nobody accepted, or all with [`FailOn::Any`].
    pub fn reported(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| !finding.accepted || self.fail_on == FailOn::Any)
    }

    /// Whether there are more such findings than are allowed for.
    pub fn fails(&self) -> bool {
        self.fail_on != FailOn::None && self.reported().count() > self.max_findings
    }

    /// The numbers, in a line.
    pub fn summary(&self) -> String {
        let accepted = self.findings.iter().filter(|finding| finding.accepted).count();
        let mut summary = format!(
            "{}, {}: {}",
            counted(self.pages as u64, "page"),
            counted(self.words as u64, "word"),
            counted((self.findings.len() - accepted) as u64, "copy")
        );
        for (number, what) in [(accepted, "accepted"), (self.allowed, "allowed")] {
            if number > 0 {
                summary += &format!(", {} {what}", count(number as u64));
            }
        }
        summary
    }

    /// The path of a place for services that know the repository: from its root, unless the path is absolute as it was given or leads
    /// out of it. Without a repository, from the current folder.
    pub(super) fn path<'a>(&self, place: &'a Place) -> Cow<'a, str> {
        self.below_root(place).map_or(Cow::Borrowed(&place.page.path), Cow::Owned)
    }

    /// The path from the root of the repository, if that is how the place is shown.
    pub(super) fn below_root(&self, place: &Place) -> Option<String> {
        let is_relative = !Path::new(&place.page.path).is_absolute();
        let inside = place.page.place.strip_prefix(self.root.as_ref()?).ok()?;
        is_relative.then(|| shown(inside))
    }
}

impl<'a> IntoIterator for &'a Outcome {
    type Item = &'a Finding;
    type IntoIter = slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.findings.iter()
    }
}
