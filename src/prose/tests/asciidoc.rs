//! AsciiDoc.

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
        "3:2 cell: a b\n3:8 cell: c\n5:4 cell: d\n5:8 cell: e\n6:9 cell: f\n7:2 cell: g|h goes on\n10:1 paragraph: end\n",
    );
}

#[test]
fn tables_of_contents() {
    check(
        "* <<a,A>>\n* xref:b[B]\n\nText\n\n* xref:c.adoc[C]\n* <<d>>, see\n",
        "4:1 paragraph: Text\n6:15 item: C\n7:8 item: , see\n",
    );
}

#[test]
fn a_cell_is_one_block() {
    check(
        "|===\n|a |b\nc\n\nd\n2+|* e\nf\n* g\n// no\n|h\n|===\n",
        "2:2 cell: a\n2:5 cell: b c\n5:1 cell: d\n6:6 cell: e f\n8:3 cell: g\n10:2 cell: h\n",
    );
    // Cells with blocks of their own: by their format, or that of the column; and a table in one.
    check(
        "[cols=\"1,3a\"]\n|===\n|a\n|\nb\nc\n\n----\nno\n----\n\n* d\ne\n|f |g\n|===\n\n|===\n|h\na|\ni\nj\n\n!===\n!k !l\nm\n!===\n|===\n",
        "3:2 cell: a\n5:1 cell: b c\n12:3 item: d e\n14:2 cell: f\n14:5 cell: g\n18:2 cell: h\n20:1 cell: i j\n24:2 cell: k\n24:5 cell: l m\n",
    );
    // With spaces after the bars, which are no indentation; that of a later line makes code.
    check(
        "[cols=\"1,3a\"]\n|===\n| a\n| b c\nd\n\n  no\n| e\na|  f\n|===\n",
        "3:3 cell: a\n4:3 cell: b c d\n8:3 cell: e\n9:5 cell: f\n",
    );
}

#[test]
fn cells_between_commas() {
    check(
        ",===\na b,\"c, \"\"d\"\"\ne\"\nf,g\n,===\n\n[%header,format=csv]\n|===\nh,\"i\n\nj\"\n|===\n\n[format=dsv]\n|===\nk:l\\:m\n|===\n\n\
             [format=csv,separator=;]\n|===\nn, o;p\n|===\n\nend\n",
        "2:1 cell: a b\n2:6 cell: c, \"\"d\"\" e\n4:1 cell: f\n4:3 cell: g\n9:1 cell: h\n9:4 cell: i\n11:1 cell: j\n\
             16:1 cell: k\n16:3 cell: l:m\n21:1 cell: n, o\n21:6 cell: p\n24:1 paragraph: end\n",
    );
}
