//! The options of reading: the format, the fields, the limits.

use std::path::PathBuf;
use std::sync::Arc;

use super::fields::{IdFields, TextFields};
#[cfg(feature = "files")]
use super::globs::Globs;
use super::label::Encoding;
use super::lacking::LackingFields;
use super::page_text::PageText;
use super::path::FieldPath;
#[cfg(feature = "files")]
use super::program::Program;
#[cfg(any(feature = "files", feature = "arrow"))]
use super::ranking::RankBy;
use super::ranking::Ranking;
use crate::error::Error;

/// How files are cut into documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Determined for each file by its name, or else by its first bytes.
    #[default]
    Auto,
    /// The whole file is one document.
    Text,
    /// Each line is a document.
    Lines,
    /// Each line is a JSON object with the text in a field.
    Jsonl,
    /// Comma-separated records with a header row.
    Csv,
    /// Tab-separated records with a header row.
    Tsv,
    /// The file is one page of HTML, read without its markup. Needs the feature `html`.
    Html,
    /// A web archive, WARC or WET. Each page in it is a document. Needs the feature `warc`.
    Warc,
    /// A Parquet file, each row of which is a document. It must be a file on disk. Needs the feature `parquet`.
    Parquet,
}

/// A row of [`FORMATS`].
#[derive(Debug)]
pub struct FormatName {
    /// The format.
    pub format: Format,
    /// Its name on the command line.
    pub name: &'static str,
    /// Aliases.
    pub aliases: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
}

/// Every format, with its names.
pub static FORMATS: &[FormatName] = &[
    FormatName {
        format: Format::Auto,
        name: "auto",
        aliases: &[],
        help: "by the file name (.jsonl .ndjson .csv .tsv .html .htm .xhtml .warc .wet .parquet .parq .pq; .json as JSON lines if it has them; else text); standard input and names without extension by content",
    },
    FormatName { format: Format::Text, name: "text", aliases: &[], help: "each file is one document" },
    FormatName { format: Format::Lines, name: "lines", aliases: &[], help: "each line is a document" },
    FormatName {
        format: Format::Jsonl,
        name: "jsonl",
        aliases: &["ndjson"],
        help: "each line is a JSON object, the text in `text-field`",
    },
    FormatName { format: Format::Csv, name: "csv", aliases: &[], help: "comma-separated, with a header row" },
    FormatName { format: Format::Tsv, name: "tsv", aliases: &[], help: "tab-separated, with a header row" },
    FormatName {
        format: Format::Html,
        name: "html",
        aliases: &[],
        help: "each file is one page, of which the text is read",
    },
    FormatName {
        format: Format::Warc,
        name: "warc",
        aliases: &["wet"],
        help: "each page or text in an archive of the web (WARC, WET) is a document, its URI the id",
    },
    FormatName {
        format: Format::Parquet,
        name: "parquet",
        aliases: &[],
        help: "each row of a file on disk is a document, the text in the column `text-field`",
    },
];

impl Format {
    /// The format with this name or alias.
    pub fn by_name(name: &str) -> Result<Format, Error> {
        let row = FORMATS.iter().find(|row| row.name == name || row.aliases.contains(&name));
        row.map(|row| row.format).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|row| row.name).collect();
            Error::parameter("format", name, format!("one of {}", names.join(", ")))
        })
    }

    /// The feature that this build needs, and lacks, to read files of this format.
    pub fn missing_feature(self) -> Option<&'static str> {
        let (feature, there) = match self {
            Format::Html => ("html", cfg!(feature = "html")),
            Format::Warc => ("warc", cfg!(feature = "warc")),
            Format::Parquet => ("parquet", cfg!(feature = "parquet")),
            Format::Auto | Format::Text | Format::Lines | Format::Jsonl | Format::Csv | Format::Tsv => {
                ("files", cfg!(feature = "files"))
            }
        };
        (!there).then_some(feature)
    }

    /// Its name in [`FORMATS`].
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|row| row.format == self).map_or("auto", |row| row.name)
    }
}

