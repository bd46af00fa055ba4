//! The families of near-duplicate detection: the trait, and the table that everything else is generated from.
//!
//! An algorithm answers four questions — which features a document has, what their fingerprint is, under which keys it can be
//! found, how two documents compare — and sees nothing else: no files, no threads, no other documents. Algorithms do not
//! know each other. A new one is a folder here and a line in [`ALGORITHMS`]; flags, help, `plan`, and the property tests
//! follow from the table. One of your own needs no line: see `examples/custom_algorithm.rs`.

pub mod bands;
pub mod common;
pub mod imatch;
pub mod minhash;
pub mod parameter;
mod prefix;
pub mod presets;
pub mod projection;
pub mod shingles;
pub mod simhash;
pub mod spotsigs;
pub mod weights;

use crate::error::Error;
use crate::hash::{combine, mix};
use crate::lexicon::{Bounds, Lexicon, Rarity};
use crate::similarity::Similarity;
use crate::tokenizer::prepared::Step;
use crate::tokenizer::{self, Keep, Tokenizer, Tokens};
use common::WithoutCommon;
use parameter::{DROP_COMMON, LEXICON, Parameter, Settings};
use presets::Preset;
use serde_json::{Value, json};
use std::sync::Arc;

/// The features of one document: flat buffers, refilled for the next one.
#[derive(Clone, Debug, Default)]
pub struct Features {
    /// One hash a feature, in any order. Repeats are allowed where the algorithm's fingerprint does not mind them.
    pub hashes: Vec<u64>,
    /// One weight a feature, side by side with `hashes`; or empty, which means that every feature weighs 1.
    pub weights: Vec<u32>,
    /// Working memory of [`remove_repeats`](Self::remove_repeats) and [`first_of_each`](Self::first_of_each).
    seen: Vec<u64>,
    /// What [`first_of_each`](Self::first_of_each) leaves.
    positions: Vec<u32>,
    /// For anything that goes with positions or makes features.
    weighted: Vec<(u64, u32)>,
    bytes: Vec<u8>,
    words: Vec<u64>,
    /// In how many documents each token is, while features are weighed.
    frequencies: Vec<u32>,
}

impl Features {
    /// Forgets the features, keeps the memory.
    pub fn clear(&mut self) {
        self.hashes.clear();
        self.weights.clear();
    }

    /// Makes each hash differ from the others: the second occurrence of one is a feature of its own, the third another, and so on
    /// (option A of Broder 1997). Sets of such features compare as the multisets that they were made of. Leaves the hashes
    /// ascending before they were numbered. For features without weights.
    ///
    /// Cost: a sort.
    pub fn number_repeats(&mut self) {
        debug_assert!(self.weights.is_empty(), "weights would no longer stand beside their hashes");
        self.hashes.sort_unstable();
        for run in self.hashes.chunk_by_mut(|a, b| a == b) {
            // The first occurrence is the hash itself, as in a set.
            run.iter_mut().enumerate().skip(1).for_each(|(i, hash)| *hash = combine(mix(i as u64), *hash));
        }
    }

    /// Leaves each hash once, in a fixed but unspecified order. For features without weights.
    ///
    /// Cost: a look-up in a table of two to four slots a hash, faster than sorting; at worst, for hashes that were made to crowd
    /// into one part of the table, that of sorting after all.
    pub fn remove_repeats(&mut self) {
        debug_assert!(self.weights.is_empty(), "weights would no longer stand beside their hashes");
        let mut hashes = std::mem::take(&mut self.hashes);
        let mut seen = Seen::new(&mut self.seen, hashes.len());
        hashes.retain(|&hash| seen.is_first(hash));
        if seen.lost_patience() {
            hashes.sort_unstable();
            hashes.dedup();
        }
        self.hashes = hashes;
    }

