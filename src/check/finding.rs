//! Findings for people: where the places of a text are, what they share, how serious it is, and whether it is accepted.

use super::find::{self, Group, Kind};
use super::grade::{Grade, Limit, Reason};
use super::pages::{Page, Stretch};
use super::paths::place as resolved;
use super::runs::{composed, turned};
use crate::passages::Run;
use crate::prose::Lines;
use crate::readable::counted;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of characters of a heading in a report.
const MAX_HEADING: usize = 200;

/// A text that occurs in two places or more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// Whether it is a file, a passage or a paragraph.
    pub kind: Kind,
    /// How much it is worth a reviewer's time.
    pub grade: Grade,
    /// Why it is not an error; empty for errors.
    pub reasons: Vec<Reason>,
    /// Its places, by page and position; two or more.
    pub places: Vec<Place>,
    /// Pairs of similar places that connect all of them: one fewer than places. Ordered by the second place.
    pub pairs: Vec<Pair>,
    /// The index of the place that a reviewer should look at: the first that is new, else a file that another contains, else the last;
    /// of those that the grade is for, and never the place that keeps the text, if there is a proposal.
    pub primary: usize,
    /// Identifies the finding: two hashes of words of its places.
    pub fingerprint: String,
    /// Whether the baseline accepts it.
    pub accepted: bool,
    /// Why the baseline accepts it, if it says so. Of several entries that accept it together, all reasons.
    pub reason: Option<String>,
    /// What to do about it; none for notes, and none if only pages of numbered versions had the text before.
    pub proposal: Option<Proposal>,
    /// What limits its grade besides where its places are.
    pub(super) limits: Vec<Limit>,
}

/// What to do about a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposal {
    /// The index of the place whose page should keep the text.
    pub keep: usize,
    /// What to do, on one line: where the text stays, and what the generator at hand needs to include it in another page.
    pub how: String,
}

/// Two places of a finding, and what they share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pair {
    /// Whether they are files, passages or paragraphs.
    pub kind: Kind,
    /// The earlier place, then the other.
    pub places: [Place; 2],
    /// Their indices in [`Finding::places`].
    pub indices: [usize; 2],
    /// Which of the two to look at: 0 or 1.
    pub primary: usize,
    /// How many words match.
    pub matched: usize,
    /// `2·matched / (words of both)`; if a larger file contains the other one, the share of the words of that one.
    pub similarity: f64,
    /// The share of each place that is contained in the other.
    pub contained: [f64; 2],
    /// The words that match, in the order of the earlier place.
    pub runs: Vec<Run>,
    /// Whether the grade of the finding is for other pairs.
    pub(super) is_lesser: bool,
}

/// One of the places of a finding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Place {
    /// The file.
    pub page: Arc<Page>,
    /// Its start and end in the file.
    pub stretch: Stretch,
    /// Its words, by index in the page.
    pub words: Range<usize>,
    /// The heading that it is under, truncated if it is long.
    pub heading: Option<String>,
    /// Whether the text is new here: since the commit of [`since`](super::Request::since), or since the baseline was written.
    /// False if neither was given.
    pub is_new: bool,
    /// Whether the text is new here only in parts: at the commit of [`since`](super::Request::since), its page had at least half of it.
    pub(super) is_edited: bool,
    /// Whether the grade of the finding is for other places: with any one of them alone, this one would be graded lower.
    pub(super) is_lesser: bool,
    /// Whether it is in release notes or a dated post.
    pub(super) is_release_notes: bool,
    /// How the place came to be one of the finding.
    pub(super) origin: Origin,
}

/// How a place came to be one of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The text was found there.
    Found,
    /// A whole copy of the page of another place has it.
    Copy,
    /// As of [`Copy`](Self::Copy), and so has its partner: the two are in another version of a site what others are in one. This makes no
    /// text new: a site gets a new version by copying all pages.
    Version,
}

/// A place to add to a finding, with the index of one that it is like, and the runs from there.
pub(super) struct Added {
    pub from: usize,
    pub place: Place,
    pub runs: Vec<Run>,
}

/// How long a text has been at a place. Ordered: the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Age {
    /// It was there before, as far as is known.
    Old,
    /// Most of it was there before.
    Edited,
    /// It was not there before.
    New,
}

