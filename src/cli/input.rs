//! Resolves options that are common to all commands that read documents.

use super::arguments::Content;
use super::arguments::OnError as OnErrorTyped;
use super::arguments::keep::Keep;
use super::arguments::{self, Run};
use super::preparation::Tokenization;
use super::spelling::spelled;
use super::stats::has_decided;
use super::status::usage_error;
use super::terminal::Terminal;
use crate::readable::{count, counted};
use neardups::clean::OnError;
use neardups::engine::{Chosen, RequiredFields};
use neardups::source::{
    Format, Globs, IdFields, Lacking, PageText, Program, RankBy, Ranking, ReferenceFields, TextFields,
};
use neardups::{Error, engine, source};
use serde::{Serialize, Serializer};
use std::fs::File;
use std::io::{BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How many bad records do not change the status.
///
/// # Errors
/// The first one ends the command.
pub fn max_bad(typed: &arguments::Input, on_error: OnErrorTyped) -> Result<u64, Error> {
    match on_error {
        OnErrorTyped::Fail if typed.max_bad > 0 => Err(usage_error(
            "--max-bad has no effect with --on-error fail, which accepts no bad record: leave one of them out",
        )),
        _ => Ok(typed.max_bad),
    }
}

/// Describes pages without a main text, after their number.
pub const FELL_BACK: &str = "without a recognised main text, read completely";

/// Makes it an error that no document was read, unless that is allowed: a mistyped path must not look like a clean corpus.
pub fn check_not_empty(
    allowed: bool,
    documents: u64,
    rejected: (u64, u64),
    read: &source::Counts,
) -> Result<(), Error> {
    if documents > 0 || allowed {
        return Ok(());
    }
    Err(read.none_read(rejected, "--allow-empty"))
}

/// Reports what was not read, or not as it was stored: files and records that failed, were skipped, were repaired, and pages without a
/// main text; and what was left out of the files.
pub fn report_left_out(terminal: &Terminal, counts: [u64; 4], input: source::Counts) {
    let [failed, skipped, repaired, fell_back] = counts;
    let source::Counts { hidden, textless, excluded, same, .. } = input;
    let skipped = skipped.saturating_sub(same);
    let names = if same == 1 { "further name of a file left out" } else { "further names of files left out" };
    let entries = if hidden == 1 { "hidden entry left out" } else { "hidden entries left out" };
    // A copy of the archive has them.
    let pages = if textless == 1 { "page without text not read" } else { "pages without text not read" };
    let files = if excluded == 1 { "file left out by globs" } else { "files left out by globs" };
    let left_out = [
        (skipped, "skipped"),
        (same, names),
        (hidden, entries),
        (excluded, files),
        (textless, pages),
        (repaired, "repaired"),
        (fell_back, FELL_BACK),
    ];
    let left_out = left_out.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n)));
    let failed = (failed > 0).then(|| terminal.failures(failed));
    let left_out: Vec<_> = failed.into_iter().chain(left_out).collect();
    if !left_out.is_empty() {
        terminal.line(&left_out.join(", "));
    }
}

/// What happens to what failed in a run that writes a corpus, and where that is listed if it writes to a folder.
pub fn failed_in_copy(
    terminal: &Terminal,
    (failed, unranked): (u64, u64),
    on_error: OnError,
    folder: Option<&Path>,
) -> Option<String> {
    let unread = match on_error {
        OnError::Drop => "records that could not be read are left out, damaged files stay whole",
        _ => "records that could not be read stay (--on-error drop leaves them out)",
    };
    let what = match unranked.min(failed) {
        0 => unread.to_string(),
        all if all == failed => format!("values that {UNRANKED}"),
        some => format!("{unread}; {} of them for values that {UNRANKED}", count(some)),
    };
    failed_with(terminal, failed, &what, folder)
}

/// What happens to records whose value ranks nothing.
const UNRANKED: &str = "--keep cannot go by: such records were compared, and come last in the choice";

/// The same, in a run that moves files.
pub fn failed_to_move(terminal: &Terminal, failed: u64, folder: Option<&Path>) -> Option<String> {
    failed_with(terminal, failed, "files that could not be read, or have changed, stay", folder)
}

