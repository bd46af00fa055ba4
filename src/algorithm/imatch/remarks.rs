//! The remarks on documents whose digest is weak, for the warnings at the end of a run.

use crate::algorithm::{Features, Remark};
use crate::hash::combine;
use crate::tokenizer::Tokens;

/// Too small a share of the terms counts, so that all of them make the digest.
pub(super) const SMALL_SHARE: &str = "small share";

/// Few terms make the digest, and a small part of the document's: the example has their numbers and the terms.
pub(super) const FEW_TERMS: &str = "few terms";

/// The maximum number of characters of the terms of an example.
const MOST_SHOWN: usize = 80;

/// The remark on a document of whose terms too small a share counts.
pub(super) fn small_share() -> Remark {
    Remark::new(SMALL_SHARE, 0, "")
}

/// The remark on a document with a digest of few terms, given its distinct terms and those of the digest, which `features`
/// has.
pub(super) fn few_terms(tokens: &Tokens, features: &Features) -> Remark {
    let (counting, distinct) = (features.weighted.len(), features.positions.len());
    // The example depends on the documents alone.
    let rank = features.positions.iter().map(|&i| tokens.hashes()[i as usize]).fold(0, combine);
    let terms = features.weighted.iter().flat_map(|&(_, i)| [tokens.text(i as usize), " "]);
    let terms: String = terms.flat_map(str::chars).take(MOST_SHOWN).collect();
    Remark::new(FEW_TERMS, rank, format!("{counting} of {distinct} in \"{}\"", terms.trim_end()))
}
