//! The documents that are compared, and places in them.

use super::super::terminal::{self, Terminal};
use neardups::engine::Observer;
use neardups::source::{Place as RecordPlace, Problem, Record as SourceRecord};
use neardups::tokenizer::{TokenDetail, Tokenizer, Tokens};
use serde::Serialize;
use std::ops::Range;

/// A document.
pub struct Document {
    pub id: String,
    /// The location, if it is a record that was named by its number.
    pub at: Option<RecordPlace>,
    pub text: String,
    pub tokens: Tokens,
    /// Byte offsets of line ends.
    pub line_ends: Vec<usize>,
}

/// A record, and whether its place is shown.
pub type Read = (SourceRecord, bool);

/// The documents of `--in`: their number, and their median length.
pub struct Collection {
    pub documents: usize,
    pub median_tokens: usize,
}

impl Document {
    pub fn new(
        record: SourceRecord,
        is_placed: bool,
        (tokenizer, seed): (&dyn Tokenizer, u64),
        terminal: &Terminal,
    ) -> Self {
        record.changes.iter().for_each(|problem: &Problem| terminal.problem(problem));
        let SourceRecord { id, text, place, .. } = record;
        let mut tokens = Tokens::new(TokenDetail::Everything, seed);
        tokenizer.cut(&text, &mut tokens);
        let line_ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Document { id, at: is_placed.then_some(place), text, tokens, line_ends }
    }

    /// The id, with the location unless the id says as much.
    pub fn name(&self) -> String {
        let id = terminal::escaped(&self.id);
        match &self.at {
            Some(at) if !at.names(&self.id) => format!("{id} ({})", terminal::escaped(&at.to_string())),
            _ => id,
        }
    }

    pub fn distinct_tokens(&self) -> usize {
        let mut hashes = self.tokens.hashes().to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.len()
    }

    /// The place of some of its tokens, at least one.
    pub fn place(&self, first: usize, tokens: usize) -> Place {
        self.place_of(self.tokens.span(first).start..self.tokens.span(first + tokens - 1).end)
    }

    /// The place of a range of bytes.
    pub fn place_of(&self, Range { start, end }: Range<usize>) -> Place {
        let line = |byte: usize| self.line_ends.partition_point(|&end| end < byte) + 1;
        Place { lines: [line(start), line(end.saturating_sub(1).max(start))], bytes: [start, end] }
    }
}

/// A range of lines, from 1 and inclusive, and of bytes of the text as UTF-8, from 0 and exclusive.
#[derive(Serialize)]
pub struct Place {
    pub lines: [usize; 2],
    pub bytes: [usize; 2],
}

impl Place {
    /// The place for people.
    pub fn shown(&self) -> String {
        let Place { lines: [first, last], bytes: [start, end] } = self;
        let lines = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
        format!("{lines} (bytes {start}-{end})")
    }
}
