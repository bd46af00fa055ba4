//! Where the same few words in a row stand: the runs that a document has in common with those before it, and with itself.

use crate::hash::shingle_hashes;
use crate::passages::Run;
use rayon::prelude::*;
use std::ops::Range;

/// How many words in a row must be equal for two places to meet.
///
/// Of n words with e of them changed, ⌈(n − e)/(e + 1)⌉ in a row are left at least: 4 for a long text with every fifth word
/// changed, 3 for 15 words with 3 changed; and with 3 of 15 changed at random, 454 of the 455 ways leave 4.
pub(super) const GRAM: usize = 4;

/// A place meets so many of the first places with its words, and so many of those next before it. The first ones are where
/// copies of one original meet; the next ones are where versions of a page meet that drifted away from the first.
const FIRST: usize = 3;
const NEXT: usize = 3;

/// The words of all documents one after the other. A place is a number of a word here.
pub(super) struct Text {
    pub words: Vec<u64>,
    /// Where each document begins, and where the last one ends.
    starts: Vec<usize>,
}

impl Text {
    pub fn new<'a>(documents: impl Iterator<Item = &'a [u64]>) -> Self {
        let mut text = Text { words: Vec::new(), starts: vec![0] };
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

    /// How many words these places count for.
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
    /// Places of what stands more than once, by their words, then ascending.
    places: Vec<usize>,
    /// Where each group of equal words begins in `places`, and where the last one ends.
    groups: Vec<usize>,
    /// The group of each place, or [`ALONE`].
    group_of: Vec<usize>,
}

const ALONE: usize = usize::MAX;

impl Grams {
    /// Memory: 24 bytes a word, and 16 more while it is made.
    pub fn new(text: &Text) -> Self {
        let mut hashed: Vec<(u64, usize)> = Vec::with_capacity(text.words.len());
        let mut hashes = Vec::new();
        for places in (0..text.documents()).map(|document| text.range(document)).filter(|places| places.len() >= GRAM) {
            hashes.clear();
            shingle_hashes(&text.words[places.clone()], GRAM, &mut hashes);
            hashed.extend(hashes.iter().copied().zip(places.start..));
        }
        hashed.par_sort_unstable();
        let mut grams = Grams { places: Vec::new(), groups: vec![0], group_of: vec![ALONE; text.words.len()] };
        for group in hashed.chunk_by(|x, y| x.0 == y.0).filter(|group| group.len() > 1) {
            for &(_, place) in group {
                grams.group_of[place] = grams.groups.len() - 1;
                grams.places.push(place);
            }
            grams.groups.push(grams.places.len());
        }
        grams
    }

    /// How many groups have so many places that not all of them meet.
    pub fn frequent(&self) -> usize {
        (0..self.groups.len() - 1).filter(|&group| self.is_frequent(group)).count()
    }

    fn is_frequent(&self, group: usize) -> bool {
        self.groups[group + 1] - self.groups[group] > FIRST + NEXT + 1
    }

    /// How many of these places are in no frequent run of four words among them.
    pub fn rare(&self, places: Range<usize>) -> usize {
        let (mut rare, mut end) = (places.len(), places.start);
        for place in places.start..(places.end + 1).saturating_sub(GRAM) {
            let group = self.group_of[place];
            if group != ALONE && self.is_frequent(group) {
                rare -= place + GRAM - end.max(place);
                end = place + GRAM;
            }
        }
        rare
    }

    /// The places before this one that it meets.
    fn before(&self, place: usize) -> impl Iterator<Item = usize> {
        let group = match self.group_of[place] {
            ALONE => &[],
            group => &self.places[self.groups[group]..self.groups[group + 1]],
        };
        let before = &group[..group.partition_point(|&other| other < place)];
        let first = before.len().min(FIRST);
        let next = before.len().saturating_sub(NEXT).max(first);
        before[..first].iter().chain(&before[next..]).copied()
    }

    /// The pairs of places where these places meet others, as the distance and the later one. Of pairs that follow each
    /// other only the first: it is extended over the others.
    fn meetings(&self, places: Range<usize>) -> Vec<(usize, usize)> {
        let mut met = Vec::new();
        let (mut last, mut now): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for b in places {
            std::mem::swap(&mut last, &mut now);
            now.clear();
            now.extend(self.before(b));
            met.extend(now.iter().filter(|&&a| a == 0 || !last.contains(&(a - 1))).map(|&a| (b - a, b)));
        }
        met
    }

    /// The common runs of a document with those before it and with earlier parts of itself, each as long as it can be, with
    /// the number of the other document, by that and their places: `b` is the place in this document. A run that meets
    /// itself is cut so that it does not.
    ///
    /// The flag says that the document repeats itself so much that runs were left shorter than they could be.
    ///
    /// Cost: linear in the words, times [`REACH`] at worst.
    pub fn runs(&self, text: &Text, document: usize) -> (Vec<(usize, Run)>, bool) {
        let own = text.range(document);
        let mut met = self.meetings(own.clone());
        // By diagonals: a run is extended from its first pair of places only.
        met.sort_unstable();
        let (mut runs, mut steps) = (Vec::new(), REACH * own.len());
        let (mut diagonal, mut end) = (0, 0);
        for (apart, b) in met {
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

/// A document's common runs have so many words together, times its own, before they are cut short.
const REACH: usize = 64;

/// The run through `b` on a diagonal, within two documents, beginning at `least` or later in the second.
fn extend(
    words: &[u64],
    apart: usize,
    b: usize,
    (other, own): (Range<usize>, Range<usize>),
    least: usize,
    steps: usize,
) -> Run {
    let a = b - apart;
    // Never longer than it is apart: the two places of a run in one document do not overlap.
    let most = steps.max(GRAM);
    let same = |(x, y): &(&u64, &u64)| x == y;
    let after = words[a..other.end].iter().zip(&words[b..own.end]).take(apart.min(most)).take_while(same).count();
    if after == 0 {
        return Run { a, b, tokens: 0 };
    }
    let back = (a - other.start).min(b - own.start.max(least)).min(apart - after).min(most);
    let before = words[..a].iter().rev().zip(words[..b].iter().rev()).take(back).take_while(same).count();
    Run { a: a - before, b: b - before, tokens: before + after }
}
