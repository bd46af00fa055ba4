//! `dedup passages`: finds the passages that repeat in a corpus.

use super::arguments::passages::{Arguments, Emit};
use super::cut::{CutRequest, cut_in_words, summarise_folder};
use super::input::{self, LackingStats};
use super::markup;
use super::outputs::Outputs;
use super::preparation::Tokenization;
use super::scan::check_reference;
use super::spelling::spelled;
use super::standard_output::{WholeLines, refuse_closed_output};
use super::stats::{Failure, INCOMPLETE, end_on_signals, end_on_signals_in, with_stats, write_stats};
use super::status::{Status, usage_error};
use super::terminal::{Terminal, bytes, count, counted};
use super::whole::{Decided, WholeRequest, remark_on_short};
use neardups::Error;
use neardups::clean::{self, Cleaned, CutReport};
use neardups::hash;
use neardups::passages::{self, CutCounts, DocumentPairs, Passage, PassageCounts, PassageOptions, ShortDocuments};
use neardups::report::PassageLines;
use neardups::similarity::Threshold;
use neardups::source::{self, Input, ReadOptions, Source};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// The resolved request.
pub struct Request {
    paths: Vec<PathBuf>,
    against: Vec<PathBuf>,
    pub source: ReadOptions,
    /// Whether `--id-field` was typed, so that every record should have an id.
    names_ids: bool,
    tokens: Tokenization,
    pub options: PassageOptions,
    pub emit: Emit,
    cut: Option<CutRequest>,
    pub whole: Option<WholeRequest>,
    rejects: Option<PathBuf>,
    max_bad: u64,
    pub allow_empty: bool,
    quiet: bool,
}

impl Request {
    /// Resolves it.
    ///
    /// # Errors
    /// Options contradict each other.
    pub fn resolve(arguments: &Arguments) -> Result<Self, Error> {
        let Arguments { input, run, .. } = arguments;
        let source = input::source_options(input, run.temp_dir.as_deref())?;
        let whole = WholeRequest::resolve(arguments, &source)?;
        let cuts = arguments.output.is_some() || arguments.emit == Emit::Kept;
        if cuts && whole.is_none() && !arguments.exact {
            let why = "only runs of the same words can be cut, of which each word stays at another place: add --exact";
            let or = ", or --unit document, which leaves out whole documents";
            return Err(usage_error(format!("{why}{}", if arguments.against.is_empty() { "" } else { or })));
        }
        if arguments.exact && arguments.similarity.is_typed {
            return Err(usage_error("--similarity has no effect with --exact, which finds runs of the same words"));
        }
        if arguments.min_coverage.is_some() && whole.is_none() {
            let why = "--min-coverage has an effect only on whole documents: add --against REF, and --unit document or --emit verdicts";
            return Err(usage_error(why));
        }
        if arguments.no_overlaps && (arguments.emit != Emit::Passages || cuts || whole.is_some()) {
            return Err(usage_error("--no-overlaps has an effect only on --emit passages: leave it out"));
        }
        let tokens = Tokenization::resolve(&arguments.tokens, None)?;
        tokens.refuse_by_length("passages")?;
        let defaults = PassageOptions::default();
        let options = PassageOptions {
            tokenizer: tokens.measure(),
            seed: run.seed.map_or(defaults.seed, |seed| seed.value),
            similarity: (!arguments.exact).then_some(arguments.similarity.value),
            min_words: arguments.min_words as usize,
            min_documents: arguments.min_documents as usize,
            min_coverage: arguments.min_coverage,
            max_places: arguments.max_places.value as usize,
            without_overlaps: arguments.no_overlaps,
            threads: run.threads,
            memory: run.memory.map_or(defaults.memory, |memory| memory.value),
            temp_dir: run.temp_dir.clone(),
            required_fields: input::required_fields(input),
        };
        let cut = if whole.is_some() { None } else { CutRequest::resolve(arguments, &source)? };
        Ok(Request {
            paths: input::paths(&arguments.paths, &arguments.against)?,
            against: arguments.against.clone(),
            cut,
            whole,
            source,
            names_ids: input.id_field.is_typed,
            tokens,
            options,
            emit: arguments.emit,
            rejects: input.rejects.clone(),
            max_bad: input::max_bad(input, arguments.on_error.value)?,
            allow_empty: input.allow_empty,
            quiet: run.quiet,
        })
    }
}