/// The line about failures: `what` happens to them.
pub fn failed_with(terminal: &Terminal, failed: u64, what: &str, folder: Option<&Path>) -> Option<String> {
    let list = |folder: &Path| format!("; {} lists what failed", folder.join("_dedup/failed.jsonl").display());
    (failed > 0).then(|| format!("{}: {what}{}", terminal.failures(failed), folder.map(list).unwrap_or_default()))
}

/// What records lack of the text fields of the documents, and of those of a reference that has its own.
fn lacking(options: &source::ReadOptions) -> [Lacking; 2] {
    let Some(counted) = &options.lacking else { return Default::default() };
    let (own, of_reference) = (counted.of_documents(), counted.of_reference());
    match options.reference.text {
        Some(_) => [own, of_reference],
        None => [own.and(&of_reference), Lacking::default()],
    }
}

/// Reports how many records lack which text field, where several are named. A field that no record has is worth a warning.
pub fn report_lacking(terminal: &Terminal, options: &source::ReadOptions) {
    for (flag, lacking) in ["--text-field", "--against-text-field"].iter().zip(lacking(options)) {
        let never = lacking.never_found();
        let some = lacking.fields.iter().filter(|(name, _)| !never.contains(&&**name));
        let lack = |records| if records == 1 { "lacks" } else { "lack" };
        let some = some.map(|(name, records)| format!("{} {} '{name}'", count(*records), lack(*records)));
        let some: Vec<String> = some.collect();
        if !some.is_empty() {
            terminal.line(&format!("{flag}: of {}, {}", counted(lacking.records, "record"), some.join(", ")));
        }
    }
}

/// The warning about text fields that no record of a stream has, although some have others.
pub fn never_found(options: &source::ReadOptions) -> Option<String> {
    let [lacking, _] = lacking(options);
    lacking.warning("text-field").map(|warning| spelled(&warning).into_owned())
}

/// The fields of statistics about text fields that records lack.
#[derive(Default, Serialize)]
pub struct LackingStats {
    #[serde(skip_serializing_if = "Option::is_none")]
    lacking_fields: Option<Counted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against_lacking_fields: Option<Counted>,
}

/// Numbers by name, in their order.
struct Counted(Vec<(String, u64)>);

impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, count)| (name, count)))
    }
}

impl LackingStats {
    /// Those of what was read with these options.
    pub fn of(options: &source::ReadOptions) -> Self {
        let [own, against] = lacking(options).map(|lacking| lacking.fields);
        let some = |fields: Vec<_>| (!fields.is_empty()).then_some(Counted(fields));
        LackingStats { lacking_fields: some(own), against_lacking_fields: some(against) }
    }
}

/// Warns of globs that match no file.
pub fn warn_of_globs(terminal: &Terminal, paths: &[&[PathBuf]], options: &source::ReadOptions) {
    let names_files = paths.iter().copied().flatten().any(|path| path.is_file());
    for (name, glob) in source::Input::new(paths.concat(), options.clone()).unmatched_globs() {
        let in_folders = match name {
            "exclude" if names_files => " in the folders: a file that is named itself is read in any case",
            _ => "",
        };
        terminal.warning(&format!("--{name} '{glob}' matches no file{in_folders}"));
    }
}

/// Reports files that are among the input and the reference: what happens to those that are the reference, and what does not.
pub fn report_shared(
    terminal: &Terminal,
    input: &source::Input,
    reference: Option<&source::Input>,
    [done, not_done]: [&str; 2],
) {
    let files = |n: u64, what: &str| match n {
        1 => format!("1 file of {what} is"),
        n => format!("{} files of {what} are", count(n)),
    };
    let of_input = input.elsewhere();
    if of_input > 0 {
        terminal.line(&format!("{} the reference: {done}, not {not_done}", files(of_input, "the input")));
    }
    let of_reference = reference.map_or(0, source::Input::elsewhere);
    if of_reference > 0 {
        terminal.line(&format!("{} the input, and not {done}", files(of_reference, "the reference")));
    }
}

/// The typed paths, or standard input. `more` are other files that the command reads.
pub fn paths(typed: &[PathBuf], more: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let stdin = |path: &&PathBuf| path.as_os_str() == "-";
    let elsewhere = more.iter().filter(stdin).count();
    if typed.iter().filter(stdin).count() + elsewhere > 1 {
        return Err(usage_error("standard input (-) can be read only once"));
    }
    if !typed.is_empty() {
        return Ok(typed.to_vec());
    }
    if elsewhere > 0 || std::io::stdin().is_terminal() {
        return Err(usage_error(
            "no input: name files or folders, or pipe documents to standard input (see dedup scan --help)",
        ));
    }
    Ok(vec![PathBuf::from("-")])
}

