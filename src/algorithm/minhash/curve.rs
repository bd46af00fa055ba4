//! The probability that a pair is found, by its similarity and by the number of elements of its sets.
//!
//! **Classic sketch.** Slots are independent: `q` of them all agree with probability `J^q`. One of `b` bands of `r`
//! slots is therefore equal with probability `1 − (1 − Jʳ)ᵇ`, whatever the size of the sets. The signatures of
//! datasketch follow the same curve.
//!
//! **Fast similarity sketching.** A slot agrees iff the element of the union that wins it is in both sets. But an
//! element wins at most one slot a round: the winners of a round are drawn without replacement. For sets up to a few
//! times as large as the signature, the share of agreeing slots therefore varies less than with independent slots, down
//! to half the variance. That makes the curve of bands steeper: above a recall of about 0.6 more pairs are found than
//! with independent slots, below it fewer.
//!
//! Slots are exchangeable, so everything follows from the probability `p(q)` that `q` given slots agree. A round throws
//! the `n` elements of the union into `K` slots, and `f` of the given slots that it fills agree with probability
//! `(m)_f / (n)_f` (falling factorials), where `m` is the number of shared elements. If `a(e, f)` is the probability
//! that a round fills exactly `f` of `e` empty slots,
//!
//! ```text
//! p(e) = Σ a(e, f) · (m)_f / (n)_f · p(e − f)    over f = 0 … e,  p(0) = 1
//! ```
//!
//! and the probability that at least `l` of `g` groups of `r` slots are equal is, by inclusion and exclusion,
//!
//! ```text
//! Σ (−1)^(j − l) · C(j − 1, l − 1) · C(g, j) · p(j·r)    over j = l … g
//! ```
//!
//! (Rounds from the `K`-th on matter only to sets of one to three elements; they are assumed to continue in the same
//! way.)
//!
//! That recursion costs `n·K²/2` steps. It is used where few slots are expected to differ, or few to agree. Elsewhere
//! the slots are modelled as `K` draws without replacement from a single pool of `N` elements, of which `J·N` are
//! shared, with the `N` that gives the right variance: `N = 1 + (n − 1) / ρ`, where `ρ` is the probability that two
//! slots are filled in the same round, `(1 − 2u + v) / (1 − v)` with `u = (1 − 1/K)ⁿ` and `v = (1 − 2/K)ⁿ`. `N` grows
//! from `2·K` (small sets) to `n` (large ones), where the slots are practically independent. Its error is below a third
//! of the standard error of 20,000 pairs.

use super::shape::Shape;
use super::sketch::Kind;
use crate::algorithm::bands::{self, Bands};

/// If fewer slots than this are expected to differ (or to agree), the recursion over rounds is used.
const FEW_SLOTS: f64 = 16.0;

/// The ratio of elements to slots from which nearly all slots are filled in the first round, so that the pool is exact.
const FILLED_AT_ONCE: f64 = 4.0;

/// The most steps that the recursion may cost.
const MAX_STEPS: f64 = 2e7;

/// If more equal groups than this are expected, the probability of none is below 10⁻⁶ in any case, and inclusion and
/// exclusion would lose precision.
const MANY_EQUAL: f64 = 16.0;

/// From this many expected equal bands on, with at least two bands, a pair is found with at least the probability of
/// independent slots.
const SURELY_ABOVE: f64 = 1.5;

/// The probability that equal groups of slots find a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Curve {
    kind: Kind,
    shape: Shape,
}

impl Curve {
    /// The curve of bands, or of supershingles.
    pub fn new(kind: Kind, shape: impl Into<Shape>) -> Self {
        Curve { kind, shape: shape.into() }
    }

    /// The probability with slots that agree independently.
    fn independent(self, similarity: f64) -> f64 {
        let Shape { groups, rows, least } = self.shape;
        if least == 1 {
            Bands { bands: groups, rows }.probability(similarity)
        } else {
            self.shape.probability(similarity)
        }
    }

    /// Returns the probability that a pair is found whose sets share `shared` elements and whose union has `either`.
    /// Between whole numbers of shared elements it interpolates smoothly.
    pub fn found(self, shared: f64, either: f64) -> f64 {
        let similarity = shared / either;
        let Shape { groups, rows, .. } = self.shape;
        if self.kind != Kind::Fss
            || shared <= 0.0
            || shared >= either
            || either < 2.0
            || groups as f64 * similarity.powi(rows as i32) > MANY_EQUAL
        {
            return self.independent(similarity.clamp(0.0, 1.0));
        }
        let slots = self.shape.slots() as f64;
        let few = slots * similarity.min(1.0 - similarity) < FEW_SLOTS;
        if few && either < FILLED_AT_ONCE * slots && either * slots * slots / 2.0 <= MAX_STEPS {
            let together = all_agree(shared, either.round() as usize, self.shape.slots());
            at_least(self.shape, |count| together[count])
        } else {
            self.found_in_pool(similarity, pool(slots, either))
        }
    }

