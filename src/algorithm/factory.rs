//! Factories: they turn settings into an algorithm once the median length of the documents is known.

use super::drop_common::WithoutCommon;
use super::family::{Learned, Learns, Totals};
use super::forecast::{CHARACTERS_OF_A_WORD, SearchForecast, three_digits};
use super::parameter::{DROP_COMMON, LEXICON, LEXICON_WITHOUT, OVERLAPPING, Parameter, SHINGLE, Settings, WEIGHTS};
use super::prepared::{AlgorithmFactory, PreparedAlgorithm};
use super::row::{Provenance, Row, RowKind};
use super::weights::Weights;
use crate::error::Error;
use crate::lexicon::Lexicon;
use crate::lexicon::weights::TermWeights;
use crate::tokenizer::prepared::Step;
use crate::tokenizer::{self, CharNgram, Tokenizer};
use std::fmt;
use std::sync::Arc;

/// One line of the table of algorithms.
#[non_exhaustive]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line for help.
    pub summary: &'static str,
    /// When to use it and where it is weak; a short paragraph.
    pub advice: &'static str,
    /// Its parameters; each is a flag.
    pub parameters: &'static [&'static Parameter],
    /// The parameters whose default differs in this algorithm, with that default.
    pub defaults: &'static [(&'static Parameter, &'static str)],
    /// Steps of preparation that would remove what the algorithm looks for.
    pub refuses: &'static [Step],
    /// Returns the prepared algorithm for these parameters and this median document length in tokens.
    pub prepare: fn(&Settings, usize) -> Result<PreparedAlgorithm, Error>,
    /// Returns whether the median can change the algorithm (apart from its warnings) for these parameters.
    pub depends_on_length: fn(&Settings) -> bool,
    /// Returns what the algorithm would find and cost, for these parameters, median length and number of documents.
    pub forecast: fn(&Settings, usize, u64) -> Result<Forecast, Error>,
}

impl Entry {
    /// Returns whether the algorithm has this parameter.
    pub fn uses(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|p| p.name == parameter)
    }

    /// Returns the default of a parameter in this algorithm.
    pub fn default_of(&self, parameter: &Parameter) -> &'static str {
        let own = self.defaults.iter().find(|(other, _)| other.name == parameter.name);
        own.map_or(parameter.default, |(_, default)| default)
    }

    /// Checks that tokens may be prepared with these steps.
    ///
    /// # Errors [`Error::Usage`] for a step that would remove what the algorithm looks for.
    pub fn goes_with(&self, steps: &[Step]) -> Result<(), Error> {
        match steps.iter().find(|step| self.refuses.contains(step)) {
            Some(step) => Err(Error::Usage(format!(
                "`{}` cannot be combined with `algo {}`, which needs the unchanged words of running text; \
                 another algorithm, such as minhash, allows it",
                step.flag(),
                self.name
            ))),
            None => Ok(()),
        }
    }

    /// Checks that the algorithm uses its lexicons and weights with these settings.
    pub(super) fn check_lexicons(&self, settings: &Settings) -> Result<(), Error> {
        let (lexicon, left_out) = (settings.lexicon(), settings.left_out());
        let is_used = || Ok::<_, Error>((self.prepare)(settings, 0)?.algorithm.learns() == Some(Learns::Terms));
        let message = if lexicon.is_some() && !is_used()? {
            format!("a lexicon has no effect on {} with these settings", self.name)
        } else if self.uses(WEIGHTS.name) && lexicon.is_some_and(|lexicon| lexicon.is_list()) {
            "a list of words has no document frequencies for `weights idf`: use a lexicon made by `count_terms`".into()
        } else if settings.term_weights().is_some() && !self.uses(WEIGHTS.name) {
            format!("`{}` is not used by {}", WEIGHTS.name, self.name)
        } else if !left_out.is_empty() && !self.uses(LEXICON_WITHOUT.name) {
            format!("`{}` is not used by {}", LEXICON_WITHOUT.name, self.name)
        } else if left_out.iter().any(|list| !list.is_list()) {
            format!("`{}` takes lists of words, one term a line", LEXICON_WITHOUT.name)
        } else {
            return Ok(());
        };
        Err(Error::Usage(message))
    }
}

