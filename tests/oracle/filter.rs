//! The stream decides like the batch, and its index survives any damage to its file.

use crate::support::corpus::{Text, related, with_articles};
use crate::support::random::Random;
use crate::support::scanning::{Method, and_all_others_of_streams, factory, outcome_with};
use neardups::Error;
use neardups::algorithm::AlgorithmFactory;
use neardups::engine::{self, KeepPolicy};
use neardups::filter::{Counts, Decided, Filter, Sink};
use neardups::index::{
    self, Decision, FORMAT_VERSION, Index, IndexOptions, Limits, Mode, Outdated, Plan, Repair, Seed, Signer, Sync,
};
use neardups::similarity::Similarity;
use neardups::source::{self, Format, Live};
use neardups::tokenizer::Word;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

/// A decision without the time at which the original passed: runs take their time from the clock.
fn timeless(decision: &Decision) -> Decision {
    let mut decision = decision.clone();
    if let Decision::Duplicate { passed, .. } = &mut decision {
        *passed = 0;
    }
    decision
}

/// Keeps ids with what became of them.
#[derive(Default)]
struct Kept {
    decided: Vec<(String, Decision)>,
    released: usize,
}

impl Sink for Kept {
    fn decided(&mut self, line: &[u8], id: &str, decision: &Decision) -> Result<(), Error> {
        assert!(std::str::from_utf8(line).unwrap().contains(id));
        self.decided.push((id.into(), timeless(decision)));
        Ok(())
    }

    fn passed(&mut self, record: &[u8]) -> Result<(), Error> {
        panic!("every line is a document: {}", record.escape_ascii());
    }

    fn release(&mut self, counts: &Counts, _index: &Index) -> Result<(), Error> {
        self.released = self.decided.len();
        assert_eq!(counts.documents as usize, self.released);
        Ok(())
    }
}

/// Keeps apart what is decided while the index reaches the disk. What is released must be in the index file, if it is remembered.
struct Apart<'a> {
    path: &'a Path,
    /// The ids that passed, in the order of their release.
    released: Vec<String>,
    decided: Vec<String>,
    counts: u64,
    apart: Option<(usize, u64)>,
    documents: u64,
    /// How often something was decided between keeping apart and the release.
    overlapped: usize,
}

impl Sink for Apart<'_> {
    fn decided(&mut self, _line: &[u8], id: &str, decision: &Decision) -> Result<(), Error> {
        self.documents += 1;
        self.decided.extend(decision.passes().then(|| id.to_string()));
        Ok(())
    }

    fn passed(&mut self, record: &[u8]) -> Result<(), Error> {
        panic!("every line is a document: {}", record.escape_ascii());
    }

    fn keep_apart(&mut self) -> bool {
        assert!(self.apart.is_none(), "it is released first");
        self.apart = Some((self.decided.len(), self.documents));
        true
    }

    fn release(&mut self, counts: &Counts, _index: &Index) -> Result<(), Error> {
        let (passed, documents) = self.apart.take().unwrap_or((self.decided.len(), self.documents));
        assert_eq!(counts.documents, documents);
        self.overlapped += usize::from(documents < self.documents);
        let remembered: BTreeSet<String> = index::documents(self.path)?
            .map(|document| document.map(|document| document.id.to_string()))
            .collect::<Result<_, Error>>()?;
        for id in self.decided.drain(..passed) {
            assert!(remembered.contains(&id), "{id} leaves before the index has it");
            self.released.push(id);
        }
        self.counts = counts.documents;
        Ok(())
    }
}

/// A sink that keeps records apart gets the same ones in the same order, each after it is in the file of the index.
#[test]
fn records_leave_after_the_index_has_them_while_others_are_decided() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&factory("minhash", &[("shingle", "2")]));
    let mut documents = related(&mut Random::new(5), 300, 60);
    // Long enough that a batch is begun several times.
    documents.iter_mut().enumerate().for_each(|(number, (_, text))| {
        let more: Vec<String> = (0..4000).map(|word| format!("w{}", word * 31 % 997 + 1000 * number)).collect();
        text.push_str(&more.join(" "));
    });
    let expected: Vec<String> = run(Cursor::new(jsonl(&documents)), &mut in_memory(&plan), 1)
        .into_iter()
        .filter(|(_, decision)| decision.passes())
        .map(|(id, _)| id)
        .collect();
    for sync in [Sync::Off, Sync::Batch, Sync::Always] {
        for threads in [1, 3] {
            let path = folder.path().join(format!("{sync:?}{threads}"));
            let options = IndexOptions { sync, ..IndexOptions::default() };
            let (mut index, _) = Index::open(&path, &plan, &options).unwrap();
            let input = Cursor::new(jsonl(&documents));
            let live =
                Live::new(input, "-", &source::ReadOptions { format: Format::Jsonl, ..source::ReadOptions::default() });
            let mut sink = Apart {
                path: &path,
                released: Vec::new(),
                decided: Vec::new(),
                counts: 0,
                apart: None,
                documents: 0,
                overlapped: 0,
            };
            let counts = Filter::new(&mut index).threads(threads).run(live, &mut sink).unwrap();
            assert_eq!((sink.counts, sink.decided.len()), (counts.documents, 0));
            assert_eq!(sink.released, expected, "{sync:?} {threads}");
            assert!(sync == Sync::Batch || sink.overlapped == 0);
        }
    }
}

