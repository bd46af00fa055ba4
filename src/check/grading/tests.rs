//! Grades of findings in small trees of pages.

use super::super::find::{FindOptions, Kind};
use super::super::grade::{Grade, Preset, Reason};
use super::super::request::Request;
use super::super::rules::Rule;
use super::super::run::run;
use proptest::prelude::*;
use std::fs;

const COPIED: &str = "The nightly job copies every table to the second server before it removes anything from the first one, and it \
    writes down how many rows it has seen, so that the operator can compare both numbers in the morning.";
/// Of 20 words.
const SHORT: &str =
    "Restart the server after each change of this file, because the workers read it only once when they are started.";

/// A folder with these files.
fn written(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

/// The grade and the reasons of the only finding.
fn graded(files: &[(&str, String)], request: Request) -> (Grade, Vec<Reason>) {
    let folder = written(files);
    let outcome = run(&Request { folder: folder.path().into(), paths: vec![folder.path().into()], ..request }).unwrap();
    let [finding] = &outcome.findings[..] else { panic!("{files:?}: {:#?}", outcome.findings.len()) };
    (finding.grade, finding.reasons.clone())
}

/// The kind, the grade and the paths of each finding.
fn all(files: &[(&str, String)]) -> Vec<(Kind, Grade, Vec<String>)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let request = Request { folder: folder.path().into(), ..Request::new([folder.path()]) };
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
    let found = run(&request).unwrap().findings.into_iter();
    found
        .map(|finding| (finding.kind, finding.grade, finding.places.iter().map(|place| name(place.path())).collect()))
        .collect()
}

/// An address is four words, none of them with a letter.
#[test]
fn numbers_make_no_text_long() {
    let page = |own: &str| {
        let [before, after] =
            [0..40, 40..80].map(|numbers| numbers.map(|number| format!("{own}{number} ")).collect::<String>());
        format!("{before}\n\n{SHORT} See 192.0.2.10 and 192.0.2.11.\n\n{after}\n")
    };
    let files = [("a.md", page("a")), ("b.md", page("b"))];
    assert_eq!(graded(&files, Request::default()), (Grade::Warning, vec![Reason::Short]));
}

/// A page of a site in versions, of which one has no number.
#[test]
fn versions_without_a_number() {
    let titles = [("2.1/a.md", "One"), ("2-edge/a.md", "Two"), ("docs/a.md", "Three")];
    let files = titles.map(|(path, title)| (path, page(title, COPIED)));
    let others = ["2.1/b.md", "2-edge/b.md", "docs/b.md"].map(|path| (path, format!("Only {path}.")));
    let all = [&files[..], &others].concat();
    assert_eq!(graded(&all, Request::default()), (Grade::Note, vec![Reason::Version]));
    let [one, other, _] = files;
    let moved = [one, ("community/b.md", other.1.clone())];
    assert_eq!(graded(&moved, Request::default()), (Grade::Warning, vec![Reason::OtherVersion]));
    let indices = [("v2/README.md", moved[0].1.clone()), ("cmd/README.md", other.1)];
    assert_eq!(graded(&indices, Request::default()), (Grade::Warning, vec![Reason::OtherVersion]));
}

#[test]
fn pages_of_an_older_version() {
    let is = |newer: &'static str, grade, reasons: &[Reason]| {
        let mut files = pair(["docs/v1.9/a.md", "docs/v1.9/b.md"], COPIED).to_vec();
        files.push((newer, "# Gamma\n\nOther words.\n".into()));
        assert_eq!(graded(&files, Request::default()), (grade, reasons.to_vec()), "{newer}");
    };
    is("docs/v1.10/a.md", Grade::Warning, &[Reason::OldVersion]);
    is("docs/v1.8/a.md", Grade::Error, &[]);
    is("docs/latest/a.md", Grade::Error, &[]);
    is("other/v2.0/a.md", Grade::Error, &[]);
}

/// A page with a text among other words.
fn page(title: &str, text: &str) -> String {
    format!(
        "# {title}\n\nOnly the page {title} begins like this, with {title} words.\n\n{text}\n\nThen {title} ends.\n"
    )
}

fn pair(paths: [&'static str; 2], text: &str) -> [(&'static str, String); 2] {
    [(paths[0], page("Alpha", text)), (paths[1], page("Beta", text))]
}

#[test]
fn places_limit_the_grade() {
    let is = |paths, text, grade, reasons: &[Reason]| {
        assert_eq!(graded(&pair(paths, text), Request::default()), (grade, reasons.to_vec()), "{paths:?}");
    };
    is(["a.md", "b.md"], COPIED, Grade::Error, &[]);
    is(["a.md", "b.md"], SHORT, Grade::Warning, &[Reason::Short]);
    is(["CHANGELOG.md", "docs/news/b.md"], COPIED, Grade::Note, &[Reason::ReleaseNotes]);
    is(["CHANGELOG.md", "b.md"], COPIED, Grade::Warning, &[Reason::ReleaseNotes]);
    is(["api/a.md", "api/b.md"], COPIED, Grade::Warning, &[Reason::Reference]);
    is(["api/a.md", "b.md"], COPIED, Grade::Error, &[]);
    is(["en/a.md", "de/a.md"], COPIED, Grade::Note, &[Reason::Translation]);
    is(["en/a.md", "de/b.md"], COPIED, Grade::Error, &[]);
    is(["docs/a.md", "versioned_docs/version-1.0/a.md"], COPIED, Grade::Note, &[Reason::Version]);
    is(["docs/v1.1/a.md", "docs/v1.2/moved/b.md"], COPIED, Grade::Note, &[Reason::OtherVersion]);
    is(["docs/v1.1/a.md", "docs/v1.1/b.md"], COPIED, Grade::Error, &[]);
    is(["v0.18/docs/guide/a.md", "community/a.md"], COPIED, Grade::Note, &[Reason::Version]);
    is(["v0.18/docs/a.md", "docs/b.md"], COPIED, Grade::Warning, &[Reason::OtherVersion]);
    is(["spec.md", "spec_2_0.md"], COPIED, Grade::Note, &[Reason::Version]);
    is(["part1.md", "part2.md"], COPIED, Grade::Error, &[]);
    is(["LICENSE.md", "LICENSE-MIT.md"], COPIED, Grade::Note, &[Reason::Licence]);
    let licence = format!("Permission is hereby granted, free of\ncharge, to all who read it. {COPIED}");
    is(["header.txt", "b.md"], &licence, Grade::Note, &[Reason::Licence]);
    is(["a.md", "b.md"], &format!("It is under the terms of the GNU licence. {COPIED}"), Grade::Error, &[]);
}

