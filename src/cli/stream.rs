//! Shared by `dedup filter` and the commands of `dedup index` that read a stream: how documents are read and signed, and how the stream
//! ends.

use super::arguments::signing::OF_STREAMS;
use super::arguments::{Signing, indexed};
use super::files::OutFile;
use super::input;
use super::made_with;
use super::method::Method;
use super::signals;
use super::spelling::spell_all;
use super::stats::end_by_signal;
use super::status::{Status, usage_error};
use super::terminal::{Terminal, count, counted};
use crate::source::is_name_of;
use neardups::filter::Counts;
use neardups::index::{self, Decision, Forgetting, Header, Index, Mode, Plan, Repair, Seed, Size};
use neardups::source::{self, Format, PageText};
use neardups::{Error, IndexFault};
use serde::{Serialize, Serializer};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How the documents of a stream are read.
pub fn source_options(typed: &Signing) -> Result<source::ReadOptions, Error> {
    let format = &*typed.input.format;
    if !OF_STREAMS.contains(&format) {
        return Err(usage_error(format!(
            "a stream must be --format jsonl, lines or warc, not {format}; dedup scan and dedup clean read files of other formats"
        )));
    }
    let options = input::source_options(&typed.input, typed.run.temp_dir.as_deref())?;
    match options.encoding {
        Some(encoding) if encoding.is_utf16() && options.format != source::Format::Warc => Err(usage_error(format!(
            "a stream cannot be --encoding {}: convert it to UTF-8 first: iconv -f {} -t UTF-8",
            encoding.name(),
            encoding.name()
        ))),
        _ => Ok(options),
    }
}

/// How documents of a stream are signed, for an index if there is one, which is only read or not.
///
/// # Errors
/// The options contradict each other, or those of the index.
pub fn plan(
    typed: &Signing,
    source: &source::ReadOptions,
    index: Option<&Path>,
    only_reads: bool,
) -> Result<Plan, Error> {
    let existing = index.filter(|path| matches!(index::header(path), Ok(Some(_))));
    let beside = |error| match existing.filter(|path| has_options_of(typed, path)) {
        Some(path) => beside_those_of(path, error),
        None => error,
    };
    let method = Method::resolve(&typed.method).map_err(beside)?;
    let (entry, factory) = method.factory().map_err(beside)?;
    let seed = seed(typed, entry.name, index)?;
    let size = size(typed, entry.name, index, only_reads)?;
    let plan = Plan::sized(&factory, method.tokens.tokenizer, size)?.with_seed(seed)?;
    if typed.expect.is_some() && !plan.chooses_tables() {
        return Err(usage_error(format!(
            "--expect chooses the tables of simhash, and of projection without --cosine; those of {} with these options do \
             not depend on the number of documents: leave --expect out",
            entry.name
        )));
    }
    let are_pages = source.pages_in_fields && source.format != Format::Warc;
    let plan = match source.page_text {
        PageText::Main => plan.with_text("content", "main"),
        PageText::All if are_pages => plan.with_text("content", "html"),
        PageText::All => plan,
    };
    let Some(path) = existing else { return Ok(plan) };
    // Before warnings about what does not run.
    index::check_plan(path, &plan).map_err(|error| with_all_options(typed, error))?;
    // The index was made with these options, and nothing can be changed about them.
    Ok(if typed.expect.is_none() { plan.without_warnings() } else { plan })
}

/// Whether the options of an existing index take the place of those that are not given.
fn has_options_of(typed: &Signing, path: &Path) -> bool {
    let algorithm = &typed.method.algorithm;
    let algorithm = algorithm.is_typed.then_some(&*algorithm.value);
    stands_for_others(typed).is_none() && !made_with::options_of(path, algorithm).is_empty()
}

/// An option that is given and stands for others.
fn stands_for_others(typed: &Signing) -> Option<&'static str> {
    let given = |name: &str| typed.method.settings.given().any(|(given, _)| given == name);
    let is_given = |name: &&str| if *name == "preset" { typed.method.preset.is_some() } else { given(name) };
    indexed::STANDS_FOR_OTHERS.into_iter().find(is_given)
}

/// An error of options, some of which are those of the index.
fn beside_those_of(path: &Path, error: Error) -> Error {
    match error {
        Error::Usage(message) => {
            let path = path.display();
            let of_index = format!(
                "options that are not given are those that {path} was made with: leave it out, or use another index"
            );
            Error::Usage(format!("{message} ({of_index})"))
        }
        error => error,
    }
}

