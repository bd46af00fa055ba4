//! Files of tables that change while a run has them: the tables are rebuilt, and decisions are those that they would have been.

use super::super::checkpoint::Checkpoint;
use super::checkpoints::{minhash, open, options};
use super::renewals::{plain, texts};
use super::*;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

/// Changes all bytes of the files of tables that were not changed before. Who has them open finds them changed.
fn damage(path: &Path, changed: &mut BTreeSet<PathBuf>, is_it: impl Fn(&Path) -> bool) {
    for file in fs::read_dir(Checkpoint::of(path).folder()).into_iter().flatten() {
        let file = file.unwrap().path();
        if !is_it(&file) || !changed.insert(file.clone()) {
            continue;
        }
        // It may have been removed meanwhile.
        let Ok(bytes) = fs::read(&file) else { continue };
        let bytes: Vec<u8> = bytes.iter().map(|byte| byte ^ 0xff).collect();
        _ = File::options().write(true).open(&file).and_then(|mut file| file.write_all(&bytes));
    }
}

/// The documents of a stream of which every second one has no id, and some repeat one that has left a window of 40 by the end.
fn mixed() -> Vec<(String, usize)> {
    let id = |number: usize| if number.is_multiple_of(2) { format!("id{number}") } else { format!("-:{number}") };
    (0..120).map(|number| (id(number), if number % 5 == 4 && number > 11 { number - 11 } else { number })).collect()
}

fn text(number: usize) -> String {
    (0..12).map(|word| format!("w{number}x{word}")).collect::<Vec<_>>().join(" ")
}

/// What a run that was killed decided is decided again, although the tables change before one of the decisions. The oracle is that run: a
/// document with an id has the same decision. One without passes again if it passed, or if its original is forgotten by now.
#[test]
fn decisions_are_repeated_when_the_tables_change_meanwhile() {
    let (plan, folder, documents) = (minhash(), tempfile::tempdir().unwrap(), mixed());
    let limits = Limits { window: Some(40), ..Limits::default() };
    let path = folder.path().join("index");
    let mut index = open(&path, &plan, &options(limits, 1 << 30));
    let decided: Vec<Decision> = documents.iter().map(|(id, number)| decide(&mut index, id, &text(*number))).collect();
    // The last documents of the window, by a list of those that passed.
    let passed: Vec<usize> =
        (0..documents.len()).filter(|&at| decided[at].passes()).map(|at| documents[at].1).collect();
    let remembered = &passed[passed.len() - 40..];
    index.with_tables(Tables::begin_last_checkpoint).unwrap();
    index.commit().unwrap();
    index.with_tables(|tables, state| tables.end_last_checkpoint(state)).unwrap();
    drop(index);
    let length = fs::metadata(&path).unwrap().len();
    let whole: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(Checkpoint::of(&path).folder())
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|file| (file.clone(), fs::read(file).unwrap()))
        .collect();
    assert!(whole.len() >= 2, "the tables are in a file");
    let mut restored = 0;
    for moment in 0..documents.len() {
        fs::create_dir_all(Checkpoint::of(&path).folder()).unwrap();
        whole.iter().for_each(|(file, bytes)| fs::write(file, bytes).unwrap());
        let mut index = open(&path, &plan, &options(limits, 1 << 30));
        for (at, (id, number)) in documents.iter().enumerate() {
            if at == moment {
                damage(&path, &mut BTreeSet::new(), |_| true);
            }
            let decision = decide(&mut index, id, &text(*number));
            let expected = match &decided[at] {
                Decision::Duplicate { .. } if id.starts_with("-:") && !remembered.contains(number) => {
                    Decision::Unconfirmed
                }
                Decision::Duplicate { .. } => decided[at].clone(),
                _ if id.starts_with("-:") => Decision::Unconfirmed,
                _ => Decision::Known,
            };
            assert_eq!(decision, expected, "{id}, with tables that change before {}", documents[moment].0);
        }
        assert_eq!(index.bytes_stored(), length, "nothing is remembered twice");
        restored += u32::from(index.were_damaged);
    }
    assert!(restored > 50, "{restored}");
}

/// Documents without an id that are numbered as they come are known by nothing else: one that is remembered and decided on again would be a
/// duplicate of itself.
#[test]
fn no_document_is_lost_however_often_the_tables_change() {
    let (plan, folder, texts) = (minhash(), tempfile::tempdir().unwrap(), texts(1_200));
    let limits = Limits { window: Some(300), ..Limits::default() };
    let expected = plain(&texts, 300);
    let path = folder.path().join("index");
    let (mut index, mut changed) = (open(&path, &plan, &options(limits, 1 << 14)), BTreeSet::new());
    let mut signer = index.signer();
    for (number, text) in texts.iter().enumerate() {
        if number % 40 == 0 {
            damage(&path, &mut changed, |_| true);
        }
        let decision = index.decide_unnamed("", signer.sign(text).signed(), 0).unwrap();
        assert_eq!(decision.passes(), expected[number], "{number}, {decision:?}");
    }
    assert!(index.were_damaged);
}

/// The new tables are copied after the document was remembered, too.
#[test]
fn no_document_is_lost_when_new_tables_change_before_they_are_used() {
    let (plan, folder, texts) = (minhash(), tempfile::tempdir().unwrap(), texts(450));
    let limits = Limits { window: Some(100), ..Limits::default() };
    let expected = plain(&texts, 100);
    let is_new = |file: &Path| {
        let number = file.file_name().unwrap().to_str().unwrap().rsplit('-').next().unwrap().parse::<u64>();
        number.is_ok_and(|number| number >= 1 << 24)
    };
    let mut restored = 0;
    for from in 0..8 {
        let path = folder.path().join(format!("index{from}"));
        let (mut index, mut changed) = (open(&path, &plan, &options(limits, 1 << 13)), BTreeSet::new());
        let mut signer = index.signer();
        for (number, text) in texts.iter().enumerate() {
            if index.renewal.as_ref().is_some_and(|renewal| renewal.tables.places.len() > from) {
                damage(&path, &mut changed, is_new);
            }
            let decision = index.decide_unnamed("", signer.sign(text).signed(), 0).unwrap();
            assert_eq!(decision.passes(), expected[number], "{number} from {from}, {decision:?}");
        }
        restored += u32::from(index.were_damaged);
    }
    assert!(restored > 4, "{restored}");
}
