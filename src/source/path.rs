//! The paths of fields in records: names, and which elements of an array are meant.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// What a path is, in errors.
const NAMES: &str = "field names separated by single dots";

/// A field, by its path: `meta.title` is the field `title` of the object (in Parquet, of the struct) in the field `meta`.
/// For CSV it is the name of a column, including any dots.
///
/// In [`TextFields`](super::TextFields), a path may lead through the elements of arrays of JSON: `messages[].content` is the
/// field `content` of each object in the array in the field `messages`, and `paragraphs[]` each string in an array.
/// `messages[0].content` is that of the first element, `messages[-1].content` that of the last, and
/// `messages[role=user].content` that of each object whose field `role` is the string `user`. A bracket that is part of a name
/// is written as `\[`; without a backslash, a field that has such a name takes precedence over elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath {
    typed: String,
    /// The same without the backslashes before brackets.
    name: String,
    steps: Vec<Step>,
    /// The steps if brackets that choose elements are part of names, where there are some.
    literal: Option<Vec<Step>>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To the field of this name, in an object.
    Field(String),
    /// To each element of an array.
    Elements,
    /// To the element with this number, from 0; a negative one counts from the end, where -1 is the last.
    Element(i64),
    /// To each object in an array that has this string in this field.
    Where { field: String, value: String },
}

impl Step {
    /// Whether it leads to some elements of an array and not to others.
    pub fn chooses(&self) -> bool {
        matches!(self, Step::Element(_) | Step::Where { .. })
    }
}

/// Why something is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Malformed {
    /// A name is empty.
    Name,
    /// A bracket is not closed, is without a name before it, or does not choose what it seems to.
    Bracket,
}

impl Malformed {
    /// What brackets are, in errors.
    pub const BRACKETS: &str = "brackets after the name of an array: [] for each element, [0] or [-1] for one, [role=user] for those \
                                with this string in a field; a bracket in a name is written as \\[";

    fn expected(self) -> &'static str {
        match self {
            Malformed::Name => NAMES,
            Malformed::Bracket => Malformed::BRACKETS,
        }
    }
}

impl FieldPath {
    /// Reads a dotted path of one value, as of an id; `flag` names the parameter in the error. Brackets are part of names.
    ///
    /// # Errors
    /// A name is empty, or the path leads through the elements of an array.
    pub fn parse(flag: &'static str, path: &str) -> Result<Self, Error> {
        let expected = match literal_steps(path) {
            Some(steps) if !steps.contains(&Step::Elements) => {
                return Ok(FieldPath { typed: path.to_owned(), name: path.to_owned(), steps, literal: None });
            }
            Some(_) => "a field with one value, not the elements of an array",
            None => NAMES,
        };
        Err(Error::parameter(flag, path, expected))
    }

    /// Reads any path.
    pub(super) fn read(path: &str) -> Result<Self, Malformed> {
        let (mut steps, mut rest) = (Vec::new(), Some(path));
        while let Some(at) = rest {
            rest = read_segment(at, &mut steps)?;
        }
        let has_choice = steps.iter().any(Step::chooses) && !path.contains("\\[");
        let literal = if has_choice { literal_steps(path) } else { None };
        Ok(FieldPath { typed: path.to_owned(), name: path.replace("\\[", "["), steps, literal })
    }

    /// The path as it was written, with the backslashes before brackets: [`FromStr`] reads it again.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// The path without the backslashes before brackets, as the name of a single column. Different paths may have the same.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The outermost field that it leads through.
    pub fn first(&self) -> &str {
        self.steps.iter().find_map(|step| if let Step::Field(name) = step { Some(&**name) } else { None }).unwrap_or("")
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The path whose brackets that choose elements are part of names, if there are some.
    pub(super) fn literal(&self) -> Option<Self> {
        let steps = self.literal.clone()?;
        Some(FieldPath { typed: self.typed.clone(), name: self.name.clone(), steps, literal: None })
    }

    /// Whether it begins with these steps, and has further ones.
    pub(super) fn leads_on_from(&self, steps: &[Step]) -> bool {
        self.steps.len() > steps.len() && self.steps.starts_with(steps)
    }

    /// Whether both lead through the same fields, to the same or other elements of arrays.
    pub(super) fn has_fields_of(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&Step, &Step)| match (one, other) {
            (Step::Field(one), Step::Field(other)) => one == other,
            (one, other) => !matches!(one, Step::Field(_)) && !matches!(other, Step::Field(_)),
        };
        self.steps.len() == other.steps.len() && self.steps.iter().zip(&other.steps).all(is_same)
    }

