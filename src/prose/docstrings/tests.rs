//! Cases by hand for each language, and what holds for any text in any of them.

use super::*;
use crate::prose::tests::{assert_holds, check};
use crate::prose::{Markup, Notice, Prose, ProseOptions, read};
use proptest::prelude::*;

const LANGUAGES: [Language; 11] = [
    Language::Python,
    Language::Rust,
    Language::Go,
    Language::JavaScript,
    Language::Java,
    Language::Kotlin,
    Language::Scala,
    Language::C,
    Language::Php,
    Language::Swift,
    Language::CSharp,
];

fn prose(language: Language, source: &str) -> Prose {
    let prose = read(Markup::Docstrings(language), source, &ProseOptions::default());
    assert_holds(source, &prose);
    prose
}

/// What counts is only `expected`, with ` | ` between blocks.
#[track_caller]
fn text(language: Language, source: &str, expected: &str) {
    assert_eq!(prose(language, source).text().replace("\n\n", " | "), expected, "{language:?}\n{source}");
}

mod python {
    use super::*;

    #[test]
    fn first_strings_of_modules_classes_and_functions() {
        check(
            Markup::Docstrings(Language::Python),
            "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n\n\"\"\"Module\ntext.\"\"\"\n\nimport x\n\"no\"\n\nclass A(B, c=\"no\"):\n\n    # no\n    '''Class.'''\n\
             \x20   x = 1\n    \"\"\"no\"\"\"\n\n    @d(\"no\")\n    async def f(self, a: \"no\" = {'b': lambda: 'no'}) -> Dict[str, 'no']:\n        r'''Method\n\
             \n        goes on.\n        '''\n        return \"no\"\n\ndef g(): u\"One line.\"; return \"no\"\ndef h(): return 'no'\n",
            "4:4 paragraph: Module text.\n13:8 paragraph: Class.\n19:13 paragraph: Method\n21:9 paragraph: goes on.\n\
             25:12 paragraph: One line.\n",
        );
    }

    #[test]
    fn strings_that_are_no_docstrings() {
        for source in [
            "x = 1\n'no'",
            "f'no'",
            "b'no'",
            "rb'no'",
            "'no'.join(x)",
            "'no' + 'no'",
            "'no' 'no'",
            "'no\n'",
            "'''no",
            "'''no''",
            "\"no\\\"",
            "def f(:\n 'no'",
            "if x:\n  'no'",
            "definition = 'no'",
            "classy: 'no'",
            "x.f('''\ndef f():\n  \"\"\"no\"\"\"\n''')",
            "# def f():\n#   '''no'''",
        ] {
            text(Language::Python, source, "");
        }
    }

    #[test]
    fn quotes_within_quotes() {
        text(Language::Python, "'''a \"b\" 'c' ''d \\''' e'''", "a \"b\" 'c' ''d ''' e");
        text(Language::Python, "'it\\'s'", "it's");
        text(Language::Python, "\"\"\"\\\n  a\n\n  b\\\\c\"\"\"", "a | b\\c");
        text(Language::Python, "x = \"'''\"\ndef f():\n  '''a'''\ny = '\"\"\"'\ndef g():\n  '''b'''", "a | b");
        text(Language::Python, "x = '''\"\"\"'''  # '''\ndef f(a='('):\n  '''a'''", "a");
        // A bracket that never closes ends with the next definition.
        text(Language::Python, "def f(a, (b:\n  'no'\ndef g():\n  'a'", "a");
    }

    #[test]
    fn styles_of_docstrings() {
        check(
            Markup::Docstrings(Language::Python),
            "def f():\n    \"\"\"Sum.\n\n    :param str x: the *first*\n        value\n    :type y: no\n    :returns: what\n    is told\n\n    Args:\n\
             \x20       y (int): the second\n            value\n        z: the third\n\n    Parameters\n    ----------\n    x : array_like\n        Input.\n\
             \n    >>> f()\n    no\n\n    ```python\n    no\n\n    no\n    ```\n    Then::\n\n        no\n\n    End.\n    \"\"\"\n",
            "2:8 paragraph: Sum.\n4:19 paragraph: the first value\n7:15 paragraph: what is told\n10:5 paragraph: Args:\n\
             11:9 paragraph: y (int): the second value z: the third\n15:5 h1: Parameters\n17:5 paragraph <5: x : array_like\n\
             18:9 paragraph <5: Input.\n28:5 paragraph <5: Then:\n32:5 paragraph <5: End.\n",
        );
    }
}

