//! Reports of `dedup check`: they follow the rules of their consumers, and reported positions are correct.

use super::shell::{Shell, root};
use crate::release::{script, yaml};
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// Forty words that occur nowhere else.
const COPY: &str = "alder birch cedar dogwood elder fir gum hazel ironwood juniper katsura larch maple nutmeg oak pine quince rowan \
    spruce teak ulmus viburnum willow xylosma yew zelkova ash beech cherry durian ebony fig guava hickory ivy jacaranda kapok lime mango \
    neem olive";

/// Pages with a name and a text to trip over, and the same in all of them.
fn hostile() -> Shell {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("docs")).unwrap();
    let names = [
        "<script>alert(1)<b>.md",
        "\"quo'te\" onload=x.md",
        "a,b:c%d;e.md",
        "new\nline.md",
        "[a](b) {0}.md",
        "ünï 中.md",
    ];
    for (number, name) in names.iter().enumerate() {
        let own: String =
            (0..60).map(|word| format!("own{}x{word} ", ["a", "b", "c", "d", "e", "f"][number])).collect();
        let hostile = "`</script><script>alert(2)</script>` ]]> \\[x](y) &amp;lt; \u{1}\u{1b} 100 %";
        shell.write(&format!("docs/{name}"), format!("# <i>It</i> & 'so' on\n\n{own}\n\n{COPY} {hostile} end.\n"));
    }
    shell
}

/// For each of these names, a page that shares a passage with one of a plain name, which comes before it.
fn hostile_pairs() -> Shell {
    let shell = hostile();
    let names: BTreeSet<_> =
        fs::read_dir(shell.folder().join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    for (number, path) in names.iter().filter(|path| path.is_file()).enumerate() {
        let text = format!("{} `</script>` \\[x](y) 100 %", own(&format!("shared{number}x"), 50));
        fs::write(path, format!("# It\n\n{}\n\n{text}\n", own(&format!("first{number}x"), 60))).unwrap();
        shell.write(&format!("docs/!{number}.md"), format!("{}\n\n{text}\n", own(&format!("other{number}x"), 60)));
    }
    shell
}

fn report(shell: &Shell, format: &str) -> String {
    let run = shell.dedup(&format!("check docs -q --report {format}"));
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    run.stdout
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

#[test]
fn sarif_follows_its_schema() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    // A pattern for languages has a bracket too many, which strict readers of patterns do not take.
    let schema = read("fixtures/sarif/sarif-schema-2.1.0.json").replace("{2}]?$", "{2}$");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let schema = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let shell = hostile();
    let mut log: Value = serde_json::from_str(&report(&shell, "sarif")).unwrap();
    let errors: Vec<String> = schema.iter_errors(&log).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");

    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    // Six places of one text.
    assert_eq!(results.len(), 1);
    for result in results {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        let related = result["relatedLocations"].as_array().unwrap();
        let ids: Vec<u64> = related.iter().map(|related| related["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, [1, 2, 3, 4, 5], "what the links in the message lead to");
        let message = result["message"]["text"].as_str().unwrap();
        assert!(message.contains("](3) and 2 more places. Proposal: keep "), "{message}");
        let links = message.match_indices("](").filter(|(at, _)| message.as_bytes()[at - 1] != b'\\').count();
        assert_eq!(links, 3, "brackets of a name are no link: {message}");
    }
    let empty = shell.dedup("check fixtures/prose/README.md -q --report sarif").done();
    assert!(schema.is_valid(&serde_json::from_str(&empty).unwrap()));
    for why in ["--update-baseline --reason So", "--fail-on any"] {
        let accepted = shell.sh(&format!("dedup check docs -q --baseline b.json {why} --report sarif")).stdout;
        assert_eq!(accepted.contains("\"justification\": \"So\""), why.ends_with("any"));
        assert!(schema.is_valid(&serde_json::from_str(&accepted).unwrap()));
    }

    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] = "a b\n".into();
    log["runs"][0]["results"][0]["level"] = "bad".into();
    assert_eq!(schema.iter_errors(&log).count(), 2, "the schema is one that finds errors");
}

/// The attributes of an element, unescaped.
fn attributes(element: &BytesStart) -> Vec<(String, String)> {
    let attribute = |attribute: Result<quick_xml::events::attributes::Attribute, _>| {
        let attribute = attribute.expect("attributes are well formed");
        let value = attribute.unescape_value().unwrap().into_owned();
        (String::from_utf8(attribute.key.0.to_vec()).unwrap(), value)
    };
    element.attributes().map(attribute).collect()
}

/// The elements of `junit-10.xsd`, of Jenkins, with their required and optional parts.
#[test]
fn junit_is_as_its_readers_agree() {
    let shell = hostile();
    for (text, [failures, passed]) in
        [(report(&shell, "junit"), [1, 0]), (shell.dedup("check docs -q --fail-on none --report junit").done(), [0, 1])]
    {
        junit(&text, failures, passed);
    }
}

fn junit(text: &str, failures: usize, passed: usize) {
    let rules: [(&str, &str, &[&str], &[&str]); 5] = [
        ("testsuites", "", &[], &["name", "time", "tests", "failures", "disabled", "errors"]),
        (
            "testsuite",
            "testsuites",
            &["name", "tests"],
            &["failures", "errors", "time", "skipped", "timestamp", "hostname", "id"],
        ),
        ("testcase", "testsuite", &["name"], &["classname", "time", "file", "line", "assertions", "status"]),
        ("failure", "testcase", &[], &["message", "type"]),
        ("system-out", "testcase", &[], &[]),
    ];
    let (mut reader, mut open, mut counts) = (Reader::from_str(text), Vec::<String>::new(), [0; 5]);
    let mut reported = Vec::new();
    loop {
        match reader.read_event().expect("the report is well formed") {
            Event::Start(element) => {
                let name = String::from_utf8(element.name().0.to_vec()).unwrap();
                let rule = rules.iter().position(|rule| rule.0 == name).unwrap_or_else(|| panic!("{name}"));
                let (_, parent, must, may) = rules[rule];
                assert_eq!(open.last().map_or("", String::as_str), parent);
                let found = attributes(&element);
                assert!(must.iter().all(|must| found.iter().any(|(key, _)| key == must)), "{name} {found:?}");
                assert!(found.iter().all(|(key, _)| must.contains(&key.as_str()) || may.contains(&key.as_str())));
                let number = |key: &str| found.iter().find(|(k, _)| k == key).map(|(_, n)| n.parse::<usize>().unwrap());
                reported.extend(["tests", "failures"].iter().filter_map(|key| number(key)));
                counts[rule] += 1;
                open.push(name);
            }
            Event::End(_) => drop(open.pop()),
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty());
    assert_eq!(counts, [1, 1, 1, failures, passed]);
    assert_eq!(reported, [1, failures, 1, failures]);
    let is_legal =
        |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(text.chars().all(is_legal), "XML 1.0 has no other characters");
}

/// As the runner reads it: <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.
#[test]
fn github_reads_what_was_meant() {
    let shell = hostile_pairs();
    let unescaped = |text: &str| {
        let text = text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",");
        text.replace("%25", "%")
    };
    let text = report(&shell, "github");
    let mut files = BTreeSet::new();
    for line in text.lines() {
        let (properties, message) = line.strip_prefix("::error ").and_then(|line| line.split_once("::")).unwrap();
        let properties: Vec<(&str, String)> = properties
            .split(',')
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(key, value)| (key, unescaped(value)))
            .collect();
        let keys: Vec<&str> = properties.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["file", "line", "endLine", "col", "endColumn", "title"]);
        assert!(shell.folder().join(&properties[0].1).is_file(), "{line}");
        assert_eq!(properties[5].1, "Copied passage");
        let message = unescaped(message);
        assert!(
            message.contains(" % alike; also at docs/")
                && message.contains("\nThe same words: ")
                && message.contains("\nproposal: keep "),
            "{message}"
        );
        files.insert(properties[0].1.clone());
    }
    assert_eq!(text.lines().count(), 6);
    assert!(files.contains("docs/new\nline.md") && files.contains("docs/a,b:c%d;e.md"), "{files:?}");
}

