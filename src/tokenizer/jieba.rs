//! Words of Chinese, by a dictionary.

use super::properties::Properties;
use super::tokens::{Bound, Work};
use super::{TokenDetail, Tokenizer, Tokens, Word};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;
use std::thread;
use unicode_script::{Script, UnicodeScript};

static DICTIONARY: LazyLock<jieba_rs::Jieba> = LazyLock::new(jieba_rs::Jieba::new);

/// Words of Chinese by a dictionary; all other text as [`Word`] cuts it.
///
/// # What a token is
/// As for [`Word`], except that uninterrupted runs of Han characters are cut into words of the dictionary of
/// [jieba](https://github.com/messense/jieba-rs). Of all segmentations, the most probable by the frequencies of the
/// words is taken. Each character outside of the words of the dictionary is a token. This is the accurate mode of
/// jieba, without its guesses at unknown words (the hidden Markov model, HMM). Kana stay single characters.
///
/// # What is normalised
/// As in [`Word`], before words are searched. The span of a token reaches from the beginning of its first character to
/// the end of its last.
///
/// # Cost
/// 50 MB/s on the Chinese texts among the fixtures. The dictionary is unpacked once, at the
/// first Han character of the process: about 0.1 s, and 32 MB. It makes the program 3 MB larger.
///
/// # Weak
/// * Most words of the dictionary are in simplified characters: much of a text in traditional characters is cut into
///   single ones. Words of Japanese are cut as if they were Chinese.
/// * Any text between two characters, even a space or the end of a line, cuts the word that they are in. So the same
///   text with and without punctuation may differ, which it does not to [`Word`].
/// * A changed character may change how its neighbours are cut: up to 3 tokens of the same texts, 1.02 on average. With the hidden
///   Markov model it would be up to 4, and 1.14.
/// * Frequencies are compared as sums of logarithms in floating point. If two segmentations are equally probable, the
///   last bit decides, and it may differ with the mathematical library of another platform.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jieba;

/// The tokens that the words of the dictionary are made of.
struct Words(Tokens);

impl Default for Words {
    fn default() -> Self {
        Words(Tokens::new(TokenDetail::Everything, 0))
    }
}

impl Work for Words {
    fn bytes_held(&self) -> usize {
        self.0.bytes_held()
    }
}

impl Tokenizer for Jieba {
    fn name(&self) -> Cow<'_, str> {
        "jieba".into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        tokens.clear();
        let mut work = tokens.take_work::<Words>();
        let mut run = std::mem::take(&mut tokens.scratch);
        let plain = &mut work.0;
        plain.bound(Bound::of(tokens.room_beside().saturating_sub(run.bytes_held())));
        (&Word as &dyn Tokenizer).cut(text, plain);
        if plain.is_beyond_bound() {
            tokens.give_up();
        }
        let (mut at, held) = (0, plain.bytes_held());
        tokens.hold_beside(held + run.bytes_held());
        while at < plain.len() && !tokens.is_beyond_bound() {
            let end = end_of_run(plain, at);
            if end == at {
                tokens.push(plain.text(at), plain.span(at));
                at += 1;
                continue;
            }
            run.clear();
            let characters = || plain_characters(plain, at..end);
            let bytes = characters().map(char::len_utf8).sum();
            let has_room = run.reserve(bytes, false, || tokens.room_beside().saturating_sub(held));
            tokens.hold_beside(held + run.bytes_held());
            if !has_room || BYTES_A_CHARACTER * (end - at) > tokens.room() {
                tokens.give_up();
                break;
            }
            run.text.extend(characters());
            for word in cut(&run.text, end - at) {
                let next = at + word.word.chars().count();
                (at..next).for_each(|i| tokens.build(plain.text(i)));
                tokens.finish(plain.span(at).start..plain.span(next - 1).end);
                at = next;
            }
        }
        tokens.hold_beside(0);
        tokens.scratch = run;
        tokens.keep_work(work);
    }
}

/// The memory that a run of Han characters is cut in: the words that begin at each, the best way on, and a word at most.
const BYTES_A_CHARACTER: usize = 128;

