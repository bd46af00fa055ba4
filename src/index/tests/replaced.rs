//! Documents that take the place of earlier ones with the same id.

use super::super::checkpoint::Checkpoint;
use super::super::disk::Disk;
use super::checkpoints::{minhash, open, options, simhash};
use super::*;
use crate::hash::mix;

/// Texts of a few that have nothing in common, under a few ids.
fn documents(count: u64) -> Vec<(String, String)> {
    let text = |number: u64| format!("{0}a {0}b {0}c {0}d {0}e {0}f", mix(number));
    (0..count).map(|number| (format!("id{}", mix(number) % 60), text(mix(number + count) % 45))).collect()
}

/// An index as a list of what it remembers: ids and texts, and when they passed.
struct Plain {
    remembered: Vec<(String, String, u64)>,
    expire: Option<u64>,
}

impl Plain {
    /// Whether a document passes, and whether others were forgotten for it.
    fn decide(&mut self, id: &str, text: &str, replaces: bool, now: u64) -> (bool, bool) {
        self.remembered.retain(|(.., time)| self.expire.is_none_or(|expire| time + expire > now));
        let before = self.remembered.len();
        if replaces {
            self.remembered.retain(|(other, its, _)| other != id || its == text);
        }
        let is_replaced = self.remembered.len() < before;
        if self.remembered.iter().any(|(other, its, _)| (&**other, &**its) == (id, text)) {
            return (true, is_replaced);
        }
        let is_new = self.remembered.iter().all(|(_, its, _)| its != text);
        if is_new {
            self.remembered.push((id.to_string(), text.to_string(), now));
        }
        (is_new, is_replaced)
    }
}

#[test]
fn decisions_are_those_of_a_list_however_often_the_index_is_opened() {
    for expire in [None, Some(30), Some(700)] {
        compare_with_a_list(expire);
    }
}

fn compare_with_a_list(expire: Option<u64>) {
    let (documents, folder) = (documents(4_000), tempfile::tempdir().unwrap());
    let (path, limits) = (folder.path().join("seen"), Limits { expire, ..Limits::default() });
    let mut plain = Plain { remembered: Vec::new(), expire };
    let (mut passed, mut replaced, mut now) = (0, 0, 0);
    for (run, documents) in documents.chunks(500).enumerate() {
        // Other runs may replace nothing: several documents then have the same id.
        let replaces = run % 4 != 2;
        let options = IndexOptions { replaces, ..options(limits, 1 << 15) };
        let mut index = open(&path, &minhash(), &options);
        index.tables.checkpoint_after = (300, 100);
        for (id, text) in documents {
            let signature = index.signer().sign(text);
            let found = match replaces {
                true => index.replace(id, &signature, now).unwrap(),
                false => (index.decide(id, &signature, now).unwrap(), false),
            };
            let expected = plain.decide(id, text, replaces, now);
            assert_eq!((found.0.passes(), found.1), expected, "{id} of run {run}, {expire:?}");
            (passed, replaced) = (passed + u64::from(expected.0), replaced + u64::from(expected.1));
            now += 1;
        }
        assert_eq!(index.len(), plain.remembered.len() as u64);
        if run % 2 == 0 { index.seal() } else { index.interrupt() }.unwrap();
    }
    assert!(passed > 1_000 && replaced > 500, "{passed} passed, {replaced} replaced, {expire:?}");
    let before = expire.map_or(0, |expire| now - 1 - expire + 1);
    compact(&path, Outdated { before, ..Outdated::default() }).unwrap();
    let mut ids: Vec<String> = super::documents(&path).unwrap().map(|document| document.unwrap().id).collect();
    let mut expected: Vec<String> = plain.remembered.into_iter().map(|(id, ..)| id).collect();
    ids.sort_unstable();
    expected.sort_unstable();
    assert_eq!(ids, expected);
}

