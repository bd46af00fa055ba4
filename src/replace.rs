//! Replacing a file as a whole: readers see the old content or the new one, never a part of it.
//!
//! The new content is written to a temporary file in the same folder, which is then renamed. The properties that a
//! rename alone would lose are kept: symbolic links on the path (the file that they lead to is replaced), and the mode,
//! owner, group, access control list and other extended attributes, as far as the system allows. A file with several
//! hard links is refused, because a rename would separate them.
//!
//! Temporary files are named `.NAME.dedup-0.tmp`, and are locked while their process runs. An unlocked one was left by
//! a process that was killed. It is removed by the next process that replaces the same file, or by [`remove_stale`].

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};
use xxhash_rust::xxh3::xxh3_64;

/// The number of processes that can replace the same file at the same time under temporary names that are cleaned up
/// afterwards.
const SLOTS: u64 = 8;

/// Longer names are represented by their hash in temporary names, which must not exceed the system's limit (often 255 bytes).
const MAX_NAME: usize = 120;

/// The maximum number of symbolic links that are followed to a file that does not exist yet, as on Linux.
const MAX_LINKS: usize = 40;

/// A new file that replaces another when it is [committed](Self::commit). If it is dropped before that, it is removed.
///
/// Nothing is synchronised with the disk. A caller that needs this calls [`File::sync_all`] before
/// [`commit`](Self::commit), and synchronises the folder of [`target`](Self::target) after it.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    temporary: Option<PathBuf>,
    target: PathBuf,
}

impl Replacement {
    /// Starts to replace a file, or to create one that does not exist.
    ///
    /// # Errors
    /// The path leads to something that is not a regular file, or to a file with several hard links; or no file can be
    /// created in its folder.
    pub fn new(path: &Path) -> io::Result<Self> {
        let target = resolve(path)?;
        let old = existing(&target)?;
        check_replaceable(old.as_ref())?;
        remove_stale(&target);
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        // When all slots are taken: a name that no other process chooses.
        let own = (u64::from(process::id()) << 32) ^ nanos | 1 << 63;
        for slot in (0..SLOTS).chain(own..own + SLOTS) {
            let temporary = temporary(&target, slot)?;
            match create(&temporary, old.is_some()) {
                Ok(Some(file)) => return Ok(Replacement { file, temporary: Some(temporary), target }),
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "no name is free for a temporary file beside it"))
    }

    /// The new file, to be written to.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// The path of the file that is replaced, without symbolic links.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The path of the new file until it replaces the other.
    pub fn path(&self) -> &Path {
        self.temporary.as_deref().unwrap_or(&self.target)
    }

    /// Checks that the new file can have all attributes of the old one. Callers can check this before the work.
    ///
    /// # Errors
    /// The attribute that the new file cannot have.
    pub fn check_exact(&self) -> io::Result<()> {
        existing(&self.target)?.map_or(Ok(()), |old| all_kept(keep_attributes(&self.target, &old, &self.file)?))
    }

    /// Replaces the old file with the new one. Attributes of the old file that the system does not allow on the new one
    /// are lost, but access never becomes wider.
    ///
    /// # Errors
    /// The system refuses the replacement, or the old file can no longer be replaced. It is then unchanged.
    pub fn commit(self) -> io::Result<()> {
        self.finish(false, None).map(drop)
    }

    /// As [`commit`](Self::commit), but only if the new file can have all attributes of the old one.
    ///
    /// # Errors
    /// As for [`commit`](Self::commit), and the attribute that the new file cannot have.
    pub fn commit_exact(self) -> io::Result<()> {
        self.finish(true, None).map(drop)
    }

    /// As [`commit_exact`](Self::commit_exact), but the old file stays beside the new one: with this after its name, and a number if
    /// that is taken. Returns its path; `None` if there was no old file.
    ///
    /// # Errors
    /// As for [`commit_exact`](Self::commit_exact), and if the old file cannot be kept. It is then unchanged, and nothing else stays.
    pub fn commit_exact_keeping(self, suffix: &str) -> io::Result<Option<PathBuf>> {
        self.finish(true, Some(suffix))
    }

