//! Documents without ids, and with ids where known ones are dropped, in runs that are killed. The oracle is what was sent: each text arrives,
//! because the first document with it passes.

use super::checkpoints::{minhash, open, options};
use super::*;
use crate::hash::mix;
use std::cell::Cell;
use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The number of the last documents that are unconfirmed at least.
const LAST: u64 = 16;

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = mix(self.0 + 1);
        (self.0 >> 20) as usize % most
    }
}

/// A text that has nothing in common with that of another number.
fn text(number: usize) -> String {
    (0..12).map(|word| format!("w{}", mix((number * 16 + word) as u64) >> 8)).collect::<Vec<_>>().join(" ")
}

fn begin(path: &Path, plan: &Plan, limits: Limits) -> Index {
    let mut index = open(path, plan, &options(limits, 1 << 14));
    (index.leaving.hold, index.leaving.latest) = (Duration::ZERO, LAST);
    index
}

/// Decides on a document as the next one of a run.
fn decide_next(index: &mut Index, line: &mut usize, text: &str) -> Decision {
    *line += 1;
    decide(index, &format!("-:{line}"), text)
}

/// The number of unconfirmed documents.
fn unconfirmed(index: &Index) -> usize {
    index.tables.places.iter().filter(|place| index.unconfirmed.contains(place)).count()
}

/// Sends documents, of which about every sixth has the text of an earlier one, through runs that are killed. What was sent and did not arrive is sent
/// again: in order, or in any order and among a few new ones. Documents have no ids, or they have and known ones are dropped. Returns the number of
/// those that were unconfirmed and passed again.
fn send(folder: &Path, seed: u64, is_jumbled: bool, has_ids: bool, limits: Limits) -> usize {
    let (plan, path, mut random) = (minhash(), folder.join(format!("{seed}-{is_jumbled}-{has_ids}")), Random(seed));
    let mut texts: Vec<usize> = Vec::new();
    for number in 0..400 {
        texts.push(if number > 0 && random.below(6) == 0 { texts[random.below(number)] } else { number });
    }
    let (mut arrived, mut next, mut lost): (Vec<usize>, usize, VecDeque<usize>) = (Vec::new(), 0, VecDeque::new());
    let (mut passed_again, mut may_pass_again) = (0, 0);
    loop {
        let mut index = begin(&path, &plan, limits);
        if has_ids {
            index.begin_stream(true);
        }
        may_pass_again += unconfirmed(&index);
        if is_jumbled {
            for number in (1..lost.len()).rev() {
                lost.swap(number, random.below(number + 1));
            }
        }
        // What was decided on and has not left, and what left last.
        let (mut held, mut recent) = (Vec::<(usize, bool)>::new(), VecDeque::<(usize, bool)>::new());
        let (mut line, mut new, stop) = (0, 0, random.below(160));
        while line < stop {
            let takes_new = lost.is_empty() || is_jumbled && new < LAST as usize / 2 && random.below(4) == 0;
            let number = match (takes_new && next < texts.len()).then_some(next).or_else(|| lost.pop_front()) {
                None => break,
                Some(number) => number,
            };
            (next, new) = if number == next { (next + 1, new + 1) } else { (next, new) };
            let text = text(texts[number]);
            let text = if random.below(2) == 0 { text.to_uppercase() } else { text };
            let decision = match has_ids {
                true => decide(&mut index, &format!("d{number}"), &text),
                false => decide_next(&mut index, &mut line, &text),
            };
            line += usize::from(has_ids);
            passed_again += usize::from(decision == Decision::Unconfirmed);
            held.push((number, decision.passes() && !(has_ids && decision == Decision::Known)));
            if random.below(5) == 0 {
                index.commit().unwrap();
                recent.extend(held.drain(..));
                if random.below(6) == 0 {
                    index.with_tables(Tables::begin_last_checkpoint).unwrap();
                    index.commit().unwrap();
                    index.with_tables(|tables, state| tables.end_last_checkpoint(state)).unwrap();
                }
            }
        }
        let is_last = next == texts.len() && lost.is_empty();
        if is_last {
            index.commit().unwrap();
            recent.append(&mut held.drain(..).collect());
            index.seal().unwrap();
        } else if random.below(2) == 0 {
            index.commit().unwrap();
        }
        drop(index);
        if !is_last {
            // The reader is killed too, and had some of what left last.
            let keeps = recent.len() - random.below(recent.len().min(LAST as usize) + 1);
            let mut again: Vec<usize> = recent.drain(keeps..).chain(held).map(|(number, _)| number).collect();
            again.extend(lost);
            again.sort_unstable();
            lost = again.into();
        }
        arrived.extend(recent.into_iter().filter(|(_, passes)| *passes).map(|(number, _)| number));
        if is_last {
            break;
        }
        if random.below(3) == 0 {
            compact(&path, Outdated::default()).unwrap();
        }
    }
    let there: BTreeSet<usize> = arrived.iter().map(|&number| texts[number]).collect();
    let all: BTreeSet<usize> = texts.iter().copied().collect();
    let missing: Vec<_> = all.difference(&there).collect();
    assert!(missing.is_empty(), "seed {seed}, {is_jumbled}, {has_ids}, {limits:?}: {missing:?} are lost");
    assert!(passed_again <= may_pass_again, "{passed_again} of {may_pass_again}");
    // All is confirmed.
    let mut index = begin(&path, &plan, limits);
    assert!(!index.has_unconfirmed() && !index.was_interrupted());
    let last = text(*texts.last().unwrap());
    let decision = match has_ids {
        true => decide(&mut index, &format!("d{}", texts.len() - 1), &last),
        false => decide_next(&mut index, &mut 9_000, &last),
    };
    assert!(limits.expire.is_some() || !decision.passes() || has_ids && decision == Decision::Known, "{decision:?}");
    assert!(!has_ids || arrived.len() == all.len(), "with ids, nothing that arrived comes again");
    passed_again
}

