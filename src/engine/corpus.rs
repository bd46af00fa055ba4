//! The documents of a run in flat arrays, and the groups of exact copies among them.

use super::chosen::{Chosen, Named};
use super::documents::{Documents, Sequences};
use super::ranks::Lack;
use super::subset::Subset;
use super::{Counts, ScanOptions};
use crate::error::Error;
use crate::kernel::fetch::fetch;
use crate::run::ends::Ends;
use crate::run::fields::{FieldsFound, RequiredFields, fields_here};
use crate::run::places::{At, Places};
use crate::run::rejections::Rejections;
use crate::run::sort::range_of;
use crate::source::RankBy;
#[cfg(all(feature = "files", feature = "report"))]
use crate::source::RankedNumber;
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Not a group number: marks a document that the algorithm cannot compare.
const FEATURELESS: u32 = u32::MAX;
/// Documents are numbered below this.
const MOST_DOCUMENTS: u64 = FEATURELESS as u64 - 1;

/// The documents after reading.
///
/// Documents are numbered in input order, the reference first. Documents with equal token sequences form one *group*.
/// Later stages work on groups, which are numbered in the order of their first members.
pub(super) struct Corpus {
    ids: String,
    id_ends: Ends,
    /// Length in tokens.
    lengths: Vec<u32>,
    /// The rank of each document, as its position among all different ones; empty if all are equal.
    ranks: Vec<u32>,
    /// What the documents lack of each of the values that rank them.
    lacks: Vec<Lack>,
    /// The document of each decision, in their order.
    chosen: Vec<u32>,
    /// The same documents.
    #[cfg(feature = "report")]
    is_chosen: Subset,
    /// The documents that are kept whatever they are near-duplicates of, and the groups that they decide on.
    always: Subset,
    always_groups: Subset,
    /// Documents below this number are of the reference.
    references: u32,
    /// Whether there is a reference.
    against: bool,
    places: Places,
    /// The rejected records, except those of the reference.
    pub rejections: Rejections,
    /// The first record without a text, or whose file has no such column, with its place.
    first_without_text: Option<String>,
    /// The number of documents whose id an earlier one on the same side has; and the first of them, with that earlier
    /// one.
    repeated_ids: Option<(u64, u32, u32)>,
    /// Whether a document has the id of one of the reference.
    has_shared_ids: bool,
    /// Whether a rejected record has the id of another record.
    rejected_repeat: bool,
    /// The group of each document.
    group: Vec<u32>,
    /// The documents of each group, ascending: `members[group_ends[g − 1]..group_ends[g]]`.
    members: Vec<u32>,
    group_ends: Vec<u32>,
    /// The hash of each document's token sequence.
    sequences: Sequences,
    /// How many features each document has, if features are compared.
    sizes: Vec<u32>,
    /// Fingerprints or keys, and where those of each document end.
    records: Vec<u64>,
    record_ends: Vec<usize>,
    /// Feature hashes as the algorithm gave them, and where those of each document end, if they were kept.
    pub features: Vec<u64>,
    pub feature_ends: Vec<usize>,
    /// For each part, the numbers of its documents' records in the batch; empty where every record is a document.
    records_of: Vec<Vec<u32>>,
    /// The number of the first document of each part, and one past the last.
    part_starts: Vec<usize>,
    /// How often [`may_pair`](Self::may_pair) was asked: for tests that bound the work.
    #[cfg(test)]
    pub asked: std::sync::atomic::AtomicU64,
}

