//! Pages: the files that are looked at, their words, and where each word stands.

use super::globs::Globs;
use ignore::{DirEntry, WalkBuilder};
use neardups::check::{Document, word};
use neardups::prose::{self, Kind, Language, Lines, Markup, Position, Prose};
use neardups::source;
use neardups::tokenizer::{Keep, Tokenizer, Tokens, Word};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A file, read.
pub struct Page {
    /// Its path as given, with `/`.
    pub path: String,
    /// Where it is: absolute, without links.
    pub place: PathBuf,
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
    fn new(file: Named, source: String, options: &prose::Options) -> Self {
        let prose = prose::read(file.markup, &source, options);
        let (words, spans, blocks) = (Vec::new(), Vec::new(), Vec::new());
        let mut page = Page { path: file.name, place: file.place, source, prose, words, spans, blocks };
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

    /// As one of those of which the same is asked.
    pub fn document(&self, scope: usize) -> Document<'_> {
        Document { words: &self.words, blocks: &self.blocks, scope }
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The text of words as a reader sees it, what stands between them included, and what stands at the last one up to white space or
    /// the next word.
    pub fn text(&self, words: Range<usize>) -> &str {
        let (text, next) = (self.prose.text(), self.spans.get(words.end).map(|next| next.start as usize));
        let Range { start, end } = self.span(words);
        let behind = &text[end..next.unwrap_or(text.len()).max(end)];
        &text[start..end + behind.find(char::is_whitespace).unwrap_or(behind.len())]
    }

    /// Where words stand in the prose.
    fn span(&self, words: Range<usize>) -> Range<usize> {
        match self.spans.get(words.clone()) {
            Some([first, .., last]) => first.start as usize..last.end as usize,
            Some([only]) => only.start as usize..only.end as usize,
            _ => 0..0,
        }
    }

    /// Where words stand in the file, whose lines these are.
    pub fn stretch(&self, words: Range<usize>, lines: &Lines) -> Stretch {
        let source = self.prose.source_of(self.span(words));
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
    /// Files that are not looked at because the selection leaves them out.
    pub left_out: Vec<PathBuf>,
    /// What people should know of files that were.
    pub notices: Vec<String>,
    /// Bytes read.
    pub bytes: u64,
}

/// A file longer than this is no page that somebody wrote.
const LONGEST: u64 = 64 << 20;

/// What of a tree is looked at.
pub struct Selection {
    /// Those of the command line, and those of the configuration.
    pub ignored: [Globs; 2],
    /// Files that this program wrote, and writes again.
    pub written: Vec<PathBuf>,
    pub hidden: bool,
    /// Whether `.gitignore` and its like count.
    pub ignore_files: bool,
    /// Whether source files are pages of documentation.
    pub docstrings: bool,
    pub prose: prose::Options,
}

impl Selection {
    fn leaves_out(&self, place: &Path) -> bool {
        self.ignored.iter().any(|globs| globs.find(place)) || self.written.iter().any(|written| written == place)
    }
}

/// Reads all pages under some paths. A file that is named is read whatever it is called; in folders, those whose name says what markup
/// they have.
pub fn read(paths: &[PathBuf], selection: &Selection) -> Tree {
    let mut tree = Tree::default();
    let files = files(paths, selection, &mut tree);
    let read: Vec<Read> = files.into_par_iter().map(|file| read_page(file, &selection.prose)).collect();
    // In the order of the folder, which is any.
    tree.failed.sort_unstable();
    for page in read {
        match page {
            Err(failed) => tree.failed.push(failed),
            Ok(None) => {}
            Ok(Some((page, bytes, repair))) => {
                let notices = page.prose.notices().iter().map(|notice| {
                    let (line, told) = (notice.line(), notice.to_string());
                    format!("{}:{line}: {}", page.path, told.split_once(": ").map_or(told.as_str(), |told| told.1))
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

fn read_page(file: Named, options: &prose::Options) -> Read {
    let failed = |error: io::Error| format!("{}: cannot read: {error}", file.name);
    let mut bytes = Vec::new();
    File::open(&file.path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("{}: longer than 64 MiB, which no page is", file.name));
    }
    let text = match source::page_text(&bytes, file.markup == Markup::Html) {
        Some((text, repair)) => Some((text.into_owned(), repair)),
        None if file.given => return Err(format!("{}: not text", file.name)),
        None => None,
    };
    let length = bytes.len() as u64;
    Ok(text.map(|(text, repair)| (Page::new(file, text, options), length, repair)))
}

/// A file to read.
struct Named {
    /// As it is told.
    name: String,
    path: PathBuf,
    /// Where it is: absolute, without links.
    place: PathBuf,
    markup: Markup,
    /// Whether the file itself was given, not a folder that it is in.
    given: bool,
}

/// The files under some paths, by their names. What is reached in two ways is one file.
fn files(paths: &[PathBuf], selection: &Selection, tree: &mut Tree) -> Vec<Named> {
    let mut files = BTreeMap::new();
    for root in paths {
        let place = fs::canonicalize(root).unwrap_or_else(|_| root.clone());
        for entry in walk(root, selection) {
            match entry {
                Ok(entry) => {
                    let Some(file) = named(&entry, root, &place, selection.docstrings) else { continue };
                    if selection.leaves_out(&file.place) {
                        tree.left_out.push(file.place);
                    } else {
                        let given = file.given;
                        files.entry(file.place.clone()).or_insert(file).given |= given;
                    }
                }
                Err(error) => tree.failed.push(unread(&error)),
            }
        }
    }
    let mut files: Vec<Named> = files.into_values().collect();
    files.sort_by(|x, y| x.name.cmp(&y.name));
    files
}

fn walk(root: &Path, selection: &Selection) -> ignore::Walk {
    WalkBuilder::new(root)
        .hidden(!selection.hidden)
        .git_ignore(selection.ignore_files)
        .git_global(selection.ignore_files)
        .git_exclude(selection.ignore_files)
        .ignore(selection.ignore_files)
        .parents(selection.ignore_files)
        .require_git(false)
        .build()
}

/// What could not be looked at, and why.
fn unread(error: &ignore::Error) -> String {
    let inner = error.io_error().and_then(io::Error::get_ref);
    let inner = inner.and_then(|inner| inner.downcast_ref::<walkdir::Error>());
    match inner.and_then(|inner| Some((inner.path()?, inner.io_error()?))) {
        Some((path, error)) => format!("{}: cannot read: {error}", shown(path)),
        None => error.to_string(),
    }
}

/// What was met under a path, if it is a file to read.
fn named(entry: &DirEntry, root: &Path, place: &Path, docstrings: bool) -> Option<Named> {
    let given = entry.depth() == 0;
    let is_file = match given {
        true => !entry.path().is_dir(),
        false => entry.file_type().is_some_and(|kind| kind.is_file()),
    };
    let language = Language::of_path(entry.path()).filter(|_| docstrings);
    let markup = Markup::of_path(entry.path()).or(language.map(Markup::Docstrings)).or(given.then_some(Markup::Plain));
    let place = match entry.path().strip_prefix(root) {
        Ok(inside) if !given => place.join(inside),
        _ => place.to_path_buf(),
    };
    let (name, path) = (shown(entry.path()), entry.path().to_path_buf());
    markup.filter(|_| is_file).map(|markup| Named { name, path, place, markup, given })
}

/// A path as it is told: with `/`, and without what says nothing.
pub fn shown(path: &Path) -> String {
    let shown = path.to_string_lossy();
    let shown = if cfg!(windows) { shown.replace('\\', "/") } else { shown.into_owned() };
    shown.strip_prefix("./").map(String::from).unwrap_or(shown)
}
