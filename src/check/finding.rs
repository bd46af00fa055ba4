//! Findings for people: where both places are, what they share, and whether the finding is accepted.

use super::find::{self, Kind};
use super::pages::{Page, Stretch};
use crate::passages::Run;
use crate::prose::Lines;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// Maximum number of characters of a heading in a report.
const MAX_HEADING: usize = 200;

/// A text that occurs in two places.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// Whether it is a file, a passage or a paragraph.
    pub kind: Kind,
    /// The earlier place, then the other.
    pub places: [Place; 2],
    /// The index of the place that a reviewer should look at: the one that changed, else the later one.
    pub primary: usize,
    /// How many words match.
    pub matched: usize,
    /// `2·matched / (words of both)`.
    pub similarity: f64,
    /// The share of each place that is contained in the other.
    pub contained: [f64; 2],
    /// Identifies the finding: hashes of the words of both places, the smaller first.
    pub fingerprint: String,
    /// The words that match, in the order of the earlier place.
    pub runs: Vec<Run>,
    /// Whether the baseline accepts it.
    pub accepted: bool,
}

/// One of the places of a finding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Place {
    /// The file.
    pub page: Arc<Page>,
    /// Its start and end in the file.
    pub stretch: Stretch,
    /// Its words, by index in the page.
    pub words: Range<usize>,
    /// The lines with words that the other place has too; for a passage or a paragraph, all lines.
    pub lines: Vec<RangeInclusive<usize>>,
    /// The heading that it is under, truncated if it is long.
    pub heading: Option<String>,
}

/// A part of two places, in the order of one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Words that both places have.
    Shared([Range<usize>; 2]),
    /// Words that only one place has: those of the first place, those of the other.
    Edited([Range<usize>; 2]),
}

impl Place {
    fn new(pages: &[Arc<Page>], found: &find::Finding, side: usize, lines: &BTreeMap<usize, Lines>) -> Self {
        let place = [&found.a, &found.b][side];
        let (page, lines) = (&pages[place.document], &lines[&place.document]);
        let stretch = page.stretch(place.words.clone(), lines);
        let of_run = |run: &Run| {
            let stretch = page.stretch(words_of(run, side), lines);
            stretch.start.line..=stretch.end.line
        };
        Place {
            page: Arc::clone(page),
            stretch,
            words: place.words.clone(),
            lines: match found.kind {
                Kind::File => found.runs.iter().map(of_run).collect(),
                Kind::Passage | Kind::Paragraph => vec![stretch.start.line..=stretch.end.line],
            },
            heading: page.heading(place.words.start).map(|heading| match first(heading, MAX_HEADING) {
                whole if whole == heading => whole.to_string(),
                cut => format!("{cut}…"),
            }),
        }
    }

    /// The path of its file as given.
    pub fn path(&self) -> &str {
        &self.page.path
    }

    /// Its text as a reader sees it.
    pub fn text(&self) -> &str {
        self.page.text(self.words.clone())
    }

    /// The text of some of its words, and the white space after it, at most that between two paragraphs.
    pub(super) fn text_of(&self, words: Range<usize>) -> (&str, &str) {
        if words.end == self.words.end {
            return (self.page.text(words), " ");
        }
        let text = self.page.text_to_next(words);
        let (text, space) = text.split_at(text.trim_end().len());
        (text, first(space, 2))
    }

    /// Its first ten words, truncated to 100 characters.
    pub(super) fn beginning(&self) -> String {
        let words: Vec<&str> = self.text().split_whitespace().take(10).map(|word| first(word, 100)).collect();
        first(&words.join(" "), 100).to_string()
    }
}

/// At most this many characters from the start of a text.
pub(super) fn first(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}

impl Finding {
    /// All findings. The lines of each page are counted only once.
    pub(super) fn all(pages: &[Arc<Page>], found: Vec<find::Finding>) -> Vec<Self> {
        let mut lines = BTreeMap::new();
        for place in found.iter().flat_map(|found| [&found.a, &found.b]) {
            lines.entry(place.document).or_insert_with(|| Lines::new(&pages[place.document].source));
        }
        found.into_iter().map(|found| Finding::new(pages, found, &lines)).collect()
    }

