//! `.github/install.sh` against a local folder with a tiny archive, in which a script is the program; and the step of the
//! action that calls it.

use super::{archive, read, script, targets, yaml};
use crate::cli::shell::{Run, Shell, root};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The version of the archives of these tests.
const VERSION: &str = "9.9.9";
/// Where there is no archive.
const NO_ARCHIVE: i32 = 3;

/// A home, a folder for temporary files, a machine that is always the same, and a folder with an archive for it.
struct Machine(Shell);

impl Machine {
    fn new() -> Self {
        let machine = Machine(Shell::new());
        machine.0.sh("mkdir home tmp fake archives work").done();
        machine.fake("uname", "case $1 in -s) echo Linux ;; *) echo x86_64 ;; esac");
        machine.fake("ldd", "echo 'ldd (GNU libc) 2.17'");
        machine.pack("#!/bin/sh\necho dedup 9.9.9");
        machine
    }

    /// Puts a program first in PATH.
    fn fake(&self, name: &str, lines: &str) {
        let path = self.0.folder().join("fake").join(name);
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Makes the archive, with this program.
    fn pack(&self, program: &str) {
        let name = archive(VERSION, "x86_64-unknown-linux-gnu");
        let folder = name.trim_end_matches(".tar.gz");
        fs::create_dir_all(self.0.folder().join("work").join(folder)).unwrap();
        self.0.write(&format!("work/{folder}/dedup"), program);
        self.0.sh(&format!("chmod +x work/{folder}/dedup; tar -C work -czf archives/{name} {folder}")).done();
        self.sum();
    }

    /// Writes the checksum of the archive as it is.
    fn sum(&self) {
        let sum = if cfg!(target_os = "macos") { "shasum -a 256" } else { "sha256sum" };
        self.0.sh(&format!("cd archives; for file in *.gz; do {sum} $file > $file.sha256; done")).done();
    }

    /// Runs a line of shell in which `install` is the installer, for the archives.
    fn sh(&self, line: &str) -> Run {
        let script = root().join(".github/install.sh");
        let install = format!("install() {{ sh '{}' --version {VERSION} \"$@\"; }}", script.display());
        let settings = "export PATH=\"$PWD/fake:$PATH\" HOME=\"$PWD/home\" TMPDIR=\"$PWD/tmp\"";
        let archive = archive(VERSION, "x86_64-unknown-linux-gnu");
        self.0.sh(&format!("{settings}\narchive=archives/{archive}\n{install}\n{line}"))
    }

    /// All files in the home and in the folder for temporary files.
    fn files(&self) -> String {
        self.0.sh("find home tmp -type f | sort").done()
    }
}

#[test]
fn installs_the_program_alone() {
    let machine = Machine::new();
    let run = machine.sh("install --from archives");
    assert_eq!((run.status, &*run.stderr), (0, ""));
    let bin = fs::canonicalize(machine.0.folder()).unwrap().join("home/.local/bin");
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], format!("dedup 9.9.9 is installed: {}", bin.join("dedup").display()));
    assert_eq!(lines[1], format!("{} is not in PATH. Add this line to the profile of your shell:", bin.display()));
    assert_eq!(lines[2], format!("  export PATH=\"{}:$PATH\"", bin.display()));
    assert_eq!(machine.files(), "home/.local/bin/dedup\n");
    assert_eq!(machine.sh("home/.local/bin/dedup").done(), "dedup 9.9.9\n");
    // Where the folder is in PATH, but another program comes first, and where all is well.
    let run = machine.sh("PATH=\"$PATH:$HOME/.local/bin\" install --from archives").done();
    assert!(run.lines().last().unwrap().starts_with("The command dedup is another program, which is found first: /"));
    assert_eq!(machine.sh("PATH=\"$HOME/.local/bin:$PATH\" install --from archives").done().lines().count(), 1);
}

#[test]
fn installs_from_and_into_any_folder() {
    let machine = Machine::new();
    for (line, file) in [
        ("install --from file://$PWD/archives --to 'a b/c'", "a b/c/dedup"),
        ("DEDUP_INSTALL_DIR=$PWD/set install --from archives", "set/dedup"),
        ("DEDUP_INSTALL_DIR=$PWD/set install --from archives --to given --version v9.9.9", "given/dedup"),
        ("echo old > given/dedup; unset HOME; install --from archives --to given", "given/dedup"),
    ] {
        assert_eq!(machine.sh(line).status, 0, "{line}");
        assert_eq!(machine.sh(&format!("'{file}'")).done(), "dedup 9.9.9\n", "{line}");
        assert_eq!(machine.files(), "", "{line}");
    }
}

