//! `dedup.toml`: what a project checks, and what it accepts.
//!
//! ```
//! use neardups::check::config::{Config, Settings};
//! // The nearest dedup.toml, from the current folder upward, with one value overridden for this run.
//! let config = Config::find(None)?;
//! let settings = config.complete(Settings { min_words: Some(60), ..Settings::default() });
//! let request = config.request(&settings)?;
//! assert_eq!(request.find.min_words, 60);
//! # Ok::<(), neardups::check::Error>(())
//! ```

mod values;

use super::find;
use super::outcome::FailOn;
use super::paths::{joined, place, relative};
use super::report::{Format, Target};
use super::request::{Counted, Request};
use super::rules::{self, Allow};
use crate::Error;
use crate::similarity::Threshold;
use serde::Serialize;
use std::cell::Cell;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use values::{Table, Toml, Value};

/// The name of the file. It is searched for from the current folder upward.
pub const NAME: &str = "dedup.toml";

/// The largest minimum, in words, that an option or key may set.
pub const MAX_WORDS: usize = 1_000_000;

/// The largest number of findings that an option or key may allow.
pub const MAX_FINDINGS: u64 = u32::MAX as u64;

/// Settings of a check as they are written: in `[check]` of the file, or as options. What is not written is `None` or empty;
/// [`Config::complete`] fills it in.
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
    /// Content that counts although it does not by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Vec<Counted>>,
    /// The file of accepted findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<PathBuf>,
    /// Reports and where they go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Vec<Target>>,
    /// Which findings make the check fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<FailOn>,
    /// The check fails if there are more of them than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_findings: Option<usize>,
    /// `[[check.allow]]`: files that may have copies of each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Allow>,
    /// `[[check.rule]]`: other thresholds for some files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rule: Vec<Rule>,
}

/// `[[check.rule]]`: a finding in such a file must also reach these thresholds.
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
}

impl Settings {
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

/// A configuration file that was read, or an empty configuration if there is none.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file.
    pub path: Option<PathBuf>,
    /// The folder that its paths are relative to, itself relative to the current one.
    pub folder: PathBuf,
    /// Its settings.
    pub settings: Settings,
}

