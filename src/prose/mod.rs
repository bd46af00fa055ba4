//! Markup read as prose: the text that a reader of the rendered page sees, with the position of each word in the
//! source.
//!
//! ```
//! use neardups::prose::{Kind, Lines, Markup, ProseOptions, read};
//!
//! let source = "# Setup\n\nRun *the* `install`\nscript &amp; wait.\n";
//! let prose = read(Markup::Markdown, source, &ProseOptions::default());
//! assert_eq!(prose.text(), "Setup\n\nRun the install script & wait.");
//!
//! let paragraph = &prose.blocks()[1];
//! assert_eq!((paragraph.kind, paragraph.section), (Kind::Paragraph, Some(0)));
//!
//! let word = prose.text().find("install").unwrap();
//! let place = prose.source_of(word..word + "install".len());
//! assert_eq!(&source[place.clone()], "install");
//! assert_eq!(Lines::new(source).position(place.start).to_string(), "3:12");
//! ```
//!
//! # What does not count
//!
//! Not part of the prose, whatever the markup: comments, tags, names of directives and macros, attributes, the
//! definitions of references, placeholders (expressions of MDX, attributes of AsciiDoc, substitutions of
//! reStructuredText, lines of Markdown that are a tag of a template such as `{% include a.md %}`), and text between
//! [marks](#marks). Code within a sentence, the text of a link and the alternative text of an image are words like
//! others.
//!
//! By default these do not count either; [`ProseOptions`] includes them:
//!
//! * **Code**: fenced, indented and literal blocks, `pre` elements, cells of tables that are the signature of a function.
//! * **Links**: targets of links and images. A word with `://` in it is a target up to the next character that no URL has.
//! * **Front matter**: lines between two of `---` (or `+++`) at the start of a page, if the first of them is not blank.
//! * **Licences**: blocks at the start of a page, after nothing but headings, that contain a phrase of a well-known
//!   notice, such as `SPDX-License-Identifier` or `Licensed under the`; and sections under a heading such as "License"
//!   or "Copyright and licence", up to the next heading. A section of up to 60 words is a licence as a whole; of a
//!   longer one, the blocks that contain a phrase of a notice or name a licence, such as `MIT license` or
//!   `at your option`. Anywhere, short blocks that begin with a well-known sentence, such as `Licensed under either of`. Sections under a heading of level 1 count, because it may be the title of a page on licences to
//!   buy; so do sections in plain text or under a line in bold, which is not a heading.
//! * **Contents**: a list of two items or more in which every word belongs to a link to a fragment of the same page;
//!   and of HTML the content of a `nav` element, or of one whose class or role says that it is a table of contents or a
//!   menu, such as `toc`, `navheader` and `navfooter`.
//!
//! # Marks
//!
//! Text between a comment `dedup:ignore-start` and a comment `dedup:ignore-end` does not count. The comment may
//! continue with any words, such as a reason. A comment that starts like a mark but is not one is reported as a
//! [`Notice`], and so is a mark at the start of a line in the form of another markup.
//!
//! | markup | comment |
//! |---|---|
//! | Markdown, HTML | `<!-- dedup:ignore-start -->` |
//! | MDX | `{/* dedup:ignore-start */}` |
//! | reStructuredText | `.. dedup:ignore-start` |
//! | AsciiDoc | `// dedup:ignore-start` |
//! | plain text | a line that starts with `dedup:ignore-start` |
//! | notebooks | as in Markdown, within a cell of it |
//! | gettext, YAML | `# dedup:ignore-start` |
//! | docstrings | `// dedup:ignore-start` or another kind of comment of the language |
//!
//! # Cost
//!
//! Linear in the source, in time and memory, whatever the source; nothing recurses. Any text is a valid page of any
//! markup: malformed markup is read as plain words.
//!
//! # Files
//!
//! | file | one idea |
//! |---|---|
//! | `builder` | words and blocks as they come, and all that does not depend on the markup |
//! | `licence` | licence notices, and sections on the licence |
//! | `lines` | places as line and column |
//! | `page_lines` | the lines of a page, for markups that go by lines |
//! | `markdown`, `mdx`, `html`, `rst`, `asciidoc`, `plain`, `notebook`, `gettext`, `openapi` | a markup each |
//! | `strings` | texts in strings, without escapes |
//! | `docstrings` | documentation in source files: where it stands; its text is of one of these markups |
//! | `signature` | signatures in cells |
//! | `sniff` | the markup of plain text with marks of one |
//! | `words` | words between white space, and URLs in them |
//! | `directives` | directives of reStructuredText and MyST: which are text |
//! | `foreign` | marks in comments of another markup |
//! | `excerpt` | parts of a source as a page of their own, and where each stands |

mod asciidoc;
mod block;
mod builder;
mod directives;
mod docstrings;
mod excerpt;
mod foreign;
mod gettext;
mod html;
mod licence;
mod lines;
mod markdown;
mod mdx;
mod navigation;
mod notebook;
mod openapi;
mod page_lines;
mod plain;
mod rst;
mod signature;
mod sniff;
mod strings;
#[cfg(test)]
mod tests;
mod words;

