//! Inner loops that gain from vector instructions, each beside a plain version that tests compare it with.
//!
//! The only unsafe code of the crate is here. It has three forms, and each place says which: calling a function that was
//! compiled for a CPU feature, which is sound where the feature is there; loading vectors through a pointer, which is
//! sound within a slice; and asking for memory ahead of time, which is sound anywhere.
//!
//! Every kernel takes a [`Level`], which only detection makes. The level in use is detected once, when it is first asked for.
//! `NEARDUPS_KERNEL` (`plain`, `avx2`, `avx512`) forces one that the processor has; no result depends on it. On other
//! processors than x86-64 the plain versions are all there is, and the compiler makes what vector instructions it can of them
//! (on AArch64, NEON).

pub(crate) mod counts;
pub(crate) mod fetch;
pub(crate) mod json;
mod level;
pub(crate) mod near;
pub(crate) mod sketch;
pub(crate) mod words;

pub use level::Level;
use level::Set;
