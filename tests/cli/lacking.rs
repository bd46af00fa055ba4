//! Where several text fields are named: how many records lack which, and a field that none has.

use super::shell::Shell;
use serde_json::{Value, json};
use std::fs;

/// Every command that reads records, to which options are added, and whether it has a file of statistics.
const COMMANDS: &[(&str, bool)] = &[
    ("dedup scan a.jsonl", true),
    ("dedup scan a.jsonl --exact --emit verdicts", true),
    ("dedup scan a.jsonl --algo imatch", true),
    ("dedup scan a.jsonl --drop-common 0.9 --exact", true),
    ("dedup scan a.jsonl --emit kept", true),
    ("dedup scan a.jsonl -j 1", true),
    ("dedup scan - < a.jsonl", true),
    ("dedup clean a.jsonl --output out", true),
    ("dedup clean a.jsonl --output out --index out.idx", true),
    ("dedup passages a.jsonl", true),
    ("dedup passages a.jsonl --exact --output out", true),
    ("dedup contain a.jsonl", true),
    ("dedup contain a.jsonl --output out", true),
    ("dedup filter < a.jsonl", true),
    ("dedup filter --format jsonl < a.jsonl", true),
    ("dedup index add out.idx < a.jsonl", false),
    ("dedup eval a.jsonl --truth truth.jsonl", false),
    ("dedup plan a.jsonl", false),
    ("dedup lexicon build a.jsonl", false),
];

fn shell() -> Shell {
    let shell = Shell::new();
    let mut records = String::new();
    for number in 0..3000 {
        let title = if number % 3 == 0 { String::new() } else { format!(r#""title":"the title of {number}","#) };
        let body = if number % 10 == 1 { "" } else { r#","body":null"# };
        records += &format!("{{{title}\"id\":\"{number}\",\"text\":\"words of the text {number}\"{body}}}\n");
    }
    records += "{\"other\":1}\nnot JSON\n";
    shell.write("a.jsonl", records);
    shell.write("truth.jsonl", r#"{"type":"pair","a":"1","b":"2"}"#);
    shell
}

#[test]
fn records_that_lack_a_text_field_are_counted() {
    let shell = shell();
    for (line, has_stats) in COMMANDS {
        shell.sh("rm -rf out out.idx* stats.json").done();
        let (command, input) =
            line.split_once(" < ").map_or((*line, String::new()), |(it, file)| (it, format!("< {file}")));
        let stats = if *has_stats { "--stats stats.json" } else { "" };
        let run = shell.sh(&format!("{command} --text-field title,text,body,txet {stats} {input}"));
        assert_eq!(run.status, 3, "{line}: {}", run.stderr);
        let counts = "--text-field: of 3,001 records, 1,001 lack 'title', 1 lacks 'text', 301 lack 'body'";
        assert!(run.stderr.contains(counts), "{line}: {}", run.stderr);
        let never = "--text-field: no record has the field 'txet': only the others were compared";
        assert_eq!(run.stderr.matches(never).count(), 1, "{line}: {}", run.stderr);
        if *has_stats {
            let stats: Value =
                serde_json::from_str(&fs::read_to_string(shell.folder().join("stats.json")).unwrap()).unwrap();
            let expected = json!({"title": 1001, "text": 1, "body": 301, "txet": 3001});
            assert_eq!(stats["lacking_fields"], expected, "{line}: {stats}");
        }
    }
}

#[test]
fn nothing_is_reported_where_no_record_lacks_a_field_or_one_is_named() {
    let shell = shell();
    shell.write("whole.jsonl", "{\"text\":\"a b c\",\"title\":\"d e f\"}\n{\"text\":\"g\",\"title\":\"h\"}\n");
    for line in ["dedup scan whole.jsonl --text-field title,text", "dedup scan a.jsonl --text-field title"] {
        let run = shell.sh(&format!("{line} --stats stats.json"));
        assert!(!run.stderr.contains(" lack"), "{line}: {}", run.stderr);
        let stats = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
        assert!(!stats.contains("lacking"), "{line}: {stats}");
    }
}

/// Rows of a table without a column lack the field.
#[test]
fn rows_of_tables_without_a_column_are_counted() {
    let shell = shell();
    shell.write("one.csv", "title,text\nx,y\nz,w\n");
    shell.write("two.csv", "text\nq\n");
    let run = shell.sh("dedup scan one.csv two.csv --text-field title,text");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("--text-field: of 3 records, 1 lacks 'title'"), "{}", run.stderr);
    let run = shell.sh("dedup scan two.csv --text-field title,text");
    assert!(run.stderr.contains("no record has the field 'title'"), "{}", run.stderr);
    let run = shell.sh("dedup scan two.csv --text-field title,body");
    assert_eq!(run.status, 2, "{}", run.stderr);
}

#[test]
fn a_reference_counts_with_the_documents_unless_it_has_fields_of_its_own() {
    let shell = shell();
    shell.write("b.jsonl", "{\"title\":\"a b\"}\n{\"text\":\"g\"}\n");
    shell.write("c.jsonl", "{\"text\":\"a b\"}\n{\"text\":\"g\",\"title\":\"h\"}\n");
    let run = shell.sh("dedup scan b.jsonl --against c.jsonl --text-field title,text");
    assert!(run.stderr.contains("--text-field: of 4 records, 2 lack 'title', 1 lacks 'text'"), "{}", run.stderr);
    let own = "--text-field title,text --against-text-field text,title --stats stats.json";
    let run = shell.sh(&format!("dedup scan b.jsonl --against c.jsonl {own}"));
    assert!(run.stderr.contains("--text-field: of 2 records, 1 lacks 'title', 1 lacks 'text'"), "{}", run.stderr);
    assert!(run.stderr.contains("--against-text-field: of 2 records, 1 lacks 'title'"), "{}", run.stderr);
    let stats = fs::read_to_string(shell.folder().join("stats.json")).unwrap();
    let expected = r#""lacking_fields":{"title":1,"text":1},"against_lacking_fields":{"title":1}"#;
    assert!(stats.contains(expected), "{stats}");
}
