//! Tables of AsciiDoc. A cell is one block, apart from blank lines and items in it.

use super::super::Kind;
use super::super::page_lines::Line;
use super::{Reader, Role, block_macro, inline, item};
use std::ops::Range;

/// More attributes and titles above a table are not looked at.
const MAX_ABOVE: usize = 8;

/// Further columns have no style.
const MAX_COLUMNS: usize = 256;

/// How the cells of a table are written.
struct Format {
    separator: char,
    /// Whether a line ends a cell.
    is_by_line: bool,
    /// Whether quotation marks around a cell are not part of it.
    has_quotes: bool,
    /// Whether the cells of each column are pages by themselves; none if that is unknown.
    pages: Vec<bool>,
}

/// Conditions and inclusions within a table are not text.
const PREPROCESSED: [&str; 5] = ["ifdef", "ifndef", "ifeval", "endif", "include"];

impl<'a> Reader<'_, 'a> {
    pub(super) fn table(&mut self, delimiter: Line) {
        let start = self.at;
        let format = self.format(start - 1, delimiter.text(self.source));
        let end = self.block_end(delimiter);
        if start == end {
            return;
        }
        let text = self.lines[start].start..self.lines[end - 1].end;
        // The cells are after each other, so their lines are as well.
        let mut line = start;
        let mut at = Cells { text: &self.source[text.clone()], base: text.start, at: 0, column: 0, is_page: false };
        while let Some((cell, is_page)) = at.next(&format) {
            while line + 1 < end && self.lines[line].end < cell.start {
                line += 1;
            }
            self.cell(cell, line..end, is_page);
        }
        self.builder.end();
    }

    /// How a table is written: by the line that it starts with, which has that number, and the attributes above it.
    fn format(&self, number: usize, delimiter: &str) -> Format {
        let above = self.lines[..number].iter().rev().map(|line| line.text(self.source)).take(MAX_ABOVE);
        let above = above.take_while(|text| text.starts_with(['[', '.']) || text.starts_with("//"));
        let attributes: Vec<&str> = above.filter(|text| text.starts_with('[') && text.ends_with(']')).collect();
        let value = |name| attributes.iter().find_map(|text| value(&text[1..text.len() - 1], name));
        let written = match delimiter.chars().next() {
            Some(',') => "csv",
            Some(':') => "dsv",
            _ => value("format").unwrap_or("psv"),
        };
        let separator = match written {
            "csv" => ',',
            "dsv" => ':',
            "tsv" => '\t',
            _ if delimiter.starts_with('!') => '!',
            _ => '|',
        };
        let own =
            value("separator").map(|own| if own == "\\t" { '\t' } else { own.chars().next().unwrap_or(separator) });
        Format {
            separator: own.unwrap_or(separator),
            is_by_line: matches!(written, "csv" | "dsv" | "tsv"),
            has_quotes: matches!(written, "csv" | "tsv"),
            pages: value("cols").map(pages).unwrap_or_default(),
        }
    }

    /// A cell, which starts in the first of these lines: blocks of its own, or paragraphs.
    fn cell(&mut self, cell: Range<usize>, lines: Range<usize>, is_page: bool) {
        let cut = |line: &Line| {
            let start = line.start.max(cell.start).min(line.end);
            let rest = Line { start, ..*line }.after(0, self.source);
            let end = line.end.min(cell.end).max(rest.start);
            let text = self.source[rest.start..end].trim_end();
            // The spaces after the separator are no indentation, which would make code of the text.
            let indent = if line.start < cell.start { 0 } else { rest.indent };
            Line { end: rest.start + text.len(), indent, ..rest }
        };
        let own = self.lines[lines].iter().take_while(|line| line.start < cell.end);
        let lines: Vec<Line> = own.map(cut).collect();
        if is_page || lines.iter().any(|line| line.text(self.source) == "!===") {
            return self.page(lines);
        }
        let mut block: Option<Range<usize>> = None;
        let mut is_item = false;
        for line in lines {
            let text = line.text(self.source);
            let is_skipped = block_macro(text).is_some_and(|(name, _)| PREPROCESSED.contains(&name));
            let comment = match Role::of(text) {
                Role::Comment(comment) => Some(comment),
                _ => None,
            };
            if text.is_empty() || is_skipped || comment.is_some() {
                self.block_of_cell(block.take());
                if let Some(comment) = comment {
                    self.builder.comment(comment, line.range());
                }
                continue;
            }
            let mark = item(text).filter(|_| block.is_none() || is_item);
            if let Some(mark) = mark {
                self.block_of_cell(block.take());
                is_item = true;
                block = Some(line.after(mark, self.source).range());
            } else {
                let start = block.map_or(line.start, |block| block.start);
                block = Some(start..line.end);
            }
        }
        self.block_of_cell(block);
    }

    fn block_of_cell(&mut self, block: Option<Range<usize>>) {
        self.builder.begin(Kind::Cell);
        if let Some(block) = block {
            inline::text(self.builder, block);
        }
        self.builder.end();
    }

    /// A cell with blocks of its own. Its depth is bounded: tables in it have exclamation marks, and only tables of values are in theirs.
    fn page(&mut self, lines: Vec<Line>) {
        let mut cell = Reader::new(&mut *self.builder, lines, true);
        cell.blocks();
        cell.leave_list();
        cell.builder.end();
    }
}

