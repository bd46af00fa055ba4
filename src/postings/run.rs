//! Sorted runs: the part of a table beyond its memory, in unnamed files that the system removes with the process.

use super::read_at::read_at;
use crate::hash::mix;
use crate::kernel::fetch::fetch;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A tag in the upper half, a document in the lower.
pub(super) type Posting = u64;

/// The number of postings read at once: a page of 4 KiB.
const PAGE: usize = 512;

/// Ascending postings in a file. The first tag of each page is in memory, and a filter that rules out most absent tags.
pub(super) struct Run {
    file: File,
    count: usize,
    fences: Vec<u32>,
    filter: Filter,
    /// How often its oldest postings were merged.
    pub level: u32,
}

impl Run {
    /// Writes a run of `count` ascending postings.
    pub fn write(
        folder: &Path,
        level: u32,
        count: usize,
        postings: impl Iterator<Item = io::Result<Posting>>,
    ) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(folder)?);
        let (mut fences, mut filter) = (Vec::with_capacity(count.div_ceil(PAGE)), Filter::new(count));
        for (number, posting) in postings.enumerate() {
            let posting = posting?;
            let tag = (posting >> 32) as u32;
            if number % PAGE == 0 {
                fences.push(tag);
            }
            filter.insert(tag);
            out.write_all(&posting.to_le_bytes())?;
        }
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Run { file, count, fences, filter, level })
    }

    /// The union of runs.
    pub fn merge(folder: &Path, level: u32, runs: &[Run]) -> io::Result<Self> {
        let mut readers: Vec<_> = runs.iter().map(|run| run.postings().peekable()).collect();
        let least = std::iter::from_fn(|| {
            // A failure is returned first, so that it is not lost.
            let next = |reader: &mut std::iter::Peekable<_>| {
                reader.peek().map(|next: &io::Result<Posting>| *next.as_ref().unwrap_or(&0))
            };
            let (_, reader) = (0..)
                .zip(&mut readers)
                .filter_map(|(at, reader)| Some(((next(reader)?, at), reader)))
                .min_by_key(|(key, _)| *key)?;
            reader.next()
        });
        Run::write(folder, level, runs.iter().map(Run::len).sum(), least)
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        4 * self.fences.capacity() as u64 + 8 * self.filter.0.capacity() as u64
    }

    /// Tells the processor that a tag will be looked up.
    #[inline]
    pub fn fetch(&self, tag: u32) {
        fetch(&self.filter.0, self.filter.place(tag).0);
    }

    /// Passes the documents of a tag to `each`, the latest first, while it returns true. Returns whether it wants more.
    pub fn find(&self, tag: u32, mut each: impl FnMut(u32) -> bool) -> io::Result<bool> {
        if !self.filter.may_have(tag) {
            return Ok(true);
        }
        // Backwards from the last page whose first tag is at most this one.
        let mut page = self.fences.partition_point(|&fence| fence <= tag);
        let mut buffer = [0; 8 * PAGE];
        while page > 0 {
            page -= 1;
            let postings = self.page(page, &mut buffer)?;
            let end = postings.partition_point(|posting| tag_of(posting) <= tag);
            for posting in postings[..end].iter().rev() {
                if tag_of(posting) < tag {
                    return Ok(true);
                }
                if !each(u64::from_le_bytes(*posting) as u32) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn page<'a>(&self, page: usize, buffer: &'a mut [u8; 8 * PAGE]) -> io::Result<&'a [[u8; 8]]> {
        let count = PAGE.min(self.count - page * PAGE);
        let bytes = &mut buffer[..8 * count];
        read_at(&self.file, bytes, (8 * PAGE * page) as u64)?;
        Ok(bytes.as_chunks().0)
    }

    /// All postings, ascending.
    fn postings(&self) -> impl Iterator<Item = io::Result<Posting>> {
        let (mut buffer, mut held, mut at) = (vec![0; 8 * PAGE * 16], 0..0, 0);
        std::iter::from_fn(move || {
            if held.is_empty() {
                let count = (buffer.len() / 8).min(self.count - at);
                if count == 0 {
                    return None;
                }
                if let Err(error) = read_at(&self.file, &mut buffer[..8 * count], 8 * at as u64) {
                    at = self.count;
                    return Some(Err(error));
                }
                at += count;
                held = 0..count;
            }
            let next = held.next()?;
            Some(Ok(u64::from_le_bytes(buffer.as_chunks().0[next])))
        })
    }
}

fn tag_of(posting: &[u8; 8]) -> u32 {
    (u64::from_le_bytes(*posting) >> 32) as u32
}

/// A Bloom filter whose bits of a key are all in one word (Putze, Sanders & Singler, *Cache-, Hash- and Space-Efficient
/// Bloom Filters*, WEA 2007, with words for blocks). It has 10 bits per key, of which it sets 4. About 3 in 100 absent
/// tags are not ruled out.
struct Filter(Vec<u64>);

impl Filter {
    fn new(keys: usize) -> Self {
        Filter(vec![0; (10 * keys).div_ceil(64).max(1)])
    }

    #[inline]
    fn place(&self, tag: u32) -> (usize, u64) {
        let hash = mix(u64::from(tag));
        let word = ((hash >> 32) * self.0.len() as u64) >> 32;
        let bits = (0..4).fold(0, |bits, at| bits | 1 << (hash >> (6 * at) & 63));
        (word as usize, bits)
    }

    fn insert(&mut self, tag: u32) {
        let (word, bits) = self.place(tag);
        self.0[word] |= bits;
    }

    #[inline]
    fn may_have(&self, tag: u32) -> bool {
        let (word, bits) = self.place(tag);
        self.0[word] & bits == bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_keys_that_are_not_there_pass_the_filter() {
        let mut filter = Filter::new(10_000);
        (0..10_000).for_each(|tag| filter.insert(tag));
        assert!((0..10_000).all(|tag| filter.may_have(tag)));
        let passed = (10_000..110_000).filter(|&tag| filter.may_have(tag)).count();
        assert!(passed < 5_000, "{passed}");
    }
}
