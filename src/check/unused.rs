//! What of the configuration does nothing in a run: globs that find no page, rules that ask for what is asked for anyway.

use super::super::outputs::place;
use super::super::terminal::Terminal;
use super::config::{Check, Config};
use super::globs::Globs;
use super::pages::{Selection, Tree};
use neardups::Error;
use neardups::check::find::Options;
use std::path::Path;

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
    let warn = |message: String| terminal.warning(&message);
    let files = tree.pages.iter().map(|page| &page.place).chain(&tree.left_out);
    let passed_by = tree.passed_by.iter().map(|(place, is_folder)| (place.as_path(), *is_folder));
    let places: Vec<(&Path, bool)> = files.map(|place| (place.as_path(), false)).chain(passed_by).collect();
    // Where there is nothing at all, that is said.
    let is_empty = tree.pages.is_empty() && tree.left_out.is_empty();
    let unused = |key: &str, globs: &Globs| {
        globs.find_nothing(&places).into_iter().for_each(|glob| warn(format!("{key} '{glob}' finds no page")));
    };
    let [typed, ignored] = &selection.ignored;
    if !is_empty {
        unused("--ignore", typed);
    }
    if !is_empty && is_whole(config, check)? {
        unused(&format!("{name}: ignore"), ignored);
        let allow: Vec<String> = check.allow.iter().flat_map(|allow| allow.paths.clone()).collect();
        unused(&format!("{name}: [[check.allow]]"), &config.globs(&allow)?);
        let rules: Vec<String> = check.rule.iter().flat_map(|rule| rule.paths.clone()).collect();
        unused(&format!("{name}: [[check.rule]]"), &config.globs(&rules)?);
    }
    let general = config.check.min_words.unwrap_or(Options::default().min_words);
    for words in check.rule.iter().filter_map(|rule| rule.min_words).filter(|&words| words < general) {
        warn(format!(
            "{name}: [[check.rule]] min-words = {words} does nothing for passages, of which all must have {general}: \
             rules ask for more"
        ));
    }
    Ok(())
}

/// Whether a run looks at all that its configuration is about: at the paths in it, or at the folder that it is in.
fn is_whole(config: &Config, check: &Check) -> Result<bool, Error> {
    let own: Option<Vec<_>> =
        config.check.paths.as_ref().map(|paths| paths.iter().map(|path| config.folder.join(path)).collect());
    if own.is_some() && own == check.paths {
        return Ok(true);
    }
    let folder = config.base()?;
    Ok(check.paths.iter().flatten().any(|root| folder.starts_with(place(root))))
}
