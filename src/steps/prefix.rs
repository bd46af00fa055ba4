//! Very many documents under one key: pairs by a prefix filter.

use super::document::{Member, Sequences, compared, write};
use super::rows::{Column, Input, Kind, Out, Value};
use super::spec::Spec;
use super::step::{Entry, Rows};
use crate::error::Error;
use crate::hash::combine;
use crate::postings::{Families, Prefixes, Wanted};
use crate::run::sign::Scratch;
use crate::similarity::Threshold;
use crate::similarity::bound::Bound;
use crate::source::arrow::TextColumn;
use arrow_array::Int64Array;
use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

pub(super) static ENTRY: Entry = Entry {
    name: "prefix",
    // A row without `key` and `b` names a document whose text is not the one that was signed.
    summary: "the documents under a hot key become pairs with their similarity, by the elements that are rare among them; if they do not \
              fit the memory, those elements become keys, for `pairs` with `hot` 0",
    takes: &[
        Column::new("hot", Kind::Long),
        Column::new("doc", Kind::Long),
        Column::new("last", Kind::Long),
        Column::new("seq_hi", Kind::Long),
        Column::new("seq_lo", Kind::Long),
        Column::nullable("text", Kind::Text),
    ],
    order: &["hot", "doc"],
    gives: &[
        Column::nullable("key", Kind::Long),
        Column::nullable("doc", Kind::Long),
        Column::nullable("last", Kind::Long),
        Column::nullable("outline", Kind::Longs),
        Column::nullable("a", Kind::Long),
        Column::nullable("b", Kind::Long),
        Column::nullable("similarity", Kind::Double),
    ],
    learns: false,
    make: |spec| {
        let bound = spec.algorithm().profile().bound().unwrap_or(Bound::Jaccard(Threshold::LEAST));
        let (scratch, held) = (spec.scratch(), Held::default());
        Box::new(Prefix {
            spec,
            scratch,
            bound,
            columns: None,
            last: None,
            set: Vec::new(),
            held,
            work: Work::Collecting,
        })
    },
};

/// The number of documents whose elements decide their order, if not all fit the memory.
const FIRST: usize = 512;

/// The documents of a key that are in memory.
#[derive(Default)]
struct Held {
    members: Vec<Member>,
    words: Vec<u64>,
    ends: Vec<usize>,
}

impl Held {
    fn get(&self, number: usize) -> &[u64] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[number]]
    }

    fn push(&mut self, member: Member, compared: &[u64]) {
        self.members.push(member);
        self.words.extend_from_slice(compared);
        self.ends.push(self.words.len());
    }
}

/// What is done with the documents of a key.
enum Work {
    /// They are collected.
    Collecting,
    /// All are there, and each is compared with those before it: its number is `next`.
    Joining { families: Box<Families>, family: u32, next: usize },
    /// Not all fit the memory. Those that are there become keys, from this number on, and so do those that follow.
    Splitting { prefixes: Box<Prefixes>, next: usize },
}

struct Prefix {
    spec: Arc<Spec>,
    scratch: Scratch,
    bound: Bound,
    columns: Option<(Int64Array, Int64Array, Int64Array, Sequences, TextColumn)>,
    /// The key and the document of the last row.
    last: Option<(i64, i64)>,
    /// What is compared of the last document.
    set: Vec<u64>,
    held: Held,
    work: Work,
}

impl Prefix {
    /// Begins to join the documents that are there, all of one key.
    fn join(&mut self) {
        let held = &self.held;
        let mut families = Box::new(Families::new(self.bound));
        let numbers: Vec<u32> = (0..held.members.len() as u32).collect();
        let set = |number: u32| Ok::<_, Infallible>(Cow::Borrowed(held.get(number as usize)));
        let Ok((family, _)) = families.family_for(&numbers, set);
        self.work = Work::Joining { families, family, next: 0 };
    }

    /// Compares the next document with those before it. Returns whether there are no more.
    fn join_next(&mut self, out: &mut Out) -> Result<bool, Error> {
        let Prefix { spec, held, work: Work::Joining { families, family, next }, .. } = self else {
            return Ok(true);
        };
        let Some(&b) = held.members.get(*next) else { return Ok(true) };
        let (number, set, against) = (*next, held.get(*next), spec.options().against);
        let found = families.find(*family, set, |_| Wanted::Yes);
        for other in found.map_err(|error| Error::io("cannot search the documents of a hot key", error))? {
            let a = held.members[other as usize];
            if !a.may_pair(b, against) {
                continue;
            }
            if let Some(similarity) = spec.algorithm().compare(held.get(other as usize), set) {
                let [none, nothing, missing, lacking] = [Value::None, Value::None, Value::None, Value::None];
                let pair = (Value::Long(a.doc), Value::Long(b.doc), Value::Double(similarity.value()));
                out.push([none, nothing, missing, lacking, pair.0, pair.1, pair.2]);
            }
        }
        families.add(*family, number as u32, set);
        *next += 1;
        Ok(*next >= held.members.len())
    }

