//! The scripts of `examples/crawl/` do what they say, with the fixtures for a crawl.

use super::shell::{Shell, root};
use std::fs;

fn script(shell: &Shell, line: &str) -> String {
    shell.sh(&format!("{}/examples/crawl/{line}", root().display())).done()
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

#[cfg(feature = "main-content")]
#[test]
fn an_archive() {
    let shell = Shell::new();
    script(&shell, "warc_pipe.sh seen.idx < fixtures/warc/crawl.warc.gz > fresh.warc.gz");
    let kept = shell.dedup("scan fresh.warc.gz --emit verdicts -q").done();
    assert_eq!(kept.lines().count(), 2, "{kept}");
    script(&shell, "warc_pipe.sh seen.idx < fixtures/warc/crawl.warc.wet.gz > more.warc.gz");
    assert_eq!(shell.dedup("scan more.warc.gz --emit verdicts -q").done(), "");
}

#[test]
fn files_every_night_and_after_a_crash() {
    let shell = Shell::new();
    shell.sh("mkdir in").done();
    shell.write("in/1.jsonl", PAGES);
    shell.write("in/2.jsonl", PAGES.replace("http://a/", "http://b/"));
    // Cut short in the first file: it is in the index, and its output has not got its name.
    shell.sh("mkdir out; dedup filter -q --index seen.idx --id-field url < in/1.jsonl > out/.1.jsonl.part").done();
    script(&shell, "cron.sh in seen.idx out");
    assert_eq!((lines(&shell, "out/1.jsonl"), lines(&shell, "out/2.jsonl")), (2, 0));
    shell.sh("gzip -c in/1.jsonl > in/3.jsonl.gz").done();
    script(&shell, "cron.sh in seen.idx out");
    assert_eq!(shell.sh("ls -A out").done(), "1.jsonl\n2.jsonl\n3.jsonl\n");
    assert_eq!(lines(&shell, "out/3.jsonl"), 2);
}
