//! Comments of languages with a syntax like C. Comment openers within literals do not count.
//!
//! One pass: each construct is skipped to its end and not read again. A literal that must end in its line ends there at
//! the latest, so a stray quote does not swap literals and code in the rest of the file.

use super::language::Language;
use memchr::{memchr, memchr2, memmem};
use std::ops::Range;

/// The most bytes of a character literal, with quotes and escapes.
const CHARACTER_BYTES: usize = 16;

/// The longest word before the bracket of a raw string of C++.
const DELIMITER_BYTES: usize = 16;

/// Words of JavaScript after which a slash starts a regular expression.
const BEFORE_VALUE: [&[u8]; 15] = [
    b"return",
    b"typeof",
    b"case",
    b"in",
    b"of",
    b"delete",
    b"void",
    b"throw",
    b"new",
    b"instanceof",
    b"do",
    b"else",
    b"yield",
    b"await",
    b"default",
];

/// A comment.
#[derive(Debug)]
pub(super) struct Comment {
    /// The whole comment; without the line feed if it ends with its line.
    pub(super) range: Range<usize>,
    /// The last word before it that starts a line, or the start of the source.
    pub(super) under: usize,
}

/// The comments in that part of the source, in their order.
pub(super) fn comments(language: Language, source: &str, page: Range<usize>) -> Vec<Comment> {
    let mut scanner = Scanner {
        language,
        bytes: &source.as_bytes()[..page.end],
        start: page.start,
        at: page.start,
        comments: Vec::new(),
        under: page.start,
        after_value: false,
        templates: Vec::new(),
    };
    scanner.run();
    scanner.comments
}

struct Scanner<'a> {
    language: Language,
    bytes: &'a [u8],
    start: usize,
    at: usize,
    comments: Vec<Comment>,
    /// The position of the last word that starts a line.
    under: usize,
    /// Whether a slash would be a division here.
    after_value: bool,
    /// For each JavaScript template whose expression is being read, the number of open braces in it.
    templates: Vec<usize>,
}

