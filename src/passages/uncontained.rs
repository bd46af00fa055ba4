//! Which documents to keep so that nothing is lost: those that no kept one contains; against a reference, those that it does not
//! contain, or that contain none of its documents.

use super::choice::Choice;
use super::locate::Documents;
use super::reading::PassageCounts;
use super::runs::{Compared, ContainOptions, Purpose, ShareOf, ShortDocuments};
use crate::error::Error;
use crate::run::observer::Observer;
use crate::run::ordered::workers;
use crate::run::places::At;
use crate::run::rejections::{Recorded, Rejection, Rejections};
use crate::similarity::Similarity;
use crate::source::Source;
use std::cmp::Reverse;
use std::ops::Range;

/// The decision on one record.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContainmentVerdict<'a> {
    /// Its id. For a rejected record whose id could not be read, its place.
    pub id: &'a str,
    /// Its number among the documents, in input order, from 0; `None` for a record that could not be read, which is not a document.
    pub document: Option<usize>,
    /// Where it was read.
    pub place: At<'a>,
    /// Whether it is kept.
    pub keep: bool,
    /// What contains it, if it is not kept; what it contains, if the share is [of the reference](ShareOf::Reference).
    pub container: Option<Container<'a>>,
    /// Which document the coverage is a share of: whether `container` contains this one or is contained in it.
    pub of: ShareOf,
    /// Whether it was not compared, because it is shorter than a run.
    pub is_short: bool,
    /// Why it could not be read and was not compared.
    pub error: Option<&'a str>,
    /// Whether it was rejected by rule, such as a file that holds no text: it counts as skipped, not as failed.
    pub is_skipped: bool,
}

/// A document that contains another one, or is contained in it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Container<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its number in the input order of its side: in the reference, if there is one.
    pub document: usize,
    /// As in [`ContainmentVerdict`].
    pub place: At<'a>,
    /// The share of the distinct runs of the other one that stand in it; of its own that stand in the other one, if the share is
    /// [of the reference](ShareOf::Reference).
    pub coverage: Similarity,
    /// With a reference, the share of the runs of the other one that stand in any of its documents, unless it is a share of these.
    pub coverage_all: Option<Similarity>,
}

/// The documents of a reference that a document contains beside the one that its verdict names.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Further<'a> {
    /// The first ones in input order, at most 10.
    pub first: Vec<Container<'a>>,
    /// The number of those after them.
    pub left_out: u64,
}

/// The maximum number of further documents that are named.
const MOST_FURTHER: usize = if cfg!(test) { 3 } else { 10 };

/// Why a document is dropped.
struct Reason {
    document: u32,
    best: u32,
    /// The runs that both have.
    in_best: u32,
    /// With a reference, the runs that stand in any of its documents.
    in_any: Option<u32>,
    /// The number of documents of the reference of which it has the share, if it is [of these](ShareOf::Reference).
    contained: u32,
}

/// A document of the source, one of the reference of which it has the share, and the runs that both have.
type Pair = (u32, u32, u32);

