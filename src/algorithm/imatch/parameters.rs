//! The parameters of the digests, as they are typed and as they are used.

use crate::algorithm::Origin;
use crate::algorithm::parameter::{LEXICON_WITHOUT, Parameter, Settings, Values};
use crate::error::Error;
use std::ops::RangeInclusive;

pub(super) static IDF_LOW: Parameter = Parameter {
    name: "idf-low",
    placeholder: "L",
    default: "0.2",
    values: Values::Thousandths(0..=1000),
    help: "Lowest normalised idf of a term that counts; drops common terms",
    details: "Normalised idf is ln((N+1)/df) / ln(N+1): nearly 0 for a term that all N documents have, 1 for one that a single document has. At \
              0.2 a term may be in 63,095 of a million documents. Fewer than 1,000 documents are judged as if they were 1,000: at 0.2 a \
              term may be in 251 of them.",
};
pub(super) static IDF_HIGH: Parameter = Parameter {
    name: "idf-high",
    placeholder: "H",
    default: "0.8",
    values: Values::Thousandths(0..=1000),
    help: "Highest normalised idf of a term that counts; drops rare terms",
    details: "At 0.8 a term must be in 16 of a million documents. A term that only one document has never counts: no pair shares it. Below \
              1,000 documents all others count at this end, whatever is given.",
};
pub(super) static DROP_FREQUENT: Parameter = Parameter {
    name: "drop-frequent",
    placeholder: "P",
    default: "off",
    values: Values::OffShare(0..=999),
    help: "Leave out this share of the distinct terms, the most frequent ones; instead of `idf-low`",
    details: "The distinct terms of all documents, or of the lexicon, are ranked by the number of documents that have them; 5% leaves out the \
              first 5 of 100. Terms with equal numbers stay or go together: the cut between two numbers that comes nearest is taken. \
              Cannot be combined with `idf-low`.",
};
pub(super) static DROP_RARE: Parameter = Parameter {
    name: "drop-rare",
    placeholder: "P",
    default: "off",
    values: Values::OffShare(0..=999),
    help: "Leave out this share of the distinct terms, the rarest ones; instead of `idf-high`",
    details: "As `drop-frequent`, from the other end. Often half of all terms have a single document: these never count, whatever the share \
              is. A lexicon lists only terms of two documents by default, and the share is of those that it lists (`min-df 1` lists all). \
              Cannot be combined with `idf-high`.",
};
pub(super) static LEXICONS: Parameter = Parameter {
    name: "lexicons",
    placeholder: "K",
    default: "10",
    values: Values::Integer(0..=100),
    help: "Randomized lexicons in addition to the whole one",
    details: "Each makes a digest of its own, and any equal one makes a pair. 0 is plain I-Match, which finds a pair only if no term that \
              counts differs; it is the default with `lexicon-without`.",
};
pub(super) static DROP_FRACTION: Parameter = Parameter {
    name: "drop-fraction",
    placeholder: "P",
    default: "0.5",
    values: Values::Thousandths(0..=1000),
    help: "Fraction of the terms that each randomized lexicon lacks",
    details: "A pair that differs in x terms is found with probability 1 - (1 - P^x)^K: at 0.5 and 10 lexicons 0.999 for one term, 0.94 \
              for two, 0.74 for three, 0.15 for six; at 0.3, which is commonly taken, 0.97, 0.61, 0.24 and 0.01. More finds more, and \
              each digest then covers fewer terms: at 0.5 half of a document's.",
};
pub(super) static MIN_TERMS: Parameter = Parameter {
    name: "min-terms",
    placeholder: "N",
    default: "4",
    values: Values::Integer(1..=1_000_000),
    help: "Fewest terms that make a digest",
    details: "A document with fewer terms in a lexicon has no digest under it; one with fewer in the whole lexicon is never a duplicate.",
};
pub(super) static MIN_SHARE: Parameter = Parameter {
    name: "min-share",
    placeholder: "P",
    default: "0.5",
    values: Values::Thousandths(0..=1000),
    help: "Fraction of a short document's distinct terms that more must count than; with a list of words the default is 0",
    details: "If fewer than 20 terms of a document count, and they are at most this fraction of its distinct terms, all its terms make its \
              only digest: two texts of ten words are not alike because the same four of them count. Only documents of the same words are \
              then found. A warning is given if more than a fifth of the documents are such. With 0, any `min-terms` terms suffice; it \
              is the default if the lexicon is a list of words, because such a list names the features that decide. In any case a warning counts \
              the documents whose digest is of fewer than 8 terms and less than three quarters of the distinct ones, or of fewer than 20 and \
              at most half of them.",
};

