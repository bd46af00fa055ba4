//! What was found.

use super::algorithms::SHINGLE;
use super::document::{Collection, Document};
use neardups::algorithm::Entry;
use neardups::compare::{Comparison, CountVectors};
use neardups::passages::{CommonRuns, Overlap, Run};
use neardups::review::Differences;

/// The results.
pub struct Report<'a> {
    pub tokenizer: &'a str,
    pub documents: [Document; 2],
    pub collection: Option<Collection>,
    pub median_tokens: usize,
    pub comparisons: Vec<(&'static Entry, Comparison)>,
    pub overlaps: Vec<(String, Overlap)>,
    pub counts: CountVectors,
    pub min_run: usize,
    pub runs: CommonRuns,
    pub passages: Vec<Run>,
    pub differences: Differences,
    /// The number of differences that was asked for.
    pub max_differences: Option<usize>,
    /// The flags by which other commands make the tokens; `None` if they cannot.
    pub token_flags: Option<String>,
}

/// The overlaps, with their names, of the shingles chosen for the documents and of shingles of three tokens.
pub fn overlaps(suited: &Comparison, of_three: Overlap) -> Vec<(String, Overlap)> {
    let width = suited.parameters.iter().find(|row| row.name == SHINGLE).map(|row| row.value.to_string());
    let name = match (&suited.tokenizer, width) {
        (Some(tokenizer), _) => tokenizer.clone(),
        (None, width) => width.unwrap_or_default(),
    };
    let suited = suited.evidence.as_ref().map(|evidence| (name, evidence.distinct));
    let mut overlaps: Vec<_> = suited.into_iter().collect();
    if overlaps.iter().all(|(name, _)| name != "3") {
        overlaps.push(("3".into(), of_three));
    }
    overlaps
}
