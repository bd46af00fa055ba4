//! Lines: each line is a record. Blank lines are not records, but count in line numbers. What is blank depends on where lines come from.

use memchr::memchr;

use super::decode::without_utf8_mark;

/// Which lines are blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blank {
    /// Those of white space in ASCII, also after a byte order mark, as in files that were joined.
    #[cfg_attr(not(feature = "files"), allow(dead_code, reason = "only streams are read"))]
    OfFiles,
    /// Those of spaces, tabs and carriage returns, and no others: someone may wait for the answer to a line of a stream.
    OfStreams,
}

impl Blank {
    /// Whether a line is, with or without its end.
    pub fn is(self, raw: &[u8]) -> bool {
        match self {
            Blank::OfFiles => content(raw).trim_ascii_start().is_empty(),
            Blank::OfStreams => raw.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')),
        }
    }
}

/// The lines that are not blank, without their ends, with their numbers. A byte order mark at the start of a line, as
/// in concatenated files, is removed.
pub(super) fn lines(first: u64, bytes: &[u8], blank: Blank) -> impl Iterator<Item = (u64, &[u8])> {
    raw_lines(bytes, blank).map(move |(raw, number)| (first + number, content(raw)))
}

/// The same lines unchanged, including ends, with their numbers from 0.
pub(super) fn raw_lines(bytes: &[u8], blank: Blank) -> impl Iterator<Item = (&[u8], u64)> {
    let mut rest = bytes;
    let every = std::iter::from_fn(move || {
        let length = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let (line, after) = rest.split_at(length);
        rest = after;
        (length > 0).then_some(line)
    });
    every.zip(0..).filter(move |(line, _)| !blank.is(line))
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
        check_of(Blank::OfFiles, input, expected);
        check_of(Blank::OfStreams, input, expected);
    }

    fn check_of(blank: Blank, input: &str, expected: &[(u64, &str)]) {
        let expected: Vec<(u64, &[u8])> = expected.iter().map(|&(n, line)| (n, line.as_bytes())).collect();
        assert_eq!(lines(1, input.as_bytes(), blank).collect::<Vec<_>>(), expected, "{blank:?}");
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
        let joined = "\u{feff}a\n\u{feff}b\n\u{feff}\n";
        check_of(Blank::OfFiles, joined, &[(1, "a"), (2, "b")]);
        check_of(Blank::OfStreams, joined, &[(1, "a"), (2, "b"), (3, "")]);
    }

    #[test]
    fn of_a_stream_only_spaces_tabs_and_carriage_returns_are_blank() {
        let input = " \r\t\n\x0c\n\x0b\n\n\u{a0}\n\u{feff} \r\n\u{2028}\n";
        let records = [(2, "\x0c"), (3, "\x0b"), (5, "\u{a0}"), (6, " "), (7, "\u{2028}")];
        check_of(Blank::OfStreams, input, &records);
        check_of(Blank::OfFiles, input, &[records[1], records[2], records[4]]);
    }
}
