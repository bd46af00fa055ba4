//! Options that people type by habit from other tools: understood where meaning and unit are the same, and otherwise answered with the
//! option that is meant. One table for all commands.

use crate::readable::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use neardups::algorithm::ALGORITHMS;
use neardups::guide::CHAPTERS;
use std::cmp::Reverse;
use std::ffi::OsString;

/// Further names of an option, with the same meaning and unit. They are understood, and no help shows them.
const SAME: &[(&str, &[&str])] = &[
    ("algo", &["algorithm", "method"]),
    ("bands", &["b", "num-bands"]),
    ("bits", &["num-bits"]),
    ("distance", &["bit-diff", "hamming", "hamming-distance", "max-distance"]),
    ("documents", &["docs"]),
    ("encoding", &["charset", "input-encoding"]),
    ("format", &["input-format"]),
    ("id-field", &["id", "id-column", "id-key", "idx-column"]),
    ("index", &["state"]),
    ("memory", &["max-memory", "memory-limit"]),
    ("min-documents", &["min-docs"]),
    ("output", &["dest", "out", "out-dir", "output-dir"]),
    ("quiet", &["silent"]),
    ("rows", &["num-rows", "r", "rows-per-band"]),
    ("seed", &["random-state"]),
    ("shingle", &["shingle-length", "shingle-size"]),
    ("stopwords", &["stop-words"]),
    ("temp-dir", &["tempdir", "tmp-dir", "tmpdir"]),
    ("text-field", &["column", "text-column", "text-key"]),
    ("threads", &["jobs", "n-jobs", "num-proc", "num-threads", "num-workers", "workers"]),
    ("threshold", &["jaccard", "jaccard-threshold", "min-similarity", "similarity", "similarity-threshold"]),
    ("top", &["top-k"]),
    ("truth", &["ground-truth", "labels"]),
];

/// Names of the length of runs of words. Answers have the first of them.
const N_GRAM: &[&str] = &["--n-gram", "--n-grams", "--n-gram-size", "--ngram", "--ngrams", "--ngram-size"];

/// What is answered to an option that a command does not have.
struct Answer {
    typed: &'static [&'static str],
    /// The commands; all that have the options if it is empty.
    commands: &'static [&'static str],
    /// The options that are meant; `PATH` stands for the paths of a command.
    options: &'static [&'static str],
    /// What they are, and how their values differ.
    text: &'static str,
    /// The rest of a command that shows it.
    example: &'static str,
}

