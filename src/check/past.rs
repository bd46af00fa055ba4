//! The pages as they were at an earlier commit: what the same check would have reported then, and which text is new since.

use super::accepted::{AllKnown, Grams, Known, grams_of, sorted};
use super::error::SinceError;
use super::finding::{Age, Finding, Place};
use super::git::OldFile;
use super::grade::Grade;
use super::grading::Grader;
use super::pages::{MAX_PAGE_BYTES, Page, Root, Selection, Tree, old_page};
use super::since::Changes;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An edit makes this many runs of four words in a row new. Where words were removed there are fewer.
const EDITED: usize = 4;

/// Text with this many runs in a row is a copy by itself.
const COPIED: usize = 12;

/// A run of four words of more removed pages does not show which of them was renamed.
const MAX_REMOVED: usize = 8;

/// The pages at the commit, and the words of those that changed since.
pub(super) struct Past<'a> {
    changes: &'a Changes,
    /// Ordered by path, like those of today.
    pages: Vec<Arc<Page>>,
    /// The runs of four words of each page that changed and still exists: those that it had, and those that it has. Each as often as it
    /// occurs.
    changed: BTreeMap<PathBuf, [Grams; 2]>,
    /// Those of all pages that do not exist any longer, and of all pages that did not exist then: one may be another that was renamed.
    unpaired: [Grams; 2],
    /// Those of each page that did not exist then and has most of the text of one that does not exist any longer: it was renamed.
    renamed: BTreeMap<PathBuf, [Grams; 2]>,
}

impl<'a> Past<'a> {
    /// Reads the pages that changed, as they were. The others are those of today. Of pages that do not exist any longer, those outside of
    /// the roots are read too: they may have been moved there.
    ///
    /// # Errors
    /// Git cannot read them.
    pub fn read(tree: &Tree, roots: &[Root], selection: &Selection, changes: &'a Changes) -> Result<Self, SinceError> {
        let today: BTreeMap<&Path, &Arc<Page>> = tree.pages.iter().map(|page| (page.place.as_path(), page)).collect();
        let top = [Root::new(changes.top())];
        let removed = |place: &Path| {
            let is_removed = !today.contains_key(place) && changes.is_gone(place);
            let name = |roots| selection.would_read(roots, place);
            if is_removed { name(roots).or_else(|| name(&top)) } else { None }
        };
        let is_wanted = |place: &Path| today.contains_key(place) || removed(place).is_some();
        let old = changes.old_files(MAX_PAGE_BYTES, is_wanted)?;
        let read = |file: &OldFile| {
            let (name, markup) = match today.get(file.place.as_path()) {
                Some(page) => (page.path.clone(), page.markup),
                None => (removed(&file.place)?, selection.markup_of(&file.place)?),
            };
            old_page(name, markup, &file.place, &file.bytes, selection)
        };
        let old: Vec<Arc<Page>> = old.par_iter().filter_map(read).map(Arc::new).collect();
        let (mut changed, mut unpaired) = (BTreeMap::new(), [Grams::new(), Grams::new()]);
        let mut removed: Vec<&Arc<Page>> = Vec::new();
        for page in &old {
            match today.get(page.place.as_path()) {
                Some(now) => drop(changed.insert(page.place.clone(), [page, *now].map(|page| all_grams(page)))),
                None => removed.push(page),
            }
        }
        let is_added = |page: &&Arc<Page>| changes.has(&page.place) && !changed.contains_key(&page.place);
        let added: Vec<&Arc<Page>> = tree.pages.iter().filter(is_added).collect();
        for (pages, grams) in [&removed, &added].into_iter().zip(&mut unpaired) {
            pages.iter().for_each(|page| grams_of(page.words(), grams));
        }
        let renamed = renamed(&removed, &added);
        unpaired.iter_mut().for_each(|grams| grams.sort_unstable());
        let unchanged = tree.pages.iter().filter(|page| !changes.has(&page.place)).cloned();
        let mut pages: Vec<Arc<Page>> = unchanged.chain(old).collect();
        pages.sort_by(|x, y| x.path.cmp(&y.path));
        Ok(Past { changes, pages, changed, unpaired, renamed })
    }

    pub fn pages(&self) -> &[Arc<Page>] {
        &self.pages
    }

