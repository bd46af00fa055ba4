//! The text of a place beside another: parts that both have, parts that only one has, and a few words around.

use super::super::finding::{Pair, Piece, Place, first};
use super::diff::omitted;
use crate::readable::escaped;
use std::borrow::Cow;
use std::ops::Range;

/// Number of words of the same paragraph shown before and after a passage.
const CONTEXT_WORDS: usize = 8;

/// Maximum number of bytes shown before or after a passage. Longer text does not consist of words.
const MAX_CONTEXT_BYTES: usize = 400;

/// Maximum number of words shown of a larger file between the words of a contained one.
const MAX_OWN_WORDS: usize = 20;

/// Number of words shown at both ends of a part of a text that is too long.
const END_WORDS: usize = 12;

/// What is kept of texts.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    /// Maximum number of characters of a text.
    pub chars: usize,
    /// Maximum number of pairs of a finding whose texts are kept.
    pub pairs: usize,
}

/// A part of a text, and the white space after it.
pub(super) struct Part<'a> {
    pub mark: Mark,
    pub text: Cow<'a, str>,
    pub space: &'a str,
}

/// The role of a part of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Words that both places have.
    Shared,
    /// Words that only this place has.
    Own,
    /// Context around the place, or a note.
    Beside,
}

fn beside<'a>(text: impl Into<Cow<'a, str>>, space: &'a str) -> Part<'a> {
    Part { mark: Mark::Beside, text: text.into(), space }
}

/// The text of a place with a few words of context, in about `limit` characters. Of a larger file, only the contained part is shown. Of a
/// text that is too long and has differences, the middle of long parts is left out, so that more differences are shown.
pub(super) fn parts(copy: &Pair, side: usize, limit: usize) -> Vec<Part<'_>> {
    let place = &copy.places[side];
    let [before, after] = around(place);
    let mut parts: Vec<Part> = before.into_iter().collect();
    let pieces = pieces(copy, side);
    let is_omitted =
        |words: &Range<usize>, mark| mark == Mark::Own && words.len() > MAX_OWN_WORDS && copy.whole() == Some(side);
    let shown = pieces.iter().filter(|(words, mark)| !is_omitted(words, *mark));
    let bytes: usize = shown.map(|(words, _)| place.text_of(words.clone()).0.len()).sum();
    let is_short = bytes <= limit || pieces.len() == 1;
    let mut left = limit;
    for (words, mark) in pieces {
        if is_omitted(&words, mark) {
            parts.push(beside(format!("[{}]", omitted(words.len())), place.text_of(words).1));
            continue;
        }
        let ends = if is_short || words.len() <= 2 * END_WORDS + 4 { vec![words] } else { ends(words) };
        for (number, words) in ends.iter().enumerate() {
            let (text, space) = place.text_of(words.clone());
            let shown = first(text, left);
            left -= shown.chars().count();
            parts.push(Part { mark, text: shown.into(), space });
            if shown.len() < text.len() || left == 0 {
                parts.push(beside("…", ""));
                return parts;
            }
            if let Some(next) = ends.get(number + 1) {
                parts.push(beside(format!("[{}]", omitted(next.start - words.end)), " "));
            }
        }
    }
    parts.extend(after);
    parts
}

/// The words of a place, in parts that both places have and parts that only this one has.
fn pieces(copy: &Pair, side: usize) -> Vec<(Range<usize>, Mark)> {
    let piece = |piece| match piece {
        Piece::Shared(words) => (words[side].clone(), Mark::Shared),
        Piece::Edited(words) => (words[side].clone(), Mark::Own),
    };
    let mut pieces: Vec<_> = copy.pieces(side).into_iter().map(piece).collect();
    pieces.retain(|(words, _)| !words.is_empty());
    pieces
}

/// The first and the last of many words.
fn ends(words: Range<usize>) -> Vec<Range<usize>> {
    vec![words.start..words.start + END_WORDS, words.end - END_WORDS..words.end]
}

/// The words before and after a place.
fn around(place: &Place) -> [Option<Part<'_>>; 2] {
    let [(before, more_before), (after, more_after)] = place.page.around(&place.words, CONTEXT_WORDS);
    let (before, after) = (place.page.text_to_next(before), place.page.text(after));
    let fits = |text: &str| (1..=MAX_CONTEXT_BYTES).contains(&text.len());
    let dots = |more: bool, dots: &'static str| if more { dots } else { "" };
    [
        fits(before).then(|| beside(format!("{}{before}", dots(more_before, "… ")), "")),
        fits(after).then(|| beside(format!("{after}{}", dots(more_after, " …")), "")),
    ]
}

/// A text with control characters made visible; line ends and tabs stay.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(crate::readable::controls_display) {
        return text.into();
    }
    let line = |line: &str| line.split('\t').map(escaped).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n").into()
}
