//! Proposals for findings in small trees of pages.

use super::super::finding::Proposal;
use super::super::links::Links;
use super::super::outcome::Outcome;
use super::super::pages::Page;
use super::super::request::Request;
use super::super::rules::Rules;
use super::super::run::run;
use super::propose;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const COPIED: &str = "The nightly job copies every table to the second server before it removes anything from the first one, and it \
    writes down how many rows it has seen, so that the operator can compare both numbers in the morning.";

fn no_rules() -> Rules {
    Rules::new(Path::new("/"), &[], &[]).unwrap()
}

/// The check of these files in a folder, with their paths relative to it.
fn checked(files: &[(&str, String)]) -> (Outcome, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files.iter().cloned().chain([(".git/HEAD", String::new())]) {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let outcome = run(&Request { folder: folder.path().into(), ..Request::new([folder.path()]) }).unwrap();
    (outcome, format!("{}/", folder.path().display()))
}

/// The proposal for the only finding among these files, with paths relative to their folder.
fn proposed(files: &[(&str, String)]) -> Option<(usize, String)> {
    let (outcome, folder) = checked(files);
    let [finding] = &outcome.findings[..] else { panic!("{} findings", outcome.findings.len()) };
    let relative = |how: &str| how.replace(&folder, "");
    finding.proposal.as_ref().map(|Proposal { keep, how }| (*keep, relative(how)))
}

/// Pages with a text under a heading, among other words, and a file that names the extension of MkDocs for snippets.
fn pages(paths: &[&'static str], file: &'static str) -> Vec<(&'static str, String)> {
    let page = |(path, own): (&&'static str, &str)| {
        let own: String = (0..40).map(|number| format!("{own}{number} ")).collect();
        let heading = match path.rsplit_once('.').unwrap().1 {
            "rst" => "Nightly job\n===========",
            "adoc" => "== Nightly job",
            _ => "## Nightly job",
        };
        (*path, format!("{own}.\n\n{heading}\n\n{COPIED}\n"))
    };
    paths.iter().zip(["alpha", "beta"]).map(page).chain([(file, "- pymdownx.snippets\n".to_string())]).collect()
}

#[test]
fn the_line_of_each_generator() {
    for (paths, file, expected, marks) in [
        (
            ["docs/a.md", "docs/b/c.md"],
            "mkdocs.yml",
            "--8<-- \"docs/a.md:nightly-job\"",
            "<!-- --8<-- [start:nightly-job] --> and <!-- --8<-- [end:nightly-job] -->",
        ),
        (
            ["docs/a.rst", "docs/b/c.rst"],
            "docs/conf.py",
            ".. include:: /a.rst with :start-after: start-nightly-job and :end-before: end-nightly-job",
            "a comment start-nightly-job and a comment end-nightly-job",
        ),
        (
            ["docs/a.md", "docs/b/c.md"],
            "docs/conf.py",
            "```{include} /a.md with :start-after: start-nightly-job and :end-before: end-nightly-job, closed by a line ```,",
            "a comment start-nightly-job and a comment end-nightly-job",
        ),
        (
            ["modules/ROOT/pages/a.adoc", "modules/ROOT/pages/b/c.adoc"],
            "antora.yml",
            "include::ROOT:page$a.adoc[tag=nightly-job]",
            "// tag::nightly-job[] and // end::nightly-job[]",
        ),
        (
            ["a.adoc", "b/c.adoc"],
            "unrelated",
            "include::../a.adoc[tag=nightly-job]",
            "// tag::nightly-job[] and // end::nightly-job[]",
        ),
        (
            ["a.md", "b/c.md"],
            ".vitepress/config.js",
            "<!--@include: ../a.md#nightly-job-->",
            "<!-- #region nightly-job --> and <!-- #endregion nightly-job -->",
        ),
        (
            ["src/a.md", "src/b/c.md"],
            "book.toml",
            "{{#include ../a.md:nightly-job}}",
            "<!-- ANCHOR: nightly-job --> and <!-- ANCHOR_END: nightly-job -->",
        ),
    ] {
        let marks = format!(" (put {marks} around the text)");
        let how = format!(
            "keep the text in {} and write {expected} in {}, or the other way round{marks}",
            paths[0], paths[1]
        );
        assert_eq!(proposed(&pages(&paths, file)), Some((0, how)), "{file}");
    }
}

/// These include files only as a whole: the text needs a file of its own, which does not exist yet.
#[test]
fn a_file_to_create_for_generators_that_include_files() {
    for (paths, file, how) in [
        (
            ["docs/a.mdx", "docs/b/c.mdx"],
            "docusaurus.config.js",
            "create docs/_nightly-job.mdx with the text and, in place of it, write import Shared from './_nightly-job.mdx' and <Shared /> \
             in docs/a.mdx, and write import Shared from '../_nightly-job.mdx' and <Shared /> in docs/b/c.mdx",
        ),
        (
            ["a.qmd", "b.qmd"],
            "_quarto.yml",
            "create _nightly-job.qmd with the text and, in place of it, write {{< include ./_nightly-job.qmd >}} in a.qmd and b.qmd",
        ),
    ] {
        assert_eq!(proposed(&pages(&paths, file)), Some((0, how.into())), "{file}");
    }
    // The words differ a little.
    let mut files = pages(&["a.qmd", "b.qmd"], "_quarto.yml");
    files[1].1 = files[1].1.replace("both numbers", "the numbers");
    let how = "if both should say the same (1 word differs), create _nightly-job.qmd with the text and, in place of it, write \
        {{< include ./_nightly-job.qmd >}} in a.qmd and b.qmd; if not, include only what both share";
    assert_eq!(proposed(&files), Some((0, how.into())));
}

#[test]
fn a_link_without_a_generator_or_between_markups() {
    let link = |paths: &[&str; 2]| {
        Some((0, format!("keep the text in {} or {}, and link to it from the other", paths[0], paths[1])))
    };
    assert_eq!(proposed(&pages(&["a.md", "b/c.md"], "unrelated")), link(&["a.md", "b/c.md"]));
    assert_eq!(proposed(&pages(&["a.md", "b/c.rst"], "conf.py")), link(&["a.md", "b/c.rst"]));
    // Hugo has no include of its own.
    let paths = ["content/a.md", "content/b/c.md"];
    let how = link(&paths).map(|(keep, how)| (keep, how + ", or include it there with a shortcode of the site"));
    assert_eq!(proposed(&pages(&paths, "hugo.toml")), how);
    // A folder of texts that others include keeps the text.
    let paths = ["a.md", "b/_includes/c.md"];
    let how = "keep the text in b/_includes/c.md and include it in a.md".to_string();
    assert_eq!(proposed(&pages(&paths, "unrelated")), Some((1, how)));
    let text = pages(&["a.rst", "b/c.rst"], "unrelated").swap_remove(1).1 + ".. note::\n\n   Words.\n";
    let [mut files, included] = [pages(&["a.rst"], "unrelated"), vec![("b/c.inc", text)]];
    files.extend(included);
    assert_eq!(proposed(&files), Some((1, "keep the text in b/c.inc and include it in a.rst".into())));
    // MkDocs without the extension for snippets.
    let mut files = pages(&["a.md", "b/c.md"], "mkdocs.yml");
    files.last_mut().unwrap().1 = "site_name: A\n".into();
    assert_eq!(proposed(&files), link(&["a.md", "b/c.md"]));
}

#[test]
fn the_page_that_keeps_the_text() {
    let kept = |paths: [&'static str; 2]| proposed(&pages(&paths, "unrelated")).map(|(keep, _)| keep);
    assert_eq!(kept(["a/b/c.md", "d.md"]), Some(1));
    assert_eq!(kept(["CHANGELOG.md", "docs/d.md"]), Some(1));
    assert_eq!(kept(["a.md", "b.md"]), Some(0));
}

#[test]
fn a_whole_file_is_removed_and_a_copy_in_one_page_refers_to_the_other() {
    let files = [("a.md", format!("# Title\n\n{COPIED}\n")), ("b.md", format!("# Title\n\n{COPIED}\n"))];
    assert_eq!(
        proposed(&files),
        Some((0, "keep a.md or b.md, remove the other, and redirect to the one that stays".into()))
    );
    let files = [("a.md", format!("# One\n\n{COPIED}\n\n# Other\n\n{COPIED}\n"))];
    assert_eq!(proposed(&files), Some((0, "keep line 3 and refer to it from line 7".into())));
}

#[test]
fn copies_in_one_page_that_differ_share_a_text() {
    let edited = COPIED.replace("nightly", "daily");
    let how = |sections: [&str; 2]| {
        let [one, other] = sections;
        proposed(&[("a.md", format!("# One\n\n{one}\n\n# Other\n\n{other}\n"))]).unwrap().1
    };
    let share = "state once what lines 3 and 7 share, and refer to it from both";
    assert_eq!(how([COPIED, &edited]), format!("{share} (1 word differs)"));
    assert_eq!(
        how([COPIED, &COPIED.replace("rows", "`rows`")]),
        format!("{share} (case, code, markup or punctuation differs)")
    );
}

#[test]
fn every_page_with_the_text_is_in_the_proposal() {
    let page = |own: &str| {
        let own: String = (0..40).map(|number| format!("{own}{number} ")).collect();
        format!("{own}.\n\n{COPIED}\n")
    };
    let files = |names: &[&'static str]| names.iter().map(|name| (*name, page(name))).collect::<Vec<_>>();
    let how = |how: &str| Some((0, how.to_string()));
    let one = how("keep the text in one page, such as a.md, and link to it from b.md and c.md");
    assert_eq!(proposed(&files(&["a.md", "b.md", "c.md"])), one);
    // Links to the page that keeps the text.
    let mut linked = files(&["a.md", "b.md", "c.md", "d.md"]);
    linked[1].1 += "\nSee [a](a.md).\n";
    linked[2].1 += "\nSee [a](a.md) and [b](b.md).\n";
    linked.push(("e.md", "See [a](a.md).\n".into()));
    let of_each = "keep the text in a.md and link to it from d.md, and shorten the text in b.md and c.md, where a link leads to it";
    assert_eq!(proposed(&linked), how(of_each));
    let files = ["a.md", "b.md", "c.md"].map(|name| (name, format!("# Title\n\n{COPIED}\n")));
    assert_eq!(
        proposed(&files),
        Some((0, "keep one page, such as a.md, remove b.md and c.md, and redirect to it".into()))
    );
    let files = [("a.md", format!("# One\n\n{COPIED}\n\n# Two\n\n{COPIED}\n\n# Three\n\n{COPIED}\n"))];
    let how = "keep line 3 and refer to it from lines 7 and 11".into();
    assert_eq!(proposed(&files), Some((0, how)));
    // The last place is in the page that keeps the text.
    let twice = format!("{}\n\n{COPIED}\n", page("z"));
    let files = [("docs/a.md", page("a")), ("z.md", twice)];
    let how = "keep the text in z.md or docs/a.md, and link to it from the other; in z.md, refer to line 3 from line 6";
    assert_eq!(proposed(&files), Some((1, how.into())));
}

#[test]
fn many_pages_are_counted() {
    let names: Vec<String> = (10..22).map(|number| format!("p{number}.md")).collect();
    let files = |number: usize| -> Vec<(&str, String)> {
        names[..number].iter().map(|name| (name.as_str(), format!("{}.\n\n{COPIED}\n", own(&name[..3], 40)))).collect()
    };
    let keep = "keep the text in one page, such as p10.md, and link to it from";
    let how = |number| proposed(&files(number)).unwrap().1;
    assert_eq!(how(7), format!("{keep} p11.md, p12.md, p13.md, p14.md, p15.md and p16.md"));
    assert_eq!(how(8), format!("{keep} p17.md, p11.md, p12.md, p13.md, p14.md and 2 more pages"));
    assert_eq!(how(12), format!("{keep} p21.md, p11.md, p12.md, p13.md, p14.md and 6 more pages"));
}

/// Two texts under one heading, or under headings of one name.
#[test]
fn marks_of_one_page_have_names_of_their_own() {
    let [one, two] = [own("first", 50), own("second", 50)];
    let [x, y] = [own("x", 90), own("y", 90)];
    let files = [
        ("a.adoc", format!("{x}.\n\n== Nightly job\n\n{one}.\n\n{y}.\n\n== Nightly job\n\n{two}.\n")),
        ("b/c.adoc", format!("{}.\n\n== Jobs\n\n{one}.\n", own("p", 40))),
        ("b/d.adoc", format!("{}.\n\n== Jobs\n\n{two}.\n", own("q", 40))),
    ];
    let (outcome, _) = checked(&files);
    let how: Vec<&str> = outcome.findings.iter().map(|found| found.proposal.as_ref().unwrap().how.as_str()).collect();
    let [one, two] = &how[..] else { panic!("{how:?}") };
    assert!(one.contains("[tag=nightly-job]") && one.contains("// end::nightly-job[]"), "{one}");
    assert!(two.contains("[tag=nightly-job-2]") && two.contains("// end::nightly-job-2[]"), "{two}");
}

/// The line of a generator differs by the folder of the page.
#[test]
fn each_page_has_its_own_line() {
    let page = |path: &'static str| (path, format!("{}.\n\n== Nightly job\n\n{COPIED}\n", own(&path[..1], 40)));
    let files = ["a.adoc", "b/x.adoc", "c/y.adoc", "d/e/z.adoc"].map(page);
    let line = |up: &str, pages: &str| format!("write include::{up}/a.adoc[tag=nightly-job] in {pages}");
    let how = format!(
        "keep the text in a.adoc and {}, and {} (put // tag::nightly-job[] and // end::nightly-job[] around the text)",
        line("..", "b/x.adoc and c/y.adoc"),
        line("../..", "d/e/z.adoc")
    );
    assert_eq!(proposed(&files), Some((0, how)));
    // Many folders.
    let more = ["e/x.adoc", "f/g/h/x.adoc", "i/j/k/l/x.adoc", "m/n/o/p/q/x.adoc", "r.adoc"].map(page);
    let how = proposed(&[&files[..], &more].concat()).unwrap().1;
    assert_eq!(how.matches("write include::").count(), 3, "{how}");
    assert!(how.contains(", and write such a line with its own path in "), "{how}");
    let paths = [&files[..], &more].concat();
    assert!(paths.iter().all(|(path, _)| how.contains(path)), "{how}");
    // One page has another markup.
    let mut files = files.to_vec();
    files[1].0 = "b/x.md";
    files[1].1 = files[1].1.replace("== ", "## ");
    let how = proposed(&files).unwrap().1;
    assert!(how.contains(&line("..", "c/y.adoc")) && how.contains("link to it from b/x.md, and write"), "{how}");
}

/// A text that is a file of its own, and so is to be included as it is.
#[test]
fn a_partial_is_the_home_of_a_text() {
    let pages = |ending: &str| -> Vec<(String, String)> {
        ["alpha", "beta"].map(|name| (format!("docs/{name}.{ending}"), page(name, COPIED, ""))).to_vec()
    };
    for (partial, file, ending, line) in [
        ("docs/reuse/x.md", "unrelated", "md", ""),
        ("docs/Snippets/x.md", "unrelated", "md", ""),
        (
            "docs/_partials/_x.mdx",
            "docusaurus.config.js",
            "mdx",
            "import Shared from './_partials/_x.mdx' and <Shared />",
        ),
        ("docs/includes/x.md", "mkdocs.yml", "md", "--8<-- \"docs/includes/x.md\""),
        ("docs/includes/x.md", "book.toml", "md", "{{#include ./includes/x.md}}"),
        ("docs/includes/x.md", "conf.py", "md", "```{include} /docs/includes/x.md, closed by a line ```,"),
        ("docs/includes/x.md", ".vitepress/config.js", "md", "<!--@include: ./includes/x.md-->"),
    ] {
        let mut files = pages(ending);
        files.extend([(partial.into(), format!("{COPIED}\n")), (file.into(), "pymdownx.snippets".into())]);
        let files: Vec<(&str, String)> = files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
        let (keep, how) = proposed(&files).unwrap();
        let in_both = format!("docs/alpha.{ending} and docs/beta.{ending}");
        let expected = match line {
            "" => format!("include {partial} in place of the text in {in_both}"),
            line => format!("include {partial} in place of the text: write {line} in {in_both}"),
        };
        assert_eq!(how, expected);
        assert_eq!(keep, if partial < "docs/a" { 0 } else { 2 }, "{partial}");
    }
    // Of a longer one, part of which is the text, that part is included.
    let longer = format!("{}.\n\n{COPIED}\n", own("gamma", 40));
    let files = [("a.md", page("alpha", COPIED, "")), ("reuse/x.md", longer)];
    assert_eq!(proposed(&files), Some((1, "keep the text in reuse/x.md and include it in a.md".into())));
    // A page that consists of it, and one that contains more than one passage of it.
    let files = [("a.md", format!("{COPIED}\n")), ("reuse/x.md", format!("{COPIED}\n"))];
    assert_eq!(proposed(&files), Some((1, "include reuse/x.md in place of the text in a.md".into())));
    let text = format!("{COPIED} {}.", own("shared", 80));
    let files = [("a.md", page("alpha", &text, "")), ("b.md", page("beta", &text, "")), ("reuse/x.md", text)];
    assert_eq!(proposed(&files), Some((2, "include reuse/x.md in place of the text in a.md and b.md".into())));
}

/// The text was moved to a page that others include, and is still in the page that it came from.
#[test]
fn a_new_partial_is_the_home_of_an_old_text() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        [("a.md", page("alpha", COPIED, "")), ("b.md", page("beta", COPIED, "")), ("_x.md", format!("{COPIED}\n"))];
    for new in [&["_x.md"][..], &["_x.md", "b.md"]] {
        let mut outcome = {
            files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
            run(&Request { folder: folder.path().into(), ..Request::new([folder.path()]) }).unwrap()
        };
        let [finding] = &mut outcome.findings[..] else { panic!("{} findings", outcome.findings.len()) };
        let is_new: Vec<bool> =
            finding.places.iter().map(|place| new.iter().any(|name| place.path().ends_with(name))).collect();
        finding.mark_new(&is_new);
        let pages: Vec<Arc<Page>> = finding.places.iter().map(|place| Arc::clone(&place.page)).collect();
        propose(std::slice::from_mut(finding), Some(&Links::to(&pages, |_| true)), &no_rules());
        let how = finding.proposal.as_ref().unwrap().how.replace(&format!("{}/", folder.path().display()), "");
        assert_eq!(how, "include _x.md in place of the text in a.md and b.md");
        assert!(finding.primary().path().ends_with("b.md"));
    }
}

/// The proposal for the only finding among these files, of which those are new.
fn proposed_with_new(files: &[(&str, String)], new: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    let mut outcome = run(&Request { folder: folder.path().into(), ..Request::new([folder.path()]) }).unwrap();
    let [finding] = &mut outcome.findings[..] else { panic!("{} findings", outcome.findings.len()) };
    let is_new: Vec<bool> =
        finding.places.iter().map(|place| new.iter().any(|name| place.path().ends_with(name))).collect();
    finding.mark_new(&is_new);
    let pages: BTreeMap<&str, &Arc<Page>> = finding.places.iter().map(|place| (place.path(), &place.page)).collect();
    let pages: Vec<Arc<Page>> = pages.into_values().cloned().collect();
    propose(std::slice::from_mut(finding), Some(&Links::to(&pages, |_| true)), &no_rules());
    let how = finding.proposal.as_ref().unwrap().how.replace(&format!("{}/", folder.path().display()), "");
    assert!(finding.primary().is_new, "{how}");
    how
}

#[test]
fn what_is_new_changes() {
    let copies = |names: &[&'static str]| -> Vec<(&str, String)> {
        names.iter().map(|name| (*name, format!("# Title\n\n{COPIED}\n"))).collect()
    };
    assert_eq!(proposed_with_new(&copies(&["a.md", "b.md"]), &["a.md"]), "keep b.md, remove a.md, and redirect to it");
    let three = copies(&["a.md", "b.md", "c.md"]);
    assert_eq!(proposed_with_new(&three, &["a.md"]), "keep b.md, remove a.md, and redirect to it");
    assert_eq!(proposed_with_new(&three, &["a.md", "b.md"]), "keep c.md, remove a.md and b.md, and redirect to it");
    // A larger new page contains an old one.
    let words = |kind: &str| (0..90).map(|number| format!("{kind}{number} ")).collect::<String>();
    let old = format!("# Title\n\n{}.\n", words("old"));
    let larger = format!("# Title\n\n{}.\n\n{}.\n\n{}.\n", words("old"), words("new"), words("own"));
    let how = proposed_with_new(&[("a.md", larger), ("z.md", old)], &["a.md"]);
    assert_eq!(how, "keep the text in z.md and link to it from a.md");
}

/// Of three pages, the third is new: it is the first once more, but the second differs in 5 of 39 words.
#[test]
fn a_page_is_removed_only_if_all_should_say_the_same() {
    let whole = format!("{COPIED}\n");
    let words = [("every", "each"), ("second", "other"), ("first", "old"), ("rows", "lines"), ("morning", "evening")];
    let edited = words.iter().fold(whole.clone(), |text, (word, other)| text.replace(word, other));
    let files = [("a.md", whole.clone()), ("b.md", edited), ("c.md", whole)];
    assert_eq!(
        proposed_with_new(&files, &["c.md"]),
        "if all should say the same (5 words differ), keep the text in a.md and remove c.md with a redirect to it; if not, state once \
         what all share"
    );
}

/// A text that moved is still in the page of an older version, which stays as it is.
#[test]
fn a_text_that_only_a_version_had_has_no_proposal() {
    let folder = tempfile::tempdir().unwrap();
    let files = [("docs/rules.md", page("alpha", COPIED, "")), ("docs/version-1.0/guide.md", page("beta", COPIED, ""))];
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let mut outcome = run(&Request { folder: folder.path().into(), ..Request::new([folder.path()]) }).unwrap();
    let [finding] = &mut outcome.findings[..] else { panic!("{} findings", outcome.findings.len()) };
    assert!(finding.proposal.take().is_some());
    let pages: Vec<Arc<Page>> = finding.places.iter().map(|place| Arc::clone(&place.page)).collect();
    for (new, is_proposed) in [("docs/rules.md", false), ("guide.md", true)] {
        let is_new: Vec<bool> = finding.places.iter().map(|place| place.path().ends_with(new)).collect();
        finding.mark_new(&is_new);
        finding.proposal = None;
        propose(std::slice::from_mut(finding), Some(&Links::to(&pages, |_| true)), &no_rules());
        assert_eq!(finding.proposal.is_some(), is_proposed, "{new}");
        assert!(finding.primary().path().ends_with(new), "{new}");
    }
}

#[test]
fn the_place_to_look_at_is_to_be_changed() {
    // The last page is in the fewest folders, so it keeps the text.
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in pages(&["a/b/c.md", "d.md"], "unrelated") {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let outcome = run(&Request { folder: folder.path().into(), ..Request::new([folder.path()]) }).unwrap();
    let [finding] = &outcome.findings[..] else { panic!("{} findings", outcome.findings.len()) };
    assert_eq!((finding.primary, finding.proposal.as_ref().map(|proposal| proposal.keep)), (0, Some(1)));
    assert!(finding.pairs.iter().all(|pair| pair.primary == 0));
}

/// Words that no other text has.
fn own(name: &str, number: usize) -> String {
    (0..number).map(|word| format!("{name}{word} ")).collect()
}

/// A page with a text among words of its own, far from what follows.
fn page(name: &str, text: &str, after: &str) -> String {
    format!("# {name}\n\n{}.\n\n{text}\n\n{}.\n\n{after}\n", own(name, 40), own(&format!("{name}x"), 80))
}

/// What the only finding among two pages proposes, with what follows the text in each, and further files.
fn proposed_with(paths: [&'static str; 2], after: [&str; 2], more: &[(&'static str, &str)]) -> String {
    let pages = [0, 1].map(|side| (paths[side], page(["alpha", "beta"][side], COPIED, after[side])));
    let more = more.iter().map(|(path, text)| (*path, text.to_string()));
    proposed(&pages.into_iter().chain(more).collect::<Vec<_>>()).unwrap().1
}

#[test]
fn evidence_in_the_pages_decides_who_keeps_the_text() {
    let is = |paths: [&'static str; 2], after: [&str; 2], more: &[(&'static str, &str)], how: &str| {
        assert_eq!(proposed_with(paths, after, more), how);
    };
    let both = "keep the text in a.md or b.md, and link to it from the other";
    let second = "keep the text in b.md and link to it from a.md";
    is(["a.md", "b.md"], ["", ""], &[], both);
    // The other page links to it; not if both do.
    is(["a.md", "b.md"], ["See [b](b.md#x).", ""], &[], second);
    is(["a.md", "b.md"], ["See [b](b.md).", "See [a](a.md)."], &[], both);
    // Clearly more pages link to it.
    let links = ["See [b](b.md).", "See [a](a.md)."];
    is(["a.md", "b.md"], ["", ""], &[("c.md", links[0]), ("d.md", links[0])], second);
    is(["a.md", "b.md"], ["", ""], &[("c.md", links[0])], both);
    is(
        ["a.md", "b.md"],
        ["", ""],
        &[("c.md", links[0]), ("d.md", links[0]), ("e.md", links[1]), ("f.md", links[1])],
        both,
    );
    is(["a.md", "b.md"], ["", ""], &[("c.md", &links[0].repeat(5))], both);
    // A post, and a page about what is deprecated, whatever links to them.
    for path in ["articles/a.md", "blog/a.md", "warnings/a.md"] {
        let how = format!("keep the text in x/y/b.md and link to it from {path}");
        is([path, "x/y/b.md"], ["See [b](../x/y/b.md).", &format!("See [a](../../{path}).")], &[], &how);
    }
}

#[test]
fn a_text_close_to_a_link_to_its_copy_is_shortened() {
    let files = [
        ("a.md", page("alpha", &format!("{COPIED} {COPIED} See [b](b.md#x)."), "")),
        ("b.md", page("beta", &format!("{COPIED} {COPIED}"), "")),
    ];
    let expected = "a.md already links to b.md: shorten the text in a.md";
    assert_eq!(proposed(&files), Some((1, expected.into())));
}

#[test]
fn the_place_that_contains_the_other_keeps_the_text() {
    let longer = COPIED.replace(", and it writes", &format!(", {} and it writes", own("more", 14)));
    let files = [("a.md", page("alpha", COPIED, "")), ("b.md", page("beta", &longer, ""))];
    let how = "keep what both share in b.md and link to it from a.md (14 words differ)";
    assert_eq!(proposed(&files), Some((1, how.into())));
}

#[test]
fn two_pages_are_decided_once() {
    let other = own("word", 60);
    let longer = COPIED.replace(", and it writes", &format!(", {} and it writes", own("more", 14)));
    let text =
        |copied: &str, other: &str| format!("{copied}\n\n{}.\n\n{other}", own(&copied[..9].replace(' ', ""), 60));
    let files = [("a.md", page("alpha", COPIED, &other)), ("b.md", page("beta", &text(&longer, "x"), &other))];
    let (outcome, _) = checked(&files);
    let kept = outcome.findings.iter().map(|finding| {
        let keep = finding.proposal.as_ref().unwrap().keep;
        finding.places[keep].path().rsplit_once('/').unwrap().1
    });
    assert_eq!(kept.collect::<Vec<_>>(), ["b.md", "b.md"]);
}

#[test]
fn includes_need_equal_texts() {
    let how = |one: &str, other: &str| {
        let files = [("a.md", page("alpha", one, "")), ("b.md", page("beta", other, "")), ("book.toml", String::new())];
        proposed(&files).unwrap().1
    };
    let line = "keep the text in a.md and write {{#include ./a.md:alpha}} in b.md, or the other way round \
        (put <!-- ANCHOR: alpha --> and <!-- ANCHOR_END: alpha --> around the text)";
    assert_eq!(how(COPIED, &COPIED.replace(' ', "\n")), line);
    let edited = COPIED.replace("nightly", "daily");
    assert_eq!(
        how(COPIED, &edited),
        format!("if both should say the same (1 word differs), {line}; if not, include only what both share")
    );
    let edited = edited.replace("morning", "evening");
    assert_eq!(
        how(COPIED, &edited),
        format!("if both should say the same (2 words differ), {line}; if not, include only what both share")
    );
    let marked = COPIED.replace("table", "*table*");
    assert_eq!(
        how(COPIED, &marked),
        format!("make both equal (case, code, markup or punctuation differs), then {line}")
    );
    // Too many words.
    let edited =
        ["every", "second", "rows", "both", "operator"].iter().fold(edited, |text, word| text.replace(word, "other"));
    let share = "keep what both share in a.md or b.md, and link to it from the other (7 words differ)";
    assert_eq!(how(COPIED, &edited), share);
    // Files that differ are not removed as they are.
    let whole = ["a.md", "b.md"].map(|path| (path, format!("# {}\n\n{COPIED}\n", &path[..1])));
    let how = "if both should say the same (1 word differs), keep a.md or b.md, remove the other, and redirect to the one that stays; if not, \
        state once what both share";
    assert_eq!(proposed(&whole), Some((0, how.into())));
}

#[test]
fn texts_that_are_included_do_not_link() {
    let how = |paths: [&'static str; 2], more: &[(&'static str, &str)]| proposed_with(paths, ["", ""], more);
    let own = "move the text to a page of its own in docs/snippets and include it in both";
    assert_eq!(how(["docs/snippets/a.md", "docs/snippets/b.md"], &[]), own);
    let included = [("c.rst", ".. include:: x/a.rst\n\n.. include:: x/b.rst\n")];
    let own = "move the text to a page of its own in x and include it in both";
    assert_eq!(how(["x/a.rst", "x/b.rst"], &included), own);
    assert_eq!(how(["x/a.rst", "x/b.rst"], &[]), "keep the text in x/a.rst or x/b.rst, and link to it from the other");
}

#[test]
fn siblings_share_a_text_of_their_folder() {
    let link = "See [b](b.md).";
    let how = |[one, other]: [&str; 2], more: &[(&'static str, &str)]| {
        let pages = [("x/a.md", page("alpha", one, "")), ("x/b.md", page("beta", other, ""))];
        let more = more.iter().map(|(path, text)| (*path, text.to_string()));
        proposed(&pages.into_iter().chain(more).collect::<Vec<_>>()).unwrap().1
    };
    let text = format!("{COPIED} {}.", own("shared", 40));
    let edited = text.replace("nightly", "daily");
    let words = ["every", "second", "rows", "both", "operator", "shared3 ", "shared5 ", "shared7 ", "shared9 "];
    let very = words.iter().fold(edited.clone(), |text, word| text.replace(word, "other "));
    let [equal, edited, very] = [[&*text, &*text], [&*text, &*edited], [&*text, &*very]];
    let link_between = "keep the text in x/a.md or x/b.md, and link to it from the other";
    let one_word = "if both should say the same (1 word differs),";
    assert_eq!(how(equal, &[]), link_between);
    assert_eq!(how(edited, &[]), format!("{one_word} {link_between}; if not, state once what both share"));
    let [share, differs] = ["state once what both share, in", "(10 words differ)"];
    assert_eq!(how(very, &[]), format!("{share} a page of its own, and link to it from both {differs}"));
    let index = [("x/_index.md", "# All")];
    let expected = format!("{share} x/_index.md or a page of its own, and link to it from both");
    assert_eq!([how(equal, &index), how(edited, &index)], [expected.clone(), expected.clone()]);
    assert_eq!(how(very, &index), format!("{expected} {differs}"));
    // A few sentences.
    assert_eq!(how([COPIED, COPIED], &index), link_between);
    // Two pages link to one of them, which is not about what the other is about.
    let links = [("x/c.md", link), ("x/d.md", link)];
    assert_eq!(how(equal, &links), "keep the text in x/b.md and link to it from x/a.md");
    assert_eq!(how(very, &links), format!("{share} a page of its own, and link to it from both {differs}"));
}

#[test]
fn pages_that_cannot_be_changed_stay_as_they_are() {
    let generated = format!("<!-- Generated. DO NOT EDIT. -->\n\n{}", page("beta", COPIED, ""));
    let files = [("a.md", page("alpha", COPIED, "")), ("x/y/b.md", generated)];
    let how = "keep the text in x/y/b.md, which is generated, and link to it from a.md";
    assert_eq!(proposed(&files), Some((1, how.into())));
    // Of an old version, or without a place in a table of contents.
    let files = [("v1.2/a.md", page("alpha", COPIED, "")), ("x/y/b.md", page("beta", COPIED, ""))];
    assert_eq!(proposed(&files), Some((1, "keep the text in x/y/b.md and link to it from v1.2/a.md".into())));
    let orphan = format!(":orphan:\n\n{}.\n\nTitle\n=====\n\n{COPIED}\n", own("alpha", 40));
    let files = [("a.rst", orphan), ("x/b.rst", format!("{}.\n\n{COPIED}\n", own("beta", 40)))];
    assert_eq!(proposed(&files), Some((1, "keep the text in x/b.rst and link to it from a.rst".into())));
}

/// What documentation has now is not taken back to release notes.
#[test]
fn release_notes_are_no_home_of_a_text() {
    let changelog = |text: &str| format!("# Changes\n\n{}.\n\n{text}\n", own("alpha", 60));
    let files = [("CHANGELOG.md", changelog(COPIED)), ("docs/x/a.md", page("beta", COPIED, ""))];
    let how = "keep the text in docs/x/a.md and link to it from CHANGELOG.md";
    assert_eq!(proposed(&files), Some((1, how.into())));
    // A heading of a version in any page.
    let notes = format!("# Guide\n\n{}.\n\n## What's new in 8.0\n\n{COPIED}\n", own("gamma", 60));
    let files = [("a.md", notes), ("docs/x/b.md", page("beta", COPIED, ""))];
    assert_eq!(proposed(&files), Some((1, "keep the text in docs/x/b.md and link to it from a.md".into())));
    // Generated notes, and those that had the text before, stay as they are, and so does the other page.
    let generated = format!("<!-- Generated. DO NOT EDIT. -->\n\n{}", changelog(COPIED));
    assert_eq!(proposed(&[("CHANGELOG.md", generated), ("docs/x/a.md", page("beta", COPIED, ""))]), None);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("CHANGELOG.md"), changelog(COPIED)).unwrap();
    fs::write(folder.path().join("a.md"), page("beta", COPIED, "")).unwrap();
    let mut outcome = run(&Request { folder: folder.path().into(), ..Request::new([folder.path()]) }).unwrap();
    let [finding] = &mut outcome.findings[..] else { panic!("{} findings", outcome.findings.len()) };
    let pages: Vec<Arc<Page>> = finding.places.iter().map(|place| Arc::clone(&place.page)).collect();
    for (new, keep) in [("a.md", None), ("CHANGELOG.md", Some(1))] {
        let is_new: Vec<bool> = finding.places.iter().map(|place| place.path().ends_with(new)).collect();
        finding.mark_new(&is_new);
        finding.proposal = None;
        propose(std::slice::from_mut(finding), Some(&Links::to(&pages, |_| true)), &no_rules());
        assert_eq!(finding.proposal.as_ref().map(|proposal| proposal.keep), keep, "{new}");
        assert!(finding.primary().path().ends_with(new), "{new}");
    }
}

/// A page of texts of others is not the home of any of them, whatever links to it.
#[test]
fn a_page_pasted_together_is_no_home() {
    let texts = ["one", "two", "six"].map(|name| format!("{}.", own(name, 60)));
    let collage = format!("# All\n\n{}\n", texts.join("\n\n"));
    let link = "See [all](all.md), and more words of text that no other page has.\n";
    let mut files: Vec<(&str, String)> =
        vec![("all.md", collage), ("x.md", link.into()), ("y.md", link.replace("See", "Look at"))];
    for (name, text) in ["docs/a/one.md", "docs/a/two.md", "docs/a/six.md"].into_iter().zip(&texts) {
        files.push((name, page(&format!("p{}", &name[7..10]), text, "See [all](../../all.md).")));
    }
    let (outcome, folder) = checked(&files);
    let kept = outcome.findings.iter().map(|finding| {
        let proposal = finding.proposal.as_ref().unwrap();
        finding.places[proposal.keep].path().replace(&folder, "")
    });
    assert_eq!(kept.collect::<Vec<_>>(), ["docs/a/one.md", "docs/a/two.md", "docs/a/six.md"]);
    // Two pages that copied one are no reason against that, if one of them has all of it.
    let files = [
        ("a.md", format!("{COPIED}\n\n{}.\n", own("own", 30))),
        ("docs/b.md", format!("{COPIED}\n\n{}.\n\n{}.\n", own("own", 30), own("more", 90))),
        ("docs/c.md", page("beta", COPIED, "")),
    ];
    let (outcome, folder) = checked(&files);
    let kept = outcome.findings.iter().map(|finding| {
        let proposal = finding.proposal.as_ref().unwrap();
        finding.places[proposal.keep].path().replace(&folder, "")
    });
    assert!(kept.clone().all(|kept| kept != "docs/c.md"), "{:?}", kept.collect::<Vec<_>>());
}

/// All pages of a site may have the same links in their menus.
#[test]
fn links_in_navigation_do_not_decide() {
    let both = "keep the text in a.html or b.html, and link to it from the other";
    let page = |name: &str, navigation: &str| {
        let own = own(name, 40);
        let after = self::own(&format!("{name}x"), 80);
        format!("<html><body>{navigation}<h1>{name}</h1><p>{own}.</p><p>{COPIED}</p><p>{after}.</p></body></html>\n")
    };
    let how = |navigation: &str| {
        let more =
            ["c.html", "d.html", "e.html"].map(|name| (name, format!("{navigation}<p>{}</p>\n", own(&name[..1], 40))));
        let files = [("a.html", page("alpha", navigation)), ("b.html", page("beta", ""))];
        proposed(&files.into_iter().chain(more).collect::<Vec<_>>()).unwrap().1
    };
    let link = "<a href=\"b.html\">The other page</a>";
    for navigation in [
        format!("<nav>{link}</nav>"),
        format!("<div class=\"navheader\"><table><tr><td>{link}</td></tr></table></div>"),
        format!("<table><tr><td class=\"navfooter\">{link}<td>Text</table>"),
        format!("<p class=toc>{link}"),
        format!("<ul><li>{link}</li><li><a href=\"x.html\">Another page</a></li></ul>"),
        format!("<p><a href=\"x.html\">Back</a> | {link}</p>"),
    ] {
        assert_eq!(how(&navigation), both, "{navigation}");
    }
    let second = "keep the text in b.html and link to it from a.html";
    assert_eq!(how(&format!("<p>More about this is in {link}.</p>")), second);
    // In other markups.
    for (ending, navigation) in [
        ("md", "- [The other page](b.md)\n- [Another page](x.md)\n"),
        ("md", "[Back](x.md) | [**The other page**](b.md)\n"),
        ("rst", "Text\n\n.. toctree::\n\n   b\n   x\n"),
        ("rst", "- :doc:`The other page <b>`\n- :doc:`x`\n"),
        ("adoc", "* xref:b.adoc[The other page]\n* xref:x.adoc[Another page]\n"),
    ] {
        let name = |name: &str| format!("{name}.{ending}");
        let text = |name: &str| format!("{}.\n\n{COPIED}\n\n{}.\n", own(name, 40), own(&format!("{name}x"), 80));
        let linking = |name: &str, link: &str| format!("{}.\n\n{link}\n", own(name, 30));
        let kept = |link: &str| {
            let pages = ["a", "b"].map(|page| (name(page), text(page)));
            let files: Vec<(String, String)> =
                pages.into_iter().chain(["c", "d", "e"].map(|page| (name(page), linking(page, link)))).collect();
            proposed(&files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect::<Vec<_>>()).unwrap().0
        };
        let text = match ending {
            "md" => "More about that is in [the other page](b.md).\n",
            "rst" => "More about that is in :doc:`the other page <b>`.\n",
            _ => "More about that is in xref:b.adoc[the other page].\n",
        };
        assert_eq!([kept(navigation), kept(text)], [0, 1], "{navigation}");
    }
}

#[test]
fn notes_have_no_proposal() {
    assert_eq!(proposed(&pages(&["CHANGELOG.md", "news/b.md"], "unrelated")), None);
}
