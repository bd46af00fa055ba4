//! Texts that are known to be copied: those of a baseline, and those of an earlier commit. Each is known by a sample of its words and
//! by its files, so that an edit of one of its places, or one place fewer, makes no new finding; one place more does.

use super::find::Kind;
use super::finding::{Finding, Place};
use crate::hash::shingle_hashes;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The words of a run that is hashed. As long as the runs that the finder pairs places by.
const GRAM: usize = 4;

/// Of the runs of a text, this many are kept, and one in [`PER_KEPT`] of the others.
const ALWAYS_KEPT: usize = 64;
const PER_KEPT: usize = 16;

/// A text is known if at least this share of its sampled runs is, in percent.
const KNOWN_PERCENT: usize = 50;

/// The hashes of the runs of four words of a text, ascending.
pub(super) type Grams = Vec<u32>;

/// The hashes of the runs of four words of some words, appended.
pub(super) fn grams_of(words: &[u64], grams: &mut Grams) {
    if words.len() < GRAM {
        return;
    }
    let mut hashes = Vec::new();
    shingle_hashes(words, GRAM, &mut hashes);
    grams.extend(hashes.into_iter().map(|hash| (hash >> 32) as u32));
}

/// Sorted, each once.
pub(super) fn sorted(mut grams: Grams) -> Grams {
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// The runs of four words that the places of a finding share. If edits leave none, those of its first place.
pub(super) fn shared_grams(finding: &Finding) -> Grams {
    let mut grams = Grams::new();
    for pair in &finding.pairs {
        let words = pair.places[0].page.words();
        pair.runs.iter().for_each(|run| grams_of(&words[run.a..run.a + run.tokens], &mut grams));
    }
    if grams.is_empty() {
        let first = &finding.places[0];
        grams_of(&first.page.words()[first.words.clone()], &mut grams);
    }
    sorted(grams)
}

/// A sample of the runs of a text: the smallest hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// Ascending, each once.
    pub hashes: Grams,
    /// Whether there are more, all of them larger.
    pub is_part: bool,
}

impl Sample {
    /// A sample of these hashes, which are ascending, each once.
    pub fn of(mut grams: Grams) -> Self {
        let kept = ALWAYS_KEPT + grams.len().saturating_sub(ALWAYS_KEPT) / PER_KEPT;
        let is_part = kept < grams.len();
        grams.truncate(kept);
        Sample { hashes: grams, is_part }
    }

    /// Those of some hashes that would be in the sample if the text had them.
    fn sampled<'a>(&self, grams: &'a [u32]) -> &'a [u32] {
        match self.hashes.last() {
            Some(&last) if self.is_part => &grams[..grams.partition_point(|&gram| gram <= last)],
            _ => grams,
        }
    }
}

/// A text that is known to be copied.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub sample: Sample,
    /// The file of each place, absolute and without links.
    pub files: Vec<PathBuf>,
    /// Whether it is about whole files.
    pub is_file: bool,
}

impl Known {
    pub fn of(finding: &Finding) -> Self {
        Known {
            sample: Sample::of(shared_grams(finding)),
            files: finding.places.iter().map(|place| place.page.place.clone()).collect(),
            is_file: finding.kind == Kind::File,
        }
    }

    /// Which places of a finding are in files where this text is known in fewer places.
    fn excess(&self, finding: &Finding) -> Vec<bool> {
        let mut left: BTreeMap<&Path, usize> = BTreeMap::new();
        self.files.iter().for_each(|file| *left.entry(file).or_default() += 1);
        let is_excess = |place: &Place| match left.get_mut(place.page.place.as_path()) {
            Some(number @ 1..) => {
                *number -= 1;
                false
            }
            _ => true,
        };
        finding.places.iter().map(is_excess).collect()
    }
}

/// When a text may be in another file than it is known in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moves {
    /// If a file that it is known in does not exist any longer.
    OfFiles,
    /// If it is in no more places than it is known in.
    OfText,
}

/// What is known of a finding.
pub(super) struct Knowledge {
    /// The known texts that have its words, by index.
    pub texts: Vec<usize>,
    /// Whether one of them has all of its places.
    pub is_accepted: bool,
    /// Which places the known text with most of its words has not, if there is such a text.
    pub excess: Option<Vec<bool>>,
}

/// Known texts, to look up findings in.
pub(super) struct AllKnown {
    known: Vec<Known>,
    /// The texts that each hash is in.
    by_gram: BTreeMap<u32, Vec<usize>>,
    moves: Moves,
    /// A finding with this many unknown words beside known ones is new.
    min_words: usize,
}

impl AllKnown {
    /// `min_words` is the minimum length of a passage: text that grew by as much is a new copy.
    pub fn new(known: Vec<Known>, moves: Moves, min_words: usize) -> Self {
        let mut by_gram: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, text) in known.iter().enumerate() {
            text.sample.hashes.iter().for_each(|&gram| by_gram.entry(gram).or_default().push(number));
        }
        AllKnown { known, by_gram, moves, min_words }
    }

    /// What is known of a finding.
    ///
    /// `exists` says whether a file exists.
    pub fn look_up(&self, finding: &Finding, exists: impl Fn(&Path) -> bool) -> Knowledge {
        let grams = shared_grams(finding);
        let mut hits: BTreeMap<usize, usize> = BTreeMap::new();
        for number in grams.iter().filter_map(|gram| self.by_gram.get(gram)).flatten() {
            *hits.entry(*number).or_default() += 1;
        }
        // The finding may be a part of several known texts, or they of it.
        hits.retain(|&number, hits| 100 * *hits >= KNOWN_PERCENT * self.known[number].sample.sampled(&grams).len());
        let accepts = |(&number, &hits): (&usize, &usize)| {
            let known = &self.known[number];
            self.has_grown_little(known, &grams, hits) && self.has_places(known, finding, &exists)
        };
        let most = hits.iter().max_by_key(|&(number, hits)| (hits, Reverse(number)));
        Knowledge {
            is_accepted: hits.iter().any(accepts),
            excess: most.map(|(&number, _)| self.new_places(&self.known[number], finding, &exists)),
            texts: hits.into_keys().collect(),
        }
    }

    /// Whether a finding has fewer unknown words than a passage, given that `hits` of its runs are known. Whole files may grow.
    fn has_grown_little(&self, known: &Known, grams: &[u32], hits: usize) -> bool {
        let sampled = known.sample.sampled(grams).len();
        // Of a sample, an estimate for the whole text.
        known.is_file || (sampled - hits) * grams.len() / sampled.max(1) < self.min_words
    }

    /// Whether a finding has no place more than the known text.
    fn has_places(&self, known: &Known, finding: &Finding, exists: impl Fn(&Path) -> bool) -> bool {
        match self.moves {
            Moves::OfText => finding.places.len() <= known.files.len(),
            Moves::OfFiles => !self.new_places(known, finding, exists).contains(&true),
        }
    }

    /// Which places of a finding the known text has not. The first places in unknown files are in those that were renamed: as many as
    /// there are known files that do not exist any longer.
    fn new_places(&self, known: &Known, finding: &Finding, exists: impl Fn(&Path) -> bool) -> Vec<bool> {
        let mut renamed = known.files.iter().filter(|file| !exists(file)).count();
        let mut excess = known.excess(finding);
        for place in excess.iter_mut().filter(|is_excess| **is_excess) {
            *place = renamed == 0;
            renamed = renamed.saturating_sub(1);
        }
        excess
    }
}
