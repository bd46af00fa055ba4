//! The arguments of `dedup check`, and what was typed as values. Nothing else looks at what clap parsed.

use super::super::arguments::{choice, some_run_args, whole_number};
use super::super::status::usage_error;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::Error;
use neardups::check::config::{Config, MAX_FINDINGS, MAX_WORDS, Settings, parse_share};
use neardups::check::find::Options;
use neardups::check::report::{Format, Target};
use neardups::check::{Counted, FailOn, Request, Walk};
use neardups::prose::Markup;
use neardups::similarity::Threshold;
use std::path::PathBuf;

/// What was typed.
pub struct Arguments {
    /// What `dedup.toml` has keys for.
    pub settings: Settings,
    /// `--ignore`.
    pub ignore: Vec<String>,
    /// `--hidden` and `--no-ignore-files`.
    pub walk: Walk,
    /// `--update-baseline`.
    pub update: bool,
    /// `--since`.
    pub since: Option<String>,
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--no-config`.
    pub no_config: bool,
    /// `--print-config`.
    pub print: bool,
    /// `--threads`.
    pub threads: usize,
    /// `--quiet`.
    pub quiet: bool,
}

impl Arguments {
    /// What clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        let number = |name: &str| given.get_one::<u64>(name).map(|&number| number as usize);
        let share = |name: &str| given.get_one::<f64>(name).copied();
        let path = |name: &str| given.get_one::<PathBuf>(name).cloned();
        let words = |name: &str| given.get_many::<String>(name).map(|words| words.cloned().collect::<Vec<_>>());
        let counted = |words: Vec<String>| words.iter().filter_map(|word| Counted::by_name(word)).collect();
        Arguments {
            settings: Settings {
                paths: given.get_many("paths").map(|paths| paths.cloned().collect()),
                min_words: number("min-words"),
                passage_similarity: share("passage-similarity"),
                paragraph_words: number("paragraph-words"),
                paragraph_similarity: share("paragraph-similarity"),
                file_similarity: share("file-similarity"),
                count: words("count").map(counted),
                baseline: path("baseline"),
                report: given.get_many("report").map(|targets| targets.cloned().collect()),
                fail_on: given.get_one::<String>("fail-on").and_then(|word| FailOn::by_name(word)),
                max_findings: number("max-findings"),
                ..Settings::default()
            },
            ignore: words("ignore").unwrap_or_default(),
            walk: Walk { hidden: given.get_flag("hidden"), ignore_files: !given.get_flag("no-ignore-files") },
            update: given.get_flag("update-baseline"),
            since: given.get_one::<String>("since").cloned(),
            config: path("config"),
            no_config: given.get_flag("no-config"),
            print: given.get_flag("print-config"),
            threads: number("threads").unwrap_or(0),
            quiet: given.get_flag("quiet"),
        }
    }

    /// The configuration that was asked for.
    ///
    /// # Errors
    /// It cannot be read, or is wrong.
    pub fn config(&self) -> Result<Config, Error> {
        if self.no_config { Ok(Config::default()) } else { Config::find(self.config.as_deref()) }
    }

    /// What is asked: complete settings, and what only options say.
    ///
    /// # Errors
    /// The folder of the configuration does not exist any more.
    pub fn request(&self, config: &Config, settings: &Settings) -> Result<Request, Error> {
        Ok(Request {
            ignore_here: self.ignore.clone(),
            walk: self.walk,
            update_baseline: self.update,
            since: self.since.clone(),
            threads: self.threads,
            ..config.request(settings)?
        })
    }
}

/// Why a check did not run, with the options that it is about.
pub fn explained(error: neardups::check::Error) -> Error {
    use neardups::check::{Error, List, SinceError};
    match error {
        Error::Globs { list: List::IgnoreHere, message } => usage_error(format!("--ignore: {message}")),
        Error::Baseline(invalid) if invalid.is_conflict => usage_error(format!("{invalid}, then run with --update-baseline")),
        Error::Since(SinceError::Git(message)) => {
            usage_error(format!("--since looks at what git knows, and that failed: {message}"))
        }
        Error::Since(error @ SinceError::Reference { .. }) => usage_error(format!("--since {error}")),
        Error::Since(error) => usage_error(format!("--since: {error}")),
        Error::NoBaseline => usage_error("--update-baseline writes the file that --baseline names"),
        Error::Run(error) => error,
        error => usage_error(error.to_string()),
    }
}

/// What `--count` takes.
fn counted() -> impl Iterator<Item = (&'static str, &'static str)> {
    Counted::ALL.into_iter().map(|counted| {
        let help = match counted {
            Counted::Code => "blocks of code",
            Counted::Links => "targets of links",
            Counted::FrontMatter => "front matter",
            Counted::Licences => "licence notices at the start of a page, and sections on the licence",
            Counted::Contents => "tables of contents",
            Counted::Docstrings => "source files, of which only docstrings and comments that document count",
        };
        (counted.name(), help)
    })
}

/// What `--fail-on` takes.
fn fail_on() -> impl Iterator<Item = (&'static str, &'static str)> {
    FailOn::ALL.into_iter().map(|fail_on| {
        let help = match fail_on {
            FailOn::New => "copies that nobody accepted: status 1",
            FailOn::Any => "accepted ones too",
            FailOn::None => "nothing: status 0, whatever is found",
        };
        (fail_on.name(), help)
    })
}

/// What `--report` takes.
fn help(format: Format) -> &'static str {
    match format {
        Format::Human => "for people: both places, the text, the differences marked",
        Format::Jsonl => "one JSON object a line for each copy",
        Format::Sarif => "SARIF 2.1.0, for code scanning",
        Format::Github => "annotations of GitHub Actions",
        Format::Gitlab => "the code quality report of GitLab",
        Format::Junit => "JUnit XML, for whatever shows tests",
        Format::Html => "one page with the texts side by side, for a browser",
    }
}

/// `dedup check`. Long because it is one list of arguments with their help.
pub fn command() -> Command {
    let defaults = Options::default();
    let words = |name: &'static str, default: usize, help: &str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .value_parser(whole_number(1..=MAX_WORDS as u64))
            .help(format!("{help} [default: {default}]"))
    };
    let share = |name: &'static str, default: Threshold, help: &str| {
        let default = default.as_f64();
        Arg::new(name).long(name).value_name("S").value_parser(parse_share).help(format!("{help} [default: {default}]"))
    };
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help)
    };
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let names = || Format::ALL.map(Format::name).join(", ");
    let formats: String = Format::ALL.map(|format| format!("\n  {:8} {}", format.name(), help(format))).concat();
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
            choice("count", "WHAT", counted(), "What counts although it usually does not; may be given several times")
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
                .value_parser(str::parse::<Target>)
                .help(format!("How copies are told, and where: {}; may be given several times [default: human]", names()))
                .long_help(format!(
                    "How copies are told; to standard output, or to a file. May be given several times [default: human]:{formats}"
                )),
        )
        .arg(choice("fail-on", "WHAT", fail_on(), "What makes it fail [default: new]"))
        .arg(
            Arg::new("max-findings")
                .long("max-findings")
                .value_name("N")
                .value_parser(whole_number(0..=MAX_FINDINGS))
                .help("Fail only if there are more copies than this [default: 0]"),
        )
        .arg(file("config", "The configuration [default: the next dedup.toml from the current folder upward, within the repository]"))
        .arg(flag("no-config", "Look for no configuration").conflicts_with("config"))
        .arg(flag("print-config", "Print what the options and the configuration resolve to, as dedup.toml, and look at nothing"))
        .args(some_run_args(&["threads", "quiet"]))
}

/// How names of pages end.
fn endings() -> String {
    Markup::ENDINGS.iter().flat_map(|(_, endings)| *endings).copied().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_guide_has_all_endings() {
        let chapter = include_str!("../../guide/checking.md").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(chapter.contains(&format!("`{}`", super::endings().replace(", ", "`, `"))));
    }
}
