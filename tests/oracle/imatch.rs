//! I-Match with randomized lexicons (Kołcz, Chowdhury & Alspector 2004) against sets of strings: two documents are
//! near-duplicates iff their sets are equal under one of the lexicons. The oracle uses no digest and no index.

use crate::support::corpus::Text;
use crate::support::plain::{all_pairs, token_texts};
use crate::support::scanning::{factory, outcome, outcome_with, pairs};
use crate::support::statistics::{IMPROBABLE, binomial_at_least, binomial_at_most};
use neardups::engine::Options;
use neardups::hash::{combine, mix, token_hash};
use neardups::tokenizer::Word;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The settings, the ends of the band in fifths and the fraction in tenths.
#[derive(Clone, Copy, Debug)]
struct Given {
    low: u32,
    high: u32,
    lexicons: u64,
    drop: u64,
    min_terms: usize,
    seed: u64,
}

type Set<'a> = BTreeSet<&'a str>;

impl Given {
    /// Whether a term with this document frequency counts. With `N` documents the band is
    /// `(N + 1)^(1 − high) ≤ df ≤ (N + 1)^(1 − low)`, both sides taken to the fifth power here; fewer than 1000
    /// documents are judged as 1000 at the common end, and at the rare end all that two of them have counts.
    fn counts(&self, documents: usize, frequency: usize) -> bool {
        let common = documents.max(1000) as u128 + 1;
        let fifth = (frequency as u128).pow(5);
        let rare = documents < 1000 || fifth >= (documents as u128 + 1).pow(5 - self.high);
        frequency >= 2 && fifth <= common.pow(5 - self.low) && rare
    }

    fn lacks(&self, lexicon: u64, term: &str) -> bool {
        let hash = combine(mix(lexicon), token_hash(term.as_bytes(), self.seed));
        // The fraction as a part of 2⁶⁴, rounded up: below it, and below its ceiling, are the same whole numbers.
        u128::from(hash) < (u128::from(self.drop) << 64).div_ceil(10)
    }

    /// The set of a document under each lexicon, `None` where too few terms are left.
    fn sets<'a>(&self, kept: &Set<'a>) -> Vec<Option<Set<'a>>> {
        (0..=self.lexicons)
            .map(|lexicon| {
                let left: Set =
                    kept.iter().copied().filter(|term| lexicon == 0 || !self.lacks(lexicon, term)).collect();
                (left.len() >= self.min_terms).then_some(left)
            })
            .collect()
    }

    fn expected(&self, documents: &[Text]) -> Vec<(String, String, f64)> {
        let tokens: Vec<Vec<String>> = documents.iter().map(|(_, text)| token_texts(&Word, text)).collect();
        let terms: Vec<Set> = tokens.iter().map(|tokens| tokens.iter().map(String::as_str).collect()).collect();
        // Exact copies count once.
        let distinct: BTreeMap<&Vec<String>, &Set> = tokens.iter().zip(&terms).collect();
        let mut frequency: BTreeMap<&str, usize> = BTreeMap::new();
        distinct.values().flat_map(|terms| terms.iter()).for_each(|term| *frequency.entry(term).or_default() += 1);
        let sets: Vec<_> = terms
            .iter()
            .map(|terms| {
                let counts = |term: &&str| self.counts(distinct.len(), frequency[*term]);
                let own: Set = terms.iter().copied().filter(|term| frequency[term] == 1).collect();
                let kept: Set = terms.iter().copied().filter(counts).collect();
                if 2 * own.len() <= terms.len() && kept.len() >= self.min_terms {
                    return self.sets(&kept);
                }
                // No near-duplicate, only copies.
                let all: Set = kept.union(&own).copied().collect();
                let mut sets = vec![None; self.lexicons as usize + 1];
                sets[0] = (all.len() >= self.min_terms).then_some(all);
                sets
            })
            .collect();
        let pair = |(i, j): (usize, usize)| {
            let equal = |(a, b): &(&Option<Set>, &Option<Set>)| a.is_some() && a == b;
            let count = sets[i].iter().zip(&sets[j]).filter(equal).count();
            let similarity = match equal(&(&sets[i][0], &sets[j][0])) {
                true => 1.0,
                false => count as f64 / (self.lexicons + 1) as f64,
            };
            (count > 0).then(|| (documents[i].0.clone(), documents[j].0.clone(), similarity))
        };
        all_pairs(documents.len()).filter_map(pair).collect()
    }

    fn found(&self, documents: &[Text]) -> Vec<(String, String, f64)> {
        let fifths = |end: u32| (f64::from(end) / 5.0).to_string();
        let (low, high, lexicons) = (fifths(self.low), fifths(self.high), self.lexicons.to_string());
        let (drop, min_terms) = ((self.drop as f64 / 10.0).to_string(), self.min_terms.to_string());
        let mut settings =
            vec![("idf-low", &*low), ("idf-high", &*high), ("lexicons", &*lexicons), ("min-terms", &*min_terms)];
        settings.extend((self.lexicons > 0).then_some(("drop-fraction", &*drop)));
        let options = Options { seed: self.seed, threads: 2, ..Options::default() };
        pairs(&outcome_with(documents, &factory("imatch", &settings), &options))
    }
}

