//! Keep-sets and clusters made without all pairs, against those made of all pairs.

use super::hamming::Coded;
use crate::support::corpus::{Text, related, with_articles, words};
use crate::support::plain::components;
use crate::support::random::Random;
use crate::support::scanning::{Batched, Method, always, and_all_others, factory, outcome_with};
use neardups::algorithm::AlgorithmFactory;
use neardups::algorithm::simhash::{SimHash, Weights};
use neardups::engine::{
    Chosen, KEEP_POLICIES, KeepPolicy, Kept, Observer, Outcome, Report, ScanOptions, Stage, deduplicate, scan,
    scan_to_keep,
};
use neardups::hash::token_hash;
use neardups::report::JsonLines;
use neardups::source::{Batch, Number, Rank, Source};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// With settings that some documents of the tests are alike by. The others of the table come with their defaults.
const METHODS: &[Method] = &[
    ("minhash", &[("threshold", "0.4"), ("shingle", "2")]),
    ("minhash", &[("threshold", "0.5"), ("shingle", "1"), ("exact", "true")]),
    ("minhash", &[("supershingles", "6x3")]),
    ("simhash", &[("force", "true"), ("distance", "12")]),
    // 91 tables, which are not made.
    ("simhash", &[("force", "true"), ("distance", "12"), ("blocks", "14")]),
    ("projection", &[("agree", "340")]),
    ("projection", &[("cosine", "0.7")]),
    ("imatch", &[("min-terms", "2")]),
    ("spotsigs", &[("threshold", "0.4"), ("min-spots", "1")]),
];

/// Clusters and verdicts, as they would be written.
fn written(kept: &Kept<'_>, report: &Report) -> String {
    let mut out = Vec::new();
    let mut lines = JsonLines::new(&mut out, report);
    kept.clusters().for_each(|cluster| lines.cluster(&cluster).unwrap());
    kept.verdicts().for_each(|verdict| lines.verdict(&verdict).unwrap());
    lines.finish().unwrap();
    String::from_utf8(out).unwrap()
}

/// Compares all policies, and returns the comparisons of all pairs and of the keep-sets.
fn check(
    reference: &[Text],
    documents: &[Text],
    factory: &dyn AlgorithmFactory,
    options: &ScanOptions,
    what: &str,
) -> (u64, u64) {
    fn side(documents: &[Text]) -> Batched<'_> {
        Batched { documents, size: 17 }
    }
    let mut against = (!reference.is_empty()).then(|| side(reference));
    let mut compared = 0;
    let all = {
        let against = against.as_mut().map(|side| side as &mut dyn neardups::source::Source);
        scan(&mut side(documents), against, factory, options, &()).unwrap()
    };
    for (name, policy, _) in KEEP_POLICIES {
        let against = against.as_mut().map(|side| side as &mut dyn neardups::source::Source);
        let kept = scan_to_keep(&mut side(documents), against, factory, options, &(), *policy).unwrap();
        let (expected, found) =
            (written(&all.keep(*policy).unwrap(), &all.report), written(&kept.kept(), kept.report()));
        assert!(found == expected, "{what}, {name}:\n{}", first_difference(&expected, &found));
        assert_eq!(kept.report().counts.pairs, None);
        compared = compared.max(kept.report().compared);
    }
    (all.report.compared, compared)
}

fn first_difference(a: &str, b: &str) -> String {
    a.lines().zip(b.lines()).find(|(a, b)| a != b).map_or(String::new(), |(a, b)| format!("{a}\n{b}"))
}

#[test]
fn a_keep_set_needs_no_list_of_pairs() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let documents = with_articles(related(&mut random, 260, 30));
        let (reference, documents) = documents.split_at(60);
        for (name, settings) in &and_all_others(METHODS) {
            let factory = factory(name, settings);
            let options = ScanOptions { threads: 1 + seed as usize % 3, seed, ..ScanOptions::default() };
            let what = format!("{name} {settings:?} with seed {seed}");
            check(&[], documents, &factory, &options, &what);
            check(reference, documents, &factory, &options, &format!("{what} against a reference"));
        }
    }
}

