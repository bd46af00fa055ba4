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
//! **Parameters.** See [`PARAMETERS`]. The band and the least number of terms are those of the I-Match baseline in the
//! reference program of SpotSigs (Theobald, Siddharth & Paepcke, SIGIR 2008). The band is decided in integers
//! ([`band`]). A term of a single document says nothing about pairs and never counts. A document has no near-duplicate
//! here if more than half of its distinct terms are of this kind, or if it has too few terms that count. It gets a
//! single digest, which includes its unique terms, so that only its copies have it too (word for word, in another
//! order, or with other terms that all documents have). Below [`SMALL`] documents idf says little: see [`informative`].
//! With `lexicon` the counts of that file decide; a term that it lacks is treated like a term of a single document.
//!
//! **Cost.** The collection is read twice, once for counting, or once with `lexicon`. A look-up a term, a sort of the
//! terms that count, `K + 1` SHA-1 digests; 16 bytes for each digest of a document. A keyed hash of the term and the
//! lexicon's number decides which terms a lexicon lacks, so no lexicon is copied.
//!
//! **Where it is weak.** A fingerprint depends on the whole collection, unless a lexicon from elsewhere is given. Texts
//! of the same words are near-duplicates, whatever they say. Long documents: the more terms, the more of them differ;
//! from about 4 differing terms on hardly a pair is found. There is no threshold.

pub mod band;
mod terms;

use super::builder::{Number, parameters};
use super::parameter::{LEXICON, Origins, Parameter, Settings, Values};
use super::weights::lexicon_row;
use super::{
    Agreement, Algorithm, CompareOn, Entry, Explain, Features, Forecast, Learned, Learns, PreparedAlgorithm, Profile,
    Provenance, Row,
};
use crate::error::Error;
use crate::hash::{combine, mix};
use crate::kernel::{Level, sketch::combine_all};
use crate::lexicon::Lexicon;
use crate::similarity::Similarity;
use crate::tokenizer::{TokenDetail, Tokens};
use sha1::{Digest, Sha1};
use std::ops::RangeInclusive;
use std::sync::Arc;
use terms::{Class, Classes};

/// The line of the table.
pub const ENTRY: Entry = Entry {
    name: "imatch",
    aliases: &["i-match"],
    summary: "SHA-1 digests of the informative terms, under one lexicon and randomized parts of it; all pairs with an equal one, exactly",
    advice: "For large collections of copies that differ in their order of words, in common words, and in a term or two besides. Reads \
             the collection twice, because what is informative depends on all of it (or once, with `lexicon`). Below 1,000 \
             documents this is imprecise, and a warning is given. Finds few pairs that differ in more than three informative terms; minhash does.",
    parameters: PARAMETERS,
    defaults: &[],
    refuses: &[],
    prepare,
    depends_on_length: |_| false,
    forecast,
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
    /// The number of randomized lexicons in addition to the whole one: from 0 to 100; 10 by default.
    lexicons(lexicons: usize) LEXICONS = lexicons.to_string();
    /// The fraction of the terms that each randomized lexicon lacks: from 0 to 1, with at most three decimals; 0.5 by default.
    drop_fraction(fraction: impl Into<Number>) DROP_FRACTION = fraction.into().0;
    /// The fewest terms that make a digest: at least 1; 4 by default.
    min_terms(terms: usize) MIN_TERMS = terms.to_string();
    /// Takes document frequencies from this lexicon, instead of counting them in the documents. See
    /// [`lexicon`](crate::lexicon) for an example.
    lexicon(lexicon: impl Into<Arc<Lexicon>>) LEXICON = lexicon.into();
}

