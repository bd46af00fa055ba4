//! Results as tables: the records of [`JsonLines`](super::JsonLines) with a column for each field, in the same order.
//!
//! The tag of the records is left out, because a table has records of one kind. A field that a record lacks is null.

use super::NO_FEATURES;
use crate::engine::{At, Cluster, Fingerprint, Hosts, Kept, Outcome, Report, Verdict};
use crate::error::Error;
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, UInt64Builder, make_builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// The type of ids in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// `Int64`: positions, or ids that are integers. Others are null.
    Integers,
    /// `UInt64`: ids that are integers without a sign. Others are null.
    Unsigned,
    /// `Utf8`.
    Strings,
}

impl Ids {
    /// What pyarrow calls their type.
    #[cfg(feature = "python")]
    pub fn name(self) -> &'static str {
        match self {
            Ids::Integers => "int64",
            Ids::Unsigned => "uint64",
            Ids::Strings => "string",
        }
    }
}

/// The rows of a record batch: enough that their number does not matter, and that strings do not overflow.
const ROWS: usize = 1 << 16;

/// A table of results.
#[derive(Clone, Debug)]
pub struct Records {
    /// The columns.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
}

/// The kind of a column.
#[derive(Clone, Copy)]
enum Kind {
    Id,
    Ids,
    Text,
    Texts,
    Count,
    Number,
    Flag,
}

/// Fills a table, row by row and field by field.
struct Writer {
    ids: Ids,
    schema: SchemaRef,
    columns: Vec<Box<dyn ArrayBuilder>>,
    next: usize,
    rows: usize,
    batches: Vec<RecordBatch>,
}

impl Writer {
    fn new(ids: Ids, columns: &[(&str, Kind)]) -> Self {
        let id = match ids {
            Ids::Integers => DataType::Int64,
            Ids::Unsigned => DataType::UInt64,
            Ids::Strings => DataType::Utf8,
        };
        let list = |item: DataType| DataType::List(Arc::new(Field::new("item", item, true)));
        let field = |(name, kind): &(&str, Kind)| {
            let kind = match kind {
                Kind::Id => id.clone(),
                Kind::Ids => list(id.clone()),
                Kind::Text => DataType::Utf8,
                Kind::Texts => list(DataType::Utf8),
                Kind::Count => DataType::Int64,
                Kind::Number => DataType::Float64,
                Kind::Flag => DataType::Boolean,
            };
            Field::new(*name, kind, true)
        };
        let schema: SchemaRef = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let mut writer = Writer { ids, schema, columns: Vec::new(), next: 0, rows: 0, batches: Vec::new() };
        writer.begin();
        writer
    }

    /// Begins a record batch.
    fn begin(&mut self) {
        self.rows = 0;
        self.columns = self.schema.fields().iter().map(|field| make_builder(field.data_type(), 0)).collect();
    }

    fn flush(&mut self) {
        let columns: Vec<ArrayRef> = self.columns.iter_mut().map(|column| column.finish()).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).expect("columns of the schema, equally long");
        self.batches.push(batch);
        self.begin();
    }

    fn end_row(&mut self) {
        debug_assert_eq!(self.next, self.columns.len(), "each field was written");
        self.next = 0;
        self.rows += 1;
        if self.rows == ROWS {
            self.flush();
        }
    }

    fn finish(mut self) -> Records {
        if self.rows > 0 {
            self.flush();
        }
        Records { schema: self.schema, batches: self.batches }
    }

    /// The builder of the next column, which has this type.
    fn column<B: ArrayBuilder>(&mut self) -> &mut B {
        self.next += 1;
        self.columns[self.next - 1].as_any_mut().downcast_mut().expect("the type of the column")
    }

    fn id(&mut self, id: Option<&str>) {
        match self.ids {
            Ids::Integers => self.column::<Int64Builder>().append_option(id.and_then(|id| id.parse().ok())),
            Ids::Unsigned => self.column::<UInt64Builder>().append_option(id.and_then(|id| id.parse().ok())),
            Ids::Strings => self.text(id),
        }
    }

    fn text(&mut self, text: Option<&str>) {
        self.column::<StringBuilder>().append_option(text);
    }

    fn count(&mut self, count: Option<u64>) {
        self.column::<Int64Builder>().append_option(count.map(|count| count as i64));
    }

    fn number(&mut self, number: Option<f64>) {
        self.column::<Float64Builder>().append_option(number);
    }

    fn flag(&mut self, flag: bool) {
        self.column::<BooleanBuilder>().append_value(flag);
    }

    fn list<B: ArrayBuilder>(&mut self, fill: Option<impl FnOnce(&mut B)>) {
        let list = self.column::<ListBuilder<Box<dyn ArrayBuilder>>>();
        let is_valid = fill.is_some();
        if let Some(fill) = fill {
            fill(list.values().as_any_mut().downcast_mut().expect("the type of the elements"));
        }
        list.append(is_valid);
    }

    fn ids(&mut self, ids: &[&str]) {
        match self.ids {
            Ids::Integers => self.list(Some(|list: &mut Int64Builder| {
                ids.iter().for_each(|id| list.append_option(id.parse().ok()));
            })),
            Ids::Unsigned => self.list(Some(|list: &mut UInt64Builder| {
                ids.iter().for_each(|id| list.append_option(id.parse().ok()));
            })),
            Ids::Strings => self.list(Some(|list: &mut StringBuilder| ids.iter().for_each(|id| list.append_value(id)))),
        }
    }

    fn places(&mut self, places: Option<&Vec<At<'_>>>) {
        let fill = places.map(|places| {
            |list: &mut StringBuilder| places.iter().for_each(|place| list.append_value(place.to_string()))
        });
        self.list(fill);
    }

    fn place(&mut self, place: Option<At<'_>>) {
        self.text(place.map(|place| place.to_string()).as_deref());
    }
}

