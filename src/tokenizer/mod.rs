//! Text to tokens: the trait, the buffer that tokens go into, and the table of tokenizers.
//!
//! A tokenizer is one file here and one line in [`TOKENIZERS`]; the command line, the help and the property tests
//! follow from the table. To use one of your own, implement [`Tokenizer`] and hand it to the scan: see
//! `examples/custom_tokenizer.rs`.
//!
//! # What does not count
//! Invisible characters are in no token and cut none, with every tokenizer, so that texts that look the same have the
//! same tokens. These are Unicode's Default_Ignorable_Code_Point: soft hyphens, zero-width spaces, joiners and
//! non-joiners, byte order marks, bidirectional controls, variation selectors, Hangul fillers and tags. Optional
//! characters do not count either: tatweel, the vowel signs and Quranic marks of Arabic, and the points of Hebrew,
//! which the same text is written with and without. A visible space separates, however narrow. Texts that differ only
//! in these characters are equal: `می‌خواهم` with a non-joiner is one word, the same as without; a zero-width space
//! between words of Thai or Khmer changes nothing. Signs of other scripts count: those of Devanagari or Thai are read,
//! and so are maddah and hamza on an Arabic letter.
//!
//! The speeds in the docs were measured before [`crate::kernel`] and the present token hash were introduced, on one
//! core (AMD EPYC, Zen 5; SSE2), with token hashes and [`TokenDetail::Hashes`]. They are the best of nine passes over
//! the same 10,000 passages of documentation in many languages, 1.8 kB each, sorted by the share of bytes that are not
//! ASCII. For Thai there was only one sentence, repeated.

mod ascii;
mod char_ngram;
mod code;
#[cfg(feature = "jieba")]
mod jieba;
mod normalise;
pub mod prepared;
mod properties;
mod ranges;
mod room;
mod shortened;
mod simple;
mod table;
mod tokens;
mod uax29;
mod whitespace;
mod word;
mod word_length;

pub use char_ngram::CharNgram;
pub use code::Code;
#[cfg(feature = "jieba")]
pub use jieba::Jieba;
pub use prepared::{Preparation, Prepared};
pub(crate) use properties::{has_letter, stands_alone, starts_cluster};
pub(crate) use table::is_rewriting;
pub use table::{CHAR_AUTO, TOKENIZERS, TokenizerEntry, by_name, canonical_name, is_overlapping};
pub(crate) use tokens::Bound;
pub use tokens::{TokenDetail, Tokenizer, Tokens};
pub use uax29::Uax29;
pub use whitespace::Whitespace;
pub use word::Word;
pub use word_length::WordLength;

#[cfg(test)]
mod tests {
    use super::normalise::{counted, counts};
    use super::*;
    use crate::hash::token_hash;
    use proptest::prelude::*;
    use std::ops::Range;
    use unicode_normalization::UnicodeNormalization;

    /// The tokens of `text`, each with its span.
    pub(super) fn shown(tokenizer: &dyn Tokenizer, text: &str) -> Vec<(String, Range<usize>)> {
        let mut tokens = Tokens::new(TokenDetail::Everything, 0);
        tokenizer.tokenize(text, &mut tokens);
        (0..tokens.len()).map(|i| (tokens.text(i).to_owned(), tokens.span(i))).collect()
    }

    fn token_texts(tokenizer: &dyn Tokenizer, text: &str) -> Vec<String> {
        shown(tokenizer, text).into_iter().map(|(token, _)| token).collect()
    }

    /// NFKC without what is ignored: the definition on the whole text.
    pub(super) fn normalised(text: &str) -> String {
        counted(text).nfkd().filter(|&c| counts(c)).nfc().collect()
    }

