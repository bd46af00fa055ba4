//! The trait of tokenizers, and the buffer that tokens go into.

use super::normalise::Normalised;
use super::shortened::Shortened;
use crate::hash::{short_token_hash, token_hash};
use crate::kernel::words::Block;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Turns text into tokens.
///
/// The same text must always give the same tokens, on every platform. Canonically equivalent texts (NFC, NFD) should
/// give the same tokens too, and so should texts that differ only in [characters that do not
/// count](super#what-does-not-count).
pub trait Tokenizer: Send + Sync {
    /// The name, with every parameter that the tokens depend on (`char:4`). Two tokenizers with the same name must give
    /// the same tokens. An index and a lexicon store the name, and refuse tokens of other tokenizers.
    fn name(&self) -> Cow<'_, str>;

    /// Adds the tokens of `text` to `tokens`, in the order of the text. The library passes `tokens` empty. The tokenizers of this
    /// crate clear it first, so that one of them can be called again and again with the same buffer.
    fn tokenize(&self, text: &str, tokens: &mut Tokens);
}

impl dyn Tokenizer + '_ {
    /// Replaces `tokens` by the tokens of `text`: what a tokenizer leaves from the text before does not count.
    pub(crate) fn cut(&self, text: &str, tokens: &mut Tokens) {
        tokens.clear();
        self.tokenize(text, tokens);
    }
}

/// The data that a [`Tokens`] buffer keeps in addition to the hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenDetail {
    /// The 64-bit hashes alone: all that most fingerprints need, and the fastest.
    Hashes,
    /// Also each token's normalised text.
    Texts,
    /// Also each token's byte span in the original.
    Everything,
}

/// Working memory of a tokenizer that works on the tokens of another.
pub(super) trait Work: Any + Send + Sync {
    /// Bytes of memory, of what grows most.
    fn bytes_held(&self) -> usize;
}

/// The working memory that a buffer keeps, if any. It is not copied.
struct Working(Option<Box<dyn Work>>);

impl Clone for Working {
    fn clone(&self) -> Self {
        Working(None)
    }
}

impl fmt::Debug for Working {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Working").finish_non_exhaustive()
    }
}

/// Ranges of bytes: 8 bytes for each.
#[derive(Clone, Debug, Default)]
struct Places {
    /// Where each starts, and in the lower bits its length, or the maximum for a longer one.
    ranges: Vec<u64>,
    /// The numbers and the lengths of those longer ones.
    long: Vec<(usize, usize)>,
}

impl Places {
    /// The bits of the length.
    const BITS: u32 = 20;
    const LONG: u64 = (1 << Self::BITS) - 1;

    #[inline]
    fn push(&mut self, start: usize, end: usize) {
        let length = (end - start) as u64;
        if length >= Self::LONG {
            self.long.push((self.ranges.len(), end - start));
        }
        self.ranges.push((start as u64) << Self::BITS | length.min(Self::LONG));
    }

    /// Adds ranges that are shorter than the maximum.
    #[inline]
    fn extend_short(&mut self, ranges: impl Iterator<Item = Range<usize>>) {
        self.ranges.extend(ranges.map(|Range { start, end }| (start as u64) << Self::BITS | (end - start) as u64));
    }

    #[inline]
    fn get(&self, i: usize) -> Range<usize> {
        let range = self.ranges[i];
        let start = (range >> Self::BITS) as usize;
        let length = match range & Self::LONG {
            Self::LONG => self.length_of_long(i),
            length => length as usize,
        };
        start..start + length
    }

    #[cold]
    fn length_of_long(&self, i: usize) -> usize {
        self.long.binary_search_by_key(&i, |&(i, _)| i).map_or(0, |at| self.long[at].1)
    }

    fn clear(&mut self) {
        self.truncate(0);
    }

    fn truncate(&mut self, most: usize) {
        self.ranges.truncate(most);
        self.long.truncate(self.long.partition_point(|&(i, _)| i < most));
    }

    fn bytes_held(&self) -> usize {
        size_of::<u64>() * self.ranges.capacity()
    }
}