#[test]
fn nothing_is_lost_however_often_it_is_killed_and_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    for has_ids in [false, true] {
        let again = |seed| send(folder.path(), seed, seed % 2 == 1, has_ids, Limits::default());
        let seeds = if has_ids { 0..8 } else { 0..24 };
        assert!(seeds.map(again).sum::<usize>() > 0, "nothing passed again");
    }
}

/// In a window, whether a copy passes depends on when it comes.
#[test]
fn nothing_is_lost_where_documents_expire() {
    let folder = tempfile::tempdir().unwrap();
    let expire = Limits { expire: Some(1 << 30), ..Limits::default() };
    for has_ids in [false, true] {
        (100..108).for_each(|seed| _ = send(folder.path(), seed, false, has_ids, expire));
    }
}

/// Remembers documents of these numbers in a run that is killed.
fn killed(path: &Path, plan: &Plan, numbers: Range<usize>) {
    let (mut index, mut line) = (begin(path, plan, Limits::default()), 0);
    for number in numbers {
        assert_eq!(decide_next(&mut index, &mut line, &text(number)), Decision::Fresh);
        index.commit().unwrap();
    }
}

#[test]
fn the_last_documents_are_unconfirmed_and_pass_once() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    killed(&path, &plan, 0..100);
    let mut index = begin(&path, &plan, Limits::default());
    let (count, most) = (unconfirmed(&index), LAST as usize + LAST as usize / 8);
    assert!(index.has_unconfirmed() && (LAST as usize..=most).contains(&count), "{count}");
    let mut line = 1_000;
    for number in [0, 99 - most] {
        assert!(!decide_next(&mut index, &mut line, &text(number)).passes(), "it has left");
    }
    for number in [99, 95, 100 - LAST as usize] {
        assert_eq!(decide_next(&mut index, &mut line, &text(number).to_uppercase()), Decision::Unconfirmed, "{number}");
        assert!(!decide_next(&mut index, &mut line, &text(number)).passes(), "a copy");
    }
    // One with an id is not such a document, nor one with a word more.
    assert!(!decide(&mut index, "id", &text(98)).passes());
    assert!(!decide_next(&mut index, &mut line, &format!("{} more", text(98))).passes());
    // Its own documents are not.
    assert_eq!(decide_next(&mut index, &mut line, &text(200)), Decision::Fresh);
    index.commit().unwrap();
    assert!(!decide_next(&mut index, &mut line, &text(200)).passes());
    drop(index);
    // Killed as well: nothing was confirmed.
    let mut index = begin(&path, &plan, Limits::default());
    assert_eq!(unconfirmed(&index), count + 1);
    for number in [200, 99, 98] {
        assert_eq!(decide_next(&mut index, &mut line, &text(number)), Decision::Unconfirmed, "{number}");
    }
    // Until as many new ones have left.
    for number in 300..300 + LAST as usize + LAST as usize / 8 {
        assert!(number > 300 + LAST as usize || index.has_unconfirmed(), "{number}");
        assert_eq!(decide_next(&mut index, &mut line, &text(number)), Decision::Fresh);
        index.commit().unwrap();
    }
    assert_eq!(decide_next(&mut index, &mut line, &text(400)), Decision::Fresh);
    assert!(!decide_next(&mut index, &mut line, &text(97)).passes());
}

