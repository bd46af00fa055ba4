//! Files that are read through a program: what it prints is their text.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Globs, ProblemKind};
use crate::error::Error;
use crate::readable::display_size;

/// The argument that stands for the path of the file.
const PLACE: &str = "{}";

/// The argument by which a program is asked to read standard input.
const STDIN: &str = "-";

/// How much of what a program writes to standard error is kept, in bytes.
const COMPLAINT_BYTES: u64 = 4 << 10;

/// The maximum length of a complaint in a message, in characters.
const COMPLAINT_CHARS: usize = 200;

/// The longest pause between two looks at a program that has closed its output and not ended yet.
const PAUSE: Duration = Duration::from_millis(20);

/// A program that files are read through: it gets a file, and prints its text in UTF-8.
///
/// It runs once for each file, on the threads that parse records, and again if the text is needed a second time. The file
/// is its standard input, from the start and as it is on disk. The path takes the place of each argument `{}`. If no
/// argument is `{}`, and none is `-`, which asks for standard input, the path is the last argument. A path that begins
/// with a hyphen is preceded by `./`.
///
/// The program and those that it starts are killed once the time is over, or once it has printed more than a record may
/// hold. Those that still run when it has ended and its output is closed are killed too. On systems other than Unix only
/// the program itself is.
#[derive(Clone)]
pub struct Program {
    command: Vec<OsString>,
    files: Globs,
    timeout: Duration,
}

/// Why a program has no text of a file.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub kind: ProblemKind,
    pub message: String,
}

impl Program {
    /// The default time limit.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// A program and its arguments, for the files that match any of the globs, or for all files if there are none. No
    /// shell reads them.
    ///
    /// # Errors
    /// The command is empty, or the time limit is.
    pub fn new<S: Into<OsString>>(
        command: impl IntoIterator<Item = S>,
        files: Globs,
        timeout: Duration,
    ) -> Result<Self, Error> {
        let command: Vec<OsString> = command.into_iter().map(Into::into).collect();
        if command.first().is_none_or(|program| program.is_empty()) {
            return Err(Error::parameter("pre", "", "a program, with its arguments if it needs any"));
        }
        if timeout.is_zero() {
            return Err(Error::parameter("pre-timeout", 0, "a time above 0"));
        }
        Ok(Program { command, files, timeout })
    }

    /// Whether this file is read through it.
    pub fn reads(&self, path: &Path) -> bool {
        self.files.is_empty() || self.files.matches(path)
    }

    /// The program and its arguments, and the globs of its files.
    pub fn parts(&self) -> (&[OsString], &[String]) {
        (&self.command, self.files.typed())
    }

    /// Its arguments for a file.
    fn arguments(&self, path: &Path) -> Vec<OsString> {
        let hyphen = path.as_os_str().as_encoded_bytes().starts_with(b"-");
        let path = if hyphen { Path::new(".").join(path) } else { path.to_path_buf() };
        let typed = &self.command[1..];
        let is_placed = typed.iter().any(|argument| argument == PLACE || argument == STDIN);
        let place = |argument: &OsString| if argument == PLACE { path.clone().into() } else { argument.clone() };
        typed.iter().map(place).chain((!is_placed).then(|| path.clone().into())).collect()
    }

    /// What it prints for a file. Does not return once [`end_programs`] was called.
    pub(super) fn run(&self, path: &Path, max_output: usize) -> Result<Vec<u8>, Fault> {
        let outcome = self.run_once(path, max_output);
        // That it was killed, or not started, says nothing about the file, and the process is about to end.
        while running().is_none() {
            thread::park();
        }
        outcome
    }

