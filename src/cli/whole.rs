//! `dedup passages` that leaves out whole documents: those that have a passage of a reference.

use super::arguments::OnError;
use super::arguments::passages::{Arguments, Emit, Unit};
use super::contain::first_short;
use super::cut::{clean_options, refuse_standard_input};
use super::input::{self, report_interrupted};
use super::scan::{NOTHING_WRITTEN, check_failed};
use super::spelling::{self, spelled};
use super::standard_output::WholeLines;
use super::status::usage_error;
use super::terminal::{Terminal, counted};
use neardups::Error;
use neardups::clean::{self, CleanOptions, Cleaned};
use neardups::passages::{PassageCounts, PassageOptions, PassageVerdict, ShortDocuments, Unshared, find_unshared};
use neardups::report::PassageLines;
use neardups::source::{Input, ReadOptions};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Where what is kept is written.
pub struct WholeRequest {
    /// The folder; standard output without one.
    pub output: Option<PathBuf>,
    /// Whether verdicts are written instead of records.
    pub writes_verdicts: bool,
    on_error: OnError,
    pub options: CleanOptions,
}

/// What was decided and written.
#[derive(Default)]
pub struct Decided {
    pub counts: PassageCounts,
    /// Records written.
    pub records: u64,
    /// Documents that are left out; `None` if an earlier run decided.
    pub dropped: Option<u64>,
    pub below_min_documents: u64,
    pub short: ShortDocuments,
    pub cleaned: Option<Cleaned>,
}

impl WholeRequest {
    /// Resolves the arguments; `None` if documents are cut, or nothing is.
    ///
    /// # Errors
    /// They contradict each other.
    pub fn resolve(arguments: &Arguments, source: &ReadOptions) -> Result<Option<Self>, Error> {
        let Arguments { emit, is_emit_typed, output, unit, .. } = arguments;
        let writes_verdicts = *emit == Emit::Verdicts;
        if *unit != Some(Unit::Document) && !writes_verdicts {
            return Ok(None);
        }
        if unit.is_some_and(|unit| unit != Unit::Document) {
            let why = "--emit verdicts decides on whole documents: leave --unit out, or use --unit document";
            return Err(usage_error(why));
        }
        let flag = if unit.is_some() { "--unit document" } else { "--emit verdicts" };
        if arguments.against.is_empty() {
            return Err(usage_error(format!(
                "{flag} leaves out the documents that have a passage of a reference: add --against REF (without one, dedup clean leaves \
                 out near-duplicates, and dedup contain documents that stand in others)"
            )));
        }
        if output.is_some() && *is_emit_typed && *emit != Emit::Kept {
            let why = "--output writes the documents that are kept: leave --emit out, or use --emit kept";
            return Err(usage_error(why));
        }
        if output.is_none() && !matches!(emit, Emit::Kept | Emit::Verdicts) {
            let why =
                "--unit document has an effect only on what is kept: add --output DIR, --emit kept or --emit verdicts";
            return Err(usage_error(why));
        }
        let refused = [
            (arguments.keep.is_some(), "--keep", "the reference is not written"),
            (
                arguments.max_cut.is_some(),
                "--max-cut",
                "a whole document is left out, by --min-coverage if that is given",
            ),
            (arguments.max_places.is_typed, "--max-places", "every place counts"),
        ];
        if let Some((_, name, why)) = refused.into_iter().find(|(is_typed, ..)| *is_typed) {
            return Err(usage_error(format!("{name} has no effect with {flag}: {why}")));
        }
        refuse_standard_input(arguments)?;
        let options = clean_options(arguments, source);
        let (output, on_error) = (output.clone(), arguments.on_error.value);
        Ok(Some(WholeRequest { output, writes_verdicts, on_error, options }))
    }

