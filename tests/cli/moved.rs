//! `dedup clean --move-duplicates` and `--undo`: every file is in the tree or in the folder, whatever happens on the way, and the tree is
//! the same after all.

use super::records;
use super::shell::{Run, Shell};
use crate::support::random::Random;
use crate::support::scanning::factory;
use neardups::Error;
use neardups::clean::{CleanOptions, Cleaned, Undone, move_duplicates, undo};
use neardups::engine::{Observer, Stage};
use neardups::source::Problem;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

/// What can be seen of a name: its type, mode, time, inode and content. Folders have no times, because they change when names do.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    modified: Option<(i64, i64)>,
    inode: u64,
    content: Vec<u8>,
}

type Tree = BTreeMap<PathBuf, Entry>;

/// All that is below a folder, links not followed, but its own description.
fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    for entry in walkdir::WalkDir::new(folder).min_depth(1).into_iter().map(Result::unwrap) {
        let below = entry.path().strip_prefix(folder).unwrap();
        if below.starts_with("_dedup") {
            continue;
        }
        let metadata = fs::symlink_metadata(entry.path()).unwrap();
        let content = match metadata.file_type() {
            kind if kind.is_file() => fs::read(entry.path()).unwrap(),
            kind if kind.is_symlink() => fs::read_link(entry.path()).unwrap().as_os_str().as_bytes().to_vec(),
            _ => Vec::new(),
        };
        let modified = (!metadata.is_dir()).then(|| (metadata.mtime(), metadata.mtime_nsec()));
        let inode = if metadata.is_dir() { 0 } else { metadata.ino() };
        found.insert(below.to_path_buf(), Entry { mode: metadata.mode(), modified, inode, content });
    }
    found
}

/// The files only.
fn files(folder: &Path) -> Tree {
    let mut tree = tree(folder);
    tree.retain(|_, entry| entry.modified.is_some());
    tree
}

/// Text, Markdown and HTML in folders, of which a half is much like an earlier one.
fn corpus(folder: &Path, seed: u64, count: usize) {
    let mut random = Random::new(seed);
    let mut texts: Vec<Vec<String>> = Vec::new();
    let word = |random: &mut Random| format!("w{}", random.below(5_000));
    for number in 0..count {
        let mut words: Vec<String> = (0..40 + random.below(40)).map(|_| word(&mut random)).collect();
        if number > 0 && random.below(2) == 0 {
            words.clone_from(&texts[random.below(number)]);
            let at = random.below(words.len());
            words[at] = word(&mut random);
        }
        let text = words.join(" ");
        texts.push(words);
        let (extension, text) = match number % 4 {
            0 => ("md", format!("# w1\n\n{text}\n")),
            1 => ("html", format!("<html><body><p>{text}</p></body></html>")),
            _ => ("txt", text),
        };
        let path = folder.join(format!("{}/{}/{number:04}.{extension}", number % 3, number % 7));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000 + number as u64, 123_456_789);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode([0o644, 0o600, 0o444][number % 3])).unwrap();
    }
    fs::write(folder.join("zero.bin"), [0; 100]).unwrap();
}

/// Checks what moved against the tree before. Returns the number of files.
fn check(before: &Tree, input: &Path, output: &Path) -> usize {
    let (here, there) = (files(input), files(output));
    let mut all = here.clone();
    for (name, entry) in &there {
        assert!(all.insert(name.clone(), entry.clone()).is_none(), "{} is in both", name.display());
    }
    let mut before = before.clone();
    before.retain(|_, entry| entry.modified.is_some());
    assert!(all == before, "each file is at one of two places, unchanged");
    let manifest = fs::read_to_string(output.join("_dedup/moved.jsonl")).unwrap();
    let lines = records::moved(&manifest);
    let listed: BTreeSet<PathBuf> = lines.iter().map(|line| PathBuf::from(&line.to)).collect();
    assert_eq!(listed.len(), lines.len());
    assert_eq!(listed, there.keys().cloned().collect());
    for line in &lines {
        let kept = Path::new(&line.kept.path).strip_prefix(input).unwrap();
        assert!(here.contains_key(kept), "{} is kept", kept.display());
    }
    lines.len()
}

