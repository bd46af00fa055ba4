//! Texts that are known to be copied: those of a baseline, and those of an earlier commit. Each is known by a sample of its words and
//! by its files, so that an edit of one of its places, or one place fewer, makes no new finding; one place more does.

use super::find::Kind;
use super::finding::{Finding, Origin, Pair, Place};
use crate::hash::shingle_hashes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The words of a run that is hashed. As long as the runs that the finder pairs places by.
const GRAM: usize = 4;

/// Of the runs of a text, this many are kept, and one in [`PER_KEPT`] of the others.
const ALWAYS_KEPT: usize = 64;
const PER_KEPT: usize = 16;

/// Maximum number of known texts that a finding is compared with, the rarest runs first. More share only set phrases with it.
const MAX_VISITED: usize = 2_000;

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
    // The first place of many pairs is often the same.
    let of_pair = |pair: &Pair| pair.runs.iter().map(|run| (pair.indices[0], run.a, run.tokens)).collect::<Vec<_>>();
    let mut runs: Vec<(usize, usize, usize)> = finding.pairs.iter().flat_map(of_pair).collect();
    runs.sort_unstable();
    runs.dedup();
    let mut grams = Grams::new();
    for (place, start, tokens) in runs {
        grams_of(&finding.places[place].page.words()[start..start + tokens], &mut grams);
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

    /// How many of the runs of a text are in the sample, and how many would be if all were known.
    fn hits(&self, grams: &[u32]) -> (usize, usize) {
        let sampled = self.sample.sampled(grams);
        let is_known = |gram: &&u32| self.sample.hashes.binary_search(gram).is_ok();
        (sampled.iter().filter(is_known).count(), sampled.len())
    }

    /// How many of its places are in a file.
    pub fn places_in(&self, file: &Path) -> usize {
        self.files.iter().filter(|own| *own == file).count()
    }

    /// Whether each place of a finding is one of these.
    fn lists_places_of(&self, finding: &Finding) -> bool {
        let mut left: BTreeMap<&Path, usize> = BTreeMap::new();
        self.files.iter().for_each(|file| *left.entry(file).or_default() += 1);
        finding.places.iter().all(|place| match left.get_mut(place.page.place.as_path()) {
            Some(number @ 1..) => {
                *number -= 1;
                true
            }
            _ => false,
        })
    }

    /// Whether a text with these runs, ascending, still has this one.
    pub fn is_in(&self, grams: &[u32]) -> bool {
        let hits = self.sample.hashes.iter().filter(|gram| grams.binary_search(gram).is_ok()).count();
        100 * hits >= KNOWN_PERCENT * self.sample.hashes.len()
    }
}

/// What is known of a finding.
pub(super) struct Knowledge {
    /// The known texts that have its words, by index.
    pub texts: Vec<usize>,
    /// Those that have at least words of a part of it, by index.
    pub parts: Vec<usize>,
    /// Those of them that accept it: it has neither a place nor a passage more than these. None if it is not accepted.
    pub accepted_by: Vec<usize>,
    /// The places that these texts lack; `None` if there are no such texts.
    pub new: Option<Vec<bool>>,
}

impl Knowledge {
    /// The known texts that share words with it, by index, and whether it has most of the words of each. Some are given twice.
    pub fn of_entries(&self) -> impl Iterator<Item = (usize, bool)> {
        let some = self.texts.iter().map(|&text| (text, false));
        some.chain(self.parts.iter().map(|&text| (text, true)))
    }

    /// Whether known texts accept the finding.
    pub fn is_accepted(&self) -> bool {
        !self.accepted_by.is_empty()
    }
}

/// Known texts, to look up findings in.
pub(super) struct AllKnown {
    known: Vec<Known>,
    /// The texts that each hash is in.
    by_gram: BTreeMap<u32, Vec<usize>>,
    /// A finding with this many unknown words beside known ones is new.
    min_words: usize,
}

