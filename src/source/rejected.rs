//! Records that were rejected, as JSON lines.

use super::document::Place;
use super::problem::{Problem, ProblemKind, Severity};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{self, Write};

/// A line about a rejected record or file.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename = "rejected")]
struct Rejected<'a> {
    file: Cow<'a, str>,
    /// The line, or the number of the record in an archive; `None` for a whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    kind: ProblemKind,
    error: Cow<'a, str>,
    /// The original record, with U+FFFD in place of bytes that are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Cow<'a, str>>,
    /// The original record in hexadecimal, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<Cow<'a, str>>,
}

/// Bytes in hexadecimal, two digits each.
fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes that are written so; `None` if it is something else.
fn of_hex(hex: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|&[high, low]| Some(value(high)? << 4 | value(low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}

/// Writes a line for each record that a problem rejected, with the message as it is worded.
///
/// # Errors
/// It cannot be written.
pub fn write_rejected(problem: &Problem, message: &str, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut out = out;
    let content = problem.record.as_deref().map(String::from_utf8_lossy);
    // Borrowed if it is UTF-8.
    let bytes = problem.record.as_deref().filter(|_| matches!(content, Some(Cow::Owned(_)))).map(hex);
    for place in problem.places() {
        let record = Rejected {
            file: (&*place.path).into(),
            record: place.line,
            id: problem.id.as_deref().map(Cow::Borrowed),
            kind: problem.kind,
            error: message.into(),
            content: content.as_deref().map(Cow::Borrowed),
            bytes: bytes.as_deref().map(Cow::Borrowed),
        };
        serde_json::to_writer(&mut out, &record)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The problem that a line is about.
///
/// # Errors
/// It is another line.
pub(crate) fn read_rejected(line: &str) -> io::Result<Problem> {
    let Rejected { file, record, id, kind, error, content, bytes } = serde_json::from_str(line)?;
    let severity = if kind.is_by_rule() { Severity::Skipped } else { Severity::Failed };
    let place = Place { path: file.into(), line: record };
    Ok(Problem {
        id: id.map(Cow::into_owned),
        record: bytes
            .and_then(|bytes| of_hex(&bytes))
            .or_else(|| content.map(|content| content.into_owned().into_bytes())),
        ..Problem::at(place, severity, kind, error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let place = Place { path: "a.jsonl".into(), line: Some(3) };
        let problem = Problem {
            id: Some("x".into()),
            records: 2,
            record: Some(b"[1]\n".to_vec()),
            ..Problem::at(place, Severity::Failed, ProblemKind::Json, "not a JSON object")
        };
        let file = Problem::new(Severity::Skipped, ProblemKind::NotText, "b.zip", None, "an archive");
        // 0x0F and 0xFF: a digit of 0, and one above 9.
        let damaged = Problem { records: 1, record: Some(b"caf\xe9\x0f\xff".to_vec()), ..problem.clone() };
        let mut lines = Vec::new();
        write_rejected(&damaged, &damaged.message, &mut lines).unwrap();
        let fields = "\"content\":\"caf\u{fffd}\\u000f\u{fffd}\",\"bytes\":\"636166e90fff\"}\n";
        assert!(str::from_utf8(&lines).unwrap().ends_with(fields));
        write_rejected(&problem, &problem.message, &mut lines).unwrap();
        write_rejected(&file, &file.message, &mut lines).unwrap();
        assert_eq!(str::from_utf8(&lines).unwrap().matches("\"bytes\"").count(), 1);
        let read: Vec<Problem> =
            str::from_utf8(&lines).unwrap().lines().map(|line| read_rejected(line).unwrap()).collect();
        let next = Place { path: "a.jsonl".into(), line: Some(4) };
        let first = Problem { records: 1, ..problem.clone() };
        assert_eq!(read, [damaged, first.clone(), Problem { place: next, ..first }, file]);
        assert!(read_rejected(r#"{"type":"removed","file":"a","id":"b"}"#).is_err());
    }

    #[test]
    fn what_is_no_hexadecimal_is_no_record() {
        for (hex, bytes) in [("", Some(&b""[..])), ("0aFF", Some(b"\x0a\xff")), ("0", None), ("0g", None), ("0é", None)]
        {
            assert_eq!(of_hex(hex).as_deref(), bytes, "{hex}");
        }
    }

    #[test]
    fn a_kind_is_written_by_its_name() {
        for kind in [
            ProblemKind::Encoding,
            ProblemKind::Json,
            ProblemKind::TooLong,
            ProblemKind::NeedsProgram,
            ProblemKind::DamagedColumn,
        ] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
