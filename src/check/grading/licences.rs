//! Texts of licences: by the names of their files, by their headings, and by what notices state.

use super::super::finding::Place;

/// Names of files of licences may begin with these.
const BEGINNINGS: [&str; 3] = ["license", "licence", "copying"];

/// The name of a file that consists of a licence has only these words and versions, and at least one of the first list.
const NAMES: [&[&str]; 2] = [
    &["license", "licence", "copying", "gpl", "lgpl", "agpl", "fdl", "gfdl"],
    &["gnu", "lesser", "mit", "apache", "bsd", "mpl", "cc", "by", "sa", "text"],
];

/// What licences are called. Such a file has one of these or of [`PHRASES`], and a heading of a licence has one.
const TITLES: [&str; 8] = [
    "gnu free documentation license",
    "gnu general public license",
    "gnu lesser general public license",
    "gnu library general public license",
    "gnu affero general public license",
    "apache license",
    "mozilla public license",
    "creative commons",
];

/// Words that the heading of a licence may have beside the title, numbers and single letters.
const BESIDE_TITLE: &str = "appendix the version public license licence attribution sharealike noncommercial noderivatives international \
    unported generic";

/// Of the words of the text of a licence, at least so many in a thousand are of the kind of "license".
const LICENCE_PER_MILLE: usize = 10;

/// What licences state, and texts about them do not.
const PHRASES: [&str; 8] = [
    "you may not use this file except in compliance with the license",
    "redistribution and use in source and binary forms",
    "permission is hereby granted, free of charge",
    "permission is granted to copy, distribute and/or modify this document",
    "free software: you can redistribute it and/or modify",
    "you can redistribute it and/or modify it under the terms of",
    "the software is provided \"as is\"",
    "distributed on an \"as is\" basis",
];

/// Or one of so many lines at its beginning is the name of a licence.
const FIRST_LINES: usize = 5;

/// A text with more words is more than a notice of a licence, or a short licence.
const NOTICE_WORDS: usize = 300;

/// Whether a file of this name is about a licence.
pub(super) fn is_named(file: &str) -> bool {
    BEGINNINGS.iter().any(|name| file.to_ascii_lowercase().starts_with(name))
}

/// Whether a file consists of the text of a licence, by its name and its source.
pub(super) fn is_text(file: &str, source: &str) -> bool {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_ascii_lowercase();
    let words = || stem.split(|c: char| !c.is_ascii_alphanumeric()).map(unnumbered);
    words().any(|word| NAMES[0].contains(&word))
        && words().all(|word| word.is_empty() || NAMES.iter().any(|names| names.contains(&word)))
        && {
            let text = in_one_line(source);
            let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
            let (words, of_licences) = (text.split(' ').count(), text.matches("licen").count());
            let first = || source.lines().filter(|line| !line.trim().is_empty()).take(FIRST_LINES);
            has(&PHRASES) && words <= NOTICE_WORDS
                || (has(&TITLES) || has(&PHRASES)) && 1000 * of_licences >= LICENCE_PER_MILLE * words
                || first().any(is_title)
        }
}

/// A word without the version at its end, such as that of `gplv2`.
fn unnumbered(word: &str) -> &str {
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if name.len() < word.len() { name.strip_suffix('v').unwrap_or(name) } else { word }
}

/// Whether a place is a notice of a licence, or below a heading that is the name of one.
pub(super) fn is_licence(place: &Place) -> bool {
    let is_notice = || {
        let text = in_one_line(place.text());
        PHRASES.iter().any(|phrase| text.contains(phrase))
    };
    place.words.len() <= NOTICE_WORDS && is_notice() || place.page.headings(place.words.start).any(is_title)
}

/// Whether a heading is the name of a licence, perhaps with numbers and [words](BESIDE_TITLE) such as "Appendix".
fn is_title(heading: &str) -> bool {
    let heading = in_one_line(heading);
    let is_beside = |word: &str| {
        word.len() <= 1
            || word.bytes().all(|byte| byte.is_ascii_digit())
            || BESIDE_TITLE.split(' ').any(|one| one == word)
    };
    let rest = TITLES.iter().find_map(|title| heading.split_once(title));
    rest.is_some_and(|(before, after)| {
        [before, after].iter().all(|part| part.split(|c: char| !c.is_alphanumeric()).all(is_beside))
    })
}

/// A text in lower case with a blank between its words.
fn in_one_line(text: &str) -> String {
    text.to_ascii_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_licences_have_names_and_texts_of_licences() {
        let text = "<h1>GNU General\n  Public License</h1>";
        for name in
            ["license.gfdl.html", "COPYING", "gplv2.html", "gpl-3.0.md", "license-MIT.md", "lgpl.rst", "LICENSE.md"]
        {
            assert!(is_text(name, text), "{name}");
            assert!(!is_text(name, "The key of the license is in the settings."), "{name}");
            let about =
                format!("The program is under the Apache License. {}", "It reads what it is given. ".repeat(50));
            assert!(!is_text(name, &about), "{name}");
        }
        for name in ["license-keys.md", "licensing.md", "get-license.md", "mit.md", "v2.md", "gplot.md"] {
            assert!(!is_text(name, text), "{name}");
        }
    }

    #[test]
    fn headings_that_are_names_of_licences() {
        for heading in [
            "B. GNU Free Documentation License",
            "Appendix A The GNU General  Public License",
            "Apache License 2.0",
            "Creative Commons Attribution-ShareAlike 4.0 International",
        ] {
            assert!(is_title(heading), "{heading}");
        }
        for heading in ["License", "How we chose the Apache License", "Using Creative Commons images", "Licence keys"] {
            assert!(!is_title(heading), "{heading}");
        }
    }
}
