//! Supershingles against all pairs: minima computed one by one, groups of them compared as they are, never hashed; and how often
//! pairs of a known resemblance are found (Broder, Glassman, Manasse & Zweig 1997).

use crate::support::corpus::{Text, related};
use crate::support::plain::all_pairs;
use crate::support::random::Random;
use crate::support::scanning::{factory, features, made, outcome, pairs};
use crate::support::statistics::{IMPROBABLE, binomial_at_least, binomial_at_most};
use neardups::algorithm::minhash::curve::Curve;
use neardups::algorithm::minhash::sketch::{Kind, Sketch};
use neardups::algorithm::minhash::supershingles::{Shape, Supershingles};
use neardups::algorithm::{Algorithm, AlgorithmFactory};
use neardups::hash::mix;
use neardups::tokenizer::Word;
use proptest::prelude::*;

/// All minima of a set of shingles, each looked for by itself.
fn minima(kind: Kind, slots: usize, set: &[u64]) -> Vec<u64> {
    match kind {
        Kind::Classic => (0..slots as u64)
            .map(|k| {
                let (a, b) = (mix(2 * k + 1) | 1, mix(2 * k + 2));
                set.iter().map(|x| a.wrapping_mul(*x).wrapping_add(b) >> 32).min().unwrap()
            })
            .collect(),
        // Their plain versions are next to them.
        _ => {
            let mut signature = Vec::new();
            Sketch::new(kind, slots).signature(set, &mut signature);
            signature
        }
    }
}

/// Texts of a few words each, most made from an earlier one by an edit or two.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = || (0u32..30).prop_map(|n| format!("w{n}"));
    let edits = prop::collection::vec((any::<prop::sample::Index>(), word()), 0..3);
    let near = prop::option::weighted(0.7, (any::<prop::sample::Index>(), edits));
    let fresh = prop_oneof![9 => prop::collection::vec(word(), 0..40), 1 => prop::collection::vec(word(), 200..300)];
    prop::collection::vec((fresh, near), 0..14).prop_map(|drawn| {
        let mut texts: Vec<Vec<String>> = Vec::new();
        for (fresh, near) in drawn {
            texts.push(match near {
                Some((of, edits)) if !texts.is_empty() => {
                    let mut words = of.get(&texts).clone();
                    let mut replace = |(at, word): (prop::sample::Index, String)| match words.len() {
                        0 => words.push(word),
                        _ => *at.get_mut(&mut words) = word,
                    };
                    edits.into_iter().for_each(&mut replace);
                    words
                }
                _ => fresh,
            });
        }
        texts.iter().map(|words| words.join(" ")).collect()
    })
}

/// Scans with these supershingles and compares with all pairs. Returns how many pairs there are that are not equal in all groups.
fn check(texts: &[String], shape: Shape, kind: Kind, width: usize) -> Result<usize, TestCaseError> {
    let Shape { groups, rows, least } = shape;
    let (typed, least_typed, width) = (format!("{groups}x{rows}"), least.to_string(), width.to_string());
    let settings = [
        ("supershingles", &*typed),
        ("min-supershingles", &*least_typed),
        ("sketch", kind.name()),
        ("shingle", &*width),
    ];
    let factory = factory("minhash", &settings);
    let prepared = factory.prepare(100).unwrap();
    let all: Vec<Option<Vec<u64>>> = texts
        .iter()
        .map(|text| Some(made(&*prepared.algorithm, &Word, 0, text).set).filter(|set| !set.is_empty()))
        .map(|set| Some(minima(kind, groups * rows, &set?)))
        .collect();
    let equal = |i: usize, j: usize| {
        let (a, b) = (all[i].as_ref()?, all[j].as_ref()?);
        Some(a.chunks(rows).zip(b.chunks(rows)).filter(|(x, y)| x == y).count())
    };
    let expected: Vec<(String, String, f64)> = all_pairs(texts.len())
        .filter_map(|(i, j)| Some((i, j, equal(i, j)?)))
        .filter(|found| found.2 >= least)
        .map(|(i, j, equal)| (i.to_string(), j.to_string(), equal as f64 / groups as f64))
        .collect();
    let documents: Vec<Text> = texts.iter().enumerate().map(|(n, text)| (n.to_string(), text.clone())).collect();
    prop_assert_eq!(&pairs(&outcome(&documents, &factory)), &expected);
    Ok(expected.iter().filter(|pair| pair.2 < 1.0).count())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn every_pair_with_enough_equal_groups_and_no_other(
        texts in texts(),
        (groups, rows, least) in
            prop::sample::select(vec![(6, 14, 2), (6, 2, 2), (6, 1, 3), (3, 1, 1), (4, 3, 4), (5, 2, 3), (1, 4, 1)]),
        kind in prop::sample::select(vec![Kind::Fss, Kind::Classic]),
        width in 1usize..4,
    ) {
        check(&texts, Shape { groups, rows, least }, kind, width)?;
    }
}

#[test]
fn related_documents_have_pairs_of_every_number_of_equal_groups() {
    for (round, kind) in [Kind::Fss, Kind::Classic].into_iter().enumerate() {
        let documents = related(&mut Random::new(31 + round as u64), 250, 200);
        let texts: Vec<String> = documents.into_iter().map(|(_, text)| text).collect();
        for (groups, rows, least) in [(6, 14, 2), (6, 14, 1), (10, 4, 4)] {
            let found = check(&texts, Shape { groups, rows, least }, kind, 3).unwrap();
            assert!(found > 50, "{found} pairs with {least} of {groups} groups of {rows}");
        }
    }
}

#[test]
fn pairs_are_found_as_often_as_the_curve_says() {
    let shape = Shape { groups: 6, rows: 14, least: 2 };
    let mut random = Random::new(21);
    for kind in [Kind::Fss, Kind::Classic] {
        let detector = Supershingles::new(1, kind, shape);
        for either in [100, 200, 1000] {
            for percent in [80, 85, 90, 95, 98] {
                let trials = 4000;
                let found = (0..trials).filter(|_| {
                    let elements = random.words(either);
                    let (common, own) = elements.split_at(either * percent / 100);
                    let (own_a, own_b) = own.split_at(own.len() / 2);
                    let fingerprint = |own: &[u64]| {
                        let mut fingerprint = Vec::new();
                        detector.fingerprint(&features(&[common, own].concat()), &mut fingerprint);
                        fingerprint
                    };
                    detector.compare(&fingerprint(own_a), &fingerprint(own_b)).is_some()
                });
                let found = found.count();
                let curve = Curve::new(kind, shape);
                let expected = curve.found((either * percent / 100) as f64, either as f64);
                let errors =
                    (found as f64 - expected * trials as f64) / (trials as f64 * expected * (1.0 - expected)).sqrt();
                let chance = binomial_at_least(trials, expected, found).min(binomial_at_most(trials, expected, found));
                assert!(
                    chance > IMPROBABLE && (errors.abs() < 3.5 || expected > 0.999),
                    "{kind:?}, sets of {either}, at 0.{percent}: {found} of {trials} found, not {expected}"
                );
            }
        }
    }
}
