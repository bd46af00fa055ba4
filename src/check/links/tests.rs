//! Links between pages of small trees.

use super::super::pages::Page;
use super::super::request::Request;
use super::super::run::Check;
use super::Links;
use std::fs;
use std::ops::Range;
use std::sync::Arc;

/// The links between these files as paths: from, to.
fn links(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let (folder, pages) = pages(files);
    let links = Links::to(&pages, |_| true);
    let name = |page: &Page| page.path.strip_prefix(&format!("{folder}/")).unwrap().to_string();
    let pairs = pages.iter().flat_map(|from| pages.iter().map(move |to| (from, to)));
    pairs.filter(|(from, to)| links.leads(from, to)).map(|(from, to)| (name(from), name(to))).collect()
}

/// The folder of these files, and their pages.
fn pages(files: &[(&str, &str)]) -> (String, Vec<Arc<Page>>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let request = Request { folder: folder.path().into(), ..Request::new([folder.path()]) };
    let pages = Check::new(&request).unwrap().read().unwrap();
    (folder.path().display().to_string(), pages.tree().pages.clone())
}

/// The pages that a page at `docs/a/from.md` links to by that target.
fn linked(target: &str, pages: &[&str]) -> Vec<String> {
    let source = format!("See [this]({target}).\n");
    let files: Vec<(&str, &str)> =
        [("docs/a/from.md", source.as_str())].into_iter().chain(pages.iter().map(|page| (*page, "Text.\n"))).collect();
    links(&files).into_iter().map(|(_, to)| to).collect()
}

#[test]
fn targets_mean_pages() {
    for (target, pages, expected) in [
        // Relative.
        ("b.md", &["docs/a/b.md", "docs/b.md"][..], Some("docs/a/b.md")),
        ("../b.md#x", &["docs/a/b.md", "docs/b.md"], Some("docs/b.md")),
        ("./b/", &["docs/a/b/index.md", "docs/b.md"], Some("docs/a/b/index.md")),
        ("..", &["docs/README.md", "docs/a/b.md"], Some("docs/README.md")),
        ("b.html?x=y", &["docs/a/b.rst"], Some("docs/a/b.rst")),
        ("b.png", &["docs/a/b.md"], None),
        ("#b", &["docs/a/index.md", "docs/a/b.md"], None),
        // From the root of the site, or from an unknown one.
        ("/b/c", &["docs/b/c.md", "docs/a/c.md"], Some("docs/b/c.md")),
        ("/x/b/c/", &["docs/b/c.md", "docs/a/c.md"], Some("docs/b/c.md")),
        ("/x/c", &["docs/b/c.md"], None),
        ("../../c.md", &["docs/x/c.md"], Some("docs/x/c.md")),
        ("c.md", &["docs/x/c.md", "docs/y/c.md"], None),
        ("/c", &["docs/a/x/c.md", "other/x/c.md"], Some("docs/a/x/c.md")),
        ("/docs/x/<VERSION>/c/", &["docs/src/x/c/_index.md"], Some("docs/src/x/c/_index.md")),
        // Addresses.
        ("https://example.org/docs/b/c", &["docs/b/c.md"], Some("docs/b/c.md")),
        ("https://example.org/b/c", &["docs/b/c.md"], None),
        ("https://example.org/o/r/blob/main/docs/b/c.md", &["docs/b/c.md"], Some("docs/b/c.md")),
        ("https://example.org/other/c", &["docs/b/c.md"], None),
        ("https://example.org/c", &["docs/b/c.md"], None),
        ("mailto:b.md", &["docs/a/x.md"], None),
        ("ftp://example.org/b/c", &["docs/b/c.md"], None),
    ] {
        let expected: Vec<String> = expected.into_iter().map(String::from).collect();
        assert_eq!(linked(target, pages), expected, "{target} {pages:?}");
    }
}

#[test]
fn labels_belong_to_the_only_page_that_defines_them() {
    let rst = [
        ("a.rst", "See :ref:`the label <Label  One>` and :ref:`two`.\n"),
        ("b.rst", ".. _label one:\n\nText\n\n.. _two:\n"),
    ];
    let link = |from: &str, to: &str| (from.to_string(), to.to_string());
    assert_eq!(links(&rst), [link("a.rst", "b.rst")]);
    assert_eq!(links(&[("a.rst", "See :ref:`two`.\n"), rst[1], ("c.rst", "Text\n\n.. _two:\n")]), []);
    let adoc = [
        ("a.adoc", "See xref:proc-b-str[], <<c>> and <<b>>.\n"),
        ("b.adoc", "[id='proc-b-{context}']\n= B\n"),
        ("c.adoc", "[[c]]\n= C\n"),
    ];
    assert_eq!(links(&adoc), [link("a.adoc", "b.adoc"), link("a.adoc", "c.adoc")]);
    let book = [
        ("a.adoc", "See link:{Book}#b[B] and xref:ROOT:c.adoc#x[C].\n"),
        ("b.adoc", "[#b]\n= B\n"),
        ("c.adoc", "= C\n"),
    ];
    assert_eq!(links(&book), [link("a.adoc", "b.adoc"), link("a.adoc", "c.adoc")]);
}

#[test]
fn a_page_does_not_link_to_itself_and_includes_are_no_links() {
    assert_eq!(links(&[("a.md", "[a](a.md), --8<-- \"b.md\"\n"), ("b.md", "Text\n")]), []);
}

#[test]
fn texts_of_links_are_those_with_a_target_in_the_bytes() {
    let text = "See [one **two**](#a), [three](b.md#x) [![four](c.png#y) five ![six](d.png#z) seven](#e), [eight](f.md)\n\
        [](#g).\n\n- [Nine](b.md)\n\n[ten](#h \"Title\") [eleven](<b.md>)\n";
    let (_, pages) = pages(&[("a.md", text), ("b.md", "Text.\n"), ("f.md", "Text.\n")]);
    let links = Links::to(&pages, |_| true);
    let a = &pages[0];
    for (to, expected) in [
        (&pages[0], &["one two", "four five six seven", "ten"][..]),
        (&pages[1], &["three", "Nine", "eleven"]),
        (&pages[2], &["eight"]),
    ] {
        let all = links.texts_within(a, 0..text.len(), to);
        assert_eq!(all.into_iter().map(|text| &a.prose.text()[text]).collect::<Vec<_>>(), expected);
        let of_bytes: Vec<Vec<Range<usize>>> =
            (0..text.len()).map(|at| links.texts_within(a, at..at + 1, to)).collect();
        for (start, end) in (0..text.len()).flat_map(|start| (start..=text.len()).map(move |end| (start, end))) {
            let mut expected = of_bytes[start..end].concat();
            expected.sort_by_key(|text| text.start);
            expected.dedup();
            assert_eq!(links.texts_within(a, start..end, to), expected, "{start} {end}");
        }
    }
}
