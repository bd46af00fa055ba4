//! README.md and the chapters of the guide are accurate: the tests run their commands and parse their records.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;

use neardups::algorithm::ALGORITHMS;
use neardups::algorithm::presets::PRESETS;
use neardups::guide::{CHAPTERS, Chapter};
use neardups::tokenizer::TOKENIZERS;

use crate::cli::golden::line_matches;
use crate::cli::records;
use crate::cli::shell::{Shell, command, root};

/// README.md is for the first ten minutes; the rest is in the guide.
const README_LINES: usize = 300;

/// Options in the texts that are those of other programs.
const FOREIGN_OPTIONS: [&str; 10] =
    ["--bench", "--features", "--from", "--locked", "--path", "--proto", "--release", "--rm", "--tlsv1", "--user"];

/// A fenced block: the text after the opening fence, and the lines.
struct Block<'a> {
    info: &'a str,
    line: usize,
    lines: Vec<&'a str>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => open = Some(Block { info, line: number, lines: Vec::new() }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// The commands of a block, each with the lines after it. A line that ends in a backslash continues in the next one.
fn commands<'a>(block: &Block<'a>) -> Vec<(String, Vec<&'a str>)> {
    let mut commands: Vec<(String, Vec<&str>)> = Vec::new();
    for line in &block.lines {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_string(), Vec::new())),
            (None, Some((command, output))) if output.is_empty() && command.ends_with('\\') => {
                command.push('\n');
                command.push_str(line);
            }
            (None, Some((_, output))) => output.push(line),
            (None, None) => panic!("line {}: output before the first command", block.line),
        }
    }
    commands
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("there is a README.md")
}

fn chapter(name: &str) -> &'static str {
    Chapter::by_name(name).expect("there is such a chapter").text
}

/// README.md and the chapters, each with its path from the root.
fn texts() -> Vec<(String, String)> {
    let chapters = CHAPTERS.iter().map(|chapter| (format!("src/guide/{}.md", chapter.name), chapter.text.to_string()));
    [("README.md".to_string(), readme())].into_iter().chain(chapters).collect()
}

/// The texts for contributors, each with its path from the root.
fn texts_for_contributors() -> impl Iterator<Item = (String, String)> {
    let paths = ["CHANGELOG.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md"];
    paths.into_iter().map(|path| {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        (path.to_string(), text)
    })
}

/// What `sh` prints in a folder with the fixtures: standard output, or both streams in the order of their lines.
fn printed(line: &str, both: bool, folder: &Path) -> String {
    let mut shell = command("sh", folder);
    let line = if both { format!("exec 2>&1\n{line}") } else { line.to_string() };
    let output = shell.args(["-c", &line]).stderr(Stdio::null()).output().expect("there is a shell");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// Runs the console blocks of a text, one after the other in one folder, and reports where it is wrong.
fn differences(text: &str) -> Vec<String> {
    let shell = Shell::new();
    let mut differences = Vec::new();
    for block in blocks(text) {
        let both = match block.info {
            "console" => false,
            "console stderr" => true,
            _ => continue,
        };
        for (command, expected) in commands(&block) {
            if command.starts_with("cargo ") {
                continue;
            }
            let found = printed(&command, both, shell.folder());
            let found: Vec<&str> = found.lines().collect();
            let same = |(expected, found): (&&str, &&str)| expected == found || both && line_matches(expected, found);
            if found.len() != expected.len() || !expected.iter().zip(&found).all(same) {
                let (expected, found) = (expected.join("\n"), found.join("\n"));
                differences.push(format!(
                    "line {}: $ {command}\n--- in the text\n{expected}\n--- printed\n{found}\n",
                    block.line
                ));
            }
        }
    }
    differences
}

#[test]
fn commands_print_what_the_texts_show() {
    let mut wrong = Vec::new();
    for (path, text) in texts() {
        wrong.extend(differences(&text).iter().map(|difference| format!("{path}, {difference}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_readme_is_short() {
    let lines = readme().lines().count();
    assert!(lines <= README_LINES, "{lines} lines: details belong in src/guide");
}

#[test]
fn the_readme_says_how_to_build_and_test() {
    let readme = readme();
    let blocks = blocks(&readme);
    let all: Vec<&str> =
        blocks.iter().filter(|block| block.info == "console").flat_map(|b| &b.lines).copied().collect();
    assert!(all.iter().any(|line| line.starts_with("$ cargo run --release -- scan ")), "how to scan");
    assert!(all.contains(&"$ cargo test"), "how to test");
}

#[test]
fn records_of_the_guide_are_those_of_the_program() {
    let blocks = blocks(chapter("records"));
    let lines: Vec<&str> = blocks.iter().filter(|block| block.info == "json").flat_map(|b| &b.lines).copied().collect();
    lines.iter().for_each(|line| drop(records::parse(line)));
    for kind in ["pair", "cluster", "verdict", "rejected", "eval", "point", "best"] {
        assert!(lines.iter().any(|line| line.starts_with(&format!("{{\"type\":\"{kind}\""))), "{kind}");
    }
}

/// The names of the headings of a text, as links spell them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let name = line.trim_start_matches('#').trim().to_lowercase();
        name.chars()
            .filter(|c| c.is_alphanumeric() || " -".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    })
}

#[test]
fn files_that_the_texts_link_to_are_there() {
    for (path, text) in texts().into_iter().chain(texts_for_contributors()) {
        let folder = root().join(&path).parent().expect("a file is in a folder").to_path_buf();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            if link.contains("://") || file.is_empty() {
                continue;
            }
            assert!(folder.join(file).exists(), "{path}: {link}");
            if !heading.is_empty() {
                let target = std::fs::read_to_string(folder.join(file)).expect("a link to a heading leads to a text");
                assert!(headings(&target).any(|name| name == heading), "{path}: {link}: there is no such heading");
            }
        }
    }
}

#[test]
fn the_changelog_begins_with_the_version_of_the_package() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).expect("there is a CHANGELOG.md");
    let newest = text.lines().find_map(|line| line.strip_prefix("## [")).expect("a version");
    let (version, date) = newest.split_once("] - ").expect("a version and a date");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let is_date = date.len() == 10 && date.chars().all(|c| c.is_ascii_digit() || c == '-');
    assert!(is_date || date == "unreleased", "{date}");
}

