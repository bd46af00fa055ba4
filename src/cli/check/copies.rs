//! Copies as reports tell them: where both places are, what they share, and whether that was accepted.

use super::pages::{Page, Stretch};
use neardups::check::{Finding, Kind};
use neardups::hash::sequence_hash;
use neardups::passages::Run;
use neardups::prose::Lines;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// Something that stands in two places.
pub struct Copy {
    pub kind: Kind,
    /// The earlier place, then the other.
    pub places: [Place; 2],
    /// Which of them a reviewer should look at: the one that changed, else the later one.
    pub primary: usize,
    /// How many words match.
    pub matched: usize,
    /// `2·matched / (words of both)`.
    pub similarity: f64,
    /// How much of each place is in the other.
    pub contained: [f64; 2],
    /// What it is known by: hashes of the words of both places, the lesser first.
    pub fingerprint: String,
    /// Both texts side by side.
    pub pieces: Vec<Piece>,
    /// Whether the baseline has it.
    pub known: bool,
}

/// One of the places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub path: String,
    /// The number of the page.
    pub page: usize,
    pub stretch: Stretch,
    pub words: usize,
    /// The lines whose words are in the other place too; of a passage and a paragraph all.
    pub lines: Vec<RangeInclusive<usize>>,
    /// The heading that it stands under.
    pub heading: Option<String>,
}

/// A part of the texts of two places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words that both have, as the first place writes them.
    Shared(String),
    /// Words that only one has: in the first place, in the other.
    Edited(String, String),
}

impl Place {
    fn new(pages: &[Page], finding: &Finding, side: usize, lines: &BTreeMap<usize, Lines>) -> Self {
        let place = [&finding.a, &finding.b][side];
        let (page, lines) = (&pages[place.document], &lines[&place.document]);
        let stretch = page.stretch(place.words.clone(), lines);
        let of_run = |run: &Run| {
            let first = [run.a, run.b][side];
            let stretch = page.stretch(first..first + run.tokens, lines);
            stretch.start.line..=stretch.end.line
        };
        Place {
            path: page.path.clone(),
            page: place.document,
            stretch,
            words: place.words.len(),
            lines: match finding.kind {
                Kind::File => finding.runs.iter().map(of_run).collect(),
                Kind::Passage | Kind::Paragraph => vec![stretch.start.line..=stretch.end.line],
            },
            heading: page.heading(place.words.start).map(String::from),
        }
    }
}

impl Piece {
    /// What the first place has of it, or the other.
    pub fn of(&self, place: usize) -> &str {
        match (self, place) {
            (Piece::Shared(text), _) | (Piece::Edited(text, _), 0) | (Piece::Edited(_, text), _) => text,
        }
    }
}

impl Copy {
    /// All findings. The lines of a page are counted once.
    pub fn all(pages: &[Page], findings: &[Finding]) -> Vec<Self> {
        let mut lines: BTreeMap<usize, Lines> = BTreeMap::new();
        for place in findings.iter().flat_map(|finding| [&finding.a, &finding.b]) {
            lines.entry(place.document).or_insert_with(|| Lines::new(&pages[place.document].source));
        }
        findings.iter().map(|finding| Copy::new(pages, finding, &lines)).collect()
    }

    fn new(pages: &[Page], finding: &Finding, lines: &BTreeMap<usize, Lines>) -> Self {
        let places = [&finding.a, &finding.b];
        let hash = |place: &neardups::check::Place| {
            (sequence_hash(&pages[place.document].words()[place.words.clone()], 0) >> 64) as u64
        };
        let [low, high] = {
            let mut hashes = places.map(hash);
            hashes.sort_unstable();
            hashes
        };
        Copy {
            kind: finding.kind,
            places: [0, 1].map(|side| Place::new(pages, finding, side, lines)),
            primary: 1,
            matched: finding.matched,
            similarity: finding.similarity().value(),
            contained: finding.containment().map(|part| part.value()),
            fingerprint: format!("{low:016x}-{high:016x}"),
            pieces: pieces(pages, finding),
            known: false,
        }
    }

    /// The place to look at, and the other one.
    pub fn looked_at(&self) -> (&Place, &Place) {
        (&self.places[self.primary], &self.places[1 - self.primary])
    }

    /// What it is, in a word.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::File => "file",
            Kind::Passage => "passage",
            Kind::Paragraph => "paragraph",
        }
    }

    /// The words of the longer place.
    pub fn words(&self) -> usize {
        self.places[0].words.max(self.places[1].words)
    }

    /// How alike the places are, for people. Never 100 if they differ.
    pub fn percent(&self) -> u32 {
        let most = if self.pieces.len() > 1 { 99 } else { 100 };
        percent(2 * self.matched, self.places[0].words + self.places[1].words).min(most)
    }

    /// One line that says what it is.
    pub fn summary(&self) -> String {
        let [a, b] = self.places.each_ref().map(|place| percent(self.matched, place.words));
        match self.kind {
            Kind::File if a.abs_diff(b) > 10 => {
                let (part, whole) = if a > b { (0, 1) } else { (1, 0) };
                let (part, whole) = (&self.places[part], &self.places[whole]);
                format!("{} % of {} is in {}", a.max(b), part.path, whole.path)
            }
            Kind::File => format!("whole file of {} words, {} % alike", self.words(), self.percent()),
            _ => format!("{} of {} words, {} % alike", self.name(), self.words(), self.percent()),
        }
    }
}

/// Rounded down.
fn percent(part: usize, whole: usize) -> u32 {
    (100 * part as u64 / whole.max(1) as u64) as u32
}

/// The texts of both places, run by run. Runs that are in another order in the other place have what is between them from the first alone.
fn pieces(pages: &[Page], finding: &Finding) -> Vec<Piece> {
    let [a, b] = [&finding.a, &finding.b];
    let text = |place: &neardups::check::Place, words: Range<usize>| {
        if words.is_empty() { String::new() } else { pages[place.document].text(words).to_string() }
    };
    let (mut pieces, mut next) = (Vec::new(), [a.words.start, b.words.start]);
    for run in &finding.runs {
        let gap = [next[0]..run.a.max(next[0]), next[1]..run.b.max(next[1])];
        let gap = if run.b < next[1] { [gap[0].clone(), 0..0] } else { gap };
        if gap.iter().any(|gap| !gap.is_empty()) {
            pieces.push(Piece::Edited(text(a, gap[0].clone()), text(b, gap[1].clone())));
        }
        pieces.push(Piece::Shared(text(a, run.a..run.a + run.tokens)));
        next = [run.a + run.tokens, run.b + run.tokens];
    }
    let rest = [next[0].min(a.words.end)..a.words.end, next[1].min(b.words.end)..b.words.end];
    if rest.iter().any(|rest| !rest.is_empty()) {
        pieces.push(Piece::Edited(text(a, rest[0].clone()), text(b, rest[1].clone())));
    }
    pieces
}
