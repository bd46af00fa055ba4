//! `dedup index`: inspects and maintains an index.

use super::arguments::Signing;
use super::arguments::index::{Action, Arguments, Ids};
use super::input;
use super::json::json;
use super::outputs::Outputs;
use super::spelling::{self, spelled};
use super::spread::Spread;
use super::standard_output::refuse_closed_output;
use super::status::Status;
use super::stream::{self, Stop, Verdict, ended, opened};
use super::terminal::{Terminal, bytes, count, counted, escaped};
use super::watch::InputWatch;
use crate::index::is_unnamed;
use neardups::filter::{Counts, Filter, Sink};
use neardups::index::{
    self, Compacted, Decision, Forgetting, Header, Index, Limits, Mode, Nearest, Neighbour, Outdated, Removed,
    StoredDocument, Summary, compact, inspect, remove,
};
use neardups::source::{Format, Live, Problem};
use neardups::{Error, IndexFault};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::time::SystemTime;

/// The object of `dedup index stats`.
#[derive(Serialize)]
struct Stats<'a> {
    r#type: &'static str,
    format_version: u32,
    documents: u64,
    featureless: u64,
    /// Removed documents that still take space.
    removed: u64,
    /// Documents without an id that the last run may not have written.
    unconfirmed: u64,
    bytes: u64,
    /// Bytes after the last complete record.
    torn: u64,
    /// In seconds since 1970.
    first: Option<u64>,
    last: Option<u64>,
    made_with: &'a Header,
    /// Of fingerprints of bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Spread<'a>>,
    /// If the last run had `--window` or `--expire`.
    #[serde(skip_serializing_if = "Option::is_none")]
    forgetting: Option<OfForgetting>,
}

/// What the last run forgot, and what a run that forgets the same remembers now.
#[derive(Serialize)]
struct OfForgetting {
    window: Option<u64>,
    /// In seconds.
    expire: Option<u64>,
    remembered: u64,
    /// In seconds since 1970.
    oldest: Option<u64>,
}

/// A line of `dedup index export` and `get`.
#[derive(Serialize)]
struct Document<'a> {
    r#type: &'static str,
    id: &'a str,
    time: u64,
    /// With `--fingerprints`; `null` without features.
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<Option<String>>,
}

/// Runs one of its commands.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let path = &*arguments.file;
    let mut outputs = Outputs::new();
    outputs.writes_index(path)?;
    if let Action::Query(signing, ..) | Action::Add(signing, ..) = &arguments.action {
        outputs.reads_documents(&[], false)?;
        outputs.reads_method(&signing.method)?;
    }
    let terminal = Terminal::new(arguments.quiet, None).with_max_bad(arguments.max_bad);
    match &arguments.action {
        Action::Stats => stats(path),
        Action::Verify => verify(path, &terminal),
        Action::Snapshot { copy } => {
            outputs.writes(copy, "the copy")?;
            let Summary { documents, bytes: whole, last_id, .. } = index::snapshot(path, copy)?;
            let last = last_id.map(|id| format!("; the last one is '{}'", escaped(&id))).unwrap_or_default();
            terminal.line(&format!(
                "{}: {}, {}{last}",
                escaped(&copy.to_string_lossy()),
                counted(documents, "document"),
                bytes(whole as f64)
            ));
            Ok(Status::Done)
        }
        Action::Export { fingerprints } => {
            export(path, *fingerprints, |_| true, &terminal)?;
            Ok(Status::Done)
        }
        Action::Get { ids, fingerprints } => get(path, ids, *fingerprints, &terminal),
        Action::Query(signing, limits, top) => {
            let mode = top.map_or(Mode::Query, Mode::Nearest);
            let options = index::IndexOptions { mode, ..index::IndexOptions::within(*limits) };
            let mut answers = Answers { is_nearest: top.is_some(), lines: Vec::new() };
            let (_, index, status) = stream(path, signing, options, &mut answers, &terminal)?;
            if let Some(line) = stream::crowded(&index) {
                terminal.line(&line);
            }
            Ok(status)
        }
        Action::Add(signing, limits, creates) => add(path, signing, (*limits, *creates), &terminal),
        Action::Remove(ids) => forget(path, ids, &terminal),
        Action::Compact { limits, salvage } => {
            // A document of exactly this age is forgotten, as in a stream.
            let before = limits.expire.map_or(0, |expire| now().saturating_sub(expire) + 1);
            rewrite(path, Outdated { before, window: limits.window, damaged: *salvage }, &terminal)
        }
    }
}