fn jsonl(documents: &[Text]) -> String {
    let line = |(id, text): &Text| serde_json::json!({"id": id, "text": text}).to_string() + "\n";
    documents.iter().map(line).collect()
}

fn plan(factory: &dyn AlgorithmFactory) -> Plan {
    Plan::new(factory, Arc::new(Word)).unwrap().with_seed(Seed::Fixed(0)).unwrap()
}

/// Makes signatures for every index of this plan, which names its seed.
fn signer(plan: &Plan) -> Signer {
    in_memory(plan).signer()
}

fn run(input: impl Read + Send + 'static, index: &mut Index, threads: usize) -> Vec<(String, Decision)> {
    let live = Live::new(input, "-", &source::ReadOptions { format: Format::Jsonl, ..source::ReadOptions::default() });
    let mut kept = Kept::default();
    Filter::new(index).threads(threads).run(live, &mut kept).unwrap();
    assert_eq!(kept.released, kept.decided.len());
    kept.decided
}

fn in_memory(plan: &Plan) -> Index {
    Index::in_memory(plan, Limits::default())
}

/// With settings that do not follow the length of the documents or the collection.
fn settings() -> Vec<Method> {
    and_all_others_of_streams(&[
        ("minhash", &[("shingle", "3")]),
        ("minhash", &[("shingle", "2"), ("threshold", "0.5")]),
        ("minhash", &[("shingle", "3"), ("exact", "true")]),
        ("simhash", &[("distance", "8"), ("force", "true")]),
    ])
}

#[test]
fn a_stream_keeps_what_a_scan_keeps() {
    for (algorithm, settings) in settings() {
        let factory = factory(algorithm, settings);
        for seed in 0..6 {
            let documents = with_articles(related(&mut Random::new(seed), 120, 80));
            let plan = plan(&factory);
            let decided = run(Cursor::new(jsonl(&documents)), &mut in_memory(&plan), 1 + seed as usize % 3);
            let outcome = outcome_with(
                &documents,
                &factory,
                &engine::ScanOptions { threads: 2, ..engine::ScanOptions::default() },
            );
            let kept = outcome.keep(KeepPolicy::First).unwrap();
            let verdicts = kept.verdicts().map(|verdict| {
                let of = verdict.duplicate_of.map(|(of, similarity)| (of.to_string(), similarity));
                (verdict.id.to_string(), verdict.featureless, of)
            });
            let expected: Vec<_> = verdicts.collect();
            let found: Vec<_> = decided
                .into_iter()
                .map(|(id, decision)| match decision {
                    Decision::Fresh => (id, false, None),
                    Decision::Featureless => (id, true, None),
                    Decision::Duplicate { of, similarity, .. } => (id, false, Some((of, similarity))),
                    other => panic!("{other:?}: no id comes twice"),
                })
                .collect();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                let is = |(id, featureless, of): &(String, bool, Option<_>)| (id.clone(), *featureless, of.is_some());
                assert_eq!(is(found), is(expected), "{algorithm} {settings:?}, seed {seed}");
                // A scan decides about copies with the first of them; since then the stream may have passed one that is
                // more similar.
                let value =
                    |of: &Option<(String, Similarity)>| of.as_ref().map_or(0.0, |(_, similarity)| similarity.value());
                assert!(value(&found.2) >= value(&expected.2), "{found:?}, {expected:?}");
            }
            assert!(found.iter().any(|(.., of)| of.is_some()));
        }
    }
}

/// A source decides as a stream of the same documents.
#[test]
fn a_source_is_decided_as_a_stream() {
    for (number, (algorithm, settings)) in settings().into_iter().enumerate() {
        let documents = with_articles(related(&mut Random::new(number as u64), 120, 80));
        let plan = plan(&factory(algorithm, settings));
        let expected = run(Cursor::new(jsonl(&documents)), &mut in_memory(&plan), 1);
        for threads in [1, 3] {
            let (mut found, mut index) = (Vec::new(), in_memory(&plan));
            let mut source: source::Documents = documents.iter().cloned().collect();
            let filter = Filter::new(&mut index).threads(threads);
            let counts = filter.documents(&mut source, &mut |place, decided| {
                let Decided::Document(id, decision) = decided else { panic!("every document can be read") };
                assert_eq!(&*place.path, id);
                found.push((id.to_string(), timeless(decision)));
                Ok(())
            });
            assert_eq!(counts.unwrap().documents as usize, documents.len());
            assert!(found == expected, "{algorithm} {settings:?}");
        }
        let most = expected.len() / 2;
        let (mut seen, mut index) = (0, in_memory(&plan));
        let ended = Filter::new(&mut index).documents(
            &mut documents.iter().cloned().collect::<source::Documents>(),
            &mut |_, _| {
                seen += 1;
                if seen < most { Ok(()) } else { Err(Error::Usage("enough".into())) }
            },
        );
        assert!(matches!(ended, Err(Error::Usage(_))) && seen == most);
    }
}

