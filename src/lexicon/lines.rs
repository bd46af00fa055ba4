//! The lines of lists of words and of weights.
//!
//! A line that cannot be used is an error and is not skipped, unlike a document that cannot be read: a list is an option
//! of the run. Its digest is part of what an index was made with, and a run without some of its terms would give other
//! results.

use crate::error::Error;

/// The maximum length of a line, in bytes. A longer one is not a list: it may be the beginning of any other file.
pub(super) const LONGEST: usize = 1 << 20;

/// Passes the lines of a list to a function, without white space at their ends. Empty lines are left out, and those that
/// begin with `#`. Errors call the list `name`; `expected` describes a line.
///
/// # Errors
/// A line is not UTF-8 or too long, or the function refuses it. The error names the list and the line.
pub(super) fn each<'a>(
    name: &str,
    content: &'a [u8],
    expected: &str,
    mut each: impl FnMut(&'a str) -> Result<(), String>,
) -> Result<(), Error> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    (1..).zip(content.split(|&byte| byte == b'\n')).try_for_each(|(number, line)| {
        let checked = match std::str::from_utf8(line) {
            _ if line.len() > LONGEST => {
                Err(format!("a line of {} bytes, and {LONGEST} is the most: expected {expected}", line.len()))
            }
            Err(_) => Err(format!("not UTF-8: expected {expected}")),
            Ok(line) => match line.trim() {
                "" => Ok(()),
                line if line.starts_with('#') => Ok(()),
                line => each(line),
            },
        };
        checked.map_err(|why| wrong(name, number, why))
    })
}

/// The error of a line.
pub(super) fn wrong(name: &str, line: usize, message: impl Into<String>) -> Error {
    Error::Lexicon { place: format!("{name}:{line}"), message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(content: &[u8]) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        let read = each("f", content, "a word", |line| {
            lines.push(line.to_string());
            if line == "bad" { Err("it is bad".into()) } else { Ok(()) }
        });
        read.map(|()| lines).map_err(|error| error.to_string())
    }

    #[test]
    fn comments_and_white_space_are_left_out() {
        let expected = ["a", "b c", "d"].map(String::from).to_vec();
        assert_eq!(lines(b"\xef\xbb\xbfa\n\n# c\n  # d\n b c\t\r\n\nd").unwrap(), expected);
        assert_eq!(lines(b"").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(lines(b"a\n\nbad\n").unwrap_err(), "f:3: it is bad");
        assert_eq!(lines(b"a\n\xff\n").unwrap_err(), "f:2: not UTF-8: expected a word");
        let long = [b"a\n".to_vec(), vec![b'x'; LONGEST + 1]].concat();
        assert_eq!(lines(&long).unwrap_err(), "f:2: a line of 1048577 bytes, and 1048576 is the most: expected a word");
        assert_eq!(lines(&long[..long.len() - 1]).unwrap().len(), 2);
    }
}
