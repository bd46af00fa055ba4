//! `dedup index`: what is in an index, and what is done with it beside the stream.

use super::arguments::{bytes, count, counted, some_of, whole_number};
use super::filter::{
    Verdict, duration, ended, forgetting, forgetting_args, json, opened, signing, signing_args, stop_on_signals,
    stream_options,
};
use super::outputs::Outputs;
use super::terminal::Terminal;
use super::{Status, input};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::filter::{Counts, Sink, filter};
use neardups::index::{self, Compacted, Decision, Index, Mode, Outdated, Removed, Summary, compact, inspect, remove};
use neardups::source::{Live, Problem};
use neardups::{Error, IndexFault};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// `dedup index`.
pub fn command() -> Command {
    let file =
        || Arg::new("file").value_name("FILE").required(true).value_parser(value_parser!(PathBuf)).help("The index");
    Command::new("index")
        .about("Looks into an index of dedup filter, and maintains it")
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
                     leaves; dedup filter cuts it off when it opens the index. The index may be in use meanwhile.",
                )
                .arg(file())
                .arg(quiet()),
        )
        .subcommand(
            Command::new("export")
                .about("Prints the id of each document and when it was let through, as JSON lines")
                .arg(file()),
        )
        .subcommand(
            Command::new("query")
                .about("Says of each document on standard input whether it would be let through; remembers nothing")
                .long_about(
                    "Says of each document on standard input whether it would be let through: a verdict each, as JSON lines. The index is \
                     not changed, and may be in use meanwhile. Takes the options that the index was made with.",
                )
                .arg(file())
                .args(forgetting_args())
                .args(signing_args()),
        )
        .subcommand(
            Command::new("add")
                .about("Remembers the documents on standard input, whatever they are like; prints nothing")
                .long_about(
                    "Remembers the documents on standard input, whatever they are like, so that dedup filter drops them and what is like \
                     them. Makes the index if it is not there. Takes the options that the index was made with. Documents that it has, by \
                     id and text, are not added again.",
                )
                .arg(file())
                .args(signing_args()),
        )
        .subcommand(
            Command::new("remove")
                .about("Forgets documents by their ids: what is like them is let through again")
                .arg(file())
                .arg(Arg::new("ids").value_name("ID").num_args(0..).required_unless_present("ids-from").help("Ids"))
                .arg(
                    Arg::new("ids-from")
                        .long("ids-from")
                        .value_name("FILE")
                        .value_parser(value_parser!(PathBuf))
                        .help("Read ids from a file, one a line; '-' is standard input"),
                )
                .arg(quiet()),
        )
        .subcommand(
            Command::new("compact")
                .about("Writes it anew without the documents that were removed")
                .long_about(
                    "Writes it anew without the documents that were removed, and with --expire or --window without the old ones. The new \
                     file takes the place of the old one when it is whole and on the disk; until then both take room.",
                )
                .arg(file())
                .arg(
                    Arg::new("expire")
                        .long("expire")
                        .value_name("DURATION")
                        .value_parser(duration)
                        .help("Drop documents that were let through longer ago than this: 12h, 30d"),
                )
                .arg(
                    Arg::new("window")
                        .long("window")
                        .value_name("N")
                        .value_parser(whole_number(1..=u64::MAX))
                        .help("Drop all but the last N documents"),
                )
                .arg(
                    Arg::new("salvage")
                        .long("salvage")
                        .action(ArgAction::SetTrue)
                        .help("Pass over what is damaged, and keep what is whole before and behind it"),
                )
                .arg(quiet()),
        )
}

fn quiet() -> Arg {
    input::run_args().into_iter().find(|arg| arg.get_id() == "quiet").expect("there is such an option")
}

