//! Grades: how much a finding is worth a reviewer's time, and why.

use serde::Serialize;
use std::fmt;

/// How much a finding is worth a reviewer's time. Ordered: notes are the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Text that is expected to occur twice, such as release notes of two branches, or the skeleton of a page.
    Note,
    /// Text that is probably meant to occur twice.
    Warning,
    /// Copied prose.
    Error,
}

impl Grade {
    /// All of them, the most serious first.
    pub const ALL: [Grade; 3] = [Grade::Error, Grade::Warning, Grade::Note];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Note => "note",
            Grade::Warning => "warning",
            Grade::Error => "error",
        }
    }

    /// The grade with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Grade::ALL.into_iter().find(|grade| grade.name() == name)
    }
}

/// What is known about some files: their findings are graded like those of files whose paths show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Preset {
    /// Changelogs, release notes and news: copies among them are notes.
    Changelogs,
    /// An API reference: short copies among its pages are warnings or notes.
    Reference,
    /// Translated pages: copies between files of one name are notes.
    Translations,
    /// Ordinary pages: names and headings as of release notes, posts or an API reference do not count.
    Ordinary,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 4] = [Preset::Changelogs, Preset::Reference, Preset::Translations, Preset::Ordinary];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Changelogs => "changelogs",
            Preset::Reference => "reference",
            Preset::Translations => "translations",
            Preset::Ordinary => "ordinary",
        }
    }
}

/// Why a finding is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// No run of matching words within one block is as long as a paragraph: headings and short template sentences.
    Skeleton,
    /// Fewer words than a sentence or two: see [`strict`](super::find::FindOptions::strict).
    Short,
    /// Places are in changelogs, release notes, news or dated posts.
    ReleaseNotes,
    /// The places are pages of an API reference.
    Reference,
    /// Rows of tables or items of lists that are worded alike, such as options.
    Options,
    /// Sections of one page that are worded alike.
    Parallel,
    /// Lists of links.
    Navigation,
    /// One place, or what is around it, links to the page of the other.
    Linked,
    /// Most of both places is code, which differs.
    Code,
    /// Translations of a page that contain text in the original language.
    Translation,
    /// Versions of one page.
    Version,
    /// Different pages, at least one of them of a version.
    OtherVersion,
    /// Pages of an older version.
    OldVersion,
    /// Licence texts.
    Licence,
    /// Pages that a program wrote.
    Generated,
    /// A rule of the configuration limits the grade.
    Rule,
}

impl Reason {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Skeleton => "skeleton",
            Reason::Short => "short",
            Reason::ReleaseNotes => "release-notes",
            Reason::Reference => "reference",
            Reason::Options => "options",
            Reason::Parallel => "parallel",
            Reason::Navigation => "navigation",
            Reason::Linked => "linked",
            Reason::Code => "code",
            Reason::Translation => "translation",
            Reason::Version => "version",
            Reason::OtherVersion => "other-version",
            Reason::OldVersion => "old-version",
            Reason::Licence => "licence",
            Reason::Generated => "generated",
            Reason::Rule => "rule",
        }
    }
}

/// The highest grade that a finding may have, and why.
pub(super) type Limit = (Grade, Reason);

/// For people.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Skeleton => "headings and short sentences of a template",
            Reason::Short => "a short text",
            Reason::ReleaseNotes => "release notes or dated posts",
            Reason::Reference => "pages of an API reference",
            Reason::Options => "rows or items that are worded alike",
            Reason::Parallel => "sections of one page that are worded alike",
            Reason::Navigation => "lists of links",
            Reason::Linked => "the text leads to its copy",
            Reason::Code => "the code differs",
            Reason::Translation => "text that is not translated yet",
            Reason::Version => "versions of one page",
            Reason::OtherVersion => "another page of another version",
            Reason::OldVersion => "pages of an older version",
            Reason::Licence => "licence texts",
            Reason::Generated => "pages that a program wrote",
            Reason::Rule => "a rule of the configuration",
        })
    }
}
