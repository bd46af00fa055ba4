//! What is read of an index as a whole: also if it is damaged while it is read.

use super::checkpoints::{minhash, open, options};
use super::*;
use crate::error::ErrorKind;
use std::fs;

/// Runs that forget one thing or another, with checkpoints, removals and a compaction between them, against a list.
#[test]
fn what_a_run_forgets_and_remembers_is_that_of_a_list() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let limits = |window, expire| Limits { window, expire, ..Limits::default() };
    let runs = [
        limits(None, None),
        limits(Some(70), None),
        limits(Some(70), None),
        limits(None, Some(90)),
        limits(Some(50), Some(45)),
        limits(None, None),
        limits(Some(1 << 40), Some(1 << 50)),
    ];
    // The documents that were not removed, each with its time.
    let (mut list, mut next, mut last): (Vec<(String, u64)>, u64, _) = (Vec::new(), 1, Forgetting::default());
    for (round, limits) in runs.iter().cycle().take(2 * runs.len()).enumerate() {
        let mut index = open(&path, &plan, &options(*limits, 1 << 20));
        assert_eq!(index.last_forgetting(), last, "{round}");
        let mut signer = index.signer();
        for _ in 0..[60, 20, 90][round % 3] {
            let (id, text) = (
                format!("d{next}"),
                format!("page {next} has words {} of its own", next.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            );
            if index.decide(&id, &signer.sign(&text), next).unwrap().passes() {
                list.push((id, next));
            }
            next += 1;
        }
        if round % 3 == 1 { index.interrupt() } else { index.seal() }.unwrap();
        drop(index);
        last = Forgetting::from(limits);
        if round % 2 == 0 {
            let gone = [list.len() - 3, list.len() / 2, 0].map(|at| list.remove(at).0);
            assert_eq!(remove(&path, gone.into()).unwrap().documents, 3);
        }
        if round == 9 {
            compact(&path, Outdated { window: Some(200), ..Outdated::default() }).unwrap();
            list.drain(..list.len() - 200);
        }
        assert_eq!(inspect(&path).unwrap().forgetting, last, "{round}");
        // Without a new document the index says the same.
        open(&path, &plan, &options(*limits, 1 << 20)).seal().unwrap();
        for limits in runs {
            let Forgetting { window, expire } = Forgetting::from(&limits);
            for now in [0, next, next + 30] {
                let in_window = list.len().saturating_sub(window.unwrap_or(u64::MAX) as usize);
                let times = list[in_window..].iter().map(|&(_, time)| time);
                let times: Vec<u64> = times.filter(|time| expire.is_none_or(|expire| time + expire > now)).collect();
                let expected = (times.len() as u64, times.iter().min().copied());
                assert_eq!(remembered(&path, (&limits).into(), now).unwrap(), expected, "{round}: {limits:?}");
                let query = IndexOptions { mode: Mode::Query, ..options(limits, 1 << 20) };
                let mut index = open(&path, &plan, &query);
                index.forget(now).unwrap();
                assert_eq!((index.len(), index.last_forgetting()), (expected.0, last), "{round}: {limits:?}");
            }
        }
    }
    assert!(super::checkpoints::in_checkpoint(&path) > 100);
}

/// The counts so far are not those of the index.
#[test]
fn the_summary_of_documents_that_failed_is_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (mut index, _) = Index::open(&path, &plan(), &IndexOptions::default()).unwrap();
    for number in 0..3_000 {
        decide(&mut index, &format!("d{number}"), &format!("word{number}"));
    }
    index.seal().unwrap();
    let whole = fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8].fill(0x55);
    let open_and_damage = || {
        fs::write(&path, &whole).unwrap();
        let documents = documents(&path).unwrap();
        fs::write(&path, &bytes).unwrap();
        documents
    };
    let expected = open_and_damage().summary().unwrap_err();
    assert_eq!(expected.kind(), ErrorKind::IndexDamaged);
    let mut documents = open_and_damage();
    let read: Vec<_> = documents.by_ref().collect();
    assert!(read.len() > 100 && read.len() < 3_000, "{}", read.len());
    assert_eq!(read.last().unwrap().as_ref().unwrap_err().to_string(), expected.to_string());
    assert!(documents.next().is_none());
    let summary = documents.summary().unwrap_err();
    assert_eq!((summary.kind(), summary.to_string()), (expected.kind(), expected.to_string()));
}
