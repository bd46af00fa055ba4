//! Cases by hand for each markup, and what holds for any text in any of them.

mod asciidoc;
mod foreign;
mod markdown;
mod properties;
mod rst;
mod strings;
mod unread;

use super::*;
use proptest::prelude::*;
use std::ops::Range;

const MARKUPS: [Markup; 9] = [
    Markup::Markdown,
    Markup::Mdx,
    Markup::ReStructuredText,
    Markup::AsciiDoc,
    Markup::Html,
    Markup::Plain,
    Markup::Notebook,
    Markup::Gettext,
    Markup::OpenApi,
];

/// A line for each block: where it starts, its kind, the heading that it stands under, its text.
fn blocks(source: &str, prose: &Prose) -> String {
    let lines = Lines::new(source);
    let shown = prose.blocks().iter().map(|block| {
        let place = lines.position(prose.source_of(block.text.clone()).start);
        let kind = match block.kind {
            Kind::Heading(level) => format!("h{level}"),
            kind => format!("{kind:?}").to_lowercase(),
        };
        let section = block.section.map_or(String::new(), |section| format!(" <{section}"));
        format!("{place} {kind}{section}: {}\n", &prose.text()[block.text.clone()])
    });
    shown.collect()
}

#[track_caller]
pub(super) fn check_with(options: &ProseOptions, markup: Markup, source: &str, expected: &str) {
    let prose = read(markup, source, options);
    assert_holds(source, &prose);
    assert_eq!(blocks(source, &prose), expected, "{markup:?}\n{source}");
}

#[track_caller]
pub(super) fn check(markup: Markup, source: &str, expected: &str) {
    check_with(&ProseOptions::default(), markup, source, expected);
}

fn all() -> ProseOptions {
    ProseOptions { code: true, links: true, front_matter: true, licences: true, contents: true }
}

/// What holds of any prose: blocks and pieces tell the whole text, in order; places are in order and can be cut out.
#[track_caller]
pub(super) fn assert_holds(source: &str, prose: &Prose) {
    let mut end = 0;
    for (number, block) in prose.blocks().iter().enumerate() {
        assert_eq!(&prose.text()[end..block.text.start], if number == 0 { "" } else { "\n\n" });
        assert!(!prose.text()[block.text.clone()].trim().is_empty());
        assert!(
            block
                .section
                .is_none_or(|section| { section < number && matches!(prose.blocks()[section].kind, Kind::Heading(_)) })
        );
        end = block.text.end;
    }
    assert_eq!(end, prose.text().len());
    let mut last = 0..0;
    for (start, c) in prose.text().char_indices() {
        let place = prose.source_of(start..start + c.len_utf8());
        assert!(source.get(place.clone()).is_some(), "{place:?} of {}", source.len());
        assert!(place.start >= last.start && place.end >= last.end, "{last:?} before {place:?}");
        last = place;
    }
    for range in prose.ignored() {
        assert!(source.get(range.clone()).is_some() && range.start < range.end);
    }
}

mod mdx {
    use super::*;

    #[test]
    fn code_within_tags_does_not_count() {
        let page = "<Tabs>\n  <Tab>\n    Text.\n    ```js\n    no();\n\n    no();\n    ```\n  </Tab>\n</Tabs>\n\nend\n";
        super::check(Markup::Mdx, page, "3:5 paragraph: Text.\n12:1 paragraph: end\n");
    }

    #[test]
    fn what_is_no_markdown_goes() {
        check(
            Markup::Mdx,
            "import A from './a'\nimport B from \"b\"\n\n# Hi {props.name}\n\n<Tabs items={['x', `y>`]}>\n  <Tab value=\"a > b\">\n\
             \x20   Deep *text*.\n  </Tab>\n</Tabs>\n\nSee <B/>`{code} <x>` \\{no} a < b {/* c } */}end.\n\n```jsx\n<No {...x}>\n```\n\
             export const y = {\n  z: 1\n}\n\nimportant",
            "4:3 h1: Hi\n8:5 paragraph <0: Deep text.\n12:1 paragraph <0: See {code} <x> {no} a < b end.\n21:1 paragraph <0: important\n",
        );
    }

    #[test]
    fn what_never_ends_is_markdown() {
        check(
            Markup::Mdx,
            "a {b} c\n\nd {e *f*\n\n{g}",
            "1:1 paragraph: a c\n3:1 paragraph: d {e f\n5:1 paragraph: {g}\n",
        );
    }
}

