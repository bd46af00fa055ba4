//! `dedup filter --mark --on-error keep` as a server runs it: each line that is not blank has one answer, in its place.

use super::shell::{Run, Shell};
use serde_json::Value;

const SERVER: &str = "dedup filter --mark --on-error keep --format jsonl --compression none -q";

/// Runs a server on these lines. Returns the answers, byte for byte.
fn answers(shell: &Shell, options: &str, input: &[u8]) -> (Run, Vec<Vec<u8>>) {
    shell.write("lines", input);
    let run = shell.sh(&format!("{SERVER} {options} < lines > answers"));
    let answers = std::fs::read(shell.folder().join("answers")).unwrap();
    (run, answers.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect())
}

fn page(id: usize) -> Vec<u8> {
    format!("{{\"id\":{id},\"text\":\"a{id} b{id} c{id} d{id} e{id} f{id}\"}}\n").into_bytes()
}

#[test]
fn each_line_that_is_not_blank_has_an_answer() {
    let others: [&[u8]; 22] = [
        b"\xef\xbb\xbf",
        b"\x0c",
        b"\x0b",
        b"\xc2\xa0",
        b"\xe2\x80\xa8",
        b"\xef\xbb\xbf \t",
        b"\0",
        b"\xff\xfe",
        b"plain text",
        b"{",
        b"}",
        b"[1]",
        b"null",
        b"\"text\"",
        b"WARC/1.0",
        b"PAR1",
        b"%PDF-1.7",
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
        b"\x28\xb5\x2f\xfd\x04\x00",
        b"\x50\x2a\x4d\x18\x04\x00\x00\x00",
        b"\xfd7zXZ\x00\x00\x04",
        b"BZh91AY&SY",
    ];
    let shell = Shell::new();
    let blank: [&[u8]; 5] = [b"", b" ", b"\t \t", b"\r", b" \r"];
    // Each of them as the first line, and after a page.
    let mut inputs: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
    for other in others {
        let line = [other, b"\n"].concat();
        inputs.push(([&line[..], &page(1)].concat(), vec![line.clone(), page(1)]));
    }
    let mut all = (page(1), vec![page(1)]);
    for (number, other) in others.into_iter().enumerate() {
        let line = [other, b"\n"].concat();
        all.0.extend_from_slice(&[blank[number % 5], b"\n", &line, &page(number + 2)].concat());
        all.1.extend([line, page(number + 2)]);
    }
    inputs.push(all);
    for (input, expected) in inputs {
        let (run, answers) = answers(&shell, "", &input);
        assert_eq!(answers, expected, "{}", run.stderr);
        assert_eq!(run.status, 3, "{}", run.stderr);
    }
    for (number, line) in blank.into_iter().enumerate() {
        let (run, answers) = answers(&shell, "", &[line, b"\n", &page(number)].concat());
        assert_eq!((run.status, answers), (0, vec![page(number)]));
    }
}

#[test]
fn records_that_could_not_be_read_have_a_mark_of_their_own() {
    let shell = Shell::new();
    let lacking = "no text field 'text' (fields here: id; choose with --text-field)";
    let cases = [
        ("{\"id\":1}", format!("{{\"id\":1,\"dedup\":{{\"error\":\"{lacking}\"}}}}")),
        (
            "{\"id\":1,\"dedup\":{\"duplicate_of\":\"x\"}}",
            "{\"id\":1,\"dedup\":{\"error\":\"no text field 'text' (fields here: id, dedup; choose with --text-field)\"}}".into(),
        ),
        (
            "{\"text\":null}\r",
            "{\"text\":null,\"dedup\":{\"error\":\"text field 'text' is null: there is no text to compare\"}}\r".into(),
        ),
        (
            "{\"text\":\"a\",\"id\":[]}",
            "{\"text\":\"a\",\"id\":[],\"dedup\":{\"error\":\"id field 'id' is an array, not a string or a number\"}}".into(),
        ),
        // In braces, although it is no JSON.
        (
            "{\"text\":\"a\",\"rank\":-}",
            "{\"text\":\"a\",\"rank\":-,\"dedup\":{\"error\":\"malformed JSON: invalid number at column 21\"}}".into(),
        ),
    ];
    for (line, expected) in cases {
        let (run, answers) = answers(&shell, "--verdicts verdicts", format!("{line}\n").as_bytes());
        assert_eq!(String::from_utf8(answers.concat()).unwrap(), format!("{expected}\n"));
        assert_eq!(run.status, 3);
        // The reason is that of the verdict, which is still that it was kept.
        let verdict: Value = serde_json::from_str(&shell.sh("tail -n 1 verdicts").done()).unwrap();
        assert_eq!(verdict["keep"], true);
        assert!(expected.contains(verdict["error"].as_str().unwrap()), "{verdict}");
    }
    // Without a mark they pass as they are.
    shell.write("lines", "{\"id\":1,\"dedup\":2}\n");
    let run = shell.sh("dedup filter --on-error keep -q < lines");
    assert_eq!((run.status, &*run.stdout), (3, "{\"id\":1,\"dedup\":2}\n"));
}

