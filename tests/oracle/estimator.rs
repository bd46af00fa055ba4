//! Signatures as estimators: the share of slots in which two signatures agree is an unbiased estimate of the Jaccard
//! similarity of their sets, with a variance of at most `J(1 − J)/K` (Broder 1997; Dahlgaard, Knudsen & Thorup, FOCS
//! 2017, theorem 1), for sets of any size. Random elements replace random hash functions.

use crate::support::random::Random;
use crate::support::statistics::{
    IMPROBABLE, SIGMAS, binomial, binomial_at_least, chi_squared_limit, mean_and_deviation,
};
use neardups::algorithm::minhash::sketch::{Kind, Sketch};

/// In which slots the signatures of two random sets agree, of which `shared` of `either` elements are in both.
fn agreement(sketch: &Sketch, random: &mut Random, shared: usize, either: usize) -> Vec<bool> {
    let elements = random.words(either);
    let (common, own) = elements.split_at(shared);
    let (own_a, own_b) = own.split_at(own.len() / 2);
    let signature = |own: &[u64]| {
        let mut signature = Vec::new();
        sketch.signature(&[common, own].concat(), &mut signature);
        signature
    };
    signature(own_a).iter().zip(&signature(own_b)).map(|(a, b)| a == b).collect()
}

/// Many pairs of random sets: their estimates, and how many agreed in each slot.
struct Trials {
    estimates: Vec<f64>,
    by_slot: Vec<usize>,
    similarity: f64,
}

fn trials(kind: Kind, slots: usize, shared: usize, either: usize, pairs: usize) -> Trials {
    let sketch = Sketch::new(kind, slots);
    let mut random = Random::new((slots + 7 * shared + 1000 * either) as u64);
    let (mut estimates, mut by_slot) = (Vec::new(), vec![0; slots]);
    for _ in 0..pairs {
        let agree = agreement(&sketch, &mut random, shared, either);
        estimates.push(agree.iter().filter(|agree| **agree).count() as f64 / slots as f64);
        by_slot.iter_mut().zip(&agree).for_each(|(count, agree)| *count += usize::from(*agree));
    }
    Trials { estimates, by_slot, similarity: shared as f64 / either as f64 }
}

/// `|A ∪ B|`, and how many of these both have.
const SETS: [(usize, usize); 14] = [
    (1, 1),
    (2, 1),
    (10, 2),
    (10, 8),
    (50, 10),
    (50, 25),
    (50, 40),
    (100, 50),
    (100, 80),
    (500, 100),
    (500, 400),
    (500, 475),
    (5000, 1000),
    (5000, 4000),
];

#[test]
fn estimates_are_unbiased_with_no_more_than_the_variance_of_independent_slots() {
    for (kind, slots) in [(Kind::Fss, 128), (Kind::Fss, 208), (Kind::Classic, 128)] {
        for (either, shared) in SETS {
            // The classic sketch costs `K·n`; its slots are independent, so that its variance needs no close look.
            let pairs = match kind {
                // The variance of large sets is close to that of independent slots, so more pairs are needed to
                // distinguish it from a larger one.
                Kind::Fss => {
                    if either > 1000 {
                        16_000
                    } else {
                        6_000
                    }
                }
                _ => (30_000_000 / (slots * either)).clamp(200, 8_000),
            };
            let Trials { estimates, similarity, .. } = trials(kind, slots, shared, either, pairs);
            let sigma = (similarity * (1.0 - similarity) / slots as f64).sqrt();
            let (mean, deviation) = mean_and_deviation(&estimates);
            let what = format!("{kind:?} of {slots} slots, {shared} of {either} shared: {mean} ± {deviation}");
            assert!((mean - similarity).abs() <= SIGMAS * sigma / (pairs as f64).sqrt(), "{what}, biased");
            // The standard error of a variance is √(2/M) of it, for estimates that are as good as normal.
            let noise = SIGMAS * (2.0 / pairs as f64).sqrt();
            let most = if kind == Kind::Fss { 1.05 } else { 1.0 + 2.0 * noise };
            assert!(
                deviation.powi(2) <= most * sigma.powi(2),
                "{what}, variance of independent slots {}",
                sigma.powi(2)
            );
            if kind == Kind::Classic && either >= 50 {
                assert!(deviation.powi(2) >= (1.0 - 2.0 * noise) * sigma.powi(2), "{what}: slots are not independent");
            }
        }
    }
}

