//! Cases for dialects of Markdown.

use crate::prose::{Markup, ProseOptions, tests};

#[track_caller]
fn check(source: &str, expected: &str) {
    tests::check(Markup::Markdown, source, expected);
}

#[test]
fn admonitions_of_mkdocs() {
    check(
        "a\n\n!!! note\n\n    b *c*\n    d\n\n    - e\n\n??? tip \"F `g`\"\n    h\n\n        no\n\n???+ warning inline end \"I\"\n    j\nk\n",
        "1:1 paragraph: a\n5:5 paragraph: b c d\n8:7 item: e\n10:10 paragraph: F g\n11:5 paragraph: h\n\
         15:26 paragraph: I\n16:5 paragraph: j\n17:1 paragraph: k\n",
    );
}

#[test]
fn admonitions_without_bodies_are_text() {
    check("!!! a\n\nb\n\n    !!! note\n\n        no\n", "1:1 paragraph: !!! a\n3:1 paragraph: b\n");
}

#[test]
fn tabs_and_what_is_nested_in_them() {
    check(
        "=== \"A b\"\n\n    c\n\n    !!! note \"D\"\n\n        e\n\n        ``` py\n        no()\n        ```\n\n    === \"F\"\n\n        g\n\n===! \"H\"\n\n    1. i\n\n        ??? k\n\n            l\n\n       m\n\nn\n",
        "1:6 paragraph: A b\n3:5 paragraph: c\n5:15 paragraph: D\n7:9 paragraph: e\n13:10 paragraph: F\n15:9 paragraph: g\n\
         17:7 paragraph: H\n19:8 item: i\n23:13 item: l\n25:8 item: m\n27:1 paragraph: n\n",
    );
}

#[test]
fn admonitions_in_items() {
    check(
        "- a\n\n    !!! note\n\n        b\n\n    c\n- !!! tip\n\n      d\n\n1.  e\n\n    === \"F\"\n\n        g\n",
        "1:3 item: a\n5:9 item: b\n7:5 item: c\n10:7 item: d\n12:5 item: e\n14:10 item: F\n16:9 item: g\n",
    );
}

#[test]
fn nothing_is_a_mark_within_code() {
    check(
        "```` md\n!!! note\n\n    no\n\n``` md\n:::tip\n```\n````\n\n- a\n  ```\n  no\n\nb\n\n!!! note\n    ```\n    no\nc\n\n:::tip\nd\n:::\n",
        "11:3 item: a\n15:1 paragraph: b\n20:1 paragraph: c\n23:1 paragraph: d\n",
    );
    let code = ProseOptions { code: true, ..ProseOptions::default() };
    tests::check_with(
        &code,
        Markup::Markdown,
        "!!! note\n\n    ```\n    a\n      b\n    ```\n\n        c\n        d\n",
        "4:5 code: a b\n8:9 code: c d\n",
    );
}

#[test]
fn snippets_attributes_and_blocks_of_pymdown() {
    check(
        "--8<-- \"no.md\"\n\n--8<--\nno.md\nno/b.md\n--8<--\na\n\n# B { #b }\n\n[c](d){ .md-button } :material-e:\n{: .no }\n\n\
         /// note | F\n    open: True\n\ng\n///\n\n/// html | div.no\nh\n///\n/// i j\n",
        "7:1 paragraph: a\n9:3 h1: B\n11:2 paragraph <1: c\n14:12 paragraph <1: F\n17:1 paragraph <1: g\n\
         21:1 paragraph <1: h\n23:1 paragraph <1: /// i j\n",
    );
}

#[test]
fn cards_that_start_with_icons() {
    check("-   :material-a:{ .lg .middle } __B__\n\n    ---\n\n    c\n", "1:35 item: B\n5:5 item: c\n");
}

