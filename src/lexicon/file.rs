//! Lexicon files: the document frequency of each term of a collection, as text, so that later scans weight terms alike.
//!
//! ```text
//! {"type":"lexicon","version":2,"hash_version":3,"documents":3,"terms":2,"tokenizer":"word","min_df":2,"digest":"4b8a…"}
//! 2<TAB>fox
//! 3<TAB>the
//! ```
//!
//! The first line is a JSON object: the [version of hashes and tokens](crate::hash::HASH_VERSION), the number of
//! documents counted (exact copies once), the number of terms that follow, the tokenizer that made them, and the minimum
//! document frequency of a listed term. Each further line is a
//! term: its document frequency, a tab, the term. Terms are in the order of their bytes, each once. In a term, `\t`,
//! `\n`, `\r` and `\\` mean a tab, the two line breaks and the backslash; it may contain blanks. Every line ends with a
//! line feed.
//!
//! The digest is the SHA-1, in hexadecimal, of the same file without the digest: the first line as this program writes
//! it, without `,"digest":"…"`, then all bytes after it. So it also covers the numbers and the tokenizer, and nothing
//! else: equal counts give equal files, on any number of threads. Terms are text and not hashes, so the file depends on
//! no seed. It does depend on how text is cut into tokens and normalised, and so files of another version are refused.
//!
//! | version | what changed |
//! |---|---|
//! | 2 | the field `hash_version` |
//! | 1 | |

use super::{FileIdentity, Lexicon, LexiconBuilder};
use crate::error::Error;
use crate::hash::{HASH_VERSION, token_hash};
use crate::source;
use serde_json::{Map, Value, json};
use sha1::{Digest, Sha1};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 2;

/// The maximum length of a first line. Lexicons of this program have shorter ones.
const LONGEST_HEADER: u64 = 1 << 16;

/// The first line.
#[derive(Clone)]
struct Header {
    documents: u64,
    terms: u64,
    tokenizer: String,
    min_df: u32,
    /// `None` while the digest is computed.
    digest: Option<String>,
}

