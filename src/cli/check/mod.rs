//! `dedup check`: the gate for copied docs.
//!
//! ```text
//! command.rs   what can be asked
//! config.rs    what was asked: dedup.toml, and options over it
//! print.rs     what was asked, as dedup.toml
//! values.rs    values of dedup.toml with their places
//! globs.rs     which files are meant
//! rules.rs     which findings count
//! walk.rs      folders → files, without those that .gitignore leaves out
//! pages.rs     files → prose → words with places
//!              neardups::check::find::find
//! paths.rs     ways from one place to another
//! copies.rs    copies as reports tell them
//! baseline.rs  which of them are accepted
//! since.rs     which of them a change touches
//! report/      a file for each who reads them
//! targets.rs   where reports go, and what they must not replace
//! unused.rs    what of the configuration does nothing
//! ```

#[path = "../../check/baseline.rs"]
pub(super) mod baseline;
#[path = "arguments.rs"]
mod command;
#[path = "../../check/config.rs"]
pub(super) mod config;
#[path = "../../check/finding.rs"]
mod copies;
#[path = "../../check/globs.rs"]
mod globs;
#[path = "../../check/pages.rs"]
mod pages;
#[path = "../../check/paths.rs"]
mod paths;
mod print;
#[path = "../../check/report/mod.rs"]
mod report;
#[path = "../../check/rules.rs"]
mod rules;
#[path = "../../check/since.rs"]
mod since;
mod targets;
#[path = "../../check/unused.rs"]
mod unused;
#[path = "../../check/config/values.rs"]
mod values;
#[path = "../../check/walk.rs"]
mod walk;

pub use command::command;

use super::arguments::{bytes, count, counted};
use super::problems::PRINTED;
use super::terminal::{Terminal, escaped};
use super::{Status, usage_error};
use baseline::{Baseline, Entry};
use clap::ArgMatches;
use config::{Check, Config};
use copies::Copy;
use neardups::Error;
use neardups::check::find::{Document, Finding, Found, Judgement, Options, find_judged};
use neardups::prose;
use neardups::similarity::Threshold;
use pages::{Selection, Tree};
use report::{FORMATS, Outcome, Target};
use rules::{Rules, Verdict};
use since::Changes;
use std::path::{Path, PathBuf};
use std::time::Instant;
use targets::{Targets, Typed};
use walk::Walk;

/// What can be done about copies, for who has not done it yet.
const ACCEPTING: &str = "a copy can be accepted: with --baseline FILE --update-baseline, [[check.allow]] in dedup.toml, or between \
    dedup:ignore-start and dedup:ignore-end";