/// A part of two places, in the order of one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Words that both places have.
    Shared([Range<usize>; 2]),
    /// Words that only one place has: those of the first place, those of the other.
    Edited([Range<usize>; 2]),
}

impl Place {
    /// A place in a page, given the lines of its source.
    pub(super) fn of(page: &Arc<Page>, place: &find::Place, lines: &Lines) -> Self {
        Place {
            page: Arc::clone(page),
            stretch: page.stretch(place.words.clone(), lines),
            words: place.words.clone(),
            heading: page.heading(place.words.start).map(|heading| match first(heading, MAX_HEADING) {
                whole if whole == heading => whole.to_string(),
                cut => format!("{cut}…"),
            }),
            is_new: false,
            is_edited: false,
            is_lesser: false,
            is_release_notes: false,
            origin: Origin::Found,
        }
    }

    pub(super) fn age(&self) -> Age {
        match (self.is_new, self.is_edited) {
            (false, _) => Age::Old,
            (true, true) => Age::Edited,
            (true, false) => Age::New,
        }
    }

    /// The path of its file as given.
    pub fn path(&self) -> &str {
        &self.page.path
    }

    /// Its text as a reader sees it.
    pub fn text(&self) -> &str {
        self.page.text(self.words.clone())
    }

    /// The text of some of its words, and the white space after it, at most that between two paragraphs.
    pub(super) fn text_of(&self, words: Range<usize>) -> (&str, &str) {
        if words.end == self.words.end {
            return (self.page.text(words), " ");
        }
        let text = self.page.text_to_next(words);
        let (text, space) = text.split_at(text.trim_end().len());
        (text, first(space, 2))
    }

    /// Its first ten words, truncated to 100 characters.
    pub(super) fn beginning(&self) -> String {
        let words: Vec<&str> = self.text().split_whitespace().take(10).map(|word| first(word, 100)).collect();
        first(&words.join(" "), 100).to_string()
    }
}

/// At most this many characters from the start of a text.
pub(super) fn first(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}

/// The number of characters of a reason, at most: that of one that is typed, and that which reports show of one that was edited.
pub(super) const MAX_REASON: usize = 500;

/// What reports show of a reason.
pub(super) fn shown_reason(reason: &str) -> Cow<'_, str> {
    match first(reason, MAX_REASON) {
        all if all.len() == reason.len() => reason.into(),
        some => format!("{some}…").into(),
    }
}

/// Maximum number of pages that a reason names.
const MAX_NAMED: usize = 3;

impl Finding {
    /// Why it is not an error, for people; empty for errors. If some of its places are in release notes and others are not, the pages that are
    /// are named.
    pub fn reason_texts(&self) -> Vec<String> {
        self.reason_texts_with(|place| Cow::Borrowed(place.path()))
    }

    /// As [`reason_texts`](Self::reason_texts), with the paths that `path` returns.
    pub(super) fn reason_texts_with<'a>(&'a self, path: impl Fn(&'a Place) -> Cow<'a, str>) -> Vec<String> {
        let text = |reason: &Reason| match reason {
            Reason::ReleaseNotes => format!("{reason}{}", self.release_notes(&path)),
            reason => reason.to_string(),
        };
        self.reasons.iter().map(text).collect()
    }

    /// The pages of its places in release notes, after a colon; empty if all places are in such pages.
    fn release_notes<'a>(&'a self, path: impl Fn(&'a Place) -> Cow<'a, str>) -> String {
        if self.places.iter().all(|place| place.is_release_notes) {
            return String::new();
        }
        // Places are ordered by page.
        let mut pages: Vec<&Place> = self.places.iter().filter(|place| place.is_release_notes).collect();
        pages.dedup_by_key(|place| place.path());
        let more = pages.len().saturating_sub(MAX_NAMED);
        let named = pages[..pages.len() - more].iter().map(|place| path(place)).collect::<Vec<_>>().join(", ");
        let more = if more == 0 { String::new() } else { format!(" and {}", counted(more as u64, "more page")) };
        format!(": {named}{more}")
    }

