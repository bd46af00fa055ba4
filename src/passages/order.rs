//! The two orders of the places of each k-gram: by what follows them, and by what precedes them, as far as the windows reach.
//!
//! All places of a group are compared by some tokens at a time, then those that are equal by the next ones: so many tokens that they
//! fit in little memory. So a group of a million places takes no more memory than others.

use super::minima::Minima;
use super::text::{Anchor, LAST, Slot, Text};
use crate::error::Error;
use crate::postings::Cached;
use rayon::prelude::*;
use std::ops::{Range, RangeInclusive};

/// Sorts all groups. For the tokens that are compared at a time, all threads share a small part of this memory. Afterwards, the anchors know
/// their slots.
///
/// # Errors
/// The temporary file of the tokens cannot be read.
pub(super) fn sort(text: &mut Text, memory: u64) -> Result<(), Error> {
    let mut slots = std::mem::take(&mut text.slots);
    let group = |slot: &Slot| text.anchors[slot.right as usize].slot;
    let of_all = (memory / 32 + BYTES_BESIDE) / size_of::<u64>() as u64;
    // Few groups have many members, and one that is compared by a token at a time is sorted as often as it has tokens.
    let at_once = [of_all / 8, of_all / rayon::current_num_threads() as u64];
    slots
        .par_chunk_by_mut(|a, b| group(a) == group(b))
        .try_for_each_init(|| Sorter::new(text, at_once), |sorter, slots| sorter.sort(text, slots))?;
    for (place, slot) in (0..).zip(&slots) {
        text.anchors[slot.right as usize].slot = place;
    }
    text.minima = Minima::new(slots.iter().map(|slot| slot.right_common));
    text.slots = slots;
    Ok(())
}

/// The range of the number of tokens that a thread compares at a time, and the memory for them in addition to a share of the option.
const AT_ONCE: RangeInclusive<u64> = 1 << 13..=1 << 22;
const BYTES_BESIDE: u64 = 4 << 20;

/// The maximum distance in tokens of what is read together, and the maximum number of tokens that are.
const GAP: u64 = 1 << 9;
const BLOCK: u64 = 1 << 13;

/// The number of places from which on several threads sort them.
const MANY: usize = 1 << 15;

#[derive(Clone, Copy)]
enum Direction {
    Left,
    Right,
}

/// The memory for sorting, which is reused.
struct Sorter<'t> {
    members: Vec<u32>,
    common: Vec<u16>,
    /// The tokens of each member, back to back, and where those of each begin and end.
    tokens: Vec<u64>,
    ends: Vec<(u32, u32)>,
    order: Vec<u32>,
    sorted: Vec<u32>,
    read: Cached<'t>,
    /// The number of tokens that are compared at a time, and of [`MANY`] members.
    at_once: usize,
    at_once_of_many: usize,
}

impl<'t> Sorter<'t> {
    fn new(text: &'t Text, [of_many, at_once]: [u64; 2]) -> Self {
        Sorter {
            members: Vec::new(),
            common: Vec::new(),
            tokens: Vec::new(),
            ends: Vec::new(),
            order: Vec::new(),
            sorted: Vec::new(),
            read: text.tokens(),
            at_once: at_once.clamp(*AT_ONCE.start(), *AT_ONCE.end()) as usize,
            at_once_of_many: of_many.max(at_once).clamp(*AT_ONCE.start(), *AT_ONCE.end()) as usize,
        }
    }

    fn sort(&mut self, text: &Text, slots: &mut [Slot]) -> Result<(), Error> {
        for direction in [Direction::Left, Direction::Right] {
            let (mut members, mut common) = (std::mem::take(&mut self.members), std::mem::take(&mut self.common));
            members.clear();
            members
                .extend(slots.iter().map(|slot| if let Direction::Left = direction { slot.left } else { slot.right }));
            common.clear();
            common.resize(members.len(), LAST);
            self.refine_all(text, direction, &mut members, &mut common)?;
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

    /// Sorts members. Those with the same tokens are in the order of the text. Sets what each has in common with the next one, but for
    /// the last one.
    fn refine_all(
        &mut self,
        text: &Text,
        direction: Direction,
        members: &mut [u32],
        common: &mut [u16],
    ) -> Result<(), Error> {
        let mut open = vec![(0..members.len(), 0)];
        while let Some((range, depth)) = open.pop() {
            let start = range.start;
            let (members, common) = (&mut members[range.clone()], &mut common[range]);
            self.refine(text, direction, depth, members, common, |equal, depth| {
                open.push((start + equal.start..start + equal.end, depth));
            })?;
        }
        Ok(())
    }

    /// Sorts members that are equal up to this depth. Calls `open` with those that are equal up to a greater one, at which they can
    /// still differ.
    fn refine(
        &mut self,
        text: &Text,
        direction: Direction,
        depth: usize,
        members: &mut [u32],
        common: &mut [u16],
        mut open: impl FnMut(Range<usize>, usize),
    ) -> Result<(), Error> {
        let limit = if let Direction::Left = direction { text.window() } else { text.reach() };
        let at_once = if members.len() < MANY { self.at_once } else { self.at_once_of_many };
        let length = (at_once / members.len()).clamp(1, limit - depth);
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
        let mut equals: Vec<Range<usize>> = Vec::new();
        for (place, pair) in order.windows(2).enumerate() {
            let [a, b] = [of(pair[0]), of(pair[1])];
            let equal = a.iter().zip(b).take_while(|(x, y)| x == y).count();
            common[place] = (depth + equal) as u16;
            // More tokens follow, and can still differ.
            if equal == length && depth + length < limit {
                match equals.last_mut() {
                    Some(range) if range.end == place + 1 => range.end = place + 2,
                    _ => equals.push(place..place + 2),
                }
            }
        }
        sorted.clear();
        sorted.extend(order.iter().map(|&position| members[position as usize]));
        members.copy_from_slice(sorted);
        equals.into_iter().for_each(|range| open(range, depth + length));
        Ok(())
    }

    /// Loads tokens of each member, from a depth on. Members are in the order of the text, and those that are close to each other are
    /// read together.
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
        let range = |&member: &u32| {
            let Anchor { at, document, .. } = text.anchors[member as usize];
            let document = text.document(document);
            match direction {
                Direction::Left => {
                    let end = at.saturating_sub(depth).max(document.start);
                    end.saturating_sub(length).max(document.start)..end
                }
                Direction::Right => {
                    let first = (at + depth).min(document.end);
                    first..(first + length).min(document.end)
                }
            }
        };
        let mut rest = members;
        while let Some(first) = rest.first() {
            let mut all = range(first);
            let together = rest[1..].iter().map(range).take_while(|next| {
                let is_close = all.start <= next.start && next.start <= all.end + GAP && next.end <= all.start + BLOCK;
                all.end = if is_close { all.end.max(next.end) } else { all.end };
                is_close
            });
            let (close, later) = rest.split_at(1 + together.count());
            let read = self.read.read(all.clone())?;
            for own in close.iter().map(range) {
                let own = &read[(own.start - all.start) as usize..(own.end - all.start) as usize];
                let start = self.tokens.len() as u32;
                match direction {
                    Direction::Left => self.tokens.extend(own.iter().rev()),
                    Direction::Right => self.tokens.extend_from_slice(own),
                }
                self.ends.push((start, self.tokens.len() as u32));
            }
            rest = later;
        }
        Ok(())
    }
}
