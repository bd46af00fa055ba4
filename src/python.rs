//! The extension module `neardups._native`: what Python calls. The package around it is in `src/python/neardups`.
//!
//! maturin builds it (`pyproject.toml`), with one file for every version of Python from 3.9 on. Names and values of keyword arguments are
//! those of the command line, which resolves them ([`cli::call`]).
//!
//! | file | one idea |
//! |---|---|
//! | `input` | lists, tables and files → documents |
//! | `worker` | work without the lock of the interpreter; progress, Ctrl-C |
//! | `scan`, `passages`, `index` | the functions; an index |
//! | `records` | results → tables, lists |
//! | `steps` | the steps of a scan on a cluster |
//! | `refusal` | errors → exceptions |

mod index;
mod input;
mod passages;
mod records;
mod refusal;
mod scan;
mod steps;
mod worker;

use crate::cli::{self, call};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::{self, Write};

/// The native part of `neardups`.
#[pymodule]
mod _native {
    use super::*;

    /// Messages name options, which they know from now on.
    #[pymodule_init]
    fn init(_: &Bound<'_, PyModule>) -> PyResult<()> {
        cli::learn_options();
        Ok(())
    }

    #[pymodule_export]
    use super::index::Index;
    #[pymodule_export]
    use super::options_table;
    #[pymodule_export]
    use super::passages::{contain, passages};
    #[pymodule_export]
    use super::records::Records;
    #[pymodule_export]
    use super::run_command;
    #[pymodule_export]
    use super::scan::{compare_texts, scan, similarity};
    #[pymodule_export]
    use super::steps::{Step, plan_steps, same_signatures, steps_table};
    #[pymodule_export]
    use super::worker::panic;

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a name of Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// An option: its name, whether it is yes or no, whether it takes a list, whether it takes names of files or columns, and the words that it takes.
type Taken = (String, bool, bool, bool, Vec<String>);

/// The options of each function.
#[pyfunction]
fn options_table() -> Vec<(&'static str, Vec<Taken>)> {
    let taken = |option: call::Taken| {
        let call::Taken { name, is_switch, is_list, is_name, words } = option;
        (name.replace('-', "_"), is_switch, is_list, is_name, words)
    };
    call::options()
        .into_iter()
        .map(|(function, options)| (function, options.into_iter().map(taken).collect()))
        .collect()
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
