//! The main text of a page, without its menus and footers: as dom_smoothie finds it, which follows Mozilla's Readability;
//! or all but the navigation, if a [documentation generator](super::documentation) made the page. Where the library
//! finds text outside the only main part of a page, that part is taken.
//!
//! A crafted page can make building its tree quadratic: misnested formatting is repaired again and again, and depth and
//! misplaced tables multiply the cost. Therefore the library never reads the original page. It gets another one,
//! written here in one pass over our own tokens: few kinds of elements, each closed in order, no formatting except
//! links, no link within a link, no scripts, few attributes. Beyond the bounds on depth and elements, no such page is
//! written.

use super::documentation::{documentation, is_sign, landmark};
use super::markup::{Attributes, Content, INLINE, Token, Tokens, is_among};
use super::text::text;
use dom_smoothie::{Config, Readability};
use std::collections::HashSet;

/// The maximum nesting depth of elements. Browsers allow 512.
const MAX_DEPTH: usize = 100;

/// The maximum number of elements.
const MAX_ELEMENTS: usize = 10_000;

/// The maximum size of the written page, in bytes.
const MAX_BYTES: usize = 2 << 20;

/// The maximum length of an attribute that is kept.
const MAX_ATTRIBUTE: usize = 200;

/// The maximum number of expensive characters in a text. For each `&`, and each character that UTF-8 starts with the
/// byte C2, the library's serializer searches the text for the next `<` or `>`. The cost of a text is their number
/// times its length, so after this many a comment starts another text. The library removes comments before it does
/// anything else.
const MAX_SEARCHES: usize = 256;

/// A text that is less than one part in so many of the prose of a page is not its main text. It may be a heading.
const LEAST_OF_PROSE: usize = 50;

/// Elements that keep their names; other blocks become `div`.
const KEPT: &[&str] = &[
    "article",
    "aside",
    "blockquote",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "main",
    "nav",
    "p",
    "pre",
    "section",
];

/// Elements that may contain only inline content: another block ends them.
const LEAVES: &[&str] = &["h1", "h2", "h3", "h4", "h5", "h6", "p", "pre"];

/// Elements that end the one before them.
const ITEMS: &[&[&str]] = &[&["li"], &["dt", "dd"], &["option"], &["tr"], &["td", "th"]];

/// Elements whose end closes all elements in them, and that are closed only by their own end tag.
const CELLS: &[&str] = &["table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption"];

/// Elements without an end tag.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

/// Attributes that identify menus, advertisements and hidden content.
const ATTRIBUTES: &[&str] = &["aria-hidden", "class", "hidden", "id", "role", "style"];

/// The main text, if it is found within the bounds.
pub(super) fn main_text(html: &str) -> Option<String> {
    let Rewritten { page, is_documentation } = rewritten(html)?;
    if is_documentation {
        return documentation(&page);
    }
    let (landmark, prose) = landmark(&page);
    let found = text_of(page).filter(|found| LEAST_OF_PROSE * found.len() >= prose)?;
    Some(landmark.filter(|landmark| is_outside(&found, landmark)).unwrap_or(found))
}

/// Whether less than a tenth of a text is lines of a main part.
fn is_outside(found: &str, landmark: &str) -> bool {
    let lines: HashSet<&str> = landmark.lines().map(str::trim).collect();
    let inside: usize = found.lines().map(str::trim).filter(|line| lines.contains(line)).map(str::len).sum();
    10 * inside < found.len()
}

/// A page rewritten for the library.
#[derive(Debug, PartialEq)]
pub(super) struct Rewritten {
    pub(super) page: String,
    /// Whether a documentation generator made it.
    is_documentation: bool,
}

/// The main text of the rewritten page.
fn text_of(page: String) -> Option<String> {
    let config = Config { disable_json_ld: true, max_elements_to_parse: MAX_ELEMENTS + 10, ..Config::default() };
    let article = Readability::new(page, None, Some(config)).ok()?.parse().ok()?;
    Some(text(&article.content)).filter(|text| !text.is_empty())
}