/// The fields of the records of a reference, and its format, where they differ from those of the documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceFields {
    /// The fields of the text; `None` is [`ReadOptions::text_fields`].
    pub text: Option<TextFields>,
    /// The fields of the id; `None` is [`ReadOptions::id_field`].
    pub id: Option<IdFields>,
    /// How its files are cut into documents; `None` is [`ReadOptions::format`].
    pub format: Option<Format>,
    /// The encoding; `None` is [`ReadOptions::encoding`].
    pub encoding: Option<Encoding>,
}

/// Options of reading.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// How files are cut into documents.
    pub format: Format,
    /// The encoding of text, in place of a guess, and of JSON lines in place of UTF-8. A byte order mark at the beginning of a file
    /// decides before it, and it decides before the declaration of a page in a file. Of the pages of an archive it is the encoding of
    /// those that neither their server nor they themselves name. Parquet, and what a program prints, is UTF-8 in any case. A stream
    /// ([`Live`](super::Live)) of lines cannot be UTF-16.
    pub encoding: Option<Encoding>,
    /// The fields of the text, in JSON lines, CSV and Parquet.
    pub text_fields: TextFields,
    /// What counts the records that lack a field of the text, if they are counted. It belongs to one run.
    pub lacking: Option<Arc<LackingFields>>,
    /// The field of the id, or several, in JSON lines, CSV and Parquet. The id of a record without one is `path:LINE`, in Parquet
    /// `path:ROW`.
    pub id_field: IdFields,
    /// The fields of a reference, where they differ from these.
    pub reference: ReferenceFields,
    /// Whether what is read is a reference, which only matters to messages: they name the parameters `against-text-field` and
    /// `against-id-field` then. [`of_reference`](Self::of_reference) sets it.
    pub is_reference: bool,
    /// The text that is read of HTML pages, in files or in records of an archive.
    pub page_text: PageText,
    /// Whether each text field of JSON lines, CSV and Parquet is a page, or a part of one, of which the text is read as of
    /// HTML pages. It is UTF-8 whatever it declares. A field without tags and character references stays as it is. Needs
    /// the feature `html`.
    pub pages_in_fields: bool,
    /// What separates the fields of a row, in [`Format::Csv`] and [`Format::Tsv`], instead of a comma or a tab. A byte of
    /// ASCII, but neither a quotation mark, nor a line end, nor NUL.
    pub delimiter: Option<u8>,
    /// The maximum length of a record, in decompressed bytes; see [`ReadOptions::MAX_RECORD`]. Bounds memory.
    pub max_record: usize,
    /// The maximum expansion of a compressed file, or of the pages of a Parquet file, or of the values that rows of one of its
    /// columns repeat, as a multiple of the size, beyond one record. Bounds the cost of a crafted file.
    pub max_expansion: u64,
    /// The maximum window of zstd and dictionary of xz, in bytes; see [`ReadOptions::MAX_WINDOW`]. Their decoders hold as much
    /// in memory. For zstd the largest power of two that is not larger.
    pub max_window: u64,
    /// Whether a [`Live`](super::Live) stream that begins like compressed data is decompressed. Otherwise its bytes are read as they are.
    pub decompresses: bool,
    /// Whether a [`Problem`](super::Problem) carries the rejected record.
    pub keep_rejected: bool,
    /// Whether files and folders whose name starts with a dot are read when found inside a folder.
    pub hidden: bool,
    /// The files in folders that are read: those that match, if there are any globs. Folders are walked, and files that are
    /// named themselves are read, in any case.
    #[cfg(feature = "files")]
    pub include: Globs,
    /// The files and folders in folders that are not read.
    #[cfg(feature = "files")]
    pub exclude: Globs,
    /// Programs that some files are read through, each as one document, whatever the format. Of several for one file the
    /// first reads it.
    #[cfg(feature = "files")]
    pub programs: Vec<Arc<Program>>,
    /// Which documents are preferred over their near-duplicates.
    pub ranking: Ranking,
    /// The approximate size of a batch, in bytes of records. Affects the speed, never the documents.
    pub batch_bytes: usize,
    /// The folder for a copy of large standard input that is read twice; `None` is the system's folder.
    pub temp_dir: Option<PathBuf>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: Format::Auto,
            encoding: None,
            text_fields: FieldPath::single("text").into(),
            lacking: None,
            id_field: IdFields::single("id"),
            reference: ReferenceFields::default(),
            is_reference: false,
            page_text: PageText::All,
            pages_in_fields: false,
            delimiter: None,
            max_record: 64 << 20,
            max_expansion: 1000,
            max_window: 128 << 20,
            decompresses: true,
            keep_rejected: false,
            hidden: false,
            #[cfg(feature = "files")]
            include: Globs::default(),
            #[cfg(feature = "files")]
            exclude: Globs::default(),
            #[cfg(feature = "files")]
            programs: Vec::new(),
            ranking: Ranking::default(),
            batch_bytes: 1 << 20,
            temp_dir: None,
        }
    }
}

