//! `--tokenizer`, and `--join-hyphens`, `--fold`, `--mask`, `--stopwords` and `--stem`: how text is split into tokens, and how text and
//! tokens are prepared.

use super::values::{switch, typed, value, values};
use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches};
use neardups::Error;
use neardups::tokenizer::prepared::Step;
use neardups::tokenizer::prepared::fold::FOLDS;
use neardups::tokenizer::prepared::mask::MASKS;
use neardups::tokenizer::prepared::stem::STEM_LANGUAGES;
use neardups::tokenizer::prepared::stop_words::stop_word_languages;
use neardups::tokenizer::{self, TOKENIZERS};

/// The help heading of the flags for tokens.
const TOKEN_OPTIONS: &str = "Tokens";

/// Tokenizer and preparation, as typed.
pub struct Tokens {
    /// `--tokenizer`, if it was typed.
    pub tokenizer: Option<String>,
    /// `--join-hyphens`.
    pub join_hyphens: bool,
    /// `--fold`.
    pub fold: bool,
    /// `--mask`.
    pub mask: Vec<String>,
    /// `--stopwords`: files and comma-separated languages.
    pub stop_words: Vec<String>,
    /// `--stem`.
    pub stem: Option<String>,
}

impl Tokens {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        Tokens {
            tokenizer: typed(given, "tokenizer"),
            join_hyphens: switch(given, Step::JoinHyphens.flag()),
            fold: value::<String>(given, Step::Fold.flag()).is_some(),
            mask: values(given, Step::Mask.flag()),
            stop_words: values(given, Step::StopWords.flag()),
            stem: value(given, Step::Stem.flag()).cloned(),
        }
    }

    /// The steps of preparation, in the order in which they are applied.
    pub fn steps(&self) -> Vec<Step> {
        let is_given = |step: &Step| match step {
            Step::JoinHyphens => self.join_hyphens,
            Step::Fold => self.fold,
            Step::Mask => !self.mask.is_empty(),
            Step::StopWords => !self.stop_words.is_empty(),
            Step::Stem => self.stem.is_some(),
        };
        Step::ALL.into_iter().filter(is_given).collect()
    }
}

/// `--tokenizer` and the flags of preparation.
pub fn args() -> Vec<Arg> {
    let args = [tokenizer()].into_iter().chain(preparation());
    args.map(|arg| arg.help_heading(TOKEN_OPTIONS)).collect()
}

fn tokenizer() -> Arg {
    let list: Vec<_> = TOKENIZERS.iter().map(|e| format!("- {}: {}", e.name, e.summary)).collect();
    Arg::new("tokenizer")
        .long("tokenizer")
        .value_name("NAME")
        .value_parser(|typed: &str| match tokenizer::by_name(typed) {
            _ if typed == tokenizer::CHAR_AUTO => Ok(typed.to_string()),
            Ok(_) => Ok(typed.to_string()),
            Err(Error::Parameter { expected, .. }) if is_unbuilt(typed) => {
                Err(format!("expected {expected}: cargo install --path . --features {typed}"))
            }
            Err(Error::Parameter { expected, .. }) => Err(format!("expected {expected}")),
            Err(error) => Err(error.to_string()),
        })
        .default_value(TOKENIZERS[0].name)
        .help(format!("What a token is: {}", TOKENIZERS.iter().map(|e| e.name).collect::<Vec<_>>().join(", ")))
        .long_help(format!("What a token is:\n{}\n", list.join("\n")))
}

/// Whether this is a tokenizer that the program was built without.
fn is_unbuilt(name: &str) -> bool {
    TOKENIZERS.iter().any(|entry| entry.name == name && entry.build.is_none())
}

/// The flags of preparation, in the order of the steps. Long because it is one list of arguments with their help.
fn preparation() -> Vec<Arg> {
    let possible = |(name, help): &(&'static str, &'static str)| PossibleValue::new(*name).help(*help);
    let (folds, masks) = (FOLDS.iter().map(possible), MASKS.iter().map(possible));
    let stems: Vec<_> = STEM_LANGUAGES.iter().map(|l| format!("{} {}", l.code, l.name)).collect();
    vec![
        Arg::new("join-hyphens")
            .long("join-hyphens")
            .action(ArgAction::SetTrue)
            .help("Join words that are hyphenated at the end of a line")
            .long_help(
                "Join words that are hyphenated at the end of a line, so that exam- and ple on the next line become example. The hyphen \
                 (also U+2010, and a soft hyphen) must be between two letters, and the line break must not be followed by a blank line. A word with its \
                 own hyphen loses it there: well- and known become wellknown.",
            ),
        Arg::new("fold")
            .long("fold")
            .value_name("WHAT")
            .value_parser(PossibleValuesParser::new(folds))
            .help("Remove the accents of letters, with --fold marks: café is cafe")
            .long_help(
                "Remove the accents of letters, so that café is cafe: marks of Latin, Greek and Cyrillic letters, and maddah and hamza of \
                 Arabic; the strokes of d, h, l, o and t are removed too, and an i without a dot gets one. Marks of other scripts stay, \
                 and letters such as æ and þ. Lists of stop words are folded too, and words are stemmed without their accents.",
            ),
        Arg::new("mask")
            .long("mask")
            .value_name("WHAT")
            .value_parser(PossibleValuesParser::new(masks))
            .action(ArgAction::Append)
            .value_delimiter(',')
            .help("Replace all numbers, or all dates and times, by a placeholder: numbers, dates, or numbers,dates")
            .long_help(
                "Replace all numbers, or all dates and times, by a placeholder, so that documents that differ only in a counter or a date are equal. \
                 Dates are replaced before numbers; a date with a year of two digits is not recognised. May be repeated.",
            ),
        Arg::new("stopwords")
            .long("stopwords")
            .value_name("LANG|FILE")
            .value_parser(NonEmptyStringValueParser::new())
            .action(ArgAction::Append)
            .help("Remove stop words: those of languages (en,de) or of a file; may be repeated")
            .long_help(format!(
                "Remove stop words: those of comma-separated languages, or of a file with one word a line (UTF-8; lines that begin \
                 with # are comments). A value with a dot or a slash is a file, and so is the name of an existing file that is not a language. Words are tokenized and case \
                 folded like the text; a word of several tokens (don't) is removed where these tokens are consecutive, the longest first. \
                 May be repeated.\n\nLanguages: {}",
                stop_word_languages().join(", ")
            )),
        Arg::new("stem")
            .long("stem")
            .value_name("LANG")
            .value_parser(PossibleValuesParser::new(STEM_LANGUAGES.iter().map(|l| l.code)))
            .hide_possible_values(true)
            .help("Replace words by their stems in a language: en, de, ru, …")
            .long_help(format!(
                "Replace words by their stems in a language (Snowball algorithms), after stop words are removed. Words of another script \
                 stay as they are.\n\nLanguages: {}",
                stems.join(", ")
            )),
    ]
}
