//! The marks after words that are cut, where they would be left alone.

use std::ops::Range;

/// Marks that end a sentence, or precede one.
const ENDS: &str = ".!?…:;؟۔।॥։።";

/// The same in scripts without white space between sentences.
const WIDE_ENDS: &str = "。．！？：；｡";

/// Further marks that stand directly after a word.
const COMMAS: &str = ",،؛，、､";

/// Quotation marks and brackets: what opens, and what closes. One can close several.
const PAIRS: [(char, char); 16] = [
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('‘', '’'),
    ('‚', '‘'),
    ('«', '»'),
    ('»', '«'),
    ('‹', '›'),
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('「', '」'),
    ('『', '』'),
    ('（', '）'),
    ('《', '》'),
    ('【', '】'),
];

/// What is left of a text before a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Before {
    /// Whether a sentence begins here: at the beginning, after a line end, or after a mark that ends a sentence and white space.
    begins_sentence: bool,
    begins_line: bool,
}

impl Before {
    /// Nothing.
    pub fn nothing() -> Self {
        Before { begins_sentence: true, begins_line: true }
    }

    /// Adds what is left between two cuts.
    pub fn add(&mut self, left: &str) {
        let words = left.trim_end();
        let is_closing = |c: char| c == '"' || closed_by(c).next().is_some();
        let (space, closed) = (&left[words.len()..], words.trim_end_matches(is_closing));
        self.begins_line &= left.is_empty();
        self.begins_line |= left.ends_with(is_line_end);
        self.begins_sentence = match closed.chars().next_back() {
            _ if space.contains(is_line_end) => true,
            None => words.is_empty() && self.begins_sentence,
            Some(last) => WIDE_ENDS.contains(last) || ENDS.contains(last) && !space.is_empty(),
        };
    }
}

/// Where a cut ends that takes the marks after its last word, and white space after them, so that what is left does not begin a sentence with
/// them. `limit` is where the next word begins.
///
/// - A sentence begins where the cut does.
/// - The marks are those that end a sentence or a part of it, and quotation marks and brackets that open within the cut. White space or
///   the end follows them, unless one is of a script without white space.
/// - Of the white space after them goes what is before a line end. If the cut begins a line, the line ends go too.
pub(super) fn end_with_marks(text: &str, cut: Range<usize>, before: Before, limit: usize) -> usize {
    let Some(rest) = text.get(cut.end..limit).filter(|_| before.begins_sentence) else { return cut.end };
    let words = &text[cut.clone()];
    let mut open = Open { words, left: Vec::new() };
    let is_mark = |c: char| [ENDS, WIDE_ENDS, COMMAS].iter().any(|marks| marks.contains(c)) || open.is_closed_by(c);
    let (marks, after) = rest.split_at(rest.len() - rest.trim_start_matches(is_mark).len());
    let is_before_space = after.chars().next().map_or(limit == text.len(), char::is_whitespace);
    if marks.is_empty() || !is_before_space && !marks.contains(|c| WIDE_ENDS.contains(c)) {
        return cut.end;
    }
    let space = &after[..after.len() - after.trim_start().len()];
    let taken = match before.begins_line {
        true => space.rfind(is_line_end).map_or(space.len(), |at| at + 1),
        false => space.find(is_line_end).unwrap_or(space.len()),
    };
    cut.end + marks.len() + taken
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

/// What a mark closes.
fn closed_by(mark: char) -> impl Iterator<Item = char> {
    PAIRS.iter().filter(move |(_, close)| *close == mark).map(|(open, _)| *open)
}

/// The quotation marks and brackets that words open.
struct Open<'w> {
    words: &'w str,
    /// How many of each mark can close one, of the marks that were seen.
    left: Vec<(char, usize)>,
}

