//! Tests of windows and ages: tables are replaced by new ones beside decisions.

use super::checkpoints::{decide_all, minhash, open, options};
use super::*;
use crate::hash::mix;
use std::collections::VecDeque;

/// Every third document repeats one from a few to some hundred documents before.
pub fn texts(count: u64) -> Vec<String> {
    let source = |number: u64| if number % 3 == 2 { number - 1 - mix(number) % number.min(300) } else { number };
    (0..count).map(|number| format!("{0}a {0}b {0}c {0}d {0}e {0}f", mix(source(number)))).collect()
}

/// Which texts pass, by a list of those that passed: a text is dropped if the list has it.
pub fn plain(texts: &[String], window: usize) -> Vec<bool> {
    let mut last: VecDeque<&String> = VecDeque::new();
    let passes = |text| {
        let passes = !last.contains(&text);
        if passes {
            last.push_back(text);
            last.drain(..last.len().saturating_sub(window));
        }
        passes
    };
    texts.iter().map(passes).collect()
}

#[test]
fn a_window_is_that_of_a_list_however_often_the_tables_are_renewed() {
    let (texts, folder) = (texts(2_500), tempfile::tempdir().unwrap());
    for (number, plan) in [minhash(), simhash()].into_iter().enumerate() {
        for window in [1, 40, 400] {
            let expected = plain(&texts, window);
            let limits = Limits { window: Some(window as u64), ..Limits::default() };
            let path = folder.path().join(format!("{number} {window}"));
            let indexes = [Index::in_memory(&plan, limits), open(&path, &plan, &options(limits, 1 << 15))];
            for mut index in indexes {
                let found = decide_all(&mut index, &texts, 0);
                assert!(found.iter().map(Decision::passes).eq(expected.iter().copied()), "a window of {window}");
                let held = index.tables.places.len();
                assert!(held <= 3 * window + 300, "{held} documents are in the tables of a window of {window}");
                assert_eq!(index.len(), window as u64);
            }
        }
    }
}

fn simhash() -> Plan {
    let factory =
        |_: usize| Ok(crate::algorithm::PreparedAlgorithm::new(SimHash::new(64, 0, vec![1], Weights::Binary, Some(4))));
    Plan::new(&factory, Arc::new(Word)).unwrap()
}

/// The work of a decision does not depend on the number of documents that stay.
#[test]
fn a_decision_copies_few_documents() {
    let limits = Limits { window: Some(600), ..Limits::default() };
    let (mut index, mut copied, mut renewals) = (Index::in_memory(&minhash(), limits), None, 0);
    for (number, text) in texts(5_000).iter().enumerate() {
        decide(&mut index, &number.to_string(), text);
        let now = index.renewal.as_ref().map(|renewal| renewal.tables.places.len());
        if let Some(now) = now {
            assert!(now <= copied.unwrap_or(0) + 4, "{now} after {copied:?}");
        }
        renewals += u32::from(copied.is_some() && now.is_none());
        copied = now;
    }
    assert!(renewals > 2, "{renewals}");
}

#[test]
fn ages_are_those_of_a_list_however_often_the_tables_are_renewed() {
    let texts = texts(3_000);
    let limits = Limits { expire: Some(200), ..Limits::default() };
    let mut index = Index::in_memory(&minhash(), limits);
    let (mut known, mut renewals): (Vec<(&String, u64)>, _) = (Vec::new(), 0);
    let mut signer = index.signer();
    for (number, text) in texts.iter().enumerate() {
        // Sometimes nothing comes for a while.
        let now = (1_000 + number + number / 700 * 150) as u64;
        known.retain(|&(_, time)| time + 200 > now);
        let expected = known.iter().all(|(other, _)| *other != text);
        if expected {
            known.push((text, now));
        }
        let was_renewing = index.renewal.is_some();
        let decision = index.decide(&number.to_string(), &signer.sign(text), now).unwrap();
        renewals += u32::from(was_renewing && index.renewal.is_none());
        assert_eq!(decision.passes(), expected, "{number}");
        assert_eq!(index.len(), known.len() as u64);
    }
    assert!(renewals > 3, "{renewals}");
}

/// The program ends while new tables are built: the next one opens the old ones.
#[test]
fn an_interrupted_renewal_leaves_the_index_as_it_was() {
    let (plan, folder, texts) = (minhash(), tempfile::tempdir().unwrap(), texts(3_000));
    let limits = Limits { window: Some(300), ..Limits::default() };
    let options = options(limits, 1 << 14);
    let expected = plain(&texts, 300);
    let (path, mut at, mut interrupted) = (folder.path().join("index"), 0, 0);
    while at < texts.len() {
        let mut index = open(&path, &plan, &options);
        let mut some = 0;
        while at < texts.len() && (some < 50 || index.renewal.is_none()) {
            let decision = decide(&mut index, &at.to_string(), &texts[at]);
            assert_eq!(decision.passes(), expected[at], "{at}");
            (at, some) = (at + 1, some + 1);
        }
        interrupted += u32::from(index.renewal.is_some());
        index.commit().unwrap();
    }
    assert!(interrupted > 2, "{interrupted}");
}
