//! Passages with edits.
//!
//! ```text
//! exact    repeats of the minimum length: each range that stands earlier, with its first place   (later.rs)
//! seeds    k-grams → places with an earlier one that may be similar                              (seeds.rs)
//! windows  the seeds and exact ranges of a part of a document → runs, chains, alignments: pairs of similar places  (stretches.rs, longer.rs)
//! select   pairs that cover something new, in order                                              (here)
//! classes  pairs with nearly the same first place → passages                                     (classes.rs)
//! ```
//!
//! **What is covered.** All that [exact passages](super::find_passages) cover: a range that stands earlier, and its first place, are a pair of
//! their own unless other pairs cover both. And a place that is similar to an earlier one, if a k-gram that is selected in both is at no place
//! between them, or if the earlier one is the first place of this k-gram. Against a reference, it suffices that the k-gram is at no more than
//! eight places of it; if it is at more, that this place has more of the k-grams of the document near it than others have.
//!
//! **Cost.** Linear: a place is paired with two others, with eight of a reference at most, or with more if there are no more pairs than tokens;
//! in each window at most 64 times its tokens are aligned. Memory: two bits for each token, 24 bytes for each exact range, and what is similar in the windows that are looked at at once; the
//! rest goes to temporary files if it does not fit.

use super::classes::{Classes, Closed, Similar};
use super::covered::Covered;
use super::cutting::PassageOptions;
use super::later::{Later, Which, later};
use super::locate::Documents;
use super::pieces::fewest;
use super::reading::{PassageCounts, Search, check_stopped};
use super::reduced::most_in;
use super::repeats::{FindOptions, Found, FoundPlace};
use super::seeds::{Reference, pairs};
use super::stretches::{Pairs, StoredWords, Stretches, WINDOW, Window, distinct};
use crate::error::Error;
use crate::postings::{Sorter, Stored};
use crate::run::observer::Observer;
use crate::similarity::Threshold;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::ops::{Range, RangeInclusive};

/// The seeds and exact ranges that all threads take at once: more of them, in windows that may be large, with more memory. Where all that
/// they lead to is similar, each takes some 256 bytes.
const SEEDS_AT_ONCE: RangeInclusive<u64> = 1 << 15..=1 << 17;

/// The windows that all threads take at once.
const WINDOWS_AT_ONCE: usize = 1 << 12;

/// The maximum number of pairs that are looked at for one around an exact range.
const MAX_AROUND: usize = 64;

/// What is similar in the documents of a source.
pub(super) struct Near {
    pub documents: Documents,
    pub counts: PassageCounts,
    /// The tokens in pairs.
    pub covered: Covered,
    pairs: Sorter<4>,
    tokens: Stored,
    has_halves: bool,
    similarity: Threshold,
    pool: ThreadPool,
}

impl Near {
    /// Finds pairs of similar places.
    ///
    /// # Errors
    /// A temporary file cannot be written or read, exact passages do not fit the memory, or the observer stops the run.
    pub fn find(
        search: Search,
        options: &PassageOptions,
        similarity: Threshold,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let Search { mut documents, text, options: find, seeds, mut counts, pool, .. } = search;
        // What is in few documents exactly can be in more of them with edits.
        let find = FindOptions { min_documents: 1, ..find };
        let (exact, _) = pool.install(|| later(&text, &find, Which::NotFirst, options.memory))?;
        let (tokens, starts, has_halves) = text.into_tokens();
        documents.starts = starts;
        let all = documents.starts[documents.starts.len() - 1];
        check_marks(all, options.memory)?;
        let mut covered = Covered::new(all);
        exact.iter().for_each(|range| covered.add(range.start..range.end()));
        let exact = pool.install(|| fewest_pairs(exact));
        check_stopped(observer)?;
        let (eighth, folder) = (options.memory / 8, options.temp_dir.as_deref());
        let reference = find.references.map(|_| Reference {
            end: documents.starts[documents.end_of_references() as usize],
            starts: &documents.starts,
        });
        let seeds = seeds.expect("seeds were selected");
        counts.spilled += seeds.bytes_spilled();
        let seeds = pool.install(|| {
            let rows = Sorter::new("pairs of places", eighth, folder);
            pairs(seeds, &covered, reference, rows)
        })?;
        drop(covered);
        counts.spilled += seeds.bytes_spilled();
        let mut near = Near {
            covered: Covered::new(all),
            pairs: Sorter::new("pairs of passages", eighth, folder),
            documents,
            counts,
            tokens,
            has_halves,
            similarity,
            pool,
        };
        near.look(seeds, &exact, options, observer)?;
        near.counts.spilled += near.pairs.bytes_spilled();
        Ok(near)
    }

