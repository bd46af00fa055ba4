//! Preparation of text between tokens and features, for every algorithm: joining, folding, masking, stop words, stemming.
//!
//! [`Prepared`] is a tokenizer around another one. It takes the text and its tokens through these steps, in this order:
//!
//! 1. **Joining** ([`hyphens`]): words that are hyphenated at the end of a line are joined, before the text is cut.
//! 2. **Folding** ([`fold`]): marks of letters are removed, so that `café` is `cafe`. All later steps use tokens, and
//!    entries of lists, without them. Stems of folded words can differ from those of the original words.
//! 3. **Masking** ([`mask`]): each number, date or time becomes one token, `<number>`, `<date>` or `<time>`, so that a counter
//!    or a date does not make two documents differ.
//! 4. **Stop words** ([`stop_words`]) are removed. An entry of a list is cut into tokens like the text, so case and
//!    composition do not matter. An entry of several tokens (`don't` is `don` and `t` to `word`) matches only that
//!    sequence. If several entries match, the longest is taken.
//! 5. **Stemming** ([`stem`]): each token is replaced by its stem. Tokens in a script other than that of the language
//!    are unchanged.

pub mod fold;
pub mod hyphens;
pub mod mask;
pub mod stem;
pub mod stop_words;

use super::normalise::{bytes_to_normalise, counted};
use super::ranges::Ranges;
use super::room::reserve_text;
use super::shortened::Shortened;
use super::tokens::{Bound, Work};
use super::{TokenDetail, Tokenizer, Tokens, Word, is_overlapping};
use crate::error::Error;
use mask::{Kind, Masks, Matches};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use stem::{StemLanguage, Stems};
use stop_words::{StopList, StopWords};

/// A step of the preparation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Words hyphenated at the ends of lines are joined.
    JoinHyphens,
    /// Marks of letters are removed.
    Fold,
    /// Numbers and dates are masked.
    Mask,
    /// Stop words are removed.
    StopWords,
    /// Words are stemmed.
    Stem,
}

impl Step {
    /// Every step, in their order.
    pub const ALL: [Step; 5] = [Step::JoinHyphens, Step::Fold, Step::Mask, Step::StopWords, Step::Stem];

    /// The flag that requests it.
    pub fn flag(self) -> &'static str {
        match self {
            Step::JoinHyphens => "join-hyphens",
            Step::Fold => "fold",
            Step::Mask => "mask",
            Step::StopWords => "stopwords",
            Step::Stem => "stem",
        }
    }
}

/// The preparation of tokens before they become features.
#[derive(Clone, Debug, Default)]
pub struct Preparation {
    /// Whether words hyphenated at the ends of lines are joined.
    pub join_hyphens: bool,
    /// Whether marks of letters are removed.
    pub fold_marks: bool,
    /// The kinds of text that are masked.
    pub masks: Masks,
    /// The lists of words that are removed.
    pub stop_words: Vec<StopList>,
    /// The language of stemming.
    pub stem: Option<&'static StemLanguage>,
}

impl Preparation {
    /// Its steps, in their order.
    pub fn steps(&self) -> Vec<Step> {
        let is_there = |step: &Step| match step {
            Step::JoinHyphens => self.join_hyphens,
            Step::Fold => self.fold_marks,
            Step::Mask => self.masks != Masks::default(),
            Step::StopWords => !self.stop_words.is_empty(),
            Step::Stem => self.stem.is_some(),
        };
        Step::ALL.into_iter().filter(is_there).collect()
    }
}

/// Each step with its arguments: `join-hyphens, fold marks, mask numbers, stopwords de,en, stem en`. Equal descriptions
/// mean equal steps, in whatever order the lists of stop words were given.
impl fmt::Display for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lists: Vec<String> = self.stop_words.iter().map(StopList::identity).collect();
        lists.sort();
        let with = |step| match step {
            Step::JoinHyphens => String::new(),
            Step::Fold => "marks".to_string(),
            Step::Mask => self.masks.names().join(","),
            Step::StopWords => lists.join(","),
            Step::Stem => self.stem.map_or("", |language| language.code).to_string(),
        };
        let shown: Vec<String> = self
            .steps()
            .into_iter()
            .map(|step| format!("{} {}", step.flag(), with(step)).trim_end().to_string())
            .collect();
        f.write_str(&shown.join(", "))
    }
}

