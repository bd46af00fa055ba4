//! The finder: takes documents as words, and returns files, passages and paragraphs that occur more than once, with small edits.
//!
//! [`find`] gets words and the ranges of their blocks; it does not depend on files and markup. Words are hashes, made by [`word`],
//! of folded words without punctuation. Copies that differ in case, punctuation or line breaks are therefore equal by construction.
//!
//! # What is found
//!
//! * **Passages**: similar stretches of at least [`FindOptions::min_words`] words, regardless of blocks.
//! * **Paragraphs**: blocks of [`FindOptions::paragraph_words`] to 400 words that are similar as a whole.
//! * **Files**: documents that are similar as a whole, or of which one is contained in the other, in any order of its passages.
//!
//! For these minima, a Han or Kana character counts as half a word, and so does a letter of Thai, Lao, Khmer and Burmese with its marks:
//! Chinese has about 1.5 of them for each word of English, Japanese more than two.
//!
//! Similarity is `2·matched / (|a| + |b|)` over words. `matched` counts the words that an alignment keeps, so words in another order
//! count as edits. For whole files it counts the words in common passages, in any order.
//!
//! # How
//!
//! Places with the same four consecutive words are paired and extended to common runs. Runs that ascend in both documents are
//! chained, the gaps between them are aligned exactly, and the chain is cut into stretches that score above the threshold. A stretch
//! that would reach less than four words into the next block ends with its block. Paragraphs with a common run are compared exactly.
//!
//! What is reported of a passage does not end with a heading, nor start or end with fewer than eight words of a longer sentence, or half of
//! it or less, provided that the rest reaches the minima.
//!
//! With [`FindOptions::strict`] also passages of [`STRICT_WORDS`] or more within one block, and paragraphs with the same sentences in
//! another order.
//!
//! # What is not reported
//!
//! * Redundant findings. Reported findings connect their matching words, and of a further passage or paragraph only the parts are
//!   reported that are not connected yet, if they are long enough. So n copies of a passage give n − 1 findings rather than n², which
//!   [`grouped`] makes one, and no two findings are about the same words of the same two places. A file is reported if half of its
//!   matching words, or [`FindOptions::min_words`] of them, are not connected yet.
//! * Sections at other places of one sequence: of two documents, a passage or paragraph of which findings with more words of the same two
//!   documents cover half in both. Unless these two places are those of other findings: then all are about one text.
//! * Low content: the matching words must include half the minimum of distinct words with a letter. Tables of numbers and
//!   repetitions of one word are not found.
//! * Parallel wording: within one document, paragraphs shorter than a passage may have only half as many edits.
//! * Set phrases: edited paragraphs shorter than a passage, if fewer than half of [`FindOptions::paragraph_words`] matching words remain
//!   without the runs of four words that occur in many places. "Django 4.1.6 fixes a security issue and a bug in 4.1.5" is not a copy
//!   of similar sentences. Without edits it would be a copy, however often it occurs.
//! * Contained files with fewer words than two passages: they are reported as passages, not as files.
//!
//! # Cost
//!
//! Linear in the words, except for a sort. A place is paired with at most 14 earlier places with the same four words: the first three, the
//! nearest three, and those in the eight documents that share most with its own;
//! [`Found::frequent`] counts the runs of four words that occur more often. The comparison is cut short for texts that repeat
//! themselves very often, and for paragraphs with the same words as many others; [`Found::cut_short`] counts those documents.

mod covered;
mod ends;
mod finding;
mod grams;
mod groups;
mod paragraphs;
mod select;
mod trim;

pub use finding::{Document, FindOptions, Finding, Judgement, Kind, Place, STRICT_WORDS, has_letter, size, word};
pub use groups::{Group, grouped};

use crate::hash::sequence_hash;
use crate::passages::Run;
use crate::passages::align::Aligner;
use ends::Outline;
use grams::{Grams, Text};
use paragraphs::{Compared, Paragraphs};
use rayon::prelude::*;
use select::Candidate;
use std::ops::Range;

/// The findings, and the effects of limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Ordered by document and place: first `a`, then `b`.
    pub findings: Vec<Finding>,
    /// How many distinct runs of four words occur in so many places that not all pairs were compared: common phrases, and text that
    /// was copied often. Two copies can be missed only if everything that they share is that frequent.
    pub frequent: usize,
    /// How many documents repeat themselves or others so much that common runs were cut short. Copies in them can be missing or be
    /// reported in parts.
    pub cut_short: usize,
}

