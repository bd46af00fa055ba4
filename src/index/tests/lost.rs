//! Bytes that are lost or inserted in the middle of an index that has no checkpoint.

use super::entry::Entry;
use super::stored::Stored;
use super::*;
use std::fs;
use std::ops::Range;

fn open(path: &Path) -> Result<(Index, Option<Repair>), Error> {
    Index::open(path, &plan().with_seed(Seed::Fixed(1)).unwrap(), &IndexOptions::default())
}

/// Runs that each remember ten documents, and then one that forgets the first document. Returns the bytes, and where each run ends.
fn runs(path: &Path, count: usize) -> (Vec<u8>, Vec<usize>) {
    let mut ends = Vec::new();
    for run in 0..count {
        let mut index = open(path).unwrap().0;
        for number in 10 * run..10 * run + 10 {
            assert_eq!(decide(&mut index, &format!("d{number}"), &format!("word{number}")), Decision::Fresh);
        }
        index.seal().unwrap();
        drop(index);
        ends.push(fs::metadata(path).unwrap().len() as usize);
    }
    remove(path, ["d0".to_string()].into()).unwrap();
    (fs::read(path).unwrap(), ends)
}

fn ids(path: &Path) -> Result<Vec<String>, Error> {
    documents(path)?.map(|document| document.map(|document| document.id)).collect()
}

/// The frames of a whole file.
fn frames(path: &Path) -> Vec<Range<usize>> {
    let mut stored = Stored::open(path).unwrap();
    let (mut place, mut frames) = (stored.start().at, Vec::new());
    while let Some((record, _)) = stored.frame_at(place, u64::MAX).unwrap() {
        let end = place + frame::FRAME_OVERHEAD + record.len() as u64;
        frames.push(place as usize..end as usize);
        place = end;
    }
    assert_eq!(place, stored.length);
    frames
}

/// What salvaging keeps of a whole file, if these bytes of it are damaged.
fn whole_ones(path: &Path, bytes: &[u8], frames: &[Range<usize>], damaged: &Range<usize>) -> Vec<String> {
    fs::write(path, bytes).unwrap();
    let (mut documents, mut gone) = (Vec::new(), Vec::new());
    let mut stored = Stored::open(path).unwrap();
    let read = stored.each(|place, entry, _| {
        let frame = frames.iter().find(|frame| frame.start == place as usize).unwrap();
        if frame.start < damaged.end && damaged.start < frame.end {
            return Ok(());
        }
        match entry {
            Entry::Document(record) => documents.push((place, record.id)),
            Entry::Removed(places) => gone.extend(places),
            _ => {}
        }
        Ok(())
    });
    read.unwrap();
    documents.into_iter().filter(|(place, _)| !gone.contains(place)).map(|(_, id)| id).collect()
}

/// Salvages, and returns the ids that are left.
fn salvaged(path: &Path) -> Vec<String> {
    let compacted = compact(path, Outdated { damaged: true, ..Outdated::default() }).unwrap();
    let kept = ids(path).unwrap();
    assert_eq!((compacted.documents, compacted.torn), (kept.len() as u64, None));
    kept
}

#[test]
fn lost_and_inserted_bytes_are_damage_and_all_else_is_salvaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (bytes, _) = runs(&path, 3);
    let frames = frames(&path);
    // The mark at the end stays.
    let (first, last) = (frames[0].start, bytes.len() - moved::MARK);
    assert_eq!(frames[frames.len() - 1].start, last);
    let (mut seen, mut whole) = (0, 0);
    for at in (first..=last).step_by(19).chain(frames.iter().map(|frame| frame.start)) {
        let rest = last - at;
        for (lost, inserted) in
            [(1, 0), (17, 0), (18, 0), (150, 0), (rest, 0), (0, 1), (0, 40), (40, 33), (33, 40), (rest, 5)]
        {
            if lost > rest || lost == inserted {
                continue;
            }
            let middle: Vec<u8> = (0..inserted).map(|number| number as u8).collect();
            let changed = [&bytes[..at], &middle, &bytes[at + lost..]].concat();
            let damaged = at..at + lost;
            let expected = whole_ones(&path, &bytes, &frames, &damaged);
            fs::write(&path, &changed).unwrap();
            let error = ids(&path).unwrap_err().to_string();
            let (by, what) = (lost.abs_diff(inserted), if lost > inserted { "lost" } else { "inserted" });
            let moved = format!("has moved, because {} were {what}", counted(by as u64, "byte"));
            assert!(error.contains("damaged at byte") && error.contains(&moved), "{at} {lost} {inserted}: {error}");
            seen += 1;
            if seen % 4 == 0 {
                // No writer cuts it off.
                assert!(open(&path).is_err() && compact(&path, Outdated::default()).is_err());
                assert!(remove(&path, ["d1".to_string()].into()).is_err());
                assert!(fs::read(&path).unwrap() == changed);
                let kept = salvaged(&path);
                assert_eq!(kept, expected, "{at} {lost} {inserted}");
                whole += u32::from(kept.len() == 29);
            }
        }
    }
    assert!(seen > 1000 && whole > 5, "{seen} {whole}");
}

