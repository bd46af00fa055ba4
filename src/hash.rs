//! The hashes that fingerprints are made of. Every stored and printed fingerprint depends on them, so they are
//! specified here with test vectors and never change within a hash version.
//!
//! | what | how |
//! |---|---|
//! | a token of up to 16 bytes of normalised UTF-8 | a folded product of its two words, see `short_token_hash`, seeded with the run's seed |
//! | a longer token | XXH3-64, seeded likewise |
//! | a shingle of one token | [`mix`] of its hash |
//! | a shingle of `w` tokens | the [join](self#joins) of its first `p` and its last `p` tokens, where `p` is the largest power of two below `w` |
//! | a document's token sequence | XXH3-128 of its token hashes, little-endian |
//!
//! Hashes of shingles as other tools take them, for literal compatibility, are in [`crate::algorithm::shingles`].
//!
//! XXH3 is a published specification with implementations in every language, and the rest is a few lines in any, so a
//! signature made here can be made anywhere. The token hash depends on the seed: texts crafted to collide under one
//! seed do not collide under another. (None of it is a cryptographic hash; a secret seed makes crafting them hard, not
//! impossible.)
//!
//! # Joins
//! The join of two words `a` and `b` into a shingle of `w` tokens is a folded product (Lemire & Kaser 2014; wyhash) to which both
//! factors are added once more:
//!
//! ```text
//! x = a ^ mix(w)    s = x·b + x + 2⁶⁴·b mod 2¹²⁸    join = (s mod 2⁶⁴) ^ ⌊s / 2⁶⁴⌋
//! ```
//!
//! The join of one token is its hash, so a shingle of five is
//! `join₅(join₄(join₂(t₀, t₁), join₂(t₂, t₃)), join₄(join₂(t₁, t₂), join₂(t₃, t₄)))`, of which all joins except the
//! last are shared with the shingles before and after. The key differs with `w`: otherwise `a b c` and `a b b c` would
//! agree. The factors are added because a product loses one of them if the other is 0; `s` is
//! `(2⁶⁴ + x)·(1 + b) − 2⁶⁴`, of which no factor is 0.
//!
//! # Crafted collisions Up to version 2 a shingle was `mix(Σ h(tᵢ)·Bʷ⁻¹⁻ⁱ mod 2⁶⁴)`. That is a sum of terms that can be
//! chosen independently, one for each token, and an attacker who knows the seed finds two equal sums of four words each
//! in a second: Wagner's generalised birthday attack (CRYPTO 2002) merges lists of candidates in pairs, each time on a
//! few more bits of the partial sums. It needs partial sums that cancel bits of the total, and joins have none: a join
//! is linear in neither word, and each of its bits depends on all bits of both. The generic birthday attack on 64 bits
//! remains, with 2³² hashes; a random, secret seed helps against it.
//!
//! # Versions
//! | version | what changed |
//! |---|---|
//! | 3 | shingles are joined instead of summed; invisible characters are not part of tokens (see [`crate::tokenizer`])
//! |
//! | 2 | the token hash of up to 16 bytes |

use std::cell::Cell;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed, xxh3_128_with_seed};

/// The version of everything in this file and of the tokens that it is applied to; stored with each fingerprint that outlives a run.
pub const HASH_VERSION: u32 = 3;

/// An odd multiplier that spreads the bits of a token hash (Steele & Vigna's 64-bit spectral constant).
const SPREAD: u64 = 0xd1342543de82ef95;

/// Keys of [`short_token_hash`]. The factors of its product can only be 0, which would lose the other one, for a token
/// with bytes that never occur in UTF-8, unless the seed is known.
const FIRST_KEY: u64 = 0xfd1b_c0ff_9ef5_c1fb;
const SECOND_KEY: u64 = 0xc1a7_fff8_53fe_d5fc;

/// The 64-bit hash of one token.
#[inline]
pub fn token_hash(token: &[u8], seed: u64) -> u64 {
    if token.len() > 16 {
        return xxh3_64_with_seed(token, seed);
    }
    let mut bytes = [0; 16];
    bytes[..token.len()].copy_from_slice(token);
    let both = u128::from_le_bytes(bytes);
    short_token_hash((both as u64, (both >> 64) as u64), token.len(), seed)
}