static IDF_LOW: Parameter = Parameter {
    name: "idf-low",
    placeholder: "L",
    default: "0.2",
    values: Values::Thousandths(0..=1000),
    help: "Least normalised idf of a term that counts; drops common terms",
    details: "Normalised idf is ln((N+1)/df) / ln(N+1): nearly 0 for a term that all N documents have, 1 for one that a single document has. At \
              0.2 a term may be in 63,095 of a million documents. Fewer than 1,000 documents are judged as if they were 1,000: at 0.2 a \
              term may be in 251 of them.",
};
static IDF_HIGH: Parameter = Parameter {
    name: "idf-high",
    placeholder: "H",
    default: "0.8",
    values: Values::Thousandths(0..=1000),
    help: "Most normalised idf of a term that counts; drops rare terms",
    details: "At 0.8 a term must be in 16 of a million documents. A term that only one document has never counts: no pair shares it. Below \
              1,000 documents all others count at this end, whatever is given.",
};
static LEXICONS: Parameter = Parameter {
    name: "lexicons",
    placeholder: "K",
    default: "10",
    values: Values::Integer(0..=100),
    help: "Randomized lexicons beside the whole one",
    details: "Each makes a digest of its own, and any equal one makes a pair. 0 is plain I-Match, which finds a pair only if no term that \
              counts differs.",
};
static DROP_FRACTION: Parameter = Parameter {
    name: "drop-fraction",
    placeholder: "P",
    default: "0.5",
    values: Values::Thousandths(0..=1000),
    help: "Fraction of the terms that each randomized lexicon lacks",
    details: "A pair that differs in x terms is found with probability 1 - (1 - P^x)^K: at 0.5 and 10 lexicons 0.999 for one term, 0.94 \
              for two, 0.74 for three, 0.15 for six; at 0.3, which is commonly taken, 0.97, 0.61, 0.24 and 0.01. More finds more, and \
              lets each digest speak for fewer of a document's terms: at 0.5 for half of them.",
};
static MIN_TERMS: Parameter = Parameter {
    name: "min-terms",
    placeholder: "N",
    default: "4",
    values: Values::Integer(1..=1_000_000),
    help: "Least terms that make a digest",
    details: "A document with fewer terms in a lexicon has no digest under it; one with fewer in the whole lexicon is never a duplicate.",
};

/// The number of documents below which idf is not trusted.
pub const SMALL: u64 = 1000;

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
    /// Least terms that make a digest.
    pub min_terms: usize,
}

impl Default for Parameters {
    /// As on the command line.
    fn default() -> Self {
        Parameters { idf: 200..=800, lexicons: 10, drop: 500, min_terms: 4 }
    }
}

/// Returns the document frequencies of terms that count, in a collection that was itself counted.
///
/// From [`SMALL`] documents on this is the band, without the terms of a single document. In fewer documents idf is
/// coarse: among 10 the band would drop the terms that 7 of them share, and so lose a group of seven near-duplicates.
/// Smaller collections are therefore treated like [`SMALL`] documents at the common end; at the rare end every term of
/// two documents counts.
pub fn informative(documents: u64, idf: &RangeInclusive<u64>) -> RangeInclusive<u64> {
    if documents < SMALL {
        return 2..=band::most_frequency(SMALL, *idf.start());
    }
    let band = band::document_frequencies(documents, *idf.start(), *idf.end());
    2.max(*band.start())..=*band.end()
}

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
const ABSENT: [u64; WORDS] = [0; WORDS];

/// The detector.
pub struct IMatch {
    parameters: Parameters,
    /// The classes of terms, once they are known.
    classes: Option<Classes>,
    /// The number of documents that the lexicon counts. Without a lexicon, the number that it would count; 0 if
    /// unknown.
    documents: u64,
    /// The row of the lexicon, if it is from a file.
    lexicon: Option<Row>,
    /// Document frequencies of terms that count.
    informative: RangeInclusive<u64>,
    /// For each randomized lexicon, the value that [`lacks`](Self::lacks) mixes into the hash of a term.
    keys: Vec<u64>,
    /// A randomized lexicon lacks a term whose hash is below this: the fraction of 2⁶⁴, rounded up.
    lacked: u128,
    origins: Origins,
}

impl IMatch {
    /// A builder of the factory of this family, with the parameters of the command line.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A detector that has yet to learn the frequencies of terms; until then no term counts.
    pub fn new(parameters: Parameters) -> Self {
        let informative = informative(0, &parameters.idf);
        let keys = (1..=parameters.lexicons as u64).map(mix).collect();
        let lacked = (u128::from(parameters.drop) << 64).div_ceil(1000);
        let (classes, documents, lexicon, origins) = (None, 0, None, Origins::default());
        IMatch { parameters, classes, documents, lexicon, informative, keys, lacked, origins }
    }

