//! `dedup eval`: its numbers against those of a plain count over what `dedup scan` prints.

use std::collections::{BTreeMap, BTreeSet};

use neardups::tokenizer::Word;

use crate::support::corpus::related;
use crate::support::plain::{components, shared_and_either, shingles, token_texts};
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
        assert_eq!(found[0].measures(), [Some(1.0); 4], "{truth}");
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

/// The sets of word runs of the documents of [`corpus`], as strings, and the labelled pairs of each bin of their similarity: the
/// number of twentieths from which it goes, the pairs, and their similarities.
fn by_similarity(shell: &Shell, truth: &BTreeSet<(String, String)>, width: usize) -> BTreeMap<usize, Vec<(u64, u64)>> {
    let text = std::fs::read_to_string(shell.folder().join("all.jsonl")).unwrap();
    let sets: BTreeMap<String, _> = text
        .lines()
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| record[name].as_str().unwrap().to_string();
            (field("id"), shingles(&token_texts(&Word, &field("text")), width))
        })
        .collect();
    let mut bins: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
    for (a, b) in truth {
        let (a, b) = (&sets[a], &sets[b]);
        if !a.is_empty() && !b.is_empty() {
            let (shared, either) = shared_and_either(a, b);
            bins.entry((20 * shared / either).min(19) as usize).or_default().push((shared, either));
        }
    }
    bins
}

