//! `dedup.toml`: what a project wants checked, and what it has accepted.

use super::super::terminal::escaped;
use super::command::{self, COUNTED, FAIL_ON, MOST_FINDINGS, MOST_WORDS};
use super::globs::Globs;
use super::report::Target;
use super::values::{Table, Toml, Value};
use neardups::Error;
use neardups::check::find::Options;
use serde::Serialize;
use std::cell::Cell;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// The name of the file, which is looked for from the current folder upward.
pub const NAME: &str = "dedup.toml";

/// What is in the file. Every key can be left out.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct File {
    /// The one table.
    pub check: Check,
}

/// `[check]`.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Check {
    /// Files and folders, from the folder of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<PathBuf>>,
    /// Globs of files that are not looked at, from the folder of the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_words: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paragraph_words: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paragraph_similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_similarity: Option<f64>,
    /// What counts although it usually does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_findings: Option<usize>,
    /// Copies that are as they should be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Allow>,
    /// Other thresholds for some files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rule: Vec<Rule>,
}

/// `[[check.allow]]`: copies between files that these globs find are accepted.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Allow {
    /// Globs. Both places of a finding must be in one of these.
    pub paths: Vec<String>,
    /// Why.
    pub reason: String,
}

/// `[[check.rule]]`: a finding that touches such a file must reach these too.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Rule {
    /// Globs.
    pub paths: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_words: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
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
    /// The file cannot be read, or is wrong: the error names the line, the key and the value.
    pub fn find(given: Option<&Path>) -> Result<Self, Error> {
        let path = given.map(Path::to_path_buf);
        let Some(path) = path.map_or_else(upward, |path| Ok(Some(path)))? else {
            return Ok(Config::default());
        };
        let bytes = fs::read(&path).map_err(|error| Error::input(format!("cannot read {}", path.display()), error))?;
        let check = parse(&path, &bytes)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Config { path: Some(path), folder, check })
    }

    /// Globs of the file, which start from its folder.
    ///
    /// # Errors
    /// One is wrong, or the folder is not there.
    pub fn globs(&self, globs: &[String]) -> Result<Globs, Error> {
        Globs::new(&self.base()?, globs).map_err(Error::Usage)
    }

    /// Where the folder of the file is: absolute, without links. The current folder if there is no file.
    ///
    /// # Errors
    /// It is not there any more.
    pub fn base(&self) -> Result<PathBuf, Error> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        fs::canonicalize(folder)
            .map_err(|error| Error::input(format!("cannot tell where {} is", folder.display()), error))
    }
}

/// The text of a file.
///
/// # Errors
/// It is no UTF-8: the error names the line.
fn text_of<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        Error::Usage(format!("{}:{line}: not UTF-8", escaped(&path.to_string_lossy())))
    })
}

/// The next file upward, by a path from here.
fn upward() -> Result<Option<PathBuf>, Error> {
    let here = std::env::current_dir().map_err(|error| Error::input("cannot tell the current folder", error))?;
    let root = here.ancestors().position(|folder| folder.join(".git").exists());
    let steps = root.unwrap_or(here.ancestors().count() - 1);
    let paths = (0..=steps).map(|steps| std::iter::repeat_n("..", steps).chain([NAME]).collect::<PathBuf>());
    Ok(paths.into_iter().find(|path| path.is_file()))
}

/// The configuration in a file of that name.
///
/// # Errors
/// It is wrong: the error names the line, the key and the value.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Check, Error> {
    read(&Toml { path, text: text_of(path, bytes)?, globs: Cell::default() })
}

/// What the file says.
fn read(toml: &Toml) -> Result<Check, Error> {
    let whole = toml.parse()?;
    let mut file = Table::whole(toml, &whole);
    let check = file.get("check", |value| check(value.table("[check]")?))?;
    file.done()?;
    Ok(check.unwrap_or_default())
}

fn check(mut table: Table) -> Result<Check, Error> {
    let path = |value: Value| text(value, "a path").map(PathBuf::from);
    let mut check = Check {
        paths: table.get("paths", |value| some(value, PATHS, value.list(PATHS, path)?))?,
        ignore: table.get("ignore", globs)?.unwrap_or_default(),
        min_words: table.get("min-words", words)?,
        passage_similarity: table.get("passage-similarity", share)?,
        paragraph_words: table.get("paragraph-words", words)?,
        paragraph_similarity: table.get("paragraph-similarity", share)?,
        file_similarity: table.get("file-similarity", share)?,
        count: table.get("count", |value| value.list("a list of words in quotes", |item| one_of(item, &COUNTED)))?,
        baseline: table.get("baseline", path)?,
        report: table.get("report", |value| value.list("a list of reports in quotes", report))?,
        fail_on: table.get("fail-on", |value| one_of(value, &FAIL_ON))?,
        max_findings: table.get("max-findings", findings)?,
        allow: table.get("allow", allow)?.unwrap_or_default(),
        rule: Vec::new(),
    };
    let rules = table.get("rule", |value| {
        value.list("tables, each under [[check.rule]]", |item| rule(item.table("[[check.rule]]")?, &check))
    });
    check.rule = rules?.unwrap_or_default();
    table.done()?;
    Ok(check)
}

