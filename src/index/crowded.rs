//! Crowded keys: those that so many documents have that not all are compared.

use crate::hamming::Layout;

/// The maximum number of documents under a key that are compared: the latest ones.
///
/// An algorithm that compares fingerprints compares all of them instead, if the index has few enough: none is missed. In a
/// larger index it also compares those with the same fingerprint, so that copies are found. Where keys are so short that it
/// [takes less time](Layout::compares_all), it compares all fingerprints in any case.
pub const MOST_OF_A_KEY: usize = 1 << 14;

/// The maximum number of words of fingerprints that are compared one by one with that of a document whose keys are
/// crowded: 16 MiB of them, which takes no longer than the documents of a few crowded keys.
pub(super) const MOST_WORDS: usize = 1 << 21;

/// Returns a warning if keys of these tables will be crowded in an index of this many documents, and near-duplicates
/// missed; `None` if not. Fingerprints are taken to be random: those of similar documents are more crowded.
pub fn crowded_keys(layout: &Layout, documents: u64) -> Option<String> {
    let n = documents as f64;
    let words = n * layout.bits().div_ceil(64) as f64;
    let of_a_key = layout.candidates_of_a_probe(n);
    let are_crowded = of_a_key > MOST_OF_A_KEY as f64 && words > MOST_WORDS as f64 && !layout.compares_all(n);
    are_crowded.then(|| {
        format!(
            "an index of {documents} documents will have crowded keys: of about {of_a_key:.0} documents under a key only the \
             latest {MOST_OF_A_KEY} are compared, and near-duplicates will be missed; a smaller distance or more bits make \
             longer keys"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_crowded_if_too_many_documents_have_one_and_are_too_many_to_compare_all() {
        // Keys of 16 bits: 2³⁰ documents are 2¹⁴ a key.
        let four = Layout::one_level(64, 3, 4);
        assert_eq!([1, 1 << 30].map(|documents| crowded_keys(&four, documents)), [None, None]);
        assert!(crowded_keys(&four, (1 << 30) + (1 << 16)).is_some());
        // Keys of two bits are not looked up: each document is compared.
        let short = Layout::one_level(64, 31, 32);
        assert_eq!(short.key_bits_range(), (2, 2));
        for documents in [1 << 21, (1 << 21) + 1, 1 << 31] {
            assert_eq!(crowded_keys(&short, documents), None);
        }
        let warning = crowded_keys(&four, 1 << 31).unwrap();
        assert!(warning.contains("about 32768 documents under a key only the latest 16384"), "{warning}");
    }
}
