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
        if finding.primary == keep {
            let last = finding.places.len() - 1;
            finding.look_at(last - usize::from(keep == last));
        }
        finding.proposal = Some(Proposal { keep, how: how(finding, keep, &mut generators) });
    }
}

/// What to do if that place keeps the text.
fn how(finding: &Finding, keep: usize, generators: &mut Generators) -> String {
    let (kept, other) = (&finding.places[keep], finding.primary());
    let (path, others) = (kept.path(), others(finding, keep));
    if finding.kind == Kind::File && finding.pairs.iter().all(|pair| pair.percent() >= WHOLE_PERCENT) {
        return match (is_known(finding, keep), others) {
            (true, 1) => format!("keep {path}, remove {}, and redirect to it", other.path()),
            (true, _) => format!("keep {path}, remove the copies, and redirect to it"),
            (false, 1) => {
                format!("keep {path} or {}, remove the other, and redirect to the one that stays", other.path())
            }
            (false, _) => "keep one of them, remove the others, and redirect to it".into(),
        };
    }
    let lines = [kept, other].map(|place| place.stretch.start.line);
    match others {
        0 if finding.places.len() > 2 => {
            return format!("keep line {} and refer to it from the other places", lines[0]);
        }
        0 => return format!("keep line {} and refer to it from line {}", lines[0], lines[1]),
        _ => {}
    }
    let more = match others - 1 {
        0 => String::new(),
        1 => " (in the other page likewise)".into(),
        more => format!(" (in the other {more} pages likewise)"),
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

/// How many other pages have the text.
fn others(finding: &Finding, keep: usize) -> usize {
    // Places are ordered by page.
    let pages = finding.places.chunk_by(|one, other| one.path() == other.path()).map(|places| places[0].path());
    pages.filter(|path| *path != finding.places[keep].path()).count()
}

/// Whether it is known that the text was there first: it is not new, and all others are.
fn is_known(finding: &Finding, keep: usize) -> bool {
    finding.places.iter().enumerate().all(|(index, place)| place.is_new == (index != keep))
}

fn has_same_markup(one: &Place, other: &Place) -> bool {
    Markup::of_path(one.path()) == Markup::of_path(other.path())
}

/// The place whose page should keep the text: if possible one that is not new, is meant to be included, and is not in release notes; of
/// those the one in the fewest folders, then the first. Of a file that contains another, the larger.
fn kept(finding: &Finding) -> usize {
    if let (Kind::File, Some(whole)) = (finding.kind, finding.shown().whole()) {
        return finding.shown().indices[whole];
    }
    let depth = |place: &Place| place.path().matches('/').count();
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
