//! The families of near-duplicate detection: the trait, and the table that everything else is generated from.
//!
//! An algorithm answers four questions — which features a document has, what their fingerprint is, under which keys it can be
//! found, how two documents compare — and sees nothing else: no files, no threads, no other documents. Algorithms do not
//! know each other. A new one is a folder here and a line in [`ALGORITHMS`]; flags, help, `plan`, and the property tests
//! follow from the table. One of your own needs no line: see `examples/custom_algorithm.rs`.

pub mod bands;
mod builder;
pub mod drop_common;
mod explain;
mod factory;
mod features;
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
use crate::lexicon::{FrequencyBounds, Lexicon, Rarity};
use crate::similarity::{Similarity, Threshold};
use crate::tokenizer::prepared::Step;
use crate::tokenizer::{TokenDetail, Tokens};
use parameter::{Parameter, Settings};
use std::sync::Arc;

pub use builder::Number;
pub use explain::{Agreement, Explain, Odds};
pub use factory::{AlgorithmFactory, Forecast, Plan, PreparedAlgorithm, TableFactory};
pub use features::Features;
pub use spec::{Origin, Provenance, Row, RowKind, Spec, Value, same_identity};

/// What [`Algorithm::compare`] is given of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompareOn {
    /// Their fingerprints.
    Fingerprints,
    /// Their feature hashes, ascending and without repeats. The engine keeps them, or makes them again, for candidates only.
    Features,
    /// Their feature hashes, ascending, as often as they occur; otherwise the same.
    Multisets,
}

/// What an algorithm must know of the whole collection before it makes the first fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Learns {
    /// In how many documents each token occurs, exact copies counted once.
    Terms,
    /// How rare each of its own features is.
    Features,
    /// In at most how many documents each of its own features is.
    FrequencyBounds,
    /// In how many documents each of those features is that it gives now.
    Frequencies {
        /// How many different features there may be, about. What does not fit is not counted.
        most: u64,
    },
}

/// What was counted for it.
#[derive(Clone)]
#[non_exhaustive]
pub enum Learned {
    /// In how many documents each token occurs, by token hash.
    Terms(Arc<Lexicon>),
    /// How rare features are.
    Features(Arc<Rarity>),
    /// In at most how many documents features are.
    FrequencyBounds(Arc<FrequencyBounds>),
    /// In how many documents features are.
    Frequencies {
        /// The counts, by feature hash.
        lexicon: Arc<Lexicon>,
        /// Whether all features were counted.
        complete: bool,
    },
    /// How large the collection is, as far as it was read. Comes last, before the first key is asked for: other keys may be chosen if
    /// that is faster, and other probabilities stated. Which pairs are found must not change.
    Totals(Totals),
}

/// How large a collection is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Distinct fingerprints.
    pub fingerprints: usize,
    /// The median number of tokens of the documents that have any; 0 if it is not known.
    pub median_tokens: usize,
}

impl Totals {
    /// So many distinct fingerprints, of documents of this median length.
    pub const fn new(fingerprints: usize, median_tokens: usize) -> Self {
        Totals { fingerprints, median_tokens }
    }
}

/// What is fixed about an algorithm; see [`Algorithm::profile`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// Its name, as in the records and in the table.
    pub name: &'static str,
    /// What the similarity measures, as in the records: `jaccard`, `hamming`, ….
    pub measure: &'static str,
    /// What it reads of the tokens. Hashes alone are fastest.
    pub reads: TokenDetail,
    /// What [`Algorithm::compare`] reads.
    pub compare_on: CompareOn,
    /// `Some(n)` if every fingerprint has exactly `n` keys and the i-th key of one can only equal the i-th of another. The
    /// engine then works through one table at a time. `None` lets keys be any number in any order.
    pub tables: Option<usize>,
    /// Set if [`Algorithm::compare`] is the Jaccard similarity of features at this threshold. Candidates are then told apart by their
    /// sizes and a few bits, and documents that share a key without being alike do not cost their square.
    pub jaccard: Option<Threshold>,
}

impl Profile {
    /// An algorithm of this name that compares these; it reads hashes of tokens, and makes any number of keys.
    pub const fn new(name: &'static str, measure: &'static str, compare_on: CompareOn) -> Self {
        Profile { name, measure, reads: TokenDetail::Hashes, compare_on, tables: None, jaccard: None }
    }

    /// The same, reading this of the tokens.
    pub const fn reading(self, reads: TokenDetail) -> Self {
        Profile { reads, ..self }
    }

    /// The same with so many keys for each fingerprint.
    pub const fn with_tables(self, tables: usize) -> Self {
        Profile { tables: Some(tables), ..self }
    }

