//! The families of near-duplicate detection: the trait, and the table from which everything else is generated.
//!
//! An algorithm answers four questions: which features a document has, what their fingerprint is, under which keys it
//! can be found, and how two documents compare. It sees nothing else: no files, no threads, no other documents.
//! Algorithms do not know each other. A new one is a folder here and a line in [`ALGORITHMS`]; flags, help, `plan`, and
//! the property tests follow from the table. A custom algorithm needs no line: see `examples/custom_algorithm.rs`.

pub mod bands;
mod builder;
pub mod drop_common;
mod explain;
mod factory;
mod features;
mod forecast;
mod form;
pub mod imatch;
pub mod minhash;
pub mod parameter;
mod prefix;
pub mod presets;
pub mod projection;
pub mod shingles;
mod sign_bits;
pub mod simhash;
mod spec;
pub mod spotsigs;
pub mod weights;

use crate::error::Error;
use crate::hamming::Layout;
use crate::lexicon::{FrequencyBounds, Lexicon, Rarity};
use crate::similarity::{Similarity, Threshold};
use crate::tokenizer::prepared::Step;
use crate::tokenizer::{TokenDetail, Tokens};
use parameter::{LEXICON_WITHOUT, Parameter, Settings, WEIGHTS};
use std::sync::Arc;

pub use builder::Number;
pub use explain::{Agreement, Explain, Odds, TermUse};
pub(crate) use factory::MOST_DOCUMENTS;
pub use factory::{AlgorithmFactory, CHARACTERS_OF_A_WORD, Forecast, PlannedRun, PreparedAlgorithm, TableFactory};
pub use features::Features;
pub use forecast::{Design, IndexCost, SearchCost, SearchForecast};
pub use form::FingerprintForm;
pub use spec::{Origin, Provenance, Row, RowKind, Spec, Value, same_identity};

/// What [`Algorithm::compare`] receives of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompareOn {
    /// Their fingerprints.
    Fingerprints,
    /// Their feature hashes, ascending and without repeats. The engine keeps or recomputes them, for candidates only.
    Features,
    /// Their feature hashes, ascending, each as often as it occurs. The engine keeps or recomputes them, for candidates
    /// only.
    Multisets,
}

/// What an algorithm must learn from the whole collection before it makes the first fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Learns {
    /// The number of documents that each token occurs in; exact copies count once.
    Terms,
    /// The rarity of each of its own features.
    Features,
    /// An upper bound of the number of documents that have each of its own features.
    FrequencyBounds,
    /// The number of documents that have each of the features that it currently returns.
    Frequencies {
        /// The approximate number of distinct features to make room for. Features that do not fit are not counted.
        most: u64,
    },
}

/// What was counted for an algorithm; see [`Learns`].
#[derive(Clone)]
#[non_exhaustive]
pub enum Learned {
    /// The number of documents that each token occurs in, by token hash.
    Terms(Arc<Lexicon>),
    /// The rarity of features.
    Features(Arc<Rarity>),
    /// Upper bounds of the number of documents that have each feature.
    FrequencyBounds(Arc<FrequencyBounds>),
    /// The number of documents that have each feature.
    Frequencies {
        /// The counts, by feature hash.
        lexicon: Arc<Lexicon>,
        /// Whether all features were counted.
        complete: bool,
    },
    /// The size of the collection, as far as it was read. It comes last, before the first key is requested. The
    /// algorithm may then choose other keys if that is faster, and state other probabilities. Which pairs are found
    /// must not change.
    Totals(Totals),
    /// The number of documents that an index will hold, as far as it is known. An algorithm that chooses its tables
    /// chooses those that are fastest to look documents up in; for others it has no meaning. Which pairs are found must
    /// not change.
    Expected(u64),
    /// The number of tables that an index was made with. An algorithm that chooses its tables takes as many, if it can;
    /// for others it has no meaning. Which pairs are found must not change.
    Tables(usize),
}

