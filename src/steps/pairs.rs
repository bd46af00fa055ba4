//! Documents that share a key become pairs.

use super::document::{Judged, Member, Outlines};
use super::rows::{Column, Input, Kind, Lists, Out, Value};
use super::spec::Spec;
use super::step::{Entry, Rows};
use crate::error::Error;
use crate::similarity::bound::Bound;
use arrow_array::Int64Array;
use std::sync::Arc;

pub(super) static ENTRY: Entry = Entry {
    name: "pairs",
    summary: "documents that share a key become pairs, unless outlines rule these out; where fingerprints are compared, with their \
              similarity; very many under one key are passed on as hot",
    takes: &[
        Column::new("key", Kind::Long),
        Column::new("doc", Kind::Long),
        Column::new("last", Kind::Long),
        Column::new("outline", Kind::Longs),
    ],
    order: &["key"],
    gives: &[
        Column::new("a", Kind::Long),
        Column::nullable("b", Kind::Long),
        Column::nullable("similarity", Kind::Double),
        Column::nullable("hot", Kind::Long),
        Column::nullable("last", Kind::Long),
    ],
    learns: false,
    make: |spec| {
        // No key of vectors is hot: whether the filter spares comparisons is not asked here.
        let has_prefixes = matches!(spec.algorithm().profile().bound(), Some(Bound::Jaccard(_)));
        let hot = Some(spec.options().hot).filter(|&hot| hot > 0 && has_prefixes);
        let outlines = Outlines::new(spec.algorithm());
        Box::new(Pairs { spec, hot, columns: None, key: None, members: Vec::new(), outlines, is_hot: false, next: 0 })
    },
};

struct Pairs {
    spec: Arc<Spec>,
    /// The number of documents from which on a key is hot.
    hot: Option<usize>,
    columns: Option<(Int64Array, Int64Array, Int64Array, Lists)>,
    key: Option<i64>,
    /// The documents of the key so far, unless it is hot.
    members: Vec<Member>,
    outlines: Outlines,
    is_hot: bool,
    /// The first of them that was not yet paired with those before it.
    next: usize,
}

impl Pairs {
    /// Pairs a document with those before it.
    fn pair(&self, second: usize, out: &mut Out) -> Result<(), Error> {
        let (algorithm, b) = (self.spec.algorithm(), self.members[second]);
        for (first, &a) in self.members[..second].iter().enumerate() {
            if a.doc == b.doc {
                return Err(Error::Usage(format!(
                    "document {} is twice under the key {}: numbers of documents must not repeat",
                    a.doc,
                    self.key.unwrap_or_default()
                )));
            }
            if !a.may_pair(b, self.spec.options().against) {
                continue;
            }
            let similarity = match self.outlines.judge(algorithm, first, second) {
                Judged::Below => continue,
                Judged::Open => Value::None,
                Judged::Similar(similarity) => Value::Double(similarity.value()),
            };
            let (a, b) = (Value::Long(a.doc.min(b.doc)), Value::Long(a.doc.max(b.doc)));
            out.push([a, b, similarity, Value::None, Value::None]);
        }
        Ok(())
    }

    /// Pairs the next document of the key, if it is known whether that is hot. Returns whether there are no more.
    fn advance(&mut self, out: &mut Out) -> Result<bool, Error> {
        if self.next < self.members.len() {
            self.pair(self.next, out)?;
            self.next += 1;
        }
        Ok(self.next >= self.members.len())
    }

    /// Begins with another key.
    fn start(&mut self, key: i64) {
        (self.key, self.is_hot, self.next) = (Some(key), false, 0);
        self.members.clear();
        self.outlines.clear();
    }

    fn pass_on(&self, Member { doc, last }: Member, out: &mut Out) {
        let key = Value::Long(self.key.unwrap_or_default());
        out.push([Value::Long(doc), Value::None, Value::None, key, Value::Long(last)]);
    }
}

impl Rows for Pairs {
    fn begin(&mut self, input: &Input<'_>) -> Result<(), Error> {
        self.columns = Some((input.longs("key")?, input.longs("doc")?, input.longs("last")?, input.lists("outline")?));
        Ok(())
    }

    fn row(&mut self, row: usize, out: &mut Out) -> Result<bool, Error> {
        let Some((keys, docs, lasts, outlines)) = &self.columns else { return Ok(true) };
        let key = keys.value(row);
        if self.key != Some(key) {
            if let Some(before) = self.key.filter(|&before| before > key) {
                return Err(Error::Usage(format!("rows are not in order of their key: {key} comes after {before}")));
            }
            if !self.advance(out)? {
                return Ok(false);
            }
            self.start(key);
            return Ok(false);
        }
        let member = Member { doc: docs.value(row), last: lasts.value(row) };
        if self.is_hot {
            self.pass_on(member, out);
            return Ok(true);
        }
        self.members.push(member);
        self.outlines.push(outlines, row)?;
        match self.hot {
            None => {
                self.advance(out)?;
            }
            Some(hot) if self.members.len() >= hot => {
                // Nothing was said about them yet.
                self.is_hot = true;
                std::mem::take(&mut self.members).into_iter().for_each(|member| self.pass_on(member, out));
                self.outlines.clear();
            }
            Some(_) => {}
        }
        Ok(true)
    }

    fn end(&mut self, out: &mut Out) -> Result<bool, Error> {
        self.advance(out)
    }
}
