//! A stream that forgets decides the same however often it is interrupted, compared with a plain list of the passed
//! documents.

use crate::support::random::Random;
use crate::support::scanning::factory;
use neardups::index::{self, Decision, Index, IndexOptions, Limits, Mode, Outdated, Plan, Seed, Sync};
use neardups::tokenizer::Word;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// A document, and when it comes.
#[derive(Clone, Debug)]
struct Line {
    id: String,
    text: String,
    now: u64,
}

/// What became of it: `None` if it passed.
type Fate = Option<(String, f64)>;

pub fn plan() -> Plan {
    let settings = [("shingle", "1"), ("threshold", "0.5"), ("exact", "true")];
    Plan::new(&factory("minhash", &settings), Arc::new(Word)).unwrap().with_seed(Seed::Fixed(0)).unwrap()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(' ').collect()
}

pub fn jaccard(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    let shared = a.intersection(&b).count();
    shared as f64 / (a.len() + b.len() - shared) as f64
}

/// The oracle: decides on each document by comparing it with all that are remembered when it comes.
fn plainly(lines: &[Line], limits: Limits) -> Vec<Fate> {
    plainly_with_fresh(lines, limits).0
}

/// Also, which of them are remembered.
fn plainly_with_fresh(lines: &[Line], limits: Limits) -> (Vec<Fate>, Vec<bool>) {
    let mut is_fresh = vec![false; lines.len()];
    let mut kept: Vec<Line> = Vec::new();
    let decide = |(line, is_fresh): (&Line, &mut bool)| {
        let first = limits.window.map_or(0, |window| kept.len().saturating_sub(window as usize));
        let fresh = |other: &&Line| limits.expire.is_none_or(|expire| other.now + expire > line.now);
        let remembered: Vec<&Line> = kept[first..].iter().filter(fresh).collect();
        if remembered.iter().any(|other| (&other.id, &other.text) == (&line.id, &line.text)) {
            return None;
        }
        let mut best: Fate = None;
        for other in remembered {
            let similarity = jaccard(&other.text, &line.text);
            if similarity >= 0.5 && best.as_ref().is_none_or(|(_, best)| similarity > *best) {
                best = Some((other.id.clone(), similarity));
            }
        }
        if best.is_none() {
            kept.push(line.clone());
            *is_fresh = true;
        }
        best
    };
    let fates = lines.iter().zip(&mut is_fresh).map(decide).collect();
    (fates, is_fresh)
}

fn open(path: &Path, plan: &Plan, limits: Limits, sync: Sync) -> Index {
    let options = IndexOptions { limits, sync, mode: Mode::Filter, ..IndexOptions::default() };
    Index::open(path, plan, &options).unwrap().0
}

fn decide(index: &mut Index, line: &Line) -> Fate {
    match index.decide(&line.id, &index.signer().sign(&line.text), line.now).unwrap() {
        Decision::Duplicate { of, similarity, .. } => Some((of, similarity.value())),
        _ => None,
    }
}

/// Documents of few words, so that many are similar. About every tenth is repeated, on request.
fn stream(seed: u64, count: usize, repeats: bool) -> Vec<Line> {
    let mut random = Random::new(seed);
    let mut lines: Vec<Line> = Vec::new();
    for number in 0..count {
        let now = 1_000 + 10 * number as u64;
        if repeats && number > 0 && random.below(10) == 0 {
            let again = lines[random.below(number)].clone();
            lines.push(Line { now, ..again });
            continue;
        }
        let mut words: Vec<String> = (0..4).map(|_| format!("w{}", random.below(9))).collect();
        words.sort();
        words.dedup();
        lines.push(Line { id: format!("d{number}"), text: words.join(" "), now });
    }
    lines
}

fn all_limits() -> Vec<Limits> {
    let with = |window, expire| Limits { window, expire, ..Limits::default() };
    vec![with(Some(1), None), with(Some(3), None), with(Some(8), None), with(None, Some(45)), with(Some(4), Some(70))]
}

