//! The similarity of a text to itself after a change that readers do not see or do not mind: a table of scripts and
//! kinds of change, in `scripts.txt`. `UPDATE_CASES=1` rewrites it.
//!
//! Each cell is the Jaccard similarity of the runs of five `word` tokens; a dash where the change changes nothing.

use super::tokens::check;
use neardups::passages::Overlap;
use neardups::tokenizer::{Preparation, Prepared, TokenDetail, Tokenizer, Tokens, Word};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// Article 1 of the Universal Declaration of Human Rights.
const TEXTS: &[(&str, &str)] = &[
    (
        "English",
        "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should \
        act towards one another in a spirit of brotherhood.",
    ),
    (
        "French",
        "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et \
        doivent agir les uns envers les autres dans un esprit de fraternité.",
    ),
    (
        "German",
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen \
        einander im Geist der Brüderlichkeit begegnen.",
    ),
    (
        "Polish",
        "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i \
        powinni postępować wobec innych w duchu braterstwa.",
    ),
    (
        "Turkish",
        "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı \
        kardeşlik zihniyeti ile hareket etmelidirler.",
    ),
    (
        "Vietnamese",
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo hoá ban \
        cho lý trí và lương tâm và cần phải đối xử với nhau trong tình bằng hữu.",
    ),
    (
        "Russian",
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны \
        поступать в отношении друг друга в духе братства.",
    ),
    (
        "Ukrainian",
        "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні \
        діяти у відношенні один до одного в дусі братерства.",
    ),
    (
        "Greek",
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και \
        συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
    ),
    (
        "Arabic",
        "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.",
    ),
    (
        "Arabic, vowelled",
        "يُولَدُ جَمِيعُ النَّاسِ أَحْرَارًا مُتَسَاوِينَ فِي الكَرَامَةِ وَالحُقُوقِ. وَقَدْ وُهِبُوا عَقْلًا وَضَمِيرًا وَعَلَيْهِمْ أَنْ يُعَامِلَ \
        بَعْضُهُمْ بَعْضًا بِرُوحِ الإِخَاءِ.",
    ),
    (
        "Persian",
        "تمام افراد بشر آزاد به دنیا می\u{200c}آیند و از لحاظ حیثیت و حقوق با هم برابرند. همه دارای عقل و وجدان می\u{200c}باشند و باید \
        نسبت به یکدیگر با روح برادری رفتار کنند.",
    ),
    (
        "Hebrew",
        "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו \
        ברוח של אחווה.",
    ),
    (
        "Hindi",
        "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है \
        और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।",
    ),
    (
        "Thai",
        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
    ),
    ("Khmer", "មនុស្សទាំងអស់កើតមកមានសេរីភាពនិងសមភាពក្នុងសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ។"),
    ("Chinese", "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。(1948)"),
    (
        "Japanese",
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに\
        同胞の精神をもって行動しなければならない。パリ、1948。",
    ),
    (
        "Korean",
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 \
        정신으로 행동하여야 한다.",
    ),
];

/// A kind of change.
struct Change {
    name: &'static str,
    change: fn(&str) -> String,
    /// Whether it is of what cannot be seen, so that it must not show.
    unseen: bool,
    join_hyphens: bool,
    fold_marks: bool,
}

const fn change(name: &'static str, change: fn(&str) -> String) -> Change {
    Change { name, change, unseen: false, join_hyphens: false, fold_marks: false }
}

const fn unseen(name: &'static str, change: fn(&str) -> String) -> Change {
    Change { name, change, unseen: true, join_hyphens: false, fold_marks: false }
}

