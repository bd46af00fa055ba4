//! `dedup passages --output` and `--emit kept`: what is cut stands at a place that stays, nothing that is left stands earlier, and
//! nothing else changes; whatever the format, the threads, the memory, and kills.

use super::clean::{compressed, files};
use super::records::{self, Cut, Record};
use super::shell::Shell;
use crate::support::plain::token_texts;
use crate::support::random::Random;
use neardups::source::{Input, ReadOptions, Source};
use neardups::tokenizer::Word;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// A place: a file, and a record in it.
type At = (String, Option<u64>);

/// The texts of a folder by their places, in their order.
fn texts(shell: &Shell, folder: &str) -> Vec<(At, String)> {
    let (root, mut found) = (shell.folder().join(folder), Vec::new());
    Input::new(vec![root.clone()], ReadOptions::default()).read(&mut |batch| {
        batch.documents(&mut |read| {
            if let Ok(document) = read {
                let below = Path::new(&*document.place.path).strip_prefix(&root).unwrap().display().to_string();
                found.push(((format!("in/{below}"), document.place.line), document.text.into_owned()));
            }
        });
        ControlFlow::Continue(())
    });
    found
}

const PIECES: &[&str] = &[
    "one ",
    "Two, ",
    "three\n",
    "caf\u{e9} ",
    "北",
    "京",
    "\u{1f600} ",
    "four\n\n",
    "x_1; ",
    "\"five\" ",
    "\\six\r\n",
];

/// A text with copies of parts of others, and parts that repeat.
pub fn text(random: &mut Random, before: &[String]) -> String {
    let kinds = 2 + random.below(PIECES.len() - 1);
    let mut text = String::new();
    for _ in 0..random.below(4) + 1 {
        match random.below(4) {
            0 if !before.is_empty() => {
                let other = random.pick(before);
                let start = other.floor_char_boundary(random.below(other.len() + 1));
                let end = other.floor_char_boundary((start + random.below(120)).min(other.len()));
                text += &other[start..end.max(start)];
            }
            1 => text += &PIECES[random.below(kinds)].repeat(random.below(30)),
            _ => (0..random.below(20)).for_each(|_| text += PIECES[random.below(kinds)]),
        }
    }
    text
}

/// A record in a format.
fn record(random: &mut Random, extension: &str, id: &str, text: &str) -> String {
    let end = if random.chance(0.2) { "\r\n" } else { "\n" };
    let delimiter = if extension == "tsv" { '\t' } else { ',' };
    if extension.ends_with("sv") {
        return format!("{id}{delimiter}\"{}\"{end}", text.replace('"', "\"\""));
    }
    let escape = |unit: u16| format!("\\u{unit:04X}");
    let literal = match random.below(20) {
        0 => return format!("not JSON{end}"),
        1..10 => serde_json::to_string(text).unwrap(),
        _ => format!("\"{}\"", text.encode_utf16().map(escape).collect::<String>()),
    };
    format!("{{\"n\":[1, \"text\"], \"text\": {literal} ,\"id\":\"{id}\"}}{end}")
}

/// Writes a corpus of several formats and encodings.
fn corpus(folder: &Path, seed: u64, files: usize, records: usize) {
    let (mut random, mut before) = (Random::new(seed), Vec::<String>::new());
    for file in 0..files {
        let extensions = ["jsonl", "csv", "jsonl.gz", "txt", "jsonl.zst", "tsv", "utf16.csv"];
        let extension = extensions[(file + seed as usize) % extensions.len()];
        let mut content = match extension {
            "tsv" => "id\ttext\n".to_string(),
            csv if csv.ends_with("csv") => "id,text\n".to_string(),
            _ => String::new(),
        };
        for number in 0..if extension == "txt" { 1 } else { 1 + random.below(records) } {
            let text = text(&mut random, &before);
            content += &match extension {
                "txt" => text.clone(),
                _ => record(&mut random, extension, &format!("{file}-{number}"), &text),
            };
            before.push(text);
        }
        let bytes = match extension {
            "utf16.csv" => format!("\u{feff}{content}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => content.into_bytes(),
        };
        let name = format!("{}/{file:03}.{extension}", file % 2);
        let path = folder.join(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, compressed(&name, &bytes)).unwrap();
    }
}

/// The lines of `removed.jsonl`: what is cut, and what is left out.
fn removed(shell: &Shell, output: &str) -> (Vec<Cut>, BTreeSet<At>) {
    let lines = fs::read_to_string(shell.folder().join(output).join("_dedup/removed.jsonl")).unwrap();
    let (mut cuts, mut left_out) = (Vec::new(), BTreeSet::new());
    for line in lines.lines() {
        match records::parse(line) {
            Record::Cut(cut) => cuts.push(cut),
            Record::Removed(removed) => assert!(left_out.insert((removed.file, removed.record))),
            other => panic!("{other:?}"),
        }
    }
    (cuts, left_out)
}

/// The words of a text up to each cut and between them.
fn parts<'t>(text: &'t str, cuts: &[&Cut]) -> Vec<&'t str> {
    let (mut parts, mut at) = (Vec::new(), 0);
    for cut in cuts {
        parts.push(&text[at..cut.start]);
        at = cut.end;
    }
    parts.push(&text[at..]);
    parts
}