    /// Looks at all windows, some at a time.
    fn look(
        &mut self,
        seeds: Sorter<2>,
        exact: &[Later],
        options: &PassageOptions,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let mut seeds = self.pool.install(|| seeds.sorted())?;
        let (mut seed, mut next) = (seeds.next()?, 0);
        let seeds_at_once = (options.memory / 2048).clamp(*SEEDS_AT_ONCE.start(), *SEEDS_AT_ONCE.end()) as usize;
        while seed.is_some() || next < exact.len() {
            let (mut windows, mut rows, begin) = (Vec::new(), Vec::new(), next);
            while rows.len() + next - begin < seeds_at_once && windows.len() < WINDOWS_AT_ONCE {
                let place = seed.map(|[place, _]| place).into_iter().chain(exact.get(next).map(|range| range.start));
                let Some(place) = place.min() else { break };
                let document = self.documents.number_at(place);
                let range = self.window(document, place);
                let (first_row, first_exact) = (rows.len(), next);
                while let Some(row) = seed.filter(|&[place, _]| place < range.end) {
                    rows.push(row);
                    seed = seeds.next()?;
                }
                while exact.get(next).is_some_and(|own| own.start < range.end) {
                    next += 1;
                }
                windows.push(Window { document, range, seeds: first_row..rows.len(), exact: first_exact..next });
            }
            let (tokens, documents) = (&self.tokens, &self.documents);
            let stretches = || {
                Stretches::new(
                    StoredWords::new(tokens),
                    documents,
                    self.similarity,
                    (options.min_words, self.has_halves),
                )
            };
            let pairs: Vec<Pairs> = self.pool.install(|| {
                windows
                    .par_iter()
                    .map_init(stretches, |stretches, window| {
                        stretches.of_window(window, &rows[window.seeds.clone()], &exact[window.exact.clone()])
                    })
                    .collect::<Result<_, Error>>()
            })?;
            check_stopped(observer)?;
            for (window, pairs) in windows.iter().zip(pairs) {
                self.select(pairs, &exact[window.exact.clone()], options.min_words as u64)?;
            }
        }
        Ok(())
    }

    /// The window that holds a token of a document.
    fn window(&self, document: u32, token: u64) -> Range<u64> {
        let (start, end) = (self.documents.starts[document as usize], self.documents.starts[document as usize + 1]);
        let first = start + (token - start) / WINDOW as u64 * WINDOW as u64;
        first..end.min(first + WINDOW as u64)
    }

    /// Takes the pairs of a window that cover enough: half of the minimum length, or anything of an exact range, of which a pair around it is
    /// taken if there is one. Exact ranges that overlap their first places come first: a text that repeats itself is one passage, and not
    /// many short ones side by side. Stretches that were too short where they score best come after those of the window that were not.
    fn select(&mut self, pairs: Pairs, exact: &[Later], min_words: u64) -> Result<(), Error> {
        let Pairs { best: mut similar, mut longer, .. } = pairs;
        distinct(&mut similar);
        distinct(&mut longer);
        let exact = exact.iter().map(|range| Similar {
            first: range.first..range.first + u64::from(range.tokens),
            later: range.start..range.end(),
            matched: range.tokens,
        });
        let (overlapping, exact): (Vec<Similar>, Vec<Similar>) =
            exact.partition(|pair| pair.later.start < pair.first.end);
        for pair in overlapping {
            self.take(pair, 1, None)?;
        }
        for pair in similar.iter().chain(&longer) {
            self.take(pair.clone(), min_words.div_ceil(2), None)?;
        }
        // Both are in the order of the first places.
        let mut exact = exact;
        exact.sort_unstable_by_key(|pair| (pair.first.start, pair.later.start));
        for pair in exact {
            let end = similar.partition_point(|other| other.first.start <= pair.first.start);
            let around = similar[..end].iter().rev().take(MAX_AROUND).find(|other| other.holds(&pair));
            self.take(pair, 1, around)?;
        }
        Ok(())
    }

    /// Takes a pair if enough of one of its places is not covered yet; instead of it, the one around it.
    fn take(&mut self, pair: Similar, enough: u64, around: Option<&Similar>) -> Result<(), Error> {
        let is_new = |range: &Range<u64>| self.covered.missing(range.clone()) >= enough;
        if is_new(&pair.later) || is_new(&pair.first) {
            let pair = around.cloned().unwrap_or(pair);
            self.covered.add(pair.later.clone());
            self.covered.add(pair.first.clone());
            self.pairs.push(pair.into_row())?;
        }
        Ok(())
    }

