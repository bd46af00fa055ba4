//! The shape of supershingles: how a signature is cut, and how much of it must be equal.

use crate::algorithm::bands::Bands;
use crate::hamming::binomial;

/// The number and size of supershingles, and how many of them must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of supershingles, `m′`.
    pub groups: usize,
    /// Slots in each, `l`.
    pub rows: usize,
    /// Minimum number of equal supershingles, `b`.
    pub least: usize,
}

impl From<Bands> for Shape {
    /// One of the bands must be equal.
    fn from(Bands { bands, rows }: Bands) -> Self {
        Shape { groups: bands, rows, least: 1 }
    }
}

impl Shape {
    /// Returns the slots of the signature, `m = m′·l`.
    pub fn slots(self) -> usize {
        self.groups * self.rows
    }

    /// Returns the number of keys, C(m′, b).
    pub fn tables(self) -> f64 {
        binomial(self.groups, self.least)
    }

    /// Returns the probability that a pair of this Jaccard similarity is reported if slots agree independently, as in
    /// the classic sketch: the probability that at least `b` of `m′` supershingles are equal, each with probability
    /// `sˡ`. For other sketches see [`Curve`](super::curve::Curve).
    pub fn probability(self, similarity: f64) -> f64 {
        let equal = similarity.powi(self.rows as i32);
        let exactly = |count: usize| {
            let (yes, no) = (equal.powi(count as i32), (1.0 - equal).powi((self.groups - count) as i32));
            binomial(self.groups, count) * yes * no
        };
        (self.least..=self.groups).map(exactly).sum::<f64>().min(1.0)
    }
}
