//! Passages, and documents that are contained in others: as the lines that the commands print, of which the package around makes tables.

use super::input::{Given as Documents, Opened};
use super::records::Records;
use super::refusal::{refused, rejection, warning};
use super::scan::{Value, given};
use super::worker::{self, Ended, Watch};
use crate::clean::{self, CleanOptions};
use crate::cli::call::{
    self, ContainEmit, ContainRequest, ContainWritten, Decided, PassageEmit, PassageRequest, PassageWritten, Request,
    Search, decided,
};
use crate::passages::{
    ContainOptions, ContainmentVerdict, DocumentPairs, Passage, PassageCounts, PassageVerdict, ShareOf, ShortDocuments,
    find_contained, find_coverages, find_passages, find_spans, find_uncontained, find_unshared,
};
use crate::report::PassageLines;
use crate::report::table::{Ids, Records as Table};
use crate::{Error, source};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::time::Instant;

/// What was found.
enum Found {
    /// JSON lines, or the records of files that are kept, byte for byte.
    Bytes(Vec<u8>),
    /// For each document of a table, whether it is kept.
    Flags(Table),
}

/// How it is found, with what was written and warnings.
type Find<R, W> = fn(&Search<R>, &mut Opened, Option<&mut Opened>, &Watch) -> Result<(Found, W, Vec<String>), Error>;

/// What `--stats` writes about a search that began then, without warnings.
type Stats<R, W> = fn(&Search<R>, &W, Instant) -> String;

/// What was found, the type of the ids in it, statistics as JSON without warnings, and warnings.
type Answer<'py> = (Bound<'py, PyAny>, &'static str, String, Vec<String>);

/// Finds the passages that repeat.
#[pyfunction]
pub fn passages<'py>(
    py: Python<'py>,
    documents: Documents,
    against: Option<Documents>,
    keywords: Vec<(String, Value)>,
    show: Option<Bound<'py, PyAny>>,
) -> PyResult<Answer<'py>> {
    let search =
        call::passages(&given(keywords), documents.kind(), against.as_ref().map(Documents::kind)).map_err(refused)?;
    answer(py, documents, against, search, show.as_ref(), (find, Search::<PassageRequest>::stats))
}

/// Finds the documents that are contained in others.
#[pyfunction]
pub fn contain<'py>(
    py: Python<'py>,
    documents: Documents,
    against: Option<Documents>,
    keywords: Vec<(String, Value)>,
    show: Option<Bound<'py, PyAny>>,
) -> PyResult<Answer<'py>> {
    let search =
        call::contain(&given(keywords), documents.kind(), against.as_ref().map(Documents::kind)).map_err(refused)?;
    answer(py, documents, against, search, show.as_ref(), (find_containers, Search::<ContainRequest>::stats))
}

/// Opens the documents and looks for what is asked.
fn answer<'py, R: Request + Send + 'static, W: 'static>(
    py: Python<'py>,
    documents: Documents,
    against: Option<Documents>,
    search: Search<R>,
    show: Option<&Bound<'py, PyAny>>,
    (find, stats): (Find<R, W>, Stats<R, W>),
) -> PyResult<Answer<'py>> {
    let started = Instant::now();
    let source = search.request.source();
    let mut sample = documents.sample(source);
    let mut documents = documents.open(source, search.names_ids)?;
    let mut against =
        against.map(|against| against.open(&source.of_reference(), search.names_reference_ids())).transpose()?;
    if !search.allows_empty_reference {
        against = against.map(Opened::required_reference);
    }
    let ids = match &against {
        Some(against) if against.ids() != documents.ids() => Ids::Strings,
        _ => documents.ids(),
    };
    let work = move |watch: &Watch| {
        let hint =
            sample.as_mut().and_then(|sample| call::hint_of_sample(sample.source(), search.request.source(), watch));
        let (found, written, remarks) =
            find(&search, &mut documents, against.as_mut(), watch).map_err(|error| watch.explained(error))?;
        let never_found = [Some(&documents), against.as_ref()].into_iter().flatten().filter_map(Opened::never_found);
        let warnings = hint.into_iter().chain(never_found).chain(remarks).chain(watch.warnings()).collect::<Vec<_>>();
        Ok::<_, Ended>((found, stats(&search, &written, started), warnings))
    };
    let (found, stats, warnings) = worker::run(py, show, work)?.map_err(|ended| ended.exception())?;
    let found = match found {
        Found::Bytes(bytes) => PyBytes::new(py, &bytes).into_any(),
        Found::Flags(table) => Bound::new(py, Records(table))?.into_any(),
    };
    Ok((found, ids.name(), stats, warnings.iter().map(|message| warning(message)).collect()))
}