/// Returns at most this many bytes at a time.
struct Pieces(Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = self.1.min(buffer.len());
        self.0.read(&mut buffer[..most])
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn threads_pieces_and_restarts_do_not_show(seed: u64, threads in 1usize..5, piece in 1usize..3000, cut in 0usize..60) {
        let documents = related(&mut Random::new(seed), 60, 60);
        let plan = plan(&factory("minhash", &[("shingle", "3")]));
        let expected = run(Cursor::new(jsonl(&documents)), &mut in_memory(&plan), 1);
        let folder = tempfile::tempdir().unwrap();
        let mut found = Vec::new();
        for part in [&documents[..cut], &documents[cut..]] {
            let mut index = open(&folder.path().join("seen"), &plan).unwrap().0;
            let input = Pieces(Cursor::new(jsonl(part).into_bytes()), piece);
            found.extend(run(input, &mut index, threads));
        }
        prop_assert_eq!(&found, &expected);
        // All of it again: passed documents are stored under the same id; the others are duplicates as before.
        let mut index = open(&folder.path().join("seen"), &plan).unwrap().0;
        for ((id, again), (_, first)) in run(Cursor::new(jsonl(&documents)), &mut index, 2).into_iter().zip(expected) {
            match first {
                Decision::Fresh | Decision::Featureless => prop_assert_eq!(again, Decision::Known, "{}", id),
                // Perhaps of one that passed later.
                _ => prop_assert!(matches!(again, Decision::Duplicate { .. }), "{}: {:?}", id, again),
            }
        }
    }
}

fn open(path: &Path, plan: &Plan) -> Result<(Index, Option<Repair>), Error> {
    open_with(path, plan, &IndexOptions { sync: Sync::Off, ..IndexOptions::default() })
}

fn open_with(path: &Path, plan: &Plan, options: &IndexOptions) -> Result<(Index, Option<Repair>), Error> {
    Index::open(path, plan, options)
}

/// A frame that marks everything before it as written to the disk.
const MARK: u64 = 17;

/// A frame that notes up to where documents have left.
const NOTE: u64 = 25;

/// An index of a few documents in a file, one run each, and the end of each record. A mark follows the header. In each run a note precedes the
/// record; a note and a mark follow it.
fn small(folder: &Path, plan: &Plan) -> (Vec<u8>, Vec<u64>) {
    let path = folder.join("small");
    let mut lengths = Vec::new();
    for number in 0..6 {
        let mut index = open(&path, plan).unwrap().0;
        let text = format!(
            "{{\"id\":\"d{number}\",\"text\":\"some words of document number {number} and of no other {number}\"}}\n"
        );
        assert_eq!(run(Cursor::new(text), &mut index, 1)[0].1, Decision::Fresh);
        lengths.push(index.bytes_stored() - MARK - NOTE);
    }
    (fs::read(path).unwrap(), lengths)
}

#[test]
fn a_file_that_was_cut_anywhere_opens_with_what_is_whole() {
    for (algorithm, settings) in [("minhash", &[("shingle", "3")][..]), ("simhash", &[("force", "true")])] {
        let plan = plan(&factory(algorithm, settings));
        let folder = tempfile::tempdir().unwrap();
        let (bytes, lengths) = small(folder.path(), &plan);
        let header = first_end(&bytes);
        let mut ends = vec![header + MARK, header + MARK + NOTE];
        for end in &lengths {
            ends.extend([0, NOTE, NOTE + MARK, 2 * NOTE + MARK].map(|frames| end + frames));
        }
        let path = folder.path().join("cut");
        for length in 0..=bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            let (index, repair) = open(&path, &plan).unwrap_or_else(|error| panic!("{length}: {error}"));
            let whole = lengths.iter().filter(|&&end| end <= length as u64).count() as u64;
            assert_eq!(index.len(), whole, "{length}");
            let clean = length as u64 <= header || ends.contains(&(length as u64));
            assert_eq!(repair.is_none(), clean, "{length}");
            drop(index);
            let (index, repair) = open(&path, &plan).unwrap();
            assert_eq!((index.len(), repair), (whole, None), "{length}");
        }
    }
}

/// The end of the header: its length follows the magic and the version.
fn first_end(bytes: &[u8]) -> u64 {
    60 + u64::from(u32::from_le_bytes(bytes[16..20].try_into().unwrap()))
}

