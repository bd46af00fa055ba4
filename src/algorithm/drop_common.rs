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
//! frequency. The second counts one by one the features whose bound is high enough. With `F` features in all documents
//! together at most `F / (P · N)` can be common, 500,000 in documents of 500 features at `P = 0.001`. A few other
//! features share a class with a common one; there is room for four times as many. Only texts made to collide have
//! more. Features in the parts of the hash range that do not fit are then kept, and a warning is given.

use super::parameter::{DROP_COMMON, Origins};
use super::{
    Agreement, Algorithm, CompareOn, Explain, Features, Learned, Learns, Odds, Profile, Provenance, Row, RunSummary,
};
use crate::lexicon::FrequencyBounds;
use crate::similarity::Similarity;
use crate::tokenizer::Tokens;
use std::sync::Arc;

/// An algorithm that ignores the features that are common in the collection.
///
/// Cost: two readings of the collection, 4 bytes for each of some 65,000 to 33,000,000 classes while it counts, 8 for each common
/// feature afterwards, and a binary search among them for each feature of a document.
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
        common: Box<[u64]>,
        documents: u64,
        /// Whether these are all common features.
        complete: bool,
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
                let documents = bounds.documents();
                retain(features, |feature| self.exceeded_by(bounds.most(feature).into(), documents));
            }
            Known::Common { common, .. } if common.is_empty() => {}
            Known::Common { common, .. } => retain(features, |feature| common.binary_search(&feature).is_err()),
        }
    }

    /// Sets the provenance of the share.
    pub(super) fn with_origins(self, origins: Origins) -> Self {
        WithoutCommon { origins, ..self }
    }

    /// Returns whether this many of `documents` documents are more than the share.
    fn exceeded_by(&self, frequency: u64, documents: u64) -> bool {
        u128::from(frequency) * 1000 > u128::from(self.share) * u128::from(documents)
    }

    /// The most features that are counted one by one.
    fn most_counted(&self, bounds: &FrequencyBounds) -> u64 {
        let common =
            u128::from(bounds.added()) * 1000 / (u128::from(self.share) * u128::from(bounds.documents())).max(1);
        u64::try_from(4 * common).unwrap_or(u64::MAX)
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
        self.inner.profile()
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
            Known::FrequencyBounds(bounds) => Some(Learns::Frequencies { most: self.most_counted(bounds) }),
            Known::Common { .. } => self.inner.learns(),
        }
    }

    fn learn(&mut self, learned: &Learned) {
        match (&self.known, learned) {
            (Known::Nothing, Learned::FrequencyBounds(bounds)) => {
                self.known = Known::FrequencyBounds(Arc::clone(bounds))
            }
            (Known::FrequencyBounds(_), Learned::Frequencies { lexicon, complete }) => {
                let documents = lexicon.documents();
                let is_common = |&(_, frequency): &(u64, u32)| self.exceeded_by(frequency.into(), documents);
                let mut common: Box<[u64]> = lexicon.terms().filter(is_common).map(|(feature, _)| feature).collect();
                common.sort_unstable();
                self.known = Known::Common { common, documents, complete: *complete };
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
        let Known::Common { documents, complete, .. } = self.known else { return warnings };
        if documents > 0 && self.exceeded_by(2, documents) {
            warnings.push(format!(
                "`drop-common {}` of {documents} documents is fewer than two of them: whatever two documents have in common is left \
                 out, and hardly a pair can be found; raise it",
                self.share()
            ));
        }
        if !complete {
            warnings.push(
                "too many different features looked common to be counted one by one, as in texts made to collide: some that are \
                 common were not left out; another `seed` may help"
                    .into(),
            );
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::parameter::Settings;
    use crate::algorithm::{Entry, Remarks};
    use crate::lexicon::Lexicon;

    fn without_common(share: u64) -> WithoutCommon {
        let prepared = (Entry::by_name("minhash").unwrap().prepare)(&Settings::default(), 300).unwrap();
        WithoutCommon::new(prepared.algorithm, share)
    }

    fn learned(share: u64, documents: u64, frequencies: &[(u64, u32)], complete: bool) -> WithoutCommon {
        let mut algorithm = without_common(share);
        let bounds = FrequencyBounds::for_bytes(0);
        frequencies.iter().for_each(|&(feature, count)| (0..count).for_each(|_| bounds.add(&[feature])));
        assert_eq!(algorithm.learns(), Some(Learns::FrequencyBounds));
        algorithm.learn(&Learned::FrequencyBounds(Arc::new(bounds.of(documents))));
        assert!(matches!(algorithm.learns(), Some(Learns::Frequencies { .. })));
        let lexicon = Arc::new(Lexicon::new(documents, frequencies.iter().copied()));
        algorithm.learn(&Learned::Frequencies { lexicon, complete });
        assert_eq!(algorithm.learns(), None);
        algorithm
    }

    fn common(algorithm: &WithoutCommon) -> &[u64] {
        match &algorithm.known {
            Known::Common { common, .. } => common,
            _ => panic!("not yet known"),
        }
    }

    #[test]
    fn common_is_more_than_the_share() {
        // 100 of 1,000 is a tenth, and not more; 3 of 10 is 0.3, which no double is.
        assert_eq!(common(&learned(100, 1000, &[(7, 100), (8, 101), (9, 99)], true)), [8]);
        assert_eq!(common(&learned(300, 10, &[(7, 3), (9, 4), (5, 10)], true)), [5, 9]);
        assert!(common(&learned(1, 0, &[], true)).is_empty());
    }

    #[test]
    fn as_many_are_counted_as_can_be_common_and_some_more() {
        // 3 + 4 + 10 = 17 features, more than 3 documents each: at most 5 are common.
        let mut algorithm = without_common(300);
        let bounds = FrequencyBounds::for_bytes(0);
        [(7, 3), (9, 4), (5, 10)].iter().for_each(|&(feature, count)| (0..count).for_each(|_| bounds.add(&[feature])));
        algorithm.learn(&Learned::FrequencyBounds(Arc::new(bounds.of(10))));
        assert_eq!(algorithm.learns(), Some(Learns::Frequencies { most: 4 * 5 }));
    }

    #[test]
    fn weights_go_with_their_features() {
        let mut features = Features { hashes: vec![1, 2, 3, 4], weights: vec![10, 20, 30, 40], ..Features::default() };
        retain(&mut features, |feature| feature % 2 == 0);
        assert_eq!((features.hashes, features.weights), (vec![2, 4], vec![20, 40]));
    }

    #[test]
    fn what_spoils_the_result_is_warned_of() {
        let warnings = |share, documents, complete| {
            let run = RunSummary::new(documents, 0, Remarks::default());
            learned(share, documents, &[], complete).warnings(&run)
        };
        assert!(warnings(100, 20, true).is_empty());
        assert!(warnings(100, 19, true)[0].starts_with("`drop-common 0.1` of 19 documents is fewer than two"));
        assert!(warnings(100, 20, false)[0].starts_with("too many different features"));
    }
}