/// A tokenizer whose tokens are prepared.
///
/// # What a token is
/// As for the inner tokenizer, except for masks. The tokens that overlap a match become one token; their parts before
/// and after the match are kept (`(2024-05-01),` is `(<date>),` to [`Whitespace`](super::Whitespace)). Its span covers
/// all of them. The span of a stem is that of its word, and the span of a joined word includes the line end.
///
/// # Cost
/// That of the inner tokenizer with the texts of tokens ([`TokenDetail::Everything`]); a copy of the text for masks and
/// for joined words; a copy of tokens that are not ASCII for folding; and a look-up per token for each of stop words
/// and stems. Nothing is allocated for a document once the buffers are warm, except for stems of rare words.
///
/// # Weak
/// * Tokenizers whose tokens overlap ([`CharNgram`](super::CharNgram)) have no words. Stop words are removed from the
///   text before it is cut: the words that [`Word`] finds there. White space around them remains, and joins. Folding,
///   masks and stems are meaningless.
/// * [`Code`](super::Code) and [`Whitespace`](super::Whitespace) keep case, so stop words and endings are recognised
///   only in the case of the list and of the language.
/// * Words that a step makes equal are equal to every algorithm, and similarity is computed on the result.
#[derive(Clone)]
pub struct Prepared {
    inner: Arc<dyn Tokenizer>,
    join_hyphens: bool,
    fold_marks: bool,
    masks: Masks,
    stop_words: Option<StopWords>,
    /// Stop words that are removed from the text, because the tokens of the inner tokenizer are not words.
    removed_first: Option<StopWords>,
    stem: Option<&'static StemLanguage>,
    /// A description of the steps.
    steps: String,
}

impl Prepared {
    /// Prepares the tokens of `inner`.
    ///
    /// # Errors
    /// [`Error::Usage`] for an entry of a list from a file that gives no token.
    pub fn new(inner: Arc<dyn Tokenizer>, preparation: &Preparation) -> Result<Self, Error> {
        let steps = preparation.to_string();
        let &Preparation { join_hyphens, fold_marks, masks, ref stop_words, stem } = preparation;
        let overlaps = is_overlapping(&inner.name());
        let without_lists = Prepared {
            inner,
            join_hyphens,
            fold_marks,
            masks: Masks::default(),
            stop_words: None,
            removed_first: None,
            stem: None,
            steps,
        };
        // Entries are folded like the text.
        let by: &dyn Tokenizer = if overlaps { &Word } else { &without_lists };
        let lists = if stop_words.is_empty() { None } else { Some(StopWords::new(stop_words, by)?) };
        let (removed_first, stop_words) = if overlaps { (lists, None) } else { (None, lists) };
        Ok(Prepared { masks, stop_words, removed_first, stem, ..without_lists })
    }
}

impl Tokenizer for Prepared {
    /// The inner tokenizer, and each step with its arguments.
    fn name(&self) -> Cow<'_, str> {
        format!("{}, {}", self.inner.name(), self.steps).into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        tokens.clear();
        let mut work = tokens.take_work::<Buffers>();
        work.begin(tokens.room());
        let (mut joined, mut without) = (std::mem::take(&mut work.joined), std::mem::take(&mut work.without));
        work.beside = joined.bytes_held() + without.bytes_held();
        let is_joined = self.join_hyphens && work.join(text, &mut joined);
        let text = if is_joined { &*joined.text } else { text };
        let is_shortened = self.removed_first.as_ref().is_some_and(|words| work.remove(words, text, &mut without));
        let text = if is_shortened { &*without.text } else { text };
        work.cut(&*self.inner, text);
        if self.fold_marks && !text.is_ascii() {
            work.fold();
        }
        let masked = self.masks != Masks::default() && work.mask(text, self.masks);
        if work.is_beyond_bound {
            tokens.give_up();
        }
        tokens.hold_beside(work.bytes_held());
        let Buffers { plain, masked: replaced, stems, .. } = &mut *work;
        let from = if masked { replaced } else { plain };
        let mut at = 0;
        while at < from.len() && !tokens.is_beyond_bound() {
            let stop_word = self.stop_words.as_ref().map_or(0, |stop_words| stop_words.len_at(from, at));
            if stop_word > 0 {
                at += stop_word;
                continue;
            }
            let token = match self.stem {
                Some(language) => stems.of(language, from.text(at), from.hashes()[at]),
                None => from.text(at),
            };
            let span = from.span(at);
            let span = if is_shortened { without.original(span) } else { span };
            tokens.push(token, if is_joined { joined.original(span) } else { span });
            at += 1;
        }
        work.joined = joined;
        work.without = without;
        work.beside = 0;
        tokens.hold_beside(0);
        tokens.keep_work(work);
    }
}

