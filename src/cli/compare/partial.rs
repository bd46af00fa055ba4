//! Documents of which most stands in the other one, and the commands that find such a pair.

use super::super::arguments::Tokens as TypedTokens;
use super::super::preparation::Tokenization;
use super::report::Report;
use crate::readable::shell_word;
use crate::tokenizer::stands_alone;
use neardups::passages::{CommonRuns, ContainOptions, Overlap, PassageOptions, Run, common_runs};
use neardups::tokenizer::prepared::Step;
use neardups::tokenizer::prepared::fold::FOLDS;
use neardups::tokenizer::{TOKENIZERS, TokenDetail, Tokenizer, Tokens, Word, is_overlapping};

/// The lengths of shingles that are tried for `dedup contain`, after its default.
const SHINGLES: [usize; 3] = [8, 5, 3];

/// The length of a run of words that is looked for, where the tokens of the comparison are not words.
const MIN_WORDS: usize = 3;

/// Of which document most stands in the other: `a`, `b` or `both`. Most is more than half of its tokens.
pub fn contained(report: &Report<'_>) -> Option<&'static str> {
    match sides(report) {
        [true, true] => Some("both"),
        [true, false] => Some("a"),
        [false, true] => Some("b"),
        [false, false] => None,
    }
}

/// Whether most of each stands in the other.
fn sides(report: &Report<'_>) -> [bool; 2] {
    let [a, b] = report.documents.each_ref().map(|document| document.tokens.hashes());
    if a == b {
        // Also where they are shorter than a run.
        return [!a.is_empty(); 2];
    }
    let covered = report.runs.covered();
    [0, 1].map(|side| 2 * covered[side] > report.documents[side].tokens.len())
}

/// The flags by which other commands make the same tokens. `None` if they refuse these, which overlap.
pub fn token_flags(typed: &TypedTokens, tokens: &Tokenization) -> Option<String> {
    if is_overlapping(&tokens.name) {
        return None;
    }
    let flag = |step: Step, value: Option<String>| {
        let value = value.map(|value| format!(" {}", shell_word(&value))).unwrap_or_default();
        format!(" --{}{value}", step.flag())
    };
    let mut flags = Vec::new();
    if tokens.name != TOKENIZERS[0].name {
        flags.push(format!(" --tokenizer {}", tokens.name));
    }
    for step in typed.steps() {
        match step {
            Step::JoinHyphens => flags.push(flag(step, None)),
            Step::Fold => flags.push(flag(step, Some(FOLDS[0].0.into()))),
            Step::Mask => flags.push(flag(step, Some(typed.mask.join(",")))),
            Step::StopWords => flags.extend(typed.stop_words.iter().map(|words| flag(step, Some(words.clone())))),
            Step::Stem => flags.push(flag(step, typed.stem.clone())),
        }
    }
    Some(flags.concat())
}

/// Commands that report the two documents, in a corpus too. None if no run of words is in both.
pub fn commands(report: &Report<'_>) -> Vec<String> {
    let Some(flags) = &report.token_flags else {
        let words = report.documents.each_ref().map(|document| {
            let mut tokens = Tokens::new(TokenDetail::Everything, 0);
            Word.tokenize(&document.text, &mut tokens);
            tokens
        });
        let [a, b] = words.each_ref().map(Tokens::hashes);
        let runs = common_runs(a, b, report.min_run.min(MIN_WORDS));
        return commands_of(words.each_ref(), &runs, sides(report), "");
    };
    commands_of(report.documents.each_ref().map(|document| &document.tokens), &report.runs, sides(report), flags)
}

fn commands_of(tokens: [&Tokens; 2], runs: &CommonRuns, contained: [bool; 2], flags: &str) -> Vec<String> {
    let Some(longest) = runs.runs.iter().max_by_key(|run| run.tokens) else { return Vec::new() };
    let contain = contain_flags(tokens.map(Tokens::hashes), contained, longest.tokens);
    let passages = passages_flags(tokens[0], runs, longest);
    let passages = passages.map(|own| format!("dedup passages --exact{own}{flags}"));
    [format!("dedup contain --emit pairs{contain}{flags}")].into_iter().chain(passages).collect()
}

/// The flags by which `dedup contain` finds enough of one of the contained documents in the other: the longest shingles with which the
/// default coverage is reached; with none, the shortest, and a coverage that is reached.
fn contain_flags([a, b]: [&[u64]; 2], contained: [bool; 2], longest: usize) -> String {
    let ContainOptions { shingle, min_coverage, .. } = ContainOptions::default();
    let mut widths: Vec<usize> = [shingle].into_iter().chain(SHINGLES).filter(|&width| width <= longest).collect();
    if widths.is_empty() {
        widths.push(longest);
    }
    let mut flags = String::new();
    for width in widths {
        let overlap = Overlap::of_shingles(a, b, width);
        let wholes = [overlap.a, overlap.b].into_iter().zip(contained).filter(|(_, is_contained)| *is_contained);
        let whole = wholes.map(|(whole, _)| whole).min().unwrap_or(overlap.a);
        flags = if width == shingle { String::new() } else { format!(" --shingle {width}") };
        if min_coverage.min_overlap(whole) <= overlap.shared {
            return flags;
        }
        flags += &format!(" --min-coverage {}", share_below(overlap.shared, whole));
    }
    flags
}

/// A share in decimals, rounded down, but not to 0.
fn share_below(part: usize, whole: usize) -> String {
    let digits = |decimals: usize| (decimals, part as u128 * 10u128.pow(decimals as u32) / whole as u128);
    let (decimals, digits) = (2..=12).map(digits).find(|&(_, digits)| digits > 0).unwrap_or((12, 1));
    format!("0.{digits:0decimals$}")
}

/// The flags by which `dedup passages --exact` finds the longest run. `None` if there may be too many passages that begin where it does: the run
/// overlaps itself, or not all places were compared.
fn passages_flags(a: &Tokens, runs: &CommonRuns, longest: &Run) -> Option<String> {
    let overlaps = |other: &&Run| {
        let apart = [other.a.abs_diff(longest.a), other.b.abs_diff(longest.b)];
        other.tokens == longest.tokens && matches!(apart, [0, by] | [by, 0] if 0 < by && by < longest.tokens)
    };
    if runs.frequent > 0 || runs.runs.iter().any(|other| overlaps(&other)) {
        return None;
    }
    // As `dedup passages` counts: a Han or Kana character is half a word.
    let is_half = |at: &usize| {
        let mut characters = a.text(*at).chars();
        characters.next().is_some_and(stands_alone) && characters.next().is_none()
    };
    let halves = (longest.a..longest.a + longest.tokens).filter(is_half).count();
    let words = longest.tokens - halves / 2;
    Some(if words >= PassageOptions::default().min_words { String::new() } else { format!(" --min-words {words}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_down() {
        assert_eq!([share_below(41, 99), share_below(1, 2), share_below(1, 100)], ["0.41", "0.50", "0.01"]);
        assert_eq!([share_below(1, 101), share_below(3, 100_000)], ["0.009", "0.00003"]);
    }

    fn commands_for(a: &str, b: &str, min_run: usize) -> Vec<String> {
        let [a, b] = [a, b].map(|text| {
            let mut tokens = Tokens::new(TokenDetail::Everything, 0);
            Word.tokenize(text, &mut tokens);
            tokens
        });
        let runs = common_runs(a.hashes(), b.hashes(), min_run);
        commands_of([&a, &b], &runs, [true, false], "")
    }

    #[test]
    fn options_are_those_that_are_needed() {
        let words = |range: std::ops::Range<usize>| range.map(|n| format!("w{n} ")).collect::<String>();
        assert_eq!(
            commands_for(&words(0..60), &words(0..90), 10),
            ["dedup contain --emit pairs", "dedup passages --exact"]
        );
        assert_eq!(
            commands_for(&words(0..7), &words(0..90), 3),
            ["dedup contain --emit pairs --shingle 5", "dedup passages --exact --min-words 7"]
        );
        // 7 of 16 runs of 8 words, 13 of 19 of 5.
        let apart = format!("{} x {} y", words(0..11), words(20..30));
        assert_eq!(
            commands_for(&apart, &words(0..90), 3),
            ["dedup contain --emit pairs --shingle 5", "dedup passages --exact --min-words 11"]
        );
        let apart: String = (0..5).map(|n| format!("{} x{n} y{n} ", words(10 * n..10 * n + 3))).collect();
        assert_eq!(
            commands_for(&apart, &words(0..90), 3),
            ["dedup contain --emit pairs --shingle 3 --min-coverage 0.21", "dedup passages --exact --min-words 3"]
        );
        // A run that overlaps itself may be one of too many.
        assert_eq!(commands_for(&words(0..20).repeat(9), &words(0..20).repeat(2), 10), ["dedup contain --emit pairs"]);
        assert!(commands_for("a b", "c d", 1).is_empty());
    }
}
