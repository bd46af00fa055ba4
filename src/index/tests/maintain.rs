//! What is read of an index that is damaged while it is read.

use super::*;
use crate::error::ErrorKind;
use std::fs;

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
