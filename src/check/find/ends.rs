//! Moves the ends of a passage to the ends of sentences, and cuts off headings at its end: their sections are not part of it.

use super::{Document, size};
use crate::passages::Run;
use std::collections::VecDeque;
use std::ops::Range;

/// A part of a sentence at an end of a passage is cut off if it has fewer words than this, or at most half of the sentence.
const SCRAP_WORDS: usize = 8;

/// The sentences and headings of a document, whose words start at a place.
pub(super) struct Outline<'a> {
    pub document: Document<'a>,
    pub start: usize,
}

impl Outline<'_> {
    /// The block and the sentence that a word is in, if it is in a block.
    fn sentence(&self, word: usize) -> Option<(usize, Range<usize>)> {
        let Document { blocks, sentences, .. } = self.document;
        let number = blocks.partition_point(|block| block.end <= word);
        let block = blocks.get(number).filter(|block| block.start <= word)?;
        let next = sentences.partition_point(|&start| start as usize <= word);
        let start = next.checked_sub(1).map_or(0, |own| sentences[own] as usize).max(block.start);
        let end = sentences.get(next).map_or(usize::MAX, |&start| start as usize).min(block.end);
        Some((number, start..end))
    }

    /// Whether these words of a sentence are too few to stay at an end of a passage.
    fn is_scrap(&self, words: Range<usize>, sentence: &Range<usize>) -> bool {
        2 * words.len() <= sentence.len() || size(&self.document.words[words]) < SCRAP_WORDS
    }

    /// Where a passage of these places should end, if that is earlier: before a heading, or before a part of a sentence.
    fn end(&self, places: &Range<usize>) -> Option<usize> {
        let words = places.start - self.start..places.end - self.start;
        let (block, sentence) = self.sentence(words.end - 1)?;
        if self.document.headings.binary_search(&(block as u32)).is_ok() {
            return Some(self.start + self.document.blocks[block].start);
        }
        let inside = sentence.start.max(words.start)..words.end;
        (words.end < sentence.end && self.is_scrap(inside, &sentence)).then_some(self.start + sentence.start)
    }

    /// Where a passage of these places should start, if that is later: after a part of a sentence.
    fn begin(&self, places: &Range<usize>) -> Option<usize> {
        let words = places.start - self.start..places.end - self.start;
        let (_, sentence) = self.sentence(words.start)?;
        let inside = words.start..sentence.end.min(words.end);
        (sentence.start < words.start && self.is_scrap(inside, &sentence)).then_some(self.start + sentence.end)
    }
}

/// A passage, given by its runs, with a better end and a better start, with only a better end, and with only a better start. Those that
/// are not shorter, or empty, are left out.
///
/// Cost: linear in the runs, and a search for each sentence that is cut off.
pub(super) fn shorter(runs: &[Run], outlines: &[Outline; 2]) -> Vec<Vec<Run>> {
    let mut shorter: Vec<Vec<Run>> = Vec::new();
    for [start, end] in [[true, true], [false, true], [true, false]] {
        let mut kept: VecDeque<Run> = runs.iter().copied().collect();
        while end && cut_end(&mut kept, outlines) || start && cut_start(&mut kept, outlines) {}
        if !kept.is_empty() && kept != runs {
            shorter.push(kept.into());
        }
    }
    shorter
}

/// Where a run starts in one of the documents.
fn place(run: &Run, side: usize) -> usize {
    [run.a, run.b][side]
}

/// The places from one run to another in one of the documents.
fn places(first: &Run, last: &Run, side: usize) -> Range<usize> {
    place(first, side)..place(last, side) + last.tokens
}

/// Moves the end to a better place for one of the documents. Returns whether there was one.
fn cut_end(runs: &mut VecDeque<Run>, outlines: &[Outline; 2]) -> bool {
    let [Some(first), Some(last)] = [runs.front(), runs.back()] else { return false };
    let end = |side: usize| Some((side, outlines[side].end(&places(first, last, side))?));
    let Some((side, end)) = end(0).or_else(|| end(1)) else { return false };
    while let Some(last) = runs.back_mut() {
        last.tokens = last.tokens.min(end.saturating_sub(place(last, side)));
        if last.tokens > 0 {
            break;
        }
        runs.pop_back();
    }
    true
}

