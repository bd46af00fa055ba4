//! Release notes, news and posts: by the names of files and folders and, where such a name is an ordinary word, by headings.

use super::super::pages::Page;
use super::versions::{counts_parts, is_number};
use crate::prose::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// Names of folders and files of release notes. Others have one of [`RELEASE_PARTS`].
const RELEASE_NOTES: &str = "releasenotes relnotes";
const RELEASE_PARTS: [&str; 7] =
    ["changelog", "change-log", "release-note", "whatsnew", "whats-new", "porting-guide", "breaking-change"];
/// Or end with one of these.
const RELEASE_ENDS: [&str; 3] = ["legacy-releases", "old-releases", "previous-releases"];

/// Ordinary words: names of folders of release notes, and of files in capitals or with headings of versions.
const ORDINARY: &str = "changes history news release releases roadmap roadmaps upgrade upgrading migrate migrating \
    migration deprecations";

/// What names of folders of upgrade notes begin with, and those of files that are as of [`ORDINARY`] or have the number of a version.
const UPGRADE_PREFIXES: [&str; 3] = ["upgrade-", "upgrading-", "migrating-"];

/// Names of folders of posts.
const POSTS: &str = "blog blogs -posts news";

/// Names of folders that are of posts if they have folders of years; or without, if the text is elsewhere too.
const PERHAPS_POSTS: &str = "post posts articles announcements";

/// What headings of versions begin with, in lower case.
const PHRASES: [&[&str]; 12] = [
    &["what's", "new", "in"],
    &["whats", "new", "in"],
    &["what", "is", "new", "in"],
    &["new", "in"],
    &["new", "features", "in"],
    &["changes", "in"],
    &["changes", "since"],
    &["changed", "in"],
    &["fixed", "in"],
    &["release", "notes", "for"],
    &["release", "notes"],
    &["changelog", "for"],
];

/// Words that may stand before the number in such a heading, besides a name of at most [`NAME_WORDS`] words with capitals.
const BEFORE_NUMBER: &str = "version release the v";
const NAME_WORDS: usize = 2;

/// A heading with more words before a number is no name of a version.
const MAX_BEFORE: usize = 4;

/// A paragraph or an item with more words is no heading, whatever its text.
const TITLE_WORDS: usize = 8;

/// The level of such a heading: below those of all others.
const LOWEST: u8 = 7;

/// The months, in English, and their abbreviations.
const MONTHS: &str = "jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov november dec december";

/// Whether a folder or the file is named like release notes, or like a dated post, or is in a folder of posts; of some names, only if a
/// folder of a year is below it. A file whose name is an ordinary word, or begins with `upgrade-` or the like, counts if the name is in capitals, or if `has_versions`.
pub(super) fn is_release_notes(path: &str, has_versions: impl FnOnce() -> bool) -> bool {
    let is_one = |name: String| {
        is_in(RELEASE_NOTES, &name)
            || is_dated(&name)
            || RELEASE_PARTS.iter().any(|part| name.contains(part))
            || RELEASE_ENDS.iter().any(|end| name.ends_with(end))
    };
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let mut below_posts = names(folder).skip_while(|name| !is_in(PERHAPS_POSTS, name));
    let is_upgrade = |name: &str| UPGRADE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let is_ordinary = |name: String| is_in(ORDINARY, &name) || is_upgrade(&name);
    names(folder).any(|name| is_in(POSTS, &name) || is_ordinary(name))
        || names(file).any(|name| is_upgrade(&name) && has_number(&name))
        || below_posts.any(|name| is_year(&name))
        || names(path).any(is_one)
        || names(file).any(is_ordinary) && (is_in_capitals(file) || has_versions())
}

