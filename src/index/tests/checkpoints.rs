//! Decisions do not depend on where the tables are. The oracle is an index whose tables are all in memory.

use super::super::checkpoint::Checkpoint;
use super::*;
use crate::error::ErrorKind;
use crate::hash::mix;
use crate::{MinHash, SimHash};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

/// Pages of a few templates with words of their own, of which some repeat, so that pages are below, at and above the
/// threshold.
pub fn pages(count: u64) -> Vec<String> {
    let page = |number: u64| {
        let chance = mix(number);
        let template = |at: u64| (chance % 3) << 32 | at;
        let (from, own) = (number - number.min(chance / 4 % 3 * (chance / 16 % 4)), 8 + chance / 64 % 12);
        let own = (0..own).map(|at| 1 << 40 | from << 8 | at);
        let words = (0..60).map(template).chain(own).map(|word| format!("w{}", mix(word) >> 20));
        words.collect::<Vec<_>>().join(" ")
    };
    (0..count).map(page).collect()
}

pub fn minhash() -> Plan {
    let minhash = MinHash::builder().threshold(0.8).shingle(1).build().unwrap();
    Plan::new(&minhash, Arc::new(Word)).unwrap().with_seed(Seed::Fixed(5)).unwrap()
}

pub fn simhash() -> Plan {
    let simhash = SimHash::builder().distance(6).grams([1]).build().unwrap();
    Plan::new(&simhash, Arc::new(Word)).unwrap()
}

pub fn options(limits: Limits, tables: u64) -> IndexOptions {
    IndexOptions { limits, tables, sync: Sync::Off, ..IndexOptions::default() }
}

/// An index in a file, with checkpoints after few documents.
pub fn open(path: &Path, plan: &Plan, options: &IndexOptions) -> Index {
    let mut index = Index::open(path, plan, options).unwrap().0;
    // Its tables are what is tested.
    index.bounds.ordered = index.bounds.ordered.map(super::look_up);
    index.tables.hot.from = 20;
    index.tables.checkpoint_after = (40, 1);
    index
}

pub fn decide_all(index: &mut Index, pages: &[String], first: usize) -> Vec<Decision> {
    let decide = |(number, page): (usize, &String)| {
        let decision = index.decide(&number.to_string(), &index.signer().sign(page), number as u64).unwrap();
        if number % 7 == 0 {
            index.commit().unwrap();
        }
        decision
    };
    (first..).zip(pages).map(decide).collect()
}

/// The documents that the checkpoint of an index has.
pub fn in_checkpoint(path: &Path) -> u32 {
    Checkpoint::of(path).read().map_or(0, |manifest| manifest.segments.last().map_or(0, |&(_, end, _)| end))
}