/// The size of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Distinct fingerprints.
    pub fingerprints: usize,
    /// The median number of tokens of the documents that have any; 0 if unknown.
    pub median_tokens: usize,
}

impl Totals {
    /// A collection of this many distinct fingerprints, of documents of this median length.
    pub const fn new(fingerprints: usize, median_tokens: usize) -> Self {
        Totals { fingerprints, median_tokens }
    }
}

/// The properties of an algorithm; see [`Algorithm::profile`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// Its name, as in the records and in the table.
    pub name: &'static str,
    /// What the similarity measures, as in the records: `jaccard`, `hamming`, ….
    pub measure: &'static str,
    /// The detail of the tokens that it reads. Hashes alone are fastest.
    pub reads: TokenDetail,
    /// What [`Algorithm::compare`] reads.
    pub compare_on: CompareOn,
    /// `Some(n)` if every fingerprint has exactly `n` keys and the i-th key of one can only equal the i-th of another. The
    /// engine then works through one table at a time. `None` lets keys be any number in any order.
    pub tables: Option<usize>,
    /// Set if [`Algorithm::compare`] is the Jaccard similarity of features at this threshold. The engine can then
    /// reject candidates by their sizes and a few bits, so that many dissimilar documents that share a key do not cost
    /// the square of their number.
    pub jaccard: Option<Threshold>,
    /// What a written fingerprint consists of.
    pub form: FingerprintForm,
    /// Which bits of the fingerprint make its keys, if the fingerprint is bits of which near-duplicates differ in few.
    pub layout: Option<Layout>,
    /// The memory that [`Algorithm::features`] takes at most beside the tokens, in bytes for each token. A long document is
    /// signed only if there is so much.
    pub bytes_a_token: u64,
}

impl Profile {
    /// A profile with this name, measure and comparison. The algorithm reads token hashes, makes any number of keys, and
    /// its fingerprints are written word by word.
    pub const fn new(name: &'static str, measure: &'static str, compare_on: CompareOn) -> Self {
        let (reads, form) = (TokenDetail::Hashes, FingerprintForm::Words);
        Profile { name, measure, reads, compare_on, tables: None, jaccard: None, form, layout: None, bytes_a_token: 8 }
    }

    /// Sets the detail of the tokens that the algorithm reads.
    pub const fn reading(self, reads: TokenDetail) -> Self {
        Profile { reads, ..self }
    }

    /// Sets the memory that features take at most, in bytes for each token. The default is 8, for a hash.
    pub const fn taking(self, bytes_a_token: u64) -> Self {
        Profile { bytes_a_token, ..self }
    }

    /// Sets the number of keys of each fingerprint.
    pub const fn with_tables(self, tables: usize) -> Self {
        Profile { tables: Some(tables), ..self }
    }

    /// Sets what a written fingerprint consists of.
    pub const fn written_as(self, form: FingerprintForm) -> Self {
        Profile { form, ..self }
    }

    /// Declares that the algorithm compares by the Jaccard similarity of features at this threshold.
    pub const fn with_jaccard(self, threshold: Threshold) -> Self {
        Profile { jaccard: Some(threshold), ..self }
    }

    /// Sets which bits of the fingerprint make its keys.
    pub const fn with_layout(self, layout: Layout) -> Self {
        Profile { layout: Some(layout), ..self }
    }
}

/// One way to find near-duplicates.
///
/// Every method must be a pure function of its arguments and of how the algorithm was built. Each method appends to the
/// buffer that it receives without clearing it; the buffer of [`features`](Self::features) arrives cleared.
pub trait Algorithm: Send + Sync {
    /// Returns the name, what is read and what is compared. May change with what the algorithm learns.
    fn profile(&self) -> Profile;

    /// Returns the resolved parameters, each once. Records, plans and indexes are all made from these rows. Two
    /// algorithms of the same name with equal identity rows must make the same fingerprints, keys and similarities,
    /// apart from what they [learn](Self::learn) from a collection. An index refuses signatures made with other
    /// identity rows.
    fn rows(&self) -> Vec<Row>;

