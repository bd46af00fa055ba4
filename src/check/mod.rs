//! Copies in documentation: files, passages and paragraphs that stand elsewhere with small edits. [`find`](mod@find) works
//! on words.

pub mod find;
