//! Text with pieces left out.

use super::room::{reserve, reserve_text};
use std::ops::Range;

/// A text with pieces left out, which maps positions to the original: working memory, refilled.
#[derive(Clone, Debug, Default)]
pub(super) struct Shortened {
    /// The remaining text.
    pub text: String,
    /// The positions where something was left out, each with the number of bytes left out up to there.
    gaps: Vec<(usize, usize)>,
    /// The bytes of memory that it may take, and whether it would take more: it is incomplete then.
    room: usize,
    is_beyond_bound: bool,
}

impl Shortened {
    /// Removes the text, keeps the memory. The next one takes at most `room` bytes.
    pub fn begin(&mut self, room: usize) {
        self.text.clear();
        self.gaps.clear();
        self.room = room;
        self.is_beyond_bound = false;
    }

    /// Whether the text takes more memory than it may: then it is incomplete.
    pub fn is_beyond_bound(&self) -> bool {
        self.is_beyond_bound
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> usize {
        self.text.capacity() + size_of::<(usize, usize)>() * self.gaps.capacity()
    }

    /// Appends a piece that is kept.
    pub fn push(&mut self, kept: &str) {
        let left = self.room.saturating_sub(self.bytes_held());
        if reserve_text(&mut self.text, kept.len(), || left) {
            self.text.push_str(kept);
        } else {
            self.is_beyond_bound = true;
        }
    }

    /// Appends the characters of `text` that are wanted.
    pub fn extend(&mut self, text: &str, wanted: impl Fn(char) -> bool) {
        let mut kept = 0;
        for (at, c) in text.char_indices().filter(|&(_, c)| !wanted(c)) {
            self.push(&text[kept..at]);
            self.leave_out(c.len_utf8());
            kept = at + c.len_utf8();
        }
        self.push(&text[kept..]);
    }

    /// Leaves out this many bytes.
    pub fn leave_out(&mut self, bytes: usize) {
        let here = self.text.len();
        match self.gaps.last_mut() {
            Some((at, total)) if *at == here => *total += bytes,
            last => {
                let total = last.map_or(0, |(_, total)| *total) + bytes;
                let left = self.room.saturating_sub(self.bytes_held());
                match reserve(&mut self.gaps, 1, || left) {
                    true => self.gaps.push((here, total)),
                    false => self.is_beyond_bound = true,
                }
            }
        }
    }

    /// The span in the original of these bytes of the text, without what was left out at its ends.
    pub fn original(&self, Range { start, end }: Range<usize>) -> Range<usize> {
        let left_out = |gaps: usize| gaps.checked_sub(1).map_or(0, |last| self.gaps[last].1);
        let before_start = left_out(self.gaps.partition_point(|&(at, _)| at <= start));
        let before_end = left_out(self.gaps.partition_point(|&(at, _)| at < end));
        start + before_start..end + before_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_stand_where_their_characters_stood(text in "[a-cäß日]{0,40}") {
            let wanted = |c| !matches!(c, 'b' | 'ß');
            let mut shortened = Shortened::default();
            shortened.begin(usize::MAX);
            shortened.extend("before", |_| false);
            shortened.begin(usize::MAX);
            shortened.extend(&text, wanted);
            let kept: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| wanted(*c)).collect();
            prop_assert_eq!(&shortened.text, &kept.iter().map(|(_, c)| c).collect::<String>());
            let places: Vec<(usize, char)> = shortened.text.char_indices().collect();
            for (first, &(start, _)) in places.iter().enumerate() {
                for (&(last, c), &(stood, _)) in places[first..].iter().zip(&kept[first..]) {
                    let expected = kept[first].0..stood + c.len_utf8();
                    prop_assert_eq!(shortened.original(start..last + c.len_utf8()), expected);
                }
            }
        }
    }
}
