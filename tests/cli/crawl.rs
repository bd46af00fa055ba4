//! The scripts of `examples/crawl/` do what they say, with the fixtures for a crawl.

use super::shell::{Run, Shell, root};
use neardups::hash::mix;
use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

fn run(shell: &Shell, line: &str) -> Run {
    shell.sh(&format!("{}/examples/crawl/{line}", root().display()))
}

fn script(shell: &Shell, line: &str) -> String {
    run(shell, line).done()
}

fn lines(shell: &Shell, name: &str) -> usize {
    fs::read_to_string(shell.folder().join(name)).expect("it was written").lines().count()
}

const PAGES: &str = r#"{"url":"http://a/1","text":"The old library on Mill Street opens at nine on weekdays."}
{"url":"http://a/2","text":"The old library on Mill Street opens at NINE on weekdays!"}
{"url":"http://a/3","text":"A heron stood in the shallows for an hour without moving."}
"#;

#[test]
fn pages_of_a_spider() {
    let shell = Shell::new();
    shell.write("pages.jsonl", PAGES);
    script(&shell, "jsonl_pipe.sh seen.idx fresh.jsonl dropped.jsonl < pages.jsonl");
    assert_eq!((lines(&shell, "fresh.jsonl"), lines(&shell, "dropped.jsonl")), (2, 1));
    shell.write("later.jsonl", PAGES.replace("http://a/", "http://b/"));
    script(&shell, "jsonl_pipe.sh seen.idx fresh.jsonl dropped.jsonl < later.jsonl");
    assert_eq!((lines(&shell, "fresh.jsonl"), lines(&shell, "dropped.jsonl")), (2, 4));
}

