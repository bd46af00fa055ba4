//! The documents of a run, in flat arrays; and which of them are exact copies of which.

use super::read::Part;
use super::{Counts, Observer};
use crate::error::Error;
use crate::source::{Place, Problem, Severity};
use rayon::prelude::*;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Not a group number: the document gives the algorithm nothing to compare.
const FEATURELESS: u32 = u32::MAX;
/// Not a group number: the document was refused, because its id was taken.
const REFUSED: u32 = u32::MAX - 1;
/// Documents are numbered below this.
const MOST_DOCUMENTS: u64 = REFUSED as u64;

/// Everything known of the documents after reading.
///
/// Documents are numbered in input order, the reference first. Documents with equal token sequences form one *group*, and
/// what follows works on groups; a group is numbered in the order of its first member.
pub(super) struct Corpus {
    ids: String,
    id_ends: Vec<usize>,
    /// Length in tokens.
    lengths: Vec<u32>,
    /// Documents below this number are of the reference.
    references: u32,
    /// Whether there is a reference at all.
    against: bool,
    /// How many documents were left out because another one has their id and is not the same.
    taken_ids: u64,
    /// The group of each document.
    group: Vec<u32>,
    /// The documents of each group, ascending: `members[group_ends[g − 1]..group_ends[g]]`.
    members: Vec<u32>,
    group_ends: Vec<u32>,
    /// The hash of each group's token sequence.
    sequences: Vec<u128>,
    /// For each part, the numbers of its documents' records in the batch; empty where every record is a document.
    records_of: Vec<Vec<u32>>,
    /// What is left of the parts: records and features.
    pub parts: Vec<Part>,
    /// The number of the first document of each part, and one past the last.
    pub part_starts: Vec<u32>,
}

impl Corpus {
    /// Puts the parts together: refuses documents whose id is taken, finds exact copies.
    pub fn gather(
        mut parts: Vec<Part>,
        against: bool,
        observer: &dyn Observer,
        counts: &mut Counts,
    ) -> Result<Self, Error> {
        let total: u64 = parts.iter().map(|part| part.documents() as u64).sum();
        if total > MOST_DOCUMENTS {
            return Err(Error::TooManyDocuments(MOST_DOCUMENTS));
        }
        let mut part_starts = vec![0u32];
        let (mut ids, mut id_ends, mut lengths) = (String::new(), Vec::new(), Vec::new());
        let mut group = Vec::new();
        ids.reserve_exact(parts.iter().map(|part| part.ids.len()).sum());
        let (mut references, mut records_of) = (0, Vec::with_capacity(parts.len()));
        for part in &mut parts {
            records_of.push(std::mem::take(&mut part.records_of));
            let base = ids.len();
            ids.push_str(&std::mem::take(&mut part.ids));
            id_ends.extend(std::mem::take(&mut part.id_ends).iter().map(|end| base + end));
            lengths.append(&mut part.lengths);
            let featureless = std::mem::take(&mut part.featureless);
            group.extend(featureless.iter().map(|&featureless| if featureless { FEATURELESS } else { 0 }));
            counts.bytes += part.bytes;
            part_starts.push(lengths.len() as u32);
            if part.reference {
                references = lengths.len() as u32;
            }
        }
        let mut corpus = Corpus {
            ids,
            id_ends,
            lengths,
            references,
            against,
            taken_ids: 0,
            group,
            members: Vec::new(),
            group_ends: Vec::new(),
            sequences: Vec::new(),
            records_of,
            parts,
            part_starts,
        };
        for problem in corpus.refuse_taken_ids() {
            counts.problem(&problem);
            observer.problem(&problem);
        }
        corpus.parts.iter_mut().for_each(|part| part.places = Vec::new());
        corpus.find_copies();
        counts.references = corpus.documents_read().filter(|&d| corpus.is_reference(d)).count() as u64;
        counts.documents = corpus.documents_read().count() as u64 - counts.references;
        counts.featureless = corpus.group.iter().filter(|&&g| g == FEATURELESS).count() as u64;
        counts.copies = (corpus.members.len() - corpus.group_ends.len()) as u64;
        counts.tokens = corpus.documents_read().map(|d| u64::from(corpus.length(d))).sum();
        Ok(corpus)
    }