    /// Approximates [`found`](Self::found) in a few multiplications a slot. If few slots are expected to differ, the
    /// error is up to .015.
    pub fn found_quickly(self, shared: f64, either: f64) -> f64 {
        let similarity = shared / either;
        let Shape { groups, rows, .. } = self.shape;
        let many = groups as f64 * similarity.powi(rows as i32) > MANY_EQUAL;
        if self.kind != Kind::Fss || shared <= 0.0 || shared >= either || many {
            return self.independent(similarity.clamp(0.0, 1.0));
        }
        self.found_in_pool(similarity, pool(self.shape.slots() as f64, either))
    }

    /// The probability with slots that are drawn without replacement from a pool of `pool` elements.
    fn found_in_pool(self, similarity: f64, pool: f64) -> f64 {
        if pool.is_infinite() {
            return self.independent(similarity);
        }
        let shared = similarity * pool;
        let (mut drawn, mut all_shared) = (0, 1.0);
        at_least(self.shape, |count| {
            while drawn < count {
                all_shared *= ((shared - drawn as f64) / (pool - drawn as f64)).max(0.0);
                drawn += 1;
            }
            all_shared
        })
    }

    /// Returns the probability that a pair of this similarity is found if both documents have `features` features; with
    /// `None`, the [`lowest`](Self::lowest) for any number.
    pub fn at(self, similarity: f64, features: Option<usize>) -> f64 {
        match features {
            Some(features) if self.kind == Kind::Fss => {
                let either = union(similarity, features);
                self.found(similarity * either, either)
            }
            Some(_) => self.independent(similarity),
            None => self.lowest(similarity),
        }
    }

    /// Returns the similarity at which a pair is found with this probability; `features` as for [`at`](Self::at).
    pub fn similarity_found_with(self, probability: f64, features: Option<usize>) -> f64 {
        let (mut below, mut above) = (0.0, 1.0);
        for _ in 0..20 {
            let middle = (below + above) / 2.0;
            if self.at(middle, features) < probability { below = middle } else { above = middle }
        }
        above
    }

    /// Returns the probability at similarities from 0.1 to 1 and at the threshold. It never falls.
    pub fn points(self, threshold: f64, features: Option<usize>) -> Vec<(f64, f64)> {
        let mut most = 0.0;
        let point = |similarity| {
            // Each way to compute it rounds, so that where another one begins it could fall by some 10⁻¹¹.
            most = self.at(similarity, features).max(most);
            (similarity, most)
        };
        bands::similarities(threshold).into_iter().map(point).collect()
    }

    /// Returns the lowest probability with which a pair at or above this similarity is found, whatever the size of its
    /// sets.
    pub fn lowest(self, similarity: f64) -> f64 {
        self.by_size(similarity).fold(1.0, f64::min)
    }

    /// Whether a pair at or above this similarity is found with at least this probability, whatever the size of its sets.
    pub(super) fn reaches(self, similarity: f64, probability: f64) -> bool {
        self.by_size(similarity).all(|found| found >= probability)
    }

    /// The probability that a pair at this similarity is found, for sets so large that slots are independent, and for those of the smaller
    /// sets with which it may be lower.
    fn by_size(self, similarity: f64) -> impl Iterator<Item = f64> {
        let Shape { groups, rows, least } = self.shape;
        let expected = groups as f64 * similarity.powi(rows as i32);
        let above = least == 1 && groups > 1 && expected >= SURELY_ABOVE;
        let inside = similarity > 0.0 && similarity < 1.0;
        let dependent = self.kind == Kind::Fss && inside && !above && expected <= MANY_EQUAL;
        let largest = if dependent { 16.0 * self.shape.slots() as f64 } else { 0.0 };
        // Of the sets that differ in as many elements, the smallest that are still at the similarity are found least surely.
        let differing = std::iter::successors(Some(1.0f64), |differing| Some((differing * 1.25).ceil()));
        let sizes = differing.map(move |differing| (differing, (differing / (1.0 - similarity) - 1e-9).ceil()));
        let smaller = sizes.take_while(move |&(_, either)| either <= largest);
        let smaller = smaller.map(move |(differing, either)| self.found(either - differing, either));
        std::iter::once(self.independent(similarity)).chain(smaller)
    }
}

