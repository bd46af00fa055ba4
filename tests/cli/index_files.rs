//! The file of an index: what may be in it, what it is replaced by, who may write to it.

use super::records;
use super::shell::{Run, Shell};
use neardups::index::FORMAT_VERSION;
use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const TEXT: &str = "the one is two three of the four was five six to the seven eight nine ten eleven twelve thirteen fourteen fifteen \
                    sixteen there seventeen";

fn documents(count: usize) -> String {
    let line = |number: usize| {
        serde_json::json!({"id": format!("d{number}"), "text": format!("{TEXT} {}", format!("own{number} ").repeat(40 + number))})
            .to_string()
            + "\n"
    };
    (0..count).map(line).collect()
}

fn frame(place: usize, record: &[u8]) -> Vec<u8> {
    let length = (record.len() as u32).to_le_bytes();
    let mut frame = length.to_vec();
    frame.extend_from_slice(&(xxh3_64_with_seed(&length, place as u64) as u32).to_le_bytes());
    frame.extend_from_slice(record);
    frame.extend_from_slice(&xxh3_64_with_seed(record, place as u64).to_le_bytes());
    frame
}

/// A header of an algorithm whose records are not known.
const HEADER: &str = r#"{"algo":"other","hash version":3,"seed":0,"tokenizer":"word"}"#;

fn header(json: &str) -> Vec<u8> {
    let mut bytes = b"dedup index\n".to_vec();
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(json.len() as u32).to_le_bytes());
    bytes.extend_from_slice(json.as_bytes());
    bytes.extend_from_slice(&[0; 32]);
    bytes.extend_from_slice(&xxh3_64(&bytes[20..]).to_le_bytes());
    bytes
}

#[track_caller]
fn refused(run: Run, message: &str) {
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(run.stderr.contains(message), "{}", run.stderr);
}

/// What `index stats` prints is what the guide says of its fields.
#[test]
fn statistics() {
    let shell = Shell::new();
    shell.write("in.jsonl", documents(3) + "{\"id\":\"empty\",\"text\":\"\"}\n");
    shell.write("none.jsonl", "");
    let stats = |index: &str| records::of_index(&shell.dedup(&format!("index stats {index}")).done()).remove(0);
    shell.sh("dedup filter -q --algo simhash --index no.idx < none.jsonl").done();
    assert_eq!((stats("no.idx").documents, stats("no.idx").removed), (0, 0));
    for algorithm in ["minhash", "simhash"] {
        shell.sh(&format!("dedup index add {algorithm}.idx --algo {algorithm} -q < in.jsonl")).done();
        shell.dedup(&format!("index remove {algorithm}.idx d1 -q")).done();
        let path = shell.folder().join(format!("{algorithm}.idx"));
        let whole = fs::metadata(&path).unwrap().len();
        File::options().append(true).open(&path).unwrap().write_all(b"torn").unwrap();
        let stats = stats(&format!("{algorithm}.idx"));
        assert_eq!((stats.documents, stats.removed, stats.bytes, stats.torn), (3, 1, whole, 4));
    }
}

