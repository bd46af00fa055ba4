//! The default tokenizer: words in scripts with spaces, and characters elsewhere.

use super::normalise::{Normalised, Segment, Segments};
use super::properties::Properties;
use super::simple::Simple;
use super::{Tokenizer, Tokens};
use crate::kernel::Level;
use crate::kernel::characters::decoded;
use crate::kernel::words::Block;
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
/// One pass. A few operations for each block of 64 bytes, each character beyond ASCII and each token; several times that for words
/// with characters that normalisation or folding makes longer, shorter or part of another, and for scripts without spaces other than
/// Han and Kana.
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
        let (mut at, mut least) = (0, 0);
        while at < text.len() && !tokens.is_beyond_bound() {
            let start = at;
            at = simple_tokens(text.as_bytes(), at, tokens);
            // Where few characters in a row are simple, or words are long, the cutter goes on for longer each time: a block would be
            // classified for few of them.
            least = if at - start < Block::LEN { (2 * least + CUT_AT_LEAST).min(MOST_CUT_AT_LEAST) } else { 0 };
            if at < text.len() {
                at = Cutter::new(text, tokens).cut_from(at, least);
            }
        }
    }
}

/// So many bytes go to the cutter at least when a block has few simple characters, and at most after many such blocks in a row.
const CUT_AT_LEAST: usize = 8;
const MOST_CUT_AT_LEAST: usize = 1 << 10;

/// Takes the tokens of simple characters from `at` on, where a segment begins. Returns where the [`Cutter`] continues: the end; or the
/// beginning of a token that is too long for a block, or that a character which is not simple may belong to; or that of the last segment
/// before such a character.
fn simple_tokens(bytes: &[u8], mut at: usize, tokens: &mut Tokens) -> usize {
    let (mut block, level) = (Block::EMPTY, Level::current());
    while at < bytes.len() {
        block.fill(level, &bytes[at..]);
        let found = Found::in_block(&mut block, level);
        let below = 1u64.checked_shl(found.end as u32).map_or(!0, |bit| bit - 1);
        let (starts, ends) = (found.starts & below, found.ends & below);
        tokens.push_words(&block, at, starts, ends);
        // Starts with an end come first.
        let is_unfinished = starts.count_ones() > ends.count_ones();
        if !is_unfinished && !found.stops && bytes.len() - at <= Block::LEN {
            return bytes.len();
        }
        // The next block begins with the token that this one cuts. If it cuts none, a mark may follow the last segment.
        let again = if is_unfinished { starts } else { found.segments & below };
        let next = at + again.checked_ilog2().unwrap_or(0) as usize;
        // Of long words beyond ASCII most of a block would be classified twice.
        let is_long = block.other != 0 && is_unfinished && ends.count_ones() <= 1;
        if found.stops || is_long || next == at {
            return next;
        }
        at = next;
    }
    at
}

/// From so many characters beyond ASCII on, looking them up at once takes less time than one after the other.
const AT_ONCE: u32 = 8;

/// What a block begins with, as a bit for each byte.
#[derive(Debug, PartialEq)]
struct Found {
    /// The first bytes of tokens.
    starts: u64,
    /// The bytes after tokens. A token that touches the end of what was classified has none.
    ends: u64,
    /// The first bytes of normalisation segments.
    segments: u64,
    /// The number of bytes that were classified.
    end: usize,
    /// Whether they end at a character that is not simple.
    stops: bool,
}

impl Found {
    /// Classifies the simple characters that the block begins with, and folds them in place.
    #[inline]
    fn in_block(block: &mut Block, level: Level) -> Self {
        if block.other == 0 {
            return Found { starts: block.starts(), ends: block.ends(), segments: !0, end: Block::LEN, stops: false };
        }
        let is_worthwhile = level.looks_up_at_once() && block.first.count_ones() >= AT_ONCE;
        let found = if is_worthwhile { Self::at_once(block, level) } else { None };
        found.unwrap_or_else(|| Self::one_by_one(block))
    }

