//! The weights of features in a sum of signs: equal, by number of occurrences, or also by the rarity of their tokens.
//!
//! **`idf`.** Of `N` documents `df` have a token, and a feature occurs `tf` times in the document at hand. It weighs
//!
//! ```text
//! round(SCALE · (1 + ln tf) · ln((N + 1) / df) / ln(N + 1)), at least 1 and at most 15
//! ```
//!
//! the usual logarithmic tf·idf (Salton & Buckley 1988) in four bits. A token of a single document weighs [`SCALE`] if
//! it occurs once, a token of nearly all documents 1. Unknown tokens weigh like the rarest. A run of several tokens is
//! at least as rare as its rarest token, so it takes the largest idf of its tokens. That is a lower bound of the run's
//! own idf, and runs need not be counted.
//!
//! **Integers.** The system's logarithms differ in their last bits between machines, and a weight that is rounded
//! differently can flip bits of a fingerprint. The formula is therefore computed in whole numbers, with base-2
//! logarithms by squaring ([`log2`]), so the weights are the same everywhere.

use super::parameter::{LEXICON, Origins, Settings, WEIGHTS};
use super::{Features, Learned, Learns, Provenance, Row};
use crate::error::Error;
use crate::lexicon::Lexicon;
use crate::lexicon::weights::TermWeights;
use crate::tokenizer::Tokens;
use std::sync::{Arc, LazyLock};

/// How much a feature weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weights {
    /// 1 for each distinct feature.
    Binary,
    /// 1 for each occurrence.
    TermFrequency,
    /// By how often it occurs and how few documents have its tokens.
    Idf,
    /// As much as its heaviest token in a [list of weights](crate::lexicon::weights), for each distinct feature. The list
    /// is passed to [`TableFactory::with_term_weights`](super::TableFactory::with_term_weights).
    Terms,
}

impl Weights {
    /// Returns the name: a value of the parameter `weights`.
    pub fn name(self) -> &'static str {
        match self {
            Weights::Binary => "binary",
            Weights::TermFrequency => "tf",
            Weights::Idf => "idf",
            Weights::Terms => "terms",
        }
    }

    /// Returns the weights that the settings request.
    ///
    /// # Errors
    /// An unknown word, or a lexicon that has no effect on the weights.
    pub fn of(settings: &Settings, algorithm: &str) -> Result<Self, Error> {
        let weights = match settings.choice(&WEIGHTS)? {
            "idf" => Weights::Idf,
            "terms" => Weights::Terms,
            "tf" => Weights::TermFrequency,
            _ => Weights::Binary,
        };
        if weights != Weights::Idf && settings.file(&LEXICON)?.is_some() {
            let message = format!("`lexicon` has no effect on {algorithm} without `weights idf`");
            return Err(Error::Usage(message));
        }
        Ok(weights)
    }
}

/// The weight of the rarest token if it occurs once. Three occurrences of it weigh twice that, the most that four bits
/// hold.
pub const SCALE: u32 = 7;
/// The most that a feature weighs: four bits.
pub const MAX_WEIGHT: u32 = 15;

/// Bits after the point.
const POINT: u32 = 32;
/// `ln 2`.
const LN_2: u64 = 2_977_044_472;
/// The number of bits after the first that [`log2`] takes of a number.
const MANTISSA: u32 = 12;

/// `log2(1 + i / 4096)`, rounded down: one bit after the other, by squaring.
static FRACTIONS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let fraction = |i: u64| {
        // From 1 to 2, with 63 bits after the point.
        let mut x = ((1 << MANTISSA) + i) << (63 - MANTISSA);
        (0..POINT).fold(0, |log: u32, _| {
            let square = (u128::from(x) * u128::from(x)) >> 63;
            let above = square >> 64;
            x = (square >> above) as u64;
            log << 1 | above as u32
        })
    };
    (0..1 << MANTISSA).map(fraction).collect()
});

/// `log2(n)` times 2³², of the first 13 bits of `n`, which is at least 1: right to 2⁻³² below 8192, and to 0.0004 above.
pub fn log2(n: u64) -> u64 {
    let whole = n.ilog2();
    let mantissa = (n << (63 - whole) >> (63 - MANTISSA)) as usize & ((1 << MANTISSA) - 1);
    u64::from(whole) << POINT | u64::from(FRACTIONS[mantissa])
}

/// Returns the weight of a feature that occurs `tf` times and whose rarest token is in `df` of `documents` documents.
pub fn idf_weight(documents: u64, df: u32, tf: u32) -> u32 {
    weigh(log2(documents.saturating_add(1)), df, tf)
}

