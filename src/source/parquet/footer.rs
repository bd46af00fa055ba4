//! The metadata at the end of a file: the schema, in which the wanted columns are found, and the row groups, which are
//! parsed one at a time.

use std::borrow::Cow;

use super::fault::{Damage, Fault};
use super::taken::{Choice, Taken};
use super::thrift::{Kind, Thrift};
use crate::source::fields::{choose_column, null_column, quoted, takes_place};
use crate::source::jsonl::display_names;
use crate::source::path::Step;
use crate::source::ranking::{FieldRules, FieldValue, among};
use crate::source::{FieldPath, ProblemKind, ReadOptions};

/// The maximum number of elements of a schema. It bounds memory.
const MAX_ELEMENTS: u64 = 1 << 20;

/// The maximum depth of groups in groups. It bounds the time that the path of a column takes.
const MAX_DEPTH: usize = 100;

/// The kind of a column's values, as they are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Physical {
    /// Texts or bytes of any length.
    Bytes,
    /// Values of this many bytes.
    Fixed(usize),
    /// Values of one bit.
    Bit,
}

/// How the values of an id column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdKind {
    Text,
    Signed,
    Unsigned,
    Uuid,
}

/// How the values of a column that ranks rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    /// Texts, and numbers in decimal notation.
    Text,
    Bool,
    Signed,
    Unsigned,
    /// Of 32 or 64 bits.
    Float,
    /// Of 16 bits.
    Half,
    /// A date, or a point in time, since the beginning of 1970, in units of this many nanoseconds.
    Time {
        unit: u64,
    },
    /// A point in time in 96 bits: the nanoseconds of a day, and the number of the day.
    DayAndTime,
}

/// A column that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Its number among the columns of the file.
    pub ordinal: u64,
    pub physical: Physical,
    /// The definition level of a value that is not null.
    pub max_level: u32,
    /// The repetition level of a further value of the innermost list; 0 if the column is in none.
    pub max_repetition: u32,
}

/// What is read of a file.
#[derive(Debug)]
pub(super) struct Columns {
    /// Those of the texts, in the order in which they are joined; then those that decide which elements of lists are chosen.
    pub texts: Vec<Column>,
    /// For each of the texts, which elements of the lists around it are chosen, the outermost list first.
    pub choices: Vec<Vec<Choice>>,
    /// The first path that chooses elements, if there is one.
    #[cfg_attr(not(feature = "clean"), allow(dead_code, reason = "for copies"))]
    pub chosen: Option<String>,
    /// The columns of texts that do not exist.
    pub missing: Vec<String>,
    /// The messages about those of them whose elements are chosen by a field that is no string.
    pub unchosen: Vec<String>,
    /// The messages about columns that are read and have the name of another one.
    pub repeated: Vec<String>,
    /// The first column of texts whose type is that of JSON, if there is one.
    #[cfg_attr(not(feature = "clean"), allow(dead_code, reason = "for copies"))]
    pub json: Option<String>,
    /// Those of the id; none unless all are there.
    pub ids: Vec<(Column, IdKind)>,
    /// The values that rank rows, and what ranks them.
    pub ranks: Vec<(Column, NumberKind)>,
    pub rules: FieldRules,
    /// The value of each field of the rules in every row, unless it is that of the next one of these columns.
    pub values: Vec<Option<FieldValue<'static>>>,
    /// The messages about columns that should rank rows, and have no values that can.
    pub unranked: Vec<String>,
    /// The message about a row without a text.
    pub null: String,
}

impl Columns {
    /// The numbers of the columns that are read: of texts, of the id, of what ranks rows. A column may be read as several.
    pub fn ordinals(&self) -> impl Iterator<Item = u64> {
        let (ids, ranks) = (self.ids.iter().map(|(id, _)| id), self.ranks.iter().map(|(rank, _)| rank));
        self.texts.iter().chain(ids).chain(ranks).map(|column| column.ordinal)
    }
}

/// The metadata of a file.
pub(super) struct Footer {
    bytes: Vec<u8>,
    /// Where the next row group begins, and how many follow.
    next: usize,
    left: u64,
}

/// A row group, with the part of the file where each wanted column is.
#[derive(Debug)]
pub(super) struct Group {
    pub rows: u64,
    pub texts: Vec<Chunk>,
    pub ids: Vec<Chunk>,
    pub ranks: Vec<Chunk>,
}

