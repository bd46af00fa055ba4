//! SpotSigs (Theobald, Siddharth & Paepcke 2008) against all pairs: spots as lists of words, counted in maps, their multiset
//! Jaccard similarity as a fraction, decided in integers.

use crate::support::corpus::Text;
use crate::support::plain::all_pairs;
use crate::support::scanning::{Made, factory, made, outcome, outcome_with, pairs};
use neardups::algorithm::{AlgorithmFactory, CompareOn, Learned};
use neardups::engine::ScanOptions;
use neardups::lexicon::Rarity;
use neardups::tokenizer::Word;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

const ANTECEDENTS: [&str; 6] = ["a", "an", "the", "is", "was", "has"];
const SKIPPED: [&str; 4] = ["to", "of", "that", "for"];

#[derive(Clone, Debug)]
struct Case {
    texts: Vec<String>,
    /// The threshold is the first over the second.
    ratio: (u64, u64),
    distance: usize,
    chain: usize,
    min_spots: usize,
    antecedents: &'static str,
    spots: &'static str,
}

impl Case {
    /// The antecedents, and the other words that chains skip.
    fn words(&self) -> [Vec<&'static str>; 2] {
        let all = |words: &[&'static str]| words.to_vec();
        match self.antecedents {
            "en" => [all(&ANTECEDENTS), all(&SKIPPED)],
            "en+w1,to" => [[&ANTECEDENTS[..], &["w1", "to"]].concat(), vec!["of", "that", "for"]],
            "en:the,w1,to" => [vec!["the", "w1", "to"], [&ANTECEDENTS[..], &SKIPPED].concat()],
            "the,w1,to" => [vec!["the", "w1", "to"], Vec::new()],
            other => panic!("{other}"),
        }
    }

    fn factory(&self) -> impl AlgorithmFactory {
        let (p, q) = self.ratio;
        let numbers = [self.distance, self.chain, self.min_spots].map(|number| number.to_string());
        let threshold = format!("{p}/{q}");
        factory(
            "spotsigs",
            &[
                ("threshold", &threshold),
                ("spot-distance", &numbers[0]),
                ("spot-chain", &numbers[1]),
                ("min-spots", &numbers[2]),
                ("antecedents", self.antecedents),
                ("spots", self.spots),
            ],
        )
    }

    fn documents(&self) -> Vec<Text> {
        self.texts.iter().enumerate().map(|(number, text)| (number.to_string(), text.clone())).collect()
    }

    /// How often each spot occurs: the antecedent, then its chain.
    fn spots(&self, text: &str) -> BTreeMap<Vec<String>, u64> {
        let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        let mut spots = BTreeMap::new();
        let [antecedents, skipped] = self.words();
        for (at, word) in words.iter().enumerate().filter(|(_, word)| antecedents.contains(word)) {
            let after = words[at + 1..].iter().filter(|w| !antecedents.contains(w) && !skipped.contains(w));
            let chain: Vec<&str> =
                after.skip(self.distance - 1).step_by(self.distance).take(self.chain).copied().collect();
            if chain.len() == self.chain {
                let spot = [word].into_iter().copied().chain(chain).map(str::to_string).collect();
                let count = spots.entry(spot).or_insert(0);
                *count = if self.spots == "set" { 1 } else { *count + 1 };
            }
        }
        spots
    }

    /// Every pair at or above the threshold, in order, and how many documents have too few spots.
    fn expected(&self) -> (Vec<(String, String, f64)>, u64) {
        let all: Vec<BTreeMap<_, u64>> = self.texts.iter().map(|text| self.spots(text)).collect();
        let enough = |d: usize| all[d].values().sum::<u64>() >= self.min_spots as u64;
        let (p, q) = self.ratio;
        let pairs = all_pairs(all.len()).filter(|&(i, j)| enough(i) && enough(j)).filter_map(|(i, j)| {
            let spots: BTreeSet<_> = all[i].keys().chain(all[j].keys()).collect();
            let counts =
                spots.into_iter().map(|spot| [&all[i], &all[j]].map(|all| all.get(spot).copied().unwrap_or(0)));
            let (least, most) = counts.fold((0, 0), |(least, most), [a, b]| (least + a.min(b), most + a.max(b)));
            (least * q >= p * most).then(|| (i.to_string(), j.to_string(), least as f64 / most as f64))
        });
        (pairs.collect(), (0..all.len()).filter(|&d| !enough(d)).count() as u64)
    }
}

/// Texts of few different words, so that spots repeat and coincide; some made from others by edits, by repeating them, or not at
/// all; often short, seldom long, sometimes empty.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = |different: usize| {
        prop_oneof![
            2 => prop::sample::select(&ANTECEDENTS[..]).prop_map(str::to_string),
            1 => prop::sample::select(&SKIPPED[..]).prop_map(str::to_string),
            4 => (0..different).prop_map(|n| format!("w{n}")),
        ]
    };
    (1usize..8).prop_flat_map(move |different| {
        let length = prop_oneof![6 => 0usize..40, 1 => 40usize..400];
        let own = prop::collection::vec(length.prop_flat_map(move |n| prop::collection::vec(word(different), n)), 1..5);
        let edits = prop::collection::vec((any::<prop::sample::Index>(), word(different)), 0..4);
        let near = prop::collection::vec((any::<prop::sample::Index>(), edits, 1usize..4), 0..6);
        (own, near).prop_map(|(own, near)| {
            let mut all = own.clone();
            for (of, edits, times) in near {
                let mut words = vec![of.get(&own).clone(); times].concat();
                if !words.is_empty() {
                    edits.into_iter().for_each(|(at, word)| *at.get_mut(&mut words) = word);
                }
                all.push(words);
            }
            all.iter().map(|words| words.join(" ")).collect()
        })
    })
}

