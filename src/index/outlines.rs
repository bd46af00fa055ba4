//! The outlines of documents by their numbers; old ones are in a file.

use crate::outline::Parities;
use crate::postings::read_at;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// The size and the parities of a set.
type Outline = (u32, Parities);

/// The size of an outline in the file, in bytes.
const BYTES: usize = 36;

/// The number of outlines read at once.
const BLOCK: usize = 113;

/// The outlines of sets.
#[derive(Default)]
pub(super) struct Outlines {
    old: Option<File>,
    /// The number of outlines in the file.
    frozen: usize,
    young: Vec<Outline>,
    /// The block of the file that was read last.
    block: Vec<u8>,
    number: Option<usize>,
}

impl Outlines {
    pub fn push(&mut self, outline: Outline) {
        self.young.push(outline);
    }

    /// The outline of a document.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn get(&mut self, document: u32) -> io::Result<Outline> {
        let at = document as usize;
        if let Some(young) = at.checked_sub(self.frozen) {
            return Ok(self.young[young]);
        }
        let number = at / BLOCK;
        if self.number != Some(number) {
            let (first, file) = (number * BLOCK, self.old.as_ref().expect("what is frozen is in the file"));
            self.number = None;
            self.block.resize(BYTES * BLOCK.min(self.frozen - first), 0);
            read_at(file, &mut self.block, (BYTES * first) as u64)?;
            self.number = Some(number);
        }
        let (size, parities) = self.block.as_chunks::<BYTES>().0[at % BLOCK].split_first_chunk().expect("it is longer");
        let parities = parities.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
        let mut outline = (u32::from_le_bytes(*size), Parities::default());
        outline.1.iter_mut().zip(parities).for_each(|(own, word)| *own = word);
        Ok(outline)
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        (self.young.capacity() * size_of::<Outline>() + self.block.capacity()) as u64
    }

    /// Moves the outlines in memory to a file in a folder.
    ///
    /// # Errors
    /// The file cannot be made or written.
    pub fn freeze(&mut self, folder: &Path) -> io::Result<()> {
        if self.old.is_none() {
            self.old = Some(tempfile::tempfile_in(folder)?);
        }
        let mut bytes = Vec::with_capacity(BYTES * self.young.len());
        for (size, parities) in &self.young {
            bytes.extend_from_slice(&size.to_le_bytes());
            bytes.extend(parities.iter().flat_map(|word| word.to_le_bytes()));
        }
        let file = self.old.as_mut().expect("was made");
        // Also after a failed write, wherever it ended.
        file.seek(SeekFrom::Start((BYTES * self.frozen) as u64))?;
        file.write_all(&bytes)?;
        self.frozen += self.young.len();
        self.young = Vec::new();
        // It may have been the last block, and short.
        self.number = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_from_memory_and_from_the_file() {
        let (folder, mut outlines) = (tempfile::tempdir().unwrap(), Outlines::default());
        let outline = |number: u32| (number, [u64::from(number), 1, u64::MAX - u64::from(number), 7]);
        for number in 0..1_000 {
            outlines.push(outline(number));
            if [0, 50, 113, 114, 700].contains(&number) {
                assert_eq!(outlines.get(number / 2).unwrap(), outline(number / 2));
                outlines.freeze(folder.path()).unwrap();
            }
        }
        for number in (0..1_000).chain([3, 999, 112, 113, 0]) {
            assert_eq!(outlines.get(number).unwrap(), outline(number));
        }
    }
}
