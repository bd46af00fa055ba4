//! The run: request → pages → findings.

use super::baseline::{Baseline, Checked, Entries, Stale, Unchecked, Update, accepted_of};
use super::error::{Error, List, PruneError, SinceError};
use super::find::{self, Document, Judgement, find_with};
use super::finding::Finding;
use super::globs::Globs;
use super::grading::{Grader, Languages};
use super::outcome::Outcome;
use super::pages::{self, BEGINNING, Page, Root, Selection, Tree};
use super::past::Past;
use super::paths::{current_repository, place};
use super::proposal::propose;
use super::report;
use super::request::{Counted, Request};
use super::rules::{Allow, Rules, Verdict};
use super::since::Changes;
use super::texts::Texts;
use super::unused::{Unused, unused};
use super::whole_files;
use crate::prose;
use crate::run::ordered::thread_pool;
use rayon::ThreadPool;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Programs that run a check on each commit often name the files that changed.
const ONLY_FILES: &str =
    "only files are named, so they are not compared with other pages: name their folder to find copies of those";

/// Reads the pages and finds the copies among them.
///
/// Files that cannot be read are listed in [`Outcome::failed`] and do not stop the check. Nothing is written.
///
/// # Errors
/// A glob is invalid, the baseline cannot be read or is not one, or git cannot determine what changed.
pub fn run(request: &Request) -> Result<Outcome, Error> {
    Check::new(request)?.read()?.find()
}

/// A check in steps, for callers that inspect the pages before they are compared. [`run`] takes all steps at once.
pub struct Check<'a> {
    request: &'a Request,
    /// The folder that globs are relative to: absolute and without links.
    base: PathBuf,
    rules: Rules,
    selection: Selection,
    changes: Option<Changes>,
    baseline: Option<Baseline>,
    pool: ThreadPool,
}

impl<'a> Check<'a> {
    /// Determines what changed, reads the baseline, and prepares globs and threads.
    ///
    /// # Errors
    /// A glob is invalid, the baseline cannot be read or is not one, or it is missing and its stale entries would matter, git cannot
    /// determine what changed, or the request has both `since` and `staged`.
    pub fn new(request: &'a Request) -> Result<Self, Error> {
        if request.staged && request.since.is_some() {
            return Err(Error::SinceAndStaged);
        }
        let base = folder(&request.folder)?;
        let rules = Rules::new(&base, &request.allow, &request.rules)?;
        let selection = selection(request, &base)?;
        if request.prune_baseline {
            let accepts = !request.accept.is_empty() || request.reason.is_some();
            let refused = [
                (request.update_baseline, PruneError::Update),
                (accepts, PruneError::Accept),
                (request.staged, PruneError::Staged),
            ];
            if let Some((_, why)) = refused.into_iter().find(|(is_so, _)| *is_so) {
                return Err(Error::Prune(why));
            }
            if request.baseline.is_none() {
                return Err(Error::NoBaselineToPrune);
            }
        }
        if request.fail_on_stale && request.baseline.is_none() {
            return Err(Error::NoBaselineToFailOn);
        }
        let is_update = request.update_baseline || !request.accept.is_empty() || request.reason.is_some();
        if is_update && (request.baseline.is_none() || !request.update_baseline) {
            return Err(Error::NoBaseline);
        }
        let changes = match request.since.as_deref() {
            Some(reference) => Some(Changes::since(reference)?),
            None if request.staged => Some(Changes::staged()?),
            None => None,
        };
        // An update changes the file as it is.
        let index = changes.as_ref().and_then(Changes::index).filter(|_| !request.writes_baseline());
        let read = |path| index.map_or_else(|| Baseline::read(path), |index| Baseline::staged(path, index));
        let baseline = request.baseline.as_deref().map(read).transpose()?;
        if let Some(path) = request.baseline.as_ref().filter(|_| request.fail_on_stale && !request.update_baseline)
            && baseline.as_ref().is_some_and(Baseline::is_missing)
        {
            return Err(Error::MissingBaseline(path.display().to_string()));
        }
        let pool = thread_pool(request.threads)?;
        Ok(Check { request, base, rules, selection, changes, baseline, pool })
    }

    /// Whether the baseline file does not exist, so that nothing is accepted. With [`staged`](Request::staged), whether a commit would not
    /// have it, unless git ignores it.
    pub fn lacks_baseline(&self) -> bool {
        self.baseline.as_ref().is_some_and(Baseline::is_missing)
    }

