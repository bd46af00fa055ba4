//! Pages: the files that are checked, their words, and the position of each word.

use super::error::SinceError;
use super::find::{Document, word};
use super::globs::Globs;
use super::paths::{shortest, shown};
use super::staged::Staged;
use super::texts::Texts;
use super::walk::{Found, Inside, Walk};
use crate::hash::sequence_hash;
use crate::prose::{self, Kind, Language, Lines, Markup, Position, Prose};
use crate::replace::resolve_existing;
use crate::source;
use crate::tokenizer::{TokenDetail, Tokenizer, Tokens, Word};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};
use walkdir::DirEntry;

/// Brackets and quotes that belong to the next word, even without white space before them.
const OPENING: &str = "([{<«‹“‘„‚「『（［｛《〈【";

/// A file that was read.
#[derive(Debug)]
pub struct Page {
    /// Its path as given, with `/` as separator.
    pub path: String,
    /// Its absolute path without links.
    pub place: PathBuf,
    pub(super) markup: Markup,
    pub(super) source: String,
    pub(super) prose: Prose,
    /// The hash of each word, and its span in the prose.
    words: Vec<u64>,
    spans: Vec<Range<u32>>,
    /// The words of each block.
    blocks: Vec<Range<usize>>,
    /// The words that start a sentence within a block.
    sentences: Vec<u32>,
    /// The indices of blocks that are headings.
    headings: Vec<u32>,
    /// Where in the prose words start that do not count.
    left_out: Vec<u32>,
    /// The hash of all words, computed when first needed.
    hash: OnceLock<u64>,
}

/// A stretch of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stretch {
    /// Its first character.
    pub start: Position,
    /// After its last character.
    pub end: Position,
}

/// Consecutive words of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The index of the block.
    pub block: usize,
    pub kind: Kind,
    /// How many words the whole block has.
    pub size: usize,
    pub words: Range<usize>,
}

impl Page {
    /// The path within a repository, so that neither the folders above nor the current folder make a difference. Outside of it, as given.
    pub fn path_in(&self, repository: Option<&Path>) -> String {
        let inside = repository.and_then(|repository| self.place.strip_prefix(repository).ok());
        inside.map_or_else(|| self.path.clone(), shown)
    }

    /// Words of `texts` do not count.
    fn new(file: Named, source: String, options: &prose::ProseOptions, texts: &Texts) -> Self {
        let markup = file.markup.of_text(&source);
        let prose = prose::read(markup, &source, options);
        let mut page = Page {
            path: file.name,
            place: file.place,
            markup,
            source,
            prose,
            words: Vec::new(),
            spans: Vec::new(),
            blocks: Vec::new(),
            sentences: Vec::new(),
            headings: Vec::new(),
            left_out: Vec::new(),
            hash: OnceLock::new(),
        };
        let mut tokens = Tokens::new(TokenDetail::Everything, 0);
        for block in page.prose.blocks() {
            let text = &page.prose.text()[block.text.clone()];
            tokens.clear();
            Word.tokenize(text, &mut tokens);
            let (first, mut before) = (page.words.len(), 0);
            for token in 0..tokens.len() {
                let span = tokens.span(token);
                // Mostly one blank is between two words.
                if token > 0 && span.start > before + 1 && ends_sentence(&text[before..span.start]) {
                    page.sentences.push(page.words.len() as u32);
                }
                page.words.push(word(tokens.text(token)));
                page.spans.push((block.text.start + span.start) as u32..(block.text.start + span.end) as u32);
                before = span.end;
            }
            if matches!(block.kind, Kind::Heading(_)) {
                page.headings.push(page.blocks.len() as u32);
            }
            page.blocks.push(first..page.words.len());
        }
        let found = texts.find(&page.words);
        if !found.is_empty() {
            page.leave_out(&found);
        }
        page.words.shrink_to_fit();
        page.spans.shrink_to_fit();
        page
    }

    /// Removes these words. Blocks without words stay, so that their indices do.
    fn leave_out(&mut self, ranges: &[Range<usize>]) {
        let mut stays = vec![true; self.words.len()];
        ranges.iter().for_each(|range| stays[range.clone()].fill(false));
        // How many words before each one stay.
        let mut before = vec![0];
        before.extend(stays.iter().scan(0, |number, stays| {
            *number += usize::from(*stays);
            Some(*number)
        }));
        let mut own = stays.iter();
        self.words.retain(|_| own.next() == Some(&true));
        let left_out = self.spans.iter().zip(&stays).filter(|(_, stays)| !**stays);
        self.left_out = left_out.map(|(span, _)| span.start).collect();
        let mut own = stays.iter();
        self.spans.retain(|_| own.next() == Some(&true));
        for block in &mut self.blocks {
            *block = before[block.start]..before[block.end];
        }
        // Sentences start within a block.
        let starts: BTreeSet<usize> = self.blocks.iter().flat_map(|block| [block.start, block.end]).collect();
        let sentences = self.sentences.iter().map(|&start| before[start as usize]);
        let mut sentences: Vec<u32> =
            sentences.filter(|start| !starts.contains(start)).map(|start| start as u32).collect();
        sentences.dedup();
        self.sentences = sentences;
    }

