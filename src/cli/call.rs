//! The commands for a caller that has names and values in the place of a command line, and its own way to show results.
//!
//! Names, checks and defaults are those of the flags.

pub use super::arguments::contain::Emit as ContainEmit;
pub use super::arguments::keywords::{Given, Misuse};
use super::arguments::keywords::{parse, parse_with};
pub use super::arguments::passages::Emit as PassageEmit;
pub use super::arguments::scan::Emit;
use super::arguments::{
    self, OnError, Signing, compare as compare_arguments, contain as contain_arguments, passages as passage_arguments,
    scan as scan_arguments, signing,
};
pub use super::contain::{hint_of_share, remarks_on_short};
pub use super::index::{answer, unanswered};
pub use super::input::{PLACE, PLACES_OF_CONTAINED, PLACES_OF_CONTAINING, PLACES_OF_PAIR, ids_repeat};
use super::input::{check_not_empty, required_fields};
use super::method::Method;
use super::{compare as compare_command, contain, passages, scan as scan_command, spelling, stream};
use clap::Command;
use neardups::algorithm::TableFactory;
use neardups::engine::{Counts, KeepPolicy, RequiredFields, ScanOptions};
use neardups::index::{Limits, Plan};
use neardups::passages::{ContainOptions, PassageCounts, PassageOptions};
use neardups::source::ReadOptions;
use neardups::tokenizer::Tokenizer;
use neardups::{Error, clean};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a call is refused.
#[derive(Debug)]
pub enum Refused {
    Misuse(Misuse),
    Error(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused::Error(error)
    }
}

impl From<Misuse> for Refused {
    fn from(misuse: Misuse) -> Self {
        Refused::Misuse(misuse)
    }
}

/// Flags for messages and files beside the results, which a caller has its own way for; and `measure`, which makes another command of a
/// scan.
const OF_THE_PROGRAM: [&str; 7] = ["quiet", "stats", "report", "print0", "rejects", "against", "measure"];

/// Flags for files, which documents in memory have no use for.
const OF_FILES: [&str; 13] = [
    "format",
    "encoding",
    "delimiter",
    "max-expansion",
    "max-window",
    "hidden",
    "include",
    "exclude",
    "pre",
    "pre-glob",
    "pre-timeout",
    "prefer",
    "allow-empty",
];

/// A scan, resolved.
pub struct Scan {
    pub emit: Emit,
    pub source: ReadOptions,
    pub factory: TableFactory,
    pub options: ScanOptions,
    pub keep: KeepPolicy,
    pub host_depth: usize,
    pub on_error: clean::OnError,
    /// Whether the field of ids was named.
    pub names_ids: bool,
    /// Whether there may be no documents, and no reference in its files.
    pub allows_empty: bool,
    pub allows_empty_reference: bool,
}

/// Resolves `dedup scan`. The documents may be in memory, without names of fields if `are_texts`; `is_against` says whether there is a
/// reference.
///
/// # Errors
/// A name is unknown, or a value invalid; or they contradict each other.
pub fn scan(given: &[(String, Given)], documents: Documents, is_against: bool) -> Result<Scan, Refused> {
    let withheld = documents.withheld();
    let matches = parse_with(scan_arguments::command(), withheld, given, reference(is_against))?;
    let arguments = scan_arguments::Arguments::new(&matches);
    let request = scan_command::Request::resolve(&arguments, |_| Ok(Vec::new()))?;
    Ok(Scan {
        emit: request.emit,
        names_ids: request.names_ids,
        allows_empty: request.allow_empty || documents != Documents::Files,
        allows_empty_reference: request.allow_empty,
        source: request.source,
        factory: request.factory,
        options: request.engine,
        keep: request.keep,
        host_depth: request.host_depth,
        on_error: request.on_error.into(),
    })
}

/// Where documents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Documents {
    Files,
    Tables,
    Texts,
}

impl Documents {
    /// The flags that have no effect on them.
    fn withheld(self) -> Vec<&'static str> {
        let mut withheld = OF_THE_PROGRAM.to_vec();
        if self != Documents::Files {
            withheld.extend(OF_FILES);
        }
        if self == Documents::Texts {
            withheld.extend(["text-field", "id-field"]);
        }
        withheld
    }
}

