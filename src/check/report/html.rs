//! A self-contained page for a browser: a list of findings with filters, their texts side by side, and a map of copies between files.
//!
//! The page has a list that can be read without scripts ([`listed`]). It also has all data as JSON, each text once, from which its script builds
//! a list with filters in place of the other. Texts of pages are only ever used as text.

use super::super::baseline::Entry;
use super::super::finding::{Finding, Place};
use super::super::grade::Grade;
use super::super::outcome::Outcome;
use super::listed;
use super::map::{Map, map};
use super::places::Links;
use super::sides::{Kept, Part, parts, visible};
use crate::readable::{counted, escaped};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, HashMap};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Maximum size of the data in bytes, if texts can be shortened that far.
const MAX_BYTES: usize = 3_750_000;

/// What is kept of texts, from all to little. The first that fits is used.
const KEPT: [Kept; 11] = [
    Kept { chars: 20_000, pairs: 8 },
    Kept { chars: 6_000, pairs: 8 },
    Kept { chars: 2_000, pairs: 4 },
    Kept { chars: 1_000, pairs: 1 },
    Kept { chars: 500, pairs: 1 },
    Kept { chars: 350, pairs: 1 },
    Kept { chars: 250, pairs: 1 },
    Kept { chars: 210, pairs: 1 },
    Kept { chars: 180, pairs: 1 },
    Kept { chars: 150, pairs: 1 },
    Kept { chars: 120, pairs: 1 },
];

/// All data of the page. Numbers of strings and pages are their positions in the lists.
#[derive(Serialize)]
struct Data {
    /// Whether texts are shortened: the number of characters that are kept.
    kept: Option<usize>,
    /// The least grade that is shown at first, as its position from the most serious.
    grade: usize,
    /// Each page: its path, and the template of links to it.
    pages: Vec<(String, Option<String>)>,
    strings: Vec<String>,
    findings: Vec<Row>,
    map: Map,
    /// Stale entries of the baseline: their paths, and their texts and reasons.
    stale: Vec<(String, String)>,
}

/// A finding. It is written as a list.
struct Row {
    kind: usize,
    grade: usize,
    accepted: u8,
    words: usize,
    /// The string of the summary, and those of the reasons.
    summary: usize,
    reasons: Vec<usize>,
    primary: usize,
    /// The string of the proposal, or −1.
    proposal: i64,
    /// Each place: page, line, column, last line, the string of its heading or −1, and whether it is new.
    places: Vec<(usize, usize, usize, usize, i64, u8)>,
    /// The pair to show first, then others.
    pairs: Vec<Texts>,
    /// The string of why it is accepted, or −1.
    why: i64,
}

/// The texts of two places. It is written as a list.
struct Texts {
    /// The positions of the places: that on the left, like the old version in a diff, and that on the right.
    places: [usize; 2],
    percent: u32,
    reordered: u8,
    /// The parts of each text, each as one number.
    sides: [Vec<usize>; 2],
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row { kind, grade, accepted, words, summary, reasons, primary, proposal, places, pairs, why } = self;
        (kind, grade, accepted, words, summary, reasons, primary, proposal, places, pairs, why).serialize(serializer)
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Texts { places: [left, right], percent, reordered, sides: [one, other] } = self;
        (left, right, percent, reordered, one, other).serialize(serializer)
    }
}

/// Includes accepted findings and all grades: the page has filters for them.
pub(super) fn render(outcome: &Outcome) -> String {
    let last = KEPT.len() - 1;
    let fitting = KEPT[..last].iter().find_map(|&kept| Builder::new(outcome, kept).build(outcome, MAX_BYTES));
    let data = fitting.or_else(|| Builder::new(outcome, KEPT[last]).build(outcome, usize::MAX));
    let data = serde_json::to_string(&data).expect("strings and numbers make JSON");
    let by_grade = outcome.by_grade();
    let title = if by_grade.is_empty() { "none".to_string() } else { by_grade };
    let title = match outcome.failing_stale().len() {
        0 => title,
        stale => format!("{title}, {}", counted(stale as u64, "stale entry")),
    };
    let values = [
        ("{{title}}", title),
        ("{{style}}", STYLE.to_string()),
        ("{{summary}}", outcome.summary()),
        ("{{version}}", env!("CARGO_PKG_VERSION").to_string()),
        // Nothing in it may end the element.
        ("{{data}}", data.replace('<', "\\u003c")),
        ("{{list}}", listed::list(outcome)),
        ("{{script}}", SCRIPT.to_string()),
    ];
    filled(PAGE, &values)
}

/// A template with values in place of names, which must occur in this order.
fn filled(template: &str, values: &[(&str, String)]) -> String {
    let (mut page, mut rest) = (String::new(), template);
    for (name, value) in values {
        let (before, after) = rest.split_once(name).expect("the template has all names");
        page.push_str(before);
        page.push_str(value);
        rest = after;
    }
    page + rest
}

/// Builds the data, with each string once.
struct Builder<'a> {
    kept: Kept,
    links: Links<'a>,
    /// The numbers of the pages by path.
    pages: BTreeMap<&'a str, usize>,
    strings: Vec<String>,
    numbers: HashMap<String, usize>,
    /// The approximate size in bytes so far.
    bytes: usize,
}

impl<'a> Builder<'a> {
    fn new(outcome: &'a Outcome, kept: Kept) -> Self {
        let places = outcome.findings.iter().flat_map(|finding| &finding.places);
        let mut pages: BTreeMap<&str, usize> = places.map(|place| (place.path(), 0)).collect();
        pages.values_mut().enumerate().for_each(|(number, page)| *page = number);
        let (strings, numbers) = (Vec::new(), HashMap::new());
        Builder { kept, links: Links::new(outcome), pages, strings, numbers, bytes: 0 }
    }

