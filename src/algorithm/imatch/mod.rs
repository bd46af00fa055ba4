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
//! A digest of few terms speaks for a document only if they are most of it: two texts of ten words that share four
//! informative ones need not be alike. So if fewer than [`ENOUGH`] terms of a document count, and those are less than the
//! fraction `min_share` of its distinct terms, its single digest is that of all its distinct terms: only documents of the
//! same words have it too. A warning is given if more than a fifth of the documents are such. With a list of words
//! `min_share` is 0 unless it is given: such a list names the features that decide, however few they are.
//!
//! **Cost.** The collection is read twice, once for counting, or once with `lexicon`. A look-up a term, a sort of the
//! terms that count, `K + 1` SHA-1 digests; 16 bytes for each digest of a document. A keyed hash of the term and the
//! lexicon's number decides which terms a lexicon lacks, so no lexicon is copied.
//!
//! **Where it is weak.** A fingerprint depends on the whole collection, unless a lexicon from elsewhere is given. Texts
//! of the same words are near-duplicates, whatever they say. Long documents: the more terms, the more of them differ;
//! from about 4 differing terms on hardly a pair is found. There is no threshold.

pub mod band;
mod ranks;
mod terms;

use super::builder::{Number, parameters};
use super::parameter::{LEXICON, LEXICON_WITHOUT, Origins, Parameter, Settings, Values};
use super::spec::Origin;
use super::weights::lexicon_row;
use super::{
    Agreement, Algorithm, CompareOn, Entry, Explain, Features, Forecast, Learned, Learns, PreparedAlgorithm, Profile,
    Provenance, Row, TermUse, Totals,
};
use crate::error::Error;
use crate::hash::{combine, mix};
use crate::kernel::{Level, sketch::combine_all};
use crate::lexicon::Lexicon;
use crate::similarity::Similarity;
use crate::tokenizer::{TokenDetail, Tokens};
use ranks::{Cut, Ranks};
use sha1::{Digest, Sha1};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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
    /// The fraction of a document's distinct terms that must count, where fewer than [`ENOUGH`] do; otherwise all its
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
static DROP_FREQUENT: Parameter = Parameter {
    name: "drop-frequent",
    placeholder: "P",
    default: "off",
    values: Values::OffShare(0..=999),
    help: "Leave out this share of the distinct terms, the most frequent ones; instead of `idf-low`",
    details: "The distinct terms of all documents, or of the lexicon, are ranked by the number of documents that have them; 5% leaves out the \
              first 5 of 100. Terms with equal numbers stay or go together: the cut between two numbers that comes nearest is taken. \
              Cannot be combined with `idf-low`.",
};
static DROP_RARE: Parameter = Parameter {
    name: "drop-rare",
    placeholder: "P",
    default: "off",
    values: Values::OffShare(0..=999),
    help: "Leave out this share of the distinct terms, the rarest ones; instead of `idf-high`",
    details: "As `drop-frequent`, from the other end. Often half of all terms have a single document: these never count, whatever the share \
              is. A lexicon lists only terms of two documents by default, and the share is of those that it lists (`min-df 1` lists all). \
              Cannot be combined with `idf-high`.",
};
static LEXICONS: Parameter = Parameter {
    name: "lexicons",
    placeholder: "K",
    default: "10",
    values: Values::Integer(0..=100),
    help: "Randomized lexicons beside the whole one",
    details: "Each makes a digest of its own, and any equal one makes a pair. 0 is plain I-Match, which finds a pair only if no term that \
              counts differs; it is the default with `lexicon-without`.",
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
static MIN_SHARE: Parameter = Parameter {
    name: "min-share",
    placeholder: "P",
    default: "0.5",
    values: Values::Thousandths(0..=1000),
    help: "Fraction of a short document's distinct terms that must count; with a list of words the default is 0",
    details: "If fewer than 20 terms of a document count, and they are less than this fraction of its distinct terms, all its terms make its \
              only digest: two texts of ten words are not alike because the same four of them count. Only documents of the same words are \
              then found. A warning is given if more than a fifth of the documents are such. 0 lets any `min-terms` terms speak for a document; it \
              is the default if the lexicon is a list of words, because such a list names the features that decide.",
};

/// The number of documents below which idf is not trusted.
pub const SMALL: u64 = 1000;

/// The number of counting terms from which they speak for a document, whatever share of its terms they are: that two
/// documents have as many informative terms in common, and no others, is no coincidence.
pub const ENOUGH: usize = 20;

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
    /// The share of the terms, the most frequent ones, that is left out instead of those below the band, in thousandths.
    pub drop_frequent: Option<u64>,
    /// The share of the terms, the rarest ones, that is left out instead of those above the band, in thousandths.
    pub drop_rare: Option<u64>,
    /// The fraction of a document's distinct terms that must count where fewer than [`ENOUGH`] do, in thousandths.
    pub min_share: u64,
}

