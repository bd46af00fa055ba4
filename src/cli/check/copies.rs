//! Copies as reports tell them: where both places are, what they share, and whether that was accepted.

use super::pages::{Page, Stretch};
use neardups::check::{Finding, Kind};
use neardups::hash::sequence_hash;
use std::ops::Range;

/// Something that stands in two places.
pub struct Copy {
    pub kind: Kind,
    /// The earlier place, then the other.
    pub places: [Place; 2],
    /// Which of them a reviewer should look at: the one that changed, else the later one.
    pub primary: usize,
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
    pub stretch: Stretch,
    pub words: usize,
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

impl Piece {
    /// What the first place has of it.
    pub fn first(&self) -> &str {
        match self {
            Piece::Shared(text) | Piece::Edited(text, _) => text,
        }
    }
}

impl Copy {
    pub fn new(pages: &[Page], finding: &Finding) -> Self {
        let places = [&finding.a, &finding.b];
        let hash = |place: &neardups::check::Place| {
            (sequence_hash(&pages[place.document].words()[place.words.clone()], 0) >> 64) as u64
        };
        let [low, high] = {
            let mut hashes = places.map(hash);
            hashes.sort_unstable();
            hashes
        };
        let of = |place: &neardups::check::Place| {
            let page = &pages[place.document];
            Place {
                path: page.path.clone(),
                stretch: page.stretch(place.words.clone()),
                words: place.words.len(),
                heading: page.heading(place.words.start).map(String::from),
            }
        };
        Copy {
            kind: finding.kind,
            places: places.map(of),
            primary: 1,
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
        (100.0 * self.similarity).floor() as u32
    }

    /// One line that says what it is.
    pub fn summary(&self) -> String {
        let [a, b] = self.contained.map(|part| (100.0 * part).floor() as u32);
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