#[test]
fn what_moves_is_listed_and_moves_back() {
    let shell = Shell::new();
    let (input, output) = (shell.folder().join("in"), shell.folder().join("out"));
    corpus(&input, 1, 120);
    let before = tree(&input);
    let mut first = None;
    for flags in ["-j1", "-j4 --memory 16M", "--keep last"] {
        shell.dedup(&format!("clean in --move-duplicates out --shingle 5 -q {flags}")).done();
        let count = check(&before, &input, &output);
        assert!(count > 30, "{count}");
        let moved = files(&output);
        let is_same = *first.get_or_insert(moved.clone()) == moved;
        assert_eq!(is_same, !flags.contains("last"));
        assert_eq!(shell.dedup("clean in --output out -q").status, 2);
        let pairs = shell.dedup("scan in --shingle 5 -q").done();
        assert_eq!(pairs, "", "nothing is left to move");
        let sums = shell
            .sh("jq -r '.sha256 + \"  \" + .to' _dedup/moved.jsonl 2>/dev/null | (cd out && sha256sum -c --quiet)");
        assert!(!sums.stderr.contains("FAILED"), "{}", sums.stderr);
        shell.dedup("clean --undo out -q").done();
        assert!(tree(&input) == before, "{flags}");
        assert_eq!(tree(&output), Tree::new());
        let own = fs::read_dir(output.join("_dedup")).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(own.collect::<BTreeSet<_>>(), [".lock", "failed.jsonl", "undone.jsonl"].map(Into::into).into());
        assert!(shell.dedup("clean --undo out").stderr.contains("nothing to do"));
    }
}

/// Runs a command and kills it some times: at once, or a little after a file is there. Then runs it to its end.
fn kill(shell: &Shell, arguments: &str, wait_for: Option<&Path>, random: &mut Random) -> usize {
    let mut killed = 0;
    for _ in 0..4 {
        let mut command = shell.command(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let waits = wait_for.filter(|_| random.below(3) > 0);
        while waits.is_some_and(|path| !path.exists()) && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_micros(50));
        }
        thread::sleep(Duration::from_micros(random.below(if waits.is_some() { 20_000 } else { 60_000 }) as u64));
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
    }
    killed
}

/// Every content is at one place at least.
fn nothing_is_lost(before: &Tree, input: &Path, output: &Path) {
    let contents = |folder: &Path| files(folder).into_iter().map(|(name, entry)| (name, entry.content));
    let all: BTreeSet<_> = contents(input).chain(contents(output)).collect();
    let expected = before.iter().filter(|(_, entry)| entry.modified.is_some());
    for (name, entry) in expected {
        assert!(all.contains(&(name.clone(), entry.content.clone())), "{} is lost", name.display());
    }
}

fn rounds_of_kills(output: &Path, shell: &Shell, rounds: usize) {
    let input = shell.folder().join("in");
    corpus(&input, 3, 300);
    let contents = |tree: &Tree| -> Vec<_> {
        tree.iter().map(|(name, entry)| (name.clone(), entry.mode, entry.modified, entry.content.clone())).collect()
    };
    let before = tree(&input);
    let (mut random, mut killed, mut halves) = (Random::new(7), 0, 0);
    let shown = output.display();
    for round in 0..rounds {
        let arguments = format!("clean in --move-duplicates {shown} --shingle 5 -q");
        killed += kill(shell, &arguments, Some(&output.join("_dedup/state.json")), &mut random);
        nothing_is_lost(&before, &input, output);
        let moved = files(output).len();
        // Some runs are undone without having ended.
        if round % 3 > 0 {
            shell.dedup(&arguments).done();
            let lines = fs::read_to_string(output.join("_dedup/moved.jsonl")).unwrap().lines().count();
            assert_eq!((files(&input).len() + lines, files(output).len()), (files_in(&before), lines));
            halves += usize::from(moved > 0 && moved < lines);
            assert!(lines > 60, "{lines}");
        }
        let arguments = format!("clean --undo {shown} -q");
        let run = match output.join("_dedup").exists() {
            true => {
                killed += kill(shell, &arguments, None, &mut random);
                nothing_is_lost(&before, &input, output);
                shell.dedup(&arguments)
            }
            false => continue,
        };
        // A run that was killed before it wrote anything moved nothing.
        assert!(run.status == 0 || run.stderr.contains("no files were moved to it"), "{}", run.stderr);
        assert!(contents(&tree(&input)) == contents(&before), "round {round}");
        assert_eq!(tree(output), Tree::new());
    }
    assert!(killed > rounds, "{killed} kills");
    eprintln!("{killed} kills in {rounds} rounds, {halves} runs were killed while files moved");
}

fn files_in(tree: &Tree) -> usize {
    tree.values().filter(|entry| entry.modified.is_some()).count()
}

#[test]
fn killed_runs_are_continued_and_undone() {
    let shell = Shell::new();
    rounds_of_kills(&shell.folder().join("out"), &shell, 9);
}

#[test]
fn the_same_on_another_file_system() {
    let shell = Shell::new();
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else { return eprintln!("skipped: no /dev/shm") };
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    if device(other.path()) == device(shell.folder()) {
        return eprintln!("skipped: one file system");
    }
    rounds_of_kills(&other.path().join("out"), &shell, 6);
}

/// `cargo test --test all -- --ignored hundreds_of_kills_of_moves --nocapture`
#[test]
#[ignore = "takes minutes"]
fn hundreds_of_kills_of_moves() {
    let shell = Shell::new();
    rounds_of_kills(&shell.folder().join("out"), &shell, 60);
    if let Ok(other) = tempfile::tempdir_in("/dev/shm") {
        rounds_of_kills(&other.path().join("out"), &shell, 60);
    }
}

