//! Tests of crowded keys, whose bounds they lower.

mod checkpoints;
mod damaged;
mod full;
mod lost;
mod maintain;
mod renewals;
mod replaced;
mod similar;
#[cfg(feature = "clean")]
mod staged;
#[cfg(feature = "clean")]
mod transactions;
mod unconfirmed;
mod unsynced;

use super::disk::Folder;
use super::search::Ordered;
use super::*;
use crate::algorithm::simhash::{SimHash, Weights};
use crate::error::Error;
use crate::hamming::cost::Rates;
use crate::readable::counted;
use crate::similarity::Similarity;
use crate::tokenizer::Word;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

/// Documents of one token, in keys of 5 and 6 bits.
fn plan() -> Plan {
    let factory = |_: usize| {
        Ok(crate::algorithm::PreparedAlgorithm::new(SimHash::new(64, 10, vec![1], Weights::Binary, Some(11))))
    };
    Plan::new(&factory, Arc::new(Word)).unwrap()
}

fn index(plan: &Plan, mode: Mode, words: usize) -> Index {
    let options = IndexOptions { mode, sync: Sync::Off, ..IndexOptions::default() };
    let mut index = Index::with_log(plan.for_memory(), Log::in_memory(), &options, None);
    (index.bounds.most_of_a_key, index.bounds.most_words) = (4, words);
    index.bounds.ordered = index.bounds.ordered.map(look_up);
    index
}

/// Keys are looked up, however short they are and however many documents they have.
fn look_up(ordered: Ordered) -> Ordered {
    Ordered { below_words: 0.0, rates: Rates { scan: f64::INFINITY, ..ordered.rates }, ..ordered }
}

fn decide(index: &mut Index, id: &str, text: &str) -> Decision {
    index.decide(id, &index.signer().sign(text), 0).unwrap()
}

/// The decisions by a search without tables.
fn expected(plan: &Plan, before: &[String], text: &str) -> Option<f64> {
    let signing = plan.for_memory();
    let sign = |text: &str| signing.signer().sign(text).signed().evidence.words(&mut Vec::new()).to_vec();
    let own = sign(text);
    before.iter().filter_map(|text| signing.algorithm.compare(&sign(text), &own)).map(|s| s.value()).reduce(f64::max)
}

#[test]
fn signatures_of_another_index_are_refused() {
    let seeded = |seed| plan().with_seed(Seed::Fixed(seed)).unwrap();
    let [mut index, like_it, other] = [1, 1, 2].map(|seed| index(&seeded(seed), Mode::Filter, 1));
    assert_eq!(index.decide("a", &like_it.signer().sign("text"), 0).unwrap(), Decision::Fresh);
    for foreign in [other.signer().sign("text"), Signature::default()] {
        assert!(index.decide("b", &foreign, 0).unwrap_err().to_string().contains("another index"));
        assert!(index.nearest(&foreign, Wanted { most: 1, is_exhaustive: true }, 0).is_err());
    }
    assert!(matches!(index.decide("b", &index.signer().sign("text"), 0).unwrap(), Decision::Duplicate { .. }));
}

#[test]
fn in_crowded_keys_all_fingerprints_are_compared_while_they_are_few() {
    let plan = plan();
    let texts: Vec<String> = (0..1000).map(|number| format!("word{number}")).collect();
    let mut index = index(&plan, Mode::Add, 1000);
    for (number, text) in texts.iter().enumerate() {
        assert_eq!(decide(&mut index, &number.to_string(), text), Decision::Fresh);
        if number % 100 == 7 {
            decide(&mut index, &format!("empty{number}"), "...");
        }
    }
    index.mode = Mode::Query;
    let mut found = 0;
    for number in (0..1000).chain(5000..5400) {
        let text = format!("word{number}");
        let expected = expected(&plan, &texts, &text);
        match decide(&mut index, "x", &text) {
            Decision::Duplicate { similarity, is_capped, .. } => {
                assert_eq!((Some(similarity.value()), is_capped), (expected, false), "{text}");
            }
            decision => assert_eq!((decision, expected), (Decision::Fresh, None), "{text}"),
        }
        found += u32::from(expected.is_some());
    }
    assert!(found >= 1000 && index.capped() == 0);
}

/// In whatever way they are found: through keys, through keys until there are too many candidates, or without them.
#[test]
fn decisions_do_not_depend_on_what_is_compared() {
    let factory = |_: usize| {
        Ok(crate::algorithm::PreparedAlgorithm::new(SimHash::new(128, 12, vec![1], Weights::Binary, Some(14))))
    };
    let plan = Plan::new(&factory, Arc::new(Word)).unwrap();
    let word = |number: usize| format!(" w{}", number % 137);
    let text = |number: usize| match number % 50 {
        7 => "...".to_string(),
        _ => (0..12).map(|at| word(number / 3 + at * (number % 7) + at * (at * number / 100))).collect(),
    };
    let ways: [fn(Ordered) -> Ordered; 3] = [
        look_up,
        |ordered| Ordered { below_words: 0.0, ..ordered },
        |ordered| Ordered { below_words: f64::INFINITY, ..ordered },
    ];
    let mut decisions: Vec<Vec<Decision>> = Vec::new();
    for limits in [Limits::default(), Limits { window: Some(40), ..Limits::default() }] {
        for way in ways {
            let options = IndexOptions { limits, sync: Sync::Off, ..IndexOptions::default() };
            let mut index = Index::with_log(plan.for_memory(), Log::in_memory(), &options, None);
            index.bounds.ordered = index.bounds.ordered.map(way);
            let mut decided: Vec<Decision> = (0..1500).map(|i| decide(&mut index, &i.to_string(), &text(i))).collect();
            index.remove_places(&[index.tables.places[index.tables.places.len() - 20]]);
            decided.extend((1000..2000).map(|i| decide(&mut index, &format!("again{i}"), &text(i))));
            assert_eq!(index.capped(), 0);
            decisions.push(decided);
        }
    }
    assert!(decisions[1] == decisions[0] && decisions[2] == decisions[0]);
    assert!(decisions[4] == decisions[3] && decisions[5] == decisions[3] && decisions[3] != decisions[0]);
    let found = decisions[0].iter().filter(|decision| !decision.passes()).count();
    assert!((300..2000).contains(&found), "{found}");
}