impl AllKnown {
    /// `min_words` is the minimum length of a passage: text that grew by as much is a new copy.
    pub fn new(known: Vec<Known>, min_words: usize) -> Self {
        let mut by_gram: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, text) in known.iter().enumerate() {
            text.sample.hashes.iter().for_each(|&gram| by_gram.entry(gram).or_default().push(number));
        }
        AllKnown { known, by_gram, min_words }
    }

    /// What is known of a finding. A place may be in another file than known if the text is not in all of its known places any longer:
    /// `times` says in how many of those in a file it still is.
    ///
    /// Cost: linear in the words of the finding, with up to [`MAX_VISITED`] known texts to compare it with.
    pub fn look_up(&self, finding: &Finding, times: impl Fn(&Known, &Path) -> usize) -> Knowledge {
        let grams = shared_grams(finding);
        let is_half = |(hits, sampled): (usize, usize)| 100 * hits >= KNOWN_PERCENT * sampled;
        // The finding may be a part of several known texts, or they of it.
        let is_known = |number: &usize| is_half(self.known[*number].hits(&grams));
        let sharing = self.sharing(&grams);
        let texts: Vec<usize> = sharing.iter().copied().filter(is_known).collect();
        let parts: Vec<usize> = sharing.into_iter().filter(|&number| self.known[number].is_in(&grams)).collect();
        let kept: Vec<usize> =
            texts.iter().copied().filter(|&text| self.has_grown_little(&self.known[text], finding, &grams)).collect();
        // Where what was between several texts was removed, they are parts of one.
        let is_union = || parts.len() > 1 && self.unknown(&parts, &grams) < self.min_words;
        let (kept, texts) = match kept.is_empty() && is_union() {
            true => (parts.clone(), parts.clone()),
            false => (kept, texts),
        };
        let (new, accepted_by) = match &kept[..] {
            [] => ((!texts.is_empty()).then(|| new_places(&self.of(&texts), finding, &times)), Vec::new()),
            kept => {
                let (new, accepted_by) = self.places_beside(kept, finding, &times);
                (Some(new), accepted_by)
            }
        };
        Knowledge { texts, parts, accepted_by, new }
    }

    fn of(&self, numbers: &[usize]) -> Vec<&Known> {
        numbers.iter().map(|&number| &self.known[number]).collect()
    }

    /// The places of a finding that known texts with its words lack, and which of these accept it. A text that has all of the places accepts
    /// it. So do several texts together, if they are whole files as the finding is, or passages as it is: that a file is a copy of another
    /// one says nothing about a third one that has a passage of it.
    fn places_beside(
        &self,
        texts: &[usize],
        finding: &Finding,
        times: &impl Fn(&Known, &Path) -> usize,
    ) -> (Vec<bool>, Vec<usize>) {
        // One that lists the places explains them better than a longer one of which a page is gone, as if its text had moved.
        let (listing, others): (Vec<usize>, Vec<usize>) =
            texts.iter().partition(|&&text| self.known[text].lists_places_of(finding));
        let one_by_one = listing.into_iter().chain(others);
        let mut by_one = one_by_one.map(|text| (new_places(&[&self.known[text]], finding, times), text));
        if let Some((new, text)) = by_one.find(|(new, _)| !finding.is_new_by(new)) {
            // A merge of two branches may leave an entry of each, with reasons of their own.
            let is_same = |other: &usize| self.known[*other].files == self.known[text].files;
            return (new, texts.iter().copied().filter(|other| *other == text || is_same(other)).collect());
        }
        let is_file = finding.kind == Kind::File;
        let alike: Vec<usize> = texts.iter().copied().filter(|&text| self.known[text].is_file == is_file).collect();
        let new = new_places(&self.of(if alike.is_empty() { texts } else { &alike }), finding, times);
        let accepted_by = if finding.is_new_by(&new) { Vec::new() } else { alike };
        (new, accepted_by)
    }

    /// The known texts that share runs with a text. Those that share only runs of very many texts may be left out.
    fn sharing(&self, grams: &[u32]) -> BTreeSet<usize> {
        let mut lists: Vec<&[usize]> =
            grams.iter().filter_map(|gram| self.by_gram.get(gram)).map(Vec::as_slice).collect();
        lists.sort_by_key(|list| list.len());
        // The first list counts in any case.
        let mut visited = 0;
        let is_within = |list: &&&[usize]| {
            let is_within = visited < MAX_VISITED;
            visited += list.len();
            is_within
        };
        lists.iter().take_while(is_within).flat_map(|list| list.iter().copied()).collect()
    }

    /// The number of runs that none of some texts has: of samples, an estimate.
    fn unknown(&self, texts: &[usize], grams: &[u32]) -> usize {
        let samples = texts.iter().map(|&number| &self.known[number].sample);
        let sampled = samples.clone().map(|sample| sample.sampled(grams).len()).min().unwrap_or_default();
        let is_known = |gram: &u32| samples.clone().any(|sample| sample.hashes.binary_search(gram).is_ok());
        let unknown = grams[..sampled].iter().filter(|gram| !is_known(gram)).count();
        unknown * grams.len() / sampled.max(1)
    }

    /// Whether a finding has few unknown words beside those of a known text: fewer than a passage, or for whole files up to a quarter.
    fn has_grown_little(&self, known: &Known, finding: &Finding, grams: &[u32]) -> bool {
        let (hits, sampled) = known.hits(grams);
        // Of a sample, an estimate for the whole text.
        let unknown = (sampled - hits) * grams.len() / sampled.max(1);
        let are_files = known.is_file && finding.kind == Kind::File;
        unknown < self.min_words || are_files && 4 * unknown <= grams.len()
    }
}

/// The places of a finding that known texts lack. Its first places in other files are where the text went from known places that do not have
/// it any longer.
fn new_places(texts: &[&Known], finding: &Finding, times: impl Fn(&Known, &Path) -> usize) -> Vec<bool> {
    let mut known: BTreeMap<&Path, usize> = BTreeMap::new();
    for text in texts {
        let mut own: BTreeMap<&Path, usize> = BTreeMap::new();
        text.files.iter().for_each(|file| *own.entry(file).or_default() += 1);
        own.into_iter().for_each(|(file, number)| {
            let places = known.entry(file).or_default();
            *places = number.max(*places);
        });
    }
    let mut left = known.clone();
    let mut is_new = |place: &Place| match left.get_mut(place.page.place.as_path()) {
        Some(number @ 1..) => {
            *number -= 1;
            false
        }
        _ => true,
    };
    // Those that make nothing new come last.
    let mut order: Vec<usize> = (0..finding.places.len()).collect();
    order.sort_by_key(|&index| finding.places[index].origin == Origin::Version);
    let mut new = vec![false; order.len()];
    order.iter().for_each(|&index| new[index] = is_new(&finding.places[index]));
    if !new.contains(&true) {
        return new;
    }
    let still = |file: &Path| {
        let of_file = texts.iter().filter(|text| text.places_in(file) > 0);
        of_file.map(|text| times(text, file)).max().unwrap_or_default()
    };
    let mut moved: usize = known.iter().map(|(file, places)| places.saturating_sub(still(file))).sum();
    for index in order.into_iter().filter(|&index| new[index]).collect::<Vec<usize>>() {
        new[index] = moved == 0;
        moved = moved.saturating_sub(1);
    }
    new
}