/// More pairs of fingerprints than are listed: those of crowds that overlap, some of them copies.
#[test]
fn many_pairs_of_fingerprints_are_not_listed() {
    for (seed, texts, references) in [(0, 1500, 0), (1, 2200, 1100)] {
        let mut random = Random::new(seed);
        let flipped =
            |code: u64, bits: usize, random: &mut Random| (0..bits).fold(code, |code, _| code ^ 1 << random.below(64));
        let mut centres = vec![0x0123_4567_89ab_cdefu64];
        (0..5).for_each(|_| centres.push(flipped(centres[centres.len() - 1], 13, &mut random)));
        centres.extend([!centres[0], flipped(!centres[0], 14, &mut random)]);
        let crowd = |random: &mut Random| {
            let (centre, bits) = (centres[random.below(centres.len())], random.below(9));
            flipped(centre, bits, random)
        };
        let codes: Vec<u64> = (0..texts).map(|_| crowd(&mut random)).collect();
        let text = |n: usize| (format!("d{n}"), format!("code{}", if n % 10 == 9 { n / 2 } else { n }));
        let documents: Vec<Text> = (0..codes.len()).map(text).collect();
        let code = |n: usize| (token_hash(format!("code{n}").as_bytes(), seed), vec![codes[n]]);
        let by_token: Arc<HashMap<u64, Vec<u64>>> = Arc::new((0..codes.len()).map(code).collect());
        // 286 tables, which are not made, and 11.
        let of_blocks = |blocks| {
            let by_token = Arc::clone(&by_token);
            always(move || Coded {
                inner: SimHash::new(64, 10, vec![1], Weights::Binary, Some(blocks)),
                codes: Arc::clone(&by_token),
            })
        };
        let options = ScanOptions { threads: 1 + seed as usize % 3, seed, ..ScanOptions::default() };
        let (reference, others) = documents.split_at(references);
        for blocks in [11, 13] {
            check(reference, others, &of_blocks(blocks), &options, &format!("{blocks} blocks with seed {seed}"));
        }
        // With decisions; and with a reference, compared with each other too.
        let mut wishes = wishes(&mut random, texts, 0.1);
        wishes[..references].fill(Wish::Nothing);
        let decided = ScanOptions { chosen: Some(chosen(&documents, &wishes)), ..options.clone() };
        for blocks in [11, 13] {
            let what = format!("{blocks} blocks with seed {seed} and decisions");
            check(reference, others, &of_blocks(blocks), &decided, &what);
            let similar = similar(&outcome_with(&documents, &of_blocks(blocks), &options), texts);
            let mut order: Vec<usize> = (0..texts).collect();
            order[references..].sort_by_key(|&document| wishes[document]);
            let is_fixed = |document| document < references || wishes[document] == Wish::Always;
            let best = choice(&documents, &similar, &order, is_fixed);
            let mut against = Batched { documents: reference, size: 50 };
            let against = (references > 0).then_some(&mut against as &mut dyn Source);
            let mut source = Batched { documents: others, size: 50 };
            let policy = KeepPolicy::First;
            let found = deduplicate(&mut source, against, &of_blocks(blocks), &decided, &(), policy).unwrap();
            check_verdicts(&found.kept(), &best, &what);
        }
        let mut against = Batched { documents: reference, size: 50 };
        let against = (references > 0).then_some(&mut against as &mut dyn Source);
        let outcome =
            scan(&mut Batched { documents: others, size: 50 }, against, &of_blocks(13), &options, &()).unwrap();
        let pairs = outcome.report.counts.pairs.unwrap();
        assert!(pairs > 100_000, "{pairs}");
    }
}

/// Documents with ranks, some of them the same. Their batches have both or neither.
struct Ranked<'a> {
    documents: &'a [Text],
    ranks: &'a [Rank],
    size: usize,
}

impl Source for Ranked<'_> {
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>) {
        let ranked: Vec<_> = self.documents.iter().zip(self.ranks).collect();
        for chunk in ranked.chunks(self.size) {
            let mut batch = Batch::default();
            for ((id, text), rank) in chunk {
                batch.push_ranked(id.clone(), text.clone(), (*rank).clone());
            }
            if deliver(batch).is_break() {
                return;
            }
        }
    }
}

/// Three classes, and numbers in one of them.
fn any_rank(random: &mut Random) -> Rank {
    match random.below(5) {
        0 => Rank::of_class(1),
        1 => Rank::of_class(2).with_least(None),
        2 => Rank::of_class(1).with_greatest(Some(Number::Integer(random.below(3) as i128 - 1))),
        _ => Rank::default(),
    }
}