    /// The document frequencies of terms that count. They are part of the identity if they come from a lexicon.
    fn frequency_rows(&self) -> [Row; 2] {
        let row = if self.classes.is_some() { Row::identity } else { Row::planned };
        let (fewest, most) = match self.documents < SMALL {
            true => ("all that two documents have", format!("as of {SMALL} documents")),
            false => ("from the band", "from the band".to_string()),
        };
        let fewest = format!("fewest documents that must have a term: {fewest}");
        let most = format!("most documents that may have a term: {most}");
        [
            row("least_df", *self.informative.start()).with(Provenance::derived(fewest)),
            row("most_df", *self.informative.end()).with(Provenance::derived(most)),
        ]
    }

    /// Whether a randomized lexicon, counted from 1, lacks the term of this hash. The hash is seeded, so this is too.
    pub fn lacks(&self, lexicon: usize, term: u64) -> bool {
        self.is_lacked(combine(self.keys[lexicon - 1], term))
    }

    #[inline]
    fn is_lacked(&self, hash: u64) -> bool {
        u128::from(hash) < self.lacked
    }

    /// Leaves in `weighted` the numbers of the tokens whose terms count, each term once, in the order of their text,
    /// and returns true. If they are too few, or if most terms of the document occur in no other, the document has no
    /// near-duplicate. Its unique terms are then left too, which identify its copies, and false is returned.
    fn filter(&self, tokens: &Tokens, features: &mut Features) -> bool {
        let Features { positions, weighted: kept, .. } = features;
        kept.clear();
        let Some(classes) = &self.classes else { return false };
        let term = |i: u32| tokens.hashes()[i as usize];
        // The table is larger than the processor's caches: all terms are prefetched before the first is read.
        positions.iter().for_each(|&i| classes.fetch(term(i)));
        kept.resize(positions.len(), (0, 0));
        let (mut left, mut own) = (0, 0);
        for &i in positions.iter() {
            // Without a branch, because it would be unpredictable.
            let class = classes.of(term(i));
            kept[left] = (u64::from(class == Class::Own), i);
            left += usize::from(class != Class::Passed);
            own += usize::from(class == Class::Own);
        }
        kept.truncate(left);
        let among_others = 2 * own <= positions.len() && left - own >= self.parameters.min_terms;
        if among_others && own > 0 {
            kept.retain(|&(is_own, _)| is_own == 0);
        }
        // Compared by the first eight bytes, which distinguish nearly all terms, then by all bytes.
        kept.iter_mut().for_each(|(first, i)| *first = tokens.beginning(*i as usize));
        kept.sort_unstable_by_key(|&(first, _)| first);
        for alike in kept.chunk_by_mut(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            alike.sort_unstable_by_key(|&(_, i)| tokens.text(i as usize));
        }
        among_others
    }

    /// Copies the terms that a randomized lexicon has. All terms are given by the hashes that [`lacks`](Self::lacks)
    /// reads, and by their lengths. In `all` and `chosen` each term ends with a line break, which is part of its
    /// length; at least [`AT_ONCE`] meaningless bytes follow the last term. Returns the numbers of chosen bytes and
    /// terms.
    ///
    /// About half of the terms are chosen, at random: a copy that is overwritten is cheaper than a mispredicted branch.
    fn choose(
        &self,
        lexicon: &[u64],
        lengths: impl Iterator<Item = usize>,
        all: &[u8],
        chosen: &mut [u8],
    ) -> (usize, usize) {
        let (mut from, mut to, mut count) = (0, 0, 0);
        for (&hash, length) in lexicon.iter().zip(lengths) {
            let has = usize::from(!self.is_lacked(hash));
            let copied = if length <= AT_ONCE { AT_ONCE } else { length };
            chosen[to..to + copied].copy_from_slice(&all[from..from + copied]);
            from += length;
            to += length * has;
            count += has;
        }
        (to, count)
    }
}

/// The number of bytes that are copied of a short term.
const AT_ONCE: usize = 16;

/// The first words of the digest of `terms` terms, each with a line break after it; [`ABSENT`] if they are too few.
fn first_words(terms: &[u8], count: usize, min_terms: usize) -> [u64; WORDS] {
    let Some((_, joined)) = terms.split_last().filter(|_| count >= min_terms) else { return ABSENT };
    let digest = Sha1::digest(joined);
    [0, 8].map(|at| u64::from_be_bytes(digest[at..at + 8].try_into().expect("8 of 20 bytes")))
}