    /// Why it is accepted, as far as reports show it.
    pub(super) fn shown_reason(&self) -> Option<Cow<'_, str>> {
        self.reason.as_deref().map(shown_reason)
    }

    /// The findings of all groups. The lines of each page are counted only once.
    pub(super) fn all(pages: &[Arc<Page>], groups: Vec<Group>) -> Vec<Self> {
        let mut lines = BTreeMap::new();
        for place in groups.iter().flat_map(|group| &group.places) {
            lines.entry(place.document).or_insert_with(|| Lines::new(&pages[place.document].source));
        }
        groups.into_iter().map(|group| Finding::new(pages, group, &lines)).collect()
    }

    fn new(pages: &[Arc<Page>], group: Group, lines: &BTreeMap<usize, Lines>) -> Self {
        let place = |place: &find::Place| Place::of(&pages[place.document], place, &lines[&place.document]);
        let places: Vec<Place> = group.places.iter().map(place).collect();
        let mut finding = Finding {
            kind: group.kind,
            grade: Grade::Error,
            reasons: Vec::new(),
            primary: places.len() - 1,
            fingerprint: fingerprint(&places),
            pairs: group.pairs.into_iter().map(|(indices, found)| Pair::new(&places, indices, found)).collect(),
            places,
            accepted: false,
            reason: None,
            proposal: None,
            limits: Vec::new(),
        };
        // The file that contains the other stays as it is.
        let shown = finding.shown();
        if let Some(whole) = shown.whole() {
            finding.look_at(shown.indices[1 - whole]);
        }
        finding
    }

    /// Adds places. The index of the first of them is the number of places before.
    pub(super) fn add_places(&mut self, added: Vec<Added>) {
        if added.is_empty() {
            return;
        }
        for Added { from, place, runs } in added {
            let indices = [from, self.places.len()];
            self.pairs.push(Pair::added(self.kind, [self.places[from].clone(), place.clone()], indices, runs));
            self.places.push(place);
        }
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_by(|&x, &y| {
            let key = |index: usize| (self.places[index].path(), self.places[index].words.start);
            key(x).cmp(&key(y))
        });
        let mut positions = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| positions[old] = new);
        let position = |old: usize| positions[old];
        self.places = order.iter().map(|&index| self.places[index].clone()).collect();
        for pair in &mut self.pairs {
            pair.indices = pair.indices.map(position);
            if pair.indices[0] > pair.indices[1] {
                pair.turn();
            }
        }
        self.pairs.sort_by_key(|pair| (pair.indices[1], pair.indices[0]));
        self.fingerprint = fingerprint(&self.places);
        self.look_at(position(self.primary));
    }

    /// The pairs on the way from one place to another, by index, each with whether the way goes from its other place to its first.
    fn way(&self, one: usize, other: usize) -> Vec<(usize, bool)> {
        // By which pair each place is reached, and from which place.
        let mut reached: Vec<Option<(usize, usize)>> = vec![None; self.places.len()];
        let mut of_place: Vec<Vec<usize>> = vec![Vec::new(); self.places.len()];
        for (number, pair) in self.pairs.iter().enumerate() {
            pair.indices.iter().for_each(|&index| of_place[index].push(number));
        }
        let mut left = vec![other];
        while let Some(place) = left.pop().filter(|place| *place != one) {
            for &pair in &of_place[place] {
                let [first, second] = self.pairs[pair].indices;
                let next = first + second - place;
                if next != other && reached[next].is_none() {
                    reached[next] = Some((pair, place));
                    left.push(next);
                }
            }
        }
        let mut way = Vec::new();
        let mut at = one;
        while let Some((pair, next)) = reached[at].filter(|_| at != other) {
            way.push((pair, self.pairs[pair].indices[1] == at));
            at = next;
        }
        way
    }

    /// The runs from one place to another one, by way of those between them. Words that one of these lacks do not count.
    pub(super) fn runs_between(&self, one: usize, other: usize) -> Vec<Run> {
        let whole = &self.places[one].words;
        let mut runs = vec![Run { a: whole.start, b: whole.start, tokens: whole.len() }];
        for (pair, is_back) in self.way(one, other) {
            let pair = &self.pairs[pair];
            runs = if is_back { composed(&runs, &turned(&pair.runs)) } else { composed(&runs, &pair.runs) };
        }
        runs
    }

    /// Makes a pair of two places, instead of the first pair on the way between them, if they share at least half of the shorter one.
    pub(super) fn connect(&mut self, one: usize, other: usize) {
        let way = self.way(one, other);
        let [first, second] = [one.min(other), one.max(other)];
        let runs = self.runs_between(first, second);
        let places = [first, second].map(|index| self.places[index].clone());
        let matched: usize = runs.iter().map(|run| run.tokens).sum();
        if way.len() < 2 || 2 * matched < places.iter().map(|place| place.words.len()).min().unwrap_or_default() {
            return;
        }
        self.pairs[way[0].0] = Pair::added(self.kind, places, [first, second], runs);
        self.pairs.sort_by_key(|pair| (pair.indices[1], pair.indices[0]));
        self.look_at(self.primary);
    }

    /// Whether this names it: its fingerprint, or `PATH:LINE` of the start of one of its places, as reports have it, perhaps with a column.
    /// The path is any that leads to the page, or relative to the root of the repository.
    pub(super) fn is_named(&self, typed: &str, root: Option<&Path>) -> bool {
        let is_at = |place: &Place| {
            let start = place.stretch.start;
            let lines = [format!(":{}", start.line), format!(":{}:{}", start.line, start.column)];
            let mut paths = lines.iter().filter_map(|line| typed.strip_suffix(line.as_str()));
            paths.any(|path| {
                path == place.path()
                    || path == place.page.path_in(root)
                    || resolved(Path::new(path)) == place.page.place
            })
        };
        self.fingerprint == typed || self.places.iter().any(is_at)
    }

    /// The place to look at.
    pub fn primary(&self) -> &Place {
        &self.places[self.primary]
    }

    /// The key by which reports order findings: the page and the position of the primary place.
    pub(super) fn listed_by(&self) -> (&str, usize, usize) {
        let place = self.primary();
        (place.path(), place.words.start, place.words.end)
    }

    /// The other places, in order.
    pub fn others(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().enumerate().filter(|(index, _)| *index != self.primary).map(|(_, place)| place)
    }

    /// Whether it is new, given which of its places are.
    pub(super) fn is_new_by(&self, new: &[bool]) -> bool {
        self.places.iter().zip(new).any(|(place, is_new)| *is_new && place.origin != Origin::Version)
    }

    /// Marks the places that are new, and looks at the first of them.
    pub(super) fn mark_new(&mut self, new: &[bool]) {
        let ages: Vec<Age> = new.iter().map(|&is_new| if is_new { Age::New } else { Age::Old }).collect();
        self.mark_ages(&ages);
    }

    /// Marks how long the text has been at each place. Looks at the first of the newest, unless all are old.
    pub(super) fn mark_ages(&mut self, ages: &[Age]) {
        let newest = ages.iter().copied().max().filter(|newest| *newest > Age::Old);
        if let Some(first) = newest.and_then(|newest| ages.iter().position(|age| *age == newest)) {
            self.look_at(first);
        }
        let mark = |place: &mut Place, age: Age| {
            (place.is_new, place.is_edited) = (age > Age::Old, age == Age::Edited);
        };
        self.places.iter_mut().zip(ages).for_each(|(place, &age)| mark(place, age));
        for pair in &mut self.pairs {
            pair.places.iter_mut().zip(pair.indices).for_each(|(place, index)| mark(place, ages[index]));
        }
    }

    /// Marks the places that the grade of the finding is not for, given the highest grade of each. Looks at one of the others: the first of
    /// the newest, else the place that it looks at already, else the last.
    pub(super) fn mark_lesser(&mut self, grades: &[Grade]) {
        let least = self.grade;
        self.places.iter_mut().zip(grades).for_each(|(place, grade)| place.is_lesser = *grade < least);
        let of_grade = || (0..self.places.len()).filter(|&index| !self.places[index].is_lesser);
        let newest = of_grade().map(|index| self.places[index].age()).max().filter(|newest| *newest > Age::Old);
        let found = match newest {
            Some(newest) => of_grade().find(|&index| self.places[index].age() == newest),
            None => {
                Some(self.primary).filter(|&index| !self.places[index].is_lesser).or_else(|| of_grade().next_back())
            }
        };
        if let Some(index) = found {
            self.look_at(index);
        }
    }

    /// Looks at that place: sets the primary place of the finding and of its pairs.
    pub(super) fn look_at(&mut self, index: usize) {
        self.primary = index;
        for pair in &mut self.pairs {
            pair.primary = usize::from(pair.indices[0] != index);
        }
    }

    /// The pair to show: the primary place and another one; if possible such that the grade is for both, then the one that shares most words.
    pub fn shown(&self) -> &Pair {
        let of_primary = self.pairs.iter().filter(|pair| pair.indices.contains(&self.primary));
        let key = |pair: &&Pair| (!pair.is_lesser, pair.matched, Reverse(pair.indices));
        of_primary.max_by_key(key).expect("pairs connect all places")
    }

    /// The pair of a place with an earlier one, if there is one.
    pub fn of(&self, index: usize) -> Option<&Pair> {
        let first = self.pairs.partition_point(|pair| pair.indices[1] < index);
        self.pairs.get(first).filter(|pair| pair.indices[1] == index)
    }

    /// Its kind as one word.
    pub fn name(&self) -> &'static str {
        name(self.kind)
    }

    /// The words of its longest place.
    pub fn words(&self) -> usize {
        self.places.iter().map(|place| place.words.len()).max().unwrap_or_default()
    }

    /// The lowest and the highest similarity among its pairs, in percent; of a file that a larger one contains, the share of it.
    fn percents(&self) -> [u32; 2] {
        let percents = || self.pairs.iter().map(Pair::percent);
        [percents().min().unwrap_or_default(), percents().max().unwrap_or_default()]
    }

    /// A description on one line.
    pub fn summary(&self) -> String {
        self.summary_with(|place| &place.page.path)
    }

    /// [`summary`](Self::summary) with other names for the files.
    pub(super) fn summary_with<'a, S: AsRef<str>>(&'a self, name: impl Fn(&'a Place) -> S) -> String {
        if let [pair] = &self.pairs[..] {
            return pair.summary_with(name);
        }
        let alike = match self.percents() {
            [least, most] if least == most => format!("{least} %"),
            [least, most] => format!("{least} to {most} %"),
        };
        let (words, places) = (self.words(), self.places.len());
        match self.parts() {
            _ if self.kind != Kind::File => {
                format!("{} of {words} words in {places} places, {alike} alike", self.name())
            }
            Some(parts) if parts.iter().all(|(part, _)| *part == parts[0].0) => {
                let shares = || parts.iter().map(|(_, share)| *share);
                let share = match [shares().min(), shares().max()].map(Option::unwrap_or_default) {
                    [least, most] if least == most => format!("{least} %"),
                    [least, most] => format!("{least} to {most} %"),
                };
                format!("{share} of {} is in {} pages", name(&self.places[parts[0].0]).as_ref(), parts.len())
            }
            _ if self.pairs.iter().any(|pair| pair.whole().is_some()) => {
                let words = self.pairs.iter().map(Pair::compared_words).max().unwrap_or_default();
                format!("text of {words} words in {places} places, {alike} alike")
            }
            _ => format!("whole file of {words} words in {places} places, {alike} alike"),
        }
    }

    /// If larger files contain another in each pair, the index of the place of that file, and its share in percent.
    fn parts(&self) -> Option<Vec<(usize, u32)>> {
        let of = |pair: &Pair| pair.part().map(|part| (pair.indices[part], pair.percent()));
        self.pairs.iter().map(of).collect()
    }
}

