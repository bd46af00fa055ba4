//! Near-duplicate detection for text.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod hamming;
pub mod hash;
pub mod similarity;
