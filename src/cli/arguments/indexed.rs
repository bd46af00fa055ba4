//! The options of a command that compares documents with an index: those that are not given are those of the index.

use super::keywords::{Given, words_of};
use super::values::{is_typed, path, typed};
use clap::ArgMatches;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The options of the index at a path, unless an algorithm was given that is not its own.
pub type OptionsOf = fn(&Path, Option<&str>) -> Vec<(String, Given)>;

/// Options that stand for others, which an index has in place of them: with one of these, all must be given.
pub const STANDS_FOR_OTHERS: [&str; 3] = ["preset", "recall", "hashes"];

/// The options of the index at a path that are not given, and take effect beside those that are.
pub fn options_not_given(
    path: &Path,
    is_given: impl Fn(&str) -> bool,
    algorithm: Option<&str>,
    options_of: OptionsOf,
) -> Vec<(String, Given)> {
    if STANDS_FOR_OTHERS.iter().any(|name| is_given(name)) {
        return Vec::new();
    }
    let mut options = options_of(path, if is_given("exact") { Some("exact") } else { algorithm });
    options.retain(|(name, _)| !is_given(name));
    options
}

/// What was parsed from a line, with those options of an existing index that were not typed, if the command has one. `parse` parses a line.
pub fn with_options_of_index(
    line: &[OsString],
    given: ArgMatches,
    options_of: OptionsOf,
    parse: impl FnOnce(&[OsString]) -> Option<ArgMatches>,
) -> ArgMatches {
    completed(line, &given, options_of).and_then(|line| parse(&line)).unwrap_or(given)
}

/// The line with these options; `None` if there are none.
fn completed(line: &[OsString], given: &ArgMatches, options_of: OptionsOf) -> Option<Vec<OsString>> {
    let (words, given, path) = of_command(given)?;
    // These runs have no index.
    if ["undo", "decisions"].iter().any(|name| is_typed(given, name)) {
        return None;
    }
    let algorithm = typed(given, "algo");
    let options = options_not_given(&path, |name| is_typed(given, name), algorithm.as_deref(), options_of);
    // Before any `--`.
    let (command, rest) = line.split_at_checked(1 + words).filter(|_| !options.is_empty())?;
    let options: Vec<OsString> = options.iter().flat_map(|(name, value)| words_of(name, value)).collect();
    Some([command, &options, rest].concat())
}

/// The number of words that name the command, its arguments, and the index, of a command that compares documents with one.
fn of_command(given: &ArgMatches) -> Option<(usize, &ArgMatches, PathBuf)> {
    match given.subcommand()? {
        ("filter" | "clean", given) => Some((1, given, path(given, "index")?)),
        ("index", given) => match given.subcommand()? {
            ("query" | "add", given) => Some((2, given, path(given, "file")?)),
            _ => None,
        },
        _ => None,
    }
}
