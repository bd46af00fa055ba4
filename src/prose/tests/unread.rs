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
