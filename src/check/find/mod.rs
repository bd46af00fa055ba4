//! The finder: documents as words in, files, passages and paragraphs that stand elsewhere with small edits out.
//!
//! [`find`] is given the words with the places of their blocks, and knows nothing of files and markup. Words are
//! hashes of folded words without punctuation, made by [`word`], so that copies in other case, with other punctuation or
//! wrapped at another column are equal by construction.
//!
//! # What is found
//!
//! * **Passages**: stretches of at least [`Options::min_words`] words, wherever they begin and end, that are similar enough.
//! * **Paragraphs**: blocks of at least [`Options::paragraph_words`] words, and at most 400, that are similar enough as a
//!   whole.
//! * **Files**: documents that are similar enough as a whole, or of which one is contained in the other, wherever its
//!   passages stand there.
//!
//! For these numbers a Han or Kana character is half a word: Chinese has about 1.5 of them for each word of English, Japanese
//! more than two.
//!
//! Similar is `2·matched / (|a| + |b|)`, over words: `matched` are those that an alignment keeps, so words in another order
//! count as edits. Of whole files what matters is the words in common passages, in whatever order they are.
//!
//! # How
//!
//! Places with the same four words in a row meet and are extended to common runs; runs that rise in both documents
//! are chained; what is between them is aligned exactly; and the chain is cut into the stretches that score above the
//! threshold. It ends with a block if it would reach less than four words into the next. Paragraphs with a common run are
//! compared exactly.
//!
//! # What is not told
//!
//! * What is told already: findings that are told connect the words that match, and a finding is told if half of its
//!   matching words, or [`Options::min_words`], are not connected yet, by whatever other findings. So n copies of a passage give
//!   n − 1 findings, or a few more if they were edited, and not n²; and of whatever has copies at least half is in a finding,
//!   so those that touch a document are enough to judge it.
//! * What says little: of the words that match, half as many as the minimum must be different words with a letter. Tables of
//!   numbers and rows of the same word are not found.
//! * What is written alike: within one document, paragraphs that are shorter than a passage may have half as many edits.
//! * What is a turn of phrase: paragraphs that are shorter than a passage, with edits, if of the words that match fewer than
//!   half of [`Options::paragraph_words`] are left without the runs of four that stand in many places. "Django 4.1.6 fixes a
//!   security issue and a bug in 4.1.5" is a copy of none of its like. Without edits it would be one, however often it stands.
//! * What is contained in a larger file and has fewer words than two passages: it is a passage and not a file.
//!
//! # Cost
//!
//! Linear in the words, but for a sort. A place meets at most six of those before it where the same four words stand; how
//! many runs of four words stand more often than that is [`Found::frequent`]. Texts that repeat themselves without end, and
//! paragraphs with the same words as many others, are cut short, which is [`Found::cut_short`].

mod align;
mod grams;
mod lcs;
mod paragraphs;
mod select;
mod trim;

use crate::hash::{sequence_hash, token_hash};
use crate::passages::Run;
use crate::similarity::{Similarity, Threshold};
use crate::tokenizer::stands_alone;
use grams::{Grams, Text};
use lcs::Lcs;
use paragraphs::{Compared, Paragraphs};
use rayon::prelude::*;
use select::Candidate;
use std::ops::Range;

/// A document as it is looked at here.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Its words, each by [`word`].
    pub words: &'a [u64],
    /// Its blocks, such as paragraphs, headings, items and cells: places among the words, ascending and disjoint. What is in
    /// no block can be in a passage all the same.
    pub blocks: &'a [Range<usize>],
    /// A number for what is asked of it: whoever judges findings treats documents of the same number alike.
    pub scope: usize,
}

