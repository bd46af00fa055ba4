//! Lists of words as lexicons: one term per line, without counts.
//!
//! ```text
//! # a comment
//! fox
//! dog
//! ```
//!
//! UTF-8. White space around a term and empty lines are ignored, and so are lines that begin with `#`. A line is cut
//! into tokens like the documents, so case and composition do not matter; it must be a single token. A term may be
//! listed twice.
//!
//! A line that cannot be used is an error, and is not skipped: results depend on every word of the list.
//!
//! The digest is the SHA-1, in hexadecimal, of the distinct terms as tokens, in the order of their bytes, each with a
//! line feed after it. Lists that differ only in order, comments or case therefore have the same digest.

use super::file::hex;
use super::{FileIdentity, Frequencies, Lexicon, LexiconBuilder, Shards, TermMemory, lines};
use crate::error::Error;
use crate::hash::token_hash;
use crate::source;
use crate::tokenizer::{TokenDetail, Tokenizer, Tokens};
use sha1::{Digest, Sha1};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

impl Lexicon {
    /// Reads a lexicon, compressed or not: a [lexicon file](super::file), whose first byte is `{`, or else a [list of
    /// words](self). `tokenizer` cuts the words of a list into tokens and must be that of the documents; `seed` must be
    /// the seed of the run.
    ///
    /// # Errors
    /// The file cannot be read, or violates its format. The error names the file, the line and the value.
    ///
    /// # Cost
    /// As for [`read`](Self::read).
    pub fn open(path: &Path, tokenizer: &dyn Tokenizer, seed: u64) -> Result<Lexicon, Error> {
        open(path, tokenizer, seed, LexiconBuilder::new())
    }

    /// As [`open`](Self::open), for a run with this memory: what is too much of a lexicon file for an eighth of it, and 8 MiB, goes
    /// to a temporary file in `temp_dir`, or in the system's folder.
    ///
    /// # Errors
    /// As for [`open`](Self::open); or the temporary file cannot be written; or the words of a list take more than half of the memory, and
    /// 32 MiB.
    ///
    /// # Cost
    /// As for [`read`](Self::read), within the memory. Later, a document reads 4 KiB of the temporary file for each of its terms that
    /// is not among the most frequent ones, if there is such a file.
    pub fn open_within(
        path: &Path,
        tokenizer: &dyn Tokenizer,
        seed: u64,
        memory: u64,
        temp_dir: Option<&Path>,
    ) -> Result<Lexicon, Error> {
        let TermMemory { counting, kept, folder } = TermMemory::of(memory, temp_dir);
        // The algorithm makes a table of its own from it.
        open(path, tokenizer, seed, LexiconBuilder::within(TermMemory { counting, kept: kept / 2, folder }, 1))
    }

    /// Reads a [list of words](self), compressed or not. `tokenizer` must be that of the documents, and `seed` the seed
    /// of the run.
    ///
    /// # Errors
    /// The file cannot be read, has no word, or has a line that is not UTF-8, longer than 1 MiB, or not a single token. The
    /// error names the file, the line and the value.
    ///
    /// # Cost
    /// The file is held in memory while it is read; then 21 to 43 bytes per term.
    pub fn read_list(path: &Path, tokenizer: &dyn Tokenizer, seed: u64) -> Result<Lexicon, Error> {
        read_list(path, source::open(path).map_err(|error| cannot_read(path, error))?, tokenizer, seed, u64::MAX)
    }

    /// As [`read_list`](Self::read_list), for a run with this memory.
    ///
    /// # Errors
    /// As for [`read_list`](Self::read_list); or the words take more than half of the memory, and 32 MiB.
    pub fn read_list_within(path: &Path, tokenizer: &dyn Tokenizer, seed: u64, memory: u64) -> Result<Lexicon, Error> {
        let from = source::open(path).map_err(|error| cannot_read(path, error))?;
        read_list(path, from, tokenizer, seed, TermMemory::of(memory, None).counting)
    }

    /// The [list of words](self) in `content`. Errors call it `name`.
    ///
    /// # Errors
    /// As for [`read_list`](Self::read_list).
    pub fn parse_list(name: &str, content: &[u8], tokenizer: &dyn Tokenizer, seed: u64) -> Result<Lexicon, Error> {
        Lexicon::parse_list_within(name, content, tokenizer, seed, u64::MAX)
    }

    /// As [`parse_list`](Self::parse_list), of a list whose words take at most this much memory.
    fn parse_list_within(
        name: &str,
        content: &[u8],
        tokenizer: &dyn Tokenizer,
        seed: u64,
        bytes: u64,
    ) -> Result<Lexicon, Error> {
        let terms = words_within(name, content, tokenizer, bytes)?;
        let (mut frequencies, mut sha1) = (Shards::default(), Sha1::new());
        for term in &terms {
            frequencies.change(token_hash(term.as_bytes(), seed), |_| 1);
            sha1.update(format!("{term}\n"));
        }
        let origin = FileIdentity {
            what: "lexicon",
            digest: hex(&sha1.finalize()),
            tokenizer: tokenizer.name().into_owned(),
            seed,
        };
        let words = terms.into_iter().take(WORDS_KEPT).collect();
        Ok(Lexicon { origin: Some(origin), is_list: true, words, ..Lexicon::of(0, Frequencies::Held(frequencies)) })
    }
}

/// What a line is, for errors.
const EXPECTED: &str = "one word a line";

/// The number of words of a list that are kept for messages.
const WORDS_KEPT: usize = 1000;

/// The distinct words of a [list](self), as the tokens that `tokenizer` makes of them. Errors call the list `name`.
///
/// # Errors
/// As for [`Lexicon::read_list`].
pub fn words(name: &str, content: &[u8], tokenizer: &dyn Tokenizer) -> Result<BTreeSet<String>, Error> {
    words_within(name, content, tokenizer, u64::MAX)
}

