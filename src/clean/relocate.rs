//! One file moves to another name: by renaming it, or on another file system as a copy that is checked before the file is
//! removed. At no moment has it no name, and nothing is replaced.

use super::inputs::{Stamp, Version};
use crate::replace::{Replacement, hard_links, rename_new, sync_folder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// The number of bytes that are read at once.
const BLOCK: usize = 256 << 10;

/// What identifies the content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    pub bytes: u64,
    /// In hexadecimal digits, as `sha256sum` prints it.
    pub sha256: String,
}

impl Content {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (mut hash, mut bytes, mut block) = (Sha256::new(), 0, vec![0; BLOCK]);
        loop {
            match file.read(&mut block) {
                Ok(0) => break,
                Ok(length) => {
                    hash.update(&block[..length]);
                    bytes += length as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Content { bytes, sha256: hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    /// Whether a file has this content. A file of another length is not read.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_in(&self, path: &Path) -> io::Result<bool> {
        Ok(fs::metadata(path)?.len() == self.bytes && Content::of(path)? == *self)
    }
}

/// Which file has a name, as far as it can be seen without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub stamp: Stamp,
    pub device: u64,
    pub inode: u64,
}

impl Seen {
    pub fn of(found: &Metadata) -> Self {
        let Version { device, inode, .. } = Version::of(found);
        Seen { stamp: Stamp::of(found), device, inode }
    }
}

/// The metadata of what has this name, links not followed; `None` if nothing has.
///
/// # Errors
/// It cannot be known.
pub(super) fn found(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// How a file moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By renaming it, if both names are on one file system.
    Any,
    /// As a copy, as on another file system.
    #[cfg(test)]
    Copy,
}

/// Moves a file with this content to a free name. `last` is called immediately before.
///
/// # Errors
/// The file has another content, the name is taken, `last` fails, or the system refuses. The file stays where it is.
pub(super) fn relocate(
    from: &Path,
    to: &Path,
    content: &Content,
    way: Way,
    last: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let see = || found(from)?.filter(Metadata::is_file).map(|found| Seen::of(&found)).ok_or_else(changed);
    let before = see()?;
    if found(to)?.is_some() {
        return Err(taken());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    if !content.is_in(from)? {
        return Err(changed());
    }
    last()?;
    if see()? != before {
        return Err(changed());
    }
    let renamed = match way {
        Way::Any => rename_new(from, to),
        #[cfg(test)]
        Way::Copy => Err(io::ErrorKind::CrossesDevices.into()),
    };
    match renamed {
        Ok(()) if found(to)?.is_some_and(|found| Seen::of(&found) == before) => Ok(()),
        // The name went to another file in the last moment.
        Ok(()) => Err(rename_new(to, from).map_or_else(|error| misplaced(to, &error), |()| changed())),
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(from, to, content, &see, &before),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(taken()),
        Err(error) => Err(error),
    }
}

fn copy(
    from: &Path,
    to: &Path,
    content: &Content,
    see: &dyn Fn() -> io::Result<Seen>,
    before: &Seen,
) -> io::Result<()> {
    let names = hard_links(&fs::symlink_metadata(from)?);
    if names > 1 {
        return Err(io::Error::other(format!(
            "it has {names} names (hard links), which a copy on another file system would separate"
        )));
    }
    let mut new = Replacement::new(to)?;
    // Before the content, so that nobody else can read it; after it, because writing changes some.
    new.take_attributes(from)?;
    io::copy(&mut File::open(from)?, new.file())?;
    new.take_attributes(from)?;
    new.file().sync_all()?;
    if !content.is_in(new.path())? {
        return Err(changed());
    }
    new.commit_new().map_err(|error| if error.kind() == io::ErrorKind::AlreadyExists { taken() } else { error })?;
    let removed = match see()? == *before {
        true => fs::remove_file(from),
        false => Err(changed()),
    };
    if let Err(error) = removed {
        fs::remove_file(to)?;
        return Err(error);
    }
    sync_folder(from)
}

pub(super) fn changed() -> io::Error {
    io::Error::other("it changed since it was read")
}

fn misplaced(to: &Path, error: &io::Error) -> io::Error {
    let what = format!("another file took its name, is at {} now, and cannot be moved back", to.display());
    io::Error::other(format!("{what}: {error}"))
}

fn taken() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "there is a file at its new place, which is not overwritten")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    const WAYS: [Way; 2] = [Way::Any, Way::Copy];

    struct Fixture(tempfile::TempDir);

    impl Fixture {
        fn new() -> Self {
            let fixture = Fixture(tempfile::tempdir().unwrap());
            let from = fixture.at("from");
            fs::write(&from, "content").unwrap();
            fs::set_permissions(&from, fs::Permissions::from_mode(0o640)).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
            File::options().write(true).open(&from).unwrap().set_modified(time).unwrap();
            fixture
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn names(&self) -> Vec<String> {
            let found = walkdir::WalkDir::new(self.0.path()).min_depth(1).sort_by_file_name();
            let below = |path: &Path| path.strip_prefix(self.0.path()).unwrap().to_str().unwrap().to_string();
            found.into_iter().map(|entry| below(entry.unwrap().path())).collect()
        }

        fn relocate(&self, way: Way, last: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
            let content = Content { bytes: 7, sha256: SHA256.into() };
            relocate(&self.at("from"), &self.at("deep/to"), &content, way, last)
        }
    }

    /// `printf content | sha256sum`
    const SHA256: &str = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";

    #[test]
    fn content_mode_and_time_stay() {
        for way in WAYS {
            let fixture = Fixture::new();
            let before = fs::metadata(fixture.at("from")).unwrap();
            fixture.relocate(way, || Ok(())).unwrap();
            let after = fs::metadata(fixture.at("deep/to")).unwrap();
            assert_eq!(fs::read(fixture.at("deep/to")).unwrap(), b"content");
            let stated = |found: &Metadata| (found.mode(), found.modified().unwrap(), found.uid(), found.gid());
            assert_eq!(stated(&before), stated(&after));
            assert_eq!(before.ino() == after.ino(), way == Way::Any);
            assert_eq!(fixture.names(), ["deep", "deep/to"]);
        }
    }

    #[test]
    fn a_name_that_is_taken_is_not_replaced() {
        for way in WAYS {
            let fixture = Fixture::new();
            let to = fixture.at("deep/to");
            let last = || fs::write(&to, "meanwhile");
            assert!(fixture.relocate(way, last).unwrap_err().to_string().contains("not overwritten"));
            assert_eq!(fs::read(&to).unwrap(), b"meanwhile");
            assert_eq!(fs::read(fixture.at("from")).unwrap(), b"content");
            fs::remove_file(&to).unwrap();
            symlink("nowhere", &to).unwrap();
            assert!(fixture.relocate(way, || Ok(())).unwrap_err().to_string().contains("not overwritten"));
            assert_eq!(fixture.names(), ["deep", "deep/to", "from"]);
        }
    }

    #[test]
    fn a_file_that_changed_stays() {
        let changes: [fn(&Path); 5] = [
            |path| fs::write(path, "CONTENT").unwrap(),
            |path| fs::write(path, "content and more").unwrap(),
            |path| fs::remove_file(path).unwrap(),
            |path| {
                fs::rename(path, path.with_extension("old")).unwrap();
                fs::write(path, "content").unwrap();
            },
            |path| {
                fs::rename(path, path.with_extension("old")).unwrap();
                symlink(path.with_extension("old"), path).unwrap();
            },
        ];
        for way in WAYS {
            for (number, change) in changes.iter().enumerate() {
                for is_late in [false, true] {
                    // By content alone nothing changed before.
                    if number == 3 && !is_late {
                        continue;
                    }
                    let fixture = Fixture::new();
                    let from = fixture.at("from");
                    if !is_late {
                        change(&from);
                    }
                    let last = || {
                        if is_late {
                            change(&from);
                        }
                        Ok(())
                    };
                    assert!(fixture.relocate(way, last).is_err(), "{way:?} {number} {is_late}");
                    assert!(!fixture.at("deep/to").exists(), "{way:?} {number} {is_late}");
                    assert_eq!(found(&from).unwrap().is_none(), number == 2);
                }
            }
        }
    }

    #[test]
    fn the_last_check_decides_and_hard_links_are_not_copied() {
        for way in WAYS {
            let fixture = Fixture::new();
            let error = fixture.relocate(way, || Err(io::Error::other("no"))).unwrap_err();
            assert_eq!((error.to_string().as_str(), fixture.at("from").exists()), ("no", true));
            fs::hard_link(fixture.at("from"), fixture.at("second")).unwrap();
            let relocated = fixture.relocate(way, || Ok(()));
            assert_eq!(relocated.is_ok(), way == Way::Any);
            assert_eq!(fixture.at("from").exists(), way == Way::Copy);
        }
    }

    /// Where there is a second file system to try it.
    #[test]
    fn another_file_system() {
        let fixture = Fixture::new();
        let Ok(other) = tempfile::tempdir_in("/dev/shm") else { return eprintln!("skipped: no /dev/shm") };
        let device = |path: &Path| fs::metadata(path).unwrap().dev();
        if device(other.path()) == device(fixture.0.path()) {
            return eprintln!("skipped: one file system");
        }
        let (from, to) = (fixture.at("from"), other.path().join("deep/to"));
        let content = Content::of(&from).unwrap();
        let stated =
            |path: &Path| (fs::metadata(path).unwrap().mode(), fs::metadata(path).unwrap().modified().unwrap());
        let before = stated(&from);
        relocate(&from, &to, &content, Way::Any, || Ok(())).unwrap();
        assert_eq!((stated(&to), from.exists()), (before, false));
        relocate(&to, &from, &content, Way::Any, || Ok(())).unwrap();
        assert_eq!((stated(&from), to.exists()), (before, false));
    }
}
