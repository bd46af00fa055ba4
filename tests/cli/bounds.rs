//! Memory is bounded by the limits, not by what comes in.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::shell::{Run, Shell};

/// The most memory that a process has had so far, in bytes; `None` once it has ended.
fn peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Runs a command, feeds it, and watches how much memory it takes.
fn watched(mut command: Command, feed: impl FnOnce(&mut dyn Write) + Send) -> (Run, u64) {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut most = 0;
    std::thread::scope(|scope| {
        scope.spawn(move || feed(&mut stdin));
        // What these commands say fits a pipe.
        while child.try_wait().expect("it can be waited for").is_none() {
            most = most.max(peak(&child).unwrap_or(0));
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    (child.wait_with_output().expect("it has ended").into(), most)
}

const MIB: u64 = 1 << 20;

/// What is enough when records are at most 1 MiB long.
const LITTLE: u64 = 64 * MIB;

/// For a second reading, up to 64 MiB of standard input are kept in memory, and the rest in a file.
const LITTLE_WITH_STDIN: u64 = LITTLE + 64 * MIB;

#[test]
fn one_endless_line_does_not_fill_memory() {
    let shell = Shell::new();
    for format in ["jsonl", "lines", "csv", "text", "auto"] {
        let command = shell.command(&format!("scan - --format {format} --max-record 1M -j2"));
        let (run, most) = watched(command, |stdin| {
            // The program may stop reading when it has seen enough.
            _ = stdin.write_all(b"{\"text\":\"");
            let piece = vec![b'x'; 1 << 20];
            _ = (0..300).try_for_each(|_| stdin.write_all(&piece));
        });
        assert_eq!(run.status, 2, "{format}: {}", run.stderr);
        assert!(run.stderr.contains("longer than 1 MiB"), "{format}: {}", run.stderr);
        assert!((1..LITTLE_WITH_STDIN).contains(&most), "{format}: {} MiB", most / MIB);
    }
}

#[test]
fn one_endless_line_of_a_file_does_not_fill_memory() {
    let shell = Shell::new();
    shell.write("all.jsonl", vec![b'x'; 128 << 20]);
    let (run, most) = watched(shell.command("scan all.jsonl --max-record 1M -j2"), |_| {});
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(run.stderr.contains("longer than 1 MiB"), "{}", run.stderr);
    assert!((1..LITTLE).contains(&most), "{} MiB", most / MIB);
}

#[test]
fn many_records_do_not_fill_memory_beyond_the_budget() {
    let shell = Shell::new();
    let command = shell.command("scan - --format lines --emit clusters --memory 1M -q -j2");
    let (run, most) = watched(command, |stdin| {
        let line = [&b"word ".repeat(2000)[..], b"\n"].concat();
        let piece = line.repeat(100);
        _ = (0..100).try_for_each(|_| stdin.write_all(&piece));
    });
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!((1..LITTLE_WITH_STDIN).contains(&most), "{} MiB", most / MIB);
}

#[test]
fn a_decompression_bomb_stays_small() {
    let shell = Shell::new();
    let packed = shell.sh("head -c 200000000 /dev/zero | tr '\\000' x | gzip -1 > bomb.jsonl.gz");
    assert_eq!(packed.status, 0, "{}", packed.stderr);
    let (run, most) = watched(shell.command("scan bomb.jsonl.gz --max-record 1M -j2"), |_| {});
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!((1..LITTLE).contains(&most), "{} MiB", most / MIB);
}
