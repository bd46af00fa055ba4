//! A stream whose start can be examined before choosing how to read it.

use super::compression::Unreadable;
use super::decompress::{Bytes, Counted, Failing, bytes_of};
#[cfg(feature = "warc")]
use super::decompress::{Resumed, is_damage, resumed};
use super::members::Members;
use super::options::ReadOptions;
use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;

/// The length of the start.
const HEAD_BYTES: usize = 64 << 10;

/// A stream: its start, in memory, and the rest.
pub(super) struct Reader<'a> {
    /// Bytes that were read but not taken.
    pub head: Vec<u8>,
    rest: Option<Box<dyn Read + 'a>>,
    /// The error that ended the stream, if any. The bytes read before it are valid.
    pub failure: Option<io::Error>,
    /// What failed because compressed data is damaged.
    #[cfg(feature = "warc")]
    damaged: Option<Box<dyn Read + 'a>>,
    /// Where members of gzip begin.
    #[cfg_attr(not(feature = "warc"), allow(dead_code))]
    pub members: Members,
    /// Where bytes are counted, unless the stream does so itself. Between the stream and the buffer there is then nothing that
    /// would have to clear the buffer first.
    consumed: Option<Rc<Cell<u64>>>,
}

impl<'a> Reader<'a> {
    pub fn new(rest: Box<dyn Read + 'a>) -> Self {
        Reader {
            head: Vec::new(),
            rest: Some(rest),
            failure: None,
            #[cfg(feature = "warc")]
            damaged: None,
            members: Members::default(),
            consumed: None,
        }
    }

    /// The same stream, in which members of gzip begin here.
    pub fn with_members(self, members: Members) -> Self {
        Reader { members, ..self }
    }

    /// The bytes of a file, decompressed if they are compressed; see [`decompressed`](super::decompress::decompressed).
    pub fn of(raw: impl Read + 'a, consumed: Rc<Cell<u64>>, options: &ReadOptions) -> io::Result<Self> {
        let members = Members::default();
        Ok(match bytes_of(raw, Rc::clone(&consumed), &members, options)? {
            Bytes::Plain(raw) => Reader::counted(Box::new(raw), consumed),
            Bytes::Decompressed(bytes) => Reader::new(bytes).with_members(members),
        })
    }

    /// A stream whose bytes are counted as they are read, and whose errors are marked as [`Unreadable`].
    fn counted(rest: Box<dyn Read + 'a>, consumed: Rc<Cell<u64>>) -> Self {
        Reader { consumed: Some(consumed), ..Reader::new(rest) }
    }

    /// Reads the start into `head`. `expected` is the size of the file, if known; it only saves memory.
    pub fn fill_head(&mut self, expected: Option<u64>) {
        // One more, to find the end of the stream in the same go.
        let room = expected.map_or(HEAD_BYTES, |size| size.min(HEAD_BYTES as u64) as usize + 1);
        let mut head = Vec::with_capacity(room);
        self.fill(&mut head, HEAD_BYTES);
        self.head = head;
    }

    /// Whether the whole stream has been read.
    pub fn is_ended(&self) -> bool {
        self.rest.is_none()
    }

    /// Appends up to `bytes` bytes, fewer only at the end of the stream.
    pub fn fill(&mut self, buffer: &mut Vec<u8>, bytes: usize) {
        let Some(rest) = &mut self.rest else { return };
        let before = buffer.len();
        let read = rest.take(bytes as u64).read_to_end(buffer);
        self.count(buffer.len() - before);
        match read {
            Ok(n) if n == bytes => {}
            Ok(_) => self.rest = None,
            Err(error) => self.fail(error),
        }
    }

    fn count(&self, bytes: usize) {
        if let Some(consumed) = &self.consumed {
            consumed.set(consumed.get() + bytes as u64);
        }
    }

    /// After a failure: continues after the damage of compressed data, if a record of a web archive begins there.
    #[cfg(feature = "warc")]
    pub fn resume(&mut self) -> Option<Resumed> {
        let mut rest = self.damaged.take()?;
        let error = loop {
            match rest.read(&mut [0]) {
                Ok(_) => return None,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break error,
            }
        };
        let resumed = resumed(&error);
        match resumed {
            Some(Resumed { to: Some(_), .. }) => self.rest = Some(rest),
            Some(Resumed { to: None, .. }) => {}
            None => self.failure = Some(error),
        }
        resumed
    }