/// Longer runs, in characters, are cut on a thread of their own. The dictionary keeps the memory of the longest run of each thread
/// until the thread ends.
const LONG_RUN: usize = 1 << 12;

/// The words of a run of so many Han characters.
fn cut(run: &str, characters: usize) -> Vec<jieba_rs::Token<'_>> {
    let cut = || DICTIONARY.cut(run, false);
    if characters <= LONG_RUN {
        return cut();
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, cut);
        thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_else(cut)
    })
}

/// The end of the uninterrupted Han characters from token `at` on.
fn end_of_run(plain: &Tokens, at: usize) -> usize {
    // Characters that came out of one have the same span.
    let follows = |i: usize| i == at || plain.span(i).start <= plain.span(i - 1).end;
    let length = (at..plain.len()).take_while(|&i| han(plain.text(i)).is_some() && follows(i)).count();
    at + length
}

/// The Han characters that these tokens are.
fn plain_characters(plain: &Tokens, tokens: Range<usize>) -> impl Iterator<Item = char> {
    tokens.filter_map(|i| han(plain.text(i)))
}

/// The Han character that a token is, without its marks.
fn han(token: &str) -> Option<char> {
    let c = token.chars().next()?;
    (Properties::of(c).any(Properties::ALONE) && c.script() == Script::Han).then_some(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::{nasty_text, shown, texts};
    use proptest::prelude::*;

    fn check(text: &str, expected: &str) {
        let found: Vec<_> = shown(&Jieba, text).into_iter().map(|(token, _)| token).collect();
        assert_eq!(found.join(" "), expected, "{text:?}");
    }

    #[test]
    fn words() {
        check("我来到北京清华大学", "我 来到 北京 清华大学");
        check("我们在2024年测试ＡＢＣ，用Rust", "我们 在 2024 年 测试 abc 用 rust");
        check("北\n京北\u{200b}京北京", "北 京 北京 北京");
        check("東京タワー 한국어", "東 京 タ ワ ー 한국어");
    }

    #[test]
    fn unknown_words_are_single_characters() {
        // With the hidden Markov model 杭研 would be one.
        check("他来到了网易杭研大厦", "他 来到 了 网易 杭 研 大厦");
    }

    #[test]
    fn spans_and_marks() {
        let token = |text: &str, span| (text.to_owned(), span);
        assert_eq!(shown(&Jieba, "去北\u{fe00}京。"), [token("去", 0..3), token("北京", 3..12)]);
        assert_eq!(shown(&Jieba, "㍿"), [token("株式会社", 0..3)]);
    }

    /// Words of the dictionary and characters, so that there are words in the text, and others across.
    fn chinese() -> impl Strategy<Value = String> {
        let words = ["我们", "北京", "清华大学", "研究生", "命", "起源", "长江大桥", "南京市", "的确", "实在"];
        let piece = prop_oneof![
            4 => prop::sample::select(words.to_vec()).prop_map(str::to_owned),
            2 => "[一-龥]",
            1 => prop::sample::select(vec!["，", "。", "\n", " "]).prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn chinese_alone_is_what_jieba_says(text in chinese()) {
            let expected = DICTIONARY.cut(&text, false).into_iter();
            let expected = expected.filter(|word| word.word.chars().all(char::is_alphanumeric));
            let expected: Vec<_> = expected.map(|word| (word.word.to_owned(), word.byte_start..word.byte_end)).collect();
            prop_assert_eq!(shown(&Jieba, &text), expected);
        }

        #[test]
        fn tokens_are_those_of_word_or_several_of_them(text in prop_oneof![texts(), nasty_text(), any::<String>()]) {
            let mut plain = shown(&Word, &text).into_iter();
            for (token, span) in shown(&Jieba, &text) {
                let (mut together, first) = plain.next().unwrap();
                prop_assert_eq!(first.start, span.start);
                let mut end = first.end;
                while together.len() < token.len() {
                    let (next, from) = plain.next().unwrap();
                    prop_assert!(han(&next).is_some() && han(&together).is_some());
                    prop_assert!(from.start <= end, "something stands between");
                    together += &next;
                    end = from.end;
                }
                prop_assert_eq!((together, end), (token, span.end));
            }
            prop_assert_eq!(plain.next(), None);
        }
    }
}