/// The grade of a copy in two pages, among others with these paths.
fn grade_among(paths: [&str; 2], others: &[String]) -> (Grade, Vec<Reason>) {
    let [one, two] = [page("Alpha", COPIED), page("Beta", COPIED)];
    let others = others.iter().map(|path| (path.as_str(), format!("Only {path}.")));
    let files: Vec<_> = [(paths[0], one), (paths[1], two)].into_iter().chain(others).collect();
    graded(&files, Request::default())
}

/// Two pages of the same names in each of these folders.
fn shared<'a>(folders: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    folders.into_iter().flat_map(|folder| ["x.md", "y.md"].map(|page| format!("{folder}/{page}"))).collect()
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The reason of a finding in two versions: of one page if they have one name, unless each folder may have a page of that name.
fn of_versions(paths: [&str; 2]) -> Reason {
    let [one, other] = paths.map(|path| path.rsplit('/').next().unwrap());
    if one == other && one != "README.md" { Reason::Version } else { Reason::OtherVersion }
}

/// Folders of one name, with and without the number of a version, that share pages; and without these, they are no versions.
#[test]
fn versions_in_the_names_of_folders() {
    // The first folder with a number, or the first one.
    let version = |path: &'static str| {
        let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
        let has_number = |folder: &&str| folder.contains(|c: char| c.is_ascii_digit());
        ends.clone().find(has_number).or(ends.clone().next()).unwrap()
    };
    let is = |paths: [&'static str; 2], grade| {
        let reasons = if grade == Grade::Error { vec![] } else { vec![of_versions(paths)] };
        assert_eq!(grade_among(paths, &shared(paths.map(version))), (grade, reasons), "{paths:?}");
        assert_eq!(grade_among(paths, &[]), (Grade::Error, vec![]), "{paths:?}");
    };
    is(["guide-1.2.0/a.md", "guide-1.3.0/a.md"], Grade::Note);
    is(["guide-1.2.0/a.md", "guide-1.3.0/b.md"], Grade::Note);
    is(["docs-v1/a.md", "docs-v2/b.md"], Grade::Note);
    is(["x/project_1.4/a.md", "x/project-2/b.md"], Grade::Note);
    is(["lib-1.2-docs/a.md", "lib-1.3-docs/b.md"], Grade::Note);
    is(["python3.11/a.md", "python3.12/b.md"], Grade::Note);
    is(["guide-latest/a.md", "guide-1.2/b.md"], Grade::Note);
    is(["guide-1.2/de/a.md", "guide-1.3/en/a.md"], Grade::Note);
    // One has no version.
    is(["docs/a.md", "docs-v2/a.md"], Grade::Note);
    is(["docs/a.md", "docs-v2/b.md"], Grade::Warning);
    is(["docs/README.md", "docs-v2/more/README.md"], Grade::Warning);
    // Other folders, other names, one version, and numbers that count parts of a text.
    is(["x/guide-1.2/a.md", "y/guide-1.3/a.md"], Grade::Error);
    is(["guide-1.2/a.md", "manual-1.3/a.md"], Grade::Error);
    is(["guide-1.2/a.md", "manual/a.md"], Grade::Error);
    is(["lib-1.2-docs/a.md", "lib-1.3-api/a.md"], Grade::Error);
    is(["guide-1.2/a.md", "guide-1.2/b.md"], Grade::Error);
    is(["chapter-1/a.md", "chapter-2/a.md"], Grade::Error);
    is(["part-2/a.md", "part-3/a.md"], Grade::Error);
    is(["step-1/a.md", "step-2/a.md"], Grade::Error);
    is(["section-1.1/a.md", "section-1.2/a.md"], Grade::Error);
    is(["homework-1.1/a.md", "homework-1.2/a.md"], Grade::Error);
    is(["kapitel-1.1/a.md", "kapitel-1.2/a.md"], Grade::Error);
    is(["notes-2023.11/a.md", "notes-2023.12/a.md"], Grade::Error);
    is(["host-10.0.0.1/a.md", "host-10.0.0.2/a.md"], Grade::Error);
    is(["guide-1/a.md", "guide-2/a.md"], Grade::Error);
}

/// Numbers of protocols and topics look like those of versions; their pages differ.
#[test]
fn numbers_of_topics_are_no_versions() {
    let is = |paths: [&str; 2], others: [&str; 4]| {
        assert_eq!(grade_among(paths, &others.map(String::from)), (Grade::Error, vec![]), "{paths:?}");
    };
    is(["tls-1.2/a.md", "tls-1.3/b.md"], ["tls-1.2/c.md", "tls-1.2/d.md", "tls-1.3/e.md", "tls-1.3/f.md"]);
    is(["http-1.1/a.md", "http-2/b.md"], ["http-1.1/c.md", "http-1.1/d.md", "http-2/e.md", "http-2/f.md"]);
    is(
        ["chapter-v1/a.md", "chapter-v2/b.md"],
        ["chapter-v1/c.md", "chapter-v1/d.md", "chapter-v2/e.md", "chapter-v2/f.md"],
    );
    is(["ip-v4/a.md", "ip-v6/b.md"], ["ip-v4/c.md", "ip-v4/index.md", "ip-v6/c.md", "ip-v6/index.md"]);
}

/// Folders of one name within one version of another.
#[test]
fn versions_within_versions() {
    let is = |paths: [&str; 2], other: &str, grade| {
        let reasons = if grade == Grade::Error { vec![] } else { vec![of_versions(paths)] };
        let others = shared([paths[0], paths[1], other].map(folder));
        assert_eq!(grade_among(paths, &others), (grade, reasons), "{paths:?}");
    };
    is(["lib-1.2/guide-2.0/a.md", "lib-1.2/guide-2.1/a.md"], "lib-1.1/x.md", Grade::Note);
    is(["lib-1.2/guide-2.0/a.md", "lib-1.2/guide/b.md"], "lib-1.1/x.md", Grade::Warning);
    is(["lib-1.2/guide-2.0/a.md", "lib-1.3/guide-2.0/b.md"], "lib-1.3/guide-2.1/x.md", Grade::Note);
    is(["lib-1.2/guide-2.0/a.md", "lib-1.2/guide-2.0/b.md"], "lib-1.1/x.md", Grade::Error);
}

