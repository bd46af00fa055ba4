//! I-Match with randomized lexicons (Kołcz, Chowdhury & Alspector 2004) against sets of strings: two documents are
//! near-duplicates iff their sets are equal under one of the lexicons. The oracle uses no digest and no index.

use crate::support::corpus::Text;
use crate::support::plain::{all_pairs, token_texts};
use crate::support::random::Random;
use crate::support::scanning::{factory, outcome, outcome_with, pairs};
use crate::support::statistics::{IMPROBABLE, binomial_at_least, binomial_at_most};
use neardups::IMatch;
use neardups::algorithm::TableFactory;
use neardups::algorithm::parameter::Settings;
use neardups::algorithm::presets::Preset;
use neardups::engine::ScanOptions;
use neardups::hash::{combine, mix, token_hash};
use neardups::index::{Index, Limits, Plan};
use neardups::lexicon::Lexicon;
use neardups::tokenizer::Word;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The settings, the ends of the band in fifths and the fraction in tenths.
#[derive(Clone, Copy, Debug)]
struct Given {
    low: u32,
    high: u32,
    lexicons: u64,
    drop: u64,
    min_terms: usize,
    /// The least share of the terms that must count, in tenths.
    share: u64,
    /// The shares of the terms that are cut by rank instead of the ends of the band, in tenths: frequent, rare.
    cuts: [Option<u64>; 2],
    seed: u64,
}

type Frequencies<'a> = BTreeMap<&'a str, usize>;
type Set<'a> = BTreeSet<&'a str>;

impl Given {
    /// Whether a term with this document frequency counts. With `N` documents the band is
    /// `(N + 1)^(1 − high) ≤ df ≤ (N + 1)^(1 − low)`, both sides taken to the fifth power here; fewer than 1000
    /// documents are judged as 1000 at the common end, and at the rare end all that two of them have counts.
    fn counts(&self, documents: usize, frequencies: &Frequencies, term: &str) -> bool {
        let frequency = frequencies[term];
        let common = documents.max(1000) as u128 + 1;
        let fifth = (frequency as u128).pow(5);
        let not_rare = match self.cuts[1] {
            Some(share) => !cut(frequencies, share, |df, border| df <= border).contains(term),
            None => documents < 1000 || fifth >= (documents as u128 + 1).pow(5 - self.high),
        };
        let not_frequent = match self.cuts[0] {
            Some(share) => !cut(frequencies, share, |df, border| df >= border).contains(term),
            None => fifth <= common.pow(5 - self.low),
        };
        frequency >= 2 && not_frequent && not_rare
    }