    fn run_once(&self, path: &Path, max_output: usize) -> Result<Vec<u8>, Fault> {
        let fault = |kind, message| Err(Fault { kind, message });
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) => return fault(ProblemKind::Unreadable, format!("cannot open: {error}")),
        };
        let name = self.command[0].to_string_lossy();
        let mut command = Command::new(&self.command[0]);
        command.args(self.arguments(path)).stdin(file).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Running::start(&mut command).and_then(|mut running| {
            let outputs = running.outputs(max_output)?;
            Ok((running, outputs))
        });
        let (mut running, (printed, complaint)) = match started {
            Ok(started) => started,
            Err(error) => return fault(ProblemKind::Program, format!("cannot run '{name}': {error}")),
        };
        let end = Instant::now().checked_add(self.timeout);
        let printed = receive(&printed, end);
        let too_long = printed.as_ref().is_ok_and(|printed| printed.as_ref().is_ok_and(|text| text.len() > max_output));
        let has_exited = match printed {
            Ok(_) if !too_long => running.wait(end),
            _ => Ok(false),
        };
        let status = running.end();
        let status = has_exited.and_then(|has_exited| if has_exited { status.map(Some) } else { Ok(None) });
        match (printed, status) {
            _ if too_long => {
                let size = display_size(max_output);
                let message = format!("'{name}' printed more than {size} (allow more with `max-record`)");
                fault(ProblemKind::TooLong, message)
            }
            (Ok(Ok(text)), Ok(Some(status))) if status.success() => Ok(text),
            (Ok(Ok(_)), Ok(Some(status))) => {
                // Its group is gone, so that the pipe has an end, unless a program has left the group.
                let complaint = receive(&complaint, end).ok().and_then(Result::ok).unwrap_or_default();
                fault(ProblemKind::Program, format!("'{name}' failed ({status}){}", first_line(&complaint)))
            }
            (Err(_), _) | (_, Ok(None)) => {
                let seconds = self.timeout.as_secs_f64();
                let message = format!("'{name}' did not end within {seconds} s (allow more with `pre-timeout`)");
                fault(ProblemKind::Program, message)
            }
            (Ok(Err(error)), _) | (_, Err(error)) => {
                fault(ProblemKind::Program, format!("cannot read what '{name}' prints: {error}"))
            }
        }
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("command", &self.command).field("files", &self.files.typed()).finish()
    }
}

/// The first line of a complaint, for a message.
fn first_line(complaint: &[u8]) -> String {
    let complaint = String::from_utf8_lossy(complaint);
    let line = complaint.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let shown: String = line.chars().take(COMPLAINT_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.is_empty() { shown } else { format!(": {shown}") }
}

/// All that a pipe yields, or its beginning.
type Output = std::sync::mpsc::Receiver<io::Result<Vec<u8>>>;

/// Waits for an output until then.
fn receive(output: &Output, end: Option<Instant>) -> Result<io::Result<Vec<u8>>, RecvTimeoutError> {
    match end {
        Some(end) => output.recv_timeout(end.saturating_duration_since(Instant::now())),
        None => output.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

/// The programs that run now; `None` once no more may start. Nobody waits for a program under the lock.
static RUNNING: Mutex<Option<Vec<u32>>> = Mutex::new(Some(Vec::new()));

fn running() -> MutexGuard<'static, Option<Vec<u32>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every [`Program`] that runs, and those that it started. No further one starts: for a process that is about to end
/// on a signal. Threads that read files through programs stop where they are: do not wait for them.
pub fn end_programs() {
    let mut running = running();
    running.take().into_iter().flatten().for_each(kill_group);
}

#[cfg(unix)]
fn kill_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(leader) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // The group may have ended by itself.
        _ = kill_process_group(leader, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: u32) {}

/// A program that was started. As long as it is not waited for, no other process has its number.
struct Running {
    child: Child,
    is_waited_for: bool,
}

impl Running {
    fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut running = running();
        let Some(running) = &mut *running else { return Err(io::Error::other("the run is ending")) };
        let child = command.spawn()?;
        running.push(child.id());
        Ok(Running { child, is_waited_for: false })
    }

    /// What it prints, up to a byte more than allowed, and what it complains of. The threads that read them end with the
    /// pipes.
    ///
    /// # Errors
    /// A thread cannot be started.
    fn outputs(&mut self, max_output: usize) -> io::Result<(Output, Output)> {
        let (printed, output) = sync_channel(1);
        let (complaint, errors) = sync_channel(1);
        if let Some(stdout) = self.child.stdout.take() {
            let most = (max_output as u64).saturating_add(1);
            thread::Builder::new().spawn(move || drain(stdout, most, false, &printed))?;
        }
        if let Some(stderr) = self.child.stderr.take() {
            thread::Builder::new().spawn(move || drain(stderr, COMPLAINT_BYTES, true, &complaint))?;
        }
        Ok((output, errors))
    }

    /// Waits until it has exited. False if it has not by then.
    fn wait(&mut self, end: Option<Instant>) -> io::Result<bool> {
        let mut pause = Duration::from_micros(100);
        while !has_exited(&mut self.child)? {
            if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(false);
            }
            thread::sleep(pause);
            pause = (2 * pause).min(PAUSE);
        }
        Ok(true)
    }

    /// Kills it, and those that it started, even if it has exited by itself. Its status.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_waited_for {
            self.is_waited_for = true;
            kill_group(self.child.id());
            _ = self.child.kill();
            // Before it is waited for: then another process may get its number, which must not be killed.
            running().iter_mut().for_each(|running| running.retain(|&id| id != self.child.id()));
        }
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.end();
    }
}

