//! What a search for fingerprints within a distance takes: the one model by which the layouts of tables are chosen, for a
//! join, a batch and an index, and by which a plan estimates them.
//!
//! A document is entered in each table, and looked up there among those before it; each candidate is compared. Or all
//! fingerprints are compared, one after the other, which takes hundreds of times less for each than a candidate, which may be
//! anywhere in memory. Which of them is done decides about time and memory alone: every layout finds the same pairs.
//!
//! Memory has a price too. A machine has some 4 GiB of it for each core: a layout that holds as much for as long as the search
//! takes costs as much again as its time on a core.

use super::layout::{Layout, every};

/// What the steps of a kind of search take, in nanoseconds on one core.
///
/// All of them were measured on the machine of `benches/README.md`, in "Costs of a search within a distance".
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    /// To enter a document in a table, with what is later done with it there: sorting, or writing to the disk.
    pub enter: f64,
    /// To look a document up in a table.
    pub look_up: f64,
    /// To compare a document that shares a key.
    pub candidate: f64,
    /// To compare a word of a fingerprint, where all of them are compared in their order.
    pub scan: f64,
    /// Bytes of memory for each document and table.
    pub bytes: f64,
    /// The number of bits by which keys are distinguished, if not all are.
    pub tag_bits: Option<i32>,
}

/// The join of given codes ([`each_pair_within`](super::each_pair_within)). Its tables come one after the other, and its
/// comparisons are always of codes in a row.
pub(crate) const JOIN: Rates =
    Rates { enter: 5.0, look_up: 0.0, candidate: 0.04, scan: 0.04, bytes: 0.0, tag_bits: None };

/// A batch, which sorts each table, and keeps what shares a key. It never compares all fingerprints.
pub(crate) const BATCH: Rates =
    Rates { enter: 30.0, look_up: 0.0, candidate: 12.0, scan: f64::INFINITY, bytes: 4.0, tag_bits: None };

/// An index in a file, with its tables in memory.
pub(crate) const INDEX: Rates =
    Rates { enter: 200.0, look_up: 200.0, candidate: 300.0, scan: 0.5, bytes: 30.0, tag_bits: Some(32) };

/// Bytes of memory that cost as much as a core.
const BYTES_OF_A_CORE: f64 = (1u64 << 32) as f64;

impl Rates {
    /// The documents that are compared with one because a part of their keys agrees, without a key in common, on average.
    pub fn false_candidates(&self, layout: &Layout, documents: f64) -> f64 {
        self.tag_bits.map_or(0.0, |bits| layout.tables() * layout.tables() * documents * 0.5f64.powi(bits))
    }

    /// A query of the tables, among so many random documents.
    fn through_tables(&self, layout: &Layout, documents: f64) -> f64 {
        let candidates = layout.candidates(documents) + self.false_candidates(layout, documents);
        layout.tables() * self.look_up + candidates * self.candidate
    }

    /// A query that compares all fingerprints.
    pub fn comparing_all(&self, bits: usize, documents: f64) -> f64 {
        documents * bits.div_ceil(64) as f64 * self.scan
    }

    /// The number of documents below which a query takes less time if it compares all of them; infinite for short keys.
    pub fn compares_all_below(&self, layout: &Layout) -> f64 {
        let of_tables = self.through_tables(layout, 0.0);
        let of_a_document = self.comparing_all(layout.bits(), 1.0) - (self.through_tables(layout, 1.0) - of_tables);
        if of_a_document > 0.0 { of_tables / of_a_document } else { f64::INFINITY }
    }

    /// The number of candidates that take as long as comparing this many words of all fingerprints.
    pub fn candidates_for(&self, words: usize) -> usize {
        (words as f64 * self.scan / self.candidate) as usize
    }

    /// A query, in the faster of both ways.
    pub fn query(&self, layout: &Layout, documents: f64) -> f64 {
        self.comparing_all(layout.bits(), documents).min(self.through_tables(layout, documents))
    }

