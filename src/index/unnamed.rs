//! Documents without an id of their own.
//!
//! They are remembered under numbers, in the order in which they are remembered: the first is `0`. A number is not used
//! twice while the index is open. After it is opened again, they continue after the number of the last document that has
//! one, so that those that were removed at the end may be used again.
//!
//! Such a document is never one that is fed again, whatever its text: nothing but the text is known of it. Where documents
//! are decided on, one with the text of another is a near-duplicate of it; where they are added, it is there already.

/// How a document is named.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name<'n> {
    Id(&'n str),
    /// By its number in the index, with this before it.
    Number(&'static str),
}

/// What may stand before a number: that of a row of a table in which other rows have ids.
pub(crate) const ROW: &str = "row:";

/// The number that an id is, if another follows it.
pub(super) fn number_in(id: &str) -> Option<u64> {
    let digits = id.strip_prefix(ROW).unwrap_or(id);
    let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
    number.filter(|&number| number < u64::MAX)
}
