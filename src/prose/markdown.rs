//! Markdown, read by pulldown-cmark, whose events carry their positions.

use super::builder::Builder;
use super::{Kind, html};
use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};
use std::borrow::Cow;
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
    let markdown = without_tags(&builder.source()[page.clone()]);
    read_as(builder, &markdown, page.start, Kind::Code);
}

/// The delimiters of template tags: Liquid and Jinja, Hugo, and the includes of MkDocs.
const TAGS: [(&str, &str); 4] = [("{%", "%}"), ("{{", "}}"), ("{!", "!}"), ("{*", "*}")];

/// The page with spaces for lines that are a tag of a template.
fn without_tags(page: &str) -> Cow<'_, str> {
    if !TAGS.iter().any(|(open, _)| page.contains(open)) {
        return page.into();
    }
    let mut out = String::with_capacity(page.len());
    for line in page.split_inclusive('\n') {
        let end = line.trim_end().len();
        if is_tag(line.trim()) {
            out.extend(std::iter::repeat_n(' ', end));
            out.push_str(&line[end..]);
        } else {
            out.push_str(line);
        }
    }
    out.into()
}

fn is_tag(line: &str) -> bool {
    let closed = |(open, close): &(&str, &str)| line.strip_prefix(open).and_then(|rest| rest.split_once(close));
    TAGS.iter().find_map(closed).is_some_and(|(_, after)| after.is_empty())
}

/// Reads Markdown that is the source from `base` on, except for white space where the source has other characters. Indented
/// code is of that kind.
pub(super) fn read_as(builder: &mut Builder, markdown: &str, base: usize, indented: Kind) {
    let mut reader = Reader { builder, markdown, base, indented, targets: Vec::new() };
    for (event, place) in Parser::new_ext(markdown, EXTENSIONS).into_offset_iter() {
        reader.event(event, place);
    }
}

struct Reader<'b, 'a, 'm> {
    builder: &'b mut Builder<'a>,
    markdown: &'m str,
    base: usize,
    indented: Kind,
    /// Targets of the links and images that are open, if they count.
    targets: Vec<String>,
}

impl Reader<'_, '_, '_> {
    fn event(&mut self, event: Event, place: Range<usize>) {
        let source = self.base + place.start..self.base + place.end;
        match event {
            Event::Start(tag) => self.start(tag, source),
            Event::End(tag) => self.end(tag, source),
            Event::Html(_) => {}
            Event::Text(text) if self.is_container(&text, place.start) => {
                let length = container(&text);
                self.builder.verbatim_as(&text[length..], source.start + length);
            }
            Event::Text(text) if *text == self.markdown[place] => self.builder.verbatim_as(&text, source.start),
            Event::Text(text) => self.builder.replaced(&text, source),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.builder.aligned(&code, source)
            }
            Event::InlineHtml(tag) => html::inline(self.builder, &tag, source),
            Event::SoftBreak | Event::HardBreak => self.builder.space(),
            Event::Rule | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag, place: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => self.builder.begin(Kind::Heading(level as u8)),
            Tag::CodeBlock(CodeBlockKind::Indented) => self.builder.begin(self.indented),
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => self.builder.begin(Kind::Code),
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

    /// Whether a line that opens or closes a container, such as `:::note`, starts there.
    fn is_container(&self, text: &str, start: usize) -> bool {
        let starts_line = start == 0 || self.markdown[..start].ends_with('\n');
        starts_line && text.starts_with(":::") && self.markdown[start..].starts_with(text)
    }

    fn keep_target(&mut self, target: &str) {
        if self.builder.options().links {
            self.targets.push(target.to_string());
        }
    }

    fn target(&mut self, place: Range<usize>) {
        if let Some(target) = self.targets.pop() {
            self.builder.target(&target, place);
        }
    }
}

/// The length of colons that open or close a container, and of its name, perhaps in braces. A title may follow.
fn container(text: &str) -> usize {
    let name = text.trim_start_matches(':').trim_start();
    let title = match name.strip_prefix('{').and_then(|name| name.split_once('}')) {
        Some((_, title)) => title,
        None => name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-'),
    };
    text.len() - title.len()
}
