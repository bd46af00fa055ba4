//! Sorting postings by their tags.

use super::run::Posting;

/// The bits of a digit, and the number of digits of a tag.
const BITS: u32 = 11;
const DIGITS: u32 = 3;

/// Sorts postings. In the order of their documents, as they mostly come, it takes three passes (a radix sort from the least
/// significant digit of the tag, which is stable: Knuth, *The Art of Computer Programming* 3, 5.2.5).
///
/// Memory: as much again, while it runs.
pub(crate) fn sorted(mut postings: Vec<Posting>) -> Vec<Posting> {
    if !postings.is_sorted_by_key(|&posting| posting as u32) {
        postings.sort_unstable();
        return postings;
    }
    let mut spare = vec![0; postings.len()];
    for digit in 0..DIGITS {
        let value = |posting: Posting| (posting >> (u32::BITS + digit * BITS)) as usize & ((1 << BITS) - 1);
        let mut starts = [0usize; 1 << BITS];
        postings.iter().for_each(|&posting| starts[value(posting)] += 1);
        let mut start = 0;
        for count in &mut starts {
            start += std::mem::replace(count, start);
        }
        for &posting in &postings {
            let at = &mut starts[value(posting)];
            spare[*at] = posting;
            *at += 1;
        }
        std::mem::swap(&mut postings, &mut spare);
    }
    postings
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_sorts(tags in prop::collection::vec(any::<u32>(), 0..300), few in 1u32.., is_ordered: bool) {
            let document = |at: usize| if is_ordered { at as u64 / 3 } else { (at as u64 * 77) % 11 };
            let posting = |(at, tag): (usize, u32)| u64::from(tag % few) << 32 | document(at);
            let postings: Vec<Posting> = tags.into_iter().enumerate().map(posting).collect();
            let mut expected = postings.clone();
            expected.sort();
            prop_assert_eq!(sorted(postings), expected);
        }
    }
}
