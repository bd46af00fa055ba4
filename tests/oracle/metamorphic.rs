//! Known changes of documents, and what must and must not change in the result.

use crate::support::corpus::{Text, related, with_articles, words};
use crate::support::random::Random;
use crate::support::scanning::{factory, follows_the_collection, outcome, pairs, unordered};
use neardups::algorithm::{ALGORITHMS, TableFactory};
use neardups::engine::{ScanOptions, scan};
use neardups::source;
use unicode_normalization::UnicodeNormalization;

/// Every algorithm of the table, with settings that do not follow the documents.
fn factories() -> Vec<TableFactory> {
    let settings = |name| match name {
        "minhash" => &[("shingle", "3")][..],
        "simhash" => &[("distance", "6"), ("force", "true")],
        "spotsigs" => &[("min-spots", "1")],
        _ => &[],
    };
    ALGORITHMS.iter().map(|entry| factory(entry.name, settings(entry.name))).collect()
}

/// Those that look at each document by itself.
fn independent() -> Vec<TableFactory> {
    factories().into_iter().filter(|factory| !follows_the_collection(factory)).collect()
}

fn text(id: &str, text: impl Into<String>) -> Text {
    (id.into(), text.into())
}

#[test]
fn an_unrelated_document_more_leaves_the_pairs_as_they_are() {
    let documents = with_articles(related(&mut Random::new(1), 200, 200));
    let unrelated: String = (0..300).map(|n| format!("unheard{n} of{n} ")).collect();
    for factory in independent() {
        let before = pairs(&outcome(&documents, &factory));
        assert!(before.len() > 50);
        for at in [0, 100, 200] {
            let mut more = documents.clone();
            more.insert(at, text("unrelated", &unrelated));
            assert_eq!(pairs(&outcome(&more, &factory)), before);
        }
    }
}

#[test]
fn a_document_twice_is_a_pair_at_1_and_has_the_same_partners() {
    let documents = with_articles(related(&mut Random::new(2), 120, 200));
    for factory in independent() {
        let before = unordered(&outcome(&documents, &factory));
        for n in [0, 17, 55, 119] {
            let mut more = documents.clone();
            more.push(text("again", &documents[n].1));
            let mut expected = before.clone();
            let own = &documents[n].0;
            let partner = |a: &String, b: &String| [(a, b), (b, a)].iter().find(|p| p.0 == own).map(|p| p.1.clone());
            let of_own = before.iter().filter_map(|((a, b), &s)| Some((partner(a, b)?, s)));
            let itself = (!documents[n].1.is_empty()).then(|| (own.clone(), 1.0));
            expected.extend(of_own.chain(itself).map(|(other, s)| (("again".to_string(), other), s)));
            assert_eq!(unordered(&outcome(&more, &factory)), expected);
        }
    }
}

#[test]
fn case_punctuation_and_white_space_make_exact_copies() {
    let base =
        "The Straße, où Zoë a mangé; 項羽本紀 and \"three\" more — cafés: 1½ hours (at most) of Οδυσσεύς, Жёлтый дом.";
    let variants = [
        base.to_uppercase(),
        base.to_lowercase(),
        base.replace(' ', "\t\n "),
        base.replace([',', ';', '.', ':', '"'], " - "),
        format!("  ...{base}!?\n\n"),
        base.replace('é', "e\u{301}").replace('ë', "e\u{308}"),
        base.replace("項羽", "項，羽"),
        base.replace("three", "ｔｈｒｅｅ"),
    ];
    let mut documents = vec![text("base", base)];
    documents.extend(variants.iter().enumerate().map(|(n, variant)| text(&n.to_string(), variant)));
    for factory in factories() {
        let outcome = outcome(&documents, &factory);
        let copies = outcome.report.counts.copies;
        assert_eq!(copies, variants.len() as u64, "{:?}", pairs(&outcome));
    }
}