    fn new(pages: &[Arc<Page>], found: find::Finding, lines: &BTreeMap<usize, Lines>) -> Self {
        Finding {
            kind: found.kind,
            places: [0, 1].map(|side| Place::new(pages, &found, side, lines)),
            primary: 1,
            matched: found.matched,
            similarity: found.similarity().value(),
            contained: found.containment().map(|part| part.value()),
            fingerprint: fingerprint(pages, &found),
            runs: found.runs,
            accepted: false,
        }
    }

    /// The place to look at, and the other one.
    pub fn primary_first(&self) -> (&Place, &Place) {
        (&self.places[self.primary], &self.places[1 - self.primary])
    }

    /// Its kind as one word.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::File => "file",
            Kind::Passage => "passage",
            Kind::Paragraph => "paragraph",
        }
    }

    /// The words of the longer place.
    pub fn words(&self) -> usize {
        self.places[0].words.len().max(self.places[1].words.len())
    }

    /// Whether all words of both places match, in any order.
    pub(super) fn has_same_words(&self) -> bool {
        self.places.iter().all(|place| place.words.len() == self.matched)
    }

    /// Whether the matching words are in another order in the other place.
    pub(super) fn is_reordered(&self) -> bool {
        !self.runs.is_sorted_by_key(|run| run.b)
    }

    /// The similarity in percent, rounded down. Never 100 if the places differ.
    pub fn percent(&self) -> u32 {
        let limit = if self.has_same_words() && !self.is_reordered() { 100 } else { 99 };
        percent(2 * self.matched, self.places.iter().map(|place| place.words.len()).sum()).min(limit)
    }

    /// For a file contained in a larger one: which place it is, and the share in percent.
    fn part(&self) -> Option<(usize, u32)> {
        let [a, b] = self.places.each_ref().map(|place| percent(self.matched, place.words.len()));
        (self.kind == Kind::File && a.abs_diff(b) > 10).then_some(if a > b { (0, a) } else { (1, b) })
    }

    /// The index of the larger file that contains the other, if there is one.
    pub(super) fn whole(&self) -> Option<usize> {
        self.part().map(|(part, _)| 1 - part)
    }

    /// A description on one line.
    pub fn summary(&self) -> String {
        self.summary_with(|place| &place.page.path)
    }

    /// [`summary`](Self::summary) with other names for the files.
    pub(super) fn summary_with<'a, S: AsRef<str>>(&'a self, name: impl Fn(&'a Place) -> S) -> String {
        let alike = || format!("{} words, {} % alike", self.words(), self.percent());
        match (self.part(), self.kind) {
            (Some((part, share)), _) => {
                let [part, whole] = [part, 1 - part].map(|side| name(&self.places[side]));
                format!("{share} % of {} is in {}", part.as_ref(), whole.as_ref())
            }
            (None, Kind::File) => format!("whole file of {}", alike()),
            (None, _) => format!("{} of {}", self.name(), alike()),
        }
    }

    /// Both texts, in the order of one of the places. Words that only the other place has follow the run that they follow there.
    pub(super) fn pieces(&self, order: usize) -> Vec<Piece> {
        let words = |side: usize, words: &Range<usize>| &self.places[side].page.words()[words.clone()];
        let shared = |piece| match piece {
            // Too few words for a run, such as a heading between parts in another order.
            Piece::Edited([a, b]) if words(0, &a) == words(1, &b) => Piece::Shared([a, b]),
            piece => piece,
        };
        pieces(self.places.each_ref().map(|place| &place.words), &self.runs, order).into_iter().map(shared).collect()
    }
}

/// Identifies a finding: hashes of the words of both places, the smaller first.
pub(super) fn fingerprint(pages: &[Arc<Page>], found: &find::Finding) -> String {
    let mut hashes = [&found.a, &found.b].map(|place| pages[place.document].hash(&place.words));
    hashes.sort_unstable();
    let [low, high] = hashes;
    format!("{low:016x}-{high:016x}")
}

fn words_of(run: &Run, side: usize) -> Range<usize> {
    let start = [run.a, run.b][side];
    start..start + run.tokens
}

