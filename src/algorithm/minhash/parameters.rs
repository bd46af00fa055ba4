//! The parameters of this family alone.

use crate::algorithm::parameter::{Parameter, Values};

/// The longest signature.
pub(super) const MAX_SLOTS: usize = 16384;

pub(super) static EXACT: Parameter = Parameter {
    name: "exact",
    placeholder: "",
    default: "false",
    values: Values::Switch,
    help: "Find every pair at or above the threshold, none missed",
    details: "A prefix-filter join instead of sketches: documents are read once more to count shingles, rare shingles bring candidates \
              together, and recall is 1. Slower than MinHash on large corpora, and takes more memory.",
};
pub(super) static SKETCH: Parameter = Parameter {
    name: "sketch",
    placeholder: "KIND",
    default: "fss",
    values: Values::Choice(&[
        ("fss", "Fast Similarity Sketching: faster, and at least as accurate"),
        ("classic", "one independent hash function a slot"),
        (
            "datasketch",
            "bit for bit the default MinHash of datasketch 2 of the same shingles, joined by a space; uses `hash sha1`",
        ),
        ("datasketch1", "the same for datasketch 1; datasketch 2 calls this scheme legacy"),
    ]),
    help: "How signatures are computed: fss, classic, datasketch or datasketch1",
    details: "Signatures of different kinds cannot be compared. With independent slots (classic), a pair of similarity J is found with \
              probability 1 - (1 - J^r)^b, for b bands of r rows. The slots of fss are not independent: for documents of up to a few hundred \
              shingles it finds more of the pairs where this probability is above .6, and fewer where it is below. A plan shows the curve for a length of the documents.",
};
pub(super) static BANDS: Parameter = Parameter {
    name: "bands",
    placeholder: "B",
    default: "auto",
    values: Values::AutoInteger(1..=4096),
    help: "Bands of the signature",
    details: "auto takes what `recall` needs. More bands find more (and compare more).",
};
pub(super) static ROWS: Parameter = Parameter {
    name: "rows",
    placeholder: "R",
    default: "auto",
    values: Values::AutoInteger(1..=256),
    help: "Slots in a band",
    details: "auto takes as many as `hashes` allows. More rows compare fewer dissimilar pairs, and need more bands.",
};
pub(super) static HASHES: Parameter = Parameter {
    name: "hashes",
    placeholder: "K",
    default: "128",
    values: Values::Integer(1..=MAX_SLOTS as u64),
    help: "Maximum number of slots of a signature",
    details: "Bounds bands times rows where at least one of them is auto. More hashes allow more rows, and compare fewer dissimilar pairs, \
              for slower signatures and more keys: on 100,000 pages of documentation at 0.8, 256 compares 21 % fewer pairs than 128 \
              and takes a quarter longer. At thresholds of 0.6 and below, 512 compares far fewer unrelated pairs.",
};

pub(super) static SUPERSHINGLES: Parameter = Parameter {
    name: "supershingles",
    placeholder: "MxL",
    default: "off",
    values: Values::Groups(1..=32, 1..=256),
    help: "Report pairs by equal supershingles: M hashes of L minima each",
    details: "Replaces `threshold`, `recall` and bands: two documents are a pair if enough supershingles are equal \
              (`min-supershingles`), and no Jaccard similarity is computed. The plan shows the probability that a pair is reported: with \
              6x14 it is one half at a similarity of 0.91. 6x14 (84 minima, 48 bytes a document) is the setting that Henzinger evaluated. \
              With `sketch classic` the minima are computed as in the original paper.",
};
pub(super) static MIN_SUPERSHINGLES: Parameter = Parameter {
    name: "min-supershingles",
    placeholder: "B",
    default: "2",
    values: Values::Integer(1..=32),
    help: "Minimum number of supershingles in common",
    details: "Only with `supershingles`. 1 of 6 reports half of the pairs at 0.85, 3 of 6 half of those at 0.94.",
};

pub(super) static COUNT_REPEATS: Parameter = Parameter {
    name: "count-repeats",
    placeholder: "",
    default: "false",
    values: Values::Switch,
    help: "Count a shingle as often as it occurs: Jaccard similarity of multisets",
    details: "The second occurrence of a shingle is a shingle of its own (Broder 1997, option A), so that a text and the same text twice over \
              are at about 0.5, not at 1. For tables, logs and verse, which repeat themselves.",
};