fn allow(value: Value) -> Result<Vec<Allow>, Error> {
    value.list("tables, each under [[check.allow]]", |item| {
        let mut table = item.table("[[check.allow]]")?;
        let allow = Allow {
            paths: table.need("paths", GLOBS, some_globs)?,
            reason: table.need("reason", &format!("{REASON}, in quotes"), |value| text(value, REASON))?,
        };
        table.done().map(|()| allow)
    })
}

/// A rule, which must ask for more than is asked of all files.
fn rule(mut table: Table, check: &Check) -> Result<Rule, Error> {
    let paths = table.need("paths", GLOBS, some_globs)?;
    let min_words = table.get("min-words", |value| words(value).and_then(|words| more_words(value, words, check)))?;
    let similarity = table.get("similarity", |value| share(value).and_then(|share| more_alike(value, share, check)))?;
    if min_words.is_none() && similarity.is_none() {
        return Err(table.wrong("asks for nothing: expected `min-words` or `similarity`"));
    }
    table.done().map(|()| Rule { paths, min_words, similarity })
}

fn more_words(value: Value, words: usize, check: &Check) -> Result<usize, Error> {
    let defaults = Options::default();
    let passage = check.min_words.unwrap_or(defaults.min_words);
    let paragraph = check.paragraph_words.unwrap_or(defaults.paragraph_words);
    match words > passage.min(paragraph) {
        true => Ok(words),
        false => Err(value.wrong(format!(
            "rules ask for more than the rest: min-words is {passage} for all, paragraph-words {paragraph}"
        ))),
    }
}

fn more_alike(value: Value, share: f64, check: &Check) -> Result<f64, Error> {
    let defaults = Options::default();
    let [passage, paragraph, file] = [
        (check.passage_similarity, defaults.passage_similarity),
        (check.paragraph_similarity, defaults.paragraph_similarity),
        (check.file_similarity, defaults.file_similarity),
    ]
    .map(|(own, default)| own.unwrap_or(default.as_f64()));
    match share > passage.min(paragraph).min(file) {
        true => Ok(share),
        false => Err(value.wrong(format!(
            "rules ask for more than the rest: passage-similarity is {passage} for all, \
             paragraph-similarity {paragraph}, file-similarity {file}"
        ))),
    }
}

const PATHS: &str = "a list of paths in quotes";
const GLOBS: &str = "a list of globs in quotes";
const REASON: &str = "why these may have copies";

fn words(value: Value) -> Result<usize, Error> {
    whole_number(value, 1..=MOST_WORDS as u64)
}

fn findings(value: Value) -> Result<usize, Error> {
    whole_number(value, 0..=MOST_FINDINGS)
}

fn whole_number(value: Value, range: RangeInclusive<u64>) -> Result<usize, Error> {
    let number = value.whole_number().filter(|number| range.contains(number));
    let expected = || value.wrong(format!("expected a whole number from {} to {}", range.start(), range.end()));
    number.map(|number| number as usize).ok_or_else(expected)
}

fn share(value: Value) -> Result<f64, Error> {
    // A text that is no share stands for what is no number.
    let number = value.number().map_or(String::new(), |number| number.to_string());
    command::share(&number).map_err(|expected| value.wrong(expected))
}

fn text(value: Value, expected: &str) -> Result<String, Error> {
    match value.text() {
        Some(text) if !text.trim().is_empty() => Ok(text.into()),
        Some(_) => Err(value.wrong(format!("expected {expected}, and the text is empty"))),
        None => Err(value.wrong(format!("expected {expected}, in quotes"))),
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
        true => Err(value.wrong(format!("expected {expected}, and there is none"))),
        false => Ok(items),
    }
}

fn report(item: Value) -> Result<String, Error> {
    let report = item.text().unwrap_or_default();
    Target::parse(report).map(|_| report.to_string()).map_err(|expected| item.wrong(expected))
}

fn one_of(value: Value, known: &[(&str, &str)]) -> Result<String, Error> {
    let word = value.text().filter(|word| known.iter().any(|(name, _)| name == word));
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    word.map(String::from).ok_or_else(|| value.wrong(format!("expected one of {}, in quotes", names())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Result<Check, String> {
        parse(Path::new("dedup.toml"), text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_printed_is_read() {
        let text = "[check]\npaths = [\"a\"]\nignore = [\"b/\"]\nmin-words = 50\nfile-similarity = 0.85\ncount = [\"code\"]\n\
            baseline = \"c\"\nreport = [\"html=d\"]\nfail-on = \"any\"\nmax-findings = 3\n\n\
            [[check.allow]]\npaths = [\"e\"]\nreason = \"f\"\n\n[[check.rule]]\npaths = [\"g\"]\nmin-words = 60\nsimilarity = 0.9\n";
        assert_eq!(toml::to_string(&File { check: of(text).unwrap() }).unwrap(), text);
    }

    #[test]
    fn a_file_that_is_no_text_is_told_with_its_line() {
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
        fn what_is_wrong_is_told_with_its_line(bits in prop::collection::vec(prop::sample::select(&BITS), 0..30)) {
            let text = bits.concat();
            if let Err(error) = of(&text) {
                let rest = error.strip_prefix("dedup.toml:").unwrap_or_else(|| panic!("{error}"));
                let line: usize = rest.split_once(": ").unwrap().0.parse().unwrap();
                prop_assert!((1..=1 + text.matches('\n').count()).contains(&line), "{}", error);
            }
        }
    }
}
