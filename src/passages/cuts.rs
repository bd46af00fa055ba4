//! What is cut of documents so that each passage stays at one place.
//!
//! ```text
//! read     batches → tokens, anchors → ranges of tokens that stand earlier             (corpus.rs, later.rs)
//! units    whole paragraphs or lines in these ranges, if only such are cut: read again (units.rs)
//! pieces   each range in parts, with places where the same tokens stay                 (pieces.rs)
//! locate   tokens → bytes of the texts, read again                                     (here)
//! ```

use super::cutting::PassageOptions;
use super::later::{Later, Which, later};
use super::locate::{Again, AgainDocument, Documents, Made};
use super::marks::{Before, end_with_marks};
use super::pieces::{Pieces, cover, holding};
use super::reading::{PassageCounts, Search, check_stopped};
use super::text::BYTES_BESIDE;
use super::units::{CutUnit, Unit, units};
use crate::error::Error;
use crate::run::batches::Side;
use crate::run::observer::Observer;
use crate::run::places::At;
use crate::similarity::Threshold;
use crate::source::Source;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// Which places of a passage stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeptPlaces {
    /// The first one.
    #[default]
    First,
    /// None: every place is cut.
    None,
}

/// What is cut of passages that repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutOptions {
    /// Which places stay.
    pub keep: KeptPlaces,
    /// Whether only whole paragraphs or lines are cut: those that stand as a whole in one place of a passage.
    pub unit: CutUnit,
    /// A document that would lose more than this share of its tokens is left out, unless it holds the first place of something that is
    /// cut. Without it, only documents of which no token is left.
    pub max_cut: Option<Threshold>,
}

/// What is cut of a document.
#[derive(Clone)]
#[non_exhaustive]
pub struct DocumentCuts<'a> {
    /// The id of the document.
    pub id: &'a str,
    /// The number of the document in input order, from 0; those of the reference come first.
    pub document: usize,
    /// Where it was read.
    pub place: At<'a>,
    /// The number of its tokens.
    pub tokens: u64,
    /// Of these, those that are cut, or would be if it were not left out.
    pub cut_tokens: u64,
    /// Its length in words; a Han or Kana character counts as half a word.
    pub words: u64,
    /// Whether too much of it is cut, so that all of it is left out.
    pub is_left_out: bool,
    own: Own<'a>,
}

impl<'a> DocumentCuts<'a> {
    /// What is cut, or would be, ascending. Ranges may touch.
    ///
    /// # Cost
    /// Logarithmic in the documents for each, and no memory.
    pub fn cuts(&self) -> impl Iterator<Item = Cut<'a>> + use<'a> {
        self.own.found()
    }
}

impl fmt::Debug for DocumentCuts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DocumentCuts { id, document, place, tokens, cut_tokens, words, is_left_out, .. } = self;
        let cuts: Vec<Cut<'_>> = self.cuts().collect();
        f.debug_struct("DocumentCuts")
            .field("id", id)
            .field("document", document)
            .field("place", place)
            .field("tokens", tokens)
            .field("cut_tokens", cut_tokens)
            .field("words", words)
            .field("is_left_out", is_left_out)
            .field("cuts", &cuts)
            .finish()
    }
}

/// The pieces of a document.
#[derive(Clone, Copy)]
struct Own<'a> {
    documents: &'a Documents,
    pieces: &'a [Later],
    /// The bytes and the words of each.
    measured: &'a [Measured],
    /// The bytes of their first places, if these stay.
    firsts: Option<&'a [[u32; 2]]>,
}

/// The bytes of a piece, and its words.
type Measured = ([u32; 2], u32);

impl<'a> Own<'a> {
    /// Whether all pieces that have bytes have a first place that was found.
    fn are_all_found(&self) -> bool {
        (0..self.measured.len()).all(|at| !self.has_bytes(at) || self.is_found(at))
    }

    fn has_bytes(&self, at: usize) -> bool {
        !is_empty(self.measured[at].0)
    }

    /// Whether the first place was found: where it has changed, its copies stay.
    fn is_found(&self, at: usize) -> bool {
        self.firsts.is_none_or(|firsts| !is_empty(firsts[at]))
    }

    /// The pieces that are cut: those that have bytes, and a first place that was found.
    fn found(self) -> impl Iterator<Item = Cut<'a>> + use<'a> {
        let all = 0..self.measured.len();
        all.filter(move |&at| self.has_bytes(at) && self.is_found(at)).map(move |at| self.cut(at))
    }

