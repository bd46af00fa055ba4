//! The links and the labels in the source of a page.
//!
//! One or two passes look for marks of the markup, such as `](`. A target ends at the first character that no target has, so no byte is
//! read more than a few times, whatever the source.

use crate::prose::Markup;
use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memchr2, memchr2_iter, memchr3_iter};
use std::sync::LazyLock;

/// Maximum number of bytes of a target.
const MAX_TARGET: usize = 300;

/// Maximum number of blanks, brackets and quotes before a target.
const MAX_BEFORE: usize = 3;

/// Maximum number of blanks and marks after the brace of a tag.
const MAX_MARKS: usize = 8;

/// A snippet of MkDocs, an include of VitePress, and a directive of reStructuredText.
static SNIPPET: LazyLock<Finder> = LazyLock::new(|| Finder::new("--8<--"));
static INCLUDE: LazyLock<Finder> = LazyLock::new(|| Finder::new("@include:"));
static DIRECTIVE: LazyLock<Finder> = LazyLock::new(|| Finder::new(".. "));

/// What a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Leads a reader to a page, by its path or address.
    Path,
    /// The same as an entry of a table of contents.
    Entry,
    /// Leads a reader to a label, or to a page by its path.
    Label,
    /// Includes the text of a page.
    Include,
}

/// A link in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target<'a> {
    /// Where it starts, in bytes.
    pub at: usize,
    pub text: &'a str,
    pub kind: Kind,
}

/// The links in a source.
pub(super) fn targets(markup: Markup, source: &str) -> Vec<Target<'_>> {
    let mut targets = Targets { source, found: Vec::new() };
    match markup {
        Markup::Markdown | Markup::Mdx | Markup::Notebook => targets.of_markdown(),
        Markup::ReStructuredText => targets.of_rst(),
        Markup::AsciiDoc => targets.of_asciidoc(),
        Markup::Html => memchr_iter(b'=', source.as_bytes()).for_each(|at| targets.add_attribute(at)),
        _ => {}
    }
    targets.found
}

/// The names by which links lead to places in a source: labels of reStructuredText and ids of AsciiDoc.
pub(super) fn labels(markup: Markup, source: &str) -> Vec<&str> {
    let bytes = source.as_bytes();
    match markup {
        Markup::ReStructuredText => {
            let lines = DIRECTIVE.find_iter(bytes).filter(|&at| at == 0 || bytes[at - 1] == b'\n');
            let names = lines.filter_map(|at| line(window(source, at + 3)).trim_end().strip_prefix('_'));
            names.filter_map(|name| Some(name.strip_suffix(':')?.trim_matches('`'))).collect()
        }
        Markup::AsciiDoc => memchr_iter(b'[', bytes).filter_map(|at| id(source, at + 1)).collect(),
        _ => Vec::new(),
    }
}

/// The id after an opening bracket: `[[id]]`, `[#id]` or `[id='id']`.
fn id(source: &str, start: usize) -> Option<&str> {
    let text = window(source, start);
    let mark = ["id=", "[", "#"].iter().find(|mark| text.starts_with(**mark))?;
    let text = &text[mark.len()..];
    let id = text[..memchr2(b']', b',', text.as_bytes())?].trim_matches(['\'', '"']);
    (!id.is_empty() && !id.contains('\n')).then_some(id)
}

/// At most [`MAX_TARGET`] bytes of a source from there on.
fn window(source: &str, start: usize) -> &str {
    let end = source.floor_char_boundary(start.saturating_add(MAX_TARGET).min(source.len()));
    source.get(start..end).unwrap_or_default()
}

/// The first line of a text.
fn line(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(line, _)| line)
}

/// The target of a text such as `Title <target>`, or the whole text.
fn in_brackets(text: &str) -> &str {
    text.strip_suffix('>').and_then(|text| text.rsplit_once('<')).map_or(text, |(_, target)| target)
}

/// Where a target at the start of a text ends. A name such as `<VERSION>` in its path belongs to it.
fn end_of_target(text: &str) -> usize {
    let is_after = |byte: u8| byte.is_ascii_whitespace() || b"()[]<>\"'`,".contains(&byte);
    let from = |start: usize| text[start..].bytes().position(is_after).map_or(text.len(), |at| start + at);
    let mut end = from(0);
    while text[..end].ends_with('/') && text[end..].starts_with('<') {
        let name = text[end..].find(">/").filter(|name| !text[end..end + name].contains(char::is_whitespace));
        let Some(name) = name else { break };
        end = from(end + name + 2);
    }
    end
}

struct Targets<'a> {
    source: &'a str,
    found: Vec<Target<'a>>,
}

impl<'a> Targets<'a> {
    /// Adds the target at the start of the source from there on, after blanks and opening quotes.
    fn add(&mut self, start: usize, kind: Kind) {
        let is_before = |byte: &u8| matches!(byte, b' ' | b'<' | b'"' | b'\'' | b'`');
        let bytes = self.source.as_bytes().get(start..).unwrap_or_default();
        let at = start + bytes.iter().take(MAX_BEFORE).take_while(|byte| is_before(byte)).count();
        let text = window(self.source, at);
        let text = &text[..end_of_target(text)];
        if !text.is_empty() && !text.starts_with("{{") {
            self.found.push(Target { at, text, kind });
        }
    }

