//! What the search for fingerprints within a distance costs, by design: the layouts of tables, and the designs that
//! they replace.

use crate::hamming::cost::{BATCH, INDEX};
use crate::hamming::{Layout, binomial};

/// The characters of a word that a plan assumes, with the space after it: those of English words.
pub const CHARACTERS_OF_A_WORD: usize = 6;

/// A number rounded to three digits.
pub(super) fn three_digits(number: f64) -> f64 {
    if number <= 0.0 {
        return 0.0;
    }
    let unit = 10f64.powi(2 - number.log10().floor() as i32);
    // Divided by a whole number, so that the decimal is short.
    if unit >= 1.0 { (number * unit).round() / unit } else { (number * unit).round() * (1.0 / unit).round() }
}

/// A way to find the fingerprints within a distance of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Design {
    /// Tables of keys.
    Tables(Layout),
    /// One table of all fingerprints, in which a query looks up each fingerprint within the distance of its own.
    Changes,
    /// A table of each fingerprint and of all those within the distance of it, in which a query looks up its own.
    Copies,
    /// No table: a query is compared with each fingerprint.
    EachWithEach,
}

/// The cost of a design for a number of documents. Numbers are averages for random fingerprints; times are estimates
/// for one core, from rates measured on the machine of `benches/README.md`, with the tables in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchCost {
    /// The design.
    pub design: Design,
    /// The number of tables.
    pub tables: f64,
    /// The fewest and the most bits of a key; `None` without tables.
    pub key_bits: Option<(u32, u32)>,
    /// The number of look-ups of a query.
    pub probes: f64,
    /// The fingerprints that a look-up returns at most.
    pub candidates_of_a_probe: f64,
    /// The fingerprints that all look-ups of a query return together.
    pub candidates: f64,
    /// Bytes of all tables: 8 for each key of a document, as a batch sorts them, and as an index stores them on the disk.
    pub bytes: f64,
    /// What an index with these tables takes in addition; `None` for other designs.
    pub index: Option<IndexCost>,
    /// The time of a query in nanoseconds; for tables with that of false candidates, or of comparing all fingerprints if that
    /// is less ([`Layout::compares_all`]).
    pub query_nanoseconds: f64,
    /// The time to find all pairs among the documents, in nanoseconds.
    pub batch_nanoseconds: f64,
}

/// What the tables of an index cost in addition to those of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct IndexCost {
    /// The fingerprints that a query compares in addition, because the index distinguishes keys by 32 bits: see
    /// [`Layout::false_candidates`].
    pub false_candidates: f64,
    /// Bytes of the tables as long as they are in memory: about 30 for each key of a document.
    pub bytes_in_memory: f64,
    /// Bytes of memory to find keys in the tables once they are on the disk: 12 bits for each key of a document.
    pub bytes_of_filters: f64,
    /// Whether queries [compare all fingerprints](Layout::compares_all).
    pub compares_all: bool,
    /// The time to enter all documents, in nanoseconds, without reading and signing them.
    pub building_nanoseconds: f64,
}

/// The costs of the designs, for the fingerprints of an algorithm and a number of documents.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchForecast {
    /// The layout that a batch takes.
    pub chosen: Layout,
    /// The layout that an index takes that expects as many documents.
    pub of_index: Layout,
    /// The number of documents.
    pub documents: u64,
    /// The costs of layouts, ascending by the number of their tables, with the chosen ones among them; then those of the
    /// other designs.
    pub costs: Vec<SearchCost>,
}

/// The maximum number of layouts that a plan shows, in addition to the chosen ones.
const LAYOUTS_SHOWN: usize = 6;

/// The bytes of a key of a document: a part of the key, and the number of the document.
const KEY_BYTES: f64 = 8.0;

/// The bytes of a key of a document in the tables of an index in memory: 8 of an entry and 8 of a slot, in arrays with free
/// places. From one number of tables to the next, those of "Tables of an index" in `benches/README.md` are 27 to 39.
const KEY_BYTES_IN_MEMORY: f64 = INDEX.bytes;

/// The bytes of a key of a document in the filter that an index keeps in memory of tables on the disk.
const KEY_BYTES_OF_FILTER: f64 = 12.0 / 8.0;

impl SearchForecast {
    /// The costs for this many documents.
    pub(super) fn new(chosen: Layout, of_index: Layout, documents: u64) -> Self {
        let (bits, distance) = (chosen.bits(), chosen.distance());
        let mut layouts = Layout::all(bits, distance, Layout::MOST_TABLES);
        layouts.truncate(LAYOUTS_SHOWN);
        for layout in [chosen, of_index] {
            if !layouts.contains(&layout) {
                layouts.push(layout);
                layouts.sort_by(|a, b| a.tables().total_cmp(&b.tables()));
            }
        }
        let n = documents as f64;
        let mut costs: Vec<SearchCost> = layouts.into_iter().map(|layout| of_tables(layout, n)).collect();
        costs.extend([of_changes(bits, distance, n), of_copies(bits, distance, n), of_each(bits, n)]);
        SearchForecast { chosen, of_index, documents, costs }
    }

    /// The number of fingerprints that differ in exactly the distance, and in at most the distance.
    pub fn changes(&self) -> (f64, f64) {
        let (bits, distance) = (self.chosen.bits(), self.chosen.distance());
        (binomial(bits, distance), changes_within(bits, distance))
    }

