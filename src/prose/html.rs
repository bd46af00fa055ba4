//! HTML, by the tags and text that [`crate::source`] cuts pages into.

use super::Kind;
use super::block::Unread;
use super::builder::Builder;
use crate::source::html::{Attributes, Content, INLINE, Token, Tokens, is_among, reference};
use memchr::memchr;
use std::ops::Range;

pub(super) fn read(builder: &mut Builder) {
    let page = builder.page();
    read_part(builder, page);
}

/// Reads a part of the source that is HTML.
pub(super) fn read_part(builder: &mut Builder, part: Range<usize>) {
    builder.begin_text();
    let html = &builder.source()[part.clone()];
    let mut page = Page {
        builder,
        inside: Content::Data,
        templates: 0,
        is_titled: false,
        code: 0,
        tables: 0,
        in_cell: false,
        hidden: None,
    };
    let (mut tokens, mut start) = (Tokens::new(html), part.start);
    while let Some(token) = tokens.next() {
        let end = part.end - tokens.left();
        page.token(token, start..end);
        start = end;
    }
    page.builder.end();
    page.builder.break_link();
}

/// A tag or a comment within a sentence of Markdown.
pub(super) fn inline(builder: &mut Builder, tag: &str, place: Range<usize>) {
    match Tokens::new(tag).next() {
        Some(Token::Comment(comment)) => builder.comment(inside_comment(comment), place),
        Some(Token::Start { name, attributes }) => {
            if name.eq_ignore_ascii_case("img") {
                image(builder, attributes, place);
            } else if !is_among(INLINE, name) {
                builder.space();
            }
        }
        Some(Token::End { name }) if !is_among(INLINE, name) => builder.space(),
        _ => {}
    }
}

/// Text with character references.
pub(super) fn text(builder: &mut Builder, place: Range<usize>) {
    let source = builder.source();
    let mut at = place.start;
    while let Some(ampersand) = memchr(b'&', &source.as_bytes()[at..place.end]) {
        let ampersand = at + ampersand;
        builder.verbatim(at..ampersand);
        at = ampersand + 1;
        match reference(&source[at..place.end]) {
            Some((length, characters)) => {
                let mut resolved = String::from(characters[0]);
                resolved.extend(Some(characters[1]).filter(|&second| second != '\0'));
                at += length;
                builder.replaced(&resolved, ampersand..at);
            }
            None => builder.verbatim(ampersand..at),
        }
    }
    builder.verbatim(at..place.end);
}

struct Page<'b, 'a> {
    builder: &'b mut Builder<'a>,
    /// The element whose text comes next.
    inside: Content,
    templates: u64,
    is_titled: bool,
    /// The number of open code elements.
    code: u64,
    /// The number of open tables.
    tables: u64,
    in_cell: bool,
    hidden: Option<Hidden>,
}

/// An open element that does not count: a table of contents, a menu, a signature. One that never ends counts.
struct Hidden {
    name: String,
    /// The number of open elements within it that hide its end: of its name or, if its end tag may be missing, tables or lists.
    depth: u64,
    /// The number of blocks before it, and where it starts in the source.
    start: usize,
    place: usize,
    what: Unread,
}

/// The tags that start or end what a cell, a row, or a term of a list is in: its end tag may be missing before them.
const OF_CELL: [&str; 8] = ["td", "th", "tr", "tbody", "thead", "tfoot", "caption", "colgroup"];
const OF_ROW: [&str; 6] = ["tr", "tbody", "thead", "tfoot", "caption", "colgroup"];
const OF_TERM: [&str; 2] = ["dt", "dd"];

impl Hidden {
    /// Whether a tag ends it, if an element of another name that it is may have no end tag (HTML 13.1.2.4): at least wherever it ends by
    /// the rules of HTML, so that none goes on to the end of the page because its end tag is missing.
    fn ends(&mut self, tag: &str, is_start: bool) -> bool {
        let (around, siblings): (&str, &[&str]) = match self.name.as_str() {
            // Any other tag that may not be within a sentence ends it, that of an element around it too.
            "p" => return !is_among(INLINE, tag) && !matches!(tag, "br" | "img"),
            "td" | "th" => ("table", &OF_CELL),
            "tr" => ("table", &OF_ROW),
            "dt" => ("dl", &OF_TERM),
            _ if tag != self.name => return false,
            _ if is_start => {
                self.depth += 1;
                return false;
            }
            own => (own, &[]),
        };
        match (tag == around, is_start) {
            (true, true) => self.depth += 1,
            (true, false) if self.depth == 0 => return true,
            (true, false) => self.depth -= 1,
            (false, _) => return self.depth == 0 && siblings.contains(&tag),
        }
        false
    }
}

/// Classes of elements that are contents or menus: of DocBook and Publican, AsciiDoc, Sphinx, Doxygen.
const CONTENTS: [&str; 9] = [
    "toc",
    "navheader",
    "navfooter",
    "docnav",
    "sphinxsidebar",
    "toctree-wrapper",
    "table-of-contents",
    "list-of-tables",
    "list-of-figures",
];

/// Classes of elements that are signatures: of Sphinx, Doxygen, Javadoc.
const SIGNATURES: [&str; 7] =
    ["sig", "memname", "memItemLeft", "memItemRight", "memTemplItemLeft", "memTemplItemRight", "member-signature"];

