//! The checkpoint of an index: its tables in files beside the log, so that opening reads only the end of the log.
//!
//! ```text
//! seen.idx                       the log
//! seen.idx.tables/segment-7      tables of consecutive documents (segment.rs); never changed once it is complete
//! seen.idx.tables/checkpoint     the segments of a state of the index, and its place in the log
//! ```
//!
//! Only the log matters. A checkpoint that is missing, damaged, of another log or of tables that were chosen otherwise is
//! ignored, and the next writer makes one. It is recognised by a digest of all frames of the log before its place, which a
//! note at that place has: so it is not taken for that of a log that was replaced or grew differently.
//!
//! Up to its place the log was on the disk. So a log that ends within a record before it is damaged, and a writer removes the
//! checkpoint of a longer log.
//!
//! The file `checkpoint` is replaced as a whole, after the segments that it names are on the disk. Segments that it no
//! longer names are removed afterwards, their content a little at a time (retired.rs). A process that is killed leaves segments
//! that no checkpoint names; the next writer removes them, and the file of a checkpoint that was not complete.

use super::entry::NO_PLACE;
use super::file::{fault, sync_folder};
use super::forgetting::Forgetting;
use super::options::Limits;
use super::repeat::DIGEST;
use super::retired::hold;
use super::unconfirmed::Left;
use crate::error::{Error, IndexFault};
use crate::replace::{Links, Replacement, open_regular, remove_stale, resolve};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The version of segments and checkpoints, raised whenever the content of a table changes. Others are ignored.
const VERSION: u64 = 7;

const FIRST_LINE: &str = "dedup tables";

/// The maximum size of the file `checkpoint`, in bytes.
const MOST: u64 = 1 << 20;

/// A note in the log that marks a place for a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The place of its frame.
    pub place: u64,
    /// The digest of all frames before it.
    pub digest: u64,
    /// The end of its frame.
    pub end: u64,
}

impl Mark {
    /// The words of the note.
    pub fn words(&self) -> [u64; 2] {
        [DIGEST, NO_PLACE | self.digest >> 1]
    }
}

/// The state of an index that a checkpoint has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manifest {
    /// The hash of how the signatures and tables were made.
    pub identity: u64,
    /// Whether documents are found by their ids alone too.
    pub has_names: bool,
    /// Where in the log.
    pub mark: Mark,
    /// Whether a frame before the place marks that what precedes is on the disk.
    pub has_marks: bool,
    /// Where decisions are that can be repeated, if the place of the checkpoint is among them.
    pub notes: Option<Notes>,
    /// What the last run forgot that noted it before this place.
    pub forgetting: Forgetting,
    /// What the log says before this place of what has left.
    pub left: Left,
    /// Documents that these limits forget may be missing.
    pub limits: Limits,
    /// The segments: the number, the end of the documents and the checksum of each.
    pub segments: Vec<Named>,
}

/// A place of the log that decisions follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Notes {
    /// The place of an entry.
    pub place: u64,
    /// How many of the last decisions follow it at least; `None` if all of its part of the log do.
    pub follow: Option<u64>,
}

/// A segment, as a checkpoint names it: its number, the end of its documents, and its checksum, so that the segment of
/// another state or another index with the same number is not taken for it.
pub(super) type Named = (u64, u32, u64);

impl Manifest {
    fn write(&self) -> String {
        let Manifest { identity, has_names, mark, has_marks, notes, forgetting, left, limits, segments } = self;
        let value = json!({
            "version": VERSION, "identity": format!("{identity:016x}"), "place": mark.place, "end": mark.end,
            "digest": format!("{:016x}", mark.digest), "has_marks": has_marks, "has_names": has_names,
            "notes": notes.map(|notes| notes.place), "notes_follow": notes.and_then(|notes| notes.follow),
            "last_window": forgetting.window, "last_expire": forgetting.expire, "left": left.value(), "window": limits.window, "expire": limits.expire, "segments": segments,
        });
        let text = format!("{FIRST_LINE}\n{value}\n");
        let check = xxh3_64(text.as_bytes());
        format!("{text}{check:016x}\n")
    }

