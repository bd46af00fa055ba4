//! `dedup help CHAPTER`: a chapter of the guide. The help of a command is clap's.

use super::arguments::help::Arguments;
use super::generate;
use super::status::{Status, usage_error};
use neardups::Error;
use neardups::guide::Chapter;

/// Prints the chapter that was asked for.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let chapter = arguments.topic.as_deref().and_then(Chapter::by_name);
    let chapter = chapter.expect("clap accepts commands and chapters only, and the help of commands is clap's");
    match arguments.nested.first() {
        None => generate::print(chapter.text.as_bytes()),
        Some(nested) => {
            Err(usage_error(format!("'{}' is a chapter of the guide and has no command '{nested}'", chapter.name)))
        }
    }
}
