//! The words in which two texts differ, with a few words around each difference.

use super::alignment::{Words, align};
use crate::passages::lcs::Lcs;
use serde::{Serialize, Serializer};
use std::ops::Range;

/// The number of words shown before and after a difference.
const CONTEXT: usize = 10;

/// The maximum number of words shown of a difference, half of them from its end.
const MAX_OWN: usize = 60;

/// The number of bytes of one text after which no further difference is shown.
const MAX_SHOWN: usize = 1000;

/// The maximum number of bytes of one piece.
const MAX_PIECE: usize = 600;

/// The maximum number of bytes of a text that [`Differences::between`] compares.
const MAX_TEXT: usize = 1 << 20;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words that both texts have.
    Shared(String),
    /// Words that only this text has.
    Own(String),
    /// A number of words that are not shown.
    Omitted(usize),
}

/// As `"shared"`, `[1,"own"]` and `[0,7]`.
impl Serialize for Piece {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Piece::Shared(text) => serializer.serialize_str(text),
            Piece::Own(text) => (1, text).serialize(serializer),
            Piece::Omitted(words) => (0, words).serialize(serializer),
        }
    }
}

/// The place of a difference, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The words that only the first text has; empty after the word before it if there are none.
    pub a: Range<usize>,
    /// Those that only the second text has.
    pub b: Range<usize>,
    /// Up to ten words of the first text before it, which both texts have.
    pub before: Range<usize>,
    /// Up to ten words of the first text after it, which both texts have.
    pub after: Range<usize>,
}

/// The words in which two texts differ, with some words around each difference. What is shown of a text is bounded.
///
/// ```
/// use neardups::review::{Differences, Piece};
/// let found = Differences::between("one two three", "one 2 three");
/// let piece = |own: &str| [Piece::Shared("one ".into()), Piece::Own(own.into()), Piece::Shared(" three".into())];
/// assert_eq!((found.a, found.b, found.shown), (piece("two").into(), piece("2").into(), 1));
/// ```
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Differences {
    /// The first text, on a page the kept one.
    #[serde(rename = "kept")]
    pub a: Vec<Piece>,
    /// The second text.
    #[serde(rename = "own")]
    pub b: Vec<Piece>,
    /// The number of differences that are shown.
    pub shown: usize,
    /// The number of further differences.
    pub more: usize,
    /// Whether only the beginnings of the texts were compared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Whether words of a difference that is shown are left out.
    #[serde(skip)]
    pub is_shortened: bool,
    /// The places of the differences that are shown.
    #[serde(skip)]
    pub places: Vec<Difference>,
}

/// How much is shown.
#[derive(Clone, Copy)]
struct Bounds {
    differences: usize,
    /// The bytes of a text, after which no difference is shown, and those of a piece.
    bytes: usize,
    piece: usize,
    /// The words of a difference, half of them from its end.
    own: usize,
}

/// What a person reads at once.
const EXCERPT: Bounds = Bounds { differences: usize::MAX, bytes: MAX_SHOWN, piece: MAX_PIECE, own: MAX_OWN };

/// The pieces of one text so far.
#[derive(Default)]
struct Side {
    pieces: Vec<Piece>,
    bytes: usize,
    is_shortened: bool,
}

impl Side {
    /// Adds words that only this text has.
    fn add_own(&mut self, words: &Words<'_>, range: Range<usize>, bounds: Bounds) {
        self.is_shortened |= self.add(words, range, Some(bounds.piece), (bounds.own / 2, bounds.own / 2));
    }

    /// Adds words that both texts have.
    fn add_shared(&mut self, words: &Words<'_>, range: Range<usize>, context: (usize, usize)) {
        self.add(words, range, None, context);
    }