/// Whole, with the right checksum, and nothing that the algorithm can read: opening and `verify` refuse it, and say where it is.
#[test]
fn records_of_another_kind_are_damage() {
    let shell = Shell::new();
    shell.write("in.jsonl", documents(1));
    let algorithms = [
        "",
        "--exact",
        "--supershingles 6x14",
        "--algo simhash",
        "--algo projection",
        "--algo projection --cosine 0.9",
        "--algo spotsigs",
    ];
    for (number, algorithm) in algorithms.into_iter().enumerate() {
        shell.sh(&format!("dedup filter -q --index {number}.idx {algorithm} < in.jsonl")).done();
        let good = fs::read(shell.folder().join(format!("{number}.idx"))).unwrap();
        let record = |kind: u8, rest: &[u8]| [&[kind, 1, b'x'][..], &[0; 16], &[1], rest].concat();
        let words = |count: u8| [&[count][..], &vec![7; 8 * usize::from(count)]].concat();
        let mut records: Vec<Vec<u8>> = [0, 2, 3, 5].map(|count| record(1, &words(count))).into();
        // No evidence, too many keys, a missing feature, bytes after a record.
        records.extend([
            record(2, &[0, 0]),
            record(2, &[&[120][..], &[9; 4 * 120], &[2], &[0; 20]].concat()),
            record(2, &[1, 9, 9, 9, 9, 100]),
            record(0, &[1]),
            record(9, &[]),
        ]);
        for record in records {
            let mut bad = good.clone();
            bad.extend(frame(good.len(), &record));
            let behind = frame(bad.len(), &[4]);
            for bytes in [bad.clone(), [bad, behind].concat()] {
                shell.write("bad.idx", &bytes);
                let message = format!("damaged at byte {}: ", good.len());
                refused(shell.dedup("index verify bad.idx"), &message);
                refused(shell.dedup("index stats bad.idx"), &message);
                refused(shell.sh(&format!("dedup index query bad.idx {algorithm} < in.jsonl")), &message);
                refused(shell.sh(&format!("dedup filter --index bad.idx {algorithm} < in.jsonl")), &message);
                assert_eq!(fs::read(shell.folder().join("bad.idx")).unwrap(), bytes, "nothing is cut off");
            }
            shell.dedup("index compact --salvage -q bad.idx").done();
            shell.dedup("index verify bad.idx").done();
            shell.sh(&format!("dedup filter -q --index bad.idx {algorithm} < in.jsonl")).done();
        }
    }
}

/// A sparse file of a few bytes on the disk claims records of gigabytes: no memory is allocated for them.
#[test]
fn a_sparse_file_takes_no_memory() {
    let shell = Shell::new();
    for length in [1u32 << 20, 1 << 28, (1 << 28) + 1, 3 << 30, u32::MAX] {
        let mut bytes = header(HEADER);
        let place = bytes.len();
        let head = length.to_le_bytes();
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(&(xxh3_64_with_seed(&head, place as u64) as u32).to_le_bytes());
        let file = File::create(shell.folder().join("sparse.idx")).unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        file.set_len(place as u64 + u64::from(length) + (1 << 20)).unwrap();
        // 200 MB of address space: a quarter of a gigabyte would not fit.
        let run = shell.sh("ulimit -v 200000; RAYON_NUM_THREADS=1 dedup index verify sparse.idx");
        assert_eq!(run.status, 2, "{length}: {}", run.stderr);
        assert!(run.stderr.contains("index-damaged"), "{length}: {}", run.stderr);
    }
}

/// Consecutive valid heads with overlapping bodies: each body is hashed at most a few times, or this would take hours.
#[test]
fn crafted_heads_cost_linear_work() {
    let shell = Shell::new();
    let size = 48 << 20;
    let mut bytes = header(HEADER);
    let damaged = frame(bytes.len(), &[0xff; 200]);
    bytes.extend_from_slice(&damaged[..8]);
    bytes.extend_from_slice(&[0xff; 208]);
    while bytes.len() < size / 2 {
        let (place, length) = (bytes.len() as u64, (size as u32 / 2 - 64).to_le_bytes());
        bytes.extend_from_slice(&length);
        bytes.extend_from_slice(&(xxh3_64_with_seed(&length, place) as u32).to_le_bytes());
    }
    bytes.resize(size, 0);
    shell.write("heads.idx", &bytes);
    refused(shell.dedup("index verify heads.idx"), "damaged at byte");
    shell.dedup("index compact --salvage heads.idx").done();
    shell.dedup("index verify heads.idx").done();
}

/// Twenty thousand damaged places: scanning the rest of the file after each would take hours.
#[test]
fn salvaging_many_places_costs_linear_work() {
    let shell = Shell::new();
    let mut bytes = header(HEADER);
    let mut kept = 0;
    for number in 0..40_000u32 {
        let id = format!("d{number:06}");
        let record = [&[0, id.len() as u8], id.as_bytes(), &[0; 17]].concat();
        let mut frame = frame(bytes.len(), &record);
        // In the head, in the body, or not at all.
        match number % 4 {
            0 => frame[1] ^= 1,
            1 => frame[20] ^= 1,
            _ => kept += 1,
        }
        bytes.extend(frame);
    }
    bytes.extend(vec![0xee; 1 << 20]);
    shell.write("many.idx", &bytes);
    shell.dedup("index compact --salvage -q many.idx").done();
    assert_eq!(shell.dedup("index export many.idx").done().lines().count(), kept);
}