/// The error of another index, with what is to be done about an option of which the index has what follows from it.
fn with_all_options(typed: &Signing, error: Error) -> Error {
    match (error, stands_for_others(typed)) {
        (Error::Index { path, fault, message }, Some(flag)) if !message.starts_with("made with algo ") => {
            let message = format!(
                "{message}; --{flag} is not stored: give all options that the index was made with, or leave --{flag} out"
            );
            Error::Index { path, fault, message }
        }
        (error, _) => error,
    }
}

/// What the tables are chosen for: the typed number of documents; otherwise they are as many as those of an existing index.
/// So are they if it is only read: making others takes longer than its queries.
fn size(typed: &Signing, algorithm: &str, index: Option<&Path>, only_reads: bool) -> Result<Size, Error> {
    let given = typed.method.settings.given().find(|(name, _)| ["blocks", "tables"].contains(name));
    if let Some((name, _)) = given.filter(|_| typed.expect.is_some()) {
        return Err(usage_error(format!("--expect chooses the tables: leave --{name} out")));
    }
    if let Some(documents) = typed.expect.filter(|_| !only_reads) {
        return Ok(Size::Documents(documents));
    }
    let header = index.map(index::header).transpose()?.flatten();
    let header = header.filter(|header| header.algorithm == algorithm);
    Ok(header.and_then(|header| Size::of_header(&header)).unwrap_or_default())
}

/// The seed, as typed. With a lexicon or a file of weights it is always that of the options, because the terms are hashed
/// before the index is read.
fn seed(typed: &Signing, algorithm: &str, index: Option<&Path>) -> Result<Seed, Error> {
    let usual = typed.method.seed;
    if let Some((flag, _)) = typed.method.terms().first() {
        if typed.random_seed {
            return Err(usage_error(format!(
                "--random-seed has no effect with a file for --{flag}, whose terms are hashed with --seed: name a seed"
            )));
        }
        let has_other_seed = |header: &Header| header.algorithm == algorithm && header.seed != usual;
        if let Some(path) = index
            && index::header(path)?.as_ref().is_some_and(has_other_seed)
        {
            let message = format!(
                "made with another seed, and the terms of the file for --{flag} are hashed with --seed: name the seed of \
                 the index, or use another index"
            );
            let path = path.display().to_string();
            return Err(Error::Index { path, fault: IndexFault::Options, message });
        }
        return Ok(Seed::Fixed(usual));
    }
    Ok(match typed.random_seed {
        true => Seed::Random,
        false if typed.run.seed.is_some_and(|seed| seed.is_typed) => Seed::Fixed(usual),
        false => Seed::Auto,
    })
}

/// Opens an index for documents that are signed like this, and warns of a torn end, and of a file without anything in it. Returns the
/// warning too.
pub fn opened(
    path: &Path,
    plan: &Plan,
    options: &index::IndexOptions,
    terminal: &Terminal,
) -> Result<(Index, Option<String>), Error> {
    let (index, torn) = Index::open(path, plan, options)?;
    let is_read = matches!(options.mode, Mode::Query | Mode::Nearest(_));
    let begun_anew = || index.is_begun_anew().then(|| of_begun_anew(path));
    let torn = torn.map(|torn| match is_read {
        true => of_torn(path, torn),
        false if torn.is_addition => of_cut(path, torn),
        false => of_cut(path, torn) + "; feed the last documents again",
    });
    let warning = torn.or_else(begun_anew);
    warning.iter().for_each(|warning| terminal.warning(warning));
    if options.mode != Mode::Add
        && let Some(change) = change_of(index.last_forgetting(), Forgetting::from(&options.limits))
    {
        terminal.line(&format!("{}: {change}", path.display()));
    }
    Ok((index, warning))
}

/// How a run forgets other documents than the last one, which may be a mistake: the options apply only as long as each run has them.
fn change_of(last: Forgetting, now: Forgetting) -> Option<String> {
    if !last.is_any() || last == now {
        return None;
    }
    let change = match (now.is_as_strict_as(last), last.is_as_strict_as(now)) {
        (true, _) => "more is forgotten",
        (_, true) => "what was forgotten counts again, as far as the file has it",
        _ => "other documents are forgotten",
    };
    Some(format!("the last run had {}, and this one has {}: {change}", options_of(last), options_of(now)))
}

