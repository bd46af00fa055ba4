//! The pages as they were at an earlier commit: what the same check would have reported then, and which text is new since.

use super::accepted::{AllKnown, Grams, Known, Moves, grams_of, sorted};
use super::error::SinceError;
use super::finding::{Finding, Place};
use super::grade::Grade;
use super::pages::{MAX_PAGE_BYTES, Page, Selection, Tree, old_page};
use super::since::{Changes, OldFile};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The pages at the commit, and the words of those that changed since.
pub(super) struct Past<'a> {
    changes: &'a Changes,
    /// Ordered by path, like those of today.
    pages: Vec<Arc<Page>>,
    /// The runs of four words of each page that changed and still exists: those that it had, and those that it has. Each as often as it
    /// occurs.
    changed: BTreeMap<PathBuf, [Grams; 2]>,
    /// Those of pages that do not exist any longer: they may have been renamed.
    removed: Grams,
}

impl<'a> Past<'a> {
    /// Reads the pages that changed, as they were. The others are those of today.
    ///
    /// # Errors
    /// Git cannot read them.
    pub fn read(
        tree: &Tree,
        roots: &[PathBuf],
        selection: &Selection,
        changes: &'a Changes,
    ) -> Result<Self, SinceError> {
        let today: BTreeMap<&Path, &Arc<Page>> = tree.pages.iter().map(|page| (page.place.as_path(), page)).collect();
        let is_wanted = |place: &Path| today.contains_key(place) || selection.would_read(roots, place).is_some();
        let old = changes.old_files(MAX_PAGE_BYTES, is_wanted)?;
        let read = |file: &OldFile| {
            let (name, markup) = match today.get(file.place.as_path()) {
                Some(page) => (page.path.clone(), page.markup),
                None => (selection.would_read(roots, &file.place)?, selection.markup_of(&file.place)?),
            };
            old_page(name, markup, &file.place, &file.bytes, &selection.prose)
        };
        let old: Vec<Arc<Page>> = old.par_iter().filter_map(read).map(Arc::new).collect();
        let (mut changed, mut removed) = (BTreeMap::new(), Grams::new());
        for page in &old {
            match today.get(page.place.as_path()) {
                Some(now) => drop(changed.insert(page.place.clone(), [page, *now].map(|page| all_grams(page)))),
                None => grams_of(page.words(), &mut removed),
            }
        }
        let unchanged = tree.pages.iter().filter(|page| !changes.has(&page.place)).cloned();
        let mut pages: Vec<Arc<Page>> = unchanged.chain(old).collect();
        pages.sort_by(|x, y| x.path.cmp(&y.path));
        Ok(Past { changes, pages, changed, removed: sorted(removed) })
    }

    pub fn pages(&self) -> &[Arc<Page>] {
        &self.pages
    }

    /// Keeps the findings that the check did not report then as seriously, given what it found, and that have new text. Marks the places
    /// with new text, and looks at the first of them.
    pub fn keep_new(&self, findings: &mut Vec<Finding>, then: &[Finding], min_words: usize) {
        let at_least = |grade: Grade| {
            let known = then.iter().filter(|finding| finding.grade >= grade).map(Known::of).collect();
            (grade, AllKnown::new(known, Moves::OfText, min_words))
        };
        let known = BTreeMap::from(Grade::ALL.map(at_least));
        findings.retain_mut(|finding| {
            let new = self.new_places(&finding.places);
            finding.mark_new(&new);
            new.contains(&true) && !known[&finding.grade].look_up(finding, |_| true).is_accepted
        });
    }

    /// Which places have text that was not in their pages. If there is none, the last place of each page that has some of the text more often
    /// than before: it was copied within the page.
    fn new_places(&self, places: &[Place]) -> Vec<bool> {
        let new: Vec<bool> = places.iter().map(|place| self.is_new(place)).collect();
        if new.contains(&true) {
            return new;
        }
        let is_last =
            |index: usize| places.get(index + 1).is_none_or(|next| next.page.place != places[index].page.place);
        (0..places.len()).map(|index| is_last(index) && self.is_more(&places[index])).collect()
    }

    /// Whether a run of four words of a place was not in its page.
    fn is_new(&self, place: &Place) -> bool {
        if !self.changes.has(&place.page.place) {
            return false;
        }
        let before = self.changed.get(&place.page.place).map_or(&self.removed, |[before, _]| before);
        place_grams(place).iter().any(|gram| before.binary_search(gram).is_err())
    }

    /// Whether a run of four words of a place occurs more often in its page than before.
    fn is_more(&self, place: &Place) -> bool {
        let Some([before, now]) = self.changed.get(&place.page.place) else { return false };
        let count = |grams: &Grams, gram: u32| {
            grams.partition_point(|&other| other <= gram) - grams.partition_point(|&other| other < gram)
        };
        place_grams(place).iter().any(|&gram| count(now, gram) > count(before, gram))
    }
}

/// The runs of four words of a page, ascending, each as often as it occurs.
fn all_grams(page: &Page) -> Grams {
    let mut grams = Grams::new();
    grams_of(page.words(), &mut grams);
    grams.sort_unstable();
    grams
}

/// The runs of four words of a place.
fn place_grams(place: &Place) -> Grams {
    let mut grams = Grams::new();
    grams_of(&place.page.words()[place.words.clone()], &mut grams);
    grams
}
