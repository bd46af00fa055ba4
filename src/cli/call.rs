//! The commands for a caller that has names and values in the place of a command line, and its own way to show results.
//!
//! Names, checks and defaults are those of the flags.

pub use super::arguments::contain::Emit as ContainEmit;
use super::arguments::indexed;
pub use super::arguments::keywords::{Given, Misuse};
use super::arguments::keywords::{Withheld, parse, parse_with, taken, takes_names};
pub use super::arguments::passages::Emit as PassageEmit;
use super::arguments::passages::Unit;
pub use super::arguments::scan::Emit;
use super::arguments::{
    self, Signing, compare as compare_arguments, contain as contain_arguments, passages as passage_arguments,
    scan as scan_arguments, signing,
};
pub use super::contain::{
    Request as ContainRequest, Written as ContainWritten, decided, hint_of_share, remarks_on_short,
};
pub use super::index::{answer, unanswered};
pub use super::input::{PLACE, PLACES_OF_CONTAINED, PLACES_OF_CONTAINING, PLACES_OF_PAIR, ids_repeat};
use super::input::{check_not_empty, required_fields};
use super::json::json;
pub use super::markup::{SAMPLE, hint_of_sample, sample_of_files};
use super::method::Method;
pub use super::passages::{Request as PassageRequest, Written as PassageWritten};
pub use super::scan::{Request as ScanRequest, Written as ScanWritten, warnings_of_hosts};
pub use super::whole::Decided;
use super::{
    compare as compare_command, contain as contain_command, filter as filter_command, made_with,
    passages as passage_command, scan as scan_command, spelling, stream,
};
use clap::{ArgAction, Command};
use neardups::algorithm::TableFactory;
use neardups::engine::{Counts, Report, RequiredFields};
use neardups::filter;
use neardups::index::{Index, Limits, Plan};
use neardups::passages::{PassageCounts, ShareOf};
use neardups::source::{RankBy, ReadOptions};
use neardups::tokenizer::Tokenizer;
use neardups::{Error, clean, source};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

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

/// Flags for messages and files beside the results, which a caller has its own way for.
const OF_THE_PROGRAM: Withheld = Withheld {
    flags: &["quiet", "report", "print0", "rejects", "max-bad"],
    why: "is for the messages, files and exit status of the command dedup, and is taken there alone",
};

/// What a caller takes apart from options.
const STATS: Withheld =
    Withheld { flags: &["stats"], why: "is a dictionary that `scan`, `keep` and other functions fill" };

/// What people call the option of a file to write.
const OUTPUTS: [&str; 8] =
    ["output", "out", "output-dir", "output-path", "output-file", "outfile", "outdir", "save-to"];

/// What takes the place of it.
const RETURNED: &str = "names a file or folder to write, and functions return their results: the command dedup clean --output DIR \
     writes what is kept";

/// It makes another command of a scan.
const MEASURE: Withheld = Withheld {
    flags: &["measure"],
    why: "is of the command dedup scan alone: `contain` with `emit=\"pairs\"` has the shares",
};

/// Flags for files, which documents in memory have no use for.
const OF_FILES: Withheld = Withheld {
    flags: &[
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
    ],
    why: "concerns files, and is taken where the documents are paths",
};

/// The same for files that are read for an index.
const OF_FILES_OF_AN_INDEX: Withheld = Withheld {
    why: "concerns files, and an index has no options for these: read the files into a table, or use the commands dedup filter and dedup index",
    ..OF_FILES
};

/// Flags for files of a reference.
const OF_FILES_OF_A_REFERENCE: Withheld = Withheld {
    flags: &["against-format", "against-encoding"],
    why: "concerns files, and is taken where `against` is paths",
};

/// Flags for columns.
const OF_COLUMNS: Withheld = Withheld {
    flags: &["text-field", "id-field"],
    why: "names a column, and a list of texts has none: it is taken where the documents are a table, dictionaries or paths",
};