    /// Whether so few of this many terms count that all of them make the digest.
    fn is_thin(&self, counting: usize, terms: usize) -> bool {
        counting < 20 && counting < terms && 10 * counting <= self.share as usize * terms
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

    fn expected(&self, documents: &[Text]) -> Vec<Found> {
        let tokens: Vec<Vec<String>> = documents.iter().map(|(_, text)| token_texts(&Word, text)).collect();
        let terms: Vec<Set> = tokens.iter().map(|tokens| tokens.iter().map(String::as_str).collect()).collect();
        // Exact copies count once.
        let distinct: BTreeMap<&Vec<String>, &Set> = tokens.iter().zip(&terms).collect();
        let mut frequency = Frequencies::new();
        distinct.values().flat_map(|terms| terms.iter()).for_each(|term| *frequency.entry(term).or_default() += 1);
        let sets: Vec<_> = terms
            .iter()
            .map(|terms| {
                let counts = |term: &&str| self.counts(distinct.len(), &frequency, term);
                let own: Set = terms.iter().copied().filter(|term| frequency[term] == 1).collect();
                let kept: Set = terms.iter().copied().filter(counts).collect();
                let mut sets = vec![None; self.lexicons as usize + 1];
                if 2 * own.len() <= terms.len() && kept.len() >= self.min_terms {
                    if !self.is_thin(kept.len(), terms.len()) {
                        return self.sets(&kept);
                    }
                    sets[0] = Some(terms.clone());
                    return sets;
                }
                // No near-duplicate, only copies.
                let all: Set = kept.union(&own).copied().collect();
                sets[0] = (all.len() >= self.min_terms).then_some(all);
                sets
            })
            .collect();
        pairs_of(documents, &sets)
    }

    /// As [`expected`](Self::expected), where the terms of a list count, and some lexicons lack the terms of others.
    fn expected_of_list(&self, documents: &[Text], list: &[String], left_out: &[Vec<String>]) -> Vec<Found> {
        let tokens: Vec<Vec<String>> = documents.iter().map(|(_, text)| token_texts(&Word, text)).collect();
        let sets_of = |tokens: &Vec<String>| {
            let terms: BTreeSet<String> = tokens.iter().cloned().collect();
            let kept: BTreeSet<String> = terms.iter().filter(|term| list.contains(term)).cloned().collect();
            let enough = |set: BTreeSet<String>| (set.len() >= self.min_terms).then_some(set);
            let lexicons = 1 + left_out.len() + self.lexicons as usize;
            if kept.len() >= self.min_terms && self.is_thin(kept.len(), terms.len()) {
                return [vec![Some(terms)], vec![None; lexicons - 1]].concat();
            }
            let without = |words: &Vec<String>| enough(kept.iter().filter(|t| !words.contains(t)).cloned().collect());
            let random = |n: u64| enough(kept.iter().filter(|term| !self.lacks(n, term)).cloned().collect());
            let whole = enough(kept.clone());
            if whole.is_none() {
                return vec![None; lexicons];
            }
            [whole].into_iter().chain(left_out.iter().map(without)).chain((1..=self.lexicons).map(random)).collect()
        };
        pairs_of(documents, &tokens.iter().map(sets_of).collect::<Vec<_>>())
    }

    /// The pairs that a scan finds with these lists.
    fn found_with_list(&self, documents: &[Text], list: &[String], left_out: &[Vec<String>]) -> Vec<Found> {
        let parse = |words: &[String]| {
            Arc::new(Lexicon::parse_list("list", words.join("\n").as_bytes(), &Word, self.seed).unwrap())
        };
        let (lexicons, min_terms) = (self.lexicons.to_string(), self.min_terms.to_string());
        let share = (self.share as f64 / 10.0).to_string();
        let mut settings = vec![("lexicons", &*lexicons), ("min-terms", &*min_terms), ("min-share", &*share)];
        let drop = (self.drop as f64 / 10.0).to_string();
        settings.extend((self.lexicons > 0).then_some(("drop-fraction", &*drop)));
        let factory = factory("imatch", &settings).with_lexicon(parse(list)).unwrap();
        let factory = factory.with_left_out(left_out.iter().map(|words| parse(words))).unwrap();
        let options = ScanOptions { seed: self.seed, threads: 2, ..ScanOptions::default() };
        pairs(&outcome_with(documents, &factory, &options))
    }

    fn found(&self, documents: &[Text]) -> Vec<Found> {
        self.found_within(documents, ScanOptions::default().memory)
    }

    fn found_within(&self, documents: &[Text], memory: u64) -> Vec<Found> {
        let fifths = |end: u32| (f64::from(end) / 5.0).to_string();
        let (low, high, lexicons) = (fifths(self.low), fifths(self.high), self.lexicons.to_string());
        let (drop, min_terms) = ((self.drop as f64 / 10.0).to_string(), self.min_terms.to_string());
        let share = (self.share as f64 / 10.0).to_string();
        let mut settings = vec![("lexicons", &*lexicons), ("min-terms", &*min_terms), ("min-share", &*share)];
        let percent = self.cuts.map(|cut| cut.map(|tenths| format!("{}%", 10 * tenths)));
        settings.push(percent[0].as_ref().map_or(("idf-low", &*low), |share| ("drop-frequent", share)));
        settings.push(percent[1].as_ref().map_or(("idf-high", &*high), |share| ("drop-rare", share)));
        settings.extend((self.lexicons > 0).then_some(("drop-fraction", &*drop)));
        let options = ScanOptions { seed: self.seed, threads: 2, memory, ..ScanOptions::default() };
        pairs(&outcome_with(documents, &factory("imatch", &settings), &options))
    }
}

type Found = (String, String, f64);

/// The pairs of documents with an equal set under some lexicon.
fn pairs_of<S: PartialEq>(documents: &[Text], sets: &[Vec<Option<S>>]) -> Vec<Found> {
    let pair = |(i, j): (usize, usize)| {
        let equal = |(a, b): &(&Option<S>, &Option<S>)| a.is_some() && a == b;
        let count = sets[i].iter().zip(&sets[j]).filter(equal).count();
        let similarity = match equal(&(&sets[i][0], &sets[j][0])) {
            true => 1.0,
            false => count as f64 / sets[i].len() as f64,
        };
        (count > 0).then(|| (documents[i].0.clone(), documents[j].0.clone(), similarity))
    };
    all_pairs(documents.len()).filter_map(pair).collect()
}

/// The terms that a cut by rank leaves out: of all sets of the terms on one side of a frequency, the one whose share
/// comes nearest, and the smallest of those.
fn cut<'a>(frequencies: &Frequencies<'a>, tenths: u64, side: impl Fn(usize, usize) -> bool) -> Set<'a> {
    let borders = 0..=frequencies.values().max().map_or(0, |most| most + 1);
    let sets = borders.map(|border| -> Set {
        frequencies.iter().filter(|(_, df)| side(**df, border)).map(|(term, _)| *term).collect()
    });
    let off = |set: &Set| (10 * set.len() as u64).abs_diff(tenths * frequencies.len() as u64);
    sets.min_by_key(|set| (off(set), set.len())).unwrap_or_default()
}