#[test]
fn a_changed_byte_is_found() {
    let plan = plan(&factory("minhash", &[("shingle", "3")]));
    let folder = tempfile::tempdir().unwrap();
    let (bytes, _) = small(folder.path(), &plan);
    let last = bytes.len() as u64 - MARK;
    let path = folder.path().join("changed");
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(&path, &changed).unwrap();
        match open(&path, &plan) {
            Err(error) => {
                assert!(error.to_string().contains("changed: "), "{error}");
                assert!(fs::read(&path).unwrap() == changed, "a damaged file is left alone");
            }
            // A damaged mark at the end looks like an interrupted write, which is reported.
            Ok((index, repair)) => {
                assert_eq!((index.len(), repair.map(|repair| repair.at)), (6, Some(last)), "{at}");
                assert!(at as u64 >= last);
            }
        }
    }
}

/// Writes batches of ten documents. Returns where each ends.
fn batches(path: &Path, plan: &Plan, batches: usize) -> Vec<u64> {
    let mut index = open_with(path, plan, &IndexOptions::default()).unwrap().0;
    let mut signer = index.signer();
    let mut end = |batch: usize| {
        for number in 10 * batch..10 * batch + 10 {
            let text = format!("some words of document number {number} and of no other {number}");
            assert_eq!(index.decide(&number.to_string(), &signer.sign(&text), 0).unwrap(), Decision::Fresh);
        }
        index.commit().unwrap();
        index.bytes_stored()
    };
    (0..batches).map(&mut end).collect()
}

/// After a power cut some of what was written last is there and some is not.
#[test]
fn a_batch_that_is_there_in_part_is_cut_off_and_one_before_it_is_damage() {
    let (plan, folder) = (plan(&factory("minhash", &[("shingle", "3")])), tempfile::tempdir().unwrap());
    let path = folder.path().join("seen");
    let ends = batches(&path, &plan, 3);
    let bytes = fs::read(&path).unwrap();
    for (batch, ends) in ends.windows(2).enumerate() {
        for hole in (ends[0]..ends[1]).step_by(50) {
            let mut torn = bytes.clone();
            torn[hole as usize..ends[1].min(hole + 90) as usize].fill(0);
            fs::write(&path, &torn).unwrap();
            match open(&path, &plan) {
                Ok((index, repair)) => {
                    assert!(batch == 1 && repair.is_some() && (20..30).contains(&index.len()), "{hole}");
                }
                Err(error) => assert!(batch == 0 && error.to_string().contains("damaged at byte"), "{hole}: {error}"),
            }
        }
    }
}

#[test]
fn an_index_of_this_version_opens_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let articles = fs::read_to_string("fixtures/jsonl/docs/articles.jsonl").unwrap();
    let articles = articles.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let documents: Vec<Text> = articles
        .map(|article| ["id", "text"].map(|field| article[field].as_str().unwrap().to_string()).into())
        .collect();
    for (algorithm, fresh) in [("minhash", 31), ("simhash", 32)] {
        let path = folder.path().join(algorithm);
        fs::copy(format!("fixtures/index/version-{FORMAT_VERSION}-{algorithm}.idx"), &path).unwrap();
        let summary = index::inspect(&path).unwrap();
        assert_eq!((summary.version, summary.documents, summary.torn), (FORMAT_VERSION, fresh, None));
        let plan = plan(&factory(algorithm, &[]));
        let mut index = open(&path, &plan).unwrap().0;
        assert_eq!(
            serde_json::to_value(&summary.header).unwrap(),
            serde_json::to_value(index.spec().identity()).unwrap()
        );
        let mut signer = index.signer();
        let known =
            documents.iter().filter(|(id, text)| index.decide(id, &signer.sign(text), 0).unwrap() == Decision::Known);
        assert_eq!(known.count() as u64, fresh, "{algorithm}");
        assert_eq!(index.decide("new", &signer.sign("a new text of eight words is here"), 0).unwrap(), Decision::Fresh);
        index.commit().unwrap();
        drop(index);
        assert_eq!(index::inspect(&path).unwrap().documents, fresh + 1);
    }
}

