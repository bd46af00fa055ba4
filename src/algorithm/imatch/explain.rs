//! What I-Match says about a pair, a document and a run.

use super::detector::{IMatch, SMALL};
use super::digests::{ABSENT, digests};
use super::kept::{ENOUGH, FEW_TERMS, Kept, says_little};
use super::parameters::{DROP_FREQUENT, DROP_RARE, IDF_HIGH, IDF_LOW, decimal};
use super::remarks;
use super::terms::{Class, Known};
use crate::algorithm::{Agreement, Algorithm, Explain, Features, RunSummary, TermUse};
use crate::error::Error;
use crate::similarity::Similarity;
use crate::tokenizer::Tokens;

impl Explain for IMatch {
    fn check_learned(&self) -> Result<(), Error> {
        self.known.as_ref().map_or(Ok(()), Known::check)
    }

    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        Some(self.compare(a, b).unwrap_or(Similarity::ZERO))
    }

    fn agreement(&self, a: &[u64], b: &[u64]) -> Option<Vec<Agreement>> {
        // A lexicon that leaves too few terms of both has no digests to compare.
        let either = || digests(a).zip(digests(b)).filter(|(a, b)| *a != ABSENT || *b != ABSENT);
        Some(vec![Agreement { what: "digests", equal: either().filter(|(a, b)| a == b).count(), of: either().count() }])
    }

    fn warnings(&self, run: &RunSummary) -> Vec<String> {
        let of_terms = self.no_term_counts().or_else(|| self.few_documents());
        let of_terms = of_terms.into_iter().chain(self.unknown.clone());
        of_terms.chain(self.small_shares(run)).chain(weak_digests(run)).collect()
    }

    fn terms(&self, tokens: &Tokens) -> Option<TermUse> {
        let known = self.known.as_ref()?;
        let mut features = Features::default();
        features.first_of_each(tokens.hashes());
        let class = |i: &u32| known.class(tokens.hashes()[*i as usize]);
        let of_class = |wanted| features.positions.iter().filter(move |i| class(i) == wanted);
        let distinct = features.positions.len();
        let mut counting: Vec<usize> = of_class(Class::Counts).map(|&i| i as usize).collect();
        counting.sort_unstable_by_key(|&i| tokens.text(i));
        let own = of_class(Class::Own).count();
        let note = match Kept::of(&self.parameters, counting.len(), own, distinct) {
            Kept::Counting if says_little(counting.len(), distinct) => {
                Some("few terms count: documents with the same ones are equal, whatever their other words are")
            }
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
    pub(super) fn no_term_counts(&self) -> Option<String> {
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
        let few = self.known.is_some() && !self.is_list && documents < SMALL && (documents > 0 || from_file);
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
    fn small_shares(&self, run: &RunSummary) -> Option<String> {
        let (count, _) = run.remarks.of(remarks::SMALL_SHARE)?;
        let warning = || {
            format!(
                "in {:.0} % of the documents fewer than {ENOUGH} terms count, and at most the fraction {} (`min-share`) of the distinct ones: \
                 of these only documents of the same words are found; `compare::compare` shows the terms that count",
                100.0 * count as f64 / run.documents as f64,
                decimal(self.parameters.min_share),
            )
        };
        (5 * count > run.documents).then(warning)
    }
}

/// The warning of documents whose digest rests on a small part of their terms.
fn weak_digests(run: &RunSummary) -> Option<String> {
    let (count, example) = run.remarks.of(remarks::FEW_TERMS)?;
    let (documents, have) = if count == 1 { ("document", "has") } else { ("documents", "have") };
    Some(format!(
        "{count} {documents} {have} a digest of few terms (fewer than {FEW_TERMS} and less than three quarters of the distinct ones, or fewer \
         than {ENOUGH} and at most half), such as the {example}: documents with the same ones are reported as equal, whatever their \
         other words are; raise `min-share` or `min-terms`, or compare such pairs with `compare::compare`"
    ))
}
