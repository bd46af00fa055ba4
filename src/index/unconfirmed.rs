//! Documents that an interrupted run remembered and perhaps did not write.
//!
//! The input of a run that was interrupted is fed again from the line after the last one that arrived. A document with an id is then known by
//! that, and passes again. It does not where known documents are dropped. One without an id is identified by its line, which has another number
//! now: its tokens would make it a duplicate of itself. So those that may not have arrived are *unconfirmed*: one with an id passes again, once, also
//! where known ones are dropped; and so does a record without an id that has the tokens of one without.
//!
//! A stream notes in the log up to where everything has left. Before the first document that it remembers it notes that place, later
//! one that everything before has left [for a while](HOLD) and that [some documents](LATEST) follow, and at its end, if it ends by itself,
//! that all have left. So what is unconfirmed are the documents after the place of the last note. They stay so until a run with documents
//! ends by itself, or notes a place of its own: by then it has passed so many new ones for so long that what was fed again
//! precedes them. What only maintains an index confirms nothing.
//!
//! That a document has left is known when the next one is decided on after a [commit](super::Index::commit). A note is part of the write of the next
//! document, and costs no write of its own. A pipe may hold what left, and so may a reader, and a file may be in memory only: therefore the wait.
//!
//! Those that come again and are still remembered are no new ones. Those that expired meanwhile, or were replaced, are remembered anew: they are
//! recognised by their hashes (awaited.rs), which are read from the log then, so that they confirm nothing that is still to come.
//!
//! Those without ids are in the table of ids by their tokens alone, so no table has more because of them. In memory is the place, and the places of
//! those that passed again; and 8 bytes for each unconfirmed one, once a new document is remembered.
//!
//! A note is a word in a frame of its own, like those of forgetting.rs: a program that does not know it ignores it. What such a program adds
//! is unconfirmed if it follows the documents of an interrupted run.

use super::entry::Entry;
use crate::source::is_numbered;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The least time between the writing of a document and the note that it has left. A system writes what a file has to the disk within half of it,
/// unless it is set otherwise.
pub(super) const HOLD: Duration = Duration::from_secs(60);

/// The least number of documents that are unconfirmed.
pub(super) const LATEST: u64 = 1 << 12;

/// The highest four bits of a word: what it is. The others are the place, or ones.
const LEFT: u64 = 0b1101 << 60;
const VALUE: u64 = (1 << 60) - 1;

/// What documents without an id are named by, where their number says nothing.
pub(super) const UNNAMED: &str = "-:";

/// The name of a stream on standard input.
const STREAM: &str = "-";

/// Whether a document of a stream on standard input has no id of its own: it is named by its number there.
pub(crate) fn is_unnamed(id: &str) -> bool {
    is_numbered(id, STREAM)
}

/// What identifies a document in another run, beside its tokens.
pub(super) fn identity(id: &str) -> &str {
    if is_unnamed(id) { UNNAMED } else { id }
}

/// What the log says of the documents that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Left {
    /// Nothing: there were none, or an earlier version wrote it.
    #[default]
    Unknown,
    /// What is before this place has left.
    Before(u64),
    /// All have.
    All,
}

impl Left {
    /// As a number; `None` if nothing is known.
    pub fn value(self) -> Option<u64> {
        match self {
            Left::Unknown => None,
            Left::Before(place) => Some(place.min(VALUE - 1)),
            Left::All => Some(VALUE),
        }
    }

    /// As [`value`](Self::value) has it.
    pub fn of_value(value: Option<u64>) -> Self {
        match value {
            None => Left::Unknown,
            Some(place) if place < VALUE => Left::Before(place),
            Some(_) => Left::All,
        }
    }

    /// The word of its note, if something is known.
    pub fn word(self) -> Option<u64> {
        self.value().map(|value| LEFT | value)
    }

    /// Notes before a place may be lost: what follows it may not have left, unless a later note says so.
    pub fn lose_before(&mut self, place: u64) {
        if !matches!(self, Left::Before(_)) {
            *self = Left::Before(place);
        }
    }

    fn of_word(word: u64) -> Option<Self> {
        (word & !VALUE == LEFT).then(|| Left::of_value(Some(word & VALUE)))
    }

    /// Continues with an entry of the log.
    pub fn read(&mut self, entry: &Entry) {
        if let Entry::Notes(words) = entry
            && let [word] = words[..]
        {
            *self = Left::of_word(word).unwrap_or(*self);
        }
    }
}

/// Whether a note at a place is not of what follows it.
pub(super) fn is_before(word: u64, place: u64) -> bool {
    !matches!(Left::of_word(word), Some(Left::Before(left)) if left > place)
}

/// Up to where the documents of a run have left, and for how long.
#[derive(Debug)]
pub(super) struct Leaving {
    /// See [`HOLD`] and [`LATEST`]; tests lower them.
    pub hold: Duration,
    pub latest: u64,
    /// What time it is.
    pub clock: fn() -> Instant,
    /// The number of documents that were remembered.
    count: u64,
    /// The place of the log up to which documents may leave once a commit ends, and how many there were.
    begun: Option<(u64, u64)>,
    /// The same, of a commit that has ended.
    committed: Option<(u64, u64)>,
    /// Such places from which on all before had left, how many documents there were, and since when. Not all: some for each time and number.
    left: VecDeque<(u64, u64, Instant)>,
}

