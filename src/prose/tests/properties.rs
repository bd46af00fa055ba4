//! Properties of any page: words stand at their places in the source, and reading takes linear time.

use super::*;

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
