//! Empty, tiny and equal documents are ordinary input.

use crate::support::corpus::Text;
use crate::support::scanning::{json, outcome, outcome_against, pairs, recipe};
use neardups::algorithm::{ALGORITHMS, TableRecipe};

fn texts(texts: &[&str]) -> Vec<Text> {
    texts.iter().enumerate().map(|(n, text)| (n.to_string(), text.to_string())).collect()
}

/// Every algorithm of the table, made to run on texts of any length.
fn recipes() -> Vec<TableRecipe> {
    let settings = |name| match name {
        "simhash" => &[("force", "true")][..],
        "imatch" => &[("min-terms", "1")],
        _ => &[],
    };
    ALGORITHMS.iter().map(|entry| recipe(entry.name, settings(entry.name))).collect()
}

/// Those to which every word is a feature. SpotSigs needs stop words with others after them.
fn recipes_of_any_word() -> Vec<TableRecipe> {
    let all = ALGORITHMS.iter().zip(recipes()).filter(|(entry, _)| entry.name != "spotsigs");
    all.map(|(_, recipe)| recipe).collect()
}

#[test]
fn no_documents() {
    for recipe in recipes() {
        let outcome = outcome(&[], &recipe);
        assert_eq!(json(&outcome), "");
        assert_eq!((outcome.report.median_tokens, outcome.report.counts.documents), (0, 0));
        let against = outcome_against(&texts(&["a text"]), &[], &recipe);
        assert_eq!((json(&against).as_str(), against.report.counts.references), ("", 1));
        let against = outcome_against(&[], &texts(&["a text", "a text"]), &recipe);
        assert_eq!((pairs(&against).len(), against.report.counts.documents), (0, 2));
    }
}

#[test]
fn documents_without_features_are_like_nothing_and_kept() {
    let documents = texts(&["", " \r\n", "", "?!", "❤\u{fe0f}", "\u{feff}"]);
    for recipe in recipes() {
        let outcome = outcome(&documents, &recipe);
        let counts = &outcome.report.counts;
        assert_eq!((counts.featureless, counts.documents, counts.copies, counts.pairs), (6, 6, 0, 0));
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
    for recipe in recipes_of_any_word() {
        let outcome = outcome(&texts(&["word", " Word\r\n", "difference", " "]), &recipe);
        assert_eq!(pairs(&outcome), [("0".to_string(), "1".to_string(), 1.0)]);
        assert_eq!(outcome.report.counts.featureless, 1);
    }
}

#[test]
fn all_equal() {
    for text in ["x", "a few words of text", &"a longer text, ".repeat(100)] {
        for recipe in recipes_of_any_word() {
            let outcome = outcome(&texts(&[text; 40]), &recipe);
            assert_eq!(pairs(&outcome).len(), 40 * 39 / 2);
            let counts = &outcome.report.counts;
            assert_eq!((counts.copies, counts.compared, counts.pairs), (39, 0, 780));
        }
    }
}

#[test]
fn one_document() {
    for recipe in recipes_of_any_word() {
        let expected = "{\"type\":\"verdict\",\"id\":\"0\",\"keep\":true}\n".repeat(4);
        assert_eq!(json(&outcome(&texts(&["alone"]), &recipe)), expected);
    }
}

#[test]
fn one_token_a_million_times() {
    // One shingle, like that of any other text of this token alone that is as long as a shingle.
    let documents = texts(&[&"x ".repeat(1_000_000), &"x ".repeat(7), &"y ".repeat(1_000_000)]);
    let found = outcome(&documents, &recipe("minhash", &[("shingle", "5")]));
    assert_eq!(pairs(&found), [("0".to_string(), "1".to_string(), 1.0)]);
}

#[test]
fn documents_shorter_than_a_shingle_are_one_shingle() {
    let documents = texts(&["one two three", "One, two, three!", "one two", "one two three four"]);
    let found = outcome(
        &documents,
        &recipe("minhash", &[("shingle", "5"), ("threshold", "0.01"), ("rows", "1"), ("bands", "64")]),
    );
    assert_eq!(pairs(&found), [("0".to_string(), "1".to_string(), 1.0)]);
}
