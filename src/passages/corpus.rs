//! The passages that repeat in the documents of a source.
//!
//! ```text
//! read     batches → tokens, anchors                             on all threads       (reading.rs, text.rs)
//! order    the places of each k-gram, by what is around them                          (order.rs)
//! search   repeats, or the ranges of tokens that are in one                           (repeats.rs)
//!          and with a similarity what is near                                         (near.rs)
//! locate   tokens → bytes and lines of the texts, read again     in portions          (locate.rs)
//! pass on  passages with their places and texts, in order        by chunks, on all threads
//! ```

use super::cutting::PassageOptions;
use super::locate::{Documents, Locator};
use super::near::Near;
use super::overlaps::Origins;
use super::reading::{PassageCounts, Search};
use super::reduced::{PLACES, most_in, too_many};
use super::repeats::{self, Found, FoundPlace, FoundRepeat};
use super::sites::{Located, Sites};
use crate::error::Error;
use crate::kernel::bytes;
use crate::postings::{Buffer, Stored};
use crate::run::batches::Side;
use crate::run::observer::Observer;
use crate::run::ordered::{self, Room, thread_pool};
use crate::run::places::At;
use crate::similarity::Similarity;
use crate::source::Source;
use rayon::ThreadPool;
use std::collections::BTreeSet;
use std::iter;
use std::ops::Range;

/// A passage that stands at several places.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Passage<'a> {
    /// Its number, from 1.
    pub id: u64,
    /// Its length at the first place, in words; a Han or Kana character counts as half a word.
    pub words: u64,
    /// The number of its places.
    pub count: u64,
    /// The number of different documents that its places are in, also those that are not listed. Documents are distinguished by where they
    /// were read.
    pub documents: u64,
    /// The first of them, in input order.
    pub places: Vec<PassagePlace<'a>>,
    /// Its text at the first place.
    pub text: &'a str,
}

impl Passage<'_> {
    /// Whether it has more places than are listed.
    pub fn is_shortened(&self) -> bool {
        self.count > self.places.len() as u64
    }
}

/// Where a passage stands.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PassagePlace<'a> {
    /// The id of the document.
    pub id: &'a str,
    /// Where it was read, if [ids repeat](Passages::ids_repeat).
    pub place: Option<At<'a>>,
    /// The number of the document in input order, from 0; those of the reference come first.
    pub document: usize,
    /// Whether the document is one of the reference.
    pub is_reference: bool,
    /// Its bytes in the text of the document, as it was read.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The line in the text that it begins on, from 1.
    pub line: usize,
    /// The similarity to the first place: twice the matching tokens, by the tokens of both. 1 for equal words.
    pub similarity: Similarity,
}

/// A document with what is repeated in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentSpans<'a> {
    /// The id of the document.
    pub id: &'a str,
    /// Where it was read, if [ids repeat](Spans::ids_repeat).
    pub place: Option<At<'a>>,
    /// The number of the document in input order, from 0.
    pub document: usize,
    /// The bytes of its text that are in a passage, ascending; passages that overlap or touch are one range.
    pub spans: Vec<Range<usize>>,
}