/// Chooses the documents of a source that are kept. With a `reference`, a document is dropped if one document of it has at least a
/// [share](ContainOptions::min_coverage) of its runs, or all of them together have [another one](ContainOptions::min_coverage_all).
///
/// If the share is [of the reference](ContainOptions::of), a document is dropped if it has at least the share of the runs of one document
/// of the reference: exactly where [`find_coverages`](super::find_coverages) of the reference in the source finds a pair. Of several, the
/// one with the largest share is named, the first in input order, and [`Uncontained::further`] has others.
///
/// Without a reference, documents are decided on in the order of the number of their distinct runs, most first, those with equally many in
/// input order. Each is dropped if a document that is kept has at least the share of its runs. So of every document that is dropped, the
/// share stands in one that is kept. Documents without runs are kept. See [`find_contained`](super::find_contained) for the runs.
///
/// # Errors
/// As for [`find_contained`](super::find_contained), or a share for all together is given without a reference. A share of the reference
/// needs one, and excludes a share for all together.
///
/// # Cost
/// One reading of the source and of the reference. Memory as for [`find_contained`](super::find_contained). Without a reference, 12 bytes
/// more for each document, 32 for each that is dropped, and 4 for each entry of the lists of documents that share runs, in a quarter of
/// the [memory](ContainOptions::memory) or in a temporary file. With one, 4 bytes more for each document of the reference.
///
/// If the share is of the reference, it changes places with the source: it is read first, and only its runs take memory. Time grows with
/// the pairs of a document and one of the reference of which it has the share. Each document of the source takes 12 bytes more, and each
/// that is dropped 12 for each document of the reference that is named, at most 11.
///
/// ```
/// use neardups::passages::{ContainOptions, find_uncontained};
/// use neardups::source::Documents;
///
/// let mut mails = Documents::new([("m1", "one two three four"), ("m2", "Zero: one two three four"), ("m3", "five six")]);
/// let options = ContainOptions { shingle: 3, ..ContainOptions::default() };
/// let found = find_uncontained(&mut mails, None, &options, &())?;
/// let verdicts: Vec<_> = found.verdicts().map(|verdict| (verdict.id, verdict.container.map(|other| other.id))).collect();
/// assert_eq!(verdicts, [("m1", Some("m2")), ("m2", None), ("m3", None)]);
/// # Ok::<(), neardups::Error>(())
/// ```
pub fn find_uncontained(
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    options: &ContainOptions,
    observer: &dyn Observer,
) -> Result<Uncontained, Error> {
    let is_among = reference.is_none();
    if is_among && options.min_coverage_all.is_some() {
        let message = "`min-coverage-all` has an effect on what is kept only with a reference: name one with `against`";
        return Err(Error::Usage(message.into()));
    }
    let mut compared = Compared::read(source, reference, options, Purpose::Verdicts, observer)?;
    let mut pairs = Vec::new();
    let (reasons, followed) = match (is_among, options.of) {
        (true, _) => among_themselves(&mut compared, options, observer)?,
        (false, ShareOf::Document) => in_reference(&compared, options, observer)?,
        (false, ShareOf::Reference) => of_reference(&compared, options, &mut pairs, observer)?,
    };
    let ids_repeat = compared.ids_repeat();
    let Compared { documents, rejections, tokens, runs, asked, short, counts, exceeds_filter, .. } = compared;
    Ok(Uncontained {
        reasons,
        pairs,
        documents,
        rejections,
        tokens,
        runs,
        asked,
        options: options.clone(),
        short,
        followed,
        exceeds_filter,
        counts,
        ids_repeat,
    })
}

fn among_themselves(
    compared: &mut Compared,
    options: &ContainOptions,
    observer: &dyn Observer,
) -> Result<(Vec<Reason>, u64), Error> {
    let runs = |document: u32| compared.runs[document as usize];
    let mut order: Vec<u32> = (0..compared.asked).collect();
    order.sort_unstable_by_key(|&document| (Reverse(runs(document)), document));
    let least = |document: u32| compared.least(options, document)[0];
    let memory = (options.memory, options.temp_dir.as_deref());
    let Choice { dropped, read, spilled } = compared.shared.choose(&order, &least, memory, observer)?;
    compared.counts.spilled += spilled;
    let reason = |(document, best, in_best)| Reason { document, best, in_best, in_any: None, contained: 0 };
    Ok((dropped.into_iter().map(reason).collect(), read))
}

fn in_reference(
    compared: &Compared,
    options: &ContainOptions,
    observer: &dyn Observer,
) -> Result<(Vec<Reason>, u64), Error> {
    let least = |document: u32| compared.least(options, document);
    let search = (workers(options.threads), options.memory);
    let (answers, followed) = compared.pool.install(|| compared.shared.answers(&least, search, observer))?;
    let reasons = answers.into_iter().map(|answer| Reason {
        document: answer.document,
        best: answer.best,
        in_best: answer.in_best,
        in_any: Some(answer.in_any),
        contained: 0,
    });
    Ok((reasons.collect(), followed))
}

