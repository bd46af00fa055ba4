//! What `dedup check` prints besides reports: messages for people, and the resolved settings as `dedup.toml`.

use super::super::problems::MAX_PRINTED;
use super::super::terminal::{Terminal, bytes, count, counted};
use super::arguments::Arguments;
use super::targets::cannot_write;
use crate::cli::standard_output::refuse_closed_output;
use crate::readable::shell_word;
use neardups::Error;
use neardups::check::baseline::{Entry, Outside, Renamed, Update};
use neardups::check::config::{Config, NAME, Settings};
use neardups::check::{Allow, List, Outcome, Tree, Unused};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// How copies can be accepted, for users without a baseline.
const ACCEPTING: &str = "to accept a copy, use --baseline FILE --update-baseline, [[check.allow]] in dedup.toml, or \
    dedup:ignore-start and dedup:ignore-end";

/// Warns that the baseline does not exist, or that it is not staged.
pub fn missing_baseline(baseline: &Path, staged: bool, terminal: &Terminal) {
    let why = match staged && baseline.exists() {
        true => "not staged: nothing is accepted (stage it with git add, or let git ignore it)",
        false => "no such baseline: nothing is accepted (--update-baseline creates it)",
    };
    terminal.warning(&format!("{}: {why}", baseline.display()));
}

/// Reports files that could not be read, and notices about the others.
pub fn tree(tree: &Tree, terminal: &Terminal) {
    limited(&tree.failed, |failed| terminal.failed(failed));
    limited(&tree.notices, |notice| terminal.warning(notice));
}

/// Warns of globs, texts and rules without effect.
pub fn unused(unused: &[Unused], config: &Config, terminal: &Terminal) {
    let name = config.path.as_deref().unwrap_or(Path::new("")).to_string_lossy();
    for Unused { list, glob } in unused {
        let key = match list {
            List::IgnoreHere => "--ignore".to_string(),
            List::Ignore => format!("{name}: ignore"),
            List::Allow => format!("{name}: [[check.allow]]"),
            List::Rules => format!("{name}: [[check.rule]]"),
            List::Texts => {
                let text = words_of(glob);
                let why = "is in no page, word for word: correct or remove it";
                terminal.warning(&format!("{name}: [[check.allow]] text = '{text}' {why}"));
                continue;
            }
        };
        let is_negated = matches!(list, List::IgnoreHere | List::Ignore) && glob.starts_with('!');
        let why = if is_negated { "includes no page again that others exclude" } else { "matches no page" };
        terminal.warning(&format!("{key} '{glob}' {why}: correct or remove it"));
    }
    config.notices().iter().for_each(|notice| terminal.warning(notice));
}

/// Warns of entries that accept no copy.
pub fn idle(outcome: &Outcome, config: &Config, terminal: &Terminal) {
    let name = config.path.as_deref().unwrap_or(Path::new("")).to_string_lossy();
    let globs = |list: &[String]| list.iter().map(|glob| format!("'{glob}'")).collect::<Vec<_>>().join(", ");
    let message = |Allow { paths, between, reason, .. }: &Allow| {
        let files = match between.is_empty() {
            true => format!("paths {}", globs(paths)),
            false => format!("between {}", between.iter().map(|list| globs(list)).collect::<Vec<_>>().join(" and ")),
        };
        let reason = words_of(reason);
        format!(
            "{name}: [[check.allow]] {files} ({reason}) accepts no copy in this run: remove it if it is not needed any more"
        )
    };
    let messages: Vec<String> = outcome.idle.iter().map(message).collect();
    limited(&messages, |message| terminal.warning(message));
}

/// The first words of a text of a configuration, on one line.
fn words_of(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(SHOWN_WORDS + 1).collect();
    let more = if words.len() > SHOWN_WORDS { " …" } else { "" };
    words[..words.len().min(SHOWN_WORDS)].join(" ") + more
}

/// Number of words of a text that are shown.
const SHOWN_WORDS: usize = 12;