impl Config {
    /// Reads the given file; without one, the nearest from the current folder upward, up to the root of the repository.
    ///
    /// # Errors
    /// The file cannot be read or is invalid: the error names the line, the key and the value.
    pub fn find(given: Option<&Path>) -> Result<Self, Error> {
        let path = given.map(Path::to_path_buf);
        let Some(path) = path.map_or_else(upward, |path| Ok(Some(path)))? else {
            return Ok(Config::default());
        };
        let bytes = fs::read(&path).map_err(|error| Error::input(format!("cannot read {}", path.display()), error))?;
        let settings = parse(&path, &bytes)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Config { path: Some(path), folder, settings })
    }

    /// The folder of the file as an absolute path without links; the current folder if there is no file.
    ///
    /// # Errors
    /// The folder was removed.
    pub fn base(&self) -> Result<PathBuf, Error> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        fs::canonicalize(folder)
            .map_err(|error| Error::input(format!("cannot resolve the folder {}", folder.display()), error))
    }

    /// The given settings; for the rest those of the file; for the rest defaults. All paths are relative to the current folder.
    pub fn complete(&self, given: Settings) -> Settings {
        let (file, defaults) = (&self.settings, find::FindOptions::default());
        let from_here = |path: &PathBuf| self.folder.join(path);
        let target = |target: &Target| Target { format: target.format, file: target.file.as_ref().map(from_here) };
        let paths = || file.paths.as_ref().map(|paths| paths.iter().map(from_here).collect());
        let report = || file.report.as_ref().map(|targets| targets.iter().map(target).collect());
        let similarity =
            |given: Option<f64>, own: Option<f64>, default: Threshold| given.or(own).or(Some(default.as_f64()));
        Settings {
            paths: given.paths.or_else(paths).or_else(|| Some(vec![PathBuf::from(".")])),
            ignore: file.ignore.clone(),
            min_words: given.min_words.or(file.min_words).or(Some(defaults.min_words)),
            passage_similarity: similarity(
                given.passage_similarity,
                file.passage_similarity,
                defaults.passage_similarity,
            ),
            paragraph_words: given.paragraph_words.or(file.paragraph_words).or(Some(defaults.paragraph_words)),
            paragraph_similarity: similarity(
                given.paragraph_similarity,
                file.paragraph_similarity,
                defaults.paragraph_similarity,
            ),
            file_similarity: similarity(given.file_similarity, file.file_similarity, defaults.file_similarity),
            count: given.count.or_else(|| file.count.clone()).or(Some(Vec::new())),
            baseline: given.baseline.or_else(|| file.baseline.as_ref().map(from_here)),
            report: given.report.or_else(report).or_else(|| Some(vec![Format::Human.into()])),
            fail_on: given.fail_on.or(file.fail_on).or(Some(FailOn::default())),
            max_findings: given.max_findings.or(file.max_findings).or(Some(0)),
            allow: file.allow.clone(),
            rule: file.rule.clone(),
        }
    }

    /// The request for these settings; what they leave out has its default.
    ///
    /// # Errors
    /// The folder of the file was removed.
    pub fn request(&self, settings: &Settings) -> Result<Request, Error> {
        let defaults = Request::default();
        let paths = settings.paths.clone().unwrap_or(defaults.paths);
        Ok(Request {
            is_whole: self.is_whole(&paths)?,
            paths,
            folder: self.folder.clone(),
            ignore: settings.ignore.clone(),
            count: settings.count.clone().unwrap_or(defaults.count),
            find: find::FindOptions {
                min_words: settings.min_words.unwrap_or(defaults.find.min_words),
                passage_similarity: threshold(settings.passage_similarity, defaults.find.passage_similarity),
                paragraph_words: settings.paragraph_words.unwrap_or(defaults.find.paragraph_words),
                paragraph_similarity: threshold(settings.paragraph_similarity, defaults.find.paragraph_similarity),
                file_similarity: threshold(settings.file_similarity, defaults.find.file_similarity),
            },
            allow: settings.allow.clone(),
            rules: settings.rule.iter().map(Rule::resolved).collect(),
            baseline: settings.baseline.clone(),
            reports: settings.report.clone().unwrap_or(defaults.reports),
            fail_on: settings.fail_on.unwrap_or_default(),
            max_findings: settings.max_findings.unwrap_or_default(),
            ..Request::default()
        })
    }

    /// Warnings about settings of the file that never have an effect.
    pub fn notices(&self) -> Vec<String> {
        let name = self.path.as_deref().unwrap_or(Path::new("")).to_string_lossy();
        let general = self.settings.min_words.unwrap_or(find::FindOptions::default().min_words);
        let fewer = self.settings.rule.iter().filter_map(|rule| rule.min_words).filter(|&words| words < general);
        let notice = |words: usize| {
            format!(
                "{name}: [[check.rule]] min-words = {words} has no effect on passages: min-words for all files is {general}, and a rule \
                 can only raise it"
            )
        };
        fewer.map(notice).collect()
    }

    /// Whether these paths cover everything that the file applies to: its own paths, or its folder.
    fn is_whole(&self, paths: &[PathBuf]) -> Result<bool, Error> {
        let own: Option<Vec<_>> =
            self.settings.paths.as_ref().map(|paths| paths.iter().map(|path| self.folder.join(path)).collect());
        if own.as_deref() == Some(paths) {
            return Ok(true);
        }
        let folder = self.base()?;
        Ok(paths.iter().any(|root| folder.starts_with(place(root))))
    }
}

impl Rule {
    fn resolved(&self) -> rules::Rule {
        let similarity = self.similarity.map(|share| threshold(Some(share), Threshold::LEAST));
        rules::Rule { paths: self.paths.clone(), min_words: self.min_words, similarity }
    }
}

/// A share to six digits, or a default.
fn threshold(share: Option<f64>, default: Threshold) -> Threshold {
    let of = |share: f64| Threshold::new(((share * 1e6).round() as u64).max(1), 1_000_000);
    share.and_then(of).unwrap_or(default)
}

/// The text of a file.
///
/// # Errors
/// It is not UTF-8: the error names the line.
fn text_of<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        Error::Usage(format!("{}:{line}: not UTF-8", path.to_string_lossy()))
    })
}

/// The nearest file upward, by a path relative to the current folder.
fn upward() -> Result<Option<PathBuf>, Error> {
    let here = std::env::current_dir().map_err(|error| Error::input("cannot find the current folder", error))?;
    let root = here.ancestors().position(|folder| folder.join(".git").exists());
    let steps = root.unwrap_or(here.ancestors().count() - 1);
    let paths = (0..=steps).map(|steps| std::iter::repeat_n("..", steps).chain([NAME]).collect::<PathBuf>());
    Ok(paths.into_iter().find(|path| path.is_file()))
}

/// Parses the content of a configuration file. `path` is for messages.
///
/// # Errors
/// It is invalid: the error names the line, the key and the value.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Settings, Error> {
    read(&Toml { path, text: text_of(path, bytes)?, globs: Cell::default() })
}