fn check_equal(found: &[Decision], expected: &[Decision]) -> Result<(), TestCaseError> {
    let mut pairs = (0..).zip(found.iter().zip(expected));
    prop_assert_eq!(pairs.find(|(_, (found, expected))| found != expected), None::<(usize, _)>);
    prop_assert_eq!(found.len(), expected.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Runs of any length, of which some do not end as they should, with tables in memory and on the disk.
    #[test]
    fn decisions_are_those_of_an_index_without_files(
        runs in prop::collection::vec((0usize..200, any::<bool>(), prop_oneof![Just(1u64 << 12), Just(1 << 18), Just(1 << 30)]), 1..8),
        window in prop::option::of(50u64..300),
        is_simhash: bool,
    ) {
        let (plan, folder) = (if is_simhash { simhash() } else { minhash() }, tempfile::tempdir().unwrap());
        let path = folder.path().join("index");
        let limits = Limits { window, ..Limits::default() };
        let mut oracle = Index::in_memory(&plan, limits);
        oracle.is_stored = true;
        let (all, mut at, mut found, mut expected) = (pages(1600), 0, Vec::new(), Vec::new());
        for (count, ends, tables) in runs {
            let mut index = open(&path, &plan, &options(limits, tables));
            let some = &all[at..at + count];
            found.extend(decide_all(&mut index, some, at));
            expected.extend(decide_all(&mut oracle, some, at));
            at += count;
            // As when the program is killed: what was committed is there. With a window, decisions are repeated then.
            if ends || window.is_some() {
                index.seal().unwrap();
                prop_assert_eq!(index.failed_checkpoint, None);
            } else {
                index.commit().unwrap();
            }
        }
        check_equal(&found, &expected)?;
        let mut index = open(&path, &plan, &IndexOptions { mode: Mode::Query, ..options(limits, 1 << 20) });
        oracle.mode = Mode::Query;
        let asked = &all[all.len() - 100..];
        check_equal(&decide_all(&mut index, asked, 1_500), &decide_all(&mut oracle, asked, 1_500))?;
    }
}

/// A sealed index of 300 pages.
fn sealed(path: &Path, plan: &Plan) -> Vec<String> {
    let pages = pages(400);
    let mut index = open(path, plan, &options(Limits::default(), 1 << 16));
    decide_all(&mut index, &pages[..200], 0);
    index.seal().unwrap();
    decide_all(&mut index, &pages[200..300], 200);
    index.seal().unwrap();
    pages
}

/// How an index that remembers 300 pages decides on 100 more.
fn expected(plan: &Plan, pages: &[String]) -> Vec<Decision> {
    let mut index = Index::in_memory(plan, Limits::default());
    decide_all(&mut index, &pages[..300], 0);
    index.mode = Mode::Query;
    decide_all(&mut index, &pages[300..], 300)
}

fn query() -> IndexOptions {
    IndexOptions { mode: Mode::Query, ..options(Limits::default(), 1 << 20) }
}

#[test]
fn an_index_opens_from_its_checkpoint_without_its_log() {
    for plan in [minhash(), simhash()] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let pages = sealed(&path, &plan);
        let index = open(&path, &plan, &query());
        assert_eq!(in_checkpoint(&path), index.tables.places.len() as u32);
        assert!(index.tables.disk.as_ref().unwrap().flushed() > 0 && index.tables.keys.runs().0 > 0);
        drop(index);
        // A copy of the two is another index with the same content.
        let copy = folder.path().join("copy");
        fs::copy(&path, &copy).unwrap();
        fs::create_dir(Checkpoint::of(&copy).folder()).unwrap();
        for file in fs::read_dir(Checkpoint::of(&path).folder()).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), Checkpoint::of(&copy).folder().join(file.file_name())).unwrap();
        }
        let mut index = open(&copy, &plan, &query());
        assert!(index.tables.disk.as_ref().unwrap().flushed() > 0);
        assert_eq!(decide_all(&mut index, &pages[300..], 300), expected(&plan, &pages));
    }
}

/// Whatever byte of the checkpoint has changed, and wherever one of its files was cut, decisions are the same.
#[test]
fn a_damaged_checkpoint_is_ignored_and_made_again() {
    for plan in [minhash(), simhash()] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let pages = sealed(&path, &plan);
        let expected = expected(&plan, &pages);
        let files: Vec<_> =
            fs::read_dir(Checkpoint::of(&path).folder()).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(files.len() >= 2);
        let mut restored = 0;
        for file in &files {
            let bytes = fs::read(file).unwrap();
            for change in 0..24 {
                let mut changed = bytes.clone();
                let at = mix(change) as usize % bytes.len();
                match change % 3 {
                    0 => changed.truncate(at),
                    _ => changed[at] ^= 1 << (change % 8),
                }
                fs::write(file, &changed).unwrap();
                let mut index = open(&path, &plan, &query());
                assert_eq!(decide_all(&mut index, &pages[300..], 300), expected, "{} at {at}", file.display());
                restored += u32::from(index.were_damaged);
                fs::write(file, &bytes).unwrap();
            }
        }
        assert!(restored > 0, "no page was found to be damaged while it was read");
        fs::write(&files[0], "?").unwrap();
        let mut index = open(&path, &plan, &options(Limits::default(), 1 << 20));
        decide_all(&mut index, &["another".into()], 1000);
        index.seal().unwrap();
        drop(index);
        let index = open(&path, &plan, &query());
        assert_eq!(in_checkpoint(&path), index.tables.places.len() as u32);
    }
}

