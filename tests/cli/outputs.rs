//! What a command may write: nothing that it reads, nothing twice, and nothing that it was not asked for. What a file that is replaced
//! keeps, and what a stream that is interrupted leaves.

use super::records;
use super::shell::{Run, Shell};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Stdio;

const POSTS: &str = r#"{"id":"a","text":"The old library on Mill Street opens at nine on weekdays."}
{"id":"b","text":"the old library on mill street opens at NINE on weekdays"}
{"id":"c","text":"A heron stood in the shallows for an hour without moving."}
{"id":"d","text":"A heron stood in the shallows for an hour, without moving!"}
"#;

/// All files under a folder with their content, links by where they lead.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap) {
        let name = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_string();
        let file_type = entry.file_type();
        if file_type.is_symlink() {
            found.insert(name, format!("→ {}", fs::read_link(entry.path()).unwrap().display()).into_bytes());
        } else if file_type.is_file() {
            found.insert(name, fs::read(entry.path()).unwrap());
        } else {
            assert!(file_type.is_dir() || file_type.is_fifo());
        }
    }
    found
}

/// Runs a line that must be refused as a whole: nothing is changed, and nothing made.
#[track_caller]
fn refused(shell: &Shell, line: &str) -> Run {
    let before = files(shell.folder());
    let run = shell.sh(line);
    assert_eq!((run.status, &*run.stdout), (2, ""), "{line}: {}", run.stderr);
    assert!(run.stderr.starts_with("dedup: error: usage: "), "{line}: {}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{line}: {}", run.stderr);
    assert!(before == files(shell.folder()), "{line}");
    run
}

#[test]
fn no_output_of_a_filter_is_another_file_of_it() {
    let shell = Shell::new();
    shell.write("posts.jsonl", POSTS);
    shell.write("lex", "");
    shell.sh("dedup filter --index a.idx -q < posts.jsonl > fresh.jsonl; mkdir deep; ln -s ../a.idx deep/link").done();
    shell.sh("ln -s posts.jsonl input; ln -s deep other; ln -s new deep/new-link").done();
    for line in [
        "dedup filter --index a.idx --stats a.idx < posts.jsonl",
        "dedup filter --index a.idx --stats deep/link < posts.jsonl",
        "dedup filter --index deep/link --stats other/../a.idx < posts.jsonl",
        "dedup filter --index a.idx --duplicates other/link < posts.jsonl",
        "dedup filter --index new.idx --stats ./new.idx < posts.jsonl",
        "dedup filter --index deep/new --stats other/new-link < posts.jsonl",
        "dedup filter --index new.idx --duplicates \"$PWD/new.idx\" < posts.jsonl",
        "dedup filter --stats s --duplicates ./s < posts.jsonl",
        "dedup filter --verdicts v --duplicates ./v < posts.jsonl",
        "dedup filter --verdicts v --rejects ./v < posts.jsonl",
        "dedup filter --stats s --verdicts ./s < posts.jsonl",
        "dedup filter --index a.idx --verdicts other/link < posts.jsonl",
        "dedup filter --verdicts input < posts.jsonl",
        "dedup filter --verdicts deep/../fresh.jsonl < posts.jsonl >> fresh.jsonl",
        "dedup filter --verdicts - < posts.jsonl",
        "dedup filter --stats posts.jsonl < posts.jsonl",
        "dedup filter --duplicates input < posts.jsonl",
        "dedup filter --stats input < posts.jsonl",
        "dedup filter --index posts.jsonl < posts.jsonl",
        "dedup filter --stats /dev/stdin < posts.jsonl",
        "dedup filter --index fresh.jsonl < posts.jsonl >> fresh.jsonl",
        "dedup filter --stats fresh.jsonl < posts.jsonl >> fresh.jsonl",
        "dedup filter --stats /dev/stdout < posts.jsonl >> fresh.jsonl",
        "dedup filter --duplicates deep/../fresh.jsonl < posts.jsonl >> fresh.jsonl",
        "dedup filter < fresh.jsonl >> fresh.jsonl",
        "dedup filter --lexicon lex --stats lex --algo imatch < posts.jsonl",
        "dedup filter --stopwords ./lex --stats lex < posts.jsonl",
        "dedup filter --duplicates - < posts.jsonl",
        "dedup filter --stats - < posts.jsonl",
        "dedup filter --index - < posts.jsonl",
        "dedup filter --index a.idx --stats .a.idx.dedup-0.tmp < posts.jsonl",
    ] {
        refused(&shell, line);
    }
    // Hard links are other names of the same file.
    shell.sh("ln a.idx hard.idx; ln posts.jsonl hard.jsonl; ln fresh.jsonl hard.fresh").done();
    for line in [
        "dedup filter --index a.idx --stats hard.idx < posts.jsonl",
        "dedup filter --index a.idx --duplicates hard.idx < posts.jsonl",
        "dedup filter --index a.idx --verdicts hard.idx < posts.jsonl",
        "dedup filter --stats hard.jsonl < posts.jsonl",
        "dedup filter --stats hard.fresh < posts.jsonl",
        "dedup filter --duplicates hard.fresh < posts.jsonl",
        "dedup filter < fresh.jsonl >> hard.fresh",
    ] {
        refused(&shell, line);
    }
    // Errors that go to a file that would be replaced.
    let run = shell.sh("dedup filter --stats log < posts.jsonl 2> log");
    assert_eq!((run.status, &*run.stdout), (2, ""));
}

