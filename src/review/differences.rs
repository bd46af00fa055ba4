//! The words in which two texts differ, with a few words around each difference.

use crate::passages::Run;
use crate::passages::lcs::Lcs;
use serde::{Serialize, Serializer};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::xxh3_64;

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

/// The number of words of each text that are aligned at once. The cost is its square, divided by 64.
const MAX_ALIGNED: usize = 2000;

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
}

/// A text in words.
struct Words<'a> {
    text: &'a str,
    places: Vec<Range<usize>>,
    hashes: Vec<u64>,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        let words = text.split_word_bound_indices().filter(|(_, word)| !word.trim().is_empty());
        let (places, hashes) = words.map(|(start, word)| (start..start + word.len(), xxh3_64(word.as_bytes()))).unzip();
        Words { text, places, hashes }
    }

    /// Some words, without the white space after the last.
    fn piece(&self, words: &Range<usize>) -> String {
        let text = &self.text[self.places[words.start].start..self.places[words.end - 1].end];
        match text.floor_char_boundary(MAX_PIECE) {
            end if end < text.len() => format!("{}…", &text[..end]),
            _ => text.to_string(),
        }
    }

    /// The white space before a word, shortened.
    fn space(&self, word: usize) -> &'static str {
        let Some(before) = word.checked_sub(1) else { return "" };
        match &self.text[self.places[before].end..self.places[word].start] {
            "" => "",
            space if space.contains('\n') => "\n",
            _ => " ",
        }
    }
}

/// The pieces of one text so far.
#[derive(Default)]
struct Side {
    pieces: Vec<Piece>,
    bytes: usize,
}

impl Side {
    /// Adds words, without the omitted ones in the middle.
    fn add(&mut self, words: &Words<'_>, range: Range<usize>, is_own: bool, (head, tail): (usize, usize)) {
        if range.len() <= head.saturating_add(tail).saturating_add(1) {
            return self.push(words, range, is_own);
        }
        let (first, last) = (range.start + head, range.end - tail);
        self.push(words, range.start..first, is_own);
        self.pieces.push(Piece::Omitted(last - first));
        self.push(words, last..range.end, is_own);
    }

    fn push(&mut self, words: &Words<'_>, range: Range<usize>, is_own: bool) {
        if range.is_empty() {
            return;
        }
        let (space, piece) = (words.space(range.start), words.piece(&range));
        self.bytes += piece.len();
        match (is_own, self.pieces.last_mut()) {
            (false, Some(Piece::Shared(text))) => *text += &format!("{space}{piece}"),
            (false, _) => self.pieces.push(Piece::Shared(format!("{space}{piece}"))),
            (true, last) => {
                match last {
                    Some(Piece::Shared(text)) => text.push_str(space),
                    Some(_) if !space.is_empty() => self.pieces.push(Piece::Shared(space.into())),
                    _ => {}
                }
                self.pieces.push(Piece::Own(piece));
            }
        }
    }
}

impl Differences {
    /// Compares two texts: of long ones the first MiB.
    ///
    /// # Cost
    /// Linear in what is compared: at most some hundred operations for each word. Memory: some MiB.
    pub fn between(a: &str, b: &str) -> Self {
        let [(a, a_is_cut), (b, b_is_cut)] = [a, b].map(beginning);
        Differences::new(a, b, a_is_cut || b_is_cut, &mut Lcs::default())
    }