fn cannot_write(error: io::Error) -> Error {
    Error::output("cannot write results", error)
}

/// In seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn stats(path: &Path) -> Result<Status, Error> {
    refuse_closed_output()?;
    let Summary {
        header, version, documents, featureless, removed, unconfirmed, times, forgetting, bytes, torn, ..
    } = inspect(path)?;
    let of_forgetting = || {
        let (remembered, oldest) = index::remembered(path, forgetting, now())?;
        let Forgetting { window, expire, .. } = forgetting;
        Ok::<_, Error>(OfForgetting { window, expire, remembered, oldest })
    };
    let forgetting = forgetting.is_any().then(of_forgetting).transpose()?;
    let distribution = index::distribution(path)?;
    let stats = Stats {
        r#type: "index",
        format_version: version,
        documents,
        featureless,
        removed,
        unconfirmed,
        bytes,
        torn: torn.map_or(0, |torn| torn.bytes),
        first: times.map(|(first, _)| first),
        last: times.map(|(_, last)| last),
        made_with: &header,
        distribution: distribution.as_ref().map(Spread::whole),
        forgetting,
    };
    writeln!(io::stdout(), "{}", json(&stats)).map_err(cannot_write)?;
    Ok(Status::Done)
}

fn verify(path: &Path, terminal: &Terminal) -> Result<Status, Error> {
    let Summary { bytes: whole, documents, torn, .. } = inspect(path)?;
    match torn {
        None => {
            terminal.line(&format!(
                "{}: intact: {}, {}",
                path.display(),
                counted(documents, "document"),
                bytes(whole as f64)
            ));
            Ok(Status::Done)
        }
        Some(torn) => {
            let end = stream::torn_end(torn.bytes, whole);
            let message = match torn.is_addition {
                true => format!(
                    "{end} a part of what a run adds as a whole, which was interrupted or is writing now, and does not count: repeat \
                     that command (dedup clean --index, or a call of Python), which adds all of it"
                ),
                false => format!(
                    "{end} torn, or being written now; if dedup clean --index was interrupted, repeat that command, otherwise dedup filter \
                     cuts off a torn end"
                ),
            };
            Err(Error::Index { path: path.display().to_string(), fault: IndexFault::Damaged, message })
        }
    }
}