/// Copies within an older one of folders of one name.
#[test]
fn pages_of_an_older_version_in_a_named_folder() {
    let is = |other: &str, grade, reasons: &[Reason]| {
        let others = shared(["guide-1.9", folder(other)]);
        let found = grade_among(["guide-1.9/a.md", "guide-1.9/b.md"], &others);
        assert_eq!(found, (grade, reasons.to_vec()), "{other}");
    };
    is("guide-1.10/a.md", Grade::Warning, &[Reason::OldVersion]);
    is("guide-1.8/a.md", Grade::Error, &[]);
    is("guide-latest/a.md", Grade::Error, &[]);
    is("guide/a.md", Grade::Error, &[]);
    is("other-2.0/a.md", Grade::Error, &[]);
}

#[test]
fn headings_and_sources_limit_the_grade() {
    let versions = ["1.2", "1.1"].map(|version| format!("# {version}\n\n{COPIED}\n\nOnly {version} has this.\n"));
    let [one, other] = versions;
    let files = [("a.md", one), ("b.md", other)];
    assert_eq!(graded(&files, Request::default()), (Grade::Note, vec![Reason::ReleaseNotes]));
}

/// A page with a text under one of two headings, below an introduction.
fn under(headings: [&str; 2], introduction: &str) -> String {
    let [one, other] = headings;
    let words = words(30);
    format!(
        "# Title\n\n{introduction}\n\n## {one}\n\n### Part\n\n{COPIED}\n\nThe end of {one}.\n\n## {other}\n\n{words}\n"
    )
}

/// A name that is an ordinary word counts only with headings of versions or dates, above most of the text.
#[test]
fn ordinary_names_need_headings_of_versions() {
    let versions = ["Server 3.1", "Server 3.0"];
    let is = |name: &'static str, text: String, expected: &[Reason]| {
        let files = [(name, text), ("docs/a.md", page("Alpha", COPIED))];
        let grade = if expected.is_empty() { Grade::Error } else { Grade::Warning };
        assert_eq!(graded(&files, Request::default()), (grade, expected.to_vec()), "{name}");
    };
    let notes = [Reason::ReleaseNotes];
    for name in ["releases.md", "docs/news.md", "docs/history.md", "upgrade.md", "roadmap.md"] {
        is(name, under(["Making one", "Testing one"], ""), &[]);
        is(name, under(["Step 3.1", "Step 3.2"], ""), &[]);
        is(name, under(versions, &words(300)), &[]);
        is(name, under(versions, ""), &notes);
        is(name, under(["January 2024", "2023-12-01"], ""), &notes);
        is(name, under(["Upgrading from 2.0 to 2.1", "Upgrading from 1.9"], ""), &notes);
    }
    is("guide.md", under(versions, ""), &[]);
    for name in ["HISTORY.md", "CHANGELOG.md", "4_0_release_notes.md", "release-notes/a.md", "changes/a.md"] {
        is(name, under(["Making one", "Testing one"], ""), &notes);
    }
    // A heading of a version is enough for what is below it.
    is("guide.md", format!("# A\n\n{}\n\n## What's new in 8.0\n\n{COPIED}\n", words(90)), &notes);
}

#[test]
fn a_reason_names_the_release_notes() {
    let folder = tempfile::tempdir().unwrap();
    let text = |own: &str| format!("# {own}\n\nWords of {own} only, and {own} has more of them.\n\n{COPIED}\n");
    let texts = |files: &[&str]| {
        for file in files {
            fs::write(folder.path().join(file), text(file)).unwrap();
        }
        let request = Request { folder: folder.path().into(), ..Request::new([folder.path()]) };
        run(&request).unwrap().findings[0].reason_texts()
    };
    let path = folder.path().join("CHANGELOG.md");
    assert_eq!(texts(&["CHANGELOG.md", "a.md"]), [format!("release notes or dated posts: {}", path.display())]);
    fs::remove_file(folder.path().join("a.md")).unwrap();
    assert_eq!(texts(&["NEWS.md"]), ["release notes or dated posts"]);
}

#[test]
fn pages_that_a_program_wrote_limit_the_grade() {
    let is = |before: [&str; 2], grade| {
        let mut files = pair(["a.md", "b.md"], COPIED);
        files.iter_mut().zip(before).for_each(|((_, text), before)| *text = format!("{before}\n\n{text}"));
        let reasons = if grade == Grade::Error { vec![] } else { vec![Reason::Generated] };
        assert_eq!(graded(&files, Request::default()), (grade, reasons), "{before:?}");
    };
    let generated = "<!-- Autogenerated -->";
    is([generated; 2], Grade::Note);
    is(["", generated], Grade::Warning);
    is(["<!---\nIs generated by a script. DO NOT EDIT.\n-->"; 2], Grade::Note);
    is(["<!-- a remark -->\nDo not edit this."; 2], Grade::Error);
    is(["<!--\na remark\n-->\nDo not edit this."; 2], Grade::Error);
    is(["Autogenerated clients are small."; 2], Grade::Error);
    is(["<p>Packages:</p>", "<p>Packages:</p>"], Grade::Note);
}

#[test]
fn posts_limit_the_grade() {
    let is = |paths, grade| assert_eq!(graded(&pair(paths, COPIED), Request::default()).0, grade, "{paths:?}");
    is(["blog/a.md", "docs/blog/b.md"], Grade::Note);
    is(["_posts/a.md", "docs/b.md"], Grade::Warning);
    is(["articles/2024/a.md", "articles/2025/b.md"], Grade::Note);
    is(["articles/a.md", "posts/b.md"], Grade::Error);
    is(["blog.md", "docs/blog.md"], Grade::Error);
}

/// A text with this many words.
fn words(number: usize) -> String {
    (0..number).map(|word| format!("word{word} ")).collect()
}

#[test]
fn texts_that_lead_to_their_copies() {
    let is = |text: &str, [before, after]: [&str; 2], grade, reasons: &[Reason]| {
        let own = |name: &str| (0..40).map(|word| format!("{name}{word} ")).collect::<String>();
        let linked = format!("# Alpha\n\n{}\n\n## Text\n\n{before}\n\n{text}\n\n{after}\n", own("alpha"));
        let other = format!("# Beta\n\n{}\n\n{text}\n", own("beta"));
        let found = graded(&[("a.md", linked), ("b.md", other)], Request::default());
        assert_eq!(found, (grade, reasons.to_vec()), "{before} {after}");
    };
    let (link, far) = ("See [there](b.md#x).", words(110));
    is(COPIED, [link, ""], Grade::Note, &[Reason::Linked]);
    is(COPIED, ["", link], Grade::Note, &[Reason::Linked]);
    is(COPIED, ["", "See [elsewhere](c.md)."], Grade::Error, &[]);
    is(COPIED, [&format!("{link}\n\n## Other"), ""], Grade::Error, &[]);
    is(COPIED, [&format!("{link} {far}"), &format!("{} {link}", far.replace("word", "more"))], Grade::Error, &[]);
    is(&words(59), ["", link], Grade::Note, &[Reason::Linked]);
    is(&words(60), ["", link], Grade::Warning, &[Reason::Linked]);
}

