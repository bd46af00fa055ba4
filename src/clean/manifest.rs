//! The manifest of files that move, `moved.jsonl`: written to the disk before the first one moves.

use super::inputs::{File, Inputs, OWN, Stamp, Version};
use super::relocate::{Content, changed};
use crate::error::Error;
use crate::source::{Problem, ProblemKind, Severity, display_path, path_of};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, BufRead, Read};
use std::path::{Component, Path, PathBuf};

/// The name of the manifest, and its name when everything has moved back.
pub(super) const MANIFEST: &str = "moved.jsonl";
pub(super) const RETIRED: &str = "undone.jsonl";

/// A file that is not kept.
#[derive(Clone, Debug)]
pub(super) struct Duplicate {
    /// Its number among the inputs.
    pub file: usize,
    /// The file of the kept document, and its record if it has several.
    pub kept: String,
    pub record: Option<u64>,
    pub similarity: f64,
}

/// A line of the manifest. Paths are written as in records, without loss.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename = "moved")]
pub(super) struct Line {
    /// The path in records.
    pub file: String,
    /// The absolute path without symbolic links.
    pub from: String,
    /// The path below the folder that it moves to.
    pub to: String,
    #[serde(flatten)]
    pub content: Content,
    pub modified: String,
    pub inode: u64,
    pub kept: KeptFile,
    pub similarity: f64,
    /// The content with which it did not move back, because it had changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Content>,
}

/// The file that holds the kept document.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KeptFile {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// The absolute path.
    pub path: String,
    #[serde(flatten)]
    pub content: Content,
    pub modified: String,
    pub inode: u64,
}

impl Line {
    pub fn from(&self) -> PathBuf {
        path_of(&self.from)
    }

    pub fn to(&self) -> PathBuf {
        path_of(&self.to)
    }

    /// Whether a file has this content, or the one that it had when it did not move back.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_in(&self, path: &Path) -> io::Result<bool> {
        let is_changed = || self.changed.as_ref().map_or(Ok(false), |changed| changed.is_in(path));
        Ok(self.content.is_in(path)? || is_changed()?)
    }

    /// The line as it is written.
    pub fn written(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers make JSON") + "\n"
    }
}

/// A line with the text that it was read from or is written as.
pub(super) type Written = (Line, String);

/// The maximum length of a line in bytes: some paths, each character of which may be escaped.
const MAX_LINE: u64 = 1 << 20;

/// Reads a manifest.
///
/// # Errors
/// A line is not what a run wrote.
pub(super) fn read(mut lines: impl BufRead, path: &Path) -> Result<Vec<Written>, Error> {
    let own = path.parent().and_then(|own| own.canonicalize().ok());
    let mut read = Vec::new();
    for number in 1.. {
        let cannot = |error| Error::input(format!("cannot read {}:{number}", path.display()), error);
        let Some(text) = next_line(&mut lines).map_err(cannot)? else { break };
        let not_ours = |why: String| cannot(io::Error::other(format!("it is not a line that a run wrote{why}")));
        let line: Line = serde_json::from_str(&text).map_err(|_| not_ours(String::new()))?;
        if let Some((name, value)) = wrong_path(&line, own.as_deref()) {
            return Err(not_ours(format!(": '{name}' is '{value}'")));
        }
        read.push((line, text + "\n"));
    }
    Ok(read)
}

