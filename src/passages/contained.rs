//! How much of each document stands in others.
//!
//! ```text
//! read     batches → words → distinct runs of words                                            (runs.rs)
//! share    runs → the documents that share most of them                                        (shared.rs)
//! read     the documents that are reported, and those that contain them, again                 (locate.rs)
//! match    the passages that both have                                                         (matched.rs)
//! ```

use super::locate::{Again, AgainDocument, Documents, RUN_AGAIN};
use super::matched::{Kept, KeptPart, PassagesOfPairs};
use super::reading::{PassageCounts, check_stopped};
use super::runs::{Compared, ContainOptions, Purpose, ShortDocuments};
use super::shared::Answer;
use crate::error::Error;
use crate::postings::Buffer;
use crate::run::batches::Side;
use crate::run::observer::Observer;
use crate::run::ordered::workers;
use crate::run::places::At;
use crate::similarity::Similarity;
use crate::source::{Place, Problem, ProblemKind, Severity, Source};
use rayon::ThreadPool;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A document that is contained in others; with [`lists_all`](ContainOptions::lists_all), any document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Containment<'a> {
    /// The id of the document.
    pub id: &'a str,
    /// Where it was read, if [ids repeat](Contained::ids_repeat).
    pub place: Option<At<'a>>,
    /// The number of the document in input order, from 0.
    pub document: usize,
    /// The id of the document that has most of its runs, the first of several in input order; `None` if no other document has any.
    pub in_id: Option<&'a str>,
    /// As `place`.
    pub in_place: Option<At<'a>>,
    /// The number of that document in the input order of its side: in the reference, if there is one.
    pub in_document: Option<usize>,
    /// Whether it has runs: it is not shorter than one.
    pub has_runs: bool,
    /// The share of the distinct runs of the document that stand in that one.
    pub coverage: Similarity,
    /// The share of its distinct runs that stand in any other document.
    pub coverage_all: Similarity,
    /// Its length in tokens.
    pub words: u64,
    /// What both documents have, in the order of this one. Together, these passages have all runs that both have.
    pub passages: Vec<SharedPassage>,
    /// The number of further passages, because of [`max_passages`](ContainOptions::max_passages).
    pub left_out: u64,
}

/// A passage of a document and of the one that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedPassage {
    /// Its bytes in the text of the document, as it was read.
    pub range: Range<usize>,
    /// The line in the text that it begins on, from 1.
    pub line: usize,
    /// Its bytes in the text of the containing document.
    pub in_range: Range<usize>,
    /// The line in that text.
    pub in_line: usize,
}

