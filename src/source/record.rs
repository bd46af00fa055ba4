//! One record of a source, by its number.

use super::{Place, Problem, ProblemKind, Severity, Source};
use std::ops::ControlFlow;

/// A document that was read alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Its id.
    pub id: String,
    /// The text, decoded.
    pub text: String,
    /// Its location.
    pub place: Place,
    /// How it was changed while it was read, such as a guessed encoding.
    pub changes: Vec<Problem>,
}

/// Why a document cannot be read alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoRecord {
    /// There is more than one document, and no number was given.
    Several,
    /// The file is one document, which has no number.
    Whole,
    /// It, or the file, cannot be read.
    Unreadable(Problem),
    /// Several records have this id, whether they can be read or not: the places of two of them.
    Repeated([Place; 2]),
    /// The record of this number holds no document, as the first record of many archives.
    Textless,
    /// There is no such record, or no document at all.
    Absent {
        /// How many records there are.
        records: u64,
        /// The numbers of the first and the last of them. They may have gaps: a record that spans lines has the number of
        /// the first.
        numbers: Option<(u64, u64)>,
    },
}

impl Record {
    /// Reads the record with this number from a source of one file: the line of its [`Place`], which in an archive is the
    /// number of the record and in Parquet that of the row. Without a number, reads the only document.
    ///
    /// # Errors
    /// There is no such record, or it cannot be read.
    ///
    /// # Cost
    /// Reads up to the record, and parses no other. Memory: a batch, and the record.
    ///
    /// ```
    /// use neardups::source::{Input, ReadOptions, Record};
    ///
    /// let lines = r#"{"id": "x", "text": "one"}
    /// {"id": "y", "text": "two"}"#;
    /// let options = ReadOptions { format: neardups::source::Format::Jsonl, ..ReadOptions::default() };
    /// let mut input = Input::new(vec!["-".into()], options).with_stdin(Box::new(lines.as_bytes()));
    /// assert_eq!(Record::read(&mut input, Some(2)).unwrap().id, "y");
    /// ```
    pub fn read(source: &mut dyn Source, number: Option<u64>) -> Result<Record, NoRecord> {
        match number {
            Some(number) => numbered(source, number),
            None => only(source),
        }
    }

    /// Reads the records with these ids from a source.
    ///
    /// # Errors
    /// Of each that is not there, that several records have, or that cannot be read. Records that cannot be read count if
    /// their id can. If a part of the source cannot be read, this is the error of those that are not elsewhere.
    ///
    /// # Cost
    /// Reads everything. Memory: a batch, and the records.
    ///
    /// ```
    /// use neardups::source::{Documents, Record};
    ///
    /// let mut source = Documents::new([("x", "one"), ("y", "two")].map(|(id, text)| (id.to_string(), text.to_string())));
    /// let [y, z] = Record::with_ids(&mut source, ["y", "z"]);
    /// assert_eq!(y.unwrap().text, "two");
    /// assert!(z.is_err());
    /// ```
    pub fn with_ids<const N: usize>(source: &mut dyn Source, ids: [&str; N]) -> [Result<Record, NoRecord>; N] {
        let mut found = ids.map(|_| None);
        let (mut records, mut of_file, mut changes) = (0, None, Vec::new());
        source.read(&mut |batch| {
            batch.documents(&mut |read| match read {
                Ok(document) => {
                    records += 1;
                    changes.retain(|problem: &Problem| problem.place == document.place);
                    let places = ids.iter().zip(&mut found).filter(|(id, _)| **id == document.id);
                    places
                        .for_each(|(_, slot)| add(slot, &document.place, || Ok(Record::changed(&document, &changes))));
                    changes.clear();
                }
                Err(problem) if is_fatal(&problem) => {
                    let has_id = |id: &str| problem.id.as_deref() == Some(id);
                    let places = ids.iter().zip(&mut found).filter(|(id, _)| has_id(id));
                    places.for_each(|(_, slot)| {
                        add(slot, &problem.place, || Err(NoRecord::Unreadable(problem.clone())));
                    });
                    if problem.place.line.is_none() || may_hide_others(&problem) {
                        of_file.get_or_insert(problem);
                    }
                }
                Err(problem) => changes.push(problem),
            });
            ControlFlow::Continue(())
        });
        let absent = || match &of_file {
            Some(problem) => NoRecord::Unreadable(problem.clone()),
            None => NoRecord::Absent { records, numbers: None },
        };
        found.map(|slot| slot.unwrap_or_else(|| Err(absent())))
    }