#[test]
fn indexes_of_older_versions_are_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    for version in [1, 2] {
        for algorithm in ["minhash", "simhash"] {
            let path = folder.path().join(format!("{version}-{algorithm}"));
            fs::copy(format!("fixtures/index/version-{version}-{algorithm}.idx"), &path).unwrap();
            let before = fs::read(&path).unwrap();
            let plan = plan(&factory(algorithm, &[]));
            let opened = open(&path, &plan).err().unwrap();
            for error in [opened, index::inspect(&path).unwrap_err(), index::header(&path).unwrap_err()] {
                let error = error.to_string();
                assert!(error.contains(&format!("has format version {version}, and only version 3")), "{error}");
                assert!(error.contains("make a new index"), "{error}");
            }
            assert!(fs::read(&path).unwrap() == before, "a refused index is left as it is");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// However little of the tables is in memory, and however often the index is opened.
    #[test]
    fn tables_on_the_disk_decide_the_same(seed: u64, tables in 0u64..60_000, cut in 0usize..80, which in 0usize..2) {
        let documents = related(&mut Random::new(seed), 80, 60);
        let plan = plan(&[factory("minhash", &[("shingle", "3")]), factory("simhash", &[("force", "true")])][which]);
        let expected = run(Cursor::new(jsonl(&documents)), &mut in_memory(&plan), 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seen");
        let options = IndexOptions { tables, sync: Sync::Off, ..IndexOptions::default() };
        let mut found = Vec::new();
        for part in [&documents[..cut], &documents[cut..]] {
            let mut index = open_with(&path, &plan, &options).unwrap().0;
            found.extend(run(Cursor::new(jsonl(part)), &mut index, 1));
        }
        prop_assert_eq!(&found, &expected);
        let names = |folder: &Path| -> BTreeSet<String> {
            let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.collect()
        };
        let mut all = names(folder.path());
        if all.remove("seen.tables") {
            let checkpoint = fs::read_to_string(folder.path().join("seen.tables/checkpoint")).unwrap();
            let checkpoint: Value = serde_json::from_str(checkpoint.lines().nth(1).unwrap()).unwrap();
            let segments = checkpoint["segments"].as_array().unwrap();
            let segments = segments.iter().map(|segment| format!("segment-{}", segment[0]));
            let expected = segments.chain(["checkpoint".to_string()]).collect();
            prop_assert_eq!(names(&folder.path().join("seen.tables")), expected, "only what the checkpoint names");
        }
        prop_assert_eq!(all, BTreeSet::from(["seen".to_string()]), "nothing else stays");
    }

    /// Removing is as if the documents had not come; compacting changes nothing but the size; asking changes nothing.
    #[test]
    fn what_is_removed_never_was(seed: u64, which in prop::collection::btree_set(0usize..40, 0..20), tables in 0u64..20_000) {
        let documents = related(&mut Random::new(seed), 60, 60);
        let plan = plan(&factory("minhash", &[("shingle", "3")]));
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("seen"), folder.path().join("other"));
        let options = IndexOptions { tables, sync: Sync::Off, mode: Mode::Add, ..IndexOptions::default() };
        let feed = |path: &Path, documents: &[Text], mode| {
            let mut index = open_with(path, &plan, &IndexOptions { mode, ..options.clone() }).unwrap().0;
            run(Cursor::new(jsonl(documents)), &mut index, 1)
        };
        let (first, rest) = documents.split_at(40);
        feed(&path, first, Mode::Add);
        let ids: std::collections::BTreeSet<String> = which.iter().map(|&number| first[number].0.clone()).chain(["unknown".into()]).collect();
        let unknown = |ids: &[&str]| ids.iter().map(|id| id.to_string()).collect();
        let remove = |ids| index::remove(&path, ids).map(|removed| (removed.documents, removed.unknown, removed.torn));
        let removed = (which.len() as u64, unknown(&["unknown"]), None);
        prop_assert_eq!(remove(ids.clone()).unwrap(), removed);
        let nothing = (0, ids.clone(), None);
        prop_assert_eq!(remove(ids.clone()).unwrap(), nothing);
        let left: Vec<Text> = first.iter().filter(|(id, _)| !ids.contains(id)).cloned().collect();
        feed(&other, &left, Mode::Add);
        let expected = feed(&other, rest, Mode::Query);
        prop_assert_eq!(&feed(&path, rest, Mode::Query), &expected);
        let compacted = index::compact(&path, Outdated::default()).unwrap();
        prop_assert_eq!((compacted.documents, compacted.dropped), (left.len() as u64, which.len() as u64));
        prop_assert!(which.is_empty() || compacted.bytes.1 < compacted.bytes.0);
        prop_assert_eq!(&feed(&path, rest, Mode::Query), &expected);
        prop_assert_eq!(feed(&path, &documents, Mode::Filter), feed(&other, &documents, Mode::Filter));
        let summary = index::inspect(&path).unwrap();
        prop_assert_eq!((summary.removed, summary.torn), (0, None));
    }
}

/// Documents prepared to share a key with all others cost no more than a bound, and the bound is reported.
#[test]
fn of_a_key_with_too_many_documents_the_latest_are_looked_at() {
    let (plan, folder) = (plan(&factory("minhash", &[("shingle", "3")])), tempfile::tempdir().unwrap());
    let signature = signer(&plan).sign("the same words again and again and again");
    let most = index::MOST_OF_A_KEY;
    for tables in [1 << 16, 1 << 30] {
        let path = folder.path().join(tables.to_string());
        let options = IndexOptions { tables, mode: Mode::Add, sync: Sync::Off, ..IndexOptions::default() };
        let mut index = open_with(&path, &plan, &options).unwrap().0;
        for number in 0..most + 10 {
            assert_eq!(index.decide(&number.to_string(), &signature, 0).unwrap(), Decision::Fresh);
        }
        index.commit().unwrap();
        drop(index);
        let mut index = open_with(&path, &plan, &IndexOptions { mode: Mode::Query, ..options.clone() }).unwrap().0;
        assert!(matches!(index.decide("x", &signature, 0).unwrap(), Decision::Duplicate { of, .. } if of == "10"));
        assert_eq!(index.capped(), 1);
        drop(index);
        // Removed documents do not take the place of others.
        index::remove(&path, (1..most + 10).map(|number| number.to_string()).collect()).unwrap();
        let mut index = open_with(&path, &plan, &IndexOptions { mode: Mode::Query, ..options }).unwrap().0;
        assert!(matches!(index.decide("x", &signature, 0).unwrap(), Decision::Duplicate { of, .. } if of == "0"));
        assert_eq!(index.capped(), 0);
    }
}

/// A small index of documents that have nothing in common, at the times 0, 1, 2 and so on.
fn with_times(path: &Path, plan: &Plan, documents: u64) {
    let mut index = open_with(path, plan, &IndexOptions::default()).unwrap().0;
    let mut signer = index.signer();
    for number in 0..documents {
        let text = format!("some words of document number {number} and of no other {number}");
        assert_eq!(index.decide(&number.to_string(), &signer.sign(&text), number).unwrap(), Decision::Fresh);
    }
    index.seal().unwrap();
}

fn ids(path: &Path) -> Vec<u64> {
    index::documents(path).unwrap().map(|document| document.unwrap().id.parse().unwrap()).collect()
}

#[test]
fn what_was_removed_counts_once_when_it_is_forgotten_too() {
    let (plan, folder) = (plan(&factory("minhash", &[("shingle", "3")])), tempfile::tempdir().unwrap());
    let path = folder.path().join("seen");
    with_times(&path, &plan, 100);
    index::remove(&path, (0..50).chain([98]).map(|number| number.to_string()).collect()).unwrap();
    let limits = Limits { window: Some(5), max_documents: Some(5), ..Limits::default() };
    let mut index = open_with(&path, &plan, &IndexOptions { limits, ..IndexOptions::default() }).unwrap().0;
    // The window is of documents that are there.
    assert_eq!(index.len(), 5);
    for number in 100..300 {
        let signature = signer(&plan).sign(&format!("some words of document number {number} and of no other {number}"));
        assert_eq!(index.decide(&number.to_string(), &signature, 0).unwrap(), Decision::Fresh, "{number}");
        assert_eq!(index.len(), 5, "{number}");
    }
}

#[test]
fn compacting_leaves_out_what_is_old() {
    let (plan, folder) = (plan(&factory("minhash", &[("shingle", "3")])), tempfile::tempdir().unwrap());
    let path = folder.path().join("seen");
    with_times(&path, &plan, 20);
    index::remove(&path, ["7".to_string(), "15".to_string()].into()).unwrap();
    let compacted = index::compact(&path, Outdated { before: 5, ..Outdated::default() }).unwrap();
    assert_eq!((compacted.documents, compacted.dropped), (13, 7));
    let compacted = index::compact(&path, Outdated { window: Some(6), ..Outdated::default() }).unwrap();
    assert_eq!((compacted.documents, compacted.dropped), (6, 7));
    assert_eq!(ids(&path), [13, 14, 16, 17, 18, 19]);
}

#[test]
fn what_is_whole_is_salvaged() {
    let (plan, folder) = (plan(&factory("minhash", &[("shingle", "3")])), tempfile::tempdir().unwrap());
    let path = folder.path().join("seen");
    with_times(&path, &plan, 20);
    let bytes = fs::read(&path).unwrap();
    for at in (first_end(&bytes) as usize..bytes.len() - MARK as usize).step_by(23) {
        let mut damaged = bytes.clone();
        let until = (at + 40).min(bytes.len() - MARK as usize);
        damaged[at..until].fill(0xff);
        fs::write(&path, &damaged).unwrap();
        let refused = index::compact(&path, Outdated::default()).unwrap_err().to_string();
        assert!(refused.contains("damaged at byte") && refused.contains("`Outdated::damaged`"), "{refused}");
        let compacted = index::compact(&path, Outdated { damaged: true, ..Outdated::default() }).unwrap();
        assert!(compacted.damaged >= (until - at) as u64 && compacted.torn.is_none(), "{at}: {compacted:?}");
        assert!((17..=20).contains(&compacted.documents), "{at}: {compacted:?}");
        let left = ids(&path);
        assert!(left.is_sorted() && left.len() as u64 == compacted.documents, "{at}: {left:?}");
    }
}

#[test]
fn what_was_added_never_comes_through() {
    let (plan, folder) = (plan(&factory("minhash", &[("shingle", "3")])), tempfile::tempdir().unwrap());
    let path = folder.path().join("seen");
    let signature = signer(&plan).sign("a page that nobody should ever see again, whoever asks for it");
    let decide = |mode| {
        let mut index = open_with(&path, &plan, &IndexOptions { mode, ..IndexOptions::default() }).unwrap().0;
        let decision = index.decide("page", &signature, 0).unwrap();
        index.seal().unwrap();
        decision
    };
    assert_eq!(decide(Mode::Add), Decision::Fresh);
    assert_eq!(decide(Mode::Add), Decision::Known);
    for mode in [Mode::Filter, Mode::Query] {
        assert!(matches!(decide(mode), Decision::Duplicate { of, .. } if of == "page"));
    }
}

/// Two keep their places while the file is replaced; a third is not put into the old one.
#[test]
fn readers_see_the_file_that_they_opened() {
    let (plan, folder) = (plan(&factory("minhash", &[("shingle", "3")])), tempfile::tempdir().unwrap());
    let path = folder.path().join("seen");
    with_times(&path, &plan, 20);
    index::remove(&path, ["0".to_string()].into()).unwrap();
    let mut reader = open_with(&path, &plan, &IndexOptions { mode: Mode::Query, ..IndexOptions::default() }).unwrap().0;
    let mut documents = index::documents(&path).unwrap();
    let mut seen = vec![documents.next().unwrap().unwrap().id];
    index::compact(&path, Outdated::default()).unwrap();
    seen.extend(documents.map(|document| document.unwrap().id));
    assert_eq!(seen, (1..20).map(|number| number.to_string()).collect::<Vec<_>>());
    for number in 0..20 {
        let signature = signer(&plan).sign(&format!("some words of document number {number} and of no other {number}"));
        let decision = reader.decide("other", &signature, 0).unwrap();
        assert_eq!(
            matches!(decision, Decision::Duplicate { of, .. } if of == number.to_string()),
            number > 0,
            "{number}"
        );
    }
}

#[test]
fn a_header_that_was_torn_is_written_again_with_other_settings() {
    let (one, other) = (plan(&factory("minhash", &[("shingle", "3")])), plan(&factory("minhash", &[("shingle", "4")])));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen");
    drop(open(&path, &one).unwrap());
    let bytes = fs::read(&path).unwrap();
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        assert_eq!(index::header(&path).unwrap(), None);
        drop(open(&path, &other).unwrap_or_else(|error| panic!("{length}: {error}")));
        let header = index::header(&path).unwrap().unwrap();
        assert_eq!(header.settings["shingle"], 4u64.into());
    }
}