    fn fail(&mut self, error: io::Error) {
        #[cfg(feature = "warc")]
        if is_damage(&error) {
            self.damaged = self.rest.take();
        }
        self.failure = Some(match self.consumed {
            None => error,
            Some(_) => io::Error::new(error.kind(), Unreadable(error)),
        });
        self.rest = None;
    }

    /// Appends available bytes, at least `least` and at most `most`; fewer only at the end of the stream. Blocks only
    /// for the first `least` bytes.
    #[cfg(feature = "warc")]
    pub fn fill_some(&mut self, buffer: &mut Vec<u8>, least: usize, most: usize) {
        let start = buffer.len();
        buffer.resize(start + most.max(least), 0);
        let mut end = start;
        while let Some(rest) = &mut self.rest
            && end - start < least
        {
            match rest.read(&mut buffer[end..]) {
                Ok(0) => self.rest = None,
                Ok(n) => end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.fail(error),
            }
        }
        self.count(end - start);
        buffer.truncate(end);
    }

    /// The same stream through `adapter`, from its start.
    pub fn map<R: Read + 'a>(self, adapter: impl FnOnce(Box<dyn Read + 'a>) -> R) -> Self {
        let head = Cursor::new(self.head);
        let through: Box<dyn Read + 'a> = match (self.rest, self.consumed, self.failure) {
            (Some(inner), Some(consumed), _) => Box::new(head.chain(Counted { inner, consumed })),
            (Some(rest), None, _) => Box::new(head.chain(rest)),
            (None, _, Some(error)) => Box::new(head.chain(Failing(Some(error)))),
            (None, _, None) => Box::new(head),
        };
        Reader::new(Box::new(adapter(through)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_stream_is_its_head() {
        for expected in [None, Some(3), Some(0), Some(1 << 40)] {
            let mut reader = Reader::new(Box::new(&b"abc"[..]));
            reader.fill_head(expected);
            assert!(reader.is_ended());
            assert_eq!(reader.head, b"abc");
        }
    }

    #[test]
    fn what_came_before_a_failure_is_kept_through_an_adapter() {
        let broken = (&b"abc"[..]).chain(Failing(Some(io::Error::other("damaged"))));
        let mut reader = Reader::new(Box::new(broken));
        reader.fill_head(None);
        assert_eq!(reader.head, b"abc");
        let mut reader = reader.map(|inner| inner);
        reader.fill_head(None);
        assert_eq!((&reader.head[..], reader.failure.unwrap().to_string()), (&b"abc"[..], "damaged".to_owned()));
    }

    #[test]
    fn a_long_stream_goes_on_after_its_head() {
        let bytes: Vec<u8> = (0..200_000u32).map(|n| n as u8).collect();
        let mut reader = Reader::new(Box::new(&bytes[..]));
        reader.fill_head(None);
        let mut all = std::mem::take(&mut reader.head);
        while !reader.is_ended() {
            reader.fill(&mut all, 1000);
        }
        assert_eq!(all, bytes);
    }

    #[test]
    fn bytes_are_counted_and_errors_marked_once_also_through_an_adapter() {
        for adapted in [false, true] {
            let broken = (&b"abcdef"[..]).chain(Failing(Some(io::Error::other("damaged"))));
            let consumed = Rc::default();
            let mut reader = Reader::counted(Box::new(broken), Rc::clone(&consumed));
            let mut bytes = Vec::new();
            if adapted {
                reader = reader.map(|inner| inner);
            }
            reader.fill(&mut bytes, 4);
            assert_eq!((&bytes[..], consumed.get(), reader.failure.is_none()), (&b"abcd"[..], 4, true));
            reader.fill(&mut bytes, 4);
            let failure = reader.failure.unwrap();
            let expected = (&b"abcdef"[..], 6, "cannot read: damaged".to_owned());
            assert_eq!((&bytes[..], consumed.get(), failure.to_string()), expected);
        }
    }
}
