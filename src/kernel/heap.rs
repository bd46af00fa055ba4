//! The allocator of the process.

/// Blocks of at least this many bytes are returned to the system when they are freed, and grow without being copied.
/// Smaller ones, such as the batches of the input, are reused.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 4 << 20;

/// Makes the allocator return memory that is no longer used. That of glibc otherwise keeps freed blocks of up to 32 MiB,
/// and copies blocks of this size while they grow. Does nothing with other allocators. No result depends on it.
pub fn return_what_is_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        // From malloc.h, where they are part of the binary interface.
        const M_TRIM_THRESHOLD: c_int = -1;
        const M_MMAP_THRESHOLD: c_int = -3;
        for parameter in [M_MMAP_THRESHOLD, M_TRIM_THRESHOLD] {
            // SAFETY: the function has this signature in every version of glibc. It takes the lock of the allocator, and
            // changes only how later blocks are allocated. If it fails, nothing changes.
            unsafe { mallopt(parameter, LARGE) };
        }
    }
}
