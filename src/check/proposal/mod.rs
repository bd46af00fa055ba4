//! What to do about a finding: which page should keep the text, and how the others include it.

mod collage;
mod generator;
mod keeper;

use super::find::Kind;
use super::finding::{Age, Finding, Pair, Place, Proposal};
use super::grade::Grade;
use super::grading::is_generated;
use super::links::Links;
use super::rules::Rules;
use super::sources;
use crate::prose::Markup;
use crate::readable::counted;
use crate::union_find::UnionFind;
use generator::{Found, Generator, Generators};
use keeper::{Keepers, Kept, are_parallel};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
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

/// Maximum number of pages, and of lines, that are named in a row.
const MAX_NAMED: usize = 5;

/// Maximum number of lines that include a text, each with another path.
const MAX_LINES: usize = 3;

/// Maximum length of a name for a shared text, in characters.
const MAX_NAME: usize = 40;

/// Sets what to do about findings that are not notes, given the links to their pages and the rules for these. The place to look at is then one to change.
pub(super) fn propose(findings: &mut [Finding], links: Option<&Links>, rules: &Rules) {
    let Some(links) = links else { return };
    let keepers = Keepers::new(findings, links, rules);
    let (mut generators, mut names) = (Generators::default(), Names::default());
    for finding in findings.iter_mut().filter(|finding| finding.grade > Grade::Note) {
        let kept = keepers.of(finding);
        if keepers.is_only_in_version(finding, kept) || keepers.is_only_in_release_notes(finding, kept) {
            continue;
        }
        let page = &finding.places[kept.index].page;
        if finding.primary().path() == page.path || keepers.accepts(&finding.primary().page, page) {
            finding.look_at(to_change(finding, kept.index, &keepers));
        }
        let name = names.of(&finding.places[kept.index]);
        let change = Change::new(finding, kept, name, links, &keepers);
        let how = change.how(&mut generators);
        if change.has_named.get() {
            names.take(&finding.places[kept.index], change.name);
        }
        finding.proposal = Some(Proposal { keep: kept.index, how });
    }
}

/// The place to change if that one keeps the text: if possible one whose copy no rule accepts, then one that the grade is for, then one of the
/// newest, then one in another page that can be changed, then the last.
fn to_change(finding: &Finding, keep: usize, keepers: &Keepers) -> usize {
    let key = |&index: &usize| {
        let place = &finding.places[index];
        let kept = &finding.places[keep];
        let is_other = place.path() != kept.path();
        let is_accepted = keepers.accepts(&place.page, &kept.page);
        (!is_accepted, !place.is_lesser, place.age(), is_other, !keepers.is_frozen(&place.page), index)
    };
    (0..finding.places.len()).filter(|&index| index != keep).max_by_key(key).unwrap_or(keep)
}

/// What is to be done about a finding.
struct Change<'a> {
    finding: &'a Finding,
    kept: &'a Place,
    /// The name that the marks around the text have, and the lines that include it.
    name: String,
    /// Whether the proposal has that name.
    has_named: Cell<bool>,
    /// A place of each other page that is to change.
    pages: Vec<To<'a>>,
    /// The lines of further places in the page that keeps the text.
    lines: Vec<usize>,
    /// Whether there is evidence for the page that keeps the text.
    is_sure: bool,
    /// Whether it is known that the text was in that page before it was in others.
    is_known: bool,
    /// Whether others include the page that keeps the text.
    is_included: bool,
    /// Of each pair, how many words of the sources differ, and how many there are.
    sources: Vec<[usize; 2]>,
}

/// A page that is to change.
struct To<'a> {
    place: &'a Place,
    /// Whether the text, or what is close to it, links to the page that keeps it.
    is_linked: bool,
    /// Whether others include it.
    is_included: bool,
    /// Whether the page is the one that keeps the text, once more.
    is_whole: bool,
}

/// What to do in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Remove,
    Shorten,
    /// To write a line that includes the text.
    Write(String),
    Include,
    /// To link to the text, or to what follows.
    Link(&'static str),
}