/// The answers. The first one that fits counts.
static ANSWERS: &[Answer] = &[
    Answer {
        typed: &[
            "--num-perm",
            "--num-perms",
            "--permutations",
            "--num-hashes",
            "--num-hash",
            "--n-hashes",
            "--signature-size",
        ],
        commands: &[],
        options: &["hashes", "threshold", "recall"],
        text: "--hashes K is the most hashes of a signature; --threshold and --recall decide how many are used, in which bands",
        example: "--hashes 256",
    },
    Answer {
        typed: &[N_GRAM[0], "--kgram", "-n", "-k", "-w"],
        commands: &[],
        options: &["shingle", "tokenizer", "grams"],
        text: "--shingle W is a number of tokens: words, or what --tokenizer says (--grams with --algo simhash)",
        example: "--shingle 5",
    },
    Answer {
        typed: &[N_GRAM[0], "--min-words", "-n"],
        commands: &["contain"],
        options: &["shingle"],
        text: "--shingle W is the number of words of a run",
        example: "--shingle 8",
    },
    Answer {
        typed: &["-t"],
        commands: &[],
        options: &["threshold", "threads"],
        text: "--threshold S is the least similarity, from 0 to 1; --threads N (-j N) the number of threads",
        example: "--threshold 0.8 --threads 4",
    },
    Answer {
        typed: &["-t"],
        commands: &[],
        options: &["file-similarity", "threads"],
        text: "--file-similarity S is the least similarity of files, from 0 to 1; --threads N (-j N) the number of threads",
        example: "--file-similarity 0.8 --threads 4",
    },
    Answer {
        typed: &["-t"],
        commands: &[],
        options: &["threshold"],
        text: "--threshold S is the least similarity, from 0 to 1",
        example: "--threshold 0.8",
    },
    Answer {
        typed: &["-t"],
        commands: &[],
        options: &["threads"],
        text: "--threads N (-j N) is the number of threads",
        example: "--threads 4",
    },
    Answer {
        typed: &[
            "--threshold",
            "--jaccard",
            "--jaccard-threshold",
            "--similarity",
            "--similarity-threshold",
            "--min-similarity",
        ],
        commands: &[],
        options: &["passage-similarity", "paragraph-similarity", "file-similarity"],
        text: "--passage-similarity S, --paragraph-similarity S and --file-similarity S are least similarities, from 0 to 1",
        example: "--file-similarity 0.8",
    },
    Answer {
        typed: &[
            "--threshold",
            "--jaccard",
            "--jaccard-threshold",
            "--similarity",
            "--similarity-threshold",
            "--min-similarity",
            "--coverage",
        ],
        commands: &["contain"],
        options: &["min-coverage"],
        text: "--min-coverage S is the least share of a document that stands in another one, from 0 to 1",
        example: "--min-coverage 0.8",
    },
    Answer {
        typed: &["--shingle", "--shingle-length", "--shingle-size", "--min-tokens", "--min-length", N_GRAM[0], "-n"],
        commands: &["passages"],
        options: &["min-words"],
        text: "--min-words N is the least length of a passage, in words",
        example: "--min-words 50",
    },
    Answer {
        typed: &["--min-count", "--min-copies", "--min-df", "--min-frequency", "--min-occurrences", "--min-places"],
        commands: &["passages"],
        options: &["min-documents"],
        text: "--min-documents N is the least number of different documents that a passage is in",
        example: "--min-documents 5",
    },
    Answer {
        typed: OUTPUT,
        commands: &["scan"],
        options: &["emit"],
        text: "records go to standard output: redirect it; dedup clean --output DIR writes the files without near-duplicates",
        example: "> pairs.jsonl",
    },
    Answer {
        typed: OUTPUT,
        commands: &["check"],
        options: &["report"],
        text: "--report FORMAT=FILE writes a report to a file; without FILE it goes to standard output",
        example: "--report sarif=dedup.sarif",
    },
    Answer {
        typed: OUTPUT,
        commands: &["filter"],
        options: &[],
        text: "passed documents go to standard output: redirect it",
        example: "> fresh.jsonl",
    },
    Answer {
        typed: OUTPUT,
        commands: &[
            "compare",
            "eval",
            "plan",
            "lexicon build",
            "index stats",
            "index export",
            "index get",
            "index query",
        ],
        options: &[],
        text: "the result goes to standard output: redirect it",
        example: "> FILE",
    },
    Answer {
        typed: &["-r", "-R", "--recursive"],
        commands: &[],
        options: &["PATH"],
        text: "folders are read with all folders in them: leave it out",
        example: "docs/",
    },
    Answer {
        typed: INPUT,
        commands: &[],
        options: &["PATH"],
        text: "files and folders are named without an option",
        example: "docs/ more.jsonl",
    },
    Answer {
        typed: INPUT,
        commands: &["filter", "index add", "index query"],
        options: &[],
        text: "documents are read from standard input",
        example: "< docs.jsonl",
    },
    Answer {
        typed: INPUT,
        commands: &["compare"],
        options: &[],
        text: "the two documents are named without an option",
        example: "old.txt new.txt",
    },
    Answer {
        typed: &["-v", "--verbose"],
        commands: &[],
        options: &["quiet", "stats"],
        text: "messages are complete unless --quiet is given; --stats FILE writes all counts and timings",
        example: "--stats stats.json",
    },
    Answer {
        typed: &["-v", "--verbose"],
        commands: &[],
        options: &["quiet"],
        text: "messages are complete unless --quiet is given: leave it out",
        example: "",
    },
    Answer {
        typed: &["--delete", "--dry-run", "--in-place", "--remove", "--remove-duplicates", "--rm"],
        commands: &["scan"],
        options: &[],
        text: "scan changes no file; dedup clean --output DIR writes the files without near-duplicates (what it would leave out: --dry-run)",
        example: "",
    },
    Answer {
        typed: &["--dry-run"],
        commands: &["contain"],
        options: &[],
        text: "--emit verdicts prints for each document whether --output would keep it, and writes no file",
        example: "--emit verdicts",
    },
    Answer {
        typed: &["--dry-run"],
        commands: &["passages"],
        options: &[],
        text: "without --output no file is written: --emit verdicts prints which documents --unit document would leave out, --emit spans what is in passages",
        example: "--against ref --emit verdicts",
    },
    Answer {
        typed: &["--json", "--jsonl"],
        commands: &["scan", "filter", "eval", "index stats", "index export", "index get", "index query"],
        options: &[],
        text: "the output is JSON already: leave it out",
        example: "",
    },
    Answer {
        typed: &["--json", "--jsonl"],
        commands: &["check"],
        options: &["report"],
        text: "--report jsonl prints JSON lines",
        example: "--report jsonl",
    },
    Answer {
        typed: &["--cluster", "--clusters", "--groups"],
        commands: &["scan"],
        options: &["emit"],
        text: "--emit clusters prints groups of near-duplicates",
        example: "--emit clusters",
    },
    Answer {
        typed: &["--print0", "-0"],
        commands: &["clean"],
        options: &["dry-run"],
        text: "clean prints no paths; dedup scan --print0 prints those of the files that are not kept",
        example: "",
    },
    Answer {
        typed: &["--lang", "--language"],
        commands: &[],
        options: &["stopwords", "stem", "antecedents"],
        text: "--stopwords LANG removes stop words, --stem LANG stems words, --antecedents LANG is for spotsigs",
        example: "--stopwords en",
    },
    Answer {
        typed: &["-d"],
        commands: &["clean"],
        options: &["output"],
        text: "--output DIR is the folder that is written",
        example: "",
    },
    Answer {
        typed: &["--limit", "--max-rows", "--head"],
        commands: &["scan", "clean"],
        options: &["include"],
        text: "all documents are compared; --include GLOB reads fewer files, and head -n 1000 FILE | dedup scan fewer records",
        example: "--include 'part-0*'",
    },
    Answer {
        typed: &["--format", "--sarif"],
        commands: &["check"],
        options: &["report"],
        text: "--report FORMAT is the format of the report, such as sarif",
        example: "--report sarif=dedup.sarif",
    },
    Answer {
        typed: &["--report", "--html"],
        commands: &["passages", "compare", "contain"],
        options: &[],
        text: "dedup check writes such a page of what texts share: dedup check PATH… --report html=FILE",
        example: "",
    },
    Answer {
        typed: &["--diff", "--word-diff", "--full", "--limit", "--max-diffs"],
        commands: &["compare"],
        options: &["max-differences"],
        text: "--max-differences all lists every difference with all of its words",
        example: "--max-differences all",
    },
    Answer {
        typed: &["--sort", "--sort-by"],
        commands: &["passages"],
        options: &[],
        text: "passages are in the order of their first places; 'dedup help repeats' has a command that sorts them by their documents",
        example: "",
    },
    Answer {
        typed: &["--exclude"],
        commands: &["check"],
        options: &["ignore"],
        text: "--ignore GLOB leaves files out, as in .gitignore",
        example: "--ignore drafts/",
    },
    Answer {
        typed: &["-g", "--glob"],
        commands: &[],
        options: &["include", "exclude"],
        text: "--include GLOB and --exclude GLOB choose files",
        example: "--include '*.md'",
    },
];

