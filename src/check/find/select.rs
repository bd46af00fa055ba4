//! Selects the candidates to report: whole files before their parts, and no redundant ones.

use super::covered::Covered;
use super::grams::{GRAM, Text};
use super::{FindOptions, Finding, Judgement, Kind, Place};
use crate::passages::Run;
use crate::passages::lcs::push;
use crate::union_find::UnionFind;
use std::cmp::Reverse;
use std::ops::Range;

/// A possible finding, by places among the words of all documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub kind: Kind,
    pub places: [Range<usize>; 2],
    pub matched: usize,
    pub runs: Vec<Run>,
}

impl Candidate {
    pub fn new(kind: Kind, places: [Range<usize>; 2], runs: Vec<Run>) -> Self {
        Candidate { kind, places, matched: runs.iter().map(|run| run.tokens).sum(), runs }
    }

    /// From the first to the last run, if there is one.
    pub fn passage(runs: Vec<Run>) -> Option<Self> {
        let (first, last) = (*runs.first()?, *runs.last()?);
        let places = [first.a..last.a + last.tokens, first.b..last.b + last.tokens];
        Some(Candidate::new(Kind::Passage, places, runs))
    }

    /// Whether the runs have the same order in both places.
    fn is_ascending(&self) -> bool {
        self.runs.is_sorted_by_key(|run| run.b)
    }

    /// The matching words, pair by pair.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.runs.iter().flat_map(|run| (run.a..run.a + run.tokens).zip(run.b..))
    }

    /// Whether it reaches the minimum length and similarity of its kind.
    pub fn is_long_and_similar(&self, text: &Text, options: &FindOptions) -> bool {
        let [a, b] = [0, 1].map(|i| self.places[i].len());
        let (words, similarity) = match self.kind {
            Kind::Paragraph => (options.paragraph_words, options.paragraph_similarity),
            Kind::File | Kind::Passage => (options.min_words, options.passage_similarity),
        };
        text.size(self.places[usize::from(b > a)].clone()) >= words
            && similarity.reached_by(2 * self.matched as u64, (a + b) as u64)
    }

    /// The finding, by index of the document and of the words in it.
    pub fn finding(&self, text: &Text, numbers: &[usize]) -> Finding {
        let documents = self.places.clone().map(|places| text.document_at(places.start));
        let starts = documents.map(|document| text.range(document).start);
        let place = |i: usize| Place {
            document: numbers[documents[i]],
            words: self.places[i].start - starts[i]..self.places[i].end - starts[i],
        };
        let (a, b) = (place(0), place(1));
        let runs = self.runs.iter().map(|run| Run { a: run.a - starts[0], b: run.b - starts[1], ..*run }).collect();
        Finding { kind: self.kind, a, b, matched: self.matched, runs }
    }
}

/// The candidates to report, and those that are redundant only because others cover their places.
#[derive(Default)]
pub(super) struct Selected {
    pub selected: Vec<(Judgement, Candidate)>,
    pub covered: Vec<(Judgement, Candidate)>,
}

/// Drops what is redundant, separately for each number. Files come first, then candidates with more matching words, then by rank, then by
/// place. Of a passage or paragraph only the parts stay that no earlier candidate connects, as far as `is_enough` of them.
pub(super) fn select(
    mut candidates: Vec<(Judgement, Candidate)>,
    text: &Text,
    options: &FindOptions,
    is_enough: impl Fn(&Candidate, &Judgement) -> bool,
) -> Selected {
    candidates.sort_by_cached_key(|(judgement, candidate)| {
        let [a, b] = candidate.places.clone().map(|places| (places.start, places.end));
        let Judgement { number, rank } = *judgement;
        (number, candidate.kind != Kind::File, Reverse(candidate.matched), rank, candidate.kind, a, b)
    });
    let mut found = Selected::default();
    for group in candidates.chunk_by(|x, y| x.0.number == y.0.number) {
        // Words connected by selected candidates.
        let mut connected = UnionFind::new(text.words.len());
        let mut covered = Covered::new(text);
        for (judgement, candidate) in group {
            if candidate.kind == Kind::File || !candidate.is_ascending() {
                let is_new = connect(&mut connected, candidate, options);
                found.selected.extend(is_new.then(|| (*judgement, candidate.clone())));
                continue;
            }
            for part in new_parts(&mut connected, candidate) {
                if part != *candidate && !is_enough(&part, judgement) {
                    continue;
                }
                if covered.has(&part.places) {
                    found.covered.push((*judgement, part));
                    continue;
                }
                part.pairs().for_each(|(a, b)| _ = connected.union(a, b));
                covered.add(&part.places);
                found.selected.push((*judgement, part));
            }
        }
    }
    found
}

