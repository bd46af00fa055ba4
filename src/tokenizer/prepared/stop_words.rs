//! Stop words: lists of them, and their positions among tokens.

use super::super::{TokenDetail, Tokenizer, Tokens};
use crate::error::Error;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// A list of stop words, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopList {
    /// The name of the list: the language or the file.
    pub name: String,
    /// The words, each with its line. A word of several tokens (`don't`) is removed only where they follow each other.
    words: Vec<(usize, String)>,
    /// Whether a word without tokens is an error: in a list that was written for this run.
    strict: bool,
    /// Whether it is the list of a language.
    is_built_in: bool,
}

/// The codes of the languages that have a list: ISO 639-1, and `hinglish`. The lists are those of NLTK, and of
/// Stopwords ISO for other languages. Empty without the feature `stop-words`.
pub fn stop_word_languages() -> &'static [&'static str] {
    #[cfg(feature = "stop-words")]
    return stop_words::available_languages();
    #[cfg(not(feature = "stop-words"))]
    &[]
}

/// The words of a language.
#[cfg(feature = "stop-words")]
fn words_of(code: &str) -> Option<&'static [&'static str]> {
    stop_words::lookup(code)
}

/// The words of a language: there are none in this build.
#[cfg(not(feature = "stop-words"))]
fn words_of(_code: &str) -> Option<&'static [&'static str]> {
    None
}

impl StopList {
    /// The list of a language, by its code.
    ///
    /// # Errors
    /// [`Error::Parameter`] that lists the codes.
    pub fn of_language(code: &str) -> Result<Self, Error> {
        let words = words_of(code).ok_or_else(|| {
            if stop_word_languages().is_empty() {
                let message = "lists of stop words by language are only in programs built with the feature stop-words";
                return Error::Unsuitable(message.into());
            }
            let codes = stop_word_languages().join(", ");
            Error::parameter("stopwords", code, format!("a file, or languages: {codes}"))
        })?;
        let words = words.iter().enumerate().map(|(number, word)| (number + 1, word.to_string())).collect();
        Ok(StopList { name: code.to_string(), words, strict: false, is_built_in: true })
    }

    /// A list from the content of a file: UTF-8, one word per line. A line that begins with `#` is a comment.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the file and the line that is not UTF-8, or the file if it has no words.
    pub fn parse(name: &str, content: &[u8]) -> Result<Self, Error> {
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        let mut words = Vec::new();
        for (number, line) in (1..).zip(content.split(|&byte| byte == b'\n')) {
            let line = std::str::from_utf8(line).map_err(|_| {
                Error::Usage(format!("`stopwords`: {name}:{number}: not UTF-8; expected one word a line"))
            })?;
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                words.push((number, line.to_string()));
            }
        }
        if words.is_empty() {
            return Err(Error::Usage(format!("`stopwords`: {name}: no word in it; expected one a line")));
        }
        Ok(StopList { name: name.to_string(), words, strict: true, is_built_in: false })
    }

    /// The identity of the list: the language, or a digest of the words, independent of their file.
    pub(super) fn identity(&self) -> String {
        if self.is_built_in {
            return self.name.clone();
        }
        let mut words: Vec<&str> = self.words().collect();
        words.sort_unstable();
        words.dedup();
        format!("list-{:016x}", xxh3_64(words.join("\n").as_bytes()))
    }

    /// The words, as written.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|(_, word)| &**word)
    }

    /// A list of these words.
    pub fn new<W: Into<String>>(name: &str, words: impl IntoIterator<Item = W>) -> Self {
        let words = (1..).zip(words).map(|(number, word)| (number, word.into())).collect();
        StopList { name: name.to_string(), words, strict: false, is_built_in: false }
    }
}

/// Tokens that follow each other.
type Sequence = Box<[Box<str>]>;

/// Stop words as sequences of tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct StopWords {
    /// By first token: the other tokens of each entry, the longest first.
    by_first: HashMap<Box<str>, Vec<Sequence>>,
}

impl StopWords {
    /// The entries of all lists, cut by `tokenizer`.
    pub fn new(lists: &[StopList], tokenizer: &dyn Tokenizer) -> Result<Self, Error> {
        let mut all = StopWords::default();
        let mut tokens = Tokens::new(TokenDetail::Everything, 0);
        for list in lists {
            for (number, word) in &list.words {
                tokenizer.tokenize(word, &mut tokens);
                if !tokens.is_empty() {
                    let rest = (1..tokens.len()).map(|i| tokens.text(i).into()).collect();
                    all.by_first.entry(tokens.text(0).into()).or_default().push(rest);
                } else if list.strict {
                    return Err(Error::Usage(format!(
                        "`stopwords`: {}:{number}: '{word}' gives no token, so nothing would be removed; expected a word",
                        list.name
                    )));
                }
            }
        }
        for rests in all.by_first.values_mut() {
            rests.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            rests.dedup();
        }
        Ok(all)
    }

    /// The number of tokens of the longest stop word at `at`; 0 if there is none.
    pub fn len_at(&self, tokens: &Tokens, at: usize) -> usize {
        let Some(rests) = self.by_first.get(tokens.text(at)) else { return 0 };
        let follows = |rest: &[Box<str>]| {
            at + rest.len() < tokens.len() && (at + 1..).zip(rest).all(|(i, wanted)| tokens.text(i) == &**wanted)
        };
        rests.iter().find(|rest| follows(rest)).map_or(0, |rest| 1 + rest.len())
    }
}
