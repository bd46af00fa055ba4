//! Limits by what is in the sources of places besides their words: links from one to the other, and code that differs.

use super::super::find::Kind;
use super::super::finding::{Finding, Pair, Place};
use super::super::grade::{Grade, Limit, Reason};
use super::super::links::Links;
use super::super::sources::{around, is_text, shared_words, source_of, up_to_others, words};

/// A place is the text of links if they have at least this share of its letters, in percent.
const LINKED_PERCENT: usize = 80;

/// A text that leads to its copy and has fewer words is a teaser.
const TEASER_WORDS: usize = 60;

/// Texts in more places do not lead to each other.
const MAX_LINKED: usize = 16;

/// Of two places with more bytes than this many times those of the other one is not compared.
const MAX_RATIO: usize = 4;

/// The limits of a finding.
pub(super) fn limits(finding: &Finding, links: &Links) -> Vec<Limit> {
    let are_entries = || have_center(finding, |from, to| is_text_of_link(from, to, links));
    let linked = is_linked(finding, links).then(|| {
        let is_note = finding.words() < TEASER_WORDS || finding.kind != Kind::File && are_entries();
        (if is_note { Grade::Note } else { Grade::Warning }, Reason::Linked)
    });
    let code = finding.pairs.iter().all(code_differs).then_some((Grade::Warning, Reason::Code));
    linked.into_iter().chain(code).collect()
}

/// Whether one of two places leads to the other, or of more all others to one: these are teasers of it. An index that leads to several
/// pages says nothing about copies among them. Of whole files, whether one leads to all others, each of twice its length, that contain it.
fn is_linked(finding: &Finding, links: &Links) -> bool {
    let leads = |from: &Place, to: &Place| {
        links.leads(&from.page, &to.page) && links.leads_within(&from.page, around(from), &to.page)
    };
    if finding.kind == Kind::File {
        let leads_to_whole = |pair: &Pair, whole: usize| {
            let [whole, part] = [&pair.places[whole], &pair.places[1 - whole]];
            // The place in the whole can be a part of it.
            whole.page.words().len() >= 2 * part.page.words().len() && leads(part, whole)
        };
        return finding.pairs.iter().all(|pair| pair.whole().is_some_and(|whole| leads_to_whole(pair, whole)));
    }
    have_center(finding, |from, to| leads(from, to) || is_text_of_link(from, to, links))
}

/// Whether all places but one lead to that.
fn have_center(finding: &Finding, leads: impl Fn(&Place, &Place) -> bool) -> bool {
    let places = &finding.places;
    let is_center = |center: usize| {
        let mut others = (0..places.len()).filter(|&index| index != center).map(|index| &places[index]);
        others.all(|other| leads(other, &places[center]))
    };
    places.len() <= MAX_LINKED && (0..places.len()).any(is_center)
}

/// Whether a place is an entry of a table of contents: the text of links to the page of the other place, or to places in it if it is one
/// page. What the texts of links beside it lead to says nothing about it.
fn is_text_of_link(from: &Place, to: &Place, links: &Links) -> bool {
    let [letters, in_links] = from.page.letters(from.words.clone());
    let is_most = |linked: usize| 100 * linked >= LINKED_PERCENT * letters;
    is_most(in_links) && {
        let own = from.page.span(from.words.clone());
        let texts = links.texts_within(&from.page, up_to_others(from), &to.page);
        let inside = texts.into_iter().map(|text| text.start.max(own.start)..text.end.min(own.end));
        is_most(inside.map(|text| from.page.prose.letters(text)[1]).sum())
    }
}

/// Whether the sources of both places have more than twice as many other words as words of prose, and differ in a fifth of all.
fn code_differs(pair: &Pair) -> bool {
    let sources = pair.places.each_ref().map(source_of);
    let [short, long] = if sources[0].len() <= sources[1].len() { [0, 1] } else { [1, 0] };
    if !pair.places.iter().all(is_text) || sources[long].len() > MAX_RATIO * sources[short].len() {
        return false;
    }
    let is_code = |side: usize| 3 * pair.places[side].words.len() < words(sources[side]).count();
    is_code(short) && is_code(long) && {
        // 2 · shared / all < 0.8.
        let [shared, all] = shared_words(sources);
        10 * shared < 4 * all
    }
}
