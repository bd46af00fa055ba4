//! The package that is published has all that its tests need.

use super::cli::shell::root;
use std::collections::BTreeSet;
use std::process::Command;

/// What is not part of the package, and no test needs.
const LEFT_OUT: [&str; 3] = [".ci/", ".github/workflows/", "tests/fuzz/libfuzzer/"];

fn lines(command: &mut Command) -> BTreeSet<String> {
    let output = command.current_dir(root()).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect()
}

/// Cargo leaves out what `exclude` names, and every folder with a Cargo.toml of its own.
#[test]
fn every_file_of_the_repository_is_in_the_package() {
    // In the package itself there is nothing to compare it with.
    if !root().join(".git").exists() {
        return;
    }
    let package = ["package", "--list", "--allow-dirty", "--locked", "--offline"];
    let packaged = lines(Command::new(env!("CARGO")).args(package));
    let tracked = lines(Command::new("git").args(["-c", "core.quotepath=off", "ls-files"]));
    let is_left_out = |file: &str| LEFT_OUT.iter().any(|folder| file.starts_with(folder));
    let missing: Vec<_> = tracked.difference(&packaged).filter(|file| !is_left_out(file)).collect();
    assert!(missing.is_empty(), "cargo package leaves out {missing:?}");
    assert!(packaged.iter().all(|file| !is_left_out(file)), "what exclude names");
}
