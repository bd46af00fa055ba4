//! Passages that whole files cover. Of three files that are one finding, two may not be similar enough to be compared as files: what they
//! share is then found again, as passages of pages that are reported already.

use super::find::Kind;
use super::finding::{Finding, Place};
use std::collections::BTreeMap;

/// Takes out the passages and paragraphs that a finding of whole files covers, with a grade that is as high: each of their places is in a
/// page of its own and within a place of the files, and the files of each pair have half of the shorter one in common. A passage with a
/// place in another page, or with two in one page, says something new.
///
/// Cost: a search for each place; and for those within places of files, linear in the runs of the files.
pub(super) fn take_covered(findings: &mut Vec<Finding>) -> Vec<Finding> {
    let covered = covered(findings);
    let (mut numbers, mut taken) = (covered.iter(), Vec::new());
    for finding in std::mem::take(findings) {
        if numbers.next() == Some(&true) { taken.push(finding) } else { findings.push(finding) }
    }
    taken
}

/// Which findings are covered.
fn covered(findings: &[Finding]) -> Vec<bool> {
    // Of two files, what they share is not compared again.
    let files = findings.iter().filter(|finding| finding.kind == Kind::File && finding.places.len() > 2);
    let mut of_page: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for file in files {
        for place in &file.places {
            of_page.entry(place.path()).or_default().push(file);
        }
    }
    let is_covered = |finding: &Finding| {
        // Places are ordered by page.
        let are_pages = finding.places.windows(2).all(|two| two[0].path() != two[1].path());
        let files = of_page.get(finding.places[0].path()).into_iter().flatten();
        let mut files = files.filter(|file| file.grade >= finding.grade);
        finding.kind != Kind::File && are_pages && files.any(|file| covers(file, finding))
    };
    findings.iter().map(is_covered).collect()
}

/// Whether whole files cover a finding.
fn covers(files: &Finding, finding: &Finding) -> bool {
    let around = |place: &Place| {
        files.places.iter().position(|file| {
            let [whole, part] = [&file.words, &place.words];
            file.path() == place.path() && whole.start <= part.start && part.end <= whole.end
        })
    };
    let Some(around) = finding.places.iter().map(around).collect::<Option<Vec<usize>>>() else { return false };
    finding.pairs.iter().all(|pair| {
        let [one, other] = pair.indices.map(|index| around[index]);
        let matched: usize = files.runs_between(one, other).iter().map(|run| run.tokens).sum();
        2 * matched >= files.places[one].words.len().min(files.places[other].words.len())
    })
}
