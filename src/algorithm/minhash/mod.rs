//! MinHash of w-shingles with locality-sensitive hashing. Every reported pair is verified by its exact Jaccard
//! similarity.
//!
//! **What it detects.** Documents that share most of their runs of `w` consecutive tokens: copies with edits, changed dates
//! and counters, added heads and feet, moved paragraphs.
//!
//! **Source.** Shingles and resemblance: Broder 1997 (SEQUENCES). Minima as a signature: Broder, Charikar, Frieze &
//! Mitzenmacher 1998 (STOC). Bands and rows: Leskovec, Rajaraman & Ullman, *Mining of Massive Datasets*, 3.4. The
//! default sketch: Dahlgaard, Knudsen & Thorup, *Fast Similarity Sketching*, FOCS 2017. Supershingles: Broder,
//! Glassman, Manasse & Zweig 1997 (WWW), and Broder 2000. Signatures that equal those of the Python library datasketch:
//! [`sketch::Kind::Datasketch`].
//!
//! **Formula.** `J(A, B) = |A ∩ B| / |A ∪ B|` over the sets of shingles. A slot of the signature agrees with
//! probability `J`; a pair is a candidate if one of `b` bands of `r` slots is equal. With supershingles a pair is
//! reported if at least `b` of `m′` groups of `l` slots are equal. The slots of the classic sketch are independent, so
//! the probability of an equal band is `1 − (1 − Jʳ)ᵇ`. The slots of the default sketch depend on each other, so its
//! probabilities depend on the number of shingles: [`curve`]. With `count_repeats` each shingle is numbered by its
//! occurrence (Broder's option A), so that `J` is that of the multisets, `Σ min / Σ max` over the counts.
//!
//! **Parameters.** See [`PARAMETERS`]. The bands are chosen from the `threshold` and the `recall`, so that pairs of any
//! length reach the recall ([`curve::for_recall`]). `w` is chosen from the median length of the documents
//! ([`shingle_width`]).
//!
//! **Cost.** About `max(n, K ln K)` hash evaluations a document of `n` shingles with the default sketch (`K = b·r` slots),
//! `n·K` with the classic one; `8·b` bytes a document for keys; verification merges two sorted sets per candidate pair.
//!
//! **Where it is weak.** Short documents: one changed word changes `w` shingles (with `w = 5` a document needs 49 words
//! for one substitution to stay at 0.8). A document quoted whole inside a much longer one has a low Jaccard similarity.

pub mod curve;
pub mod exact;
mod parameters;
mod shape;
mod shingles;
pub mod sketch;
pub mod supershingles;

pub use super::bands;
pub use super::shingles::shingle_width;
pub use shingles::Shingles;

use super::builder::{Number, parameters};
use super::forecast::{CHARACTERS_OF_A_WORD, three_digits};
use super::parameter::{DROP_COMMON, HASH, OVERLAPPING, Origins, RECALL, SHINGLE, Settings, THRESHOLD};
use super::shingles::ShingleHash;
use super::{
    Agreement, Algorithm, CompareOn, Entry, Explain, Features, Forecast, Learned, PreparedAlgorithm, Profile,
    Provenance, Row, StoredFeatures,
};
use crate::error::Error;
use crate::hash::{combine, mix};
use crate::kernel::Level;
use crate::kernel::sketch::combine_rows;
use crate::similarity::{Similarity, Threshold, jaccard, jaccard_at_least, shared};
use crate::tokenizer::{CharNgram, Tokens};
use bands::Bands;
use curve::Curve;
use exact::ExactJoin;
use parameters::{BANDS, COUNT_REPEATS, EXACT, HASHES, MAX_SLOTS, MIN_SUPERSHINGLES, ROWS, SKETCH, SUPERSHINGLES};
use sketch::Sketch;
use std::borrow::Cow;
use std::sync::Arc;
use supershingles::{Shape, Supershingles};

/// The line of the table.
pub const ENTRY: Entry = Entry {
    name: "minhash",
    aliases: &[],
    summary: "word shingles, MinHash signatures and bands; verified by exact Jaccard similarity",
    advice: "The default, for nearly every text. Reported pairs are exactly at or above the threshold; a pair at the threshold is found \
             with probability `recall`, and one above it more surely. Weak on very short documents and on quotations inside longer ones.",
    parameters: PARAMETERS,
    defaults: &[],
    refuses: &[],
    prepare,
    depends_on_length: |settings| settings.text(&SHINGLE) == "auto",
    forecast,
};