    /// A document in memory.
    #[cfg(feature = "python")]
    pub(crate) fn of_text(id: &str, text: &str) -> Self {
        Record { id: id.into(), text: text.into(), place: Place { path: id.into(), line: None }, changes: Vec::new() }
    }

    fn new(document: super::Document<'_>) -> Self {
        let (id, text) = (document.id.into_owned(), document.text.into_owned());
        Record { id, text, place: document.place, changes: Vec::new() }
    }

    fn changed(document: &super::Document<'_>, changes: &[Problem]) -> Self {
        Record {
            id: document.id.to_string(),
            text: document.text.to_string(),
            place: document.place.clone(),
            changes: changes.to_vec(),
        }
    }
}

/// Adds a record with the id of a slot.
fn add(slot: &mut Option<Result<Record, NoRecord>>, place: &Place, record: impl FnOnce() -> Result<Record, NoRecord>) {
    *slot = Some(match slot.take() {
        None => record(),
        Some(Ok(Record { place: first, .. }) | Err(NoRecord::Unreadable(Problem { place: first, .. }))) => {
            Err(NoRecord::Repeated([first, place.clone()]))
        }
        Some(repeated) => repeated,
    });
}

/// Whether a problem means that there is no document, rather than that it was changed.
fn is_fatal(problem: &Problem) -> bool {
    problem.severity > Severity::Repaired
}

/// Whether a problem means that other records may be where it is: all after it, or those of an archive up to the place
/// where reading continues.
fn may_hide_others(problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::Damaged | ProblemKind::Unreadable)
}

