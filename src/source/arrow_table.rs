//! Documents in the memory format of Arrow.

use super::arrow::{Columns, ROW, Rows, Wanted};
use super::batch::Part;
use super::{Batch, PageText, Problem, ProblemKind, ReadOptions, Severity, Source};
use crate::error::Error;
use crate::readable::counted;
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The maximum number of rows that are parsed as one piece. What is kept of a document takes memory, too.
const MAX_ROWS: usize = 16 << 10;

/// A [`Source`] over record batches, which stay in memory and are not copied. Any number of threads read them. A row is a document,
/// as in Parquet. Without a column of ids, the id of a row is its position, from 0; its place is `row:0`, `row:1`, … in any case, and so
/// is the id of a row where that is null.
///
/// ```
/// use arrow_array::{RecordBatch, StringArray, ArrayRef};
/// use neardups::source::{ArrowTable, ReadOptions};
/// use std::sync::Arc;
///
/// let texts: ArrayRef = Arc::new(StringArray::from(vec!["the quick brown fox", "the quick brown fox!"]));
/// let batch = RecordBatch::try_from_iter([("text", texts)])?;
/// let table = ArrowTable::new(&batch.schema(), [batch], &ReadOptions::default())?;
/// assert!(!table.has_ids());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ArrowTable {
    batches: Vec<(Arc<Columns>, u64, usize)>,
    /// The columns of texts that are not there, and what to add about them.
    missing: Vec<(String, String)>,
    /// The messages about columns that are read and have the name of another one.
    repeated: Vec<String>,
    has_ids: bool,
    has_unsigned_ids: bool,
    first_id: u64,
    max_record: usize,
    pages: Option<PageText>,
    batch_bytes: usize,
    /// The names of the columns.
    fields: Option<String>,
    /// What the table is in an error, if some row must have a text.
    required: Option<&'static str>,
}

impl ArrowTable {
    /// The rows of these batches, which all have this schema, with the columns that the options name. Of the options, also the
    /// ranking, the maximum size of a record and whether fields are pages apply.
    ///
    /// # Errors
    /// None of the columns of texts is there, or a wanted column has another type.
    pub fn new(
        schema: &Schema,
        batches: impl IntoIterator<Item = RecordBatch>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let empty = RecordBatch::new_empty(SchemaRef::new(schema.clone()));
        let wanted = Wanted::new(&empty, options)?;
        // What is wrong with a schema shows without any rows.
        let columns = wanted.columns(&empty)?;
        let mut table = ArrowTable {
            batches: Vec::new(),
            has_ids: columns.has_ids(),
            has_unsigned_ids: columns.has_unsigned_ids(),
            first_id: 0,
            missing: wanted.missing.iter().map(|(path, why)| (path.to_string(), why.clone())).collect(),
            repeated: wanted.repeated.clone(),
            max_record: options.max_record,
            pages: options.field_pages(),
            batch_bytes: options.batch_bytes,
            fields: Some(wanted.here.clone()),
            required: None,
        };
        for batch in batches {
            let first = table.rows();
            table.batches.push((Arc::new(wanted.columns(&batch)?), first, batch.num_rows()));
        }
        Ok(table)
    }

    /// Counts from this number where positions are ids, instead of from 0.
    #[must_use]
    pub fn with_ids_from(self, first_id: u64) -> Self {
        ArrowTable { first_id, ..self }
    }

    /// Makes it a [failure](Source::failure) of a reading if no row has a text. `parameter` names the table in the error.
    #[must_use]
    pub fn require_documents(self, parameter: &'static str) -> Self {
        ArrowTable { required: Some(parameter), ..self }
    }

    /// The same rows, in the messages those of a list, which has no columns.
    #[cfg(feature = "python")]
    pub(crate) fn of_list(mut self, missing: &str, is_reference: bool) -> Self {
        let null = super::arrow::missing_text(missing, is_reference).into();
        for (columns, ..) in &mut self.batches {
            Arc::get_mut(columns).expect("a table that is not read").set_null(&null);
        }
        ArrowTable { fields: None, ..self }
    }

