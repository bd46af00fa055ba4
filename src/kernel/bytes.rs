//! Words as bytes.

use std::borrow::Cow;

/// Returns the bytes of the words, the lowest byte of each first.
///
/// Cost: none where the processor has them in this order; otherwise a copy.
#[inline]
pub fn of_words(words: &[u64]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        // SAFETY: the words are as many bytes, all of them initialised, of which none needs an alignment; they are borrowed as long.
        Cow::Borrowed(unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) })
    } else {
        Cow::Owned(plain(words))
    }
}

/// Fills words from bytes, the lowest byte of each first: `fill` gets the bytes, and the error is its own.
#[inline]
pub fn fill_words<E>(words: &mut [u64], fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<(), E> {
    // SAFETY: the words are as many bytes, all of them initialised, of which none needs an alignment; whatever is written, they are words;
    // they are borrowed as long.
    fill(unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) })?;
    words.iter_mut().for_each(|word| *word = u64::from_le(*word));
    Ok(())
}

fn plain(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_those_of_each_word(words in prop::collection::vec(any::<u64>(), 0..40)) {
            prop_assert_eq!(of_words(&words), plain(&words));
        }

        #[test]
        fn words_are_those_of_eight_bytes_each(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let (eights, _) = bytes.as_chunks::<8>();
            let expected: Vec<u64> = eights.iter().map(|&eight| u64::from_le_bytes(eight)).collect();
            let mut words = vec![7; eights.len()];
            let fill = |to: &mut [u8]| -> Result<(), ()> {
                to.copy_from_slice(eights.as_flattened());
                Ok(())
            };
            prop_assert_eq!(fill_words(&mut words, fill), Ok(()));
            prop_assert_eq!(words, expected);
            prop_assert_eq!(fill_words(&mut [], |_| Err(3)), Err(3));
        }
    }
}