#[test]
fn what_is_replaced_again_and_again_takes_no_more_memory() {
    let (folder, mut held) = (tempfile::tempdir().unwrap(), 0);
    let options = IndexOptions { replaces: true, ..options(Limits::default(), 1 << 15) };
    let mut index = open(&folder.path().join("seen"), &minhash(), &options);
    index.replace("stays", &index.signer().sign("a b c d e f"), 0).unwrap();
    for number in 0..6_000u64 {
        let text = format!("{0}a {0}b {0}c {0}d {0}e {0}f", mix(number));
        let signature = index.signer().sign(&text);
        let (decision, is_replaced) = index.replace(&format!("id{}", number % 60), &signature, 0).unwrap();
        assert_eq!((decision.passes(), is_replaced), (true, number >= 60));
        index.commit().unwrap();
        let (places, remembered) = (index.tables.places.len(), index.len() as usize);
        assert!(places <= 2 * remembered + 200, "{places} documents are in the tables of {remembered}");
        if number == 2_000 {
            held = index.bytes_held();
        }
    }
    assert!(index.bytes_held() < 2 * held, "{} after {held}", index.bytes_held());
}

/// One page of many that changes again and again: its old texts are skipped, but not for long.
#[test]
fn what_is_skipped_often_leaves_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let options = IndexOptions { replaces: true, ..options(Limits::default(), 1 << 15) };
    let mut index = open(&folder.path().join("seen"), &minhash(), &options);
    let (mut renewals, mut was_renewing, mut most) = (0, false, 0);
    for number in 0..4_000u64 {
        let text = format!("{0}a {0}b {0}c {0}d {0}e {0}f", mix(number));
        let id = if number < 2_000 { format!("id{number}") } else { "id0".into() };
        let signature = index.signer().sign(&text);
        let (decision, is_replaced) = index.replace(&id, &signature, 0).unwrap();
        assert_eq!((decision.passes(), is_replaced), (true, number >= 2_000));
        index.commit().unwrap();
        renewals += u32::from(was_renewing && index.renewal.is_none());
        was_renewing = index.renewal.is_some();
        most = most.max(index.remembered.removed().len());
    }
    assert_eq!(index.len(), 2_000);
    assert!(renewals > 1 && most < 1_000, "{renewals} renewals, {most} documents were skipped at once");
}

/// The first run that replaces reads the whole log. What it made for that is there for the next one, also if it decided nothing.
#[test]
fn the_first_run_that_replaces_saves_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen");
    let mut index = open(&path, &minhash(), &options(Limits::default(), 1 << 30));
    for number in 0..400u64 {
        let text = format!("{0}a {0}b {0}c {0}d {0}e {0}f", mix(number));
        index.decide(&format!("id{number}"), &index.signer().sign(&text), 0).unwrap();
    }
    index.seal().unwrap();
    drop(index);
    let names = || Checkpoint::of(&path).read().map(|manifest| manifest.has_names);
    assert_eq!(names(), Some(false));
    let options = IndexOptions { replaces: true, ..options(Limits::default(), 1 << 12) };
    let mut index = open(&path, &minhash(), &options);
    // Some documents went to the disk while the log was read, and fewer are left than a checkpoint is made for.
    index.tables.checkpoint_after = (1_000, 390);
    index.seal().unwrap();
    drop(index);
    assert_eq!(names(), Some(true));
    let index = open(&path, &minhash(), &options);
    assert_eq!((index.tables.disk.as_ref().map(Disk::flushed), index.tables.has_names), (Some(400), true));
}

#[test]
fn what_was_added_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen");
    let [page, other] = &documents(2)[..] else { unreachable!() };
    for (mode, expected) in [(Mode::Add, Decision::Fresh), (Mode::Filter, Decision::Fresh)] {
        let options = IndexOptions { replaces: true, mode, ..options(Limits::default(), 1 << 15) };
        let mut index = open(&path, &minhash(), &options);
        let (text, replaces) = if mode == Mode::Add { (&page.1, false) } else { (&other.1, true) };
        let signature = index.signer().sign(text);
        let found = match replaces {
            true => index.replace("error", &signature, 0).unwrap(),
            false => (index.decide("error", &signature, 0).unwrap(), false),
        };
        assert_eq!(found, (expected, false));
        index.seal().unwrap();
    }
    assert_eq!(inspect(&path).unwrap().documents, 2);
}

