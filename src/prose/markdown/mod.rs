//! Markdown, read by pulldown-cmark, whose events carry their positions.
//!
//! ```text
//! marker.rs  lines that open and close blocks in dialects of Markdown
//! props.rs   attributes that are text
//! inline.rs  what dialects add within a line
//! layout.rs  a page without the blocks of dialects, line by line
//! ```

mod inline;
mod layout;
mod marker;
mod props;
#[cfg(test)]
mod tests;

use super::block::Unread;
use super::builder::Builder;
use super::excerpt::Excerpt;
use super::{Kind, html};
pub(super) use props::texts;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// The extensions of GitHub, and `{#id}` after headings.
const EXTENSIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_HEADING_ATTRIBUTES)
    .union(Options::ENABLE_GFM);

pub(super) fn read(builder: &mut Builder) {
    let page = builder.page();
    let layout = layout::read(&builder.source()[page.clone()]);
    read_layout(builder, layout, page.start);
}

/// Reads MDX that is the source from `base` on: Markdown that is blank where the MDX is something else. Each of the breaks
/// ends a line and a paragraph.
pub(super) fn read_mdx(builder: &mut Builder, markdown: &str, breaks: &[usize], base: usize) {
    let mdx = &builder.source()[base..];
    read_layout(builder, layout::read_mdx(markdown, mdx, breaks), base);
}

fn read_layout(builder: &mut Builder, layout: layout::Read, base: usize) {
    let layout::Read { page, unclosed, marks } = layout;
    builder.await_marks(marks.into_iter().map(|(mark, at)| (mark, base + at.start..base + at.end)).collect());
    if let Some(start) = unclosed {
        builder.unclosed_code(base + start);
    }
    let mut reader = Reader { builder, page: &page, base, targets: Vec::new() };
    for (event, place) in Parser::new_ext(page.text(), EXTENSIONS).into_offset_iter() {
        reader.event(event, place);
    }
}

struct Reader<'b, 'a, 'm> {
    builder: &'b mut Builder<'a>,
    /// The page, and where it starts in the source.
    page: &'m Excerpt,
    base: usize,
    /// Targets of the links and images that are open, if they count.
    targets: Vec<String>,
}

impl Reader<'_, '_, '_> {
    fn event(&mut self, event: Event, place: Range<usize>) {
        let source = self.page.source_of(place.clone());
        let source = self.base + source.start..self.base + source.end;
        match event {
            Event::Start(tag) => self.start(tag, source),
            Event::End(tag) => self.end(tag, source),
            Event::Html(_) => {}
            Event::Text(text) if *text == self.page.text()[place.clone()] => self.text(place),
            Event::Text(text) => self.builder.replaced(&text, source),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => self.code(&code, place),
            Event::InlineHtml(tag) => html::inline(self.builder, &tag, source),
            Event::SoftBreak | Event::HardBreak => self.builder.space(),
            Event::Rule | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag, place: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => self.builder.begin(Kind::Heading(level as u8)),
            Tag::CodeBlock(_) => self.builder.begin(Kind::Code),
            Tag::List(_) => self.builder.begin_list(),
            Tag::TableCell => self.builder.begin(Kind::Cell),
            Tag::HtmlBlock => html::read_part(self.builder, place),
            Tag::Link { link_type, dest_url, .. } => {
                self.builder.begin_link(dest_url.starts_with('#'));
                // The text of these links is their target.
                let is_text = matches!(link_type, LinkType::Autolink | LinkType::Email);
                self.keep_target(if is_text { "" } else { &dest_url });
            }
            Tag::Image { dest_url, .. } => self.keep_target(&dest_url),
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Superscript | Tag::Subscript => {}
            _ => self.builder.begin_text(),
        }
    }

    fn end(&mut self, tag: TagEnd, place: Range<usize>) {
        match tag {
            TagEnd::List(_) => self.builder.end_list(),
            TagEnd::Link => {
                self.target(place);
                self.builder.end_link();
            }
            TagEnd::Image => self.target(place),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Superscript | TagEnd::Subscript => {}
            _ => self.builder.end(),
        }
    }

    /// Adds a text of the page. It may have parts in several lines.
    fn text(&mut self, place: Range<usize>) {
        let mut end = place.start;
        for (part, source) in self.page.parts(place.clone()) {
            if part.start > end {
                self.builder.space();
            }
            end = part.end;
            self.builder.verbatim_as(&self.page.text()[part], self.base + source.start);
        }
        if end < place.end {
            self.builder.space();
        }
    }

    /// Adds code within a sentence, whose words the page has in that place.
    fn code(&mut self, code: &str, place: Range<usize>) {
        let (mut from, mut rest) = (place.start, code);
        while !rest.is_empty() {
            let word = rest.split(char::is_whitespace).next().unwrap_or(rest);
            if word.is_empty() {
                self.builder.space();
                rest = rest.trim_start();
                continue;
            }
            let Some(at) = self.page.text()[from..place.end].find(word) else {
                let source = self.page.source_of(from..place.end);
                return self.builder.replaced(rest, self.base + source.start..self.base + source.end);
            };
            self.text(from + at..from + at + word.len());
            from += at + word.len();
            rest = &rest[word.len()..];
        }
    }

    fn keep_target(&mut self, target: &str) {
        match self.builder.options().links {
            true => self.targets.push(target.to_string()),
            false => self.builder.unread(target, Unread::Links),
        }
    }

    fn target(&mut self, place: Range<usize>) {
        if let Some(target) = self.targets.pop() {
            self.builder.target(&target, place);
        }
    }
}
