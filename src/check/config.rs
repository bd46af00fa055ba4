//! `dedup.toml`: what a project checks, and what it accepts.
//!
//! ```
//! use neardups::check::config::{Config, Settings};
//! // The nearest dedup.toml, from the current folder upward, with one value overridden for this run.
//! let config = Config::find(None)?;
//! let settings = config.complete(Settings { min_words: Some(60), ..Settings::default() });
//! let request = config.request(&settings)?;
//! assert_eq!(request.find.min_words, 60);
//! # Ok::<(), neardups::check::Error>(())
//! ```

mod locate;
mod read;
mod settings;
mod values;

use super::error::{Error, SinceError};
use super::find;
use super::outcome::{FailOn, Sort};
use super::paths::{place, repository_of};
use super::report::{Format, Target};
use super::request::Request;
use super::staged::{Index, NOT_STAGED, Setting};
use crate::similarity::Threshold;
use settings::threshold;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use locate::{NAME, PYPROJECT};
pub use read::{parse, parse_share};
pub use settings::{MAX_FINDINGS, MAX_WORDS, Rule, Settings};

/// A configuration file that was read, or an empty configuration if there is none.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file.
    pub path: Option<PathBuf>,
    /// The folder that its paths are relative to, itself relative to the current one.
    pub folder: PathBuf,
    /// Its settings.
    pub settings: Settings,
    /// A nearer file that does not count because it is not staged.
    not_staged: Option<PathBuf>,
}

impl Config {
    /// Reads the given file; without one, the nearest `dedup.toml` from the current folder upward, up to the root of the repository. A
    /// `pyproject.toml` counts too if it has a table `[tool.dedup]`.
    ///
    /// # Errors
    /// The file cannot be read, or is invalid: each error names the line, the key and the value.
    pub fn find(given: Option<&Path>) -> Result<Self, Error> {
        Config::find_in(given, &mut |path| read_file(path, given))
    }

    /// The same of the next commit: files count as they are in the index of git, whatever the working tree has. Files that git ignores, and
    /// those outside of the repository, are read as they are. Others that are not in the index do not count, which is an error for the given
    /// file and a [notice](Self::notices) for others. A `pyproject.toml` without a table `[tool.dedup]` is neither.
    ///
    /// # Errors
    /// As of [`find`](Self::find); or there is no repository, git cannot read a file, or it has a conflict.
    pub fn find_staged(given: Option<&Path>) -> Result<Self, Error> {
        let index = Index::here().map_err(SinceError::Git)?;
        let mut not_staged = None;
        let found = Config::find_in(given, &mut |path| {
            let at = place(path);
            let setting = index.setting(&at).map_err(io::Error::other)?;
            let may_be_other = given.is_none() && locate::is_pyproject(path);
            match setting {
                Setting::NotStaged if given.is_none() => {
                    let is_ours = || matches!(read_file(path, given), Ok(Some(bytes)) if locate::has_ours(&bytes));
                    if !may_be_other || is_ours() {
                        not_staged.get_or_insert_with(|| path.to_path_buf());
                    }
                    Ok(None)
                }
                // That of a project with other tools only.
                Setting::Unmerged
                    if may_be_other
                        && !index.sides(&at).map_err(io::Error::other)?.iter().any(|side| locate::has_ours(side)) =>
                {
                    Ok(None)
                }
                setting => setting.bytes(|| read_file(path, given)),
            }
        });
        Ok(Config { not_staged, ..found? })
    }