    /// So many documents, each entered, and looked up among those before it.
    pub fn all(&self, layout: &Layout, documents: f64) -> f64 {
        documents * (layout.tables() * self.enter + self.query(layout, documents / 2.0))
    }

    /// The same, with the price of the memory.
    fn price(&self, layout: &Layout, documents: f64) -> f64 {
        self.all(layout, documents) * (1.0 + layout.tables() * documents * self.bytes / BYTES_OF_A_CORE)
    }

    /// The layout that costs least; the first of several.
    pub fn cheapest(&self, layouts: impl IntoIterator<Item = Layout>, documents: f64) -> Option<Layout> {
        let priced = layouts.into_iter().map(|layout| (self.price(&layout, documents), layout));
        priced.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, layout)| layout)
    }
}

/// The most tables of a layout that is chosen by cost.
const MOST_CHOSEN: f64 = 1024.0;

/// The most random documents under a key of a layout for an index, far below the number that is compared.
const MOST_RANDOM_OF_A_KEY: f64 = 1024.0;

/// The choice of a layout by its cost, and what it costs.
impl Layout {
    /// The layout of the least cost for a batch of this many documents, in time and memory, among those with up to 1,024
    /// tables.
    pub fn cheapest(bits: usize, distance: usize, documents: f64) -> Self {
        BATCH.cheapest(every(bits, distance, MOST_CHOSEN), documents).expect("there are always distance + 1 blocks")
    }

    /// The layout of the least cost for an index that grows to this many documents, each of which is looked up once: the
    /// time to enter and to find them, and the memory. Of those with up to 1,024 tables it is one whose queries
    /// [compare all fingerprints](Self::compares_all), or under whose keys there are at most 1,024 documents, if they are random. If
    /// there is none, that with the longest keys.
    pub fn for_index(bits: usize, distance: usize, documents: f64) -> Self {
        let all = every(bits, distance, MOST_CHOSEN);
        let fullest = |layout: &Self| match layout.compares_all(documents) {
            true => MOST_RANDOM_OF_A_KEY,
            false => layout.candidates_of_a_probe(documents).max(MOST_RANDOM_OF_A_KEY),
        };
        let least = all.iter().map(fullest).fold(f64::INFINITY, f64::min);
        let suitable = all.iter().copied().filter(|layout| fullest(layout) == least);
        INDEX.cheapest(suitable, documents).expect("there are always distance + 1 blocks")
    }

    /// The estimated time of a batch on one core: sorting every table, and comparing what shares a key.
    pub fn batch_nanoseconds(&self, documents: f64) -> f64 {
        BATCH.all(self, documents)
    }

    /// Whether a batch of this many documents takes less time without tables, if it compares each with each.
    pub(crate) fn compares_each_with_each(&self, documents: f64) -> bool {
        documents * JOIN.comparing_all(self.bits(), documents) < BATCH.all(self, documents)
    }

    /// The fingerprints that an index compares with one although they share no key with it, on average. An index keeps 32
    /// bits of the hash of each key, those of all tables together. So each look-up of a query, one a table, finds each
    /// entry, one a document and table, with probability 2⁻³²: `tables² · documents / 2³²` together.
    pub fn false_candidates(&self, documents: f64) -> f64 {
        INDEX.false_candidates(self, documents)
    }

    /// Whether a query of an index of this many documents compares all fingerprints, because that takes less time than
    /// looking keys up and comparing the documents under them, if they are random.
    pub fn compares_all(&self, documents: f64) -> bool {
        documents < INDEX.compares_all_below(self)
    }

    /// The estimated time of a query of an index of this many documents, on one core. Includes the
    /// [false candidates](Self::false_candidates).
    pub fn lookup_nanoseconds(&self, documents: f64) -> f64 {
        INDEX.query(self, documents)
    }

