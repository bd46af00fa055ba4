//! `dedup clean`: every record is in the output or in the list of what was left out, whatever happens on the way.

use super::records;
use super::shell::Shell;
use crate::support::random::Random;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// A record: its id and its text, if it can be read, and its bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    document: Option<(String, String)>,
    bytes: String,
}

/// Texts of which half are much like an earlier one.
pub(super) fn texts(random: &mut Random, count: usize) -> Vec<String> {
    let mut texts: Vec<Vec<String>> = Vec::new();
    let word = |random: &mut Random| format!("w{}", random.below(5_000));
    for number in 0..count {
        let mut words: Vec<String> = (0..30 + random.below(40)).map(|_| word(random)).collect();
        if number > 0 && random.below(2) == 0 {
            words.clone_from(&texts[random.below(number)]);
            let at = random.below(words.len());
            words[at] = word(random);
        }
        texts.push(words);
    }
    texts.into_iter().map(|words| words.join(" ")).collect()
}

/// The compressed bytes of a file that `name` ends in.
pub(super) fn compressed(name: &str, bytes: &[u8]) -> Vec<u8> {
    match name.rsplit('.').next() {
        Some("gz") => {
            let mut out = Vec::new();
            flate2::read::GzEncoder::new(bytes, flate2::Compression::new(1)).read_to_end(&mut out).unwrap();
            out
        }
        Some("zst") => zstd::encode_all(bytes, 1).unwrap(),
        _ => bytes.to_vec(),
    }
}

fn decompressed(name: &str, bytes: &[u8]) -> Vec<u8> {
    match name.rsplit('.').next() {
        Some("gz") => {
            let mut out = Vec::new();
            flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut out).unwrap();
            out
        }
        Some("zst") => zstd::decode_all(bytes).unwrap(),
        _ => bytes.to_vec(),
    }
}

/// Writes a corpus of several formats, with records that cannot be read.
pub(super) fn corpus(folder: &Path, seed: u64, files: usize) {
    let mut random = Random::new(seed);
    let mut texts = texts(&mut random, 40 * files).into_iter();
    for file in 0..files {
        let name = format!("{}/{file:03}.{}", file % 3, ["jsonl", "jsonl.gz", "csv", "jsonl.zst", "csv.gz"][file % 5]);
        let mut content = if name.contains("csv") { "id,text\n".to_string() } else { String::new() };
        for (record, text) in texts.by_ref().take(40).enumerate() {
            let end = if random.below(5) == 0 { "\r\n" } else { "\n" };
            let bad = random.below(20);
            content += &match (name.contains("csv"), bad) {
                (true, 0) => format!("only-an-id{end}"),
                (true, 1) => end.to_string(),
                (true, _) => format!("{file}-{record},\"{text},\n\"\"\"{end}"),
                (false, 0) => format!("{{\"id\":\"{file}-{record}\"}}{end}"),
                (false, 1) => format!("not JSON{end}"),
                (false, _) => format!("{{\"text\":\"{text}\",\"more\":[{bad}],\"id\":\"{file}-{record}\"}}{end}"),
            };
        }
        let path = folder.join(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, compressed(&name, content.as_bytes())).unwrap();
    }
    // Files that are documents, and one that holds none.
    fs::write(folder.join("note.txt"), "a note of its own").unwrap();
    fs::write(folder.join("same-note.txt"), "A note of its own.").unwrap();
    fs::write(folder.join("zero.bin"), [0; 100]).unwrap();
}

