//! Lines of a stream as they come: what is there is handed on, without waiting for more.

use super::batch::{JsonFields, Part, Records, too_long};
use super::lines::raw_lines;
use super::{Batch, Document, Format, Options, Problem};
use memchr::{memchr, memrchr};
use std::io::{self, Read};
use std::sync::Arc;

/// About how much is read at once.
const BLOCK: usize = 256 << 10;

/// A stream of lines, each of which is a document: JSON lines, or plain text.
pub struct Live<R> {
    input: R,
    path: Arc<str>,
    fields: Option<Arc<JsonFields>>,
    max_record: usize,
    /// What was read and is not handed on yet: the start of a line.
    rest: Vec<u8>,
    /// The number of that line.
    line: u64,
    /// Whether the rest of a line that is too long is being passed over.
    passing: bool,
    ended: bool,
}

/// Takes lines as they stood, each with what was read of it.
pub type EachLine<'e> = &'e mut dyn FnMut(&[u8], Result<Document<'_>, Problem>);

/// Whole lines of the stream.
pub struct Chunk {
    bytes: Vec<u8>,
    batch: Batch,
}

impl Chunk {
    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Parses its lines, in their order. Each document and each problem comes with its line as it stood, line end included; a document
    /// that had to be repaired comes after the problem that says so.
    pub fn documents(&self, each: EachLine<'_>) {
        let mut lines = raw_lines(&self.bytes);
        let (mut next, mut line): (u32, &[u8]) = (0, &[]);
        self.batch.selected(&mut |_| true, &mut |record, result| {
            while next <= record {
                line = lines.next().map_or(&[], |(raw, _)| raw);
                next += 1;
            }
            each(line, result);
        });
    }
}

impl<R: Read> Live<R> {
    /// Lines of `input`, called `path`, in the given format: JSON lines, or lines of text.
    pub fn new(input: R, path: &str, options: &Options) -> Self {
        let fields = JsonFields { text: options.text_field.clone(), id: options.id_field.clone() };
        Live {
            input,
            path: path.into(),
            fields: (options.format != Format::Lines).then(|| Arc::new(fields)),
            max_record: options.max_record,
            rest: Vec::new(),
            line: 1,
            passing: false,
            ended: false,
        }
    }

    /// What is there of whole lines; waits only if there is none. `None` at the end.
    ///
    /// # Errors
    /// The stream breaks off. What was read of its last line is lost.
    pub fn next_chunk(&mut self) -> io::Result<Option<Result<Chunk, Problem>>> {
        loop {
            if self.passing {
                match memchr(b'\n', &self.rest) {
                    Some(end) => {
                        self.rest.drain(..=end);
                        self.line += 1;
                        self.passing = false;
                    }
                    None => self.rest.clear(),
                }
            }
            if let Some(end) = memrchr(b'\n', &self.rest) {
                let rest = self.rest.split_off(end + 1);
                let bytes = std::mem::replace(&mut self.rest, rest);
                return Ok(Some(Ok(self.chunk(bytes))));
            }
            if self.rest.len() > self.max_record {
                self.passing = true;
                self.rest.clear();
                return Ok(Some(Err(too_long(&self.path, self.line, self.max_record))));
            }
            if self.ended {
                let bytes = std::mem::take(&mut self.rest);
                return Ok((!bytes.is_empty()).then(|| Ok(self.chunk(bytes))));
            }
            let start = self.rest.len();
            self.rest.resize(start + BLOCK, 0);
            let read = loop {
                match self.input.read(&mut self.rest[start..]) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    result => break result,
                }
            };
            self.rest.truncate(start + *read.as_ref().unwrap_or(&0));
            self.ended = read? == 0;
        }
    }

    fn chunk(&mut self, bytes: Vec<u8>) -> Chunk {
        let line = self.line;
        self.line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        let records = Records { path: self.path.clone(), line, bytes: bytes.clone(), max_record: self.max_record };
        let part = match &self.fields {
            Some(fields) => Part::Jsonl(records, Arc::clone(fields)),
            None => Part::Lines(records),
        };
        Chunk { batch: Batch::of_part(part, bytes.len() as u64), bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives a few bytes at a time.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn all(input: impl Read, max_record: usize) -> (Vec<u8>, Vec<String>) {
        let options = Options { format: Format::Lines, max_record, ..Options::default() };
        let mut live = Live::new(input, "-", &options);
        let (mut raw, mut found) = (Vec::new(), Vec::new());
        while let Some(next) = live.next_chunk().unwrap() {
            match next {
                Ok(chunk) => chunk.documents(&mut |line, result| {
                    raw.extend_from_slice(line);
                    found.push(match result {
                        Ok(document) => format!("{} {}", document.id, document.text),
                        Err(problem) => problem.to_string(),
                    });
                }),
                Err(problem) => found.push(problem.to_string()),
            }
        }
        (raw, found)
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_give_the_same_lines(text in "[ab\n\r ]{0,60}", piece in 1usize..9) {
            let expected = all(text.as_bytes(), 1000);
            prop_assert_eq!(all(Dripping(text.as_bytes(), piece), 1000), expected.clone());
            let blank = |line: &&str| line.trim_ascii_start().is_empty();
            let kept: String = text.split_inclusive('\n').filter(|line| !blank(line)).collect();
            prop_assert_eq!(String::from_utf8(expected.0).unwrap(), kept);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_named_and_passed_over() {
        let text = format!("one\n{}\ntwo\n", "x".repeat(3 << 20));
        let (raw, found) = all(Dripping(text.as_bytes(), 1 << 16), 1 << 20);
        assert_eq!(raw, b"one\ntwo\n");
        assert_eq!(found, ["-:1 one", "-:2: record longer than 1 MiB (allow more with --max-record)", "-:3 two"]);
    }
}