/// The time counts too.
#[test]
fn what_left_a_moment_ago_is_unconfirmed() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let (mut index, mut line) = (begin(&path, &plan, Limits::default()), 0);
    index.leaving.hold = super::super::unconfirmed::HOLD;
    for number in 0..200 {
        decide_next(&mut index, &mut line, &text(number));
        index.commit().unwrap();
    }
    drop(index);
    assert_eq!(unconfirmed(&begin(&path, &plan, Limits::default())), 200);
}

#[test]
fn only_a_run_with_documents_without_ids_that_ends_by_itself_confirms() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    killed(&path, &plan, 0..10);
    let reopened = |mode: Mode| Index::open(&path, &plan, &IndexOptions { mode, ..IndexOptions::default() }).unwrap().0;
    // With ids.
    let mut index = reopened(Mode::Filter);
    assert_eq!(decide(&mut index, "a", &text(20)), Decision::Fresh);
    index.seal().unwrap();
    drop(index);
    // Added, with ids and without.
    let mut index = reopened(Mode::Add);
    for (id, number) in [("b", 21), ("-:1", 22)] {
        assert_eq!(decide(&mut index, id, &text(number)), Decision::Fresh);
    }
    assert_eq!(decide(&mut index, "-:1", &text(22)), Decision::Known);
    index.seal().unwrap();
    drop(index);
    // Removed, compacted, only read; stopped by a signal.
    remove(&path, BTreeSet::from(["b".to_string()])).unwrap();
    compact(&path, Outdated::default()).unwrap();
    assert!(!decide(&mut reopened(Mode::Query), "-:7", &text(9)).passes());
    let mut index = reopened(Mode::Filter);
    assert_eq!(decide(&mut index, "-:1", &text(8)), Decision::Unconfirmed);
    index.interrupt().unwrap();
    drop(index);
    let mut index = reopened(Mode::Filter);
    for (number, expected) in [(8, true), (9, true), (0, true), (20, false), (22, false)] {
        let decision = decide(&mut index, "-:70", &text(number));
        assert_eq!(decision == Decision::Unconfirmed, expected, "{number}: {decision:?}");
    }
    index.seal().unwrap();
    drop(index);
    assert!(!reopened(Mode::Filter).has_unconfirmed());
}

/// The same number and tokens are known as before.
#[test]
fn a_whole_stream_that_is_fed_again_from_its_beginning_passes() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    killed(&path, &plan, 0..100);
    let (mut index, mut line) = (begin(&path, &plan, Limits::default()), 0);
    for number in 0..100 {
        let decision = decide_next(&mut index, &mut line, &text(number));
        assert!(matches!(decision, Decision::Known | Decision::Unconfirmed), "{number}: {decision:?}");
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), index.bytes_stored(), "nothing is remembered twice");
}

