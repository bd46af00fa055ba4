//! The tokens of texts in several scripts, by tokenizer and by preparation: a table for review, in `tokens.txt`; the
//! words of Chinese, with the feature `jieba`, in `jieba.txt`. `UPDATE_CASES=1` rewrites them.

use crate::support::plain::token_texts;
use neardups::tokenizer::prepared::mask::Masks;
use neardups::tokenizer::prepared::stem::StemLanguage;
use neardups::tokenizer::prepared::stop_words::StopList;
use neardups::tokenizer::{Preparation, Prepared, TOKENIZERS, Tokenizer, Word, by_name};
use std::fmt::Write;
use std::sync::Arc;

const TEXTS: &[(&str, &str)] = &[
    ("English", "Don't pay $1,234.50: the naïve café's menus."),
    ("German", "Die Straße war 1,5 km lang; STRASSENFESTE!"),
    ("Russian", "Съешь ещё этих мягких французских булок."),
    ("Arabic", "اللُّغَةُ العَرَبِيَّة ٣٫١٤"),
    ("Chinese", "我们在2024年测试ＡＢＣ，快速的狐狸。"),
    ("Japanese", "日本語のﾃﾞｰﾀと人々、東京タワー"),
    ("Thai", "ที่นี่มีน้ำ ๑๒๓"),
    ("emoji", "❤️ 👨\u{200d}👩\u{200d}👧 ok 👍🏽 1️⃣"),
    ("code", "if (x_1 >= 0x1F) { return y[i] += 3.14; }"),
];

/// A language, what is done to a text, and the text.
const PREPARED: &[(&str, &str)] = &[
    ("en", "On May 1, 2024 at 12:34 the 1,204 members weren't running the harbours."),
    ("de", "Am 1. Mai 2024 um 12:34 Uhr waren die 1.204 Mitglieder nicht in den Häusern."),
    ("ru", "1 мая 2024 в 12:34 все 1204 члена были в больших домах."),
    ("zh", "2024年5月1日12:34，1204名成员都在我们的房子里。"),
];

fn joined(tokenizer: &dyn Tokenizer, text: &str) -> String {
    token_texts(tokenizer, text).join(" | ")
}

fn table() -> String {
    let mut out = String::new();
    for (name, text) in TEXTS {
        writeln!(out, "{name}: {text}").unwrap();
        for entry in TOKENIZERS.iter().filter(|entry| entry.name != "jieba") {
            let tokenizer = by_name(entry.name).unwrap();
            writeln!(out, "  {:<10} {}", entry.name, joined(&*tokenizer, text)).unwrap();
        }
    }
    for &(code, text) in PREPARED {
        writeln!(out, "{code}: {text}").unwrap();
        let mask = |numbers, dates| Preparation { masks: Masks { numbers, dates }, ..Preparation::default() };
        let stop_words =
            Preparation { stop_words: vec![StopList::of_language(code).unwrap()], ..Preparation::default() };
        let stem = Preparation { stem: StemLanguage::by_code(code).ok(), ..Preparation::default() };
        let all = Preparation { masks: Masks { numbers: true, dates: true }, stem: stem.stem, ..stop_words.clone() };
        for (name, preparation) in [
            ("numbers", mask(true, false)),
            ("dates", mask(false, true)),
            ("stopwords", stop_words),
            ("stem", stem),
            ("all", all),
        ] {
            let tokenizer = Prepared::new(Arc::new(Word), &preparation).unwrap();
            writeln!(out, "  {name:<10} {}", joined(&tokenizer, text)).unwrap();
        }
    }
    out
}

pub fn check(file: &str, found: &str) {
    let path = format!("{}/tests/oracle/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(expected, found);
    }
    assert_eq!(expected, found);
}

#[test]
fn tokens_of_texts_in_several_scripts() {
    check("tokens.txt", &table());
}

#[cfg(feature = "jieba")]
#[test]
fn jieba_on_chinese() {
    let texts = [
        ("what jieba shows", "我来到北京清华大学。他来到了网易杭研大厦。"),
        ("two readings", "南京市长江大桥；研究生命起源；他说的确实在理"),
        ("other scripts", "我们在2024年测试ＡＢＣ，用Rust语言写的ﾃﾞｰﾀ程序。"),
        ("traditional", "我們在北京大學學習電腦程式設計。"),
        ("classical", "六王毕，四海一，蜀山兀，阿房出。"),
        ("Japanese", "日本語のテキスト、東京タワー"),
        ("one character", "㍿㍻"),
        ("compatibility", "中\u{2f00}\u{f9e4}\u{2f2f}人"),
        ("variation", "我们的葛\u{e0100}城，北\u{fe00}京"),
        ("repeated, numbers", "人々二〇二四年〆切"),
        ("rare", "\u{20000}\u{2a700}我们\u{30000}\u{3400}"),
        ("cut by a line end", "我们来到北\n京，再来到北 京和北\u{200b}京"),
    ];
    let jieba = by_name("jieba").unwrap();
    let line = |(name, text): (&str, &str)| format!("{name}: {}\n  {}\n", text.escape_debug(), joined(&*jieba, text));
    check("jieba.txt", &texts.map(line).concat());
}