/// The object of `dedup index stats`.
#[derive(Serialize)]
struct Stats<'a> {
    r#type: &'static str,
    format_version: u32,
    documents: u64,
    featureless: u64,
    /// Documents that were removed, and still take room.
    removed: u64,
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
    let mut outputs = Outputs::new();
    outputs.writes(path, "the index")?;
    if ["query", "add"].contains(&name) {
        outputs.read_by(given)?;
    }
    match name {
        "stats" => stats(path),
        "verify" => verify(path, given),
        "export" => export(path),
        "query" => query(path, given),
        "add" => add(path, given),
        "remove" => forget(path, given),
        "compact" => rewrite(path, given),
        _ => unreachable!("clap knows the names"),
    }
}

fn cannot_write(error: io::Error) -> Error {
    Error::output("cannot write results", error)
}

fn stats(path: &Path) -> Result<Status, Error> {
    let Summary { header, version, documents, featureless, removed, times, bytes, torn } = inspect(path, |_| Ok(()))?;
    let stats = Stats {
        r#type: "index",
        format_version: version,
        documents,
        featureless,
        removed,
        bytes,
        torn: torn.map_or(0, |torn| torn.bytes),
        first: times.map(|(first, _)| first),
        last: times.map(|(_, last)| last),
        made_with: &header,
    };
    writeln!(io::stdout(), "{}", json(&stats)).map_err(cannot_write)?;
    Ok(Status::Done)
}

fn verify(path: &Path, given: &ArgMatches) -> Result<Status, Error> {
    let Summary { bytes: whole, documents, torn, .. } = inspect(path, |_| Ok(()))?;
    match torn.map_or(0, |torn| torn.bytes) {
        0 => {
            let terminal = Terminal::new(given.get_flag("quiet"), None);
            terminal.line(&format!(
                "{}: whole: {}, {}",
                path.display(),
                counted(documents, "document"),
                bytes(whole as f64)
            ));
            Ok(Status::Done)
        }
        torn => {
            let message = format!(
                "the last {torn} bytes, from byte {whole} on, are torn, or just being written; dedup filter cuts torn ones off"
            );
            Err(Error::Index { path: path.display().to_string(), fault: IndexFault::Damaged, message })
        }
    }
}

