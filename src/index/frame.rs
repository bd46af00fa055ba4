//! Frames: each record of an index, with its length before it and a checksum after it.
//!
//! ```text
//! frame   length of the record (4), check of the length and the place (4), record, checksum (8)
//! ```
//!
//! Numbers are little-endian. Both checks depend on the place of the frame.

use crate::hash::combine;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The head of a frame, before the record.
pub(super) fn frame_head(length: u32, place: u64) -> [u8; 8] {
    let mut head = [0; 8];
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..].copy_from_slice(&(xxh3_64_with_seed(&length.to_le_bytes(), place) as u32).to_le_bytes());
    head
}

/// The length in the head of a frame; `None` if it is not a head.
pub(super) fn length_of(head: [u8; 8], place: u64) -> Option<u64> {
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    (u64::from(length) <= MAX_RECORD && frame_head(length, place) == head).then_some(length.into())
}

/// The maximum length of a record: that of a text of some 300 MB. A longer one is neither written nor read.
pub(super) const MAX_RECORD: u64 = 1 << 28;

/// The number of bytes read at once where it is not known yet whether they are a record.
pub(super) const PIECE: usize = 1 << 20;

/// The size of the pieces that a file is searched in.
pub(super) const WINDOW: usize = 1 << 16;

/// The size of a frame without its record.
pub(super) const FRAME_OVERHEAD: u64 = 16;

/// The digest of all frames up to one with this checksum; 0 before the first.
pub(super) fn digest_after(before: u64, check: u64) -> u64 {
    combine(before, check)
}

/// The record of a frame whose head was removed, if the checksum is right.
pub(super) fn checked(frame: &[u8], place: u64) -> Option<&[u8]> {
    let (record, sum) = frame.split_last_chunk()?;
    (xxh3_64_with_seed(record, place) == u64::from_le_bytes(*sum)).then_some(record)
}
