//! Results: as tables of pyarrow, and as lists of dictionaries.

use crate::report::table::Records as Table;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_pyarrow::IntoPyArrow;
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A table of results.
#[pyclass(frozen, module = "neardups._native")]
pub struct Records(pub Table);

#[pymethods]
impl Records {
    /// The table of pyarrow, which shares the memory.
    fn to_table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Table { schema, batches } = &self.0;
        let table = arrow_pyarrow::Table::try_new(batches.clone(), schema.clone());
        table.map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))?.into_pyarrow(py)
    }

    /// A dictionary for each row, without the fields that are null.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for batch in &self.0.batches {
            let schema = batch.schema();
            let names: Vec<_> =
                schema.fields().iter().map(|field| pyo3::types::PyString::intern(py, field.name())).collect();
            for row in 0..batch.num_rows() {
                let record = PyDict::new(py);
                for (name, column) in names.iter().zip(batch.columns()) {
                    // JSON has `null` for a document without a fingerprint.
                    if column.is_valid(row) || name == "fingerprint" {
                        record.set_item(name, value(py, column, row)?)?;
                    }
                }
                list.append(record)?;
            }
        }
        Ok(list)
    }

    /// The numbers of the rows whose first column is true.
    fn positions(&self) -> Vec<usize> {
        let flags = |batch: &RecordBatch| -> Vec<bool> {
            batch.column(0).as_boolean().iter().map(|flag| flag == Some(true)).collect()
        };
        let kept = self.0.batches.iter().flat_map(flags).enumerate().filter(|(_, is_kept)| *is_kept);
        kept.map(|(row, _)| row).collect()
    }

    fn __len__(&self) -> usize {
        self.0.rows() as usize
    }
}

fn value<'py>(py: Python<'py>, column: &dyn Array, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::Boolean => column.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any(),
        _ => {
            let elements = column.as_list::<i32>().value(row);
            let list = PyList::empty(py);
            for element in 0..elements.len() {
                list.append(value(py, &elements, element)?)?;
            }
            list.into_any()
        }
    })
}
