//! Joining words that are hyphenated at the end of a line.
//!
//! A hyphen (`-`, U+2010, or a soft hyphen, which is visible at the end of a line) between two letters is removed, with
//! the line end after it: LF, CR LF or CR. Spaces before and after the line end are removed too; a blank line is not
//! crossed. A word with a hyphen of its own there loses it: `well-` and `known` become `wellknown`. Digits are not
//! joined.

use super::super::normalise::counts;
use super::super::properties::Properties;
use super::super::shortened::Shortened;

/// Fills `joined` with the text without hyphens at the ends of lines, as far as that takes at most `room` bytes. Returns whether
/// there were any.
pub(super) fn join(text: &str, joined: &mut Shortened, room: usize) -> bool {
    joined.begin(room);
    let mut copied = 0;
    for end in memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()) {
        if let (Some(hyphen), Some(next)) = (hyphen_before(&text[..end]), letter_after(&text[end..])) {
            let next = end + next;
            joined.push(&text[copied..hyphen]);
            joined.leave_out(next - hyphen);
            copied = next;
        }
    }
    if copied > 0 {
        joined.push(&text[copied..]);
    }
    copied > 0
}

/// The position of the hyphen at the end of a line, if it follows a letter.
fn hyphen_before(line: &str) -> Option<usize> {
    let is_hyphen = |c: char| matches!(c, '-' | '\u{2010}' | '\u{ad}');
    let line = line.trim_end_matches(|c| is_space(c) || !counts(c) && !is_hyphen(c));
    let before = line.strip_suffix(is_hyphen)?;
    let last = before.chars().rev().find(|&c| counts(c))?;
    Properties::of(last).any(Properties::LETTER.and(Properties::MARK)).then_some(before.len())
}

/// The distance from the end of a line to the letter that begins the next.
fn letter_after(end: &str) -> Option<usize> {
    let skip_ignored = |text: &'_ str| text.len() - text.trim_start_matches(|c| !counts(c)).len();
    let mut at = 1;
    if end.starts_with('\r') {
        let ignored = skip_ignored(&end[at..]);
        if end[at + ignored..].starts_with('\n') {
            at += ignored + 1;
        }
    }
    let next = end[at..].find(|c| !is_space(c) && counts(c))?;
    let c = end[at + next..].chars().next()?;
    Properties::of(c).any(Properties::LETTER).then_some(at + next)
}

/// White space that does not end a line.
fn is_space(c: char) -> bool {
    let ends_line = matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    !ends_line && Properties::of(c).any(Properties::WHITE_SPACE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(text: &str) -> String {
        let mut shortened = Shortened::default();
        match join(text, &mut shortened, usize::MAX) {
            true => shortened.text,
            false => text.to_string(),
        }
    }

    #[test]
    fn hyphens_at_the_ends_of_lines() {
        for (text, expected) in [
            ("an exam-\nple", "an example"),
            ("exam-\r\nple, exam-\rple", "example, example"),
            ("exam- \t\n   ple", "example"),
            ("exam\u{2010}\nple exam\u{ad}\nple", "example example"),
            ("a-\nb-\nc", "abc"),
            ("exam-\u{200b}\n\u{2060}ple", "example"),
            ("exam-\r\u{200b}\n ple", "example"),
            ("e\u{301}-\ne\u{301}", "e\u{301}e\u{301}"),
            ("well-known", "well-known"),
            ("well-\nknown", "wellknown"),
            ("EXAM-\nPLE", "EXAMPLE"),
            // A dash, a blank line, a number, a list, the end.
            ("exam--\nple", "exam--\nple"),
            ("exam -\nple", "exam -\nple"),
            ("exam-\n\nple", "exam-\n\nple"),
            ("exam-\r\n\r\nple", "exam-\r\n\r\nple"),
            ("exam-\n \nple", "exam-\n \nple"),
            ("1990-\n1995", "1990-\n1995"),
            ("exam-\n2", "exam-\n2"),
            ("exam-\n- ple", "exam-\n- ple"),
            ("exam-\u{2028}ple", "exam-\u{2028}ple"),
            ("exam-\n", "exam-\n"),
            ("-\nple", "-\nple"),
            ("", ""),
        ] {
            assert_eq!(joined(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn joining_again_joins_nothing(text in "[a-cé1 \u{ad}\u{2010}\u{200b}\u{301}\r\n-]{0,40}") {
            let once = joined(&text);
            prop_assert_eq!(&joined(&once), &once);
        }

        #[test]
        fn only_hyphens_and_ends_of_lines_are_left_out(text in "[ab1 \u{2010}\r\n-]{0,40}") {
            let rest = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            prop_assert_eq!(rest(&joined(&text)), rest(&text));
            // The definition, by looking for each of the possible pieces.
            let mut expected = text.clone();
            for hyphen in ['-', '\u{2010}'] {
                for (before, end, after) in (0..).take(64).flat_map(|n| ["\n", "\r\n", "\r"].map(|end| (n % 8, end, n / 8))) {
                    let piece = format!("{hyphen}{}{end}{}", " ".repeat(before), " ".repeat(after));
                    for (x, y) in ["aa", "ab", "ba", "bb"].map(|pair| pair.split_at(1)) {
                        // Twice, as matches may share a letter.
                        for _ in 0..2 {
                            expected = expected.replace(&format!("{x}{piece}{y}"), &format!("{x}{y}"));
                        }
                    }
                }
            }
            if !text.contains("        ") {
                prop_assert_eq!(joined(&text), expected);
            }
        }
    }
}