/// The page rewritten; `None` beyond the bounds.
pub(super) fn rewritten(html: &str) -> Option<Rewritten> {
    let mut page = Page { out: String::from("<body>"), open: Vec::new(), link: false, elements: 0, searches: 0 };
    let (mut templates, mut inside, mut is_documentation) = (0u64, Content::Data, false);
    let mut tokens = Tokens::new(html);
    while let Some(token) = tokens.next() {
        is_documentation = is_documentation || is_sign(&token);
        match token {
            Token::Comment(_) => {}
            Token::Start { name, .. } if name.eq_ignore_ascii_case("template") => templates += 1,
            Token::End { name } if name.eq_ignore_ascii_case("template") => templates = templates.saturating_sub(1),
            Token::Start { name, attributes } => {
                inside = Content::of(name);
                if templates == 0 && matches!(inside, Content::Data | Content::Sample | Content::Plain) {
                    page.start(name, attributes);
                }
            }
            Token::End { name } => {
                inside = Content::Data;
                if templates == 0 {
                    page.end(name);
                }
            }
            Token::Text(_) if templates > 0 => {}
            Token::Text(run) => match inside {
                Content::Title | Content::Area | Content::Hidden | Content::Script => {}
                Content::Data => page.push(run, false),
                Content::Sample | Content::Plain => page.push(run, true),
            },
        }
        // Only the library needs the bounds on size: what reads the pages of generators is linear.
        if page.elements > MAX_ELEMENTS || page.out.len() > MAX_BYTES {
            is_documentation = is_documentation || tokens.clone().any(|token| is_sign(&token));
            if !is_documentation || page.out.len() > html.len() + MAX_BYTES {
                return None;
            }
        }
        if page.open.len() > MAX_DEPTH {
            return None;
        }
    }
    page.close_to(0);
    Some(Rewritten { page: page.out, is_documentation })
}

/// The page so far.
struct Page<'a> {
    out: String,
    /// The open blocks: the original name of each, and the written one.
    open: Vec<(&'a str, &'static str)>,
    /// Whether a link is open, in the innermost block.
    link: bool,
    elements: usize,
    /// The number of expensive characters in the text, since its beginning or the last comment in it.
    searches: usize,
}

impl<'a> Page<'a> {
    fn start(&mut self, name: &'a str, attributes: &str) {
        if name.eq_ignore_ascii_case("a") {
            self.end_link();
            self.link = true;
            return self.tag("a", attributes);
        }
        if is_among(INLINE, name) {
            return;
        }
        self.end_link();
        if name.eq_ignore_ascii_case("br") {
            return self.tag("br", "");
        }
        if is_among(VOID, name) || ["html", "head", "body"].iter().any(|other| name.eq_ignore_ascii_case(other)) {
            return self.out.push(' ');
        }
        while self.open.last().is_some_and(|(_, last)| LEAVES.contains(last)) {
            self.close_to(self.open.len() - 1);
        }
        let before = self.open.last().map_or("", |(last, _)| last);
        if ITEMS.iter().any(|items| is_among(items, name) && is_among(items, before)) {
            self.close_to(self.open.len() - 1);
        }
        let kept = KEPT.iter().find(|kept| kept.eq_ignore_ascii_case(name)).copied().unwrap_or("div");
        self.open.push((name, kept));
        self.tag(kept, attributes);
    }

    fn end(&mut self, name: &str) {
        if name.eq_ignore_ascii_case("a") {
            return self.end_link();
        }
        if is_among(INLINE, name) {
            return;
        }
        self.end_link();
        let of_table = is_among(CELLS, name);
        for (depth, (open, _)) in self.open.iter().enumerate().rev() {
            if open.eq_ignore_ascii_case(name) {
                return self.close_to(depth);
            }
            // Elements around a table are not closed from within it.
            if !of_table && is_among(CELLS, open) {
                break;
            }
        }
        self.out.push(' ');
    }

    fn close_to(&mut self, depth: usize) {
        self.end_link();
        while self.open.len() > depth
            && let Some((_, kept)) = self.open.pop()
        {
            self.out.extend(["</", kept, ">"]);
            self.searches = 0;
        }
    }

    fn end_link(&mut self) {
        if std::mem::take(&mut self.link) {
            self.out.push_str("</a>");
            self.searches = 0;
        }
    }

    fn tag(&mut self, name: &str, attributes: &str) {
        (self.elements, self.searches) = (self.elements + 1, 0);
        self.out.extend(["<", name]);
        let mut seen = 0u32;
        for (name, value) in Attributes::new(attributes) {
            let Some(number) = ATTRIBUTES.iter().position(|wanted| wanted.eq_ignore_ascii_case(name)) else { continue };
            if seen & 1 << number != 0 || value.len() > MAX_ATTRIBUTE {
                continue;
            }
            seen |= 1 << number;
            self.out.extend([" ", ATTRIBUTES[number], "=\"", &value.replace('"', "&quot;"), "\""]);
        }
        // The address distinguishes a link from an anchor; its value makes no difference.
        self.out.push_str(if name == "a" { " href=\"/\">" } else { ">" });
    }

