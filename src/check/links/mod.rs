//! Links between pages: which page a link leads to, where it is, and which pages others include.
//!
//! Cost: linear in the sources. Only links to the pages of interest are kept.

mod names;
mod targets;

use super::pages::Page;
use crate::prose::Navigation;
use names::{Labels, Names};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use targets::{Kind, Target, targets};

/// A link of a page to another one. Ordered by the other page, then by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    /// The index of the page that it leads to.
    to: usize,
    is_include: bool,
    /// Its position in the source, in bytes.
    at: usize,
    /// Whether it is in a menu, a table of contents or a list of links: all pages of a site may have it.
    is_navigation: bool,
}

/// The links between the pages of a tree.
pub(super) struct Links<'a> {
    /// Ordered by path.
    pages: &'a [Arc<Page>],
    /// The links of each page to others, in order.
    of_page: Vec<Vec<Link>>,
    /// The positions of the links of each page to places in it, ascending.
    within: Vec<Vec<usize>>,
    /// How many other pages link to each page in their texts.
    inbound: Vec<usize>,
    /// Whether another page includes it.
    included: Vec<bool>,
}

impl<'a> Links<'a> {
    /// The links to those of the pages that are wanted. The pages are ordered by path.
    pub fn to(pages: &'a [Arc<Page>], is_wanted: impl Fn(&Page) -> bool) -> Self {
        let wanted: Vec<bool> = pages.iter().map(|page| is_wanted(page)).collect();
        let (names, labels) = (Names::new(pages, &wanted), Labels::new(pages, &wanted));
        let links = |from: usize| {
            let page = &pages[from];
            let (mut links, mut within): (Vec<Link>, Vec<usize>) = (Vec::new(), Vec::new());
            let mut navigation = Navigation::new(&page.prose, &page.source);
            for target in targets(page.markup, &page.source) {
                let to = match (target.kind, target.text.split_once('#')) {
                    (Kind::Label, Some((_, label))) => names.find(from, target.text).or_else(|| labels.find(label)),
                    // A label that no page defines, or several do, is not the name of a page.
                    (Kind::Label, None) => labels.find(target.text).or_else(|| names.find_file(from, target.text)),
                    (Kind::Path | Kind::Entry | Kind::Include, _) => names.find(from, target.text),
                };
                let Target { at, kind, text } = target;
                let has_place = kind == Kind::Label || text.contains('#');
                if wanted[from] && (to == Some(from) && has_place || text.starts_with('#')) {
                    within.push(at);
                }
                let mut is_navigation = || kind == Kind::Entry || navigation.has(at);
                let link = |to| Link { to, is_include: kind == Kind::Include, at, is_navigation: is_navigation() };
                links.extend(to.filter(|&to| to != from).map(link));
            }
            links.sort_unstable();
            within.sort_unstable();
            (links, within)
        };
        let (of_page, within): (Vec<Vec<Link>>, Vec<Vec<usize>>) = (0..pages.len()).into_par_iter().map(links).unzip();
        let (mut inbound, mut included) = (vec![0; pages.len()], vec![false; pages.len()]);
        for links in &of_page {
            for link in links.chunk_by(|one, other| (one.to, one.is_include) == (other.to, other.is_include)) {
                match link[0].is_include {
                    true => included[link[0].to] = true,
                    false => inbound[link[0].to] += usize::from(link.iter().any(|link| !link.is_navigation)),
                }
            }
        }
        Links { pages, of_page, within, inbound, included }
    }

    /// All pages, ordered by path.
    pub fn pages(&self) -> &'a [Arc<Page>] {
        self.pages
    }

    /// The index of a page.
    fn index(&self, page: &Page) -> Option<usize> {
        self.pages.binary_search_by(|other| other.path.cmp(&page.path)).ok()
    }

    /// Whether a page links to another one, which is wanted.
    pub fn leads(&self, from: &Page, to: &Page) -> bool {
        self.leads_within(from, 0..usize::MAX, to)
    }

    /// Whether these bytes of a page have a link to another page, which is wanted.
    pub fn leads_within(&self, from: &Page, bytes: Range<usize>, to: &Page) -> bool {
        self.between(from, to, bytes.start).next().is_some_and(|link| link.at < bytes.end)
    }

    /// The texts of the links in these bytes of a page that lead to another one or, if both are one page, to a place in it. Both are wanted.
    /// The texts are ranges of the prose in bytes, each once.
    ///
    /// Cost: binary searches, one for each of these links, and linear in their texts. Other links of the page are not visited.
    pub fn texts_within(&self, from: &Page, bytes: Range<usize>, to: &Page) -> Vec<Range<usize>> {
        if from.path != to.path {
            let targets = self.between(from, to, bytes.start).map(|link| link.at);
            return from.prose.texts_of_links(&from.source, targets.take_while(|target| *target < bytes.end));
        }
        let within = self.index(from).map_or(&[][..], |page| &self.within[page]);
        let first = within.partition_point(|target| *target < bytes.start);
        let targets = within[first..].iter().copied().take_while(|target| *target < bytes.end);
        from.prose.texts_of_links(&from.source, targets)
    }

    /// Whether the text of a page links to another page, which is wanted: not only a menu, a table of contents or a list of links.
    pub fn leads_in_text(&self, from: &Page, to: &Page) -> bool {
        self.between(from, to, 0).any(|link| !link.is_navigation)
    }

    /// The links of a page to another one, from that byte on.
    fn between(&self, from: &Page, to: &Page, start: usize) -> impl Iterator<Item = &Link> {
        let pages = self.index(from).zip(self.index(to));
        let (links, to) = pages.map_or((&[][..], 0), |(from, to)| (&self.of_page[from][..], to));
        let first = links.partition_point(|link| (link.to, link.is_include, link.at) < (to, false, start));
        links[first..].iter().take_while(move |link| link.to == to && !link.is_include)
    }

    /// How many other pages link to a page, which is wanted, in their texts.
    pub fn inbound(&self, page: &Page) -> usize {
        self.index(page).map_or(0, |page| self.inbound[page])
    }

    /// Whether another page includes a page, which is wanted.
    pub fn is_included(&self, page: &Page) -> bool {
        self.index(page).is_some_and(|page| self.included[page])
    }
}

#[cfg(test)]
mod tests;
