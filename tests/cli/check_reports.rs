//! Reports of `dedup check`, by the rules of those who read them; and whether places are where they are said to be.

use super::shell::{Shell, root};
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use saphyr::{LoadableYamlNode, Yaml};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// Forty words that stand nowhere else.
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

fn report(shell: &Shell, format: &str) -> String {
    let run = shell.dedup(&format!("check docs -q --report {format}"));
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    run.stdout
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

#[test]
fn sarif_is_as_its_schema_says() {
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
    assert_eq!(results.len(), 5);
    for result in results {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert_eq!(result["relatedLocations"][0]["id"], 1, "what the link in the message leads to");
        let message = result["message"]["text"].as_str().unwrap();
        assert!(message.ends_with("](1)."), "{message}");
        let links = message.match_indices("](").filter(|(at, _)| message.as_bytes()[at - 1] != b'\\').count();
        assert_eq!(links, 1, "brackets of a name are no link: {message}");
    }
    let empty = shell.dedup("check fixtures/prose/README.md -q --report sarif").done();
    assert!(schema.is_valid(&serde_json::from_str(&empty).unwrap()));

    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] = "a b\n".into();
    log["runs"][0]["results"][1]["level"] = "bad".into();
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

/// The elements of `junit-10.xsd`, as Jenkins has it, with what they must and may have.
#[test]
fn junit_is_as_its_readers_agree() {
    let text = report(&hostile(), "junit");
    let rules: [(&str, &str, &[&str], &[&str]); 4] = [
        ("testsuites", "", &[], &["name", "time", "tests", "failures", "disabled", "errors"]),
        (
            "testsuite",
            "testsuites",
            &["name", "tests"],
            &["failures", "errors", "time", "skipped", "timestamp", "hostname", "id"],
        ),
        ("testcase", "testsuite", &["name"], &["classname", "time", "file", "line", "assertions", "status"]),
        ("failure", "testcase", &[], &["message", "type"]),
    ];
    let (mut reader, mut open, mut counts) = (Reader::from_str(&text), Vec::<String>::new(), [0; 4]);
    let mut told = Vec::new();
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
                told.extend(["tests", "failures"].iter().filter_map(|key| number(key)));
                counts[rule] += 1;
                open.push(name);
            }
            Event::End(_) => drop(open.pop()),
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty());
    assert_eq!(counts, [1, 1, 5, 5]);
    assert_eq!(told, [5, 5, 5, 5]);
    let is_legal =
        |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(text.chars().all(is_legal), "XML 1.0 has no other characters");
}

/// As the runner reads it: <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.
#[test]
fn github_reads_what_was_meant() {
    let shell = hostile();
    let unescaped = |text: &str| {
        let text = text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",");
        text.replace("%25", "%")
    };
    let text = report(&shell, "github");
    let mut files = BTreeSet::new();
    for line in text.lines() {
        let (properties, message) = line.strip_prefix("::warning ").and_then(|line| line.split_once("::")).unwrap();
        let properties: Vec<(&str, String)> = properties
            .split(',')
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(key, value)| (key, unescaped(value)))
            .collect();
        let keys: Vec<&str> = properties.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["file", "line", "endLine", "col", "endColumn", "title"]);
        assert!(shell.folder().join(&properties[0].1).is_file(), "{line}");
        assert_eq!(properties[5].1, "Copied passage");
        assert!(unescaped(message).contains(" % alike; the other place is docs/"), "{message}");
        files.insert(properties[0].1.clone());
    }
    assert_eq!(text.lines().count(), 5);
    assert!(files.contains("docs/new\nline.md") && files.contains("docs/a,b:c%d;e.md"), "{files:?}");
}

