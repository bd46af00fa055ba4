//! A record that is longer than allowed by its header: its end is searched, and none of it is held.
//!
//! If that length is wrong, the records up to the end that it names would be lost with it. So each header of a record on
//! the way ends it: the first line names a version, the type is a word, and the length is a number. Such a header within a
//! record that really is too long ends it as well: both look the same until the end, and that may be out of reach.

use super::head::{END, Fields, HEAD_BYTES, head_length, length};
use crate::source::options::WARC_MAGIC;
use memchr::memmem::Finder;

/// What stands before a record, as far as it is searched: two line ends precede this.
const START: &[u8] = b"\nWARC/";

/// The bytes of a line end, at most.
const LINE_END: usize = 2;

/// A record whose end is searched.
pub(super) struct Skip {
    /// The position of its first byte in the archive.
    pub start: u64,
    /// The length of its block, by its header.
    pub length: usize,
    /// The position after its block, by its header.
    end: u64,
    /// Whether it may hold text.
    pub text: bool,
    /// Whether it counts as a page without text.
    pub textless: bool,
    finder: Finder<'static>,
}

/// How a record ends, and where reading continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With its block, as its header says.
    Regular(usize),
    /// Another record begins before that.
    Another(usize),
    /// Its block does not end where its header says.
    Astray(usize),
    /// With the input.
    Cut,
}

impl Skip {
    /// A record with this start, and with these lengths of its header and its block.
    pub fn new(start: u64, head: usize, length: usize, (text, textless): (bool, bool)) -> Self {
        let end = start.saturating_add(head as u64).saturating_add(length as u64);
        Skip { start, length, end, text, textless, finder: Finder::new(START) }
    }

    /// The position in a header of this length where the search begins: its own empty line may precede a record, if the
    /// block is missing.
    pub fn first(head: usize) -> usize {
        head.saturating_sub(LINE_END + 1)
    }

    /// Searches the end in these bytes, from `at` on; `base` is their position in the archive. Moves `at` to the first of them
    /// that is still needed. `None` if more are needed.
    ///
    /// Looks at each byte once, and again at those of one header and of a few line ends if these are not complete.
    pub fn search(&self, bytes: &[u8], at: &mut usize, base: u64, ended: bool) -> Option<Ending> {
        let end = usize::try_from(self.end.saturating_sub(base)).unwrap_or(usize::MAX);
        // Another record begins before the end of this one, or in the place of its last line ends.
        let most = end.saturating_add(END.len() + WARC_MAGIC.len() - 1);
        let here = &bytes[..bytes.len().min(most)];
        while let Some(found) = self.finder.find(&here[*at..]) {
            let line_end = *at + found;
            let start = line_end + 1;
            match ends_line(&bytes[*at..line_end]).then(|| begins_record(&bytes[start..], ended)) {
                Some(Some(true)) => return Some(Ending::Another(start)),
                Some(None) => {
                    *at = line_end.saturating_sub(LINE_END).max(*at);
                    return None;
                }
                // Here the end of this record cannot be.
                Some(Some(false)) | None if start >= end => return Some(Ending::Astray(start)),
                Some(Some(false)) | None => *at = start,
            }
        }
        let after = bytes.get(end..).unwrap_or(b"");
        if after.starts_with(END) || (ended && bytes.len() >= end && END.starts_with(after)) {
            return Some(Ending::Regular(end));
        }
        if ended && bytes.len() < end {
            return Some(Ending::Cut);
        }
        let last = end.saturating_sub(END.len()).max(*at);
        if ended || bytes.len() >= most {
            return Some(Ending::Astray(last));
        }
        // The last bytes may begin a match.
        *at = bytes.len().saturating_sub(LINE_END + START.len() - 1).clamp(*at, last);
        None
    }
}

/// Whether a line end is the last of these bytes, but for a carriage return.
fn ends_line(bytes: &[u8]) -> bool {
    bytes.strip_suffix(b"\r").unwrap_or(bytes).ends_with(b"\n")
}

/// Whether a record begins with these bytes; `None` if that depends on more of them.
fn begins_record(bytes: &[u8], ended: bool) -> Option<bool> {
    let Some(head) = head_length(bytes) else {
        return (ended || bytes.len() >= HEAD_BYTES).then_some(false);
    };
    let (head, fields) = (&bytes[..head], Fields(&bytes[..head]));
    let is_typed = fields.get("warc-type").is_some_and(is_word);
    Some(names_version(head) && is_typed && fields.get("content-length").and_then(length).is_some())
}

/// Whether the first line is `WARC/`, and two numbers with a full stop between them.
fn names_version(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or(b"").trim_ascii_end();
    let is_number = |digits: &[u8]| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let mut numbers = line.strip_prefix(WARC_MAGIC).unwrap_or(b"").split(|&byte| byte == b'.');
    numbers.next().is_some_and(is_number) && numbers.next().is_some_and(is_number) && numbers.next().is_none()
}

/// Whether this is the name of a type, known or not.
fn is_word(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}
