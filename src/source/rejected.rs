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
}

/// Writes a line for each record that a problem rejected, with the message as it is worded.
///
/// # Errors
/// It cannot be written.
pub fn write_rejected(problem: &Problem, message: &str, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut out = out;
    let content = problem.record.as_deref().map(String::from_utf8_lossy);
    for place in problem.places() {
        let record = Rejected {
            file: (&*place.path).into(),
            record: place.line,
            id: problem.id.as_deref().map(Cow::Borrowed),
            kind: problem.kind,
            error: message.into(),
            content: content.as_deref().map(Cow::Borrowed),
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
    let Rejected { file, record, id, kind, error, content } = serde_json::from_str(line)?;
    let severity = if kind.is_by_rule() { Severity::Skipped } else { Severity::Failed };
    let place = Place { path: file.into(), line: record };
    Ok(Problem {
        id: id.map(Cow::into_owned),
        record: content.map(|content| content.into_owned().into_bytes()),
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
        let mut lines = Vec::new();
        write_rejected(&problem, &problem.message, &mut lines).unwrap();
        write_rejected(&file, &file.message, &mut lines).unwrap();
        let read: Vec<Problem> =
            str::from_utf8(&lines).unwrap().lines().map(|line| read_rejected(line).unwrap()).collect();
        let next = Place { path: "a.jsonl".into(), line: Some(4) };
        let first = Problem { records: 1, ..problem.clone() };
        assert_eq!(read, [first.clone(), Problem { place: next, ..first }, file]);
        assert!(read_rejected(r#"{"type":"removed","file":"a","id":"b"}"#).is_err());
    }

    #[test]
    fn a_kind_is_written_by_its_name() {
        for kind in [ProblemKind::Json, ProblemKind::TooLong, ProblemKind::NeedsProgram, ProblemKind::DamagedColumn] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
