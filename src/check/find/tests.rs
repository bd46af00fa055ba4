//! Passages of parallel items, and what only a strict search finds.

use super::{Document, FindOptions, Finding, Kind, find, grouped, word};
use proptest::prelude::*;
use std::ops::Range;

/// Words that occur nowhere else, by a number.
fn words(numbers: Range<usize>) -> Vec<u64> {
    numbers.map(|number| word(&format!("word{number}"))).collect()
}

/// The findings among documents of one block each.
fn found(documents: &[Vec<u64>], strict: bool) -> Vec<Finding> {
    let blocks: Vec<Range<usize>> = documents.iter().map(|words| 0..words.len()).collect();
    let documents: Vec<Document> = documents
        .iter()
        .zip(&blocks)
        .map(|(words, block)| Document { words, blocks: std::slice::from_ref(block), ..Document::default() })
        .collect();
    find(&documents, &FindOptions { strict, ..FindOptions::default() }).findings
}

/// A text with 200 other words before and after it.
fn embedded(text: &[u64], from: usize) -> Vec<u64> {
    [words(from..from + 200), text.to_vec(), words(from + 200..from + 400)].concat()
}

#[test]
fn passages_of_parallel_items_end_with_an_item() {
    let (mut text, mut blocks) = (Vec::new(), Vec::new());
    let mut block = |words: Vec<u64>| {
        blocks.push(text.len()..text.len() + words.len());
        text.extend(words);
    };
    block(words(10_000..10_200));
    for item in 0..5 {
        block([words(20_000 + item..20_001 + item), words(900..901)].concat());
        let mut paragraph = words(0..50);
        [1, 3].iter().for_each(|&changed| paragraph[changed] = word(&format!("item{item} {changed}")));
        block(paragraph);
    }
    block(words(30_000..30_200));
    let found =
        find(&[Document { words: &text, blocks: &blocks, ..Document::default() }], &FindOptions::default()).findings;
    assert!(found.iter().any(|found| found.kind == Kind::Passage), "{found:?}");
    for place in found.iter().flat_map(|found| [&found.a, &found.b]) {
        let inside =
            |block: &Range<usize>| block.end.min(place.words.end).saturating_sub(block.start.max(place.words.start));
        assert!(blocks.iter().all(|block| inside(block) == 0 || 2 * inside(block) >= block.len()), "{place:?}");
    }
}

#[test]
fn short_passages_within_a_block() {
    for (length, expected) in [(24, 0), (25, 1), (30, 1), (39, 1)] {
        let documents = [10_000, 20_000].map(|from| embedded(&words(0..length), from));
        assert!(found(&documents, false).is_empty());
        let found = found(&documents, true);
        assert_eq!(found.len(), expected, "{length}");
        assert!(
            found.iter().all(|found| (found.kind, found.matched, found.a.words.start) == (Kind::Passage, length, 200))
        );
    }
}

#[test]
fn short_passages_across_blocks_are_not_found() {
    let documents = [10_000, 20_000].map(|from| embedded(&words(0..30), from));
    let blocks = [0..215, 215..430];
    let documents: Vec<Document> =
        documents.iter().map(|words| Document { words, blocks: &blocks, ..Document::default() }).collect();
    assert!(find(&documents, &FindOptions { strict: true, ..FindOptions::default() }).findings.is_empty());
}

#[test]
fn sentences_in_another_order() {
    let sentence = |number: usize| words(12 * number..12 * number + 12);
    let ordered: Vec<u64> = (0..5).flat_map(sentence).collect();
    let other: Vec<u64> = [3, 1, 4, 0, 2].into_iter().flat_map(sentence).collect();
    let documents = [(10_000, ordered), (20_000, other)].map(|(from, text)| [words(from..from + 200), text].concat());
    let blocks = [0..200, 200..260];
    let found = |strict| {
        let documents = documents.each_ref().map(|words| Document { words, blocks: &blocks, ..Document::default() });
        find(&documents, &FindOptions { strict, ..FindOptions::default() }).findings
    };
    assert!(found(false).is_empty());
    let [found] = &found(true)[..] else { panic!("one finding") };
    assert_eq!((found.kind, found.matched, found.runs.len()), (Kind::Paragraph, 60, 5));
    assert!(found.runs.is_sorted_by_key(|run| run.a) && !found.runs.is_sorted_by_key(|run| run.b));
}

