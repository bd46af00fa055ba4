//! Documents become signatures.

use super::document::{cut, write};
use super::rows::{Column, Input, Kind, Out, Value};
use super::sketch::{self, Sketch};
use super::spec::Spec;
use super::step::{Entry, Rows};
use crate::error::Error;
use crate::hash::{combine, mix};
use crate::run::sign::{Scratch, sort_distinct};
use crate::source::arrow::TextColumn;
use arrow_array::Int64Array;
use std::sync::Arc;

pub(super) static ENTRY: Entry = Entry {
    name: "sign",
    summary: "documents become signatures: their lengths, the hash of their tokens, their keys, an outline of what is compared, and a \
              sketch of it by which `filter` rules pairs out",
    takes: &[Column::new("doc", Kind::Long), Column::nullable("text", Kind::Text)],
    order: &[],
    gives: &[
        Column::new("doc", Kind::Long),
        Column::nullable("tokens", Kind::Long),
        Column::nullable("measured", Kind::Long),
        Column::nullable("seq_hi", Kind::Long),
        Column::nullable("seq_lo", Kind::Long),
        Column::nullable("keys", Kind::Longs),
        Column::nullable("outline", Kind::Longs),
        Column::nullable("sketch", Kind::Longs),
    ],
    learns: true,
    make: |spec| {
        let (scratch, columns) = (spec.scratch(), None);
        let (keys, compared, outline, sketch) = Default::default();
        Box::new(Sign { spec, scratch, columns, keys, compared, outline, sketch })
    },
};

struct Sign {
    spec: Arc<Spec>,
    scratch: Scratch,
    columns: Option<(Int64Array, TextColumn)>,
    keys: Vec<u64>,
    compared: Vec<u64>,
    outline: Vec<u64>,
    sketch: Vec<u64>,
}

impl Sign {
    /// Fills the keys, the outline and the sketch. Returns whether the document has features.
    fn features(&mut self) -> bool {
        let Sign { spec, scratch, keys, compared, outline, sketch, .. } = self;
        let (signer, algorithm) = (spec.signer(), spec.algorithm());
        keys.clear();
        compared.clear();
        signer.features(scratch);
        if !signer.keys(scratch, keys) {
            return false;
        }
        if algorithm.tables().is_some() {
            // The keys of one table equal those of another only by chance.
            keys.iter_mut().zip(1..).for_each(|(key, table)| *key = combine(mix(table), *key));
        }
        let distinct = sort_distinct(keys);
        keys.truncate(distinct);
        signer.compared(algorithm.compare_on(), scratch, compared);
        write(algorithm.compare_on(), compared, outline);
        sketch.clear();
        if sketch::threshold(algorithm).is_some() {
            Sketch::write(compared, sketch);
        }
        true
    }
}

impl Rows for Sign {
    fn begin(&mut self, input: &Input<'_>) -> Result<(), Error> {
        self.columns = Some((input.longs("doc")?, input.texts("text")?));
        Ok(())
    }

    fn row(&mut self, row: usize, out: &mut Out) -> Result<bool, Error> {
        let Some((docs, texts)) = &self.columns else { return Ok(true) };
        let doc = docs.value(row);
        let Some(text) = texts.get(row) else {
            let [tokens, measured, hi, lo, keys, outline, sketch] = [(); 7].map(|()| Value::None);
            out.push([Value::Long(doc), tokens, measured, hi, lo, keys, outline, sketch]);
            return Ok(true);
        };
        let measured = cut(&self.spec, doc, text, &mut self.scratch)?;
        let tokens = self.scratch.tokens.len();
        let sequence = self.spec.signer().sequence(&self.scratch);
        // Before the algorithm has learned, documents have lengths and copies.
        let has_features = self.spec.learns().is_none() && self.features();
        let list = |words| if has_features { Value::Longs(words) } else { Value::None };
        out.push([
            Value::Long(doc),
            Value::Long(tokens as i64),
            Value::Long(measured as i64),
            Value::Long((sequence >> 64) as i64),
            Value::Long(sequence as i64),
            list(&self.keys),
            list(&self.outline),
            list(&self.sketch),
        ]);
        Ok(true)
    }
}
