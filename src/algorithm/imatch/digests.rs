//! Digests of sets of terms, and the choice of the terms that an auxiliary lexicon has.

use sha1::{Digest, Sha1};

/// Returns the SHA-1 digest of a set of terms, given ascending and without repeats. The terms are joined by line
/// breaks, which no token contains.
pub fn digest<'a>(terms: impl IntoIterator<Item = &'a str>) -> [u8; 20] {
    let mut sha1 = Sha1::new();
    for (i, term) in terms.into_iter().enumerate() {
        if i > 0 {
            sha1.update(b"\n");
        }
        sha1.update(term.as_bytes());
    }
    sha1.finalize().into()
}

/// The number of 64-bit words of the fingerprint for each digest: its first 128 bits. Two of N digests agree by chance
/// with probability N²/2¹²⁹.
pub(crate) const WORDS: usize = 2;
/// The value in place of a digest that has too few terms.
pub(super) const ABSENT: [u64; WORDS] = [0; WORDS];

/// Copies the terms that an auxiliary lexicon has. All terms are given by hashes, of which `is_lacked` decides, and by
/// their lengths. In `all` and `chosen` each term ends with a line break, which is part of its length; at least
/// [`AT_ONCE`] meaningless bytes follow the last term. Returns the numbers of chosen bytes and terms.
///
/// A randomized lexicon has about half of the terms: a copy that is overwritten is cheaper than a mispredicted branch.
#[inline]
pub(super) fn choose(
    hashes: &[u64],
    is_lacked: impl Fn(u64) -> bool,
    lengths: impl Iterator<Item = usize>,
    all: &[u8],
    chosen: &mut [u8],
) -> (usize, usize) {
    let (mut from, mut to, mut count) = (0, 0, 0);
    for (&hash, length) in hashes.iter().zip(lengths) {
        let has = usize::from(!is_lacked(hash));
        // Of a known length, without a call.
        *chosen[to..].first_chunk_mut::<AT_ONCE>().expect("so many follow") =
            *all[from..].first_chunk().expect("so many follow");
        if length > AT_ONCE {
            chosen[to..to + length].copy_from_slice(&all[from..from + length]);
        }
        from += length;
        to += length * has;
        count += has;
    }
    (to, count)
}

/// The number of bytes that are copied of a short term.
pub(super) const AT_ONCE: usize = 16;

/// The first words of the digest of `terms` terms, each with a line break after it; [`ABSENT`] if they are too few.
pub(super) fn first_words(terms: &[u8], count: usize, min_terms: usize) -> [u64; WORDS] {
    let Some((_, joined)) = terms.split_last().filter(|_| count >= min_terms) else { return ABSENT };
    words_of(&Sha1::digest(joined))
}

/// The first words of a digest.
pub(super) fn words_of(digest: &[u8]) -> [u64; WORDS] {
    [0, 8].map(|at| u64::from_be_bytes(digest[at..at + 8].try_into().expect("8 of 20 bytes")))
}

/// The digests of a fingerprint, that of the whole lexicon first.
pub(super) fn digests(fingerprint: &[u64]) -> impl Iterator<Item = &[u64]> {
    fingerprint.chunks_exact(WORDS)
}
