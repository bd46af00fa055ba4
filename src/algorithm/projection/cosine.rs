//! Pairs by their exact cosine: sign bits find candidates, and the token counts decide.
//!
//! Weights other than counts are whole numbers too, so a token of weight `w` is repeated `w` times. The cosine is then
//! exactly that of the weights.

use crate::algorithm::bands::Bands;
use crate::algorithm::parameter::{COSINE, Origins, RECALL};
use crate::algorithm::weights::{Weigher, Weights};
use crate::algorithm::{Agreement, Algorithm, CompareOn, Explain, Features, Learned, Learns, Profile, Provenance, Row};
use crate::error::Error;
use crate::hamming::{self, BlockTables};
use crate::lexicon::weights::TermWeights;
use crate::similarity::{Similarity, Threshold, cosine, cosine_at_least};
use crate::tokenizer::Tokens;
use std::sync::Arc;

/// Returns the most bits in a band, with the bands they need, that fit in `bits`. A bit of a pair at the threshold
/// agrees with probability `p` or more, a band of `r` bits with `pʳ`, and one of `b` bands with `1 − (1 − pʳ)ᵇ ≥
/// recall`. `1 − p` is [`hamming::bits_differ_at_most`], so copies that differ by a single word reach this recall too.
pub fn bands(threshold: Threshold, recall: f64, bits: usize) -> Option<Bands> {
    Bands::for_recall(1.0 - hamming::bits_differ_at_most(threshold.as_f64()), recall, bits)
}

/// Returns the lowest probability with which a pair exactly at the threshold is found: that of two copies of which one
/// has a single additional word.
pub fn recall(threshold: Threshold, bands: Bands) -> f64 {
    bands.probability(1.0 - hamming::bits_differ_at_most(threshold.as_f64()))
}

/// Returns how far the multiplicities of each element in two ascending multisets differ, for the elements where they
/// do.
fn differences(a: &[u64], b: &[u64]) -> Vec<f64> {
    let mut differences = Vec::new();
    let runs = |multiset| <[u64]>::chunk_by(multiset, |x, y| x == y).peekable();
    let (mut a, mut b) = (runs(a), runs(b));
    loop {
        let (one, other) = match (a.peek(), b.peek()) {
            (None, None) => return differences,
            (Some(x), Some(y)) if x[0] == y[0] => (a.next(), b.next()),
            (Some(x), Some(y)) if x[0] > y[0] => (None, b.next()),
            (None, Some(_)) => (None, b.next()),
            (Some(_), _) => (a.next(), None),
        };
        let [one, other] = [one, other].map(|run| run.map_or(0.0, |run| run.len() as f64));
        if one != other {
            differences.push(one - other);
        }
    }
}

/// The detector.
///
/// The fingerprint has as many sign bits as the bands use. Two documents that agree in a whole band are compared by the
/// exact cosine of their token counts.
///
/// Cost: `8·b` bytes a document for keys; a walk along two sorted token lists for each candidate pair. With `idf` the
/// length of a list is the sum of the weights.
pub struct ProjectedCosine {
    threshold: Threshold,
    bands: Bands,
    weigher: Weigher,
    /// A band is a block, and each block makes its own key.
    tables: BlockTables,
    /// The recall and the bits that the bands were chosen for, if they were.
    wanted: Option<Wanted>,
}

/// The recall and the bits that bands were chosen for.
pub(super) struct Wanted {
    pub(super) recall: f64,
    /// The most bits that the bands may use.
    pub(super) bits: usize,
    pub(super) origins: Origins,
}

impl ProjectedCosine {
    /// A detector of pairs at or above `threshold` among those that agree in a band.
    pub fn new(threshold: Threshold, bands: Bands) -> Self {
        let tables = BlockTables::new(bands.slots(), bands.bands, bands.bands - 1);
        ProjectedCosine { threshold, bands, weigher: Weigher::new(Weights::TermFrequency), tables, wanted: None }
    }

    /// Sets the weights of the cosine.
    pub fn with_weights(self, weights: Weights) -> Self {
        ProjectedCosine { weigher: Weigher::new(weights), ..self }
    }

    /// Sets the weights of terms, if they were given.
    pub(super) fn with_terms(self, terms: Option<Arc<TermWeights>>) -> Self {
        ProjectedCosine { weigher: self.weigher.with_terms(terms), ..self }
    }

    /// Sets the recall and the bits that the bands were chosen for.
    pub(super) fn chosen_for(self, wanted: Wanted) -> Self {
        ProjectedCosine { wanted: Some(wanted), ..self }
    }

