//! A comparison of two documents agrees with a scan of the two, for every algorithm.

use crate::support::corpus::{Text, pair_with, related};
use crate::support::random::Random;
use crate::support::scanning::{factory, follows_the_collection};
use neardups::Error;
use neardups::algorithm::parameter::Settings;
use neardups::algorithm::{ALGORITHMS, AlgorithmFactory};
use neardups::compare::{Comparison, Verdict, compare, fingerprint, similarity};
use neardups::engine::{ScanOptions, scan};
use neardups::source::Documents;
use neardups::tokenizer::Word;
use std::collections::BTreeSet;
use std::path::Path;

/// The texts of a folder of the fixtures, by name.
fn fixtures(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder).join("docs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Neighbours by name, which are often versions of one text; short texts; texts just at a threshold.
fn pairs_of_texts() -> Vec<[String; 2]> {
    let mut all = Vec::new();
    for (folder, apart) in [("english", 1), ("chinese", 1), ("chinese", 2), ("code", 1)] {
        let texts = fixtures(folder);
        all.extend(texts.iter().zip(&texts[apart..]).map(|(a, b)| [a.clone(), b.clone()]));
    }
    let short = ["", " … ", "one", "One!", "one two", "the one of the two is the one", "一二三"];
    all.extend(short.iter().flat_map(|a| short.iter().map(|b| [a.to_string(), b.to_string()])));
    let documents = related(&mut Random::new(5), 40, 60);
    all.extend(documents.windows(2).map(|pair| [pair[0].1.clone(), pair[1].1.clone()]));
    for (shared, more) in [(120, 30), (119, 30), (121, 30), (400, 90)] {
        let (a, b) = pair_with("planted", 5, shared, more);
        all.push([a, b]);
    }
    all
}

/// A scan of the two: the report, and the pair with its similarity and distance.
fn check(texts: &[String; 2], factory: &dyn AlgorithmFactory, what: &str) -> Comparison {
    let options = ScanOptions { threads: 1, ..ScanOptions::default() };
    let [a, b] = texts;
    let comparison = compare([a, b], factory, &*options.tokenizer, options.seed).unwrap();
    let documents: Vec<Text> = vec![("a".into(), a.clone()), ("b".into(), b.clone())];
    let outcome = match scan(&mut Documents::new(documents), None, factory, &options, &()) {
        Err(Error::Unsuitable(refusal)) => {
            assert_eq!(comparison.verdict, Verdict::Refused(refusal), "{what}");
            return comparison;
        }
        outcome => outcome.unwrap(),
    };
    let evidence = comparison.evidence.as_ref().unwrap();
    let mut pairs = Vec::new();
    for pair in outcome.pairs().map(Result::unwrap) {
        pairs.push((Some(pair.similarity), pair.distance));
    }
    let reported = comparison.verdict.is_reported().then_some((evidence.similarity, evidence.distance));
    assert_eq!(pairs, reported.into_iter().collect::<Vec<_>>(), "{what}: {comparison:?}");

    let report = &outcome.report;
    let featureless = evidence.fingerprints.iter().filter(|fingerprint| fingerprint.is_empty()).count() as u64;
    assert_eq!(report.counts.featureless, featureless, "{what}");
    assert_eq!(report.counts.copies == 1, comparison.verdict == Verdict::Reported { copies: true }, "{what}");
    assert_eq!((report.algorithm, report.measure), (comparison.algorithm, comparison.measure), "{what}");
    assert_eq!((&report.parameters, &report.warnings), (&comparison.parameters, &comparison.warnings), "{what}");
    assert_eq!(report.tokenizer, comparison.tokenizer, "{what}");
    comparison
}

#[test]
fn a_comparison_says_what_a_scan_does() {
    let settings: [(&str, &[(&str, &str)]); 11] = [
        ("minhash", &[("threshold", "0.2"), ("bands", "3"), ("rows", "3")]),
        ("minhash", &[("exact", "true"), ("threshold", "0.3")]),
        ("minhash", &[("supershingles", "6x14")]),
        ("minhash", &[("shingle", "2"), ("threshold", "4/5")]),
        ("simhash", &[("force", "true"), ("distance", "10")]),
        ("simhash", &[("bits", "128"), ("weights", "tf"), ("distance", "5")]),
        ("projection", &[("cosine", "0.9")]),
        ("projection", &[("projection-bits", "64"), ("agree", "58")]),
        ("spotsigs", &[("threshold", "0.1"), ("antecedents", "zh")]),
        ("spotsigs", &[("chain-over", "all"), ("min-spots", "1")]),
        ("spotsigs", &[("threshold", "0.9")]),
    ];
    let own_defaults = ALGORITHMS.iter().map(|entry| (entry.name, &[][..]));
    let texts = pairs_of_texts();
    let mut seen = BTreeSet::new();
    for (algorithm, settings) in own_defaults.chain(settings) {
        let factory = factory(algorithm, settings);
        if follows_the_collection(&factory) {
            let [a, b] = &texts[0];
            let options = ScanOptions::default();
            let comparison = compare([a, b], &factory, &*options.tokenizer, options.seed).unwrap();
            assert_eq!((comparison.verdict, comparison.evidence), (Verdict::NeedsCollection, None));
            continue;
        }
        for (number, texts) in texts.iter().enumerate() {
            let comparison = check(texts, &factory, &format!("pair {number} by {algorithm} with {settings:?}"));
            seen.insert(match comparison.verdict {
                Verdict::Refused(_) => "Refused".to_string(),
                verdict => format!("{verdict:?}"),
            });
        }
    }
    let expected = [
        "BelowThreshold",
        "NoKeyInCommon",
        "Refused",
        "Reported { copies: false }",
        "Reported { copies: true }",
        "TooFewFeatures([false, true])",
        "TooFewFeatures([true, false])",
        "TooFewFeatures([true, true])",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn the_fingerprint_of_a_text_is_the_one_that_is_compared() {
    let texts = pairs_of_texts();
    for entry in ALGORITHMS {
        let factory = factory(entry.name, &[]);
        // Whatever the length of a text, it is that of the usual documents of a stream.
        let fixed = |_: usize| factory.prepare(500);
        let mut seen = 0;
        for [text, _] in texts.iter().step_by(7) {
            let comparison = compare([text, text], &fixed, &Word, 3).unwrap();
            match (fingerprint(text, &factory, &Word, 3), &comparison.evidence) {
                (Err(Error::Unsuitable(refusal)), Some(_)) => assert_eq!(comparison.verdict, Verdict::Refused(refusal)),
                (Err(Error::Unsuitable(_)), None) => assert_eq!(comparison.verdict, Verdict::NeedsCollection),
                (made, Some(evidence)) => {
                    let (made, compared) = (made.unwrap(), &evidence.fingerprints[0]);
                    // What orders features by how rare they are has no collection for a single text.
                    let is_learned = factory.prepare(300).unwrap().algorithm.learns().is_some();
                    assert!(&made == compared || is_learned, "{} of {text:?}", entry.name);
                    assert_eq!(made.is_empty(), compared.is_empty(), "{} of {text:?}", entry.name);
                    seen += 1;
                }
                (made, None) => panic!("{}: {made:?} of {text:?}", entry.name),
            }
        }
        assert_eq!(seen > 0, !follows_the_collection(&factory), "{}", entry.name);
    }
}

#[test]
fn the_similarity_of_two_texts_is_that_of_a_comparison_by_default() {
    let factory = factory(ALGORITHMS[0].name, &[]);
    let mut known = 0;
    for [a, b] in pairs_of_texts() {
        let comparison = compare([&a, &b], &factory, &Word, 0).unwrap();
        assert_eq!(similarity(&a, &b), comparison.evidence.unwrap().similarity, "{a:?} and {b:?}");
        known += usize::from(similarity(&a, &b).is_some());
    }
    assert!(known > 100, "{known}");
}

#[test]
fn the_similarity_is_known_below_the_threshold_too() {
    let texts = fixtures("english");
    for (algorithm, strict, loose) in [
        ("minhash", ("threshold", "1"), ("threshold", "0.000001")),
        ("spotsigs", ("threshold", "1"), ("threshold", "0.000001")),
        ("simhash", ("distance", "0"), ("distance", "32")),
        ("projection", ("cosine", "1"), ("cosine", "0.01")),
    ] {
        let similarity = |settings: (&str, &str), a: &str, b: &str| {
            let more: &[(&str, &str)] = match algorithm {
                "minhash" => &[("exact", "true"), ("shingle", "5")],
                _ => &[],
            };
            let entry = neardups::algorithm::Entry::by_name(algorithm).unwrap();
            let settings = Settings::from_pairs(more.iter().chain([&settings]).copied());
            let options = ScanOptions::default();
            let comparison =
                compare([a, b], &entry.factory(settings).unwrap(), &*options.tokenizer, options.seed).unwrap();
            comparison.evidence.unwrap().similarity
        };
        for pair in texts.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            assert_eq!(similarity(strict, a, b), similarity(loose, a, b), "{algorithm}");
        }
    }
}