#[test]
fn contributors_know_every_stage_of_the_checks() {
    let run = root().join(".ci/run");
    // It is not part of the package.
    if !run.exists() {
        return;
    }
    let listed = printed(&format!("{} --list", run.display()), false, root());
    let (_, contributing) = texts_for_contributors().nth(1).expect("CONTRIBUTING.md");
    let stages: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(stages.contains(&"tests"), "{listed}");
    for stage in stages {
        assert!(contributing.contains(&format!("| `.ci/run {stage}` |")), "{stage}");
    }
}

#[test]
fn the_readme_leads_to_every_chapter() {
    let readme = readme();
    for Chapter { name, .. } in CHAPTERS {
        assert!(readme.contains(&format!("[{name}](src/guide/{name}.md)")), "{name}");
    }
}

/// The options that occur in a text.
fn options(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic))).collect()
}

#[test]
fn options_of_the_texts_are_those_of_the_program() {
    let shell = Shell::new();
    let commands =
        ["scan", "clean", "filter", "check", "passages", "contain", "compare", "eval", "plan", "lexicon build"];
    let of_index = ["stats", "verify", "snapshot", "export", "get", "query", "add", "remove", "compact"]
        .map(|name| format!("index {name}"));
    let commands = commands.map(String::from).into_iter().chain(of_index);
    let help: String = commands.map(|command| shell.dedup(&format!("{command} --help-all")).done()).collect();
    let mut known = options(&help);
    known.extend(FOREIGN_OPTIONS);
    for (path, text) in texts() {
        let unknown: Vec<_> = options(&text).difference(&known).copied().collect();
        assert!(unknown.is_empty(), "{path}: {unknown:?}");
    }
}

#[test]
fn the_guide_has_every_name_of_the_tables() {
    let algorithms = ALGORITHMS.iter().map(|entry| ("choosing", entry.name));
    let presets = PRESETS.iter().map(|preset| ("choosing", preset.name));
    let tokenizers = TOKENIZERS.iter().map(|entry| ("tokens", entry.name));
    for (name, word) in algorithms.chain(presets).chain(tokenizers) {
        assert!(chapter(name).contains(&format!("`{word}`")), "{name}: {word}");
    }
    for parameter in ALGORITHMS.iter().flat_map(|entry| entry.parameters) {
        assert!(chapter("algorithms").contains(&format!("`--{}`", parameter.name)), "{}", parameter.name);
    }
}

#[test]
fn the_guide_has_every_feature() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("there is a Cargo.toml");
    let features = manifest.split("[features]\n").nth(1).and_then(|rest| rest.split("\n[").next()).expect("features");
    let names = features.lines().filter_map(|line| line.split_once(" = [")).map(|(name, _)| name);
    let missing: Vec<_> =
        names.filter(|name| *name != "default" && !chapter("library").contains(&format!("| `{name}` |"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_guide_has_every_field_of_the_statistics() {
    let shell = Shell::new();
    let scan = "dedup scan fixtures/jsonl/docs --preset gopher --fold marks --emit clusters --stats scan.json";
    let filter = "cat fixtures/jsonl/docs/*.jsonl | dedup filter --mark --stats filter.json";
    assert_eq!(shell.sh(&format!("{scan} && {filter} > out")).status, 0);
    for name in ["scan.json", "filter.json"] {
        let text = fs::read_to_string(shell.folder().join(name)).expect("statistics were written");
        let stats: serde_json::Value = serde_json::from_str(&text).expect("statistics are JSON");
        let fields = stats.as_object().expect("an object").keys();
        let counts = stats["counts"].as_object().expect("an object").keys();
        for field in fields.chain(counts) {
            assert!(chapter("records").contains(&format!("`{field}`")), "{name}: {field}");
        }
    }
}

/// The tables of a text by their first lines.
fn tables(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let lines: Vec<&str> = text.lines().collect();
    let tables = lines.chunk_by(|a, b| a.starts_with('|') && b.starts_with('|'));
    tables.filter(|lines| lines[0].starts_with('|')).map(|lines| (lines[0], lines.to_vec())).collect()
}

#[test]
fn tables_that_are_in_two_texts_are_equal() {
    let readme = readme();
    let of_readme = tables(&readme);
    let mut shared = 0;
    for Chapter { name, text, .. } in CHAPTERS {
        for (head, table) in tables(text) {
            if let Some(other) = of_readme.get(head) {
                assert_eq!(&table, other, "{name}");
                shared += 1;
            }
        }
    }
    assert!(shared > 0, "README.md and the guide both have the measured results");
}

#[test]
fn a_wrong_example_is_noticed() {
    let wrong = |text: &str| differences(text).len();
    assert_eq!(wrong("```console\n$ echo a; echo b\na\nb\n$ cargo x\nnever run\n```\n```sh\n$ echo a\n```\n"), 0);
    assert_eq!(wrong("```console\n$ echo a\n[..]\n$ echo b\n$ echo c\nc\nd\n```\n"), 3);
    assert_eq!(wrong("```console stderr\n$ echo a 1 >&2; echo b\na [..]\nb\n```\n"), 0);
    assert_eq!(wrong("```console\n$ echo a >&2; echo b\nb\n```\n"), 0);
}
