//! Pairs get their exact similarity.

use super::document::{Sequences, compared};
use super::rows::{Column, Input, Kind, Out, Value};
use super::spec::Spec;
use super::step::{Entry, Rows};
use crate::error::Error;
use crate::run::sign::Scratch;
use crate::source::arrow::TextColumn;
use arrow_array::{Array, Int64Array};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

pub(super) static ENTRY: Entry = Entry {
    name: "verify",
    // A result without `b` names a document whose text is not the one that was signed.
    summary: "pairs get their exact similarity, if it reaches the threshold: in each block, the documents (`kind` 0: `a` with its text) and \
              then the pairs (`kind` 1: `a` and `b`)",
    takes: &[
        Column::new("block", Kind::Long),
        Column::new("kind", Kind::Long),
        Column::new("a", Kind::Long),
        Column::nullable("b", Kind::Long),
        Column::nullable("seq_hi", Kind::Long),
        Column::nullable("seq_lo", Kind::Long),
        Column::nullable("text", Kind::Text),
    ],
    order: &["block", "kind"],
    gives: &[
        Column::new("a", Kind::Long),
        Column::nullable("b", Kind::Long),
        Column::nullable("similarity", Kind::Double),
    ],
    learns: false,
    make: |spec| {
        let (scratch, columns) = (spec.scratch(), None);
        let (at, words, set) = Default::default();
        Box::new(Verify { spec, scratch, columns, last: None, at, words, set })
    },
};

struct Columns {
    blocks: Int64Array,
    kinds: Int64Array,
    a: Int64Array,
    b: Int64Array,
    sequences: Sequences,
    texts: TextColumn,
}

struct Verify {
    spec: Arc<Spec>,
    scratch: Scratch,
    columns: Option<Columns>,
    /// The block and the kind of the last row.
    last: Option<(i64, i64)>,
    /// Where the documents of the block are in `words`; `None` for one that changed.
    at: HashMap<i64, Option<Range<usize>>>,
    words: Vec<u64>,
    /// What is compared of the last document.
    set: Vec<u64>,
}

impl Verify {
    /// What is compared of a document of the block; `None` if it changed.
    fn get(&self, doc: i64) -> Result<Option<&[u64]>, Error> {
        match self.at.get(&doc) {
            Some(place) => Ok(place.clone().map(|place| &self.words[place])),
            None => Err(Error::Usage(format!(
                "document {doc} is not in block {}, or comes after its pairs",
                self.last.map_or(0, |(block, _)| block)
            ))),
        }
    }
}

impl Rows for Verify {
    fn begin(&mut self, input: &Input<'_>) -> Result<(), Error> {
        self.columns = Some(Columns {
            blocks: input.longs("block")?,
            kinds: input.longs("kind")?,
            a: input.longs("a")?,
            b: input.optional("b")?,
            sequences: Sequences::of(input)?,
            texts: input.texts("text")?,
        });
        Ok(())
    }

    fn row(&mut self, row: usize, out: &mut Out) -> Result<bool, Error> {
        let Some(Columns { blocks, kinds, a, b, sequences, texts }) = &self.columns else { return Ok(true) };
        let (block, kind, a) = (blocks.value(row), kinds.value(row), a.value(row));
        if let Some((before, kind_before)) = self.last.filter(|&before| before > (block, kind)) {
            return Err(Error::Usage(format!(
                "rows are not in order of their block and kind: block {block} with kind {kind} comes after block {before} with kind \
                 {kind_before}"
            )));
        }
        if self.last.is_none_or(|(before, _)| before != block) {
            self.at.clear();
            self.words.clear();
        }
        self.last = Some((block, kind));
        if b.is_null(row) {
            let signed = (a, texts.get(row), sequences.get(row));
            let is_same = compared(&self.spec, signed, &mut self.scratch, &mut self.set)?;
            let start = self.words.len();
            self.words.extend_from_slice(&self.set);
            if self.at.insert(a, is_same.then_some(start..self.words.len())).is_some() {
                return Err(Error::Usage(format!(
                    "document {a} is twice in block {block}: numbers of documents must not repeat"
                )));
            }
            if !is_same {
                out.push([Value::Long(a), Value::None, Value::None]);
            }
            return Ok(true);
        }
        let b = b.value(row);
        if let (Some(first), Some(second)) = (self.get(a)?, self.get(b)?)
            && let Some(similarity) = self.spec.algorithm().compare(first, second)
        {
            out.push([Value::Long(a), Value::Long(b), Value::Double(similarity.value())]);
        }
        Ok(true)
    }
}
