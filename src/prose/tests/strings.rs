//! Texts in strings: notebooks, catalogues of gettext, descriptions of interfaces.

use super::*;

#[test]
fn cells_of_notebooks() {
    let page = r##"{"cells": [
 {"cell_type": "markdown", "metadata": {}, "source": ["# A \"b\"\n", "\n", "c *d*\n", "e"]},
 {"cell_type": "code", "outputs": [{"text": ["no"]}], "source": ["no = 1"]},
 {"source": "f\u00e9 g", "cell_type": "markdown"},
 {"cell_type": "raw", "source": "no"}
], "nbformat": 4}"##;
    super::check(Markup::Notebook, page, "2:58 h1: A \"b\"\n2:77 paragraph <0: c d e\n4:14 paragraph <0: fé g\n");
    let code = ProseOptions { code: true, ..ProseOptions::default() };
    assert!(read(Markup::Notebook, page, &code).text().contains("\n\nno = 1\n\nf"));
    super::check(Markup::Notebook, "{\"cells\": [a b", "1:1 paragraph: {\"cells\": [a b\n");
}

#[test]
fn translations_of_gettext() {
    super::check(
        Markup::Gettext,
        "# no\nmsgid \"\"\nmsgstr \"\"\n\"No: no\\n\"\n\n#: no.c\nmsgctxt \"no\"\nmsgid \"no\"\nmsgstr \"a \"\n\"b\\\"\\n\"\n\"c\"\n\n\
         msgid \"no\"\nmsgid_plural \"no\"\nmsgstr[0] \"d\"\nmsgstr[1] \"e\"\n\n#, fuzzy\nmsgid \"\"\n\"no\"\nmsgstr \"\"\n\n#~ msgid \"no\"\n#~ msgstr \"no\"\n",
        "9:9 paragraph: a b\" c\n15:12 paragraph: d\n16:12 paragraph: e\n",
    );
}

#[test]
fn descriptions_of_interfaces() {
    super::check(
        Markup::OpenApi,
        "openapi: 3.1.0\ninfo:\n  title: no\n  description: |\n    a *b*\n\n    - c\n      description: d\n  summary: \"e \\\"f\\\"\n    g\"\npaths:\n\
         \x20 /x:\n    - summary: 'h ''i'''\n      description:\n        j # no\n        k\n    - example:\n        description: no\n\
         \x20     x: |\n        description: no\n      description: {type: string}\nsummary: >-\n  l\n",
        "5:5 paragraph: a b\n7:7 item: c description: d\n9:13 paragraph: e \"f\" g\n13:17 paragraph: h 'i'\n15:9 paragraph: j k\n\
         21:20 paragraph: {type: string}\n23:3 paragraph: l\n",
    );
    super::check(
        Markup::OpenApi,
        "{\"openapi\": \"no\", \"info\": {\"description\": \"# a\\n\\nb\", \"no\": \"description\", \"description\": {\"no\": \"no\"},\n\"summary\" : \"c\"}}",
        "1:46 h1: a\n1:51 paragraph <0: b\n2:14 paragraph: c\n",
    );
    assert!(Markup::is_openapi("a.json", "{ \"info\": {}, \"openapi\" : 3"));
    assert!(!Markup::is_openapi("a.json", "{ \"dependencies\": { \"swagger\" : 3"));
    assert!(!Markup::is_openapi("a.md", "openapi: 3"));
}

#[test]
fn marks_in_translations() {
    let page = "msgid \"no\"\nmsgstr \"a\"\n# dedup:ignore-start\nmsgid \"no\"\nmsgstr \"no\"\n#. dedup:ignore-off\n# dedup:ignore-end\nmsgid \"no\"\nmsgstr \"b\"\n";
    let prose = read(Markup::Gettext, page, &ProseOptions::default());
    assert_eq!((prose.text(), prose.notices()), ("a\n\nb", &[][..]));
    assert_eq!(prose.ignored().len(), 1);
}