    /// Keeps the findings that the check did not report then as seriously, given what it found, and that have new text. Marks the places
    /// with new text, grades by them, and looks at one of them.
    pub fn keep_new(&self, findings: &mut Vec<Finding>, then: &[Finding], min_words: usize, grader: &Grader) {
        let at_least = |grade: Grade| {
            let known = then.iter().filter(|finding| finding.grade >= grade).map(Known::of).collect();
            (grade, AllKnown::new(known, min_words))
        };
        let known = BTreeMap::from(Grade::ALL.map(at_least));
        findings.retain_mut(|finding| {
            let new = self.new_places(&finding.places);
            let age = |(place, &is_new): (&Place, &bool)| match is_new {
                true if self.has_most(place) => Age::Edited,
                true => Age::New,
                false => Age::Old,
            };
            let ages: Vec<Age> = finding.places.iter().zip(&new).map(age).collect();
            finding.mark_ages(&ages);
            grader.grade(finding);
            let is_accepted = |finding: &Finding| {
                known[&finding.grade].look_up(finding, |text, file| self.times(text, file)).is_accepted()
            };
            // A copy beside another one of its page can be a part of one longer place.
            finding.is_new_by(&new)
                && !self.are_moved(&finding.places, &new, min_words)
                && (self.has_more_copies(&finding.places) || !is_accepted(finding))
        });
    }

    /// In how many of its places in a file a text still is: in one less for each time that the file lost it.
    fn times(&self, text: &Known, file: &Path) -> usize {
        let places = text.places_in(file);
        match self.changed.get(file) {
            Some([_, now]) if !text.is_in(now) => 0,
            // Of one place, it may be another text like it that is gone.
            Some([before, now]) if places > 1 => {
                let mut lost: Vec<usize> = text
                    .sample
                    .hashes
                    .iter()
                    .map(|&gram| times_in(before, gram).saturating_sub(times_in(now, gram)))
                    .collect();
                lost.sort_unstable();
                // So many times at least, by most runs.
                places.saturating_sub(lost.get(lost.len() / 4).copied().unwrap_or_default())
            }
            None if self.changes.has(file) => 0,
            _ => places,
        }
    }

    /// Whether all places with new text have what the page of all others had beside these, and has lost: the page was split. It does not
    /// matter whether the check reported copies within the page, which have to be longer or more similar.
    fn are_moved(&self, places: &[Place], new: &[bool], min_words: usize) -> bool {
        let of = |wanted: bool| places.iter().zip(new).filter(move |(_, is_new)| **is_new == wanted);
        let mut old = of(false).map(|(place, _)| place.page.place.as_path());
        let Some(page) = old.next().filter(|page| old.all(|other| other == *page)) else { return false };
        let Some(both) = self.changed.get(page) else { return false };
        let number = of(true).count();
        let is_from_there = |place: &Place| {
            let times = times_of(place, both);
            let lost = times.iter().filter(|[before, now]| *before >= now + number).count();
            2 * lost >= times.len() && times.len() - lost < min_words
        };
        of(true).all(|(place, _)| is_from_there(place))
    }

    /// Which places have text that was not in their pages. If there is none, the last place of each page that has some of the text more often
    /// than before: it was copied within the page, or a page that was removed went to more than one.
    fn new_places(&self, places: &[Place]) -> Vec<bool> {
        let is_new = |gram: [usize; 2]| gram[0] == 0;
        let new: Vec<bool> = places.iter().map(|place| has_runs(&self.counts(place), EDITED, is_new)).collect();
        if new.contains(&true) {
            return new;
        }
        let is_last =
            |index: usize| places.get(index + 1).is_none_or(|next| next.page.place != places[index].page.place);
        let is_more = |[before, now]: [usize; 2]| now > before;
        let has_more = |place: &Place| match self.renamed.get(&place.page.place) {
            Some(both) => has_runs(&times_of(place, both), EDITED, is_more),
            None => has_runs(&self.counts(place), EDITED, is_more),
        };
        (0..places.len()).map(|index| is_last(index) && has_more(&places[index])).collect()
    }

