//! Notebooks of Jupyter: their cells as one page of Markdown.

use super::builder::Builder;
use super::excerpt::Excerpt;
use super::{markdown, plain, strings};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Encloses the code of a cell.
const FENCE: &str = "~~~~~~~~\n";

#[derive(Deserialize)]
struct Notebook<'a> {
    #[serde(borrow)]
    cells: Vec<Cell<'a>>,
}

#[derive(Deserialize)]
struct Cell<'a> {
    #[serde(borrow)]
    cell_type: Cow<'a, str>,
    /// A text, or a list of its lines.
    #[serde(borrow)]
    source: &'a RawValue,
}

/// Reads the cells of a notebook. Anything else is read as plain text.
pub(super) fn read(builder: &mut Builder) {
    let (source, start) = (builder.source(), builder.page().start);
    let Ok(notebook) = serde_json::from_str::<Notebook>(&source[start..]) else { return plain::read(builder) };
    let mut page = Excerpt::default();
    for cell in &notebook.cells {
        let text = cell.source.get();
        let place = text.as_ptr() as usize - source.as_ptr() as usize;
        match &*cell.cell_type {
            "markdown" => strings::json(&mut page, source, place..place + text.len()),
            "code" => {
                page.markup(FENCE);
                strings::json(&mut page, source, place..place + text.len());
                page.push_blank();
                page.markup(FENCE);
            }
            _ => {}
        }
        page.markup("\n\n");
    }
    let mut inner = builder.inner(page.text());
    markdown::read(&mut inner);
    builder.append(&page, inner);
}
