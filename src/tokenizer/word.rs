//! The default tokenizer: words in scripts with spaces, and characters elsewhere.

use super::ascii::turns_ascii;
use super::normalise::{Normalised, Segment, Segments};
use super::properties::Properties;
use super::{Tokenizer, Tokens};
use crate::kernel::Level;
use crate::kernel::words::{Block, is_word};
use std::borrow::Cow;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Words, case folded; single characters in Chinese, Japanese, Thai, Lao, Khmer and Burmese.
///
/// # What a token is
/// A run of letters, digits and `_` (`char::is_alphanumeric`), with the combining marks that follow them. All other
/// characters separate and are dropped: `don't` is `don` and `t`, `e-mail` is `e` and `mail`. Exceptions:
/// * each Han, Hiragana or Katakana character, with the marks that follow it, is a token of its own, and so are the
///   marks for repetition and length that only these scripts use (々 〆 〱 ゝ ー 〼);
/// * a run of Thai, Lao, Khmer or Burmese is cut at extended grapheme clusters, each a token. Digits of these scripts
///   are part of the run.
///
/// A mark without a base character belongs to the separator before it.
///
/// # What is normalised
/// [Invisible characters](super#what-does-not-count) are removed. Then NFKC and full case folding are applied to the
/// whole text before it is cut: `Straße`, `STRASSE` and `ﬁne` equal `strasse` and `fine`, and canonically equivalent
/// texts have the same tokens. The span of a token reaches from the first to the last normalisation segment that it has
/// characters of; two tokens from one character (`㍿`, `½`) have the same span.
///
/// # Cost
/// One pass; nothing is copied but what folding or normalisation changes. 820 MB/s on ASCII, 720 on texts with up to
/// 2 % of bytes beyond ASCII, 350 on those with 2 to 20 %, 240 above; 300 on Chinese and Japanese, 320 on Cyrillic,
/// 75 on Thai. See [the module](crate::tokenizer) for what was measured.
///
/// # Weak
/// * Folding follows normalisation and is not normalised again: a capital I or J with two marks may differ from its
///   small letter (J, dot below, caron).
/// * Words that differ in Arabic vowel signs, Hebrew points or a zero-width non-joiner alone are the same.
/// * Runs of Javanese, Balinese and other scripts without spaces, not in the list above, are single long tokens.
/// * What is a letter depends on the Unicode version of the compiler's standard library: unassigned characters
///   separate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Word;

impl Tokenizer for Word {
    fn name(&self) -> Cow<'_, str> {
        "word".into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        tokens.clear();
        let mut at = 0;
        while at < text.len() && !tokens.is_beyond_bound() {
            at = ascii_words(text.as_bytes(), at, tokens);
            if at < text.len() {
                at = Cutter::new(text, tokens).cut_from(at);
            }
        }
    }
}

/// Takes ASCII words from `at` on. Returns the position where the [`Cutter`] continues: the end, or the beginning of a
/// word that is too long for a block or touches a character beyond ASCII. That character may be a mark that changes the
/// character before it, so even a separator is left to the cutter.
fn ascii_words(bytes: &[u8], mut at: usize, tokens: &mut Tokens) -> usize {
    let (mut block, level) = (Block::EMPTY, Level::current());
    while at < bytes.len() {
        block.fill(level, &bytes[at..]);
        let ascii = block.ascii();
        let below = 1u64.checked_shl(ascii as u32).map_or(!0, |bit| bit - 1);
        let (starts, ends) = (block.starts() & below, block.ends() & below);
        tokens.push_words(&block, at, starts, ends);
        // Starts with an end come first.
        let unfinished =
            (starts.count_ones() > ends.count_ones()).then(|| at + (u64::BITS - 1 - starts.leading_zeros()) as usize);
        at = match unfinished {
            _ if ascii < Block::LEN => {
                let last = at + ascii.saturating_sub(1);
                return unfinished.unwrap_or(last);
            }
            Some(start) if start == at => return at,
            // The next block begins with the word that this one cuts.
            Some(start) => start,
            None if bytes.len() - at <= Block::LEN => bytes.len(),
            // A mark may follow, so the last separator is read again.
            None => at + Block::LEN - 1,
        };
    }
    at
}

/// The state of the token that is being built, after the previous character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// No token.
    Nothing,
    /// A word, which the next letter continues.
    Word,
    /// A Han or Kana character, which only marks continue.
    Alone,
    /// A run of Thai, Lao, Khmer or Burmese, to be cut into grapheme clusters when it ends.
    Run,
}

/// Cuts any text at all, one segment after the other; the definition of the tokenizer as a state machine.
struct Cutter<'a> {
    text: &'a str,
    tokens: &'a mut Tokens,
    open: Open,
    /// The bytes that the token being built came from.
    span: Range<usize>,
    /// The end of these bytes in the token being built, if they were changed. Nothing is copied until something
    /// changes.
    copied: usize,
    /// The run being built.
    run: Normalised,
}

