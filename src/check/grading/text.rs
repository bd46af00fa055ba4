//! Limits by what the matching words are: headings and short sentences of a template, rows and items worded alike, or little text.

use super::super::find::{FindOptions, Kind, has_letter, size};
use super::super::finding::{Finding, Pair, Place};
use super::super::grade::{Grade, Limit, Reason};
use super::super::pages::Part;
use super::files::Files;
use crate::prose;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// A block with fewer words is not a running sentence.
const SENTENCE_WORDS: usize = 12;

/// A cell or a paragraph with fewer matching words is short; and one with edits, such as another name.
const SHORT_WORDS: usize = 25;
const EDITED_WORDS: usize = 30;

/// More running text is no template.
const TEMPLATE_WORDS: usize = 200;

/// A passage with at least this similarity, in percent, is hardly edited.
const EQUAL_PERCENT: u32 = 95;

/// Parts of one page with more words are not worded alike by chance.
const PARALLEL_WORDS: usize = 150;

/// Maximum number of pairs of places in one page that are compared beside those of translations.
const MAX_IN_PAGES: usize = 64;

/// Maximum number of edited words between two matching words of one stretch.
const MAX_GAP: usize = 5;

/// The limits of a finding: those of its most serious pair.
pub(super) fn limits(finding: &Finding, files: &Files, options: &FindOptions) -> Vec<Limit> {
    let of_pairs = pairs_of(finding, files).into_iter().map(|pair| of_pair(&pair, options));
    let lowest = |limits: &Vec<Limit>| limits.iter().map(|(grade, _)| *grade).min().unwrap_or(Grade::Error);
    let most_serious = of_pairs.reduce(|best, other| if lowest(&other) > lowest(&best) { other } else { best });
    most_serious.unwrap_or_default()
}

/// The pairs of a finding. Those of translations of one page say nothing about its words; instead of them, the places of each page that they
/// connect are paired. If nothing else is left, all count.
fn pairs_of<'a>(finding: &'a Finding, files: &Files) -> Vec<Cow<'a, Pair>> {
    let (translations, others): (Vec<&Pair>, Vec<&Pair>) =
        finding.pairs.iter().partition(|pair| files.are_translations(&pair.places));
    let mut pairs: Vec<Cow<Pair>> = others.into_iter().map(Cow::Borrowed).collect();
    if !translations.is_empty() {
        let known: BTreeSet<[usize; 2]> = finding.pairs.iter().map(|pair| pair.indices).collect();
        // Places are ordered by page.
        let next = (1..finding.places.len()).map(|index| [index - 1, index]);
        let in_page = next.filter(|pair| {
            let [one, other] = pair.map(|index| finding.places[index].path());
            one == other && !known.contains(pair)
        });
        pairs.extend(in_page.take(MAX_IN_PAGES).filter_map(|pair| {
            let places = pair.map(|index| finding.places[index].clone());
            let least = places.iter().map(|place| place.words.len()).min()?;
            let pair = Pair::added(finding.kind, places, pair, finding.runs_between(pair[0], pair[1]));
            (2 * pair.matched >= least).then_some(Cow::Owned(pair))
        }));
    }
    if pairs.is_empty() { finding.pairs.iter().map(Cow::Borrowed).collect() } else { pairs }
}

fn of_pair(pair: &Pair, options: &FindOptions) -> Vec<Limit> {
    let [one, other] = [0, 1].map(|side| Content::of(pair, side));
    let content = if one.running >= other.running { &one } else { &other };
    let is_within_page = pair.places[0].page.path == pair.places[1].page.path;
    let mut limits = Vec::new();
    // Where a short passage is asked for, a shorter stretch is enough.
    let stretch = options.paragraph_words.min(options.min_words.div_ceil(2));
    if pair.places.iter().all(is_list_of_links) {
        limits.push((Grade::Note, Reason::Navigation));
    } else if pair.kind != Kind::Paragraph && one.longest.max(other.longest) < stretch {
        let is_list = content.short_items * 2 >= content.matched;
        limits.push(match is_list {
            true if pair.places.iter().all(has_links) => (Grade::Note, Reason::Navigation),
            true if is_within_page => (Grade::Note, Reason::Options),
            true => (Grade::Warning, Reason::Options),
            false => (Grade::Note, Reason::Skeleton),
        });
    } else if content.cells * 2 >= content.matched {
        if content.short_cells * 2 > content.cells {
            limits.push((if is_within_page { Grade::Note } else { Grade::Warning }, Reason::Options));
        }
    } else if content.running * 2 < content.matched && content.running < options.min_words {
        limits.push((Grade::Warning, Reason::Skeleton));
    }
    if !options.strict && pair.kind == Kind::Passage && is_of_template(pair, &one, &other, options) {
        limits.push((Grade::Warning, Reason::Skeleton));
    }
    if is_within_page && pair.percent() < 100 && pair.words() < PARALLEL_WORDS {
        limits.push((Grade::Warning, Reason::Parallel));
    }
    let are_options = [&one, &other].iter().all(|content| content.options * 2 >= content.matched);
    if is_within_page && are_options && pair.percent() < 100 {
        limits.push((Grade::Note, Reason::Options));
    }
    let is_short = || match pair.kind {
        Kind::Passage => false,
        Kind::File => pair.places.iter().all(is_short),
        Kind::Paragraph => pair.places.iter().all(is_short) || pair.percent() < 100 && pair.matched < EDITED_WORDS,
    };
    if !options.strict && is_short() {
        limits.push((Grade::Warning, Reason::Short));
    }
    limits
}

