//! Documentation in source files: comments that document, and docstrings. Other comments, other strings and code do not
//! count.
//!
//! The text of each becomes a separate page, so that no list, section or mark continues from one to the next.
//!
//! ```text
//! scan.rs      comments of languages like C; literals are gone over
//! comments.rs  which of them document, and their lines
//! python.rs    docstrings and comments of Python
//! layout.rs    lines → a page
//! tags.rs      what stands before a text in its line
//! ```

mod comments;
mod language;
mod layout;
mod python;
mod scan;
mod tags;
#[cfg(test)]
mod tests;

use super::builder::Builder;
use super::excerpt::Excerpt;
use super::page_lines::lines;
use super::{markdown, rst};
pub use language::Language;

use comments::{lines_of, mark};
use python::Found;

pub(super) fn read(builder: &mut Builder, language: Language) {
    match language {
        Language::Python => read_docstrings(builder),
        _ => read_comments(builder, language),
    }
}

fn read_docstrings(builder: &mut Builder) {
    let source = builder.source();
    for found in python::find(source, builder.page()) {
        match found {
            Found::Comment(range) => builder.comment(source[range.clone()].trim_start_matches('#'), range),
            Found::Docstring(range) => {
                let mut lines = lines(source, range);
                layout::dedent(&mut lines, true);
                let page = layout::docstring(source, &lines, builder.options().code);
                append(builder, &page, rst::read);
            }
        }
    }
}

fn read_comments(builder: &mut Builder, language: Language) {
    let source = builder.source();
    let all = scan::comments(language, source, builder.page());
    let mut left = &all[..];
    while let Some(first) = left.first() {
        let (length, documents) = comments::next(language, source, left);
        let (run, rest) = left.split_at(length);
        left = rest;
        if documents {
            let mut lines = lines_of(language, source, run);
            layout::dedent(&mut lines, source[first.range.clone()].starts_with("/*"));
            let page = match language {
                Language::Rust | Language::Go => layout::as_is(source, &lines),
                _ => layout::with_tags(language, source, &lines, builder.options().code),
            };
            append(builder, &page, markdown::read);
        } else {
            let marks = run.iter().filter_map(|comment| Some((mark(&source[comment.range.clone()])?, comment)));
            marks.for_each(|(mark, comment)| builder.mark(mark, comment.range.clone()));
        }
    }
}

/// Reads a page into that of its source, unless a mark says that it does not count.
fn append(builder: &mut Builder, page: &Excerpt, read: fn(&mut Builder)) {
    if builder.is_ignoring() {
        return;
    }
    let mut inner = builder.inner(page.text());
    read(&mut inner);
    builder.append(page, inner);
}