impl<'a> Cutter<'a> {
    fn new(text: &'a str, tokens: &'a mut Tokens) -> Self {
        let run = std::mem::take(&mut tokens.scratch);
        tokens.hold_beside(run.bytes_held());
        Cutter { text, tokens, open: Open::Nothing, span: 0..0, copied: 0, run }
    }

    /// Cuts from `at` until the text consists of ASCII words again, or to the end. Returns that position.
    fn cut_from(mut self, at: usize) -> usize {
        self.run.clear();
        let mut segments = Segments::from(self.text, at);
        while let Some(segment) = segments.next() {
            self.place_segment(segment);
            if self.open == Open::Word {
                self.span.end = segments.pass(continues_word);
            }
            let turns_ascii = self.open == Open::Nothing && begins_ascii_words(&self.text.as_bytes()[segments.at()..]);
            if turns_ascii || self.tokens.is_beyond_bound() {
                break;
            }
        }
        self.close();
        self.tokens.scratch = self.run;
        self.tokens.hold_beside(0);
        segments.at()
    }

    #[inline]
    fn place_segment(&mut self, segment: Segment) {
        match segment.as_is() {
            Some(properties) => self.place(properties, None, segment.range()),
            None => {
                let bytes = segment.bytes_to_normalise();
                if bytes > 0 {
                    self.tokens.hold_beside(self.run.bytes_held());
                }
                if self.tokens.has_room_for(bytes) {
                    segment.each_folded(|c| self.place(Properties::of(c), Some(c), segment.range()));
                }
            }
        }
    }

    /// Adds one normalised and folded character from `from`: `changed`, or if that is `None` the original.
    #[inline]
    fn place(&mut self, properties: Properties, changed: Option<char>, from: Range<usize>) {
        let open = match self.open {
            // A mark belongs to the text before it.
            open if properties.any(Properties::MARK) => open,
            _ if properties.any(Properties::ALONE) => Open::Alone,
            _ if properties.any(Properties::UNSPACED) => Open::Run,
            _ if properties.any(Properties::LETTER.and(Properties::NUMBER)) => Open::Word,
            _ => Open::Nothing,
        };
        let continues = open == self.open && (open != Open::Alone || properties.any(Properties::MARK));
        if !continues {
            self.close();
            self.open = open;
            self.span.start = from.start;
            self.copied = from.start;
        }
        self.span.end = from.end;
        match (open, changed) {
            (Open::Nothing, _) | (Open::Word | Open::Alone, None) => {}
            (Open::Word | Open::Alone, Some(c)) => self.copy(c, from),
            (Open::Run, c) => self.extend_run(c, from),
        }
    }

    /// Copies the text before `from` that is not copied yet, then `c` in the place of `from`.
    fn copy(&mut self, c: char, from: Range<usize>) {
        // Of several characters of a segment, only the first has text before it.
        let before = self.text.get(self.copied..from.start).unwrap_or_default();
        self.tokens.build(before);
        self.tokens.building().push(c);
        self.copied = from.end;
    }

    fn extend_run(&mut self, changed: Option<char>, from: Range<usize>) {
        let c = changed.or_else(|| self.text[from.clone()].chars().next()).unwrap_or_default();
        if self.run.reserve(c.len_utf8(), true, || self.tokens.room_beside()) {
            self.run.push(c, from, true);
        } else {
            self.tokens.give_up();
            self.run.clear();
        }
    }

    /// Ends the current token.
    #[inline]
    fn close(&mut self) {
        match self.open {
            Open::Nothing => {}
            Open::Word | Open::Alone if self.copied == self.span.start => {
                self.tokens.push(&self.text[self.span.clone()], self.span.clone());
            }
            Open::Word | Open::Alone => {
                self.tokens.build(&self.text[self.copied..self.span.end]);
                self.tokens.finish(self.span.clone());
            }
            Open::Run => self.cut_run(),
        }
        self.open = Open::Nothing;
    }

    fn cut_run(&mut self) {
        self.tokens.hold_beside(self.run.bytes_held());
        let mut first = 0;
        for cluster in self.run.text.graphemes(true) {
            let next = first + cluster.chars().count();
            self.tokens.push(cluster, self.run.spans.get(first).start..self.run.spans.get(next - 1).end);
            first = next;
        }
        self.run.clear();
    }
}

/// Whether a character always belongs to the word before it.
#[inline]
fn continues_word(properties: Properties) -> bool {
    let of_words = Properties::LETTER.and(Properties::NUMBER).and(Properties::MARK);
    properties.any(of_words) && !properties.any(Properties::ALONE.and(Properties::UNSPACED))
}