const OUTPUT: &[&str] =
    &["-o", "--output", "--out", "--out-file", "--outfile", "--output-file", "--output-dir", "--output-path"];
const INPUT: &[&str] =
    &["-i", "-f", "--input", "--input-dir", "--input-file", "--input-path", "--file", "--files", "--path"];

/// The program with the further names of its options, and with underscores for hyphens in all names.
pub fn add(program: Command) -> Command {
    let taken: Vec<String> = longs(&program).map(String::from).collect();
    let named = |arg: Arg| {
        let Some(long) = arg.get_long().map(String::from) else { return arg };
        let same = SAME.iter().filter(|(option, _)| *option == long).flat_map(|(_, same)| *same);
        let same = same.filter(|name| !taken.iter().any(|taken| taken == *name)).map(|name| name.to_string());
        let names: Vec<String> = [long.clone()].into_iter().chain(same).collect();
        let spelled = names.iter().flat_map(|name| [name.clone(), name.replace('-', "_")]);
        let mut aliases: Vec<String> = spelled.filter(|name| *name != long).collect();
        aliases.dedup();
        arg.aliases(aliases)
    };
    program.mut_args(named).mut_subcommands(add)
}

fn longs(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter_map(Arg::get_long)
}

/// The message for an option that there is not, if that is the error: what is meant, or which options are similar.
pub fn explain(program: &Command, error: &clap::Error, line: &[OsString]) -> Option<String> {
    let context = match error.kind() {
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => return of_value(error),
        _ => return None,
    };
    let Some(ContextValue::String(typed)) = error.get(context) else { return None };
    let (command, name) = command_of(program, line);
    let typed = single_hyphen(command, typed, line).unwrap_or(typed);
    match (typed.starts_with('-'), &*name) {
        (true, "filter" | "index query" | "index add") if typed == "-" => {
            Some(format!("unexpected argument '-' found: {name} always reads standard input: leave '-' out"))
        }
        (true, _) if follows_the_end_of_options(line, typed) => {
            Some(format!("unexpected argument '{typed}' found: all that follows '--' is a value; options go before it"))
        }
        (true, _) => Some(message(program, command, &name, typed)),
        (false, "filter") => {
            Some(format!("unexpected argument '{typed}' found: filter reads standard input: dedup filter … < {typed}"))
        }
        (false, "index query" | "index add") => Some(format!(
            "unexpected argument '{typed}' found: {name} reads standard input: dedup {name} INDEX … < {typed}"
        )),
        (false, "") if typed == "version" => Some("'version' is not a command: dedup --version prints it".into()),
        (false, "") if looks_like_path(typed) => Some(format!(
            "'{typed}' is not a command: dedup scan {typed} finds its near-duplicates, and dedup clean {typed} --output DIR \
             writes it without them"
        )),
        _ => None,
    }
}

