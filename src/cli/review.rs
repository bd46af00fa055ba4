//! `--report html=FILE`: the page on which clusters are reviewed.

use super::arguments::keep::Keep;
use super::files::OutFile;
use super::outputs::Outputs;
use super::terminal::{Terminal, bytes, count, counted};
use neardups::Error;
use neardups::engine::{self, Kept, Report};
use neardups::review::{self, About, Review};
use neardups::source::Source;
use std::path::{Path, PathBuf};

/// A page that is to be written.
pub struct Page {
    path: PathBuf,
    file: OutFile,
    /// The inputs as typed.
    inputs: Vec<String>,
    /// The files that are preferred, as typed.
    prefer: Vec<String>,
}

impl Page {
    /// Registers the file.
    ///
    /// # Errors
    /// It is an input or another output, or cannot be written.
    pub fn open(typed: Option<&Path>, keep: &Keep, outputs: &mut Outputs) -> Result<Option<Self>, Error> {
        let open = |path: &Path| {
            let file = outputs.file(path, "--report")?;
            let (inputs, prefer) = (outputs.documents().to_vec(), keep.prefer().to_vec());
            Ok(Page { path: path.to_path_buf(), file, inputs, prefer })
        };
        typed.map(open).transpose()
    }

    /// Writes it, and reports what is on it.
    ///
    /// # Errors
    /// It cannot be written, or the documents cannot be read again.
    pub fn write(
        &self,
        (kept, report): (&Kept<'_>, &Report),
        (source, reference): (&mut dyn Source, Option<&mut dyn Source>),
        options: &engine::ScanOptions,
        terminal: &Terminal,
    ) -> Result<(), Error> {
        let about = About { report, inputs: &self.inputs, prefer: &self.prefer };
        let write =
            |out: &mut dyn std::io::Write| review::write(out, kept, about, source, reference, (options, terminal));
        let Review { clusters, shown, bytes: size, .. } = self.file.stream(write)?;
        let what = match clusters - shown {
            0 => counted(clusters, "cluster"),
            _ => format!("{} of {}", count(shown), counted(clusters, "cluster")),
        };
        terminal.done();
        terminal.line(&format!("{} ({}): {what} to review", self.path.display(), bytes(size as f64)));
        Ok(())
    }
}
