//! Checking folders through the library: a small tree with a baseline, rules and reports.

use neardups::check::config::{Config, Settings};
use neardups::check::find::{self, Kind};
use neardups::check::report::{Format, Target};
use neardups::check::{
    Allow, Check, Error, FailOn, Finding, Grade, Link, List, Outcome, Place, Request, Rule, baseline, run,
};
use neardups::similarity::Threshold;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const BACKUP: &str = "The nightly job copies every table to the second server before it removes anything from the first one, \
    and it writes down how many rows it has seen, so that the operator can compare both numbers in the morning.";
const LIGHT: &str = "Keep the lamp away from curtains and do not cover it while it is switched on, because the glass becomes hot \
    enough to set fire to cloth within a few minutes, even through a thick shade of paper.";

/// A folder with two pages that share a paragraph, and two others that share another.
fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("backup.md", format!("# Backups\n\n{BACKUP}\n\nOnly this page says that tapes are kept.\n")),
        ("restore.md", format!("# Restoring\n\nFirst find the right night.\n\n{BACKUP}\n")),
        ("lamps/one.md", format!("# One\n\n{LIGHT}\n\nThe first lamp is made of brass.\n")),
        (
            "lamps/two.md",
            format!("# Two\n\nThe second lamp hangs from a beam.\n\n{}\n", LIGHT.replace("curtains", "drapes")),
        ),
    ] {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

fn request(folder: &TempDir) -> Request {
    let whole = Threshold::new(1, 1).unwrap();
    let find = find::FindOptions { min_words: 20, file_similarity: whole, ..find::FindOptions::default() };
    Request { folder: folder.path().into(), find, ..Request::new([folder.path()]) }
}

/// The names of the files of each finding.
fn names(outcome: &Outcome) -> Vec<Vec<String>> {
    let name = |path: &str| Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
    outcome.into_iter().map(|finding| finding.places.iter().map(|place| name(place.path())).collect()).collect()
}

fn pair(a: &str, b: &str) -> Vec<String> {
    vec![a.into(), b.into()]
}

#[test]
fn findings_have_both_places_with_their_lines_and_texts() {
    let folder = tree();
    let outcome = run(&request(&folder)).unwrap();
    assert_eq!(names(&outcome), [pair("backup.md", "restore.md"), pair("one.md", "two.md")]);
    assert_eq!((outcome.pages, outcome.allowed, outcome.fails()), (4, 0, true));
    let [backup, lamp] = &outcome.findings[..] else { panic!("{outcome:?}") };
    assert_eq!(backup.places.iter().map(|place| place.text()).collect::<Vec<_>>(), [BACKUP; 2]);
    assert_eq!(backup.places.iter().map(|place| place.stretch.start.line).collect::<Vec<_>>(), [3, 5]);
    assert_eq!(backup.places[1].heading.as_deref(), Some("Restoring"));
    assert_eq!((backup.pairs[0].similarity, backup.pairs[0].percent()), (1.0, 100));
    assert!(lamp.pairs[0].similarity < 1.0 && lamp.pairs[0].percent() < 100 && lamp.kind != Kind::File);
    assert!(lamp.places[0].text().contains("curtains") && lamp.places[1].text().contains("drapes"));
}

#[test]
fn an_accepted_finding_says_why() {
    let folder = tree();
    let file = folder.path().join("baseline.json");
    let why = |reason: Option<&str>, update_baseline| {
        let reason = reason.map(String::from);
        let outcome = run(&Request { baseline: Some(file.clone()), update_baseline, reason, ..request(&folder) })?;
        if let Some(baseline::Update::Written { text, .. }) = &outcome.update {
            fs::write(&file, text).unwrap();
        }
        Ok::<_, Error>(outcome.findings.into_iter().map(|finding| finding.reason).collect::<Vec<_>>())
    };
    assert_eq!(why(None, false).unwrap(), [None, None]);
    let so = Some("It is so.".to_string());
    assert_eq!(why(so.as_deref(), true).unwrap(), [so.clone(), so.clone()]);
    assert_eq!(why(Some("Another."), true).unwrap(), [so.clone(), so.clone()]);
    assert_eq!(why(None, false).unwrap(), [so.clone(), so]);
    assert!(matches!(why(Some("It is so."), false), Err(Error::NoBaseline)));
}

#[test]
fn a_baseline_accepts_what_was_there() {
    let folder = tree();
    let file = folder.path().join("baseline.json");
    let with = |update_baseline| Request { baseline: Some(file.clone()), update_baseline, ..request(&folder) };
    assert!(Check::new(&with(false)).unwrap().lacks_baseline());
    assert!(run(&with(false)).unwrap().fails());

    let Some(baseline::Update::Written { text, accepted: 2, new: 2, .. }) = run(&with(true)).unwrap().update else {
        panic!("two findings are accepted");
    };
    fs::write(&file, text).unwrap();
    let outcome = run(&with(false)).unwrap();
    assert!(outcome.findings.len() == 2 && outcome.findings.iter().all(|finding| finding.accepted) && !outcome.fails());
    assert!(run(&Request { fail_on: FailOn::Any, ..with(false) }).unwrap().fails());

    fs::write(folder.path().join("third.md"), format!("# Third\n\n{BACKUP}\n")).unwrap();
    fs::remove_file(folder.path().join("lamps/two.md")).unwrap();
    let outcome = run(&with(false)).unwrap();
    assert_eq!(outcome.reported().count(), 1);
    assert!(outcome.stale.len() == 1 && outcome.stale[0].paths[1] == "lamps/two.md", "{:?}", outcome.stale);

    fs::write(&file, "<<<<<<< ours\n").unwrap();
    let Err(Error::Baseline(invalid)) = run(&with(true)) else { panic!("it is no baseline") };
    assert!(invalid.is_conflict && invalid.line == 1);
}

/// The findings that a baseline of `before` does not accept after `change`, each as its number of places and the names of the new ones.
fn new_after(before: &[(&str, String)], change: impl FnOnce(&Path)) -> Vec<(usize, Vec<String>)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in before {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let file = folder.path().join("baseline.json");
    let with = |update_baseline| Request { baseline: Some(file.clone()), update_baseline, ..request(&folder) };
    let Some(baseline::Update::Written { text, .. }) = run(&with(true)).unwrap().update else { panic!("no update") };
    fs::write(&file, text).unwrap();
    change(folder.path());
    let outcome = run(&with(false)).unwrap();
    let new = |finding: &Finding| {
        let new = finding.places.iter().filter(|place| place.is_new);
        let name = |place: &Place| Path::new(place.path()).file_name().unwrap().to_string_lossy().into_owned();
        (finding.places.len(), new.map(name).collect())
    };
    outcome.findings.iter().filter(|finding| !finding.accepted).map(new).collect()
}

#[test]
fn a_baseline_knows_a_text_in_n_places() {
    let with = |title: &str, text: &str| format!("# {title}\n\nOnly {title} says this of itself.\n\n{text}\n");
    let edited = BACKUP.replace("in the morning", "before breakfast").replace("nightly job", "job of the night");
    let three = [("a.md", with("A", BACKUP)), ("b.md", with("B", &edited)), ("c.md", with("C", BACKUP))];
    let write = |folder: &Path, name: &str, text: &str| fs::write(folder.join(name), with(name, text)).unwrap();
    let none: Vec<(usize, Vec<String>)> = Vec::new();

    assert_eq!(new_after(&three, |_| ()), none);
    // One place fewer: the others were known.
    for name in ["a.md", "b.md", "c.md"] {
        assert_eq!(new_after(&three, |folder| fs::remove_file(folder.join(name)).unwrap()), none);
        assert_eq!(new_after(&three, |folder| write(folder, name, "This page was written anew.")), none);
    }
    // An edit of one of them.
    for name in ["a.md", "b.md", "c.md"] {
        assert_eq!(new_after(&three, |folder| write(folder, name, &BACKUP.replace("copies", "writes"))), none);
    }
    // A page that was renamed.
    let renamed = |folder: &Path| fs::rename(folder.join("b.md"), folder.join("z.md")).unwrap();
    assert_eq!(new_after(&three, renamed), none);
    // One that was renamed, and one more.
    let and_more = |folder: &Path| {
        renamed(folder);
        write(folder, "zz.md", BACKUP);
    };
    assert_eq!(new_after(&three, and_more), [(4, vec!["zz.md".to_string()])]);
    // One place more, in another page or in one of these.
    assert_eq!(new_after(&three, |folder| write(folder, "d.md", BACKUP)), [(4, vec!["d.md".to_string()])]);
    let twice = format!("{BACKUP}\n\nBetween them is a sentence that no other page has.\n\n{BACKUP}");
    assert_eq!(new_after(&three, |folder| write(folder, "b.md", &twice)), [(4, vec!["b.md".to_string()])]);
    // A copy in place of one that was rewritten.
    let rewritten = |folder: &Path| {
        write(folder, "b.md", "This page was written anew.");
        write(folder, "d.md", BACKUP);
    };
    assert_eq!(new_after(&three, rewritten), [(3, vec!["d.md".to_string()])]);
    // More of the same two pages was copied.
    let more = |folder: &Path| {
        for name in ["a.md", "b.md", "c.md"] {
            write(folder, name, &format!("{BACKUP}\n\n{LIGHT}"));
        }
    };
    assert_eq!(new_after(&three, more).len(), 1);
}

#[test]
fn a_whole_file_that_grows_by_half_is_new() {
    let text = |words: usize| (0..words).map(|number| format!("word{number} ")).collect::<String>();
    let two = |words: usize| [("a.md", text(words)), ("b.md", text(words))];
    let grown = |words: usize| {
        new_after(&two(120), |folder| {
            two(words).iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap())
        })
    };
    assert_eq!(grown(120).len() + grown(130).len() + grown(145).len(), 0);
    assert_eq!(grown(240).len(), 1);
}