    /// The provenance of bits, bands and rows.
    fn provenance(&self) -> [Provenance; 3] {
        match &self.wanted {
            None => [Provenance::derived("bands × rows"), Provenance::GIVEN, Provenance::GIVEN],
            Some(Wanted { bits, .. }) => [
                Provenance::derived(format!("bands × rows, of {bits}")),
                Provenance::derived("the fewest that reach the recall"),
                Provenance::derived("the most that the bits allow"),
            ],
        }
    }
}

impl Algorithm for ProjectedCosine {
    fn profile(&self) -> Profile {
        Profile::new("projection", "cosine", CompareOn::Multisets)
            .with_tables(self.bands.bands)
            .with_cosine(self.threshold)
            .holding(self.weigher.bytes_learned())
    }

    fn rows(&self) -> Vec<Row> {
        let in_code = Origins::default();
        let origins = self.wanted.as_ref().map_or(&in_code, |wanted| &wanted.origins);
        let mut rows = vec![Row::identity("cosine", self.threshold.as_f64()).with(origins.of(&COSINE))];
        rows.extend(self.wanted.as_ref().map(|Wanted { recall, .. }| {
            let unless_given = Provenance::DEFAULT.with_remark("wanted at the cosine");
            Row::planned("recall", *recall).with(origins.of_or(&RECALL, unless_given))
        }));
        let [of_bits, of_bands, of_rows] = self.provenance();
        rows.extend([
            Row::identity("bits", self.bands.slots()).with(of_bits),
            Row::identity("bands", self.bands.bands).with(of_bands),
            Row::identity("rows", self.bands.rows).with(of_rows),
        ]);
        rows.extend(self.weigher.rows(origins));
        rows.push(Row::stated("recall_at_threshold", recall(self.threshold, self.bands)));
        rows
    }

    fn learns(&self) -> Option<Learns> {
        self.weigher.learns()
    }

    fn learn(&mut self, learned: &Learned) {
        self.weigher.learn(learned);
    }

    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        self.weigher.occurrences(tokens, features);
        features.repeat_by_weight();
    }

    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        if !features.hashes.is_empty() {
            let whole_words = self.bands.slots().next_multiple_of(64);
            hamming::sign_bits(&features.hashes, &features.weights, whole_words, fingerprint);
        }
    }

    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        keys.extend((0..self.bands.bands).map(|band| self.key(fingerprint, band)));
    }

    fn key(&self, fingerprint: &[u64], band: usize) -> u64 {
        self.tables.key(fingerprint, band)
    }

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        cosine_at_least(a, b, self.threshold)
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Explain for ProjectedCosine {
    fn check_learned(&self) -> Result<(), Error> {
        self.weigher.check_learned()
    }

    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        Some(self.compare(a, b).unwrap_or_else(|| cosine(a, b)))
    }

    fn odds_read(&self) -> Option<CompareOn> {
        Some(CompareOn::Multisets)
    }

    fn found_with(&self, similarity: Similarity) -> Option<f64> {
        Some(self.bands.probability(1.0 - hamming::bits_differ_at_most(similarity.value())))
    }

    fn pair_found_with(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let similarity = self.similarity(a, b)?.value();
        let differ = hamming::bits_differ(similarity) * hamming::excess_of(&differences(a, b));
        Some(self.bands.probability(1.0 - differ.min(0.5)))
    }

    fn agreement(&self, a: &[u64], b: &[u64]) -> Option<Vec<Agreement>> {
        let bands = (0..self.bands.bands).map(|band| (self.key(a, band), self.key(b, band)));
        // The bits of whole words, some of which the bands may not use.
        Some(vec![Agreement::of_bits(a, b, 64 * a.len()), Agreement::of_parts("bands", bands)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(percent: u64, wanted: f64, bits: usize) -> (usize, usize) {
        let threshold = Threshold::new(percent, 100).unwrap();
        let bands = bands(threshold, wanted, bits).unwrap();
        assert!(recall(threshold, bands) >= wanted && bands.slots() <= bits);
        (bands.bands, bands.rows)
    }

    #[test]
    fn bands_follow_the_cosine_and_the_recall() {
        // By hand: b = ⌈ln 0.01 / ln(1 − (1 − p)ʳ)⌉ for the most r with b·r ≤ 384, p = 1/3, .2523 (two words and one more), .1565 (six),
        // .1231 (ten), .0561 (fifty) and 0.
        let table = [(50, (51, 6)), (80, (45, 8)), (90, (28, 11)), (95, (27, 14)), (99, (15, 23)), (100, (1, 256))];
        for (percent, expected) in table {
            assert_eq!(chosen(percent, 0.99, 384), expected, "at 0.{percent}");
        }
        for (percent, bits) in [(1, 64), (1, 1024), (99, 64), (100, 64)] {
            chosen(percent, 0.999_999, bits);
        }
    }
}