/// Two logs of the same length, with the same last document.
#[test]
fn the_checkpoint_of_another_log_is_ignored() {
    let (plan, folder) = (simhash(), tempfile::tempdir().unwrap());
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    for (path, word) in [(&one, "first"), (&other, "other")] {
        let mut index = open(path, &plan, &options(Limits::default(), 1 << 20));
        decide_all(&mut index, &[format!("{word} of all"), "the last one is the same".into()], 0);
        index.seal().unwrap();
    }
    assert_eq!(fs::metadata(&one).unwrap().len(), fs::metadata(&other).unwrap().len());
    assert_eq!(in_checkpoint(&one), 2);
    fs::copy(&other, &one).unwrap();
    let mut index = open(&one, &plan, &query());
    assert_eq!(index.tables.disk.as_ref().unwrap().flushed(), 0);
    assert!(matches!(decide(&mut index, "x", "other of all"), Decision::Duplicate { .. }));
    assert_eq!(decide(&mut index, "y", "first of all"), Decision::Fresh);
}

#[test]
fn a_checkpoint_that_is_behind_is_used() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let pages = sealed(&path, &plan);
    let mut index = open(&path, &plan, &options(Limits::default(), 1 << 20));
    index.tables.checkpoint_after = (usize::MAX, usize::MAX);
    let behind = in_checkpoint(&path);
    decide_all(&mut index, &pages[300..], 300);
    // The index is open for writing all the time.
    index.commit().unwrap();
    let mut reader = open(&path, &plan, &query());
    assert!(in_checkpoint(&path) == behind && reader.tables.places.len() as u32 > behind);
    assert_eq!(reader.tables.disk.as_ref().unwrap().flushed(), behind);
    for (number, page) in pages[300..].iter().enumerate() {
        let decision = reader.decide("x", &reader.signer().sign(page), 0).unwrap();
        assert!(!decision.passes(), "{number}");
    }
}

#[test]
fn removed_documents_stay_removed() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let pages = sealed(&path, &plan);
    let kept = |index: &mut Index| decide(index, "x", &pages[0]).passes();
    assert!(!kept(&mut open(&path, &plan, &query())));
    // In the end of the log, then in the checkpoint.
    remove(&path, BTreeSet::from(["0".to_string()])).unwrap();
    let before = in_checkpoint(&path);
    let passes = kept(&mut open(&path, &plan, &query()));
    let mut index = open(&path, &plan, &options(Limits::default(), 1 << 20));
    decide(&mut index, "another", "a text like no other");
    index.seal().unwrap();
    drop(index);
    assert!(in_checkpoint(&path) > before);
    assert_eq!(kept(&mut open(&path, &plan, &query())), passes);
    // A new log has a new checkpoint.
    compact(&path, Outdated::default()).unwrap();
    assert!(!Checkpoint::of(&path).folder().exists());
    assert_eq!(kept(&mut open(&path, &plan, &query())), passes);
}

/// The tables of a smaller window do not have all documents of a larger one.
#[test]
fn what_a_window_dropped_is_there_without_it() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let pages: Vec<String> =
        (0..2_600).map(|number| format!("page {number} has words {} of its own", mix(number))).collect();
    let small = Limits { window: Some(100), ..Limits::default() };
    let mut index = open(&path, &plan, &options(small, 1 << 14));
    decide_all(&mut index, &pages, 0);
    assert!(index.tables.places.len() < 2_000, "the tables were not rebuilt");
    index.seal().unwrap();
    drop(index);
    assert!(in_checkpoint(&path) > 0);
    let flushed = |limits| {
        let mut index = open(&path, &plan, &IndexOptions { mode: Mode::Query, ..options(limits, 1 << 30) });
        (index.tables.disk.as_ref().unwrap().flushed() > 0, decide(&mut index, "x", &pages[10]).passes())
    };
    assert_eq!(flushed(small), (true, true));
    assert_eq!(flushed(Limits { window: Some(99), ..Limits::default() }), (true, true));
    assert_eq!(flushed(Limits::default()), (false, false));
}

