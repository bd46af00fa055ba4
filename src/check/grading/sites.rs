//! Sites in versions: folders of numbered versions side by side, and folders beside them with the same pages, such as `docs` or `2-edge`.

use super::versions::is_number;
use std::collections::{BTreeMap, BTreeSet};

/// The sites among some pages, by the folder that their versions are in.
#[derive(Debug, Default)]
pub(super) struct Sites<'a> {
    newest: BTreeMap<&'a str, Numbers>,
    /// Folders beside those of numbered versions, of which half of the pages are pages of a numbered version too, and two at least. Indices
    /// do not count.
    unnumbered: BTreeSet<[&'a str; 2]>,
}

/// A folder with fewer pages of a numbered version is not a version itself.
const MIN_SHARED: usize = 2;

/// The numbers of a version.
type Numbers = Vec<u64>;

impl<'a> Sites<'a> {
    /// Cost: a lookup for each page.
    pub fn of(paths: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut newest: BTreeMap<&str, Numbers> = BTreeMap::new();
        let mut numbered: BTreeSet<[&str; 2]> = BTreeSet::new();
        for (site, version, rest) in paths.clone().filter_map(numbered_version) {
            let known = newest.entry(site).or_default();
            *known = version.max(std::mem::take(known));
            if !is_index(rest) {
                numbered.insert([site, rest]);
            }
        }
        let mut counts: BTreeMap<[&str; 2], [usize; 2]> = BTreeMap::new();
        let sites = newest.keys().copied().collect();
        let beside = paths.filter_map(|path| beside(&sites, path));
        for ([site, folder], rest) in beside.filter(|(_, rest)| !is_index(rest)) {
            let [shared, all] = counts.entry([site, folder]).or_default();
            *shared += usize::from(numbered.contains(&[site, rest]));
            *all += 1;
        }
        let is_half = |(_, [shared, all]): &(_, [usize; 2])| *shared >= MIN_SHARED && 2 * shared >= *all;
        Sites { newest, unnumbered: counts.into_iter().filter(is_half).map(|(folder, _)| folder).collect() }
    }

    /// Whether a page is of a numbered version of which there is a newer one.
    pub fn has_newer(&self, path: &str) -> bool {
        numbered_version(path).is_some_and(|(site, version, _)| self.newest.get(site) > Some(&version))
    }

    /// The folder of a page that is a version without a number.
    pub fn unnumbered<'b>(&self, path: &'b str) -> Option<&'b str> {
        let folder_at = |start: usize| path[start..].split_once('/').map(|(folder, _)| folder);
        let is_version = |(start, folder): &(usize, &str)| self.unnumbered.contains(&[&path[..*start], *folder]);
        let folders = starts(path).filter_map(|start| Some((start, folder_at(start)?)));
        folders.filter(is_version).last().map(|(_, folder)| folder)
    }
}

/// Where the folders of a path start, and its file.
fn starts(path: &str) -> impl Iterator<Item = usize> + '_ {
    [0].into_iter().chain(path.match_indices('/').map(|(at, _)| at + 1))
}

/// Whether a file is the index of its folder: most folders have one.
pub(super) fn is_index(path: &str) -> bool {
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    ["index", "_index", "readme"].iter().any(|name| stem.eq_ignore_ascii_case(name))
}

/// The folder that the first numbered version in a path is in, the numbers of that version, and the path within it.
fn numbered_version(path: &str) -> Option<(&str, Numbers, &str)> {
    let mut start = 0;
    loop {
        let (name, rest) = path[start..].split_once('/')?;
        let number = name.strip_prefix("version-").unwrap_or(name);
        if is_number(number) {
            let number = number.trim_start_matches(['v', 'V']);
            let end = number.find(|c: char| !c.is_ascii_digit() && !".x".contains(c)).unwrap_or(number.len());
            // `2.x` is newer than each `2.1`.
            let numbers = number[..end].split('.').map(|part| part.parse().unwrap_or(u64::MAX));
            return Some((&path[..start], numbers.collect(), rest));
        }
        start += name.len() + 1;
    }
}

/// The site whose folder of versions holds a page that is in none of a numbered version, the folder below it, and the path within that.
fn beside<'a>(sites: &BTreeSet<&str>, path: &'a str) -> Option<([&'a str; 2], &'a str)> {
    if numbered_version(path).is_some() {
        return None;
    }
    let start = starts(path).filter(|&start| sites.contains(&path[..start])).last()?;
    let (folder, rest) = path[start..].split_once('/')?;
    Some(([&path[..start], folder], rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbered() {
        for (path, site, version, rest) in [
            ("docs/v1.10/a/v2.md", "docs/", &[1, 10][..], "a/v2.md"),
            ("versioned_docs/version-2.x/a.md", "versioned_docs/", &[2, u64::MAX], "a.md"),
            ("v3/1.2/a.md", "", &[3], "1.2/a.md"),
            ("content/v1.0-docs/a.md", "content/", &[1, 0], "a.md"),
        ] {
            assert_eq!(numbered_version(path), Some((site, version.to_vec(), rest)), "{path}");
        }
        assert_eq!(["docs/latest/a.md", "v1.2.md", "docs/2020/a.md"].map(numbered_version), [None, None, None]);
    }

    #[test]
    fn folders_beside_versions_with_the_same_pages_are_versions() {
        let paths = [
            "content/2.1/a.md",
            "content/2.1/tasks/b.md",
            "content/2.0/a.md",
            "content/2-edge/a.md",
            "content/2-edge/tasks/b.md",
            "content/2-edge/new.md",
            "content/docs/a.md",
            "content/docs/tasks/b.md",
            "content/cmd/a.md",
            "content/blog/a.md",
            "content/blog/b.md",
            "content/blog/c.md",
            "other/docs/a.md",
            "content/README.md",
        ];
        let sites = Sites::of(paths.into_iter());
        let unnumbered: Vec<&str> = paths.iter().copied().filter(|path| sites.unnumbered(path).is_some()).collect();
        assert_eq!(unnumbered, &paths[3..8]);
        assert_eq!([3, 6].map(|at: usize| sites.unnumbered(paths[at])), [Some("2-edge"), Some("docs")]);
        let old: Vec<&str> = paths.into_iter().filter(|path| sites.has_newer(path)).collect();
        assert_eq!(old, ["content/2.0/a.md"]);
        // An index is no page of a version.
        let indices = ["v2/README.md", "v2/index.md", "cmd/README.md", "cmd/index.md"];
        assert_eq!(Sites::of(indices.into_iter()).unnumbered("cmd/README.md"), None);
    }
}