#[test]
fn documentation_of_rust() {
    check(
        Markup::Docstrings(Language::Rust),
        "//! Crate\n//! text.\n\n// no\n/// One *fn*\n///\n/// ```\n/// no\n/// ```\n///     no\n#[no = \"no\"] /// Two\nfn a<'a>(x: &'a str) {\n    //// no\n    \
         /** Three /* nested */ text */ /* no */ /***/ /**/\n    let x = ['\"', '\\'', '\\\\', 'é']; /// Four\n    let y = \"/// no \\\" /// no\n /// no\"; /// Five\n    \
         let z = r##\"\" /// no \"# /// no\"##; /// Six\n    let b = (b'\"', br\"\\\", r#type, b\"/** no */\"); /// Seven\n    \
         /*!\n     * - Eight\n     * - Nine\n     */\n}\n/** never ends",
        "1:5 paragraph: Crate text.\n5:5 paragraph: One fn\n11:18 paragraph: Two\n14:9 paragraph: Three /* nested */ text\n\
         15:41 paragraph: Four\n17:15 paragraph: Five\n18:44 paragraph: Six\n19:54 paragraph: Seven\n21:10 item: Eight\n22:10 item: Nine\n",
    );
}

#[test]
fn documentation_of_go() {
    check(
        Markup::Docstrings(Language::Go),
        "// Licence\n\n// Package a is\n// one.\n//\n//\tno\n//\n// # Use\n//\n// Text.\npackage a\n\n// no\n\n/*\nF does.\n*/\nfunc F() {\n\t// no\n\tx := `\n// no\nfunc`\n\tvar c = '\"' // no\n}\n\n\
         // no\n//\n// no\nx\n\n//go:generate no\n// T is.\n//go:build no\ntype T struct {\n\t// A is.\n\tA int // no\n\t// no\n}\n\nconst (\n\t// B is.\n\tB = 1\n)\n\nvar x = f(\n\t// no\n\ty)\n// dedup:ignore-start\n// no\nvar y\n",
        "3:4 paragraph: Package a is one.\n8:6 h1: Use\n10:4 paragraph <1: Text.\n16:1 paragraph: F does.\n32:4 paragraph: T is.\n35:5 paragraph: A is.\n41:5 paragraph: B is.\n",
    );
}

#[test]
fn documentation_of_javascript() {
    check(
        Markup::Docstrings(Language::JavaScript),
        "#!/usr/bin/env node\n/// <reference path=\"no\" />\n// no\n/**\n * Adds *two*\n * numbers.\n *\n * @param {number} a the first\n *   of them\n * @param {number} [b=1] - the second\n\
         * @example\n * no()\n *\n * ```\n * @no\n * ```\n * @returns the sum\n *\n *     no\n */\nconst s = '/** no */' + \"it's /** no */\"; // '\n\
         const r = x.replace(/['\"`/*]/g, '').split(/\\/\\*[/`]/) / 2 / `a ${ {b: `/** no ${'`'} */`} } don't /** no */ ` /** One */;\n\
         const t = <p>Don't</p>; /* no */ /** no */\n/**Two*/ /*! no */\nreturn /`/; /** Three */ let a = 1 / 2; /** Four */ `never /** no */",
        "5:4 paragraph: Adds two numbers.\n8:22 paragraph: the first of them\n10:28 paragraph: the second\n17:13 paragraph: the sum\n\
         22:115 paragraph: One\n24:4 paragraph: Two\n25:17 paragraph: Three\n25:45 paragraph: Four\n",
    );
}