/// Documents with ids are known without that, as long as known ones pass.
#[test]
fn one_with_an_id_is_unconfirmed_where_known_ones_are_dropped() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let stream = |drops_known| {
        let mut index = begin(&path, &plan, Limits::default());
        index.begin_stream(drops_known);
        index
    };
    let mut index = stream(false);
    for number in 0..100 {
        assert_eq!(decide(&mut index, &format!("d{number}"), &text(number)), Decision::Fresh);
        index.commit().unwrap();
    }
    // Too few features to be compared, with an id.
    assert_eq!(decide(&mut index, "short", ""), Decision::Featureless);
    index.commit().unwrap();
    drop(index);
    let index = stream(false);
    let most = LAST as usize + LAST as usize / 8 + 1;
    assert!((LAST as usize..=most).contains(&unconfirmed(&index)), "{}", unconfirmed(&index));
    drop(index);
    assert_eq!(decide(&mut stream(false), "d99", &text(99)), Decision::Known);
    // Nothing that leaves the index as it is confirms them.
    compact(&path, Outdated::default()).unwrap();
    stream(true).seal().unwrap();
    let mut index = stream(true);
    for (id, number, expected) in [
        ("d0", 0, Decision::Known),
        ("d99", 99, Decision::Unconfirmed),
        ("d99", 99, Decision::Known),
        ("d95", 95, Decision::Unconfirmed),
    ] {
        assert_eq!(decide(&mut index, id, &text(number)), expected, "{id}");
    }
    assert!(!decide(&mut index, "other", &text(98)).passes());
    assert_eq!(decide(&mut index, "short", ""), Decision::Unconfirmed);
    assert_eq!(decide(&mut index, "short", ""), Decision::Known);
    drop(index);
    // Killed as well: nothing was confirmed. A run that ends by itself confirms everything.
    let mut index = stream(true);
    assert_eq!(decide(&mut index, "d99", &text(99)), Decision::Unconfirmed);
    index.seal().unwrap();
    drop(index);
    assert_eq!(decide(&mut stream(true), "d98", &text(98)), Decision::Known);
}

/// The places of the documents and of the notes of what has left in an index.
fn frames(path: &Path) -> (Vec<usize>, Vec<usize>) {
    let bytes = fs::read(path).unwrap();
    let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (mut at, mut documents, mut notes) = (60 + length(16), Vec::new(), Vec::new());
    while at < bytes.len() {
        let record = &bytes[at + 8..][..length(at)];
        match record {
            [0..=2, ..] => documents.push(at),
            [3, word @ ..] if word.len() == 8 && word[7] >> 4 == 0b1101 => notes.push(at),
            _ => {}
        }
        at += 16 + record.len();
    }
    (documents, notes)
}

fn stream(path: &Path, plan: &Plan, options: &IndexOptions, latest: u64) -> Index {
    let mut index = open(path, plan, options);
    (index.leaving.hold, index.leaving.latest) = (Duration::ZERO, latest);
    index.begin_stream(true);
    index
}

/// Decides on the documents of these numbers, each of which passes for the first time and leaves.
fn pass(index: &mut Index, name: &str, numbers: Range<usize>, now: u64) {
    for number in numbers {
        let signature = index.signer().sign(&text(number));
        assert_eq!(
            index.decide(&format!("{name}{number}"), &signature, now).unwrap(),
            Decision::Fresh,
            "{name}{number}"
        );
        index.commit().unwrap();
    }
}