/// The hash of a word, which the caller has folded and freed of punctuation. Its lowest bit is set if it has no letter, and
/// the next one if it is a single Han or Kana character.
pub fn word(folded: &str) -> u64 {
    let has_letter = folded.chars().any(char::is_alphabetic);
    let mut characters = folded.chars();
    let is_character = characters.next().is_some_and(stands_alone) && characters.next().is_none();
    token_hash(folded.as_bytes(), 0) & !3 | u64::from(!has_letter) | u64::from(is_character) << 1
}

fn has_letter(word: u64) -> bool {
    word & 1 == 0
}

/// How many words these hashes, made by [`word`], count for: a Han or Kana character is half a word.
pub fn size(words: &[u64]) -> usize {
    words.len() - words.iter().filter(|&&word| word & 2 != 0).count() / 2
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The fewest words of a passage, in the longer of its two places, a Han or Kana character being half a word. Those that do
    /// not match count twice: a copy with edits has them at its ends too, and is found from the first to the last words that match.
    pub min_words: usize,
    /// How similar passages are.
    pub passage_similarity: Threshold,
    /// The fewest words of a paragraph, in the same way.
    pub paragraph_words: usize,
    /// How similar paragraphs are.
    pub paragraph_similarity: Threshold,
    /// How similar whole files are; and how much of a file is contained in another.
    pub file_similarity: Threshold,
}

/// Passages of 40 words at 0.7, paragraphs of 15 words at 0.8, files at 0.8.
impl Default for Options {
    fn default() -> Self {
        let threshold = |hundredths| Threshold::new(hundredths, 100).expect("a share above 0 and up to 1");
        Options {
            min_words: 40,
            passage_similarity: threshold(70),
            paragraph_words: 15,
            paragraph_similarity: threshold(80),
            file_similarity: threshold(80),
        }
    }
}

/// What a finding is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Whole documents.
    File,
    /// A stretch of words.
    Passage,
    /// Two blocks.
    Paragraph,
}

/// A stretch of a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The number of the document, from 0.
    pub document: usize,
    /// The numbers of its words there.
    pub words: Range<usize>,
}

/// Something that stands in two places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// The place in the earlier document, or earlier in the same one.
    pub a: Place,
    /// The other place. The two do not overlap.
    pub b: Place,
    /// How many words match.
    pub matched: usize,
    /// The words that match: common runs by word numbers of the two documents. What is not in a run was edited. In the order
    /// of the first document and, but for files, of the second one too.
    pub runs: Vec<Run>,
}

impl Finding {
    /// `2·matched / (|a| + |b|)`.
    pub fn similarity(&self) -> Similarity {
        Similarity::ratio(2 * self.matched as u64, (self.a.words.len() + self.b.words.len()) as u64)
    }

    /// How much of each place is in the other: `matched / |a|` and `matched / |b|`.
    pub fn containment(&self) -> [Similarity; 2] {
        [&self.a, &self.b].map(|place| Similarity::ratio(self.matched as u64, place.words.len() as u64))
    }
}

/// What was found, and what bounds did to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// By the documents and places: first `a`, then `b`.
    pub findings: Vec<Finding>,
    /// How many different runs of four words stand in so many places that not all of them met: phrases of everyday language,
    /// and what was copied often. Two copies can go unnoticed only if all that they have in common is that frequent.
    pub frequent: usize,
    /// How many documents repeat themselves or others so much that common runs were cut short. Copies in them can be missing,
    /// or be told in parts.
    pub cut_short: usize,
}

/// The copies among documents.
///
/// The same findings for any number of threads. Documents in another order give the same copies, but which of many
/// is told as the copy of which can differ.
///
/// Cost: linear in the words, but for a sort.
/// Memory: up to 32 bytes a word, 16 more at first, and what is found; ten times as much for the words of a document that
/// repeats itself everywhere.
///
/// ```
/// use neardups::check::find::{Document, Kind, Options, find, word};
/// let words = |text: &str| text.split_whitespace().map(word).collect::<Vec<u64>>();
/// let one = words("the index is written once an hour and read again when the server starts or is told to");
/// let two = words("the index is written twice an hour and read again when the server starts or is asked to");
/// let documents = [&one, &two].map(|words| Document { words, blocks: &[0..17], scope: 0 });
/// let found = find(&documents, &Options::default());
/// assert_eq!(found.findings[0].kind, Kind::File);
/// assert_eq!(found.findings[0].matched, 15);
/// ```
pub fn find(documents: &[Document], options: &Options) -> Found {
    find_judged(documents, options, |_| Some(Judgement::default()))
}

