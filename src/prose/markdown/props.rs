//! Attributes of tags that are shown to readers.

use memchr::{memchr, memchr3};
use std::ops::Range;

/// The names of attributes whose values are text.
const TEXT: [&str; 16] = [
    "title",
    "description",
    "label",
    "caption",
    "summary",
    "alt",
    "subtitle",
    "heading",
    "header",
    "question",
    "answer",
    "message",
    "text",
    "tip",
    "headline",
    "tagline",
];

/// The values in quotes of the attributes of a tag that are text, if the name is wanted.
pub(in crate::prose) fn texts(tag: &str, wanted: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let (bytes, mut texts, mut at) = (tag.as_bytes(), Vec::new(), 0);
    while let Some(quote) = memchr3(b'"', b'\'', b'`', &bytes[at..]) {
        let start = at + quote + 1;
        let Some(length) = memchr(bytes[start - 1], &bytes[start..]) else { break };
        let name = name_before(&tag[at..start - 1]);
        if TEXT.contains(&name) && wanted(name) && !tag[start..start + length].trim().is_empty() {
            texts.push(start..start + length);
        }
        at = start + length + 1;
    }
    texts
}

/// The name of the attribute whose value follows, perhaps after a brace.
fn name_before(text: &str) -> &str {
    let text = text.strip_suffix('{').unwrap_or(text);
    let text = text.strip_suffix('=').unwrap_or("");
    let name = text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    &text[name.len()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shown() {
        let tag = "<Card title=\"A 'b'\" icon=\"no\" href='no' description={'C'} label={`D`} summary=\"\" x={{title: \"no\"}} alt=\"never";
        let found: Vec<_> = texts(tag, |_| true).into_iter().map(|text| &tag[text]).collect();
        assert_eq!(found, ["A 'b'", "C", "D"]);
    }
}
