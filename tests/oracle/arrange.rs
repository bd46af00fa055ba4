//! Clusters and kept documents, against components found by relabelling and a greedy walk over all documents, on random graphs
//! of similarities with exact copies in the mix.

use crate::support::corpus::Text;
use crate::support::plain::{all_pairs, components};
use crate::support::random::Random;
use crate::support::scanning::{always, outcome_with, pairs};
use neardups::algorithm::{Algorithm, CompareOn, Features, Profile, Row};
use neardups::engine::{Chosen, KeepPolicy, Outcome, ScanOptions, scan};
use neardups::hash::token_hash;
use neardups::similarity::Similarity;
use neardups::source::Documents;
use neardups::tokenizer::Tokens;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

const POLICIES: [KeepPolicy; 4] = [KeepPolicy::First, KeepPolicy::Last, KeepPolicy::Longest, KeepPolicy::Shortest];

/// Similarities in tenths of two kinds of document; 0 means below the threshold.
type Graph = HashMap<(usize, usize), u64>;

/// A graph instead of a measure: the first token of a document is its node.
struct Nodes {
    graph: Arc<Graph>,
    number: Arc<HashMap<u64, usize>>,
}

impl Algorithm for Nodes {
    fn profile(&self) -> Profile {
        Profile::new("graph", "drawn", CompareOn::Fingerprints)
    }
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        features.hashes.extend(tokens.hashes().first());
    }
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        fingerprint.extend(features.hashes.iter().map(|hash| self.number[hash] as u64));
    }
    fn keys(&self, _: &[u64], keys: &mut Vec<u64>) {
        keys.push(1);
    }
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        let tenths = self.graph.get(&(a[0].min(b[0]) as usize, a[0].max(b[0]) as usize))?;
        Some(Similarity::ratio(*tenths, 10))
    }
}

/// Documents of a random graph: which node each is, and how similar two nodes are.
struct Drawn {
    graph: Arc<Graph>,
    /// The node and the number of tokens of each document; `None` for one without features.
    documents: Vec<Option<(usize, usize)>>,
    texts: Vec<Text>,
    /// Which documents are kept whatever they are like.
    always: Vec<bool>,
}

fn draw(random: &mut Random, count: usize) -> Drawn {
    let nodes = 1 + random.below(count);
    let density = *random.pick(&[0.01, 0.05, 0.15, 0.5]);
    let mut graph = Graph::new();
    for pair in all_pairs(nodes) {
        if random.chance(density) {
            graph.insert(pair, 5 + random.below(6) as u64);
        }
    }
    let lengths: Vec<usize> = (0..nodes).map(|_| 1 + random.below(6)).collect();
    let mut documents = Vec::new();
    for _ in 0..count {
        let node = random.below(nodes);
        documents.push((!random.chance(0.05)).then_some((node, lengths[node])));
    }
    let text = |of: &Option<(usize, usize)>| match of {
        Some((node, length)) => format!("node{node}{}", " x".repeat(length - 1)),
        None => "...".into(),
    };
    let texts = documents.iter().enumerate().map(|(n, of)| (format!("d{n}"), text(of))).collect();
    let share = *random.pick(&[0.0, 0.0, 0.1, 0.5, 1.0]);
    let always = (0..count).map(|_| random.chance(share)).collect();
    Drawn { graph: Arc::new(graph), documents, texts, always }
}

impl Drawn {
    fn make(&self) -> Nodes {
        let number = (0..self.texts.len()).map(|n| (token_hash(format!("node{n}").as_bytes(), 0), n)).collect();
        Nodes { graph: Arc::clone(&self.graph), number: Arc::new(number) }
    }

    /// The similarity of two documents, if they are near-duplicates.
    fn similarity(&self, i: usize, j: usize) -> Option<f64> {
        let ((a, _), (b, _)) = (self.documents[i]?, self.documents[j]?);
        if a == b {
            return Some(1.0);
        }
        self.graph.get(&(a.min(b), a.max(b))).map(|&tenths| tenths as f64 / 10.0)
    }

    /// Options with the decisions on documents, those of a reference left out.
    fn options(&self, from: usize) -> ScanOptions {
        let always = (from..self.always.len()).filter(|&n| self.always[n]);
        let lines: String =
            always.map(|n| format!("{{\"type\":\"decision\",\"keep\":\"d{n}\",\"always\":true}}\n")).collect();
        let chosen = Arc::new(Chosen::read("decisions", lines.as_bytes()).unwrap());
        ScanOptions { threads: 2, chosen: Some(chosen), ..ScanOptions::default() }
    }