/// Prints the documents whose id is wanted.
fn export(
    path: &Path,
    has_fingerprints: bool,
    mut is_wanted: impl FnMut(&str) -> bool,
    terminal: &Terminal,
) -> Result<(), Error> {
    refuse_closed_output()?;
    let mut out = BufWriter::new(io::stdout().lock());
    let documents = index::documents(path)?;
    let mut documents = if has_fingerprints { documents.with_fingerprints() } else { documents };
    for document in &mut documents {
        let document = document?;
        let StoredDocument { id, time, .. } = &document;
        if !is_wanted(id) {
            continue;
        }
        let fingerprint = has_fingerprints.then(|| document.hex());
        writeln!(out, "{}", json(&Document { r#type: "document", id, time: *time, fingerprint }))
            .map_err(cannot_write)?;
    }
    let summary = documents.summary()?;
    out.flush().map_err(cannot_write)?;
    if let Some(torn) = summary.torn {
        terminal.warning(&stream::of_torn(path, torn));
    }
    Ok(())
}

fn get(path: &Path, ids: &Ids, has_fingerprints: bool, terminal: &Terminal) -> Result<Status, Error> {
    let wanted = read(ids)?;
    let mut unknown = wanted.clone();
    let is_wanted = |id: &str| {
        unknown.remove(id);
        wanted.contains(id)
    };
    export(path, has_fingerprints, is_wanted, terminal)?;
    report_unknown(ids, &unknown, terminal);
    Ok(if unknown.is_empty() { Status::Done } else { Status::Found })
}

fn add(
    path: &Path,
    signing: &Signing,
    (limits, creates): (Limits, bool),
    terminal: &Terminal,
) -> Result<Status, Error> {
    let options = index::IndexOptions { mode: Mode::Add, creates, ..index::IndexOptions::within(limits) };
    let (counts, index, status) = stream(path, signing, options, &mut Nothing, terminal)?;
    terminal.line(&format!(
        "{}: {} added, {} known; {} remembered now",
        counted(counts.documents, "document"),
        count(counts.fresh),
        count(counts.known),
        count(index.len()),
    ));
    Ok(status)
}

/// Runs the documents on standard input through an index.
fn stream(
    path: &Path,
    signing: &Signing,
    options: index::IndexOptions,
    sink: &mut dyn Sink,
    terminal: &Terminal,
) -> Result<(Counts, Index, Status), Error> {
    let stop = Stop::on_signals(None, true)?;
    let source = stream::source_options(signing)?;
    let live = Live::new(io::stdin(), "-", &source);
    let only_reads = options.mode.only_reads();
    let plan = stream::plan(signing, &source, Some(path), only_reads)?;
    if only_reads && signing.expect.is_some() {
        terminal.warning("--expect has no effect on queries, which take the tables that the index was made with");
    }
    plan.warnings().iter().for_each(|warning| terminal.warning(&spelled(warning)));
    let options = index::IndexOptions { temp_dir: signing.run.temp_dir.clone(), ..options };
    let mut index = opened(path, &plan, &options, terminal)?.0;
    let filter = Filter::new(&mut index).threads(signing.run.threads).stop(stop.begin()).observer(terminal);
    let id_field = &signing.input.id_field;
    let names_ids = id_field.is_typed && id_field.value != input::NO_FIELD;
    let of_unnamed = if only_reads { QUERIED_UNNAMED } else { ADDED_UNNAMED };
    let has_ids = id_field.value != input::NO_FIELD && source.format != Format::Lines;
    let of_unnamed = has_ids.then_some(of_unnamed);
    let mut watching =
        Watching { sink, watch: InputWatch::new(&source, names_ids, None), of_unnamed, names_ids, terminal };
    let result = filter.run(live, &mut watching);
    terminal.done();
    let counts = result?;
    watching.watch.end(terminal);
    input::never_found(&source).iter().for_each(|warning| terminal.warning(warning));
    input::report_lacking(terminal, &source);
    stream::warn_at_end(&index, terminal);
    if !only_reads && let Some(error) = stream::none_read(&counts, &stop, terminal) {
        return Err(error);
    }
    Ok((counts, index, ended(&counts, &stop, terminal)))
}

/// What follows if a record without an id is added to an index or asked about.
const ADDED_UNNAMED: &str = "has no id: it is added under this name, by which index remove finds it";
const QUERIED_UNNAMED: &str = "has no id: a document that the index has is found as a duplicate, not as known";

/// A sink, and what its records lack as a rule.
struct Watching<'s> {
    sink: &'s mut dyn Sink,
    watch: InputWatch,
    /// What follows for a record without an id, until it was reported.
    of_unnamed: Option<&'static str>,
    /// Whether the field of ids was typed.
    names_ids: bool,
    terminal: &'s Terminal,
}

impl Sink for Watching<'_> {
    fn passed(&mut self, record: &[u8]) -> Result<(), Error> {
        self.sink.passed(record)
    }

    fn decided(&mut self, line: &[u8], id: &str, decision: &Decision) -> Result<(), Error> {
        self.watch.decided(line, id, self.terminal);
        if is_unnamed(id)
            && let Some(follows) = self.of_unnamed.take()
        {
            let advice = if self.names_ids { "" } else { "; use --id-field to name the field of ids" };
            self.terminal.warning(&format!("{id} {follows}{advice}"));
        }
        self.sink.decided(line, id, decision)
    }

    fn rejected(&mut self, record: Option<&[u8]>, problem: &Problem) -> Result<(), Error> {
        self.watch.rejected(problem, self.terminal);
        self.sink.rejected(record, problem)
    }

    fn release(&mut self, counts: &Counts, index: &Index) -> Result<(), Error> {
        self.sink.release(counts, index)
    }
}

/// The documents most similar to one.
#[derive(Serialize)]
struct Neighbours<'a> {
    r#type: &'static str,
    id: &'a str,
    neighbours: Vec<Similar<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    /// Why the record could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// Whether not all documents under a key were compared.
    #[serde(skip_serializing_if = "is_false")]
    capped: bool,
}

