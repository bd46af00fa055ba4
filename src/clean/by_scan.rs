//! A scan of everything decides.

use super::decider::{Decider, Decisions, Sides};
use super::decisions;
use super::folder::{Folder, Request};
use super::inputs::Inputs;
use super::request::{CleanOptions, OnError};
use super::scan::{request, scan, scan_record};
use crate::algorithm::AlgorithmFactory;
use crate::engine::{At, KeptOutcome, Observer, Verdict};
use crate::error::Error;
use std::io::{BufWriter, Write};
use std::time::Instant;

/// Decides by a scan.
pub(super) struct Scanning<'a> {
    pub factory: &'a dyn AlgorithmFactory,
    pub options: &'a CleanOptions,
    pub review: &'a mut dyn FnMut(&KeptOutcome) -> Result<(), Error>,
}

impl Decider for Scanning<'_> {
    fn request(&self) -> Result<Request, Error> {
        request(self.factory, self.options)
    }

    fn decide(
        &mut self,
        sides: Sides,
        inputs: &Inputs,
        folder: Option<&Folder>,
        observer: &dyn Observer,
    ) -> Result<Decisions, Error> {
        let started = Instant::now();
        let (outcome, conditions, read) = scan(sides, self.factory, self.options, observer)?;
        (self.review)(&outcome)?;
        let (kept, on_error, names) = (outcome.kept(), self.options.on_error, inputs.names());
        if on_error == OnError::Fail {
            let decided = decisions::decide(&kept, &names, &conditions, on_error, |_, _, _| Ok(()));
            let (_, refused) = decided.map_err(|error| Error::output("nothing", error))?;
            refused.iter().for_each(|problem| observer.problem(problem));
            decisions::check_failed(on_error, refused.len() as u64)?;
        }
        let ((files, refused), removed_bytes) = match folder {
            None => {
                let decided = decisions::decide(&kept, &names, &conditions, on_error, |_, _, _| Ok(()));
                (decided.map_err(|error| Error::output("nothing", error))?, 0)
            }
            Some(folder) => folder.replace("removed.jsonl", |file| {
                let mut out = BufWriter::with_capacity(1 << 16, &mut *file);
                let each = |_, verdict: &Verdict<'_>, at: At<'_>| {
                    decisions::list(verdict, at, self.options.worded_problem, &mut out)
                };
                let decided = decisions::decide(&kept, &names, &conditions, on_error, each)?;
                decisions::list_further_names(inputs, &mut out)?;
                out.flush()?;
                drop(out);
                Ok((decided, file.metadata()?.len()))
            })?,
        };
        refused.iter().for_each(|problem| observer.problem(problem));
        let report = outcome.report().clone();
        let failed = report.counts.failed + refused.len() as u64;
        let scan = scan_record(&report, started.elapsed().as_secs_f64(), self.options.worded);
        Ok(Decisions {
            files,
            removed_bytes,
            scan,
            failed,
            read,
            report: Some(report),
            cut: None,
            index: None,
            replaced: None,
        })
    }
}