/// Reports the update of the baseline, and a reason that no entry has.
pub fn update(update: &Update, baseline: &Path, has_reason: bool, terminal: &Terminal) {
    let baseline = baseline.display();
    if let Update::Pruned { dropped, kept, needed, .. } = *update {
        let kept = if kept > 0 { format!(", {} kept", count(kept as u64)) } else { String::new() };
        terminal.line(&match dropped {
            0 if needed == 0 => format!("no entry of {baseline} is stale: nothing dropped{kept}"),
            0 => format!("nothing dropped from {baseline}{kept}"),
            dropped => format!("{} dropped from {baseline}{kept}", counted(dropped as u64, "stale entry")),
        });
        needed_kept(needed, terminal);
        return;
    }
    let Update::Written { accepted, new, kept, dropped, needed, left, .. } = *update else {
        terminal.warning(&format!("{baseline}: not written, because some files could not be read"));
        return;
    };
    let part = |number: usize, what: &str| match number {
        0 => String::new(),
        number => format!(", {} {what}", count(number as u64)),
    };
    let is_unused = has_reason && new == 0;
    let new = part(new, "new");
    let (kept, dropped) = (part(kept, "kept for pages that were not checked"), part(dropped, "dropped"));
    terminal.line(&format!("{} accepted in {baseline}{new}{kept}{dropped}", counted(accepted as u64, "copy")));
    if is_unused {
        terminal.line(&format!("no copy is newly accepted, so --reason has no effect: edit \"reason\" in {baseline}"));
    }
    needed_kept(needed, terminal);
    if left > 0 {
        let others = counted(left as u64, if accepted > 0 { "other copy" } else { "copy" });
        terminal.line(&format!(
            "{others} not accepted: --update-baseline without --accept, --since and --staged accepts all"
        ));
    }
}

/// Reports the stale entries that an update kept.
fn needed_kept(needed: usize, terminal: &Terminal) {
    if needed > 0 {
        let (entries, why) = (counted(needed as u64, "stale entry"), why_needed(needed));
        terminal.line(&format!("{entries} kept, because {why}, then use --prune-baseline"));
    }
}

/// Why some stale entries are needed, and what to do about it.
fn why_needed(needed: usize) -> &'static str {
    match needed {
        1 => "it shows where a copy is new: remove or accept that copy",
        _ => "they show where copies are new: remove or accept these copies",
    }
}

/// Number of pages with many copies that are listed, and the number of findings above which they are.
const WORST_PAGES: usize = 5;
const MANY_FINDINGS: usize = 10;

/// Warns of stale baseline entries and of pages without words, and prints the counts. `is_listed` says whether the report on standard output
/// lists entries that make the check fail.
pub fn summary(outcome: &Outcome, baseline: Option<&Path>, is_listed: bool, time: Duration, terminal: &Terminal) {
    stale(outcome, baseline, is_listed, terminal);
    if let Some(baseline) = baseline.filter(|_| outcome.is_elsewhere) {
        terminal.warning(&format!(
            "{}: none of the pages that it accepts is in this repository: their paths are relative to the folder of the file",
            baseline.display()
        ));
    }
    if let Some(baseline) = baseline.filter(|_| outcome.unplaced > 0) {
        let which = format!("it is not known which places of {} are new", counted(outcome.unplaced as u64, "copy"));
        match outcome.lacks_pages {
            true => terminal.warning(&format!(
                "{}: has no list of pages, so {which}: --update-baseline adds it, or use --since",
                baseline.display()
            )),
            false => terminal.line(&format!("{which}, because all their pages were there before; --since shows it")),
        }
    }
    if let (Some(renamed), Some(baseline)) = (outcome.renamed.first(), baseline) {
        self::renamed(renamed, outcome.renamed.len() - 1, baseline, terminal);
    }
    if let (Some(outside), Some(baseline)) = (&outcome.outside, baseline) {
        self::outside(outside, baseline, terminal);
    }
    if outcome.pages > 0 && outcome.words == 0 {
        let pages = counted(outcome.pages as u64, "page");
        terminal.warning(&format!("{pages} without words that count: nothing was compared"));
    }
    if !outcome.data.is_empty() {
        let (files, named) = (counted(outcome.data.len() as u64, "file"), first_of(&outcome.data));
        terminal.line(&format!("{files} not read, because their names are those of data files: {named}"));
    }
    if outcome.cut_short > 0 {
        let pages = match outcome.cut_short {
            1 => "1 page is".to_string(),
            many => format!("{} pages are", count(many as u64)),
        };
        terminal.line(&format!("{pages} so repetitive that only a part was compared"));
    }
    if outcome.reported().nth(MANY_FINDINGS).is_some() {
        terminal.line("pages with the most copied words:");
        outcome.worst_pages(WORST_PAGES).iter().for_each(|page| terminal.line(&format!("  {}", page.line())));
    }
    let by_kind = outcome.by_kind();
    if !by_kind.is_empty() {
        terminal.line(&by_kind);
    }
    let (read, seconds) = (bytes(outcome.bytes as f64), time.as_secs_f64());
    terminal.line(&format!("{}; {read} in {seconds:.2} s", outcome.summary()));
    let unreported = outcome.unreported();
    if !unreported.is_empty() {
        terminal.line(&format!("not shown: {unreported}; --grade note shows all"));
    }
    if outcome.fails() && baseline.is_none() {
        terminal.line(ACCEPTING);
    }
}