/// Finds the passages, writes them, and prints a summary.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let mut outputs = Outputs::new();
    arguments.output.iter().try_for_each(|folder| outputs.writes_folder(folder, "--output"))?;
    outputs.reads_documents(&arguments.paths, arguments.input.hidden)?;
    arguments.against.iter().try_for_each(|reference| outputs.reads_reference(reference))?;
    outputs.reads_stop_words(&arguments.tokens)?;
    let stats = outputs.stats(arguments.stats.as_deref())?;
    with_stats(stats, |stats_file| {
        match &arguments.output {
            None => {
                refuse_closed_output()?;
                end_on_signals(stats_file.as_ref(), INCOMPLETE)?;
            }
            Some(folder) => end_on_signals_in(stats_file.as_ref(), folder, String::new())?,
        }
        let started = Instant::now();
        let request = Request::resolve(arguments)?;
        check_reference(&request.against)?;
        let (mut input, mut reference) =
            Input::sides(request.paths.clone(), request.against.clone(), request.source.clone());
        if !request.allow_empty {
            reference.iter_mut().for_each(|reference| reference.require_documents("against"));
        }
        let total = input.total_bytes().zip(reference.as_ref().map_or(Some(0), Source::total_bytes));
        let rejects = outputs.rejects(request.rejects.as_deref())?;
        let terminal =
            Terminal::new(request.quiet, total.map(|(a, b)| a + b)).with_rejects(rejects).with_max_bad(request.max_bad);
        input::warn_of_globs(&terminal, &[&request.paths, &request.against], &request.source);
        markup::hint_of_pages(&terminal, &request.paths, &request.source);
        let is_written = match &request.whole {
            Some(whole) => !whole.writes_verdicts,
            None => request.cut.is_some(),
        };
        let not_done = if is_written { "written" } else { "searched" };
        input::report_shared(&terminal, &input, reference.as_ref(), ["compared with", not_done]);
        let result = search(&mut input, &mut reference, &request, &terminal);
        terminal.done();
        let (written, closed) = terminal.finish_rejects(result)?;
        let never_found = input.all_fields_never_found(reference.as_ref());
        never_found.for_each(|warning| terminal.warning(&spelled(&warning)));
        // An earlier run may have read all.
        if written.counts.documents > 0 {
            input::report_lacking(&terminal, &request.source);
        }
        input::warn_of_no_reference_fields(&terminal, &request.source, reference.as_ref());
        let files = match &written.cleaned {
            Some(cleaned) => cleaned.read,
            None => input.counts() + reference.as_ref().map(Input::counts).unwrap_or_default(),
        };
        let PassageCounts { documents, failed, skipped, .. } = written.counts;
        let failure = match written.cleaned {
            Some(_) => None,
            None => input::check_not_empty(request.allow_empty, documents, (failed, skipped), &files).err(),
        };
        if !closed {
            summarise(&terminal, &request, &written, files, started);
            let PassageCounts { references, unnamed, unnamed_references, .. } = written.counts;
            input::warn_of_no_fields(&terminal, &request.options.required_fields, &files);
            input::warn_of_unnamed(
                &terminal,
                (&request.source, request.names_ids),
                [unnamed - unnamed_references, unnamed_references],
                [documents, references],
            );
        }
        let ended = (&*terminal.warnings(), failure.as_ref());
        write_stats(stats_file.take(), &stats_of(&request, &written, ended, started), failure.as_ref())?;
        failure.map_or_else(|| Ok(terminal.end_with(failed)), Err)
    })
}

/// What was found and written.
pub struct Written {
    pub counts: PassageCounts,
    /// Records.
    pub records: u64,
    /// Passages, unless only spans were looked for.
    pub passages: Option<u64>,
    pub left_out: u64,
    /// Passages that are mostly in longer ones, if these are left out.
    pub overlapping: Option<u64>,
    /// Passages in too few documents.
    pub below_min_documents: u64,
    /// Passages with more places than are listed.
    pub shortened: u64,
    /// Tokens in passages, if spans were looked for.
    pub covered: Option<u64>,
    /// What was cut.
    pub cuts: Option<CutCounts>,
    /// Documents that are left out whole, and those of the reference that are too short.
    pub dropped: Option<u64>,
    pub short: ShortDocuments,
    /// What was written to a folder.
    pub cleaned: Option<Cleaned>,
}