parameters! {
    /// Sets the parameters of MinHash, of the exact join and of supershingles.
    ///
    /// ```
    /// use neardups::algorithm::{AlgorithmFactory, minhash::MinHash};
    ///
    /// let factory = MinHash::builder().threshold(0.9).recall(0.999).shingle(3).build()?;
    /// assert_eq!(factory.prepare(300)?.algorithm.name(), "minhash");
    /// let exact = MinHash::builder().threshold("2/3").exact(true).build()?;
    /// assert_eq!(exact.prepare(300)?.algorithm.name(), "exact");
    /// # Ok::<(), neardups::Error>(())
    /// ```
    builder;
    /// The least similarity of a reported pair: above 0 and at most 1; 0.8 by default.
    threshold(threshold: impl Into<Number>) THRESHOLD = threshold.into().0;
    /// The probability that a pair exactly at the threshold is found: between 0 and 1; 0.99 by default.
    recall(recall: f64) RECALL = recall.to_string();
    /// Whether every pair at or above the threshold is found, by an exact join.
    exact(exact: bool) EXACT = exact.to_string();
    /// The tokens in a shingle: from 1 to 64. By default they follow the median length of the documents.
    shingle(tokens: usize) SHINGLE = tokens.to_string();
    /// The hash of a run of tokens; [`ShingleHash::Xxh3`] by default, except for sketches that require another.
    hash(hash: ShingleHash) HASH = hash.name();
    /// How signatures are made; [`sketch::Kind::Fss`] by default.
    sketch(kind: sketch::Kind) SKETCH = kind.name();
    /// The bands of the signature: from 1 to 4096. By default the number that the recall needs.
    bands(bands: usize) BANDS = bands.to_string();
    /// The slots in a band: from 1 to 256. By default as many as the hashes allow.
    rows(rows: usize) ROWS = rows.to_string();
    /// The most slots that a signature may have: from 1 to 16384; 128 by default.
    hashes(hashes: usize) HASHES = hashes.to_string();
    /// Reports pairs by equal supershingles: 1 to 32 hashes of 1 to 256 minima each.
    supershingles(groups: usize, minima: usize) SUPERSHINGLES = format!("{groups}x{minima}");
    /// The least number of supershingles in common: from 1 to 32; 2 by default.
    min_supershingles(least: usize) MIN_SUPERSHINGLES = least.to_string();
    /// Whether a shingle counts as often as it occurs.
    count_repeats(count: bool) COUNT_REPEATS = count.to_string();
    /// Leaves out features that more than this share of the documents have: from 0.001 to 0.999.
    drop_common(share: impl Into<Number>) DROP_COMMON = share.into().0;
}

/// The most keys, C(M, B), that supershingles may use.
const MAX_TABLES: f64 = 2000.0;

/// The detector.
pub struct MinHash {
    threshold: Threshold,
    shingles: Shingles,
    sketch: Sketch,
    bands: Bands,
    /// The number of shingles of the documents that probabilities are stated for; `None` for documents of any length.
    features: Option<usize>,
    /// Whether tokens are runs of characters that were not requested, so that lengths are not counted in them.
    short_text: bool,
    /// The recall that the bands were chosen for, if they were.
    wanted: Option<f64>,
    origins: Origins,
}

impl MinHash {
    /// A builder of the factory of this family, with the parameters of the command line.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A detector of pairs of sets of these shingles at or above `threshold`. A plain number means shingles of this
    /// many tokens. Signatures of [`sketch::Kind::Datasketch`] equal those of datasketch if shingles are hashed by
    /// SHA-1.
    pub fn new(threshold: Threshold, shingles: impl Into<Shingles>, sketch: sketch::Kind, bands: Bands) -> Self {
        let sketch = Sketch::new(sketch, bands.slots());
        let (shingles, origins) = (shingles.into(), Origins::default());
        MinHash { threshold, shingles, sketch, bands, features: None, short_text: false, wanted: None, origins }
    }

    /// The requested recall, or that of the bands and rows.
    fn recall_row(&self, found: f64) -> Row {
        match self.wanted {
            Some(recall) => {
                let unless_given = Provenance::DEFAULT.with_remark("wanted at the threshold");
                Row::planned("recall", recall).with(self.origins.of_or(&RECALL, unless_given))
            }
            None => {
                let provenance = Provenance::derived("of the bands and rows given, at the threshold");
                Row::planned("recall", (found * 1e4).round() / 1e4).with(provenance)
            }
        }
    }

    fn curve(&self) -> Curve {
        Curve::new(self.sketch.kind(), self.bands)
    }
}

impl Algorithm for MinHash {
    fn profile(&self) -> Profile {
        Profile::new("minhash", "jaccard", CompareOn::Features)
            .reading(self.shingles.hash.reads())
            .with_tables(self.bands.bands)
            .with_jaccard(self.threshold)
            .taking(self.shingles.bytes_a_token())
    }