/// Working memory of tokenizers that work on the tokens of an inner one. It stays in the buffer of tokens for the next
/// document.
#[derive(Clone, Debug)]
struct Buffers {
    /// The text with hyphenated words joined.
    joined: Shortened,
    /// The text without stop words.
    without: Shortened,
    /// The tokens of the inner tokenizer, folded if requested.
    plain: Tokens,
    /// Working memory for folding.
    folded: Tokens,
    /// The same tokens with masks.
    masked: Tokens,
    /// The text of the tokens, and the text between them.
    flat: String,
    /// The position of each token in it.
    places: Ranges,
    dates: Matches,
    found: Matches,
    stems: Stems,
    /// The bytes of memory that all of them may take, and whether they would take more: then they are incomplete.
    room: usize,
    is_beyond_bound: bool,
    /// What was taken out of the buffers, in bytes.
    beside: usize,
}

impl Default for Buffers {
    fn default() -> Self {
        // Only texts are read of these tokens, and a few bits of hashes.
        let tokens = || Tokens::new(TokenDetail::Everything, 0);
        Buffers {
            joined: Shortened::default(),
            without: Shortened::default(),
            plain: tokens(),
            folded: tokens(),
            masked: tokens(),
            flat: String::new(),
            places: Ranges::default(),
            dates: Matches::default(),
            found: Matches::default(),
            stems: Stems::default(),
            room: usize::MAX,
            is_beyond_bound: false,
            beside: 0,
        }
    }
}

impl Work for Buffers {
    /// Without the cache of stems, which is at most a MB.
    fn bytes_held(&self) -> usize {
        let shortened = self.joined.bytes_held() + self.without.bytes_held() + self.beside;
        let tokens = self.plain.bytes_held() + self.folded.bytes_held() + self.masked.bytes_held();
        let flat = self.flat.capacity() + self.places.bytes_held();
        shortened + tokens + flat + self.dates.bytes_held() + self.found.bytes_held()
    }
}

impl Buffers {
    /// For a text for which they may take this many bytes.
    fn begin(&mut self, room: usize) {
        self.room = room;
        self.is_beyond_bound = false;
        [&mut self.plain, &mut self.folded, &mut self.masked].into_iter().for_each(Tokens::clear);
    }

    /// The bytes that a buffer which holds this much may take in all.
    fn room_of(&self, held: usize) -> usize {
        match self.room {
            usize::MAX => usize::MAX,
            room => room.saturating_sub(self.bytes_held() - held),
        }
    }

    /// Fills `joined` with the text without hyphens at the ends of lines, if it has any.
    fn join(&mut self, text: &str, joined: &mut Shortened) -> bool {
        let held = joined.bytes_held();
        let is_joined = hyphens::join(text, joined, self.room_of(held));
        self.beside += joined.bytes_held() - held;
        self.is_beyond_bound |= joined.is_beyond_bound();
        is_joined
    }

    /// Fills `plain` with the tokens of the text.
    fn cut(&mut self, tokenizer: &dyn Tokenizer, text: &str) {
        if self.is_beyond_bound {
            return self.plain.clear();
        }
        self.plain.bound(Bound::of(self.room_of(self.plain.bytes_held())));
        tokenizer.cut(text, &mut self.plain);
        self.is_beyond_bound |= self.plain.is_beyond_bound();
    }

