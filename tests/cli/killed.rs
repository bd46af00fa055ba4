//! Kills `dedup filter` again and again, and feeds it again from the line after the last complete one that arrived: the total output is
//! that of an uninterrupted run, and the index opens every time. Records without ids may be written again, and none is lost.

use super::shell::Shell;
use crate::support::random::Random;
use std::collections::BTreeSet;
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

/// Records that have no id, of which about every eighth has the text of an earlier one, in other letters. The number shows the test which
/// record is which.
fn unnamed(lines: &[String]) -> Vec<(String, String)> {
    let mut random = Random::new(11);
    let mut texts: Vec<String> = Vec::new();
    for line in lines {
        let text = line.split_once("\"text\":\"").unwrap().1.trim_end_matches("\"}\n");
        let copied = (random.below(8) == 0 && !texts.is_empty()).then(|| random.below(texts.len()));
        texts.push(copied.map_or(text.to_string(), |of| texts[of].clone()));
    }
    let line = |(number, text): (usize, String)| {
        let written = if random.below(2) == 0 { text.clone() } else { text.to_uppercase() };
        (format!("{{\"n\":{number},\"text\":\"{written}\"}}"), text)
    };
    texts.into_iter().enumerate().map(line).collect()
}

/// How often lines arrived, and how many of them again or as a copy.
#[derive(Default)]
struct Arrived {
    kills: usize,
    lines: usize,
    more: usize,
}

/// What is run between a killed run and the next one: with its options, or with its algorithm.
const BETWEEN: &[&str] = &[
    "",
    "dedup index compact -q seen.idx",
    "dedup index add -q seen.idx METHOD < /dev/null",
    "dedup filter -q --index seen.idx OPTIONS < /dev/null",
    "dedup index remove -q seen.idx nobody; true",
];

