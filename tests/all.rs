//! All integration tests, in one program. What a module is for stands at its head.

mod architecture;
mod check;
mod cli;
mod fuzz;
mod oracle;
#[cfg(unix)]
mod package;
mod prose;
mod readme;
mod support;