/// The passages of at least [`min_words`](PassageOptions::min_words) words that stand at two or more places of the documents of a source;
/// with a `reference`, those that stand both in one of its documents and in one of `source`.
///
/// A passage is a run of tokens that can be extended at neither end at all of its places. So a paragraph that a hundred documents have is
/// one passage, and if twenty of them also have the next paragraph, both together are another one. A run in a text that repeats itself,
/// such that its places overlap, is reported with at most 10 lengths for one first place, the longest ones:
/// [`Passages::left_out`] counts the others.
///
/// Of these, the passages are reported that are in at least [`min_documents`](PassageOptions::min_documents) documents, over all of their
/// places. [`Passages::below_min_documents`] counts the others, which [`Passages::left_out`] does not.
///
/// Of these again, passages that are mostly in longer ones are not reported [if that is wanted](PassageOptions::without_overlaps):
/// [`Passages::overlapping`] counts them.
///
/// **With a [similarity](PassageOptions::similarity)**, a passage is a stretch of text, its first place, with the later places that are
/// similar to it; the longer of two has at least the minimum length, where words without a match count twice. Their words are aligned from
/// runs of the same words on, across edits: what matches is at least what the alignment keeps. What stands in passages of the same words is
/// in these passages, too, but for those in too few documents. Each place is compared with few others, the first one and the last one
/// before it that have the same run of words, and of a reference up to eight that do, so a place may be missing of which all that is left unchanged stands in many other places. A
/// place is one of the longest passage found there: where some documents have more of a text than others, it can be two passages, each with
/// the documents of its own places. A passage across 131,072 words of one document may be reported in parts.
///
/// # Errors
/// The tokenizer is refused, documents do not fit the memory, no record has a [field](PassageOptions::required_fields) that some must have, a
/// temporary file cannot be written, or threads cannot be started. Problems with single documents are not errors: they go to the observer
/// and the counts.
///
/// # Cost
/// One reading of everything here, and at least another one in [`Passages::for_each`]. Time and memory grow linearly with the tokens,
/// but for copies that differ from pair to pair and all end in the same text: of `n` such places each can take `n` steps.
/// Memory: 36 bytes and the id for each document, with a similarity up to 2 more, and 8 for a moment, to see whether ids repeat; 8 for each selected k-gram (about one in
/// 20 tokens), 44 for those that repeat; the rest goes to temporary files if it does not fit.
pub fn find_passages(
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    options: &PassageOptions,
    observer: &dyn Observer,
) -> Result<Passages, Error> {
    let mut search = Search::read(source, reference, options, observer)?;
    let ids_repeat = search.documents.ids_repeat_across();
    let origins = options
        .without_overlaps
        .then(|| search.pool.install(|| Origins::find(&search.text, &search.options, options.memory)));
    let origins = origins.transpose()?;
    if let Some(similarity) = options.similarity {
        let (mut found, documents, counts) = Near::find(search, options, similarity, observer)?.passages(options)?;
        if let Some(origins) = &origins {
            leave_out_overlapping(&mut found, origins);
        }
        return Ok(Passages {
            found,
            documents,
            ids_repeat,
            options: options.clone(),
            counts,
            changed: BTreeSet::new(),
        });
    }
    let find = &search.options;
    let text = &search.text;
    let (memory, folder) = (options.memory, options.temp_dir.as_deref());
    let mut found = search.pool.install(|| repeats::find(text, find, memory, folder))?;
    if let Some(origins) = &origins {
        leave_out_overlapping(&mut found, origins);
    }
    search.counts.spilled += found.bytes_spilled();
    let Search { mut documents, text, counts, .. } = search;
    documents.starts = text.starts;
    Ok(Passages { found, documents, ids_repeat, options: options.clone(), counts, changed: BTreeSet::new() })
}

/// Leaves out the passages that are mostly in longer ones.
fn leave_out_overlapping(found: &mut Found, origins: &Origins) {
    let left_out = origins.mostly_in_longer(found.len(), |number| found.first(number));
    found.leave_out_overlapping(&left_out);
}

/// What of each document of a source is in a [passage](find_passages), at any of its places; with a `reference`, what stands in it too.
///
/// # Errors
/// As for [`find_passages`].
///
/// # Cost
/// As for [`find_passages`].
pub fn find_spans(
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    options: &PassageOptions,
    observer: &dyn Observer,
) -> Result<Spans, Error> {
    let search = Search::read(source, reference, options, observer)?;
    let ids_repeat = search.documents.ids_repeat(iter::empty());
    if let Some(similarity) = options.similarity {
        let near = Near::find(search, options, similarity, observer)?;
        let (covered, documents, counts, below_min_documents) = near.covered(options)?;
        let mut ranges = Vec::new();
        let (most, mut is_full) = (most_in::<Range<u64>>(options.memory), false);
        covered.ranges(&documents.starts[documents.end_of_references() as usize..], |range| {
            is_full |= ranges.len() == most;
            if !is_full {
                ranges.push(range);
            }
        });
        if is_full {
            return Err(too_many(most, PLACES));
        }
        return Ok(Spans { ranges, documents, ids_repeat, options: options.clone(), counts, below_min_documents });
    }
    let (ranges, below_min_documents) =
        search.pool.install(|| repeats::covered(&search.text, &search.options, options.memory))?;
    let Search { mut documents, text, counts, .. } = search;
    documents.starts = text.starts;
    Ok(Spans { ranges, documents, ids_repeat, options: options.clone(), counts, below_min_documents })
}

/// The passages of a source.
pub struct Passages {
    found: Found,
    documents: Documents,
    ids_repeat: bool,
    options: PassageOptions,
    counts: PassageCounts,
    /// The documents that have changed since they were read first.
    changed: BTreeSet<u32>,
}

/// What a place takes while it is located, sought and found, and what is kept of its passage.
const BYTES_A_PLACE: u64 = Sites::BYTES;
const BYTES_A_PASSAGE: u64 = 20;

/// The number of places that are located in a reading at least, and at most.
const MIN_PLACES: u64 = 1 << 10;
const MAX_PLACES: u64 = 1 << 30;

/// The memory that parts of temporary files are read into.
#[derive(Default)]
struct Buffers {
    repeats: Buffer,
    texts: Buffer,
}

/// Passages that were located.
struct Portion {
    range: Range<usize>,
    /// The places of each passage begin here.
    firsts: Vec<u32>,
    places: Sites,
    /// Where the text of each passage begins; `None` if its document has changed.
    texts_at: Vec<Option<u64>>,
    texts: Stored,
    /// The mean length of an id.
    id_bytes: u64,
}

