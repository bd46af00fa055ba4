//! Counting what an algorithm learns from a whole collection.

use super::document::cut_as;
use super::rows::{Column, Input, Kind, Out, Value};
use super::spec::Spec;
use super::step::{Entry, Rows};
use crate::algorithm::Learns;
use crate::error::Error;
use crate::lexicon::{FrequencyBounds, LexiconBuilder};
use crate::run::sign::Scratch;
use crate::source::arrow::TextColumn;
use crate::tokenizer::TokenDetail;
use arrow_array::Int64Array;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) static ENTRY: Entry = Entry {
    name: "count",
    summary: "counts what the algorithm learns: in how many of the documents each thing is. Rows with equal `what` are to be added up",
    takes: &[Column::new("doc", Kind::Long), Column::nullable("text", Kind::Text)],
    order: &[],
    gives: &[Column::new("what", Kind::Long), Column::new("documents", Kind::Long)],
    learns: true,
    make: |spec| {
        let (scratch, columns) = (spec.scratch(), None);
        let (builder, classes, left) = (LexiconBuilder::new(), BTreeMap::new(), Vec::new());
        Box::new(Count { spec, scratch, columns, builder, added: 0, classes, left })
    },
};

/// After this many tokens or features of documents, what was counted goes out, so that memory is bounded.
const MOST: usize = 1 << 22;

struct Count {
    spec: Arc<Spec>,
    scratch: Scratch,
    columns: Option<(Int64Array, TextColumn)>,
    /// Terms or features, and how many were added.
    builder: LexiconBuilder,
    added: usize,
    /// How many features of documents are in each class.
    classes: BTreeMap<u64, u64>,
    /// What goes out.
    left: Vec<(u64, u64)>,
}

impl Count {
    fn add(&mut self, doc: i64, text: &str) -> Result<(), Error> {
        let Count { spec, scratch, builder, added, classes, .. } = self;
        let Some(learns) = spec.learns() else { return Ok(()) };
        let algorithm = spec.algorithm();
        let detail = if learns == Learns::Terms { TokenDetail::Hashes } else { algorithm.reads() };
        cut_as(spec, detail, doc, text, scratch)?;
        if learns != Learns::Terms {
            spec.signer().features(scratch);
        }
        let counted = match learns {
            Learns::Terms => scratch.tokens.hashes(),
            _ => {
                scratch.features.weights.clear();
                scratch.features.remove_repeats();
                &scratch.features.hashes
            }
        };
        *added += counted.len();
        if learns == Learns::FrequencyBounds {
            counted.iter().for_each(|&feature| *classes.entry(FrequencyBounds::least_class(feature)).or_default() += 1);
        } else {
            let mut tally = builder.tally();
            builder.count(&mut tally, counted)?;
            builder.give_back(tally);
        }
        Ok(())
    }

    /// Moves what was counted to what goes out.
    fn move_out(&mut self) -> Result<(), Error> {
        let lexicon = std::mem::replace(&mut self.builder, LexiconBuilder::new()).freeze(0)?;
        lexicon.for_each(|what, count| self.left.push((what, u64::from(count))))?;
        self.left.extend(std::mem::take(&mut self.classes));
        self.added = 0;
        Ok(())
    }
}

impl Rows for Count {
    fn begin(&mut self, input: &Input<'_>) -> Result<(), Error> {
        self.columns = Some((input.longs("doc")?, input.texts("text")?));
        Ok(())
    }

    fn row(&mut self, row: usize, out: &mut Out) -> Result<bool, Error> {
        if let Some((what, documents)) = self.left.pop() {
            out.push([Value::Long(what as i64), Value::Long(documents as i64)]);
            return Ok(false);
        }
        if let Some((docs, texts)) = self.columns.take() {
            let added = texts.get(row).map_or(Ok(()), |text| self.add(docs.value(row), text));
            self.columns = Some((docs, texts));
            added?;
        }
        if self.added >= MOST {
            self.move_out()?;
        }
        Ok(true)
    }

    fn end(&mut self, out: &mut Out) -> Result<bool, Error> {
        if self.left.is_empty() {
            self.move_out()?;
        }
        match self.left.pop() {
            None => Ok(true),
            Some((what, documents)) => {
                out.push([Value::Long(what as i64), Value::Long(documents as i64)]);
                Ok(false)
            }
        }
    }
}
