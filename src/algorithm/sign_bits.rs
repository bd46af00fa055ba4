//! Sign-bit fingerprints, shared by SimHash and random projection. Features have weights, each bit is the sign of a
//! sum, and near-duplicates differ in few bits. The families differ in their features and in the names of their
//! parameters.

use super::parameter::Origins;
use super::weights::{Weigher, Weights};
use super::{
    Agreement, Algorithm, CompareOn, Explain, Features, FingerprintForm, Learned, Learns, Profile, Provenance, Row,
    SearchForecast, Value,
};
use crate::error::Error;
use crate::hamming::{self, BlockTables, Layout};
use crate::lexicon::weights::TermWeights;
use crate::similarity::Similarity;
use crate::tokenizer::{TokenDetail, Tokens};
use std::sync::Arc;

/// The features of a family.
pub trait Signs: Send + Sync {
    /// The name of the family.
    const NAME: &'static str;

    /// The detail of the tokens that is read.
    fn reads(&self) -> TokenDetail {
        TokenDetail::Hashes
    }

    /// Fills the features, with their weights.
    fn features(&self, weigher: &Weigher, tokens: &Tokens, features: &mut Features);

    /// The parameters, except weights, blocks and tables.
    fn rows(&self, bits: usize, distance: usize, origins: &Origins) -> Vec<Row>;

    /// The provenance of the number of blocks, if it is fixed.
    fn blocks(&self, _origins: &Origins) -> Provenance {
        Provenance::GIVEN
    }
}

/// A detector of pairs whose fingerprints are at most `distance` bits apart. All of them are found, through block
/// tables.
pub struct SignBits<F> {
    pub(super) family: F,
    pub(super) bits: usize,
    pub(super) distance: usize,
    pub(super) weigher: Weigher,
    /// Whether the layout of the tables is fixed; otherwise it follows the number of documents.
    pub(super) is_fixed: bool,
    pub(super) layout: Layout,
    pub(super) tables: BlockTables,
    origins: Origins,
}

impl<F> SignBits<F> {
    /// # Panics
    /// If `bits` is not a multiple of 32, or `distance` or `blocks` do not fit it.
    pub(super) fn of(family: F, bits: usize, distance: usize, weights: Weights, blocks: Option<usize>) -> Self {
        assert!(bits.is_multiple_of(32), "{bits} bits are not a multiple of 32");
        let layout = Layout::one_level(bits, distance, blocks.unwrap_or(distance + 1));
        let (tables, weigher, origins) = (BlockTables::of(&layout), Weigher::new(weights), Origins::default());
        SignBits { family, bits, distance, weigher, is_fixed: blocks.is_some(), layout, tables, origins }
    }

    /// Fixes the layout of the tables.
    ///
    /// # Panics
    /// If it is not one for these bits and this distance.
    pub fn with_layout(mut self, layout: Layout) -> Self {
        assert_eq!((layout.bits(), layout.distance()), (self.bits, self.distance), "a layout of other fingerprints");
        self.use_layout(layout);
        SignBits { is_fixed: true, ..self }
    }

    fn use_layout(&mut self, layout: Layout) {
        if layout != self.layout {
            (self.layout, self.tables) = (layout, BlockTables::of(&layout));
        }
    }

    /// Sets the weights of terms, if they were given.
    pub(super) fn with_terms(self, terms: Option<Arc<TermWeights>>) -> Self {
        SignBits { weigher: self.weigher.with_terms(terms), ..self }
    }

    /// Sets the provenance of the parameters.
    pub(super) fn with_origins(self, origins: Origins) -> Self {
        SignBits { origins, ..self }
    }

    /// The number of tables and the bits of their keys, in words.
    fn cut(&self) -> String {
        let (least, most) = self.layout.key_bits_range();
        let bits = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let choose = |blocks: usize| format!("C({blocks}, {})", self.distance);
        let again = self.layout.blocks_again().map(|blocks| format!(" × {}", choose(blocks))).unwrap_or_default();
        format!("{}{again}, keys of {bits} bits", choose(self.layout.blocks()))
    }

