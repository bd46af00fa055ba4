//! Limits by where the places are: release notes, an API reference, translations and versions of one page, and files with a rule.

use super::super::finding::{Finding, Origin, Place};
use super::super::grade::{Grade, Limit, Reason};
use super::super::rules::Side;
use super::super::sources::bytes_of;
use super::files::{About, Files, Named};
use super::licences;
use super::releases::is_version_heading;
use super::sites::is_index;
use crate::prose::Markup;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Copies in an API reference with fewer words are short.
const REFERENCE_WORDS: usize = 150;

/// Maximum number of places that are compared with each other.
const MAX_COMPARED: usize = 96;

/// The limits of a finding by where its places are, and the highest grade of each place.
pub(super) struct Limits {
    pub of_finding: Vec<Limit>,
    pub of_places: Vec<Grade>,
}

/// Places, and the limits of pairs of them.
pub(super) struct Pairs<'a> {
    sites: Vec<Site<'a>>,
    kinds: Kinds,
    /// Some pairs of each kind that count: the grade, the places and the limits.
    compared: Vec<(Grade, [usize; 2], Vec<Limit>)>,
    /// The grade of short texts in a reference.
    reference: Option<Grade>,
    /// Whether only pairs with a new place count.
    has_new: bool,
    /// Whether pairs that rules accept count: there are no others.
    are_accepted: bool,
    /// The pages of the places, and perhaps of whole copies of them: each without its language and version, with these.
    pages: BTreeSet<[&'a str; 3]>,
}

impl<'a> Pairs<'a> {
    /// Those of a finding and perhaps more places of its text. Of pairs that no rule accepts, those that contain new places count or, if
    /// none is marked as new, all.
    ///
    /// Cost: linear in the places, and [`MAX_COMPARED`] squared.
    pub fn new<'p>(finding: &Finding, places: impl Iterator<Item = &'p Place>, files: &'a Files) -> Self {
        Pairs::beside(finding, places, std::iter::empty(), files)
    }

    /// The same where these further places have the text too.
    pub fn beside<'p>(
        finding: &Finding,
        places: impl Iterator<Item = &'p Place>,
        others: impl Iterator<Item = &'p Place>,
        files: &'a Files,
    ) -> Self {
        let sites: Vec<Site> = places.map(|place| Site::new(place, files.about(place))).collect();
        // Short texts in more places of a reference are phrases.
        let is_short = finding.words() < REFERENCE_WORDS;
        let found = finding.places.iter().filter(|place| place.origin == Origin::Found).count();
        let is_phrase = found > 2 && sites.iter().all(|site| site.about.is_reference);
        let reference = is_short.then_some(if is_phrase { Grade::Note } else { Grade::Warning });
        let (kinds, has_new) = (Kinds::of(&sites), sites.iter().any(|site| site.is_new));
        let abouts = sites.iter().map(|site| site.about).chain(others.map(|place| files.about(place)));
        let pages = abouts.map(|about| [about.rest.as_str(), &about.language, &about.version]).collect();
        let mut pairs = Pairs { sites, kinds, compared: Vec::new(), reference, has_new, are_accepted: false, pages };
        pairs.compared = pairs.compare();
        if pairs.compared.is_empty() {
            pairs.are_accepted = true;
            pairs.compared = pairs.compare();
        }
        pairs
    }

    fn compare(&self) -> Vec<(Grade, [usize; 2], Vec<Limit>)> {
        let places = &self.kinds.compared;
        let pairs = (0..places.len()).flat_map(|one| places[one + 1..].iter().map(move |&other| [places[one], other]));
        let graded = |pair| {
            let limits = self.limits_of(pair);
            (grade_of(&limits), pair, limits)
        };
        pairs.filter(|pair| self.counts(*pair)).map(graded).collect()
    }

    fn counts(&self, pair: [usize; 2]) -> bool {
        let [one, other] = pair.map(|place| &self.sites[place]);
        (!self.has_new || one.is_new || other.is_new)
            && (self.are_accepted || !one.about.rules.accepts(&other.about.rules))
    }

    /// The limits of two places.
    pub fn limits_of(&self, pair: [usize; 2]) -> Vec<Limit> {
        let sites = pair.map(|place| &self.sites[place]);
        let mut limits = of_pair(sites, self.reference);
        limits.extend(self.is_of_translation(sites).then_some((Grade::Note, Reason::Translation)));
        limits
    }

    /// Whether the pages of the places have more than one language.
    pub fn have_languages(&self) -> bool {
        self.sites.iter().any(|site| site.about.language != self.sites[0].about.language)
    }

    /// Whether two pages of different languages are not translations of one, and the text is also in the translation of one of them into
    /// the language of the other: that is what the other page copies.
    fn is_of_translation(&self, pair: [&Site; 2]) -> bool {
        let [one, other] = pair.map(|site| site.about);
        let has_one_in = |page: &About, language: &About| {
            self.pages.contains(&[page.rest.as_str(), &language.language, &page.version])
        };
        one.language != other.language && one.rest != other.rest && (has_one_in(one, other) || has_one_in(other, one))
    }

    /// The grade of two places; `None` if they do not count.
    pub fn grade_of(&self, pair: [usize; 2]) -> Option<Grade> {
        self.counts(pair).then(|| grade_of(&self.limits_of(pair)))
    }

    /// Whether each place is in release notes or a dated post.
    pub fn are_release_notes(&self) -> impl Iterator<Item = bool> {
        self.sites.iter().map(|site| site.is_release_notes)
    }

    /// The grades of pairs that count, some of each kind.
    pub fn compared(&self) -> impl Iterator<Item = (Grade, [usize; 2])> {
        self.compared.iter().map(|&(grade, pair, _)| (grade, pair))
    }

    /// The highest grade of a pair.
    pub fn highest(&self) -> Option<Grade> {
        self.compared().map(|(grade, _)| grade).max()
    }

    /// The limits of the most serious pair, so that one more place lowers no grade.
    pub fn limits(&self) -> Limits {
        let mut grades = vec![None::<Grade>; self.kinds.number];
        let (mut highest, mut reasons) = (None, Vec::new());
        for &(grade, pair, ref limits) in &self.compared {
            for kind in pair.map(|place| self.kinds.of_place[place]) {
                grades[kind] = grades[kind].max(Some(grade));
            }
            if highest < Some(grade) {
                (highest, reasons) = (Some(grade), Vec::new());
            }
            if highest == Some(grade) {
                reasons.extend(limits.iter().copied().filter(|limit| limit.0 == grade));
            }
        }
        let grade_of = |kind: &usize| grades[*kind].unwrap_or(Grade::Note);
        Limits { of_finding: reasons, of_places: self.kinds.of_place.iter().map(grade_of).collect() }
    }
}

