//! The beginnings of documentation lines that precede a text: `@param name`, `:param name:`, `name:`.

use super::language::Language;

/// Tags that are followed by the name of what they describe.
const NAMING: [&str; 13] = [
    "param",
    "arg",
    "argument",
    "property",
    "prop",
    "tparam",
    "template",
    "typeparam",
    "typeParam",
    "throws",
    "throw",
    "exception",
    "retval",
];

/// Tags of PHP that are followed by a type.
const TYPED: [&str; 4] = ["return", "returns", "var", "throws"];

/// A tag at the start of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    /// The tag without its first character.
    pub(super) name: &'a str,
    /// The rest of the line after types and names.
    pub(super) text: &'a str,
}

impl<'a> Tag<'a> {
    /// The tag that a line starts with, if it does.
    pub(super) fn of(language: Language, line: &'a str) -> Option<Self> {
        let rest = match language {
            Language::C => line.strip_prefix(['@', '\\']),
            _ => line.strip_prefix('@'),
        }?;
        let length = rest.find(|c: char| c.is_whitespace() || "[{(".contains(c)).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(length);
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_:\\".contains(c);
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_name) {
            return None;
        }
        // As in `\param[in] name`.
        let rest = bracketed(rest, '[', ']').unwrap_or(rest).trim_start();
        let typed = bracketed(rest, '{', '}');
        let rest = typed.unwrap_or(rest).trim_start();
        let text = match language {
            Language::Php => match (name, rest.starts_with(['$', '&', '.'])) {
                ("param" | "property", false) => without_word(without_word(rest)),
                ("param" | "property", true) => without_word(rest),
                _ if TYPED.contains(&name) => without_word(rest),
                _ => rest,
            },
            // A type in braces is the type of the exception.
            _ if name == "throws" && typed.is_some() => rest,
            _ if NAMING.contains(&name) => bracketed(rest, '[', ']').unwrap_or_else(|| without_word(rest)),
            _ => rest,
        };
        let text = text.trim_start();
        Some(Tag { name, text: text.strip_prefix("- ").unwrap_or(text).trim_start() })
    }
}

/// Returns the text after the bracket that closes the first one.
fn bracketed(text: &str, open: char, close: char) -> Option<&str> {
    let mut depth = 0usize;
    let is_end = |c: char| {
        depth = if c == open { depth + 1 } else { depth.saturating_sub(usize::from(c == close)) };
        depth == 0
    };
    let end = text.starts_with(open).then(|| text.find(is_end))??;
    Some(&text[end + close.len_utf8()..])
}

/// Returns the text after the first word.
fn without_word(text: &str) -> &str {
    text[text.find(char::is_whitespace).unwrap_or(text.len())..].trim_start()
}

/// Whether a line starts with a name that the rest describes, as in `name: text` and `name (type): text`.
pub(super) fn is_named(line: &str) -> bool {
    let Some((name, rest)) = line.split_once(' ') else { return false };
    let is_described = match name.strip_suffix(':') {
        Some(name) => !name.is_empty() && !name.starts_with(':') && !name.ends_with(':'),
        None => bracketed(rest, '(', ')').is_some_and(|rest| rest.starts_with(": ")),
    };
    is_described && !line.ends_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_behind_tags() {
        for (language, line, name, text) in [
            (Language::Java, "@param name the text", "param", "the text"),
            (Language::Java, "@param <T> the type", "param", "the type"),
            (Language::Java, "@return the text", "return", "the text"),
            (Language::Java, "@throws IOException if so", "throws", "if so"),
            (Language::Java, "@deprecated", "deprecated", ""),
            (Language::JavaScript, "@param {{a: {b: string}}} name - the text", "param", "the text"),
            (Language::JavaScript, "@param {string} [name='a b'] The text", "param", "The text"),
            (Language::JavaScript, "@param name", "param", ""),
            (Language::JavaScript, "@returns {Promise<void>} nothing", "returns", "nothing"),
            (Language::JavaScript, "@throws {Error} when so", "throws", "when so"),
            (Language::JavaScript, "@type {never", "type", "{never"),
            (Language::C, "\\param[in,out] name the text", "param", "the text"),
            (Language::C, "\\brief The text", "brief", "The text"),
            (Language::Php, "@param string $name The text", "param", "The text"),
            (Language::Php, "@param $name The text", "param", "The text"),
            (Language::Php, "@return int[] the text", "return", "the text"),
        ] {
            assert_eq!(Tag::of(language, line), Some(Tag { name, text }), "{line}");
        }
        for line in ["text", "@angular/core is", "@ home", "me@home", "@", "\\brief Text", "@2x"] {
            assert_eq!(Tag::of(Language::JavaScript, line), None, "{line}");
        }
    }

    #[test]
    fn names_with_descriptions() {
        for line in ["name: text", "**kwargs: text", "name (list (int)): text"] {
            assert!(is_named(line), "{line}");
        }
        for line in ["name : array_like", "- name: text", ":type a: b", "see: this::", "Returns:", "a (b) c: d", "a"] {
            assert!(!is_named(line), "{line}");
        }
    }
}