#[test]
fn bytes_are_lost_and_inserted_at_many_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (bytes, ends) = runs(&path, 9);
    let frames = frames(&path);
    // Of each run one frame, by which what follows moves to and fro: by 30, 13, 16 and 0 bytes, and again.
    let (mut changed, mut from, mut lost) = (Vec::new(), 0, Vec::new());
    for (run, end) in ends.iter().enumerate() {
        let first = frames.iter().position(|frame| frame.end == *end).unwrap() - 5;
        let at = frames[first].start + 10;
        changed.extend_from_slice(&bytes[from..at]);
        from = at + [30, 0, 5, 0][run % 4];
        changed.extend(std::iter::repeat_n(0xee, [0, 17, 2, 16][run % 4]));
        lost.push(whole_ones(&path, &bytes, &frames, &(at..from)));
    }
    changed.extend_from_slice(&bytes[from..]);
    fs::write(&path, &changed).unwrap();
    assert!(open(&path).is_err());
    let is_kept = |id: &String| lost.iter().all(|kept| kept.contains(id));
    let expected: Vec<String> = (1..90).map(|number| format!("d{number}")).filter(is_kept).collect();
    assert_eq!(salvaged(&path), expected);
    assert_eq!(expected.len(), 89 - 9);
}

#[test]
fn bytes_of_a_long_record_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (before, _) = runs(&path, 1);
    let mut index = open(&path).unwrap().0;
    decide(&mut index, &"long".repeat(50_000), "a long one");
    for number in 0..20 {
        decide(&mut index, &format!("e{number}"), &format!("other{number}"));
    }
    index.seal().unwrap();
    drop(index);
    let bytes = fs::read(&path).unwrap();
    // What is left is shorter than the record was.
    let at = before.len() + 1000;
    let changed = [&bytes[..at], &bytes[at + 100_000..]].concat();
    fs::write(&path, &changed).unwrap();
    let error = ids(&path).unwrap_err().to_string();
    assert!(error.contains("because 100,000 bytes were lost"), "{error}");
    let expected = (1..10).map(|number| format!("d{number}")).chain((0..20).map(|number| format!("e{number}")));
    assert_eq!(salvaged(&path), expected.collect::<Vec<_>>());
}

/// A mark of another place that is UTF-8, as a page could name itself.
fn crafted(mut place: u64) -> (u64, String) {
    loop {
        let mut mark = frame::frame_head(1, place).to_vec();
        mark.push(entry::SYNCED);
        mark.extend(xxhash_rust::xxh3::xxh3_64_with_seed(&[entry::SYNCED], place).to_le_bytes());
        match String::from_utf8(mark) {
            Ok(id) => return (place, id),
            Err(_) => place += 1,
        }
    }
}

#[test]
fn what_looks_like_a_mark_does_not_stop_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (before, _) = runs(&path, 1);
    let (_, id) = crafted(1 << 40);
    let mut index = open(&path).unwrap().0;
    decide(&mut index, &id.repeat(30), "a page");
    decide(&mut index, "next", "another page");
    index.commit().unwrap();
    drop(index);
    let after = fs::read(&path).unwrap();
    let first = after.windows(17).position(|bytes| bytes == id.as_bytes()).unwrap();
    let is_torn = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        inspect(&path).map(|summary| (summary.documents, summary.torn.is_some()))
    };
    // A process that was killed.
    for length in before.len() + 1..after.len() {
        // What ends with a mark that moved cannot be told apart from a file that lost bytes.
        let is_at_end = (1..=30).any(|count| length == first + 17 * count);
        let result = is_torn(&after[..length]);
        assert!(
            result.is_err() == is_at_end && result.is_ok_and(|(documents, _)| documents >= 9) != is_at_end,
            "{length}"
        );
    }
    // After a power failure, the beginning of a write is missing. Nothing is cut off that could have been whole.
    for lost in (before.len()..first).step_by(3) {
        let mut bytes = after.clone();
        bytes[before.len()..=lost].fill(0);
        assert!(is_torn(&bytes).unwrap_err().to_string().contains("has moved"), "{lost}");
        assert!(fs::read(&path).unwrap() == bytes);
        assert!((10..=11).contains(&salvaged(&path).len()), "{lost}");
    }
}