/// Feeds records through runs that are killed, each from the record after the last one that arrived. With `loses`, what
/// arrived last is lost too, as with a reader that is killed.
fn kill_and_feed_again(
    shell: &Shell,
    flags: &str,
    records: &[(String, String)],
    kills: usize,
    loses: bool,
    seed: u64,
) -> Arrived {
    let lines: Vec<String> = records.iter().map(|(line, _)| format!("{line}\n")).collect();
    let number = |line: &str| lines.iter().position(|other| other.trim_end() == line).unwrap();
    shell.write("all.jsonl", lines.concat());
    let whole = shell
        .sh(&format!("rm -rf *.idx *.tables; dedup filter -q --seed 0 --index whole.idx {flags} < all.jsonl"))
        .done();
    let expected: Vec<usize> = whole.lines().map(number).collect();
    assert!(expected.len() < lines.len() && expected.len() > lines.len() / 4, "{flags}");
    let last = &lines[expected[expected.len() - 1]];
    let (mut random, mut killed, mut next) = (Random::new(seed), 0, 0);
    let mut arrived: Vec<usize> = Vec::new();
    loop {
        let mut command = shell.command(&format!("filter -q --seed 0 --index seen.idx {flags}"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let input = lines[next..].concat();
        let feeding = thread::spawn(move || _ = stdin.write_all(input.as_bytes()));
        let dies = killed < kills;
        let mut got = Vec::new();
        if dies {
            let most = random.below(whole.len() / kills + 1);
            (&mut stdout).take(most as u64).read_to_end(&mut got).unwrap();
            thread::sleep(Duration::from_micros(random.below(4_000) as u64));
            child.kill().unwrap();
        }
        stdout.read_to_end(&mut got).unwrap();
        let output = child.wait_with_output().unwrap();
        feeding.join().unwrap();
        let ended = output.status.code().is_some();
        // At the end of its output, a run may have ended by itself before it was killed.
        if !ended && loses && !got.windows(last.len()).any(|part| part == last.as_bytes()) {
            got.truncate(got.len() - random.below(got.len().min(20_000) + 1));
        }
        let whole = got.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        arrived.extend(std::str::from_utf8(&got[..whole]).unwrap().lines().map(number));
        if ended {
            assert!(output.status.success(), "{flags}: {}", String::from_utf8_lossy(&output.stderr));
            break;
        }
        next = arrived.last().map_or(0, |last| last + 1);
        killed += 1;
        if shell.folder().join("seen.idx").exists() {
            let method = if flags.contains("simhash") { "--algo simhash" } else { "" };
            let between = BETWEEN[random.below(BETWEEN.len())].replace("METHOD", method).replace("OPTIONS", flags);
            shell.sh(&between).done();
        }
    }
    let there: BTreeSet<usize> = arrived.iter().copied().collect();
    let lost: Vec<usize> = expected.iter().copied().filter(|number| !there.contains(number)).collect();
    assert!(lost.is_empty(), "{flags}, seed {seed}: {} of {} are lost: {lost:?}", lost.len(), expected.len());
    if !flags.contains("--window") {
        // What is there beyond that has the text of one that passed.
        let passed: BTreeSet<&str> = expected.iter().map(|&number| &*records[number].1).collect();
        let other = there.iter().find(|&&number| !passed.contains(&*records[number].1));
        assert!(other.is_none(), "{flags}, seed {seed}: {other:?} is a near-duplicate and passed");
    }
    // A run that ends by itself confirms everything, if it has records.
    shell.write("again.jsonl", "\n".repeat(lines.len()) + &lines[expected[1]]);
    let again = || shell.sh(&format!("dedup filter -q --seed 0 --index seen.idx {flags} < again.jsonl")).done();
    // The last one may have had no records.
    again();
    let again = again();
    // With these, decisions are repeated until all that were interrupted have come again, whatever ends.
    let repeats = flags.contains("--window") || flags.contains("--expire");
    assert!(again.trim().is_empty() || repeats, "{flags}: {again}");
    shell.dedup("index verify -q seen.idx").done();
    Arrived { kills: killed, lines: expected.len(), more: arrived.len() - expected.len() }
}

/// What records without ids are remembered by.
const UNNAMED: &[&str] = &[
    "--sync batch",
    "--sync off",
    "--sync always",
    "--memory 16M",
    "--algo simhash",
    "--drop-known",
    "--window 40",
    "--expire 1h",
    "--id-field none",
    "--replace",
    "--replace --expire 1h",
];

#[test]
fn no_record_without_an_id_is_lost() {
    let (shell, records) = (Shell::new(), unnamed(&lines(600)));
    for (seed, flags) in (0..).zip(UNNAMED) {
        for loses in [false, true] {
            kill_and_feed_again(&shell, flags, &records, 6, loses, seed);
        }
    }
}

/// Records with ids, of which half are like one of those before them.
fn named(lines: &[String]) -> Vec<(String, String)> {
    let text = |line: &str| line.split_once("\"text\":\"").unwrap().1.to_string();
    lines.iter().map(|line| (line.trim_end().to_string(), text(line))).collect()
}

/// What records with ids are remembered by, where those that are known are dropped.
const NAMED: &[&str] = &[
    "--drop-known",
    "--drop-known --sync off",
    "--drop-known --memory 16M",
    "--drop-known --algo simhash",
    "--drop-known --window 40",
    "--drop-known --expire 1h",
    "--drop-known --replace",
    "--drop-known --replace --expire 1h",
];

#[test]
fn no_record_with_an_id_is_lost_where_known_ones_are_dropped() {
    let (shell, records) = (Shell::new(), named(&lines(600)));
    for (seed, flags) in (0..).zip(NAMED) {
        for loses in [false, true] {
            kill_and_feed_again(&shell, flags, &records, 6, loses, seed);
        }
    }
}

/// More records than are unconfirmed at least. Those of a run that ended by itself are confirmed, and stay so when the next run is killed: they do
/// not pass again. Of the killed run nothing is lost.
#[test]
fn what_was_confirmed_before_a_kill_does_not_pass_again() {
    const EACH: usize = 5_000;
    let line = |number: usize| {
        let text: Vec<String> = "abcdef".chars().map(|word| format!("{word}{number}")).collect();
        format!("{{\"text\":\"{}\"}}\n", text.join(" "))
    };
    let confirmed: Vec<String> = (0..EACH).map(line).collect();
    let killed: Vec<String> = (EACH..2 * EACH).map(line).collect();
    for (flags, arrives) in [("--sync batch", 4_500), ("--sync off", 1), ("--drop-known", 2_500)] {
        let shell = Shell::new();
        shell.write("confirmed.jsonl", confirmed.concat());
        let filter = format!("filter -q --seed 0 --index seen.idx {flags}");
        assert_eq!(shell.sh(&format!("dedup {filter} < confirmed.jsonl | wc -l")).done().trim(), EACH.to_string());
        let mut child = shell.command(&filter).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let input = killed.concat();
        // It is open when the run is killed.
        let feeding = thread::spawn(move || {
            _ = stdin.write_all(input.as_bytes());
            stdin
        });
        let mut got = Vec::new();
        (&mut stdout).take(killed[..arrives].concat().len() as u64).read_to_end(&mut got).unwrap();
        child.kill().unwrap();
        stdout.read_to_end(&mut got).unwrap();
        child.wait().unwrap();
        drop(feeding.join().unwrap());
        let whole = got.iter().filter(|&&byte| byte == b'\n').count();
        assert!(whole >= arrives && String::from_utf8(got).unwrap().starts_with(&killed[..whole].concat()), "{flags}");
        let stats: serde_json::Value = serde_json::from_str(&shell.dedup("index stats seen.idx").done()).unwrap();
        let [documents, unconfirmed] = ["documents", "unconfirmed"].map(|name| stats[name].as_u64().unwrap() as usize);
        assert!(documents >= EACH + whole, "{flags}: {documents} with {whole} that arrived");
        assert_eq!(unconfirmed, documents - EACH, "{flags}");
        // Fed again from the record after the last one that arrived, and then all that was confirmed, on other lines.
        let (lost, again) = (killed[whole..].concat(), confirmed.concat());
        shell.write("again.jsonl", format!("\n{lost}{again}"));
        let passed = shell.sh(&format!("dedup {filter} < again.jsonl")).done();
        assert!(passed == lost, "{flags}: {} lines pass, of {}", passed.lines().count(), EACH - whole);
        let stats: serde_json::Value = serde_json::from_str(&shell.dedup("index stats seen.idx").done()).unwrap();
        assert_eq!((stats["documents"].as_u64(), stats["unconfirmed"].as_u64()), (Some(2 * EACH as u64), Some(0)));
    }
}

/// `cargo test --test all -- --ignored killed --nocapture`
#[test]
#[ignore = "takes minutes"]
fn many_kills_lose_no_record_without_an_id() {
    let (shell, records) = (Shell::new(), unnamed(&lines(12_000)));
    for (seed, flags) in (100..).zip(UNNAMED) {
        for loses in [false, true] {
            let Arrived { kills, lines, more } = kill_and_feed_again(&shell, flags, &records, 20, loses, seed);
            eprintln!("{flags}, readers killed too: {loses}: {kills} kills, {lines} lines: none lost, {more} more");
        }
    }
}
