//! Text from data reaches a terminal without a character that could control it: a table of places and how each is reached.

use super::shell::{Run, Shell};
use std::fs;

/// Sets a window's title, a colour by a control character of C1, and the direction of writing in several ways.
const HOSTILE: &str =
    "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}b\u{2066}c\u{200f}\u{200e}\u{61c}\u{2028}\u{85}\u{202a}\u{2069}";

/// The same in JSON.
fn json() -> String {
    let escape = |c: char| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) };
    HOSTILE.chars().map(escape).collect()
}

/// Forty words that occur nowhere else.
const COPY: &str = "alder birch cedar dogwood elder fir gum hazel ironwood juniper katsura larch maple nutmeg oak pine quince rowan \
    spruce teak ulmus viburnum willow xylosma yew zelkova ash beech cherry durian ebony fig guava hickory ivy jacaranda kapok lime mango \
    neem olive";

fn controls_terminal(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Asserts that a text has no control characters, but contains the hostile text.
#[track_caller]
fn check(what: &str, text: &str) {
    let found: Vec<char> = text.chars().filter(|&c| controls_terminal(c)).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text}");
    assert!(text.contains("\\u{202e}"), "{what} is not reached: {text}");
}

fn shell() -> Shell {
    let shell = Shell::new();
    for folder in ["docs", "binary", "here"] {
        fs::create_dir(shell.folder().join(folder)).unwrap();
    }
    for (name, own) in [("1", "one two three"), ("2", "four five six")] {
        let text =
            format!("# It {HOSTILE}\n\n{own}\n\n{COPY} {HOSTILE} {own} end.\n\n<!-- dedup:ignore-{HOSTILE} -->\n");
        shell.write(&format!("docs/{name}{HOSTILE}.md"), text);
    }
    shell.write(&format!("binary/{HOSTILE}.txt"), b"a\0b");
    shell.write(&format!("binary/b{HOSTILE}.jsonl"), "not JSON\n");
    let id = json();
    shell.write(
        "ids.jsonl",
        format!("{{\"id\":\"-:{id}\",\"text\":\"{COPY}\"}}\n{{\"id\":\"-:{id}\",\"text\":\"{COPY} a\"}}\n"),
    );
    shell.write("labels.jsonl", format!("{{\"type\":\"pair\",\"a\":\"{id}\",\"b\":\"no {id}\"}}\n"));
    shell.write("ignored.jsonl", format!("{{\"type\":\"pair\",\"a\":\"{id}\",\"b\":\"no {id}\"}}\n"));
    shell.write(
        "stale.json",
        format!(
            "{{\"version\":1,\"accepted\":[{{\"kind\":\"passage\",\"paths\":[\"docs/{id}\",\"docs/b\"],\
             \"fingerprint\":\"0-1\",\"text\":\"{id}\"}}]}}"
        ),
    );
    shell.write(&format!("here/{HOSTILE}.toml"), "[check]\nmin-words = 0\n");
    shell.write("key.toml", format!("[check]\n\"{}\" = 1\n", HOSTILE.replace(|c: char| c.is_control(), "")));
    shell.write("glob.toml", format!("[check]\nignore = [\"{id}\"]\nfail-on = \"none\"\n"));
    shell.write("reason.toml", format!("[[check.allow]]\npaths = [\"{id}/\"]\nreason = \"{id}\"\n"));
    shell.write(&format!("here/{HOSTILE}.idx"), "this is not an index");
    shell.write(&format!("here/baseline{HOSTILE}.json"), "[]");
    shell
}