fn export(path: &Path) -> Result<Status, Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    inspect(path, |index::Entry { id, time }| {
        writeln!(out, "{}", json(&Document { r#type: "document", id, time })).map_err(cannot_write)
    })?;
    out.flush().map_err(cannot_write)?;
    Ok(Status::Done)
}

fn query(path: &Path, given: &ArgMatches) -> Result<Status, Error> {
    let options = index::Options { mode: Mode::Query, limits: forgetting(given), ..index::Options::default() };
    stream(path, given, options, &mut Verdicts::default()).map(|(.., status)| status)
}

fn add(path: &Path, given: &ArgMatches) -> Result<Status, Error> {
    let options = index::Options { mode: Mode::Add, ..index::Options::default() };
    let (counts, index, status) = stream(path, given, options, &mut Nothing)?;
    Terminal::new(given.get_flag("quiet"), None).line(&format!(
        "{}: {} added, {} known; {} remembered now",
        counted(counts.documents, "document"),
        count(counts.fresh),
        count(counts.known),
        count(index.len()),
    ));
    Ok(status)
}

/// Takes the documents on standard input to an index.
fn stream(
    path: &Path,
    given: &ArgMatches,
    options: index::Options,
    sink: &mut dyn Sink,
) -> Result<(Counts, Index, Status), Error> {
    let terminal = Terminal::new(given.get_flag("quiet"), None);
    let live = Live::new(io::stdin(), "-", &stream_options(given)?);
    let plan = signing(given, Some(path))?;
    plan.warnings().iter().for_each(|warning| terminal.warning(warning));
    let options = index::Options { temp_dir: given.get_one("temp-dir").cloned(), ..options };
    let mut index = opened(path, &plan, &options, &terminal)?;
    let threads = given.get_one::<u64>("threads").map_or(0, |&n| n as usize);
    let stop = stop_on_signals();
    let result = filter(live, &plan, &mut index, threads, &stop, &terminal, sink);
    terminal.done();
    result.map(|counts| (counts, index, ended(&counts, &stop, &terminal)))
}

/// The verdict on a record that could not be read.
#[derive(Serialize)]
struct Unread<'a> {
    r#type: &'static str,
    id: &'a str,
    keep: bool,
    error: &'a str,
}

/// Prints a verdict for each record that holds a document, or should.
#[derive(Default)]
struct Verdicts(Vec<u8>);

impl Sink for Verdicts {
    fn passed(&mut self, _record: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn decided(&mut self, _line: &[u8], id: &str, decision: &Decision) -> Result<(), Error> {
        self.0.extend_from_slice(json(&Verdict::new(id, decision)).as_bytes());
        self.0.push(b'\n');
        Ok(())
    }

    fn rejected(&mut self, _record: Option<&[u8]>, problem: &Problem) -> Result<(), Error> {
        let id = problem.id.clone().unwrap_or_else(|| problem.place.to_string());
        self.0.extend_from_slice(
            json(&Unread { r#type: "verdict", id: &id, keep: true, error: &problem.message }).as_bytes(),
        );
        self.0.push(b'\n');
        Ok(())
    }

    fn release(&mut self, _counts: &Counts, _index: &Index) -> Result<(), Error> {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(&self.0).and_then(|()| stdout.flush());
        self.0.clear();
        written.map_err(cannot_write)
    }
}

/// Prints nothing.
struct Nothing;

impl Sink for Nothing {
    fn passed(&mut self, _record: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn decided(&mut self, _line: &[u8], _id: &str, _decision: &Decision) -> Result<(), Error> {
        Ok(())
    }

    fn release(&mut self, _counts: &Counts, _index: &Index) -> Result<(), Error> {
        Ok(())
    }
}

fn forget(path: &Path, given: &ArgMatches) -> Result<Status, Error> {
    let mut ids: BTreeSet<String> = given.get_many::<String>("ids").into_iter().flatten().cloned().collect();
    if let Some(list) = given.get_one::<PathBuf>("ids-from") {
        let mut text = String::new();
        let read = match list.as_os_str() == "-" {
            true => io::stdin().read_to_string(&mut text).map(drop),
            false => fs::read_to_string(list).map(|read| text = read),
        };
        read.map_err(|error| Error::input(format!("cannot read {}", list.display()), error))?;
        ids.extend(text.lines().map(String::from));
    }
    let asked = ids.len() as u64;
    let Removed { documents, unknown, torn } = remove(path, ids)?;
    let terminal = Terminal::new(given.get_flag("quiet"), None);
    if let Some(torn) = torn {
        let bytes = counted(torn.bytes, "byte");
        terminal.warning(&format!("{}: {bytes} that an interrupted write left were cut off", path.display()));
    }
    if !unknown.is_empty() {
        terminal.warning(&format!("no document has the id {}", some_of(unknown.iter().map(String::as_str))));
    }
    terminal.line(&format!("{} removed, of {}", counted(documents, "document"), counted(asked, "id")));
    Ok(Status::Done)
}

fn rewrite(path: &Path, given: &ArgMatches) -> Result<Status, Error> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    // What is exactly as old is forgotten, as in a stream.
    let since = given.get_one::<u64>("expire").map_or(0, |expire| now.saturating_sub(*expire) + 1);
    let outdated =
        Outdated { before: since, window: given.get_one("window").copied(), damaged: given.get_flag("salvage") };
    let Compacted { documents, dropped, bytes: (before, after), damaged, torn } = compact(path, outdated)?;
    let terminal = Terminal::new(given.get_flag("quiet"), None);
    let torn = torn.map_or(0, |torn| torn.bytes);
    for (lost, what) in [(damaged, "that were damaged"), (torn, "that an interrupted write left")] {
        if lost > 0 {
            terminal.warning(&format!("{}: {} {what} are left out", path.display(), counted(lost, "byte")));
        }
    }
    terminal.line(&format!(
        "kept {}, dropped {}; {} before, {} now",
        counted(documents, "document"),
        count(dropped),
        bytes(before as f64),
        bytes(after as f64),
    ));
    Ok(Status::Done)
}
