//! What each tokenizer makes of texts in several scripts, and what preparation makes of them: a table to be read, in
//! `tokens.txt`. `UPDATE_CASES=1` writes it anew.

use crate::support::plain::token_texts;
use neardups::tokenizer::prepared::mask::Masks;
use neardups::tokenizer::prepared::stem::StemLanguage;
use neardups::tokenizer::prepared::stop_words::StopList;
use neardups::tokenizer::{Preparation, Prepared, TOKENIZERS, Tokenizer, Word};
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
        for entry in TOKENIZERS {
            let tokenizer = (entry.build)(entry.size.as_ref().map_or(0, |(size, _)| *size));
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

#[test]
fn tokens_of_texts_in_several_scripts() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/tokens.txt");
    let found = table();
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(expected, found);
    }
    assert_eq!(expected, found);
}