/// The same where the reference has columns.
const OF_COLUMNS_OF_ONE_SIDE: Withheld = Withheld {
    why: "names a column of the documents, and a list of texts has none: `against_text_field` and `against_id_field` name those of `against`",
    ..OF_COLUMNS
};

/// Flags for columns of a reference.
const OF_COLUMNS_OF_A_REFERENCE: Withheld = Withheld {
    flags: &["against-text-field", "against-id-field"],
    why: "names a column, and a list of texts has none: it is taken where `against` is a table, dictionaries or paths",
};

/// What writes documents of which parts are cut.
const OF_CUTS: Withheld = Withheld {
    flags: &["output", "keep", "max-cut"],
    why: "is for what the command dedup passages writes: the spans that are returned can be cut out of the texts",
};

const OUTPUT: Withheld = Withheld {
    flags: &["output"],
    why: "is for what the command dedup contain writes: `emit=\"kept\"` returns the documents",
};

/// What `dedup compare` has for files and for how it prints.
const OF_COMPARED_FILES: Withheld = Withheld {
    flags: &["in", "json", "all", "on-error", "max-record", "content"],
    why: "is for files and what the command dedup compare prints",
};

/// A function, for the names of what it takes.
#[derive(Clone, Copy, Debug)]
enum Function {
    Scan,
    Passages,
    Contain,
    Method,
    Compare,
    Index,
}

impl Function {
    fn command(self) -> Command {
        match self {
            Function::Scan => scan_arguments::command(),
            Function::Passages => passage_arguments::command(),
            Function::Contain => contain_arguments::command(),
            Function::Method => arguments::method::command(),
            Function::Compare => compare_arguments::command(),
            Function::Index => index_command(),
        }
    }

    /// The flags that have no effect on such documents, and such a reference.
    fn withheld(self, documents: Documents, reference: Option<Documents>) -> Vec<Withheld> {
        let mut withheld = vec![OF_THE_PROGRAM, STATS];
        withheld.push(match self {
            Function::Scan | Function::Method => MEASURE,
            Function::Passages => OF_CUTS,
            Function::Contain => OUTPUT,
            Function::Compare => OF_COMPARED_FILES,
            Function::Index => OF_FILES_OF_AN_INDEX,
        });
        if documents != Documents::Files {
            withheld.push(OF_FILES);
        }
        if documents == Documents::Texts {
            let has_columns = reference.is_some_and(|reference| reference != Documents::Texts);
            withheld.push(if has_columns { OF_COLUMNS_OF_ONE_SIDE } else { OF_COLUMNS });
        }
        if reference.is_some_and(|reference| reference != Documents::Files) {
            withheld.push(OF_FILES_OF_A_REFERENCE);
        }
        if reference == Some(Documents::Texts) {
            withheld.push(OF_COLUMNS_OF_A_REFERENCE);
        }
        withheld
    }
}

/// The functions, with their names.
const FUNCTIONS: [(&str, Function); 6] = [
    ("scan", Function::Scan),
    ("passages", Function::Passages),
    ("contain", Function::Contain),
    ("similarity", Function::Method),
    ("compare", Function::Compare),
    ("Index", Function::Index),
];

/// The flag of a reference, if there is one, which other flags may need.
fn reference(against: Option<Documents>) -> Option<(&'static str, &'static str)> {
    against.map(|_| ("against", REFERENCE))
}

/// A misuse, where other functions may take the name, or the word.
fn or_elsewhere(misuse: Misuse) -> Misuse {
    match misuse {
        Misuse::Unknown { name, .. } if OUTPUTS.contains(&&*name) => {
            Misuse::Withheld { name, meant: None, why: RETURNED.into() }
        }
        Misuse::Unknown { ref name, .. } | Misuse::Withheld { ref name, meant: Some(_), .. } => {
            elsewhere(name).unwrap_or(misuse)
        }
        Misuse::Value { name, value, reason } if name == "emit" => {
            let reason = match emitted_by(&value) {
                _ if ["cut", "cuts"].contains(&&*value) => format!("{reason}. {CUTS}"),
                Some(functions) => format!("{reason}; '{value}' is of {functions}"),
                None => reason,
            };
            Misuse::Value { name, value, reason }
        }
        misuse => misuse,
    }
}

