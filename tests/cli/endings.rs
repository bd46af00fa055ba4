//! Ends that are not the program's own doing.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::records;
use super::shell::Shell;

/// So many equal lines, which are a pair each with each.
fn copies(count: usize) -> String {
    "one two three four five\n".repeat(count)
}

/// Without standard output there is an error where results would go there; standard error is not needed.
#[test]
fn closed_standard_streams() {
    let shell = Shell::new();
    let record = |id: &str| format!("{{\"id\":\"{id}\",\"text\":\"words of a text that is there twice\"}}\n");
    shell.write("in.jsonl", record("a") + &record("b"));
    shell.write("page.md", "Some words of a page that is there once.\n");
    shell.sh("dedup filter --index seen.idx -q < in.jsonl > /dev/null").done();
    for line in [
        "scan in.jsonl",
        "scan in.jsonl --emit verdicts --stats stats.json",
        "scan in.jsonl --emit kept",
        "filter < in.jsonl",
        "compare in.jsonl in.jsonl",
        "passages in.jsonl",
        "contain in.jsonl",
        "contain in.jsonl --emit verdicts",
        "contain in.jsonl --emit kept",
        "index stats seen.idx",
        "index export seen.idx",
        "index get seen.idx a",
        "check .",
        "check . --print-config",
        "lexicon build in.jsonl",
        "help formats",
        "completions bash",
    ] {
        let run = shell.sh(&format!("dedup {line} >&-"));
        assert_eq!(run.status, 2, "{line}: {}", run.stderr);
        assert!(
            run.stderr.contains("error: output: cannot write results: standard output is closed"),
            "{line}: {}",
            run.stderr
        );
    }
    shell.sh("dedup clean in.jsonl --output out >&-").done();
    shell.sh("dedup check . --report jsonl=report.jsonl >&- || test $? = 1").done();
    // Whoever opened the null device meant it.
    shell.sh("dedup scan in.jsonl -q 1<> /dev/null").done();
    let expected = shell.sh("dedup scan in.jsonl --emit verdicts -q").done();
    let run = shell.sh("dedup scan in.jsonl --emit verdicts 2>&-");
    assert_eq!((run.status, &*run.stdout), (0, &*expected));
    shell.sh("dedup clean in.jsonl --output other 2>&- >&-").done();
    // No message is in a file that was opened after the streams were closed.
    let read = |path: &str| std::fs::read(shell.folder().join(path)).unwrap();
    for file in ["in.jsonl", "_dedup/removed.jsonl"] {
        assert_eq!(read(&format!("other/{file}")), read(&format!("out/{file}")), "{file}");
    }
}