/// Rounded down.
fn percent(part: usize, whole: usize) -> u32 {
    (100 * part as u64 / whole.max(1) as u64) as u32
}

/// Splits the words of two places into shared and edited parts, in the order of one of them.
fn pieces(places: [&Range<usize>; 2], runs: &[Run], order: usize) -> Vec<Piece> {
    let orders = [0, 1].map(|side| {
        let mut numbers: Vec<usize> = (0..runs.len()).collect();
        numbers.sort_by_key(|&run| words_of(&runs[run], side).start);
        numbers
    });
    // For both places: the words before all runs, then the words after each run.
    let own = [0, 1].map(|side| {
        let mut own = vec![0..0; runs.len() + 1];
        let (mut at, mut start) = (0, places[side].start);
        for &run in &orders[side] {
            let words = words_of(&runs[run], side);
            own[at] = start..words.start.max(start);
            (at, start) = (run + 1, words.end);
        }
        own[at] = start..places[side].end.max(start);
        own
    });
    let edited = |at: usize| Piece::Edited([own[0][at].clone(), own[1][at].clone()]);
    let with_rest = |&run: &usize| [Piece::Shared([0, 1].map(|side| words_of(&runs[run], side))), edited(run + 1)];
    let has_words = |piece: &Piece| match piece {
        Piece::Shared(words) | Piece::Edited(words) => words.iter().any(|words| !words.is_empty()),
    };
    [edited(0)].into_iter().chain(orders[order].iter().flat_map(with_rest)).filter(has_words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_in_another_order() {
        // 0 1 [2 3] 4 [5 6 7], and in the other place [10 11 12] 13 14 [15 16] 17.
        let runs = [Run { a: 2, b: 15, tokens: 2 }, Run { a: 5, b: 10, tokens: 3 }];
        let pieces = |order| pieces([&(0..8), &(10..18)], &runs, order);
        let [one, two] = [Piece::Shared([2..4, 15..17]), Piece::Shared([5..8, 10..13])];
        let [after_one, after_two] = [Piece::Edited([4..5, 17..18]), Piece::Edited([8..8, 13..15])];
        let before = Piece::Edited([0..2, 10..10]);
        let all = [before, one, after_one, two, after_two];
        assert_eq!(pieces(0), all);
        assert_eq!(pieces(1), [0, 3, 4, 1, 2].map(|piece: usize| all[piece].clone()));
    }

    proptest! {
        /// One place has its words in order; the other has each of its words exactly once.
        #[test]
        fn pieces_contain_all_words_of_both_places(
            parts in prop::collection::vec((1usize..4, 0usize..3, 0usize..3), 0..8),
            shuffled in prop::collection::vec(any::<u8>(), 8),
            before in prop::array::uniform2(0usize..3),
        ) {
            let mut runs: Vec<Run> = parts.iter().map(|part| Run { a: 0, b: 0, tokens: part.0 }).collect();
            let mut there: Vec<usize> = (0..runs.len()).collect();
            there.sort_by_key(|&run| shuffled[run]);
            let mut ends = [5 + before[0], 9 + before[1]];
            for run in 0..runs.len() {
                runs[run].a = ends[0];
                ends[0] += parts[run].0 + parts[run].1;
                runs[there[run]].b = ends[1];
                ends[1] += parts[there[run]].0 + parts[there[run]].2;
            }
            let places = [&(5..ends[0]), &(9..ends[1])];
            for order in [0, 1] {
                let shown = pieces(places, &runs, order);
                for side in [0, 1] {
                    let words = shown.iter().flat_map(|piece| match piece {
                        Piece::Shared(words) | Piece::Edited(words) => words[side].clone(),
                    });
                    let mut words: Vec<usize> = words.collect();
                    if side != order {
                        words.sort_unstable();
                    }
                    prop_assert_eq!(words, places[side].clone().collect::<Vec<_>>());
                }
                let shared = shown.iter().filter(|piece| matches!(piece, Piece::Shared(_))).count();
                prop_assert_eq!(shared, runs.len());
            }
        }
    }
}