/// Where frames begin and the last one ends.
pub fn borders(bytes: &[u8]) -> Vec<usize> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let mut borders = vec![60 + word(16)];
    while *borders.last().unwrap() < bytes.len() {
        borders.push(borders.last().unwrap() + 16 + word(*borders.last().unwrap()));
    }
    borders
}

#[test]
fn cut_anywhere_and_fed_again_from_any_line_that_may_have_arrived() {
    let plan = plan();
    let folder = tempfile::tempdir().unwrap();
    for (number, limits) in all_limits().into_iter().enumerate() {
        for seed in 0..4 {
            let lines = stream(100 * number as u64 + seed, 20, seed % 2 == 1);
            let (expected, is_fresh) = plainly_with_fresh(&lines, limits);
            let sync = [Sync::Off, Sync::Batch][seed as usize / 2 % 2];
            let (path, cut) = (folder.path().join(format!("{number}-{seed}")), folder.path().join("cut"));
            let mut index = open(&path, &plan, limits, sync);
            for (line, expected) in lines.iter().zip(&expected) {
                assert_eq!(&decide(&mut index, line), expected, "{limits:?}, {seed}: {}", line.id);
                if line.now % 30 == 0 {
                    index.commit().unwrap();
                }
            }
            index.commit().unwrap();
            drop(index);
            let bytes = fs::read(&path).unwrap();
            for border in borders(&bytes) {
                fs::write(&cut, &bytes[..border]).unwrap();
                let stored = index::inspect(&cut).unwrap().documents as usize;
                // Documents after the next remembered one cannot have been forgotten.
                let mut fresh = (0..lines.len()).filter(|&at| is_fresh[at]);
                let next = stored.checked_sub(1).map_or(0, |last| fresh.nth(last).unwrap() + 1);
                let until = fresh.next().unwrap_or(lines.len());
                // Where a document that comes twice is fed first, it is not clear which one it is.
                let is_unique = |start: usize| {
                    lines.get(start).is_none_or(|line| lines.iter().filter(|other| other.id == line.id).count() == 1)
                };
                let may_begin = |start: &usize| (*start == 0 || expected[start - 1].is_none()) && is_unique(*start);
                for start in (0..=until).filter(may_begin) {
                    fs::write(&cut, &bytes[..border]).unwrap();
                    // Twice: the first time it is interrupted again, within what is repeated.
                    for end in [(start + 3).min(next), lines.len()] {
                        let mut index = open(&cut, &plan, limits, sync);
                        for at in start..end.max(start) {
                            let found = decide(&mut index, &lines[at]);
                            let what = format!("{limits:?}, seed {seed}, cut at {border}, fed from {start}");
                            assert_eq!(found, expected[at], "{what}: {at}");
                        }
                        index.commit().unwrap();
                    }
                }
            }
        }
    }
}