#[test]
fn a_baseline_of_version_1_is_read() {
    let folder = tree();
    let file = folder.path().join("baseline.json");
    let outcome = run(&request(&folder)).unwrap();
    let entry = |finding: &Finding| {
        let paths: Vec<String> = finding
            .places
            .iter()
            .map(|place| Path::new(place.path()).strip_prefix(folder.path()).unwrap().display().to_string())
            .collect();
        format!(
            "{{\"kind\":\"{}\",\"paths\":[\"{}\",\"{}\"],\"fingerprint\":\"{}\",\"text\":\"x\"}}",
            finding.name(),
            paths[0],
            paths[1],
            finding.fingerprint
        )
    };
    let entries: Vec<String> = outcome.findings.iter().map(entry).collect();
    fs::write(&file, format!("{{\"version\":1,\"accepted\":[{}]}}", entries.join(","))).unwrap();
    let with = Request { baseline: Some(file.clone()), ..request(&folder) };
    let outcome = run(&with).unwrap();
    assert!(outcome.findings.iter().all(|finding| finding.accepted) && outcome.stale.is_empty(), "{outcome:?}");
    fs::write(folder.path().join("third.md"), format!("# Third\n\n{BACKUP}\n")).unwrap();
    assert_eq!(run(&with).unwrap().reported().count(), 1);
    for (wrong, expected) in [("\"kind\":\"zork\"", "zork"), ("\"kind\":\"file\",\"paths\":[\"a\"]", "two paths")] {
        fs::write(&file, format!("{{\"version\":2,\"accepted\":[{{{wrong}}}]}}")).unwrap();
        let Err(Error::Baseline(invalid)) = run(&with) else { panic!("it is wrong: {wrong}") };
        assert!(invalid.message.contains(expected), "{invalid:?}");
    }
    fs::write(&file, "{\"version\":3,\"accepted\":[]}").unwrap();
    let Err(Error::Baseline(invalid)) = run(&with) else { panic!("the version is unknown") };
    assert!(invalid.message.contains("version 3"), "{invalid:?}");
}