/// Whether a program has exited. It keeps its number, and with it that of its group.
#[cfg(unix)]
fn has_exited(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    match waitid(WaitId::Pid(Pid::from_child(child)), options) {
        Ok(status) => Ok(status.is_some()),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn has_exited(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Reads a pipe up to some length, and then to its end if the writer should not be held up.
fn drain(mut pipe: impl Read, most: u64, to_end: bool, out: &SyncSender<io::Result<Vec<u8>>>) {
    let mut bytes = Vec::new();
    let read = pipe.by_ref().take(most).read_to_end(&mut bytes).map(|_| bytes);
    // Nobody waits for it any more if the program was killed.
    _ = out.send(read);
    if to_end {
        _ = io::copy(&mut pipe, &mut io::sink());
    }
}

/// A file to read through a program.
#[derive(Debug)]
pub(super) struct Job {
    pub program: std::sync::Arc<Program>,
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    pub max_output: usize,
    /// What came of it, unless that is too large to keep. The first batches are parsed twice.
    pub outcome: OnceLock<Result<Vec<u8>, Fault>>,
}

impl Job {
    /// How much output is kept, in bytes, beyond the size of the file.
    const KEPT: u64 = 64 << 10;

    /// The most memory that it keeps, in bytes.
    pub fn bytes_held(&self) -> u64 {
        self.size.saturating_add(Self::KEPT).min(self.max_output as u64)
    }

    /// What the program prints for the file.
    pub fn text(&self) -> Result<Cow<'_, [u8]>, Fault> {
        if self.outcome.get().is_none() {
            match self.program.run(&self.path, self.max_output) {
                Ok(text) if text.len() as u64 > self.bytes_held() => return Ok(Cow::Owned(text)),
                // Another thread may have been first.
                outcome => _ = self.outcome.set(outcome),
            }
        }
        match self.outcome.get() {
            Some(Ok(text)) => Ok(Cow::Borrowed(text)),
            Some(Err(fault)) => Err(fault.clone()),
            None => unreachable!("set above"),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn program(command: &[&str], seconds: f64) -> Program {
        Program::new(command.iter().copied(), Globs::default(), Duration::from_secs_f64(seconds)).unwrap()
    }

    fn run(command: &[&str], seconds: f64, max_output: usize) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a file.bin");
        std::fs::write(&path, "content").unwrap();
        let printed = program(command, seconds).run(&path, max_output);
        printed.map(|text| String::from_utf8(text).unwrap()).map_err(|fault| fault.message)
    }

    #[test]
    fn the_file_is_standard_input_and_its_path_an_argument() {
        let arguments = |command: &[&str], path: &str| {
            let arguments = program(command, 1.0).arguments(Path::new(path));
            arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(arguments(&["cat"], "a b"), ["a b"]);
        assert_eq!(arguments(&["pandoc", "-t", "plain"], "a"), ["-t", "plain", "a"]);
        assert_eq!(arguments(&["pdftotext", "-", "-"], "a"), ["-", "-"]);
        assert_eq!(arguments(&["pdftotext", "{}", "-"], "a"), ["a", "-"]);
        assert_eq!(arguments(&["cat"], "-n"), ["./-n"]);
        assert_eq!(run(&["cat", "-"], 10.0, 100), Ok("content".into()));
        assert_eq!(run(&["cat", "{}", "{}"], 10.0, 100), Ok("contentcontent".into()));
        assert_eq!(run(&["sh", "-c", "basename \"$1\"; cat", "sh"], 10.0, 100), Ok("a file.bin\ncontent".into()));
    }

    #[test]
    fn failures_say_why() {
        for (script, message) in [
            ("echo >&2; echo ' no\tluck ' >&2; exit 3", "'sh' failed (exit status: 3): no luck"),
            ("exit 1", "'sh' failed (exit status: 1)"),
            ("kill -9 $$", "'sh' failed (signal: 9 (SIGKILL))"),
            ("yes", "'sh' printed more than 100 bytes (allow more with `max-record`)"),
            ("sleep 100", "'sh' did not end within 0.5 s (allow more with `pre-timeout`)"),
            ("exec >&-; sleep 100", "'sh' did not end within 0.5 s (allow more with `pre-timeout`)"),
            ("yes >&2", "'sh' did not end within 0.5 s (allow more with `pre-timeout`)"),
            ("sleep 100 &", "'sh' did not end within 0.5 s (allow more with `pre-timeout`)"),
        ] {
            assert_eq!(run(&["sh", "-c", script], 0.5, 100), Err(message.into()), "{script}");
        }
        let message = run(&["no such program"], 1.0, 100).unwrap_err();
        assert!(message.starts_with("cannot run 'no such program': "), "{message}");
        assert!(Program::new([""], Globs::default(), Program::TIMEOUT).is_err());
        assert!(Program::new(["cat"], Globs::default(), Duration::ZERO).is_err());
    }

    #[test]
    fn a_batch_that_is_parsed_twice_runs_it_once_unless_it_prints_much() {
        for (script, runs) in [("cat", 1), ("head -c 100000 /dev/zero", 2), ("exit 1", 1)] {
            let folder = tempfile::tempdir().unwrap();
            let (path, log) = (folder.path().join("a"), folder.path().join("log"));
            std::fs::write(&path, "content").unwrap();
            let program = program(&["sh", "-c", &format!("echo >> {}; {script}", log.display()), "-"], 10.0);
            let outcome = OnceLock::new();
            let job = Job { program: program.into(), path, size: 7, max_output: 1 << 20, outcome };
            let texts = [job.text(), job.text()].map(|text| text.map(Cow::into_owned).map_err(|fault| fault.message));
            assert_eq!(texts[0], texts[1], "{script}");
            assert_eq!(std::fs::read(log).unwrap().len(), runs, "{script}");
        }
    }

    #[test]
    fn what_a_program_started_is_killed_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let script = format!("(sleep 1; touch {}) & sleep 100", mark.display());
        assert!(run(&["sh", "-c", &script], 0.2, 100).is_err());
        thread::sleep(Duration::from_millis(1500));
        assert!(!mark.exists());
    }

    #[test]
    fn what_a_program_left_is_killed_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("pid");
        let script = |status| {
            format!("sleep 100 >/dev/null & echo $! > {}; echo text; echo no >&2; exit {status}", log.display())
        };
        for (status, outcome) in
            [(0, Ok("text\n".to_string())), (3, Err("'sh' failed (exit status: 3): no".to_string()))]
        {
            let start = Instant::now();
            assert_eq!(run(&["sh", "-c", &script(status)], 50.0, 100), outcome);
            assert!(start.elapsed() < Duration::from_secs(25));
            let pid = std::fs::read_to_string(&log).unwrap();
            let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
            // It may be a zombie for a while, until its new parent has waited for it, and for ever if that never does.
            let is_gone = || {
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                stat.contains(") Z ") || rustix::process::test_kill_process(pid).is_err()
            };
            while !is_gone() {
                assert!(start.elapsed() < Duration::from_secs(50), "{status}");
                thread::sleep(PAUSE);
            }
        }
    }
}
