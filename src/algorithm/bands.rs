//! The numbers of bands and rows, chosen so that the recall *at the threshold* is the requested one. Serves every
//! family whose fingerprint is a sequence of slots that agree independently with a known probability: minima, or sign
//! bits.
//!
//! Many tools put the threshold where the curve is steepest, and so find half of the pairs there or fewer. Here the
//! curve is placed so that a pair exactly at the threshold is a candidate with probability at least `recall`. More
//! dissimilar pairs then become candidates; exact verification removes them.

/// `bands` bands of `rows` slots each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// Number of bands, `b`.
    pub bands: usize,
    /// Slots in a band, `r`.
    pub rows: usize,
}

/// Returns the fewest bands of `rows` rows that find a pair at `threshold` with probability `recall`: `b = ⌈ln(1 − R) /
/// ln(1 − τʳ)⌉`.
pub fn needed(threshold: f64, recall: f64, rows: usize) -> usize {
    let agree = threshold.powi(rows as i32);
    if agree >= 1.0 {
        return 1;
    }
    // `ln_1p` stays precise if the agreement is tiny. A value that overflows saturates, and callers refuse it.
    let bands = ((1.0 - recall).ln() / (-agree).ln_1p()).ceil().max(1.0);
    bands as usize
}

impl Bands {
    /// Returns the most rows, with the bands they need, that fit in `most` slots; `None` if even one row does not fit.
    pub fn for_recall(threshold: f64, recall: f64, most: usize) -> Option<Self> {
        (1..=most.min(256))
            .map(|rows| Bands { bands: needed(threshold, recall, rows), rows })
            .rfind(|choice| choice.bands.checked_mul(choice.rows).is_some_and(|slots| slots <= most))
    }

    /// Returns the slots of the signature, `K = b·r`; the greatest number if there are more.
    pub fn slots(self) -> usize {
        self.bands.saturating_mul(self.rows)
    }

    /// Returns the probability that a pair shares a band if its slots agree independently with probability `s`: `1 − (1
    /// − sʳ)ᵇ`.
    pub fn probability(self, similarity: f64) -> f64 {
        let agree = similarity.powi(self.rows as i32);
        if agree >= 1.0 { 1.0 } else { -(self.bands as f64 * (-agree).ln_1p()).exp_m1() }
    }
}

/// Returns the similarities that plans show: from 0.1 to 1, and the threshold.
pub fn similarities(threshold: f64) -> Vec<f64> {
    let mut at: Vec<f64> = (2..=20).map(|twentieth| twentieth as f64 / 20.0).collect();
    if !at.iter().any(|s| (s - threshold).abs() < 1e-9) {
        at.push(threshold);
        at.sort_by(f64::total_cmp);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(threshold: f64, recall: f64, most: usize) -> (usize, usize) {
        let bands = Bands::for_recall(threshold, recall, most).unwrap();
        (bands.bands, bands.rows)
    }

    #[test]
    fn choices_for_recall_099() {
        // b × r for K ≤ 256, computed from the rule by hand for each threshold.
        let table = [
            (0.5, (35, 3)),
            (0.6, (34, 4)),
            (0.7, (37, 6)),
            (0.75, (33, 7)),
            (0.8, (26, 8)),
            (0.85, (22, 10)),
            (0.9, (18, 14)),
            (0.95, (12, 21)),
        ];
        for (threshold, expected) in table {
            assert_eq!(chosen(threshold, 0.99, 256), expected, "at {threshold}");
        }
        assert_eq!(chosen(0.8, 0.999, 256), (30, 7));
        assert_eq!(chosen(0.8, 0.99, 128), (16, 6));
        assert_eq!(chosen(0.5, 0.99, 512), (72, 4));
    }

    #[test]
    fn recall_at_the_threshold_is_never_below_what_was_asked() {
        for threshold in (5..=100).map(|percent| percent as f64 / 100.0) {
            for recall in [0.5, 0.9, 0.99, 0.999999] {
                if let Some(bands) = Bands::for_recall(threshold, recall, 1024) {
                    assert!(bands.probability(threshold) >= recall - 1e-12, "{threshold} {recall} {bands:?}");
                    assert!(bands.slots() <= 1024);
                }
            }
        }
    }

    #[test]
    fn curve_of_mining_of_massive_datasets_figure_3_8() {
        let bands = Bands { bands: 20, rows: 5 };
        let printed = [
            (0.2, 0.006381),
            (0.3, 0.047494),
            (0.4, 0.18605),
            (0.5, 0.470051),
            (0.6, 0.801902),
            (0.7, 0.974781),
            (0.8, 0.999644),
        ];
        for (similarity, expected) in printed {
            assert!((bands.probability(similarity) - expected).abs() < 5e-7, "at {similarity}");
        }
    }

    #[test]
    fn curves_of_published_settings() {
        let close = |b, r, s, expected: f64, digits: f64| {
            let got = Bands { bands: b, rows: r }.probability(s);
            assert!((got - expected).abs() < digits, "{b} x {r} at {s}: {got}");
        };
        // FineWeb's 14 × 8, whose paper prints 56, 77, 92 and 98.8 %.
        close(14, 8, 0.7, 0.5645, 5e-5);
        close(14, 8, 0.75, 0.7716, 5e-5);
        close(14, 8, 0.8, 0.9235, 5e-5);
        close(14, 8, 0.85, 0.9884, 5e-5);
        // Lee et al. 2022 and RefinedWeb: 450 bands of 20.
        close(450, 20, 0.6, 0.01632, 5e-6);
        close(450, 20, 0.7, 0.3018, 5e-5);
        close(450, 20, 0.75, 0.7605, 5e-5);
        close(450, 20, 0.8, 0.9946, 5e-5);
    }
}