    fn of_markdown(&mut self) {
        let bytes = self.source.as_bytes();
        for at in memchr3_iter(b']', b'{', b'=', bytes) {
            match (bytes[at], bytes.get(at + 1)) {
                (b']', Some(b'(')) => self.add(at + 2, Kind::Path),
                (b']', Some(b':')) => self.add_reference(at + 2),
                (b'=', _) => self.add_attribute(at),
                (b'{', _) if at == 0 || bytes[at - 1] != b'{' => self.add_tag(at + 1),
                _ => {}
            }
        }
        SNIPPET.find_iter(bytes).for_each(|at| self.add(at + "--8<--".len(), Kind::Include));
        INCLUDE.find_iter(bytes).for_each(|at| self.add(at + "@include:".len(), Kind::Include));
    }

    fn of_rst(&mut self) {
        self.add_roles();
        let mut next = 0;
        for at in DIRECTIVE.find_iter(self.source.as_bytes()).map(|at| at + 3) {
            let line = line(window(self.source, at));
            let after = |name: &str| line.strip_prefix(name).map(|rest| at + line.len() - rest.len());
            if at < next {
                continue;
            } else if let Some(start) = after("include::") {
                self.add(start, Kind::Include);
            } else if let Some(start) = after("toctree::") {
                next = self.add_entries(start);
            } else if let Some((name, _)) = line.strip_prefix('_').and_then(|line| line.split_once(": ")) {
                self.add(at + 1 + name.len() + 2, Kind::Path);
            }
        }
    }

    fn of_asciidoc(&mut self) {
        let bytes = self.source.as_bytes();
        for at in memchr2_iter(b':', b'<', bytes) {
            // Within a target no other begins.
            if self.found.last().is_some_and(|last| at < last.at + last.text.len()) {
                continue;
            }
            let (before, next) = (&bytes[..at], bytes.get(at + 1));
            match bytes[at] {
                b'<' if next == Some(&b'<') => self.add(at + 2, Kind::Label),
                b':' if next == Some(&b':') && before.ends_with(b"include") => self.add(at + 2, Kind::Include),
                b':' if before.ends_with(b"linkgit") => self.add(at + 1, Kind::Path),
                b':' if before.ends_with(b"xref") || before.ends_with(b"link") => self.add(at + 1, Kind::Label),
                _ => {}
            }
        }
    }

    /// Adds the value of an attribute before an equals sign, if it is a target.
    fn add_attribute(&mut self, at: usize) {
        let name = &self.source.as_bytes()[..at];
        let is_target = || [&b"href"[..], b" to", b" path"].iter().any(|known| name.ends_with(known));
        if self.source.as_bytes().get(at + 1) == Some(&b'"') && is_target() {
            self.add(at + 2, Kind::Path);
        }
    }

    /// Adds the target of a definition such as `[name]: target`, but no word after a colon.
    fn add_reference(&mut self, start: usize) {
        let first = self.found.len();
        self.add(start, Kind::Path);
        let is_path = self.found.get(first).is_some_and(|target| target.text.contains(['/', '.']));
        self.found.truncate(first + usize::from(is_path));
    }

    /// Adds the target in a tag after its first brace: a reference of Hugo, or an include.
    fn add_tag(&mut self, start: usize) {
        let text = window(self.source, start);
        let marks = text.bytes().take(MAX_MARKS).take_while(|byte| b"{<%# ".contains(byte)).count();
        let tag = &text[marks..];
        let after = |name: &str| tag.strip_prefix(name).map(|rest| start + text.len() - rest.len());
        if let Some(at) = after("relref ").or_else(|| after("ref ")) {
            self.add(at, Kind::Path);
        } else if let Some(at) = after("include} ").or_else(|| after("include ")) {
            self.add(at, Kind::Include);
        }
    }

    /// Adds what is between backticks and leads to a page: roles, and links with a target.
    fn add_roles(&mut self) {
        let bytes = self.source.as_bytes();
        let mut next = 0;
        for at in memchr_iter(b'`', bytes) {
            let text = window(self.source, at + 1);
            let Some(length) = memchr(b'`', text.as_bytes()).filter(|_| at >= next) else { continue };
            next = at + length + 2;
            let (text, before) = (&text[..length], &bytes[..at]);
            let kind = if before.ends_with(b":ref:") || before.ends_with(b":any:") {
                Kind::Label
            } else if before.ends_with(b":doc:") || bytes.get(next) == Some(&b'_') && text.ends_with('>') {
                Kind::Path
            } else {
                continue;
            };
            let text = in_brackets(text).trim().trim_start_matches('!');
            self.found.push(Target { at, text, kind });
        }
    }

