//! How much of each document stands in each other one: all pairs with enough of it.

use super::reading::{PassageCounts, check_stopped};
use super::runs::{Compared, ContainOptions, Purpose, ShortDocuments};
use crate::error::Error;
use crate::postings::Sorter;
use crate::run::observer::Observer;
use crate::run::ordered::workers;
use crate::run::places::At;
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
    /// Where it was read, if [ids repeat](Coverages::ids_repeat).
    pub place: Option<At<'a>>,
    /// The id of the other document.
    pub in_id: &'a str,
    /// As `place`.
    pub in_place: Option<At<'a>>,
    /// The number of the other document in the input order of its side: in the reference, if there is one.
    pub in_document: usize,
    /// The share of the distinct runs of the document that stand in the other one.
    pub coverage: Similarity,
    /// The length of the document in tokens.
    pub words: u64,
}

/// The name of the measure of [`Coverages::for_each_pair`].
pub const CONTAINMENT: &str = "containment";

/// Two documents of a source, one of which has enough runs of the other.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContainedPair<'a> {
    /// The id of the earlier document.
    pub a: &'a str,
    /// The number of that document in input order, from 0.
    pub a_document: usize,
    /// Where it was read, if [ids repeat](Coverages::ids_repeat).
    pub a_place: Option<At<'a>>,
    /// The id of the later document.
    pub b: &'a str,
    /// The number of that document in input order.
    pub b_document: usize,
    /// As `a_place`.
    pub b_place: Option<At<'a>>,
    /// The share of the runs of the document with fewer distinct runs that stand in the other one.
    pub similarity: Similarity,
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
    let compared = Compared::read(source, reference, options, Purpose::Shares, observer)?;
    let ids_repeat = compared.ids_repeat();
    Ok(Coverages { compared, options: options.clone(), ids_repeat })
}

/// Documents, and the runs that they share.
pub struct Coverages {
    compared: Compared,
    options: ContainOptions,
    ids_repeat: bool,
}

impl Coverages {
    /// The documents that have no runs, because they are shorter than one.
    pub fn short(&self) -> &ShortDocuments {
        &self.compared.short
    }

    /// What was read.
    pub fn counts(&self) -> &PassageCounts {
        &self.compared.counts
    }

    /// As [`Contained::exceeds_filter`](super::Contained::exceeds_filter).
    pub fn exceeds_filter(&self) -> bool {
        self.compared.exceeds_filter
    }

    /// Whether an id does not identify a document of its side, so that documents are identified by their places.
    pub fn ids_repeat(&self) -> bool {
        self.ids_repeat
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
        let place = |document: u32| self.place(document);
        compared.pool.install(|| {
            compared.shared.pairs(&least, search, observer, |document, other, runs| {
                each(&Coverage {
                    id: compared.documents.id(document),
                    document: document as usize,
                    in_id: compared.documents.id(other),
                    place: place(document),
                    in_place: place(other),
                    in_document: compared.in_side(other),
                    coverage: Similarity::ratio(u64::from(runs), u64::from(compared.runs[document as usize])),
                    words: u64::from(compared.tokens[document as usize]),
                })
            })
        })
    }

