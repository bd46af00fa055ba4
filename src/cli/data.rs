//! What `dedup plan PATH…` says about the documents: their sizes, what a scan of them takes, and how similar they are.

use super::excerpt::excerpt;
use super::numbers::{time, whole};
use super::sizing::Collection;
use super::terminal::{self, bytes, count, counted};
use neardups::algorithm::PlannedRun;
use neardups::engine::{Bounded, Example, Removal, Similarities, SimilarityRange};
use neardups::passages::first_difference;
use neardups::tokenizer::{TokenDetail, Tokenizer, Tokens};
use serde::Serialize;
use std::fmt::Write as _;

/// What was found in the data, as JSON; its fields in the order of the text.
#[derive(Serialize)]
pub struct Data {
    documents: u64,
    bytes: u64,
    median_words: u64,
    median_tokens: usize,
    copies: u64,
    featureless: u64,
    failed: u64,
    expected: Expected,
    measure: &'static str,
    distinct: u64,
    sampled: u64,
    complete_sample: bool,
    unseen_documents: u64,
    unseen_pairs: f64,
    copy_pairs: u64,
    ranges: Vec<Range>,
    removals: Vec<Removed>,
}

/// What a scan is expected to take.
#[derive(Serialize)]
struct Expected {
    documents: u64,
    memory_bytes: f64,
    temporary_bytes: f64,
    most_temporary_bytes: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

#[derive(Serialize)]
struct Range {
    from: f64,
    to: f64,
    pairs: f64,
    low: f64,
    high: f64,
    examples: Vec<Pair>,
}

#[derive(Serialize)]
struct Pair {
    a: String,
    b: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_at: Option<String>,
    similarity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    differ: Option<[String; 2]>,
}

#[derive(Serialize)]
struct Removed {
    threshold: f64,
    documents: f64,
    low: f64,
    high: f64,
}

/// Bytes without compression whose reading takes long enough for the time of more of them to be estimated.
const ENOUGH_FOR_TIME: u64 = 16 << 20;

/// Tokens of the least run that two texts share, where it is looked for how they differ.
const SHARED_RUN: usize = 5;

/// Tokens that are shown before and after a difference, and of it at most.
const CONTEXT: usize = 3;
const SHOWN: usize = 8;

impl Data {
    /// What was found, for people and programs; what a scan takes is that of so many `documents` like these. `words` is their median length,
    /// and `decoded` their bytes without compression. `tokenizer` finds where the examples differ.
    pub fn new(
        found: &Similarities,
        plan: &PlannedRun,
        (documents, words, decoded): (u64, u64, u64),
        memory: u64,
        tokenizer: &dyn Tokenizer,
    ) -> Self {
        let counts = &found.report.counts;
        let times = documents as f64 / counts.documents.max(1) as f64;
        let keys = plan.forecast.costs.iter().find(|(what, ..)| what.starts_with("keys of all documents"));
        let collection = Collection {
            documents: documents as f64,
            features: times * counts.tokens as f64,
            keys: keys.map_or(0.0, |&(_, bytes, _)| bytes),
        };
        let similar = found.removals.iter().find(|removal| removal.threshold.as_f64() == 0.5);
        let share = similar.map_or(0.0, |removal| removal.documents.value) / counts.documents.max(1) as f64;
        let memory = memory as f64;
        let expected = Expected {
            documents,
            memory_bytes: collection.memory(memory),
            temporary_bytes: collection.temporary(memory, share),
            most_temporary_bytes: collection.temporary(memory, 1.0),
            seconds: (times <= 1.0 || decoded >= ENOUGH_FOR_TIME).then_some(times * found.reading.as_secs_f64()),
        };
        Data {
            documents: counts.documents,
            bytes: counts.bytes,
            median_words: words,
            median_tokens: found.median_own_tokens,
            copies: counts.copies,
            featureless: counts.featureless,
            failed: counts.failed,
            expected,
            measure: found.report.measure,
            distinct: found.distinct,
            sampled: found.sampled,
            complete_sample: !found.is_cut,
            unseen_documents: found.unseen.documents,
            unseen_pairs: found.unseen.pairs,
            copy_pairs: found.copies,
            ranges: found.ranges.iter().rev().map(|range| Range::new(range, tokenizer)).collect(),
            removals: found.removals.iter().map(Removed::new).collect(),
        }
    }