/// Finds and writes. Whether the reader of the output closed it early is no error.
fn search(
    input: &mut Input,
    reference: &mut Option<Input>,
    request: &Request,
    terminal: &Terminal,
) -> Result<(Written, bool), Error> {
    if let (Some(whole), Some(reference)) = (&request.whole, reference.as_mut()) {
        let (decided, result) = whole.write(&request.paths, (input, reference), &request.options, terminal)?;
        return closed(decided.into(), result);
    }
    let (written, result) = match (&request.cut, request.emit) {
        (Some(cut), _) if cut.output.is_some() => {
            let mut cleaned = cut.write_folder(&request.paths, &request.options, terminal)?;
            let records = cleaned.records - cleaned.removed;
            let report = cleaned.cut.take();
            let warnings = report.iter().flat_map(|report| &report.warnings);
            warnings.for_each(|warning| terminal.warning(warning));
            let below_min_documents = report.as_ref().map_or(0, |report| report.below_min_documents);
            let (counts, cuts) = report.map(|CutReport { counts, cuts, .. }| (counts, cuts)).unzip();
            // An earlier run may have read them.
            let counts = PassageCounts { failed: cleaned.failed, ..counts.unwrap_or_default() };
            let cleaned = Some(cleaned);
            (Written { records, cuts, cleaned, below_min_documents, ..Written::of(counts) }, Ok(()))
        }
        (Some(cut), _) => {
            let (report, written) = cut.write_stream(input, reference, &request.options, terminal)?;
            let records = written.as_ref().copied().unwrap_or_default();
            let CutReport { counts, cuts, below_min_documents, .. } = report;
            let cuts = Some(cuts);
            (Written { records, cuts, below_min_documents, ..Written::of(counts) }, written.map(drop))
        }
        (None, Emit::Spans) => find_spans(input, reference, request, terminal)?,
        (None, emit) => find_passages(input, reference, request, emit, terminal)?,
    };
    closed(written, result)
}

/// Whether the reader of the output closed it early, which is no error.
fn closed(written: Written, result: Result<(), Error>) -> Result<(Written, bool), Error> {
    match result {
        Err(error) if error.is_closed_pipe() => Ok((written, true)),
        result => result.map(|()| (written, false)),
    }
}

impl From<Decided> for Written {
    fn from(decided: Decided) -> Self {
        let Decided { counts, records, dropped, below_min_documents, short, cleaned } = decided;
        Written { records, dropped, below_min_documents, short, cleaned, ..Written::of(counts) }
    }
}

/// A remark on what cannot be found, or is not listed.
struct Remark {
    message: String,
    importance: Importance,
}

#[derive(PartialEq)]
enum Importance {
    /// A line of the summary.
    Line,
    /// The same, about documents of the reference: a warning where there is no summary.
    OfReference,
    Warning,
}

impl Remark {
    fn new(message: String, is_warning: bool, of_reference: bool) -> Self {
        let importance = match (is_warning, of_reference) {
            (true, _) => Importance::Warning,
            (false, true) => Importance::OfReference,
            (false, false) => Importance::Line,
        };
        Remark { message, importance }
    }

    fn print(&self, terminal: &Terminal) {
        match self.importance {
            Importance::Warning => terminal.warning(&self.message),
            Importance::Line | Importance::OfReference => terminal.line(&self.message),
        }
    }
}

/// The remark on documents of which less is left than was cut: of a near-duplicate, only what differs.
fn remark_on_mostly_cut(request: &Request, cuts: &CutCounts) -> Option<Remark> {
    if cuts.mostly_cut == 0 {
        return None;
    }
    let others =
        "--max-cut 0.5 leaves out such documents, and a larger --min-documents cuts only what is in more documents";
    let advice = match request.against.is_empty() {
        true if request.paths.iter().all(|path| clean::is_cleaned(path)) => others.to_owned(),
        true => format!("dedup clean, run first, leaves out near-duplicates whole; here {others}"),
        false => "--max-cut 0.5 leaves out such documents".to_owned(),
    };
    let message = format!("{} lost more than half of the text ({advice})", counted(cuts.mostly_cut, "document"));
    Some(Remark::new(message, false, false))
}