/// Finds the copies among documents.
///
/// The findings do not depend on the number of threads. With the documents in another order, the same texts are found, but paired
/// differently where there are more than two copies.
///
/// Cost: linear in the words, except for a sort.
/// Memory: up to 32 bytes a word, 16 more at first, plus the findings; ten times as much for a document that repeats itself
/// throughout.
///
/// ```
/// use neardups::check::find::{Document, Kind, FindOptions, find, word};
/// let words = |text: &str| text.split_whitespace().map(word).collect::<Vec<u64>>();
/// let one = words("the index is written once an hour and read again when the server starts or is forced to");
/// let two = words("the index is written twice an hour and read again when the server starts or is asked to");
/// let documents = [&one, &two].map(|words| Document { words, blocks: &[0..17], ..Document::default() });
/// let found = find(&documents, &FindOptions::default());
/// assert_eq!(found.findings[0].kind, Kind::File);
/// assert_eq!(found.findings[0].matched, 15);
/// ```
pub fn find(documents: &[Document], options: &FindOptions) -> Found {
    find_judged(documents, options, |_| Some(Judgement::default()))
}

/// [`find`] with a judge for each finding, called before redundant findings are dropped. `None` drops the finding; it then makes no
/// other finding redundant. If a whole file is dropped, its passages and paragraphs are judged instead.
///
/// The judge may depend on the finding and on [`Document::scope`]. Of a text that occurs in more than seven places, not all pairs are
/// compared ([`Found::frequent`]): if those that are compared are dropped, the others may be missed.
pub fn find_judged(
    documents: &[Document],
    options: &FindOptions,
    judge: impl Fn(&Finding) -> Option<Judgement> + Sync,
) -> Found {
    find_with(documents, options, false, judge).0
}

/// [`find_judged`], and what is redundant because these findings cover its places, if `with_covered`: what may be reported once they are
/// gone.
pub(super) fn find_with(
    documents: &[Document],
    options: &FindOptions,
    with_covered: bool,
    judge: impl Fn(&Finding) -> Option<Judgement> + Sync,
) -> (Found, Vec<Finding>) {
    let (firsts, mut findings) = copies(documents, options, &judge);
    let search = Search::new(documents, &firsts, options, &judge);
    let grams = Grams::new(&search.text);
    let found: Vec<(Vec<Judged>, bool)> =
        (0..firsts.len()).into_par_iter().map(|own| search.before(&grams, own)).collect();
    let (frequent, cut_short) = (grams.frequent(), found.iter().filter(|(_, cut_short)| *cut_short).count());
    drop(grams);
    let candidates = found.into_iter().flat_map(|(candidates, _)| candidates).collect();
    let is_enough = |part: &Candidate, judgement: &Judgement| search.is_enough(part, judgement.number, options);
    let select::Selected { selected, covered } = select::select(candidates, &search.text, options, is_enough);
    let finding = |(judgement, candidate): (Judgement, Candidate)| {
        let candidate = search.with_better_ends(candidate, judgement.number);
        candidate.finding(&search.text, &firsts)
    };
    findings.extend(selected.into_iter().map(finding));
    findings.sort_by_cached_key(order);
    let mut covered: Vec<Finding> = covered.into_iter().filter(|_| with_covered).map(finding).collect();
    covered.sort_by_cached_key(order);
    (Found { findings, frequent, cut_short }, covered)
}

/// The key by which findings are ordered.
fn order(finding: &Finding) -> impl Ord + use<> {
    let [a, b] = [&finding.a, &finding.b].map(|place| (place.document, place.words.start, place.words.end));
    (a, b, finding.kind)
}

/// The indices of the documents that are not represented by an earlier equal one, and the findings for the others.
fn copies(
    documents: &[Document],
    options: &FindOptions,
    judge: impl Fn(&Finding) -> Option<Judgement>,
) -> (Vec<usize>, Vec<Finding>) {
    let mut hashed: Vec<(u128, usize, usize)> = documents
        .par_iter()
        .enumerate()
        .filter(|(_, document)| !document.words.is_empty())
        .map(|(number, document)| (sequence_hash(document.words, 0), document.scope, number))
        .collect();
    hashed.par_sort_unstable();
    let (mut firsts, mut findings) = (Vec::new(), Vec::new());
    for group in hashed.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
        let first = group[0].2;
        firsts.push(first);
        let words = documents[first].words;
        let run = Run { a: 0, b: 0, tokens: words.len() };
        let is_file = is_file(words, options);
        for &(.., number) in &group[1..] {
            let place = |document| Place { document, words: 0..words.len() };
            let finding =
                Finding { kind: Kind::File, a: place(first), b: place(number), matched: words.len(), runs: vec![run] };
            match judge(&finding).filter(|judgement| is_file && judgement.number == 0) {
                Some(_) => findings.push(finding),
                None => firsts.push(number),
            }
        }
    }
    firsts.sort_unstable();
    (firsts, findings)
}

