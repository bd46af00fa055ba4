//! Elements that become common among sets after their order was fixed, such as words that a template gains.

use super::words::{Words, put};
use std::collections::HashMap;

/// One of so many sets is sampled, and so many samples are a window.
const SAMPLED: u32 = 8;
const WINDOW: u32 = 16;

/// An element is common now if so many sets of a window have it. One that 1 of 64 sets has is in so many of 16 by chance once in 200,000
/// windows.
const COMMON: u32 = 5;

/// The maximum number of rare elements that a set counts: the smallest. If it has more, those beyond are counted once the smallest ones
/// that became common are so in an order.
const MOST_ELEMENTS: usize = 256;

/// Bytes of memory of an element: a map has room for up to twice as many.
const BYTES_AN_ELEMENT: u64 = 48;

/// The rare elements of sampled sets, and how many sets of the window have each.
///
/// What it returns depends only on the sets and their order. Cost: a step for each element of one set in 8. Memory: up to 48 bytes for
/// each of up to 256 rare elements of 16 sets.
#[derive(Default)]
pub(super) struct Gained {
    /// The number of sets that were seen.
    seen: u32,
    counts: HashMap<u64, u32>,
}

impl Gained {
    /// Counts a set, of which `count_rare` passes the rare elements to a function, ascending, while that returns true. At the end of a
    /// window returns the elements that became common, ascending, each with the share of sets that have it, of
    /// [`WHOLE`](Self::WHOLE).
    pub fn add(&mut self, count_rare: impl FnOnce(&mut dyn FnMut(u64) -> bool)) -> Vec<(u64, u32)> {
        // The last of each group, so that a family of few sets counts nothing.
        if self.seen % SAMPLED == SAMPLED - 1 {
            let mut left = MOST_ELEMENTS;
            count_rare(&mut |element| {
                *self.counts.entry(element).or_default() += 1;
                left -= 1;
                left > 0
            });
        }
        self.seen += 1;
        if self.seen < SAMPLED * WINDOW {
            return Vec::new();
        }
        let counts = std::mem::take(self).counts;
        let mut gained: Vec<(u64, u32)> = counts.into_iter().filter(|&(_, count)| count >= COMMON).collect();
        gained.sort_unstable();
        gained
    }

    /// The whole, where shares are counted.
    pub const WHOLE: u32 = WINDOW;

    /// Bytes of memory, which depend only on what was added.
    pub fn bytes_held(&self) -> u64 {
        BYTES_AN_ELEMENT * self.counts.len() as u64
    }

    /// Appends all, for [`read`](Self::read).
    pub fn put(&self, out: &mut Vec<u8>) {
        let mut counts: Vec<(u64, u32)> = self.counts.iter().map(|(&element, &count)| (element, count)).collect();
        counts.sort_unstable();
        put(out, self.seen.into());
        put(out, counts.len() as u64);
        counts.into_iter().flat_map(|(element, count)| [element, count.into()]).for_each(|word| put(out, word));
    }

    /// Reads what [`put`](Self::put) wrote; `None` if that is not it.
    pub fn read(words: &mut Words) -> Option<Self> {
        let seen = words.next_u32().filter(|&seen| seen < SAMPLED * WINDOW)?;
        let (mut counts, mut last) = (HashMap::new(), None);
        for _ in 0..words.next().filter(|&count| count <= u64::from(WINDOW) * MOST_ELEMENTS as u64)? {
            let element = words.next().filter(|&element| last.is_none_or(|last| last < element))?;
            counts.insert(element, words.next_u32().filter(|&count| count <= WINDOW)?);
            last = Some(element);
        }
        Some(Gained { seen, counts })
    }
}