/// The functions that take this word for what they return, if any does.
fn emitted_by(word: &str) -> Option<String> {
    let takes = |(_, options): &(&str, Vec<Taken>)| {
        options.iter().any(|option| option.name == "emit" && option.words.iter().any(|known| known == word))
    };
    listed(options().iter().filter(|of| takes(of)).map(|(function, _)| *function))
}

/// Functions, as the end of a sentence about them; `None` if there are none.
fn listed<'n>(functions: impl Iterator<Item = &'n str>) -> Option<String> {
    let functions: Vec<_> = functions.map(|function| format!("`{function}`")).collect();
    let (last, others) = functions.split_last()?;
    Some(if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) })
}

/// The misuse of a name that other functions take, if any does.
fn elsewhere(name: &str) -> Option<Misuse> {
    let takes = |(function, of): &(&'static str, Function)| {
        let (command, withheld) = (of.command(), of.withheld(documents_of_most(*of), None));
        let is_taken = taken(&command, &withheld).any(|arg| arg.get_long() == Some(name));
        is_taken.then_some(*function)
    };
    let functions = listed(FUNCTIONS.iter().filter_map(takes))?;
    Some(Misuse::Withheld { name: name.into(), meant: None, why: format!("is an option of {functions}") })
}

/// The words that the options of all functions take, by the names of their flags. Numbers and names have none.
pub fn words() -> &'static BTreeMap<String, Vec<String>> {
    static WORDS: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
        let mut words = BTreeMap::<String, Vec<String>>::new();
        let options = options().into_iter().flat_map(|(_, options)| options).filter(|option| !option.is_switch);
        options.for_each(|option| words.entry(option.name).or_default().extend(option.words));
        words.entry("against".into()).or_default();
        words
    });
    &WORDS
}

/// What the option of a function takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The name of the flag.
    pub name: String,
    /// Whether it is yes or no.
    pub is_switch: bool,
    /// Whether it takes several values.
    pub is_list: bool,
    /// Whether its values are names of files or columns, so that a number is none.
    pub is_name: bool,
    /// The values that it takes, if these are some words.
    pub words: Vec<String>,
}

/// What the options of each function take: of any documents, files too.
pub fn options() -> Vec<(&'static str, Vec<Taken>)> {
    let options = FUNCTIONS.map(|(name, function)| {
        let (mut command, withheld) = (function.command(), function.withheld(documents_of_most(function), None));
        command.build();
        let taken =
            taken(&command, &withheld).filter(|arg| !["against", "help", "version"].contains(&arg.get_id().as_str()));
        let taken = taken.map(|arg| Taken {
            name: arg.get_long().unwrap_or_default().to_string(),
            is_switch: !arg.get_action().takes_values(),
            is_list: matches!(arg.get_action(), ArgAction::Append),
            is_name: takes_names(arg),
            words: arg.get_possible_values().iter().map(|word| word.get_name().to_string()).collect(),
        });
        (name, taken.collect())
    });
    options.into()
}

/// The documents for which a function has most options.
fn documents_of_most(function: Function) -> Documents {
    if matches!(function, Function::Compare) { Documents::Texts } else { Documents::Files }
}

/// A scan, resolved.
pub struct Scan {
    pub request: ScanRequest,
    pub on_error: clean::OnError,
    /// Whether there may be no documents, and no reference in its files.
    pub allows_empty: bool,
    pub allows_empty_reference: bool,
}