const CHANGES: &[Change] = &[
    unseen("decomposed", |text| text.nfd().collect()),
    unseen("soft hyphens", |text| within_words(text, |_| "\u{ad}")),
    unseen("zero-width spaces", |text| within_words(text, |_| "\u{200b}")),
    // Where they are written they are left out.
    unseen("joiners", |text| match text.contains('\u{200c}') {
        true => text.replace('\u{200c}', ""),
        false => within_words(text, |word| if word.is_multiple_of(2) { "\u{200c}" } else { "\u{200d}" }),
    }),
    unseen("variation selectors", |text| {
        within_words(text, |word| if word.is_multiple_of(2) { "\u{fe0f}" } else { "\u{e0100}" })
    }),
    unseen("bidi controls", |text| each_word(text, |_, word| format!("\u{200f}\u{2067}{word}\u{2069}\u{200e}"))),
    unseen("tatweel", |text| if is_arabic(text) { within_words(text, |_| "\u{640}\u{640}") } else { text.to_string() }),
    unseen("vowel signs", |text| match text {
        _ if text.contains('\u{64e}') => text.chars().filter(|c| !matches!(c, '\u{64b}'..='\u{652}')).collect(),
        _ if is_arabic(text) => within_words(text, |word| ["\u{64e}", "\u{650}\u{651}", "\u{670}"][word % 3]),
        _ if text.contains('א') => within_words(text, |word| ["\u{5b7}", "\u{5bc}\u{5b0}", "\u{591}"][word % 3]),
        _ => text.to_string(),
    }),
    change("upper case", |text| text.to_uppercase()),
    change("full width", full_width),
    change("punctuation", |text| {
        let is_kept = |c: char| c.is_alphanumeric() || c.is_whitespace() || is_combining_mark(c) || c == '\u{200c}';
        text.chars().flat_map(|c| if is_kept(c) { vec![c] } else { " — ".chars().collect() }).collect()
    }),
    change("line ends", |text| {
        each_word(text, |number, word| format!("{}{word}", if number % 4 == 3 { "\r\n  " } else { "" }))
    }),
    change("marks removed", without_marks),
    Change { fold_marks: true, ..change("--fold marks", without_marks) },
    change("hyphenated", hyphenated),
    Change { join_hyphens: true, ..change("--join-hyphens", hyphenated) },
];

fn is_arabic(text: &str) -> bool {
    text.contains('ا')
}

/// Changes each piece between spaces, given its number.
fn each_word(text: &str, change: impl Fn(usize, &str) -> String) -> String {
    text.split(' ').enumerate().map(|(number, word)| change(number, word)).collect::<Vec<_>>().join(" ")
}

/// Puts something after every second character of a word that another one follows, given the number of the word.
fn within_words(text: &str, what: impl Fn(usize) -> &'static str) -> String {
    each_word(text, |number, word| {
        let mut out = String::new();
        let clusters: Vec<&str> = word.graphemes(true).collect();
        for (i, cluster) in clusters.iter().enumerate() {
            let is_letter =
                |cluster: Option<&&str>| cluster.is_some_and(|cluster| cluster.starts_with(char::is_alphabetic));
            out += cluster;
            if i % 2 == 1 && is_letter(Some(cluster)) && is_letter(clusters.get(i + 1)) {
                out += what(number);
            }
        }
        out
    })
}

fn full_width(text: &str) -> String {
    let forms: HashMap<char, char> =
        ('\u{ff01}'..='\u{ff9d}').filter_map(|form| Some((form.nfkc().next()?, form))).collect();
    text.chars().map(|c| forms.get(&c).copied().unwrap_or(c)).collect()
}

fn without_marks(text: &str) -> String {
    let kept = text.nfd().filter(|&c| !is_combining_mark(c));
    let without_stroke = |c| match c {
        'đ' => 'd',
        'ł' => 'l',
        'ı' => 'i',
        _ => c,
    };
    kept.map(without_stroke).nfc().collect()
}

/// Breaks every other word that is long enough.
fn hyphenated(text: &str) -> String {
    each_word(text, |number, word| {
        let clusters: Vec<&str> = word.graphemes(true).collect();
        let is_long =
            clusters.len() >= 5 && clusters[..5].iter().all(|cluster| cluster.starts_with(char::is_alphabetic));
        if is_long && number % 2 == 0 && text.split(' ').count() > 10 {
            format!("{}-\n{}", clusters[..3].concat(), clusters[3..].concat())
        } else {
            word.to_string()
        }
    })
}

fn similarity(a: &str, b: &str, change: &Change) -> f64 {
    let Change { join_hyphens, fold_marks, .. } = *change;
    let preparation = Preparation { join_hyphens, fold_marks, ..Preparation::default() };
    let tokenizer = Prepared::new(Arc::new(Word), &preparation).unwrap();
    let [a, b] = [a, b].map(|text| {
        let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
        tokenizer.tokenize(text, &mut tokens);
        tokens
    });
    Overlap::of_shingles(a.hashes(), b.hashes(), 5).jaccard().unwrap().value()
}

#[test]
fn scripts_and_kinds_of_change() {
    let mut table = String::from("                 ");
    CHANGES.iter().for_each(|change| write!(table, "  {}", change.name).unwrap());
    table.push('\n');
    for (script, text) in TEXTS {
        let text: String = text.nfc().collect();
        write!(table, "{script:<17}").unwrap();
        for change in CHANGES {
            let changed = (change.change)(&text);
            let cell =
                if changed == text { "-".to_string() } else { format!("{:.2}", similarity(&text, &changed, change)) };
            assert!(!change.unseen || cell == "-" || cell == "1.00", "{script}, {}: {cell}", change.name);
            write!(table, "  {cell:>width$}", width = change.name.len()).unwrap();
        }
        table.push('\n');
    }
    check("scripts.txt", &table);
}
