//! `dedup clean --index`: decides as `dedup filter` does with the same documents, and remembers what is kept once, whenever a
//! run is killed.

use super::clean::{compressed, corpus, files, texts};
use super::records;
use super::shell::{Run, Shell};
use crate::support::random::Random;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// Writes shards of documents with ids of their own, but for some that come again, and records that cannot be read. Returns
/// their lines, in the order of their paths.
fn shards(folder: &Path, seed: u64, first: usize, texts: &[String]) -> String {
    let mut random = Random::new(seed);
    let (mut all, mut earlier) = (String::new(), Vec::<String>::new());
    for (shard, texts) in texts.chunks(17).enumerate() {
        let mut content = String::new();
        for (number, text) in texts.iter().enumerate() {
            let id = first + 100 * shard + number;
            content += &match random.below(12) {
                0 => format!("{{\"id\":\"d{id}\"}}\n"),
                1 => format!("{{\"id\":\"d{id}\",\"text\":\"too short\"}}\n"),
                2 if !earlier.is_empty() => earlier[random.below(earlier.len())].clone(),
                _ => {
                    // Spots begin with a common word.
                    let text = text.replace(" w1", " the w1");
                    earlier.push(format!("{{\"id\":\"d{id}\",\"text\":\"{text}\"}}\n"));
                    earlier[earlier.len() - 1].clone()
                }
            };
        }
        let name = format!("{}/{shard:03}.jsonl{}", shard / 4, if shard % 3 == 1 { ".gz" } else { "" });
        let path = folder.join(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, compressed(&name, content.as_bytes())).unwrap();
        all += &content;
    }
    all
}

/// The ids in an index, in their order.
fn ids(shell: &Shell, index: &str) -> Vec<String> {
    let exported = shell.sh(&format!("dedup index export {index}")).done();
    records::documents(&exported);
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_string();
    exported.lines().map(id).collect()
}

/// The id, the original and the similarity of each line about a duplicate.
fn duplicates(lines: &str) -> Vec<(String, String, String)> {
    let of = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let original = &line["duplicate_of"];
        let original = original.get("id").unwrap_or(original).as_str().unwrap();
        (line["id"].as_str().unwrap().to_string(), original.to_string(), line["similarity"].to_string())
    };
    lines.lines().map(of).collect()
}

/// Flags that `filter` and `clean` share.
const FLAGS: &[&str] = &[
    "--shingle 3",
    "--shingle 2 --threshold 0.5",
    "--shingle 3 --exact",
    "--algo simhash --distance 8 --force",
    "--algo projection",
    "--algo spotsigs",
    "--shingle 3 --window 25",
    "--shingle 3 --expire 1h",
    "--shingle 3 --max-candidates 1",
    "--shingle 3 --memory 64M",
];

/// What comes twice in a run with the same id is left out, as `filter` does only with `--drop-known`.
#[test]
fn it_decides_as_filter_does() {
    decides_as_filter(3);
}

/// `cargo test --test all -- --ignored it_decides --nocapture`
#[test]
#[ignore = "takes minutes"]
fn it_decides_as_filter_does_with_all_flags() {
    decides_as_filter(1);
}

/// With every `step`th of the flags.
fn decides_as_filter(step: usize) {
    let shell = Shell::new();
    let mut random = Random::new(3);
    let texts = texts(&mut random, 270);
    let days = [("one", 0, &texts[..150]), ("two", 10_000, &texts[100..])];
    for (day, first, texts) in days {
        let lines = shards(&shell.folder().join(day), first as u64, first, texts);
        shell.write(&format!("{day}.jsonl"), lines);
    }
    for (number, flags) in FLAGS.iter().enumerate().step_by(step) {
        let mut dropped = 0;
        for (day, ..) in days {
            let filter =
                format!("dedup filter -q --seed 0 --on-error keep --drop-known {flags} --index filter-{number}.idx");
            let filtered = shell.sh(&format!("rm -f dropped; {filter} --duplicates dropped < {day}.jsonl"));
            assert_eq!(filtered.status, 3, "{}", filtered.stderr);
            let threads = 1 + 3 * (number % 2);
            let output = format!("out-{number}-{day}");
            let clean = format!("dedup clean {day} -q --seed 0 {flags} -j{threads} --index clean-{number}.idx");
            let cleaned = shell.sh(&format!("{clean} --output {output}"));
            assert_eq!(cleaned.status, 3, "{flags}: {}", cleaned.stderr);
            let kept =
                shell.sh(&format!("find {output} -name '*.jsonl*' -not -path '*_dedup*' | sort | xargs zcat -f"));
            assert_eq!(kept.done(), filtered.stdout, "{flags}");
            let read = |path: &str| fs::read_to_string(shell.folder().join(path)).unwrap();
            let removed = read(&format!("{output}/_dedup/removed.jsonl"));
            records::removed(&removed);
            assert_eq!(duplicates(&removed), duplicates(&read("dropped")), "{flags}");
            let index = |name: &str| ids(&shell, &format!("{name}-{number}.idx"));
            assert_eq!(index("clean"), index("filter"), "{flags}");
            dropped += removed.lines().count();
        }
        assert!(dropped > 40, "{flags}: {dropped}");
    }
}

