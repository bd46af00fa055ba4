//! What a call remembers is there as a whole or not at all, wherever it was interrupted.

use super::*;
use std::fs;
use std::ops::Range;

fn open(path: &Path) -> (Index, Option<Repair>) {
    Index::open(path, &plan().with_seed(Seed::Fixed(1)).unwrap(), &IndexOptions::default()).unwrap()
}

fn begin(index: &mut Index) {
    index.begin_transaction(tempfile::tempfile).unwrap();
}

/// Decides on documents with these numbers, which all pass.
fn pass(index: &mut Index, numbers: Range<usize>) {
    for number in numbers {
        let decision = decide(index, &format!("d{number}"), &format!("word{number}"));
        assert_eq!(decision, Decision::Fresh, "{number}");
    }
}

fn call(path: &Path, numbers: Range<usize>) {
    let mut index = open(path).0;
    begin(&mut index);
    pass(&mut index, numbers);
    index.end_transaction().unwrap();
}

/// The number of documents that a reader finds, and whether something was left out at the end.
fn read(path: &Path) -> Result<(usize, bool), Error> {
    let mut documents = documents(path)?;
    let mut count = 0;
    for document in documents.by_ref() {
        assert_eq!(document?.id, format!("d{count}"));
        count += 1;
    }
    Ok((count, documents.summary().unwrap().torn.is_some()))
}

/// An index of three documents before a call that adds nine, and after it.
fn before_and_after(path: &Path) -> (Vec<u8>, Vec<u8>) {
    let mut index = open(path).0;
    pass(&mut index, 0..3);
    index.seal().unwrap();
    drop(index);
    let before = fs::read(path).unwrap();
    call(path, 3..12);
    let after = fs::read(path).unwrap();
    assert!(after.starts_with(&before) && read(path).unwrap() == (12, false));
    // Only the log is looked at.
    fs::remove_dir_all(tables_folder(path)).unwrap_or_default();
    (before, after)
}

/// Where the mark begins that ends the first call after a place.
fn end_of(bytes: &[u8], place: usize) -> usize {
    assert_eq!((bytes[place], bytes[place + 8]), (9, entry::CALL));
    u64::from_le_bytes(bytes[place + 9..place + 17].try_into().unwrap()) as usize
}

#[test]
fn a_call_that_was_interrupted_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (before, after) = before_and_after(&path);
    let end = end_of(&after, before.len());
    for length in before.len()..after.len() {
        fs::write(&path, &after[..length]).unwrap();
        let expected = if length < end + 17 { 3 } else { 12 };
        assert_eq!(read(&path).unwrap().0, expected, "{length} of {}", after.len());
    }
    // A power failure leaves parts of what was written last, in any order.
    for lost in (before.len()..end + 17).step_by(7) {
        for length in [7, 64, 512] {
            let mut bytes = after[..end + 17].to_vec();
            let until = bytes.len().min(lost + length);
            bytes[lost..until].fill(0);
            // Once the mark is there, all is.
            if lost + length > end {
                bytes[end..].fill(0);
                fs::write(&path, bytes).unwrap();
                assert_eq!(read(&path).unwrap(), (3, true), "{length} from {lost}");
            }
        }
    }
}

#[test]
fn an_index_goes_on_after_a_call_that_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (before, after) = before_and_after(&path);
    let end = end_of(&after, before.len());
    for length in [before.len() + 1, before.len() + 25, end - 1, end, end + 16] {
        fs::write(&path, &after[..length]).unwrap();
        let (index, repair) = open(&path);
        let left = length - before.len();
        // The frame that says so may be torn itself.
        let is_addition = left >= 25;
        assert_eq!(repair, Some(Repair { at: before.len() as u64, bytes: left as u64, is_addition }));
        assert_eq!(index.len(), 3);
        drop(index);
        call(&path, 3..5);
        call(&path, 5..9);
        assert_eq!(read(&path).unwrap(), (9, false));
        let (mut index, repair) = open(&path);
        assert_eq!(repair, None);
        assert!(matches!(decide(&mut index, "again", "word8"), Decision::Duplicate { .. }));
        drop(index);
        fs::remove_dir_all(tables_folder(&path)).unwrap_or_default();
    }
}

