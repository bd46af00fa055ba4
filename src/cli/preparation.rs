//! The tokenizer and the preparation of its tokens, resolved.

use super::arguments::Tokens;
use super::arguments::is_file;
use super::status::usage_error;
use neardups::Error;
use neardups::algorithm::presets::Preset;
use neardups::tokenizer::prepared::Step;
use neardups::tokenizer::prepared::fold::FOLDS;
use neardups::tokenizer::prepared::stem::StemLanguage;
use neardups::tokenizer::prepared::stop_words::StopList;
use neardups::tokenizer::{CHAR_AUTO, CharNgram, Preparation, Prepared, TOKENIZERS, Tokenizer, WordLength, by_name};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// A tokenizer with its preparation, resolved.
pub struct Tokenization {
    /// The name of the tokenizer: the typed one, that of the preset, or the default.
    pub name: String,
    /// Where the name comes from, unless it is the default.
    pub why: Option<String>,
    /// The steps of preparation.
    pub steps: Vec<Step>,
    /// The tokenizer, with its preparation; that of words for `char:auto`.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// The tokenizers of short and of long documents for `char:auto`, with their preparation.
    pub by_length: Option<[Arc<dyn Tokenizer>; 2]>,
    /// A description of the preparation; `None` without steps.
    pub prepared: Option<Described>,
}

impl Tokenization {
    /// Resolves the typed values and, for the rest, those of the preset.
    ///
    /// # Errors
    /// The tokens are not words, but steps were typed; a language has no list of stop words; a file of stop words cannot be read, or has
    /// a line without tokens.
    pub fn resolve(typed: &Tokens, preset: Option<&Preset>) -> Result<Self, Error> {
        let of_preset = || preset.and_then(|preset| Some((preset.tokenizer?, format!("preset {}", preset.name))));
        let asked = typed.tokenizer.as_deref().map(|name| (name, "as given".to_string())).or_else(of_preset);
        let (name, why) = asked.map_or((TOKENIZERS[0].name, None), |(name, why)| (name, Some(why)));
        let is_auto = name == CHAR_AUTO;
        let steps = typed.steps();
        refuse_steps(&steps, name)?;
        let preparation = preparation(typed)?;
        let prepared = Described::new(&preparation);
        let prepare = |name: &str| -> Result<Arc<dyn Tokenizer>, Error> {
            let tokenizer: Arc<dyn Tokenizer> = by_name(name)?.into();
            Ok(match prepared {
                None => tokenizer,
                Some(_) => Arc::new(Prepared::new(tokenizer, &preparation)?),
            })
        };
        if !is_auto {
            let tokenizer = prepare(name)?;
            return Ok(Tokenization { name: name.to_string(), why, steps, tokenizer, by_length: None, prepared });
        }
        let tokenizer: Arc<dyn Tokenizer> = by_name(TOKENIZERS[0].name)?.into();
        let [short, long] = [CharNgram::SHORT, CharNgram::LONG].map(|n| prepare(&format!("char:{n}")));
        let by_length = Some([short?, long?]);
        Ok(Tokenization { name: name.to_string(), why, steps, tokenizer, by_length, prepared })
    }

    /// The tokenizer that measures documents; they are cut by it too, unless the length decides.
    pub fn measure(&self) -> Arc<dyn Tokenizer> {
        match self.by_length {
            Some(_) => Arc::new(WordLength),
            None => Arc::clone(&self.tokenizer),
        }
    }

    /// Refuses the choice by the length of documents, for what must be cut before that is known.
    ///
    /// # Errors
    /// The tokenizer is `char:auto`.
    pub fn refuse_by_length(&self, what: &str) -> Result<(), Error> {
        match &self.by_length {
            None => Ok(()),
            Some(_) => Err(usage_error(format!(
                "--tokenizer {CHAR_AUTO} depends on the documents, and {what} must be cut before: use char:{} or char:{}",
                CharNgram::SHORT,
                CharNgram::LONG
            ))),
        }
    }
}

/// Refuses steps where tokens are not words.
fn refuse_steps(steps: &[Step], tokenizer: &str) -> Result<(), Error> {
    let name = tokenizer.split(':').next().unwrap_or_default();
    // These are steps of the text.
    let Some(step) = steps.iter().find(|step| ![Step::JoinHyphens, Step::StopWords].contains(step)) else {
        return Ok(());
    };
    if !TOKENIZERS.iter().any(|entry| entry.name == name && entry.overlapping) {
        return Ok(());
    }
    let others = TOKENIZERS.iter().filter(|entry| !entry.overlapping && entry.build.is_some());
    let others: Vec<_> = others.map(|entry| entry.name).collect();
    Err(usage_error(format!(
        "--{} cannot be used with --tokenizer {tokenizer}, whose tokens are not words: use {}",
        step.flag(),
        others.join(", ")
    )))
}

/// The typed preparation, with its lists of stop words.
fn preparation(typed: &Tokens) -> Result<Preparation, Error> {
    let mut preparation =
        Preparation { join_hyphens: typed.join_hyphens, fold_marks: typed.fold, ..Preparation::default() };
    for name in &typed.mask {
        preparation.masks.add(name);
    }
    for name in typed.stop_words.iter().flat_map(|typed| stop_word_lists(typed)) {
        if preparation.stop_words.iter().all(|list| list.name != name) {
            preparation.stop_words.push(stop_list(name)?);
        }
    }
    if let Some(code) = &typed.stem {
        preparation.stem = Some(StemLanguage::by_code(code)?);
    }
    Ok(preparation)
}

/// The lists named by one value of `--stopwords`: a file, or comma-separated languages and files.
pub fn stop_word_lists(typed: &str) -> Vec<&str> {
    if Path::new(typed).is_file() { vec![typed] } else { typed.split(',').collect() }
}

fn stop_list(typed: &str) -> Result<StopList, Error> {
    let of_language = StopList::of_language(typed);
    if !is_file(typed, |_| of_language.is_ok()) {
        return of_language;
    }
    let content =
        std::fs::read(typed).map_err(|error| Error::input(format!("--stopwords: cannot read {typed}"), error))?;
    StopList::parse(typed, &content)
}

/// A description of a preparation, for messages and JSON.
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

    /// Each step with its value.
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