    /// Documents in the order of a policy, after those that are kept whatever they are like.
    fn order(&self, policy: KeepPolicy) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.documents.len()).collect();
        let length = |n: &usize| self.documents[*n].map_or(0, |(_, length)| length);
        match policy {
            KeepPolicy::First => {}
            KeepPolicy::Last => order.reverse(),
            KeepPolicy::Longest => order.sort_by_key(|n| Reverse(length(n))),
            KeepPolicy::Shortest => order.sort_by_key(length),
            other => unreachable!("{other:?} has no plain version"),
        }
        order.sort_by_key(|&n| !self.always[n]);
        order
    }

    /// Walks the documents in their order and keeps each that no kept one is like, or that is always kept.
    fn greedy(&self, policy: KeepPolicy) -> Vec<bool> {
        let mut kept: Vec<usize> = Vec::new();
        for n in self.order(policy) {
            if self.always[n] || !kept.iter().any(|&k| self.similarity(k, n).is_some()) {
                kept.push(n);
            }
        }
        (0..self.documents.len()).map(|n| kept.contains(&n)).collect()
    }
}

struct Decided {
    keep: bool,
    duplicate_of: Option<(usize, f64)>,
    cluster: Option<u64>,
}

fn number(id: &str) -> usize {
    id[1..].parse().unwrap()
}

fn verdicts(outcome: &Outcome, policy: KeepPolicy) -> Vec<(usize, Decided)> {
    let mut all = Vec::new();
    let ids: Vec<&str> = outcome.documents().collect();
    for v in outcome.keep(policy).unwrap().verdicts() {
        assert_eq!(v.index.map(|index| ids[index]), Some(v.id));
        assert_eq!(v.duplicate_of_index.map(|index| ids[index]), v.duplicate_of.map(|(id, _)| id));
        let duplicate_of = v.duplicate_of.map(|(id, s)| (number(id), s.value()));
        assert_eq!(v.keep, v.duplicate_of.is_none());
        all.push((number(v.id), Decided { keep: v.keep, duplicate_of, cluster: v.cluster }));
    }
    all
}

/// Members, and kept members.
fn clusters(outcome: &Outcome, policy: KeepPolicy) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut all = Vec::new();
    let ids: Vec<&str> = outcome.documents().collect();
    let numbers = |ids: &[&str]| ids.iter().map(|id| number(id)).collect::<Vec<_>>();
    for c in outcome.keep(policy).unwrap().clusters() {
        assert_eq!(c.id, all.len() as u64 + 1);
        let of = |indices: &[usize]| indices.iter().map(|&index| ids[index]).collect::<Vec<_>>();
        assert_eq!((of(&c.indices), of(&c.keep_indices)), (c.members.clone(), c.keep.clone()));
        all.push((numbers(&c.members), numbers(&c.keep)));
    }
    all
}

#[test]
fn clusters_and_kept_documents_equal_the_plain_ones() {
    let mut random = Random::new(1);
    let mut dropped = 0;
    for round in 0..150 {
        let count = 1 + random.below(70);
        let drawn = draw(&mut random, count);
        let outcome = outcome_with(&drawn.texts, &always(|| drawn.make()), &drawn.options(0));
        let expected: Vec<(usize, usize, f64)> =
            all_pairs(count).filter_map(|(i, j)| Some((i, j, drawn.similarity(i, j)?))).collect();
        let found: Vec<_> = pairs(&outcome).into_iter().map(|(a, b, s)| (number(&a), number(&b), s)).collect();
        assert_eq!(found, expected, "round {round}");
        assert!(
            outcome.pairs().map(Result::unwrap).all(|pair| pair.indices == (number(pair.a), number(pair.b))),
            "round {round}"
        );
        assert_eq!(outcome.report.counts.pairs, Some(expected.len() as u64));
        let edges: Vec<(usize, usize)> = expected.iter().map(|&(i, j, _)| (i, j)).collect();
        let components = components(count, &edges);
        for policy in POLICIES {
            let keep = drawn.greedy(policy);
            let verdicts = verdicts(&outcome, policy);
            let kept_members = |members: &Vec<usize>| members.iter().copied().filter(|&m| keep[m]).collect::<Vec<_>>();
            let with_kept: Vec<_> = components.iter().map(|m| (m.clone(), kept_members(m))).collect();
            assert_eq!(clusters(&outcome, policy), with_kept, "round {round}, {policy:?}");
            assert_eq!(verdicts.len(), count);
            for (n, (id, verdict)) in verdicts.iter().enumerate() {
                assert_eq!((*id, verdict.keep), (n, keep[n]), "round {round}, {policy:?}, document {n}");
                if let Some((by, similarity)) = verdict.duplicate_of {
                    assert!(keep[by], "round {round}, {policy:?}: {n} is said to be like {by}, which is not kept");
                    assert_eq!(drawn.similarity(n, by), Some(similarity));
                }
                let own = components.iter().position(|members| members.contains(&n)).map(|at| at as u64 + 1);
                assert_eq!(verdict.cluster, own);
            }
            let count = keep.iter().filter(|keep| !**keep).count() as u64;
            assert_eq!(outcome.keep(policy).unwrap().dropped(), count);
            let kept: Vec<usize> = (0..keep.len()).filter(|&n| keep[n]).collect();
            assert_eq!(outcome.keep(policy).unwrap().indices().collect::<Vec<_>>(), kept, "round {round}, {policy:?}");
            dropped += count;
        }
    }
    assert!(dropped > 5000, "{dropped} documents dropped");
}