    fn rows(&self) -> Vec<Row> {
        let origins = &self.origins;
        let found = self.curve().at(self.threshold.as_f64(), self.features);
        let bands = origins.of_or(&BANDS, Provenance::derived("the fewest that reach the recall"));
        let per_band = origins.of_or(&ROWS, Provenance::derived("the most that the hashes allow"));
        let mut rows = vec![
            Row::identity("threshold", self.threshold.as_f64()).with(origins.of(&THRESHOLD)),
            self.recall_row(found),
        ];
        rows.extend(self.shingles.rows(origins));
        rows.extend([
            Row::identity("sketch", self.sketch.kind().name()).with(origins.of(&SKETCH)),
            Row::identity("bands", self.bands.bands).with(bands),
            Row::identity("rows", self.bands.rows).with(per_band),
            Row::planned("hashes", self.bands.slots()).with(Provenance::derived("bands × rows")),
            Row::stated("recall_at_threshold", found),
        ]);
        rows
    }

    fn learn(&mut self, learned: &Learned) {
        if let Learned::Totals(totals) = learned {
            self.features = features_of(self.shingles.width, totals.median_tokens, self.short_text);
        }
    }

    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        self.shingles.of(tokens, features);
    }

    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        self.sketch.signature(&features.hashes, fingerprint);
    }

    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        let (bands, rows, start) = (self.bands.bands, self.bands.rows, keys.len());
        match fingerprint.get(..bands * rows) {
            Some(slots) => {
                keys.extend((1..=bands as u64).map(mix));
                combine_rows(Level::current(), slots, rows, &mut keys[start..]);
            }
            // The fingerprint is of another kind.
            None => keys.extend((0..bands).map(|band| self.key(fingerprint, band))),
        }
    }

    fn key(&self, fingerprint: &[u64], band: usize) -> u64 {
        // The origin of the fingerprint is not known here, so one of another kind has a key as well.
        let rows = fingerprint.get(band * self.bands.rows..(band + 1) * self.bands.rows).unwrap_or_default();
        rows.iter().fold(mix(band as u64 + 1), |key, &slot| combine(key, slot))
    }

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        jaccard_at_least(a, b, self.threshold)
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Explain for MinHash {
    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        Some(jaccard(a, b))
    }

    fn odds_read(&self) -> Option<CompareOn> {
        Some(CompareOn::Features)
    }

    fn found_with(&self, similarity: Similarity) -> Option<f64> {
        Some(self.curve().at(similarity.value(), self.features))
    }

    fn pair_found_with(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let (shared, either) = shared(a, b);
        Some(self.curve().found_quickly(shared as f64, either.max(1) as f64))
    }

    fn agreement(&self, a: &[u64], b: &[u64]) -> Option<Vec<Agreement>> {
        let bands = (0..self.bands.bands).map(|band| (self.key(a, band), self.key(b, band)));
        Some(vec![Agreement::of_parts("slots", a.iter().zip(b)), Agreement::of_parts("bands", bands)])
    }
}

/// The length of the character runs that replace word shingles in short documents.
const SHORT_TEXT_CHARACTERS: usize = 4;

/// The approximate number of characters of a token, including the space after it.
const CHARACTERS_A_TOKEN: usize = 6;

/// The kind of sketch and the hash of shingles.
fn resolve_sketch(settings: &Settings) -> Result<(sketch::Kind, ShingleHash), Error> {
    let sketch = sketch::Kind::by_name(settings.choice(&SKETCH)?);
    let hash = if settings.has(&HASH) { ShingleHash::of(settings)? } else { sketch.shingle_hash() };
    if sketch.shingle_hash() == ShingleHash::Sha1 && hash != ShingleHash::Sha1 {
        return Err(Error::Usage(format!(
            "`hash {}` cannot be combined with `sketch {}`, which is made of SHA-1 hashes: leave `hash` out, or give sha1",
            hash.name(),
            sketch.name()
        )));
    }
    Ok((sketch, hash))
}

/// The threshold of an exact join, for which nothing is sketched.
fn exact_threshold(settings: &Settings) -> Result<Threshold, Error> {
    if let Some(sketching) = [&RECALL, &SKETCH, &BANDS, &ROWS, &HASHES].into_iter().find(|p| settings.has(p)) {
        return Err(Error::Usage(format!("`{}` has no effect with `exact`, which misses nothing", sketching.name)));
    }
    Ok(settings.threshold(&THRESHOLD)?.expect("never auto"))
}

