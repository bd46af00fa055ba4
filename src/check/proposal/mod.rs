//! What to do about a finding: which page should keep the text, and how the others include it.

mod generator;
mod keeper;

use super::find::Kind;
use super::finding::{Age, Finding, Pair, Place, Proposal};
use super::grade::Grade;
use super::grading::is_generated;
use super::links::Links;
use super::sources;
use crate::prose::Markup;
use generator::{Found, Generator, Generators};
use keeper::{Keepers, Kept, are_parallel};
use std::path::Path;

/// Files that are at least this similar, in percent, are one page twice.
const WHOLE_PERCENT: u32 = 95;

/// Two places that differ in more words than this, in percent, are not made equal.
const MAX_DIFFERENCE: usize = 10;

/// Sources are compared if the longer one has at most this many times the bytes of the other.
const MAX_RATIO: usize = 4;

/// Names of the index of a folder, without their endings.
const INDICES: [&str; 3] = ["_index", "index", "README"];

/// A text with fewer words is not worth a page of its own.
const PAGE_WORDS: usize = 60;

/// So many words of a source that differ besides words of prose are reported.
const MANY_OTHERS: usize = 3;

/// Maximum length of a name for a shared text, in characters.
const MAX_NAME: usize = 40;

/// Sets what to do about findings that are not notes, given the links to their pages. The place to look at is then one to change.
pub(super) fn propose(findings: &mut [Finding], links: Option<&Links>) {
    let Some(links) = links else { return };
    let keepers = Keepers::new(findings, links);
    let mut generators = Generators::default();
    for finding in findings.iter_mut().filter(|finding| finding.grade > Grade::Note) {
        let kept = keepers.of(finding);
        if finding.primary().path() == finding.places[kept.index].path() {
            finding.look_at(to_change(finding, kept.index, &keepers));
        }
        let how = Change::new(finding, kept, links, &keepers).how(&mut generators);
        finding.proposal = Some(Proposal { keep: kept.index, how });
    }
}

/// The place to change if that one keeps the text: if possible one that the grade is for, then one of the newest, then one in another page
/// that can be changed, then the last.
fn to_change(finding: &Finding, keep: usize, keepers: &Keepers) -> usize {
    let key = |&index: &usize| {
        let place = &finding.places[index];
        let is_other = place.path() != finding.places[keep].path();
        (!place.is_lesser, place.age(), is_other, !keepers.is_frozen(&place.page), index)
    };
    (0..finding.places.len()).filter(|&index| index != keep).max_by_key(key).unwrap_or(keep)
}

/// What is to be done about a finding.
struct Change<'a> {
    finding: &'a Finding,
    kept: &'a Place,
    /// The place to change.
    other: &'a Place,
    /// How many pages are to change.
    pages: usize,
    /// Whether there is evidence for the page that keeps the text.
    is_sure: bool,
    /// Whether it is known that the text was in that page before it was in others.
    is_known: bool,
    /// Whether the text to change, or what is close to it, links to the page that keeps it.
    is_linked: bool,
    /// Whether others include the page that keeps the text, and the one to change.
    included: [bool; 2],
    /// Of each pair, how many words of the sources differ, and how many there are.
    sources: Vec<[usize; 2]>,
}

impl<'a> Change<'a> {
    fn new(finding: &'a Finding, Kept { index, is_sure }: Kept, links: &Links, keepers: &Keepers) -> Self {
        let (kept, other) = (&finding.places[index], finding.primary());
        Change {
            finding,
            kept,
            other,
            pages: pages_to_change(finding, index),
            is_sure,
            is_known: is_known(finding, index),
            is_linked: links.leads_within(&other.page, sources::around(other), &kept.page),
            included: [kept, other].map(|place| keepers.is_included(&place.page)),
            sources: finding.pairs.iter().map(edited_source).collect(),
        }
    }

