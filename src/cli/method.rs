//! How documents are compared: typed algorithm, preset, parameters and tokens, resolved into factories.

use super::arguments;
use super::preparation::Tokenization;
use super::status::usage_error;
use neardups::Error;
use neardups::algorithm::parameter::{LEXICON, Settings};
use neardups::algorithm::presets::Preset;
use neardups::algorithm::{AlgorithmFactory, Entry, TableFactory};
use neardups::lexicon::Lexicon;

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
        let entry = Entry::by_name(&self.typed.algorithm.value)?;
        let Some(preset) = self.preset else { return Ok(entry) };
        if self.typed.algorithm.is_typed && entry.name != preset.algorithm {
            return Err(usage_error(format!(
                "--preset {} is for --algo {}, not {}: leave --algo out",
                preset.name, preset.algorithm, entry.name
            )));
        }
        Entry::by_name(preset.algorithm)
    }

    /// The factory of an algorithm with these settings, the typed tokenizer and preparation and, for the rest, those of the preset.
    ///
    /// # Errors
    /// The settings contradict each other or the tokens; the lexicon cannot be read, or has tokens of another tokenizer.
    pub fn factory_of(&self, entry: &'static Entry, settings: Settings) -> Result<TableFactory, Error> {
        let (typed, lexicon) = (self.typed.tokens.tokenizer.as_deref(), settings.file(&LEXICON)?);
        let factory = match (self.preset, typed) {
            (Some(preset), typed) => preset.factory(settings, typed)?,
            (None, Some(typed)) => entry.factory(settings)?.with_tokenizer(typed)?,
            (None, None) => entry.factory(settings)?,
        };
        let factory = factory.with_steps(&self.tokens.steps)?;
        match lexicon {
            None => Ok(factory),
            Some(path) => {
                let lexicon = Lexicon::read(&path, self.typed.seed)?;
                let factory = factory.with_lexicon(lexicon)?;
                // Before any file is written.
                factory.prepare(0)?.check_terms(&*self.tokens.tokenizer, self.typed.seed)?;
                Ok(factory)
            }
        }
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