fn given() -> impl Strategy<Value = Given> {
    (0u32..=5, 0u32..=5, 0u64..8, 0u64..=10, 1usize..6, 0u64..3).prop_map(|(a, b, lexicons, drop, min_terms, seed)| {
        Given { low: a.min(b), high: a.max(b), lexicons, drop, min_terms, seed }
    })
}

/// Documents of few different words, so that many agree; some made from an earlier one by edits, some empty, one long.
fn documents() -> impl Strategy<Value = Vec<Text>> {
    let word = || (0u32..40).prop_map(|n| format!("w{n}"));
    let edit = (any::<prop::sample::Index>(), word());
    let document = (
        prop::collection::vec(word(), 0..14),
        prop::option::weighted(0.7, any::<prop::sample::Index>()),
        prop::collection::vec(edit, 0..3),
        prop_oneof![20 => Just(1usize), 1 => Just(60)],
        any::<bool>(),
    );
    prop::collection::vec(document, 0..14).prop_map(|made| {
        let mut all: Vec<Vec<String>> = Vec::new();
        for (own, of, edits, times, reversed) in made {
            let mut words = match of {
                Some(index) if !all.is_empty() => index.get(&all).clone(),
                _ => own,
            };
            for (at, word) in edits {
                if words.is_empty() { words.push(word) } else { *at.get_mut(&mut words) = word }
            }
            let mut words = vec![words; times].concat();
            // Long ones of long ones of long ones would not fit the memory.
            words.truncate(10_000);
            if reversed {
                words.reverse();
            }
            all.push(words);
        }
        all.iter().enumerate().map(|(n, words)| (n.to_string(), words.join(" "))).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn pairs_are_those_with_an_equal_set_under_some_lexicon(documents in documents(), given in given()) {
        prop_assert_eq!(given.found(&documents), given.expected(&documents));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, max_shrink_iters: 64, ..ProptestConfig::default() })]

    /// From 1000 documents on the band is what it is called.
    #[test]
    fn in_large_collections_too(
        texts in prop::collection::vec(prop::collection::vec(0u32..4096, 0..6), 990..1010),
        given in given(),
    ) {
        // Words of every frequency: each is half as frequent as the one before.
        let text = |words: &Vec<u32>| words.iter().map(|n| format!("w{} ", n.leading_zeros())).collect::<String>();
        let documents: Vec<Text> = texts.iter().enumerate().map(|(n, words)| (n.to_string(), text(words))).collect();
        prop_assert_eq!(given.found(&documents), given.expected(&documents));
    }
}

