//! Lines of a source as a separate page, with the position of each.

use std::ops::Range;

/// White space before a line is cut to this width: no markup needs more.
const MAX_INDENT: usize = 80;

/// A page made of lines of a source, in their order.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    text: String,
    /// For each line its position in the text, without the white space before it, and its start in the source.
    lines: Vec<(Range<usize>, usize)>,
}

impl Excerpt {
    /// Adds a line: a part of the source without a line feed, in column `indent`, counted from 0.
    pub(super) fn push(&mut self, indent: usize, source: &str, place: Range<usize>) {
        self.text.extend(std::iter::repeat_n(' ', indent.min(MAX_INDENT)));
        let start = self.text.len();
        self.text.push_str(&source[place.clone()]);
        self.lines.push((start..self.text.len(), place.start));
        self.text.push('\n');
    }

    /// Adds an empty line.
    pub(super) fn push_blank(&mut self) {
        self.text.push('\n');
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parts of lines that a part of the text covers, with their positions in the source. Cost: a binary
    /// search.
    pub(super) fn parts(&self, part: Range<usize>) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let first = self.lines.partition_point(|(line, _)| line.end <= part.start);
        let lines = self.lines[first..].iter().take_while(move |(line, _)| line.start < part.end);
        lines.map(move |(line, source)| {
            let text = line.start.max(part.start)..line.end.min(part.end);
            let source = source + (text.start - line.start)..source + (text.end - line.start);
            (text, source)
        })
    }

    /// Returns the smallest range of the source that contains a part of the text; for white space between lines, the
    /// end of the line before.
    pub(super) fn source_of(&self, part: Range<usize>) -> Range<usize> {
        let first = self.lines.partition_point(|(line, _)| line.end <= part.start);
        let after_last = self.lines.partition_point(|(line, _)| line.start < part.end);
        if first >= after_last {
            let before = first.checked_sub(1).map_or(0, |before| {
                let (line, source) = &self.lines[before];
                source + line.len()
            });
            return before..before;
        }
        let ((first, start), (last, last_start)) = (&self.lines[first], &self.lines[after_last - 1]);
        start + part.start.saturating_sub(first.start)..last_start + part.end.min(last.end) - last.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_where_they_were_taken_from() {
        let source = "/// one é\n///   two";
        let mut excerpt = Excerpt::default();
        excerpt.push(0, source, 4..10);
        excerpt.push_blank();
        excerpt.push(2, source, 17..20);
        assert_eq!(excerpt.text(), "one é\n\n  two\n");
        let parts = |part| excerpt.parts(part).map(|(_, place)| &source[place]).collect::<Vec<_>>();
        assert_eq!(parts(0..13), ["one é", "two"]);
        assert_eq!(parts(4..11), ["é", "t"]);
        assert_eq!(parts(6..10), [""; 0]);
        assert_eq!(excerpt.source_of(4..11), 8..18);
        assert_eq!(excerpt.source_of(7..9), 10..10);
        assert_eq!(excerpt.source_of(2..2), 6..6);
    }

    #[test]
    fn far_indented_lines_are_moved_near() {
        let mut excerpt = Excerpt::default();
        excerpt.push(1 << 40, "a", 0..1);
        assert_eq!(excerpt.text().len(), MAX_INDENT + 2);
    }
}
