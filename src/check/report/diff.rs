//! The differences between two places in a line of text, marked as `git diff --word-diff` marks them.

use super::super::find::Kind;
use super::super::finding::{Finding, Piece, Place, first};
use super::marked::{Mark, Marked};
use crate::readable::counted;
use std::ops::Range;

/// Shared words that are shown on either side of a difference of whole files.
const AROUND: usize = 5;

/// The most words that only one of two whole files has and that are shown as they are; of more, the first ones.
const LONG: usize = 30;
const FIRST: usize = 10;

/// How the places differ, in about so many characters: `[-words-]` that the place looked at does not have, `{+words+}` that only it has.
/// What they share is shown too, of whole files a few words around each difference.
pub(super) fn word_diff(copy: &Finding, most: usize) -> Marked {
    let (primary, pieces) = (copy.primary, copy.pieces(copy.primary));
    let is_edit = |piece: Option<&Piece>| matches!(piece, Some(Piece::Edited(_)));
    let is_file = copy.kind == Kind::File;
    if is_file && !pieces.iter().any(|piece| is_edit(Some(piece))) {
        let order = if copy.is_reordered() { " in another order" } else { "" };
        return Marked::default().text(&format!("The same words{order}."));
    }
    let mut diff = Diff { text: Marked::default(), length: 0, most, is_file };
    if copy.is_reordered() {
        diff.text.push("Some of it is in another order. ");
    }
    for (number, piece) in pieces.iter().enumerate() {
        if diff.length >= most {
            diff.end(pieces[number..].iter().filter(|piece| is_edit(Some(piece))).count());
            break;
        }
        match piece {
            Piece::Shared(words) => {
                let words = words[primary].clone();
                let before = number.checked_sub(1).and_then(|before| pieces.get(before));
                diff.shared(&copy.places[primary], words, [is_edit(before), is_edit(pieces.get(number + 1))]);
            }
            Piece::Edited(words) => {
                let shown =
                    |side: usize| (&copy.places[side], words[side].clone(), shown(copy, side, words[side].len()));
                diff.edited(shown(1 - primary), shown(primary));
            }
        }
    }
    diff.text.trim_end();
    diff.text
}

/// How many of the words that only one place has are shown. What a larger file has besides the one that it contains is of no interest.
fn shown(copy: &Finding, side: usize, words: usize) -> usize {
    match copy.kind == Kind::File && words > LONG {
        true if copy.whole() == Some(side) => 0,
        true => FIRST,
        false => words,
    }
}

/// What only the other place has, and what only this one has, with what is put around it.
const MARKS: [(Mark, [&str; 2]); 2] = [(Mark::Removed, ["[-", "-]"]), (Mark::Added, ["{+", "+}"])];

struct Diff {
    text: Marked,
    /// How many characters of the places are shown, and how many may be.
    length: usize,
    most: usize,
    is_file: bool,
}

impl Diff {
    /// Words that both have, between differences or not.
    fn shared(&mut self, place: &Place, words: Range<usize>, beside: [bool; 2]) {
        let [head, tail] = beside.map(|beside| if beside { AROUND } else { 0 });
        if !self.is_file || words.len() <= head + tail {
            self.put(place.text_of(words));
            return;
        }
        if head > 0 {
            self.put(place.text_of(words.start..words.start + head));
        }
        if !self.text.ends_with("… ") {
            self.text.push("… ");
        }
        if tail > 0 {
            self.put(place.text_of(words.end - tail..words.end));
        }
    }

    /// Words that only the other place has, and those that only this one has.
    fn edited(&mut self, gone: (&Place, Range<usize>, usize), come: (&Place, Range<usize>, usize)) {
        let mut after = "";
        for ((place, words, shown), (mark, [open, close])) in [gone, come].into_iter().zip(MARKS) {
            if words.is_empty() {
                continue;
            }
            let (text, space) = place.text_of(words.start..words.start + shown);
            self.text.open(mark);
            self.text.push(open);
            self.put((text, ""));
            if shown < words.len() {
                let left = format!("{}{}", if shown > 0 { " " } else { "" }, left_out(words.len() - shown));
                self.length += left.chars().count();
                self.text.push(&left);
            }
            self.text.push(close);
            self.text.close();
            after = if shown < words.len() { " " } else { space };
        }
        self.space(after);
    }

    /// A text and the white space after it, as far as there is room.
    fn put(&mut self, (text, space): (&str, &str)) {
        let shown = first(text, self.most.saturating_sub(self.length).max(20));
        self.length += shown.chars().count();
        self.text.push(&shown.replace("\n\n", PARAGRAPH));
        if shown.len() < text.len() {
            self.text.push("…");
        }
        self.space(space);
    }

    fn space(&mut self, space: &str) {
        self.text.push(&space.replace("\n\n", PARAGRAPH));
    }

    /// That there is more, and how many differences are in that.
    fn end(&mut self, edits: usize) {
        self.text.trim_end();
        if !self.text.ends_with("…") {
            self.text.push(" …");
        }
        if edits > 0 {
            self.text.push(&format!(" and {}", counted(edits as u64, "more difference")));
        }
    }
}

/// A mark for words that are not shown.
pub(super) fn left_out(words: usize) -> String {
    format!("… {} …", counted(words as u64, "word"))
}

/// Paragraphs follow each other in a line.
const PARAGRAPH: &str = " ¶ ";