/// Checks.
pub fn run(given: &ArgMatches) -> Result<Status, Error> {
    let started = Instant::now();
    let config = match given.get_flag("no-config") {
        true => Config::default(),
        false => Config::find(given.get_one::<PathBuf>("config").map(PathBuf::as_path))?,
    };
    let (check, terminal) = (resolve(given, &config), Terminal::new(given.get_flag("quiet"), None));
    if given.get_flag("print-config") {
        return print::print(given, check, &config, &terminal);
    }
    let update = given.get_flag("update-baseline");
    let typed = Typed { report: given.contains_id("report"), baseline: given.contains_id("baseline") };
    let (targets, rules) = (Targets::new(&check, &config, typed, update)?, Rules::new(&check, &config)?);
    let selection = selection(given, &check, &config, &targets)?;
    let baseline = match &check.baseline {
        None if update => return Err(usage_error("--update-baseline writes the file that --baseline names")),
        path => path.as_deref().map(|path| Baseline::read(path, update, &terminal)).transpose()?,
    };
    let changes = given.get_one::<String>("since").map(|reference| Changes::since(reference)).transpose()?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(given.get_one::<u64>("threads").map_or(0, |&threads| threads as usize))
        .build()
        .map_err(|error| Error::Full(format!("cannot start threads: {error}")))?;

    let tree = pool.install(|| pages::read(check.paths.as_deref().unwrap_or_default(), &selection));
    tell(&tree, &terminal);
    targets.spare(&check, &tree)?;
    unused::tell(&config, &check, &selection, &tree, &terminal)?;
    let unknown = |changes: &Changes| tree.pages.iter().find_map(|page| Some((page, changes.unknown(&page.place)?)));
    if let Some((page, why)) = changes.as_ref().and_then(unknown) {
        return Err(usage_error(format!("--since: {} {}", escaped(&page.path), escaped(&why))));
    }
    let scopes = rules.of(&tree.pages);
    let documents: Vec<Document> =
        tree.pages.iter().zip(&scopes.of_page).map(|(page, &scope)| page.document(scope)).collect();
    let known = baseline.as_ref().map(Baseline::known);
    // What is accepted is chosen before what is as long: however pages are called, the same pairs are told.
    let judge = |finding: &Finding| {
        let number = scopes.verdict(finding)? as usize;
        let is_known = known.as_ref().is_some_and(|known| known.has(&tree.pages, finding));
        Some(Judgement { number, rank: usize::from(!is_known) })
    };
    let mut found = pool.install(|| find_judged(&documents, &options(&check), judge));
    let all = found.findings.len();
    found.findings.retain(|finding| scopes.verdict(finding) == Some(Verdict::Told));
    let allowed = all - found.findings.len();
    let mut copies = Copy::all(&tree.pages, &found.findings);
    let roots = check.paths.as_deref().unwrap_or_default();
    let mut stale = match &baseline {
        Some(baseline) => {
            let is_new = |copy: &Copy| changes.as_ref().is_some_and(|changes| touches(copy, changes).contains(&true));
            baseline.settle(&mut copies, is_new, &tree, roots, targets.baseline.as_ref(), &terminal)?
        }
        None => Vec::new(),
    };
    if let Some(changes) = &changes {
        copies.retain_mut(|copy| touched(copy, changes));
        // What a change does not touch was not asked for.
        stale.clear();
    }
    let words: usize = documents.iter().map(|document| document.words.len()).sum();
    let any = check.fail_on.as_deref() == Some("any");
    let root = report::repository();
    let outcome = Outcome { copies: &copies, stale: &stale, allowed, pages: tree.pages.len(), words, any, root };
    match targets.write(&outcome) {
        // Whoever reads has seen enough; what was found counts all the same.
        Err(error) if error.is_closed_pipe() => {}
        written => written?,
    }
    tell_stale(&stale, check.baseline.as_deref(), &terminal);
    tell_bounds(&found, &terminal);
    terminal.line(&format!(
        "{}; {} in {:.2} s",
        outcome.summary(),
        bytes(tree.bytes as f64),
        started.elapsed().as_secs_f64()
    ));
    let failing = match check.fail_on.as_deref() {
        Some("none") => 0,
        _ => outcome.told().count(),
    };
    let fails = failing > check.max_findings.unwrap_or(0);
    if fails && baseline.is_none() {
        terminal.line(ACCEPTING);
    }
    // Who looks at nothing finds nothing: a mistyped path must not pass.
    if tree.pages.is_empty() {
        return Err(Error::Empty("no pages were read: name folders of documentation, or pages".into()));
    }
    if words == 0 {
        let pages = counted(tree.pages.len() as u64, "page");
        return Err(Error::Empty(format!("there are no words in {pages}: nothing was compared")));
    }
    let found = if fails { Status::Found } else { Status::Done };
    Ok(found.max(Status::of_input(tree.failed.len() as u64)))
}

/// What was asked, options over configuration over defaults.
fn resolve(given: &ArgMatches, config: &Config) -> Check {
    let file = &config.check;
    let number = |name: &str, own: Option<usize>, default: usize| {
        given.get_one::<u64>(name).map(|&n| n as usize).or(own).unwrap_or(default)
    };
    let share = |name: &str, own: Option<f64>, default: Threshold| {
        given.get_one(name).copied().or(own).unwrap_or(default.as_f64())
    };
    let list = |name: &str| given.get_many::<String>(name).map(|list| list.cloned().collect::<Vec<_>>());
    let from_config = |path: &PathBuf| config.folder.join(path);
    let paths = given.get_many::<PathBuf>("paths").map(|paths| paths.cloned().collect());
    let paths = paths.or_else(|| file.paths.as_ref().map(|paths| paths.iter().map(from_config).collect()));
    let typed = given.get_many::<Target>("report").map(|targets| targets.map(Target::to_string).collect());
    let from_file = |report: &String| match Target::parse(report) {
        Ok(Target { format, file: Some(file) }) => Target { format, file: Some(config.folder.join(file)) }.to_string(),
        _ => report.clone(),
    };
    let report: Option<Vec<String>> =
        typed.or_else(|| file.report.as_ref().map(|reports| reports.iter().map(from_file).collect()));
    let defaults = Options::default();
    Check {
        paths: Some(paths.unwrap_or_else(|| vec![PathBuf::from(".")])),
        ignore: file.ignore.clone(),
        min_words: Some(number("min-words", file.min_words, defaults.min_words)),
        passage_similarity: Some(share("passage-similarity", file.passage_similarity, defaults.passage_similarity)),
        paragraph_words: Some(number("paragraph-words", file.paragraph_words, defaults.paragraph_words)),
        paragraph_similarity: Some(share(
            "paragraph-similarity",
            file.paragraph_similarity,
            defaults.paragraph_similarity,
        )),
        file_similarity: Some(share("file-similarity", file.file_similarity, defaults.file_similarity)),
        count: Some(list("count").or_else(|| file.count.clone()).unwrap_or_default()),
        baseline: given.get_one("baseline").cloned().or_else(|| file.baseline.as_ref().map(from_config)),
        report: Some(report.unwrap_or_else(|| vec![FORMATS[0].name.into()])),
        fail_on: Some(given.get_one("fail-on").cloned().or_else(|| file.fail_on.clone()).unwrap_or("new".into())),
        max_findings: Some(number("max-findings", file.max_findings, 0)),
        allow: file.allow.clone(),
        rule: file.rule.clone(),
    }
}