/// The note of what a killed run may not have written can be what is damaged. Then what follows is unconfirmed, unless a later note says
/// that it was written.
#[test]
fn salvaging_an_index_without_a_note_confirms_nothing() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let path = folder.path().join("index");
    let options = options(Limits::default(), 1 << 20);
    let mut index = stream(&path, &plan, &options, 1_000);
    pass(&mut index, "d", 0..10, 0);
    index.seal().unwrap();
    drop(index);
    let ended = fs::read(&path).unwrap();
    pass(&mut stream(&path, &plan, &options, 1_000), "d", 10..20, 0);
    let killed = fs::read(&path).unwrap();
    let (documents, notes) = frames(&path);
    assert_eq!((documents.len(), notes.len()), (20, 3));
    let decisions = |bytes: &[u8], damaged: &[usize], numbers: [usize; 2]| {
        let mut bytes = bytes.to_vec();
        damaged.iter().for_each(|at| bytes[at + 10] ^= 1);
        fs::write(&path, bytes).unwrap();
        compact(&path, Outdated { damaged: true, ..Outdated::default() }).unwrap();
        let unconfirmed = inspect(&path).unwrap().unconfirmed;
        let mut index = stream(&path, &plan, &options, 1_000);
        (unconfirmed, numbers.map(|number| decide(&mut index, &format!("d{number}"), &text(number))))
    };
    let [known, unconfirmed] = [Decision::Known, Decision::Unconfirmed];
    assert_eq!(decisions(&killed, &[], [5, 15]), (10, [known.clone(), unconfirmed.clone()]));
    // The note before the second run; that at the end of the first; all.
    assert_eq!(decisions(&killed, &notes[2..], [5, 15]), (10, [known.clone(), unconfirmed.clone()]));
    assert_eq!(decisions(&killed, &notes[1..2], [5, 15]), (10, [known.clone(), unconfirmed.clone()]));
    assert_eq!(decisions(&killed, &notes, [5, 15]), (20, [unconfirmed.clone(), unconfirmed.clone()]));
    // A document of a run that ended by itself.
    assert_eq!(decisions(&ended, &documents[3..4], [2, 5]), (0, [known.clone(), known.clone()]));
    // One of the killed run, with the note before it; and the last one.
    assert_eq!(decisions(&killed, &[notes[2], documents[10]], [5, 15]), (9, [known.clone(), unconfirmed.clone()]));
    assert_eq!(decisions(&killed, &documents[19..], [5, 15]), (9, [known, unconfirmed]));
}

/// A run that adds writes nothing, so it has nothing to note.
#[test]
fn a_killed_run_that_added_has_not_failed_to_note() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    for (name, passes, tables) in [("new", false, 1 << 20), ("seen", true, 1 << 20), ("small", true, 1 << 12)] {
        let path = folder.path().join(name);
        let options = options(Limits::default(), tables);
        if passes {
            let mut index = stream(&path, &plan, &options, 1_000);
            pass(&mut index, "d", 0..10, 0);
            index.seal().unwrap();
        }
        let mut index = open(&path, &plan, &IndexOptions { mode: Mode::Add, ..options.clone() });
        for number in 10..200 {
            assert_eq!(decide(&mut index, &format!("a{number}"), &text(number)), Decision::Fresh);
            index.commit().unwrap();
        }
        drop(index);
        let index = stream(&path, &plan, &options, 1_000);
        assert_eq!(
            (index.was_interrupted(), index.noted_nothing(), index.has_unconfirmed()),
            (true, false, false),
            "{name}"
        );
        drop(index);
        // Documents of a program that does not note what it writes follow.
        let mut index = open(&path, &plan, &options);
        pass(&mut index, "e", 200..201, 0);
        drop(index);
        assert!(stream(&path, &plan, &options, 1_000).noted_nothing(), "{name}");
    }
}