    /// What to do, on one line.
    fn how(&self, generators: &mut Generators) -> String {
        let (kept, other) = (self.kept.path(), self.other.path());
        let is_whole = self.finding.pairs.iter().all(|pair| pair.whole().is_none() && pair.percent() >= WHOLE_PERCENT);
        if self.finding.kind == Kind::File && is_whole {
            return self.if_equal(self.difference(), self.how_of_files(), "state once what BOTH share");
        }
        if kept == other {
            return self.within_page();
        }
        if self.included == [true, true] {
            return self.fragment();
        }
        if self.is_linked {
            return format!("{other} already links to {kept}: shorten the text in {other}{}", self.more());
        }
        if is_generated(&self.kept.page.source) && !self.included[0] {
            let differs = self.difference().map_or(String::new(), |difference| format!(" ({difference})"));
            return format!(
                "keep the text in {kept}, which is generated, and link to it from {other}{}{differs}",
                self.more()
            );
        }
        let found = generators
            .of(&self.other.page.place, self.other.page.markup)
            .filter(|_| has_same_markup(self.kept, self.other));
        match self.difference() {
            Some(difference) if !self.can_be_equal() && !self.included[0] => self.link("", Some(difference)),
            difference => self.include(found.as_ref(), difference),
        }
    }

    /// What to do about places in one page.
    fn within_page(&self) -> String {
        let [line, changed] = [self.kept, self.other].map(|place| place.stretch.start.line);
        match (self.difference(), self.finding.places.len()) {
            (None, 2) => format!("keep line {line} and refer to it from line {changed}"),
            (None, _) => format!("keep line {line} and refer to it from line {changed} and the other places"),
            (Some(difference), 2) => {
                format!("state once what lines {line} and {changed} share, and refer to it from both ({difference})")
            }
            (Some(difference), _) => {
                let lines = format!("lines {line} and {changed} and the other places");
                format!("state once what {lines} share, and refer to it from all ({difference})")
            }
        }
    }

    /// To include the text, after the two are made equal; or to link to it, if there is no line that includes it.
    fn include(&self, found: Option<&Found>, difference: Option<String>) -> String {
        let (kept, other, more) = (self.kept.path(), self.other.path(), self.more());
        let line = match found.map(|found| include(found, self.kept, self.other)) {
            Some(Some(line)) => format!("write {line} in {other}"),
            _ if self.included[0] => format!("include it in {other}"),
            Some(None) if difference.is_none() => {
                return self.link(", or include it there with a shortcode of the site", None);
            }
            _ => return self.link("", difference),
        };
        let reverse = if self.is_sure || self.pages > 1 { "" } else { ", or the other way round" };
        let marks = found.and_then(|found| marks(found.generator, &name(self.kept)));
        let marks = marks.map_or(String::new(), |[start, end]| format!(" (put {start} and {end} around the text)"));
        let how = format!("keep the text in {kept} and {line}{reverse}{more}{marks}");
        self.if_equal(difference, how, "include only what BOTH share")
    }

    /// To move the text to a page of its own, where both pages are included.
    fn fragment(&self) -> String {
        let folder = self.kept.path().rsplit_once('/').map_or(String::new(), |(folder, _)| format!(" in {folder}"));
        let all = self.all();
        match self.difference() {
            Some(difference) if !self.can_be_equal() => {
                format!("move what {all} share to a page of its own{folder} and include it in {all} ({difference})")
            }
            difference => {
                let how = format!("move the text to a page of its own{folder} and include it in {all}");
                self.if_equal(difference, how, "move only what BOTH share")
            }
        }
    }

