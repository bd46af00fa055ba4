//! Random projection: the signs of random projections of the vector of token counts. Near-duplicates agree in most of
//! them.
//!
//! **What it detects.** Documents with nearly the same words at nearly the same frequencies, in any order: copies with
//! a few words changed, moved paragraphs. It counts occurrences, which SimHash by default does not.
//!
//! **Source.** Charikar, STOC 2002, section 3; as Henzinger runs it on web pages (SIGIR 2006, algorithm C): 384 bits, of which
//! 372 must agree.
//!
//! **Formula.** Each token has a vector of ±1, the same in every document; the vectors of all token occurrences are
//! added up; bit `i` is 1 iff the `i`-th sum is above 0, so that 0 gives 0. A bit differs with probability `θ / π`,
//! where `θ` is the angle between the vectors of token counts. The share of agreeing bits is `1 − θ/π`, which is *not*
//! the cosine; 12 differing bits of 384 correspond to a cosine of 0.9952. This holds for vectors that differ in many
//! tokens. A single additional token flips bits up to 1.25 times as often ([`hamming::bits_differ_at_most`]); the
//! parameter `recall` allows for that. Similarity is `1 − distance / bits`.
//!
//! **Parameters.** See [`PARAMETERS`]. The number of bits that may differ is one in 32. With `cosine` a pair is
//! reported by its exact cosine instead, and the bits only find candidates ([`cosine`]). In both cases `weights` can
//! count each distinct token once, or rare tokens more than common ones ([`weights`](super::weights)).
//!
//! **Cost.** About 20 operations a token for each 64 bits, most of them for mixing its hash; 48 bytes a document for 384
//! bits. All pairs that agree in enough bits are found exactly, through block tables: at least 13 for 12 differing bits
//! ([`crate::hamming::Layout::cheapest`]).
//!
//! **Where it is weak.** Short documents: replacing one of `n` distinct words leaves a cosine of `1 − 1/n`, so a
//! document needs 208 words for a replaced word to change only 12 of 384 bits on average. Common words count most, so
//! unrelated long documents are similar at loose thresholds; `weights` = `idf` avoids that. Word order does not count
//! at all.

pub mod cosine;

use super::bands::Bands;
use super::builder::{Number, parameters};
use super::parameter::{COSINE, DROP_COMMON, LEXICON, Origins, Parameter, RECALL, Settings, Values, WEIGHTS};
use super::sign_bits::{SignBits, Signs};
use super::weights::{Weigher, Weights};
use super::{Entry, Features, Forecast, PreparedAlgorithm, Provenance, Row};
use crate::error::Error;
use crate::hamming;
use crate::lexicon::Lexicon;
use crate::similarity::Threshold;
use crate::tokenizer::Tokens;
use cosine::{ProjectedCosine, Wanted};
use std::sync::Arc;

/// The line of the table.
pub const ENTRY: Entry = Entry {
    name: "projection",
    aliases: &["random-projection"],
    summary: "signs of random projections of token counts; all pairs that agree in enough bits, or by exact cosine",
    advice: "For long documents with tiny edits, wherever in the text: word order does not count. Its default (372 of 384 bits agree, a \
             cosine of 0.995) is strict, and takes some 200 words to bear one changed word; `cosine` is looser, and verified exactly. \
             Common words count most, unless `weights idf` is given.",
    parameters: PARAMETERS,
    defaults: &[(&WEIGHTS, "tf")],
    refuses: &[],
    prepare,
    depends_on_length: |_| false,
    forecast,
};

parameters! {
    /// Sets the parameters of random projection.
    ///
    /// ```
    /// use neardups::algorithm::{AlgorithmFactory, projection::RandomProjection};
    ///
    /// let factory = RandomProjection::builder().cosine(0.97).recall(0.999).projection_bits(512).build()?;
    /// assert_eq!(factory.prepare(300)?.algorithm.measure(), "cosine");
    /// # Ok::<(), neardups::Error>(())
    /// ```
    builder;
    /// The least number of bits in which a reported pair agrees: at least 7 of 8; 31 of 32 by default.
    agree(bits: usize) AGREE = bits.to_string();
    /// Reports the pairs whose exact cosine is at least this, instead of those that agree in enough bits.
    cosine(cosine: impl Into<Number>) COSINE = cosine.into().0;
    /// The probability that a pair at the [`cosine`](Self::cosine) is found: between 0 and 1; 0.99 by default.
    recall(recall: f64) RECALL = recall.to_string();
    /// The random projections, a bit of the fingerprint each: a multiple of 64 up to 1024; 384 by default.
    projection_bits(bits: usize) PROJECTION_BITS = bits.to_string();
    /// How much a token weighs; [`Weights::TermFrequency`] by default.
    weights(weights: Weights) WEIGHTS = weights.name();
    /// Takes document frequencies from this lexicon, instead of counting them in the documents. See
    /// [`lexicon`](crate::lexicon) for an example.
    lexicon(lexicon: impl Into<Arc<Lexicon>>) LEXICON = lexicon.into();
    /// Leaves out features that more than this share of the documents have: from 0.001 to 0.999.
    drop_common(share: impl Into<Number>) DROP_COMMON = share.into().0;
}

