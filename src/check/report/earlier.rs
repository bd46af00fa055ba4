//! Recognises reports of earlier runs by their first lines, so that they are not read as pages.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The first lines of a report for a browser.
const HTML: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";

/// The tag before its title that distinguishes it from other pages.
const GENERATOR: &str = "<meta name=\"generator\" content=\"dedup check\">\n";

/// The report for people without findings: an empty file could not be distinguished from an empty page.
pub(super) const NO_COPIES: &str = "No copies.\n";

/// Whether a file starts like a report of an earlier run. Only reports for people and browsers are recognised; the others rarely have
/// the extension of a page.
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
    // Enough for two paths of maximum length with escaped control characters.
    let is_read = fs::metadata(path).is_ok_and(|found| found.is_file())
        && File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut start)).is_ok();
    is_read.then(|| String::from_utf8_lossy(&start).into_owned())
}

/// Whether a text starts like a report for people or browsers.
fn starts_report(text: &str) -> bool {
    let mut lines = text.lines();
    let copy = [lines.next(), lines.next(), lines.next()];
    let is_human = match copy {
        [Some(here), Some(there), Some(words)] => {
            let is_copy = after_place(here).is_some_and(|copy| {
                let copy = copy.strip_suffix(" (accepted)").unwrap_or(copy);
                copy.ends_with(" % alike") || copy.contains(" is in ")
            });
            let other = after_place(there).and_then(|other| other.strip_prefix("the other place"));
            is_copy
                && other.is_some_and(|under| under.is_empty() || under.starts_with(", under “"))
                && words.starts_with("    ")
        }
        _ => text == NO_COPIES,
    };
    is_human || is_html(text)
}

/// Whether a text starts like a report for browsers.
fn is_html(text: &str) -> bool {
    let head = text.strip_prefix(HTML).and_then(|head| head.split_once("<title>"));
    head.is_some_and(|(head, _)| head.ends_with(GENERATOR))
}

/// The rest of a line after path, line and column.
fn after_place(line: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    line.match_indices(": ").find_map(|(end, _)| {
        let mut place = line[..end].rsplitn(3, ':');
        let is_place =
            place.next().is_some_and(is_number) && place.next().is_some_and(is_number) && place.next().is_some();
        is_place.then(|| &line[end + 2..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: &str = "a.md:6:1: paragraph of 57 words, 94 % alike\nb.md:6:1: the other place\n    The same words.\n";

    #[test]
    fn reports_are_recognised() {
        for text in [
            COPY,
            "a: b.md:6:1: 90 % of a: b.md is in c.md\nc.md:1:1: the other place, under “C”\n    x\n\nmore",
            "a.md:6:1: paragraph of 57 words, 94 % alike (accepted)\nb.md:6:1: the other place\n    x",
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
        for text in [
            "",
            "\n",
            "Moving\nSee: the other place\n\n    words",
            "a.md:6:1: all alike\nb.md:6:1: the other place\n    words",
            "a.md:6:1: 94 % alike\nb.md:6: the other place\n    words",
            "a.md:6:1: 94 % alike\nb.md:6:1: the other place to be\n    words",
            "a.md:6:1: 94 % alike\nb.md:6:1: the other place",
            "No copies.\n\nThis page is about copies.\n",
            &quoted,
            &words,
            &late,
            &about,
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