/// Reads the only document.
fn only(source: &mut dyn Source) -> Result<Record, NoRecord> {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    source.read(&mut |batch| {
        batch.documents(&mut |document| match document {
            // Two documents are enough for the error.
            Ok(document) if found.len() < 2 => found.push(Record::new(document)),
            Ok(_) => {}
            Err(problem) => problems.push(problem),
        });
        if found.len() < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if found.len() > 1 {
        return Err(NoRecord::Several);
    }
    if let Some(fatal) = problems.iter().position(is_fatal) {
        return Err(NoRecord::Unreadable(problems.swap_remove(fatal)));
    }
    let record = found.pop().ok_or(NoRecord::Absent { records: 0, numbers: None })?;
    Ok(Record { changes: problems, ..record })
}

/// What was found of a record.
#[derive(Default)]
struct Search {
    record: Option<Record>,
    is_whole: bool,
    is_textless: bool,
    changes: Vec<Problem>,
    /// Why the record cannot be read.
    fatal: Option<Problem>,
    /// Why the file, or a part of it, cannot be read.
    of_file: Option<Problem>,
    records: u64,
    numbers: Option<(u64, u64)>,
}

impl Search {
    /// Counts a record.
    fn count(&mut self, line: u64) {
        self.records += 1;
        let (first, last) = self.numbers.unwrap_or((line, line));
        self.numbers = Some((first.min(line), last.max(line)));
    }

    fn problem(&mut self, problem: Problem, number: u64) {
        match problem.place.line {
            Some(line) if line == number && is_fatal(&problem) => _ = self.fatal.get_or_insert(problem),
            Some(line) if line == number => self.changes.push(problem),
            None if !is_fatal(&problem) => self.changes.push(problem),
            None => _ = self.of_file.get_or_insert(problem),
            Some(_) if may_hide_others(&problem) => _ = self.of_file.get_or_insert(problem),
            Some(line) => self.count(line),
        }
    }

    fn is_done(&self) -> bool {
        self.record.is_some() || self.is_whole || self.is_textless || self.fatal.is_some()
    }
}

/// Reads the record with this number.
fn numbered(source: &mut dyn Source, number: u64) -> Result<Record, NoRecord> {
    let mut search = Search::default();
    source.read(&mut |batch| {
        let (mut others, mut is_there) = (Vec::new(), false);
        batch.selected_by_line(
            &mut |_, line| {
                others.extend(line);
                is_there |= line == Some(number);
                line.is_none_or(|line| line == number)
            },
            &mut |_, read| match read {
                Ok(document) if document.place.line == Some(number) => search.record = Some(Record::new(document)),
                Ok(_) => search.is_whole = true,
                Err(problem) => search.problem(problem, number),
            },
        );
        others.into_iter().for_each(|line| search.count(line));
        search.is_textless = is_there && search.record.is_none() && search.fatal.is_none();
        if search.is_done() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let Search { record, is_whole, is_textless, changes, fatal, of_file, records, numbers } = search;
    match (record, fatal.or(of_file)) {
        (Some(record), _) => Ok(Record { changes, ..record }),
        (None, Some(problem)) => Err(NoRecord::Unreadable(problem)),
        (None, None) if is_whole => Err(NoRecord::Whole),
        (None, None) if is_textless => Err(NoRecord::Textless),
        (None, None) => Err(NoRecord::Absent { records, numbers }),
    }
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::super::{Format, Input, ReadOptions};
    use super::*;

    fn input(bytes: &str, format: Format) -> Input {
        let options = ReadOptions { format, batch_bytes: 16, max_record: 60, ..ReadOptions::default() };
        Input::new(vec!["-".into()], options).with_stdin(Box::new(std::io::Cursor::new(bytes.to_string())))
    }

    /// A record read alone is the one that reading everything finds at its place; so are its problems.
    #[test]
    fn records_read_alone_are_those_of_the_whole_file() {
        let jsonl = "{\"id\":\"a\",\"text\":\"one\"}\n\n{\"text\":\"two\"}\n{\"id\":1}\nno json\n{\"text\":\"last\"}";
        let csv = "id,text\n1,\"two\nlines\"\n2,plain\n3\n4,\"end\"\n";
        let long = format!("short\n{}\nlast\n", "x".repeat(100));
        for (bytes, format) in [(jsonl, Format::Jsonl), (csv, Format::Csv), (&long, Format::Lines)] {
            let mut all = std::collections::BTreeMap::new();
            input(bytes, format).read(&mut |batch| {
                batch.documents(&mut |read| match read {
                    Ok(document) => _ = all.insert(document.place.line.unwrap(), Ok(Record::new(document))),
                    Err(problem) => _ = all.insert(problem.place.line.unwrap(), Err(problem)),
                });
                ControlFlow::Continue(())
            });
            assert!(all.len() > 2, "{all:?}");
            let numbers = all.keys().next().copied().zip(all.keys().last().copied());
            for number in 0..9 {
                let expected = match all.get(&number) {
                    Some(read) => read.clone().map_err(NoRecord::Unreadable),
                    None => Err(NoRecord::Absent { records: all.len() as u64, numbers }),
                };
                assert_eq!(Record::read(&mut input(bytes, format), Some(number)), expected, "{bytes} {number}");
            }
        }
    }

    #[test]
    fn records_by_their_ids() {
        let lines = "{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\",\"text\":5}\n{\"id\":\"c\",\"text\":\"\"}\nno json\n\
                     {\"id\":\"c\",\"text\":\"x\"}\n{\"text\":\"two\"}\n";
        let ids = ["a", "b", "c", "-:6", "d", "a"];
        let [a, b, c, by_place, d, again] = Record::with_ids(&mut input(lines, Format::Jsonl), ids);
        assert_eq!(a.as_ref().unwrap().text, "one");
        assert_eq!(a, again);
        assert!(matches!(b, Err(NoRecord::Unreadable(problem)) if problem.place.line == Some(2)));
        assert!(
            matches!(c, Err(NoRecord::Repeated(places)) if places.each_ref().map(|place| place.line) == [Some(3), Some(5)])
        );
        assert_eq!(by_place.unwrap().text, "two");
        assert_eq!(d, Err(NoRecord::Absent { records: 4, numbers: None }));
    }

    /// The text that is compared must not be that of whichever record can be read.
    #[test]
    fn an_id_is_repeated_also_where_a_record_cannot_be_read() {
        let (good, bad) = ("{\"id\":\"a\",\"text\":\"one\"}\n", "{\"id\":\"a\",\"text\":5}\n");
        for (lines, places) in [
            ([good, bad, ""], [1, 2]),
            ([bad, good, ""], [1, 2]),
            ([bad, bad, ""], [1, 2]),
            ([bad, good, good], [1, 2]),
            ([good, bad, good], [1, 2]),
        ] {
            let [found] = Record::with_ids(&mut input(&lines.concat(), Format::Jsonl), ["a"]);
            let places = places.map(|line| Place::new("-", Some(line)));
            assert_eq!(found, Err(NoRecord::Repeated(places)), "{lines:?}");
        }
    }

    #[test]
    fn a_whole_file_has_no_numbers() {
        assert_eq!(Record::read(&mut input("text", Format::Text), Some(1)), Err(NoRecord::Whole));
        assert_eq!(Record::read(&mut input("text", Format::Text), None).unwrap().text, "text");
        assert_eq!(Record::read(&mut input("a\nb\n", Format::Lines), None), Err(NoRecord::Several));
        let absent = NoRecord::Absent { records: 0, numbers: None };
        assert_eq!(Record::read(&mut input("", Format::Lines), None), Err(absent.clone()));
        assert_eq!(Record::read(&mut input("", Format::Lines), Some(1)), Err(absent));
    }
}