    /// Gives the new file the owner, group, mode, extended attributes and time of another.
    ///
    /// # Errors
    /// The attribute that the new file cannot have.
    pub fn take_attributes(&self, path: &Path) -> io::Result<()> {
        let found = fs::metadata(path)?;
        all_kept(keep_attributes(path, &found, &self.file)?)?;
        let time = found.modified()?;
        self.file.set_modified(time)?;
        // Some file systems round it.
        all_kept((self.file.metadata()?.modified()? != time).then_some("time"))
    }

    /// Gives the new file the owner, group, mode and extended attributes of another, as far as the system allows. Otherwise the group
    /// gets no more rights than others have.
    ///
    /// # Errors
    /// The other file cannot be looked at, or the mode cannot be set.
    pub fn take_rights(&self, path: &Path) -> io::Result<()> {
        keep_attributes(path, &fs::metadata(path)?, &self.file).map(drop)
    }

    /// As [`commit`](Self::commit), but only if there is no file yet. The content is synchronised with the disk first,
    /// and the folder after it.
    ///
    /// # Errors
    /// There is a file by now, or the system refuses. Nothing is replaced.
    pub fn commit_new(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let temporary = self.temporary.as_deref().expect("it is there until now");
        // Some systems do not rename a locked file.
        #[cfg(not(unix))]
        self.file.unlock()?;
        rename_new(temporary, &self.target)?;
        self.temporary = None;
        sync_folder(&self.target)
    }

    fn finish(mut self, exact: bool, suffix: Option<&str>) -> io::Result<Option<PathBuf>> {
        self.file.flush()?;
        let old = existing(&self.target)?;
        check_replaceable(old.as_ref())?;
        if let Some(old) = &old {
            let lost = keep_attributes(&self.target, old, &self.file)?;
            if exact {
                all_kept(lost)?;
            }
        }
        let temporary = self.temporary.as_deref().expect("it is there until now");
        // Some systems do not rename a locked file.
        #[cfg(not(unix))]
        self.file.unlock()?;
        let kept = suffix.filter(|_| old.is_some()).map(|suffix| keep_beside(&self.target, suffix)).transpose()?;
        if let Err(error) = fs::rename(temporary, &self.target) {
            if let Some(kept) = kept {
                _ = fs::remove_file(kept);
            }
            return Err(error);
        }
        self.temporary = None;
        Ok(kept)
    }
}

/// Gives a file another name beside its own, or makes a copy with that name where a file has only one.
fn keep_beside(target: &Path, suffix: &str) -> io::Result<PathBuf> {
    let beside = |more: &str| {
        let mut name = target.as_os_str().to_os_string();
        name.push(suffix);
        name.push(more);
        PathBuf::from(name)
    };
    for number in 1..=MOST_KEPT {
        let kept = beside(&if number == 1 { String::new() } else { format!(".{number}") });
        let made = match fs::hard_link(target, &kept) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => copy_new(target, &kept),
            linked => linked,
        };
        match made {
            Ok(()) => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} and so on exist", beside("").display())))
}

/// Copies a file to a name that is free, and synchronises it with the disk.
fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut copy = OpenOptions::new().write(true).create_new(true).open(to)?;
    let copied = fs::metadata(from)
        .and_then(|found| copy.set_permissions(found.permissions()))
        .and_then(|()| io::copy(&mut File::open(from)?, &mut copy))
        .and_then(|_| copy.sync_all());
    copied.inspect_err(|_| _ = fs::remove_file(to))
}

/// The maximum number of files that are kept beside one.
const MOST_KEPT: u32 = 10_000;

impl Drop for Replacement {
    fn drop(&mut self) {
        // Removed before the lock is released, so that no other process takes it for stale in between.
        if let Some(temporary) = &self.temporary {
            _ = fs::remove_file(temporary);
        }
    }
}