/// The documents in the order of the choice.
fn turns(documents: &[Text], from: usize, policy: KeepPolicy, ranks: &[Rank]) -> Vec<usize> {
    let length = |document: &usize| documents[*document].1.split_whitespace().count();
    let mut turns: Vec<usize> = (from..documents.len()).collect();
    match policy {
        KeepPolicy::Last => turns.reverse(),
        KeepPolicy::Longest => turns.sort_by_key(|document| std::cmp::Reverse(length(document))),
        KeepPolicy::Shortest => turns.sort_by_key(length),
        _ => {}
    }
    turns.sort_by(|&one, &other| ranks[one].cmp(&ranks[other]));
    turns
}

/// The documents that each is similar to, by a list of all pairs.
fn similar(outcome: &Outcome, documents: usize) -> Vec<Vec<(usize, f64)>> {
    let mut similar = vec![Vec::new(); documents];
    for pair in outcome.pairs().map(Result::unwrap) {
        let ((a, b), similarity) = (pair.indices, pair.similarity.value());
        similar[a].push((b, similarity));
        similar[b].push((a, similarity));
    }
    similar
}

/// The greedy choice in this order: for each document the kept one that it is a near-duplicate of, if it is not kept. Some are kept
/// whatever they are like. A copy of a kept document is dropped for it rather than for another one as similar.
fn choice(
    texts: &[Text],
    similar: &[Vec<(usize, f64)>],
    turns: &[usize],
    is_always_kept: impl Fn(usize) -> bool,
) -> Vec<Option<(usize, f64)>> {
    let mut position = vec![0; similar.len()];
    turns.iter().enumerate().for_each(|(turn, &document)| position[document] = turn);
    let mut best: Vec<Option<(usize, f64)>> = vec![None; similar.len()];
    for &turn in turns.iter().filter(|&&turn| !is_always_kept(turn)) {
        let earlier =
            similar[turn].iter().filter(|&&(other, _)| position[other] < position[turn] && best[other].is_none());
        let is_copy = |other: usize| texts[other].1 == texts[turn].1;
        let key =
            |&&(other, similarity): &&(usize, f64)| (similarity, is_copy(other), std::cmp::Reverse(position[other]));
        best[turn] = earlier.max_by(|a, b| key(a).partial_cmp(&key(b)).unwrap()).copied();
    }
    best
}

/// Checks the verdicts on documents after those of a reference.
fn check_verdicts(kept: &Kept<'_>, best: &[Option<(usize, f64)>], what: &str) {
    for verdict in kept.verdicts() {
        let document = verdict.index.unwrap();
        let of = verdict.duplicate_of_index.zip(verdict.duplicate_of.map(|(_, similarity)| similarity.value()));
        assert_eq!((verdict.keep, of), (best[document].is_none(), best[document]), "{what}: {document}");
    }
    assert_eq!(kept.dropped() as usize, best.iter().flatten().count(), "{what}");
}

/// What was decided on documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    Always,
    Chosen,
    Nothing,
}

/// Decisions on some documents, of which few or many are kept whatever they are like.
fn wishes(random: &mut Random, documents: usize, always: f64) -> Vec<Wish> {
    let wish = |random: &mut Random| match random.below(6) {
        _ if random.chance(always) => Wish::Always,
        0 => Wish::Chosen,
        _ => Wish::Nothing,
    };
    (0..documents).map(|_| wish(random)).collect()
}

/// The lines of these decisions: a document is named by the id alone, or with the place, and sometimes twice.
fn lines_of(documents: &[Text], wishes: &[Wish]) -> String {
    let mut lines = String::new();
    for (number, ((id, _), wish)) in documents.iter().zip(wishes).enumerate() {
        let line = match number % 2 {
            0 => serde_json::json!({"type": "decision", "keep": id}),
            _ => serde_json::json!({"type": "decision", "keep": id, "file": id}),
        };
        let with = |always: bool| {
            let mut line = line.clone();
            line["always"] = always.into();
            line
        };
        let lines_of_one = match (wish, number % 3) {
            (Wish::Nothing, _) => vec![],
            (Wish::Chosen, 0) => vec![with(false)],
            (Wish::Chosen, _) => vec![line.clone()],
            (Wish::Always, 0) => vec![with(true), line.clone()],
            (Wish::Always, 1) => vec![line.clone(), with(true)],
            (Wish::Always, _) => vec![with(true)],
        };
        lines_of_one.iter().for_each(|line| lines += &format!("{line}\n"));
    }
    lines
}