    /// Why less than half of the page counts, if so. Of some markups most is never text.
    fn mostly_unread(&self) -> Option<String> {
        let is_text =
            matches!(self.markup, Markup::Markdown | Markup::Mdx | Markup::ReStructuredText | Markup::AsciiDoc);
        let why = self.prose.mostly_unread(&self.source).filter(|_| is_text)?;
        Some(why.to_string())
    }

    /// The page as input of the finder. Pages with the same scope have the same rules.
    pub(super) fn document(&self, scope: usize) -> Document<'_> {
        let Page { words, blocks, sentences, headings, .. } = self;
        Document { words, blocks, sentences, headings, scope }
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// A hash of some words. The hash of all words is cached, because it is needed for each page contained in this one.
    pub(super) fn hash(&self, words: &Range<usize>) -> u64 {
        let hash = || (sequence_hash(&self.words[words.clone()], 0) >> 64) as u64;
        if *words == (0..self.words.len()) { *self.hash.get_or_init(hash) } else { hash() }
    }

    /// The text of words as a reader sees it, with the text between them and the punctuation at both ends, within the block.
    pub(super) fn text(&self, words: Range<usize>) -> &str {
        let Some(block) = words.clone().next_back().and_then(|last| self.block(last)) else { return "" };
        let end = self.end_before(words.end).min(self.prose.blocks()[block].text.end);
        self.prose.text()[self.start_of(words.start)..end].trim_end()
    }

    /// The text of words up to where the text of the next word starts: the texts of consecutive words add up to the whole text.
    pub(super) fn text_to_next(&self, words: Range<usize>) -> &str {
        let start = self.start_of(words.start);
        &self.prose.text()[start..self.end_before(words.end).max(start)]
    }

    /// Where the text of the words before this one ends: where its own starts, or before that text which does not count.
    fn end_before(&self, word: usize) -> usize {
        let last = word.checked_sub(1).map_or(0, |last| self.spans[last].end);
        let left_out = self.left_out.get(self.left_out.partition_point(|&start| start < last));
        left_out.map_or(usize::MAX, |&start| start as usize).min(self.start_of(word))
    }

    /// The start of a word's text: after white space, or at brackets and quotes that open before it. Otherwise, characters between two
    /// words belong to the first.
    fn start_of(&self, word: usize) -> usize {
        let text = self.prose.text();
        let Some(span) = self.spans.get(word) else { return text.len() };
        let before = word.checked_sub(1).map_or(0, |before| self.spans[before].end as usize);
        let gap = &text[before..span.start as usize];
        let is_first = word == 0 && !gap.contains(char::is_whitespace);
        let own = match gap.rsplit_once(char::is_whitespace) {
            Some((_, own)) => own.len(),
            None if is_first => gap.len(),
            None => gap.len() - gap.trim_end_matches(|c| OPENING.contains(c)).len(),
        };
        span.start as usize - own
    }

    /// The words before and after a range, at most `limit` on each side and within the same blocks; and whether the blocks have more.
    pub(super) fn around(&self, words: &Range<usize>, limit: usize) -> [(Range<usize>, bool); 2] {
        let block = |word: usize| self.block(word).map(|block| self.blocks[block].clone());
        let start = block(words.start).map_or(words.start, |block| block.start.max(words.start.saturating_sub(limit)));
        let end = words.clone().next_back().and_then(block).map_or(words.end, |block| block.end.min(words.end + limit));
        let more = |word: Option<usize>, next: usize| word.and_then(|word| self.block(word)) == self.block(next);
        [
            (start..words.start, start < words.start && more(start.checked_sub(1), start)),
            (words.end..end, words.end < end && more(Some(end - 1), end)),
        ]
    }