    /// Fills `without` with the text without stop words, if it has any.
    fn remove(&mut self, stop_words: &StopWords, text: &str, without: &mut Shortened) -> bool {
        self.cut(&Word, text);
        if self.is_beyond_bound {
            return false;
        }
        let (words, held) = (&self.plain, without.bytes_held());
        without.begin(self.room_of(held));
        let (mut at, mut kept) = (0, 0);
        while at < words.len() {
            let length = stop_words.len_at(words, at);
            if length > 0 {
                // Tokens that came out of one character share it.
                let start = words.span(at).start.max(kept);
                let end = words.span(at + length - 1).end.max(start);
                without.push(&text[kept..start]);
                without.leave_out(end - start);
                kept = end;
            }
            at += length.max(1);
        }
        without.push(&text[kept..]);
        self.beside += without.bytes_held() - held;
        self.is_beyond_bound |= without.is_beyond_bound();
        kept > 0
    }

    /// Removes the marks of letters from `plain`.
    fn fold(&mut self) {
        if self.is_beyond_bound {
            return;
        }
        self.folded.bound(Bound::of(self.room_of(self.folded.bytes_held())));
        self.folded.clear();
        for i in 0..self.plain.len() {
            let token = self.plain.text(i);
            if !self.folded.has_room_for(bytes_to_normalise(token.len())) {
                break;
            }
            let Some(building) = self.folded.building_more(fold::BYTES_A_BYTE * token.len()) else { break };
            fold::push_folded(token, building);
            self.folded.finish(self.plain.span(i));
        }
        std::mem::swap(&mut self.plain, &mut self.folded);
        self.is_beyond_bound |= self.plain.is_beyond_bound();
    }

    /// Fills `masked`, if there is anything to mask.
    fn mask(&mut self, text: &str, masks: Masks) -> bool {
        self.is_beyond_bound = self.is_beyond_bound || !self.flatten(text) || !self.find(masks);
        if self.is_beyond_bound || self.found.list.is_empty() {
            return false;
        }
        self.masked.bound(Bound::of(self.room_of(self.masked.bytes_held())));
        self.replace();
        self.is_beyond_bound = self.masked.is_beyond_bound();
        true
    }

    /// Fills `found`. Returns whether there is memory for it.
    fn find(&mut self, masks: Masks) -> bool {
        let room = self.room_of(self.dates.bytes_held() + self.found.bytes_held());
        mask::find(&self.flat, masks, &mut self.dates, &mut self.found, room)
    }

    /// Fills `flat` and `places`. Returns whether there is memory for them.
    fn flatten(&mut self, text: &str) -> bool {
        let left = self.room_of(0);
        self.flat.clear();
        self.places.clear();
        if !self.places.reserve(self.plain.len(), || left) {
            return false;
        }
        let room = self.room_of(self.flat.capacity());
        let mut end = 0;
        for i in 0..self.plain.len() {
            let (span, token) = (self.plain.span(i), self.plain.text(i));
            // Tokens that came out of one character have nothing between them.
            let between = text.get(end..span.start).unwrap_or_default();
            let left = room.saturating_sub(self.flat.capacity());
            if !reserve_text(&mut self.flat, between.len() + token.len(), || left) {
                return false;
            }
            push_counted(&mut self.flat, between);
            let start = self.flat.len();
            self.flat.push_str(token);
            self.places.push(start..self.flat.len());
            end = end.max(span.end);
        }
        let (after, left) = (text.get(end..).unwrap_or_default(), room.saturating_sub(self.flat.capacity()));
        let has_room = reserve_text(&mut self.flat, after.len(), || left);
        if has_room {
            push_counted(&mut self.flat, after);
        }
        has_room
    }

