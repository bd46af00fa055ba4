//! Odd sketches rule pairs of sets out: from a bit for each element follows a minimum number of elements in which two sets differ.
//!
//! (Mitzenmacher, Pagh & Pham, *Efficient Estimation for High Similarities using Odd Sketches*, WWW 2014; here they bound, and do not
//! estimate.)

use crate::algorithm::Algorithm;
use crate::error::Error;
use crate::similarity::Threshold;
use crate::similarity::bound::Bound;

/// The threshold of a Jaccard similarity that is compared by; sketches rule nothing out by other measures.
pub(super) fn threshold(algorithm: &dyn Algorithm) -> Option<Threshold> {
    match algorithm.profile().bound() {
        Some(Bound::Jaccard(threshold)) => Some(threshold),
        _ => None,
    }
}

/// The fewest words of parities: those of a short document cost little.
const WORDS: usize = 4;

/// The size of a set, or multiset, and for each class of elements whether it has an odd number of them. There are about as many classes as
/// elements: a power of two of words.
///
/// An element that one set has more often than the other changes at most one parity each time. So they differ in at least as many
/// elements as parities.
#[derive(Debug)]
pub(super) struct Sketch {
    size: usize,
    parities: Vec<u64>,
}

impl Sketch {
    /// Writes that of a set into a list, for rows.
    pub fn write(set: &[u64], sketch: &mut Vec<u64>) {
        let words = set.len().div_ceil(64).next_power_of_two().max(WORDS);
        sketch.clear();
        sketch.push(set.len() as u64);
        sketch.resize(1 + words, 0);
        for element in set {
            // Multiplied, so that elements need not be hashes. The low bits of the class are those of fewer classes.
            let class = (element.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % (64 * words);
            sketch[1 + class / 64] ^= 1 << (class % 64);
        }
    }

    /// Reads a list of a row; `None` if it is empty, and rules nothing out.
    ///
    /// # Errors
    /// It is no sketch.
    pub fn read(sketch: &[i64]) -> Result<Option<Self>, Error> {
        match sketch {
            [] => Ok(None),
            [size, parities @ ..] if *size >= 0 && parities.len().is_power_of_two() => {
                Ok(Some(Sketch { size: *size as usize, parities: parities.iter().map(|&word| word as u64).collect() }))
            }
            _ => Err(Error::Usage(format!("a row has a 'sketch' of {} numbers: it is of another run", sketch.len()))),
        }
    }

    /// The minimum number of elements in which two sets differ. The parity of classes that are taken together is that of the sum.
    fn differ_in_at_least(&self, other: &Sketch) -> usize {
        let (few, many) = match self.parities.len() <= other.parities.len() {
            true => (&self.parities, &other.parities),
            false => (&other.parities, &self.parities),
        };
        let folded = |at: usize| many[at..].iter().step_by(few.len()).fold(0, |all, word| all ^ word);
        few.iter().enumerate().map(|(at, word)| (word ^ folded(at)).count_ones() as usize).sum()
    }

    /// Whether two sets, or multisets, can have a Jaccard similarity at or above the threshold.
    pub fn can_reach(&self, other: &Sketch, threshold: Threshold) -> bool {
        threshold.may_differ_in(self.size, other.size).is_some_and(|most| self.differ_in_at_least(other) <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sketch(set: &[u64]) -> Sketch {
        let mut words = Vec::new();
        Sketch::write(set, &mut words);
        let words: Vec<i64> = words.into_iter().map(|word| word as i64).collect();
        Sketch::read(&words).unwrap().unwrap()
    }

    /// The elements of a multiset that are left after those of another are taken away.
    fn without(set: &[u64], other: &[u64]) -> usize {
        let mut other = other.to_vec();
        let is_left =
            |element: &&u64| other.iter().position(|own| own == *element).map(|at| other.swap_remove(at)).is_none();
        set.iter().filter(is_left).count()
    }

    proptest! {
        /// Of any sizes, so that sketches have different numbers of words; elements repeat.
        #[test]
        fn a_pair_that_is_ruled_out_is_below_the_threshold(
            shared in prop::collection::vec(any::<u64>(), 0..700),
            only_a in prop::collection::vec(any::<u64>(), 0..250),
            only_b in prop::collection::vec(any::<u64>(), 0..250),
            few in prop::collection::vec(0u64..4, 0..40),
            more in prop::collection::vec(0u64..4, 0..40),
            percent in 1u32..=100,
        ) {
            let (a, b) = ([&shared[..], &only_a, &few].concat(), [&more[..], &only_b, &shared].concat());
            let apart = without(&a, &b) + without(&b, &a);
            let (of_a, of_b) = (sketch(&a), sketch(&b));
            prop_assert!(of_a.differ_in_at_least(&of_b) <= apart);
            prop_assert_eq!(of_a.differ_in_at_least(&of_b), of_b.differ_in_at_least(&of_a));
            let (intersection, union) = ((a.len() + b.len() - apart) / 2, (a.len() + b.len()).midpoint(apart));
            let threshold: Threshold = (f64::from(percent) / 100.0).to_string().parse().unwrap();
            if intersection > 0 && intersection as u64 * 100 >= u64::from(percent) * union as u64 {
                prop_assert!(of_a.can_reach(&of_b, threshold), "{intersection} of {union} at {percent} %");
            }
            prop_assert_eq!(of_a.differ_in_at_least(&sketch(&a)), 0);
        }
    }

    #[test]
    fn unrelated_sets_are_ruled_out_whatever_their_size() {
        let threshold: Threshold = "0.8".parse().unwrap();
        for size in [20, 300, 5_000, 70_000] {
            let set = |from: u64, size: u64| (from..from + size).map(crate::hash::mix).collect::<Vec<u64>>();
            let (a, apart, near) = (set(0, size), set(size / 4, size + size / 8), set(size / 40, size));
            assert!(!sketch(&a).can_reach(&sketch(&apart), threshold), "{size}");
            assert!(sketch(&a).can_reach(&sketch(&near), threshold), "{size}");
            assert!(!sketch(&a).can_reach(&sketch(&set(1 << 40, size)), threshold), "{size}");
        }
    }

    #[test]
    fn what_is_no_sketch_is_refused() {
        assert!(Sketch::read(&[]).unwrap().is_none());
        for damaged in [&[3][..], &[-1, 0, 0, 0, 0], &[3, 0, 0, 0]] {
            let error = Sketch::read(damaged).unwrap_err().to_string();
            assert!(
                error.ends_with(&format!("a row has a 'sketch' of {} numbers: it is of another run", damaged.len()))
            );
        }
    }
}