impl Default for Parameters {
    /// As on the command line.
    fn default() -> Self {
        let (drop_frequent, drop_rare) = (None, None);
        Parameters { idf: 200..=800, lexicons: 10, drop: 500, min_terms: 4, drop_frequent, drop_rare, min_share: 500 }
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
    /// Whether the lexicon is a list of words, without document frequencies.
    is_list: bool,
    /// Document frequencies of terms that count; `None` if they depend on terms that are not known yet.
    informative: Option<RangeInclusive<u64>>,
    /// What was cut by rank, once the terms are known: the most frequent terms, and the rarest.
    cuts: [Option<Cut>; 2],
    /// The words that each explicit auxiliary lexicon lacks.
    left_out: Vec<Arc<Lexicon>>,
    /// How often features were made of a document of which too small a share of terms counts.
    thin: AtomicU64,
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
        let keys = (1..=parameters.lexicons as u64).map(mix).collect();
        let lacked = (u128::from(parameters.drop) << 64).div_ceil(1000);
        let (classes, documents, lexicon, is_list) = (None, 0, None, false);
        let (left_out, thin, origins) = (Vec::new(), AtomicU64::new(0), Origins::default());
        let (informative, cuts) = (None, [None, None]);
        IMatch {
            parameters,
            classes,
            documents,
            lexicon,
            is_list,
            informative,
            cuts,
            left_out,
            thin,
            keys,
            lacked,
            origins,
        }
    }

    /// Adds an auxiliary lexicon for each of these: the whole one without its terms.
    pub fn with_left_out(mut self, left_out: Vec<Arc<Lexicon>>) -> Self {
        self.left_out = left_out;
        self
    }

    /// The number of lexicons, the whole one included: the number of digests.
    fn lexicons(&self) -> usize {
        1 + self.left_out.len() + self.keys.len()
    }

    /// Sets the document frequencies of terms that count: from the cuts by rank where they are given, and from the band
    /// at the other ends.
    fn choose_frequencies(&mut self, lexicon: Option<&Lexicon>) {
        let Parameters { idf, drop_frequent, drop_rare, .. } = &self.parameters;
        let band = informative(self.documents, idf);
        if drop_frequent.is_none() && drop_rare.is_none() {
            self.informative = Some(band);
            return;
        }
        let Some(lexicon) = lexicon else {
            self.informative = None;
            return;
        };
        let ranks = Ranks::of(lexicon);
        self.cuts = [drop_frequent.map(|share| ranks.most_frequent(share)), drop_rare.map(|share| ranks.rarest(share))];
        let most = self.cuts[0].as_ref().map_or(*band.end(), |cut| cut.border.saturating_sub(1));
        let least = self.cuts[1].as_ref().map_or(*band.start(), |cut| cut.border + 1);
        // A term of a single document never counts.
        self.informative = Some(least.max(2)..=most);
    }

