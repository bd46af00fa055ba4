//! Parts of a source as a separate page, with the position of each.

use std::ops::Range;

/// White space before a line is cut to this width: no markup needs more.
const MAX_INDENT: usize = 80;

/// A page made of parts of a source, in their order.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    text: String,
    /// For each part its position in the text and in the source. If the lengths differ, the part stands for its source
    /// as a whole. Parts are ascending, do not overlap, and none is empty.
    parts: Vec<(Range<usize>, Range<usize>)>,
}

impl Excerpt {
    /// Adds a line: a part of the source without a line feed, in column `indent`, counted from 0.
    pub(super) fn push(&mut self, indent: usize, source: &str, place: Range<usize>) {
        self.indent(indent);
        self.part(source, place);
        self.push_blank();
    }

    /// Adds an empty line, or ends the line.
    pub(super) fn push_blank(&mut self) {
        self.text.push('\n');
    }

    /// Adds white space before a line.
    pub(super) fn indent(&mut self, indent: usize) {
        self.text.extend(std::iter::repeat_n(' ', indent.min(MAX_INDENT)));
    }

    /// Adds a part of the source to the line.
    pub(super) fn part(&mut self, source: &str, place: Range<usize>) {
        self.replaced(&source[place.clone()], place);
    }

    /// Adds a text that has that part of the source as its origin.
    pub(super) fn replaced(&mut self, text: &str, place: Range<usize>) {
        if !text.is_empty() {
            let start = self.text.len();
            self.text.push_str(text);
            self.parts.push((start..self.text.len(), place));
        }
    }

    /// Adds markup that the source does not contain.
    pub(super) fn markup(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parts that a range of the text covers, with their positions in the source. Cost: a binary search.
    pub(super) fn parts(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let first = self.parts.partition_point(|(part, _)| part.end <= range.start);
        let parts = self.parts[first..].iter().take_while(move |(part, _)| part.start < range.end);
        parts.map(move |(part, source)| {
            let text = part.start.max(range.start)..part.end.min(range.end);
            let source = match part.len() == source.len() {
                true => source.start + (text.start - part.start)..source.start + (text.end - part.start),
                false => source.clone(),
            };
            (text, source)
        })
    }

    /// Returns the smallest range of the source that contains a range of the text; for text that the source does not
    /// contain, the end of the part before.
    pub(super) fn source_of(&self, range: Range<usize>) -> Range<usize> {
        let first = self.parts.partition_point(|(part, _)| part.end <= range.start);
        let after_last = self.parts.partition_point(|(part, _)| part.start < range.end);
        if first >= after_last {
            let before = first.checked_sub(1).map_or(0, |before| self.parts[before].1.end);
            return before..before;
        }
        let (first, last) = (&self.parts[first], &self.parts[after_last - 1]);
        let cut = |(part, source): &(Range<usize>, Range<usize>), cut: usize| {
            if part.len() == source.len() { cut } else { 0 }
        };
        let before = cut(first, range.start.saturating_sub(first.0.start));
        let after = cut(last, last.0.end.saturating_sub(range.end));
        first.1.start + before..last.1.end - after
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
    fn a_replaced_part_stands_for_its_source_as_a_whole() {
        let source = r"a\u00e9b";
        let mut excerpt = Excerpt::default();
        excerpt.part(source, 0..1);
        excerpt.replaced("é", 1..7);
        excerpt.part(source, 7..8);
        assert_eq!(excerpt.text(), "aéb");
        assert_eq!(excerpt.source_of(1..3), 1..7);
        assert_eq!(excerpt.source_of(0..2), 0..7);
        assert_eq!(excerpt.source_of(2..4), 1..8);
        let parts: Vec<_> = excerpt.parts(0..4).map(|(_, place)| &source[place]).collect();
        assert_eq!(parts, ["a", r"\u00e9", "b"]);
    }

    #[test]
    fn far_indented_lines_are_moved_near() {
        let mut excerpt = Excerpt::default();
        excerpt.push(1 << 40, "a", 0..1);
        assert_eq!(excerpt.text().len(), MAX_INDENT + 2);
    }
}