/// Runs that are killed, one after the other, sometimes compacted in between, until all lines have arrived.
#[test]
fn what_arrives_is_the_same_however_often_it_is_killed_and_compacted() {
    let plan = plan();
    let folder = tempfile::tempdir().unwrap();
    for (number, limits) in all_limits().into_iter().enumerate() {
        for seed in 0..12 {
            let lines = stream(7_000 + 100 * number as u64 + seed, 80, false);
            let expected = plainly(&lines, limits);
            let mut random = Random::new(seed);
            let path = folder.path().join(format!("{number}-{seed}"));
            let sync = [Sync::Off, Sync::Batch, Sync::Always][seed as usize % 3];
            // The first line that has not arrived.
            let (mut start, mut arrived) = (0, Vec::new());
            while start < lines.len() {
                let mut index = open(&path, &plan, limits, sync);
                let (mut decided, mut has_ended) = (Vec::new(), true);
                for (at, line) in (start..).zip(&lines[start..]) {
                    decided.push((at, decide(&mut index, line)));
                    if random.below(6) == 0 {
                        index.commit().unwrap();
                        if random.below(4) == 0 {
                            // Killed before all of it left.
                            decided.truncate(random.below(decided.len() + 1));
                            has_ended = false;
                        }
                        let passed = decided.iter().filter(|(_, fate)| fate.is_none()).map(|(at, _)| *at);
                        arrived.extend(passed);
                        decided.clear();
                        if !has_ended {
                            break;
                        }
                    }
                }
                if has_ended {
                    arrived.extend(decided.iter().filter(|(_, fate)| fate.is_none()).map(|(at, _)| *at));
                    index.seal().unwrap();
                    break;
                }
                drop(index);
                start = arrived.last().map_or(0, |last| last + 1);
                if random.below(2) == 0 {
                    index::compact(&path, Outdated::default()).unwrap();
                } else if random.below(2) == 0 {
                    // What the runs forget anyway.
                    let before =
                        limits.expire.map_or(0, |expire| (lines[start.min(79)].now + 1).saturating_sub(expire));
                    index::compact(&path, Outdated { window: limits.window, before, damaged: false }).unwrap();
                }
            }
            let expected: Vec<usize> = (0..lines.len()).filter(|&at| expected[at].is_none()).collect();
            assert_eq!(arrived, expected, "{limits:?}, seed {seed}");
            let summary = index::inspect(&path).unwrap();
            assert_eq!(summary.removed, 0, "notes are no documents");
        }
    }
}

/// A process that is killed twice, the second time when it was fed from further back: what it had decided before the first time is
/// repeated, also where no document passed after it.
#[test]
fn killed_after_duplicates_and_later_fed_from_before_them() {
    let plan = plan();
    let folder = tempfile::tempdir().unwrap();
    let (path, left) = (folder.path().join("index"), folder.path().join("left"));
    let mut ends_with_duplicates = 0;
    for (number, limits) in all_limits().into_iter().enumerate() {
        for seed in 0..3 {
            let lines = stream(11_000 + 100 * number as u64 + seed, 40, false);
            let expected = plainly(&lines, limits);
            let sync = [Sync::Off, Sync::Batch, Sync::Always][seed as usize];
            for killed in (1..lines.len()).filter(|&killed| expected[killed - 1].is_some()) {
                ends_with_duplicates += 1;
                _ = fs::remove_file(&path);
                let mut decided = Vec::new();
                for run in [0..killed, killed..lines.len()] {
                    let mut index = open(&path, &plan, limits, sync);
                    decided.extend(lines[run].iter().map(|line| decide(&mut index, line)));
                    index.commit().unwrap();
                    // What is there if the process is killed now.
                    fs::copy(&path, &left).unwrap();
                    drop(index);
                    fs::copy(&left, &path).unwrap();
                }
                assert_eq!(decided, expected);
                let mut index = open(&left, &plan, limits, sync);
                let again: Vec<Fate> = lines.iter().map(|line| decide(&mut index, line)).collect();
                assert_eq!(again, expected, "{limits:?}, seed {seed}, killed after {killed}");
            }
        }
    }
    assert!(ends_with_duplicates > 100, "{ends_with_duplicates}");
}

/// After a run that ended by itself nothing is a repetition: the same document may come again.
#[test]
fn what_comes_after_the_end_of_a_run_is_decided_anew() {
    let (plan, folder) = (plan(), tempfile::tempdir().unwrap());
    let limits = Limits { window: Some(1), ..Limits::default() };
    let line = |id: &str, text: &str| Line { id: id.into(), text: text.into(), now: 5 };
    let lines = [line("a", "one two"), line("b", "one two"), line("c", "three four"), line("b", "one two")];
    let expected = plainly(&lines, limits);
    assert!(expected[1].is_some() && expected[3].is_none());
    for seals in [false, true] {
        let path = folder.path().join(seals.to_string());
        let mut index = open(&path, &plan, limits, Sync::Off);
        lines[..3].iter().for_each(|line| drop(decide(&mut index, line)));
        if seals {
            index.seal().unwrap()
        } else {
            index.commit().unwrap()
        }
        drop(index);
        // Unless it was interrupted: then it is the second line that is fed again.
        let again = decide(&mut open(&path, &plan, limits, Sync::Off), &lines[3]);
        assert_eq!(again.is_none(), seals);
    }
}