/// Resolves `dedup scan`. The documents may be in memory, without names of fields if they are texts; so may a reference,
/// if there is one.
///
/// # Errors
/// A name is unknown, or a value invalid; or they contradict each other.
pub fn scan(given: &[(String, Given)], documents: Documents, against: Option<Documents>) -> Result<Scan, Refused> {
    let withheld = Function::Scan.withheld(documents, against);
    let matches = parse_with(Function::Scan.command(), &withheld, given, reference(against)).map_err(or_elsewhere)?;
    let arguments = scan_arguments::Arguments::new(&matches);
    let request = ScanRequest::resolve(&arguments, |_| Ok(Vec::new()))?;
    if documents != Documents::Files && request.source.ranking.by.iter().any(RankBy::is_of_files) {
        return Err(misused(given, "keep", OF_TIMES).into());
    }
    Ok(Scan {
        on_error: request.on_error.into(),
        allows_empty: request.allow_empty || documents != Documents::Files,
        allows_empty_reference: request.allow_empty,
        request,
    })
}

/// The misuse of the value of a name.
fn misused(given: &[(String, Given)], name: &str, reason: &str) -> Misuse {
    let value = given.iter().find_map(|(other, given)| match given {
        Given::Value(value) if other == name => Some(value.to_string_lossy().into_owned()),
        _ => None,
    });
    Misuse::Value { name: name.into(), value: value.unwrap_or_default(), reason: reason.into() }
}

const OF_TIMES: &str = "newest and oldest compare the times of files, and the documents are in memory";

/// Where documents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Documents {
    Files,
    Tables,
    Texts,
}

impl Scan {
    /// Whether the field of ids of the reference was named.
    pub fn names_reference_ids(&self) -> bool {
        self.request.names_ids || self.request.source.reference.id.is_some()
    }

    /// Checks what was read.
    ///
    /// # Errors
    /// No document was read, or records failed and the run should fail then.
    pub fn check(&self, counts: &Counts) -> Result<(), Error> {
        check_read(self.allows_empty, self.on_error, [counts.documents, counts.failed, counts.skipped])
    }

    /// What `--stats` writes about it, with the warnings of the report.
    pub fn stats(&self, report: &Report, written: &ScanWritten, input: source::Counts, started: Instant) -> String {
        json(&scan_command::stats(report, &self.request, written, input, started))
    }
}

/// Checks the numbers of documents that were read, that failed, and that were skipped.
fn check_read(
    allows_empty: bool,
    on_error: clean::OnError,
    [documents, failed, skipped]: [u64; 3],
) -> Result<(), Error> {
    check_not_empty(allows_empty, documents, (failed, skipped), &Default::default())?;
    on_error.check(failed, NOTHING_RETURNED)
}

/// What happens to the results of a call that fails.
pub const NOTHING_RETURNED: &str = "nothing is returned";

/// A search for passages, or for documents that are contained in others, resolved.
pub struct Search<R> {
    pub request: R,
    pub on_error: clean::OnError,
    /// Whether the field of ids was named.
    pub names_ids: bool,
    /// Whether there may be no documents, and no reference in its files.
    pub allows_empty: bool,
    pub allows_empty_reference: bool,
}

/// What is looked for.
pub trait Request {
    /// How documents are read.
    fn source(&self) -> &ReadOptions;
}

impl Request for PassageRequest {
    fn source(&self) -> &ReadOptions {
        &self.source
    }
}

impl Request for ContainRequest {
    fn source(&self) -> &ReadOptions {
        &self.source
    }
}

impl<R: Request> Search<R> {
    /// Whether the field of ids of the reference was named.
    pub fn names_reference_ids(&self) -> bool {
        self.names_ids || self.request.source().reference.id.is_some()
    }

    /// Checks what was read, as [`Scan::check`] does.
    ///
    /// # Errors
    /// As for [`Scan::check`].
    pub fn check(&self, counts: &PassageCounts) -> Result<(), Error> {
        check_read(self.allows_empty, self.on_error, [counts.documents, counts.failed, counts.skipped])
    }
}

