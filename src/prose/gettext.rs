//! Translations of gettext: each text that is translated is a paragraph. What is not translated is a copy of its page.

use super::builder::{Builder, Mark};
use super::excerpt::Excerpt;
use super::page_lines::{Line, lines};
use super::{plain, strings};

/// What the strings of a line are part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Original,
    Translation,
    Other,
}

pub(super) fn read(builder: &mut Builder) {
    let source = builder.source();
    let mut page = Excerpt::default();
    // The entry without an original is the head of the file.
    let (mut part, mut is_head) = (Part::Other, true);
    for line in lines(source, builder.page()) {
        let text = line.text(source);
        if let Some(comment) = text.strip_prefix('#') {
            comment_line(&mut page, source, line, comment);
            continue;
        }
        let keyword = text.split([' ', '\t', '"', '[']).next().unwrap_or("");
        match keyword {
            "msgid" => (part, is_head) = (Part::Original, true),
            "msgstr" => {
                part = Part::Translation;
                page.markup("\n\n");
            }
            "" => {}
            _ => part = Part::Other,
        }
        let Some(content) = content(source, line) else { continue };
        match part {
            Part::Original => is_head &= content.is_empty(),
            Part::Translation if !is_head => strings::escaped(&mut page, source, content),
            _ => {}
        }
    }
    let mut inner = builder.inner(page.text());
    plain::read(&mut inner);
    builder.append(&page, inner);
}

/// A comment counts only if it is a mark.
fn comment_line(page: &mut Excerpt, source: &str, line: Line, comment: &str) {
    let comment = comment.trim_start();
    if Mark::of(comment).is_some() {
        page.markup("\n\n");
        page.part(source, line.end - comment.len()..line.end);
        page.markup("\n\n");
    }
}

/// The place of the text between the first and the last quotation mark of a line.
fn content(source: &str, line: Line) -> Option<std::ops::Range<usize>> {
    let text = line.text(source);
    let (first, last) = (text.find('"')?, text.rfind('"')?);
    (first < last).then(|| line.start + first + 1..line.start + last)
}