    fn parse(text: &str) -> Option<Self> {
        let (checked, check) = text.strip_suffix('\n')?.rsplit_once('\n')?;
        let checked = &text[..checked.len() + 1];
        (hex(check)? == xxh3_64(checked.as_bytes())).then_some(())?;
        let value: Value = serde_json::from_str(checked.strip_prefix(FIRST_LINE)?).ok()?;
        let number = |name: &str| value.get(name)?.as_u64();
        (number("version")? == VERSION).then_some(())?;
        let hash = |name: &str| hex(value.get(name)?.as_str()?);
        let segment = |segment: &Value| {
            let number = |at: usize| segment.get(at)?.as_u64();
            Some((number(0)?, number(1)?.try_into().ok()?, number(2)?))
        };
        Some(Manifest {
            identity: hash("identity")?,
            mark: Mark { place: number("place")?, digest: hash("digest")?, end: number("end")? },
            has_names: value.get("has_names").is_some_and(|has_names| has_names == true),
            has_marks: value.get("has_marks")?.as_bool()?,
            notes: number("notes").map(|place| Notes { place, follow: number("notes_follow") }),
            forgetting: Forgetting { window: number("last_window"), expire: number("last_expire") },
            left: Left::of_value(number("left")),
            limits: Limits { window: number("window"), expire: number("expire"), ..Limits::default() },
            segments: value.get("segments")?.as_array()?.iter().map(segment).collect::<Option<_>>()?,
        })
    }

    /// The documents of each segment.
    pub fn documents(&self) -> impl Iterator<Item = Range<u32>> {
        let ends = self.segments.iter().map(|&(_, end, _)| end);
        std::iter::once(0).chain(ends.clone()).zip(ends).map(|(start, end)| start..end)
    }

    /// Whether it has all documents that an index with these limits remembers.
    pub fn suits(&self, limits: &Limits) -> bool {
        let is_as_strict =
            |made: Option<u64>, now: Option<u64>| made.is_none_or(|made| now.is_some_and(|now| now <= made));
        is_as_strict(self.limits.window, limits.window) && is_as_strict(self.limits.expire, limits.expire)
    }
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16)
}

/// The folder beside an index that holds its tables. Nobody else may write to it.
pub fn tables_folder(index: &Path) -> PathBuf {
    Checkpoint::of(index).folder
}

/// The error for an index that is not there.
pub(super) fn missing(path: &Path) -> Error {
    let checkpoint = Checkpoint::of(path);
    let message = match checkpoint.exists() {
        true => format!(
            "the file does not exist, but {} is the checkpoint of an index that was here: put the index or a copy of it back",
            checkpoint.folder().display()
        ),
        false => "the file does not exist: check its path".to_string(),
    };
    fault(path, IndexFault::Missing, &message)
}

/// The folder of a checkpoint.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    folder: PathBuf,
    /// The index.
    index: PathBuf,
}

impl Checkpoint {
    /// That of the index at a path: beside the file itself, if the path is a link to it.
    pub fn of(index: &Path) -> Self {
        // The file may be missing.
        let file = index.is_symlink().then(|| resolve(index).ok()).flatten();
        let index = file.unwrap_or_else(|| index.to_path_buf());
        let mut folder = index.clone().into_os_string();
        folder.push(".tables");
        Checkpoint { folder: folder.into(), index }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self) -> PathBuf {
        self.folder.join("checkpoint")
    }

    /// Whether the folder is there. A link with its name leads to files of someone else.
    fn is_there(&self) -> bool {
        fs::symlink_metadata(&self.folder).is_ok_and(|found| found.is_dir())
    }

    /// Whether there is one, of any version, whole or not.
    pub fn exists(&self) -> bool {
        self.is_there() && fs::symlink_metadata(self.file()).is_ok_and(|found| found.is_file())
    }