    /// Classifies all characters at once. `None` if one of them has four bytes, or was not looked up before.
    fn at_once(block: &mut Block, level: Level) -> Option<Self> {
        if block.at_least(level, 0xf0) != 0 {
            return None;
        }
        let three = block.at_least(level, 0xe0);
        // The block may cut the last one.
        let cut = block.first & (1 << 63 | three & 1 << 62);
        let whole = block.first & !cut;
        let kinds = [Simple::WORD, Simple::ALONE, Simple::MARK, Simple::NON_STARTER, Simple::NOT, Simple::CHANGED];
        let [words, alone, marks, non_starters, not, changed] = Simple::kinds(level, block, whole, kinds)?;
        let after = |firsts: u64| (firsts & !three) << 2 | (firsts & three) << 3;
        // At the beginning a mark has no character before it.
        let stop = not | non_starters & (after(non_starters) | 1);
        let stops = stop != 0;
        let end = if stops { stop.trailing_zeros() } else { cut.trailing_zeros() } as usize;
        let below = 1u64.checked_shl(end as u32).map_or(!0, |bit| bit - 1);
        let mut changed = changed & below;
        while changed != 0 {
            let at = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let (code, length) = decoded(block.three(at));
            block.replace(at, length, Simple::of(code).folded());
        }
        let bytes = |firsts: u64| {
            let firsts = firsts & below;
            firsts | firsts << 1 | (firsts & three) << 2
        };
        let segments = !block.other | whole & below & !non_starters;
        Some(Self::of(block, block.word | bytes(words), bytes(alone), bytes(marks), segments, end, stops))
    }

    /// Classifies one character after the other.
    fn one_by_one(block: &mut Block) -> Self {
        let (mut letters, mut alone, mut marks, mut segments) = (block.word, 0, 0, !block.other);
        let (mut firsts, mut end, mut stops) = (block.first, Block::LEN, false);
        let mut after_non_starter = 0;
        while firsts != 0 {
            let at = firsts.trailing_zeros() as usize;
            firsts &= firsts - 1;
            let (code, length) = decoded(block.three(at));
            if at + length > Block::LEN {
                end = at;
                break;
            }
            let simple = if length > 3 { Simple::of_four(block.four(at)) } else { Simple::of(code) };
            if simple.any(Simple::NOT) || simple.any(Simple::NON_STARTER) && at == after_non_starter {
                (end, stops) = (at, true);
                break;
            }
            if length < 4 {
                block.replace(at, length, simple.folded());
            }
            let bytes = ((1 << length) - 1) << at;
            letters |= bytes & simple.mask(Simple::WORD);
            alone |= bytes & simple.mask(Simple::ALONE);
            marks |= bytes & simple.mask(Simple::MARK);
            segments |= (1 << at) & !simple.mask(Simple::NON_STARTER);
            if simple.any(Simple::NON_STARTER) {
                after_non_starter = at + length;
            }
        }
        Self::of(block, letters, alone, marks, segments, end, stops)
    }

    /// What follows from the bytes of letters, of characters that are tokens of their own, and of marks.
    #[inline]
    fn of(block: &Block, letters: u64, alone: u64, marks: u64, segments: u64, end: usize, stops: bool) -> Self {
        let (words, alones) = (letters | following(marks, letters), alone | following(marks, alone));
        let starts = letters & !(words << 1) | alone & block.first;
        let ends = (words | alones) << 1 & (!(words | alones) | starts);
        Found { starts, ends, segments, end, stops }
    }
}

