//! Finds equal runs of a few words: the common runs of a document with earlier ones and with itself.

use crate::hash::shingle_hashes;
use crate::passages::Run;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;

/// How many consecutive words must be equal for two places to be paired.
///
/// Of n words with e changed, at least ⌈(n − e)/(e + 1)⌉ consecutive words are unchanged: 4 for a long text with every fifth word
/// changed, 3 for 15 words with 3 changed. With 3 of 15 changed at random, 454 of the 455 choices leave 4.
pub(super) const GRAM: usize = 4;

/// A place is paired with this many of the first places with the same words, and this many of the nearest before it. The first
/// connect copies of one original; the nearest connect versions of a page that drifted away from the first.
const FIRST_PAIRED: usize = 3;
const NEAREST_PAIRED: usize = 3;

/// Of a text in more places, a place is also paired with its place in this many earlier documents: those that share most with its document.
/// So whether two documents are compared as a whole does not depend on others that have a part of both.
const MOST_PAIRED: usize = 8;

/// A document has a text in many places if this many runs of [`GRAM`] words in a row are frequent: a paragraph of 15 words.
const FREQUENT: usize = 12;

/// Two documents share something of their own if they share this many runs of [`GRAM`] words that are not frequent; or half of all.
const SHARED: usize = 12;

/// To find those that share most, so many places are visited for each word of a document, the rarest runs first.
const MAX_VISITED: usize = 8;

/// The words of all documents, concatenated. A place is an index into them.
pub(super) struct Text {
    pub words: Vec<u64>,
    /// The start of each document, and the end of the last.
    starts: Vec<usize>,
}

impl Text {
    pub fn new<'a>(documents: impl Iterator<Item = &'a [u64]> + Clone) -> Self {
        let all = documents.clone().map(<[u64]>::len).sum();
        let mut text = Text { words: Vec::with_capacity(all), starts: vec![0] };
        for words in documents {
            text.words.extend_from_slice(words);
            text.starts.push(text.words.len());
        }
        text
    }

    pub fn documents(&self) -> usize {
        self.starts.len() - 1
    }

    /// The places of a document.
    pub fn range(&self, document: usize) -> Range<usize> {
        self.starts[document]..self.starts[document + 1]
    }

    /// The size of the words at these places.
    pub fn size(&self, places: Range<usize>) -> usize {
        super::size(&self.words[places])
    }

    /// The document that a place is in.
    pub fn document_at(&self, place: usize) -> usize {
        self.starts.partition_point(|&start| start <= place) - 1
    }
}

/// For each place, the other places where the same [`GRAM`] words begin.
pub(super) struct Grams {
    /// Places whose words occur more than once, grouped by words, ascending in each group.
    places: Vec<usize>,
    /// The start of each group of equal words in `places`, and the end of the last.
    groups: Vec<usize>,
    /// The group of each place, or [`UNIQUE`].
    group_of: Vec<usize>,
}

const UNIQUE: usize = usize::MAX;

impl Grams {
    /// Memory: 24 bytes a word, and 16 more during construction.
    pub fn new(text: &Text) -> Self {
        let mut hashed: Vec<(u64, usize)> = Vec::with_capacity(text.words.len());
        let mut hashes = Vec::new();
        for places in (0..text.documents()).map(|document| text.range(document)).filter(|places| places.len() >= GRAM) {
            hashes.clear();
            shingle_hashes(&text.words[places.clone()], GRAM, &mut hashes);
            hashed.extend(hashes.iter().copied().zip(places.start..));
        }
        hashed.par_sort_unstable();
        let mut grams = Grams { places: Vec::new(), groups: vec![0], group_of: vec![UNIQUE; text.words.len()] };
        for group in hashed.chunk_by(|x, y| x.0 == y.0).filter(|group| group.len() > 1) {
            for &(_, place) in group {
                grams.group_of[place] = grams.groups.len() - 1;
                grams.places.push(place);
            }
            grams.groups.push(grams.places.len());
        }
        grams
    }