    /// Reads the pages.
    ///
    /// # Errors
    /// Git cannot read them.
    pub fn read(self) -> Result<Pages<'a>, Error> {
        let changes = self.changes.as_ref();
        let index = changes.and_then(Changes::index);
        let paths = &self.request.paths;
        let roots: Vec<Root> = paths.iter().map(|path| Root::new(path)).collect();
        let is_inside = |place: &Path| roots.iter().any(|root| place.starts_with(&root.place));
        let is_unclear = |place: &Path| Selection::depends_on_text(place) && is_inside(place);
        let staged = index.map(|index| index.staged(BEGINNING, is_unclear)).transpose()?;
        // A warning about a page that did not change is not new.
        let is_noticed = |place: &Path| changes.is_none_or(|changes| changes.has(place));
        let mut tree = self.pool.install(|| pages::read(&roots, &self.selection, staged.as_ref(), is_noticed))?;
        drop(staged);
        if changes.is_some() && !paths.is_empty() && paths.iter().all(|path| path.is_file()) {
            tree.notices.insert(0, ONLY_FILES.into());
        }
        let unused = self.unused(&tree)?;
        Ok(Pages { check: self, roots, tree, unused })
    }

    /// Globs that match none of the files that were found.
    fn unused(&self, tree: &Tree) -> Result<Vec<Unused>, Error> {
        let [here, ignored] = &self.selection.ignored;
        if !self.request.is_whole {
            return Ok(unused(tree, &[(List::IgnoreHere, here)]));
        }
        let (allow, rules) = (&self.request.allow, &self.request.rules);
        let allow: Vec<String> = allow.iter().flat_map(|allow| allow.lists().flatten().cloned()).collect();
        let rules: Vec<String> = rules.iter().flat_map(|rule| rule.paths.clone()).collect();
        let (allow, rules) = (globs(&self.base, &allow, List::Allow)?, globs(&self.base, &rules, List::Rules)?);
        let lists = [(List::IgnoreHere, here), (List::Ignore, ignored), (List::Allow, &allow), (List::Rules, &rules)];
        let texts =
            self.request.allow.iter().filter_map(|allow| allow.text.as_ref()).zip(self.selection.texts.are_found());
        // A page that could not be read may have it.
        let texts = texts.filter(|(_, is_found)| !is_found && !tree.pages.is_empty() && tree.failed.is_empty());
        let texts = texts.map(|(text, _)| Unused { list: List::Texts, glob: text.clone() });
        Ok(unused(tree, &lists).into_iter().chain(texts).collect())
    }
}

/// The pages of a check, before they are compared.
pub struct Pages<'a> {
    check: Check<'a>,
    roots: Vec<Root>,
    tree: Tree,
    unused: Vec<Unused>,
}