/// The location of a file, existing or not: absolute, and without symbolic links. A link to a file that does not exist
/// resolves to the path of that file.
///
/// # Errors
/// Its folder does not exist, the path has no file name, or links form a cycle.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let place = folder_of(&path).canonicalize()?.join(name);
        match fs::read_link(&place) {
            Ok(link) => path = folder_of(&place).join(link),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// The location of a path of which only the beginning may exist, once the folders that are missing are made: absolute, without `..`, and
/// without symbolic links in what exists. `None` if it cannot be determined.
pub fn resolve_existing(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let (exists, mut place) = absolute.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
    for component in absolute.strip_prefix(exists).ok()?.components() {
        match component {
            // Out of a folder that is missing, and is then no link.
            Component::ParentDir => _ = place.pop(),
            name => {
                place.push(name);
                // What comes after `..` may exist.
                place = place.canonicalize().unwrap_or(place);
            }
        }
    }
    Some(place)
}

/// Whether a path may be a symbolic link, for [`open_regular`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// What it leads to is opened.
    Followed,
    /// It is refused.
    Refused,
}

/// Opens a regular file and nothing else: a pipe could block, and a device may have no end.
///
/// # Errors
/// It is something else, or cannot be opened with these options.
pub fn open_regular(path: &Path, options: &mut OpenOptions, links: Links) -> io::Result<File> {
    let check = |found: &fs::Metadata| match found.is_file() {
        true => Ok(()),
        false if found.is_symlink() => Err(not_opened("it is a symbolic link, which is not followed here")),
        false => Err(not_opened("it is not a regular file")),
    };
    let found = if links == Links::Followed { fs::metadata(path) } else { fs::symlink_metadata(path) };
    match found {
        Ok(found) => check(&found)?,
        // The options may create it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // Something else may have taken its place meanwhile.
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = if links == Links::Followed { OFlags::NONBLOCK } else { OFlags::NONBLOCK | OFlags::NOFOLLOW };
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits() as i32);
    }
    let file = options.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

fn not_opened(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Renames a file to a name that is free. If the system cannot do both at once, the file has both names for a moment.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if the name is taken, [`io::ErrorKind::CrossesDevices`] if it is on another file system;
/// others if the system refuses.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // A file system, or a kernel, without this.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            renamed => return Ok(renamed?),
        }
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::CrossesDevices) => {
            Err(error)
        }
        // A file system without hard links: a file that appears between the two steps would be replaced.
        Err(_) => match fs::symlink_metadata(to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
            Err(error) => Err(error),
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        },
    }
}

/// Synchronises the folder of a file with the disk, where the system can.
///
/// # Errors
/// The folder cannot be opened, or the disk fails.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    match File::open(folder_of(path))?.sync_all() {
        Err(error) if error.kind() != io::ErrorKind::InvalidInput => return Err(error),
        _ => {}
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Removes temporary files that killed processes left when they replaced a file. Files that cannot be removed stay.
pub fn remove_stale(path: &Path) {
    let Ok(target) = resolve(path) else { return };
    for temporary in (0..SLOTS).filter_map(|slot| temporary(&target, slot).ok()) {
        remove_if_stale(&temporary);
    }
}

/// Whether a file has the name of a temporary file of this module.
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let inner = name.strip_prefix(b".").and_then(|name| name.strip_suffix(b".tmp"));
    let slot = inner.and_then(|inner| inner.rsplit(|&byte| byte == b'.').next()?.strip_prefix(b"dedup-"));
    slot.is_some_and(|slot| !slot.is_empty() && slot.iter().all(u8::is_ascii_hexdigit))
}