/// [`token_hash`] of a token of at most 16 bytes, given as two little-endian words of which only these bytes count.
///
/// The bytes past the token are cleared, the words, each with its key and the seed, are multiplied to 128 bits, and the
/// halves of the product are folded together, with the length (Lemire & Kaser 2014; wyhash). No branch depends on the
/// length, which would be unpredictable.
#[inline(always)]
pub(crate) fn short_token_hash((first, second): (u64, u64), length: usize, seed: u64) -> u64 {
    debug_assert!(length <= 16);
    let first = first & KEPT[length.min(8)];
    let second = second & KEPT[length.saturating_sub(8).min(8)];
    let product = u128::from(first ^ FIRST_KEY ^ seed) * u128::from(second ^ SECOND_KEY ^ seed.rotate_left(32));
    let folded = (product as u64) ^ ((product >> 64) as u64) ^ length as u64;
    let spread = folded.wrapping_mul(SPREAD);
    spread ^ (spread >> 32)
}

/// Masks whose first bytes are ones, by the number of these bytes.
const KEPT: [u64; 9] = {
    let mut kept = [!0; 9];
    let mut bytes = 0;
    while bytes < 8 {
        kept[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    kept
};

/// The 128-bit hash of a token sequence: equal sequences, and for all practical purposes only those, agree
/// (N documents collide by chance with probability N²/2¹²⁹).
pub fn sequence_hash(tokens: &[u64], seed: u64) -> u128 {
    /// The number of tokens whose bytes are on the stack: no allocation a document. Most documents fit, and are hashed at once.
    const AT_ONCE: usize = 512;
    let mut bytes = [[0; 8]; AT_ONCE];
    if tokens.len() <= AT_ONCE {
        return xxh3_128_with_seed(bytes_of(tokens, &mut bytes), seed);
    }
    let mut hasher = Xxh3::with_seed(seed);
    tokens.chunks(AT_ONCE).for_each(|tokens| hasher.update(bytes_of(tokens, &mut bytes)));
    hasher.digest128()
}

/// The bytes of the words, the lowest of each first, in this memory.
fn bytes_of<'b>(words: &[u64], bytes: &'b mut [[u8; 8]]) -> &'b [u8] {
    let bytes = &mut bytes[..words.len()];
    bytes.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    bytes.as_flattened()
}

/// A bijection of 64-bit words with full avalanche (the finaliser of SplitMix64: Steele, Lea & Flood, OOPSLA 2014).
#[inline(always)]
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
    x ^ (x >> 31)
}

/// Folds one more word into a running hash; order matters.
#[inline(always)]
pub const fn combine(state: u64, word: u64) -> u64 {
    mix(state.rotate_left(23).wrapping_mul(0x9e3779b97f4a7c15) ^ word)
}

/// The number of shingles that are made at a time, so that the working memory stays in the nearest cache.
const BLOCK: usize = 240;

/// Appends the hash of every run of `width` consecutive tokens: `tokens.len() − width + 1` of them, repeats included.
/// Fewer tokens than `width` make one shingle of all of them; no tokens make none.
///
/// Cost: ⌈log₂ `width`⌉ multiplications a shingle, each with a handful of other instructions.
///
/// # Panics
/// If `width` is 0.
pub fn shingle_hashes(tokens: &[u64], width: usize, out: &mut Vec<u64>) {
    assert!(width >= 1, "a shingle has at least one token");
    let width = width.min(tokens.len());
    if width <= 1 {
        return out.extend(tokens.iter().copied().map(mix));
    }
    // While a block is joined it has a word for each of its tokens.
    out.reserve(tokens.len());
    for start in (0..=tokens.len() - width).step_by(BLOCK) {
        let block = &tokens[start..tokens.len().min(start + BLOCK + width - 1)];
        join_block(block, width, out);
    }
}