    /// Leaves in `positions` where each of these hashes is for the first time, in no particular order. Of more than 2³² hashes the rest
    /// is not looked at.
    ///
    /// Cost: as for [`remove_repeats`](Self::remove_repeats).
    pub(crate) fn first_of_each(&mut self, hashes: &[u64]) {
        let all = 0..u32::try_from(hashes.len()).unwrap_or(u32::MAX);
        let mut seen = Seen::new(&mut self.seen, hashes.len());
        self.positions.clear();
        self.positions.resize(all.len(), 0);
        let mut count = 0;
        for (i, &hash) in all.zip(hashes) {
            // Without a branch, which nobody could predict.
            self.positions[count] = i;
            count += usize::from(seen.is_first(hash));
        }
        self.positions.truncate(count);
        if seen.lost_patience() {
            self.positions.sort_unstable_by_key(|&i| (hashes[i as usize], i));
            self.positions.dedup_by_key(|i| hashes[*i as usize]);
        }
    }
}

/// A table of hashes that were seen.
struct Seen<'a> {
    /// Two to four places a hash; 0 marks a free one, and is looked after by itself.
    slots: &'a mut [u64],
    zero: bool,
    /// How many steps may yet be taken. Hashes that are any good take one or two each.
    patience: usize,
}

impl<'a> Seen<'a> {
    fn new(memory: &'a mut Vec<u64>, hashes: usize) -> Self {
        memory.clear();
        memory.resize((2 * hashes).next_power_of_two(), 0);
        Seen { slots: memory, zero: false, patience: 16 * hashes + 64 }
    }

    /// Whether the hash was not seen before. If patience was lost, it may be said again of one that was.
    #[inline]
    fn is_first(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.patience > 0 && self.slots[slot] != 0 && self.slots[slot] != hash {
            slot = (slot + 1) & mask;
            self.patience -= 1;
        }
        self.patience == 0 || std::mem::replace(&mut self.slots[slot], hash) == 0
    }

    fn lost_patience(&self) -> bool {
        self.patience == 0
    }
}

impl Features {
    /// Leaves each hash once, ascending, with the weight that `weigh` makes of the least of its weights and of how often it was there.
    pub(crate) fn merge_repeats(&mut self, weigh: impl Fn(u32, u32) -> u32) {
        self.weighted.clear();
        self.weighted.extend(self.hashes.drain(..).zip(self.weights.drain(..)));
        self.weighted.sort_unstable();
        for run in self.weighted.chunk_by(|a, b| a.0 == b.0) {
            self.hashes.push(run[0].0);
            self.weights.push(weigh(run[0].1, u32::try_from(run.len()).unwrap_or(u32::MAX)));
        }
    }

    /// Leaves each hash as often as it weighs, without a weight.
    pub(crate) fn repeat_by_weight(&mut self) {
        if !self.weights.is_empty() {
            self.weighted.clear();
            self.weighted.extend(self.hashes.drain(..).zip(self.weights.drain(..)));
            let repeated = self.weighted.iter().flat_map(|&(hash, weight)| std::iter::repeat_n(hash, weight as usize));
            self.hashes.extend(repeated);
        }
    }
}

/// What [`Algorithm::compare`] is given of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compares {
    /// Their fingerprints.
    Fingerprints,
    /// Their feature hashes, ascending and without repeats. The engine keeps them, or makes them again, for candidates only.
    Features,
    /// Their feature hashes, ascending, as often as they occur; otherwise the same.
    Multisets,
}

/// How a pair stands to what is reported; see [`Algorithm::odds`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odds {
    /// How similar the two are, exactly, on the axis that `plan` draws the curve over.
    pub similarity: Similarity,
    /// The probability that a pair like this one is reported, from 0 to 1.
    pub found: f64,
}

/// How many parts of two fingerprints are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Agreement {
    /// What is counted: `slots`, `bands`, `bits`, ….
    pub what: &'static str,
    /// How many are equal.
    pub equal: usize,
    /// How many there are.
    pub of: usize,
}

