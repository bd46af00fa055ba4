//! Sites in versions: folders of numbered versions side by side, and folders beside them with the same pages, such as `docs` or `2-edge`.

use super::versions::is_number;
use std::collections::{BTreeMap, BTreeSet};

/// The sites among some pages, by the folder that their versions are in.
#[derive(Debug, Default)]
pub(super) struct Sites<'a> {
    newest: BTreeMap<&'a str, Numbers>,
    /// Folders beside those of numbered versions, of which half of the pages are pages of a numbered version too.
    unnumbered: BTreeSet<[&'a str; 2]>,
}

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
            numbered.insert([site, rest]);
        }
        let mut counts: BTreeMap<[&str; 2], [usize; 2]> = BTreeMap::new();
        let sites = newest.keys().copied().collect();
        for ([site, folder], rest) in paths.filter_map(|path| beside(&sites, path)) {
            let [shared, all] = counts.entry([site, folder]).or_default();
            *shared += usize::from(numbered.contains(&[site, rest]));
            *all += 1;
        }
        let is_half = |(_, [shared, all]): &(_, [usize; 2])| 2 * shared >= *all;
        Sites { newest, unnumbered: counts.into_iter().filter(is_half).map(|(folder, _)| folder).collect() }
    }

    /// Whether a page is of a numbered version of which there is a newer one.
    pub fn has_newer(&self, path: &str) -> bool {
        numbered_version(path).is_some_and(|(site, version, _)| self.newest.get(site) > Some(&version))
    }

    /// The folder of a page that is a version without a number.
    pub fn unnumbered<'b>(&self, path: &'b str) -> Option<&'b str> {
        let folders = self.unnumbered.iter().filter(|[site, _]| path.starts_with(site));
        folders
            .filter_map(|[site, folder]| {
                let (name, _) = path[site.len()..].split_once('/')?;
                (name == *folder).then_some(name)
            })
            .next()
    }
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
    let starts = [0].into_iter().chain(path.match_indices('/').map(|(at, _)| at + 1));
    let start = starts.filter(|&start| sites.contains(&path[..start])).last()?;
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
            "content/blog/a.md",
            "content/blog/b.md",
            "content/blog/c.md",
            "other/docs/a.md",
            "content/README.md",
        ];
        let sites = Sites::of(paths.into_iter());
        let unnumbered: Vec<Option<&str>> = paths.iter().map(|path| sites.unnumbered(path)).collect();
        let [edge, docs] = [Some("2-edge"), Some("docs")];
        assert_eq!(unnumbered, [None, None, None, edge, edge, edge, docs, None, None, None, None, None]);
        assert_eq!(
            paths.map(|path| sites.has_newer(path)),
            [2].map(|old| [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(|at| at == old))[0]
        );
    }
}