/// The highest grade that limits allow.
pub(super) fn grade_of(limits: &[Limit]) -> Grade {
    limits.iter().map(|(grade, _)| *grade).min().unwrap_or(Grade::Error)
}

/// A place, and what is known about it and its file.
struct Site<'a> {
    about: &'a About,
    is_new: bool,
    is_release_notes: bool,
    is_licence: bool,
    is_generated: bool,
    is_catalogue: bool,
}

impl<'a> Site<'a> {
    fn new(place: &Place, about: &'a About) -> Self {
        let is_of_version = || place.heading.as_deref().is_some_and(is_version_heading);
        Site {
            about,
            is_new: place.is_new,
            is_release_notes: about.is_release_notes || !about.is_ordinary && is_of_version(),
            is_licence: about.is_licence || licences::is_licence(place),
            is_generated: about.generated.has(&bytes_of(place)),
            is_catalogue: place.page.markup == Markup::Gettext,
        }
    }

    /// What limits depend on, besides the names of two pages.
    fn kind(&self) -> Kind<'a> {
        let About { language, version, folder_version, is_of_old_version, is_reference, is_translation, .. } =
            self.about;
        let marks = [
            self.is_release_notes,
            self.is_generated,
            self.is_licence,
            self.is_catalogue,
            *is_reference,
            *is_translation,
            *is_of_old_version,
            self.about.is_licence_text,
            !self.is_new,
        ];
        let named =
            self.about.named.iter().map(|named| (&named.name, named.folder.as_str(), named.has_version)).collect();
        // First those with the fewest reasons for a lower grade.
        let rule = self.about.rules.grade.unwrap_or(Grade::Error);
        let number = marks.iter().filter(|is| **is).count();
        (Reverse(rule), number, marks, [language, version, folder_version], named, &self.about.rules.allow)
    }
}

