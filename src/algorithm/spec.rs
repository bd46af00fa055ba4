//! The specification of a run as a value: the algorithm with its parameters, the tokenizer and the hashes. Equal
//! identities give equal signatures, so an index stores the identity that it was made with and refuses others.

use super::family::Algorithm;
use super::row::{Row, Value};
use crate::error::Error;
use crate::hash::HASH_VERSION;
use crate::tokenizer::Tokenizer;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// Returns whether two algorithms make the same fingerprints, keys and similarities, apart from what they learn. They
/// do if name and measure are the same and the identity rows are equal; the provenance of the values does not matter.
pub fn same_identity(a: &dyn Algorithm, b: &dyn Algorithm) -> bool {
    let identity = |algorithm: &dyn Algorithm| -> Vec<_> {
        algorithm.rows().into_iter().filter(Row::is_identity).map(|row| (row.name, row.value)).collect()
    };
    a.profile() == b.profile() && identity(a) == identity(b)
}

/// The names in an [identity](Spec::identity) that are no parameters.
const RESERVED: [&str; 5] = ["algo", "hash version", "seed", "tokenizer", "content"];

/// The name of a row in an [identity](Spec::identity).
fn name_in_identity(row: &Row) -> String {
    row.name.replace('_', " ")
}

/// The specification of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Spec {
    /// The name of the algorithm.
    pub algorithm: &'static str,
    /// Its resolved parameters.
    pub parameters: Vec<Row>,
    /// The [name](crate::tokenizer::Tokenizer::name) of the tokenizer.
    pub tokenizer: String,
    /// The seed of the hashes.
    pub seed: u64,
    /// Names and values of other options that decide which text is read, such as `content` `main`.
    pub text: Vec<(&'static str, &'static str)>,
}

impl Spec {
    /// The specification of this algorithm on the tokens of this tokenizer.
    pub fn new(algorithm: &dyn Algorithm, tokenizer: &dyn Tokenizer, seed: u64) -> Self {
        let (parameters, tokenizer) = (algorithm.parameters(), tokenizer.name().into_owned());
        Spec { algorithm: algorithm.name(), parameters, tokenizer, seed, text: Vec::new() }
    }

