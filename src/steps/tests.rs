//! The steps, driven by a small engine that shuffles, cuts and sorts rows in memory, against a scan on one machine.

use super::*;
use crate::algorithm::parameter::Settings;
use crate::algorithm::{self, TableFactory};
use crate::engine::{self, KEEP_POLICIES, KeepPolicy, ScanOptions};
use crate::hash::mix;
use crate::source::Documents;
use crate::tokenizer::{self, Tokenizer};
use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, LargeStringArray, RecordBatch, StringArray};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Null,
    Long(i64),
    Longs(Vec<i64>),
    Double(f64),
    Text(String),
}

impl Cell {
    fn long(&self) -> Option<i64> {
        if let Cell::Long(long) = self { Some(*long) } else { None }
    }
}

type Row = BTreeMap<&'static str, Cell>;

fn row<const N: usize>(cells: [(&'static str, Cell); N]) -> Row {
    cells.into_iter().collect()
}

/// The rows of a batch.
fn rows_of(batch: &RecordBatch, columns: &[Column]) -> Vec<Row> {
    let cell = |column: &Column, at: usize| {
        let array = batch.column_by_name(column.name).unwrap();
        if array.is_null(at) {
            return (column.name, Cell::Null);
        }
        let cell = match column.kind {
            Kind::Long => Cell::Long(array.as_primitive::<Int64Type>().value(at)),
            Kind::Double => Cell::Double(array.as_primitive::<Float64Type>().value(at)),
            Kind::Longs => Cell::Longs(array.as_list::<i32>().value(at).as_primitive::<Int64Type>().values().to_vec()),
            Kind::Text => unreachable!("no step makes texts"),
        };
        (column.name, cell)
    };
    (0..batch.num_rows()).map(|at| columns.iter().map(|column| cell(column, at)).collect()).collect()
}

fn batch_of(rows: &[Row], columns: &[Column]) -> RecordBatch {
    let cell = |row: &Row, column: &Column| row.get(column.name).cloned().unwrap_or(Cell::Null);
    let array = |column: &Column| -> ArrayRef {
        match column.kind {
            Kind::Long => Arc::new(rows.iter().map(|row| cell(row, column).long()).collect::<Int64Array>()),
            Kind::Longs => {
                let mut lists = ListBuilder::new(Int64Builder::new());
                for row in rows {
                    if let Cell::Longs(longs) = cell(row, column) {
                        lists.values().append_slice(&longs);
                        lists.append(true);
                    } else {
                        lists.append(false);
                    }
                }
                Arc::new(lists.finish())
            }
            Kind::Text => {
                let texts =
                    rows.iter().map(|row| if let Cell::Text(text) = cell(row, column) { Some(text) } else { None });
                // Both layouts occur.
                let texts: Vec<_> = texts.collect();
                if rows.len().is_multiple_of(2) {
                    Arc::new(StringArray::from(texts))
                } else {
                    Arc::new(LargeStringArray::from(texts))
                }
            }
            Kind::Double => unreachable!("no step takes doubles"),
        }
    };
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|column| (column.name, array(column), true))).unwrap()
}

/// One task: the rows in batches of this size.
fn task(entry: &'static Entry, spec: &Arc<Spec>, rows: &[Row], size: usize) -> Result<Vec<Row>, Error> {
    let (mut step, mut came) = (entry.start(Arc::clone(spec))?, Vec::new());
    for batch in rows.chunks(size) {
        step.push(&batch_of(batch, entry.takes))?;
        while let Some(out) = step.take()? {
            came.extend(rows_of(&out, entry.gives));
        }
    }
    step.finish();
    while let Some(out) = step.take()? {
        came.extend(rows_of(&out, entry.gives));
    }
    Ok(came)
}

/// An engine: it spreads rows over tasks by the first column of the order, in an order of its own, and sorts those of each task.
struct Engine {
    partitions: u64,
    batch: usize,
    seed: u64,
}

impl Engine {
    fn run(&self, name: &str, spec: &Arc<Spec>, mut rows: Vec<Row>) -> Vec<Row> {
        let entry = by_name(name).unwrap();
        let mut state = self.seed;
        rows.sort_by_cached_key(|_| {
            state = mix(state + 1);
            state
        });
        let partitions = if matches!(name, "keep" | "clusters") { 1 } else { self.partitions };
        let long = |row: &Row, name: &str| row[name].long().unwrap();
        let task_of = |row: &Row| match entry.order.first() {
            Some(first) => mix(long(row, first) as u64) % partitions,
            None => mix(long(row, entry.takes[0].name) as u64 ^ 7) % partitions,
        };
        let mut came = Vec::new();
        for number in 0..partitions {
            let mut own: Vec<Row> = rows.iter().filter(|row| task_of(row) == number).cloned().collect();
            own.sort_by_key(|row| entry.order.iter().map(|column| long(row, column)).collect::<Vec<_>>());
            came.extend(task(entry, spec, &own, self.batch).unwrap());
        }
        came
    }
}

