//! What can be asked on the command line.

use super::super::input;
use super::report::{FORMATS, Target};
use clap::{Arg, ArgAction, Command, value_parser};
use neardups::check::find::Options;
use neardups::prose::Markup;
use neardups::similarity::Threshold;
use std::path::PathBuf;

/// What `--count` takes.
pub const COUNTED: [(&str, &str); 6] = [
    ("code", "blocks of code"),
    ("links", "targets of links"),
    ("front-matter", "front matter"),
    ("licences", "licence notices at the start of a page, and sections on the licence"),
    ("contents", "tables of contents"),
    ("docstrings", "source files, of which only docstrings and comments that document count"),
];

/// What `--fail-on` takes.
pub const FAIL_ON: [(&str, &str); 3] = [
    ("new", "copies that nobody accepted: status 1"),
    ("any", "accepted ones too"),
    ("none", "nothing: status 0, whatever is found"),
];

/// The most that an option or key may ask for, in words.
pub const MOST_WORDS: usize = 1_000_000;

/// The most copies that an option or key may let pass.
pub const MOST_FINDINGS: u64 = u32::MAX as u64;

/// `dedup check`.
pub fn command() -> Command {
    let defaults = Options::default();
    let words = |name: &'static str, default: usize, help: &str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .value_parser(super::super::arguments::whole_number(1..=MOST_WORDS as u64))
            .help(format!("{help} [default: {default}]"))
    };
    let share = |name: &'static str, default: Threshold, help: &str| {
        let default = default.as_f64();
        Arg::new(name).long(name).value_name("S").value_parser(share).help(format!("{help} [default: {default}]"))
    };
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help)
    };
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let names = || FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let formats: String = FORMATS.iter().map(|format| format!("\n  {:8} {}", format.name, format.help)).collect();
    Command::new("check")
        .about("Finds pages and passages of documentation that were copied: the gate for CI")
        .long_about(
            format!("Finds pages and passages of documentation that were copied, small edits included. Reads Markdown, MDX, reStructuredText, \
             AsciiDoc, HTML and plain text as prose: markup, code blocks, link targets, front matter, licence notices and tables of contents \
             do not count; with --count docstrings, documentation in source files does. Case, punctuation and line breaks make no \
             difference. In folders, files are pages by the ending of their names: \
             {}. A file that is named is read whatever it is called.\n\n\
             Accepted copies go into a baseline (--baseline FILE --update-baseline), or stand between comments dedup:ignore-start and \
             dedup:ignore-end; or dedup.toml says which files may have them:\n\n\
             [check]                          # paths, ignore, and options by their names\n\
             min-words = 50\n\n\
             [[check.allow]]                  # copies of which both places are in these files are accepted\n\
             paths = [\"docs/install-*.md\"]   # globs as in .gitignore, from the folder of dedup.toml\n\
             reason = \"each page is read alone\"\n\n\
             [[check.rule]]                   # what touches these files must be longer, or more alike\n\
             paths = [\"docs/changelog.md\"]\n\
             min-words = 100\n\
             similarity = 0.9\n\n\
             Exit status: 0 nothing found, 1 copies found, 2 usage error or nothing could be checked, 3 some file could not be read.", endings())
        )
        .after_help(
            "Examples:\n  dedup check docs/ README.md\n  dedup check docs/ --baseline dedup-baseline.json --update-baseline\n  \
             dedup check docs/ --since origin/main --report github --report sarif=dedup.sarif\n  dedup check docs/ --report html=copies.html",
        )
        .arg(
            Arg::new("paths")
                .value_name("PATH")
                .num_args(0..)
                .value_parser(value_parser!(PathBuf))
                .help("Files and folders; what dedup.toml says, or the current folder, if none is given"),
        )
        .arg(words("min-words", defaults.min_words, "Fewest words of a passage"))
        .arg(share("passage-similarity", defaults.passage_similarity, "How alike passages are: 2·(words that match)/(words of both)"))
        .arg(words("paragraph-words", defaults.paragraph_words, "Fewest words of a whole paragraph, heading, item or cell"))
        .arg(share("paragraph-similarity", defaults.paragraph_similarity, "How alike paragraphs are"))
        .arg(share("file-similarity", defaults.file_similarity, "How alike whole files are, or how much of one is in the other"))
        .arg(
            input::choice("count", "WHAT", COUNTED.into_iter(), "What counts although it usually does not; may be given several times")
                .action(ArgAction::Append),
        )
        .arg(
            Arg::new("ignore")
                .long("ignore")
                .value_name("GLOB")
                .action(ArgAction::Append)
                .help("Files that are not looked at, as in .gitignore; may be given several times"),
        )
        .arg(flag("no-ignore-files", "Look at files that .gitignore and .ignore leave out, too"))
        .arg(flag("hidden", "Look at hidden files in folders too"))
        .arg(file("baseline", "Copies that are accepted, known by their words; a third copy of an accepted pair is new"))
        .arg(flag("update-baseline", "Write the baseline, so that it accepts what is there now"))
        .arg(
            Arg::new("since")
                .long("since")
                .value_name("REF")
                .help("Report only copies that touch a line changed since a commit of git, such as origin/main")
                .long_help(
                    "Report only copies that touch a line changed since a commit of git, such as origin/main: in the working tree, against \
                     where the branch left that commit. Files that git does not know yet are new, and so is a repository within that it does \
                     not know; a renamed file is not, nor one that git ignores. A submodule is compared with the commit that it was at.",
                ),
        )
        .arg(
            Arg::new("report")
                .long("report")
                .value_name("FORMAT[=FILE]")
                .action(ArgAction::Append)
                .value_parser(Target::parse)
                .help(format!("How copies are told, and where: {}; may be given several times [default: human]", names()))
                .long_help(format!(
                    "How copies are told; to standard output, or to a file. May be given several times [default: human]:{formats}"
                )),
        )
        .arg(input::choice("fail-on", "WHAT", FAIL_ON.into_iter(), "What makes it fail [default: new]"))
        .arg(
            Arg::new("max-findings")
                .long("max-findings")
                .value_name("N")
                .value_parser(super::super::arguments::whole_number(0..=MOST_FINDINGS))
                .help("Fail only if there are more copies than this [default: 0]"),
        )
        .arg(file("config", "The configuration [default: the next dedup.toml from the current folder upward, within the repository]"))
        .arg(flag("no-config", "Look for no configuration").conflicts_with("config"))
        .arg(flag("print-config", "Print what the options and the configuration resolve to, as dedup.toml, and look at nothing"))
        .args(input::run_args().into_iter().filter(|arg| ["threads", "quiet"].contains(&arg.get_id().as_str())))
}

/// How names of pages end.
fn endings() -> String {
    Markup::ENDINGS.iter().flat_map(|(_, endings)| *endings).copied().collect::<Vec<_>>().join(", ")
}

/// A share above 0, and 1 at most.
pub fn share(typed: &str) -> Result<f64, String> {
    match typed.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("expected a number above 0, and 1 at most, such as 0.8".into()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_readme_has_all_endings() {
        let readme = include_str!("../../../README.md").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(readme.contains(&format!("`{}`", super::endings().replace(", ", "`, `"))));
    }
}
