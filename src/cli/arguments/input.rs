//! Which documents are read, and how: shared flags.

use super::super::spelling::spelled_help;
use super::values::{
    Defaulted, choice, chosen, file, indexed, is_typed, path, size, switch, value, values, whole_number,
};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use neardups::clean;
use neardups::source::{self, FORMATS};
use std::path::PathBuf;

/// The help heading of the flags of the input.
pub const INPUT_OPTIONS: &str = "Input";

/// How documents are read, as typed.
pub struct Input {
    /// `--format`, by any of its names.
    pub format: String,
    /// `--text-field`, each time it was given.
    pub text_fields: Defaulted<Vec<String>>,
    /// `--id-field`.
    pub id_field: Defaulted<String>,
    /// `--encoding`, a label.
    pub encoding: Option<String>,
    /// `--against-text-field`, each time it was given.
    pub reference_text_fields: Vec<String>,
    /// `--against-id-field`.
    pub reference_id_field: Option<String>,
    /// `--against-format`.
    pub reference_format: Option<String>,
    /// `--against-encoding`.
    pub reference_encoding: Option<String>,
    /// `--content`.
    pub content: Content,
    /// `--delimiter`.
    pub delimiter: Option<u8>,
    /// `--max-record`, in bytes.
    pub max_record: u64,
    /// `--max-expansion`.
    pub max_expansion: u64,
    /// `--max-window`, in bytes.
    pub max_window: u64,
    /// `--hidden`.
    pub hidden: bool,
    /// `--include`.
    pub include: Vec<String>,
    /// `--exclude`.
    pub exclude: Vec<String>,
    /// `--pre`, in its order.
    pub programs: Vec<Program>,
    /// `--rejects`.
    pub rejects: Option<PathBuf>,
    /// `--max-bad`.
    pub max_bad: u64,
    /// `--allow-empty`.
    pub allow_empty: bool,
}

/// A program that files are read through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// `--pre`.
    pub command: String,
    /// Its `--pre-glob`.
    pub globs: Vec<String>,
    /// `--pre-timeout`, in seconds.
    pub timeout: Option<u64>,
}

/// A glob belongs to the program before it, or to the first one.
fn programs(given: &ArgMatches) -> Vec<Program> {
    let timeout = value(given, "pre-timeout").copied();
    let mut programs: Vec<_> = indexed(given, "pre")
        .into_iter()
        .map(|(index, command)| (index, Program { command, globs: Vec::new(), timeout }))
        .collect();
    for (index, glob) in indexed(given, "pre-glob") {
        let before = programs.partition_point(|&(program, _)| program < index);
        if let Some((_, program)) = programs.get_mut(before.saturating_sub(1)) {
            program.globs.push(glob);
        }
    }
    programs.into_iter().map(|(_, program)| program).collect()
}

/// The memory of a decoder is part of that of the process.
fn default_window(given: &ArgMatches) -> u64 {
    let memory = value::<u64>(given, "memory").copied().unwrap_or(u64::MAX);
    memory.clamp(8 << 20, source::ReadOptions::default().max_window)
}

impl Input {
    /// Takes the values from what clap parsed. Flags that a command does not have count as not typed.
    pub fn new(given: &ArgMatches) -> Self {
        let text = |name: &str| value::<String>(given, name).expect("has a default").clone();
        let field = |name: &str| Defaulted { value: text(name), is_typed: is_typed(given, name) };
        Input {
            format: text("format"),
            text_fields: Defaulted { value: values(given, "text-field"), is_typed: is_typed(given, "text-field") },
            id_field: field("id-field"),
            encoding: value(given, "encoding").cloned(),
            reference_text_fields: values(given, "against-text-field"),
            reference_id_field: value(given, "against-id-field").cloned(),
            reference_format: value(given, "against-format").cloned(),
            reference_encoding: value(given, "against-encoding").cloned(),
            content: chosen(given, "content", CONTENTS).expect("has a default"),
            delimiter: value(given, "delimiter").copied(),
            max_record: *value(given, "max-record").expect("has a default"),
            max_expansion: *value(given, "max-expansion").expect("has a default"),
            max_window: value(given, "max-window").copied().unwrap_or_else(|| default_window(given)),
            hidden: switch(given, "hidden"),
            include: values(given, "include"),
            exclude: values(given, "exclude"),
            programs: programs(given),
            rejects: path(given, "rejects"),
            max_bad: max_bad(given),
            allow_empty: switch(given, "allow-empty"),
        }
    }
}

