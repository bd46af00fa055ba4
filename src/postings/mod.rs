//! Tables from keys to numbered documents, for a stream that remembers and for a batch that decides in an order.
//!
//! ```text
//! table      key → the documents that have it, in memory and in sorted runs on the disk      (table.rs, run.rs)
//! prefixes   set → the sets that may be similar to it, by their rare elements                (prefixes.rs)
//! families   keys that very many documents have → one prefix filter for those alike          (families.rs)
//! ```

mod families;
mod prefixes;
mod read_at;
mod run;
mod table;

pub(crate) use families::Families;
pub(crate) use read_at::read_at;
pub(crate) use table::Table;
