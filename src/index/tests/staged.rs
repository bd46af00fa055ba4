//! What is kept aside is added as a whole, wherever adding it was interrupted, and only to the index that it belongs to.

use super::*;
use crate::error::IndexFault;
use std::fs;

/// Decides on these documents with what they remember kept aside.
fn stage(path: &Path, plan: &Plan, aside: &Path, ids: std::ops::Range<usize>) -> (Staged, Vec<Decision>) {
    let mut options = File::options();
    let file = options.read(true).write(true).create(true).truncate(true).open(aside).unwrap();
    let (mut index, _) = Index::stage(path, plan, &IndexOptions::default(), &file, false).unwrap();
    let decisions = ids.map(|id| decide(&mut index, &format!("d{id}"), &format!("word{}", id % 70))).collect();
    index.commit().unwrap();
    (index.into_staged().unwrap().0, decisions)
}

fn remembered(path: &Path) -> Vec<String> {
    let mut documents = documents(path).unwrap();
    let ids = documents.by_ref().map(|document| document.unwrap().id).collect();
    assert_eq!(documents.summary().unwrap().torn, None);
    ids
}

fn add(path: &Path, plan: &Plan, id: &str) {
    let (mut index, _) = Index::open(path, plan, &IndexOptions::default()).unwrap();
    decide(&mut index, id, id);
    index.seal().unwrap();
}

#[test]
fn it_is_added_wherever_it_was_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let (path, aside) = (folder.path().join("seen.idx"), folder.path().join("aside"));
    let plan = plan();
    for before in [0, 3] {
        _ = fs::remove_file(&path);
        for id in 0..before {
            add(&path, &plan, &format!("before{id}"));
        }
        let (staged, decisions) = stage(&path, &plan, &aside, 0..6);
        assert!(decisions.iter().all(Decision::passes));
        let (base, added) = (fs::read(&path).unwrap(), fs::read(&aside).unwrap());
        let addition = staged.addition();
        assert_eq!((addition.start, addition.end - addition.start), (base.len() as u64, added.len() as u64));
        assert_eq!(remembered(&path).len(), before);
        staged.append().unwrap();
        let expected = [&base[..], &added].concat();
        assert!(fs::read(&path).unwrap() == expected);
        assert_eq!(remembered(&path).len(), before + 6);
        let reopen = || Staged::reopen(&path, File::open(&aside).unwrap(), addition, "decide again");
        for length in (0..added.len()).step_by(5).chain([added.len()]) {
            // What a power failure leaves instead of the rest is cut off.
            for rest in [&[][..], &[0; 40], b"not a frame of any index, although it is long enough"] {
                fs::write(&path, [&base[..], &added[..length], rest].concat()).unwrap();
                reopen().unwrap().append().unwrap();
                assert!(fs::read(&path).unwrap()[..expected.len()] == expected, "{length}");
                assert_eq!(remembered_at_least(&path).len(), before + 6);
            }
        }
        // As long as a part of it is missing, nothing counts. A run without documents cuts that off, and leaves marks.
        for length in [1, 17, 45, added.len() / 2, added.len() - 17, added.len() - 1] {
            fs::write(&path, [&base[..], &added[..length]].concat()).unwrap();
            let summary = inspect(&path).unwrap();
            assert_eq!(summary.documents, before as u64, "{length}");
            // In a new index, a frame comes first that marks the header as written.
            let is_mark = before == 0 && length == 17;
            assert!(summary.torn.map_or(is_mark, |torn| length < 45 || torn.is_addition), "{length}");
            for marks in 0..3 {
                let (mut index, _) = Index::open(&path, &plan, &IndexOptions::default()).unwrap();
                (0..marks).for_each(|_| _ = index.log.mark_place());
                index.seal().unwrap();
                drop(index);
                reopen().unwrap().append().unwrap();
                assert!(fs::read(&path).unwrap() == expected, "{length}");
                fs::write(&path, [&base[..], &added[..length]].concat()).unwrap();
            }
        }
        fs::write(&path, &expected).unwrap();
        let (mut index, _) = Index::open(&path, &plan, &IndexOptions::default()).unwrap();
        assert!(!index.was_interrupted() && !index.has_unconfirmed());
        assert_eq!(decide(&mut index, "d3", "word3"), Decision::Known);
        drop(index);
        // It is there, and others have come since.
        fs::write(&path, &expected).unwrap();
        add(&path, &plan, "later");
        let later = fs::read(&path).unwrap();
        reopen().unwrap().append().unwrap();
        assert!(fs::read(&path).unwrap() == later);
        // Others came before it was there, whole or in part; or the index is another one.
        let is_refused = || {
            let found = fs::read(&path).unwrap();
            let error = reopen().err().expect("it has changed");
            assert!(matches!(error, Error::Index { fault: IndexFault::Options, .. }), "{error}");
            assert!(fs::read(&path).unwrap() == found);
        };
        for length in [0, added.len() / 2, added.len() - 1] {
            fs::write(&path, [&base[..], &added[..length]].concat()).unwrap();
            add(&path, &plan, "other");
            is_refused();
        }
        fs::remove_file(&path).unwrap();
        for id in 0..before + 1 {
            add(&path, &plan, &format!("previous{id}"));
        }
        is_refused();
        let other = plan.clone().with_seed(Seed::Fixed(7)).unwrap();
        fs::remove_file(&path).unwrap();
        add(&path, &other, "other");
        is_refused();
        fs::write(&path, &base).unwrap();
        fs::write(&aside, &added[..added.len() - 1]).unwrap();
        is_refused();
    }
}

