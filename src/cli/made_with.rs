//! The options that an index was made with, as its header has them.
//!
//! The file may come from anyone. Only what says how its documents are compared is taken from it: parameters of its algorithm, the tokenizer,
//! steps of preparation, and which text is read. No value that could name a file is.

use super::arguments::is_antecedents_file;
use super::arguments::keywords::Given;
use neardups::algorithm::parameter::{Parameter, Values};
use neardups::algorithm::{ALGORITHMS, Entry, Value};
use neardups::index::{self, Header};
use neardups::tokenizer::prepared::Step;
use neardups::tokenizer::prepared::stop_words::stop_word_languages;
use std::path::Path;

/// The options of an existing index, by the names of their flags; none if there is no index, or if an algorithm was given that is not its own,
/// which would be refused for options of the other. Errors are reported when it is opened.
pub fn options_of(path: &Path, given_algorithm: Option<&str>) -> Vec<(String, Given)> {
    let header = index::header(path).ok().flatten();
    let name = |header: &Header| if header.algorithm == EXACT { "minhash".into() } else { header.algorithm.clone() };
    let is_its_own = |given: &str| {
        let given = Entry::by_name(given).map_or(given, |entry| entry.name);
        header.as_ref().is_some_and(|header| header.algorithm == given || given != EXACT && name(header) == given)
    };
    if given_algorithm.is_some_and(|given| !is_its_own(given)) {
        return Vec::new();
    }
    header.map(|header| options(&header)).unwrap_or_default()
}

/// What a header calls MinHash with exact sets.
const EXACT: &str = "exact";

/// The options in a header, by the names of their flags; none if its algorithm is not known. What is no option, such as the digest of a file,
/// is left out: when the index is opened, its header differs from these options, which is an error that names both.
fn options(header: &Header) -> Vec<(String, Given)> {
    let (name, algorithm) = match &*header.algorithm {
        EXACT => ("minhash", ("exact".to_string(), Given::Switch(true))),
        name => (name, ("algo".to_string(), value(name))),
    };
    let Some(entry) = ALGORITHMS.iter().find(|entry| entry.name == name) else { return Vec::new() };
    let mut parts = header.tokenizer.split(", ");
    let tokenizer = parts.next().map(|name| ("tokenizer".to_string(), value(name)));
    let settings = header.settings.iter().filter_map(|(row, setting)| match (&**row, setting) {
        // The number of tables is taken from the header in any case.
        ("tables", _) => None,
        // Without such lexicons it has no effect, and is refused.
        ("drop fraction", _) if header.settings.get("lexicons") == Some(&Value::from(0_u64)) => None,
        ("content", Value::Text(text)) => Some(("content".to_string(), value(text))),
        ("bits", _) if name == "projection" => of_parameter(entry.parameters, "projection-bits", setting),
        _ => of_parameter(entry.parameters, &row.replace(' ', "-"), setting),
    });
    [algorithm].into_iter().chain(tokenizer).chain(parts.filter_map(step)).chain(settings).collect()
}

fn value(text: &str) -> Given {
    Given::Value(text.into())
}

/// A step of the preparation, as the name of a tokenizer has it.
fn step(part: &str) -> Option<(String, Given)> {
    let (name, text) = part.split_once(' ').unwrap_or((part, ""));
    let given = match Step::ALL.into_iter().find(|step| step.flag() == name)? {
        Step::JoinHyphens => Given::Switch(true),
        // One by one: a file may have the name of several, joined by commas.
        Step::StopWords => Given::List(languages(text)?.into_iter().map(Into::into).collect()),
        _ => value(text),
    };
    Some((name.to_string(), given))
}

/// The languages of stop words, if all are some. Anything else names a file.
fn languages(codes: &str) -> Option<Vec<&str>> {
    let known = stop_word_languages();
    codes.split(',').map(|code| known.contains(&code).then_some(code)).collect()
}

