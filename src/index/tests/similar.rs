//! Decisions where many remembered documents are similar. The oracle compares all of them.

use super::checkpoints::{minhash, options, pages, simhash};
use super::*;
use crate::{MinHash, RandomProjection};
use std::slice;

fn exact() -> Plan {
    let exact = MinHash::builder().threshold(0.7).shingle(1).exact(true).build().unwrap();
    Plan::new(&exact, Arc::new(Word)).unwrap()
}

fn cosine() -> Plan {
    Plan::new(&RandomProjection::builder().cosine(0.9).build().unwrap(), Arc::new(Word)).unwrap()
}

/// The similarities of the documents that share a key and reach the threshold, by their numbers.
fn similar(index: &mut Index, signature: Signed<'_>) -> Vec<(u32, Similarity)> {
    let places = index.tables.places.clone();
    let similarity = |(number, place)| {
        let record = index.log.read(place).unwrap();
        let shares_one = record.tags(&*index.algorithm).iter().any(|tag| signature.tags.contains(tag));
        let similarity = index.algorithm.compare(&record.evidence, signature.evidence.words(&mut Vec::new()));
        similarity.filter(|_| shares_one).map(|similarity| (number, similarity))
    };
    (0..).zip(places).filter_map(similarity).collect()
}

#[test]
fn the_most_similar_is_found_and_the_earliest_of_several() {
    let texts = pages(500);
    let bare = |page: &String| page.split(' ').take(60).collect::<Vec<_>>().join(" ");
    let asked: Vec<String> = texts[150..].iter().step_by(3).cloned().chain(texts[..40].iter().map(bare)).collect();
    for (number, plan) in [minhash(), exact(), cosine(), simhash()].iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let options = IndexOptions { mode: Mode::Add, ..options(Limits::default(), 1 << 15) };
        let mut index = Index::open(&folder.path().join("index"), plan, &options).unwrap().0;
        for (number, text) in texts[..400].iter().enumerate() {
            decide(&mut index, &number.to_string(), text);
        }
        index.mode = Mode::Query;
        let (mut several, mut tied) = (0, 0);
        for text in &asked {
            let signature = index.signer().sign(text);
            let signature = signature.signed();
            let similar = similar(&mut index, signature);
            let mut best = None;
            for &(number, similarity) in &similar {
                if best.is_none_or(|(_, best)| similarity > best) {
                    best = Some((number, similarity));
                }
            }
            let found = match decide(&mut index, "asked", text) {
                Decision::Duplicate { of, similarity, .. } => Some((of.parse().unwrap(), similarity)),
                decision => {
                    assert_eq!(decision, Decision::Fresh, "{text}");
                    None
                }
            };
            assert_eq!(found, best, "{number}: {text}");
            several += usize::from(similar.len() > 1);
            tied +=
                usize::from(similar.iter().filter(|similar| Some(similar.1) == best.map(|best| best.1)).count() > 1);
        }
        assert!(several > 50 && tied > 10, "{number}: {several}, {tied}");
    }
}

/// So that a page of a template alone, which is in many pages, is compared with the shortest of them.
#[test]
fn bounds_are_not_below_similarities_and_tell_the_bare_page_of_a_template() {
    let texts = pages(300);
    for plan in [minhash(), exact()] {
        let mut index =
            Index::with_log(plan.for_memory(), Log::in_memory(), &options(Limits::default(), 1 << 20), None);
        index.mode = Mode::Add;
        for (number, text) in texts.iter().enumerate() {
            decide(&mut index, &number.to_string(), text);
        }
        let bare = texts[0].split(' ').take(60).collect::<Vec<_>>().join(" ");
        for text in texts.iter().chain(slice::from_ref(&bare)) {
            let signature = index.signer().sign(text);
            let signature = signature.signed();
            let similar = similar(&mut index, signature);
            let mut search = index.search();
            search.find_candidates(signature).unwrap();
            search.find_bounds(signature, search.jaccard).unwrap();
            for (number, similarity) in similar {
                let bound = search.bounded.iter().find(|bounded| bounded.1 == number).expect("it is not ruled out").0;
                assert!(bound >= similarity.value());
                assert!(*text != bare || bound == similarity.value(), "{bound} {similarity}");
            }
        }
    }
}
