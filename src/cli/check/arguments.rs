//! The arguments of `dedup check`: the flags, and their parsed values. No other file of this folder reads what clap parsed.

use super::super::arguments::{choice, some_run_args, whole_number};
use super::super::status::usage_error;
use anstream::ColorChoice;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neardups::Error;
use neardups::check::baseline::parse_reason;
use neardups::check::config::{Config, MAX_FINDINGS, MAX_WORDS, Settings, parse_share};
use neardups::check::find::FindOptions;
use neardups::check::report::{Format, Target};
use neardups::check::{Counted, FailOn, Grade, Link, Request, Sort, Walk};
use neardups::prose::Markup;
use neardups::similarity::Threshold;
use std::env;
use std::path::{Path, PathBuf};

/// The parsed arguments.
pub struct Arguments {
    /// Options that are also keys of `dedup.toml`.
    pub settings: Settings,
    /// `--ignore`.
    pub ignore: Vec<String>,
    /// `--hidden` and `--no-ignore-files`.
    pub walk: Walk,
    /// `--update-baseline`.
    pub update: bool,
    /// `--prune-baseline`.
    pub prune: bool,
    /// `--accept`.
    pub accept: Vec<String>,
    /// `--reason`.
    pub reason: Option<String>,
    /// `--since`.
    pub since: Option<String>,
    /// `--staged`.
    pub staged: bool,
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--no-config`.
    pub no_config: bool,
    /// `--print-config`.
    pub print: bool,
    /// `--color`.
    pub color: ColorChoice,
    /// `--threads`.
    pub threads: usize,
    /// `--quiet`.
    pub quiet: bool,
}

impl Arguments {
    /// Takes the values from what clap parsed.
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
                strict: given.get_flag("strict").then_some(true),
                count: words("count").map(counted),
                baseline: path("baseline"),
                report: given.get_many("report").map(|targets| targets.cloned().collect()),
                link: given.get_one("link").cloned().or_else(link_of_workflow),
                grade: given.get_one::<String>("grade").and_then(|word| Grade::by_name(word)),
                sort: given.get_one::<String>("sort").and_then(|word| Sort::by_name(word)),
                fail_on: given.get_one::<String>("fail-on").and_then(|word| FailOn::by_name(word)),
                max_findings: number("max-findings"),
                fail_on_stale: given.get_flag("fail-on-stale").then_some(true),
                ..Settings::default()
            },
            ignore: words("ignore").unwrap_or_default(),
            walk: Walk { hidden: given.get_flag("hidden"), ignore_files: !given.get_flag("no-ignore-files") },
            update: given.get_flag("update-baseline"),
            prune: given.get_flag("prune-baseline"),
            accept: words("accept").unwrap_or_default(),
            reason: given.get_one::<String>("reason").cloned(),
            since: given.get_one::<String>("since").cloned(),
            staged: given.get_flag("staged"),
            config: path("config"),
            no_config: given.get_flag("no-config"),
            print: given.get_flag("print-config"),
            color: color(given.get_one::<String>("color").map_or("auto", String::as_str)),
            threads: number("threads").unwrap_or(0),
            quiet: given.get_flag("quiet"),
        }
    }

    /// Reads the configuration.
    ///
    /// # Errors
    /// It cannot be read, or is invalid.
    pub fn config(&self) -> Result<Config, neardups::check::Error> {
        match self.config.as_deref() {
            _ if self.no_config => Ok(Config::default()),
            given if self.staged => Config::find_staged(given),
            given => Config::find(given),
        }
    }

    /// The request: complete settings, and options that are not settings.
    ///
    /// # Errors
    /// The folder of the configuration was removed.
    pub fn request(&self, config: &Config, settings: &Settings) -> Result<Request, Error> {
        Ok(Request {
            ignore_here: self.ignore.clone(),
            walk: self.walk,
            update_baseline: self.update,
            prune_baseline: self.prune,
            accept: self.accept.clone(),
            reason: self.reason.clone(),
            since: self.since.clone(),
            staged: self.staged,
            threads: self.threads,
            ..config.request(settings)?
        })
    }
}

/// The error of a check, with the option that it is about: with `staged`, what git failed to do is about `--staged`.
pub fn explained(error: neardups::check::Error, staged: bool) -> Error {
    use neardups::check::{Error, List, PruneError, SinceError};
    let option = if staged { "--staged" } else { "--since" };
    match error {
        Error::Globs { list: List::IgnoreHere, message } => usage_error(format!("--ignore: {message}")),
        Error::Baseline(invalid) if invalid.is_conflict => {
            usage_error(format!("{invalid}, then run with --update-baseline"))
        }
        Error::Since(SinceError::Git(message)) => usage_error(format!("{option}: git failed: {message}")),
        Error::Since(error @ SinceError::Reference { .. }) => usage_error(format!("--since {error}")),
        Error::Since(error) => usage_error(format!("{option}: {error}")),
        Error::UnknownFinding(_) => usage_error(format!("--accept {error}")),
        Error::Prune(error @ PruneError::Part { is_ignored: true, .. }) => {
            usage_error(format!("--prune-baseline: {error}, without --ignore"))
        }
        Error::Prune(error) => usage_error(format!("--prune-baseline: {error}")),
        Error::MissingBaseline(path) if staged && Path::new(&path).exists() => {
            usage_error(format!("--fail-on-stale: {path} is not staged: stage it with git add, or let git ignore it"))
        }
        Error::MissingBaseline(_) => {
            usage_error(format!("--fail-on-stale: {error}: correct the path, or create it with --update-baseline"))
        }
        Error::NoBaselineToFailOn => {
            usage_error("--fail-on-stale (`fail-on-stale`) needs --baseline FILE (`baseline`)")
        }
        Error::NoBaselineToPrune => usage_error("--prune-baseline needs --baseline FILE, the file to write"),
        Error::NoBaseline => usage_error("--update-baseline needs --baseline FILE, the file to write"),
        Error::Run(error) => error,
        error => usage_error(error.to_string()),
    }
}

/// The meaning of a value of `--color`.
fn color(name: &str) -> ColorChoice {
    match name {
        "always" => ColorChoice::Always,
        "never" => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

/// The values of `--color`.
fn colors() -> impl Iterator<Item = (&'static str, &'static str)> {
    [("auto", "on a terminal, unless NO_COLOR is set"), ("always", "also to a pipe or a file"), ("never", "no colours")]
        .into_iter()
}

/// The values of `--count`.
fn counted() -> impl Iterator<Item = (&'static str, &'static str)> {
    Counted::ALL.into_iter().map(|counted| {
        let help = match counted {
            Counted::Code => "blocks of code",
            Counted::Links => "targets of links",
            Counted::FrontMatter => "front matter",
            Counted::Licences => "licence notices, and sections on the licence",
            Counted::Contents => "tables of contents",
            Counted::Docstrings => "docstrings and documentation comments of source files",
        };
        (counted.name(), help)
    })
}

/// The values of `--fail-on`.
fn fail_on() -> impl Iterator<Item = (&'static str, &'static str)> {
    FailOn::ALL.into_iter().map(|fail_on| {
        let help = match fail_on {
            FailOn::Error => "errors that are not accepted: status 1",
            FailOn::Warning => "warnings too",
            FailOn::Note => "notes too",
            FailOn::Any => "accepted copies too",
            FailOn::None => "never: status 0, whatever is found",
        };
        (fail_on.name(), help)
    })
}

/// The values of `--grade`.
fn grades() -> impl Iterator<Item = (&'static str, &'static str)> {
    Grade::ALL.into_iter().map(|grade| {
        let help = match grade {
            Grade::Error => "copied prose",
            Grade::Warning => "text that is probably meant to occur twice",
            Grade::Note => "text that is expected to occur twice, such as release notes and skeletons of pages",
        };
        (grade.name(), help)
    })
}

/// The values of `--sort`.
fn sorts() -> impl Iterator<Item = (&'static str, &'static str)> {
    Sort::ALL.into_iter().map(|sort| {
        let help = match sort {
            Sort::Path => "by page and line",
            Sort::Grade => "the most serious first, then those with more words",
            Sort::Words => "those with more words first",
        };
        (sort.name(), help)
    })
}

/// The help of a value of `--report`.
fn help(format: Format) -> &'static str {
    match format {
        Format::Human => "for people: up to six places, and the text with differences marked",
        Format::Jsonl => "one JSON object a line for each copy, with all places",
        Format::Sarif => "SARIF 2.1.0, for code scanning",
        Format::Github => "annotations of GitHub Actions; also adds a comment to GITHUB_STEP_SUMMARY",
        Format::Gitlab => "the code quality report of GitLab",
        Format::Junit => "JUnit XML, for tools that show test results",
        Format::Markdown => "a comment on a pull request, in Markdown",
        Format::Html => "one page with the texts side by side, for a browser",
    }
}

/// `dedup check`. Long because it is one list of arguments with their help.
pub fn command() -> Command {
    let defaults = FindOptions::default();
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
    let formats: String = Format::ALL.map(|format| format!("\n  {:9} {}", format.name(), help(format))).concat();
    Command::new("check")
        .about("Finds copied pages and passages in documentation: a check for CI")
        .long_about(
            format!("Finds copied pages and passages in documentation, with small edits. Reads Markdown, MDX, reStructuredText, \
             AsciiDoc, HTML, plain text, notebooks, translations (po) and OpenAPI as prose: markup, code blocks, link targets, front matter, licence notices and tables of contents \
             do not count; with --count docstrings, documentation in source files does. Case, punctuation and line breaks make no \
             difference. In folders, files with these extensions are pages: \
             {}. A named file is read whatever its extension.\n\n\
             Copies can be accepted in a baseline (--baseline FILE --update-baseline), between comments dedup:ignore-start and \
             dedup:ignore-end, or for some files in dedup.toml:\n\n\
             [check]                          # paths, ignore, and options by name\n\
             min-words = 50\n\n\
             [[check.allow]]                  # copies within these files are accepted, or a text = \"...\"\n\
             paths = [\"docs/install-*.md\"]   # globs as in .gitignore, relative to dedup.toml\n\
             reason = \"each page is read on its own\"\n\n\
             [[check.rule]]                   # copies in these files must be longer or more similar,\n\
             paths = [\"docs/changelog.md\"]\n\
             min-words = 100\n\
             similarity = 0.9\n\
             grade = \"warning\"                # and have at most this grade\n\
             preset = \"changelogs\"            # or \"reference\", \"translations\", \"ordinary\": what they are\n\n\
             Exit status: 0 no copies found, 1 copies found, 2 usage error or nothing could be checked, 3 some file could not be read.", endings())
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
                .help("Files and folders [default: those of dedup.toml, or the current folder]"),
        )
        .arg(words("min-words", defaults.min_words, "Minimum length of a passage, in words").long_help(format!(
            "Minimum length of a passage, in words; above {0}, also of a paragraph without --paragraph-words [default: {0}]",
            defaults.min_words
        )))
        .arg(share("passage-similarity", defaults.passage_similarity, "Minimum similarity of passages: 2·(matching words)/(words of both)"))
        .arg(words("paragraph-words", defaults.paragraph_words, "Minimum length of a whole paragraph, heading, item or cell, in words"))
        .arg(share("paragraph-similarity", defaults.paragraph_similarity, "Minimum similarity of paragraphs"))
        .arg(share("file-similarity", defaults.file_similarity, "Minimum similarity of whole files, or share of one that is in the other"))
        .arg(flag("strict", "Also find passages of 25 words within one paragraph, and paragraphs with the same sentences in another order"))
        .arg(
            choice("count", "WHAT", counted(), "Content to count although it does not by default; may be repeated")
                .action(ArgAction::Append),
        )
        .arg(
            Arg::new("ignore")
                .long("ignore")
                .value_name("GLOB")
                .action(ArgAction::Append)
                .help("Files not to check, as in .gitignore; may be repeated"),
        )
        .arg(flag("no-ignore-files", "Also check files that .gitignore and .ignore exclude"))
        .arg(flag("hidden", "Also check hidden files in folders"))
        .arg(file("baseline", "File of accepted copies, known by their words and files; one more place of an accepted copy is new"))
        .arg(
            flag("update-baseline", "Write the baseline with all current copies").long_help(
                "Write the baseline, so that it accepts all current copies; with --since or --staged, the new ones",
            ),
        )
        .arg(
            flag("prune-baseline", "Drop stale entries of the baseline")
                .conflicts_with("update-baseline")
                .long_help(
                    "Drop the stale entries of the baseline, which match no copy any more, and accept nothing. All pages of the baseline must \
                     be checked, with the options of other runs",
                ),
        )
        .arg(
            Arg::new("accept")
                .long("accept")
                .value_name("COPY")
                .action(ArgAction::Append)
                .requires("update-baseline")
                .help("With --update-baseline, accept only this copy: FILE:LINE as reported, or its fingerprint; may be repeated"),
        )
        .arg(
            Arg::new("reason")
                .long("reason")
                .value_name("TEXT")
                .requires("update-baseline")
                .value_parser(parse_reason)
                .help("With --update-baseline, why the copies that it newly accepts are accepted, on one line"),
        )
        .arg(
            Arg::new("since")
                .long("since")
                .value_name("REF")
                .help("Report only copies that are new since a git commit, such as origin/main")
                .long_help(
                    "Report only copies that are new since a git commit, such as origin/main: those that the same check of the merge base with \
                     that commit would not report, and that have new words in one of their places. White space, markup, renamed pages and \
                     text that moved make nothing new. Untracked files are new; files that git ignores are not. A submodule is compared with the commit that it had at the \
                     merge base.",
                ),
        )
        .arg(
            flag("staged", "Report only copies new in what git has staged")
                .conflicts_with("since")
                .long_help(
                    "Report only copies that are new in what git has staged, compared with the last commit, as --since does. The pages are those in \
                     the index of git, with their texts there: untracked files are not read, and what is not staged does not count. The configuration, the \
                     baseline and ignore files are those in the index too, unless git ignores them. With \
                     nothing staged nothing is new, so use --since in CI. Pages of submodules are read as they are and count as unchanged.",
                ),
        )
        .arg(
            Arg::new("report")
                .long("report")
                .value_name("FORMAT[=FILE]")
                .action(ArgAction::Append)
                .value_parser(str::parse::<Target>)
                .help(format!("Format of the report, and where to write it: {}; may be repeated [default: human]", names()))
                .long_help(format!(
                    "Format of the report, to standard output or to a file. May be repeated [default: human]:{formats}"
                )),
        )
        .arg(
            Arg::new("link")
                .long("link")
                .value_name("TEMPLATE")
                .overrides_with("link")
                .value_parser(str::parse::<Link>)
                .help("Links to places in the reports html and markdown: a URL with {path}, {line}, {end}, {column}, {root}")
                .long_help(
                    "Links to places in the reports html and markdown: a URL with {path} and, if needed, {line}, {end} (the last line), \
                     {column} and {root}, such as https://github.com/OWNER/REPO/blob/main/{path}#L{line}-L{end} or \
                     vscode://file/{root}/{path}:{line}. {path} is relative to {root}: the root of the repository, or the current folder. In a workflow of \
                     GitHub, by default to the file at the commit that it checks.",
                ),
        )
        .arg(choice("color", "WHEN", colors(), "When to colour the human report and messages [default: auto]"))
        .arg(choice("grade", "GRADE", grades(), "The least grade that is reported [default: warning]"))
        .arg(choice("sort", "ORDER", sorts(), "The order of copies in reports [default: path]"))
        .arg(choice("fail-on", "WHAT", fail_on(), "Which copies make the check fail [default: error]"))
        .arg(
            Arg::new("max-findings")
                .long("max-findings")
                .value_name("N")
                .value_parser(whole_number(0..=MAX_FINDINGS))
                .help("Allow so many copies [default: 0]")
                .long_help("Fail only with more copies than this [default: 0]"),
        )
        .arg(flag("fail-on-stale", "Fail if an entry of the baseline is stale"))
        .arg(file("config", "The configuration [default: the nearest dedup.toml, or pyproject.toml with [tool.dedup], from the current folder upward within the repository]"))
        .arg(flag("no-config", "Read no configuration").conflicts_with("config"))
        .arg(flag("print-config", "Print the resolved options and configuration as dedup.toml, and check nothing"))
        .args(some_run_args(&["threads", "quiet"]))
}

/// The extensions of pages.
fn endings() -> String {
    Markup::ENDINGS.iter().flat_map(|(_, endings)| *endings).copied().collect::<Vec<_>>().join(", ")
}

/// In a workflow of GitHub, links to files at the commit that it checks.
fn link_of_workflow() -> Option<Link> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let (server, repository, commit) = (set("GITHUB_SERVER_URL")?, set("GITHUB_REPOSITORY")?, set("GITHUB_SHA")?);
    format!("{server}/{repository}/blob/{commit}/{{path}}#L{{line}}-L{{end}}").parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_guide_has_all_endings() {
        let chapter = include_str!("../../guide/checking.md").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(chapter.contains(&format!("`{}`", super::endings().replace(", ", "`, `"))));
    }
}