fn an_index(shell: &Shell, name: &str) {
    shell.write("in.jsonl", documents(6));
    shell.sh(&format!("dedup index add -q {name} < in.jsonl && dedup index remove -q {name} d1 d2")).done();
}

#[test]
fn compacting_through_a_link_keeps_the_link_and_the_mode() {
    let shell = Shell::new();
    let at = |name: &str| shell.folder().join(name);
    fs::create_dir(at("real")).unwrap();
    an_index(&shell, "real/seen.idx");
    symlink("real/seen.idx", at("one.idx")).unwrap();
    symlink("one.idx", at("two.idx")).unwrap();
    fs::set_permissions(at("real/seen.idx"), Permissions::from_mode(0o640)).unwrap();
    shell.dedup("index compact -q two.idx").done();
    for link in ["one.idx", "two.idx"] {
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
    }
    assert_eq!(fs::metadata(at("real/seen.idx")).unwrap().permissions().mode() & 0o7777, 0o640);
    assert_eq!(shell.dedup("index export real/seen.idx").done().lines().count(), 4);
    assert_eq!(fs::read_dir(at("real")).unwrap().count(), 1, "nothing else stays");
}

#[test]
fn a_snapshot_has_the_mode_of_the_index() {
    let shell = Shell::new();
    let at = |name: &str| shell.folder().join(name);
    an_index(&shell, "seen.idx");
    for mode in [0o600, 0o640, 0o644, 0o664] {
        fs::set_permissions(at("seen.idx"), Permissions::from_mode(mode)).unwrap();
        shell.sh("rm -f copy.idx; dedup index snapshot -q seen.idx copy.idx").done();
        assert_eq!(fs::metadata(at("copy.idx")).unwrap().permissions().mode() & 0o7777, mode);
    }
}

#[test]
fn compacting_a_file_of_two_names_is_refused() {
    let shell = Shell::new();
    an_index(&shell, "seen.idx");
    fs::hard_link(shell.folder().join("seen.idx"), shell.folder().join("other.idx")).unwrap();
    let before = fs::read(shell.folder().join("seen.idx")).unwrap();
    refused(shell.dedup("index compact seen.idx"), "2 names (hard links)");
    assert_eq!(fs::read(shell.folder().join("other.idx")).unwrap(), before);
    fs::remove_file(shell.folder().join("other.idx")).unwrap();
    shell.dedup("index compact seen.idx").done();
}

/// As far as permissions of the test allow: root can give files away; some file systems have no access control lists.
#[cfg(target_os = "linux")]
#[test]
fn compacting_keeps_owner_group_and_access_control_list() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let shell = Shell::new();
    an_index(&shell, "seen.idx");
    let path = shell.folder().join("seen.idx");
    let has_owner = std::os::unix::fs::chown(&path, Some(1234), Some(2345)).is_ok();
    // The owner may read and write, user 4321 read, the group read, as the mask says; others nothing.
    let entry = |tag: u16, may: u16, id: u32| [&tag.to_le_bytes()[..], &may.to_le_bytes(), &id.to_le_bytes()].concat();
    let entries = [(1, 6, u32::MAX), (2, 4, 4321), (4, 4, u32::MAX), (16, 4, u32::MAX), (32, 0, u32::MAX)];
    let list = [2u32.to_le_bytes().to_vec(), entries.map(|(tag, may, id)| entry(tag, may, id)).concat()].concat();
    let attributes = [("system.posix_acl_access", list), ("user.note", b"kept".to_vec())];
    let set = attributes.each_ref().map(|(name, value)| setxattr(&path, *name, value, XattrFlags::empty()).is_ok());
    let found = fs::metadata(&path).unwrap();
    shell.dedup("index compact -q seen.idx").done();
    let now = fs::metadata(&path).unwrap();
    assert_ne!(now.ino(), found.ino(), "it is another file");
    assert_eq!((now.uid(), now.gid(), now.mode()), (found.uid(), found.gid(), found.mode()));
    for ((name, value), _) in attributes.iter().zip(set).filter(|(_, is_set)| *is_set) {
        let mut kept = [0; 256];
        let length = getxattr(&path, *name, &mut kept[..]).unwrap();
        assert_eq!(&kept[..length], value, "{name}");
    }
    if !has_owner || set.contains(&false) {
        eprintln!("not tried: owner {}, access control list {}, attribute {}", !has_owner, !set[0], !set[1]);
    }
}

