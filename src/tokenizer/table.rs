//! The table of tokenizers: by name, for the command line, the help and the property tests.

use super::char_ngram::CharNgram;
use super::code::Code;
#[cfg(feature = "jieba")]
use super::jieba::Jieba;
use super::tokens::Tokenizer;
use super::uax29::Uax29;
use super::whitespace::Whitespace;
use super::word::Word;
use crate::error::Error;

/// One line of the table of tokenizers.
#[non_exhaustive]
pub struct TokenizerEntry {
    /// Its name, as [`by_name`](super::by_name) takes it.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The default and the range of the number that may follow the name (`char:5`), for those that take one.
    pub size: Option<(usize, std::ops::RangeInclusive<usize>)>,
    /// Whether neighbouring tokens overlap, so that each token is already a shingle.
    pub overlapping: bool,
    /// Makes the tokenizer; the number is the size, if the entry has one. `None` if this build lacks the tokenizer: it
    /// then needs the cargo feature of the same name.
    pub build: Option<fn(usize) -> Box<dyn Tokenizer>>,
}

/// Every tokenizer, the default first.
pub static TOKENIZERS: &[TokenizerEntry] = &[
    TokenizerEntry {
        name: "word",
        summary: "runs of letters, marks, digits and _ after NFKC and case folding; each Han or Kana character and each grapheme of Thai, Lao, Khmer and Burmese is a token",
        size: None,
        overlapping: false,
        build: Some(|_| Box::new(Word)),
    },
    TokenizerEntry {
        name: "uax29",
        summary: "words by Unicode Standard Annex 29, after NFKC and case folding",
        size: None,
        overlapping: false,
        build: Some(|_| Box::new(Uax29)),
    },
    TokenizerEntry {
        name: "char",
        summary: "runs of N characters (char:N, default 4) of the text after NFKC, case folding and joining of white space; char:auto takes 5, or 9 for a median from 1,000 words on",
        size: Some((4, 1..=64)),
        overlapping: true,
        build: Some(|n| Box::new(CharNgram::new(n))),
    },
    TokenizerEntry {
        name: "code",
        summary: "identifiers, numbers and single punctuation marks of source code; case counts",
        size: None,
        overlapping: false,
        build: Some(|_| Box::new(Code)),
    },
    TokenizerEntry {
        name: "whitespace",
        summary: "text between white space, unchanged",
        size: None,
        overlapping: false,
        build: Some(|_| Box::new(Whitespace)),
    },
    TokenizerEntry {
        name: "jieba",
        summary: "as word, but Chinese is cut into the words of a dictionary",
        size: None,
        overlapping: false,
        #[cfg(feature = "jieba")]
        build: Some(|_| Box::new(Jieba)),
        #[cfg(not(feature = "jieba"))]
        build: None,
    },
];

/// The names of the tokenizers that this build has.
fn names() -> String {
    let built = TOKENIZERS.iter().filter(|entry| entry.build.is_some());
    built.map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// The name of the choice between runs of 5 and of 9 characters by the length of the documents. It is not a tokenizer: an
/// algorithm chooses one of the two when it knows the length; see
/// [`TableFactory::with_tokenizer`](crate::algorithm::TableFactory::with_tokenizer). The length is that of [`WordLength`](super::WordLength), if this
/// is the tokenizer of the run.
pub const CHAR_AUTO: &str = "char:auto";

/// Whether this is the name of a tokenizer of the table whose tokens overlap.
pub fn is_overlapping(typed: &str) -> bool {
    let name = typed.split(':').next();
    TOKENIZERS.iter().any(|entry| Some(entry.name) == name && entry.overlapping)
}

/// Whether this tokenizer makes its tokens of those of another: `jieba`, and [`Prepared`](super::Prepared), whose name lists steps after a
/// comma.
pub(crate) fn is_rewriting(name: &str) -> bool {
    name == "jieba" || name.contains(", ")
}

/// Finds a tokenizer by its name in the table, or by `NAME:SIZE` if it takes a size.
///
/// # Errors
/// [`Error::Parameter`] if the name is unknown, the size is out of range, the tokenizer takes none, or this build lacks
/// it.
pub fn by_name(typed: &str) -> Result<Box<dyn Tokenizer>, Error> {
    let (entry, size) = find(typed)?;
    let build = entry.build.ok_or_else(|| {
        let (name, names) = (entry.name, names());
        let expected = format!("one of {names}: this build lacks {name}, which needs the feature {name}");
        Error::parameter("tokenizer", typed, expected)
    })?;
    Ok(build(size))
}

/// The canonical name of a tokenizer with several spellings: `char` is `char:4`.
///
/// # Errors
/// As for [`by_name`], but this build need not have the tokenizer.
pub fn canonical_name(typed: &str) -> Result<String, Error> {
    let (entry, size) = find(typed)?;
    Ok(if entry.size.is_some() { format!("{}:{size}", entry.name) } else { entry.name.to_string() })
}

fn find(typed: &str) -> Result<(&'static TokenizerEntry, usize), Error> {
    let (name, size) = match typed.split_once(':') {
        Some((name, size)) => (name, Some(size)),
        None => (typed, None),
    };
    let bad = |expected: String| Error::parameter("tokenizer", typed, expected);
    let Some(entry) = TOKENIZERS.iter().find(|entry| entry.name == name) else {
        return Err(bad(format!("one of {}", names())));
    };
    let size = match (&entry.size, size) {
        (None, None) => 0,
        (None, Some(_)) => return Err(bad(format!("{name} alone: it takes no size"))),
        (Some((default, _)), None) => *default,
        (Some((_, range)), Some(digits)) => match digits.parse() {
            Ok(n) if range.contains(&n) => n,
            _ if typed == CHAR_AUTO => {
                return Err(bad(format!("{name}:N here, such as char:5 for short texts or char:9 for long ones")));
            }
            _ => return Err(bad(format!("{name}:N with N from {} to {}", range.start(), range.end()))),
        },
    };
    Ok((entry, size))
}
