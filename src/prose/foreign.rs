//! Marks in comments of another markup: there they are text, so they have no effect, which the author cannot see.

use super::block::{Notice, Prose};
use super::builder::Mark;
use super::lines::Lines;
use memchr::memmem;

/// Forms of comments that a line can start with: what precedes a mark, and what follows it.
const FORMS: [[&str; 2]; 8] = [
    ["<!-- ", " -->"],
    ["{/* ", " */}"],
    ["[//]: # (", ")"],
    [".. ", ""],
    ["// ", ""],
    ["/* ", " */"],
    ["% ", ""],
    ["# ", ""],
];

/// The marks at the start of lines that are text because their comments are of another markup, in order. Blocks of code are examples, and
/// so is code within a sentence. `markup` is the name of that of the page, and `own` its form of comment.
///
/// Cost: one search in the source; for each mark, a binary search.
pub(super) fn marks(markup: &'static str, own: [&str; 2], source: &str, prose: &Prose) -> Vec<Notice> {
    let mut found = memmem::find_iter(source.as_bytes(), b"dedup:ignore-").peekable();
    if found.peek().is_none() {
        return Vec::new();
    }
    let lines = Lines::new(source);
    let notice = |at: usize| {
        let (form, mark) = meant(&source[..at], &source[at..]).filter(|(form, _)| *form != own)?;
        let written = |[before, after]: [&str; 2]| format!("{before}{mark}{after}");
        prose.is_text(at).then(|| Notice::OtherComment {
            line: lines.position(at).line,
            markup,
            found: written(form),
            expected: written(own),
        })
    };
    found.filter_map(notice).collect()
}

/// The comment that starts the line and has nothing but a mark and words after it, given the source before the mark and from there on.
fn meant(before: &str, from: &str) -> Option<([&'static str; 2], &'static str)> {
    let is_blank = |c: char| c == ' ' || c == '\t';
    // Only what is near the mark is looked at: all of the page may be one line.
    let before = before.trim_end_matches(is_blank);
    let is_at_start = |rest: &str| {
        let rest = rest.trim_end_matches(is_blank);
        rest.is_empty() || rest.ends_with('\n')
    };
    let form =
        FORMS.into_iter().find(|[opening, _]| before.strip_suffix(opening.trim_end()).is_some_and(is_at_start))?;
    let word = from.split_whitespace().next()?.trim_end_matches(|c: char| !c.is_alphanumeric());
    let mark = match Mark::of(word)? {
        Mark::Start => "dedup:ignore-start",
        Mark::End => "dedup:ignore-end",
        Mark::Unknown => return None,
    };
    Some((form, mark))
}
