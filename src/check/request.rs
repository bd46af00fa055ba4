//! The request for a check, with every value resolved.

use super::find;
use super::grade::Grade;
use super::link::Link;
use super::outcome::{FailOn, Sort};
use super::report::{Format, Target};
use super::rules::{Allow, Rule};
use super::walk::Walk;
use serde::Serialize;
use std::path::PathBuf;

/// Content that counts although it does not by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Counted {
    /// Blocks of code.
    Code,
    /// Targets of links.
    Links,
    /// Front matter.
    FrontMatter,
    /// Licence notices, and sections on the licence.
    Licences,
    /// Tables of contents.
    Contents,
    /// Docstrings and documentation comments of source files.
    Docstrings,
}

impl Counted {
    /// All of them.
    pub const ALL: [Counted; 6] = [
        Counted::Code,
        Counted::Links,
        Counted::FrontMatter,
        Counted::Licences,
        Counted::Contents,
        Counted::Docstrings,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Counted::Code => "code",
            Counted::Links => "links",
            Counted::FrontMatter => "front-matter",
            Counted::Licences => "licences",
            Counted::Contents => "contents",
            Counted::Docstrings => "docstrings",
        }
    }

    /// The variant with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Counted::ALL.into_iter().find(|counted| counted.name() == name)
    }
}

/// What to check, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// Files and folders. A named file is read whatever its extension; in folders, only files with the extension of a page.
    pub paths: Vec<PathBuf>,
    /// The folder that [`ignore`](Self::ignore), [`allow`](Self::allow) and [`rules`](Self::rules) are relative to.
    pub folder: PathBuf,
    /// Globs as in `.gitignore` of files that are not checked.
    pub ignore: Vec<String>,
    /// The same, relative to the current folder.
    pub ignore_here: Vec<String>,
    /// How folders are walked.
    pub walk: Walk,
    /// Content that counts although it does not by default.
    pub count: Vec<Counted>,
    /// Minimum length and similarity of findings.
    pub find: find::FindOptions,
    /// Files that may have copies of each other, and texts that may be anywhere.
    pub allow: Vec<Allow>,
    /// Files with stricter thresholds.
    pub rules: Vec<Rule>,
    /// Whether the paths cover everything that the globs in [`folder`](Self::folder) apply to. If so, globs that match nothing
    /// are reported in [`Outcome::unused`](super::Outcome::unused).
    pub is_whole: bool,
    /// The file of accepted findings.
    pub baseline: Option<PathBuf>,
    /// Whether to accept all findings; with [`since`](Self::since) or [`staged`](Self::staged), those that are new. The new text of the
    /// baseline is in [`Outcome::update`](super::Outcome::update); nothing is written.
    pub update_baseline: bool,
    /// Whether to drop the stale entries of the baseline, and accept nothing. The new text of the baseline is in
    /// [`Outcome::update`](super::Outcome::update); nothing is written. Together with [`update_baseline`](Self::update_baseline) or
    /// [`staged`](Self::staged) it is an error.
    pub prune_baseline: bool,
    /// Only these findings are accepted by an update: each is a [fingerprint](super::Finding::fingerprint), or `PATH:LINE` where a place of it starts.
    pub accept: Vec<String>,
    /// Why findings are accepted, on one line: [`parse_reason`](super::baseline::parse_reason) checks that. Entries of findings that were
    /// accepted before keep their reasons.
    pub reason: Option<String>,
    /// A git commit: only findings that are new since then are reported, as the same check of its merge base with the current commit
    /// would not report them.
    pub since: Option<String>,
    /// Whether only findings are reported that are new in what git has staged, compared with the last commit. The pages are then those in
    /// the index of git, with their texts there: untracked files are left out. The baseline and ignore files are those of the index too,
    /// unless git ignores them; for the configuration, see [`find_staged`](super::config::Config::find_staged). Together with
    /// [`since`](Self::since) it is an error.
    pub staged: bool,
    /// Reports that the caller will write. The check only needs them to skip reports of earlier runs.
    pub reports: Vec<Target>,
    /// The template of links in reports.
    pub link: Option<Link>,
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
    /// Worker threads; 0 means one a core.
    pub threads: usize,
}

impl Request {
    /// A check of some files and folders, with defaults for the rest.
    pub fn new<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Self {
        Request { paths: paths.into_iter().map(Into::into).collect(), ..Request::default() }
    }

    /// Whether the baseline is to be written.
    pub fn writes_baseline(&self) -> bool {
        self.update_baseline || self.prune_baseline
    }

    pub(super) fn counts(&self, what: Counted) -> bool {
        self.count.contains(&what)
    }
}

/// The current folder, without a baseline or rules.
impl Default for Request {
    fn default() -> Self {
        Request {
            paths: vec![PathBuf::from(".")],
            folder: PathBuf::from("."),
            ignore: Vec::new(),
            ignore_here: Vec::new(),
            walk: Walk::default(),
            count: Vec::new(),
            find: find::FindOptions::default(),
            allow: Vec::new(),
            rules: Vec::new(),
            is_whole: true,
            baseline: None,
            update_baseline: false,
            prune_baseline: false,
            accept: Vec::new(),
            reason: None,
            since: None,
            staged: false,
            reports: vec![Format::Human.into()],
            link: None,
            grade: Grade::Warning,
            sort: Sort::default(),
            fail_on: FailOn::default(),
            max_findings: 0,
            fail_on_stale: false,
            threads: 0,
        }
    }
}