impl ReadOptions {
    /// The valid values of `max_record`.
    pub const MAX_RECORD: std::ops::RangeInclusive<usize> = 1..=1 << 30;

    /// The valid values of `max_window`. The largest is also the largest of zstd.
    pub const MAX_WINDOW: std::ops::RangeInclusive<u64> = 1 << 20..=2 << 30;

    /// The same for the documents of a reference, whose records may have other fields.
    #[must_use]
    pub fn of_reference(&self) -> Self {
        let ReferenceFields { text, id, format, encoding } = self.reference.clone();
        ReadOptions {
            format: format.unwrap_or(self.format),
            text_fields: text.unwrap_or_else(|| self.text_fields.clone()),
            id_field: id.unwrap_or_else(|| self.id_field.clone()),
            encoding: encoding.or(self.encoding),
            is_reference: true,
            ..self.clone()
        }
    }

    /// What to choose where a record lacks the fields of the text, as the end of a message.
    pub(super) fn text_advice(&self) -> &'static str {
        match (self.is_reference, &self.reference.text) {
            (false, _) => "choose with `text-field`",
            (true, Some(_)) => "choose with `against-text-field`",
            (true, None) => "choose with `text-field`, or for the reference alone with `against-text-field`",
        }
    }

    /// The parameter that chooses the fields of the text, for messages.
    #[cfg(any(feature = "files", feature = "arrow"))]
    pub(super) fn text_parameter(&self) -> &'static str {
        if self.is_reference { "against-text-field" } else { "text-field" }
    }

    /// The parameter that chooses the field of the id, for messages.
    #[cfg(any(feature = "parquet", feature = "arrow"))]
    pub(super) fn id_parameter(&self) -> &'static str {
        if self.is_reference { "against-id-field" } else { "id-field" }
    }

    /// The text of pages that is read of fields, if they are pages.
    pub(super) fn field_pages(&self) -> Option<PageText> {
        self.pages_in_fields.then_some(self.page_text)
    }

    /// The messages about columns that are read and have the name of another one, given how many have a name.
    #[cfg(any(feature = "files", feature = "arrow"))]
    pub(super) fn repeated_columns(&self, named: impl Fn(&str) -> usize) -> Vec<String> {
        let is_column = |name: &str| named(name) > 0;
        let (texts, ids) = (self.text_fields.in_columns(is_column), self.id_field.in_columns(is_column));
        let mut messages = Vec::new();
        for path in texts.chain(ids).chain(self.ranking.by.iter().filter_map(RankBy::field)) {
            let name = if is_column(path.name()) { path.name() } else { path.first() };
            let message = match named(name) {
                0 | 1 => continue,
                count => format!("{count} columns are named '{name}': the first one was read"),
            };
            if !messages.contains(&message) {
                messages.push(message);
            }
        }
        messages
    }

    /// The program that a file is read through, if any.
    #[cfg(feature = "files")]
    pub(super) fn program_for(&self, path: &std::path::Path) -> Option<&Arc<Program>> {
        self.programs.iter().find(|program| program.reads(path))
    }

    /// What separates the fields of a row in files of this format, if they have rows of fields.
    #[cfg(feature = "files")]
    pub(super) fn delimiter(&self, format: Format) -> Option<u8> {
        match format {
            Format::Csv => Some(self.delimiter.unwrap_or(b',')),
            Format::Tsv => Some(self.delimiter.unwrap_or(b'\t')),
            _ => None,
        }
    }

    /// Checks that every value is in its range.
    pub fn validate(&self) -> Result<(), Error> {
        if !Self::MAX_RECORD.contains(&self.max_record) {
            return Err(Error::parameter("max-record", self.max_record, "1 to 1073741824 bytes (1 GiB)"));
        }
        if !Self::MAX_WINDOW.contains(&self.max_window) {
            return Err(Error::parameter("max-window", self.max_window, "1048576 to 2147483648 bytes (2 GiB)"));
        }
        if self.max_expansion == 0 {
            return Err(Error::parameter("max-expansion", self.max_expansion, "1 or more"));
        }
        if let Some(delimiter) = self.delimiter
            && (!delimiter.is_ascii() || matches!(delimiter, b'\0' | b'\n' | b'\r' | b'"'))
        {
            let expected = "a character of ASCII that is neither a quotation mark nor a line end";
            return Err(Error::parameter("delimiter", delimiter.escape_ascii(), expected));
        }
        if self.pages_in_fields && !cfg!(feature = "html") {
            return Err(Error::Unsuitable(
                "pages in fields are only read by programs built with the feature html".into(),
            ));
        }
        if self.page_text == PageText::Main && !cfg!(feature = "main-content") {
            return Err(Error::Unsuitable(
                "main text is only found by programs built with the feature main-content".into(),
            ));
        }
        Ok(())
    }
}