    /// Whether the page of a place had at least half of its runs of four words.
    fn has_most(&self, place: &Place) -> bool {
        let counts = self.counts(place);
        2 * counts.iter().filter(|[before, _]| *before > 0).count() >= counts.len()
    }

    /// Whether a place has text that is like text of its page, and was not there as often.
    fn has_more_copies(&self, places: &[Place]) -> bool {
        let has_more = |place: &Place| {
            let (mut in_row, mut known) = (0, 0);
            self.counts(place).into_iter().any(|[before, now]| {
                (in_row, known) = if now > before { (in_row + 1, known + usize::from(before > 0)) } else { (0, 0) };
                in_row >= COPIED && 3 * known >= in_row
            })
        };
        places.iter().any(has_more)
    }

    /// How often the page of a place had each run of four words of it, and how often it has it; none of a page that did not change.
    fn counts(&self, place: &Place) -> Vec<[usize; 2]> {
        if !self.changes.has(&place.page.place) {
            return Vec::new();
        }
        times_of(place, self.changed.get(&place.page.place).unwrap_or(&self.unpaired))
    }
}

/// How often a page had each run of four words of a place, and how often it has it, given all of its runs.
fn times_of(place: &Place, both: &[Grams; 2]) -> Vec<[usize; 2]> {
    let mut grams = Grams::new();
    grams_of(&place.page.words()[place.words.clone()], &mut grams);
    grams.into_iter().map(|gram| both.each_ref().map(|grams| times_in(grams, gram))).collect()
}

/// How often a page has a run, given all of its runs.
fn times_in(grams: &Grams, gram: u32) -> usize {
    grams.partition_point(|&other| other <= gram) - grams.partition_point(|&other| other < gram)
}

/// Whether so many runs of four words in a row of a place, or all of fewer, are as wanted, given how often its page had each and how often
/// it has it.
fn has_runs(counts: &[[usize; 2]], number: usize, is_wanted: impl Fn([usize; 2]) -> bool) -> bool {
    let (least, mut in_row) = (number.min(counts.len()), 0);
    counts.iter().any(|&count| {
        in_row = if is_wanted(count) { in_row + 1 } else { 0 };
        in_row >= least
    })
}

/// Of pages that were added, those that have at least half of a removed one, each with the runs of both: of several the one that has most of
/// it, then the one with the fewest words, then the one of the same name. Runs of many removed pages do not count.
///
/// Cost: linear in the words, and a sort.
fn renamed(removed: &[&Arc<Page>], added: &[&Arc<Page>]) -> BTreeMap<PathBuf, [Grams; 2]> {
    let mut of_removed: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (number, page) in removed.iter().enumerate() {
        let grams = sorted(all_grams(page));
        grams.into_iter().for_each(|gram| of_removed.entry(gram).or_default().push(number));
    }
    of_removed.retain(|_, pages| pages.len() <= MAX_REMOVED);
    let mut runs = vec![0; removed.len()];
    of_removed.values().flatten().for_each(|&page| runs[page] += 1);
    let mut shared: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for (number, page) in added.iter().enumerate() {
        let known = sorted(all_grams(page)).into_iter().filter_map(|gram| of_removed.get(&gram));
        known.flatten().for_each(|&old| *shared.entry([old, number]).or_default() += 1);
    }
    let name = |page: &Page| page.place.file_name().map(OsStr::to_os_string);
    let mut pairs: Vec<([usize; 2], usize)> =
        shared.into_iter().filter(|([old, _], shared)| 2 * shared >= runs[*old]).collect();
    pairs.sort_by_cached_key(|&([old, new], shared)| {
        (Reverse(shared), added[new].words().len(), name(removed[old]) != name(added[new]), old, new)
    });
    let (mut paired, mut renamed) = (vec![false; removed.len()], BTreeMap::new());
    for ([old, new], _) in pairs {
        if !paired[old] && !renamed.contains_key(&added[new].place) {
            paired[old] = true;
            renamed.insert(added[new].place.clone(), [removed[old], added[new]].map(|page| all_grams(page)));
        }
    }
    renamed
}

/// The runs of four words of a page, ascending, each as often as it occurs.
fn all_grams(page: &Page) -> Grams {
    let mut grams = Grams::new();
    grams_of(page.words(), &mut grams);
    grams.sort_unstable();
    grams
}