/// What a run finds, by the numbers of documents.
#[derive(Debug, Default, PartialEq)]
struct Found {
    pairs: BTreeMap<(i64, i64), f64>,
    kept: Vec<BTreeSet<i64>>,
    clusters: BTreeSet<BTreeSet<i64>>,
    /// Documents whose text was another when pairs were verified.
    changed: BTreeSet<i64>,
    /// How pairs were found, which a scan does not report.
    by: By,
}

/// How many rows came out of the filter of hot keys: pairs, and new keys; and how many pairs sketches ruled out.
#[derive(Clone, Copy, Debug, Default)]
struct By {
    joined: usize,
    split: usize,
    filtered: usize,
}

impl PartialEq for By {
    fn eq(&self, _: &By) -> bool {
        true
    }
}

/// The documents of a run: their numbers and texts, when they are signed and when pairs are verified.
struct Texts<'t> {
    signed: &'t [(i64, Option<String>)],
    verified: &'t [(i64, Option<String>)],
}

fn text(text: &Option<String>) -> Cell {
    text.clone().map_or(Cell::Null, Cell::Text)
}

/// The rows of all distinct documents that have features, by their numbers; and the numbers of the copies of each, and the tokens.
fn distinct(signs: &[Row]) -> (BTreeMap<i64, Row>, BTreeMap<i64, Vec<i64>>) {
    let mut groups: BTreeMap<(i64, i64), Vec<&Row>> = BTreeMap::new();
    for sign in signs.iter().filter(|sign| sign["outline"] != Cell::Null) {
        groups.entry((sign["seq_hi"].long().unwrap(), sign["seq_lo"].long().unwrap())).or_default().push(sign);
    }
    let (mut firsts, mut copies) = (BTreeMap::new(), BTreeMap::new());
    for mut group in groups.into_values() {
        group.sort_by_key(|sign| sign["doc"].long());
        let docs: Vec<i64> = group.iter().map(|sign| sign["doc"].long().unwrap()).collect();
        let mut first = group[0].clone();
        first.insert("last", Cell::Long(*docs.last().unwrap()));
        firsts.insert(docs[0], first);
        copies.insert(docs[0], docs);
    }
    (firsts, copies)
}

/// Counts all that the algorithm learns.
fn counted(engine: &Engine, made: &Made, options: StepOptions, docs: &[Row]) -> Vec<Counts> {
    let mut counts = Vec::new();
    loop {
        let spec = spec_of(made, options, &counts);
        let Some(learns) = spec.learns() else { return counts };
        let mut rows: Vec<Row> = docs.iter().filter(|row| row["text"] != Cell::Null).cloned().collect();
        if learns == algorithm::Learns::Terms {
            let mut known = BTreeSet::new();
            let signs = engine.run("sign", &spec, rows.clone());
            let first = |sign: &&Row| known.insert((sign["seq_hi"].long(), sign["seq_lo"].long()));
            let firsts: BTreeSet<_> = signs.iter().filter(first).map(|sign| sign["doc"].long()).collect();
            rows.retain(|row| firsts.contains(&row["doc"].long()));
        }
        let (documents, mut sums) = (rows.len() as u64, BTreeMap::new());
        for row in engine.run("count", &spec, rows) {
            *sums.entry(row["what"].long().unwrap()).or_insert(0) += row["documents"].long().unwrap();
        }
        counts.push(Counts::new(documents, sums));
    }
}