/// What the code quality report of GitLab must have.
#[test]
fn gitlab_has_what_it_needs() {
    let shell = hostile_pairs();
    let issues: Vec<Value> = serde_json::from_str(&report(&shell, "gitlab")).unwrap();
    assert_eq!(issues.len(), 6);
    let mut fingerprints = BTreeSet::new();
    for issue in &issues {
        let keys: Vec<&String> = issue.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["check_name", "description", "fingerprint", "location", "severity"]);
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&issue["severity"].as_str().unwrap()));
        assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() >= 1);
        assert!(shell.folder().join(issue["location"]["path"].as_str().unwrap()).is_file());
        fingerprints.insert(issue["fingerprint"].as_str().unwrap());
    }
    assert_eq!(fingerprints.len(), issues.len(), "each has its own fingerprint");
}

#[test]
fn the_page_needs_nothing_else_and_runs_nothing_of_others() {
    let shell = hostile();
    let page = report(&shell, "html");
    let ours = page.to_lowercase();
    for outside in ["http://", "https://", "src=\"", "href=\"", "@import", "url(", "<link", "<iframe", "<img", "<base"]
    {
        assert!(!ours.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'") && !page.contains("unsafe"));
    // The data and our own script.
    assert_eq!(ours.matches("<script").count(), 2);
    assert_eq!(ours.matches("</script").count(), 2);
    let data = page_data(&page);
    let paths: Vec<&str> = data["pages"].as_array().unwrap().iter().map(|page| page[0].as_str().unwrap()).collect();
    assert!(paths.contains(&"docs/<script>alert(1)<b>.md") && paths.contains(&"docs/new\\nline.md"), "{paths:?}");
    let (before, after) = page.split_once("id=\"data\">").unwrap();
    assert!(!before.contains("alert") && !before.contains("onload"));
    assert!(!after.split_once("</script>").unwrap().0.contains('<'), "nothing in the data can end its element");
    assert!(sides(&page)[0].1.contains("</script><script>alert(2)</script>"));
}

/// The size of the page is limited, also with many copies.
#[test]
fn many_copies_make_no_large_page() {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("docs")).unwrap();
    for page in 0..2 {
        let paragraph = |number: usize| {
            let words = own(&format!("a{number}x"), 45);
            format!("{words} {}\n\n{}\n", own(&format!("p{page}b{number}x"), 3), own(&format!("p{page}c{number}x"), 30))
        };
        shell.write(&format!("docs/{page}.md"), (0..6000).map(paragraph).collect::<Vec<_>>().join("\n"));
    }
    let page = report(&shell, "html --file-similarity 1");
    let data = page_data(&page);
    assert_eq!(data["findings"].as_array().unwrap().len(), 6000);
    let list = list(&page);
    let listed = list.matches("<details class=\"copy error\">").count();
    assert!(list.len() <= 1_000_100 && (1_000..6_000).contains(&listed), "{} bytes, {listed} copies", list.len());
    let more = format!("{},{:03} more copies not shown", (6000 - listed) / 1000, (6000 - listed) % 1000);
    assert!(list.contains(&more), "{more}");
    assert!(page.len() < 5_000_000 && data["kept"].as_u64() < Some(1000), "{} bytes, {}", page.len(), data["kept"]);
}

/// A comment has a limit, and nothing of a page in it is markup.
#[test]
fn the_comment_is_short_and_safe() {
    let shell = hostile_pairs();
    let comment = report(&shell, "markdown");
    assert!(comment.starts_with("<!-- dedup check -->\n### dedup check: 6 copies\n"), "{comment}");
    assert_eq!(comment.matches("<details>").count(), 6);
    assert_eq!(comment.matches("<summary>").count(), 6);
    assert!(comment.contains("<li><code>docs/new\\nline.md:5</code>"), "{comment}");
    assert!(!comment.contains("<script") && comment.contains("<code>docs/&lt;script&gt;alert(1)&lt;b&gt;.md:5</code>"));
    let linked = report(&shell, "markdown --link vscode://file/{root}/{path}:{line}");
    let root = fs::canonicalize(shell.folder()).unwrap();
    assert!(linked.contains(&format!("<a href=\"vscode://file{}/docs/%22quo%27te%22", root.display())), "{linked}");

    let paragraph = |number: usize| format!("{}\n\n", own(&format!("many{number}x"), 45));
    for page in ["a", "b"] {
        let text = |number: usize| format!("{}{}\n\n", paragraph(number), own(&format!("{page}{number}x"), 30));
        shell.write(&format!("docs/{page}.md"), (0..500).map(text).collect::<String>());
    }
    let comment = report(&shell, "markdown --file-similarity 1");
    assert!((60_000..65_000).contains(&comment.chars().count()), "{}", comment.chars().count());
    let left = comment.lines().last().unwrap();
    let left: usize = left.split_once(" more copies left off").unwrap().0.parse().unwrap();
    assert_eq!(comment.matches("<details>").count() + left, 506);
    assert!(comment.contains("<li><code>docs/b.md</code>: 22,500 words in 500 copies</li>"), "{comment:.2000}");
}

/// A step's summary is appended to, if there is a report for GitHub.
#[test]
fn a_summary_for_a_step() {
    let shell = hostile();
    shell.write("summary.md", "# Before\n");
    let run = |line: &str| shell.sh(&format!("GITHUB_STEP_SUMMARY=\"$PWD/summary.md\" dedup check docs -q {line}"));
    assert_eq!(run("--report human").status, 1);
    assert_eq!(fs::read_to_string(shell.folder().join("summary.md")).unwrap(), "# Before\n");
    assert_eq!(run("--report github").status, 1);
    let summary = fs::read_to_string(shell.folder().join("summary.md")).unwrap();
    assert_eq!(summary, format!("# Before\n{}", report(&shell, "markdown")));
    // Not a file that is something else.
    let page = shell.sh("cp docs/ünï* docs/x.md; GITHUB_STEP_SUMMARY=docs/x.md dedup check docs -q --report github");
    assert!(page.status == 2 && page.stderr.contains("appended to a checked page, docs/x.md"), "{}", page.stderr);
    let read = shell.sh("dedup check docs -q --baseline b.json --update-baseline; \
         GITHUB_STEP_SUMMARY=b.json dedup check docs -q --baseline b.json --report github");
    assert!(read.status == 2 && read.stderr.contains("cannot be both"), "{}", read.stderr);
    // If it cannot be written, the report is.
    let full = shell.sh("GITHUB_STEP_SUMMARY=/dev/full dedup check docs -q --report github");
    assert!(full.status == 2 && full.stderr.contains("/dev/full") && full.stdout.contains("::error "), "{full:?}");
    let both = run("--report github=summary.md");
    assert!(both.status == 2 && both.stderr.contains("cannot be both"), "{}", both.stderr);
}

/// A paragraph of this many words of a kind that occur nowhere else.
fn own(kind: &str, words: usize) -> String {
    (0..words).map(|word| format!("{kind}{word}")).collect::<Vec<_>>().join(" ")
}

/// The data of the page.
fn page_data(html: &str) -> Value {
    let data = html.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(data).unwrap()
}

/// What the page shows where its script does not run.
fn list(html: &str) -> &str {
    html.split_once("<div id=\"list\">\n").unwrap().1.split_once("</div>\n<p><button").unwrap().0
}

#[test]
fn the_page_can_be_read_without_its_script() {
    let shell = hostile_pairs();
    let page = report(&shell, "html --link vscode://file/{root}/{path}:{line}");
    // Tags are balanced, and nothing of a page is one.
    let list = list(&page);
    let mut reader = Reader::from_str(list);
    let (mut open, mut classes, mut text) = (Vec::new(), Vec::new(), String::new());
    loop {
        match reader.read_event().expect("the list is well formed") {
            Event::Start(element) => {
                let name = String::from_utf8(element.name().0.to_vec()).unwrap();
                let known = ["details", "summary", "span", "div", "ul", "li", "a", "p", "section", "h3", "ins", "del"];
                assert!(known.contains(&name.as_str()), "{name}");
                for (key, value) in attributes(&element) {
                    assert!(["class", "href", "target", "rel", "tabindex"].contains(&key.as_str()), "{key}");
                    classes.extend((key == "class").then_some(value));
                }
                open.push(name);
            }
            Event::End(element) => assert_eq!(open.pop().unwrap().as_bytes(), element.name().0),
            Event::Text(part) => text += &String::from_utf8_lossy(&part),
            Event::GeneralRef(name) => text += &format!("&{};", String::from_utf8_lossy(&name)),
            Event::Eof => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(open.is_empty());
    assert_eq!(classes.iter().filter(|class| *class == "copy error").count(), 6);
    assert_eq!(list.matches("<div class=\"sides\">").count(), 6);
    assert_eq!(text.matches("Proposal: keep the text in docs/").count(), 6, "{text}");
    for part in [
        "docs/&lt;script&gt;alert(1)&lt;b&gt;.md:5:1",
        "docs/new\\nline.md:5:1",
        "shared0x0 shared0x1",
        "shared5x49",
        "&lt;/script&gt;",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let root = fs::canonicalize(shell.folder()).unwrap();
    assert!(list.contains(&format!("href=\"vscode://file{}/docs/", root.display())), "{list}");
    // The differences, what is accepted, and nothing.
    shell.write("docs/x.txt", format!("{}\n\n{} {}\n", own("fx", 60), own("one", 30), own("two", 30)));
    shell.write("docs/y.txt", format!("{}\n\n{} other {}\n", own("fy", 60), own("one", 30), own("two", 29)));
    let with = "check docs/x.txt docs/y.txt -q --baseline b.json --report html";
    let page = shell.dedup(with).stdout;
    assert!(page.contains("one29 <del>two0</del>") || page.contains("one29 <ins>other</ins> two0"), "{page}");
    shell.dedup(&format!("{with} --update-baseline")).done();
    assert!(self::list(&shell.dedup(with).done()).contains("<details class=\"copy error accepted\">"));
    let empty = shell.dedup("check fixtures/prose/README.md -q --report html").done();
    assert!(self::list(&empty).contains("No copies were found."));
}

/// One similarity in all reports: of a file that a larger one contains, the share of it, whatever the order of the two.
#[test]
fn the_share_of_a_file_in_a_larger_one() {
    for small in ["a", "c"] {
        let shell = Shell::new();
        fs::create_dir(shell.folder().join("docs")).unwrap();
        shell.write(&format!("docs/{small}.txt"), format!("{}\n", own("shared", 100)));
        let most = own("shared", 95).replacen("shared50 ", &format!("{} ", own("inserted", 20)), 1);
        shell.write("docs/b.txt", format!("{}\n\n{most}\n\n{}\n", own("before", 200), own("after", 50)));
        let name = format!("docs/{small}.txt");
        assert!(report(&shell, "human").contains(&format!("94 % of {name} is in docs/b.txt")));
        let place = &lines(&report(&shell, "jsonl"))[0]["places"][1];
        assert_eq!((&place["of"], &place["similarity"]), (&0.into(), &0.94.into()), "{place}");
        let contained = place["contained"].as_f64().unwrap();
        assert!(if small == "c" { contained == 0.94 } else { contained < 0.9 }, "{place}");
        let sarif: Value = serde_json::from_str(&report(&shell, "sarif")).unwrap();
        assert_eq!(sarif["runs"][0]["results"][0]["properties"]["similarity"], 0.94);
        assert_eq!(page_data(&report(&shell, "html"))["findings"][0][9][0][2], 94);
    }
}

/// What the page shows of both places of its copies, in turn: with the marks that it sets, and without them.
fn sides(html: &str) -> Vec<(String, String)> {
    let data = page_data(html);
    let side = |codes: &Value, own: &str| {
        let (mut marked, mut plain) = (String::new(), String::new());
        for code in codes.as_array().unwrap().iter().map(|code| code.as_u64().unwrap() as usize) {
            let text = data["strings"][code / 9].as_str().unwrap();
            let space = ["", " ", "\n\n"][code % 3];
            marked += &match code / 3 % 3 {
                0 => text.to_string(),
                1 => format!("<{own}>{text}</{own}>"),
                _ => format!("<span class=\"faint\">{text}</span>"),
            };
            marked += space;
            plain += &format!("{text}{space}");
        }
        (marked.trim_end().to_string(), plain.trim_end().to_string())
    };
    let findings = data["findings"].as_array().unwrap();
    let pairs = findings.iter().map(|finding| &finding[9][0]);
    pairs.flat_map(|pair| [side(&pair[4], "del"), side(&pair[5], "ins")]).collect()
}

/// Each place in its own order, whatever the order of the other is.
#[test]
fn files_in_another_order() {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("docs")).unwrap();
    let [one, two, three] = ["one", "two", "three"].map(|kind| own(kind, 60));
    let a = format!("Title\n\n{one} (new {two}\n\n{three}");
    let b = format!("TITLE\n\n{three} there\n\n{one} beyond “{two}");
    shell.write("docs/a.txt", &a);
    shell.write("docs/b.txt", &b);
    let html = report(&shell, "html");
    let sides = sides(&html);
    assert_eq!(sides.iter().map(|side| side.1.as_str()).collect::<Vec<_>>(), [a, b]);
    assert_eq!(sides[0].0.matches("<del>(new</del> two0").count(), 1, "{}", sides[0].0);
    assert_eq!(sides[0].0.matches("<del>").count(), 1);
    assert_eq!(sides[1].0.matches("<ins>there</ins>\n\none0").count(), 1, "{}", sides[1].0);
    assert_eq!(sides[1].0.matches("<ins>beyond</ins> “two0").count(), 1, "{}", sides[1].0);
    assert_eq!(sides[1].0.matches("<ins>").count(), 2);
    assert_eq!(page_data(&html)["findings"][0][9][0][3], 1, "in another order");
    let human = report(&shell, "human");
    let text = human.lines().nth(2).unwrap().trim_start();
    let parts = [
        "Some of it is in another order. … three55 three56 three57 three58 three59 {+there+} ¶ ",
        "one0 one1 one2 one3 one4 … one55 one56 one57 one58 one59 [-(new-]{+beyond+} “two0 two1 two2 two3 two4 …",
    ];
    assert_eq!(text, parts.concat());
    let junit = report(&shell, "junit");
    assert!(
        junit.contains(&format!(
            ">{}\nproposal: if both should say the same (3 words differ), keep docs/a.txt or docs/b.txt, ",
            text
        )),
        "{junit}"
    );

    // Nothing but another order, and nothing at all.
    shell.write("docs/a.txt", format!("Title\n\n{one}\n\n{two}\n"));
    shell.write("docs/b.txt", format!("TITLE\n\n{two}\n\n{one}\n"));
    assert!(
        report(&shell, "human")
            .contains("99 % alike\nalso at docs/a.txt:1:1\n    The same words in another order: TITLE two0 two1 ")
    );
    shell.write("docs/b.txt", format!("Title\n\n{one}\n{two}!\n"));
    assert!(
        report(&shell, "human").contains("100 % alike\nalso at docs/a.txt:1:1\n    The same words: Title one0 one1 ")
    );
}

/// Of a page that holds all the others, what it has besides the one is not shown.
#[test]
fn what_a_larger_file_has_besides_is_left_out() {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("docs")).unwrap();
    let halves =
        [0, 1].map(|half| (0..30).map(|page| own(&format!("page{page}x{half}x"), 50)).collect::<Vec<String>>());
    let page = |page: usize| halves.each_ref().map(|half| half[page].clone());
    (0..30).for_each(|number| shell.write(&format!("docs/{number:02}.txt"), page(number).join("\n\n")));
    // The halves of a page are far apart.
    shell.write("docs/all.txt", halves.concat().join("\n\n"));
    let html = report(&shell, "html");
    let sides = sides(&html);
    assert_eq!(sides.len(), 60);
    for number in 0..30 {
        let [before, between, after] = [50 * number, 1_450, 50 * (29 - number)].map(|words| match words {
            0 => String::new(),
            1_000.. => format!("<span class=\"faint\">[… {},{:03} words …]</span>", words / 1000, words % 1000),
            _ => format!("<span class=\"faint\">[… {words} words …]</span>"),
        });
        let [first, second] = page(number);
        let parts = [before, first, between, second, after];
        // First the larger file, then the one to look at.
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        assert_eq!(sides[2 * number].0, parts.join("\n\n"));
        assert_eq!(sides[2 * number + 1].1, page(number).join("\n\n"));
    }
    let human = report(&shell, "human");
    assert!(human.contains("page7x0x0 page7x0x1 page7x0x2 page7x0x3 page7x0x4 …"), "{human}");
    assert_eq!(human.matches("page7x0x20").count(), 0);
    let left_out = ["350", "1,450", "1,100"].map(|words| format!("[-… {words} words …-]"));
    assert!(left_out.iter().all(|mark| human.contains(mark)), "{human}");
}

/// Of a larger file, the place is the part with the copy, if it is one part.
#[test]
fn the_part_of_a_larger_file() {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("docs")).unwrap();
    let pages: Vec<String> = (0..4).map(|page| own(&format!("page{page}x"), 100)).collect();
    pages.iter().enumerate().for_each(|(number, page)| shell.write(&format!("docs/{number}.txt"), page));
    shell.write("docs/all.txt", pages.join("\n\n"));
    let found = lines(&report(&shell, "jsonl"));
    assert_eq!(found.len(), 4);
    for (number, found) in found.iter().enumerate() {
        assert_eq!((&found["kind"], &found["words"]), (&"file".into(), &100.into()));
        let place = found["places"].as_array().unwrap().iter().find(|place| place["path"] == "docs/all.txt").unwrap();
        assert_eq!(cut(&shell, place), pages[number]);
    }
    let human = report(&shell, "human");
    assert!(human.contains("100 % of docs/2.txt is in docs/all.txt"), "{human}");
    assert!(!human.contains("redirect"), "{human}");
}

/// Of whole files the differences are shown, and how many are not.
#[test]
fn differences_of_whole_files() {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("docs")).unwrap();
    let words: Vec<String> = (0..2000).map(|word| format!("word{word}")).collect();
    let changed = words.iter().enumerate().map(|(number, word)| match number {
        700 => format!("(see {word})"),
        750 => format!("{} {word}", own("more", 40)),
        number if number >= 1000 && number % 40 == 0 => format!("other{number}"),
        _ => word.clone(),
    });
    let changed: Vec<String> = changed.collect();
    shell.write("docs/a.txt", words.join(" "));
    shell.write("docs/b.txt", changed.join(" "));
    let human = report(&shell, "human");
    let text = human.lines().nth(2).unwrap().trim_start();
    let start = [
        "… word695 word696 word697 word698 word699 {+(see+} word700) word701 word702 word703 word704 ",
        "… word745 word746 word747 word748 word749 {+more0 more1 more2 more3 more4 more5 more6 more7 more8 more9 … 30 words …+} ",
        "word750 word751 word752 word753 word754 … word995 word996 word997 word998 word999 ",
        "[-word1000-]{+other1000+} word1001",
    ];
    assert!(text.starts_with(&start.concat()), "{text}");
    let (shown, more) = text.rsplit_once("… and ").unwrap();
    let more: usize = more.strip_suffix(" more differences").unwrap().parse().unwrap();
    assert_eq!(shown.matches("{+").count() + more, 27, "{text}");
    assert!((600..800).contains(&shown.chars().count()));
}