impl Agreement {
    /// Parts that stand side by side.
    pub(crate) fn of_parts<T: PartialEq>(what: &'static str, parts: impl ExactSizeIterator<Item = (T, T)>) -> Self {
        Agreement { what, of: parts.len(), equal: parts.filter(|(a, b)| a == b).count() }
    }

    /// Bits of fingerprints that use so many.
    pub(crate) fn of_bits(a: &[u64], b: &[u64], bits: usize) -> Self {
        Agreement { what: "bits", of: bits, equal: bits - crate::hamming::distance(a, b) as usize }
    }
}

/// What an algorithm must know of the whole collection before it makes the first fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learns {
    /// In how many documents each token occurs, exact copies counted once.
    Terms,
    /// How rare each of its own features is.
    Features,
    /// In at most how many documents each of its own features is.
    Bounds,
    /// In how many documents each of those features is that it gives now.
    Frequencies {
        /// How many different features there may be, about. What does not fit is not counted.
        most: u64,
    },
}

/// What was counted for it.
#[derive(Clone)]
pub enum Learned {
    /// In how many documents each token occurs, by token hash.
    Terms(Arc<Lexicon>),
    /// How rare features are.
    Features(Arc<Rarity>),
    /// In at most how many documents features are.
    Bounds(Arc<Bounds>),
    /// In how many documents features are.
    Frequencies {
        /// The counts, by feature hash.
        lexicon: Arc<Lexicon>,
        /// Whether all features were counted.
        complete: bool,
    },
}

/// One way to find near-duplicates.
///
/// Everything must be a pure function of the arguments and of how the algorithm was built. Each method fills the buffer it
/// is given without clearing it, except [`features`](Self::features), which starts from a cleared one.
pub trait Algorithm: Send + Sync {
    /// Its name, as in the records and in the table.
    fn name(&self) -> &'static str;

    /// What the similarity measures, as in the records: `jaccard`, `hamming`, ….
    fn measure(&self) -> &'static str;

    /// What it reads of the tokens. Hashes alone are fastest.
    fn reads(&self) -> Keep {
        Keep::Hashes
    }

    /// What must be counted over the collection next, before the first fingerprint is made; it costs a reading of its own. Asked
    /// again after each [`learn`](Self::learn), until there is nothing left to learn.
    fn learns(&self) -> Option<Learns> {
        None
    }

    /// Told what was counted. Where features are counted, [`features`](Self::features) are asked for before that, and must
    /// not depend on it, but may on what was learned earlier.
    fn learn(&mut self, _learned: &Learned) {}

    /// Fills `features`, which comes cleared. The tokens have what [`reads`](Self::reads) asks for.
    fn features(&self, tokens: &Tokens, features: &mut Features);

