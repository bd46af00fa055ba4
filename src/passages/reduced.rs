//! Ranges that many threads find, of which some make others superfluous.

use super::text::BYTES_BESIDE;
use crate::error::Error;

/// The least number of ranges that are reduced. Tests use fewer, so that few ranges are reduced often.
const LEAST: usize = if cfg!(test) { 4 } else { 1 << 12 };

/// Reduces ranges that one thread found in a group if they are more than twice as many as were left before. `most` is 0 at first.
pub(super) fn reduce_beyond<T>(found: &mut Vec<T>, most: &mut usize, reduce: fn(&mut Vec<T>)) {
    if found.len() > (*most).max(LEAST) {
        reduce(found);
        *most = 2 * found.len();
    }
}

/// The number of values that fit a quarter of this memory and [`BYTES_BESIDE`].
pub(super) fn most_in<T>(memory: u64) -> usize {
    let most = (memory / 4).saturating_add(BYTES_BESIDE) / size_of::<T>() as u64;
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// The error that more than these fit no memory: places of passages, or what else was found.
pub(super) fn too_many(most: usize, what: &str) -> Error {
    let message = format!("more than {most} {what} do not fit `memory`");
    Error::Full(format!("{message}: allow more, or raise `min-words` so that fewer are found"))
}

/// What most bounds are about.
pub(super) const PLACES: &str = "places of passages";

/// Ranges within a bound of memory.
pub(super) struct Reduced<T> {
    found: Vec<T>,
    reduce: fn(&mut Vec<T>),
    most: usize,
}

impl<T> Reduced<T> {
    /// None yet. Once they exceed a quarter of this memory and [`BYTES_BESIDE`], `reduce` removes those that others make superfluous. It
    /// runs under the lock of the caller, so it must not use other threads.
    pub fn new(memory: u64, reduce: fn(&mut Vec<T>)) -> Self {
        Reduced { found: Vec::new(), reduce, most: most_in::<T>(memory) }
    }

    /// Takes what was found.
    ///
    /// # Errors
    /// Even without those that are superfluous, they take more than half of the bound.
    ///
    /// # Cost
    /// Constant for each, and at most one reduction for as many as half of the bound.
    pub fn append(&mut self, found: &mut Vec<T>) -> Result<(), Error> {
        self.found.append(found);
        if self.found.len() <= self.most { Ok(()) } else { self.check() }
    }

    /// All of them, in no order; some can be superfluous.
    ///
    /// # Errors
    /// As for [`append`](Self::append), in whatever order they were found.
    pub fn finish(mut self) -> Result<Vec<T>, Error> {
        if self.found.len() > self.most / 2 {
            self.check()?;
        }
        Ok(self.found)
    }

    fn check(&mut self) -> Result<(), Error> {
        (self.reduce)(&mut self.found);
        let most = self.most / 2;
        if self.found.len() <= most { Ok(()) } else { Err(too_many(most, PLACES)) }
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
        let mut found = reduced.finish().unwrap();
        distinct(&mut found);
        assert_eq!(found.len() as u64, most / 2);
        let mut reduced = Reduced::new(0, distinct);
        let refused = (0..2 * most).find_map(|number| Some((number, reduced.append(&mut vec![[number; 1024]]).err()?)));
        let (number, error) = refused.unwrap();
        assert_eq!(number, most);
        let message = format!("more than {} places of passages do not fit", most / 2);
        assert!(error.to_string().contains(&message), "{error}");
        let mut reduced = Reduced::new(0, distinct);
        (0..=most / 2).for_each(|number| reduced.append(&mut vec![[number; 1024]]).unwrap());
        assert_eq!(reduced.finish().unwrap_err().to_string(), error.to_string());
    }
}