/// Whether a word of the line comes after `--`, and not before it too.
fn follows_the_end_of_options(line: &[OsString], typed: &str) -> bool {
    let mut parts = line.splitn(2, |word| word == "--");
    let [before, after] = [(); 2].map(|()| parts.next().unwrap_or_default().iter().any(|word| word == typed));
    after && !before
}

/// The message for a value from another tool.
fn of_value(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (arg, value) = (text(ContextKind::InvalidArg)?, text(ContextKind::InvalidValue)?);
    let tip = match arg.split(' ').next().unwrap_or_default() {
        "--algo" if value == "exact" => {
            "--exact finds all pairs at the threshold, and dedup help algorithms describes each".into()
        }
        "--algo" if ["lsh", "minhash-lsh", "minhashlsh", "minhash_lsh"].contains(&value) => {
            "--algo minhash is meant".into()
        }
        "--threshold" => {
            let percent: f64 = value.strip_suffix('%').unwrap_or(value).parse().ok()?;
            let part = Some(percent / 100.0).filter(|_| (10.0..=100.0).contains(&percent))?;
            format!("a similarity is above 0 and at most 1: --threshold {part}")
        }
        "[TOPIC]" => {
            let is_algorithm = ALGORITHMS.iter().any(|entry| entry.name == value);
            let known = TOPICS.iter().find(|(topics, _)| topics.contains(&value)).map(|(_, chapter)| *chapter);
            let chapters = match known.or(is_algorithm.then_some("algorithms")) {
                Some(chapter) => vec![chapter],
                // Clap has a tip, or else lists them all.
                None if error.get(ContextKind::SuggestedValue).is_some() => return None,
                None => chapters_with(value),
            };
            let chapters: Vec<String> = chapters.iter().map(|chapter| format!("dedup help {chapter}")).collect();
            return (!chapters.is_empty()).then(|| {
                format!("'{value}' is neither a command nor a chapter of the guide: see {}", chapters.join(", "))
            });
        }
        _ => return None,
    };
    Some(format!("invalid value '{value}' for '{arg}': {tip}"))
}

/// At most three chapters that have a word, those with it more often first.
fn chapters_with(word: &str) -> Vec<&'static str> {
    const MOST_CHAPTERS: usize = 3;
    let word = word.to_lowercase();
    let count = |text: &str| {
        let text = text.to_lowercase();
        text.split(|c: char| !c.is_alphanumeric()).filter(|other| **other == *word).count()
    };
    let mut found: Vec<_> = CHAPTERS.iter().map(|chapter| (count(chapter.text), chapter.name)).collect();
    found.retain(|&(count, _)| count > 0);
    found.sort_by_key(|&(count, _)| Reverse(count));
    found.into_iter().take(MOST_CHAPTERS).map(|(_, name)| name).collect()
}

