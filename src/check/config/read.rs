//! Reads the settings in a file. All errors are reported at once.

use super::super::error::{Error, InvalidConfig};
use super::super::find;
use super::super::grade::{Grade, Preset};
use super::super::outcome::{FailOn, Sort};
use super::super::report::Target;
use super::super::request::Counted;
use super::super::rules::Allow;
use super::super::texts;
use super::locate::is_pyproject;
use super::settings::{MAX_FINDINGS, MAX_WORDS, Rule, Settings};
use super::values::{Table, Toml, Value, Whole, Wrong};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Parses the content of a configuration file. `path` is for messages; by its name, a `pyproject.toml` is recognised.
///
/// # Errors
/// It is invalid: each error names the line, the key and the value.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Settings, Error> {
    let text = text_of(path, bytes)?;
    let toml = Toml::new(path, text, if is_pyproject(path) { "tool.dedup." } else { "" });
    let whole = toml.parse();
    let settings = if is_pyproject(path) { of_pyproject(&toml, &whole) } else { of_dedup(&toml, &whole) };
    match toml.into_errors() {
        Some(errors) => Err(errors.into()),
        None => Ok(settings),
    }
}

/// The text of a file.
fn text_of<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, InvalidConfig> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        InvalidConfig { errors: vec![format!("{}:{line}: not UTF-8", path.to_string_lossy())], more: 0 }
    })
}

fn of_dedup<'a>(toml: &'a Toml<'a>, whole: &'a Whole<'a>) -> Settings {
    let mut file = Table::whole(toml, whole);
    let settings = check(&mut file);
    file.done_above("[check]", &KEYS);
    settings
}

/// Other tools have their tables beside ours.
fn of_pyproject<'a>(toml: &'a Toml<'a>, whole: &'a Whole<'a>) -> Settings {
    let tool = Table::whole(toml, whole).get("tool", |value| value.table("[tool]"));
    let dedup = tool.and_then(|mut tool| tool.get("dedup", |value| value.table("[tool.dedup]")));
    let Some(mut dedup) = dedup else { return Settings::default() };
    let settings = check(&mut dedup);
    dedup.done_above("[check]", &KEYS);
    settings
}

/// The keys of `[check]`.
const KEYS: [&str; 19] = [
    "paths",
    "ignore",
    "min-words",
    "passage-similarity",
    "paragraph-words",
    "paragraph-similarity",
    "file-similarity",
    "strict",
    "count",
    "baseline",
    "report",
    "link",
    "grade",
    "sort",
    "fail-on",
    "max-findings",
    "fail-on-stale",
    "allow",
    "rule",
];

fn check(table: &mut Table) -> Settings {
    table.get("check", |value| Ok(settings(value.table("[check]")?))).unwrap_or_default()
}

fn settings(mut table: Table) -> Settings {
    let path = |value: Value| text(value, "a path").map(PathBuf::from);
    let mut settings = Settings {
        paths: table.get("paths", |value| value.some(PATHS, path)),
        ignore: table.get("ignore", globs).unwrap_or_default(),
        min_words: table.get("min-words", words),
        passage_similarity: table.get("passage-similarity", share),
        paragraph_words: table.get("paragraph-words", words),
        paragraph_similarity: table.get("paragraph-similarity", share),
        file_similarity: table.get("file-similarity", share),
        strict: table.get("strict", flag),
        count: table.get("count", |value| {
            value.list("a list of quoted words", |item| one_of(item, &Counted::ALL, Counted::name))
        }),
        baseline: table.get("baseline", path),
        report: table.get("report", |value| value.list("a list of quoted reports", parsed::<Target>)),
        link: table.get("link", parsed),
        grade: table.get("grade", |value| one_of(value, &Grade::ALL, Grade::name)),
        sort: table.get("sort", |value| one_of(value, &Sort::ALL, Sort::name)),
        fail_on: table.get("fail-on", |value| one_of(value, &FailOn::ALL, FailOn::name)),
        max_findings: table.get("max-findings", findings),
        fail_on_stale: table.get("fail-on-stale", flag),
        allow: table.get("allow", allow).unwrap_or_default(),
        rule: Vec::new(),
    };
    // Of wrong thresholds, it is unknown what a rule must exceed.
    let general = (!table.toml().has_errors()).then(|| settings.clone());
    let rules = table.get("rule", |value| {
        let rules = value.list("tables, each under [[check.rule]]", |item| {
            Ok(rule(item.table("[[check.rule]]")?, general.as_ref()))
        });
        Ok(rules?.into_iter().flatten().collect())
    });
    settings.rule = rules.unwrap_or_default();
    table.done();
    settings
}