/// Whether records may have fields, as far as the format says.
fn has_fields(format: Format) -> bool {
    !matches!(format, Format::Text | Format::Lines | Format::Html | Format::Warc)
}

/// How documents are read.
pub fn source_options(typed: &arguments::Input, temp_dir: Option<&Path>) -> Result<source::ReadOptions, Error> {
    let own = ("format", Format::by_name(&typed.format)?);
    let reference_format = typed.reference_format.as_deref().map(Format::by_name).transpose()?;
    let of_reference = reference_format.map_or(own, |format| ("against-format", format));
    // What is typed for the documents is for the reference too, unless the reference has its own.
    let of = |has_own: bool| if has_own { vec![own] } else { vec![own, of_reference] };
    let (own_text, own_id) = (!typed.reference_text_fields.is_empty(), typed.reference_id_field.is_some());
    let own_encoding = typed.reference_encoding.is_some();
    let has_fields: fn(Format) -> bool = has_fields;
    let has_pages: fn(Format) -> bool = |format| !matches!(format, Format::Text | Format::Lines);
    let is_table: fn(Format) -> bool = |format| matches!(format, Format::Auto | Format::Csv | Format::Tsv);
    let is_encoded: fn(Format) -> bool = |format| format != Format::Parquet;
    let (no_fields, no_pages) = ("that format has no fields", "that format has no pages");
    let utf8 = "its texts are UTF-8";
    let content = format!("content {}", typed.content.name());
    let options = [
        ("text-field", typed.text_fields.is_typed, of(own_text), has_fields, no_fields),
        ("id-field", typed.id_field.is_typed, of(own_id), has_fields, no_fields),
        ("against-text-field", own_text, vec![of_reference], has_fields, no_fields),
        ("against-id-field", own_id, vec![of_reference], has_fields, no_fields),
        (&*content, typed.content != Content::All, of(false), has_pages, no_pages),
        ("delimiter", typed.delimiter.is_some(), of(false), is_table, "use --format csv"),
        ("encoding", typed.encoding.is_some(), of(own_encoding), is_encoded, utf8),
        ("against-encoding", own_encoding, vec![of_reference], is_encoded, utf8),
    ];
    for (option, _, formats, has_effect, why) in options.into_iter().filter(|(_, is_typed, ..)| *is_typed) {
        if !formats.iter().any(|&(_, format)| has_effect(format)) {
            let (name, format) = (formats[0].0, formats[0].1.name());
            return Err(usage_error(format!("--{option} has no effect with --{name} {format}: {why}")));
        }
    }
    let encoding = |name: &'static str, typed: &Option<String>| {
        typed.as_ref().map(|label| source::Encoding::by_label(name, label)).transpose()
    };
    // Checked now rather than when standard input has filled its share of memory.
    if let Some(folder) = temp_dir {
        let failed = |error| Error::io(format!("cannot write temporary files in {}", folder.display()), error);
        folder.metadata().map_err(failed)?;
        // The error of the file has its name, which is of no use.
        tempfile::tempfile_in(folder).map_err(|error| failed(error.kind().into()))?;
    }
    let options = source::ReadOptions {
        format: own.1,
        text_fields: TextFields::parse("text-field", &typed.text_fields.value)?,
        lacking: Some(Arc::default()),
        id_field: IdFields::parse("id-field", &typed.id_field.value)?,
        reference: ReferenceFields {
            text: match &typed.reference_text_fields[..] {
                [] => None,
                fields => Some(TextFields::parse("against-text-field", fields)?),
            },
            id: typed.reference_id_field.as_ref().map(|id| IdFields::parse("against-id-field", id)).transpose()?,
            format: reference_format,
            encoding: encoding("against-encoding", &typed.reference_encoding)?,
        },
        encoding: encoding("encoding", &typed.encoding)?,
        page_text: if typed.content == Content::Main { PageText::Main } else { PageText::All },
        pages_in_fields: typed.content != Content::All,
        delimiter: typed.delimiter,
        max_record: typed.max_record.try_into().unwrap_or(usize::MAX),
        max_expansion: typed.max_expansion,
        max_window: typed.max_window,
        keep_rejected: typed.rejects.is_some(),
        hidden: typed.hidden,
        include: Globs::new("include", &typed.include)?,
        exclude: Globs::new("exclude", &typed.exclude)?,
        programs: programs(&typed.programs)?,
        temp_dir: temp_dir.map(Path::to_path_buf),
        ..source::ReadOptions::default()
    };
    options.validate()?;
    Ok(options)
}