mod html {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        super::check(Markup::Html, source, expected);
    }

    #[test]
    fn blocks_and_sections() {
        check(
            "<!DOCTYPE html><html><head><title>T &amp; t</title><style>no</style></head>\n<body><nav><p>no<ul><li>no</ul></nav>\n\
             <h1>One</h1><p>pa<b>ra</b>\ngraph<br>&lt;x&gt; <a href='no'>link</a><script>no</script>\n<ul><li>a<li><p>b</p><ol><li>c</ol></ul>\n\
             <table><tr><th>d<td><p>e</p></table>\n<pre>no</pre>after<h2>Two</h2><dl><dt>f<dd>g</dl><img alt='an &eacute;' src=no><textarea>h</textarea>",
            "1:35 h1: T & t\n3:5 h1: One\n3:16 paragraph <1: para graph <x> link\n5:9 item <1: a\n5:17 item <1: b\n5:30 item <1: c\n\
             6:16 cell <1: d\n6:24 cell <1: e\n7:14 paragraph <1: after\n7:23 h2 <1: Two\n7:39 item <9: f\n7:44 item <9: g\n\
             7:60 paragraph <9: an é\n7:90 paragraph <9: h\n",
        );
    }

    #[test]
    fn what_is_open_at_the_end_counts() {
        check("<nav><p>a<ul><li><a href=#x>b</a><li><a href=#y>c", "1:9 paragraph: a\n1:29 item: b\n1:49 item: c\n");
        check("<ul><li><a href=#x>b</a><li><a href=#y>c</a></ul>d", "1:50 paragraph: d\n");
        check("<a href=#x>a<ul><li>b<li>c</ul>", "1:12 paragraph: a\n1:21 item: b\n1:26 item: c\n");
        check("<p>a<!-- b", "1:4 paragraph: a\n");
    }
}

mod plain {
    use super::*;

    #[test]
    fn paragraphs_and_items() {
        check(
            Markup::Plain,
            "Title\n=====\n\nText\n  goes on.\r\n\r\n- item\n  more\n\n  again\n1) two\n\nend - no\nhttps://no.no\n",
            "1:1 paragraph: Title =====\n4:1 paragraph: Text goes on.\n7:3 item: item more\n10:3 item: again\n11:4 item: two\n13:1 paragraph: end - no\n",
        );
    }
}

#[test]
fn what_stands_between_marks_does_not_count() {
    for (markup, source) in [
        (Markup::Markdown, "a\n\n<!-- dedup:ignore-start: why -->\nb\n\n# c\n<!--dedup:ignore-end-->\n\nd\n"),
        (Markup::Mdx, "a\n\n{/* dedup:ignore-start: why */}\n\nb\n\n# c\n\n{/*dedup:ignore-end*/}\n\nd\n"),
        (Markup::ReStructuredText, "a\n\n.. dedup:ignore-start: why\n\nb\n\nc\n=\n\n.. dedup:ignore-end\n\nd\n"),
        (Markup::AsciiDoc, "a\n\n// dedup:ignore-start: why\nb\n\n== c\n\n//dedup:ignore-end\n\nd\n"),
        (Markup::Html, "<p>a</p><!-- dedup:ignore-start why --><p>b<h1>c</h1><!-- dedup:ignore-end --><p>d"),
        (Markup::Plain, "a\n\ndedup:ignore-start: why\n\nb\nc\ndedup:ignore-end\n\nd\n"),
    ] {
        let prose = read(markup, source, &ProseOptions::default());
        assert_holds(source, &prose);
        assert_eq!((prose.text(), prose.notices()), ("a\n\nd", &[][..]), "{markup:?}");
        let [ignored] = prose.ignored() else { panic!("{markup:?}: {:?}", prose.ignored()) };
        let ignored = &source[ignored.clone()];
        assert!(
            ignored.contains("ignore-start") && ignored.contains("ignore-end") && ignored.contains('b'),
            "{ignored}"
        );
        // A start that never ends, and an end that never starts.
        let (first, last) = (source.find("ignore-end").unwrap(), source.find("ignore-start").unwrap());
        let cut = source.replacen("ignore-end", "ignore-NOT", 1);
        let prose = read(markup, &cut, &ProseOptions::default());
        let line_of = |place| Lines::new(source).position(place).line;
        let unknown = |place| Notice::Unknown { line: line_of(place), mark: "dedup:ignore-NOT".into() };
        let line = line_of(last);
        assert_eq!(
            (prose.text(), prose.notices()),
            ("a", &[unknown(first), Notice::NeverEnds { line }][..]),
            "{markup:?}"
        );
        assert_eq!(prose.ignored()[0].end, cut.len());
        let cut = source.replacen("ignore-start", "ignore-NOT", 1);
        let prose = read(markup, &cut, &ProseOptions::default());
        let line = line_of(first);
        assert_eq!(prose.notices(), [unknown(last), Notice::NeverStarted { line }], "{markup:?}");
        assert_eq!(prose.ignored(), [] as [Range<usize>; 0]);
    }
}