/// The shape of supershingles, if they were requested.
fn resolve_supershingles(settings: &Settings) -> Result<Option<Shape>, Error> {
    let Some((groups, rows)) = settings.groups(&SUPERSHINGLES)? else {
        if settings.has(&MIN_SUPERSHINGLES) {
            return Err(Error::Usage("`min-supershingles` has no effect without `supershingles`".into()));
        }
        return Ok(None);
    };
    let unused = [&THRESHOLD, &RECALL, &EXACT, &BANDS, &ROWS, &HASHES];
    if let Some(unused) = unused.into_iter().find(|p| settings.has(p)) {
        return Err(Error::Usage(format!("`{}` has no effect with `supershingles`", unused.name)));
    }
    let shape = Shape { groups, rows, least: settings.integer(&MIN_SUPERSHINGLES)?.expect("never auto") };
    if shape.least > groups || shape.tables() > MAX_TABLES {
        let expected = format!("at most {groups}, and so that there are at most {MAX_TABLES} ways to choose them");
        return Err(Error::parameter("min-supershingles", shape.least, expected));
    }
    Ok(Some(shape))
}

/// The bands and rows if both are given; otherwise bands that find a pair at the threshold with at least the recall,
/// whatever the length of its documents.
fn resolve_bands(settings: &Settings) -> Result<(Threshold, f64, Bands), Error> {
    let kind = sketch::Kind::by_name(settings.choice(&SKETCH)?);
    let threshold = settings.threshold(&THRESHOLD)?.expect("never auto");
    let recall = settings.probability(&RECALL)?;
    let most = settings.integer(&HASHES)?.expect("never auto");
    let hashes_given = settings.has(&HASHES);
    // With bands or rows given, hashes are bounded only if `hashes` is given too; the length of a signature is limited
    // in any case.
    let limit = if hashes_given { most } else { MAX_SLOTS };
    let (chosen, limit) = match (settings.integer(&BANDS)?, settings.integer(&ROWS)?) {
        (None, None) => (curve::for_recall(kind, threshold.as_f64(), recall, most), most),
        (None, Some(rows)) => {
            let bands = curve::needed(kind, threshold.as_f64(), recall, rows, limit / rows);
            (bands.map(|bands| Bands { bands, rows }), limit)
        }
        (Some(bands), None) => {
            let fits = |choice: &Bands| {
                choice.slots() <= limit
                    && choice.probability(threshold.as_f64()) >= recall
                    && Curve::new(kind, *choice).reaches(threshold.as_f64(), recall)
            };
            ((1..=256).map(|rows| Bands { bands, rows }).rfind(fits), limit)
        }
        (Some(bands), Some(rows)) => {
            if settings.has(&RECALL) || hashes_given {
                return Err(Error::Usage(
                    "`bands` with `rows` fixes the recall: give `recall` and `hashes` with at most one of the two"
                        .into(),
                ));
            }
            (Some(Bands { bands, rows }).filter(|bands| bands.slots() <= MAX_SLOTS), MAX_SLOTS)
        }
    };
    let chosen = chosen.ok_or_else(|| {
        let fixed = settings.has(&BANDS) || settings.has(&ROWS);
        Error::Usage(format!(
            "no {} a pair at {threshold} with probability {recall} in a signature of {limit} hashes: lower `recall`, raise \
             `threshold`{}{}",
            if fixed { "such bands and rows find" } else { "bands and rows find" },
            if limit < MAX_SLOTS { " or `hashes`" } else { "" },
            if fixed { ", or leave `bands` and `rows` out" } else { "" },
        ))
    })?;
    Ok((threshold, recall, chosen))
}

/// The reason for a width of shingles that was not given.
fn why_width(width: Option<usize>, tokenizer_is_fixed: bool, median_tokens: usize) -> Cow<'static, str> {
    match width {
        Some(_) => format!("tokens, for a median of {median_tokens} tokens a document").into(),
        None if tokenizer_is_fixed => "tokens, of the requested tokenizer".into(),
        None => OVERLAPPING.into(),
    }
}

/// The resolved parameters that all three detectors share.
struct Common {
    shingles: Shingles,
    /// Whether documents are too short for shingles of words.
    short_text: bool,
    origins: Origins,
}

impl Common {
    fn of(settings: &Settings, median_tokens: usize) -> Result<Self, Error> {
        let mut origins = settings.origins();
        let given = settings.integer(&SHINGLE)?;
        let width = given.or_else(|| shingle_width(median_tokens));
        if given.is_none() {
            origins.derive(&SHINGLE, why_width(width, settings.tokenizer_is_fixed(), median_tokens));
        }
        let (hash, count_repeats) = (ShingleHash::of(settings)?, settings.switch(&COUNT_REPEATS)?);
        let shingles = Shingles { width: width.unwrap_or(1), hash, count_repeats };
        Ok(Common { shingles, short_text: is_short_text(settings, width), origins })
    }
}

/// Whether runs of characters take the place of tokens. A requested tokenizer is kept, with single tokens as shingles.
fn is_short_text(settings: &Settings, width: Option<usize>) -> bool {
    width.is_none() && !settings.tokenizer_is_fixed()
}

