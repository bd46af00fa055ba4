//! `dedup index`: what is in an index.

use super::Status;
use clap::{Arg, ArgMatches, Command, value_parser};
use neardups::Error;
use neardups::index::{FORMAT_VERSION, Summary, inspect};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// `dedup index`.
pub fn command() -> Command {
    let file =
        || Arg::new("file").value_name("FILE").required(true).value_parser(value_parser!(PathBuf)).help("The index");
    Command::new("index")
        .about("Looks into an index of dedup filter")
        .long_about("Looks into an index of dedup filter, which may be in use meanwhile. Nothing is changed.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("stats")
                .about("Prints how it was made and what it holds, as one JSON object; every checksum is looked at")
                .arg(file()),
        )
        .subcommand(
            Command::new("verify")
                .about("Says whether it is whole: status 2 if it is damaged, or if its end is torn")
                .long_about(
                    "Says whether it is whole: status 2 if it is damaged, or if its end is torn. A torn end is what an interrupted write \
                     leaves; dedup filter cuts it off when it opens the index.",
                )
                .arg(file()),
        )
        .subcommand(
            Command::new("export").about("Prints the id of each document and when it was let through, as JSON lines").arg(file()),
        )
}

/// The object of `dedup index stats`.
#[derive(Serialize)]
struct Stats<'a> {
    r#type: &'static str,
    format_version: u32,
    documents: u64,
    featureless: u64,
    bytes: u64,
    /// Bytes behind the last whole record.
    torn: u64,
    /// In seconds since 1970.
    first: Option<u64>,
    last: Option<u64>,
    made_with: &'a Value,
}

/// A line of `dedup index export`.
#[derive(Serialize)]
struct Document<'a> {
    r#type: &'static str,
    id: &'a str,
    time: u64,
}

/// Runs one of its commands.
pub fn run(given: &ArgMatches) -> Result<Status, Error> {
    let (name, given) = given.subcommand().expect("clap asks for one of its subcommands");
    let path = given.get_one::<PathBuf>("file").expect("clap asks for it");
    let mut out = BufWriter::new(io::stdout().lock());
    let cannot_write = |error| Error::io("cannot write results", error);
    let summary = inspect(path, |id, time| match name {
        "export" => writeln!(out, "{}", json(&Document { r#type: "document", id, time })).map_err(cannot_write),
        _ => Ok(()),
    })?;
    let Summary { header, documents, featureless, times, bytes, torn } = &summary;
    let torn_bytes = torn.map_or(0, |torn| torn.bytes);
    let status = match name {
        "stats" => {
            let stats = Stats {
                r#type: "index",
                format_version: FORMAT_VERSION,
                documents: *documents,
                featureless: *featureless,
                bytes: *bytes,
                torn: torn_bytes,
                first: times.map(|(first, _)| first),
                last: times.map(|(_, last)| last),
                made_with: header,
            };
            writeln!(out, "{}", json(&stats)).map_err(cannot_write)?;
            Status::Done
        }
        "verify" if torn_bytes > 0 => {
            let message =
                format!("the last {torn_bytes} bytes, from byte {bytes} on, are torn; dedup filter will cut them off");
            return Err(Error::Index { path: path.display().to_string(), message });
        }
        _ => Status::Done,
    };
    out.flush().map_err(cannot_write)?;
    Ok(status)
}

fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("strings and numbers make JSON")
}