/// The digests of a fingerprint, that of the whole lexicon first.
fn digests(fingerprint: &[u64]) -> impl Iterator<Item = &[u64]> {
    fingerprint.chunks_exact(WORDS)
}

impl Algorithm for IMatch {
    fn profile(&self) -> Profile {
        Profile::new("imatch", "imatch", CompareOn::Fingerprints).reading(TokenDetail::Texts)
    }

    fn rows(&self) -> Vec<Row> {
        let Parameters { idf, lexicons, drop, min_terms } = &self.parameters;
        let origins = &self.origins;
        let mut rows = vec![
            Row::identity("idf_low", decimal(*idf.start())).with(origins.of(&IDF_LOW)),
            Row::identity("idf_high", decimal(*idf.end())).with(origins.of(&IDF_HIGH)),
            Row::identity("lexicons", *lexicons).with(origins.of(&LEXICONS)),
            Row::identity("drop_fraction", decimal(*drop)).with(origins.of(&DROP_FRACTION)),
            Row::identity("min_terms", *min_terms).with(origins.of(&MIN_TERMS)),
        ];
        if self.documents > 0 {
            rows.extend(self.frequency_rows());
        }
        rows.extend(self.lexicon.clone());
        rows
    }

    fn learns(&self) -> Option<Learns> {
        self.classes.is_none().then_some(Learns::Terms)
    }

    fn learn(&mut self, learned: &Learned) {
        match learned {
            Learned::Terms(lexicon) => {
                self.documents = lexicon.documents();
                self.informative = informative(self.documents, &self.parameters.idf);
                self.classes = Some(Classes::new(lexicon, &self.informative));
                self.lexicon = lexicon_row(lexicon);
            }
            // Only the number of documents, for a plan: no terms are counted.
            Learned::Totals(totals) if self.classes.is_none() => {
                self.documents = totals.fingerprints as u64;
                self.informative = informative(self.documents, &self.parameters.idf);
            }
            _ => {}
        }
    }

    /// Appends the digests, which need the texts of the tokens. Appends none if there are too few terms for the first,
    /// because the others have no more.
    fn features(&self, tokens: &Tokens, features: &mut Features) {
        features.first_of_each(tokens.hashes());
        let among_others = self.filter(tokens, features);
        features.made_of = Some(features.weighted.len());
        let Features { hashes, weighted: terms, bytes, words, .. } = features;
        let min_terms = self.parameters.min_terms;
        if terms.len() < min_terms {
            return;
        }
        bytes.clear();
        for (length, i) in terms.iter_mut() {
            let text = tokens.text(*i as usize).as_bytes();
            bytes.extend_from_slice(text);
            bytes.push(b'\n');
            *length = text.len() as u64 + 1;
        }
        let length = bytes.len();
        hashes.extend(first_words(bytes, terms.len(), min_terms));
        bytes.resize(2 * (length + AT_ONCE), 0);
        let (all, chosen) = bytes.split_at_mut(length + AT_ONCE);
        if !among_others {
            hashes.extend(self.keys.iter().flat_map(|_| ABSENT));
            return;
        }
        words.clear();
        words.extend(terms.iter().map(|&(_, i)| tokens.hashes()[i as usize]));
        words.resize(2 * terms.len(), 0);
        let (own, combined) = words.split_at_mut(terms.len());
        for &key in &self.keys {
            combine_all(Level::current(), key, own, combined);
            let lengths = terms.iter().map(|&(length, _)| length as usize);
            let (length, count) = self.choose(combined, lengths, all, chosen);
            hashes.extend(first_words(&chosen[..length], count, min_terms));
        }
    }

    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        fingerprint.extend_from_slice(&features.hashes);
    }

    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        let present = digests(fingerprint).enumerate().filter(|(_, digest)| *digest != ABSENT);
        keys.extend(
            present.map(|(lexicon, digest)| digest.iter().fold(mix(lexicon as u64), |key, &word| combine(key, word))),
        );
    }

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        let equal = |(a, b): &(&[u64], &[u64])| a == b && *a != ABSENT;
        let mut both = digests(a).zip(digests(b));
        if both.next().as_ref().is_some_and(equal) {
            return Some(Similarity::ONE);
        }
        let equal = both.filter(equal).count() as u64;
        (equal > 0).then(|| Similarity::ratio(equal, self.parameters.lexicons as u64 + 1))
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Explain for IMatch {
    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        Some(self.compare(a, b).unwrap_or(Similarity::ZERO))
    }

    fn agreement(&self, a: &[u64], b: &[u64]) -> Option<Vec<Agreement>> {
        let equal = digests(a).zip(digests(b)).filter(|(a, b)| a == b && *a != ABSENT).count();
        Some(vec![Agreement { what: "digests", equal, of: digests(a).count() }])
    }

    fn warnings(&self, _documents: u64, _featureless: u64) -> Vec<String> {
        let documents = self.documents;
        let from_file = self.lexicon.is_some();
        let few = self.classes.is_some() && documents < SMALL && (documents > 0 || from_file);
        let warning = || {
            format!(
                "I-Match judges terms by how many documents have them, and {documents}{} (copies counted once) are too few to do it well (below {SMALL}): every \
                 term counts that from 2 to {} of them have; `algo minhash` needs no other documents",
                if from_file { " of the lexicon" } else { "" },
                self.informative.end()
            )
        };
        few.then(warning).into_iter().collect()
    }
}