/// However crowded their keys are, and however many documents there are.
#[test]
fn the_nearest_by_bits_are_those_of_a_comparison_with_every_document() {
    let plan = plan();
    let mut index = index(&plan, Mode::Add, 100);
    // Many are equally far, some have no features, and two are forgotten.
    let text = |number: usize| match number % 50 {
        7 => "...".to_string(),
        _ => format!("w{} w{}", number % 41, number % 13),
    };
    let forgotten = [1usize, 4990];
    for number in 0..5000 {
        decide(&mut index, &number.to_string(), &text(number));
    }
    index.remove_places(&forgotten.map(|number| index.tables.places[number]));
    let mut signer = index.signer();
    let known: Vec<_> = (0..5000).map(|number| signer.sign(&text(number)).signed().fingerprint().to_vec()).collect();
    for query in ["w1 w1", "w3 w90", "w40 w12", "w77"] {
        let signature = signer.sign(query);
        let mut all: Vec<(u32, usize)> = (0..5000)
            .filter(|number| !known[*number].is_empty() && !forgotten.contains(number))
            .map(|number| ((known[number][0] ^ signature.signed().fingerprint()[0]).count_ones(), number))
            .collect();
        all.sort_unstable();
        for most in [0, 1, 7, 4096, 6000] {
            let nearest = index.nearest(&signature, Wanted { most, is_exhaustive: false }, 0).unwrap();
            let found: Vec<(u32, usize)> = nearest
                .neighbours
                .iter()
                .map(|neighbour| (neighbour.distance.unwrap(), neighbour.id.parse().unwrap()))
                .collect();
            assert!(found == all[..most.min(all.len())] && !nearest.is_capped, "{query}, {most}");
        }
    }
}

#[test]
fn in_crowded_keys_of_a_large_index_copies_are_found_and_the_rest_is_reported() {
    let plan = plan();
    let mut index = index(&plan, Mode::Add, 100);
    for number in 0..600 {
        decide(&mut index, &number.to_string(), &format!("word{number}"));
    }
    index.mode = Mode::Query;
    for number in [0, 1, 300, 500, 599] {
        let decision = decide(&mut index, "x", &format!("word{number}"));
        assert!(matches!(decision, Decision::Duplicate { of, is_capped: true, .. } if of == number.to_string()));
    }
    // A document that comes later, and one that is forgotten.
    index.mode = Mode::Add;
    decide(&mut index, "late", "word9999");
    index.remove_places(&[index.tables.places[500]]);
    index.mode = Mode::Query;
    assert!(matches!(decide(&mut index, "x", "word9999"), Decision::Duplicate { of, .. } if of == "late"));
    assert_eq!(decide(&mut index, "x", "word500"), Decision::Crowded);
    assert_eq!(decide(&mut index, "x", "word7777"), Decision::Crowded);
    assert!(Decision::Crowded.passes());
    assert_eq!(index.capped(), 8);
    assert!(index.bytes_held() > index.tables.copies.as_ref().unwrap().bytes_held());
}

#[test]
fn the_table_of_copies_of_a_large_index_stays_below_its_memory() {
    const TABLES: u64 = 64 << 10;
    let folder = tempfile::tempdir().unwrap();
    let options = IndexOptions { mode: Mode::Add, sync: Sync::Off, tables: TABLES, ..IndexOptions::default() };
    let disk = Some(Disk::new(Folder::Temporary(folder.path().to_path_buf())));
    let mut index = Index::with_log(plan().for_memory(), Log::in_memory(), &options, disk);
    (index.bounds.most_of_a_key, index.bounds.most_words) = (4, 100);
    index.bounds.ordered = index.bounds.ordered.map(look_up);
    let mut most = 0;
    for number in 0..20_000 {
        decide(&mut index, &number.to_string(), &format!("word{number}"));
        most = most.max(index.tables.bytes_of_tables());
    }
    index.mode = Mode::Query;
    for number in [0, 1, 9_999, 19_999] {
        let decision = decide(&mut index, "x", &format!("word{number}"));
        assert!(matches!(decision, Decision::Duplicate { of, .. } if of == number.to_string()), "{number}");
    }
    assert!((TABLES / 4..TABLES * 5 / 4).contains(&most), "{most} bytes");
    assert!(index.tables.copies.as_ref().unwrap().runs().0 > 1);
}