/// The size of a run of words, rounded up: a Han character counts half.
fn size(words: &[String]) -> usize {
    words.iter().map(|word| if word == "北" || word == "京" { 1 } else { 2 }).sum::<usize>().div_ceil(2)
}

/// The shortest run of words from one on that has the minimum length.
fn shortest(words: &[String], least: usize, start: usize) -> Option<Range<usize>> {
    (start..=words.len()).find(|&end| size(&words[start..end]) >= least).map(|end| start..end)
}

/// The shortest runs from each word on, and up to each word.
fn runs(words: &[String], least: usize) -> impl Iterator<Item = Range<usize>> {
    let up_to = move |end| (0..end).rfind(|&start| size(&words[start..end]) >= least).map(|start| start..end);
    let from = move |start| shortest(words, least, start);
    (0..words.len()).filter_map(from).chain((1..=words.len()).filter_map(up_to))
}

/// Checks an output of whole words against its input, given the minimum length, and the minimum number of documents. Returns the number of
/// cuts, and that of runs that are left because they are in too few documents.
fn check(shell: &Shell, output: &str, least: usize, documents: usize) -> [usize; 2] {
    let (cuts, left_out) = removed(shell, output);
    let before = texts(shell, "in");
    let of = |at: &At| -> Vec<&Cut> { cuts.iter().filter(|cut| (&cut.file, &cut.record) == (&at.0, &at.1)).collect() };
    let by_place: BTreeMap<&At, &String> = before.iter().map(|(at, text)| (at, text)).collect();
    // What is left of each text is what was there without what is listed, in order.
    let kept = before.iter().filter(|(at, _)| !left_out.contains(at));
    let expected: Vec<String> = kept.map(|(at, text)| parts(text, &of(at)).concat()).collect();
    let after: Vec<String> = texts(shell, output).into_iter().map(|(_, text)| text).collect();
    assert_eq!(after, expected);
    // What is cut has its words at a place that stays.
    for cut in &cuts {
        let text = by_place[&(cut.file.clone(), cut.record)];
        let words = token_texts(&Word, &text[cut.start..cut.end]);
        assert_eq!(size(&words) as u64, cut.words, "{cut:?}");
        let first = cut.first.as_ref().unwrap();
        let at = (first.file.clone(), first.record);
        assert_eq!(token_texts(&Word, &by_place[&at][first.start..first.end]), words);
        assert!(!left_out.contains(&at), "{cut:?}");
        assert!(of(&at).iter().all(|other| other.end <= first.start || first.end <= other.start), "{cut:?}");
    }
    // The documents of the shortest runs from each word on, and up to each word.
    let mut having = BTreeMap::<Vec<String>, BTreeSet<usize>>::new();
    for (number, (_, text)) in before.iter().enumerate() {
        let words = token_texts(&Word, text);
        for run in runs(&words, least) {
            having.entry(words[run].to_vec()).or_default().insert(number);
        }
    }
    // What is cut stands in enough documents.
    for (at, text) in &before {
        let words = token_texts(&Word, text);
        let mut is_frequent = vec![false; words.len()];
        for run in runs(&words, least).filter(|run| having[&words[run.clone()]].len() >= documents) {
            is_frequent[run].fill(true);
        }
        let mut next = 0;
        let cuts = of(at);
        for (number, part) in parts(text, &cuts).into_iter().enumerate() {
            next += token_texts(&Word, part).len();
            if let Some(cut) = cuts.get(number) {
                let end = next + token_texts(&Word, &text[cut.start..cut.end]).len();
                assert!(is_frequent[next..end].iter().all(|is_frequent| *is_frequent), "{cut:?}");
                next = end;
            }
        }
    }
    // No run of words in so many documents that is left whole stands earlier.
    let (mut earlier, mut rare) = (BTreeSet::new(), 0);
    for (at, text) in &before {
        let cuts = of(at);
        let lefts = if left_out.contains(at) { Vec::new() } else { parts(text, &cuts) };
        for left in lefts {
            let words = token_texts(&Word, left);
            for run in (0..words.len()).filter_map(|start| shortest(&words, least, start)) {
                let run = words[run].to_vec();
                if !earlier.insert(run.clone()) {
                    assert!(having[&run].len() < documents, "{at:?}: {run:?}");
                    rare += 1;
                }
            }
        }
    }
    [cuts.len(), rare]
}