    /// The time to find all pairs with the chosen layout, in seconds, to three digits.
    pub(super) fn seconds(&self) -> f64 {
        three_digits(self.of_chosen().batch_nanoseconds / 1e9)
    }

    /// The cost of the chosen layout.
    pub fn of_chosen(&self) -> SearchCost {
        of_tables(self.chosen, self.documents as f64)
    }
}

fn of_tables(layout: Layout, documents: f64) -> SearchCost {
    let (tables, candidates) = (layout.tables(), layout.candidates(documents));
    SearchCost {
        design: Design::Tables(layout),
        tables,
        key_bits: Some(layout.key_bits_range()),
        probes: tables,
        candidates_of_a_probe: layout.candidates_of_a_probe(documents),
        candidates,
        bytes: tables * documents * KEY_BYTES,
        index: Some(IndexCost {
            false_candidates: layout.false_candidates(documents),
            bytes_in_memory: tables * documents * KEY_BYTES_IN_MEMORY,
            bytes_of_filters: tables * documents * KEY_BYTES_OF_FILTER,
            compares_all: layout.compares_all(documents),
            building_nanoseconds: layout.building_nanoseconds(documents),
        }),
        query_nanoseconds: layout.lookup_nanoseconds(documents),
        batch_nanoseconds: layout.batch_nanoseconds(documents),
    }
}

fn changes_within(bits: usize, distance: usize) -> f64 {
    (0..=distance).map(|changed| binomial(bits, changed)).sum()
}

fn of_changes(bits: usize, distance: usize, documents: f64) -> SearchCost {
    let probes = changes_within(bits, distance);
    let candidates_of_a_probe = documents * 0.5f64.powi(bits as i32);
    let candidates = probes * candidates_of_a_probe;
    let query_nanoseconds = probes * INDEX.look_up + candidates * INDEX.candidate;
    SearchCost {
        design: Design::Changes,
        tables: 1.0,
        key_bits: Some((bits as u32, bits as u32)),
        probes,
        candidates_of_a_probe,
        candidates,
        bytes: documents * KEY_BYTES,
        index: None,
        query_nanoseconds,
        batch_nanoseconds: documents * query_nanoseconds,
    }
}

fn of_copies(bits: usize, distance: usize, documents: f64) -> SearchCost {
    let copies = changes_within(bits, distance);
    let candidates = copies * documents * 0.5f64.powi(bits as i32);
    SearchCost {
        design: Design::Copies,
        tables: copies,
        key_bits: Some((bits as u32, bits as u32)),
        probes: 1.0,
        candidates_of_a_probe: candidates,
        candidates,
        bytes: copies * documents * KEY_BYTES,
        index: None,
        query_nanoseconds: INDEX.look_up + candidates * INDEX.candidate,
        batch_nanoseconds: copies * documents * BATCH.enter,
    }
}

fn of_each(bits: usize, documents: f64) -> SearchCost {
    SearchCost {
        design: Design::EachWithEach,
        tables: 0.0,
        key_bits: None,
        probes: 0.0,
        candidates_of_a_probe: 0.0,
        candidates: documents,
        bytes: 0.0,
        index: None,
        query_nanoseconds: INDEX.comparing_all(bits, documents),
        batch_nanoseconds: documents * INDEX.comparing_all(bits, (documents - 1.0) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_the_paper() {
        let forecast = SearchForecast::new(Layout::one_level(64, 3, 6), Layout::one_level(64, 3, 6), 1 << 34);
        assert_eq!(forecast.changes(), (41_664.0, 43_745.0));
        let numbers: Vec<(f64, f64, f64)> =
            forecast.costs.iter().map(|cost| (cost.tables, cost.probes, cost.candidates_of_a_probe)).collect();
        assert_eq!(numbers[..4], [(4.0, 4.0, 262_144.0), (10.0, 10.0, 512.0), (16.0, 16.0, 64.0), (20.0, 20.0, 8.0)]);
        let others: Vec<(Design, f64, f64)> =
            forecast.costs[6..].iter().map(|cost| (cost.design, cost.tables, cost.probes)).collect();
        let expected =
            [(Design::Changes, 1.0, 43_745.0), (Design::Copies, 43_745.0, 1.0), (Design::EachWithEach, 0.0, 0.0)];
        assert_eq!(others, expected);
        assert_eq!(forecast.of_chosen().bytes, 20.0 * 8.0 * 2f64.powi(34));
        // Each of 20 look-ups among 20 · 2³⁴ entries.
        let index = forecast.of_chosen().index.unwrap();
        assert_eq!((index.false_candidates, index.bytes_of_filters), (1600.0, 30.0 * 2f64.powi(34)));
    }

    #[test]
    fn the_chosen_layout_is_among_those_shown() {
        for layout in [Layout::one_level(64, 3, 20), Layout::two_levels(64, 3, 5, 5).unwrap()] {
            let forecast = SearchForecast::new(layout, layout, 1000);
            assert!(forecast.costs.iter().any(|cost| cost.design == Design::Tables(layout)));
            assert_eq!(forecast.costs.len(), LAYOUTS_SHOWN + 4);
        }
    }
}
