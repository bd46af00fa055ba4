//! Runs commands as a user would: in a folder, with `dedup` in the path and nothing else of the tester's surroundings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The program that is tested: that of this build, or another one that `.ci/run` names.
fn tested() -> PathBuf {
    std::env::var_os("DEDUP_UNDER_TEST").map_or_else(|| env!("CARGO_BIN_EXE_dedup").into(), PathBuf::from)
}

/// A command that finds `dedup` first, speaks plain English, and gets nothing on standard input.
pub fn command(program: &str, folder: &Path) -> Command {
    let binary = tested().parent().expect("a program is in a folder").to_path_buf();
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([binary].into_iter().chain(std::env::split_paths(&inherited)));
    let mut command = Command::new(program);
    command.env_clear().env("PATH", path.expect("a folder without a colon")).env("LC_ALL", "C");
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Run {
    /// The exit status; −1 if a signal ended it.
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Run { status: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Run {
    /// Standard output, if the command succeeded.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.status, 0, "{}", self.stderr);
        self.stdout
    }
}

/// A folder of its own, with `fixtures` in it, that goes away afterwards.
pub struct Shell(TempDir);

impl Shell {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::os::unix::fs::symlink(root().join("fixtures"), folder.path().join("fixtures"))
            .expect("a link can be made");
        Shell(folder)
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    /// Makes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.folder().join(name), content).expect("a file can be written");
    }

    /// Runs a line of shell.
    pub fn sh(&self, line: &str) -> Run {
        command("sh", self.folder()).args(["-c", line]).output().expect("there is a shell").into()
    }

    /// The program itself, to be started with arguments separated by blanks.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = command(&tested().to_string_lossy(), self.folder());
        command.args(arguments.split_whitespace());
        command
    }

    /// Runs the program with arguments separated by blanks.
    pub fn dedup(&self, arguments: &str) -> Run {
        self.command(arguments).output().expect("the program starts").into()
    }
}
