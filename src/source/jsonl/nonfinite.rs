//! `NaN`, `Infinity` and `-Infinity`, which JSON does not have and many programs write for numbers. They are read as null.

use std::ops::Range;

/// The values, none of which begins another one.
const VALUES: [&str; 3] = ["NaN", "Infinity", "-Infinity"];
const NULL: &str = "null";

/// A line in which such values are null.
pub(super) struct Replaced {
    pub line: String,
    /// Where each of them was in the line, in order.
    values: Vec<Range<usize>>,
}

impl Replaced {
    /// Replaces such values of a line; `None` if it has none. The line need not be valid JSON otherwise.
    ///
    /// # Cost
    /// Time grows with the length of the line.
    pub fn new(line: &str) -> Option<Self> {
        let values = values(line);
        let first = values.first()?.start;
        let mut replaced = line[..first].to_string();
        for (number, value) in values.iter().enumerate() {
            let end = values.get(number + 1).map_or(line.len(), |next| next.start);
            replaced += NULL;
            replaced += &line[value.end..end];
        }
        Some(Replaced { line: replaced, values })
    }

    /// Where a byte of the new line was in the original one; of a value, its first byte.
    pub fn original(&self, at: usize) -> usize {
        // What the values before this position were longer than null, and how far it is in the last of them.
        let (mut before, mut now) = (0, 0);
        for value in &self.values {
            let start = now + (value.start - before);
            if at < start {
                break;
            }
            if at < start + NULL.len() {
                return value.start;
            }
            (before, now) = (value.end, start + NULL.len());
        }
        before + (at - now)
    }

    /// The part of the original line that stands in the new one. It has no such value.
    #[cfg(feature = "clean")]
    pub fn in_original<'a>(&self, line: &'a str, part: &str) -> Option<&'a str> {
        let at = part.as_ptr().addr().checked_sub(self.line.as_ptr().addr())?;
        let start = self.original(at);
        line.get(start..start + part.len()).filter(|original| *original == part)
    }
}

/// Such values outside of strings, where a value of JSON may be.
fn values(line: &str) -> Vec<Range<usize>> {
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
    values
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
