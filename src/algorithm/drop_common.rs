//! Removal of features that very many documents have: the parameter `drop_common`, for every family whose features can
//! be counted one by one.
//!
//! Pages of one site share menus, headings and footers, which make unrelated pages look alike: neither algorithm of Henzinger's
//! comparison (SIGIR 2006) did well on pairs from one site. Broder, Glassman, Manasse & Zweig (WWW 1997) leave very common shingles out for that reason.
//!
//! A feature is common if it is in more than a share of all documents, exact copies counted each: `df · 1000 > P · N`,
//! with `P` in thousandths. Common features are left out of fingerprints, keys and similarities. A document without
//! other features has no features.
//!
//! Common features are counted exactly, in two readings of the collection. The first counts by classes of features
//! ([`FrequencyBounds`]), in memory that does not grow with the number of features; it gives an upper bound of each
//! frequency. The second counts one by one the features whose bound is high enough, in memory, or beyond a share of it in a
//! temporary file. With `F` features in all documents together at most `F / (P · N)` can be common, 500,000 in documents of 500
//! features at `P = 0.001`. Other features are counted too if they share a class with a common one, or many of them one class: few
//! if there are as many classes as features, and nearly all if there are much fewer.

use super::parameter::{DROP_COMMON, Origins};
use super::{
    Agreement, Algorithm, CompareOn, Explain, Features, Learned, Learns, Odds, Profile, Provenance, Row, RunSummary,
};
use crate::error::Error;
use crate::lexicon::FrequencyBounds;
use crate::similarity::Similarity;
use crate::tokenizer::Tokens;
use std::sync::Arc;

/// An algorithm that ignores the features that are common in the collection.
///
/// Cost: two readings of the collection; an eighth of the memory of the scan for classes, and three sixteenths for the features
/// that are counted one by one, of which the others go to a file. Afterwards 8 bytes for each common feature, and a binary search among
/// them for each feature of a document.
pub struct WithoutCommon {
    inner: Box<dyn Algorithm>,
    /// In thousandths.
    share: u64,
    known: Known,
    origins: Origins,
}

/// The state of knowledge about the collection.
enum Known {
    Nothing,
    /// The second reading counts the features that can be common.
    FrequencyBounds(Arc<FrequencyBounds>),
    Common {
        /// Ascending.
        common: Arc<[u64]>,
        documents: u64,
    },
}

impl WithoutCommon {
    /// Wraps an algorithm so that it ignores features that more than `share` thousandths of the documents have.
    pub fn new(inner: Box<dyn Algorithm>, share: u64) -> Self {
        WithoutCommon { inner, share, known: Known::Nothing, origins: Origins::default() }
    }

    fn remove_common(&self, features: &mut Features) {
        match &self.known {
            Known::Nothing => {}
            Known::FrequencyBounds(bounds) => {
                let least = self.least_common(bounds.documents());
                retain(features, |feature| u64::from(bounds.most(feature)) >= least);
            }
            Known::Common { common, .. } if common.is_empty() => {}
            Known::Common { common, .. } => retain(features, |feature| common.binary_search(&feature).is_err()),
        }
    }

    /// Sets the provenance of the share.
    pub(super) fn with_origins(self, origins: Origins) -> Self {
        WithoutCommon { origins, ..self }
    }

    /// The fewest of `documents` documents that are more than the share.
    fn least_common(&self, documents: u64) -> u64 {
        // The share is less than 1.
        (u128::from(self.share) * u128::from(documents) / 1000) as u64 + 1
    }

    fn share(&self) -> f64 {
        self.share as f64 / 1000.0
    }
}

/// Keeps the wanted features, with their weights.
fn retain(features: &mut Features, wanted: impl Fn(u64) -> bool) {
    if features.weights.is_empty() {
        features.hashes.retain(|&hash| wanted(hash));
        return;
    }
    let mut kept = 0;
    for at in 0..features.hashes.len() {
        if wanted(features.hashes[at]) {
            features.hashes[kept] = features.hashes[at];
            features.weights[kept] = features.weights[at];
            kept += 1;
        }
    }
    features.hashes.truncate(kept);
    features.weights.truncate(kept);
}

impl Algorithm for WithoutCommon {
    fn profile(&self) -> Profile {
        let profile = self.inner.profile();
        let common = if let Known::Common { common, .. } = &self.known { size_of_val(&**common) as u64 } else { 0 };
        profile.holding(profile.bytes_learned + common)
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = self.inner.rows();
        rows.push(Row::identity("drop_common", self.share()).with(self.origins.of(&DROP_COMMON)));
        if let Known::Common { common, .. } = &self.known {
            let counted = Provenance::derived("what more documents have");
            rows.push(Row::identity("common_features", common.len()).with(counted));
        }
        rows
    }

    /// Learns the common features first; then what the inner algorithm must learn, from the remaining features.
    fn learns(&self) -> Option<Learns> {
        match &self.known {
            Known::Nothing => Some(Learns::FrequencyBounds),
            Known::FrequencyBounds(bounds) => {
                let documents = self.least_common(bounds.documents());
                Some(Learns::Frequent { documents, most: bounds.added() / documents })
            }
            Known::Common { .. } => self.inner.learns(),
        }
    }

    fn learn(&mut self, learned: &Learned) {
        match (&self.known, learned) {
            (Known::Nothing, Learned::FrequencyBounds(bounds)) => {
                self.known = Known::FrequencyBounds(Arc::clone(bounds))
            }
            (Known::FrequencyBounds(bounds), Learned::Frequent(common)) => {
                self.known = Known::Common { common: Arc::clone(common), documents: bounds.documents() };
            }
            _ => self.inner.learn(learned),
        }
    }

    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        self.inner.features(tokens, features);
        self.remove_common(features);
    }

    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        self.inner.fingerprint(features, fingerprint);
    }

    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        self.inner.keys(fingerprint, keys);
    }

    fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        self.inner.key(fingerprint, table)
    }

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        self.inner.compare(a, b)
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