fn next_line(lines: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    lines.take(MAX_LINE).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.len() as u64 == MAX_LINE && !bytes.ends_with(b"\n") {
        return Err(io::Error::other(format!("it is not a line that a run wrote: it is longer than {MAX_LINE} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_string()))
}

/// The first path of a line that no run writes, with its name: one that leads out of the folder, or into that which
/// describes it.
fn wrong_path<'a>(line: &'a Line, own: Option<&Path>) -> Option<(&'static str, &'a str)> {
    let (from, to) = (line.from(), line.to());
    let is_own = |path: &Path| {
        let real = path.parent().and_then(|folder| folder.canonicalize().ok());
        real.zip(own).is_some_and(|(real, own)| real.starts_with(own))
    };
    let is_plain =
        |path: &Path| !path.components().any(|part| part == Component::ParentDir) && path.file_name().is_some();
    if !from.is_absolute() || !is_plain(&from) || is_own(&from) {
        return Some(("from", &line.from));
    }
    let is_below = to.components().all(|part| matches!(part, Component::Normal(_))) && !to.starts_with(OWN);
    let is_in_own = || own.and_then(Path::parent).is_some_and(|root| is_own(&root.join(&to)));
    (!is_below || !is_plain(&to) || is_in_own()).then_some(("to", &line.to))
}

/// The files that can move, each with what it duplicates, and why others stay.
pub(super) type Movable<'a> = (Vec<(&'a File, &'a Duplicate)>, Vec<Problem>);

/// The files that can move.
///
/// All names of a file that are names of the input move, so that none of them is left over. A file that is also read
/// through a symbolic link stays: the link would lead nowhere, and a link that is moved may lead elsewhere.
pub(super) fn movable<'a>(inputs: &'a Inputs, duplicates: &'a [Duplicate]) -> Movable<'a> {
    let mut further: HashMap<usize, Vec<&File>> = HashMap::new();
    for same in &inputs.same {
        further.entry(same.of).or_default().push(&same.file);
    }
    let (mut moves, mut stay) = (Vec::new(), Vec::new());
    for duplicate in duplicates {
        let first = &inputs.files[duplicate.file];
        let names = || std::iter::once(first).chain(further.get(&duplicate.file).into_iter().flatten().copied());
        if let Some(link) = names().find(|file| is_through_link(file)) {
            let message = match link.shown == first.shown {
                true => "a symbolic link, or in a folder that is one: it stays".to_string(),
                false => format!("{} is a symbolic link to it, or leads through one: it stays", link.shown),
            };
            stay.push(Problem::new(Severity::Skipped, ProblemKind::SameFile, &first.shown, None, message));
            continue;
        }
        // A path may be given twice.
        let mut places = HashSet::new();
        let is_new = |file: &&File| real(&file.path).is_ok_and(|place| places.insert(place));
        moves.extend(names().filter(is_new).map(|file| (file, duplicate)));
    }
    (moves, stay)
}

/// Whether a file, or a folder between the given path and it, is a symbolic link.
fn is_through_link(file: &File) -> bool {
    let depth = file.output.components().count();
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    file.path.ancestors().take(depth).any(is_link)
}

/// The place of a file: absolute, and in a folder without symbolic links.
fn real(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let (folder, name) = absolute.parent().zip(absolute.file_name()).ok_or(io::ErrorKind::IsADirectory)?;
    Ok(folder.canonicalize()?.join(name))
}

/// The lines of these files. Those that have changed since they were listed have none, and neither have duplicates of
/// those.
pub(super) fn lines(moves: &[(&File, &Duplicate)], inputs: &Inputs, references: &Inputs) -> (Vec<Line>, Vec<Problem>) {
    let known = inputs.files.iter().chain(&references.files).map(|file| (file.shown.as_str(), file));
    let known: HashMap<&str, &File> = known.collect();
    let mut contents: HashMap<&str, Result<KeptFile, String>> = HashMap::new();
    let (mut lines, mut stay) = (Vec::new(), Vec::new());
    for (file, duplicate) in moves {
        let kept = contents.entry(&duplicate.kept).or_insert_with(|| {
            let of = || kept_file(known.get(duplicate.kept.as_str()).ok_or_else(changed)?);
            of().map_err(|error| format!("it stays, because of {}, which is kept: {error}", duplicate.kept))
        });
        let line = kept.clone().and_then(|kept| {
            let kept = KeptFile { record: duplicate.record, ..kept };
            line(file, kept, duplicate.similarity).map_err(|error| format!("it stays: {error}"))
        });
        match line {
            Ok(line) => lines.push(line),
            Err(why) => stay.push(Problem::new(Severity::Failed, ProblemKind::Changed, &file.shown, None, why)),
        }
    }
    (lines, stay)
}

fn line(file: &File, kept: KeptFile, similarity: f64) -> io::Result<Line> {
    let content = content_as_listed(file)?;
    Ok(Line {
        file: file.shown.clone(),
        from: display_path(&real(&file.path)?),
        to: file.shown_output.clone(),
        content,
        modified: file.stamp.modified.clone(),
        inode: file.version.inode,
        kept,
        similarity,
        changed: None,
    })
}

fn kept_file(file: &File) -> io::Result<KeptFile> {
    Ok(KeptFile {
        file: file.shown.clone(),
        record: None,
        path: display_path(&std::path::absolute(&file.path)?),
        content: content_as_listed(file)?,
        modified: file.stamp.modified.clone(),
        inode: file.version.inode,
    })
}

/// The content of a file that is as it was before it was scanned.
fn content_as_listed(file: &File) -> io::Result<Content> {
    let check = || {
        let found = fs::metadata(&file.path)?;
        let is_as_listed = (Stamp::of(&found), Version::of(&found)) == (file.stamp.clone(), file.version);
        if is_as_listed { Ok(()) } else { Err(changed()) }
    };
    check()?;
    let content = Content::of(&file.path)?;
    check().map(|()| content)
}