impl Written {
    /// The warnings of a search without a summary. A document of the reference that cannot be found is worth one there, and so are places
    /// that are not listed.
    #[cfg(feature = "python")]
    pub fn warnings(&self, request: &Request) -> Vec<String> {
        let remarks = self.remarks_on_found(request).into_iter().filter(|remark| remark.importance != Importance::Line);
        remarks.chain(self.remark_on_shortened(request)).map(|remark| remark.message).collect()
    }

    /// Why nothing can be found, or not in all documents.
    fn remarks_on_found(&self, request: &Request) -> Vec<Remark> {
        let PassageCounts { documents, references, .. } = self.counts;
        let (all, wanted) = (documents + references, request.options.min_documents as u64);
        let too_few = (wanted > all && all > 0).then(|| {
            let were = if all == 1 { "was" } else { "were" };
            let wanted = counted(wanted, "document");
            let message = format!("nothing can be found in {wanted} (--min-documents): {} {were} read", count(all));
            Remark::new(message, true, false)
        });
        let named = remark_on_short(&self.short, references, &request.options);
        let named = named.map(|(message, is_warning)| Remark::new(message, is_warning, true));
        let of_reference = named.or_else(|| remark_on_counted(request, &self.counts, true));
        let of_documents = remark_on_counted(request, &self.counts, false);
        let mostly_cut = self.cuts.as_ref().and_then(|cuts| remark_on_mostly_cut(request, cuts));
        too_few.into_iter().chain(of_reference).chain(of_documents).chain(mostly_cut).collect()
    }

    /// The remark on passages with more places than are listed.
    fn remark_on_shortened(&self, request: &Request) -> Option<Remark> {
        let have = match self.shortened {
            0 => return None,
            1 => "has",
            _ => "have",
        };
        let is_warning = request.emit == Emit::Pairs;
        let effect = if is_warning {
            "pairs with the places after these are missing: raise --max-places"
        } else {
            "the first are listed, and count has all (--max-places)"
        };
        let (passages, listed) =
            (counted(self.shortened, "passage"), counted(request.options.max_places as u64, "place"));
        let message = format!("{passages} {have} more than {listed}: {effect}");
        Some(Remark::new(message, is_warning, false))
    }

    /// What was read, without what was found.
    pub fn of(counts: PassageCounts) -> Self {
        Written {
            counts,
            records: 0,
            passages: None,
            left_out: 0,
            overlapping: None,
            below_min_documents: 0,
            shortened: 0,
            covered: None,
            cuts: None,
            dropped: None,
            short: ShortDocuments::default(),
            cleaned: None,
        }
    }
}

/// What was found, and why writing it ended early.
type Found = (Written, Result<(), Error>);

fn side(reference: &mut Option<Input>) -> Option<&mut dyn Source> {
    reference.as_mut().map(|reference| reference as &mut dyn Source)
}

/// Writes passages, or pairs of documents that share some.
fn find_passages(
    input: &mut Input,
    reference: &mut Option<Input>,
    request: &Request,
    emit: Emit,
    terminal: &Terminal,
) -> Result<Found, Error> {
    let mut found = passages::find_passages(input, side(reference), &request.options, terminal)?;
    let fields = if emit == Emit::Pairs { input::PLACES_OF_PAIR } else { input::PLACE };
    input::warn_of_ids(terminal, found.ids_repeat(), fields);
    let (mut out, mut records, mut shortened) = (PassageLines::new(WholeLines::new()), 0, 0);
    let mut pairs = DocumentPairs::new(found.counts().references as usize);
    let result = match emit {
        Emit::Pairs => found.for_each(input, side(reference), terminal, |passage| {
            shortened += u64::from(passage.is_shortened());
            pairs.add(passage, |pair| {
                records += 1;
                out.pair(pair)
            })
        }),
        _ => {
            let add = |chunk: &mut (PassageLines<Vec<u8>>, [u64; 2]), passage: &Passage<'_>| {
                let (lines, [count, more]) = chunk;
                *count += 1;
                *more += u64::from(passage.is_shortened());
                lines.passage(passage)
            };
            found.for_each_chunk(input, side(reference), terminal, add, |(lines, [count, more])| {
                out.append(&lines)?;
                records += count;
                shortened += more;
                Ok(())
            })
        }
    };
    let result = result.and_then(|()| {
        pairs.finish(|pair| {
            records += 1;
            out.pair(pair)
        })
    });
    let (left_out, below_min_documents) = (found.left_out(), found.below_min_documents());
    let (counts, passages) = (found.counts().clone(), Some(found.len() as u64));
    let overlapping = request.options.without_overlaps.then(|| found.overlapping());
    let written =
        Written { records, passages, left_out, overlapping, below_min_documents, shortened, ..Written::of(counts) };
    Ok((written, result.and_then(|()| out.finish())))
}

