//! The markup of a file whose name says plain text.

/// Names of blocks of AsciiDoc, as in `[source,sh]`.
const BLOCKS: &[&str] =
    &["verse", "source", "quote", "listing", "horizontal", "NOTE", "TIP", "WARNING", "IMPORTANT", "CAUTION"];

/// Macros of AsciiDoc that are a line of their own.
const MACROS: &[&str] = &["include", "ifdef", "ifndef", "ifeval", "endif", "image"];

/// How sure it is that a text is reStructuredText, and AsciiDoc: a line that no plain text has counts twice, one that few have once.
///
/// Cost: one pass over the text.
pub(super) fn marks(text: &str) -> [usize; 2] {
    let (mut rst, mut asciidoc) = (0, 0);
    for line in text.lines() {
        match line.trim_start().as_bytes() {
            [b'.', b'.', b' ', rest @ ..] => rst += explicit(rest),
            [b'[', ..] => asciidoc += usize::from(is_block(line.trim_end())),
            [b'i' | b'e', ..] => asciidoc += 2 * usize::from(is_macro(line.trim_end())),
            _ => {}
        }
    }
    [rst, asciidoc]
}

/// 2 for `name::` and 1 for `_label:`, after `.. `.
fn explicit(rest: &[u8]) -> usize {
    let name_end = |rest: &[u8]| {
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:+.".contains(byte);
        rest.iter().position(|byte| !is_name(byte)).unwrap_or(rest.len())
    };
    match rest {
        [b'_', label @ ..] => usize::from(label.len() > 1 && label.trim_ascii_end().ends_with(b":")),
        _ => 2 * usize::from(rest[..name_end(rest)].strip_suffix(b"::").is_some_and(|name| !name.is_empty())),
    }
}

/// Whether a line is `[name]`, `[name,…]` or `[[id]]`.
fn is_block(line: &str) -> bool {
    let Some(inside) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) else { return false };
    let is_id = |id: &str| !id.is_empty() && !id.contains(|c: char| c.is_whitespace() || c == '[' || c == ']');
    match inside.strip_prefix('[').and_then(|inside| inside.strip_suffix(']')) {
        Some(id) => is_id(id),
        None => BLOCKS.contains(&inside.split(',').next().unwrap_or_default()),
    }
}

/// Whether a line is `name::target[…]`.
fn is_macro(line: &str) -> bool {
    let name = line.split_once("::").map_or("", |(name, _)| name);
    MACROS.contains(&name) && line.ends_with(']') && line.contains('[')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_marks_of_a_markup() {
        for (text, counts) in [
            ("Some words.\n\n.. note::\n\n   More words.\n", [2, 0]),
            ("Title\n=====\n\n.. _label:\n", [1, 0]),
            ("- an item\n\n  .. code-block:: sh\n", [2, 0]),
            (".. py:function:: f(x)\n", [2, 0]),
            ("git-add(1)\n==========\n\n[verse]\n'git add'\n", [0, 1]),
            ("include::config.txt[]\n", [0, 2]),
            ("ifdef::git-pull[]\n", [0, 2]),
            ("[[id]]\nText\n", [0, 1]),
            ("[source,sh]\n----\n", [0, 1]),
            ("Some words.\n", [0, 0]),
            ("", [0, 0]),
            (".. a remark\n.. and one: more\n..\n.. ::\n", [0, 0]),
            ("[1] A title\n[x] done\n[see]\n[[a b]]\n", [0, 0]),
            ("std::vector[0]\ninclude the file[1]\nif::a\n", [0, 0]),
            (".. note::\n[verse]\n", [2, 1]),
        ] {
            assert_eq!(marks(text), counts, "{text}");
        }
    }
}
