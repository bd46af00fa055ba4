//! `dedup eval`: measures results against labels.

mod records;
mod table;

use super::arguments::eval::{Arguments, TruthIs};
use super::files::OutFile;
use super::input;
use super::method::Method;
use super::outputs::Outputs;
use super::plot::Plot;
use super::preparation::Tokenization;
use super::problems::Rejects;
use super::spelling::spelled;
use super::spread::in_words;
use super::stats::end_programs_on_signals;
use super::status::{Status, usage_error};
use super::terminal::{self, Terminal, counted};
use neardups::Error;
use neardups::algorithm::{ALGORITHMS, Entry, TableFactory};
use neardups::engine::{self, Counts, Observer, Outcome, Stage};
use neardups::evaluate::{self, Evaluation, Labels, Scope, Scores, Swept, Truth};
use neardups::source::{self, Format, Input, Source};
use records::{Point, Record, Refusal, cannot_write, line, write_mistakes};
use std::cell::Cell;
use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use table::{Table, about_sample, by_similarity, cells, counts, four_or_dash, headings, warning_of_incomplete};

/// An algorithm with its factory, or with the reason why there is none.
type Run = (&'static Entry, Result<TableFactory, String>);

/// What to run.
enum Runs {
    /// Each of these algorithms.
    Each(Vec<Run>),
    /// One algorithm, with the loosest limit of the sweep.
    Sweep(TableFactory, Swept),
}

/// The resolved request, except what to run.
struct Request {
    labels: Labels,
    ignored: Labels,
    scope: Scope,
    /// Whether to warn if the labels do not seem to be complete.
    warns_of_incomplete: bool,
    quiet: bool,
    tokens: Tokenization,
    engine: engine::ScanOptions,
    allow_empty: bool,
    max_bad: u64,
    source: source::ReadOptions,
    /// Taken by the first scan, because others have the same problems.
    rejects: Cell<Option<Rejects>>,
}

/// Scans, measures, and writes the results.
pub fn run(arguments: &Arguments) -> Result<Status, Error> {
    let truth = &arguments.truth;
    let ignore = match &arguments.ignore {
        Some(typed) if typed.as_os_str() == "none" => None,
        Some(typed) => Some(typed.clone()),
        None => beside(truth),
    };
    let labels_read: Vec<PathBuf> = [truth.clone()].into_iter().chain(ignore.clone()).collect();
    let paths = input::paths(&arguments.paths, &labels_read)?;
    let mut outputs = Outputs::new();
    outputs.reads_documents(&arguments.paths, arguments.input.hidden)?;
    outputs.reads_method(&arguments.method)?;
    labels_read.iter().try_for_each(|labels| outputs.reads(labels, "the labels"))?;
    let plot = arguments.plot.as_ref().map(|plot| outputs.file(plot, "--plot")).transpose()?;
    let errors = arguments.errors.as_ref().map(|errors| outputs.file(errors, "--errors")).transpose()?;

    // Errors in options are reported before anything is read.
    let method = Method::resolve(&arguments.method)?;
    let runs = runs(arguments, &method)?;
    let labels = read_truth(truth)?;
    let options = input::source_options(&arguments.input, arguments.run.temp_dir.as_deref())?;
    let request = Request {
        scope: scope(arguments.truth_is, &labels),
        warns_of_incomplete: arguments.truth_is.is_none(),
        labels,
        ignored: ignore.as_deref().map(read_ignored).transpose()?.unwrap_or_default(),
        quiet: arguments.run.quiet,
        engine: engine::ScanOptions {
            distribution: true,
            ..input::reading_engine_options((&arguments.input, &arguments.run), &method.tokens)
        },
        tokens: method.tokens,
        allow_empty: arguments.input.allow_empty,
        max_bad: arguments.input.max_bad,
        source: options.clone(),
        rejects: Cell::new(outputs.rejects(arguments.input.rejects.as_deref())?),
    };
    end_programs_on_signals(&options)?;
    let mut input = Input::new(paths, options);
    let mut out = BufWriter::new(std::io::stdout().lock());
    let status = match runs {
        Runs::Sweep(factory, swept) => run_sweep(&mut input, &factory, swept, &request, [plot, errors], &mut out)?,
        Runs::Each(runs) => {
            input.keep_for_second_read();
            match errors {
                Some(file) => {
                    file.stream(|errors| run_each(&mut input, &runs, &request, &mut out, Some((errors, &file))))?
                }
                None => run_each(&mut input, &runs, &request, &mut out, None)?,
            }
        }
    };
    out.flush().map_err(cannot_write)?;
    Ok(status)
}

/// What to run.
fn runs(arguments: &Arguments, method: &Method) -> Result<Runs, Error> {
    let settings = &arguments.method.settings;
    if arguments.method.is_all() {
        if arguments.sweep {
            return Err(usage_error("--sweep needs a single algorithm: choose it with --algo"));
        }
        let typed = settings.given().next().map(|(name, _)| name);
        if let Some(name) = method.preset.map(|_| "preset").or(typed) {
            return Err(usage_error(format!(
                "--{name} has no effect with --algo all, which runs each with its defaults"
            )));
        }
        let run = |entry: &'static Entry| match entry.goes_with(&method.tokens.steps) {
            Ok(()) => Ok((entry, Ok(method.factory_of(entry, settings.clone())?))),
            Err(why) => Ok((entry, Err(why.to_string()))),
        };
        return ALGORITHMS.iter().map(run).collect::<Result<_, Error>>().map(Runs::Each);
    }
    if arguments.sweep {
        let entry = method.entry()?;
        let mut settings = settings.clone();
        entry.check(&settings)?;
        let by = Swept::loosen(entry, &mut settings)?;
        let factory = method.factory_of(entry, settings);
        let factory = factory.map_err(|error| usage_error(format!("cannot sweep: {error}")))?;
        return Ok(Runs::Sweep(factory, by));
    }
    let (entry, factory) = method.factory()?;
    Ok(Runs::Each(vec![(entry, Ok(factory))]))
}