impl Group {
    /// The parts of the file where its columns are, each once.
    pub fn chunks(&self) -> Vec<Chunk> {
        let mut chunks: Vec<Chunk> = self.texts.iter().chain(&self.ids).chain(&self.ranks).copied().collect();
        chunks.sort_unstable_by_key(|chunk| chunk.start);
        chunks.dedup_by_key(|chunk| chunk.start);
        chunks
    }
}

/// The part of a file where a column of a row group is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chunk {
    pub codec: i64,
    pub values: u64,
    pub start: u64,
    pub length: u64,
}

impl Footer {
    /// Parses the metadata, and finds the columns.
    pub fn parse(bytes: Vec<u8>, options: &ReadOptions) -> Result<(Self, Columns), Fault> {
        let (schema, groups) = Self::parts(&bytes)?;
        let columns = Schema::parse(&bytes[schema..])?.columns(options)?;
        let mut thrift = Thrift::new(&bytes[groups..]);
        let left = structures(&mut thrift)?;
        let next = bytes.len() - thrift.rest().len();
        Ok((Footer { bytes, next, left }, columns))
    }

    /// The paths of the columns with one value in each row, for a message.
    pub fn column_names(bytes: &[u8]) -> Result<String, Damage> {
        let (schema, _) = Self::parts(bytes)?;
        let schema = Schema::parse(&bytes[schema..])?;
        Ok(schema.names(|element| schema.repetition(element) == 0))
    }

    /// Where the schema and the row groups begin.
    fn parts(bytes: &[u8]) -> Result<(usize, usize), Damage> {
        let (mut schema, mut groups) = (None, None);
        Thrift::new(bytes).fields(&mut |thrift, number, kind| {
            let at = bytes.len() - thrift.rest().len();
            match (number, kind) {
                (2, Kind::List) => schema = Some(at),
                (4, Kind::List) => groups = Some(at),
                _ => {}
            }
            Ok(false)
        })?;
        schema.zip(groups).ok_or("its metadata has no schema or no row groups".into())
    }

    /// The next row group. None comes after one that cannot be parsed.
    pub fn next(&mut self, columns: &Columns) -> Option<Result<Group, Damage>> {
        self.left = self.left.checked_sub(1)?;
        let mut thrift = Thrift::new(&self.bytes[self.next..]);
        let group = group(&mut thrift, columns);
        self.next = self.bytes.len() - thrift.rest().len();
        if group.is_err() {
            self.end();
        }
        Some(group)
    }

    /// Leaves out the other row groups.
    pub fn end(&mut self) {
        self.left = 0;
    }
}

/// The number of elements of a list of structures.
fn structures(thrift: &mut Thrift) -> Result<u64, Damage> {
    match thrift.list()? {
        (_, 0) => Ok(0),
        (Kind::Struct, count) => Ok(count),
        _ => Err("its metadata has a list of the wrong type".into()),
    }
}

