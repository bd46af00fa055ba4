//! Settings of a check as they are written, in a file or as options.

use super::super::find::FindOptions;
use super::super::grade::{Grade, Preset};
use super::super::link::Link;
use super::super::outcome::{FailOn, Sort};
use super::super::paths::{joined, relative};
use super::super::report::Target;
use super::super::request::Counted;
use super::super::rules::{self, Allow};
use crate::Error;
use crate::similarity::Threshold;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The largest minimum, in words, that an option or key may set.
pub const MAX_WORDS: usize = 1_000_000;

/// The largest number of findings that an option or key may allow.
pub const MAX_FINDINGS: u64 = u32::MAX as u64;

/// Settings of a check as they are written: in `[check]` of the file, or as options. What is not written is `None` or empty;
/// [`Config::complete`](super::Config::complete) fills it in.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Settings {
    /// Files and folders. Paths in the file are relative to its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<PathBuf>>,
    /// Globs of files that are not checked, relative to the folder of the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Minimum length of a passage, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_words: Option<usize>,
    /// Minimum similarity of passages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_similarity: Option<f64>,
    /// Minimum length of a paragraph, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paragraph_words: Option<usize>,
    /// Minimum similarity of paragraphs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paragraph_similarity: Option<f64>,
    /// Minimum similarity of whole files, or minimum share of one that is contained in the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_similarity: Option<f64>,
    /// Whether to report shorter and reordered texts too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Content that counts although it does not by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Vec<Counted>>,
    /// The file of accepted findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<PathBuf>,
    /// Reports and where they go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Vec<Target>>,
    /// The template of links in reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// The least grade that is reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// The order of findings in reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<Sort>,
    /// Which findings make the check fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<FailOn>,
    /// The check fails if there are more of them than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_findings: Option<usize>,
    /// Whether the check fails if an entry of the baseline is stale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on_stale: Option<bool>,
    /// `[[check.allow]]`: files that may have copies of each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Allow>,
    /// `[[check.rule]]`: other thresholds and grades for some files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rule: Vec<Rule>,
}

/// `[[check.rule]]`: a finding in such a file must also reach these thresholds, and has at most this grade.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Rule {
    /// Globs.
    pub paths: Vec<String>,
    /// Minimum length, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_words: Option<usize>,
    /// Minimum similarity of the places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The highest grade of a finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// What these files are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
}

impl Settings {
    /// The minimum length of a paragraph: if it is not set, that of a passage where this is set higher than by default, so that nothing
    /// shorter is found; else the default.
    pub(super) fn least_paragraph(&self) -> usize {
        let defaults = FindOptions::default();
        let of_passages = self.min_words.filter(|&words| words > defaults.min_words);
        self.paragraph_words.or(of_passages).unwrap_or(defaults.paragraph_words)
    }

    /// The text of a file with these settings.
    ///
    /// # Errors
    /// A path is not UTF-8, and so cannot be written in TOML.
    pub fn to_toml(&self) -> Result<String, Error> {
        /// The content of the file.
        #[derive(Serialize)]
        struct File<'a> {
            check: &'a Settings,
        }
        toml::to_string(&File { check: self }).map_err(|error| Error::Usage(format!("cannot print: {error}")))
    }

    /// The same settings with paths relative to another folder instead of the current one. Both folders are absolute and without links.
    pub fn relative_to(self, folder: &Path, here: &Path) -> Self {
        let from = relative(folder, here);
        let report = |target: Target| Target { file: target.file.map(|file| joined(&from, &file)), ..target };
        Settings {
            paths: self.paths.map(|paths| paths.iter().map(|path| joined(&from, path)).collect()),
            baseline: self.baseline.map(|path| joined(&from, &path)),
            report: self.report.map(|targets| targets.into_iter().map(report).collect()),
            ..self
        }
    }
}

impl Rule {
    /// The rule with its threshold resolved.
    pub(super) fn resolved(&self) -> rules::Rule {
        let similarity = self.similarity.map(|share| threshold(Some(share), Threshold::LEAST));
        let Rule { grade, preset, min_words, .. } = *self;
        rules::Rule { paths: self.paths.clone(), min_words, similarity, grade, preset }
    }
}

/// A share to six digits, or a default.
pub(super) fn threshold(share: Option<f64>, default: Threshold) -> Threshold {
    let of = |share: f64| Threshold::new(((share * 1e6).round() as u64).max(1), 1_000_000);
    share.and_then(of).unwrap_or(default)
}