#[test]
fn rules_ask_for_more_and_allow() {
    let folder = tree();
    let allow =
        |paths: &str| Allow { paths: vec![paths.into()], reason: "each page is read alone".into(), ..Allow::default() };
    let outcome = run(&Request { allow: vec![allow("lamps/")], ..request(&folder) }).unwrap();
    assert_eq!((names(&outcome), outcome.allowed), (vec![pair("backup.md", "restore.md")], 1));

    let rule =
        |min_words, similarity| Rule { paths: vec!["*.md".into()], min_words, similarity, grade: None, preset: None };
    let rules = |rule| run(&Request { rules: vec![rule], ..request(&folder) }).unwrap();
    assert_eq!(names(&rules(rule(Some(60), None))), [] as [Vec<String>; 0]);
    assert_eq!(names(&rules(rule(None, Threshold::new(99, 100)))), [pair("backup.md", "restore.md")]);

    let outcome = run(&Request { ignore: vec!["lamps/".into(), "old/".into()], ..request(&folder) }).unwrap();
    assert_eq!((names(&outcome).len(), outcome.pages), (1, 2));
    let [unused] = &outcome.unused[..] else { panic!("{:?}", outcome.unused) };
    assert_eq!((unused.list, unused.glob.as_str()), (List::Ignore, "old/"));
    assert!(matches!(
        run(&Request { ignore: vec!["[".into()], ..request(&folder) }),
        Err(Error::Globs { list: List::Ignore, .. })
    ));
}

