//! Which documents a run forgets, as the log notes it for later ones.
//!
//! A run notes its window and its age before its first decision that is written, unless they are those that the last one noted. So a
//! later run without them notes that too.
//!
//! Each is a word in a frame of its own, which is no place, no hash of a document (repeat.rs) and none of the other notes. A program
//! that does not know it takes it for half of a decision, and ignores it.

use super::entry::Entry;
use super::options::Limits;

/// Which documents a run forgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Forgetting {
    /// All but this many latest documents.
    pub window: Option<u64>,
    /// Documents that passed this many seconds ago.
    pub expire: Option<u64>,
}

impl From<&Limits> for Forgetting {
    fn from(limits: &Limits) -> Self {
        Forgetting { window: limits.window, expire: limits.expire }
    }
}

/// The highest four bits of a word: what it is. The others are the value and one more; 0 if there is none.
const WINDOW: u64 = 0b1100 << 60;
const AGE: u64 = 0b1110 << 60;
const VALUE: u64 = (1 << 60) - 1;

impl Forgetting {
    /// Whether it forgets anything.
    pub fn is_any(self) -> bool {
        self != Forgetting::default()
    }

    /// Whether it forgets what another forgets.
    pub fn is_as_strict_as(self, other: Self) -> bool {
        let is_as_strict =
            |own: Option<u64>, other: Option<u64>| other.is_none_or(|other| own.is_some_and(|own| own <= other));
        is_as_strict(self.window, other.window) && is_as_strict(self.expire, other.expire)
    }

    /// The words of the notes after `before`.
    pub(super) fn words(self, before: Self) -> impl Iterator<Item = u64> {
        let word = |mark: u64, value: Option<u64>| mark | value.map_or(0, |value| value.saturating_add(1).min(VALUE));
        let window = (self.window != before.window).then(|| word(WINDOW, self.window));
        let age = (self.expire != before.expire).then(|| word(AGE, self.expire));
        [window, age].into_iter().flatten()
    }

    /// Continues with an entry of the log.
    pub(super) fn read(&mut self, entry: &Entry) {
        if let Entry::Notes(words) = entry
            && let [word] = words[..]
        {
            let value = (word & VALUE).checked_sub(1);
            match word & !VALUE {
                WINDOW => self.window = value,
                AGE => self.expire = value,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::NO_PLACE;
    use super::super::repeat::{BEGIN, DIGEST, END, Past, are_before, name};
    use super::*;
    use proptest::prelude::*;

    fn limit() -> impl Strategy<Value = Option<u64>> {
        prop_oneof![Just(None), Just(Some(0)), Just(Some(VALUE - 2)), any::<u32>().prop_map(|n| Some(n.into()))]
    }

    proptest! {
        #[test]
        fn the_last_notes_count(runs in prop::collection::vec((limit(), limit()), 1..8), id in any::<u64>()) {
            let (mut before, mut read) = (Forgetting::default(), Forgetting::default());
            for (window, expire) in runs {
                let run = Forgetting { window, expire };
                let words: Vec<u64> = run.words(before).collect();
                prop_assert_eq!(words.is_empty(), run == before);
                for word in words {
                    prop_assert!(word >= NO_PLACE && ![BEGIN, END, DIGEST].contains(&word));
                    // A program that does not know it sees no decision, and nothing after it in the file.
                    prop_assert!(are_before(&[word], 1) && Past::all(&[word]).next().is_none());
                    read.read(&Entry::Notes(vec![word]));
                }
                // Others say nothing of it.
                let own = name(&id.to_string(), id.into());
                for words in [vec![BEGIN], vec![END], vec![DIGEST, NO_PLACE | id], vec![own], vec![own, NO_PLACE | id]] {
                    read.read(&Entry::Notes(words));
                }
                prop_assert_eq!(read, run);
                before = run;
            }
        }
    }

    #[test]
    fn what_is_not_forgotten_any_more() {
        let of = |window, expire| Forgetting { window, expire };
        assert!(
            of(Some(5), None).is_as_strict_as(of(Some(5), None))
                && of(Some(5), Some(1)).is_as_strict_as(of(Some(6), None))
        );
        assert!(
            !of(Some(6), None).is_as_strict_as(of(Some(5), None))
                && !of(Some(5), None).is_as_strict_as(of(None, Some(1)))
        );
        assert!(!of(None, None).is_as_strict_as(of(Some(5), None)) && of(None, None).is_as_strict_as(of(None, None)));
    }
}