fn group(thrift: &mut Thrift, columns: &Columns) -> Result<Group, Damage> {
    let (mut rows, mut ranks) = (None, vec![None; columns.ranks.len()]);
    let (mut texts, mut ids) = (vec![None; columns.texts.len()], vec![None; columns.ids.len()]);
    thrift.fields(&mut |thrift, number, kind| {
        match (number, kind) {
            (1, Kind::List) => {
                for ordinal in 0..structures(thrift)? {
                    let chunk = chunk(thrift)?;
                    for (text, _) in texts.iter_mut().zip(&columns.texts).filter(|(_, text)| text.ordinal == ordinal) {
                        *text = chunk;
                    }
                    for (id, _) in ids.iter_mut().zip(&columns.ids).filter(|(_, (id, _))| id.ordinal == ordinal) {
                        *id = chunk;
                    }
                    let own = ranks.iter_mut().zip(&columns.ranks).filter(|(_, (rank, _))| rank.ordinal == ordinal);
                    own.for_each(|(rank, _)| *rank = chunk);
                }
            }
            (3, Kind::Int) => rows = u64::try_from(thrift.int()?).ok(),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let Some(rows) = rows else { return Err("a row group has no number of rows".into()) };
    let all = |chunks: Vec<Option<Chunk>>| chunks.into_iter().collect::<Option<Vec<Chunk>>>();
    let (Some(texts), Some(ids), Some(ranks)) = (all(texts), all(ids), all(ranks)) else {
        return Err("a column of a row group is missing, in another file, or encrypted".into());
    };
    // A list has any number of values, and at least one, null or not, in each row.
    let is_wrong = |(chunk, column): (&Chunk, &Column)| match column.max_repetition {
        0 => chunk.values != rows,
        _ => chunk.values < rows,
    };
    if texts.iter().zip(&columns.texts).any(is_wrong) || ids.iter().chain(&ranks).any(|chunk| chunk.values != rows) {
        return Err("a column has more or fewer values than its row group has rows".into());
    }
    Ok(Group { rows, texts, ids, ranks })
}

/// A column of a row group; `None` if it cannot be read from this file.
fn chunk(thrift: &mut Thrift) -> Result<Option<Chunk>, Damage> {
    let (mut chunk, mut is_here) = (None, true);
    thrift.fields(&mut |thrift, number, kind| {
        match (number, kind) {
            // A path of another file, or the description of the encryption.
            (1, Kind::Bytes) => is_here &= thrift.bytes()?.is_empty(),
            (8 | 9, _) => {
                is_here = false;
                return Ok(false);
            }
            (3, Kind::Struct) => chunk = column_metadata(thrift)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(chunk.filter(|_| is_here))
}

fn column_metadata(thrift: &mut Thrift) -> Result<Option<Chunk>, Damage> {
    let (mut found, mut data, mut dictionary) = (Chunk::default(), None, None);
    let mut is_negative = false;
    thrift.fields(&mut |thrift, number, kind| {
        if !(matches!(number, 4 | 5 | 7 | 9 | 11) && kind == Kind::Int) {
            return Ok(false);
        }
        let value = thrift.int()?;
        is_negative |= value < 0;
        match number {
            4 => found.codec = value,
            5 => found.values = value.unsigned_abs(),
            7 => found.length = value.unsigned_abs(),
            9 => data = Some(value.unsigned_abs()),
            _ => dictionary = Some(value.unsigned_abs()),
        }
        Ok(true)
    })?;
    if is_negative {
        return Err("a size in its metadata is negative".into());
    }
    // Some writers give 0 as the position of a dictionary that does not exist.
    let start = data.map(|data| dictionary.filter(|&dictionary| dictionary > 0).map_or(data, |first| first.min(data)));
    Ok(start.map(|start| Chunk { start, ..found }))
}

/// An element of a schema: a column, or a group of columns.
struct Element<'a> {
    name: Cow<'a, str>,
    /// The group that it belongs to; the first is the root.
    parent: usize,
    /// The number of a column; `None` for a group.
    ordinal: Option<u64>,
    children: u64,
    is_optional: bool,
    is_repeated: bool,
    physical: i64,
    length: i64,
    annotation: Annotation,
}

/// What a physical type stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Annotation {
    #[default]
    None,
    Text,
    Json,
    Signed,
    Unsigned,
    Uuid,
    List,
    Map,
    Decimal,
    /// Of the day.
    Time,
    Date,
    /// In units of this many nanoseconds.
    Timestamp {
        unit: u64,
    },
    /// A floating-point number of 16 bits.
    Half,
    Interval,
    Other,
}

struct Schema<'a>(Vec<Element<'a>>);

impl<'a> Schema<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, Damage> {
        let mut thrift = Thrift::new(bytes);
        let count = structures(&mut thrift)?;
        if count > MAX_ELEMENTS {
            return Err(format!("its schema has more than {MAX_ELEMENTS} columns").into());
        }
        let mut elements: Vec<Element> = Vec::new();
        // The groups that the next element may belong to, with the numbers of elements that they still lack.
        let (mut open, mut ordinal) = (Vec::<(usize, u64)>::new(), 0);
        for index in 0..count as usize {
            let mut element = element(&mut thrift)?;
            while open.pop_if(|(_, lacking)| *lacking == 0).is_some() {}
            match open.last_mut() {
                Some((parent, lacking)) => {
                    *lacking -= 1;
                    element.parent = *parent;
                }
                None if index == 0 => element.ordinal = None,
                None => return Err("its schema has more columns than its groups".into()),
            }
            match &mut element.ordinal {
                Some(own) => {
                    *own = ordinal;
                    ordinal += 1;
                }
                None if open.len() == MAX_DEPTH => return Err("its schema is nested too deeply".into()),
                None => open.push((index, element.children)),
            }
            elements.push(element);
        }
        if elements.is_empty() || open.iter().any(|&(_, lacking)| lacking > 0) {
            return Err("its schema is incomplete".into());
        }
        Ok(Schema(elements))
    }

    /// The elements of a group.
    fn within(&self, parent: usize) -> impl Iterator<Item = (usize, &Element<'a>)> {
        self.0.iter().enumerate().skip(1).filter(move |(_, element)| element.parent == parent)
    }

    /// The element of this path, or the list on the way to it. A name with dots in it counts as a whole, too.
    fn find(&self, path: &FieldPath) -> Option<Node<'_, 'a>> {
        let literal = || path.literal().and_then(|path| self.follow(path.steps()));
        self.child(0, path.name()).or_else(literal).or_else(|| self.follow(path.steps()))
    }

    /// The element of this name in a group.
    fn child(&self, parent: usize, name: &str) -> Option<Node<'_, 'a>> {
        let found = self.within(parent).find(|(_, element)| element.name == name);
        found.map(|(index, element)| Node { index, element, is_entered: false })
    }

    /// The element that these steps lead to, or the list on the way to it.
    fn follow(&self, steps: &[Step]) -> Option<Node<'_, 'a>> {
        let mut found = Node { index: 0, element: &self.0[0], is_entered: true };
        for step in steps {
            found = match step {
                Step::Field(_) if found.is_list() => break,
                Step::Field(name) => self.child(found.index, name)?,
                Step::Elements | Step::Element(_) | Step::Where { .. } => self.elements_of(found)?,
            };
        }
        Some(found)
    }

    /// Which elements a path chooses of the lists that it leads through.
    ///
    /// # Errors
    /// The field that chooses them is not there, or has the name that is returned and is no text, so that none is chosen.
    fn choices<'p>(&self, path: &'p FieldPath) -> Result<Vec<(u32, Chosen)>, Option<&'p str>> {
        let is_literal = |path: FieldPath| self.follow(path.steps()).is_some();
        let mut choices = Vec::new();
        if self.child(0, path.name()).is_some() || path.literal().is_some_and(is_literal) {
            return Ok(choices);
        }
        for (at, step) in path.steps().iter().enumerate().filter(|(_, step)| step.chooses()) {
            let elements = self.follow(&path.steps()[..=at]).ok_or(None)?;
            let chosen = match step {
                Step::Where { field, value } => {
                    let key = self.child(elements.index, field).ok_or(None)?;
                    let column = self.column(key.element).filter(|_| matches!(key.kind(), Ok(IdKind::Text)));
                    Chosen::Where(column.ok_or(Some(&**field))?, value.clone())
                }
                Step::Element(number) => match u64::try_from(*number) {
                    Ok(number) => Chosen::At(number),
                    Err(_) => Chosen::FromEnd(number.unsigned_abs()),
                },
                Step::Field(_) | Step::Elements => continue,
            };
            choices.push((self.repetition(elements.element), chosen));
        }
        Ok(choices)
    }

    /// The elements of a list, or the entries of a map.
    fn elements_of<'s>(&'s self, list: Node<'s, 'a>) -> Option<Node<'s, 'a>> {
        if list.element.is_repeated && !list.is_entered {
            return Some(Node { is_entered: true, ..list });
        }
        let (index, repeated) = self.within(list.index).next().filter(|(_, element)| element.is_repeated)?;
        let repeated = Node { index, element: repeated, is_entered: true };
        match list.element.annotation {
            Annotation::List => {}
            Annotation::Map => return Some(repeated),
            _ => return None,
        }
        let only = self.within(index).next().filter(|(_, element)| !element.is_repeated);
        match only.filter(|_| repeated.element.wraps_elements_of(list.element)) {
            Some((index, element)) => Some(Node { index, element, is_entered: false }),
            None => Some(repeated),
        }
    }

    /// The element itself and the groups around it, without the root.
    fn around<'s>(&'s self, element: &'s Element<'a>) -> impl Iterator<Item = &'s Element<'a>> {
        let parent = |element: &&'s Element<'a>| (element.parent != 0).then(|| &self.0[element.parent]);
        std::iter::successors(Some(element), parent)
    }

    /// The definition level of a value of a column.
    fn level(&self, element: &Element<'a>) -> u32 {
        self.around(element).map(|element| u32::from(element.is_optional || element.is_repeated)).sum()
    }

    /// The repetition level of a value of a column in the innermost list.
    fn repetition(&self, element: &Element<'a>) -> u32 {
        self.around(element).map(|element| u32::from(element.is_repeated)).sum()
    }

    fn column(&self, element: &Element<'a>) -> Option<Column> {
        let physical = match (element.physical, element.length) {
            (0, _) => Physical::Bit,
            (1 | 4, _) => Physical::Fixed(4),
            (2 | 5, _) => Physical::Fixed(8),
            (3, _) => Physical::Fixed(12),
            (6, _) => Physical::Bytes,
            (7, 16) => Physical::Fixed(16),
            (7, 2) => Physical::Fixed(2),
            _ => return None,
        };
        let (max_level, max_repetition) = (self.level(element), self.repetition(element));
        Some(Column { ordinal: element.ordinal?, physical, max_level, max_repetition })
    }

    /// The columns of the text and of the id. Columns of the id need not exist.
    fn columns(&self, options: &ReadOptions) -> Result<Columns, Fault> {
        let here = self.names(|_| true);
        let refused = |kind, message: String| Fault { kind, message };
        let advice = choose_column(&here, options.text_advice());
        let is_column = |name: &str| self.within(0).any(|(_, element)| element.name == name);
        let wanted: Vec<&FieldPath> = options.text_fields.in_columns(is_column).collect();
        let Texts { texts, choices, chosen, missing, unchosen } = self.texts(&wanted).map_err(|(path, node)| {
            let message =
                format!("text column '{path}' is {}, not a string{} {advice}", node.type_name(), self.hint(node));
            refused(ProblemKind::Header, message)
        })?;
        if texts.is_empty() {
            let names = quoted(wanted.into_iter());
            let wrong = unchosen.iter().map(|(path, field)| format!(", and field '{field}' of '{path}' is no string"));
            let wrong: String = wrong.collect();
            return Err(refused(ProblemKind::Header, format!("no text column {names}{wrong} {advice}")));
        }
        let mut ids = Some(Vec::new());
        for path in options.id_field.in_columns(is_column) {
            match self.find(path).map(|node| (node, node.kind(), self.column(node.element))) {
                None => ids = None,
                Some((_, Ok(kind), Some(column))) => ids.iter_mut().for_each(|ids| ids.push((column, kind))),
                Some((node, ..)) => {
                    let kind = node.kind().map_or_else(|kind| kind, |_| "of another type");
                    let advice = choose_column(&here, &format!("choose with `{}`", options.id_parameter()));
                    let message = format!("id column '{path}' is {kind}, not a string or an integer {advice}");
                    return Err(refused(ProblemKind::Id, message));
                }
            }
        }
        let ids = ids.unwrap_or_default();
        let mut rules = FieldRules::new(&options.ranking.by);
        let (mut ranks, mut values, mut unranked) = (Vec::new(), Vec::new(), Vec::new());
        for (at, path) in rules.fields().to_vec().iter().enumerate() {
            let Some(node) = self.find(path) else {
                values.push(Some(FieldValue::Missing));
                continue;
            };
            let kind = node.kind().map_or_else(|kind| kind, |_| "a UUID");
            let read = self.column(node.element).and_then(|column| Some((column, node.number_kind()?)));
            if let Some(rule) = rules.by_number(at).filter(|_| !read.is_some_and(|(_, kind)| kind != NumberKind::Bool))
            {
                let among = among(rule);
                unranked.push(format!(
                    "column '{path}' is {kind}, neither numbers nor points in time: its rows come last in the choice{among}"
                ));
                rules.without_numbers_in(at);
            }
            values.push(if read.is_some() { None } else { Some(FieldValue::Other(kind)) });
            ranks.extend(read);
        }
        let present = wanted.into_iter().filter(|path| !missing.iter().any(|missing| missing == path.typed()));
        let null = null_column(present);
        let json = self.0.iter().find(|element| {
            let is_read = texts.iter().any(|text| element.ordinal == Some(text.ordinal));
            is_read && element.annotation == Annotation::Json
        });
        let json = json.map(|element| self.path(element));
        let unchosen = unchosen.iter().map(|(path, field)| {
            format!("no text column '{path}' (its field '{field}' is no string): the others were read")
        });
        let unchosen = unchosen.collect();
        let repeated =
            options.repeated_columns(|name| self.within(0).filter(|(_, element)| element.name == name).count());
        Ok(Columns {
            texts,
            choices,
            chosen,
            missing,
            unchosen,
            repeated,
            json,
            ids,
            ranks,
            rules,
            values,
            unranked,
            null,
        })
    }

    /// The columns of these paths, in the order in which their texts are joined, and the paths of those that do not exist;
    /// or a path that leads to something else, in which no other one finds a text. That the place of a text has no further
    /// levels is no lack either.
    fn texts<'s>(&'s self, wanted: &[&'s FieldPath]) -> Result<Texts, (&'s FieldPath, Node<'s, 'a>)> {
        let (mut found, mut missing, mut unchosen) = (Vec::new(), Vec::new(), Vec::new());
        for (at, &path) in wanted.iter().enumerate() {
            let chosen = match self.choices(path) {
                Ok(chosen) => chosen,
                Err(field) => {
                    missing.push(path);
                    unchosen.extend(field.map(|field| (path.to_string(), field.to_owned())));
                    continue;
                }
            };
            match self.find(path).map(|node| (node, node.kind(), self.column(node.element))) {
                None => missing.push(path),
                Some((_, Ok(IdKind::Text), Some(column))) => {
                    found.push((takes_place(wanted, at), path, column, chosen));
                }
                Some((node, ..)) => {
                    if !wanted.iter().any(|other| self.has_text(other, node)) {
                        return Err((path, node));
                    }
                }
            }
        }
        missing.retain(|missing| !found.iter().any(|(_, path, ..)| missing.leads_on_from(path.steps())));
        found.sort_by_key(|(place, ..)| *place);
        let chosen = found.iter().find(|(.., chosen)| !chosen.is_empty()).map(|(_, path, ..)| path.to_string());
        let mut texts: Vec<Column> = found.iter().map(|(_, _, column, _)| *column).collect();
        let mut column = |column: Column| {
            let known = texts.iter().position(|known| known.ordinal == column.ordinal);
            known.unwrap_or_else(|| {
                texts.push(column);
                texts.len() - 1
            })
        };
        let mut choice = |(level, chosen): (u32, Chosen)| {
            let taken = match chosen {
                Chosen::At(number) => Taken::At(number),
                Chosen::FromEnd(back) => Taken::FromEnd(back),
                Chosen::Where(key, value) => Taken::Where { column: column(key), value },
            };
            Choice { level, taken }
        };
        let choices = found.into_iter().map(|(.., chosen)| chosen.into_iter().map(&mut choice).collect()).collect();
        let missing = missing.into_iter().map(FieldPath::to_string).collect();
        Ok(Texts { texts, choices, chosen, missing, unchosen })
    }

    /// Whether the path leads to a text in this list or group.
    fn has_text(&self, path: &FieldPath, group: Node) -> bool {
        let text = self.find(path).filter(|node| matches!(node.kind(), Ok(IdKind::Text)));
        text.is_some_and(|text| self.around(text.element).skip(1).any(|around| std::ptr::eq(around, group.element)))
    }

    /// Which texts are in a list, for a message.
    fn hint(&self, node: Node) -> String {
        if !node.is_list() {
            return String::new();
        }
        let is_text_here = |element: &Element<'a>| {
            let text = Node { index: 0, element, is_entered: true };
            matches!(text.kind(), Ok(IdKind::Text))
                && self.around(element).any(|around| std::ptr::eq(around, node.element))
        };
        match &*self.names(is_text_here) {
            "none" => " (no strings are in it)".to_owned(),
            names => format!(" (strings in it: {names})"),
        }
    }

    /// The paths of some columns, for a message.
    fn names(&self, is_shown: impl Fn(&Element<'a>) -> bool) -> String {
        let columns = || self.0.iter().skip(1).filter(|element| element.ordinal.is_some() && is_shown(element));
        display_names(columns().map(|element| Cow::Owned(self.path(element))), columns().count())
    }

    /// The path of a column, as [`find`](Self::find) takes it.
    fn path(&self, column: &Element<'a>) -> String {
        let mut steps: Vec<&Element> = self.around(column).collect();
        steps.reverse();
        let (mut path, mut list, mut is_wrapped) = (String::new(), None, false);
        for (at, &element) in steps.iter().enumerate() {
            match list {
                Some(list) if element.is_repeated => {
                    path.push_str("[]");
                    is_wrapped =
                        element.wraps_elements_of(list) && !steps.get(at + 1).is_some_and(|next| next.is_repeated);
                    if is_wrapped {
                        continue;
                    }
                }
                // The element of the list, which has a name that is part of no path.
                _ if is_wrapped => is_wrapped = false,
                _ => {
                    let dot = if path.is_empty() { "" } else { "." };
                    path.extend([dot, &element.name, if element.is_repeated { "[]" } else { "" }]);
                }
            }
            list = matches!(element.annotation, Annotation::List | Annotation::Map).then_some(element);
        }
        path
    }
}