    /// Whether there is a column of ids.
    pub fn has_ids(&self) -> bool {
        self.has_ids
    }

    /// Whether ids are integers, without nulls.
    pub fn has_integer_ids(&self) -> bool {
        self.has_ids && self.batches.iter().all(|(columns, _, rows)| columns.has_integer_ids(*rows))
    }

    /// Whether ids are integers of 64 bits without a sign, which may be greater than any with one; without nulls.
    pub fn has_unsigned_ids(&self) -> bool {
        self.has_unsigned_ids && self.has_integer_ids()
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.batches.last().map_or(0, |(_, first, rows)| first + *rows as u64)
    }

    /// Passes on the rows of a record batch, in ranges of about the size of a batch.
    fn deliver(
        &self,
        (columns, first, rows): &(Arc<Columns>, u64, usize),
        deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut start, mut bytes) = (0, 0);
        for row in 0..*rows {
            bytes += columns.bytes(row);
            let end = row + 1;
            if end == *rows || end - start == MAX_ROWS || bytes >= self.batch_bytes as u64 {
                let first = first + start as u64;
                let part =
                    Rows { columns: columns.clone(), first, first_id: self.first_id, start, count: end - start, bytes };
                deliver(Batch::of_rows(Part::Arrow { rows: part, max_record: self.max_record, pages: self.pages }))?;
                (start, bytes) = (end, 0);
            }
        }
        ControlFlow::Continue(())
    }
}

