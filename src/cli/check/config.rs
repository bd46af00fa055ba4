//! `dedup.toml`: what a project wants checked, and what it has accepted.

use super::command::{self, COUNTED, FAIL_ON, MOST_WORDS};
use super::globs::Globs;
use super::report::Target;
use neardups::Error;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the file, which is looked for from the current folder upward.
pub const NAME: &str = "dedup.toml";

/// What is in the file. Every key can be left out.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    /// The one table.
    #[serde(default)]
    pub check: Check,
}

/// `[check]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Check {
    /// Files and folders, from the folder of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<PathBuf>>,
    /// Globs of files that are not looked at, from the folder of the file.
    #[serde(default, deserialize_with = "globs", skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    #[serde(default, deserialize_with = "words", skip_serializing_if = "Option::is_none")]
    pub min_words: Option<usize>,
    #[serde(default, deserialize_with = "share", skip_serializing_if = "Option::is_none")]
    pub passage_similarity: Option<f64>,
    #[serde(default, deserialize_with = "words", skip_serializing_if = "Option::is_none")]
    pub paragraph_words: Option<usize>,
    #[serde(default, deserialize_with = "share", skip_serializing_if = "Option::is_none")]
    pub paragraph_similarity: Option<f64>,
    #[serde(default, deserialize_with = "share", skip_serializing_if = "Option::is_none")]
    pub file_similarity: Option<f64>,
    /// What counts although it usually does not.
    #[serde(default, deserialize_with = "counted", skip_serializing_if = "Option::is_none")]
    pub count: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<PathBuf>,
    #[serde(default, deserialize_with = "reports", skip_serializing_if = "Option::is_none")]
    pub report: Option<Vec<String>>,
    #[serde(default, deserialize_with = "fail_on", skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_findings: Option<usize>,
    /// Copies that are as they should be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Allow>,
    /// Other thresholds for some files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule: Vec<Rule>,
}

/// `[[check.allow]]`: copies between files that these globs find are accepted.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Allow {
    /// Globs. Both places of a finding must be in one of these.
    #[serde(deserialize_with = "some_globs")]
    pub paths: Vec<String>,
    /// Why.
    #[serde(deserialize_with = "reason")]
    pub reason: String,
}

/// `[[check.rule]]`: a finding that touches such a file must reach these too.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rule {
    /// Globs.
    #[serde(deserialize_with = "some_globs")]
    pub paths: Vec<String>,
    #[serde(default, deserialize_with = "words", skip_serializing_if = "Option::is_none")]
    pub min_words: Option<usize>,
    #[serde(default, deserialize_with = "share", skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
}

/// A file that was read, or what stands for none.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file.
    pub path: Option<PathBuf>,
    /// What paths in it start from, as people type it from where they are.
    pub folder: PathBuf,
    pub check: Check,
}

impl Config {
    /// Reads a file; or the next one from the current folder upward, as far as the root of a repository.
    ///
    /// # Errors
    /// The file cannot be read, or is wrong: the error names the line, and shows it.
    pub fn find(given: Option<&Path>) -> Result<Self, Error> {
        let path = given.map(Path::to_path_buf);
        let Some(path) = path.map_or_else(upward, |path| Ok(Some(path)))? else {
            return Ok(Config::default());
        };
        let text =
            fs::read_to_string(&path).map_err(|error| Error::io(format!("cannot read {}", path.display()), error))?;
        let file: File = toml::from_str(&text).map_err(|error| wrong(&path, &text, &error))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Config { path: Some(path), folder, check: file.check })
    }

    /// Globs of the file, which start from its folder.
    pub fn globs(&self, globs: &[String]) -> Result<Globs, Error> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let base = fs::canonicalize(folder)
            .map_err(|error| Error::io(format!("cannot tell where {} is", folder.display()), error))?;
        Globs::new(&base, globs).map_err(Error::Usage)
    }
}

/// The next file upward, by a path from here.
fn upward() -> Result<Option<PathBuf>, Error> {
    let here = std::env::current_dir().map_err(|error| Error::io("cannot tell the current folder", error))?;
    let root = here.ancestors().position(|folder| folder.join(".git").exists());
    let steps = root.unwrap_or(here.ancestors().count() - 1);
    let paths = (0..=steps).map(|steps| std::iter::repeat_n("..", steps).chain([NAME]).collect::<PathBuf>());
    Ok(paths.into_iter().find(|path| path.is_file()))
}

fn wrong(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let number = 1 + text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count();
    let line: String = text.lines().nth(number - 1).unwrap_or_default().trim().chars().take(100).collect();
    Error::Usage(format!("{}:{number}: `{line}`: {}", path.display(), error.message().trim_end()))
}

/// A value that must be as a check says.
fn checked<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
    check: impl FnOnce(&T) -> Result<(), String>,
) -> Result<T, D::Error> {
    let value = T::deserialize(deserializer)?;
    check(&value).map(|()| value).map_err(D::Error::custom)
}

fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    checked(deserializer, |words: &usize| match words {
        1..=MOST_WORDS => Ok(()),
        _ => Err(format!("expected a whole number from 1 to {MOST_WORDS}")),
    })
    .map(Some)
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, |&share: &f64| command::share(&share.to_string()).map(drop)).map(Some)
}

fn globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    checked(deserializer, |globs: &Vec<String>| Globs::new(Path::new("."), globs).map(drop))
}

fn some_globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    checked(deserializer, |globs: &Vec<String>| match globs.is_empty() {
        true => Err("expected globs, and there is none".into()),
        false => Globs::new(Path::new("."), globs).map(drop),
    })
}

fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |reason: &String| match reason.trim() {
        "" => Err("expected the reason why these may have copies".into()),
        _ => Ok(()),
    })
}

fn reports<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let check = |reports: &Vec<String>| reports.iter().try_for_each(|report| Target::parse(report).map(drop));
    checked(deserializer, check).map(Some)
}

fn counted<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let check = |words: &Vec<String>| words.iter().try_for_each(|word| one_of(word, &COUNTED));
    checked(deserializer, check).map(Some)
}

fn fail_on<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    checked(deserializer, |word: &String| one_of(word, &FAIL_ON)).map(Some)
}

fn one_of(word: &str, known: &[(&str, &str)]) -> Result<(), String> {
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    match known.iter().any(|(name, _)| *name == word) {
        true => Ok(()),
        false => Err(format!("'{word}' is none of {}", names())),
    }
}