fn chosen(documents: &[Text], wishes: &[Wish]) -> Arc<Chosen> {
    Arc::new(Chosen::read("decisions", lines_of(documents, wishes).as_bytes()).unwrap())
}

/// Chosen documents are decided on before all others, with and without ranks; before these, documents that are kept whatever they
/// are like.
#[test]
fn chosen_documents_come_first() {
    for (seed, always, memory) in
        [(0, 0.0, 1 << 30), (1, 0.05, 1 << 30), (2, 0.3, 0), (3, 0.9, 1 << 17), (4, 1.0, 1 << 30)]
    {
        let mut random = Random::new(seed + 20);
        let all = with_articles(related(&mut random, 240, 30));
        let rank = |_| if seed % 2 == 0 { Rank::default() } else { any_rank(&mut random) };
        let ranks: Vec<Rank> = all.iter().map(rank).collect();
        let wishes = wishes(&mut random, all.len(), always);
        for (name, settings) in &and_all_others(METHODS) {
            let factory = factory(name, settings);
            let options = ScanOptions { threads: 1 + seed as usize % 3, seed, memory, ..ScanOptions::default() };
            let side = || Ranked { documents: &all, ranks: &ranks, size: 11 };
            let similar = similar(&scan(&mut side(), None, &factory, &options, &()).unwrap(), all.len());
            let options = ScanOptions { chosen: Some(chosen(&all, &wishes)), ..options };
            let outcome = scan(&mut side(), None, &factory, &options, &()).unwrap();
            for (policy_name, policy, _) in KEEP_POLICIES {
                let what = format!("{name} {settings:?} with seed {seed}, {policy_name}");
                let mut turns = turns(&all, 0, *policy, &ranks);
                turns.sort_by_key(|&document| wishes[document]);
                let best = choice(&all, &similar, &turns, |document| wishes[document] == Wish::Always);
                let found = scan_to_keep(&mut side(), None, &factory, &options, &(), *policy).unwrap();
                check_verdicts(&found.kept(), &best, &what);
                let of_pairs = written(&outcome.keep(*policy).unwrap(), &outcome.report);
                let found = written(&found.kept(), found.report());
                assert!(found == of_pairs, "{what}: {}", first_difference(&of_pairs, &found));
            }
        }
    }
}

