//! Fields that were named and that no record has: they were probably mistyped.

use crate::error::Error;
use crate::source::{Place, Problem, ProblemKind};

/// The fields that some record must have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredFields {
    /// Whether it is an error if records were rejected for want of a text field, and no record has one.
    pub text: bool,
    /// The name of the field of ids, if it is an error that there are records and none has an id there.
    pub id: Option<String>,
}

/// What was found in the fields of texts and ids. A document that is a whole file has no fields.
#[derive(Debug, Default)]
pub(crate) struct FieldsFound {
    /// Records with a text, and those of them without an id.
    pub records: u64,
    pub unnamed: u64,
    /// Whether one of them is not of a reference.
    pub has_text: bool,
    /// The first problem that a record has no text.
    pub without_text: Option<String>,
}

impl FieldsFound {
    /// Counts a document of the source or of a reference.
    pub fn document(&mut self, place: &Place, id: &str, is_reference: bool) {
        if place.line.is_some() {
            self.records += 1;
            self.unnamed += u64::from(place.names(id));
            self.has_text |= !is_reference;
        }
    }

    /// Adds what was found later.
    pub fn add(&mut self, next: Self) {
        self.records += next.records;
        self.unnamed += next.unnamed;
        self.has_text |= next.has_text;
        self.without_text = self.without_text.take().or(next.without_text);
    }

    /// Notes a problem of a document that is not of a reference.
    pub fn problem(&mut self, problem: &Problem) {
        if self.without_text.is_none() && lacks_text(problem) {
            self.without_text = Some(problem.to_string());
        }
    }

    /// Checks that some record has a text and some an id, in the fields that must be somewhere. `here` returns the names of
    /// those that there are.
    ///
    /// # Errors
    /// None has.
    pub fn check(&self, required: &RequiredFields, here: &mut dyn FnMut() -> Option<String>) -> Result<(), Error> {
        match (&required.id, &self.without_text) {
            (Some(field), _) if self.unnamed > 0 && self.unnamed == self.records => {
                let here = fields_here(here);
                Err(Error::Usage(format!("`id-field`: no record that could be read has the field '{field}'{here}")))
            }
            (_, Some(first)) if required.text && !self.has_text => {
                Err(Error::Empty(format!("no record has a text field: {first}")))
            }
            _ => Ok(()),
        }
    }
}

/// The fields that there are, as the end of a message.
pub(crate) fn fields_here(here: &mut dyn FnMut() -> Option<String>) -> String {
    here().map(|names| format!(" (fields here: {names})")).unwrap_or_default()
}

/// Whether a problem means that a record has no text, or that a file has no such column.
pub(crate) fn lacks_text(problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::Text | ProblemKind::Header)
}