fn find(
    search: &Search<PassageRequest>,
    documents: &mut Opened,
    against: Option<&mut Opened>,
    watch: &Watch,
) -> Result<(Found, PassageWritten, Vec<String>), Error> {
    let PassageRequest { options, emit, .. } = &search.request;
    let against = match against {
        Some(reference) if matches!(emit, PassageEmit::Verdicts | PassageEmit::Kept) => {
            return find_unaffected(search, documents, reference, watch);
        }
        against => against,
    };
    let (mut sides, mut bytes) = (Sides::new(documents, against), Vec::new());
    let are_positions = sides.are_positions();
    let mut out = PassageLines::new(&mut bytes);
    let (ids_repeat, mut written);
    if *emit == PassageEmit::Spans {
        let mut found = sides.with(|source, reference| find_spans(source, reference, options, watch))?;
        search.check(found.counts())?;
        ids_repeat = found.ids_repeat();
        sides.with(|source, reference| found.for_each(source, reference, watch, |spans| out.spans(spans)))?;
        let below_min_documents = found.below_min_documents();
        written = PassageWritten {
            below_min_documents,
            covered: Some(found.tokens()),
            ..PassageWritten::of(found.counts().clone())
        };
    } else {
        let mut found = sides.with(|source, reference| find_passages(source, reference, options, watch))?;
        search.check(found.counts())?;
        ids_repeat = found.ids_repeat();
        let (mut pairs, mut shortened) = (DocumentPairs::new(found.counts().references as usize), 0);
        sides.with(|source, reference| {
            if *emit == PassageEmit::Pairs {
                return found.for_each(source, reference, watch, |passage| {
                    shortened += u64::from(passage.is_shortened());
                    pairs.add(passage, |pair| out.pair(pair))
                });
            }
            let add = |(lines, more): &mut (PassageLines<Vec<u8>>, u64), passage: &Passage<'_>| {
                *more += u64::from(passage.is_shortened());
                lines.passage(passage)
            };
            found.for_each_chunk(source, reference, watch, add, |(lines, more)| {
                shortened += more;
                out.append(&lines)
            })
        })?;
        pairs.finish(|pair| out.pair(pair))?;
        written = PassageWritten {
            passages: Some(found.len() as u64),
            left_out: found.left_out(),
            overlapping: options.without_overlaps.then(|| found.overlapping()),
            below_min_documents: found.below_min_documents(),
            shortened,
            ..PassageWritten::of(found.counts().clone())
        };
    }
    out.finish()?;
    written.records = records(&bytes);
    let fields = if *emit == PassageEmit::Pairs { call::PLACES_OF_PAIR } else { call::PLACE };
    let remarks = repeated(ids_repeat && !are_positions, fields).chain(written.warnings(&search.request)).collect();
    Ok((Found::Bytes(bytes), written, remarks))
}

/// Decides which documents are kept: those without a passage of the reference.
fn find_unaffected(
    search: &Search<PassageRequest>,
    documents: &mut Opened,
    reference: &mut Opened,
    watch: &Watch,
) -> Result<(Found, PassageWritten, Vec<String>), Error> {
    let PassageRequest { options, emit, whole, .. } = &search.request;
    let mut bytes = Vec::new();
    if let (PassageEmit::Kept, Opened::Files(input), Some(whole)) = (*emit, &mut *documents, whole) {
        let clean = &whole.options;
        let (found, written) = clean::write_unshared(input, reference.source(), options, clean, watch, &mut bytes)?;
        let written = PassageWritten { records: written?, ..PassageWritten::from(Decided::of(&found)) };
        search.check(found.counts())?;
        let remarks = written.warnings(&search.request);
        return Ok((Found::Bytes(bytes), written, remarks));
    }
    let are_positions = documents.are_positions() && reference.are_positions();
    let found = find_unshared(documents.source(), reference.source(), options, watch)?;
    search.check(found.counts())?;
    if !search.allows_empty_reference {
        found.check_lengths(options)?;
    }
    let mut written = PassageWritten::from(Decided::of(&found));
    let remarks = written.warnings(&search.request);
    let verdicts = found.verdicts().map(|verdict| {
        let keep = search.on_error.keeps(verdict.keep, verdict.error, verdict.is_skipped);
        PassageVerdict { keep, ..verdict }
    });
    if *emit == PassageEmit::Kept {
        let flags = Table::flags(
            "keep",
            verdicts.map(|verdict| verdict.keep).inspect(|keep| written.records += u64::from(*keep)),
        );
        return Ok((Found::Flags(flags), written, remarks));
    }
    let remarks = repeated(found.ids_repeat() && !are_positions, call::PLACES_OF_CONTAINING).chain(remarks).collect();
    let mut out = PassageLines::new(&mut bytes);
    for verdict in verdicts {
        let error = verdict.error.map(rejection);
        out.passage_verdict(&PassageVerdict { error: error.as_deref(), ..verdict }, found.ids_repeat())?;
    }
    out.finish()?;
    written.records = records(&bytes);
    Ok((Found::Bytes(bytes), written, remarks))
}

/// The number of lines.
fn records(lines: &[u8]) -> u64 {
    lines.iter().filter(|&&byte| byte == b'\n').count() as u64
}