/// The file of pairs to ignore in the folder of the truth.
fn beside(truth: &Path) -> Option<PathBuf> {
    let found = ["ignore.jsonl", "ignore.jsonl.gz"].into_iter().map(|name| truth.with_file_name(name));
    found.into_iter().find(|path| truth.as_os_str() != "-" && path.exists())
}

fn read_truth(path: &Path) -> Result<Labels, Error> {
    let labels = read_labels(path)?;
    match labels.is_empty() {
        true => Err(Error::Label { place: path.display().to_string(), message: "no labels in it".into() }),
        false => Ok(labels),
    }
}

/// What the labels are: as typed, otherwise a sample if some pair is labelled false.
fn scope(typed: Option<TruthIs>, labels: &Labels) -> Scope {
    match (typed, labels.first_negative()) {
        (Some(TruthIs::Sample), _) | (None, Some(_)) => Scope::Sample,
        (Some(TruthIs::Complete), _) | (None, None) => Scope::Complete,
    }
}

fn read_ignored(path: &Path) -> Result<Labels, Error> {
    let ignored = read_labels(path)?;
    match ignored.first_negative() {
        Some(place) => Err(Error::Label {
            place: place.to_string(),
            message: "a pair to ignore cannot be labelled false: move it to --truth".into(),
        }),
        None => Ok(ignored),
    }
}

fn read_labels(path: &Path) -> Result<Labels, Error> {
    if path.is_dir() {
        return Err(usage_error(format!("{}: is a folder: name a file of labels", path.display())));
    }
    let options = source::ReadOptions {
        format: Format::Lines,
        max_record: *source::ReadOptions::MAX_RECORD.end(),
        ..source::ReadOptions::default()
    };
    Labels::read(&mut Input::new(vec![path.to_path_buf()], options))
}

/// The labels of the documents that were read.
fn truth(request: &Request, numbers: &HashMap<&str, u32>, terminal: Option<&Terminal>) -> Result<Truth, Error> {
    let labels = request.labels.resolve(numbers)?;
    let ignored = request.ignored.resolve_known(numbers)?;
    if let (Some(terminal), 1..) = (terminal, ignored.unknown) {
        let what = counted(ignored.unknown as u64, "id");
        terminal.warning(&format!("{what} among the pairs to ignore: no document has such an id"));
    }
    Ok(Truth::new(labels, &ignored.pairs, request.scope))
}

