//! `dedup help CHAPTER`: a chapter of the guide, for a terminal, or the schema of the records. The help of a command is clap's.

use super::arguments::help::{Arguments, SCHEMA};
use super::generate;
use super::status::{Status, usage_error};
use neardups::Error;
use neardups::guide::{CHAPTERS, Chapter, RECORDS_SCHEMA};
use std::mem::take;

/// Prints the chapter that was asked for, or the schema.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let topic = arguments.topic.as_deref();
    let (name, text) = match topic.and_then(Chapter::by_name) {
        Some(chapter) => (chapter.name, with_sections(&shown(chapter.text))),
        None if topic == Some(SCHEMA) => (SCHEMA, RECORDS_SCHEMA.into()),
        None => unreachable!("clap accepts commands, chapters and the schema only, and the help of commands is clap's"),
    };
    match arguments.nested.first() {
        None => generate::print(text.as_bytes()),
        Some(nested) => Err(usage_error(format!("'{name}' is a chapter of the guide and has no command '{nested}'"))),
    }
}

/// A chapter with the names of its sections after its title: a terminal has no other list of them.
fn with_sections(text: &str) -> String {
    let mut in_block = false;
    let is_heading = |line: &&str| {
        in_block ^= line.starts_with("```");
        !in_block && line.starts_with("## ")
    };
    let sections: Vec<&str> = text.lines().filter(is_heading).map(|line| &line[3..]).collect();
    match text.split_once("\n\n") {
        Some((title, rest)) if sections.len() > 1 => {
            format!("{title}\n\n{}\n{rest}", wrapped(&format!("Sections: {}.", sections.join("; ")), 0, 0))
        }
        _ => text.into(),
    }
}

/// The text with links to chapters as the commands that print them, and with tables that fit a terminal.
fn shown(text: &str) -> String {
    let (mut shown, mut paragraph, mut in_block) = (String::with_capacity(text.len()), String::new(), false);
    let mut rows: Vec<&str> = Vec::new();
    for line in text.split_inclusive('\n') {
        let is_fence = line.starts_with("```");
        let is_row = !in_block && line.starts_with('|');
        if !is_row {
            shown += &table(&take(&mut rows));
        }
        if is_row {
            shown += &linked(&take(&mut paragraph));
            rows.push(line);
        } else if is_fence || in_block || line.trim_end().is_empty() || line.starts_with('#') {
            shown += &linked(&take(&mut paragraph));
            shown += line;
        } else {
            paragraph += line;
        }
        in_block ^= is_fence;
    }
    shown + &table(&rows) + &linked(&paragraph)
}

/// A table as it is if it fits; otherwise a list of its rows: the first cell, and below it the others with their headings. Those of two
/// columns come once, before the list.
fn table(rows: &[&str]) -> String {
    let [head, _, rows_below @ ..] = rows else { return rows.concat() };
    if rows.iter().all(|row| row.trim_end().chars().count() <= WIDTH) {
        return rows.concat();
    }
    let head = cells(head);
    let item = |row: &&str| {
        let cells = cells(row);
        let others = head.iter().zip(&cells).skip(1).filter(|(_, cell)| !cell.is_empty());
        let other = |(head, cell): (&String, &String)| match head.is_empty() || cells.len() == 2 {
            true => wrapped(cell, 4, 4),
            false => wrapped(&format!("{head}: {cell}"), 4, 6),
        };
        wrapped(&format!("- {}", cells.first().map_or("", |cell| cell)), 0, 2) + &others.map(other).collect::<String>()
    };
    let heading = match &head[..] {
        [first, second] if !second.is_empty() => {
            let separator = if first.is_empty() { "" } else { ": " };
            wrapped(&format!("{first}{separator}{second}"), 0, 2) + "\n"
        }
        _ => String::new(),
    };
    heading + &rows_below.iter().map(item).collect::<String>()
}

/// The cells of a row, without white space around them.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').replace("\\|", "\u{1}");
    let row = row.strip_suffix('|').unwrap_or(&row);
    row.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
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
    if with_commands(item) == item {
        return item.to_string();
    }
    let indent = if is_item(item) { item.find(' ').map_or(0, |at| at + 1) } else { 0 };
    wrapped(item, 0, indent)
}

/// The text with links to chapters as commands.
fn with_commands(text: &str) -> String {
    let command = |text: String, name| text.replace(&format!("[{name}]"), &format!("`dedup\u{a0}help\u{a0}{name}`"));
    CHAPTERS.iter().fold(text.to_string(), |text, chapter| command(text, chapter.name))
}

/// The text in lines with these indentations: of the first, and of the others.
fn wrapped(text: &str, first: usize, indent: usize) -> String {
    let text = unbroken_code(&with_commands(text));
    let (mut out, mut width) = (" ".repeat(first), first);
    let mut is_first = true;
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        if !is_first && width + 1 + length > WIDTH {
            out += "\n";
            out += &" ".repeat(indent);
            width = indent;
        } else if !is_first {
            out += " ";
            width += 1;
        }
        is_first = false;
        out += word;
        width += length;
    }
    out.replace('\u{a0}', " ") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_code_stay_as_they_are() {
        for text in ["```rust\n#[test]\nlet a = [tokens];\n```\n", "```console\n# a comment\n```\n"] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn sections_are_listed_after_the_title() {
        let text = "# Title\n\nWords.\n\n## One\n\n```sh\n## no section\n```\n\n### Below\n\n## Two `of` them\n";
        let rest = &text["# Title\n\n".len()..];
        assert_eq!(with_sections(text), format!("# Title\n\nSections: One; Two `of` them.\n\n{rest}"));
        assert_eq!(with_sections("# Title\n\n## One\n"), "# Title\n\n## One\n");
        for Chapter { name, text, .. } in CHAPTERS {
            let shown = with_sections(&shown(text));
            let sections = shown.lines().skip(2).take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
            // Every other part of the text is a block of code.
            let outside = shown.split("```").step_by(2);
            let headings = outside.flat_map(str::lines).filter(|line| line.starts_with("## "));
            let expected = format!("Sections: {}.", headings.map(|line| &line[3..]).collect::<Vec<_>>().join("; "));
            assert_eq!(sections, expected, "{name}");
        }
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
    fn a_wide_table_is_a_list() {
        let narrow = "| a | b |\n|---|---|\n| 1 | 2 |\n";
        assert_eq!(shown(narrow), narrow);
        let long = "word ".repeat(20);
        let table = format!(
            "Text.\n\n| name | is | see |\n|---|---|---|\n| `a\\|b` | {long}| [formats] |\n| c |  | d |\n\nEnd.\n"
        );
        let words = |count: usize| vec!["word"; count].join(" ");
        let expected = format!(
            "Text.\n\n- `a|b`\n    is: {}\n      {}\n    see: `dedup help formats`\n- c\n    see: d\n\nEnd.\n",
            words(14),
            words(6)
        );
        assert_eq!(shown(&table), expected);
        let two = format!("| with | you get |\n|---|---|\n| `a` | {long}|\n| b | nothing |\n");
        let expected = format!("with: you get\n\n- `a`\n    {}\n    {}\n- b\n    nothing\n", words(15), words(5));
        assert_eq!(shown(&two), expected);
        for Chapter { name, text, .. } in CHAPTERS {
            let shown = shown(text);
            let wide = |line: &&str| line.starts_with("| ") && line.chars().count() > WIDTH;
            assert_eq!(shown.lines().find(wide), None, "{name}");
        }
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