/// The programs that files are read through.
fn programs(typed: &[arguments::Program]) -> Result<Vec<Arc<Program>>, Error> {
    let for_all = typed.iter().position(|program| program.globs.is_empty());
    if let Some([all, unused, ..]) = for_all.map(|number| &typed[number..]) {
        return Err(usage_error(format!(
            "--pre '{}' has no --pre-glob behind it, so it reads all files and '{}' none: give it one, or place it last",
            all.command, unused.command
        )));
    }
    typed.iter().map(|typed| program(typed).map(Arc::new)).collect()
}

/// A program that files are read through.
fn program(typed: &arguments::Program) -> Result<Program, Error> {
    let arguments::Program { command, globs, timeout } = typed;
    let words = shlex::split(command).ok_or_else(|| {
        usage_error(format!(
            "invalid value '{command}' for --pre: a quotation mark is not closed, or a backslash ends it"
        ))
    })?;
    Program::new(words, Globs::new("pre-glob", globs)?, timeout.map_or(Program::TIMEOUT, Duration::from_secs))
}

/// How documents are read of which only some are kept.
pub fn ranked_source_options(
    typed: &arguments::Input,
    keep: &Keep,
    temp_dir: Option<&Path>,
) -> Result<source::ReadOptions, Error> {
    let ranking = keep.ranking()?;
    let field = ranking.by.iter().find_map(RankBy::field);
    if let (format @ ("text" | "lines" | "html" | "warc"), Some(field)) = (typed.format.as_str(), field) {
        return Err(usage_error(format!(
            "--keep by the field '{field}' has no effect with --format {format}: that format has no fields"
        )));
    }
    Ok(source::ReadOptions { ranking, ..source_options(typed, temp_dir)? })
}

/// The options of the engine where only some documents are kept.
///
/// # Errors
/// The file of `--decisions` cannot be read.
pub fn deciding_engine_options(
    (typed, run): (&arguments::Input, &Run),
    tokens: &Tokenization,
    keep: &Keep,
) -> Result<engine::ScanOptions, Error> {
    let chosen = keep.decisions.as_deref().map(chosen).transpose()?;
    Ok(engine::ScanOptions {
        chosen: chosen.map(Arc::new),
        ranked_by: keep.ranking()?.by,
        ..reading_engine_options((typed, run), tokens)
    })
}

/// The value of `--id-field` for a field that no record has.
pub const NO_FIELD: &str = "none";

/// The fields that some record must have: each that was typed, because it may have been mistyped.
pub fn required_fields(typed: &arguments::Input) -> RequiredFields {
    if typed.allow_empty {
        return RequiredFields::default();
    }
    let (text, id) = (&typed.text_fields, &typed.id_field);
    let is_field = |name: &&String| **name != NO_FIELD;
    RequiredFields {
        text: text.is_typed,
        id: Some(&id.value).filter(|_| id.is_typed).filter(is_field).cloned(),
        reference_id: typed.reference_id_field.as_ref().filter(is_field).cloned(),
    }
}

/// The options of the engine where everything is read.
pub fn reading_engine_options((typed, run): (&arguments::Input, &Run), tokens: &Tokenization) -> engine::ScanOptions {
    engine::ScanOptions { required_fields: required_fields(typed), ..engine_options(run, tokens) }
}

fn chosen(file: &Path) -> Result<Chosen, Error> {
    let name = file.to_string_lossy();
    let opened = File::open(file).map_err(|error| Error::input(format!("cannot read {name}"), error))?;
    let chosen = Chosen::read(&name, BufReader::new(opened))?;
    match chosen.is_empty() {
        true => Err(usage_error(format!("--decisions: {name} has no decisions"))),
        false => Ok(chosen),
    }
}

