//! Shingles: their length, and their hashes, which are combined from those of tokens, or are digests of the text as
//! other tools take them.

use super::parameter::{HASH, Origins, Settings};
use super::{Provenance, Row};
use crate::error::Error;
use crate::hash::shingle_hashes;
use crate::tokenizer::{TokenDetail, Tokens};
use md5::Md5;
use sha1::digest::Output;
use sha1::{Digest, Sha1};

/// Returns the number of word tokens in a shingle, by the median length of the documents in tokens; `None` means runs
/// of four characters instead. Longer documents can afford a stricter shingle: with `w` tokens a document needs about
/// `10·w − 1` tokens for one substituted word to leave the similarity at 0.8.
pub fn shingle_width(median_tokens: usize) -> Option<usize> {
    match median_tokens {
        100.. => Some(5),
        30..=99 => Some(3),
        10..=29 => Some(2),
        // No document has any token, so nothing decides the width.
        0 => Some(5),
        _ => None,
    }
}

/// The hash of a shingle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShingleHash {
    /// The hashes of the tokens ([`token_hash`](crate::hash::token_hash)), joined by [`shingle_hashes`]. The only one that
    /// follows the seed.
    #[default]
    Xxh3,
    /// MD5 of the tokens joined by one space: the last eight bytes of the digest, big-endian, as in 1e0ng/simhash.
    Md5,
    /// SHA-1 of the tokens joined by one space: the first eight bytes of the digest, little-endian, as in text-dedup.
    /// The first four bytes are the 32-bit hash of datasketch, which is the low half of this one.
    Sha1,
}

impl ShingleHash {
    /// Returns the hash that the settings name.
    ///
    /// # Errors [`Error::Parameter`] for an unknown name.
    pub fn of(settings: &Settings) -> Result<Self, Error> {
        Ok(match settings.choice(&HASH)? {
            "md5" => ShingleHash::Md5,
            "sha1" => ShingleHash::Sha1,
            _ => ShingleHash::Xxh3,
        })
    }

    /// Returns the name: a value of the parameter `hash`.
    pub fn name(self) -> &'static str {
        match self {
            ShingleHash::Xxh3 => "xxh3",
            ShingleHash::Md5 => "md5",
            ShingleHash::Sha1 => "sha1",
        }
    }

    /// The resolved parameter; `None` for the default, which the hash version describes completely.
    pub(super) fn row(self, origins: &Origins) -> Option<Row> {
        let provenance = origins.of_or(&HASH, Provenance::derived("what the sketch is made of"));
        (self != ShingleHash::default()).then(|| Row::identity(HASH.name, self.name()).with(provenance))
    }

    /// Returns the detail of the tokens that it reads.
    pub fn reads(self) -> TokenDetail {
        match self {
            ShingleHash::Xxh3 => TokenDetail::Hashes,
            ShingleHash::Md5 | ShingleHash::Sha1 => TokenDetail::Texts,
        }
    }

    /// Appends the hash of every run of `width` consecutive tokens, repeats included. Fewer tokens than `width` make
    /// one shingle of all of them; no tokens make none. The tokens have the detail that [`reads`](Self::reads)
    /// requests.
    ///
    /// Cost: that of [`shingle_hashes`], or a digest over all of the shingle's text.
    ///
    /// # Panics
    /// If `width` is 0.
    pub fn shingles(self, tokens: &Tokens, width: usize, out: &mut Vec<u64>) {
        match self {
            ShingleHash::Xxh3 => shingle_hashes(tokens.hashes(), width, out),
            ShingleHash::Md5 => {
                each_digest::<Md5>(tokens, width, |digest| out.push(u64::from_be_bytes(eight(&digest[8..]))));
            }
            ShingleHash::Sha1 => {
                each_digest::<Sha1>(tokens, width, |digest| out.push(u64::from_le_bytes(eight(digest))));
            }
        }
    }
}

/// The first eight bytes.
fn eight(digest: &[u8]) -> [u8; 8] {
    std::array::from_fn(|i| digest[i])
}