impl Header {
    /// The line as it is written.
    fn line(&self) -> String {
        let Header { documents, terms, tokenizer, min_df, digest } = self;
        let tokenizer = json!(tokenizer);
        let digest = digest.as_ref().map_or(String::new(), |digest| format!(r#","digest":{}"#, json!(digest)));
        format!(
            r#"{{"type":"lexicon","version":{VERSION},"hash_version":{HASH_VERSION},"documents":{documents},"terms":{terms},"tokenizer":{tokenizer},"min_df":{min_df}{digest}}}"#
        ) + "\n"
    }

    /// Takes the fields of a line whose type and version are known. The error names the field and what is wrong with
    /// it.
    fn of(mut fields: Map<String, Value>) -> Result<Header, String> {
        ["type", "version", "hash_version"].iter().for_each(|known| drop(fields.remove(*known)));
        let mut take = |name: &str| fields.remove(name).ok_or_else(|| format!("missing field '{name}'"));
        let number = |name: &str, value: Value| value.as_u64().ok_or_else(|| format!("'{name}' is not a whole number"));
        let text = |name: &str, value: Value| match value {
            Value::String(text) => Ok(text),
            _ => Err(format!("'{name}' is not a string")),
        };
        let min_df = number("min_df", take("min_df")?)?;
        let header = Header {
            documents: number("documents", take("documents")?)?,
            terms: number("terms", take("terms")?)?,
            tokenizer: text("tokenizer", take("tokenizer")?)?,
            min_df: u32::try_from(min_df).map_err(|_| format!("'min_df' is greater than {}", u32::MAX))?,
            digest: Some(text("digest", take("digest").map_err(|_| "it has no digest")?)?),
        };
        match fields.keys().next() {
            Some(other) => Err(format!("unknown field '{other}'")),
            None => Ok(header),
        }
    }
}

pub use super::terms::Terms;

impl Terms {
    /// Writes the lexicon file of the terms that are in at least `min_df` documents. `tokenizer` is the name of the tokenizer that
    /// made them ([`crate::tokenizer::canonical_name`]). Returns the digest.
    ///
    /// # Errors
    /// [`Error::Output`] if it cannot be written. If there is a temporary file of the terms, it cannot be read.
    pub fn write(&self, tokenizer: &str, min_df: u32, out: &mut impl Write) -> Result<String, Error> {
        let mut header = Header {
            documents: self.documents(),
            terms: self.len(min_df),
            tokenizer: tokenizer.into(),
            min_df,
            digest: None,
        };
        let mut sha1 = Sha1::new_with_prefix(header.line());
        self.lines(min_df, |line| {
            sha1.update(line);
            Ok(())
        })?;
        let digest = hex(&sha1.finalize());
        header.digest = Some(digest.clone());
        let mut write = |line: &str| {
            out.write_all(line.as_bytes()).map_err(|error| Error::output("cannot write the lexicon", error))
        };
        write(&header.line())?;
        self.lines(min_df, write)?;
        Ok(digest)
    }

    fn lines(&self, min_df: u32, mut each: impl FnMut(&str) -> Result<(), Error>) -> Result<(), Error> {
        self.for_each(min_df, |term, df| each(&format!("{df}\t{}\n", escaped(term))))
    }
}

impl Lexicon {
    /// Reads a lexicon file, compressed or not, and verifies it. Its terms become token hashes with this seed, which
    /// must be the seed of the run.
    ///
    /// # Errors
    /// The file cannot be read, or violates the format in [this module](self). The error names the file, the line and
    /// the value.
    ///
    /// # Cost
    /// A SHA-1 and a hash of every byte. Memory: 21 to 43 bytes per term.
    pub fn read(path: &Path, seed: u64) -> Result<Lexicon, Error> {
        let cannot = |error| Error::input(format!("cannot read the lexicon {}", path.display()), error);
        Lexicon::read_from(path, BufReader::new(source::open(path).map_err(cannot)?), seed, LexiconBuilder::new())
    }

    /// Reads the content of the file at `path`, whose terms are added to `builder`.
    pub(super) fn read_from(
        path: &Path,
        from: BufReader<impl Read>,
        seed: u64,
        builder: LexiconBuilder,
    ) -> Result<Lexicon, Error> {
        let name = path.display().to_string();
        let mut lines = Lines { name: &name, line: 0, bytes: Vec::new(), from };
        let header = lines.header()?;
        let mut sha1 = Sha1::new_with_prefix(Header { digest: None, ..header.clone() }.line());
        // Two terms with the same hash cannot be distinguished in documents either.
        let builder = builder.of_greatest();
        let mut before: Option<String> = None;
        for number in 0..header.terms {
            if !lines.next(u64::MAX)? {
                let message = format!("the file ends after {number} of {} terms", header.terms);
                return Err(lines.wrong(message));
            }
            sha1.update(&lines.bytes);
            let (df, term) = lines.term(&header)?;
            if let Some(before) = before.as_ref().filter(|before| **before >= term) {
                return Err(lines.wrong(match *before == term {
                    true => format!("the term {term:?} is listed twice"),
                    false => {
                        format!("the term {term:?} comes after {before:?}: expected them in the order of their bytes")
                    }
                }));
            }
            builder.add_term(token_hash(term.as_bytes(), seed), df)?;
            before = Some(term);
        }
        if lines.next(u64::MAX)? {
            return Err(lines.wrong(format!("more lines than the {} terms of the first line", header.terms)));
        }
        let (found, digest) = (hex(&sha1.finalize()), header.digest.unwrap_or_default());
        if found != digest {
            lines.line = 1;
            return Err(lines.wrong(format!(
                "the digest is {digest:?}, and that of what the file holds is {found:?}: it was changed"
            )));
        }
        let origin = FileIdentity { what: "lexicon", digest, tokenizer: header.tokenizer, seed };
        let lexicon = builder.freeze(header.documents)?;
        Ok(Lexicon { origin: Some(origin), ..lexicon })
    }
}

/// The lines of a file, one at a time.
struct Lines<'n, R> {
    name: &'n str,
    line: u64,
    /// The line, with its end.
    bytes: Vec<u8>,
    from: BufReader<R>,
}

impl<R: Read> Lines<'_, R> {
    fn wrong(&self, message: impl Into<String>) -> Error {
        Error::Lexicon { place: format!("{}:{}", self.name, self.line), message: message.into() }
    }