    /// The same with the Jaccard similarity of features at this threshold.
    pub const fn with_jaccard(self, threshold: Threshold) -> Self {
        Profile { jaccard: Some(threshold), ..self }
    }
}

/// One way to find near-duplicates.
///
/// Everything must be a pure function of the arguments and of how the algorithm was built. Each method fills the buffer it
/// is given without clearing it, except [`features`](Self::features), which starts from a cleared one.
pub trait Algorithm: Send + Sync {
    /// What it is called, reads and compares. May change with what it learns.
    fn profile(&self) -> Profile;

    /// Its parameters as they were resolved, each written here once: records, plans and indexes are all made from these rows. Two algorithms of the same name with equal identity rows must make the same fingerprints,
    /// keys and similarities, but for what they [learn](Self::learn) from a collection: an index refuses signatures of others.
    fn rows(&self) -> Vec<Row>;

    /// What must be counted over the collection next, before the first fingerprint is made; it costs a reading of its own. Asked
    /// again after each [`learn`](Self::learn), until there is nothing left to learn.
    fn learns(&self) -> Option<Learns> {
        None
    }

    /// Takes what was counted. Where features are counted, [`features`](Self::features) are asked for before that, and must
    /// not depend on it, but may on what was learned earlier.
    fn learn(&mut self, _learned: &Learned) {}

    /// Fills `features`, which comes cleared. The tokens have what [`Profile::reads`] asks for.
    fn features(&self, tokens: &Tokens, features: &mut Features);

    /// Appends the document's fingerprint; appends nothing when there are no features to make it from. Such a document is
    /// never reported as like another: it is counted apart.
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>);

    /// Appends the keys under which this fingerprint can be found. Two documents are compared iff they share a key; exact
    /// copies (documents with equal tokens) are not compared at all, and reported with [`Similarity::ONE`].
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>);

    /// The key in one table, the `table`-th of [`keys`](Self::keys). Worth writing when it is cheaper than making them all.
    fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        let mut keys = Vec::new();
        self.keys(fingerprint, &mut keys);
        keys[table]
    }

    /// The exact similarity, or `None` below the threshold. Symmetric.
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity>;

    /// What it can say about single pairs; `None`, the default, if nothing.
    fn explain(&self) -> Option<&dyn Explain> {
        None
    }
}

/// What the [profile](Algorithm::profile) says, one by one.
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

    /// The [rows](Algorithm::rows) that the records of a run show: all but those of plans.
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
    /// Those whose default is another one in this algorithm, with that default.
    pub defaults: &'static [(&'static Parameter, &'static str)],
    /// Steps of preparation that would take from it what it looks for.
    pub refuses: &'static [Step],
    /// The prepared algorithm for given parameters and median document length in tokens.
    pub prepare: fn(&Settings, usize) -> Result<PreparedAlgorithm, Error>,
    /// Whether another median can make another algorithm of the same parameters (warnings aside).
    pub depends_on_length: fn(&Settings) -> bool,
    /// What the algorithm would find and cost, for given parameters, median length and number of documents.
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

    /// Whether the algorithm has this parameter.
    pub fn uses(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|p| p.name == parameter)
    }

    /// The default of a parameter in this algorithm.
    pub fn default_of(&self, parameter: &Parameter) -> &'static str {
        let own = self.defaults.iter().find(|(other, _)| other.name == parameter.name);
        own.map_or(parameter.default, |(_, default)| default)
    }

    /// Checks that tokens may be prepared by these steps.
    ///
    /// # Errors
    /// [`Error::Usage`] for a step that would take from the algorithm what it looks for.
    pub fn goes_with(&self, steps: &[Step]) -> Result<(), Error> {
        match steps.iter().find(|step| self.refuses.contains(step)) {
            Some(step) => Err(Error::Usage(format!(
                "`{}` does not go with `algo {}`, which looks for words as they are in running text; another algorithm does, \
                 minhash for one",
                step.flag(),
                self.name
            ))),
            None => Ok(()),
        }
    }

    /// Checks settings against the parameters and makes the factory that a scan needs.
    ///
    /// # Errors
    /// A setting that this algorithm does not have, a value out of range, or values that contradict each other.
    pub fn factory(&'static self, settings: Settings) -> Result<TableFactory, Error> {
        self.check(&settings)?;
        let settings = settings.with_defaults(self.defaults);
        // Contradictions show now, whatever the documents are.
        (self.prepare)(&settings, 0)?;
        Ok(TableFactory { entry: self, settings })
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
