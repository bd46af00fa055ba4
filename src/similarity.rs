//! Similarities, and thresholds on them that are decided in integers.
//!
//! A threshold typed as `0.8` means four fifths, not the nearest double: a pair with 4 of 5 features in common is
//! always at the threshold. [`Threshold`] keeps the fraction; floating point appears only when a similarity is printed.

pub(crate) mod bound;

use crate::error::Error;
use crate::hash::{combine, mix};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// An exact similarity between 0 and 1, as it is printed. Made from integer counts by one division.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Similarity(f64);

impl Similarity {
    /// The similarity of equal documents.
    pub const ONE: Similarity = Similarity(1.0);
    /// The similarity of documents that have nothing in common.
    pub const ZERO: Similarity = Similarity(0.0);

    /// `part / whole`, correctly rounded.
    ///
    /// # Panics
    /// If `whole` is 0, or less than `part`.
    pub fn ratio(part: u64, whole: u64) -> Self {
        assert!(whole > 0 && part <= whole, "{part}/{whole} is not a similarity");
        Similarity(part as f64 / whole as f64)
    }

    /// Returns the value, from 0 to 1.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Returns the bits of the value. Of two similarities, the greater one has more.
    pub(crate) fn to_bits(self) -> u64 {
        self.0.to_bits()
    }

    /// Returns the similarity with these [bits](Self::to_bits).
    pub(crate) fn from_bits(bits: u64) -> Self {
        Similarity(f64::from_bits(bits))
    }
}

/// As the shortest decimal number that is read back as the same value; with a precision, rounded to it.
impl fmt::Display for Similarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The maximum number of decimals of a threshold, and the maximum denominator.
const MAX_DECIMALS: usize = 12;
const MAX_DENOMINATOR: u64 = 10u64.pow(MAX_DECIMALS as u32);

/// A similarity threshold: an exact fraction above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    numerator: u64,
    denominator: u64,
}

impl Threshold {
    /// The lowest threshold, 10⁻¹²: two documents reach it if they have anything in common.
    pub const LEAST: Threshold = Threshold { numerator: 1, denominator: MAX_DENOMINATOR };

    /// Returns `numerator / denominator` if it is above 0 and at most 1 and the denominator is at most 10¹².
    pub const fn new(numerator: u64, denominator: u64) -> Option<Self> {
        if numerator == 0 || numerator > denominator || denominator > MAX_DENOMINATOR {
            return None;
        }
        let common = gcd(numerator, denominator);
        Some(Threshold { numerator: numerator / common, denominator: denominator / common })
    }

    /// Returns whether `part / whole` is at or above the threshold; false if `whole` is 0.
    #[inline]
    pub fn reached_by(self, part: u64, whole: u64) -> bool {
        whole > 0 && part as u128 * self.denominator as u128 >= whole as u128 * self.numerator as u128
    }

    /// Returns whether `part / whole` is above the threshold; false if `whole` is 0.
    #[inline]
    pub fn exceeded_by(self, part: u64, whole: u64) -> bool {
        part as u128 * self.denominator as u128 > whole as u128 * self.numerator as u128
    }

    /// Returns the smallest overlap with which two sets of `a` and `b` elements reach the threshold in Jaccard
    /// similarity: `o / (a + b − o) ≥ p/q  ⇔  o·(p + q) ≥ p·(a + b)`, rounded up.
    #[inline]
    pub fn jaccard_overlap(self, a: usize, b: usize) -> usize {
        let (p, q, all) = (self.numerator, self.denominator, a as u128 + b as u128);
        let needed = u128::from(p) * all;
        // Nearly always 64 bits suffice, in which division is cheap. p + q is at most 2·10¹².
        u64::try_from(needed)
            .map_or_else(|_| needed.div_ceil(u128::from(p + q)) as usize, |needed| needed.div_ceil(p + q) as usize)
    }

