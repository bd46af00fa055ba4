//! I-Match: a digest of the set of a document's informative terms. Near-duplicates have the same digest.
//!
//! **What it detects.** Documents with the same vocabulary: copies whose words were reordered or repeated, or that
//! differ only in words that every document has (`the`) or that no other has (a date, a counter, a typing error). With
//! randomized lexicons also copies that differ in a few informative terms.
//!
//! **Source.** Chowdhury, Frieder, Grossman & McCabe, *Collection statistics for fast duplicate document detection*, TOIS 20(2),
//! 2002. The randomized lexicons: Kołcz, Chowdhury & Alspector, KDD 2004; Kołcz & Chowdhury, J. Supercomputing 45, 2008.
//!
//! **Formula.** If `df` of `N` documents have a term (exact copies counted once), its normalised idf is
//! `ln((N + 1) / df) / ln(N + 1)`. The lexicon consists of the terms whose normalised idf is from `idf_low` to
//! `idf_high`. Lexicon 0 is all of it; lexicons 1 to `K` each lack a random fraction `p`. A digest is the SHA-1 of a
//! document's distinct terms in the lexicon, in the order of their bytes, joined by line breaks. Two documents are
//! near-duplicates if they have an equal digest for the same lexicon. The similarity is the share of equal digests
//! among the `K + 1`; it is 1 if the digests of lexicon 0 are equal, because then all filtered sets are. If documents
//! differ in `x` terms of the lexicon, a randomized one hides them all with probability `pˣ`, so they are found with
//! probability `1 − (1 − pˣ)ᴷ`; a replaced word is `x = 2`.
//!
//! The cut can also be by rank: with the distinct terms ranked by document frequency, `drop_frequent` and
//! `drop_rare` leave out a share of them at either end, instead of that end of the band. Or the lexicon is a plain list of
//! words, which has no frequencies: its terms count, and no others. Auxiliary lexicons can also be given explicitly
//! (`lexicon_without`): each lacks the words of a list.
//!
//! **Parameters.** See [`PARAMETERS`]. The band and the least number of terms are those of the I-Match baseline in the
//! reference program of SpotSigs (Theobald, Siddharth & Paepcke, SIGIR 2008). The band is decided in integers
//! ([`band`]). A term of a single document says nothing about pairs and never counts. A document has no near-duplicate
//! here if more than half of its distinct terms are of this kind, or if it has too few terms that count. It gets a
//! single digest, which includes its unique terms, so that only its copies have it too (word for word, in another
//! order, or with other terms that all documents have). Below [`SMALL`] documents idf says little: see [`informative`].
//! With `lexicon` the counts of that file decide; a term that it lacks is treated like a term of a single document.
//!
//! A digest of few terms identifies a document only if they are most of it: two texts of ten words that share four
//! informative ones need not be alike. So if fewer than [`ENOUGH`] terms of a document count, and those are at most the
//! fraction `min_share` of its distinct terms, its single digest is that of all its distinct terms: only documents of the
//! same words have it too. A warning is given if more than a fifth of the documents are such. With a list of words
//! `min_share` is 0 unless it is given: such a list names the features that decide, however few they are.
//!
//! What passes may still say little: four terms of seven, or of four hundred with a list. A warning counts the documents whose
//! digest is of fewer than [`FEW_TERMS`] terms and less than three quarters of the distinct ones, or of fewer than [`ENOUGH`] and
//! at most half of them, and shows the terms of one. The papers require neither.
//!
//! **Cost.** The collection is read twice, once for counting, or once with `lexicon`. A look-up a term, a sort of the
//! terms that count, `K + 1` SHA-1 digests; 16 bytes for each digest of a document, and 8 to 17 for each term that several
//! documents have, or 16 in a temporary file if these terms do not fit. A keyed hash of the term and the lexicon's number decides which
//! terms a lexicon lacks, so no lexicon is copied.
//!
//! **Where it is weak.** A fingerprint depends on the whole collection, unless a lexicon from elsewhere is given. Texts
//! of the same words are near-duplicates, whatever they say. Long documents: the more terms, the more of them differ;
//! from about 4 differing terms on hardly a pair is found. There is no threshold.

pub mod band;
mod detector;
mod digests;
mod explain;
mod forecast;
mod kept;
mod long;
mod methods;
mod parameters;
mod ranks;
mod remarks;
mod terms;
#[cfg(test)]
mod tests;
mod unknown;