#[test]
fn the_only_archive_of_a_folder_need_not_be_named() {
    let machine = Machine::new();
    let script = root().join(".github/install.sh");
    let install = |from: &str| machine.sh(&format!("sh '{}' --from {from} --to given", script.display()));
    for from in ["archives", "file://$PWD/archives"] {
        assert!(install(from).done().starts_with("dedup 9.9.9 is installed: "));
    }
    let failures = [
        (
            "archives/none",
            NO_ARCHIVE,
            "there is no archive for x86_64-unknown-linux-gnu in archives/none: is it the folder",
        ),
        ("archives", 1, "which version? archives has several: give --version VERSION"),
        ("https://a.invalid", 1, "which version? Give --version VERSION, or take"),
    ];
    machine.sh("cp $archive archives/dedup-9.9.8-x86_64-unknown-linux-gnu.tar.gz").done();
    for (from, status, message) in failures {
        let run = install(from);
        assert_eq!(run.status, status, "{from}: {}", run.stderr);
        assert!(run.stderr.starts_with(&format!("install.sh: error: {message}")), "{}", run.stderr);
    }
}

/// A line of shell that fails, its status, and a part of the message.
const FAILURES: [(&str, i32, &str); 23] = [
    ("echo x >> $archive; install --from archives", 1, "is damaged or was replaced: its SHA-256 is "),
    ("echo not a sum > $archive.sha256; install --from archives", 1, "sha256 of archives has no SHA-256"),
    (": > $archive.sha256; install --from archives", 1, "sha256 of archives has no SHA-256"),
    ("rm archives/*.sha256; install --from archives", 1, "linux-gnu.tar.gz.sha256 in archives"),
    (
        "rm archives/*; install --from archives",
        NO_ARCHIVE,
        "there is no dedup-9.9.9-x86_64-unknown-linux-gnu.tar.gz in archives",
    ),
    ("install --from archives --version 9.9.8", NO_ARCHIVE, "there is no dedup-9.9.8-"),
    ("install --from nowhere", NO_ARCHIVE, "in nowhere: is it the folder of the archives"),
    ("echo 'echo SunOS' > fake/uname; install --from archives", NO_ARCHIVE, "there is no archive for SunOS on SunOS"),
    (
        "echo 'case $1 in -s) echo Linux;; *) echo riscv64;; esac' > fake/uname; install --from archives",
        NO_ARCHIVE,
        "Linux on riscv64",
    ),
    ("echo 'echo musl libc >&2; exit 1' > fake/ldd; install --from archives", NO_ARCHIVE, "this system has musl"),
    ("install --from http://example.org/archives", 1, "'http://example.org/archives' is not https"),
    ("install", 1, "does not know the address of the project: give --from BASE"),
    ("install --from", 1, "--from needs a value: see --help"),
    ("install --into x", 1, "unknown argument '--into': see --help"),
    ("install --from archives --version ../9", 1, "'../9' is not a version"),
    ("unset HOME; install --from archives", 1, "HOME is not set: say with --to DIR where to install"),
    ("mkdir -p to/dedup; install --from archives --to to", 1, "to/dedup is a folder: remove it"),
    ("touch file; install --from archives --to file/x", 1, "file/x cannot be made: give another --to DIR"),
    ("TMPDIR=$PWD/nowhere install --from archives", 1, "no temporary folder can be made: set TMPDIR"),
    ("echo text > $archive; SUM; install --from archives", 1, "cannot be extracted, or has no dedup-9.9.9-"),
    (
        "rm work/*/dedup; touch work/x; tar -C work -czf $archive x; SUM; install --from archives",
        1,
        "cannot be extracted, or has no",
    ),
    (
        "PROGRAM echo dedup 9.9.8; install --from archives",
        1,
        "the archive of version 9.9.9 in archives has 'dedup 9.9.8'",
    ),
    (
        "PROGRAM echo no such library; exit 127; install --from archives",
        1,
        "does not run here: no such library. Install with",
    ),
];

#[test]
fn whatever_fails_nothing_is_installed() {
    for (line, status, message) in FAILURES {
        let machine = Machine::new();
        let line = match line.strip_prefix("PROGRAM ").and_then(|line| line.rsplit_once("; ")) {
            Some((program, install)) => {
                machine.pack(&format!("#!/bin/sh\n{program}"));
                install
            }
            None => line,
        };
        let line = match line.split_once("SUM; ") {
            Some((before, install)) => {
                machine.sh(before).done();
                machine.sum();
                install
            }
            None => line,
        };
        let run = machine.sh(line);
        assert_eq!((run.status, &*run.stdout), (status, ""), "{line}: {}", run.stderr);
        assert!(run.stderr.contains("install.sh: error: ") && run.stderr.contains(message), "{line}: {}", run.stderr);
        assert_eq!(machine.files(), "", "{line}");
    }
}

