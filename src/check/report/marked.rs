//! Text for people with marked parts. A terminal may show each mark in a colour.

use crate::readable::escaped;

/// The role of a part of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Ordinary text.
    #[default]
    Plain,
    /// The primary place.
    Primary,
    /// Another place.
    Other,
    /// The grade of an error.
    Error,
    /// The grade of a warning.
    Warning,
    /// The grade of a note.
    Note,
    /// Words that only the other place has.
    Removed,
    /// Words that only the primary place has.
    Added,
}

/// A text in parts. Added text is escaped, so that the only control characters are the line ends of the report itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    parts: Vec<(Mark, String)>,
    /// The mark of the next part.
    mark: Mark,
}

impl Marked {
    /// The parts with their marks, in order.
    pub fn parts(&self) -> impl Iterator<Item = (Mark, &str)> {
        self.parts.iter().map(|(mark, text)| (*mark, text.as_str()))
    }

    /// Whether it has no text.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The text without its marks.
    pub fn into_string(self) -> String {
        self.parts.into_iter().map(|(_, text)| text).collect()
    }

    /// Appends text, escaped; for chaining.
    pub(super) fn text(mut self, text: &str) -> Self {
        self.push(text);
        self
    }

    /// Appends text with a mark, escaped; for chaining.
    pub(super) fn marked(mut self, mark: Mark, text: &str) -> Self {
        self.open(mark);
        self.push(text);
        self.close();
        self
    }

    /// Ends the line; for chaining.
    pub(super) fn end_line(mut self) -> Self {
        self.last().push('\n');
        self
    }

    /// Appends the parts of another text; for chaining.
    pub(super) fn then(mut self, other: Marked) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// Appends text, escaped.
    pub(super) fn push(&mut self, text: &str) {
        self.last().push_str(&escaped(text));
    }

    /// Starts a part with a mark.
    pub(super) fn open(&mut self, mark: Mark) {
        self.mark = mark;
        self.parts.push((mark, String::new()));
    }

    /// Ends the marked part.
    pub(super) fn close(&mut self) {
        self.mark = Mark::Plain;
    }

    /// Whether the last part ends with `end`.
    pub(super) fn ends_with(&self, end: &str) -> bool {
        self.parts.last().is_some_and(|(_, text)| text.ends_with(end))
    }

    /// Drops white space at the end of the last part.
    pub(super) fn trim_end(&mut self) {
        if let Some((_, text)) = self.parts.last_mut() {
            text.truncate(text.trim_end().len());
        }
    }

    /// The part that text is appended to.
    fn last(&mut self) -> &mut String {
        if self.parts.last().is_none_or(|(mark, _)| *mark != self.mark) {
            self.parts.push((self.mark, String::new()));
        }
        &mut self.parts.last_mut().expect("there is one").1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_own_line_ends_are_left(text in "[a\u{1b}\u{7}\u{9b}\u{202e}\u{2066}\\[0m\n]*") {
            let marked = Marked::default().marked(Mark::Removed, &text).text(&text).end_line().text(&text);
            let one = escaped(&text);
            let parts: Vec<(Mark, &str)> = marked.parts().collect();
            let rest = format!("{one}\n{one}");
            prop_assert_eq!(parts, [(Mark::Removed, one.as_str()), (Mark::Plain, rest.as_str())]);
        }
    }
}