/// What people ask for help about, with the chapter that has it.
const TOPICS: &[(&[&str], &str)] = &[
    (&["threshold", "similarity", "recall", "precision", "preset", "presets", "truth"], "choosing"),
    (&["memory", "limit"], "limits"),
    (&["threads", "exit", "status", "statuses", "pairs", "clusters", "verdicts"], "scanning"),
    (&["split", "splits", "train", "validation", "test"], "scanning"),
    (&["chat", "chats", "conversation", "conversations", "messages", "role", "roles"], "formats"),
    (&["algo", "algorithm", "lsh"], "algorithms"),
    (&["backup", "recovery", "crash", "snapshot", "metrics"], "filtering"),
    (&["csv", "format", "json", "jsonl", "parquet", "warc", "id", "glob", "globs", "include", "exclude"], "formats"),
    (
        &["against", "decisions", "move-duplicates", "undo", "interrupt", "resume", "shards", "keep", "prefer"],
        "cleaning",
    ),
    (&["decontaminate", "decontamination", "contamination", "leaks", "leakage", "benchmark"], "containing"),
    (&["tokenizer", "shingle", "shingles", "stopwords"], "tokens"),
    (&["baseline", "config", "sarif", "docs", "documentation", "ci"], "checking"),
    (&["boilerplate", "quotes", "reuse", "plagiarism"], "repeats"),
];

/// Whether a word is probably a path.
fn looks_like_path(word: &str) -> bool {
    word == "-" || word.contains(['.', '/', std::path::MAIN_SEPARATOR]) || std::path::Path::new(word).exists()
}

/// The command of a line, with its name.
fn command_of<'a>(program: &'a Command, line: &[OsString]) -> (&'a Command, String) {
    let (mut command, mut name) = (program, String::new());
    for word in line.iter().skip(1).filter_map(|word| word.to_str()).filter(|word| !word.starts_with('-')) {
        match command.find_subcommand(word) {
            Some(inner) => command = inner,
            None => break,
        }
        name = format!("{name} {word}").trim_start().to_string();
    }
    (command, name)
}

/// The word of the line that has a long option after one hyphen, if that is why a short one is unknown.
fn single_hyphen<'a>(command: &Command, short: &str, line: &'a [OsString]) -> Option<&'a str> {
    let mut words = line.iter().filter_map(|word| word.to_str());
    words.find(|word| {
        let name = word.strip_prefix('-').map(|name| name.split('=').next().unwrap_or_default());
        word.starts_with(short) && name.is_some_and(|name| longs(command).any(|long| long == name))
    })
}

fn message(program: &Command, command: &Command, name: &str, typed: &str) -> String {
    let found = format!("unexpected argument '{typed}' found");
    let full = format!("dedup {name}");
    let full = full.trim_end();
    if let Some(answer) = answer(command, name, typed) {
        let example = if answer.example.is_empty() {
            String::new()
        } else {
            format!("; for example '{full} … {}'", answer.example)
        };
        return format!("{found}: {}{example}", answer.text);
    }
    let bare = bare(typed);
    let same = longs(command).find(|long| *long == bare);
    let others = with_option(program, &bare);
    let tip = match (same, nearest(&bare, longs(command)), &*others) {
        (Some(long), ..) => format!("\n\n  tip: it is written --{long}"),
        (None, _, [_, ..]) => format!("\n\n  tip: it is an option of {}", listed(&others)),
        (None, similar, []) if !similar.is_empty() => {
            let similar: Vec<String> = similar.iter().take(SIMILAR).map(|long| format!("--{long}")).collect();
            format!("\n\n  tip: similar options: {}", similar.join(", "))
        }
        // Probably a mistyped option, not a value.
        _ if !typed.starts_with("--") && command.get_positionals().next().is_some() => {
            format!("\n\n  tip: to pass '{typed}' as a value, use '-- {typed}'")
        }
        _ => String::new(),
    };
    format!("{found}{tip}\n\nFor more information, try '{full} --help', or '{full} --help-all' for every option.")
}

