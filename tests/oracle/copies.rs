//! Thousands of exact copies: fast and correct.

use crate::support::corpus::Text;
use crate::support::scanning::{factory, outcome, pairs};
use neardups::engine::KeepPolicy;

const LICENCE: &str = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and \
    associated documentation files, to deal in the Software without restriction, including without limitation the rights to \
    use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to \
    whom the Software is furnished to do so, subject to the following conditions: the above notice shall be included in all.";

/// So many copies of a text, a near-duplicate of it before the last one, and another text at the end.
fn corpus(copies: usize) -> Vec<Text> {
    let mut documents: Vec<Text> = (0..copies).map(|n| (n.to_string(), LICENCE.to_string())).collect();
    documents.insert(copies - 1, ("near".into(), format!("{LICENCE} See the file.")));
    documents.push(("other".into(), "nothing of the sort at all is said here ".repeat(3)));
    documents
}

#[test]
fn twenty_thousand_copies_have_clusters_and_verdicts() {
    let copies = 20_000;
    for algorithm in ["minhash", "simhash"] {
        let factory = factory(algorithm, if algorithm == "simhash" { &[("distance", "20")] } else { &[] });
        let outcome = outcome(&corpus(copies), &factory);
        let counts = &outcome.report.counts;
        let (all, copies) = (copies as u64 + 1, copies as u64);
        assert_eq!((counts.copies, counts.pairs), (copies - 1, Some(all * (all - 1) / 2)), "{algorithm}");
        for (policy, kept) in [(KeepPolicy::First, "0"), (KeepPolicy::Last, "19999"), (KeepPolicy::Longest, "near")] {
            let decided = outcome.keep(policy).unwrap();
            assert_eq!(decided.dropped(), copies);
            let (mut sizes, mut verdicts) = (Vec::new(), 0);
            for cluster in decided.clusters() {
                sizes.push(cluster.members.len() as u64);
                assert_eq!(cluster.keep, [kept]);
            }
            assert_eq!(sizes, [all]);
            for verdict in decided.verdicts() {
                verdicts += 1;
                assert_eq!(verdict.keep, verdict.id == kept || verdict.id == "other");
                assert_eq!(verdict.duplicate_of.map(|(id, _)| id), (!verdict.keep).then_some(kept));
            }
            assert_eq!(verdicts, all + 1);
        }
    }
}

#[test]
fn every_pair_of_copies_is_listed_and_each_once() {
    let documents = corpus(300);
    let found = pairs(&outcome(&documents, &factory("minhash", &[])));
    let mut expected = Vec::new();
    for (i, a) in documents[..301].iter().enumerate() {
        expected.extend(documents[i + 1..301].iter().map(|b| (a.0.as_str(), b.0.as_str())));
    }
    assert!(found.iter().map(|(a, b, _)| (a.as_str(), b.as_str())).eq(expected));
    for (a, b, similarity) in &found {
        assert_eq!(*similarity == 1.0, a != "near" && b != "near");
    }
}

#[test]
fn listing_pairs_can_stop_early() {
    let outcome = outcome(&corpus(20_000), &factory("minhash", &[]));
    assert!(outcome.report.counts.pairs > Some(100_000_000));
    assert_eq!(outcome.pairs().map(Result::unwrap).take(1000).filter(|pair| pair.a == "0").count(), 1000);
}
