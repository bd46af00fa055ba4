//! Copies within one version of a site whose pages are nearly the same in all versions: the two pages of that version are reported.

use super::shell::Shell;
use serde_json::Value;
use std::fs;

/// Words that no other page has.
fn own(name: &str, words: usize) -> String {
    (0..words).map(|at| format!("{name}{at} ")).collect::<String>().trim_end().to_string() + "."
}

/// A page with a text among words of its own.
fn page(name: &str, text: &str) -> String {
    format!("# {name}\n\n{}\n\n{text}\n\n{}\n", own(&format!("{name}x"), 60), own(&format!("{name}y"), 60))
}

fn write(shell: &Shell, name: &str, text: &str) {
    let file = shell.folder().join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn site(pages: &[(&str, String)]) -> Shell {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join(".git")).unwrap();
    pages.iter().for_each(|(name, text)| write(&shell, name, text));
    shell
}

fn records(shell: &Shell, arguments: &str) -> Vec<Value> {
    let lines = shell.sh(&format!("dedup check -q --report jsonl {arguments}")).stdout;
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn paths(record: &Value) -> Vec<&str> {
    record["places"].as_array().unwrap().iter().map(|place| place["path"].as_str().unwrap()).collect()
}

/// Of each error: the two pages that the report shows, and its proposal.
fn errors(shell: &Shell, arguments: &str) -> Vec<([String; 2], String)> {
    let human = shell.sh(&format!("dedup check -q --grade error {arguments}")).stdout;
    let path = |text: &str| text.split(':').next().unwrap().to_string();
    let lines: Vec<&str> = human.lines().collect();
    let is_first = |line: &&str| line.contains(": error: ");
    let firsts = lines.iter().enumerate().filter(|(_, line)| is_first(line)).map(|(at, _)| at);
    let of = |at: usize| {
        let other = lines[at + 1].strip_prefix("also at ").unwrap();
        let proposal = lines[at..].iter().find_map(|line| line.trim_start().strip_prefix("proposal: ")).unwrap();
        ([path(lines[at]), path(other)], proposal.to_string())
    };
    firsts.map(of).collect()
}

/// The passage of a page of the newest version stands in another page of that version. The page is the same in an older version.
#[test]
fn a_copy_beside_a_page_that_an_older_version_has_too() {
    let text = own("shared", 60);
    let first = page("first", &text);
    for (name, older) in
        [("equal", first.clone()), ("alike", first.replace("firstx7 ", "other ").replace("shared9 ", ""))]
    {
        let shell = site(&[("v1/a.md", older), ("v5/a.md", first.clone()), ("v5/c.md", page("third", &text))]);
        let [[one, other], ..] = &errors(&shell, ".").iter().map(|found| found.0.clone()).collect::<Vec<_>>()[..]
        else {
            panic!("{name}: {}", shell.sh("dedup check --grade note .").stdout)
        };
        let mut shown = [one.as_str(), other.as_str()];
        shown.sort_unstable();
        assert_eq!(shown, ["v5/a.md", "v5/c.md"], "{name}");
        assert_eq!(errors(&shell, ".").len(), 1, "{name}");
        let how = &errors(&shell, ".")[0].1;
        assert_eq!(how, "keep the text in v5/a.md or v5/c.md, and link to it from the other", "{name}");
        let records = records(&shell, ".");
        let error = records.iter().find(|record| record["grade"] == "error").unwrap();
        assert!(paths(error).contains(&"v5/a.md") && paths(error).contains(&"v5/c.md"), "{error}");
    }
}

/// All versions have both pages: the newest is reported.
#[test]
fn of_all_versions_the_newest_is_reported() {
    let text = own("shared", 60);
    for versions in [2, 3, 9] {
        let mut pages = Vec::new();
        for version in 1..=versions {
            let page = |name: &str| page(name, &text).replace(&format!("{name}x{version} "), "changed ");
            pages.push((format!("v{version}/a.md"), page("first")));
            pages.push((format!("v{version}/c.md"), page("third")));
        }
        let pages: Vec<(&str, String)> = pages.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
        let shell = site(&pages);
        let newest = ["c", "a"].map(|name| format!("v{versions}/{name}.md"));
        let found = errors(&shell, ".");
        assert_eq!(found.iter().map(|found| &found.0).collect::<Vec<_>>(), [&newest], "{versions}");
        let both = format!("keep the text in {} or {}, and link to it from the other", newest[1], newest[0]);
        assert_eq!(found[0].1, both, "{versions}");
    }
}

/// Versions in the names of folders, and one without a number.
#[test]
fn versions_by_the_names_of_folders() {
    let text = own("shared", 60);
    for [older, newer] in [["guide-1.2", "guide-1.3"], ["1.2", "latest"]] {
        let mut pages = Vec::new();
        for version in [older, newer] {
            pages.push((format!("{version}/a.md"), page("first", &text)));
            pages
                .extend(["x", "y"].map(|name| (format!("{version}/{name}.md"), page(&format!("{version}{name}"), ""))));
        }
        pages.push((format!("{newer}/c.md"), page("third", &text)));
        let pages: Vec<(&str, String)> = pages.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
        let found = errors(&site(&pages), ".");
        let expected = [format!("{newer}/c.md"), format!("{newer}/a.md")];
        assert_eq!(found.iter().map(|found| &found.0).collect::<Vec<_>>(), [&expected]);
    }
}

/// A page is contained in another one of its version, or equal to it; an older version has that too.
#[test]
fn whole_pages_within_one_version() {
    let part = format!("{}\n\n{}", own("shared", 60), own("more", 60));
    let whole = page("first", &part);
    let shell =
        site(&[("v1/a.md", whole.clone()), ("v5/a.md", whole.clone()), ("v5/c.md", format!("# Third\n\n{part}\n"))]);
    let [(shown, how)] = &errors(&shell, ".")[..] else { panic!() };
    assert_eq!(*shown, ["v5/c.md", "v5/a.md"].map(String::from));
    // The heading.
    let link = "keep the text in v5/a.md or v5/c.md, and link to it from the other";
    assert_eq!(
        *how,
        format!("if both should say the same (1 word differs), {link}; if not, state once what both share")
    );
    let shell = site(&[("v1/a.md", whole.clone()), ("v5/a.md", whole.clone()), ("v5/c.md", whole)]);
    let [(shown, how)] = &errors(&shell, ".")[..] else { panic!() };
    assert_eq!(*shown, ["v5/c.md", "v5/a.md"].map(String::from));
    assert_eq!(how, "keep v5/a.md or v5/c.md, remove the other, and redirect to the one that stays");
}

/// Two places of a reference in one version are not three because an older version has one too.
#[test]
fn a_reference_in_versions() {
    let text = own("shared", 60);
    let first = page("first", &text);
    let pages = [("v1/api/a.md", first.clone()), ("v5/api/a.md", first), ("v5/api/c.md", page("third", &text))];
    let records = records(&site(&pages), ".");
    let passage = records.iter().find(|record| record["kind"] == "passage").unwrap();
    assert_eq!((&passage["grade"], &passage["reasons"]), (&"warning".into(), &serde_json::json!(["reference"])));
    assert_eq!(paths(passage), ["v1/api/a.md", "v5/api/a.md", "v5/api/c.md"]);
}

/// A new version of the site is a copy of the last one: a copy that was accepted there is accepted in it, and makes nothing new.
#[test]
fn a_new_version_brings_no_accepted_copy_back() {
    let text = own("shared", 60);
    let pages = ["a", "c"].map(|name| (name, page(name, &text)));
    let shell = Shell::new();
    let add =
        |version: &str| pages.iter().for_each(|(name, text)| write(&shell, &format!("{version}/{name}.md"), text));
    let commit = || {
        shell.sh("rm -f fixtures; git add -A; git -c user.name=t -c user.email=t@t commit -q -m one").done();
    };
    shell.sh("git init -q -b main .").done();
    add("v5");
    assert_eq!(errors(&shell, ".").len(), 1);
    shell.sh("dedup check -q . --baseline b.json --update-baseline").done();
    commit();
    add("v6");
    let all = |arguments: &str| {
        let records = records(&shell, arguments);
        let open = records.iter().filter(|record| record["known"] == false);
        open.map(|record| (record["kind"].as_str().unwrap().to_string(), record["grade"].as_str().unwrap().to_string()))
            .collect::<Vec<_>>()
    };
    let files = [("file", "note"), ("file", "note")].map(|(kind, grade)| (kind.to_string(), grade.to_string()));
    assert_eq!(all(". --baseline b.json"), files);
    assert_eq!(all(". --since main"), files);
    // One more page of the new version has the text.
    write(&shell, "v6/e.md", &page("fifth", &text));
    for arguments in [". --baseline b.json", ". --since main"] {
        let errors = errors(&shell, arguments);
        let [(shown, _)] = &errors[..] else { panic!("{arguments}: {errors:?}") };
        assert!(shown[0] == "v6/e.md" && shown[1].starts_with("v6/"), "{arguments}: {shown:?}");
    }
}
