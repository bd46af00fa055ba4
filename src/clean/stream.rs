//! The kept records as one stream.

use super::by_passages::{ByPassages, Deciding, refuse_format, refuse_options};
use super::decisions::{self, Condition, Conditions, Found, OfFile, Watch};
use super::request::{CleanOptions, CutReport};
use super::scan::as_source;
use crate::algorithm::AlgorithmFactory;
use crate::engine::{self, At, KeptOutcome, Observer, Report};
use crate::error::Error;
use crate::passages::{ContainOptions, CutCounts, CutOptions, PassageOptions, Uncontained, Unshared};
use crate::passages::{find_uncontained, find_unshared};
use crate::source::rest::{Failure, Form, Heading, LeftOut, Original, copy_without, format, heading};
use crate::source::{Format, Input, ReadOptions, Source};
use std::collections::HashMap;
use std::io::{self, Write};

/// Scans as [`engine::scan_to_keep`] does, and writes the kept records to a stream, byte for byte and not compressed:
/// JSON lines, lines, CSV or TSV with one header row, or WARC. With a `reference`, documents are compared with it alone.
/// Returns the report of the scan, and the number of kept records or why they were not all written.
///
/// # Errors
/// Those of the scan. In the second result: [`Error::Usage`] if the input has several formats, different header rows or
/// files that are one document; [`Error::Input`] if a file changes meanwhile; [`Error::Failed`] if
/// [`OnError::Fail`](super::OnError::Fail) applies; [`Error::Output`] if the stream cannot be written.
///
/// # Cost
/// That of the scan, and one more reading. The copy of standard input is kept until then.
pub fn write_kept(
    input: &mut Input,
    reference: Option<&mut dyn Source>,
    factory: &dyn AlgorithmFactory,
    options: &CleanOptions,
    observer: &dyn Observer,
    out: &mut (dyn Write + Send),
) -> Result<(Report, Result<u64, Error>), Error> {
    let watch = Watch::new(observer);
    input.keep_for_second_read();
    let outcome = engine::scan_to_keep(input, reference, factory, &options.engine, &watch, options.keep)?;
    let written = write(input, &outcome, &watch.conditions(), options, out);
    Ok((outcome.report().clone(), written))
}

/// Finds passages, and writes the records without those that stand earlier to a stream; otherwise as [`write_kept`]. See
/// [`cut_passages`](super::cut_passages).
///
/// # Errors
/// Those of [`find_cuts`](crate::passages::find_cuts), and of the first result of [`write_kept`]; [`Error::Usage`] if a file is of a
/// format that cannot be changed. In the second result, those of [`write_kept`].
///
/// # Cost
/// Those of [`find_cuts`](crate::passages::find_cuts), and two more readings.
pub fn write_cut(
    input: &mut Input,
    reference: &mut Option<Input>,
    passages: &PassageOptions,
    cut: &CutOptions,
    options: &CleanOptions,
    observer: &dyn Observer,
    out: &mut (dyn Write + Send),
) -> Result<(CutReport, Result<u64, Error>), Error> {
    refuse_options(&options.source)?;
    let instead = "write files instead of a stream, with `clean::cut_passages`";
    let refuse = |shown: &str, format| match format {
        Format::Parquet => Err(not_in_stream(shown, instead)),
        format => refuse_format(shown, format),
    };
    input.each_original(&mut |shown, original| {
        format(original, &options.source).map_or(Ok(()), |format| refuse(shown, format))
    })?;
    let watch = Watch::new(observer).with_unread(passages.memory);
    let mut cuts = ByPassages::new(passages, cut, options).find(input, reference, &watch)?;
    let conditions = watch.conditions();
    let mut cut_counts = CutCounts::default();
    let mut written = || {
        let headings = headings(input, &options.source)?;
        headings.iter().try_for_each(|(shown, heading)| refuse(shown, heading.format))?;
        let names: Vec<&str> = headings.iter().map(|(name, _)| name.as_str()).collect();
        let mut deciding = Deciding::new(&conditions, &names, options, true);
        deciding.decide(&mut cuts, (&mut *input, as_source(reference)), observer, &mut |_| Ok(()))?;
        let decided = deciding.finish();
        cut_counts = decided.counts;
        refuse_mixed(&headings, &decided.files, instead)?;
        join(input, &headings, &decided.files, options, out)
    };
    let written = written();
    let warnings = input.all_fields_never_found(reference.as_ref()).collect();
    let (counts, below_min_documents) = (cuts.counts().clone(), cuts.below_min_documents());
    Ok((CutReport { counts, cuts: cut_counts, below_min_documents, warnings }, written))
}