/// The tokens of one document: flat buffers, refilled for the next document and never shrunk.
#[derive(Clone, Debug)]
pub struct Tokens {
    detail: TokenDetail,
    seed: u64,
    hashes: Vec<u64>,
    /// Token texts in their order, possibly with other text in between. If only hashes are kept, it holds just the
    /// token being built.
    text: String,
    /// Where the token being built starts in `text`.
    start: usize,
    /// The position of each token in `text`.
    places: Places,
    spans: Vec<Range<usize>>,
    /// Memory for tokenizers that need more than one token at a time.
    pub(super) scratch: Normalised,
    /// Memory for tokenizers that remove characters before they cut.
    pub(super) shortened: Shortened,
    /// Memory for tokenizers that work on the tokens of another.
    work: Working,
    /// The maximum number of tokens, and whether a text had more, which were dropped.
    most: usize,
    is_beyond_bound: bool,
    /// Whether features may be made in their place.
    may_be_taken: bool,
}

impl Tokens {
    /// An empty buffer whose hashes are seeded with `seed`.
    pub fn new(detail: TokenDetail, seed: u64) -> Self {
        Tokens {
            detail,
            seed,
            hashes: Vec::new(),
            text: String::new(),
            start: 0,
            places: Places::default(),
            spans: Vec::new(),
            scratch: Normalised::default(),
            shortened: Shortened::default(),
            work: Working(None),
            most: usize::MAX,
            is_beyond_bound: false,
            may_be_taken: false,
        }
    }

    /// Bounds the number of tokens, approximately. Of a text with more, no tokens are kept.
    pub(crate) fn bound(&mut self, most: u64) {
        self.most = most.try_into().unwrap_or(usize::MAX);
        self.is_beyond_bound = false;
    }

    /// Whether a text had more tokens than allowed since the bound was set.
    pub(crate) fn is_beyond_bound(&self) -> bool {
        self.is_beyond_bound
    }

    /// The bound on the tokens of buffers that these tokens are made of: each takes several times as much.
    pub(super) fn bound_of_parts(&self) -> u64 {
        if self.most == usize::MAX { u64::MAX } else { self.most as u64 / 8 }
    }

    /// Notes whether a buffer that these tokens are made of had more than allowed.
    pub(super) fn pass_bound(&mut self, part: &Tokens) {
        self.is_beyond_bound |= part.is_beyond_bound;
    }

    /// Takes the working memory of a tokenizer out of the buffer; new memory if another tokenizer's is there.
    pub(super) fn take_work<W: Work + Default>(&mut self) -> Box<W> {
        let work: Option<Box<dyn Any>> = self.work.0.take().map(|work| work as Box<dyn Any>);
        work.and_then(|work| work.downcast().ok()).unwrap_or_default()
    }

    /// Keeps working memory for the next document.
    pub(super) fn keep_work(&mut self, work: Box<dyn Work>) {
        self.work.0 = Some(work);
    }

    /// Marks the tokens as not needed after features were made of them.
    pub(crate) fn allow_taking(&mut self) {
        self.may_be_taken = true;
    }

    /// Whether the tokens are not needed after features were made of them, because they take so much memory.
    pub(crate) fn may_be_taken(&self) -> bool {
        self.may_be_taken
    }

    /// Removes the tokens and returns their hashes, if they are not needed any more and take so much memory that features
    /// are better made in their place.
    pub fn take_hashes(&mut self) -> Option<Vec<u64>> {
        std::mem::take(&mut self.may_be_taken).then(|| {
            let hashes = std::mem::take(&mut self.hashes);
            self.clear();
            hashes
        })
    }

    /// Bytes of memory, of what grows most.
    pub(crate) fn bytes_held(&self) -> usize {
        let hashes = size_of::<u64>() * self.hashes.capacity();
        let work = self.work.0.as_ref().map_or(0, |work| work.bytes_held());
        let texts = self.text.capacity() + self.scratch.text.capacity() + self.shortened.text.capacity();
        hashes + self.places.bytes_held() + texts + work
    }