/// With a reference, all of which comes before. Documents that are always kept are, although they repeat it.
#[test]
fn chosen_documents_come_after_the_reference() {
    for (seed, always, memory) in [(0, 0.05, 1 << 30), (1, 0.3, 0), (2, 0.9, 1 << 17), (3, 1.0, 1 << 30)] {
        let mut random = Random::new(seed + 30);
        let all = with_articles(related(&mut random, 240, 30));
        let (reference, documents) = all.split_at(70);
        let ranks: Vec<Rank> =
            all.iter().map(|_| if seed % 2 == 0 { Rank::default() } else { any_rank(&mut random) }).collect();
        let mut wishes = wishes(&mut random, all.len(), always);
        wishes[..reference.len()].fill(Wish::Nothing);
        for (name, settings) in &and_all_others(METHODS) {
            let factory = factory(name, settings);
            let options = ScanOptions { threads: 1 + seed as usize % 3, seed, memory, ..ScanOptions::default() };
            let similar = similar(&outcome_with(&all, &factory, &options), all.len());
            let options = ScanOptions { chosen: Some(chosen(&all, &wishes)), ..options };
            let (of_reference, own) = ranks.split_at(reference.len());
            let mut against = Ranked { documents: reference, ranks: of_reference, size: 17 };
            let mut source = Ranked { documents, ranks: own, size: 13 };
            let outcome = scan(&mut source, Some(&mut against), &factory, &options, &()).unwrap();
            let is_fixed = |document| document < reference.len() || wishes[document] == Wish::Always;
            for (policy_name, policy, _) in KEEP_POLICIES {
                let what = format!("{name} {settings:?} with seed {seed}, {policy_name}");
                let mut order = turns(&all, reference.len(), *policy, &ranks);
                order.sort_by_key(|&document| wishes[document]);
                // Of copies in the reference, the first stands for all.
                let mut turns = turns(reference, 0, *policy, of_reference);
                let copied = |document: usize| (0..document).find(|&first| all[first].1 == all[document].1);
                let position =
                    |document: usize| turns.iter().position(|&turn| turn == copied(document).unwrap_or(document));
                let mut of_copied: Vec<(Option<usize>, usize)> =
                    (0..reference.len()).map(|document| (position(document), document)).collect();
                of_copied.sort_unstable();
                turns = of_copied.into_iter().map(|(_, document)| document).chain(order).collect();
                let best = choice(&all, &similar, &turns, is_fixed);
                let found = deduplicate(&mut source, Some(&mut against), &factory, &options, &(), *policy).unwrap();
                check_verdicts(&found.kept(), &best, &what);
                let edges = similar.iter().enumerate().flat_map(|(a, of)| of.iter().map(move |&(b, _)| (a, b)));
                // Pairs of the reference do not connect, but for copies.
                let connect = |&(a, b): &(usize, usize)| a.max(b) >= reference.len() || all[a].1 == all[b].1;
                let edges: Vec<(usize, usize)> = edges.filter(connect).collect();
                let components = components(all.len(), &edges);
                let clusters: Vec<Vec<usize>> = found.kept().clusters().map(|cluster| cluster.indices).collect();
                assert_eq!(clusters, components, "{what}");
                let is_kept = |members: &Vec<usize>| -> Vec<usize> {
                    members.iter().copied().filter(|&document| best[document].is_none()).collect()
                };
                let kept: Vec<Vec<usize>> = found.kept().clusters().map(|cluster| cluster.keep_indices).collect();
                assert_eq!(kept, components.iter().map(is_kept).collect::<Vec<_>>(), "{what}");

                // Compared with the reference alone, only what repeats it is dropped.
                let with_reference: Vec<Vec<(usize, f64)>> = similar
                    .iter()
                    .enumerate()
                    .map(|(a, of)| {
                        let is_across = |b: usize| (a < reference.len()) != (b < reference.len());
                        of.iter().copied().filter(|&(b, _)| is_across(b)).collect()
                    })
                    .collect();
                let best = choice(&all, &with_reference, &turns, is_fixed);
                let found = scan_to_keep(&mut source, Some(&mut against), &factory, &options, &(), *policy).unwrap();
                check_verdicts(&found.kept(), &best, &format!("{what}, against"));
                let of_pairs = written(&outcome.keep(*policy).unwrap(), &outcome.report);
                let found = written(&found.kept(), found.report());
                assert!(found == of_pairs, "{what}, against: {}", first_difference(&of_pairs, &found));
            }
        }
    }
}

/// Documents with smaller ranks are decided on first; decided here by a list of all pairs.
#[test]
fn ranks_come_before_the_policy() {
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let all = with_articles(related(&mut random, 240, 30));
        let ranks: Vec<Rank> = all.iter().map(|_| any_rank(&mut random)).collect();
        for (name, settings) in &and_all_others(METHODS) {
            let factory = factory(name, settings);
            let options = ScanOptions { threads: 1 + seed as usize % 3, seed, ..ScanOptions::default() };
            let side = || Ranked { documents: &all, ranks: &ranks, size: 11 };
            let outcome = scan(&mut side(), None, &factory, &options, &()).unwrap();
            let similar = similar(&outcome, all.len());
            for (policy_name, policy, _) in KEEP_POLICIES {
                let what = format!("{name} {settings:?} with seed {seed}, {policy_name}");
                let turns = turns(&all, 0, *policy, &ranks);
                let best = choice(&all, &similar, &turns, |_| false);
                let found = scan_to_keep(&mut side(), None, &factory, &options, &(), *policy).unwrap();
                assert_eq!(
                    written(&found.kept(), found.report()),
                    written(&outcome.keep(*policy).unwrap(), &outcome.report),
                    "{what}"
                );
                check_verdicts(&found.kept(), &best, &what);
            }
        }
    }
}

