//! Empty, tiny and equal documents are ordinary input.

use crate::support::corpus::Text;
use crate::support::scanning::{factory, json, outcome, outcome_against, pairs};
use neardups::algorithm::{ALGORITHMS, TableFactory};

fn texts(texts: &[&str]) -> Vec<Text> {
    texts.iter().enumerate().map(|(n, text)| (n.to_string(), text.to_string())).collect()
}

/// Every algorithm of the table, made to run on texts of any length.
fn factories() -> Vec<TableFactory> {
    let settings = |name| match name {
        "simhash" => &[("force", "true")][..],
        "imatch" => &[("min-terms", "1")],
        _ => &[],
    };
    ALGORITHMS.iter().map(|entry| factory(entry.name, settings(entry.name))).collect()
}

/// Those to which every word is a feature. SpotSigs needs stop words with others after them.
fn factories_of_any_word() -> Vec<TableFactory> {
    let all = ALGORITHMS.iter().zip(factories()).filter(|(entry, _)| entry.name != "spotsigs");
    all.map(|(_, factory)| factory).collect()
}

#[test]
fn no_documents() {
    for factory in factories() {
        let outcome = outcome(&[], &factory);
        assert_eq!(json(&outcome), "");
        assert_eq!((outcome.report.median_tokens, outcome.report.counts.documents), (0, 0));
        let against = outcome_against(&texts(&["a text"]), &[], &factory);
        assert_eq!((json(&against).as_str(), against.report.counts.references), ("", 1));
        let against = outcome_against(&[], &texts(&["a text", "a text"]), &factory);
        assert_eq!((pairs(&against).len(), against.report.counts.documents), (0, 2));
    }
}

#[test]
fn documents_without_features_are_like_nothing_and_kept() {
    let documents = texts(&["", " \r\n", "", "?!", "❤\u{fe0f}", "\u{feff}"]);
    for factory in factories() {
        let outcome = outcome(&documents, &factory);
        let counts = &outcome.report.counts;
        assert_eq!((counts.featureless, counts.documents, counts.copies, counts.pairs), (6, 6, 0, Some(0)));
        assert_eq!(pairs(&outcome), []);
        let expected: String = (0..6)
            .map(|n| format!("{{\"type\":\"verdict\",\"id\":\"{n}\",\"keep\":true,\"note\":\"no features\"}}\n"))
            .collect();
        assert_eq!(json(&outcome), expected.repeat(4));
    }
}

#[test]
fn documents_of_one_word() {
    // The second is a copy of the first, the third another word; the fourth is none.
    for factory in factories_of_any_word() {
        let outcome = outcome(&texts(&["word", " Word\r\n", "difference", " "]), &factory);
        assert_eq!(pairs(&outcome), [("0".to_string(), "1".to_string(), 1.0)]);
        assert_eq!(outcome.report.counts.featureless, 1);
    }
}

#[test]
fn all_equal() {
    for text in ["x", "a few words of text", &"a longer text, ".repeat(100)] {
        for factory in factories_of_any_word() {
            let outcome = outcome(&texts(&[text; 40]), &factory);
            assert_eq!(pairs(&outcome).len(), 40 * 39 / 2);
            let counts = &outcome.report.counts;
            assert_eq!((counts.copies, outcome.report.compared, counts.pairs), (39, 0, Some(780)));
        }
    }
}

#[test]
fn one_document() {
    for factory in factories_of_any_word() {
        let expected = "{\"type\":\"verdict\",\"id\":\"0\",\"keep\":true}\n".repeat(4);
        assert_eq!(json(&outcome(&texts(&["alone"]), &factory)), expected);
    }
}

#[test]
fn one_token_a_million_times() {
    // One shingle, like that of any other text of this token alone that is as long as a shingle.
    let documents = texts(&[&"x ".repeat(1_000_000), &"x ".repeat(7), &"y ".repeat(1_000_000)]);
    let found = outcome(&documents, &factory("minhash", &[("shingle", "5")]));
    assert_eq!(pairs(&found), [("0".to_string(), "1".to_string(), 1.0)]);
}

#[test]
fn documents_shorter_than_a_shingle_are_one_shingle() {
    let documents = texts(&["one two three", "One, two, three!", "one two", "one two three four"]);
    let found = outcome(
        &documents,
        &factory("minhash", &[("shingle", "5"), ("threshold", "0.01"), ("rows", "1"), ("bands", "64")]),
    );
    assert_eq!(pairs(&found), [("0".to_string(), "1".to_string(), 1.0)]);
}
