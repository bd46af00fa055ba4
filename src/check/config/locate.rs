//! Where the configuration of a project is.

use crate::Error;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// The name of the file. It is searched for from the current folder upward.
pub const NAME: &str = "dedup.toml";

/// The file of Python projects. Its table `[tool.dedup.check]` is read like `[check]`, if its folder has no `dedup.toml`.
pub const PYPROJECT: &str = "pyproject.toml";

/// Whether a file has the name of the file of Python projects.
pub fn is_pyproject(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == PYPROJECT)
}

/// Reads a file. `None` if it does not exist.
type Read<'a> = &'a mut dyn FnMut(&Path) -> Result<Option<Vec<u8>>, Error>;

/// The nearest file from the current folder upward, up to the root of the repository, by a path relative to the current folder, and its
/// content.
pub fn upward(read: Read) -> Result<Option<(PathBuf, Vec<u8>)>, Error> {
    let here = std::env::current_dir().map_err(|error| Error::input("cannot find the current folder", error))?;
    let root = here.ancestors().position(|folder| folder.join(".git").exists());
    let steps = root.unwrap_or(here.ancestors().count() - 1);
    for steps in 0..=steps {
        let folder: PathBuf = std::iter::repeat_n("..", steps).collect();
        let found = of_folder(&folder, read)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The file of a folder, and its content.
fn of_folder(folder: &Path, read: Read) -> Result<Option<(PathBuf, Vec<u8>)>, Error> {
    let [own, python] = [NAME, PYPROJECT].map(|name| folder.join(name));
    if let Some(bytes) = read(&own)? {
        return Ok(Some((own, bytes)));
    }
    let bytes = read(&python)?.filter(|bytes| has_ours(bytes));
    Ok(bytes.map(|bytes| (python, bytes)))
}

/// Whether the file of a Python project has a table `[tool.dedup]`. A file that is not TOML counts if it seems to have one.
pub fn has_ours(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    match DeTable::parse(text) {
        Ok(table) => {
            let tool = table.get_ref().get("tool").and_then(|tool| tool.get_ref().as_table());
            tool.is_some_and(|tool| tool.contains_key("dedup"))
        }
        Err(_) => text.replace(['"', '\''], "").contains("[tool.dedup"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_with_our_table_counts() {
        for (text, expected) in [
            ("[tool.dedup.check]\nmin-words = 50\n", true),
            ("[tool.dedup]\n", true),
            ("tool.dedup.check.grade = \"note\"\n", true),
            ("[[tool.dedup.check.allow]]\n", true),
            ("[tool.dedup.check\n", true),
            ("[\"tool\".\"dedup\".check\n", true),
            ("[project]\nname = \"dedup\"\n", false),
            ("[tool.dedupe]\n", false),
            ("[tool]\nother = 3\n", false),
            ("tool = 3\n", false),
            ("[project\n", false),
            ("", false),
        ] {
            assert_eq!(has_ours(text.as_bytes()), expected, "{text}");
        }
        assert!(!has_ours(b"[tool.dedup]\n\xff"));
    }
}
