//! The list of findings in the page for a browser as it is without its script: all findings that fit, the most serious first.
//!
//! The script takes the list away and builds its own, with filters.

use super::super::finding::{Finding, Pair, Place, first};
use super::super::outcome::Outcome;
use super::places::{Links, others};
use super::sides::{Mark, parts, visible};
use crate::readable::{counted, escaped};
use std::cmp::Reverse;
use std::fmt::Write as _;

/// Maximum size in bytes.
pub(super) const MAX_BYTES: usize = 1_000_000;

/// Maximum number of characters of each text, from all to none. The first with which all findings fit is used; with the last, as many findings
/// as fit.
const KEPT: [usize; 7] = [6_000, 2_000, 1_000, 500, 250, 120, 0];

/// Maximum number of other places of a finding.
const MAX_OTHERS: usize = 20;

/// Maximum number of characters of the text in the head of a finding.
const EXCERPT: usize = 240;

/// Maximum number of stale entries.
const MAX_STALE: usize = 100;

/// The list, in HTML.
pub(super) fn list(outcome: &Outcome) -> String {
    if outcome.findings.is_empty() && outcome.stale.is_empty() {
        return "<p class=\"empty\">No copies were found.</p>".into();
    }
    let mut findings: Vec<&Finding> = outcome.findings.iter().collect();
    findings.sort_by_key(|finding| (finding.accepted, Reverse(finding.grade), finding.listed_by()));
    let links = Links::new(outcome);
    let stale = stale(outcome);
    let whole = |&chars: &usize| {
        let (list, left) = within(&findings, &links, chars, MAX_BYTES.saturating_sub(stale.len()));
        (left == 0).then_some((list, left))
    };
    let last = KEPT.len() - 1;
    let (list, left) = KEPT[..last]
        .iter()
        .find_map(whole)
        .unwrap_or_else(|| within(&findings, &links, KEPT[last], MAX_BYTES.saturating_sub(stale.len())));
    let more = match left {
        0 => String::new(),
        left => format!(
            "<p>{} not shown: with JavaScript this page has all, and so has the report <code>jsonl</code>.</p>\n",
            counted(left as u64, "more copy")
        ),
    };
    format!("{list}{more}{stale}")
}

/// The findings that fit, and how many do not.
fn within(findings: &[&Finding], links: &Links, chars: usize, max_bytes: usize) -> (String, usize) {
    let mut list = String::new();
    for (number, finding) in findings.iter().enumerate() {
        let before = list.len();
        card(&mut list, finding, links, chars);
        if list.len() > max_bytes {
            list.truncate(before);
            return (list, findings.len() - number);
        }
    }
    (list, 0)
}

fn card(out: &mut String, finding: &Finding, links: &Links, chars: usize) {
    let accepted = if finding.accepted { " accepted" } else { "" };
    let grade = finding.grade.name();
    let primary = finding.primary();
    *out += &format!("<details class=\"copy {grade}{accepted}\"><summary>");
    tagged(out, "span", "where", &name(primary));
    for (class, text) in [("grade", grade), ("", &escaped(&finding.summary()))] {
        out.push(' ');
        tagged(out, "span", class, text);
    }
    if let [one, other] = &finding.places[..] {
        out.push(' ');
        let other = if finding.primary == 0 { other } else { one };
        tagged(out, "span", "faint also", &format!("also at {}", name(other)));
    }
    let reasons = finding.reason_texts().into_iter().map(|reason| escaped(&reason));
    for tag in reasons.chain(finding.accepted.then(|| "accepted".to_string())) {
        out.push(' ');
        tagged(out, "span", "tag", &tag);
    }
    if chars > 0 {
        let text = first(primary.text(), EXCERPT.min(chars));
        let dots = if text.len() < primary.text().len() { "…" } else { "" };
        tagged(out, "span", "excerpt", &format!("{text}{dots}"));
    }
    *out += "</summary><div class=\"body\">";
    places(out, finding, links);
    if let Some(reason) = finding.shown_reason() {
        tagged(out, "p", "", &format!("Accepted: {}", escaped(&reason)));
    }
    if let Some(proposal) = &finding.proposal {
        tagged(out, "p", "", &format!("Proposal: {}", escaped(&proposal.how)));
    }
    if chars > 0 {
        texts(out, finding.shown(), links, chars);
    }
    *out += "</div></details>\n";
}

/// The place to look at, and the others.
fn places(out: &mut String, finding: &Finding, links: &Links) {
    let others = others(finding, MAX_OTHERS);
    *out += "<ul class=\"places\">";
    for place in std::iter::once(finding.primary()).chain(others.places) {
        *out += "<li>";
        titled(out, place, links);
        *out += "</li>";
    }
    if others.more > 0 {
        tagged(out, "li", "", &format!("and {}", counted(others.more as u64, "more place")));
    }
    *out += "</ul>";
}

/// Both texts: on the left that of the other place, like the old version in a diff.
fn texts(out: &mut String, pair: &Pair, links: &Links, chars: usize) {
    if pair.is_reordered() {
        tagged(out, "p", "faint", "Some of it is in another order in the other place.");
    }
    *out += "<div class=\"sides\">";
    for (side, own) in [(1 - pair.primary, "del"), (pair.primary, "ins")] {
        *out += "<section><h3>";
        titled(out, &pair.places[side], links);
        *out += "</h3><div class=\"text\" tabindex=\"0\">";
        for part in parts(pair, side, chars) {
            match part.mark {
                Mark::Shared => *out += &html(&visible(&part.text)),
                Mark::Own => tagged(out, own, "", &part.text),
                Mark::Beside => tagged(out, "span", "faint", &part.text),
            }
            *out += &html(&visible(part.space));
        }
        *out += "</div></section>";
    }
    *out += "</div>";
}

/// A place with its link, its heading and whether it is new.
fn titled(out: &mut String, place: &Place, links: &Links) {
    match links.place(place) {
        Some(link) => {
            let link = html(&escaped(&link));
            _ = write!(out, "<a class=\"where\" href=\"{link}\" target=\"_blank\" rel=\"noopener noreferrer\">");
            *out += &html(&name(place));
            *out += "</a>";
        }
        None => tagged(out, "span", "where", &name(place)),
    }
    if let Some(heading) = &place.heading {
        tagged(out, "span", "faint", &format!(" “{heading}”"));
    }
    if place.is_new {
        tagged(out, "span", "tag", "new");
    }
}

fn stale(outcome: &Outcome) -> String {
    if outcome.stale.is_empty() {
        return String::new();
    }
    let mut out = "<h2>Stale baseline entries</h2><ul>".to_string();
    for entry in outcome.stale.iter().take(MAX_STALE) {
        // Few entries have more places than are listed of a finding.
        let paths = escaped(first(&entry.paths.join(" and "), 2_000));
        tagged(&mut out, "li", "", &format!("{paths}: {}", first(&entry.text_and_reason(), EXCERPT)));
    }
    if outcome.stale.len() > MAX_STALE {
        tagged(&mut out, "li", "", &counted((outcome.stale.len() - MAX_STALE) as u64, "more entry"));
    }
    out + "</ul>"
}

fn name(place: &Place) -> String {
    escaped(&format!("{}:{}", place.path(), place.stretch.start))
}

/// An element with a text, which is escaped.
fn tagged(out: &mut String, tag: &str, class: &str, text: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    _ = write!(out, "<{tag}{class}>{}</{tag}>", html(&visible(text)));
}

/// Escapes markup.
fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
