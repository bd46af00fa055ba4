//! Prefetching of memory.

/// Prefetches an element that will be read soon. Does nothing for an index out of range, and on processors other than
/// x86-64. No result depends on it.
#[inline(always)]
pub fn fetch<T>(elements: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = elements.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of the architecture has the instruction; it changes no memory and no register, and
        // accepts any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_changes_and_no_element_is_out_of_place() {
        let elements = [1u64, 2, 3];
        [0, 2, 3, usize::MAX].into_iter().for_each(|at| fetch(&elements, at));
        fetch::<u64>(&[], 0);
        assert_eq!(elements, [1, 2, 3]);
    }
}