proptest! {
    /// Whatever the order of its sentences, a paragraph is found.
    #[test]
    fn sentences_in_any_order(lengths in prop::collection::vec(5usize..16, 3..9), order in any::<[u8; 8]>()) {
        let sentences: Vec<Vec<u64>> =
            lengths.iter().enumerate().map(|(number, &length)| words(20 * number..20 * number + length)).collect();
        let mut shuffled: Vec<usize> = (0..sentences.len()).collect();
        shuffled.sort_by_key(|&number| order[number]);
        let other: Vec<u64> = shuffled.iter().flat_map(|&number| sentences[number].clone()).collect();
        let documents = [(10_000, sentences.concat()), (20_000, other)];
        let documents = documents.map(|(from, text)| [words(from..from + 200), text].concat());
        let length: usize = lengths.iter().sum();
        let blocks = [0..200, 200..200 + length];
        let documents = documents.each_ref().map(|words| Document { words, blocks: &blocks, ..Document::default() });
        let found = find(&documents, &FindOptions { strict: true, ..FindOptions::default() }).findings;
        prop_assert!(found.iter().any(|found| 10 * found.matched >= 8 * length), "{:?}", found);
    }

    /// A strict search finds something where an ordinary one does, and its runs are equal words that do not overlap.
    #[test]
    fn a_strict_search_covers_an_ordinary_one(
        documents in prop::collection::vec(prop::collection::vec(0usize..60, 0..150), 2..4),
    ) {
        let documents: Vec<Vec<u64>> = documents
            .iter()
            .map(|parts| parts.iter().flat_map(|&part| words(part / 10 * 100 + part % 10..part / 10 * 100 + part % 10 + 6)).collect())
            .collect();
        let (ordinary, strict) = (found(&documents, false), found(&documents, true));
        prop_assert!(ordinary.is_empty() || !strict.is_empty());
        for found in &strict {
            prop_assert_eq!(found.runs.iter().map(|run| run.tokens).sum::<usize>(), found.matched);
            for side in [0, 1] {
                let place = [&found.a, &found.b][side];
                let mut runs: Vec<Range<usize>> =
                    found.runs.iter().map(|run| [run.a, run.b][side]..[run.a, run.b][side] + run.tokens).collect();
                runs.sort_unstable_by_key(|run| run.start);
                prop_assert!(runs.windows(2).all(|runs| runs[0].end <= runs[1].start));
                prop_assert!(runs.iter().all(|run| place.words.start <= run.start && run.end <= place.words.end));
            }
            for run in &found.runs {
                let [a, b] = [(&found.a, run.a), (&found.b, run.b)].map(|(place, start)| &documents[place.document][start..start + run.tokens]);
                prop_assert_eq!(a, b);
            }
        }
    }
}

/// Parts of a document: paragraphs of 36 words with four words of their own, which are similar, but not within one document; and other
/// words, some of them in both documents.
#[derive(Clone, Copy)]
enum Part {
    Paragraph(usize),
    Shared,
    Own,
}

use Part::{Own, Paragraph, Shared};

/// A document of these parts.
fn of_parts(parts: &[Part], from: usize) -> (Vec<u64>, Vec<Range<usize>>) {
    let (mut document, mut blocks) = (Vec::new(), Vec::new());
    for (index, &part) in parts.iter().enumerate() {
        let start = document.len();
        document.extend(match part {
            Own => words(from + 50 * index..from + 50 * index + 50),
            Shared => words(9_000..9_050),
            Paragraph(number) => {
                let mut paragraph = words(0..36);
                let own = paragraph.iter_mut().skip(4).step_by(9);
                own.for_each(|own| *own = word(&format!("{own} of {number}")));
                paragraph
            }
        });
        blocks.push(start..document.len());
    }
    (document, blocks)
}