/// The files and folders that were typed.
pub fn paths(given: &ArgMatches) -> Vec<PathBuf> {
    values(given, "path")
}

/// The flags of a reference whose fields, format or encoding are not those of the documents.
pub fn reference_args() -> [Arg; 4] {
    [
        Arg::new("against-format")
            .long("against-format")
            .value_name("FORMAT")
            .requires("against")
            .value_parser(formats(|_| true))
            .hide_possible_values(true)
            .help("How files of --against are cut into documents, if not as --format says"),
        Arg::new("against-text-field")
            .long("against-text-field")
            .value_name("PATHS")
            .requires("against")
            .action(ArgAction::Append)
            .help("Where the text of a record of --against is, if not in --text-field")
            .long_help(
                "Where the text of a record of --against is, if not in --text-field. It is written like that option, and may name \
                 several fields.",
            ),
        Arg::new("against-id-field")
            .long("against-id-field")
            .value_name("PATHS")
            .requires("against")
            .help("Where the id of a record of --against is, if not in --id-field")
            .long_help(
                "Where the id of a record of --against is, if not in --id-field. It is written like that option, and may name several fields.",
            ),
        Arg::new("against-encoding")
            .long("against-encoding")
            .value_name("LABEL")
            .requires("against")
            .help("Encoding of the text of --against, if not that of --encoding"),
    ]
    .map(|arg| arg.help_heading(INPUT_OPTIONS))
}

/// `--on-error`.
pub fn on_error(given: &ArgMatches) -> Defaulted<OnError> {
    let value = chosen(given, "on-error", ON_ERROR).expect("has a default");
    Defaulted { value, is_typed: is_typed(given, "on-error") }
}

impl OnError {
    /// How it is typed.
    pub fn name(self) -> &'static str {
        ON_ERROR.iter().find(|row| row.1 == self).expect("each has a row").0
    }
}

/// `--content`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// All text of pages; fields are text.
    All,
    /// All text of pages, and fields are pages.
    Html,
    /// The main text of pages, and fields are pages.
    Main,
}

const CONTENTS: &[(&str, Content, &str)] = &[
    ("all", Content::All, "all visible text of pages, including menus and footers; fields of records are no pages"),
    ("html", Content::Html, "the same, and fields of records are pages"),
    (
        "main",
        Content::Main,
        "the main text of pages, or all text if none is found; fields of records are pages; many times slower",
    ),
];

impl Content {
    /// How it is typed.
    pub fn name(self) -> &'static str {
        CONTENTS.iter().find(|row| row.1 == self).expect("each has a row").0
    }
}

/// The delimiter that was typed: a character, or the name of a tab.
fn delimiter(typed: &str) -> Result<u8, String> {
    match typed.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        &[byte] if byte.is_ascii() && !matches!(byte, b'\0' | b'\n' | b'\r' | b'"') => Ok(byte),
        _ => Err("expected one character of ASCII other than a quotation mark, or tab".to_string()),
    }
}

/// The paths of the documents.
pub fn paths_arg() -> Arg {
    Arg::new("path")
        .value_name("PATH")
        .value_parser(value_parser!(PathBuf))
        .num_args(0..)
        .help("Files and folders; - is standard input, and the default if something is piped in")
}

/// The values of `--format`, of which help shows some.
pub fn formats(is_shown: impl Fn(&str) -> bool) -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| {
        let help = spelled_help(format.help).into_owned();
        PossibleValue::new(format.name).help(help).aliases(format.aliases.iter().copied()).hide(!is_shown(format.name))
    }))
}