impl Scan {
    /// Whether the field of ids of the reference was named.
    pub fn names_reference_ids(&self) -> bool {
        self.names_ids || self.source.reference.id.is_some()
    }

    /// The options for copies of records.
    pub fn options_of_clean(&self) -> clean::CleanOptions {
        clean::CleanOptions {
            source: self.source.clone(),
            engine: self.options.clone(),
            keep: self.keep,
            on_error: self.on_error,
            ..clean::CleanOptions::default()
        }
    }

    /// Checks what was read.
    ///
    /// # Errors
    /// No document was read, or records failed and the run should fail then.
    pub fn check(&self, counts: &Counts) -> Result<(), Error> {
        check_read(self.allows_empty, self.on_error, [counts.documents, counts.failed, counts.skipped])
    }
}

/// Checks the numbers of documents that were read, that failed, and that were skipped.
fn check_read(
    allows_empty: bool,
    on_error: clean::OnError,
    [documents, failed, skipped]: [u64; 3],
) -> Result<(), Error> {
    check_not_empty(allows_empty, documents, (failed, skipped), &Default::default())?;
    let on_error = if on_error == clean::OnError::Fail { OnError::Fail } else { OnError::Keep };
    scan_command::check_failed(on_error, failed, scan_command::NOTHING_WRITTEN)
}

/// A search for passages, or for documents that are contained in others, resolved.
pub struct Search<E, O> {
    pub emit: E,
    pub source: ReadOptions,
    pub options: O,
    pub on_error: clean::OnError,
    /// Whether the field of ids was named.
    pub names_ids: bool,
    /// Whether there may be no documents, and no reference in its files.
    pub allows_empty: bool,
    pub allows_empty_reference: bool,
}

impl<E, O> Search<E, O> {
    /// Whether the field of ids of the reference was named.
    pub fn names_reference_ids(&self) -> bool {
        self.names_ids || self.source.reference.id.is_some()
    }

    /// Checks what was read, as [`Scan::check`] does.
    ///
    /// # Errors
    /// As for [`Scan::check`].
    pub fn check(&self, counts: &PassageCounts) -> Result<(), Error> {
        check_read(self.allows_empty, self.on_error, [counts.documents, counts.failed, counts.skipped])
    }
}

/// Resolves `dedup passages`, without what writes documents. Documents are given as for [`scan`].
///
/// # Errors
/// As for [`scan`].
pub fn passages(
    given: &[(String, Given)],
    documents: Documents,
    is_against: bool,
) -> Result<Search<PassageEmit, PassageOptions>, Refused> {
    let withheld = [&documents.withheld()[..], &["output", "unit", "keep", "max-cut", "on-error"]].concat();
    let matches = parse_with(passage_arguments::command(), withheld, given, reference(is_against))?;
    let mut arguments = passage_arguments::Arguments::new(&matches);
    let written = [(PassageEmit::Verdicts, "verdicts"), (PassageEmit::Kept, "kept")];
    if let Some((_, value)) = written.into_iter().find(|&(emit, _)| arguments.emit == emit) {
        let reason = "expected one of passages, pairs, spans".into();
        return Err(Misuse::Value { name: "emit".into(), value: value.into(), reason }.into());
    }
    arguments.paths = vec![DOCUMENTS.into()];
    let names_ids = arguments.input.id_field.is_typed;
    let passages::Request { source, options, emit, allow_empty, .. } = passages::Request::resolve(&arguments)?;
    let (allows_empty, on_error) = (allow_empty || documents != Documents::Files, clean::OnError::Keep);
    Ok(Search { emit, source, options, on_error, names_ids, allows_empty, allows_empty_reference: allow_empty })
}

/// Resolves `dedup contain`. Documents are given as for [`scan`].
///
/// # Errors
/// As for [`scan`].
pub fn contain(
    given: &[(String, Given)],
    documents: Documents,
    is_against: bool,
) -> Result<Search<ContainEmit, ContainOptions>, Refused> {
    let withheld = [&documents.withheld()[..], &["output"]].concat();
    let matches = parse_with(contain_arguments::command(), withheld, given, reference(is_against))?;
    let mut arguments = contain_arguments::Arguments::new(&matches);
    arguments.paths = vec![DOCUMENTS.into()];
    let names_ids = arguments.input.id_field.is_typed;
    let contain::Request { source, options, emit, on_error, allow_empty, .. } = contain::Request::resolve(&arguments)?;
    let (allows_empty, on_error) = (allow_empty || documents != Documents::Files, on_error.into());
    Ok(Search { emit, source, options, on_error, names_ids, allows_empty, allows_empty_reference: allow_empty })
}