#[test]
fn an_installed_program_survives_a_failure() {
    let machine = Machine::new();
    machine.sh("install --from archives").done();
    machine.pack("#!/bin/sh\necho dedup 9.9.9; exit 1");
    assert_eq!(machine.sh("install --from archives").status, 1);
    assert_eq!(machine.sh("home/.local/bin/dedup").done(), "dedup 9.9.9\n");
    assert_eq!(machine.files(), "home/.local/bin/dedup\n");
}

/// A download that ends early is a script that does nothing.
#[test]
fn a_part_of_the_installer_does_nothing() {
    let machine = Machine::new();
    let whole = read(".github/install.sh").replace("version=\n", "version=9.9.9\n").replace("from=''", "from=archives");
    let end = whole.rfind("main \"$@\"").unwrap();
    for cut in (0..end).step_by(499).chain([end, end + 1, end + 3]) {
        machine.0.write("part", whole.as_bytes().get(..cut).unwrap());
        assert_eq!(machine.sh("sh part 2>/dev/null").stdout, "", "{cut} bytes");
        assert_eq!(machine.files(), "", "{cut} bytes");
    }
    machine.0.write("part", &whole);
    assert_eq!(machine.sh("sh part").status, 0, "the whole installs");
}

/// A server of these tests: a curl that copies from `archives`, and notes how it was called.
const CURL: &str = "echo \"$*\" >> calls\nwhile [ $# -gt 1 ]; do [ \"$1\" = --output ] && out=$2; shift; done\n\
    case $1 in */broken/*) printf 503; echo 'curl: (22) 503' >&2; exit 22 ;; esac\n\
    if cp \"archives/${1##*/}\" \"$out\" 2>/dev/null; then printf 200; else printf 404; exit 22; fi";

#[test]
fn downloads_with_curl_over_https_alone() {
    let machine = Machine::new();
    machine.fake("curl", CURL);
    machine.sh("install --from https://example.org/v9").done();
    let calls = fs::read_to_string(machine.0.folder().join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 2);
    assert!(calls.lines().all(|call| call.starts_with("--proto =https --tlsv1.2 --fail ")), "{calls}");
    machine.sh("rm -r home; mkdir home").done();
    for (line, status, message) in [
        ("install --from https://example.org/v9 --version 1.2.3", NO_ARCHIVE, "gnu.tar.gz: is 1.2.3 a release?"),
        ("install --from https://example.org/broken", 1, "cannot be downloaded: the reason is above"),
    ] {
        let run = machine.sh(line);
        assert_eq!(run.status, status, "{}", run.stderr);
        assert!(run.stderr.contains(message), "{}", run.stderr);
        assert_eq!(machine.files(), "");
    }
}

/// A GNU wget that is led from one address to another.
const WGET: &str = "case $1 in --version) echo 'GNU Wget 1.21'; exit ;; esac\necho \"$*\" >> calls\n\
    for word; do case $word in --output-document=*) out=${word#*=} ;; esac; url=$word; done\n\
    case $url in\n\
    https://example.org/*) echo '  HTTP/1.1 302 Found' >&2; echo \"  Location: https://files.example.org/${url##*/} [following]\" >&2; exit 8 ;;\n\
    https://plain/*) echo '  HTTP/1.1 302 Found' >&2; echo '  Location: http://example.org/' >&2; exit 8 ;;\n\
    https://round/*) echo '  HTTP/1.1 302 Found' >&2; echo '  Location: https://round/' >&2; exit 8 ;;\n\
    https://broken/*) echo 'wget: no route' >&2; exit 4 ;;\n\
    esac\n\
    cp \"archives/${url##*/}\" \"$out\" 2>/dev/null || { echo '  HTTP/1.1 404 Not Found' >&2; exit 8; }";