/// A setting with the name of a parameter, unless it is that of a file, or the value may be a file.
fn of_parameter(parameters: &[&Parameter], name: &str, setting: &Value) -> Option<(String, Given)> {
    let parameter = parameters.iter().find(|parameter| parameter.name == name)?;
    let text = setting.to_string();
    let given = match (&parameter.values, setting) {
        (Values::File | Values::Files, _) => return None,
        (Values::Switch, Value::Switch(is_on)) => Given::Switch(*is_on),
        (Values::Switch, _) | (_, Value::Switch(_)) => return None,
        (Values::ChoiceOrWords(_), _) if is_antecedents_file(&text) => return None,
        _ => value(&text),
    };
    parameter.check(&text).is_ok().then(|| (name.to_string(), given))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn header(algorithm: &str, tokenizer: &str, settings: &[(&str, Value)]) -> Header {
        let settings = settings.iter().map(|(name, value)| (name.to_string(), value.clone()));
        Header {
            algorithm: algorithm.into(),
            tokenizer: tokenizer.into(),
            seed: 0,
            hash_version: 0,
            settings: settings.collect::<BTreeMap<_, _>>(),
        }
    }

    fn text(text: &str) -> Value {
        text.to_string().into()
    }

    #[test]
    fn what_an_index_was_made_with() {
        let settings = [("threshold", text("0.6")), ("bands", 9_u64.into()), ("count repeats", true.into())];
        let made = header("minhash", "word, join-hyphens, fold marks, mask numbers,dates, stem en", &settings);
        let expected = [
            ("algo", value("minhash")),
            ("tokenizer", value("word")),
            ("join-hyphens", Given::Switch(true)),
            ("fold", value("marks")),
            ("mask", value("numbers,dates")),
            ("stem", value("en")),
            ("bands", value("9")),
            ("count-repeats", Given::Switch(true)),
            ("threshold", value("0.6")),
        ];
        assert_eq!(options(&made), expected.map(|(name, given)| (name.to_string(), given)));
        let made = header("exact", "char:5", &[("content", text("main"))]);
        let expected = [("exact", Given::Switch(true)), ("tokenizer", value("char:5")), ("content", value("main"))];
        assert_eq!(options(&made), expected.map(|(name, given)| (name.to_string(), given)));
        let made = header("projection", "word", &[("bits", 256_u64.into()), ("tables", 20_u64.into())]);
        assert_eq!(options(&made)[2..], [("projection-bits".to_string(), value("256"))]);
    }

    /// What a header can have beside that is no option: flags of the run, rows of other algorithms, and values out of range.
    #[test]
    fn nothing_else_is_an_option() {
        let settings = [
            ("temp dir", text("elsewhere")),
            ("temp-dir", text("elsewhere")),
            ("threads", 64_u64.into()),
            ("memory", text("1T")),
            ("preset", text("fineweb")),
            ("max documents", 1_u64.into()),
            ("pre", text("cat")),
            ("distance", 3_u64.into()),
            ("nonsense", 1_u64.into()),
            ("threshold", text("7")),
            ("bands", true.into()),
            ("count repeats", text("true")),
            ("exact", text("yes")),
        ];
        for tokenizer in ["word", "word, temp-dir elsewhere, threads 64, exact, nonsense"] {
            let made = header("minhash", tokenizer, &settings);
            let expected = [("algo", value("minhash")), ("tokenizer", value("word"))];
            assert_eq!(options(&made), expected.map(|(name, given)| (name.to_string(), given)));
        }
        assert_eq!(options(&header("own", "word", &[("shingle", 3_u64.into())])), []);
    }

    /// Also values of options that can be files, where such files exist: tests run in the root of the package.
    #[test]
    fn no_value_names_a_file() {
        for name in ["Cargo.toml", "./LICENSE", "src", "/etc/passwd", "list-0123456789abcdef", "", "en,Cargo.toml"] {
            let made = header("minhash", &format!("word, stopwords {name}"), &[("lexicon", text(name))]);
            assert_eq!(options(&made).len(), 2, "{name}");
            let made = header("simhash", "word", &[("weights", text(name)), ("lexicon", text(name))]);
            assert_eq!(options(&made).len(), 2, "{name}");
            let made = header("spotsigs", "word", &[("antecedents", text(name))]);
            assert_eq!(options(&made).len(), 2, "{name}");
            let made = header("imatch", "word", &[("lexicon", text(name)), ("lexicon without", text(name))]);
            assert_eq!(options(&made).len(), 2, "{name}");
        }
        let made = header("spotsigs", "word", &[("antecedents", text("./a,b"))]);
        assert_eq!(options(&made).len(), 2);
        let made = header("spotsigs", "word", &[("antecedents", text("a,b"))]);
        assert_eq!(options(&made)[2..], [("antecedents".to_string(), value("a,b"))]);
    }

    #[cfg(feature = "stop-words")]
    #[test]
    fn stop_words_are_those_of_languages() {
        let made = header("minhash", "word, stopwords de,en", &[]);
        assert_eq!(options(&made)[2..], [("stopwords".to_string(), Given::List(vec!["de".into(), "en".into()]))]);
    }
}
