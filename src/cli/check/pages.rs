//! Pages: the files that are looked at, their words, and where each word stands.

use globset::GlobSet;
use ignore::WalkBuilder;
use neardups::check::{Document, word};
use neardups::prose::{self, Kind, Lines, Markup, Notice, Position, Prose};
use neardups::source;
use neardups::tokenizer::{Keep, Tokenizer, Tokens, Word};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A file, read.
pub struct Page {
    /// Its path as given, with `/`.
    pub path: String,
    pub source: String,
    pub prose: Prose,
    /// Each word by its hash, and where it stands in the prose.
    words: Vec<u64>,
    spans: Vec<Range<u32>>,
    /// The words of each block.
    blocks: Vec<Range<usize>>,
}

/// A stretch of a file. The end is behind its last character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stretch {
    pub start: Position,
    pub end: Position,
}

impl Page {
    fn new(path: String, markup: Markup, source: String, options: &prose::Options) -> Self {
        let prose = prose::read(markup, &source, options);
        let mut page = Page { path, source, words: Vec::new(), spans: Vec::new(), blocks: Vec::new(), prose };
        let mut tokens = Tokens::new(Keep::Everything, 0);
        for block in page.prose.blocks() {
            tokens.clear();
            Word.tokenize(&page.prose.text()[block.text.clone()], &mut tokens);
            let first = page.words.len();
            for token in 0..tokens.len() {
                let span = tokens.span(token);
                page.words.push(word(tokens.text(token)));
                page.spans.push((block.text.start + span.start) as u32..(block.text.start + span.end) as u32);
            }
            page.blocks.push(first..page.words.len());
        }
        page
    }

    pub fn document(&self) -> Document<'_> {
        Document { words: &self.words, blocks: &self.blocks }
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The text of words as a reader sees it, what stands between them included.
    pub fn text(&self, words: Range<usize>) -> &str {
        &self.prose.text()[self.span(words)]
    }

    /// Where words stand in the prose.
    fn span(&self, words: Range<usize>) -> Range<usize> {
        match self.spans.get(words.clone()) {
            Some([first, .., last]) => first.start as usize..last.end as usize,
            Some([only]) => only.start as usize..only.end as usize,
            _ => 0..0,
        }
    }

    /// Where words stand in the file.
    ///
    /// Cost: the lines of the file are counted.
    pub fn stretch(&self, words: Range<usize>) -> Stretch {
        let (lines, source) = (Lines::new(&self.source), self.prose.source_of(self.span(words)));
        Stretch { start: lines.position(source.start), end: lines.position(source.end) }
    }

    /// The heading that words stand under.
    pub fn heading(&self, word: usize) -> Option<&str> {
        let block = self.blocks.partition_point(|block| block.end <= word);
        let block = self.prose.blocks().get(block)?;
        let heading = match block.kind {
            Kind::Heading(_) => block,
            _ => &self.prose.blocks()[block.section?],
        };
        Some(&self.prose.text()[heading.text.clone()])
    }
}

/// What was read, and what was not.
#[derive(Default)]
pub struct Tree {
    /// By path.
    pub pages: Vec<Page>,
    /// Files that could not be read, each with why.
    pub failed: Vec<String>,
    /// What people should know of files that were.
    pub notices: Vec<String>,
    /// Bytes read.
    pub bytes: u64,
}

/// A file longer than this is no page that somebody wrote.
const LONGEST: u64 = 64 << 20;

/// What of a tree is looked at.
pub struct Selection {
    pub ignored: Vec<GlobSet>,
    pub hidden: bool,
    /// Whether `.gitignore` and its like count.
    pub ignore_files: bool,
    pub prose: prose::Options,
}

/// Reads all pages under some paths. A file that is named is read whatever it is called; in folders, those whose name says what markup
/// they have.
pub fn read(paths: &[PathBuf], selection: &Selection) -> Tree {
    let mut tree = Tree::default();
    let files = files(paths, selection, &mut tree.failed);
    let read: Vec<Read> = files.into_par_iter().map(|file| read_page(file, &selection.prose)).collect();
    for page in read {
        match page {
            Err(failed) => tree.failed.push(failed),
            Ok(None) => {}
            Ok(Some((page, bytes, repair))) => {
                let notices = page.prose.notices().iter().map(|notice| match notice {
                    Notice::NeverEnds { line } | Notice::NeverStarted { line } => {
                        format!("{}:{line}: {notice}", page.path)
                    }
                });
                tree.notices.extend(repair.map(|repair| format!("{}: {repair}", page.path)));
                tree.notices.extend(notices);
                tree.bytes += bytes;
                tree.pages.push(page);
            }
        }
    }
    tree
}

/// A page with its length in bytes, and what had to be done to get its text. `None` if it is no text.
type Read = Result<Option<(Page, u64, Option<String>)>, String>;

fn read_page((name, (path, markup, named)): (String, (PathBuf, Markup, bool)), options: &prose::Options) -> Read {
    let failed = |error: io::Error| format!("{name}: cannot read: {error}");
    let mut bytes = Vec::new();
    File::open(&path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("{name}: longer than 64 MiB, which no page is"));
    }
    let text = match source::page_text(&bytes, markup == Markup::Html) {
        Some((text, repair)) => Some((text.into_owned(), repair)),
        None if named => return Err(format!("{name}: not text")),
        None => None,
    };
    let length = bytes.len() as u64;
    Ok(text.map(|(text, repair)| (Page::new(name, markup, text, options), length, repair)))
}

/// The files under some paths, by their names, each with whether it was named.
fn files(
    paths: &[PathBuf],
    selection: &Selection,
    failed: &mut Vec<String>,
) -> BTreeMap<String, (PathBuf, Markup, bool)> {
    let mut files = BTreeMap::new();
    for root in paths {
        let walk = WalkBuilder::new(root)
            .hidden(!selection.hidden)
            .git_ignore(selection.ignore_files)
            .git_global(selection.ignore_files)
            .git_exclude(selection.ignore_files)
            .ignore(selection.ignore_files)
            .parents(selection.ignore_files)
            .require_git(false)
            .build();
        for entry in walk {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    failed.push(error.to_string());
                    continue;
                }
            };
            let named = entry.depth() == 0;
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file() || named && !kind.is_dir());
            let markup = Markup::of_path(entry.path()).or(named.then_some(Markup::Plain));
            let name = shown(entry.path());
            if let Some(markup) =
                markup.filter(|_| is_file && !selection.ignored.iter().any(|globs| globs.is_match(&name)))
            {
                files.entry(name).or_insert((entry.into_path(), markup, named));
            }
        }
    }
    files
}

/// A path as it is told: with `/`, and without what says nothing.
pub fn shown(path: &Path) -> String {
    let shown = path.to_string_lossy().replace('\\', "/");
    shown.strip_prefix("./").map(String::from).unwrap_or(shown)
}
