//! The idf band: the document frequencies of terms that count, decided in integers.
//!
//! With `N` documents a term's normalised idf is `ln((N + 1) / df) / ln(N + 1)`. It is at least `l` exactly where
//! `df ≤ (N + 1)^(1 − l)`, and at most `h` exactly where `df ≥ (N + 1)^(1 − h)`: both ends are document frequencies,
//! found once in a run. If `1 − l` is the fraction `p/q`, then `df ≤ (N + 1)^(p/q)` is `df^q ≤ (N + 1)^p`, a comparison
//! of large whole numbers.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

/// Ends are given in thousandths.
const WHOLE: u64 = 1000;

/// Returns the document frequencies of terms whose normalised idf in a collection of `documents` documents is from
/// `low` to `high` thousandths. The range may be empty.
///
/// # Panics
/// If `low` or `high` is above 1000.
pub fn document_frequencies(documents: u64, low: u64, high: u64) -> RangeInclusive<u64> {
    least_frequency(documents, high)..=most_frequency(documents, low)
}

/// The largest document frequency whose normalised idf is at least `low` thousandths.
pub fn most_frequency(documents: u64, low: u64) -> u64 {
    let all = documents.saturating_add(1);
    last(all - 1, |frequency| compare_power(frequency, all, WHOLE - low) != Ordering::Greater)
}

/// The least document frequency whose normalised idf is at most `high` thousandths; above `documents` if there is none.
pub fn least_frequency(documents: u64, high: u64) -> u64 {
    let all = documents.saturating_add(1);
    last(all - 1, |frequency| compare_power(frequency, all, WHOLE - high) == Ordering::Less) + 1
}

/// The last of `1..=most` for which `holds` is true; 0 if for none. `holds` must be true up to some number and false
/// above it.
fn last(most: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut holding, mut failing) = (0, most + 1);
    while failing - holding > 1 {
        let middle = holding + (failing - holding) / 2;
        if holds(middle) { holding = middle } else { failing = middle }
    }
    holding
}

/// Compares `a` with `b^(thousandths / 1000)`.
fn compare_power(a: u64, b: u64, thousandths: u64) -> Ordering {
    let common = gcd(thousandths, WHOLE);
    let (a, b) = (power(a, WHOLE / common), power(b, thousandths / common));
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A power in words of 64 bits, the lowest first, none of them a leading 0.
fn power(base: u64, exponent: u64) -> Vec<u64> {
    let mut words = vec![1];
    for _ in 0..exponent {
        let mut carry = 0u128;
        for word in &mut words {
            carry += u128::from(*word) * u128::from(base);
            *word = carry as u64;
            carry >>= 64;
        }
        if carry > 0 {
            words.push(carry as u64);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_of_round_collections() {
        // 99 + 1 = 10²: a half of it is 10, and that is in at either end.
        assert_eq!(document_frequencies(99, 0, 1000), 1..=99);
        assert_eq!(document_frequencies(99, 500, 1000), 1..=10);
        assert_eq!(document_frequencies(99, 0, 500), 10..=99);
        assert_eq!(document_frequencies(99, 500, 500), 10..=10);
        assert!(document_frequencies(98, 500, 500).is_empty());
        // 10⁵ to the powers of 0.2 and 0.8.
        assert_eq!(document_frequencies(99_999, 200, 800), 10..=10_000);
        assert_eq!(document_frequencies(99_998, 200, 800), 10..=9_999);
        assert_eq!(document_frequencies(100_000, 200, 800), 11..=10_000);
    }

    #[test]
    fn ends_and_nothing() {
        assert!(document_frequencies(0, 0, 1000).is_empty());
        assert!(document_frequencies(0, 200, 800).is_empty());
        assert_eq!(document_frequencies(1, 0, 1000), 1..=1);
        assert!(document_frequencies(7, 1000, 1000).contains(&1));
        // No term is in more documents than there are, which is what an idf of 0 would take.
        assert!(document_frequencies(7, 0, 0).is_empty());
        let largest = u64::from(u32::MAX);
        assert_eq!(document_frequencies(largest, 1, 999), 2..=4_200_750_631);
    }

    #[test]
    fn floating_point_agrees_where_it_is_far_from_the_ends() {
        for documents in [1u64, 2, 3, 10, 1000, 123_456] {
            for (low, high) in [(200, 800), (123, 877), (0, 400), (333, 1000)] {
                let band = document_frequencies(documents, low, high);
                for frequency in (1..=documents).filter(|f| *f < 50 || f % 997 == 0) {
                    let all = documents as f64 + 1.0;
                    let idf = 1000.0 * (all / frequency as f64).ln() / all.ln();
                    let off = |end: u64| (idf - end as f64).abs() > 1e-6;
                    if off(low) && off(high) {
                        let expected = idf > low as f64 && idf < high as f64;
                        assert_eq!(band.contains(&frequency), expected, "{frequency} of {documents}, {low} to {high}");
                    }
                }
            }
        }
    }
}
