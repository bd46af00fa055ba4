//! The outlines of documents by their numbers, in memory and in files.

use crate::outline::Parities;
use crate::postings::{Words, Writer, check_of, damaged, put, read_at};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The size and the parities of a set.
pub(super) type Outline = (u32, Parities);

/// The size of an outline in a file, in bytes.
pub(super) const BYTES: usize = 36;

/// The number of outlines read at once, some 4 KB.
const BLOCK: usize = 113;

/// The memory of such a block, in bytes.
const BLOCK_BYTES: u64 = (BLOCK * size_of::<Outline>()) as u64;

/// The outlines of sets.
#[derive(Default)]
pub(super) struct Outlines {
    /// Those of the documents from `first` on.
    young: Vec<Outline>,
    first: u32,
    /// Those of all documents that were flushed; the oldest first.
    runs: Vec<Arc<OutlineRun>>,
    /// Blocks that were read: at most one for each remainder of a document's number divided by [`BLOCK`] and by their number, which is
    /// a power of two, or 0. An outline never changes, so they stay true when runs are merged.
    blocks: Vec<Block>,
    most_blocks: usize,
    /// The block that was read last, if there are none.
    last: Block,
    /// The bytes of the outlines in `blocks`, and of those in `last`.
    bytes_of_blocks: u64,
    bytes_of_last: u64,
}

/// Outlines in memory, and the numbers of their documents.
#[derive(Default)]
struct Block {
    held: Range<u32>,
    outlines: Vec<Outline>,
}

impl Outlines {
    /// The outlines in these runs, which are of consecutive documents from 0 on.
    pub fn of_runs(runs: Vec<Arc<OutlineRun>>) -> Self {
        let first = runs.last().map_or(0, |run| run.documents.end);
        Outlines { first, runs, ..Outlines::default() }
    }

    pub fn push(&mut self, outline: Outline) {
        self.young.push(outline);
    }

    /// The outline of a document.
    ///
    /// # Errors
    /// A file cannot be read, or is damaged.
    pub fn get(&mut self, document: u32) -> io::Result<Outline> {
        if let Some(young) = document.checked_sub(self.first) {
            return Ok(self.young[young as usize]);
        }
        if self.blocks.len() != self.most_blocks {
            self.blocks.resize_with(self.most_blocks, Block::default);
        }
        let mask = self.blocks.len().wrapping_sub(1);
        let (block, bytes) = match self.blocks.get_mut((document as usize / BLOCK) & mask) {
            Some(block) => (block, &mut self.bytes_of_blocks),
            None => (&mut self.last, &mut self.bytes_of_last),
        };
        if !block.held.contains(&document) {
            let run = &self.runs[self.runs.partition_point(|run| run.documents.end <= document)];
            let before = block.outlines.capacity();
            block.held = 0..0;
            block.held = run.read(document, &mut block.outlines)?;
            *bytes += ((block.outlines.capacity() - before) * size_of::<Outline>()) as u64;
        }
        Ok(block.outlines[(document - block.held.start) as usize])
    }

    /// Keeps at most so many bytes of the blocks that it reads, from now on. Cost: none, unless half as many or twice as many fit.
    pub fn keep_blocks_within(&mut self, bytes: u64) {
        let fit = (bytes / BLOCK_BYTES) as usize;
        let most = fit.checked_ilog2().map_or(0, |log| 1 << log);
        if most != self.most_blocks {
            // The first one that is read makes room for them.
            (self.blocks, self.bytes_of_blocks) = (Vec::new(), 0);
            self.most_blocks = most;
        }
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        let runs: u64 = self.runs.iter().map(|run| 4 * run.checks.capacity() as u64).sum();
        self.bytes_to_move()
            + self.bytes_of_blocks
            + self.bytes_of_last
            + (self.blocks.capacity() * size_of::<Block>()) as u64
            + runs
    }

    /// Bytes of memory of so many outlines once they are in files.
    pub fn bytes_in_runs(documents: u64) -> u64 {
        4 * documents.div_ceil(BLOCK as u64)
    }