static AGREE: Parameter = Parameter {
    name: "agree",
    placeholder: "N",
    default: "auto",
    values: Values::AutoInteger(1..=1024),
    help: "Minimum number of bits in which a reported pair agrees",
    details: "auto is 31 of each 32 bits: 372 of 384, as in Henzinger's comparison, where it corresponds to a cosine of 0.995. At least 7 of \
              8; `cosine` is for looser pairs.",
};
static PROJECTION_BITS: Parameter = Parameter {
    name: "projection-bits",
    placeholder: "B",
    default: "384",
    values: Values::Multiple(64, 64..=1024),
    help: "Random projections, a bit of the fingerprint each",
    details: "More bits follow the cosine more closely. With `cosine` they are the most that bands may use: more bits compare fewer \
              unrelated pairs.",
};

/// One bit in this many may differ by default: Henzinger's 12 of 384.
const ONE_DIFFERS_IN: usize = 32;
/// The loosest setting: one bit in this many may differ. Looser thresholds would compare nearly all pairs, in very many
/// tables.
const MAX_DIFFERING_ONE_IN: usize = 8;

/// The detector of pairs that agree in enough bits.
pub type RandomProjection = SignBits<Occurrences>;

/// The features of random projection: tokens, as often as they occur.
pub struct Occurrences;

impl RandomProjection {
    /// A builder of the factory of this family, with the parameters of the command line.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A detector of pairs that agree in at least `agree` of `bits` bits; tokens weigh as often as they occur.
    ///
    /// # Panics
    /// If `bits` is not a multiple of 64, or `agree` is 0 or above `bits`.
    pub fn new(bits: usize, agree: usize) -> Self {
        assert!(agree > 0 && agree <= bits, "{agree} of {bits} bits");
        SignBits::of(Occurrences, bits, bits - agree, Weights::TermFrequency, None)
    }

    /// Sets the weights.
    pub fn with_weights(mut self, weights: Weights) -> Self {
        self.weigher = Weigher::new(weights);
        self
    }

    fn agree(&self) -> usize {
        self.bits - self.distance
    }
}

impl Signs for Occurrences {
    const NAME: &'static str = "projection";

    fn features(&self, weigher: &Weigher, tokens: &Tokens, features: &mut Features) {
        weigher.occurrences(tokens, features);
    }

    fn rows(&self, bits: usize, distance: usize, origins: &Origins) -> Vec<Row> {
        let agree = origins.of_or(&AGREE, Provenance::DEFAULT.with_remark("31 of 32"));
        vec![
            Row::identity("bits", bits).with(origins.of(&PROJECTION_BITS)),
            Row::identity("agree", bits - distance).with(agree),
        ]
    }
}

/// The detector that the settings request.
enum Resolved {
    Agreeing(RandomProjection),
    Cosine { projected: ProjectedCosine, threshold: Threshold, bands: Bands, weights: Weights },
}

fn resolve(settings: &Settings) -> Result<Resolved, Error> {
    let bits = settings.integer(&PROJECTION_BITS)?.expect("never auto");
    let weights = Weights::of(settings, ENTRY.name)?;
    if let Some(threshold) = settings.threshold(&COSINE)? {
        if settings.has(&AGREE) {
            return Err(Error::Usage("`cosine` decides by the exact cosine: leave `agree` out".into()));
        }
        let recall = settings.probability(&RECALL)?;
        let bands = cosine::bands(threshold, recall, bits).ok_or_else(|| {
            Error::Usage(format!(
                "no bands of {bits} bits find a pair at a cosine of {threshold} with probability {recall}: lower `recall` or \
                 raise `projection-bits`"
            ))
        })?;
        let wanted = Wanted { recall, bits, origins: settings.origins() };
        let projected = ProjectedCosine::new(threshold, bands).with_weights(weights).chosen_for(wanted);
        let projected = projected.with_terms(settings.term_weights().cloned());
        return Ok(Resolved::Cosine { projected, threshold, bands, weights });
    }
    if settings.has(&RECALL) {
        return Err(Error::Usage("`recall` has no effect on projection without `cosine`".into()));
    }
    let agree = settings.integer(&AGREE)?.unwrap_or(bits - bits / ONE_DIFFERS_IN);
    let least = bits - bits / MAX_DIFFERING_ONE_IN;
    if !(least..=bits).contains(&agree) {
        return Err(Error::parameter(
            "agree",
            agree,
            format!("{least} to {bits} of {bits} bits; `cosine` is for looser pairs"),
        ));
    }
    let projection = RandomProjection::new(bits, agree).with_weights(weights).with_origins(settings.origins());
    Ok(Resolved::Agreeing(projection.with_terms(settings.term_weights().cloned())))
}

