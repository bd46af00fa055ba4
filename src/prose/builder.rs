//! Builds prose from words with their positions, and from the beginnings and ends of blocks and lists. Everything that
//! does not depend on the markup is decided here: white space, URLs, code, notices at the start, tables of contents,
//! marks.

use super::block::{Block, Kind, Letters, Notice, Piece, Prose, ProseOptions, Unread};
use super::excerpt::Excerpt;
use super::licence;
use super::lines::Lines;
use super::signature::is_signature;
use super::words::{url_in, url_length, words};
use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

/// A change of whether text counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Start,
    End,
    /// A comment that resembles a mark but is not one.
    Unknown,
}

impl Mark {
    /// Returns the mark that the text of a comment is, if it is one.
    pub(super) fn of(comment: &str) -> Option<Mark> {
        match comment.split_whitespace().next()?.trim_end_matches(':') {
            "dedup:ignore-start" => Some(Mark::Start),
            "dedup:ignore-end" => Some(Mark::End),
            _ => Mark::meant(comment).map(|_| Mark::Unknown),
        }
    }

    /// The beginning of a mark, whatever its case. A remark that starts with `dedup:` and a blank is not a mark; `dedup-ignore-start` is
    /// meant as one.
    pub(super) fn meant(text: &str) -> Option<&str> {
        let text = text.trim_start();
        if let Some(joined) = Mark::joined(text) {
            return Some(joined);
        }
        let (name, rest) =
            text.split_at_checked("dedup:".len()).filter(|(name, _)| name.eq_ignore_ascii_case("dedup:"))?;
        let word = rest.split_whitespace().next()?;
        let is_mark = if rest.starts_with(word) {
            word.starts_with(char::is_alphabetic)
        } else {
            word.get(.."ignore-".len()).is_some_and(|start| start.eq_ignore_ascii_case("ignore-"))
        };
        is_mark.then(|| &text[..name.len() + (rest.len() - rest.trim_start().len()) + word.len()])
    }

    /// The beginning of a mark with another character in place of the colon.
    fn joined(text: &str) -> Option<&str> {
        let word = text.split_whitespace().next()?;
        let (name, rest) =
            word.split_at_checked("dedup".len()).filter(|(name, _)| name.eq_ignore_ascii_case("dedup"))?;
        let rest = rest.strip_prefix(['-', '_', '.', '/'])?;
        let is_ignore = rest.get(.."ignore".len()).is_some_and(|start| start.eq_ignore_ascii_case("ignore"));
        let is_word = |rest: &str| rest.is_empty() || rest.starts_with(['-', '_']);
        (is_ignore && is_word(&rest["ignore".len()..])).then_some(&text[..name.len() + 1 + rest.len()])
    }
}