/// The number of similar options in a message.
const SIMILAR: usize = 3;

/// The long option that a word was meant as, in lower case and with hyphens.
fn bare(typed: &str) -> String {
    typed.trim_start_matches('-').split('=').next().unwrap_or_default().to_lowercase().replace('_', "-")
}

fn listed(commands: &[String]) -> String {
    match commands {
        [one] => one.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, second, ..] => format!("{first}, {second} and others"),
        [] => String::new(),
    }
}

/// The commands that have a long option.
fn with_option(program: &Command, long: &str) -> Vec<String> {
    let mut found = Vec::new();
    for command in program.get_subcommands() {
        let name = format!("dedup {}", command.get_name());
        let inner = command.get_subcommands().filter(|inner| longs(inner).any(|other| other == long));
        found.extend(longs(command).any(|other| other == long).then(|| name.clone()));
        found.extend(inner.map(|inner| format!("{name} {}", inner.get_name())));
    }
    found
}

fn answer(command: &Command, name: &str, typed: &str) -> Option<&'static Answer> {
    let typed = if typed.starts_with("--") { format!("--{}", bare(typed)) } else { typed.to_string() };
    let typed = if N_GRAM.contains(&&*typed) { N_GRAM[0] } else { &typed };
    ANSWERS.iter().find(|answer| {
        answer.typed.contains(&typed)
            && (answer.commands.is_empty() || answer.commands.contains(&name))
            && answer.options.iter().all(|option| has(command, option))
    })
}

