//! A stream whose documents replace earlier ones and expire, compared with a plain list of what is remembered, however often it is interrupted.

use super::interrupted::{borders, jaccard, plan};
use crate::support::random::Random;
use neardups::index::{self, Decision, Index, IndexOptions, Limits, Outdated, Plan, Sync};
use std::fs;
use std::path::Path;

/// The age at which documents expire, in seconds.
const EXPIRE: u64 = 90;

/// A text of a page, and when it comes. An empty one has no features.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    id: String,
    text: String,
    now: u64,
}

/// What becomes of it: what it is similar to, unless it passes; and whether it took the place of another text.
type Fate = (Option<(String, f64)>, bool);

/// What is remembered: all that was not replaced, with the time when it passed.
#[derive(Clone, Debug, Default)]
struct Plain {
    remembered: Vec<Line>,
}

impl Plain {
    /// Forgets the other texts of the page, unless this one is empty. Returns whether that was more than empty ones.
    fn forget_for(&mut self, line: &Line) -> bool {
        let stays = |other: &Line| {
            other.now + EXPIRE <= line.now || other.id != line.id || other.text == line.text || line.text.is_empty()
        };
        let replaced = self.remembered.iter().any(|other| !stays(other) && !other.text.is_empty());
        self.remembered.retain(stays);
        replaced
    }

    fn decide(&mut self, line: &Line, replaces: bool) -> Fate {
        let replaced = replaces && self.forget_for(line);
        let young = || self.remembered.iter().filter(|other| other.now + EXPIRE > line.now);
        if young().any(|other| (&other.id, &other.text) == (&line.id, &line.text)) {
            return (None, replaced);
        }
        let mut best: Option<(String, f64)> = None;
        for other in young().filter(|other| !other.text.is_empty() && !line.text.is_empty()) {
            let similarity = jaccard(&other.text, &line.text);
            if similarity >= 0.5 && best.as_ref().is_none_or(|(_, best)| similarity > *best) {
                best = Some((other.id.clone(), similarity));
            }
        }
        if best.is_none() {
            self.remembered.push(line.clone());
        }
        (best, replaced)
    }

    fn all(&self) -> Vec<(String, u64)> {
        self.remembered.iter().map(|line| (line.id.clone(), line.now)).collect()
    }
}

/// Crawls of a few pages. About every third finds the text that the page had the last time, some find none.
fn crawls(seed: u64, count: usize) -> Vec<Line> {
    let mut random = Random::new(seed);
    let (mut lines, mut now): (Vec<Line>, u64) = (Vec::new(), 1_000);
    for _ in 0..count {
        now += random.below(20) as u64;
        let id = format!("p{}", random.below(6));
        let last = lines.iter().rfind(|line| line.id == id).map(|line| line.text.clone());
        let mut words: Vec<String> = (0..4).map(|_| format!("w{}", random.below(10))).collect();
        words.sort();
        words.dedup();
        let text = match (last, random.below(10)) {
            (Some(last), 0..3) => last,
            (_, 3) => String::new(),
            _ => words.join(" "),
        };
        lines.push(Line { id, text, now });
    }
    lines
}

fn open(path: &Path, plan: &Plan, replaces: bool, sync: Sync) -> Index {
    let limits = Limits { expire: Some(EXPIRE), ..Limits::default() };
    Index::open(path, plan, &IndexOptions { limits, sync, replaces, ..IndexOptions::default() }).unwrap().0
}

fn decide(index: &mut Index, line: &Line, replaces: bool) -> Fate {
    let signature = index.signer().sign(&line.text);
    let (decision, replaced) = match replaces {
        true => index.replace(&line.id, &signature, line.now).unwrap(),
        false => (index.decide(&line.id, &signature, line.now).unwrap(), false),
    };
    match decision {
        Decision::Duplicate { of, similarity, .. } => (Some((of, similarity.value())), replaced),
        decision => {
            assert!(decision.passes());
            (None, replaced)
        }
    }
}

