//! What is asked of a check, with every value decided.

use super::find;
use super::outcome::FailOn;
use super::report::{Format, Target};
use super::rules::{Allow, Rule};
use super::walk::Walk;
use serde::Serialize;
use std::path::PathBuf;

/// What counts although it usually does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Blocks of code.
    Code,
    /// Targets of links.
    Links,
    /// Front matter.
    FrontMatter,
    /// Licence notices at the start of a page, and sections on the licence.
    Licences,
    /// Tables of contents.
    Contents,
    /// Source files, of which only docstrings and comments that document count.
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

    /// The one of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Counted::ALL.into_iter().find(|counted| counted.name() == name)
    }
}

/// What is asked of a check.
#[derive(Clone, Debug)]
pub struct Request {
    /// Files and folders. A file is read whatever it is called; of folders, the files whose names end as those of pages do.
    pub paths: Vec<PathBuf>,
    /// The folder that [`ignore`](Self::ignore), [`allow`](Self::allow) and [`rules`](Self::rules) start from.
    pub folder: PathBuf,
    /// Globs as in `.gitignore` of files that are not checked.
    pub ignore: Vec<String>,
    /// The same, from the current folder.
    pub ignore_here: Vec<String>,
    /// How folders are walked.
    pub walk: Walk,
    /// What counts although it usually does not.
    pub count: Vec<Counted>,
    /// How long and how similar findings are.
    pub find: find::Options,
    /// Files that may have copies of each other.
    pub allow: Vec<Allow>,
    /// Files of which more is asked.
    pub rules: Vec<Rule>,
    /// Whether the paths are all that the globs in [`folder`](Self::folder) are about: those of them that match nothing are then
    /// in [`Outcome::unused`](super::Outcome::unused).
    pub is_whole: bool,
    /// The file of accepted findings.
    pub baseline: Option<PathBuf>,
    /// Whether all that is found becomes accepted. The new text of the baseline is in
    /// [`Outcome::update`](super::Outcome::update); nothing is written.
    pub update_baseline: bool,
    /// A commit of git: only findings that touch a line changed since are wanted.
    pub since: Option<String>,
    /// Reports that will be written. None of them is written here, but files of earlier runs are not read as pages.
    pub reports: Vec<Target>,
    /// Which findings make the check fail.
    pub fail_on: FailOn,
    /// How many of them it takes more than.
    pub max_findings: usize,
    /// Worker threads; 0 means one a core.
    pub threads: usize,
}

impl Request {
    /// A check of some files and folders, with defaults for the rest.
    pub fn new<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Self {
        Request { paths: paths.into_iter().map(Into::into).collect(), ..Request::default() }
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
            find: find::Options::default(),
            allow: Vec::new(),
            rules: Vec::new(),
            is_whole: true,
            baseline: None,
            update_baseline: false,
            since: None,
            reports: vec![Format::Human.into()],
            fail_on: FailOn::default(),
            max_findings: 0,
            threads: 0,
        }
    }
}
