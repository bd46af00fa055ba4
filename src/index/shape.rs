//! The records that an index can hold, given the algorithm in its header.
//!
//! A record may be whole, with the right checksum, and still not match the algorithm: a fingerprint in an index of
//! features, or one of too few words. Later reads of such a record would index out of bounds. So each record is checked
//! once, when the log is read. Opening an index and `dedup index verify` refuse the same records.

use crate::algorithm::CompareOn;
use serde_json::Value;

/// The stored data of a document besides its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Featureless = 0,
    Fingerprint = 1,
    Features = 2,
}

/// The constraints on the records of an index.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    /// The kind of all records except those without features.
    kind: Option<Kind>,
    /// The number of words of every fingerprint.
    words: Option<usize>,
    /// The maximum number of keys of a document.
    keys: Option<usize>,
    /// Whether it has at most two keys for each feature.
    keys_are_features: bool,
}

/// The words of a digest of I-Match.
const DIGEST: usize = crate::algorithm::imatch::WORDS;

/// Whether the tables of an index are made of its fingerprints when it is opened, and may be others than those that it
/// was made with.
pub(super) fn chooses_tables(header: &Value) -> bool {
    match header.get("algo").and_then(Value::as_str) {
        Some("simhash") => true,
        Some("projection") => header.get("cosine").is_none(),
        _ => false,
    }
}

impl Shape {
    /// The shape by the header of an index. An algorithm outside the table is unknown here.
    pub fn of(header: &Value) -> Self {
        let number = |name: &str| header.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let fingerprint = |words: Option<usize>| Shape { kind: Some(Kind::Fingerprint), words, ..Shape::default() };
        let features = |keys| Shape { kind: Some(Kind::Features), keys, ..Shape::default() };
        match header.get("algo").and_then(Value::as_str) {
            Some("minhash") => match header.get("supershingles").and_then(Value::as_str) {
                Some(shape) => fingerprint(shape.split('x').next().and_then(|groups| groups.parse().ok())),
                None => features(number("bands")),
            },
            Some("projection") if header.get("cosine").is_some() => features(number("bands")),
            Some("simhash" | "projection") => fingerprint(number("bits").map(|bits| bits.div_ceil(64))),
            Some("imatch") => {
                // The digests of their lists, joined by `+`.
                let explicit = header.get("lexicon without").and_then(Value::as_str);
                let explicit = explicit.map_or(0, |digests| digests.split('+').count());
                let digests = number("lexicons").and_then(|random| random.checked_add(1)?.checked_add(explicit));
                fingerprint(digests.and_then(|digests| digests.checked_mul(DIGEST)))
            }
            Some("exact" | "spotsigs") => Shape { keys_are_features: true, ..features(None) },
            _ => Shape::default(),
        }
    }

    /// Adds the constraints of the algorithm itself where the header left them open.
    pub fn and(self, compare_on: CompareOn) -> Self {
        let kind = match compare_on {
            CompareOn::Fingerprints => Kind::Fingerprint,
            CompareOn::Features | CompareOn::Multisets => Kind::Features,
        };
        Shape { kind: self.kind.or(Some(kind)), ..self }
    }

    /// Whether a record of this kind, with these numbers of tags and of words or features, can be in the index.
    pub fn allows(&self, kind: Kind, tags: usize, elements: usize) -> bool {
        match kind {
            Kind::Featureless => true,
            _ if elements == 0 || self.kind.is_some_and(|own| own != kind) => false,
            Kind::Fingerprint => self.words.is_none_or(|words| words == elements),
            Kind::Features => {
                let most = if self.keys_are_features { elements.saturating_mul(2) } else { usize::MAX };
                tags <= self.keys.unwrap_or(most)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_algorithm_has_records_of_one_kind() {
        let shape = |header| Shape::of(&header);
        let minhash = shape(json!({"algo": "minhash", "bands": 16}));
        assert!(minhash.allows(Kind::Features, 16, 1) && !minhash.allows(Kind::Features, 17, 100));
        assert!(!minhash.allows(Kind::Fingerprint, 0, 96) && minhash.allows(Kind::Featureless, 0, 0));
        assert!(!minhash.allows(Kind::Features, 16, 0));
        let broder = shape(json!({"algo": "minhash", "supershingles": "6x14"}));
        assert!(broder.allows(Kind::Fingerprint, 0, 6) && !broder.allows(Kind::Fingerprint, 0, 5));
        let signs = shape(json!({"algo": "simhash", "bits": 128}));
        assert!(signs.allows(Kind::Fingerprint, 0, 2) && !signs.allows(Kind::Fingerprint, 0, 3));
        let agreeing = shape(json!({"algo": "projection", "bits": 384}));
        assert!(agreeing.allows(Kind::Fingerprint, 0, 6) && !agreeing.allows(Kind::Features, 1, 6));
        let cosine = shape(json!({"algo": "projection", "bits": 336, "bands": 28, "cosine": "0.9"}));
        assert!(cosine.allows(Kind::Features, 28, 6) && !cosine.allows(Kind::Features, 29, 6));
        let digests = shape(json!({"algo": "imatch", "lexicons": 10}));
        assert!(digests.allows(Kind::Fingerprint, 0, 11 * DIGEST) && !digests.allows(Kind::Fingerprint, 0, DIGEST));
        let explicit = shape(json!({"algo": "imatch", "lexicons": 1, "lexicon without": "ab+cd"}));
        assert!(
            explicit.allows(Kind::Fingerprint, 0, 4 * DIGEST) && !explicit.allows(Kind::Fingerprint, 0, 2 * DIGEST)
        );
        for name in ["exact", "spotsigs"] {
            let prefix = shape(json!({"algo": name}));
            assert!(prefix.allows(Kind::Features, 6, 3) && !prefix.allows(Kind::Features, 7, 3));
        }
        let own = shape(json!({"algo": "own"}));
        assert!(own.allows(Kind::Features, 100, 200) && own.allows(Kind::Fingerprint, 0, 1));
        assert!(!own.and(CompareOn::Multisets).allows(Kind::Fingerprint, 0, 1));
        // Whatever the content, nothing panics.
        for odd in [json!(null), json!({"algo": 1}), json!({"algo": "imatch", "lexicons": u64::MAX})] {
            assert!(shape(odd).allows(Kind::Fingerprint, 0, 1));
        }
    }
}
