//! Pairs, clusters and verdicts are three views of one result.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::records::{self, Cluster, Pair, Verdict};
use super::shell::{Shell, root};

const FIXTURES: &[&str] = &[
    "fixtures/chinese/docs",
    "fixtures/code/docs",
    "fixtures/encodings/docs",
    "fixtures/english/docs",
    "fixtures/jsonl/docs",
    "fixtures/markdown/docs",
];

/// Checks that the three outputs of a scan agree.
fn check(pairs: &[Pair], clusters: &[Cluster], verdicts: &[Verdict]) {
    let at: BTreeMap<&str, usize> = verdicts.iter().enumerate().map(|(at, verdict)| (&*verdict.id, at)).collect();
    assert_eq!(at.len(), verdicts.len(), "an id occurs twice");

    let places: Vec<_> = pairs.iter().map(|pair| (at[&*pair.a], at[&*pair.b])).collect();
    assert!(places.iter().all(|(a, b)| a < b), "a before b in input order");
    assert!(places.windows(2).all(|w| w[0] < w[1]), "sorted, and each pair once");

    // Clusters are what pairs connect.
    let mut group: Vec<usize> = (0..verdicts.len()).collect();
    for &(a, b) in &places {
        let (from, to) = (group[a].max(group[b]), group[a].min(group[b]));
        group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
    }
    let mut connected: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (place, verdict) in verdicts.iter().enumerate() {
        connected.entry(group[place]).or_default().push(&verdict.id);
    }
    let connected: Vec<_> = connected.into_values().filter(|members| members.len() > 1).collect();
    assert_eq!(clusters.iter().map(|cluster| &*cluster.members).collect::<Vec<_>>(), connected);
    assert!(clusters.iter().map(|cluster| cluster.id).eq(1..=clusters.len() as u64), "numbered in order");

    // Verdicts say the same, and each duplicate is one of a kept document.
    let kept: BTreeSet<&str> = verdicts.iter().filter(|verdict| verdict.keep).map(|verdict| &*verdict.id).collect();
    for verdict in verdicts {
        let cluster = clusters.iter().find(|cluster| cluster.members.contains(&verdict.id));
        assert_eq!(verdict.cluster, cluster.map(|cluster| cluster.id), "{}", verdict.id);
        assert_eq!(verdict.keep, cluster.is_none_or(|cluster| cluster.keep.contains(&verdict.id)), "{}", verdict.id);
        let Some(original) = &verdict.duplicate_of else { continue };
        assert!(kept.contains(&**original), "{} is a duplicate of what is not kept", verdict.id);
        let joins = |pair: &&Pair| [(&pair.a, &pair.b), (&pair.b, &pair.a)].contains(&(&verdict.id, original));
        let pair = pairs.iter().find(joins).expect("a duplicate has its pair");
        assert_eq!(verdict.similarity(), Some(pair.similarity()));
    }
}