#[test]
fn an_index_that_does_not_find_ids_replaces_nothing() {
    let mut index = Index::in_memory(&minhash(), Limits::default());
    let signature = index.signer().sign("a b c");
    assert!(matches!(index.replace("a", &signature, 0), Err(Error::Usage(_))));
    let folder = tempfile::tempdir().unwrap();
    let window = Limits { window: Some(3), ..Limits::default() };
    for (replaces, limits) in [(true, window), (false, Limits::default())] {
        let options = IndexOptions { replaces, ..options(limits, 1 << 15) };
        let mut index = open(&folder.path().join(replaces.to_string()), &minhash(), &options);
        assert!(matches!(index.replace("a", &signature, 0), Err(Error::Usage(_))));
    }
}

/// It is no version of the page, and what it stands beside was not replaced by anything.
#[test]
fn a_text_without_features_replaces_nothing_and_is_no_text_that_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let options = IndexOptions { replaces: true, ..options(Limits::default(), 1 << 15) };
    let mut index = open(&folder.path().join("seen"), &minhash(), &options);
    let mut replace = |id: &str, text: &str| index.replace(id, &index.signer().sign(text), 0).unwrap();
    let [first, second] = ["a b c d e f", "g h i j k l"];
    assert_eq!(replace("page", first), (Decision::Fresh, false));
    assert_eq!(replace("page", ""), (Decision::Featureless, false));
    assert!(matches!(replace("copy", first), (Decision::Duplicate { of, .. }, false) if of == "page"));
    assert_eq!(replace("page", first), (Decision::Known, false));
    assert_eq!(replace("page", ""), (Decision::Featureless, false));
    assert_eq!(replace("page", second), (Decision::Fresh, true));
    assert_eq!(replace("copy", first), (Decision::Fresh, false));
    assert_eq!(replace("empty", ""), (Decision::Featureless, false));
    assert_eq!(replace("empty", "m n o p q r"), (Decision::Fresh, false));
    assert_eq!(index.len(), 3);
}

/// Several texts of one id may have passed: the time says which one it is.
#[test]
fn a_duplicate_says_when_its_original_passed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, plan) in [("sets", minhash()), ("bits", simhash())] {
        let options = IndexOptions { replaces: true, ..options(Limits::default(), 1 << 15) };
        let path = folder.path().join(name);
        let copy_of = |index: &mut Index, text: &str| {
            let Decision::Duplicate { of, passed, .. } = index.decide("copy", &index.signer().sign(text), 900).unwrap()
            else {
                panic!("it is a copy of {text}")
            };
            (of, passed)
        };
        let mut index = open(&path, &plan, &options);
        let [first, second, other] = ["a b c d e f", "g h i j k l", "m n o p q r"];
        for (id, text, now) in [("page", first, 100), ("page", second, 200), ("other", other, 300)] {
            assert_eq!(index.replace(id, &index.signer().sign(text), now).unwrap().0, Decision::Fresh);
        }
        for (text, id, time) in [(second, "page", 200), (other, "other", 300)] {
            assert_eq!(copy_of(&mut index, text), (id.to_string(), time), "{name}");
        }
        index.replace("page", &index.signer().sign(first), 400).unwrap();
        assert_eq!(copy_of(&mut index, first), ("page".to_string(), 400), "{name}");
        index.seal().unwrap();
        drop(index);
        assert_eq!(copy_of(&mut open(&path, &plan, &options), first), ("page".to_string(), 400), "{name}");
    }
}
