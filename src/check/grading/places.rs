//! Limits by where the places are: release notes, an API reference, translations and versions of one page, and files with a rule.

use super::super::finding::{Finding, Place};
use super::super::grade::{Grade, Limit, Reason};
use super::super::sources::bytes_of;
use super::files::{About, Files, Named, is_version_heading};
use super::sites::is_index;
use crate::prose::Markup;
use std::collections::BTreeSet;

/// Copies in an API reference with fewer words are short.
const REFERENCE_WORDS: usize = 150;

/// What licences state, and texts about them do not.
const LICENCE_PHRASES: [&str; 6] = [
    "you may not use this file except in compliance with the license",
    "redistribution and use in source and binary forms",
    "permission is hereby granted, free of charge",
    "free software: you can redistribute it and/or modify",
    "the software is provided \"as is\"",
    "distributed on an \"as is\" basis",
];

/// A text with more words is more than a notice of a licence.
const NOTICE_WORDS: usize = 300;

/// The limits of a finding.
pub(super) fn limits(finding: &Finding, files: &Files) -> Vec<Limit> {
    let about = files.about(finding);
    let rule = about.iter().filter_map(|about| about.rules.grade).min();
    let are_catalogues = finding.places.iter().all(|place| place.page.markup == Markup::Gettext);
    let limits = [
        are_catalogues.then_some((Grade::Note, Reason::Translation)),
        release_notes(finding, &about),
        reference(finding, &about),
        of_one_page(&about),
        of_one_folder(&about),
        about.iter().all(|about| about.is_of_old_version).then_some((Grade::Warning, Reason::OldVersion)),
        licence(finding, &about),
        generated(finding, &about),
        rule.map(|grade| (grade, Reason::Rule)),
    ];
    limits.into_iter().flatten().collect()
}

/// All places in different pages, which are translations or versions of one, or of sites of different versions: a note. Only one of the
/// sites has no version, and the names of the pages differ: a warning.
fn of_one_page(about: &[&About]) -> Option<Limit> {
    fn number_of<'a, T: Ord>(about: &[&'a About], part: impl Fn(&'a About) -> T) -> usize {
        about.iter().map(|about| part(about)).collect::<BTreeSet<T>>().len()
    }
    if number_of(about, |about| &about.path) < about.len() {
        return None;
    }
    let has_one_file = number_of(about, About::file) == 1;
    // Each folder may have an index.
    let has_one_name = has_one_file && !is_index(about[0].file());
    let are_translations = about.iter().all(|about| about.is_translation) && has_one_file;
    let is_one = number_of(about, |about| &about.rest) == 1;
    let has_number = |version: &str| version.contains(|c: char| c.is_ascii_digit());
    let have_versions = number_of(about, |about| &about.version) > 1
        && (about.iter().all(|about| !about.version.is_empty())
            || about.iter().any(|about| has_number(&about.version)));
    if is_one && number_of(about, |about| &about.language) > 1 || are_translations {
        return Some((Grade::Note, Reason::Translation));
    }
    // A page may have moved between two versions.
    let have_folders = number_of(about, |about| &about.folder_version) == about.len();
    let are_all = about.iter().all(|about| !about.folder_version.is_empty());
    let is_any = about.iter().any(|about| has_number(&about.folder_version));
    let is_version = is_one && have_versions || have_folders && (are_all || is_any);
    let is_note = is_one || are_all || has_one_name;
    is_version.then_some((if is_note { Grade::Note } else { Grade::Warning }, Reason::Version))
}

/// All places in versions of one folder, such as `guide-1.2` and `guide-1.3`, each in another one or in another language of one page: a
/// note. One of the folders has no version, and the names of the pages differ: a warning.
fn of_one_folder(about: &[&About]) -> Option<Limit> {
    about[0].named.iter().filter_map(|first| of_one_name(about, &first.name)).min()
}

/// The same of folders of this name: one page can be in versions within others.
fn of_one_name<'a>(about: &[&'a About], name: &[String; 3]) -> Option<Limit> {
    let of_name = |about: &&'a About| about.named.iter().find(|named| named.name == *name);
    let named: Vec<&Named> = about.iter().map(of_name).collect::<Option<_>>()?;
    let number_of = |part: fn(&Named) -> &str| named.iter().map(|named| part(named)).collect::<BTreeSet<&str>>().len();
    let number_of_folders = number_of(|named| &named.folder);
    let is_one_page = number_of(|named| &named.rest) == 1;
    if number_of_folders < 2 || !is_one_page && number_of_folders < named.len() {
        return None;
    }
    let file = about[0].file();
    let has_one_file = about.iter().all(|about| about.file() == file) && !is_index(file);
    let is_note = is_one_page || has_one_file || named.iter().all(|named| named.has_version);
    Some((if is_note { Grade::Note } else { Grade::Warning }, Reason::Version))
}

/// All places in release notes: a note. Some of them: a warning.
fn release_notes(finding: &Finding, about: &[&About]) -> Option<Limit> {
    let places = finding.places.iter().zip(about);
    let mut are =
        places.map(|(place, about)| about.is_release_notes || place.heading.as_deref().is_some_and(is_version_heading));
    let first = are.next()?;
    match (first, are.all(|is| is == first)) {
        (true, true) => Some((Grade::Note, Reason::ReleaseNotes)),
        (false, true) => None,
        (_, false) => Some((Grade::Warning, Reason::ReleaseNotes)),
    }
}

/// All places in files of licences, or notices of one: a note.
fn licence(finding: &Finding, about: &[&About]) -> Option<Limit> {
    let is_notice = |place: &Place| {
        place.words.len() <= NOTICE_WORDS && {
            let text = place.text().to_ascii_lowercase();
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            LICENCE_PHRASES.iter().any(|phrase| text.contains(phrase))
        }
    };
    let is_licence = |(place, about): (&Place, &&About)| about.is_licence || is_notice(place);
    finding.places.iter().zip(about).all(is_licence).then_some((Grade::Note, Reason::Licence))
}

/// All places in text that a program wrote: a note. Some of them: a warning.
fn generated(finding: &Finding, about: &[&About]) -> Option<Limit> {
    let places = || finding.places.iter().zip(about);
    let is_generated = |(place, about): (&Place, &&About)| about.generated.has(&bytes_of(place));
    let grade = if places().all(is_generated) { Grade::Note } else { Grade::Warning };
    places().any(is_generated).then_some((grade, Reason::Generated))
}

/// Short copies within an API reference: a warning in two places, a note in more.
fn reference(finding: &Finding, about: &[&About]) -> Option<Limit> {
    let grade = if finding.places.len() > 2 { Grade::Note } else { Grade::Warning };
    let are_all = about.iter().all(|about| about.is_reference);
    (are_all && finding.words() < REFERENCE_WORDS).then_some((grade, Reason::Reference))
}