    /// Bytes of memory that flushes free.
    pub fn bytes_to_move(&self) -> u64 {
        (self.young.capacity() * size_of::<Outline>()) as u64
    }

    /// The outlines of the documents from a number on, to be written; they are in memory.
    pub fn since(&self, document: u32) -> Vec<Outline> {
        self.young.get((document - self.first) as usize..).unwrap_or_default().to_vec()
    }

    /// Adds the run of a flush. With `moves`, the outlines up to its end leave the memory.
    pub fn end_flush(&mut self, run: Arc<OutlineRun>, moves: bool) {
        if moves && !self.young.is_empty() {
            let end = run.documents.end;
            self.young = self.young.split_off((end - self.first) as usize);
            self.first = end;
        }
        self.runs.push(run);
    }

    /// Replaces runs by their union.
    pub fn replace(&mut self, merged: Range<usize>, run: Arc<OutlineRun>) {
        self.runs.splice(merged, [run]);
    }
}

/// Outlines of consecutive documents in a part of a file, with a checksum in memory for each block.
pub(super) struct OutlineRun {
    file: Arc<File>,
    at: u64,
    documents: Range<u32>,
    checks: Vec<u32>,
}

impl OutlineRun {
    /// Writes the outlines of these documents, of which there may be none at all.
    ///
    /// # Errors
    /// The first error of the outlines, or the file cannot be written.
    pub fn write(
        out: &mut Writer,
        first: u32,
        outlines: impl Iterator<Item = io::Result<Outline>>,
    ) -> io::Result<Self> {
        let (at, mut checks, mut block) = (out.at(), Vec::new(), Vec::with_capacity(BYTES * BLOCK));
        let mut end_block = |block: &mut Vec<u8>| {
            checks.push(check_of(block));
            out.write(block)?;
            block.clear();
            Ok::<_, io::Error>(())
        };
        let mut end = first;
        for outline in outlines {
            let (size, parities) = outline?;
            block.extend_from_slice(&size.to_le_bytes());
            block.extend(parities.iter().flat_map(|word| word.to_le_bytes()));
            end += 1;
            if block.len() == BYTES * BLOCK {
                end_block(&mut block)?;
            }
        }
        if !block.is_empty() {
            end_block(&mut block)?;
        }
        Ok(OutlineRun { file: out.file(), at, documents: first..end, checks })
    }

    /// The union of runs of consecutive documents.
    ///
    /// # Errors
    /// A run cannot be read, or the file cannot be written.
    pub fn merge(out: &mut Writer, runs: &[Arc<OutlineRun>]) -> io::Result<Self> {
        let first = runs.first().map_or(0, |run| run.documents.start);
        Self::write(out, first, runs.iter().flat_map(|run| run.all()))
    }

    fn all(&self) -> impl Iterator<Item = io::Result<Outline>> {
        let (mut block, mut at) = (Vec::new(), self.documents.start);
        let mut held = 0..0;
        std::iter::from_fn(move || {
            if !held.contains(&at) {
                if at >= self.documents.end {
                    return None;
                }
                match self.read(at, &mut block) {
                    Ok(read) => held = read,
                    Err(error) => {
                        at = self.documents.end;
                        return Some(Err(error));
                    }
                }
            }
            at += 1;
            Some(Ok(block[(at - 1 - held.start) as usize]))
        })
    }

    /// Reads the block of a document. Returns the documents in it.
    fn read(&self, document: u32, block: &mut Vec<Outline>) -> io::Result<Range<u32>> {
        let number = (document - self.documents.start) as usize / BLOCK;
        let first = number * BLOCK;
        let count = BLOCK.min(self.documents.len() - first);
        let mut bytes = [0; BYTES * BLOCK];
        let bytes = &mut bytes[..BYTES * count];
        read_at(&self.file, bytes, self.at + (BYTES * first) as u64)?;
        if check_of(bytes) != self.checks[number] {
            return Err(damaged());
        }
        block.clear();
        block.reserve_exact(count);
        block.extend(bytes.as_chunks::<BYTES>().0.iter().map(outline));
        let first = self.documents.start + first as u32;
        Ok(first..first + count as u32)
    }