#[cfg(unix)]
#[test]
fn nobody_reads_the_tables_who_may_not_read_the_index() {
    use std::os::unix::fs::PermissionsExt;
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    drop(open(&path, &plan, &options(Limits::default(), 1 << 20)));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    sealed(&path, &plan);
    let tables = Checkpoint::of(&path);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(tables.folder()), 0o750);
    let files: Vec<_> = fs::read_dir(tables.folder()).unwrap().map(|file| mode(&file.unwrap().path())).collect();
    assert!(files.len() >= 2 && files.iter().all(|&mode| mode == 0o640), "{files:?}");
}

/// Something else has the name of the folder.
#[test]
fn an_index_without_a_folder_for_its_tables_works() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    fs::write(Checkpoint::of(&path).folder(), "the notes of someone").unwrap();
    let pages = pages(300);
    let mut index = open(&path, &plan, &options(Limits::default(), 1 << 14));
    let found = decide_all(&mut index, &pages, 0);
    index.seal().unwrap();
    assert_eq!(found, decide_all(&mut Index::in_memory(&plan, Limits::default()), &pages, 0));
    assert!(index.tables.disk.as_ref().is_some_and(|disk| disk.flushed() > 0 && !disk.is_kept()));
    assert_eq!(fs::read_to_string(Checkpoint::of(&path).folder()).unwrap(), "the notes of someone");
}

/// A link leads to files of someone else, which may have the names of tables.
#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_folder_is_not_followed() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let (path, notes) = (folder.path().join("index"), folder.path().join("notes"));
    fs::create_dir(&notes).unwrap();
    for name in ["segment-0", "segment-7", "checkpoint"] {
        fs::write(notes.join(name), "of someone").unwrap();
    }
    std::os::unix::fs::symlink("notes", Checkpoint::of(&path).folder()).unwrap();
    let pages = pages(300);
    for round in 0..2 {
        let mut index = open(&path, &plan, &options(Limits::default(), 1 << 14));
        decide_all(&mut index, &pages, round);
        index.seal().unwrap();
    }
    Checkpoint::of(&path).remove();
    let names: BTreeSet<_> = fs::read_dir(&notes).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["checkpoint", "segment-0", "segment-7"].map(Into::into).into());
    assert!(names.iter().all(|name| fs::read_to_string(notes.join(name)).unwrap() == "of someone"));
}

/// Readers open the index while documents come and segments are merged.
#[test]
fn readers_open_an_index_that_is_written() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let (path, all) = (folder.path().join("index"), pages(1500));
    let writer = open(&path, &plan, &options(Limits::default(), 1 << 13));
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (all, is_done, mut writer) = (&all, &is_done, writer);
        scope.spawn(move || {
            for (number, page) in all.iter().enumerate() {
                writer.decide(&number.to_string(), &writer.signer().sign(page), 0).unwrap();
                writer.commit().unwrap();
            }
            writer.seal().unwrap();
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let mut opened = 0;
        while opened < 3 || !is_done.load(std::sync::atomic::Ordering::Relaxed) {
            let mut reader = open(&path, &plan, &query());
            for document in [0, reader.tables.places.len().saturating_sub(1)] {
                let Some(&place) = reader.tables.places.get(document) else { continue };
                let number: usize = reader.log.read(place).unwrap().id.parse().unwrap();
                assert!(!decide(&mut reader, "x", &all[number]).passes(), "{number}");
            }
            opened += 1;
        }
    });
}

/// What was to be written when the disk was full is in no checkpoint, and nothing is decided without it.
#[test]
fn a_flush_that_failed_ends_the_checkpoints() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let (path, all) = (folder.path().join("index"), pages(600));
    let mut index = open(&path, &plan, &options(Limits::default(), 1 << 30));
    decide_all(&mut index, &all[..100], 0);
    index.seal().unwrap();
    let before = in_checkpoint(&path);
    // The numbers of the next segments are taken.
    (0..1000).for_each(|number| drop(Checkpoint::of(&path).new_segment(number)));
    let decide = |(number, page): (usize, &String)| {
        index.decide(&number.to_string(), &index.signer().sign(page), 0).map(|decision| decision.passes())
    };
    let decided: Vec<_> = (100..).zip(&all[100..]).map(decide).collect();
    let failed = decided.iter().position(Result::is_err).expect("a segment could not be made");
    assert!(decided[failed..].iter().all(|decided| !matches!(decided, Ok(true))), "a document passed after that");
    index.seal().unwrap();
    assert_eq!(in_checkpoint(&path), before);
    drop(index);
    let mut reader = open(&path, &plan, &query());
    for (number, decided) in decided[..failed].iter().enumerate() {
        let is_remembered = !super::decide(&mut reader, "x", &all[100 + number]).passes();
        assert!(is_remembered, "{number} {decided:?}");
    }
}

