//! The content of an index: documents, removals, notes.
//!
//! ```text
//! record  kind (1), id, hash of the token sequence (16), time; fingerprint, or tags of keys and coded features
//!         or kind 3, places of documents that are removed, or notes, which are not places: of decisions (repeat.rs), or
//!            of what a run forgets (forgetting.rs);
//!         or kind 4 alone: everything before it was on the disk before it was written
//!         or kind 5, a place (8): all up to there is one call, or what a run of cleaning adds: it counts if a record of kind 4 follows there
//! ```
//!
//! The highest bit of the kind is set for a document that was added and never passed. Lengths are LEB128, all other numbers little-endian.

use super::coded::{decode, encode, fits};
use super::shape::{Kind, Shape};
use super::signature::{Evidence, Signed, tags};
use crate::algorithm::{Algorithm, CompareOn};
use crate::outline::Parities;
use std::borrow::Cow;

/// Words from here on are not places.
pub(super) const NO_PLACE: u64 = 1 << 63;

/// What is stored of a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    pub id: String,
    pub sequence: u128,
    /// In seconds since 1970.
    pub time: u64,
    pub kind: Kind,
    /// Whether it was added without a decision.
    pub is_added: bool,
    /// Tags of keys, if features are stored.
    pub tags: Vec<u32>,
    /// The fingerprint, or features.
    pub evidence: Vec<u64>,
}

/// A document to be remembered.
pub(super) struct Document<'a> {
    pub id: &'a str,
    pub signed: Signed<'a>,
    /// In seconds since 1970.
    pub time: u64,
    /// Whether it is added without a decision.
    pub is_added: bool,
}

impl Document<'_> {
    /// Appends its record in an index of this algorithm.
    pub fn write(&self, algorithm: &dyn Algorithm, out: &mut Vec<u8>) {
        let Signed { sequence, featureless, tags, evidence, .. } = self.signed;
        let kind = match algorithm.compare_on() {
            _ if featureless => Kind::Featureless,
            CompareOn::Fingerprints => Kind::Fingerprint,
            CompareOn::Features | CompareOn::Multisets => Kind::Features,
        };
        out.push(kind as u8 | if self.is_added { ADDED } else { 0 });
        put(self.id.len() as u64, out);
        out.extend_from_slice(self.id.as_bytes());
        out.extend_from_slice(&sequence.to_le_bytes());
        put(self.time, out);
        if kind == Kind::Featureless {
            return;
        }
        if kind == Kind::Features {
            put(tags.len() as u64, out);
            out.extend(tags.iter().flat_map(|tag| tag.to_le_bytes()));
        }
        put(evidence.len() as u64, out);
        match evidence {
            Evidence::Words(words) if kind == Kind::Fingerprint => {
                out.extend(words.iter().flat_map(|word| word.to_le_bytes()))
            }
            Evidence::Words(features) => encode(features, out),
            Evidence::Coded(_, code) => out.extend_from_slice(code),
        }
    }
}

/// The content of a frame.
pub(super) enum Entry {
    Document(Record),
    /// The documents at these places are forgotten.
    Removed(Vec<u64>),
    /// Decisions that changed nothing.
    Notes(Vec<u64>),
    /// Everything before it was on the disk before it was written.
    Synced,
    /// All after it and before this place is remembered as a whole, or not at all.
    Call(u64),
}

pub(super) const REMOVED: u8 = 3;
pub(super) const SYNCED: u8 = 4;
pub(super) const CALL: u8 = 5;
const ADDED: u8 = 0x80;

impl Entry {
    /// `None` if the bytes are not an entry, or not one of an index of this shape.
    pub fn parse(bytes: &[u8], reads: &Reads) -> Option<Self> {
        match bytes {
            [SYNCED] => Some(Entry::Synced),
            [CALL, end @ ..] => end.try_into().ok().map(|end| Entry::Call(u64::from_le_bytes(end))),
            [REMOVED, rest @ ..] => {
                let (words, rest) = rest.as_chunks();
                rest.is_empty().then_some(())?;
                let words: Vec<u64> = words.iter().map(|&word| u64::from_le_bytes(word)).collect();
                let are_notes = words.first().is_some_and(|&word| word >= NO_PLACE);
                Some(if are_notes { Entry::Notes(words) } else { Entry::Removed(words) })
            }
            _ => Record::parse(bytes, reads).map(Entry::Document),
        }
    }
}

/// How records are read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reads {
    /// The records that are possible.
    pub shape: Shape,
    /// Whether tags, fingerprints and features are only checked, not kept.
    pub skips_evidence: bool,
}

impl Record {
    /// The tags of its keys.
    pub fn tags(&self, algorithm: &dyn Algorithm) -> Cow<'_, [u32]> {
        match self.kind {
            Kind::Featureless => Cow::Borrowed(&[]),
            Kind::Fingerprint => Cow::Owned(tags(algorithm, &self.evidence)),
            Kind::Features => Cow::Borrowed(&self.tags),
        }
    }

    /// The document with its tags, as it is entered into tables.
    pub fn document<'a>(&'a self, tags: &'a [u32], parities: &'a Parities) -> Document<'a> {
        let Record { ref id, sequence, time, kind, is_added, ref evidence, .. } = *self;
        let featureless = kind == Kind::Featureless;
        let evidence = Evidence::Words(evidence);
        let signed = Signed { made_by: 0, sequence, featureless, tags, evidence, parities, remark: None };
        Document { id, signed, time, is_added }
    }

    /// `None` if the bytes are not a record, or not one that an index of this shape can hold.
    pub fn parse(bytes: &[u8], reads: &Reads) -> Option<Self> {
        let mut rest = bytes;
        let kind = take(&mut rest, 1)?[0];
        let is_added = kind & ADDED != 0;
        let kind = match kind & !ADDED {
            0 => Kind::Featureless,
            1 => Kind::Fingerprint,
            2 => Kind::Features,
            _ => return None,
        };
        let id = counted(&mut rest, 1)?;
        let id = std::str::from_utf8(id).ok()?.to_string();
        let sequence = u128::from_le_bytes(take(&mut rest, 16)?.try_into().ok()?);
        let time = number(&mut rest)?;
        let (mut tags, mut evidence) = (Vec::new(), Vec::new());
        let (shape, keeps) = (&reads.shape, !reads.skips_evidence);
        match kind {
            Kind::Featureless => rest.is_empty().then_some(())?,
            Kind::Fingerprint => {
                let words = counted(&mut rest, 8)?.as_chunks().0;
                (rest.is_empty() && shape.allows(kind, 0, words.len())).then_some(())?;
                if keeps {
                    evidence.extend(words.iter().map(|&word| u64::from_le_bytes(word)));
                }
            }
            Kind::Features => {
                let stored = counted(&mut rest, 4)?.as_chunks().0;
                let count = usize::try_from(number(&mut rest)?).ok()?;
                // Checked before memory is allocated for them.
                (fits(rest, count) && shape.allows(kind, stored.len(), count)).then_some(())?;
                if keeps {
                    tags.extend(stored.iter().map(|&tag| u32::from_le_bytes(tag)));
                    evidence.reserve_exact(count);
                }
                decode(rest, count, |element| {
                    if keeps {
                        evidence.push(element);
                    }
                })?;
            }
        }
        Some(Record { id, sequence, time, kind, is_added, tags, evidence })
    }
}

fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

/// A sequence of items of one size, preceded by their number.
fn counted<'a>(rest: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let count = usize::try_from(number(rest)?).ok()?;
    take(rest, count.checked_mul(size)?)
}