    /// All data; `None` as soon as it is larger than the limit.
    fn build(mut self, outcome: &'a Outcome, max_bytes: usize) -> Option<Data> {
        let mut links = vec![None; self.pages.len()];
        for place in outcome.findings.iter().flat_map(|finding| &finding.places) {
            let link = &mut links[self.pages[place.path()]];
            *link = link.take().or_else(|| self.links.page(&place.page));
        }
        let pages = self.pages.keys().zip(links).map(|(path, link)| (escaped(path), link)).collect::<Vec<_>>();
        self.bytes +=
            pages.iter().map(|(path, link)| path.len() + link.as_ref().map_or(4, String::len) + 6).sum::<usize>();
        let mut findings = Vec::new();
        for finding in &outcome.findings {
            findings.push(self.row(finding));
            if self.bytes > max_bytes {
                return None;
            }
        }
        let entry =
            |entry: &Entry| (escaped(&entry.paths.join(" and ")), visible(&entry.text_and_reason()).into_owned());
        Some(Data {
            kept: (self.kept.chars < KEPT[0].chars).then_some(self.kept.chars),
            grade: position(outcome.least_reported()),
            map: map(&outcome.findings, &self.pages),
            pages,
            strings: self.strings,
            findings,
            stale: outcome.stale.iter().map(entry).collect(),
        })
    }

    fn row(&mut self, finding: &'a Finding) -> Row {
        let summary = self.string(&escaped(&finding.summary()));
        let reasons = finding.reason_texts().iter().map(|reason| self.string(&escaped(reason))).collect();
        let how = finding.proposal.as_ref().map(|proposal| self.string(&escaped(&proposal.how)));
        let why = finding.shown_reason().map(|reason| self.string(&escaped(&reason)));
        let places = finding.places.iter().map(|place| self.place(place)).collect();
        let shown = finding.shown();
        let rest = finding.pairs.iter().filter(|pair| pair.indices != shown.indices);
        let pairs = std::iter::once(shown).chain(rest).take(self.kept.pairs).map(|pair| {
            let sides = [1 - pair.primary, pair.primary];
            self.bytes += 15;
            Texts {
                places: sides.map(|side| pair.indices[side]),
                percent: pair.percent(),
                reordered: pair.is_reordered().into(),
                sides: sides.map(|side| self.codes(parts(pair, side, self.kept.chars))),
            }
        });
        let pairs = pairs.collect();
        self.bytes += 39;
        Row {
            kind: finding.kind as usize,
            grade: position(finding.grade),
            accepted: finding.accepted.into(),
            words: finding.words(),
            summary,
            reasons,
            primary: finding.primary,
            proposal: how.map_or(-1, |number| number as i64),
            places,
            pairs,
            why: why.map_or(-1, |number| number as i64),
        }
    }

    fn place(&mut self, place: &'a Place) -> (usize, usize, usize, usize, i64, u8) {
        let heading = place.heading.as_ref().map_or(-1, |heading| self.string(&escaped(heading)) as i64);
        let (start, end) = (place.stretch.start, place.stretch.end);
        self.bytes += 24;
        (self.pages[place.path()], start.line, start.column, end.line, heading, place.is_new.into())
    }

    /// Parts as numbers: nine times the string, three times the mark, and the space after it.
    fn codes(&mut self, parts: Vec<Part>) -> Vec<usize> {
        let code = |part: Part| {
            let (space, rest) = match part.space {
                "" => (0, ""),
                " " => (1, ""),
                "\n\n" => (2, ""),
                other => (0, other),
            };
            let text = if rest.is_empty() { part.text } else { format!("{}{rest}", part.text).into() };
            self.bytes += 6;
            9 * self.string(&visible(&text)) + 3 * part.mark as usize + space
        };
        parts.into_iter().map(code).collect()
    }

    /// The number of a string.
    fn string(&mut self, text: &str) -> usize {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        // Some characters are escaped in JSON.
        self.bytes += text.len()
            + 3
            + text
                .bytes()
                .map(|byte| match byte {
                    b'<' => 5,
                    b'"' | b'\\' | b'\n' => 1,
                    _ => 0,
                })
                .sum::<usize>();
        let number = self.strings.len();
        self.strings.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }
}

/// The position of a grade, from the most serious.
fn position(grade: Grade) -> usize {
    Grade::ALL.iter().position(|other| *other == grade).expect("all grades are listed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let group = |chunk: &[u8]| {
            let number = (0..3).fold(0, |number, at| number << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
            let digit = |at: usize| match at <= chunk.len() {
                true => char::from(DIGITS[(number >> (18 - 6 * at) & 63) as usize]),
                false => '=',
            };
            (0..4).map(digit).collect::<String>()
        };
        bytes.chunks(3).map(group).collect()
    }

    #[test]
    fn only_our_own_script_and_style_may_run() {
        assert_eq!([&b"a"[..], b"ab", b"abc"].map(base64), ["YQ==", "YWI=", "YWJj"]);
        for (what, text) in [("script", SCRIPT), ("style", STYLE)] {
            let source = format!("{what}-src 'sha256-{}'", base64(&Sha256::digest(text)));
            assert!(PAGE.contains(&source), "the policy in page.html must have {source}");
        }
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function("] {
            assert!(!SCRIPT.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn values_may_contain_names() {
        let values = [("{{a}}", "{{b}}".to_string()), ("{{b}}", "x".to_string())];
        assert_eq!(filled("<{{a}}|{{b}}>", &values), "<{{b}}|x>");
    }
}