/// Maximum number of pages that are named in a message.
const NAMED_PAGES: usize = 3;

/// The first of some pages, and how many more there are.
fn first_of(pages: &[String]) -> String {
    let mut named: Vec<String> = pages.iter().take(NAMED_PAGES).cloned().collect();
    if pages.len() > NAMED_PAGES {
        named.push(counted((pages.len() - NAMED_PAGES) as u64, "more page"));
    }
    named.join(", ")
}

/// Reports that copies are accepted in a page, and in so many more, that the baseline does not name.
fn renamed(Renamed { page, gone, .. }: &Renamed, more: usize, baseline: &Path, terminal: &Terminal) {
    let baseline = baseline.display();
    terminal.line(&match more {
        0 => format!(
            "{page} has an accepted copy, because it is taken for {gone}, which {baseline} names and which is gone: --update-baseline \
             writes the new name; if it is a new copy, remove the copy"
        ),
        _ => format!(
            "{page} and {} have accepted copies, because they are taken for {gone} and others, which {baseline} names and which are gone: \
             --update-baseline writes the new names; if one is a new copy, remove the copy",
            counted(more as u64, "more page")
        ),
    });
}

/// Reports that pages were not checked when the baseline was written, and the command after which they are known.
fn outside(outside: &Outside, baseline: &Path, terminal: &Terminal) {
    let Outside { findings, pages, roots, .. } = outside;
    let (baseline, roots, named) = (baseline.display(), roots.join(" and "), first_of(pages));
    let (copies, are) = (counted(*findings as u64, "copy"), if *findings == 1 { "is" } else { "are" });
    terminal.line(&format!(
        "{copies} {are} in pages that {baseline} does not cover, as it was written for {roots}: {named}"
    ));
    terminal.line(&format!(
        "to accept all copies of this run and cover these pages: {}",
        command_with("--update-baseline")
    ));
}

/// The command that was given, as typed in a shell, with one more option.
fn command_with(option: &str) -> String {
    let arguments = std::env::args_os().skip(1).map(|argument| shell_word(&argument.to_string_lossy()));
    let mut words: Vec<String> = std::iter::once("dedup".to_string()).chain(arguments).collect();
    // An option stands before `--`.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, option.to_string());
    words.join(" ")
}

