//! Helpers for ASCII text.

/// The number of ASCII bytes at the start.
pub(super) fn ascii_prefix(bytes: &[u8]) -> usize {
    let (chunks, _) = bytes.as_chunks::<16>();
    let whole = 16 * chunks.iter().take_while(|chunk| chunk.is_ascii()).count();
    whole + bytes[whole..].iter().take_while(|b| b.is_ascii()).count()
}

/// Whether the next bytes are ASCII, enough of them to leave the path character by character.
#[inline]
pub(super) fn turns_ascii(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes[..bytes.len().min(16)].is_ascii()
}

/// Whether `b` is a white-space character of ASCII, vertical tab included.
#[inline]
pub(super) fn is_white(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_is_that_of_unicode() {
        for b in 0..=0x7f {
            assert_eq!(is_white(b), char::from(b).is_whitespace());
        }
    }

    proptest! {
        #[test]
        fn the_prefix_is_that_of_the_plain_loop(bytes in prop::collection::vec(any::<u8>(), 0..70)) {
            prop_assert_eq!(ascii_prefix(&bytes), bytes.iter().take_while(|b| b.is_ascii()).count());
        }
    }
}