/// The documents of a window are those that are there, before and after compacting.
#[test]
fn compacting_after_removing_changes_no_decision() {
    let (plan, folder) = (plan(), tempfile::tempdir().unwrap());
    for seed in 0..20 {
        let lines = stream(900 + seed, 40, false);
        let mut random = Random::new(seed);
        let limits = Limits { window: Some(1 + random.below(6) as u64), ..Limits::default() };
        let [removed, compacted] = ["removed", "compacted"].map(|name| folder.path().join(format!("{seed}-{name}")));
        let mut index = open(&removed, &plan, limits, Sync::Off);
        lines[..20].iter().for_each(|line| drop(decide(&mut index, line)));
        index.seal().unwrap();
        drop(index);
        let ids: BTreeSet<String> = (0..8).map(|_| format!("d{}", random.below(20))).collect();
        index::remove(&removed, ids.clone()).unwrap();
        fs::copy(&removed, &compacted).unwrap();
        index::compact(&compacted, Outdated::default()).unwrap();
        // The plain list: what is left of the first run, in order.
        let documents = index::documents(&removed).unwrap().map(|document| document.unwrap());
        let mut left: Vec<Line> =
            documents.filter_map(|document| lines.iter().find(|line| line.id == document.id).cloned()).collect();
        let count = left.len();
        left.extend(lines[20..].iter().cloned());
        let mut expected = vec![];
        // The remaining documents passed, whatever they are similar to now.
        for path in [&removed, &compacted] {
            let mut index = open(path, &plan, limits, Sync::Off);
            expected.push(lines[20..].iter().map(|line| decide(&mut index, line)).collect::<Vec<_>>());
        }
        assert_eq!(expected[0], expected[1], "seed {seed}");
        assert_eq!(expected[0], plainly_behind(&left, count, limits), "seed {seed}");
    }
}

/// The oracle, after this many documents that passed before.
fn plainly_behind(lines: &[Line], count: usize, limits: Limits) -> Vec<Fate> {
    let window = limits.window.unwrap() as usize;
    let mut kept: Vec<Line> = lines[..count].to_vec();
    let mut fates = Vec::new();
    for line in &lines[count..] {
        let mut best: Fate = None;
        for other in &kept[kept.len().saturating_sub(window)..] {
            let similarity = jaccard(&other.text, &line.text);
            if similarity >= 0.5 && best.as_ref().is_none_or(|(_, best)| similarity > *best) {
                best = Some((other.id.clone(), similarity));
            }
        }
        if best.is_none() {
            kept.push(line.clone());
        }
        fates.push(best);
    }
    fates
}

/// One document that is dated in the future is remembered for long, and the others expire.
#[test]
fn each_document_expires_by_its_own_time() {
    let (plan, folder) = (plan(), tempfile::tempdir().unwrap());
    let limits = Limits { expire: Some(60), ..Limits::default() };
    for seed in 0..4 {
        let mut lines = stream(300 + seed, 60, false);
        // As a clock may go that is set, or that several machines have.
        let mut random = Random::new(seed);
        lines[0].now = 10_000_000;
        lines.iter_mut().skip(1).for_each(|line| line.now += random.below(40) as u64);
        let expected = plainly(&lines, limits);
        let path = folder.path().join(seed.to_string());
        // By one index, and opened anew for each.
        for reopens in [false, true] {
            _ = fs::remove_file(&path);
            // What comes first would expire all: it is in the index when the others come.
            let mut index = open(&path, &plan, limits, Sync::Off);
            for (at, line) in lines.iter().enumerate() {
                assert_eq!(decide(&mut index, line), expected[at], "seed {seed}, {reopens}: {at}");
                if reopens {
                    index.seal().unwrap();
                    drop(index);
                    index = open(&path, &plan, limits, Sync::Off);
                }
            }
        }
    }
}

