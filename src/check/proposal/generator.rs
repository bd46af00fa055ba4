//! The generator that makes a site of some pages, by the files of its folder.

use super::super::paths::relative;
use crate::prose::Markup;
use crate::replace::{Links, open_regular};
use memchr::memmem;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A program that makes pages for readers, and can include parts of other pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generator {
    MkDocs,
    Sphinx,
    Antora,
    /// Asciidoctor, with any program.
    AsciiDoc,
    Docusaurus,
    Astro,
    Hugo,
    VitePress,
    MdBook,
    Quarto,
}

/// Maximum number of bytes of a configuration that are read.
const MAX_CONFIGURATION: u64 = 1 << 20;

/// Files and folders that show a generator, in the folder that its pages are below.
const SIGNS: [(&str, Generator); 23] = [
    ("mkdocs.yml", Generator::MkDocs),
    ("mkdocs.yaml", Generator::MkDocs),
    ("zensical.toml", Generator::MkDocs),
    ("conf.py", Generator::Sphinx),
    ("source/conf.py", Generator::Sphinx),
    ("antora.yml", Generator::Antora),
    ("docusaurus.config.js", Generator::Docusaurus),
    ("docusaurus.config.ts", Generator::Docusaurus),
    ("docusaurus.config.mjs", Generator::Docusaurus),
    ("astro.config.mjs", Generator::Astro),
    ("astro.config.ts", Generator::Astro),
    ("astro.config.js", Generator::Astro),
    ("hugo.toml", Generator::Hugo),
    ("hugo.yaml", Generator::Hugo),
    ("hugo.json", Generator::Hugo),
    ("config/_default", Generator::Hugo),
    ("archetypes", Generator::Hugo),
    (".vitepress", Generator::VitePress),
    ("book.toml", Generator::MdBook),
    ("_quarto.yml", Generator::Quarto),
    ("_quarto.yaml", Generator::Quarto),
    ("docs/conf.py", Generator::Sphinx),
    ("doc/conf.py", Generator::Sphinx),
];

impl Generator {
    /// Whether it reads pages in this markup, so that it can include text in one.
    fn reads(self, markup: Markup) -> bool {
        use Generator::{Antora, AsciiDoc, Astro, Docusaurus, Sphinx};
        match markup {
            Markup::Markdown => !matches!(self, Antora | AsciiDoc | Astro),
            Markup::Mdx => matches!(self, Docusaurus | Astro),
            Markup::ReStructuredText => self == Sphinx,
            Markup::AsciiDoc => matches!(self, Antora | AsciiDoc),
            Markup::Html
            | Markup::Plain
            | Markup::Docstrings(_)
            | Markup::Notebook
            | Markup::Gettext
            | Markup::OpenApi => false,
        }
    }
}

/// The generator of a page, and the folder that its paths are relative to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub generator: Generator,
    folder: PathBuf,
    /// Folders that paths are relative to instead, if the configuration names any.
    bases: Vec<PathBuf>,
}

impl Found {
    /// The path of a page as the generator wants it: from the nearest folder above it.
    pub fn path(&self, page: &Path) -> String {
        let above = self.bases.iter().filter(|base| page.starts_with(base));
        let nearest = above.max_by_key(|base| base.components().count());
        slashed(&relative(nearest.or(self.bases.first()).unwrap_or(&self.folder), page))
    }

    /// The path from one page to another, beginning with `./` or `../`.
    pub fn between(from: &Path, to: &Path) -> String {
        let path = slashed(&relative(from.parent().unwrap_or(from), to));
        if path.starts_with("../") { path } else { format!("./{path}") }
    }
}

/// A path with `/` between its names.
fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The generators of folders, and whether each is the root of a repository, looked up once each.
#[derive(Default)]
pub(super) struct Generators(BTreeMap<PathBuf, (Option<Found>, bool)>);

impl Generators {
    /// The generator of a page of this markup, given as an absolute path without links: the nearest one upward that reads its markup, up to the root of
    /// the repository.
    pub fn of(&mut self, page: &Path, markup: Markup) -> Option<Found> {
        for folder in page.ancestors().skip(1) {
            let known = self.0.entry(folder.to_path_buf());
            let (found, is_root) = known.or_insert_with(|| look_up(folder));
            if let Some(found) = found.as_ref().filter(|found| found.generator.reads(markup)) {
                return Some(found.clone());
            }
            if *is_root {
                break;
            }
        }
        let folder = page.parent()?.to_path_buf();
        (markup == Markup::AsciiDoc).then_some(Found { generator: Generator::AsciiDoc, folder, bases: Vec::new() })
    }
}

/// The folders that snippets of MkDocs are looked up in, by its configuration: none if it does not name the extension for them, which is off by
/// default.
fn snippets(folder: &Path, configuration: &str) -> Option<Vec<PathBuf>> {
    let file = open_regular(&folder.join(configuration), OpenOptions::new().read(true), Links::Followed);
    let mut text = Vec::new();
    file.and_then(|file| file.take(MAX_CONFIGURATION).read_to_end(&mut text)).ok()?;
    memmem::find(&text, b"pymdownx.snippets")?;
    Some(
        base_paths(&String::from_utf8_lossy(&text))
            .iter()
            .map(|base| folder.join(base).components().collect())
            .collect(),
    )
}