/// The log is cut after any record, also between the removal of a text and the record of the one that replaces it; and it is fed again
/// from any line that may not have arrived, later than the first time.
#[test]
fn cut_anywhere_it_goes_on_with_what_it_has() {
    let (plan, folder) = (plan(), tempfile::tempdir().unwrap());
    let (path, cut) = (folder.path().join("whole"), folder.path().join("cut"));
    let (mut replaced, mut between) = (0, 0);
    for seed in 0..12 {
        let lines = crawls(seed, 24);
        _ = fs::remove_file(&path);
        let mut index = open(&path, &plan, true, Sync::Off);
        // What is remembered after each line, and the end of the log then.
        let mut states = vec![(0, Plain::default())];
        for line in &lines {
            let mut plain = states.last().unwrap().1.clone();
            let expected = plain.decide(line, true);
            assert_eq!(decide(&mut index, line, true), expected, "seed {seed}: {line:?}");
            replaced += usize::from(expected.1);
            states.push((index.bytes_stored() as usize, plain));
        }
        index.commit().unwrap();
        drop(index);
        let bytes = fs::read(&path).unwrap();
        for border in borders(&bytes) {
            let write = || fs::write(&cut, &bytes[..border]).unwrap();
            write();
            let done = states.iter().rposition(|(end, _)| *end <= border).unwrap();
            let mut plain = states[done].1.clone();
            let documents: Vec<(String, u64)> =
                index::documents(&cut).unwrap().map(|document| document.unwrap()).map(|d| (d.id, d.time)).collect();
            if documents != plain.all() {
                plain.forget_for(&lines[done]);
                assert_eq!(documents, plain.all(), "seed {seed}, cut at {border}");
                between += 1;
            }
            for start in 0..=done.min(lines.len() - 1) {
                write();
                let (mut index, mut plain) = (open(&cut, &plan, true, Sync::Off), plain.clone());
                let later = lines[done.min(lines.len() - 1)].now - lines[start].now + 7;
                for line in &lines[start..] {
                    let line = Line { now: line.now + later, ..line.clone() };
                    let expected = plain.decide(&line, true);
                    let found = decide(&mut index, &line, true);
                    assert_eq!(found, expected, "seed {seed}, cut at {border}, fed from {start}: {line:?}");
                }
            }
        }
    }
    assert!(replaced > 50 && between > 50, "{replaced} replaced, {between} cuts between");
}

/// Runs that are killed, one after the other, until all lines have arrived or a similar one has. Some runs replace nothing, and some are
/// followed by compacting.
#[test]
fn nothing_is_lost_however_often_it_is_killed() {
    let (plan, folder) = (plan(), tempfile::tempdir().unwrap());
    let mut kills = 0;
    for seed in 0..30 {
        let lines = crawls(500 + seed, 150);
        let (mut random, path) = (Random::new(seed), folder.path().join(seed.to_string()));
        let sync = [Sync::Off, Sync::Batch, Sync::Always][seed as usize % 3];
        // What the file has, the first line that has not arrived, what arrived, and by how much everything is later than planned.
        let (mut stored, mut start, mut arrived, mut later) = (Plain::default(), 0, Vec::<usize>::new(), 0);
        while start < lines.len() {
            let replaces = random.below(5) > 0;
            let mut index = open(&path, &plan, replaces, sync);
            let (mut plain, mut decided, mut at, mut dies) = (stored.clone(), Vec::new(), start, false);
            while at < lines.len() && !dies {
                let line = Line { now: lines[at].now + later, ..lines[at].clone() };
                let expected = plain.decide(&line, replaces);
                assert_eq!(decide(&mut index, &line, replaces), expected, "seed {seed}: {line:?}");
                decided.push((at, expected.0.is_none()));
                at += 1;
                if replaces && sync != Sync::Always && random.below(30) == 0 {
                    // Nothing of what was not committed has left.
                    dies = true;
                    decided.clear();
                } else if random.below(5) == 0 {
                    index.commit().unwrap();
                    stored = plain.clone();
                    dies = random.below(4) == 0;
                    if dies && replaces {
                        decided.truncate(random.below(decided.len() + 1));
                    }
                    arrived.extend(decided.drain(..).filter(|(_, passes)| *passes).map(|(at, _)| at));
                }
            }
            if at == lines.len() && !dies {
                arrived.extend(decided.drain(..).filter(|(_, passes)| *passes).map(|(at, _)| at));
            }
            // A run that replaces nothing repeats decisions after an interruption: others test that.
            if !replaces || at == lines.len() && !dies {
                index.commit().unwrap();
                stored = plain.clone();
                index.seal().unwrap();
                start = at;
            } else {
                kills += 1;
                start = arrived.last().map_or(0, |last| last + 1);
            }
            drop(index);
            let now = lines[at - 1].now + later;
            later += 5 + lines[at - 1].now - lines[start.min(at - 1)].now;
            if random.below(4) == 0 {
                let before = [0, (now + 1).saturating_sub(EXPIRE)][random.below(2)];
                index::compact(&path, Outdated { before, ..Outdated::default() }).unwrap();
                stored.remembered.retain(|line| line.now >= before);
            }
            let documents: Vec<(String, u64)> =
                index::documents(&path).unwrap().map(|document| document.unwrap()).map(|d| (d.id, d.time)).collect();
            assert_eq!(documents, stored.all(), "seed {seed}");
        }
        for (number, line) in lines.iter().enumerate() {
            let is_there = |&at: &usize| match line.text.is_empty() {
                true => lines[at].id == line.id && lines[at].text.is_empty(),
                false => !lines[at].text.is_empty() && jaccard(&lines[at].text, &line.text) >= 0.5,
            };
            assert!(arrived.iter().any(is_there), "seed {seed}: line {number} is lost: {line:?}");
        }
    }
    assert!(kills > 100, "{kills}");
}