fn allow(value: Value) -> Result<Vec<Allow>, Wrong> {
    let entries = value.list("tables, each under [[check.allow]]", |item| {
        let mut table = item.table("[[check.allow]]")?;
        let given: Vec<&str> = ["paths", "between", "text"].into_iter().filter(|key| table.has(key)).collect();
        if let [one, other, ..] = given[..] {
            table.record(table.wrong(&format!("has both `{one}` and `{other}`: make two tables of it")));
        }
        let (between, text_of) = (table.get("between", between), table.get("text", words_of_text));
        let paths = match given[..] {
            [] => {
                table.record(table.wrong("has no `paths`, `between` or `text`: expected which copies are accepted"));
                table.get("paths", some_globs)
            }
            ["paths", ..] => table.need("paths", GLOBS, some_globs),
            _ => Some(Vec::new()),
        };
        let reason = table.need("reason", &format!("{REASON}, as a quoted string"), |value| text(value, REASON));
        table.done();
        let between = between.unwrap_or_default();
        Ok(paths.zip(reason).map(|(paths, reason)| Allow { paths, between, text: text_of, reason }))
    });
    let entries: Vec<Allow> = entries?.into_iter().flatten().collect();
    let texts = || entries.iter().filter_map(|entry| entry.text.as_ref());
    match texts().count() <= MAX_TEXTS && texts().map(String::len).sum::<usize>() <= MAX_TEXT_BYTES {
        true => Ok(entries),
        false => Err(value.wrong(format!(
            "too many texts: at most {MAX_TEXTS} in all, and {} KiB; use dedup:ignore-start and dedup:ignore-end in pages instead",
            MAX_TEXT_BYTES >> 10
        ))),
    }
}

/// Maximum number of texts that are accepted in any page, and of bytes of all of them: each page is searched for each of them.
const MAX_TEXTS: usize = 256;
const MAX_TEXT_BYTES: usize = 256 << 10;

/// A text of fewer words is a phrase: it would take words out of sentences.
const LEAST_WORDS: usize = 5;

/// A text that is accepted in any page.
fn words_of_text(value: Value) -> Result<String, Wrong> {
    let expected = format!("a text of {LEAST_WORDS} words or more");
    let text = text(value, &expected)?;
    match texts::words(&text).len() {
        LEAST_WORDS.. => Ok(text),
        _ => Err(value.wrong(format!("expected {expected}"))),
    }
}

/// Lists of globs: copies between two of them are accepted.
fn between(value: Value) -> Result<Vec<Vec<String>>, Wrong> {
    let lists = value.list(LISTS, some_globs)?;
    match value.length() {
        Some(2..) => Ok(lists),
        _ => Err(value.wrong(format!("expected {LISTS}"))),
    }
}

/// A rule, whose thresholds must be stricter than the settings for all files; `None` if it is wrong.
fn rule(mut table: Table, general: Option<&Settings>) -> Option<Rule> {
    let paths = table.need("paths", GLOBS, some_globs);
    let has_effect = ["min-words", "similarity", "grade", "preset"].iter().any(|key| table.has(key));
    let min_words = table.get("min-words", |value| words(value).and_then(|words| more_words(value, words, general)));
    let similarity =
        table.get("similarity", |value| share(value).and_then(|share| more_similar(value, share, general)));
    let grade = table.get("grade", |value| one_of(value, &Grade::ALL, Grade::name));
    let preset = table.get("preset", |value| one_of(value, &Preset::ALL, Preset::name));
    if !has_effect {
        table.record(table.wrong("has no effect: expected `min-words`, `similarity`, `grade` or `preset`"));
    }
    table.done();
    Some(Rule { paths: paths?, min_words, similarity, grade, preset })
}

