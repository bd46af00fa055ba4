//! Random numbers that are the same everywhere and owe nothing to the hashes under test.

/// xoshiro256** (Blackman & Vigna 2021).
pub struct Random([u64; 4]);

impl Random {
    /// A generator; each seed gives its own numbers.
    pub fn new(seed: u64) -> Self {
        // Any state but all zeros will do; the first outputs, which still resemble the seed, are thrown away.
        let mut random = Random([seed, !seed, 0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344]);
        (0..64).for_each(|_| _ = random.next());
        random
    }

    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        let s = &mut self.0;
        let out = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Any order, all equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// So many random 64-bit words.
    pub fn words(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.next()).collect()
    }
}