#[test]
fn damage_in_a_call_that_was_complete_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (before, _) = before_and_after(&path);
    call(&path, 12..15);
    let whole = fs::read(&path).unwrap();
    let end = end_of(&whole, before.len());
    // The second call ends with a mark too.
    for at in (before.len()..end + 17).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("damaged at byte"), "{at}: {error}");
    }
}

#[test]
fn bytes_that_a_complete_call_lost_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (before, after) = before_and_after(&path);
    let end = end_of(&after, before.len());
    for at in (before.len() + 25..end - 30).step_by(11) {
        let without = [&after[..at], &after[at + 30..]].concat();
        fs::write(&path, &without).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("because 30 bytes were lost"), "{at}: {error}");
        let compacted = compact(&path, Outdated { damaged: true, ..Outdated::default() }).unwrap();
        assert!((10..12).contains(&compacted.documents) && compacted.torn.is_none(), "{at}: {compacted:?}");
    }
}

#[test]
fn a_call_without_documents_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (_, after) = before_and_after(&path);
    fs::write(&path, &after).unwrap();
    for _ in 0..2 {
        let mut index = open(&path).0;
        begin(&mut index);
        assert!(matches!(decide(&mut index, "again", "word8"), Decision::Duplicate { .. }));
        index.end_transaction().unwrap();
        begin(&mut index);
        index.end_transaction().unwrap();
        assert!(fs::read(&path).unwrap() == after);
    }
    let mut index = open(&path).0;
    begin(&mut index);
    index.end_transaction().unwrap();
    pass(&mut index, 12..13);
    index.seal().unwrap();
    assert_eq!(read(&path).unwrap(), (13, false));
}

#[test]
fn many_calls_without_their_marks_are_read_in_linear_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    drop(open(&path));
    // Crafted: none of them ends where it says.
    let mut bytes = fs::read(&path).unwrap();
    let mut frame = |record: &[u8]| {
        let place = bytes.len() as u64;
        bytes.extend(frame::frame_head(record.len() as u32, place));
        bytes.extend_from_slice(record);
        bytes.extend(xxhash_rust::xxh3::xxh3_64_with_seed(record, place).to_le_bytes());
    };
    let call = [&[entry::CALL][..], &(1u64 << 40).to_le_bytes()].concat();
    for _ in 0..200_000 {
        frame(&call);
    }
    frame(&[entry::SYNCED]);
    fs::write(&path, bytes).unwrap();
    let start = Instant::now();
    assert_eq!(read(&path).unwrap(), (0, false));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_call_can_be_rolled_back_again_if_that_failed() {
    let mut index = Index::in_memory(&plan(), Limits::default());
    pass(&mut index, 0..5);
    begin(&mut index);
    pass(&mut index, 5..8);
    // The kind of the first record.
    let kind = std::mem::replace(&mut index.log.held()[8], 99);
    for _ in 0..2 {
        index.roll_back().unwrap_err();
        assert!(index.is_in_transaction());
    }
    index.log.held()[8] = kind;
    index.roll_back().unwrap();
    assert!(!index.is_in_transaction());
    assert_eq!(index.len(), 5);
    pass(&mut index, 5..8);
    assert!(matches!(decide(&mut index, "again", "word2"), Decision::Duplicate { .. }));
}

/// What a run forgets is noted with the first call that passes documents, as a whole or not at all.
#[test]
fn what_is_forgotten_is_noted_by_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let plan = plan().with_seed(Seed::Fixed(1)).unwrap();
    let limits = |window| Limits { window, ..Limits::default() };
    let open = |window| {
        let options = IndexOptions { limits: limits(window), ..IndexOptions::default() };
        Index::open(&path, &plan, &options).unwrap().0
    };
    let noted = || inspect(&path).ok().and_then(|summary| summary.forgetting.window);
    for (window, numbers, ends) in [
        (Some(5), 0..9, true),
        (None, 9..12, false),
        (Some(5), 9..10, true),
        (None, 10..12, true),
        (Some(6), 12..13, true),
    ] {
        let before = noted();
        let mut index = open(window);
        assert_eq!(index.last_forgetting().window, before);
        begin(&mut index);
        pass(&mut index, numbers);
        if ends {
            index.end_transaction().unwrap();
        }
        drop(index);
        assert_eq!(noted(), if ends { window } else { before });
    }
    assert_eq!(read(&path).unwrap(), (13, false));
}