/// The text around a passage that does not begin or end with its paragraph.
#[test]
fn words_around_a_passage() {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("docs")).unwrap();
    shell.write(
        "docs/a.txt",
        format!("{}\n\nin the house (that {COPY}). {}\n\nMore", own("first", 60), own("last", 60)),
    );
    shell.write("docs/b.txt", format!("{} [{COPY}], after it.\n\n{}", own("other", 60), own("end", 60)));
    let html = report(&shell, "html");
    let [a, b]: [String; 2] = sides(&html).into_iter().map(|side| side.0).collect::<Vec<_>>().try_into().unwrap();
    let copy = COPY.split_whitespace().collect::<Vec<_>>().join(" ");
    let last = "last0 last1 last2 last3 last4 last5 last6 last7 …";
    assert_eq!(
        a,
        format!("<span class=\"faint\">in the house (that </span>{copy}). <span class=\"faint\">{last}</span>")
    );
    let other = "… other52 other53 other54 other55 other56 other57 other58 other59 ";
    assert_eq!(b, format!("<span class=\"faint\">{other}</span>[{copy}], <span class=\"faint\">after it.</span>"));
}

/// Three formats need paths relative to the root of the repository; the others are read where the command ran.
#[test]
fn paths_start_where_the_repository_does() {
    let shell = Shell::new();
    fs::create_dir_all(shell.folder().join("repo/site/docs")).unwrap();
    for (number, page) in ["repo/site/docs/a.md", "repo/b.md", "out.md"].iter().enumerate() {
        shell.write(page, format!("{}\n\n{COPY}\n", own(&format!("own{number}x"), 60)));
    }
    let paths = |format: &str, given: &str| {
        let run = shell.sh(&format!("cd repo/site; dedup check {given} -q --report {format}"));
        assert_eq!((run.status, run.stderr.as_str()), (1, ""));
        run.stdout
    };
    let sarif = |given: &str| {
        let log: Value = serde_json::from_str(&paths("sarif", given)).unwrap();
        let base = log["runs"][0]["originalUriBaseIds"]["%SRCROOT%"]["description"]["text"].clone();
        let result = &log["runs"][0]["results"][0];
        let [here, there] = [&result["locations"], &result["relatedLocations"]]
            .map(|locations| locations[0]["physicalLocation"]["artifactLocation"].clone());
        (base, here, there)
    };
    let below = |path: &str| serde_json::json!({ "uri": path, "uriBaseId": "%SRCROOT%" });
    // Nothing upward is a repository.
    assert_eq!(
        sarif("docs ../b.md"),
        ("The folder that dedup check ran in.".into(), below("docs/a.md"), below("../b.md"))
    );
    assert!(paths("github", "docs ../b.md").starts_with("::error file=docs/a.md,"));
    // In a working tree of another repository it is a file.
    shell.write("repo/.git", "gitdir: elsewhere\n");
    assert_eq!(sarif("docs ../b.md"), ("The root of the repository.".into(), below("site/docs/a.md"), below("b.md")));
    let github = paths("github", "docs ../b.md");
    assert!(github.starts_with("::error file=site/docs/a.md,") && github.contains("; also at b.md:3%0A"), "{github}");
    let gitlab: Value = serde_json::from_str(&paths("gitlab", "docs ../b.md")).unwrap();
    assert_eq!(gitlab[0]["location"]["path"], "site/docs/a.md");
    assert!(gitlab[0]["description"].as_str().unwrap().contains("; also at b.md:3; proposal: keep "));
    assert_eq!(lines(&paths("jsonl", "docs ../b.md"))[0]["places"][0]["path"], "../b.md");
    for format in ["human", "junit", "html"] {
        let text = paths(format, "docs ../b.md").replace("&#x2f;", "/");
        assert!(text.contains("docs/a.md") && text.contains("../b.md") && !text.contains("site/docs"), "{text}");
    }
    // Outside of it, and absolute.
    let (_, here, there) = sarif("docs ../../out.md");
    assert_eq!((here, there), (below("site/docs/a.md"), serde_json::json!({ "uri": "../../out.md" })));
    let (_, here, _) = sarif("\"$PWD\"/../b.md docs");
    let absolute = shell.folder().join("repo/site/../b.md");
    let other = sarif("\"$PWD\"/../b.md docs").2;
    assert!([here, other].contains(&serde_json::json!({ "uri": format!("file://{}", absolute.display()) })));
}

