//! Winnowing against its definition, and common runs against a plain table of all of them.

use crate::support::random::Random;
use neardups::passages::{Run, common_runs, winnow};
use std::collections::BTreeSet;

/// Random tokens of a small alphabet, so that much is equal by chance.
fn tokens(random: &mut Random, most: usize, alphabet: usize) -> Vec<u64> {
    let length = random.below(most + 1);
    (0..length).map(|_| random.below(alphabet) as u64).collect()
}

#[test]
fn the_example_of_the_paper() {
    let hashes = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98];
    let selected: Vec<(u64, usize)> = winnow(&hashes, 4).iter().map(|&at| (hashes[at], at)).collect();
    assert_eq!(selected, [(17, 3), (17, 6), (8, 8), (39, 11), (17, 15)]);
}

#[test]
fn of_each_window_the_rightmost_least() {
    let mut random = Random::new(1);
    for round in 0..2000 {
        let alphabet = 1 + random.below(12);
        let hashes = tokens(&mut random, 40, alphabet);
        let window = 1 + random.below(12);
        let windows = hashes.windows(window.min(hashes.len()).max(1)).enumerate();
        let least = windows.map(|(start, window)| {
            let least = window.iter().min().unwrap();
            start + window.iter().rposition(|hash| hash == least).unwrap()
        });
        let expected: Vec<usize> = least.collect::<BTreeSet<_>>().into_iter().collect();
        assert_eq!(winnow(&hashes, window), expected, "round {round}: windows of {window} of {hashes:?}");
    }
}

/// The maximal common runs, from the table of how long a run ends at each pair of places.
fn plain_runs(a: &[u64], b: &[u64], shortest: usize) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut above = vec![0; b.len() + 1];
    for i in 0..a.len() {
        let mut row = vec![0; b.len() + 1];
        for j in 0..b.len() {
            row[j + 1] = if a[i] == b[j] { above[j] + 1 } else { 0 };
            let goes_on = i + 1 < a.len() && j + 1 < b.len() && a[i + 1] == b[j + 1];
            if row[j + 1] >= shortest && !goes_on {
                let tokens: usize = row[j + 1];
                runs.push(Run { a: i + 1 - tokens, b: j + 1 - tokens, tokens });
            }
        }
        above = row;
    }
    runs.sort_unstable();
    runs
}

/// Which tokens of each side some runs cover.
fn covered(runs: &[Run], lengths: [usize; 2]) -> [Vec<bool>; 2] {
    let mut covered = lengths.map(|length| vec![false; length]);
    for run in runs {
        covered[0][run.a..run.a + run.tokens].fill(true);
        covered[1][run.b..run.b + run.tokens].fill(true);
    }
    covered
}

#[test]
fn every_common_run_of_enough_tokens_and_no_other() {
    let mut random = Random::new(2);
    let (mut whole, mut in_part, mut found_some) = (0, 0, 0);
    for round in 0..4000 {
        let alphabet = [1, 2, 3, 4, 8, 30][round % 6];
        let a = tokens(&mut random, 70, alphabet);
        let mut b = tokens(&mut random, 70, alphabet);
        if random.chance(0.5) && !a.is_empty() {
            // A quotation.
            let start = random.below(a.len());
            let end = start + random.below(a.len() - start + 1);
            let at = random.below(b.len() + 1);
            b.splice(at..at, a[start..end].iter().copied());
        }
        let shortest = 1 + random.below(14);
        let found = common_runs(&a, &b, shortest);
        let expected = plain_runs(&a, &b, shortest);
        let what = format!("round {round}: runs of {shortest} in {a:?} and {b:?}");
        if found.frequent == 0 {
            assert_eq!(found.runs, expected, "{what}");
            whole += 1;
        } else {
            assert!(found.runs.iter().all(|run| expected.binary_search(run).is_ok()), "{what}");
            in_part += 1;
        }
        found_some += usize::from(expected.len() > 1);

        // Passages are such runs, and what they leave out is little.
        let passages = found.passages();
        assert!(passages.iter().all(|run| found.runs.contains(run)) && passages.is_sorted(), "{what}");
        let lengths = [a.len(), b.len()];
        let [in_a, in_b] = covered(&passages, lengths);
        for run in &found.runs {
            let open = |covered: &[bool]| covered.iter().filter(|&&covered| !covered).count();
            let own = [open(&in_a[run.a..run.a + run.tokens]), open(&in_b[run.b..run.b + run.tokens])];
            assert!(own.iter().all(|&own| own < shortest), "{what}: {run:?} is left out");
        }
        let all = covered(&found.runs, lengths).map(|side| side.iter().filter(|&&covered| covered).count());
        assert_eq!(found.covered(), all, "{what}");
    }
    assert!(whole > 3000 && in_part > 100 && found_some > 1000, "{whole}, {in_part}, {found_some}");
}

#[test]
fn the_two_documents_may_change_places() {
    let mut random = Random::new(3);
    for _ in 0..300 {
        let (a, b) = (tokens(&mut random, 60, 3), tokens(&mut random, 60, 3));
        let (one, other) = (common_runs(&a, &b, 6), common_runs(&b, &a, 6));
        let mut turned: Vec<Run> =
            other.runs.iter().map(|run| Run { a: run.b, b: run.a, tokens: run.tokens }).collect();
        turned.sort_unstable();
        assert_eq!(one.runs, turned);
    }
}