/// The digest of each shingle's tokens, joined by one space.
fn each_digest<D: Digest>(tokens: &Tokens, width: usize, mut each: impl FnMut(&Output<D>)) {
    assert!(width >= 1, "a shingle has at least one token");
    let width = width.min(tokens.len()).max(1);
    for start in 0..(tokens.len() + 1).saturating_sub(width) {
        let mut digest = D::new();
        for token in start..start + width {
            if token > start {
                digest.update(b" ");
            }
            digest.update(tokens.text(token));
        }
        each(&digest.finalize());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::{Tokenizer, Whitespace};
    use proptest::prelude::*;

    fn shingles(hash: ShingleHash, width: usize, text: &str) -> Vec<u64> {
        let mut tokens = Tokens::new(hash.reads(), 0);
        Whitespace.tokenize(text, &mut tokens);
        let mut out = vec![7];
        hash.shingles(&tokens, width, &mut out);
        assert_eq!(out.remove(0), 7);
        out
    }

    #[test]
    fn digests_of_other_tools() {
        // text-dedup: sha1_hash("hello world", 32) and (…, 64).
        assert_eq!(shingles(ShingleHash::Sha1, 2, "hello world"), [13028719972609469994]);
        assert_eq!(shingles(ShingleHash::Sha1, 5, "hello world")[0] as u32, 896314922);
        // datasketch: sha1_hash32(b"Hello").
        assert_eq!(shingles(ShingleHash::Sha1, 1, "Hello")[0] as u32, 2342453239);
        // By Python's hashlib.
        assert_eq!(shingles(ShingleHash::Md5, 2, "near duplicate"), [0x0790c373d298bc21]);
        assert_eq!(shingles(ShingleHash::Sha1, 3, "日本 語 の"), [0xb16c0eb151df3641]);
        assert_eq!(shingles(ShingleHash::Md5, 3, "日本 語 の"), [0x140cb19953c9e207]);
        let text = "the quick brown fox jumps over the lazy dog and runs away";
        assert_eq!(shingles(ShingleHash::Sha1, 5, text)[..2], [0xaae26bc74804fa51, 0xbf8cb1fc2804824f]);
        assert_eq!(shingles(ShingleHash::Md5, 5, text)[..2], [0xc4f817925c083ee9, 0x8a6afbfa8ab112bc]);
    }

    #[test]
    fn shingles_shrink_with_the_documents() {
        let widths = [1000, 100, 99, 30, 29, 10].map(|median| shingle_width(median).unwrap());
        assert_eq!(widths, [5, 5, 3, 3, 2, 2]);
        assert_eq!(shingle_width(9), None);
    }

    #[test]
    fn names_are_those_of_the_flag() {
        for hash in [ShingleHash::Xxh3, ShingleHash::Md5, ShingleHash::Sha1] {
            assert_eq!(ShingleHash::of(&Settings::from_pairs([("hash", hash.name())])).unwrap(), hash);
        }
        assert_eq!(ShingleHash::of(&Settings::default()).unwrap(), ShingleHash::default());
        assert!(ShingleHash::of(&Settings::from_pairs([("hash", "fnv")])).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        /// Each digest identifies its shingle: whatever the hash, equal shingles have equal hashes, and no others do.
        #[test]
        fn every_hash_tells_the_same_shingles_apart(
            words in prop::collection::vec("[ab]{1,2}", 0..40),
            width in 1usize..6,
        ) {
            let text = words.join(" ");
            let own = shingles(ShingleHash::Xxh3, width, &text);
            for hash in [ShingleHash::Md5, ShingleHash::Sha1] {
                let other = shingles(hash, width, &text);
                prop_assert_eq!(other.len(), own.len());
                for i in 0..own.len() {
                    for j in 0..i {
                        prop_assert_eq!(own[i] == own[j], other[i] == other[j], "{:?} {} {}", hash, i, j);
                    }
                }
            }
        }
    }
}
