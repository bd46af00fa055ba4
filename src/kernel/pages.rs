//! Large tables that are accessed at random.

/// The size of a large page of x86-64 and, with pages of 4 KiB, of AArch64; a table of fewer bytes than two of them has none for certain.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// An empty vector with room for so many elements, which will all be written and accessed at random. Linux is asked to hold it in
/// large pages: with small ones, most accesses to a table of many megabytes must look up its place in memory too. No result depends on it.
///
/// Only for tables that are wholly in use: a large page takes memory as soon as one byte of it is written.
pub fn with_capacity<T>(capacity: usize) -> Vec<T> {
    let mut elements = Vec::<T>::with_capacity(capacity);
    #[cfg(target_os = "linux")]
    {
        let room = elements.spare_capacity_mut();
        let bytes = size_of_val(room);
        if bytes >= 2 * LARGE {
            let start = room.as_mut_ptr().cast::<u8>();
            let skipped = start.align_offset(LARGE).min(bytes);
            let length = (bytes - skipped) / LARGE * LARGE;
            // SAFETY: the range is within the room of the vector, which nothing else refers to. The advice changes no byte of it, and
            // not whether it can be accessed; a system that cannot follow it refuses.
            _ = unsafe { rustix::mm::madvise(start.add(skipped).cast(), length, rustix::mm::Advice::LinuxHugepage) };
        }
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_that_of_any_vector() {
        for length in [0, 1, 1000, (4 << 20) - 1, 4 << 20, (9 << 20) + 5] {
            let mut elements = with_capacity::<u8>(length);
            assert!(elements.is_empty() && elements.capacity() >= length);
            elements.extend((0..length).map(|at| at as u8));
            assert_eq!(elements, (0..length).map(|at| at as u8).collect::<Vec<_>>(), "{length}");
        }
    }
}
