//! Descriptions of HTTP interfaces (OpenAPI, Swagger) in YAML or JSON: the texts of `description` and `summary`, each as
//! a page of Markdown.
//!
//! YAML is read line by line, by its indentation: of a file that is malformed, all else is read, and places are exact.

use super::builder::Builder;
use super::excerpt::Excerpt;
use super::page_lines::{Line, lines};
use super::{markdown, strings};
use memchr::memchr;
use std::ops::Range;

/// The keys whose values are text, and those below which nothing is.
const TEXT: [&str; 2] = ["description", "summary"];
const EXAMPLES: [&str; 2] = ["example", "examples"];

/// Whether the beginning of a file in YAML or JSON has the key that makes it such a description.
pub(super) fn is_interface(beginning: &str) -> bool {
    let is_yaml = |line: &str| key(line).is_some_and(|(name, _)| matches!(name, "openapi" | "swagger"));
    if !beginning.trim_start().starts_with('{') {
        return beginning.lines().any(is_yaml);
    }
    ["\"openapi\"", "\"swagger\""].iter().filter_map(|name| beginning.split_once(name)).any(|(before, after)| {
        let depth = before.matches('{').count().checked_sub(before.matches('}').count());
        depth == Some(1) && after.trim_start().starts_with(':')
    })
}

pub(super) fn read(builder: &mut Builder) {
    let (source, part) = (builder.source(), builder.page());
    match source[part.clone()].trim_start().starts_with('{') {
        true => json(builder, part),
        false => yaml(builder, &lines(source, part)),
    }
}

/// Adds a text as a page of its own, unless a mark says that it does not count.
fn add(builder: &mut Builder, page: &Excerpt) {
    if !builder.is_ignoring() {
        let mut inner = builder.inner(page.text());
        markdown::read(&mut inner);
        builder.append(page, inner);
    }
}

fn json(builder: &mut Builder, part: Range<usize>) {
    let source = builder.source();
    let (mut at, mut key) = (part.start, None);
    while let Some(quote) = memchr(b'"', &source.as_bytes()[at..part.end]) {
        let quote = at + quote;
        let content = strings::content(source, quote + 1..part.end);
        at = (content.end + 1).min(part.end);
        let after = source[at..part.end].trim_start();
        if after.starts_with(':') {
            let (name, value) = (&source[content], part.end - after.len() + 1);
            key = TEXT.contains(&name).then_some(value);
            if EXAMPLES.contains(&name) {
                at = list_end(source, value..part.end);
            }
        } else if key.take().is_some_and(|value: usize| source[value..quote].trim().is_empty()) {
            let mut page = Excerpt::default();
            strings::escaped(&mut page, source, content);
            add(builder, &page);
        }
    }
}

/// Where the list or object ends that is next in a part of JSON; of another value, where it starts.
fn list_end(source: &str, part: Range<usize>) -> usize {
    let (bytes, mut at, mut depth) = (source.as_bytes(), part.start, 0_usize);
    while at < part.end {
        match bytes[at] {
            b'"' if depth > 0 => at = strings::content(source, at + 1..part.end).end,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            byte if depth == 0 && !byte.is_ascii_whitespace() => return part.start,
            _ => {}
        }
        at += 1;
        if depth == 0 && !bytes[at - 1].is_ascii_whitespace() {
            return at;
        }
    }
    part.end
}

/// The key of a line of YAML, and its value.
fn key(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let is_key = value.is_empty() || value.starts_with(' ');
    is_key.then(|| (name.trim_end().trim_matches(['"', '\'']), value.trim_start()))
}

fn yaml(builder: &mut Builder, lines: &[Line]) {
    let source = builder.source();
    let mut at = 0;
    while let Some(&(mut line)) = lines.get(at) {
        at += 1;
        while line.text(source).starts_with("- ") {
            line = line.after(1, source);
        }
        let text = line.text(source);
        if let Some(comment) = text.strip_prefix('#') {
            builder.comment(comment, line.range());
        }
        let Some((name, value)) = key(text) else { continue };
        let is_block = value.starts_with(['|', '>']);
        let is_text = TEXT.contains(&name) && (!value.is_empty() || goes_on(source, &line, lines.get(at)));
        if is_text || is_block || EXAMPLES.contains(&name) {
            let below = lines[at..].iter().take_while(|next| next.is_blank() || next.indent > line.indent).count();
            let body = &lines[at..at + below];
            at += below;
            if is_text {
                add(builder, &scalar(source, Line { start: line.end - value.len(), ..line }, body));
            }
        }
    }
}

/// Whether the value of a line starts in the next one and is a text.
fn goes_on(source: &str, line: &Line, next: Option<&Line>) -> bool {
    next.is_some_and(|next| next.indent > line.indent && key(next.text(source)).is_none())
}

/// The text of a scalar: the value after its key, and the lines below.
fn scalar(source: &str, value: Line, body: &[Line]) -> Excerpt {
    let mut page = Excerpt::default();
    let text = value.text(source);
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''));
    if text.starts_with(['|', '>']) {
        let base = body.iter().find(|line| !line.is_blank()).map_or(0, |line| line.indent);
        body.iter().for_each(|line| page.push(line.indent.saturating_sub(base), source, line.range()));
        return page;
    }
    let first = Line { start: value.start + usize::from(quote.is_some()), ..value };
    for line in [first].iter().chain(body) {
        let Some(quote) = quote else {
            let end = line.text(source).find(" #").map_or(line.end, |comment| line.start + comment);
            page.push(0, source, line.start..end);
            continue;
        };
        let end = quoted_end(line.text(source), quote);
        let part = line.start..line.start + end;
        match quote {
            '"' => strings::escaped(&mut page, source, part),
            _ => doubled(&mut page, source, part),
        }
        page.push_blank();
        if end < line.text(source).len() {
            break;
        }
    }
    page
}

/// Where the quotation mark is that ends a string, or the end of the text.
fn quoted_end(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        if (c == '\\' && quote == '"') || (c == quote && quote == '\'' && next == Some('\'')) {
            characters.next();
        } else if c == quote {
            return at;
        }
    }
    text.len()
}

/// Adds the content of a string in which two quotation marks stand for one.
fn doubled(page: &mut Excerpt, source: &str, part: Range<usize>) {
    let mut from = part.start;
    for (at, _) in source[part.clone()].match_indices("''") {
        page.part(source, from..part.start + at + 1);
        from = part.start + at + 2;
    }
    page.part(source, from..part.end);
}
