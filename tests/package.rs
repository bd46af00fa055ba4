//! The published package contains everything that its tests need.

use super::cli::shell::root;
use std::collections::BTreeSet;
use std::process::Command;

/// What is not part of the package, and no test needs.
const LEFT_OUT: [&str; 6] = [
    ".cargo/",
    ".ci/",
    ".github/ISSUE_TEMPLATE/",
    ".github/PULL_REQUEST_TEMPLATE.md",
    ".github/workflows/",
    "tests/fuzz/libfuzzer/",
];

fn lines(command: &mut Command) -> BTreeSet<String> {
    let output = command.current_dir(root()).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect()
}

/// Without features the library stays light: few crates, all of them in Rust. Anything heavier belongs behind a
/// feature.
#[cfg(target_os = "linux")]
#[test]
fn the_bare_library_is_fewer_than_35_crates_without_c() {
    let crates = |edges| {
        let tree = ["tree", "--edges", edges, "--no-default-features", "--prefix", "none", "--locked", "--offline"];
        // A crate that was shown before comes again with `(*)`.
        lines(Command::new(env!("CARGO")).args(tree))
            .into_iter()
            .filter(|line| !line.ends_with("(*)"))
            .collect::<Vec<_>>()
    };
    let linked = crates("normal");
    assert!(linked.len() < 35, "{} crates: {linked:#?}", linked.len());
    let compiled_c = |line: &&String| ["cc ", "cmake ", "pkg-config "].iter().any(|builder| line.starts_with(builder));
    let with_builds = crates("normal,build");
    assert_eq!(with_builds.iter().find(compiled_c), None, "a crate of {with_builds:#?} compiles C");
}

/// Cargo leaves out the paths of `exclude`, and every folder with its own Cargo.toml.
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
