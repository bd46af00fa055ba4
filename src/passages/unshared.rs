//! Which documents share no passage with a reference: these are kept.
//!
//! ```text
//! read     the reference and the documents → tokens                                    (reading.rs)
//! search   ranges of tokens that stand in the reference, or are similar to some of it  (later.rs, near.rs)
//! choose   of each document the longest passage                                        (here)
//! locate   tokens → bytes of the texts, read again                                     (locate.rs)
//! ```

use super::covered::Covered;
use super::cuts::FirstPlace;
use super::cutting::PassageOptions;
use super::later::{Later, Which, later};
use super::locate::{Documents, Locator, RUN_AGAIN};
use super::near::{LaterPlace, Near};
use super::reading::{PassageCounts, Search, check_stopped};
use super::reduced::{most_in, too_many};
use super::runs::ShortDocuments;
use super::sites::{Located, Sites};
use super::stretches::StoredWords;
use crate::error::Error;
use crate::run::batches::Side;
use crate::run::observer::Observer;
use crate::run::ordered::thread_pool;
use crate::run::places::At;
use crate::run::rejections::{Recorded, Rejection, Rejections};
use crate::similarity::{Similarity, Threshold};
use crate::source::Source;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

/// The decision on one record.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PassageVerdict<'a> {
    /// Its id. For a rejected record whose id could not be read, its place.
    pub id: &'a str,
    /// Its number among the documents, in input order, from 0; `None` for a record that could not be read, which is not a document.
    pub document: Option<usize>,
    /// Where it was read.
    pub place: At<'a>,
    /// Whether it is kept.
    pub keep: bool,
    /// What it shares with the reference, if it is not kept.
    pub shared: Option<ReferencePassage<'a>>,
    /// Why it could not be read and was not compared.
    pub error: Option<&'a str>,
    /// Whether it was rejected by rule, such as a file that holds no text: it counts as skipped, not as failed.
    pub is_skipped: bool,
}

/// A passage that stands in a document and in the reference.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReferencePassage<'a> {
    /// Its bytes in the text of the document, as it was read.
    pub range: Range<usize>,
    /// Its length in the reference, in words; a Han or Kana character counts as half a word.
    pub words: u64,
    /// The similarity of both places: 1 for the same words.
    pub similarity: Similarity,
    /// With [`min_coverage`](PassageOptions::min_coverage), the share of the words of the document that are in this passage or in others of
    /// the reference; a Han or Kana character counts as a word.
    pub coverage: Option<Similarity>,
    /// Where it stands in the reference: its first place. The number of the document is that in the reference, from 0.
    pub first: FirstPlace<'a>,
}

/// Why a document is not kept: one of its passages.
struct Reason {
    document: u32,
    /// The length of the first place in words.
    words: u32,
    /// The tokens at the place in the document, those at the first place, and those that are equal.
    tokens: u32,
    first_tokens: u32,
    matched: u32,
    /// The first tokens of both places, in all documents together.
    at: u64,
    first: u64,
    /// The bytes of both.
    own: [u32; 2],
    in_reference: [u32; 2],
    /// Of the tokens of the document, those in passages, and all; no tokens if that is not asked for.
    coverage: [u32; 2],
}

/// The memory of a reason, and of its places while they are located.
const BYTES_A_REASON: u64 = size_of::<Reason>() as u64 + 2 * Sites::BYTES;

impl Reason {
    fn of(document: u32, place: &LaterPlace) -> Self {
        let &LaterPlace { at, tokens, matched, first, first_tokens, words } = place;
        let [own, in_reference, coverage] = [[0; 2]; 3];
        Reason { document, words, tokens, first_tokens, matched, at, first, own, in_reference, coverage }
    }

    /// The passage with most words comes first; of several with as many, the first one in the document, the longest one there, and the one
    /// that stands first in the reference.
    fn order(&self) -> impl Ord + use<> {
        let &Reason { words, tokens, first_tokens, matched, at, first, .. } = self;
        (Reverse(words), at, Reverse(tokens), first, Reverse(first_tokens), Reverse(matched))
    }
}

/// The reasons so far: one for each document.
struct Reasons {
    /// The documents of the reference, which come first, and have none.
    references: u32,
    /// The number of the reason of each further document.
    numbers: Vec<u32>,
    all: Vec<Reason>,
    most: usize,
    /// The tokens in passages, if that is asked for, and the least share of a document.
    covered: Option<(Covered, Threshold)>,
}

