//! `--stats`: one object whose numbers agree with the output and the messages.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;

use super::records::{self, Counts, Stats};
use super::shell::{Run, Shell};
use neardups::algorithm::presets::PRESETS;

/// A scan with its statistics.
fn scan(shell: &Shell, options: &str) -> (Run, Stats) {
    let run = shell.sh(&format!("dedup scan --stats stats.json {options}"));
    let written = fs::read_to_string(shell.folder().join("stats.json")).expect("statistics are written");
    assert!(written.ends_with('\n'));
    let mut all = records::stats(&written);
    assert_eq!(all.len(), 1);
    let stats = all.remove(0);
    assert_eq!(stats.records as usize, run.stdout.lines().count(), "{options}");
    assert_eq!(stats.counts.failed > 0, run.status == 3, "{options}");
    assert_eq!((&*stats.version, stats.hash_version), (env!("CARGO_PKG_VERSION"), neardups::hash::HASH_VERSION));
    (run, stats)
}

#[test]
fn counts_of_a_folder_with_everything() {
    let shell = Shell::new();
    let (run, stats) = scan(&shell, "fixtures/encodings/docs");
    assert_eq!((&*stats.algo, &*stats.measure, &*stats.tokenizer, stats.seed), ("minhash", "jaccard", "word", 0));
    let Counts { documents, references, featureless, copies, pairs, repaired, skipped, failed, .. } = stats.counts;
    assert_eq!([documents, references, featureless, copies], [13, 0, 2, 6]);
    assert_eq!(pairs.map(|pairs| pairs as usize), Some(run.stdout.lines().count()));
    assert_eq!([repaired, skipped, failed], [3, 1, 0]);
    assert_eq!((stats.clusters, stats.dropped, stats.hidden, stats.rereadings), (None, None, 0, 0));
    assert!(stats.warnings.is_empty());
    let files = fs::read_dir(shell.folder().join("fixtures/encodings/docs")).unwrap();
    let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!((bytes - 1000..=bytes).contains(&stats.counts.bytes), "{} of {bytes}", stats.counts.bytes);
}

#[test]
fn counts_of_each_form_of_output() {
    let shell = Shell::new();
    let (_, pairs) = scan(&shell, "fixtures/jsonl/docs");
    let (_, clusters) = scan(&shell, "fixtures/jsonl/docs --emit clusters");
    let (_, verdicts) = scan(&shell, "fixtures/jsonl/docs --emit verdicts");
    // Clusters and verdicts do not need all pairs.
    let without_pairs = Counts { pairs: None, ..pairs.counts };
    assert_eq!(pairs.counts.pairs, Some(12));
    assert_eq!(clusters.counts, without_pairs);
    assert_eq!(verdicts.counts, without_pairs);
    assert_eq!((pairs.records, clusters.records, verdicts.records), (12, 12, 43));
    assert_eq!((clusters.clusters, clusters.dropped), (Some(12), Some(12)));
    assert_eq!((clusters.clusters_keeping_several, verdicts.clusters_keeping_several), (Some(0), None));
    assert_eq!(verdicts.dropped, Some(12));
}

#[test]
fn what_was_resolved_and_warned_of() {
    let shell = Shell::new();
    let (_, stats) = scan(&shell, "fixtures/chinese/docs --bands 9 --rows 13");
    let parameters = stats.parameters();
    assert_eq!((&parameters["bands"], &parameters["rows"], &parameters["shingle"]), (&9.into(), &13.into(), &5.into()));
    let recall = parameters["recall_at_threshold"].as_f64().unwrap();
    // Of documents of the median length; independent slots would find .3988.
    assert!((0.393..0.395).contains(&recall), "{recall}");
    assert_eq!(stats.warnings.len(), 1, "{:?}", stats.warnings);
    let (run, stats) = scan(&shell, "fixtures/markdown/docs --algo simhash --weights tf --seed 18446744073709551615");
    assert_eq!((&*stats.algo, &*stats.measure, stats.seed), ("simhash", "hamming", u64::MAX));
    assert!(!stats.warnings.is_empty() && stats.warnings.iter().all(|warning| run.stderr.contains(warning)));
}

#[test]
fn the_preset_is_named() {
    let shell = Shell::new();
    let (_, stats) = scan(&shell, "fixtures/english/docs");
    assert_eq!(stats.preset, None);
    for preset in PRESETS {
        let (_, stats) = scan(&shell, &format!("fixtures/english/docs --preset {}", preset.name));
        assert_eq!(stats.preset.as_deref(), Some(preset.name));
        assert_eq!((&*stats.algo, &*stats.tokenizer), (preset.algorithm, preset.tokenizer.unwrap_or("word")));
    }
    let (_, stats) = scan(&shell, "fixtures/english/docs --preset nemo --tokenizer word --bands 9");
    let parameters = stats.parameters();
    assert_eq!(
        (&*stats.tokenizer, &parameters["shingle"], &parameters["bands"], &parameters["rows"]),
        ("word", &5.into(), &9.into(), &13.into())
    );
}