/// A kind as one word.
pub(super) fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Passage => "passage",
        Kind::Paragraph => "paragraph",
    }
}

impl Pair {
    fn new(places: &[Place], indices: [usize; 2], found: find::Finding) -> Self {
        Pair {
            kind: found.kind,
            places: indices.map(|index| places[index].clone()),
            indices,
            primary: 1,
            matched: found.matched,
            similarity: 0.0,
            contained: found.containment().map(|part| part.value()),
            runs: found.runs,
            is_lesser: false,
        }
        .measured()
    }

    /// Two places with these indices.
    pub(super) fn added(kind: Kind, places: [Place; 2], indices: [usize; 2], runs: Vec<Run>) -> Self {
        let matched: usize = runs.iter().map(|run| run.tokens).sum();
        let lengths = places.each_ref().map(|place| place.words.len());
        let contained = lengths.map(|length| matched as f64 / length as f64);
        Pair { kind, places, indices, primary: 1, matched, similarity: 0.0, contained, runs, is_lesser: false }
            .measured()
    }

    /// The same with its similarity.
    fn measured(self) -> Self {
        let [part, whole] = self.ratio();
        Pair { similarity: part as f64 / whole.max(1) as f64, ..self }
    }

    /// The similarity as a fraction.
    fn ratio(&self) -> [usize; 2] {
        match self.part() {
            Some(part) => [self.matched, self.places[part].page.words().len()],
            None => [2 * self.matched, self.places.iter().map(|place| place.words.len()).sum()],
        }
    }