/// Goes through the cells of a table.
struct Cells<'a> {
    text: &'a str,
    /// Where the text starts in the source.
    base: usize,
    /// Where the next cell starts.
    at: usize,
    column: usize,
    /// Whether the format before the next cell makes it a page.
    is_page: bool,
}

impl Cells<'_> {
    /// The next cell, and whether it is a page by itself.
    fn next(&mut self, format: &Format) -> Option<(Range<usize>, bool)> {
        if self.at > self.text.len() {
            return None;
        }
        if format.is_by_line { Some((self.of_line(format), false)) } else { Some(self.of_bars(format)) }
    }

    /// A cell that a separator or a line feed ends; not within quotation marks.
    fn of_line(&mut self, format: &Format) -> Range<usize> {
        let rest = &self.text[self.at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let quoted = rest[blank..].strip_prefix('"').filter(|_| format.has_quotes);
        // Two quotation marks stand for one.
        let close = quoted.and_then(|quoted| {
            let mut marks = quoted.match_indices('"').map(|(at, _)| at).peekable();
            loop {
                let at = marks.next()?;
                if marks.next_if_eq(&(at + 1)).is_none() {
                    return Some(at);
                }
            }
        });
        let (start, after) = close.map_or((0, 0), |close| (blank + 1, blank + 1 + close));
        let ends = |&(at, c): &(usize, char)| {
            c == '\n' || c == format.separator && (format.has_quotes || !rest[..after + at].ends_with('\\'))
        };
        let found = rest[after..].char_indices().find(ends);
        let end = found.map_or(rest.len(), |(at, _)| after + at);
        let cell = start..if close.is_some() { after } else { end };
        let cell = self.base + self.at + cell.start..self.base + self.at + cell.end;
        self.at += end + found.map_or(1, |(_, c)| c.len_utf8());
        cell
    }

    /// A cell up to the next bar, apart from the format of the cell after it.
    fn of_bars(&mut self, format: &Format) -> (Range<usize>, bool) {
        let start = self.at;
        let mut bars = self.text[start..].match_indices(format.separator).map(|(at, _)| start + at);
        let bar = bars.find(|&bar| !self.text[..bar].ends_with('\\'));
        let end = bar.unwrap_or(self.text.len());
        let own = &self.text[start..end];
        let style = bar.map_or("", |_| &own[own.len() - cell_style(own)..]);
        let of_column = format.pages.get(self.column.wrapping_sub(1) % format.pages.len().max(1));
        // Text before the first bar is in no column.
        let is_page = self.is_page || start > 0 && of_column == Some(&true);
        let cell = self.base + start..self.base + end - style.len();
        let spanned = style.split_once(['+', '*']).map(|(count, _)| count);
        let columns = spanned.and_then(|count| count.split('.').next()?.parse().ok()).unwrap_or(1usize);
        self.is_page = style.ends_with('a');
        // Of a cell that spans columns the last one.
        self.column += columns.min(MAX_COLUMNS);
        self.at = bar.map_or(self.text.len() + 1, |bar| bar + format.separator.len_utf8());
        (cell, is_page)
    }
}

/// The value of an attribute in the brackets above a block.
fn value<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let mut found = attributes.match_indices(name).map(|(at, _)| at);
    let at = found.find(|&at| {
        attributes[..at].ends_with([',', ' ', '%']) || at == 0 && attributes[name.len()..].starts_with('=')
    })?;
    let rest = attributes[at + name.len()..].strip_prefix('=')?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split(',').next().map(str::trim_end),
    }
}

/// Whether the cells of each column are pages by themselves: `1,2a` or `3*a`.
fn pages(columns: &str) -> Vec<bool> {
    let columns = columns.split([',', ';']).map(str::trim);
    let number = |column: &str| column.split_once('*').and_then(|(count, _)| count.parse().ok()).unwrap_or(1);
    columns.flat_map(|column| std::iter::repeat_n(column.ends_with('a'), number(column))).take(MAX_COLUMNS).collect()
}

/// The number of bytes before a bar that are the format of the cell.
fn cell_style(before: &str) -> usize {
    let style = before.rsplit(char::is_whitespace).next().unwrap_or(before);
    let rest = style.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let spanned = rest.strip_prefix(['+', '*']);
    let placed = spanned.unwrap_or(rest).trim_start_matches(['<', '^', '>', '.']);
    let is_counted = spanned.is_some() || rest.len() == style.len();
    let is_style = is_counted && matches!(placed, "" | "a" | "d" | "e" | "h" | "l" | "m" | "s" | "v");
    if is_style { style.len() } else { 0 }
}