/// All files below a folder but its own description, by their paths.
pub(super) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap) {
        let below = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_string();
        if entry.file_type().is_file() && !below.starts_with("_dedup") {
            found.insert(below, fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// The records of a file with the lines on which they start, cut by other means than those of the program.
fn records_of(name: &str, bytes: &[u8]) -> Vec<(u64, Record)> {
    let bytes = decompressed(name, bytes);
    if name.contains("csv") {
        let (mut found, mut start, mut line, mut next, mut is_quoted) = (Vec::new(), 0, 1, 1, false);
        for (at, &byte) in bytes.iter().enumerate() {
            is_quoted ^= byte == b'"';
            next += u64::from(byte == b'\n');
            if byte == b'\n' && !is_quoted {
                let own = &bytes[start..=at];
                let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(own);
                let row = reader.records().next().map(Result::unwrap).unwrap_or_default();
                let document = row.get(1).map(|text| (row[0].to_string(), text.to_string()));
                found.push((line, Record { document, bytes: String::from_utf8_lossy(own).into_owned() }));
                (start, line) = (at + 1, next);
            }
        }
        return found;
    }
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').zip(1..);
    let record = |(line, number): (&[u8], u64)| {
        let value: Option<Value> = serde_json::from_slice(line).ok();
        let field = |name: &str| Some(value.as_ref()?.get(name)?.as_str()?.to_string());
        (number, Record { document: field("id").zip(field("text")), bytes: String::from_utf8_lossy(line).into_owned() })
    };
    lines.map(record).collect()
}

/// The words of a text, as sets of runs of five.
fn shingles(text: &str) -> BTreeSet<Vec<String>> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    words.windows(5).map(<[String]>::to_vec).collect()
}

/// Checks a whole output against its input. Returns the number of records that were left out.
fn check(input: &Path, output: &Path, threshold: f64) -> usize {
    let (before, after) = (files(input), files(output));
    let removed = fs::read_to_string(output.join("_dedup/removed.jsonl")).unwrap();
    assert!(!records::removed(&removed).is_empty());
    let removed: Vec<Value> = removed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let place = |value: &Value| {
        let file = value["file"].as_str().unwrap();
        (file.strip_prefix("in/").unwrap().to_string(), value["record"].as_u64())
    };
    let gone: BTreeSet<_> = removed.iter().map(place).collect();
    assert_eq!(gone.len(), removed.len(), "each is left out once");
    let mut texts = BTreeMap::new();
    for (name, bytes) in &before {
        if !name.contains("jsonl") && !name.contains("csv") {
            let is_gone = gone.contains(&(name.clone(), None));
            assert_eq!(after.get(name), Some(bytes).filter(|_| !is_gone), "{name}");
            texts.insert((name.clone(), None), String::from_utf8_lossy(bytes).into_owned());
            continue;
        }
        let all = records_of(name, bytes);
        let kept: Vec<_> = all.iter().filter(|(line, _)| !gone.contains(&(name.clone(), Some(*line)))).collect();
        let found: Vec<_> = records_of(name, &after[name]).into_iter().map(|(_, record)| record).collect();
        let kept: Vec<_> = kept.into_iter().map(|(_, record)| record.clone()).collect();
        let different = found.iter().zip(&kept).find(|(found, kept)| found != kept);
        assert_eq!((different, found.len()), (None, kept.len()), "{name}");
        for (line, record) in all {
            if let Some((_, text)) = record.document {
                texts.insert((name.clone(), Some(line)), text);
            }
        }
    }
    assert!(after.keys().all(|name| before.contains_key(name)));
    for record in &removed {
        let partner = place(&record["duplicate_of"]);
        assert!(!gone.contains(&partner), "{record}: the partner is kept");
        let similarity = record["similarity"].as_f64().unwrap();
        assert!(similarity >= threshold, "{record}");
        let (a, b) = (shingles(&texts[&place(record)]), shingles(&texts[&partner]));
        if !a.is_empty() {
            let jaccard = a.intersection(&b).count() as f64 / a.union(&b).count() as f64;
            assert!((jaccard - similarity).abs() < 1e-9, "{record}: {jaccard}");
        }
    }
    removed.len()
}

#[test]
fn every_record_is_kept_or_listed() {
    let shell = Shell::new();
    corpus(&shell.folder().join("in"), 1, 15);
    let mut first = None;
    for (number, flags) in ["-j1", "-j4 --memory 16M", "-j2 --link"].into_iter().enumerate() {
        let output = format!("out-{number}");
        let run = shell.sh(&format!("dedup clean in --output {output} --shingle 5 -q {flags}"));
        assert_eq!(run.status, 3, "{}", run.stderr);
        let folder = shell.folder().join(&output);
        assert!(check(&shell.folder().join("in"), &folder, 0.8) > 100);
        let found = (files(&folder), fs::read(folder.join("_dedup/removed.jsonl")).unwrap());
        assert!(*first.get_or_insert(found.clone()) == found, "{flags}");
    }
}

/// In `summary.json` as on standard error: with the names of options.
#[test]
fn warnings_are_worded_alike() {
    let shell = Shell::new();
    let line = |number: usize| format!("{{\"text\":\"some words of record {number} and what else there is in it\"}}\n");
    shell.write("in.jsonl", (0..9).map(line).collect::<String>());
    for (number, options) in ["--index seen.idx", "--algo imatch"].into_iter().enumerate() {
        let run =
            shell.dedup(&format!("clean in.jsonl --output out-{number} --text-field text --text-field txet {options}"));
        assert_eq!(run.status, 0, "{}", run.stderr);
        let summary = fs::read(shell.folder().join(format!("out-{number}/_dedup/summary.json"))).unwrap();
        let summary: Value = serde_json::from_slice(&summary).unwrap();
        let printed: Vec<&str> = run.stderr.lines().filter_map(|line| line.strip_prefix("dedup: warning: ")).collect();
        let written: Vec<&str> =
            summary["scan"]["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap()).collect();
        assert!(written.iter().any(|warning| warning.starts_with("--text-field: ")), "{written:?}");
        assert_eq!(written, printed);
    }
}

#[test]
fn nothing_is_left_to_leave_out() {
    let shell = Shell::new();
    corpus(&shell.folder().join("in"), 2, 10);
    shell.sh("dedup clean in --output out --shingle 5 -q");
    let pairs = shell.sh("dedup scan out --shingle 5 --hidden -q");
    let of_files = |line: &&str| !line.contains("_dedup");
    assert_eq!(pairs.stdout.lines().filter(of_files).count(), 0, "{}", pairs.stdout);
}

#[test]
fn a_killed_run_is_continued() {
    let shell = Shell::new();
    let input = shell.folder().join("in");
    corpus(&input, 3, 150);
    let expected =
        || (files(&shell.folder().join("whole")), fs::read(shell.folder().join("whole/_dedup/removed.jsonl")));
    let read = |name: &str| fs::read_to_string(shell.folder().join(name)).unwrap();
    shell.sh("dedup clean in --output whole --shingle 5 -q --rejects whole.jsonl");
    let rejects = read("whole.jsonl");
    assert!(rejects.lines().count() > 10 && read("whole/_dedup/failed.jsonl") == rejects);
    check(&input, &shell.folder().join("whole"), 0.8);
    let (expected, removed) = expected();
    let (mut random, mut continued) = (Random::new(9), 0);
    for round in 0..12 {
        let output = shell.folder().join(format!("out-{round}"));
        let arguments = format!("clean in --output out-{round} --shingle 5 -q");
        for _ in 0..4 {
            let mut command = shell.command(&arguments);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Half of the kills wait until files are written.
            let waits = random.below(2) == 0;
            let state = output.join("_dedup/state.json");
            while waits && !state.exists() && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_micros(100));
            }
            thread::sleep(Duration::from_micros(random.below(if waits { 5_000 } else { 60_000 }) as u64));
            child.kill().unwrap();
            child.wait().unwrap();
            continued += usize::from(state.exists());
        }
        let run = shell.sh(&format!("dedup {arguments} --rejects rejects.jsonl"));
        assert!([0, 3].contains(&run.status), "{}", run.stderr);
        assert!(run.stderr.contains("dedup: failed: in/"), "{}", run.stderr);
        assert!(files(&output) == expected, "round {round}");
        assert!(read("rejects.jsonl") == rejects && read(&format!("out-{round}/_dedup/failed.jsonl")) == rejects);
        assert_eq!(fs::read(output.join("_dedup/removed.jsonl")).unwrap(), *removed.as_ref().unwrap());
        let own = fs::read_dir(output.join("_dedup")).unwrap().map(|entry| entry.unwrap().file_name());
        let own: BTreeSet<_> = own.collect();
        assert_eq!(own, [".lock", "failed.jsonl", "removed.jsonl", "summary.json"].map(Into::into).into());
    }
    assert!(continued > 0, "no run was killed while it wrote");
}

/// A file with the name of an output that was not written yet is not overwritten, also if it has the time of the input.
#[test]
fn a_file_in_the_place_of_an_output_stays() {
    let shell = Shell::new();
    let path = |name: &str| shell.folder().join(name);
    shell.sh("mkdir in").done();
    shell.write("in/a.txt", "the first words of a text and others that follow");
    shell.write("in/b.txt", vec![0; 1 << 20]);
    shell.write("in/c.txt", "other words, of another text, that stand nowhere else");
    let clean = "dedup clean in --output out -q -j 1";
    let run = shell.sh(&format!("trap '' XFSZ; ulimit -f 200; {clean}"));
    assert_eq!(run.status, 2, "{}", run.stderr);
    // One that was written ahead is not listed as done.
    assert_eq!(fs::read_to_string(path("out/_dedup/done")).unwrap().lines().count(), 1);
    assert!(path("out/_dedup/state.json").exists());
    for (own, times) in [("my own notes", "touch -r in/c.txt out/c.txt"), ("my own", "true")] {
        shell.write("out/c.txt", own);
        let run = shell.sh(&format!("{times}; {clean}"));
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains("out/c.txt: it was changed"), "{}", run.stderr);
        assert_eq!(fs::read_to_string(path("out/c.txt")).unwrap(), own);
    }
    // What an interrupted run wrote, and did not list as done.
    shell.sh(&format!("cp -p in/c.txt out/c.txt; {clean}; cmp in/c.txt out/c.txt; cmp in/b.txt out/b.txt")).done();
}