fn decimal(thousandths: u64) -> f64 {
    thousandths as f64 / 1000.0
}

/// Returns the probability that two documents which differ in `differing` terms of the lexicon have an equal digest, if
/// both have all digests.
pub fn probability_found(lexicons: usize, drop_fraction: f64, differing: u32) -> f64 {
    if differing == 0 {
        return 1.0;
    }
    // For large exponents, 1 − (1 − y)ᴷ would lose precision.
    -(lexicons as f64 * (-drop_fraction.powi(differing as i32)).ln_1p()).exp_m1()
}

fn resolve(settings: &Settings) -> Result<Parameters, Error> {
    let (low, high) = (settings.thousandths(&IDF_LOW)?, settings.thousandths(&IDF_HIGH)?);
    if low > high {
        return Err(Error::Usage(format!(
            "no idf is from {} (`idf-low`) to {} (`idf-high`): swap them",
            decimal(low),
            decimal(high)
        )));
    }
    let drop = settings.thousandths(&DROP_FRACTION)?;
    let lexicons = settings.integer(&LEXICONS)?.expect("never auto");
    if lexicons == 0 && settings.has(&DROP_FRACTION) {
        return Err(Error::Usage("`drop-fraction` has no effect without randomized lexicons (`lexicons 0`)".into()));
    }
    let min_terms = settings.integer(&MIN_TERMS)?.expect("never auto");
    Ok(Parameters { idf: low..=high, lexicons, drop, min_terms })
}

fn prepare(settings: &Settings, _median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
    Ok(PreparedAlgorithm::new(IMatch { origins: settings.origins(), ..IMatch::new(resolve(settings)?) }))
}

