//! `dedup compare`: compares two documents with every algorithm, and lists the passages that they share and the words in which
//! they differ.

use super::arguments::compare::Arguments;
use super::excerpt::excerpt;
use super::input;
use super::json::{Ordered, json};
use super::method::Method;
use super::spelling::{self, spell_all, spelled};
use super::stats::end_programs_on_signals;
use super::status::{Status, usage_error};
use super::terminal::{self, Terminal, count, counted};
use neardups::Error;
use neardups::algorithm::parameter::Settings;
use neardups::algorithm::{ALGORITHMS, Agreement, AlgorithmFactory, Entry, Row, TableFactory};
use neardups::compare::{
    self, Comparison, CountVectors, CountedTerms, Evidence, MeasuredSource, Verdict, compare_among,
};
use neardups::engine::Observer;
use neardups::passages::{CommonRuns, FREQUENT, Overlap, Run, common_runs};
use neardups::review::{Differences, Piece};
use neardups::similarity::Similarity;
use neardups::source::{self, Input, NoRecord, Place as RecordPlace, Problem, Record as SourceRecord};
use neardups::tokenizer::{CharNgram, TokenDetail, Tokenizer, Tokens};
use serde::Serialize;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Reads both documents, compares them, and prints the results.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let addresses = arguments.sides.each_ref().map(|typed| Address::of(typed));
    let named = if arguments.within.is_empty() {
        addresses.each_ref().map(|address| &*address.path).to_vec()
    } else {
        arguments.within.iter().map(|path| &**path).collect()
    };
    if named.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(usage_error("standard input (-) can be read only once"));
    }
    let options = input::source_options(&arguments.input, None)?;
    let terminal = Terminal::new(arguments.run.quiet, None);
    let read = |tokenizer: &dyn Tokenizer, seed| {
        end_programs_on_signals(&options)?;
        match arguments.within.is_empty() {
            true => Ok(([read(&addresses[0], &options)?, read(&addresses[1], &options)?], None)),
            false => read_ids(arguments, &options, tokenizer, seed),
        }
    };
    let are_records = addresses.iter().all(|address| address.record.is_some());
    let (text, warnings) = reported(arguments, read, &terminal, |report| {
        let chosen = chosen_shingle(&arguments.method.settings, &report.comparisons);
        if let Some(shingle) = chosen.filter(|_| are_records && arguments.within.is_empty()) {
            terminal.warning(&format!(
                "shingle {shingle} was chosen for these two documents: a scan chooses for all of its input, as --in FILE does"
            ));
        }
        match arguments.json {
            true => report.as_json() + "\n",
            false => terminal::escaped_lines(&report.as_text(arguments.all)),
        }
    })?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| Error::output("cannot write results", e))?;
    warnings.iter().for_each(|warning| terminal.warning(warning));
    Ok(Status::Done)
}

/// Compares two texts, each after its id: the JSON record, and warnings.
#[cfg(feature = "python")]
pub fn of_texts(arguments: &Arguments, texts: [(&str, &str); 2]) -> Result<(String, Vec<String>), Error> {
    let read = |_: &dyn Tokenizer, _| Ok((texts.map(|(id, text)| (SourceRecord::of_text(id, text), false)), None));
    reported(arguments, read, &Terminal::new(true, None), |report| report.as_json())
}

