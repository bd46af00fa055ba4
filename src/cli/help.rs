//! `dedup help CHAPTER`: a chapter of the guide. The help of a command is clap's.

use super::arguments::help::Arguments;
use super::generate;
use super::status::{Status, usage_error};
use neardups::Error;
use neardups::guide::Chapter;

/// Prints the chapter that was asked for.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let chapter = arguments.topic.as_deref().and_then(Chapter::by_name);
    let chapter = chapter.expect("clap accepts commands and chapters only, and the help of commands is clap's");
    match arguments.nested.first() {
        None => generate::print(shown(chapter.text).as_bytes()),
        Some(nested) => {
            Err(usage_error(format!("'{}' is a chapter of the guide and has no command '{nested}'", chapter.name)))
        }
    }
}

/// The text without the lines of Rust code that the documentation hides.
fn shown(text: &str) -> String {
    let (mut shown, mut is_rust) = (String::with_capacity(text.len()), false);
    for line in text.split_inclusive('\n') {
        if line.starts_with("```") {
            is_rust = line.starts_with("```rust");
        }
        let is_hidden = is_rust && (line.starts_with("# ") || line.trim_end() == "#");
        if !is_hidden {
            shown += line;
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use neardups::guide::CHAPTERS;

    #[test]
    fn hidden_lines_of_code_are_not_shown() {
        let text = "# Title\n\n```rust\n# fn main() {\n#\n#[test]\nlet a = 1;\n# }\n```\n\n# Another\n";
        assert_eq!(shown(text), "# Title\n\n```rust\n#[test]\nlet a = 1;\n```\n\n# Another\n");
        assert_eq!(shown("```console\n# a comment\n```\n"), "```console\n# a comment\n```\n");
        assert!(CHAPTERS.iter().any(|chapter| shown(chapter.text).len() < chapter.text.len()));
    }
}
