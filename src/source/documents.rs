//! Documents that are already in memory.

use std::ops::ControlFlow;

use super::{Batch, Source};

/// The number of documents in a batch: large enough that the cost of a batch is negligible, small enough to keep all
/// threads busy.
const DOCUMENTS_PER_BATCH: usize = 256;

/// A [`Source`] over documents in memory, each an id and a text.
///
/// ```
/// use neardups::source::Documents;
/// let source = Documents::new([("a", "the quick brown fox"), ("b", "the quick brown fox!")]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Documents {
    documents: Vec<(String, String)>,
}

impl Documents {
    /// The documents, in their order.
    pub fn new<I: Into<String>, T: Into<String>>(documents: impl IntoIterator<Item = (I, T)>) -> Self {
        documents.into_iter().collect()
    }
}

impl<I: Into<String>, T: Into<String>> FromIterator<(I, T)> for Documents {
    fn from_iter<D: IntoIterator<Item = (I, T)>>(documents: D) -> Self {
        Documents { documents: documents.into_iter().map(|(id, text)| (id.into(), text.into())).collect() }
    }
}

impl Source for Documents {
    fn read(&mut self, deliver: &mut dyn FnMut(Batch) -> ControlFlow<()>) {
        for documents in self.documents.chunks(DOCUMENTS_PER_BATCH) {
            if deliver(Batch::from_documents(documents.to_vec())).is_break() {
                return;
            }
        }
    }

    fn total_bytes(&self) -> Option<u64> {
        Some(self.documents.iter().map(|(_, text)| text.len() as u64).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(source: &mut Documents) -> Vec<String> {
        let mut ids = Vec::new();
        source.read(&mut |batch| {
            batch.documents(&mut |document| ids.push(document.unwrap().id.into_owned()));
            ControlFlow::Continue(())
        });
        ids
    }

    #[test]
    fn all_documents_in_order_each_time() {
        let expected: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        let mut source: Documents = expected.iter().map(|id| (id.clone(), "text")).collect();
        assert_eq!(ids(&mut source), expected);
        assert_eq!(ids(&mut source), expected);
        assert_eq!(source.total_bytes(), Some(4000));
    }

    #[test]
    fn no_documents_no_batch() {
        Documents::default().read(&mut |_| panic!("nothing to deliver"));
    }

    #[test]
    fn a_break_stops() {
        let mut batches = 0;
        Documents::new((0..1000).map(|n| (n.to_string(), ""))).read(&mut |_| {
            batches += 1;
            ControlFlow::Break(())
        });
        assert_eq!(batches, 1);
    }
}