    /// Returns the smallest part of `whole` that reaches the threshold: `⌈τ·whole⌉`.
    #[inline]
    pub fn min_overlap(self, whole: usize) -> usize {
        (self.numerator as u128 * whole as u128).div_ceil(self.denominator as u128) as usize
    }

    /// Returns the most elements outside the intersection with which sets of these sizes still reach the threshold in
    /// Jaccard similarity: all elements minus twice the necessary [overlap](Self::jaccard_overlap). `None` if the
    /// smaller set is smaller than that overlap.
    #[inline]
    pub fn may_differ_in(self, a: usize, b: usize) -> Option<usize> {
        let needed = self.jaccard_overlap(a, b);
        (needed > 0 && needed <= a.min(b)).then(|| a + b - 2 * needed)
    }

    /// Returns the length of the prefix of a set of `n` elements: in any order that all sets share, the first
    /// `n − ⌈τ·n⌉ + 1` elements include one in common with each set at or above the threshold.
    #[inline]
    pub fn prefix_of(self, elements: usize) -> usize {
        elements - self.min_overlap(elements) + 1
    }

    /// Returns the length of the prefix of a set of `n` elements for sets of at least `least` elements, with which it
    /// [can](Self::may_differ_in) reach the threshold: no longer than the [prefix](Self::prefix_of) for all sets.
    #[inline]
    pub fn prefix_with(self, elements: usize, least: usize) -> usize {
        elements - self.jaccard_overlap(elements, least) + 1
    }

    /// Returns whether `dot / √(a · b)` is at or above the threshold: the cosine of two vectors with this dot product
    /// and these squared norms. Squared, `(dot·q)² ≥ (p·a)·(p·b)`, in 256 bits. False if a vector is zero.
    pub fn reached_by_cosine(self, dot: u128, a: u128, b: u128) -> bool {
        // For documents below 2⁴⁴ features every factor stays below 2⁸⁸ · 2⁴⁰.
        let (p, q) = (u128::from(self.numerator), u128::from(self.denominator));
        let wide = |x: u128, y: u128| {
            let (low, high) = x.carrying_mul(y, 0);
            (high, low)
        };
        a > 0 && b > 0 && wide(dot * q, dot * q) >= wide(p * a, p * b)
    }

    /// Returns the largest whole of which `part` still reaches the threshold: `⌊part / τ⌋`.
    #[inline]
    pub fn max_total(self, part: usize) -> usize {
        let whole = self.denominator as u128 * part as u128 / self.numerator as u128;
        whole.try_into().unwrap_or(usize::MAX)
    }

    /// Returns the numerator and the denominator, without common factors.
    pub(crate) fn fraction(self) -> [u64; 2] {
        [self.numerator, self.denominator]
    }

    /// Returns the nearest double, for probabilities and for display; never for a decision.
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// The greatest common divisor of two numbers, of which the first is not 0.
const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Parses a decimal (`0.8`, `.85`, `1`) of at most 12 decimals, or a fraction (`4/5`).
impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(typed: &str) -> Result<Self, ThresholdError> {
        parse(typed).ok_or_else(|| ThresholdError { typed: typed.into() })
    }
}

fn parse(typed: &str) -> Option<Threshold> {
    if let Some((numerator, denominator)) = typed.split_once('/') {
        return Threshold::new(numerator.trim().parse().ok()?, denominator.trim().parse().ok()?);
    }
    let (whole, decimals) = typed.split_once('.').unwrap_or((typed, ""));
    let digits = |s: &str| s.len() <= MAX_DECIMALS && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || (whole.is_empty() && decimals.is_empty()) {
        return None;
    }
    let scale = 10u64.pow(decimals.len() as u32);
    let number = |s: &str| if s.is_empty() { 0 } else { s.parse::<u64>().expect("checked to be few digits") };
    let numerator = number(whole).checked_mul(scale).and_then(|n| n.checked_add(number(decimals)))?;
    Threshold::new(numerator, scale)
}

