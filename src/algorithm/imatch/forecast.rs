//! What a plan says about I-Match.

use super::detector::{SMALL, resolved};
use super::digests::WORDS;
use super::parameters::{Parameters, decimal};
use crate::algorithm::parameter::Settings;
use crate::algorithm::{Algorithm, Forecast, Learned, Totals};
use crate::error::Error;
use std::sync::Arc;

/// Returns the probability that two documents which differ in `differing` terms of the lexicon have an equal digest, if
/// both have all digests.
pub fn probability_found(lexicons: usize, drop_fraction: f64, differing: u32) -> f64 {
    if differing == 0 {
        return 1.0;
    }
    // For large exponents, 1 − (1 − y)ᴷ would lose precision.
    -(lexicons as f64 * (-drop_fraction.powi(differing as i32)).ln_1p()).exp_m1()
}

pub(super) fn forecast(settings: &Settings, median_tokens: usize, documents: u64) -> Result<Forecast, Error> {
    let mut imatch = resolved(settings)?;
    // The documents that were counted decide about terms.
    match settings.lexicon() {
        Some(lexicon) => imatch.learn(&Learned::Terms(Arc::clone(lexicon))),
        None => imatch.learn(&Learned::Totals(Totals { fingerprints: documents as usize, median_tokens })),
    }
    let Parameters { lexicons, drop, min_terms, .. } = &imatch.parameters;
    let mut notes = vec![
        "every pair with an equal digest is found; the curve is by how many terms that count are in one of the two documents only, a replaced \
         word being two"
            .to_string(),
    ];
    notes.extend(imatch.no_term_counts());
    if !imatch.left_out.is_empty() {
        notes.push("the curve is that of the randomized lexicons; explicit ones also find pairs that differ only in their words".into());
    }
    if imatch.is_list {
        notes.push("the terms of the list count, and no others, whatever the documents are".into());
    } else if imatch.documents < SMALL {
        notes.push(format!("below {SMALL} documents idf says little about a term; minhash needs no other documents"));
    }
    if median_tokens < 4 * min_terms {
        notes.push(format!(
            "many documents of {median_tokens} tokens will have fewer than {min_terms} terms that count, and no digest"
        ));
    }
    let digests = imatch.lexicons();
    Ok(Forecast {
        curve_of: "differing",
        curve: [8, 6, 4, 3, 2, 1, 0]
            .map(|differing| (f64::from(differing), probability_found(*lexicons, decimal(*drop), differing)))
            .to_vec(),
        costs: vec![
            ("SHA-1 digests a document", digests as f64, "at most"),
            ("fingerprint", (8 * WORDS * digests) as f64, "bytes a document"),
            ("fingerprints of all documents", (8 * WORDS * digests) as f64 * documents as f64, "bytes"),
        ],
        search: None,
        stored: None,
        notes,
    })
}