/// A document has no reason.
const NONE: u32 = u32::MAX;

impl Reasons {
    fn new(documents: &Documents, options: &PassageOptions) -> Self {
        let references = documents.end_of_references();
        let numbers = vec![NONE; (documents.len() - references) as usize];
        // Of the same part of the memory as other places.
        let most = (most_in::<u8>(options.memory) as u64 / BYTES_A_REASON) as usize;
        let tokens = documents.starts.last().copied().unwrap_or(0);
        let covered = options.min_coverage.map(|least| (Covered::new(tokens), least));
        Reasons { references, numbers, all: Vec::new(), most, covered }
    }

    fn add(&mut self, reason: Reason) -> Result<(), Error> {
        if let Some((covered, _)) = &mut self.covered {
            covered.add(reason.at..reason.at + u64::from(reason.tokens));
        }
        let number = &mut self.numbers[(reason.document - self.references) as usize];
        if let Some(known) = self.all.get_mut(*number as usize) {
            if reason.order() < known.order() {
                *known = reason;
            }
            return Ok(());
        }
        if self.all.len() >= self.most {
            return Err(too_many(self.most, "documents with a passage"));
        }
        *number = self.all.len() as u32;
        self.all.push(reason);
        Ok(())
    }

    /// In the order of the documents, without those of which too little is in passages.
    fn finish(mut self, starts: &[u64]) -> Vec<Reason> {
        if let Some((covered, least)) = &self.covered {
            self.all.retain_mut(|reason| {
                let document = reason.document as usize;
                let tokens = starts[document]..starts[document + 1];
                let all = tokens.end - tokens.start;
                let part = all - covered.missing(tokens);
                reason.coverage = [part as u32, all as u32];
                least.reached_by(part, all)
            });
        }
        self.all.sort_unstable_by_key(|reason| reason.document);
        self.all
    }
}

/// Chooses the documents of a source that are kept: those that have no [passage](super::find_passages) of the `reference`. A document is
/// dropped if a place of one is in it, however many places the passage has: [`max_places`](PassageOptions::max_places) has no effect, and
/// with runs of the same words, those in a text that repeats itself count all. Passages in fewer documents than
/// [`min_documents`](PassageOptions::min_documents) do not count. With [`min_coverage`](PassageOptions::min_coverage), it is dropped if at
/// least this share of its words is in such places, taken together.
///
/// Of the passages in a document, the one with most words is named; of several with as many, the first one in the document.
///
/// # Errors
/// As for [`find_passages`](super::find_passages). A document that changes between the two readings is one too: nothing is decided.
///
/// # Cost
/// As for [`find_spans`](super::find_spans), and one more reading if a document is dropped, in which only such documents and those that are
/// named are cut into tokens. Memory: that of the search, 4 bytes for each document, and some 130 for each that has a passage. With a
/// similarity, 16 bytes for each passage; with a coverage, a bit for each token. If the documents that have a passage, or the passages,
/// do not fit a quarter of the memory and 32 MiB, it is an error.
///
/// ```
/// use neardups::passages::{PassageOptions, find_unshared};
/// use neardups::source::Documents;
///
/// let mut questions = Documents::new([("q1", "Who was the first to sail around the world alone?")]);
/// let mut pages = Documents::new([("quiz", "Answer: who was the first to sail around the world alone?"), ("other", "A page.")]);
/// let options = PassageOptions { min_words: 8, ..PassageOptions::default() };
/// let found = find_unshared(&mut pages, &mut questions, &options, &())?;
/// let named: Vec<_> = found.verdicts().map(|verdict| (verdict.id, verdict.shared.map(|shared| shared.first.id))).collect();
/// assert_eq!(named, [("quiz", Some("q1")), ("other", None)]);
/// # Ok::<(), neardups::Error>(())
/// ```
pub fn find_unshared(
    source: &mut dyn Source,
    reference: &mut dyn Source,
    options: &PassageOptions,
    observer: &dyn Observer,
) -> Result<Unshared, Error> {
    let mut search = Search::read_for_verdicts(source, reference, options, observer)?;
    let rejections = std::mem::take(&mut search.rejections);
    let ids_repeat = search.documents.ids_repeat(rejections.own_ids());
    let mut found = match options.similarity {
        Some(similarity) => {
            let mut near = Near::find(search, options, similarity, observer)?;
            // The reasons have a bit for each token, too.
            near.covered = Covered::new(0);
            let (words, has_halves) = near.words();
            let short = short(&near.documents, words, has_halves, options)?;
            let mut reasons = Reasons::new(&near.documents, options);
            let add = |document: u32, place: LaterPlace| reasons.add(Reason::of(document, &place));
            let (documents, counts, below_min_documents) = near.later_places(options, add)?;
            let reasons = reasons.finish(&documents.starts);
            Unshared { reasons, documents, rejections, short, counts, below_min_documents, ids_repeat }
        }
        None => {
            let Search { mut documents, text, options: find, counts, pool, .. } = search;
            let (ranges, below_min_documents) =
                pool.install(|| later(&text, &find, Which::NotFirst, options.memory))?;
            let (tokens, starts, has_halves) = text.into_tokens();
            documents.starts = starts;
            let mut words = StoredWords::new(&tokens);
            let mut reasons = Reasons::new(&documents, options);
            for range in ranges {
                let size = if has_halves { words.size(range.start..range.end())? as u32 } else { range.tokens };
                let Later { start: at, first, tokens } = range;
                let (matched, first_tokens) = (tokens, tokens);
                let place = LaterPlace { at, tokens, matched, first, first_tokens, words: size };
                reasons.add(Reason::of(documents.number_at(at), &place))?;
            }
            let short = short(&documents, words, has_halves, options)?;
            let reasons = reasons.finish(&documents.starts);
            Unshared { reasons, documents, rejections, short, counts, below_min_documents, ids_repeat }
        }
    };
    check_stopped(observer)?;
    found.locate(&mut Side::both(source, Some(reference)), options, observer)?;
    Ok(found)
}