/// [`shingle_hashes`] in the place of the tokens, for which there need not be room twice.
///
/// # Panics
/// If `width` is 0.
pub(crate) fn shingle_hashes_in_place(tokens: &mut Vec<u64>, width: usize) {
    assert!(width >= 1, "a shingle has at least one token");
    let width = width.min(tokens.len());
    if width <= 1 {
        return tokens.iter_mut().for_each(|token| *token = mix(*token));
    }
    let (shingles, mut block) = (tokens.len() + 1 - width, Vec::new());
    for start in (0..shingles).step_by(BLOCK) {
        block.clear();
        join_block(&tokens[start..tokens.len().min(start + BLOCK + width - 1)], width, &mut block);
        // The next block reads only what is behind them.
        tokens[start..start + block.len()].copy_from_slice(&block);
    }
    tokens.truncate(shingles);
}

/// [`shingle_hashes`] of a block of at least `width` tokens, for a width of at least 2: all runs of two tokens, of
/// four, and so on, each at the position of its first token.
fn join_block(tokens: &[u64], width: usize, out: &mut Vec<u64>) {
    /// The compiler unrolls a loop without branches over this many words, which saves one instruction in five.
    const UNROLLED: usize = 8;
    let start = out.len();
    out.extend_from_slice(tokens);
    let mut joined = 1;
    while joined < width {
        let distance = joined.min(width - joined);
        joined += distance;
        let key = mix(joined as u64);
        let words = Cell::from_mut(&mut out[start..]).as_slice_of_cells();
        let (first, first_rest) = words[..words.len() - distance].as_chunks::<UNROLLED>();
        let (second, second_rest) = words[distance..].as_chunks::<UNROLLED>();
        for (a, b) in first.iter().zip(second) {
            for i in 0..UNROLLED {
                a[i].set(join(a[i].get(), b[i].get(), key));
            }
        }
        for (a, b) in first_rest.iter().zip(second_rest) {
            a.set(join(a.get(), b.get(), key));
        }
        out.truncate(out.len() - distance);
    }
}