/// The options of what a run forgets.
fn options_of(Forgetting { window, expire, .. }: Forgetting) -> String {
    let is_alone = window.is_none();
    let window = window.map(|documents| format!("--window {documents}"));
    let expire = expire.map(|seconds| {
        let units = [(86_400, 'd'), (3_600, 'h'), (60, 'm')];
        let (length, unit) = units.into_iter().find(|(length, _)| seconds % length == 0).unwrap_or((1, 's'));
        let age = format!("{}{unit}", seconds / length);
        if is_alone { format!("--expire {age} (or --window {age})") } else { format!("--expire {age}") }
    });
    let options: Vec<String> = [window, expire].into_iter().flatten().collect();
    if options.is_empty() { "neither --window nor --expire".into() } else { options.join(" and ") }
}

/// The warning of a file that is empty or has a part of a header, if nothing is written.
pub fn of_empty(path: &Path) -> String {
    format!(
        "{}: the file exists and holds no index: a run that writes begins a new one in it, which remembers nothing; if there was one, put \
         a copy of it back first (--require-index makes this an error)",
        path.display()
    )
}

/// The warning of a file that was empty or had a part of a header.
pub fn of_begun_anew(path: &Path) -> String {
    format!(
        "{}: the file existed and held no index: a new one was begun in it, which remembers nothing; if there was one, stop and put a copy of \
         it back (--require-index makes this an error)",
        path.display()
    )
}

/// The same, where everything was decided without what the index may have remembered.
pub fn of_decided_anew(path: &Path) -> String {
    format!(
        "{}: the file existed and held no index: nothing was remembered before, and a new index was begun in it; if there was one, put a \
         copy of it back, delete the output, and run this again (--require-index makes this an error)",
        path.display()
    )
}

/// The warning of a torn end that was cut off.
pub fn of_cut(path: &Path, torn: Repair) -> String {
    let (path, bytes, at) = (path.display(), counted(torn.bytes, "byte"), torn.at);
    match torn.is_addition {
        true => format!(
            "{path}: cut off {bytes} at byte {at}, a part of what an interrupted run adds as a whole (dedup clean --index, or a call of \
             Python): nothing of it was remembered"
        ),
        false => format!("{path}: cut off {bytes} that an interrupted write left at byte {at}"),
    }
}

/// The warning of a torn end that is not cut off, because the index is only read.
pub fn of_torn(path: &Path, torn: Repair) -> String {
    let (end, was) = (torn_end(torn.bytes, torn.at), if torn.bytes == 1 { "was" } else { "were" });
    format!("{}: {end} torn, or being written now, and {was} ignored", path.display())
}

/// The last bytes of an index as the subject of a sentence, with its verb.
pub fn torn_end(bytes: u64, at: u64) -> String {
    match bytes {
        1 => "the last byte is".to_string(),
        _ => format!("the last {}, from byte {at} on, are", counted(bytes, "byte")),
    }
}

/// Why a stream that a signal stopped is not complete.
pub const STOPPED: &str = "stopped by a signal before the end of the input";

/// What signals to end do to a stream.
#[derive(Default)]
pub struct Stop {
    stage: AtomicU8,
    is_stopped: AtomicBool,
    /// What is done on the first signal to a stream, and on the second, before the process ends.
    then: Mutex<[Option<Then>; 2]>,
}

/// What is done on a signal.
type Then = Box<dyn FnOnce() + Send>;

/// The stages of a run, in this order: what it needs is opened; the stream; a signal came.
const OPENING: u8 = 0;
const STREAMING: u8 = 1;
const ENDING: u8 = 2;

impl Stop {
    /// Ends the process on a signal before the stream [begins](Self::begin), with the reason in the file of `--stats`: the index is as it
    /// was. From then on the process can finish its current step. A second signal ends it at once: the current step may be blocked
    /// forever by the reader of the output.
    ///
    /// # Errors
    /// The file of `--stats` cannot be opened again.
    pub fn on_signals(stats: Option<&OutFile>, hangup_ends: bool) -> Result<Arc<Stop>, Error> {
        let mut stats = stats.map(OutFile::try_clone).transpose()?;
        let stop = Arc::new(Stop::default());
        let on_signal = Arc::clone(&stop);
        // Without the handler a signal ends the program at once, which the index survives.
        signals::on_end(hangup_ends, move || match on_signal.stage.swap(ENDING, Ordering::SeqCst) {
            OPENING => {
                // In a thread of its own, because nobody may read what it reports, and a second signal must be heard.
                let stats = stats.take();
                thread::spawn(move || end_by_signal(stats.as_ref(), "stopped by a signal before the input was read"));
            }
            STREAMING => {
                on_signal.is_stopped.store(true, Ordering::Relaxed);
                on_signal.act(0);
            }
            _ => {
                on_signal.act(1);
                std::process::exit(130);
            }
        });
        Ok(stop)
    }