    /// The lines for people.
    pub fn as_text(&self) -> String {
        let mut out = String::new();
        let mut line = |line: String| writeln!(out, "{line}").expect("writing to a string cannot fail");
        line(format!("{}, {}", counted(self.documents, "document"), bytes(self.bytes as f64)));
        line(format!(
            "  median length: {}, {}",
            counted(self.median_words, "word"),
            counted(self.median_tokens as u64, "token")
        ));
        let names = if self.featureless > 0 { " (dedup scan --emit verdicts names them)" } else { "" };
        let featureless = count(self.featureless);
        line(format!("  {}, {featureless} with too few features{names}", counted(self.copies, "exact copy")));
        if self.failed > 0 {
            line(format!("  {} failed", count(self.failed)));
        }
        let Expected { documents, memory_bytes, temporary_bytes, most_temporary_bytes, seconds } = self.expected;
        let of = match documents == self.documents {
            true => "a scan".to_string(),
            false => format!("a scan of {} like these", counted(documents, "document")),
        };
        let temporary = match most_temporary_bytes > 0.0 {
            false => "none".to_string(),
            true => {
                let most = bytes(most_temporary_bytes);
                format!("{} (at most {most}, if all were similar to others)", bytes(temporary_bytes))
            }
        };
        let took = match seconds {
            Some(seconds) => format!("{} for reading", time(1e9 * seconds)),
            None => format!(
                "a time that only a sample of {} or more, without compression, shows",
                bytes(ENOUGH_FOR_TIME as f64)
            ),
        };
        line(format!(
            "  {of} takes about {} of memory at most, temporary files: {temporary}, and {took} (estimates)",
            bytes(memory_bytes),
        ));
        let distinct = counted(self.distinct, "distinct document");
        line(match self.is_exact() {
            true => format!("\n  all of {distinct} were compared with each other; every pair at 0.3 or more was found"),
            false => format!(
                "\n  {} of {distinct} were compared with all documents; every pair at 0.3 or more of these was found",
                count(self.sampled),
            ),
        });
        if !self.complete_sample {
            line(
                "  (the sample is smaller than wanted: its features take too much memory; --memory allows more)".into(),
            );
        }
        line(format!(
            "  {:<10} {:>14}  {}",
            self.measure,
            "pairs",
            if self.is_exact() { "exact" } else { "95 % interval" }
        ));
        line(format!("  {:<10} {:>14}  exact", "copies", count(self.copy_pairs)));
        let most = self.ranges.iter().map(|range| range.pairs).fold(1.0, f64::max);
        for range in &self.ranges {
            let name = if range.from == 1.0 { "1".to_string() } else { format!("{:.1}-{:.1}", range.from, range.to) };
            let interval = if self.is_exact() { String::new() } else { interval(range.low, range.high) };
            let bar = "#".repeat((range.pairs / most * 20.0).ceil() as usize);
            let row = format!("  {name:<10} {:>14}  {interval:<24} {bar}", rounded(range.pairs));
            line(row.trim_end().to_string());
        }
        if self.unseen_pairs > 0.0 {
            line(format!(
                "  (each upper end includes {}: the sample may miss {} that are all similar to each other)",
                counted(self.unseen_pairs as u64, "pair"),
                counted(self.unseen_documents, "distinct document"),
            ));
        }
        for range in self.ranges.iter().filter(|range| !range.examples.is_empty()) {
            line(String::new());
            range.examples.iter().flat_map(Pair::lines).for_each(&mut line);
        }
        line(String::new());
        line(self.last_line() + "\n");
        out
    }

