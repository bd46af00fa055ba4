//! The words in which the documents differ, as text, marked as in `git diff --word-diff`.

use super::super::terminal::{count, counted};
use super::document::Document;
use super::report::Report;
use neardups::review::{Difference, Differences, Piece};

/// The number of bytes of a paragraph after which the next difference begins another one.
const MAX_PARAGRAPH: usize = 600;

/// Appends the differences: side by side as an excerpt, or in paragraphs if a number of them was asked for.
pub fn push_differences(report: &Report<'_>, out: &mut String) {
    let Differences { a, b, shown, places, .. } = &report.differences;
    *out += &format!("\n{}\n", summary(&report.differences, report.max_differences.is_none()));
    if *shown == 0 {
        return;
    }
    if report.max_differences.is_some() {
        let [a, b] = &report.documents;
        return push_paragraphs([a, b], places, out);
    }
    for (name, pieces, marks) in [("a", a, IN_A), ("b", b, IN_B)] {
        let piece = |piece: &Piece| match piece {
            Piece::Shared(text) => text.clone(),
            Piece::Own(text) => marked(marks, text),
            Piece::Omitted(_) => " … ".into(),
        };
        let line: String = pieces.iter().map(piece).collect();
        *out += &format!("  {name}  {}\n", on_one_line(&line));
    }
}

/// How many differences there are, what is not shown, and how it is.
fn summary(differences: &Differences, is_excerpt: bool) -> String {
    let Differences { shown, more, is_cut, is_shortened, .. } = differences;
    let places = match shown + more {
        0 => "no words differ".into(),
        all => format!("words differ in {}", counted(all as u64, "place")),
    };
    let first = match more {
        0 => None,
        _ if *shown == 1 => Some("the first one is shown".into()),
        _ => Some(format!("the first {} are shown", count(*shown as u64))),
    };
    let shortened = is_shortened.then(|| "long ones are shortened".to_string());
    let cut = is_cut.then(|| "only the beginnings of the texts were compared".to_string());
    let verb = if *more > 0 || *is_shortened { "shows" } else { "compares" };
    let hint = if is_excerpt { format!(" (--max-differences all {verb} all)") } else { String::new() };
    let missing: Vec<String> = first.into_iter().chain(shortened).chain(cut).collect();
    if missing.is_empty() { places } else { format!("{places}; {}{hint}", missing.join(", ")) }
}

/// The marks around words of one document.
type Marks = [&'static str; 2];
const IN_A: Marks = ["[-", "-]"];
const IN_B: Marks = ["{+", "+}"];

fn marked([before, after]: Marks, words: &str) -> String {
    format!("{before}{words}{after}")
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Appends paragraphs of differences that are close together, each below its place in both documents.
fn push_paragraphs(documents: [&Document; 2], differences: &[Difference], out: &mut String) {
    let text = &*documents[0].text;
    let (mut start, mut shown) = (0, 0);
    while start < differences.len() {
        let mut words = context_before(text, shown, &differences[start]);
        let mut last = start;
        push_difference(documents, &differences[last], &mut words);
        while let Some(next) = differences.get(last + 1)
            && words.len() < MAX_PARAGRAPH
            && text[differences[last].after.end..next.a.start].trim().is_empty()
        {
            words += text[differences[last].a.end..next.a.start].trim();
            push_difference(documents, next, &mut words);
            last += 1;
        }
        let (first, next, last) = (&differences[start], last + 1, &differences[last]);
        words += text[last.after.clone()].trim();
        if !text[last.after.end..].trim().is_empty() {
            words += " …";
        }
        let a = documents[0].place_of(first.a.start..last.a.end).shown();
        let b = documents[1].place_of(first.b.start..last.b.end).shown();
        *out += &format!("  {a} of a, {b} of b\n    {}\n", on_one_line(&words));
        (start, shown) = (next, last.a.end);
    }
}

/// The words before a difference, in the text of the first document after the last byte that was shown.
fn context_before(text: &str, shown: usize, difference: &Difference) -> String {
    let before = text[difference.before.clone()].trim();
    match text[shown.min(difference.before.start)..difference.before.start].trim() {
        "" => before.into(),
        _ => format!("… {before}"),
    }
}

/// Appends the words of both documents, with blanks around them where a document has white space there.
fn push_difference(documents: [&Document; 2], difference: &Difference, words: &mut String) {
    let sides = [(&*documents[0].text, &difference.a, IN_A), (&*documents[1].text, &difference.b, IN_B)];
    let sides: Vec<_> = sides.into_iter().filter(|(_, range, _)| !range.is_empty()).collect();
    if sides.iter().any(|(text, range, _)| text[..range.start].ends_with(char::is_whitespace)) {
        words.push(' ');
    }
    sides.iter().for_each(|(text, range, marks)| *words += &marked(*marks, &text[range.start..range.end]));
    if sides.iter().any(|(text, range, _)| text[range.end..].starts_with(char::is_whitespace)) {
        words.push(' ');
    }
}
