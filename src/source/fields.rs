//! The fields of records: their paths, and the text of a record that is in several of them.

use std::borrow::Cow;
use std::fmt;

use super::PageText;
use super::path::{FieldPath, Malformed, Step};
use crate::error::Error;

/// What separates the texts of two fields or elements: a blank line, which no preparation of tokens crosses. Empty texts
/// are not separated from others.
pub(super) const SEPARATOR: &str = "\n\n";

/// What a list of paths is, in errors.
const LISTED: &str = "field names separated by single commas, and steps by single dots";

/// The fields of a text. Their texts are joined in this order, with a blank line between them.
///
/// A record needs only one of the fields. In CSV and Parquet, a file needs only one of the columns.
/// A field that no record and no table has is in [`Input::fields_never_found`](super::Input::fields_never_found).
///
/// ```
/// use neardups::source::TextFields;
/// let fields = TextFields::new(["title,body", r"notes\, private"])?;
/// assert_eq!(fields.to_string(), "'title', 'body' or 'notes, private'");
/// # Ok::<(), neardups::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFields {
    lists: Vec<List>,
}

/// Fields that were written together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct List {
    /// The list as it was written, as the name of a single column.
    column: FieldPath,
    paths: Vec<FieldPath>,
}

impl TextFields {
    /// Reads lists of paths; `flag` names the parameter in the error. A list has commas between its paths, with white
    /// space around them or not; a comma in a name is written as `\,`. In CSV and Parquet, a column whose name is a whole
    /// list, commas included, takes precedence.
    ///
    /// # Errors
    /// There is no path, an invalid path, or one twice.
    pub fn parse<S: AsRef<str>>(flag: &'static str, lists: impl IntoIterator<Item = S>) -> Result<Self, Error> {
        let list = |list: S| {
            let list = list.as_ref();
            let parts = split(list);
            let is_single = parts.len() == 1;
            let path = |part: &String| {
                let part = if is_single { part } else { part.trim() };
                FieldPath::read(part).map_err(|malformed| match malformed {
                    Malformed::Name => Error::parameter(flag, list, LISTED),
                    Malformed::Bracket => Error::parameter(flag, part, Malformed::BRACKETS),
                })
            };
            let paths = parts.iter().map(path).collect::<Result<_, Error>>()?;
            Ok(List { column: FieldPath::single(list), paths })
        };
        let fields = TextFields { lists: lists.into_iter().map(list).collect::<Result<_, Error>>()? };
        let paths: Vec<&FieldPath> = fields.paths().collect();
        if paths.is_empty() {
            return Err(Error::parameter(flag, "", "the name of a field"));
        }
        match (1..paths.len()).find(|&at| paths[..at].iter().any(|path| path.steps() == paths[at].steps())) {
            Some(again) => Err(Error::parameter(flag, paths[again], "each field once")),
            None => Ok(fields),
        }
    }

    /// As [`parse`](Self::parse), for programs: errors name the parameter `text_fields`.
    ///
    /// # Errors
    /// There is no path, an invalid path, or one twice.
    pub fn new<S: AsRef<str>>(lists: impl IntoIterator<Item = S>) -> Result<Self, Error> {
        Self::parse("text_fields", lists)
    }

    /// The paths, in their order.
    pub fn paths(&self) -> impl Iterator<Item = &FieldPath> {
        self.lists.iter().flat_map(|list| &list.paths)
    }

    /// The paths in a file with these columns.
    #[cfg_attr(not(feature = "files"), allow(dead_code, reason = "no other format has columns"))]
    pub(super) fn in_columns(&self, is_column: impl Fn(&str) -> bool) -> impl Iterator<Item = &FieldPath> {
        self.lists.iter().flat_map(move |list| list.in_columns(&is_column))
    }
}

impl List {
    /// The paths in a file with these columns.
    #[cfg_attr(not(feature = "files"), allow(dead_code, reason = "no other format has columns"))]
    fn in_columns(&self, is_column: impl Fn(&str) -> bool) -> &[FieldPath] {
        match is_column(self.column.name()) {
            true => std::slice::from_ref(&self.column),
            false => &self.paths,
        }
    }
}

impl From<FieldPath> for TextFields {
    fn from(path: FieldPath) -> Self {
        TextFields { lists: vec![List { column: path.clone(), paths: vec![path] }] }
    }
}