    /// `both` or `all` places.
    fn all(&self) -> &'static str {
        if self.finding.places.len() > 2 { "all" } else { "both" }
    }

    /// What to do if the places are equal, or can be made so, and what otherwise, with `BOTH` for the places: words that differ can be what
    /// the pages are about.
    fn if_equal(&self, difference: Option<String>, how: String, otherwise: &str) -> String {
        let all = self.all();
        match difference {
            Some(difference) if self.edits() == 0 => format!("make {all} equal ({difference}), then {how}"),
            Some(difference) => {
                let otherwise = otherwise.replace("BOTH", all);
                format!("if {all} should say the same ({difference}), {how}; if not, {otherwise}")
            }
            None => how,
        }
    }

    /// To link to the text, or if much differs, to what the places share.
    fn link(&self, or: &str, difference: Option<String>) -> String {
        let (kept, other, all) = (self.kept.path(), self.other.path(), self.all());
        let much = difference.as_ref().filter(|_| !self.can_be_equal());
        let (text, differs) = match much {
            Some(difference) => (format!("what {all} share"), format!(" ({difference})")),
            None => ("the text".into(), String::new()),
        };
        let how = match (self.is_sure, self.pages) {
            (true, _) => format!("keep {text} in {kept} and link to it from {other}{or}{}{differs}", self.more()),
            (false, _) if self.has_home(much.is_some()) => {
                return format!(
                    "state once what {all} share, in {}, and link to it from {all}{or}{differs}",
                    self.home()
                );
            }
            (false, 0 | 1) => format!("keep {text} in {kept} or {other}, and link to it from the other{or}{differs}"),
            (false, _) => {
                format!("keep {text} in one page, such as {kept}, and link to it from the others{or}{differs}")
            }
        };
        let has_little = much.is_none() && self.edits() > 0;
        self.if_equal(difference.filter(|_| has_little), how, "state once what BOTH share")
    }

    /// Whether what parallel pages share has a better home than one of them: they differ, or there is an index of their folder. A few
    /// sentences are not worth a page.
    fn has_home(&self, differ: bool) -> bool {
        let is_source = matches!(self.kept.page.markup, Markup::Docstrings(_));
        self.finding.words() >= PAGE_WORDS
            && !is_source
            && are_parallel(self.finding)
            && (differ || self.index().is_some())
    }

    /// Where to state what parallel pages share.
    fn home(&self) -> String {
        match self.index() {
            Some(index) => format!("{index} or a page of its own"),
            None => "a page of its own".into(),
        }
    }

    /// The index of the folder of parallel pages, if they have one folder and it is none of them.
    fn index(&self) -> Option<String> {
        let (path, place) = (self.kept.path(), &self.kept.page.place);
        let folder = |place: &Place| place.page.place.parent().map(Path::to_path_buf);
        if self.finding.places.iter().any(|other| folder(other) != folder(self.kept)) {
            return None;
        }
        let extension = place.extension()?.to_str()?;
        let path_of =
            |name: &String| path.rsplit_once('/').map_or(name.clone(), |(folder, _)| format!("{folder}/{name}"));
        let is_free = |name: &String| {
            let path = path_of(name);
            place.with_file_name(name).is_file() && self.finding.places.iter().all(|place| place.path() != path)
        };
        INDICES.iter().map(|name| format!("{name}.{extension}")).find(is_free).map(|name| path_of(&name))
    }

    /// What to do about files that are equal.
    fn how_of_files(&self) -> String {
        let (kept, other) = (self.kept.path(), self.other.path());
        match (self.is_known || self.is_sure, self.pages) {
            _ if self.included[0] => format!("keep {kept}, and include it where the others are included"),
            (true, 0 | 1) => format!("keep {kept}, remove {other}, and redirect to it"),
            (true, _) if self.is_known => format!("keep {kept}, remove the new copies, and redirect to it"),
            (true, _) => format!("keep {kept}, remove the others, and redirect to it"),
            (false, 0 | 1) => format!("keep {kept} or {other}, remove the other, and redirect to the one that stays"),
            (false, _) => "keep one of them, remove the others, and redirect to it".into(),
        }
    }

    /// That other pages are to change in the same way, in brackets.
    fn more(&self) -> String {
        match self.pages {
            0 | 1 => String::new(),
            2 => " (in the other page likewise)".into(),
            pages => format!(" (in the other {} pages likewise)", pages - 1),
        }
    }

    fn are_equal(&self) -> bool {
        self.finding.places.iter().all(|place| has_same_words(place, self.kept) && sources::are_equal(place, self.kept))
    }

    /// How the places differ. `None` if they are equal, with their code and markup.
    fn difference(&self) -> Option<String> {
        let edits = self.edits();
        let have_same_words = || self.finding.pairs.iter().all(Pair::has_same_words);
        let others = self.sources.iter().map(|[edits, _]| *edits).max().unwrap_or_default();
        let and = if others >= edits + MANY_OTHERS { " and code or markup" } else { "" };
        match edits {
            0 if self.are_equal() => None,
            0 if have_same_words() => Some("case, code, markup or punctuation differs".into()),
            0 if self.finding.pairs.iter().any(|pair| pair.places[0].words.len() != pair.places[1].words.len()) => {
                Some("one has more text".into())
            }
            0 => Some("the order differs".into()),
            1 if and.is_empty() => Some("1 word differs".into()),
            1 => Some(format!("1 word{and} differ")),
            _ => Some(format!("{edits} words{and} differ")),
        }
    }

    /// How many words differ at most in a pair of places; where a file contains another, words that only the larger one has do not count.
    fn edits(&self) -> usize {
        self.finding.pairs.iter().map(|pair| pair.compared_words() - pair.matched).max().unwrap_or_default()
    }

    /// Whether few words differ, and little code and markup.
    fn can_be_equal(&self) -> bool {
        let is_few = |edits: usize, all: usize| 100 * edits <= MAX_DIFFERENCE * all;
        let words = |pair: &Pair| is_few(pair.compared_words() - pair.matched, pair.compared_words());
        self.finding.pairs.iter().all(words) && self.sources.iter().all(|&[edits, all]| is_few(edits, all))
    }
}