/// What an element is, if it does not count.
fn hidden(name: &str, attributes: &str) -> Option<Unread> {
    let has = |classes: &[&str]| {
        let own = attribute(attributes, "class").unwrap_or("");
        own.split_ascii_whitespace().any(|class| classes.contains(&class))
    };
    let is_menu = || attribute(attributes, "role").is_some_and(|role| matches!(role, "navigation" | "doc-toc"));
    match name {
        "nav" => Some(Unread::Contents),
        "div" | "section" | "aside" | "ul" | "ol" | "dl" | "table" | "tr" | "td" | "th" | "p"
            if has(&CONTENTS) || is_menu() =>
        {
            Some(Unread::Contents)
        }
        "div" | "dt" | "table" | "td" if has(&SIGNATURES) => Some(Unread::Code),
        _ => None,
    }
}

impl Page<'_, '_> {
    fn token(&mut self, token: Token, place: Range<usize>) {
        match token {
            Token::Start { name, attributes } => {
                self.inside = Content::of(name);
                let lower = name.to_ascii_lowercase();
                self.start(&lower, attributes, place);
            }
            Token::End { name } => {
                self.inside = Content::Data;
                self.end(&name.to_ascii_lowercase(), place);
            }
            Token::Comment(comment) => self.builder.comment(inside_comment(comment), place),
            Token::Text(_) if self.templates > 0 => {}
            // A declaration may precede it.
            Token::Text(run) => self.text(place.end - run.len()..place.end),
        }
    }

    fn text(&mut self, place: Range<usize>) {
        match self.inside {
            Content::Hidden | Content::Script => {}
            Content::Title if self.is_titled => {}
            Content::Title => {
                self.is_titled = true;
                text(self.builder, place);
            }
            Content::Data | Content::Area => text(self.builder, place),
            Content::Sample | Content::Plain => {
                self.builder.begin(Kind::Code);
                self.builder.verbatim(place);
            }
        }
    }

    fn start(&mut self, name: &str, attributes: &str, place: Range<usize>) {
        self.end_hidden(name, true, place.start);
        // Outside of tables, the tags of their parts have no effect.
        let is_part = || matches!(name, "tr" | "td" | "th") && self.tables == 0;
        if self.hidden.is_none()
            && let Some(what) = hidden(name, attributes).filter(|_| !is_part())
        {
            let start = self.builder.blocks();
            self.hidden = Some(Hidden { name: name.to_string(), depth: 0, start, place: place.start, what });
        }
        match name {
            "a" => {
                let target = attribute(attributes, "href");
                match target {
                    Some(target) => self.builder.begin_link(target.starts_with('#')),
                    // An anchor.
                    None => self.builder.break_link(),
                }
                self.builder.target(target.unwrap_or(""), place);
                return;
            }
            "img" => return image(self.builder, attributes, place),
            "br" => return self.builder.space(),
            "template" => self.templates += 1,
            "ul" | "ol" => self.builder.begin_list(),
            "pre" => self.code += 1,
            "td" | "th" => self.in_cell = true,
            "table" => (self.tables, self.in_cell) = (self.tables + 1, false),
            "tr" => self.in_cell = false,
            inline if is_among(INLINE, inline) => return,
            _ => {}
        }
        self.begin(name);
    }

    fn end(&mut self, name: &str, place: Range<usize>) {
        self.end_hidden(name, false, place.end);
        match name {
            "a" => return self.builder.end_link(),
            "template" => self.templates = self.templates.saturating_sub(1),
            "ul" | "ol" => self.builder.end_list(),
            "pre" => self.code = self.code.saturating_sub(1),
            "table" => (self.tables, self.in_cell) = (self.tables.saturating_sub(1), false),
            "td" | "th" | "tr" => self.in_cell = false,
            inline if is_among(INLINE, inline) => return,
            _ => {}
        }
        self.begin("");
    }

    /// Removes the element that does not count if a tag ends it there.
    fn end_hidden(&mut self, tag: &str, is_start: bool, at: usize) {
        let Some(hidden) = self.hidden.take_if(|hidden| hidden.ends(tag, is_start)) else { return };
        self.builder.end();
        if hidden.what == Unread::Contents {
            self.builder.navigation(hidden.place..at);
        }
        let options = self.builder.options();
        let counts = if hidden.what == Unread::Code { options.code } else { options.contents };
        if !counts {
            self.builder.leave_out(hidden.start, hidden.what);
        }
    }

    /// Begins the block that a tag opens, or text after another tag.
    fn begin(&mut self, name: &str) {
        // A link may lack its end.
        self.builder.break_link();
        let kind = match name {
            _ if self.code > 0 => Kind::Code,
            "title" => Kind::Heading(1),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Kind::Heading(name.as_bytes()[1] - b'0'),
            "dt" | "dd" => Kind::Item,
            _ if self.in_cell => Kind::Cell,
            _ => return self.builder.begin_text(),
        };
        self.builder.begin(kind);
    }
}

/// The alternative text of an image, and its target.
fn image(builder: &mut Builder, attributes: &str, place: Range<usize>) {
    if let Some(alternative) = attribute(attributes, "alt") {
        let source = builder.source();
        // The source contains the tag unchanged, unless a quotation or a list cut it into lines.
        match source[place.clone()].find(attributes) {
            Some(found) => {
                let start = place.start + found + (alternative.as_ptr() as usize - attributes.as_ptr() as usize);
                text(builder, start..start + alternative.len());
            }
            None => builder.aligned(alternative, place.clone()),
        }
    }
    builder.target(attribute(attributes, "src").unwrap_or(""), place);
}

/// The unchanged value of an attribute; `None` if it is empty.
fn attribute<'a>(attributes: &'a str, wanted: &str) -> Option<&'a str> {
    let (_, value) = Attributes::new(attributes).find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
    Some(value).filter(|value| !value.is_empty())
}

/// The text between the delimiters of a comment.
fn inside_comment(comment: &str) -> &str {
    let inner = comment.strip_prefix("<!--").unwrap_or(comment);
    inner.strip_suffix("-->").unwrap_or(inner)
}