impl Open<'_> {
    /// Whether a mark closes one that the words open, and no mark before it closed.
    ///
    /// Cost: the words are read once for each mark that there is.
    fn is_closed_by(&mut self, mark: char) -> bool {
        if mark != '"' && closed_by(mark).next().is_none() {
            return false;
        }
        let at = self.left.iter().position(|&(seen, _)| seen == mark).unwrap_or_else(|| {
            self.left.push((mark, self.count(mark)));
            self.left.len() - 1
        });
        let left = &mut self.left[at].1;
        let is_open = *left > 0;
        *left = left.saturating_sub(1);
        is_open
    }

    fn count(&self, mark: char) -> usize {
        let count = |wanted: char| self.words.chars().filter(|&c| c == wanted).count();
        match mark {
            '"' => count('"') % 2,
            _ => closed_by(mark).map(|open| count(open).saturating_sub(count(mark))).max().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text without what is between `<` and `>`.
    fn left(marked: &str) -> String {
        let (mut text, mut cuts, mut open) = (String::new(), Vec::new(), 0);
        for c in marked.chars() {
            match c {
                '<' => open = text.len(),
                '>' => cuts.push(open..text.len()),
                c => text.push(c),
            }
        }
        let (mut left, mut at, mut before) = (String::new(), 0, Before::nothing());
        for cut in cuts {
            before.add(&text[at..cut.start]);
            left += &text[at..cut.start];
            let limit = text[cut.end..].find(char::is_alphanumeric).map_or(text.len(), |next| cut.end + next);
            at = end_with_marks(&text, cut, before, limit);
        }
        left + &text[at..]
    }

    fn check(cases: &[(&str, &str)]) {
        for (marked, expected) in cases {
            assert_eq!(left(marked), *expected, "{marked}");
        }
    }

    #[test]
    fn marks_that_would_begin_a_sentence() {
        check(&[
            ("Before. <Some words>. After.", "Before. After."),
            ("<Some words>. After.", "After."),
            ("<Some (words>). After.", "After."),
            // What nothing opens stays.
            ("<Some (words>)). After.", ")). After."),
            ("Before. <Some words>.", "Before. "),
            ("<Some words>.", ""),
            ("Before. <Some words>?! After.", "Before. After."),
            ("Before! <Some words>, and after.", "Before! and after."),
            ("He said: <some words>. After.", "He said: After."),
            ("(Before.) <Some words>. After.", "(Before.) After."),
            ("\"Before.\" <Some words>. After.", "\"Before.\" After."),
            ("Before\n<some words>. After.", "Before\nAfter."),
            ("<One>. <Two>. After.", "After."),
            ("Before. <One> <two>. After.", "Before.  After."),
            ("Before. <One>. Two. <Three>.", "Before. Two. "),
            ("前。<中>。后", "前。后"),
            ("<中>。后", "后"),
        ]);
    }

    #[test]
    fn marks_of_what_is_left_stay() {
        check(&[
            // The sentence begins before the cut.
            ("Before <some words>. After.", "Before . After."),
            ("Before, <some words>. After.", "Before, . After."),
            ("Before <one> <two>. After.", "Before  . After."),
            ("Before.<Some words>. After.", "Before.. After."),
            ("Before-<some words>. After.", "Before-. After."),
            ("前<中>。后", "前。后"),
            ("前，<中>。后", "前，。后"),
            // These close what is before the cut.
            ("Before. (<Some words>). After.", "Before. (). After."),
            ("\"<Some words>.\" After.", "\".\" After."),
            ("(Before: <some words>). After.", "(Before: ). After."),
            ("\"Before. <Some words>.\" After.", "\"Before. .\" After."),
            // These begin something.
            ("Before. <Some words> .5 after.", "Before.  .5 after."),
            ("Before. <Some words>.5 after.", "Before. .5 after."),
            ("Before. <Some words> \"After.\"", "Before.  \"After.\""),
            ("Before. <Some words>\n- After", "Before. \n- After"),
        ]);
    }

    #[test]
    fn what_opens_within_the_cut_closes_with_it() {
        check(&[
            ("Before. <He said: \"Some words>.\" After.", "Before. After."),
            ("Before. <He said: “Some words>.” After.", "Before. After."),
            ("Before. <Er sagte: „Worte>.“ After.", "Before. After."),
            ("Before. <Words (see there>). After.", "Before. After."),
            ("Before. <\"Some\" words>\" After.", "Before. \" After."),
            ("前。<他说：「中>。」后", "前。后"),
        ]);
    }

    #[test]
    fn lines_stay_apart() {
        check(&[
            ("Before.\n\n<Some words>.\n\nAfter.", "Before.\n\nAfter."),
            ("Before. <Some words>.\n\nAfter.", "Before. \n\nAfter."),
            ("Before.\n<Some words>. After.", "Before.\nAfter."),
            ("<Some words>.\r\n    code()", "    code()"),
            ("Before. <Some words>. \t\n    code()", "Before. \n    code()"),
        ]);
    }
}
