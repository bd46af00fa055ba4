//! Fields that were named and that no record has: they were probably mistyped.

use super::ScanOptions;
use crate::error::Error;
#[cfg(feature = "clean")]
use crate::source::Place;
use crate::source::{Problem, ProblemKind};

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
    /// Counts a document.
    #[cfg(feature = "clean")]
    pub fn document(&mut self, place: &Place, id: &str) {
        if place.line.is_some() {
            self.records += 1;
            self.unnamed += u64::from(place.names(id));
            self.has_text = true;
        }
    }

    /// Notes a problem.
    #[cfg(feature = "clean")]
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
    pub fn check(&self, options: &ScanOptions, here: &mut dyn FnMut() -> Option<String>) -> Result<(), Error> {
        match (&options.requires_id_field, &self.without_text) {
            (Some(field), _) if self.unnamed > 0 && self.unnamed == self.records => {
                let here = fields_here(here);
                Err(Error::Usage(format!("`id-field`: no record that could be read has the field '{field}'{here}")))
            }
            (_, Some(first)) if options.requires_text_field && !self.has_text => {
                Err(Error::Empty(format!("no record has a text field: {first}")))
            }
            _ => Ok(()),
        }
    }
}

/// The fields that there are, as the end of a message.
pub(super) fn fields_here(here: &mut dyn FnMut() -> Option<String>) -> String {
    here().map(|names| format!(" (fields here: {names})")).unwrap_or_default()
}

/// Whether a problem means that a record has no text, or that a file has no such column.
pub(super) fn lacks_text(problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::Text | ProblemKind::Header)
}