    /// Reads the given file or the nearest one. `read` gives the content of a file; `None` if it does not exist.
    fn find_in(
        given: Option<&Path>,
        read: &mut dyn FnMut(&Path) -> io::Result<Option<Vec<u8>>>,
    ) -> Result<Self, Error> {
        let mut cannot_read = |path: &Path| {
            read(path).map_err(|error| crate::Error::input(format!("cannot read {}", path.display()), error))
        };
        let found = match given {
            Some(path) => {
                let missing = || {
                    crate::Error::input(
                        format!("cannot read {}", path.display()),
                        io::Error::new(io::ErrorKind::NotFound, "no such file"),
                    )
                };
                Some((path.to_path_buf(), cannot_read(path)?.ok_or_else(missing)?))
            }
            None => locate::upward(&mut cannot_read)?,
        };
        let Some((path, bytes)) = found else { return Ok(Config::default()) };
        let settings = read::parse(&path, &bytes)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Config { path: Some(path), folder, settings, not_staged: None })
    }

    /// The folder of the file as an absolute path without links; the current folder if there is no file.
    ///
    /// # Errors
    /// The folder was removed.
    pub fn base(&self) -> Result<PathBuf, crate::Error> {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        fs::canonicalize(folder)
            .map_err(|error| crate::Error::input(format!("cannot resolve the folder {}", folder.display()), error))
    }

    /// The given settings; for the rest those of the file; for the rest defaults. All paths are relative to the current folder.
    pub fn complete(&self, given: Settings) -> Settings {
        let (file, defaults) = (&self.settings, find::FindOptions::default());
        let defaults_of = Request::default();
        let from_here = |path: &PathBuf| self.folder.join(path);
        let target = |target: &Target| Target { format: target.format, file: target.file.as_ref().map(from_here) };
        let paths = || file.paths.as_ref().map(|paths| paths.iter().map(from_here).collect());
        let report = || file.report.as_ref().map(|targets| targets.iter().map(target).collect());
        let similarity =
            |given: Option<f64>, own: Option<f64>, default: Threshold| given.or(own).or(Some(default.as_f64()));
        let min_words = given.min_words.or(file.min_words);
        let paragraph_words = given.paragraph_words.or(file.paragraph_words);
        let least = Settings { min_words, paragraph_words, ..Settings::default() }.least_paragraph();
        Settings {
            paths: given.paths.or_else(paths).or_else(|| Some(vec![PathBuf::from(".")])),
            ignore: file.ignore.clone(),
            min_words: min_words.or(Some(defaults.min_words)),
            passage_similarity: similarity(
                given.passage_similarity,
                file.passage_similarity,
                defaults.passage_similarity,
            ),
            paragraph_words: Some(least),
            paragraph_similarity: similarity(
                given.paragraph_similarity,
                file.paragraph_similarity,
                defaults.paragraph_similarity,
            ),
            file_similarity: similarity(given.file_similarity, file.file_similarity, defaults.file_similarity),
            strict: given.strict.or(file.strict).or(Some(defaults.strict)),
            count: given.count.or_else(|| file.count.clone()).or(Some(Vec::new())),
            baseline: given.baseline.or_else(|| file.baseline.as_ref().map(from_here)),
            report: given.report.or_else(report).or_else(|| Some(vec![Format::Human.into()])),
            link: given.link.or_else(|| file.link.clone()),
            grade: given.grade.or(file.grade).or(Some(defaults_of.grade)),
            sort: given.sort.or(file.sort).or(Some(Sort::default())),
            fail_on: given.fail_on.or(file.fail_on).or(Some(FailOn::default())),
            max_findings: given.max_findings.or(file.max_findings).or(Some(0)),
            fail_on_stale: given.fail_on_stale.or(file.fail_on_stale).or(Some(false)),
            allow: file.allow.clone(),
            rule: file.rule.clone(),
        }
    }

    /// The request for these settings; what they leave out has its default.
    ///
    /// # Errors
    /// The folder of the file was removed.
    pub fn request(&self, settings: &Settings) -> Result<Request, crate::Error> {
        let defaults = Request::default();
        let paths = settings.paths.clone().unwrap_or(defaults.paths);
        Ok(Request {
            is_whole: self.is_whole(&paths)?,
            paths,
            folder: self.folder.clone(),
            ignore: settings.ignore.clone(),
            count: settings.count.clone().unwrap_or(defaults.count),
            find: find::FindOptions {
                min_words: settings.min_words.unwrap_or(defaults.find.min_words),
                passage_similarity: threshold(settings.passage_similarity, defaults.find.passage_similarity),
                paragraph_words: settings.least_paragraph(),
                paragraph_similarity: threshold(settings.paragraph_similarity, defaults.find.paragraph_similarity),
                file_similarity: threshold(settings.file_similarity, defaults.find.file_similarity),
                strict: settings.strict.unwrap_or(defaults.find.strict),
            },
            allow: settings.allow.clone(),
            rules: settings.rule.iter().map(Rule::resolved).collect(),
            baseline: settings.baseline.clone(),
            reports: settings.report.clone().unwrap_or(defaults.reports),
            link: settings.link.clone(),
            grade: settings.grade.unwrap_or(defaults.grade),
            sort: settings.sort.unwrap_or_default(),
            fail_on: settings.fail_on.unwrap_or_default(),
            max_findings: settings.max_findings.unwrap_or_default(),
            fail_on_stale: settings.fail_on_stale.unwrap_or_default(),
            ..Request::default()
        })
    }

    /// Warnings about settings of the file that never have an effect, and about a file that does not count.
    pub fn notices(&self) -> Vec<String> {
        let name = self.path.as_deref().unwrap_or(Path::new("")).to_string_lossy();
        let general = self.settings.min_words.unwrap_or(find::FindOptions::default().min_words);
        let fewer = self.settings.rule.iter().filter_map(|rule| rule.min_words).filter(|&words| words < general);
        let notice = |words: usize| {
            format!(
                "{name}: [[check.rule]] min-words = {words} has no effect on passages: min-words for all files is {general}, and a rule \
                 can only raise it"
            )
        };
        let not_staged = self.not_staged.iter().map(|path| format!("{}: {NOT_STAGED}", path.to_string_lossy()));
        not_staged.chain(fewer.map(notice)).collect()
    }

    /// Whether these paths cover everything that the file applies to: its own paths, or its folder.
    fn is_whole(&self, paths: &[PathBuf]) -> Result<bool, crate::Error> {
        let own: Option<Vec<_>> =
            self.settings.paths.as_ref().map(|paths| paths.iter().map(|path| self.folder.join(path)).collect());
        if own.as_deref() == Some(paths) {
            return Ok(true);
        }
        let folder = self.base()?;
        Ok(paths.iter().any(|root| folder.starts_with(place(root))))
    }
}

