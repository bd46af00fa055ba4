//! Kills `dedup filter` again and again, and feeds it again from the line after the last complete one that arrived: the total output is
//! that of an uninterrupted run, and the index opens every time.

use super::shell::Shell;
use crate::support::random::Random;
use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// What a run remembers by, and how.
const MODES: &[(&str, &str)] = &[
    ("batch", "--sync batch"),
    ("off", "--sync off"),
    ("always", "--sync always"),
    ("memory", "--memory 16M"),
    ("simhash", "--algo simhash"),
    ("window", "--window 40"),
    ("window-off", "--window 40 --sync off"),
    ("window-always", "--window 40 --sync always"),
    ("expire", "--expire 1h --window 200"),
];

/// Half of the documents are like one of those before them, mostly one that came not long ago.
fn lines(count: usize) -> Vec<String> {
    let mut random = Random::new(5);
    let mut texts: Vec<Vec<String>> = Vec::new();
    let word = |random: &mut Random| format!("w{}", random.below(3_000));
    let line = |number: usize| {
        let mut words: Vec<String> = (0..20 + random.below(60)).map(|_| word(&mut random)).collect();
        if number > 0 && random.below(2) == 0 {
            let most = random.below(number.min(200)) + 1;
            let back = 1 + random.below(most);
            words.clone_from(&texts[number - back]);
            let at = random.below(words.len());
            words[at] = word(&mut random);
        }
        let line = format!("{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n", words.join(" "));
        texts.push(words);
        line
    };
    (0..count).map(line).collect()
}

/// Kills this many runs. Returns the number of rounds.
fn kill(shell: &Shell, mode: &str, flags: &str, lines: &[String], kills: usize) -> usize {
    shell.write("all.jsonl", lines.concat());
    let expected =
        shell.sh(&format!("rm -f *.idx; dedup filter -q --seed 0 --index whole.idx {flags} < all.jsonl")).done();
    assert!(expected.lines().count() < lines.len() && expected.lines().count() > lines.len() / 4, "{mode}");
    let (mut random, mut killed, mut rounds) = (Random::new(mode.len() as u64), 0, 0);
    while killed < kills {
        rounds += 1;
        _ = fs::remove_file(shell.folder().join("seen.idx"));
        let (mut arrived, mut next) = (String::new(), 0);
        loop {
            let mut command = shell.command(&format!("filter -q --seed 0 --index seen.idx {flags}"));
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            let (input, mut pieces) = (lines[next..].concat(), Random::new(random.next()));
            let feeding = thread::spawn(move || {
                let mut rest = input.as_bytes();
                while !rest.is_empty() {
                    let (piece, behind) = rest.split_at(rest.len().min(1 + pieces.below(40_000)));
                    if stdin.write_all(piece).is_err() {
                        return;
                    }
                    rest = behind;
                }
            });
            let dies = killed < kills && random.below(10) > 0;
            let mut got = Vec::new();
            if dies {
                // After so many bytes, and a little later; sometimes before it has begun.
                let most = [0, random.below(expected.len() - arrived.len() + 1)][usize::from(random.below(6) > 0)];
                (&mut stdout).take(most as u64).read_to_end(&mut got).unwrap();
                thread::sleep(Duration::from_micros(random.below(4_000) as u64));
                child.kill().unwrap();
            }
            stdout.read_to_end(&mut got).unwrap();
            let output = child.wait_with_output().unwrap();
            feeding.join().unwrap();
            let whole = &got[..got.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)];
            let whole = std::str::from_utf8(whole).unwrap();
            arrived.push_str(whole);
            if let Some(last) = whole.lines().next_back() {
                next = 1 + lines.iter().position(|line| line.trim_end() == last).unwrap();
            }
            if output.status.code().is_some() {
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{mode}: {said}");
                break;
            }
            killed += 1;
        }
        assert!(arrived == expected, "{mode}: {} and {} lines", arrived.lines().count(), expected.lines().count());
        shell.dedup("index verify -q seen.idx").done();
    }
    rounds
}

#[test]
fn what_arrives_is_what_an_uninterrupted_run_prints() {
    let (shell, lines) = (Shell::new(), lines(600));
    for (mode, flags) in MODES {
        kill(&shell, mode, flags, &lines, 6);
    }
}

/// `cargo test --test all -- --ignored killed --nocapture`
#[test]
#[ignore = "takes minutes"]
fn two_hundred_and_seventy_kills() {
    let (shell, lines) = (Shell::new(), lines(6_000));
    for (mode, flags) in MODES {
        let rounds = kill(&shell, mode, flags, &lines, 30);
        eprintln!("{mode}: 30 kills in {rounds} rounds: nothing lost, nothing extra");
    }
}