/// The median number of tokens below which one replaced token changes more than `apart` of `bits` bits on average.
fn few_tokens(bits: usize, apart: usize) -> usize {
    (1.0 / (1.0 - hamming::cosine_of(apart as f64 / bits as f64))).ceil() as usize
}

/// Below this cosine, a run over documents of this many tokens or more gives a warning.
const LOOSE_COSINE: f64 = 0.95;
const MANY_TOKENS: usize = 300;

fn warnings(resolved: &Resolved, median_tokens: usize) -> Vec<String> {
    match resolved {
        Resolved::Agreeing(projection) if projection.distance > 0 => {
            let (bits, apart) = (projection.bits, projection.distance);
            let few = few_tokens(bits, apart);
            let warning = || {
                format!(
                    "random projection is strict on short documents: their median is {median_tokens} tokens, and below {few} one \
                     changed word moves more than {apart} of {bits} bits; `cosine` or `algo minhash` finds more"
                )
            };
            (1..few).contains(&median_tokens).then(warning).into_iter().collect()
        }
        Resolved::Cosine { threshold, weights: Weights::TermFrequency, .. }
            if threshold.as_f64() < LOOSE_COSINE && median_tokens >= MANY_TOKENS =>
        {
            vec![format!(
                "at a cosine of {threshold} common words can be enough to make long documents alike: check the pairs, and \
                 expect many comparisons"
            )]
        }
        _ => Vec::new(),
    }
}

fn prepare(settings: &Settings, median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
    let resolved = resolve(settings)?;
    let warnings = warnings(&resolved, median_tokens);
    let prepared = match resolved {
        Resolved::Agreeing(projection) => PreparedAlgorithm::new(projection),
        Resolved::Cosine { projected, .. } => PreparedAlgorithm::new(projected),
    };
    Ok(PreparedAlgorithm { warnings, ..prepared })
}

/// The cosines that a plan shows.
const COSINES: [f64; 11] = [0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 1.0];

fn forecast(settings: &Settings, _median_tokens: usize, documents: u64) -> Result<Forecast, Error> {
    Ok(match resolve(settings)? {
        Resolved::Agreeing(projection) => forecast_agreeing(&projection, documents),
        Resolved::Cosine { threshold, bands, .. } => forecast_cosine(threshold, bands, documents),
    })
}

fn forecast_agreeing(projection: &RandomProjection, documents: u64) -> Forecast {
    let (bits, agree, apart) = (projection.bits, projection.agree(), projection.distance);
    let search = projection.forecast(documents);
    Forecast {
        curve_of: "cosine",
        curve: COSINES
            .map(|cosine| (cosine, hamming::probability_within(bits, apart, hamming::bits_differ_at_most(cosine))))
            .to_vec(),
        costs: vec![
            ("fingerprint", bits as f64 / 8.0, "bytes a document"),
            ("fingerprints compared", search.chosen.compared(documents as f64).round(), "pairs, if codes are random"),
            ("search on one core", search.seconds(), "seconds, estimated"),
            (
                "standard error of the cosine that fingerprints show",
                hamming::error_of_cosine(bits, apart),
                "at the distance",
            ),
        ],
        search: Some(search),
        stored: None,
        notes: vec![
            format!("every pair that agrees in at least {agree} of {bits} bits is found"),
            format!("that many agree on average at a cosine of {:.4}", hamming::cosine_of(apart as f64 / bits as f64)),
            hamming::stated(bits, apart, 0.995),
        ],
    }
}