impl Portion {
    /// The length of the text of a passage, in bytes. Passages are numbered from the first one of the portion.
    fn text_length(&self, number: usize) -> usize {
        self.places.located(self.firsts[number] as usize).map_or(0, |Located { start, end, .. }| (end - start) as usize)
    }

    /// The number of places of a passage that are reported at most.
    fn count(&self, number: usize) -> usize {
        let end = self.firsts.get(number + 1).map_or(self.places.len(), |&first| first as usize);
        end - self.firsts[number] as usize
    }

    /// The next passages from one on that are passed on together, and about how much memory it takes to make lines of them.
    fn chunk_from(&self, first: usize) -> Option<(Range<usize>, u64)> {
        let (mut end, mut bytes) = (first, 0);
        while end < self.firsts.len() && bytes < CHUNK_BYTES {
            bytes += (256 + 2 * self.text_length(end)) as u64 + (256 + self.id_bytes) * self.count(end) as u64;
            end += 1;
        }
        (end > first).then_some((first..end, bytes))
    }
}

/// The memory that a chunk of passages takes at least, unless it is the last one; one passage may take more.
const CHUNK_BYTES: u64 = if cfg!(test) { 1 << 11 } else { 1 << 18 };

/// The number of chunks for each thread between being begun and being taken.
const CHUNKS_A_THREAD: usize = 4;

impl Passages {
    /// Their number.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of passages that are not reported, because their places overlap and there are longer ones with the same first place.
    pub fn left_out(&self) -> u64 {
        self.found.left_out
    }

    /// The number of passages that are not reported because they are in fewer documents than [`min_documents`](PassageOptions::min_documents).
    pub fn below_min_documents(&self) -> u64 {
        self.found.below_min_documents
    }

    /// The number of passages that are not reported because they are mostly in longer ones; 0 unless they are
    /// [left out](PassageOptions::without_overlaps).
    pub fn overlapping(&self) -> u64 {
        self.found.overlapping
    }

    /// What was read.
    pub fn counts(&self) -> &PassageCounts {
        &self.counts
    }

    /// Whether an id does not identify a document of both sides together, so that documents are identified by their places.
    pub fn ids_repeat(&self) -> bool {
        self.ids_repeat
    }

