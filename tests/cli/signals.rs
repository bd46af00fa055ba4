//! What signals ask a stream for while it runs.

use super::shell::Shell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A stream that runs.
struct Stream {
    child: Child,
    input: ChildStdin,
    passed: std::sync::mpsc::Receiver<String>,
    /// What it prints on standard error.
    printed: std::thread::JoinHandle<String>,
}

impl Stream {
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, passed) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        // Read all the time, so that no report has to wait.
        let errors = child.stderr.take().unwrap();
        let printed = std::thread::spawn(move || std::io::read_to_string(errors).unwrap_or_default());
        Stream { child, input, passed, printed }
    }

    /// Feeds documents of one text, and waits until the first of them has passed, if it is new.
    fn feed(&mut self, ids: &[&str], text: &str, is_new: bool) {
        for id in ids {
            writeln!(self.input, "{{\"id\":\"{id}\",\"text\":\"{text}\"}}").unwrap();
        }
        if is_new {
            self.passed.recv_timeout(Duration::from_secs(60)).expect("the first document passes");
        }
    }

    fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(kill.expect("kill starts").success());
    }

    /// Ends the input. Returns the status, and what was printed on standard error.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.input);
        let status = self.child.wait().unwrap();
        (status.code(), self.printed.join().unwrap())
    }
}

/// Waits until a file has what is expected.
fn wait_for(shell: &Shell, name: &str, is_expected: impl Fn(&str) -> bool) -> String {
    let begun = Instant::now();
    loop {
        let found = fs::read_to_string(shell.folder().join(name)).unwrap_or_default();
        if is_expected(&found) {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{name}: {found:?}");
        sleep(Duration::from_millis(5));
    }
}

const TEXT: &str = "The old library on Mill Street opens at nine on weekdays.";

#[test]
fn the_state_is_reported_on_request_and_at_the_end() {
    let shell = Shell::new();
    let mut stream = Stream::start(shell.command("filter --index seen.idx --metrics state.prom"));
    stream.feed(&["a", "b"], TEXT, true);
    // The second document is decided on soon after the first one left.
    wait_for(&shell, "state.prom", |found| {
        stream.signal("USR1");
        found.contains("\ndedup_filter_decisions_total{decision=\"duplicate\"} 1\n")
    });
    let found = fs::read_to_string(shell.folder().join("state.prom")).unwrap();
    assert!(found.contains("\ndedup_filter_running 1\n"), "{found}");
    let (status, printed) = stream.end();
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.contains("dedup: 2 documents (") && printed.contains("; a decision takes "), "{printed}");
    let found = fs::read_to_string(shell.folder().join("state.prom")).unwrap();
    let counts = ["documents_total 2", "released_documents_total 2", "decision_seconds_count 2", "index_documents 1"];
    for expected in counts.into_iter().chain(["running 0", "exit_status 0"]) {
        assert!(found.contains(&format!("\ndedup_filter_{expected}\n")), "{expected} in {found}");
    }
    let bytes = fs::metadata(shell.folder().join("seen.idx")).unwrap().len();
    assert!(found.contains(&format!("\ndedup_filter_index_file_bytes {bytes}\n")), "{bytes} in {found}");
}

/// The value of a metric.
fn metric(found: &str, name: &str) -> Option<f64> {
    let line = found.lines().find_map(|line| line.strip_prefix(&format!("dedup_filter_{name} ")));
    line.and_then(|value| value.parse().ok())
}

