//! The detector: which terms count, and the digests of a document under each lexicon.

use super::band;
use super::digests::{ABSENT, AT_ONCE, choose, digests, first_words};
use super::parameters::{DROP_FRACTION, DROP_FREQUENT, DROP_RARE, IDF_HIGH, IDF_LOW, LEXICONS, MIN_SHARE, MIN_TERMS};
use super::parameters::{Parameters, decimal, resolve};
use super::ranks::{Cut, Ranks};
use super::remarks;
use super::terms::{Class, Classes};
use super::unknown::unknown_words;
use crate::algorithm::parameter::{Origins, Settings};
use crate::algorithm::weights::lexicon_row;
use crate::algorithm::{Algorithm, CompareOn, Explain, Features, Learned, Learns, Profile, Provenance, Row};
use crate::error::Error;
use crate::hash::{combine, mix};
use crate::kernel::{Level, sketch::combine_all};
use crate::lexicon::Lexicon;
use crate::similarity::Similarity;
use crate::tokenizer::{TokenDetail, Tokens};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The number of documents below which idf is not trusted.
pub const SMALL: u64 = 1000;

/// The number of counting terms that identify a document, whatever share of its terms they are: that two documents have
/// as many informative terms in common, and no others, is not a coincidence.
pub const ENOUGH: usize = 20;

/// A digest of fewer terms than this identifies a document only if they are at least three quarters of its distinct terms;
/// otherwise a warning is given.
pub const FEW_TERMS: usize = 8;

/// Whether a digest of these terms that count is that of documents with rather different words: of fewer than [`FEW_TERMS`] terms
/// that are less than three quarters of the distinct ones, or of fewer than [`ENOUGH`] that are at most half of them.
pub(super) fn says_little(counting: usize, distinct: usize) -> bool {
    counting < FEW_TERMS && 4 * counting < 3 * distinct || counting < ENOUGH && 2 * counting <= distinct
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

/// The detector.
pub struct IMatch {
    pub(super) parameters: Parameters,
    /// The classes of terms, once they are known.
    pub(super) classes: Option<Classes>,
    /// The number of documents that the lexicon counts. Without a lexicon, the number that it would count; 0 if
    /// unknown.
    pub(super) documents: u64,
    /// The row of the lexicon, if it is from a file.
    pub(super) lexicon: Option<Row>,
    /// Whether the lexicon is a list of words, without document frequencies.
    pub(super) is_list: bool,
    /// Document frequencies of terms that count; `None` if they depend on terms that are not known yet.
    pub(super) informative: Option<RangeInclusive<u64>>,
    /// What was cut by rank, once the terms are known: the most frequent terms, and the rarest.
    pub(super) cuts: [Option<Cut>; 2],
    /// The words that each explicit auxiliary lexicon lacks.
    pub(super) left_out: Vec<Arc<Lexicon>>,
    /// The warning that some of these words are not in the lexicon.
    pub(super) unknown: Option<String>,
    /// For each randomized lexicon, the value that [`lacks`](Self::lacks) mixes into the hash of a term.
    pub(super) keys: Vec<u64>,
    /// A randomized lexicon lacks a term whose hash is below this: the fraction of 2⁶⁴, rounded up.
    pub(super) lacked: u128,
    pub(super) origins: Origins,
}

impl IMatch {
    /// A detector that has yet to learn the frequencies of terms; until then no term counts.
    pub fn new(parameters: Parameters) -> Self {
        let keys = (1..=parameters.lexicons as u64).map(mix).collect();
        let lacked = (u128::from(parameters.drop) << 64).div_ceil(1000);
        let (classes, documents, lexicon, is_list) = (None, 0, None, false);
        let (left_out, origins) = (Vec::new(), Origins::default());
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
            unknown: None,
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
    pub(super) fn lexicons(&self) -> usize {
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
    pub(super) fn kept(&self, counting: usize, own: usize, distinct: usize) -> Kept {
        if 2 * own > distinct || counting < self.parameters.min_terms {
            Kept::WithOwn
        } else if counting < ENOUGH.min(distinct) && 1000 * counting <= self.parameters.min_share as usize * distinct {
            Kept::All
        } else {
            Kept::Counting
        }
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

/// The terms that make the digests of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Those that count, under each lexicon.
    Counting,
    /// Also those that no other document has, under the whole lexicon alone: too few terms count, or most terms are of
    /// this kind. The document has no near-duplicate; these terms identify its copies.
    WithOwn,
    /// All of them, under the whole lexicon alone: too small a share counts.
    All,
}

impl Algorithm for IMatch {
    fn profile(&self) -> Profile {
        // The position of each token, and twice the hash and the text of those that are kept.
        Profile::new("imatch", "imatch", CompareOn::Fingerprints).reading(TokenDetail::Texts).taking(40)
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
        // Digests of documents at exactly this share were others once.
        rows.extend((*min_share > 0).then(|| Row::identity("min_share_is", "exclusive").with(Provenance::DEFAULT)));
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
                self.unknown = unknown_words(&self.left_out, lexicon);
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
    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        features.first_of_each(tokens.hashes());
        let kept = self.filter(tokens, features);
        features.remark = match kept {
            Kept::All => Some(remarks::small_share()),
            Kept::Counting if says_little(features.weighted.len(), features.positions.len()) => {
                Some(remarks::few_terms(tokens, features))
            }
            Kept::Counting | Kept::WithOwn => None,
        };
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

pub(super) fn resolved(settings: &Settings) -> Result<IMatch, Error> {
    let imatch = IMatch::new(resolve(settings)?).with_left_out(settings.left_out().to_vec());
    Ok(IMatch { origins: settings.origins(), ..imatch })
}