/// Whether a passage is made of sentences of a template: it has no running text of some length, with few edits, within one block, unless
/// it is long and hardly edited.
fn is_of_template(pair: &Pair, one: &Content, other: &Content, options: &FindOptions) -> bool {
    let running = one.running.min(other.running);
    let is_long = running >= TEMPLATE_WORDS || running >= 2 * options.min_words && pair.percent() >= EQUAL_PERCENT;
    let [longest, least] = match pair.percent() {
        100 => [one.longest.max(other.longest), SHORT_WORDS],
        _ => [one.longest.min(other.longest), EDITED_WORDS],
    };
    !is_long && longest < least.min(options.min_words)
}

/// The lines that front matter starts with.
const FRONT_MATTER: [&str; 2] = ["---", "+++"];

/// Marks of links in the markups of pages.
const LINKS: [&str; 8] = ["](", "`_", ":doc:`", ":ref:`", "<a ", "link:", "xref:", "://"];

/// A place is a list of links if at least this share of its letters is in links, in percent.
const LINKED_PERCENT: usize = 80;

/// And if no block has more letters beside links than this, in bytes: fewer than a stretch of running text has.
const MOST_UNLINKED: usize = 100;

/// Whether most letters of a place are in links of lists, however long these are, and no block is prose.
fn is_list_of_links(place: &Place) -> bool {
    let (mut all, mut linked) = (0, 0);
    for part in place.page.parts(place.words.clone()) {
        let [letters, in_links] = place.page.letters(part.words);
        let in_links = if part.kind == prose::Kind::Item { in_links } else { 0 };
        if letters - in_links > MOST_UNLINKED {
            return false;
        }
        (all, linked) = (all + letters, linked + in_links);
    }
    linked > 0 && 100 * linked >= LINKED_PERCENT * all
}

/// Whether at least half of the items at a place have a link.
fn has_links(place: &Place) -> bool {
    let items = place.page.parts(place.words.clone()).filter(|part| part.kind == prose::Kind::Item);
    let (mut items, mut linked, mut plain) = (items.peekable(), 0, 0);
    while let Some(item) = items.next() {
        // The target of a link follows its words.
        let end = items.peek().map_or(place.words.end, |next| next.words.start);
        let source = place.page.source_between(item.words.start, end);
        *(if LINKS.iter().any(|mark| source.contains(mark)) { &mut linked } else { &mut plain }) += 1;
    }
    linked > 0 && linked >= plain
}

/// Whether a place has few words with a letter: an address has four numbers.
fn is_short(place: &Place) -> bool {
    // Mostly the first words suffice. This avoids counting a large page again for each page that it contains.
    let words = place.page.words()[place.words.clone()].iter().copied().filter(|&word| has_letter(word));
    // A character counts half.
    size(&words.take(2 * SHORT_WORDS).collect::<Vec<u64>>()) < SHORT_WORDS
}

/// How many matching words of one place of a pair are in which blocks.
#[derive(Debug, Default)]
struct Content {
    matched: usize,
    /// In paragraphs and items of running sentences.
    running: usize,
    /// In items, in short stretches.
    options: usize,
    /// In items too short for a sentence.
    short_items: usize,
    cells: usize,
    /// In the longest stretch within one block.
    longest: usize,
    /// In short cells.
    short_cells: usize,
}

impl Content {
    fn of(pair: &Pair, side: usize) -> Self {
        let mut content = Content::default();
        for (part, matched) in stretches(pair, side) {
            content.matched += matched;
            content.longest = content.longest.max(matched);
            match part.kind {
                prose::Kind::Cell => {
                    content.cells += matched;
                    content.short_cells += if matched < SHORT_WORDS { matched } else { 0 };
                }
                prose::Kind::Code => {
                    let source = &pair.places[side].page.source;
                    let is_front_matter = part.block == 0 && FRONT_MATTER.iter().any(|mark| source.starts_with(mark));
                    let is_running = part.size >= SENTENCE_WORDS && !is_front_matter;
                    content.running += if is_running { matched } else { 0 };
                }
                prose::Kind::Item | prose::Kind::Paragraph => {
                    let is_item = part.kind == prose::Kind::Item;
                    content.options += if is_item && matched < SHORT_WORDS { matched } else { 0 };
                    match part.size >= SENTENCE_WORDS {
                        true => content.running += matched,
                        false => content.short_items += if is_item { matched } else { 0 },
                    }
                }
                _ => {}
            }
        }
        content
    }
}

/// The stretches of matching words in one place of a pair, each within one block, with the number of its matching words.
fn stretches(pair: &Pair, side: usize) -> Vec<(Part, usize)> {
    let start = |run: &crate::passages::Run| [run.a, run.b][side];
    let mut runs: Vec<Range<usize>> = pair.runs.iter().map(|run| start(run)..start(run) + run.tokens).collect();
    runs.sort_unstable_by_key(|run| run.start);
    let mut stretches: Vec<(Part, usize)> = Vec::new();
    for part in runs.into_iter().flat_map(|run| pair.places[side].page.parts(run)) {
        match stretches.last_mut() {
            Some((last, matched)) if last.block == part.block && part.words.start <= last.words.end + MAX_GAP => {
                *matched += part.words.len();
                last.words.end = part.words.end;
            }
            _ => {
                let matched = part.words.len();
                stretches.push((part, matched));
            }
        }
    }
    stretches
}