fn find_spans(
    input: &mut Input,
    reference: &mut Option<Input>,
    request: &Request,
    terminal: &Terminal,
) -> Result<Found, Error> {
    let mut found = passages::find_spans(input, side(reference), &request.options, terminal)?;
    input::warn_of_ids(terminal, found.ids_repeat(), input::PLACE);
    let (mut out, mut records) = (PassageLines::new(WholeLines::new()), 0);
    let result = found.for_each(input, side(reference), terminal, |spans| {
        records += 1;
        out.spans(spans)
    });
    let (covered, below_min_documents) = (Some(found.tokens()), found.below_min_documents());
    let written = Written { records, covered, below_min_documents, ..Written::of(found.counts().clone()) };
    Ok((written, result.and_then(|()| out.finish())))
}

fn summarise(terminal: &Terminal, request: &Request, written: &Written, files: source::Counts, started: Instant) {
    if written.cleaned.is_none() || written.cuts.is_some() || written.dropped.is_some() {
        summarise_search(terminal, request, written, started);
    }
    let (output, listed) = match &request.whole {
        Some(whole) => (Some((&whole.output, whole.options.on_error)), "what was left out"),
        None => (request.cut.as_ref().map(|cut| (&cut.output, cut.options.on_error)), "what was cut"),
    };
    let copy = output.and_then(|(output, on_error)| Some((output.as_deref()?, on_error)));
    if let (Some(copy), Some(cleaned)) = (copy, &written.cleaned) {
        summarise_folder(terminal, copy, cleaned, listed, started);
    }
    let PassageCounts { repaired, skipped, failed, fell_back, .. } = written.counts;
    // Of what is written to a folder, the summary has a line about failures.
    let failed = if written.cleaned.is_some() { 0 } else { failed };
    input::report_left_out(terminal, [failed, skipped, repaired, fell_back], files);
}

/// What was read and found.
fn summarise_search(terminal: &Terminal, request: &Request, written: &Written, started: Instant) {
    let PassageCounts { documents, references, tokens, reference_tokens, bytes: read, spilled, .. } = written.counts;
    let mut found = counted(documents, "document");
    if !request.against.is_empty() {
        found += &format!(" against {}", count(references));
    }
    // Words that do not match count twice in a passage with edits.
    let edited = if request.options.similarity.is_some() { " (edited ones count twice)" } else { "" };
    let least = format!("{} or more{edited}", counted(request.options.min_words as u64, "word"));
    match (written.dropped, written.passages, written.covered) {
        (Some(dropped), ..) => {
            let dropped = counted(dropped, "document");
            found += &format!(": {dropped} not kept, with ");
            found += &match request.options.min_coverage {
                None => format!("a passage of {least} of the reference"),
                Some(share) => format!("a share of {share} or more in passages of {least} of the reference"),
            };
        }
        (_, Some(passages), _) => found += &format!(": {} of {least}", counted(passages, "passage")),
        (_, None, None) => found += &format!(": {}", written.cuts.as_ref().map(cut_in_words).unwrap_or_default()),
        (_, None, Some(covered)) => {
            let tokens = tokens - reference_tokens;
            let share = 100.0 * covered as f64 / tokens.max(1) as f64;
            found += &format!(
                ": {} in passages of {least} ({share:.1} % of {}), in {}",
                counted(covered, "token"),
                count(tokens),
                counted(written.records, "document")
            );
        }
    }
    terminal.line(&found);
    written.remarks_on_found(request).iter().for_each(|remark| remark.print(terminal));
    if documents > 0 {
        let seconds = started.elapsed().as_secs_f64();
        let prepared = request.tokens.prepared.as_ref().map(|prepared| format!("; {prepared}")).unwrap_or_default();
        terminal.line(&format!(
            "{} {} {}{prepared}; {}",
            count(tokens),
            request.tokens.name,
            if tokens == 1 { "token" } else { "tokens" },
            terminal.cost(read, seconds),
        ));
        let few = written.below_min_documents;
        if few > 0 {
            let (they, least) = (if few == 1 { "it is" } else { "they are" }, request.options.min_documents as u64);
            terminal.line(&format!(
                "{} left out: {they} in fewer than {} (--min-documents)",
                counted(few, "passage"),
                counted(least, "document")
            ));
        }
        if written.left_out > 0 {
            terminal.line(&format!(
                "{} left out: their places overlap, and 10 longer ones begin at the same place",
                counted(written.left_out, "passage")
            ));
        }
        if let Some(overlapping) = written.overlapping.filter(|&overlapping| overlapping > 0) {
            let (passages, of) = (counted(overlapping, "passage"), if overlapping == 1 { "it" } else { "each" });
            terminal.line(&format!(
                "{passages} left out: at least half of {of} is in longer ones that are listed (--no-overlaps)"
            ));
        }
        written.remark_on_shortened(request).iter().for_each(|remark| remark.print(terminal));
        if spilled > 0 {
            terminal.line(&format!(
                "{} went to temporary files: of --memory ({}), a quarter is for tokens and an eighth for places",
                bytes(spilled as f64),
                bytes(request.options.memory as f64)
            ));
        }
    }
}

