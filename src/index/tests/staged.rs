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
        let reopen = || Staged::reopen(&path, File::open(&aside).unwrap(), addition);
        for length in (0..added.len()).step_by(5).chain([added.len()]) {
            // What a power failure leaves instead of the rest is cut off.
            for rest in [&[][..], &[0; 40], b"not a frame of any index, although it is long enough"] {
                fs::write(&path, [&base[..], &added[..length], rest].concat()).unwrap();
                reopen().unwrap().append().unwrap();
                assert!(fs::read(&path).unwrap()[..expected.len()] == expected, "{length}");
                assert_eq!(remembered_at_least(&path).len(), before + 6);
            }
        }
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