/// The documents of the reference of which a copy is too short for a passage.
fn short(
    documents: &Documents,
    mut words: StoredWords<'_>,
    has_halves: bool,
    options: &PassageOptions,
) -> Result<ShortDocuments, Error> {
    let mut short = ShortDocuments::default();
    for number in 0..documents.end_of_references() {
        let range = documents.starts[number as usize]..documents.starts[number as usize + 1];
        let (tokens, least) = (range.end - range.start, options.min_words as u64);
        // At most twice as many tokens as words.
        if tokens >= least && !has_halves || tokens >= 2 * least {
            continue;
        }
        let size = if has_halves { words.size(range)? } else { tokens };
        if size < least {
            short.add(true, documents.id(number), size as u32);
        }
    }
    Ok(short)
}

/// The decisions on the documents of a source.
pub struct Unshared {
    /// Of those that are dropped, ascending.
    reasons: Vec<Reason>,
    documents: Documents,
    rejections: Rejections,
    short: ShortDocuments,
    counts: PassageCounts,
    below_min_documents: u64,
    ids_repeat: bool,
}

impl Unshared {
    /// The number of documents that are not kept.
    pub fn dropped(&self) -> u64 {
        self.reasons.len() as u64
    }

    /// The documents of the reference that have fewer than [`min_words`](PassageOptions::min_words) words: a copy of one is no passage. Those
    /// of the source are not counted.
    pub fn short(&self) -> &ShortDocuments {
        &self.short
    }

    /// Checks that a copy of some document of the reference could be found with these options, by which the choice was made: if all are
    /// shorter than a passage, nothing is left out, whatever the documents are.
    ///
    /// # Errors
    /// [`Error::Empty`] if all are shorter.
    pub fn check_lengths(&self, options: &PassageOptions) -> Result<(), Error> {
        if options.similarity.is_some() && self.dropped() > 0 {
            // Words without a match count twice in a passage with edits.
            return Ok(());
        }
        self.short.check(self.counts.references, ("min-words", options.min_words))
    }

    /// What was read.
    pub fn counts(&self) -> &PassageCounts {
        &self.counts
    }

    /// The number of passages that do not count because they are in fewer documents than [`min_documents`](PassageOptions::min_documents).
    pub fn below_min_documents(&self) -> u64 {
        self.below_min_documents
    }

    /// Whether two documents of one side have the same id, so that they are identified by their places.
    pub fn ids_repeat(&self) -> bool {
        self.ids_repeat
    }

