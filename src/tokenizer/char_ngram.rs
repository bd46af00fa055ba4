//! Runs of N characters of any kind.

use super::ascii::{ascii_prefix, is_white, turns_ascii};
use super::normalise::{Normalised, Segments};
use super::{TokenDetail, Tokenizer, Tokens};
use std::borrow::Cow;
use std::ops::Range;

/// Runs of N characters of the normalised text, one starting at each character.
///
/// # What a token is
/// N consecutive characters, including white space. A text with fewer than N characters, but at least one, is a single
/// token.
///
/// # What is normalised
/// [Invisible characters](super#what-does-not-count) are removed. Then NFKC and full case folding are applied. Then
/// each run of White_Space becomes one space, and white space at both ends is removed. Canonically equivalent texts
/// have the same tokens. The span of a token reaches from the first to the last normalisation segment that it has
/// characters of.
///
/// # Cost
/// One hash a character, and one copy of the text, normalised. With N = 4: 230 MB/s on ASCII, 160 on texts with up to
/// 2 % of bytes beyond ASCII, 125 on those with 2 to 20 %, 115 above. See [the module](crate::tokenizer) for what was
/// measured.
///
/// # Weak
/// As many tokens as characters: six times those of `word` on English. One changed character changes N tokens, and
/// common endings and function words make unrelated texts look slightly similar. Intended for texts with too few words.
#[derive(Clone, Copy, Debug)]
pub struct CharNgram {
    n: usize,
}

impl CharNgram {
    /// Runs of `n` characters.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn new(n: usize) -> Self {
        assert!(n >= 1, "a run has at least one character");
        CharNgram { n }
    }

    /// The advised length for short texts, such as e-mails (Leskovec, Rajaraman & Ullman, *Mining of Massive Datasets*,
    /// section 3.2.2).
    pub const SHORT: usize = 5;
    /// The advised length for long texts, such as research articles (as above).
    pub const LONG: usize = 9;
    /// The number of words from which a text is long. Our choice: the source has no number; e-mails have a few hundred
    /// words, articles several thousand.
    pub const LONG_FROM_WORDS: usize = 1000;
    /// Shorter runs are in nearly every long text of an alphabet: there are few of them, 27³ at most of three letters and
    /// spaces, so unrelated texts share most of theirs.
    pub const LEAST_ADVISED: usize = 4;

    /// The advised length for texts with this median number of words ([`WordLength`](super::WordLength)): [`SHORT`](Self::SHORT), or [`LONG`](Self::LONG)
    /// from [`LONG_FROM_WORDS`](Self::LONG_FROM_WORDS) on.
    pub const fn for_length(median_words: usize) -> usize {
        if median_words < Self::LONG_FROM_WORDS { Self::SHORT } else { Self::LONG }
    }
}

impl Tokenizer for CharNgram {
    fn name(&self) -> Cow<'_, str> {
        format!("char:{}", self.n).into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        tokens.clear();
        let mut line = std::mem::take(&mut tokens.scratch);
        line.clear();
        let with_spans = tokens.detail() == TokenDetail::Everything;
        Line { line: &mut line, tokens, gap: None, with_spans }.fill(text);
        if !tokens.is_beyond_bound() {
            tokens.hold_beside(line.bytes_held());
            self.push_runs(&line, tokens);
        }
        tokens.hold_beside(0);
        tokens.scratch = line;
    }
}

impl CharNgram {
    fn push_runs(&self, line: &Normalised, tokens: &mut Tokens) {
        let text = line.text.as_str();
        // Spans are not there if nobody asked for them.
        let span = |first: usize, last: usize| match last < line.spans.len() {
            true => line.spans.get(first).start..line.spans.get(last).end,
            false => 0..0,
        };
        if !tokens.reserve((text.chars().count() + 1).saturating_sub(self.n)) {
            return;
        }
        if text.is_ascii() && text.len() > self.n {
            for (i, run) in text.as_bytes().windows(self.n).enumerate() {
                tokens.push_ascii(run, span(i, i + self.n - 1));
            }
            return;
        }
        // Two walks over the characters, the second N ahead of the first: where runs start and where they end.
        let starts = text.char_indices().map(|(start, _)| start);
        let ends = text.char_indices().map(|(end, _)| end).chain([text.len()]).skip(self.n);
        let mut count = 0;
        for (i, (start, end)) in starts.zip(ends).enumerate() {
            tokens.push(&text[start..end], span(i, i + self.n - 1));
            count += 1;
        }
        if count == 0 && !text.is_empty() {
            tokens.push(text, span(0, line.spans.len().saturating_sub(1)));
        }
    }
}

/// Normalised text under construction, with its white space collapsed.
struct Line<'a> {
    line: &'a mut Normalised,
    /// What the memory is shared with.
    tokens: &'a mut Tokens,
    /// White space since the last character. It becomes one space if another character follows.
    gap: Option<Range<usize>>,
    with_spans: bool,
}

