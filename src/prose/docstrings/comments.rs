//! Documentation comments: which comments they are, and their lines without comment delimiters.

use super::language::Language;
use super::scan::Comment;
use crate::prose::builder::Mark;
use crate::prose::page_lines::{Line, lines};

/// The keywords that declare something, or name a package, at the start of a line of Go.
const DECLARATIONS: [&str; 5] = ["package", "func", "type", "var", "const"];

/// Returns the mark that a comment is, if it is one.
pub(super) fn mark(comment: &str) -> Option<Mark> {
    Mark::of(comment.trim_start_matches(['/', '*', '!', '#']).trim_end_matches(['*', '/']))
}

/// Returns the number of comments that belong together (the first and those that continue it in the next lines), and
/// whether they document something. A mark does not.
pub(super) fn next(language: Language, source: &str, comments: &[Comment]) -> (usize, bool) {
    let opener = |comment: &Comment| {
        let comment = &source[comment.range.clone()];
        opener(language, comment).filter(|_| !matches!(mark(comment), Some(Mark::Start | Mark::End)))
    };
    let Some(first) = comments.first().and_then(opener) else { return (1, false) };
    let goes_on = |pair: &&[Comment]| {
        is_line_break(&source[pair[0].range.end..pair[1].range.start]) && opener(&pair[1]) == Some(first)
    };
    let run = if first.starts_with("//") { 1 + comments.windows(2).take_while(goes_on).count() } else { 1 };
    (run, language != Language::Go || declares(source, &comments[..run]))
}

/// Returns the opener of a comment that may document something.
fn opener(language: Language, comment: &str) -> Option<&'static str> {
    let is_closed = || comment.len() > 4 && comment.ends_with("*/");
    if language == Language::Go {
        return if comment.starts_with("//") { Some("//") } else { is_closed().then_some("/*") };
    }
    let with_bangs = matches!(language, Language::Rust | Language::C);
    let opener = ["///", "/**", "//!", "/*!"].into_iter().find(|opener| comment.starts_with(opener))?;
    let is_wanted = match opener {
        "///" => !comment[3..].starts_with('/'),
        "/**" => !comment[3..].starts_with('*') && is_closed(),
        "//!" => with_bangs,
        _ => with_bangs && is_closed(),
    };
    is_wanted.then_some(opener)
}

/// Whether the text is white space with one line end.
fn is_line_break(text: &str) -> bool {
    text.trim().is_empty() && text.bytes().filter(|&byte| byte == b'\n').count() == 1
}

/// Whether a Go declaration directly follows comments that start a line, indented as by gofmt.
fn declares(source: &str, comments: &[Comment]) -> bool {
    let (Some(first), Some(last)) = (comments.first(), comments.last()) else { return false };
    let before = &source[..first.range.start];
    let line = before.trim_end_matches([' ', '\t']);
    if !line.is_empty() && !line.ends_with('\n') {
        return false;
    }
    let Some(next) = source[last.range.end..].split('\n').nth(1) else { return false };
    if line.len() == before.len() {
        let ends = |rest: &str| rest.starts_with([' ', '\t', '(']);
        return DECLARATIONS.iter().any(|&word| next.strip_prefix(word).is_some_and(ends));
    }
    // A field, a method of an interface, or one of several constants.
    let group = &source[last.under..];
    let is_list = |rest: &str| rest.starts_with(['\r', '\n']);
    let is_group = group.starts_with("type ")
        || ["var (", "const ("].iter().any(|open| group.strip_prefix(open).is_some_and(is_list));
    is_group && next.trim_start().starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '*'))
}

/// The lines of comments that document one thing, without stars and slashes. The first line of a block starts after its
/// opener.
pub(super) fn lines_of(language: Language, source: &str, comments: &[Comment]) -> Vec<Line> {
    let mut out = Vec::new();
    for Comment { range, .. } in comments {
        let comment = &source[range.clone()];
        let start = range.start + opener(language, comment).unwrap_or_default().len();
        if comment.starts_with("/*") {
            let end = range.start + comment.trim_end_matches(['*', '/']).len();
            out.extend(lines(source, start..end.max(start)));
            without_stars(&mut out, source);
        } else if language != Language::Go || !is_directive(&source[start..range.end]) {
            let line = lines(source, start..range.end).pop();
            out.push(line.unwrap_or(Line { start: range.end, end: range.end, indent: 0 }));
        }
    }
    if language == Language::C {
        // Doxygen: the comment describes the code before it.
        for line in out.iter_mut().take(1).filter(|line| line.text(source).starts_with('<')) {
            *line = line.after(1, source);
        }
    }
    out
}

/// A comment of Go for a program, such as `//go:build`.
fn is_directive(text: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let rest = text.trim_start_matches(word);
    rest.len() < text.len() && rest.strip_prefix(':').is_some_and(|rest| rest.starts_with(word))
}

/// Removes the star at the start of the lines of a block comment, if the first of them has one.
fn without_stars(lines: &mut [Line], source: &str) {
    let mut below = lines.iter_mut().skip(1).skip_while(|line| line.is_blank()).peekable();
    if below.peek().is_some_and(|line| line.text(source).starts_with('*')) {
        for line in below.filter(|line| line.text(source).starts_with('*')) {
            *line = line.after(1, source);
        }
    }
}
