//! What does not count, and why a page is hardly read.

use super::*;

#[test]
fn signatures_of_directives_go() {
    super::check(
        Markup::ReStructuredText,
        ".. function:: no(a, \\\n              no, \\\n              no)\n              no(b)\n   :module: no\n\n   a\n\n\
         .. py:method:: no()\n               no(a)\n\n   b\n\n.. unknown:: no \\\n   no\n   c\n\n.. only:: no\n\n   d\n",
        "7:4 paragraph: a\n12:4 paragraph: b\n16:4 paragraph: c\n20:4 paragraph: d\n",
    );
}

#[test]
fn signatures_in_cells_go() {
    super::check(
        Markup::Markdown,
        "| a | b |\n|---|---|\n| `no(self, x: int = 1) -> List[str]` | does (this) |\n| `int *no(const char *x);` | see f(x) and g(y) now |\n",
        "1:3 cell: a\n1:7 cell: b\n3:41 cell: does (this)\n4:31 cell: see f(x) and g(y) now\n",
    );
    let code = ProseOptions { code: true, ..ProseOptions::default() };
    assert_eq!(read(Markup::Markdown, "| a |\n|---|\n| f(x) |\n", &code).text(), "a\n\nf(x)");
}

#[test]
fn contents_and_menus_of_html_go() {
    super::check(
        Markup::Html,
        "<div class=\"navheader\"><table><tr><td>no</td></tr></table></div><h1>A</h1><div class='x toc y'><p>no</p><div>no</div>\
         <dl><dt>no</dl></div><div class=\"tock\">b</div><div role=navigation>no</div><dl><dt class=\"sig py\">no(x)</dt><dd>c</dd></dl>\
         <div class=\"toc\">d",
        "1:69 h1: A\n1:157 paragraph <0: b\n1:230 item <0: c\n1:258 paragraph <0: d\n",
    );
}

/// The end tags of cells, rows and paragraphs may be missing: these end where HTML says, and hide nothing after that.
#[test]
fn menus_without_end_tags_hide_nothing_else() {
    let counts = |source: &str| read(Markup::Html, source, &ProseOptions::default()).text().replace("\n\n", " ");
    for (source, expected) in [
        ("<p class=toc>no</p><p>yes", "yes"),
        ("<p class=toc>no <b>no</b> <a href=x>no</a><p>yes<p>yes", "yes yes"),
        ("<p class=toc>no<div>yes</div>", "yes"),
        ("<div><p class=toc>no</div>yes", "yes"),
        ("<p class=toc>no<ul><li>yes</ul>yes", "yes yes"),
        ("<p class=toc>no<table><tr><td>yes</table>yes", "yes yes"),
        ("<ul><li><p class=toc>no<li>yes</ul>", "yes"),
        ("<p class=toc>no<h2>yes</h2>yes", "yes yes"),
        ("<table><tr><td class=toc>no</td><td>yes</td></tr></table>yes", "yes yes"),
        ("<table><tr><td class=toc>no<td>yes<tr><td>yes</table>yes", "yes yes yes"),
        ("<table><tr><th class=navheader>no<tr><td>yes</table>yes", "yes yes"),
        ("<table><tr><td class=toc>no</table>yes", "yes"),
        ("<table><tr><td class=toc>no</tbody></table>yes", "yes"),
        ("<table><tr><td class=toc>no<table><tr><td>no<td>no</table>no<td>yes</table>yes", "yes yes"),
        ("<table><tr class=toc><td>no<td>no<tr><td>yes</table>yes", "yes yes"),
        ("<table><tr class=navfooter><td>no</td><td>no</td></tr></table>yes", "yes"),
        ("<table><tr class=toc><td>no<tbody><tr><td>yes</table>yes", "yes yes"),
        ("<table><tr class=toc><td>no</table><table><tr><td>yes</table>yes", "yes yes"),
        ("<dl><dt class=sig>no(x)<dd>yes<dt>yes</dl>yes", "yes yes yes"),
        // Outside of tables these tags have no effect.
        ("<td class=toc>yes<p>yes</td>yes", "yes yes yes"),
        ("<tr class=toc>yes<p>yes</tr>yes", "yes yes yes"),
        ("<table></table><td class=toc>yes<p>yes<table><tr><td>yes</table>", "yes yes yes"),
        // What has no end at all counts.
        ("<table><tr><td class=toc>yes<p>yes", "yes yes"),
        ("<table><tr><td class=toc><table><tr><td>yes</div></section><p>yes", "yes yes"),
        ("<p class=toc>yes <b>yes", "yes yes"),
        ("<div class=toc>yes<p>yes", "yes yes"),
        ("<p>yes<p class=tock>yes", "yes yes"),
    ] {
        assert_eq!(counts(source), expected, "{source}");
    }
}

/// A link without an end is not all that follows.
#[test]
fn long_text_after_an_unclosed_link_is_none() {
    let linked = |markup, source: &str| {
        let prose = read(markup, source, &ProseOptions::default());
        let [all, linked] = prose.letters(0..prose.text().len());
        100 * linked / all
    };
    let long = "words of prose ".repeat(20);
    for (markup, source, is_linked) in [
        (Markup::Html, format!("<p><a href=x>One <a href=y>two, {long}</p>"), false),
        (Markup::Html, format!("<p><a href=x>{long}</a> <a href=y>{long}</a></p>"), true),
        (Markup::Html, "<ul><li><a href=x>One<li><a href=y>Two<li><a href=z>Six</ul>".to_string(), true),
        (Markup::Html, format!("<li><a href=x>One <a href=y>two</li><p>{long}"), false),
        (Markup::Markdown, format!("<div><a href=x>One <a href=y>two</div>\n\n{long}\n"), false),
        (Markup::Markdown, format!("<a href=x>\n\n{long}\n"), false),
    ] {
        let share = linked(markup, &source);
        assert!(if is_linked { share > 90 } else { share < 20 }, "{share}: {source}");
    }
}

#[test]
fn a_page_that_is_hardly_read_has_a_reason() {
    let long = |word: &str| format!("{word} ").repeat(100);
    let why = |markup, source: &str| read(markup, source, &ProseOptions::default()).mostly_unread(source);
    for (page, expected) in [
        (format!("A.\n\n```\n{}\n```\n", long("code")), Some(Unread::Code)),
        (format!("A.\n\n- b\n  ```\n\n```\n{}\n", long("code")), Some(Unread::Unclosed { line: 6 })),
        (format!("---\na: {}\n---\n", long("code")), Some(Unread::FrontMatter)),
        (format!("# A\n\n{}", "- [a](bcd-efgh)\n".repeat(90)), Some(Unread::Links)),
        (format!("A.\n\n<!-- dedup:ignore-start -->\n\n{}\n", long("text")), Some(Unread::Ignored)),
        (format!("A.\n\n<!-- {} -->\n", long("text")), Some(Unread::Markup)),
        (format!("## License\n\n{}\n", "The MIT license. ".repeat(50)), Some(Unread::Licences)),
        (format!("{}\n\n```\n{}\n```\n", long("text"), long("code")), None),
        ("```\ncode\n```\n".into(), None),
    ] {
        let found = why(Markup::Markdown, &page);
        assert_eq!(found, expected, "{page}");
        assert!(found.is_none_or(|found| !found.to_string().is_empty()));
    }
    assert_eq!(why(Markup::Mdx, &format!("A.\n\n```\n{}", long("code"))), Some(Unread::Unclosed { line: 3 }));
}