/// Whether a part of a name is the number of a version, or any number: `upgrade-to-2.1`, `upgrading-from-2-to-3`.
fn has_number(name: &str) -> bool {
    name.split('-').any(|part| is_number(part) || !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a page is in a folder that may be one of posts.
pub fn is_in_posts(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    names(folder).any(|name| is_in(POSTS, &name) || is_in(PERHAPS_POSTS, &name))
}

/// Whether the name of a file, without its ending, is in capitals.
fn is_in_capitals(file: &str) -> bool {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    !stem.contains(char::is_lowercase)
}

/// Whether most words of a page are below headings of versions or dates. So are those of further headings below these.
pub(super) fn has_versions(page: &Page) -> bool {
    let parts = || page.parts(0..page.words().len());
    let text = |block: usize| &page.prose.text()[page.prose.blocks()[block].text.clone()];
    let headings = parts().filter(|part| matches!(part.kind, Kind::Heading(_))).map(|part| text(part.block));
    let series = Series::of(headings);
    let is_release = |text: &str| is_version_heading(text) || is_date(text);
    // The level of the heading of a version that is open.
    let mut open: Option<u8> = None;
    let (mut all, mut below) = (0, 0);
    for part in parts() {
        let level = match part.kind {
            Kind::Heading(level) => level,
            _ if part.size <= TITLE_WORDS && is_release(text(part.block)) => LOWEST,
            _ => {
                all += part.size;
                below += if open.is_some() { part.size } else { 0 };
                continue;
            }
        };
        open = open.filter(|&open| open < level);
        let is_one = || is_release(text(part.block)) || series.has(text(part.block));
        if open.is_none() && is_one() {
            open = Some(level);
        }
    }
    below > 0 && 2 * below >= all
}

/// The words before a number that several headings have, each with another number: `Product 1.2` and `Product 1.3`.
struct Series(BTreeMap<String, BTreeSet<String>>);

impl Series {
    fn of<'a>(headings: impl Iterator<Item = &'a str>) -> Self {
        let mut series = Series(BTreeMap::new());
        for (before, number) in headings.filter_map(number_after) {
            series.0.entry(before).or_default().insert(number);
        }
        series
    }

    fn has(&self, heading: &str) -> bool {
        let before = number_after(heading).map(|(before, _)| before);
        before.and_then(|before| self.0.get(&before)).is_some_and(|numbers| numbers.len() > 1)
    }
}

/// The words before the first number of a version in a heading, in lower case, and the number. `None` if they count parts of a text.
fn number_after(heading: &str) -> Option<(String, String)> {
    let words: Vec<&str> = heading.split_whitespace().map(trimmed).collect();
    let at = words.iter().take(MAX_BEFORE + 1).position(|word| is_number(word)).filter(|at| *at > 0)?;
    let before = words[..at].join(" ").to_lowercase();
    (!counts_parts(&before)).then(|| (before, words[at].to_lowercase()))
}

/// A word without punctuation around it.
fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| "[](),:?!*\"“”".contains(c))
}

/// Whether a heading is that of a version: `1.2.3`, `v2.0 (2024-01-02)`, `Version 3.1`, `[1.2.3]`, `What's new in 8.0`.
pub(super) fn is_version_heading(heading: &str) -> bool {
    let words: Vec<&str> = heading.split_whitespace().map(trimmed).collect();
    let is_name = |word: &str| is_in("version release changes", &word.to_ascii_lowercase());
    match &words[..] {
        [name, number, ..] if is_name(name) && is_number(number) => true,
        [number, rest @ ..] if is_number(number) => {
            rest.first().is_none_or(|next| !next.starts_with(char::is_alphabetic))
        }
        words => PHRASES.iter().any(|phrase| follows(words, phrase)),
    }
}

/// Whether the number of a version follows a phrase that a heading begins with, perhaps after a name.
fn follows(words: &[&str], phrase: &[&str]) -> bool {
    let lower = |word: &&str| word.to_lowercase().replace('’', "'");
    let Some((start, rest)) = words.split_at_checked(phrase.len()) else { return false };
    let is_before = |word: &&&str| is_in(BEFORE_NUMBER, &lower(word));
    let rest = &rest[rest.iter().take_while(is_before).count()..];
    let is_of_name = |word: &&&str| word.starts_with(char::is_uppercase) && !is_number(word);
    let name = rest.iter().take(NAME_WORDS).take_while(is_of_name).count();
    start.iter().map(lower).eq(phrase.iter().map(|word| word.to_string()))
        && rest.get(name).is_some_and(|word| is_number(word))
}

