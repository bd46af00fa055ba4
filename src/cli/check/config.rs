//! `dedup.toml`: what a project wants checked, and what it has accepted.

use globset::{Glob, GlobSet, GlobSetBuilder};
use neardups::Error;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the file, which is looked for from the current folder upward.
pub const NAME: &str = "dedup.toml";

/// What is in the file. Every key can be left out.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    /// The one table.
    #[serde(default)]
    pub check: Check,
}

/// `[check]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Check {
    /// Files and folders, from the folder of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<PathBuf>>,
    /// Globs of files that are not looked at, from the folder of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_words: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paragraph_words: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paragraph_similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_similarity: Option<f64>,
    /// What counts although it usually does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_findings: Option<usize>,
    /// Copies that are as they should be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Allow>,
    /// Other thresholds for some files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule: Vec<Rule>,
}

/// `[[check.allow]]`: copies between files that these globs find are accepted.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Allow {
    /// Globs. Both places of a finding must be in one of these.
    pub paths: Vec<String>,
    /// Why.
    pub reason: String,
}

/// `[[check.rule]]`: a finding that touches such a file must reach these too.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rule {
    /// Globs.
    pub paths: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_words: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
}

/// A file that was read, or what stands for none.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file.
    pub path: Option<PathBuf>,
    /// What paths in it start from.
    pub folder: PathBuf,
    pub check: Check,
}

impl Config {
    /// Reads a file; or the next one from the current folder upward, as far as the root of a repository.
    ///
    /// # Errors
    /// The file cannot be read, or is wrong: the error names the line and the key.
    pub fn find(given: Option<&Path>) -> Result<Self, Error> {
        let here = std::env::current_dir().map_err(|error| Error::io("cannot tell the current folder", error))?;
        let found = match given {
            Some(path) => Some(path.to_path_buf()),
            None => {
                let inside = here.ancestors().position(|folder| folder.join(".git").exists());
                let folders = here.ancestors().take(inside.map_or(usize::MAX, |root| root + 1));
                folders.map(|folder| folder.join(NAME)).find(|path| path.is_file())
            }
        };
        let Some(path) = found else { return Ok(Config::default()) };
        let text =
            fs::read_to_string(&path).map_err(|error| Error::io(format!("cannot read {}", path.display()), error))?;
        let file: File = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            wrong(&path, &format!("{line}: {}", error.message()))
        })?;
        // Relative to where we are if it is there, so that paths are told as people type them.
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let folder = folder.strip_prefix(&here).map(Path::to_path_buf).unwrap_or(folder);
        let config = Config { path: Some(path), folder, check: file.check };
        config.validate(&text)?;
        Ok(config)
    }

    /// What the parser does not know to be wrong.
    fn validate(&self, text: &str) -> Result<(), Error> {
        let Check { passage_similarity, paragraph_similarity, file_similarity, allow, rule, ignore, .. } = &self.check;
        let shares = [
            ("passage-similarity", passage_similarity),
            ("paragraph-similarity", paragraph_similarity),
            ("file-similarity", file_similarity),
        ];
        let shares = shares.into_iter().chain(rule.iter().map(|rule| ("similarity", &rule.similarity)));
        for (key, share) in shares {
            if let Some(share) = share.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
                return Err(self.at(text, key, &format!("{key} is {share}; expected more than 0, and 1 at most")));
            }
        }
        for allow in allow.iter().filter(|allow| allow.reason.trim().is_empty()) {
            let what = format!("the reason why {} may have copies is empty", allow.paths.join(" and "));
            return Err(self.at(text, "reason", &what));
        }
        for (key, globs) in [("ignore", ignore)]
            .into_iter()
            .chain(allow.iter().map(|allow| ("paths", &allow.paths)))
            .chain(rule.iter().map(|rule| ("paths", &rule.paths)))
        {
            self.globs(globs).map_err(|error| self.at(text, key, &error))?;
        }
        Ok(())
    }

    /// An error at the first line that sets a key.
    fn at(&self, text: &str, key: &str, message: &str) -> Error {
        let sets =
            |line: &str| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
        let line = text.lines().position(sets).map_or(1, |line| line + 1);
        wrong(self.path.as_deref().unwrap_or(Path::new(NAME)), &format!("{line}: {message}"))
    }

    /// Globs as `.gitignore` has them, from the folder of the file.
    pub fn globs(&self, globs: &[String]) -> Result<GlobSet, String> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let folder = self.folder.to_string_lossy().replace('\\', "/");
            let from = |glob: &str| {
                if folder.is_empty() { glob.to_string() } else { format!("{}/{glob}", globset::escape(&folder)) }
            };
            // A folder stands for all that is in it, and a name without a slash for files of that name anywhere.
            let glob = glob.strip_prefix("./").unwrap_or(glob);
            let anywhere = if glob.trim_end_matches('/').contains('/') { String::new() } else { format!("**/{glob}") };
            for glob in [glob, &anywhere].into_iter().filter(|glob| !glob.is_empty()) {
                let glob = from(glob.trim_end_matches('/'));
                for glob in [format!("{glob}/**"), glob] {
                    set.add(Glob::new(&glob).map_err(|error| error.to_string())?);
                }
            }
        }
        set.build().map_err(|error| error.to_string())
    }
}

fn wrong(path: &Path, message: &str) -> Error {
    Error::Usage(format!("{}:{message}", path.display()))
}