fn prepare(settings: &Settings, median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
    let common = Common::of(settings, median_tokens)?;
    let short_text = common.short_text;
    let mut prepared = if let Some(shape) = resolve_supershingles(settings)? {
        PreparedAlgorithm::new(supershingles(settings, shape, common)?)
    } else if settings.switch(&EXACT)? {
        PreparedAlgorithm::new(ExactJoin::new(exact_threshold(settings)?, common.shingles).with_origins(common.origins))
    } else {
        prepare_sketched(settings, median_tokens, common)?
    };
    if short_text {
        prepared = prepared.with_tokenizer(Arc::new(CharNgram::new(SHORT_TEXT_CHARACTERS)));
    }
    Ok(prepared)
}

fn supershingles(settings: &Settings, shape: Shape, common: Common) -> Result<Supershingles, Error> {
    let (sketch, hash) = resolve_sketch(settings)?;
    Ok(Supershingles::new(Shingles { hash, ..common.shingles }, sketch, shape).with_origins(common.origins))
}

fn prepare_sketched(settings: &Settings, median_tokens: usize, common: Common) -> Result<PreparedAlgorithm, Error> {
    let Common { shingles, short_text, origins } = common;
    let (threshold, recall, bands) = resolve_bands(settings)?;
    let (sketch, hash) = resolve_sketch(settings)?;
    let are_fixed = settings.integer(&BANDS)?.is_some() && settings.integer(&ROWS)?.is_some();
    let wanted = (!are_fixed).then_some(recall);
    let minhash = MinHash::new(threshold, Shingles { hash, ..shingles }, sketch, bands);
    let mut prepared = PreparedAlgorithm::new(MinHash { short_text, wanted, origins, ..minhash });
    // Bands that were chosen reach the recall with independent slots; others are looked at more closely.
    let is_in_doubt = bands.probability(threshold.as_f64()) < recall;
    let found = match is_in_doubt {
        true => Curve::new(sketch, bands).at(threshold.as_f64(), stated_features(settings, median_tokens)?),
        false => 1.0,
    };
    if found < recall {
        prepared.warnings.push(format!(
            "{} bands of {} rows find only {:.1} % of the pairs at {threshold}; `recall {recall}` in place of `bands` or `rows` finds {:.1} %",
            bands.bands,
            bands.rows,
            100.0 * found,
            100.0 * recall
        ));
    }
    Ok(prepared)
}

/// How many shingles of `width` tokens there are in a document of so many tokens, if none is there twice; `None` if the number of tokens is
/// not known. Where runs of characters take the place of tokens, a token is taken to be six characters.
fn features_of(width: usize, tokens: usize, short_text: bool) -> Option<usize> {
    let (width, tokens) =
        if short_text { (SHORT_TEXT_CHARACTERS, CHARACTERS_A_TOKEN * tokens) } else { (width, tokens) };
    (tokens > 0).then(|| (tokens + 1).saturating_sub(width).max(1))
}

/// How many shingles the documents have for which probabilities are stated, by their median length.
fn stated_features(settings: &Settings, median_tokens: usize) -> Result<Option<usize>, Error> {
    let width = settings.integer(&SHINGLE)?.or_else(|| shingle_width(median_tokens));
    Ok(features_of(width.unwrap_or(1), median_tokens, is_short_text(settings, width)))
}

/// The bytes of a token of a document that a plan assumes, with the space after it: those of English words.
const PLANNED_BYTES: f64 = CHARACTERS_OF_A_WORD as f64;

fn forecast(settings: &Settings, median_tokens: usize, documents: u64) -> Result<Forecast, Error> {
    if let Some(shape) = resolve_supershingles(settings)? {
        return forecast_supershingles(settings, shape, median_tokens, documents);
    }
    if settings.switch(&EXACT)? {
        return Ok(forecast_exact(exact_threshold(settings)?, median_tokens, documents));
    }
    forecast_sketched(settings, median_tokens, documents)
}

fn forecast_exact(threshold: Threshold, median_tokens: usize, documents: u64) -> Forecast {
    let keys = threshold.prefix_of(median_tokens.max(1));
    Forecast {
        curve_of: "jaccard",
        curve: vec![(threshold.as_f64(), 1.0), (1.0, 1.0)],
        costs: vec![
            ("keys, at most", 8.0 * keys as f64, "bytes a document"),
            ("keys of all documents, at most", 8.0 * keys as f64 * documents as f64, "bytes"),
        ],
        search: None,
        stored: None,
        notes: vec![
            format!("every pair at or above {threshold} is found"),
            "shingles that only one document has do not become keys, so there are usually far fewer".into(),
        ],
    }
}

