//! Parameters of algorithms: one row each. The flag, its help, its check and its line in the README follow from the
//! row.

use super::Provenance;
use crate::error::Error;
use crate::lexicon::Lexicon;
use crate::lexicon::weights::TermWeights;
use crate::similarity::Threshold;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

/// One parameter of one or more algorithms.
#[derive(Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// The long flag, without dashes.
    pub name: &'static str,
    /// The placeholder of the value in help.
    pub placeholder: &'static str,
    /// The default, as it would be typed; `auto` if it depends on other settings or on the documents.
    pub default: &'static str,
    /// The accepted values.
    pub values: Values,
    /// One line of help.
    pub help: &'static str,
    /// Details beyond the one line: how to choose a value, and what happens at the ends of the range.
    pub details: &'static str,
}

/// The values that a parameter accepts.
#[derive(Debug)]
#[non_exhaustive]
pub enum Values {
    /// A whole number in a range.
    Integer(RangeInclusive<u64>),
    /// A whole number in a range that is a multiple of the first field.
    Multiple(u64, RangeInclusive<u64>),
    /// `auto`, or a whole number in a range.
    AutoInteger(RangeInclusive<u64>),
    /// A similarity above 0 and at most 1, as an exact fraction.
    Threshold,
    /// `auto`, or a similarity above 0 and at most 1.
    AutoThreshold,
    /// A probability strictly between 0 and 1.
    Probability,
    /// A decimal of at most three places, as a range of thousandths.
    Thousandths(RangeInclusive<u64>),
    /// `off`, or a decimal of at most three places, as a range of thousandths.
    OffThousandths(RangeInclusive<u64>),
    /// One of some words, each with a line of help.
    Choice(&'static [(&'static str, &'static str)]),
    /// One of some words, each with a line of help; or a list of words of the user ([`WordList`]).
    ChoiceOrWords(&'static [(&'static str, &'static str)]),
    /// Whole numbers in a range joined by `+`.
    Sum(RangeInclusive<u64>),
    /// `off`, or a number of groups and the size of each, joined by `x`.
    Groups(RangeInclusive<u64>, RangeInclusive<u64>),
    /// `auto`, or a number of tables in the range; or the blocks of both levels of a layout of tables, such as `4x4`.
    AutoTables(RangeInclusive<u64>),
    /// `off`, or a share: a percentage (`5%`) or a decimal (`0.05`), as a range of thousandths.
    OffShare(RangeInclusive<u64>),
    /// `none`, or the path of a file.
    File,
    /// `none`, or the paths of files, separated by line feeds. The flag may be repeated.
    Files,
    /// On when given.
    Switch,
}

impl Parameter {
    /// Returns the accepted values in words.
    pub fn expected(&self) -> String {
        let range = |r: &RangeInclusive<u64>| format!("a whole number from {} to {}", r.start(), r.end());
        let decimals = |r: &RangeInclusive<u64>| {
            let [least, most] = [r.start(), r.end()].map(|end| *end as f64 / 1000.0);
            format!("a number from {least} to {most} with at most three decimals, such as 0.3")
        };
        match &self.values {
            Values::Integer(r) => range(r),
            Values::Multiple(of, r) => format!("a multiple of {of} from {} to {}", r.start(), r.end()),
            Values::AutoInteger(r) => format!("auto, or {}", range(r)),
            Values::AutoTables(r) => format!("auto, {}, or blocks of two levels, such as 4x4", range(r)),
            Values::Threshold => {
                "a number above 0 and at most 1 with up to 12 decimals, such as 0.8, or a fraction, such as 2/3".into()
            }
            Values::AutoThreshold => {
                "auto, or a number above 0 and at most 1 with up to 12 decimals, or a fraction".into()
            }
            Values::Probability => "a number above 0 and below 1, such as 0.99".into(),
            Values::Thousandths(r) => decimals(r),
            Values::OffThousandths(r) => format!("off, or {}", decimals(r)),
            Values::Choice(words) => words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" or "),
            Values::ChoiceOrWords(words) => format!(
                "{}; words separated by commas, such as a,the, or a word with a comma after it, such as this,; or words joined to one of \
                 these, such as {1}+this or {1}:a,the",
                words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", "),
                words[0].0
            ),
            Values::Sum(r) => format!("whole numbers from {} to {} joined by +, such as 1+2", r.start(), r.end()),
            Values::Groups(groups, size) => format!(
                "off, or {} to {} groups of {} to {}, such as 6x14",
                groups.start(),
                groups.end(),
                size.start(),
                size.end()
            ),
            Values::OffShare(r) => {
                let [least, most] = [r.start(), r.end()].map(|end| *end as f64 / 10.0);
                format!("off, or a share from {least}% to {most}% in steps of 0.1%, such as 5% or 0.05")
            }
            Values::File => "the path of a file, or none".into(),
            Values::Files => "the path of a file, or none; may be repeated".into(),
            Values::Switch => "true or false".into(),
        }
    }