/// The documents of the source that have enough of one of the reference, which is asked about: each with the one of which it has the
/// largest share. Those with several are in `pairs` with the first of them, in order.
fn of_reference(
    compared: &Compared,
    options: &ContainOptions,
    pairs: &mut Vec<Pair>,
    observer: &dyn Observer,
) -> Result<(Vec<Reason>, u64), Error> {
    let asked = compared.asked;
    let least = |reference: u32| compared.least(options, reference)[0];
    let search = (workers(options.threads), options.memory);
    // The runs that both have, the document of the reference, and the number of pairs. No pair has 0 runs.
    let mut best = vec![(0u32, 0u32, 0u32); (compared.documents.len() - asked) as usize];
    let runs = |reference: u32| u64::from(compared.runs[reference as usize]);
    let followed = compared.pool.install(|| {
        compared.shared.pairs(&least, search, observer, |reference, document, shared| {
            let best = &mut best[(document - asked) as usize];
            // The best one, and further ones.
            if best.2 as usize <= MOST_FURTHER {
                pairs.push((document, reference, shared));
            }
            best.2 += 1;
            // In the order of the reference: the first one of equal shares stays.
            if best.0 == 0 || u64::from(shared) * runs(best.1) > u64::from(best.0) * runs(reference) {
                (best.0, best.1) = (shared, reference);
            }
            Ok(())
        })
    })?;
    pairs.retain(|&(document, ..)| best[(document - asked) as usize].2 > 1);
    pairs.shrink_to_fit();
    pairs.sort_unstable();
    let found = (asked..).zip(best).filter(|(_, (shared, ..))| *shared > 0);
    let reason = |(document, (in_best, best, contained))| Reason { document, best, in_best, in_any: None, contained };
    Ok((found.map(reason).collect(), followed))
}

/// The decisions on the documents of a source.
pub struct Uncontained {
    /// Of those that are dropped, ascending.
    reasons: Vec<Reason>,
    /// The first pairs of documents that are in several, ascending.
    pairs: Vec<Pair>,
    documents: Documents,
    rejections: Rejections,
    /// The tokens of each document, and the distinct runs of each that was asked about.
    tokens: Vec<u32>,
    runs: Vec<u32>,
    /// The number of documents of the side that was read first.
    asked: u32,
    options: ContainOptions,
    short: ShortDocuments,
    followed: u64,
    exceeds_filter: bool,
    counts: PassageCounts,
    ids_repeat: bool,
}

impl Uncontained {
    /// The number of documents that are not kept.
    pub fn dropped(&self) -> u64 {
        self.reasons.len() as u64
    }

    /// The documents that have no runs, because they are shorter than one.
    pub fn short(&self) -> &ShortDocuments {
        &self.short
    }

    /// Checks that some document of the reference, if there is one, could match: if all are shorter than a run, nothing is left out,
    /// whatever the documents are.
    ///
    /// # Errors
    /// [`Error::Empty`] if all are shorter.
    pub fn check_lengths(&self) -> Result<(), Error> {
        self.short.check(self.counts.references, ("shingle", self.options.shingle))
    }

    /// The median numbers of tokens of the documents and of those of the reference. The larger of two; 0 if there are none.
    ///
    /// Cost: a copy of the numbers of tokens.
    pub fn median_tokens(&self) -> [u32; 2] {
        let ranges = [self.decided(), self.references()];
        ranges.map(|Range { start, end }| {
            let mut tokens = self.tokens[start as usize..end as usize].to_vec();
            let middle = tokens.len() / 2;
            if tokens.is_empty() { 0 } else { *tokens.select_nth_unstable(middle).1 }
        })
    }

    /// What was read.
    pub fn counts(&self) -> &PassageCounts {
        &self.counts
    }

    /// As [`Contained::exceeds_filter`](super::Contained::exceeds_filter).
    pub fn exceeds_filter(&self) -> bool {
        self.exceeds_filter
    }

    /// As [`Contained::followed`](super::Contained::followed).
    pub fn followed(&self) -> u64 {
        self.followed
    }

