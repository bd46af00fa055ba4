//! How work is run: what batch, stream and single comparisons have in common.

pub(crate) mod observer;
pub(crate) mod ordered;
pub(crate) mod sign;
