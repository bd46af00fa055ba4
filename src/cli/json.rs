//! JSON objects as printed by several commands.

use neardups::algorithm::Value;
use serde::{Serialize, Serializer};

/// A record on one line.
pub fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("strings and numbers make JSON")
}

/// An object that keeps the order of its fields.
pub struct Ordered<'a>(pub Vec<(&'a str, &'a Value)>);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}