/// Chooses as [`find_uncontained`] does, and writes the records that are kept to a stream; otherwise as [`write_kept`]. Returns the choice,
/// and the number of kept records or why they were not all written.
///
/// # Errors
/// Those of [`find_uncontained`]. In the second result, those of [`write_kept`].
///
/// # Cost
/// That of [`find_uncontained`], and one more reading.
pub fn write_uncontained(
    input: &mut Input,
    reference: Option<&mut dyn Source>,
    contain: &ContainOptions,
    options: &CleanOptions,
    observer: &dyn Observer,
    out: &mut (dyn Write + Send),
) -> Result<(Uncontained, Result<u64, Error>), Error> {
    let watch = Watch::new(observer);
    input.keep_for_second_read();
    let found = find_uncontained(input, reference, contain, &watch)?;
    let verdicts = || found.verdicts().map(|verdict| (verdict.place, Found::from(&verdict)));
    let instead = "write files instead of a stream, with `clean::clean_uncontained`";
    let lengths = if options.allow_empty { Ok(()) } else { found.check_lengths() };
    let read = (&watch.conditions(), found.counts().failed, lengths);
    let written = write_whole(input, verdicts, read, options, instead, out);
    Ok((found, written))
}

/// Chooses as [`find_unshared`] does, and writes the records that are kept to a stream; otherwise as [`write_kept`]. Returns the choice,
/// and the number of kept records or why they were not all written.
///
/// # Errors
/// Those of [`find_unshared`]. In the second result, those of [`write_kept`].
///
/// # Cost
/// That of [`find_unshared`], and one more reading.
pub fn write_unshared(
    input: &mut Input,
    reference: &mut dyn Source,
    passages: &PassageOptions,
    options: &CleanOptions,
    observer: &dyn Observer,
    out: &mut (dyn Write + Send),
) -> Result<(Unshared, Result<u64, Error>), Error> {
    let watch = Watch::new(observer);
    let found = find_unshared(input, reference, passages, &watch)?;
    let verdicts = || found.verdicts().map(|verdict| (verdict.place, Found::from(&verdict)));
    let instead = "write files instead of a stream, with `clean::clean_unshared`";
    let lengths = if options.allow_empty { Ok(()) } else { found.check_lengths(passages) };
    let read = (&watch.conditions(), found.counts().failed, lengths);
    let written = write_whole(input, verdicts, read, options, instead, out);
    Ok((found, written))
}

/// Writes the records that these verdicts keep, in input order, where so many records failed, if the documents of the reference are long
/// enough. Returns their number. `instead` is what to do with files that cannot be joined.
fn write_whole<'v, V: Iterator<Item = (At<'v>, Found)>>(
    input: &mut Input,
    verdicts: impl Fn() -> V,
    (conditions, failed, lengths): (&Conditions, u64, Result<(), Error>),
    options: &CleanOptions,
    instead: &str,
    out: &mut (dyn Write + Send),
) -> Result<u64, Error> {
    decisions::check_failed(options.on_error, failed)?;
    lengths?;
    let headings = headings(input, &options.source)?;
    let names: Vec<&str> = headings.iter().map(|(name, _)| name.as_str()).collect();
    let mut files = conditions.files(&names, options.on_error);
    verdicts().for_each(|(place, found)| _ = files.take(place, found));
    let mut files = files.files;
    let left_out = verdicts().filter(|(_, found)| !matches!(found, Found::Document { keep: true }));
    decisions::without_damaged(left_out.map(|(place, _)| place), &names, &mut files);
    refuse_mixed(&headings, &files, instead)?;
    join(input, &headings, &files, options, out)
}

fn write(
    input: &mut Input,
    outcome: &KeptOutcome,
    conditions: &Conditions,
    options: &CleanOptions,
    out: &mut (dyn Write + Send),
) -> Result<u64, Error> {
    decisions::check_failed(options.on_error, outcome.report().counts.failed)?;
    let kept = outcome.kept();
    let headings = headings(input, &options.source)?;
    let names: Vec<&str> = headings.iter().map(|(name, _)| name.as_str()).collect();
    let decided = decisions::decide(&kept, &names, conditions, options.on_error, |_, _, _| Ok(()));
    let (mut files, _) = decided.map_err(|error| Error::output("cannot write results", error))?;
    let left_out = kept.located_verdicts().filter(|verdict| !verdict.keep || verdict.error.is_some());
    decisions::without_damaged(left_out.filter_map(|verdict| verdict.at), &names, &mut files);
    let instead = match outcome.report().counts.references {
        0 => "write files instead of a stream, with `clean::clean`",
        _ => "write files instead of a stream, with `clean::clean`, which compares them with each other too",
    };
    refuse_mixed(&headings, &files, instead)?;
    join(input, &headings, &files, options, out)
}