/// Names of all kinds, links, and a folder that leads into itself.
#[test]
fn hostile_trees() {
    let shell = Shell::new();
    let folder = shell.folder();
    let at = |name: &str| folder.join("in").join(name);
    let text = |number: usize| {
        format!("text number {number} of a few, {number} words and one more that is alike in both of them")
    };
    fs::create_dir_all(at("z")).unwrap();
    let names: [&[u8]; 7] =
        [b"new\nline.txt", b"caf\xe9.txt", b"back\\x41.txt", b" blank ", b"-rf", b"quote\"'.txt", b"tab\t.txt"];
    for (number, name) in names.iter().enumerate() {
        fs::write(at(&format!("a{number}")), text(number)).unwrap();
        fs::write(at("z").join(OsStr::from_bytes(name)), text(number)).unwrap();
    }
    // Hard links move together. What is read through a link stays, and so does what a link of the tree leads to.
    fs::write(at("h0"), text(20)).unwrap();
    fs::write(at("h1"), text(20)).unwrap();
    fs::hard_link(at("h1"), at("z/h2")).unwrap();
    fs::write(at("l0"), text(30)).unwrap();
    fs::write(at("l1"), text(30)).unwrap();
    symlink("l1", at("l2")).unwrap();
    fs::create_dir(folder.join("outside")).unwrap();
    fs::write(folder.join("outside/o"), text(30)).unwrap();
    symlink("../outside/o", at("l3")).unwrap();
    symlink("../outside", at("l4")).unwrap();
    symlink("..", at("z/loop")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    // Two names of one file are not duplicates of each other.
    fs::write(at("twice"), text(40)).unwrap();
    fs::hard_link(at("twice"), at("z/twice")).unwrap();
    let (before, outside) = (tree(&folder.join("in")), tree(&folder.join("outside")));

    let listed = shell.command("scan in --print0 --threshold 0.9").output().unwrap();
    let mut expected: Vec<Vec<u8>> = names.iter().map(|name| [b"in/z/", *name].concat()).collect();
    expected.extend([b"in/h1".to_vec(), b"in/z/h2".to_vec()]);
    let listed: BTreeSet<Vec<u8>> = listed
        .stdout
        .split_inclusive(|&byte| byte == 0)
        .map(|path| path.strip_suffix(b"\0").unwrap().to_vec())
        .collect();
    assert_eq!(listed, expected.iter().cloned().collect());

    let run = shell.dedup("clean in --move-duplicates out --threshold 0.9");
    assert_eq!(run.status, 3, "of the link that leads nowhere: {}", run.stderr);
    assert!(
        run.stderr.contains("skipped: in/l1: in/l2 is a symbolic link to it, or leads through one: it stays"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("skipped: in/l3: a symbolic link, or in a folder that is one: it stays"),
        "{}",
        run.stderr
    );
    let below = |path: &PathBuf| [b"in/", path.as_os_str().as_bytes()].concat();
    let moved: BTreeSet<Vec<u8>> = files(&folder.join("out")).keys().map(below).collect();
    assert_eq!(moved, listed);
    let inode = |path: PathBuf| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(folder.join("out/h1")), inode(folder.join("out/z/h2")));
    let again = shell.dedup("clean in --move-duplicates out --threshold 0.9");
    assert!(again.stderr.contains("nothing to do: out has all files of this run already"), "{}", again.stderr);
    shell.dedup("clean --undo out -q").done();
    assert_eq!(tree(&folder.join("in")), before);
    assert_eq!(tree(&folder.join("outside")), outside);
}

/// Calls a function when files are about to be read again and moved, and after each file.
struct Meddler<F> {
    meddle: F,
    after: AtomicUsize,
    problems: Mutex<Vec<String>>,
}

impl<F: Fn(usize) + Sync> Observer for Meddler<F> {
    fn stage(&self, stage: Stage) {
        if stage == Stage::Writing {
            self.after.store(1, Ordering::Relaxed);
            (self.meddle)(0);
        }
    }

    fn progress(&self, _: u64, _: u64) {
        let after = self.after.load(Ordering::Relaxed);
        if after > 0 {
            self.after.store(after + 1, Ordering::Relaxed);
            (self.meddle)(after);
        }
    }

    fn problem(&self, problem: &Problem) {
        self.problems.lock().unwrap().push(problem.to_string());
    }
}

fn meddler<F: Fn(usize) + Sync>(meddle: F) -> Meddler<F> {
    Meddler { meddle, after: AtomicUsize::new(0), problems: Mutex::default() }
}

/// Six files in two groups of three: `a0`, `a1`, `a2`, `b0`, `b1`, `b2`.
fn two_groups(folder: &Path) -> PathBuf {
    let input = folder.join("in");
    fs::create_dir(&input).unwrap();
    for group in ["a", "b"] {
        for number in 0..3 {
            let text =
                format!("{group} {}", "some words of the group that are the same in each of its files ".repeat(3));
            let text = text.replace("words", &format!("words{group}")).replace("files", &format!("files{group}"));
            fs::write(input.join(format!("{group}{number}")), text).unwrap();
        }
    }
    input
}

fn clean(input: &Path, output: &Path, observer: &dyn Observer) -> Cleaned {
    let factory = factory("minhash", &[("threshold", "0.9"), ("shingle", "3")]);
    move_duplicates(&[input.to_path_buf()], Some(output), &factory, &CleanOptions::default(), observer).unwrap()
}

/// Replaces the content by another of the same length, and restores the time.
fn forge(path: &Path) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    let text = fs::read(path).unwrap().to_ascii_uppercase();
    fs::write(path, text).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn replace_by_equal(path: &Path) {
    let (text, time) = (fs::read(path).unwrap(), fs::metadata(path).unwrap().modified().unwrap());
    fs::rename(path, path.with_extension("old")).unwrap();
    fs::write(path, text).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// The names of files that stay although they should move, when a file changes before all moves (0) or after the first (1).
#[test]
fn what_changes_meanwhile_stays_and_is_reported() {
    type Change = fn(&Path);
    let remove: Change = |path| fs::remove_file(path).unwrap();
    let lengthen: Change = |path| fs::write(path, "another text altogether").unwrap();
    let link: Change = |path| {
        fs::remove_file(path).unwrap();
        symlink("b0", path).unwrap();
    };
    let to_folder: Change = |path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    };
    let changes = [remove, lengthen, forge, replace_by_equal, link, to_folder];
    let (all, kept): (&[&str], &[&str]) = (&["a1", "a2", "b1", "b2"], &["b1", "b2"]);
    // Before the first move, and after it: when a1 has moved.
    for (number, change) in changes.iter().enumerate() {
        for (when, name, stay) in
            [(0, "b1", &kept[..1]), (0, "b0", kept), (1, "b1", &kept[..1]), (1, "b0", kept), (1, "a0", &["a2"])]
        {
            let folder = tempfile::tempdir().unwrap();
            let (input, output) = (two_groups(folder.path()), folder.path().join("out"));
            let changed = input.join(name);
            let watch = meddler(|after| {
                if after == when {
                    change(&changed)
                }
            });
            let cleaned = clean(&input, &output, &watch);
            let problems = watch.problems.into_inner().unwrap();
            let what = format!("change {number} of {name} at {when}: {problems:?}");
            let moved: Vec<String> = files(&output).keys().map(|name| name.display().to_string()).collect();
            let expected: Vec<String> =
                all.iter().filter(|name| !stay.contains(name)).map(ToString::to_string).collect();
            assert_eq!(moved, expected, "{what}");
            // A link is left alone by rule.
            let is_link = (number, when, name) == (4, 0, "b1");
            let failed = if is_link { 0 } else { stay.len() };
            assert_eq!(
                (problems.len(), cleaned.stayed, cleaned.failed),
                (stay.len(), stay.len() as u64, failed as u64),
                "{what}"
            );
            let manifest = fs::read_to_string(output.join("_dedup/moved.jsonl")).unwrap();
            assert_eq!(records::moved(&manifest).len(), moved.len());
            let undone = undo(&output, &()).unwrap();
            assert_eq!((undone.moved, undone.failed), (moved.len() as u64, 0), "{what}");
        }
    }
}

/// A file with the name of one that is to move, and one that appears where another was.
#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (two_groups(folder.path()), folder.path().join("out"));
    let before = tree(&input);
    let taken = output.join("a2");
    let watch = meddler(|after| {
        if after == 1 {
            fs::write(&taken, "of another").unwrap()
        }
    });
    let cleaned = clean(&input, &output, &watch);
    assert_eq!((cleaned.files_written, cleaned.stayed), (3, 1));
    assert!(watch.problems.into_inner().unwrap()[0].contains("not overwritten"));
    assert_eq!(fs::read_to_string(&taken).unwrap(), "of another");

    fs::write(input.join("b1"), "new here").unwrap();
    fs::write(output.join("b2"), "changed there").unwrap();
    let watch = meddler(|_| {});
    let Undone { moved, failed, .. } = undo(&output, &watch).unwrap();
    assert_eq!((moved, failed), (1, 2));
    let problems = watch.problems.into_inner().unwrap().join("\n");
    assert!(problems.contains("out/b1: it is not moved back: there is another file at "), "{problems}");
    assert!(problems.contains("out/b2: it is not moved back: it changed since it was moved"), "{problems}");
    assert_eq!(fs::read_to_string(input.join("b1")).unwrap(), "new here");
    // No run takes the folder for its own meanwhile.
    let factory = factory("minhash", &[("threshold", "0.9"), ("shingle", "3")]);
    let again = move_duplicates(std::slice::from_ref(&input), Some(&output), &factory, &CleanOptions::default(), &());
    let error = again.unwrap_err().to_string();
    assert!(error.contains("not all moved back"), "{error}");

    fs::remove_file(input.join("b1")).unwrap();
    fs::write(output.join("b2"), &before[Path::new("b2")].content).unwrap();
    let Undone { moved, were_back, failed, .. } = undo(&output, &()).unwrap();
    assert_eq!((moved, were_back, failed), (2, 1, 0));
    let contents =
        |tree: &Tree| -> Vec<_> { tree.iter().map(|(name, entry)| (name.clone(), entry.content.clone())).collect() };
    assert_eq!(contents(&tree(&input)), contents(&before));
    assert!(undo(&output, &()).unwrap().was_complete);
    assert_eq!(fs::read_to_string(&taken).unwrap(), "of another");
}

