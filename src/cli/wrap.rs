//! Reports for people: wrapped to the width of the terminal, and in colours.

use anstyle::{AnsiColor, Style};
use neardups::check::report::{Mark, Marked};
use std::io::{self, IsTerminal, Write};
use terminal_size::{Width, terminal_size};
use unicode_width::UnicodeWidthChar;

/// The width of a terminal that does not report one.
const DEFAULT_WIDTH: usize = 80;

/// Minimum number of columns of a text.
const MIN_COLUMNS: usize = 20;

/// The indentation of texts. Other lines are not wrapped, so that programs recognise the places in them.
const INDENT: &str = "    ";

/// Writes the report of a check to standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn write(report: &Marked) -> io::Result<()> {
    let mut out = String::new();
    for (mark, text) in wrapped(report.parts(), width()) {
        match style(mark) {
            Some(style) => out += &format!("{style}{text}{style:#}"),
            None => out += &text,
        }
    }
    anstream::stdout().lock().write_all(out.as_bytes())
}

/// A report for standard output, without colours.
pub fn plain(report: &str) -> String {
    wrapped([(Mark::Plain, report)].into_iter(), width()).into_iter().map(|(_, text)| text).collect()
}

/// The width of standard output, if it is a terminal.
fn width() -> Option<usize> {
    let width = || terminal_size().map_or(DEFAULT_WIDTH, |(Width(width), _)| usize::from(width));
    io::stdout().is_terminal().then(width)
}

fn style(mark: Mark) -> Option<Style> {
    match mark {
        Mark::Plain => None,
        Mark::Primary => Some(Style::new().bold()),
        Mark::Other => Some(Style::new().dimmed()),
        Mark::Error => Some(AnsiColor::Red.on_default().bold()),
        Mark::Warning => Some(AnsiColor::Yellow.on_default().bold()),
        Mark::Note => Some(AnsiColor::Cyan.on_default().bold()),
        Mark::Removed => Some(AnsiColor::Red.on_default()),
        Mark::Added => Some(AnsiColor::Green.on_default()),
    }
}

/// The parts with indented lines wrapped to a width in columns, and the new lines indented. Without a width, as they are.
fn wrapped<'a>(parts: impl Iterator<Item = (Mark, &'a str)>, width: Option<usize>) -> Vec<(Mark, String)> {
    let Some(width) = width else { return parts.map(|(mark, text)| (mark, text.into())).collect() };
    let mut wrap = Wrap { width: width.max(INDENT.len() + MIN_COLUMNS), ..Wrap::default() };
    for (mark, text) in parts {
        for c in text.chars() {
            wrap.push(mark, c);
        }
    }
    wrap.end_word();
    wrap.out
}

/// Text that is wrapped character by character.
#[derive(Default)]
struct Wrap {
    width: usize,
    out: Vec<(Mark, String)>,
    /// The columns of the line that are filled, and the characters at its start, up to the indentation.
    column: usize,
    start: String,
    /// Blanks before the word.
    blanks: Vec<(Mark, char)>,
    /// The word that is not written yet, and its columns.
    word: Vec<(Mark, char)>,
    columns: usize,
}

impl Wrap {
    fn push(&mut self, mark: Mark, c: char) {
        let columns = c.width().unwrap_or(0);
        match c {
            '\n' => {
                self.end_word();
                self.write(mark, c);
                (self.column, self.start) = (0, String::new());
                self.blanks.clear();
            }
            ' ' => {
                self.end_word();
                self.blanks.push((mark, c));
            }
            _ => {
                // A line may be broken beside a wide character, and within a word that is longer than a line.
                let is_wide = columns > 1;
                if is_wide || self.columns + columns > self.width - INDENT.len() {
                    self.end_word();
                }
                self.word.push((mark, c));
                self.columns += columns;
                if is_wide {
                    self.end_word();
                }
            }
        }
    }

    /// Writes the word, on a new line if it does not fit.
    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let fits = self.column + self.blanks.len() + self.columns <= self.width;
        let is_start = self.column == 0;
        let blanks = std::mem::take(&mut self.blanks);
        if is_start {
            self.start = blanks.iter().map(|(_, c)| c).collect();
        }
        if fits || is_start || self.start != INDENT {
            self.column += blanks.len();
            blanks.into_iter().for_each(|(mark, c)| self.write(mark, c));
        } else {
            self.write(Mark::Plain, '\n');
            INDENT.chars().for_each(|c| self.write(Mark::Plain, c));
            self.column = INDENT.len();
        }
        self.column += self.columns;
        self.columns = 0;
        for (mark, c) in std::mem::take(&mut self.word) {
            self.write(mark, c);
        }
    }

    fn write(&mut self, mark: Mark, c: char) {
        match self.out.last_mut() {
            Some((last, text)) if *last == mark => text.push(c),
            _ => self.out.push((mark, c.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: &[(Mark, &str)], width: usize) -> String {
        wrapped(parts.iter().copied(), Some(width)).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn only_indented_lines_are_wrapped() {
        let text = "a/long/path.md:1:2: error: of many words\nalso at another/long/path.md:3:4\n    one two three four five six\n\n";
        let expected = "a/long/path.md:1:2: error: of many words\nalso at another/long/path.md:3:4\n    one two three four\n    five six\n\n";
        assert_eq!(lines(&[(Mark::Plain, text)], 24), expected);
        assert_eq!(wrapped([(Mark::Plain, text)].into_iter(), None), [(Mark::Plain, text.to_string())]);
    }

    #[test]
    fn a_word_with_marks_is_not_broken() {
        let parts = [
            (Mark::Plain, "    one two three "),
            (Mark::Removed, "[-fo-]"),
            (Mark::Added, "{+ur+}"),
            (Mark::Plain, ", five\n"),
        ];
        assert_eq!(lines(&parts, 28), "    one two three\n    [-fo-]{+ur+}, five\n");
        let marks: Vec<Mark> = wrapped(parts.into_iter(), Some(28)).into_iter().map(|(mark, _)| mark).collect();
        assert_eq!(marks, [Mark::Plain, Mark::Removed, Mark::Added, Mark::Plain]);
    }

    #[test]
    fn wide_characters_and_long_words_are_broken() {
        assert_eq!(
            lines(&[(Mark::Plain, &format!("    {}\n", "中".repeat(14)))], 24),
            format!("    {}\n    {}\n", "中".repeat(10), "中".repeat(4))
        );
        assert_eq!(
            lines(&[(Mark::Plain, &format!("    {}\n", "x".repeat(30)))], 24),
            format!("    {}\n    {}\n", "x".repeat(20), "x".repeat(10))
        );
    }

    #[test]
    fn nothing_is_lost() {
        let text = "    a  b\tc é\u{301} \u{200b}中文 x\n\n  y z    w\n";
        for width in 1..40 {
            let found: String = lines(&[(Mark::Plain, text)], width).split_whitespace().collect();
            assert_eq!(found, text.split_whitespace().collect::<String>(), "{width}");
        }
    }
}