/// Compares the documents that `read` reads. Returns how the report is shown, and warnings.
fn reported(
    arguments: &Arguments,
    read: impl FnOnce(&dyn Tokenizer, u64) -> Result<([Read; 2], Option<Collection>), Error>,
    terminal: &Terminal,
    show: impl FnOnce(&Report<'_>) -> String,
) -> Result<(String, Vec<String>), Error> {
    let method = Method::resolve(&arguments.method)?;
    let factories = factories(&method, arguments)?;
    let shingles = shingle_factory(&method, &arguments.method.settings)?;
    let engine = input::engine_options(&arguments.run, &method.tokens);
    let cut_by = method.tokens.tokenizer.name().into_owned();
    let (tokenizer, seed) = (&*engine.tokenizer, engine.seed);
    let ([a, b], collection) = read(tokenizer, seed)?;
    let document = |(record, at)| Document::new(record, at, (&*method.tokens.tokenizer, engine.seed), terminal);
    let documents = [a, b].map(document);

    let texts = documents.each_ref().map(|document| &*document.text);
    let median_tokens = match &collection {
        Some(collection) => collection.median_tokens,
        None => compare::median_tokens(texts, tokenizer, seed),
    };
    let judged = |factory: &TableFactory| compare_among(median_tokens, texts, factory, tokenizer, seed);
    let judge = |(entry, choice): (&'static Entry, Choice)| {
        let mut comparison = match choice {
            Choice::Factory(factory) => judged(&factory)?,
            Choice::Refused(comparison) => *comparison,
        };
        spell_all(&mut comparison.warnings);
        if let Verdict::Refused(why) = &mut comparison.verdict {
            spell_all([why]);
        }
        Ok::<_, Error>((entry, comparison))
    };
    let comparisons = factories.into_iter().map(judge).collect::<Result<Vec<_>, _>>()?;
    let [a, b] = documents.each_ref().map(|document| document.tokens.hashes());
    let min_run = arguments.min_run;
    let runs = common_runs(a, b, min_run);
    let report = Report {
        tokenizer: &cut_by,
        overlaps: overlaps(&judged(&shingles)?, Overlap::of_shingles(a, b, 3)),
        counts: CountVectors::of(a, b),
        passages: runs.passages(),
        differences: Differences::between(texts[0], texts[1]),
        documents,
        collection,
        median_tokens,
        comparisons,
        min_run,
        runs,
    };
    Ok((show(&report), warnings(&report.comparisons)))
}

/// The warnings of all algorithms, each once, with the names of those that have it.
fn warnings(comparisons: &[(&'static Entry, Comparison)]) -> Vec<String> {
    let mut warnings: Vec<(&str, Vec<&str>)> = Vec::new();
    for (entry, comparison) in comparisons {
        for warning in &comparison.warnings {
            match warnings.iter_mut().find(|(other, _)| other == warning) {
                Some((_, names)) => names.push(entry.name),
                None => warnings.push((warning, vec![entry.name])),
            }
        }
    }
    warnings.into_iter().map(|(warning, names)| format!("{}: {warning}", names.join(", "))).collect()
}

/// How an algorithm is run.
enum Choice {
    Factory(TableFactory),
    /// Not at all: it refuses this preparation of tokens.
    Refused(Box<Comparison>),
}

/// The factories of the chosen algorithms.
fn factories(method: &Method, arguments: &Arguments) -> Result<Vec<(&'static Entry, Choice)>, Error> {
    if !arguments.method.is_all() || method.preset.is_some() {
        let (entry, factory) = method.factory()?;
        return Ok(vec![(entry, Choice::Factory(factory))]);
    }
    let settings = &arguments.method.settings;
    let (mut choices, mut used, mut refusals) = (Vec::new(), 0, Vec::new());
    for entry in ALGORITHMS {
        let own = Settings::from_pairs(settings.given().filter(|(name, _)| entry.uses(name)));
        let uses_any = own.given().next().is_some();
        used += usize::from(uses_any);
        let factory = entry.goes_with(&method.tokens.steps).and_then(|()| method.factory_of(entry, own));
        match factory {
            Ok(factory) => choices.push((entry, Choice::Factory(factory))),
            // A refusal is only the result of this algorithm: others may accept the settings.
            Err(Error::Usage(why)) => {
                let why = spelled(&why).into_owned();
                let algorithm = entry.factory(Settings::default())?.prepare(0)?.algorithm;
                let comparison = Comparison {
                    algorithm: algorithm.name(),
                    measure: algorithm.measure(),
                    tokenizer: None,
                    parameters: algorithm.parameters(),
                    warnings: Vec::new(),
                    evidence: None,
                    verdict: Verdict::Refused(why.clone()),
                };
                refusals.extend(uses_any.then_some(why));
                choices.push((entry, Choice::Refused(Box::new(comparison))));
            }
            Err(error) => return Err(error),
        }
    }
    match refusals.first() {
        Some(why) if refusals.len() == used => Err(usage_error(why.clone())),
        _ => Ok(choices),
    }
}

/// The parameter for the length of shingles.
const SHINGLE: &str = "shingle";

/// A factory for shingles of the typed length, or of the length chosen for the documents.
fn shingle_factory(method: &Method, settings: &Settings) -> Result<TableFactory, Error> {
    let entry = ALGORITHMS.iter().find(|entry| entry.uses(SHINGLE)).unwrap_or(&ALGORITHMS[0]);
    let own = Settings::from_pairs(settings.given().filter(|(name, _)| *name == SHINGLE));
    method.factory_of(entry, own)
}

/// The length of shingles, if it was chosen for the documents and an algorithm uses it.
fn chosen_shingle(typed: &Settings, comparisons: &[(&'static Entry, Comparison)]) -> Option<String> {
    let of_words = comparisons.iter().filter(|(_, comparison)| comparison.tokenizer.is_none());
    let mut rows = of_words.flat_map(|(_, comparison)| &comparison.parameters);
    let is_typed = typed.given().any(|(name, _)| name == SHINGLE);
    rows.find(|row| row.name == SHINGLE && !is_typed).map(|row| row.value.to_string())
}

/// What a side names: a file, or one of its records.
struct Address {
    path: PathBuf,
    record: Option<u64>,
}

impl Address {
    /// The file of this name, if there is one. Otherwise a number after the last colon is that of a record.
    fn of(typed: &Path) -> Self {
        let whole = || Address { path: typed.to_path_buf(), record: None };
        if typed.symlink_metadata().is_ok() {
            return whole();
        }
        let split = typed.to_str().and_then(|typed| typed.rsplit_once(':'));
        let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
        match split.and_then(|(path, digits)| Some((path, number(digits)?))) {
            Some((path, record)) if !path.is_empty() => Address { path: path.into(), record: Some(record) },
            _ => whole(),
        }
    }

    /// For messages.
    fn file(&self) -> String {
        terminal::escaped(&self.path.to_string_lossy())
    }

    /// The error for a record that cannot be read.
    fn refusal(&self, why: NoRecord) -> Error {
        let file = self.file();
        let number = self.record.map(|number| format!(":{number}")).unwrap_or_default();
        let cannot =
            |problem: String| Error::input(format!("cannot compare {file}{number}"), io::Error::other(problem));
        match why {
            NoRecord::Several => usage_error(format!(
                "{file} has more than one document: name one, as in {file}:1 for the first line, or use --format text"
            )),
            NoRecord::Whole => usage_error(format!(
                "{file} is one document, without record {}: choose --format lines, jsonl, csv, …, or name the file alone",
                self.record.unwrap_or_default()
            )),
            NoRecord::Unreadable(problem) => {
                let line = match self.record {
                    None => problem.place.line.map(|line| format!(":{line}")).unwrap_or_default(),
                    Some(_) => number,
                };
                let message = terminal::escaped(&spelling::of_problem(&problem));
                Error::input(format!("cannot compare {file}{line}"), io::Error::other(message))
            }
            NoRecord::Absent { numbers: Some((first, last)), records } => cannot(format!(
                "there is no such record: the file has {}, {first} to {last}",
                counted(records, "record")
            )),
            NoRecord::Absent { .. } => cannot("it has no document".into()),
            _ => cannot("the record holds no document".into()),
        }
    }
}

/// A document.
struct Document {
    id: String,
    /// The location, if it is a record that was named by its number.
    at: Option<RecordPlace>,
    text: String,
    tokens: Tokens,
    /// Byte offsets of line ends.
    line_ends: Vec<usize>,
}

/// A record, and whether its place is shown.
type Read = (SourceRecord, bool);

/// The documents of `--in`: their number, and their median length.
struct Collection {
    documents: usize,
    median_tokens: usize,
}

/// Reads one document.
fn read(address: &Address, options: &source::ReadOptions) -> Result<Read, Error> {
    if address.path.is_dir() {
        return Err(usage_error(format!("{} is a folder: name two files, or two ids with --in", address.file())));
    }
    let mut input = Input::new(vec![address.path.clone()], options.clone());
    let record = SourceRecord::read(&mut input, address.record).map_err(|why| address.refusal(why))?;
    Ok((record, address.record.is_some()))
}

/// Reads the documents with the typed ids, and measures all.
fn read_ids(
    arguments: &Arguments,
    options: &source::ReadOptions,
    tokenizer: &dyn Tokenizer,
    seed: u64,
) -> Result<([Read; 2], Option<Collection>), Error> {
    let ids = arguments.sides.each_ref().map(|id| id.to_string_lossy());
    let mut input = Input::new(arguments.within.clone(), options.clone());
    let mut measured = MeasuredSource::new(&mut input, tokenizer, seed);
    let [a, b] = SourceRecord::with_ids(&mut measured, ids.each_ref().map(|id| &**id));
    let collection = Collection { documents: measured.documents(), median_tokens: measured.median_tokens() };
    let record = |record: Result<_, _>, id: &str| match record {
        Ok(record) => Ok((record, true)),
        Err(why) => Err(no_record_of_id(id, why, &arguments.within)),
    };
    Ok(([record(a, &ids[0])?, record(b, &ids[1])?], Some(collection)))
}

/// The error for an id of `--in` that is not that of one record.
fn no_record_of_id(typed: &str, why: NoRecord, within: &[PathBuf]) -> Error {
    let id = terminal::escaped(typed);
    let cannot = |problem: String| Error::input(format!("cannot compare '{id}'"), io::Error::other(problem));
    match why {
        NoRecord::Repeated(places) => {
            // Standard input is read once, and so without --in only one of the two can be there.
            let is_stdin = places.iter().any(|place| &*place.path == "-");
            let [first, second] = places.map(|place| terminal::escaped(&place.to_string()));
            let advice = match is_stdin {
                true => format!(
                    "with --id-field {} the ids of all are their places, as in -- {first} {second}",
                    input::NO_FIELD
                ),
                false => "name them by their places, without --in".to_string(),
            };
            usage_error(format!("'{id}' is the id of several records, among them {first} and {second}: {advice}"))
        }
        NoRecord::Unreadable(problem) => {
            let place = terminal::escaped(&problem.place.to_string());
            cannot(format!("{place}: {}", terminal::escaped(&spelling::of_problem(&problem))))
        }
        NoRecord::Absent { records, .. } => {
            let paths: Vec<_> = within.iter().map(|path| terminal::escaped(&path.to_string_lossy())).collect();
            let documents = counted(records, "document");
            let advice = match is_place(typed, within) {
                true => format!("--id-field {} makes places the ids of all", input::NO_FIELD),
                false => "--id-field names the field".into(),
            };
            cannot(format!("none of {documents} in {} has this id ({advice})", paths.join(", ")))
        }
        _ => cannot("the record holds no document".into()),
    }
}

/// Whether an id is the place of a record in one of these files or folders.
fn is_place(id: &str, within: &[PathBuf]) -> bool {
    let address = Address::of(Path::new(id));
    let plain = |path: &Path| path.strip_prefix(".").unwrap_or(path).to_path_buf();
    address.record.is_some() && within.iter().any(|path| plain(&address.path).starts_with(plain(path)))
}

impl Document {
    fn new(
        record: SourceRecord,
        is_placed: bool,
        (tokenizer, seed): (&dyn Tokenizer, u64),
        terminal: &Terminal,
    ) -> Self {
        record.changes.iter().for_each(|problem: &Problem| terminal.problem(problem));
        let SourceRecord { id, text, place, .. } = record;
        let mut tokens = Tokens::new(TokenDetail::Everything, seed);
        tokenizer.cut(&text, &mut tokens);
        let line_ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Document { id, at: is_placed.then_some(place), text, tokens, line_ends }
    }

    /// The id, with the location unless the id says as much.
    fn name(&self) -> String {
        let id = terminal::escaped(&self.id);
        match &self.at {
            Some(at) if !at.names(&self.id) => format!("{id} ({})", terminal::escaped(&at.to_string())),
            _ => id,
        }
    }

    fn distinct_tokens(&self) -> usize {
        let mut hashes = self.tokens.hashes().to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.len()
    }

    /// The place of some of its tokens, at least one.
    fn place(&self, first: usize, tokens: usize) -> Place {
        let (start, end) = (self.tokens.span(first).start, self.tokens.span(first + tokens - 1).end);
        let line = |byte: usize| self.line_ends.partition_point(|&end| end < byte) + 1;
        Place { lines: [line(start), line(end.saturating_sub(1).max(start))], bytes: [start, end] }
    }
}

/// A range of lines, from 1 and inclusive, and of bytes of the text as UTF-8, from 0 and exclusive.
#[derive(Serialize)]
struct Place {
    lines: [usize; 2],
    bytes: [usize; 2],
}

/// The overlaps, with their names, of the shingles chosen for the documents and of shingles of three tokens.
fn overlaps(suited: &Comparison, of_three: Overlap) -> Vec<(String, Overlap)> {
    let width = suited.parameters.iter().find(|row| row.name == SHINGLE).map(|row| row.value.to_string());
    let name = match (&suited.tokenizer, width) {
        (Some(tokenizer), _) => tokenizer.clone(),
        (None, width) => width.unwrap_or_default(),
    };
    let suited = suited.evidence.as_ref().map(|evidence| (name, evidence.distinct));
    let mut overlaps: Vec<_> = suited.into_iter().collect();
    if overlaps.iter().all(|(name, _)| name != "3") {
        overlaps.push(("3".into(), of_three));
    }
    overlaps
}

/// The results.
struct Report<'a> {
    tokenizer: &'a str,
    documents: [Document; 2],
    collection: Option<Collection>,
    median_tokens: usize,
    comparisons: Vec<(&'static Entry, Comparison)>,
    overlaps: Vec<(String, Overlap)>,
    counts: CountVectors,
    min_run: usize,
    runs: CommonRuns,
    passages: Vec<Run>,
    differences: Differences,
}

/// The verdict in one word.
fn outcome(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Reported { copies: false } => "reported",
        Verdict::Reported { copies: true } => "copies",
        Verdict::BelowThreshold => "below_threshold",
        Verdict::NoKeyInCommon => "no_key_in_common",
        Verdict::TooFewFeatures(_) => "too_few_features",
        Verdict::Refused(_) => "refused",
        Verdict::NeedsCollection => "needs_collection",
    }
}

/// The names of parameters that decide whether a pair is reported.
const LIMITS: [&str; 5] = ["threshold", "cosine", "distance", "agree", "min_supershingles"];

/// The verdict in a sentence.
fn sentence(entry: &Entry, comparison: &Comparison) -> String {
    let evidence = comparison.evidence.as_ref();
    let similarity = evidence.and_then(|evidence| evidence.similarity);
    let mut similar = similarity.map_or_else(String::new, |s| format!("{} {}", comparison.measure, decimal(s)));
    similar.extend(evidence.and_then(|evidence| bits(comparison, evidence)).map(|bits| format!(", {bits}")));
    let limit = decisive(comparison);
    match &comparison.verdict {
        Verdict::Reported { copies: true } => "reported: exact copies, all tokens are equal".into(),
        Verdict::Reported { copies: false } => format!("reported: {similar}{limit}"),
        Verdict::BelowThreshold => format!("not reported: {similar}{limit}"),
        Verdict::NoKeyInCommon => format!("missed: {similar}{limit}, but no key in common"),
        Verdict::TooFewFeatures(which) => format!(
            "not compared: {} too few features",
            match which {
                [true, true] => "both have",
                [true, false] => "a has",
                _ => "b has",
            }
        ),
        Verdict::Refused(why) => format!("not run: {why}"),
        // A lexicon counts terms, not features.
        Verdict::NeedsCollection if comparison.parameters.iter().any(|row| row.name == "drop_common") => {
            "not compared: --drop-common drops features of many documents, and two are too few".into()
        }
        Verdict::NeedsCollection => format!(
            "not compared: it needs the frequencies of terms in a collection: use --algo {} --lexicon FILE",
            entry.name
        ),
    }
}

/// The parameters that decide, in parentheses: the least similarity, and the length of shingles.
fn decisive(comparison: &Comparison) -> String {
    let named = |row: &Row| format!("{} {}", row.name.replace('_', " "), row.value);
    let limit = comparison.parameters.iter().find(|row| LIMITS.contains(&row.name)).map(named);
    let shingle = match &comparison.tokenizer {
        Some(tokenizer) => Some(format!("{tokenizer} tokens")),
        None => comparison.parameters.iter().find(|row| row.name == SHINGLE).map(named),
    };
    let parts: Vec<String> = limit.into_iter().chain(shingle).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// How many bits agree where `agree` is the limit, and otherwise how many differ.
fn bits(comparison: &Comparison, evidence: &Evidence) -> Option<String> {
    let distance = evidence.distance?;
    let of = evidence.agreement.iter().find(|agreement| agreement.what == "bits")?.of;
    let is_agreement = comparison.parameters.iter().any(|row| row.name == "agree");
    Some(match is_agreement {
        true => format!("{} of {of} bits agree", of - distance as usize),
        false => format!("{distance} of {of} bits differ"),
    })
}

/// Whether the exact join would report a pair, for algorithms with sketches and an exact join.
fn reported_by_exact(entry: &Entry, comparison: &Comparison) -> Option<bool> {
    let sketched = entry.uses("exact") && comparison.algorithm == entry.name && comparison.measure == "jaccard";
    sketched.then(|| comparison.verdict.is_reported() || comparison.verdict == Verdict::NoKeyInCommon)
}

fn decimal(similarity: Similarity) -> String {
    format!("{:.4}", similarity.value())
}

/// Maximum length in words of a fingerprint in text, and in JSON.
const MAX_TEXT_FINGERPRINT: usize = 2;
const MAX_JSON_FINGERPRINT: usize = 32;

impl Report<'_> {
    /// The verdicts, the documents and the passages; with `all`, the evidence of the algorithms and the shingles too.
    fn as_text(&self, all: bool) -> String {
        let mut out = String::new();
        let width = self.comparisons.iter().map(|(entry, _)| entry.name.len()).max().unwrap_or_default();
        for (entry, comparison) in &self.comparisons {
            out += &format!("{:<width$}  {}\n", entry.name, sentence(entry, comparison));
        }
        out.push('\n');
        for (name, document) in ["a", "b"].iter().zip(&self.documents) {
            let sizes = [
                counted(document.text.len() as u64, "byte"),
                counted(document.tokens.len() as u64, "token"),
                format!("{} distinct", count(document.distinct_tokens() as u64)),
            ];
            out += &format!("{name}  {}\n   {}\n", document.name(), sizes.join(", "));
        }
        if let Some(Collection { documents, median_tokens }) = &self.collection {
            let documents = counted(*documents as u64, "document");
            out += &format!("median of {documents}: {}\n", counted(*median_tokens as u64, "token"));
        }
        self.passages_as_text(&mut out);
        self.partial_as_text(&mut out);
        self.differences_as_text(&mut out);
        if all {
            self.evidence_as_text(&mut out, width);
        }
        out
    }

    fn evidence_as_text(&self, out: &mut String, width: usize) {
        out.push('\n');
        for (entry, comparison) in &self.comparisons {
            let facts = comparison.evidence.iter().flat_map(|evidence| facts(entry, comparison, evidence));
            for (number, fact) in facts.enumerate() {
                let name = if number == 0 { entry.name } else { "" };
                *out += &format!("{name:width$}  {fact}\n");
            }
        }
        out.push('\n');
        for (name, overlap) in &self.overlaps {
            let share = |share: Option<Similarity>| share.map_or_else(|| "-".to_string(), decimal);
            let [in_b, in_a] = overlap.containment();
            *out += &format!(
                "{:<16}{} and {} distinct, {} shared: jaccard {}, {} of a in b, {} of b in a\n",
                shingle_label(name),
                count(overlap.a as u64),
                count(overlap.b as u64),
                count(overlap.shared as u64),
                share(overlap.jaccard()),
                share(in_b),
                share(in_a),
            );
        }
        let CountVectors { cosine, euclidean } = self.counts;
        let cosine = cosine.map_or_else(|| "-".to_string(), |cosine| format!("{cosine:.4}"));
        *out += &format!("{:<16}cosine {cosine}, euclidean distance {euclidean:.4}\n", "token counts");
    }

    fn passages_as_text(&self, out: &mut String) {
        let [a, b] = &self.documents;
        let [covered_a, covered_b] = self.runs.covered();
        *out += &format!(
            "\n{} of at least {}: {} of {} tokens of a, {} of {} of b\n",
            counted(self.passages.len() as u64, "shared passage"),
            counted(self.min_run as u64, "token"),
            count(covered_a as u64),
            count(a.tokens.len() as u64),
            count(covered_b as u64),
            count(b.tokens.len() as u64),
        );
        if self.runs.frequent > 0 {
            *out += &format!(
                "(some text is repeated more than {FREQUENT} times, and not all of its places were compared)\n"
            );
        }
        for run in &self.passages {
            let places = [a.place(run.a, run.tokens), b.place(run.b, run.tokens)];
            let shown = |Place { lines: [first, last], bytes: [start, end] }: &Place| {
                let lines = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
                format!("{lines} (bytes {start}-{end})")
            };
            let [start, end] = places[0].bytes;
            *out += &format!(
                "  {}: {} of a, {} of b\n    {}\n",
                counted(run.tokens as u64, "token"),
                shown(&places[0]),
                shown(&places[1]),
                excerpt(&a.text[start..end])
            );
        }
    }

    /// What finds documents of which one has much of the other, if no algorithm reports them.
    fn partial_as_text(&self, out: &mut String) {
        let covered = self.runs.covered();
        let is_mostly = |side: usize| 2 * covered[side] > self.documents[side].tokens.len();
        let most = match [0, 1].map(is_mostly) {
            [true, true] => "most of each stands in the other",
            [true, false] => "most of a stands in b",
            [false, true] => "most of b stands in a",
            [false, false] => return,
        };
        if !self.comparisons.iter().any(|(_, comparison)| comparison.verdict.is_reported()) {
            *out += &format!("{most}: dedup contain and dedup passages can find such documents\n");
        }
    }

    /// The differences, marked as in `git diff --word-diff`.
    fn differences_as_text(&self, out: &mut String) {
        let Differences { a, b, shown, more, is_cut, .. } = &self.differences;
        let places = match shown + more {
            0 => "no words differ".into(),
            all => format!("words differ in {}", counted(all as u64, "place")),
        };
        let first = if *more == 0 { String::new() } else { format!("; the first {} are shown", count(*shown as u64)) };
        let of = if *is_cut { " (only the beginnings of the texts were compared)" } else { "" };
        *out += &format!("\n{places}{first}{of}\n");
        if *shown == 0 {
            return;
        }
        for (name, pieces, [before, after]) in [("a", a, ["[-", "-]"]), ("b", b, ["{+", "+}"])] {
            let piece = |piece: &Piece| match piece {
                Piece::Shared(text) => text.clone(),
                Piece::Own(text) => format!("{before}{text}{after}"),
                Piece::Omitted(_) => " … ".into(),
            };
            let line: String = pieces.iter().map(piece).collect();
            *out += &format!("  {name}  {}\n", line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    fn as_json(&self) -> String {
        let [a, b] = &self.documents;
        let document = |document: &Document| {
            let size = (document.text.len(), document.tokens.len(), document.distinct_tokens());
            let at = document.at.as_ref().map(RecordPlace::to_string);
            DocumentRecord { id: document.id.clone(), at, bytes: size.0, tokens: size.1, distinct_tokens: size.2 }
        };
        let share = |share: Option<Similarity>| share.map(Similarity::value);
        let [covered_a, covered_b] = self.runs.covered();
        let record = Record {
            r#type: "comparison",
            a: document(a),
            b: document(b),
            tokenizer: self.tokenizer,
            algorithms: self.comparisons.iter().map(|(entry, comparison)| algorithm(entry, comparison)).collect(),
            shingles: self
                .overlaps
                .iter()
                .map(|(name, overlap)| ShinglesRecord {
                    shingle: name,
                    a: overlap.a,
                    b: overlap.b,
                    shared: overlap.shared,
                    jaccard: share(overlap.jaccard()),
                    a_in_b: share(overlap.containment()[0]),
                    b_in_a: share(overlap.containment()[1]),
                })
                .collect(),
            token_counts: CountsRecord { cosine: self.counts.cosine, euclidean: self.counts.euclidean },
            min_run: self.min_run,
            covered: [covered_a, covered_b],
            complete: self.runs.frequent == 0,
            passages: self
                .passages
                .iter()
                .map(|run| {
                    let place = a.place(run.a, run.tokens);
                    let text = &a.text[place.bytes[0]..place.bytes[1]];
                    PassageRecord { tokens: run.tokens, a: place, b: b.place(run.b, run.tokens), text }
                })
                .collect(),
            differences: DifferencesRecord::new(&self.differences),
            median_tokens: self.median_tokens,
        };
        json(&record)
    }
}

fn shingle_label(name: &str) -> String {
    if name.contains(':') { name.to_string() } else { format!("{name}-shingles") }
}

/// The evidence of an algorithm, as lines.
fn facts(entry: &Entry, comparison: &Comparison, evidence: &Evidence) -> Vec<String> {
    let mut facts = Vec::new();
    let Evidence { features: [a, b], distinct, .. } = evidence;
    let mut line = vec![format!(
        "features: {} and {}, {} of them shared",
        counted_distinct(*a, distinct.a),
        counted_distinct(*b, distinct.b),
        count(distinct.shared as u64)
    )];
    let equal = |agreement: &Agreement| format!("{} of {} {}", agreement.equal, agreement.of, agreement.what);
    if !evidence.agreement.is_empty() {
        line.push(format!("equal: {}", evidence.agreement.iter().map(equal).collect::<Vec<_>>().join(", ")));
    }
    if let Some(tokenizer) = &comparison.tokenizer {
        let is_auto = [CharNgram::SHORT, CharNgram::LONG].iter().any(|n| tokenizer.starts_with(&format!("char:{n}")));
        let why = if is_auto { "by the length of the documents" } else { "because the documents are short" };
        line.insert(0, format!("{tokenizer} tokens, {why}"));
    }
    facts.push(line.join("; "));
    facts.extend(evidence.terms.iter().flat_map(term_facts));
    if let Some(found) = evidence.found_with {
        let exact = match reported_by_exact(entry, comparison) {
            Some(true) => "; --exact finds this pair",
            Some(false) => "; --exact does not report it either",
            None => "",
        };
        facts.push(format!("a pair this similar shares a band with probability {found:.4}{exact}"));
    }
    // For comparisons of bits, the fingerprint is the evidence.
    let [a, b] = &evidence.fingerprints;
    if evidence.distance.is_some() && a.len().max(b.len()) <= MAX_TEXT_FINGERPRINT {
        facts.push(format!("fingerprints: {} and {}", evidence.form.write(a), evidence.form.write(b)));
    }
    facts
}

/// The terms that count, as lines.
fn term_facts([a, b]: &[CountedTerms; 2]) -> Vec<String> {
    let of = |name: &str, terms: &CountedTerms| {
        format!(
            "{} of the {} of {name}",
            count(terms.counting.len() as u64),
            counted(terms.distinct as u64, "distinct term")
        )
    };
    let mut facts = vec![format!("terms that count: {}, {}", of("a", a), of("b", b))];
    let only = |these: &CountedTerms, those: &CountedTerms, wanted: bool| {
        let terms = these.counting.iter().filter(|term| those.counting.binary_search(term).is_ok() == wanted);
        terms.cloned().collect::<Vec<_>>()
    };
    let lists = [("in both", only(a, b, true)), ("only in a", only(a, b, false)), ("only in b", only(b, a, false))];
    facts.extend(lists.iter().filter(|(_, terms)| !terms.is_empty()).map(|(what, terms)| listed(what, terms)));
    let notes = [("a", a.note), ("b", b.note)];
    facts.extend(notes.iter().filter_map(|(name, note)| Some(format!("{name}: {}", spelled(note.as_ref()?)))));
    facts
}

/// The maximum number of terms in a line of text; JSON has all.
const MAX_TEXT_TERMS: usize = 20;

fn listed(what: &str, terms: &[String]) -> String {
    let shown: Vec<_> = terms.iter().take(MAX_TEXT_TERMS).map(|term| terminal::escaped(term)).collect();
    let more = terms.len().saturating_sub(MAX_TEXT_TERMS) as u64;
    let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
    format!("{what}: {}{more}", shown.join(" "))
}

fn counted_distinct(all: usize, distinct: usize) -> String {
    if all == distinct {
        count(all as u64)
    } else {
        format!("{} ({} distinct)", count(all as u64), count(distinct as u64))
    }
}

/// The one object of `--json`, its fields in this order.
#[derive(Serialize)]
struct Record<'a> {
    r#type: &'static str,
    a: DocumentRecord,
    b: DocumentRecord,
    tokenizer: &'a str,
    algorithms: Vec<AlgorithmRecord<'a>>,
    shingles: Vec<ShinglesRecord<'a>>,
    token_counts: CountsRecord,
    min_run: usize,
    covered: [usize; 2],
    complete: bool,
    passages: Vec<PassageRecord<'a>>,
    differences: DifferencesRecord<'a>,
    median_tokens: usize,
}

/// The words in which the texts differ.
#[derive(Serialize)]
struct DifferencesRecord<'a> {
    shown: usize,
    more: usize,
    complete: bool,
    a: Vec<PieceRecord<'a>>,
    b: Vec<PieceRecord<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum PieceRecord<'a> {
    Shared(&'a str),
    Own(&'a str),
    Omitted(usize),
}

impl<'a> DifferencesRecord<'a> {
    fn new(differences: &'a Differences) -> Self {
        let Differences { a, b, shown, more, is_cut, .. } = differences;
        let piece = |piece: &'a Piece| match piece {
            Piece::Shared(text) => PieceRecord::Shared(text),
            Piece::Own(text) => PieceRecord::Own(text),
            Piece::Omitted(words) => PieceRecord::Omitted(*words),
        };
        let [a, b] = [a, b].map(|pieces| pieces.iter().map(piece).collect());
        DifferencesRecord { shown: *shown, more: *more, complete: !is_cut, a, b }
    }
}

#[derive(Serialize)]
struct DocumentRecord {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    bytes: usize,
    tokens: usize,
    distinct_tokens: usize,
}

#[derive(Serialize)]
struct AlgorithmRecord<'a> {
    algo: &'a str,
    measure: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer: Option<&'a str>,
    parameters: Ordered<'a>,
    reported: bool,
    outcome: &'static str,
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_by_exact: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<FeaturesRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<[TermsRecord<'a>; 2]>,
    agreement: &'a [Agreement],
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprints: Option<[String; 2]>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct FeaturesRecord {
    a: usize,
    b: usize,
    distinct_a: usize,
    distinct_b: usize,
    shared: usize,
}

#[derive(Serialize)]
struct TermsRecord<'a> {
    distinct: usize,
    counting: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn algorithm<'a>(entry: &Entry, comparison: &'a Comparison) -> AlgorithmRecord<'a> {
    let evidence = comparison.evidence.as_ref();
    let features = evidence.map(|Evidence { features: [a, b], distinct, .. }| FeaturesRecord {
        a: *a,
        b: *b,
        distinct_a: distinct.a,
        distinct_b: distinct.b,
        shared: distinct.shared,
    });
    let terms = evidence.and_then(|evidence| evidence.terms.as_ref()).map(|terms| {
        terms.each_ref().map(|CountedTerms { counting, distinct, note, .. }| TermsRecord {
            distinct: *distinct,
            counting,
            note: note.map(|note| spelled(note).into_owned()),
        })
    });
    let fingerprints = evidence.filter(|evidence| {
        let [a, b] = &evidence.fingerprints;
        a.len().max(b.len()) <= MAX_JSON_FINGERPRINT
    });
    AlgorithmRecord {
        algo: comparison.algorithm,
        measure: comparison.measure,
        tokenizer: comparison.tokenizer.as_deref(),
        parameters: Ordered(comparison.parameters.iter().map(|row| (row.name, &row.value)).collect()),
        reported: comparison.verdict.is_reported(),
        outcome: outcome(&comparison.verdict),
        why: sentence(entry, comparison),
        similarity: evidence.and_then(|evidence| evidence.similarity).map(Similarity::value),
        distance: evidence.and_then(|evidence| evidence.distance),
        probability: evidence.and_then(|evidence| evidence.found_with),
        reported_by_exact: evidence.and_then(|_| reported_by_exact(entry, comparison)),
        features,
        terms,
        agreement: evidence.map_or(&[], |evidence| &evidence.agreement),
        fingerprints: fingerprints.map(|Evidence { fingerprints, form, .. }| {
            fingerprints.each_ref().map(|fingerprint| form.write(fingerprint))
        }),
        warnings: &comparison.warnings,
    }
}

#[derive(Serialize)]
struct ShinglesRecord<'a> {
    shingle: &'a str,
    a: usize,
    b: usize,
    shared: usize,
    jaccard: Option<f64>,
    a_in_b: Option<f64>,
    b_in_a: Option<f64>,
}

#[derive(Serialize)]
struct CountsRecord {
    cosine: Option<f64>,
    euclidean: f64,
}

#[derive(Serialize)]
struct PassageRecord<'a> {
    tokens: usize,
    a: Place,
    b: Place,
    text: &'a str,
}