    /// Appends a hash. The bound is checked only where the vector would grow.
    #[inline]
    fn push_hash(&mut self, hash: u64) {
        if self.hashes.len() == self.hashes.capacity() {
            self.grow(1);
        }
        self.hashes.push(hash);
    }

    /// Makes room for more hashes, or drops all if they would be too many.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        if self.hashes.len() + more > self.most {
            self.is_beyond_bound = true;
            self.hashes.clear();
            self.places.clear();
            self.spans.clear();
            self.hashes.shrink_to(Block::LEN);
        }
        let double = self.hashes.len().min(self.most.saturating_sub(self.hashes.len()));
        self.hashes.reserve_exact(more.max(double).max(Block::LEN));
    }

    /// The data that is kept in addition to the hashes.
    pub fn detail(&self) -> TokenDetail {
        self.detail
    }

    /// Removes the tokens, keeps the memory.
    pub fn clear(&mut self) {
        self.may_be_taken = false;
        self.hashes.clear();
        self.text.clear();
        self.start = 0;
        self.places.clear();
        self.spans.clear();
    }

    /// Removes all but the first tokens.
    pub(super) fn truncate(&mut self, most: usize) {
        self.hashes.truncate(most);
        self.places.truncate(most);
        self.spans.truncate(most);
    }

    /// Appends a token: its normalised text and its byte span in the original. Nothing happens if the text is empty.
    #[inline]
    pub fn push(&mut self, text: &str, span: Range<usize>) {
        debug_assert!(!self.is_building(), "no token may be half built");
        if text.is_empty() {
            return;
        }
        self.push_hash(token_hash(text.as_bytes(), self.seed));
        if self.detail != TokenDetail::Hashes {
            self.text.push_str(text);
            self.keep_text(span);
        }
    }

    /// Appends the words of a block that starts at byte `at` of the text. The bits mark their starts and ends.
    #[inline]
    pub(super) fn push_words(&mut self, block: &Block, at: usize, mut starts: u64, mut ends: u64) {
        debug_assert!(!self.is_building());
        if self.hashes.capacity() - self.hashes.len() < Block::LEN / 2 {
            self.grow(Block::LEN / 2);
        }
        if self.detail != TokenDetail::Hashes {
            self.keep_words(block, at, starts, ends);
        }
        // Into an array first: the capacity of the vector is checked once per block, not per word.
        let (mut hashes, mut count) = ([0; Block::LEN / 2], 0);
        while ends != 0 {
            let (start, end) = (starts.trailing_zeros() as usize, ends.trailing_zeros() as usize);
            (starts, ends) = (starts & (starts - 1), ends & (ends - 1));
            let length = end - start;
            hashes[count % hashes.len()] = if length <= 16 {
                short_token_hash(block.sixteen(start), length, self.seed)
            } else {
                token_hash(&block.lower[start..end], self.seed)
            };
            count += 1;
        }
        self.hashes.extend_from_slice(&hashes[..count]);
    }

    /// Keeps the texts of the words of a block. Copying the block up to the end of the last word costs less than
    /// copying each word.
    #[inline]
    fn keep_words(&mut self, block: &Block, at: usize, mut starts: u64, mut ends: u64) {
        let length = (u64::BITS - ends.leading_zeros()).saturating_sub(1) as usize;
        let text =
            std::str::from_utf8(&block.lower[..length]).expect("a block is ASCII up to the end of its last word");
        let before = self.text.len();
        self.text.push_str(text);
        self.start = self.text.len();
        let (mut words, mut count) = ([const { 0..0 }; Block::LEN / 2], 0);
        while ends != 0 {
            let (start, end) = (starts.trailing_zeros() as usize, ends.trailing_zeros() as usize);
            (starts, ends) = (starts & (starts - 1), ends & (ends - 1));
            words[count % words.len()] = start..end;
            count += 1;
        }
        let words = &words[..count];
        self.places.extend_short(words.iter().map(|word| before + word.start..before + word.end));
        if self.detail == TokenDetail::Everything {
            self.spans.extend(words.iter().map(|word| at + word.start..at + word.end));
        }
    }

    /// [`push`](Self::push) for a token that is known to be ASCII and not empty, without the cost of making it a `str`.
    #[inline]
    pub(super) fn push_ascii(&mut self, token: &[u8], span: Range<usize>) {
        debug_assert!(!self.is_building() && !token.is_empty() && token.is_ascii());
        self.push_hash(token_hash(token, self.seed));
        if self.detail != TokenDetail::Hashes {
            self.text.extend(token.iter().map(|&b| char::from(b)));
            self.keep_text(span);
        }
    }

    /// Ends the text of a token whose hash was already added.
    #[inline]
    fn keep_text(&mut self, span: Range<usize>) {
        self.places.push(self.start, self.text.len());
        if self.detail == TokenDetail::Everything {
            self.spans.push(span);
        }
        self.start = self.text.len();
    }

    /// The token being built: append its normalised text here, then call [`finish`](Self::finish).
    #[inline]
    pub fn building(&mut self) -> &mut String {
        &mut self.text
    }

    /// Whether a token is being built, that is, text was appended since the last [`finish`](Self::finish).
    #[inline]
    pub fn is_building(&self) -> bool {
        self.text.len() > self.start
    }

    /// Ends the token being built; nothing happens if there is none.
    #[inline]
    pub fn finish(&mut self, span: Range<usize>) {
        if !self.is_building() {
            return;
        }
        self.push_hash(token_hash(&self.text.as_bytes()[self.start..], self.seed));
        match self.detail {
            TokenDetail::Hashes => self.text.clear(),
            TokenDetail::Texts | TokenDetail::Everything => self.keep_text(span),
        }
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// One 64-bit hash per token, in order.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The seed of the hashes.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The normalised text of token `i`.
    ///
    /// # Panics
    /// If the token does not exist, or the buffer keeps hashes only.
    pub fn text(&self, i: usize) -> &str {
        &self.text[self.places.get(i)]
    }

    /// The first eight bytes of the text of token `i`, the first one highest, with zeros after a shorter one.
    #[inline]
    pub(crate) fn beginning(&self, i: usize) -> u64 {
        let Range { start, end } = self.places.get(i);
        let from = &self.text.as_bytes()[start..];
        let padded = || {
            let mut padded = [0; 8];
            padded[..from.len()].copy_from_slice(from);
            padded
        };
        let eight = from.first_chunk().copied().unwrap_or_else(padded);
        let past = u64::MAX.checked_shr(8 * (end - start).min(8) as u32).unwrap_or(0);
        u64::from_be_bytes(eight) & !past
    }

    /// The byte span of token `i` in the original text. Spans are in order; tokens from the same character of the
    /// original share it.
    ///
    /// # Panics
    /// If the token does not exist, or the buffer keeps no spans.
    pub fn span(&self, i: usize) -> Range<usize> {
        self.spans[i].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_are_found() {
        let lengths = [1, 7, 8, 9, (1 << 20) - 2, 3, (1 << 20) - 1, 1 << 20, 2, 3 << 20];
        let texts = |n: usize| {
            let character = char::from(b'a' + n as u8);
            std::iter::repeat_n(character, lengths[n % lengths.len()]).collect::<String>()
        };
        let mut tokens = Tokens::new(TokenDetail::Texts, 0);
        for most in [20, 20, 9, 7] {
            tokens.clear();
            (0..20).for_each(|n| tokens.push(&texts(n), 0..0));
            tokens.truncate(most);
            assert_eq!(tokens.len(), most);
            for n in 0..most {
                assert!(tokens.text(n) == texts(n), "{n} of {most}");
                let beginning: Vec<u8> =
                    tokens.beginning(n).to_be_bytes().into_iter().filter(|&byte| byte > 0).collect();
                assert_eq!(beginning, texts(n).as_bytes()[..texts(n).len().min(8)]);
            }
        }
        assert!(tokens.bytes_held() >= 16 * 20);
    }
}