/// A text that is not a [`Threshold`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdError {
    typed: String,
}

/// What is accepted, as messages say it.
const EXPECTED: &str = "a decimal above 0 and at most 1, of at most 12 decimals, or such a fraction (`4/5`)";

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid threshold '{}': expected {EXPECTED}", self.typed)
    }
}

impl std::error::Error for ThresholdError {}

impl From<ThresholdError> for Error {
    fn from(error: ThresholdError) -> Self {
        Error::parameter("threshold", error.typed, EXPECTED)
    }
}

/// Writes the decimal if there is one of at most 12 decimals, otherwise the fraction (`1/3`): what is written is read as
/// the same threshold.
impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if MAX_DENOMINATOR.is_multiple_of(self.denominator) {
            // The shortest digits that are read back as the same double are those of the decimal.
            return self.as_f64().fmt(f);
        }
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

/// Returns the number of elements that two ascending sets without repeats share.
#[cfg(test)]
fn overlap(a: &[u64], b: &[u64]) -> usize {
    overlap_at_least(a, b, 0).expect("at least none is always true")
}

/// How many elements two ascending sets without repeats share, or `None` as soon as it is sure to be fewer than `needed`.
///
/// A merge without unpredictable branches: both cursors move by the outcome of comparisons. At most `|a| + |b|` steps; the
/// bound is looked at once in 32.
pub fn overlap_at_least(a: &[u64], b: &[u64], needed: usize) -> Option<usize> {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        if shared + (a.len() - i).min(b.len() - j) < needed {
            return None;
        }
        // Thirty-two steps move no cursor further than its bound allows.
        let steps = (a.len() - i).min(b.len() - j).min(32);
        for _ in 0..steps {
            let (x, y) = (a[i], b[j]);
            shared += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
    (shared >= needed).then_some(shared)
}

/// The exact Jaccard similarity of two ascending sets without repeats, or `None` below the threshold or if one is empty.
/// Of multisets (with repeats): the sum of the smaller counts over the sum of the larger ones.
pub fn jaccard_at_least(a: &[u64], b: &[u64], threshold: Threshold) -> Option<Similarity> {
    let needed = threshold.jaccard_overlap(a.len(), b.len());
    if a.is_empty() || b.is_empty() || needed > a.len().min(b.len()) {
        return None;
    }
    let shared = overlap_at_least(a, b, needed)? as u64;
    Some(Similarity::ratio(shared, a.len() as u64 + b.len() as u64 - shared))
}

/// The exact Jaccard similarity of two ascending sets or multisets, however low; 0 if one is empty.
///
/// Cost: a walk along both.
pub fn jaccard(a: &[u64], b: &[u64]) -> Similarity {
    let (shared, either) = shared(a, b);
    // Of two empty ones 0/1.
    Similarity::ratio(shared, either.max(1))
}

/// How many elements two ascending multisets share, and how many are in at least one of them.
///
/// Cost: a walk along both.
pub fn shared(a: &[u64], b: &[u64]) -> (u64, u64) {
    let shared = overlap_at_least(a, b, 0).unwrap_or(0) as u64;
    (shared, a.len() as u64 + b.len() as u64 - shared)
}

/// The exact cosine similarity of two ascending multisets, however low; 0 if one is empty.
///
/// Cost: a walk along both.
pub fn cosine(a: &[u64], b: &[u64]) -> Similarity {
    let (dot, a, b) = products(a, b);
    Similarity(if dot == 0 { 0.0 } else { ratio_of_roots(dot, a, b).clamp(0.0, 1.0) })
}

/// The exact cosine similarity of two ascending multisets, seen as vectors of counts, or `None` below the threshold or if one
/// is empty. Decided in integers; the value is `dot / √(|a|²·|b|²)`.
///
/// Cost: a walk along both.
pub fn cosine_at_least(a: &[u64], b: &[u64], threshold: Threshold) -> Option<Similarity> {
    let (dot, a, b) = products(a, b);
    threshold.reached_by_cosine(dot, a, b).then(|| {
        // Rounding must not print a pair below the threshold that it is at, or above 1.
        Similarity(ratio_of_roots(dot, a, b).clamp(threshold.as_f64(), 1.0))
    })
}

/// The Euclidean distance of two ascending multisets, seen as vectors of counts: the root of the sum of the squared
/// differences of the counts, a whole number.
///
/// Cost: a walk along both.
pub fn euclidean(a: &[u64], b: &[u64]) -> f64 {
    let (dot, a, b) = products(a, b);
    ((a + b - 2 * dot) as f64).sqrt()
}

/// The dot product of two ascending multisets, seen as vectors of counts, and their squared norms.
fn products(a: &[u64], b: &[u64]) -> (u128, u128, u128) {
    let (square_a, square_b) = (squared_norm(a), squared_norm(b));
    let are_sets = square_a == a.len() as u128 && square_b == b.len() as u128;
    let dot = match a.len() + b.len() {
        _ if are_sets => shared(a, b).0.into(),
        ..=MOST_COUNTED => dot(&Counted::new(a), &Counted::new(b)),
        _ => dot_of_runs(a, b),
    };
    (dot, square_a, square_b)
}

/// The maximum number of occurrences of two multisets that are counted, in 16 bytes each.
const MOST_COUNTED: usize = 1 << 15;

/// The sum of the products of the counts of common elements, without memory.
fn dot_of_runs(a: &[u64], b: &[u64]) -> u128 {
    let (mut dot, mut others) = (0, b.chunk_by(|x, y| x == y).peekable());
    for run in a.chunk_by(|x, y| x == y) {
        while others.next_if(|other| other[0] < run[0]).is_some() {}
        if let Some(other) = others.next_if(|other| other[0] == run[0]) {
            dot += run.len() as u128 * other.len() as u128;
        }
    }
    dot
}

/// The sum of the squared counts: `n²` is the sum of the first `n` odd numbers.
fn squared_norm(multiset: &[u64]) -> u128 {
    // Of a set at once, in vectors.
    if multiset.array_windows::<2>().map(|pair| usize::from(pair[0] == pair[1])).sum::<usize>() == 0 {
        return multiset.len() as u128;
    }
    let (mut sum, mut odd) = (u128::from(!multiset.is_empty()), 1u64);
    for pair in multiset.array_windows::<2>() {
        odd = if pair[0] == pair[1] { odd + 2 } else { 1 };
        sum += u128::from(odd);
    }
    sum
}

/// The distinct elements of a multiset, ascending, with their counts.
struct Counted {
    elements: Vec<u64>,
    counts: Vec<u64>,
}

impl Counted {
    /// Without unpredictable branches: each occurrence is counted where the last one was, unless another element came before it.
    fn new(multiset: &[u64]) -> Self {
        let mut counted = Counted { elements: vec![0; multiset.len()], counts: vec![0; multiset.len()] };
        let (mut at, mut before) = (0, multiset.first().copied().unwrap_or(0));
        for &element in multiset {
            at += usize::from(element != before);
            counted.elements[at] = element;
            counted.counts[at] += 1;
            before = element;
        }
        let distinct = if multiset.is_empty() { 0 } else { at + 1 };
        counted.elements.truncate(distinct);
        counted.counts.truncate(distinct);
        counted
    }
}

/// The sum of the products of the counts of common elements. A merge as in [`overlap_at_least`].
fn dot(a: &Counted, b: &Counted) -> u128 {
    let (mut i, mut j, mut dot) = (0, 0, 0u128);
    let (in_a, in_b) = (a.elements.len(), b.elements.len());
    while i < in_a && j < in_b {
        let steps = (in_a - i).min(in_b - j).min(32);
        for _ in 0..steps {
            let (x, y) = (a.elements[i], b.elements[j]);
            let product = u128::from(a.counts[i]) * u128::from(b.counts[j]);
            dot += if x == y { product } else { 0 };
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
    dot
}

fn ratio_of_roots(dot: u128, a: u128, b: u128) -> f64 {
    dot as f64 / (a as f64 * b as f64).sqrt()
}

/// The `n`-th occurrence of an element of a multiset, from 0, as an element of a set (option A of Broder 1997).
#[inline]
pub(crate) const fn occurrence(element: u64, n: usize) -> u64 {
    // The first is the element itself, as in a set.
    if n == 0 { element } else { combine(mix(n as u64), element) }
}

/// The set of the occurrences of an ascending multiset, ascending. Two of them have the similarity of the multisets.
///
/// Cost: a step for each element; a sort if any occurs twice.
pub(crate) fn set_of(multiset: &[u64]) -> Cow<'_, [u64]> {
    if multiset.windows(2).all(|pair| pair[0] != pair[1]) {
        return Cow::Borrowed(multiset);
    }
    let runs = multiset.chunk_by(|a, b| a == b);
    let mut set: Vec<u64> = runs.flat_map(|run| (0..run.len()).map(|n| occurrence(run[0], n))).collect();
    set.sort_unstable();
    Cow::Owned(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn threshold(typed: &str) -> Threshold {
        typed.parse().unwrap()
    }

    /// As [`products`], by the count of each element.
    fn products_plainly(a: &[u64], b: &[u64]) -> (u128, u128, u128) {
        let count = |multiset: &[u64], element: u64| multiset.iter().filter(|&&other| other == element).count() as u128;
        let elements: BTreeSet<u64> = a.iter().chain(b).copied().collect();
        let sum = |a: &[u64], b: &[u64]| elements.iter().map(|&element| count(a, element) * count(b, element)).sum();
        (sum(a, b), sum(a, a), sum(b, b))
    }

    proptest! {
        /// Few elements of many counts, and many of few.
        #[test]
        fn products_are_those_of_the_counts(
            a in proptest::collection::vec(prop_oneof![0..6u64, 0..300u64], 0..200),
            b in proptest::collection::vec(prop_oneof![0..6u64, 0..300u64], 0..200),
        ) {
            let [mut a, mut b] = [a, b];
            a.sort_unstable();
            b.sort_unstable();
            let [mut set_a, mut set_b] = [a.clone(), b.clone()];
            set_a.dedup();
            set_b.dedup();
            for (a, b) in [(&a, &b), (&set_a, &b), (&set_a, &set_b), (&a, &vec![])] {
                let expected = products_plainly(a, b);
                prop_assert_eq!(products(a, b), expected);
                prop_assert_eq!(dot_of_runs(a, b), expected.0);
            }
        }
    }

    #[test]
    fn sets_of_multisets_have_their_similarity() {
        let multisets: [&[u64]; 6] = [&[], &[1], &[1, 1, 2], &[1, 2], &[1, 1, 1, 3], &[2, 2, 3, 3, 3]];
        for (a, b) in multisets.iter().flat_map(|a| multisets.map(|b| (*a, b))) {
            let (set_a, set_b) = (set_of(a), set_of(b));
            assert!(set_a.is_sorted_by(|x, y| x < y));
            assert_eq!(jaccard(&set_a, &set_b), jaccard(a, b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn similarities_are_printed() {
        let third = Similarity::ratio(1, 3);
        assert_eq!((format!("{third:.2}"), third.to_string().parse()), ("0.33".into(), Ok(third.value())));
    }

    #[test]
    fn decimals_are_exact_fractions() {
        assert_eq!(threshold("0.8"), Threshold::new(4, 5).unwrap());
        assert_eq!(threshold(".850"), Threshold::new(17, 20).unwrap());
        assert_eq!(threshold("1"), Threshold::new(1, 1).unwrap());
        assert_eq!(threshold("2/3"), Threshold::new(2, 3).unwrap());
        for bad in
            ["", ".", "0", "0.0", "1.1", "-1", "1e-3", "0.8x", "3/2", "0/5", "1/0", "99999999999999", "nan", "+1"]
        {
            assert!(bad.parse::<Threshold>().is_err(), "{bad:?} was taken");
        }
    }

    #[test]
    fn a_threshold_is_printed_as_it_is_typed() {
        let printed = |typed: &str| threshold(typed).to_string();
        assert_eq!(
            ["0.80", "4/5", "1", ".000000000001", "0.999999999999"].map(printed),
            ["0.8", "0.8", "1", "0.000000000001", "0.999999999999"]
        );
        assert_eq!(["1/3", "200/300", "1/999999999999"].map(printed), ["1/3", "2/3", "1/999999999999"]);
    }

    #[test]
    fn a_threshold_can_be_read_with_a_question_mark() {
        fn read(typed: &str) -> Result<Threshold, Box<dyn std::error::Error>> {
            Ok(typed.parse()?)
        }
        assert_eq!(read("0.8").unwrap(), threshold("4/5"));
        let error = read("1.5").unwrap_err().to_string();
        assert!(error.contains("'1.5'") && error.contains("at most 1"), "{error}");
    }

    #[test]
    fn a_pair_exactly_at_the_threshold_reaches_it() {
        // In doubles 1 - 0.8 = 0.19999999999999996, which is how others lose these pairs.
        assert!(threshold("0.8").reached_by(4, 5));
        assert!(threshold("0.7").reached_by(7, 10) && !threshold("0.7").reached_by(69, 99));
        assert!(!threshold("0.1").reached_by(0, 0));
        assert_eq!(threshold("0.8").jaccard_overlap(9, 9), 8);
        assert_eq!(
            [threshold("0.8").min_overlap(500), threshold("0.8").min_overlap(501), threshold("1").min_overlap(7)],
            [400, 401, 7]
        );
        assert_eq!(
            [threshold("0.8").max_total(400), threshold("2/3").max_total(5), threshold("1").max_total(7)],
            [500, 7, 7]
        );
    }

    #[test]
    fn sizes_and_prefixes_at_the_edge() {
        let at = threshold("0.8");
        assert_eq!(
            [at.may_differ_in(4, 5), at.may_differ_in(5, 4), at.may_differ_in(79, 99)],
            [Some(1), Some(1), None]
        );
        assert_eq!([at.may_differ_in(0, 0), at.may_differ_in(0, 3), at.may_differ_in(9, 9)], [None, None, Some(2)]);
        assert_eq!(
            [at.prefix_of(500), at.prefix_of(501), at.prefix_of(1), threshold("1").prefix_of(7)],
            [101, 101, 1, 1]
        );
    }

    #[test]
    fn textbook_examples() {
        // S = {A,B,C}, T = {B,C,D,E,F}: 2 of 6 (a textbook example). Word 3-grams of the BigCode near-deduplication article: 3 of 5.
        let third = jaccard_at_least(&[1, 2, 3], &[2, 3, 4, 5, 6], threshold("1/3")).unwrap();
        assert_eq!(third.value(), 1.0 / 3.0);
        assert_eq!(jaccard_at_least(&[1, 2, 3], &[2, 3, 4, 5, 6], threshold("0.34")), None);
        assert_eq!(jaccard_at_least(&[1, 2, 3], &[1, 2, 3, 4, 5], threshold("0.6")).unwrap().value(), 0.6);
    }

    #[test]
    fn empty_sets_are_like_nothing() {
        assert_eq!(jaccard_at_least(&[], &[], threshold("0.1")), None);
        assert_eq!(jaccard_at_least(&[1], &[], threshold("0.1")), None);
        assert_eq!(cosine_at_least(&[], &[], threshold("0.1")), None);
        assert_eq!(cosine_at_least(&[1], &[], threshold("0.1")), None);
    }

    #[test]
    fn similarities_without_a_threshold() {
        assert_eq!(jaccard(&[1, 2, 3], &[2, 3, 4, 5, 6]).value(), 1.0 / 3.0);
        assert_eq!(jaccard(&[1, 1, 2], &[1, 2, 2, 2]).value(), 2.0 / 5.0);
        assert_eq!(cosine(&[1, 2, 3, 4, 5], &[1, 2, 3, 4, 6]).value(), 0.8);
        for (a, b) in [(&[1u64][..], &[2u64][..]), (&[1], &[]), (&[], &[])] {
            assert_eq!((jaccard(a, b).value(), cosine(a, b).value()), (0.0, 0.0));
        }
    }

    #[test]
    fn a_pair_exactly_at_a_cosine_reaches_it() {
        // Four of five elements in common, 4 / √(5·5); counts (3, 4) and (4, 3), 24 / 25; multiples have the same direction.
        assert_eq!(cosine_at_least(&[1, 2, 3, 4, 5], &[1, 2, 3, 4, 6], threshold("0.8")).unwrap().value(), 0.8);
        let (a, b) = ([1, 1, 1, 2, 2, 2, 2], [1, 1, 1, 1, 2, 2, 2]);
        assert_eq!(cosine_at_least(&a, &b, threshold("0.96")).unwrap().value(), 0.96);
        assert_eq!(cosine_at_least(&a, &b, threshold("0.960000000001")), None);
        assert_eq!(cosine_at_least(&[1, 2], &[1, 1, 1, 2, 2, 2], threshold("1")), Some(Similarity::ONE));
        assert_eq!(cosine_at_least(&[1, 2], &[1, 1, 1, 2, 2], threshold("1")), None);
        // Beyond 128 bits.
        let huge = 1u128 << 80;
        assert!(threshold("1").reached_by_cosine(huge, huge, huge));
        assert!(!threshold("0.999999999999").reached_by_cosine(huge - (huge >> 20), huge, huge));
        assert!(threshold("0.000000000001").reached_by_cosine(huge >> 39, huge, huge));
        assert!(!threshold("0.000000000001").reached_by_cosine(huge >> 40, huge, huge));
    }

    proptest! {
        #[test]
        fn thresholds_read_what_they_print(p in 1u64..1_000_000_000_000, more in 0u64..1000, decimals in 0u32..=12) {
            let decimal = Threshold::new(p % 10u64.pow(decimals) + 1, 10u64.pow(decimals));
            let fraction = Threshold::new(p, (p + more).min(1_000_000_000_000));
            for threshold in decimal.into_iter().chain(fraction) {
                prop_assert_eq!(threshold.to_string().parse(), Ok(threshold));
            }
        }

        #[test]
        fn jaccard_equals_sets_from_the_standard_library(
            a in prop::collection::btree_set(0u64..60, 0..50),
            b in prop::collection::btree_set(0u64..60, 0..50),
            p in 1u64..20, more in 0u64..20,
        ) {
            let threshold = Threshold::new(p, p + more).unwrap();
            let shared = a.intersection(&b).count() as u64;
            let either = a.union(&b).count() as u64;
            let flat = |s: &BTreeSet<u64>| s.iter().copied().collect::<Vec<_>>();
            let expected = (threshold.reached_by(shared, either) && shared > 0)
                .then(|| Similarity::ratio(shared, either));
            let apart = (either - shared) as usize;
            prop_assert_eq!(expected.is_some(), threshold.may_differ_in(a.len(), b.len()).is_some_and(|most| apart <= most));
            prop_assert_eq!(jaccard_at_least(&flat(&a), &flat(&b), threshold), expected);
            prop_assert_eq!(overlap(&flat(&a), &flat(&b)) as u64, shared);
        }
    }
}