#[test]
fn literals_of_other_languages() {
    let long = "\"\"\"\n it's \" /** no */\n\"\"\" /** a */";
    for (language, source) in [
        (Language::Java, long),
        (Language::Java, "\"\"\" \\\"\"\" /** no */ \"\"\"; '\"'; '\\u0027' /** a */"),
        (Language::Java, "@A(\"/** no */\") /** a */ \"/** no */"),
        (Language::Kotlin, long),
        (Language::Kotlin, "\"\"\"\\\"\"\"\" /** a */ \"/** no */\""),
        (Language::Kotlin, "fun `doesn't`() /* no /** no */ no */ /** a */"),
        (Language::Scala, long),
        (Language::Scala, "'symbol; '\"'; s\"\"\"/** no */\"\"\" /** a */"),
        (Language::Swift, long),
        (Language::Swift, "\"\\(x) \\\" /** no */\" /* /** no */ */ /** a */"),
        (Language::CSharp, long),
        (Language::CSharp, "\"\"\"\" \"\"\" /** no */ \"\"\"\" /** a */"),
        (Language::CSharp, "@\"\\\" /** a */; $@\"x\"\"\n/** no */\"; @$\"\n/** no */\""),
        (Language::CSharp, "#error it's\n/// <summary>\n/// a\n/// </summary>"),
        (Language::C, "#error it's\nR\"x()\" /** no */)x\" u8R\"(\")\" /** a */"),
        (Language::C, "1'000'000; L'\"'; 'ab'; \"\\\n/** no */\"; int i; ///< a"),
        (Language::C, "/// dedup:ignore-start\n/** no */\n// dedup:ignore-end\n/*! a */"),
        (Language::Php, "it's /** no */ <?xml '?>\n<?php '\n/** no */' /** a */ ?> /** no */ <?= /** never"),
        (Language::Php, "<?php <<<'X'\n/** no */ ' Xs\nXs\n  X; /** a */ <<<\"Y\"\n/** no */"),
        (Language::Php, "<?php # it's\n#[A('/** no */')] // ' ?> ' <?php \"$x[\"; /** a */"),
        (Language::Php, "<?php /**\n * @param string $x a\n */ $x << 1"),
    ] {
        text(language, source, "a");
    }
}

#[test]
fn comments_that_are_no_documentation() {
    for source in
        ["/* no */", "// no", "//// no", "/*** no */", "/***/", "/**/ no /**/", "/** no", "/**", "///", "/** * */"]
    {
        for language in LANGUAGES {
            text(language, source, "");
        }
    }
}

#[test]
fn each_is_a_page_of_its_own() {
    check(
        Markup::Docstrings(Language::Java),
        "/** - a */\n/** b */\n/**\n # c\n\n ```\n no */\n/** d\n*\n* - e */ /// f\n/// g\nint x; /// h\n\n/// i\n",
        "1:7 item: a\n2:5 paragraph: b\n4:4 h1: c\n8:5 paragraph: d\n10:5 item: e\n10:14 paragraph: f g\n12:12 paragraph: h\n14:5 paragraph: i\n",
    );
}

#[test]
fn licences_count_but_at_the_start() {
    let source = "/** Use of this source code is governed by the licence X. */\n/** a */\n/** Licensed under the Y. */";
    text(Language::Java, source, "a | Licensed under the Y.");
    text(Language::Java, "/** a */\n/**\n * ## Licence\n *\n * no\n */\n/** b */", "a | Licence | b");
    let options = ProseOptions { licences: true, ..ProseOptions::default() };
    assert_eq!(read(Markup::Docstrings(Language::Java), source, &options).blocks().len(), 3);
}

#[test]
fn code_counts_if_asked_for() {
    let options = ProseOptions { code: true, ..ProseOptions::default() };
    let text = |language, source| read(Markup::Docstrings(language), source, &options).text().replace("\n\n", " | ");
    assert_eq!(text(Language::Java, "/**\n * a\n *\n *     b\n * @example\n * c\n */"), "a | b | c");
    assert_eq!(text(Language::Rust, "/// a\n/// ```\n/// b\n/// ```"), "a | b");
    assert_eq!(text(Language::Python, "'''a\n\n```\nb\n```\n'''"), "a | b");
    self::text(Language::Python, "'''```a``` b\n\n````x\nno\n````\nc'''", "`a b | c");
}