    /// Does something on the first signal to a stream, and something else on the second, before the process ends.
    pub fn on_each(&self, first: impl FnOnce() + Send + 'static, second: impl FnOnce() + Send + 'static) {
        *self.then() = [Some(Box::new(first)), Some(Box::new(second))];
    }

    fn then(&self) -> MutexGuard<'_, [Option<Then>; 2]> {
        self.then.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn act(&self, signal: usize) {
        let then = self.then()[signal].take();
        if let Some(then) = then {
            then();
        }
    }

    /// The stream begins. The flag is set by a signal. If one came before, this does not return: the process is ending.
    pub fn begin(&self) -> &AtomicBool {
        let began = self.stage.compare_exchange(OPENING, STREAMING, Ordering::SeqCst, Ordering::SeqCst);
        while began.is_err_and(|stage| stage == ENDING) {
            thread::park();
        }
        &self.is_stopped
    }

    /// Whether a signal came.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// A line about documents of which not all with the same keys were compared, if there were any.
pub fn crowded(index: &Index) -> Option<String> {
    crowded_keys(index.capped(), index.most_of_a_key())
}

/// The same, of so many documents, with this maximum.
pub fn crowded_keys(capped: u64, most_of_a_key: usize) -> Option<String> {
    (capped > 0).then(|| {
        format!(
            "{} shared a key with more than {}, of which only the latest were compared (more with --max-candidates)",
            counted(capped, "document"),
            counted(most_of_a_key as u64, "other")
        )
    })
}

/// A line about documents that passed again because they are unconfirmed.
pub fn passed_again(documents: u64) -> String {
    let them = if documents == 1 { "it" } else { "them" };
    let documents = counted(documents, "document");
    format!("passed again: {documents}, because an interrupted run may not have written {them}")
}

/// Prints the warnings of the algorithm at the end of a stream, and returns them.
pub fn warn_at_end(index: &Index, terminal: &Terminal) -> Vec<String> {
    let mut warnings = index.warnings();
    spell_all(&mut warnings);
    warnings.iter().for_each(|warning| terminal.warning(warning));
    warnings
}

/// The error of a stream that had records, of which none could be read, and none was passed: probably the options do not fit it, and what
/// fed it must not take it for done. Not if a signal stopped it, or if `--max-bad` allows so many.
pub fn none_read(counts: &Counts, stop: &Stop, terminal: &Terminal) -> Option<Error> {
    let Counts { documents, passed, failed, .. } = *counts;
    if documents > 0 || passed > 0 || stop.is_stopped() || terminal.status_of(failed) != Status::SomeFailed {
        return None;
    }
    let why = match failed {
        1 => "the only record failed".to_string(),
        _ => format!("all {} records failed", count(failed)),
    };
    Some(Error::Empty(format!(
        "no document was read: {why}; see the failures above, and feed the input again, with the options that fit it (`text-field`, `format`, \
         `encoding`)"
    )))
}

/// The status of a stream, which is printed if a signal stopped it.
pub fn ended(counts: &Counts, stop: &Stop, terminal: &Terminal) -> Status {
    if stop.is_stopped() {
        terminal.line(STOPPED);
        return Status::Stopped;
    }
    terminal.end_with(counts.failed)
}

/// The status of a stream that did not fail.
pub fn status(counts: &Counts, stop: &Stop, terminal: &Terminal) -> Status {
    if stop.is_stopped() { Status::Stopped } else { terminal.status_of(counts.failed) }
}

/// The original of a duplicate.
#[derive(Serialize)]
pub struct Duplicate<'a> {
    pub duplicate_of: &'a str,
    /// When it passed, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of_time: Option<u64>,
    pub similarity: f64,
}

/// The verdict on a document, with the same fields as in a scan.
#[derive(Serialize)]
pub struct Verdict<'a> {
    r#type: &'static str,
    pub id: &'a str,
    keep: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    duplicate: Option<Duplicate<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// Whether an earlier text of the document was forgotten.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replaced: bool,
    /// The position of its record in the run, if its id does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<AtRecord>,
}

/// The position of a record on standard input.
struct AtRecord(u64);

impl Serialize for AtRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("-:{}", self.0))
    }
}