/// Also of files that are damaged, and of records that cannot be read; and of what comes again with the same id. Another run
/// with the index then keeps the same.
#[test]
fn a_new_index_decides_as_a_scan_does() {
    let shell = Shell::new();
    let input = shell.folder().join("in");
    corpus(&input, 1, 15);
    let damaged = fs::read(input.join("1/001.jsonl.gz")).unwrap();
    fs::write(input.join("1/001.more.jsonl.gz"), &damaged[..damaged.len() - 30]).unwrap();
    for on_error in ["keep", "drop"] {
        let clean = format!("dedup clean in --shingle 5 -q --on-error {on_error}");
        let scanned = shell.sh(&format!("{clean} --output scanned-{on_error}"));
        assert_eq!(scanned.status, 3, "{}", scanned.stderr);
        let places = |output: &str| {
            let removed = fs::read_to_string(shell.folder().join(output).join("_dedup/removed.jsonl")).unwrap();
            let place = |removed: records::Removed| (removed.file, removed.record, removed.id);
            records::removed(&removed).into_iter().map(place).collect::<Vec<_>>()
        };
        let expected = places(&format!("scanned-{on_error}"));
        assert!(expected.len() > 100 && expected.iter().all(|(file, ..)| !file.contains("more")));
        for flags in ["-j1", "-j4 --memory 64M", "--link"] {
            for (known, is_new) in [("--drop-known", true), ("", true), ("", false)] {
                shell.sh(&format!("rm -rf out {}", if is_new { "new.idx*" } else { "" })).done();
                let run = shell.sh(&format!("{clean} --output out --seed 0 --index new.idx {known} {flags}"));
                assert_eq!(run.status, 3, "{}", run.stderr);
                assert_eq!(places("out"), expected, "{known} {is_new} {flags}");
                let of = |output: &str| files(&shell.folder().join(output));
                assert!(of("out") == of(&format!("scanned-{on_error}")), "{known} {is_new} {flags}");
            }
        }
    }
}

/// A folder with an index of documents that came before, and with a file that is copied.
fn with_index() -> (Shell, Vec<String>) {
    let shell = Shell::new();
    let texts = texts(&mut Random::new(8), 1600);
    let before = shards(&shell.folder().join("before"), 1, 0, &texts[..1300]);
    shell.write("before.jsonl", before);
    shell.sh("dedup filter -q --seed 0 --shingle 3 --index base.idx < before.jsonl");
    shards(&shell.folder().join("in"), 2, 50_000, &texts[1250..]);
    shell.write("in/zeros.bin", vec![0; 150_000]);
    (shell, texts)
}

const CLEAN: &str = "dedup clean in -q --seed 0 --shingle 3 --index seen.idx --output out";

