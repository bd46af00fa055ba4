//! The passages that pairs of documents share, where the documents do not fit in memory together.
//!
//! Documents are kept as words and places, in memory or in a file. Of each document that contains others, the words are loaded once.

use super::locate::{AgainDocument, Made};
use super::reading::check_stopped;
use super::shared::Answer;
use crate::error::Error;
use crate::hash::shingle_hashes_in_place;
use crate::postings::{Buffer, Stored};
use crate::run::observer::Observer;
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Documents of which the words are kept.
pub(super) struct Kept {
    /// Of each document its words, the bytes of each, and for each line on which a word begins that is the first one there, the number of
    /// the word and of the line.
    words: Stored,
    /// Ascending by number.
    documents: Vec<KeptDocument>,
}

/// The documents of a batch that are kept.
pub(super) type KeptPart = Vec<KeptDocument>;

impl Made for KeptPart {
    fn bytes_held(&self) -> u64 {
        (self.capacity() * size_of::<KeptDocument>()) as u64
    }
}

/// Where a document is kept.
#[derive(Clone, Copy)]
pub(super) struct KeptDocument {
    number: u32,
    tokens: u32,
    lines: u32,
    /// Where its words begin.
    at: u64,
}

/// A passage of two documents: tokens of each, and its length in runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Matched {
    a: u32,
    b: u32,
    runs: u32,
}

/// A passage of two documents: bytes of each, and the lines on which it begins.
pub(super) struct LocatedPair {
    pub a: Range<usize>,
    pub b: Range<usize>,
    pub lines: [usize; 2],
}

/// The passages of one pair.
#[derive(Clone, Copy, Default)]
pub(super) struct PairPassages {
    at: u64,
    count: u32,
    /// The number of passages that are not kept.
    left_out: u32,
}

/// The passages of all pairs: each as three words.
pub(super) struct PassagesOfPairs {
    words: Stored,
    pairs: Vec<PairPassages>,
}

/// The words of a passage: the bytes in each document, and the lines.
const WORDS: usize = 3;

/// The places of a run in the containing document that are compared.
const MAX_PLACES: usize = 32;

/// The words that are written at once.
const AT_ONCE: usize = 1 << 12;

/// The memory of a token while passages are looked for: its run, and its place in the order of the runs.
const BYTES_A_TOKEN: u64 = 16;

impl Kept {
    /// None yet; what does not fit this memory goes to a file in this folder.
    pub fn new(most_bytes: u64, folder: Option<&Path>) -> Self {
        Kept { words: Stored::new("words of documents", most_bytes, folder), documents: Vec::new() }
    }

    /// Keeps the words of a document, on any thread, and adds where they are to a part, for [`add`](Self::add).
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(kept: &Mutex<Kept>, part: &mut KeptPart, number: u32, again: &AgainDocument<'_>) -> Result<(), Error> {
        let AgainDocument { document, tokens, words } = again;
        let text = document.text.as_bytes();
        let stored = &mut kept.lock().unwrap_or_else(PoisonError::into_inner).words;
        let at = stored.len();
        stored.append(words)?;
        let mut block = Vec::with_capacity(AT_ONCE);
        for part in 0..words.len().div_ceil(AT_ONCE) {
            block.clear();
            let spans = (part * AT_ONCE..words.len().min((part + 1) * AT_ONCE)).map(|token| tokens.span(token));
            block.extend(spans.map(|span| (span.start as u64) << 32 | span.end as u64));
            stored.append(&block)?;
        }
        block.clear();
        let (mut line, mut last, mut counted, mut lines) = (1, 0, 0, 0);
        for token in 0..words.len() {
            let start = tokens.span(token).start;
            line += memchr::memchr_iter(b'\n', &text[counted..start]).count() as u64;
            counted = start;
            if line > last {
                (last, lines) = (line, lines + 1);
                block.push((token as u64) << 32 | line);
                if block.len() == AT_ONCE {
                    stored.append(&block)?;
                    block.clear();
                }
            }
        }
        stored.append(&block)?;
        part.push(KeptDocument { number, tokens: words.len() as u32, lines, at });
        Ok(())
    }