#[derive(Serialize)]
struct Similar<'a> {
    id: &'a str,
    similarity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl<'a> Neighbours<'a> {
    fn new(id: &'a str, nearest: &'a Nearest) -> Self {
        let similar = |neighbour: &'a Neighbour| Similar {
            id: &neighbour.id,
            similarity: neighbour.similarity.value(),
            distance: neighbour.distance,
        };
        Neighbours {
            note: nearest.is_featureless.then_some("no features"),
            capped: nearest.is_capped,
            neighbours: nearest.neighbours.iter().map(similar).collect(),
            ..Neighbours::unread(id, None)
        }
    }

    fn unread(id: &'a str, error: Option<&'a str>) -> Self {
        Neighbours { r#type: "neighbours", id, neighbours: Vec::new(), note: None, error, capped: false }
    }
}

/// The record of the answer of an index to a document, as JSON, with the time of the original if it is wanted. Only a mode that
/// [only reads](Mode::only_reads) has the note on known documents.
pub fn answer(id: &str, decision: &Decision, only_reads: bool, has_time: bool) -> String {
    let verdict = match decision {
        Decision::Nearest(nearest) => return json(&Neighbours::new(id, nearest)),
        decision if only_reads => Verdict::of_query(id, decision),
        decision => Verdict::new(id, decision),
    };
    json(&if has_time { verdict } else { verdict.without_time() })
}

/// The record of a document that could not be read, as JSON, with the message of the problem as the caller spells it: a verdict that says
/// whether to keep it, or one without neighbours.
pub fn unanswered(problem: &Problem, message: &str, keep: Option<bool>) -> String {
    let id = problem.id.clone().unwrap_or_else(|| problem.place.to_string());
    match keep {
        None => json(&Neighbours::unread(&id, Some(message))),
        Some(keep) => json(&Verdict::unread(&id, keep, message)),
    }
}

/// The size, in bytes, of the records that are held before they are written.
const HELD: usize = 1 << 20;

/// Prints a verdict, or the most similar documents, for each record that has a document, or could not be read.
struct Answers {
    is_nearest: bool,
    lines: Vec<u8>,
}