    /// A path of one step, which needs no parsing.
    pub(super) fn single(name: &str) -> Self {
        FieldPath {
            typed: name.to_owned(),
            name: name.to_owned(),
            steps: vec![Step::Field(name.to_owned())],
            literal: None,
        }
    }
}

/// The steps of a path in which only `[]` at the end of a name leads into an array; `None` if a name is empty.
fn literal_steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let name = part.trim_end_matches("[]");
        if name.is_empty() {
            return None;
        }
        steps.push(Step::Field(name.to_owned()));
        steps.extend((name.len()..part.len()).step_by("[]".len()).map(|_| Step::Elements));
    }
    Some(steps)
}

/// Adds the steps of a name and of the brackets at its end, and returns what comes after the dot that ends them, if there
/// is one.
fn read_segment<'p>(path: &'p str, steps: &mut Vec<Step>) -> Result<Option<&'p str>, Malformed> {
    let (mut name, mut rest, mut after) = (String::new(), path, None);
    // Brackets count as steps only at the end.
    let mut brackets: Vec<(Step, &str)> = Vec::new();
    while let Some(c) = rest.chars().next() {
        if c == '.' {
            after = Some(&rest[1..]);
            break;
        }
        if c == '[' {
            let end = rest.find(']').filter(|_| !name.is_empty()).ok_or(Malformed::Bracket)?;
            if let Some(step) = step(&rest[1..end])? {
                brackets.push((step, &rest[..=end]));
                rest = &rest[end + 1..];
                continue;
            }
        }
        for (_, written) in brackets.drain(..) {
            if written.contains('.') {
                return Err(Malformed::Bracket);
            }
            name.push_str(written);
        }
        let is_escape = rest.starts_with("\\[");
        name.push(if is_escape { '[' } else { c });
        rest = &rest[if is_escape { 2 } else { c.len_utf8() }..];
    }
    if name.is_empty() {
        return Err(Malformed::Name);
    }
    steps.push(Step::Field(name));
    steps.extend(brackets.into_iter().map(|(step, _)| step));
    Ok(after)
}

/// The step that brackets with this content are; `None` if they are part of a name.
fn step(content: &str) -> Result<Option<Step>, Malformed> {
    let digits = content.strip_prefix('-').unwrap_or(content);
    if content.is_empty() {
        return Ok(Some(Step::Elements));
    }
    if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return content.parse().map(|number| Some(Step::Element(number))).map_err(|_| Malformed::Bracket);
    }
    let Some((field, value)) = content.split_once('=') else { return Ok(None) };
    // Quotation marks and `==` come from other languages of paths.
    let is_quoted = value.starts_with(['"', '\'']) && value.ends_with(['"', '\'']);
    if field.is_empty() || field.contains(['.', '[']) || value.is_empty() || value.starts_with('=') || is_quoted {
        return Err(Malformed::Bracket);
    }
    Ok(Some(Step::Where { field: field.to_owned(), value: value.to_owned() }))
}

/// Reads a dotted path, also one through the elements of arrays; the parameter is named `field` in the error.
impl FromStr for FieldPath {
    type Err = Error;

