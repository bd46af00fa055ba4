//! The longest common subsequence of two short stretches of words, with the words that it keeps.
//!
//! The table of lengths is stored as bits: whether a length grows from one word of `a` to the one before it (Hyyrö, *Bit-parallel
//! LCS-length computation revisited*, AWOCA 2004), 64 words at a time. The path is reconstructed from these bits.

use super::Run;

/// Number of bits in a block.
const BITS: usize = u64::BITS as usize;

/// The table. Its memory is reused.
#[derive(Default)]
pub(crate) struct Lcs {
    /// A row for each suffix of `b`, the empty one first. Bit `k` is clear if the longest common subsequence with that suffix is longer
    /// for the last `k + 1` words of `a` than for the last `k`.
    rows: Vec<u64>,
    places: Places,
}

impl Lcs {
    /// Appends the runs of a longest common subsequence, in order. Of several, the one that keeps earlier words.
    ///
    /// Cost: the product of the lengths, divided by 64, in time and bits; callers bound the lengths.
    pub fn common(&mut self, a: &[u64], b: &[u64], runs: &mut Vec<Run>) {
        let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
        push(runs, Run { a: 0, b: 0, tokens: head });
        self.middle(&a[head..a.len() - tail], &b[head..b.len() - tail], head, runs);
        push(runs, Run { a: a.len() - tail, b: b.len() - tail, tokens: tail });
    }

    /// [`common`](Self::common) between equal ends, `before` words after the start.
    fn middle(&mut self, a: &[u64], b: &[u64], before: usize, runs: &mut Vec<Run>) {
        if a.is_empty() || b.is_empty() {
            return;
        }
        self.fill(a, b);
        let blocks = a.len().div_ceil(BITS);
        let same_without = |i: usize, j: usize| {
            let bit = a.len() - 1 - i;
            self.rows[(b.len() - j) * blocks + bit / BITS] >> (bit % BITS) & 1 == 1
        };
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            if a[i] == b[j] {
                push(runs, Run { a: before + i, b: before + j, tokens: 1 });
                (i, j) = (i + 1, j + 1);
            } else if same_without(i, j) {
                i += 1;
            } else {
                j += 1;
            }
        }
    }

    /// Fills the rows.
    fn fill(&mut self, a: &[u64], b: &[u64]) {
        let Lcs { rows, places } = self;
        let blocks = a.len().div_ceil(BITS);
        rows.clear();
        rows.resize(blocks, u64::MAX);
        if blocks == 1 {
            let mut row = u64::MAX;
            let seen = Seen::of(a);
            rows.extend(b.iter().rev().map(|word| {
                if !seen.may_have(*word) {
                    return row;
                }
                let equal = a.iter().fold(0, |bits, other| bits << 1 | u64::from(other == word));
                let both = row & equal;
                row = row.wrapping_add(both) | row & !both;
                row
            }));
            return;
        }
        places.set(a);
        for word in b.iter().rev() {
            let before = rows.len() - blocks;
            rows.extend_from_within(before..);
            let Some(equal) = places.of(*word) else { continue };
            let mut carry = false;
            for (block, equal) in rows[before + blocks..].iter_mut().zip(equal) {
                let both = *block & equal;
                let (sum, one) = block.overflowing_add(both);
                let (sum, two) = sum.overflowing_add(u64::from(carry));
                carry = one | two;
                *block = sum | *block & !both;
            }
        }
    }
}

/// Which words a short stretch may have, by eight bits of each: beside an edit few words are equal, and the others need not be compared.
struct Seen([u64; 4]);

impl Seen {
    fn of(stretch: &[u64]) -> Self {
        let mut seen = Seen([0; 4]);
        for &word in stretch {
            let (number, bit) = Self::place(word);
            seen.0[number] |= bit;
        }
        seen
    }

    fn may_have(&self, word: u64) -> bool {
        let (number, bit) = Self::place(word);
        self.0[number] & bit != 0
    }

    /// Words are hashes already; their lowest two bits are flags.
    fn place(word: u64) -> (usize, u64) {
        ((word >> 2) as usize % 4, 1 << ((word >> 4) % 64))
    }
}

/// The positions of each word of a stretch, as bits: a small hash table.
#[derive(Default)]
struct Places {
    /// The number of a word, from 1, by hash; 0 for a free slot. The length is a power of two, at least twice the number of words.
    slots: Vec<u32>,
    words: Vec<u64>,
    /// For each word, its positions from the end.
    bits: Vec<u64>,
    blocks: usize,
}

