//! Cases by hand for each markup, and what holds for any text in any of them.

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

mod markdown {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        super::check(Markup::Markdown, source, expected);
    }

    #[test]
    fn tags_of_templates_go() {
        check(
            "one\n\n{% include a.md x=\"no\" %}\n\n{* ../no/b.py hl[1] *}\n{!no!}\n  {{< note é >}}\ntwo {{ three }}\n{{ a }} b {{ c }}\n{{ never\n",
            "1:1 paragraph: one\n8:1 paragraph: two {{ three }} {{ a }} b {{ c }} {{ never\n",
        );
    }

    #[test]
    fn blocks_and_sections() {
        check(
            "Before.\n\n# One #\n\npara\n  graph\n\nTwo\n---\n\n- item\n- other\n\n  more\n\n> quoted\n> text\n\n### Three {#three}\nx\n# Four\ny",
            "1:1 paragraph: Before.\n3:3 h1: One\n5:1 paragraph <1: para graph\n8:1 h2 <1: Two\n11:3 item <3: item\n\
             12:3 item <3: other\n14:3 item <3: more\n16:3 paragraph <3: quoted text\n19:5 h3 <3: Three\n\
             20:1 paragraph <8: x\n21:3 h1: Four\n22:1 paragraph <10: y\n",
        );
    }

    #[test]
    fn marks_within_a_sentence_go() {
        check(
            "a *b* **c** ~~d~~ `e f` [g](http://x.y \"title\") ![h](i.png) [j][k] \\* &amp;&#233; <b>l</b><br>m un*believ*able[^n]\n\n\
             [k]: http://x.y 'no'\n[^n]: Note.\n",
            "1:1 paragraph: a b c d e f g h j * &é l m unbelievable\n4:7 paragraph: Note.\n",
        );
    }

    #[test]
    fn code_and_rules_do_not_count() {
        check("a\n\n```rust\nlet x;\n```\n\n    indented\n\n***\n\n~~~\nnever closed", "1:1 paragraph: a\n");
        let code = ProseOptions { code: true, ..ProseOptions::default() };
        check_with(
            &code,
            Markup::Markdown,
            "a\n\n```rust\nlet x\n  = 1;\n```",
            "1:1 paragraph: a\n4:1 code: let x = 1;\n",
        );
    }

    #[test]
    fn tables_are_cells_and_tasks_items() {
        check(
            "| a | b c |\n|---|:-:|\n| `d\\|e` | *f* |\n\n- [x] done\n- [ ] open",
            "1:3 cell: a\n1:7 cell: b c\n3:3 cell: d|e\n3:13 cell: f\n5:7 item: done\n6:7 item: open\n",
        );
    }

    #[test]
    fn html_counts_by_its_text() {
        check(
            "<div align=\"center\">\n  <h1>Ti&amp;tle</h1>\n  <img src=\"x.png\" alt=\"A logo\">\n</div>\n\n<!-- no -->\n\
             <details>\n<summary>More</summary>\n\n*yes*\n\n</details>\n\n<pre>\nno\n\nno\n</pre>\n\n> [!NOTE]\n> Text.\n",
            "2:7 h1: Ti&tle\n3:25 paragraph <0: A logo\n8:10 paragraph <0: More\n10:2 paragraph <0: yes\n\
             21:3 paragraph <0: Text.\n",
        );
    }

    #[test]
    fn containers() {
        check(
            ":::note\na\n:::\n\n:::tip[b c]\n\nd ::: e\n\n:::\n\n::: {.warning} f\ng\n::::\n",
            "2:1 paragraph: a\n5:8 paragraph: b c\n7:1 paragraph: d ::: e\n11:16 paragraph: f\n12:1 paragraph: g\n",
        );
    }

    #[test]
    fn targets_count_if_asked_for() {
        let links = ProseOptions { links: true, ..ProseOptions::default() };
        check_with(
            &links,
            Markup::Markdown,
            "[a](b.md) and <https://c.d> ![e](f.png).",
            "1:2 paragraph: a b.md and https://c.d e f.png .\n",
        );
        check(
            "a https://b.c/d_e(f) **<https://g>** (ftp://h), i://j中文 k:// https://x*y* l",
            "1:1 paragraph: a ( 中文 l\n",
        );
    }

    #[test]
    fn front_matter() {
        check("---\ntitle: no\n---\nyes", "4:1 paragraph: yes\n");
        check("\u{feff}+++\r\ntitle = 'no'\r\n+++\r\n\r\nyes\r\n", "5:1 paragraph: yes\n");
        check("---\n\nyes\n\n---\nyes", "3:1 paragraph: yes\n6:1 paragraph: yes\n");
        check("---\na: yes", "2:1 paragraph: a: yes\n");
        check("\n ---\ntitle: no\n---\nyes", "5:1 paragraph: yes\n");
        check("\n---\nNote: yes\n\nit\n\n---\n", "3:1 paragraph: Note: yes\n5:1 paragraph: it\n");
        check("\n---\nyes, a rule: it\n\n---\nyes", "3:1 paragraph: yes, a rule: it\n6:1 paragraph: yes\n");
        let front_matter = ProseOptions { front_matter: true, ..ProseOptions::default() };
        check_with(
            &front_matter,
            Markup::Markdown,
            "---\ntitle: yes\n---\n# a",
            "1:1 code: --- title: yes ---\n4:3 h1: a\n",
        );
    }

    #[test]
    fn tables_of_contents() {
        let page =
            "# T\n\n- [A](#a)\n  1. [B *c*](#b)\n- [D](#d)\n\n## A\n\n- [A](#a) and more\n- [D](#d)\n\n* [E](#a)\n";
        check(page, "1:3 h1: T\n7:4 h2 <0: A\n9:4 item <1: A and more\n10:4 item <1: D\n12:4 item <1: E\n");
        let contents = ProseOptions { contents: true, ..ProseOptions::default() };
        assert_eq!(read(Markup::Markdown, page, &contents).blocks().len(), 8);
    }

    #[test]
    fn sections_on_the_licence() {
        let page = "# T\n\nText.\n\n## License & Copyright\n\nEither of two.\n\n- One.\n\n### Contribution\n\nAll.\n\n## Licenses of drivers\n\nTo drive.";
        let shown = "1:3 h1: T\n3:1 paragraph <0: Text.\n5:4 h2 <0: License & Copyright\n11:5 h3 <2: Contribution\n13:1 paragraph <3: All.\n\
                     15:4 h2 <0: Licenses of drivers\n17:1 paragraph <5: To drive.\n";
        check(page, shown);
        let licences = ProseOptions { licences: true, ..ProseOptions::default() };
        assert_eq!(read(Markup::Markdown, page, &licences).blocks().len(), 9);
    }

    #[test]
    fn of_long_sections_on_the_licence_only_notices_go() {
        let long = |words: usize| "word ".repeat(words);
        let text = |page: &str| read(Markup::Markdown, page, &ProseOptions::default()).text().replace("\n\n", "|");
        let shown = |words: usize| long(words).trim_end().to_string();
        assert_eq!(text(&format!("## License\n\n{}\n\n{}\n\n# A\n\nB.", long(40), long(20))), "License|A|B.");
        let page = format!(
            "# T\n\nOf BSD.\n\n## License\n\nThe Apache license.\n\n{}\n\n- MIT\n- *BSD*-3\n\n# A\n\nB.",
            long(56)
        );
        assert_eq!(text(&page), format!("T|Of BSD.|License|{}|MIT|A|B.", shown(56)));
        let other = format!("FreeBSD {}", shown(60));
        assert_eq!(text(&format!("## Licenses\n\n{other}")), format!("Licenses|{other}"));
        let han = "中".repeat(130);
        assert_eq!(
            text(&format!("## License\n\n{han}\n\n## License\n\n{}", &han[..300])),
            format!("License|{han}|License")
        );
    }

    #[test]
    fn titles_and_other_headings_are_not_of_sections_on_the_licence() {
        for heading in ["# License", "## Licensing", "## Copying", "**License**"] {
            let page = format!("{heading}\n\nLicensed under\n\nIn a word.");
            assert_eq!(read(Markup::Markdown, &page, &ProseOptions::default()).blocks().len(), 3, "{heading}");
        }
        assert_eq!(read(Markup::Plain, "License\n\nWhichever.", &ProseOptions::default()).blocks().len(), 2);
    }

    #[test]
    fn licences_at_the_start() {
        let page = "# T\n\nSPDX-License-Identifier: MIT\n\nLicensed under\nthe *Apache* License.\n\nText.\n\nLicensed under the MIT.";
        check(page, "1:3 h1: T\n8:1 paragraph <0: Text.\n10:1 paragraph <0: Licensed under the MIT.\n");
        let licences = ProseOptions { licences: true, ..ProseOptions::default() };
        assert_eq!(read(Markup::Markdown, page, &licences).blocks().len(), 5);
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

mod rst {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        super::check(Markup::ReStructuredText, source, expected);
    }

    #[test]
    fn titles_by_their_adornment() {
        check(
            "=====\n Top\n=====\n\nA\n=\n\ntext\nmore\n\n1. B\n----\n\nx\n\n------\n\nC\n====\n\nlong\n--",
            "2:2 h1: Top\n5:1 h2 <0: A\n8:1 paragraph <1: text more\n11:1 h3 <1: 1. B\n14:1 paragraph <3: x\n18:1 h2 <0: C\n\
             21:1 paragraph <5: long --\n",
        );
    }

    #[test]
    fn marks_within_a_sentence_go() {
        check(
            "*a* **b** ``c `d` *e`` :ref:`f <g>` `h <http://i>`_ `j`__ k_ l__ m_n o\\ *p* q*r 5 * 3 [1]_ |s| _`t` \\*u :py:func:`v` :doc:`w<x>` :py:class:`y<z>`\n",
            "1:2 paragraph: a b c `d` *e f h j k l m_n op q*r 5 * 3 |s| t *u v w y<z>\n",
        );
    }

    #[test]
    fn lists_and_their_paragraphs() {
        check(
            "- one\n  two\n\n  three\n- - four\n\n#. five\n10) six\n\nTerm\n  Meaning.\n\n| line\n| block\n\n- - \n\nend",
            "1:3 item: one two\n4:3 item: three\n5:5 item: four\n7:4 item: five\n8:5 item: six\n10:1 paragraph: Term\n\
             11:3 paragraph: Meaning.\n13:3 paragraph: line\n14:3 paragraph: block\n18:1 paragraph: end\n",
        );
    }

    #[test]
    fn literal_blocks_are_code() {
        let page = "Like this::\n\n    no\n\n      no\n\nyes ::\n  no\n\n::\n\n no\n\n>>> no\nno\n\n.. code-block:: c\n   :linenos:\n\n   int no;\n\nyes";
        check(page, "1:1 paragraph: Like this:\n7:1 paragraph: yes :\n22:1 paragraph: yes\n");
        let code = ProseOptions { code: true, ..ProseOptions::default() };
        check_with(
            &code,
            Markup::ReStructuredText,
            page,
            "1:1 paragraph: Like this:\n3:5 code: no no\n7:1 paragraph: yes :\n8:3 code: no\n12:2 code: no\n14:1 code: >>> no no\n\
             20:4 code: int no;\n22:1 paragraph: yes\n",
        );
    }

    #[test]
    fn directives() {
        check(
            ".. note:: Mind\n   this.\n\n   And this.\n\n.. admonition:: Title\n   :class: no\n\n   Body\n\n.. toctree::\n   :maxdepth: 1\n\n   no\n\n\
             .. py:function:: no(x)\n\n   Does.\n\n   :param x: Its\n      text\n\n.. image:: no.png\n   :alt: A picture\n   :width: 1\n\n\
             .. figure:: no.png\n\n   Caption.\n\n.. versionadded:: 1.2\n   The thing.\n.. |no| replace:: no\n.. _no: http://no\n.. [1] Foot\n   note.\n\
             .. no\n   no\n..\n   no\n\n..\n\n   quoted\n\n:no: no\n  no\n:ref:`yes`, sir\n",
            "1:11 paragraph: Mind this.\n4:4 paragraph: And this.\n6:17 paragraph: Title\n9:4 paragraph: Body\n18:4 paragraph: Does.\n20:14 paragraph: Its text\n\
             24:10 paragraph: A picture\n29:4 paragraph: Caption.\n31:19 paragraph: 1.2 The thing.\n35:8 paragraph: Foot note.\n\
             44:4 paragraph: quoted\n48:7 paragraph: yes, sir\n",
        );
    }

    #[test]
    fn tables() {
        check(
            "+-----+------+\n| a b | *c*  |\n+=====+======+\n| d   | e    |\n|     | f    |\n+-----+------+\n\n\
             ====  ===\nH     I\n====  ===\nj k   l m\néé n  o\nacross all\n====  ===\n\nend",
            "2:3 cell: a b\n2:10 cell: c\n4:3 cell: d\n4:9 cell: e\n5:9 cell: f\n9:1 cell: H\n9:7 cell: I\n11:1 cell: j k\n11:7 cell: l m\n\
             12:1 cell: éé n\n12:7 cell: o\n13:1 cell: across all\n16:1 paragraph: end\n",
        );
    }
}

