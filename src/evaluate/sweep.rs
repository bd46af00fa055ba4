//! The scores at every threshold, or at every distance, from one outcome.

use super::pairs::each_pair;
use super::scores::{Kind, Scores, Truth};
use crate::algorithm::parameter::{Settings, Values};
use crate::algorithm::{Entry, parameter::Parameter};
use crate::engine::Outcome;
use crate::error::Error;
use crate::similarity::Threshold;
use std::collections::HashMap;

/// The parameter that a sweep varies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Swept {
    /// The parameter `threshold`, from this one up to 1.
    Threshold(Threshold),
    /// The parameter `distance`, from 0 up to this one.
    Distance(u32),
}

/// The default start of a sweep of thresholds.
const LOWEST: &str = "0.1";

impl Swept {
    /// Turns settings into those of one scan that finds every pair of all stricter settings, and returns the parameter
    /// that makes them stricter. A given threshold or distance is the loosest of the sweep.
    ///
    /// # Errors
    /// The algorithm has neither a threshold nor a distance.
    pub fn loosen(entry: &Entry, settings: &mut Settings) -> Result<Self, Error> {
        let parameter = |name| entry.parameters.iter().copied().find(|p: &&Parameter| p.name == name);
        let typed = |settings: &Settings, parameter: &Parameter| {
            settings.given().find(|(name, _)| *name == parameter.name).map(|(_, value)| value.to_string())
        };
        if let Some(threshold) = parameter("threshold") {
            let lowest = typed(settings, threshold).unwrap_or_else(|| LOWEST.into());
            settings.set(threshold.name, &*lowest);
            if entry.uses("exact") {
                settings.set("exact", "true");
            }
            threshold.check(&lowest)?;
            if let Ok(lowest) = lowest.parse() {
                return Ok(Swept::Threshold(lowest));
            }
        }
        if let Some(distance) = parameter("distance") {
            let most = match (typed(settings, distance), &distance.values) {
                (Some(typed), _) => typed,
                (None, Values::Integer(range) | Values::AutoInteger(range)) => range.end().to_string(),
                (None, _) => distance.default.to_string(),
            };
            settings.set(distance.name, &*most);
            distance.check(&most)?;
            if let Ok(most) = most.parse() {
                return Ok(Swept::Distance(most));
            }
        }
        Err(Error::Usage(format!("{} has no threshold and no distance to sweep", entry.name)))
    }

    /// The values of a sweep, the loosest first: hundredths of a threshold, every distance.
    pub fn values(self) -> Vec<f64> {
        match self {
            Swept::Threshold(lowest) => (1..=100u32)
                .filter(|&part| lowest.reached_by(part.into(), 100))
                .map(|part| f64::from(part) / 100.0)
                .collect(),
            Swept::Distance(most) => (0..=most).rev().map(f64::from).collect(),
        }
    }

    /// How close pairs are at least that a value finds.
    pub(super) fn closeness(self, value: f64) -> f64 {
        match self {
            Swept::Threshold(_) => value,
            Swept::Distance(_) => -value,
        }
    }
}

/// Every value of a sweep with the scores of the pairs that it finds, the loosest first. The outcome is that of the
/// [loosened](Swept::loosen) settings; `numbers` are those of its documents, see [`numbers`](super::numbers).
///
/// # Errors
/// Those of [`Outcome::pairs`].
pub fn sweep(
    outcome: &Outcome,
    numbers: &HashMap<&str, u32>,
    truth: &Truth,
    swept: Swept,
) -> Result<Vec<(f64, Scores)>, Error> {
    let mut sweep = Sweep::new(swept, Scores::new(truth));
    each_pair(outcome, numbers, |a, b, closeness| sweep.add(closeness, truth.kind(a, b)))?;
    Ok(sweep.points())
}

/// Counts pairs by the strictest value of a sweep that finds them.
struct Sweep {
    /// The scores before any pair.
    empty: Scores,
    /// The values, the loosest first; and how close pairs are at least that each finds, ascending.
    values: Vec<f64>,
    closeness: Vec<f64>,
    found: Vec<Scores>,
}

impl Sweep {
    fn new(swept: Swept, empty: Scores) -> Self {
        let values = swept.values();
        let closeness = values.iter().map(|&value| swept.closeness(value)).collect();
        Sweep { empty, found: vec![Scores::default(); values.len()], values, closeness }
    }

    /// Counts a pair.
    fn add(&mut self, closeness: f64, kind: Kind) {
        let values = self.closeness.partition_point(|&least| least <= closeness);
        if let Some(strictest) = values.checked_sub(1) {
            self.found[strictest].add(kind);
        }
    }

