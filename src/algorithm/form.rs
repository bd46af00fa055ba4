//! The written form of a fingerprint, which other programs can store and compare.

use std::fmt::Write as _;

/// What the written fingerprint of a document consists of. It is hexadecimal, in lower case, without separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FingerprintForm {
    /// The words of the fingerprint, 16 digits each: slots, supershingles or digests, in their order.
    Words,
    /// This many bits. Every 64 bits are a word of 16 digits, the highest bit first; the last word has only the digits
    /// that its bits need. The distance of two fingerprints is the number of ones in their exclusive or.
    Bits(usize),
    /// What the algorithm compares, 16 digits each: the hashes of all features, ascending. Sets have no repeats. The
    /// fingerprint itself serves only to find candidates.
    Elements,
    /// As before, but only 44 bits of each hash, in 11 digits: what an index stores.
    StoredElements,
}

/// Hexadecimal digits of a word.
const DIGITS: usize = 16;
/// Hexadecimal digits of 44 bits.
const STORED_DIGITS: usize = 11;

impl FingerprintForm {
    /// Writes a fingerprint, or the elements if those are the form.
    ///
    /// ```
    /// use neardups::algorithm::FingerprintForm;
    ///
    /// assert_eq!(FingerprintForm::Words.write(&[1, 0xab]), "000000000000000100000000000000ab");
    /// assert_eq!(FingerprintForm::Bits(32).write(&[0xc0ffee]), "00c0ffee");
    /// assert_eq!(FingerprintForm::Bits(32).read("00c0ffee"), Some(vec![0xc0ffee]));
    /// ```
    pub fn write(self, words: &[u64]) -> String {
        let mut hex = String::with_capacity(DIGITS * words.len());
        for (at, word) in words.iter().enumerate() {
            let digits = self.digits(at);
            _ = write!(hex, "{word:0digits$x}");
        }
        hex
    }

    /// Reads what [`write`](Self::write) wrote. `None` if it is not in this form.
    pub fn read(self, hex: &str) -> Option<Vec<u64>> {
        if !hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        let (mut words, mut rest) = (Vec::with_capacity(hex.len() / DIGITS), hex);
        while !rest.is_empty() {
            let (word, after) = rest.split_at_checked(self.digits(words.len()))?;
            words.push(u64::from_str_radix(word, 16).ok()?);
            rest = after;
        }
        let is_whole = !matches!(self, FingerprintForm::Bits(bits) if words.len() != bits.div_ceil(64));
        is_whole.then_some(words)
    }

    /// The digits of the word at this position.
    fn digits(self, at: usize) -> usize {
        match self {
            FingerprintForm::Bits(bits) => bits.saturating_sub(64 * at).clamp(4, 64).div_ceil(4),
            FingerprintForm::Words | FingerprintForm::Elements => DIGITS,
            FingerprintForm::StoredElements => STORED_DIGITS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_text_is_no_fingerprint() {
        let bits = FingerprintForm::Bits(96);
        assert_eq!(bits.write(&[1, 2]), "000000000000000100000002");
        for wrong in ["", "0000000000000001", "00000000000000010000002", "0000000000000001000000020", "0x"] {
            assert_eq!(bits.read(wrong), None, "{wrong}");
        }
        assert_eq!(FingerprintForm::Words.read(""), Some(vec![]));
        assert_eq!(FingerprintForm::StoredElements.write(&[1, (1 << 44) - 1]), "00000000001fffffffffff");
        assert_eq!(FingerprintForm::StoredElements.read("00000000001fffffffffff"), Some(vec![1, (1 << 44) - 1]));
        for wrong in ["00", "000000000000000G", "+000000000000001", "000000000000000A", "é00000000000000"] {
            assert_eq!(FingerprintForm::Words.read(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(words in proptest::collection::vec(any::<u64>(), 1..5)) {
            let last = words.len() - 1;
            for form in [FingerprintForm::Words, FingerprintForm::Elements, FingerprintForm::Bits(64 * words.len())] {
                let hex = form.write(&words);
                prop_assert_eq!(hex.len(), 16 * words.len());
                prop_assert_eq!(form.read(&hex), Some(words.clone()));
            }
            let mut halved = words.clone();
            halved[last] &= u64::from(u32::MAX);
            let form = FingerprintForm::Bits(64 * last + 32);
            prop_assert_eq!(form.read(&form.write(&halved)), Some(halved));
        }
    }
}