impl Pages<'_> {
    /// The pages that were read.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Globs that match nothing.
    pub fn unused(&self) -> &[Unused] {
        &self.unused
    }

    /// Finds the copies.
    ///
    /// # Errors
    /// Git cannot determine what changed in one of the pages.
    pub fn find(self) -> Result<Outcome, Error> {
        let Pages { check, roots, tree, unused } = self;
        let Check { request, rules, selection, changes, baseline, pool, .. } = check;
        let min_words = request.find.min_words;
        let (found, past) = pool.install(|| -> Result<_, SinceError> {
            let covered = if baseline.is_some() { Covered::Apart } else { Covered::Dropped };
            let found = found(&tree.pages, &rules, &request.find, covered);
            let Some(changes) = &changes else { return Ok((found, None)) };
            refuse_unknown(&tree, changes)?;
            Ok((found, Some(Past::read(&tree, &roots, &selection, changes)?)))
        })?;
        let Found { mut findings, covered, grader, allowed, cut_short, idle } = found;
        // Of pages that were compared in part, it is not known what accepts a copy.
        let idle = if cut_short == 0 { self::idle(idle, request, &unused, &tree) } else { Vec::new() };
        let index = changes.as_ref().and_then(Changes::index);
        let roots = request.paths.iter().map(|root| place(root)).collect();
        let checked = Checked { tree: &tree, roots, min_words, changes: changes.as_ref() };
        let entries = baseline.as_ref().map(|baseline| baseline.accept(&mut findings, &covered, &checked, &grader));
        let unaccepted = |findings: &[Finding]| findings.iter().filter(|finding| !finding.accepted).count();
        let all = unaccepted(&findings);
        if let Some(past) = &past {
            // What longer findings covered then was there too.
            let then = pool.install(|| self::found(past.pages(), &rules, &request.find, Covered::Reported));
            past.keep_new(&mut findings, &then.findings, min_words, &grader);
        }
        let left = all - unaccepted(&findings);
        let is_selected = selection_of(request, &findings)?;
        let known = baseline.as_ref().zip(entries.as_ref());
        let reason = request.reason.as_deref();
        let update = match known {
            Some((baseline, entries)) if request.update_baseline => {
                Some(baseline.update(&mut findings, entries, (&checked, &grader), is_selected.as_deref(), reason, left))
            }
            Some((baseline, entries)) if request.prune_baseline => {
                refuse_part(&selection.ignored[0], baseline, entries, &checked).map_err(Error::Prune)?;
                Some(baseline.prune(&findings, entries, &checked))
            }
            _ => None,
        };
        // Those that an update drops are not stale any longer. Of a comparison, only what is new is of interest, unless asked for.
        let (accepted, is_written) = (accepted_of(&findings), is_written(update.as_ref()));
        let is_needed = |stale: &Stale| stale.is_needed(&accepted);
        let is_wanted = past.is_none() || request.fail_on_stale;
        let Entries { stale, renamed, .. } = entries.unwrap_or_default();
        // An update of all entries writes the new names.
        let is_named = matches!(update, Some(Update::Written { .. })) && request.accept.is_empty();
        let renamed = if past.is_none() && !is_named { renamed.into_iter().collect() } else { Vec::new() };
        let mut stale = if is_wanted { stale } else { Vec::new() };
        stale.retain(|stale| !is_written || is_needed(stale));
        let needed = stale.iter().filter(|stale| is_needed(stale)).count();
        let stale = stale.into_iter().map(|stale| stale.entry).collect();
        let is_unplaced = |finding: &&Finding| !finding.accepted && finding.places.iter().all(|place| !place.is_new);
        let used = baseline.as_ref().filter(|baseline| past.is_none() && !baseline.is_missing());
        let unplaced = used.map_or(0, |_| findings.iter().filter(is_unplaced).count());
        let outside = used.and_then(|baseline| baseline.outside(&findings)).filter(|_| !is_written);
        let lacks_pages = used.is_some_and(|baseline| !baseline.knows_pages());
        let root = current_repository();
        let is_elsewhere = unaccepted(&findings) > 0
            && baseline.as_ref().is_some_and(|baseline| baseline.is_elsewhere(index, root.as_deref()));
        propose(&mut findings, grader.links.as_ref(), &rules);
        drop(grader);
        Ok(Outcome {
            findings,
            stale,
            renamed,
            needed,
            unplaced,
            lacks_pages,
            outside,
            is_elsewhere,
            allowed,
            idle,
            pages: tree.pages.len(),
            words: tree.pages.iter().map(|page| page.words().len()).sum(),
            bytes: tree.bytes,
            cut_short,
            failed: tree.failed,
            notices: tree.notices,
            data: tree.data,
            untracked: tree.untracked,
            removed: tree.removed,
            unused,
            update,
            grade: request.grade,
            sort: request.sort,
            fail_on: request.fail_on,
            max_findings: request.max_findings,
            fail_on_stale: request.fail_on_stale,
            baseline: request.baseline.clone(),
            left_out: tree.left_out.len(),
            link: request.link.clone(),
            root,
            only_new: changes.is_some(),
        })
    }
}

/// What to do with what is redundant because longer findings cover its places.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Covered {
    Dropped,
    /// It is not reported, but an entry of a baseline for it is not stale.
    Apart,
    /// It is a finding like others.
    Reported,
}

/// The findings that remain after the rules.
struct Found<'a> {
    findings: Vec<Finding>,
    /// What these cover.
    covered: Vec<Finding>,
    grader: Grader<'a>,
    allowed: usize,
    cut_short: usize,
    /// The entries of [`Request::allow`] that accepted nothing.
    idle: Vec<usize>,
}

fn found<'a>(pages: &'a [Arc<Page>], rules: &Rules, options: &find::FindOptions, covered: Covered) -> Found<'a> {
    let scopes = rules.of(pages);
    let documents: Vec<Document> =
        pages.iter().zip(&scopes.of_page).map(|(page, &scope)| page.document(scope)).collect();
    let languages = Languages::of(pages);
    // A page copies that of its own language, rather than what is not translated of it yet.
    let rank = |a: &find::Place, b: &find::Place| usize::from(languages.is_of_translation([a.document, b.document]));
    let judge = |finding: &find::Finding| {
        Some(Judgement { number: scopes.verdict(finding)? as usize, rank: rank(&finding.a, &finding.b) })
    };
    let with_covered = covered != Covered::Dropped;
    let (find::Found { findings, cut_short, .. }, redundant) = find_with(&documents, options, with_covered, judge);
    let is_reported = |finding: &find::Finding| scopes.verdict(finding) == Some(Verdict::Reported);
    let (mut reported, allowed): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_reported);
    let mut redundant: Vec<find::Finding> = redundant.into_iter().filter(is_reported).collect();
    if covered == Covered::Reported {
        reported.append(&mut redundant);
    }
    let mut findings = Finding::all(pages, find::grouped(reported));
    let grader = Grader::new(&mut findings, pages, rules, options);
    let in_files = if covered == Covered::Reported { Vec::new() } else { whole_files::take_covered(&mut findings) };
    let mut covered = Finding::all(pages, find::grouped(redundant));
    covered.extend(in_files);
    Found { findings, covered, grader, allowed: find::grouped(allowed).len(), cut_short, idle: scopes.idle() }
}

