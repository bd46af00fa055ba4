//! JUnit XML, as commonly understood: a failed test for each copy that makes the check fail, and a passed one for each other copy. A copy
//! with several new places has a test for each of them.

use super::super::baseline::Entry;
use super::super::finding::Finding;
use super::super::outcome::Outcome;
use super::diff::word_diff;
use super::places::{also_at, annotated, reasons};
use crate::readable::{counted, escaped};
use quick_xml::Writer;
use quick_xml::events::BytesText;
use std::io;

/// Maximum number of characters shown of a text.
const MAX_SHOWN: usize = 2000;

/// Maximum number of other places in a name.
const MAX_OTHERS: usize = 3;

pub(super) fn render(outcome: &Outcome) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    document(&mut writer, outcome).expect("memory can be written to");
    let text = String::from_utf8(writer.into_inner()).expect("what was written is text");
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{text}\n")
}

fn document(writer: &mut Writer<Vec<u8>>, outcome: &Outcome) -> io::Result<()> {
    let findings: Vec<_> = outcome.listed().into_iter().flat_map(annotated).collect();
    let least = outcome.failing_grade();
    let fails = |finding: &Finding| least.is_some_and(|least| finding.grade >= least);
    let stale = outcome.failing_stale();
    let failures = (findings.iter().filter(|finding| fails(finding)).count() + stale.len()).to_string();
    let tests = (findings.len().max(1) + stale.len()).to_string();
    let counts = || [("tests", tests.as_str()), ("failures", failures.as_str()), ("errors", "0")];
    writer.create_element("testsuites").with_attributes(counts()).write_inner_content(|writer| {
        let suite = writer.create_element("testsuite").with_attribute(("name", "dedup check"));
        suite.with_attributes(counts()).write_inner_content(|writer| {
            if findings.is_empty() {
                let new = if outcome.only_new { "new " } else { "" };
                let name = format!("no {new}copies among {}", counted(outcome.pages as u64, "page"));
                writer
                    .create_element("testcase")
                    .with_attributes([("classname", "dedup"), ("name", name.as_str())])
                    .write_empty()?;
            }
            findings.iter().try_for_each(|finding| case(writer, finding, fails(finding)))?;
            let baseline = outcome.baseline_name();
            stale.iter().try_for_each(|entry| stale_case(writer, &baseline, entry))
        })?;
        Ok(())
    })?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, finding: &Finding, fails: bool) -> io::Result<()> {
    let here = finding.primary();
    let others = also_at(finding, MAX_OTHERS, |place| place.path().into());
    let name = legal(&escaped(&format!("{} at {} is {others}", finding.name(), here.stretch.start)));
    let (file, line) = (legal(&here.page.path), here.stretch.start.line.to_string());
    // Tools open the file by its unescaped path; all other texts are for people.
    let class = legal(&escaped(&here.page.path));
    let attributes = [("classname", class.as_str()), ("name", &name), ("file", &file), ("line", &line)];
    writer.create_element("testcase").with_attributes(attributes).write_inner_content(|writer| {
        let (grade, summary) = (finding.grade.name(), finding.summary());
        let message = legal(&escaped(&format!("{grade}: {summary}{}; {others}", reasons(finding))));
        let text = word_diff(finding.shown(), MAX_SHOWN).into_string();
        let proposal = finding.proposal.as_ref();
        let proposal = proposal.map_or(String::new(), |proposal| format!("\nproposal: {}", escaped(&proposal.how)));
        let text = legal(&(text + &proposal));
        if fails {
            let failure = writer.create_element("failure");
            let failure = failure.with_attributes([("message", message.as_str()), ("type", finding.name())]);
            failure.write_text_content(BytesText::new(&text))?;
        } else {
            let text = format!("{message}\n{text}");
            writer.create_element("system-out").write_text_content(BytesText::new(&text))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// A stale entry of a baseline that makes the check fail.
fn stale_case(writer: &mut Writer<Vec<u8>>, baseline: &str, entry: &Entry) -> io::Result<()> {
    let (class, file) = (legal(&escaped(baseline)), legal(baseline));
    let name = legal(&escaped(&format!("stale entry of {}", entry.paths.join(" and "))));
    let message = legal(&escaped(&entry.stale_message()));
    let attributes = [("classname", class.as_str()), ("name", &name), ("file", &file)];
    writer.create_element("testcase").with_attributes(attributes).write_inner_content(|writer| {
        let failure =
            writer.create_element("failure").with_attributes([("message", message.as_str()), ("type", "stale")]);
        failure.write_empty().map(|_| ())
    })?;
    Ok(())
}

/// Removes characters that are not allowed in XML 1.0.
fn legal(text: &str) -> String {
    let is_legal =
        |c: &char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars().filter(is_legal).collect()
}
