//! The extension module `neardups._native`: what Python calls. The package around it is in `src/python/neardups`.
//!
//! maturin builds it (`pyproject.toml`), with one file for every version of Python from 3.9 on.

use crate::cli;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::{self, Write};

/// The native part of `neardups`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::run_command;

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a name of Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Runs a command line of `dedup`, which begins with the name of the program, and returns its exit status.
#[pyfunction]
fn run_command(py: Python<'_>, line: Vec<OsString>) -> u8 {
    py.detach(|| {
        let status = cli::run_line(&line);
        // Nothing else does it: the process ends with the interpreter. A closed pipe is the reader's decision.
        _ = io::stdout().flush();
        status
    })
}