    /// Appends the document's fingerprint; appends nothing when there are no features to make it from. Such a document is
    /// never reported as like another: it is counted apart.
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>);

    /// Appends the keys under which this fingerprint can be found. Two documents are compared iff they share a key; exact
    /// copies (documents with equal tokens) are not compared at all, and reported with [`Similarity::ONE`].
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>);

    /// `Some(n)` if every fingerprint has exactly `n` keys and the i-th key of one can only equal the i-th of another. The
    /// engine then works through one table at a time. `None`, the default, lets keys be any number in any order.
    fn tables(&self) -> Option<usize> {
        None
    }

    /// The key in one table, the `table`-th of [`keys`](Self::keys). Worth writing when it is cheaper than making them all.
    fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        let mut keys = Vec::new();
        self.keys(fingerprint, &mut keys);
        keys[table]
    }

    /// What [`compare`](Self::compare) reads.
    fn compares(&self) -> Compares;

    /// The exact similarity, or `None` below the threshold. Symmetric.
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity>;

    /// The exact similarity, whatever the threshold: what [`compare`](Self::compare) gives at or above it. `None`, the default
    /// below the threshold, if it is not known. For looking at single pairs; never asked for in a scan.
    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        self.compare(a, b)
    }

    /// The probability that a pair of this similarity shares a key. `None`, the default, if that is no matter of chance: no
    /// pair at or above the threshold is missed.
    fn found_with(&self, _similarity: Similarity) -> Option<f64> {
        None
    }

    /// The probability that these two documents share a key, given what [`compare`](Self::compare) reads of them. By default that of
    /// their [`similarity`](Self::similarity), [`found_with`](Self::found_with). For looking at single pairs; never asked for in a scan.
    fn pair_found_with(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        self.similarity(a, b).and_then(|similarity| self.found_with(similarity))
    }

    /// What [`odds`](Self::odds) reads; `None`, the default, where two documents that are not reported have no similarity.
    fn odds_read(&self) -> Option<Compares> {
        None
    }

    /// How similar two documents with fingerprints are, also below the threshold, and with what probability such a pair is
    /// reported. For measuring what was found against what was promised. By default the
    /// [`similarity`](Self::similarity) and [`pair_found_with`](Self::pair_found_with), or 0 below the threshold.
    fn odds(&self, a: &[u64], b: &[u64]) -> Option<Odds> {
        let similarity = self.similarity(a, b)?;
        let reported = self.compare(a, b).is_some();
        Some(Odds { similarity, found: if reported { self.pair_found_with(a, b).unwrap_or(1.0) } else { 0.0 } })
    }

    /// How far two fingerprints agree, for people: the parts that fingerprints are made of. By default their keys.
    fn agreement(&self, a: &[u64], b: &[u64]) -> Vec<Agreement> {
        let [a, b] = [a, b].map(|fingerprint| {
            let mut keys = Vec::new();
            self.keys(fingerprint, &mut keys);
            keys.sort_unstable();
            keys.dedup();
            keys
        });
        let equal = a.iter().filter(|key| b.binary_search(key).is_ok()).count();
        vec![Agreement { what: "keys", equal, of: a.len().min(b.len()) }]
    }

    /// How many elements two sets of these sizes may have that are not in both (of multisets each as often as it is), and still be
    /// at or above the threshold. `None` if they cannot be. Any number, the default, where differences say nothing.
    fn may_differ_in(&self, _a: usize, _b: usize) -> Option<usize> {
        Some(usize::MAX)
    }

    /// How many elements of a set of so many, the first in whatever order all sets share, are sure to hold one of those that it
    /// shares with any set that [`compare`](Self::compare) finds at or above the threshold (the prefix filter). `None`, the
    /// default, if nothing is sure. With it, documents that share a key without being alike do not cost their square.
    fn prefix(&self, _elements: usize) -> Option<usize> {
        None
    }

    /// Told how many distinct fingerprints there are, before the first key is asked for. May choose other keys if that is
    /// faster; must not change which pairs are found.
    fn tune(&mut self, _fingerprints: usize) {}

    /// Called with the median number of tokens of the documents that have any, once it is known. May change what is stated in
    /// [`resolved`](Self::resolved) and [`found_with`](Self::found_with); must not change fingerprints, keys or similarities.
    fn set_median_tokens(&mut self, _median_tokens: usize) {}

    /// What users should know now that it has learned, and that so many documents were read, of so many of which no fingerprint
    /// could be made; a sentence each.
    fn warnings(&self, _documents: u64, _featureless: u64) -> Vec<String> {
        Vec::new()
    }

    /// The number of differing bits behind a similarity, for measures that have one.
    fn distance(&self, _similarity: Similarity) -> Option<u32> {
        None
    }

    /// Every parameter as it was resolved, for the summary and for `--stats`.
    fn resolved(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// An algorithm ready to run, with what goes with it.
pub struct Setup {
    /// The algorithm.
    pub algorithm: Box<dyn Algorithm>,
    /// A tokenizer that the algorithm needs instead of the one asked for, with its name.
    pub tokenizer: Option<(Arc<dyn Tokenizer>, String)>,
    /// What users should know about this algorithm on these documents; a sentence each.
    pub warnings: Vec<String>,
    /// Why this algorithm should not be run on these documents at all.
    pub refusal: Option<String>,
}

impl Setup {
    /// Just the algorithm.
    pub fn new(algorithm: impl Algorithm + 'static) -> Self {
        Setup { algorithm: Box::new(algorithm), tokenizer: None, warnings: Vec::new(), refusal: None }
    }
}

/// Makes the algorithm once the documents are known a little. Called with the median number of tokens of the documents that
/// have any (0 if none has); equal medians must give equal setups.
pub trait Recipe: Sync {
    /// The setup for documents of this median length.
    fn prepare(&self, median_tokens: usize) -> Result<Setup, Error>;

    /// Whether the setup may differ with the median. If it does not, the engine need not be able to read the input twice.
    fn depends_on_length(&self) -> bool {
        true
    }
}

impl<F: Fn(usize) -> Result<Setup, Error> + Sync> Recipe for F {
    fn prepare(&self, median_tokens: usize) -> Result<Setup, Error> {
        self(median_tokens)
    }
}

/// The recipe of an algorithm of the table, with checked settings.
#[derive(Clone)]
pub struct TableRecipe {
    entry: &'static Entry,
    settings: Settings,
    tokenizer_is_fixed: bool,
    /// Whether the tokenizer says how many of its tokens make a shingle.
    shingle_is_implied: bool,
    /// The preset that it is from, and which parameters have its values.
    preset: Option<(&'static Preset, Vec<&'static str>)>,
}

impl TableRecipe {
    /// Tells the recipe that this tokenizer of the table was asked for: it is used however short the documents are. Runs of
    /// characters are shingles already, so one of them makes a shingle unless the settings say otherwise.
    ///
    /// # Errors
    /// As for [`tokenizer::by_name`].
    pub fn with_tokenizer(mut self, typed: &str) -> Result<Self, Error> {
        tokenizer::by_name(typed)?;
        self.tokenizer_is_fixed = true;
        if tokenizer::is_overlapping(typed)
            && self.entry.uses(SHINGLE)
            && !self.settings.given().any(|(name, _)| name == SHINGLE)
        {
            self.settings.set(SHINGLE, "1");
            self.shingle_is_implied = true;
        }
        Ok(self)
    }

    /// Tells the recipe that tokens are prepared by these steps. They are used however short the documents are, as a tokenizer
    /// that was asked for is.
    ///
    /// # Errors
    /// [`Error::Usage`] for a step that the algorithm does not go with.
    pub fn with_steps(mut self, steps: &[Step]) -> Result<Self, Error> {
        self.entry.goes_with(steps)?;
        self.tokenizer_is_fixed |= !steps.is_empty();
        Ok(self)
    }
}

impl TableRecipe {
    /// Gives the recipe a lexicon to judge terms by, instead of counting those of the documents. `cut_by` is what
    /// they are cut into tokens by: the [canonical name](tokenizer::canonical_name) of the tokenizer, and how it was prepared.
    ///
    /// # Errors
    /// The algorithm does not use one, or the terms of this one are those of another tokenizer.
    pub fn with_lexicon(mut self, lexicon: Arc<Lexicon>, cut_by: &str) -> Result<Self, Error> {
        if (self.entry.prepare)(&self.settings, 0)?.algorithm.learns() != Some(Learns::Terms) {
            return Err(Error::Usage(format!("a lexicon has no effect on {} with these settings", self.entry.name)));
        }
        if let Some(origin) = lexicon.origin().filter(|origin| origin.tokenizer != cut_by) {
            return Err(Error::Usage(format!(
                "the terms of the lexicon are tokens of '{}', and documents are to be cut into those of '{cut_by}': \
                 --tokenizer, --mask, --stopwords and --stem must be the same for both",
                origin.tokenizer
            )));
        }
        self.settings.set_lexicon(lexicon);
        Ok(self)
    }

    /// What the settings resolve to for documents of this median length, and so many of them.
    ///
    /// # Errors
    /// As for [`Recipe::prepare`].
    pub fn plan(&self, median_tokens: usize, documents: u64) -> Result<Plan, Error> {
        let setup = self.prepare(median_tokens)?;
        let mut plan = (self.entry.plan)(&self.settings, median_tokens, documents)?;
        if self.tokenizer_is_fixed
            && let Some((_, value)) = setup.algorithm.resolved().into_iter().find(|(name, _)| *name == SHINGLE)
            && let Some(row) = plan.parameters.iter_mut().find(|(name, ..)| *name == SHINGLE)
            && row.1 != value
        {
            (row.1, row.2) = (value, "tokens, of the tokenizer that was asked for".into());
        }
        if self.shingle_is_implied
            && let Some(row) = plan.parameters.iter_mut().find(|(name, ..)| *name == SHINGLE)
        {
            row.2 = "runs of characters are shingles already".into();
        }
        if let Some(share) = self.settings.thousandths_unless_off(&DROP_COMMON)? {
            let share = share as f64 / 1000.0;
            plan.parameters.push(("drop_common", json!(share), "as given".into()));
            plan.notes.push(format!(
                "features that more than {share} of the documents have are left out of everything, which takes two more readings"
            ));
        }
        if let Some(lexicon) = self.settings.lexicon() {
            let of = format!("{} terms of {} documents", lexicon.len(), lexicon.documents());
            plan.parameters.extend(lexicon.origin().map(|origin| (LEXICON.name, json!(origin.digest), of)));
        }
        if let Some((preset, own)) = &self.preset {
            for (name, _, why) in &mut plan.parameters {
                // Some rows are called a little shorter than the flag.
                let flag = name.replace('_', "-");
                if why == "as given" && own.iter().any(|own| *own == flag || own.ends_with(&format!("-{flag}"))) {
                    *why = format!("preset {}", preset.name);
                }
            }
        }
        plan.notes.extend(setup.warnings);
        plan.notes.extend(setup.refusal);
        Ok(plan)
    }
}

/// The parameter that says how many tokens make a shingle, in every algorithm that has it.
const SHINGLE: &str = "shingle";

impl Recipe for TableRecipe {
    fn prepare(&self, median_tokens: usize) -> Result<Setup, Error> {
        let mut setup = (self.entry.prepare)(&self.settings, median_tokens)?;
        if self.tokenizer_is_fixed {
            setup.tokenizer = None;
        }
        match self.settings.lexicon() {
            Some(lexicon) => setup.algorithm.learn(&Learned::Terms(Arc::clone(lexicon))),
            None if self.settings.file(&LEXICON)?.is_some() => {
                return Err(Error::Usage(
                    "--lexicon names a file, which has to be read and given to the recipe".into(),
                ));
            }
            None => {}
        }
        if let Some(share) = self.settings.thousandths_unless_off(&DROP_COMMON)? {
            setup.algorithm = Box::new(WithoutCommon::new(setup.algorithm, share));
        }
        Ok(setup)
    }

    fn depends_on_length(&self) -> bool {
        (self.entry.depends_on_length)(&self.settings)
    }
}

/// What `dedup plan` shows: how the options resolve, what would be found, what it would cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Parameter, value, and how it came about.
    pub parameters: Vec<(&'static str, Value, String)>,
    /// What the first column of `curve` is.
    pub curve_of: &'static str,
    /// Probability that a pair is found, by its similarity; or by how much it differs, falling. It rises from one to the next.
    pub curve: Vec<(f64, f64)>,
    /// Costs: what, value, unit.
    pub costs: Vec<(&'static str, f64, &'static str)>,
    /// What else one should know; a sentence each.
    pub notes: Vec<String>,
}

/// One line of the table of algorithms.
pub struct Entry {
    /// What `--algo` takes.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line for help.
    pub summary: &'static str,
    /// When to use it and where it is weak; a short paragraph.
    pub advice: &'static str,
    /// Its parameters; each is a flag.
    pub parameters: &'static [&'static Parameter],
    /// Those whose default is another one in this algorithm, with that default.
    pub defaults: &'static [(&'static Parameter, &'static str)],
    /// Steps of preparation that would take from it what it looks for.
    pub refuses: &'static [Step],
    /// The setup for given parameters and median document length in tokens.
    pub prepare: fn(&Settings, usize) -> Result<Setup, Error>,
    /// Whether another median can make another algorithm of the same parameters (warnings aside).
    pub depends_on_length: fn(&Settings) -> bool,
    /// The plan for given parameters, median length and number of documents.
    pub plan: fn(&Settings, usize, u64) -> Result<Plan, Error>,
}

