//! The program `dedup`: parse, run one command, exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    neardups::cli::run()
}