pub use block::{Block, Kind, Notice, Prose, ProseOptions, Unread};
pub use docstrings::Language;
pub use lines::{Lines, Position};
pub(crate) use navigation::Navigation;

use builder::Builder;
use std::cmp::Ordering;
use std::path::Path;

/// A language that pages are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Markup {
    /// CommonMark with the extensions of GitHub (tables, task lists, strikethrough, footnotes, alerts), and of other programs:
    ///
    /// * MkDocs and Material: admonitions (`!!!`, `???`, `???+`), tabs (`===`), blocks (`/// note`), attribute lists, icons;
    ///   snippets (`--8<--`) do not count.
    /// * MyST and Jupyter Book: directives between backticks or colons, with their options; roles. Directives of code, such as
    ///   `code-cell`, are code, and so are unknown ones between backticks.
    /// * Docusaurus, VitePress, Pandoc: containers (`:::`), also in lists.
    /// * Hugo: shortcodes. What is between two counts, except between those of code, such as `highlight`.
    /// * Definition lists.
    ///
    /// Titles of all these count, as paragraphs.
    Markdown,
    /// Markdown with JSX and expressions. From a tag or an expression that never ends on, a page is read as Markdown. Indented
    /// lines are text, not code. Attributes of components that readers see, such as `title` and `description`, are paragraphs.
    Mdx,
    /// reStructuredText, with the directives of docutils and Sphinx. Bodies of unknown directives count, their arguments do not,
    /// nor do signatures; texts of `replace` count. A cell of a table is a block, apart from blank lines and items in it; where its
    /// lines take turns with those of another cell, each is one.
    ReStructuredText,
    /// AsciiDoc. A cell of a table is a block, apart from blank lines and items in it, or a page by itself (`a`). Passthrough blocks
    /// and labels of tabs of Antora do not count.
    AsciiDoc,
    /// HTML, as for [`Format::Html`](crate::source::Format::Html), and the alternative texts of images.
    Html,
    /// Text without markup: paragraphs between blank lines, and items that start with a bullet or a number. Of files whose name says
    /// so, [`of_text`](Self::of_text) recognises those with markup.
    Plain,
    /// A notebook of Jupyter: the cells of Markdown as one page. Code cells are code; their outputs do not count.
    Notebook,
    /// A catalogue of gettext: each translation is a paragraph of plain text. Originals and comments do not count.
    Gettext,
    /// A description of an HTTP interface (OpenAPI, Swagger) in YAML or JSON: each `description` and `summary` is a page of
    /// Markdown. Examples in YAML do not count.
    OpenApi,
    /// The documentation in a source file of that language: comments that document, and docstrings. Tags and fields, such as
    /// `@param name` and `:param name:`, do not count; their texts do.
    Docstrings(Language),
}

impl Markup {
    /// Every markup of pages, and how names of its files end, behind a dot and in lower case.
    pub const ENDINGS: [(Markup, &[&str]); 8] = [
        (Markup::Markdown, &["md", "markdown", "mdown", "mkd", "mkdn", "qmd", "rmd"]),
        (Markup::Mdx, &["mdx"]),
        (Markup::ReStructuredText, &["rst", "rest"]),
        (Markup::AsciiDoc, &["adoc", "asciidoc"]),
        (Markup::Html, &["html", "htm", "xhtml"]),
        (Markup::Plain, &["txt", "text"]),
        (Markup::Notebook, &["ipynb"]),
        (Markup::Gettext, &["po"]),
    ];

    /// The markup of a file, by the ending of its name whatever its case; `None` for other files, such as sources:
    /// [`Language::of_path`] returns those, and [`is_openapi`](Self::is_openapi) recognises others.
    ///
    /// ```
    /// use neardups::prose::Markup;
    /// assert_eq!(Markup::of_path("docs/index.RST"), Some(Markup::ReStructuredText));
    /// assert_eq!(Markup::of_path("main.rs"), None);
    /// ```
    pub fn of_path(path: impl AsRef<Path>) -> Option<Markup> {
        let ending = path.as_ref().extension()?.to_str()?;
        let has = |endings: &[&str]| endings.iter().any(|known| known.eq_ignore_ascii_case(ending));
        Markup::ENDINGS.iter().find(|(_, endings)| has(endings)).map(|&(markup, _)| markup)
    }
}

impl Markup {
    /// Whether a file in YAML or JSON is a description of an HTTP interface, by its beginning.
    ///
    /// ```
    /// use neardups::prose::Markup;
    /// assert!(Markup::is_openapi("api.yml", "# A comment\nopenapi: 3.1.0\n"));
    /// assert!(!Markup::is_openapi("ci.yml", "name: openapi\n"));
    /// ```
    pub fn is_openapi(path: impl AsRef<Path>, beginning: &str) -> bool {
        let ending = path.as_ref().extension().and_then(|ending| ending.to_str()).unwrap_or("");
        let is = |known: &&str| known.eq_ignore_ascii_case(ending);
        ["yaml", "yml", "json"].iter().any(is) && openapi::is_interface(beginning)
    }
}

