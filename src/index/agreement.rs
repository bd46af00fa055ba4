//! Whether an index was made as a plan says.

use super::Plan;
use super::header::{seed_of, stored};
use crate::error::Error;
use serde_json::Value;
use std::path::Path;

/// Checks that the index at a path was made by this plan, if there is one whose header can be read. What else is wrong with the file shows
/// when it is opened.
///
/// # Errors
/// It was made with other settings.
pub fn check_plan(path: &Path, plan: &Plan) -> Result<(), Error> {
    let Ok(Some(stored)) = stored(path) else { return Ok(()) };
    stored.check(&Value::Object(plan.for_file(seed_of(&stored.header)).spec.identity_json()))
}