/// Connects the matching words of a file or of a reordered paragraph, unless it is redundant. It is not if half of its matching words, or
/// as many as a passage needs, are not connected yet. Returns whether the words were connected.
fn connect(connected: &mut UnionFind<usize>, candidate: &Candidate, options: &FindOptions) -> bool {
    let enough = candidate.matched.div_ceil(2).min(options.min_words).max(1);
    let is_new = candidate.pairs().filter(|&(a, b)| !connected.same(a, b)).take(enough).count() == enough;
    if is_new {
        candidate.pairs().for_each(|(a, b)| _ = connected.union(a, b));
    }
    is_new
}

/// The parts of a candidate whose matching words are not connected yet, apart from fewer than [`GRAM`] words in a row that are.
fn new_parts(connected: &mut UnionFind<usize>, candidate: &Candidate) -> Vec<Candidate> {
    let (mut parts, mut runs, mut known) = (Vec::new(), Vec::new(), Vec::new());
    let mut end_part = |runs: &mut Vec<Run>| {
        parts.extend(Candidate::passage(std::mem::take(runs)).map(|part| Candidate { kind: candidate.kind, ..part }));
    };
    for (a, b) in candidate.pairs() {
        let word = Run { a, b, tokens: 1 };
        match connected.same(a, b) {
            true => known.push(word),
            false => {
                match known.len() < GRAM {
                    true if !runs.is_empty() => known.drain(..).for_each(|word| push(&mut runs, word)),
                    true => known.clear(),
                    false => {
                        known.clear();
                        end_part(&mut runs);
                    }
                }
                push(&mut runs, word);
            }
        }
    }
    end_part(&mut runs);
    match &parts[..] {
        // Nothing is connected, or a few words at an end: the whole candidate, whose places can be longer than its matching words.
        [part] if part.matched + GRAM > candidate.matched => vec![candidate.clone()],
        _ => parts,
    }
}

/// Minimum length of a contained document, as a multiple of [`FindOptions::min_words`]. A shorter one, such as a page of a few words and a
/// licence, is reported as a passage.
const CONTAINED_PASSAGES: usize = 2;

/// The candidate for two documents that are near-equal as a whole, or of which one contains the other, if they share enough.
pub(super) fn file(text: &Text, found: &[Candidate], [a, b]: [usize; 2], options: &FindOptions) -> Option<Candidate> {
    let (one, other) = (text.range(a), text.range(b));
    let shorter = if one.len() <= other.len() { one.clone() } else { other.clone() };
    let both = one.len() + other.len();
    let enough = |matched: usize| {
        let contained = options.file_similarity.reached_by(matched as u64, shorter.len() as u64)
            && text.size(shorter.clone()) >= options.min_words.saturating_mul(CONTAINED_PASSAGES);
        contained || options.file_similarity.reached_by(2 * matched as u64, both as u64)
    };
    // Most documents share too little: skip them early.
    if a == b || !enough(found.iter().map(|candidate| candidate.matched).sum()) {
        return None;
    }
    let runs = disjoint(found.iter().flat_map(|candidate| &candidate.runs).copied().collect());
    let file = Candidate::new(Kind::File, [one, other], runs);
    enough(file.matched).then_some(file)
}

/// The parts of equal runs that share no word of either document, ascending in the first: longer runs are taken first.
pub(super) fn disjoint(mut order: Vec<Run>) -> Vec<Run> {
    order.sort_unstable_by_key(|run| (Reverse(run.tokens), *run));
    // For a large document that contains many others, only the part that it shares with this one.
    let span = |start: fn(&Run) -> usize| {
        let ends = order.iter().map(|run| (start(run), start(run) + run.tokens));
        ends.fold((usize::MAX, 0), |(first, last), (start, end)| (first.min(start), last.max(end)))
    };
    let spans = [span(|run| run.a), span(|run| run.b)];
    let firsts = spans.map(|(first, _)| first);
    let mut taken = spans.map(|(first, end)| vec![false; end.saturating_sub(first)]);
    let mut runs = Vec::new();
    for run in order {
        let free = |i: usize| !taken[0][run.a + i - firsts[0]] && !taken[1][run.b + i - firsts[1]];
        let mut new: Vec<Run> = Vec::new();
        for i in (0..run.tokens).filter(|&i| free(i)) {
            push(&mut new, Run { a: run.a + i, b: run.b + i, tokens: 1 });
        }
        for run in &new {
            taken[0][run.a - firsts[0]..][..run.tokens].fill(true);
            taken[1][run.b - firsts[1]..][..run.tokens].fill(true);
        }
        runs.extend(new);
    }
    runs.sort_unstable();
    runs
}
