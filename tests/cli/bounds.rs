//! Memory is bounded by the limits, not by what comes in.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufWriter, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::shell::{Run, Shell};
use crate::support::random::Random;
use xxhash_rust::xxh3::Xxh3;

/// The most memory that a process has had so far, in bytes; `None` once it has ended.
fn peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Runs a command, feeds it, and watches how much memory it takes.
fn watched(mut command: Command, feed: impl FnOnce(&mut dyn Write) + Send) -> (Run, u64) {
    command.stdout(Stdio::null());
    watched_writing(command, feed, |_| ())
}

/// The same, with its output passed to `read` if it is piped.
fn watched_writing(
    mut command: Command,
    feed: impl FnOnce(&mut dyn Write) + Send,
    read: impl FnOnce(&mut dyn Read) + Send,
) -> (Run, u64) {
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let (mut stdin, stdout) = (child.stdin.take().expect("it is piped"), child.stdout.take());
    let mut most = 0;
    std::thread::scope(|scope| {
        scope.spawn(move || feed(&mut stdin));
        scope.spawn(move || {
            if let Some(mut stdout) = stdout {
                read(&mut stdout);
            }
        });
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

/// For a second reading, up to 8 MiB of standard input are kept in memory, and the rest in a file.
const LITTLE_WITH_STDIN: u64 = LITTLE + 8 * MIB;

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

/// The promise about the memory of the process, for `--memory 1M`: that, 100 MB, four times the largest record, and 70
/// bytes for each document.
fn promised(largest: usize, documents: u64) -> u64 {
    MIB + 100_000_000 + 4 * largest as u64 + 70 * documents
}

/// Runs a command on standard input with `--memory 1M` and 16 threads, and checks the promise.
#[track_caller]
fn check(arguments: &str, records: &[Vec<u8>], documents: u64, status: i32) -> Run {
    let shell = Shell::new();
    let format = if arguments.contains("--format") { "" } else { " --format lines" };
    let command = shell.command(&format!("{arguments}{format} --memory 1M -j16"));
    let (run, most) = watched(command, |stdin| _ = records.iter().try_for_each(|record| stdin.write_all(record)));
    assert_eq!(run.status, status, "{arguments}: {}", run.stderr);
    let largest = records.iter().flat_map(|lines| lines.split(|&b| b == b'\n')).map(<[u8]>::len).max().unwrap_or(0);
    let promised = promised(largest, documents);
    assert!((1..promised).contains(&most), "{arguments}: {} MB of {}", most / 1_000_000, promised / 1_000_000);
    run
}

/// Lines of many different words, every two alike.
fn long_lines(count: u64, bytes: usize) -> Vec<Vec<u8>> {
    let line = |number: u64| {
        let words = (0..bytes / 12)
            .map(|i| format!("{:011x}", (i as u64 + ((number / 2) << 40)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20));
        (words.collect::<Vec<_>>().join(" ") + "\n").into_bytes()
    };
    (0..count).map(line).collect()
}

#[test]
fn long_records_are_not_multiplied_by_threads() {
    let lines = long_lines(6, 4 << 20);
    for arguments in ["scan - --emit pairs", "scan - --algo simhash", "scan - --algo imatch --emit verdicts"] {
        check(arguments, &lines, 6, 0);
    }
}

/// Each thread has buffers that are used again for the next record.
#[test]
fn buffers_of_many_threads_are_not_as_large_as_records() {
    let mut random = Random::new(3);
    let mut lines = |count: u64, words: usize, different: usize| {
        let mut line = || (0..words).map(|_| format!("w{} ", random.below(different))).collect::<String>() + "\n";
        (0..count).map(|_| line().into_bytes()).collect::<Vec<_>>()
    };
    check("contain -", &lines(32, 450_000, 10), 32, 0);
    let lines = lines(40, 150_000, 50_000);
    check("passages -", &lines, 40, 0);
    check("scan - --mask numbers", &lines, 40, 0);
}

/// Copies of the text, and tokens that others are made of, are part of the memory: what does not fit is an error before it is taken.
#[test]
fn text_that_is_rewritten_is_counted() {
    let mut random = Random::new(5);
    let numbers = (0..3_000_000).map(|_| format!("w{} {} ", random.below(100), random.below(100)));
    let numbers = numbers.collect::<String>();
    for (arguments, text, status) in [
        ("scan - --tokenizer char:5", "\u{fdfa}".repeat(1_000_000), 2),
        ("scan - --mask numbers", numbers.clone(), 2),
        ("filter --mask numbers", numbers, 2),
        ("scan - --tokenizer char:5 --stopwords en", "the the the w ".repeat(600_000), 2),
        ("scan - --tokenizer jieba", "清华大学研究生".repeat(300_000), 2),
        ("scan -", "ที่นี่มีน้ำ".repeat(500_000), 2),
        ("scan - --shingle 5", "a b c d ".repeat(2_400_000), 0),
    ] {
        let run = check(arguments, &[(text + "\n").into_bytes()], 1, status);
        let error = "this record has too many tokens to be compared within --memory: allow more";
        assert_eq!(run.stderr.contains(error), status == 2, "{arguments}: {}", run.stderr);
    }
    check("scan - --tokenizer char:5", &long_lines(24, 1 << 20), 24, 0);
}

#[test]
fn fingerprints_that_do_not_fit_are_an_error() {
    let shell = Shell::new();
    // One word, which is cut into characters.
    let long = format!("{{\"id\":\"b\",\"text\":\"{}\"}}\n", "x".repeat(10_000_000));
    shell.write("all.jsonl", format!("{{\"id\":\"a\",\"text\":\"y\"}}\n{long}"));
    let run = shell.sh("dedup scan all.jsonl --emit fingerprints --memory 1M");
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(
        run.stderr.contains("dedup: error: memory: all.jsonl:2: this record has too many tokens"),
        "{}",
        run.stderr
    );
}

/// Runs a command on `all.jsonl`, which is its standard input too, with ample memory on one thread, and with `--memory 1M` on 16 within the
/// promise, for pairs on one too. It must print the same.
#[track_caller]
fn check_same(shell: &Shell, arguments: &str, largest: usize, documents: u64) -> String {
    let input = fs::read(shell.folder().join("all.jsonl")).expect("it was written");
    let printed = |arguments: &str| {
        let output = shell.folder().join("printed");
        let mut command = shell.command(arguments);
        command.stdout(fs::File::create(&output).expect("it can be made"));
        let (run, most) = watched_writing(command, |stdin| _ = stdin.write_all(&input), |_| ());
        assert_eq!(run.status, 0, "{arguments}: {}", run.stderr);
        (fs::read_to_string(&output).expect("it was written"), most)
    };
    let (expected, _) = printed(&format!("{arguments} --memory 4G -j1"));
    let threads = if arguments.contains("pairs") { &[1, 16][..] } else { &[16] };
    for threads in threads {
        let arguments = format!("{arguments} --memory 1M -j{threads}");
        let (found, most) = printed(&arguments);
        let promised = promised(largest, documents);
        assert!((1..promised).contains(&most), "{arguments}: {} MB of {}", most / 1_000_000, promised / 1_000_000);
        assert!(found == expected, "{arguments}: another result");
    }
    expected
}

/// More different terms than fit: most of them are in six texts, and some in one.
#[test]
fn terms_that_do_not_fit_are_counted() {
    const DOCUMENTS: u64 = 3000;
    let shell = Shell::new();
    let word = |number: u64| format!("{:x} ", number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24);
    let text = |number: u64| {
        let common = (0..200).map(|at| word(at / 2 + number % 3 * 40));
        let shared = (0..500).map(|at| word(1000 * (1 + number / 6) + at));
        let own = (0..number % 7 * 50).map(|at| word((1 << 32) + 1000 * number + at));
        common.chain(shared).chain(own).collect::<String>()
    };
    let line = |number: u64| format!("{{\"id\":\"d{number}\",\"text\":\"{}\"}}\n", text(number));
    shell.write("all.jsonl", (0..DOCUMENTS).map(line).collect::<String>());
    let pairs = check_same(&shell, "scan all.jsonl --algo imatch --emit pairs", 15_000, DOCUMENTS);
    // Every two of six.
    assert_eq!(pairs.lines().count(), 7500);
    for arguments in [
        "scan all.jsonl --algo imatch --emit fingerprints",
        "scan all.jsonl --algo imatch --emit kept --drop-rare 0.3 --drop-frequent 0.01",
        "scan all.jsonl --algo simhash --weights idf --emit verdicts --distance 8",
        "scan all.jsonl --algo projection --weights idf --cosine 0.9 --emit clusters",
        "lexicon build all.jsonl --min-df 1",
    ] {
        check_same(&shell, arguments, 15_000, DOCUMENTS);
    }
    let built = shell.sh("dedup lexicon build all.jsonl > all.lex");
    assert_eq!(built.status, 0, "{}", built.stderr);
    let by_file = check_same(&shell, "scan all.jsonl --algo imatch --lexicon all.lex --emit pairs", 15_000, DOCUMENTS);
    assert_eq!(by_file, pairs);
    for arguments in [
        "scan all.jsonl --algo projection --weights idf --lexicon all.lex --emit clusters",
        "filter --algo imatch --lexicon all.lex",
    ] {
        check_same(&shell, arguments, 15_000, DOCUMENTS);
    }
}

#[test]
fn terms_of_long_records_are_counted() {
    let shell = Shell::new();
    let lines = long_lines(6, 4 << 20);
    let largest = lines[0].len() + 30;
    let record = |(number, line): (usize, &Vec<u8>)| {
        let own = if number == 5 { " and another word" } else { "" };
        format!("{{\"id\":\"d{number}\",\"text\":\"{}{own}\"}}\n", str::from_utf8(line).expect("hexadecimal").trim())
    };
    shell.write("all.jsonl", lines.iter().enumerate().map(record).collect::<String>());
    let verdicts = check_same(&shell, "scan all.jsonl --algo imatch --emit verdicts", largest, 6);
    assert_eq!(verdicts.matches("\"duplicate_of\"").count(), 3, "{verdicts}");
    check_same(&shell, "scan all.jsonl --algo imatch --emit fingerprints", largest, 6);
    check_same(&shell, "lexicon build all.jsonl", largest, 6);
}

#[test]
fn long_records_of_a_stream_are_not_multiplied_by_threads() {
    let lines = long_lines(6, 4 << 20);
    check("filter --algo simhash", &lines, 6, 0);
    // Two of them are more than the index may take.
    let run = check("filter", &lines, 6, 2);
    assert!(run.stderr.contains("error: memory: remembering "), "{}", run.stderr);
}

/// All in memory, its tables would take 200 MB.
#[test]
fn an_index_is_made_and_asked_within_its_memory() {
    const DOCUMENTS: u64 = 400_000;
    let shell = Shell::new();
    // What a query takes does not depend on how many there are.
    for (arguments, lines) in [("index add some.idx", DOCUMENTS), ("index query some.idx", DOCUMENTS / 8)] {
        let command = shell.command(&format!("{arguments} --format lines --memory 32M -j2"));
        let (run, most) = watched(command, |stdin| {
            let mut stdin = BufWriter::new(stdin);
            _ = (0..lines).try_for_each(|number| writeln!(stdin, "w{number} x{} y{} z", number / 3, number / 7));
        });
        assert_eq!(run.status, 0, "{arguments}: {}", run.stderr);
        let promised = 31 * MIB + promised(100, DOCUMENTS);
        assert!((1..promised).contains(&most), "{arguments}: {} MB of {}", most / 1_000_000, promised / 1_000_000);
    }
    let run = shell.sh("echo one two three four | dedup index query some.idx --format lines --memory 1M");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("when it is opened, more than 1 MiB (--memory): allow more"), "{}", run.stderr);
}

/// Documents that a window forgets do not fill the memory, also where too few are forgotten for new tables to be worth their while.
#[test]
fn a_window_takes_the_memory_of_its_documents() {
    let shell = Shell::new();
    let frame: String = (0..520).map(|word| format!("b{word} ")).collect();
    let page = |n: u64| frame.clone() + &(0..100).map(|word| format!("w{n}x{word} ")).collect::<String>() + "\n";
    shell.write("pages.txt", (0..4000).map(page).collect::<String>());
    let filter = "dedup filter --format lines < pages.txt";
    let run = shell.sh(&format!("{filter} --window 100 --memory 2M"));
    assert_eq!((run.status, run.stdout.lines().count()), (0, 4000), "{}", run.stderr);
    // A full index goes on with a window.
    let full = shell.sh(&format!("{filter} --index seen.idx --memory 1M"));
    assert!(full.status == 2 && full.stderr.contains("takes more than 1 MiB"), "{}", full.stderr);
    let run = shell.sh(&format!("{filter} --index seen.idx --window 1000 --memory 1M"));
    assert_eq!((run.status, run.stdout.lines().count()), (0, 4000), "{}", run.stderr);
}

/// Pages of one template, whose features do not fit: eight million pairs would take 256 MB.
#[test]
fn pages_of_one_template_are_not_paired_with_each_other() {
    let common: String = (0..300).map(|word| format!("c{word} ")).collect();
    let page = |number: u64| format!("{common}w{number} x{number}\n").into_bytes();
    let pages: Vec<Vec<u8>> = (0..4000).map(page).collect();
    for emit in ["verdicts", "clusters"] {
        let run = check(&format!("scan - --emit {emit} --shingle 1"), &pages, 4000, 0);
        assert!(run.stderr.contains(" 3,999 documents not kept") || emit == "clusters", "{}", run.stderr);
        assert!(run.stderr.contains("temporary file"), "{}", run.stderr);
    }
}

#[test]
fn a_long_token_is_not_multiplied() {
    let token = |n: u8| [vec![b'x'; 2 << 20], vec![b'0' + n / 2, b'\n']].concat();
    let tokens: Vec<Vec<u8>> = (0..4).map(token).collect();
    // Runs of four characters of it are compared, because it is one word.
    let run = check("scan - --emit pairs", &tokens, 4, 0);
    assert!(run.stderr.contains("on char:4 tokens"), "{}", run.stderr);
    check("filter", &tokens, 4, 0);
}

#[test]
fn a_record_with_too_many_tokens_ends_the_run() {
    let line = [&b"a ".repeat(12 << 20)[..], b"\n"].concat();
    for arguments in ["scan - --tokenizer char:3", "filter --tokenizer char:3"] {
        let run = check(arguments, std::slice::from_ref(&line), 1, 2);
        let message = "error: memory: -:1: this record has too many tokens to be compared within --memory: allow more";
        assert!(run.stderr.contains(message), "{arguments}: {}", run.stderr);
    }
}

/// Two fifths of the texts are in crowds of forty that differ in a word: more pairs than are listed. With tables, their groups
/// took 100 MB.
#[test]
fn many_tables_are_not_made() {
    let word = |number: u64| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40).to_string();
    let line = |number: u64| {
        let text = if number % 5 < 2 { number % 300 } else { number };
        let words = (0..60).map(|at| word(64 * if at == number % 60 { number + (1 << 20) } else { text } + at));
        (words.collect::<Vec<_>>().join(" ") + "\n").into_bytes()
    };
    let lines: Vec<Vec<u8>> = (0..30_000).map(line).collect();
    check("scan - --algo simhash --distance 10 --tables 286 --emit verdicts", &lines, 30_000, 0);
}

/// Every two lines have so many words in common that no other line has, and a word of their own.
fn alike_in_pairs(count: u64, words: u64) -> Vec<Vec<u8>> {
    let word = |number: u64| format!("{:x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40);
    let line = |number: u64| {
        let shared = (0..words).map(|n| format!("the {} ", word(number / 2 * words + n)));
        format!("{}{}\n", shared.collect::<String>(), word(number + (1 << 40))).into_bytes()
    };
    (0..count).map(line).collect()
}

/// Once, features were counted in 16 MiB, and those that are common in 128 MiB, whatever `--memory` said. Which documents share
/// a key took several times the memory of the keys.
#[test]
fn features_are_counted_and_grouped_within_the_memory() {
    const DOCUMENTS: u64 = 30_000;
    let lines = alike_in_pairs(DOCUMENTS, 100);
    for arguments in ["scan - --exact", "scan - --algo spotsigs", "scan - --drop-common 0.001"] {
        for emit in ["pairs", "verdicts"] {
            let run = check(&format!("{arguments} --emit {emit}"), &lines, DOCUMENTS, 0);
            let found = if emit == "pairs" { "15,000 near-duplicate pairs" } else { "15,000 documents not kept" };
            assert!(run.stderr.contains(found), "{arguments} --emit {emit}: {}", run.stderr);
        }
    }
    // So many share a class that all are counted one by one, most of them in a file.
    let run = check("scan - --shingle 1 --drop-common 0.002", &alike_in_pairs(1000, 5000), 1000, 0);
    assert!(run.stderr.contains("common features 1\n"), "{}", run.stderr);
    let run = check("scan - --shingle 1 --drop-common 0.001", &alike_in_pairs(1000, 5000), 1000, 2);
    let message = "features that at least 2 documents have do not fit --memory (1048576 bytes): allow more";
    assert!(run.stderr.contains(message), "{}", run.stderr);
}

/// Each stretch of such a text is similar to all others.
#[test]
fn a_text_of_two_words_takes_little_memory() {
    let mut random = Random::new(7);
    let text = (0..700_000).map(|_| ["a ", "b "][random.below(2)]).collect::<String>() + "\n";
    let lines = [text.into_bytes()];
    let run = check("passages - --min-words 5", &lines, 1, 0);
    let passages =
        run.stderr.split("1 document: ").nth(1).and_then(|rest| rest.split(" passages").next()).unwrap_or_default();
    assert!(passages.replace(',', "").parse::<u64>().is_ok_and(|passages| passages > 1000), "{}", run.stderr);
    let run = check("passages - --min-words 5 --exact --emit kept", &lines, 1, 0);
    assert!(run.stderr.contains(" places in 1 document\n"), "{}", run.stderr);
    // With passages of one word, alignments have many parts.
    let text =
        (0..250_000).map(|_| ["a ", "b ", "c ", "d ", "e ", "f ", "g ", "h "][random.below(8)]).collect::<String>();
    check("passages - --min-words 1", &[(text + "\n").into_bytes()], 1, 0);
}

/// In each row of CSV the text is far to the right, and more columns follow.
#[test]
fn millions_of_columns_take_little_memory() {
    let (before, after) = (",".repeat(8_000_000), ",".repeat(8_000_000));
    let header = [format!("{before}text{after}\n").into_bytes()];
    let row = |n: u64| format!("{before}one two three four five six seven {n}{after}\n").into_bytes();
    let rows = [&header[..], &[row(1), row(1)]].concat();
    for (arguments, found) in [
        ("scan -", ": 1 near-duplicate pair"),
        ("passages - --min-words 3 --exact --emit kept", "; 1 document with 8 words left out"),
    ] {
        let run = check(&format!("{arguments} --format csv"), &rows, 2, 0);
        assert!(run.stderr.contains(found), "{arguments}: {}", run.stderr);
    }
}

/// The ids are nearly all of these records.
#[test]
fn long_ids_are_counted() {
    let line = |n: u64| format!("{{\"id\":\"{n}-{}\",\"text\":\"a{n} b{n} c{n}\"}}\n", "x".repeat(1000)).into_bytes();
    let lines: Vec<Vec<u8>> = (0..100_000).map(line).collect();
    for arguments in ["passages -", "passages - --exact", "contain -"] {
        let run = check(&format!("{arguments} --format jsonl"), &lines, 100_000, 2);
        assert!(run.stderr.contains("documents do not fit --memory (1048576 bytes): allow more"), "{}", run.stderr);
    }
}

/// With so short passages, every k-gram is selected: what is made of a text takes ten times as much, and was not counted.
#[test]
fn short_passages_take_little_memory() {
    const DOCUMENTS: u64 = 30_000;
    let lines = alike_in_pairs(DOCUMENTS, 8);
    let word = |number: u64| format!(" {:x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40);
    let longer = |(number, mut line): (u64, Vec<u8>)| {
        line.pop();
        line.extend((0..100).flat_map(|at| word((2 << 40) + 100 * number + at).into_bytes()));
        line.push(b'\n');
        line
    };
    let lines: Vec<Vec<u8>> = (0..).zip(lines).map(longer).collect();
    for arguments in ["--exact --emit spans", "--exact", "", "--exact --emit kept"] {
        let run = check(&format!("passages - --min-words 5 {arguments}"), &lines, DOCUMENTS, 0);
        assert!(arguments.contains("emit") || run.stderr.contains(": 15,000 passages"), "{}", run.stderr);
    }
}

/// Every two are contained in each other, and all share a run.
#[test]
fn many_contained_documents_take_little_memory() {
    const DOCUMENTS: u64 = 150_000;
    let lines: Vec<Vec<u8>> =
        (0..DOCUMENTS).map(|number| format!("one two three w{}\n", number / 2).into_bytes()).collect();
    check("contain - --shingle 2", &lines, DOCUMENTS, 0);
    check("contain - --shingle 2 --min-coverage 1 --emit pairs", &lines, DOCUMENTS, 0);
    check("contain - --shingle 2 --min-coverage 1 --emit verdicts", &lines, DOCUMENTS, 0);
    check("contain - --shingle 2 --min-coverage 0.9 --emit kept", &lines, DOCUMENTS, 0);
}

/// Once in a map, with their texts, each took some 300 bytes.
#[test]
fn many_decisions_take_little_memory() {
    const DOCUMENTS: u64 = 300_000;
    let shell = Shell::new();
    let line = |number: u64| format!("{{\"id\":\"d{number}\",\"text\":\"w{number} x{}\"}}\n", number / 3);
    shell.write("all.jsonl", (0..DOCUMENTS).map(line).collect::<String>());
    let named = |number: u64| format!("{{\"type\":\"decision\",\"keep\":\"d{number}\"}}\n");
    let located = |number: u64| {
        let record = number + 1;
        format!("{{\"type\":\"decision\",\"keep\":\"d{number}\",\"file\":\"all.jsonl\",\"record\":{record}}}\n")
    };
    let decision = |number: u64| if number.is_multiple_of(2) { named(number) } else { located(number) };
    shell.write("decisions.jsonl", (0..DOCUMENTS).map(decision).collect::<String>());
    let (run, most) =
        watched(shell.command("scan all.jsonl --emit clusters --decisions decisions.jsonl --memory 1M -j2"), |_| {});
    assert_eq!(run.status, 0, "{}", run.stderr);
    let promised = promised(100, DOCUMENTS);
    assert!((1..promised).contains(&most), "{} MB of {}", most / 1_000_000, promised / 1_000_000);
}

#[test]
fn windows_of_decoders_are_bounded() {
    let shell = Shell::new();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("there is an encoder");
    encoder.window_log(28).expect("it is a window");
    (0..20).try_for_each(|_| encoder.write_all(&[b'x'; 1 << 20])).expect("a vector grows");
    shell.write("wide.txt.zst", encoder.finish().expect("a vector grows"));
    let (run, most) = watched(shell.command("scan wide.txt.zst --memory 1M"), |_| {});
    let message =
        "wide.txt.zst: zstd data needs a window of 256 MiB, and 8 MiB is allowed (allow more with --max-window)";
    assert!(run.status == 2 && run.stderr.contains(message), "{}", run.stderr);
    assert!((1..promised(0, 0)).contains(&most), "{} MiB", most / MIB);
    // It is part of the memory of the process.
    let little = shell.dedup("scan wide.txt.zst --memory 32M");
    assert!(little.stderr.contains("needs a window of 256 MiB, and 32 MiB is allowed"), "{}", little.stderr);
    let allowed = shell.dedup("scan wide.txt.zst --max-window 256M --max-expansion 1000000");
    assert_eq!(allowed.status, 0, "{}", allowed.stderr);
}

/// What a command writes: its size, its lines and its hash.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Written {
    bytes: u64,
    lines: u64,
    hash: u64,
}

impl Written {
    fn read(stdout: &mut dyn Read) -> Self {
        let (mut written, mut hash, mut buffer) = (Written::default(), Xxh3::new(), vec![0; 1 << 16]);
        loop {
            let read = stdout.read(&mut buffer).expect("a pipe can be read");
            if read == 0 {
                return Written { hash: hash.digest(), ..written };
            }
            hash.update(&buffer[..read]);
            written.bytes += read as u64;
            written.lines += buffer[..read].iter().filter(|&&byte| byte == b'\n').count() as u64;
        }
    }
}

/// Runs a command and watches how much memory it takes. Returns what it wrote too.
fn writing(mut command: Command) -> (Run, Written, u64) {
    let mut written = Written::default();
    command.stdout(Stdio::piped());
    let (run, most) = watched_writing(command, |_| {}, |stdout| written = Written::read(stdout));
    (run, written, most)
}

/// Runs a command with little memory and many threads, and with much memory and few: the same is written, and files `made` are the
/// same. Checks the promise of the first run, which must use a temporary file. Returns the number of lines.
#[track_caller]
fn check_pairs(shell: &Shell, arguments: &str, documents: u64, made: &[&str]) -> u64 {
    let run = |options: &str| {
        let (run, written, most) = writing(shell.command(&format!("{arguments} {options}")));
        assert_eq!(run.status, 0, "{arguments} {options}: {}", run.stderr);
        let files: Vec<Vec<u8>> = made.iter().map(|name| fs::read(shell.folder().join(name)).unwrap()).collect();
        (run, (written, files), most)
    };
    let (_, expected, _) = run("--memory 8G -j2");
    let (bounded, found, most) = run("--memory 1M -j16");
    assert!(found == expected, "{arguments}: {:?} and {:?}", found.0, expected.0);
    assert!(
        arguments.starts_with("eval") || bounded.stderr.contains("pairs went to temporary files"),
        "{}",
        bounded.stderr
    );
    let promised = promised(1000, documents);
    assert!((1..promised).contains(&most), "{arguments}: {} MB of {}", most / 1_000_000, promised / 1_000_000);
    found.0.lines
}

/// Pages of one template that are all alike: of 2,400 the pairs once took 92 MB.
fn template(shell: &Shell, pages: u64) {
    let common: String = (0..60).map(|word| format!("c{word} ")).collect();
    let page = |n: u64| format!("{{\"id\":\"http://h{n}.example/{n}\",\"text\":\"{common}w{n} x{}\"}}\n", n % 7);
    shell.write("pages.jsonl", (0..pages).map(page).collect::<String>());
}

#[test]
fn pairs_that_do_not_fit_memory_go_to_a_file() {
    let (shell, pages) = (Shell::new(), 2400);
    template(&shell, pages);
    let pairs = pages * (pages - 1) / 2;
    for arguments in [
        "scan pages.jsonl --shingle 1",
        "scan pages.jsonl --algo simhash --force --distance 20",
        "scan pages.jsonl --shingle 1 --emit hosts",
    ] {
        assert_eq!(check_pairs(&shell, arguments, pages, &[]), pairs, "{arguments}");
    }
    // What is kept is decided from all pairs.
    check_pairs(&shell, "scan pages.jsonl --shingle 1 --keep last --report html=page.html", pages, &["page.html"]);
}

/// Texts that differ too much to be similar are kept, and each is similar to each of many texts with copies, which were dropped
/// before: five million pairs may decide which of them explains a copy.
#[test]
fn pairs_of_kept_texts_and_copies_do_not_fill_memory() {
    const TEXTS: u64 = 2200;
    let shell = Shell::new();
    let mut random = Random::new(1);
    let frame: Vec<String> = (0..100).map(|word| format!("b{word}")).collect();
    let mut kept = |n: u64| {
        let mut words = frame.clone();
        (0..8).for_each(|own| _ = std::mem::replace(&mut words[random.below(12) + 12 * own], format!("f{n}x{own}")));
        words.join(" ") + "\n"
    };
    let copied = |n: u64| format!("{} c{n}\n", frame.join(" ")).repeat(2);
    let lines = [kept(0), (0..TEXTS).map(copied).collect(), (1..TEXTS).map(kept).collect()].concat();
    shell.write("all.txt", lines);
    check_pairs(&shell, "scan all.txt --format lines --shingle 1 --emit verdicts", 3 * TEXTS, &[]);
}

#[test]
fn pairs_that_are_measured_do_not_fill_memory() {
    let (shell, pages) = (Shell::new(), 2400);
    template(&shell, pages);
    shell.write("truth.jsonl", "{\"a\":\"http://h0.example/0\",\"b\":\"http://h1.example/1\"}\n");
    for arguments in
        ["eval --truth truth.jsonl pages.jsonl --shingle 1", "eval --truth truth.jsonl pages.jsonl --sweep"]
    {
        assert!(check_pairs(&shell, arguments, pages, &[]) > 0);
    }
}

/// Long ids make long lines, of which as many wait to be written as threads make.
#[test]
fn lines_of_pairs_do_not_fill_memory() {
    let (shell, pages) = (Shell::new(), 300);
    let id = "i".repeat(20_000);
    let page = |n: u64| format!("{{\"id\":\"{id}{n}\",\"text\":\"the same words of all pages, and w{}\"}}\n", n / 2);
    shell.write("pages.jsonl", (0..pages).map(page).collect::<String>());
    let run =
        |options: &str| writing(shell.command(&format!("scan pages.jsonl --shingle 1 --threshold 0.5 {options}")));
    let ((run, written, most), (_, expected, _)) = (run("--memory 1M -j16"), run("--memory 1G -j1"));
    assert_eq!((run.status, written, written.lines), (0, expected, pages * (pages - 1) / 2), "{}", run.stderr);
    let promised = promised(20_100, pages);
    assert!((1..promised).contains(&most), "{} MB of {}", most / 1_000_000, promised / 1_000_000);
}

/// The temporary files of a process that are in a folder, all without a name.
fn unnamed_files(child: &Child, folder: &std::path::Path) -> usize {
    let Ok(open) = fs::read_dir(format!("/proc/{}/fd", child.id())) else { return 0 };
    let links = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links.filter(|link| link.starts_with(folder) && link.to_string_lossy().ends_with(" (deleted)")).count()
}

#[test]
fn pairs_in_a_file_vanish_with_the_process() {
    let shell = Shell::new();
    template(&shell, 2000);
    let folder = shell.folder().join("temporary");
    fs::create_dir(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    let mut command = shell.command("scan pages.jsonl --shingle 1 --memory 1M --temp-dir temporary -q");
    // Its output is not read, so that it does not end.
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 1 << 16]).unwrap();
    assert!(unnamed_files(&child, &folder) > 0);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn pairs_that_do_not_fit_the_temporary_folder_are_an_error() {
    let shell = Shell::new();
    template(&shell, 2000);
    shell.sh("mkdir temporary").done();
    for emit in ["pairs", "hosts"] {
        // A limit on the size of files stands for a full disk: what else is stored there takes less.
        let options = format!("--shingle 1 --memory 1M -j2 --temp-dir temporary --stats stats.json --emit {emit} -q");
        let run = shell.sh(&format!("trap '' XFSZ; ulimit -f 5000; dedup scan pages.jsonl {options}"));
        assert_eq!((run.status, &*run.stdout), (2, ""), "{emit}: {}", run.stderr);
        let expected = "dedup: error: disk: cannot write pairs to a temporary file in temporary (choose another with \
                        --temp-dir): File too large";
        assert!(run.stderr.starts_with(expected), "{emit}: {}", run.stderr);
        let stats = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
        assert!(stats.contains("\"error\":{\"kind\":\"disk\""), "{emit}: {stats}");
    }
}

#[test]
fn very_many_pairs_are_announced() {
    let shell = Shell::new();
    let copies =
        |count| shell.sh(&format!("yes 'one two three' | head -{count} | dedup scan - --format lines | head -1"));
    let announced = "up to 10,577,700 pairs may be near-duplicates; a scan with --emit verdicts, --emit clusters or --emit kept compares far fewer";
    let many = copies(4600);
    assert!(many.stdout.lines().count() == 1 && many.stderr.contains(announced), "{}", many.stderr);
    assert!(!copies(4400).stderr.contains("may be near-duplicates"));
}

/// One place of equal pages is in a pair with each of the others: what a place has is not multiplied by its pairs.
#[test]
fn equal_pages_take_memory_for_each_once() {
    const PAGES: u64 = 6_000;
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("docs")).expect("a folder is made");
    let words: String = (0..60).map(|number| format!("word{number} ")).collect();
    for number in 0..PAGES {
        shell.write(&format!("docs/{number}.md"), &words);
    }
    let (run, most) = watched(shell.command("check docs -q -j2"), |_| {});
    assert_eq!(run.status, 1, "{}", run.stderr);
    let promised = 48 * MIB + PAGES * (12 << 10);
    assert!((1..promised).contains(&most), "{} MiB of {}", most / MIB, promised / MIB);
}