/// A document that was removed does not come back when the window that it left is gone.
#[test]
fn removed_documents_that_left_the_window_stay_removed() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let pages: Vec<String> =
        (0..300).map(|number| format!("page {number} has words {} of its own", mix(number))).collect();
    let window = Limits { window: Some(100), ..Limits::default() };
    let add = |limits, range: std::ops::Range<usize>| {
        let mut index = open(&path, &plan, &options(limits, 1 << 20));
        decide_all(&mut index, &pages[range.clone()], range.start);
        index.seal().unwrap();
    };
    add(Limits::default(), 0..50);
    remove(&path, BTreeSet::from(["5".to_string()])).unwrap();
    add(window, 50..300);
    assert_eq!(in_checkpoint(&path), 300);
    let mut index = open(&path, &plan, &query());
    assert!(decide(&mut index, "x", &pages[5]).passes() && !decide(&mut index, "x", &pages[6]).passes());
    // Nor does it count for the window when others are removed.
    remove(&path, (240..300).map(|number| number.to_string()).collect()).unwrap();
    let remembered = || {
        let mut index = open(&path, &plan, &IndexOptions { mode: Mode::Query, ..options(window, 1 << 20) });
        (0..300).filter(|&number| !decide(&mut index, "x", &pages[number]).passes()).collect::<Vec<_>>()
    };
    let with_checkpoint = remembered();
    assert_eq!(with_checkpoint, (140..240).collect::<Vec<_>>());
    Checkpoint::of(&path).remove();
    assert_eq!(remembered(), with_checkpoint);
}

/// The decisions of a run that was killed are repeated although the documents that they name have left the tables.
#[test]
fn decisions_are_repeated_from_a_checkpoint_of_a_window() {
    // Fed again from far back.
    repeats_from_a_checkpoint(6_000, 300);
}

/// Tables of a small window are renewed before they have as many documents as a checkpoint is made for.
#[test]
fn a_run_with_a_small_window_makes_checkpoints_before_its_end() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let window = Limits { window: Some(50), ..Limits::default() };
    let pages: Vec<String> =
        (0..3_000).map(|number| format!("page {number} has words {} of its own", mix(number))).collect();
    let mut index = open(&path, &plan, &options(window, 1 << 30));
    index.tables.checkpoint_after = (400, 400);
    for (number, pages) in pages.chunks(100).enumerate() {
        decide_all(&mut index, pages, 100 * number);
        index.commit().unwrap();
        // Waits for what was begun, and begins nothing.
        index.with_tables(|tables, state| tables.end_last_checkpoint(state)).unwrap();
    }
    drop(index);
    let mark = Checkpoint::of(&path).read().expect("none was made").mark;
    let length = path.metadata().unwrap().len();
    assert!(2 * mark.end > length, "it ends at {} of {length} bytes", mark.end);
    let index = open(&path, &plan, &options(window, 1 << 30));
    assert_eq!((index.was_interrupted(), index.len()), (true, 50));
}

