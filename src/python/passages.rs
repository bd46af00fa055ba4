//! Passages, and documents that are contained in others: as the lines that the commands print, of which the package around makes tables.

use super::input::{Given as Documents, Opened};
use super::records::Records;
use super::refusal::{exception, refused, rejection, warning};
use super::scan::{Value, given};
use super::worker::{self, Watch};
use crate::clean::{self, CleanOptions};
use crate::cli::call::{self, ContainEmit, PassageEmit, Search};
use crate::passages::{
    ContainOptions, ContainmentVerdict, DocumentPairs, Passage, PassageCounts, PassageOptions, ShareOf, ShortDocuments,
    find_contained, find_coverages, find_passages, find_spans, find_uncontained,
};
use crate::report::PassageLines;
use crate::report::table::{Ids, Records as Table};
use crate::{Error, source};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// What was found.
enum Found {
    /// JSON lines, or the records of files that are kept, byte for byte.
    Bytes(Vec<u8>),
    /// For each document of a table, whether it is kept.
    Flags(Table),
}

/// How it is found, with warnings.
type Find<E, O> = fn(&Search<E, O>, &mut Opened, Option<&mut Opened>, &Watch) -> Result<(Found, Vec<String>), Error>;

/// What was found, the type of the ids in it, and warnings.
type Answer<'py> = (Bound<'py, PyAny>, &'static str, Vec<String>);

/// Finds the passages that repeat.
#[pyfunction]
pub fn passages<'py>(
    py: Python<'py>,
    documents: Documents,
    against: Option<Documents>,
    keywords: Vec<(String, Value)>,
    show: Option<Bound<'py, PyAny>>,
) -> PyResult<Answer<'py>> {
    let search = call::passages(&given(keywords), documents.kind(), against.is_some()).map_err(refused)?;
    answer(py, documents, against, search, show.as_ref(), find)
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
    let search = call::contain(&given(keywords), documents.kind(), against.is_some()).map_err(refused)?;
    answer(py, documents, against, search, show.as_ref(), find_containers)
}

/// Opens the documents and looks for what is asked.
fn answer<'py, E: Send + 'static, O: Send + 'static>(
    py: Python<'py>,
    documents: Documents,
    against: Option<Documents>,
    search: Search<E, O>,
    show: Option<&Bound<'py, PyAny>>,
    find: Find<E, O>,
) -> PyResult<Answer<'py>> {
    let mut documents = documents.open(&search.source, search.names_ids)?;
    let mut against =
        against.map(|against| against.open(&search.source.of_reference(), search.names_reference_ids())).transpose()?;
    let ids = match &against {
        Some(against) if against.ids() != documents.ids() => Ids::Strings,
        _ => documents.ids(),
    };
    let work = move |watch: &Watch| {
        if let Some(Opened::Files(reference)) = &mut against
            && !search.allows_empty_reference
        {
            reference.require_documents("against");
        }
        let (found, remarks) =
            find(&search, &mut documents, against.as_mut(), watch).map_err(|error| watch.explained(error))?;
        let never_found = [Some(&documents), against.as_ref()].into_iter().flatten().filter_map(|side| match side {
            Opened::Files(input) => input.fields_never_found(),
            Opened::Table(_) => None,
        });
        Ok::<_, Error>((found, never_found.chain(remarks).chain(watch.problems()).collect::<Vec<_>>()))
    };
    let (found, warnings) = worker::run(py, show, work)?.map_err(|error| exception(&error))?;
    let found = match found {
        Found::Bytes(bytes) => PyBytes::new(py, &bytes).into_any(),
        Found::Flags(table) => Bound::new(py, Records(table))?.into_any(),
    };
    Ok((found, ids.name(), warnings.iter().map(|message| warning(message)).collect()))
}