    /// Makes keys of those that do not fit the memory: the order of elements is that of the first.
    fn split(&mut self) {
        let first: Vec<Cow<'_, [u64]>> = (0..self.held.members.len().min(FIRST))
            .map(|number| self.bound.weighed(self.held.get(number)).elements)
            .collect();
        let prefixes = Prefixes::new(self.bound, 0, first.iter().map(|set| &**set));
        self.work = Work::Splitting { prefixes: Box::new(prefixes), next: 0 };
    }

    /// Makes keys of a document.
    fn split_one(&self, prefixes: &Prefixes, member: Member, compared: &[u64], out: &mut Out) {
        let mut outline = Vec::new();
        write(self.spec.algorithm().compare_on(), compared, &mut outline);
        let hot = self.last.map_or(0, |(hot, _)| hot as u64);
        for element in prefixes.elements(compared) {
            let key = Value::Long(combine(hot, element) as i64);
            let (doc, last) = (Value::Long(member.doc), Value::Long(member.last));
            out.push([key, doc, last, Value::Longs(&outline), Value::None, Value::None, Value::None]);
        }
    }

    /// Does a part of what the documents that are there leave to do. Returns whether nothing is left.
    fn finalize(&mut self, out: &mut Out) -> Result<bool, Error> {
        match &mut self.work {
            Work::Collecting if self.held.members.is_empty() => return Ok(true),
            Work::Collecting => {
                self.join();
                return Ok(false);
            }
            Work::Joining { .. } => {
                if !self.join_next(out)? {
                    return Ok(false);
                }
            }
            Work::Splitting { next, .. } if *next < self.held.members.len() => {
                let number = *next;
                *next += 1;
                if let Work::Splitting { prefixes, .. } = &self.work {
                    self.split_one(prefixes, self.held.members[number], self.held.get(number), out);
                }
                return Ok(false);
            }
            Work::Splitting { .. } => {}
        }
        self.held = Held::default();
        Ok(true)
    }

    fn is_collecting(&self) -> bool {
        matches!(self.work, Work::Collecting)
    }

    fn is_splitting(&self) -> bool {
        matches!(self.work, Work::Splitting { .. })
    }

    /// Whether there is no room for more documents in memory.
    fn is_full(&self) -> bool {
        let Held { members, words, .. } = &self.held;
        // The families take about as much as the sets.
        let bytes = 16 * words.len() + 64 * members.len();
        bytes as u64 > self.spec.options().memory && members.len() >= 2
    }
}

impl Rows for Prefix {
    fn begin(&mut self, input: &Input<'_>) -> Result<(), Error> {
        let (hot, doc, last) = (input.longs("hot")?, input.longs("doc")?, input.longs("last")?);
        self.columns = Some((hot, doc, last, Sequences::of(input)?, input.texts("text")?));
        Ok(())
    }

    fn row(&mut self, row: usize, out: &mut Out) -> Result<bool, Error> {
        let Some((hot, docs, lasts, sequences, texts)) = &self.columns else { return Ok(true) };
        let (hot, doc) = (hot.value(row), docs.value(row));
        let before = self.last;
        if before.is_some_and(|before| before >= (hot, doc)) {
            let (key, last) = before.unwrap_or_default();
            return Err(Error::Usage(format!(
                "rows are not in order of their key and document: key {hot} with document {doc} comes after key {key} with document \
                 {last}"
            )));
        }
        if before.is_some_and(|(key, _)| key != hot) && !(self.held.members.is_empty() && self.is_collecting()) {
            if self.finalize(out)? {
                self.work = Work::Collecting;
            }
            return Ok(false);
        }
        if self.is_splitting() && !self.held.members.is_empty() {
            self.finalize(out)?;
            return Ok(false);
        }
        let member = Member { doc, last: lasts.value(row) };
        let signed = (doc, texts.get(row), sequences.get(row));
        let is_same = compared(&self.spec, signed, &mut self.scratch, &mut self.set)?;
        self.last = Some((hot, doc));
        if !is_same {
            let doc = Value::Long(doc);
            out.push([Value::None, Value::None, Value::None, Value::None, doc, Value::None, Value::None]);
            return Ok(true);
        }
        if let Work::Splitting { prefixes, .. } = &self.work {
            self.split_one(prefixes, member, &self.set, out);
            return Ok(true);
        }
        self.held.push(member, &self.set);
        if self.is_full() {
            self.split();
        }
        Ok(true)
    }

    fn end(&mut self, out: &mut Out) -> Result<bool, Error> {
        if self.held.members.is_empty() {
            return Ok(true);
        }
        self.finalize(out)
    }
}
