//! What fuzzing and its tests reach of the command line: the files that people write. Each is read, and returned as the
//! program writes it.

use super::check::{baseline, config};
use neardups::Error;
use std::path::Path;

/// The name that errors give the file.
pub const NAME: &str = "file";

/// `dedup.toml`.
///
/// # Errors
/// It is wrong: the error names the line.
pub fn config(bytes: &[u8]) -> Result<String, Error> {
    let check = config::parse(Path::new(NAME), bytes)?;
    Ok(toml::to_string(&config::File { check }).expect("what was read can be written"))
}

/// A baseline.
///
/// # Errors
/// It is not a baseline: the error names the line.
pub fn baseline(bytes: &[u8]) -> Result<String, Error> {
    baseline::parse(Path::new(NAME), bytes).map(baseline::rendered)
}