#[test]
fn what_looks_like_a_mark_does_not_end_salvaging() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    runs(&path, 1);
    let (_, id) = crafted(1 << 40);
    let mut index = open(&path).unwrap().0;
    for number in 0..3 {
        decide(&mut index, &format!("e{number}"), &format!("other{number}"));
    }
    decide(&mut index, &id.repeat(5), "a page");
    decide(&mut index, "next", "another page");
    index.seal().unwrap();
    drop(index);
    let bytes = fs::read(&path).unwrap();
    let at = bytes.windows(2).position(|id| id == b"e0").unwrap();
    fs::write(&path, [&bytes[..at], &bytes[at + 9..]].concat()).unwrap();
    let first = (1..10).map(|number| format!("d{number}"));
    let all = first.chain(["e1".into(), "e2".into(), id.repeat(5), "next".into()]);
    assert_eq!(salvaged(&path), all.collect::<Vec<_>>());
}

#[test]
fn damage_among_documents_that_look_like_marks_costs_one_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (mut index, mut place, mut names) = (open(&path).unwrap().0, 1 << 40, Vec::new());
    for number in 0..30 {
        let (at, id) = crafted(place);
        place = at + 1;
        names.push(format!("{id}{number}"));
        decide(&mut index, &names[number], &format!("word{number}"));
    }
    index.seal().unwrap();
    drop(index);
    let bytes = fs::read(&path).unwrap();
    let frames = frames(&path);
    for frame in frames[1..frames.len() - 1].iter().step_by(5) {
        for at in [frame.start, frame.start + 8, frame.end - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let expected = whole_ones(&path, &bytes, &frames, &(at..at + 1));
            fs::write(&path, &changed).unwrap();
            assert!(expected.len() >= 29 && ids(&path).is_err());
            assert_eq!(salvaged(&path), expected, "{at}");
        }
    }
}

/// What follows the marks that moved is damaged too.
#[test]
fn lost_bytes_are_damage_whatever_the_end_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let (bytes, _) = runs(&path, 3);
    let at = frames(&path)[3].start + 10;
    let mut changed = [&bytes[..at], b"x", &bytes[at..]].concat();
    for end in 0..40 {
        fs::write(&path, [&changed[..], &vec![0; end]].concat()).unwrap();
        assert!(ids(&path).unwrap_err().to_string().contains("damaged at byte"), "{end}");
    }
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&path, &changed).unwrap();
    assert!(open(&path).is_err() && fs::read(&path).unwrap() == changed);
}

#[test]
fn what_is_lost_is_counted_and_the_damaged_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.idx");
    let salvage = || compact(&path, Outdated { damaged: true, ..Outdated::default() }).unwrap();
    let (bytes, _) = runs(&path, 3);
    let frames = frames(&path);
    // Nothing is lost of a whole file, and nothing kept.
    let found = salvage();
    assert_eq!((found.damaged, found.missing, found.missing_at_end, found.kept), (0, 0, 0, None));
    let (one, lost) = (frames[4].clone(), frames[3].start..frames[6].end);
    let mut changed = bytes.clone();
    changed[one.start + 10] ^= 1;
    for (changed, damaged, missing) in [
        (changed, one.len(), 0),
        // Whole records, of which the file shows nothing; some, and the beginning of another.
        ([&bytes[..lost.start], &bytes[lost.end..]].concat(), 0, lost.len()),
        ([&bytes[..lost.start], &bytes[lost.end - 5..]].concat(), 5, lost.len() - 5),
        ([&bytes[..one.start], &[7; 40], &bytes[one.start..]].concat(), 40, 0),
    ] {
        fs::write(&path, &changed).unwrap();
        let found = salvage();
        assert_eq!((found.damaged, found.missing, found.missing_at_end), (damaged as u64, missing as u64, 0));
        let kept = found.kept.unwrap();
        assert!(kept.file_name().unwrap().to_str().unwrap().starts_with("seen.idx.damaged"));
        assert!(fs::read(kept).unwrap() == changed);
        assert!(ids(&path).is_ok());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "the index, and four files that were damaged");
}