impl Corpus {
    /// Finds exact copies, and ids that repeat, in a share of this memory. With `drops_halves`, only half of the hash of each sequence
    /// is kept.
    ///
    /// # Errors
    /// There are too many documents.
    pub fn gather(
        read: Documents,
        against: bool,
        (memory, drops_halves): (u64, bool),
        counts: &mut Counts,
    ) -> Result<Self, Error> {
        if read.lengths.len() as u64 > MOST_DOCUMENTS {
            return Err(Error::TooManyDocuments(MOST_DOCUMENTS));
        }
        let ranks = read.ranks.positions(read.lengths.len());
        let mut corpus = Corpus {
            ranks,
            lacks: read.ranks.lacks(read.references as usize..read.lengths.len()),
            chosen: Vec::new(),
            #[cfg(feature = "report")]
            is_chosen: Subset::default(),
            always: Subset::default(),
            always_groups: Subset::default(),
            ids: read.ids,
            id_ends: read.id_ends,
            lengths: read.lengths,
            references: read.references,
            against,
            places: read.places,
            rejections: read.rejections,
            first_without_text: read.first_without_text,
            repeated_ids: None,
            has_shared_ids: false,
            rejected_repeat: false,
            group: read.featureless.iter().map(|&featureless| if featureless { FEATURELESS } else { 0 }).collect(),
            members: Vec::new(),
            group_ends: Vec::new(),
            sequences: read.sequences,
            sizes: read.sizes,
            records: read.records,
            record_ends: read.record_ends,
            features: read.features,
            feature_ends: read.feature_ends,
            records_of: read.records_of,
            part_starts: read.part_starts,
            #[cfg(test)]
            asked: Default::default(),
        };
        corpus.find_repeated_ids(memory);
        corpus.find_copies(memory, drops_halves);
        counts.repeated_ids = corpus.repeated_ids.map_or(0, |(count, ..)| count);
        counts.references = corpus.documents_read().filter(|&d| corpus.is_reference(d)).count() as u64;
        counts.documents = corpus.documents_read().count() as u64 - counts.references;
        counts.featureless = corpus.group.iter().filter(|&&g| g == FEATURELESS).count() as u64;
        counts.copies = (corpus.members.len() - corpus.group_ends.len()) as u64;
        counts.tokens = corpus.documents_read().map(|d| u64::from(corpus.length(d))).sum();
        Ok(corpus)
    }

    /// Counts documents whose id an earlier one on the same side has, and notes whether ids are on both sides.
    fn find_repeated_ids(&mut self, memory: u64) {
        let (mut count, mut example, mut has_shared_ids) = (0, None::<(u32, u32)>, false);
        let hash = |d| xxh3_64(self.id(d).as_bytes());
        each_equal_run(hash, self.documents(), memory, |run| {
            // Different ids rarely have equal bits; the map distinguishes them in one pass.
            let mut first: HashMap<(bool, &str), u32> = HashMap::new();
            for &d in run {
                let earlier = *first.entry((self.is_reference(d), self.id(d))).or_insert(d);
                if earlier != d {
                    count += 1;
                    example = Some(example.map_or((d, earlier), |example| example.min((d, earlier))));
                }
                has_shared_ids |= first.contains_key(&(!self.is_reference(d), self.id(d)));
            }
        });
        self.repeated_ids = example.map(|(d, earlier)| (count, d, earlier));
        self.has_shared_ids = has_shared_ids;
        self.rejected_repeat = self.rejections.own_ids().next().is_some() && {
            let mut known: HashSet<&str> = HashSet::new();
            let repeats = !self.rejections.own_ids().all(|id| known.insert(id));
            let references = self.references;
            repeats || (references..self.lengths.len() as u32).any(|d| known.contains(self.id(d)))
        };
    }

    /// Numbers the groups of equal token sequences.
    fn find_copies(&mut self, memory: u64, drops_halves: bool) {
        // First, the number of a document that stands for all with its sequence takes the place of their group.
        let Corpus { group, sequences, .. } = self;
        for (d, group) in (0..).zip(&mut *group).filter(|(_, group)| **group != FEATURELESS) {
            *group = d;
        }
        let documents = 0..group.len() as u32;
        each_equal_run(
            |d| sequences.high(d),
            documents,
            memory,
            |run| {
                let mut run: Vec<(u128, u32)> =
                    run.iter().filter(|&&d| group[d as usize] != FEATURELESS).map(|&d| (sequences.get(d), d)).collect();
                run.sort_unstable();
                for copies in run.chunk_by(|a, b| a.0 == b.0) {
                    copies.iter().for_each(|&(_, d)| group[d as usize] = copies[0].1);
                }
            },
        );
        if drops_halves {
            sequences.drop_low();
        }
        let mut sizes: Vec<u32> = Vec::new();
        for d in 0..group.len() {
            if group[d] == FEATURELESS {
                continue;
            }
            // The first one of a group has its number already when the others come.
            let (first, is_first) = (group[d] as usize, group[d] == d as u32);
            let number = if is_first { sizes.len() as u32 } else { group[first] };
            if is_first {
                sizes.push(0);
            }
            sizes[number as usize] += 1;
            group[d] = number;
        }
        sizes.shrink_to_fit();
        // Sizes become starts.
        let (mut starts, mut end) = (sizes, 0);
        for start in &mut starts {
            end += std::mem::replace(start, end);
        }
        self.members = vec![0; end as usize];
        for (d, &group) in (0..).zip(&*group).filter(|(_, group)| **group != FEATURELESS) {
            let next = &mut starts[group as usize];
            self.members[*next as usize] = d;
            *next += 1;
        }
        // Each was moved to the end of its group.
        self.group_ends = starts;
    }