/// Reads the whole file.
fn read(toml: &Toml) -> Result<Settings, Error> {
    let whole = toml.parse()?;
    let mut file = Table::whole(toml, &whole);
    let settings = file.get("check", |value| settings(value.table("[check]")?))?;
    file.done()?;
    Ok(settings.unwrap_or_default())
}

fn settings(mut table: Table) -> Result<Settings, Error> {
    let path = |value: Value| text(value, "a path").map(PathBuf::from);
    let mut settings = Settings {
        paths: table.get("paths", |value| some(value, PATHS, value.list(PATHS, path)?))?,
        ignore: table.get("ignore", globs)?.unwrap_or_default(),
        min_words: table.get("min-words", words)?,
        passage_similarity: table.get("passage-similarity", share)?,
        paragraph_words: table.get("paragraph-words", words)?,
        paragraph_similarity: table.get("paragraph-similarity", share)?,
        file_similarity: table.get("file-similarity", share)?,
        count: table.get("count", |value| {
            value.list("a list of quoted words", |item| one_of(item, &Counted::ALL, Counted::name))
        })?,
        baseline: table.get("baseline", path)?,
        report: table.get("report", |value| value.list("a list of quoted reports", report))?,
        fail_on: table.get("fail-on", |value| one_of(value, &FailOn::ALL, FailOn::name))?,
        max_findings: table.get("max-findings", findings)?,
        allow: table.get("allow", allow)?.unwrap_or_default(),
        rule: Vec::new(),
    };
    let rules = table.get("rule", |value| {
        value.list("tables, each under [[check.rule]]", |item| rule(item.table("[[check.rule]]")?, &settings))
    });
    settings.rule = rules?.unwrap_or_default();
    table.done()?;
    Ok(settings)
}

fn allow(value: Value) -> Result<Vec<Allow>, Error> {
    value.list("tables, each under [[check.allow]]", |item| {
        let mut table = item.table("[[check.allow]]")?;
        let allow = Allow {
            paths: table.need("paths", GLOBS, some_globs)?,
            reason: table.need("reason", &format!("{REASON}, as a quoted string"), |value| text(value, REASON))?,
        };
        table.done().map(|()| allow)
    })
}

/// A rule, which must be stricter than the settings for all files.
fn rule(mut table: Table, settings: &Settings) -> Result<Rule, Error> {
    let paths = table.need("paths", GLOBS, some_globs)?;
    let min_words =
        table.get("min-words", |value| words(value).and_then(|words| more_words(value, words, settings)))?;
    let similarity =
        table.get("similarity", |value| share(value).and_then(|share| more_similar(value, share, settings)))?;
    if min_words.is_none() && similarity.is_none() {
        return Err(table.wrong("has no threshold: expected `min-words` or `similarity`"));
    }
    table.done().map(|()| Rule { paths, min_words, similarity })
}

fn more_words(value: Value, words: usize, settings: &Settings) -> Result<usize, Error> {
    let defaults = find::FindOptions::default();
    let passage = settings.min_words.unwrap_or(defaults.min_words);
    let paragraph = settings.paragraph_words.unwrap_or(defaults.paragraph_words);
    match words > passage.min(paragraph) {
        true => Ok(words),
        false => Err(value.wrong(format!(
            "a rule must be stricter than the settings for all files: min-words is {passage}, paragraph-words {paragraph}"
        ))),
    }
}

fn more_similar(value: Value, share: f64, settings: &Settings) -> Result<f64, Error> {
    let defaults = find::FindOptions::default();
    let [passage, paragraph, file] = [
        (settings.passage_similarity, defaults.passage_similarity),
        (settings.paragraph_similarity, defaults.paragraph_similarity),
        (settings.file_similarity, defaults.file_similarity),
    ]
    .map(|(own, default)| own.unwrap_or(default.as_f64()));
    match share > passage.min(paragraph).min(file) {
        true => Ok(share),
        false => Err(value.wrong(format!(
            "a rule must be stricter than the settings for all files: passage-similarity is {passage}, \
             paragraph-similarity {paragraph}, file-similarity {file}"
        ))),
    }
}

const PATHS: &str = "a list of quoted paths";
const GLOBS: &str = "a list of quoted globs";
const REASON: &str = "the reason why copies are accepted";

fn words(value: Value) -> Result<usize, Error> {
    whole_number(value, 1..=MAX_WORDS as u64)
}

fn findings(value: Value) -> Result<usize, Error> {
    whole_number(value, 0..=MAX_FINDINGS)
}