#[test]
fn a_reader_that_is_stuck_is_seen_and_a_second_signal_ends_the_run() {
    let shell = Shell::new();
    let mut command = shell.command("filter --index seen.idx --metrics state.prom");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let times = ["read", "decision", "release"].map(|name| format!("last_{name}_time_seconds"));
    let waiting = wait_for(&shell, "state.prom", |found| metric(found, "documents_total").is_some());
    for name in &times {
        assert_eq!(metric(&waiting, name), Some(0.0), "{name} in {waiting}");
    }
    // Longer than what a pipe holds, and nobody reads.
    let words: String = (0..20_000).map(|n| format!("word{n} ")).collect();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{{\"id\":\"a\",\"text\":\"{words}\"}}").unwrap();
    let id = child.id().to_string();
    let kill = |name: &str| {
        let status = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(status.expect("kill starts").success());
    };
    let stuck = wait_for(&shell, "state.prom", |found| {
        kill("USR1");
        metric(found, "documents_total") == Some(1.0)
    });
    let values = ["released_documents_total", "running", "exit_status"].map(|name| metric(&stuck, name).unwrap());
    assert_eq!(values, [0.0, 1.0, -1.0], "{stuck}");
    let [start, read, decision, release] =
        ["start_time_seconds", &times[0], &times[1], &times[2]].map(|name| metric(&stuck, name).unwrap());
    assert!(0.0 < start && start <= read && read <= decision && release == 0.0, "{stuck}");
    kill("TERM");
    let mut printed = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let about = printed.find(|line| line.contains("stopped by a signal")).expect("it is printed");
    assert!(
        about.contains("the 1 of 1 decided documents that did not leave") && about.contains("A second signal"),
        "{about}"
    );
    kill("TERM");
    let (_, status) = (drop(printed), child.wait().unwrap());
    assert_eq!(status.code(), Some(130));
    let ended = fs::read_to_string(shell.folder().join("state.prom")).unwrap();
    assert_eq!((metric(&ended, "running"), metric(&ended, "exit_status")), (Some(0.0), Some(130.0)), "{ended}");
}

#[test]
fn the_metrics_tell_how_the_stream_ended() {
    let shell = Shell::new();
    shell.write("page", format!("{{\"id\":1,\"text\":\"{TEXT}\"}}\n"));
    for (line, status) in [
        ("dedup filter --metrics state.prom < page", 0),
        ("printf '[]\\n{\"text\":\"some words\"}\\n' | dedup filter --metrics state.prom", 3),
        ("echo [] | dedup filter --metrics state.prom", 2),
        ("dedup filter --metrics state.prom < page > /dev/full", 2),
    ] {
        assert_eq!(shell.sh(line).status, status, "{line}");
        let found = fs::read_to_string(shell.folder().join("state.prom")).unwrap();
        let values = (metric(&found, "running"), metric(&found, "exit_status"));
        assert_eq!(values, (Some(0.0), Some(f64::from(status))), "{line}");
    }
}

#[test]
fn files_that_were_moved_away_are_made_again() {
    let shell = Shell::new();
    let command = "filter -q --duplicates dropped --verdicts all --rejects bad";
    let mut stream = Stream::start(shell.command(command));
    stream.feed(&["a", "b"], TEXT, true);
    writeln!(stream.input, "[]").unwrap();
    let files = ["dropped", "all", "bad"];
    wait_for(&shell, "bad", |found| found.lines().count() == 1);
    for name in files {
        fs::rename(shell.folder().join(name), shell.folder().join(format!("{name}.1"))).unwrap();
    }
    stream.signal("HUP");
    files.iter().for_each(|name| drop(wait_for(&shell, name, |_| shell.folder().join(name).exists())));
    stream.feed(&["c"], TEXT, false);
    writeln!(stream.input, "[]").unwrap();
    // Where nothing was moved, nothing changes.
    wait_for(&shell, "bad", |found| found.lines().count() == 1);
    stream.signal("HUP");
    sleep(Duration::from_millis(200));
    stream.feed(&["d"], TEXT, false);
    assert_eq!(stream.end().0, Some(3));
    let lines = |name: &str| fs::read_to_string(shell.folder().join(name)).unwrap().lines().count();
    let found = files.map(|name| (lines(&format!("{name}.1")), lines(name)));
    assert_eq!(found, [(1, 2), (3, 3), (1, 1)]);
}

#[test]
fn a_hangup_ends_a_stream_that_appends_to_no_file() {
    let shell = Shell::new();
    let mut stream = Stream::start(shell.command("filter -q"));
    stream.feed(&["a"], TEXT, true);
    stream.signal("HUP");
    assert_eq!(stream.child.wait().unwrap().code(), Some(130));
}

#[cfg(target_os = "linux")]
#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let shell = Shell::new();
    let mut command = Command::new("sh");
    let filter = shell.command("filter -q");
    command.current_dir(shell.folder()).args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]);
    command.arg(filter.get_program()).args(filter.get_args());
    let mut stream = Stream::start(command);
    stream.feed(&["a"], TEXT, true);
    stream.signal("HUP");
    stream.feed(&["b"], "A heron stood in the shallows for an hour without moving.", true);
    assert_eq!(stream.end().0, Some(0));
}