    /// Parses a list of words of the user; `None` for other values, or if the parameter takes no lists.
    pub fn word_list<'a>(&self, value: &'a str) -> Option<WordList<'a>> {
        match &self.values {
            Values::ChoiceOrWords(choices) => WordList::parse(value, choices),
            _ => None,
        }
    }

    /// Checks a value.
    ///
    /// # Errors [`Error::Parameter`] that names the value and the accepted values.
    pub fn check(&self, value: &str) -> Result<(), Error> {
        let integer = |r: &RangeInclusive<u64>, v: &str| v.parse().is_ok_and(|n| r.contains(&n));
        let fine = match &self.values {
            Values::Integer(r) => integer(r, value),
            Values::Multiple(of, r) => value.parse().is_ok_and(|n: u64| r.contains(&n) && n.is_multiple_of(*of)),
            Values::AutoInteger(r) => value == AUTO || integer(r, value),
            Values::AutoTables(r) => value == AUTO || integer(r, value) || blocks_of_levels(value).is_some(),
            Values::Threshold => value.parse::<Threshold>().is_ok(),
            Values::AutoThreshold => value == AUTO || value.parse::<Threshold>().is_ok(),
            Values::Probability => value.parse::<f64>().is_ok_and(|p| p > 0.0 && p < 1.0),
            Values::Thousandths(r) => thousandths(value).is_some_and(|n| r.contains(&n)),
            Values::OffThousandths(r) => value == "off" || thousandths(value).is_some_and(|n| r.contains(&n)),
            Values::Choice(words) => words.iter().any(|(word, _)| *word == value),
            Values::ChoiceOrWords(words) => {
                words.iter().any(|(word, _)| *word == value) || WordList::parse(value, words).is_some()
            }
            Values::Sum(r) => value.split('+').all(|part| integer(r, part)),
            Values::Groups(groups, size) => {
                value == "off" || value.split_once('x').is_some_and(|(m, l)| integer(groups, m) && integer(size, l))
            }
            Values::OffShare(r) => value == "off" || share(value).is_some_and(|n| r.contains(&n)),
            // Standard input is reserved for documents.
            Values::File => !value.is_empty() && value != "-",
            Values::Files => value.split('\n').all(|path| !path.is_empty() && path != "-"),
            Values::Switch => value == "true" || value == "false",
        };
        if fine { Ok(()) } else { Err(Error::parameter(self.name, value, self.expected())) }
    }
}

/// Returns the blocks of both levels of a layout of tables, such as `4x4`.
pub(super) fn blocks_of_levels(typed: &str) -> Option<(usize, usize)> {
    let (blocks, again) = typed.split_once('x')?;
    let number = |typed: &str| typed.parse::<u16>().ok().filter(|number| number.to_string() == typed);
    Some((number(blocks)?.into(), number(again)?.into()))
}

