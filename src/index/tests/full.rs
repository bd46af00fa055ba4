//! An index that is full is full for what was read, and not for what is under way.

use super::super::disk::Disk;
use super::*;
use std::thread;
use std::time::Duration;

const MOST: u64 = 256 << 10;

fn plan() -> Plan {
    let minhash = crate::MinHash::builder().threshold(0.8).shingle(1).build().unwrap();
    Plan::new(&minhash, Arc::new(Word)).unwrap().with_seed(Seed::Fixed(5)).unwrap()
}

/// Every third is a page of one template, so that keys become hot.
fn text(number: u64) -> String {
    let word = |at: u64| crate::hash::mix(if number.is_multiple_of(3) && at < 9 { at } else { number << 8 | at }) >> 40;
    (0..12).map(|at| format!("w{} ", word(at))).collect()
}

/// How a run goes: when it writes the log, and when it waits for what is written beside it.
#[derive(Clone, Copy, Debug)]
struct Pauses {
    commit: u64,
    sleep: u64,
}

/// The number of documents that are remembered when it is full.
fn filled(path: &Path, options: &IndexOptions, pauses: Pauses, until: u64) -> u64 {
    let plan = plan();
    let mut index = Index::open(path, &plan, options).unwrap().0;
    let mut signer = index.signer();
    for number in index.tables.places.len() as u64..until {
        if let Err(error) = index.decide(&number.to_string(), &signer.sign(&text(number)), number) {
            assert!(matches!(error, Error::Full(_)), "{error}");
            break;
        }
        if number % pauses.commit == 0 {
            index.commit().unwrap();
        }
        if number % pauses.sleep == 0 {
            thread::sleep(Duration::from_millis(2));
        }
        let held = index.bytes_held() - index.log.bytes_held();
        // A table in memory has at least a few kilobytes, and so has a run in a file.
        assert!(held <= MOST + MOST / 8, "{held} bytes with {} documents", index.len());
    }
    index.interrupt().unwrap();
    index.len()
}

#[test]
fn it_is_full_at_the_same_document_whatever_is_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { memory: Some(MOST), ..Limits::default() };
    let options = IndexOptions { sync: Sync::Off, ..IndexOptions::within(limits) };
    let never = u64::MAX;
    let ways = [(1, never), (1000, 20)];
    let counts = ways.map(|(commit, sleep)| {
        let path = folder.path().join(format!("{commit}-{sleep}"));
        filled(&path, &options, Pauses { commit, sleep }, never)
    });
    assert_eq!(counts[0], counts[1]);
    // An eighth is left for what is written.
    let a_document = MOST / 8 * 7 / counts[0];
    assert!((20..70).contains(&a_document), "{a_document} bytes a document");
    // Also in several runs, each of which opens what the last one wrote.
    let path = folder.path().join("several");
    let run = |until| filled(&path, &options, Pauses { commit: 50, sleep: 300 }, until);
    assert_eq!([run(counts[0] / 2), run(never)], [counts[0] / 2, counts[0]]);
    // A window of a quarter of them goes on.
    let window = counts[0] / 4;
    let windowed = IndexOptions { limits: Limits { window: Some(window), ..limits }, ..options.clone() };
    let count = filled(&folder.path().join("window"), &windowed, Pauses { commit: 9, sleep: 90 }, 2 * counts[0]);
    assert_eq!(count, window);
}

/// Otherwise decisions wait for the whole flush.
#[test]
fn a_flush_leaves_memory_for_what_comes_meanwhile() {
    const TABLES: u64 = 1 << 20;
    /// Flushes begin at three quarters; a sixteenth more is for the state, and the next document.
    const MOST: u64 = TABLES / 16 * 13;
    let simhash = crate::SimHash::builder().distance(6).grams([1]).build().unwrap();
    for plan in [plan(), Plan::new(&simhash, Arc::new(Word)).unwrap()] {
        let folder = tempfile::tempdir().unwrap();
        let options = IndexOptions { sync: Sync::Off, tables: TABLES, mode: Mode::Add, ..IndexOptions::default() };
        let mut index = Index::open(&folder.path().join("index"), &plan, &options).unwrap().0;
        let (mut signer, mut flushes) = (index.signer(), 0);
        for number in 0..20_000 {
            let was_flushing = index.tables.disk.as_ref().is_some_and(Disk::is_flushing);
            index.decide(&number.to_string(), &signer.sign(&text(number)), 0).unwrap();
            if !was_flushing && index.tables.disk.as_ref().is_some_and(Disk::is_flushing) {
                let held = index.tables.bytes_of_tables();
                assert!(held <= MOST, "{held} bytes with {number} documents");
                flushes += 1;
                while !index.tables.disk.as_ref().is_some_and(Disk::has_flushed) {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
        assert!(flushes > 2, "{flushes}");
    }
}
