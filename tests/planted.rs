//! A passage within each construct of each markup, and the same passage as a plain paragraph: `check` finds the copy.

use neardups::check::{Request, run};
use std::fs;

const PASSAGE: &str = "The nightly job copies every table to the second server before it removes anything from the first one,\n\
    and it writes down how many rows it has seen, so that the operator can compare both numbers in the morning\n\
    and decide whether the night went well or whether the whole copy has to be made once more by hand.";

/// What else the second page says: neither page is a copy of the other as a whole.
const OTHER: &str = "Lamps of brass hang from the beam near the window, where nobody has to duck when walking past at night. Oil for\n\
    them comes in green bottles, two for every week of winter and one for each of summer; wicks last longer if they are\n\
    trimmed with sharp scissors on Sundays. Broken glass belongs in the iron bucket beside our door, never in any bin.";

/// The name of the construct, the name of the page, and the page with `PASSAGE` where the passage is, whose further lines are
/// indented like the first.
const CONSTRUCTS: &[(&str, &str, &str)] = &[
    ("admonition", "md", "!!! note\n\n    PASSAGE\n"),
    ("admonition without a blank line", "md", "!!! note \"A title\"\n    PASSAGE\n"),
    ("collapsed admonition", "md", "??? note\n\n    PASSAGE\n"),
    ("open admonition", "md", "???+ tip \"A title\"\n\n    PASSAGE\n"),
    ("tab", "md", "=== \"Linux\"\n\n    PASSAGE\n\n=== \"Windows\"\n\n    Other.\n"),
    (
        "admonition in a tab in an item",
        "md",
        "1. One\n\n    === \"Linux\"\n\n        !!! note\n\n            PASSAGE\n",
    ),
    ("list in an admonition", "md", "!!! note\n\n    - PASSAGE\n"),
    (
        "grid of cards",
        "md",
        "<div class=\"grid cards\" markdown>\n\n-   :material-clock:{ .lg } __Title__\n\n    ---\n\n    PASSAGE\n\n</div>\n",
    ),
    ("attribute list", "md", "PASSAGE\n{: .note #id }\n"),
    ("block of pymdown", "md", "/// note | Title\n    open: True\n\nPASSAGE\n///\n"),
    ("directive of MyST", "md", "```{note}\n:class: dropdown\n\nPASSAGE\n```\n"),
    ("directive of MyST with YAML", "md", "````{admonition} Title\n---\nclass: tip\n---\nPASSAGE\n````\n"),
    (
        "nested directives of MyST",
        "md",
        "`````{tab-set}\n````{tab-item} Linux\n```{warning}\nPASSAGE\n```\n````\n`````\n",
    ),
    ("directive between colons", "md", ":::{note}\n:class: tip\nPASSAGE\n:::\n"),
    ("container", "md", "::: warning Title\nPASSAGE\n:::\n"),
    ("container in an item", "md", "1. One\n\n   :::tip Title\n\n   PASSAGE\n\n   :::\n"),
    ("nested containers", "md", "::::: note\n:::: tip[Title]\nPASSAGE\n::::\n:::::\n"),
    ("alert of GitHub", "md", "> [!NOTE]\n> PASSAGE\n"),
    ("shortcode", "md", "{{< note >}}\nPASSAGE\n{{< /note >}}\n"),
    ("shortcode in an item", "md", "1. One\n\n   {{% alert title=\"Title\" %}}\n   PASSAGE\n   {{% /alert %}}\n"),
    ("shortcode in a line", "md", "{{< note >}}PASSAGE{{< /note >}}\n"),
    ("tag of Liquid", "md", "{% hint style=\"info\" %}\nPASSAGE\n{% endhint %}\n"),
    ("description of a card", "mdx", "<Card\n  title=\"A title\"\n  description=\"PASSAGE\"\n/>\n"),
    (
        "text in nested tags",
        "mdx",
        "<Tabs>\n  <Tab title=\"Linux\">\n    <Note>\n      PASSAGE\n    </Note>\n  </Tab>\n</Tabs>\n",
    ),
    ("title of an accordion", "mdx", "<Accordion title='PASSAGE'>\n  Other.\n</Accordion>\n"),
    ("definition", "md", "Term\n:   First.\n\n    PASSAGE\n"),
    ("footnote", "md", "A[^1].\n\n[^1]:\n    PASSAGE\n"),
    (
        "field of a parameter",
        "rst",
        ".. function:: f(a)\n\n   Does it.\n\n   :param int a: PASSAGE\n   :returns: nothing\n",
    ),
    ("field with its text below", "rst", ":returns:\n   PASSAGE\n"),
    ("body of a directive", "rst", ".. function:: f(a, \\\n                b)\n\n   PASSAGE\n"),
    ("description of an element", "html", "<div class=\"toc\">No.</div><p>PASSAGE</p>\n"),
    ("cell of a notebook", "ipynb", "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": \"# A\\n\\nPASSAGE\"}]}\n"),
    ("translation", "po", "msgid \"No.\"\nmsgstr \"PASSAGE\"\n"),
    ("description in YAML", "yaml", "openapi: 3.1.0\ninfo:\n  description: |\n    PASSAGE\n"),
    ("description in JSON", "json", "{\"openapi\": \"3.1.0\", \"info\": {\"description\": \"PASSAGE\"}}\n"),
    ("container in MDX", "mdx", "1. One\n\n   :::tip[Title]\n\n   PASSAGE\n\n   :::\n"),
];

#[test]
fn a_passage_in_any_construct_is_found() {
    let mut lost = Vec::new();
    for (construct, ending, page) in CONSTRUCTS {
        let line = page.lines().find(|line| line.contains("PASSAGE")).unwrap();
        let start = &line[..line.find("PASSAGE").unwrap()];
        // A quotation has its mark in each line; other marks are in the first.
        let indent: String = start.chars().map(|c| if c == '>' { c } else { ' ' }).collect();
        let indent = if start.contains(['=', '<', '{']) { "" } else { &indent };
        // A string has no ends of lines.
        let is_string = ["ipynb", "po", "json"].contains(ending);
        let page = page
            .replace("PASSAGE", &PASSAGE.replace('\n', &if is_string { "\\n".into() } else { format!("\n{indent}") }));
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(format!("one.{ending}")), page).unwrap();
        fs::write(folder.path().join("two.txt"), format!("{OTHER}\n\n{PASSAGE}\n")).unwrap();
        let outcome = run(&Request { folder: folder.path().into(), ..Request::new([folder.path()]) }).unwrap();
        // The same words, from the first to the last.
        let is_whole = |text: &str| text.split_whitespace().eq(PASSAGE.split_whitespace());
        if !outcome.findings.iter().any(|finding| finding.places.iter().all(|place| is_whole(place.text()))) {
            lost.push(format!(
                "{construct}: {:?}",
                outcome.findings.iter().map(|f| f.places[0].text()).collect::<Vec<_>>()
            ));
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
