//! Grades: how much each finding is worth a reviewer's time.
//!
//! A finding is an error unless something limits its grade: what its matching words are ([`text`]), where its places are ([`places`]), or
//! a rule of the configuration. Of several limits the lowest applies, and its reasons are given.
//!
//! Cost: linear in the matching words, apart from a sort of the runs of each pair.

mod files;
mod places;
mod text;

use super::find::FindOptions;
use super::finding::Finding;
use super::grade::{Grade, Limit};
use super::rules::Rules;
use files::Files;

pub(super) use files::is_release_notes;

/// Grades findings.
pub(super) fn grade(findings: &mut [Finding], rules: &Rules, options: &FindOptions) {
    let files = Files::of(findings, rules);
    for finding in findings {
        let mut limits = text::limits(finding, options);
        limits.extend(places::limits(finding, &files));
        apply(finding, &limits);
    }
}

/// Sets the lowest of these grades, with its reasons.
fn apply(finding: &mut Finding, limits: &[Limit]) {
    let Some(lowest) = limits.iter().map(|(grade, _)| *grade).min().filter(|grade| *grade < Grade::Error) else {
        return;
    };
    finding.grade = lowest;
    finding.reasons = limits.iter().filter(|(grade, _)| *grade == lowest).map(|(_, reason)| *reason).collect();
    finding.reasons.sort_unstable();
    finding.reasons.dedup();
}

#[cfg(test)]
mod tests;