/// Counts that no run can have written are no reason to panic.
#[test]
fn counts_that_were_changed() {
    let shell = Shell::new();
    let path = |name: &str| shell.folder().join(name);
    let lines: String = (0..3).map(|_| "{\"text\":\"one two three four five six seven\"}\n").collect();
    shell.sh("mkdir in").done();
    shell.write("in/a.jsonl", &lines);
    shell.write("in/b.bin", vec![0; 1 << 20]);
    shell.write("in/c.jsonl", &lines);
    let clean = "dedup clean in --output out -q -j 1";
    assert_eq!(shell.sh(&format!("trap '' XFSZ; ulimit -f 200; {clean}")).status, 2);
    assert!(path("out/_dedup/state.json").exists());
    let state: Value = serde_json::from_slice(&fs::read(path("out/_dedup/state.json")).unwrap()).unwrap();
    for (count, value) in [("records", u64::MAX), ("failed", u64::MAX), ("duplicates_kept", u64::MAX), ("records", 0)] {
        let mut state = state.clone();
        state["counts"][0][count] = value.into();
        state["counts"][2][count] = value.into();
        fs::write(path("out/_dedup/state.json"), state.to_string()).unwrap();
        let run = shell.sh(clean);
        let why = "out/_dedup/state.json is not what a run wrote: choose another output folder";
        assert_eq!((run.status, run.stderr), (2, format!("dedup: error: usage: {why}\n")), "{count} {value}");
    }
}

