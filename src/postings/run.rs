//! Sorted runs: the part of a table on the disk.

use super::filter::Filter;
use super::read_at::read_at;
use super::words::{Words, put};
use super::writer::Writer;
use std::fs::File;
use std::io;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// A tag in the upper half, a document in the lower.
pub(crate) type Posting = u64;

/// The number of postings read at once: a page of 4 KiB.
const PAGE: usize = 512;

/// Ascending postings in a part of a file. The first tag of each page and a checksum are in memory, and a filter that rules
/// out most absent tags.
pub(crate) struct Run {
    file: Arc<File>,
    /// The place in the file, in bytes.
    at: u64,
    count: usize,
    pages: Vec<Page>,
    filter: Filter,
}

#[derive(Clone, Copy)]
struct Page {
    first: u32,
    check: u32,
}

impl Run {
    /// Writes ascending postings, at most `most` of them.
    ///
    /// # Errors
    /// The first error of the postings, or the file cannot be written.
    pub fn write(
        out: &mut Writer,
        most: usize,
        postings: impl Iterator<Item = io::Result<Posting>>,
    ) -> io::Result<Self> {
        let (at, mut count) = (out.at(), 0);
        let (mut pages, mut filter) = (Vec::with_capacity(most.div_ceil(PAGE)), Filter::new(most));
        let mut page = Vec::with_capacity(8 * PAGE);
        let mut end_page = |page: &mut Vec<u8>, first: u32| {
            pages.push(Page { first, check: check_of(page) });
            out.write(page)?;
            page.clear();
            Ok::<_, io::Error>(())
        };
        let mut first = 0;
        for posting in postings {
            let posting = posting?;
            let tag = (posting >> 32) as u32;
            if page.is_empty() {
                first = tag;
            }
            filter.insert(tag);
            page.extend_from_slice(&posting.to_le_bytes());
            count += 1;
            if page.len() == 8 * PAGE {
                end_page(&mut page, first)?;
            }
        }
        if !page.is_empty() {
            end_page(&mut page, first)?;
        }
        pages.shrink_to_fit();
        Ok(Run { file: out.file(), at, count, pages, filter })
    }

    /// The union of runs, except the postings of documents below a number.
    ///
    /// # Errors
    /// A run cannot be read, or the file cannot be written.
    pub fn merge(out: &mut Writer, runs: &[Arc<Run>], gone: u32) -> io::Result<Self> {
        let mut readers = runs.iter().map(|run| Reader::new(run)).collect::<io::Result<Vec<_>>>()?;
        let least = std::iter::from_fn(|| {
            let reader = readers.iter_mut().min_by_key(|reader| reader.next)?;
            let next = reader.next;
            (next < END).then(|| reader.advance().map(|()| next))
        });
        let left = least.filter(|posting| posting.as_ref().map_or(true, |&posting| posting as u32 >= gone));
        Run::write(out, runs.iter().map(|run| run.count).sum(), left)
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        (self.pages.capacity() * size_of::<Page>()) as u64 + self.filter.bytes_held()
    }

    /// The number of postings.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Bytes of memory of runs with so many postings, but for the end of each.
    pub fn bytes_for(postings: u64) -> u64 {
        (size_of::<Page>() as u64 * postings).div_ceil(PAGE as u64) + Filter::bytes_for(postings)
    }

    /// Tells the processor that a tag will be looked up.
    #[inline]
    pub fn fetch(&self, tag: u32) {
        self.filter.fetch(tag);
    }

    /// Passes the documents of a tag to `each`, the latest first, while it returns true. Returns whether it wants more.
    ///
    /// # Errors
    /// The file cannot be read; of the kind [`InvalidData`](io::ErrorKind::InvalidData) if it is damaged.
    pub fn find(&self, tag: u32, mut each: impl FnMut(u32) -> bool) -> io::Result<bool> {
        if !self.filter.may_have(tag) {
            return Ok(true);
        }
        // Backwards from the last page whose first tag is at most this one.
        let mut page = self.pages.partition_point(|page| page.first <= tag);
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

    /// Reads pages from one on, as many as the buffer holds.
    fn page<'a>(&self, first: usize, buffer: &'a mut [u8]) -> io::Result<&'a [[u8; 8]]> {
        let count = (buffer.len() / 8).min(self.count - first * PAGE);
        let bytes = &mut buffer[..8 * count];
        read_at(&self.file, bytes, self.at + (8 * PAGE * first) as u64)?;
        for (page, bytes) in self.pages[first..].iter().zip(bytes.chunks(8 * PAGE)) {
            if page.check != check_of(bytes) {
                return Err(damaged());
            }
        }
        Ok(bytes.as_chunks().0)
    }

    #[cfg(test)]
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Appends what is in memory, for [`read`](Self::read).
    pub fn put(&self, out: &mut Vec<u8>) {
        put(out, self.at);
        put(out, self.count as u64);
        self.pages.iter().for_each(|page| put(out, u64::from(page.first) << 32 | u64::from(page.check)));
        put(out, self.filter.words().len() as u64);
        self.filter.words().for_each(|word| put(out, word));
    }

    /// The run in a file whose first `end` bytes hold its postings. `None` if it cannot be there.
    pub fn read(file: &Arc<File>, end: u64, words: &mut Words) -> Option<Self> {
        let (at, count) = (words.next()?, words.next()?);
        count.checked_mul(8)?.checked_add(at).filter(|&last| last <= end)?;
        let count = usize::try_from(count).ok()?;
        let page = |word: u64| Page { first: (word >> 32) as u32, check: word as u32 };
        let pages = words.take(count.div_ceil(PAGE))?.map(page).collect();
        let words_of_filter = words.next().and_then(|count| usize::try_from(count).ok())?;
        let filter = Filter::of_words(&words.take(words_of_filter)?.collect::<Vec<_>>())?;
        Some(Run { file: Arc::clone(file), at, count, pages, filter })
    }
}

/// Reads the postings of a run, ascending.
struct Reader<'a> {
    run: &'a Run,
    /// The number of the next page, and pages as they were read.
    page: usize,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    /// The next posting, or [`END`].
    next: Posting,
}

/// No document has so high a number.
const END: Posting = Posting::MAX;

/// The number of pages read at once.
const READ: usize = 32;

impl<'a> Reader<'a> {
    fn new(run: &'a Run) -> io::Result<Self> {
        let mut reader = Reader { run, page: 0, buffer: vec![0; 8 * PAGE * READ], at: 0, end: 0, next: END };
        reader.advance().map(|()| reader)
    }

    #[inline]
    fn advance(&mut self) -> io::Result<()> {
        if self.at == self.end {
            self.at = 0;
            self.end = 0;
            if self.page < self.run.pages.len() {
                self.end = self.run.page(self.page, &mut self.buffer)?.len();
                self.page += READ;
            }
        }
        self.next = END;
        if self.at < self.end {
            self.next = u64::from_le_bytes(self.buffer.as_chunks().0[self.at]);
            self.at += 1;
        }
        Ok(())
    }
}

fn tag_of(posting: &[u8; 8]) -> u32 {
    (u64::from_le_bytes(*posting) >> 32) as u32
}

/// The checksum of a page.
pub(crate) fn check_of(page: &[u8]) -> u32 {
    xxh3_64(page) as u32
}

/// The error for bytes whose checksum is wrong.
pub(crate) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the bytes there have changed")
}