    /// Whether two documents of one side have the same id, so that they are identified by their places.
    pub fn ids_repeat(&self) -> bool {
        self.ids_repeat
    }

    /// A verdict for every record, including those that could not be read, in input order. Those of the reference have none.
    pub fn verdicts(&self) -> impl Iterator<Item = ContainmentVerdict<'_>> {
        let mut reasons = self.reasons.iter().peekable();
        let Range { start, end } = self.decided();
        self.rejections.merged(start..end).map(move |record| {
            let document = match record {
                Recorded::Document(document) => document,
                Recorded::Rejected(rejection) => return rejected(&rejection, self.options.of),
            };
            let reason = reasons.next_if(|reason| reason.document == document);
            ContainmentVerdict {
                id: self.documents.id(document),
                document: Some((document - start) as usize),
                place: self.place(document),
                keep: reason.is_none(),
                container: reason.map(|reason| self.container(reason)),
                of: self.options.of,
                is_short: (self.tokens[document as usize] as usize) < self.options.shingle,
                error: None,
                is_skipped: false,
            }
        })
    }

    /// The documents of the reference that this document of the source contains beside the one that its [verdict](Self::verdicts) names.
    /// None unless the share is [of the reference](ShareOf::Reference), and the document is dropped.
    ///
    /// Cost: logarithmic in the documents that are dropped.
    pub fn further(&self, document: usize) -> Further<'_> {
        let number = self.decided().start.saturating_add(u32::try_from(document).unwrap_or(u32::MAX));
        let reason = self.reasons.binary_search_by_key(&number, |reason| reason.document);
        let Some(reason) = reason.ok().map(|at| &self.reasons[at]) else {
            return Further { first: Vec::new(), left_out: 0 };
        };
        let start = self.pairs.partition_point(|&(document, ..)| document < number);
        let own = self.pairs[start..].iter().take_while(|&&(document, ..)| document == number);
        let others = own.filter(|&&(_, reference, _)| reference != reason.best).take(MOST_FURTHER);
        let container = |&(document, best, in_best): &Pair| {
            self.container(&Reason { document, best, in_best, in_any: None, contained: 0 })
        };
        let first: Vec<_> = others.map(container).collect();
        Further { left_out: u64::from(reason.contained.saturating_sub(1)) - first.len() as u64, first }
    }

    /// The documents of the source.
    fn decided(&self) -> Range<u32> {
        match self.options.of {
            ShareOf::Document => 0..self.asked,
            ShareOf::Reference => self.asked..self.documents.len(),
        }
    }

    /// Those of the reference.
    fn references(&self) -> Range<u32> {
        match self.options.of {
            ShareOf::Document => self.asked..self.documents.len(),
            ShareOf::Reference => 0..self.asked,
        }
    }

    fn place(&self, document: u32) -> At<'_> {
        self.documents.place(document)
    }

    fn container(&self, reason: &Reason) -> Container<'_> {
        let &Reason { document, best, in_best, in_any, .. } = reason;
        let whole = if self.options.of == ShareOf::Document { document } else { best };
        let share = |part: u32| Similarity::ratio(u64::from(part), u64::from(self.runs[whole as usize]));
        Container {
            id: self.documents.id(best),
            document: (if best < self.asked { best } else { best - self.asked }) as usize,
            place: self.place(best),
            coverage: share(in_best),
            coverage_all: in_any.map(share),
        }
    }
}

/// The verdict on a record that could not be read: it is kept, because its content is unknown.
fn rejected<'a>(rejection: &Rejection<'a>, of: ShareOf) -> ContainmentVerdict<'a> {
    let &Rejection { id, at, why, is_skipped } = rejection;
    ContainmentVerdict {
        id,
        document: None,
        place: at,
        keep: true,
        container: None,
        of,
        is_short: false,
        error: Some(why),
        is_skipped,
    }
}

