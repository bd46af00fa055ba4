//! `dedup help CHAPTER`: a chapter of the guide, for a terminal. The help of a command is clap's.

use super::arguments::help::Arguments;
use super::generate;
use super::status::{Status, usage_error};
use neardups::Error;
use neardups::guide::{CHAPTERS, Chapter};
use std::mem::take;

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

/// The text without the lines of Rust code that the documentation hides, and with links to chapters as the commands that print them.
fn shown(text: &str) -> String {
    let (mut shown, mut paragraph, mut block) = (String::with_capacity(text.len()), String::new(), None);
    for line in text.split_inclusive('\n') {
        let is_fence = line.starts_with("```");
        if is_fence || block.is_some() || line.trim_end().is_empty() || line.starts_with(['|', '#']) {
            shown += &linked(&take(&mut paragraph));
            let is_hidden = block == Some("rust") && (line.starts_with("# ") || line.trim_end() == "#");
            if !is_hidden {
                shown += line;
            }
        } else {
            paragraph += line;
        }
        if is_fence {
            block = block.is_none().then(|| line[3..].split([',', '\n']).next().unwrap_or_default());
        }
    }
    shown + &linked(&paragraph)
}

/// The widest line of a paragraph.
const WIDTH: usize = 80;

/// A paragraph or a list with its links to chapters as commands. Items with links are wrapped again.
fn linked(paragraph: &str) -> String {
    let mut items: Vec<String> = Vec::new();
    for line in paragraph.split_inclusive('\n') {
        match items.last_mut() {
            Some(item) if line.starts_with(' ') || !is_item(line) => item.push_str(line),
            _ => items.push(line.into()),
        }
    }
    items.iter().map(|item| linked_item(item)).collect()
}

fn is_item(line: &str) -> bool {
    let marker = line.split(' ').next().unwrap_or_default();
    marker == "-" || marker.strip_suffix('.').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Code that is on one line stays on one line.
fn unbroken_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(number, part)| if number % 2 > 0 { part.replace(' ', "\u{a0}") } else { part.into() });
    parts.collect::<Vec<String>>().join("`")
}

fn linked_item(item: &str) -> String {
    let mut text = item.to_string();
    for Chapter { name, .. } in CHAPTERS {
        text = text.replace(&format!("[{name}]"), &format!("`dedup\u{a0}help\u{a0}{name}`"));
    }
    if text == item {
        return text;
    }
    let text = unbroken_code(&text);
    let indent = if is_item(item) { item.find(' ').map_or(0, |at| at + 1) } else { 0 };
    let (mut out, mut width) = (String::new(), 0);
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
            out += "\n";
            out += &" ".repeat(indent);
            width = indent;
        } else if width > 0 {
            out += " ";
            width += 1;
        }
        out += word;
        width += length;
    }
    out.replace('\u{a0}', " ") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_lines_of_code_are_not_shown() {
        let text = "# Title\n\n```rust\n# fn main() {\n#\n#[test]\nlet a = 1;\n# }\n```\n\n# Another\n";
        assert_eq!(shown(text), "# Title\n\n```rust\n#[test]\nlet a = 1;\n```\n\n# Another\n");
        assert_eq!(shown("```console\n# a comment\n```\n"), "```console\n# a comment\n```\n");
        assert!(CHAPTERS.iter().any(|chapter| shown(chapter.text).len() < chapter.text.len()));
    }

    #[test]
    fn links_to_chapters_are_commands() {
        let check = |text: &str, expected: &str| assert_eq!(shown(text), expected);
        check("Words (see [formats]).\n", "Words (see `dedup help formats`).\n");
        check("```sh\n[formats]\n```\n| [formats] |\n[toml]\n", "```sh\n[formats]\n```\n| [formats] |\n[toml]\n");
        let long = "word ".repeat(14);
        check(
            &format!("- {long}[tokens] is\n  more.\n- Two\n  lines.\n\nNext.\n"),
            &format!("- {}\n  `dedup help tokens` is more.\n- Two\n  lines.\n\nNext.\n", long.trim_end()),
        );
    }

    #[test]
    fn chapters_have_only_links_that_lead_somewhere() {
        for Chapter { name, text, .. } in CHAPTERS {
            let text = shown(text);
            let left = CHAPTERS.iter().find(|other| text.contains(&format!("[{}]", other.name)));
            assert_eq!(left, None, "{name}");
            assert!(!text.contains('\u{a0}'));
        }
    }
}
