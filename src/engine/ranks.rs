//! The ranks of documents: a flat array for each value of a [`Rank`], so that they take little memory until reading is done.
//!
//! A number takes 8 bytes a document, or 16 if some in the array are not exact in 64 bits: integers above 2⁵³, times with fractions of
//! seconds. Whether a value matches takes a byte. Nothing is kept of documents without ranks, nor of values that none has.

use crate::readable::shortened_id;
use crate::source::{FieldPath, Rank, RankBy, RankValue, RankedNumber, among};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

/// The number of values that a warning names where none matches.
const NAMED_VALUES: usize = 5;

/// The ranks of documents, by their numbers.
#[derive(Default)]
pub(super) struct Ranks {
    /// Those beyond the end are 0.
    classes: Vec<u32>,
    columns: Vec<Column>,
}

/// One value of each rank. Beyond the end of an array, and where it has 0, there is none.
#[derive(Default)]
struct Column {
    /// The parts of each number, the second ones only if some differ from the common one.
    bits: Vec<u64>,
    rests: Vec<u64>,
    common: Option<u64>,
    /// Whether times decide, and not numbers, if there are both.
    #[cfg(all(feature = "files", feature = "report"))]
    is_by_time: Option<bool>,
    /// The key of each value that matches, or does not.
    matches: Vec<u8>,
    seen: Seen,
}

/// What is known of values that match or do not, those of references excepted.
#[derive(Clone, Default)]
struct Seen {
    /// Whether some match.
    is_matched: bool,
    /// Of the others, the first ones in the order of texts, and one more than are named.
    others: BTreeSet<Box<str>>,
}

impl Ranks {
    /// Adds the rank of a document, which comes after all that have one.
    pub fn push(&mut self, document: usize, rank: Rank) {
        if rank.class() != 0 {
            set(&mut self.classes, document, rank.class());
        }
        let values = rank.values();
        if self.columns.len() < values.len() {
            self.columns.resize_with(values.len(), Column::default);
        }
        for (column, value) in self.columns.iter_mut().zip(values) {
            match value {
                RankValue::Unset => {}
                RankValue::Number(number) => column.push(document, *number),
                RankValue::Match | RankValue::Other(_) => set(&mut column.matches, document, value.key() as u8),
            }
            match value {
                RankValue::Match => column.seen.is_matched = true,
                RankValue::Other(Some(other)) => column.seen.add(other),
                _ => {}
            }
        }
    }

    /// Adds the ranks of documents that are numbered from `first` here, after all that have one.
    pub fn append(&mut self, first: usize, next: &Ranks, is_reference: bool) {
        let classes = next.classes.iter().enumerate().filter(|(_, class)| **class != 0);
        classes.for_each(|(document, class)| set(&mut self.classes, first + document, *class));
        if self.columns.len() < next.columns.len() {
            self.columns.resize_with(next.columns.len(), Column::default);
        }
        for (column, next) in self.columns.iter_mut().zip(&next.columns) {
            for document in 0..next.bits.len() {
                next.number(document).into_iter().for_each(|number| column.push(first + document, number));
            }
            let matches = next.matches.iter().enumerate().filter(|(_, key)| **key != 0);
            matches.for_each(|(document, key)| set(&mut column.matches, first + document, *key));
            if !is_reference {
                column.seen.is_matched |= next.seen.is_matched;
                next.seen.others.iter().for_each(|other| column.seen.add(other));
            }
        }
    }

