//! Syncing the file of a log on a thread of its own, so that decisions go on meanwhile.
//!
//! A sync takes from a tenth of a millisecond to some tens of them, in which the processor has nothing to do. One is under way at a
//! time, so what is decided meanwhile reaches the disk with the next one: a group commit (DeWitt et al., *Implementation Techniques for
//! Main Memory Database Systems*, SIGMOD 1984, section 5.2).

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};

/// Syncs a file on a thread, which ends when this is dropped.
pub(super) struct Syncing {
    /// `None` while it is dropped.
    asked: Option<Sender<()>>,
    done: Receiver<io::Result<()>>,
    /// The length of the file that is on the disk when the sync that is under way ends; `None` if none is.
    length: Option<u64>,
    thread: Option<JoinHandle<()>>,
}

impl Syncing {
    /// Starts a thread for this file.
    ///
    /// # Errors
    /// There is no handle for it, or no thread.
    pub fn new(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        Self::by(move || file.sync_data())
    }

    /// Starts a thread that syncs by a function.
    pub(super) fn by(mut sync: impl FnMut() -> io::Result<()> + Send + 'static) -> io::Result<Self> {
        let (asked, requests) = channel::<()>();
        let (answers, done) = channel();
        let run = move || requests.iter().take_while(|()| answers.send(sync()).is_ok()).for_each(drop);
        let thread = thread::Builder::new().name("dedup sync".into()).spawn(run)?;
        Ok(Syncing { asked: Some(asked), done, length: None, thread: Some(thread) })
    }

    /// Whether a sync is under way.
    pub fn is_under_way(&self) -> bool {
        self.length.is_some()
    }

    /// Begins a sync of the first `length` bytes of the file, which were written. None may be under way.
    pub fn begin(&mut self, length: u64) {
        assert!(self.length.is_none(), "one sync at a time");
        self.length = Some(length);
        // If the thread has died, the end of the sync says so.
        _ = self.asked.as_ref().map(|asked| asked.send(()));
    }

    /// Ends the sync that is under way, if there is one, and it has ended or this `waits`. Returns how much of the file is on the disk.
    ///
    /// # Errors
    /// The file could not be synced.
    pub fn end(&mut self, waits: bool) -> io::Result<Option<u64>> {
        let Some(length) = self.length else { return Ok(None) };
        let died = || io::Error::other("the thread that syncs has died");
        let synced = match self.done.try_recv() {
            Ok(synced) => synced,
            Err(TryRecvError::Empty) if !waits => return Ok(None),
            Err(TryRecvError::Empty) => self.done.recv().unwrap_or_else(|_| Err(died())),
            Err(TryRecvError::Disconnected) => Err(died()),
        };
        self.length = None;
        synced.map(|()| Some(length))
    }
}

impl Drop for Syncing {
    /// Waits for the thread: as long as it has the file, no other run can open the index to write.
    fn drop(&mut self) {
        self.asked = None;
        if let Some(thread) = self.thread.take() {
            // A panic there is not passed on: this may be dropped because of another.
            _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_when_the_file_is_on_the_disk() {
        let (go, wait) = channel::<io::Result<()>>();
        let mut syncing = Syncing::by(move || wait.recv().unwrap()).unwrap();
        assert!(!syncing.is_under_way() && syncing.end(true).unwrap().is_none());
        syncing.begin(7);
        assert!(syncing.is_under_way() && syncing.end(false).unwrap().is_none() && syncing.is_under_way());
        go.send(Ok(())).unwrap();
        assert_eq!(syncing.end(true).unwrap(), Some(7));
        assert!(!syncing.is_under_way());
        syncing.begin(9);
        go.send(Err(io::Error::other("full"))).unwrap();
        assert_eq!(syncing.end(true).unwrap_err().to_string(), "full");
    }

    #[test]
    fn a_thread_that_died_is_an_error() {
        let mut syncing = Syncing::by(|| panic!("for a test")).unwrap();
        syncing.begin(1);
        assert!(syncing.end(true).is_err());
        syncing.begin(2);
        assert!(syncing.end(true).is_err());
    }
}