    /// A verdict for every record, including those that could not be read, in input order. Those of the reference have none.
    pub fn verdicts(&self) -> impl Iterator<Item = PassageVerdict<'_>> {
        let mut reasons = self.reasons.iter().peekable();
        let (first, end) = (self.documents.end_of_references(), self.documents.len());
        self.rejections.merged(first..end).map(move |record| {
            let document = match record {
                Recorded::Document(document) => document,
                Recorded::Rejected(rejection) => return rejected(&rejection),
            };
            let reason = reasons.next_if(|reason| reason.document == document);
            PassageVerdict {
                id: self.documents.id(document),
                document: Some((document - first) as usize),
                place: self.documents.place(document),
                keep: reason.is_none(),
                shared: reason.map(|reason| self.shared(reason)),
                error: None,
                is_skipped: false,
            }
        })
    }

    fn shared(&self, reason: &Reason) -> ReferencePassage<'_> {
        let &Reason { words, tokens, first_tokens, matched, first, own, in_reference, coverage, .. } = reason;
        let [part, all] = coverage.map(u64::from);
        let range = |[start, end]: [u32; 2]| start as usize..end as usize;
        let number = self.documents.number_at(first);
        let (id, place) = (self.documents.id(number), self.documents.place(number));
        ReferencePassage {
            range: range(own),
            words: u64::from(words),
            similarity: Similarity::ratio(2 * u64::from(matched), u64::from(tokens) + u64::from(first_tokens)),
            coverage: (all > 0).then(|| Similarity::ratio(part, all)),
            first: FirstPlace { id, document: number as usize, place, range: range(in_reference) },
        }
    }

    /// Finds the bytes of the passages.
    fn locate(
        &mut self,
        sources: &mut [Side<'_>],
        options: &PassageOptions,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        if self.reasons.is_empty() {
            return Ok(());
        }
        let reasons = &self.reasons;
        let mut sites = Sites::with_capacity(2 * reasons.len());
        for reason in reasons {
            sites.push(reason.first, reason.first_tokens);
            sites.push(reason.at, reason.tokens);
        }
        sites.order(&self.documents.starts, &thread_pool(options.words().workers())?);
        let locator = Locator { documents: &self.documents, options, observer };
        let changed = locator.locate(sources, &sites, |_| false, &mut BTreeSet::new(), |_| Ok(()))?;
        if changed > 0 {
            let why = format!("{changed} of them changed between two readings: nothing was decided; {RUN_AGAIN}");
            return Err(Error::input("documents", io::Error::other(why)));
        }
        let bytes = |target| sites.located(target).map(|Located { start, end, .. }| [start, end]).unwrap_or_default();
        for (number, reason) in self.reasons.iter_mut().enumerate() {
            [reason.in_reference, reason.own] = [bytes(2 * number), bytes(2 * number + 1)];
        }
        Ok(())
    }
}