    fn push(&mut self, run: &str, as_it_stands: bool) {
        for c in run.chars() {
            // A reference to a character starts with `&` too.
            if matches!(c, '&' | '\u{80}'..='\u{bf}') {
                if self.searches == MAX_SEARCHES {
                    self.out.push_str("<!---->");
                    self.searches = 0;
                }
                self.searches += 1;
            }
            match c {
                '<' => self.out.push_str("&lt;"),
                '&' if as_it_stands => self.out.push_str("&amp;"),
                '\0' => {}
                c => self.out.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The page rewritten for the library, if it is read by it.
    fn plain(html: &str) -> Option<String> {
        rewritten(html).filter(|rewritten| !rewritten.is_documentation).map(|rewritten| rewritten.page)
    }

    /// The elements of a page as it was written, after checking that each is closed in order.
    fn elements(page: &str) -> usize {
        let (mut open, mut elements) = (Vec::new(), 0);
        for token in Tokens::new(page).skip(1) {
            match token {
                Token::Start { name, .. } => {
                    elements += 1;
                    let leaf = |name: &&str| LEAVES.contains(name) || *name == "a";
                    assert!(name == "a" || name == "br" || !open.iter().any(leaf), "{name} in {open:?}: {page}");
                    assert!(name != "a" || !open.contains(&"a"), "{page}");
                    if name != "br" {
                        open.push(name);
                    }
                    assert!(open.len() <= MAX_DEPTH + 1);
                }
                Token::End { name } => assert_eq!(open.pop(), Some(name), "{page}"),
                Token::Comment(_) | Token::Text(_) => {}
            }
        }
        assert!(open.is_empty(), "{open:?}: {page}");
        elements
    }

    /// The tree has exactly the elements that were written: nothing was repaired, and nothing was copied.
    fn check_tree(html: &str) {
        let Some(page) = plain(html) else { return };
        assert!(page.len() <= 2 * MAX_BYTES);
        let written = elements(&page);
        assert!(written <= MAX_ELEMENTS + 1);
        let library = Readability::new(page, None, None).unwrap();
        // With html, head and body.
        assert_eq!(library.doc.select("*").length(), written + 3, "{html}");
    }

    /// The number of bytes that the library's serializer reads in the texts of a page, as html5ever 0.40 does it: for
    /// each character that may be escaped, the rest of the text up to the next `<` or `>`.
    fn searched(page: &str) -> usize {
        let of_text = |run: &str| {
            let mut text = String::new();
            super::super::markup::unescape(run, &mut text);
            let (mut searched, mut left) = (0, text.as_bytes());
            while !left.is_empty() {
                let end = left.iter().position(|byte| b"<>".contains(byte)).unwrap_or(left.len());
                let next = left[..end].iter().position(|byte| b"&\xc2".contains(byte)).unwrap_or(end);
                searched += end;
                left = &left[left.len().min(next + 1)..];
            }
            searched
        };
        Tokens::new(page).map(|token| if let Token::Text(run) = token { of_text(run) } else { 0 }).sum()
    }

    #[test]
    fn texts_of_many_references_are_linear() {
        for bit in ["&#", "&", "&amp;", "& ", "&a", "&#171;", "\u{a0}", "«", "a · b", "<&", "&gt", "<b>&</b>", "&\0"]
        {
            for html in [bit.repeat(200_000 / bit.len()), format!("<pre>{}", bit.repeat(200_000 / bit.len()))] {
                let page = plain(&html).unwrap();
                assert!(
                    searched(&page) <= (MAX_SEARCHES + 2) * page.len(),
                    "{bit}: {} of {}",
                    searched(&page),
                    page.len()
                );
                assert!(page.len() <= 6 * html.len(), "{bit}");
            }
        }
    }

    #[test]
    fn texts_of_many_references_are_read_as_they_were() {
        for bit in ["&#", "& ", "a &amp; b, ", "&lt;b&gt; c", "&ampd", "a · b", "«\u{a0}»", "x &#6"] {
            for repeats in [1, 255, 256, 257, 1000] {
                let html = format!(
                    "<article><h1>a</h1><p>{}</p><p>{}</p>",
                    "A word, and more. ".repeat(50),
                    bit.repeat(repeats)
                );
                let page = plain(&html).unwrap();
                assert_eq!(text_of(page.clone()), text_of(page.replace("<!---->", "")), "{bit} {repeats}");
                assert!(repeats < 1000 || page.contains("<!---->"), "{bit}");
            }
        }
    }

    #[test]
    fn text_outside_the_only_main_part_is_not_taken() {
        let paragraph = format!("<p>{}</p>", "A sentence, with commas, and more of it. ".repeat(20));
        let footer = format!("<footer>{paragraph}</footer>");
        let prose = format!("<div>{paragraph}{paragraph}</div>");
        let links = |count| (0..count).map(|n| format!("<li><a href=x>link{n}</a></li>")).collect::<String>();
        let (items, many) = (links(10), links(200));
        for (html, is_footer) in [
            (format!("<main><ul>{many}</ul></main>{footer}"), false),
            (format!("<div role=main><ul>{many}</ul></div>{footer}"), false),
            // What nothing marks as no text is text.
            (format!("<main><ul>{items}</ul></main>{prose}"), true),
            (format!("<main>Please enable scripts.</main>{prose}"), true),
            (format!("<main>{prose}<ul>{items}</ul></main>"), true),
            (format!("<main><ul>{items}</ul></main><main>x</main>{footer}"), true),
            (format!("<main><nav>{items}</nav></main>{footer}"), true),
            (format!("<main></main>{footer}"), true),
            (format!("<ul>{items}</ul>{footer}"), true),
        ] {
            let found = main_text(&html).unwrap();
            assert_eq!((found.contains("sentence"), found.contains("link0")), (is_footer, !is_footer), "{html}");
        }
        for (found, landmark, expected) in [
            ("a\n b ", "b\na", false),
            ("1234567890\nabcdefghij", "a", true),
            ("123456789\na", "a", true),
            ("12345678\na", "a", false),
        ] {
            assert_eq!(is_outside(found, landmark), expected, "{found}");
        }
    }

    #[test]
    fn crafted_pages_cost_no_more_than_the_bounds() {
        for bit in [
            "<div>",
            "<p>",
            "</p>",
            "<a>",
            "<b>",
            "</b>",
            "<br>",
            "<li>",
            "<h1>",
            "<table>",
            "<td>",
            "<select>",
            "<svg>",
            "<form>",
            "<b><p>x",
            "<a><div>x",
            "<a><b><p></a></b>",
            "<b><i><u><p></b></i></u>x",
            "<table><a>x<tr><b>y",
            "<table><tr><td></div><table>",
            "<p><font size=1><font size=2></p>",
            "<nobr><nobr><p></nobr>",
            "<div></p></div></li>",
            "<template>",
            "<svg><p><math><mi>",
            "<frameset>",
            "</body></html>x",
        ] {
            for repeats in [1, 2, 50, 9_000, 40_000] {
                check_tree(&bit.repeat(repeats));
            }
        }
        assert_eq!(plain(&"<div>".repeat(MAX_DEPTH + 1)), None);
        assert_eq!(plain(&"<p>x".repeat(MAX_ELEMENTS + 1)), None);
        assert_eq!(plain(&"text ".repeat(MAX_BYTES / 5 + 1)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn any_markup_becomes_a_tree_of_just_its_elements(html in super::super::tests::markup(), more in misnested()) {
            check_tree(&html);
            check_tree(&more);
            main_text(&more);
        }
    }

    fn misnested() -> impl Strategy<Value = String> {
        const NAMES: &[&str] = &[
            "a", "b", "br", "caption", "center", "col", "dd", "div", "dt", "font", "form", "h1", "h2", "head", "html",
            "body", "li", "math", "nobr", "option", "p", "pre", "section", "select", "svg", "table", "tbody", "td",
            "textarea", "tr", "ul", "x-y",
        ];
        let bit = (prop::sample::select(NAMES), 0..3).prop_map(|(name, kind)| match kind {
            0 => format!("<{name} class='c\"<' ID=i>x"),
            1 => format!("</{name}>y&lt;"),
            _ => format!("<{name}>"),
        });
        prop::collection::vec(bit, 0..40).prop_map(|bits| bits.concat())
    }
}
