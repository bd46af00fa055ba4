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
mod family;
mod features;
mod forecast;
mod form;
pub mod imatch;
pub mod minhash;
pub mod parameter;
mod prefix;
mod prepared;
pub mod presets;
mod profile;
pub mod projection;
mod remarks;
mod row;
pub mod shingles;
mod sign_bits;
pub mod simhash;
mod spec;
pub mod spotsigs;
pub mod weights;

use crate::error::Error;
use parameter::Settings;

pub use builder::Number;
pub use explain::{Agreement, Explain, Odds, TermUse};
pub(crate) use factory::MOST_DOCUMENTS;
pub use factory::{Entry, Forecast, PlannedRun, StoredFeatures, TableFactory};
pub use family::{Algorithm, Learned, Learns, Totals};
pub use features::Features;
pub use forecast::{CHARACTERS_OF_A_WORD, Design, IndexCost, SearchCost, SearchForecast};
pub use form::FingerprintForm;
pub use prepared::{AlgorithmFactory, PreparedAlgorithm};
pub use profile::{CompareOn, Profile};
pub use remarks::{Remark, Remarks, RunSummary};
pub use row::{Origin, Provenance, Row, RowKind, Value};
pub use spec::{Spec, same_identity};

/// Every algorithm, the default first.
pub static ALGORITHMS: &[Entry] = &[minhash::ENTRY, simhash::ENTRY, imatch::ENTRY, projection::ENTRY, spotsigs::ENTRY];

/// What needs the whole table.
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
        Ok(TableFactory::new(self, settings))
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
    use parameter::Parameter;
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