/// Some bytes that are no frame may stay after what was there already.
fn remembered_at_least(path: &Path) -> Vec<String> {
    documents(path).unwrap().map(|document| document.unwrap().id).collect()
}

#[test]
fn it_decides_by_what_is_kept_aside_too() {
    let folder = tempfile::tempdir().unwrap();
    let (path, aside) = (folder.path().join("seen.idx"), folder.path().join("aside"));
    let plan = plan();
    let options = IndexOptions { sync: Sync::Off, ..IndexOptions::default() };
    let whole = folder.path().join("whole.idx");
    let (mut index, _) = Index::open(&whole, &plan, &options).unwrap();
    let mut expected = Vec::new();
    for part in [0..50, 30..160, 100..300] {
        let one = |id: usize| decide(&mut index, &format!("d{id}"), &format!("word{}", id % 70));
        expected.extend(part.clone().map(one));
        let (staged, decisions) = stage(&path, &plan, &aside, part);
        staged.append().unwrap();
        assert_eq!(decisions, expected[expected.len() - decisions.len()..]);
        index.commit().unwrap();
        assert_eq!(remembered(&path), remembered(&whole));
    }
    let count = |is: fn(&Decision) -> bool| expected.iter().filter(|decision| is(decision)).count();
    assert!(count(|decision| *decision == Decision::Known) >= 20);
    assert!(count(|decision| matches!(decision, Decision::Duplicate { .. })) > 20);
}

/// Where known documents are dropped, those that an interrupted stream may not have written pass, once each, as in a stream.
#[test]
fn unconfirmed_documents_pass_once_where_known_ones_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan();
    let expire = Limits { expire: Some(1 << 30), ..Limits::default() };
    for (name, limits) in [("seen", Limits::default()), ("expire", expire)] {
        let (path, options) = (folder.path().join(name), IndexOptions { limits, ..IndexOptions::default() });
        for (ends, ids) in [(true, 0..5), (false, 5..10)] {
            let (mut index, _) = Index::open(&path, &plan, &options).unwrap();
            index.begin_stream(true);
            for id in ids {
                let text = if id == 7 { String::new() } else { format!("word{id}") };
                assert!(decide(&mut index, &format!("d{id}"), &text).passes());
            }
            if ends { index.seal() } else { index.commit() }.unwrap();
        }
        for drops_known in [false, true] {
            let aside = tempfile::tempfile().unwrap();
            let (mut index, _) = Index::stage(&path, &plan, &options, &aside, true).unwrap();
            index.drop_known(drops_known);
            let mut again = |id: usize, text: &str| decide(&mut index, &format!("d{id}"), text);
            let of_killed = if drops_known { Decision::Unconfirmed } else { Decision::Known };
            assert_eq!(again(3, "word3"), Decision::Known);
            assert_eq!(again(6, "word6"), of_killed, "{name}");
            assert!(!again(6, "word6").passes(), "a copy in the corpus");
            assert_eq!(again(7, ""), of_killed, "{name}");
            assert_eq!(again(7, ""), Decision::Known);
            assert_eq!(again(8, "word8"), of_killed, "{name}");
            assert_eq!(again(11, "word11"), Decision::Fresh);
        }
    }
}

/// A run that adds nothing leaves nothing to be added, and what comes after that is as it would be without it.
#[test]
fn nothing_is_added_where_nothing_passes() {
    let folder = tempfile::tempdir().unwrap();
    let (path, aside) = (folder.path().join("seen.idx"), folder.path().join("aside"));
    let plan = plan();
    let (staged, _) = stage(&path, &plan, &aside, 0..6);
    staged.append().unwrap();
    let whole = fs::read(&path).unwrap();
    let (staged, decisions) = stage(&path, &plan, &aside, 0..6);
    assert!(decisions.iter().all(|decision| *decision == Decision::Known));
    let Addition { start, end, .. } = staged.addition();
    assert_eq!((start, end, fs::read(&aside).unwrap().len()), (whole.len() as u64, whole.len() as u64, 0));
    staged.append().unwrap();
    assert!(fs::read(&path).unwrap() == whole);
}

/// An earlier version appended the frames alone. Of these, a beginning that a run without documents has marked is completed too.
#[test]
fn what_an_earlier_version_has_begun_to_add_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, aside) = (folder.path().join("seen.idx"), folder.path().join("aside"));
    let plan = plan();
    add(&path, &plan, "before");
    let base = fs::read(&path).unwrap();
    let (staged, _) = stage(&path, &plan, &aside, 0..6);
    let before = staged.addition().before;
    drop(staged);
    // The same documents, added one after the other by a run that is killed.
    let (mut index, _) = Index::open(&path, &plan, &IndexOptions::default()).unwrap();
    for id in 0..6 {
        decide(&mut index, &format!("d{id}"), &format!("word{id}"));
    }
    index.commit().unwrap();
    drop(index);
    let expected = fs::read(&path).unwrap();
    let frames = &expected[base.len()..];
    fs::write(&aside, frames).unwrap();
    let addition = Addition { start: base.len() as u64, end: expected.len() as u64, before };
    for length in (0..=frames.len()).step_by(3).chain([frames.len()]) {
        for marks in [false, true] {
            fs::write(&path, &expected[..base.len() + length]).unwrap();
            if marks {
                Index::open(&path, &plan, &IndexOptions::default()).unwrap().0.seal().unwrap();
            }
            let reopened = Staged::reopen(&path, File::open(&aside).unwrap(), addition, "decide again");
            reopened.unwrap().append().unwrap();
            assert!(fs::read(&path).unwrap().starts_with(&expected), "{length}");
            assert_eq!(remembered(&path).len(), 7);
            fs::remove_dir_all(tables_folder(&path)).unwrap_or_default();
        }
    }
}