#[test]
fn short_documents_change_the_tokenizer() {
    let shell = Shell::new();
    shell.write("names", "Jane Smith\njane  smith\nJohn Doe\n");
    let (_, stats) = scan(&shell, "names --format lines");
    assert_eq!((&*stats.tokenizer, stats.counts.documents, stats.counts.pairs), ("char:4", 3, Some(1)));
}

#[test]
fn a_tokenizer_that_was_asked_for_is_used() {
    let shell = Shell::new();
    shell.write("names", "Jane Smith\njane  smith\nJohn Doe\n");
    for name in ["word", "uax29", "char:3", "code", "whitespace"] {
        let (_, stats) = scan(&shell, &format!("names --format lines --tokenizer {name}"));
        assert_eq!(stats.tokenizer, name);
    }
}

#[test]
fn a_small_budget_reads_twice() {
    let shell = Shell::new();
    let (roomy, once) = scan(&shell, "fixtures/english/docs");
    let (tight, twice) = scan(&shell, "fixtures/english/docs --memory 0");
    assert_eq!(roomy.stdout, tight.stdout);
    assert_eq!((once.rereadings, once.spilled), (0, 0));
    assert!(twice.rereadings > 0 && twice.spilled > 0);
    assert_eq!((once.counts.documents, once.counts.pairs), (twice.counts.documents, twice.counts.pairs));
    assert!(twice.timings().contains_key("reread"));
}

#[test]
fn failures_references_and_hidden_entries_are_counted() {
    let shell = Shell::new();
    shell.write("new.jsonl", "{\"text\":\"one two three\"}\n{}\n{\"text\":\"caf\u{e9}\"}\n[\n");
    shell.sh("mkdir old; echo one two three > old/a; echo x > old/.b; mkdir old/.c; echo x > old/.c/d").done();
    let (_, stats) = scan(&shell, "new.jsonl missing --against old");
    let Counts { documents, references, pairs, failed, .. } = stats.counts;
    assert_eq!([documents, references, failed, stats.hidden, pairs.unwrap()], [2, 1, 3, 2, 1]);
}

#[test]
fn an_input_is_never_overwritten() {
    let shell = Shell::new();
    let content = "{\"text\":\"one two three\"}\n{\"text\":\"one two three\"}\n";
    shell.write("all.jsonl", content);
    let run = shell.dedup("scan all.jsonl --stats all.jsonl");
    assert_eq!(fs::read_to_string(shell.folder().join("all.jsonl")).unwrap(), content, "{}", run.stderr);
    assert_eq!(run.status, 2);
}

/// The statistics of a failed command. Their error is the same as on standard error.
fn failure(shell: &Shell, arguments: &str, status: i32) -> records::Failure {
    shell.write("stats.json", "older\n");
    let run = shell.sh(&format!("dedup {arguments} --stats stats.json"));
    assert_eq!(run.status, status, "{arguments}: {}", run.stderr);
    let written = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
    let failure = records::failed_stats(&written);
    assert!(run.stderr.ends_with(&failure.said()), "{} {}", run.stderr, failure.said());
    failure
}

#[test]
fn a_run_that_fails_early_has_an_error() {
    let shell = Shell::new();
    shell.write("short", "one two three\n");
    shell.write("a.jsonl", "{\"text\":\"one two three\"}\n");
    shell.write("torn.idx", "no index of any kind, but long enough to be one\n");
    shell.sh("dedup filter --index made.idx -q < a.jsonl > passed.jsonl").done();
    for (arguments, kind) in [
        ("scan short --format lines --algo simhash", "usage"),
        ("scan short --distance 3", "usage"),
        ("scan short --keep first", "usage"),
        ("scan short --against missing", "input"),
        ("scan short --lexicon missing --algo imatch", "input"),
        ("filter --format csv < a.jsonl", "usage"),
        ("filter --index torn.idx < a.jsonl", "index-damaged"),
        ("filter --index made.idx --shingle 4 < a.jsonl", "index-options"),
        ("filter --index . < a.jsonl", "disk"),
        ("filter --index made.idx --temp-dir missing < a.jsonl", "disk"),
        ("filter --duplicates short/missing < a.jsonl", "output"),
    ] {
        // What refuses a file before the statistics are known has none.
        if arguments.contains("--duplicates") {
            assert_eq!(shell.sh(&format!("dedup {arguments}")).status, 2);
            continue;
        }
        assert_eq!(failure(&shell, arguments, 2).kind, kind, "{arguments}");
    }
}

