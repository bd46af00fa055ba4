//! The feature sets of candidates: in memory, or in a temporary file.

use super::spilled::{Buffer, Spilled};
use crate::error::Error;
use crate::outline::{Parities, can_reach};
use crate::similarity::Threshold;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// Ascending sets, back to back, with the position of each group's set.
pub(super) struct Sets {
    words: Words,
    at: Vec<At>,
    /// By group, the number of its set, from 1; 0 if it has no set.
    number: Vec<u32>,
    /// The first error of the file.
    failure: Mutex<Option<Error>>,
}

enum Words {
    Held(Vec<u64>),
    Written(Spilled),
}

/// The position of a set, and a few bits of it.
struct At {
    /// In words.
    start: usize,
    length: u32,
    parities: Parities,
}

impl Sets {
    /// Room for this many sets in memory, or in a file.
    pub fn new(groups: usize, sets: usize, file: Option<Spilled>) -> Self {
        let words = file.map_or(Words::Held(Vec::new()), Words::Written);
        Sets { words, at: Vec::with_capacity(sets), number: vec![0; groups], failure: Mutex::new(None) }
    }

    /// Sets in these words, which are [placed](Self::place) later.
    pub fn of(groups: usize, words: Vec<u64>) -> Self {
        Sets { words: Words::Held(words), ..Sets::new(groups, 0, None) }
    }

    #[inline]
    fn at(&self, group: u32) -> Option<&At> {
        self.number[group as usize].checked_sub(1).map(|set| &self.at[set as usize])
    }

    /// The set of a group; empty if it has none, or if the file cannot be [read](Self::check).
    #[inline]
    pub fn get(&self, group: u32) -> Cow<'_, [u64]> {
        match (self.at(group), &self.words) {
            (None, _) => Cow::Borrowed(&[]),
            (Some(at), Words::Held(flat)) => Cow::Borrowed(&flat[at.start..][..at.length as usize]),
            (Some(at), Words::Written(file)) => Cow::Owned(self.read(file, at)),
        }
    }

    #[cold]
    fn read(&self, file: &Spilled, at: &At) -> Vec<u64> {
        let mut buffer = Buffer::default();
        match file.read(8 * at.start as u64, at.length as usize, &mut buffer).map(drop) {
            Ok(()) => buffer.into_words(),
            Err(error) => {
                self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                Vec::new()
            }
        }
    }

    /// Fails if the file could not be read since: the sets were not complete.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Bytes in the file.
    pub fn bytes_spilled(&self) -> u64 {
        match &self.words {
            Words::Held(_) => 0,
            Words::Written(file) => file.bytes(),
        }
    }

    /// Whether the sets of two groups can be at or above the threshold, judged by their sizes and bits alone.
    #[inline]
    pub fn can_reach(&self, jaccard: Option<Threshold>, a: u32, b: u32) -> bool {
        let (Some(a), Some(b)) = (self.at(a), self.at(b)) else { return false };
        can_reach(jaccard, (a.length, &a.parities), (b.length, &b.parities))
    }

    /// Records the position of a group's set, in words.
    pub fn place(&mut self, group: u32, start: usize, length: usize, parities: Parities) {
        let length = u32::try_from(length).expect("a document has fewer than 2³² features");
        self.at.push(At { start, length, parities });
        self.number[group as usize] = self.at.len() as u32;
    }

    /// Adds sets, each of a group and with its end in `words`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, words: &[u64], ends: Vec<(u32, usize, Parities)>) -> Result<(), Error> {
        let first = match &mut self.words {
            Words::Held(flat) => {
                flat.extend_from_slice(words);
                flat.len() - words.len()
            }
            Words::Written(file) => (file.append(words)? / 8) as usize,
        };
        let mut start = 0;
        for (group, end, parities) in ends {
            self.place(group, first + start, end - start, parities);
            start = end;
        }
        Ok(())
    }
}