#[test]
fn output_that_is_closed_early_is_not_an_error() {
    let shell = Shell::new();
    shell.write("all", copies(200));
    for emit in ["pairs", "verdicts"] {
        if emit == "verdicts" {
            shell.write("all", copies(20_000));
        }
        let mut command = shell.command(&format!("scan all --format lines --emit {emit}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        records::parse(first.trim_end());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), &*said), (Some(0), ""), "{emit}");
    }
}

#[test]
fn a_pipe_closed_from_the_start_is_a_quiet_end() {
    let shell = Shell::new();
    shell.write("all", copies(10));
    shell.write("other", copies(12));
    for arguments in [
        "scan all --format lines",
        "plan",
        "plan --json",
        "compare all other",
        "completions bash",
        "man scan",
        "help scan",
        "help filtering",
        "--help",
        "--version",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = shell.command(arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{arguments}");
        assert_eq!(String::from_utf8_lossy(&run.stderr), "", "{arguments}");
    }
}

#[test]
fn a_check_fails_even_if_its_report_is_not_read() {
    let shell = Shell::new();
    let text = "The quick brown fox jumps over the lazy dog near the bank of the river while the old heron watches it from the reeds. ";
    shell.write("a.md", text.repeat(3));
    shell.write("b.md", text.repeat(3));
    for (arguments, status) in
        [("check a.md b.md -q", 1), ("check a.md b.md -q --report jsonl --report sarif=r.sarif", 1)]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = shell.command(arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(run.status.code(), Some(status), "{arguments}: {}", String::from_utf8_lossy(&run.stderr));
    }
    assert!(shell.folder().join("r.sarif").exists());
}

/// A pipe that is not standard output is an output like any other.
#[test]
fn a_reader_of_another_output_that_went_away_is_an_error() {
    let shell = Shell::new();
    let lines: String =
        (0..3000).map(|n| format!("{{\"id\":{},\"text\":\"one two three four five six {}\"}}\n", n, n / 2)).collect();
    shell.write("in.jsonl", &lines);
    shell.write("bad.jsonl", "no JSON\n".repeat(30_000));
    for line in [
        "dedup filter -q --index i.idx --duplicates pipe < in.jsonl > out",
        "dedup filter -q --rejects pipe < bad.jsonl > out",
        "dedup scan in.jsonl -q --rejects pipe bad.jsonl > out",
    ] {
        let run = shell.sh(&format!("rm -f pipe; mkfifo pipe; (head -c 10 pipe > /dev/null) & {line}; echo status $?"));
        assert!(run.stdout.contains("status 2"), "{line}: {} {}", run.stdout, run.stderr);
        assert!(run.stderr.contains("error: output: cannot write pipe"), "{line}: {}", run.stderr);
    }
}

/// Names that become equal when invalid bytes are replaced.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_distinct_ids() {
    use std::os::unix::ffi::OsStrExt;
    let shell = Shell::new();
    let text = "The quick brown fox jumps over the lazy dog near the bank of the river while the old heron watches it from the reeds. ";
    fs::create_dir(shell.folder().join("all")).unwrap();
    for name in [&b"a\xfe.md"[..], b"a\xff.md", br"a\xff.md"] {
        fs::write(shell.folder().join("all").join(std::ffi::OsStr::from_bytes(name)), text.repeat(3)).unwrap();
    }
    let verdicts = records::verdicts(&shell.sh("dedup scan all --emit verdicts -q").done());
    let ids: Vec<&str> = verdicts.iter().map(|verdict| &*verdict.id).collect();
    assert_eq!(ids, [r"all/a\x5cxff.md", r"all/a\xfe.md", r"all/a\xff.md"]);
    let run = shell.sh("dedup check all");
    assert_eq!(run.status, 1);
    for id in ids {
        assert!(run.stdout.contains(id), "{}", run.stdout);
    }
}

/// The copy of standard input that a second reading needs.
#[test]
fn a_full_temporary_folder_ends_the_run() {
    let shell = Shell::new();
    shell.sh("mkdir temporary").done();
    shell.write("truth.jsonl", "{\"a\":\"1\",\"b\":\"2\"}\n");
    let input = "head -c 10000000 /dev/zero | tr '\\0' a";
    for command in ["scan -", "scan - --emit fingerprints", "eval --truth truth.jsonl - --algo all"] {
        // A limit on the size of files stands for a full disk.
        let line = format!("trap '' XFSZ; ulimit -f 100; {input} | dedup {command} --temp-dir temporary -q");
        let run = shell.sh(&line);
        assert_eq!((run.status, &*run.stdout), (2, ""), "{command}: {}", run.stderr);
        let expected = "dedup: error: disk: cannot keep standard input for a second reading in a temporary file in \
                        temporary (choose another with --temp-dir): ";
        assert!(run.stderr.starts_with(expected), "{command}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{command}: {}", run.stderr);
    }
}

#[test]
fn a_file_that_may_not_be_read_is_named_and_the_rest_scanned() {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("all")).unwrap();
    fs::create_dir(shell.folder().join("all/closed")).unwrap();
    for name in ["all/a", "all/b", "all/c", "all/closed/d"] {
        shell.write(name, "one two three");
    }
    for name in ["all/b", "all/closed"] {
        fs::set_permissions(shell.folder().join(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let everything_opens = fs::read(shell.folder().join("all/b")).is_ok();
    let run = shell.dedup("scan all");
    // So that the folder can be removed.
    fs::set_permissions(shell.folder().join("all/closed"), fs::Permissions::from_mode(0o700)).unwrap();
    if everything_opens {
        eprintln!("skipped: whoever runs this may read everything");
        return;
    }
    assert_eq!(run.status, 2);
    assert_eq!(records::pairs(&run.stdout).len(), 1);
    for message in ["all/b: cannot open: Permission denied", "all/closed: cannot read: Permission denied", "2 failed"] {
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
}

/// A stream that ended by an error is fed again from the line after the last that arrived.
#[test]
fn verdicts_are_not_written_twice_after_an_error() {
    let shell = Shell::new();
    // Two of three lines repeat an earlier one, so duplicates follow the last line that passed.
    let line = |number: u64| {
        let own =
            if number.is_multiple_of(3) { number } else { number.wrapping_mul(2654435761) % (number / 3 + 1) * 3 };
        format!("{{\"id\":\"d{number}\",\"text\":\"page {own} has words {} of its own\"}}\n", own * 7919)
    };
    let lines: Vec<String> = (0..900).map(line).collect();
    shell.write("all", lines.concat());
    for flags in ["", "--window 10000"] {
        let whole = shell
            .sh(&format!("rm -f *.idx v*; dedup filter -q --seed 0 --index a.idx --verdicts va {flags} < all"))
            .done();
        let run =
            shell.sh(&format!("dedup filter -q --seed 0 --index b.idx --verdicts vb --max-docs 100 {flags} < all"));
        assert_eq!(run.status, 2, "{}", run.stderr);
        let last = lines.iter().position(|line| run.stdout.ends_with(line.as_str())).unwrap();
        shell.write("rest", lines[last + 1..].concat());
        let written = fs::read_to_string(shell.folder().join("vb")).unwrap().lines().count();
        assert!(written > last + 1, "duplicates came after the last line that passed");
        let rest = shell.sh(&format!("dedup filter -q --seed 0 --index b.idx --verdicts vb {flags} < rest")).done();
        assert!(run.stdout + &rest == whole, "{flags}");
        // But for the time when an original passed, which the runs may do in different seconds, and the positions in each run.
        let verdicts = |name: &str| {
            let text = fs::read_to_string(shell.folder().join(name)).unwrap();
            let of_line = |line: &str| {
                let mut verdict: serde_json::Value = serde_json::from_str(line).unwrap();
                for different in ["duplicate_of_time", "at"] {
                    verdict.as_object_mut().unwrap().remove(different);
                }
                verdict
            };
            text.lines().map(of_line).collect::<Vec<_>>()
        };
        assert!(verdicts("vb") == verdicts("va"), "{flags}");
    }
}

#[test]
fn a_signal_ends_the_programs_that_files_are_read_through() {
    let shell = Shell::new();
    shell.write("a", "text");
    // The program writes its number, and starts another that would write a mark.
    shell.write("slow", "#!/bin/sh\necho $$ > started\n(sleep 2; touch mark) &\nsleep 100\n");
    for command in ["scan a", "clean a --output out", "lexicon build a"] {
        _ = fs::remove_file(shell.folder().join("started"));
        let mut child = shell.command(command);
        let mut child = child.args(["--pre", "sh slow"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        while !fs::read(shell.folder().join("started")).is_ok_and(|number| !number.is_empty()) {
            assert!(started.elapsed() < Duration::from_secs(60), "{command}: no program was started");
            sleep(Duration::from_millis(10));
        }
        let signal = Command::new("kill").arg(child.id().to_string()).status().unwrap();
        assert!(signal.success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{command}");
    }
    sleep(Duration::from_millis(2500));
    assert!(!shell.folder().join("mark").exists());
}