#[test]
fn all_other_places_lead_to_one() {
    let own = |path: &str| (0..40).map(|word| format!("{}{word} ", &path[..1])).collect::<String>();
    let mut files = ["a.md", "b.md", "c.md"].map(|path| (path, page(path, &format!("{}\n\n{COPIED}", own(path)))));
    files[1].1 = files[1].1.replace("morning.", "morning. See [a](a.md).");
    assert_eq!(graded(&files, Request::default()), (Grade::Error, vec![]));
    files[2].1 = files[2].1.replace("morning.", "morning. See [a](a.md).");
    assert_eq!(graded(&files, Request::default()), (Grade::Note, vec![Reason::Linked]));
}

#[test]
fn files_that_link_to_each_other_are_copies() {
    let files = ["a.md", "b.md"].map(|path| (path, format!("# Title\n\n{COPIED}\n\n[a](a.md) [b](b.md)\n")));
    assert_eq!(graded(&files, Request::default()), (Grade::Error, vec![]));
    // A page that leads to one with more text.
    let [part, whole] = [words(90), format!("{}\n\n{}", words(90), words(400).replace("word", "more"))];
    let of = |part: &str, whole: &str| graded(&[("a.md", part.into()), ("b.md", whole.into())], Request::default());
    assert_eq!(of(&part, &whole), (Grade::Error, vec![]));
    assert_eq!(of(&format!("{part}\n\n[b](b.md)"), &whole), (Grade::Warning, vec![Reason::Linked]));
    assert_eq!(of(&part, &format!("{whole}\n\n[a](a.md)")), (Grade::Error, vec![]));
}

#[test]
fn code_that_differs_limits_the_grade() {
    let [one, other] = COPIED.split_once("before").map(|(one, other)| [one, other]).unwrap();
    let text = |name: &str, lines: usize| {
        let code: String = (0..lines).map(|line| format!("    {name}{line} = run(option)\n")).collect();
        format!("{one}:\n\n{code}\nbefore{other}\n\n{SHORT}")
    };
    let graded = |names: [&str; 2], lines| {
        let files = [("a.md", page("Alpha", &text(names[0], lines))), ("b.md", page("Beta", &text(names[1], lines)))];
        graded(&files, Request::default())
    };
    assert_eq!(graded(["ruby", "rust"], 60), (Grade::Warning, vec![Reason::Code]));
    assert_eq!(graded(["ruby", "ruby"], 60), (Grade::Error, vec![]));
    assert_eq!(graded(["ruby", "rust"], 5), (Grade::Error, vec![]));
}

#[test]
fn three_places_in_a_reference_are_a_note() {
    let files = ["api/a.md", "api/b.md", "api/c.md"].map(|path| (path, page(path, COPIED)));
    assert_eq!(graded(&files, Request::default()), (Grade::Note, vec![Reason::Reference]));
}

#[test]
fn rules_limit_the_grade() {
    let with = |rule: Rule| Request {
        rules: vec![Rule { paths: vec!["a.md".into(), "x/".into()], ..rule }],
        ..Request::default()
    };
    let graded = |paths, rule| graded(&pair(paths, COPIED), with(rule));
    let note = Rule { grade: Some(Grade::Note), ..Rule::default() };
    assert_eq!(graded(["a.md", "b.md"], note.clone()), (Grade::Note, vec![Reason::Rule]));
    assert_eq!(graded(["b.md", "c.md"], note), (Grade::Error, vec![]));
    let is = |preset| Rule { preset: Some(preset), ..Rule::default() };
    assert_eq!(graded(["x/b.md", "x/c.md"], is(Preset::Changelogs)), (Grade::Note, vec![Reason::ReleaseNotes]));
    assert_eq!(graded(["x/b.md", "x/c.md"], is(Preset::Reference)), (Grade::Warning, vec![Reason::Reference]));
    assert_eq!(
        graded(["x/one/c.md", "x/two/c.md"], is(Preset::Translations)),
        (Grade::Note, vec![Reason::Translation])
    );
    assert_eq!(graded(["x/one/b.md", "x/two/c.md"], is(Preset::Translations)), (Grade::Error, vec![]));
    let changes = ["x/CHANGES.md", "x/UPGRADING_ALL.md"];
    assert_eq!(
        graded(changes, Rule { min_words: Some(20), ..Rule::default() }),
        (Grade::Note, vec![Reason::ReleaseNotes])
    );
    assert_eq!(graded(changes, is(Preset::Ordinary)), (Grade::Error, vec![]));
    assert_eq!(graded(["x/blog/b.md", "x/api/c.md"], is(Preset::Ordinary)), (Grade::Error, vec![]));
}