    /// Compares the beginnings of two texts, of which some may be cut.
    ///
    /// # Cost
    /// Linear in the texts.
    pub(super) fn new(a: &str, b: &str, is_cut: bool, lcs: &mut Lcs) -> Self {
        let texts = [Words::new(a), Words::new(b)];
        let (runs, ends_early) = align(&texts, lcs);
        let is_cut = is_cut || ends_early;
        let mut sides = [Side::default(), Side::default()];
        let (mut at, mut shown, mut more) = ([0, 0], 0, 0);
        for (number, run) in runs.iter().enumerate() {
            let starts = [run.a, run.b];
            let is_full = sides.iter().any(|side| side.bytes >= MAX_SHOWN);
            let is_different = at != starts;
            if is_different && is_full {
                more += 1;
            } else if is_different {
                shown += 1;
                for side in 0..2 {
                    sides[side].add(&texts[side], at[side]..starts[side], true, (MAX_OWN / 2, MAX_OWN / 2));
                }
            }
            // After the last difference that is shown, only a few words follow.
            let is_last = number + 1 == runs.len() || sides.iter().any(|side| side.bytes >= MAX_SHOWN);
            let head = if starts == [0, 0] { 0 } else { CONTEXT };
            let tail = if is_last { 0 } else { CONTEXT };
            let context = if shown == 0 && is_last { (4 * CONTEXT, 0) } else { (head, tail) };
            for side in 0..2 {
                let words = starts[side]..starts[side] + run.tokens;
                if more == 0 && !words.is_empty() {
                    sides[side].add(&texts[side], words, false, context);
                }
            }
            at = [run.a + run.tokens, run.b + run.tokens];
        }
        let [a, b] = sides.map(|side| side.pieces);
        Differences { a, b, shown, more, is_cut }
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

/// The runs of words that both texts have, in order; the last one ends with the texts, and may be empty. And whether only the
/// beginnings of the texts were aligned.
///
/// Between what both texts begin and end with, windows are aligned one after the other. The next one begins behind the last
/// run that begins in the first three quarters of a window. Where there is none in the last three quarters of one, such as
/// behind a long insertion, the texts are not aligned any further.
fn align(texts: &[Words<'_>; 2], lcs: &mut Lcs) -> (Vec<Run>, bool) {
    let [a, b] = texts.each_ref().map(|words| words.hashes.as_slice());
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let ends = [a.len() - tail, b.len() - tail];
    let mut runs = vec![Run { a: 0, b: 0, tokens: head }];
    let (mut at, mut is_cut) = ([head, head], false);
    let mut found = Vec::new();
    while at[0] < ends[0] && at[1] < ends[1] {
        let window = |side: usize| at[side]..(at[side] + MAX_ALIGNED).min(ends[side]);
        let is_last = (0..2).all(|side| window(side).end == ends[side]);
        found.clear();
        lcs.common(&a[window(0)], &b[window(1)], &mut found);
        if !is_last {
            let is_certain = |run: &Run| run.a.max(run.b) < MAX_ALIGNED / 4 * 3;
            found.truncate(found.partition_point(is_certain));
        }
        let start = at;
        runs.extend(found.iter().map(|run| Run { a: run.a + start[0], b: run.b + start[1], tokens: run.tokens }));
        at = match found.last() {
            _ if is_last => ends,
            Some(run) if run.a.max(run.b) + run.tokens >= MAX_ALIGNED / 4 => {
                [start[0] + run.a + run.tokens, start[1] + run.b + run.tokens]
            }
            _ => {
                is_cut = true;
                break;
            }
        };
    }
    runs.push(Run { a: ends[0], b: ends[1], tokens: tail });
    // Runs that continue each other are one.
    runs.retain(|run| run.tokens > 0);
    runs.dedup_by(|next, run| {
        let continues = [run.a + run.tokens, run.b + run.tokens] == [next.a, next.b];
        run.tokens += if continues { next.tokens } else { 0 };
        continues
    });
    if runs.last().is_none_or(|run| [run.a + run.tokens, run.b + run.tokens] != [a.len(), b.len()]) {
        runs.push(Run { a: a.len(), b: b.len(), tokens: 0 });
    }
    (runs, is_cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(kept: &str, own: &str) -> String {
        let Differences { a: kept, b: own, shown, more, is_cut } = Differences::between(kept, own);
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
        assert!(found.is_cut && found.shown == 1 && found.more == 0, "{found:?}");
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
        // Behind a long insertion nothing is aligned, and that is said.
        let inserted: String = (0..3_000).map(|n| format!("q{n} ")).collect();
        for texts in [
            [words(&[]), format!("{inserted}{}", words(&[19_950]))],
            [format!("{inserted}{}", words(&[50])), words(&[])],
        ] {
            let found = Differences::between(&texts[0], &texts[1]);
            assert!(found.is_cut && found.shown == 1, "{found:?}");
        }
        let (long, short) = (words(&[]), "w0 w1 another w2");
        for [a, b] in [[&*long, short], [short, &*long]] {
            let found = Differences::between(a, b);
            assert!(found.is_cut || found.shown > 0);
        }
    }

    proptest! {
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