/// Whether equal documents with these words are a finding.
fn is_file(words: &[u64], options: &FindOptions) -> bool {
    let run = Run { a: 0, b: 0, tokens: words.len() };
    size(words) >= options.paragraph_words && has_content(words, &[run], options.paragraph_words)
}

/// Whether the matching words include at least half of `least` distinct words with a letter.
fn has_content(words: &[u64], runs: &[Run], least: usize) -> bool {
    let matched = runs.iter().flat_map(|run| &words[run.a..run.a + run.tokens]).copied();
    let mut different: Vec<u64> = matched.filter(|&word| has_letter(word)).collect();
    different.sort_unstable();
    different.dedup();
    2 * different.len() >= least
}

/// A candidate that may be reported, with its judgement.
type Judged = (Judgement, Candidate);

/// The documents to compare: of equal ones only the first, if it represents the others.
struct Search<'a, Judge> {
    documents: Vec<Document<'a>>,
    /// The index of each among all documents.
    numbers: &'a [usize],
    text: Text,
    paragraphs: Vec<Paragraphs>,
    options: &'a FindOptions,
    judge: Judge,
}

impl<'a, Judge: Fn(&Finding) -> Option<Judgement>> Search<'a, Judge> {
    fn new(all: &[Document<'a>], numbers: &'a [usize], options: &'a FindOptions, judge: Judge) -> Self {
        let documents: Vec<Document> = numbers.iter().map(|&number| all[number]).collect();
        let text = Text::new(documents.iter().map(|document| document.words));
        let paragraphs = documents
            .par_iter()
            .enumerate()
            .map(|(number, document)| Paragraphs::new(document, text.range(number).start, options))
            .collect();
        Search { documents, numbers, text, paragraphs, options, judge }
    }

    /// The candidates of a document with earlier ones and with itself, and whether the comparison was cut short.
    fn before(&self, grams: &Grams, own: usize) -> (Vec<Judged>, bool) {
        let (runs, cut_short) = grams.runs(&self.text, own);
        let (words, similarity) = (&self.text.words[..], self.options.passage_similarity);
        let (mut aligner, mut found) = (Aligner::new(words, similarity), Vec::new());
        let mut compared = self.paragraphs[own].compared();
        for common in runs.chunk_by(|x, y| x.0 == y.0) {
            let (documents, runs) = ([common[0].0, own], common.iter().map(|(_, run)| *run).collect::<Vec<Run>>());
            match self.equal(documents) {
                Some(file) => found.extend(self.judged(file)),
                None => found.extend(self.parts(grams, documents, &runs, &mut compared, &mut aligner)),
            }
        }
        (found, cut_short || compared.cut_short)
    }

    /// The candidate with its judgement, unless it is dropped.
    fn judged(&self, candidate: Candidate) -> Option<Judged> {
        Some(((self.judge)(&candidate.finding(&self.text, self.numbers))?, candidate))
    }

    /// Whether a part of a candidate may be reported with this number.
    fn is_enough(&self, part: &Candidate, number: usize, options: &FindOptions) -> bool {
        let least = if part.kind == Kind::Paragraph { options.paragraph_words } else { options.min_words };
        part.is_long_and_similar(&self.text, options)
            && has_content(&self.text.words, &part.runs, least)
            && self.judged(part.clone()).is_some_and(|(judged, _)| judged.number == number)
    }

    /// The candidate without parts of sentences at its ends and without headings at its end, as far as what remains is enough. Paragraphs
    /// as a whole and files stay as they are.
    fn with_better_ends(&self, candidate: Candidate, number: usize) -> Candidate {
        let whole = || Candidate::passage(candidate.runs.clone());
        if candidate.kind == Kind::File || whole().is_none_or(|whole| whole.places != candidate.places) {
            return candidate;
        }
        let outlines = candidate.places.each_ref().map(|place| {
            let number = self.text.document_at(place.start);
            Outline { document: self.documents[number], start: self.text.range(number).start }
        });
        // What only a strict search finds is shorter.
        let is_short = candidate.places.iter().all(|place| self.text.size(place.clone()) < self.options.min_words);
        let min_words = if is_short { self.options.shortest() } else { self.options.min_words };
        let options = FindOptions { min_words, ..*self.options };
        let parts = ends::shorter(&candidate.runs, &outlines).into_iter().filter_map(Candidate::passage);
        let mut parts = parts.map(|part| Candidate { kind: candidate.kind, ..part });
        parts.find(|part| self.is_enough(part, number, &options)).unwrap_or(candidate)
    }

    /// The candidate for two equal documents.
    fn equal(&self, [a, b]: [usize; 2]) -> Option<Candidate> {
        let places = [a, b].map(|document| self.text.range(document));
        let run = Run { a: places[0].start, b: places[1].start, tokens: places[0].len() };
        let [one, other] = [a, b].map(|document| self.documents[document].words);
        (a != b && one == other && is_file(one, self.options)).then(|| Candidate::new(Kind::File, places, vec![run]))
    }

    /// The candidates of two documents with these common runs: one file, or passages and paragraphs.
    fn parts(
        &self,
        grams: &Grams,
        [a, b]: [usize; 2],
        runs: &[Run],
        compared: &mut Compared,
        aligner: &mut Aligner<&[u64]>,
    ) -> Vec<Judged> {
        let Search { text, options, .. } = self;
        let blocks = [a, b].map(|document| self.documents[document].blocks);
        let ranges = [a, b].map(|document| text.range(document));
        let starts = [&ranges[0], &ranges[1]].map(|range| range.start);
        // More than half of a passage at the minimum similarity is usually in common runs, but sometimes far less.
        let least = options.shortest().div_ceil(3);
        let mut found = Vec::new();
        let Ok(passages) = aligner.passages(&ranges, runs, least);
        for mut runs in passages {
            trim::trim(&mut runs, blocks, starts, a == b);
            found.extend(self.passages(runs, blocks, starts));
        }
        let paragraphs = [&self.paragraphs[a], &self.paragraphs[b]];
        for (places, runs) in paragraphs::similar(text, runs, a == b, paragraphs, options, compared, &mut aligner.lcs) {
            let paragraph = Candidate::new(Kind::Paragraph, places, runs);
            if has_content(&text.words, &paragraph.runs, options.paragraph_words) && !self.is_phrase(grams, &paragraph)
            {
                found.push(paragraph);
            }
        }
        match select::file(text, &found, [a, b], options).and_then(|file| self.judged(file)) {
            Some(file) => vec![file],
            None => found.into_iter().filter_map(|part| self.judged(part)).collect(),
        }
    }

    /// The passage of these runs, if it is long and similar enough. With [`FindOptions::strict`], shorter parts of it within one block.
    fn passages(&self, runs: Vec<Run>, blocks: [&[Range<usize>]; 2], starts: [usize; 2]) -> Vec<Candidate> {
        let Search { text, options, .. } = self;
        let enough = |runs: Vec<Run>, options: &FindOptions| {
            let has_content = has_content(&text.words, &runs, options.min_words);
            Candidate::passage(runs).filter(|passage| has_content && passage.is_long_and_similar(text, options))
        };
        let shortest = FindOptions { min_words: options.shortest(), ..*self.options };
        let short: Vec<Vec<Run>> = if options.strict { trim::within_blocks(&runs, blocks, starts) } else { Vec::new() };
        match enough(runs, options) {
            Some(passage) => vec![passage],
            None => short.into_iter().filter_map(|runs| enough(runs, &shortest)).collect(),
        }
    }

    /// Whether two short, different paragraphs share little more than frequent phrases.
    fn is_phrase(&self, grams: &Grams, paragraph: &Candidate) -> bool {
        let is_short = paragraph.places.iter().all(|place| self.text.size(place.clone()) < self.options.min_words);
        let is_equal = paragraph.places.iter().all(|place| place.len() == paragraph.matched);
        let rare = || paragraph.runs.iter().map(|run| grams.rare(run.a..run.a + run.tokens)).sum::<usize>();
        is_short && !is_equal && 2 * rare() < self.options.paragraph_words
    }
}

#[cfg(test)]
mod tests;