/// Builds prose. Readers pass ranges of the source, in its order.
pub(super) struct Builder<'a> {
    source: &'a str,
    /// Where the page starts, after front matter.
    start: usize,
    options: &'a ProseOptions,
    prose: Prose,
    /// The kind of the open block, or of the one that the next word opens.
    kind: Kind,
    /// Where the open block starts in the text.
    open: Option<usize>,
    /// Whether white space precedes the next word.
    gap: bool,
    /// Whether text that follows without white space belongs to a URL that does not count.
    in_url: bool,
    /// Whether only headings and licences have been read.
    opening: bool,
    lists: usize,
    /// The number of blocks when the outermost list began, and whether it has words outside links to fragments.
    list_start: usize,
    list_has_words: bool,
    in_fragment_link: bool,
    in_link: bool,
    /// How many links have begun.
    links: u32,
    /// Where the text of the link starts in the text.
    link_start: usize,
    /// Marks that take effect when the words after them come, and their places.
    awaited: Peekable<IntoIter<(Mark, Range<usize>)>>,
    /// The position of the mark since which nothing counts.
    ignoring: Option<usize>,
    /// Marks that are unknown or without counterpart, and their places.
    unmatched: Vec<(Mark, usize)>,
    /// Whether the blocks are of pages within this one, and know their sections.
    has_pages: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(source: &'a str, options: &'a ProseOptions) -> Self {
        Builder {
            source,
            start: 0,
            options,
            prose: Prose::default(),
            kind: Kind::Paragraph,
            open: None,
            gap: false,
            in_url: false,
            opening: true,
            lists: 0,
            list_start: 0,
            list_has_words: false,
            in_fragment_link: false,
            in_link: false,
            links: 0,
            link_start: 0,
            awaited: Vec::new().into_iter().peekable(),
            ignoring: None,
            unmatched: Vec::new(),
            has_pages: false,
        }
    }

    /// The page starts there.
    pub(super) fn skip_to(&mut self, start: usize) {
        self.start = start;
    }

    /// The whole source.
    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// The part of the source to read.
    pub(super) fn page(&self) -> Range<usize> {
        self.start..self.source.len()
    }

    /// Further marks that the reader does not encounter, with their positions, in order.
    pub(super) fn await_marks(&mut self, marks: Vec<(Mark, Range<usize>)>) {
        let mut all: Vec<(Mark, Range<usize>)> = self.awaited.by_ref().chain(marks).collect();
        all.sort_by_key(|(_, at)| at.start);
        self.awaited = all.into_iter().peekable();
    }

    pub(super) fn options(&self) -> &'a ProseOptions {
        self.options
    }

    /// Front matter is code that counts.
    pub(super) fn front_matter(&mut self, range: Range<usize>) {
        let counts = ProseOptions { code: true, ..self.options.clone() };
        let mut front = Builder::new(self.source, &counts);
        front.begin(Kind::Code);
        front.verbatim(range);
        self.prose = front.finish();
        self.prose.unread = Letters::default();
    }

    /// That text does not count.
    pub(super) fn unread(&mut self, text: &str, why: Unread) {
        self.prose.unread.add(text, why);
    }

    /// A block of code that starts there has no end.
    pub(super) fn unclosed_code(&mut self, start: usize) {
        self.prose.unread.unclosed.get_or_insert(start);
    }

    /// Ends the block that is open. The next word opens one of that kind.
    pub(super) fn begin(&mut self, kind: Kind) {
        self.end();
        self.kind = kind;
    }

    /// The same for running text: an item if a list is open, or else a paragraph.
    pub(super) fn begin_text(&mut self) {
        self.begin(if self.lists > 0 { Kind::Item } else { Kind::Paragraph });
    }

    /// Ends the block that is open. The next word opens a block of running text.
    pub(super) fn end(&mut self) {
        self.kind = if self.lists > 0 { Kind::Item } else { Kind::Paragraph };
        (self.gap, self.in_url) = (false, false);
        let Some(block) = self.open.take().and(self.prose.blocks.last()) else { return };
        let text = &self.prose.text[block.text.clone()];
        if matches!(block.kind, Kind::Heading(_)) {
            return;
        }
        if !self.options.licences && self.opening && licence::is_notice(text) {
            self.leave_out(self.prose.blocks.len() - 1, Unread::Licences);
        } else if block.kind == Kind::Cell && !self.options.code && is_signature(text) {
            self.leave_out(self.prose.blocks.len() - 1, Unread::Code);
        } else {
            self.opening = false;
        }
    }

    pub(super) fn begin_list(&mut self) {
        if self.lists == 0 {
            self.end();
            (self.list_start, self.list_has_words) = (self.prose.blocks.len(), false);
        }
        self.lists += 1;
        self.begin_text();
    }

    pub(super) fn end_list(&mut self) {
        self.lists = self.lists.saturating_sub(1);
        self.begin_text();
        let is_contents = !self.list_has_words && self.prose.blocks.len() >= self.list_start + 2;
        if self.lists == 0 && is_contents && !self.options.contents {
            self.leave_out(self.list_start, Unread::Contents);
        }
    }

    /// A link begins.
    pub(super) fn begin_link(&mut self, is_fragment: bool) {
        self.break_link();
        (self.in_link, self.in_fragment_link) = (true, is_fragment);
        self.links += 1;
        self.link_start = self.prose.text.len();
    }

    /// The link that is open, if there is one, has no end of its own. A long text was not meant as one.
    pub(super) fn break_link(&mut self) {
        if self.in_link && self.prose.text.len() > self.link_start + MAX_UNCLOSED_LINK {
            let first = self.prose.pieces.partition_point(|piece| piece.text.start < self.link_start);
            self.prose.pieces[first..].iter_mut().for_each(|piece| piece.link = 0);
        }
        self.end_link();
    }

    /// That part of the source is a menu or a table of contents.
    pub(super) fn navigation(&mut self, place: Range<usize>) {
        self.prose.navigation.push(place);
    }

    pub(super) fn end_link(&mut self) {
        (self.in_link, self.in_fragment_link) = (false, false);
    }

    /// The target of a link or image, which stands somewhere in that part of the source.
    pub(super) fn target(&mut self, target: &str, place: Range<usize>) {
        if !self.options.links {
            self.unread(target, Unread::Links);
        } else if !target.is_empty() {
            self.space();
            self.replaced(target, place);
            self.space();
        }
    }

    /// Ends the open block and returns the number of blocks.
    pub(super) fn blocks(&mut self) -> usize {
        self.end();
        self.prose.blocks.len()
    }

    /// Whether the block has words that the next one is to join.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Removes all blocks except the first `blocks`. No block may be open.
    pub(super) fn leave_out(&mut self, blocks: usize, why: Unread) {
        let prose = &mut self.prose;
        prose.blocks.truncate(blocks);
        let end = prose.blocks.last().map_or(0, |block| block.text.end);
        prose.unread.add(&prose.text[end..], why);
        prose.text.truncate(end);
        let pieces = prose.pieces.partition_point(|piece| piece.text.start < end);
        prose.pieces.truncate(pieces);
    }

    /// White space.
    pub(super) fn space(&mut self) {
        (self.gap, self.in_url) = (true, false);
    }

    /// Adds a part of the source literally.
    pub(super) fn verbatim(&mut self, place: Range<usize>) {
        self.verbatim_as(&self.source[place.clone()], place.start);
    }

    /// Adds the text that the source has from there on, except that white space may replace other characters.
    pub(super) fn verbatim_as(&mut self, text: &str, start: usize) {
        self.each_word(text, |at, word| start + at..start + at + word.len(), true);
    }

    /// Adds a text that replaces a part of the source as a whole.
    pub(super) fn replaced(&mut self, text: &str, place: Range<usize>) {
        self.each_word(text, |_, _| place.clone(), false);
    }

    /// Adds a text whose words occur in that part of the source, in their order, with anything between them, and in at most
    /// [`MAX_PARTED`] places within one.
    pub(super) fn aligned(&mut self, text: &str, place: Range<usize>) {
        let (mut from, mut parted) = (place.start, 0);
        for (mut at, word) in words(text) {
            if word.is_empty() {
                self.space();
            }
            let end = at + word.len();
            while at < end {
                let rest = &text[at..end];
                let Some((found, length)) =
                    longest_start(rest, &self.source[from..place.end]).filter(|_| parted <= MAX_PARTED)
                else {
                    return self.replaced(&text[at..], from..place.end);
                };
                self.word(&rest[..length], from + found..from + found + length, true);
                parted += usize::from(length < rest.len());
                (from, at) = (from + found + length, at + length);
            }
        }
    }

    fn each_word(&mut self, text: &str, place: impl Fn(usize, &str) -> Range<usize>, verbatim: bool) {
        for (at, word) in words(text) {
            if word.is_empty() {
                self.space();
            } else {
                self.word(word, place(at, word), verbatim);
            }
        }
    }

    /// A word or a part of one; URLs in it are left out.
    fn word(&mut self, word: &str, place: Range<usize>, verbatim: bool) {
        self.pass_marks(place.start);
        if self.ignoring.is_some() {
            return self.unread(word, Unread::Ignored);
        }
        if self.kind == Kind::Code && !self.options.code {
            return self.unread(word, Unread::Code);
        }
        if self.options.links || self.kind == Kind::Code {
            return self.part(word, place, verbatim);
        }
        let part = |range: Range<usize>| match verbatim {
            true => place.start + range.start..place.start + range.end,
            false => place.clone(),
        };
        let mut at = if self.in_url { url_length(word) } else { 0 };
        self.in_url = at == word.len();
        while at < word.len() {
            let Some(url) = url_in(&word[at..]) else {
                return self.part(&word[at..], part(at..word.len()), verbatim);
            };
            if url.start > 0 {
                self.part(&word[at..at + url.start], part(at..at + url.start), verbatim);
            }
            at += url.end;
            self.in_url = at == word.len();
        }
    }

    /// A part of a word that counts.
    fn part(&mut self, word: &str, place: Range<usize>, verbatim: bool) {
        if !self.list_has_words && !self.in_fragment_link {
            self.list_has_words = word.contains(char::is_alphanumeric);
        }
        let Prose { text, blocks, pieces, .. } = &mut self.prose;
        let start = *self.open.get_or_insert_with(|| {
            if !blocks.is_empty() {
                text.push_str("\n\n");
            }
            blocks.push(Block { kind: self.kind, text: text.len()..text.len(), section: None });
            text.len()
        });
        if std::mem::take(&mut self.gap) && text.len() > start {
            text.push(' ');
        }
        let at = text.len();
        text.push_str(word);
        if let Some(block) = blocks.last_mut() {
            block.text.end = text.len();
        }
        // Further words of the same replacement.
        if let Some(last) = pieces.last_mut().filter(|last| last.text.end >= start && !verbatim && !last.verbatim)
            && last.source == place
        {
            last.text.end = text.len();
            return;
        }
        let last_end = pieces.last().map_or(0, |last| last.source.end);
        // Readers keep the order; if one fails to, positions stay in order anyway.
        let mut source = place.start.max(last_end)..place.end.max(last_end);
        if source.is_empty() {
            // Nothing of it follows the text that was read before: it is placed at the end of that text.
            source.start = self.source[..source.end].char_indices().next_back().map_or(0, |(before, _)| before);
        }
        let (verbatim, link) = (verbatim && source == place, if self.in_link { self.links } else { 0 });
        match pieces.last_mut() {
            Some(last)
                if verbatim
                    && last.verbatim
                    && last.link == link
                    && last.text.end >= start
                    && at - last.text.end == source.start - last.source.end =>
            {
                (last.text.end, last.source.end) = (text.len(), source.end);
            }
            _ => pieces.push(Piece { text: at..text.len(), source, verbatim, link }),
        }
    }

    /// A comment: a mark, or nothing. `place` is the whole of it.
    pub(super) fn comment(&mut self, text: &str, place: Range<usize>) {
        if let Some(mark) = Mark::of(text) {
            // Those that stand before it come first.
            self.pass_marks(place.start);
            self.mark(mark, place);
        }
    }

    /// The marks up to there take effect.
    fn pass_marks(&mut self, place: usize) {
        while let Some((mark, at)) = self.awaited.next_if(|(_, at)| at.start <= place) {
            self.mark(mark, at);
        }
    }

    pub(super) fn mark(&mut self, mark: Mark, place: Range<usize>) {
        if mark != Mark::Unknown {
            self.space();
        }
        match (mark, self.ignoring) {
            (Mark::Unknown, _) => self.unmatched.push((mark, place.start)),
            (Mark::Start, None) => self.ignoring = Some(place.start),
            (Mark::Start, Some(_)) => {}
            (Mark::End, None) => self.unmatched.push((mark, place.start)),
            (Mark::End, Some(start)) => {
                self.prose.ignored.push(start..place.end);
                self.ignoring = None;
            }
        }
    }

    /// Whether the next text follows a mark.
    pub(super) fn is_ignoring(&self) -> bool {
        self.ignoring.is_some()
    }

    /// The builder of a page within this one, which starts it if nothing else does.
    pub(super) fn inner<'b>(&self, text: &'b str) -> Builder<'b>
    where
        'a: 'b,
    {
        Builder { opening: self.opening, ..Builder::new(text, self.options) }
    }

    /// Adds the prose of an excerpt of the source. Its headings and marks have no effect on the text after it.
    pub(super) fn append(&mut self, excerpt: &Excerpt, mut page: Builder) {
        page.close();
        self.has_pages = true;
        self.opening &= page.opening;
        self.prose.unread.add_all(&page.prose.unread);
        let Prose { text, blocks, pieces, ignored, navigation, .. } = &mut self.prose;
        navigation.extend(page.prose.navigation.into_iter().map(|menu| excerpt.source_of(menu)));
        if !text.is_empty() && !page.prose.text.is_empty() {
            text.push_str("\n\n");
        }
        let (base, first) = (text.len(), blocks.len());
        text.push_str(&page.prose.text);
        blocks.extend(page.prose.blocks.into_iter().map(|block| Block {
            kind: block.kind,
            text: base + block.text.start..base + block.text.end,
            section: block.section.map(|section| first + section),
        }));
        let links = self.links;
        self.links += page.links;
        for Piece { text, source, verbatim, link } in page.prose.pieces {
            let link = if link > 0 { links + link } else { 0 };
            if verbatim {
                pieces.extend(excerpt.parts(source.clone()).map(|(part, source_of_part)| {
                    let start = base + text.start + (part.start - source.start);
                    let verbatim = part.len() == source_of_part.len();
                    Piece { text: start..start + part.len(), source: source_of_part, verbatim, link }
                }));
            } else {
                let text = base + text.start..base + text.end;
                pieces.push(Piece { text, source: excerpt.source_of(source), verbatim, link });
            }
        }
        ignored.extend(page.prose.ignored.into_iter().map(|part| excerpt.source_of(part)));
        let places = page.unmatched.into_iter().map(|(mark, at)| (mark, excerpt.source_of(at..at + 1).start));
        self.unmatched.extend(places);
    }

    /// The page ends.
    fn close(&mut self) {
        self.end();
        self.pass_marks(self.source.len());
        if let Some(start) = self.ignoring {
            self.prose.ignored.push(start..self.source.len());
            self.unmatched.push((Mark::Start, start));
        }
        if !self.has_pages {
            if !self.options.licences {
                licence::leave_out_sections(&mut self.prose);
            }
            set_sections(&mut self.prose.blocks);
        }
    }

    pub(super) fn finish(mut self) -> Prose {
        self.close();
        if !self.unmatched.is_empty() {
            let lines = Lines::new(self.source);
            let notice = |&(mark, place): &(Mark, usize)| {
                let line = lines.position(place).line;
                match mark {
                    Mark::Start => Notice::NeverEnds { line },
                    Mark::End => Notice::NeverStarted { line },
                    Mark::Unknown => Notice::Unknown { line, mark: unknown(&self.source[place..]) },
                }
            };
            self.prose.notices = self.unmatched.iter().map(notice).collect();
        }
        self.prose
    }
}

