//! Weights of terms from a file: how important its author considers each word.
//!
//! ```text
//! # term<TAB>weight
//! aliens<TAB>5
//! said<TAB>0
//! ```
//!
//! UTF-8. A line is a term, a tab and a whole number from 0 to [`MAX`]; empty lines are ignored, and so are lines that
//! begin with `#`. A term is cut into tokens like the documents and must be a single token, listed once. Terms that are
//! not listed weigh 1. A line that cannot be used is an error, and is not skipped: results depend on every weight.
//!
//! The digest is the SHA-1, in hexadecimal, of the terms as tokens, in the order of their bytes, each with a tab, its
//! weight and a line feed.

use super::file::hex;
use super::list::{shortened, token};
use super::{FileIdentity, Shards, TermMemory, lines};
use crate::error::Error;
use crate::hash::token_hash;
use crate::source;
use crate::tokenizer::Tokenizer;
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The largest weight. Random projection repeats a token as often as it weighs.
pub const MAX: u32 = 100;

/// The weights of terms.
#[derive(Clone, Debug)]
pub struct TermWeights {
    /// One more than the weight of each listed term, by its hash.
    above: Shards,
    terms: usize,
    origin: FileIdentity,
}

/// The memory of a term beside its text: in a map, and in the table that is made of the map.
const BYTES_A_TERM: u64 = 110;

fn too_many_terms(name: &str, bytes: u64) -> Error {
    Error::Full(format!(
        "the terms of the weights {name} take more than {bytes} bytes, their part of `memory`: allow more"
    ))
}

impl PartialEq for TermWeights {
    fn eq(&self, other: &Self) -> bool {
        self.origin == other.origin
    }
}

impl Eq for TermWeights {}

impl TermWeights {
    /// Reads a [file of weights](self), compressed or not. `tokenizer` must be that of the documents, and `seed` the
    /// seed of the run.
    ///
    /// # Errors
    /// The file cannot be read, has no term, or has a line that violates the format or is longer than 1 MiB. The error names the file, the line
    /// and the value.
    ///
    /// # Cost
    /// The file is held in memory while it is read; then 21 to 43 bytes per term.
    pub fn read(path: &Path, tokenizer: &dyn Tokenizer, seed: u64) -> Result<Self, Error> {
        TermWeights::read_at_most(path, tokenizer, seed, u64::MAX)
    }

    /// As [`read`](Self::read), for a run with this memory.
    ///
    /// # Errors
    /// As for [`read`](Self::read); or the terms take more than half of the memory, and 32 MiB.
    pub fn read_within(path: &Path, tokenizer: &dyn Tokenizer, seed: u64, memory: u64) -> Result<Self, Error> {
        TermWeights::read_at_most(path, tokenizer, seed, TermMemory::of(memory, None).counting)
    }

    fn read_at_most(path: &Path, tokenizer: &dyn Tokenizer, seed: u64, bytes: u64) -> Result<Self, Error> {
        let (mut content, name) = (Vec::new(), path.display().to_string());
        let read = source::open(path).and_then(|from| from.take(bytes).read_to_end(&mut content));
        read.map_err(|error| Error::input(format!("cannot read the weights {name}"), error))?;
        if content.len() as u64 == bytes {
            return Err(too_many_terms(&name, bytes));
        }
        TermWeights::parse_within(&name, &content, tokenizer, seed, bytes)
    }