/// Paths that stand for documents that are given otherwise.
const DOCUMENTS: &str = "the documents";
const REFERENCE: &str = "the reference";

/// The flag of a reference, if there is one, which other flags may need.
fn reference(is_there: bool) -> Option<(&'static str, &'static str)> {
    is_there.then_some(("against", REFERENCE))
}

/// How documents are compared, resolved.
pub struct Compared {
    pub factory: TableFactory,
    /// What measures documents, and cuts them unless the algorithm needs another.
    pub tokenizer: Arc<dyn Tokenizer>,
    pub seed: u64,
}

/// Resolves how documents are compared: the options of `dedup scan` that say it, and no others.
///
/// # Errors
/// As for [`scan`].
pub fn method(given: &[(String, Given)]) -> Result<Compared, Refused> {
    let matches = parse(arguments::method::command(), &OF_THE_PROGRAM, given)?;
    let typed = arguments::Method::new(&matches);
    let method = Method::resolve(&typed)?;
    let (_, factory) = method.factory()?;
    Ok(Compared { factory, tokenizer: method.tokens.measure(), seed: typed.seed })
}

/// Compares two texts: the record of `dedup compare --json`, and warnings.
///
/// # Errors
/// As for [`scan`].
pub fn compare(texts: [(&str, &str); 2], given: &[(String, Given)]) -> Result<(String, Vec<String>), Refused> {
    let withheld: Vec<&str> =
        [&Documents::Texts.withheld()[..], &["in", "json", "all", "on-error", "max-record", "content"]].concat();
    let command = compare_arguments::command().mut_args(|arg| arg.required(false));
    let with_sides = |command: Command| {
        command.mut_args(|arg| match arg.get_id().as_str() {
            "A" | "B" => arg.default_value("-"),
            _ => arg,
        })
    };
    let matches = parse(with_sides(command), &withheld, given)?;
    Ok(compare_command::of_texts(&compare_arguments::Arguments::new(&matches), texts)?)
}

/// How an index is made and read, resolved.
pub struct Indexing {
    pub source: ReadOptions,
    pub plan: Plan,
    pub limits: Limits,
    pub threads: usize,
    pub temp_dir: Option<PathBuf>,
    /// The fields that some record must have.
    pub required_fields: RequiredFields,
}

/// Resolves the options of an index, which may be in a file.
///
/// # Errors
/// As for [`scan`]. An index in the file cannot be read.
pub fn index(given: &[(String, Given)], path: Option<&Path>) -> Result<Indexing, Refused> {
    let args = signing::args().into_iter().chain(signing::forgetting_args());
    let args = args.chain([
        signing::max_documents_arg(),
        signing::memory_arg(),
        signing::candidates_arg(),
        signing::expect_arg(),
    ]);
    let command = Command::new("index").args(args);
    let mut withheld = OF_THE_PROGRAM.to_vec();
    withheld.extend(OF_FILES);
    let matches = parse(command, &withheld, given)?;
    let typed = Signing::new(&matches);
    let source = stream::source_options(&typed)?;
    Ok(Indexing {
        plan: stream::plan(&typed, &source, path, false)?,
        limits: signing::limits(&matches),
        threads: typed.run.threads,
        required_fields: required_fields(&typed.input),
        temp_dir: typed.run.temp_dir.clone(),
        source,
    })
}

/// The message of an error. Parameters are in it as flags.
pub fn message(error: &Error) -> String {
    spelling::of_error(error)
}

/// A warning, with parameters as flags.
pub fn warning(message: &str) -> String {
    spelling::spelled(message).into_owned()
}

/// Why a record was rejected, with parameters as flags.
pub fn rejection(message: &str) -> String {
    spelling::of_rejection(message).into_owned()
}