/// Runs all steps. Long because it is one plan.
fn find(engine: &Engine, made: &Made, options: StepOptions, texts: &Texts<'_>) -> Found {
    let docs = texts.signed.iter().map(|(doc, own)| row([("doc", Cell::Long(*doc)), ("text", text(own))]));
    let docs: Vec<Row> = docs.collect();
    let counts = counted(engine, made, options, &docs);
    let spec = &spec_of(made, options, &counts);
    let signs = engine.run("sign", spec, docs);
    let (firsts, copies) = distinct(&signs);
    let mut keyed = Vec::new();
    for first in firsts.values() {
        let Cell::Longs(keys) = &first["keys"] else { panic!("it has features") };
        for &key in keys {
            let mut own = first.clone();
            own.insert("key", Cell::Long(key));
            keyed.push(own);
        }
    }
    let by_doc: BTreeMap<i64, Cell> = texts.verified.iter().map(|(doc, own)| (*doc, text(own))).collect();
    let (mut found, mut edges) = (Found::default(), BTreeMap::new());
    let (mut open, mut hot) = (BTreeSet::new(), Vec::new());
    let mut take =
        |rows: Vec<Row>, open: &mut BTreeSet<(i64, i64)>, hot: &mut Vec<Row>, changed: &mut BTreeSet<i64>| {
            for row in rows {
                let number = |name: &str| row.get(name).and_then(Cell::long);
                match (number("a"), number("b"), &row["similarity"]) {
                    (Some(a), Some(b), Cell::Double(similarity)) => {
                        let before = edges.insert((a, b), *similarity);
                        assert!(a < b && before.is_none_or(|before| before == *similarity));
                    }
                    (Some(a), Some(b), _) => _ = open.insert((a, b)),
                    (Some(a), None, _) if row.get("hot").is_some_and(|hot| *hot != Cell::Null) => {
                        let mut member = firsts[&a].clone();
                        member.extend([("hot", row["hot"].clone()), ("text", by_doc[&a].clone())]);
                        hot.push(member);
                    }
                    (Some(a), None, _) => _ = changed.insert(a),
                    (None, ..) => panic!("{row:?}"),
                }
            }
        };
    take(engine.run("pairs", spec, keyed), &mut open, &mut hot, &mut found.changed);
    let (split, joined): (Vec<Row>, Vec<Row>) =
        engine.run("prefix", spec, hot).into_iter().partition(|row| row["key"] != Cell::Null);
    found.by = By { joined: joined.len(), split: split.len(), filtered: 0 };
    take(joined, &mut open, &mut Vec::new(), &mut found.changed);
    let cold = spec_of(made, StepOptions { hot: 0, ..options }, &counts);
    assert!(cold.has_signatures_of(spec));
    take(engine.run("pairs", &cold, split), &mut open, &mut Vec::new(), &mut found.changed);
    let filtered = engine.run("filter", spec, blocks(&open, &firsts, &by_doc));
    found.by.filtered = open.len() - filtered.len();
    let left = filtered.iter().map(|row| (row["a"].long().unwrap(), row["b"].long().unwrap())).collect();
    let verified = engine.run("verify", spec, blocks(&left, &firsts, &by_doc));
    take(verified, &mut BTreeSet::new(), &mut Vec::new(), &mut found.changed);
    let against = spec.options().against;
    let may_pair = |a: i64, b: i64| !against || (a < 0) != (b < 0);
    for own in copies.values() {
        let pairs = own.iter().enumerate().flat_map(|(at, &a)| own[at + 1..].iter().map(move |&b| ((a, b), 1.0)));
        found.pairs.extend(pairs.filter(|&((a, b), _)| may_pair(a, b)));
    }
    for (&(a, b), &similarity) in &edges {
        for (&a, &b) in copies[&a].iter().flat_map(|a| copies[&b].iter().map(move |b| (a, b))) {
            if may_pair(a, b) {
                found.pairs.insert((a.min(b), a.max(b)), similarity);
            }
        }
    }
    found.kept =
        KEEP_POLICIES.iter().map(|&(_, policy, _)| kept(engine, spec, policy, &signs, &copies, &edges)).collect();
    found.clusters = clusters(engine, spec, &copies, &edges);
    found
}

/// An algorithm with its tokenizer and seed, for documents of a length.
type Made = (TableFactory, Arc<dyn Tokenizer>, u64, Median);

fn spec_of((factory, tokenizer, seed, median): &Made, options: StepOptions, counts: &[Counts]) -> Arc<Spec> {
    let mut planned = Spec::new(factory, Arc::clone(tokenizer), *seed, *median, options).unwrap();
    counts.iter().for_each(|counts| planned.learn(counts).unwrap());
    // What travels is the same.
    let spec = Spec::read(&planned.to_json(), factory, Arc::clone(tokenizer), *seed, counts).unwrap();
    assert_eq!(spec.to_json(), planned.to_json());
    Arc::new(spec)
}

/// Rows for the verification of pairs, in blocks of pairs that have a document in common or not.
fn blocks(open: &BTreeSet<(i64, i64)>, firsts: &BTreeMap<i64, Row>, texts: &BTreeMap<i64, Cell>) -> Vec<Row> {
    let block = |a: i64| Cell::Long(a.rem_euclid(5));
    let mut rows = Vec::new();
    let mut members: BTreeSet<(i64, i64)> = BTreeSet::new();
    for &(a, b) in open {
        rows.push(row([("block", block(a)), ("kind", Cell::Long(1)), ("a", Cell::Long(a)), ("b", Cell::Long(b))]));
        members.extend([(a, a), (a, b)].map(|(first, doc)| (first.rem_euclid(5), doc)));
    }
    for (block, doc) in members {
        let mut member = firsts[&doc].clone();
        member.extend([("block", Cell::Long(block)), ("kind", Cell::Long(0)), ("a", Cell::Long(doc))]);
        member.insert("text", texts[&doc].clone());
        rows.push(member);
    }
    rows
}

/// The kept documents that are not of the reference.
fn kept(
    engine: &Engine,
    spec: &Arc<Spec>,
    policy: KeepPolicy,
    signs: &[Row],
    copies: &BTreeMap<i64, Vec<i64>>,
    edges: &BTreeMap<(i64, i64), f64>,
) -> BTreeSet<i64> {
    let tokens: BTreeMap<i64, i64> =
        signs.iter().filter_map(|sign| Some((sign["doc"].long()?, sign["tokens"].long()?))).collect();
    let rank = |first: i64| match policy {
        _ if first < 0 => i64::MIN,
        KeepPolicy::First => 0,
        KeepPolicy::Last => -copies[&first].last().unwrap(),
        KeepPolicy::Longest => -tokens[&first],
        KeepPolicy::Shortest => tokens[&first],
    };
    // Nothing is decided about documents of the reference.
    let ordered = edges.keys().filter(|&&(_, b)| b >= 0).map(|&(a, b)| {
        let (a, b) = ((rank(a), a).min((rank(b), b)), (rank(a), a).max((rank(b), b)));
        row([("a_rank", Cell::Long(a.0)), ("a", Cell::Long(a.1)), ("b_rank", Cell::Long(b.0)), ("b", Cell::Long(b.1))])
    });
    let dropped = engine.run("keep", spec, ordered.collect());
    let dropped: BTreeSet<i64> = dropped.iter().filter_map(|row| row["doc"].long()).collect();
    let mut kept: BTreeSet<i64> = tokens.keys().copied().collect();
    for (first, own) in copies {
        let leader = if policy == KeepPolicy::Last && *first >= 0 { own[own.len() - 1] } else { *first };
        // With a reference, documents are compared with it alone.
        let is_alone = spec.options().against && *first >= 0;
        for doc in own.iter().filter(|&&doc| dropped.contains(first) || doc != leader && !is_alone) {
            kept.remove(doc);
        }
    }
    kept.retain(|doc| *doc >= 0);
    kept
}