    /// Decides, and writes what is kept, or the verdicts. The second result is why not all was written.
    ///
    /// # Errors
    /// Those of [`find_unshared`] and [`clean::clean_unshared`].
    pub fn write(
        &self,
        paths: &[PathBuf],
        (input, reference): (&mut Input, &mut Input),
        passages: &PassageOptions,
        terminal: &Terminal,
    ) -> Result<(Decided, Result<(), Error>), Error> {
        if self.output.is_some() {
            return Ok((self.write_folder(paths, passages, terminal)?, Ok(())));
        }
        if self.writes_verdicts {
            return self.write_verdicts(input, reference, passages, terminal);
        }
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout());
        let (found, written) = clean::write_unshared(input, reference, passages, &self.options, terminal, &mut out)?;
        let written = written.and_then(|records| {
            out.flush().map_err(|error| Error::output("cannot write results", error))?;
            Ok(records)
        });
        let records = written.as_ref().copied().unwrap_or_default();
        Ok((Decided { records, ..Decided::of(&found) }, written.map(drop)))
    }

    fn write_verdicts(
        &self,
        input: &mut Input,
        reference: &mut Input,
        passages: &PassageOptions,
        terminal: &Terminal,
    ) -> Result<(Decided, Result<(), Error>), Error> {
        let (mut out, mut records) = (PassageLines::new(WholeLines::new()), 0);
        let found = find_unshared(input, reference, passages, terminal)?;
        let checked = check_failed(self.on_error, found.counts().failed, NOTHING_WRITTEN);
        let lengths = || if self.options.allow_empty { Ok(()) } else { found.check_lengths(passages) };
        let result = checked.and_then(|()| lengths()).and_then(|()| {
            input::warn_of_ids(terminal, found.ids_repeat(), input::PLACES_OF_CONTAINING);
            for verdict in found.verdicts() {
                records += 1;
                let keep = self.options.on_error.keeps(verdict.keep, verdict.error, verdict.is_skipped);
                let error = verdict.error.map(spelling::of_rejection);
                out.passage_verdict(&PassageVerdict { keep, error: error.as_deref(), ..verdict }, found.ids_repeat())?;
            }
            out.finish()
        });
        Ok((Decided { records, ..Decided::of(&found) }, result))
    }

    fn write_folder(
        &self,
        paths: &[PathBuf],
        passages: &PassageOptions,
        terminal: &Terminal,
    ) -> Result<Decided, Error> {
        let (folder, mut decided_now) = (self.output.as_deref(), None);
        let mut review = |found: &Unshared, warnings: &[String]| {
            warnings.iter().for_each(|warning| terminal.warning(warning));
            decided_now = Some(Decided::of(found));
        };
        let options = CleanOptions { warnings: terminal.warnings(), ..self.options.clone() };
        let cleaned = clean::clean_unshared(paths, folder, passages, &options, terminal, &mut review);
        terminal.done();
        report_interrupted(terminal, folder, &cleaned);
        let cleaned = cleaned?;
        // An earlier run may have decided.
        let decided = decided_now.unwrap_or_default();
        let counts = PassageCounts { failed: cleaned.failed, ..decided.counts };
        let records = cleaned.records - cleaned.removed;
        Ok(Decided { counts, records, cleaned: Some(cleaned), ..decided })
    }
}

impl Decided {
    /// What was decided, before records are written.
    pub fn of(found: &Unshared) -> Self {
        Decided {
            counts: found.counts().clone(),
            dropped: Some(found.dropped()),
            below_min_documents: found.below_min_documents(),
            short: found.short().clone(),
            ..Decided::default()
        }
    }
}

/// The remark on documents of the reference of which a copy is too short for a passage, of `references`; with whether that holds for all.
pub fn remark_on_short(short: &ShortDocuments, references: u64, options: &PassageOptions) -> Option<(String, bool)> {
    let count = short.references;
    if count == 0 {
        return None;
    }
    let first = first_short(short, |least| format!("`min-words {least}` finds a copy of each"));
    let (have, of) = if count == 1 { ("has", "it") } else { ("have", "one") };
    // With edits, which count twice, a copy can be long enough.
    let copied = if options.similarity.is_some() { " word for word" } else { "" };
    let remark = format!(
        "{} {have} fewer than {}: a copy of {of}{copied} is not found {first}",
        counted(count, "reference document"),
        counted(options.min_words as u64, "word"),
    );
    Some((spelled(&remark).into_owned(), count == references))
}
