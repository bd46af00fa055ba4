//! How large a machine must be: the memory and the temporary files of a scan, and the memory of an index, for a number of documents.

use neardups::algorithm::StoredFeatures;
use neardups::index::bytes_in_memory;

/// What a process takes however few documents there are, and for each: as `--memory` says.
const BYTES_OF_PROCESS: f64 = 100e6;
const BYTES_A_DOCUMENT: f64 = 70.0;

/// What the list of documents takes of these, with ids of usual length: it counts when keys are moved to a file.
const BYTES_LISTED: f64 = 60.0;

/// Documents and their features, whose number is known or estimated.
pub struct Collection {
    /// The number of documents.
    pub documents: f64,
    /// Features of all documents, where features are compared.
    pub features: f64,
    /// Bytes of the keys of all documents.
    pub keys: f64,
}

impl Collection {
    /// Bytes of memory that a scan takes at most: what `--memory` promises.
    pub fn memory(&self, allowed: f64) -> f64 {
        BYTES_OF_PROCESS + BYTES_A_DOCUMENT * self.documents + (self.keys + 8.0 * self.features).min(allowed)
    }

    /// Bytes of temporary files of a scan, if this share of the documents (0 to 1) has an earlier one at .5 or more.
    ///
    /// Features go to a file if all of them take more than half of the memory, and those of the candidates, some 1.2 times the share, too.
    /// (Of the two larger corpora of the benchmarks, .20 and .28 had an earlier one.) A quarter of the memory is for the first of them:
    /// those that are written because they share some keys with an earlier one, about half of the share, fit it if the candidates fit half.
    /// Keys go there if they do not fit half of the memory beside the list of documents.
    pub fn temporary(&self, allowed: f64, share: f64) -> f64 {
        let features = 8.0 * self.features;
        let candidates = features * (1.2 * share).min(1.0);
        let sets = if candidates <= allowed / 2.0 { 0.0 } else { candidates };
        let sets = (sets - allowed / 4.0).max(0.0);
        let listed = BYTES_LISTED * self.documents;
        sets + if self.keys > 0.0 && listed + self.keys > allowed / 2.0 { self.keys } else { 0.0 }
    }
}

/// The least `--memory` of an index of so many documents, rounded up to what is printed of it.
pub fn memory_of_index(documents: u64, stored: StoredFeatures) -> f64 {
    let bytes = bytes_in_memory(stored, documents) as f64;
    let unit = 1024f64.powi(bytes.log(1024.0).floor() as i32);
    ((10.0 * bytes / unit).ceil() * unit / 10.0).ceil()
}

/// The memory of the process of a filter with an index, at most, but for a multiple of its largest record.
pub fn memory_of_filter(documents: u64, allowed: f64) -> f64 {
    BYTES_OF_PROCESS + BYTES_A_DOCUMENT * documents as f64 + allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = (1 << 20) as f64;

    /// `main` of the benchmarks: 100,000 documents, 23.3 million features of 8 bytes, 12.8 MB of keys.
    #[test]
    fn what_does_not_fit_goes_to_files() {
        let main = Collection { documents: 100_000.0, features: 23_300_000.0, keys: 12_800_000.0 };
        let of = |memory: f64| main.temporary(memory * MIB, 0.2) / 1e6;
        assert_eq!(of(1024.0), 0.0);
        // The candidates, 44.736 MB, fit half of 128 MiB, and a quarter of 64 is for their features.
        assert_eq!((of(128.0), of(64.0)), (0.0, 27.958784));
        // Candidates and keys.
        assert_eq!(of(32.0), 49.147392);
        // Of documents that are all similar, everything.
        assert_eq!(main.temporary(MIB, 0.9), 186_400_000.0 - 262_144.0 + 12_800_000.0);
    }

    #[test]
    fn memory_is_what_is_promised() {
        let collection = Collection { documents: 1e6, features: 217e6, keys: 128e6 };
        assert_eq!(collection.memory(1e9), 100e6 + 70e6 + 1e9);
        assert_eq!(collection.memory(1e10), 100e6 + 70e6 + 128e6 + 8.0 * 217e6);
        // 7 million documents take 33.8 bytes each, of which 16 keys take 12 bits each, and 1/32 of a byte for the places of their pages.
        assert_eq!(memory_of_index(7_000_000, StoredFeatures { features: 213, keys: 16 }), (257.9 * MIB).ceil());
        assert_eq!(memory_of_filter(1_000_000, 35e6), 205e6);
    }
}