#[test]
fn what_a_killed_run_left_half_is_not_glued_to_what_comes() {
    let shell = Shell::new();
    shell.write("pages.jsonl", PAGES);
    // Nothing is added to files that end well.
    shell.write("fresh.jsonl", "{\"url\":\"http://old\"}\n{\"url\":\"http://a/1\",\"text\":\"The ol");
    shell.write("dropped.jsonl", "");
    for _ in 0..2 {
        script(&shell, "jsonl_pipe.sh seen.idx fresh.jsonl dropped.jsonl < pages.jsonl");
    }
    let fresh = fs::read_to_string(shell.folder().join("fresh.jsonl")).unwrap();
    let pages: Vec<&str> = PAGES.lines().collect();
    let expected = [r#"{"url":"http://old"}"#, r#"{"url":"http://a/1","text":"The ol"#];
    assert_eq!(fresh.lines().collect::<Vec<_>>(), [&expected[..], &[pages[0], pages[2], pages[0], pages[2]]].concat());
    // What is fed again is a duplicate already.
    assert_eq!(lines(&shell, "dropped.jsonl"), 1);
}

#[cfg(feature = "main-content")]
#[test]
fn an_archive() {
    let shell = Shell::new();
    script(&shell, "warc_pipe.sh seen.idx < fixtures/warc/crawl.warc.gz > fresh.warc");
    let kept = shell.dedup("scan fresh.warc --emit verdicts -q").done();
    assert_eq!(kept.lines().count(), 2, "{kept}");
    script(&shell, "warc_pipe.sh seen.idx < fixtures/warc/crawl.warc.wet.gz > more.warc");
    assert_eq!(shell.dedup("scan more.warc --emit verdicts --allow-empty -q").done(), "");
}

#[cfg(feature = "main-content")]
#[test]
fn an_archive_whose_index_is_of_no_use() {
    let shell = Shell::new();
    shell.write("seen.idx", "no index");
    let run = run(&shell, "warc_pipe.sh seen.idx < fixtures/warc/crawl.warc.gz > fresh.warc");
    assert_eq!((run.status, lines(&shell, "fresh.warc")), (2, 0), "{}", run.stderr);
}

#[test]
fn arguments_that_are_missing() {
    let shell = Shell::new();
    for name in ["jsonl_pipe.sh", "warc_pipe.sh", "cron.sh"] {
        let run = run(&shell, name);
        assert_eq!((run.status, &*run.stdout), (2, ""));
        assert!(run.stderr.starts_with(&format!("usage: {name} ")), "{}", run.stderr);
    }
}

#[test]
fn files_every_night_and_after_a_crash() {
    let shell = Shell::new();
    shell.sh("mkdir in").done();
    script(&shell, "cron.sh in seen.idx out");
    assert_eq!(shell.sh("ls -A out").done(), "");
    shell.write("in/1.jsonl", PAGES);
    shell.write("in/2.jsonl", PAGES.replace("http://a/", "http://b/"));
    // Cut short in the first file: it is in the index, and its output has not got its name.
    shell.sh("dedup filter -q --index seen.idx --id-field url < in/1.jsonl > out/.1.jsonl.part").done();
    script(&shell, "cron.sh in seen.idx out");
    assert_eq!((lines(&shell, "out/1.jsonl.new.jsonl"), lines(&shell, "out/2.jsonl.new.jsonl")), (2, 0));
    shell.write("two.jsonl", PAGES.replace("http://a/", "http://c/").replace("heron", "cormorant on a post"));
    shell.sh("gzip -c two.jsonl > in/2.jsonl.gz").done();
    script(&shell, "cron.sh in seen.idx out");
    assert_eq!(shell.sh("ls -A out").done(), "1.jsonl.new.jsonl\n2.jsonl.gz.new.jsonl\n2.jsonl.new.jsonl\n");
    assert_eq!(lines(&shell, "out/2.jsonl.gz.new.jsonl"), 1);
}

#[test]
fn a_file_with_trouble_does_not_keep_the_next_from_its_turn() {
    let shell = Shell::new();
    shell.sh("mkdir in").done();
    shell.write("in/1.jsonl", format!("no JSON\n{PAGES}"));
    shell.write("cut.jsonl", PAGES.replace("http://a/", "http://cut/"));
    shell.sh("gzip -c cut.jsonl | head -c 60 > in/2.jsonl.gz").done();
    shell.write("in/3.jsonl", PAGES);
    // Of this one, some pages come before it breaks off.
    let page = |n: u64| {
        let words = (0..30).map(|word| format!("{:x} ", mix(100 * n + word))).collect::<String>();
        format!("{{\"url\":\"http://many/{n}\",\"text\":\"{words}\"}}\n")
    };
    shell.write("many.jsonl", (0..2000).map(page).collect::<String>());
    shell.sh("gzip -c many.jsonl | head -c 300000 > in/4.jsonl.gz").done();
    let first = run(&shell, "cron.sh in seen.idx out");
    assert_eq!(first.status, 2, "{}", first.stderr);
    assert!(first.stderr.contains("cron.sh: in/1.jsonl: some records could not be read\n"), "{}", first.stderr);
    assert!(first.stderr.contains("cron.sh: in/2.jsonl.gz: not done: it breaks off (status 2)\n"), "{}", first.stderr);
    assert!(first.stderr.contains("cron.sh: in/4.jsonl.gz: not done: it breaks off (status 3)\n"), "{}", first.stderr);
    let list = "1.jsonl.new.jsonl\n1.jsonl.rejected.jsonl\n2.jsonl.gz.rejected.jsonl\n3.jsonl.new.jsonl\n4.jsonl.gz.rejected.jsonl\n";
    assert_eq!(shell.sh("ls out").done(), list);
    assert_eq!((lines(&shell, "out/1.jsonl.new.jsonl"), lines(&shell, "out/3.jsonl.new.jsonl")), (2, 2));
    // The next night it has come whole.
    shell.sh("gzip -c cut.jsonl > in/2.jsonl.gz; gzip -c many.jsonl > in/4.jsonl.gz").done();
    script(&shell, "cron.sh in seen.idx out");
    assert_eq!([lines(&shell, "out/2.jsonl.gz.new.jsonl"), lines(&shell, "out/4.jsonl.gz.new.jsonl")], [0, 2000]);
}

/// The loop of the guide, and the scripts: what cannot be read is kept.
#[test]
fn what_cannot_be_read_is_not_lost() {
    let shell = Shell::new();
    let guide = fs::read_to_string(root().join("src/guide/filtering.md")).unwrap();
    let (_, rest) = guide.split_once("```sh\nend=0\nfor file in spool/*.jsonl").expect("the guide has the loop");
    let looped = format!("end=0\nfor file in spool/*.jsonl{}", rest.split_once("```\n").unwrap().0);
    shell.sh("mkdir spool fresh in").done();
    shell.write("spool/1.jsonl", format!("no JSON\n{PAGES}"));
    shell.write("spool/2.jsonl", PAGES.replace("\"text\"", "\"body\""));
    shell.write("spool/3.jsonl", PAGES);
    let run_loop = shell.sh(&looped);
    assert_eq!(run_loop.status, 2, "{}", run_loop.stderr);
    assert_eq!(shell.sh("ls spool fresh").done(), "fresh:\n1.jsonl\n3.jsonl\n\nspool:\n2.jsonl\n");
    assert_eq!((lines(&shell, "fresh/1.jsonl"), lines(&shell, "rejected.jsonl")), (2, 4));

    shell.write("in/1.jsonl", format!("no JSON\n{PAGES}"));
    shell.write("in/2.jsonl", PAGES.replace("\"text\"", "\"body\""));
    for _ in 0..2 {
        let night = run(&shell, "cron.sh in cron.idx out");
        assert_eq!(night.status, 2, "{}", night.stderr);
        assert!(night.stderr.contains("cron.sh: in/2.jsonl: not done: status 2\n"), "{}", night.stderr);
        assert_eq!(shell.sh("ls out").done(), "1.jsonl.new.jsonl\n1.jsonl.rejected.jsonl\n2.jsonl.rejected.jsonl\n");
        assert_eq!([1, 2].map(|file| lines(&shell, &format!("out/{file}.jsonl.rejected.jsonl"))), [1, 3]);
    }
    let pipe = run(&shell, "jsonl_pipe.sh pipe.idx fresh.jsonl dropped.jsonl < in/1.jsonl");
    assert_eq!((pipe.status, lines(&shell, "fresh.jsonl"), lines(&shell, "dropped.jsonl.rejected")), (3, 2, 1));
    assert_eq!(run(&shell, "jsonl_pipe.sh pipe.idx fresh.jsonl dropped.jsonl < in/2.jsonl").status, 2);
}

#[test]
fn a_file_that_was_stopped_at_is_not_done() {
    let shell = Shell::new();
    // Ends as a program does that a signal stopped.
    shell.sh("mkdir in bin; printf '#!/bin/sh\nhead -n 1\nexit 143\n' > bin/dedup; chmod +x bin/dedup").done();
    shell.write("in/1.jsonl", PAGES);
    shell.write("in/2.jsonl", PAGES.replace("http://a/", "http://b/"));
    let stopped =
        shell.sh(&format!("PATH=$PWD/bin:$PATH; {}/examples/crawl/cron.sh in seen.idx out", root().display()));
    assert_eq!((stopped.status, &*stopped.stderr), (143, "cron.sh: in/1.jsonl: not done: status 143\n"));
    assert_eq!(shell.sh("ls out").done(), "");
    script(&shell, "cron.sh in seen.idx out");
    assert_eq!((lines(&shell, "out/1.jsonl.new.jsonl"), lines(&shell, "out/2.jsonl.new.jsonl")), (2, 0));
}

/// Sends pages to a socket, all at once, and reads the answers.
fn crawl(socket: &std::path::Path, pages: &[String]) -> Vec<String> {
    let mut connection = UnixStream::connect(socket).unwrap();
    let (mut writer, sent) = (connection.try_clone().unwrap(), pages.concat());
    let writing = thread::spawn(move || {
        writer.write_all(sent.as_bytes()).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut answers = String::new();
    connection.read_to_string(&mut answers).unwrap();
    writing.join().unwrap();
    answers.lines().map(|line| format!("{line}\n")).collect()
}

/// A process that does not outlive the test.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        _ = self.0.kill();
    }
}

/// Lines that are no page with a text, and the answers to them.
const ODD: [(&str, &str); 6] = [
    ("\u{feff}", "\u{feff}"),
    ("\u{c}", "\u{c}"),
    ("\u{1f}\u{8b}\u{8}", "\u{1f}\u{8b}\u{8}"),
    ("WARC/1.0", "WARC/1.0"),
    ("[]", "[]"),
    (
        "{\"text\":null}",
        "{\"text\":null,\"dedup\":{\"error\":\"text field 'text' is null: there is no text to compare\"}}",
    ),
];

/// Three crawlers send pages to a server at once, and read the answers. Returns the server, and how many pages were new.
fn served(shell: &Shell, script: &std::path::Path) -> Option<(Ended, usize)> {
    let mut command = super::shell::command("python3", shell.folder());
    command.arg(script).args(["seen.sock", "--index", "seen.idx", "--id-field", "url"]);
    let Ok(server) = command.spawn() else {
        eprintln!("not tested: there is no python3");
        return None;
    };
    let mut server = Ended(server);
    let socket = shell.folder().join("seen.sock");
    let begun = Instant::now();
    while !socket.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60) && server.0.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(5));
    }
    // Every second page of a crawler is one that the others have too.
    let text = |number: usize| (0..9).map(|word| format!("w{}", number * 31 + word)).collect::<Vec<_>>().join(" ");
    let page = |crawler: usize, number: usize| {
        let shared = if number.is_multiple_of(2) { number } else { 10_000 * (crawler + 1) + number };
        format!("{{\"url\":\"http://{crawler}/{number}\",\"text\":\"{}\"}}", text(shared))
    };
    // Each line with its answer, if that does not depend on the pages before it. Blank lines have none. An odd line is the first.
    let lines = |crawler: usize| {
        let pages = (0..400).map(|number| (page(crawler, number), None));
        let odd = |at: usize| (ODD[at % 6].0.to_string(), Some(format!("{}\n", ODD[at % 6].1)));
        pages.enumerate().flat_map(|(at, page)| [odd(at + crawler), page]).collect::<Vec<_>>()
    };
    let crawlers: Vec<_> = (0..3).map(lines).collect();
    let answers: Vec<Vec<String>> = thread::scope(|scope| {
        let crawling: Vec<_> = crawlers
            .iter()
            .map(|lines| {
                let sent: Vec<String> = lines.iter().map(|(line, _)| format!("{line}\n \t\r\n")).collect();
                let socket = &socket;
                scope.spawn(move || crawl(socket, &sent))
            })
            .collect();
        crawling.into_iter().map(|crawler| crawler.join().unwrap()).collect()
    });
    let mut fresh = 0;
    for (lines, answers) in crawlers.iter().zip(&answers) {
        assert_eq!(lines.len(), answers.len());
        for ((line, expected), answer) in lines.iter().zip(answers) {
            if let Some(expected) = expected {
                assert_eq!(answer, expected);
                continue;
            }
            let marked = format!("{},\"dedup\":{{\"duplicate_of\":", line.strip_suffix('}').unwrap());
            let is_fresh = *answer == format!("{line}\n");
            assert!(is_fresh || answer.starts_with(&marked), "{answer} to {line}");
            fresh += usize::from(is_fresh);
        }
    }
    Some((server, fresh))
}

