//! Documents in rows: their numbers, and as much of what is compared as a row can carry.

use super::rows::{Input, Lists};
use super::spec::Spec;
use crate::algorithm::{Algorithm, CompareOn};
use crate::error::Error;
use crate::run::sign::Scratch;
use crate::similarity::{Similarity, Threshold};
use crate::tokenizer::TokenDetail;
use arrow_array::Int64Array;

/// A document that stands for its copies: the least number among them, and the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub doc: i64,
    pub last: i64,
}

impl Member {
    /// Whether a pair of two documents may be reported; with a reference, one of them must be of it and the other not.
    pub fn may_pair(self, other: Member, against: bool) -> bool {
        let across = |a: Member, b: Member| a.doc < 0 && b.last >= 0;
        !against || across(self, other) || across(other, self)
    }
}

/// What is compared of documents, as far as rows carry it.
pub(super) enum Outlines {
    /// Fingerprints, which are compared.
    Fingerprints { words: Vec<u64>, ends: Vec<usize> },
    /// Sizes of sets, which rule pairs out. A word of parities would rule out one pair in twenty more, and make a row larger by half: the
    /// step `filter` has more of them, for the documents of pairs alone.
    Sets { sizes: Vec<usize>, jaccard: Option<Threshold> },
}

/// What an outline says about a pair.
pub(super) enum Judged {
    /// It is below the threshold.
    Below,
    /// It must be compared.
    Open,
    /// It has this similarity.
    Similar(Similarity),
}

impl Outlines {
    pub fn new(algorithm: &dyn Algorithm) -> Self {
        let profile = algorithm.profile();
        match profile.compare_on {
            CompareOn::Fingerprints => Outlines::Fingerprints { words: Vec::new(), ends: Vec::new() },
            CompareOn::Features | CompareOn::Multisets => {
                Outlines::Sets { sizes: Vec::new(), jaccard: profile.jaccard }
            }
        }
    }

    pub fn clear(&mut self) {
        match self {
            Outlines::Fingerprints { words, ends } => (words.clear(), ends.clear()),
            Outlines::Sets { sizes, .. } => (sizes.clear(), ()),
        };
    }

    /// Adds one, as [`write`] made it.
    ///
    /// # Errors
    /// The row is not an outline of this kind.
    pub fn push(&mut self, outlines: &Lists, row: usize) -> Result<(), Error> {
        let outline = outlines.get(row);
        match (self, outline) {
            (_, []) => {
                Err(Error::Usage("a row has an empty 'outline': documents without features have no keys".into()))
            }
            (Outlines::Fingerprints { words, ends }, outline) => {
                words.extend(outline.iter().map(|&word| word as u64));
                ends.push(words.len());
                Ok(())
            }
            (Outlines::Sets { sizes, .. }, &[size]) if size >= 0 => {
                sizes.push(size as usize);
                Ok(())
            }
            (Outlines::Sets { .. }, outline) => {
                Err(Error::Usage(format!("a row has an 'outline' of {} numbers: it is of another run", outline.len())))
            }
        }
    }

    /// Judges two of them, by their positions.
    pub fn judge(&self, algorithm: &dyn Algorithm, a: usize, b: usize) -> Judged {
        match self {
            Outlines::Fingerprints { words, ends } => {
                let get = |at: usize| &words[at.checked_sub(1).map_or(0, |before| ends[before])..ends[at]];
                algorithm.compare(get(a), get(b)).map_or(Judged::Below, Judged::Similar)
            }
            Outlines::Sets { sizes, jaccard } => {
                let can_reach = |jaccard: Threshold| jaccard.may_differ_in(sizes[a], sizes[b]).is_some();
                if jaccard.is_none_or(can_reach) { Judged::Open } else { Judged::Below }
            }
        }
    }
}

/// The outline of what is compared of a document, for rows.
pub(super) fn write(compare_on: CompareOn, compared: &[u64], outline: &mut Vec<u64>) {
    outline.clear();
    match compare_on {
        CompareOn::Fingerprints => outline.extend_from_slice(compared),
        CompareOn::Features | CompareOn::Multisets => outline.push(compared.len() as u64),
    }
}

/// Cuts a text into the tokens of the scratch. Returns their number for the requested tokenizer.
///
/// # Errors
/// That takes too much memory.
pub(super) fn cut(spec: &Spec, doc: i64, text: &str, scratch: &mut Scratch) -> Result<usize, Error> {
    cut_as(spec, spec.algorithm().reads(), doc, text, scratch)
}

/// The same, with this detail of the tokens.
pub(super) fn cut_as(
    spec: &Spec,
    detail: TokenDetail,
    doc: i64,
    text: &str,
    scratch: &mut Scratch,
) -> Result<usize, Error> {
    let memory = spec.options().memory;
    spec.signer().cut_as(detail, text, scratch).map_err(|_| {
        Error::Full(format!(
            "document {doc} has {} bytes, and cannot be signed within `memory` ({memory} bytes): allow more",
            text.len()
        ))
    })
}

/// The hashes of the token sequences of documents, as they were when these were signed.
pub(super) struct Sequences(Int64Array, Int64Array);

impl Sequences {
    pub fn of(input: &Input<'_>) -> Result<Self, Error> {
        Ok(Sequences(input.optional("seq_hi")?, input.optional("seq_lo")?))
    }

    pub fn get(&self, row: usize) -> u128 {
        u128::from(self.0.value(row) as u64) << 64 | u128::from(self.1.value(row) as u64)
    }
}

/// Fills `compared` with what is compared of a document, given its number, its text, and the hash of its tokens when it was signed. Returns
/// whether that is still the same.
///
/// # Errors
/// As for [`cut`].
pub(super) fn compared(
    spec: &Spec,
    (doc, text, sequence): (i64, Option<&str>, u128),
    scratch: &mut Scratch,
    compared: &mut Vec<u64>,
) -> Result<bool, Error> {
    compared.clear();
    let Some(text) = text else { return Ok(false) };
    cut(spec, doc, text, scratch)?;
    let signer = spec.signer();
    if signer.sequence(scratch) != sequence {
        return Ok(false);
    }
    signer.features(scratch);
    signer.compared(spec.algorithm().compare_on(), scratch, compared);
    Ok(true)
}
