//! The outcome of a check.

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
#[non_exhaustive]
pub enum FailOn {
    /// Findings that are not accepted.
    #[default]
    New,
    /// Accepted findings too.
    Any,
    /// No findings.
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

    /// The variant with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        FailOn::ALL.into_iter().find(|fail_on| fail_on.name() == name)
    }
}

/// The findings of a check, and counts of what it read. Iterating yields all findings, including accepted ones.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// All findings ordered by their places, including accepted ones; with [`since`](super::Request::since), those that touch a
    /// change.
    pub findings: Vec<Finding>,
    /// Stale entries of the baseline: they were not found, although their pages were checked or no longer exist.
    pub stale: Vec<Entry>,
    /// How many findings [`allow`](super::Request::allow) accepts. They are not in `findings`.
    pub allowed: usize,
    /// How many pages were read.
    pub pages: usize,
    /// How many words they have.
    pub words: usize,
    /// How many bytes were read.
    pub bytes: u64,
    /// How many pages repeat themselves or others so much that they were compared only in part.
    pub cut_short: usize,
    /// Files that could not be read, each with the reason.
    pub failed: Vec<String>,
    /// Warnings about files that were read, and about links and ignore files that were not followed.
    pub notices: Vec<String>,
    /// Globs that match nothing.
    pub unused: Vec<Unused>,
    /// The update of the baseline, if one was requested.
    pub update: Option<Update>,
    /// Which findings make the check fail.
    pub fail_on: FailOn,
    /// The check fails if there are more of them than this.
    pub max_findings: usize,
    /// The root of the repository that the check ran in. Reports for code hosting services give paths relative to it.
    pub root: Option<PathBuf>,
}

impl Outcome {
    /// The findings to report: those that are not accepted, or all with [`FailOn::Any`].
    pub fn reported(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| !finding.accepted || self.fail_on == FailOn::Any)
    }

    /// Whether the check fails: there are more such findings than [`max_findings`](Self::max_findings).
    pub fn fails(&self) -> bool {
        self.fail_on != FailOn::None && self.reported().count() > self.max_findings
    }

    /// The counts on one line.
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

    /// The path of a place for code hosting services: relative to the root of the repository, unless the given path is absolute or
    /// leads out of it. Without a repository, relative to the current folder.
    pub(super) fn path<'a>(&self, place: &'a Place) -> Cow<'a, str> {
        self.below_root(place).map_or(Cow::Borrowed(&place.page.path), Cow::Owned)
    }

    /// The path relative to the root of the repository, if the place is shown that way.
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
