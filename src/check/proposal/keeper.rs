//! Which page should keep a text: by evidence in the pages, the same for all findings of two pages.

use super::super::find::Kind;
use super::super::finding::{Finding, Pair, Place};
use super::super::grade::Preset;
use super::super::grading::{in_named_versions, is_generated, is_in_posts, is_of_version};
use super::super::links::Links;
use super::super::pages::Page;
use super::super::paths::repository_of;
use super::super::rules::{OfFile, Rules};
use super::collage::collages;
use crate::prose::Markup;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A place contains another one if it has this share of its words, in percent, and is longer by [`LONGER_PERCENT`].
const CONTAINED_PERCENT: usize = 95;
const LONGER_PERCENT: usize = 25;

/// Of more pages, each is compared with the best so far instead of all others.
const MAX_COMPARED: usize = 8;

/// Names of folders of texts that others include, in lower case and without `_` before them.
const INCLUDED: [&str; 12] = [
    "include",
    "includes",
    "partial",
    "partials",
    "snippet",
    "snippets",
    "shared",
    "fragment",
    "fragments",
    "reuse",
    "reusable",
    "reusables",
];

/// Names of folders of pages that readers should not start from.
const DEPRECATED: [&str; 7] = ["deprecated", "deprecations", "warnings", "legacy", "archive", "archived", "obsolete"];

/// The field of reStructuredText of a page that no table of contents has.
const ORPHAN: &str = ":orphan:";

/// The place that keeps a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub index: usize,
    /// Whether there is evidence for it. If not, each of the pages could keep the text.
    pub is_sure: bool,
}

/// Decides which page keeps a text.
pub(super) struct Keepers<'a> {
    links: &'a Links<'a>,
    /// The repository that the pages are in.
    repository: Option<PathBuf>,
    /// Pairs of paths: the second page has a place within a longer one of the first.
    contained: BTreeSet<[String; 2]>,
    /// The paths of pages in folders such as `guide-1.2`, if there are others of that name beside them.
    versions: BTreeSet<String>,
    /// The paths of pages that were put together from others.
    collages: BTreeSet<String>,
    /// What rules say about pages, by path; nothing for most.
    rules: BTreeMap<String, OfFile>,
}

impl<'a> Keepers<'a> {
    pub fn new(findings: &[Finding], links: &'a Links, rules: &Rules) -> Self {
        let pairs = findings.iter().flat_map(|finding| &finding.pairs);
        let paths = |[whole, part]: [&Place; 2]| [whole.path().to_string(), part.path().to_string()];
        let mut places = findings.iter().flat_map(|finding| &finding.places);
        let repository = places.next().and_then(|place| repository_of(&place.page.place));
        let contained = pairs.filter_map(whole_and_part).map(paths).collect();
        let versions = in_named_versions(links.pages(), repository.as_deref());
        let pages: BTreeMap<&str, &Page> =
            findings.iter().flat_map(|finding| &finding.places).map(|place| (place.path(), &*place.page)).collect();
        let rules = pages.into_iter().map(|(path, page)| (path.to_string(), rules.of_file(&page.place)));
        let rules = rules.filter(|(_, of_file)| *of_file != OfFile::default()).collect();
        Keepers { links, repository, contained, versions, collages: collages(findings), rules }
    }

    /// The path of a page within the repository.
    fn path(&self, page: &Page) -> String {
        page.path_in(self.repository.as_deref())
    }

