//! Standard streams that were closed when the process started.
//!
//! Before `main`, the standard library opens `/dev/null` in their place, so that no file that is opened later becomes one of
//! them. From then on, they look like streams that were redirected there. The loader therefore calls a function here first.

use std::sync::atomic::{AtomicBool, Ordering};

static OUTPUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the process started; where that is not known, false.
pub fn output_was_closed() -> bool {
    OUTPUT_WAS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(unix)]
extern "C" fn look() {
    use std::os::fd::BorrowedFd;
    // SAFETY: the number is not that of no file (−1). If no file is open under it, the call fails, which is what it is for; it
    // changes nothing. No thread but this one runs yet that could close or open it.
    let output = unsafe { BorrowedFd::borrow_raw(1) };
    let is_closed = rustix::io::fcntl_getfd(output) == Err(rustix::io::Errno::BADF);
    OUTPUT_WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

// The loader calls the functions of this section, before the standard library has started: this one needs nothing of it.
#[cfg(unix)]
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;