#[test]
fn a_folder_that_became_a_link_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (two_groups(folder.path()), folder.path().join("out"));
    clean(&input, &output, &());
    fs::rename(&input, folder.path().join("elsewhere")).unwrap();
    symlink("elsewhere", &input).unwrap();
    let undone = undo(&output, &()).unwrap();
    assert_eq!((undone.moved, undone.failed), (0, 4));
    fs::remove_file(&input).unwrap();
    fs::rename(folder.path().join("elsewhere"), &input).unwrap();
    assert_eq!(undo(&output, &()).unwrap().moved, 4);
}

/// Paths of a manifest that somebody wrote.
#[test]
fn a_manifest_leads_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (two_groups(folder.path()), folder.path().join("out"));
    clean(&input, &output, &());
    let path = output.join("_dedup/moved.jsonl");
    let manifest = fs::read_to_string(&path).unwrap();
    let refused = |manifest: String, name: &str, value: &str| {
        fs::write(&path, &manifest).unwrap();
        let error = undo(&output, &()).unwrap_err().to_string();
        let expected = format!("moved.jsonl:1: it is not a line that a run wrote: '{name}' is '{value}'");
        assert!(error.contains(&expected), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), manifest);
        assert_eq!(files(&output).len(), 4);
        let (output, input) = (output.clone(), input.clone());
        assert_eq!([output.join("_dedup/undone.jsonl"), input.join("a1")].map(|path| path.exists()), [false; 2]);
    };
    for to in ["../in/a0", "/etc/passwd", "", ".", "a/../../in/a0", "_dedup/moved.jsonl", "_dedup/x/y", "_dedup"] {
        refused(manifest.replace("\"to\":\"a1\"", &format!("\"to\":\"{to}\"")), "to", to);
    }
    let from = manifest.split("\"from\":\"").nth(1).unwrap().split('"').next().unwrap();
    let root = output.canonicalize().unwrap();
    symlink("out/_dedup", folder.path().join("link")).unwrap();
    let above = folder.path().canonicalize().unwrap();
    for to in [
        root.join("_dedup/undone.jsonl"),
        root.join("_dedup/new"),
        root.join("x/../_dedup/undone.jsonl"),
        above.join("link/undone.jsonl"),
        "in/a1".into(),
        "/".into(),
    ] {
        let to = to.to_str().unwrap();
        refused(manifest.replacen(&format!("\"from\":\"{from}\""), &format!("\"from\":\"{to}\""), 1), "from", to);
    }
    // A line without an end takes no memory.
    fs::write(&path, " ".repeat(2 << 20)).unwrap();
    assert!(undo(&output, &()).unwrap_err().to_string().contains("it is longer than 1048576 bytes"));
    fs::write(&path, manifest).unwrap();
    assert_eq!(undo(&output, &()).unwrap().moved, 4);
}