    /// Whether no document has a rank.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty() && self.columns.iter().all(|column| column.bits.is_empty() && column.matches.is_empty())
    }

    /// The number of values.
    #[cfg(feature = "files")]
    pub fn values(&self) -> usize {
        self.columns.len()
    }

    /// A value of a document that is a number, or the absence of one.
    #[cfg(feature = "files")]
    pub fn number(&self, value: usize, document: usize) -> Option<RankedNumber> {
        self.columns[value].number(document)
    }

    /// Takes its number from a document, which comes last then.
    #[cfg(feature = "files")]
    pub fn make_last(&mut self, value: usize, document: usize) {
        let (bits, rest) = RankedNumber::LAST.parts();
        let column = &mut self.columns[value];
        column.bits[document] = bits;
        column.rests.get_mut(document).into_iter().for_each(|own| *own = rest);
    }

    /// Of a value that is a time in some documents and a number in others, times decide, or numbers do.
    #[cfg(all(feature = "files", feature = "report"))]
    pub fn decide_by(&mut self, value: usize, is_time: bool) {
        self.columns[value].is_by_time = Some(is_time);
    }

    fn compare(&self, one: usize, other: usize) -> Ordering {
        let class = |document: usize| self.classes.get(document).copied().unwrap_or(0);
        let by_values = || self.columns.iter().map(|column| column.key(one).cmp(&column.key(other)));
        class(one).cmp(&class(other)).then_with(|| by_values().find(|order| order.is_ne()).unwrap_or(Ordering::Equal))
    }

    /// The position of the ranks of `count` documents among all different ones; none if all are equal.
    pub fn positions(&self, count: usize) -> Vec<u32> {
        if self.is_empty() {
            return Vec::new();
        }
        let compare = |one: &u32, other: &u32| self.compare(*one as usize, *other as usize);
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.par_sort_unstable_by(compare);
        let (mut positions, mut position) = (vec![0; count], 0);
        for (at, document) in order.iter().enumerate() {
            position += u32::from(at > 0 && compare(&order[at - 1], document).is_ne());
            positions[*document as usize] = position;
        }
        if position == 0 { Vec::new() } else { positions }
    }

    /// What documents lack of the values that rank them.
    pub fn lacks(&self, documents: Range<usize>) -> Vec<Lack> {
        let lack = |column: &Column| {
            let is_last = |document: &usize| column.number(*document).is_some_and(RankedNumber::is_last);
            let no_number = documents.clone().filter(is_last).count() as u64;
            let unmatched = match column.matches.is_empty() || column.seen.is_matched || documents.is_empty() {
                true => None,
                false => Some(column.seen.others.iter().map(|other| other.to_string()).collect()),
            };
            Lack {
                no_number,
                unmatched,
                #[cfg(all(feature = "files", feature = "report"))]
                is_by_time: column.is_by_time,
            }
        };
        self.columns.iter().map(lack).collect()
    }

    /// The memory, in bytes.
    pub fn bytes_held(&self) -> usize {
        let columns =
            self.columns.iter().map(|column| 8 * (column.bits.len() + column.rests.len()) + column.matches.len());
        4 * self.classes.len() + columns.sum::<usize>()
    }
}

/// Sets the element at a position after the last one.
fn set<T: Clone + Default>(array: &mut Vec<T>, at: usize, value: T) {
    array.resize(at, T::default());
    array.push(value);
}

impl Column {
    fn push(&mut self, document: usize, number: RankedNumber) {
        let (bits, rest) = number.parts();
        // What is missing has the same bits with any rest.
        let common = if number.is_last() { self.common.unwrap_or(rest) } else { *self.common.get_or_insert(rest) };
        if rest != common && !number.is_last() && self.rests.is_empty() {
            self.rests.resize(self.bits.len(), common);
        }
        set(&mut self.bits, document, bits);
        if !self.rests.is_empty() {
            set(&mut self.rests, document, rest);
        }
    }

    /// The number of a document, or its absence.
    fn number(&self, document: usize) -> Option<RankedNumber> {
        let bits = *self.bits.get(document).filter(|bits| **bits != 0)?;
        if bits == RankedNumber::LAST.parts().0 {
            return Some(RankedNumber::LAST);
        }
        let rest = self.rests.get(document).copied().or(self.common).unwrap_or(0);
        Some(RankedNumber::of_parts((bits, rest)))
    }

    /// What is compared.
    fn key(&self, document: usize) -> u128 {
        let number = self.number(document).map(RankedNumber::key);
        number.unwrap_or_else(|| self.matches.get(document).copied().unwrap_or(0).into())
    }
}

impl Seen {
    fn add(&mut self, other: &str) {
        let is_first = self.others.len() <= NAMED_VALUES || self.others.last().is_some_and(|last| other < &**last);
        if is_first && self.others.insert(other.into()) && self.others.len() > NAMED_VALUES + 1 {
            self.others.pop_last();
        }
    }
}

/// What brackets in the path of a field that ranks records are not, as the end of a sentence.
fn of_brackets(field: &FieldPath) -> &'static str {
    match field.typed().contains('[') {
        true => ": the brackets are part of the name here, so name a field with a single value",
        false => "",
    }
}

/// What some documents lack of one of the values that rank them.
pub(super) struct Lack {
    /// The number of documents without a number.
    pub no_number: u64,
    /// Some of the values that there are, if none matches.
    unmatched: Option<Vec<String>>,
    /// Whether times decide, and not numbers, if there are both.
    #[cfg(all(feature = "files", feature = "report"))]
    is_by_time: Option<bool>,
}

impl Lack {
    /// Whether this number is of the kind that decides.
    #[cfg(all(feature = "files", feature = "report"))]
    pub fn has_effect(&self, number: RankedNumber) -> bool {
        self.is_by_time.is_none_or(|is_by_time| number.is_time() == is_by_time)
    }