#[test]
fn bins_hold_the_labelled_pairs_by_their_exact_similarity() {
    let shell = Shell::new();
    let truth = corpus(&shell);
    let bands = |b: i32, r: i32| move |s: f64| 1.0 - (1.0 - s.powi(r)).powi(b);
    let six = |s: f64| {
        let equal = s.powi(14);
        1.0 - (1.0 - equal).powi(6) - 6.0 * equal * (1.0 - equal).powi(5)
    };
    type Curve<'a> = &'a dyn Fn(f64) -> f64;
    let runs: [(&str, (u64, u64), Curve<'_>); 4] = [
        ("--shingle 3 --sketch classic", (4, 5), &bands(16, 6)),
        ("--shingle 3 --threshold 0.5 --bands 4 --rows 4 --sketch classic", (1, 2), &bands(4, 4)),
        ("--shingle 3 --exact --threshold 0.6", (3, 5), &|_| 1.0),
        ("--shingle 3 --supershingles 6x14 --sketch classic", (0, 1), &six),
    ];
    for (options, (p, q), curve) in runs {
        let expected = by_similarity(&shell, &truth, 3);
        let printed = shell.dedup(&format!("eval --truth truth.jsonl all.jsonl -q {options}")).done();
        let eval = &records::evals(&printed)[0];
        let bins = eval.bins.as_ref().unwrap();
        assert!(bins.len() > 8, "{options}: {} bins", bins.len());
        assert_eq!(bins.len(), expected.len(), "{options}");
        for (bin, (&at, pairs)) in bins.iter().zip(&expected) {
            assert_eq!((bin.from, bin.to), (at as f64 / 20.0, (at + 1) as f64 / 20.0));
            assert_eq!(bin.pairs, pairs.len() as u64, "{options} from {}", bin.from);
            let chance = |&(shared, either): &(u64, u64)| {
                if shared * q >= p * either { curve(shared as f64 / either as f64) } else { 0.0 }
            };
            let predicted = pairs.iter().map(chance).sum::<f64>() / pairs.len() as f64;
            assert!((bin.predicted - predicted).abs() < 1e-4, "{options} from {}: {predicted}", bin.from);
            if options.contains("exact") {
                assert_eq!(bin.recall, bin.predicted);
            }
        }
    }
}

#[test]
fn bins_of_those_that_miss_nothing_hold_what_they_promise() {
    let shell = Shell::new();
    corpus(&shell);
    for options in ["--algo simhash --distance 8 --force", "--algo projection", "--algo spotsigs --min-spots 1"] {
        let printed = shell.dedup(&format!("eval --truth truth.jsonl all.jsonl -q {options}")).done();
        let eval = &records::evals(&printed)[0];
        let bins = eval.bins.as_ref().unwrap();
        assert!(bins.iter().all(|bin| bin.recall == bin.predicted), "{options}: {bins:?}");
    }
    // The same from standard input, on one thread; no bins without a similarity.
    let piped = shell.sh("cat all.jsonl | dedup eval --truth truth.jsonl -q -j1 --algo projection").done();
    assert_eq!(piped, shell.dedup("eval --truth truth.jsonl all.jsonl -q --algo projection").done());
    let printed = shell.dedup("eval --truth truth.jsonl all.jsonl -q --algo imatch").done();
    let reason = records::evals(&printed)[0].no_bins.clone();
    assert!(reason.is_some_and(|reason| reason.contains("no similarity")), "{printed}");
}

#[test]
fn accuracy_is_the_share_of_documents_in_the_right_company() {
    let shell = Shell::new();
    let truth = corpus(&shell);
    let ids: Vec<String> = (0..200).map(|number| format!("d{number}")).collect();
    let number: BTreeMap<&str, usize> = ids.iter().map(String::as_str).zip(0..).collect();
    let company = |pairs: &[(usize, usize)]| -> Vec<Vec<usize>> {
        let clusters = components(ids.len(), pairs);
        (0..ids.len()).map(|d| clusters.iter().find(|c| c.contains(&d)).cloned().unwrap_or(vec![d])).collect()
    };
    let labelled: Vec<_> = truth.iter().map(|(a, b)| (number[a.as_str()], number[b.as_str()])).collect();
    for options in ["", "--exact --threshold 0.6", "--algo imatch"] {
        let found = records::pairs(&shell.dedup(&format!("scan all.jsonl -q {options}")).done());
        let found: Vec<_> = found.iter().map(|pair| (number[&*pair.a], number[&*pair.b])).collect();
        let right = company(&labelled).into_iter().zip(company(&found)).filter(|(a, b)| a == b).count();
        let printed = shell.dedup(&format!("eval --truth truth.jsonl all.jsonl -q {options}")).done();
        assert_eq!(records::evals(&printed)[0].accuracy(), right as f64 / 200.0, "{options}");
        assert!((20..200).contains(&right), "{right} of 200");
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
fn of_nothing_found_there_is_no_precision() {
    let shell = Shell::new();
    shell.write("two.jsonl", "{\"id\":1,\"text\":\"abcdefgh abcdefgh\"}\n{\"id\":2,\"text\":\"stuvwxyz stuvwxyz\"}\n");
    shell.write("truth.jsonl", "{\"cluster\":[1,2]}\n");
    let run = shell.dedup("eval --truth truth.jsonl two.jsonl");
    let eval = &records::evals(&run.stdout)[0];
    assert_eq!((eval.measures(), eval.counts()), ([None, Some(0.0), None, Some(0.0)], [1, 0, 0, 0, 1, 0]));
    assert!(run.stdout.contains("\"precision\":null,\"recall\":0.0,\"f1\":null,"), "{}", run.stdout);
    let row = run.stderr.lines().find(|line| line.contains("  minhash  ")).expect("a row of the table");
    let cells: Vec<&str> = row.split_whitespace().skip(2).collect();
    assert_eq!(cells, ["0", "0", "0", "1", "0", "-", "0.0000", "-", "0.0000", "0.0000"], "{row}");
    // There is no best threshold either.
    let swept = shell.dedup("eval --truth truth.jsonl two.jsonl --sweep --plot swept.svg");
    assert!(
        !swept.stdout.contains("best") && swept.stderr.contains("best: none, as no F1 is above 0"),
        "{}",
        swept.stderr
    );
    assert!(!std::fs::read_to_string(shell.folder().join("swept.svg")).unwrap().contains("NaN"));
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

/// The counts of a sample, and the pairs of `--errors`, against sets of pairs; at every point of a sweep too.
#[test]
fn a_sample_counts_labelled_pairs_alone() {
    let shell = Shell::new();
    let truth = corpus(&shell);
    let (mut labels, mut lines) = (BTreeMap::new(), String::new());
    let scanned = records::pairs(&shell.dedup("scan all.jsonl -q --exact --threshold 0.3").done());
    let scanned = scanned.iter().map(|pair| ordered(&pair.a, &pair.b));
    for (at, pair) in scanned.chain((0..20).map(|n| ordered(&format!("d{n}"), &format!("d{}", 199 - n)))).enumerate() {
        if at % 3 > 0 {
            continue;
        }
        let label = truth.contains(&pair);
        let value = if at % 2 == 0 { serde_json::json!(label) } else { serde_json::json!(u8::from(label)) };
        lines += &(serde_json::json!({ "a": pair.1, "b": pair.0, "is_duplicate": value }).to_string() + "\n");
        labels.insert(pair, label);
    }
    let labelled = |wanted: bool| labels.values().filter(|&&label| label == wanted).count() as u64;
    assert!(labelled(true) > 10 && labelled(false) > 10, "{} and {}", labelled(true), labelled(false));
    shell.write("sample.jsonl", lines);
    let eval = |options: &str| shell.dedup(&format!("eval --truth sample.jsonl all.jsonl -q {options}")).done();
    for options in ["", "--exact --threshold 0.4", "--algo simhash --distance 12 --force"] {
        let found = records::pairs(&shell.dedup(&format!("scan all.jsonl -q {options}")).done());
        let found: BTreeSet<_> = found.iter().map(|pair| ordered(&pair.a, &pair.b)).collect();
        let count = |wanted| found.iter().filter(|pair| labels.get(pair) == wanted).count() as u64;
        let (right, wrong, other) = (count(Some(&true)), count(Some(&false)), count(None));
        let printed = eval(&format!("{options} --errors errors.jsonl"));
        let found_by_eval = &records::evals(&printed)[0];
        let counts = [labelled(true), found.len() as u64, right, wrong, labelled(true) - right, 0];
        assert_eq!(found_by_eval.counts(), counts, "{options}");
        let of_sample = (found_by_eval.truth_negatives, found_by_eval.unlabelled);
        assert_eq!(of_sample, (Some(labelled(false)), Some(other)), "{options}");
        let errors = std::fs::read_to_string(shell.folder().join("errors.jsonl")).unwrap();
        let expected = labels.iter().filter(|(pair, label)| found.contains(pair) != **label).count();
        assert_eq!(errors.lines().count(), expected, "{options}");
    }
    let swept = eval("--sweep");
    for value in ["0.1", "0.35", "0.6", "0.9"] {
        let wanted: f64 = value.parse().unwrap();
        let points = swept.lines().map(records::parse);
        let point = points.filter_map(|record| if let Record::Point(point) = record { Some(point) } else { None });
        let point = point.into_iter().find(|point| point.at() == wanted).expect("it is swept");
        let found = &records::evals(&eval(&format!("--exact --threshold {value}")))[0];
        assert_eq!((point.counts(), point.unlabelled), (found.counts(), found.unlabelled), "{value}");
    }
    // The wrong and missed pairs of the best point are those of a run with it.
    for (sweep, at) in [("", "--exact --threshold"), ("--algo simhash --force", "--algo simhash --force --distance")] {
        let errors = || std::fs::read_to_string(shell.folder().join("errors.jsonl")).unwrap();
        let swept = eval(&format!("{sweep} --sweep --errors errors.jsonl"));
        let of_best = errors();
        let best = swept.lines().last().and_then(|line| match records::parse(line) {
            Record::Point(point) if line.contains("\"type\":\"best\"") => Some(point.at()),
            _ => None,
        });
        eval(&format!("{at} {} --errors errors.jsonl", best.expect("a best point")));
        assert_eq!(of_best, errors(), "{sweep}");
        assert!(of_best.contains("\"wrong\"") || of_best.contains("\"missed\""), "{sweep}");
    }
}