/// The memory of a word beside its text: in a set, and in the table that is made of the set.
const BYTES_A_WORD: u64 = 110;

/// As [`words`], of a list whose words take at most this much memory.
fn words_within(name: &str, content: &[u8], tokenizer: &dyn Tokenizer, bytes: u64) -> Result<BTreeSet<String>, Error> {
    let (mut words, mut held) = (BTreeSet::new(), content.len() as u64);
    lines::each(name, content, EXPECTED, |line| {
        let word = token(line, tokenizer).map_err(|why| format!("{why}: expected {EXPECTED}"))?;
        // A word may be listed twice. Of those that are too many, none is kept.
        if !words.contains(&word) {
            held += BYTES_A_WORD + word.len() as u64;
            if held <= bytes {
                words.insert(word);
            }
        }
        Ok(())
    })?;
    if held > bytes {
        return Err(too_many_words(name, bytes));
    }
    match words.is_empty() {
        true => Err(lines::wrong(name, 1, format!("no word in the file: expected {EXPECTED}"))),
        false => Ok(words),
    }
}

/// The only token of a word.
///
/// # Errors
/// A message that names the word, if it is not a single token.
pub fn token(word: &str, tokenizer: &dyn Tokenizer) -> Result<String, String> {
    let mut tokens = Tokens::new(TokenDetail::Texts, 0);
    tokenizer.cut(word, &mut tokens);
    match tokens.len() {
        1 => Ok(tokens.text(0).to_string()),
        count => Err(format!("{:?} is {count} tokens of '{}', and a term is one", shortened(word), tokenizer.name())),
    }
}

fn open(path: &Path, tokenizer: &dyn Tokenizer, seed: u64, builder: LexiconBuilder) -> Result<Lexicon, Error> {
    let mut from = BufReader::new(source::open(path).map_err(|error| cannot_read(path, error))?);
    let is_list = from.fill_buf().map_err(|error| cannot_read(path, error))?.first() != Some(&b'{');
    match is_list {
        true => read_list(path, from, tokenizer, seed, builder.bytes_for_counting()),
        false => Lexicon::read_from(path, from, seed, builder),
    }
}

/// Reads a list whose words take at most this much memory.
fn read_list(path: &Path, from: impl Read, tokenizer: &dyn Tokenizer, seed: u64, bytes: u64) -> Result<Lexicon, Error> {
    let (mut content, name) = (Vec::new(), path.display().to_string());
    from.take(bytes).read_to_end(&mut content).map_err(|error| cannot_read(path, error))?;
    if content.len() as u64 == bytes {
        return Err(too_many_words(&name, bytes));
    }
    Lexicon::parse_list_within(&name, &content, tokenizer, seed, bytes)
}

fn too_many_words(name: &str, bytes: u64) -> Error {
    Error::Full(format!(
        "the words of the list {name} take more than {bytes} bytes, their part of `memory`: allow more"
    ))
}

fn cannot_read(path: &Path, error: std::io::Error) -> Error {
    Error::input(format!("cannot read the lexicon {}", path.display()), error)
}

/// The beginning of a line, for messages.
pub(super) fn shortened(line: &str) -> String {
    line.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::Word;

    fn parse(content: &str) -> Result<Lexicon, String> {
        Lexicon::parse_list("f", content.as_bytes(), &Word, 7).map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_has_its_terms_and_no_counts() {
        let list = parse("\u{feff}# comment\nFox\n\n  dog \r\nfox\n").unwrap();
        assert_eq!((list.len(), list.documents(), list.is_list()), (2, 0, true));
        assert!(list.contains(token_hash(b"fox", 7)) && list.contains(token_hash(b"dog", 7)));
        assert!(!list.contains(token_hash(b"comment", 7)) && !list.contains(token_hash(b"Fox", 7)));
        // printf 'dog\nfox\n' | sha1sum
        assert_eq!(list.origin().unwrap().digest, "7e0d20f57ff3271c6a22b3ded809b4d3057c9606");
        assert_eq!(parse("DOG\nfox").unwrap(), list);
    }

    #[test]
    fn a_list_that_takes_too_much_memory_is_refused() {
        let list: String = (0..1000).map(|n| format!("word{n}\n")).collect();
        let read = |bytes| Lexicon::parse_list_within("f", list.as_bytes(), &Word, 0, bytes);
        assert_eq!(read(126_000).unwrap().len(), 1000);
        let repeated = "word\n".repeat(10_000);
        assert_eq!(Lexicon::parse_list_within("f", repeated.as_bytes(), &Word, 0, 60_000).unwrap().len(), 1);
        let error = read(120_000).unwrap_err();
        assert_eq!(error.kind().name(), "memory");
        assert_eq!(
            error.to_string(),
            "the words of the list f take more than 120000 bytes, their part of `memory`: allow more"
        );
    }

    #[test]
    fn errors_name_the_line_and_the_value() {
        for (content, expected) in [
            ("fox\ndon't\n", "f:2: \"don't\" is 2 tokens of 'word', and a term is one: expected one word a line"),
            ("fox\n\n—\n", "f:3: \"—\" is 0 tokens of 'word', and a term is one: expected one word a line"),
            ("# nothing\n", "f:1: no word in the file: expected one word a line"),
        ] {
            let found = parse(content).unwrap_err();
            assert!(found.contains(expected), "{found}");
        }
        let error = Lexicon::parse_list("f", b"fox\n\xff\n", &Word, 0).unwrap_err().to_string();
        assert!(error.contains("f:2: not UTF-8"), "{error}");
    }
}