/// The flags for how documents are read.
pub fn args() -> Vec<Arg> {
    let defaults = source::ReadOptions::default();
    vec![
        choice("format", "FORMAT", FORMATS.iter().map(|f| (f.name, f.help)), "How files are cut into documents")
            .value_parser(formats(|_| true))
            .default_value("auto"),
        field("text-field", "text", "Where the text of a record is: a field of JSON, CSV or Parquet; several are joined")
            .value_name("PATHS")
            .action(ArgAction::Append)
            .long_help(
                "Where the text of a record is: a key of JSON, keys joined by dots, or a column of CSV or Parquet. The texts of several \
                 fields, separated by commas or given by repeating the option, are joined in this order with a blank line between \
                 them; a record needs only one of them. messages[].content leads through the elements of an array of JSON, messages[0].content or messages[-1].content to one, and \
                 messages[role=user].content to those with this string in a field. A comma in a name is written as \\, (see 'dedup help formats').",
            ),
        field("id-field", "id", "Where the id of a record is; a record without one is identified as FILE:LINE")
            .value_name("PATHS")
            .long_help(
                "Where the id of a record is: a field as in --text-field, with a string or a number. Several fields, separated by commas, \
                 make one id, where one of them is not unique: --id-field repo,path makes ids such as 'linux,kernel/fork.c'. A comma or a \
                 backslash in a value is written with a backslash before it, so that other values make another id. A record that lacks one \
                 of the fields has no id, and is identified as FILE:LINE.",
            ),
        Arg::new("encoding")
            .long("encoding")
            .value_name("LABEL")
            .help("Encoding of the text, such as latin1, shift_jis or gbk, in place of a guess, and of UTF-8 for JSON")
            .long_help(
                "Encoding of the text, by a label of the Encoding Standard: windows-1252 (also latin1), iso-8859-2, windows-1251, koi8-r, \
                 shift_jis, euc-jp, gbk, big5, euc-kr, utf-16le, utf-8 and others. Without it, the encoding of text, lines and CSV that are not \
                 UTF-8 is guessed, and JSON must be UTF-8. A byte order mark at the beginning of a file decides before this option, and this \
                 option before the declaration of a page. In archives it is that of pages that name none. Parquet, and what --pre prints, \
                 is UTF-8. Copies keep the bytes of the input.",
            ),
        choice("content", "WHAT", CONTENTS.iter().map(|&(name, _, help)| (name, help)), "Which text of a page of HTML is read, and whether fields of records are pages")
            .default_value("all"),
        Arg::new("delimiter")
            .long("delimiter")
            .value_name("CHAR")
            .value_parser(delimiter)
            .help("What separates the fields of csv and tsv: a character such as ';' or '|', or tab [default: a comma, in tsv a tab]"),
        Arg::new("max-record")
            .long("max-record")
            .value_name("SIZE")
            .default_value("64M")
            .help("Maximum size of a record; larger ones are skipped and reported")
            .value_parser(|typed: &str| match size(typed) {
                Ok(size) if source::ReadOptions::MAX_RECORD.contains(&(size as usize)) => Ok(size),
                _ => Err("expected a number of bytes from 1 to 1G".to_string()),
            })
            .long_help("Maximum size of a record (line, file or CSV row, uncompressed), up to 1G. Larger ones are skipped, reported and counted."),
        Arg::new("max-expansion")
            .long("max-expansion")
            .value_name("N")
            .value_parser(whole_number(1..=u64::MAX))
            .default_value(defaults.max_expansion.to_string())
            .help("Maximum expansion of a compressed file, as a multiple of its size, beyond --max-record"),
        Arg::new("max-window")
            .long("max-window")
            .value_name("SIZE")
            .help("Maximum window of zstd and dictionary of xz; a file that needs more is not read [default: 128M, or --memory if that is less]")
            .value_parser(|typed: &str| match size(typed) {
                Ok(size) if source::ReadOptions::MAX_WINDOW.contains(&size) => Ok(size),
                _ => Err("expected a number of bytes from 1M to 2G".to_string()),
            })
            .long_help(
                "Maximum window of zstd and dictionary of xz, up to 2G: the decoder holds as much in memory. A file that needs more is not \
                 read further, and is reported and counted. Files made with zstd --long=31 need 2G. What is above the default is needed in \
                 addition to --memory. [default: 128M, or --memory if that is less]",
            ),
        Arg::new("hidden").long("hidden").action(ArgAction::SetTrue).help("Also read hidden files in folders"),
        Arg::new("include")
            .long("include")
            .value_name("GLOB")
            .action(ArgAction::Append)
            .help("Read only files that match a glob; may be repeated")
            .long_help(
                "Read only files that match a glob, such as '*.md', 'docs/**' or 'part-*'; may be repeated. A glob without a slash matches \
                 the name of a file or of a folder around it, one with a slash the end of its path from any folder on. It chooses among \
                 the files that are found in folders: a file that is named itself, as an input or a reference, is always read.",
            ),
        Arg::new("exclude")
            .long("exclude")
            .value_name("GLOB")
            .action(ArgAction::Append)
            .help("Do not read files and folders that match a glob; may be repeated")
            .long_help(
                "Do not read files and folders that match a glob, as in --include; may be repeated. It chooses among the files that are \
                 found in folders: a file that is named itself, as an input or a reference, is always read.",
            ),
    ]
    .into_iter()
    .chain(program_args())
    .map(|arg| arg.help_heading(INPUT_OPTIONS))
    .collect()
}

