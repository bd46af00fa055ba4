//! A hint for fields of records that hold HTML but are read as plain text.

use super::terminal::{Terminal, count};
use neardups::engine::Observer;
use neardups::source::{Input, ReadOptions, Source};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The number of records that are looked at.
pub const SAMPLE: usize = 100;

/// The fewest pages among them for which there is a hint: they must also be half of all.
const FEWEST: usize = 3;

/// The bytes of a text that are looked at.
const BEGINNING: usize = 4096;

/// Prints a hint if half of the first records, and at least three, hold HTML, and fields are not read as pages.
pub fn hint_of_pages(terminal: &Terminal, paths: &[PathBuf], options: &ReadOptions) {
    if !terminal.is_quiet() {
        let hint = hint_of_sample(&mut sample_of_files(paths, options), options, terminal);
        hint.iter().for_each(|warning| terminal.warning(warning));
    }
}

/// The files whose first records are looked at. Standard input is not, and what cannot be read is reported when all is.
pub fn sample_of_files(paths: &[PathBuf], options: &ReadOptions) -> Input {
    let paths = paths.iter().filter(|path| path.is_file() || path.is_dir()).cloned().collect();
    // What records lack is counted when all are read.
    Input::new(paths, ReadOptions { lacking: None, ..options.clone() })
}

/// The same hint, about the first of some documents, which are read with these options; `None` too if the observer stops the reading, which
/// may be long where few documents are records. Files that a program reads are not looked at.
pub fn hint_of_sample(documents: &mut dyn Source, options: &ReadOptions, observer: &dyn Observer) -> Option<String> {
    let is_read = !options.pages_in_fields && options.programs.is_empty() && documents.field_names().is_some();
    is_read.then(|| pages_among(documents, observer))?
}

/// The same hint, about records in these lines.
pub fn pages_in_lines(lines: &[u8], options: &ReadOptions) -> Option<String> {
    let input = Input::new(vec!["-".into()], options.clone());
    pages_among(&mut input.with_stdin(Box::new(io::Cursor::new(lines.to_vec()))), &())
}

fn pages_among(input: &mut dyn Source, observer: &dyn Observer) -> Option<String> {
    let (pages, records) = pages_among_records(input, observer)?;
    (pages >= FEWEST && 2 * pages >= records).then(|| {
        format!(
            "{} of the first {} records hold HTML, and its tags count as words: --content html reads only the text of such fields, \
             --content main only the main text",
            count(pages as u64),
            count(records as u64)
        )
    })
}

/// How many of the first records hold HTML, and how many these records are; `None` if the reading is stopped.
fn pages_among_records(input: &mut dyn Source, observer: &dyn Observer) -> Option<(usize, usize)> {
    let (mut pages, mut records, mut is_stopped) = (0, 0, false);
    input.read(&mut |batch| {
        is_stopped = observer.is_stopped();
        if is_stopped {
            return ControlFlow::Break(());
        }
        batch.documents(&mut |document| {
            if let Ok(document) = document
                && document.place.line.is_some()
                && records < SAMPLE
            {
                records += 1;
                pages += usize::from(is_page(&document.text));
            }
        });
        if records < SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    (!is_stopped).then_some((pages, records))
}

/// Whether a text looks like a page, or a part of one: it begins as a page, or has some common tags that end.
fn is_page(text: &str) -> bool {
    const TAGS: &[&str] =
        &["p", "div", "span", "a", "li", "ul", "td", "tr", "h1", "h2", "h3", "strong", "b", "em", "i"];
    let bytes = text.trim_start().as_bytes();
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(BEGINNING)]).to_ascii_lowercase();
    if ["<!doctype html", "<html", "<head", "<body"].iter().any(|start| beginning.starts_with(start)) {
        return true;
    }
    let ends = beginning.split("</").skip(1).filter_map(|rest| rest.split_once('>'));
    ends.filter(|(tag, _)| TAGS.contains(tag)).take(2).count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use neardups::source::Batch;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Documents without an end, none of them a record.
    struct Endless;

    impl Source for Endless {
        fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>) {
            while deliver(Batch::default()).is_continue() {}
        }

        fn field_names(&mut self) -> Option<String> {
            Some("text".into())
        }
    }

    /// Stops at the third question.
    #[derive(Default)]
    struct Third(AtomicUsize);

    impl Observer for Third {
        fn is_stopped(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed) == 2
        }
    }

    #[test]
    fn a_reading_without_records_can_be_stopped() {
        let observer = Third::default();
        assert_eq!(hint_of_sample(&mut Endless, &ReadOptions::default(), &observer), None);
        assert_eq!(observer.0.into_inner(), 3);
    }

    #[test]
    fn pages_and_parts_of_pages_are_recognised() {
        for page in
            ["<!DOCTYPE html>\n<p>x", " <html lang=en>", "<p>One.</p><P>Two.</P>", "see <a href=x>y</a> and <b>z</b>"]
        {
            assert!(is_page(page), "{page}");
        }
        for text in
            ["", "a < b </ c >", "Vec<String> and </p> alone", "the closing tag </b>", "if a<b { } else { d>c }"]
        {
            assert!(!is_page(text), "{text}");
        }
    }
}
