//! Ranges that many threads find, of which some make others superfluous.

use super::text::BYTES_BESIDE;
use crate::error::Error;

/// The least number of ranges that are reduced.
const LEAST: usize = 1 << 12;

/// Reduces ranges that one thread found if they are more than twice as many as were left before. `most` is 0 at first.
pub(super) fn reduce_beyond<T>(found: &mut Vec<T>, most: &mut usize, reduce: fn(&mut Vec<T>)) {
    if found.len() > (*most).max(LEAST) {
        reduce(found);
        *most = 2 * found.len();
    }
}

/// Ranges within a bound of memory.
pub(super) struct Reduced<T> {
    found: Vec<T>,
    reduce: fn(&mut Vec<T>),
    most: usize,
}

impl<T> Reduced<T> {
    /// None yet. When they do not fit a quarter of this memory, those are removed that others make superfluous: `reduce` does it. It must
    /// not wait for other threads, because these wait for it.
    pub fn new(memory: u64, reduce: fn(&mut Vec<T>)) -> Self {
        let most = (memory / 4).saturating_add(BYTES_BESIDE) / size_of::<T>() as u64;
        Reduced { found: Vec::new(), reduce, most: usize::try_from(most).unwrap_or(usize::MAX) }
    }

    /// Takes what was found.
    ///
    /// # Errors
    /// Even without those that are superfluous, they take more than half of the memory.
    ///
    /// # Cost
    /// Constant for each, and a reduction after as many as fit half of the memory.
    pub fn append(&mut self, found: &mut Vec<T>) -> Result<(), Error> {
        self.found.append(found);
        if self.found.len() <= self.most {
            return Ok(());
        }
        (self.reduce)(&mut self.found);
        if self.found.len() <= self.most / 2 {
            return Ok(());
        }
        let message = "the places of passages do not fit `memory`: allow more, or ask for more words";
        Err(Error::Full(format!("{message} ({} found)", self.found.len())))
    }

    /// All of them, in no order; some can be superfluous.
    pub fn into_vec(self) -> Vec<T> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superfluous_ranges_take_no_memory() {
        let distinct = |found: &mut Vec<[u64; 1024]>| {
            found.sort_unstable();
            found.dedup();
        };
        let most = BYTES_BESIDE / 8192;
        let mut reduced = Reduced::new(0, distinct);
        for number in 0..10 * most {
            reduced.append(&mut vec![[number % (most / 2); 1024]]).unwrap();
            assert!(reduced.found.len() as u64 <= most);
        }
        let mut found = reduced.into_vec();
        distinct(&mut found);
        assert_eq!(found.len() as u64, most / 2);
        let mut reduced = Reduced::new(0, distinct);
        let refused = (0..2 * most).find_map(|number| Some((number, reduced.append(&mut vec![[number; 1024]]).err()?)));
        let (number, error) = refused.unwrap();
        assert_eq!(number, most);
        assert!(
            error.to_string().contains(&format!("allow more, or ask for more words ({} found)", most + 1)),
            "{error}"
        );
    }
}
