//! What the source of a place has besides its words: code, targets of links, directives; and what is around it.

use super::finding::Place;
use crate::prose::{Kind, Markup};
use std::ops::Range;

/// Words before and after a place that belong to it.
const WORDS_BEFORE: usize = 100;
const WORDS_AFTER: usize = 60;

/// The bytes of a place: from its first word to its last.
pub(super) fn bytes_of(place: &Place) -> Range<usize> {
    place.page.prose.source_of(place.page.span(place.words.clone()))
}

/// The source of a place, up to the next white space: the target of a link may follow its words.
pub(super) fn source_of(place: &Place) -> &str {
    let (source, Range { start, end }) = (&place.page.source, bytes_of(place));
    let rest = source.get(end..).unwrap_or_default();
    let target = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
    source.get(start..end + target).unwrap_or_default()
}

/// Whether the sources of two places are equal except for white space.
pub(super) fn are_equal(one: &Place, other: &Place) -> bool {
    let [one, other] = [one, other].map(|place| source_of(place).split_ascii_whitespace());
    one.eq(other)
}

/// Whether the source of a page is text with markup, in which little is neither prose nor code.
pub(super) fn is_text(place: &Place) -> bool {
    use Markup::{AsciiDoc, Markdown, Mdx, ReStructuredText};
    matches!(place.page.markup, Markdown | Mdx | ReStructuredText | AsciiDoc)
}

/// The bytes around a place where it may lead to its copy: from the heading before it, or some words before, to some words after it.
pub(super) fn around(place: &Place) -> Range<usize> {
    let page = &place.page;
    let blocks = page.prose.blocks();
    let start_of = |word: usize| page.prose.source_of(page.span(word..word + 1)).start;
    let first = page.parts(place.words.start..place.words.start + 1).next().map(|part| part.block);
    let heading = first.and_then(|first| match blocks[first].kind {
        Kind::Heading(_) => Some(first),
        _ => blocks[first].section,
    });
    let heading = heading.map_or(0, |heading| page.prose.source_of(blocks[heading].text.clone()).start);
    let before = place.words.start.checked_sub(WORDS_BEFORE).map_or(0, start_of);
    let after = place.words.end + WORDS_AFTER;
    let after = if after < page.words().len() { start_of(after) } else { page.source.len() };
    heading.max(before)..after
}

/// The bytes of a place with all that is between its words and others: the target of a link stands before its text or after it.
pub(super) fn up_to_others(place: &Place) -> Range<usize> {
    let page = &place.page;
    let source_of = |word: usize| page.prose.source_of(page.span(word..word + 1));
    let start = place.words.start.checked_sub(1).map_or(0, |word| source_of(word).end);
    let end = if place.words.end < page.words().len() { source_of(place.words.end).start } else { page.source.len() };
    start..end
}

/// The words of a source: runs of letters and digits. Every character beyond ASCII counts as a letter.
pub(super) fn words(source: &str) -> impl Iterator<Item = &[u8]> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    source.as_bytes().split(move |byte| !is_word(byte)).filter(|word| !word.is_empty())
}

/// How many words two sources share, in any order, and how many both have. Cost: sorts them.
pub(super) fn shared_words(sources: [&str; 2]) -> [usize; 2] {
    let [one, other] = sources.map(|source| {
        let mut words: Vec<&[u8]> = words(source).collect();
        words.sort_unstable();
        words
    });
    [shared(&one, &other), one.len() + other.len()]
}

/// How many words two lists in order share.
fn shared(one: &[&[u8]], other: &[&[u8]]) -> usize {
    let (mut at, mut shared) = (0, 0);
    for word in one {
        at += other[at..].iter().take_while(|other| other < &word).count();
        if other.get(at) == Some(word) {
            (at, shared) = (at + 1, shared + 1);
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn shared_words_are_those_of_both_bags(one in "[abc]( [abcd]){0,8}", other in "[abc]( [abde]){0,8}") {
            let [mut one, mut other] = [&one, &other].map(|words_of| words(words_of).collect::<Vec<_>>());
            let mut left: BTreeMap<&[u8], usize> = BTreeMap::new();
            other.iter().for_each(|word| *left.entry(word).or_default() += 1);
            let is_there = |word: &&&[u8]| match left.get_mut(**word) {
                Some(number) if *number > 0 => { *number -= 1; true }
                _ => false,
            };
            let expected = one.iter().filter(is_there).count();
            one.sort_unstable();
            other.sort_unstable();
            prop_assert_eq!(shared(&one, &other), expected);
        }
    }
}