fn flag(value: Value) -> Result<bool, Wrong> {
    value.flag().ok_or_else(|| value.wrong("expected true or false"))
}

fn more_words(value: Value, words: usize, general: Option<&Settings>) -> Result<usize, Wrong> {
    let Some(general) = general else { return Ok(words) };
    let defaults = find::FindOptions::default();
    let passage = general.min_words.unwrap_or(defaults.min_words);
    let paragraph = general.least_paragraph();
    match words > passage.min(paragraph) {
        true => Ok(words),
        false => Err(value.wrong(format!(
            "a rule must be stricter than the settings for all files: min-words is {passage}, paragraph-words {paragraph}"
        ))),
    }
}

fn more_similar(value: Value, share: f64, general: Option<&Settings>) -> Result<f64, Wrong> {
    let Some(general) = general else { return Ok(share) };
    let defaults = find::FindOptions::default();
    let [passage, paragraph, file] = [
        (general.passage_similarity, defaults.passage_similarity),
        (general.paragraph_similarity, defaults.paragraph_similarity),
        (general.file_similarity, defaults.file_similarity),
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
const LISTS: &str = "two lists of quoted globs or more";
const REASON: &str = "the reason why copies are accepted";

fn words(value: Value) -> Result<usize, Wrong> {
    whole_number(value, 1..=MAX_WORDS as u64)
}

fn findings(value: Value) -> Result<usize, Wrong> {
    whole_number(value, 0..=MAX_FINDINGS)
}

fn whole_number(value: Value, range: RangeInclusive<u64>) -> Result<usize, Wrong> {
    let number = value.whole_number().filter(|number| range.contains(number));
    let expected = || value.wrong(format!("expected a whole number from {} to {}", range.start(), range.end()));
    number.map(|number| number as usize).ok_or_else(expected)
}

fn share(value: Value) -> Result<f64, Wrong> {
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

fn text(value: Value, expected: &str) -> Result<String, Wrong> {
    match value.text() {
        Some(text) if !text.trim().is_empty() => Ok(text.into()),
        Some(_) => Err(value.wrong(format!("expected {expected}, not an empty string"))),
        None => Err(value.wrong(format!("expected {expected}, as a quoted string"))),
    }
}

fn globs(value: Value) -> Result<Vec<String>, Wrong> {
    value.list(GLOBS, |item| item.glob().map(String::from))
}

fn some_globs(value: Value) -> Result<Vec<String>, Wrong> {
    value.some(GLOBS, |item| item.glob().map(String::from))
}

/// A value that is written like on the command line.
fn parsed<T: FromStr<Err = String>>(value: Value) -> Result<T, Wrong> {
    value.text().unwrap_or_default().parse().map_err(|expected: String| value.wrong(expected))
}

fn one_of<T: Copy>(value: Value, known: &[T], name: fn(T) -> &'static str) -> Result<T, Wrong> {
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
        let text = "[check]\npaths = [\"a\"]\nignore = [\"b/\"]\nmin-words = 50\nfile-similarity = 0.85\nstrict = true\ncount = [\"code\"]\n\
            baseline = \"c\"\nreport = [\"html=d\"]\nsort = \"words\"\nfail-on = \"any\"\nmax-findings = 3\n\n\
            [[check.allow]]\npaths = [\"e\"]\nreason = \"f\"\n\n\
            [[check.allow]]\nbetween = [[\"h\"], [\"i\", \"j\"]]\nreason = \"k\"\n\n\
            [[check.allow]]\ntext = \"One two three, four five.\"\nreason = \"l\"\n\n[[check.rule]]\npaths = [\"g\"]\nmin-words = 60\nsimilarity = 0.9\ngrade = \"note\"\n\
            preset = \"changelogs\"\n";
        assert_eq!(of(text).unwrap().to_toml().unwrap(), text);
    }

    #[test]
    fn texts_are_limited_in_number_and_size() {
        let entry = |text: &str| format!("[[check.allow]]\ntext = \"{text}\"\nreason = \"so\"\n");
        let of = |entries: usize, bytes: usize| {
            of(&entry(&"a b c d e ".repeat(bytes / 10)).repeat(entries)).map(|found| found.allow.len())
        };
        assert_eq!((of(256, 1020), of(1, 256 << 10)), (Ok(256), Ok(1)));
        assert!(of(257, 10).unwrap_err().contains("too many texts: at most 256 in all, and 256 KiB; "));
        assert!(of(256, 1030).unwrap_err().contains("too many texts"));
    }

    #[test]
    fn a_header_that_is_not_closed_is_one_error() {
        let errors = |text| of(text).unwrap_err();
        let one = "dedup.toml:1: `[check`: unclosed table, expected `]`";
        assert_eq!(errors("[check\nmin-words = 50\nignore = [\n  \"a\",\n]\nstrict = 3\n"), one);
        let rule = "[[check.rule]\npaths = [\"a\"]\nmin-words = 90\n\n[check]\nmin-words = 50\n";
        assert_eq!(errors(rule), "dedup.toml:1: `[[check.rule]`: unclosed array table, expected `]`");
        // One with more words after it is closed.
        assert_eq!(errors("[check] x\nmin-words = \"a\"\n").lines().count(), 2);
        // Errors before and after it are reported too.
        let errors =
            errors("min-words = 4\n[check\nbetween = [\n[\"a\"],\n]\nmin-words = 3\n\n[other]\nstrict = true\n");
        let lines: Vec<&str> = errors.lines().collect();
        let expected = [
            "dedup.toml:1: unknown key `min-words`; put it under [check]",
            "dedup.toml:2: `[check`: unclosed table, expected `]`",
            "dedup.toml:8: unknown key `other`; expected one of check",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn keys_above_the_table_belong_below_it() {
        let errors = |text: &str| of(text).unwrap_err();
        for key in KEYS {
            let advice = match key {
                "allow" | "rule" => format!("write [[check.{key}]]"),
                _ => "put it under [check]".into(),
            };
            assert_eq!(errors(&format!("{key} = 3\n")), format!("dedup.toml:1: unknown key `{key}`; {advice}"));
            assert!(!errors(&format!("[check]\n{key} = {{}}\n")).contains("unknown"), "{key}");
        }
        assert_eq!(
            errors("since = \"a\"\n"),
            "dedup.toml:1: unknown key `since`; it is only an option of the command line: --since"
        );
        let own = errors("min-word = 3\n");
        assert_eq!(own, "dedup.toml:1: unknown key `min-word`; did you mean `min-words`, under [check]?");
        let python = parse(Path::new("pyproject.toml"), b"[tool.dedup]\nmin-words = 3\n").unwrap_err().to_string();
        assert_eq!(python, "pyproject.toml:2: unknown key `min-words`; put it under [tool.dedup.check]");
    }

    #[test]
    fn headers_may_be_quoted() {
        let errors = |text| of(text).unwrap_err();
        assert_eq!(of("[\"check\"]\nmin-words = 50\n").unwrap().min_words, Some(50));
        assert_eq!(errors("[\"check\"\nmin-words = 50\n"), "dedup.toml:1: `[\"check\"`: unclosed table, expected `]`");
        let lines = errors("[check\nmin-words = 50\n['check'.x]\na = 1\n");
        assert_eq!(lines.lines().count(), 2, "{lines}");
        let reason = errors("[[check.allow]]\nreason = \"so\"\n");
        let none =
            "dedup.toml:1: `[[check.allow]]` has no `paths`, `between` or `text`: expected which copies are accepted";
        assert_eq!(reason, none);
    }

    #[test]
    fn a_file_that_is_not_text_is_reported_with_its_line() {
        let of = |bytes| text_of(Path::new("dedup.toml"), bytes).map_err(|error| error.to_string());
        assert_eq!(of(b"a\n\xc3\xa9"), Ok("a\né"));
        assert_eq!(of(b"\n\n\xe9 = 1\n"), Err("dedup.toml:3: not UTF-8".into()));
        assert_eq!(of(b"\xff"), Err("dedup.toml:1: not UTF-8".into()));
    }

    const BITS: [&str; 27] = [
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
        "strict = ",
        "preset = ",
        "true",
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
