//! The detector as an algorithm: what it learns, and the features of a document.

use super::detector::IMatch;
use super::digests::{ABSENT, AT_ONCE, choose, digests, first_words};
use super::kept::Kept;
use super::parameters::{DROP_FRACTION, LEXICONS, MIN_SHARE, MIN_TERMS, Parameters, decimal};
use super::remarks;
use super::terms::{Classes, Known};
use super::unknown::unknown_words;
use crate::algorithm::weights::lexicon_row;
use crate::algorithm::{Algorithm, CompareOn, Explain, Features, Learned, Learns, Profile, Provenance, Row};
use crate::hash::{combine, mix};
use crate::kernel::{Level, sketch::combine_all};
use crate::similarity::Similarity;
use crate::tokenizer::{TokenDetail, Tokens};

impl Algorithm for IMatch {
    fn profile(&self) -> Profile {
        let left_out = self.left_out.iter().map(|list| list.bytes_held()).sum::<u64>();
        let bytes_learned = self.shared + left_out + self.known.as_ref().map_or(0, Known::bytes_held);
        // The position of each token, and the class of each term: of long documents no more is kept.
        Profile::new("imatch", "imatch", CompareOn::Fingerprints)
            .reading(TokenDetail::Texts)
            .taking(5)
            .holding(bytes_learned)
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
        self.known.is_none().then_some(Learns::Terms)
    }

    fn learn(&mut self, learned: &Learned) {
        match learned {
            Learned::Terms(lexicon) => {
                self.documents = lexicon.documents();
                self.lexicon = lexicon_row(lexicon);
                self.is_list = lexicon.is_list();
                self.unknown = unknown_words(&self.left_out, lexicon);
                self.known = if self.is_list {
                    Some(Known::Classes(Classes::listed(lexicon)))
                } else {
                    self.choose_frequencies(Some(lexicon));
                    self.informative.as_ref().map(|informative| Known::of(lexicon, informative))
                };
                // The lexicon of a file stays in memory: it is shared.
                self.shared = if lexicon.origin().is_some() { lexicon.bytes_held() } else { 0 };
            }
            // Only the number of documents, for a plan: no terms are counted.
            Learned::Totals(totals) if self.known.is_none() => {
                self.documents = totals.fingerprints as u64;
                self.choose_frequencies(None);
            }
            _ => {}
        }
    }

    /// Appends the digests, which need the texts of the tokens. Appends none if there are too few terms for the first,
    /// because the others have no more.
    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        if tokens.may_be_taken() {
            return self.features_of_long(tokens, features);
        }
        features.first_of_each(tokens.hashes());
        let kept = self.filter(tokens, features);
        let (terms, all) = (features.weighted.iter().map(|&(_, i)| i), &features.positions);
        features.remark = remarks::remark(kept, tokens, terms, (all.len(), || remarks::rank(tokens, all)));
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
