//! Minima of ranges of a list.

/// Groups of a level have one value on the next.
const GROUP: usize = 16;

/// The list, and the minima of groups of it, of groups of those, and so on: for lists whose ranges are asked for at random.
///
/// Memory: 32/15 bytes a value. Cost of a range: 30 values for each power of 16 in its length.
#[derive(Default)]
pub(super) struct Minima {
    levels: Vec<Vec<u16>>,
}

impl Minima {
    pub fn new(values: impl Iterator<Item = u16>) -> Self {
        let mut levels: Vec<Vec<u16>> = vec![values.collect()];
        while levels[levels.len() - 1].len() > GROUP {
            let least = |group: &[u16]| group.iter().copied().min().expect("groups are not empty");
            let next = levels[levels.len() - 1].chunks(GROUP).map(least).collect();
            levels.push(next);
        }
        Minima { levels }
    }

    /// The least of the values from `start` up to before `end`, if there are any.
    pub fn least(&self, mut start: usize, mut end: usize) -> Option<u16> {
        let mut least: Option<u16> = None;
        for level in &self.levels {
            let mut take = |values: &[u16]| least = least.into_iter().chain(values.iter().copied()).min();
            let (first, last) = (start.div_ceil(GROUP), end / GROUP);
            if first >= last {
                take(&level[start.min(end)..end]);
                return least;
            }
            take(&level[start..first * GROUP]);
            take(&level[last * GROUP..end]);
            (start, end) = (first, last);
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_those_of_walks(values in prop::collection::vec(0u16..1000, 0..700), ends in any::<[prop::sample::Index; 2]>()) {
            let [a, b] = ends.map(|end| end.index(values.len() + 1));
            let minima = Minima::new(values.iter().copied());
            prop_assert_eq!(minima.least(a.min(b), a.max(b)), values[a.min(b)..a.max(b)].iter().copied().min());
        }
    }
}