#[test]
fn several_crawlers_get_the_answers_to_their_own_pages() {
    let shell = Shell::new();
    let Some((mut server, fresh)) = served(&shell, &root().join("examples/crawl/serve.py")) else { return };
    assert_eq!(fresh, 200 + 3 * 200, "a shared page is new once");
    let ended = Command::new("kill").arg(server.0.id().to_string()).status().unwrap();
    // Some lines could not be read.
    assert!(ended.success() && server.0.wait().unwrap().code() == Some(3));
    assert!(shell.dedup("index verify seen.idx").stderr.contains("intact: 800 documents"));
}

#[test]
fn the_server_of_the_guide_is_a_whole_one() {
    let guide = fs::read_to_string(root().join("src/guide/filtering.md")).unwrap();
    let (_, block) = guide.split_once("```python\n").expect("it is the first block");
    let server = block.split_once("```\n").unwrap().0;
    assert!(server.lines().count() <= 33, "{server}");
    let shell = Shell::new();
    if shell.sh("python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'").status != 0 {
        eprintln!("not tested: there is no python3, or one before 3.11");
        return;
    }
    shell.write("server.py", server);
    let (_server, fresh) = served(&shell, &shell.folder().join("server.py")).unwrap();
    assert_eq!(fresh, 200 + 3 * 200, "a shared page is new once");
    // A filter that cannot start is a server that failed.
    assert_eq!(shell.sh("echo one two | dedup index add other.idx --format lines --threshold 0.9").status, 0);
    let failed = shell.sh("python3 server.py other.sock --index other.idx --threshold 0.5");
    assert!(failed.status == 2 && failed.stderr.contains("threshold"), "{failed:?}");
}
