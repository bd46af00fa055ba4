//! Passages as pairs of documents.

use super::corpus::{Passage, PassagePlace};
use crate::error::Error;
use crate::run::places::At;
use crate::similarity::Similarity;
use std::ops::Range;

/// Two documents and the passages that they share.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DocumentPair<'a> {
    /// The id of the document that has the first places.
    pub a: &'a str,
    /// Where it was read, if [ids repeat](super::Passages::ids_repeat).
    pub a_place: Option<At<'a>>,
    /// Its number in input order, from 0.
    pub a_document: usize,
    /// The id of the other one.
    pub b: &'a str,
    /// As `a_place`.
    pub b_place: Option<At<'a>>,
    /// Its number, which is greater.
    pub b_document: usize,
    /// Passages, each with its place in both, in the order of the places in `b`.
    pub passages: Vec<PairedPassage>,
}

/// A passage at two places.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairedPassage {
    /// Its bytes in the text of `b`.
    pub b_range: (usize, usize),
    /// The line of that text that it begins on, from 1.
    pub b_line: usize,
    /// Its bytes in the text of `a`.
    pub a_range: (usize, usize),
    /// The line in that text.
    pub a_line: usize,
    /// Its length in `a`, in words.
    pub words: u64,
    /// The [similarity](PassagePlace::similarity) of both.
    pub similarity: Similarity,
}

/// Turns passages into pairs of documents: the one that has the first place of a passage with each other one that has a place of
/// it. A passage in `n` documents makes `n - 1` pairs, without those of two documents of the reference. Places beyond
/// [`max_places`](super::PassageOptions::max_places) make none, and neither does a passage that stands only in one document.
///
/// Memory: the places of the passages that begin in one document.
#[derive(Default)]
pub struct DocumentPairs {
    /// The documents of the reference.
    references: usize,
    /// The document that has the first places of these.
    a: Option<Document>,
    others: Vec<(usize, PairedPassage)>,
    /// The documents of the others.
    documents: Vec<Document>,
}

/// A document: its number, its id, and where it was read.
struct Document {
    number: usize,
    id: String,
    place: Option<(String, Option<u64>)>,
}

impl Document {
    fn of(place: &PassagePlace<'_>) -> Self {
        let &PassagePlace { id, place, document: number, .. } = place;
        Document { number, id: id.to_string(), place: place.map(|At { path, line }| (path.to_string(), line)) }
    }

    fn at(&self) -> Option<At<'_>> {
        self.place.as_ref().map(|(path, line)| At { path, line: *line })
    }
}

impl DocumentPairs {
    /// None yet. The first documents are those of the reference: this many.
    pub fn new(references: usize) -> Self {
        DocumentPairs { references, ..DocumentPairs::default() }
    }

    /// Adds a passage, in their order. Pairs of the document before are passed to `each`.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn add(
        &mut self,
        passage: &Passage<'_>,
        each: impl FnMut(&DocumentPair<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some((first, others)) = passage.places.split_first() else { return Ok(()) };
        if self.a.as_ref().is_none_or(|a| a.number != first.document) {
            self.finish(each)?;
            self.a = Some(Document::of(first));
        }
        let range = |place: &PassagePlace<'_>| (place.start, place.end);
        let is_paired = |place: &&PassagePlace<'_>| place.document >= self.references.max(first.document + 1);
        for other in others.iter().filter(is_paired) {
            if self.documents.last().is_none_or(|last| last.number != other.document) {
                self.documents.push(Document::of(other));
            }
            let passage = PairedPassage {
                b_range: range(other),
                b_line: other.line,
                a_range: range(first),
                a_line: first.line,
                words: passage.words,
                similarity: other.similarity,
            };
            self.others.push((other.document, passage));
        }
        Ok(())
    }

    /// Passes on the pairs of the last document.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn finish(&mut self, mut each: impl FnMut(&DocumentPair<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let DocumentPairs { a, mut others, mut documents, .. } =
            std::mem::replace(self, DocumentPairs::new(self.references));
        let Some(a) = a else { return Ok(()) };
        others.sort_by_key(|&(b, PairedPassage { b_range, b_line, a_range, a_line, words, .. })| {
            (b, b_range, b_line, a_range, a_line, words)
        });
        documents.sort_unstable_by_key(|document| document.number);
        documents.dedup_by_key(|document| document.number);
        others.chunk_by(|x, y| x.0 == y.0).zip(&documents).try_for_each(|(of_one, b)| {
            let passages = of_one.iter().map(|(_, passage)| passage.clone()).collect();
            each(&DocumentPair {
                a: &a.id,
                a_place: a.at(),
                a_document: a.number,
                b: &b.id,
                b_place: b.at(),
                b_document: b.number,
                passages,
            })
        })
    }
}

impl PairedPassage {
    /// Its bytes in the texts of `a` and of `b`.
    pub fn ranges(&self) -> [Range<usize>; 2] {
        [self.a_range.0..self.a_range.1, self.b_range.0..self.b_range.1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The pairs of passages that are given as the documents and starts of their places.
    fn pairs(references: usize, passages: &[&[(usize, usize)]]) -> Vec<String> {
        let ids = ["a", "b", "c", "d"];
        let (mut all, mut found) = (DocumentPairs::new(references), Vec::new());
        let mut each = |pair: &DocumentPair<'_>| {
            let passages: Vec<String> =
                pair.passages.iter().map(|passage| format!("{}={}", passage.a_range.0, passage.b_range.0)).collect();
            found.push(format!("{}{} {}", pair.a, pair.b, passages.join(" ")));
            Ok(())
        };
        for (id, places) in (1..).zip(passages) {
            let place = |&(document, start)| PassagePlace {
                id: ids[document],
                place: None,
                document,
                is_reference: document < references,
                start,
                end: start + 9,
                line: 1,
                similarity: Similarity::ONE,
            };
            let places: Vec<PassagePlace<'_>> = places.iter().map(place).collect();
            let documents = places.iter().map(|place| place.document).collect::<BTreeSet<_>>().len() as u64;
            let passage = Passage { id, words: 2, count: places.len() as u64, documents, places, text: "x" };
            all.add(&passage, &mut each).unwrap();
        }
        all.finish(&mut each).unwrap();
        found
    }

    #[test]
    fn each_document_is_paired_with_the_first_one() {
        let passages: [&[(usize, usize)]; 4] =
            [&[(0, 0), (1, 50), (2, 0)], &[(0, 5), (0, 70), (1, 7)], &[(0, 9), (0, 20)], &[(1, 0), (2, 3), (3, 1)]];
        assert_eq!(pairs(0, &passages), ["ab 5=7 0=50", "ac 0=0", "bc 0=3", "bd 0=1"]);
        assert_eq!(pairs(2, &passages), ["ac 0=0", "bc 0=3", "bd 0=1"]);
        assert!(pairs(0, &[]).is_empty() && pairs(0, &[&[], &[(0, 1), (0, 2)]]).is_empty());
    }
}