/// The beginnings of all files that can be read.
fn headings(input: &mut Input, options: &ReadOptions) -> Result<Vec<(String, Heading)>, Error> {
    let mut headings = Vec::new();
    input.each_original(&mut |shown, original| {
        if let Ok(heading) = heading(original, options) {
            headings.push((shown.to_string(), heading));
        }
        Ok(())
    })?;
    Ok(headings)
}

/// Writes files with these beginnings one after the other. Returns the number of records.
fn join(
    input: &mut Input,
    headings: &[(String, Heading)],
    files: &[OfFile],
    options: &CleanOptions,
    out: &mut (dyn Write + Send),
) -> Result<u64, Error> {
    let numbers: HashMap<&str, usize> = headings.iter().map(|(name, _)| name.as_str()).zip(0..).collect();
    let mut stream = Joined { out, format: Format::Auto, has_begun: false, last: b'\n' };
    input.each_original(&mut |shown, original| {
        let Some(&number) = numbers.get(shown) else { return Ok(()) };
        let of_file = &files[number];
        if of_file.counts.records == 0 {
            return Ok(());
        }
        stream.format = headings[number].1.format;
        let is_damaged = of_file.counts.condition != Condition::Whole;
        match stream.add(original, of_file.left_out(), &options.source) {
            Err(Failure::Write(error)) => Err(Error::output("cannot write results", error)),
            Err(Failure::Read(error) | Failure::Refused(error)) if !is_damaged => {
                Err(Error::input(format!("cannot read {shown} again"), error))
            }
            _ => Ok(()),
        }
    })?;
    stream.out.flush().map_err(|error| Error::output("cannot write results", error))?;
    Ok(files.iter().map(|file| file.counts.records - file.counts.removed).sum())
}

/// Refuses files that cannot be joined. `instead` is what to do.
fn refuse_mixed(headings: &[(String, Heading)], files: &[OfFile], instead: &str) -> Result<(), Error> {
    let mut first: Option<&(String, Heading)> = None;
    // Files without records, such as pictures, take no part.
    let with_records = headings.iter().zip(files).filter(|(_, of_file)| of_file.counts.records > 0);
    for (this, _) in with_records {
        let (name, heading) = this;
        if heading.format == Format::Parquet {
            return Err(not_in_stream(name, instead));
        }
        if matches!(heading.format, Format::Text | Format::Html | Format::Auto) {
            return Err(Error::Usage(format!("{name} is one document, which cannot be part of a stream: {instead}")));
        }
        let Some((other, known)) = first else {
            first = Some(this);
            continue;
        };
        if known.format != heading.format {
            let (known, here) = (known.format.name(), heading.format.name());
            return Err(Error::Usage(format!("{other} is {known}, and {name} is {here}: {instead}")));
        }
        if known.row != heading.row {
            return Err(Error::Usage(format!("the header rows of {other} and {name} differ: {instead}")));
        }
    }
    Ok(())
}

/// The error that Parquet files cannot be joined.
fn not_in_stream(name: &str, instead: &str) -> Error {
    Error::Usage(format!("{name} is a Parquet file, which cannot be part of a stream: {instead}"))
}

/// Files one after the other.
struct Joined<'a> {
    out: &'a mut (dyn Write + Send),
    format: Format,
    has_begun: bool,
    last: u8,
}

impl Joined<'_> {
    fn add(
        &mut self,
        original: &mut dyn Original,
        left_out: LeftOut<'_>,
        options: &ReadOptions,
    ) -> Result<(), Failure> {
        if self.last != b'\n' && self.format != Format::Warc {
            self.write_all(b"\n").map_err(Failure::Write)?;
        }
        let form = Form::Joined { is_first: !std::mem::replace(&mut self.has_begun, true) };
        copy_without(original, options, left_out, form, self)
    }
}

impl Write for Joined<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.last = bytes[..n].last().copied().unwrap_or(self.last);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
