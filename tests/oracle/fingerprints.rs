//! The fingerprints that are written, against those that anybody could make with the algorithm alone, and against the
//! pairs of a scan.

use crate::support::corpus::{Text, related, with_articles};
use crate::support::plain::all_pairs;
use crate::support::random::Random;
use crate::support::scanning::{Batched, Method, and_all_others, factory, learn, made, outcome, pairs};
use neardups::algorithm::{AlgorithmFactory, CompareOn, FingerprintForm};
use neardups::engine::{Fingerprints, ScanOptions};
use neardups::similarity::jaccard;
use neardups::tokenizer::{Tokenizer, Tokens, Word};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is written of a document: the form, the fingerprint, and the number of features.
type Written = (String, FingerprintForm, Option<String>, usize);

fn written(documents: &[Text], factory: &dyn AlgorithmFactory, threads: usize, batch: usize) -> Vec<Written> {
    let mut source = Batched { documents, size: batch };
    let options = ScanOptions { threads, ..ScanOptions::default() };
    let mut written = Vec::new();
    let (report, result) =
        Fingerprints::prepare(&mut source, factory, &options, &()).unwrap().for_each(|fingerprint| {
            written.push((fingerprint.id.to_string(), fingerprint.form, fingerprint.hex(), fingerprint.features));
            Ok(())
        });
    result.unwrap();
    assert_eq!(report.counts.documents, documents.len() as u64);
    written
}

/// With settings that some documents of the tests are alike by. The others of the table come with their defaults.
const METHODS: &[Method] = &[
    ("minhash", &[]),
    ("minhash", &[("sketch", "classic"), ("shingle", "3")]),
    ("minhash", &[("supershingles", "6x14")]),
    ("minhash", &[("exact", "true"), ("drop-common", "0.5")]),
    ("simhash", &[("force", "true")]),
    ("simhash", &[("force", "true"), ("bits", "128"), ("weights", "idf")]),
    ("projection", &[]),
    ("projection", &[("cosine", "0.9")]),
    ("imatch", &[]),
    ("spotsigs", &[]),
];

/// The lower median of the lengths of documents with tokens.
fn median(documents: &[Text]) -> usize {
    let mut tokens = Tokens::new(neardups::tokenizer::TokenDetail::Hashes, 0);
    let mut lengths: Vec<usize> = documents
        .iter()
        .map(|(_, text)| {
            Word.tokenize(text, &mut tokens);
            tokens.len()
        })
        .filter(|&length| length > 0)
        .collect();
    lengths.sort_unstable();
    lengths[(lengths.len() - 1) / 2]
}

#[test]
fn every_fingerprint_is_what_the_algorithm_makes_of_the_text() {
    let documents = with_articles(related(&mut Random::new(5), 120, 90));
    let texts: Vec<String> = documents.iter().map(|(_, text)| text.clone()).collect();
    for (name, settings) in &and_all_others(METHODS) {
        let factory = factory(name, settings);
        let prepared = factory.prepare(median(&documents)).unwrap();
        let mut algorithm = prepared.algorithm;
        let tokenizer = prepared.tokenizer.unwrap_or_else(|| Arc::new(Word));
        learn(&mut *algorithm, &*tokenizer, 0, &texts);
        let form = algorithm.profile().form;
        let expected: Vec<Option<String>> = texts
            .iter()
            .map(|text| {
                let made = made(&*algorithm, &*tokenizer, 0, text);
                let words = if form == FingerprintForm::Elements { &made.set } else { &made.fingerprint };
                let digits = words.iter().map(|word| format!("{word:016x}")).collect::<String>();
                (!made.fingerprint.is_empty()).then_some(digits)
            })
            .collect();
        let first = written(&documents, &factory, 1, 7);
        let found: Vec<Option<String>> = first.iter().map(|(.., hex, _)| hex.clone()).collect();
        assert_eq!(found, expected, "{name} {settings:?}");
        assert!(found.iter().flatten().count() > 60, "{name} {settings:?} made few");
        assert_eq!(written(&documents, &factory, 3, 50), first, "{name} {settings:?}");
    }
}

/// What is written is enough to find the pairs of a scan and their similarities.
#[test]
fn pairs_follow_from_what_is_written() {
    let documents = with_articles(related(&mut Random::new(8), 150, 90));
    for (name, settings) in &and_all_others(METHODS) {
        let factory = factory(name, settings);
        let algorithm = factory.prepare(median(&documents)).unwrap().algorithm;
        let (form, compare_on) = (algorithm.profile().form, algorithm.compare_on());
        if form != FingerprintForm::Elements && compare_on != CompareOn::Fingerprints {
            continue;
        }
        let words: Vec<Vec<u64>> = written(&documents, &factory, 2, 40)
            .into_iter()
            .map(|(_, form, hex, _)| form.read(&hex.unwrap_or_default()).unwrap_or_default())
            .collect();
        let similar = |&(i, j): &(usize, usize)| {
            let (a, b) = (&words[i], &words[j]);
            let similarity = algorithm.compare(a, b).filter(|_| !a.is_empty() && !b.is_empty())?;
            if form == FingerprintForm::Elements {
                assert_eq!(similarity.value(), jaccard(a, b).value());
            }
            Some(((documents[i].0.clone(), documents[j].0.clone()), similarity.value()))
        };
        let expected: BTreeMap<_, _> = all_pairs(documents.len()).filter_map(|pair| similar(&pair)).collect();
        let found = pairs(&outcome(&documents, &factory)).into_iter().map(|(a, b, similarity)| ((a, b), similarity));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{name} {settings:?}");
        assert!(expected.len() > 10, "{name} {settings:?}");
    }
}

#[test]
fn a_source_of_nothing_has_no_fingerprints() {
    let factory = factory("minhash", &[]);
    assert!(written(&[], &factory, 2, 10).is_empty());
}
