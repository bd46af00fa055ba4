//! MinHash signatures: `K` slots, each of which agrees between two sets with probability equal to their Jaccard similarity.

use crate::hash::mix;

/// The kinds of sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Fast Similarity Sketching (Dahlgaard, Knudsen & Thorup, FOCS 2017).
    Fss,
    /// One independent hash function a slot (Broder 1997).
    Classic,
}

impl Kind {
    /// As typed after `--sketch`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Fss => "fss",
            Kind::Classic => "classic",
        }
    }

    /// The kind of that name.
    ///
    /// # Panics
    /// If there is none.
    pub fn by_name(name: &str) -> Self {
        match name {
            "fss" => Kind::Fss,
            "classic" => Kind::Classic,
            _ => panic!("no sketch is called {name}"),
        }
    }
}

/// Makes signatures of a fixed number of slots.
#[derive(Clone, Debug)]
pub struct Sketch {
    kind: Kind,
    slots: usize,
    /// For the classic sketch, an odd multiplier and an addend a slot.
    functions: Vec<(u64, u64)>,
}

/// The increment of SplitMix64: consecutive rounds hash `x`, `x + γ`, `x + 2γ`, ….
const GAMMA: u64 = 0x9e3779b97f4a7c15;

/// A slot that no element has reached. No element's value is this one: see [`Sketch::fss`].
const EMPTY: u64 = u64::MAX;

impl Sketch {
    /// Signatures of `slots` slots, at least one.
    pub fn new(kind: Kind, slots: usize) -> Self {
        assert!(slots > 0, "a signature has at least one slot");
        let functions = match kind {
            Kind::Fss => Vec::new(),
            // Fixed constants: the run's seed is in the features already.
            Kind::Classic => (0..slots as u64).map(|k| (mix(2 * k + 1) | 1, mix(2 * k + 2))).collect(),
        };
        Sketch { kind, slots, functions }
    }

    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Appends the signature of a set of well-mixed 64-bit elements; repeats do not matter. An empty set appends nothing.
    pub fn signature(&self, elements: &[u64], signature: &mut Vec<u64>) {
        if elements.is_empty() {
            return;
        }
        let start = signature.len();
        signature.resize(start + self.slots, EMPTY);
        match self.kind {
            Kind::Fss => Self::fss(elements, &mut signature[start..]),
            Kind::Classic => self.classic(elements, &mut signature[start..]),
        }
    }

    /// In round `i` every element falls into one random slot with a random value; a slot keeps the least value of the first
    /// round in which anything fell into it. After as many rounds as slots, round `K + i` puts every element into slot `i`,
    /// so that no slot stays empty. Usually the first few rounds fill everything, and it stops there.
    ///
    /// Equal slots mean that the same element of the union won in both sets, hence agreement with probability `J`; the
    /// rounds share no randomness. An element's value in round `i` is `mix(x + i·γ)`, whose high bits choose the slot, so
    /// that values within a slot are compared by the low ones.
    ///
    /// Cost: `n` evaluations a round, `K ln K / n` rounds or one.
    fn fss(elements: &[u64], slots: &mut [u64]) {
        let count = slots.len() as u64;
        let mut empty = slots.len();
        // Slots filled in this round; what was filled before is final.
        let mut open: Vec<bool> = vec![true; slots.len()];
        for round in 0..2 * count {
            let step = round.wrapping_mul(GAMMA);
            for &element in elements {
                // The all-ones value stands for an empty slot: give it away.
                let value = mix(element.wrapping_add(step)).min(EMPTY - 1);
                let slot = if round < count { scale(value, count) } else { (round - count) as usize };
                if open[slot] && value < slots[slot] {
                    empty -= usize::from(slots[slot] == EMPTY);
                    slots[slot] = value;
                }
            }
            if empty == 0 {
                return;
            }
            for (open, slot) in open.iter_mut().zip(slots.iter()) {
                *open = *slot == EMPTY;
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

/// Maps a value uniform in 64 bits to `0..count`.
#[inline(always)]
fn scale(value: u64, count: u64) -> usize {
    ((u128::from(value) * u128::from(count)) >> 64) as usize
}