/// The remark on documents of one side that are too short for a passage, a warning if all are. Some of the source are only worth a remark
/// where something else is looked for in them than what they have in common.
fn remark_on_counted(request: &Request, counts: &PassageCounts, of_reference: bool) -> Option<Remark> {
    let (short, all, what) = match of_reference {
        true => (counts.short_references, counts.references, "reference document"),
        false => (counts.short, counts.documents, "document"),
    };
    let is_warning = short == all;
    if short == 0 || !is_warning && !of_reference && request.against.is_empty() {
        return None;
    }
    let have = if short == 1 { "has" } else { "have" };
    let words = counted(request.options.min_words as u64, "word");
    let advice = if is_warning { "; a lower --min-words finds shorter ones" } else { "" };
    let edits = if request.options.similarity.is_some() { " without edits" } else { "" };
    let message = format!(
        "{} {have} fewer than {words} (--min-words): too short for a passage{edits}{advice}",
        counted(short, what)
    );
    Some(Remark::new(message, is_warning, of_reference))
}

/// The one object of `--stats`.
#[derive(Serialize)]
pub struct Stats<'a> {
    r#type: &'static str,
    version: &'static str,
    hash_version: u32,
    tokenizer: &'a str,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    min_words: usize,
    min_documents: usize,
    /// With `--unit document` or `--emit verdicts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_coverage: Option<f64>,
    max_places: usize,
    counts: &'a PassageCounts,
    records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    passages: Option<u64>,
    left_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    overlapping: Option<u64>,
    below_min_documents: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cuts: Option<&'a CutCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<u64>,
    short: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    short_references: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files_written: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_written: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    covered_words: Option<u64>,
    warnings: &'a [String],
    seconds: f64,
    #[serde(flatten)]
    lacking: LackingStats,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

/// The statistics of a run.
pub fn stats_of<'a>(
    request: &'a Request,
    written: &'a Written,
    (warnings, error): (&'a [String], Option<&Error>),
    started: Instant,
) -> Stats<'a> {
    Stats {
        r#type: "stats",
        version: env!("CARGO_PKG_VERSION"),
        hash_version: hash::HASH_VERSION,
        tokenizer: &request.tokens.name,
        seed: request.options.seed,
        similarity: request.options.similarity.map(Threshold::as_f64),
        min_words: request.options.min_words,
        min_documents: request.options.min_documents,
        min_coverage: request.options.min_coverage.map(Threshold::as_f64),
        max_places: request.options.max_places,
        counts: &written.counts,
        records: written.records,
        passages: written.passages,
        left_out: written.left_out,
        overlapping: written.overlapping,
        below_min_documents: written.below_min_documents,
        cuts: written.cuts.as_ref(),
        dropped: written.dropped,
        short: written.counts.short,
        short_references: (!request.against.is_empty()).then_some(written.counts.short_references),
        files_written: written.cleaned.as_ref().map(|cleaned| cleaned.files_written),
        bytes_written: written.cleaned.as_ref().map(|cleaned| cleaned.bytes_written),
        covered_words: written.covered,
        warnings,
        seconds: started.elapsed().as_secs_f64(),
        lacking: if written.counts.documents > 0 { LackingStats::of(&request.source) } else { LackingStats::default() },
        error: error.map(Failure::from),
    }
}