    /// The parts of these words that are in one block each, in order.
    pub(super) fn parts(&self, words: Range<usize>) -> impl Iterator<Item = Part> + '_ {
        let first = self.blocks.partition_point(|block| block.end <= words.start);
        let blocks = self.blocks[first..].iter().enumerate().take_while(move |(_, block)| block.start < words.end);
        blocks.filter(|(_, block)| !block.is_empty()).map(move |(number, block)| Part {
            block: first + number,
            kind: self.prose.blocks()[first + number].kind,
            size: block.len(),
            words: block.start.max(words.start)..block.end.min(words.end),
        })
    }

    /// The index of the block that a word is in.
    fn block(&self, word: usize) -> Option<usize> {
        let block = self.blocks.partition_point(|block| block.end <= word);
        (block < self.blocks.len()).then_some(block)
    }

    /// The span of words in the prose.
    pub(super) fn span(&self, words: Range<usize>) -> Range<usize> {
        match self.spans.get(words.clone()) {
            Some([first, .., last]) => first.start as usize..last.end as usize,
            Some([only]) => only.start as usize..only.end as usize,
            _ => 0..0,
        }
    }

    /// The number of letters of words, and of those in the texts of links.
    pub(super) fn letters(&self, words: Range<usize>) -> [usize; 2] {
        self.prose.letters(self.span(words))
    }

    /// The file from one word up to another, or to its end, with markup.
    pub(super) fn source_between(&self, word: usize, other: usize) -> &str {
        let start =
            |word: usize| (word < self.words.len()).then(|| self.prose.source_of(self.span(word..word + 1)).start);
        let start_of_other = start(other).unwrap_or(self.source.len());
        start(word).and_then(|start| self.source.get(start..start_of_other)).unwrap_or_default()
    }

    /// The position of words in the file, which has these lines.
    pub(super) fn stretch(&self, words: Range<usize>, lines: &Lines) -> Stretch {
        let source = self.prose.source_of(self.span(words));
        Stretch { start: lines.position(source.start), end: lines.position(source.end) }
    }

    /// The heading that a word is under.
    pub(super) fn heading(&self, word: usize) -> Option<&str> {
        self.headings(word).next()
    }

    /// The headings that a word is under, the nearest first.
    pub(super) fn headings(&self, word: usize) -> impl Iterator<Item = &str> {
        let blocks = self.prose.blocks();
        let nearest = self.block(word).and_then(|block| match blocks[block].kind {
            Kind::Heading(_) => Some(block),
            _ => blocks[block].section,
        });
        let headings = std::iter::successors(nearest, |&heading| blocks[heading].section);
        headings.map(|heading| &self.prose.text()[blocks[heading].text.clone()])
    }
}

/// Whether a sentence ends between two words of a block: at a full stop or another mark that white space follows. An abbreviation counts
/// as an end too.
fn ends_sentence(between: &str) -> bool {
    let mut has_mark = false;
    between.chars().any(|character| {
        has_mark |= matches!(character, '.' | '!' | '?' | '…');
        matches!(character, '。' | '！' | '？') || has_mark && character.is_whitespace()
    })
}

/// The files that were read, and those that were not.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Tree {
    /// Ordered by path.
    pub pages: Vec<Arc<Page>>,
    /// Files that could not be read, each with the reason.
    pub failed: Vec<String>,
    /// Files excluded by globs.
    pub left_out: Vec<PathBuf>,
    /// Hidden files and folders, and those excluded by `.gitignore` and similar files. The flag marks folders.
    pub skipped: Vec<(PathBuf, bool)>,
    /// Files that could not be read or are not text: their absolute paths, and their paths as given.
    pub unread: Vec<(PathBuf, String)>,
    /// Warnings about files that were read, and about links and ignore files that were not followed.
    pub notices: Vec<String>,
    /// Files of folders whose names are those of data, such as `requirements.txt`: their paths as given, which are not read.
    pub data: Vec<String>,
    /// How many files were left out because they are not in the index of git, if only those are read.
    pub untracked: usize,
    /// How many files under the paths the last commit has and the index of git has not, if only the index is read.
    pub removed: usize,
    /// Bytes read.
    pub bytes: u64,
}

impl Tree {
    fn add(&mut self, page: Page, bytes: u64) {
        self.bytes += bytes;
        self.pages.push(Arc::new(page));
    }
}

/// Maximum size of a page in bytes. A larger file is not documentation.
pub(super) const MAX_PAGE_BYTES: u64 = 64 << 20;

/// Which files are read, and how.
pub(super) struct Selection {
    /// Globs of files to exclude.
    pub ignored: [Globs; 2],
    /// Files written by this program: reports and the baseline.
    pub written: Vec<PathBuf>,
    pub walk: Walk,
    /// Whether source files are pages of documentation.
    pub docstrings: bool,
    /// Whether a text is a report of an earlier run.
    pub is_report: fn(&str) -> bool,
    pub prose: prose::ProseOptions,
    /// Texts whose words do not count.
    pub texts: Texts,
}

impl Selection {
    fn leaves_out(&self, place: &Path) -> bool {
        self.ignored.iter().any(|globs| globs.find(place)) || self.written.iter().any(|written| written == place)
    }

    /// The markup of a page, by its name.
    pub fn markup_of(&self, place: &Path) -> Option<Markup> {
        markup_of(place, self.docstrings)
    }