    /// The weights in `content`. Errors call it `name`.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn parse(name: &str, content: &[u8], tokenizer: &dyn Tokenizer, seed: u64) -> Result<Self, Error> {
        TermWeights::parse_within(name, content, tokenizer, seed, u64::MAX)
    }

    /// As [`parse`](Self::parse), of a list whose terms take at most this much memory.
    fn parse_within(
        name: &str,
        content: &[u8],
        tokenizer: &dyn Tokenizer,
        seed: u64,
        bytes: u64,
    ) -> Result<Self, Error> {
        let (mut weights, mut held) = (BTreeMap::new(), content.len() as u64);
        lines::each(name, content, EXPECTED, |line| {
            let (term, weight) = parsed(line)?;
            let advice = "weigh the tokens of a longer term one by one";
            let term = token(term, tokenizer).map_err(|why| format!("{why}: {advice}"))?;
            held += BYTES_A_TERM + term.len() as u64;
            // Of more, none is kept.
            match held <= bytes && weights.insert(term.clone(), weight).is_some() {
                true => Err(format!("the term {term:?} is listed twice")),
                false => Ok(()),
            }
        })?;
        if held > bytes {
            return Err(too_many_terms(name, bytes));
        }
        if weights.is_empty() {
            return Err(lines::wrong(name, 1, format!("no weight in the file: expected lines of {EXPECTED}")));
        }
        let (mut above, mut sha1) = (Shards::default(), Sha1::new());
        for (term, weight) in &weights {
            above.change(token_hash(term.as_bytes(), seed), |_| weight + 1);
            sha1.update(format!("{term}\t{weight}\n"));
        }
        let origin = FileIdentity {
            what: "list of weights",
            digest: hex(&sha1.finalize()),
            tokenizer: tokenizer.name().into_owned(),
            seed,
        };
        Ok(TermWeights { above, terms: weights.len(), origin })
    }

    /// The weight of a term; 1 if it is not listed.
    #[inline]
    pub fn of(&self, term: u64) -> u32 {
        self.above.get(term).checked_sub(1).unwrap_or(1)
    }

    /// Bytes of memory.
    pub(crate) fn bytes_held(&self) -> u64 {
        self.above.bytes_held()
    }

    /// The number of listed terms.
    pub fn len(&self) -> usize {
        self.terms
    }

    /// Whether no term is listed.
    pub fn is_empty(&self) -> bool {
        self.terms == 0
    }

    /// The identity of the file.
    pub fn origin(&self) -> &FileIdentity {
        &self.origin
    }
}

/// What a line is, for errors.
const EXPECTED: &str = "a term, a tab and a weight";

/// A line as a term and its weight.
fn parsed(line: &str) -> Result<(&str, u32), String> {
    let Some((term, weight)) = line.split_once('\t') else {
        return Err(format!("expected {EXPECTED}, not {:?}", shortened(line)));
    };
    let digits = weight.trim();
    let number = digits.parse::<u32>().ok().filter(|&number| number <= MAX && number.to_string() == digits);
    match number {
        Some(weight) => Ok((term, weight)),
        None => Err(format!("{:?} is not a weight: expected a whole number from 0 to {MAX}", shortened(weight))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::Word;

    #[test]
    fn weights_that_take_too_much_memory_are_refused() {
        let list: String = (0..1000).map(|n| format!("word{n}\t{}\n", n % 101)).collect();
        let read = |bytes| TermWeights::parse_within("f", list.as_bytes(), &Word, 0, bytes);
        assert_eq!(read(130_000).unwrap().len(), 1000);
        let error = read(120_000).unwrap_err();
        assert_eq!(error.kind().name(), "memory");
        let expected = "the terms of the weights f take more than 120000 bytes, their part of `memory`: allow more";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn weights_are_those_of_the_file() {
        let parse = |content: &str| TermWeights::parse("f", content.as_bytes(), &Word, 3);
        let weights = parse("# comment\nAliens\t5\n\nsaid\t0\r\nmost\t100").unwrap();
        let of = |term: &str| weights.of(token_hash(term.as_bytes(), 3));
        assert_eq!(["aliens", "said", "most", "other"].map(of), [5, 0, 100, 1]);
        assert_eq!((weights.len(), parse("said\t0\nmost\t100\naliens\t5").unwrap() == weights), (3, true));
        for (content, expected) in [
            ("a\t1\nb 2", "f:2: expected a term, a tab and a weight, not \"b 2\""),
            ("a\t101", "f:1: \"101\" is not a weight: expected a whole number from 0 to 100"),
            ("a\t0.5", "f:1: \"0.5\" is not a weight"),
            ("a\t-1", "f:1: \"-1\" is not a weight"),
            ("a b\t1", "f:1: \"a b\" is 2 tokens of 'word', and a term is one"),
            ("a\t1\nA\t2", "f:2: the term \"a\" is listed twice"),
            ("\n", "f:1: no weight in the file"),
        ] {
            let found = parse(content).unwrap_err().to_string();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
