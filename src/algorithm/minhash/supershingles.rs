//! Broder's supershingles: the signature is cut into a few groups, each hashed to one word. Near-duplicates have
//! several words in common.

use super::curve::Curve;
use super::parameters::{MIN_SUPERSHINGLES, SKETCH, SUPERSHINGLES};
pub use super::shape::Shape;
use super::shingles::Shingles;
use super::sketch::{Kind, Sketch};
use crate::algorithm::parameter::Origins;
use crate::algorithm::{Agreement, Algorithm, CompareOn, Explain, Features, Odds, Profile, Provenance, Row};
use crate::hamming::combinations;
use crate::hash::{combine, mix};
use crate::similarity::{Similarity, jaccard, shared};
use crate::tokenizer::Tokens;

/// The detector (Broder, Glassman, Manasse & Zweig, WWW 1997; Broder 2000).
///
/// The fingerprint is the `m′` supershingles. Each choice of `b` of them makes a key (all pairs of six: fifteen keys,
/// the megashingles). Two documents share a key iff they have those `b` in common, so no pair is missed and none is
/// compared in vain.
///
/// Cost: a signature of `m′·l` slots; `8·m′` bytes a document; C(m′, b) tables.
pub struct Supershingles {
    shingles: Shingles,
    sketch: Sketch,
    shape: Shape,
    /// For each key, the supershingles it is made of.
    choices: Vec<Vec<usize>>,
    origins: Origins,
}

impl Supershingles {
    /// A detector of pairs of sets of these shingles. A plain number means shingles of this many tokens.
    ///
    /// # Panics
    /// If the shape has a 0 in it, or `least` is above `groups`.
    pub fn new(shingles: impl Into<Shingles>, sketch: Kind, shape: Shape) -> Self {
        assert!(shape.least > 0 && shape.least <= shape.groups, "{} of {} supershingles", shape.least, shape.groups);
        let choices = combinations(shape.groups, shape.least);
        let (shingles, sketch) = (shingles.into(), Sketch::new(sketch, shape.slots()));
        Supershingles { shingles, sketch, shape, choices, origins: Origins::default() }
    }

    /// Sets the provenance of the parameters.
    pub(super) fn with_origins(self, origins: Origins) -> Self {
        Supershingles { origins, ..self }
    }
}

impl Algorithm for Supershingles {
    fn profile(&self) -> Profile {
        Profile::new("minhash", "supershingles", CompareOn::Fingerprints)
            .reading(self.shingles.hash.reads())
            .with_tables(self.choices.len())
            .taking(self.shingles.bytes_a_token())
    }

