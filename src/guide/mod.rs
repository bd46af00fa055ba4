//! The guide: one chapter a module, as text. `dedup help CHAPTER` prints the same text.
//!
//! Read [choosing] first to decide which algorithm and threshold fit, then the chapter of the command. [algorithms], [tokens],
//! [formats] and [records] are reference. [limits] says what the program does not do well.

/// A chapter: a name to ask for, a line for lists, and the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// One lower-case word.
    pub name: &'static str,
    /// What the chapter answers, in one line without a full stop.
    pub summary: &'static str,
    /// The chapter as Markdown. It begins with a title.
    pub text: &'static str,
}

impl Chapter {
    /// The chapter of this name, if there is one.
    pub fn by_name(name: &str) -> Option<&'static Chapter> {
        CHAPTERS.iter().find(|chapter| chapter.name == name)
    }
}

/// The JSON Schema (draft 2020-12) of every record that the program prints or writes; `dedup help schema` prints it. Its `$defs` have
/// a schema for each `type`. [records] explains the fields.
///
/// Later versions may add fields, which it allows, and types, which it does not know.
pub const RECORDS_SCHEMA: &str = include_str!("records.schema.json");

/// Declares the modules and the table of the chapters, so that they cannot differ.
macro_rules! chapters {
    ($($name:ident: $summary:literal,)*) => {
        $(
            #[cfg_attr(not(all(doctest, not(feature = "check"))), doc = include_str!(concat!(stringify!($name), ".md")))]
            #[cfg_attr(all(doctest, not(feature = "check")), doc = "The examples need the feature `check`.")]
            pub mod $name {}
        )*

        /// Every chapter, in the order of reading.
        pub const CHAPTERS: &[Chapter] = &[$(
            Chapter {
                name: stringify!($name),
                summary: $summary,
                text: include_str!(concat!(stringify!($name), ".md")),
            },
        )*];
    };
}

chapters! {
    choosing: "Which algorithm and threshold: plan, presets, eval and labels",
    scanning: "Find the near-duplicates of a corpus: pairs, clusters, verdicts",
    cleaning: "Write a corpus again without its near-duplicates",
    filtering: "Pass only new documents of a stream, across restarts and crashes",
    checking: "Fail a build when documentation contains copies",
    repeats: "Find the passages that repeat in a corpus, and where",
    containing: "How much of each document stands in others: reuse, test data",
    comparing: "Two documents: what each algorithm says, and what they share",
    algorithms: "How each algorithm works, its parameters and its sources",
    tokens: "How text is split into tokens, and how tokens are prepared",
    formats: "Input: formats, ids, encodings, compression, archives",
    records: "Output: records, statistics, written files, exit statuses",
    limits: "What is slow, approximate or missing",
    library: "The Rust library and its features",
    python: "The Python package: tables, frames and lists in and out",
    spark: "Near-duplicates of a Spark data frame, and what it costs",
}

/// The examples of README.md compile too.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub mod readme {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widest line of a paragraph or a list. Tables, links and what programs print may be wider.
    const WIDTH: usize = 80;

    /// Lines outside of fenced blocks, with their numbers.
    fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
        let mut fenced = false;
        (1..).zip(text.lines()).filter(move |(_, line)| {
            let fence = line.starts_with("```");
            fenced ^= fence;
            !fenced && !fence
        })
    }

    #[test]
    fn every_file_is_a_chapter() {
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter_map(|name| name.strip_suffix(".md").map(String::from)).collect();
        let mut chapters: Vec<_> = CHAPTERS.iter().map(|chapter| chapter.name).collect();
        names.sort();
        chapters.sort();
        assert_eq!(names, chapters);
    }

    #[test]
    fn a_chapter_begins_with_a_title_and_a_sentence() {
        for Chapter { name, summary, text } in CHAPTERS {
            let lines: Vec<&str> = text.lines().collect();
            assert!(lines[0].starts_with("# ") && lines[1].is_empty(), "{name}: a title");
            let opening: Vec<&str> = lines[2..].iter().copied().take_while(|line| !line.is_empty()).collect();
            let opening = opening.join(" ");
            assert!(opening.ends_with('.') && opening.matches(". ").count() == 0, "{name}: one sentence: {opening}");
            assert!(!summary.ends_with('.') && summary.len() <= 66, "{name}: {summary}");
        }
    }

    #[test]
    fn lines_fit_a_terminal() {
        for Chapter { name, text, .. } in CHAPTERS {
            for (number, line) in prose(text) {
                let free = line.starts_with('|') || line.contains("](");
                assert!(free || line.chars().count() <= WIDTH, "{name}.md:{number}: {line}");
            }
        }
    }

    /// Readers on the web would see the lines that rustdoc hides.
    #[test]
    fn examples_in_rust_have_no_hidden_lines() {
        for Chapter { name, text, .. } in CHAPTERS {
            let mut is_rust = false;
            for (number, line) in (1..).zip(text.lines()) {
                is_rust = if line.starts_with("```") { line == "```rust" } else { is_rust };
                assert!(!is_rust || line != "#" && !line.starts_with("# "), "{name}.md:{number}: {line}");
            }
        }
    }

    #[test]
    fn blocks_name_their_language() {
        for Chapter { name, text, .. } in CHAPTERS {
            let fences: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("```")).collect();
            assert!(fences.iter().step_by(2).all(|info| !info.is_empty()), "{name}: a block without a language");
            assert!(fences.iter().skip(1).step_by(2).all(|info| info.is_empty()), "{name}: a block is not closed");
        }
    }
}
