//! The verdict of an algorithm, in a word and in a sentence.

use super::super::terminal::{count, counted};
use super::algorithms::SHINGLE;
use neardups::algorithm::{Entry, Row};
use neardups::compare::{Comparison, CountedTerms, Evidence, Verdict};
use neardups::similarity::Similarity;

/// The verdict in one word.
pub fn outcome(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Reported { copies: false } => "reported",
        Verdict::Reported { copies: true } => "copies",
        Verdict::BelowThreshold => "below_threshold",
        Verdict::NoKeyInCommon => "no_key_in_common",
        Verdict::TooFewFeatures(_) => "too_few_features",
        Verdict::Refused(_) => "refused",
        Verdict::NeedsCollection => "needs_collection",
    }
}

/// Whether an algorithm compared the documents.
fn is_compared(verdict: &Verdict) -> bool {
    !matches!(verdict, Verdict::TooFewFeatures(_) | Verdict::Refused(_) | Verdict::NeedsCollection)
}

/// Which of several algorithms report the documents.
pub fn summary(comparisons: &[(&'static Entry, Comparison)]) -> String {
    let compared: Vec<_> = comparisons.iter().filter(|(_, comparison)| is_compared(&comparison.verdict)).collect();
    let reported = compared.iter().filter(|(_, comparison)| comparison.verdict.is_reported());
    let names: Vec<&str> = reported.map(|(entry, _)| entry.name).collect();
    let others = match comparisons.len() - compared.len() {
        0 => String::new(),
        others => format!(" ({others} did not compare them)"),
    };
    match (&*compared, names.len()) {
        ([], _) => format!("compared by none of {}", counted(comparisons.len() as u64, "algorithm")),
        ([(entry, _)], number) => {
            let not = if number == 0 { "not " } else { "" };
            format!("{not}reported by the only algorithm that compared them: {}", entry.name)
        }
        (all, 0) => format!("reported by none of {} algorithms{others}", all.len()),
        (all, number) => format!("reported by {number} of {} algorithms{others}: {}", all.len(), names.join(", ")),
    }
}

/// The names of parameters that decide whether a pair is reported.
const LIMITS: [&str; 5] = ["threshold", "cosine", "distance", "agree", "min_supershingles"];

/// The verdict in a sentence.
pub fn sentence(entry: &Entry, comparison: &Comparison) -> String {
    let evidence = comparison.evidence.as_ref();
    let similarity = evidence.and_then(|evidence| evidence.similarity);
    let mut similar = similarity.map_or_else(String::new, |s| format!("{} {}", comparison.measure, decimal(s)));
    similar.extend(evidence.and_then(|evidence| bits(comparison, evidence)).map(|bits| format!(", {bits}")));
    let limit = decisive(comparison);
    match &comparison.verdict {
        Verdict::Reported { copies: true } => "reported: exact copies, all tokens are equal".into(),
        Verdict::Reported { copies: false } => format!("reported: {similar}{limit}"),
        Verdict::BelowThreshold => {
            let reached = similarity.and_then(|similarity| reached(comparison, similarity));
            let apart = evidence.and_then(|evidence| evidence.terms.as_ref()).and_then(apart);
            format!("not reported: {similar}{limit}{}{}", reached.unwrap_or_default(), apart.unwrap_or_default())
        }
        Verdict::NoKeyInCommon => format!("missed: {similar}{limit}, but no key in common"),
        Verdict::TooFewFeatures(which) => format!(
            "not compared: {} too few features",
            match which {
                [true, true] => "both have",
                [true, false] => "a has",
                _ => "b has",
            }
        ),
        Verdict::Refused(why) => format!("not run: {why}"),
        // A lexicon counts terms, not features.
        Verdict::NeedsCollection if comparison.parameters.iter().any(|row| row.name == "drop_common") => {
            "not compared: --drop-common drops features of many documents, and two are too few: name both by their ids with --in PATH".into()
        }
        Verdict::NeedsCollection => format!(
            "not compared: it needs the frequencies of terms in a collection: name both by their ids with --in PATH, or use --algo {} \
             --lexicon FILE",
            entry.name
        ),
    }
}

/// How many of the terms that count are in both documents, where digests of them are to be equal.
fn apart([a, b]: &[CountedTerms; 2]) -> Option<String> {
    let only = |these: &CountedTerms, those: &CountedTerms| {
        these.counting.iter().filter(|term| those.counting.binary_search(term).is_err()).count() as u64
    };
    let (of_a, of_b) = (only(a, b), only(b, a));
    let of_both = (a.counting.len() + b.counting.len()) as u64 - of_a - of_b;
    (of_a + of_b > 0).then(|| {
        format!(
            ", as no digest is equal: of the terms that count, {} are in both, {} only in a, {} only in b",
            count(of_both / 2),
            count(of_a),
            count(of_b)
        )
    })
}

/// The parameters that decide, in parentheses: the least similarity, and the length of shingles.
fn decisive(comparison: &Comparison) -> String {
    let named = |row: &Row| format!("{} {}", row.name.replace('_', " "), row.value);
    let limit = comparison.parameters.iter().find(|row| LIMITS.contains(&row.name)).map(named);
    let shingle = match &comparison.tokenizer {
        Some(tokenizer) => Some(format!("{tokenizer} tokens")),
        None => comparison.parameters.iter().find(|row| row.name == SHINGLE).map(named),
    };
    let parts: Vec<String> = limit.into_iter().chain(shingle).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// The option with the value that the pair reaches, where that is the least similarity; `None` if no value is low enough.
fn reached(comparison: &Comparison, similarity: Similarity) -> Option<String> {
    let limit = comparison.parameters.iter().find(|row| ["threshold", "cosine"].contains(&row.name))?;
    Some(format!(", reaches --{} {}", limit.name, rounded_down(similarity.value())?))
}

/// A share in decimals, rounded down: at least four decimals, and more if these are all 0; `None` if it is less than can be typed.
fn rounded_down(share: f64) -> Option<String> {
    // 0.29 is a little less as a number of the machine.
    let digits = |decimals: usize| (decimals, (share * 10f64.powi(decimals as i32) + 1e-11) as u64);
    let (decimals, digits) = (4..=12).map(digits).find(|&(_, digits)| digits > 0)?;
    let scale = 10u64.pow(decimals as u32);
    let text = format!("{}.{:0decimals$}", digits / scale, digits % scale);
    Some(text.trim_end_matches('0').trim_end_matches('.').into())
}

/// How many bits agree where `agree` is the limit, and otherwise how many differ.
fn bits(comparison: &Comparison, evidence: &Evidence) -> Option<String> {
    let distance = evidence.distance?;
    let of = evidence.agreement.iter().find(|agreement| agreement.what == "bits")?.of;
    let is_agreement = comparison.parameters.iter().any(|row| row.name == "agree");
    Some(match is_agreement {
        true => format!("{} of {of} bits agree", of - distance as usize),
        false => format!("{distance} of {of} bits differ"),
    })
}

/// Whether the exact join would report a pair, for algorithms with sketches and an exact join.
pub fn reported_by_exact(entry: &Entry, comparison: &Comparison) -> Option<bool> {
    let sketched = entry.uses("exact") && comparison.algorithm == entry.name && comparison.measure == "jaccard";
    sketched.then(|| comparison.verdict.is_reported() || comparison.verdict == Verdict::NoKeyInCommon)
}

pub fn decimal(similarity: Similarity) -> String {
    format!("{:.4}", similarity.value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use neardups::similarity::Threshold;

    #[test]
    fn thresholds_are_rounded_down() {
        for (share, expected) in [
            (2.0 / 3.0, Some("0.6666")),
            (0.2, Some("0.2")),
            (11.0 / 14.0, Some("0.7857")),
            (0.29, Some("0.29")),
            (18.0 / 25.0, Some("0.72")),
            (1.0 / 30_000.0, Some("0.00003")),
            (1.0, Some("1")),
            (0.0, None),
            (1e-13, None),
        ] {
            assert_eq!(rounded_down(share).as_deref(), expected);
        }
    }

    /// A share is what it is rounded to, or less: never more.
    #[test]
    fn rounded_thresholds_are_reached() {
        for whole in 1..400u64 {
            for part in 1..=whole {
                let text = rounded_down(part as f64 / whole as f64).unwrap();
                let threshold: Threshold = text.parse().unwrap();
                assert!(threshold.reached_by(part, whole), "{part}/{whole}: {text}");
            }
        }
    }
}