    /// The blocks of the layout: a number, or two of them joined by an x.
    fn blocks(&self) -> Value {
        match self.layout.blocks_again() {
            None => self.layout.blocks().into(),
            Some(_) => self.layout.to_string().into(),
        }
    }

    /// What a plan says about the search, for this many documents.
    pub(super) fn forecast(&self, documents: u64) -> SearchForecast {
        let (bits, distance, n) = (self.bits, self.distance, documents as f64);
        let [batch, index] = match self.is_fixed {
            true => [self.layout; 2],
            false => [Layout::cheapest(bits, distance, n), Layout::for_index(bits, distance, n)],
        };
        SearchForecast::new(batch, index, documents)
    }

    fn similarity_at(&self, apart: usize) -> Similarity {
        Similarity::ratio((self.bits - apart) as u64, self.bits as u64)
    }
}

impl<F: Signs> Algorithm for SignBits<F> {
    fn profile(&self) -> Profile {
        Profile::new(F::NAME, "hamming", CompareOn::Fingerprints)
            .reading(self.family.reads())
            .with_tables(self.tables.len())
            .with_layout(self.layout)
            .written_as(FingerprintForm::Bits(self.bits))
            .taking(self.weigher.bytes_a_token())
            .holding(self.weigher.bytes_learned())
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = self.family.rows(self.bits, self.distance, &self.origins);
        let blocks = match self.is_fixed {
            true => self.family.blocks(&self.origins),
            false => Provenance::derived("the cheapest"),
        };
        rows.extend(self.weigher.rows(&self.origins));
        rows.extend([
            Row::planned("blocks", self.blocks()).with(blocks),
            Row::identity("tables", self.tables.len()).with(Provenance::derived(self.cut())),
        ]);
        rows
    }

    fn learns(&self) -> Option<Learns> {
        self.weigher.learns()
    }

    fn learn(&mut self, learned: &Learned) {
        match learned {
            Learned::Totals(totals) if !self.is_fixed => {
                self.use_layout(Layout::cheapest(self.bits, self.distance, totals.fingerprints as f64));
            }
            &Learned::Expected(documents) if !self.is_fixed => {
                self.use_layout(Layout::for_index(self.bits, self.distance, documents as f64));
            }
            &Learned::Tables(tables) if !self.is_fixed => {
                if let Some(layout) = Layout::with_tables(self.bits, self.distance, tables) {
                    self.use_layout(layout);
                }
            }
            learned => self.weigher.learn(learned),
        }
    }

    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        self.family.features(&self.weigher, tokens, features);
    }

    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        if !features.hashes.is_empty() {
            hamming::sign_bits(&features.hashes, &features.weights, self.bits, fingerprint);
        }
    }

    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        keys.extend((0..self.tables.len()).map(|table| self.tables.key(fingerprint, table)));
    }

    fn key(&self, fingerprint: &[u64], table: usize) -> u64 {
        self.tables.key(fingerprint, table)
    }

    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        let apart = hamming::distance(a, b) as usize;
        (apart <= self.distance).then(|| self.similarity_at(apart))
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl<F: Signs> Explain for SignBits<F> {
    fn check_learned(&self) -> Result<(), Error> {
        self.weigher.check_learned()
    }

    fn similarity(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        Some(self.similarity_at(hamming::distance(a, b) as usize))
    }

    fn odds_read(&self) -> Option<CompareOn> {
        Some(CompareOn::Fingerprints)
    }

    fn agreement(&self, a: &[u64], b: &[u64]) -> Option<Vec<Agreement>> {
        Some(vec![Agreement::of_bits(a, b, self.bits)])
    }

    fn distance(&self, similarity: Similarity) -> Option<u32> {
        Some(((1.0 - similarity.value()) * self.bits as f64).round() as u32)
    }
}