impl<'a> Change<'a> {
    fn new(
        finding: &'a Finding,
        Kept { index, is_sure }: Kept,
        name: String,
        links: &Links,
        keepers: &Keepers,
    ) -> Self {
        let kept = &finding.places[index];
        let wholes = wholes(finding, index);
        let to = |index: usize| {
            let place = &finding.places[index];
            To {
                place,
                is_linked: links.leads_within(&place.page, sources::around(place), &kept.page),
                is_included: keepers.is_included(&place.page),
                is_whole: wholes.contains(&index),
            }
        };
        let (pages, own) = to_change_all(finding, index, keepers);
        Change {
            finding,
            kept,
            name,
            has_named: Cell::new(false),
            pages: pages.into_iter().map(to).collect(),
            lines: own.into_iter().map(|index| finding.places[index].stretch.start.line).collect(),
            is_sure,
            is_known: is_known(finding, index),
            is_included: keepers.is_included(&kept.page),
            sources: pairs_of_grade(finding).map(edited_source).collect(),
        }
    }

    /// What to do, on one line.
    fn how(&self, generators: &mut Generators) -> String {
        let is_whole = self.pairs().all(is_whole);
        // A page of its own may consist of what others include.
        let has_other_page = self.is_included && self.pages.iter().any(|to| !to.is_included);
        if self.finding.kind == Kind::File && is_whole && !has_other_page {
            return self.if_equal(self.difference(), self.how_of_files(), "state once what BOTH share");
        }
        if self.pages.is_empty() {
            return self.within_page();
        }
        let how = self.between_pages(generators);
        match self.lines.is_empty() {
            true => how,
            false => {
                let (kept, line) = (self.kept.path(), self.kept.stretch.start.line);
                format!("{how}; in {kept}, refer to line {line} from {}", lines(&self.lines))
            }
        }
    }

    /// What to do about places in several pages.
    fn between_pages(&self, generators: &mut Generators) -> String {
        if self.is_included && !self.is_partial() && self.pages.iter().all(|to| to.is_included) {
            return self.fragment();
        }
        let difference = self.difference();
        let actions = self.actions(&difference, generators);
        let mut groups: Vec<(&Action, Vec<&str>)> = Vec::new();
        for (action, to) in actions.iter().zip(&self.pages) {
            match groups.iter_mut().find(|(known, _)| *known == action) {
                Some((_, pages)) => pages.push(to.place.path()),
                None => groups.push((action, vec![to.place.path()])),
            }
        }
        groups.sort_by_key(|(action, _)| **action == Action::Shorten);
        let kept = self.kept.path();
        match &groups[..] {
            [(Action::Shorten, pages)] => {
                let (links, there) = match &pages[..] {
                    [page] => ("links", page),
                    _ => ("link", &"each of them"),
                };
                format!("{} already {links} to {kept}: shorten the text in {there}", list(pages))
            }
            [(Action::Link(or), pages)] => self.link(&list(pages), or, difference),
            _ => self.include(&groups, &actions, difference, generators),
        }
    }

    /// What to do in each of the other pages.
    fn actions(&self, difference: &Option<String>, generators: &mut Generators) -> Vec<Action> {
        let is_frozen = is_generated(&self.kept.page.source) && !self.is_included;
        let is_other = difference.is_some() && !self.can_be_equal() && !self.is_included;
        let mut of_page = |to: &To| {
            if to.is_whole && !self.is_included {
                return Action::Remove;
            }
            if to.is_linked {
                return Action::Shorten;
            }
            if is_frozen || is_other {
                return Action::Link("");
            }
            let found = self.generator(to.place, generators);
            match found.map(|found| include(&found, &self.name, [self.kept, to.place], self.is_partial())) {
                Some(Some(line)) => Action::Write(line),
                _ if self.is_included => Action::Include,
                Some(None) if difference.is_none() => {
                    Action::Link(", or include it there with a shortcode of the site")
                }
                _ => Action::Link(""),
            }
        };
        self.pages.iter().map(&mut of_page).collect()
    }

    /// Whether others include the page that keeps the text, and it consists of that.
    fn is_partial(&self) -> bool {
        self.is_included && self.kept.words.len() == self.kept.page.words().len()
    }

