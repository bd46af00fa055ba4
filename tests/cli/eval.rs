//! `dedup eval`: its numbers against those of a plain count over what `dedup scan` prints.

use std::collections::BTreeSet;

use crate::support::corpus::related;
use crate::support::random::Random;

use super::records::{self, Record};
use super::shell::Shell;

#[test]
fn minhash_finds_the_pairs_of_the_fixtures_and_no_others() {
    let shell = Shell::new();
    for (truth, scanned) in [
        ("chinese/truth", "fixtures/chinese/docs"),
        ("code/truth", "fixtures/code/docs"),
        ("english/truth", "fixtures/english/docs"),
        ("jsonl/truth", "fixtures/jsonl/docs"),
        ("jsonl/truth-nested", "fixtures/jsonl/nested --text-field doc.body --id-field doc.id"),
        ("markdown/truth", "fixtures/markdown/docs"),
    ] {
        let printed = shell.dedup(&format!("eval -q --truth fixtures/{truth}.jsonl {scanned}")).done();
        let found = records::evals(&printed);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].measures(), [1.0; 4], "{truth}");
        assert!(found[0].truth_pairs > 0);
    }
}

/// Documents with pairs at all similarities, and labels for some of them.
fn corpus(shell: &Shell) -> BTreeSet<(String, String)> {
    let documents = related(&mut Random::new(11), 200, 120);
    let lines = documents.iter().map(|(id, text)| serde_json::json!({ "id": id, "text": text }).to_string() + "\n");
    shell.write("all.jsonl", lines.collect::<String>());
    // Pairs at or above 0.6, but for every seventh; and some that are nothing.
    let found = records::pairs(&shell.dedup("scan all.jsonl -q --exact --threshold 0.6").done());
    let labelled = found.iter().enumerate().filter(|(at, _)| at % 7 > 0).map(|(_, pair)| ordered(&pair.a, &pair.b));
    let wrong = documents.windows(2).step_by(9).map(|two| ordered(&two[0].0, &two[1].0));
    let truth: BTreeSet<_> = labelled.chain(wrong).collect();
    assert!(truth.len() > 30, "{}", truth.len());
    let lines = truth.iter().map(|(a, b)| serde_json::json!({ "a": b, "b": a }).to_string() + "\n");
    shell.write("truth.jsonl", lines.collect::<String>());
    truth
}

fn ordered(a: &str, b: &str) -> (String, String) {
    (a.min(b).to_string(), a.max(b).to_string())
}

#[test]
fn what_is_measured_is_what_is_scanned() {
    let shell = Shell::new();
    let truth = corpus(&shell);
    for options in ["", "--threshold 0.5", "--exact --threshold 0.3", "--algo simhash --distance 12 --force"] {
        let found = records::pairs(&shell.dedup(&format!("scan all.jsonl -q {options}")).done());
        let right = found.iter().filter(|pair| truth.contains(&ordered(&pair.a, &pair.b))).count() as u64;
        let printed = shell.dedup(&format!("eval --truth truth.jsonl all.jsonl -q {options}")).done();
        let eval = &records::evals(&printed)[0];
        assert_eq!(
            (eval.documents, eval.truth_pairs, eval.predicted_pairs, eval.right),
            (200, truth.len() as u64, found.len() as u64, right),
            "{options}"
        );
    }
}

#[test]
fn each_point_of_a_sweep_is_what_a_scan_at_it_finds() {
    let shell = Shell::new();
    corpus(&shell);
    let eval = |options: &str| shell.dedup(&format!("eval --truth truth.jsonl all.jsonl -q {options}")).done();
    for (swept, one, values) in [
        ("--sweep", "--exact --threshold", vec!["0.1", "0.35", "0.6", "0.61", "0.8", "1"]),
        ("--sweep --threshold 0.5", "--exact --threshold", vec!["0.5", "0.75"]),
        ("--sweep --algo simhash --force", "--algo simhash --force --distance", vec!["0", "3", "11", "32"]),
    ] {
        let printed = eval(swept);
        let records: Vec<_> = printed.lines().map(records::parse).collect();
        let points: Vec<_> = records
            .iter()
            .map(|record| match record {
                Record::Point(point) => point,
                other => panic!("not a point: {other:?}"),
            })
            .collect();
        for value in values {
            let wanted: f64 = value.parse().unwrap();
            let point = points.iter().find(|point| point.at() == wanted).expect("it is swept");
            let found = &records::evals(&eval(&format!("{one} {value}")))[0];
            assert_eq!(point.counts(), found.counts(), "{one} {value}");
        }
        // The last record names the best.
        let (best, points) = points.split_last().unwrap();
        assert!(best.is_best() && points.iter().all(|point| !point.is_best() && point.f1() <= best.f1()));
        assert!(points.iter().any(|point| point.at() == best.at() && point.counts() == best.counts()));
    }
}

#[test]
fn the_form_of_labels_and_the_way_in_change_nothing() {
    let shell = Shell::new();
    corpus(&shell);
    let expected = shell.dedup("eval --truth truth.jsonl all.jsonl -q --algo all").done();
    for line in [
        "gzip -c truth.jsonl > truth.gz; dedup eval --truth truth.gz all.jsonl -q --algo all",
        "cat all.jsonl | dedup eval --truth truth.jsonl -q --algo all",
        "cat truth.jsonl | dedup eval --truth - all.jsonl -q --algo all -j3 --memory 0",
        "cat truth.jsonl truth.jsonl > twice.jsonl; dedup eval --truth twice.jsonl all.jsonl -q --algo all",
    ] {
        assert!(shell.sh(line).done() == expected, "{line}");
    }
}

#[test]
fn an_algorithm_that_does_not_suit_has_a_row_with_the_reason() {
    let shell = Shell::new();
    shell.write("short.jsonl", "{\"id\":1,\"text\":\"a few words\"}\n{\"id\":2,\"text\":\"A few words.\"}\n");
    shell.write("truth.jsonl", "{\"cluster\":[1,2]}\n");
    let printed = shell.dedup("eval --truth truth.jsonl short.jsonl --algo all -q").done();
    let refused = printed.lines().map(records::parse).find_map(|record| match record {
        Record::Refusal(refusal) if refusal.algo == "simhash" => Some(refusal.refused),
        _ => None,
    });
    assert!(refused.is_some_and(|reason| reason.contains("not reliable on documents this short")), "{printed}");
    // Alone it is an error.
    assert_eq!(shell.dedup("eval --truth truth.jsonl short.jsonl --algo simhash").status, 2);
}