#[test]
fn all_settings_find_something_and_leave_something_out() {
    // The corpora above are small; this one is checked to have pairs, so that an oracle without pairs would be noticed.
    let text = |words: &[&str]| words.join(" ");
    let base = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
    let documents: Vec<Text> = vec![
        ("base".into(), text(&base)),
        ("again".into(), text(&[&base[3..], &base[..3], &["own"]].concat())),
        ("more".into(), text(&[&base[..], &["eta"]].concat())),
        ("most".into(), text(&[&base[..], &["eta", "theta", "iota", "kappa", "lambda"]].concat())),
        ("few".into(), text(&["alpha", "beta", "gamma"])),
        ("few too".into(), text(&["gamma", "beta", "alpha", "alpha"])),
        ("other".into(), text(&["theta", "iota", "kappa", "lambda", "alpha", "mu", "nu", "xi", "omicron"])),
    ];
    let given = Given { low: 1, high: 4, lexicons: 10, drop: 3, min_terms: 4, seed: 0 };
    let found = given.found(&documents);
    assert_eq!(found, given.expected(&documents));
    let named: BTreeMap<(&str, &str), f64> = found.iter().map(|(a, b, s)| ((&**a, &**b), *s)).collect();
    assert_eq!(named[&("base", "again")], 1.0);
    assert!(named[&("base", "more")] < 1.0 && !named.contains_key(&("base", "most")));
    assert!(!named.contains_key(&("few", "few too")), "three terms are too few");
}

/// Pairs of documents that differ in this many terms of the lexicon: the first has them, the second does not. A third
/// document of the terms brings it about that two have each, and is alike to none: most of its words are its own.
fn differing(terms: usize, pairs: usize, documents: &mut Vec<Text>) {
    for pair in 0..pairs {
        let words =
            |name: &str, count: usize| (0..count).map(|i| format!("{name}{terms}p{pair}n{i} ")).collect::<String>();
        let (shared, extra) = (words("s", 40), words("x", terms));
        documents.push((format!("{terms} {pair} a"), format!("{shared}{extra}")));
        documents.push((format!("{terms} {pair} b"), shared));
        documents.push((format!("{terms} {pair} c"), format!("{extra}{}", words("o", terms + 1))));
    }
}

/// `1 − (1 − pˣ)ᴷ`, as printed to three places in the tables of [`neardups::algorithm::imatch`]'s own tests.
#[test]
fn pairs_that_differ_in_a_few_terms_are_found_as_often_as_the_lexicons_promise() {
    const TRIALS: usize = 500;
    let differences = [1, 2, 3, 4, 6];
    let mut documents = Vec::new();
    differences.iter().for_each(|&x| differing(x, TRIALS, &mut documents));
    for (p, lexicons) in [("0.1", 10), ("0.3", 5), ("0.3", 10), ("0.3", 20), ("0.5", 10), ("0.5", 20)] {
        let count = lexicons.to_string();
        let settings =
            [("idf-low", "0"), ("idf-high", "1"), ("min-terms", "1"), ("drop-fraction", p), ("lexicons", &count)];
        let mut found: BTreeMap<usize, usize> = BTreeMap::new();
        for (a, b, _) in pairs(&outcome(&documents, &factory("imatch", &settings))) {
            assert_eq!(a.strip_suffix('a'), b.strip_suffix('b'), "{a} is like {b}");
            *found.entry(a.split(' ').next().unwrap().parse().unwrap()).or_default() += 1;
        }
        for x in differences {
            let found = found.get(&x).copied().unwrap_or(0);
            let promised = 1.0 - (1.0 - p.parse::<f64>().unwrap().powi(x as i32)).powi(lexicons);
            let tails = [binomial_at_most(TRIALS, promised, found), binomial_at_least(TRIALS, promised, found)];
            assert!(
                tails.iter().all(|&tail| tail > IMPROBABLE),
                "{p}, {lexicons}, {x}: {found} of {TRIALS}, not {promised}"
            );
        }
    }
}