impl Source for ArrowTable {
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>) {
        if !self.missing.is_empty() || !self.repeated.is_empty() {
            let mut batch = Batch::default();
            let mut note = |kind, message| batch.reject(Problem::new(Severity::Repaired, kind, ROW, None, message));
            for (column, why) in &self.missing {
                note(ProblemKind::MissingColumn, format!("no text column '{column}'{why}: the others were read"));
            }
            self.repeated.iter().for_each(|message| note(ProblemKind::RepeatedColumn, message.clone()));
            if deliver(batch).is_break() {
                return;
            }
        }
        // The rest is not wanted.
        _ = self.batches.iter().try_for_each(|batch| self.deliver(batch, deliver));
    }

    fn failure(&self) -> Option<Error> {
        let parameter = self.required?;
        let mut batches = self.batches.iter();
        if batches.any(|(columns, _, rows)| (0..*rows).any(|row| columns.has_text(row))) {
            return None;
        }
        let why = match self.rows() {
            0 => "it has none".to_string(),
            1 => "its only row has no text".to_string(),
            rows => format!("none of its {} has a text", counted(rows, "row")),
        };
        Some(Error::Empty(format!(
            "`{parameter}`: no document was read: {why} (use `allow-empty` if that is expected)"
        )))
    }

    fn field_names(&mut self) -> Option<String> {
        self.fields.clone()
    }

    fn total_bytes(&self) -> Option<u64> {
        let bytes = |columns: &Columns, rows| (0..rows).map(|row| columns.bytes(row)).sum::<u64>();
        Some(self.batches.iter().map(|(columns, _, rows)| bytes(columns, *rows)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FieldPath, IdFields, RankBy, TextFields};
    use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int8Type, Int32Type};
    use arrow_array::{
        ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray, DurationMicrosecondArray,
        FixedSizeBinaryArray, Float16Array, Int8Array, Int64Array, IntervalYearMonthArray, LargeBinaryArray, ListArray,
        NullArray, StringArray, StringViewArray, StructArray,
    };
    use arrow_schema::{DataType, Field};

    fn options(texts: &[&str]) -> ReadOptions {
        ReadOptions { text_fields: TextFields::parse("text-field", texts).unwrap(), ..ReadOptions::default() }
    }

    fn table(batches: &[RecordBatch], options: &ReadOptions) -> Result<ArrowTable, Error> {
        ArrowTable::new(&batches[0].schema(), batches.to_vec(), options)
    }

    /// Documents as `place id|text`, problems as `severity place: message`.
    fn shown(table: &mut ArrowTable) -> Vec<String> {
        let mut out = Vec::new();
        table.read(&mut |batch| {
            batch.documents(&mut |read| {
                out.push(match read {
                    Ok(document) => format!("{} {}|{}", document.place, document.id, document.text),
                    Err(problem) => format!("{:?} {problem} {:?}", problem.severity, problem.id),
                });
            });
            ControlFlow::Continue(())
        });
        out
    }

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
    }

    fn strings(texts: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringArray::from(texts.to_vec()))
    }

    #[test]
    fn positions_are_ids_and_count_over_all_batches() {
        let batches =
            [batch(vec![("text", strings(&[Some("a"), None]))]), batch(vec![("text", strings(&[Some("c")]))])];
        let mut table = table(&batches, &options(&["text"])).unwrap();
        let null = "Failed row:1: text column 'text' is null: there is no text to compare";
        let expected = ["row:0 0|a".into(), format!("{null} Some(\"1\")"), "row:2 2|c".into()];
        assert_eq!(shown(&mut table), expected);
        assert_eq!(shown(&mut table), expected);
        assert_eq!((table.rows(), table.has_ids()), (3, false));
        assert_eq!(shown(&mut table.with_ids_from(7))[2], "row:2 9|c");
    }

    #[test]
    fn a_null_id_is_the_position() {
        let texts = || ("text", strings(&[Some("a"), Some("b")]));
        let ids = [
            strings(&[Some("x"), None]),
            Arc::new(Int64Array::from(vec![Some(-7), None])) as ArrayRef,
            Arc::new([Some("x"), None].into_iter().collect::<DictionaryArray<Int32Type>>()),
        ];
        for (ids, first) in ids.into_iter().zip(["x", "-7", "x"]) {
            let mut table = table(&[batch(vec![texts(), ("id", ids)])], &options(&["text"])).unwrap();
            assert_eq!(shown(&mut table), [format!("row:0 {first}|a"), "row:1 row:1|b".into()]);
            assert!(table.has_ids() && !table.has_integer_ids());
        }
    }

    #[test]
    fn several_columns_make_one_id() {
        let batch = batch(vec![
            ("text", strings(&[Some("a"), Some("b"), Some("c")])),
            ("repo", strings(&[Some("r,s"), Some("r"), None])),
            ("n", Arc::new(Int64Array::from(vec![Some(-7), None, Some(1)]))),
        ]);
        let with = |ids: &str| {
            let options = ReadOptions { id_field: IdFields::new(ids).unwrap(), ..options(&["text"]) };
            table(std::slice::from_ref(&batch), &options).unwrap()
        };
        let mut both = with("repo,n");
        assert_eq!(shown(&mut both), ["row:0 r\\,s,-7|a", "row:1 row:1|b", "row:2 row:2|c"]);
        assert!(both.has_ids() && !both.has_integer_ids() && !both.has_unsigned_ids());
        // A table without one of the columns has no ids.
        let mut one = with("repo,url");
        assert_eq!((shown(&mut one)[0].as_str(), one.has_ids()), ("row:0 0|a", false));
    }

    #[test]
    fn texts_in_structs_lists_and_several_columns() {
        let words: ArrayRef = Arc::new(StringViewArray::from(vec![Some("one"), None, Some("two"), Some("three")]));
        let item = Arc::new(Field::new("item", DataType::Utf8View, true));
        let lengths = arrow_buffer::OffsetBuffer::from_lengths([2, 0, 2]);
        let lists: ArrayRef = Arc::new(ListArray::new(item.clone(), lengths, words, None));
        let field = Arc::new(Field::new("words", lists.data_type().clone(), true));
        let nulls = Some(vec![true, true, false].into());
        let doc: ArrayRef = Arc::new(StructArray::new(vec![field].into(), vec![lists], nulls));
        let titles = strings(&[Some("t"), Some("u"), None]);
        let batch = batch(vec![("title", titles), ("doc", doc)]);
        let null = "text column 'title' or 'doc.words[]' is null: there is no text to compare";
        let mut table = table(&[batch], &options(&["title,doc.words[],body"])).unwrap();
        let expected = [
            "Repaired row: no text column 'body': the others were read None",
            "row:0 0|t\n\none",
            "row:1 1|u",
            &format!("Failed row:2: {null} Some(\"2\")"),
        ];
        assert_eq!(shown(&mut table), expected);
    }

    #[test]
    fn columns_of_one_name_are_noted_if_they_are_read() {
        let one = |text| strings(&[Some(text)]);
        let batch = batch(vec![("text", one("a")), ("x", one("b")), ("text", one("c")), ("x", one("d"))]);
        let mut table = table(&[batch], &options(&["text"])).unwrap();
        let note = "Repaired row: 2 columns are named 'text': the first one was read None";
        assert_eq!(shown(&mut table), [note, "row:0 0|a"]);
    }

    #[test]
    fn chosen_elements_of_lists() {
        // Of three rows: four turns, one that is null, and two.
        let turns = [
            (Some("system"), Some("a")),
            (Some("user"), Some("b")),
            (None, Some("c")),
            (Some("user"), Some("d")),
            (Some("user"), Some("of a null")),
            (Some("user"), None),
            (Some("user "), Some("e")),
        ];
        let column =
            |texts: Vec<Option<&str>>, name| (Arc::new(Field::new(name, DataType::Utf8, true)), strings(&texts));
        let nulls = Some(vec![true, true, true, true, true, true, true].into());
        let (fields, columns): (Vec<_>, Vec<_>) = [
            column(turns.iter().map(|turn| turn.0).collect(), "role"),
            column(turns.iter().map(|turn| turn.1).collect(), "content"),
        ]
        .into_iter()
        .unzip();
        let turns: ArrayRef = Arc::new(StructArray::new(fields.into(), columns, nulls));
        let item = Arc::new(Field::new("item", turns.data_type().clone(), true));
        let lengths = arrow_buffer::OffsetBuffer::from_lengths([4, 1, 2]);
        let chat: ArrayRef = Arc::new(ListArray::new(item, lengths, turns, Some(vec![true, false, true].into())));
        let name = strings(&[Some("x"), None, None]);
        let batch = batch(vec![("chat", chat), ("chat[0]", name), ("other", strings(&[Some("o"); 3]))]);
        let texts = |path: &str| {
            let shown = shown(&mut table(std::slice::from_ref(&batch), &options(&[path])).unwrap());
            shown.iter().map(|row| row.split_once('|').map_or("", |(_, text)| text).to_owned()).collect::<Vec<_>>()
        };
        for (path, expected) in [
            ("chat[role=user].content", ["b\n\nd", "", ""]),
            ("chat[role=system].content", ["a", "", ""]),
            ("chat[0].content", ["a", "", ""]),
            ("chat[1].content", ["b", "", "e"]),
            ("chat[-1].content", ["d", "", "e"]),
            ("chat[-3].content,other", ["b\n\no", "o", "o"]),
            // A text counts once, where it is found first.
            ("chat[-1].content,chat[].content", ["d\n\na\n\nb\n\nc", "", "e"]),
            ("chat[role=user].role,chat[1].content", ["user\n\nuser\n\nb", "", "user\n\ne"]),
            ("chat[role=user].content,chat[role=user].role", ["b\n\nd\n\nuser\n\nuser", "", "user"]),
            // A column with brackets in its name.
            ("chat[0]", ["x", "", ""]),
            (r"other,chat\[0]", ["o\n\nx", "o", "o"]),
        ] {
            assert_eq!(texts(path), expected, "{path}");
        }
        let error =
            table(std::slice::from_ref(&batch), &options(&["chat[kind=user].content"])).unwrap_err().to_string();
        assert!(error.contains("expected a column of texts (columns here: chat, chat[0], other)"), "{error}");
    }

    /// One list of strings in each row.
    fn lists_of(texts: &[Option<&str>]) -> ArrayRef {
        let item = Arc::new(Field::new("item", DataType::Utf8, true));
        let lengths = arrow_buffer::OffsetBuffer::from_lengths(texts.iter().map(|_| 1));
        Arc::new(ListArray::new(item, lengths, strings(texts), None))
    }

    #[test]
    fn a_column_with_brackets_in_its_name_is_not_mixed_with_elements() {
        let named = strings(&[Some("x"), Some("y")]);
        let batch = batch(vec![("chat[0]", named), ("chat", lists_of(&[Some("a"), Some("b")]))]);
        // The column of this name, then each element of the lists; a column that two paths lead to counts once.
        for (path, expected) in [
            ("chat[0],chat[]", ["row:0 0|x\n\na", "row:1 1|y\n\nb"]),
            ("chat[],chat[0]", ["row:0 0|a\n\nx", "row:1 1|b\n\ny"]),
            (r"chat[0],chat\[0]", ["row:0 0|x", "row:1 1|y"]),
            ("chat[-1],chat[]", ["row:0 0|a", "row:1 1|b"]),
        ] {
            let mut table = table(std::slice::from_ref(&batch), &options(&[path])).unwrap();
            assert_eq!(shown(&mut table), expected, "{path}");
        }
    }

    #[test]
    fn a_column_with_brackets_in_its_name_takes_precedence_whatever_its_type() {
        let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let batch = batch(vec![("chat[0]", number), ("chat", lists_of(&[Some("a")]))]);
        for path in ["chat[0]", "chat[0],chat[]", "chat[],chat[0]"] {
            let error = table(std::slice::from_ref(&batch), &options(&[path])).unwrap_err().to_string();
            assert!(error.contains("'chat[0]'") && error.contains("it is of type Int64"), "{error}");
        }
        // No column has both of these names.
        let error = table(&[batch], &options(&["chat[0].c"])).unwrap_err().to_string();
        assert!(error.contains("it is of type Utf8"), "{error}");
    }

    #[test]
    fn a_field_that_is_no_string_chooses_nothing() {
        let fields = vec![Field::new("n", DataType::Int64, true), Field::new("c", DataType::Utf8, true)];
        let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![1])), strings(&[Some("a")])];
        let turns: ArrayRef = Arc::new(StructArray::new(fields.into(), columns, None));
        let item = Arc::new(Field::new("item", turns.data_type().clone(), true));
        let chat: ArrayRef = Arc::new(ListArray::new(item, arrow_buffer::OffsetBuffer::from_lengths([1]), turns, None));
        let batch = batch(vec![("text", strings(&[Some("t")])), ("chat", chat)]);
        let mut found = table(std::slice::from_ref(&batch), &options(&["text,chat[n=1].c"])).unwrap();
        let remark =
            "Repaired row: no text column 'chat[n=1].c' (its field 'n' is no string): the others were read None";
        assert_eq!(shown(&mut found), [remark, "row:0 0|t"]);
        let error = table(&[batch], &options(&["chat[n=1].c"])).unwrap_err().to_string();
        let expected = "a column of texts, and field 'n' of 'chat[n=1].c' is no string (columns here: text, chat)";
        assert!(error.ends_with(expected), "{error}");
    }

    #[test]
    fn columns_that_are_missing_or_of_another_type() {
        let batch = batch(vec![("text", strings(&[Some("a")])), ("n", Arc::new(Int64Array::from(vec![1])))]);
        let error = |options: ReadOptions| table(std::slice::from_ref(&batch), &options).unwrap_err().to_string();
        assert_eq!(
            error(options(&["body"])),
            "invalid value 'body' for `text_field`: expected a column of texts (columns here: text, n)"
        );
        let number = "expected a column of strings, and it is of type Int64 (columns here: text, n)";
        assert_eq!(error(options(&["n"])), format!("invalid value 'n' for `text_field`: {number}"));
        let inside = options(&["text.x"]);
        assert!(error(inside).contains("it is of type Utf8"), "a string has no fields");
        let by = |field: &str| RankBy::Greatest(FieldPath::parse("keep", field).unwrap());
        let mut ranked = options(&["text"]);
        ranked.ranking.by = vec![by("text")];
        assert!(
            shown(&mut table(std::slice::from_ref(&batch), &ranked).unwrap())[0]
                .contains("neither a number nor a time")
        );
    }

    #[test]
    fn values_that_rank_rows() {
        let batch = batch(vec![
            ("text", strings(&[Some("a"), Some("b"), Some("c")])),
            ("lang", Arc::new([Some("en"), None, Some("de")].into_iter().collect::<DictionaryArray<Int32Type>>())),
            ("flag", Arc::new(BooleanArray::from(vec![Some(false), None, Some(true)]))),
            ("n", Arc::new(Int64Array::from(vec![Some(1), Some(2), None]))),
            (
                "list",
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), None, Some(vec![])])),
            ),
            ("raw", Arc::new(arrow_array::BinaryArray::from(vec![Some(&b"en"[..]), None, None]))),
        ]);
        let path = |field: &str| FieldPath::parse("keep", field).unwrap();
        let is = |field: &str, value: &str| RankBy::Is(path(field), value.into());
        let ranks = |by: Vec<RankBy>| {
            let mut ranked = options(&["text"]);
            ranked.ranking.by = by;
            let (mut table, mut ranks) = (table(std::slice::from_ref(&batch), &ranked)?, Vec::new());
            table.read(&mut |batch| {
                batch.documents(&mut |read| ranks.push(read.unwrap().rank));
                ControlFlow::Continue(())
            });
            let mut order: Vec<usize> = (0..3).collect();
            order.sort_by(|&one, &other| ranks[one].cmp(&ranks[other]));
            Ok::<_, Error>(order)
        };
        assert_eq!(ranks(vec![is("flag", "true")]).unwrap(), [2, 0, 1]);
        assert_eq!(ranks(vec![is("flag", "false"), is("lang", "de")]).unwrap(), [0, 2, 1]);
        assert_eq!(ranks(vec![is("lang", "fr"), RankBy::Greatest(path("n"))]).unwrap(), [1, 0, 2]);
        assert_eq!(ranks(vec![is("n", "1.0"), is("nowhere", "x"), is("n", "2")]).unwrap(), [0, 1, 2]);
        assert_eq!(ranks(vec![is("list", "a list"), is("list", "1"), is("lang", "de")]).unwrap(), [2, 0, 1]);
        assert_eq!(ranks(vec![is("raw", "en"), is("lang", "de")]).unwrap(), [0, 2, 1]);
        let error = ranks(vec![is("flag", "true"), RankBy::Least(path("flag"))]).unwrap_err().to_string();
        assert!(error.contains("expected a column of numbers or times, and it is of type Boolean"), "{error}");
    }

    /// As of a file of Parquet with these columns.
    #[test]
    fn types_that_rank_rows() {
        let dictionary = |values: ArrayRef, keys: [Option<i8>; 3]| -> ArrayRef {
            Arc::new(DictionaryArray::<Int8Type>::new(Int8Array::from(keys.to_vec()), values))
        };
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(9), None, Some(5)]));
        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![false, true]));
        let raw = || vec![Some(&b"5"[..]), None, Some(&b"9"[..])];
        let fixed = FixedSizeBinaryArray::try_from_iter([b"5", b"7", b"9"].into_iter()).unwrap();
        let half = Float16Array::from_iter_values(
            [0x3c00u16, 0xc000, 0x4000].map(<<Float16Type as ArrowPrimitiveType>::Native>::from_bits),
        );
        let numbers_of = [
            (dictionary(numbers, [Some(2), Some(1), Some(0)]), "9", [2, 0, 1]),
            (Arc::new(DurationMicrosecondArray::from(vec![Some(5), None, Some(9)])), "9", [2, 0, 1]),
            (Arc::new(BinaryArray::from(raw())), "9", [2, 0, 1]),
            (Arc::new(LargeBinaryArray::from(raw())), "9", [2, 0, 1]),
            (Arc::new(BinaryViewArray::from(raw())), "9", [2, 0, 1]),
            (Arc::new(half), "2", [2, 0, 1]),
            (Arc::new(NullArray::new(3)), "x", [0, 1, 2]),
        ];
        let never: [(ArrayRef, _); 3] = [
            (Arc::new(fixed), "FixedSizeBinary(1)"),
            (Arc::new(IntervalYearMonthArray::from(vec![5, 7, 9])), "Interval(YearMonth)"),
            (dictionary(flags, [Some(1), Some(0), None]), "Dictionary(Int8, Boolean)"),
        ];
        let order = |column: &ArrayRef, rule: RankBy| {
            let batch = batch(vec![("text", strings(&[Some("a"), Some("b"), Some("c")])), ("v", column.clone())]);
            let mut ranked = options(&["text"]);
            ranked.ranking.by = vec![rule];
            let (mut table, mut ranks) = (table(&[batch], &ranked)?, Vec::new());
            table.read(&mut |batch| {
                batch.documents(&mut |read| ranks.push(read.unwrap().rank));
                ControlFlow::Continue(())
            });
            let mut order = [0, 1, 2];
            order.sort_by(|&one, &other| ranks[one].cmp(&ranks[other]));
            Ok::<_, Error>(order)
        };
        let path = FieldPath::parse("keep", "v").unwrap();
        for (column, last, greatest) in &numbers_of {
            assert_eq!(order(column, RankBy::Greatest(path.clone())).unwrap(), *greatest, "{column:?}");
            let first = greatest[0];
            assert_eq!(order(column, RankBy::Is(path.clone(), last.to_string())).unwrap()[0], first, "{column:?}");
        }
        for (column, name) in &never {
            let error = order(column, RankBy::Least(path.clone())).unwrap_err().to_string();
            let expected =
                format!("expected a column of numbers or times, and it is of type {name} (columns here: text, v)");
            assert!(error.ends_with(&expected), "{error}");
        }
        let of_flags = order(&never[2].0, RankBy::Is(path.clone(), "true".into())).unwrap();
        assert_eq!(of_flags, [0, 1, 2]);
        let of_bytes = order(&never[0].0, RankBy::Is(path.clone(), "9".into())).unwrap();
        assert_eq!(of_bytes, [0, 1, 2], "no value");
    }

    #[test]
    fn a_table_that_must_have_documents() {
        let failure = |texts: &[Option<&str>]| {
            let batch = batch(vec![("text", strings(texts))]);
            let mut table = table(&[batch], &options(&["text"])).unwrap();
            assert!(table.failure().is_none(), "not required");
            assert_eq!(table.field_names().as_deref(), Some("text"));
            table.require_documents("against").failure().map(|error| error.to_string())
        };
        let because =
            |why| Some(format!("`against`: no document was read: {why} (use `allow-empty` if that is expected)"));
        assert_eq!(failure(&[]), because("it has none"));
        assert_eq!(failure(&[None]), because("its only row has no text"));
        assert_eq!(failure(&[None, None]), because("none of its 2 rows has a text"));
        assert_eq!(failure(&[None, Some("")]), None, "a document without words is one");
        let mut of_reference = options(&["text"]);
        of_reference.is_reference = true;
        let mut table = table(&[batch(vec![("text", strings(&[None]))])], &of_reference).unwrap();
        let problem = "row:0: in the reference: text column 'text' is null: there is no text to compare";
        assert_eq!(shown(&mut table), [format!("Failed {problem} Some(\"0\")")]);
    }

    #[test]
    fn many_rows_are_cut_into_batches() {
        let texts: Vec<String> = (0..3 * MAX_ROWS).map(|n| n.to_string()).collect();
        let batch = batch(vec![("text", Arc::new(StringArray::from(texts.clone())))]).slice(1, texts.len() - 1);
        let (mut ids, mut bytes) = (Vec::new(), Vec::new());
        let mut small = options(&["text"]);
        small.batch_bytes = 75_000;
        table(std::slice::from_ref(&batch), &small).unwrap().read(&mut |batch| {
            bytes.push(batch.bytes_read());
            batch.documents(&mut |document| ids.push(document.unwrap().text.into_owned()));
            ControlFlow::Continue(())
        });
        assert_eq!(ids, texts[1..]);
        assert_eq!(table(&[batch], &small).unwrap().total_bytes(), Some(bytes.iter().sum()));
        assert!(bytes.len() == 4 && bytes.iter().all(|bytes| *bytes <= 75_005), "{bytes:?}");
    }
}
