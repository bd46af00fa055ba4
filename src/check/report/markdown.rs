//! A comment on a pull request, in Markdown for code hosting services.
//!
//! Texts of pages are in blocks of code or in `<code>`, so that they are neither markup nor mentions.

use super::super::finding::{Finding, Place};
use super::super::outcome::Outcome;
use super::diff::{MARKS, edits};
use super::earlier::MARKDOWN;
use super::marked::{Mark, Marked};
use super::places::{Links, Others, accepted, and_more, others, reasons_in};
use crate::readable::{count, counted, escaped};
use std::fmt::Write;

/// Maximum number of characters: GitHub takes 65,536.
const MAX_CHARS: usize = 65_000;

/// Characters that are reserved for what is written after the findings.
const RESERVED: usize = 1_000;

/// Maximum number of other places that are listed, unless more are new.
const MAX_OTHERS: usize = 10;

/// Maximum number of characters shown of the differences of a finding.
const MAX_SHOWN: usize = 600;

/// Maximum number of characters in a line of a text.
const MAX_LINE: usize = 90;

/// Number of pages with many copies that are listed, and the number of findings from which on they are.
const WORST_PAGES: usize = 5;
const MANY_FINDINGS: usize = 10;

/// Maximum number of stale entries that are listed.
const MAX_STALE: usize = 20;

/// Omits accepted findings. Paths are relative to the root of the repository.
pub(super) fn render(outcome: &Outcome) -> String {
    let findings = outcome.listed_by_grade();
    let mut out = head(outcome, findings.len());
    let mut length = out.chars().count();
    let links = Links::new(outcome);
    let (mut grade, mut shown) = (None, 0);
    for finding in &findings {
        let mut block = String::new();
        if grade != Some(finding.grade) {
            let number = findings.iter().filter(|other| other.grade == finding.grade).count();
            _ = writeln!(block, "\n#### {}", counted(number as u64, finding.grade.name()));
        }
        block += &details(outcome, finding, &links);
        length += block.chars().count();
        if length > MAX_CHARS - RESERVED {
            break;
        }
        grade = Some(finding.grade);
        out += &block;
        shown += 1;
    }
    if shown < findings.len() {
        let left = counted((findings.len() - shown) as u64, "more copy");
        _ = writeln!(out, "\n{left} left off: a comment holds 65,000 characters. The `html` report has all of them.");
    }
    out
}

/// The heading, with totals.
fn head(outcome: &Outcome, number: usize) -> String {
    let all = outcome.unaccepted().count();
    let total = match counted(all as u64, outcome.noun()) {
        _ if number == 0 && outcome.only_new => "no new copies".to_string(),
        _ if number == 0 => "no copies".to_string(),
        total if number < all => format!("{} of {total}", count(number as u64)),
        total => total,
    };
    let stale = outcome.failing_stale();
    let entries = counted(stale.len() as u64, "stale entry");
    let total = if stale.is_empty() { total } else { format!("{total}, {entries}") };
    let mut out = format!("{MARKDOWN}### dedup check: {total}\n\n{}.\n", outcome.summary());
    for line in [outcome.by_kind(), hidden(&outcome.unreported())].iter().filter(|line| !line.is_empty()) {
        _ = writeln!(out, "\n{line}.");
    }
    if number > MANY_FINDINGS {
        out += "\nPages with the most copied words:\n\n<ul>\n";
        for page in outcome.worst_pages(WORST_PAGES) {
            let (words, findings) = (counted(page.words as u64, "word"), counted(page.findings as u64, "copy"));
            _ = writeln!(out, "<li>{}: {words} in {findings}</li>", code(&page.path));
        }
        out += "</ul>\n";
    }
    if !stale.is_empty() {
        _ = writeln!(out, "\n#### {entries} of {}\n\n<ul>", code(&outcome.baseline_path()));
        for entry in stale.iter().take(MAX_STALE) {
            _ = writeln!(out, "<li>{}</li>", code(&entry.stale_message()));
        }
        if stale.len() > MAX_STALE {
            let more = counted((stale.len() - MAX_STALE) as u64, "more stale entry");
            _ = writeln!(out, "<li>and {more}</li>");
        }
        out += "</ul>\n";
    }
    out
}