fn clusters(
    engine: &Engine,
    spec: &Arc<Spec>,
    copies: &BTreeMap<i64, Vec<i64>>,
    edges: &BTreeMap<(i64, i64), f64>,
) -> BTreeSet<BTreeSet<i64>> {
    let pairs = edges.keys().map(|&(a, b)| row([("a", Cell::Long(a)), ("b", Cell::Long(b))]));
    let mut by_least: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    let mut least: BTreeMap<i64, i64> = copies.keys().map(|&first| (first, first)).collect();
    for row in engine.run("clusters", spec, pairs.collect()) {
        least.insert(row["doc"].long().unwrap(), row["cluster"].long().unwrap());
    }
    for (first, least) in least {
        by_least.entry(least).or_default().extend(&copies[&first]);
    }
    // Copies on one side of a reference are no cluster by themselves.
    let is_across = |members: &BTreeSet<i64>| members.first() < Some(&0) && members.last() >= Some(&0);
    let is_cluster = |members: &BTreeSet<i64>| members.len() > 1 && (!spec.options().against || is_across(members));
    by_least.into_values().filter(is_cluster).collect()
}

/// The same by a scan on one machine. Documents with negative numbers are the reference.
fn scanned(texts: &[(i64, Option<String>)], (factory, tokenizer, seed, _): &Made) -> (Found, usize) {
    let mut docs: Vec<(i64, String)> = texts.iter().filter_map(|(doc, text)| Some((*doc, text.clone()?))).collect();
    docs.sort();
    let named = |docs: &[(i64, String)]| Documents::new(docs.iter().map(|(doc, text)| (doc.to_string(), text.clone())));
    let references = docs.partition_point(|(doc, _)| *doc < 0);
    let (mut reference, mut source) = (named(&docs[..references]), named(&docs[references..]));
    let options = ScanOptions { tokenizer: Arc::clone(tokenizer), seed: *seed, threads: 1, ..ScanOptions::default() };
    let against = (references > 0).then_some(&mut reference as &mut dyn crate::source::Source);
    let outcome = engine::scan(&mut source, against, factory, &options, &()).unwrap();
    let number = |index: usize| docs[index].0;
    let pairs = outcome.pairs().map(Result::unwrap).map(|pair| {
        let (a, b) = (number(pair.indices.0), number(pair.indices.1));
        ((a, b), pair.similarity.value())
    });
    let own = |policy| {
        let kept = outcome.keep(policy).unwrap();
        let kept = kept.verdicts().filter(|verdict| verdict.keep).filter_map(|verdict| verdict.index);
        kept.map(number).collect()
    };
    let found = Found {
        pairs: pairs.collect(),
        kept: KEEP_POLICIES.iter().map(|&(_, policy, _)| own(policy)).collect(),
        clusters: outcome
            .keep(KeepPolicy::First)
            .unwrap()
            .clusters()
            .map(|cluster| cluster.indices.iter().map(|&index| number(index)).collect())
            .collect(),
        changed: BTreeSet::new(),
        by: By::default(),
    };
    (found, outcome.report.median_tokens)
}

/// A corpus of families with edits, copies, frames that many share, empty and short texts; the numbers have gaps.
fn corpus(seed: u64, families: u64, references: u64) -> Vec<(i64, Option<String>)> {
    let mut state = mix(seed + 1);
    let mut next = |below: u64| {
        state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        state % below
    };
    let stop = ["the", "a", "is", "of", "to", "and", "in"];
    let frame: Vec<String> = (0..60).map(|word| format!("frame{word}")).collect();
    let mut texts = vec![Some(String::new()), None, Some("one".into()), Some("one".into()), Some("...".into())];
    for family in 0..families {
        let mut base: Vec<String> = (0..26 + next(60))
            .map(|word| match next(3) {
                0 => stop[next(stop.len() as u64) as usize].to_string(),
                _ => format!("f{family}w{word}"),
            })
            .collect();
        if family % 3 == 0 {
            base.splice(0..0, frame.iter().cloned());
        }
        for _ in 0..1 + next(6) {
            let mut words = base.clone();
            for _ in 0..next(6) {
                let at = next(words.len() as u64) as usize;
                words[at] = format!("x{}", next(1 << 40));
            }
            // Some are longer than others.
            words.truncate(words.len() - next(4) as usize);
            for _ in 0..1 + u64::from(next(4) == 0) {
                texts.push(Some(words.join(" ")));
            }
        }
    }
    // In no order.
    let mut docs: Vec<(i64, Option<String>)> = Vec::new();
    for (place, text) in texts.into_iter().enumerate() {
        let doc = 3 * (mix(seed ^ place as u64) >> 20) as i64 + 1;
        let is_reference = references > 0 && next(references) == 0;
        docs.push((if is_reference { -doc } else { doc }, text));
    }
    docs
}