/// What someone made of an output while the run was interrupted is not overwritten, however long it is.
#[test]
fn an_edited_output_stays() {
    let shell = Shell::new();
    let path = |name: &str| shell.folder().join(name);
    shell.sh("mkdir in").done();
    let names = ["a", "b", "c", "d"];
    for name in names {
        shell.write(&format!("in/{name}.txt"), format!("the first words of text {name} and others that follow"));
    }
    shell.write("in/z.bin", vec![0; 1 << 20]);
    let clean = "dedup clean in --output out -q -j 1";
    shell.sh("dedup clean in --output whole -q -j 1").done();
    let expected = files(&path("whole"));
    // No file may be longer, so that the run ends before the last one is written.
    let interrupt = || {
        _ = fs::remove_dir_all(path("out"));
        let run = shell.sh(&format!("trap '' XFSZ; ulimit -f 200; {clean}"));
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(path("out/_dedup/state.json").exists());
        let done = fs::read_to_string(path("out/_dedup/done")).unwrap();
        assert_eq!(done.lines().count(), names.len(), "{done}");
        done
    };
    let refused = |name: &str| {
        let message = "it was changed since an earlier run wrote it, and is not overwritten: move it to another place, and the same command continues";
        for _ in 0..2 {
            let run = shell.sh(clean);
            let expected = format!("dedup: error: usage: out/{name}.txt: {message}\n");
            assert_eq!((run.status, run.stderr, run.stdout), (2, expected, String::new()));
        }
    };
    // What an earlier version left: a list without times, and a request without the options that it did not know.
    let make_earlier = || {
        shell.sh("perl -pi -e 's/ [0-9]*[.][0-9]*[.]$/./' out/_dedup/done").done();
        let mut state: Value = serde_json::from_slice(&fs::read(path("out/_dedup/state.json")).unwrap()).unwrap();
        let request = state["request"].as_object_mut().unwrap();
        let known = request.len();
        request.retain(|name, _| !name.ends_with("of the reference"));
        assert_eq!(request.len(), known - 3);
        fs::write(path("out/_dedup/state.json"), state.to_string()).unwrap();
    };
    // As long as before, shorter, and one that is not listed as done yet.
    let edits = [("a", "s/first/other/", false), ("b", "s/first//", false), ("d", "s/first/other/", true)];
    for (name, edit, is_lost) in edits {
        let done = interrupt();
        if is_lost {
            let lines: Vec<&str> = done.lines().collect();
            fs::write(path("out/_dedup/done"), lines[..names.len() - 1].join("\n") + "\n").unwrap();
        }
        shell.sh(&format!("perl -pi -e {edit} out/{name}.txt")).done();
        let edited = fs::read(path(&format!("out/{name}.txt"))).unwrap();
        refused(name);
        assert_eq!(fs::read(path(&format!("out/{name}.txt"))).unwrap(), edited);
        shell.sh(&format!("mv out/{name}.txt edited.txt; {clean}")).done();
        assert!(files(&path("out")) == expected);
    }
    interrupt();
    make_earlier();
    shell.sh("perl -pi -e s/first// out/b.txt").done();
    refused("b");
    // What is no file is neither followed nor opened.
    for (change, changed) in [
        ("rm out/a.txt; ln -s ../outside.txt out/a.txt", "out/a.txt"),
        ("cp out/a.txt outside.txt; ln -sf ../outside.txt out/a.txt", "out/a.txt"),
        ("rm out/a.txt; mkfifo out/a.txt", "out/a.txt"),
        ("rm out/a.txt; ln -s /dev/zero out/a.txt", "out/a.txt"),
        ("rm out/a.txt; mkdir out/a.txt", "out/a.txt"),
        ("mkdir outside; rm -r out/s; ln -s ../outside out/s", "out/s"),
    ] {
        _ = fs::remove_dir_all(path("out"));
        shell.sh("rm -rf outside outside.txt; mkdir -p in/s; echo some words > in/s/e.txt").done();
        assert_eq!(shell.sh(&format!("trap '' XFSZ; ulimit -f 200; {clean}")).status, 2);
        shell.sh(change).done();
        let run = shell.sh(clean);
        let refusal = format!("dedup: error: usage: {changed}: it was changed since an earlier run wrote it, ");
        assert!(run.status == 2 && run.stderr.starts_with(&refusal), "{change}: {}", run.stderr);
        assert!(!path("outside/e.txt").exists(), "{change}");
    }
    shell.sh("rm -r in/s").done();
    // The same content with another time, nothing, and the folder of an earlier version are continued.
    for change in ["touch out/a.txt", "cp out/a.txt x; mv x out/a.txt", "rm out/b.txt", ""] {
        interrupt();
        match change {
            "" => make_earlier(),
            change => _ = shell.sh(change).done(),
        }
        let run = shell.sh(&clean.replace(" -q", ""));
        assert_eq!(run.status, 0, "{change}: {}", run.stderr);
        let continued = if change.contains("/a") || change.contains("/b") { 3 } else { 4 };
        assert!(run.stderr.contains(&format!("{continued} of them")), "{change}: {}", run.stderr);
        assert!(files(&path("out")) == expected, "{change}");
    }
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let shell = Shell::new();
    corpus(&shell.folder().join("in"), 4, 3);
    fs::create_dir_all(shell.folder().join("out/_dedup")).unwrap();
    let lock = fs::File::create(shell.folder().join("out/_dedup/.lock")).unwrap();
    lock.lock().unwrap();
    let run = shell.sh("dedup clean in --output out");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("another run writes to this folder"), "{}", run.stderr);
    drop(lock);
    assert_eq!(shell.sh("dedup clean in --output out -q").status, 3);
}

