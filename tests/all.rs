//! All integration tests, in one program. The head of each module states its purpose.

mod architecture;
mod check;
mod cli;
mod fuzz;
mod oracle;
#[cfg(unix)]
mod package;
mod planted;
mod prose;
mod readme;
#[cfg(unix)]
mod release;
mod support;