/// What a killed `compact` left is removed by the next run that has the lock, and nothing else is.
#[test]
fn the_file_that_a_killed_compact_left_is_removed() {
    let shell = Shell::new();
    an_index(&shell, "seen.idx");
    let stale = shell.folder().join(".seen.idx.dedup-0.tmp");
    let all: BTreeSet<String> = (0..6).map(|number| format!("d{number}")).collect();
    let (filter, compact, remove) =
        ("filter -q --index seen.idx < in.jsonl", "index compact -q seen.idx", "index remove -q seen.idx d3");
    for content in [&b""[..], b"dedup in", &fs::read(shell.folder().join("seen.idx")).unwrap()] {
        // The documents that the index has.
        let mut known = all.clone();
        for (command, status) in [(filter, 0), (compact, 0), (remove, 0), (remove, 3), (compact, 0)] {
            fs::write(&stale, content).unwrap();
            let run = shell.sh(&format!("dedup {command}"));
            if command == remove {
                assert_eq!(run.status, if known.remove("d3") { 0 } else { 3 }, "{}", run.stderr);
            }
            assert_eq!(run.status, status, "{command}: {}", run.stderr);
            assert!(!stale.exists(), "{command}");
            let exported = shell.dedup("index export seen.idx").done();
            let id = |line: &str| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_string()
            };
            assert_eq!(exported.lines().map(id).collect::<BTreeSet<_>>(), known, "{command}");
        }
    }
    // Somebody's own file of a similar name.
    let own = shell.folder().join(".seen.idx.tmp");
    fs::write(&own, "a letter").unwrap();
    shell.dedup("index compact -q seen.idx").done();
    assert_eq!(fs::read(&own).unwrap(), b"a letter");
}

fn started(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
}

