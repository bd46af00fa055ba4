//! Headers, of records and of HTTP.

use memchr::{memchr, memchr_iter};

/// The end of a record.
pub(super) const END: &[u8] = b"\r\n\r\n";

/// The longest header, of a record or of HTTP: as long as any server accepts.
pub(super) const HEAD_BYTES: usize = 64 << 10;

/// The length of a header, with the empty line that ends it, if that is available.
pub(super) fn head_length(bytes: &[u8]) -> Option<usize> {
    let start = &bytes[..bytes.len().min(HEAD_BYTES)];
    memchr_iter(b'\n', start).find_map(|at| match start[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// A header: a line of its own kind, then named fields.
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// The value of the first field with this name.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.0.split(|&byte| byte == b'\n').skip(1).find_map(|line| {
            let colon = memchr(b':', line)?;
            line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes()).then(|| line[colon + 1..].trim_ascii())
        })
    }
}

/// The length that a header names.
pub(super) fn length(digits: &[u8]) -> Option<usize> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    digits?.parse().ok()
}
