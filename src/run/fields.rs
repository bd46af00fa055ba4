//! Fields that were named and that no record has: they were probably mistyped.

use crate::error::Error;
use crate::run::batches::Side;
use crate::source::{Problem, ProblemKind, is_name_of};

/// The fields that some record must have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredFields {
    /// Whether it is an error if records were rejected for want of a text field, and no record has one.
    pub text: bool,
    /// The name of the field of ids, if it is an error that there are records and none has an id there.
    pub id: Option<String>,
    /// The name of the field of ids of the reference, if it has one of its own, with the same effect.
    pub reference_id: Option<String>,
}

/// What was found in the fields of texts and ids. A document that is a whole file has no fields.
#[derive(Debug, Default)]
pub(crate) struct FieldsFound {
    /// Records with a text, and those of them without an id: of the documents, and of a reference.
    pub records: [u64; 2],
    pub unnamed: [u64; 2],
    /// Whether one of them is not of a reference.
    pub has_text: bool,
    /// The first problem that a record has no text.
    pub without_text: Option<String>,
}

impl FieldsFound {
    /// Counts a document of the source or of a reference, with its path and its line.
    pub fn document(&mut self, place: (&str, Option<u64>), id: &str, is_reference: bool) {
        if place.1.is_some() {
            self.records[usize::from(is_reference)] += 1;
            self.unnamed[usize::from(is_reference)] += u64::from(is_name_of(place, id));
            self.has_text |= !is_reference;
        }
    }

    /// Adds what was found later.
    pub fn add(&mut self, next: Self) {
        for side in [0, 1] {
            self.records[side] += next.records[side];
            self.unnamed[side] += next.unnamed[side];
        }
        self.has_text |= next.has_text;
        self.without_text = self.without_text.take().or(next.without_text);
    }

    /// Notes a problem of a document that is not of a reference.
    pub fn problem(&mut self, problem: &Problem) {
        if self.without_text.is_none() && lacks_text(problem) {
            self.without_text = Some(problem.to_string());
        }
    }

    /// The number of records without an id, on both sides.
    pub fn all_unnamed(&self) -> u64 {
        self.unnamed.iter().sum()
    }

    /// Checks that some record has a text and some an id, in the fields that must be somewhere. `here` returns the names of
    /// those of the documents, if `false`, or of a reference.
    ///
    /// # Errors
    /// None has.
    pub fn check(&self, required: &RequiredFields, here: &mut dyn FnMut(bool) -> Option<String>) -> Result<(), Error> {
        let missing = |parameter: &str, field: &str, here: String| {
            Error::Usage(format!("`{parameter}`: no record that could be read has the field '{field}'{here}"))
        };
        let ([own, of_reference], [unnamed, unnamed_there]) = (self.records, self.unnamed);
        // Where a reference has no field of its own, an id on either side shows that the name is right.
        let (own, unnamed) = match &required.reference_id {
            Some(field) if unnamed_there > 0 && unnamed_there == of_reference => {
                return Err(missing("against-id-field", field, fields_here(&mut || here(true))));
            }
            Some(_) => (own, unnamed),
            None => (own + of_reference, unnamed + unnamed_there),
        };
        match (&required.id, &self.without_text) {
            (Some(field), _) if unnamed > 0 && unnamed == own => {
                Err(missing("id-field", field, fields_here(&mut || here(false))))
            }
            (_, Some(first)) if required.text && !self.has_text => Err(Error::NoText(first.clone())),
            _ => Ok(()),
        }
    }
}

/// The names of the fields of the documents, or of a reference.
pub(crate) fn field_names(sides: &mut [Side<'_>], of_reference: bool) -> Option<String> {
    sides.iter_mut().filter(|side| side.reference == of_reference).find_map(|side| side.source.field_names())
}

/// The fields that there are, as the end of a message.
pub(crate) fn fields_here(here: &mut dyn FnMut() -> Option<String>) -> String {
    here().map(|names| format!(" (fields here: {names})")).unwrap_or_default()
}

/// Whether a problem means that a record has no text, or that a file has no such column.
pub(crate) fn lacks_text(problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::Text | ProblemKind::Header)
}
