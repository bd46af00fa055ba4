//! Containment decides: documents that others contain, or that contain one of the reference, are left out.

use super::by_passages::as_source;
use super::decider::{Decider, Decisions, Sides};
use super::decisions::{self, Conditions, Files, Found, Partner, Removed, Watch};
use super::folder::{Folder, Request};
use super::inputs::Inputs;
use super::request::CleanOptions;
use super::scan::{check_read, with_options};
use super::verdicts::{self, Decided};
use crate::engine::Observer;
use crate::error::Error;
use crate::passages::{ContainOptions, ContainmentVerdict, PassageCounts, ShareOf, Uncontained, find_uncontained};
use crate::similarity::Threshold;
use crate::source::{self, Input};
use serde::Serialize;
use serde_json::value::to_raw_value;
use std::io::{self, Write};
use std::time::Instant;

/// Decides by containment.
pub(super) struct ByContainment<'a> {
    pub contain: &'a ContainOptions,
    pub options: &'a CleanOptions,
    /// Gets the decisions, and warnings about the input, before anything is written.
    pub review: &'a mut dyn FnMut(&Uncontained, &[String]),
}

/// What is found, as in `summary.json`.
#[derive(Serialize)]
struct ContainmentRecord<'a> {
    algo: &'a str,
    counts: &'a PassageCounts,
    warnings: Vec<String>,
    seconds: f64,
}

impl Decider for ByContainment<'_> {
    fn request(&self) -> Result<Request, Error> {
        let ContainOptions { tokenizer, shingle, min_coverage, min_coverage_all, of, .. } = self.contain;
        let mut request = with_options(Request::new(), self.options)?;
        let rows = [
            ("algo", "containment".into()),
            ("tokenizer", tokenizer.name().into()),
            ("shingle", (*shingle).into()),
            ("minimum coverage", shown(*min_coverage).into()),
            ("minimum coverage by all", min_coverage_all.map(shown).into()),
            ("side of the coverage", of.name().into()),
        ];
        request.extend(rows.map(|(name, value)| (name.to_string(), value)));
        Ok(request)
    }

    fn decide(
        &mut self,
        sides: Sides,
        inputs: &Inputs,
        folder: Option<&Folder>,
        observer: &dyn Observer,
    ) -> Result<Decisions, Error> {
        let started = Instant::now();
        let (mut input, mut reference) = sides;
        let (found, conditions) = self.find(&mut input, &mut reference, observer)?;
        let worded = |warning: String| (self.options.worded)(&warning);
        let never_found = input.all_fields_never_found(reference.as_ref());
        let warnings: Vec<String> = never_found.map(worded).collect();
        let read = input.counts() + reference.map_or(source::Counts::default(), |reference| reference.counts());
        (self.review)(&found, &warnings);
        let each = |files: &mut Files<'_>, out: &mut dyn Write| {
            found.verdicts().try_for_each(|verdict| self.take(&verdict, files, out))
        };
        let Decided { files, removed_bytes, refused } =
            verdicts::decide(&conditions, inputs, self.options, folder, observer, &each)?;
        let seconds = started.elapsed().as_secs_f64();
        let record = ContainmentRecord { algo: "containment", counts: found.counts(), warnings, seconds };
        let scan = to_raw_value(&record).expect("strings and numbers make JSON");
        let failed = found.counts().failed + refused;
        Ok(Decisions { files, removed_bytes, scan, failed, read, report: None, cut: None, index: None, replaced: None })
    }
}

impl ByContainment<'_> {
    /// Finds the documents that others contain.
    ///
    /// # Errors
    /// Those of [`find_uncontained`]; no document was read, or some failed, and that is not allowed.
    fn find(
        &self,
        input: &mut Input,
        reference: &mut Option<Input>,
        observer: &dyn Observer,
    ) -> Result<(Uncontained, Conditions), Error> {
        if !self.options.allow_empty {
            reference.iter_mut().for_each(|reference| reference.require_documents("against"));
        }
        let watch = Watch::new(observer);
        let found = find_uncontained(input, as_source(reference), self.contain, &watch)?;
        let PassageCounts { documents, failed, skipped, .. } = *found.counts();
        check_read(self.options, documents, (failed, skipped), &input.counts())?;
        Ok((found, watch.conditions()))
    }

    /// Takes the verdict on a record, and lists it if it is left out.
    fn take(&self, verdict: &ContainmentVerdict<'_>, files: &mut Files<'_>, out: &mut dyn Write) -> io::Result<()> {
        let found = Found::of(verdict.error.is_some(), verdict.is_skipped, verdict.keep);
        if files.take(verdict.place, found).is_none() {
            return Ok(());
        }
        let partner = verdict.container.map(|other| Partner {
            file: Some(other.place.path),
            record: other.place.line,
            id: other.id,
            ..Partner::default()
        });
        let (contained_in, contains) = match self.contain.of {
            ShareOf::Document => (partner, None),
            ShareOf::Reference => (None, partner),
        };
        let error = verdict.error.map(self.options.worded_problem);
        let removed = Removed {
            contained_in,
            contains,
            coverage: verdict.container.map(|other| other.coverage.value()),
            coverage_all: verdict.container.and_then(|other| other.coverage_all).map(|share| share.value()),
            error: error.as_deref(),
            ..Removed::at(verdict.place, verdict.id)
        };
        decisions::line(out, &removed)
    }
}

/// A share; the least one is that of any run.
fn shown(least: Threshold) -> String {
    if least == Threshold::LEAST { "any run".into() } else { least.to_string() }
}