/// Names are bytes there.
#[test]
#[cfg(target_os = "linux")]
fn sarif_reports_names_that_are_not_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let shell = Shell::new();
    fs::create_dir_all(shell.folder().join("repo/docs")).unwrap();
    for (number, name) in [&b"repo/docs/a\xff\xfe b.md"[..], b"out\xe4.md"].into_iter().enumerate() {
        let text = format!("{}\n\n{COPY}\n", own(&format!("own{number}x"), 60));
        fs::write(shell.folder().join(OsStr::from_bytes(name)), text).unwrap();
    }
    let uris = |given: &str| {
        let run = shell.sh(&format!("cd repo; dedup check {given} -q --report sarif"));
        let log: Value = serde_json::from_str(&run.stdout).unwrap();
        let result = &log["runs"][0]["results"][0];
        let mut uris = [&result["locations"], &result["relatedLocations"]].map(|locations| {
            let artifact = &locations[0]["physicalLocation"]["artifactLocation"];
            (artifact["uri"].as_str().unwrap().to_string(), artifact.get("uriBaseId").is_some())
        });
        uris.sort();
        uris
    };
    let folder = fs::canonicalize(shell.folder()).unwrap();
    let [inside, outside] =
        ["repo/docs/a%FF%FE%20b.md", "out%E4.md"].map(|path| (format!("file://{}/{path}", folder.display()), false));
    let below = ("docs/a%FF%FE%20b.md".to_string(), true);
    assert_eq!(uris("docs .."), [below.clone(), outside.clone()]);
    shell.write("repo/.git", "gitdir: elsewhere\n");
    assert_eq!(uris("docs .."), [below, outside.clone()]);
    assert_eq!(uris("\"$PWD\"/docs .."), [outside, inside]);
}

