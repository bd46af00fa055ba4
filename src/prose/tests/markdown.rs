//! Markdown.

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
    check_with(&code, Markup::Markdown, "a\n\n```rust\nlet x\n  = 1;\n```", "1:1 paragraph: a\n4:1 code: let x = 1;\n");
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
    let page = "# T\n\n- [A](#a)\n  1. [B *c*](#b)\n- [D](#d)\n\n## A\n\n- [A](#a) and more\n- [D](#d)\n\n* [E](#a)\n";
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
    let shown = |words: usize| long(words).trim_end().to_string();
    assert_eq!(text(&format!("## License\n\n{}\n\n{}\n\n# A\n\nB.", long(40), long(20))), "License|A|B.");
    let page =
        format!("# T\n\nOf BSD.\n\n## License\n\nThe Apache license.\n\n{}\n\n- MIT\n- *BSD*-3\n\n# A\n\nB.", long(56));
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

/// The blocks of a page.
fn text(page: &str) -> String {
    read(Markup::Markdown, page, &ProseOptions::default()).text().replace("\n\n", "|")
}

/// The sentences as projects have them.
#[test]
fn licence_sentences_do_not_count_wherever_they_are() {
    let contribution = "Unless you explicitly state otherwise, any contribution intentionally submitted\nfor inclusion in the work by you, as \
        defined in the Apache-2.0 license, shall be\ndual licensed as above, without any additional terms or conditions.";
    for sentence in [
        contribution,
        "Licensed under either of <a href=\"LICENSE-APACHE\">Apache License, Version\n2.0</a> or <a href=\"LICENSE-MIT\">MIT license</a> at \
         your option.",
        "This work is licensed under a [Creative Commons Attribution-ShareAlike 4.0 International License]\
         (https://creativecommons.org/licenses/by-sa/4.0/).",
        "This work is licensed under CC BY-SA 4.0. To view a copy of this license, visit\nhttps://creativecommons.org/licenses/by-sa/4.0/",
        "Except as otherwise noted, the content of this page is licensed under the Creative Commons Attribution 4.0 License, and code samples \
         are licensed under the Apache 2.0 License.",
    ] {
        assert_eq!(
            text(&format!("# T\n\nText.\n\n### Contribution\n\n{sentence}\n\nMore.")),
            "T|Text.|Contribution|More."
        );
    }
    // In two paragraphs and a list, as the documentation of the language has it.
    let section = "Licensed under either of\n\n * Apache License, Version 2.0\n   ([LICENSE-APACHE](LICENSE-APACHE) or \
        http://www.apache.org/licenses/LICENSE-2.0)\n * MIT license\n   ([LICENSE-MIT](LICENSE-MIT) or \
        http://opensource.org/licenses/MIT)\n\nat your option.";
    let page = format!("# T\n\nText.\n\n## License\n\n{section}\n\n## Contribution\n\n{contribution}\n");
    assert_eq!(text(&page), "T|Text.|License|Contribution");
    assert_eq!(
        text("# T\n\nText.\n\n## Legal notice\n\nAll names are marks of their owners.\n\n## A"),
        "T|Text.|Legal notice|A"
    );
}

/// Texts on licences are prose.
#[test]
fn texts_on_licences_count() {
    for prose in [
        "Most crates are licensed under either of two licences, at your option: choose the one that suits your project.",
        "If you want others to share alike, state that this work is licensed under a Creative Commons licence, and link to its text.",
        "This project is licensed under the MIT license because our customers asked for one without conditions on patents.",
        "Unless you explicitly state otherwise in the form, any invoice is sent to the address of the account.",
        "Except as otherwise noted, the options of the client are those of the server.",
        "Licensed under terms that change each year, a font must be bought again at your expense.",
        "Except where otherwise noted, fonts must be licensed under a separate contract.",
    ] {
        assert_eq!(text(&format!("# T\n\nText.\n\n{prose}\n")), format!("T|Text.|{prose}"));
        // At the start of a page, some phrases are those of a notice.
        if !prose.contains("licensed under the") {
            assert_eq!(text(&format!("# T\n\n{prose}\n")), format!("T|{prose}"));
        }
    }
    let long = "word ".repeat(60);
    let text_of = text(&format!("# T\n\nText.\n\nThis work is licensed under a Creative Commons licence. {long}"));
    assert!(text_of.ends_with("word"), "{text_of}");
}

#[test]
fn licences_at_the_start() {
    let page = "# T\n\nSPDX-License-Identifier: MIT\n\nLicensed under\nthe *Apache* License.\n\nText.\n\nLicensed under the MIT.";
    check(page, "1:3 h1: T\n8:1 paragraph <0: Text.\n10:1 paragraph <0: Licensed under the MIT.\n");
    let licences = ProseOptions { licences: true, ..ProseOptions::default() };
    assert_eq!(read(Markup::Markdown, page, &licences).blocks().len(), 5);
}

#[test]
fn marks_in_comments_written_as_links() {
    let source = "a\n\n[//]: # (dedup:ignore-start)\n\nno\n\n[comment]: <> \"dedup:ignore-end why\"\n\nb\n[//]: # 'dedup-ignore-start'\nc\n\n\
        ```\n[//]: # (dedup:ignore-start)\n```\n\n[//]: # (none)\n[x]: #y (dedup:ignore-start)\n\n    [//]: # (dedup:ignore-start)\n\n- d\n\n  [//]: # (dedup:ignore-end)\n\n  e\n";
    let prose = read(Markup::Markdown, source, &ProseOptions::default());
    assert_eq!(prose.text(), "a\n\nb\n\nc\n\nd\n\ne");
    assert_eq!(
        prose.notices(),
        [Notice::Unknown { line: 10, mark: "dedup-ignore-start".into() }, Notice::NeverStarted { line: 24 }]
    );
    assert_eq!(prose.ignored().iter().map(|part| &source[part.clone()]).collect::<String>(), source[3..73]);
}