/// The columns of texts, as in [`Columns`].
struct Texts {
    texts: Vec<Column>,
    choices: Vec<Vec<Choice>>,
    chosen: Option<String>,
    missing: Vec<String>,
    /// Those of the missing ones whose elements are chosen by a field that is no string, and its name.
    unchosen: Vec<(String, String)>,
}

/// The elements of a list that a path leads to.
enum Chosen {
    At(u64),
    FromEnd(u64),
    /// Those that have this text in this column.
    Where(Column, String),
}

/// An element to which a path leads.
#[derive(Clone, Copy)]
struct Node<'s, 'a> {
    index: usize,
    element: &'s Element<'a>,
    /// Whether the path leads to each of the values, if the element is repeated.
    is_entered: bool,
}

impl Node<'_, '_> {
    fn is_list(self) -> bool {
        match self.element.annotation {
            Annotation::List => true,
            // Some writers annotate the repeated entries.
            Annotation::Map if !self.element.is_repeated => true,
            _ => self.element.is_repeated && !self.is_entered,
        }
    }

    /// How its values are written, if they are numbers, times, booleans, or texts.
    fn number_kind(self) -> Option<NumberKind> {
        match (self.kind(), self.element.annotation, self.element.physical) {
            (Ok(IdKind::Text), ..) => Some(NumberKind::Text),
            (_, Annotation::Date | Annotation::Timestamp { .. }, _) if self.is_list() => None,
            (_, Annotation::Date, 1) => Some(NumberKind::Time { unit: 86_400_000_000_000 }),
            (_, Annotation::Timestamp { unit }, 2) => Some(NumberKind::Time { unit }),
            (_, Annotation::None, 3) if !self.is_list() => Some(NumberKind::DayAndTime),
            (Ok(IdKind::Signed), ..) => Some(NumberKind::Signed),
            (Ok(IdKind::Unsigned), ..) => Some(NumberKind::Unsigned),
            (Err(_), Annotation::None, 4 | 5) if !self.is_list() => Some(NumberKind::Float),
            (Err(_), Annotation::Half, 7) if !self.is_list() && self.element.length == 2 => Some(NumberKind::Half),
            (Err(_), _, 0) if !self.is_list() => Some(NumberKind::Bool),
            _ => None,
        }
    }