    /// Adds the documents of a part. Parts come in the order of their documents.
    pub fn add(kept: &Mutex<Kept>, part: KeptPart) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.documents.extend(part);
    }

    /// The bytes in a file.
    pub fn bytes_spilled(&self) -> u64 {
        self.words.bytes_spilled()
    }

    /// A document, if it was kept.
    pub fn get(&self, number: u32) -> Option<KeptDocument> {
        let place = self.documents.binary_search_by_key(&number, |document| document.number).ok()?;
        Some(self.documents[place])
    }

    /// The runs of a document.
    fn runs(&self, document: KeptDocument, width: usize) -> Result<Vec<u64>, Error> {
        let mut buffer = Buffer::default();
        let words = self.words.read(document.at..document.at + u64::from(document.tokens), &mut buffer)?;
        let mut runs = if self.words.bytes_spilled() > 0 { buffer.into_words() } else { words.to_vec() };
        shingle_hashes_in_place(&mut runs, width);
        Ok(runs)
    }

    /// The bytes of a range of tokens, and the line on which it begins.
    fn locate(&self, document: KeptDocument, range: Range<u32>, buffer: &mut Buffer) -> Result<(u64, u64), Error> {
        let KeptDocument { tokens, lines, at, .. } = document;
        let mut word = |at: u64| self.words.read(at..at + 1, buffer).map(|words| words[0]);
        let spans = at + u64::from(tokens);
        let start = word(spans + u64::from(range.start))? >> 32;
        let end = word(spans + u64::from(range.end) - 1)? & u64::from(u32::MAX);
        // The last line whose first word is at most this one.
        let (mut first, mut last) = (spans + u64::from(tokens), spans + u64::from(tokens) + u64::from(lines));
        while last - first > 1 {
            let middle = first.midpoint(last);
            match word(middle)? >> 32 <= u64::from(range.start) {
                true => first = middle,
                false => last = middle,
            }
        }
        Ok((start << 32 | end, word(first)? & u64::from(u32::MAX)))
    }

    /// The passages that each document and its best one share: those of runs of `width` tokens, at most `most` of each pair. A pair of
    /// which a document is not kept has none.
    ///
    /// # Errors
    /// The observer stops the run, or a temporary file cannot be written or read.
    pub fn passages(
        &self,
        pairs: &[Answer],
        (width, most): (usize, usize),
        (memory, folder): (u64, Option<&Path>),
        observer: &dyn Observer,
    ) -> Result<PassagesOfPairs, Error> {
        let best = |pair: u32| pairs[pair as usize].best;
        let mut order: Vec<u32> = (0..pairs.len() as u32).collect();
        order.sort_by_key(|&pair| best(pair));
        let mut groups = order.chunk_by(|&a, &b| best(a) == best(b)).peekable();
        let stored = Mutex::new(Stored::new("passages", memory / 8, folder));
        let mut found = vec![PairPassages::default(); pairs.len()];
        let tokens = |document: u32| self.get(document).map_or(0, |document| u64::from(document.tokens));
        let bytes = |group: &[u32]| {
            let asked = group.iter().map(|&pair| tokens(pairs[pair as usize].document)).max().unwrap_or_default();
            BYTES_A_TOKEN * (asked + tokens(best(group[0])))
        };
        while let Some(first) = groups.next() {
            check_stopped(observer)?;
            let (mut together, mut taken) = (vec![first], bytes(first));
            while let Some(group) =
                groups.next_if(|group| taken + bytes(group) <= memory / 4 && together.len() < 1 << 12)
            {
                taken += bytes(group);
                together.push(group);
            }
            let of_groups: Vec<Vec<(u32, PairPassages)>> = together
                .par_iter()
                .map(|group| self.passages_in(group, pairs, (width, most), &stored))
                .collect::<Result<_, Error>>()?;
            for (pair, passages) in of_groups.into_iter().flatten() {
                found[pair as usize] = passages;
            }
        }
        Ok(PassagesOfPairs { words: stored.into_inner().unwrap_or_else(PoisonError::into_inner), pairs: found })
    }

    /// The passages of pairs with the same containing document.
    fn passages_in(
        &self,
        group: &[u32],
        pairs: &[Answer],
        (width, most): (usize, usize),
        stored: &Mutex<Stored>,
    ) -> Result<Vec<(u32, PairPassages)>, Error> {
        let Some(of) = self.get(pairs[group[0] as usize].best) else { return Ok(Vec::new()) };
        let sorted = SortedRuns::new(self.runs(of, width)?);
        let (mut found, mut words, mut buffer) = (Vec::new(), Vec::new(), Buffer::default());
        for &pair in group {
            let Some(asked) = self.get(pairs[pair as usize].document) else { continue };
            let runs = self.runs(asked, width)?;
            let mut passages = PairPassages::default();
            words.clear();
            sorted.each_passage(&runs, |Matched { a, b, runs }| {
                if passages.count as usize == most {
                    passages.left_out += 1;
                    return Ok(());
                }
                let tokens = runs + width as u32 - 1;
                let (in_a, line_a) = self.locate(asked, a..a + tokens, &mut buffer)?;
                let (in_b, line_b) = self.locate(of, b..b + tokens, &mut buffer)?;
                words.extend([in_a, in_b, line_a << 32 | line_b]);
                passages.count += 1;
                Ok(())
            })?;
            let mut stored = stored.lock().unwrap_or_else(PoisonError::into_inner);
            passages.at = stored.len();
            stored.append(&words)?;
            found.push((pair, passages));
        }
        Ok(found)
    }
}