/// The beginning of every record of a web archive.
pub(super) const WARC_MAGIC: &[u8] = b"WARC/";

/// The beginning and the end of every Parquet file.
pub(super) const PARQUET_MAGIC: &[u8] = b"PAR1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_each_format_once() {
        let mut names: Vec<&str> =
            FORMATS.iter().flat_map(|row| row.aliases.iter().chain([&row.name])).copied().collect();
        for name in &names {
            assert!(Format::by_name(name).is_ok(), "{name}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, ["auto", "csv", "html", "jsonl", "lines", "ndjson", "parquet", "text", "tsv", "warc", "wet"]);
        assert!(FORMATS.iter().all(|row| row.format.name() == row.name && !row.help.is_empty()));
    }

    #[test]
    fn an_unknown_format_lists_the_known_ones() {
        let message = Format::by_name("xml").unwrap_err().to_string();
        assert_eq!(
            message,
            "invalid value 'xml' for `format`: expected one of auto, text, lines, jsonl, csv, tsv, html, warc, parquet"
        );
    }

    #[test]
    fn limits_out_of_range_are_refused() {
        assert!(ReadOptions::default().validate().is_ok());
        assert!(ReadOptions { max_record: 0, ..ReadOptions::default() }.validate().is_err());
        assert!(ReadOptions { max_record: (1 << 30) + 1, ..ReadOptions::default() }.validate().is_err());
        assert!(ReadOptions { max_expansion: 0, ..ReadOptions::default() }.validate().is_err());
        for (delimiter, is_valid) in
            [(b'|', true), (b'\t', true), (b'"', false), (b'\n', false), (0, false), (0xa7, false)]
        {
            assert_eq!(
                ReadOptions { delimiter: Some(delimiter), ..ReadOptions::default() }.validate().is_ok(),
                is_valid
            );
        }
        for max_window in [0, (1 << 20) - 1, (2 << 30) + 1] {
            assert!(ReadOptions { max_window, ..ReadOptions::default() }.validate().is_err());
        }
    }
}