/// In memory, with enough documents that the tables are rebuilt.
#[test]
fn tables_are_made_again_without_what_has_expired_anywhere() {
    let plan = plan();
    for window in [None, Some(5_000)] {
        let limits = Limits { expire: Some(100), window, ..Limits::default() };
        let mut index = Index::in_memory(&plan, limits);
        let future = Line { id: "future".into(), text: "from another time".into(), now: 1 << 30 };
        assert_eq!(decide(&mut index, &future), None);
        for number in 0..6_000u64 {
            let line = Line { id: format!("d{number}"), text: format!("word{number}"), now: number };
            assert_eq!(decide(&mut index, &line), None, "{number}");
            let has_left = window.is_some_and(|window| number + 2 > window);
            assert_eq!(index.len(), 100.min(number + 1) + u64::from(!has_left), "{number}");
            if number % 500 == 499 {
                let copy = |id: &str, text: String| Line { id: id.into(), text, now: number };
                let last = decide(&mut index, &copy("copy", format!("word{}", number - 99)));
                assert_eq!(last, Some((format!("d{}", number - 99), 1.0)));
                if !has_left {
                    let of = decide(&mut index, &copy("copy", future.text.clone()));
                    assert_eq!(of, Some(("future".into(), 1.0)));
                }
            }
        }
        assert!(index.bytes_held() < 3 << 20, "{}", index.bytes_held());
    }
}

/// Without ids, what is fed again has other numbers. Nothing that passes without an interruption is missing; where texts repeat in a window,
/// not without one that is similar.
#[test]
fn nothing_without_an_id_is_missing_however_often_it_is_killed() {
    let plan = plan();
    let folder = tempfile::tempdir().unwrap();
    let none = Limits::default();
    for (number, limits) in all_limits().into_iter().chain([none]).enumerate() {
        for seed in 0..20 {
            let mut lines = stream(17_000 + 100 * number as u64 + seed, 120, false);
            let is_clear = limits == none || seed % 2 == 0;
            if limits != none && is_clear {
                let mut texts = BTreeSet::new();
                lines.retain(|line| texts.insert(line.text.clone()));
                assert!(lines.len() > 60);
            }
            let expected = plainly(&lines, limits);
            let mut random = Random::new(seed);
            let path = folder.path().join(format!("{number}-{seed}"));
            let sync = [Sync::Off, Sync::Batch, Sync::Always][seed as usize % 3];
            let (mut start, mut arrived) = (0, Vec::new());
            loop {
                let mut index = open(&path, &plan, limits, sync);
                let (mut decided, mut is_killed) = (Vec::new(), false);
                for (at, line) in (start..).zip(&lines[start..]) {
                    let numbered = Line { id: format!("-:{}", 1 + at - start), ..line.clone() };
                    decided.push((at, decide(&mut index, &numbered)));
                    if random.below(6) == 0 {
                        index.commit().unwrap();
                        is_killed = random.below(4) == 0;
                        if is_killed {
                            decided.truncate(random.below(decided.len() + 1));
                        }
                        arrived.extend(decided.drain(..).filter(|(_, fate)| fate.is_none()).map(|(at, _)| at));
                        if is_killed {
                            break;
                        }
                    }
                }
                if !is_killed {
                    arrived.extend(decided.drain(..).filter(|(_, fate)| fate.is_none()).map(|(at, _)| at));
                    index.seal().unwrap();
                    break;
                }
                drop(index);
                start = arrived.last().map_or(0, |last| last + 1);
                if random.below(3) == 0 {
                    index::compact(&path, Outdated::default()).unwrap();
                }
            }
            let there: BTreeSet<usize> = arrived.into_iter().collect();
            let is_covered =
                |at: usize| !is_clear && there.iter().any(|&other| jaccard(&lines[other].text, &lines[at].text) >= 0.5);
            let lost: Vec<usize> = (0..lines.len())
                .filter(|&at| expected[at].is_none() && !there.contains(&at) && !is_covered(at))
                .collect();
            assert!(lost.is_empty(), "{limits:?}, seed {seed}: {lost:?}");
        }
    }
}
