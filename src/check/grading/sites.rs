//! Sites in versions: folders of numbered versions side by side, and folders beside them with the same pages, such as `docs` or `2-edge`;
//! and folders of one name with the numbers of versions and the same pages, such as `guide-1.2` and `guide-1.3`.

use super::versions::{InName, in_name, is_named, is_number, numbers};
use std::collections::{BTreeMap, BTreeSet};

/// The sites among some pages, by the folder that their versions are in.
#[derive(Debug, Default)]
pub(super) struct Sites<'a> {
    newest: BTreeMap<&'a str, Numbers>,
    /// Folders beside those of numbered versions, of which half of the pages are pages of a numbered version too, and two at least. Indices
    /// do not count.
    unnumbered: BTreeSet<[&'a str; 2]>,
    named: BTreeMap<Name<'a>, Named<'a>>,
    /// The folders that are named like those of versions, without one: where they are, and their names.
    plain: Plain<'a>,
}

type Plain<'a> = BTreeMap<(&'a str, String), Name<'a>>;

/// The name of folders of versions: where they are, and what precedes and follows the number.
type Name<'a> = [&'a str; 3];

/// The folders of one name that are versions.
#[derive(Debug, Default)]
struct Named<'a> {
    folders: BTreeSet<&'a str>,
    newest: Numbers,
}

/// A folder that may be a version by its name.
#[derive(Debug, Default)]
struct Candidate<'a> {
    /// Without any, it is newer than all numbers.
    numbers: Option<Numbers>,
    /// Whether the name shows that it is of a version.
    is_certain: bool,
    /// The paths of its pages within it, without indices.
    pages: BTreeSet<&'a str>,
}

/// A folder that is a version by its name, and others beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version<'p> {
    /// The path up to the folder.
    pub site: &'p str,
    pub folder: &'p str,
    /// The path within the folder.
    pub rest: &'p str,
    /// The name without a version.
    pub name: [&'p str; 2],
    /// `None` if the folder has the name without a version.
    pub version: Option<&'p str>,
}

impl Version<'_> {
    /// Whether the folder has the number of a version, not only a name such as `latest`.
    pub fn is_numbered(&self) -> bool {
        self.version.is_some_and(|version| !is_named(version))
    }
}

/// A folder that shares fewer pages with a version is not a version itself.
const MIN_SHARED: usize = 2;

/// Each folder of a name is compared with this many that follow it in the order of versions.
const MAX_COMPARED: usize = 16;

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
        let beside = paths.clone().filter_map(|path| beside(&sites, path));
        for ([site, folder], rest) in beside.filter(|(_, rest)| !is_index(rest)) {
            let [shared, all] = counts.entry([site, folder]).or_default();
            *shared += usize::from(numbered.contains(&[site, rest]));
            *all += 1;
        }
        let is_half = |(_, [shared, all]): &(_, [usize; 2])| *shared >= MIN_SHARED && 2 * shared >= *all;
        let unnumbered = counts.into_iter().filter(is_half).map(|(folder, _)| folder).collect();
        let (named, plain) = named(paths);
        Sites { newest, unnumbered, named, plain }
    }

    /// Whether a page is of a numbered version of which there is a newer one.
    pub fn has_newer(&self, path: &str) -> bool {
        let is_newer = |version: Version| {
            let [before, after] = version.name;
            let newest = self.named.get(&[version.site, before, after]).map(|named| &named.newest);
            version.is_numbered() && newest > version.version.map(numbers).as_ref()
        };
        numbered_version(path).is_some_and(|(site, version, _)| self.newest.get(site) > Some(&version))
            || self.named(path).any(is_newer)
    }

    /// The folders of a page that are versions by their names, the outermost first: others of the name beside them have the same pages. One
    /// of those at least has a number that is certainly that of a version.
    pub fn named<'p>(&self, path: &'p str) -> impl Iterator<Item = Version<'p>> {
        folders(path).filter_map(|(site, folder, rest)| {
            let is_known = |InName { before, after, .. }: &InName| {
                self.named.get(&[site, before, after]).is_some_and(|named| named.folders.contains(folder))
            };
            if let Some(InName { before, version, after, .. }) = in_folder(folder).filter(is_known) {
                return Some(Version { site, folder, rest, name: [before, after], version: Some(version) });
            }
            let [_, before, after] = *self.plain.get(&(site, folder.to_string()))?;
            let name = [&folder[..before.len()], &folder[folder.len() - after.len()..]];
            Some(Version { site, folder, rest, name, version: None })
        })
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

/// The folders of a path: what precedes each, its name, and the path within it.
fn folders(path: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    starts(path).filter_map(|start| path[start..].split_once('/').map(|(folder, rest)| (&path[..start], folder, rest)))
}

