//! The digests of long documents: the same as those of others, in little memory for each token.
//!
//! Of the tokens of a long document only the positions of those that make digests are kept, sorted by their texts in several runs.
//! All digests are then made in one pass over them, in which the runs are merged, without copies of the texts.

use super::detector::{IMatch, sort_by_text};
use super::digests::{ABSENT, WORDS, words_of};
use super::kept::{ENOUGH, Kept};
use super::remarks;
use super::terms::Class;
use crate::algorithm::Features;
use crate::tokenizer::Tokens;
use sha1::{Digest, Sha1};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The number of terms that are looked up or sorted at once.
const AT_ONCE: usize = if cfg!(test) { 1 << 5 } else { 1 << 18 };

/// The digest of the terms so far under one lexicon.
#[derive(Clone, Default)]
struct Joined {
    sha1: Sha1,
    terms: usize,
}

impl Joined {
    fn add(&mut self, term: &str) {
        if self.terms > 0 {
            self.sha1.update(b"\n");
        }
        self.sha1.update(term);
        self.terms += 1;
    }

    fn words(self, min_terms: usize) -> [u64; WORDS] {
        if self.terms < min_terms { ABSENT } else { words_of(&self.sha1.finalize()) }
    }
}

impl IMatch {
    /// As [`features`](crate::algorithm::Algorithm::features), for a long document.
    pub(super) fn features_of_long(&self, tokens: &Tokens, features: &mut Features) {
        features.first_of_each(tokens.hashes());
        let mut terms = std::mem::take(&mut features.positions);
        let kept = self.leave_kept(tokens, &mut terms, features);
        features.made_of = Some(terms.len());
        features.positions = terms;
        let (terms, min_terms) = (&features.positions, self.parameters.min_terms);
        if terms.len() < min_terms {
            return;
        }
        let mut digests = vec![Joined::default(); if kept == Kept::Counting { self.lexicons() } else { 1 }];
        each_by_text(tokens, terms, |i| {
            let (term, text) = (tokens.hashes()[i as usize], tokens.text(i as usize));
            digests[0].add(text);
            for (lexicon, digest) in digests.iter_mut().enumerate().skip(1) {
                if !self.is_left_out(lexicon, term) {
                    digest.add(text);
                }
            }
        });
        features.hashes.extend(digests.into_iter().flat_map(|digest| digest.words(min_terms)));
        features.hashes.resize(WORDS * self.lexicons(), 0);
    }

    /// Leaves of the distinct terms of a document those that make its digests, in [runs](each_by_text). Makes the remark.
    fn leave_kept(&self, tokens: &Tokens, terms: &mut Vec<u32>, features: &mut Features) -> Kept {
        let Features { bytes: classes, weighted: sorted, frequencies, missing, remark, .. } = features;
        let (distinct, term) = (terms.len(), |&i: &u32| tokens.hashes()[i as usize]);
        classes.clear();
        let Some(known) = &self.known else {
            terms.clear();
            return Kept::WithOwn;
        };
        for terms in terms.chunks(AT_ONCE) {
            known.each_class(terms.iter().map(term), frequencies, missing, |class| classes.push(class as u8));
        }
        let of_class = |class: Class| classes.iter().filter(|&&other| other == class as u8).count();
        let which = Kept::of(&self.parameters, of_class(Class::Counts), of_class(Class::Own), distinct);
        let rank = remarks::rank(tokens, terms);
        let mut own_classes = classes.iter().copied();
        terms.retain(|_| {
            let class = own_classes.next();
            let is = |other: Class| class == Some(other as u8);
            match which {
                Kept::All => true,
                Kept::Counting => is(Class::Counts),
                Kept::WithOwn => is(Class::Counts) || is(Class::Own),
            }
        });
        // In the order of the document, which is that of the memory.
        terms.sort_unstable();
        for run in terms.chunks_mut(AT_ONCE) {
            sorted.clear();
            sorted.extend(run.iter().map(|&i| (tokens.beginning(i as usize), i)));
            sort_by_text(tokens, sorted);
            run.iter_mut().zip(sorted.iter()).for_each(|(term, &(_, i))| *term = i);
        }
        // If something is remarked, there are few terms, and these in one run.
        const { assert!(ENOUGH < AT_ONCE) };
        *remark = remarks::remark(which, tokens, terms.iter().copied(), (distinct, || rank));
        which
    }
}

/// Passes the numbers of tokens to a function in the order of their texts. They are in runs of [`AT_ONCE`], each in this order.
fn each_by_text(tokens: &Tokens, terms: &[u32], mut each: impl FnMut(u32)) {
    let mut runs: Vec<_> = terms.chunks(AT_ONCE).map(<[u32]>::iter).collect();
    let key = |i: u32, run| Reverse((tokens.beginning(i as usize), tokens.text(i as usize), i, run));
    let mut next = |run: usize| runs[run].next().map(|&i| key(i, run));
    let mut heap: BinaryHeap<_> = (0..terms.len().div_ceil(AT_ONCE)).filter_map(&mut next).collect();
    while let Some(mut least) = heap.peek_mut() {
        let Reverse((_, _, i, run)) = *least;
        match next(run) {
            Some(later) => *least = later,
            None => drop(PeekMut::pop(least)),
        }
        each(i);
    }
}
