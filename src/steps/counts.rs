//! What is counted over a whole collection, for algorithms that learn.

use crate::algorithm::{Learned, Learns};
use crate::hash::{combine, mix};
use crate::lexicon::{FrequencyBounds, Lexicon, Rarity};
use std::sync::Arc;

/// What the step `count` counted over a whole collection: its rows, with equal `what` added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    documents: u64,
    rows: Vec<(i64, i64)>,
}

impl Counts {
    /// Counts of this many documents, the distinct ones if [terms](Learns::Terms) are counted: what was counted, and in how many documents
    /// it is, in any order.
    pub fn new(documents: u64, rows: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let mut rows: Vec<(i64, i64)> = rows.into_iter().collect();
        rows.sort_unstable();
        Counts { documents, rows }
    }

    /// What tells these counts from others.
    pub(super) fn digest(&self) -> String {
        let add = |digest, &(what, count): &(i64, i64)| combine(combine(digest, what as u64), count as u64);
        format!("{:016x}", self.rows.iter().fold(mix(self.documents), add))
    }

    pub(super) fn learned(&self, learns: Learns) -> Learned {
        let (documents, rows) = (self.documents, self.rows.iter().map(|&(what, count)| (what as u64, count as u64)));
        let lexicon = || {
            let clamped = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
            Arc::new(Lexicon::new(documents, rows.clone().map(|(what, count)| (what, clamped(count)))))
        };
        match learns {
            Learns::Terms => Learned::Terms(lexicon()),
            Learns::Frequent { documents, .. } => {
                let mut frequent: Vec<u64> =
                    rows.filter(|&(_, count)| count >= documents).map(|(what, _)| what).collect();
                frequent.sort_unstable();
                Learned::Frequent(frequent.into())
            }
            Learns::FrequencyBounds => Learned::FrequencyBounds(Arc::new(FrequencyBounds::of_classes(documents, rows))),
            // Any order will do.
            Learns::Features => Learned::Features(Arc::new(Rarity::for_bytes(0, 0))),
        }
    }
}
