//! What `dedup check` prints besides reports: messages for people, and what was asked as `dedup.toml`.

use super::super::problems::PRINTED;
use super::super::terminal::{Terminal, bytes, count, counted};
use super::arguments::Arguments;
use super::targets::cannot_write;
use neardups::Error;
use neardups::check::baseline::{Entry, Update};
use neardups::check::config::{Config, NAME, Settings};
use neardups::check::{List, Outcome, Tree, Unused};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// What can be done about copies, for those who have not done it yet.
const ACCEPTING: &str = "a copy can be accepted: with --baseline FILE --update-baseline, [[check.allow]] in dedup.toml, or between \
    dedup:ignore-start and dedup:ignore-end";

/// Warns that there is no such baseline.
pub fn lacking(baseline: &Path, terminal: &Terminal) {
    terminal.warning(&format!(
        "{}: there is no such baseline; nothing is accepted (--update-baseline makes it)",
        baseline.display()
    ));
}

/// Reports what could not be read, and warns of what people should know of the rest.
pub fn tree(tree: &Tree, terminal: &Terminal) {
    limited(&tree.failed, |failed| terminal.failed(failed));
    limited(&tree.notices, |notice| terminal.warning(notice));
}

/// Warns of globs and rules that do nothing.
pub fn unused(unused: &[Unused], config: &Config, terminal: &Terminal) {
    let name = config.path.as_deref().unwrap_or(Path::new("")).to_string_lossy();
    for Unused { list, glob } in unused {
        let key = match list {
            List::IgnoreHere => "--ignore".to_string(),
            List::Ignore => format!("{name}: ignore"),
            List::Allow => format!("{name}: [[check.allow]]"),
            List::Rules => format!("{name}: [[check.rule]]"),
        };
        terminal.warning(&format!("{key} '{glob}' finds no page"));
    }
    config.notices().iter().for_each(|notice| terminal.warning(notice));
}

/// Reports what became of the baseline.
pub fn update(update: &Update, baseline: &Path, terminal: &Terminal) {
    let baseline = baseline.display();
    let Update::Written { accepted, new, kept, dropped, .. } = *update else {
        terminal.warning(&format!("{baseline}: not written, because not all files could be read"));
        return;
    };
    let part = |number: usize, what: &str| match number {
        0 => String::new(),
        number => format!(", {} {what}", count(number as u64)),
    };
    let new = part(new, "of them new");
    let (kept, dropped) = (part(kept, "of pages that were not asked for kept"), part(dropped, "dropped"));
    terminal.line(&format!("{} accepted in {baseline}{new}{kept}{dropped}", counted(accepted as u64, "copy")));
}

/// Warns of what the baseline accepts and was not found; then come the numbers.
pub fn summary(outcome: &Outcome, baseline: Option<&Path>, time: Duration, terminal: &Terminal) {
    stale(&outcome.stale, baseline, terminal);
    if outcome.cut_short > 0 {
        let pages = match outcome.cut_short {
            1 => "1 page is".to_string(),
            many => format!("{} pages are", count(many as u64)),
        };
        terminal.line(&format!("{pages} so full of repeats that not all of them were compared"));
    }
    let (read, seconds) = (bytes(outcome.bytes as f64), time.as_secs_f64());
    terminal.line(&format!("{}; {read} in {seconds:.2} s", outcome.summary()));
    if outcome.fails() && baseline.is_none() {
        terminal.line(ACCEPTING);
    }
}

fn stale(stale: &[Entry], baseline: Option<&Path>, terminal: &Terminal) {
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

/// Prints the first messages of a kind, and how many more there are.
fn limited(messages: &[String], mut print: impl FnMut(&str)) {
    messages.iter().take(PRINTED).for_each(|message| print(message));
    if messages.len() > PRINTED {
        print(&format!("{} more of this kind", count((messages.len() - PRINTED) as u64)));
    }
}

/// Prints complete settings so that the same is asked when they stand in the folder of the configuration, or in the current one if there
/// is none. What cannot be asked there is named.
///
/// # Errors
/// A folder does not exist, or standard output cannot be written.
pub fn config(arguments: &Arguments, settings: Settings, config: &Config, terminal: &Terminal) -> Result<(), Error> {
    terminal.line(&match &config.path {
        Some(path) => format!("{} is read; what is printed starts from its folder", path.display()),
        None if arguments.no_config => "what is printed starts from the current folder".to_string(),
        None => format!("there is no {NAME}; what is printed starts from the current folder"),
    });
    let (here, base) = (Config::default().base()?, config.base()?);
    let mut settings = settings.relative_to(&base, &here);
    // Such a glob takes back what those of its own list leave out, and no others.
    let takes_back = arguments.ignore.iter().chain(&settings.ignore).any(|glob| glob.starts_with('!'));
    if here == base && !takes_back {
        settings.ignore.extend(arguments.ignore.iter().cloned());
    } else {
        let why = if takes_back { "what ! takes back is of its own list" } else { "globs start from elsewhere there" };
        let warn = |glob: &String| terminal.warning(&format!("--ignore '{glob}' is not printed: {why}"));
        arguments.ignore.iter().for_each(warn);
    }
    // Options that the file has no keys for, and that say what is checked.
    let without_keys = [
        ("hidden", arguments.walk.hidden),
        ("no-ignore-files", !arguments.walk.ignore_files),
        ("since", arguments.since.is_some()),
    ];
    for (name, _) in without_keys.iter().filter(|(_, is_given)| *is_given) {
        terminal.warning(&format!("--{name} is not printed: {NAME} has no key for it"));
    }
    io::stdout().write_all(settings.to_toml()?.as_bytes()).map_err(cannot_write)
}
