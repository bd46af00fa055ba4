//! The arguments of `dedup filter`.

use super::input::{self, OnError};
use super::run;
use super::signing::{self, Signing};
use super::values::{choice, chosen, file, path, switch, values};
use clap::{Arg, ArgAction, ArgMatches, Command};
use neardups::index::{Limits, Sync};
use std::path::PathBuf;

/// The parsed arguments.
pub struct Arguments {
    /// `--index`.
    pub index: Option<PathBuf>,
    /// `--require-index`.
    pub require_index: bool,
    /// `--mark`.
    pub mark: bool,
    /// `--duplicates`.
    pub duplicates: Option<PathBuf>,
    /// `--verdicts`.
    pub verdicts: Option<PathBuf>,
    /// `--drop-known`.
    pub drop_known: bool,
    /// `--replace`.
    pub replace: bool,
    /// `--metrics`.
    pub metrics: Option<PathBuf>,
    /// `--metrics-label`, as names and values.
    pub metrics_labels: Vec<(String, String)>,
    /// `--window`, `--expire`, `--max-docs`, `--memory` and `--max-candidates`.
    pub limits: Limits,
    /// `--sync`.
    pub sync: Sync,
    /// How documents are read and signed.
    pub signing: Signing,
    /// Whether the input is decompressed: `--compression`.
    pub decompresses: bool,
    /// `--on-error`.
    pub on_error: OnError,
    /// `--stats`.
    pub stats: Option<PathBuf>,
}

impl Arguments {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        Arguments {
            index: path(given, "index"),
            require_index: switch(given, "require-index"),
            mark: switch(given, "mark"),
            duplicates: path(given, "duplicates"),
            verdicts: path(given, "verdicts"),
            drop_known: switch(given, "drop-known"),
            replace: switch(given, "replace"),
            metrics: path(given, "metrics"),
            metrics_labels: values(given, "metrics-label"),
            limits: signing::limits(given),
            sync: chosen(given, "sync", SYNCS).expect("has a default"),
            signing: Signing::new(given),
            decompresses: chosen(given, "compression", COMPRESSIONS).expect("has a default"),
            on_error: input::on_error(given).value,
            stats: path(given, "stats"),
        }
    }
}

const SYNCS: &[(&str, Sync, &str)] = &[
    ("batch", Sync::Batch, "before documents are written, several at a time"),
    ("always", Sync::Always, "after each document"),
    ("off", Sync::Off, "by the operating system: safe from a crash of the program, not from a power failure"),
];

const COMPRESSIONS: &[(&str, bool, &str)] = &[
    ("auto", true, "gzip, zstd, bzip2 or xz, if the first bytes are those of one"),
    ("none", false, "nothing: the first line is a line, whatever it begins with"),
];