#[test]
fn directives_of_myst() {
    check(
        "```{note} A *b*\n:class: no\n\nc\n```\n\n````{admonition} D\n---\nclass: no\n---\ne\n```{code-block} py\nno()\n```\n```\nno\n```\n````\nf\n\n\
         ```{code-cell}\nno()\n```\n\n```{toctree}\nno\n```\n\n```{python}\nno\n```\n\n(no)=\n- ```{figure} no.png\n  :alt: no\n\n  g {ref}`h <no>`\n  ```\n- i\n",
        "1:11 paragraph: A b\n4:1 paragraph: c\n7:18 paragraph: D\n11:1 paragraph: e\n19:1 paragraph: f\n\
         37:3 item: g h\n39:3 item: i\n",
    );
}

#[test]
fn lines_of_a_directive_may_be_indented_less_than_its_fence() {
    check("  ```{note}\na\n  ```\nb\n", "2:1 paragraph: a\n4:1 paragraph: b\n");
}

#[test]
fn directives_between_colons() {
    check(
        "::::{tab-set}\n:::{tab-item} A\n:sync: no\n\nb\n:::\n:::{code-block} py\nno()\n\nno()\n:::\n:::{unknown} no\nc\n:::\n::::\nd\n",
        "2:15 paragraph: A\n5:1 paragraph: b\n13:1 paragraph: c\n16:1 paragraph: d\n",
    );
}

#[test]
fn containers_in_items() {
    check(
        "1. a\n\n   :::tip B c\n   d\n   :::\n2. e\n   ::: details\n   f\n   :::\n- :::note\n  g\n  :::\n\n:::: note\n::: tip[H]{x=\"no\"}\ni\n:::\n::::\n",
        "1:4 item: a\n3:11 item: B c\n4:4 item: d\n6:4 item: e\n8:4 item: f\n11:3 item: g\n15:9 paragraph: H\n16:1 paragraph: i\n",
    );
}

#[test]
fn shortcodes_of_hugo() {
    check(
        "{{< note >}}\na {{< b text=\"c\" >}} d.\n{{< /note >}}\n\n{{% tip title=\"E f\" %}}\ng\n{{% /tip %}}\n\n{{< figure\n  src=\"no\"\n  caption=\"H\" >}}\n\n\
         {{< highlight go >}}\nno()\n{{< no >}}\n{{< /highlight >}}\n\n{% highlight rb %}\nno\n{% endhighlight %}\ni {{< /* j */ >}}k {{< l\n",
        "2:1 paragraph: a c d.\n5:16 paragraph: E f\n6:1 paragraph: g\n11:12 paragraph: H\n21:1 paragraph: i k {{< l\n",
    );
}

#[test]
fn texts_of_components_in_mdx() {
    tests::check(
        Markup::Mdx,
        "<Card title=\"A b\" href=\"/no\" description={'C'}>\n  D *e*\n</Card>\n\n<Tabs>\n  <Tab label=\"F\">\n    - g\n    - h\n\n      i\n  </Tab>\n</Tabs>\n\n\
         j <Badge text=\"k\" title=\"no\" />l <img alt=\"m\" title=\"no\" />\n\n1. <Step\n     title=\"N\">\n   o\n   </Step>\n<div title=\"no\">p</div>\n",
        "1:14 paragraph: A b\n1:44 paragraph: C\n2:3 paragraph: D e\n6:15 paragraph: F\n7:7 item: g\n8:7 item: h\n10:7 item: i\n\
         14:1 paragraph: j k l m\n17:13 item: N\n18:4 item: o\n20:17 paragraph: p\n",
    );
}

#[test]
fn definitions_and_footnotes() {
    check(
        "A\n:   b\n\n    c\n\n`d`\n\n: !!! note\n\n        e\n\nf[^1]\n\n[^1]:\n    g\n\n    :::tip\n    h\n    :::\n\n:no: i\n",
        "1:1 paragraph: A\n2:5 paragraph: b\n4:5 paragraph: c\n6:2 paragraph: d\n10:9 paragraph: e\n12:1 paragraph: f\n\
         15:5 paragraph: g\n18:5 paragraph: h\n21:1 paragraph: :no: i\n",
    );
}
