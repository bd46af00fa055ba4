//! `--max-bad`: so many bad records leave the status of a run as it is without them. What is printed and written stays the same.

use super::shell::{Run, Shell};
use serde_json::Value;
use std::fs;

/// Three documents, of which two are near-duplicates, and two bad records.
const RECORDS: &str = r#"{"id":"a","text":"The old library on Mill Street opens at nine on weekdays."}
not JSON
{"id":"b","text":"the old library on mill street opens at NINE on weekdays"}
{"id":"c","title":"no text"}
{"id":"d","text":"A heron stood in the shallows for an hour without moving."}
"#;

/// Every command that reads records, to which options are added.
const COMMANDS: &[&str] = &[
    "dedup scan records.jsonl",
    "dedup scan records.jsonl --emit verdicts",
    "dedup scan records.jsonl --emit kept",
    "dedup scan records.jsonl --emit fingerprints",
    "dedup scan records.jsonl --measure containment",
    "dedup scan records.jsonl --algo imatch",
    "dedup clean records.jsonl --output out",
    "dedup clean records.jsonl --output out --index out.idx",
    "dedup clean records.jsonl --output out --dry-run",
    "dedup passages records.jsonl",
    "dedup passages records.jsonl --exact --output out",
    "dedup contain records.jsonl",
    "dedup contain records.jsonl --output out",
    "dedup contain records.jsonl --against reference.jsonl",
    "dedup filter < records.jsonl",
    "dedup index add some.idx < records.jsonl",
    "dedup index query known.idx < records.jsonl",
    "dedup eval records.jsonl --truth truth.jsonl",
    "dedup eval records.jsonl --truth truth.jsonl --algo all",
    "dedup eval records.jsonl --truth truth.jsonl --algo minhash --sweep",
    "dedup plan records.jsonl",
    "dedup lexicon build records.jsonl",
];

fn shell() -> Shell {
    let shell = Shell::new();
    shell.write("records.jsonl", RECORDS);
    shell.write("reference.jsonl", RECORDS);
    shell.write("good.jsonl", RECORDS.lines().next().unwrap());
    shell.write("truth.jsonl", r#"{"type":"pair","a":"a","b":"b"}"#);
    shell
}

/// Runs a command with options, in a state of its own.
fn run(shell: &Shell, line: &str, options: &str) -> Run {
    shell.sh("rm -rf out out.idx* some.idx* known.idx*; dedup index add known.idx -q < good.jsonl").done();
    let (command, input) = line.split_once(" < ").map_or((line, String::new()), |(it, file)| (it, format!("< {file}")));
    shell.sh(&format!("{command} {options} {input}"))
}

#[test]
fn so_many_bad_records_do_not_change_the_status() {
    let shell = shell();
    for line in COMMANDS {
        // The reference of a run is read, too.
        let bad = if line.contains("--against") { 4 } else { 2 };
        let [none, fewer, enough, more] = ["", "1", "2", "9"].map(|most| {
            let most = if most == "2" { bad.to_string() } else { most.to_string() };
            run(&shell, line, &if most.is_empty() { most } else { format!("--max-bad {most}") })
        });
        for run in [&none, &fewer] {
            assert_eq!(run.status, 3, "{line}: {}", run.stderr);
        }
        for run in [&enough, &more] {
            assert_eq!(run.status, 0, "{line}: {}", run.stderr);
        }
        let named = |run: &Run| run.stderr.lines().filter(|line| line.starts_with("dedup: failed: ")).count();
        assert_eq!(named(&none), bad, "{line}: {}", none.stderr);
        assert_eq!(named(&more), bad, "{line}: {}", more.stderr);
        assert!(more.stderr.contains(&format!("{bad} bad records, within --max-bad 9")), "{line}: {}", more.stderr);
        assert!(
            fewer.stderr.contains(&format!("{bad} bad records, more than --max-bad 1")),
            "{line}: {}",
            fewer.stderr
        );
        // Plans and evaluations have times, and answers of an index too.
        if !["plan", "eval", "query"].iter().any(|name| line.contains(name)) {
            assert_eq!(none.stdout, more.stdout, "{line}");
        }
        let quiet = run(&shell, line, "--max-bad 9 -q");
        assert_eq!((quiet.status, named(&quiet)), (0, bad), "{line}: {}", quiet.stderr);
    }
}

#[test]
fn bad_records_are_counted_and_listed_all_the_same() {
    let shell = shell();
    for line in COMMANDS.iter().filter(|line| !["index", "plan"].iter().any(|name| line.contains(name))) {
        let options = if line.contains("eval") || line.contains("lexicon") { "" } else { "--stats stats.json" };
        shell.sh("rm -f rejects.jsonl").done();
        let run = run(&shell, line, &format!("--max-bad 9 --rejects rejects.jsonl {options}"));
        assert_eq!(run.status, 0, "{line}: {}", run.stderr);
        let rejects = fs::read_to_string(shell.folder().join("rejects.jsonl")).unwrap();
        assert!(rejects.contains("not JSON") && rejects.contains("no text"), "{line}: {rejects}");
        if !options.is_empty() {
            let stats: Value =
                serde_json::from_str(&fs::read_to_string(shell.folder().join("stats.json")).unwrap()).unwrap();
            let failed = ["/failed", "/counts/failed"].iter().find_map(|at| stats.pointer(at)?.as_u64());
            assert!(failed.is_some_and(|failed| failed >= 2), "{line}: {stats}");
        }
    }
}

#[test]
fn files_that_fail_are_no_bad_records() {
    let shell = shell();
    shell.sh("gzip -c records.jsonl | head -c 100 > cut.jsonl.gz; printf 'a,b\\n1,2\\n' > other.csv").done();
    // A record of an archive that breaks off: it is not known how many follow.
    let record = |id: u8| {
        let text = "The old library on Mill Street opens at nine on weekdays";
        let head = format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a/{id}\r\nContent-Type: text/plain\r\n"
        );
        format!("{head}Content-Length: {}\r\n\r\n{text}\r\n\r\n", text.len())
    };
    let records = record(1) + &record(2);
    shell.write("cut.warc", &records[..records.len() - 20]);
    for files in [
        "records.jsonl missing.jsonl",
        "records.jsonl cut.jsonl.gz",
        "records.jsonl other.csv",
        "records.jsonl cut.warc",
    ] {
        let run = shell.sh(&format!("dedup scan {files} --max-bad 99"));
        assert_eq!(run.status, 3, "{files}: {}", run.stderr);
        assert!(run.stderr.contains("so that --max-bad does not apply"), "{files}: {}", run.stderr);
    }
    // Nothing was read at all.
    let run = shell.sh("echo nothing > bad.jsonl; dedup scan bad.jsonl --max-bad 99");
    assert_eq!(run.status, 2, "{}", run.stderr);
    // A document that is a whole file is one record.
    shell.sh("mkdir docs; cp records.jsonl docs/a.txt; head -c 3000 /dev/zero | tr '\\0' a > docs/long.txt").done();
    for (most, status) in [(0, 3), (1, 0)] {
        let run = shell.sh(&format!("dedup scan docs --max-record 1000 --max-bad {most}"));
        assert_eq!(run.status, status, "{}", run.stderr);
    }
}

