//! What the path of a file and the rules say about it: its language and version, and whether it is release notes or an API reference.

use super::super::finding::{Finding, Place};
use super::super::grade::Preset;
use super::super::pages::Page;
use super::super::paths::repository_of;
use super::super::rules::{OfFile, Rules};
use super::generated::Generated;
use super::licences;
use super::releases::{has_versions, is_in, is_release_notes, names};
use super::sites::{Sites, Version};
use super::versions::{is_named, is_number};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// ISO 639-1, without codes that are more often names of topics, such as `ts`, `ml` and `os`.
const LANGUAGES: &str = "aa ab af ak an ar av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cy da de dv dz ee el en eo es et eu fa ff fi fj \
    fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv \
    kw ky la lb lg li ln lo lt lu lv mg mh mi mk mn mr ms mt nb nd ne ng nl nn no nr nv ny oc oj pa pi pl pt qu rm rn ro ru rw sa \
    sd se sg si sk sl sm sn sq sr ss st su sv sw ta te tg th ti tk tl tn tr tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";

/// Names of folders of an API reference.
const REFERENCE: &str = "api apis reference references apidoc apidocs api-reference autoapi javadoc -autosummary generated commands \
    command-reference cli cli-reference rest-api http-api rest-reference crd crds";

/// Pages whose names end with this are references too.
const REFERENCE_END: &str = "-reference";

/// What is known about a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    /// Its path within the repository; without one, as given.
    pub path: String,
    /// The path without the parts that name a language or a version; and those parts, empty if there are none.
    pub rest: String,
    pub language: String,
    pub version: String,
    /// The version that its folders name.
    pub folder_version: String,
    /// The folders that are versions by their names, such as `guide-1.2`, if there are others of the name beside them.
    pub named: Vec<Named>,
    /// Whether there are pages of a newer numbered version beside the folder of its own.
    pub is_of_old_version: bool,
    /// Whether neither its name nor its headings make it release notes or a reference.
    pub is_ordinary: bool,
    pub is_release_notes: bool,
    pub is_reference: bool,
    pub is_translation: bool,
    pub is_licence: bool,
    /// Whether it consists of a licence: copies of that are no text of another page.
    pub is_licence_text: bool,
    pub generated: Generated,
    /// The rules for it.
    pub rules: OfFile,
}

/// A folder that is a version by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Where it is, and its name without the version.
    pub name: [String; 3],
    pub folder: String,
    /// Whether the name has a version: a number, or a word such as `latest`.
    pub has_version: bool,
    /// The path of the page without the version, and without the parts that name a language or another version.
    pub rest: String,
}

impl Named {
    fn new(Version { site, folder, rest, name: [before, after], version }: Version) -> Self {
        let mut about = About::default();
        about.add_path(&format!("{site}{before}-{after}/{rest}"));
        Named {
            name: [site, before, after].map(String::from),
            folder: folder.into(),
            has_version: version.is_some(),
            rest: about.rest,
        }
    }
}

impl About {
    /// What the path, the beginning of the file and these rules say. `has_versions` says whether its headings are of versions.
    pub fn new(path: &str, source: &str, rules: OfFile, has_versions: impl FnOnce() -> bool) -> Self {
        let has = |preset| rules.presets.contains(&preset);
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let is_ordinary = has(Preset::Ordinary);
        let is_named_reference = || {
            names(folder).any(|name| is_in(REFERENCE, &name)) || names(file).any(|name| name.ends_with(REFERENCE_END))
        };
        let mut about = About {
            is_ordinary,
            is_release_notes: has(Preset::Changelogs) || !is_ordinary && is_release_notes(path, has_versions),
            is_reference: has(Preset::Reference) || !is_ordinary && is_named_reference(),
            is_translation: has(Preset::Translations),
            is_licence: licences::is_named(file),
            is_licence_text: licences::is_text(file, source),
            generated: Generated::of(source),
            path: path.into(),
            ..About::default()
        };
        about.add_path(path);
        about.rules = rules;
        about
    }

    fn add_path(&mut self, path: &str) {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        folder.split('/').for_each(|name| self.add_folder(name));
        self.version.push_str(&self.folder_version);
        self.add_file(file);
    }

    fn add_folder(&mut self, name: &str) {
        match name {
            "" | "i18n" => {}
            // Of Docusaurus.
            "versioned_docs" | "docusaurus-plugin-content-docs" => self.rest.push_str("docs/"),
            _ if is_language(name) && self.language.is_empty() => self.language = name.to_ascii_lowercase(),
            _ if is_version(name) => self.folder_version.extend([name, "/"]),
            _ => self.rest.extend([name, "/"]),
        }
    }

    /// Makes a folder of its path that of its version.
    fn set_version(&mut self, folder: &str) {
        self.folder_version = format!("{folder}/");
        self.version.insert_str(0, &self.folder_version);
        let mut names: Vec<&str> = self.rest.split('/').collect();
        if let Some(at) = names.iter().position(|name| *name == folder) {
            names.remove(at);
        }
        self.rest = names.join("/");
    }