/// Reports the progress of a scan, but not its problems, which an earlier scan of the same documents has reported.
struct ProgressOnly<'a>(&'a Terminal);

impl Observer for ProgressOnly<'_> {
    fn stage(&self, stage: Stage) {
        self.0.stage(stage);
    }

    fn progress(&self, bytes: u64, documents: u64) {
        self.0.progress(bytes, documents);
    }

    fn unpacked(&self, bytes: u64) {
        self.0.unpacked(bytes);
    }
}

fn scan(
    source: &mut Input,
    factory: &TableFactory,
    request: &Request,
    first: bool,
) -> (Terminal, Result<Outcome, Error>) {
    let rejects = if first { request.rejects.take() } else { None };
    let terminal =
        Terminal::new(request.quiet, source.total_bytes()).with_rejects(rejects).with_max_bad(request.max_bad);
    let progress_only = ProgressOnly(&terminal);
    let observer: &dyn Observer = if first { &terminal } else { &progress_only };
    let outcome = engine::scan(source, None, factory, &request.engine, observer);
    terminal.done();
    if first {
        source.fields_never_found().iter().for_each(|warning| terminal.warning(&spelled(warning)));
        input::report_lacking(&terminal, &request.source);
    }
    let checked = terminal.finish_rejects(outcome).and_then(|outcome| {
        let Counts { documents, failed, skipped, .. } = outcome.report.counts;
        input::check_not_empty(request.allow_empty, documents, (failed, skipped), &source.counts())?;
        if outcome.report.counts.repeated_ids > 0 {
            outcome.report.warnings.iter().for_each(|warning| terminal.warning(&spelled(warning)));
            return Err(usage_error(
                "labels identify documents by id, and some documents have the same id: name another field with --id-field \
                 (--id-field none uses positions as ids, FILE:LINE)",
            ));
        }
        Ok(outcome)
    });
    (terminal, checked)
}