impl Search<PassageRequest> {
    /// What `--stats` writes about it, without warnings.
    pub fn stats(&self, written: &PassageWritten, started: Instant) -> String {
        json(&passage_command::stats_of(&self.request, written, (&[], None), started))
    }
}

impl Search<ContainRequest> {
    /// The same.
    pub fn stats(&self, written: &ContainWritten, started: Instant) -> String {
        json(&contain_command::stats_of(&self.request, written, (&[], None), started))
    }
}

/// Resolves `dedup passages`, without what cuts documents. Documents are given as for [`scan`].
///
/// # Errors
/// As for [`scan`].
pub fn passages(
    given: &[(String, Given)],
    documents: Documents,
    against: Option<Documents>,
) -> Result<Search<PassageRequest>, Refused> {
    let withheld = Function::Passages.withheld(documents, against);
    let matches = parse_with(Function::Passages.command(), &withheld, given, reference(against));
    let matches = matches.map_err(or_elsewhere).map_err(|misuse| match misuse {
        Misuse::Value { name, value, .. } if name == "unit" => Misuse::Value { name, value, reason: only_whole() },
        misuse => misuse,
    })?;
    let mut arguments = passage_arguments::Arguments::new(&matches);
    refuse_cuts(&arguments, given)?;
    arguments.paths = vec![DOCUMENTS.into()];
    let names_ids = arguments.input.id_field.is_typed;
    let request = PassageRequest::resolve(&arguments)?;
    Ok(Search {
        on_error: request.whole.as_ref().map_or(clean::OnError::Keep, |whole| whole.options.on_error),
        names_ids,
        allows_empty: request.allow_empty || documents != Documents::Files,
        allows_empty_reference: request.allow_empty,
        request,
    })
}

/// Refuses what cuts documents, of which only whole ones are kept here; and whole documents without what decides on them.
fn refuse_cuts(arguments: &passage_arguments::Arguments, given: &[(String, Given)]) -> Result<(), Refused> {
    let passage_arguments::Arguments { unit, emit, on_error, against, .. } = arguments;
    let of_whole = matches!(emit, PassageEmit::Verdicts | PassageEmit::Kept);
    let refused = |why: &str| Err(Misuse::Other(why.into()).into());
    if let Some(Unit::Part(_)) = unit {
        return Err(misused(given, "unit", &only_whole()).into());
    }
    match (unit, of_whole) {
        (None, true) if *emit == PassageEmit::Kept => refused(
            "--emit kept leaves out whole documents that have a passage of a reference: add --against and --unit document. To cut \
                     out what repeats, take the spans that --emit spans returns, or use dedup passages --exact --emit kept",
        ),
        (Some(_), false) => refused(
            "--unit document decides which documents are kept: add --emit verdicts, or --emit kept for the documents themselves",
        ),
        (_, true) if against.is_empty() => refused(
            "--emit verdicts and --emit kept leave out documents that have a passage of a reference: add --against. Without a \
                     reference, `keep` leaves out near-duplicates, and `contain` documents that stand in others",
        ),
        (None, false) if on_error.is_typed => refused(
            "--on-error has an effect only on which documents are kept: add --emit verdicts, or --emit kept and --unit document",
        ),
        _ => Ok(()),
    }
}

/// What cuts documents.
const CUTS: &str = "To cut out what repeats, take the spans that `passages` returns with --emit spans, or use the command dedup \
     passages --exact --output DIR";

/// Why parts of documents are none of the units.
fn only_whole() -> String {
    format!("expected document. {CUTS}")
}

