//! Prepared tokens in whole scans: texts that preparation makes equal are equal for every family.

use crate::support::corpus::Text;
use crate::support::scanning::{factory, outcome_with, pairs};
use neardups::algorithm::ALGORITHMS;
use neardups::engine::ScanOptions;
use neardups::tokenizer::prepared::Step;
use neardups::tokenizer::prepared::mask::Masks;
use neardups::tokenizer::prepared::stem::StemLanguage;
use neardups::tokenizer::prepared::stop_words::StopList;
use neardups::tokenizer::{Preparation, Prepared, Word};
use std::sync::Arc;

/// Settings with which a handful of documents are enough.
fn settings(algorithm: &str) -> &'static [(&'static str, &'static str)] {
    match algorithm {
        "simhash" => &[("force", "true"), ("distance", "0")],
        "projection" => &[("agree", "384")],
        "imatch" => &[("min-terms", "1"), ("idf-low", "0"), ("idf-high", "1")],
        "minhash" => &[("threshold", "1"), ("shingle", "3")],
        "spotsigs" => &[("threshold", "1"), ("min-spots", "1")],
        _ => &[],
    }
}

/// The similarities of the pairs that an algorithm reports among two texts.
fn similarities(algorithm: &str, texts: [&str; 2], preparation: &Preparation) -> Vec<f64> {
    let documents: Vec<Text> = texts.iter().enumerate().map(|(n, text)| (n.to_string(), text.to_string())).collect();
    let tokenizer = Arc::new(Prepared::new(Arc::new(Word), preparation).unwrap());
    let factory = factory(algorithm, settings(algorithm)).with_steps(&preparation.steps()).unwrap();
    let options = ScanOptions { tokenizer, threads: 2, ..ScanOptions::default() };
    pairs(&outcome_with(&documents, &factory, &options)).into_iter().map(|(.., similarity)| similarity).collect()
}

const DATED: [&str; 2] = [
    "At a meeting on May 1, 2024 the members of the board have seen the 1,204 pages of a report on the harbour, page 7.",
    "At a meeting on 30 April 2023 the members of the board have seen the 99 pages of a report on the harbour, page 12.",
];

#[test]
fn a_date_and_a_counter_do_not_make_a_difference_to_any_family() {
    let masks = Preparation { masks: Masks { numbers: true, dates: true }, ..Preparation::default() };
    for entry in ALGORITHMS {
        assert_eq!(similarities(entry.name, DATED, &masks), [1.0], "{}", entry.name);
    }
    for algorithm in ["minhash", "simhash", "projection"] {
        assert!(similarities(algorithm, DATED, &Preparation::default()).is_empty(), "{algorithm}");
    }
}

#[test]
fn stop_words_and_endings_do_not_either() {
    let texts = [
        "The members of the board were reading a report on the harbours, and they have not been seeing any ships.",
        "Member of board read report on harbour and not seen: the ships!",
    ];
    let words = Preparation {
        stop_words: vec![StopList::of_language("en").unwrap(), StopList::new("own", ["seeing", "seen"])],
        stem: Some(StemLanguage::by_code("en").unwrap()),
        ..Preparation::default()
    };
    for entry in ALGORITHMS.iter().filter(|entry| entry.refuses.is_empty()) {
        assert_eq!(similarities(entry.name, texts, &words), [1.0], "{}", entry.name);
        assert!(similarities(entry.name, texts, &Preparation::default()).is_empty(), "{}", entry.name);
    }
}

#[test]
fn accents_and_hyphens_at_the_ends_of_lines_do_not_either() {
    let texts = [
        "The na\u{ef}ve d\u{e9}butante was in the caf\u{e9} and had a cr\u{e8}me br\u{fb}l\u{e9}e, which is a des-\nsert that they have had be-\r\n  fore the war.",
        "The naive debutante was in the cafe and had a creme brulee, which is a dessert that they have had before the war.",
    ];
    let both = Preparation { join_hyphens: true, fold_marks: true, ..Preparation::default() };
    for entry in ALGORITHMS.iter().filter(|entry| entry.goes_with(&both.steps()).is_ok()) {
        assert_eq!(similarities(entry.name, texts, &both), [1.0], "{}", entry.name);
    }
    for algorithm in ["minhash", "simhash", "projection"] {
        assert!(similarities(algorithm, texts, &Preparation::default()).is_empty(), "{algorithm}");
    }
}

#[test]
fn short_documents_keep_their_preparation_and_shingles_follow_its_tokens() {
    let chosen = |steps: &[Step], median| {
        let factory = factory("minhash", &[]).with_steps(steps).unwrap();
        let prepared = neardups::algorithm::AlgorithmFactory::prepare(&factory, median).unwrap();
        let resolved = prepared.algorithm.rows();
        let shingle = resolved.iter().find(|row| row.name == "shingle").unwrap().value.as_integer().unwrap();
        (prepared.tokenizer.map(|tokenizer| tokenizer.name().into_owned()), shingle)
    };
    assert_eq!(chosen(&[], 5), (Some("char:4".to_string()), 1));
    assert_eq!(chosen(&[Step::Stem], 5), (None, 1));
    assert_eq!(chosen(&[Step::JoinHyphens], 5), (None, 1));
    assert_eq!([chosen(&[Step::Mask], 15), chosen(&[Step::Mask], 300)], [(None, 2), (None, 5)]);
}

#[test]
fn spotsigs_needs_its_words() {
    for (step, flag) in [(Step::Fold, "fold"), (Step::StopWords, "stopwords"), (Step::Stem, "stem")] {
        let message = factory("spotsigs", &[]).with_steps(&[Step::Mask, step]).err().unwrap().to_string();
        assert!(message.starts_with(&format!("`{flag}` cannot be combined with `algo spotsigs`")), "{message}");
    }
}
