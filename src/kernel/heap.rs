//! The allocator of the process.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the allocator is ours to tune, as in the program, and not that of a process that calls the library.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// Blocks of at least this many bytes are returned to the system when they are freed, and grow without being copied.
/// Smaller ones, such as the batches of the input, are reused.
#[cfg(all(feature = "cli", target_os = "linux", target_env = "gnu"))]
const LARGE: i32 = 4 << 20;

/// The maximum number of arenas. Each keeps up to [`LARGE`] bytes that are free, and has gaps of its own.
#[cfg(all(feature = "cli", target_os = "linux", target_env = "gnu"))]
const MOST_ARENAS: usize = 8;

/// Makes the allocator return memory that is no longer used. That of glibc otherwise keeps freed blocks of up to 32 MiB,
/// copies blocks of this size while they grow, and has up to eight arenas a core, of which threads share one only once there are more
/// threads. Does nothing with other allocators. No result depends on it.
#[cfg(feature = "cli")]
pub fn return_what_is_freed() {
    IS_OURS.store(true, Ordering::Relaxed);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        // From malloc.h, where they are part of the binary interface.
        const M_TRIM_THRESHOLD: c_int = -1;
        const M_MMAP_THRESHOLD: c_int = -3;
        const M_ARENA_MAX: c_int = -8;
        let arenas = std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, MOST_ARENAS));
        for (parameter, value) in [(M_MMAP_THRESHOLD, LARGE), (M_TRIM_THRESHOLD, LARGE), (M_ARENA_MAX, arenas as c_int)]
        {
            // SAFETY: the function has this signature in every version of glibc. It takes the lock of the allocator, and
            // changes only how later blocks are allocated. If it fails, nothing changes.
            unsafe { mallopt(parameter, value) };
        }
    }
}

/// Returns freed memory to the system that the allocator keeps for later, in the program. Does nothing with other allocators. No
/// result depends on it. Cost: some milliseconds.
pub fn return_what_is_kept() {
    if !IS_OURS.load(Ordering::Relaxed) {
        return;
    }
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn malloc_trim(padding: usize) -> c_int;
        }
        // SAFETY: the function has this signature in every version of glibc. It takes the locks of the allocator, and changes
        // nothing in memory that is allocated.
        unsafe { malloc_trim(0) };
    }
}