impl<'a> Verdict<'a> {
    /// The verdict of a decision.
    pub fn new(id: &'a str, decision: &'a Decision) -> Self {
        let duplicate = match decision {
            Decision::Duplicate { of, passed, similarity, .. } => {
                let (similarity, duplicate_of_time) = (similarity.value(), Some(*passed));
                Some(Duplicate { duplicate_of: of, duplicate_of_time, similarity })
            }
            _ => None,
        };
        let note = match decision {
            // An earlier document may be as similar.
            Decision::Crowded | Decision::Duplicate { is_capped: true, .. } => Some("crowded keys"),
            Decision::Featureless => Some("no features"),
            _ => None,
        };
        Verdict {
            r#type: "verdict",
            id,
            keep: duplicate.is_none(),
            duplicate,
            note,
            error: None,
            replaced: false,
            at: None,
        }
    }

    /// The same without the time of the original.
    pub fn without_time(self) -> Self {
        let duplicate = self.duplicate.map(|duplicate| Duplicate { duplicate_of_time: None, ..duplicate });
        Verdict { duplicate, ..self }
    }

    /// The same of a document whose earlier text was forgotten, if it was `replaced`.
    pub fn replacing(self, replaced: bool) -> Self {
        Verdict { replaced, ..self }
    }

    /// The verdict of a query: that of a known document has a note.
    pub fn of_query(id: &'a str, decision: &'a Decision) -> Self {
        Verdict::new(id, decision).knowing(matches!(decision, Decision::Known))
    }

    /// The same with the note that the index has the document, if it `is_known`.
    pub fn knowing(self, is_known: bool) -> Self {
        Verdict { note: if is_known { Some("known") } else { self.note }, ..self }
    }

    /// The same with the line or number of its record on standard input, unless that is its id.
    pub fn at(self, record: Option<u64>) -> Self {
        Verdict { at: record.filter(|&record| !is_name_of(("-", Some(record)), self.id)).map(AtRecord), ..self }
    }

    /// Whether the document is a near-duplicate of another.
    pub fn is_duplicate(&self) -> bool {
        self.duplicate.is_some()
    }

    /// Whether the record could not be read.
    pub fn is_unread(&self) -> bool {
        self.error.is_some()
    }

    /// The verdict on a record that could not be read.
    pub fn unread(id: &'a str, keep: bool, error: &'a str) -> Self {
        Verdict {
            r#type: "verdict",
            id,
            keep,
            duplicate: None,
            note: None,
            error: Some(error),
            replaced: false,
            at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use neardups::index::Limits;
    use neardups::similarity::Similarity;

    #[test]
    fn another_window_than_that_of_the_last_run_is_reported() {
        let of = |window, expire| Forgetting::from(&Limits { window, expire, ..Limits::default() });
        let (window, none) = (of(Some(100), None), of(None, None));
        for same in [(none, none), (none, window), (window, window)] {
            assert_eq!(change_of(same.0, same.1), None);
        }
        let again = "what was forgotten counts again, as far as the file has it";
        for (last, now, change) in [
            (
                window,
                none,
                format!("the last run had --window 100, and this one has neither --window nor --expire: {again}"),
            ),
            (
                window,
                of(Some(99), None),
                "the last run had --window 100, and this one has --window 99: more is forgotten".into(),
            ),
            (
                of(Some(1), Some(7 * 86_400)),
                of(None, Some(36 * 3_600)),
                "the last run had --window 1 and --expire 7d, and this one has --expire 36h (or --window 36h): other documents \
                 are forgotten"
                    .into(),
            ),
            (
                of(None, Some(90)),
                of(None, Some(91)),
                format!(
                    "the last run had --expire 90s (or --window 90s), and this one has --expire 91s (or --window 91s): {again}"
                ),
            ),
        ] {
            assert_eq!(change_of(last, now), Some(change));
        }
    }

    #[test]
    fn a_duplicate_under_crowded_keys_has_a_note() {
        for (is_capped, expected) in [(true, Some("crowded keys")), (false, None)] {
            for similarity in [9, 10].map(|equal| Similarity::ratio(equal, 10)) {
                let decision = Decision::Duplicate { of: "a".into(), passed: 0, similarity, is_capped };
                assert_eq!(Verdict::new("b", &decision).note, expected);
            }
        }
    }

    #[test]
    fn the_torn_end_is_counted_in_words() {
        let torn = |bytes| of_torn(Path::new("a.idx"), Repair { at: 349, bytes, is_addition: false });
        assert_eq!(torn(1), "a.idx: the last byte is torn, or being written now, and was ignored");
        let several = "a.idx: the last 51 bytes, from byte 349 on, are torn, or being written now, and were ignored";
        assert_eq!(torn(51), several);
    }
}