/// `dedup filter`. Long because it is one list of arguments with their help.
pub fn command() -> Command {
    Command::new("filter")
        .about("Passes new documents of a stream, and remembers them")
        .long_about(
            "Passes new documents of a stream, and remembers them. Reads JSON lines from standard input (or --format lines or warc), \
             and writes the lines or records of documents without an earlier near-duplicate to standard output, byte for byte. Decisions \
             are as if documents came one by one; results are written as soon as the input pauses. Input may be compressed with gzip, zstd, \
             bzip2 or xz; output is not compressed.\n\n\
             With --format warc, the documents are pages, identified by their URI. Whole records are written, uncompressed. Records without a \
             readable page pass through in place: warcinfo, requests, metadata, revisits, images; also those that belong to a dropped page.\n\n\
             With --index FILE, passed documents are remembered across restarts and crashes: a document is in the index before its line is \
             written. A document with the same id and the same tokens is passed again, so that input that may have been lost can be fed \
             again. An index is bound to one writer at a time, and to the options that it was made with: they need not be repeated.",
        )
        .after_help(
            "Examples:\n  crawler | dedup filter --index seen.idx > fresh.jsonl\n  \
             dedup filter --algo simhash --id-field url --duplicates dropped.jsonl < crawl.jsonl.gz > fresh.jsonl\n  \
             dedup filter --format warc --index seen.idx < crawl.warc.gz > fresh.warc\n  \
             tail -f posts.txt | dedup filter --format lines --window 100000",
        )
        .arg(
            file("index")
                .help("Remember passed documents in this file, which is created if it does not exist"),
        )
        .arg(
            signing::require_index_arg()
                .help("End with an error if the index does not exist")
                .long_help("End with an error if the file of --index does not exist, instead of creating it."),
        )
        .arg(
            Arg::new("mark")
                .long("mark")
                .action(ArgAction::SetTrue)
                .help("Pass duplicates too, with a field 'dedup' that names the original")
                .long_help(
                    "Pass duplicates too, with a field 'dedup' that names the original. With --on-error keep, the field of a record that \
                     could not be read has the error. Of the written records, no others have \
                     such a field: in other records an existing field is removed and counted. Fields of that name inside \
                     other fields stay.",
                )
                .conflicts_with("duplicates"),
        )
        .arg(
            file("duplicates")
                .help("Append a verdict for each duplicate to this file")
                .long_help(
                    "Append a verdict for each duplicate to this file. It is written before later documents are. After an interrupted run, verdicts \
                     are not written twice when the documents after the last line that arrived are fed again, provided that they have ids. \
                     Only one process can write to the file at a time.",
                ),
        )
        .arg(
            file("verdicts")
                .help("Append a verdict for each document to this file, in input order")
                .long_help(
                    "Append a verdict for each document to this file, in input order, whether it is passed or dropped. A record that could \
                     not be read has a verdict with the error. The file is written like that of --duplicates, and both may be given.",
                ),
        )
        .arg(
            signing::drop_known_arg()
                .help("Drop documents known with the same id and tokens")
                .long_help(
                    "Drop documents that are already known with the same id and tokens, such as pages that are crawled \
                     again. Without it they are passed again, so that input that a crash may have lost can be fed again. With it, only \
                     those are passed again that an interrupted run may not have written.",
                ),
        )
        .arg(
            Arg::new("replace")
                .long("replace")
                .action(ArgAction::SetTrue)
                .requires("index")
                .help("Forget the earlier text of an id when the id comes with another text")
                .long_help(
                    "Forget the earlier text of an id when the id comes with another text: a page that changed passes, unless it is a \
                     near-duplicate of another page, and is remembered with its new text. Without it, a page that changed slightly is a \
                     duplicate of its earlier version. Documents without an id replace nothing. Needs --index. With --expire, or with a duration as --window, what passed long ago is forgotten too; it cannot be combined with a number of documents as --window.",
                ),
        )
        .args(signing::forgetting_args())
        .arg(signing::max_documents_arg())
        .arg(signing::memory_arg())
        .arg(
            choice("sync", "WHEN", SYNCS.iter().map(|&(name, _, help)| (name, help)), "When the index is synchronised to the disk")
                .default_value("batch")
                .requires("index"),
        )
        .arg(signing::candidates_arg())
        .arg(signing::expect_arg())
        .args(signing::args())
        .args([
            choice("compression", "WHAT", COMPRESSIONS.iter().map(|&(name, _, help)| (name, help)), "What the input is compressed with")
                .default_value("auto")
                .help_heading(input::INPUT_OPTIONS),
            input::on_error_arg("drop"),
            input::rejects_arg()
                .help("Append each rejected record to a file, as JSON lines, with the reason")
                .long_help(
                    "Append each rejected record to a file, as JSON lines: its position in this run, the reason and, if available, \
                     the record.",
                ),
            input::max_bad_arg(),
        ])
        .arg(
            file("metrics")
                .help("Write counts, times and sizes to this file every 10 seconds, in the text format of Prometheus")
                .long_help(
                    "Write counts, times and sizes to this file every 10 seconds, on SIGUSR1 and at the end, in the text format of \
                     Prometheus. The file is replaced as a whole, as the textfile collector of its node exporter needs.",
                ),
        )
        .arg(
            Arg::new("metrics-label")
                .long("metrics-label")
                .value_name("NAME=VALUE")
                .action(ArgAction::Append)
                .value_parser(metrics_label)
                .requires("metrics")
                .help("Give each value of --metrics this label; may be repeated")
                .long_help(
                    "Give each value of --metrics this label, such as crawl=news; may be repeated. If several filters write files for one \
                     node exporter, it exports those of the first file alone, unless their labels differ.",
                ),
        )
        .arg(run::stats_arg("Write counts, rate and sizes to a file as one JSON object"))
}

/// The labels that some values have of their own.
const OWN_LABELS: &[&str] = &["version", "algo", "tokenizer", "decision", "le"];

/// Parses a label of metrics: a name that Prometheus accepts, and its value.
fn metrics_label(typed: &str) -> Result<(String, String), String> {
    let Some((name, value)) = typed.split_once('=') else {
        return Err("a label is NAME=VALUE, such as crawl=news".into());
    };
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_name = name.bytes().next().is_some_and(is_first)
        && name.bytes().all(|byte| is_first(byte) || byte.is_ascii_digit())
        && !name.starts_with("__");
    if !is_name {
        return Err(format!(
            "'{name}' cannot be the name of a label: letters of ASCII, digits and '_', not a digit first, nor '__'"
        ));
    }
    match OWN_LABELS.contains(&name) {
        true => Err(format!("values have a label '{name}' of their own: choose another name")),
        false => Ok((name.into(), value.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::metrics_label;

    #[test]
    fn labels_are_those_of_prometheus() {
        let label = |name: &str, value: &str| Ok((name.to_string(), value.to_string()));
        assert_eq!(metrics_label("crawl=news"), label("crawl", "news"));
        assert_eq!(metrics_label("_a1=x=y "), label("_a1", "x=y "));
        assert_eq!(metrics_label("a="), label("a", ""));
        for wrong in ["crawl", "=x", "1a=x", "a-b=x", "__a=x", "é=x", "le=1", "decision=x"] {
            assert!(metrics_label(wrong).is_err(), "{wrong}");
        }
    }
}
