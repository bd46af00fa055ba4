//! Numbers of versions in names.

/// Whether it is the number of a version: `1.2`, `2.x`, `v1`, `1.2.0-rc1`.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit() && !".x".contains(c)).unwrap_or(digits.len());
    let (number, rest) = digits.split_at(end);
    let is_valid = number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('.');
    is_valid
        && (number.contains('.') || digits.len() < text.len())
        && (is_before_release(rest) || rest.starts_with(['-', '+']))
}

/// Whether it is the end of a version before its release: `a1`, `b3`, `rc2`; or nothing.
fn is_before_release(rest: &str) -> bool {
    let number = ["rc", "a", "b"].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest);
    rest.is_empty()
        || number.len() < rest.len() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