/// An algorithm of the table with parameters, tokenizer and seed.
fn made(algo: &str, settings: &[(&str, &str)], tokenizer: &str, seed: u64) -> Made {
    let factory =
        algorithm::Entry::by_name(algo).unwrap().factory(Settings::from_pairs(settings.iter().copied())).unwrap();
    let factory = if tokenizer == "word" { factory } else { factory.with_tokenizer(tokenizer).unwrap() };
    (factory, tokenizer::by_name(tokenizer).unwrap().into(), seed, Median::Guessed(0))
}

/// Compares the steps with a scan: for several partitionings, orders and thresholds of hot keys.
fn check(name: &str, mut made: Made, docs: &[(i64, Option<String>)]) -> Found {
    let (mut expected, median) = scanned(docs, &made);
    let against = docs.iter().any(|(doc, _)| *doc < 0);
    made.3 = Median::Known(median);
    let engines = [(1, 1000, 0), (3, 7, 1), (8, 64, 2)];
    // With little memory, the documents of hot keys become new keys.
    let modes = [(0, 256 << 20), (4, 256 << 20), (8, 16_000), (4, 16_000), (512, 256 << 20)];
    for (at, (hot, memory)) in modes.into_iter().enumerate() {
        let (partitions, batch, seed) = engines[at % engines.len()];
        let documents = [0, docs.len() as u64][at % 2];
        let options = StepOptions { hot, memory, documents, against };
        let texts = Texts { signed: docs, verified: docs };
        let found = find(&Engine { partitions, batch, seed }, &made, options, &texts);
        let case = format!("{name}: hot {hot}, memory {memory}, {partitions} partitions");
        let only = |these: &Found, those: &Found| -> Vec<_> {
            these
                .pairs
                .iter()
                .filter(|(pair, similarity)| those.pairs.get(pair) != Some(similarity))
                .map(|(pair, _)| *pair)
                .collect()
        };
        assert_eq!(
            (only(&found, &expected), only(&expected, &found)),
            (vec![], vec![]),
            "{case}: pairs only here, only there"
        );
        for (policy, (here, there)) in found.kept.iter().zip(&expected.kept).enumerate() {
            let differ: Vec<_> = here.symmetric_difference(there).collect();
            assert!(differ.is_empty(), "{case}: kept by policy {policy}: {differ:?}");
        }
        expected.by.joined += found.by.joined;
        expected.by.split += found.by.split;
        expected.by.filtered += found.by.filtered;
        assert!(found == expected, "{case}: {:?} {:?}", found.clusters, expected.clusters);
    }
    expected
}

/// An algorithm, parameters and a tokenizer.
type Method = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// Every algorithm of the table, with the parameters that change how it searches.
const METHODS: &[Method] = &[
    ("minhash", &[], "word"),
    ("minhash", &[("threshold", "0.5"), ("shingle", "3")], "word"),
    ("minhash", &[("count-repeats", "true"), ("shingle", "2")], "word"),
    ("minhash", &[("exact", "true"), ("threshold", "0.6"), ("shingle", "2")], "word"),
    ("minhash", &[("exact", "true"), ("count-repeats", "true"), ("shingle", "1")], "word"),
    ("minhash", &[("supershingles", "6x14"), ("shingle", "2")], "word"),
    ("minhash", &[("threshold", "0.7")], "char:5"),
    ("simhash", &[("weights", "tf")], "word"),
    ("simhash", &[], "word"),
    ("simhash", &[("distance", "8")], "word"),
    ("projection", &[], "word"),
    ("projection", &[("cosine", "0.9")], "word"),
    ("spotsigs", &[("min-spots", "2")], "word"),
    ("minhash", &[("drop-common", "0.05"), ("shingle", "2")], "word"),
    ("minhash", &[("drop-common", "0.2"), ("exact", "true"), ("shingle", "1")], "word"),
    ("simhash", &[("weights", "idf"), ("distance", "6")], "word"),
    ("imatch", &[], "word"),
    ("imatch", &[("lexicons", "4"), ("drop-frequent", "0.1")], "word"),
];

#[test]
fn every_algorithm_of_the_table_has_a_method() {
    let names = METHODS.iter().map(|(name, ..)| *name).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(names, crate::algorithm::ALGORITHMS.iter().map(|entry| entry.name).collect());
}

#[test]
fn steps_find_what_a_scan_finds() {
    let mut by = By::default();
    for (number, &(algo, settings, tokenizer)) in METHODS.iter().enumerate() {
        let name = format!("{algo} {settings:?} {tokenizer}");
        let found = check(&name, made(algo, settings, tokenizer, number as u64), &corpus(number as u64, 30, 0));
        assert!(found.pairs.len() > 30 && found.pairs.values().any(|&similarity| similarity < 1.0), "{name}");
        by.joined += found.by.joined;
        by.split += found.by.split;
        by.filtered += found.by.filtered;
    }
    assert!(by.joined > 500 && by.split > 500 && by.filtered > 500, "{by:?}");
}

