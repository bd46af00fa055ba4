//! Hosts that repeat each other, against sets of documents made from all pairs.

use crate::support::corpus::{Text, related};
use crate::support::random::Random;
use crate::support::scanning::{factory, outcome, outcome_against};
use neardups::engine::{Outcome, host_of};
use std::collections::{BTreeMap, BTreeSet};

/// Documents with URLs, paths and plain names as ids.
fn documents(random: &mut Random, count: usize, side: &str) -> Vec<Text> {
    let renamed = related(random, count, 40).into_iter().enumerate().map(|(number, (_, text))| {
        let host = random.below(7);
        let folder = random.below(3);
        let id = match random.below(10) {
            0 => format!("{side}{number}"),
            1 => format!("mirror/{folder}/{side}{number}"),
            2 => format!("HTTP://Host{host}.example:80/{folder}/x/{side}{number}?a/b"),
            _ => format!("https://host{host}.example/{folder}/{side}{number}"),
        };
        (id, text)
    });
    renamed.collect()
}

/// The documents of `a` with a near-duplicate on `b`, and the reverse, and all of each.
type Row = (String, String, (u64, u64), (u64, u64));

/// The pairs of documents on different hosts.
fn pairs_across(outcome: &Outcome, references: usize, depth: usize) -> u64 {
    let ids: Vec<&str> = outcome.documents().collect();
    let host = |index: usize| host_of(ids[index], depth).map(|host| (index < references, host.into_owned()));
    let hosts = outcome.pairs().map(Result::unwrap).filter_map(|pair| host(pair.indices.0).zip(host(pair.indices.1)));
    hosts.filter(|(a, b)| a != b).count() as u64
}

/// From all pairs; the sides of a pair are kept apart with a reference.
fn expected(outcome: &Outcome, references: usize, depth: usize) -> BTreeSet<Row> {
    let ids: Vec<&str> = outcome.documents().collect();
    let host = |index: usize| host_of(ids[index], depth).map(|host| (index < references, host.into_owned()));
    let mut first = BTreeMap::new();
    let mut all: BTreeMap<_, u64> = BTreeMap::new();
    for index in 0..ids.len() {
        if let Some(host) = host(index) {
            first.entry(host.clone()).or_insert(index);
            *all.entry(host).or_default() += 1;
        }
    }
    let mut repeated: BTreeMap<_, [BTreeSet<usize>; 2]> = BTreeMap::new();
    for pair in outcome.pairs().map(Result::unwrap) {
        let (a, b) = pair.indices;
        let (Some(of_a), Some(of_b)) = (host(a), host(b)) else { continue };
        if of_a == of_b {
            continue;
        }
        let ((one, x), (other, y)) =
            if first[&of_a] < first[&of_b] { ((of_a, a), (of_b, b)) } else { ((of_b, b), (of_a, a)) };
        let sets = repeated.entry((one, other)).or_default();
        sets[0].insert(x);
        sets[1].insert(y);
    }
    let rows = repeated.into_iter().map(|((one, other), [a, b])| {
        let of = (all[&one], all[&other]);
        (one.1, other.1, (a.len() as u64, b.len() as u64), of)
    });
    rows.collect()
}

fn found(outcome: &Outcome, depth: usize) -> Vec<Row> {
    let hosts = outcome.hosts(depth).unwrap();
    assert_eq!(hosts.left_out, 0);
    hosts
        .pairs()
        .map(Result::unwrap)
        .map(|pair| (pair.a.to_string(), pair.b.to_string(), pair.pages, pair.of))
        .collect()
}

#[test]
fn hosts_are_counted_as_all_pairs_say() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let texts = documents(&mut random, 150, "d");
        let (reference, factory) = (documents(&mut random, 60, "r"), factory("minhash", &[("threshold", "0.5")]));
        for (outcome, references) in
            [(outcome(&texts, &factory), 0), (outcome_against(&reference, &texts, &factory), 60)]
        {
            for depth in [0, 1] {
                let across = outcome.hosts(depth).unwrap().document_pairs;
                assert_eq!(across, pairs_across(&outcome, references, depth));
                let found = found(&outcome, depth);
                assert!(found.is_sorted_by_key(|(_, _, (a, b), _)| std::cmp::Reverse(a + b)), "most first");
                assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), expected(&outcome, references, depth));
                assert!(references > 0 || found.len() > 5, "seed {seed}: {} pairs of hosts", found.len());
            }
        }
    }
}

/// The texts of a page on too many hosts do not count, and those that are similar to it do.
#[test]
fn what_is_left_out_is_left_out_on_both_sides() {
    let page = "one page that every host of this crawl has in common with all others".to_string();
    let mut texts: Vec<Text> = (0..1001).map(|host| (format!("http://h{host}/a"), page.clone())).collect();
    texts.push(("http://a/x".into(), format!("{page} and more")));
    texts.push(("http://b/x".into(), format!("{page} and more here")));
    let factory = factory("minhash", &[("threshold", "0.5"), ("shingle", "1"), ("exact", "true")]);
    let hosts = outcome(&texts, &factory).hosts(0).unwrap();
    assert_eq!(hosts.left_out, 1);
    let pairs: Vec<_> = hosts.pairs().map(Result::unwrap).map(|pair| (pair.a, pair.b, pair.pages)).collect();
    assert_eq!(pairs, [("a", "b", (1, 1))]);
}

/// A page on very many hosts takes neither their square nor hides the rest.
#[test]
fn a_page_on_more_hosts_than_are_counted_is_left_out() {
    let page = "one page that every host of this crawl has in common with all others".to_string();
    let mut texts: Vec<Text> = (0..1001).map(|host| (format!("http://h{host}/a"), page.clone())).collect();
    texts.extend(
        (0..2).map(|host| (format!("http://h{host}/b"), "another page of two hosts in this crawl only".into())),
    );
    let outcome = outcome(&texts, &factory("minhash", &[]));
    let hosts = outcome.hosts(0).unwrap();
    assert_eq!((hosts.left_out, hosts.count()), (1, 1));
    let pair = hosts.pairs().next().unwrap().unwrap();
    assert_eq!((pair.a, pair.b, pair.pages, pair.of), ("h0", "h1", (1, 1), (2, 2)));
}