/// What a run has made: the files, the list of what was left out, and the ids in the index.
fn made(shell: &Shell) -> (impl PartialEq + use<>, Vec<u8>, Vec<String>) {
    let out = shell.folder().join("out");
    let own = fs::read_dir(out.join("_dedup")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(
        own.collect::<BTreeSet<_>>(),
        [".lock", "failed.jsonl", "removed.jsonl", "summary.json"].map(Into::into).into()
    );
    shell.sh("dedup index verify -q seen.idx").done();
    (files(&out), fs::read(out.join("_dedup/removed.jsonl")).unwrap(), ids(shell, "seen.idx"))
}

fn again(shell: &Shell) {
    shell.sh("rm -rf out seen.idx seen.idx.tables; cp base.idx seen.idx").done();
}

fn refused(run: &Run, why: &str) {
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(run.stderr.contains(why), "{}", run.stderr);
}

/// Runs with a limit on the size of files, in blocks of 512 bytes: the run ends at the first byte beyond it. What is there stays as if it was
/// killed.
fn ended_at(shell: &Shell, blocks: u64) {
    let run = shell.sh(&format!("ulimit -f {blocks}; {CLEAN}"));
    assert!(run.status == 2 && run.stderr.contains("File too large"), "{blocks}: {} {}", run.status, run.stderr);
}

#[test]
fn a_run_that_ends_at_a_byte_is_continued() {
    let (shell, _) = with_index();
    again(&shell);
    assert_eq!(shell.sh(CLEAN).status, 3);
    let expected = made(&shell);
    let length = |path: &str| fs::metadata(shell.folder().join(path)).unwrap().len();
    let (before, after) = (length("base.idx"), length("seen.idx"));
    assert!(before > 200_000 && after - before > 40_000, "{before} {after}");
    // While it decides, while it writes the output, and while it adds to the index.
    let (first, last) = (before / 512 + 1, (after - 1) / 512);
    let limits = [1, 8, 40, 200, first, first + 1, (first + last) / 2, last - 20, last];
    let mut stages = BTreeSet::new();
    for blocks in limits {
        again(&shell);
        // Not only once.
        for blocks in [blocks, 40, blocks] {
            ended_at(&shell, blocks);
        }
        let has_decided = shell.folder().join("out/_dedup/state.json").exists();
        let added = length("seen.idx") - before;
        stages.insert((has_decided, added > 0));
        if added > 0 {
            assert_eq!(length("seen.idx"), 512 * blocks);
            // What is there can be read.
            let there = ids(&shell, "seen.idx");
            assert!(expected.2.starts_with(&there) && there.len() < expected.2.len());
        }
        assert_eq!(shell.sh(CLEAN).status, 3, "{blocks}");
        assert!(made(&shell) == expected, "{blocks}");
        // Nothing is left to do.
        let index = fs::read(shell.folder().join("seen.idx")).unwrap();
        assert_eq!(shell.sh(CLEAN).status, 3);
        assert!(fs::read(shell.folder().join("seen.idx")).unwrap() == index && made(&shell) == expected);
    }
    assert_eq!(stages, [(false, false), (true, false), (true, true)].into());
}

/// Kills this many rounds of runs, of which some create the index.
fn kill(rounds: u64) {
    let (shell, _) = with_index();
    let mut decided = 0;
    for is_new in [false, true] {
        let start = || if is_new { shell.sh("rm -rf out seen.idx*").done() } else { (again(&shell), String::new()).1 };
        start();
        shell.sh(CLEAN);
        let expected = made(&shell);
        let mut random = Random::new(rounds);
        // More, if no run was killed in time.
        for round in 0..20 * rounds {
            if round >= rounds && decided > 0 {
                break;
            }
            start();
            for _ in 0..3 {
                let mut command = shell.command(CLEAN.strip_prefix("dedup ").unwrap());
                let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                let waits = random.below(3) > 0;
                let state = shell.folder().join("out/_dedup/state.json");
                while waits && !state.exists() && child.try_wait().unwrap().is_none() {
                    thread::sleep(Duration::from_micros(100));
                }
                thread::sleep(Duration::from_micros(random.below(if waits { 20_000 } else { 80_000 }) as u64));
                child.kill().unwrap();
                child.wait().unwrap();
                decided += usize::from(state.exists());
            }
            let run = shell.sh(CLEAN);
            assert!([0, 3].contains(&run.status), "{}", run.stderr);
            assert!(made(&shell) == expected, "round {round}");
        }
    }
    assert!(decided > 0, "no run was killed after it had decided");
}

#[test]
fn killed_runs_remember_each_document_once() {
    kill(2);
}

/// `cargo test --test all -- --ignored killed_runs --nocapture`
#[test]
#[ignore = "takes minutes"]
fn killed_runs_in_a_hundred_rounds() {
    kill(50);
}

/// With known documents dropped: nothing of what a run has decided is lost, whatever is done with the index after it was killed while it added
/// them, and whether the same folder is continued or another one is written.
#[test]
fn a_part_of_what_is_added_does_not_count() {
    let (shell, texts) = with_index();
    let clean = format!("{CLEAN} --drop-known");
    again(&shell);
    assert_eq!(shell.sh(&clean).status, 3);
    let expected = made(&shell);
    let all = shell.folder().join("all");
    fs::rename(shell.folder().join("out"), &all).unwrap();
    // What is new stays new beside it.
    let text = |number: usize| texts[number].replace('w', "v");
    shell.write("more.jsonl", format!("{{\"id\":\"more\",\"text\":\"{}\"}}\n", text(0)));
    shell.sh("mkdir other").done();
    shell.write("other/more.jsonl", format!("{{\"id\":\"other\",\"text\":\"{}\"}}\n", text(1)));
    let options = "-q --seed 0 --shingle 3 --index seen.idx";
    let before = ids(&shell, "base.idx");
    let length = fs::metadata(shell.folder().join("base.idx")).unwrap().len();
    let between = [
        (String::new(), true),
        (format!("dedup filter {options} < /dev/null"), true),
        (format!("dedup filter {options} --drop-known < more.jsonl"), false),
        (format!("dedup filter {options} < more.jsonl; dedup index compact -q seen.idx"), false),
        (format!("dedup clean other {options} --drop-known --output clean-other"), false),
    ];
    for (between, continues) in between {
        again(&shell);
        let run = shell.sh(&format!("ulimit -f {}; {clean}", length / 512 + 40));
        assert!(run.status == 2 && run.stderr.contains("File too large"), "{}", run.stderr);
        let stats: Value = serde_json::from_str(&shell.sh("dedup index stats seen.idx").done()).unwrap();
        assert_eq!((stats["documents"].as_u64(), stats["unconfirmed"].as_u64()), (Some(before.len() as u64), Some(0)));
        assert!(stats["torn"].as_u64().unwrap() > 10_000, "{stats}");
        refused(&shell.sh("dedup index verify seen.idx"), "repeat that command (dedup clean --index,");
        shell.sh(&format!("rm -rf clean-other; {between}")).done();
        let there = ids(&shell, "seen.idx");
        assert!(there.starts_with(&before) && there.len() == before.len() + usize::from(!continues), "{between}");
        let run = shell.sh(&clean);
        if continues {
            assert_eq!(run.status, 3, "{between}: {}", run.stderr);
            assert!(made(&shell) == expected, "{between}");
            continue;
        }
        refused(
            &run,
            "it has changed since the documents were decided: all files of out are written, so keep this folder",
        );
        assert_eq!(ids(&shell, "seen.idx"), there);
        assert!(files(&shell.folder().join("out")) == files(&all), "{between}");
        // As the message has it, or with another folder.
        for (input, known) in [("out", "--exclude _dedup"), ("in", "--drop-known")] {
            shell.sh("rm -rf new; cp seen.idx copy.idx").done();
            let run = shell.sh(&format!("dedup clean {input} {options} {known} --output new").replace("seen", "copy"));
            assert_eq!(run.status, 3, "{input} after {between}: {}", run.stderr);
            assert!(files(&shell.folder().join("new")) == files(&all), "{input} after {between}");
            let added = [&there[..], &expected.2[before.len()..]].concat();
            assert!(ids(&shell, "copy.idx") == added, "{input} after {between}");
            shell.sh("rm -rf copy.idx copy.idx.tables").done();
        }
    }
}

#[test]
fn an_index_that_has_changed_is_refused() {
    let (shell, texts) = with_index();
    shell.write("more.jsonl", format!("{{\"id\":\"more\",\"text\":\"{}\"}}\n", texts[0].replace('w', "v")));
    let other = "dedup filter -q --seed 0 --shingle 3 --index seen.idx < more.jsonl";
    let changed = "it has changed since the documents were decided";
    let before = fs::metadata(shell.folder().join("base.idx")).unwrap().len();
    // After it was decided, and after a part was added.
    for blocks in [200, before / 512 + 20] {
        again(&shell);
        ended_at(&shell, blocks);
        shell.sh(other).done();
        let there = ids(&shell, "seen.idx");
        refused(&shell.sh(CLEAN), changed);
        assert_eq!(ids(&shell, "seen.idx"), there);
        // With another folder it decides again.
        let run = shell.sh(&CLEAN.replace("--output out", "--output new"));
        assert_eq!(run.status, 3, "{}", run.stderr);
        shell.sh("rm -r new").done();
    }
    // Another index with the same settings, or with another seed, or none.
    again(&shell);
    ended_at(&shell, 200);
    shell.sh(&format!("rm seen.idx; {other}")).done();
    refused(&shell.sh(CLEAN), changed);
    refused(&shell.sh(CLEAN), "decide again, with another output folder, because out is not complete");
    shell.sh("rm seen.idx").done();
    refused(&shell.sh(CLEAN), "is the output of a run with another index");
    shell.sh("dedup filter -q --seed 1 --shingle 3 --index seen.idx < more.jsonl").done();
    refused(&shell.sh(&CLEAN.replace("--seed 0", "")), "is the output of a run with another index");
    // What is to be added was lost.
    again(&shell);
    ended_at(&shell, 200);
    shell.write("out/_dedup/remembered", "");
    refused(&shell.sh(CLEAN), "what is to be added to it has changed since");
    assert!(fs::read(shell.folder().join("seen.idx")).unwrap() == fs::read(shell.folder().join("base.idx")).unwrap());
    // A folder of a scan is not one of an index, and the other way round.
    shell.sh("rm -r out").done();
    let scan = CLEAN.replace("--index seen.idx", "");
    assert_eq!(shell.sh(&scan).status, 3);
    refused(&shell.sh(CLEAN), "out is the output of a run with another ");
    shell.sh("rm -r out").done();
    assert_eq!(shell.sh(CLEAN).status, 3);
    refused(&shell.sh(&scan), "out is the output of a run with another ");
}

#[test]
fn a_run_that_fails_or_only_tries_changes_nothing() {
    let (shell, _) = with_index();
    again(&shell);
    let bytes = |path: &str| fs::read(shell.folder().join(path)).unwrap();
    let is_unchanged = || {
        assert!(bytes("seen.idx") == bytes("base.idx"));
        assert!(!shell.folder().join("out").exists() && !shell.folder().join("seen.idx.tables").exists());
    };
    let trial = CLEAN.replace("--output out", "--dry-run");
    let full = format!("{CLEAN} --max-docs {}", ids(&shell, "base.idx").len() + 10);
    for (command, status) in [(&*trial, 3), (&full, 2), (&format!("{CLEAN} --on-error fail"), 2)] {
        let run = shell.sh(command);
        assert_eq!(run.status, status, "{}", run.stderr);
        is_unchanged();
        let run = shell.sh(&command.replace("seen.idx", "new.idx"));
        assert_eq!(run.status, if command == full { 3 } else { status }, "{}", run.stderr);
        assert_eq!(shell.folder().join("new.idx").exists(), command == full, "{command}");
        shell.sh("rm -rf out new.idx*").done();
    }
    let lock = fs::File::open(shell.folder().join("seen.idx")).unwrap();
    lock.lock().unwrap();
    refused(&shell.sh(CLEAN), "this index is open for writing");
    is_unchanged();
    assert_eq!(shell.sh(&trial).status, 3);
}

/// An index that was emptied is reported by the run after one that was killed too, which had begun a new one in it.
#[test]
fn an_emptied_index_is_reported_after_a_killed_run() {
    let shell = Shell::new();
    shell.sh("mkdir docs; echo 'one two three four five six' > docs/a.txt; : > seen.idx").done();
    let program = "--pre \"sh -c 'touch begun; sleep 2' -\"";
    let clean = "dedup clean docs --index seen.idx --output";
    shell.sh(&format!(
        "{clean} killed {program} & pid=$!; until [ -e begun ]; do sleep 0.05; done; kill -9 $pid; wait $pid; true"
    ));
    let next = shell.sh(&format!("{clean} out"));
    assert_eq!(next.status, 0, "{}", next.stderr);
    assert!(next.stderr.contains("seen.idx: the file existed and held no index"), "{}", next.stderr);
    // It is whole now.
    let after = shell.sh(&format!("{clean} after; dedup index verify seen.idx"));
    assert!(after.status == 0 && !after.stderr.contains("held no index"), "{}", after.stderr);
}

/// Ids of files are their paths: spelled otherwise, the same files are copies of what is remembered.
#[test]
fn paths_that_are_spelled_otherwise_are_reported() {
    let shell = Shell::new();
    shell.sh("mkdir files").done();
    for (number, text) in texts(&mut Random::new(3), 20).iter().enumerate() {
        shell.write(&format!("files/{number}.txt"), text);
    }
    let warned = |run: &Run| run.stderr.contains("as it is spelled; if these are the same files");
    let first = shell.sh("dedup clean files --index seen.idx --output one");
    assert!(first.status == 0 && !warned(&first), "{}", first.stderr);
    let again = shell.sh("dedup clean files --index seen.idx --output two");
    assert!(again.status == 0 && !warned(&again), "{}", again.stderr);
    let other = shell.sh("cd files; dedup clean . --index ../seen.idx --output ../three");
    assert!(other.status == 0 && warned(&other), "{}", other.stderr);
    assert!(other.stderr.contains("'./0.txt', as one of 'files/0.txt'"), "{}", other.stderr);
    assert!(other.stderr.contains("as in the run before, with 'files/' instead of './'"), "{}", other.stderr);
    // Not where some are new.
    shell
        .sh("mkdir half; cp files/1.txt files/2.txt half; echo 'quite new words that nobody has seen' > half/new.txt")
        .done();
    let half = shell.sh("dedup clean half --index seen.idx --output four");
    assert!(half.status == 0 && !warned(&half), "{}", half.stderr);
}
