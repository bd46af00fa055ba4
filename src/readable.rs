//! Numbers and text formatted for people, and words that people mistype.

use std::borrow::Cow;
#[cfg(feature = "check")]
use std::collections::BTreeSet;

/// A count with commas between the thousands.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun, which must have a regular plural.
pub fn counted(n: u64, what: &str) -> String {
    let plural = match what.strip_suffix('y') {
        _ if n == 1 => what.to_string(),
        Some(stem) => format!("{stem}ies"),
        None => format!("{what}s"),
    };
    format!("{} {plural}", count(n))
}

/// A word of a command line, in quotes if a shell needs them. Characters that control the display are written as their bytes, in the quotes
/// of bash and zsh for that.
#[cfg(feature = "check")]
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else if word.contains(controls_display) {
        let quoted = |c: char| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if controls_display(c) => c.to_string().bytes().map(|byte| format!("\\{byte:03o}")).collect(),
            c => c.to_string(),
        };
        format!("$'{}'", word.chars().map(quoted).collect::<String>())
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// An id, which is untrusted and may be very long, cut after 200 characters.
pub fn shortened_id(id: &str) -> Cow<'_, str> {
    shortened(id, 200)
}

/// A text, cut after this number of characters.
pub fn shortened(text: &str, most_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most_chars) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// A text on one line, in which control and bidirectional characters are visible. Ids, file names and passages are
/// untrusted, and must not control the display.
#[cfg(feature = "report")]
pub fn escaped(text: &str) -> String {
    let escape = |c: char| if controls_display(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}

/// A text of several lines, in which everything but the line ends is escaped.
#[cfg(feature = "check")]
pub fn escaped_lines(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// Whether a character could change how the surrounding text is displayed: controls, and characters that set the
/// direction of writing (Unicode Standard Annex 9) or separate lines.
#[cfg(feature = "report")]
pub fn controls_display(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The known words that are similar to a typed one, by their pairs of letters; the most similar first.
#[cfg(feature = "check")]
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    const LEAST: f64 = 0.4;
    let pairs = |word: &str| word.as_bytes().windows(2).map(|pair| [pair[0], pair[1]]).collect::<BTreeSet<_>>();
    let of_typed = pairs(typed);
    let similarity = |word: &str| {
        let pairs = pairs(word);
        let (shared, either) = (of_typed.intersection(&pairs).count(), of_typed.union(&pairs).count());
        let similarity = shared as f64 / either.max(1) as f64;
        // One mistake changes up to three pairs: letters in the wrong order, one too many, too few, or another one.
        if strsim::osa_distance(typed, word) == 1 { similarity.max(LEAST) } else { similarity }
    };
    let mut similar: Vec<_> = known.into_iter().map(|word| (similarity(word), word)).collect();
    similar.retain(|&(similarity, _)| similarity >= LEAST);
    similar.sort_by(|x, y| y.0.total_cmp(&x.0));
    similar.into_iter().map(|(_, word)| word).collect()
}

/// A size for messages: in MiB or KiB where that is exact.
pub(crate) fn display_size(bytes: usize) -> String {
    const KIB: usize = 1 << 10;
    const MIB: usize = 1 << 20;
    match bytes {
        1 => "1 byte".to_string(),
        MIB.. if bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        KIB.. if bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "check")]
    #[test]
    fn words_of_a_shell_are_quoted() {
        assert_eq!(
            ["en,de", "my words.txt", "it's", ""].map(shell_word),
            ["en,de", "'my words.txt'", "'it'\\''s'", "''"]
        );
        assert_eq!(
            ["a\u{1b}1", "it's\n\\", "\u{9b}é\u{202e}"].map(shell_word),
            ["$'a\\0331'", "$'it\\'s\\012\\\\'", "$'\\302\\233é\\342\\200\\256'"]
        );
    }

    #[test]
    fn counts_for_people() {
        assert_eq!(["0", "999", "1,000", "1,234,567"].map(String::from), [0, 999, 1000, 1234567].map(count));
        assert_eq!([counted(1, "copy"), counted(2, "copy"), counted(0, "pair")], ["1 copy", "2 copies", "0 pairs"]);
    }

    #[test]
    fn long_ids_are_cut() {
        assert_eq!(shortened_id("a b"), "a b");
        let [fits, long] = [200, 201].map(|count| "é".repeat(count));
        assert_eq!(shortened_id(&fits), fits);
        assert_eq!(shortened_id(&long), format!("{fits}…"));
    }

    #[cfg(feature = "check")]
    #[test]
    fn the_nearest_words() {
        let known = ["min-words", "ignore", "file-similarity", "report", "reports"];
        for (typed, expected) in [
            ("min_words", &["min-words"][..]),
            ("minwords", &["min-words"]),
            ("ignored", &["ignore"]),
            ("similarity", &["file-similarity"]),
            ("ignroe", &["ignore"]),
            ("reports", &["reports", "report"]),
            ("exclude", &[]),
            ("", &[]),
            ("é", &[]),
        ] {
            assert_eq!(nearest(typed, known), expected, "{typed}");
        }
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(display_size(64 << 20), "64 MiB");
        assert_eq!(display_size(600 << 10), "600 KiB");
        assert_eq!(display_size(1000), "1000 bytes");
        assert_eq!(display_size(1), "1 byte");
    }
}
