//! The detector: which terms count, and the digests of a document under each lexicon.

use super::band;
use super::kept::Kept;
use super::parameters::{DROP_FREQUENT, DROP_RARE, IDF_HIGH, IDF_LOW};
use super::parameters::{Parameters, decimal, resolve};
use super::ranks::{Cut, Ranks};
use super::terms::{Class, Known};
use crate::algorithm::parameter::{Origins, Settings};
use crate::algorithm::{Features, Provenance, Row};
use crate::error::Error;
use crate::hash::{combine, mix};
use crate::lexicon::Lexicon;
use crate::tokenizer::Tokens;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The number of documents below which idf is not trusted.
pub const SMALL: u64 = 1000;

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
    /// What is known about terms, once they were counted.
    pub(super) known: Option<Known>,
    /// The number of documents that the lexicon counts. Without a lexicon, the number that it would count; 0 if
    /// unknown.
    pub(super) documents: u64,
    /// The row of the lexicon, if it is from a file.
    pub(super) lexicon: Option<Row>,
    /// Whether the lexicon is a list of words, without document frequencies.
    pub(super) is_list: bool,
    /// Bytes of memory of a lexicon that others have too.
    pub(super) shared: u64,
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
        let (known, documents, lexicon, is_list) = (None, 0, None, false);
        let (left_out, origins) = (Vec::new(), Origins::default());
        let (informative, cuts) = (None, [None, None]);
        IMatch {
            parameters,
            known,
            documents,
            lexicon,
            is_list,
            shared: 0,
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
    pub(super) fn choose_frequencies(&mut self, lexicon: Option<&Lexicon>) {
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
    pub(super) fn frequency_rows(&self) -> Vec<Row> {
        let Some(informative) = &self.informative else { return Vec::new() };
        let row = if self.known.is_some() { Row::identity } else { Row::planned };
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
    pub(super) fn origin_of_lexicons(&self) -> Provenance {
        match self.left_out.is_empty() {
            true => Provenance::DEFAULT,
            false => Provenance::derived("`lexicon-without` gives auxiliary lexicons instead"),
        }
    }

    /// Where the share of terms that must count comes from if it was not given.
    pub(super) fn origin_of_min_share(&self) -> Provenance {
        match self.is_list {
            true => Provenance::derived("the words of a list decide, however few they are"),
            false => Provenance::DEFAULT,
        }
    }

    /// The rows of what decides which terms count.
    pub(super) fn cut_rows(&self) -> Vec<Row> {
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

    /// Whether a lexicon, counted from 1 after the whole one, lacks the term of this hash.
    pub(super) fn is_left_out(&self, lexicon: usize, term: u64) -> bool {
        match lexicon.checked_sub(self.left_out.len()) {
            None | Some(0) => self.left_out[lexicon - 1].contains(term),
            Some(randomized) => self.lacks(randomized, term),
        }
    }

    #[inline]
    pub(super) fn is_lacked(&self, hash: u64) -> bool {
        u128::from(hash) < self.lacked
    }

    /// Leaves in `weighted` the numbers of the tokens whose terms make digests, each term once, in the order of their
    /// text, and returns which these are.
    pub(super) fn filter(&self, tokens: &Tokens, features: &mut Features) -> Kept {
        let Features { positions, weighted: kept, frequencies, missing, .. } = features;
        kept.clear();
        let Some(known) = &self.known else { return Kept::WithOwn };
        kept.resize(positions.len(), (0, 0));
        let (mut left, mut own) = (0, 0);
        let (terms, mut at) = (positions.iter().map(|&i| tokens.hashes()[i as usize]), positions.iter());
        known.each_class(terms, frequencies, missing, |class| {
            // Without a branch, because it would be unpredictable.
            kept[left] = (u64::from(class == Class::Own), at.next().copied().unwrap_or(0));
            left += usize::from(class != Class::Passed);
            own += usize::from(class == Class::Own);
        });
        kept.truncate(left);
        let which = Kept::of(&self.parameters, left - own, own, positions.len());
        match which {
            Kept::Counting if own > 0 => kept.retain(|&(is_own, _)| is_own == 0),
            Kept::All => {
                kept.clear();
                kept.extend(positions.iter().map(|&i| (0, i)));
            }
            _ => {}
        }
        kept.iter_mut().for_each(|(first, i)| *first = tokens.beginning(*i as usize));
        sort_by_text(tokens, kept);
        which
    }

    /// The row of the explicit auxiliary lexicons: the beginning of the digest of each list.
    pub(super) fn left_out_row(&self) -> Option<Row> {
        let digest = |list: &Arc<Lexicon>| list.origin().map_or("", |origin| &origin.digest[..16]).to_string();
        let digests: Vec<String> = self.left_out.iter().map(digest).collect();
        let lengths: Vec<String> = self.left_out.iter().map(|list| list.len().to_string()).collect();
        let remark = format!("auxiliary lexicons without {} terms", lengths.join(" and "));
        let row = || Row::identity("lexicon_without", digests.join("+")).with(Provenance::derived(remark.clone()));
        (!digests.is_empty()).then(row)
    }
}

/// Sorts the numbers of tokens, each with the first eight bytes of its text, by their texts.
pub(super) fn sort_by_text(tokens: &Tokens, terms: &mut [(u64, u32)]) {
    // The first eight bytes distinguish nearly all terms.
    terms.sort_unstable_by_key(|&(first, _)| first);
    for alike in terms.chunk_by_mut(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
        alike.sort_unstable_by_key(|&(_, i)| tokens.text(i as usize));
    }
}

pub(super) fn resolved(settings: &Settings) -> Result<IMatch, Error> {
    let imatch = IMatch::new(resolve(settings)?).with_left_out(settings.left_out().to_vec());
    Ok(IMatch { origins: settings.origins(), ..imatch })
}
