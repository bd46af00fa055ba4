//! Recognises the lines that open and close blocks in dialects of Markdown. White space around a line is not part of it.

/// The delimiters of template tags: Liquid and Jinja, Hugo, and the includes of MkDocs.
const TAGS: [(&str, &str); 4] = [("{%", "%}"), ("{{", "}}"), ("{!", "!}"), ("{*", "*}")];

/// The title of an admonition (`!!! note "Title"`, `??? note`) or of a tab (`=== "Title"`) whose body is indented.
pub(super) fn admonition(line: &str) -> Option<&str> {
    let is_tab = line.starts_with("===");
    let rest = ["!!!", "???", "==="].iter().find_map(|mark| line.strip_prefix(mark))?;
    let rest = rest.trim_start_matches(|c| c == '+' || (is_tab && c == '!'));
    let (names, title) = match rest.split_once('"') {
        Some((names, title)) => (names.trim(), title.strip_suffix('"')?),
        None => (rest.trim(), ""),
    };
    let is_known = match is_tab {
        true => names.is_empty() && rest.contains('"'),
        false => !names.is_empty() || (line.starts_with('?') && rest.contains('"')),
    };
    let are_names = names.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    (is_known && are_names).then_some(title)
}

/// A line that opens or closes a container of colons.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Container<'a> {
    /// The number of colons.
    pub(super) colons: usize,
    /// The name of a directive of MyST, if it is one.
    pub(super) directive: Option<&'a str>,
    pub(super) title: &'a str,
}

/// A container such as `:::note Title`, `::: {.note}` or `:::{note} Title`, or the end of one.
pub(super) fn container(line: &str) -> Option<Container<'_>> {
    let rest = line.trim_start_matches(':');
    let colons = line.len() - rest.len();
    if colons < 3 {
        return None;
    }
    let rest = rest.trim();
    // A tag of Microsoft Learn, such as `:::image alt-text="…":::`.
    if rest.ends_with(":::") {
        return Some(Container { colons, directive: None, title: "" });
    }
    if let Some((name, argument)) = directive(rest) {
        return Some(Container { colons, directive: Some(name), title: argument });
    }
    let title = match rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((_, title)) => title.trim(),
        None => title_of(rest),
    };
    Some(Container { colons, directive: None, title })
}

/// The title after the name of a container, perhaps in brackets, without attributes.
fn title_of(text: &str) -> &str {
    let title = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_').trim();
    if title.contains("=\"") && !title.contains('{') {
        return "";
    }
    let title = match title.split_once('{') {
        Some((title, attributes)) if attributes.ends_with('}') => title.trim(),
        _ => title,
    };
    title.strip_prefix('[').and_then(|title| title.strip_suffix(']')).unwrap_or(title)
}

/// The name and the argument of a directive of MyST, such as `{note} Argument`.
pub(super) fn directive(text: &str) -> Option<(&str, &str)> {
    let (name, argument) = text.strip_prefix('{')?.split_once('}')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:+".contains(&byte));
    is_name.then(|| (name, argument.trim()))
}

/// The title of a block of pymdown, such as `/// note | Title`, or nothing for its end.
pub(super) fn slashes(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("///")?.trim_start_matches('/');
    if rest.is_empty() {
        return Some("");
    }
    let (name, title) = rest.split_once('|').unwrap_or((rest, ""));
    let is_name = name.starts_with(' ') && name.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_text = !["html", "define", "latex", "figure-caption"].contains(&name.trim());
    (is_name && !name.trim().is_empty()).then(|| if is_text { title.trim() } else { "" })
}

/// The character and the length of a code fence, and the text after it.
pub(super) fn fence(line: &str) -> Option<(u8, usize, &str)> {
    let mark = *line.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let rest = line.trim_start_matches(char::from(mark));
    let length = line.len() - rest.len();
    (length >= 3 && (mark == b'~' || !rest.contains('`'))).then(|| (mark, length, rest.trim()))
}

/// Whether a line consists of that character, at least that many times.
pub(super) fn is_run(line: &str, mark: u8, least: usize) -> bool {
    line.len() >= least && line.bytes().all(|byte| byte == mark)
}

/// Whether a line includes another file: `--8<-- "file"`. Without a file it opens or closes a list of files.
pub(super) fn snippet(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('-').strip_prefix("8<")?;
    let file = rest.trim_start_matches('-');
    (line.starts_with('-') && file.len() < rest.len()).then_some(file.trim())
}

/// Whether a line is a tag of a template.
pub(super) fn is_tag(line: &str) -> bool {
    let closed = |(open, close): &(&str, &str)| line.strip_prefix(open).and_then(|rest| rest.split_once(close));
    TAGS.iter().find_map(closed).is_some_and(|(_, after)| after.is_empty())
}

/// The names of template tags with code between them.
const CODE_TAGS: [&str; 9] =
    ["highlight", "mermaid", "code", "code-toggle", "math", "katex", "chart", "raw", "comment"];

