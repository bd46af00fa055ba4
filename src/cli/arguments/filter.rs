//! The arguments of `dedup filter`.

use super::input::{self, OnError};
use super::run;
use super::signing::{self, Signing};
use super::values::{choice, chosen, file, path, size, switch, value, whole_number};
use clap::{Arg, ArgAction, ArgMatches, Command};
use neardups::index::{Limits, Sync};
use std::path::PathBuf;

/// What was typed.
pub struct Arguments {
    /// `--index`.
    pub index: Option<PathBuf>,
    /// `--mark`.
    pub mark: bool,
    /// `--duplicates`.
    pub duplicates: Option<PathBuf>,
    /// `--drop-known`.
    pub drop_known: bool,
    /// `--window`, `--expire`, `--max-docs` and `--memory`.
    pub limits: Limits,
    /// `--sync`.
    pub sync: Sync,
    /// How documents are read and signed.
    pub signing: Signing,
    /// `--on-error`.
    pub on_error: OnError,
    /// `--stats`.
    pub stats: Option<PathBuf>,
}

impl Arguments {
    /// What clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        Arguments {
            index: path(given, "index"),
            mark: switch(given, "mark"),
            duplicates: path(given, "duplicates"),
            drop_known: switch(given, "drop-known"),
            limits: Limits {
                max_documents: value(given, "max-docs").copied(),
                memory: value(given, "memory").copied(),
                ..signing::forgetting(given)
            },
            sync: chosen(given, "sync", SYNCS).expect("has a default"),
            signing: Signing::new(given),
            on_error: input::on_error(given).value,
            stats: path(given, "stats"),
        }
    }
}

const SYNCS: &[(&str, Sync, &str)] = &[
    ("batch", Sync::Batch, "on the disk before documents leave, several at a time"),
    ("always", Sync::Always, "on the disk after each document"),
    ("off", Sync::Off, "with the operating system: safe from a crash of the program, not from a power cut"),
];

/// `dedup filter`. Long because it is one list of arguments with their help.
pub fn command() -> Command {
    let number = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    Command::new("filter")
        .about("Lets new documents of a stream through, and remembers them")
        .long_about(
            "Lets new documents of a stream through, and remembers them. Reads JSON lines from standard input (or --format lines or warc), \
             and writes the lines or records of documents that are like none before them to standard output, byte for byte. Each decision \
             is as if documents came one by one; it leaves as soon as the input pauses. Input may be compressed with gzip, zstd, bzip2 or \
             xz; what leaves is not.\n\n\
             With --format warc pages are decided on, by their URI and text. Whole records go out, uncompressed. Every record that holds no \
             page to read passes in its place: warcinfo, requests, metadata, revisits, images; those of a page that is dropped too.\n\n\
             With --index FILE what was let through is remembered over restarts and crashes: a document is in the index before its line \
             leaves. The same id with the same tokens, fed again, is let through again, so that feeding again what may have been lost is \
             safe. An index belongs to the options that it was made with, and to one writer at a time.",
        )
        .after_help(
            "Examples:\n  crawler | dedup filter --index seen.idx > fresh.jsonl\n  \
             dedup filter --algo simhash --id-field url --duplicates dropped.jsonl < crawl.jsonl.gz > fresh.jsonl\n  \
             dedup filter --format warc --index seen.idx < crawl.warc.gz > fresh.warc\n  \
             tail -f posts.txt | dedup filter --format lines --window 100000",
        )
        .arg(
            file("index")
                .help("Remember what was let through in this file, which is made if it is not there"),
        )
        .arg(
            Arg::new("mark")
                .long("mark")
                .action(ArgAction::SetTrue)
                .help("Let duplicates through too, with a field 'dedup' that says of what")
                .long_help(
                    "Let duplicates through too, with a field 'dedup' that says of what. Of the records that leave, only duplicates have \
                     such a field: one that comes with a record is removed from it, or replaced, and counted. Fields of that name within \
                     other fields stay.",
                )
                .conflicts_with("duplicates"),
        )
        .arg(
            file("duplicates")
                .help("Append a verdict for each duplicate to this file")
                .long_help(
                    "Append a verdict for each duplicate to this file. It is written before the documents behind the duplicate leave. What \
                     an interrupted run wrote is not written again when the documents behind the last line that arrived are fed again, as \
                     far as they have ids. One process can write to the file at a time.",
                ),
        )
        .arg(
            Arg::new("drop-known")
                .long("drop-known")
                .action(ArgAction::SetTrue)
                .help("Drop documents that come again with the same id and tokens, as duplicates of themselves")
                .long_help(
                    "Drop documents that come again with the same id and tokens, as duplicates of themselves, such as pages that are crawled \
                     again. Without it they are let through again, so that whatever a crash may have lost can be fed again.",
                ),
        )
        .args(signing::forgetting_args())
        .arg(
            number("max-docs", "N")
                .value_parser(whole_number(1..=u32::MAX.into()))
                .help("Stop, and say so, when the index holds so many documents"),
        )
        .arg(
            number("memory", "SIZE")
                .value_parser(size)
                .help(
                    "Stop, and say so, when the index takes more memory than this. With --index, tables go to the disk from half of it on, \
                     or from 512 MiB on if it is not given",
                ),
        )
        .arg(
            choice("sync", "WHEN", SYNCS.iter().map(|&(name, _, help)| (name, help)), "How sure it is that the index has what left")
                .default_value("batch")
                .requires("index"),
        )
        .args(signing::args())
        .args([
            input::on_error_arg("drop"),
            input::rejects_arg().help("Append each record that was rejected to a file, as JSON lines: its place in this run, the reason and, where it is at hand, the record"),
        ])
        .arg(run::stats_arg("Write counts, rate and sizes to a file, as one JSON object"))
}