#[test]
fn words_limit_the_grade() {
    let is = |text: &str, grade, reasons: &[Reason]| {
        assert_eq!(graded(&pair(["a.md", "b.md"], text), Request::default()), (grade, reasons.to_vec()), "{text}");
    };
    // Headings and short sentences around code that differs.
    let section = |name: &str| {
        format!("## {name} example\n\nThe {name} client can be installed with this command:\n\n    {name}\n\n")
    };
    let skeleton: String = ["Rust", "Python", "Ruby", "Java", "Perl", "Haskell"].map(section).concat();
    is(&skeleton, Grade::Note, &[Reason::Skeleton]);
    let links = [
        "install",
        "update",
        "backup",
        "restore",
        "monitoring",
        "tuning",
        "logging",
        "users",
        "roles",
        "networks",
        "disks",
    ];
    let links: String = links.map(|name| format!("- [The {name} guide for operators]({name}.md)\n")).concat();
    is(&links, Grade::Note, &[Reason::Navigation]);
    // Long titles of pages, in each markup; and the same with more words beside them.
    let titles = [
        "How a nightly copy of all tables is made, checked and kept for as long as the law asks",
        "Why two servers in one building are not enough, and where the third of them should be put",
        "What to do in the first hour after the power went off in the middle of a write",
        "Which settings of the kernel matter for a database that never sleeps, with numbers from our own machines",
        "Whom to call at night when the log of the mail server fills the disk again, by subject",
    ];
    // An asterisk stands for the title; both forms are used in turn.
    let list = |forms: [&str; 2]| {
        titles.iter().zip(forms.iter().cycle()).map(|(title, form)| form.replace('*', title)).collect::<String>()
    };
    let [markdown, html, rst, asciidoc] = [
        ["- [*](a.md)\n", "- [*](<b.md> \"B\")\n"],
        ["<li><a href='a.html'><b>*</b></a></li>", "<li><A\nHREF=b.html>*</A></li>"],
        ["- `* <a.html>`_\n", "- :doc:`* </b>`\n"],
        ["- xref:a.adoc[*]\n", "- https://x.org/b[*]\n"],
    ]
    .map(list);
    let html = format!("<ul>{html}</ul>");
    let markups = [
        (["a.md", "b.md"], &markdown),
        (["a.md", "b.md"], &html),
        (["a.html", "b.html"], &html),
        (["a.rst", "b.rst"], &rst),
        (["a.adoc", "b.adoc"], &asciidoc),
    ];
    for (paths, list) in markups {
        let navigation = (Grade::Note, vec![Reason::Navigation]);
        assert_eq!(graded(&pair(paths, list), Request::default()), navigation, "{list}");
    }
    let beside = |words: &str| list([&format!("- [*](a.md) {words}\n"); 2]);
    is(&beside("too"), Grade::Note, &[Reason::Navigation]);
    is(&beside("which see, and which see"), Grade::Error, &[]);
    is(&markdown.replace("- ", "\n"), Grade::Error, &[]);
    is(&format!("{markdown}\n{COPIED}"), Grade::Error, &[]);
    is(&list(["- *\n"; 2]), Grade::Error, &[]);
    // However many links there are, prose beside them counts, and so do headings.
    let many: String = (0..75).map(|n| format!("- [chapter{n} section{n} topic{n} number{n}](p{n}.md)\n")).collect();
    is(&many, Grade::Note, &[Reason::Navigation]);
    let prose: String = (0..48).map(|n| format!("prose{n} ")).collect();
    is(&format!("{many}\n{prose}."), Grade::Error, &[]);
    is(&format!("{prose}.\n\n{many}"), Grade::Error, &[]);
    let headings: String = titles.map(|title| format!("## {title}\n\n- [See this](a.md)\n\n")).concat();
    assert_ne!(graded(&pair(["a.md", "b.md"], &headings), Request::default()).1, [Reason::Navigation]);
    let options = links.replace("[", "").replace("](", ": ").replace(".md)", " of it");
    is(&options, Grade::Warning, &[Reason::Options]);
    // One item with many links is not a list of them.
    let one = options.replacen("of it", &"[a](b.md) ".repeat(3), 1);
    is(&one, Grade::Warning, &[Reason::Options]);
    let rows = ["timeout", "retries", "workers", "memory", "threads", "verbose"];
    let rows: String = rows
        .map(|name| {
            format!("| {name} | sets how many {name} the {name} pool of a server may have at once, from one upward |\n")
        })
        .concat();
    is(&format!("| name | meaning |\n|---|---|\n{rows}"), Grade::Warning, &[Reason::Options]);
    // A list of whole sentences is prose.
    is(&format!("- {COPIED}\n- {SHORT}\n"), Grade::Error, &[]);
}

#[test]
fn sections_of_one_page_that_are_worded_alike() {
    let text = format!("# Page\n\n{COPIED}\n\n## Other\n\n{}\n", COPIED.replace("every table", "all indexes"));
    assert_eq!(graded(&[("a.md", text)], Request::default()), (Grade::Warning, vec![Reason::Parallel]));
    let text = format!("# Page\n\n{COPIED}\n\n## Other\n\n{COPIED}\n");
    assert_eq!(graded(&[("a.md", text)], Request::default()), (Grade::Error, vec![]));
}

#[test]
fn passages_may_be_asked_to_be_short() {
    let text = SHORT.split_whitespace().take(14).collect::<Vec<_>>().join(" ");
    let find = FindOptions { min_words: 10, ..FindOptions::default() };
    let graded = graded(&pair(["a.md", "b.md"], &text), Request { find, ..Request::default() });
    assert_eq!(graded, (Grade::Error, vec![]));
}

#[test]
fn strict_checks_report_short_texts_as_errors() {
    let find = FindOptions { strict: true, ..FindOptions::default() };
    let graded = graded(&pair(["a.md", "b.md"], SHORT), Request { find, ..Request::default() });
    assert_eq!(graded, (Grade::Error, vec![]));
}

/// The grade of a copy in the first pages of some, whose other pages have only words of their own, and the path of the place to look at.
fn grade_in(copies: usize, paths: &[&str]) -> (Grade, String) {
    let folder = tempfile::tempdir().unwrap();
    for (number, path) in paths.iter().enumerate() {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let own = |part: &str| (0..40).map(|word| format!("p{number}{part}{word} ")).collect::<String>();
        let text = if number < copies { COPIED } else { "" };
        let before = if path.contains("generated") { "<!-- DO NOT EDIT -->\n\n" } else { "" };
        fs::write(file, format!("{before}{}.\n\n{text}\n\n{}.\n", own("a"), own("b"))).unwrap();
    }
    let outcome =
        run(&Request { folder: folder.path().into(), paths: vec![folder.path().into()], ..Request::default() })
            .unwrap();
    let [finding] = &outcome.findings[..] else { panic!("{copies} of {paths:?}: {}", outcome.findings.len()) };
    let base = format!("{}/", folder.path().display());
    (finding.grade, finding.primary().path().replace(&base, ""))
}

#[test]
fn a_place_that_is_no_prose_lowers_no_grade() {
    for more in ["CHANGELOG.md", "blog/a.md", "generated.md", "v1.0/docs/a.md", "api/a.md", "LICENSE.md", "news/z.md"] {
        let (grade, at) = grade_in(3, &["docs/m.md", "docs/n.md", more]);
        assert_eq!(grade, Grade::Error, "{more}");
        assert!(at.starts_with("docs/"), "{more}: {at}");
    }
    // With one page of prose, it is still a copy of that page elsewhere.
    assert_eq!(grade_in(3, &["docs/m.md", "CHANGELOG.md", "news/z.md"]), (Grade::Warning, "news/z.md".into()));
}