    /// The estimated time to enter this many documents in an index, on one core, without reading and signing them.
    pub fn building_nanoseconds(&self, documents: f64) -> f64 {
        self.tables() * documents * INDEX.enter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of tables, by documents.
    fn tables(choose: impl Fn(f64) -> Layout, documents: &[f64]) -> Vec<f64> {
        documents.iter().map(|&documents| choose(documents).tables()).collect()
    }

    const DOCUMENTS: [f64; 7] = [1e3, 1e4, 1e5, 3e5, 1.3e6, 1e7, 1e8];

    #[test]
    fn layouts_of_an_index() {
        let rows: [(usize, usize, [f64; 7]); 9] = [
            (64, 3, [4.0, 4.0, 4.0, 10.0, 10.0, 10.0, 10.0]),
            (64, 4, [5.0, 5.0, 15.0, 15.0, 15.0, 15.0, 35.0]),
            (64, 5, [6.0, 6.0, 21.0, 21.0, 21.0, 56.0, 56.0]),
            (64, 6, [7.0, 7.0, 28.0, 28.0, 84.0, 84.0, 84.0]),
            (64, 8, [9.0; 7]),
            (64, 10, [11.0; 7]),
            (64, 20, [21.0; 7]),
            (128, 6, [7.0, 7.0, 7.0, 7.0, 7.0, 28.0, 28.0]),
            (384, 12, [13.0; 7]),
        ];
        for (bits, distance, expected) in rows {
            let choose = |documents| Layout::for_index(bits, distance, documents);
            assert_eq!(tables(choose, &DOCUMENTS), expected, "{distance} of {bits} bits");
        }
    }

    #[test]
    fn layouts_of_a_batch() {
        let rows: [(usize, usize, [f64; 7]); 5] = [
            (64, 0, [1.0; 7]),
            (64, 3, [4.0, 4.0, 4.0, 4.0, 10.0, 10.0, 10.0]),
            (64, 6, [7.0, 28.0, 28.0, 28.0, 84.0, 84.0, 210.0]),
            (64, 10, [11.0, 66.0, 286.0, 286.0, 286.0, 286.0, 286.0]),
            (384, 12, [13.0; 7]),
        ];
        for (bits, distance, expected) in rows {
            let choose = |documents| Layout::cheapest(bits, distance, documents);
            assert_eq!(tables(choose, &DOCUMENTS), expected, "{distance} of {bits} bits");
        }
    }

    #[test]
    fn short_keys_are_not_looked_up() {
        let layout = |distance, blocks| Layout::one_level(64, distance, blocks);
        // Few documents are compared sooner than keys are looked up.
        let below = INDEX.compares_all_below(&layout(3, 4));
        assert!((1600.0..1700.0).contains(&below), "{below}");
        assert_eq!(INDEX.compares_all_below(&layout(10, 11)), f64::INFINITY);
        assert_eq!(INDEX.query(&layout(10, 11), 1e6), 5e5);
        assert_eq!(BATCH.compares_all_below(&layout(10, 11)), 0.0);
        for documents in [1e2, 1600.0, 1700.0, 1e8] {
            let layout = layout(3, 4);
            let (all, tables) = (INDEX.comparing_all(64, documents), INDEX.through_tables(&layout, documents));
            assert_eq!(documents < below, all < tables);
            assert_eq!(INDEX.query(&layout, documents), all.min(tables));
        }
        assert_eq!(INDEX.candidates_for(600_000), 1000);
    }

    #[test]
    fn memory_has_a_price() {
        // As much memory as a core has doubles the price of what one takes.
        let layout = Layout::one_level(64, 3, 4);
        let documents = BYTES_OF_A_CORE / 120.0;
        let ratio = INDEX.price(&layout, documents) / INDEX.all(&layout, documents);
        assert!((ratio - 2.0).abs() < 1e-9, "{ratio}");
    }
}