/// The findings between two documents of parts, each by the first and the last part in both, and as groups.
fn connected(documents: [&[Part]; 2]) -> (Vec<[usize; 4]>, usize) {
    let [one, other] = [(documents[0], 10_000), (documents[1], 20_000)].map(|(parts, from)| of_parts(parts, from));
    let given = [&one, &other].map(|(words, blocks)| Document { words, blocks, ..Document::default() });
    let findings = find(&given, &FindOptions::default()).findings;
    let part = |blocks: &[Range<usize>], word: usize| blocks.iter().position(|block| block.contains(&word)).unwrap();
    let ends = |found: &Finding| {
        let of = |blocks, words: &Range<usize>| [part(blocks, words.start), part(blocks, words.end - 1)];
        let [[a, b], [c, d]] = [of(&one.1, &found.a.words), of(&other.1, &found.b.words)];
        [a, b, c, d]
    };
    (findings.iter().map(ends).collect(), grouped(findings).len())
}

#[test]
fn paragraphs_at_other_places_of_one_sequence_are_redundant() {
    let sequence = [Own, Paragraph(0), Paragraph(1), Own, Paragraph(2), Shared, Own];
    assert_eq!(connected([&sequence, &sequence]), (vec![[1, 2, 1, 2], [4, 5, 4, 5]], 2));
    // A third copy is not: findings cover it in one of the documents only.
    let third = [Own, Paragraph(0), Paragraph(1), Own, Paragraph(2), Shared, Own, Paragraph(1), Own];
    assert_eq!(connected([&sequence, &third]), (vec![[1, 2, 1, 2], [2, 2, 7, 7], [4, 5, 4, 5]], 3));
}

#[test]
fn places_of_other_findings_are_one_text() {
    let sequence = [Own, Paragraph(0), Own, Paragraph(1), Own];
    assert_eq!(connected([&sequence, &sequence]), (vec![[1, 1, 1, 1], [1, 1, 3, 3], [3, 3, 3, 3]], 1));
}

#[test]
fn passages_end_with_a_sentence_and_not_with_a_heading() {
    // Fifteen words of a sentence of 40, three sentences of 20, a heading of 5 words, and ten words of a sentence of 40.
    let copied = words(0..90);
    let documents =
        [10_000, 20_000].map(|from| [words(from..from + 25), copied.clone(), words(from + 25..from + 55)].concat());
    let (blocks, sentences, headings) = ([0..100, 100..105, 105..145], [40, 60, 80], [1]);
    let found = |min_words| {
        let documents = documents.each_ref().map(|words| Document {
            words,
            blocks: &blocks,
            sentences: &sentences,
            headings: &headings,
            ..Document::default()
        });
        let options = FindOptions { min_words, ..FindOptions::default() };
        let found = find(&documents, &options).findings;
        assert!(found.iter().all(|found| found.kind == Kind::Passage && found.a.words == found.b.words), "{found:?}");
        found.into_iter().map(|found| (found.a.words, found.matched)).collect::<Vec<_>>()
    };
    assert_eq!(found(40), [(40..100, 60)]);
    assert_eq!(found(60), [(40..100, 60)]);
    // Only at one end: what remains would be too short otherwise.
    assert_eq!(found(61), [(25..100, 75)]);
    assert_eq!(found(75), [(25..100, 75)]);
    assert_eq!(found(76), [(25..115, 90)]);
}

/// Two documents that share 135 words and a notice of 60 that six others have too are one file, wherever they are among the others.
#[test]
fn a_file_does_not_depend_on_others_that_have_a_part_of_it() {
    let notice = words(5_000..5_060);
    let with = |parts: &[Vec<u64>]| parts.concat();
    let page = |from: usize| with(&[words(from..from + 40), words(0..135), notice.clone()]);
    let filler = |from: usize| with(&[words(from..from + 200), notice.clone()]);
    for [before, between, after] in [[0, 0, 6], [3, 3, 0], [3, 3, 20], [20, 20, 20], [0, 40, 0], [6, 0, 0]] {
        let fillers = |first: usize, number: usize| (first..first + number).map(|at| filler(100_000 + 1_000 * at));
        let mut documents: Vec<Vec<u64>> = fillers(0, before).collect();
        documents.push(page(10_000));
        documents.extend(fillers(100, between));
        documents.push(page(20_000));
        documents.extend(fillers(200, after));
        let pages = [before, before + 1 + between];
        let findings = found(&documents, false);
        let of_both = findings.iter().filter(|found| [found.a.document, found.b.document] == pages);
        let of_both: Vec<(Kind, usize)> = of_both.map(|found| (found.kind, found.matched)).collect();
        assert_eq!(of_both, [(Kind::File, 195)], "{before} {between} {after}");
    }
}
