//! The outcome of a check.

use super::baseline::{Entry, Outside, Renamed, Update};
use super::finding::{Finding, Place};
use super::grade::Grade;
use super::link::Link;
use super::paths::{place, shown};
use super::rules::Allow;
use super::unused::Unused;
use crate::readable::{count, counted};
use serde::Serialize;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::slice;

/// Which findings make a check fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FailOn {
    /// Errors that are not accepted.
    #[default]
    Error,
    /// Errors and warnings that are not accepted.
    Warning,
    /// All findings that are not accepted.
    Note,
    /// Accepted findings too.
    Any,
    /// No findings.
    None,
}

impl FailOn {
    /// All of them, the default first.
    pub const ALL: [FailOn; 5] = [FailOn::Error, FailOn::Warning, FailOn::Note, FailOn::Any, FailOn::None];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            FailOn::Error => "error",
            FailOn::Warning => "warning",
            FailOn::Note => "note",
            FailOn::Any => "any",
            FailOn::None => "none",
        }
    }

    /// The variant with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        FailOn::ALL.into_iter().find(|fail_on| fail_on.name() == name)
    }

    /// The least grade that fails; `None` if nothing does.
    fn least(self) -> Option<Grade> {
        match self {
            FailOn::Error => Some(Grade::Error),
            FailOn::Warning => Some(Grade::Warning),
            FailOn::Note | FailOn::Any => Some(Grade::Note),
            FailOn::None => None,
        }
    }
}

/// The order in which reports list findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Sort {
    /// By the page and the line of the place to look at.
    #[default]
    Path,
    /// The most serious first; then those with more words.
    Grade,
    /// Those with more words first, whatever their grade.
    Words,
}

impl Sort {
    /// All of them, the default first.
    pub const ALL: [Sort; 3] = [Sort::Path, Sort::Grade, Sort::Words];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Path => "path",
            Sort::Grade => "grade",
            Sort::Words => "words",
        }
    }

    /// The order with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Sort::ALL.into_iter().find(|sort| sort.name() == name)
    }
}

/// The findings of a check, and counts of what it read. Iterating yields all findings, including accepted ones.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// All findings ordered by their places, including accepted ones; with [`since`](super::Request::since) or
    /// [`staged`](super::Request::staged), those that are new.
    pub findings: Vec<Finding>,
    /// Stale entries of the baseline: they were not found, although their pages were checked or no longer exist. Of a comparison with a
    /// commit, only with [`fail_on_stale`](super::Request::fail_on_stale).
    pub stale: Vec<Entry>,
    /// Pages of accepted copies that the baseline does not name: pages that it names are gone, and these are taken for them under other names.
    /// None if a commit is compared.
    pub renamed: Vec<Renamed>,
    /// How many of the stale entries show which place of a copy is new, because their texts moved there. The baseline keeps them until that copy is removed
    /// or accepted.
    pub needed: usize,
    /// How many findings that are not accepted have no place that is known to be new since the baseline was written; 0 without a baseline,
    /// and if a commit is compared, which shows what is new.
    pub unplaced: usize,
    /// Whether that is because the baseline has no list of the pages that were there then: an earlier program wrote it.
    pub lacks_pages: bool,
    /// Findings in pages that were not checked when the baseline was written; none if a commit is compared.
    pub outside: Option<Outside>,
    /// Whether findings are not accepted, and the baseline has only entries of which no page exists in this repository.
    pub is_elsewhere: bool,
    /// How many findings [`allow`](super::Request::allow) accepts. They are not in `findings`.
    pub allowed: usize,
    /// Entries of [`allow`](super::Request::allow) that accept no copy: without them the outcome would be the same. Only if
    /// [all pages](super::Request::is_whole) were read; those with globs in [`unused`](Self::unused) are not among them.
    pub idle: Vec<Allow>,
    /// How many files globs exclude.
    pub left_out: usize,
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
    /// Files of folders that were not read, because their names are those of data, such as `requirements.txt`.
    pub data: Vec<String>,
    /// With [`staged`](super::Request::staged), how many files were left out because git does not track them.
    pub untracked: usize,
    /// With [`staged`](super::Request::staged), how many files under the paths the last commit has and the next one would not have.
    pub removed: usize,
    /// Globs that match nothing, and texts that no page has.
    pub unused: Vec<Unused>,
    /// The update of the baseline, if one was requested.
    pub update: Option<Update>,
    /// The least grade that is reported.
    pub grade: Grade,
    /// The order of findings in reports.
    pub sort: Sort,
    /// Which findings make the check fail.
    pub fail_on: FailOn,
    /// The check fails if there are more of them than this.
    pub max_findings: usize,
    /// Whether the check fails if an entry of the baseline is stale.
    pub fail_on_stale: bool,
    /// The file of the baseline, as given.
    pub baseline: Option<PathBuf>,
    /// The template of links in reports.
    pub link: Option<Link>,
    /// The root of the repository that the check ran in. Reports for code hosting services give paths relative to it.
    pub root: Option<PathBuf>,
    /// Whether `findings` has only those that are [new](super::Request::since).
    pub only_new: bool,
}