    /// The document frequencies of terms that count. They are part of the identity if they come from a lexicon.
    fn frequency_rows(&self) -> Vec<Row> {
        let Some(informative) = &self.informative else { return Vec::new() };
        let row = if self.classes.is_some() { Row::identity } else { Row::planned };
        let (fewest, most) = match self.documents < SMALL {
            true => ("all that two documents have", format!("as of {SMALL} documents")),
            false => ("from the band", "from the band".to_string()),
        };
        let [of_most, of_fewest] = &self.cuts;
        let cut = |cut: &Cut, which| format!("the {} {which} of {} terms are left out", cut.terms, cut.of);
        let fewest = of_fewest.as_ref().map_or(fewest.to_string(), |fewest| cut(fewest, "rarest"));
        let most = of_most.as_ref().map_or(most, |most| cut(most, "most frequent"));
        let fewest = format!("fewest documents that must have a term: {fewest}");
        let most = format!("most documents that may have a term: {most}");
        vec![
            row("least_df", *informative.start()).with(Provenance::derived(fewest)),
            row("most_df", *informative.end()).with(Provenance::derived(most)),
        ]
    }

    /// Where the number of randomized lexicons comes from if it was not given.
    fn origin_of_lexicons(&self) -> Provenance {
        match self.left_out.is_empty() {
            true => Provenance::DEFAULT,
            false => Provenance::derived("`lexicon-without` gives auxiliary lexicons instead"),
        }
    }

    /// Where the share of terms that must count comes from if it was not given.
    fn origin_of_min_share(&self) -> Provenance {
        match self.is_list {
            true => Provenance::derived("the words of a list decide, however few they are"),
            false => Provenance::DEFAULT,
        }
    }

    /// The rows of what decides which terms count.
    fn cut_rows(&self) -> Vec<Row> {
        let Parameters { idf, drop_frequent, drop_rare, .. } = &self.parameters;
        let origins = &self.origins;
        if self.is_list {
            return Vec::new();
        }
        let low = || Row::identity("idf_low", decimal(*idf.start())).with(origins.of(&IDF_LOW));
        let high = || Row::identity("idf_high", decimal(*idf.end())).with(origins.of(&IDF_HIGH));
        let frequent = |share| Row::identity("drop_frequent", decimal(share)).with(origins.of(&DROP_FREQUENT));
        let rare = |share| Row::identity("drop_rare", decimal(share)).with(origins.of(&DROP_RARE));
        vec![drop_frequent.map_or_else(low, frequent), drop_rare.map_or_else(high, rare)]
    }

    /// Whether a randomized lexicon, counted from 1, lacks the term of this hash. The hash is seeded, so this is too.
    pub fn lacks(&self, lexicon: usize, term: u64) -> bool {
        self.is_lacked(combine(self.keys[lexicon - 1], term))
    }

    #[inline]
    fn is_lacked(&self, hash: u64) -> bool {
        u128::from(hash) < self.lacked
    }

    /// Leaves in `weighted` the numbers of the tokens whose terms make digests, each term once, in the order of their
    /// text, and returns which these are.
    fn filter(&self, tokens: &Tokens, features: &mut Features) -> Kept {
        let Features { positions, weighted: kept, .. } = features;
        kept.clear();
        let Some(classes) = &self.classes else { return Kept::WithOwn };
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
        let which = self.kept(left - own, own, positions.len());
        match which {
            Kept::Counting if own > 0 => kept.retain(|&(is_own, _)| is_own == 0),
            Kept::All => {
                kept.clear();
                kept.extend(positions.iter().map(|&i| (0, i)));
            }
            _ => {}
        }
        // Compared by the first eight bytes, which distinguish nearly all terms, then by all bytes.
        kept.iter_mut().for_each(|(first, i)| *first = tokens.beginning(*i as usize));
        kept.sort_unstable_by_key(|&(first, _)| first);
        for alike in kept.chunk_by_mut(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            alike.sort_unstable_by_key(|&(_, i)| tokens.text(i as usize));
        }
        which
    }