impl Places {
    fn set(&mut self, stretch: &[u64]) {
        self.blocks = stretch.len().div_ceil(BITS);
        self.slots.clear();
        self.slots.resize((2 * stretch.len()).next_power_of_two(), 0);
        self.words.clear();
        self.bits.clear();
        for (place, &word) in stretch.iter().rev().enumerate() {
            let slot = self.slot(word);
            if self.slots[slot] == 0 {
                self.words.push(word);
                self.slots[slot] = self.words.len() as u32;
                self.bits.resize(self.words.len() * self.blocks, 0);
            }
            let first = (self.slots[slot] as usize - 1) * self.blocks;
            self.bits[first + place / BITS] |= 1 << (place % BITS);
        }
    }

    fn of(&self, word: u64) -> Option<&[u64]> {
        let number = (self.slots[self.slot(word)] as usize).checked_sub(1)?;
        Some(&self.bits[number * self.blocks..][..self.blocks])
    }

    /// The slot of a word, or the free slot for it. There is always a free slot.
    fn slot(&self, word: u64) -> usize {
        let last = self.slots.len() - 1;
        // Words are hashes already; their lowest two bits are flags.
        let mut slot = (word >> 2) as usize & last;
        while let Some(number) = (self.slots[slot] as usize).checked_sub(1)
            && self.words[number] != word
        {
            slot = (slot + 1) & last;
        }
        slot
    }
}

/// Appends a run, or extends the last one if the run continues it.
pub(crate) fn push(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        _ if run.tokens == 0 => {}
        Some(last) if (last.a + last.tokens, last.b + last.tokens) == (run.a, run.b) => last.tokens += run.tokens,
        _ => runs.push(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The plain version: a table of lengths, cell by cell.
    fn by_table(a: &[u64], b: &[u64]) -> Vec<Run> {
        let mut longest = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in (0..a.len()).rev() {
            for j in (0..b.len()).rev() {
                longest[i][j] = match a[i] == b[j] {
                    true => longest[i + 1][j + 1] + 1,
                    false => longest[i + 1][j].max(longest[i][j + 1]),
                };
            }
        }
        let (mut runs, mut i, mut j) = (Vec::new(), 0, 0);
        while i < a.len() && j < b.len() {
            if a[i] == b[j] {
                push(&mut runs, Run { a: i, b: j, tokens: 1 });
                (i, j) = (i + 1, j + 1);
            } else if longest[i + 1][j] >= longest[i][j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
        assert_eq!(runs.iter().map(|run| run.tokens).sum::<usize>(), longest[0][0]);
        runs
    }

    fn middle(lcs: &mut Lcs, a: &[u64], b: &[u64]) -> Vec<Run> {
        let mut runs = Vec::new();
        lcs.middle(a, b, 0, &mut runs);
        runs
    }

    #[test]
    fn kept_words() {
        let run = |a, b, tokens| Run { a, b, tokens };
        let common = |a: &str, b: &str| {
            let words = |text: &str| text.bytes().map(u64::from).collect::<Vec<u64>>();
            let mut runs = vec![];
            Lcs::default().common(&words(a), &words(b), &mut runs);
            runs
        };
        assert_eq!(common("abcd", "abxd"), [run(0, 0, 2), run(3, 3, 1)]);
        assert_eq!(common("abab", "ab"), [run(0, 0, 2)]);
        assert_eq!(common("xay", "bac"), [run(1, 1, 1)]);
        assert_eq!(common("xy", "yx"), [run(1, 0, 1)]);
        assert_eq!(common("", "a"), []);
    }

    proptest! {
        #[test]
        fn equals_the_plain_version(
            a in prop::collection::vec(0u64..9, 0..300),
            b in prop::collection::vec(0u64..9, 0..300),
            (c, d) in (prop::collection::vec(0u64..200, 0..70), prop::collection::vec(0u64..200, 0..70)),
        ) {
            let mut lcs = Lcs::default();
            for (a, b) in [(&a, &b), (&c, &d), (&a, &d), (&c, &b)] {
                prop_assert_eq!(middle(&mut lcs, a, b), by_table(a, b));
            }
        }
    }
}