fn tell(tree: &Tree, terminal: &Terminal) {
    limited(&tree.failed, |failed| terminal.failed(failed));
    limited(&tree.notices, |notice| terminal.warning(notice));
}

fn tell_stale(stale: &[Entry], baseline: Option<&Path>, terminal: &Terminal) {
    let baseline = baseline.unwrap_or(Path::new("")).display();
    let message = |Entry { paths: [a, b], text, .. }: &Entry| {
        format!(
            "{baseline}: stale: accepted, but not found in this run (gone, edited, or left out by a rule or an option): {a} and {b}: {text}"
        )
    };
    let messages: Vec<String> = stale.iter().map(message).collect();
    limited(&messages, |message| terminal.warning(message));
    if !stale.is_empty() {
        terminal.line("--update-baseline drops stale entries");
    }
}

fn tell_bounds(found: &Found, terminal: &Terminal) {
    if found.cut_short > 0 {
        let pages = match found.cut_short {
            1 => "1 page is".to_string(),
            many => format!("{} pages are", count(many as u64)),
        };
        terminal.line(&format!("{pages} so full of repeats that not all of them were compared"));
    }
}

/// Prints the first messages of a kind, and how many more there are.
fn limited(messages: &[String], mut print: impl FnMut(&str)) {
    messages.iter().take(PRINTED).for_each(|message| print(message));
    if messages.len() > PRINTED {
        print(&format!("{} more of this kind", count((messages.len() - PRINTED) as u64)));
    }
}

fn copies_of(number: usize) -> String {
    match number {
        1 => "1 copy".to_string(),
        many => format!("{} copies", count(many as u64)),
    }
}

fn selection(given: &ArgMatches, check: &Check, config: &Config, targets: &Targets) -> Result<Selection, Error> {
    let counts = |what: &str| check.count.iter().flatten().any(|word| word == what);
    let typed: Vec<String> = given.get_many::<String>("ignore").into_iter().flatten().cloned().collect();
    let here = Config::default().globs(&typed).map_err(|error| usage_error(format!("--ignore: {error}")))?;
    Ok(Selection {
        ignored: [here, config.globs(&check.ignore)?],
        written: targets.written(check),
        walk: Walk { hidden: given.get_flag("hidden"), ignore_files: !given.get_flag("no-ignore-files") },
        docstrings: counts("docstrings"),
        prose: prose::Options {
            code: counts("code"),
            links: counts("links"),
            front_matter: counts("front-matter"),
            licences: counts("licences"),
            contents: counts("contents"),
        },
    })
}

/// What is looked for in all files: rules ask for more.
fn options(check: &Check) -> Options {
    let threshold = |share: Option<f64>, default: Threshold| {
        share.and_then(|share| Threshold::new(((share * 1e6).round() as u64).max(1), 1_000_000)).unwrap_or(default)
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
    match touches(copy, changes) {
        [_, true] => copy.primary = 1,
        [true, false] => copy.primary = 0,
        [false, false] => return false,
    }
    true
}

/// Which of the places changed.
fn touches(copy: &Copy, changes: &Changes) -> [bool; 2] {
    copy.places.each_ref().map(|place| changes.touch(&place.page.place, &place.lines))
}