fn forecast(settings: &Settings, median_tokens: usize, documents: u64) -> Result<Forecast, Error> {
    let parameters = resolve(settings)?;
    let Parameters { idf, lexicons, drop, min_terms } = &parameters;
    // The documents that were counted decide about terms.
    let counted = settings.lexicon().map_or(documents, |lexicon| lexicon.documents());
    let informative = informative(counted, idf);
    let mut notes = vec![
        "every pair with an equal digest is found; the curve is by how many terms that count are in one of the two documents only, a replaced \
         word being two"
            .to_string(),
    ];
    if informative.is_empty() {
        notes.push("no term can count: the band has no document frequency above 1".into());
    }
    if counted < SMALL {
        notes.push(format!("below {SMALL} documents idf says little about a term; minhash needs no other documents"));
    }
    if median_tokens < 4 * min_terms {
        notes.push(format!(
            "many documents of {median_tokens} tokens will have fewer than {min_terms} terms that count, and no digest"
        ));
    }
    let digests = lexicons + 1;
    Ok(Forecast {
        curve_of: "differing",
        curve: [8, 6, 4, 3, 2, 1, 0]
            .map(|differing| (f64::from(differing), probability_found(*lexicons, decimal(*drop), differing)))
            .to_vec(),
        costs: vec![
            ("SHA-1 digests a document", digests as f64, "at most"),
            ("fingerprint", (8 * WORDS * digests) as f64, "bytes a document"),
            ("fingerprints of all documents", (8 * WORDS * digests) as f64 * documents as f64, "bytes"),
        ],
        search: None,
        notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::Lexicon;
    use std::sync::Arc;

    fn hex(digest: [u8; 20]) -> String {
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_digest_is_that_of_the_terms_joined_by_line_breaks() {
        // printf 'cat\nmat\nsat' | sha1sum
        assert_eq!(hex(digest(["cat", "mat", "sat"])), "ff68e756a2be9db2e7eba6823447a31ab4872325");
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
    }

    fn detector(lexicons: usize, drop: u64, min_terms: usize) -> IMatch {
        IMatch::new(Parameters { idf: 200..=800, lexicons, drop, min_terms })
    }

    fn tokens(words: &str) -> Tokens {
        let mut tokens = Tokens::new(TokenDetail::Everything, 0);
        words.split_whitespace().for_each(|word| tokens.push(word, 0..0));
        tokens
    }

    fn fingerprint(detector: &IMatch, words: &str) -> Vec<u64> {
        let (mut features, mut fingerprint) = (Features::default(), Vec::new());
        detector.features(&tokens(words), &mut features);
        detector.fingerprint(&features, &mut fingerprint);
        fingerprint
    }

    fn taught(mut detector: IMatch, frequencies: &[(&str, u32)]) -> IMatch {
        let frequencies = frequencies.iter().map(|(term, frequency)| (tokens(term).hashes()[0], *frequency));
        detector.learn(&Learned::Terms(Arc::new(Lexicon::new(9_999, frequencies))));
        detector
    }

    /// The words of the golden digest count; so do two more.
    const KNOWN: &[(&str, u32)] =
        &[("mat", 7), ("cat", 30), ("sat", 1584), ("dog", 10), ("log", 10), ("the", 1585), ("rare", 6), ("own", 1)];

    #[test]
    fn the_terms_of_the_band_in_any_order_make_the_fingerprint() {
        let detector = taught(detector(0, 300, 3), KNOWN);
        let expected = [0xff68e756a2be9db2, 0xe7eba6823447a31a];
        for words in ["mat cat sat", "sat cat mat", "the cat sat cat the mat rare own"] {
            assert_eq!(fingerprint(&detector, words), expected, "{words}");
        }
        assert_ne!(fingerprint(&detector, "cat sat mat dog"), expected);
    }

    #[test]
    fn too_few_terms_make_no_fingerprint() {
        let detector = taught(detector(10, 300, 4), KNOWN);
        for words in ["", "the the", "mat cat sat", "the mat cat sat the cat"] {
            assert!(fingerprint(&detector, words).is_empty(), "{words}");
        }
        assert_eq!(fingerprint(&detector, "mat cat sat dog").len(), 22);
        // Not taught yet.
        assert!(fingerprint(&self::detector(10, 300, 1), "mat cat sat dog").is_empty());
    }

    #[test]
    fn a_document_of_mostly_its_own_terms_is_known_by_all_of_them() {
        let detector = taught(detector(2, 0, 2), KNOWN);
        let usual = fingerprint(&detector, "mat cat own own own unknown");
        assert_eq!(usual, fingerprint(&detector, "cat mat"));
        let alone = fingerprint(&detector, "mat mat cat the own unknown unheard unseen");
        assert_eq!((alone.len(), &alone[2..]), (6, &[0; 4][..]));
        assert_eq!(alone, fingerprint(&detector, "unseen unheard unknown own cat mat"));
        assert_ne!(alone, fingerprint(&detector, "unseen unheard unknown other cat mat"));
        assert_eq!(detector.compare(&alone, &alone), Some(Similarity::ONE));
        // So is one that has too few others.
        assert!(!fingerprint(&detector, "mat own").is_empty());
    }

    #[test]
    fn a_lexicon_that_leaves_too_few_terms_has_no_digest_and_no_key() {
        let detector = taught(detector(60, 500, 4), KNOWN);
        let made = fingerprint(&detector, "mat cat sat dog log");
        let expected: Vec<bool> = (0..=60)
            .map(|i| {
                let left = ["mat", "cat", "sat", "dog", "log"]
                    .iter()
                    .filter(|t| i == 0 || !detector.lacks(i, tokens(t).hashes()[0]));
                left.count() >= 4
            })
            .collect();
        let found: Vec<bool> = digests(&made).map(|digest| digest != ABSENT).collect();
        assert_eq!(found, expected);
        assert!(found.iter().any(|present| !present) && found[1..].iter().any(|present| *present));
        let mut keys = Vec::new();
        detector.keys(&made, &mut keys);
        assert_eq!(keys.len(), found.iter().filter(|present| **present).count());
    }

    #[test]
    fn the_similarity_is_the_share_of_equal_digests() {
        let detector = detector(3, 300, 1);
        let (a, b) = ([1, 1, 2, 2, 3, 3, 0, 0], [9, 9, 2, 2, 4, 3, 0, 0]);
        assert_eq!(detector.compare(&a, &b), Some(Similarity::ratio(1, 4)));
        // Equal under the whole lexicon is equal under every part of it.
        assert_eq!(detector.compare(&a, &a), Some(Similarity::ONE));
        // Digests that are not there are not equal, nor are equal ones of different lexicons.
        assert_eq!(detector.compare(&[1, 1, 0, 0, 5, 6, 7, 8], &[2, 2, 0, 0, 7, 8, 5, 6]), None);
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        detector.keys(&[1, 1, 0, 0, 5, 6, 7, 8], &mut of_a);
        detector.keys(&[2, 2, 0, 0, 7, 8, 5, 6], &mut of_b);
        assert!(of_a.iter().all(|key| !of_b.contains(key)));
    }

    #[test]
    fn small_collections_are_judged_as_larger_ones_at_the_common_end() {
        let band = |documents| informative(documents, &(200..=800));
        assert_eq!([band(0), band(10), band(999), band(1000)], [2..=251, 2..=251, 2..=251, 4..=251]);
        assert_eq!(band(1_000_000), 16..=63_095);
        assert_eq!(informative(1_000_000, &(0..=1000)), 2..=1_000_000);
        let warnings = |documents| {
            let mut detector = detector(10, 300, 4);
            detector.learn(&Learned::Terms(Arc::new(Lexicon::new(documents, []))));
            detector.warnings(0, 0).len()
        };
        assert_eq!([0, 1, 999, 1000].map(warnings), [0, 1, 1, 0]);
    }

    #[test]
    fn probabilities_by_number_of_differing_terms() {
        let table = [
            (0.1, 10, [0.651, 0.096, 0.010, 0.001, 0.000]),
            (0.3, 5, [0.832, 0.376, 0.128, 0.040, 0.004]),
            (0.3, 10, [0.972, 0.611, 0.239, 0.078, 0.007]),
            (0.3, 20, [0.999, 0.848, 0.422, 0.150, 0.015]),
            (0.5, 10, [0.999, 0.944, 0.737, 0.476, 0.146]),
            (0.5, 20, [1.000, 0.997, 0.931, 0.725, 0.270]),
        ];
        for (drop, lexicons, expected) in table {
            let found = [1, 2, 3, 4, 6].map(|x| probability_found(lexicons, drop, x));
            let off = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
            assert!(off.into_iter().all(|off| off < 0.0006), "{drop} {lexicons}: {found:?}");
        }
        assert_eq!(
            [probability_found(0, 0.3, 0), probability_found(0, 0.3, 1), probability_found(5, 1.0, 9)],
            [1.0, 0.0, 1.0]
        );
    }

    #[test]
    fn defaults_in_code_are_those_of_the_command_line() {
        assert_eq!(resolve(&Settings::default()).unwrap(), Parameters::default());
    }

    #[test]
    fn contradictions_are_named() {
        let error =
            |pairs: &[(&str, &str)]| resolve(&Settings::from_pairs(pairs.iter().copied())).unwrap_err().to_string();
        assert!(error(&[("idf-low", "0.9")]).contains("from 0.9 (`idf-low`) to 0.8 (`idf-high`)"));
        assert!(error(&[("lexicons", "0"), ("drop-fraction", "0.3")]).contains("no effect"));
        assert!(error(&[("idf-low", "0.12345")]).contains("at most three decimals"));
    }
}