/// The factory of an algorithm in the table, with checked settings.
#[derive(Clone)]
pub struct TableFactory {
    entry: &'static Entry,
    settings: Settings,
    /// The tokenizers of short and of long documents, if the length decides.
    by_length: Option<[Arc<dyn Tokenizer>; 2]>,
    /// The length of the runs of characters that are tokens, if they are too short.
    short_runs: Option<usize>,
}

impl fmt::Debug for TableFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableFactory").field("algorithm", &self.entry.name).field("settings", &self.settings).finish()
    }
}

impl TableFactory {
    /// The factory for settings that were checked.
    pub(super) fn new(entry: &'static Entry, settings: Settings) -> Self {
        TableFactory { entry, settings, by_length: None, short_runs: None }
    }

    /// Sets the tokenizer, by its name in the table; it is used however short the documents are. Runs of characters are
    /// already shingles, so one of them makes a shingle unless the settings give another number.
    ///
    /// `char:auto` is `char:5` or `char:9`, by the median length of the documents ([`CharNgram::for_length`]).
    ///
    /// # Errors
    /// As for [`tokenizer::by_name`].
    pub fn with_tokenizer(mut self, typed: &str) -> Result<Self, Error> {
        if typed == tokenizer::CHAR_AUTO {
            let of = |n| Arc::new(CharNgram::new(n)) as Arc<dyn Tokenizer>;
            self.by_length = Some([CharNgram::SHORT, CharNgram::LONG].map(of));
        } else {
            tokenizer::by_name(typed)?;
            let runs = tokenizer::canonical_name(typed)?.strip_prefix("char:").and_then(|n| n.parse().ok());
            self.short_runs = runs.filter(|&runs: &usize| runs < CharNgram::LEAST_ADVISED);
        }
        self.settings.fix_tokenizer();
        if tokenizer::is_overlapping(typed) {
            self.settings.count_characters();
        }
        if tokenizer::is_overlapping(typed)
            && self.entry.uses(SHINGLE.name)
            && !self.settings.given().any(|(name, _)| name == SHINGLE.name)
        {
            self.settings.set_from(SHINGLE.name, "1", Provenance::derived(OVERLAPPING));
        }
        Ok(self)
    }

    /// Sets the tokenizers that take the place of the requested one: the first for short documents, the second for long
    /// ones, by their median length as for [`char:auto`](Self::with_tokenizer). For tokens that are prepared.
    pub fn with_tokenizers_by_length(mut self, tokenizers: [Arc<dyn Tokenizer>; 2]) -> Self {
        self.by_length = Some(tokenizers);
        self
    }

    /// Sets the steps that prepare the tokens. They are used however short the documents are, like a requested
    /// tokenizer.
    ///
    /// # Errors [`Error::Usage`] for a step that the algorithm cannot be combined with.
    pub fn with_steps(mut self, steps: &[Step]) -> Result<Self, Error> {
        self.entry.goes_with(steps)?;
        if !steps.is_empty() {
            self.settings.fix_tokenizer();
        }
        Ok(self)
    }

    /// Sets a lexicon that gives the document frequencies of terms, instead of counting them in the documents. Whatever
    /// runs the algorithm checks that the terms come from the same tokenizer and seed.
    ///
    /// # Errors The algorithm does not use a lexicon with these settings, or needs document frequencies, which a list of
    /// words lacks.
    pub fn with_lexicon(mut self, lexicon: impl Into<Arc<Lexicon>>) -> Result<Self, Error> {
        self.settings.set_lexicon(lexicon.into());
        self.entry.check_lexicons(&self.settings)?;
        Ok(self)
    }

