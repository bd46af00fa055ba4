//! Text of documents on one line of a terminal.

use super::terminal;

/// Number of characters shown of the beginning and of the end of a passage.
const EXCERPT: [usize; 2] = [64, 32];

/// A passage on one line.
pub fn excerpt(text: &str) -> String {
    let line = terminal::escaped(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let length = line.chars().count();
    let [head, tail] = EXCERPT;
    if length <= head + tail + 3 {
        return line;
    }
    let part = |skip: usize, take: usize| line.chars().skip(skip).take(take).collect::<String>();
    format!("{} … {}", part(0, head).trim_end(), part(length - tail, tail).trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_passages_are_shortened() {
        assert_eq!(excerpt("one\n\ttwo  three"), "one two three");
        assert_eq!(excerpt("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        let long: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let shown = excerpt(&long.join(" "));
        assert!(shown.starts_with("0 1 2") && shown.ends_with(" 98 99") && shown.contains(" … "), "{shown}");
        assert!(shown.chars().count() <= 99);
        assert_eq!(excerpt(&"字".repeat(200)).chars().count(), 99);
    }
}
