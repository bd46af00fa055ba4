//! What a configuration accepts or leaves out: texts, files by name, release notes by name, and a minimum for all findings.

use super::check_new::{own, page};
use super::shell::Shell;

const NOTICE: &str = "Prices on these pages are net of taxes and duties. They bind nobody until the order is confirmed in writing, and they can \
    change without notice between two editions of the list.";

/// Pages in a folder, and a configuration.
fn folder(pages: &[(&str, String)], configuration: &str) -> Shell {
    let shell = Shell::new();
    shell.sh("rm fixtures; mkdir -p docs/api .git").done();
    for (name, text) in pages {
        shell.write(name, text);
    }
    shell.write("dedup.toml", configuration);
    shell
}

fn allow(keys: &str) -> String {
    format!("[check]\npaths = [\"docs\"]\n\n[[check.allow]]\n{keys}\nreason = \"as it has to be\"\n")
}

#[test]
fn a_text_is_accepted_wherever_it_is() {
    let copied = own("copied", 60);
    let html = "<p>Prices on these <b>pages</b> are net of taxes and duties. They bind nobody\nuntil the order is confirmed in writing, and \
        they can change without notice between two editions of the list.</p>";
    let pages = [
        ("docs/a.md", page("alpha", &[NOTICE])),
        ("docs/b.html", format!("<h1>B</h1><p>{}</p>{html}<p>{}</p>", own("b", 60), own("bb", 60))),
        // Between two parts of a copy, and in the middle of a paragraph.
        ("docs/c.md", page("gamma", &[&copied, NOTICE, "The rest is on the next page."])),
        ("docs/d.md", page("delta", &[&format!("{copied} {NOTICE}")])),
    ];
    let text = NOTICE.replace(". They", ".\n\nThey").to_uppercase();
    let shell = folder(&pages, &allow(&format!("text = \"\"\"\n{text}\n\"\"\"")));
    let run = shell.sh("dedup check");
    assert!(run.status == 1 && run.stderr.contains(": 1 copy (1 error); "), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.starts_with("docs/d.md:5:1: error: passage of 60 words, 100 % alike\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("Prices") && !run.stderr.contains("warning"), "{}{}", run.stdout, run.stderr);
    assert!(shell.sh("dedup check --no-config docs").stderr.contains(": 2 copies (2 errors); "));
    // With one word more or less, the text is another one.
    shell.write("docs/e.md", page("epsilon", &[&NOTICE.replace("taxes and duties", "taxes")]));
    shell.write("docs/f.md", page("phi", &[&NOTICE.replace("taxes and duties", "taxes")]));
    assert!(shell.sh("dedup check").stderr.contains(": 2 copies (2 errors); "));
}

#[test]
fn texts_that_are_not_valid_or_in_no_page_are_reported() {
    let pages = [("docs/a.md", page("alpha", &[NOTICE]))];
    let with = |keys: &str| folder(&pages, &allow(keys)).sh("dedup check");
    let run = with(&format!("text = \"{}\"", NOTICE.replace("net", "free")));
    let expected = "dedup: warning: dedup.toml: [[check.allow]] text = 'Prices on these pages are free of taxes and duties. They bind …' is in no \
        page, word for word: correct or remove it\n";
    assert!(run.status == 0 && run.stderr.starts_with(expected), "{}", run.stderr);
    assert!(!with(&format!("text = \"{NOTICE}\"")).stderr.contains("warning"));
    for (keys, expected) in [
        ("text = \"a b - c d\"", "dedup.toml:5: `text = \"a b - c d\"`: expected a text of 5 words or more\n"),
        ("text = \"\"", "expected a text of 5 words or more, not an empty string\n"),
        ("text = [\"a b c d e\"]", "expected a text of 5 words or more, as a quoted string\n"),
        ("text = \"a b c d e\"\npaths = [\"a\"]", "has both `paths` and `text`: make two tables of it\n"),
        (
            "text = \"a b c d e\"\nbetween = [[\"a\"], [\"b\"]]",
            "has both `between` and `text`: make two tables of it\n",
        ),
    ] {
        let run = with(keys);
        assert!(run.status == 2 && run.stderr.ends_with(expected), "{}", run.stderr);
    }
}

/// A variable of a script may be empty.
#[test]
fn an_empty_name_of_a_configuration_is_an_error() {
    let shell = folder(&[("docs/a.md", page("alpha", &[NOTICE]))], "");
    for option in ["--config ''", "--config=", "--staged --config ''"] {
        let run = shell.sh(&format!("dedup check {option}"));
        assert!(run.status == 2 && run.stderr.contains("a value is required for '--config <FILE>'"), "{}", run.stderr);
    }
}

#[test]
fn entries_that_accept_no_copy_are_reported() {
    let [one, other] = [own("one", 60), own("other", 60)];
    let pages = [
        ("docs/a.md", page("alpha", &[&one])),
        ("docs/b.md", page("beta", &[&one, &other])),
        ("docs/c.md", page("gamma", &[&other])),
        ("docs/d.md", page("delta", &[])),
    ];
    let entry = |keys: &str| format!("[[check.allow]]\n{keys}\nreason = \"so\"\n");
    let used = entry("paths = [\"a.md\", \"b.md\"]") + &entry("between = [[\"b.md\"], [\"c.md\"]]");
    let idle = entry("paths = [\"a.md\", \"c.md\"]") + &entry("between = [[\"a.md\", \"b.md\"], [\"d.md\"]]");
    let shell = folder(&pages, &(used + &idle + &entry("paths = [\"d.md\", \"gone.md\"]")));
    let run = shell.sh("dedup check");
    let warning = "dedup: warning: dedup.toml: [[check.allow]]";
    let why = "(so) accepts no copy in this run: remove it if it is not needed any more";
    let expected = format!(
        "{warning} 'gone.md' matches no page: correct or remove it\n{warning} paths 'a.md', 'c.md' {why}\n\
         {warning} between 'a.md', 'b.md' and 'd.md' {why}\ndedup: 4 pages, "
    );
    assert!(run.status == 0 && run.stderr.starts_with(&expected), "{}", run.stderr);
    // Of some of the pages, it is not known.
    let run = shell.sh("dedup check docs/a.md docs/b.md");
    assert!(run.status == 0 && !run.stderr.contains("warning"), "{}", run.stderr);
}

#[test]
fn text_files_with_the_names_of_data_are_not_pages() {
    let shared = own("shared", 60);
    let names =
        ["docs/a.md", "docs/CMakeLists.txt", "docs/requirements-dev.txt", "docs/robots.txt", "docs/llms-full.txt"];
    let pages = names.map(|name| (name, page(&format!("x{}", name.len()), &[&shared])));
    let shell = folder(&pages, "[check]\nignore = [\"robots.txt\"]\n");
    let run = shell.sh("dedup check");
    let expected = "dedup: 3 files not read, because their names are those of data files: docs/CMakeLists.txt, docs/llms-full.txt, \
        docs/requirements-dev.txt\ndedup: 1 page, ";
    assert!(run.status == 0 && run.stderr.starts_with(expected), "{}", run.stderr);
    // A file that is named is read.
    let run = shell.sh("dedup check docs docs/robots.txt docs/CMakeLists.txt");
    assert!(
        run.status == 1 && run.stderr.contains("dedup: 2 files not read") && run.stderr.contains("\ndedup: 2 pages, "),
        "{}",
        run.stderr
    );
    // The index of git and an earlier commit are read in the same way.
    shell.sh("rmdir .git; git init -q -b main .; git add docs/a.md; git -c user.name=t -c user.email=t@t commit -q -m one; git add docs").done();
    for option in ["--staged", "--since main"] {
        let run = shell.sh(&format!("dedup check docs {option}"));
        assert!(run.status == 0 && run.stderr.contains("dedup: 1 page, "), "{}", run.stderr);
    }
}

#[test]
fn a_page_that_is_named_like_release_notes_can_be_ordinary() {
    let shared = own("shared", 60);
    let notes = page("alpha", &[]) + "\n## 1.2.3\n\n" + &shared + "\n";
    let pages = [("docs/api/upgrade.md", notes), ("docs/guide.md", page("beta", &[&shared]))];
    let with = |rule: &str| folder(&pages, rule).sh("dedup check docs");
    let run = with("");
    assert!(
        run.status == 0 && run.stdout.contains(": warning: ") && run.stdout.contains("(release notes"),
        "{}",
        run.stdout
    );
    let run = with("[[check.rule]]\npaths = [\"upgrade.md\"]\npreset = \"ordinary\"\n");
    assert!(run.status == 1 && run.stdout.contains(": error: "), "{}{}", run.stdout, run.stderr);
    // Without evidence both pages may keep the text; release notes do not.
    assert!(run.stdout.contains("docs/guide.md or docs/api/upgrade.md"), "{}", run.stdout);
}

#[test]
fn a_higher_minimum_is_one_for_paragraphs_too() {
    let short = own("short", 44);
    let shell = folder(&[("docs/a.md", page("a", &[&short])), ("docs/b.md", page("b", &[&short]))], "");
    let copies = |options: &str| {
        let run = shell.sh(&format!("dedup check docs --fail-on none {options}"));
        run.stderr.contains(": 1 copy (1 error)")
    };
    assert!(copies("") && copies("--min-words 44") && copies("--min-words 30"));
    assert!(!copies("--min-words 45"));
    assert!(copies("--min-words 45 --paragraph-words 40"));
    shell.write("dedup.toml", "[check]\nmin-words = 45\n");
    assert!(!copies("") && copies("--min-words 44") && copies("--paragraph-words 15"));
    // The same for whole files.
    shell.write("docs/a.md", &short);
    shell.write("docs/b.md", &short);
    assert!(!copies("") && copies("--min-words 40"));
}

/// Of a copy in three pages, that between two of them is accepted: it is what the other pairs are.
#[test]
fn an_accepted_pair_neither_grades_a_copy_nor_changes() {
    let text = own("shared", 60);
    let pages = [
        ("docs/a.md", page("alpha", &[&text])),
        ("docs/b.md", page("beta", &[&text])),
        ("docs/CHANGELOG.md", format!("# Changes\n\n## 2.0\n\n{text}\n")),
    ];
    let [paths, between] = [r#"paths = ["docs/a.md", "docs/b.md"]"#, r#"between = [["a.md"], ["b.md"]]"#];
    for keys in [paths, between] {
        let run = folder(&pages, &allow(keys)).sh("dedup check -q");
        let expected = "docs/CHANGELOG.md:5:1: warning: passage of 60 words in 3 places, 100 % alike (release notes or dated posts: docs/CHANGELOG.md)\n";
        assert!(run.status == 0 && run.stdout.starts_with(expected), "{}", run.stdout);
        let proposal = "proposal: keep the text in docs/a.md and link to it from docs/CHANGELOG.md\n";
        assert!(run.stdout.ends_with(proposal), "{}", run.stdout);
        // As whole files, and with a highest grade of the third page.
        let wholes = [("docs/a.md", text.clone()), ("docs/b.md", text.clone()), ("docs/c.md", text.clone())];
        let rule = "\n[[check.rule]]\npaths = [\"c.md\"]\ngrade = \"note\"\n";
        let run = folder(&wholes, &(allow(keys) + rule)).sh("dedup check -q --grade note");
        let expected = ": note: whole file of 60 words in 3 places, 100 % alike (a rule of the configuration)\n";
        assert!(run.status == 0 && run.stdout.contains(expected), "{}", run.stdout);
    }
    // A pair that is not accepted still counts, and what is accepted beside it is not to change.
    let more = [pages[0].clone(), pages[1].clone(), ("docs/z.md", page("zeta", &[&text]))];
    let run = folder(&more, &allow(paths)).sh("dedup check -q");
    assert!(run.status == 1 && run.stdout.starts_with("docs/z.md:5:1: error: "), "{}", run.stdout);
    assert!(
        run.stdout.ends_with("keep the text in docs/a.md or docs/z.md, and link to it from the other\n"),
        "{}",
        run.stdout
    );
    // If all pairs are, there is no finding.
    let run = folder(&pages[..2], &allow(paths)).sh("dedup check -q --grade note");
    assert!(run.status == 0 && run.stdout.is_empty(), "{}", run.stdout);
}