/// With a reference, each document in its turn is kept unless one of the reference, or one that was kept before it, is
/// similar; decided here by a list of all pairs.
#[test]
fn documents_are_also_compared_with_each_other() {
    for seed in 0..2 {
        let all = with_articles(related(&mut Random::new(seed), 220, 30));
        let (reference, documents) = all.split_at(70);
        let mut random = Random::new(seed + 10);
        let ranks: Vec<Rank> =
            all.iter().map(|_| if seed == 0 { Rank::default() } else { any_rank(&mut random) }).collect();
        for (name, settings) in &and_all_others(METHODS) {
            let factory = factory(name, settings);
            let options = ScanOptions { threads: 1 + seed as usize % 3, seed, ..ScanOptions::default() };
            let outcome = outcome_with(&all, &factory, &options);
            let similar = similar(&outcome, all.len());
            for (policy_name, policy, _) in KEEP_POLICIES {
                let turns = turns(&all, reference.len(), *policy, &ranks);
                let mut kept: Vec<bool> = (0..all.len()).map(|document| document < reference.len()).collect();
                let mut best = vec![None; all.len()];
                for turn in turns {
                    let others = similar[turn].iter().filter(|(other, _)| kept[*other]);
                    best[turn] = others.map(|&(_, similarity)| similarity).max_by(f64::total_cmp);
                    kept[turn] = best[turn].is_none();
                }
                let (of_reference, own) = ranks.split_at(reference.len());
                let mut against = Ranked { documents: reference, ranks: of_reference, size: 17 };
                let mut source = Ranked { documents, ranks: own, size: 13 };
                let found = deduplicate(&mut source, Some(&mut against), &factory, &options, &(), *policy).unwrap();
                let what = format!("{name} {settings:?} with seed {seed}, {policy_name}");
                for verdict in found.kept().verdicts() {
                    let document = verdict.index.unwrap();
                    let similarity = verdict.duplicate_of.map(|(_, similarity)| similarity.value());
                    assert_eq!((verdict.keep, similarity), (kept[document], best[document]), "{what}: {document}");
                    assert!(verdict.duplicate_of_index.is_none_or(|other| kept[other]), "{what}: {document}");
                }
            }
        }
    }
}

/// Features that do not fit are read again.
#[test]
fn a_keep_set_does_not_depend_on_memory() {
    let documents = related(&mut Random::new(40), 400, 60);
    for settings in [&[("threshold", "0.4"), ("shingle", "2")][..], &[("threshold", "0.4"), ("exact", "true")]] {
        let factory = factory("minhash", settings);
        for memory in [0, 1 << 17, 1 << 30] {
            check(
                &[],
                &documents,
                &factory,
                &ScanOptions { memory, ..ScanOptions::default() },
                &format!("{memory} bytes"),
            );
        }
    }
}

/// Pages of one template with a few words of their own, above the threshold or just below it.
fn pages(count: usize, shared: usize, own: usize) -> Vec<Text> {
    let mut random = Random::new(77);
    let frame = words(&mut random, shared, 1 << 30).join(" ");
    (0..count)
        .map(|number| (number.to_string(), format!("{frame} {}", words(&mut random, own, 1 << 30).join(" "))))
        .collect()
}

#[test]
fn pages_of_one_template_take_as_many_comparisons_as_there_are_pages() {
    for (name, settings) in [
        ("minhash", &[("shingle", "1")][..]),
        ("minhash", &[("shingle", "1"), ("exact", "true")]),
        ("simhash", &[("grams", "1"), ("distance", "12")]),
        ("spotsigs", &[("antecedents", "en")]),
    ] {
        let pages = if name == "spotsigs" { with_articles(pages(1500, 300, 2)) } else { pages(1500, 300, 2) };
        let factory = factory(name, settings);
        let (all, kept) = check(&[], &pages, &factory, &ScanOptions::default(), name);
        assert!(kept < 20 * 1500, "{name}: {kept} comparisons instead of {all}");
        // Pages of a reference are not compared with each other: ten others meet each of them, in some tables.
        let (reference, new) = pages.split_at(1490);
        let what = format!("{name} against a reference");
        let (all, kept) = check(reference, new, &factory, &ScanOptions::default(), &what);
        assert!(all.max(kept) < 20 * 10 * 1500, "{what}: {all} and {kept} comparisons");
    }
    // Below the threshold nothing is dropped, and the prefixes of the pages rule out most pairs.
    let factory = factory("minhash", &[("shingle", "1")]);
    let (all, kept) = check(&[], &pages(1500, 300, 40), &factory, &ScanOptions::default(), "below the threshold");
    let pairs = 1500 * 1499 / 2;
    assert!(all < pairs / 10 && kept < pairs / 4, "{all} and {kept} comparisons of {pairs}");
    let factory = self::factory("projection", &[("cosine", "0.9")]);
    let (all, kept) = check(&[], &pages(1500, 300, 40), &factory, &ScanOptions::default(), "below the cosine");
    assert!(all < pairs / 4 && kept < pairs / 2, "{all} and {kept} comparisons of {pairs}");
}

