//! Cuts text into words at white space, and finds the URLs in them.

use std::ops::Range;

/// The words of a text and their positions; a word without characters means white space.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, rest) = (at, &text[at..]);
        let (is_white, length) = run(rest)?;
        at += length;
        Some((start, if is_white { "" } else { &rest[..length] }))
    })
}

/// Whether a text begins with white space, and the number of bytes up to where that changes.
fn run(text: &str) -> Option<(bool, usize)> {
    let is_white = text.chars().next()?.is_whitespace();
    let mut at = 0;
    while at < text.len() {
        // Most characters are ASCII with a shape, and need not be decoded.
        if !is_white {
            at += text.as_bytes()[at..].iter().take_while(|byte| byte.is_ascii_graphic()).count();
        }
        match text[at..].chars().next() {
            Some(next) if next.is_whitespace() == is_white => at += next.len_utf8(),
            _ => break,
        }
    }
    Some((is_white, at))
}

/// The first URL in a word: a scheme, `://` and what follows.
pub(super) fn url_in(word: &str) -> Option<Range<usize>> {
    let bytes = word.as_bytes();
    // Words are short: a searcher takes more time to make than to use.
    let colons = bytes.iter().enumerate().filter(|(at, byte)| **byte == b':' && bytes[*at..].starts_with(b"://"));
    colons.map(|(colon, _)| colon).find_map(|colon| {
        let is_of_scheme = |&&byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        // Schemes are short, so looking back stays linear.
        let length = bytes[..colon].iter().rev().take(16).take_while(is_of_scheme).count();
        (length > 0).then(|| colon - length..colon + url_length(&word[colon..]))
    })
}

/// The number of bytes of the rest of a word that can belong to a URL.
pub(super) fn url_length(rest: &str) -> usize {
    rest.bytes().take_while(u8::is_ascii_graphic).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The obvious way.
    fn words_by_characters(text: &str) -> Vec<(usize, &str)> {
        let mut words = Vec::new();
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let rest = &text[at..];
            let length = rest.find(|c: char| c.is_whitespace() != first.is_whitespace()).unwrap_or(rest.len());
            words.push((at, if first.is_whitespace() { "" } else { &rest[..length] }));
            at += length;
        }
        words
    }

    #[test]
    fn every_ascii_character_is_white_or_not() {
        for c in '\0'..='\x7f' {
            let text = format!("a{c}b");
            assert_eq!(words(&text).collect::<Vec<_>>(), words_by_characters(&text), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn words_are_those_between_white_space(text in "([a-z]{1,3}|[ \\n\\t\\x0b\\x1c\\x85]|[é中]|\u{a0}|\u{3000}|\\PC){0,30}") {
            prop_assert_eq!(words(&text).collect::<Vec<_>>(), words_by_characters(&text));
        }
    }

    #[test]
    fn urls_have_a_scheme() {
        for (word, expected) in [
            ("(https://a.b/c)", Some("https://a.b/c)")),
            ("a://b", Some("a://b")),
            ("://b", None),
            ("::://a", None),
            ("x:y:git+ssh://é", Some("git+ssh://")),
            ("a:/b", None),
            ("a:", None),
        ] {
            assert_eq!(url_in(word).map(|url| &word[url]), expected, "{word}");
        }
    }
}