impl fmt::Display for TextFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(self.paths()))
    }
}

/// The fields of an id: one, or several that make one id together.
///
/// The id is the value of the field. Of several, the values are joined in this order with commas between them; a comma or a
/// backslash in a value has a backslash before it, so that records with other values have other ids. A record that lacks one
/// of the values, or has null or, in CSV, nothing there, has no id.
///
/// ```
/// use neardups::source::IdFields;
/// let fields = IdFields::new("repo, meta.path")?;
/// let names: Vec<&str> = fields.paths().map(|path| path.name()).collect();
/// assert_eq!(names, ["repo", "meta.path"]);
/// # Ok::<(), neardups::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdFields(List);

impl IdFields {
    /// Reads a list of paths, as of [`TextFields::parse`], each of one value; `flag` names the parameter in the error.
    ///
    /// # Errors
    /// There is no path, an invalid path, one twice, or one that leads through the elements of an array.
    pub fn parse(flag: &'static str, list: &str) -> Result<Self, Error> {
        let parts = split(list);
        let is_single = parts.len() == 1;
        let path = |part: &String| match part.trim() {
            "" if !is_single => Err(Error::parameter(flag, list, LISTED)),
            trimmed => FieldPath::parse(flag, if is_single { part } else { trimmed }),
        };
        let paths: Vec<FieldPath> = parts.iter().map(path).collect::<Result<_, _>>()?;
        match (1..paths.len()).find(|&at| paths[..at].contains(&paths[at])) {
            Some(again) => Err(Error::parameter(flag, &paths[again], "each field once")),
            None => Ok(IdFields(List { column: FieldPath::single(list), paths })),
        }
    }

    /// As [`parse`](Self::parse), for programs: errors name the parameter `id_field`.
    ///
    /// # Errors
    /// There is no path, an invalid path, one twice, or one that leads through the elements of an array.
    pub fn new(list: &str) -> Result<Self, Error> {
        Self::parse("id_field", list)
    }

    /// The list as it was written.
    pub fn name(&self) -> &str {
        self.0.column.name()
    }

    /// The paths, in their order.
    pub fn paths(&self) -> impl Iterator<Item = &FieldPath> {
        self.0.paths.iter()
    }

    /// The paths in a file with these columns.
    #[cfg_attr(not(feature = "files"), allow(dead_code, reason = "no other format has columns"))]
    pub(super) fn in_columns(&self, is_column: impl Fn(&str) -> bool) -> &[FieldPath] {
        self.0.in_columns(is_column)
    }

    /// The steps to the field, if there is one.
    pub(super) fn single_steps(&self) -> Option<&[Step]> {
        if let [path] = &self.0.paths[..] { Some(path.steps()) } else { None }
    }

    /// One field, which needs no parsing.
    pub(super) fn single(name: &str) -> Self {
        let column = FieldPath::single(name);
        IdFields(List { paths: vec![column.clone()], column })
    }
}

impl fmt::Display for IdFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The id of a record with these values in the fields of ids; `None` if there are no fields, or a value is missing, or all are empty: where
/// a program writes an empty string for an id that it does not have, documents would have the same one.
pub(super) fn joined_id<'a>(mut values: impl Iterator<Item = Option<Cow<'a, str>>>) -> Option<Cow<'a, str>> {
    let first = values.next()??;
    let Some(second) = values.next() else { return Some(first).filter(|id| !id.is_empty()) };
    let escaped = |value: &str| value.replace('\\', "\\\\").replace(',', "\\,");
    let (mut id, mut is_empty) = (escaped(&first), first.is_empty());
    for value in std::iter::once(second).chain(values) {
        let value = value?;
        is_empty &= value.is_empty();
        id.push(',');
        id.push_str(&escaped(&value));
    }
    (!is_empty).then(|| id.into())
}

/// The place of the string at the end of one of the paths, among the texts of all of them. A path such as `content[].text`
/// leads on from `content`, which may be a string in some records and an array in others: the string takes the place of the
/// texts in the array, so that the elements of an array around them keep their order.
pub(super) fn takes_place<P: std::borrow::Borrow<FieldPath>>(paths: &[P], mut at: usize) -> usize {
    let leads_on = |other: &P, steps: &[Step]| other.borrow().leads_on_from(steps);
    while let Some(next) = (0..paths.len()).find(|&next| leads_on(&paths[next], paths[at].borrow().steps())) {
        at = next;
    }
    at
}

