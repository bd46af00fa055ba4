//! MinHash signatures: `K` slots, each of which agrees between two sets with probability equal to their Jaccard similarity.

use crate::algorithm::shingles::ShingleHash;
use crate::hash::mix;
use crate::kernel::Level;
use crate::kernel::sketch::{EMPTY, close_filled, lower, mix_all, scale};
use rand_mt::Mt;
use std::borrow::Cow;
use std::ops::Range;

/// The kinds of sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Fast Similarity Sketching (Dahlgaard, Knudsen & Thorup, FOCS 2017).
    Fss,
    /// One independent hash function a slot (Broder 1997).
    Classic,
    /// The default MinHash of datasketch 2 (its scheme `affine32`), bit by bit, with its default seed. Elements are
    /// 64-bit SHA-1 hashes of shingles ([`ShingleHash::Sha1`]), of which it takes the lower half.
    Datasketch,
    /// The MinHash of datasketch 1 (the scheme `legacy` of datasketch 2), of the same elements.
    Datasketch1,
}

impl Kind {
    /// Returns the name: a value of the parameter `sketch`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Fss => "fss",
            Kind::Classic => "classic",
            Kind::Datasketch => "datasketch",
            Kind::Datasketch1 => "datasketch1",
        }
    }

    /// Returns the default hash of shingles for this kind.
    pub fn shingle_hash(self) -> ShingleHash {
        match self {
            Kind::Fss | Kind::Classic => ShingleHash::default(),
            Kind::Datasketch | Kind::Datasketch1 => ShingleHash::Sha1,
        }
    }

    /// Returns the kind of this name.
    ///
    /// # Panics If no kind has this name.
    pub fn by_name(name: &str) -> Self {
        match name {
            "fss" => Kind::Fss,
            "classic" => Kind::Classic,
            "datasketch" => Kind::Datasketch,
            "datasketch1" => Kind::Datasketch1,
            _ => panic!("no sketch is called {name}"),
        }
    }
}

/// Makes signatures of a fixed number of slots.
#[derive(Clone, Debug)]
pub struct Sketch {
    kind: Kind,
    slots: usize,
    /// For the classic sketch, an odd multiplier and an addend a slot; for those of datasketch, a factor and an addend.
    functions: Vec<(u64, u64)>,
}

/// The increment of SplitMix64: consecutive rounds hash `x`, `x + γ`, `x + 2γ`, ….
const GAMMA: u64 = 0x9e3779b97f4a7c15;

impl Sketch {
    /// A sketch with `slots` slots, at least one.
    pub fn new(kind: Kind, slots: usize) -> Self {
        assert!(slots > 0, "a signature has at least one slot");
        let functions = match kind {
            Kind::Fss => Vec::new(),
            // Fixed constants: the features already depend on the run's seed.
            Kind::Classic => (0..slots as u64).map(|k| (mix(2 * k + 1) | 1, mix(2 * k + 2))).collect(),
            Kind::Datasketch => affine_permutations(slots),
            Kind::Datasketch1 => permutations(slots),
        };
        Sketch { kind, slots, functions }
    }

    /// Returns the kind of the sketch.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Appends the signature of a set of well-mixed 64-bit elements; repeats do not matter. An empty set appends nothing.
    pub fn signature(&self, elements: &[u64], signature: &mut Vec<u64>) {
        if elements.is_empty() {
            return;
        }
        let start = signature.len();
        match self.kind {
            Kind::Fss => {
                // The second half is working memory.
                signature.resize(start + 2 * self.slots, EMPTY);
                let (slots, least) = signature[start..].split_at_mut(self.slots);
                Self::fss(elements, slots, least);
                signature.truncate(start + self.slots);
            }
            Kind::Classic => {
                signature.resize(start + self.slots, EMPTY);
                self.classic(elements, &mut signature[start..]);
            }
            Kind::Datasketch => {
                signature.resize(start + self.slots, EMPTY);
                self.affine(elements, &mut signature[start..]);
            }
            Kind::Datasketch1 => {
                let least = |&(a, b): &(u64, u64)| elements.iter().map(|&x| u64::from(permuted(a, b, x))).min();
                signature.extend(self.functions.iter().filter_map(least));
            }
        }
    }

