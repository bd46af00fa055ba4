//! Marks that moved: bytes before them were lost or inserted, so that they are not where they were written.
//!
//! The checks of a frame are of the place where it was written: elsewhere it is not recognised. A mark is recognised anywhere, because
//! the checksum of its only byte is a bijection of the place.

use super::entry::SYNCED;
use super::frame::{WINDOW, frame_head};
use crate::postings::read_at;
use std::fs::File;
use std::io;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The size of the frame of a mark.
pub(super) const MARK: usize = 17;

/// A mark, and how far it moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    /// The place where it is.
    pub at: u64,
    /// The place where it was written.
    pub written: u64,
}

impl Moved {
    /// What must be added to a place to get the one where what is there was written.
    pub fn shift(self) -> i64 {
        self.written as i64 - self.at as i64
    }
}

/// How far the frames of a damaged file moved.
#[derive(Clone, Debug)]
pub(super) struct Shifts {
    /// The distances known from marks, and how many bytes of records were read at each.
    known: Vec<(i64, u64)>,
    /// Where the part begins of which no record was read.
    unread: Option<u64>,
    /// The bytes that may be searched again.
    left: u64,
}

impl Shifts {
    /// Of a file with so many bytes.
    pub fn new(length: u64) -> Self {
        Shifts { known: vec![(0, 0)], unread: None, left: (1 << 20) + AGAIN * length }
    }

    /// The distances.
    pub fn known(&self) -> impl Iterator<Item = i64> {
        self.known.iter().map(|&(shift, _)| shift)
    }

    /// Adds the distance of a mark. Those at which most was read stay known: a document could contain what looks like a mark.
    pub fn learn(&mut self, shift: i64) {
        if self.known.len() == MOST_KNOWN
            && let Some(least) = (0..self.known.len()).min_by_key(|&number| self.known[number].1)
        {
            self.known.remove(least);
        }
        self.known.push((shift, 0));
    }

    /// A record of so many bytes was read at a distance.
    pub fn has_read(&mut self, shift: i64, bytes: u64) {
        self.unread = None;
        if let Some((_, read)) = self.known.iter_mut().find(|known| known.0 == shift) {
            *read += bytes;
        }
    }

    /// At a place, there is no frame.
    pub fn misses(&mut self, place: u64) {
        self.unread.get_or_insert(place);
    }

    /// Where frames are searched that moved as far as a mark at a place: from the one from which nothing was read, unless too much was
    /// searched again already.
    pub fn start(&mut self, from: u64, mark: u64) -> u64 {
        let start = self.unread.unwrap_or(from);
        match self.left.checked_sub(mark - start) {
            Some(left) => {
                self.left = left;
                start
            }
            None => from,
        }
    }
}

/// The maximum number of distances that are tried at each place.
const MOST_KNOWN: usize = 16;

/// How often the bytes of a file may be searched again.
const AGAIN: u64 = 8;

/// The first mark from a place on, up to an end, that is suitable.
///
/// Cost: linear in the bytes passed.
pub(super) fn next_moved_mark(
    file: &File,
    mut from: u64,
    end: u64,
    is_suitable: impl Fn(Moved) -> bool,
) -> io::Result<Option<Moved>> {
    let mut window = vec![0; WINDOW];
    while from + MARK as u64 <= end {
        let count = window.len().min((end - from) as usize);
        read_at(file, &mut window[..count], from)?;
        for (at, bytes) in window[..count].array_windows().enumerate() {
            let found = written_at(bytes).map(|written| Moved { at: from + at as u64, written });
            if let Some(found) = found.filter(|&found| is_suitable(found)) {
                return Ok(Some(found));
            }
        }
        from += (count - MARK + 1) as u64;
    }
    Ok(None)
}

/// No file is longer. Sums of places do not overflow.
const MOST_PLACE: u64 = 1 << 48;

/// The place where these bytes were written; `None` if they are no mark.
pub(super) fn written_at(bytes: &[u8; MARK]) -> Option<u64> {
    let (head, rest) = bytes.split_first_chunk::<8>().expect("it is longer");
    let (kind, sum) = rest.split_first().expect("it is longer");
    if head[..4] != 1u32.to_le_bytes() || *kind != SYNCED {
        return None;
    }
    let sum = u64::from_le_bytes(sum.try_into().expect("eight bytes are left"));
    let place = seed_of(sum);
    let is_one = place < MOST_PLACE && frame_head(1, place) == *head;
    (is_one && xxh3_64_with_seed(&[SYNCED], place) == sum).then_some(place)
}

/// The seed with which XXH3 gives the byte of a mark this hash.
///
/// Of one to three bytes, XXH3 adds the seed to a constant, combines both with the bytes by exclusive or, and mixes the result by
/// invertible steps (`XXH3_len_1to3_64b` in the specification of xxHash).
fn seed_of(hash: u64) -> u64 {
    let byte = u64::from(SYNCED);
    let combined = byte << 16 | byte << 24 | byte | 1 << 8;
    let keyed = |hash| unmixed(hash) ^ combined;
    keyed(hash).wrapping_sub(keyed(xxh3_64_with_seed(&[SYNCED], 0)))
}

/// The inverse of `XXH64_avalanche`.
fn unmixed(mut hash: u64) -> u64 {
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(inverse(0x165667B19E3779F9));
    hash ^= hash >> 29 ^ hash >> 58;
    hash = hash.wrapping_mul(inverse(0xC2B2AE3D27D4EB4F));
    hash ^ hash >> 33
}

/// The inverse of an odd number, modulo 2⁶⁴, by Newton's iteration: each step doubles the number of bits that are right.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(place: u64) -> [u8; MARK] {
        let mut bytes = [0; MARK];
        bytes[..8].copy_from_slice(&frame_head(1, place));
        bytes[8] = SYNCED;
        bytes[9..].copy_from_slice(&xxh3_64_with_seed(&[SYNCED], place).to_le_bytes());
        bytes
    }

    #[test]
    fn a_mark_says_where_it_was_written() {
        for number in 0..10_000u64 {
            let place = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (16 + number % 48);
            assert_eq!(written_at(&mark(place)), Some(place));
        }
        for changed in 0..MARK {
            let mut bytes = mark(12_345);
            bytes[changed] ^= 1;
            assert_eq!(written_at(&bytes), None, "{changed}");
        }
    }

    #[test]
    fn a_mark_is_found_wherever_it_is() {
        for at in [0, 1, 5_000, WINDOW - MARK, WINDOW - 1, WINDOW, 2 * WINDOW - MARK, 3 * WINDOW - MARK] {
            let mut bytes = vec![1; 3 * WINDOW];
            bytes[at..at + MARK].copy_from_slice(&mark(77));
            let file = tempfile::tempfile().unwrap();
            io::Write::write_all(&mut &file, &bytes).unwrap();
            let found = |from, end| next_moved_mark(&file, from, end, |_| true).unwrap();
            let (here, end) = (Moved { at: at as u64, written: 77 }, bytes.len() as u64);
            assert_eq!(found(0, end), Some(here));
            assert_eq!(found(here.at, end), Some(here));
            assert_eq!((found(here.at + 1, end), found(0, here.at + MARK as u64 - 1)), (None, None));
            assert_eq!(next_moved_mark(&file, 0, end, |found| found.written != 77).unwrap(), None);
        }
    }
}