    /// Whether it depends on its text, too, whether a file is a page.
    pub fn depends_on_text(place: &Path) -> bool {
        may_be_openapi(place) || is_include(place)
    }

    /// The name of a file that does not exist any longer, if it would be read as a page under one of these roots. Ignore files are not
    /// consulted: git knew the file.
    pub fn would_read(&self, roots: &[Root], place: &Path) -> Option<String> {
        let is_given = || roots.iter().any(|root| root.place == place);
        if self.leaves_out(place) || self.markup_of(place).is_none() || is_named_data(place) && !is_given() {
            return None;
        }
        let is_hidden =
            |inside: &Path| inside.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
        roots.iter().find_map(|root| {
            let inside = place.strip_prefix(&root.place).ok()?;
            (self.walk.hidden || !is_hidden(inside)).then(|| root.name_of(place))?
        })
    }
}

/// A file or folder that is checked.
pub(super) struct Root {
    /// Its path as given.
    given: PathBuf,
    /// Its absolute path without links. It may not exist.
    pub place: PathBuf,
    /// The current folder, if the path leads out of it.
    here: Option<PathBuf>,
}

impl Root {
    pub fn new(given: &Path) -> Self {
        let place = resolve_existing(given).unwrap_or_else(|| given.to_path_buf());
        let leads_out = given.components().any(|part| part == Component::ParentDir);
        let here = leads_out.then(|| std::env::current_dir().and_then(fs::canonicalize).ok()).flatten();
        Root { given: given.to_path_buf(), place, here }
    }

    /// A path in it as shown in messages.
    fn shown(&self, path: &Path) -> String {
        self.here.as_ref().map_or_else(|| shown(path), |here| shown(&shortest(here, path)))
    }

    /// The name of a file in it, or of itself.
    fn name_of(&self, place: &Path) -> Option<String> {
        let inside = place.strip_prefix(&self.place).ok()?;
        Some(if inside.as_os_str().is_empty() { self.shown(&self.given) } else { self.shown(&self.given.join(inside)) })
    }
}

/// A page as it was, from its bytes; `None` if it was not text.
pub(super) fn old_page(
    name: String,
    markup: Markup,
    place: &Path,
    bytes: &[u8],
    selection: &Selection,
) -> Option<Page> {
    if is_code(place, bytes) {
        return None;
    }
    let file = Named { name, path: place.to_path_buf(), place: place.to_path_buf(), markup, given: true };
    page_of(file, bytes, selection).ok()?.ok().map(|(page, ..)| page)
}

/// Reads all pages under some paths. A named file is read whatever its extension; in folders, only files with a known extension. With
/// `staged`, only those in the index of git, with their texts there.
///
/// Pages for which `is_noticed` is false give no notices.
///
/// # Errors
/// Git cannot read a text.
pub(super) fn read(
    roots: &[Root],
    selection: &Selection,
    staged: Option<&Staged>,
    is_noticed: impl Fn(&Path) -> bool,
) -> Result<Tree, SinceError> {
    let mut tree = Tree::default();
    let mut files = files(roots, selection, staged, &mut tree);
    if let Some(staged) = staged {
        let walked = files.len();
        files.retain(|file| staged.has(&file.place));
        tree.untracked = walked - files.len();
        tree.removed = roots.iter().map(|root| staged.index.removed(&root.place).count()).sum();
        add_absent(&mut files, roots, selection, staged, &mut tree);
    }
    let places: Vec<_> = files.iter().map(|file| (file.place.clone(), file.name.clone())).collect();
    let read: Vec<Read> = match staged {
        Some(staged) => read_staged(files, selection, staged)?,
        None => files.into_par_iter().map(|file| read_page(file, selection)).collect(),
    };
    let mut mostly_unread: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (page, place) in read.into_iter().zip(places) {
        let is_noticed = is_noticed(&place.0);
        match page {
            Err(failed) => {
                tree.failed.push(failed);
                tree.unread.push(place);
            }
            Ok(Err(why)) => {
                tree.notices.extend(is_noticed.then(|| format!("{}: skipped: {why}", place.1)));
                tree.unread.push(place);
            }
            Ok(Ok((page, bytes, _))) if !is_noticed => tree.add(page, bytes),
            Ok(Ok((page, bytes, repair))) => {
                let notices = page.prose.notices().iter().map(|notice| {
                    let (line, text) = (notice.line(), notice.to_string());
                    format!("{}:{line}: {}", page.path, text.split_once(": ").map_or(text.as_str(), |text| text.1))
                });
                if let Some(why) = page.mostly_unread() {
                    mostly_unread.entry(why).or_default().push(page.path.clone());
                }
                tree.notices.extend(repair.map(|repair| format!("{}: {repair}", page.path)));
                tree.notices.extend(notices);
                tree.add(page, bytes);
            }
        }
    }
    tree.notices.extend(mostly_unread.iter().map(|(why, pages)| {
        let more = also(&pages[1..]);
        format!("{}: less than half of the page counts: {why}{more}", pages[0])
    }));
    Ok(tree)
}

