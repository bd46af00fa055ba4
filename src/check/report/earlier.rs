//! Recognises reports of earlier runs by their first lines, so that they are not read as pages.

use super::super::baseline::STALE;
use super::super::grade::Grade;
use super::places::MAX_NEW;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The first lines of a report for a browser.
const HTML: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";

/// The tag before its title that distinguishes it from other pages.
const GENERATOR: &str = "<meta name=\"generator\" content=\"dedup check\">\n";

/// The first line of a report in Markdown. Programs that update a comment find it by this line.
pub(super) const MARKDOWN: &str = "<!-- dedup check -->\n";

/// How its title begins.
const COMMENT_TITLE: &str = "### dedup check: ";

/// The report for people without findings: an empty file could not be distinguished from an empty page.
pub(super) const NO_COPIES: &str = "No copies.\n";

/// Whether a file starts like a report of an earlier run. Only reports for people and browsers, and comments, are recognised; the others
/// rarely have the extension of a page.
pub fn is_report(path: &Path) -> bool {
    start(path).is_some_and(|text| starts_report(&text))
}

/// Whether a file is a report for browsers. These are recognised reliably.
pub fn is_html_report(path: &Path) -> bool {
    start(path).is_some_and(|text| is_html(&text))
}

/// The start of a file.
fn start(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    // Enough for all places of a finding, if paths are not of maximum length.
    let is_read = fs::metadata(path).is_ok_and(|found| found.is_file())
        && File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut start)).is_ok();
    is_read.then(|| String::from_utf8_lossy(&start).into_owned())
}

/// Whether a text starts like a report for people or browsers, or a comment.
pub fn starts_report(text: &str) -> bool {
    let is_comment = text.strip_prefix(MARKDOWN).is_some_and(|rest| rest.starts_with(COMMENT_TITLE));
    text == NO_COPIES || is_comment || is_html(text) || is_human(text) || is_stale(text)
}

/// Whether a text starts with a stale entry as in the report for people.
fn is_stale(text: &str) -> bool {
    let message = text.lines().next().and_then(|line| line.split_once(": error: "));
    message.is_some_and(|(_, message)| message.starts_with(STALE) && message.contains(" and "))
}

/// Whether a text starts with a finding as in the report for people.
fn is_human(text: &str) -> bool {
    let mut lines = text.lines();
    let summary = lines
        .next()
        .and_then(after_place)
        .and_then(|rest| Grade::ALL.iter().find_map(|grade| rest.strip_prefix(grade.name())?.strip_prefix(": ")));
    let is_copy = summary.is_some_and(|summary| summary.contains(" % alike") || summary.contains(" % of "));
    let is_also = |line: &str| line.strip_prefix("also at ").is_some_and(starts_with_place);
    if !is_copy || !lines.next().is_some_and(is_also) {
        return false;
    }
    // The other places, and how many more there are.
    let mut lines = lines.take(MAX_NEW + 1).skip_while(|line| is_also(line) || line.starts_with("and "));
    lines.next().is_some_and(|line| line.starts_with("    "))
}

/// Whether a text starts like a report for browsers.
fn is_html(text: &str) -> bool {
    let head = text.strip_prefix(HTML).and_then(|head| head.split_once("<title>"));
    head.is_some_and(|(head, _)| head.ends_with(GENERATOR))
}

/// The rest of a line after path, line and column.
fn after_place(line: &str) -> Option<&str> {
    line.match_indices(": ").find_map(|(end, _)| is_place(&line[..end]).then(|| &line[end + 2..]))
}

/// Whether a line starts with path, line and column, and has nothing or a remark after them.
fn starts_with_place(line: &str) -> bool {
    is_place(line) || line.match_indices(", ").any(|(end, _)| is_place(&line[..end]))
}

/// Whether a text is a path with line and column.
fn is_place(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut place = text.rsplitn(3, ':');
    place.next().is_some_and(is_number) && place.next().is_some_and(is_number) && place.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: &str = "a.md:6:1: error: paragraph of 57 words, 94 % alike\nalso at b.md:6:1\n    The same words.\n";

    #[test]
    fn reports_are_recognised() {
        for text in [
            COPY,
            "a: b.md:6:1: warning: 90 % of a: b.md is in c.md\nalso at c.md:1:1, under “C”\n    x\n\nmore",
            "a.md:6:1: note: paragraph of 57 words, 94 % alike (release notes) (accepted)\nalso at b.md:6:1, new too\n    x",
            &format!(
                "{}{}and 2 more places\n    x",
                COPY.split("also").next().unwrap(),
                "also at b.md:6:1\n".repeat(5)
            ),
            "base.json: error: stale: accepted, but not found in this run (removed): a.md and b.md: text\n",
            "<!-- dedup check -->\n### dedup check: no copies\n",
            NO_COPIES,
            include_str!("page.html"),
        ] {
            assert!(starts_report(text), "{text}");
        }
    }

    #[test]
    fn pages_are_not_reports() {
        let quoted = format!("# What is reported\n\n{COPY}");
        let words = COPY.replace("    The", "The");
        let late = format!("{HTML}<title>How reports look</title>{GENERATOR}");
        let about = format!("# Reports\n\n{GENERATOR}\n");
        let comment = format!("# Comments\n\n{MARKDOWN}");
        for text in [
            "",
            "\n",
            "Moving\nSee: also at\n\n    words",
            "a.md:6:1: error: all\nalso at b.md:6:1\n    words",
            "a.md:6:1: 94 % alike\nalso at b.md:6:1\n    words",
            "a.md:6:1: error: 94 % alike\nalso at b.md:6\n    words",
            "a.md:6:1: error: 94 % alike\nalso at b.md:6:1",
            "No copies.\n\nThis page is about copies.\n",
            &quoted,
            &words,
            &late,
            &about,
            &comment,
        ] {
            assert!(!starts_report(text), "{text}");
        }
    }

    #[test]
    fn the_rest_after_a_place() {
        for (line, expected) in [
            ("a:1:2: b", Some("b")),
            ("a: b:1:2: c: d", Some("c: d")),
            ("a:1:2:3:4: b", Some("b")),
            ("1:2: b", None),
            ("a:x:2: b", None),
            ("a:1:: b", None),
            ("a:1:2:b", None),
            ("", None),
        ] {
            assert_eq!(after_place(line), expected, "{line}");
        }
    }
}
