//! The report as text.

use super::super::excerpt::excerpt;
use super::super::terminal::{count, counted};
use super::document::{Collection, Place};
use super::evidence::push_evidence;
use super::report::Report;
use super::verdict::sentence;
use neardups::passages::FREQUENT;
use neardups::review::{Differences, Piece};

impl Report<'_> {
    /// The verdicts, the documents and the passages; with `all`, the evidence of the algorithms and the shingles too.
    pub fn as_text(&self, all: bool) -> String {
        let mut out = String::new();
        let width = self.comparisons.iter().map(|(entry, _)| entry.name.len()).max().unwrap_or_default();
        for (entry, comparison) in &self.comparisons {
            out += &format!("{:<width$}  {}\n", entry.name, sentence(entry, comparison));
        }
        out.push('\n');
        for (name, document) in ["a", "b"].iter().zip(&self.documents) {
            let sizes = [
                counted(document.text.len() as u64, "byte"),
                counted(document.tokens.len() as u64, "token"),
                format!("{} distinct", count(document.distinct_tokens() as u64)),
            ];
            out += &format!("{name}  {}\n   {}\n", document.name(), sizes.join(", "));
        }
        if let Some(Collection { documents, median_tokens }) = &self.collection {
            let documents = counted(*documents as u64, "document");
            out += &format!("median of {documents}: {}\n", counted(*median_tokens as u64, "token"));
        }
        self.passages_as_text(&mut out);
        self.partial_as_text(&mut out);
        self.differences_as_text(&mut out);
        if all {
            push_evidence(self, &mut out, width);
        }
        out
    }

    fn passages_as_text(&self, out: &mut String) {
        let [a, b] = &self.documents;
        let [covered_a, covered_b] = self.runs.covered();
        *out += &format!(
            "\n{} of at least {}: {} of {} tokens of a, {} of {} of b\n",
            counted(self.passages.len() as u64, "shared passage"),
            counted(self.min_run as u64, "token"),
            count(covered_a as u64),
            count(a.tokens.len() as u64),
            count(covered_b as u64),
            count(b.tokens.len() as u64),
        );
        if self.runs.frequent > 0 {
            *out += &format!(
                "(some text is repeated more than {FREQUENT} times, and not all of its places were compared)\n"
            );
        }
        for run in &self.passages {
            let places = [a.place(run.a, run.tokens), b.place(run.b, run.tokens)];
            let shown = |Place { lines: [first, last], bytes: [start, end] }: &Place| {
                let lines = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
                format!("{lines} (bytes {start}-{end})")
            };
            let [start, end] = places[0].bytes;
            *out += &format!(
                "  {}: {} of a, {} of b\n    {}\n",
                counted(run.tokens as u64, "token"),
                shown(&places[0]),
                shown(&places[1]),
                excerpt(&a.text[start..end])
            );
        }
    }

    /// What finds documents of which one has much of the other, if no algorithm reports them.
    fn partial_as_text(&self, out: &mut String) {
        let covered = self.runs.covered();
        let is_mostly = |side: usize| 2 * covered[side] > self.documents[side].tokens.len();
        let most = match [0, 1].map(is_mostly) {
            [true, true] => "most of each stands in the other",
            [true, false] => "most of a stands in b",
            [false, true] => "most of b stands in a",
            [false, false] => return,
        };
        if !self.comparisons.iter().any(|(_, comparison)| comparison.verdict.is_reported()) {
            *out += &format!("{most}: dedup contain and dedup passages can find such documents\n");
        }
    }

    /// The differences, marked as in `git diff --word-diff`.
    fn differences_as_text(&self, out: &mut String) {
        let Differences { a, b, shown, more, is_cut, .. } = &self.differences;
        let places = match shown + more {
            0 => "no words differ".into(),
            all => format!("words differ in {}", counted(all as u64, "place")),
        };
        let first = if *more == 0 { String::new() } else { format!("; the first {} are shown", count(*shown as u64)) };
        let of = if *is_cut { " (only the beginnings of the texts were compared)" } else { "" };
        *out += &format!("\n{places}{first}{of}\n");
        if *shown == 0 {
            return;
        }
        for (name, pieces, [before, after]) in [("a", a, ["[-", "-]"]), ("b", b, ["{+", "+}"])] {
            let piece = |piece: &Piece| match piece {
                Piece::Shared(text) => text.clone(),
                Piece::Own(text) => format!("{before}{text}{after}"),
                Piece::Omitted(_) => " … ".into(),
            };
            let line: String = pieces.iter().map(piece).collect();
            *out += &format!("  {name}  {}\n", line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
}