/// Maximum number of pages that are named beside the first of them.
const MAX_ALSO: usize = 4;

/// `(also of a.md, b.md)` for more pages that a notice is about, after a blank.
fn also(pages: &[String]) -> String {
    match pages.len().saturating_sub(MAX_ALSO) {
        _ if pages.is_empty() => String::new(),
        0 => format!(" (also {})", pages.join(", ")),
        more => format!(" (also {}, and {more} more)", pages[..MAX_ALSO].join(", ")),
    }
}

/// A page, its size in bytes, and a notice about its encoding; or why it is none.
type Read = Result<Result<(Page, u64, Option<String>), &'static str>, String>;

/// Adds files of the index that the walk did not find, because the working tree does not have them.
fn add_absent(files: &mut Vec<Named>, roots: &[Root], selection: &Selection, staged: &Staged, tree: &mut Tree) {
    let found: BTreeSet<PathBuf> = files.iter().map(|file| file.place.clone()).collect();
    let left_out: BTreeSet<PathBuf> = tree.left_out.iter().cloned().collect();
    for root in roots {
        let mut inside = Inside::new(selection.walk, &root.place, &root.given, Some(staged.index));
        for place in staged.index.files().filter(|place| place.starts_with(&root.place)) {
            let given = place == root.place;
            let is_known = found.contains(place) || left_out.contains(place);
            let Some(name) = root.name_of(place).filter(|_| !is_known && !inside.leaves_out(place)) else { continue };
            let Some(markup) = markup_within(place, place, given, selection.docstrings, Some(staged)) else { continue };
            if selection.leaves_out(place) {
                tree.left_out.push(place.to_path_buf());
            } else {
                let [path, place] = [place, place].map(Path::to_path_buf);
                files.push(Named { name, path, place, markup, given });
            }
        }
        tree.notices.extend(inside.into_notices());
    }
    tree.notices.sort_unstable();
    tree.notices.dedup();
    // One root may contain another. A file that is named itself is so in each.
    files.sort_by(|x, y| (&x.place, !x.given, &x.name).cmp(&(&y.place, !y.given, &y.name)));
    files.dedup_by(|x, y| x.place == y.place);
    files.sort_by(|x, y| in_order(x).cmp(&in_order(y)));
}

/// What files are sorted by: their places, so that the order does not depend on the current folder, which names are relative to.
fn in_order(file: &Named) -> (Cow<'_, str>, &str) {
    (file.place.to_string_lossy(), &file.name)
}

fn too_large(file: &Named) -> String {
    format!("{}: larger than 64 MiB, the limit for a page", file.name)
}

/// Reads files of the index with their texts there, and others as they are. In their order.
///
/// Beside the pages, texts of less than twice the limit of one page are in memory.
fn read_staged(files: Vec<Named>, selection: &Selection, staged: &Staged) -> Result<Vec<Read>, SinceError> {
    let is_stored = |(_, file): &(usize, Named)| staged.index.object(&file.place).is_some();
    let (stored, others): (Vec<_>, Vec<_>) = files.into_iter().enumerate().partition(is_stored);
    let mut read: BTreeMap<usize, Read> =
        others.into_par_iter().map(|(number, file)| (number, read_page(file, selection))).collect();
    let places: Vec<PathBuf> = stored.iter().map(|(_, file)| file.place.clone()).collect();
    let (mut stored, mut batch, mut bytes) = (stored.into_iter(), Vec::new(), 0);
    let page = |((number, file), text): ((usize, Named), Option<Vec<u8>>)| match text {
        Some(text) => (number, page_of(file, &text, selection)),
        None => (number, Err(too_large(&file))),
    };
    staged.texts(&places, MAX_PAGE_BYTES, |text| {
        bytes += text.as_ref().map_or(0, Vec::len) as u64;
        batch.extend(stored.next().map(|file| (file, text)));
        if bytes >= MAX_PAGE_BYTES {
            read.par_extend(std::mem::take(&mut batch).into_par_iter().map(page));
            bytes = 0;
        }
    })?;
    read.par_extend(batch.into_par_iter().map(page));
    Ok(read.into_values().collect())
}