#[test]
fn marks_are_comments() {
    for (language, source) in [
        (
            Language::Python,
            "'''a'''\n# dedup:ignore-start: why\ndef f():\n  '''b'''\n# dedup:ignore-end\ndef g():\n  '''d'''",
        ),
        (Language::Rust, "/// a\n// dedup:ignore-start: why\n\n/// b\n/*dedup:ignore-end*/\n\n/// d"),
        (Language::Php, "<?php /** a */\n# dedup:ignore-start: why\n\n/** b */\n/** dedup:ignore-end */ /** d */"),
    ] {
        let prose = prose(language, source);
        assert_eq!((prose.text(), prose.notices()), ("a\n\nd", &[][..]), "{language:?}");
        let [ignored] = prose.ignored() else { panic!("{language:?}: {:?}", prose.ignored()) };
        assert!(source[ignored.clone()].contains('b') && source[ignored.clone()].ends_with(['d', '/']));
    }
}

#[test]
fn marks_in_documentation_end_with_it() {
    let source = "/// a\n/// <!-- dedup:ignore-start -->\n/// no\n\n/// b\n///\n///  <!-- dedup:ignore-end -->\n// dedup:ignore-start";
    let prose = prose(Language::Rust, source);
    assert_eq!(prose.text(), "a\n\nb");
    let notices = [Notice::NeverEnds { line: 2 }, Notice::NeverStarted { line: 7 }, Notice::NeverEnds { line: 8 }];
    assert_eq!(prose.notices(), notices);
    assert_eq!(&source[prose.ignored()[0].clone()], "<!-- dedup:ignore-start -->\n/// no");
}

#[test]
fn languages_by_the_name_of_a_file() {
    for (path, language) in [
        ("a/b.PY", Some(Language::Python)),
        ("a.d.ts", Some(Language::JavaScript)),
        ("a.hpp", Some(Language::C)),
        ("a.md", None),
        ("rs", None),
        (".rs", None),
        ("a.rb", None),
    ] {
        assert_eq!(Language::of_path(path), language, "{path}");
    }
}

#[test]
fn marks_that_are_none_are_told() {
    let source = "// a\n// dedup:ignore-begin\nx\n/// dedup:scan is a program.\nfn f() {}";
    let prose = prose(Language::Rust, source);
    assert_eq!(prose.text(), "dedup:scan is a program.");
    assert_eq!(prose.notices(), [Notice::Unknown { line: 2, mark: "dedup:ignore-begin".into() }]);
}

/// Words that nothing else in the documents can make.
const WORDS: &[&str] = &["quokka", "jumbuck", "wyvern", "fjörd", "zephyr", "中文字"];

const BITS: &[&str] = &[
    " ",
    " ",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "    ",
    "\t",
    "'",
    "\"",
    "\"\"\"",
    "'''",
    "`",
    "```",
    "\\",
    "/",
    "//",
    "///",
    "//!",
    "/*",
    "/**",
    "/*!",
    "*/",
    " * ",
    "*",
    "**",
    "#",
    "# ",
    "r#\"",
    "\"#",
    "r\"",
    "R\"x(",
    ")x\"",
    "b'",
    "u\"",
    "'a",
    "'\"'",
    "'\\''",
    "@\"",
    "$\"",
    "${",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ":",
    ";",
    "=",
    "<?php ",
    "?>",
    "<<<X\n",
    "\nX",
    "def f",
    "class A",
    "():\n",
    "func ",
    "\nfunc ",
    "type T {\n",
    "\nvar (\n",
    "package a\n",
    "@param ",
    "@param {x} ",
    "@example\n",
    ":param x: ",
    ":return: ",
    "x: ",
    "x (y): ",
    ".. ",
    "::\n\n",
    ">>> ",
    "---\n",
    "====\n",
    "- ",
    "1. ",
    "|",
    "_",
    "://",
    "&amp;",
    "<b>",
    "<p>",
    "<!--",
    "-->",
    "<!-- dedup:ignore-start -->",
    "# dedup:ignore-start\n",
    "// dedup:ignore-start\n",
    "/* dedup:ignore-end */",
    "# dedup:ignore-end\n",
    ".. dedup:ignore-start\n",
    "\u{feff}",
    "\u{a0}",
    "é",
    "\0",
    "Licensed under the ",
    "return ",
];

