//! Lines of documentation as a page, without their common indentation and without tags and field names.

use super::language::Language;
use super::tags::{Tag, is_named};
use crate::prose::excerpt::Excerpt;
use crate::prose::page_lines::Line;
use crate::prose::rst;

/// Tags that code follows, up to the next tag.
const WITH_CODE: [&str; 7] = ["example", "code", "verbatim", "dot", "msc", "startuml", "mermaid"];

/// Removes the white space that all lines start with. The first line has none if it follows an opener.
pub(super) fn dedent(lines: &mut [Line], behind_opener: bool) {
    let (first, below) = lines.split_at_mut(usize::from(behind_opener && !lines.is_empty()));
    let least = below.iter().filter(|line| !line.is_blank()).map(|line| line.indent).min().unwrap_or(0);
    first.iter_mut().for_each(|line| line.indent = 0);
    below.iter_mut().for_each(|line| line.indent = line.indent.saturating_sub(least));
}

/// A page of Markdown in which lines that start with a tag, such as `@param`, are paragraphs.
pub(super) fn with_tags(language: Language, source: &str, lines: &[Line], code: bool) -> Excerpt {
    let mut page = Excerpt::default();
    let (mut in_tag, mut is_code, mut in_fence) = (false, false, false);
    for line in lines {
        let text = line.text(source);
        let is_fence = is_fence(text);
        if let Some(Tag { name, text }) = Tag::of(language, text).filter(|_| !in_fence) {
            page.push_blank();
            (in_tag, is_code) = (true, !code && WITH_CODE.contains(&name));
            if !is_code && !text.is_empty() {
                page.push(0, source, line.end - text.len()..line.end);
            }
        } else if line.is_blank() {
            in_tag = false;
            page.push_blank();
        } else if !is_code {
            page.push(if in_tag { 0 } else { line.indent }, source, line.range());
        }
        in_fence ^= is_fence;
    }
    page
}

/// A page of Markdown as it is.
pub(super) fn as_is(source: &str, lines: &[Line]) -> Excerpt {
    let mut page = Excerpt::default();
    lines.iter().for_each(|line| page.push(line.indent, source, line.range()));
    page
}

/// A page of reStructuredText. Of fields such as `:param x:` the texts stay; fences and the lines between them are
/// removed. A description such as `x: What it is.` continues in the following lines that are indented more.
pub(super) fn docstring(source: &str, lines: &[Line], code: bool) -> Excerpt {
    let mut page = Excerpt::default();
    let (mut described_at, mut in_fence) = (None, false);
    for line in lines {
        let text = line.text(source);
        let is_fence = is_fence(text);
        let goes_on = described_at.filter(|&indent| line.indent > indent && !line.is_blank());
        if line.is_blank() || (!code && (is_fence || in_fence)) {
            described_at = None;
            page.push_blank();
        } else if let Some(indent) = goes_on {
            page.push(indent, source, line.range());
        } else if let Some((name, value)) = rst::field(text) {
            let start = if rst::is_text(name) { line.end - value.len() } else { line.start };
            described_at = rst::is_text(name).then_some(line.indent);
            page.push_blank();
            page.push(line.indent, source, start..line.end);
        } else {
            described_at = is_named(text).then_some(line.indent);
            page.push(line.indent, source, line.range());
        }
        in_fence ^= is_fence;
    }
    page
}

/// Whether a line starts or ends a block of code. Code within a sentence has more backticks after it.
fn is_fence(line: &str) -> bool {
    line.strip_prefix("```").is_some_and(|rest| !rest.trim_start_matches('`').contains('`'))
}
