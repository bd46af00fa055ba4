//! A scan of everything decides.

use super::decider::{Decider, Decisions, Sides};
use super::decisions::{self, Files};
use super::folder::{Folder, Request};
use super::inputs::Inputs;
use super::request::CleanOptions;
use super::scan::{request, scan, scan_record};
use super::verdicts::{self, Decided};
use crate::algorithm::AlgorithmFactory;
use crate::engine::{KeptOutcome, Observer};
use crate::error::Error;
use std::io::Write;
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
        let kept = outcome.kept();
        let each = |files: &mut Files<'_>, mut out: &mut dyn Write| {
            let worded = self.options.worded_problem;
            decisions::take_all(files, &kept, |_, verdict, at| decisions::list(verdict, at, worded, &mut out))
        };
        let Decided { files, removed_bytes, refused } =
            verdicts::decide(&conditions, (inputs, folder), self.options, observer, &each)?;
        let report = outcome.report().clone();
        let failed = report.counts.failed + refused;
        let scan = scan_record(&report, started.elapsed().as_secs_f64(), self.options);
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