/// Warns of fields that were typed if nothing that was read has fields.
pub fn warn_of_no_fields(terminal: &Terminal, required: &RequiredFields, read: &source::Counts) {
    if !has_no_fields(read) {
        return;
    }
    let why = "no file that was read has fields (--format jsonl or csv reads records, whatever the name of a file)";
    if required.text {
        terminal.warning(&format!("--text-field has no effect: {why}"));
    }
    if let Some(field) = &required.id {
        terminal.warning(&format!("--id-field '{field}' has no effect: {why}"));
    }
}

/// The same for the fields of a reference.
pub fn warn_of_no_reference_fields(
    terminal: &Terminal,
    options: &source::ReadOptions,
    reference: Option<&source::Input>,
) {
    if reference.is_none_or(|reference| !has_no_fields(&reference.counts())) {
        return;
    }
    let why = "no file of the reference has fields";
    if options.reference.text.is_some() {
        terminal.warning(&format!("--against-text-field has no effect: {why}"));
    }
    if let Some(field) = &options.reference.id {
        terminal.warning(&format!("--against-id-field '{field}' has no effect: {why}"));
    }
}

/// Whether files were read and none has fields.
fn has_no_fields(read: &source::Counts) -> bool {
    read.files > 0 && read.fieldless >= read.files
}

/// The field that identifies the document of a record where ids repeat.
pub const PLACE: &str = "at";

/// The same in records of two documents.
pub const PLACES_OF_PAIR: &str = "a_at and b_at";

/// The same in records of one document in another.
pub const PLACES_OF_CONTAINED: &str = "at and in_at";

/// Those of verdicts on documents that contain one of the reference.
pub const PLACES_OF_CONTAINING: &str = "at and contains_at";

/// The warning where ids repeat, with the fields that identify documents.
pub fn ids_repeat(fields: &str) -> String {
    format!("ids repeat: documents are identified by {fields}, where they were read")
}

/// Warns where ids repeat, if they do.
pub fn warn_of_ids(terminal: &Terminal, repeat: bool, fields: &str) {
    if repeat {
        terminal.warning(&ids_repeat(fields));
    }
}

/// Warns of records without an id, if a field of ids was typed: `is_typed` is whether that of the documents was. The numbers of records
/// without one and of all documents are those of the documents and of the reference.
pub fn warn_of_unnamed(
    terminal: &Terminal,
    (options, is_typed): (&source::ReadOptions, bool),
    unnamed: [u64; 2],
    documents: [u64; 2],
) {
    let warn = |option: &str, field: &IdFields, unnamed: u64, documents: u64| {
        if unnamed > 0 && field.name() != NO_FIELD {
            terminal.warning(&unnamed_records(option, field, unnamed, documents));
        }
    };
    // Of records without fields, none has an id.
    let formats = [options.format, options.reference.format.unwrap_or(options.format)];
    let [(own, all_own), (of_reference, all_of_reference)] = [0, 1].map(|side| match has_fields(formats[side]) {
        true => (unnamed[side], documents[side]),
        false => (0, 0),
    });
    match &options.reference.id {
        Some(field) => {
            if is_typed {
                warn("--id-field", &options.id_field, own, all_own);
            }
            warn("--against-id-field", field, of_reference, all_of_reference);
        }
        None if is_typed => {
            warn("--id-field", &options.id_field, own + of_reference, all_own + all_of_reference);
        }
        None => {}
    }
}

fn unnamed_records(option: &str, field: &IdFields, unnamed: u64, documents: u64) -> String {
    let (have, are) = if unnamed == 1 { ("has", "is") } else { ("have", "are") };
    let (unnamed, documents) = (count(unnamed), counted(documents, "document"));
    format!("{unnamed} of {documents} {have} no {option} '{field}', and {are} identified by position, FILE:RECORD")
}

/// Warns that one document was compared with nothing. `left_out` are the numbers of files and records that failed and that were skipped.
pub fn warn_of_one_document(terminal: &Terminal, paths: &[PathBuf], left_out: (u64, u64), read: source::Counts) {
    let others = not_read(left_out, read);
    let why = match others.is_empty() {
        true => format!("the input is a single document{}", read_as_text(paths)),
        false => format!("only one document was read ({})", others.join(", ")),
    };
    terminal.warning(&format!("nothing was compared: {why}"));
}

