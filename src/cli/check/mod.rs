//! `dedup check`: the gate for copied docs.
//!
//! ```text
//! config.rs    what was asked: dedup.toml, and options over it
//! pages.rs     files → prose → words with places
//!              neardups::check::find
//! copies.rs    copies as reports tell them
//! baseline.rs  which of them are accepted
//! since.rs     which of them a change touches
//! report/      a file for each who reads them
//! ```

mod baseline;
mod config;
mod copies;
mod pages;
mod report;
mod since;

use super::arguments::{bytes, count, counted};
use super::out_file::OutFile;
use super::terminal::Terminal;
use super::{Status, input, usage_error};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use config::{Check, Config};
use copies::Copy;
use neardups::Error;
use neardups::check::{Document, Finding, Options, find};
use neardups::prose;
use neardups::similarity::Threshold;
use pages::{Page, Selection};
use report::{FORMATS, Outcome, Target};
use since::Changes;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What `--count` takes.
const COUNTED: [(&str, &str); 5] = [
    ("code", "blocks of code"),
    ("links", "targets of links"),
    ("front-matter", "front matter"),
    ("licences", "licence notices at the start of a page"),
    ("contents", "tables of contents"),
];

/// What `--fail-on` takes.
const FAIL_ON: [(&str, &str); 3] = [
    ("new", "copies that nobody accepted: status 1"),
    ("any", "accepted ones too"),
    ("none", "nothing: status 0, whatever is found"),
];

/// `dedup check`.
pub fn command() -> Command {
    let words = |name: &'static str, default: &str, help: &str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .value_parser(super::arguments::whole_number(1..=1_000_000))
            .help(format!("{help} [default: {default}]"))
    };
    let share = |name: &'static str, default: &str, help: &str| {
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
            "Finds pages and passages of documentation that were copied, small edits included. Reads Markdown, MDX, reStructuredText, \
             AsciiDoc, HTML and plain text as prose: markup, code blocks, link targets, front matter, licence notices and tables of contents \
             do not count. Case, punctuation and line breaks make no difference.\n\n\
             Accepted copies go into a baseline (--baseline FILE --update-baseline), into dedup.toml ([[check.allow]]), or stand between \
             comments dedup:ignore-start and dedup:ignore-end.\n\n\
             Exit status: 0 nothing found, 1 copies found, 2 usage error or some file could not be read.",
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
        .arg(words("min-words", "40", "Fewest words of a passage"))
        .arg(share("passage-similarity", "0.7", "How alike passages are: 2·(words that match)/(words of both)"))
        .arg(words("paragraph-words", "15", "Fewest words of a whole paragraph, heading, item or cell"))
        .arg(share("paragraph-similarity", "0.8", "How alike paragraphs are"))
        .arg(share("file-similarity", "0.8", "How alike whole files are, or how much of one is in the other"))
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
                .help("Report only copies that touch a line changed since a commit of git, such as origin/main"),
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
                .value_parser(super::arguments::whole_number(0..=u32::MAX.into()))
                .help("Fail only if there are more copies than this [default: 0]"),
        )
        .arg(file("config", "The configuration [default: the next dedup.toml from the current folder upward, within the repository]"))
        .arg(flag("no-config", "Look for no configuration").conflicts_with("config"))
        .arg(flag("print-config", "Print what the options and the configuration resolve to, as dedup.toml, and look at nothing"))
        .args(input::run_args().into_iter().filter(|arg| ["threads", "quiet"].contains(&arg.get_id().as_str())))
}

/// A share above 0, and 1 at most.
fn share(typed: &str) -> Result<f64, String> {
    match typed.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("expected a number above 0, and 1 at most, such as 0.8".into()),
    }
}