use super::builder::{Number, parameters};
use super::parameter::{LEXICON, LEXICON_WITHOUT, Settings};
use super::{Entry, PreparedAlgorithm};
use crate::error::Error;
use crate::lexicon::Lexicon;
use parameters::{DROP_FRACTION, DROP_FREQUENT, DROP_RARE, IDF_HIGH, IDF_LOW, LEXICONS, MIN_SHARE, MIN_TERMS};
use std::sync::Arc;

pub use detector::{IMatch, SMALL, informative};
pub(crate) use digests::WORDS;
pub use digests::digest;
pub use forecast::probability_found;
pub use kept::{ENOUGH, FEW_TERMS};
pub use parameters::Parameters;

/// The line of the table.
pub const ENTRY: Entry = Entry {
    name: "imatch",
    aliases: &["i-match"],
    summary: "SHA-1 digests of the informative terms, under one lexicon and randomized parts of it; all pairs with an equal one, exactly",
    advice: "For large collections of copies that differ in their order of words, in common words, and in one or two other terms. Reads \
             the collection twice, because what is informative depends on all of it (or once, with `lexicon`). Below 1,000 \
             documents this is imprecise, and a warning is given. Finds few pairs that differ in more than three informative terms; minhash does.",
    parameters: PARAMETERS,
    defaults: &[],
    refuses: &[],
    prepare,
    depends_on_length: |_| false,
    forecast: forecast::forecast,
};

parameters! {
    /// Sets the parameters of I-Match.
    ///
    /// ```
    /// use neardups::algorithm::{AlgorithmFactory, imatch::IMatch};
    ///
    /// let factory = IMatch::builder().lexicons(20).drop_fraction(0.3).min_terms(3).build()?;
    /// assert_eq!(factory.prepare(0)?.algorithm.name(), "imatch");
    /// # Ok::<(), neardups::Error>(())
    /// ```
    builder;
    /// The least normalised idf of a term that counts: from 0 to 1, with at most three decimals; 0.2 by default.
    idf_low(idf: impl Into<Number>) IDF_LOW = idf.into().0;
    /// The most normalised idf of a term that counts: from 0 to 1, with at most three decimals; 0.8 by default.
    idf_high(idf: impl Into<Number>) IDF_HIGH = idf.into().0;
    /// Leaves out this share of the distinct terms, the most frequent ones, instead of those below `idf_low`: from 0 to
    /// 0.999, with at most three decimals.
    drop_frequent(share: impl Into<Number>) DROP_FREQUENT = share.into().0;
    /// Leaves out this share of the distinct terms, the rarest ones, instead of those above `idf_high`: from 0 to 0.999,
    /// with at most three decimals.
    drop_rare(share: impl Into<Number>) DROP_RARE = share.into().0;
    /// The number of randomized lexicons in addition to the whole one: from 0 to 100; 10 by default.
    lexicons(lexicons: usize) LEXICONS = lexicons.to_string();
    /// The fraction of the terms that each randomized lexicon lacks: from 0 to 1, with at most three decimals; 0.5 by default.
    drop_fraction(fraction: impl Into<Number>) DROP_FRACTION = fraction.into().0;
    /// The fewest terms that make a digest: at least 1; 4 by default.
    min_terms(terms: usize) MIN_TERMS = terms.to_string();
    /// The fraction of a document's distinct terms that more must count than, where fewer than [`ENOUGH`] do; otherwise all its
    /// terms make its digest: from 0 to 1, with at most three decimals; 0.5 by default, and 0 if the lexicon is a list.
    min_share(fraction: impl Into<Number>) MIN_SHARE = fraction.into().0;
    /// Takes document frequencies from this lexicon, instead of counting them in the documents; or the terms that count
    /// from a [list](crate::lexicon::list) of words. See [`lexicon`](crate::lexicon) for an example.
    lexicon(lexicon: impl Into<Arc<Lexicon>>) LEXICON = lexicon.into();
    /// Adds an auxiliary lexicon for each of these [lists](crate::lexicon::list): the whole one without the words of the
    /// list.
    lexicon_without(lists: impl IntoIterator<Item = impl Into<Arc<Lexicon>>>) LEXICON_WITHOUT =
        lists.into_iter().map(Into::into).collect::<Vec<Arc<Lexicon>>>();
}

impl IMatch {
    /// A builder of the factory of this family, with the parameters of the command line.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

fn prepare(settings: &Settings, _median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
    Ok(PreparedAlgorithm::new(detector::resolved(settings)?))
}
