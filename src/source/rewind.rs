//! Input that can be read only once, such as standard input, made readable again. The first reading keeps a copy: in
//! memory while it is small, else in a file that is removed with the process.

use std::io::{self, Read, Seek, Write};
use std::path::Path;

use tempfile::SpooledTempFile;

/// The maximum size of the copy in memory.
const IN_MEMORY: usize = 8 << 20;

/// A reader over input that can be read only once.
pub(super) struct Rewind {
    /// The input, until it has ended or failed.
    live: Option<Box<dyn Read + Send>>,
    /// The copy of the bytes read so far, if they are kept.
    spool: Option<SpooledTempFile>,
    /// The number of bytes read. If any are kept, all are.
    length: u64,
    /// The position of this reading.
    at: u64,
    /// The error that ended the input. Every reading ends with it, so that all have the same result.
    failure: Option<String>,
    /// The error of the copy, if the copy failed and not the input.
    copy_failure: Option<(io::ErrorKind, String)>,
}

impl Rewind {
    /// Keeps what it reads if `keep`.
    pub fn new(live: Box<dyn Read + Send>, keep: bool, temp_dir: Option<&Path>) -> Self {
        Self::with_limit(live, keep, temp_dir, IN_MEMORY)
    }

    fn with_limit(live: Box<dyn Read + Send>, keep: bool, temp_dir: Option<&Path>, in_memory: usize) -> Self {
        let spool = keep.then(|| match temp_dir {
            Some(folder) => SpooledTempFile::new_in(in_memory, folder),
            None => SpooledTempFile::new(in_memory),
        });
        Rewind { live: Some(live), spool, length: 0, at: 0, failure: None, copy_failure: None }
    }

    /// Returns to the start. Fails if bytes were read and not kept.
    pub fn rewind(&mut self) -> io::Result<()> {
        match &mut self.spool {
            Some(spool) => {
                spool.rewind().inspect_err(|error| self.copy_failure = Some((error.kind(), error.to_string())))?;
            }
            None if self.length == 0 && self.live.is_some() => {}
            None => return Err(io::Error::other("cannot be read a second time")),
        }
        self.at = 0;
        Ok(())
    }

    /// The error of the copy, if a reading ended with one.
    pub fn copy_failure(&self) -> Option<io::Error> {
        self.copy_failure.clone().map(|(kind, message)| io::Error::new(kind, message))
    }

    fn replay(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(spool) = &mut self.spool else {
            return Err(io::Error::other("cannot be read a second time"));
        };
        let read = match spool.take(self.length - self.at).read(buffer) {
            Ok(0) if !buffer.is_empty() => {
                Err(io::Error::other("what was kept for the second reading has been cut short"))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            read => read,
        };
        let n = read.inspect_err(|error| self.copy_failure = Some((error.kind(), error.to_string())))?;
        self.at += n as u64;
        Ok(n)
    }

    fn read_live(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(live) = &mut self.live else {
            return self.failure.as_ref().map_or(Ok(0), |failure| Err(io::Error::other(failure.clone())));
        };
        let n = match live.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => return Err(self.fail(error.to_string())),
            Ok(n) => n,
        };
        if let Some(spool) = &mut self.spool
            && let Err(error) = spool.write_all(&buffer[..n])
        {
            self.copy_failure = Some((error.kind(), error.to_string()));
            return Err(self.fail(format!("cannot keep it for the second reading in a temporary file: {error}")));
        }
        if n == 0 && !buffer.is_empty() {
            self.live = None;
        }
        self.length += n as u64;
        self.at = self.length;
        Ok(n)
    }

    fn fail(&mut self, failure: String) -> io::Error {
        self.live = None;
        io::Error::other(self.failure.insert(failure).clone())
    }
}

impl Read for Rewind {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at < self.length { self.replay(buffer) } else { self.read_live(buffer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(rewind: &mut Rewind) -> (Vec<u8>, Option<String>) {
        let mut out = Vec::new();
        let error = rewind.rewind().and_then(|()| rewind.read_to_end(&mut out)).err();
        (out, error.map(|error| error.to_string()))
    }

    fn rewind(input: impl Read + Send + 'static, keep: bool, in_memory: usize) -> Rewind {
        Rewind::with_limit(Box::new(input), keep, None, in_memory)
    }

    /// An input that fails after its bytes.
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("unplugged"))
        }
    }

    #[test]
    fn read_again_from_memory_and_from_disk() {
        for in_memory in [10, 1 << 20] {
            let mut input = rewind(&[7; 100_000][..], true, in_memory);
            for _ in 0..3 {
                assert_eq!(all(&mut input), (vec![7; 100_000], None));
            }
        }
    }

    #[test]
    fn a_first_reading_that_stopped_early() {
        let mut input = rewind(&b"abcdef"[..], true, 2);
        input.read_exact(&mut [0; 3]).unwrap();
        assert_eq!(all(&mut input), (b"abcdef".to_vec(), None));
        assert_eq!(all(&mut input), (b"abcdef".to_vec(), None));
    }

    #[test]
    fn not_kept_it_is_read_once() {
        let mut input = rewind(&b"abc"[..], false, 0);
        assert_eq!(all(&mut input), (b"abc".to_vec(), None));
        assert_eq!(all(&mut input), (vec![], Some("cannot be read a second time".into())));
    }

    #[test]
    fn an_input_that_fails_fails_alike_each_time() {
        let mut input = rewind((&b"abc"[..]).chain(Broken), true, 2);
        for _ in 0..2 {
            assert_eq!(all(&mut input), (b"abc".to_vec(), Some("unplugged".into())));
            assert!(input.copy_failure().is_none());
        }
    }

    #[test]
    fn nowhere_to_keep_it_is_an_error_each_time() {
        let mut input =
            Rewind::with_limit(Box::new(io::repeat(1).take(100)), true, Some(Path::new("/no/such/folder")), 10);
        for _ in 0..2 {
            let (out, error) = all(&mut input);
            assert!(out.len() < 100);
            assert!(error.unwrap().starts_with("cannot keep it for the second reading in a temporary file: "));
            assert_eq!(input.copy_failure().unwrap().kind(), io::ErrorKind::NotFound);
        }
    }
}
