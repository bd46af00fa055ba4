//! Options, and the cutting of documents into words: the same in every reading.

use crate::error::Error;
use crate::hash::sequence_hash;
use crate::run::batches::{ALONE_BYTES, SIGNING_BYTES, room};
use crate::run::fields::RequiredFields;
use crate::run::ordered::{Room, workers};
use crate::run::sign::{Budget, Scratch, SigningMemory, bytes_a_byte};
use crate::similarity::Threshold;
use crate::source::Document;
use crate::tokenizer::{TokenDetail, Tokenizer, Tokens, Word, is_overlapping, stands_alone};
use std::path::PathBuf;
use std::sync::Arc;

/// Options of the search for passages. Only the tokenizer, the similarity, the seed and the bounds can change what is found; without a
/// similarity, the seed does not.
#[derive(Clone)]
pub struct PassageOptions {
    /// What texts are cut with. It must not make tokens that overlap.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// Seeds every hash.
    pub seed: u64,
    /// The minimum similarity of each place to the first one: `2·m / (a + b)` for places of `a` and `b` words of which `m` match. `None`
    /// finds only runs of the same words.
    pub similarity: Option<Threshold>,
    /// Minimum length of a passage, in words, from 1 to 10,000; a Han or Kana character counts as half a word. With a
    /// [`similarity`](Self::similarity), words of the longer place that do not match count twice, so that it may have fewer.
    pub min_words: usize,
    /// The minimum number of different documents that the places of a passage are in, at least 1: with 1, a passage may repeat within one.
    /// All places count, also those that are not reported. Documents of the reference count too.
    pub min_documents: usize,
    /// The least share of the words of a document that must be in passages of the reference for [`find_unshared`](super::find_unshared) to
    /// drop it. `None`: one passage is enough. Nothing else depends on it.
    pub min_coverage: Option<Threshold>,
    /// The maximum number of places of each passage that are reported, at least 1.
    pub max_places: usize,
    /// Whether [`find_passages`](super::find_passages) leaves out passages that are mostly in longer ones: those of which at least half of the
    /// words, at the first place, are in longer ones that are reported, of equally long ones in the earlier one. Words are the same if they are in
    /// a run of the same [`min_words`](Self::min_words) words. Nothing else depends on it. It takes a bit of memory for each word, and 20 bytes
    /// for each range that stands earlier.
    pub without_overlaps: bool,
    /// Worker threads; 0 means one a core.
    pub threads: usize,
    /// Memory for what is kept of the documents, in bytes. Tokens, and passages and their texts, go to temporary files if they do not
    /// fit.
    pub memory: u64,
    /// The folder of the temporary files; `None` is the system's.
    pub temp_dir: Option<PathBuf>,
    /// The fields that some record must have.
    pub required_fields: RequiredFields,
}

impl PassageOptions {
    /// Checks the numbers.
    pub(super) fn check(&self) -> Result<(), Error> {
        const MOST_WORDS: usize = 10_000;
        if !(1..=MOST_WORDS).contains(&self.min_words) {
            return Err(Error::parameter(
                "min-words",
                self.min_words,
                format!("a number of words from 1 to {MOST_WORDS}"),
            ));
        }
        if self.min_documents == 0 {
            return Err(Error::parameter("min-documents", 0, "at least 1: a passage may be within one document"));
        }
        if self.max_places == 0 {
            return Err(Error::parameter("max-places", 0, "at least 1: a passage without places says nothing"));
        }
        Ok(())
    }
}

/// Runs of the same words, 50 words, in any number of documents, 100 places, 1 GiB.
impl Default for PassageOptions {
    fn default() -> Self {
        PassageOptions {
            tokenizer: Arc::new(Word),
            seed: 0,
            similarity: None,
            min_words: 50,
            min_documents: 1,
            min_coverage: None,
            max_places: 100,
            without_overlaps: false,
            threads: 0,
            memory: 1 << 30,
            temp_dir: None,
            required_fields: RequiredFields::default(),
        }
    }
}

/// The memory that documents are cut in, and the room for batches.
pub(super) fn memory_of_reading(words: &WordOptions<'_>) -> (Arc<SigningMemory>, usize, Room) {
    let threads = words.workers();
    let eighth = words.memory / 8;
    let budget =
        Budget { together: eighth + SIGNING_BYTES, alone: 3 * eighth + ALONE_BYTES, alone_a_byte: 2, later_a_token: 0 };
    (SigningMemory::new(budget, threads), threads, room(threads, words.memory))
}

/// The options by which documents are cut.
#[derive(Clone, Copy)]
pub(super) struct WordOptions<'o> {
    pub tokenizer: &'o dyn Tokenizer,
    pub seed: u64,
    pub threads: usize,
    pub memory: u64,
}