mod asciidoc {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        super::check(Markup::AsciiDoc, source, expected);
    }

    #[test]
    fn blocks_and_sections() {
        check(
            "= Top\nAn Author <a@b.c>\n:toc: left\n\n:long: no \\\n  no\nIntro\n= going on.\n\n[[id]]\n== Two\n\n.A title\n====\nExample.\n====\n\n\
             NOTE: Mind.\n\n'''\n\n[quote, Someone]\n____\nSaid.\n____\n\n### Three\n\ninclude::no[]\n// no\nimage::no.png[A picture,width=3]\n",
            "1:3 h1: Top\n7:1 paragraph <0: Intro = going on.\n11:4 h2 <0: Two\n13:2 paragraph <2: A title\n15:1 paragraph <2: Example.\n\
             18:7 paragraph <2: Mind.\n24:1 paragraph <2: Said.\n27:5 h3 <2: Three\n31:15 paragraph <7: A picture\n",
        );
    }

    #[test]
    fn marks_within_a_sentence_go() {
        check(
            "*a* _b_ `c` #d# **e**f g_h 5 * 3 link:i[_j_,window=_blank] [.k]#o# https://k[l^] https://m xref:n#o[p] <<q,r s>> <<t>> image:u[v] \
             \\*w {x} {x}/y[{x} z] &amp;&#233; [[y]]footnote:[z.] b:c kbd:[F1] +\nend",
            "1:2 paragraph: a b c d ef g_h 5 * 3 j o l p r s v *w z &é z. b:c F1 end\n",
        );
    }

    #[test]
    fn lists() {
        check(
            "* one\ntwo\n** [x] three\n+\nattached\n\n. four\n  five\n1. six\n\nTérm:: Meaning\nOther::\n  Its meaning.\n\n<1> Callout\n\nAfter\n* no item\n",
            "1:3 item: one two\n3:8 item: three\n5:1 item: attached\n7:3 item: four five\n9:4 item: six\n11:1 item: Térm\n11:8 item: Meaning\n\
             12:1 item: Other\n13:3 item: Its meaning.\n15:5 item: Callout\n17:1 paragraph: After * no item\n",
        );
    }

    #[test]
    fn labels_of_tabs_do_not_count() {
        check(
            "a\n\n[tabs]\n======\nNo::\n+\n====\nb\n====\n\nNo no::\n+\n--\n. c\n--\n\nTerm:: d\n======\n\nTerm::\ne\n\n[tabs]\nTerm::\nf\n",
            "1:1 paragraph: a\n8:1 item: b\n14:3 item: c\n17:1 item: Term\n17:8 item: d\n20:1 item: Term\n21:1 item: e\n\
             24:1 item: Term\n25:1 item: f\n",
        );
        // A title and other attributes between; a list in a tab.
        check(
            "[tabs]\n.A\n[%linear]\n====\nNo::\n+\n----\nno\n----\n\nNo::\n+\n--\nTerm::\nb\n--\n====\n",
            "2:2 paragraph: A\n14:1 item: Term\n15:1 item: b\n",
        );
    }

    #[test]
    fn code_does_not_count() {
        let page = "a\n\n[source,rust]\n----\nno *no*\n\n----\n\n....\nno\n....\n\n indented\nno\n\n[listing]\nno\n\n```js\nno\n```\n////\ncomment\n////\nb\n\n++++\nraw\n++++";
        check(page, "1:1 paragraph: a\n25:1 paragraph: b\n");
        let code = ProseOptions { code: true, ..ProseOptions::default() };
        check_with(
            &code,
            Markup::AsciiDoc,
            page,
            "1:1 paragraph: a\n5:1 code: no *no*\n10:1 code: no\n13:2 code: indented no\n17:1 code: no\n20:1 code: no\n25:1 paragraph: b\n",
        );
    }

    #[test]
    fn headings_with_a_line_below_them() {
        check(
            "git-add(1)\n==========\n:author: no\n\nNAME\n----\ngit-add - Add\n\n* item\n\nÉtés\n~~~\n[TIP]\n====\nRun:\n----\n\nlonger\n----\nno\n----\n",
            "1:1 h1: git-add(1)\n5:1 h2 <0: NAME\n7:1 paragraph <1: git-add - Add\n9:3 item <1: item\n11:1 h3 <1: Étés\n15:1 h2 <0: Run:\n\
             18:1 paragraph <5: longer\n",
        );
    }

    #[test]
    fn a_block_that_never_ends_is_none() {
        for delimiter in ["----", "....", "////", "++++", "```js"] {
            check(&format!("a\n\n{delimiter}\nb\n"), "1:1 paragraph: a\n4:1 paragraph: b\n");
        }
        check("----\nno\n----\nb\n----\nc", "4:1 paragraph: b\n6:1 paragraph: c\n");
    }

    #[test]
    fn tables() {
        check(
            "[cols=\"1,2\"]\n|===\n|a b |*c*\n\n2+|d a|e\n.2+^.>s|f\n|g\\|h\ngoes on\n|===\nend",
            "3:2 cell: a b\n3:8 cell: c\n5:4 cell: d\n5:8 cell: e\n6:9 cell: f\n7:2 cell: g|h\n8:1 cell: goes on\n10:1 paragraph: end\n",
        );
    }

    #[test]
    fn tables_of_contents() {
        check(
            "* <<a,A>>\n* xref:b[B]\n\nText\n\n* xref:c.adoc[C]\n* <<d>>, see\n",
            "4:1 paragraph: Text\n6:15 item: C\n7:8 item: , see\n",
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

/// Words that nothing else in the documents can make: no one is part of another, and no two end and start alike.
const WORDS: &[&str] = &["quokka", "jumbuck", "wyvern", "fjörd", "zephyr", "中文字"];

const BITS: &[&str] = &[
    " ",
    " ",
    " ",
    "\n",
    "\n",
    "\n\n",
    "\n\n",
    "\r\n",
    "  ",
    "    ",
    "\t",
    "# ",
    "## ",
    "- ",
    "* ",
    "1. ",
    "> ",
    "```\n",
    "~~~\n",
    "`",
    "``",
    "*",
    "**",
    "_",
    "__",
    "~~",
    "[",
    "](",
    "](#a)",
    ")",
    "](b.md)",
    "][c]",
    "[^1]",
    "[^1]: ",
    "[c]: http://d\n",
    "![",
    "<",
    ">",
    "<b>",
    "</b>",
    "<p>",
    "<br/>",
    "<div>\n",
    "</div>\n",
    "<pre>",
    "</pre>",
    "<ul><li>",
    "</ul>",
    "<nav>",
    "</nav>",
    "<a href=\"#x\">",
    "</a>",
    "<img alt=\"",
    "\">",
    "<table><tr><td>",
    "<!--",
    "-->",
    "<!-- dedup:ignore-start -->",
    "<!-- dedup:ignore-end -->",
    "&amp;",
    "&nGt;",
    "\\",
    "|",
    " | ",
    "|---|---|\n",
    "| a | b |\n",
    "---\n",
    "+++\n",
    "=====\n",
    "====\n",
    "-----\n",
    "\n----\n",
    "....\n",
    "|===\n",
    "////\n",
    "+----+----+\n",
    "===  ===\n",
    "::",
    "::\n\n",
    ".. ",
    ".. note:: ",
    ".. image:: x\n   :alt: ",
    ".. code-block:: c\n\n   ",
    ".. dedup:ignore-start\n",
    ".. dedup:ignore-end\n",
    ".. |x| ",
    ".. [1] ",
    ".. _t:",
    ":a: ",
    ":ref:`",
    " <t>`_",
    "`_",
    "= ",
    "== ",
    ":toc:\n",
    "[source]\n",
    "// ",
    "// dedup:ignore-start\n",
    "// dedup:ignore-end\n",
    "link:x[",
    "]",
    "<<",
    ">>",
    "xref:a[",
    "image::x[",
    "{",
    "}",
    "{a}",
    "{/* dedup:ignore-start */}",
    "{/* dedup:ignore-end */}",
    "<Tab x={",
    "}>",
    "import x\n",
    "export ",
    "NOTE: ",
    "+\n",
    "https://",
    "://",
    "é",
    "\u{a0}",
    "\0",
    "\u{feff}",
    "dedup:ignore-start\n",
    "dedup:ignore-end\n",
    ".",
    "Licensed under the ",
    "\n\n## License\n\n",
    "2+",
    "''",
    "!!! note\n    ",
    "??? a \"b\"\n\n    ",
    "=== \"a\"\n    ",
    "```{note} ",
    "```{code-cell}\n",
    ":::",
    ":::tip ",
    ":::{figure} a\n:alt: ",
    "/// note | ",
    "--8<-- \"a\"\n",
    "--8<--\n",
    "{{< note title=\"",
    "\" >}}",
    "{{< highlight >}}\n",
    "{{< /highlight >}}\n",
    "{ .a }",
    "{ref}`",
    ":material-a:",
    "<Card title=\"",
];

fn documents() -> impl Strategy<Value = String> {
    let bit = prop_oneof![2 => prop::sample::select(BITS), 1 => prop::sample::select(WORDS)];
    prop::collection::vec(bit, 0..40).prop_map(|bits| bits.concat())
}

fn options() -> impl Strategy<Value = ProseOptions> {
    prop_oneof![Just(ProseOptions::default()), Just(all()), Just(ProseOptions { links: false, ..all() })]
}

/// What is left out of Markdown may be within an attribute, where no reader of Markdown looks for it.
#[test]
fn words_around_what_is_left_out_of_an_attribute() {
    let source = "a <img alt=\"quokka:material-a:<table> b\" >";
    let prose = read(Markup::Markdown, source, &ProseOptions::default());
    assert_eq!(prose.text(), "a quokka<table> b");
    let places = [2..8, 8..15, 16..17].map(|place| &source[prose.source_of(place)]);
    assert_eq!(places, ["quokka", "<table>", "b"]);
}

#[test]
fn marks_of_two_kinds_take_effect_in_their_order() {
    let source = "**{/* dedup:ignore-end */}<!-- dedup:ignore-start -->";
    let prose = read(Markup::Mdx, source, &ProseOptions::default());
    let [ignored] = prose.ignored() else { panic!("{:?}", prose.ignored()) };
    assert_eq!(*ignored, source.find("<!--").unwrap()..source.len());
    assert_eq!(prose.notices(), [Notice::NeverStarted { line: 1 }, Notice::NeverEnds { line: 1 }]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn words_stand_where_they_are_said_to(source in documents(), options in options()) {
        for markup in MARKUPS {
            let prose = read(markup, &source, &options);
            assert_holds(&source, &prose);
            for (at, word) in WORDS.iter().flat_map(|word| prose.text().match_indices(word)) {
                let place = &source[prose.source_of(at..at + word.len())];
                // Targets stand for what they follow.
                prop_assert!(place == word || options.links, "{markup:?}: {word} at {place:?} in {source:?}");
            }
        }
    }

    #[test]
    fn words_in_strings_stand_where_they_are_said_to(source in documents(), options in options()) {
        let json = serde_json::to_string(&source).unwrap();
        for (markup, page) in [
            (Markup::Notebook, format!("{{\"cells\": [{{\"cell_type\": \"markdown\", \"source\": {json}}}]}}")),
            (Markup::Gettext, format!("msgid \"a\"\nmsgstr {json}\n")),
            (Markup::OpenApi, format!("{{\"openapi\": \"3\", \"description\": {json}}}")),
            (Markup::OpenApi, format!("openapi: 3\ninfo:\n  description: {json}\n")),
        ] {
            let prose = read(markup, &page, &options);
            assert_holds(&page, &prose);
            for (at, word) in WORDS.iter().flat_map(|word| prose.text().match_indices(word)) {
                let place = &page[prose.source_of(at..at + word.len())];
                prop_assert!(place == word || options.links, "{markup:?}: {word} at {place:?} in {page:?}");
            }
        }
    }

    #[test]
    fn any_text_is_a_page(source in "\\PC{0,60}") {
        for markup in MARKUPS {
            assert_holds(&source, &read(markup, &source, &ProseOptions::default()));
        }
    }

    /// The words of a text without any markup are the same in all of them.
    #[test]
    fn plain_words_are_words_in_any_markup(words in prop::collection::vec("[a-z]{2,6}[,.!?]?", 1..40), breaks in prop::collection::vec(0..3usize, 40)) {
        let source: String = words.iter().zip(breaks).flat_map(|(word, gap)| [word.as_str(), [" ", "\n", "\n\n"][gap]]).collect();
        for markup in [Markup::Markdown, Markup::ReStructuredText, Markup::AsciiDoc, Markup::Html, Markup::Plain] {
            let prose = read(markup, &source, &ProseOptions::default());
            prop_assert_eq!(prose.text().split_whitespace().collect::<Vec<_>>(), words.iter().collect::<Vec<_>>());
        }
    }
}

#[test]
fn pages_of_one_bit_over_and_over_are_read() {
    for bit in BITS.iter().copied().chain([
        "[a](",
        "<a",
        "*a ",
        "a_",
        "{a",
        "`a",
        "- - ",
        "> > ",
        "<a\"",
        ":::::",
        "a::",
        "[[",
        "link:",
        "&#",
        "* a\n  ",
        "=== =\n",
        "!!! a\n    ",
        "!!! a\n",
        "`{.a}",
        "{a}`",
        "<A/>",
        "  <A/>x",
        "description:\n",
        "description: |\n",
        "- summary: 'a\n",
        "{\"description\":",
        "msgstr \"",
        "example:\n  ",
        "- {{< raw >}}\n",
        "    ",
        "- ",
        "```{note}\n",
    ]) {
        for source in
            [bit.repeat(3_000), format!("a{}", bit.repeat(1_000)), format!("{}\n", bit.trim_end()).repeat(1_000)]
        {
            for markup in MARKUPS {
                let prose = read(markup, &source, &ProseOptions::default());
                let end = prose.source_of(prose.text().len()..prose.text().len()).end;
                assert!(end <= source.len());
            }
        }
    }
}
