//! What to do about a finding: which page should keep the text, and how the others include it.

mod generator;

use super::find::Kind;
use super::finding::{Finding, Place, Proposal};
use super::grade::Grade;
use super::grading::is_release_notes;
use crate::prose::Markup;
use generator::{Found, Generator, Generators};

/// Files that are at least this similar, in percent, are one page twice.
const WHOLE_PERCENT: u32 = 95;

/// Maximum length of a name for a shared text, in characters.
const MAX_NAME: usize = 40;

/// Sets what to do about findings that are not notes. The place to look at is then one to change.
pub(super) fn propose(findings: &mut [Finding]) {
    let mut generators = Generators::default();
    for finding in findings.iter_mut().filter(|finding| finding.grade > Grade::Note) {
        let keep = kept(finding);
        if finding.primary().path() == finding.places[keep].path() {
            finding.look_at(to_change(finding, keep));
        }
        finding.proposal = Some(Proposal { keep, how: how(finding, keep, &mut generators) });
    }
}

/// The place to change if that one keeps the text: if possible one that is new, then one in another page, then the last.
fn to_change(finding: &Finding, keep: usize) -> usize {
    let key = |&index: &usize| {
        let place = &finding.places[index];
        (place.is_new, place.path() != finding.places[keep].path(), index)
    };
    (0..finding.places.len()).filter(|&index| index != keep).max_by_key(key).unwrap_or(keep)
}

/// What to do if that place keeps the text.
fn how(finding: &Finding, keep: usize, generators: &mut Generators) -> String {
    let (kept, other) = (&finding.places[keep], finding.primary());
    let pages = pages_to_change(finding, keep);
    if finding.kind == Kind::File
        && finding.pairs.iter().all(|pair| pair.whole().is_none() && pair.percent() >= WHOLE_PERCENT)
    {
        return how_of_files([kept, other], pages, is_known(finding, keep));
    }
    let (path, lines) = (kept.path(), [kept, other].map(|place| place.stretch.start.line));
    if path == other.path() {
        return match finding.places.len() {
            2 => format!("keep line {} and refer to it from line {}", lines[0], lines[1]),
            _ => format!("keep line {} and refer to it from line {} and the other places", lines[0], lines[1]),
        };
    }
    let more = match pages {
        0 | 1 => String::new(),
        2 => " (in the other page likewise)".into(),
        pages => format!(" (in the other {} pages likewise)", pages - 1),
    };
    let found = generators.of(&other.page.place).filter(|_| has_same_markup(kept, other));
    match found.map(|found| include(&found, kept, other)) {
        Some(Some(line)) => format!("keep the text in {path} and write {line} in {}{more}", other.path()),
        Some(None) => {
            let another = "or include it there with a shortcode of the site";
            format!("keep the text in {path} and link to it from {}, {another}{more}", other.path())
        }
        None => format!("keep the text in {path} and link to it from {}{more}", other.path()),
    }
}

/// The same for whole files, of which so many other pages are to change. `is_known`: that the one was there first.
fn how_of_files([kept, other]: [&Place; 2], pages: usize, is_known: bool) -> String {
    let (kept, other) = (kept.path(), other.path());
    match (is_known, pages) {
        (true, 0 | 1) => format!("keep {kept}, remove {other}, and redirect to it"),
        (true, _) => format!("keep {kept}, remove the new copies, and redirect to it"),
        (false, 0 | 1) => format!("keep {kept} or {other}, remove the other, and redirect to the one that stays"),
        (false, _) => "keep one of them, remove the others, and redirect to it".into(),
    }
}

/// How many pages are to change if that place keeps the text: where it is known to be new, else all others.
fn pages_to_change(finding: &Finding, keep: usize) -> usize {
    let (kept, is_known) = (finding.places[keep].path(), is_known(finding, keep));
    let changes = finding.places.iter().filter(|place| place.path() != kept && (place.is_new || !is_known));
    // Places are ordered by page.
    let mut pages: Vec<&str> = changes.map(Place::path).collect();
    pages.dedup();
    pages.len()
}