/// The threads for which there is always memory. Each further one has a MiB, of which it takes a third for itself.
const LEAST_THREADS: usize = 16;

impl WordOptions<'_> {
    /// The number of threads: fewer than asked for where the memory is not enough for them.
    pub fn workers(&self) -> usize {
        workers(self.threads).min(LEAST_THREADS.saturating_add((self.memory >> 20) as usize))
    }

    /// Refuses tokens that overlap.
    ///
    /// # Errors
    /// The tokenizer makes such tokens, and `what` need others.
    pub fn check(&self, what: &str) -> Result<(), Error> {
        let name = self.tokenizer.name();
        if is_overlapping(&name) {
            let message = format!("{what} need tokens that do not overlap: `tokenizer` cannot be {name}");
            return Err(Error::Usage(message));
        }
        Ok(())
    }
}

impl PassageOptions {
    pub(super) fn words(&self) -> WordOptions<'_> {
        let PassageOptions { tokenizer, seed, threads, memory, .. } = self;
        WordOptions { tokenizer: &**tokenizer, seed: *seed, threads: *threads, memory: *memory }
    }
}

/// The memory for cutting documents on one thread.
pub(super) struct Cutting<'o> {
    tokenizer: &'o dyn Tokenizer,
    a_byte: u64,
    scratch: Scratch,
}

impl<'o> Cutting<'o> {
    pub fn new(WordOptions { tokenizer, seed, .. }: WordOptions<'o>, memory: &Arc<SigningMemory>) -> Self {
        let scratch = Scratch::new(seed, Arc::clone(memory));
        Cutting { tokenizer, a_byte: bytes_a_byte(tokenizer), scratch }
    }

    /// Frees a buffer after a long document.
    pub fn free(&self, buffer: &mut Vec<u64>) {
        self.scratch.free(buffer);
    }

    /// Cuts a document, with at least this detail, and passes its tokens and their words to `each`: a word is the hash of a token, odd if
    /// the token counts half.
    ///
    /// # Errors
    /// It is longer than 4 GiB, or has too many tokens for the memory.
    pub fn cut<T>(
        &mut self,
        document: &Document<'_>,
        detail: TokenDetail,
        words: &mut Vec<u64>,
        each: impl FnOnce(&Tokens, &[u64], bool) -> T,
    ) -> Result<T, Error> {
        let place = &document.place;
        if u32::try_from(document.text.len()).is_err() {
            return Err(Error::Full(format!("{place}: this record has more than 4 GiB of text")));
        }
        let scratch = &mut *self.scratch.begin(&document.text, self.a_byte);
        // Characters that count half have three bytes or more, of which the first is at least this one.
        let may_have_halves = has_byte_from(0xE3, document.text.as_bytes());
        let detail = match detail {
            TokenDetail::Hashes if may_have_halves => TokenDetail::Texts,
            detail => detail,
        };
        let more = 2 * size_of::<u64>() as u64;
        let cut = scratch.cut(detail, more, |tokens| self.tokenizer.cut(&document.text, tokens));
        cut.map_err(|too_large| too_large.at(place))?;
        let tokens = &scratch.tokens;
        let (start, mut halves) = (words.len(), 0);
        words.extend(tokens.hashes().iter().map(|hash| hash & !1));
        if may_have_halves {
            for (at, word) in words[start..].iter_mut().enumerate() {
                let mut characters = tokens.text(at).chars();
                let is_half = characters.next().is_some_and(stands_alone) && characters.next().is_none();
                *word |= u64::from(is_half);
                halves += u64::from(is_half);
            }
        }
        Ok(each(tokens, &words[start..], halves > 0))
    }
}

/// Whether a byte is at least this one.
fn has_byte_from(least: u8, bytes: &[u8]) -> bool {
    // The maximum of a block takes a few instructions; a loop that may end at each byte takes one step a byte.
    bytes.chunks(256).any(|block| block.iter().fold(0, |most, &byte| most.max(byte)) >= least)
}

/// Identifies the tokens of a document.
pub(super) fn sequence_of(words: &[u64], seed: u64) -> u64 {
    sequence_hash(words, seed) as u64
}

#[cfg(test)]
mod tests {
    use super::has_byte_from;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_byte_is_found_wherever_it_is(mut bytes in prop::collection::vec(0u8..0xE3, 0..900), at: prop::sample::Index, byte: u8) {
            prop_assert!(!has_byte_from(0xE3, &bytes));
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
                prop_assert_eq!(has_byte_from(0xE3, &bytes), byte >= 0xE3);
            }
        }
    }
}
