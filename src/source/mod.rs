//! Where documents come from: files, folders, standard input; plain text, JSON lines, CSV, HTML, archives of the web; compressed
//! or not.
//!
//! Reading is cut in two so that it can go on many threads. One thread reads bytes, decompresses them and cuts them into
//! [`Batch`]es of whole records ([`Source::read`]); any thread then parses a batch into documents ([`Batch::documents`]).
//! Memory is bounded by the batch size and the record limit, never by the input.
//!
//! Trouble with one file or record is a [`Problem`] in the batch where it happened: the run goes on and remembers.
//!
//! | file | one idea |
//! |---|---|
//! | `options` | what can be chosen: formats, fields, limits |
//! | `input`, `walk` | paths and folders, in their order |
//! | `rewind` | standard input, read twice |
//! | `decompress`, `reader` | compressed bytes → bytes |
//! | `file` | one file: its format, its pieces |
//! | `cut` | bytes → whole records |
//! | `live` | lines and records of a stream as they come |
//! | `warc` | the same for archives; a record → a page |
//! | `batch` | whole records → documents, on any thread |
//! | `lines`, `jsonl`, `csv` | what a record is in each format |
//! | `decode`, `html` | bytes → text; markup → text |

mod batch;
mod csv;
mod cut;
mod decode;
mod decompress;
mod documents;
mod file;
pub(crate) mod html;
mod input;
mod jsonl;
mod lines;
mod live;
mod options;
mod reader;
mod rewind;
mod walk;
mod warc;

pub use batch::Batch;
pub use decode::page_text;
pub use documents::Documents;
pub use input::{Counts, Input};
pub use live::{Chunk, Chunks, EachRecord, Live};
pub use options::{FORMATS, FieldPath, Format, FormatName, Options, PageText};

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

/// Something that yields documents, in the same order each time it is read.
pub trait Source: Send {
    /// Reads everything once, handing over batches in order. Stops early when told to break.
    /// May be called again, and must then yield the same documents.
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>);

    /// Told before the first reading that there may be a second one. A source that cannot be read twice keeps a copy from now
    /// on; one that can does nothing.
    fn keep_for_second_read(&mut self) {}

    /// How many bytes [`read`](Self::read) will get through, counted as [`Batch::bytes_read`] counts them, if that is known.
    fn total_bytes(&self) -> Option<u64> {
        None
    }
}

/// The bytes of one file that is no document, decompressed if they are compressed.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    decompress::open(File::open(path)?, Default::default(), &Options::default())
}

/// One document, borrowed from its batch where it could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document<'a> {
    /// Unique among the documents of a run.
    pub id: Cow<'a, str>,
    /// The text, decoded.
    pub text: Cow<'a, str>,
    /// Where it stands, for messages.
    pub place: Place,
}

/// Where a record stands: a file, and a line in it (in an archive: a record) unless the whole file is meant. `-` is standard input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The path as given, `/`-separated.
    pub path: std::sync::Arc<str>,
    /// The line, or the number of the record in an archive, from 1; `None` for a whole file.
    pub line: Option<u64>,
}

impl Place {
    /// Whether an id is only this place, written as `path:LINE`.
    pub fn names(&self, id: &str) -> bool {
        let line = id.strip_prefix(&*self.path).and_then(|rest| rest.strip_prefix(':'));
        self.line.is_some_and(|own| line.is_some_and(|line| line.parse() == Ok(own)))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

/// How bad a [`Problem`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The main text of a page was wanted and not found, and all its text read. To be counted rather than told one by one.
    FellBack,
    /// The document was read, but not as it stood: say, bytes that are no text were replaced.
    Repaired,
    /// Left out on purpose, by rule: a binary file, a symbolic link that leads back to itself.
    Skipped,
    /// Should have been read and could not be. The exit status remembers it.
    Failed,
}

/// Something that went wrong with one file or one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// How bad.
    pub severity: Severity,
    /// What, with the offending value; one line, no full stop.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl Problem {
    /// A problem with a whole file, or with one line of it.
    pub(crate) fn new(severity: Severity, path: &str, line: Option<u64>, message: impl Into<String>) -> Self {
        Problem { place: Place { path: path.into(), line }, severity, message: message.into() }
    }
}
