//! The trait of tokenizers, and the buffer that tokens go into.

use super::normalise::Normalised;
use super::ranges::Ranges;
use super::room::reserve_text;
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
        // The texts of tokens are about as long as the text: reserved at once, they are not moved, and a text that does not fit is given
        // up before it is read.
        if tokens.detail == TokenDetail::Hashes || tokens.make_room(text.len()) {
            self.tokenize(text, tokens);
        }
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

impl TokenDetail {
    /// The size of a token, without its text.
    fn bytes_a_token(self) -> usize {
        // Its hash, where its text is, and its span.
        let words = match self {
            TokenDetail::Hashes => 1,
            TokenDetail::Texts => 2,
            TokenDetail::Everything => 3,
        };
        words * size_of::<u64>()
    }
}

/// What the tokens of a text may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// The size of the tokens, of their texts, and of the working memory of tokenizers, in bytes.
    pub bytes: u64,
    /// What each token takes in addition to that, in bytes.
    pub more: u64,
    /// What is made of each token later, in bytes, if that is more.
    pub later: u64,
}

impl Bound {
    /// No bound.
    pub const NONE: Bound = Bound { bytes: u64::MAX, more: 0, later: 0 };

    /// So many bytes for tokens, of which nothing else is made.
    pub fn of(bytes: usize) -> Self {
        // A buffer without a bound leaves the others as much.
        Bound { bytes: if bytes == usize::MAX { u64::MAX } else { bytes as u64 }, ..Bound::NONE }
    }
}