impl Default for Leaving {
    fn default() -> Self {
        let (begun, committed, left) = (None, None, VecDeque::new());
        Leaving { hold: HOLD, latest: LATEST, clock: Instant::now, count: 0, begun, committed, left }
    }
}

/// The number of places within the time, or the number of documents, that is waited for.
const STEPS: u32 = 16;

impl Leaving {
    /// Documents before a place of the log may leave when this commit ends.
    pub fn begin_commit(&mut self, place: u64) {
        self.begun = Some((place, self.count));
    }

    /// Documents of the commit that was begun may leave.
    pub fn end_commit(&mut self) {
        self.committed = self.begun.take().or(self.committed);
    }

    /// A document comes, at this time, after which all that might leave has left. Returns the place to be noted, if there is a new one.
    pub fn next(&mut self, now: impl FnOnce() -> Instant) -> Option<u64> {
        let (place, count) = self.committed.take()?;
        let now = now();
        let is_due = self.left.back().is_none_or(|&(_, before, since)| {
            now.duration_since(since) >= self.hold / STEPS && count - before >= self.latest / u64::from(STEPS)
        });
        if is_due {
            self.left.push_back((place, count, now));
        }
        let is_old = |&(_, before, since): &(u64, u64, Instant)| {
            now.duration_since(since) >= self.hold && self.count - before >= self.latest
        };
        let old = self.left.iter().take_while(|left| is_old(left)).count();
        self.left.drain(..old).next_back().map(|(place, ..)| place)
    }

    /// Forgets what has left: a run failed, and another begins; or a document from before comes again, and what left before that says nothing
    /// of it.
    pub fn restart(&mut self) {
        (self.begun, self.committed) = (None, None);
        self.left.clear();
    }

    /// Counts a document.
    pub fn add(&mut self) {
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::repeat::{BEGIN, DIGEST, END, Past, are_before};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_numbers_of_a_stream_are_no_ids() {
        assert!(is_unnamed("-:1") && is_unnamed("-:18446744073709551616"));
        assert!(
            ["", "-:", "-:x", "-:1x", "-1", "a:1", " -:1", "-:-1"]
                .into_iter()
                .all(|id| !is_unnamed(id) && identity(id) == id)
        );
        assert_eq!(identity("-:12"), identity("-:7"));
    }

    #[test]
    fn a_note_is_read_as_it_was_written_and_ignored_by_a_program_that_does_not_know_it() {
        let mut read = Left::default();
        for left in [Left::Before(0), Left::Before(1 << 50), Left::All, Left::Before(7)] {
            let word = left.word().unwrap();
            assert!(word >= super::super::entry::NO_PLACE && ![BEGIN, END, DIGEST].contains(&word));
            assert!(Past::all(&[word]).next().is_none(), "half of a decision");
            read.read(&Entry::Notes(vec![word]));
            assert_eq!((read, Left::of_value(left.value())), (left, left));
            for words in [
                vec![BEGIN],
                vec![END],
                vec![DIGEST, word],
                vec![word, word],
                vec![0b1100 << 60],
                vec![0b1110 << 60 | 5],
            ] {
                read.read(&Entry::Notes(words));
            }
            assert_eq!(read, left);
        }
        assert_eq!((Left::Unknown.word(), Left::of_value(None)), (None, Left::Unknown));
        let word = Left::Before(100).word().unwrap();
        assert!(are_before(&[word], 100) && !are_before(&[word], 99) && are_before(&[Left::All.word().unwrap()], 0));
    }

    proptest! {
        /// The oracle has every commit, and when the next document came.
        #[test]
        fn a_place_is_noted_once_all_before_it_left_long_ago(steps in prop::collection::vec((0u64..40, 1u64..30, 1usize..9), 1..300)) {
            let begin = Instant::now();
            let mut leaving = Leaving { hold: Duration::from_secs(100), latest: 200, ..Leaving::default() };
            let (mut all, mut now, mut place, mut count, mut last): (Vec<(u64, u64, u64)>, _, _, _, _) = (Vec::new(), 0, 10, 0, 0);
            for (seconds, bytes, documents) in steps {
                for _ in 0..documents {
                    if let Some(noted) = leaving.next(|| begin + Duration::from_secs(now)) {
                        let &(_, before, since) = all.iter().find(|(place, ..)| *place == noted).unwrap();
                        prop_assert!(noted > last && now - since >= 100 && count - before >= 200);
                        last = noted;
                    }
                    leaving.add();
                    count += 1;
                    place += bytes;
                }
                leaving.begin_commit(place);
                leaving.end_commit();
                now += seconds;
                all.push((place, count, now));
            }
            prop_assert!(leaving.left.len() <= 2 * STEPS as usize + 4, "{}", leaving.left.len());
        }
    }

    #[test]
    fn little_more_than_the_last_documents_are_unconfirmed() {
        let begin = Instant::now();
        for (documents_a_second, most) in [(1, 200), (50, 5_000)] {
            let mut leaving = Leaving { hold: Duration::from_secs(100), latest: 200, ..Leaving::default() };
            let mut last = 0;
            for second in 0..5_000 {
                for _ in 0..documents_a_second {
                    last = leaving.next(|| begin + Duration::from_secs(second)).unwrap_or(last);
                    leaving.add();
                }
                leaving.begin_commit(leaving.count);
                leaving.end_commit();
            }
            let unconfirmed = leaving.count - last;
            assert!(
                unconfirmed >= most && unconfirmed <= most + most / 6,
                "{unconfirmed} at {documents_a_second} a second"
            );
        }
    }
}