#[test]
fn no_output_of_a_scan_is_an_input() {
    let shell = Shell::new();
    shell
        .sh("mkdir -p all/deep elsewhere all/.git; ln -s all link; ln -s ../elsewhere all/more; ln -s .. all/deep/up")
        .done();
    for name in ["all/a.txt", "all/deep/b.txt", "elsewhere/c.txt", "new.jsonl", "old.jsonl", "words.txt", "all/.hidden"]
    {
        shell.write(name, POSTS);
    }
    shell.sh("ln -s ../words.txt all/words; ln -s new.jsonl new").done();
    let scan = |line: &str| format!("dedup scan -q {line}");
    for line in [
        "new.jsonl --stats new.jsonl",
        "new.jsonl --stats new",
        "new --stats ./new.jsonl",
        "new.jsonl --against old.jsonl --stats old.jsonl",
        "new.jsonl --stopwords ./words.txt --stats words.txt",
        "new.jsonl --stats fresh.json >> fresh.json",
        "- --stats new.jsonl < new.jsonl",
        "--stats new.jsonl < new.jsonl",
        "new.jsonl >> new.jsonl",
        "new.jsonl --against old.jsonl >> old.jsonl",
        // Whatever is in a folder, now and in the next run.
        "all --stats all/a.txt",
        "all --stats all/new.json",
        "all --stats link/deep/new.json",
        "link --stats all/deep/b.txt",
        "all --stats elsewhere/c.txt",
        "all --stats words.txt",
        ". --stats stats.json",
        "new.jsonl --against all --stats all/a.txt",
        "all --hidden --stats all/.hidden",
        "all >> all/a.txt",
        "all >> words.txt",
    ] {
        // The shell makes it before it starts the program.
        shell.write("fresh.json", "");
        refused(&shell, &scan(line));
    }
    refused(&shell, "dedup lexicon build new.jsonl >> new.jsonl");
    refused(&shell, "dedup eval --truth old.jsonl new.jsonl >> old.jsonl");
    shell.sh("dedup filter -q --index a.idx < new.jsonl > fresh.jsonl; ln -s a.idx link.idx").done();
    for command in ["stats", "export", "get --ids-from new.jsonl", "query", "verify"] {
        refused(&shell, &format!("dedup index {command} a.idx >> link.idx < new.jsonl"));
    }
    refused(&shell, "dedup index add a.idx < a.idx");
    refused(&shell, "dedup eval --truth old.jsonl all --sweep --plot all/x.svg");
    refused(&shell, "dedup eval --truth old.jsonl new.jsonl --sweep --plot new.jsonl");
    // What is not read may be written.
    for line in [
        "all --stats all/.stats.json > all/pairs.jsonl",
        "all/a.txt --stats all/deep/b.txt",
        "new.jsonl --stats stats.json > pairs.jsonl 2>&1",
        "all > all/pairs.jsonl",
        "elsewhere --stats words.txt",
    ] {
        shell.sh(&scan(line)).done();
    }
    assert!(shell.folder().join("all/.stats.json").exists());
}

/// What moved to a folder or was written to it is not replaced by a report on it.
#[test]
fn no_output_of_a_cleaning_is_in_its_folder() {
    let shell = Shell::new();
    shell.sh("mkdir -p in md/sub o1/sub shards; ln -s md link; ln -s md/2.txt to-file; ln -s . md/back").done();
    shell.write("shards/c.jsonl", POSTS);
    for name in ["in/1.txt", "in/2.txt"] {
        shell.write(name, "A heron stood in the shallows for an hour without moving, and then it flew away.");
    }
    shell.sh("rm md/back").done();
    let move_to = |folder: &str, options: &str| format!("dedup clean in --move-duplicates {folder} -q {options}");
    let write_to = |folder: &str, options: &str| format!("dedup clean shards --output {folder} -q {options}");
    let others = |folder: &str| {
        ["--stats", "--rejects"].map(|flag| [format!("{flag} {folder}/2.txt"), format!("{flag} {folder}/new")]).concat()
    };
    let all = |shell: &Shell, folder: &str| {
        for option in others(folder) {
            let run = refused(shell, &move_to("md", &option));
            assert!(run.stderr.contains("is in md, the folder of --move-duplicates"), "{}", run.stderr);
        }
    };
    // Before there is anything, and through links.
    for folder in ["md", "link", "./md/../md", "\"$PWD\"/md", "md/sub", "link/_dedup"] {
        all(&shell, folder);
    }
    refused(&shell, &move_to("link", "--stats md/2.txt"));
    refused(&shell, &move_to("md", "--stats to-file"));
    refused(&shell, &move_to("md", "--dry-run --stats md/2.txt"));
    for folder in ["o1", "new", "new/deep"] {
        for option in ["--stats", "--rejects", "--report html=", "--stats ./"] {
            let option = option.strip_suffix("=").map_or(format!("{option} "), |start| format!("{start}="));
            let option = option.replace("./ ", "./");
            refused(&shell, &write_to(folder, &format!("{option}{folder}/c.jsonl")));
            refused(&shell, &write_to(folder, &format!("{option}{folder}/sub/new")));
        }
    }
    refused(&shell, &write_to("new", "--stats new"));
    // When a run has ended, and when it was interrupted.
    shell.sh("rmdir md/sub").done();
    shell.sh(&move_to("md", "--stats md-stats.json")).done();
    assert!(shell.folder().join("md/2.txt").exists());
    for folder in ["md", "link", "md/_dedup"] {
        all(&shell, folder);
    }
    refused(&shell, &move_to("md", "--stats md/_dedup/moved.jsonl"));
    refused(&shell, &move_to("md", "--stats to-file"));
    shell.sh("dedup clean --undo md -q").done();
    // A link in the folder leads to a file that is replaced.
    shell.sh("ln -s ../aside md/aside; touch aside").done();
    refused(&shell, &move_to("md", "--stats aside"));
}