/// The same for the start.
fn cut_start(runs: &mut VecDeque<Run>, outlines: &[Outline; 2]) -> bool {
    let [Some(first), Some(last)] = [runs.front(), runs.back()] else { return false };
    let start = |side: usize| Some((side, outlines[side].begin(&places(first, last, side))?));
    let Some((side, start)) = start(0).or_else(|| start(1)) else { return false };
    while let Some(first) = runs.front_mut() {
        let cut = start.saturating_sub(place(first, side)).min(first.tokens);
        *first = Run { a: first.a + cut, b: first.b + cut, tokens: first.tokens - cut };
        if first.tokens > 0 {
            break;
        }
        runs.pop_front();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::find::word;
    use proptest::prelude::*;

    /// A document of sentences of these lengths, some of which start a block, and some of these blocks are headings.
    struct Plain {
        words: Vec<u64>,
        blocks: Vec<Range<usize>>,
        sentences: Vec<u32>,
        headings: Vec<u32>,
    }

    impl Plain {
        /// Each sentence is given by its length, whether it starts a block, and whether that is a heading.
        fn new(of: &[(usize, bool, bool)]) -> Self {
            let mut plain = Plain { words: vec![], blocks: vec![], sentences: vec![], headings: vec![] };
            for &(length, is_block, is_heading) in of {
                let start = plain.words.len();
                plain.words.extend((start..start + length).map(|number| word(&format!("word{number}"))));
                match plain.blocks.last_mut().filter(|_| !is_block) {
                    Some(block) => {
                        plain.sentences.push(start as u32);
                        block.end += length;
                    }
                    None => {
                        plain.headings.extend(is_heading.then_some(plain.blocks.len() as u32));
                        plain.blocks.push(start..start + length);
                    }
                }
            }
            plain
        }

        fn outline(&self, start: usize) -> Outline<'_> {
            let Plain { words, blocks, sentences, headings } = self;
            Outline { document: Document { words, blocks, sentences, headings, scope: 0 }, start }
        }

        /// The sentence of a word: the longest stretch around it in its block with no start of a sentence after its first word.
        fn sentence(&self, word: usize) -> Range<usize> {
            let block = self.blocks.iter().find(|block| block.contains(&word)).unwrap();
            let is_start = |at: &usize| *at == block.start || self.sentences.contains(&(*at as u32));
            let start = (block.start..=word).rev().find(is_start).unwrap();
            start..(word + 1..block.end).find(is_start).unwrap_or(block.end)
        }

        fn heading(&self, word: usize) -> Option<Range<usize>> {
            let number = self.blocks.iter().position(|block| block.contains(&word)).unwrap();
            self.headings.contains(&(number as u32)).then(|| self.blocks[number].clone())
        }

        /// How many of the last words, of a stretch of words, are to be cut off.
        fn end(&self, words: Range<usize>) -> Option<usize> {
            let last = words.end - 1;
            let sentence = self.sentence(last);
            let inside = words.clone().filter(|word| sentence.contains(word)).count();
            let is_scrap = sentence.end > words.end && (inside < 8 || 2 * inside <= sentence.len());
            self.heading(last).map(|block| block.start).or(is_scrap.then_some(sentence.start))
        }

        fn begin(&self, words: Range<usize>) -> Option<usize> {
            let sentence = self.sentence(words.start);
            let inside = words.clone().filter(|word| sentence.contains(word)).count();
            (sentence.start < words.start && (inside < 8 || 2 * inside <= sentence.len())).then_some(sentence.end)
        }
    }

    /// The better ends by single words: pairs of matching words.
    fn plain(mut pairs: Vec<[usize; 2]>, documents: &[Plain; 2], [start, end]: [bool; 2]) -> Vec<[usize; 2]> {
        loop {
            let (Some(&first), Some(&last)) = (pairs.first(), pairs.last()) else { return pairs };
            let words = |side: usize| first[side]..last[side] + 1;
            let ends = [0, 1].map(|side| documents[side].end(words(side)).filter(|_| end).map(|end| (side, end)));
            let begins =
                [0, 1].map(|side| documents[side].begin(words(side)).filter(|_| start).map(|begin| (side, begin)));
            match (ends.into_iter().flatten().next(), begins.into_iter().flatten().next()) {
                (Some((side, end)), _) => pairs.retain(|pair| pair[side] < end),
                (None, Some((side, begin))) => pairs.retain(|pair| pair[side] >= begin),
                (None, None) => return pairs,
            }
        }
    }

    fn pairs(runs: &[Run], starts: [usize; 2]) -> Vec<[usize; 2]> {
        let of =
            |run: &Run| (0..run.tokens).map(|i| [run.a + i - starts[0], run.b + i - starts[1]]).collect::<Vec<_>>();
        runs.iter().flat_map(of).collect()
    }

    fn better(runs: &[Run], documents: &[Plain; 2]) -> Option<[Range<usize>; 2]> {
        let outlines = [documents[0].outline(0), documents[1].outline(0)];
        let kept = shorter(runs, &outlines).into_iter().next()?;
        Some([0, 1].map(|side| places(&kept[0], &kept[kept.len() - 1], side)))
    }

    #[test]
    fn parts_of_sentences_are_cut_off() {
        // Two sentences of 20 words, a heading of 5, and a sentence of 30.
        let documents =
            [0, 1].map(|_| Plain::new(&[(20, true, false), (20, false, false), (5, true, true), (30, true, false)]));
        let of =
            |words: Range<usize>| better(&[Run { a: words.start, b: words.start, tokens: words.len() }], &documents);
        // Whole sentences, and more than half of one at both ends.
        assert_eq!(of(0..40), None);
        assert_eq!(of(9..31), None);
        // Half a sentence, and a heading.
        assert_eq!(of(10..31), Some([20..31, 20..31]));
        assert_eq!(of(0..30), Some([0..20, 0..20]));
        assert_eq!(of(0..45), Some([0..40, 0..40]));
        assert_eq!(of(0..42), Some([0..40, 0..40]));
        // Half of what follows the heading, and the heading.
        assert_eq!(of(0..60), Some([0..40, 0..40]));
        assert_eq!(of(0..61), None);
        // A heading that it starts with stays.
        assert_eq!(of(40..75), None);
        // Of two parts of sentences one remains, of a part of one sentence nothing.
        assert_eq!(of(12..28), Some([12..20, 12..20]));
        assert_eq!(of(22..30), None);
    }

    #[test]
    fn one_document_suffices() {
        let sentences = Plain::new(&[(20, true, false), (7, true, false), (30, true, false)]);
        let longer = Plain::new(&[(20, true, false), (50, true, false)]);
        let run = |tokens| [Run { a: 0, b: 0, tokens }];
        assert_eq!(better(&run(27), &[sentences, longer]), Some([0..20, 0..20]));
        let [one, other] = [0, 1].map(|_| Plain::new(&[(20, true, false), (27, true, false), (9, true, false)]));
        assert_eq!(better(&run(47), &[one, other]), None);
    }

    proptest! {
        #[test]
        fn ends_are_those_of_a_plain_loop(
            sentences in prop::array::uniform2(prop::collection::vec((1usize..20, any::<bool>(), prop::bool::weighted(0.3)), 40)),
            gaps_and_words in prop::collection::vec((0usize..4, 0usize..4, 1usize..12), 1..12),
        ) {
            let documents = sentences.each_ref().map(|of| Plain::new(of));
            let starts = [100, 200];
            let (mut runs, mut ends) = (Vec::new(), [100, 200]);
            for (a, b, tokens) in gaps_and_words {
                ends = [ends[0] + a, ends[1] + b];
                runs.push(Run { a: ends[0], b: ends[1], tokens });
                ends = ends.map(|end| end + tokens);
            }
            let within = [0, 1].iter().all(|&side| ends[side] - starts[side] <= documents[side].words.len());
            prop_assume!(within);
            let outlines = [documents[0].outline(100), documents[1].outline(200)];
            let found: Vec<Vec<[usize; 2]>> = shorter(&runs, &outlines).iter().map(|runs| pairs(runs, starts)).collect();
            let given = pairs(&runs, starts);
            let expected = [[true, true], [false, true], [true, false]].map(|cut| plain(given.clone(), &documents, cut));
            let is_shorter = |kept: &Vec<[usize; 2]>| !kept.is_empty() && *kept != given;
            prop_assert_eq!(found, expected.into_iter().filter(is_shorter).collect::<Vec<_>>());
        }
    }
}