/// The runs of a document, and their order.
struct SortedRuns {
    runs: Vec<u64>,
    /// Their places, by the runs and then by themselves.
    order: Vec<u32>,
}

impl SortedRuns {
    fn new(runs: Vec<u64>) -> Self {
        let mut order: Vec<u32> = (0..runs.len() as u32).collect();
        order.par_sort_unstable_by_key(|&place| (runs[place as usize], place));
        SortedRuns { runs, order }
    }

    /// Calls `each` with the passages of a document that are in this one too, in the order of the document: each as long as any at that
    /// place, of the first 32 places of its first run here. Every run that is here is in one of them, and they share no run.
    ///
    /// Cost: at most 32 comparisons for each run, and a search for each passage and each run that is not here.
    fn each_passage(&self, asked: &[u64], mut each: impl FnMut(Matched) -> Result<(), Error>) -> Result<(), Error> {
        let mut at = 0;
        while at < asked.len() {
            let first = self.order.partition_point(|&place| self.runs[place as usize] < asked[at]);
            let places = self.order[first..].iter().take(MAX_PLACES).map(|&place| place as usize);
            let length = |place: usize| asked[at..].iter().zip(&self.runs[place..]).take_while(|(x, y)| x == y).count();
            let mut longest: Option<(usize, usize)> = None;
            for place in places.take_while(|&place| self.runs[place] == asked[at]) {
                let length = length(place);
                if longest.is_none_or(|(_, most)| length > most) {
                    longest = Some((place, length));
                }
            }
            match longest {
                Some((place, runs)) => {
                    each(Matched { a: at as u32, b: place as u32, runs: runs as u32 })?;
                    at += runs;
                }
                None => at += 1,
            }
        }
        Ok(())
    }
}

impl PassagesOfPairs {
    /// The passages of a pair in the order of its first document, and the number of those that are left out.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn of(&self, pair: usize, buffer: &mut Buffer) -> Result<(Vec<LocatedPair>, u32), Error> {
        let PairPassages { at, count, left_out } = self.pairs[pair];
        let words = self.words.read(at..at + WORDS as u64 * u64::from(count), buffer)?;
        let half = |word: u64| (word >> 32) as usize..(word as u32) as usize;
        let located = |&[a, b, lines]: &[u64; WORDS]| {
            let lines = half(lines);
            LocatedPair { a: half(a), b: half(b), lines: [lines.start, lines.end] }
        };
        Ok((words.as_chunks().0.iter().map(located).collect(), left_out))
    }

    /// The bytes in a file.
    pub fn bytes_spilled(&self) -> u64 {
        self.words.bytes_spilled()
    }
}