/// The flags for files that are read through a program.
fn program_args() -> [Arg; 3] {
    [
        Arg::new("pre")
            .long("pre")
            .value_name("COMMAND")
            .action(ArgAction::Append)
            .help("Read files through a program, such as 'pdftotext - -': what it prints is the text")
            .long_help(
                "Read files through a program: what it prints, in UTF-8, is the text of the file. The command is split into words as a \
                 shell does, but no shell runs it. The file is its standard input. Its path takes the place of each argument {}, and is \
                 the last argument if none is {} or -. Examples: 'pdftotext - -', 'pdftotext -layout {} -', 'pandoc -t plain'. May be \
                 repeated, each time with the --pre-glob of its files behind it.",
            ),
        Arg::new("pre-glob")
            .long("pre-glob")
            .value_name("GLOB")
            .action(ArgAction::Append)
            .requires("pre")
            .help("Read only files that match a glob through the --pre before it; may be repeated [default: all files]"),
        Arg::new("pre-timeout")
            .long("pre-timeout")
            .value_name("SECONDS")
            .value_parser(whole_number(1..=86_400))
            .requires("pre")
            .help("Time that a program of --pre has for a file [default: 60]"),
    ]
}

/// What happens to records that cannot be read: `--on-error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// They are kept, because their content is unknown.
    Keep,
    /// They are dropped.
    Drop,
    /// The command fails.
    Fail,
}

impl From<OnError> for clean::OnError {
    fn from(typed: OnError) -> Self {
        match typed {
            OnError::Keep => clean::OnError::Keep,
            OnError::Drop => clean::OnError::Drop,
            OnError::Fail => clean::OnError::Fail,
        }
    }
}

const ON_ERROR: &[(&str, OnError, &str)] = &[
    ("keep", OnError::Keep, "they are kept"),
    ("drop", OnError::Drop, "they are dropped"),
    ("fail", OnError::Fail, "the command fails: status 2"),
];

/// `--on-error`, for a command with this default.
pub fn on_error_arg(default: &'static str) -> Arg {
    choice(
        "on-error",
        "WHAT",
        ON_ERROR.iter().map(|&(name, _, help)| (name, help)),
        "What happens to records that cannot be read",
    )
    .default_value(default)
    .help_heading(INPUT_OPTIONS)
}

/// `--rejects`.
pub fn rejects_arg() -> Arg {
    file("rejects")
        .help_heading(INPUT_OPTIONS)
        .help("Write each rejected record or file to a file, as JSON lines: its position, the reason and, if available, the record")
}

/// `--max-bad`, of a command that may have it.
pub fn max_bad(given: &ArgMatches) -> u64 {
    value(given, "max-bad").copied().unwrap_or(0)
}

/// The flag `--max-bad`.
pub fn max_bad_arg() -> Arg {
    Arg::new("max-bad")
        .long("max-bad")
        .value_name("N")
        .value_parser(whole_number(0..=u64::MAX))
        .help_heading(INPUT_OPTIONS)
        .help("Exit status 0 in spite of up to N bad records, and 3 if there are more [default: 0]")
        .long_help(
            "Exit status 0 in spite of up to N bad records, and 3 if there are more: records that cannot be read, and those with a value that \
             --keep cannot go by. They are reported, counted and written to --rejects all the same. A document that is a whole file, and is too \
             long or in a wrong encoding, is such a record. Files that are missing, damaged or without the columns of the text are not: the \
             status is then 3 whatever N is, and 2 if no document was read at all. [default: 0]",
        )
}

/// `--allow-empty`.
pub fn allow_empty_arg() -> Arg {
    Arg::new("allow-empty")
        .long("allow-empty")
        .action(ArgAction::SetTrue)
        .help_heading(INPUT_OPTIONS)
        .help("Accept input, and a reference, without any document, or a reference of which nothing can match")
}

fn field(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("PATH").default_value(default).help(help)
}