/// Nothing is written if an option names a field that no record has.
#[test]
fn a_mistyped_field_ends_the_run() {
    let shell = Shell::new();
    shell.sh("mkdir in").done();
    for name in ["in/a.jsonl", "in/b.jsonl"] {
        let line = |number: usize| {
            format!("{{\"id\":\"{name}-{number}\",\"text\":\"words of record {number}\",\"score\":1}}\n")
        };
        shell.write(name, (0..20).map(line).collect::<String>());
    }
    shell.write("in/README.txt", "about these files");
    let cases = [
        (
            "--text-field txet",
            "empty: no record has a text field: in/a.jsonl:1: no text field 'txet' (fields here: id, text, score; choose with --text-field)",
        ),
        (
            "--id-field di",
            "usage: --id-field: no record that could be read has the field 'di' (fields here: id, text, score)",
        ),
        (
            "--keep max:nosuch",
            "usage: --keep: no document has a number or a time in the field 'nosuch' (fields here: id, text, score)",
        ),
        (
            "--keep min:no.such",
            "usage: --keep: no document has a number or a time in the field 'no.such' (fields here: id, text, score)",
        ),
    ];
    for (options, message) in cases {
        for command in ["clean in --output out", "clean in --dry-run", "scan in --emit verdicts"] {
            let run = shell.dedup(&format!("{command} {options} -q"));
            assert_eq!((run.status, &*run.stdout), (2, ""), "{command} {options}: {}", run.stderr);
            assert!(run.stderr.ends_with(&format!("dedup: error: {message}\n")), "{command} {options}: {}", run.stderr);
            assert!(!shell.folder().join("out").exists(), "{command} {options}");
        }
    }
    let run = shell.dedup("scan in --text-field txet -q");
    assert_eq!((run.status, &*run.stdout), (2, ""), "{}", run.stderr);
    // An index would remember it for ever.
    shell.sh("dedup filter --index old.idx -q < in/a.jsonl").done();
    let old = fs::read(shell.folder().join("old.idx")).unwrap();
    for (options, message) in &cases[..2] {
        for command in ["--output out --index new.idx", "--dry-run --index new.idx", "--output out --index old.idx"] {
            let run = shell.dedup(&format!("clean in {command} {options} -q"));
            assert_eq!((run.status, &*run.stdout), (2, ""), "{command} {options}: {}", run.stderr);
            assert!(run.stderr.ends_with(&format!("dedup: error: {message}\n")), "{command} {options}: {}", run.stderr);
            let is_there = |name: &str| shell.folder().join(name).exists();
            assert!(!is_there("out") && !is_there("new.idx"), "{command} {options}");
            assert!(fs::read(shell.folder().join("old.idx")).unwrap() == old, "{command} {options}");
        }
    }
    for options in ["--id-field none", "--id-field di --allow-empty", "--id-field id --text-field text"] {
        shell.dedup(&format!("clean in --dry-run --index new.idx {options} -q")).done();
    }
    assert_eq!(shell.dedup("clean in --dry-run --index new.idx --text-field txet --allow-empty -q").status, 3);
    // A column, and what is typed right or allowed.
    shell.sh("rm in/*.jsonl; printf 'id,text\\n1,words\\n' > in/c.csv").done();
    let run = shell.dedup("clean in --output out --text-field txet -q");
    assert!(run.status == 2 && run.stderr.contains("no record has a text field: in/c.csv"), "{}", run.stderr);
    assert_eq!(shell.dedup("clean in --dry-run --text-field txet --allow-empty -q").status, 3);
    shell.dedup("clean in --output out --text-field text -q").done();
    // A stray table among documents is reported, but the field was not named.
    shell.sh("printf 'id,name\\n1,words\\n' > in/c.csv").done();
    assert_eq!(shell.dedup("scan in -q").status, 3);
    // Some have a value.
    shell.write("in/d.jsonl", "{\"text\":\"words\",\"score\":2}\n{\"text\":\"other words\"}\n");
    let run = shell.dedup("scan in/d.jsonl --emit clusters --keep max:score");
    assert!(
        run.stderr.contains("1 document has no number or time in the field 'score' that --keep goes by: it comes last"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_glob_that_matches_nothing_is_reported() {
    let shell = Shell::new();
    shell.sh("mkdir -p in/deep ref; echo one text of words > in/a.txt; echo another one > in/deep/b.md; echo more > ref/c.rst").done();
    let warnings = |arguments: &str| {
        let run = shell.dedup(arguments);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let lines = run.stderr.lines().filter(|line| line.ends_with("matches no file"));
        lines.map(|line| line.strip_prefix("dedup: warning: ").unwrap().to_string()).collect::<Vec<_>>()
    };
    let typed = "--prefer nonsense/* --prefer deep/ --prefer deep/*.md --include *.txt --include *.md --include *.nosuch --exclude none";
    let expected = [
        "--include '*.nosuch' matches no file",
        "--exclude 'none' matches no file",
        "--prefer 'nonsense/*' matches no file",
    ];
    for command in ["clean in --dry-run", "scan in --emit verdicts"] {
        assert_eq!(warnings(&format!("{command} {typed}")), expected);
        // What is excluded matches, and so does what is in the reference.
        assert_eq!(
            warnings(&format!("{command} --exclude deep --include *.txt --include *.rst --against ref")),
            [""; 0]
        );
    }
}

/// They have no records that can be read, but bytes.
#[test]
fn files_that_are_not_read_are_copied() {
    let shell = Shell::new();
    shell.sh("mkdir in").done();
    shell.write("in/encrypted.parquet", "PARE............PARE");
    shell.write("in/packed.parquet", zstd::encode_all(&b"PAR1............PAR1"[..], 1).unwrap());
    shell.write("in/text.txt", "a text that can be read");
    let run = shell.sh("dedup clean in --output out -q");
    assert_eq!(run.status, 3, "{}", run.stderr);
    assert!(
        run.stderr.contains("encrypted Parquet file") && run.stderr.contains("compressed Parquet file"),
        "{}",
        run.stderr
    );
    for name in ["encrypted.parquet", "packed.parquet", "text.txt"] {
        let read = |folder: &str| fs::read(shell.folder().join(folder).join(name)).unwrap();
        assert!(read("in") == read("out"), "{name}");
    }
    assert_eq!(fs::read_to_string(shell.folder().join("out/_dedup/removed.jsonl")).unwrap(), "");
}