/// Small denominators, so that many pairs are exactly at the threshold.
fn cases() -> impl Strategy<Value = Case> {
    let ratio = (1u64..=12).prop_flat_map(|q| (1..=q, Just(q)));
    let antecedents = prop::sample::select(vec!["en", "en", "en+w1,to", "en:the,w1,to", "the,w1,to"]);
    let numbers = (1usize..4, 1usize..4, 1usize..7);
    (texts(), ratio, numbers, antecedents, prop::sample::select(vec!["multiset", "set"])).prop_map(
        |(texts, ratio, (distance, chain, min_spots), antecedents, spots)| Case {
            texts,
            ratio,
            distance,
            chain,
            min_spots,
            antecedents,
            spots,
        },
    )
}

/// Counts of all cases so far: each is exact where it is 1, and any order is valid.
static RARITY: LazyLock<Arc<Rarity>> = LazyLock::new(Arc::default);

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn documents_share_a_key_and_compare_as_they_should(case in cases()) {
        let mut prepared = case.factory().prepare(300).unwrap();
        let make = |algorithm: &dyn neardups::algorithm::Algorithm| -> Vec<Made> {
            case.texts.iter().map(|text| made(algorithm, &Word, 0, text)).collect()
        };
        for document in make(&*prepared.algorithm) {
            document.set.into_iter().collect::<BTreeSet<u64>>().into_iter().for_each(|spot| RARITY.add(spot));
        }
        prepared.algorithm.learn(&Learned::Features(Arc::clone(&RARITY)));
        prop_assert_eq!(prepared.algorithm.compare_on(), CompareOn::Multisets);
        let all = make(&*prepared.algorithm);
        let found: Vec<_> = all_pairs(all.len())
            .filter(|&(i, j)| all[i].keys.iter().any(|key| all[j].keys.contains(key)))
            .filter_map(|(i, j)| Some((i.to_string(), j.to_string(), prepared.algorithm.compare(&all[i].set, &all[j].set)?.value())))
            .collect();
        let (expected, too_few) = case.expected();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(all.iter().filter(|made| made.fingerprint.is_empty()).count() as u64, too_few);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn scans_find_every_pair(case in cases(), seed: u64, reread: bool) {
        let memory = if reread { 0 } else { 1 << 30 };
        let options = ScanOptions { seed, threads: 2, memory, ..ScanOptions::default() };
        let outcome = outcome_with(&case.documents(), &case.factory(), &options);
        let (expected, too_few) = case.expected();
        prop_assert_eq!(pairs(&outcome), expected);
        prop_assert_eq!(outcome.report.counts.featureless, too_few);
        let warned = outcome.report.warnings.iter().any(|warning| warning.contains("`algo minhash`"));
        prop_assert_eq!(warned, too_few * 5 > case.texts.len() as u64);
    }
}

/// Beginnings of one long text, and of another: `m` of `n` spots have the similarity `m / n` exactly, whatever their
/// partitions.
#[test]
fn lengths_that_are_just_near_enough() {
    let beginning = |name: &str, spots: usize| {
        (0..spots).map(|i| format!("the {name}{i} {name}y{i}")).collect::<Vec<_>>().join(" ")
    };
    for ratio in [(1, 2), (11, 25), (4, 5), (2, 3), (9, 10), (1, 5), (1, 1)] {
        let mut texts: Vec<String> = (0..90).map(|spots| beginning("x", spots)).collect();
        texts.extend([4, 5, 400].map(|spots| beginning("z", spots)));
        let (antecedents, spots) = ("en", "multiset");
        let case = Case { texts, ratio, distance: 1, chain: 2, min_spots: 4, antecedents, spots };
        let (expected, too_few) = case.expected();
        let outcome = outcome(&case.documents(), &case.factory());
        assert_eq!(pairs(&outcome), expected, "at {ratio:?}");
        assert_eq!((outcome.report.counts.featureless, too_few), (4, 4));
        let exactly = expected.iter().filter(|(.., similarity)| *similarity == ratio.0 as f64 / ratio.1 as f64).count();
        // At 1 there is no pair: the texts differ.
        assert!(exactly > 2 || (ratio == (1, 1) && expected.is_empty()), "{exactly} pairs exactly at {ratio:?}");
    }
}