impl Markup {
    /// The markup of a page with this text. A file whose name says plain text is reStructuredText or AsciiDoc if more of its lines are
    /// directives, macros or labels of the one than of the other: a directive or a macro, or two of what plain texts may have too, such as
    /// `[quote]`. Any other markup stays.
    ///
    /// Cost: one pass over a plain text.
    ///
    /// ```
    /// use neardups::prose::Markup;
    /// assert_eq!(Markup::Plain.of_text(".. note::\n\n   Words.\n"), Markup::ReStructuredText);
    /// assert_eq!(Markup::Plain.of_text("Words.\n"), Markup::Plain);
    /// ```
    pub fn of_text(self, text: &str) -> Markup {
        if self != Markup::Plain {
            return self;
        }
        // One line that few plain texts have is not enough: what is between rules would become code.
        let [rst, asciidoc] = sniff::marks(text);
        match rst.cmp(&asciidoc) {
            _ if rst.max(asciidoc) < 2 => Markup::Plain,
            Ordering::Greater => Markup::ReStructuredText,
            Ordering::Less => Markup::AsciiDoc,
            Ordering::Equal => Markup::Plain,
        }
    }
}

impl Markup {
    /// Of a markup with one form of comment: its name, and what precedes and follows a mark in a comment.
    fn comment(self) -> Option<(&'static str, [&'static str; 2])> {
        Some(match self {
            Markup::Markdown => ("Markdown", ["<!-- ", " -->"]),
            Markup::Mdx => ("MDX", ["{/* ", " */}"]),
            Markup::ReStructuredText => ("reStructuredText", [".. ", ""]),
            Markup::AsciiDoc => ("AsciiDoc", ["// ", ""]),
            Markup::Html => ("HTML", ["<!-- ", " -->"]),
            Markup::Plain => ("plain text", ["", ""]),
            Markup::Notebook | Markup::Gettext | Markup::OpenApi | Markup::Docstrings(_) => return None,
        })
    }
}

/// Reads a page. A byte order mark at its start is not part of it.
pub fn read(markup: Markup, source: &str, options: &ProseOptions) -> Prose {
    let mut start = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let front = match markup {
        Markup::Markdown | Markup::Mdx | Markup::AsciiDoc | Markup::Html => front_matter(&source[start..]),
        _ => None,
    };
    let mut builder = Builder::new(source, options);
    if let Some(front) = front {
        match options.front_matter {
            true => builder.front_matter(start..start + front),
            false => builder.unread(&source[start..start + front], Unread::FrontMatter),
        }
        start += front;
    }
    builder.skip_to(start);
    match markup {
        Markup::Markdown => markdown::read(&mut builder),
        Markup::Mdx => mdx::read(&mut builder),
        Markup::ReStructuredText => rst::read(&mut builder),
        Markup::AsciiDoc => asciidoc::read(&mut builder),
        Markup::Html => html::read(&mut builder),
        Markup::Plain => plain::read(&mut builder),
        Markup::Notebook => notebook::read(&mut builder),
        Markup::Gettext => gettext::read(&mut builder),
        Markup::OpenApi => openapi::read(&mut builder),
        Markup::Docstrings(language) => docstrings::read(&mut builder, language),
    }
    let mut prose = builder.finish();
    let foreign = markup.comment().map(|(name, own)| foreign::marks(name, own, source, &prose)).unwrap_or_default();
    if !foreign.is_empty() {
        prose.notices.extend(foreign);
        prose.notices.sort_by_key(|notice| (matches!(notice, Notice::NeverEnds { .. }), notice.line()));
    }
    prose
}

/// The length of the front matter that the page starts with, with both of its fences. After white space only if all lines are of keys.
fn front_matter(page: &str) -> Option<usize> {
    let trimmed = page.trim_start();
    let before = page.len() - trimmed.len();
    let mut lines = trimmed.split_inclusive('\n');
    let first = lines.next()?;
    let fence = first.trim_end();
    if !matches!(fence, "---" | "+++") {
        return None;
    }
    let mut length = before + first.len();
    for (number, line) in lines.enumerate() {
        length += line.len();
        match line.trim_end() {
            "" if number == 0 => return None,
            end if end == fence || (end == "..." && fence == "---") => return Some(length),
            line if before > 0 && !is_of_keys(line) => return None,
            _ => {}
        }
    }
    None
}

/// Whether a line of front matter starts with a key, such as `title: A` or `title = "A"`, or belongs to one: it is indented, an item, or a
/// comment.
fn is_of_keys(line: &str) -> bool {
    if line.starts_with([' ', '\t', '-', '#']) {
        return true;
    }
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let rest = line.trim_start_matches(is_of_key);
    rest.len() < line.len() && rest.trim_start().starts_with([':', '='])
}