fn read_page(file: Named, selection: &Selection) -> Read {
    let failed = |error: io::Error| format!("{}: cannot read: {error}", file.name);
    let mut bytes = Vec::new();
    File::open(&file.path).and_then(|file| file.take(MAX_PAGE_BYTES + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > MAX_PAGE_BYTES {
        return Err(too_large(&file));
    }
    page_of(file, &bytes, selection)
}

/// The page with these bytes.
fn page_of(file: Named, bytes: &[u8], selection: &Selection) -> Read {
    if let Some(what) = source::opaque(bytes) {
        return if file.given { Err(format!("{}: {what}", file.name)) } else { Ok(Err(NOT_TEXT)) };
    }
    if file.given && file.markup != Markup::OpenApi && is_data(&file.path) {
        return Err(format!("{}: records, not a page of documentation (a scan compares records)", file.name));
    }
    let (text, repair) = match source::page_text(bytes, file.markup == Markup::Html) {
        Some((text, repair)) => (text.into_owned(), repair),
        None if file.given => return Err(format!("{}: {}", file.name, compression(bytes).unwrap_or(NOT_TEXT))),
        None => return Ok(Err(NOT_TEXT)),
    };
    if !file.given && (selection.is_report)(&text) {
        return Ok(Err("a report of dedup check"));
    }
    Ok(Ok((Page::new(file, text, &selection.prose, &selection.texts), bytes.len() as u64, repair)))
}

const NOT_TEXT: &str = "not text";

/// Advice for a file that is compressed.
fn compression(bytes: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 4] = [
        (b"\x1f\x8b", "compressed by gzip: decompress it first"),
        (b"\x28\xb5\x2f\xfd", "compressed by zstd: decompress it first"),
        (b"BZh", "compressed by bzip2: decompress it first"),
        (b"\xfd7zXZ\0", "compressed by xz: decompress it first"),
    ];
    KNOWN.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, advice)| *advice)
}

/// Whether the extension of a file is that of data records.
fn is_data(path: &Path) -> bool {
    let is = |extension: &str| ["jsonl", "ndjson", "json", "csv", "tsv", "warc", "wet"].contains(&extension);
    path.extension().is_some_and(|extension| is(&extension.to_string_lossy().to_ascii_lowercase()))
}

/// A file to read.
struct Named {
    /// Its path as shown.
    name: String,
    path: PathBuf,
    /// Its absolute path without links.
    place: PathBuf,
    markup: Markup,
    /// Whether the file itself was named, not a folder that contains it.
    given: bool,
}

/// The files under some paths, by name. A file reached by two paths is listed once.
fn files(roots: &[Root], selection: &Selection, staged: Option<&Staged>, tree: &mut Tree) -> Vec<Named> {
    let (mut files, mut links, mut data) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for named_root in roots {
        let (root, place) = (&named_root.given, &named_root.place);
        // A commit may remove a folder.
        let is_absent = || fs::symlink_metadata(root).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if staged.is_some_and(|staged| staged.index.knows(place)) && is_absent() {
            continue;
        }
        if root.as_os_str() == "-" {
            tree.failed.push("-: standard input cannot be checked: name files or folders".into());
            continue;
        }
        selection.walk.under(root, place, staged.map(|staged| staged.index), &mut |found| match found {
            Found::Entry(entry, place) if entry.depth() > 0 && entry.path_is_symlink() => {
                let target = fs::canonicalize(entry.path()).ok();
                let path = entry.path();
                let is_page =
                    Markup::of_path(path).is_some() || selection.docstrings && Language::of_path(path).is_some();
                if (is_page || target.as_ref().is_some_and(|target| target.is_dir())) && !selection.leaves_out(&place) {
                    links.entry(place).or_insert_with(|| (named_root.shown(path), target));
                }
            }
            Found::Entry(entry, place) if entry.depth() > 0 && entry.file_type().is_file() && is_named_data(&place) => {
                if selection.leaves_out(&place) {
                    tree.left_out.push(place);
                } else if staged.is_none_or(|staged| staged.has(&place)) {
                    data.insert(place, named_root.shown(entry.path()));
                }
            }
            Found::Entry(entry, place) => {
                let Some(file) = named(&entry, place, named_root, selection.docstrings, staged) else { return };
                if selection.leaves_out(&file.place) {
                    tree.left_out.push(file.place);
                } else {
                    let given = file.given;
                    files.entry(file.place.clone()).or_insert(file).given |= given;
                }
            }
            Found::LeftOut(place, is_folder) => tree.skipped.push((place, is_folder)),
            Found::Failed(failed) => tree.failed.push(failed),
            Found::Notice(notice) => tree.notices.push(notice),
        });
    }
    // One may be named itself, too.
    data.retain(|place, _| !files.contains_key(place));
    tree.data = data.into_values().collect();
    tree.data.sort_unstable();
    // The target of a link may be read anyway.
    let is_seen =
        |target: &PathBuf| files.range(target.clone()..).next().is_some_and(|(place, _)| place.starts_with(target));
    links.retain(|_, (_, target)| !target.as_ref().is_some_and(is_seen));
    tree.notices.extend(links.values().map(|(name, _)| name).min().map(|first| match links.len() {
        1 => format!("{first}: a link, not followed"),
        many => format!("{first}: a link, not followed, and {} more", many - 1),
    }));
    // One folder may contain another.
    tree.failed.sort_unstable();
    tree.notices.sort_unstable();
    tree.notices.dedup();
    let mut files: Vec<Named> = files.into_values().collect();
    files.sort_by(|x, y| in_order(x).cmp(&in_order(y)));
    files
}