    /// The state that it has, if it is whole.
    pub fn read(&self) -> Option<Manifest> {
        if !self.is_there() {
            return None;
        }
        let mut text = String::new();
        open_table(&self.file()).ok()?.take(MOST).read_to_string(&mut text).ok()?;
        Manifest::parse(&text)
    }

    /// Replaces the state. The segments that it names must be on the disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, manifest: &Manifest) -> io::Result<()> {
        // A link could lead to a file of someone else, and another name is that of a copy, which stays as it is.
        if fs::symlink_metadata(self.file()).is_ok_and(|found| found.is_symlink() || has_names(&found)) {
            fs::remove_file(self.file())?;
        }
        let mut new = Replacement::new(&self.file())?;
        self.restrict(new.file());
        new.file().write_all(manifest.write().as_bytes())?;
        new.file().sync_all()?;
        new.commit()?;
        sync_folder(&self.file());
        Ok(())
    }

    /// The path of a segment.
    pub fn segment(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{SEGMENT}{number}"))
    }

    /// Whether this process may make segments. Makes the folder, if it is not there.
    pub fn can_be_made(&self) -> bool {
        self.make_folder().and_then(|()| tempfile::tempfile_in(&self.folder)).is_ok()
    }

    fn make_folder(&self) -> io::Result<()> {
        if !self.is_there() {
            fs::create_dir(&self.folder)?;
            self.restrict_folder();
        }
        Ok(())
    }

    /// Makes the file of a new segment, and the folder.
    ///
    /// # Errors
    /// The file or the folder cannot be made, or the file is there.
    pub fn new_segment(&self, number: u64) -> io::Result<(File, PathBuf)> {
        self.make_folder()?;
        let path = self.segment(number);
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        hold(&file)?;
        self.restrict(&file);
        Ok((file, path))
    }

    /// Nobody may read the tables who may not read the index.
    #[cfg(unix)]
    fn restrict(&self, file: &File) {
        _ = fs::metadata(&self.index).and_then(|found| file.set_permissions(found.permissions()));
    }

    #[cfg(unix)]
    fn restrict_folder(&self) {
        use std::os::unix::fs::PermissionsExt;
        // Whoever may read or write files may also list or change the folder.
        let mode = |mode: u32| mode & 0o666 | (mode & 0o444) >> 2 | 0o700;
        _ = fs::metadata(&self.index).and_then(|found| {
            let permissions = fs::Permissions::from_mode(mode(found.permissions().mode()));
            fs::set_permissions(&self.folder, permissions)
        });
    }

    #[cfg(not(unix))]
    fn restrict(&self, _: &File) {}

    #[cfg(not(unix))]
    fn restrict_folder(&self) {}

    /// The numbers of all segments that are there, whether a checkpoint names them or not.
    fn segments(&self) -> Vec<u64> {
        if !self.is_there() {
            return Vec::new();
        }
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        entries.filter_map(|entry| number_of(entry.ok()?.file_name().to_str()?)).collect()
    }

    /// Removes all segments but these, and checkpoints that killed processes began to write. Returns a number above those of
    /// all segments that were there.
    pub fn clean(&self, keep: impl Fn(u64) -> bool) -> u64 {
        // A link leads to files of someone else.
        if self.is_there() && !self.file().is_symlink() {
            remove_stale(&self.file());
        }
        let all = self.segments();
        all.iter().filter(|&&number| !keep(number)).for_each(|&number| _ = fs::remove_file(self.segment(number)));
        let next = all.iter().max().map_or(0, |last| last + 1);
        // A number at the end is not one that was counted up to.
        if next < MOST_NUMBER / 2 { next } else { (0..).find(|number| !all.contains(number)).unwrap_or_default() }
    }

    /// Removes the checkpoint with all segments.
    pub fn remove(&self) {
        if !self.is_there() {
            return;
        }
        // First, so that it never names what is missing.
        _ = fs::remove_file(self.file());
        self.clean(|_| false);
        // Unless there is something else in it.
        _ = fs::remove_dir(&self.folder);
    }
}

