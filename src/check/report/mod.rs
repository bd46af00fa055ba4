//! Reports: the same findings in several formats.
//!
//! ```
//! use neardups::check::{Request, report::Format, run};
//! let outcome = run(&Request::new(["fixtures/english/docs"]))?;
//! let sarif = Format::Sarif.render(&outcome);
//! assert!(sarif.contains("\"version\": \"2.1.0\""));
//! # Ok::<(), neardups::check::Error>(())
//! ```

mod diff;
mod earlier;
mod github;
mod gitlab;
mod html;
mod human;
mod jsonl;
mod junit;
mod listed;
mod map;
mod markdown;
mod marked;
mod places;
mod sarif;
mod sides;

use super::outcome::Outcome;
use earlier::NO_COPIES;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

pub use earlier::{is_html_report, is_report, starts_report};
pub use marked::{Mark, Marked};

/// A form of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// For people: all places, and the text with differences marked.
    Human,
    /// One JSON object a line for each finding.
    Jsonl,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// The code quality report of GitLab.
    Gitlab,
    /// JUnit XML, for tools that show test results.
    Junit,
    /// A comment on a pull request, in Markdown.
    Markdown,
    /// One page with the texts side by side, for a browser.
    Html,
}

impl Format {
    /// All of them, the default first.
    pub const ALL: [Format; 8] = [
        Format::Human,
        Format::Jsonl,
        Format::Sarif,
        Format::Github,
        Format::Gitlab,
        Format::Junit,
        Format::Markdown,
        Format::Html,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Human => "human",
            Format::Jsonl => "jsonl",
            Format::Sarif => "sarif",
            Format::Github => "github",
            Format::Gitlab => "gitlab",
            Format::Junit => "junit",
            Format::Markdown => "markdown",
            Format::Html => "html",
        }
    }

    /// The format with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The text of the report.
    pub fn render(self, outcome: &Outcome) -> String {
        let text = match self {
            Format::Human => human::render(outcome).into_string(),
            Format::Jsonl => jsonl::render(outcome),
            Format::Sarif => sarif::render(outcome),
            Format::Github => github::render(outcome),
            Format::Gitlab => gitlab::render(outcome),
            Format::Junit => junit::render(outcome),
            Format::Markdown => markdown::render(outcome),
            Format::Html => html::render(outcome),
        };
        // Control characters of a page could affect the terminal or program that shows the report.
        text.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "")
    }
}

/// The report for people with its parts marked, for output in colours.
pub fn marked(outcome: &Outcome) -> Marked {
    human::render(outcome)
}

/// A report and where it goes: to standard output, or to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The form.
    pub format: Format,
    /// The file; `None` for standard output.
    pub file: Option<PathBuf>,
}

impl Target {
    /// The text of the report. In a file, the report for people has a line of text even without findings.
    pub fn render(&self, outcome: &Outcome) -> String {
        let text = self.format.render(outcome);
        if text.is_empty() && self.format == Format::Human && self.file.is_some() { NO_COPIES.into() } else { text }
    }
}

/// To standard output.
impl From<Format> for Target {
    fn from(format: Format) -> Self {
        Target { format, file: None }
    }
}

/// From `FORMAT` or `FORMAT=FILE`.
impl FromStr for Target {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let (name, file) = typed.split_once('=').map_or((typed, None), |(name, file)| (name, Some(file)));
        let Some(format) = Format::by_name(name) else {
            let names = Format::ALL.map(Format::name).join(", ");
            return Err(format!("expected one of {names}, or FORMAT=FILE"));
        };
        match file {
            Some("") => Err("expected a file after '='".into()),
            file => Ok(Target { format, file: file.map(PathBuf::from) }),
        }
    }
}

/// As it is typed.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}={}", self.format.name(), file.display()),
            None => f.write_str(self.format.name()),
        }
    }
}

/// As it is typed.
impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