    /// The type of a column that is no text, for a message.
    fn type_name(self) -> &'static str {
        self.kind().map_or_else(|kind| kind, |_| "a number")
    }

    /// How its values are written as ids, or what it is instead.
    fn kind(self) -> Result<IdKind, &'static str> {
        let element = self.element;
        match (element.annotation, element.physical) {
            _ if self.is_list() && element.annotation == Annotation::Map => Err("a map"),
            _ if self.is_list() => Err("a list"),
            _ if element.ordinal.is_none() => Err("a struct"),
            (Annotation::None | Annotation::Text | Annotation::Json, 6) => Ok(IdKind::Text),
            (Annotation::None | Annotation::Signed, 1 | 2) => Ok(IdKind::Signed),
            (Annotation::Unsigned, 1 | 2) => Ok(IdKind::Unsigned),
            (Annotation::Uuid, 7) if element.length == 16 => Ok(IdKind::Uuid),
            (Annotation::Decimal, _) => Err("a decimal number"),
            (Annotation::Time, _) => Err("a time of day"),
            (Annotation::Date | Annotation::Timestamp { .. }, _) | (_, 3) => Err("a date or time"),
            (_, 0) => Err("a boolean"),
            (_, 4 | 5) | (Annotation::Half, _) => Err("a floating-point number"),
            (Annotation::Interval, _) => Err("an interval"),
            (_, 7) => Err("bytes of a fixed length"),
            _ => Err("of another type"),
        }
    }
}