    /// Adds the entries of a `toctree` after its name, and returns its end.
    fn add_entries(&mut self, start: usize) -> usize {
        let mut at = start;
        for line in self.source[start..].split_inclusive('\n') {
            let entry = line.trim();
            let is_first = at == start;
            if !is_first && !entry.is_empty() && !line.starts_with([' ', '\t']) {
                break;
            }
            let text = in_brackets(entry);
            if !is_first && !text.is_empty() && text.len() <= MAX_TARGET && !text.starts_with(':') {
                self.found.push(Target { at, text, kind: Kind::Entry });
            }
            at += line.len();
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MARKUPS: [Markup; 5] =
        [Markup::Markdown, Markup::Mdx, Markup::ReStructuredText, Markup::AsciiDoc, Markup::Html];

    /// The targets of a source, in its order.
    fn texts(markup: Markup, source: &str) -> Vec<&str> {
        let mut targets = targets(markup, source);
        targets.sort_by_key(|target| target.at);
        targets.into_iter().map(|target| target.text).collect()
    }

    #[test]
    fn targets_of_each_markup() {
        let is = |markup, source: &str, expected: &[&str]| assert_eq!(texts(markup, source), expected, "{source}");
        let markdown = "See [a](b/c.md#d), [e](<f.md>) and ![i](j.png \"title\").\n\n[x]: ../y.md\n";
        is(Markup::Markdown, markdown, &["b/c.md#d", "f.md", "j.png", "../y.md"]);
        is(Markup::Mdx, "<a href=\"/x\"> <Link to=\"/y\"/> <Card path=\"/z\" title=\"no\"/>", &["/x", "/y", "/z"]);
        let hugo = "[a]({{< ref \"b.md#c\" >}}) {{% relref d.md %}} {{< refer e >}}";
        is(Markup::Markdown, hugo, &["b.md#c", "d.md"]);
        is(Markup::Markdown, "[a](/b/<VERSION>/c/#d) [e](f/<g h>/) [i](j/<k)", &["/b/<VERSION>/c/#d", "f/", "j/"]);
        is(Markup::Notebook, "{\"source\": [\"[a](b.ipynb)\"]}", &["b.ipynb"]);
        let roles = ":doc:`/a/b` :ref:`text <c>` `text\n<d.html>`_ ``code`` :class:`E` :ref:`!f`";
        is(Markup::ReStructuredText, roles, &["/a/b", "c", "d.html", "f"]);
        let entries = "T\n\n.. toctree::\n   :maxdepth: 2\n\n   a/b\n   Title <c>\n\nText\n\n.. _x: y.html\n.. _z:\n";
        is(Markup::ReStructuredText, entries, &["a/b", "c", "y.html"]);
        is(
            Markup::AsciiDoc,
            "xref:a-{context}[A] <<b,B>> link:c.html#d[D] linkgit:e[1]",
            &["a-{context}", "b", "c.html#d", "e"],
        );
        is(Markup::Html, "<a class=\"x\" href=\"y.html\">", &["y.html"]);
        is(Markup::Plain, "[a](b.md)", &[]);
    }

    #[test]
    fn includes_of_each_markup() {
        for (markup, source, expected) in [
            (Markup::Markdown, "--8<-- \"a.md\"", Some("a.md")),
            (Markup::Markdown, "{% include \"a.md\" %}", Some("a.md")),
            (Markup::Markdown, "{{#include ../a.md:x}}", Some("../a.md:x}}")),
            (Markup::Markdown, "```{include} a.md", Some("a.md")),
            (Markup::Markdown, "<!--@include: ./a.md-->", Some("./a.md--")),
            (Markup::Markdown, "These include a.md", None),
            (Markup::ReStructuredText, ".. include:: ../a.rst", Some("../a.rst")),
            (Markup::AsciiDoc, "include::a/b.adoc[leveloffset=+1]", Some("a/b.adoc")),
        ] {
            let found = targets(markup, source);
            let included = found.iter().find(|target| target.kind == Kind::Include).map(|target| target.text);
            assert_eq!(included, expected, "{source}");
        }
    }

    #[test]
    fn labels_of_each_markup() {
        let rst = ".. _first:\n\nText\n\n.. _`Second one`:\n\n.. _third: target\n";
        assert_eq!(labels(Markup::ReStructuredText, rst), ["first", "Second one"]);
        let adoc = "[id='a-{context}']\n= A\n\n[[b,B]]\n[#c]\n== C\n\n[source,yaml]\n";
        assert_eq!(labels(Markup::AsciiDoc, adoc), ["a-{context}", "b", "c"]);
        assert_eq!(labels(Markup::Markdown, adoc), Vec::<&str>::new());
    }

    proptest! {
        /// A target is part of the source, near its place.
        #[test]
        fn any_source_has_targets(
            source in "(\\]\\(|\\]: |=\"|href|\\{\\{|ref |`|:doc:|<|>|\n\\.\\. _|include|::|xref:|\\[\\[|[a中.:/ \n]){0,60}",
        ) {
            for markup in MARKUPS {
                for Target { at, text, .. } in targets(markup, &source) {
                    prop_assert!(text.len() <= MAX_TARGET && source[at..].contains(text));
                }
                for label in labels(markup, &source) {
                    prop_assert!(source.contains(label));
                }
            }
        }
    }
}