/// The parameters of the digests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameters {
    /// The ends of the band of normalised idf, in thousandths.
    pub idf: RangeInclusive<u64>,
    /// Randomized lexicons.
    pub lexicons: usize,
    /// The fraction of the terms that each of them lacks, in thousandths.
    pub drop: u64,
    /// The fewest terms that make a digest.
    pub min_terms: usize,
    /// The share of the terms, the most frequent ones, that is left out instead of those below the band, in thousandths.
    pub drop_frequent: Option<u64>,
    /// The share of the terms, the rarest ones, that is left out instead of those above the band, in thousandths.
    pub drop_rare: Option<u64>,
    /// The fraction of a document's distinct terms, in thousandths, that more must count than where fewer than
    /// [`ENOUGH`](super::ENOUGH) do.
    pub min_share: u64,
}

impl Default for Parameters {
    /// As on the command line.
    fn default() -> Self {
        let (drop_frequent, drop_rare) = (None, None);
        Parameters { idf: 200..=800, lexicons: 10, drop: 500, min_terms: 4, drop_frequent, drop_rare, min_share: 500 }
    }
}

pub(super) fn decimal(thousandths: u64) -> f64 {
    thousandths as f64 / 1000.0
}

pub(super) fn resolve(settings: &Settings) -> Result<Parameters, Error> {
    let (low, high) = (settings.thousandths(&IDF_LOW)?, settings.thousandths(&IDF_HIGH)?);
    let [drop_frequent, drop_rare] = cuts(settings)?;
    if low > high && drop_frequent.is_none() && drop_rare.is_none() {
        return Err(Error::Usage(format!(
            "no idf is from {} (`idf-low`) to {} (`idf-high`): swap them",
            decimal(low),
            decimal(high)
        )));
    }
    let drop = settings.thousandths(&DROP_FRACTION)?;
    // Explicit auxiliary lexicons are given instead of randomized ones.
    let is_explicit = !settings.left_out().is_empty() || !settings.files(&LEXICON_WITHOUT)?.is_empty();
    let lexicons = match is_explicit && !settings.has(&LEXICONS) {
        true => 0,
        false => settings.integer(&LEXICONS)?.expect("never auto"),
    };
    if lexicons == 0 && settings.has(&DROP_FRACTION) {
        return Err(Error::Usage("`drop-fraction` has no effect without randomized lexicons (`lexicons 0`)".into()));
    }
    let min_terms = settings.integer(&MIN_TERMS)?.expect("never auto");
    let is_list = settings.lexicon().is_some_and(|lexicon| lexicon.is_list());
    let min_share = match is_list && !settings.has(&MIN_SHARE) {
        true => 0,
        false => settings.thousandths(&MIN_SHARE)?,
    };
    Ok(Parameters { idf: low..=high, lexicons, drop, min_terms, drop_frequent, drop_rare, min_share })
}

/// The shares of terms that are cut by rank, the most frequent and the rarest.
fn cuts(settings: &Settings) -> Result<[Option<u64>; 2], Error> {
    let is_typed = |parameter| settings.has(parameter) && settings.origins().of(parameter).origin == Origin::Given;
    let ends = [(&DROP_FREQUENT, &IDF_LOW), (&DROP_RARE, &IDF_HIGH)];
    if settings.lexicon().is_some_and(|lexicon| lexicon.is_list()) {
        let of_frequencies = ends.iter().flat_map(|(by_rank, by_idf)| [*by_rank, *by_idf]);
        if let Some(parameter) = of_frequencies.into_iter().find(|parameter| is_typed(parameter)) {
            return Err(Error::Usage(format!(
                "`{}` has no effect with a list of words, which has no document frequencies: leave it out, or use a \
                 lexicon made by `count_terms`",
                parameter.name
            )));
        }
    }
    for (by_rank, by_idf) in ends {
        if settings.share_unless_off(by_rank)?.is_some() && is_typed(by_idf) {
            return Err(Error::Usage(format!(
                "`{}` and `{}` both cut the same terms: leave one out",
                by_rank.name, by_idf.name
            )));
        }
    }
    let [frequent, rare] = [settings.share_unless_off(&DROP_FREQUENT)?, settings.share_unless_off(&DROP_RARE)?];
    match (frequent, rare) {
        (Some(frequent), Some(rare)) if frequent + rare >= 1000 => Err(Error::Usage(format!(
            "`drop-frequent` {} and `drop-rare` {} leave no term: give shares with a sum below 1",
            decimal(frequent),
            decimal(rare)
        ))),
        cuts => Ok(cuts.into()),
    }
}
