//! Pairs that cannot be similar are ruled out before texts move for them.

use super::rows::{Column, Input, Kind, Lists, Out, Value};
use super::sketch::{self, Sketch};
use super::step::{Entry, Rows};
use crate::error::Error;
use crate::similarity::Threshold;
use arrow_array::{Array, Int64Array};
use std::collections::HashMap;

pub(super) static ENTRY: Entry = Entry {
    name: "filter",
    summary: "the pairs that sketches do not rule out: in each block, the documents (`kind` 0: `a` with its sketch) and then the pairs \
              (`kind` 1: `a` and `b`)",
    takes: &[
        Column::new("block", Kind::Long),
        Column::new("kind", Kind::Long),
        Column::new("a", Kind::Long),
        Column::nullable("b", Kind::Long),
        Column::nullable("sketch", Kind::Longs),
    ],
    order: &["block", "kind"],
    gives: &[Column::new("block", Kind::Long), Column::new("a", Kind::Long), Column::new("b", Kind::Long)],
    learns: false,
    make: |spec| {
        let threshold = sketch::threshold(spec.algorithm());
        Box::new(Filter { threshold, columns: None, last: None, sketches: HashMap::new() })
    },
};

struct Columns {
    blocks: Int64Array,
    kinds: Int64Array,
    a: Int64Array,
    b: Int64Array,
    sketches: Lists,
}

struct Filter {
    /// `None` if sketches rule nothing out.
    threshold: Option<Threshold>,
    columns: Option<Columns>,
    /// The block and the kind of the last row.
    last: Option<(i64, i64)>,
    /// Those of the documents of the block.
    sketches: HashMap<i64, Option<Sketch>>,
}

impl Filter {
    fn get(&self, doc: i64, block: i64) -> Result<Option<&Sketch>, Error> {
        self.sketches
            .get(&doc)
            .map(Option::as_ref)
            .ok_or_else(|| Error::Usage(format!("document {doc} is not in block {block}, or comes after its pairs")))
    }
}

impl Rows for Filter {
    fn begin(&mut self, input: &Input<'_>) -> Result<(), Error> {
        self.columns = Some(Columns {
            blocks: input.longs("block")?,
            kinds: input.longs("kind")?,
            a: input.longs("a")?,
            b: input.optional("b")?,
            sketches: input.lists("sketch")?,
        });
        Ok(())
    }

    fn row(&mut self, row: usize, out: &mut Out) -> Result<bool, Error> {
        let Some(Columns { blocks, kinds, a, b, sketches }) = &self.columns else { return Ok(true) };
        let (block, kind, a) = (blocks.value(row), kinds.value(row), a.value(row));
        if let Some((before, kind_before)) = self.last.filter(|&before| before > (block, kind)) {
            return Err(Error::Usage(format!(
                "rows are not in order of their block and kind: block {block} with kind {kind} comes after block {before} with kind \
                 {kind_before}"
            )));
        }
        if self.last.is_none_or(|(before, _)| before != block) {
            self.sketches.clear();
        }
        self.last = Some((block, kind));
        if b.is_null(row) {
            if self.sketches.insert(a, Sketch::read(sketches.get(row))?).is_some() {
                return Err(Error::Usage(format!(
                    "document {a} is twice in block {block}: numbers of documents must not repeat"
                )));
            }
            return Ok(true);
        }
        let b = b.value(row);
        let may_be_similar = match (self.threshold, self.get(a, block)?, self.get(b, block)?) {
            (Some(threshold), Some(first), Some(second)) => first.can_reach(second, threshold),
            _ => true,
        };
        if may_be_similar {
            out.push([Value::Long(block), Value::Long(a), Value::Long(b)]);
        }
        Ok(true)
    }
}