    /// Which terms make the digests of a document with these numbers of terms: those that count, those of its own, and
    /// all distinct ones.
    fn kept(&self, counting: usize, own: usize, distinct: usize) -> Kept {
        if 2 * own > distinct || counting < self.parameters.min_terms {
            Kept::WithOwn
        } else if counting < ENOUGH && 1000 * counting < self.parameters.min_share as usize * distinct {
            Kept::All
        } else {
            Kept::Counting
        }
    }
}

/// The terms that make the digests of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// Those that count, under each lexicon.
    Counting,
    /// Also those that no other document has, under the whole lexicon alone: too few terms count, or most terms are of
    /// this kind. The document has no near-duplicate; these terms identify its copies.
    WithOwn,
    /// All of them, under the whole lexicon alone: too small a share counts.
    All,
}

/// Copies the terms that an auxiliary lexicon has. All terms are given by hashes, of which `is_lacked` decides, and by
/// their lengths. In `all` and `chosen` each term ends with a line break, which is part of its length; at least
/// [`AT_ONCE`] meaningless bytes follow the last term. Returns the numbers of chosen bytes and terms.
///
/// A randomized lexicon has about half of the terms: a copy that is overwritten is cheaper than a mispredicted branch.
#[inline]
fn choose(
    hashes: &[u64],
    is_lacked: impl Fn(u64) -> bool,
    lengths: impl Iterator<Item = usize>,
    all: &[u8],
    chosen: &mut [u8],
) -> (usize, usize) {
    let (mut from, mut to, mut count) = (0, 0, 0);
    for (&hash, length) in hashes.iter().zip(lengths) {
        let has = usize::from(!is_lacked(hash));
        let copied = if length <= AT_ONCE { AT_ONCE } else { length };
        chosen[to..to + copied].copy_from_slice(&all[from..from + copied]);
        from += length;
        to += length * has;
        count += has;
    }
    (to, count)
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
        let Parameters { lexicons, drop, min_terms, min_share, .. } = &self.parameters;
        let origins = &self.origins;
        let mut rows = self.cut_rows();
        rows.extend([
            Row::identity("lexicons", *lexicons).with(origins.of_or(&LEXICONS, self.origin_of_lexicons())),
            Row::identity("drop_fraction", decimal(*drop)).with(origins.of(&DROP_FRACTION)),
            Row::identity("min_terms", *min_terms).with(origins.of(&MIN_TERMS)),
            Row::identity("min_share", decimal(*min_share)).with(origins.of_or(&MIN_SHARE, self.origin_of_min_share())),
        ]);
        if self.documents > 0 {
            rows.extend(self.frequency_rows());
        }
        rows.extend(self.lexicon.clone());
        rows.extend(self.left_out_row());
        rows
    }

    fn learns(&self) -> Option<Learns> {
        self.classes.is_none().then_some(Learns::Terms)
    }

    fn learn(&mut self, learned: &Learned) {
        match learned {
            Learned::Terms(lexicon) => {
                self.documents = lexicon.documents();
                self.lexicon = lexicon_row(lexicon);
                self.is_list = lexicon.is_list();
                self.classes = if self.is_list {
                    Some(Classes::listed(lexicon))
                } else {
                    self.choose_frequencies(Some(lexicon));
                    self.informative.as_ref().map(|informative| Classes::new(lexicon, informative))
                };
            }
            // Only the number of documents, for a plan: no terms are counted.
            Learned::Totals(totals) if self.classes.is_none() => {
                self.documents = totals.fingerprints as u64;
                self.choose_frequencies(None);
            }
            _ => {}
        }
    }

    /// Appends the digests, which need the texts of the tokens. Appends none if there are too few terms for the first,
    /// because the others have no more.
    fn features(&self, tokens: &Tokens, features: &mut Features) {
        features.first_of_each(tokens.hashes());
        let kept = self.filter(tokens, features);
        // Shared by all threads: written only for the documents that are counted.
        if kept == Kept::All {
            self.thin.fetch_add(1, Ordering::Relaxed);
        }
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
        if kept != Kept::Counting {
            hashes.extend((1..self.lexicons()).flat_map(|_| ABSENT));
            return;
        }
        words.clear();
        words.extend(terms.iter().map(|&(_, i)| tokens.hashes()[i as usize]));
        words.resize(2 * terms.len(), 0);
        let (own, combined) = words.split_at_mut(terms.len());
        let lengths = || terms.iter().map(|&(length, _)| length as usize);
        for left_out in &self.left_out {
            let (length, count) = choose(own, |term| left_out.contains(term), lengths(), all, chosen);
            hashes.extend(first_words(&chosen[..length], count, min_terms));
        }
        for &key in &self.keys {
            combine_all(Level::current(), key, own, combined);
            let (length, count) = choose(combined, |hash| self.is_lacked(hash), lengths(), all, chosen);
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
        (equal > 0).then(|| Similarity::ratio(equal, self.lexicons() as u64))
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

    fn warnings(&self, documents: u64, _featureless: u64) -> Vec<String> {
        let of_terms = self.no_term_counts().or_else(|| self.few_documents());
        of_terms.into_iter().chain(self.many_thin(documents)).collect()
    }

    fn terms(&self, tokens: &Tokens) -> Option<TermUse> {
        let classes = self.classes.as_ref()?;
        let mut features = Features::default();
        features.first_of_each(tokens.hashes());
        let class = |i: &u32| classes.of(tokens.hashes()[*i as usize]);
        let of_class = |wanted| features.positions.iter().filter(move |i| class(i) == wanted);
        let distinct = features.positions.len();
        let mut counting: Vec<usize> = of_class(Class::Counts).map(|&i| i as usize).collect();
        counting.sort_unstable_by_key(|&i| tokens.text(i));
        let own = of_class(Class::Own).count();
        let note = match self.kept(counting.len(), own, distinct) {
            Kept::Counting => None,
            Kept::All => Some("too small a share counts (`min-share`): all distinct terms make the only digest"),
            Kept::WithOwn if 2 * own > distinct => {
                Some("most terms occur in no other document: they and those that count make the only digest")
            }
            Kept::WithOwn => Some("fewer terms count than `min-terms`"),
        };
        Some(TermUse { counting, distinct, note })
    }
}

impl IMatch {
    /// The warning that the cuts leave no document frequency between them.
    fn no_term_counts(&self) -> Option<String> {
        let none = self.informative.as_ref().filter(|informative| informative.is_empty() && !self.is_list)?;
        let [of_most, of_fewest] = &self.cuts;
        let least = if of_fewest.is_some() { DROP_RARE.name } else { IDF_HIGH.name };
        let most = if of_most.is_some() { DROP_FREQUENT.name } else { IDF_LOW.name };
        Some(format!(
            "no term counts, so that only copies are found: a term would have to be in at least {} documents (`{least}`) and in \
             at most {} (`{most}`); leave out fewer terms",
            none.start(),
            none.end()
        ))
    }

    /// The warning of a collection that is too small.
    fn few_documents(&self) -> Option<String> {
        let documents = self.documents;
        let from_file = self.lexicon.is_some();
        let few = self.classes.is_some() && !self.is_list && documents < SMALL && (documents > 0 || from_file);
        let informative = self.informative.as_ref().filter(|_| few)?;
        Some(format!(
            "I-Match judges terms by how many documents have them, and {documents}{} (copies counted once) are too few to do it well (below {SMALL}): every \
             term counts that from {} to {} of them have; `algo minhash` needs no other documents",
            if from_file { " of the lexicon" } else { "" },
            informative.start(),
            informative.end()
        ))
    }

    /// The warning of many documents of which too small a share of terms counts.
    fn many_thin(&self, documents: u64) -> Option<String> {
        let thin = self.thin.load(Ordering::Relaxed).min(documents);
        let warning = || {
            format!(
                "in {:.0} % of the documents fewer than {ENOUGH} terms count, and less than the fraction {} (`min-share`) of the distinct ones: \
                 of these only documents of the same words are found; `compare::compare` shows the terms that count",
                100.0 * thin as f64 / documents as f64,
                decimal(self.parameters.min_share),
            )
        };
        (5 * thin > documents).then(warning)
    }

    /// The row of the explicit auxiliary lexicons: the beginning of the digest of each list.
    fn left_out_row(&self) -> Option<Row> {
        let digest = |list: &Arc<Lexicon>| list.origin().map_or("", |origin| &origin.digest[..16]).to_string();
        let digests: Vec<String> = self.left_out.iter().map(digest).collect();
        let lengths: Vec<String> = self.left_out.iter().map(|list| list.len().to_string()).collect();
        let remark = format!("auxiliary lexicons without {} terms", lengths.join(" and "));
        let row = || Row::identity("lexicon_without", digests.join("+")).with(Provenance::derived(remark.clone()));
        (!digests.is_empty()).then(row)
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

fn prepare(settings: &Settings, _median_tokens: usize) -> Result<PreparedAlgorithm, Error> {
    Ok(PreparedAlgorithm::new(resolved(settings)?))
}

fn resolved(settings: &Settings) -> Result<IMatch, Error> {
    let imatch = IMatch::new(resolve(settings)?).with_left_out(settings.left_out().to_vec());
    Ok(IMatch { origins: settings.origins(), ..imatch })
}

fn forecast(settings: &Settings, median_tokens: usize, documents: u64) -> Result<Forecast, Error> {
    let mut imatch = resolved(settings)?;
    // The documents that were counted decide about terms.
    match settings.lexicon() {
        Some(lexicon) => imatch.learn(&Learned::Terms(Arc::clone(lexicon))),
        None => imatch.learn(&Learned::Totals(Totals { fingerprints: documents as usize, median_tokens })),
    }
    let Parameters { lexicons, drop, min_terms, .. } = &imatch.parameters;
    let mut notes = vec![
        "every pair with an equal digest is found; the curve is by how many terms that count are in one of the two documents only, a replaced \
         word being two"
            .to_string(),
    ];
    notes.extend(imatch.no_term_counts());
    if !imatch.left_out.is_empty() {
        notes.push("the curve is that of the randomized lexicons; explicit ones also find pairs that differ only in their words".into());
    }
    if imatch.is_list {
        notes.push("the terms of the list count, and no others, whatever the documents are".into());
    } else if imatch.documents < SMALL {
        notes.push(format!("below {SMALL} documents idf says little about a term; minhash needs no other documents"));
    }
    if median_tokens < 4 * min_terms {
        notes.push(format!(
            "many documents of {median_tokens} tokens will have fewer than {min_terms} terms that count, and no digest"
        ));
    }
    let digests = imatch.lexicons();
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
        IMatch::new(Parameters { lexicons, drop, min_terms, min_share: 0, ..Parameters::default() })
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
    fn few_terms_that_are_a_small_share_do_not_speak_for_a_document() {
        let of = |min_share: u64| IMatch::new(Parameters { min_share, ..Parameters::default() });
        let kept = |share: u64, counting: usize, distinct: usize| of(share).kept(counting, 0, distinct);
        assert_eq!([8, 9].map(|distinct| kept(500, 4, distinct)), [Kept::Counting, Kept::All]);
        assert_eq!([19, 20].map(|counting| kept(500, counting, 1000)), [Kept::All, Kept::Counting]);
        assert_eq!((kept(0, 4, 1000), kept(1000, 4, 5), kept(1000, 4, 4)), (Kept::Counting, Kept::All, Kept::Counting));
        // Too few are too few, whatever their share is.
        assert_eq!((kept(500, 3, 3), of(500).kept(10, 11, 21)), (Kept::WithOwn, Kept::WithOwn));
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
