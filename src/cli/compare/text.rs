//! The report as text.

use super::super::excerpt::excerpt;
use super::super::terminal::{count, counted};
use super::differences::push_differences;
use super::document::Collection;
use super::evidence::push_evidence;
use super::partial::{commands, contained};
use super::report::Report;
use super::verdict::{sentence, summary};
use neardups::algorithm::ALGORITHMS;
use neardups::passages::FREQUENT;

impl Report<'_> {
    /// The verdicts, the documents and the passages; with `all`, the evidence of the algorithms and the shingles too.
    pub fn as_text(&self, all: bool) -> String {
        let mut out = String::new();
        let width = self.comparisons.iter().map(|(entry, _)| entry.name.len()).max().unwrap_or_default();
        for (entry, comparison) in &self.comparisons {
            out += &format!("{:<width$}  {}\n", entry.name, sentence(entry, comparison));
        }
        if self.comparisons.len() > 1 {
            out += &format!("{}\n", summary(&self.comparisons));
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
        push_differences(self, &mut out);
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
            let [start, end] = places[0].bytes;
            *out += &format!(
                "  {}: {} of a, {} of b\n    {}\n",
                counted(run.tokens as u64, "token"),
                places[0].shown(),
                places[1].shown(),
                excerpt(&a.text[start..end])
            );
        }
    }

    /// What finds documents of which one has most of the other, if the default algorithm does not report them: without it, if none does.
    fn partial_as_text(&self, out: &mut String) {
        let most = match contained(self) {
            Some("a") => "most of a stands in b",
            Some("b") => "most of b stands in a",
            Some(_) => "most of each stands in the other",
            None => return,
        };
        let default = self.comparisons.iter().find(|(entry, _)| entry.name == ALGORITHMS[0].name);
        let is_reported = match default {
            Some((_, comparison)) => comparison.verdict.is_reported(),
            None => self.comparisons.iter().any(|(_, comparison)| comparison.verdict.is_reported()),
        };
        if is_reported {
            return;
        }
        let commands = commands(self);
        let find = match commands.len() {
            0 => String::new(),
            1 => format!(": {} finds this pair", commands[0]),
            _ => format!(": {} find this pair", commands.join(" and ")),
        };
        *out += &format!("{most}{find}\n");
    }
}