    /// The passages that the pairs form.
    ///
    /// # Errors
    /// A temporary file cannot be written or read, or there are too many passages for the memory.
    pub fn passages(self, options: &PassageOptions) -> Result<(Found, Documents, PassageCounts), Error> {
        let Near { documents, mut counts, pairs, tokens, has_halves, similarity, pool, .. } = self;
        let mut found = Found::new(true, options.memory, options.temp_dir.as_deref());
        let mut words = StoredWords::new(&tokens);
        let mut classes = Classes::new(similarity, options.max_places, &documents.starts);
        let mut close = |Closed { count, documents, places, .. }: Closed| {
            if documents < options.min_documents as u64 {
                found.below_min_documents += 1;
                return Ok(());
            }
            let FoundPlace { at: first, tokens, .. } = places[0];
            let tokens = u64::from(tokens);
            let size = if has_halves { words.size(first..first + tokens)? } else { tokens };
            found.push_near(size, [count, documents], &places)
        };
        pool.install(|| {
            pairs.for_each(|row| classes.add(Similar::of_row(row), &mut close).map(drop))?;
            classes.finish(&mut close)
        })?;
        pool.install(|| found.sort());
        counts.spilled += found.bytes_spilled();
        Ok((found, documents, counts))
    }

    /// The words of all documents, and whether some count half.
    pub fn words(&self) -> (StoredWords<'_>, bool) {
        (StoredWords::new(&self.tokens), self.has_halves)
    }

    /// Calls `each` with every later place of the passages that the pairs form, and its document, in no order; places within others too. Returns
    /// the number of passages that are in too few documents.
    ///
    /// # Errors
    /// Those of `each`; a temporary file cannot be written or read, or there are too many passages for the memory.
    pub fn later_places(
        self,
        options: &PassageOptions,
        mut each: impl FnMut(u32, LaterPlace) -> Result<(), Error>,
    ) -> Result<(Documents, PassageCounts, u64), Error> {
        let Near { documents, mut counts, covered, pairs, tokens, has_halves, similarity, pool } = self;
        drop(covered);
        let starts = &documents.starts[..];
        let pairs = pool.install(|| pairs.stored(|_| ()))?;
        counts.spilled += pairs.bytes_spilled();
        // The first place of a passage, and whether it is in enough documents, are known when it is closed: then the same passages are made
        // again. Of those in too few documents, the words stay 0.
        let (mut passages, mut below_min_documents) = (Vec::<(u64, [u32; 2])>::new(), 0);
        let (mut words, most) = (StoredWords::new(&tokens), most_in::<(u64, [u32; 2])>(options.memory));
        let mut classes = Classes::new(similarity, 1, starts);
        let mut close = |Closed { number, documents, places, .. }: Closed| {
            if documents < options.min_documents as u64 {
                below_min_documents += 1;
                return Ok(());
            }
            let FoundPlace { at, tokens, .. } = places[0];
            let end = at + u64::from(tokens);
            let size = if has_halves { words.size(at..end)? as u32 } else { tokens };
            let number = number as usize;
            if number >= most {
                let message =
                    "the passages do not fit `memory`: allow more, or raise `min-words` so that fewer are found";
                return Err(Error::Full(format!("{message} ({} found)", number + 1)));
            }
            passages.resize(passages.len().max(number + 1), Default::default());
            passages[number] = (at, [tokens, size]);
            Ok(())
        };
        pairs.for_each_row(|row| classes.add(Similar::of_row(row), &mut close).map(drop))?;
        classes.finish(&mut close)?;
        let mut classes = Classes::new(similarity, 1, starts);
        pairs.for_each_row(|row| {
            let Similar { first, later, matched } = Similar::of_row(row);
            let number = classes.add(Similar { first, later: later.clone(), matched }, |_| Ok(()))?;
            match passages.get(number as usize) {
                Some(&(first, [first_tokens, words])) if words > 0 => {
                    let (at, tokens) = (later.start, (later.end - later.start) as u32);
                    each(documents.number_at(at), LaterPlace { at, tokens, matched, first, first_tokens, words })
                }
                _ => Ok(()),
            }
        })?;
        Ok((documents, counts, below_min_documents))
    }