/// Pages of two templates, each with a number of words of its own or of another page, and copies. Those with few words of
/// their own are similar to most of their template, and the others to few.
fn mixed_pages(count: usize, own: std::ops::Range<usize>, seed: u64) -> Vec<Text> {
    let mut random = Random::new(seed);
    let frames = [words(&mut random, 100, 1 << 30), words(&mut random, 100, 1 << 30)];
    let mut pages: Vec<Vec<String>> = Vec::new();
    for _ in 0..count {
        let mut page = frames[random.below(2)].clone();
        let own = own.start + random.below(own.len());
        page.extend(words(&mut random, own, 1 << 30));
        match (pages.len(), random.below(10)) {
            (1.., 0) => page = pages[random.below(pages.len())].clone(),
            (1.., 1..4) => {
                let other = &pages[random.below(pages.len())];
                let taken = 100 + random.below(other.len() - 99);
                page.extend_from_slice(&other[100..taken]);
            }
            _ => {}
        }
        pages.push(page);
    }
    pages.into_iter().enumerate().map(|(number, page)| (number.to_string(), page.join(" "))).collect()
}

#[test]
fn pages_of_templates_that_are_partly_similar() {
    for (own, seed) in [(2..50, 1), (15..30, 2), (24..60, 3)] {
        let pages = mixed_pages(1800, own.clone(), seed);
        for (name, settings) in [
            ("minhash", &[("shingle", "1")][..]),
            ("minhash", &[("shingle", "1"), ("exact", "true")]),
            ("spotsigs", &[("threshold", "0.8"), ("antecedents", "en")]),
            ("projection", &[("cosine", "0.9")]),
        ] {
            let factory = factory(name, settings);
            let pages = if name == "spotsigs" { with_articles(pages.clone()) } else { pages.clone() };
            let what = format!("{own:?} {name} {settings:?}");
            let (all, kept) = check(&[], &pages, &factory, &ScanOptions::default(), &what);
            // Some are compared twice: with those kept before, and with those decided on at the same time. Of vectors, all pairs take
            // fewer comparisons than that: families are known before it, and not only once several of their pages are kept.
            let most = if name == "projection" { 1800 * 1799 / 2 / 4 } else { 2 * all };
            assert!(0 < kept && kept < most, "{what}: {kept} comparisons instead of {all}");
            let (reference, pages) = pages.split_at(700);
            check(reference, pages, &factory, &ScanOptions::default(), &format!("{what} against a reference"));
            if seed == 2 {
                let wishes = wishes(&mut Random::new(seed), pages.len(), 0.1);
                let options = ScanOptions { chosen: Some(chosen(pages, &wishes)), ..ScanOptions::default() };
                check(&[], pages, &factory, &options, &format!("{what} with decisions"));
            }
        }
    }
}

/// What is announced, and when comparing begins.
#[derive(Default)]
struct Announced(Mutex<Vec<Option<u64>>>);

impl Observer for Announced {
    fn stage(&self, stage: Stage) {
        if stage == Stage::Verifying {
            self.0.lock().unwrap().push(None);
        }
    }

    fn many_pairs(&self, most: u64) {
        self.0.lock().unwrap().push(Some(most));
    }
}

/// What a scan announces, and the number of pairs that it finds.
fn announced(reference: &[Text], documents: &[Text], factory: &dyn AlgorithmFactory) -> (Vec<Option<u64>>, u64) {
    let announced = Announced::default();
    let (mut against, mut source) = (Batched { documents: reference, size: 100 }, Batched { documents, size: 100 });
    let against = (!reference.is_empty()).then_some(&mut against as &mut dyn Source);
    let outcome = scan(&mut source, against, factory, &ScanOptions::default(), &announced).unwrap();
    (announced.0.into_inner().unwrap(), outcome.report.counts.pairs.unwrap())
}