fn forecast_supershingles(
    settings: &Settings,
    shape: Shape,
    median_tokens: usize,
    documents: u64,
) -> Result<Forecast, Error> {
    let Shape { groups, least, .. } = shape;
    let curve = Curve::new(resolve_sketch(settings)?.0, shape);
    let features = stated_features(settings, median_tokens)?;
    let at = |probability| curve.similarity_found_with(probability, features);
    let half = at(0.5);
    Ok(Forecast {
        curve_of: "jaccard",
        curve: [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0]
            .map(|similarity| (similarity, curve.at(similarity, features)))
            .to_vec(),
        costs: vec![
            ("fingerprint", 8.0 * groups as f64, "bytes a document"),
            ("fingerprints of all documents", 8.0 * groups as f64 * documents as f64, "bytes"),
        ],
        search: None,
        stored: None,
        notes: vec![
            format!(
                "every pair with at least {least} of {groups} supershingles in common is reported, whatever its Jaccard similarity"
            ),
            format!(
                "half of the pairs at a Jaccard similarity of {half:.3} are, 1 % of those at {:.3} and 99 % of those at {:.3}: a \
                 detector of pairs at {half:.2}",
                at(0.01),
                at(0.99)
            ),
        ],
    })
}

/// The standard error of the share of equal slots of two signatures as an estimate of their similarity, at the threshold:
/// `√(J(1 − J) / slots)`, to four decimals.
fn error_of_jaccard(threshold: Threshold, slots: usize) -> f64 {
    let similarity = threshold.as_f64();
    ((similarity * (1.0 - similarity) / slots as f64).sqrt() * 1e4).round() / 1e4
}

/// The Jaccard similarity of two documents of so many shingles that differ in one token, to three decimals: the shingles around it
/// differ, as many as a shingle is wide.
fn after_an_edit(features: usize, width: usize) -> f64 {
    let different = width.min(features);
    ((features - different) as f64 / (features + different) as f64 * 1e3).round() / 1e3
}