fn whole_number(value: Value, range: RangeInclusive<u64>) -> Result<usize, Error> {
    let number = value.whole_number().filter(|number| range.contains(number));
    let expected = || value.wrong(format!("expected a whole number from {} to {}", range.start(), range.end()));
    number.map(|number| number as usize).ok_or_else(expected)
}

fn share(value: Value) -> Result<f64, Error> {
    // An empty string gives the error for what is not a number.
    let number = value.number().map_or(String::new(), |number| number.to_string());
    parse_share(&number).map_err(|expected| value.wrong(expected))
}

/// Parses a share: a number above 0 and at most 1.
///
/// # Errors
/// It is not one: the error says what is expected.
pub fn parse_share(typed: &str) -> Result<f64, String> {
    match typed.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("expected a number above 0 and at most 1, such as 0.8".into()),
    }
}

fn text(value: Value, expected: &str) -> Result<String, Error> {
    match value.text() {
        Some(text) if !text.trim().is_empty() => Ok(text.into()),
        Some(_) => Err(value.wrong(format!("expected {expected}, not an empty string"))),
        None => Err(value.wrong(format!("expected {expected}, as a quoted string"))),
    }
}

fn globs(value: Value) -> Result<Vec<String>, Error> {
    value.list(GLOBS, |item| item.glob().map(String::from))
}

fn some_globs(value: Value) -> Result<Vec<String>, Error> {
    some(value, GLOBS, globs(value)?)
}

fn some<T>(value: Value, expected: &str, items: Vec<T>) -> Result<Vec<T>, Error> {
    match items.is_empty() {
        true => Err(value.wrong(format!("expected {expected}, not an empty list"))),
        false => Ok(items),
    }
}

fn report(item: Value) -> Result<Target, Error> {
    item.text().unwrap_or_default().parse().map_err(|expected: String| item.wrong(expected))
}

fn one_of<T: Copy>(value: Value, known: &[T], name: fn(T) -> &'static str) -> Result<T, Error> {
    let word = value.text().and_then(|word| known.iter().copied().find(|&known| name(known) == word));
    let names = || known.iter().map(|&known| name(known)).collect::<Vec<_>>().join(", ");
    word.ok_or_else(|| value.wrong(format!("expected one of {}, as a quoted string", names())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Result<Settings, String> {
        parse(Path::new("dedup.toml"), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn printed_settings_parse_to_the_same() {
        let text = "[check]\npaths = [\"a\"]\nignore = [\"b/\"]\nmin-words = 50\nfile-similarity = 0.85\ncount = [\"code\"]\n\
            baseline = \"c\"\nreport = [\"html=d\"]\nfail-on = \"any\"\nmax-findings = 3\n\n\
            [[check.allow]]\npaths = [\"e\"]\nreason = \"f\"\n\n[[check.rule]]\npaths = [\"g\"]\nmin-words = 60\nsimilarity = 0.9\n";
        assert_eq!(of(text).unwrap().to_toml().unwrap(), text);
    }

    #[test]
    fn a_file_that_is_not_text_is_reported_with_its_line() {
        let of = |bytes| text_of(Path::new("dedup.toml"), bytes).map_err(|error| error.to_string());
        assert_eq!(of(b"a\n\xc3\xa9"), Ok("a\né"));
        assert_eq!(of(b"\n\n\xe9 = 1\n"), Err("dedup.toml:3: not UTF-8".into()));
        assert_eq!(of(b"\xff"), Err("dedup.toml:1: not UTF-8".into()));
    }

    const BITS: [&str; 24] = [
        "[check]",
        "[[check.allow]]",
        "[[check.rule]]",
        "\n",
        "\n",
        "\n",
        "paths = ",
        "ignore = ",
        "min-words = ",
        "similarity = ",
        "reason = ",
        "count = ",
        "report = ",
        "fail-on = ",
        "[",
        "]",
        "\"a\"",
        "\"{\"",
        "\"new\"",
        "20",
        "0.9",
        ", ",
        "é = ",
        "\"\"\"",
    ];

    proptest! {
        #[test]
        fn an_error_names_a_line_of_the_file(bits in prop::collection::vec(prop::sample::select(&BITS), 0..30)) {
            let text = bits.concat();
            if let Err(error) = of(&text) {
                let rest = error.strip_prefix("dedup.toml:").unwrap_or_else(|| panic!("{error}"));
                let line: usize = rest.split_once(": ").unwrap().0.parse().unwrap();
                prop_assert!((1..=1 + text.matches('\n').count()).contains(&line), "{}", error);
            }
        }
    }
}