    /// Reads the next line, at most `most` bytes of it. Returns false at the end of the file.
    fn next(&mut self, most: u64) -> Result<bool, Error> {
        self.line += 1;
        self.bytes.clear();
        let read = (&mut self.from).take(most).read_until(b'\n', &mut self.bytes);
        let read = read.map_err(|error| Error::input(format!("cannot read the lexicon {}", self.name), error))?;
        if read > 0 && read as u64 != most && self.bytes.last() != Some(&b'\n') {
            return Err(self.wrong("the file ends within this line"));
        }
        Ok(read > 0)
    }

    fn header(&mut self) -> Result<Header, Error> {
        let none = |lines: &Self, why: &str| {
            let start: String = String::from_utf8_lossy(&lines.bytes).trim_end().chars().take(60).collect();
            let example = format!(r#"{{"type":"lexicon","version":{VERSION},…}}"#);
            lines.wrong(format!("not a lexicon{why}: expected a first line such as {example}, not {start:?}"))
        };
        if !self.next(LONGEST_HEADER)? {
            return Err(none(self, ""));
        }
        let fields: Map<String, Value> = serde_json::from_slice(&self.bytes).map_err(|_| none(self, ""))?;
        let Some(version) = fields.get("version").and_then(Value::as_u64) else { return Err(none(self, "")) };
        if fields.get("type").and_then(Value::as_str) != Some("lexicon") {
            return Err(none(self, ""));
        }
        if version != u64::from(VERSION) {
            return Err(self.wrong(other_version("version", version, VERSION)));
        }
        let Some(hash_version) = fields.get("hash_version").and_then(Value::as_u64) else {
            return Err(none(self, " ('hash_version' is missing or not a whole number)"));
        };
        if hash_version != u64::from(HASH_VERSION) {
            return Err(self.wrong(other_version("hash version", hash_version, HASH_VERSION)));
        }
        Header::of(fields).map_err(|why| none(self, &format!(" ({why})")))
    }

    /// The line as a term and its document frequency.
    fn term(&self, header: &Header) -> Result<(u32, String), Error> {
        let line = &self.bytes[..self.bytes.len() - 1];
        let line = std::str::from_utf8(line).map_err(|_| self.wrong("the term is not UTF-8"))?;
        let Some((df, term)) = line.split_once('\t') else {
            return Err(self.wrong(format!("expected a number, a tab and a term, not {line:?}")));
        };
        let number = df.parse::<u32>().ok().filter(|number| number.to_string() == df);
        let (least, most) = (header.min_df.max(1), header.documents);
        let Some(frequency) = number.filter(|&number| number >= least && u64::from(number) <= most) else {
            let message = format!("{df:?} is not a document frequency: expected a whole number from {least} to {most}");
            return Err(self.wrong(message));
        };
        match unescaped(term) {
            Some(term) if !term.is_empty() => Ok((frequency, term)),
            _ => {
                Err(self
                    .wrong(format!(r"{term:?} is not a term: expected text, in which a backslash is \\, \t, \n or \r")))
            }
        }
    }
}

/// The message for a file of another version.
fn other_version(what: &str, found: u64, expected: u32) -> String {
    let advice = match found < u64::from(expected) {
        true => "its terms may have been cut or normalised in another way: build it again from its documents",
        false => "use a newer version of this program, or build it again from its documents",
    };
    format!("a lexicon of {what} {found}, and only {what} {expected} can be read; {advice}")
}

const ESCAPES: [(char, char); 4] = [('\\', '\\'), ('\t', 't'), ('\n', 'n'), ('\r', 'r')];

fn escaped(term: &str) -> String {
    let mut out = String::with_capacity(term.len());
    for c in term.chars() {
        match ESCAPES.iter().find(|(plain, _)| *plain == c) {
            Some((_, letter)) => out.extend(['\\', *letter]),
            None => out.push(c),
        }
    }
    out
}

/// `None` if a backslash is followed by another character, or a character is not escaped that must be.
fn unescaped(term: &str) -> Option<String> {
    let mut out = String::with_capacity(term.len());
    let mut chars = term.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => {
                let letter = chars.next()?;
                ESCAPES.iter().find(|(_, known)| *known == letter)?.0
            }
            '\t' | '\r' => return None,
            c => c,
        });
    }
    Some(out)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