#[test]
fn no_output_is_among_the_tables_of_an_index() {
    let shell = Shell::new();
    shell.write("posts.jsonl", POSTS);
    shell
        .sh("dedup filter --index a.idx -q < posts.jsonl > fresh.jsonl; mkdir a.idx.tables; ln -s a.idx.tables link")
        .done();
    shell.sh("touch a.idx.tables/segment-0 a.idx.tables/checkpoint").done();
    for option in ["--stats", "--rejects", "--verdicts", "--duplicates"] {
        for name in ["a.idx.tables/segment-0", "a.idx.tables/checkpoint", "a.idx.tables/new", "link/segment-0"] {
            refused(&shell, &format!("dedup filter --index a.idx {option} {name} < posts.jsonl"));
        }
        refused(&shell, &format!("dedup filter --index new.idx {option} new.idx.tables < posts.jsonl"));
    }
    shell.write("posts.jsonl", POSTS.replace("\"a\"", "\"e\""));
    shell.sh("dedup filter --index a.idx --stats a.idx.stats -q < posts.jsonl").done();
}

/// They would block, or have no end.
#[test]
fn an_index_is_a_regular_file() {
    let shell = Shell::new();
    shell.write("posts.jsonl", POSTS);
    shell.sh("mkfifo pipe; ln -s pipe link").done();
    for name in ["pipe", "link", "/dev/zero"] {
        for line in ["filter --index", "index stats", "index verify", "index add", "index compact"] {
            let run = shell.sh(&format!("timeout 20 dedup {line} {name} < posts.jsonl"));
            assert_eq!((run.status, &*run.stdout), (2, ""), "{line} {name}: {}", run.stderr);
            assert!(run.stderr.contains("it is not a regular file"), "{line} {name}: {}", run.stderr);
        }
    }
}

/// A link in the place of the folder leads to files of someone else.
#[test]
fn tables_of_an_index_do_not_go_through_a_link() {
    let shell = Shell::new();
    shell.write("posts.jsonl", POSTS);
    shell
        .sh("mkdir other; echo theirs > other/segment-0; echo theirs > other/checkpoint; ln -s other a.idx.tables")
        .done();
    for line in ["filter --index a.idx -q", "index stats a.idx", "index verify a.idx", "index compact a.idx"] {
        shell.sh(&format!("dedup {line} < posts.jsonl")).done();
        assert_eq!(shell.sh("cat other/*").done(), "theirs\ntheirs\n", "{line}");
        assert_eq!(shell.sh("ls -A other").done(), "checkpoint\nsegment-0\n", "{line}");
    }
}

#[test]
fn a_file_that_is_replaced_keeps_what_is_its_own() {
    let shell = Shell::new();
    shell.write("posts.jsonl", POSTS);
    shell.sh("mkdir deep; echo older > deep/stats.json; chmod 640 deep/stats.json; ln -s deep/stats.json link").done();
    // Left by a killed run; the temporary file of another output is ignored.
    shell.sh("echo > deep/.stats.json.dedup-0.tmp; echo > deep/.other.dedup-0.tmp").done();
    let old = fs::metadata(shell.folder().join("deep/stats.json")).unwrap();
    for line in ["dedup scan -q posts.jsonl --stats link", "dedup filter -q --stats link < posts.jsonl"] {
        shell.sh(line).done();
        let new = fs::metadata(shell.folder().join("deep/stats.json")).unwrap();
        assert!(new.len() > 10);
        assert_eq!((new.mode(), new.uid(), new.gid()), (old.mode(), old.uid(), old.gid()));
        assert_eq!(fs::read_link(shell.folder().join("link")).unwrap(), Path::new("deep/stats.json"));
    }
    assert_eq!(shell.sh("ls -A deep").done(), ".other.dedup-0.tmp\nstats.json\n");
    // A link to a file that is not there yet.
    shell.sh("ln -s deep/new.json new; dedup scan -q posts.jsonl --stats new").done();
    assert!(shell.folder().join("deep/new.json").is_file());
    // Pipes and devices are written to.
    assert_eq!(
        shell.sh("mkfifo pipe; wc -l < pipe & dedup scan -q posts.jsonl --stats pipe > out; wait").done().trim(),
        "1"
    );
    assert!(fs::metadata(shell.folder().join("pipe")).unwrap().file_type().is_fifo());
    shell.sh("dedup scan -q posts.jsonl --stats /dev/null").done();
}

