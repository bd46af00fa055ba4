//! The keys of a fixed number of tables, stored table by table: in memory, or beyond a limit in a temporary file.
//!
//! A block holds the keys of the documents of one part: `tables × documents` words, those of one table side by side.
//! Grouping reads one table across all blocks; verification reads all keys of single documents.

use crate::error::Error;
use crate::postings::{Buffer, Spilled};
use std::path::Path;

/// The keys of every document, in input order.
pub(super) struct Columns {
    tables: usize,
    blocks: Vec<Block>,
    /// The blocks in memory, back to back: the last ones.
    held: Vec<u64>,
    file: Option<Spilled>,
}

struct Block {
    /// The number of its first document, and how many there are.
    first: u32,
    documents: u32,
    words: Words,
}

enum Words {
    /// In memory, from this word on.
    Held(usize),
    /// In the file, from this byte on.
    Written(u64),
}

impl Columns {
    /// No documents yet.
    pub fn new(tables: usize) -> Self {
        Columns { tables, blocks: Vec::new(), held: Vec::new(), file: None }
    }

    /// How many tables there are.
    pub fn tables(&self) -> usize {
        self.tables
    }

    /// Bytes of keys in memory.
    pub fn bytes_held(&self) -> u64 {
        8 * self.held.len() as u64
    }

    /// Bytes of keys in the temporary file.
    pub fn bytes_spilled(&self) -> u64 {
        self.file.as_ref().map_or(0, Spilled::bytes)
    }

    /// Adds the documents of a part, whose keys were put in order by [`transposed`]. After a call of
    /// [`spill`](Self::spill), they go to the file.
    ///
    /// # Errors
    /// The disk is full.
    pub fn push(&mut self, words: &[u64]) -> Result<(), Error> {
        let documents = (words.len() / self.tables) as u32;
        let first = self.blocks.last().map_or(0, |block| block.first + block.documents);
        let at = match &mut self.file {
            Some(file) => Words::Written(file.append(words)?),
            None => {
                self.held.extend_from_slice(words);
                Words::Held(self.held.len() - words.len())
            }
        };
        self.blocks.push(Block { first, documents, words: at });
        Ok(())
    }

    /// Moves the blocks in memory to a temporary file in `folder`, or in the system's.
    ///
    /// # Errors
    /// The file cannot be made, or the disk is full.
    pub fn spill(&mut self, folder: Option<&Path>) -> Result<(), Error> {
        if self.file.is_some() {
            return Ok(());
        }
        let mut file = Spilled::new("keys", folder)?;
        for block in &mut self.blocks {
            if let Words::Held(at) = block.words {
                let length = self.tables * block.documents as usize;
                block.words = Words::Written(file.append(&self.held[at..at + length])?);
            }
        }
        self.held = Vec::new();
        self.file = Some(file);
        Ok(())
    }

    /// Passes the keys of a table to a function, block by block, each with the number of its first document.
    ///
    /// # Errors
    /// The temporary file cannot be read back.
    pub fn table(&self, table: usize, mut each: impl FnMut(u32, &[u64])) -> Result<(), Error> {
        let mut buffer = Buffer::default();
        for block in &self.blocks {
            let (from, documents) = (table * block.documents as usize, block.documents as usize);
            each(block.first, self.words(block, from, documents, &mut buffer)?);
        }
        Ok(())
    }

    /// The keys of these documents, which must ascend: for each, those of all tables side by side.
    ///
    /// # Errors
    /// The temporary file cannot be read back.
    pub fn rows(&self, documents: impl Iterator<Item = u32>) -> Result<Vec<u64>, Error> {
        let (mut documents, mut rows, mut buffer) = (documents.peekable(), Vec::new(), Buffer::default());
        for block in &self.blocks {
            let (stride, end) = (block.documents as usize, block.first + block.documents);
            if documents.peek().is_none_or(|&document| document >= end) {
                continue;
            }
            let words = self.words(block, 0, self.tables * stride, &mut buffer)?;
            while let Some(document) = documents.next_if(|&document| document < end) {
                let at = (document - block.first) as usize;
                rows.extend((0..self.tables).map(|table| words[table * stride + at]));
            }
        }
        rows.shrink_to_fit();
        Ok(rows)
    }

    fn words<'a>(
        &'a self,
        block: &'a Block,
        from: usize,
        count: usize,
        buffer: &'a mut Buffer,
    ) -> Result<&'a [u64], Error> {
        match (&block.words, &self.file) {
            (Words::Held(at), _) => Ok(&self.held[at + from..][..count]),
            (Words::Written(start), Some(spilled)) => spilled.read(start + 8 * from as u64, count, buffer),
            (Words::Written(_), None) => unreachable!("what was written is in the file"),
        }
    }
}

/// Reorders keys from one document after the other to the order of a block: one table after the other.
pub(super) fn transposed(rows: &[u64], tables: usize) -> Vec<u64> {
    let documents = rows.len() / tables;
    let mut words = Vec::with_capacity(rows.len());
    for table in 0..tables {
        words.extend((0..documents).map(|document| rows[document * tables + table]));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of these sizes; the key of a document in a table is `100 × document + table`.
    fn filled(parts: &[u32], spill_after: Option<usize>) -> Columns {
        let mut columns = Columns::new(3);
        let mut document = 0u64;
        for (number, &documents) in parts.iter().enumerate() {
            let rows: Vec<u64> =
                (document..document + u64::from(documents)).flat_map(|d| [100 * d, 100 * d + 1, 100 * d + 2]).collect();
            columns.push(&transposed(&rows, 3)).unwrap();
            document += u64::from(documents);
            if spill_after == Some(number) {
                columns.spill(None).unwrap();
            }
        }
        columns
    }

    #[test]
    fn keys_come_back_from_memory_and_from_the_file() {
        let parts = [2, 0, 5, 1];
        for spill_after in [None, Some(0), Some(2), Some(3)] {
            let columns = filled(&parts, spill_after);
            assert_eq!(columns.bytes_held() + columns.bytes_spilled(), 8 * 3 * 8);
            assert_eq!(columns.bytes_spilled() > 0, spill_after.is_some());
            for table in 0..3 {
                let mut seen = Vec::new();
                columns
                    .table(table, |first, keys| {
                        assert_eq!(first as usize, seen.len());
                        seen.extend_from_slice(keys);
                    })
                    .unwrap();
                assert_eq!(seen, (0..8).map(|d| 100 * d + table as u64).collect::<Vec<_>>());
            }
            assert_eq!(
                columns.rows([1, 2, 6, 7].into_iter()).unwrap(),
                [100, 101, 102, 200, 201, 202, 600, 601, 602, 700, 701, 702]
            );
            assert!(columns.rows(std::iter::empty()).unwrap().is_empty());
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let mut columns = Columns::new(1);
        columns.push(&[1, 2]).unwrap();
        let message = columns.spill(Some(Path::new("/no/such/folder"))).unwrap_err().to_string();
        assert!(message.starts_with("cannot write keys to a temporary file in /no/such/folder "), "{message}");
    }
}