    fn cut(&self, at: usize) -> Cut<'a> {
        let Own { documents, pieces, measured, firsts } = *self;
        let range = |[start, end]: [u32; 2]| start as usize..end as usize;
        let (bytes, words) = measured[at];
        let first = firsts.map(|firsts| {
            let number = documents.number_at(pieces[at].first);
            let (id, place) = (documents.id(number), documents.place(number));
            FirstPlace { id, document: number as usize, place, range: range(firsts[at]) }
        });
        Cut { range: range(bytes), words: u64::from(words), first }
    }
}

/// The length of tokens in words: some count half.
fn in_words(tokens: &[u64]) -> u64 {
    let halves = tokens.iter().map(|token| token & 1).sum::<u64>();
    tokens.len() as u64 - halves / 2
}

fn is_empty([start, end]: [u32; 2]) -> bool {
    start >= end
}

/// A range of a text that is cut: words, and the marks after them that would begin a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut<'a> {
    /// Its bytes in the text of the document, as it was read.
    pub range: Range<usize>,
    /// Its length in words; a Han or Kana character counts as half a word.
    pub words: u64,
    /// Where the same words stay; `None` if no place does.
    pub first: Option<FirstPlace<'a>>,
}

/// Where a passage stays.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FirstPlace<'a> {
    /// The id of the document.
    pub id: &'a str,
    /// The number of the document in input order, from 0; those of the reference come first.
    pub document: usize,
    /// Where it was read.
    pub place: At<'a>,
    /// Its bytes in the text of the document, as it was read.
    pub range: Range<usize>,
}

/// How much is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CutCounts {
    /// Documents of which something is cut, and something is left.
    pub cut_documents: u64,
    /// Tokens that are cut of them.
    pub cut_tokens: u64,
    /// Ranges that are cut of them.
    pub cuts: u64,
    /// Documents that are left out because too much of them would be cut.
    pub left_out: u64,
    /// Their tokens.
    pub left_out_tokens: u64,
    /// The sum of the [`words`](Cut::words) of what is cut, and the words of the documents that are left out. Known when the documents
    /// were read again: in [`Cuts::cut_counts`] they are 0.
    pub cut_words: u64,
    /// See [`cut_words`](Self::cut_words).
    pub left_out_words: u64,
    /// Documents of which something is left, and more than half of the tokens are cut.
    pub mostly_cut: u64,
}

impl CutCounts {
    /// Adds the words of a document, of which some are cut.
    #[cfg(feature = "clean")]
    pub(crate) fn add_words(&mut self, document: &DocumentCuts<'_>) {
        match document.is_left_out {
            true => self.left_out_words += document.words,
            false => self.cut_words += document.cuts().map(|cut| cut.words).sum::<u64>(),
        }
    }

    /// Adds a document with this many tokens, of which some would be cut, in some ranges.
    pub(crate) fn add(&mut self, is_left_out: bool, tokens: u64, (cut_tokens, cuts): (u64, usize)) {
        if is_left_out {
            self.left_out += 1;
            self.left_out_tokens += tokens;
        } else {
            self.cut_documents += 1;
            self.cut_tokens += cut_tokens;
            self.cuts += cuts as u64;
            self.mostly_cut += u64::from(cut_tokens > tokens / 2);
        }
    }
}

/// What is to be cut of the documents of a source so that each [passage](super::find_passages) stays only at its first place; with a
/// `reference`, so that nothing is left that stands in it.
///
/// Of each passage, every place but the first one is cut, and where a text repeats itself so that the first place and others
/// overlap, what is not in the first one. So no run of [`min_words`](PassageOptions::min_words) words without a cut in it is left that
/// occurs earlier, and each word that is cut has the same word at a place that is not cut: [`Cut::first`]. With its
/// last word go the marks after it, such as a full stop, that would begin a sentence. With [`CutUnit::Paragraph`] or [`CutUnit::Line`], only paragraphs or lines are cut of which all words are in one place of one passage.
/// With [`min_documents`](PassageOptions::min_documents), only passages in so many documents are cut: runs of words that stand in fewer can be
/// left at several places.
///
/// # Errors
/// As for [`find_passages`](super::find_passages), or a [similarity](PassageOptions::similarity) is given: of passages with edits, not each
/// word stays at another place.
///
/// # Cost
/// As for [`find_spans`](super::find_spans); for units, one more reading. Memory: that of the search, and some 60 bytes for each range
/// that is cut. If these do not fit a quarter of the memory and 32 MiB, it is an error.
pub fn find_cuts(
    source: &mut dyn Source,
    mut reference: Option<&mut dyn Source>,
    options: &PassageOptions,
    cut: &CutOptions,
    observer: &dyn Observer,
) -> Result<Cuts, Error> {
    let but_first = cut.keep == KeptPlaces::First;
    if options.similarity.is_some() {
        let message = "only runs of the same words can be cut: find passages without a `similarity`";
        return Err(Error::Usage(message.into()));
    }
    let (documents, later, counts, below_min_documents) = {
        let reference = reference.as_mut().map(|reference| &mut **reference as &mut dyn Source);
        let search = Search::read(source, reference, options, observer)?;
        let Search { mut documents, text, options: find, counts, pool, .. } = search;
        let which = if but_first { Which::NotInFirst } else { Which::All };
        let (later, below_min_documents) = pool.install(|| later(&text, &find, which, options.memory))?;
        documents.starts = text.starts;
        (documents, later, counts, below_min_documents)
    };
    let mut cuts = Cuts {
        pieces: Vec::new(),
        left_out: Vec::new(),
        documents,
        options: options.clone(),
        unit: cut.unit,
        but_first,
        counts,
        cut_counts: CutCounts::default(),
        below_min_documents,
    };
    let pieces = match cut.unit {
        CutUnit::Words => {
            let mut pieces = cuts.no_pieces();
            cover(&later, |piece| pieces.cut(piece));
            pieces.finish()?
        }
        CutUnit::Paragraph | CutUnit::Line => {
            let (pieces, changed) = cuts.in_units(&later, Side::both(source, reference), observer)?;
            cuts.counts.failed += changed;
            pieces
        }
    };
    cuts.pieces = pieces;
    cuts.leave_out(cut.max_cut);
    check_stopped(observer)?;
    Ok(cuts)
}