#[test]
fn a_new_index_draws_its_seed_and_an_existing_one_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let planned =
        |algorithm, seed| Plan::new(&factory(algorithm, &[]), Arc::new(Word)).unwrap().with_seed(seed).unwrap();
    let seed = |name: &str, plan: &Plan| {
        let index = open(&path(name), plan).unwrap().0;
        assert_eq!(index::header(&path(name)).unwrap().unwrap().seed, index.spec().seed);
        index.spec().seed
    };
    let minhash = Plan::new(&factory("minhash", &[]), Arc::new(Word)).unwrap();
    // By one plan, so that it is not the plan that draws.
    let [a, b] = ["a", "b"].map(|name| seed(name, &minhash));
    assert!(a != b && [a, b].iter().all(|seed| seed.to_string().len() == 16 && *seed < 1 << 53), "{a}, {b}");
    assert_eq!(seed("a", &minhash), a);
    assert_eq!(seed("b", &planned("minhash", Seed::Random)), b);
    let text = "the quick brown fox jumps over the lazy dog near the bank";
    for (times, expected) in [Decision::Fresh, Decision::Known].into_iter().enumerate() {
        let mut index = open(&path("a"), &minhash).unwrap().0;
        assert_eq!(index.decide("x", &index.signer().sign(text), 0).unwrap(), expected, "{times}");
        index.seal().unwrap();
    }
    let refused = open(&path("a"), &planned("minhash", Seed::Fixed(7))).err().unwrap().to_string();
    assert!(refused.contains("made with another `seed`"), "{refused}");
    assert_eq!(seed("fixed", &planned("minhash", Seed::Fixed(7))), 7);
    assert_eq!(seed("fixed", &minhash), 7);
    // Its result depends on the seed.
    assert_eq!(seed("simhash", &planned("simhash", Seed::Auto)), 0);
    assert_ne!(seed("random", &planned("simhash", Seed::Random)), 0);
    assert_eq!(in_memory(&minhash).spec().seed, 0);
    assert_ne!(in_memory(&planned("minhash", Seed::Random)).spec().seed, 0);
}