    fn is_exact(&self) -> bool {
        self.sampled == self.distinct
    }

    /// Which threshold?
    fn last_line(&self) -> String {
        let removed = |removed: &Removed| {
            let interval =
                if self.is_exact() { String::new() } else { format!(" ({})", interval(removed.low, removed.high)) };
            format!("{}: {}{interval}", removed.threshold, rounded(removed.documents))
        };
        let removed: Vec<String> = self.removals.iter().map(removed).collect();
        format!("documents with an earlier near-duplicate, by threshold: {}", removed.join("; "))
    }
}

impl Range {
    fn new(range: &SimilarityRange, tokenizer: &dyn Tokenizer) -> Self {
        let Bounded { value, low, high, .. } = range.pairs;
        Range {
            from: f64::from(range.tenths) / 10.0,
            to: f64::from((range.tenths + 1).min(10)) / 10.0,
            pairs: value,
            low,
            high,
            examples: range.examples.iter().map(|example| Pair::new(example, tokenizer)).collect(),
        }
    }
}

impl Removed {
    fn new(removal: &Removal) -> Self {
        let Bounded { value, low, high, .. } = removal.documents;
        Removed { threshold: removal.threshold.as_f64(), documents: value, low, high }
    }
}

impl Pair {
    fn new(example: &Example, tokenizer: &dyn Tokenizer) -> Self {
        let [a, b] = example.ids.clone();
        let [a_at, b_at] = example.places.clone().map_or([None, None], |places| places.map(Some));
        let differ = example.texts.as_ref().and_then(|texts| differ(texts.each_ref(), tokenizer));
        Pair { a, b, a_at, b_at, similarity: example.similarity.value(), differ }
    }

    fn lines(&self) -> Vec<String> {
        let name = |id: &str, at: &Option<String>| match at {
            Some(at) if at != id => format!("{} ({})", terminal::escaped(id), terminal::escaped(at)),
            _ => terminal::escaped(id),
        };
        let names = [name(&self.a, &self.a_at), name(&self.b, &self.b_at)];
        let mut lines = vec![format!("  {:.4}  {}  {}", self.similarity, names[0], names[1])];
        match &self.differ {
            Some(differ) => lines.extend(differ.iter().map(|text| format!("    {}", excerpt(text)))),
            None => lines.push(
                "    (the difference is not shown: the texts are long, or differ only in what is no token)".into(),
            ),
        }
        lines
    }
}

/// Where two texts first differ: in brackets, with some tokens around it.
fn differ(texts: [&String; 2], tokenizer: &dyn Tokenizer) -> Option<[String; 2]> {
    let tokens = texts.map(|text| {
        let mut tokens = Tokens::new(TokenDetail::Everything, 0);
        tokenizer.cut(text, &mut tokens);
        tokens
    });
    let [a, b] = first_difference(tokens[0].hashes(), tokens[1].hashes(), SHARED_RUN)?;
    let shown = |text: &str, tokens: &Tokens, gap: std::ops::Range<usize>| {
        let part = |range: std::ops::Range<usize>| match range.is_empty() {
            true => "",
            false => &text[tokens.span(range.start).start..tokens.span(range.end - 1).end],
        };
        let cut = if gap.len() > SHOWN { " …" } else { "" };
        let middle = part(gap.start..gap.end.min(gap.start + SHOWN));
        let before = part(gap.start.saturating_sub(CONTEXT)..gap.start);
        let after = part(gap.end..(gap.end + CONTEXT).min(tokens.len()));
        format!("{before} [{middle}{cut}] {after}").trim().to_string()
    };
    Some([shown(texts[0], &tokens[0], a), shown(texts[1], &tokens[1], b)])
}

/// A number of pairs or documents, whole.
fn rounded(number: f64) -> String {
    whole(number.round())
}

fn interval(low: f64, high: f64) -> String {
    format!("{} to {}", rounded(low.floor()), rounded(high.ceil()))
}