    /// Exchanges the two places.
    fn turn(&mut self) {
        self.places.reverse();
        self.indices.reverse();
        self.contained.reverse();
        self.primary = 1 - self.primary;
        self.runs.iter_mut().for_each(|run| std::mem::swap(&mut run.a, &mut run.b));
        self.runs.sort_unstable();
    }

    /// The place to look at, and the other one.
    pub fn primary_first(&self) -> (&Place, &Place) {
        (&self.places[self.primary], &self.places[1 - self.primary])
    }

    /// Its kind as one word.
    pub fn name(&self) -> &'static str {
        name(self.kind)
    }

    /// The words of the longer place.
    pub fn words(&self) -> usize {
        self.places[0].words.len().max(self.places[1].words.len())
    }

    /// The words of the longer place, or of the part if a file contains another.
    pub(super) fn compared_words(&self) -> usize {
        self.whole().map_or(self.words(), |whole| self.places[1 - whole].words.len())
    }

    /// Whether all words of both places match, in any order.
    pub(super) fn has_same_words(&self) -> bool {
        self.places.iter().all(|place| place.words.len() == self.matched)
    }

    /// Whether the matching words are in another order in the other place.
    pub(super) fn is_reordered(&self) -> bool {
        !self.runs.is_sorted_by_key(|run| run.b)
    }

    /// The [similarity](Self::similarity) in percent, rounded down. Never 100 if the places differ, unless a larger file contains all words of
    /// the other.
    pub fn percent(&self) -> u32 {
        let is_whole = self.part().is_some() || self.has_same_words() && !self.is_reordered();
        let [part, whole] = self.ratio();
        percent(part, whole).min(if is_whole { 100 } else { 99 })
    }

    /// For a file contained in a larger one: which place it is.
    fn part(&self) -> Option<usize> {
        // The place in the larger file can be a part of it.
        let [a, b] = self.places.each_ref().map(|place| percent(self.matched, place.page.words().len()));
        (self.kind == Kind::File && a.abs_diff(b) > 10).then_some(usize::from(a < b))
    }

    /// The index of the larger file that contains the other, if there is one.
    pub(super) fn whole(&self) -> Option<usize> {
        self.part().map(|part| 1 - part)
    }

    /// A description on one line, with names for the files.
    pub(super) fn summary_with<'a, S: AsRef<str>>(&'a self, name: impl Fn(&'a Place) -> S) -> String {
        let alike = || format!("{} words, {} % alike", self.words(), self.percent());
        match (self.part(), self.kind) {
            (Some(part), _) => {
                let [part, whole] = [part, 1 - part].map(|side| name(&self.places[side]));
                let share = self.percent();
                format!("{share} % of {} is in {}", part.as_ref(), whole.as_ref())
            }
            (None, Kind::File) => format!("whole file of {}", alike()),
            (None, _) => format!("{} of {}", self.name(), alike()),
        }
    }

    /// Both texts, in the order of one of the places. Words that only the other place has follow the run that they follow there.
    pub(super) fn pieces(&self, order: usize) -> Vec<Piece> {
        let words = |side: usize, words: &Range<usize>| &self.places[side].page.words()[words.clone()];
        let shared = |piece| match piece {
            // Too few words for a run, such as a heading between parts in another order.
            Piece::Edited([a, b]) if words(0, &a) == words(1, &b) => Piece::Shared([a, b]),
            piece => piece,
        };
        pieces(self.places.each_ref().map(|place| &place.words), &self.runs, order).into_iter().map(shared).collect()
    }
}