    /// The place that keeps the text of a finding: if possible one that is not in release notes, then one in a page that others include, then
    /// one that is not new, then one that had most of it before.
    pub fn of(&self, finding: &Finding) -> Kept {
        let places = &finding.places;
        let page = |index: usize| &*places[index].page;
        // Those that the grade is for, such as the pages of one version; and those that all others can refer to.
        let is_home = |&index: &usize| {
            !places[index].is_lesser || self.is_included(page(index)) || is_generated(&page(index).source)
        };
        let homes: Vec<usize> = (0..places.len()).filter(is_home).collect();
        // Release notes say what was so then, and are not changed later.
        let is_other = |&index: &usize| {
            !places[index].is_release_notes || self.is_included(page(index)) || is_generated(&page(index).source)
        };
        let others: Vec<usize> = homes.iter().copied().filter(is_other).collect();
        let all_homes = homes.clone();
        let homes = if others.is_empty() { homes } else { others };
        // Also if it is new: text that moves to such a page is still in those that it came from.
        let partials: Vec<usize> = homes.iter().copied().filter(|&index| self.is_included(page(index))).collect();
        let homes = if partials.is_empty() { homes } else { partials };
        let oldest = homes.iter().map(|&index| places[index].age()).min();
        let is_newer = |&index: &usize| Some(places[index].age()) > oldest;
        let is_known = all_homes.iter().any(is_newer);
        let mut candidates: Vec<usize> =
            homes.iter().copied().filter(|&index| Some(places[index].age()) == oldest).collect();
        // Places are ordered by page.
        candidates.dedup_by_key(|index| places[*index].path());
        let index = match candidates.len() <= MAX_COMPARED {
            true => {
                let is_better = |one: usize, other: usize| one != other && self.order(page(one), page(other)).is_lt();
                let wins = |one: usize| candidates.iter().filter(|&&other| is_better(one, other)).count();
                candidates.iter().copied().rev().max_by_key(|&index| wins(index))
            }
            false => candidates
                .iter()
                .copied()
                .reduce(|best, index| if self.order(page(index), page(best)).is_lt() { index } else { best }),
        };
        let index = index.unwrap_or_default();
        let is_other = |other: &&usize| **other != index && !self.accepts(page(**other), page(index));
        let mut others = candidates.iter().filter(is_other);
        // Of parallel pages with texts that differ, that to which more pages link is not the home of what they share.
        let differ = || are_parallel(finding) && finding.pairs.iter().any(|pair| !pair.has_same_words());
        let is_better = |ordering: Ordering, other: usize| {
            ordering
                .then_with(|| if differ() { Ordering::Equal } else { self.links_of(page(index), page(other)) })
                .is_lt()
        };
        let is_sure = is_known || others.all(|&other| is_better(self.evidence(page(index), page(other)), other));
        Kept { index, is_sure }
    }

    /// Whether rules accept copies between two pages.
    pub fn accepts(&self, one: &Page, other: &Page) -> bool {
        let rules = [one, other].map(|page| self.rules.get(&page.path));
        matches!(rules, [Some(one), Some(other)] if one.accepts(other))
    }

    /// Whether a page should rather not be changed: it is generated, or of a numbered version.
    pub fn is_frozen(&self, page: &Page) -> bool {
        is_generated(&page.source) || self.is_of_version(page)
    }

    /// Whether only pages of numbered versions had the text before, such as one that moved to another page since: they stay as they are.
    pub fn is_only_in_version(&self, finding: &Finding, kept: Kept) -> bool {
        let kept = &finding.places[kept.index];
        let is_moved = |place: &Place| !place.is_lesser && place.age() > kept.age() && !self.is_of_version(&place.page);
        self.is_of_version(&kept.page) && !self.is_included(&kept.page) && finding.places.iter().any(is_moved)
    }

    /// Whether only release notes had the text before, or they are generated: then neither they nor the other pages are to change.
    pub fn is_only_in_release_notes(&self, finding: &Finding, kept: Kept) -> bool {
        let kept = &finding.places[kept.index];
        let is_older = |place: &Place| place.is_release_notes && !place.is_lesser && place.age() < kept.age();
        let is_other = |place: &Place| !place.is_release_notes && !place.is_lesser;
        let is_home = kept.is_release_notes && !self.is_included(&kept.page) && finding.places.iter().any(is_other);
        is_home || finding.places.iter().any(is_older)
    }

    /// Whether a page is in a folder of a numbered version.
    fn is_of_version(&self, page: &Page) -> bool {
        is_of_version(&self.path(page)) || self.versions.contains(&page.path)
    }