#[test]
fn line_ends_marks_and_composition_are_no_difference() {
    let lines = [
        "Tiếng Việt có dấu, und Äpfel für Ångström.",
        "한국어 문장을 띄어 쓴다.",
        "がぎぐげご ハ゜",
        "the plain words",
    ];
    let composed = lines.join("\n");
    let forms = [
        composed.clone(),
        lines.join("\r\n"),
        lines.join("\r"),
        format!("\u{feff}{composed}"),
        composed.nfd().collect(),
        composed.nfc().collect(),
        format!("\u{feff}{}\r\n", lines.join("\r\n").nfd().collect::<String>()),
    ];
    // In memory.
    let documents: Vec<Text> = forms.iter().enumerate().map(|(n, form)| text(&n.to_string(), form)).collect();
    for factory in factories() {
        assert_eq!(outcome(&documents, &factory).report.counts.copies, 6);
    }
    // And in files, where a byte order mark declares the encoding.
    let folder = tempfile::tempdir().unwrap();
    for (n, form) in forms.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{n}.txt")), form).unwrap();
    }
    let utf16: Vec<u8> = format!("\u{feff}{composed}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.path().join("utf16.txt"), utf16).unwrap();
    for factory in factories() {
        let mut input = source::Input::new(vec![folder.path().to_path_buf()], source::ReadOptions::default());
        let outcome = scan(&mut input, None, &factory, &ScanOptions::default(), &()).unwrap();
        assert_eq!((outcome.report.counts.documents, outcome.report.counts.copies), (8, 7));
    }
}

#[test]
fn swapped_paragraphs_lose_the_shingles_across_their_borders_and_no_others() {
    let mut random = Random::new(3);
    for width in [1, 2, 3, 5, 8] {
        // Words that are all different.
        let mut paragraph = |name: &str| {
            let count = 20 + random.below(80);
            (0..count).map(|n| format!("{name}{n} ")).collect::<String>()
        };
        let [a, b, c, d] = ["a", "b", "c", "d"].map(&mut paragraph);
        let documents = [text("before", [&a[..], &b, &c, &d].concat()), text("after", [&a[..], &c, &b, &d].concat())];
        let shingles = documents[0].1.split_whitespace().count() - width + 1;
        let lost = 3 * (width - 1);
        let expected = (shingles - lost) as f64 / (shingles + lost) as f64;
        let width = width.to_string();
        let settings = [("shingle", width.as_str()), ("threshold", "0.1"), ("rows", "1"), ("bands", "64")];
        let found = pairs(&outcome(&documents, &factory("minhash", &settings)));
        assert_eq!(found, [("before".to_string(), "after".to_string(), expected)], "shingles of {width}");
    }
}

#[test]
fn one_word_replaced_in_the_middle_costs_as_many_shingles_as_a_shingle_has_words() {
    // J = (n − 2w + 1)/(n + 1): 49 words are the fewest that stay at 0.8 with shingles of 5.
    let similarity = |count: usize| {
        let before: Vec<String> = (0..count).map(|n| format!("w{n}")).collect();
        let mut after = before.clone();
        after[count / 2] = "other".into();
        let documents = [text("a", before.join(" ")), text("b", after.join(" "))];
        let settings = [("shingle", "5"), ("threshold", "0.8"), ("rows", "1"), ("bands", "64")];
        pairs(&outcome(&documents, &factory("minhash", &settings))).first().map(|pair| pair.2)
    };
    assert_eq!([48, 49, 50, 99].map(similarity), [None, Some(0.8), Some(41.0 / 51.0), Some(0.9)]);
}

#[test]
fn the_order_of_words_does_not_matter_to_single_tokens() {
    let mut random = Random::new(4);
    let ordered = words(&mut random, 200, 1_000_000);
    let mut shuffled = ordered.clone();
    random.shuffle(&mut shuffled);
    let documents = [text("a", ordered.join(" ")), text("b", shuffled.join(" "))];
    for factory in [
        factory("minhash", &[("shingle", "1"), ("threshold", "1")]),
        factory("simhash", &[("grams", "1"), ("distance", "0")]),
        factory("imatch", &[("lexicons", "0")]),
    ] {
        assert_eq!(pairs(&outcome(&documents, &factory)), [("a".to_string(), "b".to_string(), 1.0)]);
    }
}
