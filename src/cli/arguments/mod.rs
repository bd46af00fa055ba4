//! What can be typed: every flag with its help, and what was typed, as values. Together with `check/arguments.rs` this folder is all
//! that looks at what clap parsed.
//!
//! ```text
//! values.rs    how single values are checked and taken
//! method.rs    algorithm, preset, parameters    ┐
//! tokens.rs    tokenizer, preparation           │ what several commands share:
//! input.rs     which documents, how they are read │ the flags of each group are made,
//! run.rs       memory, threads, seed            │ and taken, in one place
//! signing.rs   what an index belongs to         ┘
//! the others   a command each
//! ```

pub mod compare;
pub mod eval;
pub mod filter;
pub mod generate;
pub mod help;
pub mod index;
mod input;
pub mod lexicon;
mod method;
pub mod plan;
mod run;
pub mod scan;
mod signing;
mod tokens;
mod values;

pub use input::{Input, OnError};
pub use method::Method;
pub use run::{Run, some_args as some_run_args};
pub use signing::Signing;
pub use tokens::Tokens;
pub use values::{choice, whole_number};
