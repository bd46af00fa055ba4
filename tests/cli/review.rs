//! The page of `--report`: it shows what the other outputs say, and nothing from documents can control it.

use super::shell::Shell;
use serde_json::{Value, json};
use std::fs;

/// The JSON of an element of a page.
fn block(page: &str, id: &str) -> Value {
    let start = format!("<script type=\"application/json\" id=\"{id}\">");
    let (_, rest) = page.split_once(&start).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Documents of which many are much like others, with repeated ids.
fn corpus(count: usize) -> String {
    let mut lines = String::new();
    for number in 0..count {
        let family = number % 7 + number % 3 * 10;
        let words: Vec<String> = (0..60).map(|word| format!("w{family}x{word}")).collect();
        let text = format!("{} own{} end", words.join(" "), number / 21);
        lines += &json!({"id": format!("d{}", number % 400), "text": text}).to_string();
        lines.push('\n');
    }
    lines
}

fn lines(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The page has the clusters of `--emit clusters` and the similarities of `--emit verdicts`.
#[test]
fn the_page_says_what_the_records_say() {
    let shell = Shell::new();
    shell.write("in.jsonl", corpus(300));
    shell.write("note.txt", "a note of its own");
    for options in ["", "--keep last", "--keep longest --algo simhash --distance 8"] {
        let scan = |more: &str| shell.sh(&format!("dedup scan in.jsonl note.txt {options} -q {more}")).done();
        let clusters = lines(&scan("--emit clusters --report html=page.html"));
        let verdicts = lines(&scan("--emit verdicts"));
        let page = fs::read_to_string(shell.folder().join("page.html")).unwrap();
        let shown = block(&page, "clusters");
        assert!(clusters.len() > 3 && shown.as_array().unwrap().len() == clusters.len());
        let sizes: Vec<u64> =
            shown.as_array().unwrap().iter().map(|cluster| cluster["size"].as_u64().unwrap()).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
        for cluster in shown.as_array().unwrap() {
            let expected = clusters.iter().find(|other| other["id"] == cluster["id"]).unwrap();
            let members = cluster["members"].as_array().unwrap();
            let ids: Vec<&Value> = members.iter().map(|member| &member["id"]).collect();
            let kept: Vec<&Value> = members.iter().filter(|member| member["keep"] == true).map(|m| &m["id"]).collect();
            assert_eq!((json!(ids), json!(kept)), (expected["members"].clone(), expected["keep"].clone()));
            for member in members {
                let verdict = verdicts.iter().find(|verdict| verdict["id"] == member["id"]).unwrap();
                let of = member.get("of").map_or(&Value::Null, |of| &members[of.as_u64().unwrap() as usize]["id"]);
                assert_eq!(of, verdict.get("duplicate_of").unwrap_or(&Value::Null));
                assert_eq!(member.get("similarity"), verdict.get("similarity"));
                if let Some(similarity) = member.get("similarity") {
                    // With and without scripts the same digits.
                    assert_eq!(member["digits"], format!("{:.4}", similarity.as_f64().unwrap()));
                    let listed =
                        format!("{} to <code>{}</code>", member["digits"].as_str().unwrap(), of.as_str().unwrap());
                    assert!(page.contains(&listed), "{listed}");
                }
                assert_eq!(member["file"], "in.jsonl");
            }
            let texts = members.iter().filter(|member| member.get("text").is_some()).count();
            assert_eq!(texts, members.iter().filter(|member| member.get("of").is_some()).count().min(8));
        }
        let histogram = &block(&page, "summary")["histogram"];
        let dropped: u64 = histogram.as_array().unwrap().iter().map(|bin| bin.as_u64().unwrap()).sum();
        assert_eq!(dropped as usize, verdicts.iter().filter(|verdict| verdict["keep"] == false).count());
        // Those of all pairs are the same.
        scan("--report html=again.html");
        assert_eq!(page, fs::read_to_string(shell.folder().join("again.html")).unwrap());
    }
}

/// Of each document whose differences are shown, and of the kept one, the page has the values that decide.
#[test]
fn the_page_says_by_what_documents_are_kept() {
    let shell = Shell::new();
    let record = |id: &str, more: &str| format!("{{\"id\":\"{id}\",\"text\":\"one text of some words\"{more}}}\n");
    let records = [
        record("a", ",\"lang\":\"d<e\",\"score\":9"),
        record("b", ",\"lang\":\"en\",\"score\":2.5"),
        record("c", ",\"score\":\"1e1\""),
        record("d", ",\"lang\":\"en\""),
    ];
    shell.write("in.jsonl", records.concat());
    shell.write("old.jsonl", record("old", ",\"lang\":\"en\",\"score\":3"));
    shell.sh("touch -d 2024-05-01T12:00:00Z in.jsonl; touch -d 2023-01-01T00:00:00Z old.jsonl").done();
    let members = |command: &str| {
        shell.sh(&format!("dedup clean {command} --dry-run -q --report html=page.html")).done();
        let page = fs::read_to_string(shell.folder().join("page.html")).unwrap();
        let members = block(&page, "clusters")[0]["members"].as_array().unwrap().clone();
        let shown = |member: &Value| {
            let by = member.get("by").map(|by| by.as_str().unwrap()).unwrap_or_default();
            assert!(
                by.is_empty() || page.contains(&format!(", by {}", by.replace('\'', "&#39;").replace('<', "&lt;")))
            );
            let is_reference = member.get("reference") == Some(&json!(true));
            format!("{}{}: {by}", member["id"].as_str().unwrap(), if is_reference { " of the reference" } else { "" })
        };
        members.iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(
        members("in.jsonl --tokenizer word --keep is:lang=en,max:score,longest"),
        [
            "a: lang is 'd<e', score 9, 5 tokens",
            "b: lang is 'en', score 2.5, 5 tokens",
            "c: lang without a value, score 10, 5 tokens",
            "d: lang is 'en', score without a value, 5 tokens",
        ]
    );
    assert_eq!(
        members("in.jsonl old.jsonl --keep newest,min:score"),
        [
            "a: file of 2024-05-01T12:00:00Z, score 9",
            "b: file of 2024-05-01T12:00:00Z, score 2.5",
            "c: file of 2024-05-01T12:00:00Z, score 10",
            "d: file of 2024-05-01T12:00:00Z, score without a value",
            "old: file of 2023-01-01T00:00:00Z, score 3",
        ]
    );
    assert_eq!(
        members("in.jsonl --against old.jsonl --keep max:score"),
        ["old of the reference: ", "a: score 9", "b: score 2.5", "c: score 10", "d: score without a value"]
    );
    assert_eq!(members("in.jsonl"), ["a: ", "b: ", "c: ", "d: "]);
    // What comes before the rules: decisions, and the files that are preferred.
    shell.write("decisions.jsonl", "{\"type\":\"decision\",\"keep\":\"c\"}\n");
    assert_eq!(
        members("in.jsonl old.jsonl --prefer 'old*' --decisions decisions.jsonl --keep min:score"),
        [
            "a: score 9",
            "b: score 2.5",
            "c: a decision, score 10",
            "d: score without a value",
            "old: preferred files old*, score 3"
        ]
    );
    // Of two rules that go by one field it is shown once.
    assert_eq!(
        members("in.jsonl --keep is:lang=fr,is:lang=en"),
        ["a: lang is 'd<e'", "b: lang is 'en'", "c: lang without a value", "d: lang is 'en'"]
    );
    // A value of the other kind does not count.
    shell.write(
        "kinds.jsonl",
        [record("a", ",\"v\":5"), record("b", ",\"v\":\"2024-05-01\""), record("c", ",\"v\":7")].concat(),
    );
    let run = shell.sh("dedup clean kinds.jsonl --dry-run -q --report html=page.html --keep max:v");
    assert_eq!(run.status, 3, "{}", run.stderr);
    let page = fs::read_to_string(shell.folder().join("page.html")).unwrap();
    let clusters = block(&page, "clusters");
    let by = |at: usize| clusters[0]["members"][at]["by"].as_str().unwrap().to_owned();
    assert_eq!([by(0), by(1), by(2)], ["v 5", "v without a value", "v 7"]);
    // One that is kept has its value also if no other is left out for it.
    let words = |from: usize| (from..from + 30).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let record =
        |id: &str, from: usize, score: u32| json!({"id": id, "text": words(from), "score": score}).to_string() + "\n";
    shell.write("chain.jsonl", [record("a", 0, 9), record("b", 5, 1), record("c", 10, 4)].concat());
    assert_eq!(
        members("chain.jsonl --tokenizer word --shingle 1 --threshold 0.7 --keep max:score"),
        ["a: score 9", "b: score 1", "c: score 4"]
    );
}

/// The bytes depend neither on threads nor on memory, and not on how the documents are given.
#[test]
fn the_same_page_for_any_number_of_threads() {
    let shell = Shell::new();
    shell.write("in.jsonl", corpus(1000));
    let page = |command: &str| {
        shell.sh(command).done();
        fs::read(shell.folder().join("page.html")).unwrap()
    };
    let one = page("dedup scan in.jsonl --emit verdicts -q -j 1 --report html=page.html");
    assert!(one == page("dedup scan in.jsonl --emit clusters -q -j 4 --memory 1M --report html=page.html"));
    assert!(one == page("dedup clean in.jsonl --dry-run -q -j 3 --report html=page.html"));
    assert!(one == page("dedup clean in.jsonl --output out -q --report html=page.html"));
    assert!(one == page("rm page.html; dedup clean in.jsonl --output out -q --report html=page.html"));
    let of_stream = page("cat in.jsonl | dedup scan - --emit clusters -q --report html=page.html");
    assert_eq!(block(&String::from_utf8(of_stream).unwrap(), "clusters")[0]["members"][0]["file"], "-");
}

/// Ids, paths and texts that would end an element, start one or turn the direction of writing.
#[test]
fn documents_do_not_control_the_page() {
    let shell = Shell::new();
    let bad =
        "</script><script>alert(1)</script><!--<script> ]]> &lt; \u{202e}\u{2066}\u{2028}\u{9b}\u{7f}\u{1b}[31m '\"`";
    let text = |own: &str| format!("{bad} some words that both have, and a few more of them {own} {bad}");
    let folder = "docs/<b onclick='x'>&\u{202e}";
    fs::create_dir_all(shell.folder().join(folder)).unwrap();
    let records: String = ["one", "two"]
        .iter()
        .map(|own| json!({"id": format!("{bad}{own}"), "text": text(own)}).to_string() + "\n")
        .collect();
    shell.write(&format!("{folder}/in.jsonl"), records);
    shell.sh("dedup scan docs --emit clusters --threshold 0.5 --report html=page.html -q").done();
    let page = fs::read_to_string(shell.folder().join("page.html")).unwrap();
    assert_eq!(page.matches("</script").count(), 3);
    assert_eq!(page.matches("<script").count(), 3);
    let is_control = |c: char| {
        c.is_control() && c != '\n' || ('\u{2028}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    assert_eq!(page.find(is_control), None);
    let clusters = block(&page, "clusters");
    assert_eq!(clusters[0]["members"][0]["id"], format!("{bad}one"));
    assert!(clusters[0]["members"][0]["file"].as_str().unwrap().contains(folder));
    assert!(clusters[0]["members"][1]["text"]["own"].to_string().contains("</script>"));
    // The list for those without scripts has them too.
    let (_, list) = page.split_once("<noscript>").unwrap();
    assert!(
        list.contains("&lt;/script&gt;&lt;script&gt;alert(1)")
            && !list.split("</noscript>").next().unwrap().contains("<b ")
    );
    // What is chosen on the page is what is applied.
    let member = &clusters[0]["members"][1];
    let decision =
        json!({"type": "decision", "keep": member["id"], "file": member["file"], "record": member["record"]});
    shell.write("decisions", decision.to_string());
    let clusters = shell.sh("dedup scan docs --emit clusters --threshold 0.5 --decisions decisions -q").done();
    assert_eq!(lines(&clusters)[0]["keep"], json!([format!("{bad}two")]));
    // And of both, with the kept one.
    let both = [1, 0].map(|number| {
        let member = &block(&page, "clusters")[0]["members"][number];
        let decision = json!({
            "type": "decision", "keep": member["id"], "file": member["file"], "record": member["record"], "always": true,
        });
        decision.to_string() + "\n"
    });
    shell.write("decisions", both.concat());
    let clusters = shell.sh("dedup scan docs --emit clusters --threshold 0.5 --decisions decisions -q").done();
    assert_eq!(lines(&clusters)[0]["keep"], json!([format!("{bad}one"), format!("{bad}two")]));
}

/// Files of decisions are joined. Of two that are near-duplicates the first is kept, whatever the order of the files.
#[test]
fn decisions_of_several_reviews_are_joined() {
    let shell = Shell::new();
    let texts = [
        ("a", "one two three four five six"),
        ("b", "one two three four five six!"),
        ("c", "One two three four five six?"),
    ];
    shell.write("in.jsonl", texts.map(|(id, text)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n")).concat());
    for (name, id) in [("first", "c"), ("second", "b"), ("third", "c")] {
        shell.write(name, format!("{{\"type\":\"decision\",\"keep\":\"{id}\"}}\n"));
    }
    let kept = |files: &str| {
        let kept = shell.sh(&format!("cat {files} > all; dedup scan in.jsonl --emit kept --decisions all -q")).done();
        lines(&kept)[0]["id"].as_str().unwrap().to_string()
    };
    assert_eq!(["first", "second", "first third"].map(kept), ["c", "b", "c"]);
    assert_eq!(["first second", "second first"].map(kept), ["b", "b"]);
}

/// The page lists the shortcuts that its script has, and names both decisions.
#[test]
fn the_page_names_its_decisions_and_shortcuts() {
    let shell = Shell::new();
    shell.write("in.jsonl", corpus(50));
    shell.sh("dedup scan in.jsonl --emit clusters -q --report html=page.html").done();
    let page = fs::read_to_string(shell.folder().join("page.html")).unwrap();
    let (_, list) = page.split_once("<summary>How to review").unwrap();
    let list = list.split("</details>").next().unwrap();
    let script = page.rsplit_once("<script>").unwrap().1;
    for key in ["j", "k", "b", "/", "e"] {
        assert!(list.contains(&format!("<kbd>{key}</kbd>")), "{key} is not listed");
        let is_known = ["===", "!=="].iter().any(|is| script.contains(&format!("event.key {is} \"{key}\"")));
        assert!(is_known, "the script does not know {key}");
    }
    for name in ["Keep this one", "Keep both"] {
        assert!(list.contains(&format!("<b>{name}</b>")) && script.contains(&format!("\"{name}\"")), "{name}");
    }
    assert!(script.contains("always: always || undefined"));
}

/// Large clusters, long texts and long ids: the page says what it leaves out.
#[test]
fn the_page_is_bounded() {
    let shell = Shell::new();
    let long = (0..40_000).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let mut records = String::new();
    for number in 0..150 {
        records +=
            &json!({"id": number, "text": format!("a text of some length that all of them share {}", number / 2)})
                .to_string();
        records.push('\n');
    }
    for number in 0..3 {
        let id = format!("{number}{}", "i".repeat(100_000));
        records += &json!({"id": id, "text": format!("{number} {long}")}).to_string();
        records.push('\n');
    }
    shell.write("in.jsonl", records);
    shell.sh("dedup scan in.jsonl --emit clusters --threshold 0.5 --report html=page.html -q").done();
    let page = fs::read_to_string(shell.folder().join("page.html")).unwrap();
    let clusters = block(&page, "clusters");
    assert_eq!((&clusters[0]["size"], clusters[0]["members"].as_array().unwrap().len()), (&json!(150), 100));
    let dropped = clusters[0]["members"].as_array().unwrap().iter().filter(|member| member.get("of").is_some());
    assert!(dropped.clone().all(|member| member["of"].as_u64().unwrap() < 100));
    let text = &clusters[1]["members"][1]["text"];
    assert_eq!((&text["is_cut"], &text["shown"]), (&json!(true), &json!(1)));
    assert!(page.len() < 600_000, "{}", page.len());
}

/// The head says what was scanned, how, and what was found, as the summary does; without scripts too.
#[test]
fn the_head_of_the_page_is_the_summary() {
    let shell = Shell::new();
    let chain = ["a b c d e f g h i j", "b c d e f g h i j k", "c d e f g h i j k l", "B c d e f g h i j k.", ""];
    let line = |(id, text): (usize, &&str)| json!({"id": id, "text": text}).to_string() + "\n";
    shell.write("<b>.jsonl", chain.iter().enumerate().map(line).collect::<String>());
    shell.write("note.txt", "a note of its own");
    let head = |options: &str| {
        let run =
            shell.sh(&format!("dedup scan '<b>.jsonl' note.txt --tokenizer word --report html=page.html {options}"));
        let page = fs::read_to_string(shell.folder().join("page.html")).unwrap();
        let (_, head) = page.split_once("<h1>").unwrap();
        (run.stderr, head.split_once("</dl>").unwrap().0.to_string())
    };
    let (summary, page) = head("--shingle 1 --exact --emit clusters");
    assert!(
        summary.contains("6 documents: 1 cluster; 2 documents not kept; 1 cluster keeps more than one"),
        "{summary}"
    );
    for expected in [
        "<b>2 of 6 documents (33.3 %) not kept, in 1 cluster; 1 cluster keeps more than one.</b>",
        "<dt>Input</dt><dd><code>&lt;b&gt;.jsonl</code>, <code>note.txt</code></dd>",
        "<dt>Documents</dt><dd>6, with 1 exact copy; 1 with too few features to be compared</dd>",
        "<dt>Method</dt><dd>exact, by jaccard, on word tokens (median 10 a document)</dd>",
        "<dt>Parameters</dt><dd>threshold 0.8, shingle 1, recall at threshold 1</dd>",
        "<dt>Recall</dt><dd>exact: every pair at or above the threshold is found</dd>",
        concat!("<dt>Program</dt><dd>dedup ", env!("CARGO_PKG_VERSION"), "</dd>"),
    ] {
        assert!(page.contains(expected), "{expected} is not in {page}");
    }
    // The parameters are those of the summary.
    let (summary, page) = head("--threshold 0.7 --emit clusters");
    let parameters = page.split_once("<dt>Parameters</dt><dd>").unwrap().1.split_once("</dd>").unwrap().0;
    assert!(parameters.starts_with("threshold 0.7, ") && summary.contains(&format!("): {parameters}\n")), "{summary}");
    let recall = parameters.rsplit_once(' ').unwrap().1;
    assert!(page.contains(&format!("found with a probability of {recall}, and more similar ones")), "{page}");
}
