//! How much of each document stands in each other one: all pairs with enough of it.

use super::reading::PassageCounts;
use super::runs::{Compared, ContainOptions, Which};
use crate::error::Error;
use crate::run::observer::Observer;
use crate::run::ordered::workers;
use crate::similarity::Similarity;
use crate::source::Source;

/// A document, and another one that has enough of its runs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Coverage<'a> {
    /// The id of the document.
    pub id: &'a str,
    /// The number of the document in input order, from 0.
    pub document: usize,
    /// The id of the other document.
    pub in_id: &'a str,
    /// The number of the other document in the input order of its side: in the reference, if there is one.
    pub in_document: usize,
    /// The share of the distinct runs of the document that stand in the other one.
    pub coverage: Similarity,
    /// The length of the document in tokens.
    pub words: u64,
}

/// Reads the documents of a source, of which [`Coverages::for_each`] lists every one with each other one that has at least a
/// [share](ContainOptions::min_coverage) of its runs; with a `reference`, with each document of it. See
/// [`find_contained`](super::find_contained) for the runs.
///
/// # Errors
/// As for [`find_contained`](super::find_contained).
///
/// # Cost
/// As for [`find_contained`](super::find_contained), without a second reading.
///
/// ```
/// use neardups::passages::{ContainOptions, find_coverages};
/// use neardups::source::Documents;
///
/// let mut mails = Documents::new([("m1", "one two three four"), ("m2", "Zero: one two three four"), ("m3", "one two three")]);
/// let options = ContainOptions { shingle: 3, ..ContainOptions::default() };
/// let mut found = Vec::new();
/// find_coverages(&mut mails, None, &options, &())?.for_each(&(), |pair| {
///     found.push(format!("{} in {}: {}", pair.id, pair.in_id, pair.coverage.value()));
///     Ok(())
/// })?;
/// assert_eq!(found, ["m1 in m2: 1", "m1 in m3: 0.5", "m2 in m1: 0.6666666666666666", "m3 in m1: 1", "m3 in m2: 1"]);
/// # Ok::<(), neardups::Error>(())
/// ```
pub fn find_coverages(
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    options: &ContainOptions,
    observer: &dyn Observer,
) -> Result<Coverages, Error> {
    let which = Which { read_again: false, with_places: false };
    let compared = Compared::read(source, reference, options, which, observer)?;
    Ok(Coverages { compared, options: options.clone() })
}

/// Documents, and the runs that they share.
pub struct Coverages {
    compared: Compared,
    options: ContainOptions,
}

impl Coverages {
    /// The number of documents that have no runs, because they are shorter than one.
    pub fn short(&self) -> u64 {
        self.compared.short()
    }

    /// What was read.
    pub fn counts(&self) -> &PassageCounts {
        &self.compared.counts
    }

    /// As [`Contained::exceeds_filter`](super::Contained::exceeds_filter).
    pub fn exceeds_filter(&self) -> bool {
        self.compared.exceeds_filter
    }

    /// Calls `each` with every pair, in the input order of the documents, then of the others. Returns the entries of lists of documents
    /// with a run in common that were read, a measure of the time that this took.
    ///
    /// # Errors
    /// Those of `each`, the observer stops the run, or a temporary file cannot be read.
    ///
    /// # Cost
    /// Memory does not grow with the pairs: an eighth of the [memory](ContainOptions::memory), and on each of at most 4 threads 12 bytes
    /// for each document. Time grows with the number of pairs. It also grows where many documents share frequent runs, each in another
    /// combination, and too few of them for a pair.
    pub fn for_each(
        &self,
        observer: &dyn Observer,
        mut each: impl FnMut(&Coverage<'_>) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        let (compared, options) = (&self.compared, &self.options);
        let least = |document: u32| compared.least(options, document)[0];
        let search = (workers(options.threads), options.memory);
        compared.pool.install(|| {
            compared.shared.pairs(&least, search, observer, |document, other, runs| {
                each(&Coverage {
                    id: compared.documents.id(document),
                    document: document as usize,
                    in_id: compared.documents.id(other),
                    in_document: compared.in_side(other),
                    coverage: Similarity::ratio(u64::from(runs), u64::from(compared.runs[document as usize])),
                    words: u64::from(compared.tokens[document as usize]),
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::contained::tests::{Runs, runs, side, source, texts, words};
    use super::*;
    use crate::similarity::Threshold;
    use proptest::prelude::*;

    /// A document, the other one, the share, and the words of the document.
    type Row = (usize, usize, f64, u64);

    fn found(texts: &[String], reference: Option<&[String]>, options: &ContainOptions) -> (Vec<Row>, u64) {
        let (mut asked, mut reference) = (source(texts, &[]), reference.map(|texts| source(texts, &[])));
        let mut rows = Vec::new();
        let pairs = find_coverages(&mut asked, side(&mut reference), options, &()).unwrap();
        let each = |pair: &Coverage<'_>| {
            assert_eq!([pair.id, pair.in_id], [pair.document.to_string(), pair.in_document.to_string()]);
            rows.push((pair.document, pair.in_document, pair.coverage.value(), pair.words));
            Ok(())
        };
        let followed = pairs.for_each(&(), each).unwrap();
        (rows, followed)
    }

    /// By the definition: sets of runs, and every pair.
    fn expected(texts: &[String], reference: Option<&[String]>, options: &ContainOptions) -> Vec<Row> {
        let sets = |texts: &[String]| texts.iter().map(|text| runs(text, options.shingle)).collect::<Vec<Runs>>();
        let (asked, others) = (sets(texts), sets(reference.unwrap_or(texts)));
        let mut rows = Vec::new();
        for (number, own) in asked.iter().enumerate() {
            for (other, set) in others.iter().enumerate() {
                let shared = own.intersection(set).count() as u64;
                let is_other = reference.is_some() || other != number;
                if is_other && shared > 0 && options.min_coverage.reached_by(shared, own.len() as u64) {
                    let words = super::super::contained::tests::tokens(&texts[number]).len() as u64;
                    rows.push((number, other, shared as f64 / own.len() as f64, words));
                }
            }
        }
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn every_pair_of_sets_of_runs(
            (texts, reference) in (texts(), prop::option::of(texts())),
            (shingle, threads) in (1usize..7, 1usize..4),
            least in prop_oneof![Just((1, 2)), Just((1, 1)), Just((1, 100)), Just((7, 10))],
            memory in prop_oneof![Just(0u64), Just(1 << 30)],
        ) {
            let min_coverage = Threshold::new(least.0, least.1).unwrap();
            let options = ContainOptions { shingle, threads, min_coverage, memory, ..ContainOptions::default() };
            let (rows, _) = found(&texts, reference.as_deref(), &options);
            prop_assert_eq!(rows, expected(&texts, reference.as_deref(), &options));
        }
    }

    /// A licence in every file that is too short for a pair: its list is not read for each file.
    #[test]
    fn time_that_is_not_quadratic() {
        let count = 3000;
        let texts: Vec<String> =
            (0..count).map(|n| words(0..50) + &words(1000 * (n / 2 + 1)..1000 * (n / 2 + 1) + 80)).collect();
        let (rows, followed) = found(&texts, None, &ContainOptions::default());
        assert_eq!(rows.len() as u64, count);
        assert!(followed < 40 * count, "{followed}");
    }
}