#[test]
fn a_file_that_may_not_be_written_is_not_replaced() {
    let shell = Shell::new();
    shell.write("posts.jsonl", POSTS);
    shell.write("stats.json", "older\n");
    let path = shell.folder().join("stats.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::File::options().write(true).open(&path).is_ok() {
        eprintln!("skipped: whoever runs this may write everything");
        return;
    }
    assert_eq!(shell.dedup("scan posts.jsonl --stats stats.json").status, 2);
    assert_eq!(fs::read_to_string(path).unwrap(), "older\n");
}

const PAGE: &str = "Before the first start the server reads its settings from a file in the home folder of the user who runs it. If there \
    is no such file it makes one with careful values, prints where it lies, and waits until somebody presses a key, so that nothing \
    listens on a port that nobody wanted to open.\n";

/// A repository with copies in it, in a folder with other files.
fn repository(config: &str) -> Shell {
    let shell = Shell::new();
    shell.sh("mkdir -p repo/.git/hooks repo/docs outside; echo ref: x > repo/.git/HEAD").done();
    for name in ["repo/docs/a.md", "repo/docs/b.md"] {
        shell.write(name, PAGE);
    }
    for name in ["outside/x", "repo/.git/hooks/pre-commit"] {
        shell.write(name, "theirs\n");
    }
    shell.write("repo/dedup.toml", config);
    shell
}

#[test]
fn what_a_configuration_names_stays_inside_of_its_repository() {
    let here = "HERE";
    for (report, link) in [
        ("report = [\"jsonl=../outside/x\"]", None),
        ("report = [\"jsonl=../outside/new\"]", None),
        ("report = [\"jsonl=HERE/outside/x\"]", None),
        ("report = [\"human\", \"html=docs/../../outside/x\"]", None),
        ("report = [\"html=copies.html\"]", Some(("../outside/x", "copies.html"))),
        ("report = [\"html=copies.html\"]", Some(("../outside/new", "copies.html"))),
        ("report = [\"html=out/x\"]", Some(("../outside", "out"))),
        ("report = [\"html=one\"]", Some(("HERE/outside/x", "one"))),
        ("report = [\"human=.git/hooks/pre-commit\"]", None),
        ("report = [\"human=.GIT/config\"]", None),
        ("report = [\"human=hook\"]", Some((".git/hooks/pre-commit", "hook"))),
        ("report = [\"jsonl=/dev/null\"]", None),
        ("report = [\"jsonl=/dev/stderr\"]", None),
    ] {
        let shell = repository("");
        let full = shell.folder().canonicalize().unwrap();
        let absolute = |text: &str| text.replace(here, full.to_str().unwrap());
        shell.write("repo/dedup.toml", format!("[check]\npaths = [\"docs\"]\n{}\n", absolute(report)));
        shell.sh("mkdir -p repo/.GIT").done();
        if let Some((to, link)) = link {
            shell.sh(&format!("ln -s {} repo/{link}", absolute(to))).done();
        }
        for line in ["cd repo && dedup check", "cd repo/docs && dedup check", "dedup check --config repo/dedup.toml"] {
            refused(&shell, line);
        }
    }
    for (baseline, link) in
        [("../outside/x", None), ("../outside/new", None), ("b.json", Some("../outside/new")), (".git/config", None)]
    {
        let shell = repository(&format!("[check]\npaths = [\"docs\"]\nbaseline = \"{baseline}\"\n"));
        if let Some(to) = link {
            shell.sh(&format!("ln -s {to} repo/b.json")).done();
        }
        refused(&shell, "cd repo && dedup check --update-baseline");
    }
}