/// Whether it is known that the text was in that place before it was in others.
fn is_known(finding: &Finding, keep: usize) -> bool {
    !finding.places[keep].is_new && finding.places.iter().any(|place| place.is_new)
}

fn has_same_markup(one: &Place, other: &Place) -> bool {
    Markup::of_path(one.path()) == Markup::of_path(other.path())
}

/// The place whose page should keep the text: if possible one that is not new, is meant to be included, and is not in release notes; of
/// those the one in the fewest folders, then the first. Of a file that contains another, the larger, unless it alone is new.
fn kept(finding: &Finding) -> usize {
    let shown = finding.shown();
    let whole = shown.whole().filter(|&whole| !shown.places[whole].is_new || shown.places[1 - whole].is_new);
    if let (Kind::File, Some(whole)) = (finding.kind, whole) {
        return shown.indices[whole];
    }
    let depth = |place: &Place| place.path().split('/').filter(|name| *name != "..").count();
    let key = |&index: &usize| {
        let place = &finding.places[index];
        (place.is_new, !is_included(place.path()), is_release_notes(place.path()), depth(place), index)
    };
    (0..finding.places.len()).min_by_key(key).unwrap_or_default()
}

/// Whether a page is in a folder of texts that others include.
fn is_included(path: &str) -> bool {
    let folders = path.split('/').rev().skip(1);
    folders
        .into_iter()
        .any(|name| ["_includes", "_partials", "_snippets", "includes", "partials", "snippets"].contains(&name))
}

/// The line that includes the text of one place in another. `None` if the generator has none of its own: Hugo includes by shortcodes that
/// a site defines.
fn include(found: &Found, kept: &Place, other: &Place) -> Option<String> {
    let name = name(kept);
    let path = found.path(&kept.page.place);
    let near = Found::between(&other.page.place, &kept.page.place);
    let shared = near.rsplit_once('/').map_or(format!("./_{name}.mdx"), |(folder, _)| format!("{folder}/_{name}.mdx"));
    Some(match found.generator {
        Generator::MkDocs => format!("--8<-- \"{path}:{name}\""),
        Generator::Sphinx => {
            let path = if path.starts_with("../") { near } else { format!("/{path}") };
            let directive = if is_rst(other) { ".. include::" } else { "```{include}" };
            format!("{directive} {path} (with marks around it for :start-after: and :end-before:)")
        }
        Generator::Antora => format!("include::{}[tag={name}]", antora(&path)),
        Generator::AsciiDoc => format!("include::{near}[tag={name}]"),
        Generator::Docusaurus | Generator::Astro => format!("import Shared from '{shared}' and <Shared />"),
        Generator::Hugo => return None,
        Generator::VitePress => format!("<!--@include: {near}#{name}-->"),
        Generator::MdBook => format!("{{{{#include {near}:{name}}}}}"),
        Generator::Quarto => format!("{{{{< include {} >}}}}", shared.replace(".mdx", ".qmd")),
    })
}

fn is_rst(place: &Place) -> bool {
    place.path().ends_with(".rst")
}

/// The resource of Antora for a path such as `modules/ROOT/pages/page.adoc`.
fn antora(path: &str) -> String {
    let inside = path.split_once("modules/").map(|(_, inside)| inside);
    match inside.and_then(|inside| inside.split_once('/')) {
        Some((module, rest)) => match rest.split_once('/') {
            Some(("pages", page)) => format!("{module}:page${page}"),
            Some(("partials", page)) => format!("{module}:partial${page}"),
            _ => path.to_string(),
        },
        None => path.to_string(),
    }
}

/// A name for the text of a place, from its heading or the name of its file: letters, digits and `-`.
fn name(place: &Place) -> String {
    let path = place.path();
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let slugs = [slug(place.heading.as_deref().unwrap_or_default()), slug(stem)];
    slugs.into_iter().find(|slug| !slug.is_empty()).unwrap_or_else(|| "shared".into())
}

/// The first words of a text in lower case, joined by `-`.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if slug.len() + word.len() >= MAX_NAME {
            break;
        }
        let dash = if slug.is_empty() { "" } else { "-" };
        slug.extend([dash, &word.to_ascii_lowercase()]);
    }
    slug
}

#[cfg(test)]
mod tests;