/// The text of a file from a place to the end of it, by line and column in characters.
fn cut(shell: &Shell, at: &Value) -> String {
    let source = fs::read_to_string(shell.folder().join(at["path"].as_str().unwrap())).unwrap();
    let byte = |position: &Value| {
        let [line, column] = ["line", "column"].map(|key| position[key].as_u64().unwrap() as usize);
        let start: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
        start + source[start..].chars().take(column - 1).map(char::len_utf8).sum::<usize>()
    };
    source[byte(&at["start"])..byte(&at["end"])].to_string()
}

/// Words in a markup, wrapped, now and then one of them emphasised.
fn written(markup: &str, words: &[String], width: usize, strong: usize) -> String {
    let mut text = String::new();
    for (number, word) in words.iter().enumerate() {
        let strong = number % strong == strong - 1;
        text += &match (markup, strong) {
            ("md" | "mdx" | "rst", true) => format!("**{word}**"),
            ("adoc", true) => format!("*{word}*"),
            ("html", true) => format!("<b class=\"x\">{word}</b>"),
            _ => word.clone(),
        };
        text.push(if number % width == width - 1 { '\n' } else { ' ' });
    }
    text.trim_end().to_string()
}

fn page(markup: &str, parts: &[String], crlf: bool) -> String {
    let parts: Vec<String> = match markup {
        "html" => parts.iter().map(|part| format!("<div>\n<p>&copy;&nbsp;{part}</p></div>")).collect(),
        _ => parts.to_vec(),
    };
    let page = parts.join("\n\n") + "\n";
    if crlf { page.replace('\n', "\r\n") } else { page }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn reported_positions_are_correct(
        markups in prop::array::uniform2(prop::sample::select(vec!["md", "mdx", "rst", "adoc", "html", "txt"])),
        widths in prop::array::uniform2(3usize..20),
        strong in prop::array::uniform2(2usize..9),
        around in prop::array::uniform4(prop::collection::vec("[a-zé]{1,8}", 0..40)),
        crlf in prop::array::uniform2(any::<bool>()),
    ) {
        let shell = Shell::new();
        fs::create_dir(shell.folder().join("docs")).unwrap();
        let copy: Vec<String> = COPY.split_whitespace().map(String::from).collect();
        for side in 0..2 {
            let own = |part: usize| -> Vec<String> {
                let padding = (0..30).map(|word| format!("own{side}{part}x{word}"));
                padding.chain(around[2 * side + part].iter().map(|word| format!("{}{word}{side}{part}", ["中", "文"][side]))).collect()
            };
            let parts = [own(0), copy.clone(), own(1)].map(|words| written(markups[side], &words, widths[side], strong[side]));
            shell.write(&format!("docs/{}.{}", ["a", "b"][side], markups[side]), page(markups[side], &parts, crlf[side]));
        }
        let found = lines(&report(&shell, "jsonl"));
        prop_assert_eq!(found.len(), 1);
        for place in found[0]["places"].as_array().unwrap() {
            let text = cut(&shell, place);
            prop_assert!(text.starts_with("alder"), "{}", text);
            prop_assert!(text.trim_end_matches(['*', '<', '/', 'b', '>']).ends_with("olive"), "{}", text);
            prop_assert!(!text.contains("own"), "{}", text);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_files_like_others() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("docs")).unwrap();
    for name in [&b"caf\xe9.md"[..], b"caf\xea.md"] {
        fs::write(shell.folder().join("docs").join(OsStr::from_bytes(name)), format!("{COPY}.\n")).unwrap();
    }
    let found = lines(&report(&shell, "jsonl"));
    assert_eq!(found.len(), 1);
    assert_eq!(
        (&found[0]["places"][0]["path"], &found[0]["places"][1]["path"]),
        (&r"docs/caf\xe9.md".into(), &r"docs/caf\xea.md".into())
    );
    // Git lists them by their bytes.
    shell.sh("git init -q .; echo '*.md -text' > .gitattributes; git add .gitattributes").done();
    shell.sh("git -c user.name=t -c user.email=t@t commit -q -m one").done();
    assert_eq!(shell.dedup("check docs -q --since HEAD").status, 1);
    shell.sh("git add .; git -c user.name=t -c user.email=t@t commit -q -m two").done();
    assert_eq!(shell.dedup("check docs -q --since HEAD").status, 0);
}

/// What the action runs, with inputs as GitHub hands them over.
#[test]
fn the_action_runs() {
    let shell = hostile();
    let text = fs::read_to_string(root().join(".github/actions/check/action.yml")).unwrap();
    let action = yaml(&text);
    shell.write("script", script(&action, "Check"));
    let run = |inputs: &str| shell.sh(&format!("{inputs} bash -e script"));
    let all = run("PATHS=docs ARGS='-q --fail-on none'");
    assert_eq!((all.status, all.stdout.lines().count()), (0, 1));
    let fewer = run("PATHS='docs/ünï docs' ARGS='--report sarif=a.sarif --ignore *.md'");
    assert_eq!((fewer.status, fewer.stdout.as_str()), (2, ""), "{}", fewer.stderr);
    assert_eq!(run("PATHS= ARGS=-q").status, 1);
}