/// What becomes of a finding that is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Judgement {
    /// Findings of one number stand in for each other, and not for those of another. 0 is that of ordinary ones: of documents
    /// that are equal and told so with this number, the first stands for the others in findings of all numbers.
    pub number: usize,
    /// Of findings with as many matching words, those of a lesser rank are chosen first.
    pub rank: usize,
}

/// [`find`] with somebody who judges each finding before it is chosen what is told: `None` is not told, and does not stand in
/// for anything else. A file that is not told is judged again by its passages and paragraphs.
///
/// A judge looks at what a finding is, and at [`Document::scope`]. Of what stands in more than seven places not all meet
/// ([`Found::frequent`]): if those that do are not told, others may not be either.
pub fn find_judged(
    documents: &[Document],
    options: &Options,
    judge: impl Fn(&Finding) -> Option<Judgement> + Sync,
) -> Found {
    let (firsts, mut findings) = copies(documents, options, &judge);
    let search = Search::new(documents, &firsts, options, &judge);
    let grams = Grams::new(&search.text);
    let found: Vec<(Vec<Judged>, bool)> =
        (0..firsts.len()).into_par_iter().map(|own| search.before(&grams, own)).collect();
    let (frequent, cut_short) = (grams.frequent(), found.iter().filter(|(_, cut_short)| *cut_short).count());
    drop(grams);
    let candidates = found.into_iter().flat_map(|(candidates, _)| candidates).collect();
    let told = select::told(candidates, search.text.words.len(), options);
    findings.extend(told.iter().map(|told| told.finding(&search.text, &firsts)));
    findings.sort_by_cached_key(|finding| {
        let [a, b] = [&finding.a, &finding.b].map(|place| (place.document, place.words.start, place.words.end));
        (a, b, finding.kind)
    });
    Found { findings, frequent, cut_short }
}

/// The numbers of the documents for which no earlier one stands, and the findings that tell the others.
fn copies(
    documents: &[Document],
    options: &Options,
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

/// Whether equal documents of these words are a finding.
fn is_file(words: &[u64], options: &Options) -> bool {
    let run = Run { a: 0, b: 0, tokens: words.len() };
    size(words) >= options.paragraph_words && says_enough(words, &[run], options.paragraph_words)
}

/// Whether the matching words of a finding are half as many different words with a letter as it must have words at least.
fn says_enough(words: &[u64], runs: &[Run], least: usize) -> bool {
    let matched = runs.iter().flat_map(|run| &words[run.a..run.a + run.tokens]).copied();
    let mut different: Vec<u64> = matched.filter(|&word| has_letter(word)).collect();
    different.sort_unstable();
    different.dedup();
    2 * different.len() >= least
}

/// What becomes of a finding, and the finding.
type Judged = (Judgement, Candidate);

/// Documents, of equal ones only the first if it stands for the others.
struct Search<'a, Judge> {
    documents: Vec<Document<'a>>,
    /// The number of each among all.
    numbers: &'a [usize],
    text: Text,
    paragraphs: Vec<Paragraphs>,
    options: &'a Options,
    judge: Judge,
}