type Kind<'a> = (Reverse<Grade>, usize, [bool; 9], [&'a str; 3], Vec<(&'a [String; 3], &'a str, bool)>, &'a [Side]);

/// Places of different kinds: those of one kind differ only by the names of their pages.
struct Kinds {
    /// How many there are.
    number: usize,
    of_place: Vec<usize>,
    /// A few places of each kind, by index.
    compared: Vec<usize>,
}

impl Kinds {
    fn of(sites: &[Site]) -> Self {
        let mut kinds: BTreeMap<Kind, Vec<usize>> = BTreeMap::new();
        sites.iter().enumerate().for_each(|(index, site)| kinds.entry(site.kind()).or_default().push(index));
        let (mut of_place, mut compared) = (vec![0; sites.len()], Vec::new());
        for (kind, places) in kinds.values().enumerate() {
            places.iter().for_each(|&place| of_place[place] = kind);
            compared.extend(examples(sites, places));
        }
        compared.truncate(MAX_COMPARED);
        Kinds { number: kinds.len(), of_place, compared }
    }
}

/// Of places of one kind, the first, and the first others in the same page, in another one, in one with another path without its version,
/// and in one of another name.
fn examples(sites: &[Site], places: &[usize]) -> BTreeSet<usize> {
    let first = places[0];
    let about = |place: usize| sites[place].about;
    let is_other: [fn(&About, &About) -> bool; 4] = [
        |one, other| one.path == other.path,
        |one, other| one.path != other.path,
        |one, other| one.rest != other.rest,
        |one, other| one.file() != other.file(),
    ];
    let first_other =
        |is: fn(&About, &About) -> bool| places[1..].iter().copied().find(|&place| is(about(first), about(place)));
    std::iter::once(first).chain(is_other.into_iter().filter_map(first_other)).collect()
}

/// The limits of a pair, given the grade of short texts in a reference.
fn of_pair(pair: [&Site; 2], reference: Option<Grade>) -> Vec<Limit> {
    let about = pair.map(|site| site.about);
    let all = |is: fn(&Site) -> bool| pair.iter().all(|site| is(site));
    let any = |is: fn(&Site) -> bool| pair.iter().any(|site| is(site));
    let note_or_warning =
        |is: fn(&Site) -> bool, reason| any(is).then_some((if all(is) { Grade::Note } else { Grade::Warning }, reason));
    let rule = about.iter().filter_map(|about| about.rules.grade).min();
    let limits = [
        all(|site| site.is_catalogue).then_some((Grade::Note, Reason::Translation)),
        note_or_warning(|site| site.is_release_notes, Reason::ReleaseNotes),
        reference.filter(|_| all(|site| site.about.is_reference)).map(|grade| (grade, Reason::Reference)),
        of_one_page(&about),
        of_one_folder(&about),
        all(|site| site.about.is_of_old_version).then_some((Grade::Warning, Reason::OldVersion)),
        (all(|site| site.is_licence) || any(|site| site.about.is_licence_text))
            .then_some((Grade::Note, Reason::Licence)),
        note_or_warning(|site| site.is_generated, Reason::Generated),
        rule.map(|grade| (grade, Reason::Rule)),
    ];
    limits.into_iter().flatten().collect()
}

/// Two places in different pages, which are translations or versions of one, or of sites of different versions: a note. Only one of the
/// sites has no version, and the names of the pages differ: a warning.
fn of_one_page(about: &[&About; 2]) -> Option<Limit> {
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
    let grade = if is_note { Grade::Note } else { Grade::Warning };
    let reason = if is_one || has_one_name { Reason::Version } else { Reason::OtherVersion };
    is_version.then_some((grade, reason))
}

/// Two places in versions of one folder, such as `guide-1.2` and `guide-1.3`, each in another one or in another language of one page: a
/// note. One of the folders has no version, and the names of the pages differ: a warning.
fn of_one_folder(about: &[&About; 2]) -> Option<Limit> {
    about[0].named.iter().filter_map(|first| of_one_name(about, &first.name)).min()
}

/// The same of folders of this name: one page can be in versions within others.
fn of_one_name<'a>(about: &[&'a About; 2], name: &[String; 3]) -> Option<Limit> {
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
    let grade = if is_note { Grade::Note } else { Grade::Warning };
    Some((grade, if is_one_page || has_one_file { Reason::Version } else { Reason::OtherVersion }))
}