    /// Text such as people write: sentences of many scripts, cut and mixed anywhere.
    pub(super) fn texts() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "The quick brown Fox jumps over the lazy dog. ",
            "Don't e-mail_me at 3.14 or 1,000; see http://example.com/a?b=c#d. ",
            "if (x_1 >= 0x1F) { return y[i] += 1_000; }\r\n",
            "\r\n",
            "\n\n  ",
            "L'été où Zoë a mangé un Œuf à Århus — STRASSE, Straße, ŒUVRE… ",
            "cafe\u{301} re\u{301}sume\u{301} A\u{30a}ngstro\u{308}m ",
            "Съешь же ещё этих Мягких французских булок. ",
            "Ἐν ἀρχῇ ἦν ὁ Λόγος, ΟΔΟΣ ",
            "Tiếng Việt có dấu ",
            "快速的棕色狐狸跳过了懒狗。我们在2024年测试ＡＢＣ。",
            "いろはにほへと チリヌルヲ ﾊﾝｶｸﾃﾞｰﾀ データー 人々",
            "한국어 문장을 띄어 쓴다. ᄒ\u{1161}\u{11ab}글 ",
            "ที่นี่มีนํ้าและก๋วยเตี๋ยว กำลัง ๑๒๓",
            "ພາສາລາວ ភាសាខ្មែរ မြန်မာဘာသာ ",
            "हिन्दी में क़लम और ज़मीन। தமிழ் கொ ",
            "העברית עם נִקּוּד צה\"ל ",
            "اللُّغَةُ العَرَبِيَّة می\u{200c}خواهم ﷺ ",
            "❤️ 👨\u{200d}👩\u{200d}👧 🇩🇪🇫🇷 1️⃣ 👍🏽 ",
            "ﬁne ½ ㍿ ① Ⅷ x² ™ ´ ¨ ",
        ]);
        let cut = (pieces, 0.0..=1.0f64, 0.0..=1.0f64).prop_map(|(piece, a, b)| {
            let chars: Vec<char> = piece.chars().collect();
            let place = |share: f64| (share * chars.len() as f64) as usize;
            chars[place(a.min(b))..place(a.max(b))].iter().collect::<String>()
        });
        prop::collection::vec(cut, 0..12).prop_map(|pieces| pieces.concat())
    }

    /// Characters that touch their neighbours, in any order.
    pub(super) fn nasty_text() -> impl Strategy<Value = String> {
        let nasty: Vec<char> = "aBjI1_ .,:;'\"=<\r\n\tKſßİıéΣςͅ日々ーカﾊﾞﾟでกำเ\u{e48}ကာ့្កຳ가각कखिा้àﬁ½㍿´¨❤\
            \u{300}\u{301}\u{307}\u{323}\u{327}\u{338}\u{344}\u{345}\u{f71}\u{f72}\u{f73}\u{f74}\u{f81}\u{93c}\u{94d}\u{9be}\u{9c7}\
            \u{9d7}\u{bc6}\u{bbe}\u{1025}\u{102e}\u{1039}\u{17d2}\u{1100}\u{1161}\u{1175}\u{11a7}\u{11a8}\u{11c2}\u{3099}\u{309a}\
            \u{fe0f}\u{200b}\u{200c}\u{200d}\u{ad}\u{feff}\u{34f}\u{202e}\u{115f}\u{ffa0}\u{a0}\
            لاأ\u{640}\u{64b}\u{64e}\u{651}\u{653}\u{654}\u{657}\u{670}\u{6df}\u{fe70}\u{fe71}\u{fe7d}\u{fcf2}\u{fefb}\u{5b0}\u{5c1}\u{591}\u{fb2a}\u{fb1e}\\u{2028}\u{85}\u{1f1e9}\u{1f468}\u{e0100}\u{1d15e}\u{1d165}\u{1109a}\
            \u{110ba}\u{11099}\u{10ffff}\u{2126}\u{212a}\u{fb1d}\u{5b4}\u{5d9}\u{37e}\u{387}\u{1fef}\u{2adc}\u{2add}\u{661}"
            .chars()
            .collect();
        prop::collection::vec(prop::sample::select(nasty), 0..40).prop_map(String::from_iter)
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![texts(), nasty_text(), any::<String>()]
    }

    /// Every tokenizer of the table that this build has, with its name; those that take a size in several.
    fn all() -> Vec<(String, Box<dyn Tokenizer>)> {
        let names = TOKENIZERS.iter().filter(|entry| entry.build.is_some()).map(|entry| entry.name.to_owned());
        let names = names.chain(["char:1", "char:2", "char:64"].map(str::to_owned));
        names.map(|name| (name.clone(), by_name(&name).unwrap())).collect()
    }

    /// Checks that a bound changes no token, or that nothing is kept; and that it is kept to, up to a few tokens of each buffer.
    pub(super) fn check_bounds(name: &str, tokenizer: &dyn Tokenizer, text: &str) {
        const BYTES_AFTER_GIVING_UP: usize = 16 << 10;
        for detail in [TokenDetail::Hashes, TokenDetail::Texts, TokenDetail::Everything] {
            let mut free = Tokens::new(detail, 3);
            tokenizer.cut(text, &mut free);
            for bytes in (0..4).map(|n| n * free.bytes_held() / 2).chain([1 << 40]) {
                let mut bounded = Tokens::new(detail, 3);
                bounded.bound(Bound::of(bytes));
                tokenizer.cut(text, &mut bounded);
                let held = bounded.bytes_held();
                assert!(
                    held <= bytes + BYTES_AFTER_GIVING_UP,
                    "{name} {detail:?}: {held} of {bytes} bytes for {text:?}"
                );
                if bytes == 1 << 40 || !bounded.is_beyond_bound() {
                    assert_eq!(bounded.hashes(), free.hashes(), "{name} {detail:?} {text:?}");
                    assert!(!bounded.is_beyond_bound());
                }
                if detail != TokenDetail::Hashes && !bounded.is_beyond_bound() {
                    assert!((0..free.len()).all(|i| bounded.text(i) == free.text(i)), "{name} {detail:?} {text:?}");
                }
                if detail == TokenDetail::Everything && !bounded.is_beyond_bound() {
                    assert!((0..free.len()).all(|i| bounded.span(i) == free.span(i)), "{name} {detail:?} {text:?}");
                }
            }
        }
    }

    /// Pieces of texts that take many times as much when they are rewritten, or that are all one run.
    pub(super) const EXPANDING: [&str; 8] =
        ["\u{fdfa}", "\u{fdfa} ", "ที่นี่", "a ", "1-\n", "\u{390}", "e\u{301}\u{323}", "北京"];

    #[test]
    fn bounds_are_kept_to() {
        for (name, tokenizer) in all() {
            EXPANDING.into_iter().for_each(|piece| check_bounds(&name, &*tokenizer, &piece.repeat(8000)));
            for text in [format!("a{}", "\u{301}\u{323}".repeat(5000)), format!("É{}", "a".repeat(100_000))] {
                check_bounds(&name, &*tokenizer, &text);
            }
        }
    }

    #[test]
    fn table() {
        for (i, entry) in TOKENIZERS.iter().enumerate() {
            assert!(TOKENIZERS[..i].iter().all(|other| other.name != entry.name), "{} twice", entry.name);
            assert!(!entry.summary.is_empty() && !entry.summary.contains('\n'));
            assert!(entry.summary.is_ascii(), "{}: manual pages are ASCII", entry.summary);
            assert!(entry.size.as_ref().is_none_or(|(default, range)| range.contains(default)));
            if entry.build.is_some() {
                assert!(token_texts(&*by_name(entry.name).unwrap(), "").is_empty());
            }
        }
    }

    #[test]
    fn names_with_sizes() {
        for good in ["word", "char", "char:1", "char:64"] {
            assert!(by_name(good).is_ok(), "{good}");
        }
        for (bad, expected) in [
            ("words", "one of word, uax29, char, code, whitespace"),
            ("word:3", "word alone: it takes no size"),
            ("char:0", "char:N with N from 1 to 64"),
            ("char:", "char:N with N from 1 to 64"),
        ] {
            let message = by_name(bad).err().unwrap().to_string();
            assert!(message.contains(bad) && message.contains(expected), "{message}");
        }
    }

    #[test]
    fn a_build_says_what_it_is_without() {
        for entry in TOKENIZERS {
            let message = by_name(entry.name).err().map(|error| error.to_string());
            assert_eq!(message.is_none(), entry.build.is_some(), "{}", entry.name);
            if let Some(message) = message {
                assert!(message.contains(&format!("needs the feature {}", entry.name)), "{message}");
                let built = TOKENIZERS.iter().filter(|entry| entry.build.is_some()).map(|entry| entry.name);
                let names = format!("one of {}: ", built.collect::<Vec<_>>().join(", "));
                assert!(message.contains(&names), "{message}");
            }
        }
    }

    #[test]
    fn a_token_may_be_pushed_or_built() {
        let mut tokens = Tokens::new(TokenDetail::Everything, 7);
        tokens.push("near", 0..4);
        tokens.push("", 4..4);
        tokens.building().push_str("ne");
        tokens.building().push_str("ar");
        tokens.finish(5..9);
        tokens.finish(9..9);
        assert_eq!(tokens.hashes(), [token_hash(b"near", 7); 2]);
        assert_eq!([tokens.text(0), tokens.text(1)], ["near"; 2]);
        assert_eq!([tokens.span(0), tokens.span(1)], [0..4, 5..9]);
    }

    /// Characters that are not seen, of every kind.
    const UNSEEN: &str = "\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{17b4}\u{180e}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{202a}\u{2060}\u{2064}\u{2066}\
        \u{3164}\u{fe0e}\u{fe0f}\u{feff}\u{ffa0}\u{fff0}\u{1d173}\u{e0020}\u{e0100}\u{640}\u{64e}\u{651}\u{670}\u{6d6}\u{8f0}\u{5b0}\u{591}\u{fb1e}";

    /// The text with characters that are not seen put in here and there, also several in a row.
    pub(super) fn with_unseen(text: &str, unseen: &[(prop::sample::Index, prop::sample::Index)]) -> String {
        let (mut chars, all): (Vec<char>, Vec<char>) = (text.chars().collect(), UNSEEN.chars().collect());
        for (place, which) in unseen {
            chars.insert(place.index(chars.len() + 1), *which.get(&all));
        }
        chars.into_iter().collect()
    }

    #[test]
    fn texts_that_look_the_same_have_the_same_tokens() {
        for (text, other) in [
            ("exam\u{ad}ple of a hy\u{ad}phen", "example of a hyphen"),
            ("\u{feff}zero\u{200b}width\u{2060}", "zerowidth"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("كــتاب", "كتاب"),
            ("اللُّغَةُ العَرَبِيَّة", "اللغة العربية"),
            ("أَب آكل", "أب آكل"),
            ("\u{fe71}\u{fcf2}ب", "ب"),
            ("נִקּוּד \u{fb2a}לום", "נקוד שלום"),
            ("ភាសា\u{200b}ខ្មែរ ที่\u{200b}นี่", "ភាសាខ្មែរ ที่นี่"),
            ("北\u{200b}京葛\u{e0100}城", "北京葛城"),
            ("क\u{200d}्ष क्\u{200c}ष", "क्ष क्ष"),
            ("\u{202a}3.\u{200b}14\u{202c} 1\u{200b},5", "3.14 1,5"),
            ("e\u{200d}\u{301} \u{200b} \u{301}a", "é  \u{301}a"),
            ("\r\u{200b}\nx", "\r\nx"),
        ] {
            for (name, tokenizer) in all()
                .iter()
                .filter(|(name, _)| name != "whitespace" || !text.contains(['\u{fe71}', '\u{fb2a}', '\u{301}']))
            {
                assert_eq!(token_texts(&**tokenizer, text), token_texts(&**tokenizer, other), "{name} {text}");
            }
        }
        for different in
            [("أب", "اب"), ("की", "का"), ("ที่", "ที"), ("が", "か"), ("a\u{200b} b", "ab"), ("a\u{2009}b", "ab")]
        {
            for (name, tokenizer) in all() {
                assert_ne!(
                    token_texts(&*tokenizer, different.0),
                    token_texts(&*tokenizer, different.1),
                    "{name} {different:?}"
                );
            }
        }
    }

    #[test]
    fn spans_are_of_the_original() {
        let text = "x exam\u{ad}ple, \u{200b}y\u{200b} é";
        for (name, expected) in [
            ("word", &["x", "exam\u{ad}ple", "y\u{200b}", "é"][..]),
            ("uax29", &["x", "exam\u{ad}ple", "y", "é"]),
            ("code", &["x", "exam\u{ad}ple", ",", "y\u{200b}", "é"]),
            ("whitespace", &["x", "exam\u{ad}ple,", "\u{200b}y\u{200b}", "é"]),
        ] {
            let tokens = shown(&*by_name(name).unwrap(), text);
            assert!(
                tokens.iter().map(|(_, span)| &text[span.clone()]).eq(expected.iter().copied()),
                "{name} {tokens:?}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn bounds_change_no_tokens(text in any_text()) {
            for (name, tokenizer) in all() {
                check_bounds(&name, &*tokenizer, &text.repeat(40));
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_not_seen_does_not_count(
            text in any_text(),
            unseen in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..12),
        ) {
            let other = with_unseen(&text, &unseen);
            for (name, tokenizer) in all() {
                prop_assert_eq!(token_texts(&*tokenizer, &other), token_texts(&*tokenizer, &text), "{} {:?}", name, other);
            }
        }

        #[test]
        fn composition_does_not_matter(text in any_text()) {
            let (composed, decomposed): (String, String) = (text.nfc().collect(), text.nfd().collect());
            for (name, tokenizer) in all().iter().filter(|(name, _)| name != "whitespace") {
                let expected = token_texts(&**tokenizer, &text);
                prop_assert_eq!(&token_texts(&**tokenizer, &composed), &expected, "{} {:?}", name, composed);
                prop_assert_eq!(&token_texts(&**tokenizer, &decomposed), &expected, "{} {:?}", name, decomposed);
            }
        }

        #[test]
        fn line_ends_do_not_matter(text in any_text()) {
            let unix = text.replace("\r\n", "\n");
            for (name, tokenizer) in all() {
                prop_assert_eq!(token_texts(&*tokenizer, &text), token_texts(&*tokenizer, &unix), "{}", name);
            }
        }

        #[test]
        fn ascii_case_does_not_matter(text in texts()) {
            let upper = text.to_ascii_uppercase();
            for (name, tokenizer) in all().iter().filter(|(name, _)| !["whitespace", "code"].contains(&name.as_str())) {
                prop_assert_eq!(token_texts(&**tokenizer, &text), token_texts(&**tokenizer, &upper), "{}", name);
            }
        }

        #[test]
        fn spans_are_in_order_and_on_character_boundaries(text in any_text()) {
            for (name, tokenizer) in all() {
                let tokens = shown(&*tokenizer, &text);
                for (_, span) in &tokens {
                    prop_assert!(text.get(span.clone()).is_some_and(|piece| !piece.is_empty()), "{} {:?}", name, span);
                }
                let in_order = tokens.is_sorted_by(|(_, a), (_, b)| a.start <= b.start && a.end <= b.end);
                prop_assert!(in_order, "{} {:?}", name, tokens);
            }
        }

        #[test]
        fn what_is_kept_and_what_was_there_before_do_not_matter(first in any_text(), text in any_text()) {
            for (name, tokenizer) in all() {
                let [mut everything, mut texts, mut hashes, mut fresh] =
                    [TokenDetail::Everything, TokenDetail::Texts, TokenDetail::Hashes, TokenDetail::Everything].map(|detail| Tokens::new(detail, 3));
                for tokens in [&mut everything, &mut texts, &mut hashes] {
                    tokenizer.tokenize(&first, tokens);
                    tokenizer.tokenize(&text, tokens);
                }
                tokenizer.tokenize(&text, &mut fresh);
                prop_assert_eq!(everything.hashes(), fresh.hashes(), "{}", name);
                prop_assert_eq!(texts.hashes(), fresh.hashes(), "{}", name);
                prop_assert_eq!(hashes.hashes(), fresh.hashes(), "{}", name);
                for i in 0..fresh.len() {
                    prop_assert_eq!((everything.text(i), everything.span(i)), (fresh.text(i), fresh.span(i)));
                    prop_assert_eq!(texts.text(i), fresh.text(i));
                    let eight: Vec<u8> = fresh.text(i).bytes().chain([0; 8]).take(8).collect();
                    prop_assert_eq!(fresh.beginning(i).to_be_bytes(), &eight[..]);
                    prop_assert_eq!(token_hash(fresh.text(i).as_bytes(), 3), fresh.hashes()[i]);
                }
                prop_assert!(!everything.is_building() && !texts.is_building() && !hashes.is_building());
            }
        }
    }
}