    /// Whether other pages include the text of a page.
    pub fn is_included(&self, page: &Page) -> bool {
        let path = self.path(page);
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", &path));
        let is_source = matches!(page.markup, Markup::Docstrings(_));
        let is_partial = file.starts_with('_') && !file.starts_with("_index.") && !is_source || file.ends_with(".inc");
        let is_folder = |name: &str| INCLUDED.contains(&name.strip_prefix('_').unwrap_or(name));
        is_partial || folder.to_ascii_lowercase().split('/').any(is_folder) || self.links.is_included(page)
    }

    /// Which of two pages should keep a text: the smaller. Without evidence, the one in fewer folders, then the first.
    fn order(&self, one: &Page, other: &Page) -> Ordering {
        let depth = |path: &str| path.split('/').filter(|name| *name != "..").count();
        // Within the repository, so that the current folder does not matter.
        let by_path = || {
            let [one, other] = [self.path(one), self.path(other)];
            depth(&one).cmp(&depth(&other)).then_with(|| one.cmp(&other))
        };
        self.evidence(one, other).then_with(|| self.links_of(one, other)).then_with(by_path)
    }

    /// Which of two pages should keep a text: the smaller. Equal without evidence, apart from [`links_of`](Self::links_of).
    fn evidence(&self, one: &Page, other: &Page) -> Ordering {
        let leads = |from, to| self.links.leads_in_text(from, to);
        self.rank(one)
            .cmp(&self.rank(other))
            .then_with(|| leads(one, other).cmp(&leads(other, one)))
            .then_with(|| self.contains(other, one).cmp(&self.contains(one, other)))
    }

    /// Which of two pages clearly more pages link to: the smaller.
    fn links_of(&self, one: &Page, other: &Page) -> Ordering {
        self.has_more_links(other, one).cmp(&self.has_more_links(one, other))
    }

    /// What the path and the beginning of a page say: those with a lower rank keep a text.
    fn rank(&self, page: &Page) -> [bool; 5] {
        let path = self.path(page);
        let mut folders = path.split('/').rev().skip(1);
        let is_deprecated = folders.any(|name| DEPRECATED.contains(&name.to_ascii_lowercase().as_str()));
        let is = |preset| self.rules.get(&page.path).is_some_and(|of_file| of_file.presets.contains(&preset));
        let is_ordinary = is(Preset::Ordinary);
        [
            !self.is_included(page),
            // Nobody can change it.
            !is_generated(&page.source),
            self.collages.contains(&page.path),
            is_deprecated || !is_ordinary && is_in_posts(&path),
            self.is_of_version(page) || page.source.starts_with(ORPHAN),
        ]
    }

    fn contains(&self, whole: &Page, part: &Page) -> bool {
        !self.contained.is_empty() && self.contained.contains(&[whole.path.clone(), part.path.clone()])
    }

    /// Whether clearly more pages link to one page than to another.
    fn has_more_links(&self, one: &Page, other: &Page) -> bool {
        let [one, other] = [one, other].map(|page| self.links.inbound(page));
        one >= 2 * other && one >= other + 2
    }
}

/// Whether the pages of a finding are different pages of one folder, or of one name in different folders.
pub(super) fn are_parallel(finding: &Finding) -> bool {
    let places = &finding.places;
    let have_one = |part: fn(&Path) -> Option<&OsStr>| {
        let of = |place: &Place| part(&place.page.place).map(OsStr::to_os_string);
        places.iter().all(|place| of(place) == of(&places[0]))
    };
    places.iter().any(|place| place.path() != places[0].path())
        && (have_one(|path| path.parent().map(Path::as_os_str)) || have_one(Path::file_name))
}

/// The places of a pair as the longer one and the one that it contains, if it contains it.
fn whole_and_part(pair: &Pair) -> Option<[&Place; 2]> {
    let [one, other] = pair.places.each_ref();
    let [whole, part] = if one.words.len() > other.words.len() { [one, other] } else { [other, one] };
    let is_longer = 100 * whole.words.len() >= (100 + LONGER_PERCENT) * part.words.len();
    let is_file = pair.kind == Kind::File && pair.whole().is_some();
    let is_contained = is_file || 100 * pair.matched >= CONTAINED_PERCENT * part.words.len();
    (is_longer && is_contained).then_some([whole, part])
}