fn copies(count: usize, text: &str) -> Vec<Text> {
    (0..count).map(|number| (format!("copy {number} of {text}"), text.to_string())).collect()
}

#[test]
fn very_many_pairs_are_announced_before_they_are_looked_for() {
    let minhash = factory("minhash", &[("shingle", "1")]);
    // 91 tables, which are not made.
    let simhash = factory("simhash", &[("force", "true"), ("distance", "12"), ("blocks", "14")]);
    let repeated = "a text that is repeated";
    for factory in [&minhash, &simhash] {
        let of_copies = |count| announced(&[], &copies(count, repeated), factory);
        assert_eq!(of_copies(5000), (vec![Some(12_497_500), None], 12_497_500));
        assert_eq!(of_copies(4000), (vec![None], 7_998_000));
    }
    let mut documents = pages(700, 300, 2);
    documents.extend(copies(4460, repeated));
    let (before, pairs) = announced(&[], &documents, &minhash);
    assert_eq!(before.len(), 2);
    // All pages of the template are connected, and all pairs of them and of the copies are there.
    assert_eq!(before[0], Some(pairs));
    let unannounced = Announced::default();
    let mut source = Batched { documents: &documents, size: 100 };
    scan_to_keep(&mut source, None, &minhash, &ScanOptions::default(), &unannounced, KeepPolicy::First).unwrap();
    assert_eq!(unannounced.0.into_inner().unwrap(), [None]);
}

#[test]
fn pairs_of_a_reference_are_not_announced() {
    let mut reference = copies(5000, "a text that is repeated");
    let simhash = factory("simhash", &[("force", "true"), ("distance", "12"), ("blocks", "14")]);
    for factory in [&factory("minhash", &[("shingle", "1")]), &simhash] {
        let new = copies(3, "a text that is repeated");
        assert_eq!(announced(&reference, &new, factory), (vec![None], 15_000));
        let new = copies(2500, "a text that is repeated");
        assert_eq!(announced(&reference, &new, factory), (vec![Some(12_500_000), None], 12_500_000));
    }
    // As runs of different pages.
    reference = pages(5000, 20, 1);
    let new = reference.split_off(4995);
    let (before, pairs) = announced(&reference, &new, &factory("minhash", &[("shingle", "1")]));
    assert!(before == [None] && pairs > 20_000, "{before:?} {pairs}");
}

/// Two groups of copies with one fingerprint, far from each other among many other documents.
#[test]
fn pairs_of_large_groups_are_not_missed_by_a_sample() {
    let mut random = Random::new(5);
    let mut documents = copies(2400, "one two three four five six seven eight nine ten");
    documents.extend((0..1500).map(|number| (format!("own {number}"), words(&mut random, 8, 1 << 30).join(" "))));
    // Another order of words: another text with the same features.
    documents.extend(copies(2400, "ten nine eight seven six five four three two one"));
    let simhash = factory("simhash", &[("force", "true"), ("grams", "1"), ("distance", "12"), ("blocks", "14")]);
    let (before, pairs) = announced(&[], &documents, &simhash);
    assert!(pairs >= 4800 * 4799 / 2, "{pairs}");
    assert_eq!(before, [Some(6300 * 6299 / 2), None]);
}

/// Chains, where the kept documents of a cluster are connected through dropped ones only.
#[test]
fn dropped_documents_connect_what_is_kept() {
    let text = |from: usize| (from..from + 20).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let mut order: Vec<usize> = (0..60).collect();
    for round in 0..20 {
        let mut random = Random::new(round);
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        let documents: Vec<Text> = order.iter().map(|&from| (from.to_string(), text(from * 4))).collect();
        let factory = factory("minhash", &[("threshold", "0.6"), ("shingle", "1"), ("exact", "true")]);
        check(&[], &documents, &factory, &ScanOptions::default(), "a chain");
        let all = outcome_with(&documents, &factory, &ScanOptions::default());
        assert_eq!(all.keep(KeepPolicy::First).unwrap().clusters().count(), 1);
    }
}