#[test]
fn all_forms_of_output_agree() {
    let shell = Shell::new();
    for folder in FIXTURES {
        for options in ["", "--threshold 0.5", "--algo simhash --distance 10 --force", "--algo spotsigs"] {
            let run = |emit: &str| shell.dedup(&format!("scan {folder} {options} -q --emit {emit}")).done();
            let pairs = records::pairs(&run("pairs"));
            for keep in ["first", "last", "longest", "shortest"] {
                let clusters = records::clusters(&run(&format!("clusters --keep {keep}")));
                let verdicts = records::verdicts(&run(&format!("verdicts --keep {keep}")));
                check(&pairs, &clusters, &verdicts);
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Truth {
    a: String,
    b: String,
    jaccard: f64,
}

#[test]
fn the_pairs_of_the_fixtures_are_found() {
    let shell = Shell::new();
    let nested = "fixtures/jsonl/nested --text-field doc.body --id-field doc.id";
    for (truth, scanned) in [
        ("chinese/truth", "fixtures/chinese/docs"),
        ("code/truth", "fixtures/code/docs"),
        ("english/truth", "fixtures/english/docs"),
        ("jsonl/truth", "fixtures/jsonl/docs"),
        ("jsonl/truth", "fixtures/jsonl/compressed"),
        ("jsonl/truth-nested", nested),
        ("markdown/truth", "fixtures/markdown/docs"),
    ] {
        let truth =
            std::fs::read_to_string(root().join(format!("fixtures/{truth}.jsonl"))).expect("the truth is there");
        let truth: Vec<Truth> = truth.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut truth: Vec<_> = truth.iter().map(|pair| (&*pair.a, &*pair.b, pair.jaccard)).collect();
        truth.sort_by(|x, y| (x.0, x.1).cmp(&(y.0, y.1)));
        let found = records::pairs(&shell.dedup(&format!("scan -q {scanned}")).done());
        let mut found: Vec<_> = found.iter().map(|p| (&*p.a, &*p.b, p.similarity().parse::<f64>().unwrap())).collect();
        found.sort_by(|x, y| (x.0, x.1).cmp(&(y.0, y.1)));
        let ids = |pairs: &[(&str, &str, f64)]| pairs.iter().map(|p| format!("{} {}", p.0, p.1)).collect::<Vec<_>>();
        assert_eq!(ids(&found), ids(&truth), "{scanned}");
        // The tokenizer there is a simpler one: see the README of each folder.
        let close = found.iter().zip(&truth).all(|(found, truth)| (found.2 - truth.2).abs() <= 0.02);
        assert!(close, "{scanned}: {found:?} {truth:?}");
    }
}

#[test]
fn verdicts_and_rejects_account_for_every_record() {
    let shell = Shell::new();
    let kinds = [
        r#"{"id":ID,"text":"the quick brown fox jumps over the lazy dog"}"#,
        r#"{"id":ID,"text":"pack my box with five dozen liquor jugs now"}"#,
        "no JSON",
        r#"{"id":ID,"text":null}"#,
        r#"{"id":[],"text":"x"}"#,
        r#"{"id":ID}"#,
        "[1]",
    ];
    for seed in 0..20 {
        let mut random = crate::support::random::Random::new(seed);
        let lines: Vec<String> =
            (0..60).map(|_| random.pick(&kinds).replace("ID", &random.below(30).to_string())).collect();
        shell.write("a.jsonl", lines.join("\n") + "\n");
        let options = *random.pick(&["", "--memory 1M -j1", "--shingle 2", "--algo spotsigs", "--exact"]);
        let run = shell.dedup(&format!("scan a.jsonl --emit verdicts -q --rejects rejected.jsonl {options}"));
        let verdicts = records::verdicts(&run.stdout);
        assert_eq!(verdicts.len(), lines.len(), "a verdict for each record: {options}");
        let rejected = shell.folder().join("rejected.jsonl");
        let rejected = records::rejected(&std::fs::read_to_string(rejected).expect("it is written"));
        let unread: Vec<u64> = (1..).zip(&verdicts).filter(|(_, v)| v.error.is_some()).map(|(line, _)| line).collect();
        assert_eq!(rejected.iter().map(|rejected| rejected.record.unwrap()).collect::<Vec<_>>(), unread);
        for (line, verdict) in lines.iter().zip(&verdicts) {
            let is_document = line.contains(r#""text":"the"#) || line.contains(r#""text":"pack"#);
            assert_eq!(verdict.error.is_none(), is_document, "{line}");
        }
        for rejected in rejected {
            assert_eq!(rejected.content.as_ref(), lines.get(rejected.record.unwrap() as usize - 1));
        }
        let fingerprints = if options.contains("--memory") { "-j1" } else { options };
        let run = shell.dedup(&format!("scan a.jsonl --emit fingerprints -q {fingerprints}"));
        let fingerprints = records::fingerprints(&run.stdout);
        let seen = fingerprints.iter().map(|fingerprint| (&fingerprint.id, &fingerprint.error, &fingerprint.at));
        assert!(seen.eq(verdicts.iter().map(|verdict| (&verdict.id, &verdict.error, &verdict.at))), "{options}");
        // Of each of the two texts one document is kept, at most.
        let kept = verdicts.iter().filter(|verdict| verdict.keep && verdict.error.is_none()).count();
        assert!(kept <= 2 || options.contains("spotsigs"), "{kept} of two texts are kept: {options}");
    }
}

#[test]
fn hosts_count_the_documents_of_pairs() {
    let shell = Shell::new();
    let run = |emit: &str| shell.dedup(&format!("scan {FOLDERS} --emit {emit} --threshold 0.5 -q")).stdout;
    let pairs = records::pairs(&run("pairs"));
    let folder = |id: &str| id.rsplit_once('/').expect("a file in a folder").0.to_string();
    let hosts = records::hosts(&run("hosts"));
    assert!(hosts.len() > 2);
    for host in hosts {
        let on = |from: &str, to: &str| {
            let either = pairs.iter().flat_map(|pair| [(&pair.a, &pair.b), (&pair.b, &pair.a)]);
            let documents = either.filter(|(one, other)| folder(one) == from && folder(other) == to);
            documents.map(|(one, _)| one).collect::<BTreeSet<_>>().len() as u64
        };
        assert_eq!((on(&host.a, &host.b), on(&host.b, &host.a)), (host.pages_a, host.pages_b));
    }
}

/// Folders with releases of the same pages.
const FOLDERS: &str = "fixtures/markdown/docs fixtures/english/docs";

#[test]
fn each_document_of_an_index_is_its_own_nearest() {
    let shell = Shell::new();
    let lines: Vec<String> =
        (0..30).map(|number| format!(r#"{{"id":"{number}","text":"text of {number} and a{}"}}"#, number / 3)).collect();
    shell.write("a.jsonl", lines.join("\n") + "\n");
    shell.sh("dedup index add x.idx --shingle 1 -q < a.jsonl");
    for options in ["--top 1", "--top 3 --exhaustive"] {
        let run = shell.sh(&format!("dedup index query x.idx --shingle 1 -q {options} < a.jsonl"));
        let answers = records::neighbours(&run.stdout);
        assert_eq!(answers.len(), 30);
        for answer in answers {
            let first = &answer.neighbours[0];
            assert!(first.id == answer.id && first.is_equal(), "{}: {:?}", answer.id, answer.neighbours);
        }
    }
}

#[test]
fn an_index_exports_the_fingerprints_of_a_scan() {
    let shell = Shell::new();
    let lines: Vec<String> =
        (0..20).map(|number| format!(r#"{{"id":"{number}","text":"text of {number} and {}"}}"#, number * 7)).collect();
    shell.write("a.jsonl", lines.join("\n") + "\n");
    for algorithm in ["simhash --bits 128", "projection", "projection --cosine 0.9"] {
        shell.sh(&format!("dedup index add x.idx --algo {algorithm} -q < a.jsonl"));
        let stored = records::documents(&shell.sh("dedup index export x.idx --fingerprints; rm x.idx").stdout);
        let stored: Vec<_> = stored.into_iter().map(|document| (document.id, document.fingerprint)).collect();
        let force = if algorithm.starts_with("simhash") { "--force" } else { "" };
        let run = shell.sh(&format!("dedup scan a.jsonl --algo {algorithm} {force} -q --emit fingerprints"));
        let made = records::fingerprints(&run.stdout);
        let made: Vec<_> = made.into_iter().map(|document| (document.id, document.fingerprint)).collect();
        let compares_bits = !algorithm.contains("cosine");
        assert_eq!(stored.len(), 20);
        assert_eq!(stored == made, compares_bits, "{algorithm}: the features are stored where those are compared");
    }
}