/// Names in quotation marks: `'title', 'abstract' or 'body'`.
pub(super) fn quoted<'p>(paths: impl Iterator<Item = &'p FieldPath>) -> String {
    let names: Vec<String> = paths.map(|path| format!("'{path}'")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// The problem of a row whose columns of texts are all null, in a file or table with these columns.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(super) fn null_column<'p>(texts: impl Iterator<Item = &'p FieldPath>) -> String {
    let (mut chooses, mut named) = (false, Vec::new());
    for path in texts {
        chooses |= path.steps().iter().any(Step::chooses);
        named.push(path);
    }
    let or = if chooses { ", or the path selects no value" } else { "" };
    format!("text column {} is null{or}: there is no text to compare", quoted(named.into_iter()))
}

/// What to do where a column of texts is missing, or another one is meant.
#[cfg(feature = "parquet")]
pub(super) fn choose_column(columns: &str, advice: &str) -> String {
    format!("(columns here: {columns}; {advice})")
}

/// Splits a list at its commas, except those after a backslash, which are part of a name.
fn split(list: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = list.chars().peekable();
    while let Some(c) = rest.next() {
        let is_escape = c == '\\' && rest.next_if_eq(&',').is_some();
        match parts.last_mut() {
            Some(part) if is_escape => part.push(','),
            Some(part) if c != ',' => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts
}

/// The length of joined texts to which another one is added.
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "other records are measured before they are parsed"))]
pub(super) fn joined_length(length: usize, text: usize) -> usize {
    let separator = if length == 0 || text == 0 { 0 } else { SEPARATOR.len() };
    length.saturating_add(separator).saturating_add(text)
}

/// The text of a record, from the texts of its fields.
pub(super) struct Joined<'a> {
    /// `None` if no field had a text.
    pub text: Option<Cow<'a, str>>,
    /// Whether all text of a field was read because no main text was found.
    pub fell_back: bool,
    pages: Option<PageText>,
}

impl<'a> Joined<'a> {
    /// The text of fields that are pages, or plain text.
    pub fn new(pages: Option<PageText>) -> Self {
        Joined { text: None, fell_back: false, pages }
    }

    /// Adds the text of the next field.
    pub fn push(&mut self, text: Cow<'a, str>) {
        let text = self.read(text);
        match &mut self.text {
            Some(joined) if joined.is_empty() => *joined = text,
            Some(joined) if !text.is_empty() => {
                let joined = joined.to_mut();
                joined.push_str(SEPARATOR);
                joined.push_str(&text);
            }
            Some(_) => {}
            None => self.text = Some(text),
        }
    }

