//! What README.md shows is what happens: its commands are run, its records are read.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::cli::golden::line_matches;
use crate::cli::records;
use crate::cli::shell::{Shell, command, root};

/// A fenced block: what stands behind the opening fence, and the lines.
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

/// The commands of a block, each with the lines after it.
fn commands<'a>(block: &Block<'a>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in &block.lines {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, Vec::new())),
            (None, Some((_, output))) => output.push(line),
            (None, None) => panic!("line {}: output before the first command", block.line),
        }
    }
    commands
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("there is a README.md")
}

/// What `sh` prints in a folder with the fixtures: standard output, or both streams in the order of their lines.
fn printed(line: &str, both: bool, folder: &Path) -> String {
    let mut shell = command("sh", folder);
    let line = if both { format!("exec 2>&1\n{line}") } else { line.to_string() };
    let output = shell.args(["-c", &line]).stderr(Stdio::null()).output().expect("there is a shell");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// Runs the console blocks of a text, one after the other in one folder, and says where it is wrong.
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
            let found = printed(command, both, shell.folder());
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
fn commands_print_what_the_readme_shows() {
    let differences = differences(&readme());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
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
fn records_of_the_readme_are_those_of_the_program() {
    let readme = readme();
    let blocks = blocks(&readme);
    let json = blocks.iter().filter(|block| block.info == "json").flat_map(|block| &block.lines);
    let parsed: Vec<_> = json.map(|line| records::parse(line)).collect();
    assert!(!parsed.is_empty(), "there are examples of records");
}

#[test]
fn files_that_the_readme_links_to_are_there() {
    let readme = readme();
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let here = !link.contains("://") && !link.starts_with('#');
        assert!(!here || root().join(link).exists(), "{link}");
    }
}

#[test]
fn a_wrong_example_is_noticed() {
    let wrong = |text: &str| differences(text).len();
    assert_eq!(wrong("```console\n$ echo a; echo b\na\nb\n$ cargo x\nnever run\n```\n```sh\n$ echo a\n```\n"), 0);
    assert_eq!(wrong("```console\n$ echo a\n[..]\n$ echo b\n$ echo c\nc\nd\n```\n"), 3);
    assert_eq!(wrong("```console stderr\n$ echo a 1 >&2; echo b\na [..]\nb\n```\n"), 0);
    assert_eq!(wrong("```console\n$ echo a >&2; echo b\nb\n```\n"), 0);
}