/// A piece, its place among those that are sought, and the bytes of its first place.
const BYTES_A_PIECE: u64 = (size_of::<Later>() + size_of::<u32>() + size_of::<[u32; 2]>()) as u64;

/// What is to be cut of the documents of a source.
pub struct Cuts {
    /// In order.
    pieces: Vec<Later>,
    /// The documents that are left out, ascending.
    left_out: Vec<u32>,
    documents: Documents,
    options: PassageOptions,
    unit: CutUnit,
    but_first: bool,
    counts: PassageCounts,
    cut_counts: CutCounts,
    below_min_documents: u64,
}

/// What is located in a batch: the first places of pieces, and what is cut of each document.
#[derive(Default)]
struct Part {
    firsts: Vec<(u32, [u32; 2])>,
    cuts: Vec<OfDocument>,
    /// The memory of both.
    bytes: usize,
}

impl Made for Part {
    fn bytes_held(&self) -> u64 {
        self.bytes as u64
    }
}

impl Made for Vec<Later> {
    fn bytes_held(&self) -> u64 {
        (self.capacity() * size_of::<Later>()) as u64
    }
}

/// The pieces of a document: their bytes, and their words.
struct OfDocument {
    number: u32,
    first_piece: usize,
    /// The words of the whole document.
    words: u64,
    measured: Vec<Measured>,
}

impl Cuts {
    /// What was read.
    pub fn counts(&self) -> &PassageCounts {
        &self.counts
    }

    /// How much is cut.
    pub fn cut_counts(&self) -> &CutCounts {
        &self.cut_counts
    }

    /// The number of passages that are not cut because they are in fewer documents than [`min_documents`](PassageOptions::min_documents).
    pub fn below_min_documents(&self) -> u64 {
        self.below_min_documents
    }

    /// The place of each document, and whether it is left out, in input order, without those of the reference.
    pub fn documents(&self) -> impl Iterator<Item = (At<'_>, bool)> {
        let all = self.documents.end_of_references()..self.documents.len();
        all.map(|number| (self.place(number), self.left_out.binary_search(&number).is_ok()))
    }