    /// Checks that the identity tells this algorithm from others with the same name. What keeps signatures needs this.
    ///
    /// # Errors
    /// The algorithm has no identity rows, or one whose name another row or another part of the identity has.
    pub(crate) fn check_identity(&self) -> Result<(), Error> {
        let mut names: Vec<String> =
            self.parameters.iter().filter(|row| row.is_identity()).map(name_in_identity).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|two| two[0] == two[1]).map(|two| &two[0]);
        let name = self.algorithm;
        if let Some(twice) = twice {
            return Err(Error::Usage(format!(
                "two identity rows of the algorithm {name} are named `{twice}`: rename one"
            )));
        }
        if let Some(reserved) = names.iter().find(|name| RESERVED.contains(&&***name)) {
            return Err(Error::Usage(format!(
                "an identity row of the algorithm {name} is named `{reserved}`, which names something else: rename it"
            )));
        }
        if names.is_empty() {
            return Err(Error::Usage(format!(
                "the algorithm {name} has no identity rows, so that an index cannot tell it from one with other parameters: \
                 return those that signatures depend on from `rows`, or its version"
            )));
        }
        Ok(())
    }

    /// Returns everything that signatures depend on, by name, including the [hash version](HASH_VERSION). Decimal
    /// numbers are kept as text, so that they compare equal when read back.
    pub fn identity(&self) -> BTreeMap<String, Value> {
        let text = |text: &str| Value::from(text.to_string());
        let mut identity = BTreeMap::from([
            ("algo".into(), self.algorithm.into()),
            ("hash version".into(), HASH_VERSION.into()),
            ("seed".into(), self.seed.into()),
            ("tokenizer".into(), text(&self.tokenizer)),
        ]);
        identity.extend(self.text.iter().map(|&(name, value)| (name.into(), value.into())));
        for row in self.parameters.iter().filter(|row| row.is_identity()) {
            let value = match &row.value {
                decimal @ Value::Decimal(_) => text(&decimal.to_string()),
                value => value.clone(),
            };
            identity.insert(name_in_identity(row), value);
        }
        identity
    }

    /// The [identity](Self::identity) as it is stored.
    pub(crate) fn identity_json(&self) -> Map<String, Json> {
        let json = |value: Value| match value {
            Value::Switch(on) => on.into(),
            Value::Integer(number) => number.into(),
            Value::Decimal(number) => number.into(),
            Value::Text(text) => text.into_owned().into(),
        };
        self.identity().into_iter().map(|(name, value)| (name, json(value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::minhash::{MinHash, bands::Bands, sketch::Kind};
    use crate::algorithm::parameter::Settings;
    use crate::algorithm::{AlgorithmFactory, Entry, Origin, Provenance};
    use crate::tokenizer::Word;

    fn prepared(pairs: &[(&str, &str)]) -> Box<dyn Algorithm> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        Entry::by_name("minhash").unwrap().factory(settings).unwrap().prepare(300).unwrap().algorithm
    }

    fn origin(algorithm: &dyn Algorithm, name: &str) -> Origin {
        algorithm.rows().iter().find(|row| row.name == name).unwrap().provenance.origin
    }

    #[test]
    fn identity_does_not_depend_on_origins() {
        let (default, typed) = (prepared(&[]), prepared(&[("threshold", "0.8"), ("bands", "16"), ("rows", "6")]));
        let in_code = MinHash::new("0.8".parse().unwrap(), 5, Kind::Fss, Bands { bands: 16, rows: 6 });
        let origins = |algorithm| ["threshold", "bands", "shingle"].map(|name| origin(algorithm, name));
        assert_eq!(origins(&*default), [Origin::Default, Origin::Derived, Origin::Derived]);
        assert_eq!(origins(&*typed), [Origin::Given, Origin::Given, Origin::Derived]);
        assert_eq!(origins(&in_code), [Origin::Given; 3]);
        let identity = |algorithm: &dyn Algorithm| Spec::new(algorithm, &Word, 7).identity();
        for other in [&*typed, &in_code] {
            assert!(same_identity(&*default, other));
            assert_eq!(identity(&*default), identity(other));
        }
        assert!(!same_identity(&*default, &*prepared(&[("threshold", "0.9"), ("bands", "16"), ("rows", "6")])));
    }

    #[test]
    fn an_identity_tells_algorithms_apart() {
        let check = |rows: Vec<Row>| {
            let spec = Spec::new(&*prepared(&[]), &Word, 7);
            Spec { parameters: rows, ..spec }.check_identity().map_err(|error| error.to_string())
        };
        assert_eq!(check(prepared(&[]).rows()), Ok(()));
        assert_eq!(check(vec![Row::identity("threshold", 0.8), Row::identity("shingle", 3usize)]), Ok(()));
        for (rows, problem) in [
            (vec![], "has no identity rows"),
            (vec![Row::identity("tokenizer", "v")], "is named `tokenizer`"),
            (vec![Row::identity("hash_version", 9usize)], "is named `hash version`"),
            (vec![Row::identity("shingle", 1usize), Row::identity("shingle", 2usize)], "are named `shingle`"),
        ] {
            assert!(check(rows).unwrap_err().contains(problem), "{problem}");
        }
    }

    #[test]
    fn a_value_typed_as_auto_is_derived() {
        let auto = prepared(&[("bands", "auto"), ("shingle", "auto"), ("rows", "5")]);
        assert_eq!(
            ["bands", "shingle", "rows"].map(|name| origin(&*auto, name)),
            [Origin::Derived, Origin::Derived, Origin::Given]
        );
    }

    #[test]
    fn rows_of_plans_are_no_parameters_of_a_run() {
        let algorithm = prepared(&[]);
        let names = |rows: Vec<Row>| rows.into_iter().map(|row| row.name).collect::<Vec<_>>();
        let shown = names(algorithm.parameters());
        assert_eq!(shown, ["threshold", "shingle", "sketch", "bands", "rows", "recall_at_threshold"]);
        assert!(["recall", "hashes"].iter().all(|name| names(algorithm.rows()).contains(name)));
    }

    #[test]
    fn provenance_in_words() {
        let words = |provenance: Provenance| provenance.to_string();
        assert_eq!(words(Provenance::DEFAULT), "default");
        assert_eq!(words(Provenance::DEFAULT.with_remark("31 of 32")), "default: 31 of 32");
        assert_eq!(words(Provenance::GIVEN), "as given");
        assert_eq!(words(Provenance::preset("lee")), "preset lee");
        assert_eq!(words(Provenance::derived("bands × rows")), "bands × rows");
    }
}
