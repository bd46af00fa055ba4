//! The features that many documents have, counted exactly, in memory that does not grow with the number of features.

use crate::error::Error;
use crate::postings::Sorter;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// In how many documents each feature is, counted on all threads.
///
/// A table of fixed size has the features that come first. Each of the others goes to a list once for every document that has
/// it: in memory, or beyond some in a temporary file. No place of the table becomes free again, so that a feature that found
/// none does not find one later: it is in the table or in the list, and not in both.
pub(super) struct FrequentFeatures {
    /// Their number is a power of two.
    places: Box<[Place]>,
    /// How many documents have the feature 0, which has no place.
    zero: AtomicU32,
    others: Mutex<Sorter<1>>,
    memory: u64,
}

/// A feature, and how many documents have it; 0 if the place is free.
#[derive(Default)]
struct Place {
    feature: AtomicU64,
    documents: AtomicU32,
}

/// The least memory of the table, in bytes. Tests use less, so that few features do not fit.
const LEAST_BYTES: u64 = if cfg!(test) { 1 << 16 } else { 4 << 20 };

/// The memory of the result, in bytes, that is always allowed.
const LEAST_RESULT: u64 = 8 << 20;

/// The number of places where a feature can be.
const PROBED: usize = 16;

impl FrequentFeatures {
    /// None yet. There are two places for each of `most` features, in up to a sixteenth of `memory`, in bytes; an eighth is for the
    /// others. A file is made in `folder`, or in the system's folder.
    pub fn new(most: u64, memory: u64, folder: Option<&Path>) -> Self {
        let at_most = (memory / 16).max(LEAST_BYTES) / size_of::<Place>() as u64;
        let places = most.saturating_mul(2).clamp(PROBED as u64, 1 << at_most.ilog2()).next_power_of_two();
        FrequentFeatures {
            places: (0..places).map(|_| Place::default()).collect(),
            zero: AtomicU32::new(0),
            others: Mutex::new(Sorter::new("features", memory / 8, folder)),
            memory,
        }
    }

    /// Counts the features of a document, from any thread. Each must be given once.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&self, features: &[u64]) -> Result<(), Error> {
        let mut others: Option<MutexGuard<'_, Sorter<1>>> = None;
        for &feature in features {
            match self.count_of(feature) {
                Some(count) => _ = count.fetch_add(1, Ordering::Relaxed),
                None => {
                    let lock = || self.others.lock().unwrap_or_else(PoisonError::into_inner);
                    others.get_or_insert_with(lock).push([feature])?;
                }
            }
        }
        Ok(())
    }

    /// The count of a feature, which has a place from now on; `None` if there is none for it.
    #[inline]
    fn count_of(&self, feature: u64) -> Option<&AtomicU32> {
        if feature == 0 {
            return Some(&self.zero);
        }
        // Multiplied, so that features need not be hashes.
        let home = (feature.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        for step in 0..PROBED {
            let place = &self.places[(home + step) & (self.places.len() - 1)];
            let mut found = place.feature.load(Ordering::Relaxed);
            if found == 0 {
                let taken = place.feature.compare_exchange(0, feature, Ordering::Relaxed, Ordering::Relaxed);
                // Another thread may have come first, with this feature or with another one.
                found = taken.map_or_else(|other| other, |_| feature);
            }
            if found == feature {
                return Some(&place.documents);
            }
        }
        None
    }

    /// The features that at least `least` documents have, ascending.
    ///
    /// # Errors
    /// They take more than an eighth of the memory and 8 MiB, or the file cannot be read.
    pub fn of_at_least(self, least: u32) -> Result<Vec<u64>, Error> {
        let (least, memory) = (least.max(1), self.memory);
        let most = (memory / 8).max(LEAST_RESULT) as usize / size_of::<u64>();
        let mut frequent = Vec::new();
        let mut add = |feature: u64, documents: u32| {
            if documents >= least {
                frequent.push(feature);
            }
            match frequent.len() > most {
                true => Err(Error::Full(format!(
                    "more than {most} features that at least {least} documents have do not fit `memory` ({memory} bytes): allow more"
                ))),
                false => Ok(()),
            }
        };
        add(0, self.zero.into_inner())?;
        self.places.into_iter().try_for_each(|place| add(place.feature.into_inner(), place.documents.into_inner()))?;
        let (mut last, mut documents) = (0, 0);
        self.others.into_inner().unwrap_or_else(PoisonError::into_inner).for_each(|&[feature]| {
            if feature != last {
                add(last, documents)?;
                (last, documents) = (feature, 0);
            }
            documents += 1;
            Ok(())
        })?;
        add(last, documents)?;
        frequent.sort_unstable();
        Ok(frequent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use std::collections::BTreeMap;

    /// Documents with features that few and many of them have, more of them than the smallest table has places, and 0.
    fn documents() -> Vec<Vec<u64>> {
        let own = |document: u64| (0..200).map(move |n| mix(1_000_000 + document * 150 + n));
        let shared = |document: u64| (0..300).filter(move |n| (document * 7 + n) % 300 < *n).map(mix);
        let document =
            |document: u64| own(document).chain(shared(document)).chain(document.is_multiple_of(3).then_some(0));
        (0..300).map(|number| document(number).collect()).collect()
    }

    #[test]
    fn counts_are_those_of_a_map_whatever_fits() {
        let documents = documents();
        let mut map: BTreeMap<u64, u32> = BTreeMap::new();
        documents.iter().flatten().for_each(|&feature| *map.entry(feature).or_default() += 1);
        assert!(map.len() as u64 * size_of::<Place>() as u64 > 2 * LEAST_BYTES);
        for (most, spills) in [(0, true), (100, true), (map.len() as u64, false), (u64::MAX, false)] {
            let memory = if spills { 0 } else { 1 << 30 };
            for least in [1, 2, 3, 60, 100, 301] {
                let counted = FrequentFeatures::new(most, memory, None);
                std::thread::scope(|scope| {
                    for part in documents.chunks(75) {
                        let counted = &counted;
                        scope.spawn(move || part.iter().for_each(|document| counted.add(document).unwrap()));
                    }
                });
                assert_eq!(counted.others.lock().unwrap().bytes_spilled() > 0, spills);
                let expected: Vec<u64> =
                    map.iter().filter(|(_, documents)| **documents >= least).map(|(&feature, _)| feature).collect();
                assert_eq!(counted.of_at_least(least).unwrap(), expected, "{least} of {most}");
            }
        }
    }

    #[test]
    fn a_result_that_does_not_fit_is_an_error() {
        let counted = FrequentFeatures::new(0, 0, None);
        counted.add(&(0..LEAST_RESULT / 8 + 1).map(mix).collect::<Vec<_>>()).unwrap();
        let message = counted.of_at_least(1).unwrap_err().to_string();
        assert!(message.contains("features that at least 1 documents have do not fit `memory` (0 bytes)"), "{message}");
    }
}