/// Identifies a finding: the two smallest hashes of the words of its places.
fn fingerprint(places: &[Place]) -> String {
    let mut hashes: Vec<u64> = places.iter().map(|place| place.page.hash(&place.words)).collect();
    hashes.sort_unstable();
    let [low, high] = [hashes[0], hashes[1]];
    format!("{low:016x}-{high:016x}")
}

fn words_of(run: &Run, side: usize) -> Range<usize> {
    let start = [run.a, run.b][side];
    start..start + run.tokens
}

/// Rounded down.
fn percent(part: usize, whole: usize) -> u32 {
    (100 * part as u64 / whole.max(1) as u64) as u32
}

/// Splits the words of two places into shared and edited parts, in the order of one of them.
fn pieces(places: [&Range<usize>; 2], runs: &[Run], order: usize) -> Vec<Piece> {
    let orders = [0, 1].map(|side| {
        let mut numbers: Vec<usize> = (0..runs.len()).collect();
        numbers.sort_by_key(|&run| words_of(&runs[run], side).start);
        numbers
    });
    // For both places: the words before all runs, then the words after each run.
    let own = [0, 1].map(|side| {
        let mut own = vec![0..0; runs.len() + 1];
        let (mut at, mut start) = (0, places[side].start);
        for &run in &orders[side] {
            let words = words_of(&runs[run], side);
            own[at] = start..words.start.max(start);
            (at, start) = (run + 1, words.end);
        }
        own[at] = start..places[side].end.max(start);
        own
    });
    let edited = |at: usize| Piece::Edited([own[0][at].clone(), own[1][at].clone()]);
    let with_rest = |&run: &usize| [Piece::Shared([0, 1].map(|side| words_of(&runs[run], side))), edited(run + 1)];
    let has_words = |piece: &Piece| match piece {
        Piece::Shared(words) | Piece::Edited(words) => words.iter().any(|words| !words.is_empty()),
    };
    [edited(0)].into_iter().chain(orders[order].iter().flat_map(with_rest)).filter(has_words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_in_another_order() {
        // 0 1 [2 3] 4 [5 6 7], and in the other place [10 11 12] 13 14 [15 16] 17.
        let runs = [Run { a: 2, b: 15, tokens: 2 }, Run { a: 5, b: 10, tokens: 3 }];
        let pieces = |order| pieces([&(0..8), &(10..18)], &runs, order);
        let [one, two] = [Piece::Shared([2..4, 15..17]), Piece::Shared([5..8, 10..13])];
        let [after_one, after_two] = [Piece::Edited([4..5, 17..18]), Piece::Edited([8..8, 13..15])];
        let before = Piece::Edited([0..2, 10..10]);
        let all = [before, one, after_one, two, after_two];
        assert_eq!(pieces(0), all);
        assert_eq!(pieces(1), [0, 3, 4, 1, 2].map(|piece: usize| all[piece].clone()));
    }

    proptest! {
        /// One place has its words in order; the other has each of its words exactly once.
        #[test]
        fn pieces_contain_all_words_of_both_places(
            parts in prop::collection::vec((1usize..4, 0usize..3, 0usize..3), 0..8),
            shuffled in prop::collection::vec(any::<u8>(), 8),
            before in prop::array::uniform2(0usize..3),
        ) {
            let mut runs: Vec<Run> = parts.iter().map(|part| Run { a: 0, b: 0, tokens: part.0 }).collect();
            let mut there: Vec<usize> = (0..runs.len()).collect();
            there.sort_by_key(|&run| shuffled[run]);
            let mut ends = [5 + before[0], 9 + before[1]];
            for run in 0..runs.len() {
                runs[run].a = ends[0];
                ends[0] += parts[run].0 + parts[run].1;
                runs[there[run]].b = ends[1];
                ends[1] += parts[there[run]].0 + parts[there[run]].2;
            }
            let places = [&(5..ends[0]), &(9..ends[1])];
            for order in [0, 1] {
                let shown = pieces(places, &runs, order);
                for side in [0, 1] {
                    let words = shown.iter().flat_map(|piece| match piece {
                        Piece::Shared(words) | Piece::Edited(words) => words[side].clone(),
                    });
                    let mut words: Vec<usize> = words.collect();
                    if side != order {
                        words.sort_unstable();
                    }
                    prop_assert_eq!(words, places[side].clone().collect::<Vec<_>>());
                }
                let shared = shown.iter().filter(|piece| matches!(piece, Piece::Shared(_))).count();
                prop_assert_eq!(shared, runs.len());
            }
        }
    }
}
