//! reStructuredText.

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
             11:3 paragraph: Meaning.\n13:3 paragraph: line block\n18:1 paragraph: end\n",
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
             .. figure:: no.png\n\n   Caption.\n\n.. versionadded:: 1.2\n   The thing.\n.. |no| image:: no\n.. _no: http://no\n.. [1] Foot\n   note.\n\
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
        "2:3 cell: a b\n2:10 cell: c\n4:3 cell: d\n4:9 cell: e f\n9:1 cell: H\n9:7 cell: I\n11:1 cell: j k\n11:7 cell: l m\n\
             12:1 cell: éé n\n12:7 cell: o\n13:1 cell: across all\n16:1 paragraph: end\n",
    );
}

#[test]
fn a_cell_is_one_block() {
    // The lines of two cells that are both wrapped take turns. A blank line separates paragraphs of a cell, and so do items.
    check(
        "+-----+--------+\n| a   | b c    |\n| d   | e | f  |\n|     | g      |\n+-----+--------+\n| h   | i      |\n|     |        |\n|     | j      |\n\
             |     | k      |\n+-----+--------+\n| l   | - m    |\n|     |   n    |\n|     | - o    |\n+-----+--------+\n",
        "2:3 cell: a\n2:9 cell: b c\n3:3 cell: d\n3:9 cell: e | f g\n6:3 cell: h\n6:9 cell: i\n8:9 cell: j k\n11:3 cell: l\n\
             11:11 cell: m n\n13:11 cell: o\n",
    );
    // A cell beside two rows, and characters that are wider than a column.
    check(
        "+---+---+\n| a | b |\n| c +---+\n| d | e |\n+---+---+\n\n+----+---+\n| 中 | x |\n|    | y |\n+----+---+\n",
        "2:3 cell: a\n2:7 cell: b\n3:3 cell: c d\n4:7 cell: e\n8:3 cell: 中\n8:7 cell: x y\n",
    );
    // Without the edge at the end.
    check("+---+---+\n| a | b\n|   | c\n+---+---+\n", "2:3 cell: a\n2:7 cell: b c\n");
    check(
        "====  ====\nH     I\n====  ====\na     b\n      c\n\n      d\ne     f\n====  ====\n",
        "2:1 cell: H\n2:7 cell: I\n4:1 cell: a\n4:7 cell: b c\n7:7 cell: d\n8:1 cell: e\n8:7 cell: f\n",
    );
}

#[test]
fn a_line_block_is_one_block() {
    check(
        "| one\n| two\n  goes *on*\n|\n| three\n\nfour\n",
        "1:3 paragraph: one two goes on\n5:3 paragraph: three\n7:1 paragraph: four\n",
    );
}

#[test]
fn replacements_count() {
    check(
        "a |b c| d\n\n.. |b c| replace:: One\n   *two*\n.. |e| replace::\n   three\n.. |no| unicode:: 0xA9\n.. |no| replace: no\n\nf\n",
        "1:1 paragraph: a |b c| d\n3:20 paragraph: One two\n6:4 paragraph: three\n10:1 paragraph: f\n",
    );
}