/// Few documents pass, and each of the others is noted: opening the index would read all of that.
#[test]
fn a_stream_of_almost_only_duplicates_makes_checkpoints() {
    for ends in [true, false] {
        let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
        let path = folder.path().join("index");
        let options = options(Limits { window: Some(50), ..Limits::default() }, 1 << 30);
        let page = |number: u64| format!("page {number} has words {} of its own", mix(number));
        let mut index = open(&path, &plan, &options);
        index.tables.checkpoint_after = (usize::MAX, usize::MAX);
        index.tables.checkpoint_after_notes = 100;
        for number in 0..1_000 {
            // Every 200th is a new one.
            let decision = decide(&mut index, &number.to_string(), &page(number / 200));
            assert_eq!(decision.passes(), number % 200 == 0, "{number}");
            if number % 50 == 0 {
                index.commit().unwrap();
                // Waits for what was begun, and begins nothing.
                index.with_tables(|tables, state| tables.end_last_checkpoint(state)).unwrap();
            }
        }
        match ends {
            true => index.seal().unwrap(),
            false => index.commit().unwrap(),
        }
        drop(index);
        // The last of them comes when the documents before it are in a checkpoint, or the run ends.
        assert_eq!(in_checkpoint(&path), if ends { 5 } else { 4 });
        let index = open(&path, &plan, &options);
        assert_eq!((index.was_interrupted(), index.len()), (!ends, 5));
    }
}

/// A checkpoint names the last decisions that may be repeated, so that opening does not read those of months.
#[test]
fn an_interrupted_window_is_not_read_from_its_beginning() {
    let (length, begin) = repeats_from_a_checkpoint(24_000, 24_000 - repeat::DECISIONS_KEPT);
    assert!(begin > length / 20, "{begin} of {length} bytes");
}

/// Feeds documents to an index with a small window that is killed, and again from a document on. Returns the length of the log, and
/// where the decisions begin that its checkpoint names.
fn repeats_from_a_checkpoint(count: u64, from: usize) -> (u64, u64) {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let window = Limits { window: Some(50), ..Limits::default() };
    let text = |number: u64| format!("page {number} has words {} of its own", mix(number));
    // Every third document repeats the one before it.
    let pages: Vec<String> = (0..count).map(|number| text(number - u64::from(number % 3 == 2))).collect();
    let mut index = open(&path, &plan, &options(window, 1 << 14));
    let found = decide_all(&mut index, &pages, 0);
    index.commit().unwrap();
    assert!(index.tables.dropped.window.is_some(), "the tables were not rebuilt");
    // A checkpoint of a run that is not at its end; then the program is killed.
    index.with_tables(Tables::begin_last_checkpoint).unwrap();
    index.commit().unwrap();
    index.with_tables(|tables, state| tables.end_last_checkpoint(state)).unwrap();
    let length = index.log.len();
    drop(index);
    let begin = Checkpoint::of(&path).read().unwrap().notes.unwrap().place;
    assert!(in_checkpoint(&path) > 0);
    let mut index = open(&path, &plan, &options(window, 1 << 14));
    assert!(index.was_interrupted() && index.tables.disk.as_ref().unwrap().flushed() > 0);
    // What was dropped is dropped, and what passed passes.
    let again = decide_all(&mut index, &pages[from..], from);
    let passes = |decisions: &[Decision]| decisions.iter().map(Decision::passes).collect::<Vec<_>>();
    assert_eq!(passes(&again), passes(&found[from..]));
    (length, begin)
}

#[cfg(unix)]
#[test]
fn links_and_pipes_in_the_folder_are_not_followed() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let mine = folder.path().join("mine");
    fs::write(&mine, "mine").unwrap();
    let tables = Checkpoint::of(&path);
    fs::create_dir(tables.folder()).unwrap();
    std::os::unix::fs::symlink(&mine, tables.folder().join("checkpoint")).unwrap();
    fs::create_dir(tables.folder().join("segment-3")).unwrap();
    fs::write(tables.folder().join(format!("segment-{}", u64::MAX)), "").unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(tables.folder().join("segment-1")).status();
    assert!(pipe.is_ok_and(|status| status.success()));
    sealed(&path, &plan);
    assert!(in_checkpoint(&path) > 0);
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
}

