//! Tables from keys to numbered documents, for a stream that remembers and for a batch that decides in an order.
//!
//! ```text
//! table      key → the documents that have it, in memory and in sorted runs on the disk      (table.rs)
//! young      the part in memory                                                              (young.rs)
//! run        the part in a file, with a filter in memory (run.rs, filter.rs, sort.rs, writer.rs, words.rs)
//! prefixes   set → the sets that may be similar to it, by their rare elements                (prefixes.rs)
//! families   keys that very many documents have → one prefix filter for those alike          (families.rs)
//! gained     elements that become common after the order of a family was fixed               (gained.rs)
//! spilled    words in a temporary file                                                       (spilled.rs)
//! stored     words in memory, or in such a file                                              (stored.rs)
//! cached     reading such words on one thread, close to others                               (cached.rs)
//! slots      numbers that change, in memory or in such a file                                (slots.rs)
//! sorted     rows of words in order, in memory or in such a file                             (sorted.rs)
//! repeated   the elements by which sets can be found at all                                  (repeated.rs)
//! ```

mod cached;
mod families;
mod filter;
mod gained;
mod prefixes;
mod read_at;
mod repeated;
mod run;
mod slots;
mod sort;
mod sorted;
mod spilled;
mod stored;
mod table;
mod words;
mod writer;
mod young;

pub(crate) use cached::Cached;
pub(crate) use families::{Families, Wanted};
pub(crate) use filter::Filter;
pub(crate) use prefixes::{ASKED, MOST_ASKED, Prefixes};
pub(crate) use read_at::read_at;
pub(crate) use repeated::Repeated;
pub(crate) use run::{Posting, Run, check_of, damaged};
pub(crate) use slots::Slots;
pub(crate) use sort::sorted;
pub(crate) use sorted::{Gathering, List, Portions, Sorter, sort};
pub(crate) use spilled::{Buffer, Spilled};
pub(crate) use stored::Stored;
pub(crate) use table::Table;
pub(crate) use words::{Words, put};
pub(crate) use writer::Writer;
