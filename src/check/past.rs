//! The pages as they were at an earlier commit: what the same check would have reported then, and which text is new since.

use super::accepted::{AllKnown, Grams, Known, Moves, grams_of, sorted};
use super::error::SinceError;
use super::finding::{Finding, Place};
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
    /// The runs of four words of each page that changed and still exists.
    changed: BTreeMap<PathBuf, Grams>,
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
            let mut grams = Grams::new();
            grams_of(page.words(), &mut grams);
            match today.contains_key(page.place.as_path()) {
                true => drop(changed.insert(page.place.clone(), sorted(grams))),
                false => removed.extend(grams),
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

    /// Keeps the findings that the check did not report then, given what it found, and that have new text. Marks the places with new
    /// text, and looks at the first of them.
    pub fn keep_new(&self, findings: &mut Vec<Finding>, then: &[Finding], min_words: usize) {
        let known = AllKnown::new(then.iter().map(Known::of).collect(), Moves::OfText, min_words);
        findings.retain_mut(|finding| {
            let new: Vec<bool> = finding.places.iter().map(|place| self.is_new(place)).collect();
            finding.mark_new(&new);
            new.contains(&true) && !known.look_up(finding, |_| true).is_accepted
        });
    }

    /// Whether a run of four words of a place was not in its page.
    fn is_new(&self, place: &Place) -> bool {
        let page = &place.page;
        if !self.changes.has(&page.place) {
            return false;
        }
        let before = self.changed.get(&page.place).unwrap_or(&self.removed);
        let mut grams = Grams::new();
        grams_of(&page.words()[place.words.clone()], &mut grams);
        grams.iter().any(|gram| before.binary_search(gram).is_err())
    }
}