#[test]
fn a_configuration_becomes_a_request() {
    let folder = tree();
    let file = folder.path().join("dedup.toml");
    fs::write(
        &file,
        "[check]\npaths = [\"lamps\"]\nmin-words = 20\nfile-similarity = 0.95\nfail-on = \"any\"\nreport = [\"sarif=a.sarif\"]\n",
    )
    .unwrap();
    let config = Config::find(Some(&file)).unwrap();
    let given = Settings { min_words: Some(25), ..Settings::default() };
    let request = config.request(&config.complete(given)).unwrap();
    assert_eq!(request.paths, [folder.path().join("lamps")]);
    assert_eq!((request.find.min_words, request.fail_on, request.is_whole), (25, FailOn::Any, true));
    assert_eq!(Some(request.find.file_similarity), Threshold::new(95, 100));
    assert_eq!(request.reports, [Target { format: Format::Sarif, file: Some(folder.path().join("a.sarif")) }]);
    assert_eq!(names(&run(&request).unwrap()), [pair("one.md", "two.md")]);
}

#[test]
fn every_report_has_all_that_is_reported() {
    let folder = tree();
    let outcome = run(&request(&folder)).unwrap();
    for format in Format::ALL {
        let report = format.render(&outcome);
        assert!(report.contains("restore.md") && report.contains("two.md"), "{}: {report}", format.name());
        assert_eq!(Target::from(format).render(&outcome), report);
    }
    let link: Link = "https://example.org/{path}#L{line}-L{end}".parse().unwrap();
    let mut linked = outcome.clone();
    (linked.root, linked.link) = (Some(folder.path().canonicalize().unwrap()), Some(link));
    assert!(Format::Markdown.render(&linked).contains("\"https://example.org/lamps/two.md#L5-L5\""));
    assert!(Format::Html.render(&linked).contains("\"https://example.org/lamps/two.md#L{line}-L{end}\""));
    let nothing =
        run(&Request { max_findings: 2, paths: vec![folder.path().join("backup.md")], ..request(&folder) }).unwrap();
    let to_file = Target { format: Format::Human, file: Some(PathBuf::from("report.txt")) };
    assert_eq!((Format::Human.render(&nothing), to_file.render(&nothing)), (String::new(), "No copies.\n".into()));
}

/// Findings of lower grades are counted; what makes the check fail is reported in any case.
#[test]
fn totals_count_grades_and_pages() {
    let folder = tree();
    let mut outcome = run(&request(&folder)).unwrap();
    outcome.findings[0].grade = Grade::Note;
    outcome.findings[1].grade = Grade::Warning;
    assert_eq!((outcome.by_grade(), outcome.by_kind()), ("1 warning, 1 note".into(), String::new()));
    assert_eq!((outcome.reported().count(), outcome.unreported(), outcome.fails()), (1, "1 note".into(), false));
    outcome.fail_on = FailOn::Note;
    assert_eq!((outcome.reported().count(), outcome.unreported(), outcome.fails()), (2, String::new(), true));
    assert_eq!(outcome.by_kind(), "warnings: 1 passage; notes: 1 passage");
    let pages = outcome.worst_pages(3);
    assert_eq!(pages.iter().map(|page| (page.words, page.findings)).collect::<Vec<_>>(), [(39, 1), (39, 1), (38, 1)]);
}

#[test]
fn what_cannot_be_read_does_not_stop_a_check() {
    let folder = tree();
    let mut request = request(&folder);
    request.paths.push(folder.path().join("none.md"));
    let outcome = run(&request).unwrap();
    assert!(outcome.findings.len() == 2 && outcome.failed.len() == 1 && outcome.failed[0].contains("none.md"));
}

#[cfg(unix)]
#[test]
fn a_reference_that_git_does_not_know_is_an_error() {
    let folder = tree();
    let request = Request { since: Some("no-such-commit".into()), ..request(&folder) };
    let Err(Error::Since(error)) = run(&request) else { panic!("there is no such commit") };
    assert!(!error.to_string().contains("--"), "{error}");
}
