//! How many records lack which of several fields of the text.

use super::fields::TextFields;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts the records that lack a field of the text, where several are named, while they are read with
/// [`ReadOptions::lacking`](super::ReadOptions::lacking). A row of CSV or Parquet lacks a field if its file has no such column. Tables of Arrow are not counted.
///
/// What is read several times counts once: the reading with the most records.
#[derive(Debug, Default)]
pub struct LackingFields {
    documents: Mutex<Vec<Arc<Reading>>>,
    reference: Mutex<Vec<Arc<Reading>>>,
}

/// How many records lack which field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lacking {
    /// The number of records with fields that could be parsed.
    pub records: u64,
    /// Each field that some of them lack, in the order in which the fields are joined, and how many lack it.
    pub fields: Vec<(String, u64)>,
    /// The number of fields.
    pub named: usize,
}

impl Lacking {
    /// The fields that none of the records has, if some of them has another one.
    pub fn never_found(&self) -> Vec<&str> {
        let never = self.fields.iter().filter(|(_, lacking)| *lacking == self.records);
        let names: Vec<&str> = never.map(|(name, _)| &**name).collect();
        if names.len() < self.named { names } else { Vec::new() }
    }

    /// The warning about these fields, which the parameter of this name has: they were probably mistyped.
    pub fn warning(&self, parameter: &str) -> Option<String> {
        never_found(parameter, &self.never_found())
    }

    /// With what other records lack that have the same fields.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        let mut fields = self.fields;
        for (name, lacking) in &other.fields {
            match fields.iter_mut().find(|(known, _)| known == name) {
                Some((_, all)) => *all += lacking,
                None => fields.push((name.clone(), *lacking)),
            }
        }
        Lacking { records: self.records + other.records, fields, named: self.named.max(other.named) }
    }
}

/// The warning about fields that the parameter of this name has, and no record; `None` if there are none.
pub(super) fn never_found<S: fmt::Display>(parameter: &str, names: &[S]) -> Option<String> {
    let field = if names.len() == 1 { "field" } else { "fields" };
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let named = || format!("`{parameter}`: no record has the {field} {}", quoted.join(", "));
    (!names.is_empty()).then(|| format!("{}: only the others were compared", named()))
}

impl LackingFields {
    /// Of the documents.
    pub fn of_documents(&self) -> Lacking {
        best(&self.documents)
    }

    /// Of a reference.
    pub fn of_reference(&self) -> Lacking {
        best(&self.reference)
    }

    /// Begins a reading of the documents or of a reference, if several fields are named.
    pub(super) fn begin(&self, texts: &TextFields, is_reference: bool) -> Option<Arc<Reading>> {
        let names: Vec<String> = texts.paths().map(ToString::to_string).collect();
        if names.len() < 2 {
            return None;
        }
        let lacking = names.iter().map(|_| AtomicU64::new(0)).collect();
        let reading = Arc::new(Reading { names, lacking, records: AtomicU64::new(0) });
        let side = if is_reference { &self.reference } else { &self.documents };
        let mut readings = side.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = readings.iter().max_by_key(|reading| reading.records()).cloned();
        *readings = earlier.into_iter().chain([Arc::clone(&reading)]).collect();
        Some(reading)
    }
}

fn best(readings: &Mutex<Vec<Arc<Reading>>>) -> Lacking {
    let readings = readings.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(reading) = readings.iter().max_by_key(|reading| reading.records()) else { return Lacking::default() };
    let counts = reading.lacking.iter().map(|count| count.load(Ordering::Relaxed));
    let fields = reading.names.iter().cloned().zip(counts).filter(|(_, count)| *count > 0).collect();
    Lacking { records: reading.records(), fields, named: reading.names.len() }
}

/// The counts of one reading. Any threads may add to it.
#[derive(Debug)]
pub(super) struct Reading {
    names: Vec<String>,
    lacking: Vec<AtomicU64>,
    records: AtomicU64,
}

impl Reading {
    fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// No records so far, to be [added](Found::add).
    pub fn found(self: &Arc<Self>) -> Found {
        Found { reading: Arc::clone(self), records: 0, lacking: vec![0; self.names.len()] }
    }

    /// What the rows of a table without columns for these fields lack.
    #[cfg(feature = "files")]
    pub fn of_table(self: &Arc<Self>, missing: &[String]) -> OfTable {
        let is_missing = self.names.iter().map(|name| missing.contains(name)).collect();
        OfTable { reading: Arc::clone(self), is_missing }
    }
}

/// What was found in some records.
#[derive(Debug)]
pub(super) struct Found {
    reading: Arc<Reading>,
    pub records: u64,
    pub lacking: Vec<u64>,
}

impl Found {
    /// Adds it to the counts of the reading.
    pub fn add(self) {
        self.reading.records.fetch_add(self.records, Ordering::Relaxed);
        for (all, own) in self.reading.lacking.iter().zip(&self.lacking).filter(|(_, own)| **own > 0) {
            all.fetch_add(*own, Ordering::Relaxed);
        }
    }
}

/// Which fields the rows of a table lack.
#[cfg(feature = "files")]
#[derive(Clone, Debug)]
pub(super) struct OfTable {
    reading: Arc<Reading>,
    is_missing: Vec<bool>,
}

#[cfg(feature = "files")]
impl OfTable {
    /// What this number of rows lacks.
    pub fn rows(&self, rows: u64) -> Found {
        let lacking = self.is_missing.iter().map(|&is_missing| if is_missing { rows } else { 0 }).collect();
        Found { reading: Arc::clone(&self.reading), records: rows, lacking }
    }
}
