//! Marks in comments of another markup.

use super::*;

/// The lines with a notice of a page with that comment at line 3 and the end at line 7, and the last notice.
fn notices(markup: Markup, [before, after]: [&str; 2]) -> (Vec<usize>, String) {
    let mark = |which: &str| format!("{before}dedup:ignore-{which}{after}");
    let source = format!("One.\n\n{}\n\nTwo.\n\n{}\n\nThree.\n", mark("start"), mark("end"));
    let prose = read(markup, &source, &ProseOptions::default());
    let lines = prose.notices().iter().map(Notice::line).collect();
    (lines, prose.notices().last().map(ToString::to_string).unwrap_or_default())
}

#[test]
fn comments_of_other_markups_are_reported() {
    for (markup, form, expected) in [
        (
            Markup::AsciiDoc,
            ["<!-- ", " -->"],
            "'<!-- dedup:ignore-end -->' is not a comment in AsciiDoc and has no effect: write '// dedup:ignore-end'",
        ),
        (
            Markup::AsciiDoc,
            ["<!--", "-->"],
            "'<!-- dedup:ignore-end -->' is not a comment in AsciiDoc and has no effect: write '// dedup:ignore-end'",
        ),
        (
            Markup::AsciiDoc,
            [".. ", ": why"],
            "'.. dedup:ignore-end' is not a comment in AsciiDoc and has no effect: write '// dedup:ignore-end'",
        ),
        (
            Markup::ReStructuredText,
            ["<!-- ", " why -->"],
            "'<!-- dedup:ignore-end -->' is not a comment in reStructuredText and has no effect: write '.. dedup:ignore-end'",
        ),
        (
            Markup::ReStructuredText,
            ["// ", ""],
            "'// dedup:ignore-end' is not a comment in reStructuredText and has no effect: write '.. dedup:ignore-end'",
        ),
        (
            Markup::Markdown,
            [".. ", ""],
            "'.. dedup:ignore-end' is not a comment in Markdown and has no effect: write '<!-- dedup:ignore-end -->'",
        ),
        (
            Markup::Markdown,
            ["// ", ""],
            "'// dedup:ignore-end' is not a comment in Markdown and has no effect: write '<!-- dedup:ignore-end -->'",
        ),
        (
            Markup::Markdown,
            ["# ", ""],
            "'# dedup:ignore-end' is not a comment in Markdown and has no effect: write '<!-- dedup:ignore-end -->'",
        ),
        (
            Markup::AsciiDoc,
            ["# ", ""],
            "'# dedup:ignore-end' is not a comment in AsciiDoc and has no effect: write '// dedup:ignore-end'",
        ),
        (
            Markup::Plain,
            ["# ", ""],
            "'# dedup:ignore-end' is not a comment in plain text and has no effect: write 'dedup:ignore-end'",
        ),
        (
            Markup::Mdx,
            ["// ", ""],
            "'// dedup:ignore-end' is not a comment in MDX and has no effect: write '{/* dedup:ignore-end */}'",
        ),
        (
            Markup::Html,
            ["// ", ""],
            "'// dedup:ignore-end' is not a comment in HTML and has no effect: write '<!-- dedup:ignore-end -->'",
        ),
        (
            Markup::Plain,
            ["<!-- ", " -->"],
            "'<!-- dedup:ignore-end -->' is not a comment in plain text and has no effect: write 'dedup:ignore-end'",
        ),
    ] {
        assert_eq!(notices(markup, form), (vec![3, 7], format!("line 7: {expected}")), "{markup:?} {form:?}");
    }
    for markup in MARKUPS {
        let Some((_, own)) = markup.comment() else { continue };
        assert_eq!(notices(markup, own), (vec![], String::new()), "{markup:?}");
    }
}

#[test]
fn examples_are_not_reported() {
    for (markup, source) in [
        (
            Markup::AsciiDoc,
            "----\n<!-- dedup:ignore-start -->\n----\n\n `<!-- dedup:ignore-start -->`\n\n////\n.. dedup:ignore-end\n////\n",
        ),
        (Markup::AsciiDoc, "Write <!-- dedup:ignore-start --> in Markdown.\n\n* `<!-- dedup:ignore-start -->`\n"),
        (Markup::AsciiDoc, "<!-- dedup:ignore-sometimes -->\n\n<!-- dedup: a program -->\n"),
        (
            Markup::ReStructuredText,
            "Write::\n\n  <!-- dedup:ignore-start -->\n\n.. code-block:: md\n\n   // dedup:ignore-end\n\n``<!-- dedup:ignore-start -->``\n",
        ),
        (Markup::Markdown, "```\n# dedup:ignore-start\n```\n\n1. # One\n"),
        (Markup::Markdown, "```\n// dedup:ignore-start\n```\n\n    .. dedup:ignore-start\n\n`// dedup:ignore-start`\n"),
        // One of its own markup, which is text for another cause.
        (Markup::ReStructuredText, "A line.\n.. dedup:ignore-start\n"),
        (Markup::Mdx, "A line.\n{/* dedup:ignore-start\n"),
        (Markup::Html, "<pre>\n// dedup:ignore-start\n</pre><script>\n// dedup:ignore-start\n</script>"),
    ] {
        for code in [false, true] {
            let prose = read(markup, source, &ProseOptions { code, ..ProseOptions::default() });
            assert_eq!(prose.notices(), &[] as &[Notice], "{markup:?} {source}");
        }
    }
}
