//! Two partitions of the same documents compared: adjusted Rand index and accuracy.

use super::scores::part;
use crate::union_find::UnionFind;
use std::collections::HashMap;

/// A label for each of `documents` documents, equal for documents that pairs connect.
pub fn components(documents: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut union = UnionFind::<u32>::new(documents);
    for (a, b) in pairs {
        union.union(a, b);
    }
    union.into_labels()
}

/// The adjusted Rand index of two partitions, given as a label for each document: 1 for equal ones, about 0 for
/// unrelated ones (Hubert & Arabie 1985, *Comparing partitions*). Let `t` and `p` be the pairs inside the clusters of
/// the one and of the other, `s` those inside clusters of both, and `N` all pairs. The index is `(s − tp/N) / ((t +
/// p)/2 − tp/N)`. It is 1 where that is 0/0, which occurs only for equal partitions.
///
/// # Panics
/// If the two have different numbers of documents.
pub fn adjusted_rand_index(truth: &[u32], predicted: &[u32]) -> f64 {
    assert_eq!(truth.len(), predicted.len(), "a label for each document on both sides");
    let mut both: Vec<(u32, u32)> = truth.iter().copied().zip(predicted.iter().copied()).collect();
    let s = pairs_within(&mut both);
    let t = pairs_within(&mut truth.to_vec());
    let p = pairs_within(&mut predicted.to_vec());
    let documents = truth.len() as i128;
    let all = documents * (documents - 1) / 2;
    // Both sides of the fraction times 2N: whole numbers, below 2¹²⁷ for up to 2³² documents.
    let (above, below) = (2 * all * s - 2 * t * p, all * (t + p) - 2 * t * p);
    if below == 0 { 1.0 } else { above as f64 / below as f64 }
}

/// The share of the documents that are clustered correctly: their cluster has the same documents in both partitions,
/// given as for [`adjusted_rand_index`]. A document that is alone in both is correct. 1 without documents.
///
/// # Panics
/// If the two have different numbers of documents.
pub fn accuracy(truth: &[u32], predicted: &[u32]) -> f64 {
    assert_eq!(truth.len(), predicted.len(), "a label for each document on both sides");
    let sizes = |labels: &[u32]| {
        let mut sizes: HashMap<u32, u64> = HashMap::new();
        labels.iter().for_each(|&label| *sizes.entry(label).or_default() += 1);
        sizes
    };
    let (of_truth, of_predicted) = (sizes(truth), sizes(predicted));
    let mut both: Vec<(u32, u32)> = truth.iter().copied().zip(predicted.iter().copied()).collect();
    both.sort_unstable();
    // Two clusters are the same if what they share is all of each.
    let same = |run: &&[(u32, u32)]| [of_truth[&run[0].0], of_predicted[&run[0].1]] == [run.len() as u64; 2];
    let right: usize = both.chunk_by(|a, b| a == b).filter(same).map(<[_]>::len).sum();
    part(right as u64, truth.len() as u64)
}

/// The number of pairs with equal labels.
fn pairs_within<L: Ord>(labels: &mut [L]) -> i128 {
    labels.sort_unstable();
    let pairs = |run: &[L]| run.len() as i128 * (run.len() as i128 - 1) / 2;
    labels.chunk_by(|a, b| a == b).map(pairs).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn adjusted_rand_index_by_hand() {
        // Pairs inside: t = 1, p = 2, both 1, of 6. (1 − 2/6) / (3/2 − 2/6) = 4/7.
        assert_eq!(adjusted_rand_index(&[0, 0, 1, 2], &[0, 0, 1, 1]), 4.0 / 7.0);
        // t = 3 + 3, p = 1 + 1 + 1, both 2, of 15. (2 − 18/15) / (9/2 − 18/15) = 8/33.
        assert!((adjusted_rand_index(&[0, 0, 0, 1, 1, 1], &[0, 0, 1, 1, 2, 2]) - 8.0 / 33.0).abs() < 1e-15);
        // t = p = 2, both 0, of 6. (0 − 4/6) / (2 − 4/6) = −1/2: worse than chance.
        assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[0, 1, 0, 1]), -0.5);
        assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[7, 7, 3, 3]), 1.0);
        assert_eq!(adjusted_rand_index(&[0, 0, 0], &[0, 1, 2]), 0.0);
        for equal in [&[][..], &[0], &[0, 1, 2], &[5, 5, 5]] {
            assert_eq!(adjusted_rand_index(equal, equal), 1.0);
        }
    }

    #[test]
    fn accuracy_by_hand() {
        // The clusters {0 1 2} {3 4} {5} against {0 1} {2} {3 4} {5}: three of six documents have the same cluster.
        assert_eq!(accuracy(&[0, 0, 0, 1, 1, 2], &[4, 4, 5, 6, 6, 7]), 0.5);
        assert_eq!(accuracy(&[0, 0, 1, 1], &[0, 1, 0, 1]), 0.0);
        assert_eq!((accuracy(&[7, 7, 3], &[1, 1, 0]), accuracy(&[], &[])), (1.0, 1.0));
        // A cluster that is too large is wrong for all of its documents.
        assert_eq!(accuracy(&[0, 0, 1, 2], &[0, 0, 0, 1]), 0.25);
    }

    #[test]
    fn components_are_what_pairs_connect() {
        let labels = components(6, [(0, 3), (3, 5), (1, 2)]);
        let same = |a: usize, b: usize| labels[a] == labels[b];
        assert!(same(0, 5) && same(0, 3) && same(1, 2) && !same(0, 1) && !same(4, 0) && !same(4, 1));
    }

    proptest! {
        #[test]
        fn adjusted_rand_index_counted_pair_by_pair(labels in prop::collection::vec((0u32..4, 0u32..4), 0..30)) {
            let (truth, predicted): (Vec<u32>, Vec<u32>) = labels.iter().copied().unzip();
            let (mut s, mut t, mut p, mut all) = (0.0, 0.0, 0.0, 0.0);
            for (i, a) in labels.iter().enumerate() {
                for b in &labels[..i] {
                    all += 1.0;
                    t += f64::from(u8::from(a.0 == b.0));
                    p += f64::from(u8::from(a.1 == b.1));
                    s += f64::from(u8::from(a == b));
                }
            }
            let found = adjusted_rand_index(&truth, &predicted);
            if t == p && (t == 0.0 || t == all) {
                prop_assert_eq!(found, 1.0);
            } else {
                let chance = t * p / all;
                prop_assert!((found - (s - chance) / ((t + p) / 2.0 - chance)).abs() < 1e-9);
            }
            prop_assert_eq!(found, adjusted_rand_index(&predicted, &truth));
        }
    }
}