    fn points(self) -> Vec<(f64, Scores)> {
        let mut all = self.empty;
        let sums = self.values.into_iter().zip(self.found).rev().map(|(value, found)| {
            all.add_found(&found);
            (value, all)
        });
        let mut points: Vec<(f64, Scores)> = sums.collect();
        points.reverse();
        points
    }
}

/// The point with the highest F1, the strictest of equals; `None` if no point has an F1 above 0. Points must come
/// loosest first.
pub fn best(points: &[(f64, Scores)]) -> Option<(f64, Scores)> {
    let with_f1 = points.iter().copied().filter_map(|point| Some((point.1.f1().filter(|&f1| f1 > 0.0)?, point)));
    with_f1.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, point)| point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_counts_what_is_at_least_as_close() {
        use Kind::{Ignored, Right, Wrong};
        let points_of = |swept, found: &[(f64, Kind)], labelled| {
            let mut sweep = Sweep::new(swept, Scores { labelled, ..Scores::default() });
            found.iter().for_each(|&(closeness, kind)| sweep.add(closeness, kind));
            sweep.points()
        };
        let scores_at = |points: &[(f64, Scores)], value| points.iter().find(|point| point.0 == value).unwrap().1;
        let found = [(0.5, Wrong), (0.9, Right), (0.7, Right), (0.7, Wrong), (1.0, Ignored), (0.49, Wrong)];
        let points = points_of(Swept::Threshold("0.5".parse().unwrap()), &found, 3);
        let at = |value| {
            let scores = scores_at(&points, value);
            (scores.right, scores.wrong, scores.ignored, scores.missed())
        };
        assert_eq!(at(0.5), (2, 2, 1, 1));
        assert_eq!(at(0.51), (2, 1, 1, 1));
        assert_eq!(at(0.7), (2, 1, 1, 1));
        assert_eq!(at(0.71), (1, 0, 1, 2));
        assert_eq!(at(1.0), (0, 0, 1, 3));
        assert_eq!((points.len(), points[0].0, points[50].0), (51, 0.5, 1.0));
        // 2·2 / (2·2 + 1 + 1) from 0.51 to 0.7.
        assert_eq!(best(&points).unwrap(), (0.7, scores_at(&points, 0.7)));

        let swept = Swept::Distance(4);
        assert_eq!(swept.values(), [4.0, 3.0, 2.0, 1.0, 0.0]);
        let bits = points_of(swept, &[(-0.0, Right), (-3.0, Right), (-4.0, Wrong)], 2);
        assert_eq!([0.0, 2.0, 3.0, 4.0].map(|bits_apart| scores_at(&bits, bits_apart).predicted()), [1, 1, 2, 3]);
        assert_eq!(best(&bits).unwrap().0, 3.0);
        // The smallest distance of equals: no pair is at 3.
        let bits = points_of(swept, &[(-2.0, Right), (-4.0, Wrong)], 2);
        assert_eq!(scores_at(&bits, 3.0), scores_at(&bits, 2.0));
        assert_eq!(best(&bits).unwrap().0, 2.0);
        assert_eq!(best(&[]), None);
        assert_eq!(best(&[(0.5, Scores { labelled: 3, ..Scores::default() })]), None);
        assert_eq!(best(&[(0.5, Scores { labelled: 3, wrong: 2, ..Scores::default() })]), None);
    }

    #[test]
    fn hundredths_of_a_sweep_start_at_the_lowest_or_above() {
        let first = |typed: &str| Swept::Threshold(typed.parse().unwrap()).values()[0];
        assert_eq!(["0.1", "0.07", "0.995", "0.001", "1/3"].map(first), [0.1, 0.07, 1.0, 0.01, 0.34]);
    }

    #[test]
    fn settings_as_loose_as_a_sweep_goes() {
        let loosened = |algorithm: &str, pairs: &[(&str, &str)]| {
            let mut settings = Settings::from_pairs(pairs.iter().copied());
            let entry = Entry::by_name(algorithm).unwrap();
            let swept = Swept::loosen(entry, &mut settings).unwrap();
            let given: Vec<_> = settings.given().map(|(name, value)| format!("{name} {value}")).collect();
            (swept, given.join(", "))
        };
        let tenth = Swept::Threshold("0.1".parse().unwrap());
        assert_eq!(loosened("minhash", &[("shingle", "3")]), (tenth, "exact true, shingle 3, threshold 0.1".into()));
        let half = Swept::Threshold("0.5".parse().unwrap());
        assert_eq!(loosened("minhash", &[("threshold", "0.5")]), (half, "exact true, threshold 0.5".into()));
        assert_eq!(loosened("simhash", &[]), (Swept::Distance(32), "distance 32".into()));
        assert_eq!(loosened("simhash", &[("distance", "9")]), (Swept::Distance(9), "distance 9".into()));
    }
}