    /// In round `i` every element falls into one random slot with a random value; a slot keeps the least value of the
    /// first round in which anything fell into it. After as many rounds as slots, round `K + i` puts every element into
    /// slot `i`, so that no slot stays empty. Usually the first few rounds fill every slot, and the loop ends.
    ///
    /// Equal slots mean that the same element of the union won in both sets, hence agreement with probability `J`; the
    /// rounds share no randomness. An element's value in round `i` is `mix(x + i·γ)`, whose high bits choose the slot, so
    /// that values within a slot are compared by the low ones.
    ///
    /// Cost: `n` evaluations a round, and `K` steps to close slots, eight at a time, or `n` if that is less; `K ln K / n`
    /// rounds, at most `2·K`. The loop over the elements has no branch: a slot that was filled in an earlier round is closed by
    /// a least value of 0, which nothing can lower. (An element that really hashes to 0 is as improbable as any
    /// collision, and as harmless: it would cost a slot.)
    ///
    /// Repeats do not fill slots, so a very repetitive text would take every round over all of its elements. After
    /// twice the rounds that this many distinct elements would need, repeats are therefore removed.
    fn fss(elements: &[u64], slots: &mut [u64], least: &mut [u64]) {
        let count = slots.len() as u64;
        let mut empty = slots.len();
        let mut elements = Cow::Borrowed(elements);
        let round_limit = 4 + (2.0 * count as f64 * (count as f64).ln() / elements.len() as f64) as u64;
        for round in 0..2 * count {
            if round == round_limit {
                elements = Cow::Owned(distinct(&elements));
            }
            let step = round.wrapping_mul(GAMMA);
            let value = |element: &u64| mix(element.wrapping_add(step));
            if round < count {
                // One part at a time, so that the values stay in the cache.
                let mut values = [0; 256];
                for part in elements.chunks(values.len()) {
                    let values = &mut values[..part.len()];
                    mix_all(Level::current(), part, step, values);
                    lower(Level::current(), values, least, round > 0);
                }
            } else {
                let slot = &mut least[(round - count) as usize];
                *slot = elements.iter().map(value).min().unwrap_or(EMPTY).min(*slot);
            }
            let mut close = |part: Range<usize>| {
                empty -= close_filled(Level::current(), &mut least[part.clone()], &mut slots[part]);
            };
            // Only slots that an element fell into can have changed, and few elements fall into few slots. Closing all takes an
            // eighth of a step for each, with AVX-512.
            if round >= count {
                let slot = (round - count) as usize;
                close(slot..slot + 1);
            } else if 8 * (elements.len() as u64) < count {
                elements.iter().map(|element| scale(value(element), count)).for_each(|slot| close(slot..slot + 1));
            } else {
                close(0..count as usize);
            }
            if empty == 0 {
                return;
            }
        }
    }

    /// Slot `k` is the least `(a_k·x + b_k mod 2⁶⁴) / 2³²` (multiply-shift: Dietzfelbinger et al. 1997).
    fn classic(&self, elements: &[u64], slots: &mut [u64]) {
        for (slot, &(a, b)) in slots.iter_mut().zip(&self.functions) {
            let hash = |x: &u64| (a.wrapping_mul(*x).wrapping_add(b) >> 32) as u32;
            *slot = u64::from(elements.iter().map(hash).min().expect("not empty"));
        }
    }
}

impl Sketch {
    /// Slot `k` is the least `a_k·h + b_k mod 2³²` of datasketch 2.
    fn affine(&self, elements: &[u64], slots: &mut [u64]) {
        for &element in elements {
            let hash = finalized(element as u32);
            for (slot, &(a, b)) in slots.iter_mut().zip(&self.functions) {
                *slot = (*slot).min(u64::from((a as u32).wrapping_mul(hash).wrapping_add(b as u32)));
            }
        }
    }
}