#[cfg(test)]
mod tests {
    use super::super::contained::tests::{Runs, runs, side, source, texts, tokens, words};
    use super::super::coverages::{Coverage, find_coverages};
    use super::*;
    use crate::similarity::Threshold;
    use crate::source::{Problem, Records};
    use proptest::prelude::*;

    /// What contains a document, if it is dropped, and the shares.
    type Row = Option<(usize, f64, Option<f64>)>;

    fn found(texts: &[String], reference: Option<&[String]>, options: &ContainOptions) -> (Vec<Row>, u64) {
        let (mut asked, mut reference) = (source(texts, &[]), reference.map(|texts| source(texts, &[])));
        let found = find_uncontained(&mut asked, side(&mut reference), options, &()).unwrap();
        let row = |(number, verdict): (usize, ContainmentVerdict<'_>)| {
            assert_eq!((verdict.id, verdict.document), (&*number.to_string(), Some(number)));
            assert_eq!((verdict.keep, verdict.error), (verdict.container.is_none(), None));
            assert_eq!(verdict.is_short, tokens(&texts[number]).len() < options.shingle);
            verdict.container.map(|other| {
                assert_eq!(other.id, other.document.to_string());
                (other.document, other.coverage.value(), other.coverage_all.map(Similarity::value))
            })
        };
        let rows: Vec<Row> = found.verdicts().enumerate().map(row).collect();
        assert_eq!(found.dropped() as usize, rows.iter().flatten().count());
        (rows, found.followed())
    }

    /// By the definition: sets of runs, and every pair.
    fn expected(texts: &[String], reference: Option<&[String]>, options: &ContainOptions) -> Vec<Row> {
        let sets = |texts: &[String]| texts.iter().map(|text| runs(text, options.shingle)).collect::<Vec<Runs>>();
        let (asked, others) = (sets(texts), sets(reference.unwrap_or(texts)));
        let mut order: Vec<usize> = (0..texts.len()).collect();
        let mut open: Vec<usize> = (0..others.len()).collect();
        if reference.is_none() {
            order.sort_by_key(|&document| Reverse(asked[document].len()));
            open.clear();
        }
        let mut rows = vec![None; texts.len()];
        for document in order {
            let own = &asked[document];
            let shared = |&other: &usize| (own.intersection(&others[other]).count(), Reverse(other));
            let best = open.iter().map(shared).max().filter(|&(shared, _)| shared > 0);
            let any: Runs = open.iter().flat_map(|&other| own.intersection(&others[other]).cloned()).collect();
            let reaches = |least: Threshold, shared: usize| least.reached_by(shared as u64, own.len() as u64);
            let share = |part: usize| part as f64 / own.len() as f64;
            rows[document] = best
                .filter(|&(shared, _)| {
                    reaches(options.min_coverage, shared)
                        || options.min_coverage_all.is_some_and(|least| reaches(least, any.len()))
                })
                .map(|(shared, Reverse(other))| (other, share(shared), reference.map(|_| share(any.len()))));
            if reference.is_none() && rows[document].is_none() {
                open.push(document);
            }
        }
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn the_choice_of_sets_of_runs(
            (texts, reference) in (texts(), prop::option::of(texts())),
            (shingle, threads) in (1usize..7, 1usize..5),
            least in prop_oneof![Just((1, 2)), Just((1, 1)), Just((1, 100)), Just((7, 10))],
            least_all in prop_oneof![Just(None), Just(Some((1, 100))), Just(Some((9, 10)))],
            memory in prop_oneof![Just(0u64), Just(1 << 30)],
        ) {
            let threshold = |(part, all)| Threshold::new(part, all).unwrap();
            let min_coverage_all = least_all.map(threshold).filter(|_| reference.is_some());
            let min_coverage = threshold(least);
            let options = ContainOptions { shingle, threads, min_coverage, min_coverage_all, memory, ..ContainOptions::default() };
            let (rows, _) = found(&texts, reference.as_deref(), &options);
            prop_assert_eq!(rows, expected(&texts, reference.as_deref(), &options));
        }
    }