/// The marks that follow these bytes, without others between.
#[inline]
fn following(marks: u64, bytes: u64) -> u64 {
    // The first marks of runs, added to the runs, carry over all that follow.
    let first = bytes << 1 & marks;
    (marks.wrapping_add(first) ^ marks) & marks
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

    /// Cuts `least` bytes from `at` on, and until simple characters follow that do not belong to the token, or to the end. Returns that
    /// position.
    fn cut_from(mut self, at: usize, least: usize) -> usize {
        self.run.clear();
        let mut segments = Segments::from(self.text, at);
        while let Some(segment) = segments.next() {
            self.place_segment(segment);
            if self.open == Open::Word {
                self.span.end = segments.pass(continues_word);
            }
            let may_end = segments.at() - at >= least;
            let ends = may_end && segments.first().is_some_and(|c| self.ends_before(Simple::of_char(c)));
            if ends || self.tokens.is_beyond_bound() {
                break;
            }
        }
        self.close();
        self.tokens.scratch = self.run;
        self.tokens.hold_beside(0);
        segments.at()
    }

    /// Whether the token is complete, and this simple character comes next.
    #[inline]
    fn ends_before(&self, next: Simple) -> bool {
        let continues = Simple::MARK.or(if self.open == Open::Word { Simple::WORD } else { Simple::MARK });
        !next.any(Simple::NOT.or(continues))
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
        let pieces = [
            "e\u{301} ",
            "= \u{338}=",
            "é",
            "x\u{301}",
            "日",
            "ที่",
            " ",
            "_",
            "\u{345}",
            "K",
            "\u{1161}",
            "Ж",
            "ß\u{301}",
            "\u{a0}\u{338}",
            "क\u{94d}",
            "क\u{94d}\u{93c}",
            "का\u{903}",
            ".\u{94d}",
            "日\u{94d}本",
            "語a",
            "“İ",
            "😀",
            "한국",
            "カ\u{3099}",
        ];
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

    #[test]
    fn every_character_that_may_be_simple() {
        let of_four_bytes =
            ('\u{10000}'..='\u{10fff}').chain('\u{1d000}'..='\u{20100}').chain('\u{e0000}'..='\u{e0200}');
        for c in ('\0'..='\u{ffff}').chain(of_four_bytes) {
            check(&format!("a{c}b Ж{c}{c} 日{c}語 .{c}. {c}\u{94d} क{c}\u{93c}{c} {c}\u{301}"));
        }
    }

    #[test]
    fn most_characters_of_most_languages_are_simple() {
        for (text, all) in [
            ("L'été où Zoë a mangé un Œuf à Århus — «STRASSE», Straße, ŒUVRE…", true),
            ("Съешь же ещё этих Мягких французских булок, да выпей чаю", true),
            ("Ξεσκεπάζω την ψυχοφθόρα βδελυγμία", true),
            ("نص حكيم له سر قاطع وذو شأن عظيم", true),
            ("ऋषियों को सताने वाले दुष्ट राक्षसों के राजा", true),
            ("快速的棕色狐狸跳过了懒狗。いろはにほへと チリヌルヲ 한국어", true),
            ("Emoji 😀 and 𐐀 between words 👍, 𠮷", false),
            ("Emoji 😀 between words 👍, 𠮷", true),
            ("re\u{301}sume\u{301} กำลัง ½", false),
        ] {
            assert_eq!(
                simple_tokens(text.as_bytes(), 0, &mut Tokens::new(TokenDetail::Hashes, 0)) == text.len(),
                all,
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn characters_at_once_are_those_one_by_one(
            text in prop_oneof![nasty_text(), any::<String>(), "[ a-zЀ-ӿ\u{300}-\u{36f}\u{900}-\u{97f}一-丿あ-んﬀ-ﬆ]{0,70}"],
        ) {
            text.chars().for_each(|c| _ = Simple::of_char(c));
            for level in Level::available() {
                let mut blocks = [(); 2].map(|()| Block::EMPTY);
                blocks.iter_mut().for_each(|block| block.fill(level, text.as_bytes()));
                let [block, other] = &mut blocks;
                let (at_once, one_by_one) = (Found::at_once(block, level), Found::one_by_one(other));
                let has_four = text.char_indices().any(|(at, c)| at < Block::LEN && c.len_utf8() == 4);
                prop_assert_eq!(at_once.is_none(), has_four);
                if let Some(found) = at_once {
                    let below = 1u64.checked_shl(found.end as u32).map_or(!0, |bit| bit - 1);
                    let shown = |found: Found| Found {
                        starts: found.starts & below,
                        ends: found.ends & below,
                        segments: found.segments & below,
                        ..found
                    };
                    prop_assert_eq!(shown(found), shown(one_by_one));
                    prop_assert_eq!(block.lower, other.lower);
                }
            }
        }

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