/// Returns a decimal of at most three places in thousandths.
fn thousandths(typed: &str) -> Option<u64> {
    let (whole, decimals) = typed.split_once('.').unwrap_or((typed, ""));
    let digits = |part: &str, most: usize| part.len() <= most && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole, 6) || !digits(decimals, 3) || (whole.is_empty() && decimals.is_empty()) {
        return None;
    }
    format!("{whole}{decimals:0<3}").parse().ok()
}

/// Returns a share in thousandths: a percentage of at most one decimal, or a decimal of at most three.
fn share(typed: &str) -> Option<u64> {
    match typed.strip_suffix('%') {
        Some(percent) => thousandths(percent).filter(|n| n.is_multiple_of(100)).map(|n| n / 100),
        None => thousandths(typed),
    }
}

/// A list of words of the user, alone or in relation to one of the words of a choice: `a,the`, `en+this`, `en:a,the`. A
/// list of one word ends with a comma, so that a mistyped choice is not taken for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordList<'a> {
    /// The word of the choice.
    pub base: Option<&'a str>,
    /// Whether the words are added to those of the choice (`+`). Otherwise they replace them.
    pub adds: bool,
    /// The words, at least one, in the order given.
    pub words: Vec<&'a str>,
}

impl<'a> WordList<'a> {
    /// Parses a list; `None` if it has no word, or a word with white space. `choices` are the words of the choice.
    pub fn parse(typed: &'a str, choices: &[(&str, &str)]) -> Option<Self> {
        let of_choice =
            |end: char| typed.split_once(end).filter(|(base, _)| choices.iter().any(|(choice, _)| choice == base));
        let (base, adds, list) = match (of_choice('+'), of_choice(':')) {
            (Some((base, list)), _) => (Some(base), true, list),
            (_, Some((base, list))) => (Some(base), false, list),
            _ if typed.contains(',') => (None, false, typed),
            _ => return None,
        };
        let words: Vec<&str> = list.split([',', '+']).map(str::trim).filter(|word| !word.is_empty()).collect();
        let fine = !words.is_empty() && words.iter().all(|word| !word.contains(char::is_whitespace));
        fine.then_some(WordList { base, adds, words })
    }

    /// Writes the list with other words, so that [`parse`](Self::parse) reads them back.
    pub fn with_words(&self, words: &[String]) -> String {
        let base = self.base.map_or(String::new(), |base| format!("{base}{}", if self.adds { '+' } else { ':' }));
        let end = if self.base.is_none() && words.len() == 1 { "," } else { "" };
        format!("{base}{}{end}", words.join(","))
    }
}

/// The provenance of the values of an algorithm's parameters. By default the algorithm was built in code, which gave
/// all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Option<BTreeMap<String, Provenance>>);

impl Origins {
    /// Returns the provenance of this parameter's value.
    pub fn of(&self, parameter: &Parameter) -> Provenance {
        self.of_or(parameter, Provenance::DEFAULT)
    }

    /// Returns the provenance of this parameter's value, or `otherwise` if nothing was given.
    pub fn of_or(&self, parameter: &Parameter, otherwise: Provenance) -> Provenance {
        match &self.0 {
            None => Provenance::GIVEN,
            Some(decided) => decided.get(parameter.name).cloned().unwrap_or(otherwise),
        }
    }

    /// Records the reason for a value that was derived, not given.
    pub(super) fn derive(&mut self, parameter: &Parameter, reason: impl Into<Cow<'static, str>>) {
        let decided = self.0.get_or_insert_default();
        decided.insert(parameter.name.to_string(), Provenance::derived(reason));
    }
}

/// The word for a value that is derived.
const AUTO: &str = "auto";