    /// How many groups have so many places that not all pairs are compared.
    pub fn frequent(&self) -> usize {
        (0..self.groups.len() - 1).filter(|&group| self.is_frequent(group)).count()
    }

    fn is_frequent(&self, group: usize) -> bool {
        self.groups[group + 1] - self.groups[group] > FIRST_PAIRED + NEAREST_PAIRED + 1
    }

    /// How many of these places are outside of frequent runs of four words.
    pub fn rare(&self, places: Range<usize>) -> usize {
        let (mut rare, mut end) = (places.len(), places.start);
        for place in places.start..(places.end + 1).saturating_sub(GRAM) {
            let group = self.group_of[place];
            if group != UNIQUE && self.is_frequent(group) {
                rare -= place + GRAM - end.max(place);
                end = place + GRAM;
            }
        }
        rare
    }

    /// The earlier places in the same group.
    fn earlier(&self, group: usize, place: usize) -> &[usize] {
        let group = match group {
            UNIQUE => &[],
            group => &self.places[self.groups[group]..self.groups[group + 1]],
        };
        &group[..group.partition_point(|&other| other < place)]
    }

    /// The earlier places that this one is paired with, given the places of the documents that share most with its own.
    fn before<'a>(&'a self, place: usize, sharing: &'a [Range<usize>]) -> impl Iterator<Item = usize> + 'a {
        let before = self.earlier(self.group_of[place], place);
        let first = before.len().min(FIRST_PAIRED);
        let nearest = before.len().saturating_sub(NEAREST_PAIRED).max(first);
        let between = &before[first..nearest];
        let in_document = |document: &Range<usize>| {
            let next = between.get(between.partition_point(|&other| other < document.start))?;
            Some(*next).filter(|next| document.contains(next))
        };
        let sharing = if between.is_empty() { &[] } else { sharing };
        before[..first].iter().chain(&before[nearest..]).copied().chain(sharing.iter().filter_map(in_document))
    }

    /// The places of the earlier documents that share most with a document, at most [`MOST_PAIRED`], if it has a text that is in many
    /// places: by the number of runs of [`GRAM`] words that they share, then in order.
    ///
    /// Cost: linear in the words of the document, times [`MAX_VISITED`], and a sort of them.
    fn sharing(&self, text: &Text, own: &Range<usize>) -> Vec<Range<usize>> {
        let mut in_row = 0;
        let has_frequent = self.group_of[own.clone()].iter().any(|&group| {
            in_row = if group != UNIQUE && self.is_frequent(group) { in_row + 1 } else { 0 };
            in_row >= FREQUENT
        });
        if !has_frequent {
            return Vec::new();
        }
        let groups = self.group_of[own.clone()].iter().filter(|group| **group != UNIQUE);
        let mut groups: Vec<(usize, usize)> = groups
            .map(|&group| (self.earlier(group, own.start).len(), group))
            .filter(|(places, _)| *places > 0)
            .collect();
        groups.sort_unstable();
        groups.dedup();
        let mut left = MAX_VISITED * own.len();
        let is_visited = |(places, _): &&(usize, usize)| {
            let is_visited = *places <= left;
            left -= if is_visited { *places } else { left };
            is_visited
        };
        let visited = &groups[..groups.iter().take_while(is_visited).count()];
        let is_enough = |all: usize, frequent: usize| all - frequent >= SHARED || 2 * all >= groups.len();
        let frequent = visited.iter().filter(|(_, group)| self.is_frequent(*group)).count();
        // A notice in many places, among words of its own: no document can share enough.
        if !is_enough(visited.len(), frequent) {
            return Vec::new();
        }
        // Each document once for each run that it shares, and whether that is frequent.
        let mut shared: Vec<(usize, bool)> = Vec::new();
        for &(_, group) in visited {
            let (is_frequent, mut last) = (self.is_frequent(group), usize::MAX);
            for &place in self.earlier(group, own.start) {
                let document = text.document_at(place);
                shared.extend((document != last).then_some((document, is_frequent)));
                last = document;
            }
        }
        shared.sort_unstable();
        let documents = shared.chunk_by(|one, other| one.0 == other.0);
        let counted = documents.map(|runs| (runs[0].0, runs.len(), runs.iter().filter(|run| run.1).count()));
        let enough = counted.filter(|&(_, all, frequent)| is_enough(all, frequent));
        let mut most: Vec<(usize, usize)> = enough.map(|(document, all, _)| (document, all)).collect();
        most.sort_by_key(|&(document, all)| (Reverse(all), document));
        most.truncate(MOST_PAIRED);
        most.into_iter().map(|(document, _)| text.range(document)).collect()
    }