    /// Returns what must be counted over the collection next, before the first fingerprint is made. Each count costs
    /// one more reading of the collection. The engine calls this again after each [`learn`](Self::learn), until it
    /// returns `None`.
    fn learns(&self) -> Option<Learns> {
        None
    }

    /// Receives what was counted. If features are counted, the engine calls [`features`](Self::features) before this;
    /// its result must not depend on this count, but may depend on earlier ones.
    fn learn(&mut self, _learned: &Learned) {}

    /// Fills `features`, which arrives cleared. The tokens have the detail that [`Profile::reads`] requests. They are not
    /// used afterwards if there are so many that they take much memory: their hashes can then be
    /// [taken](Tokens::take_spare), and features made in their place.
    fn features(&self, tokens: &mut Tokens, features: &mut Features);

    /// Appends the document's fingerprint, or nothing if the document has no features. A document without a fingerprint
    /// is never reported in a pair; it is counted separately.
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>);

    /// Appends the keys under which this fingerprint can be found. Two documents are compared iff they share a key.
    /// Exact copies (documents with equal tokens) are not compared; they are reported with [`Similarity::ONE`].
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>);

    /// Returns the key in one table: the `table`-th of [`keys`](Self::keys). Override it if one key is cheaper to make
    /// than all of them.
    fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        let mut keys = Vec::new();
        self.keys(fingerprint, &mut keys);
        keys[table]
    }

    /// Returns the exact similarity, or `None` below the threshold. Symmetric.
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity>;

    /// Returns what the algorithm can explain about single pairs; `None`, the default, if nothing.
    fn explain(&self) -> Option<&dyn Explain> {
        None
    }
}

/// The fields of the [profile](Algorithm::profile), one method each.
impl dyn Algorithm + '_ {
    /// See [`Profile::name`].
    pub fn name(&self) -> &'static str {
        self.profile().name
    }

    /// See [`Profile::measure`].
    pub fn measure(&self) -> &'static str {
        self.profile().measure
    }

    /// See [`Profile::reads`].
    pub fn reads(&self) -> TokenDetail {
        self.profile().reads
    }

    /// See [`Profile::compare_on`].
    pub fn compare_on(&self) -> CompareOn {
        self.profile().compare_on
    }

    /// See [`Profile::tables`].
    pub fn tables(&self) -> Option<usize> {
        self.profile().tables
    }

    /// See [`Profile::layout`].
    pub fn layout(&self) -> Option<Layout> {
        self.profile().layout
    }

    /// Returns the [rows](Algorithm::rows) that the records of a run show: all except those of plans.
    pub fn parameters(&self) -> Vec<Row> {
        self.rows().into_iter().filter(|row| row.kind != RowKind::Planned).collect()
    }
}

/// One line of the table of algorithms.
#[non_exhaustive]
pub struct Entry {
    /// What `--algo` takes.
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

/// Every algorithm, the default first.
pub static ALGORITHMS: &[Entry] = &[minhash::ENTRY, simhash::ENTRY, imatch::ENTRY, projection::ENTRY, spotsigs::ENTRY];

impl Entry {
    /// Finds an algorithm by name or alias.
    ///
    /// # Errors
    /// [`Error::Parameter`] that lists the names.
    pub fn by_name(typed: &str) -> Result<&'static Entry, Error> {
        ALGORITHMS.iter().find(|entry| entry.name == typed || entry.aliases.contains(&typed)).ok_or_else(|| {
            let names: Vec<_> = ALGORITHMS.iter().map(|entry| entry.name).collect();
            Error::parameter("algo", typed, format!("one of {}", names.join(", ")))
        })
    }

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