/// Parameter values as typed, by name. Parameters that are not given have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    given: BTreeMap<String, String>,
    /// The provenance of given values that did not come from the user.
    provenance: BTreeMap<String, Provenance>,
    /// The defaults of the algorithm that the settings are for, where they differ from the parameter's default.
    defaults: BTreeMap<&'static str, &'static str>,
    lexicon: Option<Arc<Lexicon>>,
    /// The weights of terms, for `weights terms`.
    term_weights: Option<Arc<TermWeights>>,
    /// The lists of words that auxiliary lexicons lack.
    left_out: Vec<Arc<Lexicon>>,
    /// Whether the tokenizer was requested, and so is used however short the documents are.
    tokenizer_is_fixed: bool,
    /// Whether the tokens are runs of characters, one for each character.
    tokens_are_characters: bool,
}

impl Settings {
    /// Settings from name and value pairs.
    pub fn from_pairs<N: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (N, V)>) -> Self {
        let given = pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Settings { given, ..Settings::default() }
    }

    /// Sets the defaults of an algorithm; they replace those of the parameters.
    pub fn with_defaults(mut self, defaults: &[(&'static Parameter, &'static str)]) -> Self {
        self.defaults = defaults.iter().map(|(parameter, default)| (parameter.name, *default)).collect();
        self
    }

    /// Sets a parameter to a value.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        self.provenance.remove(&name);
        self.given.insert(name, value.into());
    }

    /// Sets a parameter to a value that does not come from the user.
    pub(super) fn set_from(&mut self, name: impl Into<String>, value: impl Into<String>, provenance: Provenance) {
        let name = name.into();
        self.provenance.insert(name.clone(), provenance);
        self.given.insert(name, value.into());
    }

    /// Returns the given values, by name.
    pub fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        self.given.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the provenance of the values, for [rows](super::Algorithm::rows). A value given as `auto` counts as not
    /// given.
    pub fn origins(&self) -> Origins {
        let decided = self.given().filter(|(_, value)| *value != AUTO);
        let provenance = |name| self.provenance.get(name).cloned().unwrap_or(Provenance::GIVEN);
        Origins(Some(decided.map(|(name, _)| (name.to_string(), provenance(name))).collect()))
    }

    /// Returns whether the parameter was given.
    pub fn has(&self, parameter: &Parameter) -> bool {
        self.given.contains_key(parameter.name)
    }

    /// Returns the value as typed, or the default.
    pub fn text<'a>(&'a self, parameter: &'a Parameter) -> &'a str {
        let default = || self.defaults.get(parameter.name).copied().unwrap_or(parameter.default);
        self.given.get(parameter.name).map_or_else(default, String::as_str)
    }

    /// Returns a whole number; `None` for `auto`.
    ///
    /// # Errors A value that [`Parameter::check`] rejects; the same holds for the other getters.
    pub fn integer(&self, parameter: &Parameter) -> Result<Option<usize>, Error> {
        parameter.check(self.text(parameter))?;
        Ok(self.text(parameter).parse().ok())
    }

    /// Returns a threshold; `None` for `auto`.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn threshold(&self, parameter: &Parameter) -> Result<Option<Threshold>, Error> {
        parameter.check(self.text(parameter))?;
        Ok(self.text(parameter).parse().ok())
    }

    /// A probability.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn probability(&self, parameter: &Parameter) -> Result<f64, Error> {
        parameter.check(self.text(parameter))?;
        Ok(self.text(parameter).parse().expect("checked"))
    }

    /// A decimal, in thousandths.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn thousandths(&self, parameter: &Parameter) -> Result<u64, Error> {
        parameter.check(self.text(parameter))?;
        Ok(thousandths(self.text(parameter)).expect("checked"))
    }

    /// A decimal, in thousandths; `None` for `off`.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn thousandths_unless_off(&self, parameter: &Parameter) -> Result<Option<u64>, Error> {
        parameter.check(self.text(parameter))?;
        Ok(thousandths(self.text(parameter)))
    }

    /// Returns a share, in thousandths; `None` for `off`.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn share_unless_off(&self, parameter: &Parameter) -> Result<Option<u64>, Error> {
        parameter.check(self.text(parameter))?;
        Ok(share(self.text(parameter)))
    }

    /// Returns the chosen word of a choice.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn choice<'a>(&'a self, parameter: &'a Parameter) -> Result<&'a str, Error> {
        parameter.check(self.text(parameter))?;
        Ok(self.text(parameter))
    }

    /// Returns numbers joined by `+`, ascending, without repeats.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn sum(&self, parameter: &Parameter) -> Result<Vec<usize>, Error> {
        parameter.check(self.text(parameter))?;
        let mut parts: Vec<usize> =
            self.text(parameter).split('+').map(|part| part.parse().expect("checked")).collect();
        parts.sort_unstable();
        parts.dedup();
        Ok(parts)
    }

    /// Returns a number of groups and the size of each; `None` for `off`.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn groups(&self, parameter: &Parameter) -> Result<Option<(usize, usize)>, Error> {
        parameter.check(self.text(parameter))?;
        Ok(self.text(parameter).split_once('x').map(|(m, l)| {
            let number = |digits: &str| digits.parse().expect("checked");
            (number(m), number(l))
        }))
    }

    /// Returns the path of a file; `None` for `none`.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn file(&self, parameter: &Parameter) -> Result<Option<PathBuf>, Error> {
        parameter.check(self.text(parameter))?;
        Ok(Some(self.text(parameter)).filter(|typed| *typed != "none").map(PathBuf::from))
    }

    /// Returns the paths of files; none for `none`.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn files(&self, parameter: &Parameter) -> Result<Vec<PathBuf>, Error> {
        parameter.check(self.text(parameter))?;
        Ok(self.text(parameter).split('\n').filter(|typed| *typed != "none").map(PathBuf::from).collect())
    }

    /// Returns the weights of terms, for `weights terms`.
    pub fn term_weights(&self) -> Option<&Arc<TermWeights>> {
        self.term_weights.as_ref()
    }

    /// Sets the weights of terms, for `weights terms`.
    pub fn set_term_weights(&mut self, weights: Arc<TermWeights>) {
        self.term_weights = Some(weights);
    }

    /// Returns the lists of words that auxiliary lexicons lack, once their files were read.
    pub fn left_out(&self) -> &[Arc<Lexicon>] {
        &self.left_out
    }

    /// Sets the lists of words that auxiliary lexicons lack, one list for each.
    pub fn set_left_out(&mut self, lists: Vec<Arc<Lexicon>>) {
        self.left_out = lists;
    }

    /// Returns the content of the [`LEXICON`] file, once it was read.
    pub fn lexicon(&self) -> Option<&Arc<Lexicon>> {
        self.lexicon.as_ref()
    }

    /// Sets the content of the [`LEXICON`] file.
    pub fn set_lexicon(&mut self, lexicon: Arc<Lexicon>) {
        self.lexicon = Some(lexicon);
    }

    /// Whether the tokenizer was requested, and so is used however short the documents are.
    pub(super) fn tokenizer_is_fixed(&self) -> bool {
        self.tokenizer_is_fixed
    }

    /// Whether the tokens are runs of characters, one for each character.
    pub(super) fn tokens_are_characters(&self) -> bool {
        self.tokens_are_characters
    }

    /// Records that the tokens are runs of characters.
    pub(super) fn count_characters(&mut self) {
        self.tokens_are_characters = true;
    }

    /// Records that the tokenizer was requested.
    pub(super) fn fix_tokenizer(&mut self) {
        self.tokenizer_is_fixed = true;
    }

    /// A switch.
    ///
    /// # Errors
    /// As for [`integer`](Self::integer).
    pub fn switch(&self, parameter: &Parameter) -> Result<bool, Error> {
        parameter.check(self.text(parameter))?;
        Ok(self.text(parameter) == "true")
    }
}