/// The version in the name of a folder that has other words too.
fn in_folder(folder: &str) -> Option<InName<'_>> {
    if is_number(folder.strip_prefix("version-").unwrap_or(folder)) { None } else { in_name(folder) }
}

/// The folders of versions by their names, and those of the same names without a version. A name has two folders at least.
fn named<'a>(paths: impl Iterator<Item = &'a str> + Clone) -> (BTreeMap<Name<'a>, Named<'a>>, Plain<'a>) {
    let mut all: BTreeMap<Name, BTreeMap<&str, Candidate>> = BTreeMap::new();
    for (site, folder, rest) in paths.clone().flat_map(folders) {
        let Some(InName { before, version, after, is_certain }) = in_folder(folder) else { continue };
        let candidate = all.entry([site, before, after]).or_default().entry(folder).or_default();
        candidate.numbers = (!is_named(version)).then(|| numbers(version));
        candidate.is_certain = is_certain;
        candidate.add(rest);
    }
    all.retain(|_, folders| folders.values().any(|candidate| candidate.is_certain));
    let mut plain = BTreeMap::new();
    for &[site, before, after] in all.keys() {
        let separators: &[&str] = if before.is_empty() || after.is_empty() { &[""] } else { &["-", "_", " ", ".", ""] };
        for separator in separators {
            plain.insert((site, format!("{before}{separator}{after}")), [site, before, after]);
        }
    }
    if !plain.is_empty() {
        for (site, folder, rest) in paths.flat_map(folders) {
            if let Some(name) = plain.get(&(site, folder.to_string())) {
                all.entry(*name).or_default().entry(folder).or_default().add(rest);
            }
        }
    }
    let all: BTreeMap<Name, Named> =
        all.into_iter().filter_map(|(name, folders)| Some((name, versions(folders)?))).collect();
    plain.retain(|(_, folder), name| all.get(name).is_some_and(|named| named.folders.contains(folder.as_str())));
    (all, plain)
}

/// Those of some folders of one name that are versions: they share pages with others. `None` if there are none, or none of their names shows
/// that it is of a version.
fn versions<'a>(folders: BTreeMap<&'a str, Candidate<'a>>) -> Option<Named<'a>> {
    let mut folders: Vec<(&str, Candidate)> = folders.into_iter().collect();
    // The pages of versions that follow each other are most alike.
    folders.sort_by_key(|(_, candidate)| candidate.numbers.clone().map_or((1, Vec::new()), |numbers| (0, numbers)));
    let mut are_alike = vec![false; folders.len()];
    for (at, (_, candidate)) in folders.iter().enumerate() {
        for (other, (_, next)) in folders.iter().enumerate().skip(at + 1).take(MAX_COMPARED) {
            if candidate.is_alike(next) {
                are_alike[at] = true;
                are_alike[other] = true;
            }
        }
    }
    let versions = || folders.iter().zip(&are_alike).filter(|(_, is_alike)| **is_alike).map(|(folder, _)| folder);
    let newest = versions().filter_map(|(_, candidate)| candidate.numbers.clone()).max().unwrap_or_default();
    let is_certain = versions().any(|(_, candidate)| candidate.is_certain);
    is_certain.then(|| Named { folders: versions().map(|(folder, _)| *folder).collect(), newest })
}

impl<'a> Candidate<'a> {
    fn add(&mut self, rest: &'a str) {
        if !is_index(rest) {
            self.pages.insert(rest);
        }
    }

    /// Whether half of the pages of the smaller folder, and at least [`MIN_SHARED`], are in the other one too.
    fn is_alike(&self, other: &Self) -> bool {
        let [small, large] = if self.pages.len() <= other.pages.len() { [self, other] } else { [other, self] };
        let shared = small.pages.intersection(&large.pages).count();
        shared >= MIN_SHARED && 2 * shared >= small.pages.len()
    }
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

    /// These pages, and in the folder of each two more of the same names.
    fn with_more(paths: &[&str]) -> Vec<String> {
        let more = |path: &&str| {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            [path.to_string(), format!("{folder}/x.md"), format!("{folder}/y.md")]
        };
        paths.iter().flat_map(more).collect()
    }

