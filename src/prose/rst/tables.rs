//! Tables of reStructuredText. A cell is one block, apart from blank lines and items in it, and where its lines take turns with those of
//! another cell.

use super::super::Kind;
use super::super::page_lines::item_mark;
use super::{BULLETS, Line, Reader, inline};
use std::ops::Range;

/// The cell that was read last, and is open.
#[derive(Clone, Copy)]
struct Cell {
    /// What identifies it in its row: its column, or its number.
    name: usize,
    /// Whether it is a list.
    is_item: bool,
}

impl Reader<'_, '_> {
    /// Reads the table that starts in this line, if one does.
    pub(super) fn table(&mut self, text: &str) -> bool {
        if text.starts_with("+-") && is_grid_border(text) {
            self.grid_table();
        } else if text.starts_with('=') && text.contains(' ') && is_border(text, '=') {
            self.simple_table(text);
        } else {
            return false;
        }
        true
    }

    /// A table with lines around its cells. Cells are as wide as those lines, where they can be compared with those.
    fn grid_table(&mut self) {
        let start = self.at;
        let is_of_table = |line: Line, source: &str| line.text(source).starts_with(['+', '|']);
        while self.line(self.at).is_some_and(|line| is_of_table(line, self.source)) {
            self.at += 1;
        }
        let borders = (start..self.at).map(|number| self.lines[number].text(self.source));
        let (mut columns, mut width) = (Vec::new(), 0);
        for border in borders.filter(|text| text.starts_with('+')) {
            columns.extend(in_columns(border).filter(|&(_, _, c)| c == '+').map(|(column, ..)| column));
            width = width_of(border);
        }
        columns.sort_unstable();
        columns.dedup();
        let (mut open, mut cells) = (None, 0);
        for number in start..self.at {
            let line = self.lines[number];
            let text = line.text(self.source);
            if is_grid_border(text) {
                open = None;
                continue;
            }
            let is_regular = width_of(text) == width;
            let is_edge = |column: usize, c: char| match is_regular {
                true => matches!(c, '|' | '+') && columns.binary_search(&column).is_ok(),
                false => c == '|',
            };
            let edges =
                in_columns(text).filter(|&(column, _, c)| is_edge(column, c)).map(|(column, at, _)| (column, at));
            let mut edges: Vec<(usize, usize)> = edges.collect();
            // The first and the last edge may be missing.
            if edges.first().is_none_or(|&(_, at)| at > 0) {
                edges.insert(0, (0, 0));
            }
            if edges.last().is_some_and(|&(_, at)| at + 1 < text.len()) {
                edges.push((usize::MAX, text.len()));
            }
            // Where lines have other cells, or cannot be compared, none continues one above it.
            let number_of_cells = if is_regular { 0 } else { edges.len() };
            if number_of_cells != std::mem::replace(&mut cells, number_of_cells) {
                open = None;
            }
            for (number, edge) in edges.windows(2).enumerate() {
                let name = if is_regular { edge[0].0 } else { number };
                let inner = &text[edge[0].1 + 1..edge[1].1];
                let cell = inner.trim();
                if cell.is_empty() || is_border(cell, '-') || is_border(cell, '=') {
                    open.take_if(|open: &mut Cell| open.name == name);
                } else {
                    let start = line.start + edge[0].1 + 1 + inner.len() - inner.trim_start().len();
                    self.line_of_cell(&mut open, name, start..start + cell.len());
                }
            }
        }
        self.builder.end();
    }

    /// A table whose columns are as wide as the lines of its border. It ends with a border before a blank line. A line without
    /// text in the first column continues the row.
    fn simple_table(&mut self, border: &str) {
        let indent = self.lines[self.at].indent;
        let starts: Vec<usize> = border
            .bytes()
            .enumerate()
            .filter(|&(at, byte)| byte == b'=' && (at == 0 || border.as_bytes()[at - 1] == b' '))
            .map(|(at, _)| at + indent)
            .collect();
        self.at += 1;
        let mut open = None;
        while let Some(&line) = self.lines.get(self.at) {
            self.at += 1;
            let text = line.text(self.source);
            if line.is_blank() {
                open = None;
            } else if is_border(text, '=') {
                if self.line(self.at).is_none() {
                    break;
                }
                open = None;
            } else if is_border(text, '-') {
                open = None;
            } else {
                if starts.get(1).is_none_or(|&second| line.indent < second) {
                    open = None;
                }
                self.row(&mut open, line, &starts);
            }
        }
        self.builder.end();
    }

    /// A line of a simple table. Text that stands across the start of a column belongs to the one before.
    fn row(&mut self, open: &mut Option<Cell>, line: Line, starts: &[usize]) {
        let mut cell = starts.partition_point(|&start| start <= line.indent).saturating_sub(1);
        let (mut start, mut before) = (line.start, ' ');
        for (column, at, c) in in_columns(line.text(self.source)) {
            let number = starts.binary_search(&(line.indent + column)).ok().filter(|&number| number > cell);
            if let Some(number) = number.filter(|_| before.is_whitespace()) {
                self.line_of_cell(open, cell, start..line.start + at);
                (cell, start) = (number, line.start + at);
            }
            before = c;
        }
        self.line_of_cell(open, cell, start..line.end);
    }

    /// A line of a cell, which continues the cell that was read last if it is the same. The lines of two cells that are both wrapped take
    /// turns in the source; each is a block then, since words are read in the order of the source.
    fn line_of_cell(&mut self, open: &mut Option<Cell>, name: usize, line: Range<usize>) {
        let same = open.filter(|open| open.name == name);
        let mark = item_mark(&self.source[line.clone()], BULLETS).filter(|_| same.is_none_or(|open| open.is_item));
        if same.is_none() || mark.is_some() {
            self.builder.begin(Kind::Cell);
        }
        *open = Some(Cell { name, is_item: mark.is_some() || same.is_some_and(|open| open.is_item) });
        self.builder.space();
        inline::text(self.builder, line.start + mark.unwrap_or(0)..line.end);
    }
}

/// The characters of a line, with the column and the byte where each starts.
fn in_columns(text: &str) -> impl Iterator<Item = (usize, usize, char)> {
    let mut next = 0;
    text.char_indices().map(move |(at, c)| {
        let column = next;
        next += columns(c);
        (column, at, c)
    })
}

fn width_of(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The number of columns of a character: two if it is wide, as those of Chinese are.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 => 2,
        0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

fn is_grid_border(text: &str) -> bool {
    text.starts_with('+') && text.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'='))
}

/// Whether a line consists of that character and of spaces.
fn is_border(text: &str, line: char) -> bool {
    text.chars().all(|c| c == line || c == ' ')
}