// Parameters that more than one family has, or may have.

/// The parameter `threshold`.
pub static THRESHOLD: Parameter = Parameter {
    name: "threshold",
    placeholder: "S",
    default: "0.8",
    values: Values::Threshold,
    help: "Minimum similarity of a reported pair",
    details: "An exact fraction: a pair with 4 of 5 features in common is at 0.8. 0.8 suits copies with edits; 0.5 finds loose revisions \
              and, on short documents, coincidences.",
};

/// The parameter `recall`.
pub static RECALL: Parameter = Parameter {
    name: "recall",
    placeholder: "R",
    default: "0.99",
    values: Values::Probability,
    help: "Probability that a pair exactly at the threshold is found",
    details: "MinHash: the bands are chosen so that a pair at the threshold is found with at least this probability, whatever the length of its \
              documents; pairs above the threshold are found with a higher one. Reported pairs are verified exactly, so a higher recall costs \
              time, not precision. SimHash and random projection: only with `cosine`. It also holds for copies that differ by one inserted, \
              removed or replaced word, unless a few words outweigh all others of a document.",
};

/// The parameter `cosine`.
pub static COSINE: Parameter = Parameter {
    name: "cosine",
    placeholder: "C",
    default: "auto",
    values: Values::AutoThreshold,
    help: "Look for pairs of this cosine similarity",
    details: "SimHash: takes the least distance that a pair at this cosine keeps with probability `recall` (8 for 0.98 at recall 0.9), \
              instead of `distance`. Random projection: reports the pairs whose exact cosine of token counts is at least this, each \
              found with probability `recall` or more, instead of `agree`; the counts are those of `weights`.",
};