impl Element<'_> {
    /// Whether this repeated group only holds the elements of the list around it. Old writers repeat the elements themselves.
    fn wraps_elements_of(&self, list: &Element) -> bool {
        let is_element = self.name == "array" || self.name.strip_suffix("_tuple") == Some(&list.name);
        let is_plain = self.annotation == Annotation::None && list.annotation == Annotation::List;
        is_plain && self.ordinal.is_none() && self.children == 1 && !is_element
    }
}

fn element<'a>(thrift: &mut Thrift<'a>) -> Result<Element<'a>, Damage> {
    let mut name = None;
    let (mut physical, mut length, mut repetition, mut children) = (-1, 0, 0, 0);
    let (mut converted, mut logical) = (Annotation::None, Annotation::None);
    thrift.fields(&mut |thrift, number, kind| {
        match (number, kind) {
            (1, Kind::Int) => physical = thrift.int()?,
            (2, Kind::Int) => length = thrift.int()?,
            (3, Kind::Int) => repetition = thrift.int()?,
            (4, Kind::Bytes) => name = Some(String::from_utf8_lossy(thrift.bytes()?)),
            (5, Kind::Int) => children = thrift.int()?,
            (6, Kind::Int) => converted = converted_type(thrift.int()?),
            (10, Kind::Struct) => logical = logical_type(thrift)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let (Some(name), Ok(children)) = (name, u64::try_from(children)) else {
        return Err("a column of its schema has no name, or a negative size".into());
    };
    Ok(Element {
        name,
        parent: 0,
        // Replaced by its number.
        ordinal: (physical >= 0).then_some(0),
        children,
        is_optional: repetition == 1,
        is_repeated: repetition == 2,
        physical,
        length,
        annotation: if logical == Annotation::None { converted } else { logical },
    })
}

fn converted_type(code: i64) -> Annotation {
    match code {
        // Strings and enumerations.
        0 | 4 => Annotation::Text,
        19 => Annotation::Json,
        1 | 2 => Annotation::Map,
        3 => Annotation::List,
        5 => Annotation::Decimal,
        6 => Annotation::Date,
        7 | 8 => Annotation::Time,
        9 => Annotation::Timestamp { unit: 1_000_000 },
        10 => Annotation::Timestamp { unit: 1000 },
        11..=14 => Annotation::Unsigned,
        15..=18 => Annotation::Signed,
        21 => Annotation::Interval,
        _ => Annotation::Other,
    }
}

/// The unit of times, in nanoseconds: a union in the second field of their structure.
fn timestamp_unit(thrift: &mut Thrift) -> Result<u64, Damage> {
    let mut unit = 1;
    thrift.fields(&mut |thrift, number, kind| {
        if (number, kind) != (2, Kind::Struct) {
            return Ok(false);
        }
        thrift.fields(&mut |_, number, _| {
            unit = match number {
                1 => 1_000_000,
                2 => 1000,
                _ => 1,
            };
            Ok(false)
        })?;
        Ok(true)
    })?;
    Ok(unit)
}

/// A union: a structure with one field, whose number says which.
fn logical_type(thrift: &mut Thrift) -> Result<Annotation, Damage> {
    let mut found = Annotation::None;
    thrift.fields(&mut |thrift, number, kind| {
        found = match number {
            1 | 4 => Annotation::Text,
            12 => Annotation::Json,
            2 => Annotation::Map,
            3 => Annotation::List,
            5 => Annotation::Decimal,
            6 => Annotation::Date,
            7 => Annotation::Time,
            8 if kind == Kind::Struct => {
                found = Annotation::Timestamp { unit: timestamp_unit(thrift)? };
                return Ok(true);
            }
            14 => Annotation::Uuid,
            15 => Annotation::Half,
            // A column without any value has a physical type that does not matter.
            11 => Annotation::None,
            10 if kind == Kind::Struct => {
                let mut is_signed = true;
                thrift.fields(&mut |_, number, kind| {
                    if let (2, Kind::Bool(value)) = (number, kind) {
                        is_signed = value;
                    }
                    Ok(false)
                })?;
                found = if is_signed { Annotation::Signed } else { Annotation::Unsigned };
                return Ok(true);
            }
            _ => Annotation::Other,
        };
        Ok(false)
    })?;
    Ok(found)
}