    /// Checks settings against the parameters and returns the factory that a scan needs.
    ///
    /// # Errors
    /// A setting that this algorithm does not have, a value out of range, or values that contradict each other.
    pub fn factory(&'static self, settings: Settings) -> Result<TableFactory, Error> {
        self.check(&settings)?;
        let settings = settings.with_defaults(self.defaults);
        // Contradictory settings fail here, whatever the documents are.
        (self.prepare)(&settings, 0)?;
        self.check_lexicons(&settings)?;
        Ok(TableFactory { entry: self, settings, by_length: None, short_runs: None })
    }

    /// Checks that the algorithm uses its lexicons and weights with these settings.
    fn check_lexicons(&self, settings: &Settings) -> Result<(), Error> {
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

    /// Checks that each setting belongs to this algorithm and is in range.
    ///
    /// # Errors
    /// See [`factory`](Self::factory).
    pub fn check(&self, settings: &Settings) -> Result<(), Error> {
        for (name, value) in settings.given() {
            match self.parameters.iter().find(|p| p.name == name) {
                Some(parameter) => parameter.check(value)?,
                None => {
                    let users = ALGORITHMS.iter().filter(|e| e.uses(name)).map(|e| e.name).collect::<Vec<_>>();
                    return Err(Error::Usage(format!(
                        "`{name}` is not used by {}; it belongs to {}",
                        self.name,
                        if users.is_empty() { "no algorithm".into() } else { users.join(", ") }
                    )));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn the_table_is_sound() {
        let mut names = Vec::new();
        let mut parameters: HashMap<&str, *const Parameter> = HashMap::new();
        for entry in ALGORITHMS {
            names.push(entry.name);
            names.extend(entry.aliases);
            assert!(!entry.summary.is_empty() && !entry.summary.ends_with('.'), "{}", entry.name);
            assert!(!entry.advice.is_empty());
            let factory = entry.factory(Settings::default()).expect("the defaults are sound");
            factory.prepare(300).expect("the defaults are sound");
            factory.plan(300, 1_000_000).expect("the defaults can be planned");
            for (parameter, default) in entry.defaults {
                assert!(entry.uses(parameter.name) && *default != parameter.default, "{}", parameter.name);
            }
            for parameter in entry.parameters {
                let switch = matches!(parameter.values, parameter::Values::Switch);
                assert!(!parameter.help.is_empty() && parameter.placeholder.is_empty() == switch, "{}", parameter.name);
                for default in [parameter.default, entry.default_of(parameter)] {
                    parameter.check(default).unwrap_or_else(|e| panic!("default out of range: {e}"));
                }
                // The same name means the same parameter in every algorithm that has it.
                let same = *parameters.entry(parameter.name).or_insert(*parameter as *const _);
                assert!(std::ptr::eq(same, *parameter), "two parameters are called {}", parameter.name);
            }
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "two algorithms share a name");
    }

    #[test]
    fn a_tokenizer_that_was_asked_for_is_used_on_short_documents_too() {
        let factory = || Entry::by_name("minhash").unwrap().factory(Settings::default()).unwrap();
        let shingle = |factory: &TableFactory, median| {
            let prepared = factory.prepare(median).unwrap();
            let rows = prepared.algorithm.rows();
            let shingle = rows.iter().find(|row| row.name == "shingle").unwrap();
            (prepared.tokenizer.is_some(), shingle.value.as_integer().unwrap())
        };
        assert_eq!(shingle(&factory(), 5), (true, 1));
        let word = factory().with_tokenizer("word").unwrap();
        assert_eq!([shingle(&word, 5), shingle(&word, 300)], [(false, 1), (false, 5)]);
        let characters = factory().with_tokenizer("char:5").unwrap();
        assert_eq!(shingle(&characters, 300), (false, 1));
    }

    #[test]
    fn a_parameter_of_another_algorithm_is_refused() {
        let settings = Settings::from_pairs([("distance", "3")]);
        let error = Entry::by_name("minhash").unwrap().check(&settings).unwrap_err().to_string();
        assert_eq!(error, "`distance` is not used by minhash; it belongs to simhash");
    }
}