fn given() -> impl Strategy<Value = Given> {
    let cuts = (prop::option::of(0u64..5), prop::option::of(0u64..5)).prop_map(|(frequent, rare)| [frequent, rare]);
    (0u32..=5, 0u32..=5, 0u64..8, 0u64..=10, 1usize..6, 0u64..=10, cuts, 0u64..3).prop_map(
        |(a, b, lexicons, drop, min_terms, share, cuts, seed)| Given {
            low: a.min(b),
            high: a.max(b),
            lexicons,
            drop,
            min_terms,
            share,
            cuts,
            seed,
        },
    )
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
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn lists_of_words_are_lexicons_and_leave_words_out_of_others(
        documents in documents(),
        given in given(),
        list in prop::collection::vec((0u32..40).prop_map(|n| format!("w{n}")), 1..30),
        left_out in prop::collection::vec(prop::collection::vec((0u32..40).prop_map(|n| format!("w{n}")), 1..9), 0..4),
    ) {
        let expected = given.expected_of_list(&documents, &list, &left_out);
        prop_assert_eq!(given.found_with_list(&documents, &list, &left_out), expected);
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

/// More terms than fit, most of them in two documents, and long documents among them.
#[test]
fn terms_in_a_file_make_the_same_sets() {
    let mut random = Random::new(8);
    let mut documents = Vec::new();
    for (pair, length) in (0..304).map(|pair| (pair, if pair % 76 == 3 { 150_000 } else { 1000 })) {
        let shared: Vec<String> = (0..length).map(|n| format!("s{pair}x{n}")).collect();
        for side in ["a", "b"] {
            let mut words = shared.clone();
            // Of words that several documents have, and of its own.
            let common = random.below(if length > 1000 { 2 } else { 4 });
            words.extend((0..common).map(|_| format!("c{}", random.below(300))));
            words.extend((0..random.below(900)).map(|n| format!("{side}{pair}y{n}")));
            random.shuffle(&mut words);
            documents.push((format!("{pair} {side}"), words.join(" ")));
        }
    }
    for (low, high, drop) in [(0, 5, 7), (1, 5, 5)] {
        let given = Given { low, high, lexicons: 3, drop, min_terms: 4, share: 5, cuts: [None, None], seed: 1 };
        let expected = given.expected(&documents);
        assert!((30..304).contains(&expected.len()), "{}", expected.len());
        let of_long =
            |(a, _, _): &&Found| a.split(' ').next().is_some_and(|pair| pair.parse::<u64>().unwrap() % 76 == 3);
        assert!(expected.iter().filter(of_long).count() > 1);
        for memory in [0, 1 << 20, 4 << 30] {
            assert!(given.found_within(&documents, memory) == expected, "{memory}");
        }
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
    let given = Given { low: 1, high: 4, lexicons: 10, drop: 3, min_terms: 4, share: 5, cuts: [None, None], seed: 0 };
    let found = given.found(&documents);
    assert_eq!(found, given.expected(&documents));
    let named: BTreeMap<(&str, &str), f64> = found.iter().map(|(a, b, s)| ((&**a, &**b), *s)).collect();
    assert_eq!(named[&("base", "again")], 1.0);
    assert!(named[&("base", "more")] < 1.0 && !named.contains_key(&("base", "most")));
    assert!(!named.contains_key(&("few", "few too")), "three terms are too few");
}

/// The figure of the improved algorithm: the features 1 to 6 are the main lexicon, one auxiliary lexicon lacks 5 and 6,
/// the other 3 and 4. A document with another feature is found as long as one lexicon lacks what differs.
#[test]
fn two_auxiliary_lexicons_make_three_fingerprints() {
    let words = |numbers: &[u32]| numbers.iter().map(|n| format!("f{n}")).collect::<Vec<_>>();
    let document = |name: &str, numbers: &[u32]| (name.to_string(), words(numbers).join(" "));
    let documents = [
        document("a", &[1, 2, 3]),
        document("a and 5", &[1, 2, 3, 5]),
        document("a and 4", &[1, 2, 3, 4]),
        document("a and 4, 5", &[1, 2, 3, 4, 5]),
        document("a without 2", &[1, 3]),
    ];
    let given = Given { low: 0, high: 5, lexicons: 0, drop: 0, min_terms: 2, share: 0, cuts: [None, None], seed: 0 };
    let (main, left_out) = (words(&[1, 2, 3, 4, 5, 6]), [words(&[5, 6]), words(&[3, 4])]);
    let found = given.found_with_list(&documents, &main, &left_out);
    let third = 1.0 / 3.0;
    let pair = |a: &str, b: &str| (a.to_string(), b.to_string(), third);
    let expected = [
        // Without 5 and 6 both are 1, 2, 3.
        pair("a", "a and 5"),
        // Without 3 and 4 both are 1, 2.
        pair("a", "a and 4"),
        pair("a and 5", "a and 4, 5"),
        pair("a and 4", "a and 4, 5"),
    ];
    assert_eq!(found, expected);
    assert_eq!(found, given.expected_of_list(&documents, &main, &left_out));
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

/// The answers are written down, because the oracle's own rule of shares must not be the only judge. Two documents of
/// 408 words, 8 of which are in the dictionary, differ in 12 words that are not in it.
#[test]
fn near_duplicates_by_a_dictionary_are_found_whatever_else_they_say() {
    let words = |name: &str, count: usize| (0..count).map(|n| format!(" {name}{n}")).collect::<String>();
    let listed = words("feature", 8);
    let documents: [Text; 3] = [
        ("a".into(), format!("{listed}{}{}", words("common", 388), words("first", 12))),
        ("b".into(), format!("{}{listed}{}", words("second", 12), words("common", 388))),
        ("other".into(), format!("{}{}", words("feature", 7), words("common", 401))),
    ];
    let list = || Arc::new(Lexicon::parse_list("list", listed.replace(' ', "\n").as_bytes(), &Word, 0).unwrap());
    let found = |factory: TableFactory| {
        let factory = factory.with_lexicon(list()).unwrap();
        pairs(&outcome(&documents, &factory)).into_iter().map(|(a, b, _)| a + " " + &b).collect::<Vec<_>>()
    };
    assert_eq!(found(factory("imatch", &[("lexicons", "0")])), ["a b"]);
    assert_eq!(found(factory("imatch", &[]))[0], "a b");
    let reference = Preset::by_name("imatch-reference").unwrap().factory(Settings::default(), None).unwrap();
    assert_eq!(found(reference), ["a b"]);
    // The share still decides if it is given.
    assert!(found(factory("imatch", &[("min-share", "0.5")])).is_empty());
    assert_eq!(found(factory("imatch", &[("min-share", "0.019"), ("lexicons", "0")])), ["a b"]);
}

/// What is counted belongs to the stream: a plan is shared by several, and a text may be signed without a decision on it.
#[test]
fn a_warning_counts_the_documents_of_its_own_stream() {
    let [known, common] = ["known", "common"].map(|name| (0..40).map(|i| format!("{name}{i}")).collect::<Vec<_>>());
    let of = |terms: &[String], documents| {
        terms.iter().map(|term| (token_hash(term.as_bytes(), 0), documents)).collect::<Vec<_>>()
    };
    let frequencies = [of(&known, 20), of(&common, 1500)].concat();
    let imatch = IMatch::builder().lexicon(Arc::new(Lexicon::new(2000, frequencies))).build().unwrap();
    let plan = Plan::new(&imatch, Arc::new(Word)).unwrap();
    let thin = format!("{} {}", known[..4].join(" "), common.join(" "));
    let warnings = || {
        let mut index = Index::in_memory(&plan, Limits::default());
        let mut signer = index.signer();
        for i in 0..8 {
            let text = if i == 0 { thin.clone() } else { known[i..i + 25].join(" ") };
            _ = signer.sign(&text);
            index.decide(&i.to_string(), &signer.sign(&text), 0).unwrap();
        }
        index.warnings().into_iter().filter(|warning| warning.contains("min-share")).collect::<Vec<_>>()
    };
    // One of eight is less than a fifth.
    assert_eq!([warnings(), warnings()], [const { Vec::<String>::new() }; 2]);
}