    /// The places of the documents of which something is cut, or all, in input order.
    #[cfg(feature = "clean")]
    pub(crate) fn changed_documents(&self) -> impl Iterator<Item = At<'_>> {
        let numbers = self.pieces.iter().map(|piece| self.documents.number_at(piece.start));
        let mut last = None;
        numbers.filter(move |&number| last.replace(number) != Some(number)).map(|number| self.place(number))
    }

    fn place(&self, number: u32) -> At<'_> {
        self.documents.place(number)
    }

    fn no_pieces(&self) -> Pieces<'_> {
        let most = (self.options.memory / 4).saturating_add(BYTES_BESIDE) / BYTES_A_PIECE;
        Pieces::new(&self.documents.starts, self.but_first, most)
    }

    /// The pieces that begin in a document.
    fn of_document(&self, number: u32) -> Range<usize> {
        let place = |number: u32| {
            let start = self.documents.starts.get(number as usize).copied().unwrap_or(u64::MAX);
            self.pieces.partition_point(|piece| piece.start < start)
        };
        place(number)..place(number + 1)
    }

    /// The paragraphs or lines that stand earlier as a whole. Returns the number of documents that have changed, too.
    fn in_units(
        &self,
        later: &[Later],
        mut sources: Vec<Side<'_>>,
        observer: &dyn Observer,
    ) -> Result<(Vec<Later>, u64), Error> {
        let starts = &self.documents.starts;
        let mut pieces = self.no_pieces();
        let wanted = |number: u32| {
            let start = later.partition_point(|one| one.start < starts[number as usize]);
            later.get(start).is_some_and(|one| one.start < starts[number as usize + 1])
        };
        let visit = |found: &mut Vec<Later>, number: u32, again: &AgainDocument<'_>| {
            let first = starts[number as usize];
            let own = units(&again.document.text, again.tokens, self.unit).into_iter();
            let tokens = own.map(|Unit { tokens, .. }| first + tokens.start as u64..first + tokens.end as u64);
            found.extend(tokens.filter_map(|tokens| holding(later, tokens)));
            Ok(())
        };
        let take = |found: Vec<Later>| {
            found.into_iter().for_each(|piece| pieces.cut(piece));
            Ok(())
        };
        let changed = self.again(observer).read(&mut sources, wanted, visit, &mut BTreeSet::new(), take)?;
        Ok((pieces.finish()?, changed))
    }

    fn again<'a>(&'a self, observer: &'a dyn Observer) -> Again<'a> {
        Again { documents: &self.documents, words: self.options.words(), observer, lost: &|_| "nothing of it is cut" }
    }

    /// Decides which documents lose too much, and counts.
    fn leave_out(&mut self, max_cut: Option<Threshold>) {
        let starts = &self.documents.starts;
        let mut holds = vec![false; self.documents.len() as usize];
        if self.but_first {
            self.pieces.iter().for_each(|piece| holds[self.documents.number_at(piece.first) as usize] = true);
        }
        let mut rest = &self.pieces[..];
        while let Some(piece) = rest.first() {
            let number = self.documents.number_at(piece.start);
            let (start, end) = (starts[number as usize], starts[number as usize + 1]);
            let (own, later) = rest.split_at(rest.partition_point(|piece| piece.start < end));
            rest = later;
            let (cut, all) = (own.iter().map(|piece| u64::from(piece.tokens)).sum::<u64>(), end - start);
            let is_too_much = cut == all || max_cut.is_some_and(|max_cut| max_cut.exceeded_by(cut, all));
            let is_left_out = is_too_much && !holds[number as usize];
            if is_left_out {
                self.left_out.push(number);
            }
            self.cut_counts.add(is_left_out, all, (cut, own.len()));
        }
    }

    /// Reads the sources again, which must be the same, and calls `each` with every document of which something is cut, in input
    /// order. A document that has changed is missing: it is a problem, and counted. So is what would be cut because it stands there.
    ///
    /// # Errors
    /// Those of `each`, or a source fails as a whole.
    ///
    /// # Cost
    /// One reading, in which only documents with cuts or with first places are cut into tokens.
    pub fn for_each(
        &mut self,
        source: &mut dyn Source,
        reference: Option<&mut dyn Source>,
        observer: &dyn Observer,
        mut each: impl FnMut(&DocumentCuts<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut sources = Side::both(source, reference);
        let mut by_first: Vec<u32> = if self.but_first { (0..self.pieces.len() as u32).collect() } else { Vec::new() };
        by_first.sort_unstable_by_key(|&piece| (self.pieces[piece as usize].first, piece));
        let firsts = |number: u32| {
            let place = |number: u32| {
                let start = self.documents.starts.get(number as usize).copied().unwrap_or(u64::MAX);
                by_first.partition_point(|&piece| self.pieces[piece as usize].first < start)
            };
            &by_first[place(number)..place(number + 1)]
        };
        let wanted = |number: u32| !firsts(number).is_empty() || !self.of_document(number).is_empty();
        let visit = |part: &mut Part, number: u32, again: &AgainDocument<'_>| {
            let start = self.documents.starts[number as usize];
            part.firsts.extend(firsts(number).iter().map(|&piece| {
                let Later { first, tokens, .. } = self.pieces[piece as usize];
                let first = (first - start) as usize;
                let last = first + tokens as usize - 1;
                (piece, [again.tokens.span(first).start as u32, again.tokens.span(last).end as u32])
            }));
            part.bytes += size_of_val(firsts(number)) / size_of::<u32>() * size_of::<(u32, [u32; 2])>();
            let own = self.of_document(number);
            if !own.is_empty() {
                let measured = self.bytes_of(start, &self.pieces[own.clone()], again);
                part.bytes += size_of::<OfDocument>() + size_of_val(&measured[..]);
                part.cuts.push(OfDocument { number, first_piece: own.start, words: in_words(again.words), measured });
            }
            Ok(())
        };
        // First places come before what is cut.
        let mut located = vec![[0u32; 2]; if self.but_first { self.pieces.len() } else { 0 }];
        let take = |part: Part| {
            part.firsts.into_iter().for_each(|(piece, bytes)| located[piece as usize] = bytes);
            let documents = part.cuts.iter().map(|of| self.document(of, &located));
            documents.filter(|document| document.cuts().next().is_some()).try_for_each(|document| each(&document))
        };
        let changed = self.again(observer).read(&mut sources, wanted, visit, &mut BTreeSet::new(), take)?;
        self.counts.failed += changed;
        Ok(())
    }

    /// The bytes of the pieces of a document that begins with this token, and the words of each. Pieces that touch have what is between
    /// them; others have the marks after them that would begin a sentence. A character that stands for several tokens, such as ½, stays if one
    /// of them does: a piece may have no bytes then.
    fn bytes_of(&self, start: u64, pieces: &[Later], again: &AgainDocument<'_>) -> Vec<Measured> {
        let units = units(&again.document.text, again.tokens, self.unit);
        let unit = |token: usize| {
            let last = units.partition_point(|unit| unit.tokens.start <= token).checked_sub(1)?;
            Some(&units[last])
        };
        let begin = |token: usize| match unit(token) {
            Some(unit) if unit.tokens.start == token => unit.bytes.start,
            _ => again.tokens.span(token).start,
        };
        let end = |token: usize| match unit(token - 1) {
            Some(unit) if unit.tokens.end == token => unit.bytes.end,
            _ => again.tokens.span(token - 1).end,
        };
        let text = &again.document.text;
        let (mut cuts, mut before) = (Vec::with_capacity(pieces.len()), None);
        // Up to where the text is cut, and what is left of it before.
        let (mut cut_to, mut left) = (0, Before::nothing());
        for (at, piece) in pieces.iter().enumerate() {
            let (mut first, mut last) = ((piece.start - start) as usize, (piece.end() - start) as usize);
            let touches_next = pieces.get(at + 1).is_some_and(|next| next.start == piece.end());
            let touches_last = before.replace(last) == Some(first);
            if first > 0 && !touches_last {
                let kept = again.tokens.span(first - 1).end;
                first += (first..last).take_while(|&token| again.tokens.span(token).start < kept).count();
            }
            if last < again.tokens.len() && !touches_next {
                let kept = again.tokens.span(last).start;
                last -= (first..last).rev().take_while(|&token| again.tokens.span(token).end > kept).count();
            }
            if first == last {
                cuts.push(([0; 2], 0));
                continue;
            }
            let mut bytes = [begin(first), if touches_next { begin(last) } else { end(last) }];
            left.add(text.get(cut_to..bytes[0]).unwrap_or_default());
            if self.unit == CutUnit::Words && !touches_next {
                let limit = if last < again.tokens.len() { again.tokens.span(last).start } else { text.len() };
                bytes[1] = end_with_marks(text, bytes[0]..bytes[1], left, limit);
            }
            cut_to = bytes[1];
            cuts.push((bytes.map(|byte| byte as u32), in_words(&again.words[first..last]) as u32));
        }
        cuts
    }

    fn document<'a>(&'a self, of: &'a OfDocument, firsts: &'a [[u32; 2]]) -> DocumentCuts<'a> {
        let OfDocument { number, first_piece, words, measured } = of;
        let (number, own) = (*number, *first_piece..first_piece + measured.len());
        let firsts = self.but_first.then(|| &firsts[own.clone()]);
        let own = Own { documents: &self.documents, pieces: &self.pieces[own], measured, firsts };
        DocumentCuts {
            id: self.documents.id(number),
            document: number as usize,
            place: self.place(number),
            tokens: self.documents.starts[number as usize + 1] - self.documents.starts[number as usize],
            cut_tokens: own.pieces.iter().map(|piece| u64::from(piece.tokens)).sum(),
            words: *words,
            is_left_out: self.left_out.binary_search(&number).is_ok() && own.are_all_found(),
            own,
        }
    }
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::*;
    use crate::passages::corpus::oracle::{json_lines, texts, words};
    use crate::passages::repeats::oracle::by_definition;
    use crate::source::{Input, ReadOptions};
    use crate::tokenizer::Tokens;
    use proptest::prelude::*;
    use std::fs;

    /// What was found of one document: its number, whether it is left out, and its cuts.
    type Row = (usize, bool, Vec<CutRow>);

    /// A cut: its bytes, its words, and the first place.
    type CutRow = (Range<usize>, u64, Option<(usize, Range<usize>)>);

    fn found(texts: &[String], references: usize, options: &PassageOptions, cut: &CutOptions) -> (Vec<Row>, CutCounts) {
        let folder = tempfile::tempdir().unwrap();
        let input = |name: &str, texts: &[String]| {
            fs::write(folder.path().join(name), json_lines(texts)).unwrap();
            Input::new(vec![folder.path().join(name)], ReadOptions::default())
        };
        let mut reference = (references > 0).then(|| input("reference.jsonl", &texts[..references]));
        let mut source = input("source.jsonl", &texts[references..]);
        let mut cuts = match &mut reference {
            Some(reference) => find_cuts(&mut source, Some(reference), options, cut, &()).unwrap(),
            None => find_cuts(&mut source, None, options, cut, &()).unwrap(),
        };
        assert_eq!(cuts.documents().count(), texts.len() - references);
        let counts = cuts.cut_counts().clone();
        let mut rows = Vec::new();
        let each = |document: &DocumentCuts<'_>| {
            let file = if document.document < references { "reference.jsonl" } else { "source.jsonl" };
            let line = document.document - if document.document < references { 0 } else { references } + 1;
            assert!(document.place.path.ends_with(file) && document.place.line == Some(line as u64));
            let row = |cut: Cut<'_>| {
                let first = cut.first.as_ref().map(|first| (first.document, first.range.clone()));
                (cut.range.clone(), cut.words, first)
            };
            rows.push((document.document, document.is_left_out, document.cuts().map(row).collect()));
            Ok(())
        };
        match &mut reference {
            Some(reference) => cuts.for_each(&mut source, Some(reference), &(), each).unwrap(),
            None => cuts.for_each(&mut source, None, &(), each).unwrap(),
        }
        assert_eq!(cuts.counts().failed, 0);
        (rows, counts)
    }

    /// The size of a string, where some tokens count half.
    fn size(string: &[u64]) -> u64 {
        string.len() as u64 - string.iter().map(|word| word & 1).sum::<u64>() / 2
    }

    /// The places that passages are cut at, by the definition: for each document, ranges of tokens that each lie in one place.
    fn expected(
        documents: &[Vec<u64>],
        references: usize,
        options: &PassageOptions,
        keep: KeptPlaces,
    ) -> Vec<Vec<Range<usize>>> {
        let slices: Vec<&[u64]> = documents.iter().map(Vec::as_slice).collect();
        let mut ranges = vec![Vec::new(); documents.len()];
        for repeat in by_definition(&slices, 1) {
            let first = repeat.places[0];
            let of_reference = repeat.places.iter().filter(|place| place.document < references).count();
            let is_on_both_sides = references == 0 || 0 < of_reference && of_reference < repeat.count;
            let string = &documents[first.document][first.token..][..repeat.tokens];
            if size(string) < options.min_words as u64 || !is_on_both_sides || repeat.documents < options.min_documents
            {
                continue;
            }
            for (number, place) in repeat.places.iter().enumerate() {
                let (mut start, end) = (place.token, place.token + repeat.tokens);
                if keep == KeptPlaces::First && place.document == first.document {
                    start = start.max(first.token + repeat.tokens);
                }
                if place.document >= references && (number > 0 || keep == KeptPlaces::None) && start < end {
                    ranges[place.document].push(start..end);
                }
            }
        }
        ranges
    }

    /// Which tokens are cut, by the cuts.
    fn is_cut(tokens: &[Tokens], rows: &[Row]) -> Vec<Vec<bool>> {
        let mut is_cut: Vec<Vec<bool>> = tokens.iter().map(|tokens| vec![false; tokens.len()]).collect();
        for (document, _, cuts) in rows {
            for (bytes, ..) in cuts {
                for (token, is_cut) in is_cut[*document].iter_mut().enumerate() {
                    let span = tokens[*document].span(token);
                    let is_within = bytes.start <= span.start && span.end <= bytes.end;
                    assert!(is_within || span.end <= bytes.start || bytes.end <= span.start, "between tokens");
                    assert!(!is_within || !std::mem::replace(is_cut, true), "once");
                }
            }
        }
        is_cut
    }

    /// Without tokens of which the character stands for another one too that is not cut.
    fn whole_characters(is_cut: &[bool], tokens: &Tokens) -> Vec<bool> {
        let share =
            |a: usize, b: usize| tokens.span(a).start < tokens.span(b).end && tokens.span(b).start < tokens.span(a).end;
        let near = |token: usize| token.saturating_sub(3)..(token + 4).min(is_cut.len());
        let is_whole = |token: usize| near(token).all(|other| is_cut[other] || !share(token, other));
        (0..is_cut.len()).map(|token| is_cut[token] && is_whole(token)).collect()
    }

    /// Runs that are left whole, and that begin earlier somewhere in the documents; those that stand in so many documents.
    fn check_nothing_earlier(
        documents: &[Vec<u64>],
        is_cut: &[Vec<bool>],
        references: usize,
        (least, min_documents): (u64, usize),
    ) -> Result<(), TestCaseError> {
        for (number, document) in documents.iter().enumerate().skip(references) {
            for start in 0..document.len() {
                let kept = (start..document.len()).take_while(|&token| !is_cut[number][token]).count();
                let Some(length) = (1..=kept).find(|&length| size(&document[start..start + length]) >= least) else {
                    continue;
                };
                let run = &document[start..start + length];
                let stands_in = |document: &&Vec<u64>| document.windows(length).any(|window| window == run);
                if documents.iter().filter(stands_in).count() < min_documents {
                    continue;
                }
                for (other, earlier) in documents[..=number].iter().enumerate() {
                    if references > 0 && other >= references {
                        continue;
                    }
                    for (at, window) in earlier.windows(length).enumerate() {
                        prop_assert!(
                            window != run || (other, at) >= (number, start),
                            "{number}:{start} is at {other}:{at}"
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// The minima of words and of documents, threads, memory, and documents of the reference.
    type Numbers = ([usize; 2], usize, u64, usize);

    fn numbers() -> impl Strategy<Value = Numbers> {
        let min_documents = prop_oneof![Just(1usize), 2usize..5];
        let minima = (prop_oneof![1usize..9, Just(20)], min_documents).prop_map(<[usize; 2]>::from);
        (minima, 1usize..4, prop_oneof![Just(0u64), Just(1 << 30)], 0usize..3)
    }

    fn options(([min_words, min_documents], threads, memory, _): Numbers) -> PassageOptions {
        PassageOptions { min_words, min_documents, threads, memory, ..PassageOptions::default() }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn what_stands_earlier_is_cut(texts in texts(), numbers in numbers(), keeps: bool) {
            let references = if numbers.3 < texts.len() { numbers.3 } else { 0 };
            let options = options(numbers);
            let keep = if keeps { KeptPlaces::First } else { KeptPlaces::None };
            let (rows, counts) = found(&texts, references, &options, &CutOptions { keep, ..CutOptions::default() });
            let (documents, tokens) = words(&texts);
            let is_cut = is_cut(&tokens, &rows);
            let ranges = expected(&documents, references, &options, keep);
            let mut cut_tokens = Vec::new();
            for (number, ranges) in ranges.into_iter().enumerate() {
                let mut expected = vec![false; documents[number].len()];
                ranges.into_iter().for_each(|range| expected[range].fill(true));
                cut_tokens.push(expected.iter().filter(|&&is_cut| is_cut).count());
                prop_assert_eq!(&is_cut[number], &whole_characters(&expected, &tokens[number]), "document {}", number);
            }
            // Of a character that stands for two words, only both are cut.
            let has_halves = texts.iter().any(|text| text.contains('½'));
            if keeps && !has_halves {
                let minima = (options.min_words as u64, options.min_documents);
                check_nothing_earlier(&documents, &is_cut, references, minima)?;
            }
            let (mut words, mut left_out) = (0, 0);
            for (document, &cut_tokens) in documents.iter().zip(&cut_tokens) {
                *(if cut_tokens == document.len() { &mut left_out } else { &mut words }) += cut_tokens as u64;
            }
            for (document, is_left_out, cuts) in &rows {
                prop_assert_eq!(*is_left_out, cut_tokens[*document] == documents[*document].len());
                for (bytes, own_words, first) in cuts {
                    let within = |document: usize, bytes: &Range<usize>| {
                        let tokens = &tokens[document];
                        (0..tokens.len())
                            .filter(|&token| bytes.start <= tokens.span(token).start && tokens.span(token).end <= bytes.end)
                            .map(|token| documents[document][token])
                            .collect::<Vec<u64>>()
                    };
                    let own = within(*document, bytes);
                    prop_assert!(size(&own) == *own_words || has_halves);
                    prop_assert_eq!(first.is_some(), keeps);
                    let Some((other, range)) = first else { continue };
                    prop_assert!(own == within(*other, range) || has_halves);
                    // The first place is there as a whole.
                    let of_first = rows.iter().find(|row| row.0 == *other).map(|row| &row.2[..]).unwrap_or_default();
                    prop_assert!(of_first.iter().all(|(cut, ..)| cut.end <= range.start || range.end <= cut.start));
                }
            }
            prop_assert_eq!((counts.cut_tokens, counts.left_out_tokens), (words, left_out));
        }

        #[test]
        fn whole_units_are_cut(texts in texts(), numbers in numbers(), by_line: bool, keeps: bool) {
            let references = if numbers.3 < texts.len() { numbers.3 } else { 0 };
            let options = options(numbers);
            let keep = if keeps { KeptPlaces::First } else { KeptPlaces::None };
            let unit = if by_line { CutUnit::Line } else { CutUnit::Paragraph };
            let (rows, _) = found(&texts, references, &options, &CutOptions { keep, unit, max_cut: None });
            let (documents, tokens) = words(&texts);
            let ranges = expected(&documents, references, &options, keep);
            for (number, text) in texts.iter().enumerate() {
                let mut expected = String::new();
                let mut at = 0;
                for own in units(text, &tokens[number], unit) {
                    let is_within = |range: &Range<usize>| range.start <= own.tokens.start && own.tokens.end <= range.end;
                    let is_cut = ranges[number].iter().any(is_within);
                    // What is before the first unit, and what has no words, goes with a unit that is cut on both sides only.
                    expected += &text[at..if is_cut { own.bytes.start } else { own.bytes.end }];
                    at = own.bytes.end;
                }
                expected += &text[at..];
                let mut left = text.clone();
                let cuts = rows.iter().find(|row| row.0 == number).map(|row| &row.2[..]).unwrap_or_default();
                cuts.iter().rev().for_each(|(bytes, ..)| left.replace_range(bytes.clone(), ""));
                let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
                prop_assert_eq!(words(&left), words(&expected), "{:?}", text);
                for (bytes, _, first) in cuts {
                    prop_assert!(text.is_char_boundary(bytes.start) && text.is_char_boundary(bytes.end));
                    prop_assert_eq!(first.is_some(), keeps);
                    let Some((other, range)) = first else { continue };
                    let of_first = rows.iter().find(|row| row.0 == *other).map(|row| &row.2[..]).unwrap_or_default();
                    prop_assert!(of_first.iter().all(|(cut, ..)| cut.end <= range.start || range.end <= cut.start));
                }
            }
        }
    }

    #[test]
    fn a_character_that_stands_for_two_words() {
        let texts = ["w v u 1", "w v u ½ x y z", "2 x y z", "t w v u ½"].map(String::from);
        let options = PassageOptions { min_words: 4, ..PassageOptions::default() };
        let (rows, _) = found(&texts, 0, &options, &CutOptions::default());
        let first = |document, range| Some((document, range));
        let expected = [
            (1, false, vec![(0..5, 3, first(0, 0..7))]),
            (2, true, vec![(0..7, 4, first(1, 6..14))]),
            (3, false, vec![(2..8, 4, first(0, 0..7)), (8..10, 1, first(1, 6..8))]),
        ];
        assert_eq!(rows, expected);
        let options = PassageOptions { min_words: 1, ..PassageOptions::default() };
        let (rows, _) = found(&["2", "½"].map(String::from), 0, &options, &CutOptions::default());
        assert!(rows.is_empty(), "{rows:?}");
    }

    #[test]
    fn a_document_that_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let copy: String = (0..60).map(|n| format!("word{n} ")).collect();
        let texts = [copy.clone(), format!("{copy} end"), copy.clone()];
        for (changed, expected) in [(1, vec![(2, true, 1)]), (2, vec![(1, false, 1)]), (0, Vec::new())] {
            fs::write(&path, json_lines(&texts)).unwrap();
            let mut source = Input::new(vec![path.clone()], ReadOptions::default());
            let mut cuts =
                find_cuts(&mut source, None, &PassageOptions::default(), &CutOptions::default(), &()).unwrap();
            let mut now = texts.clone();
            now[changed] = now[changed].replace("word7 ", "other ");
            fs::write(&path, json_lines(&now)).unwrap();
            let mut found = Vec::new();
            let each = |document: &DocumentCuts<'_>| {
                found.push((document.document, document.is_left_out, document.cuts().count()));
                Ok(())
            };
            cuts.for_each(&mut source, None, &(), each).unwrap();
            assert_eq!((found, cuts.counts().failed), (expected, 1));
        }
    }

    /// The share that a document may lose.
    #[test]
    fn documents_that_lose_too_much() {
        let common = "one two three four five six";
        let texts = [
            format!("{common} seven"),
            format!("{common} a b"),
            common.to_string(),
            format!("x y z x y z x y z, {common}"),
        ];
        let options = PassageOptions { min_words: 3, ..PassageOptions::default() };
        let left_out = |max_cut: Option<Threshold>| {
            let cut = CutOptions { max_cut, ..CutOptions::default() };
            let (rows, counts) = found(&texts, 0, &options, &cut);
            let left_out: Vec<usize> = rows.iter().filter(|row| row.1).map(|row| row.0).collect();
            assert_eq!((counts.left_out as usize, rows.len()), (left_out.len(), 3));
            (left_out, counts.mostly_cut)
        };
        assert_eq!(left_out(None), (vec![2], 2));
        assert_eq!(left_out(Threshold::new(3, 4)), (vec![2], 2));
        // The last one holds the first place of its own beginning.
        assert_eq!(left_out(Threshold::new(1, 2)), (vec![1, 2], 1));
    }
}