#[test]
fn other_settings_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen");
    let three = plan(&factory("minhash", &[("shingle", "3")]));
    drop(open(&path, &three).unwrap());
    let refused = |plan: &Plan| open(&path, plan).err().map(|error| error.to_string()).unwrap_or_default();
    let message = refused(&plan(&factory("minhash", &[("shingle", "4")])));
    assert!(message.contains("made with shingle 3, and this run has shingle 4"), "{message}");
    assert!(
        refused(&plan(&factory("simhash", &[("force", "true")])))
            .contains("made with algo minhash, and this run has algo simhash: ")
    );
    let (_writer, _) = open(&path, &three).unwrap();
    assert!(refused(&three).contains("open for writing"), "{}", refused(&three));
}

#[test]
fn what_is_too_old_is_forgotten_and_what_is_too_much_is_said() {
    let plan = plan(&factory("minhash", &[("shingle", "2")]));
    let mut signer = signer(&plan);
    let mut decide = |index: &mut Index, id: &str, text: &str, now| index.decide(id, &signer.sign(text), now);
    let with = |limits| Index::in_memory(&plan, limits);
    let text = |number: u64| format!("document {number} has words {number} of its own {number}");

    let mut index = with(Limits { window: Some(2), ..Limits::default() });
    for number in 0..3 {
        assert_eq!(decide(&mut index, &number.to_string(), &text(number), 0).unwrap(), Decision::Fresh);
    }
    assert!(matches!(decide(&mut index, "again", &text(2), 0).unwrap(), Decision::Duplicate { .. }));
    assert_eq!(decide(&mut index, "again", &text(0), 0).unwrap(), Decision::Fresh);
    assert_eq!(index.len(), 2);

    let mut index = with(Limits { expire: Some(60), ..Limits::default() });
    assert_eq!(decide(&mut index, "a", &text(1), 1000).unwrap(), Decision::Fresh);
    assert!(matches!(decide(&mut index, "b", &text(1), 1059).unwrap(), Decision::Duplicate { .. }));
    assert_eq!(decide(&mut index, "c", &text(1), 1060).unwrap(), Decision::Fresh);

    let mut index = with(Limits { max_documents: Some(1), ..Limits::default() });
    assert_eq!(decide(&mut index, "a", &text(1), 0).unwrap(), Decision::Fresh);
    assert!(matches!(decide(&mut index, "b", &text(1), 0).unwrap(), Decision::Duplicate { .. }));
    let message = decide(&mut index, "c", &text(2), 0).unwrap_err().to_string();
    assert!(message.contains("at most 1 document may be remembered (`max-docs`)"), "{message}");
}

