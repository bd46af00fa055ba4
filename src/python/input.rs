//! Documents of Python: lists of strings, tables, files.

use super::refusal::{exception, shortened};
use crate::cli::call::{Documents, SAMPLE, sample_of_files};
use crate::filter::Unnamed;
use crate::index::ROW;
use crate::report::table::Ids;
use crate::source::{ArrowTable, Counts, Input, ReadOptions, Source};
use arrow_array::builder::LargeStringBuilder;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_pyarrow::FromPyArrow;
use arrow_schema::SchemaRef;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use std::path::PathBuf;
use std::sync::Arc;

/// Documents as Python passed them, in the memory of Rust or shared with it.
pub enum Given {
    Files(Vec<PathBuf>),
    Table { schema: SchemaRef, batches: Vec<RecordBatch>, are_texts: bool },
}

/// The column of a list of texts.
const TEXT: &str = "text";

/// The problem of one that is missing.
const MISSING: &str = "the text is null (None): there is no text to compare";

impl<'py> FromPyObject<'_, 'py> for Given {
    type Error = PyErr;

    /// A pair of the kind, as `_input.py` names it, and the documents.
    fn extract(pair: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (kind, documents): (String, Bound<'_, PyAny>) = pair.extract()?;
        match &*kind {
            "files" => Ok(Given::Files(documents.extract()?)),
            "table" => table(&documents),
            "texts" => texts(documents.cast::<PyList>()?),
            other => Err(PyTypeError::new_err(format!("no kind of documents: {other}"))),
        }
    }
}

fn table(stream: &Bound<'_, PyAny>) -> PyResult<Given> {
    let mut reader = RecordBatchStreamReader::from_pyarrow_bound(stream)?;
    let schema = reader.schema();
    // A stream may be made of what Python does, which takes the lock.
    let batches = stream.py().detach(|| reader.by_ref().collect::<Result<Vec<_>, _>>());
    let batches = batches.map_err(|error| PyValueError::new_err(format!("cannot read the table: {error}")))?;
    Ok(Given::Table { schema, batches, are_texts: false })
}

fn texts(list: &Bound<'_, PyList>) -> PyResult<Given> {
    let mut column = LargeStringBuilder::new();
    for (position, text) in list.iter().enumerate() {
        if text.is_none() {
            column.append_null();
            continue;
        }
        let Ok(text) = text.cast::<PyString>() else {
            let kind = text.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "the texts must be strings, or None where one is missing, and that at position {position} is of type {kind}"
            )));
        };
        let utf8 = text.to_cow().map_err(|error| {
            PyValueError::new_err(format!("the text at position {position} cannot be encoded: {error}"))
        })?;
        column.append_value(utf8);
    }
    let column: ArrayRef = Arc::new(column.finish());
    let batch = RecordBatch::try_from_iter_with_nullable([(TEXT, column, true)]).expect("one column");
    Ok(Given::Table { schema: batch.schema(), batches: vec![batch], are_texts: true })
}

/// Documents that can be read.
pub enum Opened {
    Files(Box<Input>),
    Table(ArrowTable),
}

impl Opened {
    /// The documents.
    pub fn source(&mut self) -> &mut dyn Source {
        match self {
            Opened::Files(input) => &mut **input,
            Opened::Table(table) => table,
        }
    }

    /// What stands before the number in an index of documents that have no id of their own, given the place of one and what is its id
    /// otherwise.
    pub fn unnamed(&self) -> Box<Unnamed> {
        match self {
            Opened::Files(_) => Box::new(|_, _| None),
            Opened::Table(table) if !table.has_ids() => Box::new(|_, _| Some("")),
            Opened::Table(_) => Box::new(|place, id| place.names(id).then_some(ROW)),
        }
    }

    /// The same, of which some must have a text. They are the reference.
    pub fn required_reference(self) -> Self {
        const PARAMETER: &str = "against";
        match self {
            Opened::Files(mut input) => {
                input.require_documents(PARAMETER);
                Opened::Files(input)
            }
            Opened::Table(table) => Opened::Table(table.require_documents(PARAMETER)),
        }
    }

    /// The warning about fields that no record of files has, if there are some. A table lacks columns.
    pub fn never_found(&self) -> Option<String> {
        match self {
            Opened::Files(input) => input.fields_never_found(),
            Opened::Table(_) => None,
        }
    }

    /// What was read of files.
    pub fn counts(&self) -> Counts {
        match self {
            Opened::Files(input) => input.counts(),
            Opened::Table(_) => Counts::default(),
        }
    }

    /// Whether their ids in results are positions.
    pub fn are_positions(&self) -> bool {
        matches!(self, Opened::Table(table) if !table.has_ids())
    }

    /// The type of their ids in results.
    pub fn ids(&self) -> Ids {
        match self {
            Opened::Table(table) if !table.has_ids() => Ids::Integers,
            Opened::Table(table) if table.has_unsigned_ids() => Ids::Unsigned,
            Opened::Table(table) if table.has_integer_ids() => Ids::Integers,
            _ => Ids::Strings,
        }
    }
}

impl Given {
    /// Where they are.
    pub fn kind(&self) -> Documents {
        match self {
            Given::Files(_) => Documents::Files,
            Given::Table { are_texts: true, .. } => Documents::Texts,
            Given::Table { .. } => Documents::Tables,
        }
    }

    /// The first documents, for a hint about what is in them, unless they cannot be read: then that is an error of [`open`](Self::open).
    pub fn sample(&self, options: &ReadOptions) -> Option<Opened> {
        match self {
            Given::Files(paths) => Some(Opened::Files(Box::new(sample_of_files(paths, options)))),
            Given::Table { schema, batches, are_texts } => {
                let mut options = options.clone();
                if *are_texts {
                    options.text_fields = ReadOptions::default().text_fields;
                }
                let first = batches.iter().find(|batch| batch.num_rows() > 0)?;
                let rows = first.slice(0, first.num_rows().min(SAMPLE));
                ArrowTable::new(schema, vec![rows], &options).map(Opened::Table).ok()
            }
        }
    }

    /// The documents as a source. `names_ids` says whether the field of ids was named, so that it must be there.
    pub fn open(self, options: &ReadOptions, names_ids: bool) -> PyResult<Opened> {
        match self {
            Given::Files(paths) => Ok(Opened::Files(Box::new(Input::new(paths, options.clone())))),
            Given::Table { schema, batches, are_texts } => {
                let mut options = options.clone();
                if are_texts {
                    let defaults = ReadOptions::default();
                    (options.text_fields, options.id_field) = (defaults.text_fields, defaults.id_field);
                }
                let mut table = ArrowTable::new(&schema, batches, &options).map_err(|error| exception(&error))?;
                if are_texts {
                    table = table.of_list(MISSING, options.is_reference);
                }
                if names_ids && !are_texts && !table.has_ids() && options.id_field.name() != "none" {
                    let columns: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                    let field = if options.is_reference && options.reference.id.is_some() {
                        "against_id_field"
                    } else {
                        "id_field"
                    };
                    return Err(PyValueError::new_err(format!(
                        "invalid value '{}' for `{field}`: expected a column (columns here: {})",
                        shortened(&options.id_field.to_string()),
                        columns.join(", ")
                    )));
                }
                Ok(Opened::Table(table))
            }
        }
    }
}
