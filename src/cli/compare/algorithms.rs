//! Which algorithms compare the documents, and how.

use super::super::arguments::compare::Arguments;
use super::super::method::Method;
use super::super::spelling::spelled;
use super::super::status::usage_error;
use neardups::Error;
use neardups::algorithm::parameter::Settings;
use neardups::algorithm::{ALGORITHMS, AlgorithmFactory, Entry, TableFactory};
use neardups::compare::{Comparison, Verdict};

/// How an algorithm is run.
pub enum Choice {
    Factory(TableFactory),
    /// Not at all: it refuses this preparation of tokens.
    Refused(Box<Comparison>),
}

/// The factories of the chosen algorithms.
pub fn factories(method: &Method, arguments: &Arguments) -> Result<Vec<(&'static Entry, Choice)>, Error> {
    if !arguments.method.is_all() || method.preset.is_some() {
        let (entry, factory) = method.factory()?;
        return Ok(vec![(entry, Choice::Factory(factory))]);
    }
    let settings = &arguments.method.settings;
    let (mut choices, mut used, mut refusals) = (Vec::new(), 0, Vec::new());
    for entry in ALGORITHMS {
        let own = Settings::from_pairs(settings.given().filter(|(name, _)| entry.uses(name)));
        let uses_any = own.given().next().is_some();
        used += usize::from(uses_any);
        let factory = entry.goes_with(&method.tokens.steps).and_then(|()| method.factory_of(entry, own));
        match factory {
            Ok(factory) => choices.push((entry, Choice::Factory(factory))),
            // A refusal is only the result of this algorithm: others may accept the settings.
            Err(Error::Usage(why)) => {
                let why = spelled(&why).into_owned();
                let algorithm = entry.factory(Settings::default())?.prepare(0)?.algorithm;
                let comparison = Comparison {
                    algorithm: algorithm.name(),
                    measure: algorithm.measure(),
                    tokenizer: None,
                    parameters: algorithm.parameters(),
                    warnings: Vec::new(),
                    evidence: None,
                    verdict: Verdict::Refused(why.clone()),
                };
                refusals.extend(uses_any.then_some(why));
                choices.push((entry, Choice::Refused(Box::new(comparison))));
            }
            Err(error) => return Err(error),
        }
    }
    match refusals.first() {
        Some(why) if refusals.len() == used => Err(usage_error(why.clone())),
        _ => Ok(choices),
    }
}

/// The parameter for the length of shingles.
pub const SHINGLE: &str = "shingle";

/// A factory for shingles of the typed length, or of the length chosen for the documents.
pub fn shingle_factory(method: &Method, settings: &Settings) -> Result<TableFactory, Error> {
    let entry = ALGORITHMS.iter().find(|entry| entry.uses(SHINGLE)).unwrap_or(&ALGORITHMS[0]);
    let own = Settings::from_pairs(settings.given().filter(|(name, _)| *name == SHINGLE));
    method.factory_of(entry, own)
}

/// The length of shingles, if it was chosen for the documents and an algorithm uses it.
pub fn chosen_shingle(typed: &Settings, comparisons: &[(&'static Entry, Comparison)]) -> Option<String> {
    let of_words = comparisons.iter().filter(|(_, comparison)| comparison.tokenizer.is_none());
    let mut rows = of_words.flat_map(|(_, comparison)| &comparison.parameters);
    let is_typed = typed.given().any(|(name, _)| name == SHINGLE);
    rows.find(|row| row.name == SHINGLE && !is_typed).map(|row| row.value.to_string())
}