#[test]
fn a_second_writer_is_in_the_statistics() {
    let shell = Shell::new();
    let mut first = shell.command("filter --index seen.idx -q");
    let mut first = first.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Once its line leaves it has the index.
    writeln!(first.stdin.as_mut().unwrap(), "{{\"id\":1,\"text\":\"one two three\"}}").unwrap();
    first.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    assert_eq!(failure(&shell, "filter --index seen.idx", 2).kind, "index-locked");
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_fails_late_has_counts() {
    let shell = Shell::new();
    let all = "{\"id\":1,\"text\":\"one two three\"}\n{\"id\":2,\"text\":\"one two three\"}\n";
    shell.write("all.jsonl", all);
    let run = shell.sh("dedup scan all.jsonl -q --stats stats.json > /dev/full");
    let stats = records::stats(&fs::read_to_string(shell.folder().join("stats.json")).unwrap()).remove(0);
    assert_eq!((run.status, stats.counts.documents, stats.counts.pairs), (2, 2, Some(1)));
    assert_eq!(stats.error.map(|error| error.said()), Some(run.stderr));

    let run = shell.sh("dedup filter -q --index seen.idx --stats stats.json < all.jsonl > /dev/full");
    let stats = records::filter_stats(&fs::read_to_string(shell.folder().join("stats.json")).unwrap());
    assert_eq!((run.status, stats.counts.documents, stats.counts.duplicates, stats.remembered), (2, 2, 1, 1));
    let error = stats.error.unwrap();
    assert_eq!((&*error.kind, error.said()), ("output", run.stderr));

    let run = shell.sh("dedup filter -q --max-docs 1 --stats stats.json < fixtures/jsonl/docs/articles.jsonl");
    let stats = records::filter_stats(&fs::read_to_string(shell.folder().join("stats.json")).unwrap());
    assert_eq!((run.status, stats.counts.fresh, stats.remembered), (2, 1, 1));
    assert_eq!(stats.error.unwrap().kind, "memory");
    // Of two errors the first counts, and both are reported.
    let run = shell.sh("dedup scan all.jsonl -q --stats /dev/full > /dev/full");
    assert_eq!(
        (run.status, run.stderr.matches("dedup: error: output: cannot write").count()),
        (2, 2),
        "{}",
        run.stderr
    );
}

#[test]
fn statistics_that_are_refused_are_not_written() {
    let shell = Shell::new();
    shell.write("all.jsonl", "{\"text\":\"one two three\"}\n");
    shell.write("stats.json", "older\n");
    shell.sh("ln stats.json other.json").done();
    for arguments in ["scan all.jsonl", "filter --index a.idx", "filter --index a.idx --shingle 0"] {
        assert_eq!(shell.sh(&format!("dedup {arguments} --stats stats.json < all.jsonl")).status, 2);
        assert_eq!(fs::read_to_string(shell.folder().join("stats.json")).unwrap(), "older\n");
    }
    assert!(!shell.folder().join("a.idx").exists());
}

/// Rejected records are held until the end of the run.
#[cfg(unix)]
#[test]
fn a_signal_leaves_the_rejects_of_the_last_run_and_no_temporary_file() {
    let shell = Shell::new();
    let names = || {
        let entries = fs::read_dir(shell.folder()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let rejects = || fs::read_to_string(shell.folder().join("rejects.jsonl")).unwrap();
    // More than a pipe holds: once it is written, the run is reading, and has its outputs.
    let bad = "no JSON, but many words that fill a line of the file\n".repeat(20_000);
    for command in ["scan -", "lexicon build -"] {
        shell.write("bad.jsonl", "bad\n");
        shell.sh("dedup scan bad.jsonl -q --allow-empty --rejects rejects.jsonl");
        let (names_before, before) = (names(), rejects());
        assert_eq!(before.lines().count(), 1);
        for signal in ["-TERM", "-INT", "-KILL"] {
            let mut run = shell.command(&format!("{command} --format jsonl --rejects rejects.jsonl"));
            let mut run = run.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let mut stdin = run.stdin.take().unwrap();
            stdin.write_all(bad.as_bytes()).unwrap();
            let killed = std::process::Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap();
            assert!(killed.success());
            assert!(!run.wait().unwrap().success());
            drop(stdin);
            assert_eq!(names(), names_before, "{command} {signal}");
            assert_eq!(rejects(), before, "{command} {signal}");
        }
    }
}

/// Stops a command while it reads through a program that does not end, and returns what it printed.
fn stopped(shell: &Shell, arguments: &str) -> String {
    shell.sh("mkdir -p in; echo words > in/a.txt; rm -f begun").done();
    let mut run = shell.command(arguments);
    run.args(["--pre", "sh -c 'touch begun; exec sleep 60'", "--pre-glob", "*.txt", "-q"]);
    let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..1000 {
        if shell.folder().join("begun").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::process::Command::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    String::from_utf8(output.stderr).unwrap()
}

const STOPPED: &str = "dedup: error: signal: stopped by a signal: results are missing or incomplete";

#[test]
fn a_run_that_a_signal_stops_before_it_decides_begins_again() {
    let shell = Shell::new();
    for (arguments, end) in [
        ("clean in --output out", ": the same command begins again"),
        ("clean in --move-duplicates out", ": the same command begins again"),
        ("contain in --against in --output out", ": the same command begins again"),
        // Without a folder nothing stays that could be continued.
        ("clean in --dry-run", ""),
        ("contain in --against in", ""),
        ("contain in --against in --emit kept", ""),
        ("passages in", ""),
        ("scan in", ""),
    ] {
        assert_eq!(stopped(&shell, arguments), format!("{STOPPED}{end}\n"), "{arguments}");
        shell.sh("rm -rf out").done();
    }
}

/// Once it has decided, a run is continued.
#[cfg(unix)]
#[test]
fn a_run_that_a_signal_stops_while_it_writes_says_how_it_is_continued() {
    let shell = Shell::new();
    shell.sh("mkdir in").done();
    let lines = |name: usize| {
        let line =
            |number| format!("{{\"id\":\"{number}\",\"text\":\"a line {number} of file {name} with more words\"}}\n");
        (0..3).map(line).collect::<String>()
    };
    (0..1500).for_each(|name| shell.write(&format!("in/{name}.jsonl"), lines(name)));
    (0..300).for_each(|name| shell.write(&format!("in/{name}.txt"), "a text that stands in each of these files"));
    let back = ", and dedup clean --undo out moves the files back";
    for (arguments, back) in [
        ("clean in --output out", ""),
        ("clean in --include *.txt --move-duplicates out", back),
        ("contain in --against in/1.txt --shingle 8 --output out", ""),
        ("passages in --exact --min-words 9 --output out", ""),
    ] {
        let stopped = (0..30).any(|_| {
            let mut run = shell.command(&format!("{arguments} -q"));
            let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            let state = shell.folder().join("out/_dedup/state.json");
            while !state.exists() && run.try_wait().unwrap().is_none() {
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            std::process::Command::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap();
            let output = run.wait_with_output().unwrap();
            let printed = String::from_utf8(output.stderr).unwrap();
            let is_stopped = output.status.code() == Some(130) && state.exists();
            if is_stopped {
                assert_eq!(printed, format!("{STOPPED}: the same command continues{back}\n"), "{arguments}");
            }
            shell.sh("[ ! -e out/_dedup/moved.jsonl ] || dedup clean --undo out -q; rm -rf out").done();
            is_stopped
        });
        assert!(stopped, "{arguments}");
    }
}

#[cfg(unix)]
#[test]
fn a_scan_that_a_signal_stops_has_an_error() {
    let shell = Shell::new();
    let mut scan = shell.command("scan - --format lines --stats stats.json");
    let mut scan = scan.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // More than a pipe holds: once it is written, the scan is reading.
    let mut stdin = scan.stdin.take().unwrap();
    stdin.write_all(&b"one two three\n".repeat(100_000)).unwrap();
    let killed = std::process::Command::new("kill").args(["-TERM", &scan.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(scan.wait().unwrap().code(), Some(130));
    drop(stdin);
    let written = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
    assert_eq!(records::failed_stats(&written).kind, "signal");
}

/// What is cut off is in the statistics, also where no message says so.
#[test]
fn a_torn_end_that_was_cut_off_is_a_warning() {
    let shell = Shell::new();
    shell.write("a.jsonl", "{\"id\":1,\"text\":\"one two three\"}\n");
    shell.sh("dedup filter --index made.idx < a.jsonl && head -c -3 made.idx > torn.idx").done();
    let run = shell.sh("dedup filter --index torn.idx -q --stats stats.json < a.jsonl");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let stats: serde_json::Value =
        serde_json::from_slice(&fs::read(shell.folder().join("stats.json")).unwrap()).unwrap();
    let warning = stats["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("torn.idx: cut off ") && warning.contains("interrupted write"), "{warning}");
}