/// Finds the documents of a source of which at least a [share](ContainOptions::min_coverage) stands in one other document; with a
/// `reference`, in one document of it.
///
/// The share is that of the distinct runs of [`shingle`](ContainOptions::shingle) tokens. Runs are compared by their 64-bit hashes; apart
/// from collisions, which have a probability of about n²/2⁶⁵ for `n` distinct runs, the shares are exact. A document with fewer tokens has no
/// runs: it is counted by [`Contained::short`] and contained in nothing. The share is Broder's containment (*On the Resemblance and
/// Containment of Documents*, SEQUENCES 1997).
///
/// # Errors
/// The tokenizer is refused, `shingle` is 0, a document does not fit the memory, no record has a
/// [field](ContainOptions::required_fields) that some must have, a temporary file cannot be written, or threads cannot be started.
/// Problems with single documents are not errors: they go to the observer and the counts.
///
/// # Cost
/// One reading of the source and of the reference, and at most another one in [`Contained::for_each`]. Each distinct run of a document
/// of the source takes 16 bytes of memory or of a temporary file; of the reference only those that a document of the source has, and
/// 0.4 % of the others while the runs of the source fit a filter of an eighth of the memory. Beyond that it is more: see
/// [`Contained::exceeds_filter`]. Documents that share runs are compared by groups of runs that stand in the same documents, so that
/// what very many documents have in common costs what it costs to read. Each such group takes 24 bytes for each of its documents, then
/// 16, and 8 for each entry of its list of documents, in memory or in temporary files.
///
/// Beside [`memory`](ContainOptions::memory), memory is taken for each document of either side: its id, 28 bytes, and 8 for a moment, to
/// see whether ids repeat; during the comparison also 4 bytes on each of at most 4 threads. A file takes some 50 bytes and its path. A
/// document of the source takes 16 bytes more, and one that is reported 60.
///
/// ```
/// use neardups::passages::{ContainOptions, find_contained};
/// use neardups::source::Documents;
///
/// let mut mails = Documents::new([("m1", "one two three four five"), ("m2", "Zero: one two three four five")]);
/// let options = ContainOptions { shingle: 3, ..ContainOptions::default() };
/// let mut contained = find_contained(&mut mails, None, &options, &())?;
/// let mut found = Vec::new();
/// contained.for_each(&mut mails, None, &(), |containment| {
///     found.push(format!("{} in {}: {}", containment.id, containment.in_id.unwrap(), containment.coverage.value()));
///     Ok(())
/// })?;
/// assert_eq!(found, ["m1 in m2: 1", "m2 in m1: 0.75"]);
/// # Ok::<(), neardups::Error>(())
/// ```
pub fn find_contained(
    source: &mut dyn Source,
    reference: Option<&mut dyn Source>,
    options: &ContainOptions,
    observer: &dyn Observer,
) -> Result<Contained, Error> {
    let compared = Compared::read(source, reference, options, Purpose::Passages, observer)?;
    let least = |document: u32| match options.lists_all {
        true => [1, u64::MAX],
        false => compared.least(options, document),
    };
    let search = (workers(options.threads), options.memory);
    let (answers, followed) = compared.pool.install(|| compared.shared.answers(&least, search, observer))?;
    let ids_repeat = compared.ids_repeat();
    let Compared { documents, tokens, runs, asked, short, exceeds_filter, counts, pool, .. } = compared;
    Ok(Contained {
        answers,
        documents,
        ids_repeat,
        tokens,
        runs,
        asked,
        short,
        followed,
        exceeds_filter,
        options: options.clone(),
        spilled: counts.spilled,
        counts,
        changed: BTreeSet::new(),
        pool,
    })
}

/// The documents of a source that are contained in others.
pub struct Contained {
    answers: Vec<Answer>,
    documents: Documents,
    ids_repeat: bool,
    tokens: Vec<u32>,
    runs: Vec<u32>,
    /// The number of documents of the source, which come before those of the reference.
    asked: u32,
    short: ShortDocuments,
    followed: u64,
    exceeds_filter: bool,
    options: ContainOptions,
    /// The bytes in temporary files before the second reading.
    spilled: u64,
    counts: PassageCounts,
    /// The documents that are not reported because they, or those that contain them, have changed since they were read first.
    changed: BTreeSet<u32>,
    pool: ThreadPool,
}

impl Contained {
    /// Their number, without those that share nothing.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// The documents that have no runs, because they are shorter than one.
    pub fn short(&self) -> &ShortDocuments {
        &self.short
    }

    /// What was read.
    pub fn counts(&self) -> &PassageCounts {
        &self.counts
    }

    /// Whether the runs of the source are more than the filter for the reference has room for, at this
    /// [memory](ContainOptions::memory). Then more than 0.4 % of the runs of the reference that no document of the source has are kept,
    /// in memory or in a temporary file. What is found is the same.
    pub fn exceeds_filter(&self) -> bool {
        self.exceeds_filter
    }

    /// Whether an id does not identify a document of its side, so that documents are identified by their places.
    pub fn ids_repeat(&self) -> bool {
        self.ids_repeat
    }

    /// The entries of lists of documents with a run in common that were read: a measure of the time that the comparison took.
    pub fn followed(&self) -> u64 {
        self.followed
    }