fn forecast_sketched(settings: &Settings, median_tokens: usize, documents: u64) -> Result<Forecast, Error> {
    let (threshold, _, bands) = resolve_bands(settings)?;
    let kind = resolve_sketch(settings)?.0;
    let curve = Curve::new(kind, bands);
    let features = stated_features(settings, median_tokens)?;
    let found = curve.at(threshold.as_f64(), features);
    let slots = bands.slots() as f64;
    let shingles = median_tokens.max(1) as f64;
    let text = match settings.tokens_are_characters() {
        true => ("text of a document", shingles, "bytes, if a character takes 1"),
        false => ("text of a document", PLANNED_BYTES * shingles, "bytes, if a token takes 6"),
    };
    let evaluations =
        if kind == sketch::Kind::Fss { (slots * slots.ln() + slots * 0.58).max(shingles) } else { shingles * slots };
    let pairs = documents as f64 * (documents as f64 - 1.0) / 2.0;
    let unrelated = |similarity| three_digits(pairs * curve.at(similarity, features));
    let mut notes = vec![match features {
        Some(features) if kind == sketch::Kind::Fss => format!(
            "a pair at {threshold} is found with probability {found:.4} if its documents have {features} shingles each, and with at least \
             {:.4} whatever their length; less similar pairs that are found are compared, and not reported: every reported pair is \
             verified exactly",
            curve.lowest(threshold.as_f64())
        ),
        _ => format!(
            "a pair at {threshold} is found with probability {found:.4}; less similar pairs that are found are compared, and not \
             reported: every reported pair is verified exactly"
        ),
    }];
    if threshold.as_f64() <= 0.6 && !settings.has(&HASHES) {
        notes.push("at this threshold `hashes 512` compares far fewer unrelated pairs".into());
    }
    let width = settings.integer(&SHINGLE)?.or_else(|| shingle_width(median_tokens));
    let edited = features.zip(width).map(|(features, width)| after_an_edit(features, width));
    let edited = edited.map(|similarity| ("similarity of two such documents if one token differs", similarity, ""));
    Ok(Forecast {
        curve_of: "jaccard",
        curve: curve.points(threshold.as_f64(), features),
        costs: edited
            .into_iter()
            .chain([
                ("hash evaluations a document", evaluations.round(), ""),
                text,
                ("shingles", 8.0 * features.unwrap_or(median_tokens) as f64, "bytes a document"),
                ("signature", 8.0 * slots, "bytes a document, of which only the keys are kept"),
                ("keys", 8.0 * bands.bands as f64, "bytes a document"),
                ("keys of all documents", 8.0 * bands.bands as f64 * documents as f64, "bytes"),
                ("candidates, if unrelated documents are 0.05 alike", unrelated(0.05), "pairs"),
                ("candidates, if unrelated documents are 0.1 alike", unrelated(0.1), "pairs"),
                (
                    "standard error of the similarity that signatures show",
                    error_of_jaccard(threshold, bands.slots()),
                    "at the threshold",
                ),
            ])
            .collect(),
        search: None,
        stored: features.map(|features| StoredFeatures { features, keys: bands.bands }),
        notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::builder::tests::check_setters;
    use crate::algorithm::{AlgorithmFactory, TableFactory, Totals, Value};

    fn resolved(pairs: &[(&str, &str)]) -> (usize, usize) {
        let (_, _, bands) = resolve_bands(&Settings::from_pairs(pairs.iter().copied())).unwrap();
        (bands.bands, bands.rows)
    }

    #[test]
    fn setters_write_what_would_be_typed() {
        let built = MinHash::builder().threshold(0.8).recall(0.999).exact(true).shingle(3).hash(ShingleHash::Sha1);
        let built = built.sketch(sketch::Kind::Datasketch1).bands(20).rows(5).hashes(100).supershingles(6, 14);
        let built = built.min_supershingles(2).count_repeats(false).drop_common(0.05);
        let typed = [
            ("threshold", "0.8"),
            ("recall", "0.999"),
            ("exact", "true"),
            ("shingle", "3"),
            ("hash", "sha1"),
            ("sketch", "datasketch1"),
            ("bands", "20"),
            ("rows", "5"),
            ("hashes", "100"),
            ("supershingles", "6x14"),
            ("min-supershingles", "2"),
            ("count-repeats", "false"),
            ("drop-common", "0.05"),
        ];
        check_setters(built, &ENTRY, &typed);
    }

    #[test]
    fn errors_of_estimated_similarities() {
        let error = |threshold: &str, slots| error_of_jaccard(threshold.parse().unwrap(), slots);
        assert_eq!([error("0.8", 96), error("0.5", 100), error("1", 96)], [0.0408, 0.05, 0.0]);
    }

    #[test]
    fn bands_follow_threshold_and_recall() {
        assert_eq!(resolved(&[]), (16, 6));
        assert_eq!(resolved(&[("hashes", "256")]), (26, 8));
        assert_eq!(resolved(&[("recall", "0.999")]), (18, 5));
        assert_eq!(resolved(&[("recall", "0.999"), ("hashes", "256")]), (30, 7));
        assert_eq!(resolved(&[("threshold", "1")]), (1, 128));
    }

    /// The keys of a fingerprint, and of one with too few slots, are those of each band.
    #[test]
    fn keys_are_those_of_the_bands() {
        for (bands, rows) in [("1", "128"), ("16", "6"), ("12", "5"), ("30", "1")] {
            let settings = Settings::from_pairs([("bands", bands), ("rows", rows)]);
            let algorithm = prepare(&settings, 0).unwrap().algorithm;
            let (bands, rows) = (bands.parse::<usize>().unwrap(), rows.parse::<usize>().unwrap());
            for slots in [bands * rows, bands * rows - 1, 0] {
                let fingerprint: Vec<u64> = (7..7 + slots as u64).map(mix).collect();
                let key = |band: usize| {
                    let row = fingerprint.get(band * rows..(band + 1) * rows).unwrap_or_default();
                    row.iter().fold(mix(band as u64 + 1), |key, &slot| combine(key, slot))
                };
                let mut keys = vec![1];
                algorithm.keys(&fingerprint, &mut keys);
                assert_eq!(
                    (keys[0], &keys[1..]),
                    (1, &*(0..bands).map(key).collect::<Vec<_>>()),
                    "{bands} {rows} {slots}"
                );
            }
        }
    }

    #[test]
    fn rows_alone_get_the_bands_they_need_and_bands_alone_the_rows_they_bear() {
        assert_eq!(resolved(&[("rows", "5")]), (12, 5));
        assert_eq!(resolved(&[("bands", "12")]), (12, 5));
        assert_eq!(resolved(&[("bands", "14"), ("rows", "8")]), (14, 8));
    }

    /// Documents of five words have five shingles of one word, and 27 of four characters.
    #[test]
    fn the_recall_stated_for_short_documents_is_that_of_their_shingles() {
        let factory = || crate::algorithm::Entry::by_name("minhash").unwrap().factory(Settings::default()).unwrap();
        let curve = Curve::new(sketch::Kind::Fss, resolve_bands(&Settings::default()).unwrap().2);
        let stated = |factory: TableFactory| {
            let mut algorithm = factory.prepare(5).unwrap().algorithm;
            algorithm.learn(&Learned::Totals(Totals { fingerprints: 9, median_tokens: 5 }));
            let rows = algorithm.rows();
            rows.iter().find(|row| row.name == "recall_at_threshold").unwrap().value.clone()
        };
        let expected = |features| Value::Decimal(curve.at(0.8, Some(features)));
        assert_ne!(expected(5), expected(27));
        assert_eq!(stated(factory()), expected(27));
        assert_eq!(stated(factory().with_tokenizer("word").unwrap()), expected(5));
        let plan = factory().with_tokenizer("word").unwrap().plan(5, 9).unwrap();
        assert!(plan.forecast.notes[0].contains("have 5 shingles each"), "{:?}", plan.forecast.notes);
    }

    #[test]
    fn contradictions_are_named() {
        let error = |pairs: &[(&str, &str)]| {
            prepare(&Settings::from_pairs(pairs.iter().copied()), 0).err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert!(error(&[("bands", "9"), ("rows", "13"), ("recall", "0.9")]).contains("`recall`"));
        assert!(error(&[("threshold", "0.01")]).contains("in a signature of 128 hashes"));
        assert!(error(&[("rows", "200"), ("threshold", "0.5")]).contains("of 16384 hashes: lower `recall`"));
        assert!(error(&[("rows", "8"), ("hashes", "10")]).contains("of 10 hashes"));
        assert!(error(&[("bands", "1000"), ("hashes", "20")]).contains("of 20 hashes"));
        assert!(error(&[("bands", "4096"), ("rows", "256")]).contains("of 16384 hashes"));
    }

    #[test]
    fn supershingles_take_no_flags_of_bands() {
        let error = |pairs: &[(&str, &str)]| {
            let given = [pairs, &[("supershingles", "6x14")]].concat();
            prepare(&Settings::from_pairs(given), 0).err().map(|e| e.to_string()).unwrap_or_default()
        };
        for (flag, value) in [
            ("threshold", "0.9"),
            ("recall", "0.9"),
            ("bands", "9"),
            ("rows", "9"),
            ("hashes", "99"),
            ("exact", "true"),
        ] {
            assert_eq!(error(&[(flag, value)]), format!("`{flag}` has no effect with `supershingles`"));
        }
        assert_eq!(error(&[("shingle", "8"), ("sketch", "classic"), ("min-supershingles", "3")]), "");
        assert!(error(&[("min-supershingles", "7")]).contains("at most 6"));
        let alone = Settings::from_pairs([("min-supershingles", "2")]);
        assert!(prepare(&alone, 0).err().unwrap().to_string().contains("without `supershingles`"));
        let many = Settings::from_pairs([("supershingles", "32x1"), ("min-supershingles", "16")]);
        assert!(prepare(&many, 0).err().unwrap().to_string().contains("at most 2000 ways"));
        for bad in ["6", "6x", "x14", "0x14", "6x0", "33x1", "6x14x2", "6X14", "on"] {
            assert!(prepare(&Settings::from_pairs([("supershingles", bad)]), 0).is_err(), "{bad}");
        }
    }

    #[test]
    fn half_of_the_pairs_as_the_help_says() {
        for kind in [sketch::Kind::Fss, sketch::Kind::Classic] {
            let curve = |least| Curve::new(kind, Shape { groups: 6, rows: 14, least });
            let half = |least, features| (curve(least).similarity_found_with(0.5, Some(features)) * 100.0).round();
            for features in [300, 1000, 10_000] {
                assert_eq!([1, 2, 3].map(|least| half(least, features)), [85.0, 91.0, 94.0], "{kind:?}, {features}");
            }
        }
    }

    #[test]
    fn too_few_bands_are_warned_of() {
        // What a well-known library picks for 0.8 finds 40 % of the pairs at 0.8.
        let prepared = prepare(&Settings::from_pairs([("bands", "9"), ("rows", "13")]), 300).unwrap();
        assert!(prepared.warnings[0].contains("only 39.0 %"), "{:?}", prepared.warnings);
        let classic = Settings::from_pairs([("bands", "9"), ("rows", "13"), ("sketch", "classic")]);
        let prepared = prepare(&classic, 300).unwrap();
        assert!(prepared.warnings[0].contains("only 39.9 %"), "{:?}", prepared.warnings);
    }

    #[test]
    fn keys_are_fixed() {
        // Computed by a few lines of Python; keys will be part of stored indexes.
        let bands = Bands { bands: 2, rows: 2 };
        let minhash = MinHash::new("0.8".parse().unwrap(), 5, sketch::Kind::Fss, bands);
        let mut keys = Vec::new();
        minhash.keys(&[10, 20, 30, 40], &mut keys);
        assert_eq!(keys, [0x534a83afd902fa4f, 0xba75e26e327bbb5c]);
    }

    #[test]
    fn short_documents_are_compared_by_characters() {
        assert_eq!(prepare(&Settings::default(), 9).unwrap().tokenizer.unwrap().name(), "char:4");
    }
}