/// Whether a heading is a date: `2024-01-02`, `January 2024`, `2 Jan 2024`, `Q3 2024`, `2024`.
fn is_date(heading: &str) -> bool {
    let words: Vec<String> = heading.split_whitespace().map(|word| trimmed(word).to_ascii_lowercase()).collect();
    if let [date] = &words[..] {
        return is_year(date) || date.len() == 10 && is_dated(date);
    }
    let is_month = |word: &String| is_in(MONTHS, word.trim_end_matches('.'));
    let is_quarter = |word: &String| matches!(word.as_str(), "q1" | "q2" | "q3" | "q4");
    let is_day = |word: &String| {
        let day = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        day.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day))
    };
    let number = |is: &dyn Fn(&String) -> bool| words.iter().filter(|word| is(word)).count();
    let years = number(&|word| is_year(word));
    let parts = [number(&is_month), number(&is_quarter), number(&is_day)];
    years == 1 && matches!(parts, [1, 0, 0 | 1] | [0, 1, 0]) && words.len() == years + parts.iter().sum::<usize>()
}

/// Whether a name begins with a date, as those of posts do.
fn is_dated(name: &str) -> bool {
    let is_of_date = |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    name.len() >= 10 && name.bytes().take(10).enumerate().all(is_of_date)
}

/// Whether it is a year, as folders of posts are named.
fn is_year(name: &str) -> bool {
    name.len() == 4
        && (name.starts_with("19") || name.starts_with("20"))
        && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// The names in a path without their endings, in lower case, with `-` between words.
pub(super) fn names(path: &str) -> impl Iterator<Item = String> + '_ {
    path.split('/').map(|name| {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        stem.to_lowercase().replace(['_', ' '], "-").replace('\'', "")
    })
}

pub(super) fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_versions() {
        let versions = [
            "1.2.3",
            "v2.0 (2024-01-02)",
            "Version 3.1",
            "[1.2.3] - 2020-01-01",
            "Release v4",
            "0.9.0b3",
            "2.0rc1 (2024-01-02)",
            "What's new in 8.0",
            "What’s New In Python 3.12?",
            "Changes in 2.4",
            "Changes in version 2.4 (stable)",
            "Release 3.1",
            "New in version 1.2",
            "Release notes for Some Server 2.1",
        ];
        versions.iter().for_each(|heading| assert!(is_version_heading(heading), "{heading}"));
        let others = [
            "",
            "2 ways",
            "1. Install",
            "3.1 Install the server",
            "Version numbers",
            "4",
            "1.2b",
            "3.1abc",
            "What's new in this guide",
            "Changes in the settings of 2.4",
            "New in",
            "Release notes",
        ];
        others.iter().for_each(|heading| assert!(!is_version_heading(heading), "{heading}"));
    }

    #[test]
    fn headings_that_are_dates() {
        for date in
            ["2024-01-02", "January 2024", "Sept. 2024", "2 Jan 2024", "March 3rd, 2024", "Q3 2024", "2024 Q3", "1998"]
        {
            assert!(is_date(date), "{date}");
        }
        for other in [
            "",
            "12",
            "May",
            "3 2024",
            "2024-01-02 and later",
            "Plans for 2024",
            "January",
            "2024 2025",
            "Marketing 2024",
            "Decisions 2024",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn numbers_after_the_same_words() {
        let series =
            Series::of(["Server 1.2", "server 1.3 (old)", "Step 1.1", "Step 1.2", "Proxy 2.0", "3.1"].into_iter());
        assert!(series.has("Server 1.2") && series.has("SERVER 2.0"));
        assert!(["Step 1.1", "Proxy 2.0", "3.1", "Server"].iter().all(|heading| !series.has(heading)));
    }
}