/// What was asked, options over configuration over defaults.
fn resolve(given: &ArgMatches, config: &Config) -> Check {
    let file = &config.check;
    let number = |name: &str, own: Option<usize>, default: usize| {
        given.get_one::<u64>(name).map(|&n| n as usize).or(own).unwrap_or(default)
    };
    let share = |name: &str, own: Option<f64>, default: f64| given.get_one(name).copied().or(own).unwrap_or(default);
    let list = |name: &str| given.get_many::<String>(name).map(|list| list.cloned().collect::<Vec<_>>());
    let from_config = |path: &PathBuf| config.folder.join(path);
    let paths = given.get_many::<PathBuf>("paths").map(|paths| paths.cloned().collect());
    let paths = paths.or_else(|| file.paths.as_ref().map(|paths| paths.iter().map(from_config).collect()));
    let defaults = Options::default();
    Check {
        paths: Some(paths.unwrap_or_else(|| vec![PathBuf::from(".")])),
        ignore: file.ignore.clone(),
        min_words: Some(number("min-words", file.min_words, defaults.min_words)),
        passage_similarity: Some(share("passage-similarity", file.passage_similarity, 0.7)),
        paragraph_words: Some(number("paragraph-words", file.paragraph_words, defaults.paragraph_words)),
        paragraph_similarity: Some(share("paragraph-similarity", file.paragraph_similarity, 0.8)),
        file_similarity: Some(share("file-similarity", file.file_similarity, 0.8)),
        count: Some(list("count").or_else(|| file.count.clone()).unwrap_or_default()),
        baseline: given.get_one("baseline").cloned().or_else(|| file.baseline.as_ref().map(from_config)),
        report: file.report.clone(),
        fail_on: Some(given.get_one("fail-on").cloned().or_else(|| file.fail_on.clone()).unwrap_or("new".into())),
        max_findings: Some(number("max-findings", file.max_findings, 0)),
        allow: file.allow.clone(),
        rule: file.rule.clone(),
    }
}