/// The unknown mark of the comment that a part of the source starts with.
fn unknown(source: &str) -> String {
    let comment = source.trim_start_matches(|c: char| !c.is_alphanumeric());
    let mark = Mark::meant(comment).unwrap_or_default().chars();
    let is_of_name = |c: &char| c.is_alphanumeric() || matches!(c, ':' | '-' | '_' | ' ');
    let mark: String = mark.take(40).take_while(is_of_name).collect();
    // The end of the comment is not part of the mark.
    mark.trim_end_matches(|c: char| !c.is_alphanumeric()).to_string()
}

/// The text of a link without an end is not taken for one if it has more bytes.
const MAX_UNCLOSED_LINK: usize = 100;

/// In how many places words of an aligned text may be parted: each place is searched for.
const MAX_PARTED: usize = 16;

/// Where the longest start of a word is in a source, and its number of bytes. `None` if its first character is not there.
///
/// Cost: linear in the source, times the logarithm of the length of the word.
fn longest_start(word: &str, source: &str) -> Option<(usize, usize)> {
    if let Some(found) = source.find(word) {
        return Some((found, word.len()));
    }
    let ends: Vec<usize> = word.char_indices().map(|(at, _)| at).skip(1).collect();
    // What starts with a start that is not there is not there either.
    let number = ends.partition_point(|&end| source.contains(&word[..end]));
    let length = ends[..number].last().copied()?;
    source.find(&word[..length]).map(|found| (found, length))
}

/// Finds the heading of each block.
fn set_sections(blocks: &mut [Block]) {
    // The headings that are open, their levels rising.
    let mut open: Vec<(u8, usize)> = Vec::new();
    for (number, block) in blocks.iter_mut().enumerate() {
        if let Kind::Heading(level) = block.kind {
            while open.pop_if(|(other, _)| *other >= level).is_some() {}
            block.section = open.last().map(|&(_, heading)| heading);
            open.push((level, number));
        } else {
            block.section = open.last().map(|&(_, heading)| heading);
        }
    }
}