#[test]
fn what_a_document_is_a_duplicate_of_is_the_most_similar_one_kept_before_it() {
    let mut random = Random::new(2);
    for round in 0..60 {
        let count = 2 + random.below(40);
        let drawn = draw(&mut random, count);
        let outcome = outcome_with(&drawn.texts, &always(|| drawn.make()), &drawn.options(0));
        for policy in POLICIES {
            let (order, keep) = (drawn.order(policy), drawn.greedy(policy));
            for (n, verdict) in verdicts(&outcome, policy) {
                if keep[n] {
                    assert_eq!(verdict.duplicate_of, None, "round {round}, {policy:?}, document {n}");
                    continue;
                }
                let turn = order.iter().position(|&m| m == n).unwrap();
                let before = order[..turn].iter().copied().filter(|&k| keep[k]);
                let mut best: Option<(usize, f64)> = None;
                let node = |n: usize| drawn.documents[n].map(|(node, _)| node);
                for (k, s) in before.filter_map(|k| Some((k, drawn.similarity(k, n)?))) {
                    // Among equals a copy; or the preferred one, which came first.
                    let is_better = |(other, most)| (most, node(other) == node(n)) < (s, node(k) == node(n));
                    if best.is_none_or(is_better) {
                        best = Some((k, s));
                    }
                }
                assert_eq!(verdict.duplicate_of, best, "round {round}, {policy:?}, document {n}");
            }
        }
    }
}

#[test]
fn with_a_reference_only_pairs_across_count() {
    let mut random = Random::new(3);
    let mut dropped = 0;
    for round in 0..150 {
        let count = 2 + random.below(60);
        let drawn = draw(&mut random, count);
        let references = random.below(count);
        let (reference, new) = drawn.texts.split_at(references);
        let (mut source, mut of_reference) =
            (Documents::new(new.iter().cloned()), Documents::new(reference.iter().cloned()));
        let options = drawn.options(references);
        let factory = always(|| drawn.make());
        let outcome = scan(&mut source, Some(&mut of_reference), &factory, &options, &()).unwrap();
        let across = |&(i, j): &(usize, usize)| i < references && j >= references;
        let expected: Vec<(usize, usize, f64)> =
            all_pairs(count).filter(across).filter_map(|(i, j)| Some((i, j, drawn.similarity(i, j)?))).collect();
        let found: Vec<_> = pairs(&outcome).into_iter().map(|(a, b, s)| (number(&a), number(&b), s)).collect();
        assert_eq!(found, expected, "round {round}");
        let counts = &outcome.report.counts;
        assert_eq!(
            (counts.pairs, counts.references, counts.documents),
            (Some(expected.len() as u64), references as u64, (count - references) as u64)
        );
        let edges: Vec<(usize, usize)> = expected.iter().map(|&(i, j, _)| (i, j)).collect();
        let components = components(count, &edges);
        let best = |n: usize| {
            if drawn.always[n] {
                return None;
            }
            let to_n = expected.iter().filter(|&&(_, j, _)| j == n).map(|&(_, _, s)| s);
            to_n.reduce(f64::max)
        };
        for policy in POLICIES {
            let verdicts = verdicts(&outcome, policy);
            assert_eq!(verdicts.len(), count - references);
            for (n, (id, verdict)) in (references..).zip(&verdicts) {
                assert_eq!((*id, verdict.keep), (n, best(n).is_none()), "round {round}, {policy:?}");
                if let Some((by, similarity)) = verdict.duplicate_of {
                    assert!(by < references);
                    assert_eq!((drawn.similarity(n, by), best(n)), (Some(similarity), Some(similarity)));
                    dropped += 1;
                }
                let own = components.iter().position(|members| members.contains(&n)).map(|at| at as u64 + 1);
                assert_eq!(verdict.cluster, own, "round {round}, {policy:?}");
            }
            let kept_members =
                |m: &Vec<usize>| m.iter().copied().filter(|&n| n < references || best(n).is_none()).collect::<Vec<_>>();
            let with_kept: Vec<_> = components.iter().map(|m| (m.clone(), kept_members(m))).collect();
            assert_eq!(clusters(&outcome, policy), with_kept, "round {round}, {policy:?}");
        }
    }
    assert!(dropped > 1000, "{dropped} documents dropped");
}
