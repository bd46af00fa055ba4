//! The remarks on documents whose digest is weak, for the warnings at the end of a run.

use super::kept::{Kept, says_little};
use crate::algorithm::Remark;
use crate::hash::mix;
use crate::tokenizer::Tokens;

/// Too small a share of the terms counts, so that all of them make the digest.
pub(super) const SMALL_SHARE: &str = "small share";

/// Few terms make the digest, and a small part of the document's: the example has their numbers and the terms.
pub(super) const FEW_TERMS: &str = "few terms";

/// The maximum number of characters of the terms of an example.
const MOST_SHOWN: usize = 80;

/// What orders the examples of a remark, of the distinct terms of a document in any order: it depends on the document alone.
pub(super) fn rank(tokens: &Tokens, terms: &[u32]) -> u64 {
    terms.iter().map(|&i| mix(tokens.hashes()[i as usize])).fold(0, u64::wrapping_add)
}

/// The remark on a document whose digests are made of these terms, in the order of their texts, if its digest is weak. Also given are
/// the number of its distinct terms, and their [rank].
pub(super) fn remark(
    kept: Kept,
    tokens: &Tokens,
    terms: impl ExactSizeIterator<Item = u32>,
    (distinct, rank): (usize, impl FnOnce() -> u64),
) -> Option<Remark> {
    let counting = terms.len();
    match kept {
        Kept::All => Some(Remark::new(SMALL_SHARE, 0, "")),
        Kept::Counting if says_little(counting, distinct) => {
            let terms = terms.flat_map(|i| [tokens.text(i as usize), " "]);
            let terms: String = terms.flat_map(str::chars).take(MOST_SHOWN).collect();
            let example = format!("{counting} of {distinct} in \"{}\"", terms.trim_end());
            Some(Remark::new(FEW_TERMS, rank(), example))
        }
        Kept::Counting | Kept::WithOwn => None,
    }
}