    #[cfg(feature = "html")]
    fn read(&mut self, field: Cow<'a, str>) -> Cow<'a, str> {
        let Some(wanted) = self.pages else { return field };
        let (text, fell_back) = super::html::field(field, wanted);
        self.fell_back |= fell_back;
        text
    }

    #[cfg(not(feature = "html"))]
    fn read(&mut self, field: Cow<'a, str>) -> Cow<'a, str> {
        debug_assert!(self.pages.is_none(), "the options were checked");
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lists: &[&str]) -> Result<TextFields, Error> {
        TextFields::parse("text-field", lists)
    }

    fn names(lists: &[&str]) -> Vec<String> {
        parse(lists).unwrap().paths().map(|path| path.name().to_string()).collect()
    }

    #[test]
    fn lists_are_split_at_commas() {
        assert_eq!(names(&["title,body"]), ["title", "body"]);
        assert_eq!(names(&["title , meta.body", "notes"]), ["title", "meta.body", "notes"]);
        assert_eq!(names(&[r"a\,b,c\d"]), ["a,b", r"c\d"]);
        assert_eq!(names(&[" spaced "]), [" spaced "]);
    }

    #[test]
    fn empty_and_repeated_names_are_refused() {
        for bad in [&[][..], &[""], &["a,"], &[",a"], &["a,,b"], &["a, ,b"]] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        let message = parse(&["a,b", "a"]).unwrap_err().to_string();
        assert_eq!(message, "invalid value 'a' for `text_field`: expected each field once");
    }

    #[test]
    fn an_element_is_not_a_field_of_that_name() {
        let fields = parse(&[r"m[0],m\[0]"]).unwrap();
        let shown: Vec<String> = fields.paths().map(ToString::to_string).collect();
        assert_eq!(shown, ["m[0]", r"m\[0]"]);
        assert_ne!(parse(&["m[0]"]).unwrap(), parse(&[r"m\[0]"]).unwrap());
        // The same field, or the same element.
        for bad in [r"m[x],m\[x]", r"m\[0],m\[0]", "m[0],m[00]"] {
            let message = parse(&[bad]).unwrap_err().to_string();
            assert!(message.ends_with("expected each field once"), "{message}");
        }
    }

    #[test]
    fn a_column_with_commas_in_its_name_takes_precedence() {
        let fields = parse(&["a,b", "c"]).unwrap();
        let in_columns = |columns: &[&str]| {
            let paths = fields.in_columns(|name| columns.contains(&name));
            paths.map(|path| path.name().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(in_columns(&["a", "b", "c"]), ["a", "b", "c"]);
        assert_eq!(in_columns(&["a", "a,b"]), ["a,b", "c"]);
    }

    #[test]
    fn fields_of_ids_are_split_at_commas() {
        let names = |list: &str| {
            let fields = IdFields::parse("id-field", list).unwrap();
            fields.paths().map(|path| path.name().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names("id"), ["id"]);
        assert_eq!(names("repo, meta.path"), ["repo", "meta.path"]);
        assert_eq!(names(r"a\,b,c"), ["a,b", "c"]);
        assert_eq!(IdFields::parse("id-field", "a, b").unwrap().to_string(), "a, b");
        for bad in ["", "a,", ",a", "a,,b", "a,b[]", "a,a"] {
            let message = IdFields::parse("id-field", bad).unwrap_err().to_string();
            assert!(message.contains("`id_field`"), "{message}");
        }
        let fields = IdFields::new("a,b").unwrap();
        let of = |columns: &[&str]| fields.in_columns(|name| columns.contains(&name)).len();
        assert_eq!([of(&["a", "b"]), of(&["a", "a,b"])], [2, 1]);
    }

    #[test]
    fn values_of_ids_are_joined_by_commas() {
        let joined =
            |values: &[Option<&str>]| joined_id(values.iter().map(|value| value.map(Cow::from))).map(Cow::into_owned);
        for (values, expected) in [
            (&[][..], None),
            (&[Some("a,b\\c")], Some("a,b\\c")),
            (&[Some("r"), Some("p")], Some("r,p")),
            (&[Some("a,b"), Some("c\\"), Some("")], Some("a\\,b,c\\\\,")),
            (&[None, Some("p")], None),
            (&[Some("r"), None], None),
            (&[None], None),
            (&[Some("")], None),
            (&[Some(""), Some("")], None),
            (&[Some(""), Some("p")], Some(",p")),
        ] {
            assert_eq!(joined(values).as_deref(), expected, "{values:?}");
        }
    }

    /// Other values have another id: every list of two and three short values of these characters.
    #[test]
    fn ids_of_other_values_differ() {
        let values: Vec<String> = (0..3)
            .flat_map(|length| {
                (0..4usize.pow(length))
                    .map(move |n| (0..length).map(|at| ['a', ',', '\\', '/'][n / 4usize.pow(at) % 4]).collect())
            })
            .collect();
        for lists in [2, 3] {
            let mut ids = std::collections::HashSet::new();
            for number in 0..values.len().pow(lists) {
                let list = (0..lists).map(|at| Some(Cow::from(&values[number / values.len().pow(at) % values.len()])));
                // Number 0 has only empty values, which are no id.
                let id = joined_id(list);
                assert_eq!(id.is_none(), number == 0);
                assert!(ids.insert(id), "{number}");
            }
        }
    }

    #[test]
    fn texts_are_joined_by_a_blank_line() {
        for (texts, expected) in [
            (&[][..], None),
            (&["a"], Some("a")),
            (&["a", "b", "c"], Some("a\n\nb\n\nc")),
            (&["", "b", ""], Some("b")),
            (&["", ""], Some("")),
        ] {
            let mut joined = Joined::new(None);
            texts.iter().for_each(|&text| joined.push(text.into()));
            assert_eq!(joined.text.as_deref(), expected);
        }
    }
}