/// `all` is `log2(N + 1)`; 0 if there are no documents, in which every token is the rarest.
fn weigh(all: u64, df: u32, tf: u32) -> u32 {
    let idf = if all == 0 { (1, 1) } else { (all.saturating_sub(log2(df.max(1).into())), all) };
    let tf = (1 << POINT) + ((u128::from(LN_2) * u128::from(log2(tf.max(1).into()))) >> POINT);
    // Below 2⁴ · 2³⁷ · 2³⁸.
    let weight = u128::from(SCALE) * tf * u128::from(idf.0) / u128::from(idf.1);
    let rounded = (weight + (1 << (POINT - 1))) >> POINT;
    rounded.clamp(1, MAX_WEIGHT.into()) as u32
}

/// The number of tokens whose frequencies are looked up at once: each may take 16 bytes meanwhile.
const LOOKED_UP_AT_ONCE: usize = 1 << 16;

/// Weighs features. Until it has learned the document frequencies of tokens, all tokens count as the rarest.
#[derive(Clone)]
pub struct Weigher {
    weights: Weights,
    lexicon: Option<Arc<Lexicon>>,
    bytes_learned: u64,
    /// `log2(N + 1)`
    all: u64,
    /// For [`Weights::Terms`].
    terms: Option<Arc<TermWeights>>,
}

impl Weigher {
    /// A weigher with these weights.
    pub fn new(weights: Weights) -> Self {
        Weigher { weights, lexicon: None, bytes_learned: 0, all: 0, terms: None }
    }

    /// Sets the weights of terms, for [`Weights::Terms`]. Without them all terms weigh 1.
    pub fn with_terms(self, terms: Option<Arc<TermWeights>>) -> Self {
        Weigher { terms, ..self }
    }

    /// Returns the weights.
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// What must be counted first; see [`Algorithm::learns`](super::Algorithm::learns).
    pub fn learns(&self) -> Option<Learns> {
        (self.weights == Weights::Idf && self.lexicon.is_none()).then_some(Learns::Terms)
    }

    /// See [`Algorithm::learn`](super::Algorithm::learn).
    pub fn learn(&mut self, learned: &Learned) {
        if let (Weights::Idf, Learned::Terms(lexicon)) = (self.weights, learned) {
            self.all = log2(lexicon.documents().saturating_add(1));
            self.bytes_learned = lexicon.bytes_held();
            self.lexicon = Some(Arc::clone(lexicon));
        }
    }

    /// See [`Profile::bytes_learned`](super::Profile::bytes_learned).
    pub fn bytes_learned(&self) -> u64 {
        self.bytes_learned + self.terms.as_ref().map_or(0, |terms| terms.bytes_held())
    }

    /// See [`Explain::check_learned`](super::Explain::check_learned).
    ///
    /// # Errors
    /// The lexicon cannot be read.
    pub fn check_learned(&self) -> Result<(), Error> {
        self.lexicon.as_ref().map_or(Ok(()), |lexicon| lexicon.check())
    }

    /// See [`Profile::bytes_a_token`](super::Profile::bytes_a_token).
    pub fn bytes_a_token(&self) -> u64 {
        match self.weights {
            Weights::TermFrequency | Weights::Binary => 8,
            // The hash, the frequency and the weight, and the first and the last again while they are sorted.
            Weights::Idf | Weights::Terms => 32,
        }
    }

    /// Every token occurrence becomes a feature, unless the weights merge all occurrences into one.
    pub fn occurrences(&self, tokens: &Tokens, features: &mut Features) {
        features.hashes.extend_from_slice(tokens.hashes());
        self.weigh(tokens.hashes(), std::iter::once(1), features);
    }

