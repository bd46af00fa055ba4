//! The two orders of the places of each k-gram: by what follows them, and by what precedes them, as far as the windows reach.
//!
//! All places of a group are compared by some tokens at a time, then those that are equal by the next ones: so many tokens that they
//! fit in little memory. So a group of a million places takes no more memory than others.

use super::text::{Anchor, LAST, Slot, Text};
use crate::error::Error;
use crate::postings::Buffer;
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// Sorts all groups, each thread with a small part of this memory. Afterwards, the anchors know their slots.
///
/// # Errors
/// The temporary file of the tokens cannot be read.
pub(super) fn sort(text: &mut Text, memory: u64) -> Result<(), Error> {
    let mut slots = std::mem::take(&mut text.slots);
    let group = |slot: &Slot| text.anchors[slot.right as usize].slot;
    slots
        .par_chunk_by_mut(|a, b| group(a) == group(b))
        .try_for_each_init(|| Sorter::new(memory), |sorter, slots| sorter.sort(text, slots))?;
    for (place, slot) in (0..).zip(&slots) {
        text.anchors[slot.right as usize].slot = place;
    }
    text.slots = slots;
    Ok(())
}

/// The range of the number of tokens that are compared at a time.
const AT_ONCE: RangeInclusive<u64> = 1 << 16..=1 << 22;

/// The number of places from which on several threads sort them.
const MANY: usize = 1 << 15;

#[derive(Clone, Copy)]
enum Direction {
    Left,
    Right,
}

/// The memory for sorting, which is reused.
#[derive(Default)]
struct Sorter {
    members: Vec<u32>,
    common: Vec<u16>,
    /// The tokens of each member, back to back, and where those of each begin and end.
    tokens: Vec<u64>,
    ends: Vec<(u32, u32)>,
    order: Vec<u32>,
    sorted: Vec<u32>,
    buffer: Buffer,
    /// The number of tokens that are compared at a time.
    at_once: usize,
}

impl Sorter {
    fn new(memory: u64) -> Self {
        let at_once = (memory / 64 / size_of::<u64>() as u64).clamp(*AT_ONCE.start(), *AT_ONCE.end());
        Sorter { at_once: at_once as usize, ..Sorter::default() }
    }

    fn sort(&mut self, text: &Text, slots: &mut [Slot]) -> Result<(), Error> {
        for direction in [Direction::Left, Direction::Right] {
            let (mut members, mut common) = (std::mem::take(&mut self.members), std::mem::take(&mut self.common));
            members.clear();
            members
                .extend(slots.iter().map(|slot| if let Direction::Left = direction { slot.left } else { slot.right }));
            common.clear();
            common.resize(members.len(), LAST);
            self.refine(text, direction, 0, &mut members, &mut common)?;
            for ((slot, &member), &common) in slots.iter_mut().zip(&members).zip(&common) {
                match direction {
                    Direction::Left => (slot.left, slot.left_common) = (member, common),
                    Direction::Right => (slot.right, slot.right_common) = (member, common),
                }
            }
            (self.members, self.common) = (members, common);
        }
        Ok(())
    }

    /// Sorts members that are equal up to this depth. Those with the same tokens are in the order of the text. Sets what each has in
    /// common with the next one, but for the last one.
    fn refine(
        &mut self,
        text: &Text,
        direction: Direction,
        depth: usize,
        members: &mut [u32],
        common: &mut [u16],
    ) -> Result<(), Error> {
        let limit = if let Direction::Left = direction { text.window() } else { text.reach() };
        let length = (self.at_once / members.len()).clamp(1, limit - depth);
        self.load(text, direction, (depth, length), members)?;
        let Sorter { tokens, ends, order, sorted, .. } = self;
        let of = |position: u32| {
            let (start, end) = ends[position as usize];
            &tokens[start as usize..end as usize]
        };
        order.clear();
        order.extend(0..members.len() as u32);
        let compare = |&a: &u32, &b: &u32| of(a).cmp(of(b)).then_with(|| members[a as usize].cmp(&members[b as usize]));
        match order.len() {
            MANY.. => order.par_sort_unstable_by(compare),
            _ => order.sort_unstable_by(compare),
        }
        let mut open = Vec::new();
        for (place, pair) in order.windows(2).enumerate() {
            let [a, b] = [of(pair[0]), of(pair[1])];
            let equal = a.iter().zip(b).take_while(|(x, y)| x == y).count();
            common[place] = (depth + equal) as u16;
            // More tokens follow, and can still differ.
            if equal == length && depth + length < limit {
                match open.last_mut() {
                    Some((_, end)) if *end == place => *end = place + 1,
                    _ => open.push((place, place + 1)),
                }
            }
        }
        sorted.clear();
        sorted.extend(order.iter().map(|&position| members[position as usize]));
        members.copy_from_slice(sorted);
        for (start, end) in open {
            self.refine(text, direction, depth + length, &mut members[start..=end], &mut common[start..=end])?;
        }
        Ok(())
    }

    /// Loads tokens of each member, from a depth on.
    fn load(
        &mut self,
        text: &Text,
        direction: Direction,
        (depth, length): (usize, usize),
        members: &[u32],
    ) -> Result<(), Error> {
        let (depth, length) = (depth as u64, length as u64);
        self.tokens.clear();
        self.ends.clear();
        for &member in members {
            let Anchor { at, document, .. } = text.anchors[member as usize];
            let document = text.document(document);
            let start = self.tokens.len() as u32;
            match direction {
                Direction::Left => {
                    let end = at.saturating_sub(depth).max(document.start);
                    let first = end.saturating_sub(length).max(document.start);
                    self.tokens.extend(text.tokens(first..end, &mut self.buffer)?.iter().rev());
                }
                Direction::Right => {
                    let first = (at + depth).min(document.end);
                    let end = (first + length).min(document.end);
                    self.tokens.extend_from_slice(text.tokens(first..end, &mut self.buffer)?);
                }
            }
            self.ends.push((start, self.tokens.len() as u32));
        }
        Ok(())
    }
}