    /// The generator of a page, if it can include the text in it.
    fn generator(&self, other: &Place, generators: &mut Generators) -> Option<Found> {
        generators.of(&other.page.place, other.page.markup).filter(|_| has_same_markup(self.kept, other))
    }

    /// What to do about places in one page.
    fn within_page(&self) -> String {
        let line = self.kept.stretch.start.line;
        match self.difference() {
            None => format!("keep line {line} and refer to it from {}", lines(&self.lines)),
            Some(difference) => {
                let all: Vec<usize> = [line].into_iter().chain(self.lines.iter().copied()).collect();
                let from = self.all();
                format!("state once what {} share, and refer to it from {from} ({difference})", lines(&all))
            }
        }
    }

    /// To include the text, after the two are made equal, or what else is to be done in each page.
    fn include(
        &self,
        groups: &[(&Action, Vec<&str>)],
        actions: &[Action],
        difference: Option<String>,
        generators: &mut Generators,
    ) -> String {
        let kept = self.kept.path();
        let is_line = |action: &Action| matches!(action, Action::Write(_));
        let written = actions.iter().zip(&self.pages).find(|(action, _)| is_line(action));
        let found = written.and_then(|(_, to)| self.generator(to.place, generators)).filter(|_| !self.is_partial());
        let created = found.as_ref().and_then(|found| self.created(found));
        // The text moves out of the page that keeps it, too.
        let own = created.as_ref().map(|(_, line)| Action::Write(line.clone()));
        let groups = &with_own(groups, own.as_ref(), kept)[..];
        let clause = |(action, pages): &(&Action, Vec<&str>)| {
            let pages = list(pages);
            match action {
                Action::Remove => format!("remove {pages} with a redirect to it"),
                Action::Shorten => format!("shorten the text in {pages}, where a link leads to it"),
                Action::Write(line) => format!("write {line} in {pages}"),
                Action::Include => format!("include it in {pages}"),
                Action::Link(or) => format!("link to it from {pages}{or}"),
            }
        };
        let lines = groups.iter().filter(|(action, _)| is_line(action));
        let rest: Vec<&str> = lines.skip(MAX_LINES).flat_map(|(_, pages)| pages.iter().copied()).collect();
        let is_shown = |(_, pages): &&(&Action, Vec<&str>)| !rest.contains(&pages[0]);
        let mut clauses: Vec<String> = groups.iter().filter(is_shown).map(clause).collect();
        if !rest.is_empty() {
            clauses.push(format!("write such a line with its own path in {}", list(&rest)));
        }
        let clauses = clauses.join(", and ");
        if let Some(difference) = difference.as_ref().filter(|_| !self.can_be_equal() && !self.is_included) {
            if actions.contains(&Action::Remove) {
                let how = format!("keep the text in {kept} and {clauses}");
                return self.if_equal(Some(difference.clone()), how, "state once what BOTH share");
            }
            return format!("keep what {} share in {kept} and {clauses} ({difference})", self.all());
        }
        let has_lines = groups.iter().any(|(action, _)| is_line(action));
        self.has_named.set(has_lines && !self.is_partial());
        let reverse = if self.is_sure || self.pages.len() > 1 { "" } else { ", or the other way round" };
        let marks = found.and_then(|found| marks(found.generator, &self.name));
        let marks = marks.map_or(String::new(), |[start, end]| format!(" (put {start} and {end} around the text)"));
        let how = match groups {
            [(Action::Include, pages)] if self.is_partial() => {
                format!("include {kept} in place of the text in {}", list(pages))
            }
            _ if self.is_partial() => format!("include {kept} in place of the text: {clauses}"),
            _ if let Some((file, _)) = created => format!("create {file} with the text and, in place of it, {clauses}"),
            _ => format!("keep the text in {kept} and {clauses}{reverse}{marks}"),
        };
        match has_lines || self.is_included {
            true => self.if_equal(difference, how, "include only what BOTH share"),
            false => self.if_equal(difference.filter(|_| self.edits() > 0), how, "state once what BOTH share"),
        }
    }