    #[test]
    fn folders_of_one_name_are_versions() {
        let of = |paths: &[&'static str]| {
            let all = with_more(paths);
            let sites = Sites::of(all.iter().map(String::as_str));
            let of =
                |path: &&'static str| sites.named(path).next().map(|named| (named.name, named.version, named.rest));
            paths.iter().map(of).collect::<Vec<_>>()
        };
        let guide = |version, rest| Some((["guide", ""], Some(version), rest));
        assert_eq!(
            of(&["x/guide-1.2/a.md", "x/guide_1.10/b.md", "x/guide-2/a.md", "x/guide-latest/a.md", "x/guide/a.md"]),
            [
                guide("1.2", "a.md"),
                guide("1.10", "b.md"),
                guide("2", "a.md"),
                guide("latest", "a.md"),
                Some((["guide", ""], None, "a.md"))
            ]
        );
        let lib = |version| Some((["lib", "docs"], version, "a.md"));
        assert_eq!(
            of(&["lib-v1-docs/a.md", "lib-docs/a.md", "lib-v1-api/a.md", "lib/a.md"]),
            [lib(Some("v1")), lib(None), None, None]
        );
        // One folder alone, in different folders, of different names, and with numbers that count parts.
        for paths in [
            ["x/guide-1.2/a.md", "x/guide-1.2/b.md"],
            ["x/guide-1.2/a.md", "y/guide-1.3/a.md"],
            ["x/guide-1.2/a.md", "x/manual-1.3/a.md"],
            ["chapter-1/a.md", "chapter-2/a.md"],
            ["section-1.1/a.md", "section-1.2/a.md"],
            ["guide-1/a.md", "guide-2/a.md"],
            ["guide-dev/a.md", "guide/a.md"],
            ["1.2/a.md", "1.3/a.md"],
            ["guide-1.2.md", "guide-1.3.md"],
        ] {
            assert_eq!(of(&paths), [None, None], "{paths:?}");
        }
        // One within another.
        let paths = ["x-1.9/y-2.0/a.md", "x-1.9/y-2.1/a.md", "x-1.9/z-1.0/a.md", "x-1.10/y-2.0/a.md"];
        let all = with_more(&paths);
        let sites = Sites::of(all.iter().map(String::as_str));
        let folders = paths.map(|path| sites.named(path).map(|named| named.folder).collect::<Vec<_>>());
        assert_eq!(folders, [vec!["x-1.9", "y-2.0"], vec!["x-1.9", "y-2.1"], vec!["x-1.9"], vec!["x-1.10"]]);
        let paths = ["x-1.9/a.md", "x-1.10/a.md", "x-latest/a.md", "x/a.md", "y-1.9/a.md", "z/x-1.9/a.md"];
        let all = with_more(&paths);
        let sites = Sites::of(all.iter().map(String::as_str));
        let old: Vec<&str> = paths.into_iter().filter(|path| sites.has_newer(path)).collect();
        assert_eq!(old, ["x-1.9/a.md"]);
    }

    /// Topics, protocols and editions can have numbers that look like those of versions.
    #[test]
    fn versions_have_the_same_pages() {
        let versions = |folders: &[(&str, &str)]| {
            let pages = |(folder, pages): &(&str, &str)| {
                pages.split(' ').map(|page| format!("{folder}/{page}.md")).collect::<Vec<_>>()
            };
            let paths: Vec<String> = folders.iter().flat_map(pages).collect();
            let sites = Sites::of(paths.iter().map(String::as_str));
            let found: BTreeSet<&str> =
                paths.iter().flat_map(|path| sites.named(path)).map(|named| named.folder).collect();
            found.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(versions(&[("tls-1.2", "ciphers renegotiation"), ("tls-1.3", "early-data keys")]), "");
        assert_eq!(versions(&[("chapter-v1", "one two"), ("chapter-v2", "three four")]), "");
        assert_eq!(versions(&[("http-1.1", "chunks pipelining"), ("http-2", "frames push")]), "");
        assert_eq!(versions(&[("ip-v4", "arp a b"), ("ip-v6", "ndp c d")]), "");
        // An index, and one page, may be the same by chance.
        assert_eq!(versions(&[("tls-1.2", "index README overview a"), ("tls-1.3", "index README overview b")]), "");
        // Half of the smaller one at least.
        assert_eq!(versions(&[("lib-1.2", "a b c d"), ("lib-1.3", "a b x y z u v w")]), "lib-1.2 lib-1.3");
        assert_eq!(versions(&[("lib-1.2", "a b c d e"), ("lib-1.3", "a b x y z u v w")]), "");
        // Beside versions, one that is none; and names that show it only together with others.
        assert_eq!(
            versions(&[("lib-1.2", "a b"), ("lib-1.3", "a b"), ("lib-2", "c d"), ("lib", "e")]),
            "lib-1.2 lib-1.3"
        );
        assert_eq!(versions(&[("lib-1.2", "a b"), ("lib-2", "c d"), ("lib-3", "c d")]), "");
        // An old one that shares pages with the next only.
        let chain = [("lib-1.1", "a b"), ("lib-1.2", "a b c d"), ("lib-1.3", "c d e f"), ("lib", "e f")];
        assert_eq!(versions(&chain), "lib lib-1.1 lib-1.2 lib-1.3");
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
