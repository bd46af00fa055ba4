//! How evenly fingerprints are distributed, as records and in words.

use super::terminal::{count, counted};
use neardups::hamming::Distribution;
use serde::Serialize;

/// The field `distribution` of a record.
#[derive(Serialize)]
pub struct Spread<'a> {
    fingerprints: u64,
    ones_least: f64,
    ones_mean: f64,
    ones_most: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ones: Option<&'a [f64]>,
    tables: u64,
    expected_of_a_key: f64,
    most_of_a_key: u64,
    crowded_keys: u64,
}

impl<'a> Spread<'a> {
    /// Without the share of each bit.
    pub fn brief(of: &'a Distribution) -> Self {
        let [ones_least, ones_mean, ones_most] = of.ones_range();
        Spread {
            fingerprints: of.fingerprints,
            ones_least,
            ones_mean,
            ones_most,
            ones: None,
            tables: of.tables,
            expected_of_a_key: of.expected_of_a_key,
            most_of_a_key: of.most_of_a_key,
            crowded_keys: of.crowded_keys,
        }
    }

    /// With the share of each bit.
    pub fn whole(of: &'a Distribution) -> Self {
        Spread { ones: Some(&of.ones), ..Spread::brief(of) }
    }
}

/// One line for people.
pub fn in_words(of: &Distribution) -> String {
    let [least, _, most] = of.ones_range();
    let expected = of.expected_of_a_key;
    let expected = if expected < 0.01 { format!("{expected:.1e}") } else { format!("{expected:.2}") };
    format!(
        "{}: a bit is set in {least:.2} to {most:.2} of them; at most {} under a key, {expected} expected; crowded keys: {}",
        counted(of.fingerprints, "fingerprint"),
        count(of.most_of_a_key),
        count(of.crowded_keys)
    )
}