    /// What all of so many documents lack, if that must be a mistake.
    pub fn of_all(&self, rule: &RankBy, documents: u64) -> Option<String> {
        match rule {
            RankBy::Greatest(field) | RankBy::Least(field) if self.no_number == documents && documents > 0 => {
                Some(format!("no document has a number or a time in the field '{field}'{}", of_brackets(field)))
            }
            RankBy::Is(field, _) if self.unmatched.as_ref().is_some_and(Vec::is_empty) => {
                Some(format!("no document has a value in the field '{field}'{}", of_brackets(field)))
            }
            _ => None,
        }
    }

    /// The warning about it. The rule is known if it is one of a ranking.
    pub fn warning(&self, at: usize, rule: Option<&RankBy>) -> Option<String> {
        if let (Some(RankBy::Is(field, wanted)), Some(others)) = (rule, &self.unmatched) {
            // A source that ranks documents itself does not name the values.
            let named: Vec<&str> = others.iter().map(String::as_str).filter(|other| !other.is_empty()).collect();
            let values = match &named[..] {
                [] => String::new(),
                [first @ .., _] if first.len() == NAMED_VALUES => format!(" (values there: {}, …)", first.join(", ")),
                all => format!(" (values there: {})", all.join(", ")),
            };
            let wanted = shortened_id(wanted);
            return Some(format!(
                "no document has the value '{wanted}' in the field '{field}' that `keep` goes by{values}"
            ));
        }
        let field = rule.and_then(RankBy::field);
        let value = field.map_or("value".to_string(), |field| format!("number or time in the field '{field}'"));
        let among = among(at);
        match self.no_number {
            0 => None,
            1 => Some(format!("1 document has no {value} that `keep` goes by: it comes last{among}")),
            count => Some(format!("{count} documents have no {value} that `keep` goes by: they come last{among}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Number;

    /// Any rank with these kinds of values: numbers, large integers, or whether something is as wanted.
    fn any_rank(kinds: &[u64], random: &mut impl FnMut(u64) -> u64) -> Rank {
        let rank = Rank::of_class(if random(4) == 0 { random(3) as u32 } else { 0 });
        kinds.iter().fold(rank, |rank, kind| match (kind, random(4)) {
            (0, 0) => rank.with_least(None),
            (0, 1) => rank.with_least(Some(Number::Float(random(9) as f64 / 4.0 - 1.0))),
            (0, _) => rank.with_least(Some(Number::Integer(i128::from(random(5)) - 2))),
            (1, 0) => rank.with_greatest(None),
            (1, more) => rank.with_greatest(Some(Number::Integer((1 << 60) + i128::from(more)))),
            (_, more) => rank.with_match(more > 1),
        })
    }

    #[test]
    fn positions_are_those_of_sorted_ranks() {
        let mut seed = 1u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for round in 0..200u64 {
            let kinds: Vec<u64> = (0..round % 4).map(|_| random(3)).collect();
            let (mut all, mut ranks) = (Vec::new(), Ranks::default());
            for part in 0..1 + round % 3 {
                let mut own = Ranks::default();
                let first = all.len();
                for document in 0..random(20) as usize {
                    let rank = if random(3) == 0 { Rank::default() } else { any_rank(&kinds, &mut random) };
                    all.push(rank.clone());
                    own.push(document, rank);
                }
                ranks.append(first, &own, part == 0);
            }
            let mut different = all.clone();
            different.sort();
            different.dedup();
            let position = |rank: &Rank| different.partition_point(|other| other < rank) as u32;
            let expected = if different.len() < 2 { Vec::new() } else { all.iter().map(position).collect() };
            assert_eq!(ranks.positions(all.len()), expected, "{all:?}");
        }
    }

    #[test]
    fn ranks_take_few_bytes() {
        let bytes = |rank: &dyn Fn(u64) -> Rank| {
            let mut ranks = Ranks::default();
            (0..1000).for_each(|document| ranks.push(document as usize, rank(document)));
            ranks.bytes_held()
        };
        let number = |number: u64| Some(Number::Integer(number.into()));
        assert_eq!(bytes(&|_| Rank::default()), 0);
        assert_eq!(bytes(&|n| Rank::default().with_match(n % 2 == 0)), 1000);
        assert_eq!(bytes(&|n| Rank::default().with_greatest(number(n).filter(|_| n % 3 > 0))), 8000);
        let seconds = |n: u64| Some(Number::Time(i128::from(1_700_000_000 + n) * 1_000_000_000));
        assert_eq!(bytes(&|n| Rank::default().with_least(seconds(n)).with_match(true).with_least(number(n))), 17_000);
        assert_eq!(bytes(&|n| Rank::default().with_least(number((1 << 60) + n))), 16_000);
    }

    #[test]
    fn what_is_named_of_other_values_are_the_first_ones() {
        let mut seen = Seen::default();
        "z y x b a c d z a w".split(' ').for_each(|value| seen.add(value));
        assert_eq!(seen.others.iter().map(|value| &**value).collect::<Vec<_>>(), ["a", "b", "c", "d", "w", "x"]);
    }
}