    /// Reads the sources again, which must be the same, and calls `each` with every document that is contained, in input order; with
    /// [`lists_all`](ContainOptions::lists_all), with every document of the source. A document
    /// that has changed, or whose containing document has, is missing: it is a problem, and counted once, however often this is called.
    ///
    /// # Errors
    /// Those of `each`, a source fails as a whole, or a temporary file cannot be written.
    ///
    /// # Cost
    /// One reading, in which only these documents and those that contain them are cut into tokens; none if nothing is contained. 16 bytes
    /// for each of their tokens, in memory or in a temporary file.
    pub fn for_each(
        &mut self,
        source: &mut dyn Source,
        reference: Option<&mut dyn Source>,
        observer: &dyn Observer,
        mut each: impl FnMut(&Containment<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let all = if self.options.lists_all { self.asked } else { 0 };
        if self.answers.is_empty() {
            return (0..all).try_for_each(|document| each(&self.uncontained(document)));
        }
        let source = Side { reference: false, source };
        let reference: Option<Side<'_>> = reference.map(|source| Side { reference: true, source });
        let mut sources: Vec<Side<'_>> = [source].into_iter().chain(reference).collect();
        let kept = self.read_again(&mut sources, observer)?;
        let ContainOptions { shingle, max_passages, memory, ref temp_dir, .. } = self.options;
        let (widths, folder) = ((shingle, max_passages), temp_dir.as_deref());
        let found = self.pool.install(|| kept.passages(&self.answers, widths, (memory, folder), observer))?;
        self.counts.spilled = self.spilled + kept.bytes_spilled() + found.bytes_spilled();
        let (mut buffer, mut next) = (Buffer::default(), 0);
        for (pair, answer) in self.answers.iter().enumerate() {
            check_stopped(observer)?;
            (next..answer.document.min(all)).try_for_each(|document| each(&self.uncontained(document)))?;
            next = answer.document + 1;
            if kept.get(answer.document).is_none() {
                continue;
            }
            if kept.get(answer.best).is_none() {
                if self.changed.insert(answer.document) {
                    let problem = self.lost(answer);
                    self.counts.problem(&problem);
                    observer.problem(&problem);
                }
                continue;
            }
            each(&self.containment(answer, &found, pair, &mut buffer)?)?;
        }
        (next..all).try_for_each(|document| each(&self.uncontained(document)))
    }

    /// A document that shares nothing.
    fn uncontained(&self, document: u32) -> Containment<'_> {
        let none = Similarity::ratio(0, 1);
        Containment {
            id: self.documents.id(document),
            place: self.ids_repeat.then(|| self.documents.place(document)),
            document: document as usize,
            in_id: None,
            in_place: None,
            in_document: None,
            has_runs: self.runs[document as usize] > 0,
            coverage: none,
            coverage_all: none,
            words: u64::from(self.tokens[document as usize]),
            passages: Vec::new(),
            left_out: 0,
        }
    }

