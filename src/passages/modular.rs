//! Hashes of strings of tokens: the values of polynomials modulo a prime (Karp & Rabin, IBM J. Res. Dev. 1987).

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;

/// The hash of a string that goes on with this token. `base` is that of the [`Powers`].
fn extended(hash: u64, base: u64, token: u64) -> u64 {
    add(times(hash, base), token)
}

/// The product of numbers below 2⁶¹.
const fn times(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    reduce((product as u64 & PRIME) + (product >> 61) as u64)
}

/// The sum of a number below the prime, and of any other.
const fn add(a: u64, b: u64) -> u64 {
    reduce(a + reduce(folded(b)))
}

const fn reduce(a: u64) -> u64 {
    if a >= PRIME { a - PRIME } else { a }
}

/// A number that is equal modulo the prime, and hardly greater than it.
const fn folded(a: u64) -> u64 {
    (a & PRIME) + (a >> 61)
}

const fn product(a: u64, b: u64) -> u128 {
    a as u128 * b as u128
}

/// The number below the prime that is equal to one below 2¹²⁵.
const fn reduce_wide(a: u128) -> u64 {
    add(a as u64 & PRIME, (a >> 61) as u64)
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

    fn base(&self) -> u64 {
        self.0[0][1]
    }

    /// The hash of a string of this length, from those of the text before it and of the text with it.
    pub fn between(&self, before: u64, with: u64, length: u64) -> u64 {
        add(with, PRIME - times(before, self.of(length)))
    }

    /// Whether two strings of this length have one hash, from those of the text before each and of the text with it.
    pub fn are_equal(&self, [before_a, with_a]: [u64; 2], [before_b, with_b]: [u64; 2], length: u64) -> bool {
        let before = add(before_a, PRIME - before_b);
        times(before, self.of(length)) == add(with_a, PRIME - with_b)
    }

    /// The base to this power.
    fn of(&self, exponent: u64) -> u64 {
        let (mut power, mut rest) = (1, exponent);
        for digit in &self.0 {
            if rest & 255 > 0 {
                power = times(power, digit[rest as usize & 255]);
            }
            rest >>= 8;
        }
        power
    }
}

/// The tokens of a block of [`Beginnings`].
const BLOCK: usize = 4;

/// The hashes of all beginnings of a string, of which those of whole blocks are kept.
pub(super) struct Beginnings<'a> {
    powers: &'a Powers,
    tokens: &'a [u64],
    blocks: &'a [u64],
}

impl<'a> Beginnings<'a> {
    /// Those of tokens, with a buffer for the hashes.
    pub fn new(powers: &'a Powers, tokens: &'a [u64], buffer: &'a mut Vec<u64>) -> Self {
        let [_, base, square, cube, fourth] = *powers.0[0].first_chunk().expect("there are 256 powers");
        let mut hash = 0;
        let next = |&[a, b, c, d]: &[u64; BLOCK]| {
            // One reduction for the block.
            let three = product(folded(a), cube) + product(folded(b), square) + product(folded(c), base);
            hash = reduce_wide(product(hash, fourth) + three + u128::from(folded(d)));
            hash
        };
        buffer.clear();
        buffer.push(0);
        buffer.extend(tokens.as_chunks().0.iter().map(next));
        Beginnings { powers, tokens, blocks: buffer }
    }

    /// The hash of so many tokens.
    pub fn hash(&self, length: usize) -> u64 {
        let rest = &self.tokens[length / BLOCK * BLOCK..length];
        rest.iter().fold(self.blocks[length / BLOCK], |hash, &token| extended(hash, self.powers.base(), token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_beginning_has_the_hash_of_its_tokens(tokens in prop::collection::vec(prop_oneof![any::<u64>(), PRIME - 2..PRIME + 2, Just(u64::MAX)], 0..40)) {
            let (powers, mut buffer) = (Powers::random(), vec![7]);
            let beginnings = Beginnings::new(&powers, &tokens, &mut buffer);
            let mut plain = 0;
            for (length, &token) in tokens.iter().enumerate() {
                prop_assert_eq!(beginnings.hash(length), plain);
                plain = extended(plain, powers.base(), token);
            }
            prop_assert_eq!(beginnings.hash(tokens.len()), plain);
        }

        #[test]
        fn strings_are_equal_whose_hashes_are(befores in any::<[u64; 2]>(), strings in prop::collection::vec(0u64..2, 2..20), equal in any::<bool>()) {
            let powers = Powers::random();
            let (one, other) = strings.split_at(strings.len() / 2);
            let strings = [one, if equal { one } else { &other[..one.len()] }];
            let [a, b] = [0, 1].map(|at| {
                let before = extended(0, powers.base(), befores[at]);
                [before, strings[at].iter().fold(before, |hash, &token| extended(hash, powers.base(), token))]
            });
            let length = one.len() as u64;
            prop_assert_eq!(powers.are_equal(a, b, length), powers.between(a[0], a[1], length) == powers.between(b[0], b[1], length));
            prop_assert!(powers.are_equal(a, b, length) || strings[0] != strings[1]);
        }
    }

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