/// The tables of a window lack what is in it after a removal, also of one that was made under another name.
#[test]
fn a_removal_without_the_tables_brings_documents_back_into_the_window() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let (path, other) = (folder.path().join("index"), folder.path().join("other"));
    let window = Limits { window: Some(100), ..Limits::default() };
    let pages: Vec<String> =
        (0..4_000).map(|number| format!("page {number} has words {} of its own", mix(number))).collect();
    let mut index = open(&path, &plan, &options(window, 1 << 14));
    decide_all(&mut index, &pages, 0);
    assert!(index.tables.dropped.window.is_some(), "the tables were not rebuilt");
    index.seal().unwrap();
    drop(index);
    assert!(in_checkpoint(&path) > 0);
    fs::rename(&path, &other).unwrap();
    remove(&other, (3_950..4_000).map(|number| number.to_string()).collect()).unwrap();
    fs::rename(&other, &path).unwrap();
    for mode in [Mode::Query, Mode::Filter] {
        let mut index = open(&path, &plan, &IndexOptions { mode, ..options(window, 1 << 14) });
        let mut is_remembered = |number: usize| !decide(&mut index, &format!("x{number}"), &pages[number]).passes();
        if mode == Mode::Filter {
            assert!(is_remembered(3_850));
        } else {
            assert!((3_800..4_000).filter(|&number| is_remembered(number)).eq(3_850..3_950));
        }
    }
}

/// A segment with the same number and as many documents is not taken for another.
#[test]
fn the_segment_of_another_index_is_not_read() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let all = pages(200);
    for (path, pages) in [(&a, &all[..100]), (&b, &all[100..])] {
        let mut index = open(path, &plan, &options(Limits::default(), 1 << 20));
        decide_all(&mut index, pages, 0);
        index.seal().unwrap();
    }
    let segment = |path: &Path| {
        let (number, ..) = Checkpoint::of(path).read().unwrap().segments[0];
        Checkpoint::of(path).segment(number)
    };
    fs::copy(segment(&a), segment(&b)).unwrap();
    let mut index = open(&b, &plan, &query());
    let remembered = |index: &mut Index, page: &String| !decide(index, "x", page).passes();
    assert!(all[100..].iter().all(|page| remembered(&mut index, page)));
}

/// A checkpoint that cannot be saved does not end the run.
#[test]
fn without_a_checkpoint_the_run_goes_on() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let (path, all) = (folder.path().join("index"), pages(600));
    fs::create_dir_all(Checkpoint::of(&path).folder().join("checkpoint")).unwrap();
    let mut index = open(&path, &plan, &options(Limits::default(), 1 << 14));
    decide_all(&mut index, &all, 0);
    index.seal().unwrap();
    let warnings = index.warnings();
    assert!(warnings.iter().any(|warning| warning.contains("no new checkpoint")), "{warnings:?}");
    drop(index);
    let mut index = open(&path, &plan, &query());
    assert!(all.iter().all(|page| !decide(&mut index, "x", page).passes()));
}

/// An index that was deleted or emptied remembered something, and a new one would pass everything again.
#[test]
fn an_index_whose_checkpoint_is_left_does_not_begin_anew() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), minhash());
    let path = folder.path().join("index");
    sealed(&path, &plan);
    let whole = fs::read(&path).unwrap();
    let options = options(Limits::default(), 1 << 16);
    let count = open(&path, &plan, &options).len();
    let refusal = |options: &IndexOptions| {
        let error = Index::open(&path, &plan, options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IndexMissing, "{error}");
        error.to_string()
    };
    fs::remove_file(&path).unwrap();
    assert!(refusal(&options).contains("does not exist, but") && !path.exists());
    fs::write(&path, "").unwrap();
    assert!(refusal(&options).contains("is empty or") && path.metadata().unwrap().len() == 0);
    fs::write(&path, &whole[..30]).unwrap();
    assert!(refusal(&options).contains("its beginning is missing, but") && fs::read(&path).unwrap() == whole[..30]);
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("index", &link).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(Index::open(&link, &plan, &options).unwrap_err().kind(), ErrorKind::IndexMissing);
    }
    fs::write(&path, whole).unwrap();
    assert_eq!(open(&path, &plan, &options).len(), count);
    // Without a checkpoint nothing shows that there was one. It is created unless that is refused.
    fs::remove_file(&path).unwrap();
    Checkpoint::of(&path).remove();
    assert!(refusal(&IndexOptions { creates: false, ..options.clone() }).contains("require-index") && !path.exists());
    fs::write(&path, "dedup in").unwrap();
    assert!(refusal(&IndexOptions { creates: false, ..options.clone() }).contains("its beginning is missing"));
    assert_eq!(open(&path, &plan, &options).len(), 0);
    assert_eq!(open(&path, &plan, &IndexOptions { creates: false, ..options }).len(), 0);
}