    /// Reads the sources again, which must be the same, and calls `each` with every passage: in the order of their first places, longer ones
    /// first. The places of a document that has changed are missing, and passages that begin there: it is a problem, and counted.
    ///
    /// # Errors
    /// Those of `each`, a source fails as a whole, a temporary file cannot be written, or threads cannot be started.
    ///
    /// # Cost
    /// A reading for as many places as fit three quarters of the memory beside what was found: 20 bytes for each place, 20 for each
    /// passage, and 4 for each document. Only documents with places are cut into tokens. `each` is called by this thread alone: for many
    /// passages [`for_each_chunk`](Self::for_each_chunk) is faster.
    pub fn for_each(
        &mut self,
        source: &mut dyn Source,
        reference: Option<&mut dyn Source>,
        observer: &dyn Observer,
        mut each: impl FnMut(&Passage<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.portions(source, reference, observer, |passages, portion| {
            passages.each(portion, 0..portion.firsts.len(), &mut Buffers::default(), &mut each)
        })
    }

    /// As [`for_each`](Self::for_each), on all threads of the [options](PassageOptions::threads): what `add` makes of some consecutive passages
    /// is passed to `take`, in their order.
    ///
    /// # Errors
    /// Those of `add` and `take`, a source fails as a whole, a temporary file cannot be written, or threads cannot be started. What `add` made
    /// of the passages just before the one that it refused is lost. It ends, as by an error, when the observer
    /// [is stopped](Observer::is_stopped).
    ///
    /// # Cost
    /// As for [`for_each`](Self::for_each). A chunk is of passages whose places, texts and lines take some 256 KiB together, or of one passage.
    /// No more chunks are made while those that wait take a sixteenth of the memory, or are four for each thread.
    pub fn for_each_chunk<T: Default + Send>(
        &mut self,
        source: &mut dyn Source,
        reference: Option<&mut dyn Source>,
        observer: &dyn Observer,
        add: impl Fn(&mut T, &Passage<'_>) -> Result<(), Error> + Sync,
        mut take: impl FnMut(T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let threads = self.options.words().workers();
        let room = Room { pieces: CHUNKS_A_THREAD * threads, bytes: self.options.memory / 16 };
        self.portions(source, reference, observer, |passages, portion| {
            let mut next = 0;
            let chunks = || {
                let chunk = portion.chunk_from(next)?;
                next = chunk.0.end;
                Some(chunk)
            };
            let worker = || {
                let mut buffers = Buffers::default();
                let add = &add;
                move |(chunk, _): (Range<usize>, u64)| {
                    let mut made = T::default();
                    passages.each(portion, chunk, &mut buffers, &mut |passage| add(&mut made, passage)).map(|()| made)
                }
            };
            let pass_on =
                |made: Result<T, Error>| if observer.is_stopped() { Err(Error::Stopped) } else { take(made?) };
            ordered::map(threads, room, chunks, |&(_, bytes)| bytes, worker, pass_on)
        })
    }

    /// Locates the passages, and passes them on in portions that fit the memory.
    fn portions(
        &mut self,
        source: &mut dyn Source,
        reference: Option<&mut dyn Source>,
        observer: &dyn Observer,
        mut each: impl FnMut(&Self, &Portion) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.found.len() == 0 {
            return Ok(());
        }
        let (mut sources, pool) = (Side::both(source, reference), thread_pool(self.options.words().workers())?);
        let memory = self.options.memory;
        // A quarter is for reading, texts and lines.
        let room = (memory - memory / 4).saturating_sub(self.documents.bytes_beyond());
        if self.found.bytes_held() > room / 2 {
            self.found.spill()?;
        }
        let left = room.saturating_sub(self.found.bytes_held()).max(memory / 16);
        let most = left.clamp(BYTES_A_PLACE * MIN_PLACES, BYTES_A_PLACE * MAX_PLACES);
        let mut first = 0;
        while first < self.found.len() {
            let (mut end, mut places, mut bytes) = (first, 0, 0);
            while end < self.found.len() {
                let own = self.found.places(end);
                bytes += BYTES_A_PASSAGE + BYTES_A_PLACE * own;
                if end > first && bytes > most {
                    break;
                }
                places += own;
                end += 1;
            }
            let portion = self.located(first..end, places as usize, &mut sources, observer, &pool)?;
            each(self, &portion)?;
            first = end;
        }
        Ok(())
    }

    /// Locates some passages, with so many places.
    fn located(
        &mut self,
        range: Range<usize>,
        count: usize,
        sources: &mut [Side<'_>],
        observer: &dyn Observer,
        pool: &ThreadPool,
    ) -> Result<Portion, Error> {
        let (mut places, mut firsts) = (Sites::with_capacity(count), Vec::with_capacity(range.len()));
        self.found.for_each(range.clone(), &mut Buffer::default(), |repeat| {
            firsts.push(places.len() as u32);
            repeat.places().for_each(|FoundPlace { at, tokens, .. }| places.push(at, tokens));
            Ok(())
        })?;
        places.order(&self.documents.starts, pool);
        // The first places, in the order of the passages, which is theirs.
        let first_sites = || firsts.iter().map(|&first| places.of_target(first as usize));
        let mut bits = vec![0u64; places.len().div_ceil(64)];
        first_sites().for_each(|site| bits[(site / 64) as usize] |= 1 << (site % 64));
        let is_first = |site: usize| bits[site / 64] >> (site % 64) & 1 == 1;
        let mut texts = Stored::new("texts of passages", self.options.memory / 16, self.options.temp_dir.as_deref());
        let (mut texts_at, mut passages) = (vec![None; firsts.len()], (0..).zip(first_sites()));
        let locator = Locator { documents: &self.documents, options: &self.options, observer };
        let changed = locator.locate(sources, &places, is_first, &mut self.changed, |part| {
            let mut at = texts.len();
            for site in part.sites {
                let (number, _) = passages.find(|&(_, first)| first == site).expect("the first place of a passage");
                texts_at[number] = Some(at);
                let Located { start, end, .. } = places.located(firsts[number] as usize).expect("it was located");
                at += u64::from(end - start).div_ceil(8);
            }
            texts.append(&part.texts)
        })?;
        drop(passages);
        self.counts.failed += changed;
        self.counts.spilled += texts.bytes_spilled();
        let id_bytes = self.documents.mean_id_bytes();
        Ok(Portion { range, firsts, places, texts_at, texts, id_bytes })
    }

    /// Passes on some passages of a portion, numbered from its first one.
    fn each(
        &self,
        portion: &Portion,
        some: Range<usize>,
        Buffers { repeats, texts }: &mut Buffers,
        each: &mut impl FnMut(&Passage<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (documents, ids_repeat) = (&self.documents, self.ids_repeat);
        let mut next = some.start;
        let all = portion.range.start + some.start..portion.range.start + some.end;
        self.found.for_each(all, repeats, |repeat| {
            let number = next;
            next += 1;
            // Without its text the passage is not reported: the document has changed.
            let Some(at) = portion.texts_at[number] else { return Ok(()) };
            let first = portion.firsts[number] as usize;
            let length = portion.text_length(number);
            let words = portion.texts.read(at..at + length.div_ceil(8) as u64, texts)?;
            let bytes = bytes::of_words(words);
            let text = std::str::from_utf8(&bytes[..length]).expect("it was text");
            let places = (first..).zip(repeat.places()).filter_map(|(target, FoundPlace { tokens, matched, .. })| {
                let Located { start, end, line, document } = portion.places.located(target)?;
                let similarity = Similarity::ratio(2 * u64::from(matched), repeat.tokens + u64::from(tokens));
                let (id, place) = (documents.id(document), ids_repeat.then(|| documents.place(document)));
                let (start, end, line) = (start as usize, end as usize, line as usize);
                let is_reference = u64::from(document) < self.counts.references;
                let document = document as usize;
                Some(PassagePlace { id, place, document, is_reference, start, end, line, similarity })
            });
            let id = (portion.range.start + number) as u64 + 1;
            let FoundRepeat { size: words, count, documents, .. } = repeat;
            each(&Passage { id, words, count, documents, places: places.collect(), text })
        })
    }
}

/// What is repeated in the documents of a source.
pub struct Spans {
    ranges: Vec<Range<u64>>,
    documents: Documents,
    ids_repeat: bool,
    options: PassageOptions,
    counts: PassageCounts,
    below_min_documents: u64,
}

impl Spans {
    /// What was read.
    pub fn counts(&self) -> &PassageCounts {
        &self.counts
    }

    /// The number of passages that are left out because they are in fewer documents than [`min_documents`](PassageOptions::min_documents).
    pub fn below_min_documents(&self) -> u64 {
        self.below_min_documents
    }

    /// The number of tokens that are in a passage.
    pub fn tokens(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether an id does not identify a document of its side, so that documents are identified by their places.
    pub fn ids_repeat(&self) -> bool {
        self.ids_repeat
    }

    /// Reads the sources again, which must be the same, and calls `each` with every document that has something of a passage, in input
    /// order. A document that has changed is missing: it is a problem, and counted.
    ///
    /// # Errors
    /// Those of `each`, or a source fails as a whole.
    ///
    /// # Cost
    /// One reading, in which only these documents are cut into tokens.
    pub fn for_each(
        &mut self,
        source: &mut dyn Source,
        reference: Option<&mut dyn Source>,
        observer: &dyn Observer,
        mut each: impl FnMut(&DocumentSpans<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut sources = Side::both(source, reference);
        let (documents, ids_repeat) = (&self.documents, self.ids_repeat);
        let mut sites = Sites::with_capacity(self.ranges.len());
        self.ranges.iter().for_each(|range| sites.push(range.start, (range.end - range.start) as u32));
        sites.order(&documents.starts, &thread_pool(self.options.words().workers())?);
        let locator = Locator { documents, options: &self.options, observer };
        let changed = locator.locate(
            &mut sources,
            &sites,
            |_| false,
            &mut BTreeSet::new(),
            |part| {
                part.documents.into_iter().try_for_each(|document| {
                    let located = sites.in_document(document);
                    let spans = located.map(|Located { start, end, .. }| start as usize..end as usize).collect();
                    let (id, place) = (documents.id(document), ids_repeat.then(|| documents.place(document)));
                    each(&DocumentSpans { id, place, document: document as usize, spans })
                })
            },
        )?;
        self.counts.failed += changed;
        Ok(())
    }
}

/// Texts for tests, and how they are cut into words.
#[cfg(all(test, feature = "files"))]
pub(super) mod oracle {
    use crate::tokenizer::{TokenDetail, Tokenizer, Tokens, Word, stands_alone};
    use proptest::prelude::*;

    /// The words of texts, as they are compared, and the tokens.
    pub fn words(texts: &[String]) -> (Vec<Vec<u64>>, Vec<Tokens>) {
        let cut = |text: &String| {
            let mut tokens = Tokens::new(TokenDetail::Everything, 0);
            Word.tokenize(text, &mut tokens);
            let is_half = |token: &str| token.chars().count() == 1 && token.chars().all(stands_alone);
            let word = |at: usize| tokens.hashes()[at] & !1 | u64::from(is_half(tokens.text(at)));
            ((0..tokens.len()).map(word).collect(), tokens)
        };
        texts.iter().map(cut).unzip()
    }

    /// JSON lines, with some characters escaped.
    pub fn json_lines(texts: &[String]) -> String {
        let line = |text: &String| {
            let quoted = serde_json::to_string(text).unwrap().replace('é', "\\u00e9").replace('😀', "\\ud83d\\ude00");
            format!("{{\"text\":{quoted}}}\r\n")
        };
        texts.iter().map(line).collect()
    }

    /// Texts of few words, with copies of parts of others, and with periods.
    pub fn texts() -> impl Strategy<Value = Vec<String>> {
        let pieces = ["one ", "Two, ", "three\r\n", "caf\u{e9} ", "北", "京", "カ", "\u{1f600} ", "four\n\n", "x_1; "];
        let random = (1..pieces.len(), prop::collection::vec(0usize..99, 0..40))
            .prop_map(move |(kinds, all)| all.iter().map(|piece| pieces[piece % kinds]).collect::<String>());
        let mixed = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|all| all.concat());
        let periodic = (0..pieces.len(), 1..4usize, 0..40usize).prop_map(move |(first, period, length)| {
            (0..length).map(|at| pieces[(first + at % period) % pieces.len()]).collect::<String>()
        });
        let cuts = prop::collection::vec((any::<prop::sample::Index>(), 0usize..150, 0usize..150), 0..6);
        let random = prop::collection::vec(prop_oneof![random, mixed, periodic], 1..6);
        // A character that stands for two words, the first of which is a word of its own.
        let halves = prop::bool::weighted(0.2);
        (random, cuts, halves).prop_map(|(mut texts, cuts, has_halves)| {
            for (of, start, length) in cuts {
                let text = &texts[of.index(texts.len())];
                let start = text.floor_char_boundary(start.min(text.len()));
                let end = text.floor_char_boundary((start + length).min(text.len()));
                texts.push(format!("begin{start} {} end{length}", &text[start..end]));
            }
            if has_halves {
                texts.iter_mut().for_each(|text| *text = text.replace("x_1;", "½").replace("Two,", "1"));
            }
            texts
        })
    }
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::oracle::{json_lines, texts, words};
    use super::*;
    use crate::passages::reading::MOST_OVERLAPPING;
    use crate::passages::repeats::oracle::by_definition;
    use crate::source::{Documents as Listed, Input, ReadOptions};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::fs;

    /// A place: the document, its bytes, and the line.
    type At = (usize, usize, usize, usize);

    /// A passage: its words, its count, its documents, its places and its text.
    type Row = (u64, u64, u64, Vec<At>, String);

    /// Of each document its bytes in passages.
    type Ranges = BTreeMap<usize, Vec<Range<usize>>>;

    /// Passages, ranges, and the number of passages in too few documents, by their definition.
    fn expected(texts: &[String], references: usize, options: &PassageOptions) -> (Vec<Row>, Ranges, u64) {
        let (words, tokens) = words(texts);
        let documents: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
        let (mut rows, mut ranges) = (Vec::new(), BTreeMap::<usize, Vec<(usize, usize)>>::new());
        let (mut overlapping, mut below_min_documents) = (BTreeMap::new(), 0);
        for repeat in by_definition(&documents, 1) {
            let (first, second) = (repeat.places[0], repeat.places[1]);
            let string = &documents[first.document][first.token..][..repeat.tokens];
            let size = repeat.tokens as u64 - string.iter().map(|word| word & 1).sum::<u64>() / 2;
            let of_reference = repeat.places.iter().filter(|place| place.document < references).count();
            let is_on_both_sides = references == 0 || 0 < of_reference && of_reference < repeat.count;
            if size < options.min_words as u64 || !is_on_both_sides {
                continue;
            }
            if repeat.documents < options.min_documents {
                below_min_documents += 1;
                continue;
            }
            for place in repeat.places.iter().filter(|place| place.document >= references) {
                ranges.entry(place.document).or_default().push((place.token, place.token + repeat.tokens));
            }
            if first.document == second.document && second.token < first.token + repeat.tokens {
                let count = overlapping.entry(first).or_insert(0);
                *count += 1;
                if *count > MOST_OVERLAPPING {
                    continue;
                }
            }
            let at = |place: &crate::passages::Place| {
                let tokens = &tokens[place.document];
                let (start, end) = (tokens.span(place.token).start, tokens.span(place.token + repeat.tokens - 1).end);
                let line = texts[place.document][..start].matches('\n').count() + 1;
                (place.document, start, end, line)
            };
            let places: Vec<At> = repeat.places.iter().take(options.max_places).map(at).collect();
            let text = texts[first.document][places[0].1..places[0].2].to_string();
            rows.push((size, repeat.count as u64, repeat.documents as u64, places, text));
        }
        let joined = ranges.into_iter().map(|(document, mut ranges)| {
            ranges.sort_unstable();
            let mut joined: Vec<(usize, usize)> = Vec::new();
            for (start, end) in ranges {
                match joined.last_mut() {
                    Some(last) if start <= last.1 => last.1 = last.1.max(end),
                    _ => joined.push((start, end)),
                }
            }
            let bytes =
                |(start, end): (usize, usize)| tokens[document].span(start).start..tokens[document].span(end - 1).end;
            (document, joined.into_iter().map(bytes).collect())
        });
        (rows, joined.collect(), below_min_documents)
    }

    /// What is found of texts that are read from JSON lines, of which the first are a reference.
    fn found(texts: &[String], references: usize, options: &PassageOptions) -> (Vec<Row>, Ranges, u64) {
        let folder = tempfile::tempdir().unwrap();
        let input = |name: &str, texts: &[String]| {
            fs::write(folder.path().join(name), json_lines(texts)).unwrap();
            Input::new(vec![folder.path().join(name)], ReadOptions::default())
        };
        let mut reference = (references > 0).then(|| input("reference.jsonl", &texts[..references]));
        let mut source = input("source.jsonl", &texts[references..]);
        let side = |reference: &mut Option<Input>| -> Option<Box<dyn Source>> {
            reference.take().map(|input| Box::new(input) as Box<dyn Source>)
        };
        let mut reference = side(&mut reference);
        let mut passages = find_passages(&mut source, as_source(&mut reference), options, &()).unwrap();
        let row = |passage: &Passage<'_>| -> Row {
            assert!(passage.places.iter().all(|place| place.is_reference == (place.document < references)));
            let places = passage.places.iter().map(|place| (place.document, place.start, place.end, place.line));
            (passage.words, passage.count, passage.documents, places.collect(), passage.text.to_string())
        };
        let mut rows = Vec::new();
        passages
            .for_each(&mut source, as_source(&mut reference), &(), |passage| {
                assert_eq!(passage.id, rows.len() as u64 + 1);
                rows.push(row(passage));
                Ok(())
            })
            .unwrap();
        let mut in_chunks = Vec::new();
        let add = |chunk: &mut Vec<(u64, Row)>, passage: &Passage<'_>| {
            chunk.push((passage.id, row(passage)));
            Ok(())
        };
        let mut take = |chunk: Vec<(u64, Row)>| {
            assert!(!chunk.is_empty());
            in_chunks.extend(chunk);
            Ok(())
        };
        passages.for_each_chunk(&mut source, as_source(&mut reference), &(), add, &mut take).unwrap();
        assert!(in_chunks.into_iter().eq((1..).zip(rows.iter().cloned())));
        let mut spans = find_spans(&mut source, as_source(&mut reference), options, &()).unwrap();
        let mut ranges = Ranges::new();
        spans
            .for_each(&mut source, as_source(&mut reference), &(), |of_one| {
                assert!(ranges.insert(of_one.document, of_one.spans.clone()).is_none());
                Ok(())
            })
            .unwrap();
        assert_eq!((passages.counts().failed, spans.counts().failed), (0, 0));
        assert_eq!(passages.below_min_documents(), spans.below_min_documents());
        (rows, ranges, spans.below_min_documents())
    }

    fn as_source(reference: &mut Option<Box<dyn Source>>) -> Option<&mut dyn Source> {
        match reference {
            Some(source) => Some(&mut **source),
            None => None,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn exactly_the_maximal_passages(
            texts in texts(),
            min_words in prop_oneof![1usize..9, Just(20), Just(50)],
            (references, max_places, threads) in (0usize..3, 1usize..5, 1usize..4),
            min_documents in prop_oneof![Just(1usize), 2usize..5],
            memory in prop_oneof![Just(0u64), Just(1 << 30)],
        ) {
            let references = if references < texts.len() { references } else { 0 };
            let options =
                PassageOptions { min_words, min_documents, max_places, threads, memory, ..PassageOptions::default() };
            let (rows, ranges, below_min_documents) = expected(&texts, references, &options);
            let found = found(&texts, references, &options);
            prop_assert_eq!(&found.0, &rows);
            prop_assert_eq!(found.1, ranges);
            prop_assert_eq!(found.2, below_min_documents);
        }
    }

    /// Texts that are many times alike, or repeat themselves: all found, in time that is not quadratic.
    #[test]
    fn hostile_texts() {
        let page: String = (0..100).map(|n| format!("word{n} ")).collect();
        let copies: Vec<String> = (0..5000).map(|n| format!("before{n} {page} after{n}")).collect();
        let period = "a ".repeat(50_000);
        let options = PassageOptions { max_places: 2, ..PassageOptions::default() };
        let (rows, ranges, _) = found(&copies, 0, &options);
        let [(100, 5000, 5000, places, text)] = &rows[..] else { panic!("{} passages", rows.len()) };
        assert_eq!((places.len(), text.as_str(), ranges.len()), (2, page.trim_end(), 5000));

        let (rows, ranges, _) = found(std::slice::from_ref(&period), 0, &options);
        let lengths: Vec<u64> = rows.iter().map(|row| row.0).collect();
        assert_eq!(lengths, (0..10).map(|n| 49_999 - n).collect::<Vec<_>>());
        assert_eq!(ranges[&0], vec![Range { start: 0, end: 99_999 }]);

        // The ten longest of those that are in two documents: the longer ones of the first document take no room.
        let options = PassageOptions { min_documents: 2, ..options };
        let (rows, _, below_min_documents) = found(&[period, "a ".repeat(1000)], 0, &options);
        let numbers: Vec<(u64, u64)> = rows.iter().map(|row| (row.0, row.2)).collect();
        assert_eq!(numbers, (0..10).map(|n| (1000 - n, 2)).collect::<Vec<_>>());
        assert_eq!(below_min_documents, 48_999);
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let refusal = |options: PassageOptions| {
            find_passages(&mut Listed::new([("a", "b")]), None, &options, &()).err().unwrap().to_string()
        };
        let places = refusal(PassageOptions { max_places: 0, ..PassageOptions::default() });
        let words = refusal(PassageOptions { min_words: 10_001, ..PassageOptions::default() });
        let documents = refusal(PassageOptions { min_documents: 0, ..PassageOptions::default() });
        assert!(places.contains("`max_places`") && words.contains("`min_words`"), "{places} {words}");
        assert!(documents.contains("`min_documents`"), "{documents}");
    }

    /// The places of a document that changed are missing, and it is a problem.
    #[test]
    fn a_document_that_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let copy: String = (0..60).map(|n| format!("word{n} ")).collect();
        let texts = [copy.clone(), copy.clone(), copy.clone()];
        fs::write(&path, json_lines(&texts)).unwrap();
        let mut source = Input::new(vec![path.clone()], ReadOptions::default());
        let mut passages = find_passages(&mut source, None, &PassageOptions::default(), &()).unwrap();
        fs::write(&path, json_lines(&[texts[0].clone(), texts[1].replace("word7", "other"), texts[2].clone()]))
            .unwrap();
        let mut places = Vec::new();
        let each = |passage: &Passage<'_>| {
            places.extend(passage.places.iter().map(|place| place.document));
            Ok(())
        };
        passages.for_each(&mut source, None, &(), each).unwrap();
        assert_eq!((places, passages.counts().failed), (vec![0, 2], 1));
    }

    /// An error of either function ends it, with what was passed on before.
    #[test]
    fn an_error_ends_chunks() {
        let paragraph = |name: usize| (0..60).map(|n| format!("word{n}of{name} ")).collect::<String>();
        let texts: Vec<(String, String)> = (0..200).map(|n| (format!("d{n}"), paragraph(n / 2))).collect();
        for threads in [1, 3] {
            let mut source = Listed::new(texts.iter().map(|(id, text)| (id.as_str(), text.as_str())));
            let options = PassageOptions { threads, ..PassageOptions::default() };
            let mut passages = find_passages(&mut source, None, &options, &()).unwrap();
            assert_eq!(passages.len(), 100);
            let stop = |at: u64| Err(Error::Empty(at.to_string()));
            let numbered = |chunk: &mut Vec<u64>, passage: &Passage<'_>| {
                chunk.push(passage.id);
                Ok(())
            };
            let mut taken = Vec::new();
            let add = |chunk: &mut Vec<u64>, passage: &Passage<'_>| match passage.id {
                70 => stop(70),
                _ => numbered(chunk, passage),
            };
            let take = |chunk: Vec<u64>| {
                taken.extend(chunk);
                Ok(())
            };
            let error = passages.for_each_chunk(&mut source, None, &(), add, take).unwrap_err();
            assert_eq!(error.to_string(), stop(70).unwrap_err().to_string());
            assert!(taken.len() < 70 && taken.iter().copied().eq(1..=taken.len() as u64), "{taken:?}");
            let take = |chunk: Vec<u64>| if chunk.contains(&50) { stop(50) } else { Ok(()) };
            let error = passages.for_each_chunk(&mut source, None, &(), numbered, take).unwrap_err();
            assert_eq!(error.to_string(), stop(50).unwrap_err().to_string());
        }
    }

    /// What is read in several portions, because it has many places, is one problem.
    #[test]
    fn a_document_that_changes_is_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let paragraph = |name: &str| (0..60).map(|n| format!("{name}{n} ")).collect::<String>();
        let text = |n: usize| format!("{}x{n} {}y{n} {}", paragraph("a"), paragraph("b"), paragraph("c"));
        let mut texts: Vec<String> = (0..600).map(text).collect();
        fs::write(&path, json_lines(&texts)).unwrap();
        let mut source = Input::new(vec![path.clone()], ReadOptions::default());
        let options = PassageOptions { memory: 0, max_places: 1000, ..PassageOptions::default() };
        let mut passages = find_passages(&mut source, None, &options, &()).unwrap();
        const { assert!(3 * 600 > MIN_PLACES) };
        texts[7] = texts[7].replace("a7 ", "other ");
        fs::write(&path, json_lines(&texts)).unwrap();
        let mut places = Vec::new();
        let each = |passage: &Passage<'_>| {
            places.push(passage.places.len());
            Ok(())
        };
        passages.for_each(&mut source, None, &(), each).unwrap();
        assert_eq!((places, passages.counts().failed), (vec![599; 3], 1));
    }
}