/// How many words of the sources of a pair of places differ at most in any order and case, and how many there are: in the longer one, or
/// in the part if a file contains another. If one is far longer, all of one word: places of a large page are not sorted again and again.
fn edited_source(pair: &Pair) -> [usize; 2] {
    let sources = pair.places.each_ref().map(sources::source_of);
    let [short, long] = [sources[0].len().min(sources[1].len()), sources[0].len().max(sources[1].len())];
    if long > MAX_RATIO * short {
        return [1, 1];
    }
    let sources = sources.map(str::to_ascii_lowercase);
    let lengths = sources.each_ref().map(|source| sources::words(source).count());
    let all = pair.whole().map_or(lengths[0].max(lengths[1]), |whole| lengths[1 - whole]);
    let [shared, _] = sources::shared_words(sources.each_ref().map(String::as_str));
    [all.saturating_sub(shared), all]
}

fn has_same_words(one: &Place, other: &Place) -> bool {
    one.page.words()[one.words.clone()] == other.page.words()[other.words.clone()]
}

/// How many pages are to change if that place keeps the text: where it is known to be new, else all others. Only those that the grade is for.
fn pages_to_change(finding: &Finding, keep: usize) -> usize {
    let (kept, is_known) = (&finding.places[keep], is_known(finding, keep));
    let is_newer = |place: &Place| place.age() > kept.age();
    let changes = finding
        .places
        .iter()
        .filter(|place| place.path() != kept.path() && !place.is_lesser && (is_newer(place) || !is_known));
    // Places are ordered by page.
    let mut pages: Vec<&str> = changes.map(Place::path).collect();
    pages.dedup();
    pages.len()
}

/// Whether it is known that the text was in that place before it was in others.
fn is_known(finding: &Finding, keep: usize) -> bool {
    let kept = finding.places[keep].age();
    kept < Age::New && finding.places.iter().any(|place| place.age() > kept)
}

fn has_same_markup(one: &Place, other: &Place) -> bool {
    one.page.markup == other.page.markup
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
            format!("{directive} {path} with :start-after: start-{name} and :end-before: end-{name}")
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

/// The lines to put before and after the text of this name, which its line of inclusion refers to. `None` if a file is included as a whole.
fn marks(generator: Generator, name: &str) -> Option<[String; 2]> {
    let comment = |text: String| format!("<!-- {text} -->");
    match generator {
        Generator::MkDocs => Some(["start", "end"].map(|end| comment(format!("--8<-- [{end}:{name}]")))),
        Generator::Sphinx => Some(["start", "end"].map(|end| format!("a comment {end}-{name}"))),
        Generator::Antora | Generator::AsciiDoc => Some(["tag", "end"].map(|end| format!("// {end}::{name}[]"))),
        Generator::VitePress => Some(["#region", "#endregion"].map(|end| comment(format!("{end} {name}")))),
        Generator::MdBook => Some(["ANCHOR", "ANCHOR_END"].map(|end| comment(format!("{end}: {name}")))),
        Generator::Docusaurus | Generator::Astro | Generator::Hugo | Generator::Quarto => None,
    }
}

fn is_rst(place: &Place) -> bool {
    place.page.markup == Markup::ReStructuredText
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