    /// The tokens in the passages that the pairs form, and the number of passages that are in too few documents.
    ///
    /// # Errors
    /// A temporary file cannot be written or read.
    pub fn covered(self, options: &PassageOptions) -> Result<(Covered, Documents, PassageCounts, u64), Error> {
        let Near { documents, mut counts, covered, pairs, similarity, pool, .. } = self;
        let min_documents = options.min_documents as u64;
        if min_documents <= 1 {
            return Ok((covered, documents, counts, 0));
        }
        drop(covered);
        let starts = &documents.starts[..];
        let pairs = pool.install(|| pairs.stored(|_| ()))?;
        counts.spilled += pairs.bytes_spilled();
        // Whether a passage is in enough documents is known when it is closed: then the same passages are made again.
        let (mut is_reported, mut below_min_documents) = (Covered::new(pairs.len() / 4), 0);
        let mut classes = Classes::new(similarity, 1, starts);
        let mut close = |Closed { number, documents, .. }: Closed| {
            match documents < min_documents {
                true => below_min_documents += 1,
                false => is_reported.add(number..number + 1),
            }
            Ok(())
        };
        pairs.for_each_row(|row| classes.add(Similar::of_row(row), &mut close).map(drop))?;
        classes.finish(&mut close)?;
        let mut covered = Covered::new(starts[starts.len() - 1]);
        let mut classes = Classes::new(similarity, 1, starts);
        pairs.for_each_row(|row| {
            let pair = Similar::of_row(row);
            if is_reported.has(classes.add(pair.clone(), |_| Ok(()))?) {
                covered.add(pair.first);
                covered.add(pair.later);
            }
            Ok(())
        })?;
        Ok((covered, documents, counts, below_min_documents))
    }
}

/// A place of a passage, and the first one.
pub(super) struct LaterPlace {
    /// Its first token, in all documents together, and its length.
    pub at: u64,
    pub tokens: u32,
    /// The tokens that are those of the first place.
    pub matched: u32,
    pub first: u64,
    pub first_tokens: u32,
    /// The length of the first place in words.
    pub words: u32,
}

/// Checks that the marks of so many tokens, two bits for each, fit half of the memory and 16 MiB.
fn check_marks(tokens: u64, memory: u64) -> Result<(), Error> {
    if tokens / 4 <= memory / 2 + (16 << 20) {
        return Ok(());
    }
    let message = format!("the marks of {tokens} tokens do not fit `memory` ({memory} bytes)");
    Err(Error::Full(format!("{message}: allow more, or find passages without edits")))
}