/// Each of the elements once, ascending, where most are repeats. Takes several times the memory of the result, not that of the elements.
fn distinct(elements: &[u64]) -> Vec<u64> {
    const PART: usize = 1 << 12;
    let (mut distinct, mut sorted) = (Vec::new(), PART);
    for part in elements.chunks(PART) {
        if distinct.len() >= 2 * sorted {
            sorted = sort_distinct(&mut distinct).max(PART);
        }
        distinct.extend_from_slice(part);
    }
    sort_distinct(&mut distinct);
    distinct
}

fn sort_distinct(elements: &mut Vec<u64>) -> usize {
    elements.sort_unstable();
    elements.dedup();
    elements.len()
}

/// The finalizer of the 32-bit MurmurHash3 (Appleby), with which datasketch 2 mixes the lower half of an element.
fn finalized(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// The odd factors and the addends below 2³² of datasketch 2: outputs of MT19937 with seed 1, first one for each factor
/// (twice its lower 31 bits plus 1), then one for each addend.
fn affine_permutations(slots: usize) -> Vec<(u64, u64)> {
    let mut generator = Mt::new(1);
    let mut draws = |map: fn(u32) -> u32| (0..slots).map(|_| u64::from(map(generator.next_u32()))).collect::<Vec<_>>();
    let factors = draws(|value| value << 1 | 1);
    factors.into_iter().zip(draws(|value| value)).collect()
}

/// The Mersenne prime 2⁶¹ − 1, of datasketch 1.
const PRIME: u64 = (1 << 61) - 1;

/// The value of an element in a slot of datasketch 1: `((a·h + b) mod 2⁶⁴ mod (2⁶¹ − 1)) mod 2³²`, where `h` is the
/// lower half of the element. The product does not fit in 64 bits and wraps, as in datasketch 1.
#[inline(always)]
fn permuted(a: u64, b: u64, element: u64) -> u32 {
    (a.wrapping_mul(element & 0xffff_ffff).wrapping_add(b) % PRIME) as u32
}

/// The factors (from 1) and addends (from 0) below 2⁶¹ − 1 that datasketch 1 draws with the legacy generator of numpy:
/// MT19937 (Matsumoto & Nishimura 1998) with seed 1. A draw takes two outputs, the first as the upper half, and keeps
/// the lowest 61 bits; values that are too large are drawn again.
fn permutations(slots: usize) -> Vec<(u64, u64)> {
    let mut generator = Mt::new(1);
    let mut draw = |least: u64| loop {
        let (high, low) = (generator.next_u32(), generator.next_u32());
        let value = (u64::from(high) << 32 | u64::from(low)) & PRIME;
        if value < PRIME - least {
            return value + least;
        }
    };
    (0..slots).map(|_| (draw(1), draw(0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn repeats_are_removed_in_parts() {
        for count in [1, 3, 5000, 100_000] {
            let elements: Vec<u64> = (0..300_000).map(|i| mix(i % count)).collect();
            let expected: BTreeSet<u64> = elements.iter().copied().collect();
            let found = distinct(&elements);
            assert!(found.iter().eq(&expected) && (count > 5000 || found.capacity() < 1 << 15), "{count}");
        }
    }

    /// Algorithm 1 of the paper, word for word: the value of an element in a round is the round plus a fraction.
    fn fss_plain(elements: &[u64], t: usize) -> Vec<u64> {
        let mut s: Vec<Option<(usize, u64)>> = vec![None; t];
        let mut c = 0;
        for i in 0..2 * t {
            for a in elements {
                let hash = mix(a.wrapping_add((i as u64).wrapping_mul(GAMMA)));
                let b = if i < t { scale(hash, t as u64) } else { i - t };
                let v = (i, hash);
                if s[b].is_none() {
                    c += 1;
                }
                if s[b].is_none_or(|least| v < least) {
                    s[b] = Some(v);
                }
            }
            if c == t {
                break;
            }
        }
        s.into_iter().map(|least| least.expect("every slot is filled").1).collect()
    }

    proptest! {
        #[test]
        fn fss_is_what_the_paper_says(elements in prop::collection::vec(any::<u64>(), 1..300), slots in 1usize..260) {
            let mut signature = vec![7];
            Sketch::new(Kind::Fss, slots).signature(&elements, &mut signature);
            prop_assert_eq!(signature[0], 7);
            prop_assert_eq!(&signature[1..], fss_plain(&elements, slots));
        }

        #[test]
        fn order_and_repeats_do_not_matter(elements in prop::collection::vec(any::<u64>(), 1..60)) {
            for kind in [Kind::Fss, Kind::Classic, Kind::Datasketch, Kind::Datasketch1] {
                let sketch = Sketch::new(kind, 32);
                let (mut once, mut again) = (Vec::new(), Vec::new());
                sketch.signature(&elements, &mut once);
                let mut shuffled = elements.clone();
                shuffled.reverse();
                shuffled.extend_from_slice(&elements);
                sketch.signature(&shuffled, &mut again);
                prop_assert_eq!(once, again);
            }
        }
    }

    #[test]
    fn repeats_without_end_are_removed() {
        // Far too many elements to process them all in every round.
        let elements: Vec<u64> = (0..3_000_000).map(|i| mix(1 + i % 3)).collect();
        let mut signature = Vec::new();
        Sketch::new(Kind::Fss, 208).signature(&elements, &mut signature);
        assert_eq!(signature, fss_plain(&elements[..3], 208));
    }

    #[test]
    fn nothing_has_no_signature() {
        for kind in [Kind::Fss, Kind::Classic, Kind::Datasketch, Kind::Datasketch1] {
            let mut signature = Vec::new();
            Sketch::new(kind, 8).signature(&[], &mut signature);
            assert!(signature.is_empty());
        }
    }

    #[test]
    fn permutations_of_datasketch_2() {
        // MinHash(num_perm=5).permutations, by datasketch 2.0.0 itself.
        let factors = [3582191691, 4270784983, 1892572953, 3715639441, 982527];
        let addends = [550290313, 1298508491, 4290846341, 630311759, 1013994432];
        assert_eq!(affine_permutations(5), factors.into_iter().zip(addends).collect::<Vec<_>>());
    }

    #[test]
    fn permutations_and_slots_of_datasketch_1() {
        // MinHash(num_perm=4, seed=1), by datasketch 1 itself, of b'Hello', whose 32-bit SHA-1 is 2342453239.
        let drawn = [
            (775169054918279404, 1758426461858698312),
            (2109959069025162, 965365488286768773),
            (401325382989534145, 1703346441743126657),
            (1130051441076870728, 1762784241922636284),
        ];
        assert_eq!(permutations(4), drawn);
        // More slots begin with the same permutations.
        assert_eq!(permutations(200)[..4], drawn);
        let mut signature = Vec::new();
        // The upper half does not count.
        Sketch::new(Kind::Datasketch1, 4).signature(&[2342453239 | 77 << 32], &mut signature);
        assert_eq!(signature, [734825475, 960773806, 359816889, 342714745]);
        // Without wrapping at 2⁶⁴ the signature would differ.
        let exact = |(a, b): (u64, u64)| ((u128::from(a) * 2342453239 + u128::from(b)) % u128::from(PRIME)) as u32;
        assert_eq!(drawn.map(exact), [1522302003, 962917262, 767514177, 1490708185]);
    }

    #[test]
    fn values_are_fixed() {
        // Computed by a few lines of Python; signatures are part of stored fingerprints.
        let elements: Vec<u64> = (1..=20).map(mix).collect();
        let mut signature = Vec::new();
        Sketch::new(Kind::Fss, 4).signature(&elements, &mut signature);
        Sketch::new(Kind::Classic, 4).signature(&elements, &mut signature);
        assert_eq!(signature, FIXED);
    }

    const FIXED: [u64; 8] = [
        0x09892d7570f20697,
        0x52ead7e36ea7fea8,
        0x80406d72a11583e3,
        0xc1f70b2f5998f9c6,
        110_914_526,
        7_796_517,
        194_710_880,
        242_571_502,
    ];
}