/// A link in the folder leads to files of someone else.
#[test]
fn links_in_the_folder_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (two_groups(folder.path()), folder.path().join("out"));
    clean(&input, &output, &());
    let victim = folder.path().join("victim");
    fs::create_dir_all(victim.join("empty")).unwrap();
    fs::rename(output.join("a1"), victim.join("s.txt")).unwrap();
    symlink("../victim", output.join("ln")).unwrap();
    let path = output.join("_dedup/moved.jsonl");
    let manifest = fs::read_to_string(&path).unwrap();
    for to in ["ln/s.txt", "ln/empty/s.txt"] {
        fs::write(&path, manifest.replace("\"to\":\"a1\"", &format!("\"to\":\"{to}\""))).unwrap();
        let watch = meddler(|_| {});
        let undone = undo(&output, &watch).unwrap();
        let problems = watch.problems.into_inner().unwrap().join("\n");
        assert_eq!(undone.failed, 1, "{problems}");
        assert!(problems.contains(" is a symbolic link now"), "{problems}");
        assert!(victim.join("s.txt").exists() && victim.join("empty").exists() && !input.join("a1").exists());
    }
}

/// What somebody else put where a run describes its output.
#[test]
fn files_of_the_folder_that_are_none_are_refused() {
    let shell = Shell::new();
    two_groups(shell.folder());
    let run = |line: &str| shell.sh(&format!("ulimit -v 4000000; timeout 20 dedup {line}"));
    let moves = "clean in --move-duplicates out --shingle 3 --threshold 0.9 -q";
    run(moves).done();
    shell.sh("cp -a out moved; touch victim").done();
    for name in [".lock", "moved.jsonl", "state.json", "summary.json", "done", "undone.jsonl"] {
        for make in ["ln -s /dev/zero", "mkfifo", "ln -s ../../victim", "ln -s ../../made"] {
            shell.sh(&format!("rm -rf out; cp -a moved out; rm -f out/_dedup/{name}; {make} out/_dedup/{name}")).done();
            for line in ["clean --undo out -q", moves, "clean in --output out -q"] {
                let run = run(line);
                assert_eq!(run.status, 2, "{name}, {make}, {line}: {}", run.stderr);
                assert!(run.stderr.contains(&format!("out/_dedup/{name} is ")), "{}", run.stderr);
            }
            assert_eq!(files(&shell.folder().join("out")).len(), 4);
            assert_eq!(fs::read_to_string(shell.folder().join("victim")).unwrap(), "");
            assert!(!shell.folder().join("made").exists());
        }
    }
    shell.sh("rm -rf out; cp -a moved out; mv out/_dedup own; ln -s ../own out/_dedup").done();
    let refused = run("clean --undo out -q");
    assert!(refused.status == 2 && refused.stderr.contains("out/_dedup is a symbolic link"), "{}", refused.stderr);
}