fn find_containers(
    search: &Search<ContainRequest>,
    documents: &mut Opened,
    against: Option<&mut Opened>,
    watch: &Watch,
) -> Result<(Found, ContainWritten, Vec<String>), Error> {
    let ContainRequest { options, emit, .. } = &search.request;
    let mut bytes = Vec::new();
    if let (ContainEmit::Kept, Opened::Files(input)) = (*emit, &mut *documents) {
        let reference = against.map(Opened::source);
        let clean = CleanOptions {
            source: search.request.source.clone(),
            on_error: search.on_error,
            allow_empty: search.allows_empty_reference,
            ..CleanOptions::default()
        };
        let (found, written) = clean::write_uncontained(input, reference, options, &clean, watch, &mut bytes)?;
        let written = decided(&found, written?);
        search.check(found.counts())?;
        let mut remarks = remarks(found.short(), found.counts(), options, true);
        remarks.extend(call::hint_of_share(&found, options));
        return Ok((Found::Bytes(bytes), written, remarks));
    }
    let mut sides = Sides::new(documents, against);
    let are_positions = sides.are_positions();
    let mut out = PassageLines::new(&mut bytes);
    let (mut written, remarks) = match emit {
        ContainEmit::Containments => {
            let mut found = sides.with(|source, reference| find_contained(source, reference, options, watch))?;
            search.check(found.counts())?;
            sides.with(|source, reference| found.for_each(source, reference, watch, |found| out.containment(found)))?;
            search.check(found.counts())?;
            let remarks = remarks(found.short(), found.counts(), options, false);
            let remarks = repeated(found.ids_repeat() && !are_positions, call::PLACES_OF_CONTAINED).chain(remarks);
            let remarks = remarks.collect();
            (ContainWritten::of(found.counts().clone(), found.short().clone()), remarks)
        }
        ContainEmit::Pairs => {
            let found = sides.with(|source, reference| find_coverages(source, reference, options, watch))?;
            search.check(found.counts())?;
            found.for_each(watch, |pair| out.coverage(pair))?;
            let remarks = remarks(found.short(), found.counts(), options, false);
            let remarks = repeated(found.ids_repeat() && !are_positions, call::PLACES_OF_CONTAINED).chain(remarks);
            let remarks = remarks.collect();
            (ContainWritten::of(found.counts().clone(), found.short().clone()), remarks)
        }
        ContainEmit::Verdicts | ContainEmit::Kept => {
            let found = sides.with(|source, reference| find_uncontained(source, reference, options, watch))?;
            search.check(found.counts())?;
            if !search.allows_empty_reference {
                found.check_lengths()?;
            }
            let mut remarks = remarks(found.short(), found.counts(), options, true);
            let verdicts = found.verdicts().map(|verdict| {
                let keep = search.on_error.keeps(verdict.keep, verdict.error, verdict.is_skipped);
                ContainmentVerdict { keep, ..verdict }
            });
            remarks.extend(call::hint_of_share(&found, options));
            if *emit == ContainEmit::Kept {
                let mut records = 0;
                let flags = verdicts.map(|verdict| verdict.keep).inspect(|keep| records += u64::from(*keep));
                let flags = Found::Flags(Table::flags("keep", flags));
                return Ok((flags, decided(&found, records), remarks));
            }
            let places = match options.of {
                ShareOf::Document => call::PLACES_OF_CONTAINED,
                ShareOf::Reference => call::PLACES_OF_CONTAINING,
            };
            let remarks = repeated(found.ids_repeat() && !are_positions, places).chain(remarks).collect();
            for verdict in verdicts {
                let error = verdict.error.map(rejection);
                let verdict = ContainmentVerdict { error: error.as_deref(), ..verdict };
                out.containment_verdict(&verdict, found.ids_repeat())?;
            }
            (decided(&found, 0), remarks)
        }
    };
    out.finish()?;
    written.records = records(&bytes);
    Ok((Found::Bytes(bytes), written, remarks))
}

/// The warning where ids repeat.
fn repeated(ids_repeat: bool, fields: &str) -> impl Iterator<Item = String> {
    ids_repeat.then(|| call::ids_repeat(fields)).into_iter()
}

/// What the command says of documents without a run.
fn remarks(short: &ShortDocuments, counts: &PassageCounts, options: &ContainOptions, keeps: bool) -> Vec<String> {
    let remarks = call::remarks_on_short(short, counts.references, options.shingle, keeps);
    remarks.into_iter().map(|(remark, _)| remark).collect()
}

/// The documents that are searched, and a reference.
struct Sides<'a> {
    documents: &'a mut Opened,
    against: Option<&'a mut Opened>,
}

impl<'a> Sides<'a> {
    fn new(documents: &'a mut Opened, against: Option<&'a mut Opened>) -> Self {
        Sides { documents, against }
    }

    /// Whether ids are positions, on each side: two documents of a side have different ones, and records show which side is meant.
    fn are_positions(&self) -> bool {
        self.documents.are_positions() && self.against.as_deref().is_none_or(Opened::are_positions)
    }

    /// Reads them.
    fn with<T>(&mut self, read: impl FnOnce(&mut dyn source::Source, Option<&mut dyn source::Source>) -> T) -> T {
        read(self.documents.source(), self.against.as_deref_mut().map(Opened::source))
    }
}