/// An index that links to two pages leads to their copies, but neither of these to the other.
#[test]
fn an_index_of_copies_lowers_no_grade() {
    let own = |name: &str| (0..40).map(|word| format!("{name}{word} ")).collect::<String>();
    let with = |name: &str, link: &str| format!("{}.\n\n{COPIED} {link}\n\n{}.\n", own(name), own(&format!("{name}x")));
    let index = with("index", "See [b](b.md) and [c](c.md).");
    let files = [("a.md", index), ("b.md", with("beta", "")), ("c.md", with("gamma", ""))];
    assert_eq!(graded(&files, Request::default()), (Grade::Error, vec![]));
}

const KINDS: [&str; 13] = [
    "docs/a.md",
    "docs/b.md",
    "docs/guide/c.md",
    "CHANGELOG.md",
    "news/a.md",
    "generated-a.md",
    "generated-b.md",
    "api/a.md",
    "api/b.md",
    "v1.0/docs/a.md",
    "v1.0/docs/b.md",
    "v1.1/docs/a.md",
    "de/docs/a.md",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// The grade of a text is that of its two most serious places, so that one more place never lowers it.
    #[test]
    fn a_group_has_the_grade_of_its_most_serious_pair(order in Just(KINDS.to_vec()).prop_shuffle(), places in 3usize..6) {
        let of_pair = |one: usize, other: usize| {
            let mut paths = vec![order[one], order[other]];
            paths.extend((0..order.len()).filter(|&path| path != one && path != other).map(|path| order[path]));
            grade_in(2, &paths).0
        };
        let pairs = (0..places).flat_map(|other| (0..other).map(move |one| (one, other)));
        let most = pairs.map(|(one, other)| of_pair(one, other)).max().unwrap();
        prop_assert_eq!(grade_in(places, &order).0, most, "{} of {:?}", places, order);
    }
}