/// The advice when a folder cannot be continued must not lose what moved there.
#[test]
fn nobody_is_advised_to_remove_what_moved() {
    let shell = Shell::new();
    two_groups(shell.folder());
    shell.dedup("clean in --move-duplicates out --shingle 3 -q").done();
    let advised = |arguments: &str, why: &str| {
        let run = shell.dedup(arguments);
        let expected = format!(
            "out holds 4 files that an earlier run moved ({why}): use another folder, or first move them back with --undo"
        );
        assert!(run.status == 2 && run.stderr.contains(&expected), "{}", run.stderr);
        assert!(!run.stderr.contains("remove"), "{}", run.stderr);
    };
    advised("clean in --move-duplicates out --shingle 4", "with another shingle: 3 there, 4 now");
    advised("clean in --output out --shingle 3", "with another source of moved files: [\"in\"] there, nothing now");
    shell.write("in/new.txt", "a text that is new");
    advised("clean in --move-duplicates out --shingle 3", "the input has changed since: in/new.txt is new");
    shell.sh("rm in/new.txt; echo more >> in/a0").done();
    advised("clean in --move-duplicates out --shingle 3", "in/a0 has changed since this run began");
    shell.sh("rm in/a0").done();
    advised("clean in --move-duplicates out --shingle 3", "in/a0 is not an input now");
    assert_eq!(files(&shell.folder().join("out")).len(), 4);
}

/// A file that cannot move for now, here because a file is in the place of a folder, moves later.
#[test]
fn what_the_system_refused_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let (flat, output) = (two_groups(folder.path()), folder.path().join("out"));
    let input = folder.path().join("deep");
    fs::create_dir_all(input.join("x")).unwrap();
    fs::rename(flat, input.join("x/y")).unwrap();
    let before = tree(&input);
    let in_the_way = output.join("x");
    for (round, change_too) in [false, true].into_iter().enumerate() {
        let changed = input.join("x/y/b1");
        let watch = meddler(|after| {
            if after == 0 {
                fs::write(&in_the_way, "in the way").unwrap();
                if change_too {
                    replace_by_equal(&changed);
                    fs::rename(changed.with_extension("old"), folder.path().join("old")).unwrap();
                }
            }
        });
        let cleaned = clean(&input, &output, &watch);
        let problems = watch.problems.into_inner().unwrap().join("\n");
        let dropped = u64::from(change_too);
        assert_eq!((cleaned.stayed, cleaned.failed, cleaned.to_retry), (4, 4, 4 - dropped), "{problems}");
        assert_eq!(files(&output).len(), 1, "{problems}");
        for _ in 0..2 {
            let again = retried(&input, &output);
            assert_eq!((again.stayed, again.to_retry, again.was_complete), (4, 4 - dropped, false), "round {round}");
        }
        fs::remove_file(&in_the_way).unwrap();
        let again = retried(&input, &output);
        assert_eq!((again.files_written, again.stayed, again.to_retry), (4 - dropped, dropped, 0));
        assert!(retried(&input, &output).was_complete);
        assert_eq!(files(&output).len() as u64, 4 - dropped);
        let retired = undo(&output, &()).unwrap();
        assert_eq!((retired.moved, retired.failed), (4 - dropped, 0));
        if !change_too {
            assert_eq!(tree(&input), before);
        }
    }
}