    /// Whether this is the hash of the token sequence of a group, as far as it is kept.
    pub fn is_sequence(&self, group: u32, hash: u128) -> bool {
        self.sequences.is(self.first(group), hash)
    }

    /// The hash of the token sequence of a group, where all of it was [kept](Self::gather).
    pub fn sequence(&self, group: u32) -> u128 {
        debug_assert!(self.sequences.is_whole());
        self.sequences.get(self.first(group))
    }

    /// How many features a group has, as counted when it was read; 0 if features are not compared.
    pub fn size(&self, group: u32) -> u32 {
        self.sizes.get(self.first(group) as usize).copied().unwrap_or(0)
    }

    /// Takes out the records of the first document of each group, and where each ends.
    pub fn take_records(&mut self) -> (Vec<u64>, Vec<usize>) {
        let (mut words, mut ends) = (std::mem::take(&mut self.records), std::mem::take(&mut self.record_ends));
        let mut kept = 0;
        for group in 0..self.distinct() {
            // Never moves past the group: what is overwritten was read already, or is unchanged.
            let document = self.first(group as u32) as usize;
            let own = document.checked_sub(1).map_or(0, |before| ends[before])..ends[document];
            let length = own.len();
            words.copy_within(own, kept);
            kept += length;
            ends[group] = kept;
        }
        words.truncate(kept);
        words.shrink_to_fit();
        ends.truncate(self.distinct());
        ends.shrink_to_fit();
        (words, ends)
    }

    /// Bytes of the features that were kept.
    pub fn bytes_of_features(&self) -> u64 {
        8 * (self.features.len() + self.feature_ends.len()) as u64
    }

    /// Frees the features that were kept.
    pub fn drop_features(&mut self) {
        (self.features, self.feature_ends) = Default::default();
    }

    /// Bytes of memory, without records and features.
    pub fn bytes_held(&self) -> u64 {
        // With the place, the length and the group of each document.
        let words =
            self.sizes.len() + self.ranks.len() + self.members.len() + self.group_ends.len() + 3 * self.lengths.len();
        let ids = self.ids.len() as u64 + self.id_ends.bytes_held();
        self.rejections.bytes_held() + ids + (self.sequences.bytes_held() + 4 * words) as u64
    }

    fn documents(&self) -> Range<u32> {
        0..self.lengths.len() as u32
    }

    /// The number of the first document of a part, or one past the last document if the part does not exist.
    fn part_start(&self, part: usize) -> u32 {
        self.part_starts.get(part).map_or(self.lengths.len() as u32, |&start| start as u32)
    }

    /// The documents of a part, each with the number of its record in the batch.
    pub fn records_of_part(&self, part: usize) -> impl Iterator<Item = (u32, u32)> {
        let documents = self.part_start(part)..self.part_start(part + 1);
        let records = self.records_of.get(part).map_or(&[][..], Vec::as_slice);
        documents.enumerate().map(|(i, document)| (records.get(i).copied().unwrap_or(i as u32), document))
    }

    /// The first document in this part or a later one, if there is any.
    pub fn first_document_of_part(&self, part: usize) -> Option<u32> {
        Some(self.part_start(part)).filter(|&d| (d as usize) < self.group.len())
    }

    /// The number of groups of distinct documents.
    pub fn distinct(&self) -> usize {
        self.group_ends.len()
    }

    /// Whether some documents are exact copies of others.
    #[cfg(feature = "report")]
    pub fn has_copies(&self) -> bool {
        self.members.len() > self.distinct()
    }

