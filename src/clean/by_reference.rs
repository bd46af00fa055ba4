//! A reference decides: documents that have a passage of it are left out.

use super::decider::{Decider, Decisions, Sides};
use super::decisions::{self, Files, Found, Partner, Removed, Watch};
use super::folder::{Folder, PASSAGES, Request};
use super::inputs::{Inputs, apart_by_content};
use super::request::CleanOptions;
use super::scan::{all_warnings, read_of, search, with_options};
use super::verdicts::{self, Decided};
use crate::engine::Observer;
use crate::error::Error;
use crate::passages::{PassageCounts, PassageOptions, PassageVerdict, ReferencePassage, Unshared, find_unshared};
use crate::similarity::Threshold;
use crate::source::{Input, Source};
use serde::Serialize;
use serde_json::value::to_raw_value;
use std::io::{self, Write};
use std::time::Instant;

/// Decides by passages of a reference.
pub(super) struct ByReference<'a> {
    pub passages: &'a PassageOptions,
    pub options: &'a CleanOptions,
    /// Gets the decisions, and warnings about the input, before anything is written.
    pub review: &'a mut dyn FnMut(&Unshared, &[String]),
}

/// What is found, as in `summary.json`.
#[derive(Serialize)]
struct ReferenceRecord<'a> {
    algo: &'a str,
    counts: &'a PassageCounts,
    below_min_documents: u64,
    short_references: u64,
    warnings: Vec<String>,
    seconds: f64,
}

impl Decider for ByReference<'_> {
    fn apart(&self) -> &'static str {
        apart_by_content(&self.options.against)
    }

    fn request(&self) -> Result<Request, Error> {
        let PassageOptions { tokenizer, similarity, seed, min_words, min_documents, min_coverage, .. } = self.passages;
        let mut request = with_options(Request::new(), self.options)?;
        let rows = [
            ("algo", PASSAGES.into()),
            ("tokenizer", tokenizer.name().into()),
            ("similarity", similarity.map(|similarity: Threshold| similarity.to_string()).into()),
            // Runs of the same words are found whatever the seed.
            ("seed", similarity.map(|_| *seed).into()),
            ("minimum of words", (*min_words).into()),
            ("minimum of documents", (*min_documents > 1).then_some(*min_documents).into()),
            ("minimum coverage", min_coverage.map(|least| least.to_string()).into()),
            ("unit", "document".into()),
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
            find_unshared(input, reference.ok_or_else(without_reference)?, self.passages, &watch)
        };
        let found = search((&mut sides.0, &mut sides.1), self.options, find, Unshared::counts)?;
        if !self.options.allow_empty {
            found.check_lengths(self.passages)?;
        }
        let (conditions, (warnings, read)) = (watch.conditions(), read_of(&sides, self.options));
        (self.review)(&found, &warnings);
        let each = |files: &mut Files<'_>, out: &mut dyn Write| {
            found.verdicts().try_for_each(|verdict| self.take(&verdict, files, out))
        };
        let Decided { files, removed_bytes, refused } =
            verdicts::decide(&conditions, (inputs, folder), self.options, observer, &each)?;
        let (seconds, below_min_documents) = (started.elapsed().as_secs_f64(), found.below_min_documents());
        let (warnings, short_references) = (all_warnings(self.options, warnings), found.short().references);
        let record = ReferenceRecord {
            algo: PASSAGES,
            counts: found.counts(),
            below_min_documents,
            short_references,
            warnings,
            seconds,
        };
        let scan = to_raw_value(&record).expect("strings and numbers make JSON");
        let failed = found.counts().failed + refused;
        Ok(Decisions { files, removed_bytes, scan, failed, read, report: None, cut: None, index: None, replaced: None })
    }
}

impl ByReference<'_> {
    /// Takes the verdict on a record, and lists it if it is left out.
    fn take(&self, verdict: &PassageVerdict<'_>, files: &mut Files<'_>, out: &mut dyn Write) -> io::Result<()> {
        if files.take(verdict.place, Found::from(verdict)).is_none() {
            return Ok(());
        }
        let error = verdict.error.map(self.options.worded_problem);
        let removed = Removed { error: error.as_deref(), ..Removed::at(verdict.place, verdict.id) };
        let Some(ReferencePassage { range, words, similarity, coverage, first, .. }) = &verdict.shared else {
            return decisions::line(out, &removed);
        };
        let contains = Partner {
            file: Some(first.place.path),
            record: first.place.line,
            id: first.id,
            start: Some(first.range.start),
            end: Some(first.range.end),
        };
        let removed = Removed {
            start: Some(range.start),
            end: Some(range.end),
            words: Some(*words),
            similarity: Some(similarity.value()),
            contains: Some(contains),
            coverage: coverage.map(|share| share.value()),
            ..removed
        };
        decisions::line(out, &removed)
    }
}

/// The error where there is no reference.
pub(super) fn without_reference() -> Error {
    Error::Usage("documents are left out for passages of a reference: name one with `against`".into())
}