impl Outcome {
    /// The findings to report, ordered by their places: those of [`grade`](Self::grade) or above that are not accepted, and all that
    /// [`fail_on`](Self::fail_on) counts.
    pub fn reported(&self) -> impl Iterator<Item = &Finding> {
        let least = self.least_reported();
        self.unaccepted().filter(move |finding| finding.grade >= least)
    }

    /// The same in the [order](Self::sort) of reports; of equal ones, by their primary places.
    pub(super) fn listed(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.reported().collect();
        findings.sort_by_key(|finding| finding.listed_by());
        match self.sort {
            Sort::Path => {}
            Sort::Grade => findings.sort_by_key(|finding| Reverse((finding.grade, finding.words()))),
            Sort::Words => findings.sort_by_key(|finding| Reverse(finding.words())),
        }
        findings
    }

    /// The same, ordered by grade first, the most serious first.
    pub(super) fn listed_by_grade(&self) -> Vec<&Finding> {
        let mut findings = self.listed();
        findings.sort_by_key(|finding| Reverse(finding.grade));
        findings
    }

    /// The least grade that is reported. What makes the check fail is reported in any case.
    pub(super) fn least_reported(&self) -> Grade {
        self.fail_on.least().map_or(self.grade, |least| least.min(self.grade))
    }

    /// Findings of any grade that are not accepted; with [`FailOn::Any`], accepted ones too.
    pub(super) fn unaccepted(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| !finding.accepted || self.fail_on == FailOn::Any)
    }

    /// If the check fails, the least grade of the findings that make it fail.
    pub(super) fn failing_grade(&self) -> Option<Grade> {
        self.fail_on.least().filter(|_| self.has_too_many())
    }

    /// The stale entries that make the check fail.
    pub fn failing_stale(&self) -> &[Entry] {
        if self.fail_on_stale { &self.stale } else { &[] }
    }

    /// Whether the check fails: there are more findings of the grades in [`fail_on`](Self::fail_on) than
    /// [`max_findings`](Self::max_findings), or entries of the baseline are stale and [`fail_on_stale`](Self::fail_on_stale) is set.
    pub fn fails(&self) -> bool {
        self.has_too_many() || !self.failing_stale().is_empty()
    }

    fn has_too_many(&self) -> bool {
        let fails = |least: Grade| self.unaccepted().filter(|finding| finding.grade >= least).count();
        self.fail_on.least().is_some_and(|least| fails(least) > self.max_findings)
    }

    /// What findings are called where they are counted.
    pub(super) fn noun(&self) -> &'static str {
        if self.only_new { "new copy" } else { "copy" }
    }

    /// The counts on one line.
    pub fn summary(&self) -> String {
        let accepted = self.findings.iter().filter(|finding| finding.accepted).count();
        let mut summary = format!(
            "{}, {}: {}",
            counted(self.pages as u64, "page"),
            counted(self.words as u64, "word"),
            counted((self.findings.len() - accepted) as u64, self.noun())
        );
        let by_grade = self.by_grade();
        if accepted < self.findings.len() && !by_grade.is_empty() {
            summary += &format!(" ({by_grade})");
        }
        for (number, what) in [(accepted, "accepted"), (self.allowed, "allowed")] {
            if number > 0 {
                summary += &format!(", {} {what}", count(number as u64));
            }
        }
        if !self.failing_stale().is_empty() {
            summary += &format!(", {}", counted(self.stale.len() as u64, "stale entry"));
        }
        summary
    }

    /// The path of a place for code hosting services: relative to the root of the repository, unless the given path is absolute or
    /// leads out of it. Without a repository, relative to the current folder.
    pub(super) fn path<'a>(&self, place: &'a Place) -> Cow<'a, str> {
        self.below_root(place).map_or(Cow::Borrowed(&place.page.path), Cow::Owned)
    }

    /// The path of the baseline, as given.
    pub(super) fn baseline_name(&self) -> String {
        self.baseline.as_deref().map_or(String::new(), shown)
    }

    /// The path of the baseline for code hosting services, as of [`path`](Self::path).
    pub(super) fn baseline_path(&self) -> String {
        let given = self.baseline.as_deref().filter(|path| !path.is_absolute());
        let inside = given.zip(self.root.as_ref()).and_then(|(path, root)| {
            let place = place(path);
            place.strip_prefix(root).ok().map(shown)
        });
        inside.unwrap_or_else(|| self.baseline_name())
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