/// The parameter `weights`.
pub static WEIGHTS: Parameter = Parameter {
    name: "weights",
    placeholder: "KIND|FILE",
    default: "binary",
    values: Values::Choice(&[
        ("binary", "each distinct feature weighs 1"),
        ("tf", "each occurrence weighs 1; unrelated long texts become similar"),
        ("idf", "from 1 to 15, by how often it occurs, and by how few documents have its tokens"),
        ("terms", "each distinct feature weighs as much as the heaviest of its tokens in a list of weights"),
    ]),
    help: "How much a feature weighs: binary, tf, idf, or by a file of weights",
    details: "Term frequencies are what the plain recipe uses. They make common words decide: documents of 1,000 tokens that have \
              nothing else in common are then about 6 bits apart instead of 28, in a simulation. idf reads the documents once more, to \
              count terms, and a fingerprint then depends on all of them; or takes the counts of `lexicon`. It weighs \
              7·(1 + ln tf)·ln((N+1)/df)/ln(N+1), rounded; a run of tokens is as rare as its rarest token. A file gives weights of your own: \
              lines of a term, a tab and a whole number from 0 to 100 (UTF-8; lines that begin with # are comments). Each distinct feature \
              then weighs as much as its heaviest token; tokens that are not listed weigh 1, and features of weight 0 do not count. A \
              value with a dot or a slash is a file, and so is the name of an existing file that is none of these words.",
};

/// The parameter `lexicon`.
pub static LEXICON: Parameter = Parameter {
    name: "lexicon",
    placeholder: "FILE",
    default: "none",
    values: Values::File,
    help: "Judge terms by this lexicon, instead of counting those of the documents",
    details: "A file made by `count_terms`, compressed or not, for the same tokenizer. The result for two documents then \
              does not depend on others, and the documents are read once. Terms that are not in it are taken for the rarest: they do not \
              count for I-Match, and weigh most with `weights idf`. Without that, SimHash and random projection do not use it. For I-Match \
              it can also be a plain list of words, one term a line (UTF-8; lines that begin with # are comments): those terms count, and \
              no others, however many documents have them.",
};

/// The parameter `lexicon-without`.
pub static LEXICON_WITHOUT: Parameter = Parameter {
    name: "lexicon-without",
    placeholder: "FILE",
    default: "none",
    values: Values::Files,
    help: "Add an auxiliary lexicon: the whole one without the words of this file; may be repeated",
    details: "One term a line (UTF-8; lines that begin with # are comments). Each file makes a lexicon and a digest of its own, and any equal \
              digest makes a pair: with two files, documents have three digests. They take the place of the randomized lexicons, unless \
              `lexicons` is given as well.",
};