/// Runs each algorithm and measures it. Returns the status, by the documents that could not be read.
fn run_each(
    input: &mut Input,
    runs: &[Run],
    request: &Request,
    out: &mut impl Write,
    mut errors: Option<(&mut dyn Write, &OutFile)>,
) -> Result<Status, Error> {
    let mut failed = 0;
    let mut columns = headings("algorithm", request.scope);
    if request.scope == Scope::Complete {
        columns.extend(["ARI", "accuracy"]);
    }
    let mut table = Table::new(&columns);
    let (mut bins_shown, mut spread, mut ran) = (Vec::new(), Vec::new(), Vec::new());
    let mut summary = None;
    let terminal = Terminal::new(request.quiet, None);
    // It has seen what could not be read: later ones are not shown it again.
    let mut first: Option<Terminal> = None;
    for (entry, factory) in runs {
        let (progress, outcome) = match factory {
            Ok(factory) => scan(input, factory, request, first.is_none()),
            Err(reason) => (Terminal::new(request.quiet, None), Err(Error::Unsuitable(reason.clone()))),
        };
        let outcome = match outcome {
            Err(Error::Unsuitable(reason)) if runs.len() > 1 => {
                line(out, &Refusal { r#type: "eval", algo: entry.name, refused: &spelled(&reason) })?;
                table.note(entry.name, format!("not run: {}", spelled(&reason)));
                if factory.is_ok() {
                    first.get_or_insert(progress);
                }
                continue;
            }
            outcome => outcome?,
        };
        let report = &outcome.report;
        let numbers = evaluate::numbers(&outcome);
        let truth = truth(request, &numbers, summary.is_none().then_some(&progress))?;
        if truth.pairs.is_empty() && summary.is_none() {
            progress.warning("no pair is labelled as near-duplicates: recall is meaningless");
        }
        let evaluation = evaluate::evaluate(&outcome, &numbers, &truth)?;
        let pairs: Vec<_> = truth.pairs.iter().map(|(a, b)| (a as usize, b as usize)).collect();
        let odds = outcome.odds(input, &request.engine, &pairs);
        if let Some((errors, file)) = &mut errors {
            let odds = odds.as_deref().unwrap_or_default();
            let mistakes = evaluate::mistakes(&outcome, &truth, odds);
            write_mistakes(&outcome, mistakes, errors, |error| file.cannot_write(error))?;
        }
        let bins = match odds {
            Ok(odds) => Ok(evaluate::bins(&outcome, &numbers, &truth, &odds)?),
            Err(reason) => Err(reason),
        };
        line(out, &Record::new(&outcome, numbers.len() as u64, &evaluation, &bins, &request.tokens))?;
        if runs.len() == 1 {
            bins_shown = by_similarity(&bins, request.scope);
            spread.extend(report.distribution.as_ref().map(in_words));
        }
        let Evaluation { scores, ari, accuracy, .. } = evaluation;
        let mut row = cells(report.algorithm.to_string(), &scores);
        row.extend([ari, accuracy].into_iter().flatten().map(|measure| four_or_dash(Some(measure))));
        table.row(row);
        warn_of_incomplete(&progress, request, &scores, &format!("{}: ", report.algorithm));
        ran.push(terminal::what_ran(report, &request.tokens));
        // Reported with the algorithm that they are about.
        report
            .warnings
            .iter()
            .for_each(|warning| progress.warning(&format!("{}: {}", report.algorithm, spelled(warning))));
        failed = report.counts.failed.max(failed);
        summary.get_or_insert_with(|| (counts(numbers.len() as u64, &truth), about_sample(&truth)));
        first.get_or_insert(progress);
    }
    let (summary, about) = summary.unzip();
    let lines = summary.into_iter().chain(table.lines()).chain(about.flatten());
    lines.chain(bins_shown).chain(spread).chain(ran).for_each(|line| terminal.line(&line));
    Ok(first.map_or(Status::Done, |terminal| terminal.end_with(failed)))
}

/// Warns if the labels do not seem to be complete, unless it was typed what they are.
fn warn_of_incomplete(terminal: &Terminal, request: &Request, scores: &Scores, of: &str) {
    let warning = warning_of_incomplete(scores).filter(|_| request.warns_of_incomplete);
    warning.iter().for_each(|warning| terminal.warning(&format!("{of}{warning}")));
}

/// Scans once with the loosest limit, and measures every point of the sweep.
fn run_sweep(
    input: &mut Input,
    factory: &TableFactory,
    swept: Swept,
    request: &Request,
    [plot, errors]: [Option<OutFile>; 2],
    out: &mut impl Write,
) -> Result<Status, Error> {
    if errors.is_some() {
        input.keep_for_second_read();
    }
    let (terminal, outcome) = scan(input, factory, request, true);
    let outcome = outcome?;
    let report = &outcome.report;
    report.warnings.iter().for_each(|warning| terminal.warning(&spelled(warning)));
    let numbers = evaluate::numbers(&outcome);
    let truth = truth(request, &numbers, Some(&terminal))?;
    let points = evaluate::sweep(&outcome, &numbers, &truth, swept)?;
    let best = evaluate::best(&points);
    for &(value, scores) in &points {
        line(out, &Point::new("point", report.algorithm, swept, value, &scores))?;
    }
    let name = match swept {
        Swept::Threshold(_) => "threshold",
        Swept::Distance(_) => "distance",
    };
    let mut table = Table::new(&headings(name, request.scope));
    for (value, scores) in &points {
        let is_best = best.is_some_and(|(best, _)| best == *value);
        // Steps of 0.05 are enough for the table.
        if is_best || name == "distance" || ((value * 100.0).round() as u32).is_multiple_of(5) {
            table.row(cells(value.to_string(), scores));
        }
    }
    let mut lines = vec![counts(numbers.len() as u64, &truth)];
    lines.extend(table.lines().into_iter().chain(about_sample(&truth)));
    lines.push(terminal::what_ran(report, &request.tokens));
    if let Some((value, scores)) = best {
        line(out, &Point::new("best", report.algorithm, swept, value, &scores))?;
        let equal = as_good(&points, (value, scores)).map(|range| format!(" (equal: {range})")).unwrap_or_default();
        lines.push(format!("best: {name} {value}, F1 {}{equal}", four_or_dash(scores.f1())));
    } else {
        let has_no_precision = request.scope == Scope::Sample && truth.negatives.is_empty();
        let why = if has_no_precision { "F1 is not known without pairs labelled false" } else { "no F1 is above 0" };
        lines.push(format!("best: none, as {why}"));
    }
    // Looser values find many pairs that are wrong, also if the labels are complete.
    if let Some((value, scores)) = best.or(points.first().copied()) {
        warn_of_incomplete(&terminal, request, &scores, &format!("{name} {value}: "));
    }
    // Pairs that were labelled false and are nowhere near any limit leave precision at 1 however loose it is.
    if request.scope == Scope::Sample
        && !truth.negatives.is_empty()
        && points.first().is_some_and(|(_, scores)| scores.wrong == 0 && scores.unlabelled > 0 && scores.f1().is_some())
    {
        terminal.warning(&format!(
            "no pair that is labelled false is found at any {name} of the sweep, so the labels say nothing about precision: label some of the \
             pairs that a loose {name} finds"
        ));
    }
    lines.iter().for_each(|line| terminal.line(line));
    if let Some(file) = errors {
        if best.is_none() {
            terminal.warning(&format!(
                "--errors: no pairs are written, because there is no best {name}: run without --sweep, with the --{name} that you want"
            ));
        }
        let pairs: Vec<_> = truth.pairs.iter().map(|(a, b)| (a as usize, b as usize)).collect();
        let odds = match best {
            Some(_) => outcome.odds(input, &request.engine, &pairs).unwrap_or_else(|error| {
                terminal.warning(&format!("--errors: missed pairs have no similarity: {error}"));
                Vec::new()
            }),
            None => Vec::new(),
        };
        file.stream(|errors| {
            let mistakes = best.map(|(value, _)| evaluate::mistakes_at(&outcome, &truth, &odds, (swept, value)));
            write_mistakes(&outcome, mistakes.into_iter().flatten(), errors, |error| file.cannot_write(error))
        })?;
    }
    if let Some(file) = plot {
        let of = match request.scope {
            Scope::Complete => String::new(),
            Scope::Sample => format!(", of {}", counted(truth.labelled(), "labelled pair")),
        };
        file.write(&picture(
            &format!("{}: precision, recall and F1 by {name}{of}", report.algorithm),
            name,
            points,
            best,
        ))?;
    }
    Ok(terminal.end_with(report.counts.failed))
}

/// The range of values around the best one with the same counts as it, if there are others.
fn as_good(points: &[(f64, Scores)], (best, scores): (f64, Scores)) -> Option<String> {
    let at = points.iter().position(|(value, _)| *value == best)?;
    let is_equal = |(_, other): &&(f64, Scores)| *other == scores;
    let before = points[..at].iter().rev().take_while(is_equal).last();
    let after = points[at..].iter().take_while(is_equal).last();
    let [first, last] = [before.or(points.get(at))?.0, after?.0];
    (first != last).then(|| format!("{} to {}", first.min(last), first.max(last)))
}

/// The plot of a sweep.
fn picture(title: &str, name: &str, mut points: Vec<(f64, Scores)>, best: Option<(f64, Scores)>) -> String {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at: Vec<f64> = points.iter().map(|point| point.0).collect();
    let heights = |measure: fn(&Scores) -> Option<f64>| points.iter().map(|(_, scores)| measure(scores)).collect();
    let label = best.map(|(value, scores)| (value, format!("best F1 {} at {value}", four_or_dash(scores.f1()))));
    Plot {
        title,
        axis: name,
        at: &at,
        curves: &[
            ("precision", heights(Scores::precision)),
            ("recall", heights(|scores| Some(scores.recall()))),
            ("F1", heights(Scores::f1)),
        ],
        mark: label.as_ref().map(|(value, label)| (*value, label.as_str())),
    }
    .svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_pairs_are_searched_for_next_to_the_truth() {
        let folder = tempfile::tempdir().unwrap();
        let truth = folder.path().join("truth.jsonl");
        assert_eq!(beside(&truth), None);
        std::fs::write(folder.path().join("ignore.jsonl.gz"), "").unwrap();
        assert_eq!(beside(&truth), Some(folder.path().join("ignore.jsonl.gz")));
        std::fs::write(folder.path().join("ignore.jsonl"), "").unwrap();
        assert_eq!(beside(&truth), Some(folder.path().join("ignore.jsonl")));
        assert_eq!(beside(Path::new("-")), None);
    }
}