/// The content of a file. Without one that is `given`, it is `None` if there is none, or if it is one of Python projects that cannot be read.
///
/// # Errors
/// It cannot be read. Unless it is given, it is not a regular file; or it is a link that leads out of the repository, or without one out of the
/// folder it is in, or to a file of another kind: messages about its content would print that file.
fn read_file(path: &Path, given: Option<&Path>) -> io::Result<Option<Vec<u8>>> {
    if given.is_some() {
        return fs::read(path).map(Some);
    }
    let Ok(found) = path.symlink_metadata() else { return Ok(None) };
    if found.is_dir() {
        return Ok(None);
    }
    let is_python = locate::is_pyproject(path);
    match refuse_link(path, found.is_symlink()) {
        Err(_) if is_python => Ok(None),
        Err(error) => Err(error),
        Ok(()) if is_python => Ok(fs::read(path).ok()),
        Ok(()) => fs::read(path).map(Some),
    }
}

/// # Errors
/// A file that was found is not regular, or leads to one that is no configuration of the repository.
fn refuse_link(path: &Path, is_link: bool) -> io::Result<()> {
    if is_link {
        let target = fs::canonicalize(path)
            .map_err(|error| io::Error::new(error.kind(), format!("it is a link that cannot be followed: {error}")))?;
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder)?;
        let root = repository_of(&folder).unwrap_or(folder);
        let is_inside = target.strip_prefix(root).is_ok_and(|inside| inside.iter().all(|part| part != ".git"));
        if !is_inside || target.extension().is_none_or(|ending| ending != "toml") {
            let why = "it is a link to a file that is not in the repository, or whose name does not end with .toml (if it is meant, \
                       give that file as the configuration)";
            return Err(io::Error::other(why));
        }
    }
    if path.is_file() { Ok(()) } else { Err(io::Error::other("it is not a regular file")) }
}