/// The name of a template tag that opens a block of code.
pub(super) fn code_tag(line: &str) -> Option<&'static str> {
    let inner = ["{{<", "{{%", "{%"].iter().find_map(|open| line.strip_prefix(open))?.trim_start();
    let name = inner.split(|c: char| c.is_whitespace() || c == '>' || c == '%').next()?;
    CODE_TAGS.iter().find(|known| **known == name).copied().filter(|_| !line.contains("/>}}"))
}

/// Whether a line is a label of MyST: `(name)=`.
pub(super) fn is_label(line: &str) -> bool {
    let name = line.strip_prefix('(').and_then(|line| line.strip_suffix(")="));
    name.is_some_and(|name| !name.contains([' ', '(', ')']))
}

/// Whether a line starts the text of a footnote: `[^name]: text`.
pub(super) fn is_footnote(line: &str) -> bool {
    let label = line.strip_prefix("[^").and_then(|rest| rest.split_once(']'));
    label.is_some_and(|(label, rest)| !label.is_empty() && rest.starts_with(':'))
}

/// The column in which the text of a definition starts, after its colon, and the bytes before it.
pub(super) fn definition(line: &str, column: usize) -> Option<(usize, usize)> {
    let text = line.strip_prefix(':')?.trim_start_matches(' ');
    let bytes = line.len() - text.len();
    (!text.is_empty() && (2..=4).contains(&bytes)).then_some((column + bytes, bytes))
}

/// The column in which the text of an item starts, after its mark, and the bytes before it.
pub(super) fn item(line: &str, column: usize) -> Option<(usize, usize)> {
    let digits = line.bytes().take(9).take_while(u8::is_ascii_digit).count();
    let mark = match line.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if digits > 0 => digits + 1,
        _ => return None,
    };
    let rest = &line[mark..];
    let text = rest.trim_start_matches([' ', '\t']);
    let (mut width, mut bytes) = (column + mark, mark);
    for byte in rest[..rest.len() - text.len()].bytes() {
        width = if byte == b'\t' { (width / 4 + 1) * 4 } else { width + 1 };
        bytes += 1;
    }
    match width - column - mark {
        _ if text.is_empty() => Some((column + mark + 1, line.len())),
        0 => None,
        1..=4 => Some((width, bytes)),
        _ => Some((column + mark + 1, mark + 1)),
    }
}

/// The text of a comment that is written as the definition of a link that nothing refers to: `[//]: # (text)`.
pub(super) fn comment(text: &str) -> Option<&str> {
    let (label, rest) = text.strip_prefix('[')?.split_once("]:")?;
    let rest = rest.trim_start();
    let title = ["#", "<>", "<#>"].iter().find_map(|target| rest.strip_prefix(target))?.trim_start();
    let quoted = [('(', ')'), ('"', '"'), ('\'', '\'')]
        .iter()
        .find_map(|&(open, close)| title.strip_prefix(open)?.strip_suffix(close))?;
    (!label.contains(['[', ']'])).then_some(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admonitions_and_tabs() {
        for (line, title) in [
            ("!!! note", Some("")),
            ("!!! note \"A title\"", Some("A title")),
            ("!!! tip inline end \"A\"", Some("A")),
            ("!!!note", Some("")),
            ("??? note", Some("")),
            ("???+ \"A\"", Some("A")),
            ("=== \"Linux\"", Some("Linux")),
            ("===! \"Linux\"", Some("Linux")),
            ("=== Linux", None),
            ("===", None),
            ("==== \"Linux\"", None),
            ("!!! \"A\"", None),
            ("!!! Mind: this", None),
            ("!!!", None),
            ("???", None),
        ] {
            assert_eq!(admonition(line), title, "{line}");
        }
    }

    #[test]
    fn containers_and_their_titles() {
        for (line, directive, title) in [
            (":::", None, ""),
            (":::note", None, ""),
            (":::note A title", None, "A title"),
            ("::::: tip[A title]{id=\"x\"}", None, "A title"),
            ("::: {.note #x} A title", None, "A title"),
            (":::{note} A title", Some("note"), "A title"),
            ("::: {tab-item} A", Some("tab-item"), "A"),
            (":::zone target=\"docs\"", None, ""),
            (":::image alt-text=\"No\":::", None, ""),
            ("::: Warning ::::::", None, ""),
        ] {
            let found = container(line).unwrap();
            assert_eq!((found.directive, found.title), (directive, title), "{line}");
        }
        assert_eq!(container("::x"), None);
    }

    #[test]
    fn items_start_where_their_text_does() {
        for (line, column, expected) in [
            ("- a", 0, Some((2, 2))),
            ("-   a", 4, Some((8, 4))),
            ("-     a", 0, Some((2, 2))),
            ("10. a", 0, Some((4, 4))),
            ("1)\ta", 0, Some((4, 3))),
            ("-", 0, Some((2, 1))),
            ("-a", 0, None),
            ("1 a", 0, None),
            ("1234567890. a", 0, None),
        ] {
            assert_eq!(item(line, column), expected, "{line}");
        }
    }
}