#[test]
fn fast_similarity_sketches_of_small_sets_vary_by_half() {
    // Sets no larger than the signature are sampled almost without repeats. Our own measurement; FastSketchLSH reports 0.67 at
    // J = 0.5.
    for (either, shared) in [(10, 8), (50, 40), (100, 80)] {
        let Trials { estimates, similarity, .. } = trials(Kind::Fss, 128, shared, either, 8_000);
        let share = mean_and_deviation(&estimates).1.powi(2) / (similarity * (1.0 - similarity) / 128.0);
        assert!((0.35..0.65).contains(&share), "{share} of the variance at {either}");
    }
}

#[test]
fn estimates_far_off_are_as_rare_as_independent_slots_make_them() {
    for kind in [Kind::Fss, Kind::Classic] {
        for (either, shared) in SETS.into_iter().filter(|&(either, _)| (2..=500).contains(&either)) {
            let (slots, pairs) = (128, 2_000);
            let Trials { estimates, similarity, .. } = trials(kind, slots, shared, either, pairs);
            let far = |estimate: f64| {
                let sigma = (similarity * (1.0 - similarity) / slots as f64).sqrt();
                (estimate - similarity).abs() > 3.0 * sigma
            };
            // The exact tail: the normal one, 0.27 %, is too small for few slots and similarities near 1.
            let tail: f64 =
                (0..=slots).filter(|&n| far(n as f64 / slots as f64)).map(|n| binomial(slots, similarity, n)).sum();
            let observed = estimates.iter().filter(|&&estimate| far(estimate)).count();
            let chance = binomial_at_least(pairs, tail, observed);
            assert!(
                chance > IMPROBABLE,
                "{kind:?}, {shared} of {either}: {observed} of {pairs} are far off, not {tail}"
            );
        }
    }
}

#[test]
fn all_slots_agree_equally_often() {
    for kind in [Kind::Fss, Kind::Classic] {
        for (either, shared) in [(2, 1), (10, 5), (50, 40), (500, 250)] {
            let (slots, pairs) = (96, 3_000);
            let Trials { by_slot, similarity, .. } = trials(kind, slots, shared, either, pairs);
            let (mean, variance) = (pairs as f64 * similarity, pairs as f64 * similarity * (1.0 - similarity));
            let chi_squared: f64 = by_slot.iter().map(|&count| (count as f64 - mean).powi(2) / variance).sum();
            assert!(chi_squared < chi_squared_limit(slots), "{kind:?}, {shared} of {either}: {chi_squared}");
        }
    }
}

#[test]
fn all_elements_win_equally_often() {
    // Which of ten elements a slot took shows in the signatures of each alone, where any of the rounds could have filled it:
    // a slot of the whole belongs to the one element whose removal changes it.
    for kind in [Kind::Fss, Kind::Classic] {
        let (slots, rounds) = (64, 1_000);
        let sketch = Sketch::new(kind, slots);
        let mut random = Random::new(11);
        let mut wins = [0usize; 10];
        for _ in 0..rounds {
            let elements = random.words(10);
            let signature = |without: usize| {
                let mut rest = elements.clone();
                if without < rest.len() {
                    rest.remove(without);
                }
                let mut signature = Vec::new();
                sketch.signature(&rest, &mut signature);
                signature
            };
            let whole = signature(10);
            for (i, wins) in wins.iter_mut().enumerate() {
                *wins += signature(i).iter().zip(&whole).filter(|(part, whole)| part != whole).count();
            }
        }
        let total = slots * rounds;
        assert_eq!(wins.iter().sum::<usize>(), total, "{kind:?}: a slot belongs to one element");
        let mean = total as f64 / 10.0;
        let chi_squared: f64 = wins.iter().map(|&count| (count as f64 - mean).powi(2) / mean).sum();
        assert!(chi_squared < chi_squared_limit(9), "{kind:?}: {wins:?}");
    }
}

#[test]
fn signatures_do_not_depend_on_order_or_repeats() {
    for kind in [Kind::Fss, Kind::Classic] {
        for count in [1, 2, 10, 300] {
            let sketch = Sketch::new(kind, 100);
            let mut random = Random::new(count as u64);
            let mut elements = random.words(count);
            let mut expected = Vec::new();
            sketch.signature(&elements, &mut expected);
            elements.extend(elements[..count / 2].to_vec());
            random.shuffle(&mut elements);
            let mut signature = Vec::new();
            sketch.signature(&elements, &mut signature);
            assert_eq!(signature, expected, "{kind:?} of {count}");
            assert_eq!(signature.len(), 100);
        }
        let mut nothing: Vec<u64> = Vec::new();
        Sketch::new(kind, 100).signature(&[], &mut nothing);
        assert!(nothing.is_empty());
    }
}