    /// The group of a document, or `None` if it is in no group.
    pub fn group_of(&self, document: u32) -> Option<u32> {
        Some(self.group[document as usize]).filter(|&group| group != FEATURELESS)
    }

    /// The documents of a group, ascending.
    pub fn members(&self, group: u32) -> &[u32] {
        let start = if group == 0 { 0 } else { self.group_ends[group as usize - 1] };
        &self.members[start as usize..self.group_ends[group as usize] as usize]
    }

    /// The first document of a group.
    pub fn first(&self, group: u32) -> u32 {
        self.members(group)[0]
    }

    /// Every document that was read, in input order.
    pub fn documents_read(&self) -> Range<u32> {
        0..self.group.len() as u32
    }

    pub fn is_featureless(&self, document: u32) -> bool {
        self.group[document as usize] == FEATURELESS
    }

    pub fn id(&self, document: u32) -> &str {
        &self.ids[self.id_ends.range(document as usize)]
    }

    /// Prefetches the ids of documents that are read soon: twice, because where an id is has to be read first.
    pub fn fetch_ids(&self, documents: impl Iterator<Item = u32> + Clone) {
        documents.clone().for_each(|document| self.id_ends.fetch(document as usize));
        documents
            .for_each(|document| fetch(self.ids.as_bytes(), self.id_ends.end(document as usize).saturating_sub(1)));
    }

    /// How much a document is preferred: smaller ranks more. All are 0 if nothing ranks them.
    pub fn rank(&self, document: u32) -> u32 {
        self.ranks.get(document as usize).copied().unwrap_or(0)
    }

    /// Checks that some record has a text and some an id, in the fields that must be somewhere, and some documents each
    /// value that ranks them, if it is that of a field. `here` returns the fields of the documents, if `false`, or of a reference.
    ///
    /// # Errors
    /// None has.
    pub fn check_fields(
        &self,
        options: &ScanOptions,
        here: &mut dyn FnMut(bool) -> Option<String>,
    ) -> Result<(), Error> {
        if options.required_fields != RequiredFields::default() {
            let without_text = self.first_without_text.clone();
            let mut fields = FieldsFound { without_text, ..FieldsFound::default() };
            for document in self.documents_read() {
                let At { path, line } = self.at(document);
                fields.document((path, line), self.id(document), self.is_reference(document));
            }
            fields.check(&options.required_fields, here)?;
        }
        let own = self.lengths.len() as u64 - u64::from(self.references);
        let lack = self.lacks.iter().zip(&options.ranked_by).find_map(|(lack, rule)| lack.of_all(rule, own));
        match lack {
            Some(lack) => Err(Error::Usage(format!("`keep`: {lack}{}", fields_here(&mut || here(false))))),
            None => Ok(()),
        }
    }

    /// The warnings about documents without the values that rank them. The rules are those of the values, as far as they are known.
    pub fn unranked(&self, rules: &[RankBy]) -> impl Iterator<Item = String> {
        self.lacks.iter().enumerate().filter_map(|(at, lack)| lack.warning(at, rules.get(at)))
    }

    /// Prefers the chosen documents to all others, and those of them that are always kept to the rest. Their ranks decide among
    /// them, as among the others.
    ///
    /// # Errors
    /// See [`Chosen::find`].
    pub fn prefer(&mut self, chosen: &Chosen) -> Result<(), Error> {
        let documents = self.documents_read().filter(|&document| !self.is_reference(document));
        let numbers = chosen.find(documents, |number| {
            let At { path, line } = self.at(number);
            Named { id: self.id(number), file: path, record: line }
        })?;
        let always = || chosen.always_kept().iter().map(|&line| numbers[line as usize]);
        let of_chosen = u8::from(chosen.always() > 0);
        let mut classes = vec![of_chosen + 1; self.lengths.len()];
        numbers.iter().for_each(|&number| classes[number as usize] = of_chosen);
        always().for_each(|number| classes[number as usize] = 0);
        self.put_in_order(&classes);
        if chosen.always() > 0 {
            self.always = Subset::of(self.lengths.len(), always());
            // Where documents are compared with a reference alone, none is dropped for another one.
            let groups = always().filter(|_| !self.against).filter_map(|document| self.group_of(document));
            self.always_groups = Subset::of(self.distinct(), groups);
        }
        #[cfg(feature = "report")]
        {
            self.is_chosen = Subset::of(self.lengths.len(), numbers.iter().copied());
        }
        self.chosen = numbers;
        Ok(())
    }