/// Runs again.
fn retried(input: &Path, output: &Path) -> Cleaned {
    continued(input, output).unwrap().0
}

/// The same. Returns the problems too.
fn continued(input: &Path, output: &Path) -> Result<(Cleaned, String), Error> {
    let factory = factory("minhash", &[("threshold", "0.9"), ("shingle", "3")]);
    let watch = meddler(|_| {});
    let cleaned = move_duplicates(&[input.to_path_buf()], Some(output), &factory, &CleanOptions::default(), &watch)?;
    Ok((cleaned, watch.problems.into_inner().unwrap().join("\n")))
}

/// Moves back. Returns the numbers of files that moved, that were back, and that failed, and the problems.
fn undone(output: &Path) -> ([u64; 3], String) {
    let watch = meddler(|_| {});
    let Undone { moved, were_back, failed, .. } = undo(output, &watch).unwrap();
    ([moved, were_back, failed], watch.problems.into_inner().unwrap().join("\n"))
}

/// The names of the files that are listed as moved, or to be moved.
fn listed(output: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(output.join("_dedup/moved.jsonl")).unwrap();
    records::moved(&manifest).into_iter().map(|line| line.to).collect()
}

/// Of the duplicates of `a0`, `a1` has moved, and `x/y/a2` is to be tried again: a file is in the place of a folder.
fn half_moved(folder: &Path) -> (PathBuf, PathBuf, PathBuf) {
    let (input, output) = (two_groups(folder), folder.join("out"));
    ["b0", "b1", "b2"].iter().for_each(|name| fs::remove_file(input.join(name)).unwrap());
    fs::create_dir_all(input.join("x/y")).unwrap();
    fs::rename(input.join("a2"), input.join("x/y/a2")).unwrap();
    let in_the_way = output.join("x");
    let watch = meddler(|after| {
        if after == 0 {
            fs::write(&in_the_way, "in the way").unwrap()
        }
    });
    let cleaned = clean(&input, &output, &watch);
    assert_eq!((cleaned.files_written, cleaned.stayed, cleaned.to_retry), (1, 1, 1));
    assert_eq!(listed(&output), ["a1", "x/y/a2"]);
    (input, output, in_the_way)
}

/// What has moved stays listed, whatever becomes of it before the rest can move.
#[test]
fn a_move_that_is_continued_forgets_no_file() {
    type Change = fn(&Path, &Path);
    let edit: Change = |_, there| fs::write(there, "edited").unwrap();
    let take: Change = |_, there| fs::rename(there, there.with_file_name("../taken")).unwrap();
    let replace: Change = |here, there| {
        fs::write(there, "edited").unwrap();
        fs::write(here, "new here").unwrap();
    };
    let cases = [
        (edit, "it is gone: ", "out/a1 is another file, or was changed after it moved there"),
        (take, "it is gone: it is not at ", "out/a1 either"),
        (replace, "it stays: there is another file at ", "out/a1, which is not overwritten"),
    ];
    for (number, (change, start, end)) in cases.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let (input, output, in_the_way) = half_moved(folder.path());
        let (here, there) = (input.join("a1"), output.join("a1"));
        let before = fs::read(&there).unwrap();
        change(&here, &there);
        for is_blocked in [true, true, false] {
            if !is_blocked {
                fs::remove_file(&in_the_way).unwrap();
            }
            let (cleaned, problems) = continued(&input, &output).unwrap();
            assert!(problems.contains(&format!("in/a1: {start}")) && problems.contains(end), "{problems}");
            let retried = u64::from(is_blocked);
            assert_eq!((cleaned.failed, cleaned.to_retry), (1 + retried, retried), "{number}: {problems}");
            assert_eq!(listed(&output), ["a1", "x/y/a2"], "{number}");
        }
        let (counts, problems) = undone(&output);
        assert_eq!(counts, [1, 0, 1], "{number}: {problems}");
        assert!(problems.contains("out/a1: it is not moved back: "), "{problems}");
        assert_eq!(listed(&output), ["a1", "x/y/a2"], "{number}");
        match number {
            0 => fs::rename(&there, &here).unwrap(),
            1 => fs::rename(folder.path().join("taken"), &there).unwrap(),
            _ => {
                fs::remove_file(&here).unwrap();
                fs::write(&there, &before).unwrap();
            }
        }
        let (counts, problems) = undone(&output);
        assert_eq!(counts, if number == 0 { [0, 2, 0] } else { [1, 1, 0] }, "{number}: {problems}");
        assert_eq!(fs::read(&here).unwrap(), if number == 0 { b"edited".to_vec() } else { before });
        assert!(files(&output).is_empty() && undo(&output, &()).unwrap().was_complete);
    }
}