/// A page that is not translated yet is a copy of the original. What a third page copies is the page of its own language.
#[test]
fn a_page_copies_the_one_of_its_language() {
    for (original, untranslated, third) in [
        ("docs/en/guide.md", "docs/de/guide.md", "docs/en/rules.md"),
        ("docs/en/guide.md", "docs/fr/guide.md", "docs/en/rules.md"),
        ("docs/sec.md", "docs/sec.de.md", "docs/third.md"),
        ("docs/de/guide.md", "docs/en/guide.md", "docs/de/rules.md"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let files =
            [(original, page("Alpha", COPIED)), (untranslated, page("Alpha", COPIED)), (third, page("Beta", COPIED))];
        for (name, text) in &files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let request = Request { folder: folder.path().into(), ..Request::new([folder.path()]) };
        let outcome = run(&request).unwrap();
        let is_of_third = |path: &str| path.ends_with(third);
        let mut found =
            outcome.findings.iter().filter(|finding| finding.places.iter().any(|place| is_of_third(place.path())));
        let (Some(finding), None) = (found.next(), found.next()) else { panic!("{third}") };
        assert_eq!(finding.grade, Grade::Error, "{third}");
        let shown = finding.shown().places.each_ref().map(|place| place.path());
        assert!(shown.iter().any(|path| path.ends_with(original)), "{third}: {shown:?}");
        assert!(finding.proposal.as_ref().is_some_and(|proposal| !proposal.how.contains(untranslated)), "{third}");
    }
}

/// The findings that are not notes: the grade, the reasons, and the paths of the places.
fn above_notes(files: &[(&str, String)]) -> Vec<(Grade, Vec<Reason>, Vec<String>)> {
    let folder = written(files);
    let request = Request { folder: folder.path().into(), ..Request::new([folder.path()]) };
    let inside = |path: &str| path.strip_prefix(folder.path().to_str().unwrap()).unwrap()[1..].to_string();
    let found = run(&request).unwrap().findings.into_iter().filter(|finding| finding.grade > Grade::Note);
    found
        .map(|finding| {
            let paths = finding.places.iter().map(|place| inside(place.path())).collect();
            (finding.grade, finding.reasons, paths)
        })
        .collect()
}

/// A translation has some paragraphs that are not translated yet, and other pages copy one of these: that of the original stands for both,
/// whatever the order of their names.
#[test]
fn the_original_stands_for_what_is_not_translated_of_it() {
    let [before, after] = [own("before"), own("after")];
    for (original, translation, copies) in [
        ("docs/md/os.md", "docs/de/md/os.md", &["docs/handbook/keys.md"][..]),
        ("docs/md/os.md", "docs/de/md/os.md", &["docs/handbook/keys.md", "docs/md/repl.md"]),
        ("docs/en/os.md", "docs/de/os.md", &["docs/en/keys.md"]),
        ("docs/os.md", "docs/os.de.md", &["docs/keys.md"]),
        ("docs/de/os.md", "docs/os.md", &["docs/de/keys.md"]),
    ] {
        let untranslated = format!("{before}\n\n{COPIED}\n\n{after}");
        let mut files = vec![
            (original, format!("# Alpha\n\n{}\n\n{untranslated}\n\n{}\n", own("one"), own("two"))),
            (translation, format!("# Alpha\n\n{}\n\n{untranslated}\n\n{}\n", own("eins"), own("zwei"))),
        ];
        let page = |path: &str| {
            format!("# Beta\n\n{}\n\n{COPIED}\n\n{}\n", own(&format!("{path}x")), own(&format!("{path}y")))
        };
        files.extend(copies.iter().map(|path| (*path, page(path))));
        let mut expected: Vec<String> = copies.iter().chain([&original]).map(|path| path.to_string()).collect();
        expected.sort_unstable();
        assert_eq!(above_notes(&files), [(Grade::Error, vec![], expected)], "{original}");
    }
    // The page of its language has another text there.
    let files = [
        ("docs/os.md", format!("# Alpha\n\n{}\n\n{before}\n\n{after}\n\n{}\n", own("one"), own("two"))),
        (
            "docs/os.de.md",
            format!("# Alpha\n\n{}\n\n{before}\n\n{COPIED}\n\n{after}\n\n{}\n", own("eins"), own("zwei")),
        ),
        ("docs/keys.md", page("Beta", COPIED)),
    ];
    let expected = ["docs/keys.md", "docs/os.de.md"].map(String::from).to_vec();
    assert_eq!(above_notes(&files), [(Grade::Error, vec![], expected)]);
}

/// A page has two sections that are worded alike, and a translation of it one of them, which is not translated yet.
#[test]
fn a_translation_makes_nothing_more_serious() {
    let section = |name: &str, doing: &str, code: &str| {
        format!(
            "## {name}\n\nThe querystring {name} method is used by querystring {doing} and is generally not expected to be used directly. It \
             is exported primarily to allow application code to provide a replacement {code} implementation if necessary by assigning \
             querystring {name} to an alternative function."
        )
    };
    let [one, two] = [section("escape", "stringify", "percent encoding"), section("unescape", "parse", "decoding")];
    let original = format!("# Query\n\n{}\n\n{one}\n\n{two}\n\n{}\n", own("before"), own("after"));
    let parallel = (Grade::Warning, vec![Reason::Parallel]);
    let grades = |files: &[(&str, String)]| -> Vec<_> {
        above_notes(files).into_iter().map(|(grade, reasons, _)| (grade, reasons)).collect()
    };
    for (path, translation) in
        [("docs/md/q.md", "docs/de/md/q.md"), ("docs/q.md", "docs/q.de.md"), ("docs/de/q.md", "docs/en/q.md")]
    {
        assert_eq!(grades(&[(path, original.clone())]), std::slice::from_ref(&parallel));
        for untranslated in [&one, &two, &format!("{one}\n\n{two}")] {
            let page = format!("# Frage\n\n{}\n\n{untranslated}\n\n{}\n", own("vor"), own("nach"));
            let found = grades(&[(path, original.clone()), (translation, page)]);
            assert!(found.iter().all(|found| *found == parallel), "{path}: {untranslated}: {found:?}");
        }
        // Another page is no translation.
        let page = format!("# Other\n\n{}\n\n{two}\n\n{}\n", own("other"), own("more"));
        let found = grades(&[(path, original.clone()), ("docs/other.md", page)]);
        assert!(found.iter().any(|(grade, _)| *grade == Grade::Error), "{found:?}");
    }
    // Equal sections of the original are an error, with a translation too.
    let equal = format!("# Query\n\n{}\n\n{one}\n\n{}\n\n{one}\n", own("before"), own("after"));
    let page = format!("# Frage\n\n{}\n\n{one}\n\n{}\n", own("vor"), own("nach"));
    assert_eq!(grades(&[("docs/q.md", equal), ("docs/q.de.md", page)]), [(Grade::Error, vec![])]);
}

/// A page on how to upgrade is documentation, unless it is by versions.
#[test]
fn upgrade_notes_are_of_versions() {
    let graded = |path, text: &str| {
        graded(&[(path, page("Alpha", text)), ("docs/b.md", page("Beta", COPIED))], Request::default())
    };
    let notes = (Grade::Warning, vec![Reason::ReleaseNotes]);
    for path in ["docs/upgrade-options.md", "docs/upgrading_all.md", "docs/migrating-data.md", "docs/upgrade-k8s.md"] {
        assert_eq!(graded(path, COPIED), (Grade::Error, vec![]), "{path}");
        assert_eq!(graded(path, &format!("## 2.1\n\n{COPIED}\n\n{}", own("more"))), notes, "{path}");
    }
    for path in
        ["docs/upgrade-to-2.1.md", "docs/upgrading_from_2_to_3.md", "docs/UPGRADING_ALL.md", "docs/upgrade-notes/x.md"]
    {
        assert_eq!(graded(path, COPIED), notes, "{path}");
    }
}

/// Words of a text of its own.
fn own(name: &str) -> String {
    (0..40).map(|number| format!("{name}{number} ")).collect::<String>().trim_end().into()
}

/// A question of a list of questions, which its table of contents has in whole.
#[test]
fn entries_of_a_table_of_contents_lead_to_their_copies() {
    let [short, long] = [COPIED.to_string(), format!("{COPIED} {}.", own("more"))];
    let body =
        |text: &str| format!("<h2>Answers</h2><p>{}</p><p><b>{text}</b></p><p>{}</p>", own("alpha"), own("beta"));
    let entry = |target: &str, text: &str| {
        format!("<h1>Questions</h1><p>{}</p><dl><dd>5.3. <a href=\"{target}\">{text}</a>\n</dd></dl>", own("first"))
    };
    for text in [&short, &long] {
        for target in ["faq.html#q", "#q"] {
            let files = [("faq.html", entry(target, text) + &body(text))];
            assert_eq!(graded(&files, Request::default()), (Grade::Note, vec![Reason::Linked]), "{target}");
        }
        for target in ["faq.html#q", "faq.html"] {
            let files = [("index.html", entry(target, text)), ("faq.html", body(text))];
            assert_eq!(graded(&files, Request::default()), (Grade::Note, vec![Reason::Linked]), "{target}");
        }
        // It leads elsewhere, or it is only a word of the text that does.
        for target in ["other.html#q", "faq.html"] {
            let files = [("faq.html", entry(target, text) + &body(text))];
            assert!(!graded(&files, Request::default()).1.contains(&Reason::Linked), "{target}");
        }
        let word = format!("<p>{}</p><p><a href=\"#q\">The</a>{}</p>", own("first"), &text[3..]);
        let (grade, reasons) = graded(&[("faq.html", word + &body(text))], Request::default());
        assert!(grade > Grade::Note && !reasons.contains(&Reason::Linked));
    }
    let list = format!(
        "# Questions\n\n{}\n\n- [{COPIED}](#q)\n\n## Answers\n\n{}\n\n{COPIED}\n\n{}\n",
        own("first"),
        own("alpha"),
        own("beta")
    );
    assert_eq!(graded(&[("faq.md", list)], Request::default()), (Grade::Note, vec![Reason::Linked]));
}

/// The text is that of a link, and a link beside it leads to its copy.
#[test]
fn a_link_beside_a_text_does_not_make_it_an_entry() {
    // Short words, because the target of a link is looked for only near its start.
    let text = (10..72).map(|number| format!("q{number}")).collect::<Vec<_>>().join(" ");
    let body = format!("# Answers\n\n{}\n\n{text}\n\n{}\n", own("alpha"), own("beta"));
    let html = format!("<h1>Answers</h1><p>{}</p><p>{text}</p><p>{}</p>", own("alpha"), own("beta"));
    let (start, end) = text.split_at("q10".len());
    let of = |entry: &str| entry.replace("TEXT", &text).replace("START", start).replace("END", end);
    let is = |[name, copy]: [&str; 2], entry: &str, is_note: bool| {
        let body = if copy.ends_with("html") { &html } else { &body };
        let first = own("first");
        let start = if copy.ends_with("html") { format!("<h1>Questions</h1><p>{first}</p>") } else { first };
        let files = [(name, format!("{start}\n\n{}\n\n{}\n", of(entry), own("last"))), (copy, body.clone())];
        let grade = if is_note { Grade::Note } else { Grade::Warning };
        assert_eq!(graded(&files, Request::default()), (grade, vec![Reason::Linked]), "{entry}");
    };
    let markdown = ["index.md", "faq.md"];
    is(markdown, "- [TEXT](faq.md)", true);
    is(markdown, "- [**START**END](<faq.md> \"Title\") [Next](other.md)", true);
    is(markdown, "- [Back](faq.md) [TEXT](other.md)", false);
    is(markdown, "- [TEXT](other.md) [Next](faq.md)", false);
    is(markdown, "- [TEXT]({{< ref \"faq.md\" >}})", true);
    is(markdown, "- [Back]({{< ref \"faq.md\" >}}) [TEXT](other.md)", false);
    let html = ["index.html", "faq.html"];
    is(html, "<ul><li><a href=\"faq.html\">TEXT</a></li></ul>", true);
    is(html, "<ul><li><a href=\"other.html\">Back</a> <a href=\"faq.html\"><b>START</b>END</a></li></ul>", true);
    is(html, "<ul><li><a href=\"other.html\">TEXT</a> <a href=\"faq.html\">Next</a></li></ul>", false);
    is(html, "<ul><li><a href=\"faq.html\"></a> <a href=\"other.html\">TEXT</a></li></ul>", false);
    let rst = ["index.rst", "faq.rst"];
    is(rst, "`TEXT <faq.rst>`_", true);
    is(rst, "`TEXT <other.rst>`_ `Next <faq.rst>`_", false);
    let asciidoc = ["index.adoc", "faq.adoc"];
    is(asciidoc, "xref:faq.adoc[TEXT]", true);
    is(asciidoc, "xref:faq.adoc[Back] xref:other.adoc[TEXT]", false);
    is(asciidoc, "xref:faq.adoc[] xref:other.adoc[TEXT]", false);
    // Within one page, only the link whose text it is counts.
    let page = |entry: &str| format!("# Questions\n\n{}\n\n{}\n\n{body}", own("first"), of(entry));
    for (entry, is_entry) in
        [("- [TEXT](#q)", true), ("- [Back](#q) [TEXT](other.md)", false), ("- [TEXT](other.md) [Next](#q)", false)]
    {
        let (grade, reasons) = graded(&[("faq.md", page(entry))], Request::default());
        assert_eq!((grade == Grade::Note, reasons.contains(&Reason::Linked)), (is_entry, is_entry), "{entry}");
    }
}

/// What files share that were not compared as files, since they are too different, is not reported beside the files.
#[test]
fn a_passage_of_files_that_are_one_finding_is_not_reported_again() {
    let part = |name: &str, number| format!("{}.", words(number).replace("word", name).trim_end());
    let common: Vec<String> = (0..10).map(|number| part(&format!("common{number}x"), 60)).collect();
    let extra = part("extra", 45);
    // `b` is like both of the others, which have a passage that it lacks.
    let files = |extra: &str, before: &str| {
        let page = |parts: &[String], [before, after]: [&str; 2]| {
            format!("# Title\n\n{before}\n\n{}\n\n{after}\n", parts.join("\n\n"))
        };
        [
            ("a.md", page(&common[..8], ["", extra])),
            ("b.md", page(&common, ["", ""])),
            ("c.md", page(&common[2..], [before, extra])),
        ]
    };
    let is = |files: &[(&str, String)], expected: &[(Kind, &[&str])]| {
        let found: Vec<(Kind, Vec<String>)> = all(files).into_iter().map(|(kind, _, paths)| (kind, paths)).collect();
        let expected: Vec<(Kind, Vec<String>)> =
            expected.iter().map(|(kind, paths)| (*kind, paths.iter().map(|path| path.to_string()).collect())).collect();
        assert_eq!(found, expected);
    };
    let whole: (Kind, &[&str]) = (Kind::File, &["a.md", "b.md", "c.md"]);
    is(&files("", ""), &[whole]);
    is(&files(&extra, ""), &[whole]);
    // It says something new: it is in a further page, or twice in one page.
    let further = ("d.md", page("Delta", &extra));
    is(&[&files(&extra, "")[..], &[further]].concat(), &[whole, (Kind::Passage, &["a.md", "c.md", "d.md"])]);
    is(&files(&extra, &extra), &[whole, (Kind::Passage, &["a.md", "c.md", "c.md"])]);
}

#[test]
fn licences_in_files_of_their_own_and_in_manuals() {
    let note = (Grade::Note, vec![Reason::Licence]);
    let terms = [own("term"), own("condition"), own("warranty")].join("\n\n");
    let titled = format!("GNU Free Documentation License\n\n{terms}");
    let manual = |title: &str, text: &str| format!("# {title}\n\n{}\n\n## Appendix\n\n{text}\n", own(title));
    let of = |pages: [(&str, String); 2]| graded(&pages, Request::default());
    // The file of a licence, and the appendix of a manual.
    for name in ["license.gfdl.md", "gfdl.md", "docs/COPYING.md"] {
        assert_eq!(of([(name, format!("# {titled}\n")), ("manual.md", manual("one", &terms))]), note, "{name}");
    }
    // A page about licences, such as those of a product.
    for (name, title) in
        [("license.md", "Licenses of a server"), ("license-server.md", "GNU Free Documentation License")]
    {
        let page = format!("# {title}\n\n{terms}\n");
        assert_eq!(of([(name, page), ("manual.md", manual("one", &terms))]).0, Grade::Error, "{name}");
    }
    // Appendices of two manuals, in sections of it too.
    let section = format!("### A. GNU Free Documentation License\n\n{}\n\n#### 1. Definitions\n\n{terms}", own("x"));
    let other = section.replace(&own("x"), &own("y"));
    assert_eq!(of([("a.md", manual("one", &section)), ("b.md", manual("two", &other))]), note);
    // A notice of the second version.
    let notice = format!(
        "This program is free software; you can redistribute it and/or modify it under the terms of the GNU General Public \
         License as published by the Free Software Foundation. {}",
        own("rest")
    );
    assert_eq!(of([("a.md", manual("one", &notice)), ("b.md", manual("two", &notice))]), note);
}