impl<'a, Judge: Fn(&Finding) -> Option<Judgement>> Search<'a, Judge> {
    fn new(all: &[Document<'a>], numbers: &'a [usize], options: &'a Options, judge: Judge) -> Self {
        let documents: Vec<Document> = numbers.iter().map(|&number| all[number]).collect();
        let text = Text::new(documents.iter().map(|document| document.words));
        let paragraphs = documents
            .par_iter()
            .enumerate()
            .map(|(number, document)| Paragraphs::new(document, text.range(number).start, options))
            .collect();
        Search { documents, numbers, text, paragraphs, options, judge }
    }

    /// What a document has in common with those before it and with itself, and whether that was cut short.
    fn before(&self, grams: &Grams, own: usize) -> (Vec<Judged>, bool) {
        let (runs, cut_short) = grams.runs(&self.text, own);
        let (mut lcs, mut found) = (Lcs::default(), Vec::new());
        let mut compared = self.paragraphs[own].compared();
        for met in runs.chunk_by(|x, y| x.0 == y.0) {
            let (documents, runs) = ([met[0].0, own], met.iter().map(|met| met.1).collect::<Vec<Run>>());
            match self.equal(documents) {
                Some(file) => found.extend(self.judged(file)),
                None => found.extend(self.parts(grams, documents, &runs, &mut compared, &mut lcs)),
            }
        }
        (found, cut_short || compared.cut_short)
    }

    /// What becomes of a candidate, if it is told.
    fn judged(&self, candidate: Candidate) -> Option<Judged> {
        Some(((self.judge)(&candidate.finding(&self.text, self.numbers))?, candidate))
    }

    /// The finding that two documents are equal.
    fn equal(&self, [a, b]: [usize; 2]) -> Option<Candidate> {
        let places = [a, b].map(|document| self.text.range(document));
        let run = Run { a: places[0].start, b: places[1].start, tokens: places[0].len() };
        let [one, other] = [a, b].map(|document| self.documents[document].words);
        (a != b && one == other && is_file(one, self.options)).then(|| Candidate::new(Kind::File, places, vec![run]))
    }

    /// What two documents have in common, given their common runs: one file, or passages and paragraphs.
    fn parts(
        &self,
        grams: &Grams,
        [a, b]: [usize; 2],
        runs: &[Run],
        compared: &mut Compared,
        lcs: &mut Lcs,
    ) -> Vec<Judged> {
        let Search { text, options, .. } = self;
        let blocks = [a, b].map(|document| self.documents[document].blocks);
        let starts = [a, b].map(|document| text.range(document).start);
        // Of a passage at the least similarity more than half is in common runs, but now and then far less.
        let least = options.min_words.div_ceil(3);
        let mut found = Vec::new();
        for mut runs in align::passages(text, runs, a == b, least, options.passage_similarity, lcs) {
            trim::trim(&mut runs, blocks, starts);
            let enough = says_enough(&text.words, &runs, options.min_words);
            found.extend(
                Candidate::passage(runs).filter(|passage| enough && passage.is_long_and_similar(text, options)),
            );
        }
        let paragraphs = [&self.paragraphs[a], &self.paragraphs[b]];
        for (places, runs) in paragraphs::similar(text, runs, a == b, paragraphs, options, compared, lcs) {
            let paragraph = Candidate::new(Kind::Paragraph, places, runs);
            if says_enough(&text.words, &paragraph.runs, options.paragraph_words) && !self.is_phrase(grams, &paragraph)
            {
                found.push(paragraph);
            }
        }
        match select::file(text, &found, [a, b], options).and_then(|file| self.judged(file)) {
            Some(file) => vec![file],
            None => found.into_iter().filter_map(|part| self.judged(part)).collect(),
        }
    }

    /// Whether two short paragraphs that differ have hardly more in common than what stands in many places.
    fn is_phrase(&self, grams: &Grams, paragraph: &Candidate) -> bool {
        let is_short = paragraph.places.iter().all(|place| self.text.size(place.clone()) < self.options.min_words);
        let is_equal = paragraph.places.iter().all(|place| place.len() == paragraph.matched);
        let rare = || paragraph.runs.iter().map(|run| grams.rare(run.a..run.a + run.tokens)).sum::<usize>();
        is_short && !is_equal && 2 * rare() < self.options.paragraph_words
    }
}