#[test]
fn downloads_with_wget_where_there_is_no_curl() {
    let machine = Machine::new();
    machine.fake("wget", WGET);
    let tools = "sh tar gzip sha256sum shasum mktemp cp mv rm mkdir chmod grep sed cut tr head cat";
    let line = "for tool in TOOLS; do ln -s \"$(command -v $tool)\" fake/$tool; done 2>/dev/null; true";
    machine.sh(&line.replace("TOOLS", tools)).done();
    let install = |from: &str| machine.sh(&format!("PATH=$PWD/fake; install --from {from}"));
    assert_eq!(install("https://example.org/v9").status, 0);
    let calls = fs::read_to_string(machine.0.folder().join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 4);
    assert!(calls.lines().all(|call| call.starts_with("--secure-protocol=TLSv1_2 --max-redirect=0 ")), "{calls}");
    machine.sh("rm -r home; mkdir home").done();
    for (from, status, message) in [
        ("https://plain/v9", 1, "leads to http://example.org/, which is not https"),
        ("https://round/v9", 1, "more than five times"),
        ("https://broken/v9", 1, "cannot be downloaded: the reason is above"),
        ("https://example.org/v9 --version 1.2.3", NO_ARCHIVE, "gnu.tar.gz: is 1.2.3 a release?"),
    ] {
        let run = install(from);
        assert_eq!(run.status, status, "{from}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{from}: {}", run.stderr);
        assert_eq!(machine.files(), "", "{from}");
    }
}

/// On each system for which there are archives, the installer looks for that of the system, by the name that it has.
#[test]
fn looks_for_the_archive_of_the_system() {
    let machine = Machine::new();
    for target in targets() {
        let (processor, system) = target.split_once('-').unwrap();
        let (name, processor) = match system {
            "unknown-linux-gnu" => ("Linux", processor),
            "apple-darwin" => ("Darwin", processor.trim_start_matches("aarch64")),
            _ => ("MINGW64_NT-10.0-26100", processor),
        };
        let processor = if processor.is_empty() { "arm64" } else { processor };
        machine.fake("uname", &format!("case $1 in -s) echo {name} ;; *) echo {processor} ;; esac"));
        let run = machine.sh("rm -f archives/*; install --from archives");
        assert_eq!(run.status, NO_ARCHIVE);
        let name = archive(VERSION, &target);
        assert!(run.stderr.contains(&format!("there is no {name} in archives")), "{target}: {}", run.stderr);
    }
}

#[test]
fn help_names_the_options() {
    let help = Machine::new().sh("install --help").done();
    for option in ["--version", "--to", "--from", "--help", "DEDUP_INSTALL_DIR"] {
        assert!(help.contains(option), "{option}");
    }
}

/// The action installs the archive; it compiles where there is none, and not where one is damaged.
#[test]
fn the_action_compiles_only_without_an_archive() {
    let machine = Machine::new();
    machine.fake("curl", CURL);
    machine.fake("cargo", "echo \"$*\" > compiled");
    let text = read(".github/actions/check/action.yml");
    machine.0.write("step", script(&yaml(&text), "Install dedup"));
    // The action in a repository of its own.
    machine.0.sh("mkdir -p action/.github/actions/check runner").done();
    fs::copy(root().join(".github/install.sh"), machine.0.folder().join("action/.github/install.sh")).unwrap();
    let run = |version: &str| {
        machine
            .0
            .write("action/Cargo.toml", format!("version = \"{version}\"\nrepository = \"https://example.org/r\"\n"));
        let settings =
            "GITHUB_ACTION_PATH=$PWD/action/.github/actions/check RUNNER_TEMP=$PWD/runner GITHUB_PATH=$PWD/path";
        let run = machine.sh(&format!("rm -f path compiled calls; {settings} bash -eo pipefail step"));
        (run, fs::read_to_string(machine.0.folder().join("path")).unwrap_or_default())
    };
    let folder = |end: &str| format!("{}\n", machine.0.folder().join("runner").join(end).display());
    let compiled: PathBuf = machine.0.folder().join("compiled");

    let (archive, path) = run("9.9.9");
    assert_eq!((archive.status, path), (0, folder("dedup-9.9.9")), "{}", archive.stderr);
    assert_eq!(machine.sh("runner/dedup-9.9.9/dedup").done(), "dedup 9.9.9\n");
    let calls = fs::read_to_string(machine.0.folder().join("calls")).unwrap();
    assert!(calls.contains(" https://example.org/r/releases/download/v9.9.9/dedup-9.9.9-x86_64-"), "{calls}");
    assert!(!compiled.exists());

    let (none, path) = run("9.9.10");
    assert_eq!((none.status, path), (0, folder("dedup-9.9.10/bin")), "{}", none.stderr);
    assert!(none.stdout.starts_with("::notice title=dedup check::There is no archive of dedup 9.9.10 "));
    assert!(fs::read_to_string(&compiled).unwrap().starts_with("install --locked --path "));

    machine.sh("echo x >> $archive").done();
    let (damaged, path) = run("9.9.9");
    assert_eq!((damaged.status, &*path), (1, ""), "{}", damaged.stderr);
    assert!(!compiled.exists(), "what is damaged is reported");
}