impl Answers {
    /// Adds a record. Records are written before they take much memory: nothing is remembered that must be stored first.
    fn add(&mut self, record: String) -> Result<(), Error> {
        self.lines.extend_from_slice(record.as_bytes());
        self.lines.push(b'\n');
        if self.lines.len() >= HELD { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Error> {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(&self.lines).and_then(|()| stdout.flush());
        self.lines.clear();
        written.map_err(cannot_write)
    }
}

impl Sink for Answers {
    fn passed(&mut self, _record: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn decided(&mut self, _line: &[u8], id: &str, decision: &Decision) -> Result<(), Error> {
        self.add(answer(id, decision, true, true))
    }

    fn rejected(&mut self, _record: Option<&[u8]>, problem: &Problem) -> Result<(), Error> {
        // As `filter` decides without options.
        let keep = (!self.is_nearest).then_some(false);
        self.add(unanswered(problem, &spelling::of_problem(problem), keep))
    }

    fn release(&mut self, _counts: &Counts, _index: &Index) -> Result<(), Error> {
        self.write()
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

/// The ids that were typed, and those in the file, one a line that is not blank.
fn read(ids: &Ids) -> Result<BTreeSet<String>, Error> {
    let mut all: BTreeSet<String> = ids.typed.iter().cloned().collect();
    if let Some(list) = &ids.from {
        let mut text = String::new();
        let read = match list.as_os_str() == "-" {
            true => io::stdin().read_to_string(&mut text).map(drop),
            false => fs::read_to_string(list).map(|read| text = read),
        };
        read.map_err(|error| Error::input(format!("cannot read {}", list.display()), error))?;
        all.extend(text.lines().filter(|line| !line.trim().is_empty()).map(String::from));
    }
    Ok(all)
}

/// Where to look for a document that an index does not have.
const ONLY_PASSED: &str = "an index has no duplicates that were dropped: --duplicates FILE of dedup filter lists these, and _dedup/removed.jsonl of dedup clean";

/// Reports ids that no document has, if there are any.
fn report_unknown(ids: &Ids, unknown: &BTreeSet<String>, terminal: &Terminal) {
    if unknown.is_empty() {
        return;
    }
    terminal.failed(&unknown_ids(unknown));
    if ids.from.is_some() && unknown.iter().any(|id| id.starts_with("{\"")) {
        terminal.line("--ids-from reads an id from each line, not a record: jq -r .id makes ids of JSON lines");
    } else {
        terminal.line(ONLY_PASSED);
    }
}

fn forget(path: &Path, ids: &Ids, terminal: &Terminal) -> Result<Status, Error> {
    let wanted = read(ids)?;
    let asked = wanted.len() as u64;
    let Removed { documents, unknown, torn } = remove(path, wanted)?;
    if let Some(torn) = torn {
        terminal.warning(&stream::of_cut(path, torn));
    }
    report_unknown(ids, &unknown, terminal);
    terminal.line(&format!("{} removed, of {}", counted(documents, "document"), counted(asked, "id")));
    Ok(Status::of_input(unknown.len() as u64))
}

fn rewrite(path: &Path, outdated: Outdated, terminal: &Terminal) -> Result<Status, Error> {
    let Compacted { documents, dropped, bytes: (before, after), damaged, missing, missing_at_end, torn, kept, .. } =
        compact(path, outdated)?;
    let forgotten = "the documents in them are forgotten, and may be passed again; how many is not known";
    let warning = |message: String| terminal.warning(&format!("{}: {message}", path.display()));
    let left_out = (damaged > 0).then(|| format!("left out {} that are damaged", counted(damaged, "byte")));
    let lost = (missing > 0).then(|| format!("{} were lost from the file before", counted(missing, "byte")));
    let gone: Vec<String> = left_out.into_iter().chain(lost).collect();
    if !gone.is_empty() {
        warning(format!("{}: {forgotten}", gone.join(", and ")));
    }
    if missing_at_end > 0 {
        let bytes = counted(missing_at_end, "byte");
        warning(format!(
            "{bytes} were lost from its end, which it had when its checkpoint was made, unless this is an older copy: {forgotten}"
        ));
    }
    if let Some(torn) = torn {
        let left = if kept.is_some() { "at its end: damage, or what" } else { "that" };
        warning(format!("left out {} {left} an interrupted write left", counted(torn.bytes, "byte")));
    }
    if let Some(kept) = kept {
        warning(format!("the file as it was is kept as {}: delete it when it is of no use", kept.display()));
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

/// That there are no documents of these ids: the first few, and the number of the others.
fn unknown_ids(ids: &BTreeSet<String>) -> String {
    const SHOWN: usize = 10;
    let more = ids.len().saturating_sub(SHOWN);
    let quoted = |id: &String| format!("'{}'", escaped(id));
    let shown: Vec<String> = ids.iter().take(SHOWN).map(quoted).collect();
    match &*shown {
        [one] => format!("no document has the id {one}"),
        _ if more > 0 => format!("no document has one of the ids {} or {} more", shown.join(", "), count(more as u64)),
        [first @ .., last] => format!("no document has one of the ids {} or {last}", first.join(", ")),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_ids_are_listed() {
        let found = |count: usize| unknown_ids(&(1000..1000 + count).map(|number| number.to_string()).collect());
        assert_eq!(found(1), "no document has the id '1000'");
        assert_eq!(found(2), "no document has one of the ids '1000' or '1001'");
        assert_eq!(found(3), "no document has one of the ids '1000', '1001' or '1002'");
        assert!(found(1010).ends_with(" '1008', '1009' or 1,000 more"), "{}", found(1010));
    }
}