    /// Rewrites the tokens: matches are replaced by masks, and the rest is kept.
    fn replace(&mut self) {
        let Buffers { plain, masked, flat, places, found, .. } = self;
        masked.clear();
        let mut masks = found.list.iter().peekable();
        // Whether the first of them is written, and the token that it is in goes on.
        let mut written = false;
        let mut span = 0..0;
        for (i, place) in (0..places.len()).map(|i| (i, places.get(i))) {
            if masked.is_beyond_bound() {
                return;
            }
            while masks.next_if(|mask| mask.range.end <= place.start).is_some() {
                written = false;
            }
            if !written {
                masked.finish(span.clone());
                span.start = plain.span(i).start;
            }
            span.end = plain.span(i).end;
            let mut at = place.start;
            while let Some(&mask) = masks.peek()
                && mask.range.start < place.end
            {
                if !written {
                    let before = &flat[at..mask.range.start.max(at)];
                    masked.build(before);
                    if mask.kind == (Kind::Time { joined: true }) {
                        masked.finish(span.clone());
                        span.start = plain.span(i).start;
                    }
                    masked.building().push_str(mask.kind.token());
                }
                at = mask.range.end.min(place.end);
                written = mask.range.end > place.end;
                if written {
                    break;
                }
                masks.next();
            }
            masked.build(&flat[at..place.end]);
        }
        masked.finish(span);
    }
}

