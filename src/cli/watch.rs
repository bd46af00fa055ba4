//! What the records of a stream lack or hold as a rule, for a warning: a field that none has, HTML that is read as plain text.

use super::markup;
use super::terminal::Terminal;
use crate::index::is_unnamed;
use neardups::source::{Format, Problem, ProblemKind, ReadOptions};

/// The number of records at the beginning of a stream of which some should have a field. A stream has no end to wait for.
const FIRST_RECORDS: u64 = 100;

/// Watches whether a field occurs at all: if not, it may have been mistyped.
struct FieldWatch {
    /// The fields, for a message.
    field: String,
    /// The number of records without it; `None` once one had it, or a warning was given.
    without: Option<u64>,
    /// What happens to records without it, for the warning.
    happens: Option<&'static str>,
    /// The fields that the first record without it has.
    here: Option<String>,
    /// The warning that was given.
    warning: Option<String>,
}

impl FieldWatch {
    fn new(field: String, happens: Option<&'static str>) -> Self {
        FieldWatch { field, without: Some(0), happens, here: None, warning: None }
    }

    /// Notes the fields that a record has instead, as its problem lists them.
    fn note(&mut self, problem: &Problem) {
        if self.without == Some(0) {
            let here = problem.message.split_once("(fields here: ").and_then(|(_, here)| here.rsplit_once("; "));
            self.here = here.map(|(names, _)| names.to_string());
        }
    }

    /// Counts a record.
    fn see(&mut self, has_field: bool, terminal: &Terminal) {
        self.without = self.without.filter(|_| !has_field).map(|without| without + 1);
        if self.without == Some(FIRST_RECORDS) {
            self.warn(&format!("none of the first {FIRST_RECORDS} records has"), terminal);
        }
    }

    /// At the end of the stream.
    fn end(&mut self, terminal: &Terminal) {
        if self.without.is_some_and(|without| without > 0) {
            self.warn("no record has", terminal);
        }
    }

    fn warn(&mut self, none: &str, terminal: &Terminal) {
        self.without = None;
        let here = self.here.as_ref().map(|here| format!("the first one has the fields {here}"));
        let more: Vec<String> = here.into_iter().chain(self.happens.map(String::from)).collect();
        let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
        let warning = format!("{none} {}: is it mistyped?{more}", self.field);
        terminal.warning(&warning);
        self.warning = Some(warning);
    }
}

/// Watches the records of a stream.
pub struct InputWatch {
    texts: FieldWatch,
    /// Unless the field of ids was not typed.
    ids: Option<FieldWatch>,
    /// The first records, until it is known whether they hold pages.
    first: Option<First>,
    of_pages: Option<String>,
}

/// The first records of a stream, as lines.
struct First {
    options: ReadOptions,
    lines: Vec<u8>,
    records: usize,
}

/// After so many records, and after [`markup::SAMPLE`], it is judged whether records hold pages.
const FIRST_LOOK: usize = 10;

/// The bytes of records that are kept for this at most.
const MOST_FIRST: usize = 1 << 20;

impl InputWatch {
    /// For records that are read in this way; `happens` says what happens to those without a text.
    pub fn new(options: &ReadOptions, names_ids: bool, happens: Option<&'static str>) -> Self {
        let holds_fields = matches!(options.format, Format::Jsonl | Format::Auto) && !options.pages_in_fields;
        let first = || First { options: options.clone(), lines: Vec::new(), records: 0 };
        InputWatch {
            texts: FieldWatch::new(format!("a text in --text-field {}", options.text_fields), happens),
            ids: names_ids.then(|| FieldWatch::new(format!("an id in --id-field '{}'", options.id_field), None)),
            first: holds_fields.then(first),
            of_pages: None,
        }
    }

    /// Notes a record that had a document.
    pub fn decided(&mut self, line: &[u8], id: &str, terminal: &Terminal) {
        self.texts.see(true, terminal);
        if let Some(ids) = &mut self.ids {
            ids.see(!is_unnamed(id), terminal);
        }
        let Some(first) = &mut self.first else { return };
        let fits = first.lines.len() + line.len() <= MOST_FIRST;
        if fits {
            first.lines.extend_from_slice(line.trim_ascii_end());
            first.lines.push(b'\n');
            first.records += 1;
        } else {
            // No later one is taken in its place.
            first.records = markup::SAMPLE;
        }
        if first.records == FIRST_LOOK || first.records == markup::SAMPLE {
            self.look(terminal);
        }
    }

    /// Looks whether the first records hold pages. There is one warning at most.
    fn look(&mut self, terminal: &Terminal) {
        let Some(First { options, lines, records }) = &self.first else { return };
        self.of_pages = markup::pages_in_lines(lines, options);
        if self.of_pages.is_some() || *records >= markup::SAMPLE {
            self.first = None;
        }
        self.of_pages.iter().for_each(|warning| terminal.warning(warning));
    }

    /// Notes a record that could not be read.
    pub fn rejected(&mut self, problem: &Problem, terminal: &Terminal) {
        // A field that has another value is not mistyped.
        if problem.kind == ProblemKind::Text {
            self.texts.note(problem);
            self.texts.see(!problem.lacks_field, terminal);
        }
        if let Some(ids) = self.ids.as_mut().filter(|_| problem.id.is_some() || problem.kind == ProblemKind::Id) {
            ids.see(true, terminal);
        }
    }

    /// At the end of the stream.
    pub fn end(&mut self, terminal: &Terminal) {
        self.texts.end(terminal);
        self.ids.iter_mut().for_each(|ids| ids.end(terminal));
        self.look(terminal);
    }

    /// The warnings that were given.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let fields = [Some(&self.texts), self.ids.as_ref()].into_iter().flatten();
        fields.filter_map(|watch| watch.warning.clone()).chain(self.of_pages.clone())
    }
}