    /// Adds the name of the file, such as `page.md`, `page.de.md` or `README_zh-CN.md`.
    fn add_file(&mut self, file: &str) {
        let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
        let tagged = stem.rsplit_once(['.', '_']).or_else(|| stem.split_once('-'));
        let tagged = tagged.filter(|(_, tag)| self.language.is_empty() && is_language(tag));
        let (stem, tag) = tagged.unwrap_or((stem, ""));
        self.language.push_str(&tag.to_ascii_lowercase());
        for part in stem.split_inclusive(['-', ' ']) {
            match version_end(part) {
                Some((name, version)) => {
                    self.rest.push_str(name);
                    self.version.extend([version, "/"]);
                }
                None => self.rest.push_str(part),
            }
        }
        let length = self.rest.trim_end_matches(['-', '_', '.', ' ']).len();
        self.rest.truncate(length);
        self.rest.extend([".", ending]);
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        self.rest.rsplit_once('/').map_or(&self.rest, |(_, file)| file)
    }
}

/// What is known about the files of findings, by path.
pub(super) struct Files(BTreeMap<String, About>);

impl Files {
    /// `pages` are all pages.
    pub fn of(findings: &[Finding], pages: &[Arc<Page>], rules: &Rules) -> Self {
        let repository = pages.first().and_then(|page| repository_of(&page.place));
        let path_of = |page: &Page| page.path_in(repository.as_deref());
        let paths: Vec<String> = pages.iter().map(|page| path_of(page)).collect();
        let sites = Sites::of(paths.iter().map(String::as_str));
        let mut files = BTreeMap::new();
        for place in findings.iter().flat_map(|finding| &finding.places) {
            if !files.contains_key(place.path()) {
                let page = &place.page;
                let rules = rules.of_file(&page.place);
                let mut about = About::new(&graded_path(page), &page.source, rules, || has_versions(page));
                let path = path_of(page);
                about.is_of_old_version = sites.has_newer(&path);
                about.named = sites.named(&path).map(Named::new).collect();
                if let Some(folder) = sites.unnumbered(&path).filter(|_| about.folder_version.is_empty()) {
                    about.set_version(folder);
                }
                files.insert(place.path().to_string(), about);
            }
        }
        Files(files)
    }

    /// Whether two places are in translations of one page.
    pub fn are_translations(&self, places: &[Place; 2]) -> bool {
        let [one, other] = places.each_ref().map(|place| self.about(place));
        one.language != other.language && one.rest == other.rest && one.version == other.version
    }

    /// What is known about the file of a place.
    pub fn about(&self, place: &Place) -> &About {
        &self.0[place.path()]
    }
}

/// The languages of pages.
pub struct Languages {
    /// What the path of each page says.
    pages: Vec<About>,
    /// Each page without its language and version, with these. Empty if no page has a language.
    known: BTreeSet<[String; 3]>,
}

impl Languages {
    pub fn of(pages: &[Arc<Page>]) -> Self {
        let repository = pages.first().and_then(|page| repository_of(&page.place));
        let about = |page: &Arc<Page>| {
            let mut about = About::default();
            about.add_path(&page.path_in(repository.as_deref()));
            about
        };
        let pages: Vec<About> = pages.iter().map(about).collect();
        let has_languages = pages.iter().any(|page| !page.language.is_empty());
        let key = |About { rest, language, version, .. }: &About| [rest, language, version].map(String::clone);
        let known = pages.iter().filter(|_| has_languages).map(key).collect();
        Languages { pages, known }
    }

    /// Whether two pages, by index, have different languages and are not translations of one page, and one of them has a translation into
    /// the language of the other.
    pub fn is_of_translation(&self, pages: [usize; 2]) -> bool {
        let [one, other] = pages.map(|page| &self.pages[page]);
        let has_in = |About { rest, version, .. }: &About, About { language, .. }: &About| {
            self.known.contains(&[rest, language, version].map(String::clone))
        };
        one.language != other.language && one.rest != other.rest && (has_in(one, other) || has_in(other, one))
    }
}

/// The path of a page within its own repository.
fn graded_path(page: &Page) -> String {
    page.path_in(repository_of(&page.place).as_deref())
}

/// Whether it is a language tag: a code of ISO 639-1, and perhaps a script or a region.
fn is_language(tag: &str) -> bool {
    let (code, region) = tag.split_once(['-', '_']).map_or((tag, None), |(code, region)| (code, Some(region)));
    let is_region =
        |region: &str| (2..=4).contains(&region.len()) && region.bytes().all(|byte| byte.is_ascii_alphabetic());
    code.len() == 2 && is_in(LANGUAGES, &code.to_ascii_lowercase()) && region.is_none_or(is_region)
}

