//! How documents are compared: typed algorithm, preset, parameters and tokens, resolved into factories.

use super::arguments;
use super::arguments::is_antecedents_file;
use super::preparation::Tokenization;
use super::status::usage_error;
use neardups::Error;
use neardups::algorithm::parameter::{LEXICON, LEXICON_WITHOUT, Settings, WEIGHTS};
use neardups::algorithm::presets::Preset;
use neardups::algorithm::spotsigs::ANTECEDENTS;
use neardups::algorithm::weights::Weights;
use neardups::algorithm::{AlgorithmFactory, Entry, TableFactory};
use neardups::lexicon::weights::TermWeights;
use neardups::lexicon::{Lexicon, list};

/// How documents are compared, resolved.
pub struct Method<'a> {
    typed: &'a arguments::Method,
    pub preset: Option<&'static Preset>,
    pub tokens: Tokenization,
}

impl<'a> Method<'a> {
    /// Looks up the preset and builds the tokenizer.
    ///
    /// # Errors
    /// See [`Tokenization::resolve`].
    pub fn resolve(typed: &'a arguments::Method) -> Result<Self, Error> {
        let preset = typed.preset.as_deref().map(Preset::by_name).transpose()?;
        let tokens = Tokenization::resolve(&typed.tokens, preset)?;
        Ok(Method { typed, preset, tokens })
    }

    /// The chosen algorithm.
    ///
    /// # Errors
    /// The preset is for another algorithm.
    pub fn entry(&self) -> Result<&'static Entry, Error> {
        let typed = &self.typed.algorithm;
        let Some(preset) = self.preset else { return Entry::by_name(&typed.value) };
        let entry = Entry::by_name(preset.algorithm)?;
        let name = if self.typed.is_all() { &typed.value } else { Entry::by_name(&typed.value)?.name };
        if typed.is_typed && name != entry.name {
            return Err(usage_error(format!(
                "--preset {} is for --algo {}, not {name}: leave --algo out",
                preset.name, preset.algorithm
            )));
        }
        Ok(entry)
    }

    /// The factory of an algorithm with these settings, the typed tokenizer and preparation and, for the rest, those of the preset.
    ///
    /// # Errors
    /// The settings contradict each other or the tokens; the lexicon cannot be read, or has tokens of another tokenizer.
    pub fn factory_of(&self, entry: &'static Entry, mut settings: Settings) -> Result<TableFactory, Error> {
        if settings.has(&ANTECEDENTS) {
            let words = self.antecedents(settings.text(&ANTECEDENTS))?;
            settings.set(ANTECEDENTS.name, words);
        }
        let weights = self.typed.weights().filter(|_| settings.has(&WEIGHTS));
        if weights.is_some() {
            settings.set(WEIGHTS.name, Weights::Terms.name());
        }
        let (typed, lexicon) = (self.typed.tokens.tokenizer.as_deref(), settings.file(&LEXICON)?);
        let without = settings.files(&LEXICON_WITHOUT)?;
        // Another algorithm shows something besides.
        let preset = self.preset.filter(|preset| preset.algorithm == entry.name);
        let factory = match (preset, typed) {
            (Some(preset), typed) => preset.factory(settings, typed)?,
            (None, Some(typed)) => entry.factory(settings)?.with_tokenizer(typed)?,
            (None, None) => entry.factory(settings)?,
        };
        let mut factory = factory.with_steps(&self.tokens.steps)?;
        if let Some(by_length) = &self.tokens.by_length {
            factory = factory.with_tokenizers_by_length(by_length.clone());
        }
        if lexicon.is_some() || !without.is_empty() || weights.is_some() {
            self.tokens.refuse_by_length("the terms of a file")?;
        }
        let (tokenizer, seed) = (&*self.tokens.tokenizer, self.typed.seed);
        if let Some(path) = lexicon {
            let lexicon = match self.typed.memory {
                Some(memory) => Lexicon::open_within(&path, tokenizer, seed, memory, self.typed.temp_dir.as_deref())?,
                None => Lexicon::open(&path, tokenizer, seed)?,
            };
            factory = factory.with_lexicon(lexicon)?;
        }
        if let Some(path) = weights {
            let weights = match self.typed.memory {
                Some(memory) => TermWeights::read_within(&path, tokenizer, seed, memory)?,
                None => TermWeights::read(&path, tokenizer, seed)?,
            };
            factory = factory.with_term_weights(weights)?;
        }
        if !without.is_empty() {
            let read = |path| match self.typed.memory {
                Some(memory) => Lexicon::read_list_within(path, tokenizer, seed, memory),
                None => Lexicon::read_list(path, tokenizer, seed),
            };
            let lists = without.iter().map(|path| read(path));
            factory = factory.with_left_out(lists.collect::<Result<Vec<_>, _>>()?)?;
        }
        // Before any file is written.
        factory.prepare(0)?.check_terms(tokenizer, seed)?;
        Ok(factory)
    }

    /// The value of `--antecedents` with each word as the token that it is in documents. The words of a file become a list.
    fn antecedents(&self, typed: &str) -> Result<String, Error> {
        let tokenizer = &*self.tokens.tokenizer;
        if is_antecedents_file(typed) {
            let cannot = |error| Error::input(format!("--antecedents: cannot read {typed}"), error);
            let words = list::words(typed, &std::fs::read(typed).map_err(cannot)?, tokenizer)?;
            return Ok(words.into_iter().map(|word| word + ",").collect());
        }
        let Some(list) = ANTECEDENTS.word_list(typed) else { return Ok(typed.to_string()) };
        let words = list.words.iter().map(|word| list::token(word, tokenizer)).collect::<Result<Vec<_>, _>>();
        Ok(list.with_words(&words.map_err(|why| usage_error(format!("--antecedents {typed}: {why}")))?))
    }

    /// The chosen algorithm, and its factory with the typed parameters.
    ///
    /// # Errors
    /// As for [`entry`](Self::entry) and [`factory_of`](Self::factory_of).
    pub fn factory(&self) -> Result<(&'static Entry, TableFactory), Error> {
        let entry = self.entry()?;
        Ok((entry, self.factory_of(entry, self.typed.settings.clone())?))
    }
}