#[test]
fn what_a_configuration_may_name() {
    let shell = repository(
        "[check]\npaths = [\"docs\"]\nreport = [\"jsonl=out/deep/x\", \"html=link\"]\nbaseline = \"out/b.json\"\n",
    );
    shell
        .sh("mkdir -p repo/out/deep; ln -s out/page.html repo/link; cd repo/docs && dedup check -q --update-baseline")
        .done();
    for name in ["repo/out/deep/x", "repo/out/page.html", "repo/out/b.json"] {
        assert!(shell.folder().join(name).is_file(), "{name}");
    }
    assert!(fs::symlink_metadata(shell.folder().join("repo/link")).unwrap().is_symlink());
    // Options name any file.
    let typed = "dedup check -q --report jsonl=../outside/x --baseline ../outside/b.json --update-baseline";
    shell.sh(&format!("cd repo && {typed}")).done();
    assert!(fs::read_to_string(shell.folder().join("outside/x")).unwrap().starts_with('{'));
    assert!(shell.folder().join("outside/b.json").is_file());
    // Without a repository, the folder of the configuration.
    shell.sh("mkdir -p plain/docs; cp repo/docs/* plain/docs").done();
    for (name, status) in [("new", 1), ("docs/../new", 1), ("../new", 2)] {
        shell.write("plain/dedup.toml", format!("[check]\npaths = [\"docs\"]\nreport = [\"jsonl={name}\"]\n"));
        assert_eq!(shell.sh("cd plain && dedup check -q").status, status, "{name}");
    }
}

#[test]
fn a_link_in_a_repository_does_not_lead_an_option_out_of_it() {
    let shell = repository("");
    shell.sh("ln -s ../outside/x repo/copies.html; ln -s ../outside repo/out; ln -s repo/copies.html mine").done();
    for line in [
        "cd repo && dedup check docs --report html=copies.html",
        "cd repo && dedup check docs --report html=out/new",
        "dedup check repo/docs --report html=repo/copies.html",
        "dedup check repo/docs --report html=mine",
        "cd repo && dedup check docs --baseline out/new --update-baseline",
    ] {
        let run = refused(&shell, line);
        assert!(run.stderr.contains("leads out of the repository"), "{}", run.stderr);
    }
    // Nor does standard output add to a page.
    refused(&shell, "dedup check repo/docs >> repo/docs/a.md");
    // A link of one's own elsewhere, or to within the repository.
    shell.sh("ln -s outside/x own; ln -s new.html repo/inside").done();
    assert_eq!(shell.sh("dedup check repo/docs -q --report html=own --report jsonl=repo/inside").status, 1);
    assert!(fs::read_to_string(shell.folder().join("outside/x")).unwrap().starts_with("<!doctype html>"));
    assert!(shell.folder().join("repo/new.html").is_file());
}

/// So many documents, every second one like the one before it.
fn pairs(from: usize, count: usize) -> String {
    let number = |n: usize| (0..12).map(|k| format!("w{} ", n * 31 + k * 7919 * (n + 1))).collect::<String>();
    let one = |n: usize| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", number(n / 2));
    (from..from + count).map(one).collect()
}

#[test]
fn a_reader_that_went_away_is_an_error_if_something_is_remembered() {
    let shell = Shell::new();
    shell.write("all.jsonl", pairs(0, 8000));
    for (options, status) in [("", 0), ("--index seen.idx", 2)] {
        let mut child = shell.command(&format!("filter --stats stats.json {options}"));
        child
            .stdin(fs::File::open(shell.folder().join("all.jsonl")).unwrap())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.starts_with("{\"id\":\"0\""));
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status), "{said}");
        let stats = records::filter_stats(&fs::read_to_string(shell.folder().join("stats.json")).unwrap());
        if status == 0 {
            assert_eq!(said, "");
            assert!(stats.error.is_none());
        } else {
            let error = stats.error.unwrap();
            // After the summary of what left.
            let (summary, last) = said.split_at(said.trim_end().rfind('\n').unwrap() + 1);
            assert_eq!((&*error.kind, &*error.said()), ("output", last));
            assert!(summary.contains("dedup: not all of it was written") && summary.lines().count() == 3, "{summary}");
            assert!(
                error.message.contains("feed the input again from the line after the last one that arrived"),
                "{}",
                error.message
            );
        }
    }
    // Then everything arrives.
    let again = shell.sh("dedup filter --index seen.idx -q < all.jsonl").done();
    assert_eq!(again.lines().count(), 4000);
    // A pipe that was closed before.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = shell.command("filter --index other.idx -q");
    child.stdin(fs::File::open(shell.folder().join("all.jsonl")).unwrap()).stdout(writer).stderr(Stdio::piped());
    let run = Run::from(child.output().unwrap());
    assert_eq!(run.status, 2);
    assert!(run.stderr.starts_with("dedup: error: output: "), "{}", run.stderr);
}