    /// Whether a document is kept whatever it is a near-duplicate of.
    pub fn is_always_kept(&self, document: u32) -> bool {
        self.always.has(document)
    }

    /// Whether a group is kept before any other is decided on: it has a document of the reference, or one that is always kept.
    #[inline]
    pub fn is_first(&self, group: u32) -> bool {
        self.is_reference(self.first(group)) || self.always_groups.has(group)
    }

    /// Whether a decision names a document.
    #[cfg(feature = "report")]
    pub fn is_chosen(&self, document: u32) -> bool {
        self.is_chosen.has(document)
    }

    /// Whether the rule with this number goes by such a number: by times, or by others.
    #[cfg(all(feature = "files", feature = "report"))]
    pub fn ranks_by(&self, rule: usize, number: RankedNumber) -> bool {
        self.lacks.get(rule).is_none_or(|lack| lack.has_effect(number))
    }

    /// The document of each decision, in their order.
    pub fn chosen(&self) -> &[u32] {
        &self.chosen
    }

    /// Prefers all others to documents of files that could not be read to their end: other programs may not read them.
    pub fn distrust(&mut self, damaged: &BTreeSet<Arc<str>>) {
        if !damaged.is_empty() {
            let is_damaged = |document| !self.is_reference(document) && damaged.contains(self.at(document).path);
            let classes: Vec<u8> = (0..self.lengths.len() as u32).map(|document| is_damaged(document).into()).collect();
            self.put_in_order(&classes);
        }
    }

    /// Puts documents of a smaller class before all of a greater one. Their ranks decide among those of one class.
    fn put_in_order(&mut self, classes: &[u8]) {
        if classes.iter().any(|class| *class != classes[0]) {
            self.ranks.resize(classes.len(), 0);
            let next = self.ranks.iter().max().copied().unwrap_or(0) + 1;
            let ranks = self.ranks.iter_mut().zip(classes);
            ranks.for_each(|(rank, class)| *rank = rank.saturating_add(u32::from(*class).saturating_mul(next)));
        }
    }

    /// Whether some documents are preferred to others.
    pub fn has_ranks(&self) -> bool {
        !self.ranks.is_empty()
    }

    /// Length in tokens.
    pub fn length(&self, document: u32) -> u32 {
        self.lengths[document as usize]
    }

    /// Whether ids are ambiguous, so that documents are reported with their locations.
    pub fn ids_repeat(&self) -> bool {
        self.repeated_ids.is_some() || self.rejected_repeat
    }

    /// Whether ids are ambiguous in a list of documents of both sides.
    pub fn ids_repeat_across(&self) -> bool {
        self.ids_repeat() || self.has_shared_ids
    }

    /// The warning about repeated ids, if any.
    pub fn repeated_ids(&self) -> Option<String> {
        let (count, later, earlier) = self.repeated_ids?;
        let documents = if count == 1 { "1 document has" } else { &format!("{count} documents have") };
        Some(format!(
            "{documents} an id that an earlier one has, such as '{}' of {} and {}: all are compared, and the records that are written carry \
             places too (`id-field` names another field for ids)",
            self.id(later),
            self.at(earlier),
            self.at(later),
        ))
    }

