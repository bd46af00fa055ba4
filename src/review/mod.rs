//! A page on which people review the clusters of a scan, and choose what is kept.
//!
//! ```text
//! select        kept documents and clusters → those that the page shows                (select.rs)
//! alignment     two texts → the words that both have                                    (alignment.rs)
//! differences   two texts → the words in which they differ                             (differences.rs)
//! head          what was scanned, how, and what was found, as HTML                     (head.rs)
//! page          clusters → one HTML file: page.html, page.css, page.js around JSON     (page.rs)
//! ```
//!
//! The page is one file without references to others. Ids, paths and texts are untrusted: they are in blocks of JSON in
//! which nothing can end the block, and the script shows them as text. Its hash is in the content security policy, so that
//! no other script runs. Without scripts, the page lists the first clusters.
//!
//! What is chosen is exported as the JSON lines that [`Chosen`](crate::engine::Chosen) reads.

mod alignment;
mod differences;
mod head;
mod page;
mod select;

pub use differences::{Difference, Differences, Piece};
pub use head::About;
pub use page::{MAX_BYTES, Review, write};
pub use select::{MAX_CLUSTERS, MAX_MEMBERS, MAX_TEXTS};