#[test]
fn steps_find_what_a_scan_against_a_reference_finds() {
    for (number, &(algo, settings, tokenizer)) in METHODS.iter().enumerate() {
        let name = format!("{algo} {settings:?} {tokenizer}");
        let found = check(&name, made(algo, settings, tokenizer, 7), &corpus(100 + number as u64, 45, 3));
        assert!(found.pairs.len() > 15 && found.pairs.keys().all(|&(a, b)| a < 0 && b >= 0), "{name}");
    }
}

/// One text, and others that begin as it does and have some of its words replaced: pairs of all similarities. Few different words make
/// multisets.
fn edited() -> impl Strategy<Value = Vec<String>> {
    let replaced = prop::collection::vec((any::<prop::sample::Index>(), 0..600u32), 0..40);
    let others = prop::collection::vec((0..400usize, replaced), 2..9);
    let words = (1..600u32).prop_flat_map(|few| prop::collection::vec(0..few, 1..400));
    (words, others).prop_map(|(words, others)| {
        let text = |words: &[u32]| words.iter().map(|word| format!("w{word} ")).collect::<String>();
        let edit = |(cut, replaced): (usize, Vec<(prop::sample::Index, u32)>)| {
            let mut own = words[..words.len() - cut * cut % words.len().min(150)].to_vec();
            replaced.iter().for_each(|(place, word)| *place.get_mut(&mut own) = *word);
            text(&own)
        };
        std::iter::once(text(&words)).chain(others.into_iter().map(edit)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Of all pairs, those that are verified after the filter are those that are verified without it, for every algorithm.
    #[test]
    fn the_filter_drops_no_similar_pair(texts in edited(), seed in 0..3u64) {
        let texts: Vec<(i64, Option<String>)> = (0..).zip(texts.into_iter().map(Some)).collect();
        let engine = Engine { partitions: 2, batch: 3, seed };
        for &(algo, settings, tokenizer) in METHODS {
            let made = of_length(200, made(algo, settings, tokenizer, seed));
            let docs: Vec<Row> =
                texts.iter().map(|(doc, own)| row([("doc", Cell::Long(*doc)), ("text", text(own))])).collect();
            let counts = counted(&engine, &made, StepOptions::default(), &docs);
            let spec = spec_of(&made, StepOptions::default(), &counts);
            let signs = engine.run("sign", &spec, docs);
            let signs: BTreeMap<i64, Row> = signs
                .into_iter()
                .filter(|sign| sign["outline"] != Cell::Null)
                .map(|sign| (sign["doc"].long().unwrap(), sign))
                .collect();
            let by_doc: BTreeMap<i64, Cell> = texts.iter().map(|(doc, own)| (*doc, text(own))).collect();
            let all: BTreeSet<(i64, i64)> =
                signs.keys().flat_map(|&a| signs.keys().filter(move |&&b| a < b).map(move |&b| (a, b))).collect();
            let pair = |row: &Row| (row["a"].long().unwrap(), row["b"].long().unwrap());
            let left: BTreeSet<(i64, i64)> =
                engine.run("filter", &spec, blocks(&all, &signs, &by_doc)).iter().map(pair).collect();
            prop_assert!(left.is_subset(&all));
            prop_assert!(spec.filters() || left == all);
            let verified = |pairs: &BTreeSet<(i64, i64)>| -> BTreeSet<(i64, i64)> {
                engine.run("verify", &spec, blocks(pairs, &signs, &by_doc)).iter().map(pair).collect()
            };
            prop_assert_eq!(verified(&left), verified(&all), "{} {:?} {}", algo, settings, tokenizer);
        }
    }
}

fn of_length(median: usize, (factory, tokenizer, seed, _): Made) -> Made {
    (factory, tokenizer, seed, Median::Known(median))
}

fn minhash(options: StepOptions) -> (Made, Arc<Spec>) {
    let made = of_length(60, made("minhash", &[("shingle", "2")], "word", 0));
    let spec = spec_of(&made, options, &[]);
    (made, spec)
}

fn long(name: &'static str, value: i64) -> (&'static str, Cell) {
    (name, Cell::Long(value))
}

/// The error of a task, whatever the size of batches.
fn error(name: &str, spec: &Arc<Spec>, rows: &[Row]) -> String {
    let entry = by_name(name).unwrap();
    let errors = [1, 100].map(|size| task(entry, spec, rows, size).unwrap_err().to_string());
    assert_eq!(errors[0], errors[1]);
    errors[0].clone()
}

#[test]
fn rows_out_of_order_are_an_error_that_names_step_and_key() {
    let (_, spec) = minhash(StepOptions { hot: 4, ..StepOptions::default() });
    let key =
        |key, doc| row([long("key", key), long("doc", doc), long("last", doc), ("outline", Cell::Longs(vec![9]))]);
    assert_eq!(
        error("pairs", &spec, &[key(-2, 1), key(3, 1), key(1, 2)]),
        "step pairs: rows are not in order of their key: 1 comes after 3"
    );
    let hot =
        |hot, doc| row([long("hot", hot), long("doc", doc), long("last", doc), long("seq_hi", 0), long("seq_lo", 0)]);
    assert_eq!(
        error("prefix", &spec, &[hot(1, 1), hot(2, 7), hot(2, 5)]),
        "step prefix: rows are not in order of their key and document: key 2 with document 5 comes after key 2 with document 7"
    );
    let verify = |block, kind, a| row([long("block", block), long("kind", kind), long("a", a)]);
    assert_eq!(
        error("verify", &spec, &[verify(1, 0, 1), verify(3, 0, 2), verify(2, 0, 2)]),
        "step verify: rows are not in order of their block and kind: block 2 with kind 0 comes after block 3 with kind 0"
    );
    assert_eq!(
        error("filter", &spec, &[verify(1, 0, 1), verify(3, 0, 2), verify(2, 0, 2)]),
        "step filter: rows are not in order of their block and kind: block 2 with kind 0 comes after block 3 with kind 0"
    );
    let pair =
        |a: (i64, i64), b: (i64, i64)| row([long("a_rank", a.0), long("a", a.1), long("b_rank", b.0), long("b", b.1)]);
    assert_eq!(
        error("keep", &spec, &[pair((0, 1), (1, 3)), pair((0, 1), (1, 2))]),
        "step keep: rows are not in order of their later document: 2 with rank 1 comes after 3 with rank 1"
    );
    assert_eq!(
        error("keep", &spec, &[pair((0, 4), (0, 3))]),
        "step keep: the earlier document of a pair comes first: 4 with rank 0 is not before 3 with rank 0"
    );
}

#[test]
fn rows_that_do_not_belong_together_are_errors() {
    let (_, spec) = minhash(StepOptions::default());
    let key =
        |doc, outline| row([long("key", 5), long("doc", doc), long("last", doc), ("outline", Cell::Longs(outline))]);
    assert_eq!(
        error("pairs", &spec, &[key(1, vec![9]), key(1, vec![9])]),
        "step pairs: document 1 is twice under the key 5: numbers of documents must not repeat"
    );
    assert_eq!(
        error("pairs", &spec, &[key(1, vec![9, 0])]),
        "step pairs: a row has an 'outline' of 2 numbers: it is of another run"
    );
    let document = |a| row([long("block", 5), long("kind", 0), long("a", a), long("seq_hi", 0), long("seq_lo", 0)]);
    let sketched = |a, sketch| row([long("block", 5), long("kind", 0), long("a", a), ("sketch", Cell::Longs(sketch))]);
    let pair = |a, b| row([long("block", 5), long("kind", 1), long("a", a), long("b", b)]);
    assert_eq!(
        error("verify", &spec, &[document(1), pair(1, 2)]),
        "step verify: document 2 is not in block 5, or comes after its pairs"
    );
    assert_eq!(
        error("filter", &spec, &[sketched(1, vec![9, 0, 0, 0, 0]), pair(1, 2)]),
        "step filter: document 2 is not in block 5, or comes after its pairs"
    );
    assert_eq!(
        error("filter", &spec, &[sketched(1, vec![]), sketched(1, vec![])]),
        "step filter: document 1 is twice in block 5: numbers of documents must not repeat"
    );
    assert_eq!(
        error("filter", &spec, &[sketched(1, vec![9])]),
        "step filter: a row has a 'sketch' of 1 numbers: it is of another run"
    );
    assert_eq!(
        error("verify", &spec, &[document(1), document(1)]),
        "step verify: document 1 is twice in block 5: numbers of documents must not repeat"
    );
    let no_number = [row([("doc", Cell::Null), ("text", Cell::Null)])];
    assert_eq!(error("sign", &spec, &no_number), "step sign: 1 rows have no 'doc'");
    let other = RecordBatch::try_from_iter([("key", Arc::new(StringArray::from(vec!["x"])) as ArrayRef)]).unwrap();
    let push = |name| by_name(name).unwrap().start(Arc::clone(&spec)).unwrap().push(&other).unwrap_err().to_string();
    assert_eq!(push("pairs"), "step pairs: column 'key' is Utf8, not int64");
    assert_eq!(push("verify"), "step verify: no column 'block' (columns here: key)");
}

#[test]
fn a_long_document_is_an_error_and_not_all_memory() {
    let (_, spec) = minhash(StepOptions { memory: 10_000, ..StepOptions::default() });
    let document = row([long("doc", 8), ("text", Cell::Text("word ".repeat(10_000)))]);
    assert_eq!(
        error("sign", &spec, &[document]),
        "step sign: document 8 has 50000 bytes, and cannot be signed within `memory` (10000 bytes): allow more"
    );
}

#[test]
fn steps_without_rows_have_no_results() {
    let (_, spec) = minhash(StepOptions::default());
    for entry in STEPS {
        assert!(task(entry, &spec, &[], 1).unwrap().is_empty());
        let mut step = entry.start(Arc::clone(&spec)).unwrap();
        step.push(&batch_of(&[], entry.takes)).unwrap();
        step.finish();
        assert!(step.take().unwrap().is_none() && step.take().unwrap().is_none());
    }
    let none = find(
        &Engine { partitions: 3, batch: 1, seed: 0 },
        &minhash(StepOptions::default()).0,
        StepOptions::default(),
        &Texts { signed: &[], verified: &[] },
    );
    assert_eq!(none, Found { kept: vec![BTreeSet::new(); 4], ..Found::default() });
}

#[test]
fn a_plan_of_another_version_or_with_other_options_is_refused() {
    let (made, spec) = minhash(StepOptions::default());
    let read = |json: &str, made: &Made| {
        Spec::read(json, &made.0, Arc::clone(&made.1), made.2, &[]).map(|_| ()).unwrap_err().to_string()
    };
    let json = spec.to_json();
    let version = env!("CARGO_PKG_VERSION");
    let older = json.replace(&format!("\"version\":\"{version}\""), "\"version\":\"0.0.1\"");
    assert_eq!(
        read(&older, &made),
        format!(
            "the run was planned by version 0.0.1, and this step is of version {version}: install one version of neardups on all machines"
        )
    );
    assert_eq!(
        read(&json, &(made.0.clone(), Arc::clone(&made.1), 1, made.3)),
        "the run was planned with other options: 'seed' is 0 there, and 1 in this step"
    );
    let other = super::tests::made("minhash", &[("shingle", "2"), ("threshold", "0.9")], "word", 0);
    assert!(read(&json, &other).contains("is 0.8 there") || read(&json, &other).contains("there, and"));
    for damaged in ["", "{}", "[1]", "{\"version\":3}"] {
        assert_eq!(read(damaged, &made), "the plan of the run is damaged: it is not what a plan was written as");
    }
}

#[test]
fn steps_before_all_is_learned_are_refused() {
    let (factory, tokenizer, seed, _) = made("imatch", &[], "word", 0);
    let mut spec = Spec::new(&factory, tokenizer, seed, Median::Known(300), StepOptions::default()).unwrap();
    let learns = spec.learns();
    assert_eq!(learns, Some(algorithm::Learns::Terms));
    let plan = spec.to_json();
    let counts = Counts::new(2, [(7, 1), (8, 2)]);
    spec.learn(&counts).unwrap();
    assert_eq!((spec.learns(), spec.learn(&counts).is_err()), (None, true));
    let read = |json: &str, counts: &[Counts]| {
        Spec::read(json, &factory, tokenizer::by_name("word").unwrap().into(), 0, counts)
    };
    let other = Counts::new(2, [(7, 1), (8, 1)]);
    for (json, counts) in [(&plan, vec![counts]), (&spec.to_json(), vec![]), (&spec.to_json(), vec![other])] {
        let error = read(json, &counts).unwrap_err().to_string();
        assert!(error.starts_with("the run was planned with other options: '"), "{error}");
    }
    let early = Arc::new(read(&plan, &[]).unwrap());
    assert_eq!(
        by_name("pairs").unwrap().start(early).unwrap_err().to_string(),
        "step pairs: imatch learns Terms from the whole collection: run the step `count` before"
    );
}

/// A document that changes between signing and verification is named, and no pair with it is found by verification.
#[test]
fn documents_that_change_are_named() {
    let (made, _) = minhash(StepOptions::default());
    let words = |from: usize| (from..from + 60).map(|word| format!("w{word} ")).collect::<String>();
    let docs: Vec<(i64, Option<String>)> =
        (0..12).map(|doc| (doc, Some(words(doc as usize % 3)))).chain([(12, None)]).collect();
    for (hot, text) in [(0, Some("another text".to_string())), (2, Some("another text".to_string())), (0, None)] {
        let options = StepOptions { hot, ..StepOptions::default() };
        let mut verified = docs.clone();
        verified[1].1 = text;
        let engine = Engine { partitions: 2, batch: 5, seed: 3 };
        let before = find(&engine, &made, options, &Texts { signed: &docs, verified: &docs });
        let after = find(&engine, &made, options, &Texts { signed: &docs, verified: &verified });
        assert_eq!((before.changed.len(), after.changed), (0, BTreeSet::from([1])));
        let without: BTreeMap<_, _> =
            before.pairs.into_iter().filter(|&((a, b), s)| s == 1.0 || a % 3 != 1 && b % 3 != 1).collect();
        assert_eq!(after.pairs, without);
    }
}

/// Every pair of two thousand near-copies is found without more results in memory than a batch has.
#[test]
fn results_come_in_batches() {
    let made = of_length(60, made("simhash", &[("distance", "8")], "word", 0));
    let spec = spec_of(&made, StepOptions::default(), &[]);
    let rows: Vec<Row> = (0..2000)
        .map(|doc| {
            row([long("key", 5), long("doc", doc), long("last", doc), ("outline", Cell::Longs(vec![1 << (doc % 4)]))])
        })
        .collect();
    let mut step = by_name("pairs").unwrap().start(spec).unwrap();
    step.push(&batch_of(&rows, by_name("pairs").unwrap().takes)).unwrap();
    step.finish();
    let (mut pairs, mut most) = (0, 0);
    while let Some(batch) = step.take().unwrap() {
        (pairs, most) = (pairs + batch.num_rows(), most.max(batch.num_rows()));
    }
    assert_eq!(pairs, 2000 * 1999 / 2);
    assert!(most < 1 << 15, "{most}");
}
