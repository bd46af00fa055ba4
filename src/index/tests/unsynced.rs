//! A checkpoint has only what the log has on the disk, and what the disk refuses ends the run.

use super::checkpoints::{in_checkpoint, minhash, open, options, pages};
use super::*;
use crate::error::ErrorKind;
use std::io;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Waits until the tables of all documents so far are in files.
fn flush(index: &mut Index) {
    while index.tables.disk.as_ref().is_some_and(|disk| disk.is_flushing() && !disk.has_flushed()) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a checkpoint that is being saved is there.
fn save(index: &mut Index) {
    while index.tables.disk.as_ref().is_some_and(Disk::is_saving) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// The system reports once that it could not write what a file has, to whoever syncs it next. If that is not the log, documents leave
/// that are not on the disk.
#[test]
fn no_checkpoint_is_saved_before_the_log_is_on_the_disk() {
    for sync in [Sync::Batch, Sync::Off] {
        let (plan, folder, pages) = (minhash(), tempfile::tempdir().unwrap(), pages(400));
        let path = folder.path().join("index");
        let mut index = open(&path, &plan, &IndexOptions { sync, ..options(Limits::default(), 1 << 30) });
        // Dropped before the index, which waits for the sync.
        let (results, wait) = channel::<io::Result<()>>();
        index.sync_by(move || wait.recv().unwrap_or(Ok(())));
        for (number, page) in pages[..200].iter().enumerate() {
            // More than the documents after which a checkpoint is made.
            decide(&mut index, &number.to_string(), page);
            if number == 150 {
                // As when much is pending.
                index.log.commit(false).unwrap();
            }
            flush(&mut index);
            save(&mut index);
        }
        assert_eq!(in_checkpoint(&path), 0, "{sync:?}: the disk does not have the log");
        // It has now. There is one answer for each sync.
        (0..1000).for_each(|_| _ = results.send(Ok(())));
        index.end_commit(true).unwrap();
        for (number, page) in pages[200..].iter().enumerate() {
            decide(&mut index, &(200 + number).to_string(), page);
            if number % 10 == 0 {
                index.begin_commit().unwrap();
            }
            flush(&mut index);
            save(&mut index);
            thread::sleep(Duration::from_millis(1));
        }
        assert!(in_checkpoint(&path) > 0, "{sync:?}");
    }
}

/// The error is that of the run, whatever the log was synced for.
#[test]
fn what_the_disk_refuses_ends_the_run() {
    for sync in [Sync::Batch, Sync::Off] {
        let (plan, folder, pages) = (minhash(), tempfile::tempdir().unwrap(), pages(400));
        let path = folder.path().join("index");
        let mut index = open(&path, &plan, &IndexOptions { sync, ..options(Limits::default(), 1 << 30) });
        index.sync_by(|| Err(io::Error::other("no space for a test")));
        let mut failed = None;
        for (number, page) in pages.iter().enumerate() {
            let signature = index.signer().sign(page);
            let decided = index.decide(&number.to_string(), &signature, 0).map(drop);
            let committed = decided.and_then(|()| index.begin_commit().map(drop));
            flush(&mut index);
            save(&mut index);
            if let Err(error) = committed {
                failed = Some(error);
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        let failed = failed.unwrap_or_else(|| panic!("{sync:?}: no error was returned"));
        let message = failed.to_string();
        assert!(message.contains("cannot write the index") && message.contains("no space for a test"), "{message}");
        assert_eq!(failed.kind(), ErrorKind::Disk);
        assert_eq!(in_checkpoint(&path), 0);
        let again = index.seal().unwrap_err().to_string();
        assert!(again.contains("an earlier write did not reach the disk"), "{again}");
    }
}
