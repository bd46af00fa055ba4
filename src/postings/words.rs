//! Words of eight bytes, in files.

/// Appends a word.
pub(crate) fn put(out: &mut Vec<u8>, word: u64) {
    out.extend_from_slice(&word.to_le_bytes());
}

/// The words of a buffer, from its start to its end.
pub(crate) struct Words<'a>(&'a [[u8; 8]]);

impl<'a> Words<'a> {
    /// Bytes after the last whole word are ignored.
    pub fn new(bytes: &'a [u8]) -> Self {
        Words(bytes.as_chunks().0)
    }

    /// The next word, if there is one.
    pub fn next(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    /// The next word, if it is below 2³².
    pub fn next_u32(&mut self) -> Option<u32> {
        self.next()?.try_into().ok()
    }

    /// The next `count` words, if there are so many.
    pub fn take(&mut self, count: usize) -> Option<impl ExactSizeIterator<Item = u64> + use<'a>> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first.iter().map(|&word| u64::from_le_bytes(word)))
    }

    /// The next word, and as many words as it says.
    pub fn list(&mut self) -> Option<impl ExactSizeIterator<Item = u64> + use<'a>> {
        let count = self.next()?.try_into().ok()?;
        self.take(count)
    }

    /// All words that are left.
    pub fn rest(self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.0.iter().map(|&word| u64::from_le_bytes(word))
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