/// The entries that accepted nothing, if all pages that they may be for were read, without those of which that is reported otherwise.
fn idle(idle: Vec<usize>, request: &Request, unused: &[Unused], tree: &Tree) -> Vec<Allow> {
    if !request.is_whole || !tree.failed.is_empty() {
        return Vec::new();
    }
    let is_unused = |glob: &String| unused.iter().any(|one| one.list == List::Allow && one.glob == *glob);
    let is_known = |allow: &Allow| allow.text.is_some() || allow.lists().flatten().any(is_unused);
    idle.into_iter().map(|entry| &request.allow[entry]).filter(|allow| !is_known(allow)).cloned().collect()
}

/// Refuses to drop stale entries if some are of pages that this run left out, because of its paths or of what it ignores, so that it is not
/// known of all whether they are stale. Those of pages that the configuration excludes are kept.
fn refuse_part(ignored: &Globs, baseline: &Baseline, entries: &Entries, checked: &Checked) -> Result<(), PruneError> {
    match baseline.unchecked(entries, checked, ignored).filter(|_| checked.tree.failed.is_empty()) {
        Some(Unchecked { entries, page, is_ignored }) => Err(PruneError::Part { entries, page, is_ignored }),
        None => Ok(()),
    }
}

/// Whether the baseline is to be replaced.
fn is_written(update: Option<&Update>) -> bool {
    matches!(update, Some(Update::Written { .. } | Update::Pruned { .. }))
}

type IsSelected = Box<dyn Fn(&Finding) -> bool>;

/// Which findings an update of the baseline accepts; `None` for all that there are. Of a comparison, those that are new.
///
/// # Errors
/// None is as [`accept`](Request::accept) says.
fn selection_of(request: &Request, findings: &[Finding]) -> Result<Option<IsSelected>, Error> {
    let is_comparison = request.since.is_some() || request.staged;
    if request.accept.is_empty() {
        return Ok(is_comparison.then(|| -> IsSelected { Box::new(|_| true) }));
    }
    let root = current_repository();
    let is_named = move |finding: &Finding, typed: &str| finding.is_named(typed, root.as_deref());
    if let Some(unknown) = request.accept.iter().find(|typed| !findings.iter().any(|finding| is_named(finding, typed)))
    {
        return Err(Error::UnknownFinding(unknown.clone()));
    }
    let accept = request.accept.clone();
    Ok(Some(Box::new(move |finding| accept.iter().any(|typed| is_named(finding, typed)))))
}

/// A folder as an absolute path without links.
fn folder(path: &Path) -> Result<PathBuf, Error> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let found = fs::canonicalize(path);
    found.map_err(|error| crate::Error::input(format!("cannot resolve the folder {}", path.display()), error).into())
}

fn globs(base: &Path, globs: &[String], list: List) -> Result<Globs, Error> {
    Globs::new(base, globs).map_err(|message| Error::Globs { list, message })
}

fn selection(request: &Request, base: &Path) -> Result<Selection, Error> {
    let here = globs(&folder(Path::new("."))?, &request.ignore_here, List::IgnoreHere)?;
    let reports = request.reports.iter().filter_map(|target| target.file.as_deref());
    let written = reports.filter(|file| report::is_report(file)).chain(request.baseline.as_deref());
    Ok(Selection {
        ignored: [here, globs(base, &request.ignore, List::Ignore)?],
        written: written.map(place).collect(),
        walk: request.walk,
        docstrings: request.counts(Counted::Docstrings),
        is_report: report::starts_report,
        prose: prose::ProseOptions {
            code: request.counts(Counted::Code),
            links: request.counts(Counted::Links),
            front_matter: request.counts(Counted::FrontMatter),
            licences: request.counts(Counted::Licences),
            contents: request.counts(Counted::Contents),
        },
        texts: Texts::new(request.allow.iter().filter_map(|allow| allow.text.as_deref())),
    })
}

/// Refuses pages whose changes git cannot determine.
fn refuse_unknown(tree: &Tree, changes: &Changes) -> Result<(), SinceError> {
    let unknown = tree.pages.iter().find_map(|page| Some((page, changes.unknown(&page.place)?)));
    match unknown {
        Some((page, message)) => Err(SinceError::Page { path: page.path.clone(), message }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_comparison_at_a_time() {
        let both = Request { since: Some("HEAD".into()), staged: true, ..Request::default() };
        assert!(matches!(run(&both), Err(Error::SinceAndStaged)));
    }
}