    fn rows(&self) -> Vec<Row> {
        let (Shape { groups, rows, least }, origins) = (self.shape, &self.origins);
        let mut resolved = vec![
            Row::identity("supershingles", format!("{groups}x{rows}")).with(origins.of(&SUPERSHINGLES)),
            Row::identity("min_supershingles", least).with(origins.of(&MIN_SUPERSHINGLES)),
        ];
        resolved.extend(self.shingles.rows(origins));
        let slots = Provenance::derived("supershingles × minima in each");
        resolved.extend([
            Row::identity("sketch", self.sketch.kind().name()).with(origins.of(&SKETCH)),
            Row::planned("hashes", self.shape.slots()).with(slots),
            Row::planned("tables", self.choices.len()).with(Provenance::derived(format!("C({groups}, {least})"))),
        ]);
        resolved
    }

    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        self.shingles.of(tokens, features);
    }

    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        let start = fingerprint.len();
        self.sketch.signature(&features.hashes, fingerprint);
        // Each group is folded into the position of its number, which is never after its first slot.
        let groups = (fingerprint.len() - start) / self.shape.rows;
        for group in 0..groups {
            let slots = &fingerprint[start + group * self.shape.rows..][..self.shape.rows];
            fingerprint[start + group] = slots.iter().fold(mix(group as u64 + 1), |hash, &slot| combine(hash, slot));
        }
        fingerprint.truncate(start + groups);
    }

    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        keys.extend((0..self.choices.len()).map(|table| self.key(fingerprint, table)));
    }

    fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        // The origin of the fingerprint is not known here, so one of another kind has a key as well.
        let group = |&group: &usize| fingerprint.get(group).copied().unwrap_or_default();
        self.choices[table].iter().map(group).fold(mix(table as u64 + 1), combine)
    }

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        let shared = a.iter().zip(b).filter(|(x, y)| x == y).count();
        (shared >= self.shape.least).then(|| Similarity::ratio(shared as u64, self.shape.groups as u64))
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Explain for Supershingles {
    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        let shared = a.iter().zip(b).filter(|(x, y)| x == y).count();
        Some(Similarity::ratio(shared as u64, self.shape.groups as u64))
    }

    fn odds_read(&self) -> Option<CompareOn> {
        Some(CompareOn::Features)
    }

    /// Uses the Jaccard similarity, which is the axis of the curve.
    fn odds(&self, a: &[u64], b: &[u64], _reported: bool) -> Option<Odds> {
        let (shared, either) = shared(a, b);
        let found = Curve::new(self.sketch.kind(), self.shape).found_quickly(shared as f64, either as f64);
        Some(Odds { similarity: jaccard(a, b), found })
    }

    fn odds_measure(&self) -> Option<&'static str> {
        Some("jaccard")
    }

    fn agreement(&self, a: &[u64], b: &[u64]) -> Option<Vec<Agreement>> {
        Some(vec![Agreement::of_parts("supershingles", a.iter().zip(b))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRODER: Shape = Shape { groups: 6, rows: 14, least: 2 };

    #[test]
    fn curve_of_84_minima_in_6_supershingles() {
        // P(at least 1, 2, 3 of 6) with p = s¹⁴, computed from the binomial by hand.
        let table = [
            (0.70, [0.0400, 0.00068, 0.00001]),
            (0.80, [0.2365, 0.0258, 0.0015]),
            (0.85, [0.4783, 0.1198, 0.0171]),
            (0.90, [0.7896, 0.4151, 0.1373]),
            (0.92, [0.8932, 0.6037, 0.2767]),
            (0.94, [0.9621, 0.7973, 0.4982]),
            (0.95, [0.9819, 0.8786, 0.6329]),
            (0.96, [0.9932, 0.9402, 0.7685]),
            (0.97, [0.9983, 0.9785, 0.8856]),
            (0.98, [0.9998, 0.9957, 0.9643]),
            (0.99, [1.0000, 0.9998, 0.9964]),
        ];
        for (similarity, expected) in table {
            for (least, expected) in (1..).zip(expected) {
                let got = Shape { least, ..BRODER }.probability(similarity);
                assert!((got - expected).abs() < 6e-5, "at least {least} at {similarity}: {got}");
            }
        }
        assert_eq!((BRODER.probability(0.0), BRODER.probability(1.0)), (0.0, 1.0));
        assert_eq!((BRODER.slots(), BRODER.tables()), (84, 15.0));
        let curve = Curve::new(Kind::Classic, BRODER);
        let at = [0.01, 0.1, 0.5, 0.9, 0.99].map(|p| (curve.similarity_found_with(p, None) * 1e3).round() / 1e3);
        assert_eq!(at, [0.772, 0.844, 0.909, 0.953, 0.975]);
    }

    #[test]
    fn a_supershingle_is_a_hash_of_its_slots_and_its_place() {
        for kind in [Kind::Fss, Kind::Classic] {
            let detector = Supershingles::new(1, kind, BRODER);
            let features = Features { hashes: (1..50).map(mix).collect(), ..Features::default() };
            let (mut slots, mut fingerprint) = (Vec::new(), vec![7]);
            Sketch::new(kind, 84).signature(&features.hashes, &mut slots);
            detector.fingerprint(&features, &mut fingerprint);
            assert_eq!((fingerprint.len(), fingerprint[0]), (7, 7));
            for (group, slots) in slots.chunks(14).enumerate() {
                let hash = slots.iter().fold(mix(group as u64 + 1), |hash, &slot| combine(hash, slot));
                assert_eq!(fingerprint[1 + group], hash);
            }
            detector.fingerprint(&Features::default(), &mut fingerprint);
            assert_eq!(fingerprint.len(), 7);
        }
    }

    #[test]
    fn documents_share_a_key_iff_they_are_alike() {
        let detector = Supershingles::new(1, Kind::Fss, BRODER);
        for equal in 0u64..64 {
            let a = [1, 2, 3, 4, 5, 6];
            let b: Vec<u64> = a.iter().map(|&x| if equal >> (x - 1) & 1 == 1 { x } else { x + 10 }).collect();
            let shared = equal.count_ones();
            let met = (0..15).filter(|&table| detector.key(&a, table) == detector.key(&b, table)).count();
            assert_eq!(met as u32, shared * shared.saturating_sub(1) / 2);
            let expected = (shared >= 2).then(|| Similarity::ratio(shared.into(), 6));
            assert_eq!(detector.compare(&a, &b), expected);
        }
    }
}
