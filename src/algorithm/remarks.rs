//! What algorithms notice about single documents, counted over a run.

/// What an algorithm noticed while it made the [features](super::Features::remark) of a document. A run counts remarks of
/// one kind, and hands them to [`Explain::warnings`](super::Explain::warnings).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    kind: &'static str,
    rank: u64,
    example: String,
}

impl Remark {
    /// A remark of this kind. `example` describes the document; of all documents of a run, the description of the one
    /// with the least `rank` is kept. A hash of the document as the rank makes it independent of the order.
    pub fn new(kind: &'static str, rank: u64, example: impl Into<String>) -> Self {
        Remark { kind, rank, example: example.into() }
    }
}

/// The remarks on the documents of a run: of each kind their number, and an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks(Vec<(u64, Remark)>);

impl Remarks {
    /// Counts the remark on a document.
    pub fn add(&mut self, remark: Remark) {
        self.add_counted(1, remark);
    }

    /// Counts the remarks on other documents.
    pub fn merge(&mut self, others: Remarks) {
        others.0.into_iter().for_each(|(count, remark)| self.add_counted(count, remark));
    }

    fn add_counted(&mut self, more: u64, remark: Remark) {
        let Some((count, least)) = self.0.iter_mut().find(|(_, known)| known.kind == remark.kind) else {
            return self.0.push((more, remark));
        };
        *count += more;
        if (remark.rank, &remark.example) < (least.rank, &least.example) {
            *least = remark;
        }
    }

    /// The number of documents with a remark of this kind, and the example; `None` if there are none.
    pub fn of(&self, kind: &str) -> Option<(u64, &str)> {
        self.0.iter().find(|(_, remark)| remark.kind == kind).map(|(count, remark)| (*count, &*remark.example))
    }
}

/// The documents of a run, as [`Explain::warnings`](super::Explain::warnings) sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunSummary {
    /// The number of documents.
    pub documents: u64,
    /// The number of documents without a fingerprint.
    pub featureless: u64,
    /// The remarks on them.
    pub remarks: Remarks,
}

impl RunSummary {
    /// A run over this many documents, of which `featureless` have no fingerprint.
    pub fn new(documents: u64, featureless: u64, remarks: Remarks) -> Self {
        RunSummary { documents, featureless, remarks }
    }

    /// Counts a document.
    pub(crate) fn add(&mut self, is_featureless: bool, remark: Option<Remark>) {
        self.documents += 1;
        self.featureless += u64::from(is_featureless);
        remark.into_iter().for_each(|remark| self.remarks.add(remark));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_counted_by_kind_with_the_example_of_the_least_rank() {
        let remarks = [("a", 5, "five"), ("b", 1, "other"), ("a", 3, "three"), ("a", 3, "third"), ("a", 4, "four")]
            .map(|(kind, rank, example)| Remark::new(kind, rank, example));
        let all = |remarks: &[Remark]| {
            let mut all = Remarks::default();
            remarks.iter().for_each(|remark| all.add(remark.clone()));
            all
        };
        for split in 0..=remarks.len() {
            let mut merged = all(&remarks[split..]);
            merged.merge(all(&remarks[..split]));
            assert_eq!(
                [merged.of("a"), merged.of("b"), merged.of("c")],
                [Some((4, "third")), Some((1, "other")), None]
            );
        }
    }
}