fn hidden(unreported: &str) -> String {
    if unreported.is_empty() { String::new() } else { format!("Not shown: {unreported}") }
}

/// A finding that opens when it is selected.
fn details(outcome: &Outcome, finding: &Finding, links: &Links) -> String {
    let here = finding.primary();
    let summary = finding.summary_with(|place| outcome.path(place));
    let summary = html(&escaped(&format!("{summary}{}{}", reasons_in(outcome, finding), accepted(finding))));
    let name = code(&format!("{}:{}", outcome.path(here), here.stretch.start.line));
    let Others { places, more, more_new } = others(finding, MAX_OTHERS);
    let mut out = format!("\n<details>\n<summary>{name}: {summary}</summary>\n<ul>\n");
    for place in std::iter::once(here).chain(places) {
        _ = writeln!(out, "<li>{}</li>", item(outcome, place, links));
    }
    if more > 0 {
        _ = writeln!(out, "<li>{}</li>", and_more("", more, more_new));
    }
    out += "</ul>\n\n";
    out += &block(&edits(finding.shown(), MAX_SHOWN));
    if let Some(proposal) = &finding.proposal {
        _ = writeln!(out, "\nProposal: {}", code(&proposal.how));
    }
    out + "\n</details>\n"
}

/// A place, with a link if there is a template for it.
fn item(outcome: &Outcome, place: &Place, links: &Links) -> String {
    let name = code(&format!("{}:{}", outcome.path(place), place.stretch.start.line));
    let name = match links.place(place) {
        Some(link) => format!("<a href=\"{}\">{name}</a>", html(&link)),
        None => name,
    };
    let heading = place.heading.as_ref().map_or(String::new(), |heading| format!(", under {}", code(heading)));
    let new = if place.is_new { ", new" } else { "" };
    format!("{name}{heading}{new}")
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", html(&escaped(text)))
}

/// Escapes a text for HTML.
fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The differences as a block of code in the language `diff`, wrapped: removed and added words are lines of their own.
fn block(text: &Marked) -> String {
    let mut lines = String::new();
    for (mark, part) in text.parts() {
        let delimiters = MARKS.iter().find(|(own, _)| *own == mark).map(|(_, delimiters)| delimiters);
        let inner = |[open, close]: &[&str; 2]| part.strip_prefix(open).and_then(|part| part.strip_suffix(close));
        let part = delimiters.and_then(inner).unwrap_or(part);
        let sign = match mark {
            Mark::Removed => "- ",
            Mark::Added => "+ ",
            _ => "  ",
        };
        wrapped(part).iter().for_each(|line| _ = writeln!(lines, "{sign}{line}"));
    }
    let fence = "`".repeat(longest_run(&lines).max(2) + 1);
    format!("{fence}diff\n{lines}{fence}\n")
}

/// The words of a text in lines. A longer word is not broken.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let own = word.chars().count();
        match lines.last_mut() {
            Some(line) if length + 1 + own <= MAX_LINE => {
                _ = write!(line, " {word}");
                length += 1 + own;
            }
            _ => {
                lines.push(word.into());
                length = own;
            }
        }
    }
    lines
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_lines_of_their_own() {
        let text = Marked::default()
            .text("one ")
            .marked(Mark::Removed, "[-two-]")
            .marked(Mark::Added, "{+2 ```+}")
            .text(&format!(" {}", "three ".repeat(16)));
        let three = ["three"; 15].join(" ");
        assert_eq!(block(&text), format!("````diff\n  one\n- two\n+ 2 ```\n  {three}\n  three\n````\n"));
    }
}