/// Checks.
pub fn run(given: &ArgMatches) -> Result<Status, Error> {
    let started = Instant::now();
    let config = match given.get_flag("no-config") {
        true => Config::default(),
        false => Config::find(given.get_one::<PathBuf>("config").map(PathBuf::as_path))?,
    };
    let check = resolve(given, &config);
    if given.get_flag("print-config") {
        let text = toml::to_string(&config::File { check }).expect("a configuration is TOML");
        io::stdout().write_all(text.as_bytes()).map_err(cannot_write)?;
        return Ok(Status::Done);
    }
    let targets = targets(given, &config)?;
    let selection = selection(given, &check, &config)?;
    let baseline = check.baseline.as_deref();
    if given.get_flag("update-baseline") && baseline.is_none() {
        return Err(usage_error("--update-baseline writes the file that --baseline names"));
    }
    let terminal = Terminal::new(given.get_flag("quiet"), None);
    let accepted = match baseline {
        Some(path) if !given.get_flag("update-baseline") => {
            let accepted = baseline::read(path)?;
            if accepted.is_none() {
                terminal.warning(&format!("{}: there is no such baseline; nothing is accepted", path.display()));
            }
            accepted.unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let changes = given.get_one::<String>("since").map(|reference| Changes::since(reference)).transpose()?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(given.get_one::<u64>("threads").map_or(0, |&threads| threads as usize))
        .build()
        .map_err(|error| usage_error(format!("cannot start threads: {error}")))?;

    let tree = pool.install(|| pages::read(check.paths.as_deref().unwrap_or_default(), &selection));
    tree.failed.iter().for_each(|failed| terminal.line(&format!("failed: {failed}")));
    tree.notices.iter().for_each(|notice| terminal.warning(notice));
    let documents: Vec<Document> = tree.pages.iter().map(Page::document).collect();
    let found = pool.install(|| find(&documents, &options(&check)));
    let rules = Rules::new(&check, &config)?;
    let (mut findings, mut allowed) = (found.findings, 0);
    findings.retain(|finding| {
        let paths = [&finding.a, &finding.b].map(|place| tree.pages[place.document].path.as_str());
        let is_allowed = rules.allow(paths);
        let counts = rules.reached(paths, finding);
        allowed += usize::from(is_allowed && counts);
        counts && !is_allowed
    });
    let mut copies: Vec<Copy> = findings.iter().map(|finding| Copy::new(&tree.pages, finding)).collect();
    let mut stale = baseline::accept(&mut copies, accepted);
    if given.get_flag("update-baseline")
        && let Some(path) = baseline
    {
        baseline::write(path, &copies)?;
        terminal.line(&format!("{} accepted in {}", counted(copies.len() as u64, "copy"), path.display()));
        copies.iter_mut().for_each(|copy| copy.known = true);
        stale.clear();
    }
    if let Some(changes) = &changes {
        copies.retain_mut(|copy| touched(copy, changes));
        // What a change does not touch was not asked for.
        stale.clear();
    }
    let words = documents.iter().map(|document| document.words.len()).sum();
    let outcome = Outcome { copies: &copies, stale: &stale, allowed, pages: tree.pages.len(), words };
    write(targets, &outcome)?;

    for entry in &stale {
        terminal.warning(&format!(
            "{}: accepted, and not there any more: {} and {}: {}",
            baseline.unwrap_or(Path::new("")).display(),
            entry.paths[0],
            entry.paths[1],
            entry.text,
        ));
    }
    if found.cut_short > 0 {
        terminal.line(&format!(
            "{} so full of repeats that not all of them were compared",
            match found.cut_short {
                1 => "1 page is".to_string(),
                many => format!("{} pages are", count(many as u64)),
            }
        ));
    }
    let new = outcome.new_copies().count();
    let known = copies.len() - new;
    terminal.line(&format!(
        "{}, {}: {}{}{}; {} in {:.2} s",
        counted(tree.pages.len() as u64, "page"),
        counted(words as u64, "word"),
        match new {
            1 => "1 copy".to_string(),
            new => format!("{} copies", count(new as u64)),
        },
        if known > 0 { format!(", {} accepted", count(known as u64)) } else { String::new() },
        if allowed > 0 { format!(", {} allowed", count(allowed as u64)) } else { String::new() },
        bytes(tree.bytes as f64),
        started.elapsed().as_secs_f64(),
    ));
    let failing = match check.fail_on.as_deref() {
        Some("none") => 0,
        Some("any") => copies.len(),
        _ => new,
    };
    Ok(match (tree.failed.is_empty(), failing > check.max_findings.unwrap_or(0)) {
        (false, _) => Status::Failed,
        (true, true) => Status::Found,
        (true, false) => Status::Done,
    })
}

fn cannot_write(error: io::Error) -> Error {
    Error::io("cannot write results", error)
}

/// Where reports go. Files are tried first.
fn targets(given: &ArgMatches, config: &Config) -> Result<Vec<(Target, Option<OutFile>)>, Error> {
    let asked: Option<Vec<Target>> = given.get_many::<Target>("report").map(|targets| targets.cloned().collect());
    let targets = match (asked, &config.check.report) {
        (Some(targets), _) => targets,
        (None, Some(typed)) => {
            let parse = |typed: &String| {
                let mut target = Target::parse(typed).map_err(|error| {
                    let path = config.path.as_deref().unwrap_or(Path::new(config::NAME)).display();
                    usage_error(format!("{path}: report '{typed}': {error}"))
                })?;
                target.file = target.file.map(|file| config.folder.join(file));
                Ok(target)
            };
            typed.iter().map(parse).collect::<Result<_, Error>>()?
        }
        (None, None) => vec![Target { format: &FORMATS[0], file: None }],
    };
    if targets.iter().filter(|target| target.file.is_none()).count() > 1 {
        return Err(usage_error("one report can go to standard output; the others need FORMAT=FILE"));
    }
    let open = |target: Target| {
        let file = target.file.as_deref().map(|path| OutFile::create("report", path, &[])).transpose()?;
        Ok((target, file))
    };
    targets.into_iter().map(open).collect()
}

fn write(targets: Vec<(Target, Option<OutFile>)>, outcome: &Outcome) -> Result<(), Error> {
    for (target, file) in targets {
        let text = (target.format.render)(outcome);
        match file {
            Some(file) => file.write(&anstream::adapter::strip_str(&text).to_string())?,
            None => anstream::stdout().lock().write_all(text.as_bytes()).map_err(cannot_write)?,
        }
    }
    Ok(())
}

fn selection(given: &ArgMatches, check: &Check, config: &Config) -> Result<Selection, Error> {
    let mut asked = prose::Options::default();
    for word in check.count.iter().flatten() {
        match word.as_str() {
            "code" => asked.code = true,
            "links" => asked.links = true,
            "front-matter" => asked.front_matter = true,
            "licences" => asked.licences = true,
            "contents" => asked.contents = true,
            other => {
                let names = COUNTED.map(|(name, _)| name).join(", ");
                return Err(usage_error(format!("dedup.toml: count has '{other}'; expected some of {names}")));
            }
        }
    }
    let typed: Vec<String> = given.get_many::<String>("ignore").into_iter().flatten().cloned().collect();
    let here = Config::default().globs(&typed).map_err(|error| usage_error(format!("--ignore: {error}")))?;
    let there = config.globs(&check.ignore).map_err(usage_error)?;
    Ok(Selection {
        ignored: vec![here, there],
        hidden: given.get_flag("hidden"),
        ignore_files: !given.get_flag("no-ignore-files"),
        prose: asked,
    })
}

/// What is looked for: as little as any rule asks for.
fn options(check: &Check) -> Options {
    let threshold = |share: Option<f64>, default: Threshold| {
        share.and_then(|share| Threshold::new((share * 1e6).round() as u64, 1_000_000)).unwrap_or(default)
    };
    let defaults = Options::default();
    Options {
        min_words: check.min_words.unwrap_or(defaults.min_words),
        passage_similarity: threshold(check.passage_similarity, defaults.passage_similarity),
        paragraph_words: check.paragraph_words.unwrap_or(defaults.paragraph_words),
        paragraph_similarity: threshold(check.paragraph_similarity, defaults.paragraph_similarity),
        file_similarity: threshold(check.file_similarity, defaults.file_similarity),
    }
}

/// Whether one of the places changed; that one is looked at.
fn touched(copy: &mut Copy, changes: &Changes) -> bool {
    let touches = |place: &copies::Place| {
        changes.touch(Path::new(&place.path), place.stretch.start.line..=place.stretch.end.line)
    };
    match copy.places.each_ref().map(touches) {
        [_, true] => copy.primary = 1,
        [true, false] => copy.primary = 0,
        [false, false] => return false,
    }
    true
}

/// What the configuration says of some files.
struct Rules {
    allow: Vec<globset::GlobSet>,
    rules: Vec<(globset::GlobSet, config::Rule)>,
}

impl Rules {
    fn new(check: &Check, config: &Config) -> Result<Self, Error> {
        let globs = |globs: &[String]| config.globs(globs).map_err(usage_error);
        Ok(Rules {
            allow: check.allow.iter().map(|allow| globs(&allow.paths)).collect::<Result<_, _>>()?,
            rules: check
                .rule
                .iter()
                .map(|rule| Ok((globs(&rule.paths)?, rule.clone())))
                .collect::<Result<_, Error>>()?,
        })
    }

    /// Whether copies between these files are accepted.
    fn allow(&self, paths: [&str; 2]) -> bool {
        self.allow.iter().any(|globs| paths.iter().all(|path| globs.is_match(path)))
    }

    /// Whether a finding reaches what is asked of these files.
    fn reached(&self, paths: [&str; 2], finding: &Finding) -> bool {
        let words = finding.a.words.len().max(finding.b.words.len());
        let applies = |globs: &globset::GlobSet| paths.iter().any(|path| globs.is_match(path));
        self.rules.iter().filter(|(globs, _)| applies(globs)).all(|(_, rule)| {
            rule.min_words.is_none_or(|fewest| words >= fewest)
                && rule.similarity.is_none_or(|least| finding.similarity().value() >= least)
        })
    }
}