fn documents() -> impl Strategy<Value = String> {
    let bit = prop_oneof![2 => prop::sample::select(BITS), 1 => prop::sample::select(WORDS)];
    // Most start with what can be documentation.
    let start = prop::sample::select(&["", "/**", "/// ", "\"\"\"", "<?php /** ", "package a\n// "][..]);
    (start, prop::collection::vec(bit, 0..40)).prop_map(|(start, bits)| start.to_string() + &bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn words_stand_where_they_are_said_to(source in documents(), code in any::<bool>(), links in any::<bool>()) {
        let options = ProseOptions { code, links, licences: links, ..ProseOptions::default() };
        for language in LANGUAGES {
            let prose = read(Markup::Docstrings(language), &source, &options);
            assert_holds(&source, &prose);
            for (at, word) in WORDS.iter().flat_map(|word| prose.text().match_indices(word)) {
                let place = &source[prose.source_of(at..at + word.len())];
                // Targets stand for what they follow.
                prop_assert!(place == word || links, "{language:?}: {word} at {place:?} in {source:?}");
            }
        }
    }

    #[test]
    fn any_text_is_a_source(source in "\\PC{0,60}") {
        LANGUAGES.into_iter().for_each(|language| drop(prose(language, &source)));
    }

    /// Paragraphs are the same in documentation of any kind as in plain text.
    #[test]
    fn documentation_is_found_whatever_it_looks_like(lines in prop::collection::vec("[a-z]{2,6}( [a-z]{2,6}){0,5}|", 1..12)) {
        let plain = lines.join("\n");
        let expected = read(Markup::Plain, &plain, &ProseOptions::default());
        let each = |start: &str| lines.iter().map(|line| format!("{start} {line}\n")).collect::<String>();
        for (language, source) in [
            (Language::Python, format!("'''{plain}'''")),
            (Language::Python, format!("class A:\n  r\"\"\"\n{}  \"\"\"", each("   "))),
            (Language::Rust, each("    ///")),
            (Language::Rust, each("//!")),
            (Language::Rust, format!("/** {plain} */")),
            (Language::Go, format!("{}func", each("//")) + " F()"),
            (Language::Java, format!("    /**\n{}     */", each("     *"))),
            (Language::Swift, format!("/**\n{plain}\n*/")),
            (Language::C, format!("/*!\n{}*/", each(" *"))),
            (Language::Php, format!("<?php /**\n{}*/", each("\t *"))),
        ] {
            let found = prose(language, &source);
            prop_assert_eq!(found.text(), expected.text(), "{:?} {}", language, source);
        }
    }
}

#[test]
fn hostile_sources_are_read() {
    let of = |bit: &str| {
        [bit.repeat(300), format!("type T {{\n{}", bit.repeat(100)), format!("<?php /** {bit}\n*/").repeat(30)]
    };
    let check = |source: &str| {
        for language in LANGUAGES {
            let prose = read(Markup::Docstrings(language), source, &ProseOptions::default());
            assert!(prose.source_of(prose.text().len()..prose.text().len()).end <= source.len());
        }
    };
    BITS.iter().flat_map(|bit| of(bit)).for_each(|source| check(&source));
    // Were one of these gone over again and again, it would show.
    for bit in [
        "\"",
        "/* ",
        "'\\",
        "=/[",
        "`${",
        "r#",
        "@\"\"",
        "/**a*/",
        "/** a\n",
        "// a\n",
        "\t// b\n",
        "/* */",
        "def f(:",
        "?><?php //",
    ] {
        check(&bit.repeat(100_000 / bit.len()));
    }
}

#[test]
fn comments_nest_as_deep_as_they_like() {
    let source = format!("/** {}a{} */ /// b", "/*".repeat(100_000), "*/".repeat(100_000));
    assert!(prose(Language::Rust, &source).text().ends_with("\n\nb"));
}