impl Line<'_> {
    /// Adds all of the text, as far as there is memory.
    fn fill(&mut self, text: &str) {
        let mut at = 0;
        self.has_room(text.len(), false);
        while at < text.len() && !self.tokens.is_beyond_bound() {
            let ascii = at + ascii_prefix(&text.as_bytes()[at..]);
            // What follows may be a mark that changes the last character.
            let alone = if ascii < text.len() { ascii.saturating_sub(1).max(at) } else { ascii };
            self.add_ascii(&text[at..alone], at);
            let mut segments = Segments::from(text, alone);
            while let Some(segment) = segments.next() {
                let bytes = segment.bytes_to_normalise();
                if bytes > 0 {
                    self.tokens.hold_beside(self.line.bytes_held());
                }
                if self.tokens.has_room_for(bytes) {
                    segment.each_folded(|c| self.add(c, segment.range()));
                }
                if turns_ascii(&text.as_bytes()[segments.at()..]) || self.tokens.is_beyond_bound() {
                    break;
                }
            }
            at = segments.at();
        }
    }

    /// Makes room for so many bytes, unless there is no memory.
    #[inline]
    fn has_room(&mut self, bytes: usize, with_spans: bool) -> bool {
        let has_room = self.line.reserve(bytes, with_spans, || self.tokens.room_beside());
        if !has_room {
            self.tokens.give_up();
        }
        has_room
    }

    /// Adds ASCII from byte `start` on, word by word; the case of all of it is folded at once.
    fn add_ascii(&mut self, ascii: &str, start: usize) {
        let before = self.line.text.len();
        let mut at = 0;
        while at < ascii.len() {
            let length = |bytes: &[u8]| bytes.iter().position(|&b| is_white(b)).unwrap_or(bytes.len());
            let end = at + length(&ascii.as_bytes()[at..]);
            if end > at {
                if !self.has_room(1 + end - at, self.with_spans) {
                    return;
                }
                self.finish_gap();
                self.line.text.push_str(&ascii[at..end]);
                if self.with_spans {
                    self.line.spans.extend_short((start + at..start + end).map(|i| i..i + 1));
                }
            }
            if end < ascii.len() {
                self.widen_gap(start + end..start + end + 1);
            }
            at = end + 1;
        }
        self.line.text[before..].make_ascii_lowercase();
    }

    /// Adds one normalised and folded character, which came from `from`.
    #[inline]
    fn add(&mut self, c: char, from: Range<usize>) {
        if c.is_whitespace() {
            self.widen_gap(from);
        } else if self.has_room(1 + c.len_utf8(), self.with_spans) {
            self.finish_gap();
            self.line.push(c, from, self.with_spans);
        }
    }

    #[inline]
    fn widen_gap(&mut self, from: Range<usize>) {
        self.gap = Some(self.gap.as_ref().map_or(from.start, |gap| gap.start)..from.end);
    }

    #[inline]
    fn finish_gap(&mut self) {
        if let Some(gap) = self.gap.take()
            && !self.line.text.is_empty()
        {
            self.line.push(' ', gap, self.with_spans);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::{nasty_text, normalised, shown, texts};
    use caseless::Caseless;
    use proptest::prelude::*;

    /// The definition on the whole text, without spans.
    fn plain(n: usize, text: &str) -> Vec<String> {
        let folded: String = normalised(text).chars().default_case_fold().collect();
        let line: Vec<char> = folded.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
        let n = n.min(line.len()).max(1);
        line.windows(n).map(|run| run.iter().collect()).collect()
    }

    fn check(n: usize, text: &str) {
        let tokens: Vec<_> = shown(&CharNgram::new(n), text).into_iter().map(|(token, _)| token).collect();
        assert_eq!(tokens, plain(n, text), "{n} {text:?}");
    }

    #[test]
    fn spans_cover_what_a_run_came_from() {
        let tokens = shown(&CharNgram::new(2), " A \r\n e\u{301}x ");
        assert_eq!(tokens, [("a ".into(), 1..6), (" é".into(), 2..9), ("éx".into(), 6..10)]);
    }

    #[test]
    fn short_texts_are_one_token() {
        assert_eq!(shown(&CharNgram::new(4), " aé "), [("aé".into(), 1..4)]);
        assert_eq!(shown(&CharNgram::new(4), " ab "), [("ab".into(), 1..3)]);
        assert_eq!(shown(&CharNgram::new(4), " \u{a0}\n"), []);
        assert_eq!(shown(&CharNgram::new(2), "ab"), [("ab".into(), 0..2)]);
    }

    proptest! {
        #[test]
        fn runs_are_those_of_the_plain_definition(
            n in 1usize..7,
            text in prop_oneof![texts(), nasty_text(), any::<String>()],
        ) {
            check(n, &text);
        }
    }
}
