//! Lines: each line is a record. Blank lines are not records, but count in line numbers.

use memchr::memchr;

use super::decode::without_utf8_mark;

/// The lines that are not blank, without their ends, with their numbers. A byte order mark at the start of a line, as
/// in concatenated files, is removed.
pub(super) fn lines(first: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    raw_lines(bytes).map(move |(raw, number)| (first + number, content(raw)))
}

/// The same lines unchanged, including ends, with their numbers from 0.
pub(super) fn raw_lines(bytes: &[u8]) -> impl Iterator<Item = (&[u8], u64)> {
    let mut rest = bytes;
    let every = std::iter::from_fn(move || {
        let length = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let (line, after) = rest.split_at(length);
        rest = after;
        (length > 0).then_some(line)
    });
    every.zip(0..).filter(|(line, _)| !content(line).trim_ascii_start().is_empty())
}

/// A line without its end, and without a byte order mark.
fn content(raw: &[u8]) -> &[u8] {
    let line = raw.strip_suffix(b"\n").unwrap_or(raw);
    without_utf8_mark(line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &[(u64, &str)]) {
        let expected: Vec<(u64, &[u8])> = expected.iter().map(|&(n, line)| (n, line.as_bytes())).collect();
        assert_eq!(lines(1, input.as_bytes()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn either_line_end_and_none() {
        check("a\nb\r\nc", &[(1, "a"), (2, "b"), (3, "c")]);
    }

    #[test]
    fn blank_lines_count_and_are_no_records() {
        check("\n\r\na\n \t\n\nb\n\n", &[(3, "a"), (6, "b")]);
    }

    #[test]
    fn a_carriage_return_within_a_line_stays() {
        check("a\rb\r\r\n", &[(1, "a\rb\r")]);
    }

    #[test]
    fn marks_where_files_were_joined() {
        check("\u{feff}a\n\u{feff}b\n\u{feff}\n", &[(1, "a"), (2, "b")]);
    }
}
