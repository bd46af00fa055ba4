//! What dialects of Markdown add within a line: attribute lists, roles of MyST, icons of Material, shortcodes of Hugo.

use super::props::texts;
use crate::prose::excerpt::Excerpt;
use memchr::{memchr2, memmem};
use std::ops::Range;

/// The greatest length of an attribute list, a role or an icon: looking for its end stays linear.
const MAX_BYTES: usize = 256;

/// The sets that names of icons start with.
const ICONS: [&str; 4] = [":material-", ":octicons-", ":fontawesome-", ":simple-"];

pub(super) struct Inline<'m> {
    pub(super) markdown: &'m str,
    /// The end of a shortcode that continues over lines.
    pub(super) resume: usize,
    /// Whether no further shortcode with these delimiters is closed.
    unclosed: [bool; 2],
}

impl<'m> Inline<'m> {
    pub(super) fn new(markdown: &'m str) -> Self {
        Inline { markdown, resume: 0, unclosed: [false; 2] }
    }

    /// Adds a part of a line without what no reader sees.
    pub(super) fn read(&mut self, part: Range<usize>, page: &mut Excerpt) {
        let (mut from, mut at) = (part.start, part.start);
        // White space after what is left out at the start of the line would indent the rest.
        let mut start = part.start;
        // Backticks up to there are counted.
        let (mut counted, mut in_code) = (part.start, false);
        while let Some(found) = memchr2(b'{', b':', &self.markdown.as_bytes()[at..part.end]) {
            at += found;
            let line = &self.markdown[part.start..part.end];
            let backticks = self.markdown.as_bytes()[counted.min(at)..at].iter().filter(|&&byte| byte == b'`').count();
            (counted, in_code) = (at, in_code ^ (backticks % 2 == 1));
            if let Some(end) = self.shortcode(at) {
                self.push(from..at, page);
                let mut is_first = at == start;
                for text in texts(&self.markdown[at..end], |_| true) {
                    page.markup(if std::mem::take(&mut is_first) { "" } else { " " });
                    self.push(at + text.start..at + text.end, page);
                    page.markup(" ");
                }
                self.resume = end;
                if is_first {
                    start = self.text_from(end.min(part.end)..part.end);
                }
                at = start.max(end.min(part.end));
                from = at;
            } else if let Some(length) = span(line, at - part.start, in_code) {
                self.push(from..at, page);
                if at == start {
                    start = self.text_from(at + length..part.end);
                }
                at = start.max(at + length);
                from = at;
            } else if let Some((name, target)) = role(&line[at - part.start..]) {
                self.push(from..at, page);
                self.push(at + name..at + target.start, page);
                (from, at) = (at + target.end, at + target.end);
            } else {
                at += 1;
            }
        }
        self.push(from..part.end, page);
    }

    /// Where the first character is that is not white space.
    fn text_from(&self, part: Range<usize>) -> usize {
        part.end - self.markdown[part].trim_start_matches([' ', '\t']).len()
    }

    fn push(&self, part: Range<usize>, page: &mut Excerpt) {
        page.part(self.markdown, part);
    }

    /// Where the shortcode ends that starts there.
    fn shortcode(&mut self, at: usize) -> Option<usize> {
        let rest = &self.markdown[at..];
        let kind = ["{{<", "{{%"].iter().position(|open| rest.starts_with(open))?;
        if self.unclosed[kind] {
            return None;
        }
        let end = memmem::find(rest.as_bytes(), [b">}}", b"%}}"][kind]);
        self.unclosed[kind] = end.is_none();
        end.map(|end| at + end + 3)
    }
}

/// The beginning of a text, up to the greatest length.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

/// The length of an icon or an attribute list.
fn span(line: &str, at: usize, in_code: bool) -> Option<usize> {
    icon(&line[at..]).filter(|_| !in_code).or_else(|| attributes(line, at, in_code))
}

/// The length of an icon, such as `:material-account:`.
fn icon(text: &str) -> Option<usize> {
    let prefix = ICONS.iter().find(|prefix| text.starts_with(**prefix))?;
    let name = &beginning(text)[prefix.len()..];
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-')?;
    name[end..].starts_with(':').then_some(prefix.len() + end + 1)
}

/// The length of an attribute list in a line, such as `{ .class }` or `{: #id }`: after markup, or at the end of the line.
fn attributes(line: &str, at: usize, in_code: bool) -> Option<usize> {
    let inner = beginning(&line[at..]).strip_prefix('{')?;
    let inner = &inner[..inner.find('}')?];
    let length = inner.len() + 2;
    let attribute = inner.strip_prefix(':').unwrap_or(inner).trim_start();
    let is_name = |text: &str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_marked = inner.starts_with(':') || attribute.strip_prefix(['.', '#']).is_some_and(is_name);
    let is_pair = || {
        let (name, value) = attribute.split_once('=').unwrap_or_default();
        is_name(name) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') && !value.is_empty()
    };
    let before = line[..at].chars().next_back();
    let follows_markup = before.is_none_or(|before| ")]*_:>~=^`".contains(before)) && !in_code;
    let is_last = line[at + length..].trim_start_matches(['|', ' ', '#']).is_empty();
    ((is_marked && (follows_markup || is_last && !in_code)) || (follows_markup && is_pair())).then_some(length)
}

/// The length of the name of a role of MyST, such as ``{ref}`text <target>` ``, and where the target stands in it.
fn role(text: &str) -> Option<(usize, Range<usize>)> {
    let name = beginning(text).strip_prefix('{')?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.:+".contains(c))?;
    let code = text[end + 1..].strip_prefix("}`").filter(|_| end > 0)?;
    let start = end + 3;
    let code = code.split('`').next().filter(|code| start + code.len() < text.len())?;
    let target = code.strip_suffix('>').and_then(|code| code.rfind('<')).filter(|&open| open > 0).unwrap_or(code.len());
    let shown = code[..target].trim_end().len();
    Some((end + 2, start + shown..start + code.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let mut page = Excerpt::default();
        Inline::new(line).read(0..line.len(), &mut page);
        assert_eq!(page.text(), expected);
    }

    #[test]
    fn attribute_lists_go() {
        check("[a](b){ .md-button target=\"_blank\" } c", "[a](b) c");
        check("![a](b){width=300} c{.d}", "![a](b) c");
        check("# A { #b .c }", "# A ");
        check("{: .no }", "");
        check("`a`{.b} `{.c}` d {e} f = {g=1} {.h} i", "`a` `{.c}` d {e} f = {g=1} {.h} i");
        check("{\"a\": 1} { b } {}", "{\"a\": 1} { b } {}");
    }

    #[test]
    fn icons_go() {
        check(":material-account:{ .lg } a :octicons-arrow-right-24: b:c: `:simple-d:`", "a  b:c: `:simple-d:`");
    }

    #[test]
    fn roles_go_with_their_targets() {
        check("see {ref}`a b <c>`, {doc}`d`, {kbd}`<e>` {f} `g`", "see `a b`, `d`, `<e>` {f} `g`");
    }

    #[test]
    fn shortcodes_go() {
        check("a {{< b c=\"d\" >}}e{{< /b >}} {{% f %}} {{< g", "a e  {{< g");
        check("{{< figure src=\"a\" title=\"A b\" />}}", "A b ");
        check("{{< b >}}  c", "c");
    }
}
