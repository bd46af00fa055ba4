//! The features of a document: its shingles, as a set or a multiset.

use super::parameters::COUNT_REPEATS;
use crate::algorithm::parameter::{Origins, SHINGLE};
use crate::algorithm::shingles::ShingleHash;
use crate::algorithm::{Features, Row};
use crate::hash::shingle_hashes_in_place;
use crate::tokenizer::Tokens;

/// The definition of a document's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shingles {
    /// Tokens in a shingle.
    pub width: usize,
    /// The hash of a shingle.
    pub hash: ShingleHash,
    /// Whether a shingle that occurs twice is two features.
    pub count_repeats: bool,
}

impl From<usize> for Shingles {
    /// As [`Shingles::new`].
    fn from(width: usize) -> Self {
        Shingles::new(width)
    }
}

impl Shingles {
    /// The set of the shingles of `width` tokens.
    pub const fn new(width: usize) -> Self {
        Shingles { width, hash: ShingleHash::Xxh3, count_repeats: false }
    }

    /// Sets the hash of a shingle.
    pub const fn with_hash(self, hash: ShingleHash) -> Self {
        Shingles { hash, ..self }
    }

    /// Makes it a multiset: each shingle counts as often as it occurs.
    pub const fn counting_repeats(self) -> Self {
        Shingles { count_repeats: true, ..self }
    }

    pub(super) fn of(self, tokens: &mut Tokens, features: &mut Features) {
        match if self.hash == ShingleHash::Xxh3 { tokens.take_hashes() } else { None } {
            Some(hashes) => {
                features.hashes = hashes;
                shingle_hashes_in_place(&mut features.hashes, self.width);
            }
            None => self.hash.shingles(tokens, self.width, &mut features.hashes),
        }
        if self.count_repeats {
            features.number_repeats();
        }
    }

    /// See [`Profile::bytes_a_token`](crate::algorithm::Profile::bytes_a_token).
    pub(super) fn bytes_a_token(self) -> u64 {
        if self.hash == ShingleHash::Xxh3 { 0 } else { size_of::<u64>() as u64 }
    }

    pub(super) fn rows(self, origins: &Origins) -> impl Iterator<Item = Row> {
        let shingle = Row::identity(SHINGLE.name, self.width).with(origins.of(&SHINGLE));
        let repeats = self.count_repeats.then(|| {
            let provenance = origins.of(&COUNT_REPEATS).with_remark("similarities are those of multisets");
            Row::identity("count_repeats", true).with(provenance)
        });
        [shingle].into_iter().chain(self.hash.row(origins)).chain(repeats)
    }
}