/// Whether an ASCII word begins here and reading a whole block is worthwhile.
#[inline]
fn begins_ascii_words(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|&b| is_word(b)) && turns_ascii(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::TokenDetail;
    use crate::tokenizer::tests::{nasty_text, normalised, shown, texts};
    use caseless::Caseless;
    use proptest::prelude::*;
    use unicode_normalization::char::is_combining_mark;

    /// The definition on the whole text, without segments, states or spans.
    fn plain(text: &str) -> Vec<String> {
        let folded: Vec<char> = normalised(text).chars().default_case_fold().collect();
        let kind = |c: char| match Properties::of(c) {
            _ if is_combining_mark(c) => 'm',
            properties if properties.any(Properties::ALONE) => '1',
            properties if properties.any(Properties::UNSPACED) => 'g',
            _ if c.is_alphanumeric() || c == '_' => 'w',
            _ => ' ',
        };
        // Each mark takes the kind of its base; then tokens are runs of one kind, except '1'.
        let mut runs: Vec<(char, String)> = Vec::new();
        let mut before = ' ';
        for c in folded {
            let now = if kind(c) == 'm' { before } else { kind(c) };
            let joins = now == before && (now != '1' || kind(c) == 'm');
            match runs.last_mut() {
                Some((_, run)) if joins => run.push(c),
                _ => runs.push((now, c.to_string())),
            }
            before = now;
        }
        let pieces = |(kind, run): (char, String)| match kind {
            ' ' => vec![],
            'g' => run.graphemes(true).map(str::to_owned).collect(),
            _ => vec![run],
        };
        runs.into_iter().flat_map(pieces).collect()
    }

    /// The state machine from the first byte to the last, whatever the text turns into.
    fn by_cutter_alone(text: &str) -> Tokens {
        let mut tokens = Tokens::new(TokenDetail::Everything, 0);
        let mut cutter = Cutter::new(text, &mut tokens);
        for segment in Segments::from(text, 0) {
            cutter.place_segment(segment);
        }
        cutter.close();
        tokens
    }

    fn tokens(text: &str) -> Vec<String> {
        shown(&Word, text).into_iter().map(|(token, _)| token).collect()
    }

    fn check(text: &str) {
        let slow = by_cutter_alone(text);
        let slow: Vec<_> = (0..slow.len()).map(|i| (slow.text(i).to_owned(), slow.span(i))).collect();
        assert_eq!(shown(&Word, text), slow, "{text:?}");
        assert_eq!(tokens(text), plain(text), "{text:?}");
    }

    #[test]
    fn words() {
        for (text, expected) in [
            ("The quick_brown FOX, don't!", "the quick_brown fox don t"),
            ("Straße STRASSE ﬁne", "strasse strasse fine"),
            ("cafe\u{301} café CAFÉ", "café café café"),
            ("日本語のテキスト、データー", "日 本 語 の テ キ ス ト デ ー タ ー"),
            ("ﾃﾞｰﾀ 人々 2024年", "デ ー タ 人 々 2024 年"),
            ("한국어 문장", "한국어 문장"),
            ("ที่นี่", "ที่ นี่"),
            ("abcที่def", "abc ที่ def"),
            ("हिन्दी में", "हिन्दी में"),
            ("❤️ \u{301}a ´b", "a b"),
            ("㍿ ½", "株 式 会 社 1 2"),
            ("葛\u{e0100}城", "葛 城"),
            ("exam\u{ad}ple Exam\u{ad}\u{200b}Ple", "example example"),
            ("", ""),
            ("... \r\n", ""),
        ] {
            assert_eq!(tokens(text).join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn two_marks_on_a_capital_are_the_documented_exception() {
        assert_eq!(tokens("J\u{30c}"), tokens("j\u{30c}"));
        assert_ne!(tokens("J\u{323}\u{30c}"), tokens("j\u{323}\u{30c}"));
    }

    #[test]
    fn spans_reach_from_the_first_to_the_last_segment() {
        assert_eq!(shown(&Word, "x cafe\u{301}!"), [("x".into(), 0..1), ("café".into(), 2..8)]);
        assert_eq!(shown(&Word, "㍿"), ["株", "式", "会", "社"].map(|token| (token.into(), 0..3)));
        assert_eq!(shown(&Word, "ที่นี่"), [("ที่".into(), 0..9), ("นี่".into(), 9..18)]);
    }

    #[test]
    fn everything_of_interest_at_every_place_in_a_block() {
        let pieces = ["e\u{301} ", "= \u{338}=", "é", "x\u{301}", "日", "ที่", " ", "_", "\u{345}", "K", "\u{1161}"];
        for piece in pieces {
            for before in (0..4).chain(50..70).chain(120..132) {
                for filler in ["ab ", "a", ".", "Ab"] {
                    let padding = &filler.repeat(140)[..before];
                    check(&format!("{padding}{piece}"));
                    check(&format!("{padding}{piece}{padding}{piece}"));
                    check(&format!("é{padding}{piece}tail of Words and more words, enough to be ASCII again"));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn fast_is_plain(text in prop_oneof![texts(), nasty_text(), any::<String>()]) {
            check(&text);
        }

        #[test]
        fn a_token_alone_is_itself_again(text in "[ -~一-龥]{0,200}") {
            for (token, span) in shown(&Word, &text) {
                prop_assert_eq!(tokens(&text[span]), [token]);
            }
        }
    }
}