    /// By the definition: the document of the reference that has the largest share in each document.
    fn expected_of_reference(texts: &[String], reference: &[String], options: &ContainOptions) -> Vec<Row> {
        let sets = |texts: &[String]| texts.iter().map(|text| runs(text, options.shingle)).collect::<Vec<Runs>>();
        let (pages, questions) = (sets(texts), sets(reference));
        let best = |page: &Runs| {
            let mut best: Row = None;
            for (number, question) in questions.iter().enumerate() {
                let shared = question.intersection(page).count();
                let share = shared as f64 / question.len() as f64;
                let has_enough = shared > 0 && options.min_coverage.reached_by(shared as u64, question.len() as u64);
                if has_enough && best.is_none_or(|(_, most, _)| share > most) {
                    best = Some((number, share, None));
                }
            }
            best
        };
        pages.iter().map(best).collect()
    }

    /// By the definition: beside the one that is named, the first three that a document contains, with their shares, and how many there are
    /// after them.
    fn expected_further(
        texts: &[String],
        reference: &[String],
        options: &ContainOptions,
    ) -> Vec<(Vec<(usize, f64)>, u64)> {
        let named = expected_of_reference(texts, reference, options);
        let questions: Vec<Runs> = reference.iter().map(|text| runs(text, options.shingle)).collect();
        let further = |(text, named): (&String, &Row)| {
            let page = runs(text, options.shingle);
            let shared = |question: &Runs| (question.intersection(&page).count(), question.len());
            let all = questions.iter().enumerate().map(|(number, question)| (number, shared(question)));
            let mut others: Vec<(usize, f64)> = all
                .filter(|&(number, _)| named.is_some_and(|(best, ..)| best != number))
                .filter(|&(_, (shared, all))| shared > 0 && options.min_coverage.reached_by(shared as u64, all as u64))
                .map(|(number, (shared, all))| (number, shared as f64 / all as f64))
                .collect();
            let left_out = others.len().saturating_sub(3) as u64;
            others.truncate(3);
            (others, left_out)
        };
        texts.iter().zip(&named).map(further).collect()
    }

    fn found_further(
        texts: &[String],
        reference: &[String],
        options: &ContainOptions,
    ) -> Vec<(Vec<(usize, f64)>, u64)> {
        let (mut asked, mut reference) = (source(texts, &[]), Some(source(reference, &[])));
        let found = find_uncontained(&mut asked, side(&mut reference), options, &()).unwrap();
        let row = |document| {
            let Further { first, left_out } = found.further(document);
            (first.iter().map(|other| (other.document, other.coverage.value())).collect(), left_out)
        };
        (0..texts.len()).map(row).collect()
    }