    /// Calls `each` once for every two documents of the source of which at least one has enough of its runs in the other, in the input
    /// order of the earlier ones, then of the later ones: the share is that of the document with fewer runs. Without a reference only.
    /// Returns the bytes of pairs that went to a temporary file.
    ///
    /// # Errors
    /// There is a reference; otherwise as for [`for_each`](Self::for_each).
    ///
    /// # Cost
    /// As for [`for_each`](Self::for_each), and 16 bytes for each pair, in a quarter of the [memory](ContainOptions::memory) or in a
    /// temporary file.
    ///
    /// ```
    /// use neardups::passages::{ContainOptions, find_coverages};
    /// use neardups::source::Documents;
    ///
    /// let mut mails = Documents::new([("m1", "one two three four"), ("m2", "Zero: one two three four"), ("m3", "one two three")]);
    /// let options = ContainOptions { shingle: 3, ..ContainOptions::default() };
    /// let mut found = Vec::new();
    /// find_coverages(&mut mails, None, &options, &())?.for_each_pair(&(), |pair| {
    ///     found.push(format!("{} {}: {}", pair.a, pair.b, pair.similarity.value()));
    ///     Ok(())
    /// })?;
    /// assert_eq!(found, ["m1 m2: 1", "m1 m3: 1", "m2 m3: 1"]);
    /// # Ok::<(), neardups::Error>(())
    /// ```
    pub fn for_each_pair(
        &self,
        observer: &dyn Observer,
        mut each: impl FnMut(&ContainedPair<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let (Compared { documents, runs, .. }, options) = (&self.compared, &self.options);
        if self.compared.is_against {
            let expected = "no reference: pairs are those of the documents of one source";
            return Err(Error::parameter("against", "a reference", expected));
        }
        let size = |document: usize| runs[document];
        let mut rows = Sorter::new("pairs", options.memory / 4, options.temp_dir.as_deref());
        self.for_each(observer, |&Coverage { document, in_document: other, coverage, .. }| {
            // The other way round, the share is not smaller, so that this pair comes once more.
            if (size(document), document) > (size(other), other) {
                return Ok(());
            }
            rows.push([(document.min(other) as u64) << 32 | document.max(other) as u64, coverage.to_bits()])
        })?;
        let spilled = rows.bytes_spilled();
        let mut sorted = self.compared.pool.install(|| rows.sorted())?;
        while let Some([pair, similarity]) = sorted.next()? {
            check_stopped(observer)?;
            let [a, b] = [(pair >> 32) as u32, pair as u32];
            each(&ContainedPair {
                a: documents.id(a),
                a_document: a as usize,
                a_place: self.place(a),
                b: documents.id(b),
                b_document: b as usize,
                b_place: self.place(b),
                similarity: Similarity::from_bits(similarity),
            })?;
        }
        Ok(spilled)
    }

    fn place(&self, document: u32) -> Option<At<'_>> {
        self.ids_repeat.then(|| self.compared.place(document))
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn every_two_documents_once(
            texts in texts(),
            (shingle, threads) in (1usize..7, 1usize..4),
            least in prop_oneof![Just((1, 2)), Just((1, 1)), Just((1, 100)), Just((7, 10))],
            memory in prop_oneof![Just(0u64), Just(1 << 30)],
        ) {
            let min_coverage = Threshold::new(least.0, least.1).unwrap();
            let options = ContainOptions { shingle, threads, min_coverage, memory, ..ContainOptions::default() };
            let mut rows = Vec::new();
            let found = find_coverages(&mut source(&texts, &[]), None, &options, &()).unwrap();
            let each = |pair: &ContainedPair<'_>| {
                assert_eq!([pair.a, pair.b], [pair.a_document.to_string(), pair.b_document.to_string()]);
                rows.push((pair.a_document, pair.b_document, pair.similarity.value()));
                Ok(())
            };
            found.for_each_pair(&(), each).unwrap();
            // By the definition: the part of the smaller set that is in the other.
            let sets: Vec<Runs> = texts.iter().map(|text| runs(text, shingle)).collect();
            let mut expected = Vec::new();
            for (a, of_a) in sets.iter().enumerate() {
                for (b, of_b) in sets.iter().enumerate().skip(a + 1) {
                    let (shared, smaller) = (of_a.intersection(of_b).count() as u64, of_a.len().min(of_b.len()) as u64);
                    if shared > 0 && min_coverage.reached_by(shared, smaller) {
                        expected.push((a, b, shared as f64 / smaller as f64));
                    }
                }
            }
            prop_assert_eq!(rows, expected);
        }
    }

    /// More pairs than fit; each has the first of the two equal shares.
    #[test]
    fn pairs_that_do_not_fit_go_to_a_file() {
        let texts = vec!["one two three".to_string(); 60];
        let options = ContainOptions { shingle: 1, memory: 0, ..ContainOptions::default() };
        let found = find_coverages(&mut source(&texts, &[]), None, &options, &()).unwrap();
        let mut pairs = Vec::new();
        let spilled = found.for_each_pair(&(), |pair| {
            assert_eq!(pair.similarity, Similarity::ONE);
            pairs.push((pair.a_document, pair.b_document));
            Ok(())
        });
        assert!(spilled.unwrap() > 0);
        assert_eq!(pairs, (0..60).flat_map(|a| (a + 1..60).map(move |b| (a, b))).collect::<Vec<_>>());
    }

    #[test]
    fn pairs_are_those_of_one_source() {
        let options = ContainOptions { shingle: 1, ..ContainOptions::default() };
        for reference in [vec![], vec!["one two".to_string()]] {
            let mut asked = source(&reference, &[]);
            let found = find_coverages(&mut asked, side(&mut Some(source(&reference, &[]))), &options, &()).unwrap();
            let error = found.for_each_pair(&(), |_| Ok(())).unwrap_err();
            assert!(error.to_string().contains("no reference"), "{error}");
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