    /// Sets the weights of terms, instead of other `weights`. Whatever runs the algorithm checks that the terms come from
    /// the same tokenizer and seed.
    ///
    /// # Errors The algorithm has no weights, or a lexicon is given too.
    pub fn with_term_weights(mut self, weights: impl Into<Arc<TermWeights>>) -> Result<Self, Error> {
        self.settings.set(WEIGHTS.name, Weights::Terms.name());
        self.settings.set_term_weights(weights.into());
        self.entry.check_lexicons(&self.settings)?;
        Ok(self)
    }

    /// Adds an auxiliary lexicon to I-Match for each of these lists: the whole one without the words of the list. Whatever
    /// runs the algorithm checks that the words come from the same tokenizer and seed.
    ///
    /// # Errors The algorithm is not I-Match, or a lexicon has document frequencies.
    pub fn with_left_out(mut self, lists: impl IntoIterator<Item = impl Into<Arc<Lexicon>>>) -> Result<Self, Error> {
        self.settings.set_left_out(lists.into_iter().map(Into::into).collect());
        self.entry.check_lexicons(&self.settings)?;
        Ok(self)
    }

    /// Returns what the settings resolve to for this median length, in words, and number of documents. Where tokens are runs of
    /// characters, a word with the space after it counts as [`CHARACTERS_OF_A_WORD`] of them.
    ///
    /// # Errors
    /// As for [`AlgorithmFactory::prepare`].
    pub fn plan(&self, median_words: usize, documents: u64) -> Result<PlannedRun, Error> {
        let are_characters = self.settings.tokens_are_characters();
        let planned = if are_characters { median_words.saturating_mul(CHARACTERS_OF_A_WORD) } else { median_words };
        // The length in words decides about the tokenizer.
        let median_tokens = if self.by_length.is_some() { median_words } else { planned };
        let PreparedAlgorithm { mut algorithm, tokenizer, warnings, refusal, .. } = self.prepare(median_tokens)?;
        algorithm.learn(&Learned::Totals(Totals { fingerprints: documents as usize, median_tokens }));
        let parameters = algorithm.rows().into_iter().filter(|row| row.kind != RowKind::Stated).collect();
        let mut forecast = (self.entry.forecast)(&self.settings, planned, documents)?;
        let pairs = documents as f64 * (documents as f64 - 1.0) / 2.0;
        let naive = three_digits(pairs * NAIVE_SECONDS);
        forecast.costs.extend([
            ("pairs of documents", pairs, "pairs"),
            ("comparing each of them", naive, "seconds at 1 µs each"),
        ]);
        if documents > MOST_DOCUMENTS {
            forecast.notes.push(format!(
                "a run or an index takes at most 2³² − 2 documents: this many need {}, and each document is looked up in all of them",
                documents.div_ceil(MOST_DOCUMENTS)
            ));
        }
        if let Some(share) = self.settings.thousandths_unless_off(&DROP_COMMON)? {
            forecast.notes.push(format!(
                "features that more than {} of the documents have are left out of everything, which takes two more readings",
                share as f64 / 1000.0
            ));
        }
        if are_characters {
            forecast.notes.push(format!(
                "the length is in words: {median_words} of them, of {CHARACTERS_OF_A_WORD} characters with the space after each, are {planned} runs of \
                 characters"
            ));
        }
        forecast.notes.extend(warnings);
        forecast.notes.extend(refusal);
        let tokenizer = tokenizer.map(|tokenizer| tokenizer.name().into_owned());
        Ok(PlannedRun { parameters, tokenizer, forecast })
    }
}

/// Seconds to compare two documents, as introductions to the subject assume.
const NAIVE_SECONDS: f64 = 1e-6;

/// The most documents that 32 bits number, less those that a scan and an index reserve.
pub(crate) const MOST_DOCUMENTS: u64 = u32::MAX as u64 - 1;

