//! Which page of a tree the target of a link means: by its path, or by a label.

use super::super::pages::Page;
use super::targets::labels;
use memchr::{memchr2, memchr3, memrchr};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::path::Component;
use std::sync::Arc;

/// Extensions of pages, and of what is made of them.
const EXTENSIONS: [&str; 19] = [
    "md", "markdown", "mdown", "mkd", "mkdn", "qmd", "rmd", "mdx", "rst", "rest", "adoc", "asciidoc", "asc", "html",
    "htm", "xhtml", "txt", "text", "ipynb",
];

/// Names of files that stand for their folder.
const INDEXES: [&str; 3] = ["index", "readme", "_index"];

/// Of more pages with one name, only relative paths say which is meant.
const MAX_CANDIDATES: usize = 32;

/// The pages of a tree by their names.
pub(super) struct Names<'a> {
    /// The path of each page.
    of_page: Vec<Path<'a>>,
    /// The pages with each last name that a wanted page has, ordered by their names.
    by_last: HashMap<&'a str, Vec<usize>>,
    wanted: &'a [bool],
}

/// The names in the path of a page.
#[derive(Default)]
struct Path<'a> {
    /// Those that links have: folders, and the file without its extension, unless it stands for its folder.
    names: Vec<&'a str>,
    /// The number of folders.
    folders: usize,
}

impl<'a> Names<'a> {
    pub fn new(pages: &'a [Arc<Page>], wanted: &'a [bool]) -> Self {
        let of_page: Vec<Path> = pages.iter().map(|page| Path::of(page).unwrap_or_default()).collect();
        let last = |page: usize| of_page[page].names.last().copied();
        let is_wanted: HashSet<&str> = (0..pages.len()).filter(|&page| wanted[page]).filter_map(last).collect();
        let mut by_last: HashMap<&str, Vec<usize>> = HashMap::new();
        for page in 0..pages.len() {
            if let Some(last) = last(page).filter(|last| is_wanted.contains(last)) {
                by_last.entry(last).or_default().push(page);
            }
        }
        by_last.values_mut().for_each(|pages| pages.sort_by_key(|&page| &of_page[page].names));
        Names { of_page, by_last, wanted }
    }

    /// The wanted page that a target in a page means. `None` if several are as likely.
    pub fn find(&self, from: usize, target: &str) -> Option<usize> {
        if !self.may_be_wanted(target) {
            return None;
        }
        let (path, is_url) = path_of(target)?;
        let names = names_in(path);
        let is_relative = !is_url && !path.starts_with('/');
        let exact = if is_relative { self.relative(from, &names) } else { None };
        let found = exact.or_else(|| self.longest(from, &names, is_url, is_relative))?;
        self.wanted[found].then_some(found)
    }

    /// The same for a target that has the extension of a page.
    pub fn find_file(&self, from: usize, target: &str) -> Option<usize> {
        if stem(target) == target { None } else { self.find(from, target) }
    }

    /// Whether a target may be one of the pages, by its last name. Most are not, so this comes first.
    fn may_be_wanted(&self, target: &str) -> bool {
        let bytes = target.as_bytes();
        let path = &target[..memchr2(b'#', b'?', bytes).unwrap_or(bytes.len())];
        let path = path.strip_suffix('/').unwrap_or(path);
        let last = memrchr(b'/', path.as_bytes()).map_or(path, |slash| &path[slash + 1..]);
        // An index stands for its folder, and marks around a name are removed later.
        let has_marks = || memchr3(b':', b'$', b'}', last.as_bytes()).is_some() || last.ends_with('-');
        let name = stem(last);
        self.by_last.contains_key(name) || matches!(name, "" | "." | "..") || is_index(name) || has_marks()
    }

    /// The page with that path from the folder of another one.
    fn relative(&self, from: usize, names: &[&str]) -> Option<usize> {
        let Path { names: own, folders } = &self.of_page[from];
        let mut path = own[..*folders].to_vec();
        for name in names {
            match *name {
                ".." => drop(path.pop()),
                name => path.push(name),
            }
        }
        let candidates = self.by_last.get(path.last()?)?;
        let first = candidates.partition_point(|&page| self.of_page[page].names < path);
        let is_it = |at: usize| candidates.get(at).is_some_and(|&page| self.of_page[page].names == path);
        (is_it(first) && !is_it(first + 1)).then(|| candidates[first])
    }