/// Names the stale entries: all that make the check fail, unless a report does, else the first.
fn stale(outcome: &Outcome, baseline: Option<&Path>, is_listed: bool, terminal: &Terminal) {
    let baseline = baseline.unwrap_or(Path::new("")).display();
    let entries: Vec<String> = outcome.stale.iter().map(Entry::paths_and_text).collect();
    let warn = |what: String| terminal.warning(&format!("{baseline}: {what}"));
    // The explanation is long: it is given once, then a line for each.
    let line = |entry: &str| terminal.line(&format!("  {entry}"));
    let print = |limit: bool| match &outcome.stale[..] {
        [] => {}
        [entry] => warn(entry.stale_message()),
        many => {
            warn(Entry::stale_messages(many.len()));
            match limit {
                true => limited(&entries, line),
                false => entries.iter().for_each(|entry| line(entry)),
            }
        }
    };
    let (needed, droppable) = (outcome.needed, entries.len() - outcome.needed);
    match outcome.failing_stale().len() {
        0 => {
            print(true);
            match droppable {
                0 => {}
                _ if needed == 0 => terminal.line("--prune-baseline drops stale entries"),
                number => terminal.line(&format!("--prune-baseline drops {} of them", count(number as u64))),
            }
        }
        number => {
            if !is_listed {
                print(false);
            }
            let (entries, make) = (counted(number as u64, "stale entry"), if number == 1 { "makes" } else { "make" });
            let hint = match droppable {
                0 => String::new(),
                1 if number == 1 => ": --prune-baseline drops it".into(),
                all if all == number => ": --prune-baseline drops them".into(),
                some => format!(": --prune-baseline drops {} of them", count(some as u64)),
            };
            terminal.line(&format!("{entries} {make} the check fail (--fail-on-stale){hint}"));
        }
    }
    // An update says so itself.
    if needed > 0 && !outcome.update.as_ref().is_some_and(|update| *update != Update::Refused) {
        let (entries, why) = (counted(needed as u64, "stale entry"), why_needed(needed));
        terminal.line(&format!("--prune-baseline keeps {entries}, because {why} first"));
    }
}

/// Prints the first messages of a kind, and the number of the others.
fn limited(messages: &[String], mut print: impl FnMut(&str)) {
    messages.iter().take(MAX_PRINTED).for_each(|message| print(message));
    if messages.len() > MAX_PRINTED {
        print(&format!("{} more of this kind", count((messages.len() - MAX_PRINTED) as u64)));
    }
}

/// Prints complete settings as a file for the folder of the configuration or, without one, the current folder. Warns of options that
/// cannot be written there.
///
/// # Errors
/// A folder does not exist, or standard output cannot be written.
pub fn config(arguments: &Arguments, settings: Settings, config: &Config, terminal: &Terminal) -> Result<(), Error> {
    terminal.line(&match &config.path {
        Some(path) => format!("{} is read; printed paths are relative to its folder", path.display()),
        None if arguments.no_config => "printed paths are relative to the current folder".to_string(),
        None => format!("no {NAME} found; printed paths are relative to the current folder"),
    });
    let (here, base) = (Config::default().base()?, config.base()?);
    let mut settings = settings.relative_to(&base, &here);
    // A negated glob re-includes only what its own list excludes.
    let has_negated = arguments.ignore.iter().chain(&settings.ignore).any(|glob| glob.starts_with('!'));
    if here == base && !has_negated {
        settings.ignore.extend(arguments.ignore.iter().cloned());
    } else {
        let why = if has_negated {
            "a negated glob works only within its own list"
        } else {
            "globs in the file are relative to another folder"
        };
        let warn = |glob: &String| terminal.warning(&format!("--ignore '{glob}' is not printed: {why}"));
        arguments.ignore.iter().for_each(warn);
    }
    // Options that select files but have no key in the file.
    let without_keys = [
        ("hidden", arguments.walk.hidden),
        ("no-ignore-files", !arguments.walk.ignore_files),
        ("since", arguments.since.is_some()),
        ("staged", arguments.staged),
    ];
    for (name, _) in without_keys.iter().filter(|(_, is_given)| *is_given) {
        terminal.warning(&format!("--{name} is not printed: {NAME} has no key for it"));
    }
    refuse_closed_output()?;
    io::stdout().write_all(settings.to_toml()?.as_bytes()).map_err(cannot_write)
}
