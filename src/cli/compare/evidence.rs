//! What the verdicts are made of, as text.

use super::super::spelling::spelled;
use super::super::terminal::{self, count, counted};
use super::report::Report;
use super::verdict::{decimal, reported_by_exact};
use neardups::algorithm::{Agreement, Entry};
use neardups::compare::{Comparison, CountVectors, CountedTerms, Evidence};
use neardups::similarity::Similarity;
use neardups::tokenizer::CharNgram;

/// Maximum length in words of a fingerprint.
const MAX_FINGERPRINT: usize = 2;

/// Appends the evidence of the algorithms, the shingles in common, and the token counts.
pub fn push_evidence(report: &Report<'_>, out: &mut String, width: usize) {
    out.push('\n');
    for (entry, comparison) in &report.comparisons {
        let facts = comparison.evidence.iter().flat_map(|evidence| facts(entry, comparison, evidence));
        for (number, fact) in facts.enumerate() {
            let name = if number == 0 { entry.name } else { "" };
            *out += &format!("{name:width$}  {fact}\n");
        }
    }
    out.push('\n');
    for (name, overlap) in &report.overlaps {
        let share = |share: Option<Similarity>| share.map_or_else(|| "-".to_string(), decimal);
        let [in_b, in_a] = overlap.containment();
        *out += &format!(
            "{:<16}{} and {} distinct, {} shared: jaccard {}, {} of a in b, {} of b in a\n",
            shingle_label(name),
            count(overlap.a as u64),
            count(overlap.b as u64),
            count(overlap.shared as u64),
            share(overlap.jaccard()),
            share(in_b),
            share(in_a),
        );
    }
    let CountVectors { cosine, euclidean } = report.counts;
    let cosine = cosine.map_or_else(|| "-".to_string(), |cosine| format!("{cosine:.4}"));
    *out += &format!("{:<16}cosine {cosine}, euclidean distance {euclidean:.4}\n", "token counts");
}

fn shingle_label(name: &str) -> String {
    if name.contains(':') { name.to_string() } else { format!("{name}-shingles") }
}

/// The evidence of an algorithm, as lines.
fn facts(entry: &Entry, comparison: &Comparison, evidence: &Evidence) -> Vec<String> {
    let mut facts = Vec::new();
    let Evidence { features: [a, b], distinct, .. } = evidence;
    let mut line = vec![format!(
        "features: {} and {}, {} of them shared",
        counted_distinct(*a, distinct.a),
        counted_distinct(*b, distinct.b),
        count(distinct.shared as u64)
    )];
    let equal = |agreement: &Agreement| format!("{} of {} {}", agreement.equal, agreement.of, agreement.what);
    if !evidence.agreement.is_empty() {
        line.push(format!("equal: {}", evidence.agreement.iter().map(equal).collect::<Vec<_>>().join(", ")));
    }
    if let Some(tokenizer) = &comparison.tokenizer {
        let is_auto = [CharNgram::SHORT, CharNgram::LONG].iter().any(|n| tokenizer.starts_with(&format!("char:{n}")));
        let why = if is_auto { "by the length of the documents" } else { "because the documents are short" };
        line.insert(0, format!("{tokenizer} tokens, {why}"));
    }
    facts.push(line.join("; "));
    facts.extend(evidence.terms.iter().flat_map(term_facts));
    if let Some(found) = evidence.found_with {
        let exact = match reported_by_exact(entry, comparison) {
            Some(true) => "; --exact finds this pair",
            Some(false) => "; --exact does not report it either",
            None => "",
        };
        facts.push(format!("a pair this similar shares a band with probability {found:.4}{exact}"));
    }
    // For comparisons of bits, the fingerprint is the evidence.
    let [a, b] = &evidence.fingerprints;
    if evidence.distance.is_some() && a.len().max(b.len()) <= MAX_FINGERPRINT {
        facts.push(format!("fingerprints: {} and {}", evidence.form.write(a), evidence.form.write(b)));
    }
    facts
}

/// The terms that count, as lines.
fn term_facts([a, b]: &[CountedTerms; 2]) -> Vec<String> {
    let of = |name: &str, terms: &CountedTerms| {
        format!(
            "{} of the {} of {name}",
            count(terms.counting.len() as u64),
            counted(terms.distinct as u64, "distinct term")
        )
    };
    let mut facts = vec![format!("terms that count: {}, {}", of("a", a), of("b", b))];
    let only = |these: &CountedTerms, those: &CountedTerms, wanted: bool| {
        let terms = these.counting.iter().filter(|term| those.counting.binary_search(term).is_ok() == wanted);
        terms.cloned().collect::<Vec<_>>()
    };
    let lists = [("in both", only(a, b, true)), ("only in a", only(a, b, false)), ("only in b", only(b, a, false))];
    facts.extend(lists.iter().filter(|(_, terms)| !terms.is_empty()).map(|(what, terms)| listed(what, terms)));
    let notes = [("a", a.note), ("b", b.note)];
    facts.extend(notes.iter().filter_map(|(name, note)| Some(format!("{name}: {}", spelled(note.as_ref()?)))));
    facts
}

/// The maximum number of terms in a line of text; JSON has all.
const MAX_TERMS: usize = 20;

fn listed(what: &str, terms: &[String]) -> String {
    let shown: Vec<_> = terms.iter().take(MAX_TERMS).map(|term| terminal::escaped(term)).collect();
    let more = terms.len().saturating_sub(MAX_TERMS) as u64;
    let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
    format!("{what}: {}{more}", shown.join(" "))
}

fn counted_distinct(all: usize, distinct: usize) -> String {
    if all == distinct {
        count(all as u64)
    } else {
        format!("{} ({} distinct)", count(all as u64), count(distinct as u64))
    }
}