impl Records {
    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }

    /// All pairs: the records of [`JsonLines::pairs`](super::JsonLines::pairs).
    ///
    /// # Errors
    /// Those of [`Outcome::pairs`].
    pub fn pairs(outcome: &Outcome, ids: Ids) -> Result<Self, Error> {
        use Kind::{Count, Id, Number, Text};
        let columns = [
            ("a", Id),
            ("b", Id),
            ("similarity", Number),
            ("measure", Text),
            ("algo", Text),
            ("distance", Count),
            ("a_at", Text),
            ("b_at", Text),
        ];
        let (mut rows, Report { measure, algorithm, .. }) = (Writer::new(ids, &columns), &outcome.report);
        for pair in outcome.pairs() {
            let pair = pair?;
            let (a_at, b_at) = pair.places.unzip();
            rows.id(Some(pair.a));
            rows.id(Some(pair.b));
            rows.number(Some(pair.similarity.value()));
            rows.text(Some(measure));
            rows.text(Some(algorithm));
            rows.count(pair.distance.map(u64::from));
            rows.place(a_at);
            rows.place(b_at);
            rows.end_row();
        }
        Ok(rows.finish())
    }

    /// The records of [`JsonLines::cluster`](super::JsonLines::cluster).
    pub fn clusters(kept: &Kept<'_>, ids: Ids) -> Self {
        use Kind::{Count, Ids, Texts};
        let columns = [
            ("id", Count),
            ("size", Count),
            ("members", Ids),
            ("keep", Ids),
            ("members_at", Texts),
            ("keep_at", Texts),
        ];
        let mut rows = Writer::new(ids, &columns);
        for Cluster { id, members, keep, members_at, keep_at, .. } in kept.clusters() {
            rows.count(Some(id));
            rows.count(Some(members.len() as u64));
            rows.ids(&members);
            rows.ids(&keep);
            rows.places(members_at.as_ref());
            rows.places(keep_at.as_ref());
            rows.end_row();
        }
        rows.finish()
    }

    /// The records of [`JsonLines::verdict`](super::JsonLines::verdict), of these verdicts.
    pub fn verdicts<'v>(verdicts: impl Iterator<Item = (Verdict<'v>, Option<String>)>, ids: Ids) -> Self {
        use Kind::{Count, Flag, Id, Number, Text};
        let columns = [
            ("id", Id),
            ("keep", Flag),
            ("duplicate_of", Id),
            ("similarity", Number),
            ("cluster", Count),
            ("note", Text),
            ("error", Text),
            ("at", Text),
            ("duplicate_of_at", Text),
        ];
        let mut rows = Writer::new(ids, &columns);
        for (verdict, error) in verdicts {
            let (of, similarity) = verdict.duplicate_of.unzip();
            rows.id(Some(verdict.id));
            rows.flag(verdict.keep);
            rows.id(of);
            rows.number(similarity.map(|similarity| similarity.value()));
            rows.count(verdict.cluster);
            rows.text(verdict.featureless.then_some(NO_FEATURES));
            rows.text(error.as_deref());
            rows.place(verdict.at);
            rows.place(verdict.duplicate_of_at);
            rows.end_row();
        }
        rows.finish()
    }

    /// The records of [`fingerprint`](super::fingerprint), which `each` passes on.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn fingerprints<E>(
        each: impl FnOnce(&mut dyn FnMut(&Fingerprint<'_>)) -> Result<(), E>,
        ids: Ids,
    ) -> Result<Self, E> {
        use Kind::{Count, Id, Text};
        let columns = [
            ("id", Id),
            ("algo", Text),
            ("fingerprint", Text),
            ("features", Count),
            ("note", Text),
            ("error", Text),
            ("at", Text),
        ];
        let mut rows = Writer::new(ids, &columns);
        each(&mut |fingerprint| {
            rows.id(Some(fingerprint.id));
            rows.text(Some(fingerprint.algorithm));
            rows.text(fingerprint.hex().as_deref());
            rows.count(Some(fingerprint.features as u64));
            rows.text(super::note_of(fingerprint));
            rows.text(fingerprint.error);
            rows.text(fingerprint.at.map(ToString::to_string).as_deref());
            rows.end_row();
        })?;
        Ok(rows.finish())
    }

    /// A column of this name.
    pub fn flags(name: &str, flags: impl Iterator<Item = bool>) -> Self {
        let mut rows = Writer::new(Ids::Strings, &[(name, Kind::Flag)]);
        for flag in flags {
            rows.flag(flag);
            rows.end_row();
        }
        rows.finish()
    }

    /// The records of [`JsonLines::hosts`](super::JsonLines::hosts).
    ///
    /// # Errors
    /// Those of [`Hosts::pairs`].
    pub fn hosts(hosts: &Hosts) -> Result<Self, Error> {
        use Kind::{Count, Number, Text};
        let columns = [
            ("a", Text),
            ("b", Text),
            ("pages_a", Count),
            ("of_a", Count),
            ("share_a", Number),
            ("pages_b", Count),
            ("of_b", Count),
            ("share_b", Number),
        ];
        let mut rows = Writer::new(Ids::Strings, &columns);
        for pair in hosts.pairs() {
            let pair = pair?;
            rows.text(Some(pair.a));
            rows.text(Some(pair.b));
            for (pages, of) in [(pair.pages.0, pair.of.0), (pair.pages.1, pair.of.1)] {
                rows.count(Some(pages));
                rows.count(Some(of));
                rows.number(Some(super::share(pages, of)));
            }
            rows.end_row();
        }
        Ok(rows.finish())
    }
}
