//! Runs of matching words between places: from the other side, and by way of a third place.

use crate::passages::Run;
use crate::passages::lcs::push;

/// The same runs seen from the other place, ordered by that.
pub fn turned(runs: &[Run]) -> Vec<Run> {
    let mut runs: Vec<Run> = runs.iter().map(|run| Run { a: run.b, b: run.a, tokens: run.tokens }).collect();
    runs.sort_unstable();
    runs
}

/// The runs from one place to a third, given those from the first to the second, and those from there on. Each is ordered by its first place
/// and disjoint in both.
pub fn composed(first: &[Run], second: &[Run]) -> Vec<Run> {
    let mut runs = Vec::new();
    for run in first {
        let (start, end) = (run.b, run.b + run.tokens);
        let next = second.partition_point(|next| next.a + next.tokens <= start);
        for next in second[next..].iter().take_while(|next| next.a < end) {
            let (from, to) = (next.a.max(start), (next.a + next.tokens).min(end));
            push(&mut runs, Run { a: run.a + from - start, b: next.b + from - next.a, tokens: to - from });
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The word of the second place that each word of the first is matched with.
    fn matches(runs: &[Run]) -> BTreeMap<usize, usize> {
        runs.iter().flat_map(|run| (run.a..run.a + run.tokens).zip(run.b..)).collect()
    }

    /// Disjoint runs, ordered by the first place; in the second place in any order.
    fn runs() -> impl Strategy<Value = Vec<Run>> {
        prop::collection::vec((1usize..5, 0usize..3, 0usize..3, any::<u8>()), 0..8).prop_map(|parts| {
            let mut order: Vec<usize> = (0..parts.len()).collect();
            order.sort_by_key(|&part| parts[part].3);
            let mut runs: Vec<Run> = parts.iter().map(|part| Run { a: 0, b: 0, tokens: part.0 }).collect();
            let mut ends = [0, 0];
            for at in 0..parts.len() {
                ends[0] += parts[at].1;
                runs[at].a = ends[0];
                ends[0] += parts[at].0;
                let other = order[at];
                ends[1] += parts[other].2;
                runs[other].b = ends[1];
                ends[1] += parts[other].0;
            }
            runs
        })
    }

    proptest! {
        #[test]
        fn runs_compose_as_their_words_do(one in runs(), two in runs()) {
            let (first, second) = (matches(&one), matches(&two));
            let both = first.iter().filter_map(|(word, there)| Some((*word, *second.get(there)?)));
            let found = composed(&one, &two);
            prop_assert_eq!(matches(&found), both.collect());
            prop_assert!(found.is_sorted());
            let back: BTreeMap<usize, usize> = first.into_iter().map(|(word, there)| (there, word)).collect();
            prop_assert_eq!(matches(&turned(&one)), back);
        }
    }
}