    /// The pairs of these places, which are those of a document, with earlier ones, as the distance and the later place. Of consecutive pairs
    /// only the first: it is extended over the others.
    fn pairs(&self, text: &Text, places: Range<usize>) -> Vec<(usize, usize)> {
        let sharing = self.sharing(text, &places);
        let mut pairs = Vec::new();
        let (mut last, mut now): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for b in places {
            std::mem::swap(&mut last, &mut now);
            now.clear();
            now.extend(self.before(b, &sharing));
            pairs.extend(now.iter().filter(|&&a| a == 0 || !last.contains(&(a - 1))).map(|&a| (b - a, b)));
        }
        pairs
    }

    /// The maximal common runs of a document with earlier ones and with earlier parts of itself. Each comes with the index of the other
    /// document; they are ordered by that and by place, where `b` is the place in this document. A run that would overlap its own copy is
    /// shortened.
    ///
    /// The flag says that the document repeats itself so much that runs were cut short.
    ///
    /// Cost: linear in the words, times [`MAX_RUN_RATIO`] at worst.
    pub fn runs(&self, text: &Text, document: usize) -> (Vec<(usize, Run)>, bool) {
        let own = text.range(document);
        let mut pairs = self.pairs(text, own.clone());
        // Ordered by diagonal: a run is extended from its first pair only.
        pairs.sort_unstable();
        let (mut runs, mut steps) = (Vec::new(), MAX_RUN_RATIO * own.len());
        let (mut diagonal, mut end) = (0, 0);
        for (apart, b) in pairs {
            if apart == diagonal && b < end {
                continue;
            }
            let other = text.document_at(b - apart);
            let least = if apart == diagonal { end } else { 0 };
            let run = extend(&text.words, apart, b, (text.range(other), own.clone()), least, steps);
            steps -= run.tokens.min(steps);
            // Equal hashes need not be equal words.
            if run.tokens > 0 {
                (diagonal, end) = (apart, run.b + run.tokens);
                runs.push((other, run));
            }
        }
        runs.sort_unstable_by_key(|&(other, run)| (other, run.b, run.a));
        (runs, steps == 0)
    }
}

/// Maximum total length of the common runs of a document, as a multiple of its own length.
const MAX_RUN_RATIO: usize = 64;

/// The run through `b` on a diagonal, within two documents, starting at `least` or later in the second.
fn extend(
    words: &[u64],
    apart: usize,
    b: usize,
    (other, own): (Range<usize>, Range<usize>),
    least: usize,
    steps: usize,
) -> Run {
    let a = b - apart;
    // Never longer than the distance: the two places of a run in one document do not overlap.
    let limit = steps.max(GRAM);
    let same = |(x, y): &(&u64, &u64)| x == y;
    let after = words[a..other.end].iter().zip(&words[b..own.end]).take(apart.min(limit)).take_while(same).count();
    if after == 0 {
        return Run { a, b, tokens: 0 };
    }
    let back = (a - other.start).min(b - own.start.max(least)).min(apart - after).min(limit);
    let before = words[..a].iter().rev().zip(words[..b].iter().rev()).take(back).take_while(same).count();
    Run { a: a - before, b: b - before, tokens: before + after }
}