/// Whether a file may describe an HTTP interface, by its extension.
fn may_be_openapi(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// The entry of a folder as a file to read, if it is one.
fn named(entry: &DirEntry, place: PathBuf, root: &Root, docstrings: bool, staged: Option<&Staged>) -> Option<Named> {
    let given = entry.depth() == 0;
    let is_file = match given {
        true => !entry.path().is_dir(),
        false => entry.file_type().is_file(),
    };
    if !is_file {
        return None;
    }
    let markup = markup_within(entry.path(), &place, given, docstrings, staged)?;
    Some(Named { name: root.shown(entry.path()), path: entry.path().to_path_buf(), place, markup, given })
}

/// The markup of a file, by its name and its first 4 KiB. Those are read from the index of git, if it has the file.
fn markup_within(path: &Path, place: &Path, given: bool, docstrings: bool, staged: Option<&Staged>) -> Option<Markup> {
    if !given && is_named_data(path) {
        return None;
    }
    let beginning = || match staged.and_then(|staged| staged.beginning(place)) {
        Some(beginning) => String::from_utf8_lossy(beginning).into_owned(),
        None => String::from_utf8_lossy(&beginning(path).unwrap_or_default()).into_owned(),
    };
    let is_openapi = || may_be_openapi(path) && Markup::is_openapi(path, &beginning());
    let is_marked_up = || Markup::Plain.of_text(&beginning()) != Markup::Plain;
    let markup = markup_of(path, docstrings).or_else(|| is_openapi().then_some(Markup::OpenApi));
    let markup = markup.filter(|_| !is_include(path) || is_marked_up());
    markup.or(given.then_some(Markup::Plain))
}

/// The markup of a file, by its name.
fn markup_of(path: &Path, docstrings: bool) -> Option<Markup> {
    let language = Language::of_path(path).filter(|_| docstrings);
    let markup = Markup::of_path(path).or(language.map(Markup::Docstrings));
    markup.or_else(|| is_include(path).then_some(Markup::Plain))
}

/// Names of text files that have no prose, without their ending, in lower case, with `-` between words.
const DATA_NAMES: [&str; 15] = [
    "ads",
    "app-ads",
    "checksums",
    "cmakecache",
    "cmakelists",
    "conanfile",
    "llms",
    "llms-full",
    "md5sums",
    "meson-options",
    "robots",
    "sha256sums",
    "sha512sums",
    "spelling-wordlist",
    "wordlist",
];

/// Names of text files for pip are one of these words, alone or with one of the others.
const DATA_WORDS: [&str; 2] = ["requirements", "constraints"];
const DATA_KINDS: &[&str] = &[
    "all",
    "base",
    "build",
    "ci",
    "dev",
    "develop",
    "doc",
    "docs",
    "lint",
    "local",
    "min",
    "optional",
    "prod",
    "production",
    "test",
    "tests",
];

/// Whether a text file has data by its name, such as `CMakeLists.txt`, `dev-requirements.txt`, and all in `name.egg-info`.
fn is_named_data(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase().replace(['_', '.'], "-"));
    let Some(stem) = name.as_deref().and_then(|name| name.strip_suffix("-txt")) else { return false };
    let is_part = |word: &&str| {
        let rest = stem.strip_prefix(word).or_else(|| stem.strip_suffix(word));
        rest.is_some_and(|rest| rest.is_empty() || DATA_KINDS.contains(&rest.trim_matches('-')))
    };
    let folder = path.parent().and_then(Path::extension);
    DATA_NAMES.contains(&stem) || DATA_WORDS.iter().any(is_part) || folder.is_some_and(|ending| ending == "egg-info")
}

/// Whether a file is named like text that pages include, which can also be code.
fn is_include(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("inc"))
}

/// Whether a text is code in a file that is named like text that pages include.
fn is_code(path: &Path, bytes: &[u8]) -> bool {
    let beginning = || String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
    is_include(path) && Markup::Plain.of_text(&beginning()) == Markup::Plain
}

/// How many bytes at the beginning of a file show whether it is a page.
pub(super) const BEGINNING: u64 = 4096;

