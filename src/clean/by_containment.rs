//! Containment decides: documents that others contain, or that contain one of the reference, are left out.

use super::decider::{Decider, Decisions, Sides};
use super::decisions::{self, Files, Found, Partner, Removed, Share, Watch};
use super::folder::{CONTAINMENT, Folder, Request};
use super::inputs::{Inputs, apart_by_content};
use super::request::CleanOptions;
use super::scan::{all_warnings, read_of, search, with_options};
use super::verdicts::{self, Decided};
use crate::engine::Observer;
use crate::error::Error;
use crate::passages::find_uncontained;
use crate::passages::{ContainOptions, Container, ContainmentVerdict, PassageCounts, ShareOf, Uncontained};
use crate::similarity::Threshold;
use crate::source::{Input, Source};
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
    short: u64,
    /// With a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    short_references: Option<u64>,
    warnings: Vec<String>,
    seconds: f64,
}

impl Decider for ByContainment<'_> {
    fn apart(&self) -> &'static str {
        apart_by_content(&self.options.against)
    }

    fn request(&self) -> Result<Request, Error> {
        let ContainOptions { tokenizer, shingle, min_coverage, min_coverage_all, of, .. } = self.contain;
        let mut request = with_options(Request::new(), self.options)?;
        let rows = [
            ("algo", CONTAINMENT.into()),
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
        mut sides: Sides,
        inputs: &Inputs,
        folder: Option<&Folder>,
        observer: &dyn Observer,
    ) -> Result<Decisions, Error> {
        let started = Instant::now();
        let watch = Watch::new(observer);
        let find = |input: &mut Input, reference: Option<&mut dyn Source>| {
            find_uncontained(input, reference, self.contain, &watch)
        };
        let found = search((&mut sides.0, &mut sides.1), self.options, find, Uncontained::counts)?;
        if !self.options.allow_empty {
            found.check_lengths()?;
        }
        let (conditions, (warnings, read)) = (watch.conditions(), read_of(&sides, self.options));
        (self.review)(&found, &warnings);
        let each = |files: &mut Files<'_>, out: &mut dyn Write| {
            found.verdicts().try_for_each(|verdict| self.take(&found, &verdict, files, out))
        };
        let Decided { files, removed_bytes, refused } =
            verdicts::decide(&conditions, (inputs, folder), self.options, observer, &each)?;
        let seconds = started.elapsed().as_secs_f64();
        let (warnings, counts) = (all_warnings(self.options, warnings), found.counts());
        let short_references = (!self.options.against.is_empty()).then_some(found.short().references);
        let short = found.short().documents;
        let record = ContainmentRecord { algo: CONTAINMENT, counts, short, short_references, warnings, seconds };
        let scan = to_raw_value(&record).expect("strings and numbers make JSON");
        let failed = found.counts().failed + refused;
        Ok(Decisions { files, removed_bytes, scan, failed, read, report: None, cut: None, index: None, replaced: None })
    }
}

impl ByContainment<'_> {
    /// Takes the verdict on a record, and lists it if it is left out.
    fn take(
        &self,
        found: &Uncontained,
        verdict: &ContainmentVerdict<'_>,
        files: &mut Files<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if files.take(verdict.place, Found::from(verdict)).is_none() {
            return Ok(());
        }
        let partner = verdict.container.as_ref().map(partner);
        let further = verdict.document.map(|document| found.further(document));
        let (also, left_out) = further.map_or((Vec::new(), 0), |further| (further.first, further.left_out));
        let also = also.iter().map(|other| Share { partner: self::partner(other), coverage: other.coverage.value() });
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
            also_contains: also.collect(),
            left_out,
            error: error.as_deref(),
            ..Removed::at(verdict.place, verdict.id)
        };
        decisions::line(out, &removed)
    }
}

/// The place and the id of another document.
fn partner<'a>(other: &Container<'a>) -> Partner<'a> {
    Partner { file: Some(other.place.path), record: other.place.line, id: other.id, ..Partner::default() }
}

/// A share; the least one is that of any run.
fn shown(least: Threshold) -> String {
    if least == Threshold::LEAST { "any run".into() } else { least.to_string() }
}
