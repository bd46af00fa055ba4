//! What of the configuration does nothing in a run: globs that find no page, rules that ask for what is asked for anyway.

use super::super::terminal::{Terminal, escaped};
use super::config::{Check, Config};
use super::globs::Globs;
use super::pages::{Selection, Tree};
use neardups::Error;
use neardups::check::Options;
use std::path::{Path, PathBuf};

/// Warns of it.
///
/// # Errors
/// The folder of the configuration cannot be found any more.
pub fn tell(
    config: &Config,
    check: &Check,
    selection: &Selection,
    tree: &Tree,
    terminal: &Terminal,
) -> Result<(), Error> {
    let name = config.path.as_deref().unwrap_or(Path::new("")).to_string_lossy().into_owned();
    let warn = |message: String| terminal.warning(&escaped(&message));
    let pages = tree.pages.iter().map(|page| page.place.as_path());
    let places: Vec<&Path> = pages.chain(tree.left_out.iter().map(PathBuf::as_path)).collect();
    let unused = |key: &str, globs: &Globs| {
        globs.find_nothing(&places).into_iter().for_each(|glob| warn(format!("{key} '{glob}' finds no page")));
    };
    let [typed, ignored] = &selection.ignored;
    // Where there is nothing at all, that is said.
    if !places.is_empty() {
        unused("--ignore", typed);
    }
    // Who names files asks for these, whatever is said of others.
    if !places.is_empty() && check.paths.iter().flatten().any(|path| path.is_dir()) {
        unused(&format!("{name}: ignore"), ignored);
        for allow in &check.allow {
            unused(&format!("{name}: [[check.allow]]"), &config.globs(&allow.paths)?);
        }
        for rule in &check.rule {
            unused(&format!("{name}: [[check.rule]]"), &config.globs(&rule.paths)?);
        }
    }
    let general = config.check.min_words.unwrap_or(Options::default().min_words);
    for words in check.rule.iter().filter_map(|rule| rule.min_words).filter(|&words| words < general) {
        warn(format!(
            "{name}: [[check.rule]] min-words = {words} does nothing for passages, of which all must have {general}: rules ask for more"
        ));
    }
    Ok(())
}
