//! What every command that reads documents has in common: which paths, how they are read, how the run goes.

use super::arguments::{self, Run};
use super::preparation::Tokenization;
use super::status::usage_error;
use crate::readable::count;
use neardups::source::{FieldPath, Format, PageText};
use neardups::{Error, engine, source};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is said of pages without a main text, after their number.
pub const FELL_BACK: &str = "without a main text to find, of which all text was read";

/// That no document was read is an error, unless it is allowed: a mistyped path must not pass for a clean corpus.
pub fn check_not_empty(allowed: bool, documents: u64, failed: u64, skipped: u64) -> Result<(), Error> {
    if documents > 0 || allowed {
        return Ok(());
    }
    let why = match (failed, skipped) {
        (0, 0) => "there is none in the input".to_string(),
        (1, 0) => "the only file or record failed".to_string(),
        (0, 1) => "the only file or record was skipped".to_string(),
        (failed, 0) => format!("{} files or records failed", count(failed)),
        (0, skipped) => format!("{} files or records were skipped", count(skipped)),
        (failed, skipped) => {
            format!("{} files or records failed, {} skipped", count(failed), count(skipped))
        }
    };
    Err(Error::Empty(format!("no document was read: {why} (--allow-empty accepts that)")))
}

/// The paths that were typed, or standard input. `more` is what the command reads besides.
pub fn paths(typed: &[PathBuf], more: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let stdin = |path: &&PathBuf| path.as_os_str() == "-";
    let elsewhere = more.iter().filter(stdin).count();
    if typed.iter().filter(stdin).count() + elsewhere > 1 {
        return Err(usage_error("standard input (-) can be read only once"));
    }
    if !typed.is_empty() {
        return Ok(typed.to_vec());
    }
    if elsewhere > 0 || std::io::stdin().is_terminal() {
        return Err(usage_error(
            "nothing to scan: name files or folders, or pipe documents in (dedup scan --help says more)",
        ));
    }
    Ok(vec![PathBuf::from("-")])
}

/// How they are to be read.
pub fn source_options(typed: &arguments::Input, temp_dir: Option<&Path>) -> Result<source::Options, Error> {
    let fields = [("text-field", &typed.text_field), ("id-field", &typed.id_field)];
    if let (format @ ("text" | "lines" | "html" | "warc"), Some((field, _))) =
        (typed.format.as_str(), fields.iter().find(|(_, field)| field.is_typed))
    {
        return Err(usage_error(format!("--{field} has no effect with --format {format}: it has no fields")));
    }
    if let (PageText::Main, format @ ("text" | "lines" | "jsonl" | "csv" | "tsv")) =
        (typed.content, typed.format.as_str())
    {
        return Err(usage_error(format!("--content main has no effect with --format {format}: it has no pages")));
    }
    // Found out now rather than when standard input has filled what memory there is for it.
    if let Some(folder) = temp_dir {
        tempfile::tempfile_in(folder)
            .map_err(|e| Error::io(format!("cannot write temporary files in {}", folder.display()), e.kind().into()))?;
    }
    let options = source::Options {
        format: Format::by_name(&typed.format)?,
        text_field: FieldPath::parse("text-field", &typed.text_field.value)?,
        id_field: FieldPath::parse("id-field", &typed.id_field.value)?,
        page_text: typed.content,
        max_record: typed.max_record.try_into().unwrap_or(usize::MAX),
        max_expansion: typed.max_expansion,
        keep_rejected: typed.rejects.is_some(),
        hidden: typed.hidden,
        temp_dir: temp_dir.map(Path::to_path_buf),
        ..source::Options::default()
    };
    options.validate()?;
    Ok(options)
}

/// How the run is to go, with these tokens.
pub fn engine_options(typed: &Run, tokens: &Tokenization) -> engine::Options {
    let defaults = engine::Options::default();
    engine::Options {
        tokenizer: Arc::clone(&tokens.tokenizer),
        seed: typed.seed.map_or(defaults.seed, |seed| seed.value),
        threads: typed.threads,
        memory: typed.memory.map_or(defaults.memory, |memory| memory.value),
        temp_dir: typed.temp_dir.clone(),
    }
}