    /// Keeps the words of the documents that are reported.
    fn read_again(&mut self, sources: &mut [Side<'_>], observer: &dyn Observer) -> Result<Kept, Error> {
        let options = &self.options;
        let mut wanted = vec![0u64; (self.documents.len() as usize).div_ceil(64)];
        for number in self.answers.iter().flat_map(|answer| [answer.document, answer.best]) {
            wanted[number as usize / 64] |= 1 << (number % 64);
        }
        let kept = Mutex::new(Kept::new(options.memory / 4, options.temp_dir.as_deref()));
        let answers = &self.answers;
        let lost = |number: u32| match answers.binary_search_by_key(&number, |answer| answer.document) {
            Ok(_) => "its coverage is not reported",
            Err(_) => "the coverage of the documents that it contains is not reported",
        };
        let again = Again { documents: &self.documents, words: options.words(), observer, lost: &lost };
        self.counts.failed += again.read(
            sources,
            |number| wanted[number as usize / 64] >> (number % 64) & 1 == 1,
            |part: &mut KeptPart, number, document: &AgainDocument<'_>| Kept::keep(&kept, part, number, document),
            &mut self.changed,
            |part| {
                Kept::add(&kept, part);
                Ok(())
            },
        )?;
        Ok(kept.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn containment<'a>(
        &'a self,
        answer: &Answer,
        found: &PassagesOfPairs,
        pair: usize,
        buffer: &mut Buffer,
    ) -> Result<Containment<'a>, Error> {
        let Answer { document, in_any, best, in_best } = *answer;
        let (passages, left_out) = found.of(pair, buffer)?;
        let runs = u64::from(self.runs[document as usize]);
        let place = |number: u32| self.ids_repeat.then(|| self.documents.place(number));
        let share = |part: u32| Similarity::ratio(u64::from(part), runs);
        let passages = passages.into_iter().map(|located| {
            let [line, in_line] = located.lines;
            SharedPassage { range: located.a, line, in_range: located.b, in_line }
        });
        Ok(Containment {
            id: self.documents.id(document),
            place: place(document),
            document: document as usize,
            in_id: Some(self.documents.id(best)),
            in_place: place(best),
            in_document: Some((if best < self.asked { best } else { best - self.asked }) as usize),
            has_runs: true,
            coverage: share(in_best),
            coverage_all: share(in_any),
            words: u64::from(self.tokens[document as usize]),
            passages: passages.collect(),
            left_out: u64::from(left_out),
        })
    }

    /// The problem of a document whose best one has changed.
    fn lost(&self, answer: &Answer) -> Problem {
        let At { path, line } = self.documents.place(answer.document);
        let [id, best] = [answer.document, answer.best].map(|number| self.documents.id(number));
        let message = format!(
            "the coverage of document '{id}' is not reported: '{best}', which contains most of it, changed between two readings; \
             {RUN_AGAIN}"
        );
        Problem::at(Place::new(path, line), Severity::Failed, ProblemKind::Changed, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::run::observer::Stage;
    use crate::similarity::Threshold;
    use crate::source::Records;
    use crate::tokenizer::{TokenDetail, Tokenizer, Tokens, Word};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A source of texts with their numbers as ids. From the second reading on, it has `later` ones.
    pub(in crate::passages) fn source<'a>(texts: &'a [String], later: &'a [String]) -> impl Source + 'a {
        let readings = AtomicUsize::new(0);
        Records::new(move || {
            let texts = if readings.fetch_add(1, Ordering::Relaxed) == 0 { texts } else { later };
            texts.iter().enumerate().map(|(number, text)| Ok((number, text.as_str())))
        })
    }

    /// A document, the one that contains it, its two coverages as they are printed, its words, and the number of passages left out.
    type Row = (usize, usize, String, u64, u64);

    /// The tokens of a text.
    pub(in crate::passages) fn tokens(text: &str) -> Vec<String> {
        let mut tokens = Tokens::new(TokenDetail::Everything, 0);
        Word.tokenize(text, &mut tokens);
        (0..tokens.len()).map(|at| tokens.text(at).to_string()).collect()
    }

    pub(in crate::passages) type Runs = BTreeSet<Vec<String>>;

    pub(in crate::passages) fn runs(text: &str, shingle: usize) -> Runs {
        tokens(text).windows(shingle).map(<[String]>::to_vec).collect()
    }

    fn coverages(best: usize, any: usize, all: usize) -> String {
        format!("{} {}", best as f64 / all as f64, any as f64 / all as f64)
    }

    /// What is contained, by the definition: sets of runs, and every pair.
    fn expected(texts: &[String], reference: Option<&[String]>, options: &ContainOptions) -> Vec<Row> {
        let sets = |texts: &[String]| texts.iter().map(|text| runs(text, options.shingle)).collect::<Vec<_>>();
        let (asked, others) = (sets(texts), sets(reference.unwrap_or(texts)));
        let row = |(number, own): (usize, &Runs)| {
            let others = others.iter().enumerate().filter(|&(other, _)| reference.is_some() || other != number);
            let mut any = Runs::new();
            let mut best = None;
            for (other, set) in others {
                let shared: Runs = own.intersection(set).cloned().collect();
                if !shared.is_empty() && best.is_none_or(|(_, most)| shared.len() > most) {
                    best = Some((other, shared.len()));
                }
                any.extend(shared);
            }
            let (best, shared) = best?;
            let all = own.len() as u64;
            let is_reported = options.min_coverage.reached_by(shared as u64, all)
                || options.min_coverage_all.is_some_and(|least| least.reached_by(any.len() as u64, all));
            let words = tokens(&texts[number]).len() as u64;
            is_reported.then(|| (number, best, coverages(shared, any.len(), own.len()), words, 0))
        };
        asked.iter().enumerate().filter_map(row).collect()
    }

    pub(in crate::passages) fn side(reference: &mut Option<impl Source>) -> Option<&mut dyn Source> {
        reference.as_mut().map(|source| source as &mut dyn Source)
    }

    /// What is found; the passages are checked.
    fn found(texts: &[String], reference: Option<&[String]>, options: &ContainOptions) -> (Vec<Row>, u64) {
        let (mut asked, others) = (source(texts, texts), reference.unwrap_or(texts));
        let short = |texts: &[String]| texts.iter().filter(|text| tokens(text).len() < options.shingle).count() as u64;
        let short_references = reference.map_or(0, short);
        let mut reference = reference.map(|texts| source(texts, texts));
        let mut contained = find_contained(&mut asked, side(&mut reference), options, &()).unwrap();
        let mut rows = Vec::new();
        let each = |found: &Containment<'_>| {
            let in_document = found.in_document.unwrap();
            assert_eq!([found.id, found.in_id.unwrap()], [found.document.to_string(), in_document.to_string()]);
            check_passages(&texts[found.document], &others[in_document], found, options);
            let coverages = format!("{} {}", found.coverage.value(), found.coverage_all.value());
            rows.push((found.document, in_document, coverages, found.words, found.left_out));
            Ok(())
        };
        contained.for_each(&mut asked, side(&mut reference), &(), each).unwrap();
        let ShortDocuments { documents, references, first_references, .. } = contained.short();
        assert_eq!([*documents, *references], [short(texts), short_references]);
        assert_eq!(first_references.len() as u64, short_references.min(3));
        assert_eq!((contained.len(), contained.counts().failed), (rows.len(), 0));
        (rows, contained.counts().spilled)
    }

    /// The passages stand in both texts at the reported places, and have all runs that both have.
    fn check_passages(text: &str, other: &str, found: &Containment<'_>, options: &ContainOptions) {
        let (own, others) = (runs(text, options.shingle), runs(other, options.shingle));
        let shared: Runs = own.intersection(&others).cloned().collect();
        let mut covered = Runs::new();
        let line = |text: &str, at: usize| text[..at].matches('\n').count() + 1;
        for passage in &found.passages {
            let SharedPassage { range, in_range, .. } = passage;
            let (words, in_words) = (tokens(&text[range.clone()]), tokens(&other[in_range.clone()]));
            assert_eq!(words, in_words);
            assert_eq!((passage.line, passage.in_line), (line(text, range.start), line(other, in_range.start)));
            covered.extend(words.windows(options.shingle).map(<[String]>::to_vec));
        }
        assert!(found.passages.is_sorted_by_key(|passage| passage.range.start));
        assert!(found.passages.len() <= options.max_passages);
        assert!(covered == shared || found.left_out > 0 && covered.is_subset(&shared));
    }

    /// Texts of few words: empty, equal, one in another, overlapping, repeating themselves.
    pub(in crate::passages) fn texts() -> impl Strategy<Value = Vec<String>> {
        let pieces = ["one ", "Two, ", "three\r\n", "caf\u{e9} ", "北", "京", "カ", "\u{1f600} ", "four\n\n", "x_1; "];
        let random = (1..pieces.len(), prop::collection::vec(0usize..99, 0..40))
            .prop_map(move |(kinds, all)| all.iter().map(|piece| pieces[piece % kinds]).collect::<String>());
        let periodic = (0..pieces.len(), 1..4usize, 0..40usize).prop_map(move |(first, period, length)| {
            (0..length).map(|at| pieces[(first + at % period) % pieces.len()]).collect::<String>()
        });
        let cuts = prop::collection::vec((any::<prop::sample::Index>(), 0usize..150, 0usize..150), 0..6);
        let own = prop::collection::vec(prop_oneof![random, periodic], 1..8);
        (own, cuts, 0usize..4).prop_map(|(mut texts, cuts, kind)| {
            for (of, start, length) in cuts {
                let text = &texts[of.index(texts.len())];
                let start = text.floor_char_boundary(start.min(text.len()));
                let end = text.floor_char_boundary((start + length).min(text.len()));
                let part = text[start..end].to_string();
                match kind {
                    0 => texts.push(part),
                    1 => texts.push(format!("begin{start} {part} end{length}")),
                    // A message with those before it.
                    2 => texts.push(format!("message {length}: {}", texts[texts.len() - 1])),
                    _ => texts.insert(0, format!("{part} and {part}")),
                }
            }
            texts
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        #[test]
        fn exactly_the_shares_of_sets_of_runs(
            (texts, reference) in (texts(), prop::option::of(texts())),
            (shingle, threads, max_passages) in (1usize..7, 1usize..4, prop_oneof![Just(100), Just(1)]),
            least in prop_oneof![Just((1, 2)), Just((1, 1)), Just((1, 100)), Just((7, 10))],
            least_all in prop_oneof![Just(None), Just(Some((1, 100))), Just(Some((9, 10)))],
            memory in prop_oneof![Just(0u64), Just(1 << 30)],
        ) {
            let threshold = |(part, all)| Threshold::new(part, all).unwrap();
            let (min_coverage, min_coverage_all) = (threshold(least), least_all.map(threshold));
            let options = ContainOptions {
                shingle, threads, max_passages, min_coverage, min_coverage_all, memory, ..ContainOptions::default()
            };
            let expected = expected(&texts, reference.as_deref(), &options);
            let (mut rows, _) = found(&texts, reference.as_deref(), &options);
            if max_passages == 1 {
                rows.iter_mut().for_each(|row| row.4 = 0);
            }
            prop_assert_eq!(rows, expected);
        }
    }

    pub(in crate::passages) fn words(range: Range<u64>) -> String {
        range.map(|n| format!("w{} ", crate::hash::mix(n))).collect()
    }

    /// What goes to files is found too.
    #[test]
    fn in_files() {
        let texts: Vec<String> = (0..60).map(|n| words(10 * n..10 * n + 200)).collect();
        let options = |memory, threads| ContainOptions { memory, threads, ..ContainOptions::default() };
        let (rows, spilled) = found(&texts, None, &options(1 << 30, 1));
        assert_eq!((rows.len(), spilled), (60, 0));
        assert_eq!(rows, expected(&texts, None, &options(0, 1)));
        for threads in [1, 3] {
            let (of_files, spilled) = found(&texts, None, &options(0, threads));
            assert!(of_files == rows && spilled > 100_000, "{spilled}");
        }
    }

    /// What very many documents have in common is not followed for each pair.
    #[test]
    fn time_that_is_not_quadratic() {
        let options = ContainOptions { min_coverage: Threshold::LEAST, max_passages: 1, ..ContainOptions::default() };
        let followed = |texts: &[String], records: usize| {
            let mut source = source(texts, texts);
            let contained = find_contained(&mut source, None, &options, &()).unwrap();
            assert_eq!(contained.len(), records);
            contained.followed()
        };
        let licence = words(0..50);
        let count = 3000;
        let own = |n: u64, length| words(1000 * (n + 1)..1000 * (n + 1) + length);
        // A licence in every file, alone, with text of its own, or with text that another file has too.
        let alone = vec![licence.clone(); count];
        let with_own: Vec<String> = (0..count as u64).map(|n| licence.clone() + &own(n, 30)).collect();
        let with_shared: Vec<String> = (0..count as u64).map(|n| own(n / 2, 30) + &licence).collect();
        let beside_shared: Vec<String> =
            (0..count as u64).map(|n| own(n / 2, 30) + if n % 2 == 0 { &licence } else { "" }).collect();
        // Three of six licences in each file.
        let licences: Vec<String> = (0..6).map(|n| words(500 + 100 * n..540 + 100 * n)).collect();
        let with_three =
            |n: u64| (0..3).map(|at| own(9 * n + at, 3) + &licences[(n % 4 + 2 * at) as usize % 6]).collect();
        let with_three: Vec<String> = (0..count as u64).map(with_three).collect();
        // And beside them, something that few files have.
        let beside_three: Vec<String> =
            (0..count as u64).map(|n| own(n / 2, 13) + &with_three[(n * 7 % 3000) as usize]).collect();
        for texts in [alone, with_own, with_shared, beside_shared, with_three, beside_three] {
            let followed = followed(&texts, count);
            assert!(followed < 40 * count as u64, "{followed}");
        }
        // Every message quotes all before it. Its text is in all later ones: so is the number of its runs.
        let thread: Vec<String> = (0..200u64)
            .scan(String::new(), |quoted, n| {
                *quoted = own(n, 20) + quoted;
                Some(quoted.clone())
            })
            .collect();
        let all: u64 = thread.iter().map(|text| tokens(text).len() as u64).sum();
        let followed = followed(&thread, 200);
        assert!(followed < all, "{followed} of {all}");
    }

    /// A document that changed, or became shorter, or is gone, has no coverage; nor has one that it contained.
    #[test]
    fn documents_that_change() {
        let texts: Vec<String> = [0..100, 0..60, 500..600, 500..560].map(words).into();
        let mut shorter = texts.clone();
        shorter[0].truncate(300);
        let other = [texts[0].replace("w1", "v1"), texts[1].clone(), texts[2].clone(), texts[3].clone()];
        let options = ContainOptions::default();
        for (later, rows, failed) in [
            (&texts[..], 4, 0),
            (&shorter, 2, 2),
            (&other, 2, 2),
            (&texts[..3], 2, 2),
            (&texts[..1], 0, 4),
            (&[], 0, 4),
        ] {
            let mut source = source(&texts, later);
            let mut contained = find_contained(&mut source, None, &options, &()).unwrap();
            let mut found = Vec::new();
            let each = |containment: &Containment<'_>| {
                found.push((containment.document, containment.in_document));
                Ok(())
            };
            contained.for_each(&mut source, None, &(), each).unwrap();
            assert_eq!((found.len(), contained.counts().failed), (rows, failed), "{found:?}");
        }
    }

    /// A document is counted once, however often the sources are read again.
    #[test]
    fn two_calls_count_once() {
        let texts: Vec<String> = [0..100, 0..60, 500..600, 500..560].map(words).into();
        let later = [words(1..100), texts[1].clone(), texts[2].clone(), texts[3].clone()];
        let mut source = source(&texts, &later);
        let options = ContainOptions { memory: 0, ..ContainOptions::default() };
        let mut contained = find_contained(&mut source, None, &options, &()).unwrap();
        let problems = Problems::default();
        let counts = [0; 2].map(|_| {
            let mut found = Vec::new();
            let each = |containment: &Containment<'_>| {
                found.push(containment.document);
                Ok(())
            };
            contained.for_each(&mut source, None, &problems, each).unwrap();
            assert_eq!(found, [2, 3]);
            contained.counts().clone()
        });
        assert_eq!((counts[0].failed, problems.0.into_inner().unwrap().len()), (2, 2));
        assert_eq!(counts[0], counts[1]);
    }

    /// Further documents on one side do not change those of the other.
    #[test]
    fn a_side_that_grows() {
        let texts: Vec<String> = [0..50, 100..150].map(words).into();
        let reference: Vec<String> = [0..60, 90..160].map(words).into();
        let grown = |texts: &[String]| [texts.to_vec(), vec!["new".to_string(); 600]].concat();
        let (more, more_of_reference) = (grown(&texts), grown(&reference));
        for (later, later_reference) in [(&more, &reference), (&texts, &more_of_reference), (&more, &more_of_reference)]
        {
            let (mut asked, mut others) = (source(&texts, later), source(&reference, later_reference));
            let mut contained = find_contained(&mut asked, Some(&mut others), &ContainOptions::default(), &()).unwrap();
            let problems = Problems::default();
            let mut found = 0;
            let each = |_: &Containment<'_>| {
                found += 1;
                Ok(())
            };
            contained.for_each(&mut asked, Some(&mut others), &problems, each).unwrap();
            assert_eq!((found, problems.0.into_inner().unwrap()), (2, Vec::new()));
        }
    }

    /// Stops a run when it is asked for the second time in a stage.
    struct Stopping {
        stage: Stage,
        at: Mutex<Option<Stage>>,
        asked: AtomicUsize,
    }

    impl Observer for Stopping {
        fn stage(&self, stage: Stage) {
            *self.at.lock().unwrap() = Some(stage);
        }

        fn is_stopped(&self) -> bool {
            *self.at.lock().unwrap() == Some(self.stage) && self.asked.fetch_add(1, Ordering::Relaxed) > 0
        }
    }

    /// A run stops while it groups and while it compares, not only between the stages.
    #[test]
    fn a_run_can_be_stopped_in_a_stage() {
        let texts: Vec<String> = (0..100).map(|n| words(10 * n..10 * n + 200)).collect();
        for stage in [Stage::Grouping, Stage::Verifying] {
            let observer = Stopping { stage, at: Mutex::default(), asked: AtomicUsize::new(0) };
            let stopped = find_contained(&mut source(&texts, &texts), None, &ContainOptions::default(), &observer);
            assert!(matches!(stopped, Err(Error::Stopped)), "{stage:?}");
        }
    }

    /// Takes the problems of a run.
    #[derive(Default)]
    struct Problems(Mutex<Vec<String>>);

    impl Observer for Problems {
        fn problem(&self, problem: &Problem) {
            self.0.lock().unwrap().push(problem.to_string());
        }
    }

    /// A problem names the file and the record, as far as they are still there.
    #[cfg(feature = "files")]
    #[test]
    fn files_that_change() {
        use crate::source::{Input, ReadOptions};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let write = |texts: &[String]| {
            let lines =
                texts.iter().enumerate().map(|(id, text)| format!("{{\"id\":\"d{id}\",\"text\":\"{text}\"}}\n"));
            std::fs::write(&path, lines.collect::<String>()).unwrap();
        };
        let mut texts = [words(0..50), words(0..40), words(100..150), words(100..140)];
        write(&texts);
        let mut input = Input::new(vec![path.clone()], ReadOptions::default());
        let mut contained = find_contained(&mut input, None, &ContainOptions::default(), &()).unwrap();
        texts[0] = words(1..50);
        write(&texts[..3]);
        let problems = Problems::default();
        contained.for_each(&mut input, None, &problems, |_| panic!("all have changed")).unwrap();
        let found = problems.0.into_inner().unwrap();
        let place = format!("{}:1: document 'd0' changed between two readings", path.display());
        assert!(found[0].starts_with(&place), "{found:?}");
        assert!(found[1].starts_with("d3: document 'd3' changed between two readings"), "{found:?}");
        let place = format!("{}:2: the coverage of document 'd1' is not reported: 'd0', which ", path.display());
        assert!(found[2].starts_with(&place), "{found:?}");
        assert!(
            found.iter().all(|problem| problem.ends_with("run again when nothing writes to the files")),
            "{found:?}"
        );
        assert_eq!((found.len(), contained.counts().failed), (4, 4), "{found:?}");
    }

    #[test]
    fn a_document_is_not_contained_in_itself() {
        let texts = [words(0..50), words(0..20), words(0..5)];
        let options = ContainOptions { min_coverage: Threshold::LEAST, ..ContainOptions::default() };
        let (rows, _) = found(&texts, None, &options);
        assert_eq!(rows, [(0, 1, coverages(8, 8, 38), 50, 0), (1, 0, coverages(1, 1, 1), 20, 0)]);
        let (against, _) = found(&texts, Some(&texts), &options);
        assert_eq!(against[0], (0, 0, coverages(1, 1, 1), 50, 0));
    }
}