/// The metadata of a path without symbolic links, if it exists.
fn existing(target: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(target) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn check_replaceable(old: Option<&fs::Metadata>) -> io::Result<()> {
    let Some(old) = old else { return Ok(()) };
    let wrong = |message: String| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    if old.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !old.is_file() {
        return wrong("it is not a regular file".into());
    }
    match hard_links(old) {
        0 | 1 => Ok(()),
        links => wrong(format!("it has {links} names (hard links), and replacing it would separate them")),
    }
}

/// The number of names of a file, where the system counts them.
pub fn hard_links(found: &fs::Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(found);
    #[cfg(not(unix))]
    {
        _ = found;
        1
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn temporary(target: &Path, slot: u64) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let hashed = || OsString::from(format!("{:016x}", xxh3_64(name.as_encoded_bytes())));
    let mut temporary = OsString::from(".");
    temporary.push(if name.len() > MAX_NAME { hashed() } else { name.to_os_string() });
    temporary.push(OsStr::new(&format!(".dedup-{slot:x}.tmp")));
    Ok(folder_of(target).join(temporary))
}

/// Creates and locks a temporary file. `None` if another process took it for stale before it was locked.
fn create(temporary: &Path, is_private: bool) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    // The new file gets the mode of the old one at the end, and must not be more readable until then.
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = is_private;
    let file = options.open(temporary)?;
    match file.try_lock() {
        // Where files cannot be locked, none is ever taken for stale.
        Ok(()) | Err(TryLockError::Error(_)) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
    }
    Ok(is_at(&file, temporary).then_some(file))
}

fn remove_if_stale(temporary: &Path) {
    if !fs::symlink_metadata(temporary).is_ok_and(|found| found.is_file()) {
        return;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    }
    let Ok(file) = options.open(temporary) else { return };
    if file.try_lock().is_ok() && is_at(&file, temporary) {
        _ = fs::remove_file(temporary);
    }
}

/// Whether an open file still has its name.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (Ok(open), Ok(named)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
        (open.dev(), open.ino()) == (named.dev(), named.ino())
    }
    #[cfg(not(unix))]
    {
        _ = file;
        path.exists()
    }
}

fn all_kept(lost: Option<&'static str>) -> io::Result<()> {
    lost.map_or(Ok(()), |what| Err(io::Error::other(format!("the new file cannot have its {what}"))))
}

#[cfg(not(unix))]
fn keep_attributes(_: &Path, old: &fs::Metadata, new: &File) -> io::Result<Option<&'static str>> {
    new.set_permissions(old.permissions()).map(|()| None)
}

/// Gives a file the owner, group, mode and extended attributes of another. If the system does not allow the group or
/// the access control list, the group gets no more rights than others have. Returns the attribute that could not be
/// set.
#[cfg(unix)]
fn keep_attributes(target: &Path, old: &fs::Metadata, new: &File) -> io::Result<Option<&'static str>> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mut mode = old.mode() & 0o7777;
    let mut lost = None;
    let found = new.metadata()?;
    if (found.uid(), found.gid()) != (old.uid(), old.gid()) && fchown(new, Some(old.uid()), Some(old.gid())).is_err() {
        lost = Some("owner and group");
        // Only the superuser can give files away; a member of a group can keep the group.
        mode &= 0o1777;
        if fchown(new, None, Some(old.gid())).is_err() {
            mode = without_group(mode);
        }
    }
    // A list of the new file comes from its folder, and changes the meaning of the mode.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if !attributes::keep(target, new) {
        mode = without_group(mode);
        lost = lost.or(Some("access control list"));
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = target;
    new.set_permissions(fs::Permissions::from_mode(mode)).map(|()| lost)
}

/// A mode in which the group has the rights of others.
#[cfg(unix)]
fn without_group(mode: u32) -> u32 {
    mode & !0o2070 | (mode & 0o7) << 3
}

