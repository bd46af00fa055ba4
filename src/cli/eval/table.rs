//! What `dedup eval` prints for people: tables and sentences.

use super::super::terminal::{count, counted};
use neardups::Error;
use neardups::evaluate::{Bins, Scope, Scores, Truth};

/// The columns of the counts of pairs, and of their measures.
pub fn headings(first: &'static str, scope: Scope) -> Vec<&'static str> {
    let counts = [first, "found", "right", "wrong", "missed", "ignored"];
    let measures: &[&str] = match scope {
        Scope::Complete => &["precision", "recall", "F1"],
        Scope::Sample => &["unlabelled", "precision", "95 %", "recall", "95 %", "F1"],
    };
    [&counts, measures].concat()
}

/// A row under [`headings`].
pub fn cells(first: String, scores: &Scores) -> Vec<String> {
    let counts = [scores.predicted(), scores.right, scores.wrong, scores.missed(), scores.ignored].map(count);
    let (precision, recall) = (four_or_dash(scores.precision()), four(scores.recall()));
    let f1 = four_or_dash(scores.f1());
    let measures = match scores.scope {
        Scope::Complete => vec![precision, recall, f1],
        Scope::Sample => {
            let [of_precision, of_recall] = [scores.precision_interval(), scores.recall_interval()].map(interval);
            vec![count(scores.unlabelled), precision, of_precision, recall, of_recall, f1]
        }
    };
    [vec![first], counts.to_vec(), measures].concat()
}

/// An interval of shares, or a dash if there is none.
fn interval(ends: Option<[f64; 2]>) -> String {
    ends.map_or_else(|| "-".into(), |[low, high]| format!("{low:.2}-{high:.2}"))
}

/// What the measures of a sample are about.
pub fn about_sample(truth: &Truth) -> Option<String> {
    if truth.scope == Scope::Complete {
        return None;
    }
    let pairs = counted(truth.labelled(), "labelled pair");
    Some(match truth.negatives.is_empty() {
        false => {
            format!("measures and their intervals of 95 % are of the {pairs}: other pairs that were found do not count")
        }
        true => format!(
            "recall and its interval of 95 % are of the {pairs}; precision is not known, because no pair is labelled false"
        ),
    })
}

/// A warning if more than a quarter of the found pairs are of documents that no label names.
pub fn warning_of_incomplete(scores: &Scores) -> Option<String> {
    let (elsewhere, found) = (scores.wrong_elsewhere, scores.predicted());
    // A single pair says little.
    (elsewhere > 1 && 4 * elsewhere > found).then(|| {
        format!(
            "of the {} pairs found, {} have no document that the labels name, and count as wrong: if the labels are only a sample of \
             the pairs, --truth-is sample counts no others (--truth-is complete: they are all)",
            count(found),
            count(elsewhere),
        )
    })
}

/// The number of documents and of pairs to find.
pub fn counts(documents: u64, truth: &Truth) -> String {
    let (near, other) = (truth.pairs.len() as u64, truth.negatives.len() as u64);
    let mut line = counted(documents, "document");
    line += &match truth.scope {
        Scope::Complete => format!(", {}", counted(near, "labelled pair")),
        Scope::Sample => {
            let pairs = counted(truth.labelled(), "labelled pair");
            format!(", a sample of {pairs}: {} true, {} false", count(near), count(other))
        }
    };
    if !truth.ignored.is_empty() {
        line += &format!(", {} to ignore", count(truth.ignored.len() as u64));
    }
    line
}

/// The labelled pairs by similarity, as a table.
pub fn by_similarity(bins: &Result<Bins, Error>, scope: Scope) -> Vec<String> {
    let Bins { bins, not_compared } = match bins {
        Ok(bins) => bins,
        Err(reason) => return vec![format!("no table of labelled pairs by similarity: {reason}")],
    };
    let labelled = if scope == Scope::Sample { "near-duplicates" } else { "labelled" };
    let mut table = Table::new(&["similarity", labelled, "right", "recall", "predicted"]);
    for bin in bins {
        let range = format!("{:.2}-{:.2}", bin.from, bin.to);
        let counts = [bin.pairs, bin.found].map(count);
        table.row([&[range][..], &counts, &[bin.recall(), bin.predicted].map(four)].concat());
    }
    let mut lines = if bins.is_empty() { Vec::new() } else { table.lines() };
    if *not_compared > 0 {
        let pairs = counted(*not_compared, "labelled pair");
        lines.push(format!("{pairs} with a document with too few features to be compared"));
    }
    lines
}

pub fn four(measure: f64) -> String {
    format!("{measure:.4}")
}

/// To four decimals, or a dash for an undefined measure.
pub fn four_or_dash(measure: Option<f64>) -> String {
    measure.map_or_else(|| "-".into(), four)
}

/// Rows of cells under headings; the first column is aligned to the left, the others to the right.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(headings: &[&str]) -> Self {
        Table { rows: vec![headings.iter().map(|heading| heading.to_string()).collect()] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// A row with a sentence instead of cells.
    pub fn note(&mut self, first: &str, sentence: String) {
        self.rows.push(vec![first.to_string(), sentence]);
    }

    pub fn lines(&self) -> Vec<String> {
        let columns = self.rows[0].len();
        let full = || self.rows.iter().filter(|row| row.len() == columns);
        let mut widths: Vec<usize> =
            (0..columns).map(|at| full().map(|row| row[at].len()).max().unwrap_or(0)).collect();
        widths[0] = self.rows.iter().map(|row| row[0].len()).max().unwrap_or(0);
        let line = |row: &Vec<String>| {
            let mut line = format!("  {:<1$}", row[0], widths[0]);
            for (cell, width) in row[1..].iter().zip(&widths[1..]) {
                let width = if row.len() == columns { *width } else { 0 };
                line += &format!("  {cell:>width$}");
            }
            line
        };
        self.rows.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up() {
        let mut table = Table::new(&["name", "n", "F1"]);
        table.row(vec!["long name".into(), "1,000".into(), "0.5000".into()]);
        table.note("x", "not run: a long reason".into());
        assert_eq!(
            table.lines(),
            ["  name           n      F1", "  long name  1,000  0.5000", "  x          not run: a long reason"]
        );
    }
}