    /// Appends what is in memory, for [`open`](Self::open).
    pub fn put(&self, out: &mut Vec<u8>) {
        put(out, self.at);
        put(out, self.documents.len() as u64);
        self.checks.iter().for_each(|&check| put(out, check.into()));
    }

    /// The run in a file whose first `end` bytes hold it, of the documents from `first` on. `None` if it cannot be there.
    pub fn open(file: &Arc<File>, end: u64, first: u32, words: &mut Words) -> Option<Self> {
        let (at, count) = (words.next()?, words.next_u32()?);
        (at.checked_add(BYTES as u64 * u64::from(count))? <= end).then_some(())?;
        let checks = words.take((count as usize).div_ceil(BLOCK))?.map(|check| check as u32).collect();
        Some(OutlineRun { file: Arc::clone(file), at, documents: first..first.checked_add(count)?, checks })
    }

    /// The number of outlines.
    pub fn len(&self) -> usize {
        self.documents.len()
    }
}

fn outline(bytes: &[u8; BYTES]) -> Outline {
    let (size, parities) = bytes.split_first_chunk().expect("it is longer");
    let mut outline = (u32::from_le_bytes(*size), Parities::default());
    let words = parities.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
    outline.1.iter_mut().zip(words).for_each(|(own, word)| *own = word);
    outline
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(number: u32) -> Outline {
        (number, [u64::from(number), 1, u64::MAX - u64::from(number), 7])
    }

    fn writer() -> Writer {
        Writer::new(tempfile::tempfile().unwrap(), false, &Arc::default())
    }

    fn check(outlines: &mut Outlines, numbers: impl Iterator<Item = u32>) {
        for number in numbers {
            assert_eq!(outlines.get(number).unwrap(), outline(number));
        }
    }

    #[test]
    fn the_same_from_memory_and_from_files() {
        for blocks in [0, 1, 2, 3, 8, 100] {
            the_same_with_blocks(blocks);
        }
    }

    fn the_same_with_blocks(blocks: u64) {
        let (mut outlines, mut flushed) = (Outlines::default(), 0);
        for number in 0..1_000 {
            // Now and then for a part only.
            outlines.keep_blocks_within(if number % 200 < 150 { blocks } else { blocks / 2 } * BLOCK_BYTES);
            outlines.push(outline(number));
            if [0, 50, 113, 114, 700].contains(&number) {
                check(&mut outlines, [number / 2, number].into_iter());
                let mut out = writer();
                let fresh = outlines.since(flushed);
                let run = OutlineRun::write(&mut out, flushed, fresh.into_iter().map(Ok)).unwrap();
                out.finish().unwrap();
                outlines.end_flush(Arc::new(run), number != 113);
                flushed = number + 1;
            }
        }
        check(&mut outlines, (0..1_000).chain([3, 999, 112, 113, 0]));
        let mut out = writer();
        let merged = OutlineRun::merge(&mut out, &outlines.runs[1..4]).unwrap();
        out.finish().unwrap();
        outlines.replace(1..4, Arc::new(merged));
        check(&mut outlines, (0..1_000).rev());
        assert_eq!(outlines.runs.len(), 3);
        let most = blocks.checked_ilog2().map_or(0, |log| 1 << log) * BLOCK_BYTES;
        assert!(outlines.bytes_of_blocks <= most, "{} of {most}", outlines.bytes_of_blocks);
    }

    #[test]
    fn a_block_is_read_once_while_it_is_kept() {
        let (mut out, mut outlines) = (writer(), Outlines::default());
        let run = OutlineRun::write(&mut out, 0, (0..1_000).map(outline).map(Ok)).unwrap();
        out.finish().unwrap();
        outlines.end_flush(Arc::new(run), true);
        outlines.first = 1_000;
        outlines.keep_blocks_within(16 * BLOCK_BYTES);
        check(&mut outlines, 0..1_000);
        assert_eq!(outlines.bytes_of_blocks, 1_000 * size_of::<Outline>() as u64);
        // What is in the file now is not read.
        outlines.runs.clear();
        check(&mut outlines, (0..1_000).rev());
    }
}