/// The verdict on a record that could not be read: it is kept, because its content is unknown.
fn rejected<'a>(rejection: &Rejection<'a>) -> PassageVerdict<'a> {
    let &Rejection { id, at, why, is_skipped } = rejection;
    PassageVerdict { id, document: None, place: at, keep: true, shared: None, error: Some(why), is_skipped }
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::super::corpus::oracle::{json_lines, texts};
    use super::super::corpus::{Passage, find_passages};
    use super::*;
    use crate::hash::mix;
    use crate::run::observer::Stage;
    use crate::similarity::Threshold;
    use crate::source::{Documents as InMemory, Input, ReadOptions};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// What is named of a document that is dropped: the words, its bytes, the similarity, and the document and bytes in the reference.
    type Named = (u64, Range<usize>, f64, usize, Range<usize>);

    fn named(texts: &[String], references: usize, options: &PassageOptions) -> BTreeMap<usize, Named> {
        let ids: Vec<String> = (0..texts.len()).map(|number| format!("d{number}")).collect();
        let side = |range: Range<usize>| {
            InMemory::new(range.map(|number| (ids[number].as_str(), texts[number].as_str())).collect::<Vec<_>>())
        };
        let (mut reference, mut source) = (side(0..references), side(references..texts.len()));
        let found = find_unshared(&mut source, &mut reference, options, &()).unwrap();
        let mut named = BTreeMap::new();
        for (number, verdict) in (references..).zip(found.verdicts()) {
            assert_eq!((verdict.id, verdict.document), (&*ids[number], Some(number - references)));
            assert_eq!((verdict.keep, verdict.error), (verdict.shared.is_none(), None));
            let Some(ReferencePassage { range, words, similarity, first, .. }) = verdict.shared else { continue };
            assert_eq!(first.id, ids[first.document]);
            named.insert(number, (words, range, similarity.value(), first.document, first.range));
        }
        assert_eq!(found.verdicts().count(), texts.len() - references);
        assert_eq!(found.dropped() as usize, named.len());
        named
    }

    /// By the passages that are found, with all of their places; and whether some are not listed.
    fn expected(texts: &[String], references: usize, options: &PassageOptions) -> (BTreeMap<usize, Named>, bool) {
        let options = PassageOptions { max_places: usize::MAX, ..options.clone() };
        let side = |range: Range<usize>| InMemory::new(range.map(|n| ("", texts[n].as_str())).collect::<Vec<_>>());
        let (mut reference, mut source) = (side(0..references), side(references..texts.len()));
        let mut found = find_passages(&mut source, Some(&mut reference), &options, &()).unwrap();
        let left_out = found.left_out() > 0;
        let mut best: BTreeMap<usize, Named> = BTreeMap::new();
        let each = |passage: &Passage<'_>| {
            let first = passage.places[0];
            for place in passage.places.iter().filter(|place| place.document >= references) {
                let (range, first_range) = (place.start..place.end, first.start..first.end);
                let this = (passage.words, range, place.similarity.value(), first.document, first_range);
                let order = |(words, range, ..): &Named| (Reverse(*words), range.start, Reverse(range.end));
                if best.get(&place.document).is_none_or(|known| order(&this) < order(known)) {
                    best.insert(place.document, this);
                }
            }
            Ok(())
        };
        found.for_each(&mut source, Some(&mut reference), &(), each).unwrap();
        (best, left_out)
    }

    /// Texts, with copies in which some words are changed.
    fn edited() -> impl Strategy<Value = Vec<String>> {
        let edits = (2usize..20, 0usize..20, any::<prop::sample::Index>());
        (texts(), prop::collection::vec(edits, 0..5)).prop_map(|(mut texts, edits)| {
            for (every, from, of) in edits {
                let words = texts[of.index(texts.len())].split_inclusive(' ').enumerate();
                let changed = words.map(|(at, word)| match at % every == from % every {
                    true => format!("new{} ", at % 3),
                    false => word.to_string(),
                });
                let text = changed.collect();
                texts.push(text);
            }
            texts
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        /// Whatever the threads and the memory, and however few places are listed.
        #[test]
        fn the_documents_of_all_passages_are_dropped_and_the_longest_one_named(
            texts in edited(),
            min_words in prop_oneof![1usize..9, Just(20), Just(50)],
            (references, threads) in (1usize..4, 1usize..3),
            similarity in prop_oneof![Just(None), prop::sample::select(vec![50u64, 80, 93, 100]).prop_map(Some)],
            min_documents in prop_oneof![2 => Just(1usize), 1 => 2usize..5],
        ) {
            let references = references.min(texts.len() - 1);
            let similarity = similarity.and_then(|share| Threshold::new(share, 100));
            let options =
                PassageOptions { min_words, min_documents, threads, max_places: 1, similarity, ..PassageOptions::default() };
            let named_now = named(&texts, references, &options);
            let (best, left_out) = expected(&texts, references, &options);
            if left_out {
                prop_assert!(best.keys().all(|document| named_now.contains_key(document)));
            } else {
                prop_assert_eq!(&named_now, &best, "{:?}", texts);
            }
            let spilled = PassageOptions { memory: 0, threads: 3 - threads, ..options };
            prop_assert_eq!(named(&texts, references, &spilled), named_now);
        }
    }

    /// Words that stand nowhere else.
    fn words(prefix: &str, count: usize) -> Vec<String> {
        (0..count).map(|number| format!("{prefix}{number}")).collect()
    }

    /// Each half of the third question stands in a question before it, and in one after it; of the page, the word between the halves is
    /// another one.
    #[test]
    fn a_question_whose_parts_stand_in_others_is_found() {
        let [a, b] = ["a", "b"].map(|prefix| words(prefix, 12));
        let other = |prefix| words(prefix, 12);
        let questions = [
            [a.clone(), other("c")],
            [other("d"), b.clone()],
            [a.clone(), b.clone()],
            [a.clone(), other("e")],
            [other("f"), b.clone()],
        ];
        let mut texts: Vec<String> = questions.iter().map(|halves| halves.concat().join(" ")).collect();
        texts.push([&words("g", 5)[..], &a[..11], &["x".into()], &b, &words("h", 5)].concat().join(" "));
        let similarity = Threshold::new(80, 100);
        let options = PassageOptions { min_words: 20, similarity, threads: 1, ..PassageOptions::default() };
        let found = named(&texts, 5, &options);
        assert_eq!(found.len(), 1);
        let (words, _, similarity, question, _) = &found[&5];
        assert_eq!((*words, *similarity, *question), (24, 46.0 / 48.0, 2));
    }

    /// Of questions that are alike, the page has the second or a later one, with edits that no other has.
    #[test]
    fn a_copy_of_any_of_similar_questions_is_found() {
        let mut state = 0;
        let mut random = |below: u64| {
            state = mix(state + 1);
            (state % below) as usize
        };
        for round in 0..40 {
            let template = words("t", 30);
            let mut questions: Vec<Vec<String>> = Vec::new();
            for number in 0..6 {
                let mut question = template.clone();
                (0..6).for_each(|slot| question[5 * slot + random(5)] = format!("s{number}x{slot}"));
                questions.push(question);
            }
            let of = random(6);
            let mut copy = questions[of].clone();
            (0..2).for_each(|edit| copy[random(30)] = format!("edit{edit}"));
            let mut texts: Vec<String> = questions.iter().map(|question| question.join(" ")).collect();
            texts.push([words("g", 9), copy, words("h", 9)].concat().join(" "));
            texts.push(words("i", 60).join(" "));
            let similarity = Threshold::new(80, 100);
            let options = PassageOptions { min_words: 20, similarity, threads: 1, ..PassageOptions::default() };
            let found = named(&texts, 6, &options);
            assert_eq!(found.keys().copied().collect::<Vec<_>>(), [6], "round {round}");
        }
    }

    #[test]
    fn short_questions_are_counted_and_an_empty_reference_has_nothing() {
        let mut pages = InMemory::new([("p", "one two three four five six"), ("empty", "")]);
        let options = PassageOptions { min_words: 5, ..PassageOptions::default() };
        let found = find_unshared(&mut pages, &mut InMemory::new(Vec::<(&str, &str)>::new()), &options, &()).unwrap();
        assert_eq!((found.dropped(), found.verdicts().count()), (0, 2));
        assert_eq!(*found.short(), ShortDocuments::default());
        // Of seven Han characters, each is half a word.
        let questions = [
            ("q1", "one two three"),
            ("q2", "two three four five six"),
            ("q3", "人之初性本善人"),
            ("q4", ""),
            ("q5", "a"),
        ];
        let found = find_unshared(&mut pages, &mut InMemory::new(questions), &options, &()).unwrap();
        let short = found.short();
        assert_eq!((short.references, short.shortest_reference), (4, 1));
        assert_eq!(short.first_references, ["q1", "q3", "q4"]);
        let named: Vec<_> = found.verdicts().map(|verdict| verdict.shared.map(|shared| shared.range)).collect();
        assert_eq!(named, [Some(4..27), None]);
    }

    /// Writes a file again before it is read again.
    struct Rewrites(std::path::PathBuf, String);

    impl Observer for Rewrites {
        fn stage(&self, stage: Stage) {
            if matches!(stage, Stage::Rereading) {
                std::fs::write(&self.0, &self.1).unwrap();
            }
        }
    }

    #[test]
    fn a_document_that_changes_meanwhile_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pages.jsonl");
        let text = words("a", 10).join(" ");
        let lines = |first: &str| json_lines(&[first.to_string(), "other".to_string()]);
        for similarity in [None, Threshold::new(80, 100)] {
            let options = PassageOptions { min_words: 8, similarity, ..PassageOptions::default() };
            let find = |now: String| {
                std::fs::write(&path, lines(&text)).unwrap();
                let mut pages = Input::new(vec![path.clone()], ReadOptions::default());
                let mut questions = InMemory::new([("q", text.as_str())]);
                find_unshared(&mut pages, &mut questions, &options, &Rewrites(path.clone(), now))
            };
            assert_eq!(find(lines(&text)).unwrap().dropped(), 1);
            let changed = find(lines("another text")).map(|found| found.dropped()).unwrap_err().to_string();
            assert!(changed.contains("1 of them changed between two readings: nothing was decided"), "{changed}");
        }
    }
}