/// The values of `base_path`: a word, a list in brackets, or a list of lines; in YAML or TOML. Those with a tag (`!relative`) are not
/// folders by themselves.
fn base_paths(configuration: &str) -> Vec<&str> {
    let mut lines = configuration.lines();
    let value = lines.find_map(|line| {
        let rest = line.trim_start().trim_start_matches("- ").strip_prefix("base_path")?.trim_start();
        rest.strip_prefix([':', '='])
    });
    let Some(value) = value else { return Vec::new() };
    let plain = |value| {
        let value: &str = value;
        value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\''])
    };
    let listed = |value: &str| value.trim_start().starts_with('[');
    let values: Vec<&str> = match plain(value) {
        "" => lines.map_while(|line| line.trim_start().strip_prefix("- ")).map(plain).collect(),
        _ if listed(value) => {
            let inside = plain(value).trim_start_matches('[').split(']').next().unwrap_or_default();
            inside.split(',').map(plain).collect()
        }
        value => vec![value],
    };
    values.into_iter().filter(|value| !value.is_empty() && !value.starts_with(['!', '$'])).collect()
}

/// The generator whose files are in a folder, and whether the folder is the root of a repository. The folder is listed once, which
/// takes far less time than to test each file.
fn look_up(folder: &Path) -> (Option<Found>, bool) {
    let first = |sign: &'static str| sign.split('/').next().unwrap_or(sign);
    let is_sign = |name: &OsString| SIGNS.iter().any(|(sign, _)| name == first(sign)) || name == ".git";
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<OsString> = entries.map(|entry| entry.file_name()).filter(is_sign).collect();
    let has = |sign| names.iter().any(|name| name == first(sign)) && folder.join(sign).exists();
    let here = |(sign, generator): (&'static str, Generator)| {
        let below = sign.strip_suffix("/conf.py").unwrap_or_default();
        let bases = match generator {
            _ if !has(sign) => return None,
            Generator::MkDocs => snippets(folder, sign)?,
            _ => Vec::new(),
        };
        Some(Found { generator, folder: folder.join(below), bases })
    };
    let found = SIGNS.into_iter().find_map(here);
    (found, has(".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_generator_that_reads_the_markup() {
        let tree = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(tree.path()).unwrap();
        for file in [".git/HEAD", "mkdocs.yml", "docs/conf.py", "docs/a/b/page.md", "docs/a/antora.yml"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "markdown_extensions: [pymdownx.snippets]").unwrap();
        }
        let mut generators = Generators::default();
        let mut of = |path: &str| {
            let found = generators.of(&root.join(path), Markup::of_path(path)?)?;
            Some((found.generator, found.path(&root.join(path))))
        };
        assert_eq!(of("page.md"), Some((Generator::MkDocs, "page.md".into())));
        assert_eq!(of("docs/a/b/page.md"), Some((Generator::Sphinx, "a/b/page.md".into())));
        assert_eq!(of("docs/a/page.rst"), Some((Generator::Sphinx, "a/page.rst".into())));
        assert_eq!(of("docs/a/modules/ROOT/page.adoc"), Some((Generator::Antora, "modules/ROOT/page.adoc".into())));
        assert_eq!(of("page.adoc"), Some((Generator::AsciiDoc, "page.adoc".into())));
        assert_eq!(of("page.txt"), None);
        assert_eq!(of("page.mdx"), None);
    }

    #[test]
    fn snippets_are_below_their_base_paths() {
        for (configuration, expected) in [
            ("pymdownx.snippets", "docs/_partials/a.md"),
            ("- pymdownx.snippets:\n    base_path: docs\n", "_partials/a.md"),
            ("- pymdownx.snippets:\n    base_path: \"docs\"  # here\n", "_partials/a.md"),
            ("- pymdownx.snippets:\n    base_path: [., 'docs']\n", "_partials/a.md"),
            (
                "- pymdownx.snippets:\n    base_path:\n      - docs/_partials\n      - other\n    check_paths: true\n",
                "a.md",
            ),
            ("- pymdownx.snippets:\n    base_path: !relative $config_dir\n", "docs/_partials/a.md"),
            ("- pymdownx.snippets:\n    base_path: includes\n", "../docs/_partials/a.md"),
        ] {
            let tree = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(tree.path()).unwrap();
            fs::create_dir_all(root.join("docs/_partials")).unwrap();
            fs::write(root.join("mkdocs.yml"), format!("markdown_extensions:\n  {configuration}")).unwrap();
            let page = root.join("docs/_partials/a.md");
            let found = Generators::default().of(&page, Markup::Markdown).unwrap();
            assert_eq!(found.path(&page), expected, "{configuration}");
        }
        assert_eq!(base_paths("base_path = [\"docs\", \"more\"]\n"), ["docs", "more"]);
        assert_eq!(base_paths("site_name: x\n"), [""; 0]);
    }

    #[test]
    fn paths_between_pages() {
        let between = |from, to| Found::between(Path::new(from), Path::new(to));
        assert_eq!(between("/a/b/x.md", "/a/b/y.md"), "./y.md");
        assert_eq!(between("/a/b/x.md", "/a/c/y.md"), "../c/y.md");
        assert_eq!(between("/a/x.md", "/a/c/y.md"), "./c/y.md");
    }
}