const SEGMENT: &str = "segment-";

/// Above the numbers of segments.
const MOST_NUMBER: u64 = 1 << 53;

/// Whether a file has several names.
#[cfg(unix)]
fn has_names(file: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(file) > 1
}

#[cfg(not(unix))]
fn has_names(_: &fs::Metadata) -> bool {
    false
}

/// Opens a file of the folder for reading.
///
/// # Errors
/// It is not there, is not a file, or cannot be read.
pub(super) fn open_table(path: &Path) -> io::Result<File> {
    open_regular(path, File::options().read(true), Links::Refused)
}

/// The number of the segment with this file name.
pub(super) fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(SEGMENT)?;
    digits.parse().ok().filter(|number: &u64| *number < MOST_NUMBER && number.to_string() == digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            identity: u64::MAX,
            has_names: true,
            mark: Mark { place: 5, digest: 7, end: 9 },
            has_marks: true,
            notes: Some(Notes { place: 3, follow: Some(7) }),
            forgetting: Forgetting { window: Some(8), expire: Some(9) },
            left: Left::Before(4),
            limits: Limits { window: Some(100), ..Limits::default() },
            segments: vec![(4, 10, 7), (2, 15, u64::MAX)],
        }
    }

    #[test]
    fn it_is_read_as_it_was_written_and_every_change_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("x.idx");
        let checkpoint = Checkpoint::of(&index);
        assert_eq!(checkpoint.read(), None);
        drop(checkpoint.new_segment(3).unwrap());
        assert!(checkpoint.new_segment(3).is_err());
        checkpoint.write(&manifest()).unwrap();
        assert_eq!(checkpoint.read(), Some(manifest()));
        assert!(manifest().documents().eq([0..10, 10..15]));
        let bytes = fs::read(checkpoint.file()).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            fs::write(checkpoint.file(), &changed).unwrap();
            assert_eq!(checkpoint.read(), None, "byte {at}");
            fs::write(checkpoint.file(), &bytes[..at]).unwrap();
            assert_eq!(checkpoint.read(), None, "cut at {at}");
        }
        // A copy made of links stays as it is.
        let copy = folder.path().join("copy");
        fs::write(checkpoint.file(), &bytes).unwrap();
        fs::hard_link(checkpoint.file(), &copy).unwrap();
        checkpoint.write(&Manifest { notes: None, ..manifest() }).unwrap();
        assert!(fs::read(&copy).unwrap() == bytes && checkpoint.read().unwrap().notes.is_none());
        checkpoint.write(&manifest()).unwrap();
        fs::write(checkpoint.folder().join("segment-x"), "").unwrap();
        fs::write(checkpoint.folder().join("segment-07"), "").unwrap();
        assert_eq!(checkpoint.clean(|number| number == 3), 4);
        let mut unfinished = Replacement::new(&checkpoint.file()).unwrap();
        let (live, stale) = (unfinished.path().to_path_buf(), checkpoint.folder().join(".checkpoint.dedup-3.tmp"));
        unfinished.file().write_all(b"some").unwrap();
        fs::write(&stale, "some").unwrap();
        checkpoint.clean(|_| true);
        assert!(live.exists() && !stale.exists(), "only what nobody writes is removed");
        drop(unfinished);
        checkpoint.remove();
        assert_eq!(fs::read_dir(checkpoint.folder()).unwrap().count(), 2, "only what is not ours is left");
    }

    #[test]
    fn limits_must_be_as_strict() {
        let with = |window, expire| Limits { window, expire, ..Limits::default() };
        let made = |limits| Manifest { limits, ..manifest() };
        assert!(made(with(None, None)).suits(&with(Some(5), None)) && made(with(None, None)).suits(&Limits::default()));
        assert!(made(with(Some(5), None)).suits(&with(Some(5), Some(1))));
        assert!(!made(with(Some(5), None)).suits(&with(Some(6), None)));
        assert!(!made(with(Some(5), Some(1))).suits(&with(Some(5), None)));
    }
}
