//! `NaN`, `Infinity` and `-Infinity`, which JSON does not have and many programs write for numbers. They are read as null.

use std::ops::Range;

/// The values, none of which begins another one.
const VALUES: [&str; 3] = ["NaN", "Infinity", "-Infinity"];
const NULL: &str = "null";

/// The maximum number of such values in a line: their places take memory. A line with more is malformed.
const MOST: usize = 1 << 16;

/// A line in which such values are null.
pub(super) struct Replaced {
    pub line: String,
    /// Where each of them was in the line, in order, and where null begins in the new line.
    values: Vec<(Range<usize>, usize)>,
}

impl Replaced {
    /// Replaces such values of a line; `None` if it has none, or more than [`MOST`]. The line need not be valid JSON otherwise.
    ///
    /// # Cost
    /// Time grows with the length of the line.
    pub fn new(line: &str) -> Option<Self> {
        let found = values(line)?;
        let first = found.first()?.start;
        let (mut replaced, mut values) = (line[..first].to_string(), Vec::with_capacity(found.len()));
        for (number, value) in found.iter().enumerate() {
            let end = found.get(number + 1).map_or(line.len(), |next| next.start);
            values.push((value.clone(), replaced.len()));
            replaced += NULL;
            replaced += &line[value.end..end];
        }
        Some(Replaced { line: replaced, values })
    }

    /// Where a byte of the new line was in the original one; of a value, its first byte.
    ///
    /// # Cost
    /// A binary search.
    pub fn original(&self, at: usize) -> usize {
        let before = self.values.partition_point(|(_, start)| *start <= at);
        match before.checked_sub(1).map(|last| &self.values[last]) {
            None => at,
            Some((value, start)) if at < start + NULL.len() => value.start,
            Some((value, start)) => value.end + (at - start - NULL.len()),
        }
    }

    /// The part of the original line that stands in the new one. It has no such value.
    #[cfg(feature = "clean")]
    pub fn in_original<'a>(&self, line: &'a str, part: &str) -> Option<&'a str> {
        let at = part.as_ptr().addr().checked_sub(self.line.as_ptr().addr())?;
        let start = self.original(at);
        line.get(start..start + part.len()).filter(|original| *original == part)
    }
}

/// Such values outside of strings, where a value of JSON may be; `None` if there are more than [`MOST`].
fn values(line: &str) -> Option<Vec<Range<usize>>> {
    let bytes = line.as_bytes();
    let (mut values, mut before, mut at) = (Vec::new(), b' ', 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = after_string(bytes, at),
            b'N' | b'I' | b'-' if matches!(before, b':' | b',' | b'[') => {
                let value = VALUES.iter().find(|value| bytes[at..].starts_with(value.as_bytes()));
                let end = at + value.map_or(1, |value| value.len());
                let is_end = |next: &u8| matches!(next, b',' | b']' | b'}') || next.is_ascii_whitespace();
                if value.is_some() && bytes.get(end).is_none_or(is_end) {
                    if values.len() == MOST {
                        return None;
                    }
                    values.push(at..end);
                }
                at = end;
            }
            _ => at += 1,
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    Some(values)
}

/// The position after the string that begins here.
fn after_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_very_many_values_is_malformed() {
        let line = |values: usize| format!("[{}]", vec!["NaN"; values].join(","));
        let replaced = Replaced::new(&line(MOST)).unwrap();
        assert_eq!(replaced.line, line(MOST).replace("NaN", "null"));
        assert_eq!(replaced.original(replaced.line.len() - 1), line(MOST).len() - 1);
        assert!(Replaced::new(&line(MOST + 1)).is_none());
    }

    #[test]
    fn values_become_null() {
        for (line, expected) in [
            (r#"{"a":NaN}"#, r#"{"a":null}"#),
            (r#"{"a": -Infinity ,"b":[NaN,Infinity],"c":1}"#, r#"{"a": null ,"b":[null,null],"c":1}"#),
            (r#"{"a":"NaN, \"NaN\", Infinity","b":NaN}"#, r#"{"a":"NaN, \"NaN\", Infinity","b":null}"#),
            (r#"{"é":NaN,"é":"é"}"#, r#"{"é":null,"é":"é"}"#),
            // Not closed, and wrong otherwise.
            (r#"{"a":NaN,"b"#, r#"{"a":null,"b"#),
            (r#"[NaN"#, r#"[null"#),
        ] {
            let replaced = Replaced::new(line).unwrap();
            assert_eq!(replaced.line, expected, "{line}");
        }
    }

    #[test]
    fn what_is_no_such_value() {
        for line in [
            "",
            r#"{"a":1}"#,
            r#"{"NaN":"Infinity"}"#,
            r#"{"a":nan}"#,
            r#"{"a":NaNs}"#,
            r#"{"a":-NaN}"#,
            "NaN",
            r#"{"a\"#,
        ] {
            assert!(Replaced::new(line).is_none(), "{line}");
        }
    }

    #[test]
    fn positions_are_those_of_the_original() {
        let line = r#"{"a":NaN,"b":-Infinity,"c":"x"}"#;
        let replaced = Replaced::new(line).unwrap();
        assert_eq!(replaced.line, r#"{"a":null,"b":null,"c":"x"}"#);
        // Of the new line: before, in and after each value.
        for (at, original) in [(0, 0), (4, 4), (5, 5), (8, 5), (9, 8), (13, 12), (14, 13), (17, 13), (18, 22), (27, 31)]
        {
            assert_eq!(replaced.original(at), original, "{at}");
        }
        #[cfg(feature = "clean")]
        {
            let part = &replaced.line[23..26];
            let original = replaced.in_original(line, part).unwrap();
            assert_eq!((original, original.as_ptr()), (r#""x""#, line[27..].as_ptr()));
        }
    }
}
