//! The differences between two places on one line, marked as in `git diff --word-diff`.

use super::super::find::Kind;
use super::super::finding::{Pair, Piece, Place, first};
use super::marked::{Mark, Marked};
use crate::readable::counted;
use std::ops::Range;

/// Number of shared words shown on either side of a difference, if not all are shown.
const CONTEXT_WORDS: usize = 5;

/// Maximum length in words of an edit between whole files that is shown completely; of a longer one, the first words are shown.
const MAX_EDIT_WORDS: usize = 30;
const FIRST_EDIT_WORDS: usize = 10;

/// Number of words shown of a text that both places have in full, and of characters.
const BEGINNING_WORDS: usize = 30;
const BEGINNING_CHARS: usize = 300;

/// The differences in about `limit` characters: `[-words-]` are missing from the primary place, `{+words+}` only it has. Shared words are
/// shown too; for whole files, a few around each difference.
pub(super) fn word_diff(copy: &Pair, limit: usize) -> Marked {
    diff(copy, limit, copy.kind == Kind::File)
}

/// The same with only a few shared words around each difference, whatever the kind.
pub(super) fn edits(copy: &Pair, limit: usize) -> Marked {
    diff(copy, limit, true)
}

fn diff(copy: &Pair, limit: usize, is_brief: bool) -> Marked {
    let (primary, pieces) = (copy.primary, copy.pieces(copy.primary));
    let is_edit = |piece: Option<&Piece>| matches!(piece, Some(Piece::Edited(_)));
    if is_brief && !pieces.iter().any(|piece| is_edit(Some(piece))) {
        let order = if copy.is_reordered() { " in another order" } else { "" };
        return Marked::default().text(&format!("The same words{order}: {}", beginning(&copy.places[primary])));
    }
    let mut diff = Diff { text: Marked::default(), length: 0, limit, is_brief };
    if copy.is_reordered() {
        diff.text.push("Some of it is in another order. ");
    }
    for (number, piece) in pieces.iter().enumerate() {
        if diff.length >= limit {
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

/// The first words of a place, on one line.
fn beginning(place: &Place) -> String {
    let words = place.words.start..place.words.end.min(place.words.start + BEGINNING_WORDS);
    let more = if words.end < place.words.end { " …" } else { "" };
    let text: Vec<&str> = place.page.text(words).split_whitespace().collect();
    first(&text.join(" "), BEGINNING_CHARS).to_string() + more
}

/// How many words of an edit are shown. Words of a larger file outside of the contained one are not shown.
fn shown(copy: &Pair, side: usize, words: usize) -> usize {
    match copy.kind == Kind::File && words > MAX_EDIT_WORDS {
        true if copy.whole() == Some(side) => 0,
        true => FIRST_EDIT_WORDS,
        false => words,
    }
}

/// The delimiters of words that only the other place has, and of words that only the primary place has.
pub(super) const MARKS: [(Mark, [&str; 2]); 2] = [(Mark::Removed, ["[-", "-]"]), (Mark::Added, ["{+", "+}"])];

struct Diff {
    text: Marked,
    /// Number of characters shown so far, and the limit.
    length: usize,
    limit: usize,
    /// Whether only a few shared words are shown around each difference.
    is_brief: bool,
}

impl Diff {
    /// Adds shared words. `beside` says whether an edit is before and after them.
    fn shared(&mut self, place: &Place, words: Range<usize>, beside: [bool; 2]) {
        let [head, tail] = beside.map(|beside| if beside { CONTEXT_WORDS } else { 0 });
        if !self.is_brief || words.len() <= head + tail {
            self.put(place.text_of(words));
            return;
        }
        if head > 0 {
            self.put(place.text_of(words.start..words.start + head));
        }
        if !self.text.ends_with("… ") {
            self.text.push(if self.text.ends_with("…") { " " } else { "… " });
        }
        if tail > 0 {
            self.put(place.text_of(words.end - tail..words.end));
        }
    }

    /// Adds words that only the other place has, and words that only the primary place has.
    fn edited(&mut self, removed: (&Place, Range<usize>, usize), added: (&Place, Range<usize>, usize)) {
        let mut after = "";
        for ((place, words, shown), (mark, [open, close])) in [removed, added].into_iter().zip(MARKS) {
            if words.is_empty() {
                continue;
            }
            let (text, space) = place.text_of(words.start..words.start + shown);
            self.text.open(mark);
            self.text.push(open);
            self.put((text, ""));
            if shown < words.len() {
                let left = format!("{}{}", if shown > 0 { " " } else { "" }, omitted(words.len() - shown));
                self.length += left.chars().count();
                self.text.push(&left);
            }
            self.text.push(close);
            self.text.close();
            after = if shown < words.len() { " " } else { space };
        }
        self.space(after);
    }

    /// Adds a text and the white space after it, up to the limit.
    fn put(&mut self, (text, space): (&str, &str)) {
        let mut shown = whole_words(text, first(text, self.limit.saturating_sub(self.length).max(20)));
        if shown.len() < text.len() {
            // The end of a paragraph may be cut in two.
            shown = shown.trim_end();
        }
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

    /// Adds a note that the rest is omitted, with its number of differences.
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

/// The beginning of a text without the last word if that is cut; all of it if the word is longer than [`MAX_CUT`].
fn whole_words<'a>(text: &str, beginning: &'a str) -> &'a str {
    let is_cut = text[beginning.len()..].starts_with(|c: char| !c.is_whitespace());
    let is_near = |end: &usize| beginning[*end..].chars().count() <= MAX_CUT;
    let end = beginning.rfind(char::is_whitespace).filter(|&end| is_cut && end > 0).filter(is_near);
    end.map_or(beginning, |end| &beginning[..end])
}

/// A note in place of omitted words.
pub(super) fn omitted(words: usize) -> String {
    format!("… {} …", counted(words as u64, "word"))
}

/// Maximum number of characters of a word that is cut off. Some scripts have no white space between words.
const MAX_CUT: usize = 30;

/// Separates paragraphs on one line.
const PARAGRAPH: &str = " ¶ ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_within_the_end_of_a_paragraph_leaves_nothing_of_it() {
        for limit in 20..40 {
            let mut diff = Diff { text: Marked::default(), length: 0, limit, is_brief: false };
            diff.put(("one two three four.\n\nfive six seven eight", ""));
            let shown = diff.text.into_string();
            assert!(!shown.contains("\\n"), "{limit}: {shown}");
            assert!(shown.starts_with("one two three"), "{limit}: {shown}");
        }
    }
}
