//! Near-duplicate detection for text.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod algorithm;
mod error;
pub mod hamming;
pub mod hash;
pub mod similarity;
pub mod source;
pub mod tokenizer;

pub use error::Error;
