//! How work is run: the parts that batch, stream and single comparisons share.

pub(crate) mod batches;
pub(crate) mod ends;
pub(crate) mod fields;
pub(crate) mod observer;
pub(crate) mod ordered;
pub(crate) mod places;
pub(crate) mod rejections;
pub(crate) mod sign;
pub(crate) mod sort;