/// Unconfirmed documents that expired, or were replaced, pass as new ones when they are fed again. They are no sign that all was fed again.
#[test]
fn forgotten_documents_that_come_again_confirm_nothing() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let expire = Limits { expire: Some(100), ..Limits::default() };
    for (name, limits) in [("expire", expire), ("replace", Limits::default())] {
        let path = folder.path().join(name);
        let options = IndexOptions { replaces: true, ..options(limits, 1 << 20) };
        let is_replaced = limits.expire.is_none();
        // Those that are forgotten when they come again: they have expired, or others have replaced them.
        let first = |index: &mut Index, now: u64| {
            for round in 0..1 + u64::from(is_replaced) {
                for number in 0..40 {
                    let signature = index.signer().sign(&text(number + 1_000 * round as usize));
                    let (decision, _) = index.replace(&format!("d{number}"), &signature, now).unwrap();
                    assert_eq!(decision, Decision::Fresh, "{name}: {number}");
                    index.commit().unwrap();
                }
            }
        };
        let mut index = stream(&path, &plan, &options, 1_000);
        first(&mut index, 0);
        pass(&mut index, "late", 40..60, 60);
        drop(index);
        let mut index = stream(&path, &plan, &options, LAST);
        first(&mut index, 120);
        let again = |index: &mut Index, number: usize| {
            let decision = index.decide(&format!("late{number}"), &index.signer().sign(&text(number)), 120).unwrap();
            index.commit().unwrap();
            decision
        };
        assert_eq!(again(&mut index, 40), Decision::Unconfirmed, "{name}");
        assert_eq!(again(&mut index, 40), Decision::Known, "{name}");
        drop(index);
        // Killed before the others came again.
        let mut index = stream(&path, &plan, &options, LAST);
        assert_eq!(again(&mut index, 40), Decision::Unconfirmed, "{name}");
        assert_eq!(again(&mut index, 41), Decision::Unconfirmed, "{name}");
        // New ones confirm, as many as otherwise.
        pass(&mut index, "new", 100..100 + LAST as usize, 120);
        assert_eq!(again(&mut index, 42), Decision::Unconfirmed, "{name}");
        pass(&mut index, "new", 200..200 + LAST as usize + LAST as usize / 8 + 2, 120);
        assert_eq!(again(&mut index, 43), Decision::Known, "{name}");
    }
}

thread_local! {
    static NOW: Cell<Instant> = Cell::new(Instant::now());
}

/// One that comes again has not left yet, and what left a while before it says nothing of it: it is waited for again.
#[test]
fn a_document_that_comes_again_restarts_the_wait() {
    let (plan, folder) = (minhash(), tempfile::tempdir().unwrap());
    let wait = |seconds| NOW.set(NOW.get() + Duration::from_secs(seconds));
    for has_ids in [true, false] {
        let path = folder.path().join(has_ids.to_string());
        let name = if has_ids { "d" } else { "-:" };
        let start = || {
            let mut index = stream(&path, &plan, &options(Limits::default(), 1 << 20), LAST);
            (index.leaving.hold, index.leaving.clock) = (Duration::from_secs(60), || NOW.get());
            index
        };
        pass(&mut start(), name, 0..40, 0);
        let mut index = start();
        // All but one document more that confirms.
        pass(&mut index, name, 100..100 + LAST as usize + 2, 0);
        wait(61);
        let again = |index: &mut Index, number: usize| decide(index, &format!("{name}{number}"), &text(number));
        assert_eq!(again(&mut index, 5), Decision::Unconfirmed);
        index.commit().unwrap();
        pass(&mut index, name, 200..203, 0);
        drop(index);
        // It was not confirmed, nor were the others.
        let mut index = start();
        assert_eq!((again(&mut index, 5), again(&mut index, 6)), (Decision::Unconfirmed, Decision::Unconfirmed));
        index.commit().unwrap();
        // Enough documents, not enough time; enough time, not enough documents.
        pass(&mut index, name, 300..300 + 2 * LAST as usize, 0);
        wait(59);
        pass(&mut index, name, 400..400 + LAST as usize, 0);
        assert_eq!(again(&mut index, 7), Decision::Unconfirmed);
        index.commit().unwrap();
        wait(61);
        pass(&mut index, name, 500..500 + LAST as usize / 2, 0);
        assert_eq!(again(&mut index, 8), Decision::Unconfirmed);
        index.commit().unwrap();
        pass(&mut index, name, 600..600 + LAST as usize + 2, 0);
        wait(61);
        pass(&mut index, name, 700..702, 0);
        assert!(!index.has_unconfirmed());
        let decision = again(&mut index, 9);
        assert!(decision == Decision::Known, "{decision:?}");
    }
}