#[test]
fn messages_have_no_control_characters() {
    let shell = shell();
    let odd = HOSTILE.replace('\'', "");
    for line in [
        "dedup filter --index a.idx --id-field 'HOSTILE' < ids.jsonl",
        "dedup index verify here/*.idx",
        "dedup index stats here/*.idx",
        "dedup index compact here/*.idx",
        "dedup index remove a.idx \"$(printf 'no \\342\\200\\256 \\033[0m id')\"",
        "dedup filter --index here/*.idx < ids.jsonl",
        "dedup index add 'nowhere/HOSTILE/a.idx' < ids.jsonl",
        "dedup filter --index b.idx --stats 'nowhere/HOSTILE' < ids.jsonl",
        "dedup scan binary",
        "dedup scan binary/*.txt",
        "dedup scan 'HOSTILE'",
        "dedup scan --algo 'HOSTILE' binary",
        "dedup scan --threshold 'HOSTILE' binary",
        "dedup scan --text-field 'HOSTILE.' binary",
        "dedup scan --lexicon 'HOSTILE' --algo imatch binary",
        "dedup scan 'HOSTILE\nsecond line'",
        "dedup compare 'HOSTILE' a",
        "dedup compare binary/*.txt binary/*.txt",
        "dedup eval labels.jsonl --truth 'HOSTILE'",
        "dedup eval ids.jsonl --truth labels.jsonl",
        "dedup plan --threshold 'HOSTILE'",
        "dedup lexicon build 'HOSTILE'",
        "dedup lexicon build binary",
        "dedup clean binary --output 'HOSTILE'",
        "dedup clean docs --output 'clean HOSTILE'",
        "dedup clean docs --output 'by HOSTILE' --index 'HOSTILE.idx'",
        "dedup clean docs --move-duplicates 'moved HOSTILE'",
        "dedup clean --undo 'moved HOSTILE'",
        "dedup passages binary",
        "dedup passages docs --exact --output 'cut HOSTILE'",
        "dedup contain binary",
        "dedup contain docs --output 'contained HOSTILE'",
        "dedup plan binary",
        "dedup filter --text-field 'text,HOSTILE' < ids.jsonl",
        "dedup scan ids.jsonl --text-field 'text,HOSTILE'",
        "dedup scan ids.jsonl --emit kept --keep 'max:HOSTILE'",
        "dedup index add b.idx --id-field 'HOSTILE' < ids.jsonl",
        "dedup index query b.idx --id-field 'HOSTILE' < ids.jsonl",
        "dedup index get b.idx 'HOSTILE'",
        "dedup index snapshot b.idx 'snapshot HOSTILE'",
        "dedup help 'HOSTILE'",
        "dedup 'HOSTILE'",
        "dedup check 'HOSTILE'",
        "dedup check docs",
        "dedup check docs --baseline 'HOSTILE'",
        "dedup check docs --baseline stale.json",
        "dedup check docs --baseline here/baseline*.json",
        "dedup check docs --ignore 'HOSTILE'",
        "dedup check docs --ignore '{HOSTILE'",
        "git init -q .; dedup check docs --since 'HOSTILE'",
        "dedup check docs --report 'HOSTILE'",
        "dedup check docs --report 'jsonl=nowhere/HOSTILE'",
        "dedup check docs --config here/*.toml",
        "dedup check docs --config key.toml",
        "dedup check . --config glob.toml",
        "dedup check . --config reason.toml",
        "NEARDUPS_KERNEL='HOSTILE' dedup scan binary",
    ] {
        let Run { stderr, .. } = shell.sh(&line.replace("HOSTILE", &odd));
        check(line, &stderr);
        assert!(stderr.lines().all(|line| !line.starts_with("second")), "{line}: {stderr}");
    }
}

#[test]
fn reports_for_people_have_no_control_characters() {
    let shell = shell();
    for line in [
        "dedup check docs -q",
        "dedup check docs -q --report github",
        "dedup check docs -q --report markdown",
        "dedup check docs -q --report sarif",
        "dedup check docs -q --report html",
        "dedup check docs -q --baseline stale.json --report html",
        "dedup check docs -q --report human=human.txt; cat human.txt",
        "dedup compare docs/1* docs/2*",
        "dedup compare docs/1* docs/2* --all",
        "dedup plan docs",
    ] {
        check(line, &shell.sh(line).stdout);
    }
    // Programs that open the file need its path as it is.
    let shown = |report: &str, machine: fn(&str) -> bool| {
        let text = shell.sh(&format!("dedup check docs -q --report {report}")).stdout;
        text.split_inclusive(&[' ', '\n']).filter(|part| !machine(part)).collect::<String>()
    };
    check("junit", &shown("junit", |part| part.starts_with("file=")));
    let gitlab: serde_json::Value =
        serde_json::from_str(&shell.sh("dedup check docs -q --report gitlab").stdout).unwrap();
    check("gitlab", gitlab[0]["description"].as_str().unwrap());
}

#[test]
fn lines_of_json_keep_what_documents_have() {
    let shell = shell();
    let out = shell.sh("dedup check docs -q --report jsonl").stdout;
    let copy: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert!(copy.to_string().contains('\u{202e}'), "{copy}");
    assert!(!out.contains('\u{1b}'), "JSON escapes it");
}