/// Returns the fewest bands of `rows` slots, at most `most`, that find a pair at the threshold with this recall,
/// whatever its length.
pub fn needed(kind: Kind, threshold: f64, recall: f64, rows: usize, most: usize) -> Option<usize> {
    let enough = |bands: usize| Curve::new(kind, Bands { bands, rows }).reaches(threshold, recall);
    let first = bands::needed(threshold, recall, rows);
    if first > most {
        return None;
    }
    // With independent slots the first number is enough, up to rounding.
    if kind != Kind::Fss || enough(first) {
        return Some(first);
    }
    let (mut too_few, mut bands) = (first, (first + 1).min(most));
    while !enough(bands) {
        if bands == most {
            return None;
        }
        (too_few, bands) = (bands, (bands + 2 * (bands - first)).min(most));
    }
    while bands - too_few > 1 {
        let middle = too_few + (bands - too_few) / 2;
        if enough(middle) { bands = middle } else { too_few = middle }
    }
    Some(bands)
}

/// Returns the most rows, with the bands they need, that fit in `most` slots; `None` if even one row does not fit.
pub fn for_recall(kind: Kind, threshold: f64, recall: f64, most: usize) -> Option<Bands> {
    let choice = |rows| Some(Bands { bands: needed(kind, threshold, recall, rows, most / rows)?, rows });
    (1..=most.min(256)).rev().find_map(choice)
}

/// The approximate size of the union of two sets of `features` elements each at this similarity: `2·features / (1 +
/// J)`. If the similarity is possible exactly with a union of about that size, the nearest such size.
fn union(similarity: f64, features: usize) -> f64 {
    let about = (2.0 * features as f64 / (1.0 + similarity)).round().max(1.0);
    let is_whole = |either: f64| {
        let shared = similarity * either;
        (shared - shared.round()).abs() < 1e-9 * either
    };
    let off = (0..=(about * 0.3).ceil().min(1000.0) as u32).map(f64::from);
    let near = off.flat_map(|off| [about + off, about - off]).find(|&either| either >= 1.0 && is_whole(either));
    near.unwrap_or(about)
}

/// The size of the pool from which `slots` draws vary as much as the slots of sets with a union of `either` elements.
fn pool(slots: f64, either: f64) -> f64 {
    if slots < 2.0 || either < 2.0 {
        return f64::INFINITY;
    }
    let one_empty = (either * (-1.0 / slots).ln_1p()).exp();
    let two_empty = (either * (-2.0 / slots).ln_1p()).exp();
    // After as many rounds as slots, slots are filled one by one.
    let in_rounds = 1.0 - two_empty.powf(slots);
    let same_round = (1.0 - 2.0 * one_empty + two_empty) * in_rounds / (1.0 - two_empty);
    1.0 + (either - 1.0) / same_round
}

/// For each number of given slots, up to `slots`, the probability that all of them agree.
fn all_agree(shared: f64, either: usize, slots: usize) -> Vec<f64> {
    // The probability that the winners of this many slots in one round are all shared.
    let mut of_round = vec![1.0];
    for f in 0..slots.min(either) {
        of_round.push(of_round[f] * ((shared - f as f64) / (either - f) as f64).max(0.0));
    }
    let mut together = vec![1.0];
    for empty in 1..=slots {
        let filled = filled_in_a_round(empty, either, slots);
        let sum: f64 = (1..=empty.min(either)).map(|f| filled[f] * of_round[f] * together[empty - f]).sum();
        together.push(sum / (1.0 - filled[0]));
    }
    together
}

/// The distribution of the number of hit slots among `empty` given ones of `slots`, if each of `elements` elements hits
/// a slot at random.
fn filled_in_a_round(empty: usize, elements: usize, slots: usize) -> Vec<f64> {
    let mut hit = vec![0.0; empty + 1];
    hit[0] = 1.0;
    // Numbers outside `low..=high` have no weight.
    let (mut low, mut high) = (0, 0);
    for _ in 0..elements {
        high = (high + 1).min(empty);
        for h in (low..=high).rev() {
            let stay = hit[h] * (1.0 - (empty - h) as f64 / slots as f64);
            let come = if h > low { hit[h - 1] * (empty - h + 1) as f64 / slots as f64 } else { 0.0 };
            hit[h] = stay + come;
        }
        while low < high && low > 0 && hit[low] < 1e-25 {
            hit[low] = 0.0;
            low += 1;
        }
        if low == 0 && high > 0 && hit[0] < 1e-25 {
            low = 1;
        }
        while high > low && hit[high] < 1e-25 {
            hit[high] = 0.0;
            high -= 1;
        }
    }
    hit
}