#[test]
fn an_interrupted_run_that_goes_on_counts_what_it_listed() {
    let shell = shell();
    let clean = "dedup clean records.jsonl --output out --max-bad";
    assert_eq!(shell.sh(&format!("{clean} 1")).status, 3);
    assert_eq!(shell.sh(&format!("{clean} 2")).status, 0);
}

#[test]
fn an_error_at_the_first_bad_record_accepts_none() {
    let shell = shell();
    for line in ["dedup scan records.jsonl", "dedup filter < records.jsonl", "dedup clean records.jsonl --output out"] {
        let run = run(&shell, line, "--max-bad 1 --on-error fail");
        assert_eq!(run.status, 2, "{line}: {}", run.stderr);
        assert!(run.stderr.contains("--max-bad has no effect with --on-error fail"), "{line}: {}", run.stderr);
    }
}

/// Probably the options do not fit: a stream that is taken for done would be lost.
#[test]
fn a_stream_of_nothing_but_bad_records_is_an_error() {
    let shell = shell();
    shell.write(
        "bodies.jsonl",
        (0..500).map(|n| format!("{{\"id\":{n},\"body\":\"some words\"}}\n")).collect::<String>(),
    );
    shell.write("one.jsonl", "no JSON\n");
    for (options, status) in [("", 2), ("--max-bad 499", 2), ("--max-bad 500", 0), ("--text-field body", 0)] {
        for command in ["dedup filter --stats stats.json", "dedup index add some.idx"] {
            let run = run(&shell, &format!("{command} < bodies.jsonl"), options);
            assert_eq!(run.status, status, "{command} {options}: {}", run.stderr);
            let error = "dedup: error: empty: no document was read: all 500 records failed;";
            assert_eq!(run.stderr.contains(error), status == 2, "{command} {options}: {}", run.stderr);
        }
        let stats = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
        assert_eq!(stats.contains("\"kind\":\"empty\""), status == 2, "{stats}");
    }
    let one = shell.sh("dedup filter -q --metrics filter.prom --rejects rejected.jsonl < one.jsonl");
    assert_eq!((one.status, one.stdout.len()), (2, 0));
    assert!(one.stderr.contains("no document was read: the only record failed"), "{}", one.stderr);
    assert!(fs::read_to_string(shell.folder().join("filter.prom")).unwrap().contains("exit_status 2"));
    assert_eq!(fs::read_to_string(shell.folder().join("rejected.jsonl")).unwrap().lines().count(), 1);
    // What is passed is not lost, and an empty stream has nothing to lose.
    assert_eq!(shell.sh("dedup filter --on-error keep < one.jsonl | cmp - one.jsonl").status, 0);
    assert_eq!(shell.sh("dedup filter --on-error keep < one.jsonl").status, 3);
    assert_eq!(shell.sh("dedup filter < /dev/null && dedup index add some.idx < /dev/null").status, 0);
    assert_eq!(shell.sh("cat one.jsonl good.jsonl | dedup filter").status, 3);
}