    fn from_str(path: &str) -> Result<Self, Error> {
        Self::read(path).map_err(|malformed| Error::parameter("field", path, malformed.expected()))
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.typed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_paths_have_no_empty_step() {
        let steps = ["a", "b", "c"].map(|name| Step::Field(name.into()));
        assert_eq!(FieldPath::parse("text-field", "a.b.c").unwrap().steps(), steps);
        for bad in ["", ".", "a.", ".a", "a..b"] {
            assert!(FieldPath::parse("text-field", bad).unwrap_err().to_string().contains("`text_field`"), "{bad}");
            assert!(bad.parse::<FieldPath>().is_err());
        }
    }

    #[test]
    fn paths_through_arrays() {
        let steps = |path: &str| FieldPath::read(path).ok().map(|path| path.steps);
        let field = |name: &str| Step::Field(name.into());
        assert_eq!(steps("a[].b"), Some(vec![field("a"), Step::Elements, field("b")]));
        assert_eq!(steps("a.b[][]"), Some(vec![field("a"), field("b"), Step::Elements, Step::Elements]));
        assert_eq!(steps("a[b].c]"), Some(vec![field("a[b]"), field("c]")]));
        assert_eq!(steps("[].a"), None);
        let message = FieldPath::parse("id-field", "a[].b").unwrap_err().to_string();
        assert_eq!(
            message,
            "invalid value 'a[].b' for `id_field`: expected a field with one value, not the elements of an array"
        );
    }

    #[test]
    fn brackets_choose_elements() {
        let steps = |path: &str| FieldPath::read(path).map(|path| path.steps);
        let field = |name: &str| Step::Field(name.into());
        let of = |field: &str, value: &str| Step::Where { field: field.into(), value: value.into() };
        for (path, expected) in [
            ("m[0].c", vec![field("m"), Step::Element(0), field("c")]),
            ("m[-1]", vec![field("m"), Step::Element(-1)]),
            ("m[role=user].c", vec![field("m"), of("role", "user"), field("c")]),
            ("a.m[k=v.w=x][2][]", vec![field("a"), field("m"), of("k", "v.w=x"), Step::Element(2), Step::Elements]),
            // Brackets in names, and those with a backslash.
            ("x[0]y.c", vec![field("x[0]y"), field("c")]),
            ("a[0][b]", vec![field("a[0][b]")]),
            ("a[+1]", vec![field("a[+1]")]),
            (r"m\[0].c", vec![field("m[0]"), field("c")]),
            (r"\[x][0]", vec![field("[x]"), Step::Element(0)]),
            (r"a\[b", vec![field("a[b")]),
        ] {
            assert_eq!(steps(path), Ok(expected), "{path}");
        }
        for path in [
            "m[role=",
            "m[1",
            "m[",
            "[x]",
            "[0].c",
            "a.[x=y]",
            "m[=user]",
            "m[role=]",
            "m[a.b=c]",
            "m[role==user]",
            "m[role='user']",
            "m[99999999999999999999]",
            "m[k=v.w]x",
            "a[b",
        ] {
            assert_eq!(steps(path), Err(Malformed::Bracket), "{path}");
        }
        let message = "m[1".parse::<FieldPath>().unwrap_err().to_string();
        assert!(message.starts_with("invalid value 'm[1' for `field`: expected brackets after the name"), "{message}");
    }

    #[test]
    fn a_path_that_chooses_can_be_a_name() {
        let literal = |path: &str| FieldPath::read(path).unwrap().literal().map(|path| path.steps);
        let field = |name: &str| Step::Field(name.into());
        assert_eq!(literal("m[0].c[]"), Some(vec![field("m[0]"), field("c"), Step::Elements]));
        assert_eq!(literal("m[k=v.w]"), Some(vec![field("m[k=v"), field("w]")]));
        assert_eq!([literal("m[].c"), literal("m[x].c"), literal(r"m[0].a\[0]")], [None, None, None]);
        // An id has one value, and its brackets were always part of its name.
        let id = FieldPath::parse("id-field", "m[0].[k=v]").unwrap();
        assert_eq!((id.steps, id.literal), (vec![field("m[0]"), field("[k=v]")], None));
    }

    #[test]
    fn paths_through_the_same_fields() {
        let same = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|path| FieldPath::read(path).unwrap());
            assert_eq!(one.has_fields_of(&other), other.has_fields_of(&one));
            one.has_fields_of(&other)
        };
        for (one, other) in [("m[0].c", "m[-1].c"), ("m[].c", "m[r=u].c"), ("m[r=u].c", "m[r=v].c")] {
            assert!(same(one, other), "{one} {other}");
        }
        for (one, other) in [("m[0].c", "m[0].d"), ("m[0].c", "m.c"), ("m[0].c", "m[0].c[0]"), ("m", "m[]")] {
            assert!(!same(one, other), "{one} {other}");
        }
    }
}