    /// Adds words, without the omitted ones in the middle. Returns whether some are left out.
    fn add(
        &mut self,
        words: &Words<'_>,
        range: Range<usize>,
        own: Option<usize>,
        (head, tail): (usize, usize),
    ) -> bool {
        if range.len() <= head.saturating_add(tail).saturating_add(1) {
            return self.push(words, range, own);
        }
        let (first, last) = (range.start + head, range.end - tail);
        self.push(words, range.start..first, own);
        self.pieces.push(Piece::Omitted(last - first));
        self.push(words, last..range.end, own);
        true
    }

    /// Adds words that only this text has, with the maximum number of bytes, or that both have. Returns whether some are left out.
    fn push(&mut self, words: &Words<'_>, range: Range<usize>, own: Option<usize>) -> bool {
        if range.is_empty() {
            return false;
        }
        let (space, (piece, is_shortened)) =
            (space(words, range.start), piece(words, &range, own.unwrap_or(MAX_PIECE)));
        self.bytes += piece.len();
        match (own, self.pieces.last_mut()) {
            (None, Some(Piece::Shared(text))) => *text += &format!("{space}{piece}"),
            (None, _) => self.pieces.push(Piece::Shared(format!("{space}{piece}"))),
            (Some(_), last) => {
                match last {
                    Some(Piece::Shared(text)) => text.push_str(space),
                    Some(_) if !space.is_empty() => self.pieces.push(Piece::Shared(space.into())),
                    _ => {}
                }
                self.pieces.push(Piece::Own(piece));
            }
        }
        is_shortened
    }
}

/// Some words, without the white space after the last, and whether there are more bytes than `most`.
fn piece(words: &Words<'_>, range: &Range<usize>, most: usize) -> (String, bool) {
    let text = &words.text[words.bytes(range)];
    match text.floor_char_boundary(most) {
        end if end < text.len() => (format!("{}…", &text[..end]), true),
        _ => (text.to_string(), false),
    }
}