/// As few of these ranges as possible, such that what any of them covers is covered, and likewise their first places: in the order of
/// their starts.
fn fewest_pairs(mut ranges: Vec<Later>) -> Vec<Later> {
    let mut few = Vec::new();
    fewest(ranges.len(), |n| ranges[n].start..ranges[n].end(), |n, _| few.push(ranges[n]));
    let first = |range: &Later| range.first..range.first + u64::from(range.tokens);
    ranges.par_sort_unstable_by_key(|range| (range.first, std::cmp::Reverse(range.tokens), range.start));
    let mut end = 0;
    ranges.retain(|range| {
        let is_further = first(range).end > end;
        end = end.max(first(range).end);
        is_further
    });
    fewest(ranges.len(), |n| first(&ranges[n]), |n, _| few.push(ranges[n]));
    few.par_sort_unstable_by_key(|range| (range.start, range.end(), range.first));
    few.dedup();
    few
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::super::corpus::oracle::{json_lines, texts, words};
    use super::super::corpus::{Passage, find_passages, find_spans};
    use super::super::seeds::Seeding;
    use super::*;
    use crate::hash::mix;
    use crate::source::{Input, ReadOptions, Source};
    use crate::tokenizer::Tokens;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;

    /// A place: the document, its tokens, the line, and the tokens that match those of the first place.
    type At = (usize, Range<usize>, usize, usize);

    /// A passage: its words, its count and that of its documents, its places and its text.
    type Row = (u64, [u64; 2], Vec<At>, String);

    /// Of each document its tokens in passages.
    type Ranges = BTreeMap<usize, Vec<Range<usize>>>;

    /// What is found of texts that are read from JSON lines, of which the first are a reference.
    fn found(texts: &[String], references: usize, options: &PassageOptions) -> (Vec<Row>, Ranges) {
        let (words, tokens) = words(texts);
        let folder = tempfile::tempdir().unwrap();
        let input = |name: &str, texts: &[String]| {
            fs::write(folder.path().join(name), json_lines(texts)).unwrap();
            Input::new(vec![folder.path().join(name)], ReadOptions::default())
        };
        let mut reference = (references > 0).then(|| input("reference.jsonl", &texts[..references]));
        let mut source = input("source.jsonl", &texts[references..]);
        fn side(reference: &mut Option<Input>) -> Option<&mut dyn Source> {
            reference.as_mut().map(|reference| reference as &mut dyn Source)
        }
        let of_tokens = |document: usize, bytes: Range<usize>| {
            let all = 0..words[document].len();
            let starts_before = |at: usize, end: usize| {
                all.clone().take_while(|&n| tokens[document].span(n).start < at.max(end)).count()
            };
            starts_before(bytes.start, 0)..starts_before(0, bytes.end)
        };
        let mut rows = Vec::new();
        let mut each = |passage: &Passage<'_>| {
            assert_eq!(passage.id, rows.len() as u64 + 1);
            let mut first = 0;
            let places = passage.places.iter().map(|place| {
                let own = of_tokens(place.document, place.start..place.end);
                first = if first == 0 { own.len() } else { first };
                let matched = place.similarity.value() * (first + own.len()) as f64 / 2.0;
                assert!((matched - matched.round()).abs() < 1e-6);
                (place.document, own, place.line, matched.round() as usize)
            });
            let counts = [passage.count, passage.documents];
            rows.push((passage.words, counts, places.collect(), passage.text.to_string()));
            Ok(())
        };
        let mut passages = find_passages(&mut source, side(&mut reference), options, &()).unwrap();
        passages.for_each(&mut source, side(&mut reference), &(), &mut each).unwrap();
        let mut spans = find_spans(&mut source, side(&mut reference), options, &()).unwrap();
        let mut ranges = Ranges::new();
        spans
            .for_each(&mut source, side(&mut reference), &(), |own| {
                let tokens = own.spans.iter().map(|span| of_tokens(own.document, span.clone())).collect();
                assert!(ranges.insert(own.document, tokens).is_none());
                Ok(())
            })
            .unwrap();
        assert_eq!((passages.counts().failed, spans.counts().failed), (0, 0));
        assert_eq!(passages.below_min_documents(), spans.below_min_documents());
        (rows, ranges)
    }

    /// The number of words of a longest common subsequence, by a table.
    fn common(a: &[u64], b: &[u64]) -> usize {
        let mut longest = vec![0; b.len() + 1];
        for x in a {
            let mut before = 0;
            for (at, y) in b.iter().enumerate() {
                let here = longest[at + 1];
                longest[at + 1] = if x == y { before + 1 } else { here.max(longest[at]) };
                before = here;
            }
        }
        longest[b.len()]
    }

    fn size(words: &[u64]) -> u64 {
        words.len() as u64 - words.iter().map(|word| word & 1).sum::<u64>() / 2
    }

    fn flags(texts: &[Vec<u64>], ranges: &Ranges) -> Vec<Vec<bool>> {
        let mut flags: Vec<Vec<bool>> = texts.iter().map(|text| vec![false; text.len()]).collect();
        for (&document, ranges) in ranges {
            ranges.iter().for_each(|range| flags[document][range.clone()].fill(true));
        }
        flags
    }

    /// Checks all that the definition says of what is found.
    fn check(
        texts: &[String],
        references: usize,
        options: &PassageOptions,
    ) -> Result<(Vec<Row>, Ranges), TestCaseError> {
        let similarity = options.similarity.unwrap();
        let (words, tokens): (_, Vec<Tokens>) = words(texts);
        let (rows, ranges) = found(texts, references, options);
        let mut covered = Ranges::new();
        for (size_of_first, counts, places, text) in &rows {
            let (document, first, ..) = &places[0];
            let bytes = tokens[*document].span(first.start).start..tokens[*document].span(first.end - 1).end;
            prop_assert_eq!(&texts[*document][bytes], text);
            let first = &words[*document][first.clone()];
            let of_places: BTreeSet<usize> = places.iter().map(|place| place.0).collect();
            prop_assert_eq!(size(first), *size_of_first);
            prop_assert_eq!([places.len() as u64, of_places.len() as u64], *counts);
            prop_assert!(places.len() > 1 && places[0].3 == first.len());
            prop_assert!(places.is_sorted_by_key(|(document, own, ..)| (*document, own.start, own.end)));
            prop_assert!(
                references == 0 || *document < references && places[1..].iter().all(|place| place.0 >= references)
            );
            for (document, own, line, matched) in places {
                let start = tokens[*document].span(own.start).start;
                prop_assert_eq!(texts[*document][..start].matches('\n').count() + 1, *line);
                let own_words = &words[*document][own.clone()];
                let longer = size(first).max(size(own_words));
                let half = [first, own_words].concat().iter().any(|word| word & 1 == 1);
                let matching = if half { matched.div_ceil(2) } else { *matched } as u64;
                let is_first = (*document, own) == (places[0].0, &places[0].1);
                prop_assert!(is_first || 2 * longer >= matching + options.min_words as u64, "{:?}", places);
                prop_assert!(*matched <= common(first, own_words), "{:?}", places);
                prop_assert!(
                    similarity.reached_by(2 * *matched as u64, (first.len() + own.len()) as u64),
                    "{:?}",
                    places
                );
                if *document >= references {
                    covered.entry(*document).or_default().push(own.clone());
                }
            }
        }
        let spans = flags(&words, &ranges);
        prop_assert_eq!(&flags(&words, &covered), &spans);
        if options.min_documents > 1 {
            let all = found(texts, references, &PassageOptions { min_documents: 1, ..options.clone() }).0;
            let in_enough =
                all.into_iter().filter(|(_, [_, documents], ..)| *documents >= options.min_documents as u64);
            prop_assert!(in_enough.eq(rows.iter().cloned()));
            return Ok((rows, ranges));
        }
        let (_, exact) = found(texts, references, &PassageOptions { similarity: None, ..options.clone() });
        for (exact, near) in flags(&words, &exact).iter().zip(&spans) {
            prop_assert!(exact.iter().zip(near).all(|(exact, near)| *near || !exact), "{:?}", texts);
        }
        Ok((rows, ranges))
    }

    /// Texts, with copies in which some words are changed.
    fn edited() -> impl Strategy<Value = Vec<String>> {
        let edits = (2usize..20, 0usize..20, any::<prop::sample::Index>());
        (texts(), prop::collection::vec(edits, 0..4)).prop_map(|(mut texts, edits)| {
            // A character that stands for two words has no word of its own at its place.
            texts.iter_mut().for_each(|text| *text = text.replace('½', "x_1;"));
            for (every, from, of) in edits {
                let words = texts[of.index(texts.len())].split_inclusive(' ').enumerate();
                let changed: Vec<String> = words
                    .map(
                        |(at, word)| {
                            if at % every == from % every { format!("new{} ", at % 3) } else { word.to_string() }
                        },
                    )
                    .collect();
                texts.push(changed.concat());
            }
            texts
        })
    }

    fn share(hundredths: u64) -> Option<Threshold> {
        Threshold::new(hundredths, 100)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn what_is_found_is_similar_and_nothing_exact_is_missed(
            texts in edited(),
            min_words in prop_oneof![1usize..9, Just(20), Just(50)],
            (references, threads, hundredths) in (0usize..3, 1usize..3, prop::sample::select(vec![50u64, 80, 93, 100])),
            min_documents in prop_oneof![2 => Just(1usize), 1 => 2usize..5],
        ) {
            let references = if references < texts.len() { references } else { 0 };
            let options = PassageOptions {
                min_words,
                min_documents,
                threads,
                max_places: usize::MAX,
                similarity: share(hundredths),
                ..PassageOptions::default()
            };
            let (rows, ranges) = check(&texts, references, &options)?;
            let spilled = PassageOptions { memory: 0, threads: 3 - threads, ..options };
            let again = found(&texts, references, &spilled);
            prop_assert_eq!(&again.0, &rows);
            prop_assert_eq!(again.1, ranges);
        }
    }

    /// The plain version for documents without repeated k-grams but those of copies: of all pairs of documents, the best stretch around a
    /// run of the same words that is long enough.
    mod oracle {
        use super::*;

        /// The score of the best stretch after two places, and its words in both documents, by a table.
        fn after(a: &[u64], b: &[u64], hundredths: i64) -> (i64, [usize; 2]) {
            let (mut best, mut ends) = (0, [0, 0]);
            let mut row: Vec<i64> = (0..=b.len() as i64).map(|at| -hundredths * at).collect();
            for (i, x) in (1..).zip(a) {
                let mut before = row[0];
                row[0] -= hundredths;
                for (j, y) in (1..).zip(b) {
                    let here = row[j];
                    row[j] = (here.max(row[j - 1]) - hundredths).max(if x == y {
                        before + 200 - 2 * hundredths
                    } else {
                        i64::MIN
                    });
                    before = here;
                    if row[j] > best {
                        (best, ends) = (row[j], [i, j]);
                    }
                }
            }
            (best, ends)
        }

        /// The best stretch of two documents around a run of at least so many of the same words.
        pub fn stretch(a: &[u64], b: &[u64], least: usize, hundredths: i64) -> Option<[Range<usize>; 2]> {
            let (mut best, mut stretch) = (0, None);
            for i in 0..a.len() {
                for j in 0..b.len() {
                    let begins = a[i] == b[j] && (i == 0 || j == 0 || a[i - 1] != b[j - 1]);
                    let length = a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count();
                    if begins && length >= least {
                        let reversed = |words: &[u64]| words.iter().rev().copied().collect::<Vec<u64>>();
                        let (one, before) = after(&reversed(&a[..i]), &reversed(&b[..j]), hundredths);
                        let (other, after) = after(&a[i + length..], &b[j + length..], hundredths);
                        let score = one + other + (200 - 2 * hundredths) * length as i64;
                        if score > best {
                            best = score;
                            stretch =
                                Some([i - before[0]..i + length + after[0], j - before[1]..j + length + after[1]]);
                        }
                    }
                }
            }
            stretch
        }
    }

    /// Documents of words that are all different, with parts of others in which words are changed, left out and added.
    fn planted(random: &mut impl FnMut(u64) -> u64) -> Vec<String> {
        let mut next = 0;
        let mut new = |count: u64| -> Vec<String> {
            (0..count)
                .map(|_| {
                    next += 1;
                    format!("w{next}")
                })
                .collect()
        };
        let mut documents: Vec<Vec<String>> = (0..3).map(|_| new(40 + random(80))).collect();
        for _ in 0..3 {
            let of = &documents[random(3) as usize];
            let start = random(of.len() as u64 / 2) as usize;
            let part = of[start..of.len().min(start + 30 + random(60) as usize)].to_vec();
            let mut document = new(random(40));
            for word in part {
                match random(30) {
                    0 => document.extend(new(1)),
                    1 => {}
                    2 => document.extend([word, new(1).remove(0)]),
                    _ => document.push(word),
                }
            }
            document.extend(new(random(40)));
            documents.push(document);
        }
        documents.iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn the_best_stretches_are_covered() {
        let mut state = 0;
        let mut random = |below: u64| {
            state = mix(state + 1);
            state % below.max(1)
        };
        let (mut words_of_all, mut missing, mut stretches) = (0, 0, 0);
        for round in 0..300 {
            let texts = planted(&mut random);
            let (words, _) = words(&texts);
            let options =
                PassageOptions { min_words: 30, similarity: share(80), threads: 1, ..PassageOptions::default() };
            let (_, ranges) = found(&texts, 0, &options);
            let covered = flags(&words, &ranges);
            let reach = Seeding::new(options.min_words).reach();
            for (b, later) in words.iter().enumerate() {
                for (a, first) in words[..b].iter().enumerate() {
                    if let Some(ranges) = oracle::stretch(first, later, reach, 80) {
                        if ranges.iter().map(Range::len).max() < Some(options.min_words) {
                            continue;
                        }
                        stretches += 1;
                        for (document, range) in [a, b].into_iter().zip(ranges) {
                            let left = covered[document][range.clone()].iter().filter(|&&covered| !covered).count();
                            assert!(
                                4 * left < range.len(),
                                "round {round}: {left} of {range:?} in {document} of {texts:?}"
                            );
                            (words_of_all, missing) = (words_of_all + range.len(), missing + left);
                        }
                    }
                }
            }
        }
        assert!(stretches > 300, "{stretches}");
        assert!(100 * missing < words_of_all, "{missing} of {words_of_all}");
    }

    /// Of copies with edits anywhere, the best stretch is often too short, and all of the copy is similar.
    #[test]
    fn copies_of_little_more_than_the_minimum_length_are_found() {
        let mut state = 0;
        let mut random = |below: u64| {
            state = mix(state + 1);
            state % below
        };
        // Of Han characters, each counts as half a word.
        let han = |number: u64| char::from_u32(0x4e00 + (mix(number) % 20_000) as u32).unwrap().to_string();
        for (words, edits, least, is_han) in
            [(60, 5, 200, false), (60, 7, 199, false), (80, 12, 198, false), (120, 14, 198, true)]
        {
            let word = |number: u64| if is_han { han(number) } else { format!("w{number} ") };
            let mut documents = Vec::new();
            let mut next = 0;
            let mut new = |count: u64| {
                (0..count)
                    .map(|_| {
                        word({
                            next += 1;
                            next
                        })
                    })
                    .collect::<Vec<String>>()
            };
            for _ in 0..200 {
                let mut text = new(words);
                documents.push([new(5), text.clone(), new(5)].concat().concat());
                let mut edited = std::collections::BTreeSet::new();
                while edited.len() < edits as usize {
                    edited.insert(random(words) as usize);
                }
                edited.into_iter().for_each(|at| text[at] = new(1).remove(0));
                documents.push([new(5), text, new(5)].concat().concat());
            }
            let options = PassageOptions { similarity: share(80), ..PassageOptions::default() };
            let (rows, _) = found(&documents, 0, &options);
            let is_of =
                |number: usize, (_, _, places, _): &Row| (places[0].0, places[1].0) == (2 * number, 2 * number + 1);
            let count = (0..200).filter(|&number| rows.iter().any(|row| is_of(number, row))).count();
            assert!(count >= least, "{count} of 200 copies of {words} words with {edits} edits");
        }
    }

    /// Each part of the question is on each page, in another order, and at more places than can be compared. One page has the question.
    #[test]
    fn a_question_of_parts_that_all_pages_have_is_found() {
        let part = |number: u64| (0..8).map(|word| format!("part{number}word{word}")).collect::<Vec<_>>();
        let question = || (0..5).flat_map(part);
        // Where two parts meet, a word is changed: no run across them is left.
        let is_changed = |at: usize| at % 8 == 7 && at < 39;
        let edited = question().enumerate().map(|(at, word)| if is_changed(at) { format!("new{at}") } else { word });
        let edited = edited.collect::<Vec<_>>();
        let page = |number: u64| -> String {
            let parts = (0..20).flat_map(|at| {
                let own = vec![format!("page{number}at{at}"); 1 + (mix(number * 20 + at) % 4) as usize];
                [part(mix(20 * number + at) % 5), own].concat()
            });
            parts.collect::<Vec<_>>().join(" ")
        };
        let mut pages: Vec<String> = (0..100).map(page).collect();
        pages[60] = format!("{} {} {}", pages[60], question().collect::<Vec<_>>().join(" "), page(200));
        pages.push(edited.join(" "));
        let options = PassageOptions { min_words: 15, similarity: share(70), ..PassageOptions::default() };
        let (rows, ranges) = check(&pages, 100, &options).unwrap();
        assert_eq!(ranges[&100].as_slice(), std::slice::from_ref(&(0..40)), "{rows:?}");
        assert!(rows.iter().any(|row| row.2[0].0 == 60 && row.2[1].1 == (0..40)), "{rows:?}");
    }

    #[test]
    fn the_beginning_of_a_copy_is_no_passage_of_its_own() {
        let texts = [
            "method is not the form will be rendered as a plain Django form. You can customize the form by the Alternatively, you can set \
             the {attr}`~ModelViewSet.exclude_form_fields` attribute to specify the fields to",
            "method is not overridden, the form be rendered as a plain Django form. You can customize the form by to specify the fields be can \
             set the {attr}`~ModelViewSet.exclude_form_fields` attribute to specify the fields to",
        ];
        let options = PassageOptions { min_words: 20, similarity: share(80), ..PassageOptions::default() };
        let (rows, _) = check(&texts.map(String::from), 0, &options).unwrap();
        assert_eq!(rows.len(), 1, "{rows:?}");
    }

    /// Copies that differ from each other, texts of equal words, and texts that repeat themselves: found in time that is not quadratic.
    #[test]
    fn hostile_texts() {
        let page = |n: usize| -> String {
            (0..100).map(|at| if at == n % 90 + 5 { format!("other{n} ") } else { format!("word{at} ") }).collect()
        };
        let copies: Vec<String> = (0..5000).map(|n| format!("before{n} {} after{n}", page(n))).collect();
        let options = PassageOptions { max_places: 2, similarity: share(80), ..PassageOptions::default() };
        let (rows, ranges) = found(&copies, 0, &options);
        let [(100, [5000, 5000], places, _)] = &rows[..] else { panic!("{} passages", rows.len()) };
        assert_eq!((places.len(), ranges.len()), (2, 5000));

        let (rows, ranges) = found(&["a ".repeat(50_000), "a ".repeat(300)], 0, &options);
        assert!(rows.len() < 100, "{}", rows.len());
        assert_eq!(
            (&ranges[&0], &ranges[&1]),
            (&vec![Range { start: 0, end: 50_000 }], &vec![Range { start: 0, end: 300 }])
        );
        let zeros: String = (0..30_000u64).map(|at| if mix(at).is_multiple_of(5) { "1 " } else { "0 " }).collect();
        let (rows, _) = found(&[zeros], 0, &options);
        assert!(rows.len() < 3000, "{}", rows.len());
    }
}
