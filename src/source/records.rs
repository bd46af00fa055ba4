//! Documents that a program has, or produces one by one.

use super::{Batch, Problem, Source};
use std::fmt::{self, Display};
use std::ops::ControlFlow;

/// The number of records in a batch: large enough that the cost of a batch is negligible, small enough to keep all
/// threads busy.
const RECORDS_PER_BATCH: usize = 256;
/// The size of a batch in bytes, if it is reached earlier.
const BYTES_PER_BATCH: usize = 1 << 20;

/// A [`Source`] over any iterator: rows of a database, lines of a custom format. A record is an id and a text, or a
/// [`Problem`]: a row that cannot be read is reported and counted, and the scan continues.
///
/// It is made from a function that starts at the first record, because some scans read their documents twice. Each call
/// must return the same records.
///
/// ```
/// use neardups::source::{Problem, Records, Source};
///
/// let rows = [(17, Some("the quick brown fox")), (18, None)];
/// let mut source = Records::new(|| {
///     rows.iter().map(|(key, text)| match text {
///         Some(text) => Ok((key, *text)),
///         None => Err(Problem::of_record(key, "the column body is NULL")),
///     })
/// });
/// ```
pub struct Records<F> {
    start: F,
}

impl<F> fmt::Debug for Records<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}

impl<F, R, I, T> Records<F>
where
    F: FnMut() -> R + Send,
    R: Iterator<Item = Result<(I, T), Problem>>,
    I: Display,
    T: Into<String>,
{
    /// The records of the iterator that `start` makes.
    pub fn new(start: F) -> Self {
        Records { start }
    }
}

impl<F, R, I, T> Source for Records<F>
where
    F: FnMut() -> R + Send,
    R: Iterator<Item = Result<(I, T), Problem>>,
    I: Display,
    T: Into<String>,
{
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>) {
        let (mut batch, mut records) = (Batch::default(), 0);
        for record in (self.start)() {
            match record {
                Ok((id, text)) => batch.push(id.to_string(), text.into()),
                Err(problem) => batch.reject(problem),
            }
            records += 1;
            if records == RECORDS_PER_BATCH || batch.bytes_read() >= BYTES_PER_BATCH as u64 {
                records = 0;
                if deliver(std::mem::take(&mut batch)).is_break() {
                    return;
                }
            }
        }
        if records > 0 {
            // Nothing comes after it.
            _ = deliver(batch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// What each batch holds.
    fn batches(source: &mut dyn Source) -> Vec<Vec<String>> {
        let mut batches = Vec::new();
        source.read(&mut |batch| {
            let mut found = Vec::new();
            batch.documents(&mut |document| {
                found.push(match document {
                    Ok(document) => format!("{}={}", document.id, document.text),
                    Err(problem) => problem.to_string(),
                });
            });
            batches.push(found);
            ControlFlow::Continue(())
        });
        batches
    }

    #[test]
    fn records_and_problems_in_order_each_time() {
        let rows = [Some("a"), None, Some("c")];
        let mut source = Records::new(|| {
            rows.iter().enumerate().map(|(n, row)| row.map(|text| (n, text)).ok_or(Problem::of_record(n, "is NULL")))
        });
        let expected = [["0=a", "1: is NULL", "2=c"]];
        assert_eq!(batches(&mut source), expected);
        assert_eq!(batches(&mut source), expected);
    }

    #[test]
    fn no_records_no_batch() {
        assert!(batches(&mut Records::new(std::iter::empty::<Result<(u8, &str), Problem>>)).is_empty());
    }

    #[test]
    fn batches_are_bounded() {
        let sizes = |texts: Vec<String>| {
            let mut source = Records::new(|| texts.iter().enumerate().map(|(n, text)| Ok((n, text.as_str()))));
            batches(&mut source).iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes(vec![String::new(); 2 * RECORDS_PER_BATCH + 1]), [256, 256, 1]);
        assert_eq!(sizes(vec!["x".repeat(BYTES_PER_BATCH / 2); 5]), [2, 2, 1]);
    }

    #[test]
    fn a_break_stops() {
        let read = AtomicUsize::new(0);
        let count = |n| (read.fetch_add(1, Ordering::Relaxed), n).1;
        let mut source = Records::new(|| (0..10_000).map(|n| Ok((count(n), ""))));
        source.read(&mut |_| ControlFlow::Break(()));
        assert_eq!(read.into_inner(), RECORDS_PER_BATCH);
    }
}