    /// The location of a document.
    pub fn at(&self, document: u32) -> At<'_> {
        self.places.at(document)
    }

    pub fn against(&self) -> bool {
        self.against
    }

    pub fn is_reference(&self, document: u32) -> bool {
        document < self.references
    }

    /// The members of a group: those of the reference, and the others.
    pub fn sides(&self, group: u32) -> (&[u32], &[u32]) {
        let members = self.members(group);
        let references = if self.references == 0 { 0 } else { members.partition_point(|&d| self.is_reference(d)) };
        members.split_at(references)
    }

    /// The number of documents of a group: those of the reference, and the others.
    pub fn counts(&self, group: u32) -> (u64, u64) {
        let (references, others) = self.sides(group);
        (references.len() as u64, others.len() as u64)
    }

    /// The number of pairs among so many documents of the reference and others that may be reported.
    pub fn pairs_among(&self, (references, others): (u64, u64)) -> u64 {
        let all = references + others;
        if self.against { references * others } else { all * all.saturating_sub(1) / 2 }
    }

    /// The number of pairs of a document of one group and one of another that may be reported.
    pub fn pairs_between(&self, a: u32, b: u32) -> u64 {
        let (a, b) = (self.counts(a), self.counts(b));
        if self.against { a.0 * b.1 + b.0 * a.1 } else { (a.0 + a.1) * (b.0 + b.1) }
    }

    /// The number of pairs of copies that may be reported.
    pub fn pairs_of_copies(&self) -> u64 {
        (0..self.distinct() as u32).map(|group| self.pairs_among(self.counts(group))).sum()
    }

    /// Whether a group has documents of the reference only.
    pub fn is_reference_only(&self, group: u32) -> bool {
        self.references > 0 && self.members(group).last().is_some_and(|&last| self.is_reference(last))
    }

    /// Whether a pair of documents of these two groups is looked for: one that may be reported, or that may decide which
    /// document is kept.
    pub fn may_pair(&self, a: u32, b: u32) -> bool {
        #[cfg(test)]
        self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let across = |a, b| self.is_reference(self.first(a)) && !self.is_reference_only(b);
        match self.against {
            true => across(a, b) || across(b, a),
            false => self.references == 0 || !(self.is_reference_only(a) && self.is_reference_only(b)),
        }
    }
}

/// Copies are found in this share of the memory, and at least in so many bytes.
const SORTED_SHARE: u64 = 8;
const LEAST_SORTED: u64 = 1 << 20;

/// Calls `each` with the documents, ascending, of every run of two or more whose hashes agree in some forty bits. A run
/// has all documents with the same hash, and by chance a few others. Documents are numbered from 0.
///
/// Cost: a sort of 8 bytes for each document; in several ranges of hashes if that does not fit a share of the memory. Documents with
/// equal hashes are always in one range.
fn each_equal_run(hash: impl Fn(u32) -> u64 + Sync, documents: Range<u32>, memory: u64, mut each: impl FnMut(&[u32])) {
    let low = (1u64 << (u64::BITS - (documents.len() as u64).leading_zeros())) - 1;
    let ranges = (8 * documents.len() as u64).div_ceil((memory / SORTED_SHARE).max(LEAST_SORTED)).max(1);
    let (mut records, mut run) = (Vec::new(), Vec::new());
    for range in 0..ranges {
        records.clear();
        let record = |document| hash(document) & !low | u64::from(document);
        match ranges {
            1 => documents.clone().into_par_iter().map(record).collect_into_vec(&mut records),
            // Cut by the same bits as they are compared by.
            _ => {
                records.extend(documents.clone().map(record).filter(|&record| range_of(record & !low, ranges) == range))
            }
        }
        records.par_sort_unstable();
        for equal in records.chunk_by(|a, b| a & !low == b & !low).filter(|equal| equal.len() > 1) {
            run.clear();
            run.extend(equal.iter().map(|record| (record & low) as u32));
            each(&run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn equal_hashes_make_runs() {
        let hashes = [7u64 << 40, 9 << 40, 7 << 40, 1, 2 << 50, 9 << 40, 7 << 40];
        let mut runs = Vec::new();
        each_equal_run(|d| hashes[d as usize], 0..hashes.len() as u32, 0, |run| runs.push(run.to_vec()));
        assert_eq!(runs, [vec![0, 2, 6], vec![1, 5]]);
    }

    #[test]
    fn ranges_of_hashes_make_the_same_runs() {
        let count = 3 * LEAST_SORTED as u32 / 8;
        let hash = |document: u32| mix(u64::from(document % (count - 1_000)));
        let [few, many] = [0, 1 << 30].map(|memory| {
            let mut runs = Vec::new();
            each_equal_run(hash, 0..count, memory, |run| runs.push(run.to_vec()));
            runs
        });
        assert_eq!(few, many);
        let has =
            |document| many.iter().any(|run| run.contains(&document) && run.contains(&(document + count - 1_000)));
        assert!(many.len() < 2_000 && (0..1_000).all(has));
    }
}