/// Appends the text between two tokens without its ignored characters.
fn push_counted(flat: &mut String, between: &str) {
    if between.is_ascii() {
        flat.push_str(between);
    } else {
        flat.extend(counted(between));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::{EXPANDING, check_bounds, nasty_text, shown, texts, with_unseen};
    use crate::tokenizer::{TOKENIZERS, by_name};
    use proptest::prelude::*;
    use std::ops::Range;
    use unicode_normalization::UnicodeNormalization;

    /// Folded and joined too.
    fn folded_and_joined(tokenizer: &str, masks: &[&str], words: &[&str], stem: Option<&str>) -> Prepared {
        let mut preparation = Preparation { join_hyphens: true, fold_marks: true, ..Preparation::default() };
        masks.iter().for_each(|name| assert!(preparation.masks.add(name)));
        preparation.stop_words.push(StopList::new("words", words.iter().copied()));
        preparation.stem = stem.map(|code| StemLanguage::by_code(code).unwrap());
        assert!(preparation.steps().starts_with(&[Step::JoinHyphens, Step::Fold]));
        Prepared::new(by_name(tokenizer).unwrap().into(), &preparation).unwrap()
    }

    fn prepared(tokenizer: &str, masks: &[&str], words: &[&str], stem: Option<&str>) -> Prepared {
        let mut preparation = Preparation::default();
        masks.iter().for_each(|name| assert!(preparation.masks.add(name)));
        if !words.is_empty() {
            preparation.stop_words.push(StopList::new("words", words.iter().copied()));
        }
        preparation.stem = stem.map(|code| StemLanguage::by_code(code).unwrap());
        Prepared::new(by_name(tokenizer).unwrap().into(), &preparation).unwrap()
    }

    /// The tokens with white space between.
    fn joined(tokenizer: &dyn Tokenizer, text: &str) -> String {
        shown(tokenizer, text).into_iter().map(|(token, _)| token).collect::<Vec<_>>().join(" ")
    }

    /// Every tokenizer of this build with tokens that do not overlap.
    fn names() -> impl Iterator<Item = &'static str> {
        TOKENIZERS.iter().filter(|entry| !entry.overlapping && entry.build.is_some()).map(|entry| entry.name)
    }

    const STOP_WORDS: &[&str] = &["the", "Don't", "don", "as well as", "as", "über", "的"];

    /// Everything at once, for each tokenizer.
    fn all() -> impl Iterator<Item = (&'static str, Prepared)> {
        let make = |make: fn(&str, &[&str], &[&str], Option<&str>) -> Prepared| {
            names().map(move |name| (name, make(name, &["numbers", "dates"], STOP_WORDS, Some("en"))))
        };
        make(prepared).chain(make(folded_and_joined))
    }

    /// The tokenizers of [`all`], and one whose tokens overlap.
    fn all_with_overlapping() -> impl Iterator<Item = (&'static str, Prepared)> {
        all().chain([("char", folded_and_joined("char", &[], STOP_WORDS, None))])
    }

    #[test]
    fn bounds_are_kept_to() {
        for (name, tokenizer) in all_with_overlapping() {
            for piece in EXPANDING.into_iter().chain(["the as ", "1 ", "2024-05-01T12:34 ", "exam-\nple "]) {
                check_bounds(name, &tokenizer, &piece.repeat(500));
            }
            check_bounds(name, &tokenizer, &format!("a{}", "\u{301}\u{323}".repeat(5000)));
        }
    }

    #[test]
    fn folded_tokens_are_masked_and_removed_and_stemmed() {
        let all = folded_and_joined("word", &["numbers", "dates"], &["été", "où"], Some("fr"));
        for text in [
            "Le 1 février 2024 où l'été a mangé 5 crêpes exa-\nminées",
            "Le 1 fevrier 2024 ou l'ete a mange 12 crepes examinees",
        ] {
            assert_eq!(joined(&all, text), "le <date> l a mang <number> crep examine", "{text}");
        }
    }

    #[test]
    fn spans_of_joined_words() {
        let all = folded_and_joined("word", &["numbers"], &["the"], None);
        let expected = [("example", 0..9), ("of", 10..12), ("cafehaus", 13..27), ("<number>", 28..31)];
        let tokens = shown(&all, "exam-\nple of caf\u{e9}-\r\n  haus 1,5");
        assert_eq!(tokens, expected.map(|(token, span)| (token.to_string(), span)));
        assert_eq!(shown(&all, "a-\n\nb").len(), 2);
    }

    #[test]
    fn masks_are_one_token() {
        let text = "On May 1, 2024 (2024-05-01T12:34Z), 1,234.5 men; see 3.";
        for (name, expected) in [
            ("word", "on <date> <date> <time> <number> men see <number>"),
            ("uax29", "on <date> <date> <time> <number> men see <number>"),
            ("code", "On <date> ( <date> <time> ) , <number> men ; see <number> ."),
            ("whitespace", "On <date> (<date> <time>), <number> men; see <number>."),
        ] {
            assert_eq!(joined(&prepared(name, &["numbers", "dates"], &[], None), text), expected, "{name}");
        }
    }

    #[test]
    fn spans_of_masks() {
        let tokens = shown(&prepared("word", &["dates"], &[], None), "am 1. Mai 2024 um 2024-05-01T12:34:56Z ok");
        let expected =
            [("am", 0..2), ("<date>", 3..14), ("um", 15..17), ("<date>", 18..31), ("<time>", 26..38), ("ok", 39..41)];
        assert_eq!(tokens, expected.map(|(token, span)| (token.to_string(), span)));
    }

    #[test]
    fn stop_words_of_several_tokens() {
        for (tokenizer, text, expected) in [
            ("word", "Don't the DON'T don stop as well as wells as well", "stop wells well"),
            ("word", "U\u{308}BER über u\u{308}ber uber", "uber"),
            ("word", "我的书", "我 书"),
            ("uax29", "Don't the don t as well", "t well"),
            ("whitespace", "The the Don't don't as well as", "The don't"),
        ] {
            assert_eq!(joined(&prepared(tokenizer, &[], STOP_WORDS, None), text), expected, "{tokenizer} {text}");
        }
    }

    #[test]
    fn masks_then_stop_words_then_stems() {
        let all = prepared("word", &["numbers", "dates"], &["may", "5", "having"], Some("en"));
        assert_eq!(joined(&all, "May 5, 2024 may not be 5; having running have"), "<date> not be <number> run have");
    }

    #[test]
    fn stop_words_are_removed_before_characters_are_cut() {
        let of = |n: usize, text: &str| shown(&prepared(&format!("char:{n}"), &[], STOP_WORDS, None), text);
        let texts = |n, text: &str| of(n, text).into_iter().map(|(token, _)| token).collect::<Vec<_>>();
        for text in [
            "The cat AND the dog",
            "  the cat and  dog the",
            "cat don't and dog, as well as".trim_end_matches(", as well as"),
        ] {
            assert_eq!(
                texts(4, text),
                shown(&crate::tokenizer::CharNgram::new(4), "cat and dog")
                    .into_iter()
                    .map(|(t, _)| t)
                    .collect::<Vec<_>>(),
                "{text}"
            );
        }
        assert_eq!(texts(5, "the"), [""; 0]);
        assert_eq!(texts(2, "(the)x 我的书"), ["()", ")x", "x ", " 我", "我书"]);
        // Spans are of the original: from the first character to the last, whatever was left out between.
        assert_eq!(of(3, "a the b"), [("a b".into(), 0..7)]);
        assert_eq!(of(2, "我的书"), [("我书".into(), 0..9)]);
        assert_eq!(of(2, "the ab"), [("ab".into(), 4..6)]);
    }

    #[test]
    fn lists_of_words() {
        let list = StopList::parse("f", b"\xef\xbb\xbfone\r\n# two\n\n  Three four \n").unwrap();
        assert_eq!(list.words().collect::<Vec<_>>(), ["one", "Three four"]);
        for (content, expected) in [
            (&b"one\ntw\xffo\n"[..], "`stopwords`: f:2: not UTF-8; expected one word a line"),
            (b"# nothing\n", "`stopwords`: f: no word in it; expected one a line"),
        ] {
            assert_eq!(StopList::parse("f", content).unwrap_err().to_string(), expected);
        }
        let lists = vec![StopList::parse("f", "one\n—\n".as_bytes()).unwrap()];
        let preparation = Preparation { stop_words: lists, ..Preparation::default() };
        let message = Prepared::new(by_name("word").unwrap().into(), &preparation).err().unwrap().to_string();
        assert_eq!(message, "`stopwords`: f:2: '—' gives no token, so nothing would be removed; expected a word");
        assert!(StopList::of_language("xx").unwrap_err().to_string().contains("expected a file, or languages: af, "));
    }

    #[test]
    fn every_language_removes_its_own_words() {
        for code in stop_words::stop_word_languages() {
            let lists = vec![StopList::of_language(code).unwrap()];
            let preparation = Preparation { stop_words: lists, ..Preparation::default() };
            let tokenizer = Prepared::new(by_name("word").unwrap().into(), &preparation).unwrap();
            for word in preparation.stop_words[0].words() {
                assert_eq!(joined(&tokenizer, word), "", "{code} {word}");
            }
        }
    }

    #[test]
    fn a_tokenizer_of_ones_own_may_have_any_spans() {
        struct Odd;
        impl Tokenizer for Odd {
            fn name(&self) -> Cow<'_, str> {
                "odd".into()
            }

            fn tokenize(&self, _: &str, tokens: &mut Tokens) {
                tokens.clear();
                for (token, start, end) in [("1", 5, 900), ("2", 3, 1), ("x", 0, 0)] {
                    tokens.push(token, start..end);
                }
            }
        }
        let preparation = Preparation { masks: Masks { numbers: true, dates: true }, ..Preparation::default() };
        let odd = Prepared::new(Arc::new(Odd), &preparation).unwrap();
        for text in ["", "é1 2", "2024-05-01 é"] {
            joined(&odd, text);
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        let pieces = [
            "the ",
            "don't ",
            "as ",
            "well ",
            "2024-05-01 ",
            "1,5 ",
            "T12:34",
            "May 1, ",
            "2024",
            "(",
            "running ",
            "run-\nning ",
            "exam-\r\n ple ",
            "fév-\nrier ",
            "-\n",
            "的",
            "½",
        ];
        let mixed =
            prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..20).prop_map(|pieces| pieces.concat());
        prop_oneof![mixed, texts(), nasty_text(), any::<String>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn bounds_change_no_tokens(text in any_text()) {
            for (name, tokenizer) in all_with_overlapping() {
                check_bounds(name, &tokenizer, &text.repeat(20));
            }
        }
    }

    proptest! {
        #[test]
        fn without_steps_it_is_the_tokenizer_inside(text in any_text()) {
            for entry in TOKENIZERS.iter().filter(|entry| entry.build.is_some()) {
                let nothing = prepared(entry.name, &[], &[], None);
                prop_assert_eq!(shown(&nothing, &text), shown(&*by_name(entry.name).unwrap(), &text), "{}", entry.name);
            }
        }

        #[test]
        fn spans_are_in_order_and_on_character_boundaries(text in any_text()) {
            for (name, tokenizer) in all() {
                let tokens = shown(&tokenizer, &text);
                for (_, span) in &tokens {
                    prop_assert!(text.get(span.clone()).is_some_and(|piece| !piece.is_empty()), "{} {:?}", name, span);
                }
                let in_order = tokens.is_sorted_by(|(_, a), (_, b)| a.start <= b.start && a.end <= b.end);
                prop_assert!(in_order, "{} {:?}", name, tokens);
            }
        }

        #[test]
        fn what_is_kept_and_what_was_there_before_do_not_matter(first in any_text(), text in any_text()) {
            let russian = prepared("word", &[], &[], Some("ru"));
            for (name, tokenizer) in all() {
                let [mut everything, mut hashes, mut fresh] =
                    [TokenDetail::Everything, TokenDetail::Hashes, TokenDetail::Everything].map(|detail| Tokens::new(detail, 3));
                for tokens in [&mut everything, &mut hashes] {
                    tokenizer.tokenize(&first, tokens);
                    russian.tokenize(&text, tokens);
                    tokenizer.tokenize(&text, tokens);
                }
                tokenizer.tokenize(&text, &mut fresh);
                prop_assert_eq!(everything.hashes(), fresh.hashes(), "{}", name);
                prop_assert_eq!(hashes.hashes(), fresh.hashes(), "{}", name);
                for i in 0..fresh.len() {
                    prop_assert_eq!((everything.text(i), everything.span(i)), (fresh.text(i), fresh.span(i)));
                }
                prop_assert!(!everything.is_building() && !hashes.is_building());
            }
        }

        #[test]
        fn composition_does_not_matter(text in any_text()) {
            let (composed, decomposed): (String, String) = (text.nfc().collect(), text.nfd().collect());
            for (name, tokenizer) in all().filter(|(name, _)| *name != "whitespace") {
                let expected = joined(&tokenizer, &text);
                prop_assert_eq!(&joined(&tokenizer, &composed), &expected, "{} {:?}", name, composed);
                prop_assert_eq!(&joined(&tokenizer, &decomposed), &expected, "{} {:?}", name, decomposed);
            }
        }

        #[test]
        fn what_is_not_seen_does_not_count(
            text in any_text(),
            unseen in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..12),
        ) {
            // A soft hyphen is seen where it ends a line, and joins there.
            let [text, other] = [text.clone(), with_unseen(&text, &unseen)].map(|text| text.replace('\u{ad}', "\u{200b}"));
            for (name, tokenizer) in all() {
                prop_assert_eq!(joined(&tokenizer, &other), joined(&tokenizer, &text), "{} {:?}", name, other);
            }
        }

        #[test]
        fn folded_and_joined_tokens_are_those_of_the_folded_and_joined_text(text in any_text()) {
            let make = |join_hyphens, fold_marks, name: &str| {
                let preparation = Preparation { join_hyphens, fold_marks, ..Preparation::default() };
                Prepared::new(by_name(name).unwrap().into(), &preparation).unwrap()
            };
            for name in names() {
                let plain = by_name(name).unwrap();
                let mut shortened = Shortened::default();
                let text_joined = if hyphens::join(&text, &mut shortened, usize::MAX) { &*shortened.text } else { &*text };
                prop_assert_eq!(joined(&make(true, false, name), &text), joined(&*plain, text_joined), "{}", name);
                prop_assert_eq!(joined(&make(true, true, name), &text), joined(&make(false, true, name), text_joined), "{}", name);
                let folded: Vec<(String, Range<usize>)> = shown(&*plain, &text).into_iter().map(|(token, span)| {
                    let mut folded = String::new();
                    fold::push_folded(&token, &mut folded);
                    (folded, span)
                }).collect();
                prop_assert_eq!(shown(&make(false, true, name), &text), folded, "{}", name);
            }
        }

        #[test]
        fn removing_single_words_again_removes_nothing(text in any_text()) {
            let words = ["the", "as", "well", "的", "dog", "2024"];
            for name in names() {
                let once = prepared(name, &[], &words, None);
                let twice = Prepared { inner: Arc::new(once.clone()), ..once.clone() };
                prop_assert_eq!(shown(&twice, &text), shown(&once, &text), "{}", name);
                let mut plain = shown(&*once.inner, &text);
                plain.retain(|(token, _)| !words.contains(&&**token));
                prop_assert_eq!(shown(&once, &text), plain, "{}", name);
            }
        }
    }
}
