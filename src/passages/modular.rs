//! Hashes of strings of tokens: the values of polynomials modulo a prime (Karp & Rabin, IBM J. Res. Dev. 1987).

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;

/// The hash of a string that goes on with this token. `base` is that of the [`Powers`].
pub(super) fn extended(hash: u64, base: u64, token: u64) -> u64 {
    add(times(hash, base), token)
}

/// The product of numbers below 2⁶¹.
const fn times(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    reduce((product as u64 & PRIME) + (product >> 61) as u64)
}

/// The sum of a number below the prime, and of any other.
const fn add(a: u64, b: u64) -> u64 {
    reduce(a + reduce((b & PRIME) + (b >> 61)))
}

const fn reduce(a: u64) -> u64 {
    if a >= PRIME { a - PRIME } else { a }
}

/// Powers of the base: of each digit of an exponent.
pub(super) struct Powers([[u64; 256]; 6]);

impl Powers {
    /// Those of a base that is another one in each call, so that no text is made for it: two strings of `n` tokens that differ
    /// have one hash for at most `n` of some 2⁶¹ bases.
    pub fn random() -> Self {
        // Not 0 or 1.
        let mut base = 2 + RandomState::new().hash_one(0) % (PRIME - 2);
        let mut powers = [[1; 256]; 6];
        for digit in &mut powers {
            for at in 1..256 {
                digit[at] = times(digit[at - 1], base);
            }
            base = times(digit[255], base);
        }
        Powers(powers)
    }

    pub fn base(&self) -> u64 {
        self.0[0][1]
    }

    /// The hash of a string of this length, from those of the text before it and of the text with it.
    pub fn between(&self, before: u64, with: u64, length: u64) -> u64 {
        let (mut power, mut rest) = (1, length);
        for digit in &self.0 {
            if rest & 255 > 0 {
                power = times(power, digit[rest as usize & 255]);
            }
            rest >>= 8;
        }
        add(with, PRIME - times(before, power))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_hash_of_its_tokens() {
        let powers = Powers::random();
        let hash = |tokens: &[u64]| tokens.iter().fold(0, |hash, &token| extended(hash, powers.base(), token));
        let text: Vec<u64> = (0..1000).map(crate::hash::mix).collect();
        for (start, end) in [(0, 0), (0, 1000), (3, 700), (999, 1000)] {
            let between = powers.between(hash(&text[..start]), hash(&text[..end]), (end - start) as u64);
            assert_eq!(between, hash(&text[start..end]));
        }
    }
}