    /// Weighs features that are the hashes of all runs of `widths` tokens, one width after the other (a single one of all tokens
    /// where there are fewer). For all weights but `tf` each is then there once; those of weight 0 are removed.
    ///
    /// Cost for `idf` and `terms`: a look-up a token and a sort of the features.
    pub fn weigh(&self, tokens: &[u64], widths: impl Iterator<Item = usize>, features: &mut Features) {
        match self.weights {
            Weights::TermFrequency => {}
            Weights::Binary => features.remove_repeats(),
            Weights::Idf => {
                features.frequencies.clear();
                match &self.lexicon {
                    Some(lexicon) => tokens.chunks(LOOKED_UP_AT_ONCE).for_each(|tokens| {
                        let Features { frequencies, missing, .. } = features;
                        lexicon.append_frequencies(tokens.iter().copied(), frequencies, missing);
                    }),
                    None => features.frequencies.resize(tokens.len(), 0),
                }
                features.frequencies.iter_mut().for_each(|frequency| *frequency = (*frequency).max(1));
                for width in widths {
                    let rarest = features.frequencies.windows(width.min(tokens.len()).max(1));
                    features.weights.extend(rarest.map(|run| run.iter().copied().min().unwrap_or(1)));
                }
                features.merge_repeats(|df, tf| weigh(self.all, df, tf));
            }
            Weights::Terms => {
                features.frequencies.clear();
                let weight = |token| self.terms.as_ref().map_or(1, |terms| terms.of(token));
                features.frequencies.extend(tokens.iter().map(|&token| weight(token)));
                for width in widths {
                    let heaviest = features.frequencies.windows(width.min(tokens.len()).max(1));
                    features.weights.extend(heaviest.map(|run| run.iter().copied().max().unwrap_or(1)));
                }
                features.merge_repeats(|weight, _| weight);
                features.remove_weightless();
            }
        }
    }

    /// The rows for [`Algorithm::rows`](super::Algorithm::rows).
    pub fn rows(&self, origins: &Origins) -> Vec<Row> {
        let mut rows = vec![match &self.terms {
            Some(terms) if self.weights == Weights::Terms => Row::identity(WEIGHTS.name, terms.origin().digest.clone())
                .with(Provenance::derived(format!("the weights of {} terms", terms.len()))),
            _ => Row::identity(WEIGHTS.name, self.weights.name()).with(origins.of(&WEIGHTS)),
        }];
        rows.extend(self.lexicon.as_deref().and_then(lexicon_row));
        rows
    }
}

/// The row of a lexicon that is from a file: its digest.
pub(super) fn lexicon_row(lexicon: &Lexicon) -> Option<Row> {
    let held = match lexicon.is_list() {
        true => format!("a list of {} words", lexicon.len()),
        false => format!("{} terms of {} documents", lexicon.len(), lexicon.documents()),
    };
    let digest = lexicon.origin()?.digest.clone();
    Some(Row::identity(LEXICON.name, digest).with(Provenance::derived(held)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_right_to_their_last_digits() {
        assert_eq!([1, 2, 4096, 1 << 40, 1 << 63].map(log2), [0, 1, 12, 40, 63].map(|n: u64| n << POINT));
        for n in (1..8192).chain((13..63).flat_map(|bits| [(1 << bits) - 1, (1 << bits) + 5, 3 << (bits - 1)])) {
            let off = log2(n) as f64 / 2f64.powi(32) - (n as f64).log2();
            let most = if n < 8192 { 1e-8 } else { 0.0004 };
            assert!(off.abs() < most, "{n}: off by {off}");
        }
    }

    #[test]
    fn weights_are_those_of_the_formula() {
        for documents in [1u64, 2, 10, 999, 8000, 1_000_000, u64::from(u32::MAX)] {
            for df in [1, 2, 3, 5, 10, 100, 1001, 50_000, 3_000_000_000u32] {
                if u64::from(df) > documents {
                    continue;
                }
                for tf in [1, 2, 3, 4, 7, 30, 1000, u32::MAX] {
                    let all = documents as f64 + 1.0;
                    let exact = f64::from(SCALE) * (1.0 + f64::from(tf).ln()) * (all / f64::from(df)).ln() / all.ln();
                    let found = idf_weight(documents, df, tf);
                    if (exact.fract() - 0.5).abs() > 0.01 {
                        assert_eq!(
                            found,
                            (exact.round() as u32).clamp(1, MAX_WEIGHT),
                            "{df} of {documents}, {tf} times"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_rarest_weigh_most_and_the_unknown_as_they() {
        assert_eq!([1, 2, 3, 4].map(|tf| idf_weight(999, 1, tf)), [7, 12, 15, 15]);
        assert_eq!([1, 10, 100, 999].map(|df| idf_weight(999, df, 1)), [7, 5, 2, 1]);
        assert_eq!((idf_weight(999, 0, 1), idf_weight(0, 0, 1), idf_weight(0, 7, 3)), (7, 7, 15));
        assert_eq!(idf_weight(u64::MAX, u32::MAX, u32::MAX), MAX_WEIGHT);
        // More documents than there are.
        assert_eq!(idf_weight(1, 100, 1), 1);
    }
}