/// Waits until a child would catch SIGTERM. Where the system does not say, one second must be enough.
fn catches_signals(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    for _ in 0..if cfg!(target_os = "linux") { 3_000 } else { 50 } {
        let caught = fs::read_to_string(&status).ok().and_then(|status| {
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
            u64::from_str_radix(mask.trim(), 16).ok()
        });
        if caught.is_some_and(|mask| mask & 1 << (15 - 1) != 0) {
            return;
        }
        sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn ends(child: &mut Child) -> Option<i32> {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("it does not end");
}

/// Nobody reads what it prints: the first signal waits for that, the second does not.
#[test]
fn the_second_signal_ends_a_run_that_waits_for_its_reader() {
    let shell = Shell::new();
    let mut child = started(shell.command("filter -q"));
    let mut stdin = child.stdin.take().unwrap();
    std::thread::spawn(move || {
        // More than pipes hold.
        for number in 0..4_000 {
            let line = format!("{{\"id\":\"{number}\",\"text\":\"{}\"}}\n", format!("w{number} ").repeat(200));
            if stdin.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
        sleep(Duration::from_secs(60));
    });
    sleep(Duration::from_millis(1_000));
    signal(&child, "TERM");
    sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None, "it has something to hand over");
    signal(&child, "TERM");
    assert_eq!(ends(&mut child), Some(130));
}

/// Nobody reads the duplicates, so that the run waits before it reads its input.
#[test]
fn a_signal_ends_a_run_that_has_not_begun() {
    let shell = Shell::new();
    shell.sh("mkfifo dropped.jsonl").done();
    an_index(&shell, "seen.idx");
    let before = fs::read(shell.folder().join("seen.idx")).unwrap();
    let mut child = started(shell.command("filter -q --index seen.idx --duplicates dropped.jsonl --stats stats.json"));
    catches_signals(&child);
    signal(&child, "TERM");
    assert_eq!(ends(&mut child), Some(130));
    assert_eq!(fs::read(shell.folder().join("seen.idx")).unwrap(), before);
    let stats = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
    assert!(stats.contains("\"error\":{\"kind\":\"signal\""), "{stats}");
}

/// What it needs is read from a pipe that nobody writes to.
#[test]
fn a_signal_ends_a_run_that_reads_its_settings() {
    let shell = Shell::new();
    shell.sh("mkfifo words.txt").done();
    let mut child = started(shell.command("filter -q --algo spotsigs --antecedents words.txt --stats stats.json"));
    catches_signals(&child);
    signal(&child, "TERM");
    assert_eq!(ends(&mut child), Some(130));
    let stats = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
    assert!(stats.contains("\"error\":{\"kind\":\"signal\""), "{stats}");
}

/// It answers one document, and is stopped while it waits for the next.
#[test]
fn a_signal_within_a_stream_is_in_the_statistics() {
    let shell = Shell::new();
    let mut child = started(shell.command("filter -q --stats stats.json"));
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"id\":\"a\",\"text\":\"a first document of eight words is passed\"}\n").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    signal(&child, "TERM");
    assert_eq!(ends(&mut child), Some(130));
    let stats = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
    assert!(stats.contains("\"documents\":1,") && stats.contains("\"error\":{\"kind\":\"signal\""), "{stats}");
}

/// A second writer finds no lock at the old place. The first one does not go on: what it decides would be remembered elsewhere.
#[test]
fn an_index_that_is_moved_ends_its_writer() {
    let shell = Shell::new();
    for replaced in [false, true] {
        shell.sh("rm -f *.idx");
        let mut child = started(shell.command("filter -q --index seen.idx"));
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        stdin.write_all(b"{\"id\":\"a\",\"text\":\"a heron stood in the shallows\"}\n").unwrap();
        let mut first = [0; 10];
        stdout.read_exact(&mut first).unwrap();
        // Under its new name it is locked.
        shell.sh("mv seen.idx moved.idx").done();
        refused(shell.sh("dedup filter -q --index moved.idx < /dev/null"), "this index is open for writing");
        if replaced {
            shell.sh("dedup filter -q --index seen.idx < /dev/null").done();
        }
        stdin.write_all(b"{\"id\":\"b\",\"text\":\"the library opens at nine\"}\n").unwrap();
        drop(stdin);
        let (mut rest, mut said) = (String::new(), String::new());
        stdout.read_to_string(&mut rest).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(ends(&mut child), Some(2));
        assert!(said.contains("index-locked") && said.contains("was moved or replaced"), "{said}");
        assert!(!rest.contains("library"), "what is not remembered does not leave: {rest}");
        assert_eq!(shell.dedup("index export moved.idx").done().lines().count(), 1);
    }
}

/// Notes name the documents that others were dropped for. One after the note cannot be such a document.
#[test]
fn notes_of_documents_that_do_not_come_before_them_are_damage() {
    let shell = Shell::new();
    shell.write("in.jsonl", documents(1));
    shell.sh("dedup filter -q --index good.idx --window 5 < in.jsonl").done();
    let good = fs::read(shell.folder().join("good.idx")).unwrap();
    let note =
        |words: &[u64]| [&[3][..], &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()].concat();
    let begun = [good.clone(), frame(good.len(), &note(&[u64::MAX - 1]))].concat();
    for place in [begun.len() as u64, 99_999_999_999, (1 << 63) - 1] {
        let mut bad = begun.clone();
        bad.extend(frame(bad.len(), &note(&[1 << 63 | 5, 1 << 63 | place])));
        for bytes in [bad.clone(), [bad.clone(), frame(bad.len(), &[4])].concat()] {
            shell.write("bad.idx", &bytes);
            let message = format!("damaged at byte {}: ", begun.len());
            refused(shell.dedup("index verify bad.idx"), &message);
            refused(shell.sh("dedup filter -q --index bad.idx --window 5 < in.jsonl"), &message);
        }
    }
}

#[test]
fn an_index_and_a_link_to_it_have_the_same_tables() {
    let shell = Shell::new();
    let at = |name: &str| shell.folder().join(name);
    fs::create_dir(at("real")).unwrap();
    shell.write("in.jsonl", (0..20_000).map(|i| format!("{{\"text\":\"word{i} and more\"}}\n")).collect::<String>());
    symlink("real/seen.idx", at("one.idx")).unwrap();
    shell.sh("dedup index add -q real/seen.idx --shingle 1 < in.jsonl").done();
    assert!(at("real/seen.idx.tables/checkpoint").exists());
    shell.sh("dedup index add -q one.idx --shingle 1 < in.jsonl").done();
    assert!(!at("one.idx.tables").exists());
    shell.dedup("index compact -q one.idx").done();
    assert!(!at("real/seen.idx.tables").exists() && at("one.idx").is_symlink());
}