/// An interrupted run left a file with both names, and then the kept file changed.
#[test]
fn a_file_that_is_half_moved_stays_listed() {
    for way in [|from: &Path, to: &Path| fs::hard_link(from, to).unwrap(), copy_with_time] {
        let folder = tempfile::tempdir().unwrap();
        let (input, output, in_the_way) = half_moved(folder.path());
        fs::rename(output.join("a1"), input.join("a1")).unwrap();
        way(&input.join("a1"), &output.join("a1"));
        forge(&input.join("a0"));
        fs::remove_file(in_the_way).unwrap();
        let (cleaned, problems) = continued(&input, &output).unwrap();
        assert_eq!((cleaned.files_written, cleaned.stayed), (0, 2), "{problems}");
        assert_eq!(listed(&output), ["a1"], "what is in the folder");
        assert_eq!(undone(&output).0, [0, 1, 0]);
        assert!(input.join("a1").exists() && files(&output).is_empty());
    }
}

fn copy_with_time(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
    let time = fs::metadata(from).unwrap().modified().unwrap();
    fs::File::options().write(true).open(to).unwrap().set_modified(time).unwrap();
}

/// Files are gone, and others have their names.
#[test]
fn another_file_at_the_old_place_is_not_the_one_that_moved() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (two_groups(folder.path()), folder.path().join("out"));
    clean(&input, &output, &());
    // These were moved back by hand, as they were, and after they had changed.
    fs::rename(output.join("b1"), input.join("b1")).unwrap();
    fs::write(output.join("b2"), "edited").unwrap();
    for (name, text) in [("a1", "of another"), ("a2", "of a third")] {
        fs::remove_file(output.join(name)).unwrap();
        fs::write(input.join(name), text).unwrap();
    }
    let manifest = output.join("_dedup/moved.jsonl");
    for round in 0..2 {
        let (counts, problems) = undone(&output);
        assert_eq!(counts, if round == 0 { [0, 1, 3] } else { [0, 2, 2] }, "{problems}");
        let old = format!("it is no longer there, and {} is another file: put it back, or", input.join("a1").display());
        assert!(problems.contains("out/a1: it is not moved back: ") && problems.contains(&old), "{problems}");
        let changed = format!("it changed since it was moved: move it to {} yourself", input.join("b2").display());
        assert_eq!(problems.contains(&changed), round == 0, "{problems}");
        assert_eq!(listed(&output), ["a1", "a2", "b1", "b2"]);
        if round == 0 {
            fs::rename(output.join("b2"), input.join("b2")).unwrap();
        }
    }
    // Nothing is left in the folder, but the list is needed.
    assert!(files(&output).is_empty());
    let refused = continued(&input, &output).unwrap_err().to_string();
    assert!(refused.contains("not all moved back"), "{refused}");
    for failed in [1, 0] {
        let lines = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, lines.split_once('\n').unwrap().1).unwrap();
        assert_eq!(undone(&output).0, [0, 2, failed]);
    }
    assert!(!manifest.exists() && undo(&output, &()).unwrap().was_complete);
    assert_eq!(fs::read_to_string(input.join("a1")).unwrap(), "of another");
    assert_eq!(fs::read_to_string(input.join("b2")).unwrap(), "edited");
}

/// The superuser writes everywhere, and so runs the program as somebody else.
#[test]
fn folders_that_cannot_be_written_keep_their_files() {
    let shell = Shell::new();
    let input = two_groups(shell.folder());
    let mut command = shell.command("clean in --move-duplicates out --shingle 3");
    fs::set_permissions(&input, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(input.join("probe"), "").is_ok() {
        fs::remove_file(input.join("probe")).unwrap();
        // The program may be where nobody else can read it.
        fs::copy(env!("CARGO_BIN_EXE_dedup"), shell.folder().join("dedup")).unwrap();
        chown(shell.folder(), Some(NOBODY), Some(NOBODY)).unwrap();
        let arguments: Vec<_> = command.get_args().map(OsStr::to_os_string).collect();
        command = Command::new(shell.folder().join("dedup"));
        command.args(arguments).env_clear().current_dir(shell.folder()).uid(NOBODY).gid(NOBODY);
    }
    let before = tree(&input);
    let output = loop {
        match command.output() {
            // A child of another test still has the copy open for writing.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => thread::yield_now(),
            output => break output.unwrap(),
        }
    };
    let run = Run::from(output);
    assert_eq!(run.status, 3, "{}", run.stderr);
    assert!(run.stderr.contains("it stays: Permission denied"), "{}", run.stderr);
    assert_eq!(tree(&input), before);
    fs::set_permissions(&input, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A user and a group without rights.
const NOBODY: u32 = 65534;
