//! `--join-hyphens`, `--fold`, `--mask`, `--stopwords` and `--stem`: what is done to text and tokens before they become features.

use super::{arguments, usage_error};
use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches};
use neardups::Error;
use neardups::tokenizer::Preparation;
use neardups::tokenizer::prepared::Step;
use neardups::tokenizer::prepared::fold::FOLDS;
use neardups::tokenizer::prepared::mask::MASKS;
use neardups::tokenizer::prepared::stem::{STEM_LANGUAGES, StemLanguage};
use neardups::tokenizer::prepared::stop_words::{StopList, stop_word_languages};
use neardups::tokenizer::{Prepared, TOKENIZERS, Tokenizer, by_name};
use serde::Serialize;
use std::path::{Path, is_separator};
use std::sync::Arc;

/// The flags, in the order of the steps.
pub fn args() -> Vec<Arg> {
    let possible = |(name, help): &(&'static str, &'static str)| PossibleValue::new(*name).help(*help);
    let (folds, masks) = (FOLDS.iter().map(possible), MASKS.iter().map(possible));
    let stems: Vec<_> = STEM_LANGUAGES.iter().map(|l| format!("{} {}", l.code, l.name)).collect();
    vec![
        Arg::new("join-hyphens")
            .long("join-hyphens")
            .action(ArgAction::SetTrue)
            .help("Join words that are hyphenated at the end of a line")
            .long_help(
                "Join words that are hyphenated at the end of a line, so that exam- and ple on the next line are example. The hyphen \
                 (also U+2010, and a soft hyphen) must stand between two letters; a blank line is not passed over. A word with a hyphen \
                 of its own loses it there: well- and known become wellknown.",
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
            .help("Make all numbers, or all dates and times, the same: numbers, dates, or both with a comma")
            .long_help(
                "Make all numbers, or all dates and times, the same, so that a counter or a date does not make two documents differ. \
                 Dates are looked for before numbers; a year of two digits is no date. May be repeated.",
            ),
        Arg::new("stopwords")
            .long("stopwords")
            .value_name("LANG|FILE")
            .value_parser(NonEmptyStringValueParser::new())
            .action(ArgAction::Append)
            .help("Remove stop words: those of languages (en,de) or of a file; may be repeated")
            .long_help(format!(
                "Remove stop words: those of languages, with commas between, or of a file with one word a line (UTF-8; lines that begin \
                 with # are comments). What exists as a file, or has a dot or a slash in it, is a file. Words are cut and case folded \
                 like the text; one of several tokens (don't) is removed where they follow each other, the longest first. May be \
                 repeated.\n\nLanguages: {}",
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

/// The steps that were asked for.
///
/// # Errors
/// The tokenizer has no words to prepare.
pub fn steps(given: &ArgMatches) -> Result<Vec<Step>, Error> {
    let is_given = |step: &Step| match step {
        Step::JoinHyphens => given.get_flag(step.flag()),
        _ => given.contains_id(step.flag()),
    };
    let steps: Vec<Step> = Step::ALL.into_iter().filter(is_given).collect();
    let typed = arguments::chosen_tokenizer(given)?;
    let name = typed.split(':').next().unwrap_or_default();
    if let Some(step) = steps.first()
        && TOKENIZERS.iter().any(|entry| entry.name == name && entry.overlapping)
    {
        let others = TOKENIZERS.iter().filter(|entry| !entry.overlapping && entry.build.is_some());
        let others: Vec<_> = others.map(|entry| entry.name).collect();
        return Err(usage_error(format!(
            "--{} does not go with --tokenizer {typed}, whose tokens are no words; it goes with {}",
            step.flag(),
            others.join(", ")
        )));
    }
    Ok(steps)
}

/// What was asked for, with the lists of stop words.
///
/// # Errors
/// A language without a list, or a file that cannot be read.
pub fn preparation(given: &ArgMatches) -> Result<Preparation, Error> {
    let mut preparation = Preparation {
        join_hyphens: given.get_flag(Step::JoinHyphens.flag()),
        fold_marks: given.contains_id(Step::Fold.flag()),
        ..Preparation::default()
    };
    for name in given.get_many::<String>("mask").into_iter().flatten() {
        preparation.masks.add(name);
    }
    for typed in given.get_many::<String>("stopwords").into_iter().flatten() {
        let parts = if Path::new(typed).is_file() { vec![&**typed] } else { typed.split(',').collect() };
        for part in parts {
            if preparation.stop_words.iter().all(|list| list.name != part) {
                preparation.stop_words.push(stop_list(part)?);
            }
        }
    }
    if let Some(code) = given.get_one::<String>("stem") {
        preparation.stem = Some(StemLanguage::by_code(code)?);
    }
    Ok(preparation)
}

fn stop_list(typed: &str) -> Result<StopList, Error> {
    let is_path = typed.contains(|c| c == '.' || is_separator(c)) || Path::new(typed).is_file();
    if !is_path {
        return StopList::of_language(typed);
    }
    let content =
        std::fs::read(typed).map_err(|error| Error::input(format!("--stopwords: cannot read {typed}"), error))?;
    StopList::parse(typed, &content)
}

/// The tokenizer that was asked for, with its preparation.
///
/// # Errors
/// As for [`preparation`], and for a line of a file that gives no token.
pub fn tokenizer(given: &ArgMatches) -> Result<(Arc<dyn Tokenizer>, Option<Described>), Error> {
    let tokenizer = by_name(arguments::chosen_tokenizer(given)?)?.into();
    let preparation = preparation(given)?;
    match Described::new(&preparation) {
        None => Ok((tokenizer, None)),
        described => Ok((Arc::new(Prepared::new(tokenizer, &preparation)?), described)),
    }
}

/// A preparation, for people and programs.
#[derive(Clone, Debug, Serialize)]
pub struct Described {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    join_hyphens: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fold: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mask: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stopwords: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stem: Option<&'static str>,
}

impl Described {
    fn new(preparation: &Preparation) -> Option<Self> {
        (!preparation.steps().is_empty()).then(|| Described {
            join_hyphens: preparation.join_hyphens,
            fold: FOLDS.iter().map(|(name, _)| *name).filter(|_| preparation.fold_marks).collect(),
            mask: preparation.masks.names(),
            stopwords: preparation.stop_words.iter().map(|list| list.name.clone()).collect(),
            stem: preparation.stem.map(|language| language.code),
        })
    }

    /// Each step, and what it works with.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let rows = [
            (Step::JoinHyphens, if self.join_hyphens { "true" } else { "" }.to_string()),
            (Step::Fold, self.fold.join(",")),
            (Step::Mask, self.mask.join(",")),
            (Step::StopWords, self.stopwords.join(",")),
            (Step::Stem, self.stem.unwrap_or_default().to_string()),
        ];
        rows.into_iter().filter(|(_, value)| !value.is_empty()).map(|(step, value)| (step.flag(), value)).collect()
    }
}

impl std::fmt::Display for Described {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows: Vec<_> = self.rows().into_iter().map(|(flag, value)| format!("{flag} {value}")).collect();
        f.write_str(&rows.join(", "))
    }
}