    /// Marks each document whose id an earlier one on the same side has. Returns a problem for each, in input order.
    fn refuse_taken_ids(&mut self) -> Vec<Problem> {
        let mut by_hash: Vec<(u64, u32)> =
            (0..self.lengths.len() as u32).into_par_iter().map(|d| (xxh3_64(self.id(d).as_bytes()), d)).collect();
        by_hash.par_sort_unstable();
        let mut taken: Vec<(u32, u32)> = Vec::new();
        for run in by_hash.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            // Equal hashes are equal ids but for chance; the map tells them apart in one pass.
            let mut first: HashMap<(bool, &str), u32> = HashMap::new();
            for &(_, d) in run {
                let earlier = *first.entry((self.is_reference(d), self.id(d))).or_insert(d);
                if earlier != d {
                    taken.push((d, earlier));
                }
            }
        }
        taken.sort_unstable();
        let problem = |&(d, earlier): &(u32, u32)| {
            let (place, first) = (self.place(d).clone(), self.place(earlier));
            let message = if place == *first {
                "read twice: it is named more than once among the inputs; left out the second time".to_string()
            } else {
                format!("duplicate id '{}': {first} has it already; this document was left out", self.id(d))
            };
            Problem { place, severity: Severity::Failed, message }
        };
        let problems = taken.iter().map(problem).collect();
        self.taken_ids = taken.iter().filter(|&&(d, earlier)| self.place(d) != self.place(earlier)).count() as u64;
        for (d, _) in taken {
            self.group[d as usize] = REFUSED;
        }
        problems
    }

    /// Numbers the groups of equal token sequences.
    fn find_copies(&mut self) {
        let mut sequences: Vec<(u128, u32)> = Vec::new();
        let mut d = 0u32;
        for part in &mut self.parts {
            for sequence in std::mem::take(&mut part.sequences) {
                if self.group[d as usize] < REFUSED {
                    sequences.push((sequence, d));
                }
                d += 1;
            }
        }
        sequences.par_sort_unstable();
        // The first of each run stands for it.
        let mut first = vec![REFUSED; self.group.len()];
        for run in sequences.chunk_by(|a, b| a.0 == b.0) {
            run.iter().for_each(|&(_, d)| first[d as usize] = run[0].1);
        }
        let mut hash_of_first: Vec<(u32, u128)> =
            sequences.chunk_by(|a, b| a.0 == b.0).map(|run| (run[0].1, run[0].0)).collect();
        drop(sequences);
        hash_of_first.par_sort_unstable();
        self.sequences = hash_of_first.into_iter().map(|(_, sequence)| sequence).collect();
        let mut sizes: Vec<u32> = Vec::new();
        for (d, &first) in first.iter().enumerate() {
            if first == d as u32 {
                self.group[d] = sizes.len() as u32;
                sizes.push(1);
            } else if first < REFUSED {
                let group = self.group[first as usize];
                self.group[d] = group;
                sizes[group as usize] += 1;
            }
        }
        let mut next: Vec<u32> = Vec::with_capacity(sizes.len());
        let mut end = 0;
        for size in &sizes {
            next.push(end);
            end += size;
        }
        self.members = vec![0; end as usize];
        for (d, &group) in self.group.iter().enumerate().filter(|(_, g)| **g < REFUSED) {
            self.members[next[group as usize] as usize] = d as u32;
            next[group as usize] += 1;
        }
        // Each has been moved on to where its group ends.
        self.group_ends = next;
    }

    /// The hash of a group's token sequence.
    pub fn sequence(&self, group: u32) -> u128 {
        self.sequences[group as usize]
    }

    /// The number of the first document of a part, or one past the last document if there is no such part.
    pub fn part_start(&self, part: usize) -> u32 {
        self.part_starts[part.min(self.part_starts.len() - 1)]
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

    /// How many groups of distinct documents there are.
    pub fn distinct(&self) -> usize {
        self.group_ends.len()
    }

    /// The group of a document, unless it is in none.
    pub fn group_of(&self, document: u32) -> Option<u32> {
        Some(self.group[document as usize]).filter(|&group| group < REFUSED)
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

    /// Every document that was read and not refused, in input order.
    pub fn documents_read(&self) -> impl Iterator<Item = u32> {
        (0..self.group.len() as u32).filter(|&d| self.group[d as usize] != REFUSED)
    }

    pub fn is_featureless(&self, document: u32) -> bool {
        self.group[document as usize] == FEATURELESS
    }

    pub fn id(&self, document: u32) -> &str {
        let start = if document == 0 { 0 } else { self.id_ends[document as usize - 1] };
        &self.ids[start..self.id_ends[document as usize]]
    }

    /// Length in tokens.
    pub fn length(&self, document: u32) -> u32 {
        self.lengths[document as usize]
    }

    /// How many documents were left out because another one has their id and is not the same.
    pub fn taken_ids(&self) -> u64 {
        self.taken_ids
    }

    pub fn against(&self) -> bool {
        self.against
    }

    pub fn is_reference(&self, document: u32) -> bool {
        document < self.references
    }

    /// The members of a group that are of the reference, and those that are not.
    pub fn sides(&self, group: u32) -> (&[u32], &[u32]) {
        let members = self.members(group);
        members.split_at(members.partition_point(|&d| self.is_reference(d)))
    }

    /// Whether two groups hold two documents whose pair may be reported.
    pub fn may_pair(&self, a: u32, b: u32) -> bool {
        let across = |a, b| self.is_reference(self.first(a)) && !self.sides(b).1.is_empty();
        !self.against || across(a, b) || across(b, a)
    }

    fn place(&self, document: u32) -> &Place {
        let part = self.part_starts.partition_point(|&start| start <= document) - 1;
        &self.parts[part].places[(document - self.part_starts[part]) as usize]
    }
}