/// Whether a command has an option, or `PATH`.
fn has(command: &Command, option: &str) -> bool {
    let is_path = |arg: &Arg| arg.is_positional() && arg.get_value_names().is_some_and(|names| names[0] == option);
    longs(command).any(|long| long == option) || command.get_arguments().any(is_path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const COMMANDS: [&str; 19] = [
        "scan",
        "clean",
        "filter",
        "check",
        "passages",
        "contain",
        "compare",
        "eval",
        "plan",
        "lexicon build",
        "index stats",
        "index verify",
        "index export",
        "index get",
        "index query",
        "index add",
        "index remove",
        "index compact",
        "help",
    ];

    fn line(words: &str) -> Vec<OsString> {
        ["dedup"].into_iter().chain(words.split_whitespace()).map(OsString::from).collect()
    }

    fn explained(words: &str) -> Option<String> {
        let program = crate::cli::command();
        let error = program.clone().try_get_matches_from(line(words)).expect_err(words);
        explain(&program, &error, &line(words))
    }

    fn command(program: &Command, name: &str) -> Command {
        command_of(program, &line(name)).0.clone()
    }

    /// The long options in a text.
    fn named(text: &str) -> BTreeSet<&str> {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        words.filter_map(|word| word.strip_prefix("--")).filter(|name| !name.is_empty()).collect()
    }

    #[test]
    fn every_alias_is_its_option() {
        let program = crate::cli::command();
        let mut seen = BTreeSet::new();
        for name in COMMANDS {
            let command = command(&program, name);
            for (option, same) in SAME {
                let Some(arg) = command.get_arguments().find(|arg| arg.get_long() == Some(option)) else { continue };
                let underscores = [*option].into_iter().chain(same.iter().copied()).map(|name| name.replace('-', "_"));
                let aliases = same.iter().map(|alias| alias.to_string()).chain(underscores);
                for alias in aliases.filter(|alias| !longs(&command).any(|long| long == alias)) {
                    let found: Vec<&str> = arg.get_all_aliases().unwrap_or_default();
                    assert!(found.contains(&&*alias) || alias == *option, "{name}: --{alias}");
                    assert!(
                        !command
                            .get_arguments()
                            .any(|arg| arg.get_visible_aliases().is_some_and(|all| !all.is_empty()))
                    );
                    seen.insert(alias);
                }
            }
        }
        for alias in SAME.iter().flat_map(|(_, same)| *same) {
            assert!(seen.contains(*alias), "no command understands --{alias}");
        }
    }

    #[test]
    fn an_alias_is_parsed_like_its_option() {
        let parse = |words: &str| crate::cli::command().try_get_matches_from(line(words)).expect(words);
        for (alias, option) in [
            ("--jobs 3", "--threads 3"),
            ("--text_key body", "--text-field body"),
            ("--jaccard_threshold=0.7", "--threshold=0.7"),
            ("--similarity 0.7", "--threshold 0.7"),
            ("--b 9 --r 13", "--bands 9 --rows 13"),
            ("--shingle_size 4", "--shingle 4"),
            ("--min_terms 3", "--min-terms 3"),
            ("--max_record 1M", "--max-record 1M"),
            ("--silent", "--quiet"),
        ] {
            assert_eq!(parse(&format!("scan a {alias}")), parse(&format!("scan a {option}")), "{alias}");
        }
        assert_eq!(parse("clean a --output_dir b"), parse("clean a --output b"));
        assert_eq!(parse("clean a --dest b --id url"), parse("clean a --output b --id-field url"));
        assert_eq!(parse("filter --state a.idx"), parse("filter --index a.idx"));
        assert_eq!(parse("plan --docs 1000"), parse("plan --documents 1000"));
        assert_eq!(parse("check a --fail_on none"), parse("check a --fail-on none"));
    }

    #[test]
    fn every_answer_names_options_that_there_are() {
        let program = crate::cli::command();
        for entry in ANSWERS {
            for typed in entry.typed {
                let answered = COMMANDS.into_iter().filter(|name| {
                    let command = command(&program, name);
                    let is_unknown = command_of(&program, &line(name)).0.clone().get_name() != "help"
                        && !longs(&command).any(|long| format!("--{long}") == *typed);
                    is_unknown && answer(&command, name, typed).is_some_and(|found| std::ptr::eq(found, entry))
                });
                let answered: Vec<&str> = answered.collect();
                let is_alias = SAME.iter().any(|(_, same)| same.iter().any(|same| format!("--{same}") == *typed));
                assert!(!answered.is_empty() || is_alias, "{typed}: {}", entry.text);
                for name in answered {
                    let command = command(&program, name);
                    let other = COMMANDS.iter().find(|other| entry.text.contains(&format!("dedup {other}")));
                    let known: BTreeSet<String> = [name]
                        .into_iter()
                        .chain(other.copied())
                        .flat_map(|name| longs(&self::command(&program, name)).map(String::from).collect::<Vec<_>>())
                        .collect();
                    for option in named(entry.text).union(&named(entry.example)) {
                        assert!(known.contains(*option), "dedup {name} {typed}: --{option}");
                    }
                    let message = message(&program, &command, name, typed);
                    assert!(!message.contains('\n') && message.contains(typed), "{message}");
                }
            }
        }
    }

    #[test]
    fn all_names_of_n_grams_have_the_answer_of_the_command() {
        let program = crate::cli::command();
        for (name, expected) in
            [("scan", "--grams"), ("contain", "number of words of a run"), ("passages", "--min-words")]
        {
            for typed in N_GRAM {
                let found = answer(&command(&program, name), name, typed).unwrap();
                assert!(found.text.contains(expected), "{name} {typed}: {}", found.text);
            }
        }
    }

    /// Examples are lines that the program accepts; `…` stands for what a command needs.
    #[test]
    fn examples_of_answers_are_accepted() {
        let program = crate::cli::command();
        for entry in ANSWERS.iter().filter(|entry| !entry.example.is_empty() && !entry.example.starts_with(['>', '<']))
        {
            for name in COMMANDS.into_iter().filter(|name| {
                entry.typed.iter().any(|typed| {
                    answer(&command(&program, name), name, typed).is_some_and(|found| std::ptr::eq(found, entry))
                })
            }) {
                let needed = match name {
                    "clean" => "a --output b",
                    "compare" if !entry.typed.contains(&"--input") => "a b",
                    "eval" => "--truth t",
                    _ if name.starts_with("index") => "a.idx",
                    _ => "",
                };
                let needed = if entry.example.contains("--dry-run") { "a" } else { needed };
                let words = format!("{name} {needed} {}", entry.example);
                if let Err(error) = program.clone().try_get_matches_from(line(&words)) {
                    panic!("{words}: {error}");
                }
            }
        }
    }

    #[test]
    fn habits_are_answered() {
        for (words, expected) in [
            ("scan docs --num_perm 128", "--hashes K"),
            ("scan docs --num-perm=128", "--hashes K"),
            ("scan docs --ngram 5", "--shingle W"),
            ("filter --ngram_size 5", "--shingle W"),
            ("scan docs -o out", "dedup clean --output DIR"),
            ("scan docs -t 0.8", "--threshold S"),
            ("check docs -t 0.8", "--file-similarity S"),
            ("check docs --jaccard 0.8", "--passage-similarity S"),
            ("contain docs --threshold 0.8", "--min-coverage S"),
            ("contain docs --n-gram 13", "--shingle W"),
            ("contain docs --min-words 13", "--shingle W"),
            ("passages docs --n-gram 13", "--min-words N"),
            ("contain docs --jaccard_threshold=0.8", "--min-coverage S"),
            ("passages docs --shingle 13", "--min-words N"),
            ("passages docs --min_tokens 50", "--min-words N"),
            ("passages docs --min-count 5", "--min-documents N"),
            ("scan -r docs", "docs/"),
            ("filter --input a.jsonl", "standard input"),
            ("index query seen.idx a.jsonl", "dedup index query INDEX … < a.jsonl"),
            ("index add seen.idx a.jsonl", "dedup index add INDEX … < a.jsonl"),
            ("scan docs -v", "--stats FILE"),
            ("check docs --sarif", "--report sarif"),
            ("check docs --exclude drafts", "--ignore GLOB"),
            ("passages docs --report html=a.html", "dedup check PATH… --report html=FILE"),
            ("passages docs --sort-by count", "dedup help repeats"),
            ("clean docs -d out", "--output DIR"),
            ("contain docs --dry-run", "--emit verdicts"),
            ("passages docs --dry-run", "--emit verdicts"),
            ("compare a b --full", "--max-differences all"),
            ("scan docs --limit 10", "head -n"),
            ("version", "dedup --version"),
            ("scan docs --algo exact", "--exact"),
            ("scan docs --algo lsh", "--algo minhash"),
            ("scan docs --threshold 80", "--threshold 0.8"),
            ("scan docs --threshold 92.5%", "--threshold 0.925"),
            ("help threshold", "dedup help choosing"),
            ("help minhash", "dedup help algorithms"),
            ("help memory", "dedup help limits"),
            ("help decontamination", "dedup help containing"),
            ("help split", "dedup help scanning"),
            ("help messages", "dedup help formats"),
        ] {
            let found = explained(words).expect(words);
            assert!(found.contains(expected) && !found.contains('\n'), "{words}: {found}");
        }
    }

    #[test]
    fn options_after_the_end_of_options_go_before_it() {
        for (words, typed) in [
            ("compare --text-field body -- a:3 a:4 --algo minhash", "--algo"),
            ("compare -- a b --bogus", "--bogus"),
            ("compare -- a b -q", "-q"),
        ] {
            let expected =
                format!("unexpected argument '{typed}' found: all that follows '--' is a value; options go before it");
            assert_eq!(explained(words), Some(expected), "{words}");
        }
        let before = explained("compare --bogus -- a b").unwrap();
        assert!(before.contains("For more information"), "{before}");
    }

    #[test]
    fn other_options_are_answered_with_similar_ones() {
        for (words, tip) in [
            ("scan --thresold 1", "similar options: --threshold"),
            ("scan --THRESHOLD 1", "it is written --threshold"),
            ("scan -threshold 1", "it is written --threshold"),
            ("clean a --emit kept", "it is an option of dedup scan"),
            ("scan --min-words 5", "it is an option of dedup check"),
            ("scan -7", "to pass '-7' as a value, use '-- -7'"),
        ] {
            let found = explained(words).expect(words);
            assert!(found.contains(&format!("tip: {tip}")), "{words}: {found}");
            assert!(found.contains("--help-all"), "{found}");
        }
        for command in ["filter", "scan"] {
            let bogus = explained(&format!("{command} --bogus")).unwrap();
            let advice = format!("try 'dedup {command} --help', or 'dedup {command} --help-all' for every option.");
            assert_eq!(bogus, format!("unexpected argument '--bogus' found\n\nFor more information, {advice}"));
        }
        assert_eq!(
            ["scna", "scan --threshold x", "scan --threshold 0", "scan --algo x", "help x", "index stats a b"]
                .map(explained),
            [None, None, None, None, None, None]
        );
    }
}