#[test]
fn what_starts_like_a_mark_is_told() {
    for (comment, mark) in [
        ("dedup:ignore-begin", Some("dedup:ignore-begin")),
        ("dedup-ignore-start", Some("dedup-ignore-start")),
        ("Dedup_Ignore_End: x", Some("Dedup_Ignore_End")),
        ("dedup-ignored", None),
        ("dedup ignore-start", None),
        ("Dedup:ignore-start", Some("Dedup:ignore-start")),
        ("dedup: ignore-start why", Some("dedup: ignore-start")),
        ("dedup:ignore", Some("dedup:ignore")),
        ("dedup:off: why", Some("dedup:off")),
        ("dedup:ignore-ẞ-0123456789-0123456789-0123456789", Some("dedup:ignore-ẞ-0123456789-0123456789-012")),
        ("dedup: see the manual", None),
        ("dedup: ignores", None),
        ("dedup:", None),
        ("deduplicated", None),
        ("ẞẞẞ", None),
    ] {
        let source = format!("a\n\nb<!-- {comment} -->c");
        let prose = read(Markup::Markdown, &source, &ProseOptions::default());
        let expected: Vec<_> = mark.map(|mark| Notice::Unknown { line: 3, mark: mark.into() }).into_iter().collect();
        assert_eq!((prose.text(), prose.notices()), ("a\n\nbc", &expected[..]), "{comment}");
    }
    // In plain text all of it counts, and only what is likely to be a mark is reported.
    let source = "a\ndedup:latest\ndedup:ignore-begin b\n";
    let prose = read(Markup::Plain, source, &ProseOptions::default());
    let notice = Notice::Unknown { line: 3, mark: "dedup:ignore-begin".into() };
    assert_eq!((prose.text(), prose.notices()), ("a dedup:latest dedup:ignore-begin b", &[notice][..]));
}

#[test]
fn marks_within_a_sentence_and_in_code() {
    check(
        Markup::Markdown,
        "a <!-- dedup:ignore-start -->b<!-- dedup:ignore-start --> *c*<!-- dedup:ignore-end -->d `<!-- dedup:ignore-start -->` e\n\n    <!-- dedup:ignore-start -->\n\nf",
        "1:1 paragraph: a d <!-- dedup:ignore-start --> e\n5:1 paragraph: f\n",
    );
    check(
        Markup::Mdx,
        "a {/* dedup:ignore-start */} b *c*{/* dedup:ignore-end */}d `{/* dedup:ignore-start */}` e {/* dedup:ignore-start */}",
        "1:1 paragraph: a d {/* dedup:ignore-start */} e\n",
    );
    let notice = Notice::NeverStarted { line: 7 };
    assert_eq!(notice.to_string(), "line 7: dedup:ignore-end without dedup:ignore-start");
}

#[test]
fn markup_by_the_name_of_a_file() {
    for (path, markup) in [
        ("a/README.md", Some(Markup::Markdown)),
        ("a.MDX", Some(Markup::Mdx)),
        ("a.b.rst", Some(Markup::ReStructuredText)),
        ("a.adoc", Some(Markup::AsciiDoc)),
        ("a.htm", Some(Markup::Html)),
        (".txt", None),
        ("a.txt", Some(Markup::Plain)),
        ("md", None),
        ("a.rs", None),
        ("a.py", None),
    ] {
        assert_eq!(Markup::of_path(path), markup, "{path}");
    }
}

#[test]
fn places_in_the_source() {
    let source = "a **b** &amp;c\n\n\\*d  e";
    let prose = read(Markup::Markdown, source, &ProseOptions::default());
    assert_eq!(prose.text(), "a b &c\n\n*d e");
    let of = |text: Range<usize>| &source[prose.source_of(text)];
    for (text, place) in [
        (0..1, "a"),
        (0..3, "a **b"),
        (2..3, "b"),
        (1..2, " **"),
        (4..5, "&amp;"),
        (4..6, "&amp;c"),
        (6..8, "\n\n\\"),
        (6..9, "*"),
        (8..10, "*d"),
        (10..11, "  "),
        (2..2, ""),
        (0..99, source),
        (99..200, ""),
    ] {
        assert_eq!(of(text.clone()), place, "{text:?}");
    }
    let table = "| a `b\\|c d` |\n|---|\n";
    let prose = read(Markup::Markdown, table, &ProseOptions::default());
    let d = prose.text().find('d').unwrap();
    assert_eq!(&table[prose.source_of(d..d + 1)], "`b\\|c d`");
    let accents = read(Markup::Plain, "éa中", &ProseOptions::default());
    assert_eq!(accents.source_of(1..4), 0..6);
}

#[test]
fn empty_pages() {
    for markup in MARKUPS {
        for source in ["", "\n", "\u{feff}", " \r\n\t", "---\n", "\u{feff}---\na\n---"] {
            let prose = read(markup, source, &ProseOptions::default());
            assert_holds(source, &prose);
            assert!(prose.text().is_empty() || source.contains("---"), "{markup:?} {source:?}");
        }
    }
}
