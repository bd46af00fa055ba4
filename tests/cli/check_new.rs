//! Which places of a copy are new, what is graded and annotated then, and what a baseline accepts.

use super::shell::Shell;
use serde_json::{Value, json};
use std::fs;

/// Words that no other page has.
pub fn own(name: &str, words: usize) -> String {
    (0..words).map(|at| format!("{name}{at} ")).collect::<String>().trim_end().to_string() + "."
}

/// A page with some paragraphs among words of its own.
pub fn page(name: &str, parts: &[&str]) -> String {
    let [before, after] = [own(&format!("{name}x"), 60), own(&format!("{name}y"), 60)];
    format!("# {name}\n\n{before}\n\n{}\n\n{after}\n", parts.join("\n\n"))
}

/// Pages in a folder `docs` of a repository with one commit.
fn repository(pages: &[(&str, String)]) -> Shell {
    let shell = Shell::new();
    for (name, text) in pages {
        write(&shell, name, text);
    }
    shell.sh("git init -q -b main .").done();
    commit(&shell);
    shell
}

fn write(shell: &Shell, name: &str, text: &str) {
    let file = shell.folder().join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn commit(shell: &Shell) {
    shell.sh("rm -f fixtures; git add -A; git -c user.name=t -c user.email=t@t commit -q -m one").done();
}

fn records(shell: &Shell, arguments: &str) -> Vec<Value> {
    let lines = shell.sh(&format!("dedup check -q --report jsonl {arguments}")).stdout;
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Of each finding that is not accepted: its grade, the path of the place to look at, and the paths that are new.
fn found(shell: &Shell, arguments: &str) -> Vec<(String, String, Vec<String>)> {
    let records = records(shell, arguments);
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let of = |record: &Value| {
        let places = record["places"].as_array().unwrap();
        let primary = &places[record["primary"].as_u64().unwrap() as usize];
        let new = places.iter().filter(|place| place["new"] == true).map(|place| text(&place["path"]));
        (text(&record["grade"]), text(&primary["path"]), new.collect())
    };
    records.iter().filter(|record| record["known"] == false).map(of).collect()
}

fn one(grade: &str, primary: &str, new: &[&str]) -> Vec<(String, String, Vec<String>)> {
    vec![(grade.into(), primary.into(), new.iter().map(|path| path.to_string()).collect())]
}

#[test]
fn a_new_copy_in_a_changelog_hides_no_other() {
    let text = own("shared", 60);
    let shell = repository(&[
        ("docs/storage.md", page("storage", &[&text])),
        ("CHANGELOG.md", "# Changes\n\n## 2.0\n\nFirst.\n".into()),
    ]);
    write(&shell, "docs/new.md", &page("new", &[&text]));
    assert_eq!(found(&shell, "--since main"), one("error", "docs/new.md", &["docs/new.md"]));
    // One more place, which alone would be a warning.
    write(&shell, "CHANGELOG.md", &format!("# Changes\n\n## 2.0\n\n{text}\n"));
    assert_eq!(found(&shell, "--since main"), one("error", "docs/new.md", &["CHANGELOG.md", "docs/new.md"]));
    assert_eq!(shell.sh("dedup check -q --since main").status, 1);
    let first = shell.sh("dedup check -q --since main").stdout.lines().next().unwrap().to_string();
    assert!(first.starts_with("docs/new.md:5:1: error: ") && !first.contains("release notes"), "{first}");
    // What was there before does not count: only the changelog is new.
    commit(&shell);
    write(&shell, "CHANGELOG.md", "# Changes\n\n## 2.0\n\nFirst.\n");
    commit(&shell);
    write(&shell, "CHANGELOG.md", &format!("# Changes\n\n## 2.0\n\n{text}\n"));
    assert_eq!(found(&shell, "--since main"), one("warning", "CHANGELOG.md", &["CHANGELOG.md"]));
    assert_eq!(found(&shell, "--no-config")[0].0, "error");
}

/// Two pages had the text. Release notes that copy it do not keep it, so both pages stay as they are.
#[test]
fn new_release_notes_do_not_keep_a_text_of_two_pages() {
    let text = own("shared", 60);
    let shell = repository(&[("docs/a.md", page("alpha", &[&text])), ("docs/b.md", page("beta", &[&text]))]);
    shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
    for (name, other) in [("docs/CHANGELOG.md", "# Changes\n\n## 2.0"), ("docs/zeta.md", "# Zeta")] {
        write(&shell, name, &format!("{other}\n\n{text}\n"));
        for options in ["--since main", "--baseline b.json"] {
            let run = shell.sh(&format!("dedup check -q docs {options}"));
            let expected = format!("    proposal: keep the text in docs/a.md and link to it from {name}\n");
            assert!(run.stdout.ends_with(&expected), "{}{}", run.stdout, run.stderr);
        }
        shell.sh(&format!("rm {name}")).done();
    }
}

/// The changelog and the new page are one finding as a whole, so only one of them is compared with the third page.
#[test]
fn a_changelog_that_is_like_the_new_page_hides_no_copy() {
    let text = own("shared", 60);
    for name in ["CHANGELOG.md", "news/z.md"] {
        let shell =
            repository(&[("docs/storage.md", page("storage", &[&text])), (name, "# Changes\n\nFirst.\n".into())]);
        write(&shell, "docs/new.md", &format!("# New\n\nA few words.\n\n{text}\n"));
        assert_eq!(found(&shell, "--since main").iter().map(|found| found.0.as_str()).collect::<Vec<_>>(), ["error"]);
        write(&shell, name, &format!("# Changes\n\nFirst.\n\n{text}\n"));
        let graded = found(&shell, "--since main");
        let errors: Vec<_> = graded.iter().filter(|found| found.0 == "error").collect();
        let [(_, primary, new)] = &errors[..] else { panic!("{graded:?}") };
        // The first of the two files is the one that is compared; of a changelog, the other one is listed too.
        let expected: &[&str] = if name < "docs" { &[name, "docs/new.md"] } else { &["docs/new.md"] };
        assert!(primary == "docs/new.md" && new == expected, "{graded:?}");
    }
}

#[test]
fn each_new_place_is_annotated() {
    let notice = own("notice", 60);
    let names: Vec<String> = (0..12).map(|number| format!("page{number:02}")).collect();
    let pages: Vec<(String, String)> =
        names.iter().map(|name| (format!("docs/{name}.md"), page(name, &[&notice]))).collect();
    let pages: Vec<(&str, String)> = pages.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    let shell = repository(&pages);
    let new = ["docs/zz1.md", "docs/zz2.md", "docs/zz3.md"];
    new.iter().for_each(|path| write(&shell, path, &page(&path[5..8], &[&notice])));
    assert_eq!(found(&shell, "--since main"), one("error", new[0], &new));

    let report = |format: &str| shell.sh(&format!("dedup check -q --since main --report {format}")).stdout;
    let human: Vec<String> = report("human").lines().take(7).map(String::from).collect();
    assert!(human[0].starts_with("docs/zz1.md:5:1: error: "), "{human:?}");
    assert!(human[2].starts_with("also at docs/zz2.md:5:1, under “zz2”, new too"), "{human:?}");
    assert!(human[3].starts_with("also at docs/zz3.md:5:1, under “zz3”, new too"), "{human:?}");
    assert_eq!(human[6], "and 9 more places");

    let github = report("github");
    let files: Vec<&str> = github.lines().map(|line| line.split([' ', ',']).nth(1).unwrap()).collect();
    assert_eq!(files, new.map(|path| format!("file={path}")));

    let gitlab: Value = serde_json::from_str(&report("gitlab")).unwrap();
    let issues = gitlab.as_array().unwrap();
    assert_eq!(issues.iter().map(|issue| issue["location"]["path"].as_str().unwrap()).collect::<Vec<_>>(), new);
    let mut prints: Vec<&str> = issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), 3);

    let sarif: Value = serde_json::from_str(&report("sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let uri = |result: &Value| {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap().to_string()
    };
    assert_eq!(results.iter().map(uri).collect::<Vec<_>>(), new);
    let text = results[0]["message"]["text"].as_str().unwrap();
    assert!(text.contains("docs/zz2.md:5") && text.contains("docs/zz3.md:5"), "{text}");

    let junit = report("junit");
    assert!(junit.contains("tests=\"3\" failures=\"3\""), "{junit}");
    assert!(new.iter().all(|path| junit.contains(&format!("file=\"{path}\""))), "{junit}");

    let markdown = report("markdown");
    let items: Vec<&str> = markdown.lines().filter(|line| line.starts_with("<li>")).collect();
    assert!(items[2].contains("docs/zz2.md:5") && items[2].ends_with(", new</li>"), "{items:?}");
    assert!(items[3].contains("docs/zz3.md:5") && items[3].ends_with(", new</li>"), "{items:?}");
}

/// Code scanning takes results with one fingerprint for one. A fingerprint does not depend on lines, nor on the other places.
#[test]
fn new_places_of_one_page_have_fingerprints_of_their_own() {
    let notice = own("notice", 60);
    let edited = notice.replace("notice7 ", "other ");
    let shell = repository(&[("docs/a.md", page("alpha", &[&notice]))]);
    let prints = || {
        let sarif = shell.sh("dedup check -q --since main --report sarif").stdout;
        let sarif: Value = serde_json::from_str(&sarif).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_string();
        let of = |result: &Value| {
            let at = &result["locations"][0]["physicalLocation"];
            let print = &result["partialFingerprints"]["wordsOfBothPlaces/v1"];
            (text(&at["artifactLocation"]["uri"]), at["region"]["startLine"].as_u64().unwrap(), text(print))
        };
        sarif["runs"][0]["results"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let between = |name: &str| own(name, 30);
    let parts = [&notice, &between("b"), &notice, &between("c"), &edited, &between("d"), &notice];
    write(&shell, "docs/b.md", &page("beta", &[&notice]));
    write(&shell, "docs/z.md", &page("zeta", &parts.map(String::as_str)));
    let found = prints();
    let places: Vec<(&str, u64)> = found.iter().map(|(path, line, _)| (path.as_str(), *line)).collect();
    assert_eq!(places, [("docs/b.md", 5), ("docs/z.md", 5), ("docs/z.md", 9), ("docs/z.md", 13), ("docs/z.md", 17)]);
    let mut distinct: Vec<&str> = found.iter().map(|(.., print)| print.as_str()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 5, "{found:?}");
    // Text before them, and a place fewer.
    write(&shell, "docs/z.md", &page("zeta", &[&[own("e", 40).as_str()][..], &parts.map(String::as_str)].concat()));
    let moved = prints();
    assert_eq!(
        moved.iter().map(|(.., print)| print).collect::<Vec<_>>(),
        found.iter().map(|(.., print)| print).collect::<Vec<_>>()
    );
    let parts = [&notice, &between("b"), &between("c"), &edited, &between("d"), &notice];
    write(&shell, "docs/z.md", &page("zeta", &parts.map(String::as_str)));
    let fewer = prints();
    let of = |found: &[(String, u64, String)], number: usize| found[number].2.clone();
    assert_eq!([0, 1, 2, 3].map(|number| of(&fewer, number)), [0, 1, 3, 2].map(|number| of(&found, number)));
}

#[test]
fn more_new_places_than_are_listed_are_counted() {
    let notice = own("notice", 60);
    let shell = repository(&[("docs/a.md", page("alpha", &[&notice]))]);
    for number in 0..30 {
        write(&shell, &format!("docs/new{number:02}.md"), &page(&format!("n{number:02}"), &[&notice]));
    }
    let human = shell.sh("dedup check -q --since main").stdout;
    assert_eq!(human.lines().filter(|line| line.ends_with("new too")).count(), 19, "{human}");
    assert!(human.contains("\nand 10 more places, 10 of them new\n"), "{human}");
    let github = shell.sh("dedup check -q --since main --report github").stdout;
    assert_eq!(github.lines().count(), 20);
}

/// The page that no earlier check knows is new, wherever it is in the order of names.
#[test]
fn a_baseline_knows_the_pages_that_were_there() {
    let [text, notice] = [own("shared", 60), own("notice", 60)];
    let shell = repository(&[
        ("docs/guide/cache.md", page("cache", &[&text, &notice])),
        ("docs/guide/other.md", page("other", &[&notice])),
        ("docs/guide/plain.md", page("plain", &[&own("plain", 60)])),
    ]);
    let with = "docs --baseline b.json";
    shell.sh(&format!("dedup check -q {with} --update-baseline")).done();
    assert_eq!(found(&shell, with), []);
    for (path, copied) in [
        ("docs/admin/aaa.md", &text),
        ("docs/zzz.md", &text),
        ("docs/admin/aaa.md", &own("plain", 60)),
        ("docs/zzz.md", &own("plain", 60)),
    ] {
        write(&shell, path, &page("added", &[copied]));
        assert_eq!(found(&shell, with), one("error", path, &[path]));
        let proposal = records(&shell, with).into_iter().find(|record| record["known"] == false).unwrap();
        let how = proposal["proposal"]["how"].as_str().unwrap().to_string();
        assert!(how.starts_with("keep the text in docs/guide/") && how.ends_with(&format!("from {path}")), "{how}");
        fs::remove_file(shell.folder().join(path)).unwrap();
    }
    // Both pages were there.
    write(&shell, "docs/guide/plain.md", &page("plain", &[&own("plain", 60), &text]));
    assert_eq!(found(&shell, with).iter().map(|found| found.2.len()).collect::<Vec<_>>(), [0]);
    let run = shell.sh(&format!("dedup check {with}"));
    assert!(run.stderr.contains("it is not known which places of 1 copy are new"), "{}", run.stderr);
    // A page that only a partial check knows, and one that is gone.
    write(&shell, "docs/guide/plain.md", &page("plain", &[]));
    write(&shell, "docs/zzz.md", &page("added", &[]));
    shell.sh("dedup check -q docs/guide --baseline b.json --update-baseline").done();
    write(&shell, "docs/zzz.md", &page("added", &[&text]));
    assert_eq!(found(&shell, with), one("error", "docs/zzz.md", &["docs/zzz.md"]));
}

#[test]
fn pages_that_a_baseline_does_not_cover_are_named() {
    let [text, notice] = [own("shared", 60), own("notice", 60)];
    let shell = repository(&[
        ("docs/a.md", page("alpha", &[&text, &notice])),
        ("docs/b.md", page("beta", &[&text])),
        ("blog/one.md", page("one", &[&notice])),
        ("README.md", page("readme", &[&notice])),
    ]);
    shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
    let messages = |arguments: &str| shell.sh(&format!("dedup check {arguments}")).stderr;
    let with = "docs blog README.md --baseline b.json";
    let all = messages(with);
    let lines = [
        "dedup: 1 copy is in pages that b.json does not cover, as it was written for docs: README.md, blog/one.md\n",
        "dedup: to accept all copies of this run and cover these pages: dedup check docs blog README.md --baseline b.json \
         --update-baseline\n",
    ];
    assert!(all.contains(&lines.concat()), "{all}");
    // Of the folder it was written for, nothing is to be covered: a page that was added there is new.
    write(&shell, "docs/new.md", &page("new", &[&text]));
    assert!(!messages("docs --baseline b.json").contains("cover"));
    fs::remove_file(shell.folder().join("docs/new.md")).unwrap();
    // What the command does.
    shell.sh(&format!("dedup check -q {with} --update-baseline")).done();
    assert_eq!(found(&shell, with), []);
    // A post.
    write(&shell, "blog/two.md", &page("two", &[&notice]));
    assert_eq!(found(&shell, with), one("warning", "blog/two.md", &["blog/two.md"]));
    assert!(!messages(with).contains("cover"));
    // A part of the pages, again: the others stay covered, until they are gone.
    let roots = || {
        let baseline: Value =
            serde_json::from_str(&fs::read_to_string(shell.folder().join("b.json")).unwrap()).unwrap();
        baseline["roots"].clone()
    };
    assert_eq!(roots(), serde_json::json!(["README.md", "blog", "docs"]));
    shell.sh("dedup check -q docs/a.md blog --baseline b.json --update-baseline").done();
    assert_eq!(roots(), serde_json::json!(["README.md", "blog", "docs"]));
    fs::remove_file(shell.folder().join("README.md")).unwrap();
    shell.sh("dedup check -q blog --baseline b.json --update-baseline").done();
    assert_eq!(roots(), serde_json::json!(["blog", "docs"]));
    shell.sh("dedup check -q . --baseline b.json --update-baseline").done();
    assert_eq!(roots(), serde_json::json!(["."]));
}

#[test]
fn a_baseline_without_a_list_of_pages_says_so() {
    let text = own("shared", 60);
    let shell = repository(&[
        ("docs/a.md", page("alpha", &[&text])),
        ("docs/b.md", page("beta", &[&text])),
        ("docs/c.md", page("gamma", &[&own("gamma", 60)])),
    ]);
    shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
    let written: Value = serde_json::from_str(&fs::read_to_string(shell.folder().join("b.json")).unwrap()).unwrap();
    assert_eq!(written["pages"], serde_json::json!(["docs/c.md"]));
    // As an earlier program wrote it.
    let mut old = written.as_object().unwrap().clone();
    old.remove("pages");
    shell.write("b.json", serde_json::to_string(&old).unwrap());
    let quiet = shell.sh("dedup check docs --baseline b.json");
    assert!(quiet.status == 0 && !quiet.stderr.contains("list of pages"), "{}", quiet.stderr);
    write(&shell, "docs/0.md", &page("zero", &[&own("gamma", 60)]));
    let warned = shell.sh("dedup check docs --baseline b.json");
    let warning = "b.json: has no list of pages, so it is not known which places of 1 copy are new";
    assert!(warned.status == 1 && warned.stderr.contains(warning), "{}", warned.stderr);
    assert_eq!(found(&shell, "docs --baseline b.json")[0].2, [""; 0]);
}

#[test]
fn a_baseline_of_other_folders_accepts_nothing_and_says_so() {
    let text = own("shared", 60);
    let copies = [("docs/a.md", page("alpha", &[&text])), ("docs/b.md", page("beta", &[&text]))];
    let shell = repository(&copies);
    shell.sh("dedup check -q docs --baseline b.json --update-baseline; git clone -q . other").done();
    let run = shell.sh("cd other; dedup check docs --baseline ../b.json");
    let warning =
        "../b.json: none of the pages that it accepts is in this repository: their paths are relative to the folder";
    assert!(run.status == 1 && run.stderr.contains(warning), "{}", run.stderr);
    // In its place, it accepts all.
    let run = shell.sh("cp b.json other; cd other; dedup check docs --baseline b.json");
    assert!(run.status == 0 && !run.stderr.contains("warning"), "{}", run.stderr);
}

/// Two copies that a baseline may accept, of which the second is new since the commit.
fn two_copies() -> Shell {
    let [one, two] = [own("first", 60), own("second", 60)];
    let shell = repository(&[
        ("docs/a.md", page("alpha", &[&one, &two])),
        ("docs/b.md", page("beta", &[&one])),
        ("docs/c.md", page("gamma", &[])),
    ]);
    write(&shell, "docs/c.md", &page("gamma", &[&two]));
    shell
}

#[test]
fn one_finding_is_accepted() {
    let shell = two_copies();
    assert_eq!(found(&shell, "docs").len(), 2);
    let fingerprint = records(&shell, "docs")[1]["fingerprint"].as_str().unwrap().to_string();
    for named in ["docs/c.md:5", "docs/c.md:5:1", "docs/a.md:7", &fingerprint] {
        let run = shell.sh(&format!("dedup check docs --baseline b.json --update-baseline --accept {named}"));
        let expected = "1 copy accepted in b.json, 1 new\ndedup: 1 other copy not accepted";
        assert!(run.stderr.contains(expected) && run.status == 1, "{}", run.stderr);
        assert_eq!(found(&shell, "docs --baseline b.json").len(), 1, "{named}");
        // The first one is accepted too, and the second stays.
        let run = shell.sh("dedup check docs --baseline b.json --update-baseline --accept docs/b.md:5");
        assert!(run.status == 0 && run.stderr.contains("1 copy accepted in b.json, 1 new\n"), "{}", run.stderr);
        assert_eq!(shell.sh("dedup check -q docs --baseline b.json").status, 0);
        fs::remove_file(shell.folder().join("b.json")).unwrap();
    }
    let run = shell.sh("dedup check docs --baseline b.json --update-baseline --accept docs/c.md:6");
    let expected = "--accept docs/c.md:6: no copy with this fingerprint, or with a place that starts there";
    assert!(run.status == 2 && run.stderr.contains(expected), "{}", run.stderr);
    assert!(!shell.folder().join("b.json").exists());
    assert_eq!(shell.sh("dedup check docs --baseline b.json --accept docs/c.md:5").status, 2);
}

/// Two updates at once: one of them is repeated, and no entry is lost.
#[test]
fn updates_at_once_lose_nothing() {
    let shell = two_copies();
    let update =
        |place: &str| format!("dedup check docs --baseline b.json --update-baseline --accept {place} >/dev/null 2>&1");
    // Status 2: the other one was faster.
    let until = |place: &str| format!("while {}; [ $? = 2 ]; do :; done", update(place));
    shell.sh(&format!("({}) & ({}) & wait", until("docs/b.md:5"), until("docs/c.md:5")));
    assert_eq!(reasons(&shell).len(), 2);
}

/// An accepted copy that was moved to another page does not accept one that is made again where it was.
#[test]
fn a_copy_that_moved_is_stale() {
    let one = own("first", 60);
    let shell = repository(&[
        ("docs/a.md", page("alpha", &[&one])),
        ("docs/b.md", page("beta", &[&one])),
        ("docs/c.md", page("gamma", &[])),
    ]);
    shell.sh("dedup check docs --baseline b.json --update-baseline");
    // From `b` to `c`.
    write(&shell, "docs/b.md", &page("beta", &[]));
    write(&shell, "docs/c.md", &page("gamma", &[&one]));
    let run = shell.sh("dedup check docs --baseline b.json");
    assert!(
        run.status == 1 && run.stderr.contains("b.json: stale: accepted, but not found in this run"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("docs/a.md and docs/b.md: first0"), "{}", run.stderr);
    let run = shell.sh("dedup check docs --baseline b.json --update-baseline --accept docs/c.md:5");
    assert!(run.status == 0 && run.stderr.contains("1 new, 1 dropped\n"), "{}", run.stderr);
    // And again into `b`.
    write(&shell, "docs/b.md", &page("beta", &[&one]));
    let new = records(&shell, "docs --baseline b.json");
    let new: Vec<&Value> = new.iter().filter(|record| record["known"] == false).collect();
    assert_eq!(new.len(), 1);
    let places = new[0]["places"].as_array().unwrap().iter().filter(|place| place["new"] == true);
    assert_eq!(places.map(|place| place["path"].as_str().unwrap()).collect::<Vec<_>>(), ["docs/b.md"]);
    // A page that was renamed keeps what it had, and so does the rest of a copy of which one place is gone.
    shell.sh("dedup check docs --baseline b.json --update-baseline");
    fs::rename(shell.folder().join("docs/b.md"), shell.folder().join("docs/d.md")).unwrap();
    for _ in 0..2 {
        let run = shell.sh("dedup check docs --baseline b.json");
        assert!(run.status == 0 && !run.stderr.contains("stale"), "{}", run.stderr);
        write(&shell, "docs/c.md", &page("gamma", &[]));
    }
}

/// A page that was a copy of another one is gone. That the other one still shares a paragraph with a third page, or repeats one, does not
/// keep what accepted the copy: a copy that is made again is new.
#[test]
fn a_page_that_is_gone_is_stale_whatever_else_the_other_one_shares() {
    let [shared, more] = [own("shared", 60), own("more", 200)];
    for whole in
        [page("whole", &[&shared, &more, &shared]), page("whole", &[&shared, &more]), page("whole", &[&more, &shared])]
    {
        let shell = repository(&[
            ("docs/a.md", whole.clone()),
            ("docs/b.md", whole.clone()),
            ("docs/z.md", page("other", &[&shared, &own("rest", 100)])),
        ]);
        shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
        fs::remove_file(shell.folder().join("docs/b.md")).unwrap();
        let run = shell.sh("dedup check docs --baseline b.json --fail-on-stale");
        assert!(run.status == 1 && run.stderr.contains("1 stale entry makes the check fail"), "{}", run.stderr);
        shell.sh("dedup check -q docs --baseline b.json --prune-baseline").done();
        assert!(shell.sh("dedup check docs --baseline b.json --fail-on-stale").status == 0);
        write(&shell, "docs/c.md", &whole);
        let new = records(&shell, "docs --baseline b.json");
        let new: Vec<&Value> = new.iter().filter(|record| record["known"] == false).collect();
        assert!(new.iter().any(|record| record["kind"] == "file"), "{new:?}");
        // A copy that is renamed is not stale, and nothing new.
        shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
        fs::rename(shell.folder().join("docs/c.md"), shell.folder().join("docs/d.md")).unwrap();
        let run = shell.sh("dedup check docs --baseline b.json --fail-on-stale");
        assert!(run.status == 0 && !run.stderr.contains("stale"), "{}", run.stderr);
    }
}

/// The paths and the reason of each entry of `b.json`.
fn reasons(shell: &Shell) -> Vec<(String, Option<String>)> {
    let text = fs::read_to_string(shell.folder().join("b.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let paths = |entry: &Value| {
        let paths = entry["paths"].as_array().unwrap().iter();
        paths.map(|path| &path.as_str().unwrap()["docs/".len().."docs/x".len()]).collect()
    };
    let entries = file["accepted"].as_array().unwrap().iter();
    entries.map(|entry| (paths(entry), entry.get("reason").map(|reason| reason.as_str().unwrap().into()))).collect()
}

#[test]
fn copies_are_accepted_for_a_reason() {
    let shell = two_copies();
    let is = |expected: &[(&str, Option<&str>)]| {
        let expected = expected.iter().map(|(paths, reason)| (paths.to_string(), reason.map(String::from)));
        assert_eq!(reasons(&shell), expected.collect::<Vec<_>>());
    };
    let update = |options: &str| {
        let run = shell.sh(&format!("dedup check docs --baseline b.json --update-baseline {options}"));
        assert!(run.status < 2, "{}", run.stderr);
        run.stderr
    };
    update("--accept docs/c.md:5 --reason ' Both are <read> alone. '");
    is(&[("ac", Some("Both are <read> alone."))]);
    // One is newly accepted, without a reason; the other is written anew, and keeps its own.
    update("");
    is(&[("ab", None), ("ac", Some("Both are <read> alone."))]);
    assert!(
        update("--reason no")
            .contains("no copy is newly accepted, so --reason has no effect: edit \"reason\" in b.json")
    );
    assert!(!update("").contains("--reason"));
    is(&[("ab", None), ("ac", Some("Both are <read> alone."))]);
    // A third place, accepted without a reason and with one.
    let text = fs::read_to_string(shell.folder().join("docs/b.md")).unwrap();
    write(&shell, "docs/b.md", &format!("{text}\n{}\n", own("second", 60)));
    let before = fs::read_to_string(shell.folder().join("b.json")).unwrap();
    update("");
    is(&[("ab", None), ("abc", Some("Both are <read> alone."))]);
    write(&shell, "b.json", &before);
    update("--reason 'All three are.'");
    is(&[("ab", None), ("abc", Some("All three are."))]);
    // Accepted alone, it has the reason of the entry that describes a part of it, and the next update keeps it.
    write(&shell, "b.json", &before);
    update("--accept docs/c.md:5");
    is(&[("ab", None), ("abc", Some("Both are <read> alone.")), ("ac", Some("Both are <read> alone."))]);
    update("");
    is(&[("ab", None), ("abc", Some("Both are <read> alone."))]);
}

#[test]
fn reports_say_why_a_copy_is_accepted() {
    let shell = two_copies();
    let baseline = "--baseline b.json --update-baseline";
    shell.sh(&format!("dedup check docs {baseline} --accept docs/c.md:5 --reason 'Both are <read> alone.'"));
    shell.sh(&format!("dedup check docs {baseline} --accept docs/b.md:5"));
    // By hand.
    let text = fs::read_to_string(shell.folder().join("b.json")).unwrap();
    write(&shell, "b.json", &text.replace("Both are <read>", "\\n Both are \\u001b <read>"));
    let why: Vec<Value> =
        records(&shell, "docs --baseline b.json").into_iter().map(|record| record["known_reason"].clone()).collect();
    assert_eq!(why, [Value::Null, "Both are \u{1b} <read> alone.".into()]);
    let report = |format: &str| {
        let run = shell.sh(&format!("dedup check -q docs --baseline b.json --fail-on any --report {format}"));
        assert_eq!((run.status, run.stderr.as_str()), (1, ""));
        run.stdout
    };
    let human = report("human");
    assert!(human.contains("100 % alike (accepted)\n"), "{human}");
    assert!(human.contains("100 % alike (accepted: Both are \\u{1b} <read> alone.)\n"), "{human}");
    assert!(report("markdown").contains(" (accepted: Both are \\u{1b} &lt;read&gt; alone.)</summary>"));
    let sarif: Value = serde_json::from_str(&report("sarif")).unwrap();
    let suppressions = |result: usize| sarif["runs"][0]["results"][result]["suppressions"].clone();
    assert_eq!(suppressions(0), json!([{"kind": "external", "status": "accepted"}]));
    let justified =
        json!([{"kind": "external", "status": "accepted", "justification": "Both are \\u{1b} <read> alone."}]);
    assert_eq!(suppressions(1), justified);
    let page = report("html");
    assert!(page.contains("<p>Accepted: Both are \\u{1b} &lt;read&gt; alone.</p>"), "{page}");
    assert!(page.contains("\"Both are \\\\u{1b} \\u003cread> alone.\""), "{page}");
    // One that was edited to be long does not fill a report.
    write(&shell, "long.json", &text.replace("Both", &"Both ".repeat(1000)));
    let run = shell.sh("dedup check -q docs --baseline long.json --fail-on any --report markdown");
    assert!(run.stdout.contains("Both Both …") && run.stdout.matches("Both").count() == 100, "{}", run.stdout);
    // Stale.
    fs::remove_file(shell.folder().join("docs/c.md")).unwrap();
    let run = shell.sh("dedup check docs --baseline b.json --report html");
    assert!(run.stderr.contains("second9 (reason: Both are \\u{1b} <read> alone.)\n"), "{}", run.stderr);
    assert!(run.stdout.contains("second9 (reason: Both are \\u{1b} &lt;read&gt; alone.)</li>"), "{}", run.stdout);
}

#[test]
fn a_reason_needs_an_update_and_a_text() {
    let shell = two_copies();
    let error = |options: &str| {
        let run = shell.sh(&format!("dedup check docs --baseline b.json {options}"));
        assert!(run.status == 2 && !shell.folder().join("b.json").exists(), "{}", run.stderr);
        run.stderr
    };
    assert!(error("--reason so").contains("--update-baseline"));
    for blank in ["''", "' '"] {
        assert!(
            error(&format!("--update-baseline --reason {blank}"))
                .contains("expected the reason why copies are accepted")
        );
    }
    assert!(
        error(&format!("--update-baseline --reason {}", "é".repeat(501))).contains("expected at most 500 characters")
    );
    for other in ["a\nb", "a\u{1b}b", "a\u{2028}b", "a\u{202e}b"] {
        assert!(error(&format!("--update-baseline --reason '{other}'")).contains("expected one line without control"));
    }
}

#[test]
fn what_is_new_is_accepted() {
    let shell = two_copies();
    let run = shell.sh("dedup check docs --since main --baseline b.json --update-baseline");
    let expected = "1 copy accepted in b.json, 1 new\ndedup: 1 other copy not accepted";
    assert!(run.status == 0 && run.stderr.contains(expected), "{}", run.stderr);
    assert_eq!(found(&shell, "docs --baseline b.json").len(), 1);
    assert_eq!(shell.sh("dedup check -q docs --baseline b.json --since main").status, 0);
    // All of them.
    let run = shell.sh("dedup check docs --baseline b.json --update-baseline");
    assert!(run.status == 0 && run.stderr.contains("2 copies accepted in b.json, 1 new\n"), "{}", run.stderr);
}

#[test]
fn copies_between_two_lists_are_allowed_and_no_others() {
    let [old, new] = [own("old", 60), own("new", 60)];
    let shell = repository(&[
        ("docs/v1.4/a.md", page("alpha", &[&old])),
        ("docs/guide/b.md", page("beta", &[&old, &new])),
        ("docs/guide/c.md", page("gamma", &[&new])),
    ]);
    let with = |allow: &str| {
        shell.write("dedup.toml", format!("[[check.allow]]\n{allow}\nreason = \"kept as it was\"\n"));
        shell.sh("dedup check")
    };
    let run = with("between = [[\"docs/v1.4/**\"], [\"docs/guide/**\"]]");
    assert!(run.status == 1 && run.stderr.contains("1 copy (1 error), 1 allowed"), "{}", run.stderr);
    assert!(run.stdout.starts_with("docs/guide/c.md:5:1: error: "), "{}", run.stdout);
    assert_eq!(with("paths = [\"docs/v1.4/**\", \"docs/guide/**\"]").status, 0);
    // Globs that match nothing are named, and one list is not enough.
    let run = with("between = [[\"docs/v1.4/**\"], [\"docs/none/**\"]]");
    assert!(run.stderr.contains("[[check.allow]] 'docs/none/**' matches no page"), "{}", run.stderr);
    for (allow, expected) in [
        ("between = [[\"docs/**\"]]", "expected two lists of quoted globs or more"),
        ("between = [\"docs/**\", \"x\"]", "expected a list of quoted globs"),
        ("paths = [\"a\"]\nbetween = [[\"a\"], [\"b\"]]", "has both `paths` and `between`"),
    ] {
        let run = with(allow);
        assert!(run.status == 2 && run.stderr.contains(expected), "{}", run.stderr);
    }
}

/// The page that was renamed keeps its text; only the copy is new.
#[test]
fn a_renamed_page_is_not_new_beside_a_copy_of_it() {
    let text = own("shared", 60);
    let old = page("cache", &[&text, &own("more", 80)]);
    let shell = repository(&[("docs/cache.md", old.clone()), ("docs/other.md", page("other", &[]))]);
    shell.sh("git mv docs/cache.md docs/zcaching.md").done();
    write(&shell, "docs/tutorial.md", &page("tutorial", &[&text]));
    assert_eq!(found(&shell, "docs --since main"), one("error", "docs/tutorial.md", &["docs/tutorial.md"]));
    // Also if it was edited, and its text moved to two pages.
    write(&shell, "docs/zcaching.md", &format!("{old}\n{}\n", own("added", 30)));
    assert_eq!(found(&shell, "docs --since main"), one("error", "docs/tutorial.md", &["docs/tutorial.md"]));
    write(&shell, "docs/zcaching.md", &page("cache", &[&own("more", 80)]));
    assert_eq!(found(&shell, "docs --since main"), []);
}

#[test]
fn copies_in_the_order_that_is_asked_for() {
    let [one, two, long] = [own("first", 50), own("second", 90), own("long", 120)];
    let shell = repository(&[
        ("docs/a.md", page("alpha", &[&long])),
        ("docs/news/z.md", page("zeta", &[&long])),
        ("docs/b.md", page("beta", &[&one])),
        ("docs/c.md", page("gamma", &[&one])),
        ("docs/d.md", page("delta", &[&two])),
        ("docs/e.md", page("epsilon", &[&two])),
    ]);
    let order = |sort: &str| {
        let human = shell.sh(&format!("dedup check -q docs {sort}")).stdout;
        let first = |line: &str| line.strip_prefix("docs/")?.chars().next();
        human.lines().filter_map(first).collect::<String>()
    };
    assert_eq!(["", "--sort path", "--sort grade", "--sort words"].map(order), ["cen", "cen", "ecn", "nec"]);
    shell.write("dedup.toml", "[check]\nsort = \"grade\"\n");
    assert_eq!(order(""), "ecn");
}

/// Of two copies in one page, one moved to a page of its own: the check did not report them, or not as seriously.
#[test]
fn a_page_that_was_split_has_no_new_copies() {
    let text = own("shared", 90);
    let edited = |places: &[usize]| {
        let mut words: Vec<String> = text.split(' ').map(String::from).collect();
        places.iter().for_each(|&place| words[place] = format!("edit{place}"));
        words.join(" ")
    };
    let short: String = own("short", 29);
    let short_edited = short.replace("short9 ", "s9 ").replace("short15 ", "s15 ").replace("short22 ", "s22 ");
    let pairs = [
        [text.clone(), text.clone()],
        [text.clone(), edited(&[20, 50, 80])],
        // Within one page, short paragraphs have to be more similar.
        [short.clone(), short_edited],
    ];
    for [one, other] in &pairs {
        let both = |one: &str, other: &str| {
            format!("# A\n\n{}\n\n{one}\n\n{}\n\n{other}\n\n{}\n", own("a", 60), own("b", 60), own("c", 60))
        };
        let shell = repository(&[("docs/a.md", both(one, other))]);
        write(&shell, "docs/a.md", &both(one, "Moved."));
        write(&shell, "docs/b.md", &format!("# B\n\n{}\n\n{other}\n", own("d", 60)));
        assert!(!records(&shell, "docs").is_empty());
        assert_eq!(found(&shell, "docs --since main"), []);
        // Once more in a third page, or still in the first.
        write(&shell, "docs/c.md", &format!("# C\n\n{}\n\n{other}\n", own("e", 60)));
        assert!(!found(&shell, "docs --since main").is_empty());
        shell.sh("rm docs/c.md").done();
        write(&shell, "docs/a.md", &both(one, other));
        assert!(!found(&shell, "docs --since main").is_empty());
    }
    // Two of three copies moved; all moved; and one moved to where another one of another page is.
    let [alpha, beta] = [own("alpha", 60), own("beta", 60)];
    let three = format!("# A\n\n{text}\n\n{alpha}\n\n{text}\n\n{beta}\n\n{text}\n");
    let shell = repository(&[("docs/a.md", three.clone()), ("docs/other.md", page("other", &[&text]))]);
    write(&shell, "docs/a.md", &format!("# A\n\n{text}\n\n{alpha}\n\n{beta}\n"));
    write(&shell, "docs/b.md", &page("b", &[&text]));
    write(&shell, "docs/c.md", &page("c", &[&text]));
    assert_eq!(found(&shell, "docs --since main"), []);
    write(&shell, "docs/d.md", &page("d", &[&text]));
    assert_eq!(found(&shell, "docs --since main").len(), 1);
    // It is text that moved from there only if it is gone there.
    let shell = repository(&[("docs/a.md", page("a", &[&text]))]);
    write(&shell, "docs/a.md", &(page("a", &[&text]).replace("ax7 ", "")));
    write(&shell, "docs/b.md", &page("b", &[&text]));
    assert_eq!(found(&shell, "docs --since main"), one("error", "docs/b.md", &["docs/b.md"]));
}

/// Of two pages that are one finding as whole files, only one is compared with others and with itself.
#[test]
fn a_translation_makes_nothing_new_in_the_original() {
    let [text, shared] = [own("text", 80), own("shared", 80)];
    let guide = format!(
        "# Guide\n\n{}\n\n{text}\n\n{shared}\n\n{}\n\n{text}\n\n{}\n",
        own("a", 60),
        own("b", 60),
        own("c", 60)
    );
    let shell = repository(&[
        ("docs/guide.md", guide.clone()),
        ("docs/de/guide.md", guide.clone()),
        ("docs/third.md", page("third", &[&shared])),
    ]);
    shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
    assert_eq!(found(&shell, "docs --baseline b.json"), []);
    assert_eq!(found(&shell, "docs/guide.md docs/third.md --baseline b.json"), []);
    assert_eq!(found(&shell, "docs/de docs/third.md --baseline b.json"), []);
    let translated = guide.replace("text", "wort").replace("shared", "geteilt").replace(" a", " eins");
    write(&shell, "docs/de/guide.md", &translated);
    let new = found(&shell, "docs --baseline b.json");
    assert!(new.iter().all(|(_, path, _)| path == "docs/de/guide.md"), "{new:?}");
    write(&shell, "docs/de/guide.md", &format!("# Leitfaden\n\n{}\n", own("wort", 200)));
    assert_eq!(found(&shell, "docs --baseline b.json"), []);
    // A further copy is new.
    write(&shell, "docs/guide.md", &format!("{guide}\n{}\n\n{text}\n", own("d", 60)));
    assert_eq!(found(&shell, "docs --baseline b.json").len(), 1);
    write(&shell, "docs/guide.md", &guide);
    // The entries stay if the others are dropped.
    shell.sh("dedup check -q docs --baseline b.json --prune-baseline").done();
    assert_eq!(found(&shell, "docs --baseline b.json"), []);
}

/// A page repeats a paragraph, and a page in another language was a copy of it. The part that both still share covers the repeated
/// paragraph, so the report has it no longer; but it is still there.
#[test]
fn an_entry_stays_while_a_longer_copy_covers_its_text() {
    let text = own("text", 50);
    let guide = |last: &str| {
        format!(
            "# Guide\n\n{}\n\n{text}\n\n{}\n\n{text}\n\n{last}\n",
            own("a", 60),
            own("b", 60),
            last = own(last, 160)
        )
    };
    let shell = repository(&[("docs/guide.md", guide("c")), ("docs/de/guide.md", guide("c"))]);
    shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
    let before = fs::read_to_string(shell.folder().join("b.json")).unwrap();
    assert_eq!(reasons(&shell).len(), 2);
    write(&shell, "docs/de/guide.md", &guide("deutsch"));
    let records = records(&shell, "docs --baseline b.json --grade note --fail-on-stale");
    let kinds: Vec<&Value> = records.iter().map(|record| &record["type"]).collect();
    assert_eq!(kinds, ["copy"], "{records:?}");
    shell.sh("dedup check -q docs --baseline b.json --prune-baseline").done();
    assert_eq!(fs::read_to_string(shell.folder().join("b.json")).unwrap(), before);
    // Without it in any page, the entry is stale.
    write(&shell, "docs/guide.md", &guide("c").replace(&text, ""));
    write(&shell, "docs/de/guide.md", &guide("deutsch").replace(&text, ""));
    let stale = self::records(&shell, "docs --baseline b.json --grade note --fail-on-stale");
    assert_eq!(stale.iter().filter(|record| record["type"] == "stale").count(), 1, "{stale:?}");
}

/// A page is a whole copy of one that an entry names. The report lists the copies only in one of the two.
#[test]
fn an_entry_stays_while_a_whole_copy_is_listed_instead_of_its_page() {
    let text = own("text", 50);
    let guide = format!("# Guide\n\n{}\n\n{text}\n\n{}\n\n{text}\n\n{}\n", own("a", 60), own("b", 60), own("c", 60));
    let shell = repository(&[("docs/guide.md", guide.clone())]);
    shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
    write(&shell, "docs/de/guide.md", &guide);
    let records = records(&shell, "docs --baseline b.json --fail-on-stale");
    assert!(records.iter().all(|record| record["type"] == "copy"), "{records:?}");
}

/// The text of an entry moved to another page. The entry is stale, but shows which place is new: pruning keeps it as long as that is
/// reported.
#[test]
fn an_entry_that_shows_what_is_new_is_not_pruned() {
    let [first, second] = [own("first", 60), own("second", 60)];
    let shell = repository(&[
        ("docs/a.md", page("alpha", &[&first])),
        ("docs/b.md", page("beta", &[&first, &second])),
        ("docs/c.md", page("gamma", &[])),
        ("docs/d.md", page("delta", &[&second])),
    ]);
    shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
    write(&shell, "docs/b.md", &page("beta", &[]));
    write(&shell, "docs/c.md", &page("gamma", &[&first]));
    let expected = one("error", "docs/c.md", &["docs/c.md"]);
    assert_eq!(found(&shell, "docs --baseline b.json"), expected);
    // Of two stale entries, pruning drops one.
    let keeps = "dedup: --prune-baseline keeps 1 stale entry, because it shows where a copy is new: remove or accept that copy first\n";
    let run = shell.sh("dedup check docs --baseline b.json");
    assert!(run.stderr.contains(&format!("dedup: --prune-baseline drops 1 of them\n{keeps}")), "{}", run.stderr);
    let run = shell.sh("dedup check docs --baseline b.json --fail-on-stale");
    let fails = "2 stale entries make the check fail (--fail-on-stale): --prune-baseline drops 1 of them\n";
    assert!(run.stderr.contains(&format!("{fails}{keeps}")), "{}", run.stderr);
    let run = shell.sh("dedup check docs --baseline b.json --prune-baseline");
    let kept = "dedup: 1 stale entry kept, because it shows where a copy is new: remove or accept that copy, then use --prune-baseline\n";
    let dropped = "1 stale entry dropped from b.json\n";
    assert!(run.status == 1 && run.stderr.contains(&format!("{dropped}{kept}")), "{}", run.stderr);
    assert!(!run.stderr.contains("--prune-baseline keeps"), "{}", run.stderr);
    assert_eq!(reasons(&shell), [("ab".to_string(), None)]);
    assert_eq!(found(&shell, "docs --baseline b.json"), expected);
    let run = shell.sh("dedup check docs --baseline b.json --prune-baseline --fail-on-stale");
    assert!(run.stderr.contains("dedup: nothing dropped from b.json\n"), "{}", run.stderr);
    let fails = "1 stale entry makes the check fail (--fail-on-stale)\n";
    assert!(run.stderr.contains(fails) && !run.stderr.contains("--prune-baseline keeps"), "{}", run.stderr);
    let run = shell.sh("dedup check docs --baseline b.json --fail-on-stale");
    assert!(run.stderr.contains(&format!("{fails}{keeps}")), "{}", run.stderr);
    let run = shell.sh("dedup check docs --baseline b.json");
    assert!(run.stderr.contains(keeps) && !run.stderr.contains("--prune-baseline drops"), "{}", run.stderr);
    // Another copy is accepted: the entry stays. The copy that it shows is removed: it is dropped.
    write(&shell, "docs/d.md", &page("delta", &[&second]));
    write(&shell, "docs/e.md", &page("epsilon", &[&second]));
    let run = shell
        .sh("dedup check docs --baseline b.json --update-baseline --accept docs/e.md:5 --fail-on none --fail-on-stale");
    assert!(run.status == 1 && run.stderr.contains(kept) && run.stderr.contains(fails), "{}", run.stderr);
    let run = shell.sh("dedup check docs --baseline b.json --fail-on none --fail-on-stale");
    assert!(run.status == 1 && run.stderr.contains(&format!("{fails}{keeps}")), "{}", run.stderr);
    assert_eq!(found(&shell, "docs --baseline b.json"), expected);
    // The copy that it shows is accepted: the entry is dropped.
    shell.sh("cp b.json other.json").done();
    let update = "--update-baseline --accept docs/c.md:5 --fail-on-stale";
    let run = shell.sh(&format!("dedup check docs --baseline other.json {update}"));
    assert!(run.status == 0 && run.stderr.contains("1 dropped"), "{}", run.stderr);
    shell.sh("dedup check docs --baseline other.json --fail-on-stale").done();
    write(&shell, "docs/c.md", &page("gamma", &[]));
    shell.sh("dedup check -q docs --baseline b.json --prune-baseline").done();
    assert_eq!(reasons(&shell), [("de".to_string(), None)]);
}

/// A page that the baseline names was removed. A later page with the text may be that page under another name, or a new copy: with a commit
/// to compare with, git knows which pages there were.
#[test]
fn a_page_that_was_gone_before_is_not_renamed() {
    let text = own("shared", 73);
    let with_text = |name: &str| page(name, &[&text]);
    let shell = repository(&[("docs/a.md", with_text("alpha")), ("docs/b.md", with_text("beta"))]);
    shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
    shell.sh("git rm -q docs/b.md").done();
    commit(&shell);
    write(&shell, "docs/c.md", &with_text("gamma"));
    let new = one("error", "docs/c.md", &["docs/c.md"]);
    let check = |options: &str| shell.sh(&format!("dedup check docs --baseline b.json {options}"));
    assert_eq!(found(&shell, "docs --baseline b.json --since HEAD"), new);
    shell.sh("git add docs/c.md").done();
    assert_eq!(found(&shell, "docs --baseline b.json --staged"), new);
    // The page was there: it may have been renamed.
    assert_eq!(found(&shell, "docs --baseline b.json --since HEAD~1"), []);
    assert!(!check("--since HEAD~1").stderr.contains("taken for"));
    // What is stale does not depend on the commit.
    for options in ["", "--since HEAD --fail-on none", "--since HEAD~1"] {
        assert_eq!(check(&format!("{options} --fail-on-stale")).status, 0, "{options}");
    }
    // Without a commit it is not known.
    let run = check("");
    let line = "dedup: docs/c.md has an accepted copy, because it is taken for docs/b.md, which b.json names and which is gone: \
                --update-baseline writes the new name; if it is a new copy, remove the copy\n";
    assert!(run.status == 0 && run.stderr.contains(line), "{}", run.stderr);
    let run = shell.sh("cd docs; dedup check . --baseline ../b.json");
    assert!(
        run.stderr.contains("c.md has an accepted copy, because it is taken for b.md, which ../b.json"),
        "{}",
        run.stderr
    );
    shell.sh("cp b.json other.json").done();
    assert!(!shell.sh("dedup check docs --baseline other.json --update-baseline").stderr.contains("taken for"));
    assert!(!shell.sh("dedup check docs --baseline other.json").stderr.contains("taken for"));
    // A new entry names both pages of the new copy.
    let run = check("--since HEAD --update-baseline");
    assert!(run.stderr.contains("1 copy accepted in b.json, 1 new\n"), "{}", run.stderr);
    assert_eq!(reasons(&shell), [("ab".to_string(), None), ("ac".to_string(), None)]);
    let run = check("");
    assert!(run.status == 0 && !run.stderr.contains("taken for"), "{}", run.stderr);
}

#[test]
fn pages_that_are_taken_for_others_are_counted() {
    let texts = ["one", "two", "six"].map(|name| own(name, 60));
    let pages = |names: &[&str]| -> Vec<(String, String)> {
        let of = |(name, text): (&&str, &String)| (format!("docs/{name}.md"), page(name, &[text]));
        names.iter().zip(&texts).map(of).collect()
    };
    let shell = Shell::new();
    let write = |names: &[&str]| pages(names).iter().for_each(|(path, text)| write(&shell, path, text));
    [["a", "b", "c"], ["d", "e", "f"]].iter().for_each(|names| write(names));
    shell.sh("dedup check -q docs --baseline b.json --update-baseline").done();
    shell.sh("rm docs/[def].md").done();
    write(&["x", "y", "z"]);
    let run = shell.sh("dedup check docs --baseline b.json");
    let line = "dedup: docs/x.md and 2 more pages have accepted copies, because they are taken for docs/d.md and others, which b.json \
                names and which are gone: --update-baseline writes the new names; if one is a new copy, remove the copy\n";
    assert!(run.status == 0 && run.stderr.contains(line), "{}", run.stderr);
    // An update of one entry leaves the others.
    let run = shell.sh("dedup check docs --baseline b.json --update-baseline --accept docs/x.md:5");
    assert!(run.stderr.contains("docs/x.md and 2 more pages have"), "{}", run.stderr);
}

/// A mistyped path is no baseline without stale entries.
#[test]
fn a_baseline_that_does_not_exist_has_no_stale_entries_to_know_of() {
    let shell = two_copies();
    let run = shell.sh("dedup check docs --baseline none.json --fail-on-stale -q");
    let error = "none.json: no such baseline, so it is not known which entries are stale: correct the path, or create it with \
                 --update-baseline\n";
    assert!(run.status == 2 && run.stderr.ends_with(error), "{}", run.stderr);
    assert_eq!(shell.sh("dedup check docs --baseline none.json --prune-baseline --fail-on-stale").status, 2);
    assert!(shell.sh("dedup check docs --baseline none.json").status < 2);
    shell.sh("dedup check docs --baseline none.json --fail-on-stale --update-baseline").done();
    shell.sh("dedup check docs --baseline none.json --fail-on-stale").done();
    // A commit would not have it.
    shell.sh("git init -q -b main .").done();
    let run = shell.sh("dedup check docs --baseline none.json --fail-on-stale --staged");
    assert!(run.status == 2 && run.stderr.contains("none.json is not staged: stage it with git add"), "{}", run.stderr);
}

#[test]
fn a_negated_glob_that_no_page_needs() {
    let shell = two_copies();
    shell.write("dedup.toml", "[check]\nignore = [\"docs/\", \"!docs/a.md\"]\n");
    shell.write("other.md", "A page.\n");
    let run = shell.sh("dedup check . --ignore '!other.md'");
    let other = "warning: --ignore '!other.md' includes no page again that others exclude: correct or remove it\n";
    assert!(run.stderr.contains(other) && !run.stderr.contains("docs/a.md"), "{}", run.stderr);
    assert!(run.stderr.contains("2 pages"), "{}", run.stderr);
    shell.write("dedup.toml", "[check]\nignore = [\"!docs/a.md\"]\n");
    let run = shell.sh("dedup check");
    assert!(run.stderr.contains("dedup.toml: ignore '!docs/a.md' includes no page again"), "{}", run.stderr);
}
