//! Documents that take the place of earlier ones with the same id.

use super::super::checkpoint::Checkpoint;
use super::super::disk::Disk;
use super::checkpoints::{minhash, open, options};
use super::*;
use crate::hash::mix;

/// Texts of a few that have nothing in common, under a few ids.
fn documents(count: u64) -> Vec<(String, String)> {
    let text = |number: u64| format!("{0}a {0}b {0}c {0}d {0}e {0}f", mix(number));
    (0..count).map(|number| (format!("id{}", mix(number) % 60), text(mix(number + count) % 45))).collect()
}

/// An index as a list of what it remembers: ids and texts.
struct Plain {
    remembered: Vec<(String, String)>,
}

impl Plain {
    /// Whether a document passes, and whether others were forgotten for it.
    fn decide(&mut self, id: &str, text: &str, replaces: bool) -> (bool, bool) {
        let before = self.remembered.len();
        if replaces {
            self.remembered.retain(|(other, its)| other != id || its == text);
        }
        let is_replaced = self.remembered.len() < before;
        if self.remembered.iter().any(|(other, its)| (&**other, &**its) == (id, text)) {
            return (true, is_replaced);
        }
        let is_new = self.remembered.iter().all(|(_, its)| its != text);
        if is_new {
            self.remembered.push((id.to_string(), text.to_string()));
        }
        (is_new, is_replaced)
    }
}

#[test]
fn decisions_are_those_of_a_list_however_often_the_index_is_opened() {
    let (documents, folder, limits) = (documents(4_000), tempfile::tempdir().unwrap(), Limits::default());
    let path = folder.path().join("seen");
    let mut plain = Plain { remembered: Vec::new() };
    let (mut passed, mut replaced) = (0, 0);
    for (run, documents) in documents.chunks(500).enumerate() {
        // Other runs may replace nothing: several documents then have the same id.
        let replaces = run % 4 != 2;
        let options = IndexOptions { replaces, ..options(limits, 1 << 15) };
        let mut index = open(&path, &minhash(), &options);
        index.tables.checkpoint_after = (300, 100);
        for (id, text) in documents {
            let signature = index.signer().sign(text);
            let found = match replaces {
                true => index.replace(id, &signature, 0).unwrap(),
                false => (index.decide(id, &signature, 0).unwrap(), false),
            };
            let expected = plain.decide(id, text, replaces);
            assert_eq!((found.0.passes(), found.1), expected, "{id} of run {run}");
            (passed, replaced) = (passed + u64::from(expected.0), replaced + u64::from(expected.1));
        }
        assert_eq!(index.len(), plain.remembered.len() as u64);
        if run % 2 == 0 { index.seal() } else { index.interrupt() }.unwrap();
    }
    assert!(passed > 1_000 && replaced > 1_000, "{passed} passed, {replaced} replaced");
    compact(&path, Outdated::default()).unwrap();
    let mut ids: Vec<String> = super::documents(&path).unwrap().map(|document| document.unwrap().id).collect();
    let mut expected: Vec<String> = plain.remembered.into_iter().map(|(id, _)| id).collect();
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
    let expire = Limits { expire: Some(3), ..Limits::default() };
    for (name, limits) in [("window", window), ("expire", expire)] {
        let options = IndexOptions { replaces: true, ..options(limits, 1 << 15) };
        let mut index = open(&folder.path().join(name), &minhash(), &options);
        assert!(matches!(index.replace("a", &signature, 0), Err(Error::Usage(_))));
    }
}