/// Every algorithm, the default first.
pub static ALGORITHMS: &[Entry] = &[minhash::ENTRY, simhash::ENTRY, imatch::ENTRY, projection::ENTRY, spotsigs::ENTRY];

impl Entry {
    /// Finds an algorithm by name or alias.
    ///
    /// # Errors
    /// [`Error::Parameter`] that lists the names.
    pub fn by_name(typed: &str) -> Result<&'static Entry, Error> {
        ALGORITHMS.iter().find(|entry| entry.name == typed || entry.aliases.contains(&typed)).ok_or_else(|| {
            let names: Vec<_> = ALGORITHMS.iter().map(|entry| entry.name).collect();
            Error::parameter("algo", typed, format!("one of {}", names.join(", ")))
        })
    }

    /// Whether the algorithm has this parameter.
    pub fn uses(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|p| p.name == parameter)
    }

    /// The default of a parameter in this algorithm.
    pub fn default_of(&self, parameter: &Parameter) -> &'static str {
        let own = self.defaults.iter().find(|(other, _)| other.name == parameter.name);
        own.map_or(parameter.default, |(_, default)| default)
    }

    /// Checks that tokens may be prepared by these steps.
    ///
    /// # Errors
    /// [`Error::Usage`] for a step that would take from the algorithm what it looks for.
    pub fn goes_with(&self, steps: &[Step]) -> Result<(), Error> {
        match steps.iter().find(|step| self.refuses.contains(step)) {
            Some(step) => Err(Error::Usage(format!(
                "--{} does not go with --algo {}, which looks for words as they are in running text; another algorithm does, \
                 minhash for one",
                step.flag(),
                self.name
            ))),
            None => Ok(()),
        }
    }

    /// Checks settings against the parameters and makes the recipe that a scan needs.
    ///
    /// # Errors
    /// A setting that this algorithm does not have, a value out of range, or values that contradict each other.
    pub fn recipe(&'static self, settings: Settings) -> Result<TableRecipe, Error> {
        self.check(&settings)?;
        let settings = settings.with_defaults(self.defaults);
        // Contradictions show now, whatever the documents are.
        (self.prepare)(&settings, 0)?;
        Ok(TableRecipe { entry: self, settings, tokenizer_is_fixed: false, shingle_is_implied: false, preset: None })
    }

    /// Checks that each setting belongs to this algorithm and is in range.
    ///
    /// # Errors
    /// See [`recipe`](Self::recipe).
    pub fn check(&self, settings: &Settings) -> Result<(), Error> {
        for (name, value) in settings.given() {
            match self.parameters.iter().find(|p| p.name == name) {
                Some(parameter) => parameter.check(value)?,
                None => {
                    let users = ALGORITHMS.iter().filter(|e| e.uses(name)).map(|e| e.name).collect::<Vec<_>>();
                    return Err(Error::Usage(format!(
                        "--{name} is not used by {}; it belongs to {}",
                        self.name,
                        if users.is_empty() { "no algorithm".into() } else { users.join(", ") }
                    )));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn the_table_is_sound() {
        let mut names = Vec::new();
        let mut parameters: HashMap<&str, *const Parameter> = HashMap::new();
        for entry in ALGORITHMS {
            names.push(entry.name);
            names.extend(entry.aliases);
            assert!(!entry.summary.is_empty() && !entry.summary.ends_with('.'), "{}", entry.name);
            assert!(!entry.advice.is_empty());
            let recipe = entry.recipe(Settings::default()).expect("the defaults are sound");
            recipe.prepare(300).expect("the defaults are sound");
            recipe.plan(300, 1_000_000).expect("the defaults can be planned");
            for (parameter, default) in entry.defaults {
                assert!(entry.uses(parameter.name) && *default != parameter.default, "{}", parameter.name);
            }
            for parameter in entry.parameters {
                let switch = matches!(parameter.values, parameter::Values::Switch);
                assert!(!parameter.help.is_empty() && parameter.placeholder.is_empty() == switch, "{}", parameter.name);
                for default in [parameter.default, entry.default_of(parameter)] {
                    parameter.check(default).unwrap_or_else(|e| panic!("default out of range: {e}"));
                }
                // The same name means the same parameter in every algorithm that has it.
                let same = *parameters.entry(parameter.name).or_insert(*parameter as *const _);
                assert!(std::ptr::eq(same, *parameter), "two parameters are called {}", parameter.name);
            }
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "two algorithms share a name");
    }

    #[test]
    fn a_tokenizer_that_was_asked_for_is_used_on_short_documents_too() {
        let recipe = || Entry::by_name("minhash").unwrap().recipe(Settings::default()).unwrap();
        let shingle = |recipe: &TableRecipe, median| {
            let setup = recipe.prepare(median).unwrap();
            let resolved = setup.algorithm.resolved();
            let shingle = resolved.iter().find(|(name, _)| *name == SHINGLE).unwrap().1.clone();
            (setup.tokenizer.is_some(), shingle.as_u64().unwrap())
        };
        assert_eq!(shingle(&recipe(), 5), (true, 1));
        let word = recipe().with_tokenizer("word").unwrap();
        assert_eq!([shingle(&word, 5), shingle(&word, 300)], [(false, 1), (false, 5)]);
        let characters = recipe().with_tokenizer("char:5").unwrap();
        assert_eq!(shingle(&characters, 300), (false, 1));
    }

    #[test]
    fn repeats_are_removed() {
        let mut features = Features { hashes: vec![5, 0, 9, 5, 0, 5 + (1 << 32), 9, 1], ..Features::default() };
        features.remove_repeats();
        assert_eq!(features.hashes, [5, 0, 9, 5 + (1 << 32), 1]);
        features.clear();
        features.remove_repeats();
        assert!(features.hashes.is_empty());
        // Made to fall into one slot: as many steps as pairs, were it not for the patience.
        let crowded = || (1..=200_000u64).map(|i| i << 32);
        features.hashes = crowded().chain(crowded()).collect();
        features.remove_repeats();
        features.hashes.sort_unstable();
        assert!(features.hashes.iter().copied().eq(crowded()));
    }

    #[test]
    fn repeats_are_numbered() {
        let mut features = Features { hashes: vec![5, 9, 5, 5], ..Features::default() };
        features.number_repeats();
        assert_eq!(features.hashes, [5, combine(mix(1), 5), combine(mix(2), 5), 9]);
        features.clear();
        features.number_repeats();
        assert!(features.hashes.is_empty());
    }

    #[test]
    fn a_parameter_of_another_algorithm_is_refused() {
        let settings = Settings::from_pairs([("distance", "3")]);
        let error = Entry::by_name("minhash").unwrap().check(&settings).unwrap_err().to_string();
        assert_eq!(error, "--distance is not used by minhash; it belongs to simhash");
    }
}
