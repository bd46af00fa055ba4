//! The sources of documents: files, folders, standard input; plain text, JSON lines, CSV, Parquet, HTML, web archives;
//! compressed or not.
//!
//! Reading has two steps, so that it can use many threads. One thread reads bytes, decompresses them and cuts them into
//! [`Batch`]es of whole records ([`Source::read`]). Any thread then parses a batch into documents
//! ([`Batch::documents`]). Memory is bounded by the batch size and the record limit, never by the input.
//!
//! An error in one file or record is a [`Problem`] in the batch where it occurred: it is reported, and the run
//! continues.
//!
//! | file | one idea |
//! |---|---|
//! | `program` | files that another program turns into text |
//! | `opaque` | files that hold no text, by their first bytes |
//! | `options` | options: formats, limits |
//! | `path` | the path of a field; which elements of an array it leads through |
//! | `fields` | the fields of records; the text in several of them |
//! | `input`, `walk` | paths and folders, in their order |
//! | `identity` | the names of one file |
//! | `rewind` | standard input, read twice |
//! | `compression`, `decompress`, `reader` | compressed bytes → bytes |
//! | `file` | one file: its format, its pieces |
//! | `cut` | bytes → whole records |
//! | `live` | lines and records of a live stream |
//! | `warc` | the same for archives; a record → a page |
//! | `record` | one record, by its number |
//! | `documents`, `records` | documents that a program has in memory, or makes one by one |
//! | `batch` | whole records → documents, on any thread |
//! | `parquet` | columns of a file with random access → ranges of rows |
//! | `arrow`, `arrow_table` | columns in memory → ranges of rows |
//! | `lines`, `jsonl`, `csv` | the records of each format |
//! | `label` | encodings that are named |
//! | `decode`, `html` | bytes → text; markup → text |
//! | `rest`, `snip`, `compress` | a file without some of its records; a record without a part of its text; bytes → compressed bytes |

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "arrow")]
mod arrow_table;
mod batch;
#[cfg(feature = "clean")]
mod compress;
mod compression;
#[cfg(feature = "files")]
mod counts;
#[cfg(feature = "files")]
mod csv;
#[cfg(feature = "files")]
mod cut;
mod decode;
mod decompress;
mod document;
mod documents;
mod fields;
#[cfg(feature = "files")]
mod file;
#[cfg(feature = "files")]
mod globs;
#[cfg(feature = "html")]
pub(crate) mod html;
pub(crate) mod identity;
#[cfg(feature = "files")]
mod input;
mod jsonl;
mod label;
mod lacking;
mod lines;
mod live;
mod members;
mod opaque;
mod options;
mod page_text;
#[cfg(feature = "parquet")]
mod parquet;
mod path;
mod problem;
#[cfg(feature = "files")]
mod program;
mod rank;
mod ranking;
#[cfg(feature = "files")]
mod reader;
mod record;
mod records;
#[cfg(feature = "clean")]
pub(crate) mod rejected;
#[cfg(feature = "clean")]
pub(crate) mod rest;
#[cfg(feature = "files")]
mod rewind;
#[cfg(feature = "clean")]
pub(crate) mod snip;
#[cfg(feature = "files")]
mod tally;
#[cfg(feature = "files")]
mod walk;
#[cfg(feature = "warc")]
mod warc;

#[cfg(feature = "arrow")]
pub use arrow_table::ArrowTable;
pub use batch::Batch;
#[cfg(feature = "files")]
pub use counts::Counts;
pub(crate) use decompress::open;
pub use document::{Document, Place};
pub(crate) use document::{is_name_of, is_numbered};
pub use documents::Documents;
pub use fields::{IdFields, TextFields};
#[cfg(feature = "files")]
pub use globs::Globs;
#[cfg(feature = "html")]
pub use html::page_text;
pub use identity::FileId;
#[cfg(feature = "files")]
pub use input::Input;
#[cfg(feature = "clean")]
pub(crate) use input::Listed;
pub use label::Encoding;
pub use lacking::{Lacking, LackingFields};
pub use live::{Chunk, Chunks, EachRecord, Live};
pub use opaque::opaque;
pub use options::{FORMATS, Format, FormatName, ReadOptions, ReferenceFields};
pub use page_text::PageText;
pub use path::FieldPath;
pub use problem::{Problem, ProblemKind, Severity};
#[cfg(feature = "files")]
pub use program::{Program, end_programs};
pub use rank::{Number, Rank};
pub(crate) use rank::{RankValue, RankedNumber};
pub(crate) use ranking::among;
#[cfg(all(feature = "files", feature = "report"))]
pub(crate) use ranking::values_shown;
pub use ranking::{RankBy, Ranking};
pub use record::{NoRecord, Record};
pub use records::Records;
#[cfg(feature = "clean")]
pub use rejected::write_rejected;
#[cfg(any(feature = "check", feature = "clean"))]
pub(crate) use walk::display_path;
#[cfg(feature = "clean")]
pub(crate) use walk::{DESCRIPTION, path_of};

use crate::error::Error;
use std::ops::ControlFlow;

/// A source of documents, which come in the same order each time it is read.
pub trait Source: Send {
    /// Reads everything once, passing batches in order to `deliver`. Stops early on `Break`. Each call must yield the same
    /// documents.
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>);

    /// Announces, before the first reading, that there may be a second one. A source that can be read only once then
    /// keeps a copy; any other does nothing.
    fn keep_for_second_read(&mut self) {}

    /// Why the last reading ended early, if something failed that is not a problem of a single file: the copy for a second
    /// reading cannot be written. A run ends with this error.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// The names of the fields that its first records have, as a list for a message about a field that none has. `None` if they
    /// have no fields, or their fields are not known.
    fn field_names(&mut self) -> Option<String> {
        None
    }

    /// The number of bytes that [`read`](Self::read) will read, counted as in [`Batch::bytes_read`], if known.
    fn total_bytes(&self) -> Option<u64> {
        None
    }
}