/// Working memory of a tokenizer that works on the tokens of another.
pub(super) trait Work: Any + Send + Sync {
    /// Bytes of memory.
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

/// The bytes that there is room for where a token is built: a few characters.
const LEAST_ROOM: usize = 16;

/// The tokens of one document: flat buffers, refilled for the next document. Those of a text that takes more memory than it may are freed.
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
    places: Ranges,
    spans: Ranges,
    /// Memory for tokenizers that need more than one token at a time.
    pub(super) scratch: Normalised,
    /// Memory for tokenizers that remove characters before they cut.
    pub(super) shortened: Shortened,
    /// Memory for tokenizers that work on the tokens of another.
    work: Working,
    /// What a text may take, and whether one takes more: nothing is kept of it.
    bound: Bound,
    is_beyond_bound: bool,
    /// The bytes of working memory that a tokenizer has taken out of the buffer.
    beside: usize,
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
            places: Ranges::default(),
            spans: Ranges::default(),
            scratch: Normalised::default(),
            shortened: Shortened::default(),
            work: Working(None),
            bound: Bound::NONE,
            is_beyond_bound: false,
            beside: 0,
            may_be_taken: false,
        }
    }

    /// Bounds the memory. Of a text that takes more, no tokens are kept.
    pub(crate) fn bound(&mut self, bound: Bound) {
        self.bound = bound;
        self.is_beyond_bound = false;
    }

    /// Whether a text took more memory than allowed since the bound was set.
    pub(crate) fn is_beyond_bound(&self) -> bool {
        self.is_beyond_bound
    }

    /// Frees the tokens of a text that takes more memory than allowed. A few are still taken, but not kept.
    #[cold]
    pub(super) fn give_up(&mut self) {
        self.is_beyond_bound = true;
        self.clear();
        self.hashes.shrink_to(Block::LEN);
        self.places.shrink_to(Block::LEN);
        self.spans.shrink_to(Block::LEN);
        self.text.shrink_to(Block::LEN);
    }

    /// The bytes that may still be taken.
    pub(super) fn room(&self) -> usize {
        self.room_beside().saturating_sub(self.beside)
    }

    /// The bytes that the working memory which a tokenizer has taken out of the buffer may take in all.
    pub(super) fn room_beside(&self) -> usize {
        if self.bound.bytes == u64::MAX {
            return usize::MAX;
        }
        let later = self.bound.more.saturating_mul(self.hashes.len() as u64);
        let held = (self.bytes_held() as u64).saturating_add(later);
        self.bound.bytes.saturating_sub(held).try_into().unwrap_or(usize::MAX)
    }

    /// Notes the size of the working memory that a tokenizer has taken out of the buffer, while it adds tokens.
    pub(super) fn hold_beside(&mut self, bytes: usize) {
        self.beside = bytes;
    }

    /// Whether there is room for so many bytes of working memory that is freed at once; drops all if not.
    #[inline]
    pub(super) fn has_room_for(&mut self, bytes: usize) -> bool {
        if bytes > 0 && bytes > self.room() {
            self.give_up();
        }
        !self.is_beyond_bound
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

    /// Bytes of memory, with working memory.
    pub(crate) fn bytes_held(&self) -> usize {
        let work = self.work.0.as_ref().map_or(0, |work| work.bytes_held());
        let texts = self.text.capacity() + self.scratch.bytes_held() + self.shortened.bytes_held();
        self.bytes_of_tokens() + texts + work
    }

    /// Bytes of memory, without texts and working memory.
    fn bytes_of_tokens(&self) -> usize {
        let hashes = size_of::<u64>() * self.hashes.capacity();
        hashes + self.places.bytes_held() + self.spans.bytes_held()
    }

    /// The maximum number of tokens, beside the texts and the working memory of now.
    fn most(&self) -> usize {
        let Bound { bytes, more, later } = self.bound;
        let others = self.bytes_held() - self.bytes_of_tokens() + self.beside;
        let a_token = self.detail.bytes_a_token() as u64 + more;
        let most = bytes.saturating_sub(others as u64) / a_token;
        most.min(bytes.checked_div(later).unwrap_or(most)).try_into().unwrap_or(usize::MAX)
    }

    /// Appends a hash. The bound is checked only where the vector would grow.
    #[inline]
    fn push_hash(&mut self, hash: u64) {
        if self.hashes.len() == self.hashes.capacity() {
            self.grow(1);
        }
        self.hashes.push(hash);
    }

    /// Makes room for more tokens, or drops all if they take too much.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        let (length, most) = (self.hashes.len(), self.most());
        let more = if self.is_beyond_bound || length.saturating_add(more) > most {
            self.give_up();
            Block::LEN
        } else {
            more.max(length.min(most - length)).max(Block::LEN)
        };
        self.hashes.reserve_exact(more);
        if self.detail != TokenDetail::Hashes {
            self.places.reserve_exact(more);
        }
        if self.detail == TokenDetail::Everything {
            self.spans.reserve_exact(more);
        }
    }

    /// Makes room for so many tokens, if their number is known. Returns whether there is.
    pub(super) fn reserve(&mut self, tokens: usize) -> bool {
        if self.hashes.capacity() - self.hashes.len() < tokens {
            self.grow(tokens);
        }
        !self.is_beyond_bound
    }

    /// Makes room for more bytes of text, or drops all if they take too much. Returns whether there is room.
    #[inline]
    fn make_room(&mut self, bytes: usize) -> bool {
        if self.text.capacity() - self.text.len() < bytes {
            self.grow_text(bytes);
        }
        self.text.capacity() - self.text.len() >= bytes
    }

    #[cold]
    #[inline(never)]
    fn grow_text(&mut self, more: usize) {
        let left = self.room();
        if self.is_beyond_bound || !reserve_text(&mut self.text, more, || left) {
            self.give_up();
            self.text.reserve_exact(Block::LEN);
        }
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
        if self.detail != TokenDetail::Hashes && !self.make_room(text.len()) {
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
        // Into an array first: the capacity of the vector is checked every eight words, not for each. Eight are copied at a time, so that
        // the compiler knows their number.
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
        let before = self.hashes.len();
        hashes.as_chunks::<8>().0[..count.div_ceil(8)].iter().for_each(|eight| self.hashes.extend_from_slice(eight));
        self.hashes.truncate(before + count);
    }

    /// Keeps the texts of the words of a block. Copying the block up to the end of the last word costs less than
    /// copying each word.
    #[inline]
    fn keep_words(&mut self, block: &Block, at: usize, mut starts: u64, mut ends: u64) {
        let length = (u64::BITS - ends.leading_zeros()).saturating_sub(1) as usize;
        let text =
            std::str::from_utf8(&block.lower[..length]).expect("whole characters up to the end of the last word");
        self.make_room(text.len());
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
            self.spans.extend_short(words.iter().map(|word| at + word.start..at + word.end));
        }
    }

    /// [`push`](Self::push) for a token that is known to be ASCII and not empty, without the cost of making it a `str`.
    #[inline]
    pub(super) fn push_ascii(&mut self, token: &[u8], span: Range<usize>) {
        debug_assert!(!self.is_building() && !token.is_empty() && token.is_ascii());
        if self.detail != TokenDetail::Hashes && !self.make_room(token.len()) {
            return;
        }
        self.push_hash(token_hash(token, self.seed));
        if self.detail != TokenDetail::Hashes {
            self.text.extend(token.iter().map(|&b| char::from(b)));
            self.keep_text(span);
        }
    }

    /// Ends the text of a token whose hash was already added.
    #[inline]
    fn keep_text(&mut self, span: Range<usize>) {
        self.places.push(self.start..self.text.len());
        if self.detail == TokenDetail::Everything {
            self.spans.push(span);
        }
        self.start = self.text.len();
    }

    /// The token being built: append its normalised text here, then call [`finish`](Self::finish).
    #[inline]
    pub fn building(&mut self) -> &mut String {
        self.make_room(LEAST_ROOM);
        &mut self.text
    }

    /// The token being built, if there is room for so many bytes more.
    #[inline]
    pub(super) fn building_more(&mut self, bytes: usize) -> Option<&mut String> {
        self.make_room(bytes).then_some(&mut self.text)
    }

    /// Appends to the token being built, if there is room.
    #[inline]
    pub(super) fn build(&mut self, text: &str) {
        if let Some(building) = self.building_more(text.len()) {
            building.push_str(text);
        }
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
        self.spans.get(i)
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
