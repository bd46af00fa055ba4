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
}

impl Found {
    /// The path of a page as the generator wants it.
    pub fn path(&self, page: &Path) -> String {
        slashed(&relative(&self.folder, page))
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
        (markup == Markup::AsciiDoc).then_some(Found { generator: Generator::AsciiDoc, folder })
    }
}

/// Whether a configuration of MkDocs names the extension for snippets, which is off by default.
fn has_snippets(configuration: &Path) -> bool {
    let file = open_regular(configuration, OpenOptions::new().read(true), Links::Followed);
    let mut text = Vec::new();
    let is_read = file.and_then(|file| file.take(MAX_CONFIGURATION).read_to_end(&mut text)).is_ok();
    is_read && memmem::find(&text, b"pymdownx.snippets").is_some()
}

/// The generator whose files are in a folder, and whether the folder is the root of a repository. The folder is listed once, which
/// takes far less time than to test each file.
fn look_up(folder: &Path) -> (Option<Found>, bool) {
    let first = |sign: &'static str| sign.split('/').next().unwrap_or(sign);
    let is_sign = |name: &OsString| SIGNS.iter().any(|(sign, _)| name == first(sign)) || name == ".git";
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<OsString> = entries.map(|entry| entry.file_name()).filter(is_sign).collect();
    let has = |sign| names.iter().any(|name| name == first(sign)) && folder.join(sign).exists();
    let is_here = |(sign, generator): &(&'static str, Generator)| {
        has(sign) && (*generator != Generator::MkDocs || has_snippets(&folder.join(sign)))
    };
    let found = SIGNS.into_iter().find(is_here).map(|(sign, generator)| {
        let below = sign.strip_suffix("/conf.py").unwrap_or_default();
        Found { generator, folder: folder.join(below) }
    });
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
    fn paths_between_pages() {
        let between = |from, to| Found::between(Path::new(from), Path::new(to));
        assert_eq!(between("/a/b/x.md", "/a/b/y.md"), "./y.md");
        assert_eq!(between("/a/b/x.md", "/a/c/y.md"), "../c/y.md");
        assert_eq!(between("/a/x.md", "/a/c/y.md"), "./c/y.md");
    }
}