#[test]
fn nothing_is_recorded_if_standard_output_is_closed() {
    let shell = Shell::new();
    shell.write("posts.jsonl", POSTS);
    for line in [
        "dedup filter --index seen.idx < posts.jsonl >&-",
        "dedup filter --index seen.idx --duplicates dropped.jsonl < posts.jsonl >&-",
        "dedup filter --index seen.idx < posts.jsonl 1< /dev/zero",
    ] {
        let run = shell.sh(line);
        assert_eq!(run.status, 2, "{line}");
        assert!(
            run.stderr.starts_with("dedup: error: output: cannot write results: standard output is "),
            "{}",
            run.stderr
        );
        assert_eq!(shell.sh("ls").done(), "fixtures\nposts.jsonl\n");
    }
    // That is meant: to remember, and let nothing through.
    shell.sh("dedup filter --index seen.idx -q < posts.jsonl > /dev/null").done();
    assert_eq!(shell.sh("dedup index export seen.idx").done().lines().count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn the_error_of_a_full_disk_names_what_to_feed_again() {
    let shell = Shell::new();
    shell.write("posts.jsonl", POSTS);
    let run = shell.sh("dedup filter --index seen.idx < posts.jsonl > /dev/full");
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("No space left on device") && run.stderr.contains("feed the input again from"),
        "{}",
        run.stderr
    );
    assert_eq!(shell.sh("dedup filter --index seen.idx -q < posts.jsonl").done().lines().count(), 2);
}

#[test]
fn an_index_that_is_full_counts_what_it_has_and_names_what_to_feed_again() {
    let shell = Shell::new();
    shell.write("all.jsonl", pairs(0, 400));
    // A limit on the size of files stands for a full disk, of 10 KB: the index would have 30.
    // What comes first leaves.
    let input = "(head -n 20 all.jsonl; until [ -s out ]; do sleep 0.01; done; tail -n +21 all.jsonl)";
    let line = format!("trap '' XFSZ; ulimit -f 20; : > out; {input} | dedup filter --index seen.idx | cat > out");
    let run = shell.sh(&line);
    assert!(
        run.stderr.contains("dedup: error: disk: ")
            && run.stderr.contains("; feed the input again from the line after"),
        "{}",
        run.stderr
    );
    let (_, now) = run.stderr.split_once(" remembered before, at least ").expect("the summary has it");
    let now: usize = now.split_once(" now\n").unwrap().0.parse().unwrap();
    // It may have more, of which none left.
    let found = shell.sh("dedup index export seen.idx 2> errors").stdout.lines().count();
    let left = fs::read_to_string(shell.folder().join("out")).unwrap().lines().count();
    assert!(left == now && now <= found && found < 200, "{left}, {now}, {found}");
    shell.sh("dedup filter --index seen.idx -q < all.jsonl > again").done();
    assert_eq!(fs::read_to_string(shell.folder().join("again")).unwrap().lines().count(), 200);
}

fn ids(shell: &Shell, name: &str) -> Vec<String> {
    let text = fs::read_to_string(shell.folder().join(name)).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    records::filter_verdicts(&text)
}

#[test]
fn a_repeated_verdict_is_written_once() {
    let shell = Shell::new();
    let odd = |from: usize, to: usize| (from..to).filter(|n| n % 2 == 1).map(|n| n.to_string()).collect::<Vec<_>>();
    let feed = |from: usize, to: usize| {
        shell.write("in.jsonl", pairs(from, to - from));
        shell.sh("dedup filter -q --index seen.idx --duplicates dropped.jsonl < in.jsonl").done();
        interrupted(&shell);
    };
    feed(0, 40);
    assert_eq!(ids(&shell, "dropped.jsonl"), odd(0, 40));
    // From the last line that arrived on, some documents before it, or all of them.
    for (from, to) in [(38, 60), (30, 70), (0, 80), (0, 80), (79, 90), (80, 90)] {
        feed(from, to);
        assert_eq!(ids(&shell, "dropped.jsonl"), odd(0, to), "{from} {to}");
    }
    // Torn at any position: repeated input completes it.
    let whole = fs::read(shell.folder().join("dropped.jsonl")).unwrap();
    for length in (0..whole.len()).step_by(37).chain(whole.len() - 80..whole.len()) {
        fs::write(shell.folder().join("dropped.jsonl"), &whole[..length]).unwrap();
        feed(0, 90);
        assert_eq!(ids(&shell, "dropped.jsonl"), odd(0, 90), "{length}");
    }
    // Only what the file ends with is a repetition, in its order; all else is written.
    for (ids_fed, expected) in
        [(vec![89, 85], 1), (vec![87, 85, 89], 3), (vec![85, 87, 89], 0), (vec![85, 87, 89, 85], 1)]
    {
        fs::write(shell.folder().join("dropped.jsonl"), &whole).unwrap();
        shell.write("in.jsonl", ids_fed.iter().map(|&id| pairs(id, 1)).collect::<String>());
        shell.sh("dedup filter -q --index seen.idx --duplicates dropped.jsonl < in.jsonl").done();
        interrupted(&shell);
        assert_eq!(ids(&shell, "dropped.jsonl").len(), 45 + expected, "{ids_fed:?}");
    }
}

/// Leaves the index in the state of a killed run: without the one-byte frame at its end that marks a complete write.
fn interrupted(shell: &Shell) {
    let index = fs::File::options().write(true).open(shell.folder().join("seen.idx")).unwrap();
    index.set_len(index.metadata().unwrap().len() - 17).unwrap();
}

/// What a killed run remembered and did not write looks like a known document.
#[test]
fn dropping_known_documents_after_an_interruption_is_warned_of() {
    let shell = Shell::new();
    shell.write("in.jsonl", pairs(0, 4));
    let run = |flags: &str| {
        let run = shell.sh(&format!("dedup filter --index seen.idx --stats stats.json {flags} < in.jsonl"));
        let stats = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
        [run.stderr, stats].map(|text| text.contains("the last run did not close the index"))
    };
    assert_eq!(run("--drop-known"), [false, false]);
    assert_eq!(run("--drop-known"), [false, false]);
    interrupted(&shell);
    assert_eq!(run("--drop-known"), [true, true]);
    // That run ended by itself.
    assert_eq!(run("--drop-known"), [false, false]);
    interrupted(&shell);
    // Fed again without it.
    assert_eq!(run(""), [false, false]);
    assert_eq!(run("--drop-known"), [false, false]);
}

#[test]
fn statistics_have_the_warning_about_a_field_that_no_record_has() {
    let shell = Shell::new();
    shell.write("in.jsonl", pairs(0, 4));
    let run = shell.sh("dedup filter --text-field txet --stats stats.json < in.jsonl");
    let stats = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
    for text in [&run.stderr, &stats] {
        assert!(text.contains("no record has a text in --text-field 'txet': is it mistyped?"), "{text}");
    }
}

#[test]
fn statistics_have_the_warning_about_documents_without_ids() {
    let shell = Shell::new();
    shell.write("in.jsonl", "{\"id\":1,\"text\":\"one two three\"}\n{\"text\":\"four five six\"}\n");
    for (index, expected) in [("--index seen.idx", true), ("", false)] {
        let run = shell.sh(&format!("dedup filter {index} --stats stats.json < in.jsonl"));
        let stats = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
        assert_eq!([&run.stderr, &stats].map(|text| text.contains("-:2 has no id: ")), [expected; 2], "{stats}");
    }
}

/// Shards that number from 0 all begin and end with the same ids. Behind a run that ended by itself nothing is a repetition.
#[test]
fn verdicts_on_the_same_ids_of_another_run_are_not_lost() {
    let shell = Shell::new();
    for (index, count) in [("--index seen.idx", 2), ("", 4)] {
        for text in ["the quick brown fox jumps over the lazy dog", "pack my box with five dozen liquor jugs"] {
            shell.write("in.jsonl", format!("{{\"id\":0,\"text\":\"{text}\"}}\n{{\"id\":1,\"text\":\"{text}\"}}\n"));
            shell.sh(&format!("dedup filter -q {index} --duplicates dropped.jsonl < in.jsonl")).done();
        }
        assert_eq!(ids(&shell, "dropped.jsonl").len(), count);
    }
}

#[test]
fn verdicts_after_kills_are_those_of_an_uninterrupted_run() {
    let shell = Shell::new();
    let all = pairs(0, 12_000);
    let records: Vec<&str> = all.split_inclusive('\n').collect();
    let place = |line: &str| records.iter().position(|record| *record == line).expect("it came byte for byte");
    let (mut last, mut kills) = (0, 0);
    loop {
        shell.write("in.jsonl", records[last..].concat());
        let mut child = shell
            .command("filter -q --index seen.idx --sync off --duplicates dropped.jsonl --verdicts all-verdicts.jsonl");
        child.stdin(fs::File::open(shell.folder().join("in.jsonl")).unwrap()).stdout(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut out = BufReader::with_capacity(256, child.stdout.take().unwrap());
        let arrived = (0..500).map_while(|_| {
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            line.ends_with('\n').then(|| place(&line))
        });
        let arrived: Vec<usize> = arrived.collect();
        assert_eq!(arrived.first(), Some(&last));
        last = *arrived.last().unwrap();
        if arrived.len() < 500 {
            assert!(child.wait().unwrap().success());
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    assert!(kills >= 10, "{kills}");
    let expected: Vec<String> = (0..12_000).filter(|n| n % 2 == 1).map(|n| n.to_string()).collect();
    assert_eq!(ids(&shell, "dropped.jsonl"), expected);
    let verdicts = records::filter_decisions(&fs::read_to_string(shell.folder().join("all-verdicts.jsonl")).unwrap());
    assert_eq!(verdicts.len(), 12_000);
    for (number, verdict) in verdicts.iter().enumerate() {
        assert_eq!((&*verdict.id, verdict.keep), (&*number.to_string(), number % 2 == 0));
    }
}

#[test]
fn verdicts_on_documents_without_ids_are_all_written() {
    let shell = Shell::new();
    shell.write("lines", "one two three four\none two three four\n");
    for count in 1..4 {
        shell.sh("dedup filter -q --format lines --duplicates dropped.jsonl < lines").done();
        assert_eq!(ids(&shell, "dropped.jsonl").len(), count);
    }
}

#[test]
fn a_file_of_duplicates_that_is_somebody_elses() {
    let shell = Shell::new();
    shell.write("posts.jsonl", POSTS);
    // Lines that this program did not write are kept, and so is a last one without an end.
    for (before, after) in [
        ("notes\nmore notes", "notes\nmore notes\n"),
        ("notes", "notes\n"),
        ("{\"type\":\"verdict\",\"id\"", ""),
        ("notes\n{", "notes\n"),
        ("", ""),
        ("{\"id\":\"d\"}\n", "{\"id\":\"d\"}\n"),
        ("notes\n\n", "notes\n\n"),
    ] {
        shell.write("dropped.jsonl", before);
        shell.sh("dedup filter -q --duplicates dropped.jsonl < posts.jsonl").done();
        let text = fs::read_to_string(shell.folder().join("dropped.jsonl")).unwrap();
        let verdicts = text.strip_prefix(after).unwrap_or_else(|| panic!("{before:?}: {text}"));
        assert_eq!(records::filter_verdicts(verdicts), ["b", "d"]);
    }
    // A pipe.
    let line = "mkfifo pipe; cat pipe > got & dedup filter -q --duplicates pipe < posts.jsonl > out; wait";
    shell.sh(line).done();
    assert_eq!(ids(&shell, "got"), ["b", "d"]);
}

#[test]
fn a_second_writer_of_duplicates_is_refused() {
    let shell = Shell::new();
    shell.write("posts.jsonl", POSTS);
    let mut first = shell.command("filter --duplicates dropped.jsonl -q");
    let mut first = first.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    first.stdin.as_mut().unwrap().write_all(POSTS.as_bytes()).unwrap();
    first.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let run = shell.sh("dedup filter -q --duplicates dropped.jsonl < posts.jsonl");
    assert_eq!((run.status, &*run.stdout), (2, ""));
    assert_eq!(run.stderr, "dedup: error: output: cannot write dropped.jsonl: another process writes to it\n");
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    assert_eq!(ids(&shell, "dropped.jsonl"), ["b", "d"]);
}

#[test]
fn a_full_disk_leaves_no_torn_verdict() {
    let shell = Shell::new();
    shell.write("all.jsonl", pairs(0, 400));
    // A limit on the size of files stands for a full disk: the write comes short, and the next one fails.
    let line = "trap '' XFSZ; ulimit -f 5; dedup filter -q --duplicates dropped.jsonl < all.jsonl | cat";
    let run = shell.sh(line);
    assert!(run.stderr.starts_with("dedup: error: output: cannot write dropped.jsonl: "), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    let written = ids(&shell, "dropped.jsonl");
    assert!((1..200).contains(&written.len()), "{}", written.len());
    // With space again, complete lines follow complete lines. Without an index, a repeated stream is not recognised.
    shell.sh("dedup filter -q --duplicates dropped.jsonl < all.jsonl").done();
    let expected: Vec<String> = (0..400).filter(|n| n % 2 == 1).map(|n| n.to_string()).collect();
    assert_eq!(ids(&shell, "dropped.jsonl"), [written, expected].concat());
}

#[test]
fn only_duplicates_have_a_mark() {
    let shell = Shell::new();
    let text = "\"text\":\"The old library on Mill Street opens at nine on weekdays.\"";
    let records = [
        format!("{{\"id\":\"a\",\"dedup\":{{\"duplicate_of\":\"x\"}},{text}}}"),
        format!("{{\"id\":\"b\",\"dedup\":null,{text},\"\\u0064edup\":[1]}}"),
        format!("{{ \"id\" : \"c\" , \"meta\" : {{ \"dedup\" : 1 }} , {text} }}"),
        "{\"id\":\"d\",\"text\":\"A heron stood in the shallows for an hour without moving.\"}".to_string(),
    ];
    shell.write("in.jsonl", records.join("\n"));
    let run = shell.sh("dedup filter --mark --stats stats.json < in.jsonl");
    assert!(
        run.stderr.contains("2 records had a field 'dedup' of their own, which was removed or replaced"),
        "{}",
        run.stderr
    );
    let out: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(out[0], format!("{{\"id\":\"a\",{text}}}"));
    assert_eq!(out[1], format!("{{\"id\":\"b\",{text},\"dedup\":{{\"duplicate_of\":\"a\",\"similarity\":1.0}}}}"));
    assert!(out[2].starts_with(&records[2][..records[2].len() - 1]), "{}", out[2]);
    assert_eq!(out[3], records[3]);
    for (line, is_marked) in out.iter().zip([false, true, true, false]) {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["dedup"]["duplicate_of"] == "a", is_marked);
        assert_eq!(record.get("dedup").is_some(), is_marked);
        assert!(line.matches("\"dedup\":{\"duplicate_of\"").count() <= 1);
    }
    let stats = records::filter_stats(&fs::read_to_string(shell.folder().join("stats.json")).unwrap());
    assert_eq!(stats.replaced_fields, Some(2));
    // Without --mark no field is ours.
    assert_eq!(shell.sh("dedup filter -q < in.jsonl").done().lines().next(), Some(&*records[0]));
    for flag in ["--text-field dedup.text", "--id-field dedup"] {
        refused(&shell, &format!("dedup filter --mark {flag} < in.jsonl"));
    }
}