/// What of the input was not read, with its number.
fn not_read((failed, skipped): (u64, u64), input: source::Counts) -> Vec<String> {
    let entries = if input.hidden == 1 { "hidden entry" } else { "hidden entries" };
    let others = [
        (failed, "failed"),
        (skipped.saturating_sub(input.same), "skipped"),
        (input.hidden, entries),
        (input.excluded, "left out by globs"),
        (input.textless, "without text"),
    ];
    others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))).collect()
}

/// Advice if the input was probably meant as several documents, and is read as one text. Of a pipe the content is not known.
fn read_as_text(paths: &[PathBuf]) -> &'static str {
    const LIST: &str = " (a list of file names is read as text: name the files)";
    const JSON: &str = " (JSON that is not one object per line is read as text: jq -c '.[]' turns an array into lines)";
    let [path] = paths else { return "" };
    if !path.is_file() {
        return if path.as_os_str() == "-" { " (a list of file names is read as text)" } else { "" };
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1 << 14).read_to_end(&mut start));
    let Ok(start) = read.map(|_| String::from_utf8_lossy(&start)) else { return "" };
    let mut lines = start.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return "" };
    let is_object = serde_json::from_str::<serde::de::IgnoredAny>(first).is_ok() && first.starts_with('{');
    match first.starts_with(['{', '[']) {
        true if !is_object => JSON,
        false if Path::new(first).exists() => LIST,
        _ => "",
    }
}

/// Reports that an output folder can be continued, if a run failed after it had decided. Other options or inputs cannot continue it.
pub fn report_interrupted<T>(terminal: &Terminal, folder: Option<&Path>, result: &Result<T, Error>) {
    let is_other = matches!(result, Ok(_) | Err(Error::Usage(_)));
    if !is_other && folder.is_some_and(has_decided) {
        terminal.line("what was written stays, and the same command continues");
    }
}

/// Reports documents that could not be compared, if there are any.
pub fn report_unchecked(terminal: &Terminal, featureless: u64) {
    if featureless > 0 {
        terminal.line(&format!("kept unchecked: {} with too few features", counted(featureless, "document")));
    }
}

/// Warns of a choice by the time of files if there is one file.
pub fn warn_of_file_time(terminal: &Terminal, ranking: &Ranking, paths: &[PathBuf]) {
    let is_one = matches!(paths, [path] if path.is_file());
    if is_one && ranking.by.iter().any(RankBy::is_of_files) {
        terminal.warning("--keep newest and oldest compare the times of files, and there is one: max:FIELD and min:FIELD compare records");
    }
}

/// Reports what decisions do. Of near-duplicates among the documents that they name, only one is kept.
pub fn report_decisions(terminal: &Terminal, options: &engine::ScanOptions) {
    if let Some(chosen) = &options.chosen {
        let come = if chosen.len() == 1 { "its document comes" } else { "their documents come" };
        let always = match (chosen.len(), chosen.always()) {
            (_, 0) => String::new(),
            (1, _) => ", and is kept in any case".into(),
            (_, 1) => ", and 1 of them is kept in any case".into(),
            (_, always) => format!(", and {} of them are kept in any case", count(always as u64)),
        };
        let decisions = counted(chosen.len() as u64, "decision");
        terminal.line(&format!("{decisions}: {come} first in the choice of what is kept{always}"));
    }
}

/// The options of the engine, with this tokenizer.
pub fn engine_options(typed: &Run, tokens: &Tokenization) -> engine::ScanOptions {
    let defaults = engine::ScanOptions::default();
    engine::ScanOptions {
        tokenizer: tokens.measure(),
        seed: typed.seed.map_or(defaults.seed, |seed| seed.value),
        threads: typed.threads,
        memory: typed.memory.map_or(defaults.memory, |memory| memory.value),
        temp_dir: typed.temp_dir.clone(),
        ..defaults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_without_ids_are_counted_in_words() {
        for (unnamed, documents, expected) in [
            (1, 1, "1 of 1 document has no --id-field 'url', and is identified"),
            (1, 4, "1 of 4 documents has no --id-field 'url', and is identified"),
            (1200, 4000, "1,200 of 4,000 documents have no --id-field 'url', and are identified"),
        ] {
            let found = unnamed_records("--id-field", &IdFields::parse("id-field", "url").unwrap(), unnamed, documents);
            assert_eq!(found, format!("{expected} by position, FILE:RECORD"));
        }
    }
}