/// The parameter `hash`.
pub static HASH: Parameter = Parameter {
    name: "hash",
    placeholder: "KIND",
    default: "xxh3",
    values: Values::Choice(&[
        (
            "xxh3",
            "hashes of the tokens (XXH3 beyond 16 bytes), combined; the fastest, and the only one that depends on `seed`",
        ),
        ("md5", "the last 8 bytes of the MD5 of the tokens joined by a space, big-endian; as in 1e0ng/simhash"),
        ("sha1", "the first 8 bytes of their SHA-1, little-endian; as in text-dedup"),
    ]),
    help: "Hash function for runs of tokens: xxh3, md5 or sha1",
    details: "With md5 and sha1 the fingerprints are those that other tools compute for the same runs of tokens; both are slower. \
              For SimHash, the fingerprints depend on the hash function. For MinHash, it only affects which pairs are missed by chance.",
};

/// The parameter `drop-common`.
pub static DROP_COMMON: Parameter = Parameter {
    name: "drop-common",
    placeholder: "P",
    default: "off",
    values: Values::OffThousandths(1..=999),
    help: "Leave out features that more than this share of the documents have",
    details: "For pages of one site or one template: what is in more than P of all documents (menus, headings, footers, licences; with \
              SimHash and random projection common words too) counts for nothing, in fingerprints and in similarities. A group of \
              near-duplicates that is larger than this share loses what it has in common. The documents are read twice more.",
};

/// The parameter `shingle`.
pub static SHINGLE: Parameter = Parameter {
    name: "shingle",
    placeholder: "W",
    default: "auto",
    values: Values::AutoInteger(1..=64),
    help: "Tokens in a shingle",
    details: "auto follows the median document: 5 from 100 tokens, 3 from 30, 2 from 10; below that, runs of 4 characters. A longer \
              shingle is stricter: one changed token spoils W of them.",
};

/// The reason why a shingle is a single token.
pub(super) const OVERLAPPING: &str = "runs of characters are shingles already";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_words() {
        let choices = [("en", ""), ("de", "")];
        let parse = |typed| {
            let list = WordList::parse(typed, &choices)?;
            let words: Vec<String> = list.words.iter().map(|word| word.to_string()).collect();
            assert_eq!(WordList::parse(&list.with_words(&words), &choices).as_ref(), Some(&list));
            Some((list.base, list.adds, list.words))
        };
        assert_eq!(parse("a,an, the,this"), Some((None, false, vec!["a", "an", "the", "this"])));
        assert_eq!(parse("the,"), Some((None, false, vec!["the"])));
        assert_eq!(parse("de,"), Some((None, false, vec!["de"])));
        assert_eq!(parse("en+this"), Some((Some("en"), true, vec!["this"])));
        assert_eq!(parse("en+this+that"), Some((Some("en"), true, vec!["this", "that"])));
        assert_eq!(parse("en:a,the"), Some((Some("en"), false, vec!["a", "the"])));
        for bad in ["", ",", "the", "it", "en+", "en:,", "xx+this", "a b,c"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn shares_in_thousandths() {
        let good = ["5%", "0.5%", "0.05", "99.9%", "0%", "0", "100%"].map(share);
        assert_eq!(good, [50, 5, 50, 999, 0, 0, 1000].map(Some));
        for bad in ["", "%", "5 %", "0.05%", "5%%", "-5%", "five%"] {
            assert_eq!(share(bad), None, "{bad}");
        }
    }

    #[test]
    fn decimals_in_thousandths() {
        let good = ["0", "1", ".2", "0.2", "0.200", "00.999", "12."].map(thousandths);
        assert_eq!(good, [0, 1000, 200, 200, 200, 999, 12_000].map(Some));
        for bad in ["", ".", "0.1234", "-0.1", "+1", "1e-1", "1/5", "nan", "1234567", "٣"] {
            assert_eq!(thousandths(bad), None, "{bad}");
        }
    }
}