fn find(
    search: &Search<PassageEmit, PassageOptions>,
    documents: &mut Opened,
    against: Option<&mut Opened>,
    watch: &Watch,
) -> Result<(Found, Vec<String>), Error> {
    let (mut sides, mut bytes) = (Sides::new(documents, against), Vec::new());
    let are_positions = sides.are_positions();
    let mut out = PassageLines::new(&mut bytes);
    let ids_repeat;
    if search.emit == PassageEmit::Spans {
        let mut found = sides.with(|source, reference| find_spans(source, reference, &search.options, watch))?;
        search.check(found.counts())?;
        ids_repeat = found.ids_repeat();
        sides.with(|source, reference| found.for_each(source, reference, watch, |spans| out.spans(spans)))?;
    } else {
        let mut found = sides.with(|source, reference| find_passages(source, reference, &search.options, watch))?;
        search.check(found.counts())?;
        ids_repeat = found.ids_repeat();
        let mut pairs = DocumentPairs::new(found.counts().references as usize);
        sides.with(|source, reference| {
            if search.emit == PassageEmit::Pairs {
                return found.for_each(source, reference, watch, |passage| pairs.add(passage, |pair| out.pair(pair)));
            }
            let add = |lines: &mut PassageLines<Vec<u8>>, passage: &Passage<'_>| lines.passage(passage);
            found.for_each_chunk(source, reference, watch, add, |lines| out.append(&lines))
        })?;
        pairs.finish(|pair| out.pair(pair))?;
    }
    out.finish()?;
    let fields = if search.emit == PassageEmit::Pairs { call::PLACES_OF_PAIR } else { call::PLACE };
    Ok((Found::Bytes(bytes), repeated(ids_repeat && !are_positions, fields).collect()))
}

fn find_containers(
    search: &Search<ContainEmit, ContainOptions>,
    documents: &mut Opened,
    against: Option<&mut Opened>,
    watch: &Watch,
) -> Result<(Found, Vec<String>), Error> {
    let (options, mut bytes) = (&search.options, Vec::new());
    if let (ContainEmit::Kept, Opened::Files(input)) = (search.emit, &mut *documents) {
        let reference = against.map(Opened::source);
        let clean =
            CleanOptions { source: search.source.clone(), on_error: search.on_error, ..CleanOptions::default() };
        let (found, written) = clean::write_uncontained(input, reference, options, &clean, watch, &mut bytes)?;
        written?;
        search.check(found.counts())?;
        let mut remarks = remarks(found.short(), found.counts(), options, true);
        remarks.extend(call::hint_of_share(&found, options));
        return Ok((Found::Bytes(bytes), remarks));
    }
    let mut sides = Sides::new(documents, against);
    let are_positions = sides.are_positions();
    let mut out = PassageLines::new(&mut bytes);
    let remarks = match search.emit {
        ContainEmit::Containments => {
            let mut found = sides.with(|source, reference| find_contained(source, reference, options, watch))?;
            search.check(found.counts())?;
            sides.with(|source, reference| found.for_each(source, reference, watch, |found| out.containment(found)))?;
            search.check(found.counts())?;
            let mut remarks = remarks(found.short(), found.counts(), options, false);
            remarks.extend(repeated(found.ids_repeat() && !are_positions, call::PLACES_OF_CONTAINED));
            remarks
        }
        ContainEmit::Pairs => {
            let found = sides.with(|source, reference| find_coverages(source, reference, options, watch))?;
            search.check(found.counts())?;
            found.for_each(watch, |pair| out.coverage(pair))?;
            let mut remarks = remarks(found.short(), found.counts(), options, false);
            remarks.extend(repeated(found.ids_repeat() && !are_positions, call::PLACES_OF_CONTAINED));
            remarks
        }
        ContainEmit::Verdicts | ContainEmit::Kept => {
            let found = sides.with(|source, reference| find_uncontained(source, reference, options, watch))?;
            search.check(found.counts())?;
            let mut remarks = remarks(found.short(), found.counts(), options, true);
            let verdicts = found.verdicts().map(|verdict| {
                let keep = search.on_error.keeps(verdict.keep, verdict.error, verdict.is_skipped);
                ContainmentVerdict { keep, ..verdict }
            });
            remarks.extend(call::hint_of_share(&found, options));
            if search.emit == ContainEmit::Kept {
                return Ok((Found::Flags(Table::flags("keep", verdicts.map(|verdict| verdict.keep))), remarks));
            }
            let places = match options.of {
                ShareOf::Document => call::PLACES_OF_CONTAINED,
                ShareOf::Reference => call::PLACES_OF_CONTAINING,
            };
            remarks.extend(repeated(found.ids_repeat() && !are_positions, places));
            for verdict in verdicts {
                let error = verdict.error.map(rejection);
                let verdict = ContainmentVerdict { error: error.as_deref(), ..verdict };
                out.containment_verdict(&verdict, found.ids_repeat())?;
            }
            remarks
        }
    };
    out.finish()?;
    Ok((Found::Bytes(bytes), remarks))
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