/// A file without its end looks as after an interrupted write. The checkpoint shows that more was there.
#[test]
fn lost_bytes_that_a_checkpoint_covers_are_damage() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), minhash());
    let path = folder.path().join("index");
    let options = options(Limits::default(), 1 << 30);
    let mut index = open(&path, &plan, &options);
    decide_all(&mut index, &pages(300), 0);
    index.seal().unwrap();
    drop(index);
    let (whole, covered) = (fs::read(&path).unwrap(), Checkpoint::of(&path).read().unwrap().mark.end as usize);
    let result = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let torn = crate::index::inspect(&path).map(|summary| summary.torn.is_some());
        let opened = Index::open(&path, &plan, &super::IndexOptions { mode: Mode::Query, ..options.clone() });
        assert_eq!(torn.is_ok(), opened.is_ok());
        torn
    };
    assert!(matches!(result(&whole), Ok(false)));
    for at in [covered / 3, covered / 2, covered - 100] {
        let without = [&whole[..at], &whole[at + 40..]].concat();
        let error = result(&without).unwrap_err().to_string();
        assert!(error.contains("damaged at byte") && error.contains("because 40 bytes were lost"), "{error}");
        // Without its end, nothing shows it but the checkpoint.
        let error = result(&whole[..at]).unwrap_err().to_string();
        assert!(error.contains("damaged at byte") && error.contains(&format!("whole up to byte {covered}")), "{error}");
    }
    // A writer leaves it as it is.
    fs::write(&path, &whole[..covered - 100]).unwrap();
    assert!(Index::open(&path, &plan, &options).is_err());
    assert!(fs::read(&path).unwrap() == whole[..covered - 100]);
    // An older copy, once the folder that the message names is deleted.
    let checkpoint = Checkpoint::of(&path);
    fs::rename(checkpoint.folder(), folder.path().join("aside")).unwrap();
    assert!(matches!(result(&whole[..covered / 2]), Ok(true)));
    // A writer that finds the checkpoint of a longer index removes it, so that a torn end is one later.
    Index::open(&path, &plan, &options).unwrap().0.seal().unwrap();
    let start = fs::metadata(&path).unwrap().len();
    _ = fs::remove_dir_all(checkpoint.folder());
    fs::rename(folder.path().join("aside"), checkpoint.folder()).unwrap();
    let mut index = open(&path, &plan, &options);
    decide_all(&mut index, &pages(330)[300..], 300);
    index.commit().unwrap();
    drop(index);
    let length = fs::metadata(&path).unwrap().len();
    assert!(length > start && length < covered as u64);
    File::options().write(true).open(&path).unwrap().set_len(length - 3).unwrap();
    assert!(crate::index::inspect(&path).unwrap().torn.is_some());
}

#[test]
fn salvaging_counts_what_a_checkpoint_shows_to_be_missing() {
    let (folder, plan) = (tempfile::tempdir().unwrap(), minhash());
    let path = folder.path().join("index");
    let options = options(Limits::default(), 1 << 30);
    let mut index = open(&path, &plan, &options);
    decide_all(&mut index, &pages(300), 0);
    index.seal().unwrap();
    drop(index);
    let (whole, covered) = (fs::read(&path).unwrap(), Checkpoint::of(&path).read().unwrap().mark.end as usize);
    let cut = &whole[..covered - 100];
    fs::write(&path, cut).unwrap();
    let outdated = crate::index::Outdated { damaged: true, ..Default::default() };
    let found = crate::index::compact(&path, outdated).unwrap();
    assert_eq!((found.damaged, found.missing, found.missing_at_end), (0, 0, 100));
    assert!(fs::read(found.kept.unwrap()).unwrap() == cut);
}
