//! The block tables that find fingerprints within a distance.

use super::layout::Layout;
use crate::hash::{combine, mix};

/// The tables of a [`Layout`]: which bits of a fingerprint make its key in each of them.
#[derive(Clone, Debug)]
pub struct BlockTables {
    /// For each table, the bits that make its key: one mask a word.
    pub(super) masks: Vec<Vec<u64>>,
}

impl BlockTables {
    /// The tables of a layout.
    pub fn of(layout: &Layout) -> Self {
        BlockTables { masks: layout.masks() }
    }

    /// Tables for one level of `blocks` blocks.
    ///
    /// # Panics
    /// Unless `distance < blocks <= bits`.
    pub fn new(bits: usize, blocks: usize, distance: usize) -> Self {
        Self::of(&Layout::one_level(bits, distance, blocks))
    }

    /// Returns the number of tables.
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// Returns false: there is at least one table.
    pub fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }

    /// Returns the number of bits of a table's key.
    pub fn key_bits(&self, table: usize) -> u32 {
        self.masks[table].iter().map(|mask| mask.count_ones()).sum()
    }

    /// Returns the key of a fingerprint in a table: a hash of the chosen bits and the table's number.
    #[inline]
    pub fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        let chosen = self.masks[table].iter().zip(fingerprint).map(|(mask, word)| mask & word);
        chosen.fold(mix(table as u64 + 1), combine)
    }

    /// Returns whether two fingerprints agree in the bits that make their key in a table.
    #[inline]
    pub fn share_key(&self, a: &[u64], b: &[u64], table: usize) -> bool {
        self.masks[table].iter().zip(a.iter().zip(b)).all(|(mask, (x, y))| (x ^ y) & mask == 0)
    }
}