impl AlgorithmFactory for TableFactory {
    fn prepare(&self, median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
        let mut prepared = (self.entry.prepare)(&self.settings, median_tokens)?;
        if self.settings.tokenizer_is_fixed() {
            prepared.tokenizer = None;
        }
        if let Some([short, long]) = &self.by_length {
            let is_short = CharNgram::for_length(median_tokens) == CharNgram::SHORT;
            prepared.tokenizer = Some(Arc::clone(if is_short { short } else { long }));
        }
        prepared.warnings.extend(self.short_runs.map(|runs| {
            let characters = if runs == 1 { "single characters" } else { &format!("runs of {runs} characters") };
            format!(
                "{characters} are in nearly every long text, so that unrelated texts become similar: take \
                 `tokenizer char:{}` for short texts, char:{} for long ones, or char:auto",
                CharNgram::SHORT,
                CharNgram::LONG
            )
        }));
        if self.settings.text(&WEIGHTS) == Weights::Terms.name() && self.settings.term_weights().is_none() {
            return Err(Error::Usage("`weights terms` needs a list of weights: name a file of them".into()));
        }
        match self.settings.lexicon() {
            Some(lexicon) => {
                prepared.algorithm.learn(&Learned::Terms(Arc::clone(lexicon)));
                prepared.terms_of.extend(lexicon.origin().cloned());
            }
            None if self.settings.file(&LEXICON)?.is_some() => {
                return Err(Error::Usage(
                    "`lexicon` names a file, which has to be read and given to the factory".into(),
                ));
            }
            None => {}
        }
        let left_out = self.settings.left_out();
        prepared.terms_of.extend(left_out.iter().filter_map(|list| list.origin().cloned()));
        prepared.terms_of.extend(self.settings.term_weights().map(|weights| weights.origin().clone()));
        if left_out.is_empty() && !self.settings.files(&LEXICON_WITHOUT)?.is_empty() {
            return Err(Error::Usage(
                "`lexicon-without` names files, which have to be read and given to the factory".into(),
            ));
        }
        if let Some(share) = self.settings.thousandths_unless_off(&DROP_COMMON)? {
            prepared.algorithm =
                Box::new(WithoutCommon::new(prepared.algorithm, share).with_origins(self.settings.origins()));
        }
        Ok(prepared)
    }

    fn depends_on_length(&self) -> bool {
        self.by_length.is_some() || (self.entry.depends_on_length)(&self.settings)
    }
}

/// The content of `dedup plan`: how the options resolve, what would be found, and what it would cost.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PlannedRun {
    /// The [rows](super::Algorithm::rows) of the algorithm, without those that only a run reports.
    pub parameters: Vec<Row>,
    /// The tokenizer that the algorithm needs for documents of this length, if none was requested.
    pub tokenizer: Option<String>,
    /// The expected findings and cost.
    pub forecast: Forecast,
}

/// The expected findings and cost of an algorithm.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Forecast {
    /// The quantity in the first column of `curve`.
    pub curve_of: &'static str,
    /// The probability that a pair is found, by its similarity (ascending) or by how much it differs (descending). The
    /// probability rises from each point to the next.
    pub curve: Vec<(f64, f64)>,
    /// Costs: what, value, unit.
    pub costs: Vec<(&'static str, f64, &'static str)>,
    /// The cost of the search by design, if fingerprints are bits of which near-duplicates differ in few.
    pub search: Option<SearchForecast>,
    /// What an index keeps of a document whose features are compared, if the number is known.
    pub stored: Option<StoredFeatures>,
    /// Further remarks; one sentence each.
    pub notes: Vec<String>,
}

/// What an index keeps of a document whose features are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredFeatures {
    /// The number of its features.
    pub features: usize,
    /// The number of keys that it is found by.
    pub keys: usize,
}