/// Whether a folder is named like a version: `v1.2`, `2.x`, `version-2.0`, `latest`.
fn is_version(name: &str) -> bool {
    is_named(name) || is_number(name.strip_prefix("version-").unwrap_or(name))
}

/// Splits a part of the name of a file that ends with a version, such as `argocd_v1.2` or `ROADMAP_2_15`.
fn version_end(part: &str) -> Option<(&str, &str)> {
    let part = part.trim_end_matches(['-', ' ']);
    let start = part.trim_end_matches(|c: char| c.is_ascii_digit() || "._x".contains(c)).len();
    let start = if part[..start].ends_with(['v', 'V']) { start - 1 } else { start };
    let digits = part[start..].trim_start_matches(['_', '.']);
    let (name, version) = part.split_at(part.len() - digits.len());
    let is_whole = !name.ends_with(char::is_alphanumeric) && is_number(&version.replace('_', "."));
    is_whole.then_some((name, version))
}

/// The paths, as given, of pages in folders with the number of a version after a name, such as `guide-1.2`, beside others of that name.
pub fn in_named_versions(pages: &[Arc<Page>], repository: Option<&Path>) -> BTreeSet<String> {
    let paths: Vec<String> = pages.iter().map(|page| page.path_in(repository)).collect();
    let sites = Sites::of(paths.iter().map(String::as_str));
    let is_of_one = |path: &str| sites.named(path).any(|version| version.is_numbered());
    let of_one = pages.iter().zip(&paths).filter(|(_, path)| is_of_one(path));
    of_one.map(|(page, _)| page.path.clone()).collect()
}

/// Whether a page is in a folder of a numbered version.
pub fn is_of_version(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.split('/').any(|name| is_number(name.strip_prefix("version-").unwrap_or(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_languages_and_versions() {
        let of = |path: &str| {
            let About { rest, language, version, .. } = About::new(path, "", OfFile::default(), || false);
            (rest, language, version)
        };
        for (path, expected) in [
            ("docs/de/docs/page.md", ("docs/docs/page.md", "de", "")),
            ("docs/zh-Hant/page.md", ("docs/page.md", "zh-hant", "")),
            ("README_pt-BR.md", ("README.md", "pt-br", "")),
            ("guide/page.ja.md", ("guide/page.md", "ja", "")),
            ("docs/ts/page.md", ("docs/ts/page.md", "", "")),
            ("docs/v1.2/page.md", ("docs/page.md", "", "v1.2/")),
            ("docs/2.x/page.md", ("docs/page.md", "", "2.x/")),
            ("versioned_docs/version-1.0/page.md", ("docs/page.md", "", "version-1.0/")),
            ("i18n/fr/docusaurus-plugin-content-docs/current/page.md", ("docs/page.md", "fr", "current/")),
            ("ROADMAP_2_15.rst", ("ROADMAP.rst", "", "2_15/")),
            ("argocd_v3.3.13.html", ("argocd.html", "", "v3.3.13/")),
            ("upgrading/2.3-2.4.md", ("upgrading/.md", "", "2.3/2.4/")),
            ("bootstrap4.rst", ("bootstrap4.rst", "", "")),
            ("docs/page-2.md", ("docs/page-2.md", "", "")),
            ("docs/12/step-by-step.md", ("docs/12/step-by-step.md", "", "")),
        ] {
            assert_eq!(of(path), (expected.0.into(), expected.1.into(), expected.2.into()), "{path}");
        }
    }

    #[test]
    fn release_notes_and_references_are_recognised_by_their_names() {
        let is = |path: &str| {
            let about = About::new(path, "", OfFile::default(), || false);
            (about.is_release_notes, about.is_reference)
        };
        let notes = [
            "CHANGELOG.md",
            "docs/changes/2.0.rst",
            "docs/release_notes/page.md",
            "docs/What's New.md",
            "4_0_release_notes.md",
            "blog/2024-09-11-beta.md",
            "content/en/blog/2023/kubecon-eu.md",
            "articles/2023/kubecon-eu.md",
            "docs/blog/page.md",
            "2023/_posts/page.md",
            "docs/relnotes/0.8.7.rst",
            "upgrading_rails_4_2.md",
            "unsupported-legacy-releases.md",
        ];
        assert!(notes.iter().all(|path| is(path) == (true, false)));
        let reference = [
            "docs/api/page.md",
            "docs/_autosummary/page.rst",
            "Reference/page.adoc",
            "docs/commands/page.md",
            "rest-api/page.adoc",
            "docs/api-reference.md",
        ];
        assert!(reference.iter().all(|path| is(path) == (false, true)));
        assert!(
            [
                "docs/api.md",
                "docs/historical.md",
                "page.md",
                "blog.md",
                "2023/articles/page.md",
                "docs/2023/page.md",
                "upgrading_rails.md",
                "posts/a.md"
            ]
            .iter()
            .all(|path| is(path) == (false, false))
        );
    }
}
