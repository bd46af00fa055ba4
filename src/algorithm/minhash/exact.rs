//! The exact join: finds every pair of shingle sets at or above the threshold.

use super::shingles::Shingles;
use crate::algorithm::parameter::{Origins, THRESHOLD};
use crate::algorithm::prefix::Prefix;
use crate::algorithm::{Algorithm, CompareOn, Explain, Features, FingerprintForm, Learned, Learns, Profile, Row};
use crate::similarity::{Similarity, Threshold, jaccard, jaccard_at_least};
use crate::tokenizer::Tokens;

/// The detector: AllPairs (Bayardo, Ma & Srikant, WWW 2007), with rare shingles first.
///
/// The fingerprint is the prefix of the shingle set; its elements are the keys. Candidates whose lengths differ too
/// much are rejected without a comparison. The comparison of the others ends as soon as they cannot reach the
/// threshold.
///
/// Cost: one reading of the collection to count shingles, and a second one if they do not fit the memory for features;
/// one key for each of about `(1 − τ)·n` shingles that are in more than one document, and a comparison for each pair
/// that shares one.
pub struct ExactJoin {
    threshold: Threshold,
    shingles: Shingles,
    prefix: Prefix,
    origins: Origins,
}

impl ExactJoin {
    /// A detector of pairs of sets of these shingles at or above `threshold`. A plain number means shingles of this
    /// many tokens.
    pub fn new(threshold: Threshold, shingles: impl Into<Shingles>) -> Self {
        ExactJoin { threshold, shingles: shingles.into(), prefix: Prefix::new(threshold), origins: Origins::default() }
    }

    /// Sets the provenance of the parameters.
    pub(super) fn with_origins(self, origins: Origins) -> Self {
        ExactJoin { origins, ..self }
    }
}

impl Algorithm for ExactJoin {
    fn profile(&self) -> Profile {
        Profile::new("exact", "jaccard", CompareOn::Features)
            .reading(self.shingles.hash.reads())
            .with_jaccard(self.threshold)
            .signing_sets()
            .written_as(FingerprintForm::Elements)
            .taking(self.shingles.bytes_a_token())
    }

    fn rows(&self) -> Vec<Row> {
        let threshold = Row::identity("threshold", self.threshold.as_f64());
        let mut rows = vec![threshold.with(self.origins.of(&THRESHOLD))];
        rows.extend(self.shingles.rows(&self.origins));
        rows.push(Row::stated("recall_at_threshold", 1.0));
        rows
    }

    fn learns(&self) -> Option<Learns> {
        (!self.prefix.has_learned()).then_some(Learns::Features)
    }

    fn learn(&mut self, learned: &Learned) {
        if let Learned::Features(rarity) = learned {
            self.prefix.learn(rarity);
        }
    }

    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        self.shingles.of(tokens, features);
    }

    /// Appends one word, which marks that there are features, and the prefix. A document whose shingles all occur in no
    /// other document has no key.
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        if !features.hashes.is_empty() {
            fingerprint.push(0);
            self.prefix.keys_of_set(&features.hashes, fingerprint);
        }
    }

    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(fingerprint.get(1..).unwrap_or_default());
    }

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        jaccard_at_least(a, b, self.threshold)
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Explain for ExactJoin {
    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        Some(jaccard(a, b))
    }

    fn odds_read(&self) -> Option<CompareOn> {
        Some(CompareOn::Features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use crate::lexicon::Rarity;
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        #[test]
        fn a_set_has_the_fingerprint_of_its_elements_in_any_order(
            documents in prop::collection::vec(prop::collection::vec(0u64..40, 0..60), 1..8),
        ) {
            let mut detector = ExactJoin::new(Threshold::new(1, 2).unwrap(), 3);
            prop_assert!(detector.profile().signs_sets);
            let documents: Vec<Vec<u64>> = documents.iter().map(|d| d.iter().map(|&x| mix(x)).collect()).collect();
            let set = |document: &Vec<u64>| {
                let mut set = document.clone();
                set.sort_unstable();
                set.dedup();
                set
            };
            let rarity = Rarity::new();
            documents.iter().for_each(|document| rarity.add_all(&set(document)));
            detector.learn(&Learned::Features(Arc::new(rarity)));
            for document in &documents {
                let [of_list, of_set] = [document.clone(), set(document)].map(|hashes| {
                    let mut fingerprint = Vec::new();
                    detector.fingerprint(&Features { hashes, ..Features::default() }, &mut fingerprint);
                    fingerprint
                });
                prop_assert_eq!(of_list, of_set);
            }
        }
    }
}