/// The beginning of a file.
fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    File::open(path)?.take(BEGINNING).read_to_end(&mut beginning)?;
    Ok(beginning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(source: &str) -> Page {
        page_without(source, &[])
    }

    fn page_without(source: &str, texts: &[&str]) -> Page {
        let (name, path) = ("page.txt".to_string(), PathBuf::from("page.txt"));
        let file = Named { name, place: path.clone(), path, markup: Markup::Plain, given: true };
        Page::new(file, source.into(), &prose::ProseOptions::default(), &Texts::new(texts.iter().copied()))
    }

    #[test]
    fn words_of_texts_do_not_count() {
        let page = page_without(
            "One two. Three four. Five\n\nsix seven.\n\nEight. Nine. Ten.\n",
            &["four five six seven", "nine"],
        );
        let text = |words: Range<usize>| page.text(words);
        assert_eq!(
            (0..page.words().len()).map(|word| text(word..word + 1)).collect::<Vec<_>>()[..4],
            ["One", "two.", "Three", "Eight."]
        );
        assert_eq!(page.blocks, [0..3, 3..3, 3..5]);
        assert_eq!(page.sentences, [2, 4]);
        assert_eq!((page.words().len(), text(4..5)), (5, "Ten."));
    }

    #[test]
    fn names_of_data() {
        for name in [
            "CMakeLists.txt",
            "requirements.txt",
            "requirements-dev.txt",
            "dev_requirements.txt",
            "requirements.test.txt",
            "a/constraints.txt",
            "robots.txt",
            "llms-full.txt",
            "spelling_wordlist.txt",
            "neardups.egg-info/SOURCES.txt",
        ] {
            assert!(is_named_data(Path::new(name)), "{name}");
        }
        for name in [
            "requirements.md",
            "LICENSE.txt",
            "notes.txt",
            "robotics.txt",
            "requirements",
            "our-requirements-explained.txt",
            "txt",
        ] {
            assert!(!is_named_data(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn punctuation_belongs_to_the_adjacent_word() {
        let page = page("“See (the end), f(x) – he says」「yes」.\n\n***\n\n(Another one.)\n");
        let text = |words: Range<usize>| (page.text(words.clone()), page.text_to_next(words));
        assert_eq!(page.words().len(), 10);
        assert_eq!(text(0..1), ("“See", "“See "));
        assert_eq!(text(1..3), ("(the end),", "(the end), "));
        assert_eq!(text(3..4), ("f", "f"));
        assert_eq!(text(4..5), ("(x) –", "(x) – "));
        assert_eq!(text(5..7), ("he says」", "he says」"));
        assert_eq!(text(7..8), ("「yes」.", "「yes」.\n\n***\n\n"));
        assert_eq!(text(8..10), ("(Another one.)", "(Another one.)"));
        assert_eq!(text(3..3), ("", ""));
    }

    #[test]
    fn sentences_start_after_a_mark_and_white_space() {
        let page = page("One a.b two. Three (four?) Five: six!\n“Seven” (8.) 九。十… End.\n\nNext block.\n");
        let starts = page.document(0).sentences.iter().map(|&start| page.text(start as usize..start as usize + 1));
        assert_eq!(starts.collect::<Vec<_>>(), ["Three", "Five:", "“Seven”", "九。", "十…", "End."]);
    }

    #[test]
    fn words_around_a_range_end_with_the_block() {
        let page = page("one two three four five six.\n\nseven eight nine\n");
        assert_eq!(page.around(&(3..5), 2), [(1..3, true), (5..6, false)]);
        assert_eq!(page.around(&(0..1), 2), [(0..0, false), (1..3, true)]);
        assert_eq!(page.around(&(1..7), 2), [(0..1, false), (7..9, false)]);
        assert_eq!(page.around(&(0..9), 2), [(0..0, false), (9..9, false)]);
        assert_eq!(page.around(&(0..0), 2), [(0..0, false), (0..0, false)]);
    }

    proptest! {
        #[test]
        fn consecutive_texts_add_up_to_the_whole(
            source in "([a-z中]{1,3}|[(“)”.,–*]| |\n\n){0,40}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let page = page(&source);
            let all = page.words().len();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(all + 1)).chain([0, all]).collect();
            cuts.sort_unstable();
            let parts: String = cuts.windows(2).map(|cut| page.text_to_next(cut[0]..cut[1])).collect();
            prop_assert_eq!(parts, page.text_to_next(0..all));
            for cut in cuts.windows(2) {
                prop_assert!(page.text_to_next(cut[0]..cut[1]).starts_with(page.text(cut[0]..cut[1])));
                prop_assert_eq!(page.text(cut[0]..cut[1]).is_empty(), cut[0] == cut[1]);
            }
        }
    }
}