    /// The documents that the pairs of the reference in the source name, each with its best pair.
    fn of_pairs(texts: &[String], reference: &[String], options: &ContainOptions) -> Vec<Row> {
        let options = ContainOptions { of: ShareOf::Document, ..options.clone() };
        let pairs = find_coverages(&mut source(reference, &[]), side(&mut Some(source(texts, &[]))), &options, &());
        let mut rows: Vec<Row> = vec![None; texts.len()];
        let each = |pair: &Coverage<'_>| {
            let (row, share) = (&mut rows[pair.in_document], pair.coverage.value());
            if row.is_none_or(|(_, most, _)| share > most) {
                *row = Some((pair.document, share, None));
            }
            Ok(())
        };
        pairs.unwrap().for_each(&(), each).unwrap();
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn shares_of_the_reference(
            (texts, reference) in (texts(), texts()),
            (shingle, threads) in (1usize..7, 1usize..5),
            least in prop_oneof![Just(None), Just(Some((1, 2))), Just(Some((1, 1))), Just(Some((1, 100))), Just(Some((7, 10)))],
            memory in prop_oneof![Just(0u64), Just(1 << 30)],
        ) {
            let min_coverage = least.map_or(Threshold::LEAST, |(part, all)| Threshold::new(part, all).unwrap());
            let of = ShareOf::Reference;
            let options = ContainOptions { shingle, threads, min_coverage, of, memory, ..ContainOptions::default() };
            let (rows, _) = found(&texts, Some(&reference), &options);
            prop_assert_eq!(&rows, &expected_of_reference(&texts, &reference, &options));
            prop_assert_eq!(&rows, &of_pairs(&texts, &reference, &options));
            let further = expected_further(&texts, &reference, &options);
            prop_assert_eq!(found_further(&texts, &reference, &options), further);
            // One run in common is one of both.
            if min_coverage == Threshold::LEAST {
                let options = ContainOptions { of: ShareOf::Document, ..options };
                let (of_documents, _) = found(&texts, Some(&reference), &options);
                let dropped = |rows: &[Row]| rows.iter().map(Option::is_some).collect::<Vec<_>>();
                prop_assert_eq!(dropped(&rows), dropped(&of_documents));
            }
        }
    }

    /// A page with a question, one with half of it, and one that is shorter than a run.
    #[test]
    fn a_question_in_a_long_page() {
        let question = words(0..20);
        let pages = [words(100..400) + &question + &words(500..900), words(1000..1300) + &words(0..10), words(0..2)];
        let reference = [words(2000..2002), question, words(0..20)];
        let options = ContainOptions { shingle: 5, of: ShareOf::Reference, ..ContainOptions::default() };
        let (rows, _) = found(&pages, Some(&reference), &options);
        assert_eq!(rows, [Some((1, 1.0, None)), None, None]);
        let of_pages = ContainOptions { of: ShareOf::Document, ..options.clone() };
        let (rows, _) = found(&pages, Some(&reference), &of_pages);
        assert_eq!(rows, [None, None, None]);
        for options in [options, of_pages] {
            let (mut asked, mut reference) = (source(&pages, &[]), Some(source(&reference, &[])));
            let found = find_uncontained(&mut asked, side(&mut reference), &options, &()).unwrap();
            let expected = ShortDocuments {
                documents: 1,
                references: 1,
                first_references: vec!["0".into()],
                shortest_reference: 2,
            };
            assert_eq!(*found.short(), expected);
            assert_eq!(found.median_tokens(), [310, 20]);
            let PassageCounts { documents, references, .. } = found.counts();
            assert_eq!((*documents, *references), (3, 3));
        }
    }

    /// More than are named, of which the best is the last.
    #[test]
    fn a_page_with_many_questions() {
        let questions: Vec<String> = (0..8).map(|n| words(100 * n..100 * n + 20)).collect();
        let page: String = (0..8).map(|n| words(100 * n..100 * n + if n == 7 { 20 } else { 15 })).collect();
        let min_coverage = Threshold::new(1, 2).unwrap();
        let options = ContainOptions { shingle: 5, of: ShareOf::Reference, min_coverage, ..ContainOptions::default() };
        let pages = [page, words(5000..5100)];
        let (rows, _) = found(&pages, Some(&questions), &options);
        assert_eq!(rows, [Some((7, 1.0, None)), None]);
        // 11 of 16 runs.
        let further = vec![(0, 0.6875), (1, 0.6875), (2, 0.6875)];
        assert_eq!(found_further(&pages, &questions, &options), [(further, 4), (Vec::new(), 0)]);
    }

    #[test]
    fn shares_of_the_reference_need_one() {
        let texts = ["one two".to_string()];
        let options = ContainOptions { of: ShareOf::Reference, shingle: 1, ..ContainOptions::default() };
        let error = |error: Error| error.to_string();
        let alone = find_uncontained(&mut source(&texts, &[]), None, &options, &()).err().map(error).unwrap();
        assert!(alone.contains("needs a reference"), "{alone}");
        let reference = || Some(source(&texts, &[]));
        let with_all = ContainOptions { min_coverage_all: Some(Threshold::LEAST), ..options.clone() };
        let found = find_uncontained(&mut source(&texts, &[]), side(&mut reference()), &with_all, &());
        let with_all = found.err().map(error).unwrap();
        assert!(with_all.contains("excludes `min-coverage-all`"), "{with_all}");
        let pairs = find_coverages(&mut source(&texts, &[]), side(&mut reference()), &options, &());
        let pairs = pairs.err().map(error).unwrap();
        assert!(pairs.contains("search for it in the documents"), "{pairs}");
    }

    /// What very many documents have in common is not followed for each pair, whether they are kept or not.
    #[test]
    fn time_that_is_not_quadratic() {
        let licence = words(0..50);
        let count = 3000;
        let own = |n: u64, length| words(1000 * (n + 1)..1000 * (n + 1) + length);
        let alone = vec![licence.clone(); count];
        let with_own: Vec<String> = (0..count as u64).map(|n| licence.clone() + &own(n, 30)).collect();
        let with_shared: Vec<String> = (0..count as u64).map(|n| own(n / 2, 30) + &licence).collect();
        let licences: Vec<String> = (0..6).map(|n| words(500 + 100 * n..540 + 100 * n)).collect();
        let with_three =
            |n: u64| (0..3).map(|at| own(9 * n + at, 3) + &licences[(n % 4 + 2 * at) as usize % 6]).collect();
        let with_three: Vec<String> = (0..count as u64).map(with_three).collect();
        let beside_three: Vec<String> =
            (0..count as u64).map(|n| own(n / 2, 13) + &with_three[(n * 7 % 3000) as usize]).collect();
        let thread: Vec<String> = (0..200u64)
            .scan(String::new(), |quoted, n| {
                *quoted = own(n, 20) + quoted;
                Some(quoted.clone())
            })
            .collect();
        for least in [(1, 100), (1, 2), (7, 10), (99, 100), (1, 1)] {
            let min_coverage = Threshold::new(least.0, least.1).unwrap();
            let options = ContainOptions { min_coverage, ..ContainOptions::default() };
            for texts in [&alone, &with_own, &with_shared, &with_three, &beside_three] {
                let (_, followed) = found(texts, None, &options);
                assert!(followed < 60 * count as u64, "{followed} at {least:?}");
            }
            // Every message quotes all before it: the last one is kept.
            let (rows, followed) = found(&thread, None, &options);
            assert!(rows[..199].iter().all(|row| *row == Some((199, 1.0, None))) && rows[199].is_none());
            let all: u64 = thread.iter().map(|text| tokens(text).len() as u64).sum();
            assert!(followed < all, "{followed} of {all}");
        }
    }

    /// Records that could not be read have verdicts too, at their places in the order.
    #[test]
    fn rejected_records() {
        let mut records = Records::new(|| {
            [Err("x"), Ok(("a", "one two three")), Err("y"), Err("a"), Ok(("b", "one two three four"))]
                .map(|record| record.map_err(|id| Problem::of_record(id, "it is not text")))
                .into_iter()
        });
        let options = ContainOptions { shingle: 3, ..ContainOptions::default() };
        let found = find_uncontained(&mut records, None, &options, &()).unwrap();
        let verdicts: Vec<_> = found.verdicts().map(|verdict| (verdict.id, verdict.keep, verdict.error)).collect();
        let failed = |id| (id, true, Some("it is not text"));
        assert_eq!(verdicts, [failed("x"), ("a", false, None), failed("y"), failed("a"), ("b", true, None)]);
        assert!(found.ids_repeat());
        assert_eq!((found.dropped(), found.counts().failed), (1, 3));
        // Those of the reference have none, also if it is read first.
        let mut reference =
            Records::new(|| [Ok(("q", "two three four")), Err(Problem::of_record("r", "it is not text"))].into_iter());
        let options = ContainOptions { of: ShareOf::Reference, ..options };
        let found = find_uncontained(&mut records, Some(&mut reference), &options, &()).unwrap();
        let verdicts: Vec<_> = found.verdicts().map(|verdict| (verdict.id, verdict.keep, verdict.error)).collect();
        assert_eq!(verdicts, [failed("x"), ("a", true, None), failed("y"), failed("a"), ("b", false, None)]);
        assert_eq!((found.dropped(), found.counts().failed), (1, 4));
    }
}