/// Extended attributes, including access control lists.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod attributes {
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr, listxattr};
    use rustix::io::{Errno, Result};
    use std::ffi::CStr;
    use std::fs::File;
    use std::path::Path;

    const ACCESS_LIST: &CStr = c"system.posix_acl_access";

    /// Attributes of a file's content, which changes.
    const OF_CONTENT: [&CStr; 2] = [c"security.ima", c"security.evm"];

    /// The maximum length of a value, and of a list of names, on Linux.
    const MAX_VALUE: usize = 1 << 16;

    /// Gives a file all attributes of another that the system allows. Returns whether it has the same access control
    /// list.
    pub fn keep(old: &Path, new: &File) -> bool {
        let names = value(|buffer| listxattr(old, buffer)).unwrap_or_default();
        let names = names.split_inclusive(|&byte| byte == 0).filter_map(|name| CStr::from_bytes_with_nul(name).ok());
        let mut list_is_kept = None;
        for name in names.filter(|name| !OF_CONTENT.contains(name)) {
            let copied = value(|buffer| getxattr(old, name, buffer))
                .and_then(|value| fsetxattr(new, name, &value, XattrFlags::empty()));
            if name == ACCESS_LIST {
                list_is_kept = Some(copied.is_ok());
            }
        }
        let has_none =
            || matches!(fremovexattr(new, ACCESS_LIST), Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS));
        list_is_kept.unwrap_or_else(has_none)
    }

    fn value(get: impl Fn(&mut [u8]) -> Result<usize>) -> Result<Vec<u8>> {
        let mut value = vec![0; MAX_VALUE];
        let length = get(&mut value)?;
        value.truncate(length);
        Ok(value)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn what_does_not_exist_is_where_it_will_be() {
        let folder = folder();
        let base = folder.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("docs/old")).unwrap();
        symlink("docs/old", base.join("link")).unwrap();
        let cases = [
            ("docs", "docs"),
            ("docs/new/x", "docs/new/x"),
            ("docs/../docs/x", "docs/x"),
            // Through folders that are made first.
            ("gone1/../docs", "docs"),
            ("gone2/../docs/x", "docs/x"),
            ("gone3/further/../../docs/old/../x", "docs/x"),
            ("gone4/../link/x", "docs/old/x"),
            ("gone5/../link/../x", "docs/x"),
            ("link/gone/../../x", "docs/x"),
        ];
        for (path, place) in cases {
            let (path, place) = (base.join(path), base.join(place));
            assert_eq!(resolve_existing(&path), Some(place.clone()), "{path:?}");
            fs::create_dir_all(&path).unwrap();
            assert_eq!(path.canonicalize().unwrap(), place, "{path:?}");
        }
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names(folder: &Path) -> BTreeSet<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn replace(path: &Path, text: &str) {
        let mut new = Replacement::new(path).unwrap();
        new.file().write_all(text.as_bytes()).unwrap();
        new.commit().unwrap();
    }

    #[test]
    fn a_file_is_old_until_it_is_new_and_nothing_else_stays() {
        let folder = folder();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let mut new = Replacement::new(&path).unwrap();
        new.file().write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert!(names(folder.path()).iter().all(|name| name == "a" || is_temporary(Path::new(name))));
        drop(new);
        assert_eq!(names(folder.path()), ["a".to_string()].into());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        replace(&path, "new");
        assert_eq!(names(folder.path()), ["a".to_string()].into());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_new_file_has_the_mode_of_any_new_file() {
        let folder = folder();
        fs::write(folder.path().join("plain"), "").unwrap();
        replace(&folder.path().join("a"), "new");
        let mode = |name: &str| folder.path().join(name).metadata().unwrap().mode();
        assert_eq!(mode("a"), mode("plain"));
    }

    #[test]
    fn links_stay_and_what_they_lead_to_is_replaced() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/file"), "old").unwrap();
        for (link, to) in [("one", "deep/file"), ("two", "one"), ("deep/three", "../two"), ("new", "deep/missing")] {
            symlink(to, at(link)).unwrap();
        }
        symlink(at("deep"), at("folder")).unwrap();
        for (name, target) in [
            ("one", "deep/file"),
            ("two", "deep/file"),
            ("deep/three", "deep/file"),
            ("folder/file", "deep/file"),
            ("folder/three", "deep/file"),
            ("new", "deep/missing"),
            ("new", "deep/missing"),
        ] {
            replace(&at(name), name);
            assert_eq!(fs::read_to_string(at(target)).unwrap(), name);
            let is_link = fs::symlink_metadata(at(name)).unwrap().is_symlink();
            assert_eq!(is_link, name != "folder/file", "{name}");
            assert_eq!(resolve(&at(name)).unwrap(), at(target).canonicalize().unwrap());
        }
        symlink("circle", at("circle")).unwrap();
        assert!(Replacement::new(&at("circle")).is_err());
        assert!(Replacement::new(&at("missing/file")).is_err());
    }

    #[test]
    fn the_mode_stays() {
        let folder = folder();
        let path = folder.path().join("a");
        for mode in [0o600, 0o640, 0o444, 0o755, 0o666] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            replace(&path, "new");
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, mode);
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn owner_and_group_stay() {
        let folder = folder();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        if std::os::unix::fs::chown(&path, Some(1234), Some(2345)).is_err() {
            eprintln!("skipped: only the superuser gives files away");
            return;
        }
        replace(&path, "new");
        let found = path.metadata().unwrap();
        assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (1234, 2345, 0o640));
    }

    /// An access control list as Linux stores it: for the owner, a user, the group, the mask and all others.
    #[cfg(target_os = "linux")]
    fn access_list(user: u32) -> Vec<u8> {
        let entries =
            [(1u16, 6u16, u32::MAX), (2, 6, user), (4, 4, u32::MAX), (0x10, 6, u32::MAX), (0x20, 0, u32::MAX)];
        let mut list = 2u32.to_le_bytes().to_vec();
        for (tag, rights, id) in entries {
            list.extend([&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat());
        }
        list
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_access_control_list_and_other_attributes_stay() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        const LIST: &str = "system.posix_acl_access";
        let get = |path: &Path, name: &str| {
            let mut value = vec![0; 1 << 16];
            getxattr(path, name, &mut value[..]).ok().map(|length| value[..length].to_vec())
        };
        let folder = folder();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let list = access_list(1234);
        if setxattr(&path, LIST, &list, XattrFlags::empty()).is_err()
            || setxattr(&path, "user.note", b"kept", XattrFlags::empty()).is_err()
        {
            eprintln!("skipped: this file system has no access control lists");
            return;
        }
        let mode = path.metadata().unwrap().mode();
        replace(&path, "new");
        assert_eq!(get(&path, LIST), Some(list.clone()));
        assert_eq!(get(&path, "user.note"), Some(b"kept".to_vec()));
        assert_eq!(path.metadata().unwrap().mode(), mode);
        // The defaults of the folder must not apply to a file that had no list.
        let plain = folder.path().join("plain");
        fs::write(&plain, "old").unwrap();
        fs::set_permissions(&plain, fs::Permissions::from_mode(0o640)).unwrap();
        setxattr(folder.path(), "system.posix_acl_default", &list, XattrFlags::empty()).unwrap();
        replace(&plain, "new");
        assert_eq!((get(&plain, LIST), plain.metadata().unwrap().mode() & 0o7777), (None, 0o640));
        replace(&path, "again");
        assert_eq!(get(&path, LIST), Some(list));
    }

    #[test]
    fn hard_links_and_what_is_no_file_are_refused() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "old").unwrap();
        fs::hard_link(at("a"), at("b")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        for name in ["a", "b", "folder", "folder/..", "/dev/null"] {
            assert!(Replacement::new(&at(name)).is_err(), "{name}");
        }
        // Also if it became one meanwhile.
        fs::write(at("c"), "old").unwrap();
        let new = Replacement::new(&at("c")).unwrap();
        fs::hard_link(at("c"), at("d")).unwrap();
        assert!(new.commit().is_err());
        assert_eq!(names(folder.path()), ["a", "b", "c", "d", "folder"].map(String::from).into());
    }

    #[test]
    fn the_old_file_is_kept_under_a_free_name() {
        let folder = folder();
        let path = folder.path().join("a");
        fs::write(&path, "one").unwrap();
        for (text, kept) in [("two", "a.old"), ("three", "a.old.2"), ("four", "a.old.3")] {
            let mut new = Replacement::new(&path).unwrap();
            new.file().write_all(text.as_bytes()).unwrap();
            assert_eq!(new.commit_exact_keeping(".old").unwrap(), Some(resolve(&path).unwrap().with_file_name(kept)));
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(["a.old", "a.old.2", "a.old.3"].map(read), ["one", "two", "three"]);
        assert_eq!(names(folder.path()).len(), 4);
        // There is nothing to keep.
        let new = Replacement::new(&folder.path().join("b")).unwrap();
        assert_eq!(new.commit_exact_keeping(".old").unwrap(), None);
    }

    #[test]
    fn a_copy_takes_no_name_that_is_taken() {
        let folder = folder();
        let [from, to] = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(&from, "one").unwrap();
        copy_new(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "one");
        fs::write(&to, "two").unwrap();
        assert_eq!(copy_new(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&to).unwrap(), "two");
    }

    #[test]
    fn a_name_that_is_taken_stays() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        for (name, text) in [("a", "one"), ("b", "two")] {
            fs::write(at(name), text).unwrap();
        }
        symlink("missing", at("link")).unwrap();
        for taken in ["b", "link"] {
            assert_eq!(rename_new(&at("a"), &at(taken)).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
        let mut new = Replacement::new(&at("c")).unwrap();
        new.file().write_all(b"new").unwrap();
        new.take_attributes(&at("a")).unwrap();
        fs::write(at("c"), "meanwhile").unwrap();
        assert_eq!(new.commit_new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(at("c")).unwrap(), "meanwhile");
        rename_new(&at("a"), &at("d")).unwrap();
        assert_eq!(names(folder.path()), ["b", "c", "d", "link"].map(String::from).into());
    }

    #[test]
    fn temporary_files_that_nobody_holds_are_removed() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "old").unwrap();
        let others = [".a.dedup-9.tmp", ".b.dedup-0.tmp", "a.dedup-0.tmp", ".a.tmp", ".a.dedup-x.tmp"];
        for name in [".a.dedup-0.tmp", ".a.dedup-3.tmp", ".a.dedup-7.tmp"].iter().chain(&others) {
            fs::write(at(name), "left").unwrap();
        }
        symlink("a", at(".a.dedup-5.tmp")).unwrap();
        let kept: BTreeSet<String> =
            others.iter().chain(&["a", ".a.dedup-5.tmp"]).map(|name| name.to_string()).collect();
        let held = Replacement::new(&at("a")).unwrap();
        assert_eq!(names(folder.path()).len(), kept.len() + 1);
        // Several processes write the same file.
        let more: Vec<Replacement> = (0..SLOTS + 2).map(|_| Replacement::new(&at("a")).unwrap()).collect();
        assert_eq!(names(folder.path()).len(), kept.len() + 3 + SLOTS as usize);
        remove_stale(&at("a"));
        assert_eq!(names(folder.path()).len(), kept.len() + 3 + SLOTS as usize);
        drop((held, more));
        assert_eq!(names(folder.path()), kept);
        fs::write(at(".a.dedup-0.tmp"), "left").unwrap();
        remove_stale(&at("a"));
        assert_eq!(names(folder.path()), kept);
    }

    #[test]
    fn temporary_names_are_known_and_not_too_long() {
        for name in ["a", ".a", "a.tmp", "é", &"x".repeat(MAX_NAME), &"x".repeat(255)] {
            for slot in [0, SLOTS - 1, u64::MAX] {
                let temporary = temporary(&Path::new("/folder").join(name), slot).unwrap();
                assert!(is_temporary(&temporary), "{}", temporary.display());
                assert!(temporary.file_name().unwrap().len() <= 160);
            }
        }
        for name in ["a", ".a.tmp", "a.dedup-0.tmp", ".a.dedup-.tmp", ".a.dedup-g.tmp", ".a.dedup-0.tmp.b", ""] {
            assert!(!is_temporary(Path::new(name)), "{name}");
        }
        let folder = folder();
        let path = folder.path().join("x".repeat(255));
        replace(&path, "new");
        assert_eq!(fs::read_to_string(path).unwrap(), "new");
    }
}