fn forecast_cosine(threshold: Threshold, bands: Bands, documents: u64) -> Forecast {
    let mut at = COSINES.to_vec();
    if !at.contains(&threshold.as_f64()) {
        at.push(threshold.as_f64());
        at.sort_by(f64::total_cmp);
    }
    let by_chance = documents as f64 * documents as f64 / 2.0 * bands.bands as f64 * 0.5f64.powi(bands.rows as i32);
    let found = cosine::recall(threshold, bands);
    Forecast {
        curve_of: "cosine",
        curve: at.into_iter().map(|c| (c, bands.probability(1.0 - hamming::bits_differ_at_most(c)))).collect(),
        costs: vec![
            ("keys", 8.0 * bands.bands as f64, "bytes a document"),
            ("keys of all documents", 8.0 * bands.bands as f64 * documents as f64, "bytes"),
            ("documents compared", by_chance.round(), "pairs, if codes are random"),
        ],
        search: None,
        stored: None,
        notes: vec![
            format!(
                "a pair at {threshold} is found with probability {found:.4} at least; every reported pair is verified exactly"
            ),
            format!(
                "that is for copies of which one has a single word more; pairs that differ in many words are found with probability {:.4}",
                bands.probability(1.0 - hamming::bits_differ(threshold.as_f64()))
            ),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;
    use crate::algorithm::builder::tests::{check_setters, lexicon};
    use crate::hamming::BlockTables;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        Settings::from_pairs(pairs.iter().copied()).with_defaults(ENTRY.defaults)
    }

    fn agreeing(pairs: &[(&str, &str)]) -> (usize, usize, usize) {
        match resolve(&settings(pairs)).unwrap() {
            Resolved::Agreeing(projection) => (projection.bits, projection.agree(), projection.tables.len()),
            Resolved::Cosine { .. } => panic!("decided by cosine"),
        }
    }

    #[test]
    fn setters_write_what_would_be_typed() {
        let built = RandomProjection::builder().agree(372).cosine(0.97).recall(0.99).projection_bits(384);
        let built = built.weights(Weights::Binary).lexicon(lexicon()).drop_common(0.1);
        let typed = [
            ("agree", "372"),
            ("cosine", "0.97"),
            ("recall", "0.99"),
            ("projection-bits", "384"),
            ("weights", "binary"),
            ("drop-common", "0.1"),
        ];
        check_setters(built, &ENTRY, &typed);
    }

    #[test]
    fn the_default_is_henzingers() {
        // 372 of 384; exact at 12 differing bits only from 13 blocks on.
        assert_eq!(agreeing(&[]), (384, 372, 13));
        let key_bits = BlockTables::new(384, 13, 12);
        let with = |bits| (0..13).filter(|&table| key_bits.key_bits(table) == bits).count();
        assert_eq!((with(30), with(29)), (7, 6));
        // Stricter than SimHash at 3 of 64: cosines of 0.9952 and 0.9892.
        let cosine = |apart, bits| (hamming::cosine_of(f64::from(apart) / f64::from(bits)) * 1e4).round() / 1e4;
        assert_eq!((cosine(12, 384), cosine(3, 64)), (0.9952, 0.9892));
    }

    #[test]
    fn agreement_scales_with_the_bits() {
        let of = |bits| agreeing(&[("projection-bits", bits)]);
        assert_eq!([of("64"), of("128"), of("1024")], [(64, 62, 3), (128, 124, 5), (1024, 992, 33)]);
        assert_eq!(agreeing(&[("agree", "384")]), (384, 384, 1));
        assert_eq!(agreeing(&[("agree", "336")]), (384, 336, 49));
    }

    #[test]
    fn contradictions_are_named() {
        let error =
            |pairs: &[(&str, &str)]| prepare(&settings(pairs), 0).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error(&[("recall", "0.9")]).contains("without `cosine`"));
        assert!(error(&[("cosine", "0.9"), ("agree", "372")]).contains("leave `agree` out"));
        assert!(error(&[("agree", "335")]).contains("336 to 384 of 384 bits"));
        assert!(error(&[("agree", "372"), ("projection-bits", "256")]).contains("224 to 256 of 256 bits"));
        assert!(error(&[("projection-bits", "100")]).contains("a multiple of 64 from 64 to 1024"));
    }

    #[test]
    fn weak_choices_are_warned_of() {
        let warnings = |pairs: &[(&str, &str)], median| prepare(&settings(pairs), median).unwrap().warnings.len();
        assert_eq!(few_tokens(384, 12), 208);
        assert_eq!([0, 1, 207, 208].map(|median| warnings(&[], median)), [0, 1, 1, 0]);
        assert_eq!(warnings(&[("agree", "384")], 10), 0);
        assert_eq!([299, 300].map(|median| warnings(&[("cosine", "0.9")], median)), [0, 1]);
        assert_eq!(warnings(&[("cosine", "0.95")], 300) + warnings(&[("cosine", "0.9"), ("weights", "idf")], 300), 0);
    }

    #[test]
    fn occurrences_count_and_a_tie_is_0() {
        let mut features = Features::default();
        let code = |features: &Features| {
            let mut code = Vec::new();
            RandomProjection::new(128, 124).fingerprint(features, &mut code);
            code
        };
        assert!(code(&features).is_empty());
        // {x} alone is x; {x, ~x} ties everywhere; {x, x, ~x} is x again (cases of seomoz/simhash-cpp, and the count).
        let x = 0xdeadbeef;
        features.hashes = vec![x];
        assert_eq!(code(&features)[0], x);
        features.hashes = vec![x, !x];
        assert_eq!(code(&features)[0], 0);
        features.hashes = vec![x, x, !x];
        assert_eq!(code(&features)[0], x);
    }
}