    /// The page that shares the most names at its end with a path; of several the one that shares the most folders with the page of the
    /// link.
    fn longest(&self, from: usize, names: &[&str], is_url: bool, is_relative: bool) -> Option<usize> {
        let start = names.iter().rposition(|name| *name == "..").map_or(0, |up| up + 1);
        let names = &names[start..];
        let candidates = self.by_last.get(names.last()?).filter(|pages| pages.len() <= MAX_CANDIDATES)?;
        let (all, least) = match (is_url, is_relative) {
            (true, _) => (names.len().max(3), 3),
            (_, true) => (names.len(), usize::MAX),
            (_, false) => (names.len(), 2),
        };
        let key = |&page: &usize| {
            let own = &self.of_page[page].names;
            let shared = own.iter().rev().zip(names.iter().rev()).take_while(|(own, name)| own == name).count();
            let near = || own.iter().zip(&self.of_page[from].names).take_while(|(own, from)| own == from).count();
            (shared >= all.min(least)).then(|| ((shared, near()), page))
        };
        let found: Vec<((usize, usize), usize)> = candidates.iter().filter_map(key).collect();
        let (best, page) = found.iter().max()?;
        let is_only = found.iter().filter(|(key, _)| key == best).count() == 1;
        is_only.then_some(*page)
    }
}

impl<'a> Path<'a> {
    /// The path of a page. `None` if it is not Unicode.
    fn of(page: &'a Page) -> Option<Self> {
        let mut names = Vec::new();
        for part in page.place.components() {
            if let Component::Normal(name) = part {
                names.push(name.to_str()?);
            }
        }
        let file = stem(names.pop()?);
        let folders = names.len();
        if !is_index(file) {
            names.push(file);
        }
        Some(Path { names, folders })
    }
}

/// The path that a target names, without its fragment; and whether it is the address of a site. `None` for other schemes.
fn path_of(target: &str) -> Option<(&str, bool)> {
    let path = target.split(['#', '?']).next().filter(|path| !path.is_empty())?;
    if let Some((scheme, rest)) = path.split_once("://") {
        let is_web = matches!(scheme, "http" | "https");
        return rest.split_once('/').filter(|_| is_web).map(|(_, path)| (path, true));
    }
    // The end of a comment or a tag.
    let path = path.trim_end_matches(['-', '}']);
    Some(match path.rsplit_once(['$', ':']) {
        // A page of another module of Antora.
        Some((_, page)) if stem(page) != page => (page, false),
        // A part of a page.
        Some((page, _)) if stem(page) != page => (page, false),
        Some(_) => return None,
        None => (path, false),
    })
}

/// The names in a path, as those of pages, without placeholders such as `<VERSION>`.
fn names_in(path: &str) -> Vec<&str> {
    let is_name = |name: &&str| !matches!(*name, "" | ".") && !name.starts_with(['<', '{', '$']);
    let mut names: Vec<&str> = path.split('/').filter(is_name).collect();
    if let Some(file) = names.pop() {
        let file = stem(file);
        names.extend(Some(file).filter(|file| !is_index(file)));
    }
    names
}

/// The name of a file without the extension of a page.
fn stem(file: &str) -> &str {
    let is_page = |ending: &str| EXTENSIONS.iter().any(|known| ending.eq_ignore_ascii_case(known));
    let dot = memrchr(b'.', file.as_bytes()).filter(|dot| is_page(&file[dot + 1..]));
    dot.map_or(file, |dot| &file[..dot])
}

fn is_index(file: &str) -> bool {
    INDEXES.iter().any(|index| file.eq_ignore_ascii_case(index))
}

/// The pages that define labels.
pub(super) struct Labels<'a> {
    /// `None` for a label of several pages.
    pages: HashMap<String, Option<usize>>,
    wanted: &'a [bool],
}

impl<'a> Labels<'a> {
    pub fn new(pages: &[Arc<Page>], wanted: &'a [bool]) -> Self {
        let of_page =
            |page: &Arc<Page>| -> Vec<String> { labels(page.markup, &page.source).into_iter().map(normal).collect() };
        let of_pages: Vec<Vec<String>> = pages.par_iter().map(of_page).collect();
        let mut pages: HashMap<String, Option<usize>> = HashMap::new();
        for (page, label) in of_pages
            .into_iter()
            .enumerate()
            .flat_map(|(page, labels)| labels.into_iter().map(move |label| (page, label)))
        {
            let known = pages.entry(label).or_insert(Some(page));
            *known = known.filter(|known| *known == page);
        }
        Labels { pages, wanted }
    }

    /// The wanted page that defines a label, if only one does. An id that ends with an attribute, such as `a-{context}`, is one that ends
    /// with any name: `a-b`.
    pub fn find(&self, target: &str) -> Option<usize> {
        if self.pages.is_empty() {
            return None;
        }
        let label = normal(target);
        let with_attribute = || label.rfind(['-', '_']).and_then(|end| self.pages.get(&label[..=end]));
        let page = self.pages.get(&label).or_else(with_attribute).copied().flatten()?;
        self.wanted[page].then_some(page)
    }
}

/// A label as labels are compared: without case, runs of white space and an attribute at its end.
fn normal(label: &str) -> String {
    let label = label.strip_suffix('}').and_then(|label| label.rsplit_once('{')).map_or(label, |(label, _)| label);
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