/// The white space before a word, shortened.
fn space(words: &Words<'_>, word: usize) -> &'static str {
    let Some(before) = word.checked_sub(1) else { return "" };
    match &words.text[words.places[before].end..words.places[word].start] {
        "" => "",
        space if space.contains('\n') => "\n",
        _ => " ",
    }
}

impl Differences {
    /// Compares two texts: of long ones the first MiB. About 1,000 bytes of each are shown, and the first and last words of a long difference.
    ///
    /// # Cost
    /// At most some hundred operations for each word, and a sort. Memory: some 80 bytes for each word.
    pub fn between(a: &str, b: &str) -> Self {
        let [(a, a_is_cut), (b, b_is_cut)] = [a, b].map(beginning);
        Differences::new(a, b, a_is_cut || b_is_cut, &mut Lcs::default())
    }

    /// Compares two texts of any length, and shows the first differences, at most `most`, with all of their words.
    ///
    /// # Cost
    /// As for [`between`](Self::between), and the memory for what is shown.
    ///
    /// ```
    /// use neardups::review::Differences;
    /// let found = Differences::first(usize::MAX, "one two three", "one 2 three, four");
    /// let places: Vec<_> = found.places.iter().map(|place| (place.a.clone(), place.b.clone())).collect();
    /// assert_eq!(places, [(4..7, 4..5), (13..13, 11..17)]);
    /// ```
    pub fn first(most: usize, a: &str, b: &str) -> Self {
        let bounds = Bounds { differences: most, bytes: usize::MAX, piece: usize::MAX, own: usize::MAX };
        Differences::within(bounds, [a, b], false, &mut Lcs::default())
    }

    /// Compares the beginnings of two texts, of which some may be cut.
    ///
    /// # Cost
    /// As for [`between`](Self::between).
    pub(super) fn new(a: &str, b: &str, is_cut: bool, lcs: &mut Lcs) -> Self {
        Differences::within(EXCERPT, [a, b], is_cut, lcs)
    }

    fn within(bounds: Bounds, texts: [&str; 2], is_cut: bool, lcs: &mut Lcs) -> Self {
        let texts = texts.map(Words::new);
        let runs = align(&texts, lcs);
        let mut sides = [Side::default(), Side::default()];
        let (mut at, mut last, mut places, mut more) = ([0, 0], 0..0, Vec::new(), 0);
        for (number, run) in runs.iter().enumerate() {
            let starts = [run.a, run.b];
            let is_full = |sides: &[Side; 2], shown| {
                shown >= bounds.differences || sides.iter().any(|side| side.bytes >= bounds.bytes)
            };
            let is_different = at != starts;
            if is_different && is_full(&sides, places.len()) {
                more += 1;
            } else if is_different {
                let [a, b] = [0, 1].map(|side| texts[side].bytes(&(at[side]..starts[side])));
                for side in 0..2 {
                    sides[side].add_own(&texts[side], at[side]..starts[side], bounds);
                }
                let before = last.end - last.len().min(CONTEXT)..last.end;
                let after = run.a..run.a + run.tokens.min(CONTEXT);
                let [before, after] = [before, after].map(|words| texts[0].bytes(&words));
                places.push(Difference { a, b, before, after });
            }
            // After the last difference that is shown, only a few words follow.
            let shown = places.len();
            let is_last = number + 1 == runs.len() || is_full(&sides, shown);
            let head = if starts == [0, 0] { 0 } else { CONTEXT };
            let tail = if is_last { 0 } else { CONTEXT };
            let context = if shown == 0 && is_last { (4 * CONTEXT, 0) } else { (head, tail) };
            for side in 0..2 {
                let words = starts[side]..starts[side] + run.tokens;
                if more == 0 && !words.is_empty() {
                    sides[side].add_shared(&texts[side], words, context);
                }
            }
            last = run.a..run.a + run.tokens;
            at = [run.a + run.tokens, run.b + run.tokens];
        }
        let is_shortened = sides.iter().any(|side| side.is_shortened);
        let [a, b] = sides.map(|side| side.pieces);
        Differences { a, b, shown: places.len(), more, is_cut, is_shortened, places }
    }
}

/// The beginning of a text, up to the end of a word if there is one near, and whether the text goes on.
fn beginning(text: &str) -> (&str, bool) {
    if text.len() <= MAX_TEXT {
        return (text, false);
    }
    let (start, end) = (text.floor_char_boundary(MAX_TEXT - MAX_PIECE), text.floor_char_boundary(MAX_TEXT));
    let word_end = text[start..end].rfind(char::is_whitespace).map_or(end, |space| start + space);
    (&text[..word_end], true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn of(kept: &str, own: &str) -> String {
        let Differences { a: kept, b: own, shown, more, is_cut, .. } = Differences::between(kept, own);
        let side = |pieces: Vec<Piece>| -> String {
            let piece = |piece| match piece {
                Piece::Shared(text) => text,
                Piece::Own(text) => format!("[{text}]"),
                Piece::Omitted(words) => format!("<{words}>"),
            };
            pieces.into_iter().map(piece).collect()
        };
        format!("{} | {} | {shown}+{more}{}", side(kept), side(own), if is_cut { " cut" } else { "" })
    }

    #[test]
    fn differences_are_marked() {
        assert_eq!(of("one two three", "one 2 three"), "one [two] three | one [2] three | 1+0");
        assert_eq!(of("one", "One two"), "[one] | [One two] | 1+0");
        assert_eq!(of("a b c", "a c"), "a [b] c | a c | 1+0");
        assert_eq!(of("the same", "the   same"), "the same | the   same | 0+0");
        assert_eq!(of("", "x"), " | [x] | 1+0");
        assert_eq!(of("", ""), " |  | 0+0");
        assert_eq!(of("end.", "end!"), "end[.] | end[!] | 1+0");
    }

    #[test]
    fn what_is_far_from_a_difference_is_omitted() {
        let words = |from: usize, to: usize| (from..to).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
        let (kept, own) = (words(0, 100), format!("{} new {}", words(0, 50), words(50, 100)));
        let context = |from, to| words(from, to);
        let (before, after) = (context(40, 50), context(50, 60));
        assert_eq!(of(&kept, &own), format!("<40> {before} {after}<40> | <40> {before} [new] {after}<40> | 1+0"));
        let long = words(0, 5000);
        assert_eq!(of(&long, &long), format!("{}<4960> | {}<4960> | 0+0", words(0, 40), words(0, 40)));
        let other = words(10_000, 15_000);
        let found = Differences::new(&long, &other, false, &mut Lcs::default());
        assert!(!found.is_cut && found.is_shortened && found.shown == 1 && found.more == 0, "{found:?}");
    }

    #[test]
    fn only_the_beginnings_of_huge_texts_are_compared() {
        let huge = "word ".repeat(1 << 20);
        let found = Differences::between(&huge, &format!("{huge}another end"));
        assert_eq!((found.shown, found.more, found.is_cut), (0, 0, true));
        let found = Differences::between(&huge, &format!("new {huge}"));
        assert_eq!((found.shown, found.is_cut), (1, true), "{found:?}");
        let found = Differences::between(&"é".repeat(1 << 20), "é");
        assert!(found.is_cut && found.shown == 1, "{found:?}");
    }

    #[test]
    fn pieces_are_bounded() {
        let long = "x".repeat(100_000);
        let found = Differences::new(&long, "y", false, &mut Lcs::default());
        assert_eq!(found.a, [Piece::Own(format!("{}…", "x".repeat(MAX_PIECE)))]);
        assert!(found.is_shortened);
        assert_eq!(Differences::first(1, &long, "y").a, [Piece::Own(long)]);
        let changed: String = (0..4000).map(|n| if n % 3 == 0 { format!("a{n} ") } else { "same ".into() }).collect();
        let kept = "same ".repeat(4000);
        let found = Differences::new(&kept, &changed, false, &mut Lcs::default());
        assert!(found.more > 0 && serde_json::to_string(&found).unwrap().len() < 8 * MAX_SHOWN, "{found:?}");
    }

    /// However far apart they are.
    #[test]
    fn differences_are_found_in_all_of_a_text() {
        let words = |change: &[usize]| -> String {
            (0..20_000)
                .map(|n| if change.contains(&n) { format!("changed{n} ") } else { format!("w{} ", n % 500) })
                .collect()
        };
        for changes in [&[0, 19_999][..], &[0, 3_000, 10_000, 19_999], &[5_000], &[100, 101, 1_990, 2_010, 4_000]] {
            let apart = 1 + changes.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
            let found = Differences::between(&words(&[]), &words(changes));
            assert_eq!((found.shown + found.more, found.is_cut), (apart, false), "{changes:?}");
        }
        // Also after a long insertion.
        let inserted: String = (0..3_000).map(|n| format!("q{n} ")).collect();
        for texts in [
            [words(&[]), format!("{inserted}{}", words(&[19_950]))],
            [format!("{inserted}{}", words(&[50])), words(&[])],
        ] {
            let found = Differences::between(&texts[0], &texts[1]);
            assert_eq!((found.shown + found.more, found.is_cut), (2, false), "{found:?}");
        }
        let (long, short) = (words(&[]), "w0 w1 another w2");
        for [a, b] in [[&*long, short], [short, &*long]] {
            let found = Differences::between(a, b);
            assert!(!found.is_cut && found.shown > 0, "{found:?}");
        }
    }

    #[test]
    fn as_many_as_wanted_are_shown_in_full() {
        let old: String = (0..300).map(|n| format!("old{n} new{n} and{n} here{n} ")).collect();
        let new: String = (0..300).map(|n| format!("old{n} {} here{n} ", "x".repeat(n % 3))).collect();
        for (most, expected) in [(0, 0), (1, 1), (100, 100), (300, 300), (usize::MAX, 300)] {
            let found = Differences::first(most, &old, &new);
            assert_eq!((found.shown, found.shown + found.more, found.places.len()), (expected, 300, expected));
            let own = found.a.iter().filter(|piece| matches!(piece, Piece::Own(_))).count();
            assert!(own == expected && !found.is_shortened && !found.is_cut);
        }
        let [long, other] = ["a", "b"].map(|word| (0..5_000).map(|n| format!("{word}{n} ")).collect::<String>());
        let found = Differences::first(1, &format!("one {long}two"), &format!("one {other}two"));
        assert_eq!((&found.a[1], found.shown), (&Piece::Own(long.trim().into()), 1));
        let place = &found.places[0];
        assert_eq!((place.before.clone(), place.after.len()), (0..3, 3));
        // Texts of any length are compared.
        let huge = "word ".repeat(1 << 18);
        let found = Differences::first(usize::MAX, &huge, &format!("{huge}another end"));
        assert_eq!((found.shown, found.more, found.is_cut), (1, 0, false));
    }

    /// The words of a text that are in none of these ranges.
    fn words_beside(text: &str, ranges: impl Fn(usize) -> bool) -> Vec<&str> {
        let words = text.split_word_bound_indices().filter(|(_, word)| !word.trim().is_empty());
        words.filter(|(start, _)| !ranges(*start)).map(|(_, word)| word).collect()
    }

    /// The number of words in the longest common subsequence, from a table.
    fn longest_common(a: &[&str], b: &[&str]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for word in a {
            let mut diagonal = 0;
            for (j, other) in b.iter().enumerate() {
                let longer = if word == other { diagonal + 1 } else { row[j].max(row[j + 1]) };
                diagonal = std::mem::replace(&mut row[j + 1], longer);
            }
        }
        row[b.len()]
    }

    proptest! {
        /// Without the differences, both texts have the same words, as many as there can be.
        #[test]
        fn places_are_those_of_the_differences(a in "([ab.é漢] ?){0,40}", b in "([ab.é漢] ?){0,40}", most in 0usize..50) {
            let all = Differences::first(usize::MAX, &a, &b);
            let in_a = |byte| all.places.iter().any(|place| place.a.contains(&byte));
            let in_b = |byte| all.places.iter().any(|place| place.b.contains(&byte));
            let [left_a, left_b] = [words_beside(&a, in_a), words_beside(&b, in_b)];
            prop_assert_eq!(&left_a, &left_b);
            prop_assert_eq!(left_a.len(), longest_common(&words_beside(&a, |_| false), &words_beside(&b, |_| false)));
            for place in &all.places {
                prop_assert!(!place.a.is_empty() || !place.b.is_empty());
                prop_assert!(place.before.end <= place.a.start && place.a.end <= place.after.start);
                for range in [&place.before, &place.after] {
                    prop_assert!(words_beside(&a[range.clone()], |_| false).len() <= CONTEXT);
                }
            }
            for pair in all.places.windows(2) {
                prop_assert!(pair[0].after.end <= pair[1].a.start && pair[0].a.end <= pair[1].before.start);
            }
            let first = Differences::first(most, &a, &b);
            prop_assert_eq!(&first.places[..], &all.places[..most.min(all.shown)]);
            prop_assert_eq!(first.shown + first.more, all.shown);
        }

        /// Short texts are shown whole.
        #[test]
        fn nothing_of_a_short_text_is_lost(a in "([ab.é漢] ?){0,12}", b in "([ab.é漢] ?){0,12}") {
            let found = Differences::new(&a, &b, false, &mut Lcs::default());
            for (pieces, text) in [(&found.a, &a), (&found.b, &b)] {
                let shown: String = pieces.iter().map(|piece| match piece {
                    Piece::Shared(text) | Piece::Own(text) => text.as_str(),
                    Piece::Omitted(_) => "?",
                }).collect();
                prop_assert_eq!(shown.trim(), text.trim());
            }
            let shared = |pieces: &[Piece]| -> String {
                let shared = pieces.iter().filter_map(|piece| match piece {
                    Piece::Shared(text) => Some(text.replace(' ', "")),
                    _ => None,
                });
                shared.collect()
            };
            prop_assert_eq!(shared(&found.a), shared(&found.b));
        }
    }
}