/// What the code quality report of GitLab must have.
#[test]
fn gitlab_has_what_it_needs() {
    let shell = hostile();
    // The same paragraph twice more, in one file: the same words in the same files.
    shell.write("docs/more.md", format!("{COPY}.\n\nBetween.\n\n{COPY}.\n\nAnd so on.\n\n{COPY}.\n"));
    let issues: Vec<Value> = serde_json::from_str(&report(&shell, "gitlab")).unwrap();
    assert_eq!(issues.len(), 8);
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
    let page = report(&hostile(), "html");
    let ours = page.to_lowercase();
    for outside in ["http://", "https://", "src=\"", "href=\"", "@import", "url(", "<link", "<iframe", "<img", "<base"]
    {
        assert!(!ours.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
    assert_eq!(ours.matches("<script").count(), 1);
    assert_eq!(ours.matches("</script").count(), 1);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;b&gt;.md"));
    assert!(page.contains("&lt;script&gt;alert(2)"));
    // A quote in a name does not end an attribute.
    assert!(page.contains("data-a=\"docs&#x2f;&quot;quo&#x27;te&quot; onload=x.md\""));
    assert_eq!(page.matches("onload").count(), page.matches("&quot; onload=x.md").count());
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
    fn places_are_where_they_are_said_to_be(
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
        for side in ["a", "b"] {
            let text = cut(&shell, &found[0][side]);
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
        (&found[0]["a"]["path"], &found[0]["b"]["path"]),
        (&"docs/caf\u{fffd}.md".into(), &"docs/caf\u{fffd}.md".into())
    );
    // Git tells them by their bytes.
    shell.sh("git init -q .; echo '*.md -text' > .gitattributes; git add .gitattributes").done();
    shell.sh("git -c user.name=t -c user.email=t@t commit -q -m one").done();
    assert_eq!(shell.dedup("check docs -q --since HEAD").status, 1);
    shell.sh("git add .; git -c user.name=t -c user.email=t@t commit -q -m two").done();
    assert_eq!(shell.dedup("check docs -q --since HEAD").status, 0);
}

/// The one document of a file of YAML.
fn yaml(text: &str) -> Yaml<'_> {
    let mut documents = Yaml::load_from_str(text).expect("the file is YAML");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// What <https://pre-commit.com/#new-hooks> asks for.
#[test]
fn the_hook_has_what_pre_commit_needs() {
    let text = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let hooks = yaml(&text);
    let hook = &hooks.as_sequence().expect("a list of hooks")[0];
    let is = |key: &str, value: &str| assert_eq!(hook[key].as_str(), Some(value), "{key}");
    is("id", "dedup-check");
    is("name", "dedup check");
    is("entry", "dedup check");
    is("language", "rust");
    assert_eq!(hook["pass_filenames"].as_bool(), Some(false), "all pages are compared");
    assert!(hook["types_or"].as_sequence().is_some_and(|types| types.len() == 6));
    assert!(!hook.contains_mapping_key("args"), "arguments are for the project to give");
}

/// What a composite action must have: <https://docs.github.com/actions/reference/metadata-syntax-for-github-actions>.
#[test]
fn the_action_has_what_github_needs() {
    let text = fs::read_to_string(root().join(".github/actions/check/action.yml")).unwrap();
    let action = yaml(&text);
    assert!(action["name"].as_str().is_some() && action["description"].as_str().is_some());
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    for input in ["paths", "args"] {
        assert!(action["inputs"][input]["description"].as_str().is_some(), "{input}");
    }
    let steps = action["runs"]["steps"].as_sequence().unwrap();
    let folder = steps[0]["run"].as_str().unwrap().split_once("$GITHUB_ACTION_PATH/").unwrap().1;
    assert!(root().join(".github/actions/check").join(folder.trim_end_matches('"')).join("Cargo.toml").is_file());
    for step in steps {
        assert_eq!(step["shell"].as_str(), Some("bash"), "each step that runs something says in what");
        assert!(!step["run"].as_str().unwrap().contains("${{"), "what somebody gives is no part of a script");
    }
}

/// What the action runs, with inputs as GitHub hands them over.
#[test]
fn the_action_runs() {
    let shell = hostile();
    let text = fs::read_to_string(root().join(".github/actions/check/action.yml")).unwrap();
    let action = yaml(&text);
    let script = action["runs"]["steps"].as_sequence().unwrap()[1]["run"].as_str().unwrap();
    shell.write("script", script);
    let run = |inputs: &str| shell.sh(&format!("{inputs} bash -e script"));
    let all = run("PATHS=docs ARGS='-q --fail-on none'");
    assert_eq!((all.status, all.stdout.lines().count()), (0, 5));
    let fewer = run("PATHS='docs/ünï docs' ARGS='--report sarif=a.sarif --ignore *.md'");
    assert_eq!((fewer.status, fewer.stdout.as_str()), (2, ""), "{}", fewer.stderr);
    assert_eq!(run("PATHS= ARGS=-q").status, 1);
}