/// Every byte outside of the texts that were cut.
fn check_other_bytes(shell: &Shell, output: &str) {
    let (cuts, left_out) = removed(shell, output);
    let changed: BTreeSet<&String> =
        cuts.iter().map(|cut| &cut.file).chain(left_out.iter().map(|(file, _)| file)).collect();
    let (before, after) = (files(&shell.folder().join("in")), files(&shell.folder().join(output)));
    for (name, bytes) in &before {
        if !changed.contains(&format!("in/{name}")) {
            assert!(after[name] == *bytes, "{name}");
        }
        if !name.ends_with("jsonl") || !after.contains_key(name) {
            continue;
        }
        let lines = |bytes: &[u8]| -> Vec<String> {
            String::from_utf8_lossy(bytes).split_inclusive('\n').map(str::to_string).collect()
        };
        let of = |line: u64| (format!("in/{name}"), Some(line));
        let kept: Vec<(u64, String)> =
            (1..).zip(lines(bytes)).filter(|(line, _)| !left_out.contains(&of(*line))).collect();
        let now = lines(&after[name]);
        assert_eq!(kept.len(), now.len());
        for ((number, line), now) in kept.iter().zip(&now) {
            if line == now {
                continue;
            }
            assert!(cuts.iter().any(|cut| (&cut.file, cut.record) == (&of(*number).0, Some(*number))));
            let around = |line: &str| {
                line.split_once("\"text\": \"")
                    .map(|(a, b)| (a.to_string(), b.rsplit_once("\" ,\"id\"").unwrap().1.to_string()))
            };
            assert_eq!(around(line), around(now));
            // What is left of the literal is a part of it.
            let mut rest = line.chars();
            assert!(now.chars().all(|c| rest.any(|other| other == c)), "{line}{now}");
        }
    }
}

#[test]
fn one_place_of_each_passage_stays() {
    one_place_stays(40);
}

/// `cargo test --test all -- --ignored one_place --nocapture`
#[test]
#[ignore = "takes minutes"]
fn one_place_of_each_passage_stays_in_hundreds_of_folders() {
    one_place_stays(400);
}

fn one_place_stays(folders: u64) {
    let (mut cuts, mut rare) = (0, 0);
    for seed in 0..folders {
        let shell = Shell::new();
        corpus(&shell.folder().join("in"), seed, 4 + seed as usize % 5, 6);
        let least = [2, 3, 5, 8, 12][seed as usize % 5];
        let documents = [1, 1, 2, 1, 3, 4][seed as usize % 6];
        let run = |output: &str, tuning: &str| {
            let minima = format!("--min-words {least} --min-documents {documents}");
            let run = shell.dedup(&format!("passages in --exact {minima} --output {output} -q {tuning}"));
            assert!([0, 3].contains(&run.status), "{}", run.stderr);
        };
        run("out", "-j1");
        let [cut, left] = check(&shell, "out", least, documents);
        (cuts, rare) = (cuts + cut, rare + left);
        check_other_bytes(&shell, "out");
        run("other", ["-j3", "--memory 0", "--memory 1M -j2", "--seed 7"][seed as usize % 4]);
        assert!(files(&shell.folder().join("out")) == files(&shell.folder().join("other")), "{seed}");
        let list = |output: &str| fs::read(shell.folder().join(output).join("_dedup/removed.jsonl")).unwrap();
        assert!(list("out") == list("other"), "{seed}");
    }
    assert!(cuts as u64 > 8 * folders && rare as u64 > folders, "{cuts} {rare}");
}