#[test]
fn a_line_above_the_limit_does_not_end_the_run() {
    let shell = Shell::new();
    let long = |length: usize| format!("{{\"id\":0,\"text\":\"{}\"}}\n", "x".repeat(length)).into_bytes();
    let mark = b"{\"dedup\":{\"error\":\"record longer than 1 KiB (allow more with --max-record)\"}}\n".to_vec();
    // Longer than what is read at once, shorter, and at the end without a line end.
    let input = [page(1), long(3 << 20), page(2), long(1100), long(1100), page(1), long(300_000)].concat();
    let (run, found) = answers(&shell, "--max-record 1K --verdicts verdicts --stats stats", &input[..input.len() - 1]);
    assert_eq!(run.status, 3, "{}", run.stderr);
    let copy =
        String::from_utf8(page(1)).unwrap().replace("}\n", ",\"dedup\":{\"duplicate_of\":\"1\",\"similarity\":1.0}}\n");
    let expected = [page(1), mark.clone(), page(2), mark.clone(), mark.clone(), copy.into_bytes(), mark];
    assert_eq!(found, expected);
    assert_eq!(shell.sh("grep -c '\"keep\":true,\"error\"' verdicts").done(), "4\n");
    assert_eq!(shell.sh("grep -o '\"failed\":[0-9]*' stats").done(), "\"failed\":4\n");
    let summary = shell.sh(&format!("{} --max-record 1K < lines 2>&1 > answers", SERVER.replace(" -q", "")));
    assert!(summary.stdout.contains("dedup: 4 of them left without content, as a mark alone\n"), "{}", summary.stdout);
    // Without --mark there is nothing to pass, as before; however long the line is.
    for length in [1100, 3 << 20] {
        shell.write("lines", [page(1), long(length), page(2)].concat());
        let run = shell.sh("dedup filter --on-error keep -q --max-record 1K < lines");
        assert_eq!((run.status, run.stdout.into_bytes()), (2, page(1)));
        assert!(run.stderr.contains("--on-error keep: -:2: record longer than 1 KiB"), "{}", run.stderr);
    }
}

#[test]
fn a_page_of_too_many_tokens_does_not_end_the_run() {
    let shell = Shell::new();
    // Each of these is 18 characters after normalisation, so that no limit on the length of a line helps.
    let text = "\u{fdfa}".repeat(300_000);
    let input = [page(1), format!("{{\"id\":7,\"text\":\"{text}\"}}\n").into_bytes(), page(2)].concat();
    let (run, found) = answers(&shell, "--memory 100M --tokenizer char:3 --verdicts verdicts", &input);
    let error = "too many tokens to be compared within the memory (allow more with --memory)";
    let answer = format!("{{\"id\":7,\"text\":\"{text}\",\"dedup\":{{\"error\":\"{error}\"}}}}\n");
    assert!(found == [page(1), answer.into_bytes(), page(2)], "{}", run.stderr);
    assert_eq!(run.status, 3, "{}", run.stderr);
    let verdict = format!("{{\"type\":\"verdict\",\"id\":\"7\",\"keep\":true,\"error\":\"{error}\",\"at\":\"-:2\"}}\n");
    assert_eq!(shell.sh("sed -n 2p verdicts").done(), verdict);
    // Elsewhere it ends the run, as before.
    let run = shell.sh("dedup filter --on-error keep -q --memory 100M --tokenizer char:3 < lines");
    assert_eq!((run.status, run.stdout.into_bytes()), (2, page(1)));
    assert!(run.stderr.contains("-:2: this record has too many tokens"), "{}", run.stderr);
}

#[test]
fn an_input_that_is_compressed_is_read_unless_it_is_named_as_plain() {
    let shell = Shell::new();
    shell.write("lines", [page(1), page(2)].concat());
    for format in ["auto", "jsonl"] {
        let run = shell.sh(&format!("gzip -c lines | dedup filter --mark --on-error keep -q --format {format}"));
        assert_eq!(run.done().into_bytes(), [page(1), page(2)].concat());
    }
}
