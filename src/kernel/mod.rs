//! Inner loops that gain from vector instructions, each beside a plain version that tests compare it with.
//!
//! This module has the only unsafe code of the crate. It has eight forms, and a comment at each place says which:
//! calling a function that was compiled for a CPU feature, which is sound if the processor has it; loading or storing
//! vectors through a pointer, which is sound within a slice; reading and writing words as bytes, which are the same memory;
//! writing into the room that a string has, as many whole characters as its length then says; prefetching memory, which is
//! sound anywhere; advising the system how to hold memory, which changes none of it; setting an option of the allocator; and
//! a function that the loader calls, which looks at standard output before the standard library does.
//!
//! Every kernel takes a [`Level`], which only detection creates. The level in use is detected once, on first use.
//! `NEARDUPS_KERNEL` (`plain`, `avx2`, `avx512`) forces one that the processor has; no result depends on it. Processors
//! other than x86-64 use the plain versions, which the compiler vectorises as far as it can (on AArch64, with NEON).

pub(crate) mod bytes;
pub(crate) mod characters;
pub(crate) mod compress;
pub(crate) mod fetch;
pub(crate) mod heap;
pub(crate) mod json;
mod level;
pub(crate) mod majority;
pub(crate) mod near;
pub(crate) mod pages;
pub(crate) mod sketch;
#[cfg(feature = "cli")]
pub(crate) mod streams;
pub(crate) mod within;
pub(crate) mod words;

pub use level::Level;
use level::Set;