/// Resolves `dedup contain`. Documents are given as for [`scan`].
///
/// # Errors
/// As for [`scan`].
pub fn contain(
    given: &[(String, Given)],
    documents: Documents,
    against: Option<Documents>,
) -> Result<Search<ContainRequest>, Refused> {
    let withheld = Function::Contain.withheld(documents, against);
    let matches =
        parse_with(Function::Contain.command(), &withheld, given, reference(against)).map_err(or_elsewhere)?;
    let mut arguments = contain_arguments::Arguments::new(&matches);
    if arguments.of == ShareOf::Reference && !matches!(arguments.emit, ContainEmit::Kept | ContainEmit::Verdicts) {
        return Err(Misuse::Other(OF_REFERENCE.into()).into());
    }
    arguments.paths = vec![DOCUMENTS.into()];
    let names_ids = arguments.input.id_field.is_typed;
    let request = ContainRequest::resolve(&arguments)?;
    Ok(Search {
        on_error: request.on_error.into(),
        names_ids,
        allows_empty: request.allow_empty || documents != Documents::Files,
        allows_empty_reference: request.allow_empty,
        request,
    })
}

const OF_REFERENCE: &str = "--of reference has an effect only on which documents are kept: add --emit kept or --emit verdicts. To list how \
     much of each reference document stands in the documents, swap the sides: the reference as the documents, and these as --against";

/// Paths that stand for documents that are given otherwise.
const DOCUMENTS: &str = "the documents";
const REFERENCE: &str = "the reference";

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
    let withheld = Function::Method.withheld(Documents::Texts, None);
    let matches = parse(Function::Method.command(), &withheld, given).map_err(or_elsewhere)?;
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
    let command = Function::Compare.command().mut_args(|arg| arg.required(false));
    let with_sides = |command: Command| {
        command.mut_args(|arg| match arg.get_id().as_str() {
            "A" | "B" => arg.default_value("-"),
            _ => arg,
        })
    };
    let withheld = Function::Compare.withheld(Documents::Texts, None);
    let matches = parse(with_sides(command), &withheld, given).map_err(or_elsewhere)?;
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

/// What `dedup filter --stats` writes about documents that ran through an index, without warnings.
pub fn stats_of_index(counts: &filter::Counts, index: &Index, started: Instant) -> String {
    json(&filter_command::Stats::of(counts, index, started, Vec::new()))
}

/// The options of an index.
fn index_command() -> Command {
    let args = signing::args().into_iter().chain(signing::forgetting_args());
    let args = args.chain([
        signing::max_documents_arg(),
        signing::memory_arg(),
        signing::candidates_arg(),
        signing::expect_arg(),
    ]);
    Command::new("index").args(args)
}

/// Resolves the options of an index, which may be in a file. Those that are not given are those that it was made with, as far as its header
/// has them.
///
/// # Errors
/// As for [`scan`]. An index in the file cannot be read.
pub fn index(given: &[(String, Given)], path: Option<&Path>) -> Result<Indexing, Refused> {
    let stored = path.map(|path| stored_options(given, path)).unwrap_or_default();
    resolve_index(&[given, &stored].concat(), path)
}

/// The options of an existing index that are not given.
fn stored_options(given: &[(String, Given)], path: &Path) -> Vec<(String, Given)> {
    let is_given = |name: &str| given.iter().any(|(other, given)| other == name && *given != Given::Switch(false));
    let algorithm = given.iter().find_map(|(name, given)| match given {
        Given::Value(value) if name == "algo" => value.to_str(),
        _ => None,
    });
    let mut stored = indexed::options_not_given(path, is_given, algorithm, made_with::options_of);
    // A switch that is off is given, too.
    stored.retain(|(name, _)| given.iter().all(|(other, _)| other != name));
    stored
}

fn resolve_index(given: &[(String, Given)], path: Option<&Path>) -> Result<Indexing, Refused> {
    let withheld = Function::Index.withheld(Documents::Files, None);
    let matches = parse(Function::Index.command(), &withheld, given).map_err(or_elsewhere)?;
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