#[test]
fn forgetting_frees_memory_and_the_tables_are_made_again() {
    let plan = plan(&factory("minhash", &[("shingle", "2")]));
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { window: Some(50), max_documents: Some(50), ..Limits::default() };
    let path = folder.path().join("seen");
    let in_file = open_with(&path, &plan, &IndexOptions { limits, sync: Sync::Off, ..IndexOptions::default() });
    let mut signer = signer(&plan);
    for mut index in [Index::in_memory(&plan, limits), in_file.unwrap().0] {
        let text = |number: usize| (0..20).map(|i| format!("w{} ", 100 * number + i)).collect::<String>();
        for number in 0..4000 {
            let signature = signer.sign(&text(number));
            assert_eq!(index.decide("one id for all", &signature, 0).unwrap(), Decision::Fresh);
            if number % 7 == 0 {
                index.commit().unwrap();
            }
            if number >= 49 {
                let last = signer.sign(&text(number - 49));
                assert!(matches!(index.decide("other", &last, 0).unwrap(), Decision::Duplicate { .. }), "{number}");
                assert_eq!(index.len(), 50);
            }
        }
        // At most some thousand forgotten ones are in the tables: all of them would take 8 MB in memory.
        assert!(index.bytes_held() < 3 << 20, "{}", index.bytes_held());
    }
}

#[test]
fn a_torn_end_of_zeros_is_cut_off() {
    let plan = plan(&factory("minhash", &[("shingle", "3")]));
    let folder = tempfile::tempdir().unwrap();
    let (bytes, lengths) = small(folder.path(), &plan);
    let path = folder.path().join("zeros");
    for from in lengths[3] as usize..bytes.len() {
        let mut torn = bytes.clone();
        torn[from..].fill(0);
        torn.extend([0; 10]);
        fs::write(&path, &torn).unwrap();
        let (index, repair) = open(&path, &plan).unwrap_or_else(|error| panic!("{from}: {error}"));
        // Unless the last bytes of a record are zeros anyway.
        let whole = lengths.iter().filter(|&&end| end <= from as u64).count() as u64;
        assert!(repair.is_some() && (whole..=whole + 1).contains(&index.len()), "{from}: {}", index.len());
    }
}

/// Whoever asks may not be allowed to write beside the index: tables that outgrow their memory go elsewhere.
#[cfg(target_os = "linux")]
#[test]
fn asking_writes_nothing_beside_the_index() {
    let (plan, folder) = (plan(&factory("minhash", &[("shingle", "3")])), tempfile::tempdir().unwrap());
    let path = folder.path().join("seen");
    with_times(&path, &plan, 50);
    let places_of_tables = |mode| {
        let options = IndexOptions { tables: 1 << 10, mode, ..IndexOptions::default() };
        let index = open_with(&path, &plan, &options).unwrap().0;
        assert!(index.bytes_held() < 64 << 10);
        // Files without a name, which this process has open.
        let open = fs::read_dir("/proc/self/fd").unwrap().filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        let beside = open.filter(|place| place.starts_with(folder.path()) && place != &path).count();
        (index.len(), beside)
    };
    let (documents, beside) = places_of_tables(Mode::Filter);
    assert!(documents == 50 && beside > 0, "{beside}");
    assert_eq!(places_of_tables(Mode::Query), (50, 0));
}