/// Forwards to the inner algorithm, and adds its own warnings.
impl Explain for WithoutCommon {
    fn check_learned(&self) -> Result<(), Error> {
        self.inner.check_learned()
    }

    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        self.inner.similarity(a, b)
    }

    fn found_with(&self, similarity: Similarity) -> Option<f64> {
        self.inner.found_with(similarity)
    }

    fn pair_found_with(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        self.inner.pair_found_with(a, b)
    }

    fn odds_read(&self) -> Option<CompareOn> {
        self.inner.odds_read()
    }

    fn odds(&self, a: &[u64], b: &[u64], _reported: bool) -> Option<Odds> {
        self.inner.odds(a, b)
    }

    fn odds_measure(&self) -> Option<&'static str> {
        Some(self.inner.odds_measure())
    }

    fn agreement(&self, a: &[u64], b: &[u64]) -> Option<Vec<Agreement>> {
        Some(self.inner.agreement(a, b))
    }

    fn distance(&self, similarity: Similarity) -> Option<u32> {
        self.inner.distance(similarity)
    }

    fn warnings(&self, run: &RunSummary) -> Vec<String> {
        let mut warnings = self.inner.warnings(run);
        let Known::Common { documents, .. } = self.known else { return warnings };
        if documents > 0 && self.least_common(documents) <= 2 {
            warnings.push(format!(
                "`drop-common {}` of {documents} documents is fewer than two of them: whatever two documents have in common is left \
                 out, and hardly a pair can be found; raise it",
                self.share()
            ));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::parameter::Settings;
    use crate::algorithm::{Entry, Remarks};

    fn without_common(share: u64) -> WithoutCommon {
        let prepared = (Entry::by_name("minhash").unwrap().prepare)(&Settings::default(), 300).unwrap();
        WithoutCommon::new(prepared.algorithm, share)
    }

    /// What is learned next of features that so many documents have.
    fn learns(share: u64, documents: u64, frequencies: &[(u64, u32)]) -> (WithoutCommon, u64, u64) {
        let mut algorithm = without_common(share);
        let bounds = FrequencyBounds::for_bytes(0, 0);
        frequencies.iter().for_each(|&(feature, count)| (0..count).for_each(|_| bounds.add(&[feature])));
        assert_eq!(algorithm.learns(), Some(Learns::FrequencyBounds));
        algorithm.learn(&Learned::FrequencyBounds(Arc::new(bounds.of(documents))));
        match algorithm.learns() {
            Some(Learns::Frequent { documents, most }) => (algorithm, documents, most),
            other => panic!("{other:?}"),
        }
    }

    fn learned(share: u64, documents: u64, frequencies: &[(u64, u32)]) -> WithoutCommon {
        let (mut algorithm, least, most) = learns(share, documents, frequencies);
        let common = frequencies.iter().filter(|(_, count)| u64::from(*count) >= least).map(|&(feature, _)| feature);
        let common: Arc<[u64]> = common.collect();
        assert!(common.len() as u64 <= most);
        algorithm.learn(&Learned::Frequent(common));
        assert_eq!(algorithm.learns(), None);
        algorithm
    }

    fn remaining(algorithm: &WithoutCommon, features: &[u64]) -> Vec<u64> {
        let mut features = Features { hashes: features.to_vec(), ..Features::default() };
        algorithm.remove_common(&mut features);
        features.hashes
    }

    #[test]
    fn common_is_more_than_the_share() {
        // 100 of 1,000 is a tenth, and not more; 3 of 10 is 0.3, which no double is.
        let least = |share, documents| without_common(share).least_common(documents);
        assert_eq!([least(100, 1000), least(300, 10), least(1, 0), least(999, 1000)], [101, 4, 1, 1000]);
        assert_eq!(least(999, u64::MAX), u64::MAX / 1000 * 999 + 615 * 999 / 1000 + 1);
        assert_eq!(remaining(&learned(100, 1000, &[(7, 100), (8, 101), (9, 99)]), &[9, 8, 7, 8]), [9, 7]);
        assert_eq!(remaining(&learned(300, 10, &[(5, 10), (7, 3), (9, 4)]), &[5, 7, 9]), [7]);
        assert_eq!(remaining(&learned(1, 0, &[]), &[5]), [5]);
    }

    #[test]
    fn features_that_can_be_common_are_counted() {
        // 3 + 4 + 10 = 17 features, 4 documents each at least: at most 4 are common.
        let (algorithm, documents, most) = learns(300, 10, &[(7, 3), (9, 4), (5, 10)]);
        assert_eq!((documents, most), (4, 4));
        // One in the class of 9 could be common too.
        assert_eq!(remaining(&algorithm, &[5, 7, 9, 9 + (1 << 32)]), [5, 9, 9 + (1 << 32)]);
    }

    #[test]
    fn weights_go_with_their_features() {
        let mut features = Features { hashes: vec![1, 2, 3, 4], weights: vec![10, 20, 30, 40], ..Features::default() };
        retain(&mut features, |feature| feature % 2 == 0);
        assert_eq!((features.hashes, features.weights), (vec![2, 4], vec![20, 40]));
    }

    #[test]
    fn what_spoils_the_result_is_warned_of() {
        let warnings = |share, documents| {
            let run = RunSummary::new(documents, 0, Remarks::default());
            learned(share, documents, &[]).warnings(&run)
        };
        assert!(warnings(100, 20).is_empty());
        assert!(warnings(100, 19)[0].starts_with("`drop-common 0.1` of 19 documents is fewer than two"));
    }
}
