//! Signals from the system: those that end a run, and on Unix those that ask a stream for something.

use std::sync::mpsc::Sender;
#[cfg(unix)]
use {
    signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ},
    signal_hook::flag,
    signal_hook::iterator::Signals,
    std::ffi::c_int,
    std::sync::{Arc, mpsc},
    std::thread,
};

/// What a stream is asked for while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "only signals of Unix ask"))]
pub enum Ask {
    /// SIGUSR1: to report its state now.
    Report,
    /// SIGHUP: to open the files again that it appends to.
    Reopen,
    /// A signal that ends it: to say so if it takes time.
    Stop,
    /// The stream has ended.
    End,
}

/// Calls a function on each signal that asks the process to end: SIGINT, SIGTERM and SIGHUP, which may be
/// [meant otherwise](on_requests). On Linux, a SIGHUP that is ignored from the start, as by `nohup`, stays ignored.
#[cfg(unix)]
pub fn on_end(hangup_ends: bool, mut ends: impl FnMut() + Send + 'static) {
    let mut signals = vec![SIGINT, SIGTERM];
    if hangup_ends && !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    listen(signals, move |_| ends());
}

/// The same for systems that have Ctrl-C, and close a console.
#[cfg(not(unix))]
pub fn on_end(_: bool, ends: impl FnMut() + Send + 'static) {
    _ = ctrlc::set_handler(ends);
}

/// Sends what signals ask for: SIGUSR1, and SIGHUP if it does not end the process.
#[cfg(unix)]
pub fn on_requests(hangup_ends: bool, requests: Sender<Ask>) {
    let mut signals = vec![SIGUSR1];
    if !hangup_ends {
        signals.push(SIGHUP);
    }
    listen(signals, move |signal| {
        _ = requests.send(if signal == SIGUSR1 { Ask::Report } else { Ask::Reopen });
    });
}

/// Other systems have no such signals.
#[cfg(not(unix))]
pub fn on_requests(_: bool, _: Sender<Ask>) {}

/// Calls a function on each of these signals, on a thread of its own.
#[cfg(unix)]
fn listen(signals: Vec<c_int>, mut call: impl FnMut(c_int) + Send + 'static) {
    let (ready, is_ready) = mpsc::channel();
    // Made on the thread: without it, signals do what they do by default.
    let listen = move || {
        if let Ok(mut signals) = Signals::new(signals) {
            _ = ready.send(());
            signals.forever().for_each(&mut call);
        }
    };
    if thread::Builder::new().name("dedup signals".into()).spawn(listen).is_ok() {
        _ = is_ready.recv();
    }
}

/// Lets a write beyond the limit on the size of files fail, as one to a full disk does: SIGXFSZ would end the process without a message.
#[cfg(unix)]
pub fn let_long_files_fail() {
    // The flag is not read. The write fails once the signal is caught.
    _ = flag::register(SIGXFSZ, Arc::default());
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub fn let_long_files_fail() {}

/// Whether a signal was ignored when the process started, as far as the system says so.
#[cfg(unix)]
fn is_ignored(signal: c_int) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