/// The stream is the files of the folder, one after the other; from standard input too.
#[test]
fn the_stream_has_the_records_of_the_folder() {
    let shell = Shell::new();
    for (seed, format) in [(0, "jsonl"), (1, "csv"), (2, "tsv")] {
        let mut random = Random::new(seed);
        let mut before = Vec::new();
        let mut content = match format {
            "csv" => "id,text\n".to_string(),
            "tsv" => "id\ttext\n".to_string(),
            _ => String::new(),
        };
        for number in 0..40 {
            let text = text(&mut random, &before);
            content += &record(&mut random, format, &number.to_string(), &text);
            before.push(text);
        }
        fs::create_dir_all(shell.folder().join(format)).unwrap();
        shell.write(&format!("{format}/a.{format}"), &content);
        for flags in ["", "--unit line", "--unit paragraph --keep none", "--max-cut 0.3"] {
            let run = |more: &str| {
                shell.sh(&format!("rm -rf out; dedup passages {format} --exact --min-words 3 -q {flags} {more}"))
            };
            let folder = run("--output out");
            let written = fs::read_to_string(shell.folder().join(format!("out/a.{format}"))).unwrap();
            let stream = run("--emit kept");
            assert_eq!((stream.status, stream.stdout), (folder.status, written.clone()), "{format} {flags}");
            let piped = shell.sh(&format!(
                "dedup passages - --format {format} --exact --min-words 3 -q {flags} --emit kept < {format}/a.{format}"
            ));
            assert_eq!((piped.status, piped.stdout), (folder.status, written), "{format} {flags}");
        }
    }
}

/// Killed at any moment, and run again: the output is that of a run that was not.
#[test]
fn kills_change_nothing() {
    kill(4);
}

/// `cargo test --test all -- --ignored kills_change --nocapture`
#[test]
#[ignore = "takes minutes"]
fn kills_change_nothing_in_fifty_rounds() {
    kill(50);
}

fn kill(rounds: usize) {
    kill_run(rounds, "--exact --min-words 6", 1000);
    kill_run(rounds, "--min-words 14 --against ref --unit document", 500);
}

/// Kills runs with these options, which leave out more than `least` passages and documents.
fn kill_run(rounds: usize, flags: &str, least: usize) {
    let shell = Shell::new();
    corpus(&shell.folder().join("in"), 3, 120, 60);
    corpus(&shell.folder().join("ref"), 5, 1, 60);
    let arguments = format!("passages in {flags} -q -j2 --output");
    let all = |output: &str| {
        let (cuts, left_out) = removed(&shell, output);
        cuts.len() + left_out.len()
    };
    assert_eq!(shell.dedup(&format!("{arguments} whole")).status, 3);
    let (whole, list) = (files(&shell.folder().join("whole")), all("whole"));
    assert!(list > least, "{list}");
    let (mut random, mut continued) = (Random::new(1), 0);
    for round in 0..rounds {
        let (output, folder) = (format!("out-{round}"), shell.folder().join(format!("out-{round}")));
        for _ in 0..4 {
            let mut command = shell.command(&format!("{arguments} {output}"));
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Half of the kills wait until files are written.
            let waits = random.below(2) == 0;
            let state = folder.join("_dedup/state.json");
            while waits && !state.exists() && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_micros(100));
            }
            thread::sleep(Duration::from_micros(random.below(if waits { 5_000 } else { 60_000 }) as u64));
            child.kill().unwrap();
            child.wait().unwrap();
            continued += usize::from(state.exists());
            // Killed before it began.
            if !folder.exists() {
                continue;
            }
            // What is there is whole; what was being written has another name.
            let there = files(&folder).into_iter().filter(|(name, _)| !name.ends_with(".tmp"));
            there.for_each(|(name, bytes)| assert!(whole.get(&name) == Some(&bytes), "{name}"));
        }
        assert_eq!(shell.dedup(&format!("{arguments} {output}")).status, 3);
        assert!(files(&folder) == whole, "round {round}");
        assert_eq!(all(&output), list);
    }
    assert!(continued > 0, "no run was killed while it wrote");
}

/// Records that cannot be read are listed too, in bounded memory.
#[test]
fn too_many_records_that_cannot_be_read_are_an_error() {
    let shell = Shell::new();
    let broken = "{broken\n".repeat(200_000);
    shell.write("all.jsonl", format!("{{\"id\":\"a\",\"text\":\"one two three\"}}\n{broken}"));
    for output in ["--output cut", "--emit kept"] {
        let run = shell.sh(&format!("dedup passages all.jsonl --exact --min-words 3 --memory 1M -q {output} > kept"));
        let last = run.stderr.lines().last().unwrap_or_default();
        assert_eq!(run.status, 2, "{last}");
        assert!(
            last.starts_with("dedup: error: memory: the records that could not be read do not fit --memory"),
            "{last}"
        );
        assert!(!shell.folder().join("cut/all.jsonl").exists());
    }
    let run = shell.sh("dedup passages all.jsonl --exact --min-words 3 -q --output cut");
    assert_eq!(run.status, 3, "{}", run.stderr.lines().last().unwrap_or_default());
}