/// Joins two words into that of a run of tokens. The key depends on the number of tokens. See [the module](self#joins).
#[inline(always)]
fn join(a: u64, b: u64, key: u64) -> u64 {
    let (x, y) = (u128::from(a ^ key), u128::from(b));
    let sum = (x * y).wrapping_add(x | y << 64);
    (sum as u64) ^ ((sum >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By a few lines of Python; the long one by the reference implementation of XXH3.
    #[test]
    fn token_hashes_are_fixed() {
        for (token, expected) in [
            ("", 0x6553271c0be1abe8),
            ("a", 0xb646a7b0d428d4c5),
            ("12345678", 0x1a1003824a23d051),
            ("123456789", 0xd5ae514cfb0664a9),
            ("1234567890123456", 0x67b22c1f0ebbcd16),
            ("12345678901234567", 0xf23ee5148499b436),
            ("naïve", 0x290d635a5ad548d9),
        ] {
            assert_eq!(token_hash(token.as_bytes(), 7), expected, "{token}");
        }
        assert_ne!(token_hash(b"near", 0), token_hash(b"near", 1));
        assert_ne!(token_hash(b"near", 0), token_hash(b"near\0", 0));
    }

    #[test]
    fn what_follows_a_short_token_does_not_count() {
        for length in 0..=16 {
            let token: Vec<u8> = (1..=length as u8).collect();
            let padded = |rest: u8| u128::from_le_bytes(std::array::from_fn(|i| *token.get(i).unwrap_or(&rest)));
            let hash = |both: u128| short_token_hash((both as u64, (both >> 64) as u64), length, 5);
            assert_eq!(hash(padded(0xaa)), token_hash(&token, 5));
            assert_eq!(hash(padded(0)), token_hash(&token, 5));
        }
    }

    #[test]
    fn no_short_word_collides_and_every_bit_is_as_often_set_as_not() {
        // All words of three letters, and numbers.
        let letters = || b'a'..=b'z';
        let words = letters().flat_map(|a| letters().flat_map(move |b| letters().map(move |c| vec![a, b, c])));
        let all: Vec<Vec<u8>> = words.chain((0..100_000).map(|n: u32| n.to_string().into_bytes())).collect();
        let mut hashes: Vec<u64> = all.iter().map(|word| token_hash(word, 0)).collect();
        for bit in 0..64 {
            let set = hashes.iter().filter(|&&hash| hash >> bit & 1 == 1).count() as f64;
            // Five standard deviations.
            assert!((set - all.len() as f64 / 2.0).abs() < 2.5 * (all.len() as f64).sqrt(), "bit {bit}: {set}");
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), all.len());
    }

    #[test]
    fn mix_is_splitmix64() {
        // First outputs of SplitMix64 with seed 0 (state advances by the golden gamma before mixing).
        assert_eq!(mix(0x9e3779b97f4a7c15), 0xe220a8397b1dcdaf);
        assert_eq!(mix(0x9e3779b97f4a7c15u64.wrapping_mul(2)), 0x6e789e6aa1b965f4);
    }

    /// Computed by a few lines of Python; the hash of the sequence by the reference implementation of XXH3.
    #[test]
    fn fixed_values() {
        let words = ["the", "quick", "brown", "fox", "jumps", "over"];
        let expected = [
            (
                0,
                [0x02936778f1a6ea57, 0x26f46db686958e1e],
                [0x02197e876d37f856, 0xb183ca0c118b6424],
                0x292e15c45a6a8b1715f2c37381dffcb7,
            ),
            (
                42,
                [0x81813dedadc39d41, 0x336ccd021dd769d3],
                [0x3f9faee13ad92b72, 0x7a7ab9f083d03f55],
                0x1ae49f764c6b7d9cd32a821e49c351cb,
            ),
        ];
        for (seed, first_tokens, shingles_of_five, sequence) in expected {
            let tokens: Vec<u64> = words.iter().map(|word| token_hash(word.as_bytes(), seed)).collect();
            assert_eq!(tokens[..2], first_tokens);
            let mut shingles = Vec::new();
            shingle_hashes(&tokens, 5, &mut shingles);
            assert_eq!(shingles, shingles_of_five);
            assert_eq!(sequence_hash(&tokens, seed), sequence);
        }
        let long: Vec<u64> = (0..300).map(mix).collect();
        assert_eq!(sequence_hash(&long, 7), 0x93ea6123014b7ea75508fc11be5de143);
        assert_eq!([combine(1, 2), combine(mix(1), 3)], [0xee89d4c441c1e64b, 0x9dd86239c17b7d54]);
    }

    /// The definition: the hash of all of these tokens, by itself.
    fn alone(tokens: &[u64]) -> u64 {
        match tokens {
            [] => panic!("a shingle has at least one token"),
            [token] => *token,
            _ => {
                let power = tokens.len().next_power_of_two() / 2;
                let (first, last) = (alone(&tokens[..power]), alone(&tokens[tokens.len() - power..]));
                join(first, last, mix(tokens.len() as u64))
            }
        }
    }

    fn shingles(tokens: &[u64], width: usize) -> Vec<u64> {
        let mut hashes = vec![7];
        shingle_hashes(tokens, width, &mut hashes);
        assert_eq!(hashes.remove(0), 7);
        hashes
    }

    /// The hash of one shingle.
    fn shingle(tokens: &[u64]) -> u64 {
        shingles(tokens, tokens.len())[0]
    }

    /// By a few lines of Python.
    #[test]
    fn shingles_of_other_widths_are_fixed() {
        let tokens: Vec<u64> = ["the", "quick", "brown", "fox"].map(|word| token_hash(word.as_bytes(), 0)).into();
        for (width, first) in
            [(1, 0xc05c0d512bf902d8), (2, 0x9a59294225d46593), (3, 0x0508bedd979a4d56), (4, 0xc0f31dc7cdf4bc83)]
        {
            assert_eq!(shingles(&tokens, width)[0], first, "{width}");
        }
        let counted: Vec<u64> = (0..64).map(mix).collect();
        assert_eq!([shingle(&counted), shingle(&counted[..7])], [0x04fecf7be8a692ae, 0x190e6c0f72c667ab]);
    }

    #[test]
    fn all_shingles_at_once_are_each_window_alone() {
        let tokens: Vec<u64> = (1..2 * BLOCK as u64 + 200).map(mix).collect();
        for few in [&[][..], &tokens[..1], &tokens[..3]] {
            let mut in_place = few.to_vec();
            shingle_hashes_in_place(&mut in_place, 5);
            assert_eq!(in_place, shingles(few, 5));
        }
        for width in (1..18).chain([31, 32, 33, 63, 64, 65, 200]) {
            let lengths = (0..40).chain([BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + width - 1, BLOCK + width, tokens.len()]);
            for length in lengths.filter(|&length| length >= width) {
                let expected = tokens[..length].windows(width).map(|window| match window {
                    [token] => mix(*token),
                    _ => alone(window),
                });
                let mut in_place = tokens[..length].to_vec();
                shingle_hashes_in_place(&mut in_place, width);
                assert_eq!(shingles(&tokens[..length], width), in_place, "width {width}, length {length}");
                assert!(in_place.into_iter().eq(expected), "width {width}, length {length}");
            }
        }
    }

    /// The linear hash of shingles up to version 2.
    fn sum(tokens: &[u64]) -> u64 {
        mix(tokens.iter().fold(0, |h: u64, token| h.wrapping_mul(SPREAD).wrapping_add(*token)))
    }

    fn token_hashes(text: &str) -> Vec<u64> {
        text.split(' ').map(|word| token_hash(word.as_bytes(), 0)).collect()
    }

    #[test]
    fn texts_crafted_against_the_sum_do_not_collide() {
        let crafted = ["mjnwdh cunvxo rcvxgx ehhvni", "mklusb kfhaji xsdnhs ewsznv"].map(token_hashes);
        assert_eq!(sum(&crafted[0]), sum(&crafted[1]));
        assert_ne!(shingle(&crafted[0]), shingle(&crafted[1]));
        // As part of longer texts too, where the sum collides wherever they stand.
        let longer = crafted.clone().map(|words| [token_hashes("see"), words, token_hashes("there")].concat());
        assert_eq!(sum(&longer[0]), sum(&longer[1]));
        assert_ne!(shingle(&longer[0]), shingle(&longer[1]));
    }

    /// A partial sum, and the number of the word of each list that it has a term of: 16 bits a list.
    type Partial = (u64, u128);

    /// The sums of one of each list of which the lowest `bits` bits are 0.
    fn meet(a: &[Partial], mut b: Vec<Partial>, bits: u32) -> Vec<Partial> {
        let low = |sum: u64| sum & (u64::MAX >> (64 - bits));
        b.sort_unstable_by_key(|(sum, _)| low(*sum));
        let mut met = Vec::new();
        for (sum, words) in a {
            let wanted = low(sum.wrapping_neg());
            let from = b.partition_point(|(other, _)| low(*other) < wanted);
            let equal = b[from..].iter().take_while(|(other, _)| low(*other) == wanted);
            met.extend(equal.map(|(other, others)| (sum.wrapping_add(*other), words | others)));
        }
        met
    }

    /// The attack that found the texts above: two texts of four words are eight lists of candidates, whose terms are to sum to 0.
    /// Two lists meet on 16 bits, two of what is left on 32, and the last two on all 64; one pair of texts is expected.
    #[test]
    fn what_the_generalised_birthday_attack_finds_against_the_sum_does_not_collide() {
        // These words happen to give three.
        let word = |place: u32, number: u64| format!("{}{:x}", 70 + place, mix(number) >> 24);
        let list = |place: u32| -> Vec<Partial> {
            let factor = (0..3 - place % 4).fold(1u64, |factor, _| factor.wrapping_mul(SPREAD));
            let factor = if place < 4 { factor } else { factor.wrapping_neg() };
            let term = |number| token_hash(word(place, number).as_bytes(), 0).wrapping_mul(factor);
            (0..1 << 16).map(|number| (term(number), u128::from(number) << (16 * place))).collect()
        };
        let two = |place| meet(&list(place), list(place + 1), 16);
        let four = |place| meet(&two(place), two(place + 2), 32);
        let found = meet(&four(0), four(4), 64);
        assert_eq!(found.len(), 3);
        for (_, numbers) in found {
            let text = |places: std::ops::Range<u32>| {
                let words = places.map(|place| word(place, (numbers >> (16 * place)) as u64 & 0xffff));
                words.map(|word| token_hash(word.as_bytes(), 0)).collect::<Vec<u64>>()
            };
            let (a, b) = (text(0..4), text(4..8));
            assert!(a != b && sum(&a) == sum(&b));
            assert_ne!(shingle(&a), shingle(&b));
        }
    }

    #[test]
    fn shingles_of_few_words_collide_as_often_as_chance_has_it() {
        // All runs of four of 16 words, and all shorter ones.
        let words: Vec<u64> = (0..16).map(|n: u32| token_hash(n.to_string().as_bytes(), 0)).collect();
        let mut hashes: Vec<u64> = Vec::new();
        for width in 1..=4 {
            let runs = 16u32.pow(width);
            hashes.extend((0..runs).map(|run| {
                let tokens: Vec<u64> = (0..width).map(|place| words[(run >> (4 * place)) as usize % 16]).collect();
                shingle(&tokens)
            }));
        }
        let collisions = |part: &dyn Fn(u64) -> u64| {
            let mut parts: Vec<u64> = hashes.iter().map(|&hash| part(hash)).collect();
            parts.sort_unstable();
            parts.dedup();
            hashes.len() - parts.len()
        };
        assert_eq!(collisions(&|hash| hash), 0);
        // Of n hashes of 24 bits n²/2²⁵ collide, give or take six standard deviations.
        let expected = (hashes.len() as f64).powi(2) / 2f64.powi(25);
        for shift in [0, 20, 40] {
            let found = collisions(&|hash| hash >> shift & 0xff_ffff) as f64;
            assert!(
                (found - expected).abs() < 6.0 * expected.sqrt(),
                "{found} of bits from {shift}, expected {expected}"
            );
        }
    }

    #[test]
    fn every_bit_of_a_token_changes_half_of_the_bits_of_its_shingles() {
        for width in 2..=8 {
            for place in 0..width {
                for bit in 0..64 {
                    let changed: u32 = (0..64u64)
                        .map(|sample| {
                            let mut tokens: Vec<u64> = (0..width as u64).map(|i| mix(100 * sample + i + 1)).collect();
                            let before = shingle(&tokens);
                            tokens[place] ^= 1 << bit;
                            (before ^ shingle(&tokens)).count_ones()
                        })
                        .sum();
                    // Half of 64 · 64 bits, give or take eight standard deviations.
                    assert!((1792..=2304).contains(&changed), "width {width}, place {place}, bit {bit}: {changed}");
                }
            }
        }
    }

    #[test]
    fn no_factor_forgets_the_other() {
        // The words that make a factor of the product alone 0, or all ones.
        let key = mix(2);
        for a in [key, !key, 0, u64::MAX] {
            for other in [0, u64::MAX, 1, 1 << 63] {
                for b in 0..64 {
                    let flipped = other ^ 1 << b;
                    assert_ne!(join(a, other, key), join(a, flipped, key));
                    assert_ne!(join(other, a, key), join(flipped, a, key));
                }
            }
        }
    }

    #[test]
    fn order_and_repeats_and_length_count() {
        let [a, b, c] = [101, 102, 103].map(mix);
        let runs: &[&[u64]] = &[
            &[a],
            &[b],
            &[a, a],
            &[a, b],
            &[b, a],
            &[b, b],
            &[a, b, c],
            &[a, b, b, c],
            &[c, b, a],
            &[a, c, b],
            &[a, a, a],
            &[a, a, a, a],
            &[b, b, b, b],
            &[a, b, a, b],
            &[b, a, b, a],
            &[a, b, c, a, b],
            &[a, b, c, b, c],
            &[a, a, a, a, a],
            &[0],
            &[0, 0],
            &[0, 0, 0],
            &[0, 0, 0, 0],
            &[0, 0, 0, 0, 0],
        ];
        let mut hashes: Vec<u64> = runs.iter().map(|run| shingle(run)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), runs.len());
    }

    #[test]
    fn fewer_tokens_than_a_shingle_are_one_shingle() {
        let mut out = Vec::new();
        shingle_hashes(&[7, 8], 5, &mut out);
        assert_eq!(out.len(), 1);
        shingle_hashes(&[], 5, &mut out);
        assert_eq!(out.len(), 1);
    }
}
