//! The same bytes out, however a scan is run.

use std::fs::File;

use crate::support::corpus::{related, with_articles};
use crate::support::random::Random;

use super::shell::Shell;

/// A corpus with pairs at all similarities, as JSON lines.
fn corpus(documents: usize, longest: usize) -> String {
    let line = |(id, text): &(String, String)| serde_json::json!({ "id": id, "text": text }).to_string() + "\n";
    with_articles(related(&mut Random::new(7), documents, longest)).iter().map(line).collect()
}

/// Ways to run a scan that must not change what it finds.
fn tuning() -> impl Iterator<Item = String> {
    let threads = (1..=8).map(|n| format!("-j{n}"));
    let memory = ["0", "1K", "100K", "1G"].into_iter().map(|size| format!("--memory {size} -j3"));
    threads.chain(memory).chain(["".into()])
}

#[test]
fn threads_and_memory_change_nothing() {
    let shell = Shell::new();
    shell.write("all.jsonl", corpus(1500, 200));
    for options in
        ["", "--emit verdicts --keep longest", "--algo simhash --distance 8 --emit clusters", "--algo spotsigs"]
    {
        let run = |tuning: &str| shell.dedup(&format!("scan all.jsonl -q {options} {tuning}")).done();
        let expected = run("-j1");
        assert!(expected.lines().count() > 100, "{}", expected.lines().count());
        // Algorithms that compare fingerprints refuse --memory.
        let simhash = options.contains("simhash");
        for tuning in tuning().filter(|tuning| !(simhash && tuning.contains("--memory"))) {
            assert!(run(&tuning) == expected, "{options} {tuning}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_passed_over_in_a_second_reading_too() {
    let shell = Shell::new();
    // Broken lines, blank ones and repaired ones between the documents.
    let odd = ["{\"text\":", "", "{\"text\":\"caf\u{e9}\",\"id\":\"x\"}", "[]", "{\"id\":\"no text\"}"];
    let corpus = corpus(400, 100);
    let mixed = corpus.lines().enumerate().map(|(n, line)| match n % 3 {
        0 => format!("{line}\n"),
        _ => format!("{}\n{line}\n", odd[n % odd.len()]),
    });
    shell.write("all.jsonl", mixed.collect::<String>());
    for options in ["", "--algo spotsigs", "--exact"] {
        let run = |line: &str| {
            let run = shell.sh(&format!("dedup scan {line} -q {options}"));
            assert_eq!(run.status, 3, "{}", run.stderr);
            run.stdout
        };
        let expected = run("all.jsonl");
        assert!(expected.lines().count() > 20);
        assert!(run("all.jsonl --memory 0 -j2") == expected, "{options}");
        assert!(run("- --memory 0 < all.jsonl") == expected.replace("all.jsonl:", "-:"), "{options}");
    }
}

#[test]
fn files_standard_input_and_compression_change_nothing() {
    let shell = Shell::new();
    shell.write("all.jsonl", corpus(800, 100));
    for options in ["", "--emit clusters --keep last --memory 0", "--algo simhash --force --emit verdicts"] {
        let expected = shell.dedup(&format!("scan all.jsonl -q {options}")).done();
        assert!(!expected.is_empty());
        let mut piped = shell.command(&format!("scan - -q {options}"));
        let piped = piped.stdin(File::open(shell.folder().join("all.jsonl")).unwrap()).output().unwrap();
        assert!(String::from_utf8(piped.stdout).unwrap() == expected, "{options}");
        for line in [
            format!("cat all.jsonl | dedup scan -q {options}"),
            format!("gzip -c all.jsonl | dedup scan - -q {options}"),
            // A slow writer, whose pieces end anywhere.
            format!("dd if=all.jsonl bs=777 2> /dev/null | dedup scan - -q {options}"),
            format!("mkdir -p parts; split -l 100 all.jsonl parts/; dedup scan parts -q {options}"),
        ] {
            assert!(shell.sh(&line).done() == expected, "{line}");
        }
    }
}

#[test]
fn records_without_an_id_are_identified_by_position() {
    let shell = Shell::new();
    shell.write("all.txt", "one two three\n\nfour\nOne  two three\n");
    let file = shell.dedup("scan all.txt --format lines -q").done();
    let piped = shell.sh("dedup scan --format lines -q < all.txt").done();
    assert!(file.contains(r#""a":"all.txt:1","b":"all.txt:4""#), "{file}");
    assert_eq!(file.replace("all.txt:", "-:"), piped);
}

#[test]
fn the_seed_changes_no_pair_far_above_the_threshold() {
    let shell = Shell::new();
    let run = |seed: u64| shell.dedup(&format!("scan fixtures/english/docs -q --recall 0.999999 --seed {seed}")).done();
    let expected = run(0);
    assert!((1..6).all(|seed| run(seed) == expected));
}
