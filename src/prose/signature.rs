//! Signatures of functions in cells of tables.

/// Whether the text of a cell is a signature of a function: a name with few words before it, and arguments in brackets, perhaps with a
/// type after them.
pub(super) fn is_signature(text: &str) -> bool {
    let Some((before, arguments)) = text.split_once('(') else { return false };
    let Some((_, after)) = arguments.rsplit_once(')') else { return false };
    let is_of_type = |c: char| c.is_alphanumeric() || " _.:*&<>[],~-|;=".contains(c);
    let is_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let has_type = after.is_empty() || after.trim_start().starts_with(['-', ':', ';', '=']) || after.trim() == "const";
    is_name
        && has_type
        && before.chars().all(is_of_type)
        && after.chars().all(is_of_type)
        && before.split_whitespace().count() <= 3
        && after.split_whitespace().count() <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_a_name_with_arguments() {
        for (text, expected) in [
            ("f()", true),
            ("read(path, *, encoding=None) -> str", true),
            ("static int f(const char *x);", true),
            ("std::vector<T> f(x) const", true),
            ("Result.map(f: (x) => y): Result", true),
            ("f", false),
            ("does (this)", false),
            ("see f(x) and g(y) now", false),
            ("A call of f(x) returns it", false),
            ("Use it when f(x)", false),
            (")(", false),
        ] {
            assert_eq!(is_signature(text), expected, "{text}");
        }
    }
}