/// The probability that enough groups are equal. `all_agree` gives the probability that this many given slots all
/// agree; it is called with ascending numbers.
fn at_least(Shape { groups, rows, least }: Shape, mut all_agree: impl FnMut(usize) -> f64) -> f64 {
    let mut ways = crate::hamming::binomial(groups, least);
    let (mut sum, mut before) = (0.0, 0.0);
    for equal in least..=groups {
        let term = ways * all_agree(equal * rows);
        sum += if (equal - least).is_multiple_of(2) { term } else { -term };
        if term <= before && term < 1e-17 {
            break;
        }
        before = term;
        ways *= equal as f64 / (equal - least + 1) as f64 * (groups - equal) as f64 / (equal + 1) as f64;
    }
    sum.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(groups: usize, rows: usize, least: usize) -> Curve {
        Curve::new(Kind::Fss, Shape { groups, rows, least })
    }

    /// `p(q)` for every `q`, by following how many of the given slots are filled from round to round, element by element: exact but for
    /// rounding, and slow.
    fn all_agree_plain(shared: usize, either: usize, slots: usize) -> Vec<f64> {
        // The chance of filling `f` of `empty` slots by `balls` balls.
        fn fill(empty: usize, f: usize, balls: usize, slots: f64) -> f64 {
            match (balls, f) {
                (0, 0) => 1.0,
                (0, _) => 0.0,
                _ => {
                    let stays = fill(empty, f, balls - 1, slots) * (1.0 - (empty - f) as f64 / slots);
                    let comes =
                        if f > 0 { fill(empty, f - 1, balls - 1, slots) * (empty - f + 1) as f64 / slots } else { 0.0 };
                    stays + comes
                }
            }
        }
        let winners =
            |f: usize| (0..f).map(|i| (shared as f64 - i as f64).max(0.0) / (either - i) as f64).product::<f64>();
        let mut together = vec![1.0];
        for empty in 1..=slots {
            // Rounds that fill nothing only pass.
            let filled: Vec<f64> = (0..=empty.min(either)).map(|f| fill(empty, f, either, slots as f64)).collect();
            let some: f64 = filled[1..].iter().sum();
            let sum: f64 = (1..filled.len()).map(|f| filled[f] / some * winners(f) * together[empty - f]).sum();
            together.push(sum);
        }
        together
    }

    #[test]
    fn slots_that_agree_together_by_hand() {
        // Two elements, one shared, two slots: both slots are filled by the first round with probability 1/2, and then not both agree;
        // otherwise another round fills the second one.
        let together = all_agree(1.0, 2, 2);
        assert!((together[1] - 0.5).abs() < 1e-12 && (together[2] - 0.125).abs() < 1e-12, "{together:?}");
        for (shared, either, slots) in [(1, 2, 4), (3, 4, 6), (5, 7, 9), (9, 10, 8), (1, 8, 5), (7, 12, 4)] {
            let (fast, plain) = (all_agree(shared as f64, either, slots), all_agree_plain(shared, either, slots));
            let off = fast.iter().zip(&plain).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-12, "{shared} of {either}, {slots} slots: {off}");
            assert!((fast[1] - shared as f64 / either as f64).abs() < 1e-12, "a slot agrees with probability J");
        }
    }

    #[test]
    fn the_pool_is_as_good_as_the_rounds_where_it_is_used() {
        // Against the recursion over rounds, in standard errors of 20,000 pairs.
        for (bands, rows) in [(16, 6), (9, 13), (5, 25), (20, 5), (40, 3), (2, 40)] {
            for either in [5, 10, 20, 50, 100, 200] {
                for percent in [50, 70, 80, 85, 90] {
                    let shared = (percent * either) as f64 / 100.0;
                    let slots = bands * rows;
                    let differing = slots as f64 * f64::from(100 - percent as u32) / 100.0;
                    if shared.fract() != 0.0 || differing.min(slots as f64 - differing) < FEW_SLOTS {
                        continue;
                    }
                    let curve = curve(bands, rows, 1);
                    let together = all_agree(shared, either, slots);
                    let exact = at_least(curve.shape, |count| together[count]);
                    if bands as f64 * (percent as f64 / 100.0).powi(rows as i32) > MANY_EQUAL {
                        continue;
                    }
                    let error = (exact * (1.0 - exact) / 20_000.0).sqrt().max(1e-5);
                    let off = (curve.found(shared, either as f64) - exact).abs() / error;
                    assert!(off < 0.33, "{bands} x {rows}, {shared} of {either}: {off} standard errors");
                }
            }
        }
    }

    #[test]
    fn large_sets_have_independent_slots() {
        for (bands, rows) in [(16, 6), (9, 13), (450, 20), (1, 20)] {
            for percent in [10, 50, 80, 95, 99] {
                let similarity = f64::from(percent) / 100.0;
                let (found, independent) =
                    (curve(bands, rows, 1).found(1e9 * similarity, 1e9), Bands { bands, rows }.probability(similarity));
                assert!(
                    (found - independent).abs() < 1e-5,
                    "{bands} x {rows} at {similarity}: {found}, not {independent}"
                );
            }
        }
    }

    #[test]
    fn other_sketches_have_independent_slots() {
        for kind in [Kind::Classic, Kind::Datasketch, Kind::Datasketch1] {
            let curve = Curve::new(kind, Bands { bands: 9, rows: 13 });
            let expected = Bands { bands: 9, rows: 13 }.probability(0.8);
            let got =
                [curve.at(0.8, None), curve.at(0.8, Some(10)), curve.found(4.0, 5.0), curve.found_quickly(4.0, 5.0)];
            // A power that the compiler works out may differ in the last bits from one that the program does.
            assert!(got.iter().all(|got| (got - expected).abs() < 1e-12), "{kind:?}: {got:?}, not {expected}");
        }
    }

    #[test]
    fn the_ends_of_the_curve() {
        for curve in
            [curve(16, 6, 1), curve(1, 1, 1), curve(1, 128, 1), curve(6, 14, 2), curve(32, 1, 2), curve(450, 20, 1)]
        {
            for features in [None, Some(1), Some(2), Some(100), Some(1_000_000_000)] {
                assert_eq!((curve.at(0.0, features), curve.at(1.0, features)), (0.0, 1.0), "{curve:?}");
                let mut before = 0.0;
                for percent in (5..100).step_by(10) {
                    let found = curve.at(f64::from(percent) / 100.0, features);
                    assert!((0.0..=1.0).contains(&found), "{curve:?} {features:?} at {percent} %: {found}");
                    // Documents of a few features come in few similarities, for which lengths are rounded.
                    if features.is_none_or(|features| features >= 1000) {
                        assert!(found >= before - 1e-4, "{curve:?} {features:?} at {percent} %: {found} < {before}");
                    }
                    before = found;
                }
            }
        }
    }

    #[test]
    fn the_lowest_is_below_every_length() {
        for (bands, rows) in [(16, 6), (9, 13), (5, 25), (1, 20), (2, 10), (3, 21), (20, 1), (8, 4), (1, 3), (2, 40)] {
            let curve = curve(bands, rows, 1);
            for threshold in [0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99] {
                let lowest = curve.lowest(threshold);
                for either in (1..12).chain([20, 33, 50, 80, 100, 150, 300, 1000, 10_000]) {
                    let shared = (threshold * f64::from(either) - 1e-9).ceil();
                    let found = curve.found(shared, either.into());
                    assert!(
                        found >= lowest - 2e-3,
                        "{bands} x {rows} at {threshold}, {shared} of {either}: {found} < {lowest}"
                    );
                }
            }
        }
    }

    #[test]
    fn bands_reach_the_recall_whatever_the_length() {
        for threshold in [0.3, 0.5, 0.8, 0.9, 0.95] {
            for recall in [0.01, 0.1, 0.3, 0.5, 0.6, 0.9, 0.99, 0.999] {
                let most = 128;
                let bands = for_recall(Kind::Fss, threshold, recall, most).unwrap();
                assert!(bands.slots() <= most);
                let lowest = Curve::new(Kind::Fss, bands).lowest(threshold);
                assert!(lowest >= recall - 1e-9, "{threshold} {recall} {bands:?}: {lowest}");
                // From a recall of .9 on, the bands are those of independent slots.
                let independent = Bands::for_recall(threshold, recall, most).unwrap();
                assert!(recall < 0.9 || bands == independent, "{threshold} {recall}: {bands:?}, not {independent:?}");
            }
        }
    }

    #[test]
    fn sizes_of_unions() {
        // 90 shingles each, 80 of them shared.
        assert_eq!(union(0.8, 90), 100.0);
        // Sets of 4 and 5, or of 5 and 4.
        assert_eq!([4, 5].map(|features| union(0.8, features)), [5.0, 5.0]);
        assert_eq!([19, 20].map(|features| union(0.95, features)), [20.0, 20.0]);
        assert_eq!(union(1.0, 7), 7.0);
        // No pair of such sizes has it.
        assert_eq!(union(0.8003, 90), 100.0);
    }
}