impl Scanner<'_> {
    fn run(&mut self) {
        if self.language == Language::Php {
            self.at = self.php(self.at);
        }
        while let Some(&byte) = self.bytes.get(self.at) {
            let end = match byte {
                _ if byte.is_ascii_whitespace() => self.at + 1,
                _ if self.comment_starts() => {
                    let end = self.comment_end();
                    self.comments.push(Comment { range: self.at..end, under: self.under });
                    end
                }
                _ => self.code(byte),
            };
            self.at = end.min(self.bytes.len());
        }
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    fn comment_starts(&self) -> bool {
        let rest = self.rest();
        rest.starts_with(b"//")
            || rest.starts_with(b"/*")
            || (self.language == Language::Php && rest[0] == b'#' && !rest.starts_with(b"#["))
    }

    fn comment_end(&self) -> usize {
        if self.rest().starts_with(b"/*") {
            return self.block_end();
        }
        if self.language != Language::Php {
            return self.line_end(self.at);
        }
        // In PHP code may end within the line, and the comment with it.
        let mut at = self.at;
        while let Some(found) = memchr2(b'\n', b'?', &self.bytes[at..]) {
            at += found;
            if self.bytes[at] == b'\n' || self.bytes[at..].starts_with(b"?>") {
                return at;
            }
            at += 1;
        }
        self.bytes.len()
    }

    /// The end of the block comment that starts here, or of the source.
    fn block_end(&self) -> usize {
        use Language::{Kotlin, Rust, Scala, Swift};
        let nests = matches!(self.language, Rust | Kotlin | Scala | Swift);
        let (mut at, mut depth) = (self.at + 2, 1usize);
        while let Some(found) = memchr2(b'*', b'/', self.bytes.get(at..).unwrap_or_default()) {
            at += found;
            at += match self.bytes.get(at..at + 2) {
                Some(b"*/") => {
                    depth -= 1;
                    2
                }
                Some(b"/*") if nests => {
                    depth += 1;
                    2
                }
                _ => 1,
            };
            if depth == 0 {
                return at;
            }
        }
        self.bytes.len()
    }

    /// Where the line ends that a byte is in.
    fn line_end(&self, at: usize) -> usize {
        self.after(at, b"\n").map_or(self.bytes.len(), |end| end - 1)
    }

    /// The position after the next occurrence of these bytes.
    fn after(&self, at: usize, end: &[u8]) -> Option<usize> {
        let found = memmem::find(self.bytes.get(at..)?, end)?;
        Some(at + found + end.len())
    }

    /// The position after the next occurrence of these bytes, or the end of the source.
    fn through(&self, at: usize, end: &[u8]) -> usize {
        self.after(at, end).unwrap_or(self.bytes.len())
    }

    /// The end of the literal, the word or the sign that starts here.
    fn code(&mut self, byte: u8) -> usize {
        use Language::{CSharp, Go, JavaScript, Php};
        let (at, language) = (self.at, self.language);
        let was_after_value = std::mem::replace(&mut self.after_value, true);
        match byte {
            _ if is_of_word(byte) => self.word(),
            b'"' => self.double_quotes(),
            b'\'' if matches!(language, JavaScript | Php) => self.quoted(at + 1, b'\''),
            b'\'' => self.character(),
            b'`' if language == Go => self.through(at + 1, b"`"),
            b'`' if language == JavaScript => self.template(at + 1),
            b'}' if self.templates.last() == Some(&0) => {
                self.templates.pop();
                self.template(at + 1)
            }
            b'/' if language == JavaScript && !was_after_value => self.regular_expression(),
            b'@' if language == CSharp && self.rest().starts_with(b"@\"") => self.verbatim(at + 2),
            b'@' if language == CSharp && self.rest().starts_with(b"@$\"") => self.verbatim(at + 3),
            b'<' if language == Php && self.rest().starts_with(b"<<<") => self.heredoc(),
            b'?' if language == Php && self.rest().starts_with(b"?>") => self.php(at + 2),
            sign => {
                // A tag of JSX closes with `</`, and no expression starts so.
                self.after_value = matches!(sign, b')' | b']' | b'<');
                match (sign, self.templates.last_mut()) {
                    (b'{', Some(braces)) => *braces += 1,
                    (b'}', Some(braces)) => *braces -= 1,
                    _ => {}
                }
                at + 1
            }
        }
    }

    /// A word, or the raw string that it starts.
    fn word(&mut self) -> usize {
        let (start, end) = (self.at, self.at + self.rest().iter().take_while(|&&byte| is_of_word(byte)).count());
        let word = &self.bytes[start..end];
        if start == self.start || self.bytes[start - 1] == b'\n' {
            self.under = start;
        }
        self.after_value = !BEFORE_VALUE.contains(&word);
        match self.language {
            Language::Rust if matches!(word, b"r" | b"br" | b"cr") => self.raw_of_rust(end),
            Language::C if matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") => self.raw_of_c(end),
            _ => end,
        }
    }

    /// A raw string of Rust after its letters, or a raw identifier up to its hash.
    fn raw_of_rust(&self, at: usize) -> usize {
        let hashes = self.bytes[at..].iter().take_while(|&&byte| byte == b'#').count();
        match self.bytes.get(at + hashes) {
            Some(b'"') => {
                let end = [&b"\""[..], &self.bytes[at..at + hashes]].concat();
                self.through(at + hashes + 1, &end)
            }
            _ => at + hashes,
        }
    }

    /// A raw string of C++ after its letters, as in `R"x(...)x"`.
    fn raw_of_c(&self, at: usize) -> usize {
        let Some(b'"') = self.bytes.get(at) else { return at };
        let start = &self.bytes[at + 1..(at + 2 + DELIMITER_BYTES).min(self.bytes.len())];
        let Some(length) = start.iter().position(|&byte| byte == b'(') else { return at };
        let end = [b")", &start[..length], b"\""].concat();
        self.through(at + 2 + length, &end)
    }

    /// A string in double quotes, or in three of them.
    fn double_quotes(&self) -> usize {
        use Language::{CSharp, Java, Kotlin, Scala, Swift};
        if !self.rest().starts_with(b"\"\"\"") {
            return self.quoted(self.at + 1, b'"');
        }
        match self.language {
            Java | Swift => self.escaped_triple(self.at + 3),
            Kotlin | Scala => {
                let end = self.through(self.at + 3, b"\"\"\"");
                // Of more quotes the last three are the end.
                end + self.quotes(end)
            }
            CSharp => {
                let start = self.at + self.quotes(self.at);
                self.through(start, &self.bytes[self.at..start])
            }
            _ => self.quoted(self.at + 1, b'"'),
        }
    }

    fn quotes(&self, at: usize) -> usize {
        self.bytes[at..].iter().take_while(|&&byte| byte == b'"').count()
    }

    /// The rest of a string in three double quotes in which a backslash escapes.
    fn escaped_triple(&self, mut at: usize) -> usize {
        while let Some(found) = memchr2(b'"', b'\\', self.bytes.get(at..).unwrap_or_default()) {
            at += found;
            at += match self.bytes[at] {
                b'"' if self.bytes[at..].starts_with(b"\"\"\"") => return at + 3,
                b'"' => 1,
                _ => 2,
            };
        }
        self.bytes.len()
    }

    /// The rest of a string. If it must end in its line, it does so at the latest where that ends.
    fn quoted(&self, mut at: usize, quote: u8) -> usize {
        let has_lines = matches!(self.language, Language::Rust | Language::Php);
        loop {
            match self.bytes.get(at) {
                None => return self.bytes.len(),
                Some(&byte) if byte == quote => return at + 1,
                Some(b'\n') if !has_lines => return at,
                Some(b'\\') if self.bytes[at..].starts_with(b"\\\r\n") => at += 3,
                Some(b'\\') => at += 2,
                Some(_) => at += 1,
            }
        }
    }

    /// A character in single quotes; or else a quote that is something else, such as the start of a lifetime.
    fn character(&self) -> usize {
        let rest = &self.bytes[self.at + 1..(self.at + CHARACTER_BYTES).min(self.bytes.len())];
        let first = match rest.first() {
            Some(b'\\') => 2,
            Some(byte) => (byte.leading_ones() as usize).max(1),
            None => 0,
        };
        let is_escape = first == 2 && rest[0] == b'\\';
        let end = match rest.get(first..) {
            Some(rest) if is_escape => rest.iter().take_while(|&&byte| byte != b'\n').position(|&byte| byte == b'\''),
            Some([b'\'', ..]) => Some(0),
            _ => None,
        };
        end.map_or(self.at + 1, |end| self.at + 1 + first + end + 1)
    }

    /// The rest of a template of JavaScript, up to its end or to an expression in it.
    fn template(&mut self, mut at: usize) -> usize {
        loop {
            match self.bytes.get(at) {
                None => return self.bytes.len(),
                Some(b'`') => return at + 1,
                Some(b'\\') => at += 2,
                Some(b'$') if self.bytes[at..].starts_with(b"${") => {
                    self.templates.push(0);
                    self.after_value = false;
                    return at + 2;
                }
                Some(_) => at += 1,
            }
        }
    }

    /// A regular expression up to its end, or to that of the line.
    fn regular_expression(&self) -> usize {
        let (mut at, mut in_class) = (self.at + 1, false);
        loop {
            match self.bytes.get(at) {
                None => return self.bytes.len(),
                Some(b'\n') => return at,
                Some(b'/') if !in_class => return at + 1,
                Some(b'\\') if self.bytes.get(at + 1) != Some(&b'\n') => at += 1,
                Some(b'[') => in_class = true,
                Some(b']') => in_class = false,
                Some(_) => {}
            }
            at += 1;
        }
    }

    /// The rest of a string of C# in which a quote is written twice.
    fn verbatim(&self, mut at: usize) -> usize {
        while let Some(quote) = self.bytes.get(at..).and_then(|rest| memchr(b'"', rest)) {
            at += quote + 1;
            if self.bytes.get(at) != Some(&b'"') {
                return at;
            }
            at += 1;
        }
        self.bytes.len()
    }

    /// A string of PHP up to the line that its name starts.
    fn heredoc(&self) -> usize {
        let is_around = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'');
        let start = self.at + 3 + self.bytes[self.at + 3..].iter().take_while(is_around).count();
        let length = self.bytes[start..].iter().take_while(|&&byte| is_of_word(byte)).count();
        if length == 0 {
            return start;
        }
        let name = &self.bytes[start..start + length];
        let mut at = self.line_end(start);
        while at < self.bytes.len() {
            let next = self.line_end(at + 1);
            let line = self.bytes[at + 1..next].trim_ascii_start();
            if line.starts_with(name) && !line.get(length).is_some_and(|&byte| is_of_word(byte)) {
                return next - line.len() + length;
            }
            at = next;
        }
        at
    }

    /// The start of the next PHP code; the text before it is a page.
    fn php(&self, mut at: usize) -> usize {
        while let Some(tag) = self.after(at, b"<?") {
            at = tag;
            if self.bytes[at..].starts_with(b"php") || self.bytes[at..].starts_with(b"=") {
                return at;
            }
        }
        self.bytes.len()
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
