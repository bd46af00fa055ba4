//! `.ci/package` and `.ci/release`: archives and the files beside them. The scripts are not part of the package, where
//! these tests test nothing.

use super::{archive, read, targets};
use crate::cli::shell::{Shell, root};
use std::fs;

/// A folder with what the scripts read of a repository, of version 9.9.9. Without the scripts there is none.
fn repository() -> Option<Shell> {
    if !root().join(".ci").exists() {
        eprintln!("skipped: the package has no .ci");
        return None;
    }
    let shell = Shell::new();
    shell.write("Cargo.toml", "version = \"9.9.9\"\nrepository = \"https://example.org/r\"\n");
    shell.write(
        "CHANGELOG.md",
        "# Changes\n\n## [9.9.9] - 2026-11-27\n\n- One.\n\n### Fixed\n\n- Two.\n\n## 9.9.8\n\n- Old.\n",
    );
    let copy = "mkdir .github dist; cp -r ROOT/.ci . && cp -r ROOT/.github/install.sh ROOT/.github/homebrew .github";
    shell.sh(&copy.replace("ROOT", &format!("'{}'", root().display()))).done();
    Some(shell)
}

#[test]
fn a_tag_must_be_the_version_and_have_a_section() {
    let Some(shell) = repository() else { return };
    assert_eq!(shell.sh(".ci/release check v9.9.9 https://example.org/r").status, 0);
    for (line, message) in [
        (".ci/release check v9.9.8 https://example.org/r", "the tag is v9.9.8, and Cargo.toml has version 9.9.9"),
        (".ci/release check 9.9.9 https://example.org/r", "the tag is 9.9.9, and Cargo.toml has version 9.9.9"),
        (
            ".ci/release check v9.9.9 https://example.org/fork",
            "Cargo.toml has the repository https://example.org/r, and",
        ),
        (".ci/release publish", "unknown part 'publish'"),
        (
            "echo 'of OWNER/REPO' > README.md; .ci/release check v9.9.9 https://example.org/r; rc=$?; rm README.md; exit $rc",
            "OWNER/REPO stands for the address of the repository in README.md",
        ),
        (
            "sed -i.old 's/^- [OT].*//; s/^### .*//' CHANGELOG.md; .ci/release check v9.9.9 https://example.org/r",
            "or an empty one",
        ),
        (
            "sed -i.old 's/2026-11-27/unreleased/' CHANGELOG.md; .ci/release check v9.9.9 https://example.org/r",
            "CHANGELOG.md says that 9.9.9 is unreleased",
        ),
        ("rm CHANGELOG.md; .ci/release check v9.9.9 https://example.org/r", "there is no CHANGELOG.md"),
    ] {
        let run = shell.sh(line);
        assert_eq!(run.status, 1, "{line}");
        assert!(run.stderr.contains(message), "{line}: {}", run.stderr);
    }
}

#[test]
fn the_notes_are_the_section_of_the_version() {
    let Some(shell) = repository() else { return };
    assert_eq!(shell.sh(".ci/release notes").done(), "- One.\n\n### Fixed\n\n- Two.\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_release_has_checksums_a_formula_and_an_installer() {
    let Some(shell) = repository() else { return };
    for target in targets() {
        let name = archive("9.9.9", &target);
        shell.write(&format!("dist/{name}"), &target);
        shell.sh(&format!("cd dist; sha256sum {name} > {name}.sha256")).done();
    }
    shell.write("dist/neardups-9.9.9-cp39-abi3-any.whl", "wheel");
    shell.sh(".ci/release files dist https://example.org/r").done();
    // Every file of the release but the checksums themselves.
    let sums = shell.sh("cd dist && sha256sum -c SHA256SUMS").done();
    assert_eq!(sums.lines().count(), targets().len() + 3, "{sums}");

    let formula = fs::read_to_string(shell.folder().join("dist/dedup.rb")).unwrap();
    assert!(!formula.contains('@'), "{formula}");
    for target in targets().iter().filter(|target| !target.contains("windows")) {
        let sum = shell.sh(&format!("cut -d ' ' -f 1 dist/dedup-9.9.9-{target}.tar.gz.sha256")).done();
        let url = format!("url \"https://example.org/r/releases/download/v9.9.9/{}\"", archive("9.9.9", target));
        assert!(formula.contains(&format!("{url}\n      sha256 \"{}\"", sum.trim())), "{target}: {formula}");
    }

    let installer = fs::read_to_string(shell.folder().join("dist/install.sh")).unwrap();
    assert!(installer.contains("\nrepository=https://example.org/r\nversion=9.9.9\n"));
    let changed = read(".github/install.sh").lines().zip(installer.lines()).filter(|(a, b)| a != b).count();
    assert_eq!(changed, 2);
    let missing = "rm dist/*darwin*; .ci/release files dist https://example.org/r";
    assert!(shell.sh(missing).stderr.contains("there is no dedup-9.9.9-aarch64-apple-darwin.tar.gz.sha256 in dist"));
}

/// Packs the program under test; the archive is tried by `.ci/try` where it is built for a release.
#[cfg(target_os = "linux")]
#[test]
fn a_program_is_checked_and_packed() {
    let Some(shell) = repository() else { return };
    if shell.sh("python3 --version && readelf --version").status != 0 {
        eprintln!("skipped: no python3 or no readelf here");
        return;
    }
    let package = |options: &str| {
        let settings = "SOURCE_DATE_EPOCH=1700000000 GZIP_LEVEL=0";
        let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        shell.sh(&format!("{settings} .ci/package --target {target} --program \"$(command -v dedup)\" {options}"))
    };
    let version = package("--glibc 99.0").stderr;
    assert!(version.contains(" and Cargo.toml has version 9.9.9"), "{version}");
    fs::copy(root().join("Cargo.toml"), shell.folder().join("Cargo.toml")).unwrap();
    shell.sh("for file in README.md LICENSE-MIT LICENSE-APACHE; do echo $file > $file; done").done();
    shell.sh(&format!("mkdir examples; cp -r '{}/examples/crawl' examples", root().display())).done();
    let old = package("--glibc 2.1").stderr;
    assert!(old.contains("newer than 2.1: build it with cargo-zigbuild, or state --glibc 2."), "{old}");

    let other = package("--target x86_64-pc-windows-msvc").stderr;
    assert!(other.contains(" is not for x86_64-pc-windows-msvc, but "), "{other}");

    package("--glibc 99.0 --out one").done();
    let name = format!("dedup-{}-{}-unknown-linux-gnu", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    shell.sh(&format!("cd one && sha256sum -c {name}.tar.gz.sha256")).done();
    let list = shell.sh(&format!("tar -tvzf one/{name}.tar.gz")).done();
    assert!(list.lines().all(|line| line.contains(" root/root ") && line.contains("2023-11-14")), "{list}");
    let has = |file: &str, mode: &str| {
        list.lines().any(|line| line.starts_with(mode) && line.ends_with(&format!("{name}/{file}")))
    };
    for file in [
        "README.md",
        "CHANGELOG.md",
        "LICENSE-MIT",
        "man/dedup-scan.1",
        "completions/_dedup",
        "examples/crawl/README.md",
    ] {
        assert!(has(file, "-rw-r--r--"), "{file}: {list}");
    }
    for program in ["dedup", "examples/crawl/serve.py", "examples/crawl/cron.sh"] {
        assert!(has(program, "-rwxr-xr-x"), "{program}: {list}");
    }
}