    /// The file to create if the generator includes files only as a whole, and the line that includes it in the page that has the text now.
    fn created(&self, found: &Found) -> Option<(String, String)> {
        let file = whole_file(found.generator, &self.name)?;
        let folder = self.kept.path().rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        Some((folder + &file, include(found, &self.name, [self.kept; 2], false)?))
    }

    /// To move the text to a page of its own, where all pages are included.
    fn fragment(&self) -> String {
        let folder = self.kept.path().rsplit_once('/').map_or(String::new(), |(folder, _)| format!(" in {folder}"));
        let (all, pages) = (self.all(), self.all_pages());
        match self.difference() {
            Some(difference) if !self.can_be_equal() => {
                format!("move what {all} share to a page of its own{folder} and include it in {pages} ({difference})")
            }
            difference => {
                let how = format!("move the text to a page of its own{folder} and include it in {pages}");
                self.if_equal(difference, how, "move only what BOTH share")
            }
        }
    }

    /// `both` or `all` places whose difference the proposal states.
    fn all(&self) -> &'static str {
        let places: BTreeSet<usize> = self.pairs().flat_map(|pair| pair.indices).collect();
        if places.len() > 2 { "all" } else { "both" }
    }

    /// The pairs that the grade is for, else all.
    fn pairs(&self) -> impl Iterator<Item = &Pair> {
        pairs_of_grade(self.finding)
    }

    /// `both`, or the pages by name if there are more.
    fn all_pages(&self) -> String {
        match self.pages.len() {
            0 | 1 => "both".into(),
            _ => {
                let others = self.pages.iter().map(|to| to.place.path());
                list(&[self.kept.path()].into_iter().chain(others).collect::<Vec<&str>>())
            }
        }
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

    /// To link from these pages to the text, or if much differs, to what the places share.
    fn link(&self, from: &str, or: &str, difference: Option<String>) -> String {
        let (kept, all) = (self.kept.path(), self.all());
        if is_generated(&self.kept.page.source) && !self.is_included {
            let differs = difference.map_or(String::new(), |difference| format!(" ({difference})"));
            return format!("keep the text in {kept}, which is generated, and link to it from {from}{differs}");
        }
        let much = difference.as_ref().filter(|_| !self.can_be_equal());
        let (text, differs) = match much {
            Some(difference) => (format!("what {all} share"), format!(" ({difference})")),
            None => ("the text".into(), String::new()),
        };
        let how = match (self.is_sure, self.pages.len()) {
            (true, _) => format!("keep {text} in {kept} and link to it from {from}{or}{differs}"),
            (false, _) if self.has_home(much.is_some()) => {
                let (home, pages) = (self.home(), self.all_pages());
                return format!("state once what {all} share, in {home}, and link to it from {pages}{or}{differs}");
            }
            (false, 1) => format!("keep {text} in {kept} or {from}, and link to it from the other{or}{differs}"),
            (false, _) => {
                format!("keep {text} in one page, such as {kept}, and link to it from {from}{or}{differs}")
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
        let kept = self.kept.path();
        let others = list(&self.pages.iter().map(|to| to.place.path()).collect::<Vec<&str>>());
        match (self.is_known || self.is_sure, self.pages.len()) {
            (_, 0 | 1) if self.is_included => format!("keep {kept}, and include it where {others} is included"),
            _ if self.is_included => format!("keep {kept}, and include it where {others} are included"),
            (true, _) => format!("keep {kept}, remove {others}, and redirect to it"),
            (false, 0 | 1) => format!("keep {kept} or {others}, remove the other, and redirect to the one that stays"),
            (false, _) => format!("keep one page, such as {kept}, remove {others}, and redirect to it"),
        }
    }

    fn are_equal(&self) -> bool {
        self.finding
            .places
            .iter()
            .filter(|place| !place.is_lesser)
            .all(|place| has_same_words(place, self.kept) && sources::are_equal(place, self.kept))
    }

    /// How the places differ. `None` if they are equal, with their code and markup.
    fn difference(&self) -> Option<String> {
        let edits = self.edits();
        let have_same_words = || self.pairs().all(Pair::has_same_words);
        let others = self.sources.iter().map(|[edits, _]| *edits).max().unwrap_or_default();
        let and = if others >= edits + MANY_OTHERS { " and code or markup" } else { "" };
        match edits {
            0 if self.are_equal() => None,
            0 if have_same_words() => Some("case, code, markup or punctuation differs".into()),
            0 if self.pairs().any(|pair| pair.places[0].words.len() != pair.places[1].words.len()) => {
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
        self.pairs().map(|pair| pair.compared_words() - pair.matched).max().unwrap_or_default()
    }

    /// Whether few words differ, and little code and markup.
    fn can_be_equal(&self) -> bool {
        let is_few = |edits: usize, all: usize| 100 * edits <= MAX_DIFFERENCE * all;
        let words = |pair: &Pair| is_few(pair.compared_words() - pair.matched, pair.compared_words());
        self.pairs().all(words) && self.sources.iter().all(|&[edits, all]| is_few(edits, all))
    }
}

/// The pairs of a finding that its grade is for, else all.
fn pairs_of_grade(finding: &Finding) -> impl Iterator<Item = &Pair> {
    let has_one = finding.pairs.iter().any(|pair| !pair.is_lesser);
    finding.pairs.iter().filter(move |pair| !has_one || !pair.is_lesser)
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

/// The places to change if that one keeps the text: where it is known to be new, else all others. Only those that the grade is for and whose
/// copies no rule accepts, and always the place to look at. First one place of each other page, then all in the page that keeps the text.
fn to_change_all(finding: &Finding, keep: usize, keepers: &Keepers) -> (Vec<usize>, Vec<usize>) {
    let (kept, is_known) = (&finding.places[keep], is_known(finding, keep));
    let is_to_change = |&index: &usize| {
        let place = &finding.places[index];
        let is_accepted = || keepers.accepts(&place.page, &kept.page);
        let is_wanted = !place.is_lesser && (place.age() > kept.age() || !is_known) && !is_accepted();
        index != keep && (index == finding.primary || is_wanted)
    };
    let changes = (0..finding.places.len()).filter(is_to_change);
    let (own, mut others): (Vec<usize>, Vec<usize>) =
        changes.partition(|&index| finding.places[index].path() == kept.path());
    // Places are ordered by page; the one to look at stands for its page.
    let path = |index: usize| finding.places[index].path();
    others.retain(|&index| index == finding.primary || path(index) != path(finding.primary));
    others.dedup_by_key(|index| path(*index));
    if others.len() > MAX_NAMED + 1 {
        // Not all are named.
        others.sort_by_key(|&index| index != finding.primary);
    }
    (others, own)
}

/// Whether the two places of a pair are one page twice.
fn is_whole(pair: &Pair) -> bool {
    pair.whole().is_none() && pair.percent() >= WHOLE_PERCENT
}

/// The places of a finding of whole files whose pages are that of one place once more.
fn wholes(finding: &Finding, of: usize) -> BTreeSet<usize> {
    let mut wholes = BTreeSet::new();
    if finding.kind != Kind::File {
        return wholes;
    }
    let mut same = UnionFind::<usize>::new(finding.places.len());
    for pair in finding.pairs.iter().filter(|pair| is_whole(pair)) {
        same.union(pair.indices[0], pair.indices[1]);
    }
    wholes.extend((0..finding.places.len()).filter(|&index| index != of && same.same(index, of)));
    wholes
}

/// `a, b and c`, or `a, b and 7 more pages` of many.
fn list(pages: &[&str]) -> String {
    listed(pages.iter().map(|page| page.to_string()).collect(), "page")
}

/// `line 3`, or `lines 3, 7 and 11`.
fn lines(lines: &[usize]) -> String {
    let name = if lines.len() == 1 { "line" } else { "lines" };
    format!("{name} {}", listed(lines.iter().map(usize::to_string).collect(), "line"))
}

fn listed(mut names: Vec<String>, what: &str) -> String {
    // Not one alone is left off.
    if names.len() > MAX_NAMED + 1 {
        let rest = names.split_off(MAX_NAMED).len();
        names.push(counted(rest as u64, &format!("more {what}")));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Whether it is known that the text was in that place before it was in others.
fn is_known(finding: &Finding, keep: usize) -> bool {
    let kept = finding.places[keep].age();
    kept < Age::New && finding.places.iter().any(|place| place.age() > kept)
}

fn has_same_markup(one: &Place, other: &Place) -> bool {
    one.page.markup == other.page.markup
}

/// The groups of pages, each with what to do there, and this page with the action of its own, if it has one: first.
fn with_own<'a>(
    groups: &[(&'a Action, Vec<&'a str>)],
    own: Option<&'a Action>,
    page: &'a str,
) -> Vec<(&'a Action, Vec<&'a str>)> {
    let mut groups = groups.to_vec();
    let Some(own) = own else { return groups };
    match groups.iter_mut().find(|(action, _)| *action == own) {
        Some((_, pages)) => pages.insert(0, page),
        None => groups.insert(0, (own, vec![page])),
    }
    groups
}

/// The name of a file of its own for a text of this name, beside the page that has it, if the generator includes files only as a whole.
fn whole_file(generator: Generator, name: &str) -> Option<String> {
    match generator {
        Generator::Docusaurus | Generator::Astro => Some(format!("_{name}.mdx")),
        Generator::Quarto => Some(format!("_{name}.qmd")),
        _ => None,
    }
}

/// The line that includes the text of one place in another; if `is_whole`, the page of it. `None` if the generator has none of its own: Hugo
/// includes by shortcodes that a site defines.
fn include(found: &Found, name: &str, [kept, other]: [&Place; 2], is_whole: bool) -> Option<String> {
    let path = found.path(&kept.page.place);
    let near = Found::between(&other.page.place, &kept.page.place);
    let of_text = |text: String| if is_whole { String::new() } else { text };
    let folder = near.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let shared = match whole_file(found.generator, name) {
        Some(file) if !is_whole => format!("{folder}/{file}"),
        _ => near.clone(),
    };
    Some(match found.generator {
        Generator::MkDocs => format!("--8<-- \"{path}{}\"", of_text(format!(":{name}"))),
        Generator::Sphinx => {
            let path = if path.starts_with("../") { near } else { format!("/{path}") };
            let (directive, fence) = match is_rst(other) {
                true => (".. include::", ""),
                false => ("```{include}", ", closed by a line ```,"),
            };
            let ends = of_text(format!(" with :start-after: start-{name} and :end-before: end-{name}"));
            format!("{directive} {path}{ends}{fence}")
        }
        Generator::Antora => format!("include::{}[{}]", antora(&path), of_text(format!("tag={name}"))),
        Generator::AsciiDoc => format!("include::{near}[{}]", of_text(format!("tag={name}"))),
        Generator::Docusaurus | Generator::Astro => format!("import Shared from '{shared}' and <Shared />"),
        Generator::Hugo => return None,
        Generator::VitePress => format!("<!--@include: {near}{}-->", of_text(format!("#{name}"))),
        Generator::MdBook => format!("{{{{#include {near}{}}}}}", of_text(format!(":{name}"))),
        Generator::Quarto => format!("{{{{< include {} >}}}}", shared),
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

/// The names of shared texts that proposals have, each with the path of the page that keeps the text.
#[derive(Default)]
struct Names {
    taken: BTreeSet<(String, String)>,
    /// The least number that may be free, of names that are taken without one.
    next: BTreeMap<(String, String), usize>,
}

impl Names {
    /// A name for the text of a place that no other text of its page has: with a number, if need be.
    fn of(&mut self, place: &Place) -> String {
        let (path, first) = (place.path().to_string(), name(place));
        let mut named = (path, first.clone());
        if !self.taken.contains(&named) {
            return first;
        }
        let next = self.next.entry(named.clone()).or_insert(2);
        loop {
            named.1 = format!("{first}-{next}");
            if !self.taken.contains(&named) {
                return named.1;
            }
            *next += 1;
        }
    }

    /// A text of a page has this name.
    fn take(&mut self, place: &Place, name: String) {
        self.taken.insert((place.path().to_string(), name));
    }
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
