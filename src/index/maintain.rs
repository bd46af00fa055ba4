//! Operations on the file of an index as a whole.

use super::checkpoint::Checkpoint;
use super::entry::{Entry, Record};
use super::file::{is_at, sync_folder};
use super::forgetting::Forgetting;
use super::header::Header;
use super::log::Log;
use super::repeat::{BEGIN, DIGEST, Past, Tail, name};
use super::shape::{Kind, chooses_tables};
use super::stored::{End, Reading, Repair, Step, Stored};
use super::unconfirmed::{Left, is_unnamed};
use crate::algorithm::FingerprintForm;
use crate::error::Error;
use crate::hamming::{Distribution, Layout};
use crate::replace::Replacement;
use serde_json::Value;
use std::collections::BTreeSet;
#[cfg(unix)]
use std::fs::Permissions;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

/// Information about an index file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// How its signatures were made.
    pub header: Header,
    /// The version of its format.
    pub version: u32,
    /// Documents in it, including those without features, except removed ones.
    pub documents: u64,
    /// Documents without features, including removed ones.
    pub featureless: u64,
    /// Documents that were removed but still take space in the file.
    pub removed: u64,
    /// Of the documents in it, those that an interrupted run may not have written: such a document passes again, once, whether it has an id or
    /// not. See [`Index::has_unconfirmed`](super::Index::has_unconfirmed).
    pub unconfirmed: u64,
    /// When the first and the last document passed, in seconds since 1970; removed ones count.
    pub times: Option<(u64, u64)>,
    /// The id of the last document in it, except removed ones.
    pub last_id: Option<String>,
    /// What the last run forgot that decided on documents and wrote to the file, as far as it noted that. [`remembered`] says what is left.
    pub forgetting: Forgetting,
    /// Bytes of the file that hold whole records.
    pub bytes: u64,
    /// Bytes after them that an interrupted write left. They are not cut off.
    pub torn: Option<Repair>,
}

/// A document of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredDocument {
    /// Its id.
    pub id: String,
    /// When it passed, in seconds since 1970.
    pub time: u64,
    /// What is compared: its fingerprint, or its features. Empty if it has too few features, or if only
    /// [`StoredDocuments::with_fingerprints`] reads it.
    pub words: Vec<u64>,
    /// What the words are.
    pub form: FingerprintForm,
}

impl StoredDocument {
    /// What is compared, as text; `None` if there is nothing.
    pub fn hex(&self) -> Option<String> {
        (!self.words.is_empty()).then(|| self.form.write(&self.words))
    }
}

/// The documents of an index that were not removed, in the order in which they passed. The file is not changed, and may
/// be written to at the same time. Every checksum is checked.
///
/// The iterator ends after an error, which [`summary`](Self::summary) then returns too.
pub struct StoredDocuments {
    stored: Stored,
    reading: Reading,
    /// The places of removed documents.
    gone: BTreeSet<u64>,
    /// What is known of what has left.
    left: Left,
    /// What was read so far; at the end, of the whole index.
    summary: Summary,
    has_ended: bool,
    /// The error that ended it.
    failed: Option<Error>,
}

/// The documents of an index.
///
/// # Errors
/// The file cannot be read, is not an index, or is damaged.
///
/// # Cost
/// The file is read once here, and once by the iterator. Memory: 8 bytes for each document that was removed.
pub fn documents(path: &Path) -> Result<StoredDocuments, Error> {
    let mut stored = Stored::open(path)?;
    let header = Header::of(&stored)?;
    stored.reads.skips_evidence = true;
    let Survey { gone, forgetting, left, .. } = survey(&mut stored, 0)?;
    let reading = stored.begin()?;
    let (version, bytes) = (stored.version, stored.start().at);
    let summary = Summary {
        header,
        version,
        documents: 0,
        featureless: 0,
        removed: 0,
        unconfirmed: 0,
        times: None,
        last_id: None,
        forgetting,
        bytes,
        torn: None,
    };
    Ok(StoredDocuments { stored, reading, gone, left, summary, has_ended: false, failed: None })
}

/// Reads an index from start to end, and checks every checksum.
///
/// # Errors
/// As for [`documents`].
///
/// # Cost
/// As for [`documents`].
pub fn inspect(path: &Path) -> Result<Summary, Error> {
    documents(path)?.summary()
}

impl StoredDocuments {
    /// Also reads what is compared of each document. Decoding features takes most of the time.
    pub fn with_fingerprints(mut self) -> Self {
        self.stored.reads.skips_evidence = false;
        self
    }

    /// Reads what is left, and returns what the index holds.
    ///
    /// # Errors
    /// The first error of the iterator, also if it was returned before.
    pub fn summary(mut self) -> Result<Summary, Error> {
        self.by_ref().try_for_each(|document| document.map(drop))?;
        self.failed.map_or(Ok(self.summary), Err)
    }

    fn read(&mut self) -> Result<Option<StoredDocument>, Error> {
        let summary = &mut self.summary;
        loop {
            let (place, record) = match self.stored.step(&mut self.reading)? {
                Step::Entry(place, Entry::Document(record)) => (place, record),
                Step::Entry(..) => continue,
                Step::End(End { at, torn, .. }) => {
                    (summary.bytes, summary.torn) = (at, torn);
                    return Ok(None);
                }
            };
            let Record { id, time, kind, is_added, evidence: words, .. } = record;
            summary.featureless += u64::from(kind == Kind::Featureless);
            let (first, last) = summary.times.unwrap_or((time, time));
            summary.times = Some((first.min(time), last.max(time)));
            if self.gone.contains(&place) {
                summary.removed += 1;
                continue;
            }
            summary.documents += 1;
            summary.last_id.get_or_insert_default().clone_from(&id);
            let may_not_have_left = matches!(self.left, Left::Before(left) if left <= place);
            let is_sought = !is_added && (kind != Kind::Featureless || !is_unnamed(&id));
            summary.unconfirmed += u64::from(may_not_have_left && is_sought);
            let form = if kind == Kind::Features { FingerprintForm::StoredElements } else { summary.header.form() };
            return Ok(Some(StoredDocument { id, time, words, form }));
        }
    }
}

impl Iterator for StoredDocuments {
    type Item = Result<StoredDocument, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let next = self.read().transpose();
        self.has_ended = !matches!(next, Some(Ok(_)));
        if let Some(Err(error)) = &next {
            self.failed = Some(same(error));
        }
        next
    }
}

/// An error of reading again.
fn same(error: &Error) -> Error {
    match error {
        Error::Index { path, fault, message } => {
            Error::Index { path: path.clone(), fault: *fault, message: message.clone() }
        }
        Error::Io { what, error } => Error::io(what.clone(), io::Error::new(error.kind(), error.to_string())),
        other => Error::io("cannot read the index", io::Error::other(other.to_string())),
    }
}

/// How the fingerprints of an index are distributed over their bits and over the keys of its tables. `None` if it does not
/// hold fingerprints of bits. Removed documents do not count.
///
/// # Errors
/// As for [`inspect`].
///
/// # Cost
/// The file is read twice; then a sort of all fingerprints for each table. Memory: the fingerprints, and 8 bytes for each.
pub fn distribution(path: &Path) -> Result<Option<Distribution>, Error> {
    let mut stored = Stored::open(path)?;
    let Some(layout) = layout_of(&stored.header) else { return Ok(None) };
    stored.reads.skips_evidence = true;
    let gone = survey(&mut stored, 0)?.gone;
    stored.reads.skips_evidence = false;
    let mut fingerprints = Vec::new();
    stored.each(|place, entry, _| {
        if let Entry::Document(record) = entry
            && !gone.contains(&place)
        {
            fingerprints.extend_from_slice(&record.evidence);
        }
        Ok(())
    })?;
    Ok(Some(Distribution::of(&fingerprints, &layout)))
}

/// The layout of the tables of an index with this header.
fn layout_of(header: &Value) -> Option<Layout> {
    if !chooses_tables(header) {
        return None;
    }
    let number = |name: &str| header.get(name)?.as_u64()?.try_into().ok();
    let bits: usize = number("bits").filter(|bits| (32..=MOST_BITS).contains(bits) && bits % 32 == 0)?;
    let distance = match number("distance") {
        Some(distance) => distance,
        None => bits.checked_sub(number("agree")?)?,
    };
    if distance >= bits {
        return None;
    }
    Some(Layout::with_tables(bits, distance, number("tables")?).unwrap_or(Layout::one_level(
        bits,
        distance,
        distance + 1,
    )))
}

/// The most bits of a fingerprint.
const MOST_BITS: usize = 1024;

/// What is known of an index after reading it once.
struct Survey {
    /// The places of documents that were removed.
    gone: BTreeSet<u64>,
    /// The last decisions, at most so many.
    tail: Tail,
    /// What the last run forgot.
    forgetting: Forgetting,
    /// What is known of what has left.
    left: Left,
}

fn survey(stored: &mut Stored, most: usize) -> Result<Survey, Error> {
    let (gone, tail) = (BTreeSet::new(), Tail::new(most));
    let mut survey = Survey { gone, tail, forgetting: Forgetting::default(), left: Left::default() };
    let (mut reading, mut gaps) = (stored.begin()?, 0);
    while let Step::Entry(place, entry) = stored.step(&mut reading)? {
        if gaps != reading.gaps() {
            gaps = reading.gaps();
            survey.left.lose_before(place);
        }
        survey.tail.read(place, &entry);
        survey.forgetting.read(&entry);
        survey.left.read(&entry);
        if let Entry::Removed(places) = entry {
            survey.gone.extend(places);
        }
    }
    Ok(survey)
}

/// How many documents a run remembers that opens an index at a time, in seconds since 1970, and forgets these. Also when the
/// oldest of them passed.
///
/// # Errors
/// As for [`documents`].
///
/// # Cost
/// The file is read twice; three times with a window. Memory: as for [`documents`].
pub fn remembered(path: &Path, forgetting: Forgetting, now: u64) -> Result<(u64, Option<u64>), Error> {
    let mut stored = Stored::open(path)?;
    stored.reads.skips_evidence = true;
    let gone = survey(&mut stored, 0)?.gone;
    let mut too_many = match forgetting.window {
        Some(window) => remaining(&mut stored, &gone)?.saturating_sub(window),
        None => 0,
    };
    let (mut documents, mut oldest) = (0, None);
    stored.each(|place, entry, _| {
        let Entry::Document(Record { time, .. }) = entry else { return Ok(()) };
        if gone.contains(&place) {
            return Ok(());
        }
        if too_many > 0 {
            // Expired documents count for a window.
            too_many -= 1;
        } else if forgetting.expire.is_none_or(|expire| time.saturating_add(expire) > now) {
            documents += 1;
            oldest = Some(oldest.map_or(time, |oldest: u64| oldest.min(time)));
        }
        Ok(())
    })?;
    Ok((documents, oldest))
}

/// Copies an index to a new file, also while another process writes to it: the copy has all documents that were on the disk
/// when the copy began, and nothing incomplete. It is read back and checked before it appears under its name. It has the mode of
/// the index, and its owner and group where the system allows it. Until it is complete, only its owner may read it.
///
/// # Errors
/// Those of [`documents`]; or the copy exists already or cannot be written.
///
/// # Cost
/// The index is read three times, the copy is written once and read twice.
pub fn snapshot(path: &Path, copy: &Path) -> Result<Summary, Error> {
    let cannot_read = |error| Error::input(format!("cannot read the index {}", path.display()), error);
    let documents = documents(path)?;
    // Of the same file, if another takes its place meanwhile.
    let mut file = documents.stored.file().try_clone().map_err(cannot_read)?;
    let summary = documents.summary()?;
    file.rewind().map_err(cannot_read)?;
    let cannot_write = |error| Error::output(format!("cannot write {}", copy.display()), io::Error::other(error));
    if copy.symlink_metadata().is_ok() {
        return Err(cannot_write(io::Error::other(
            "the file exists, and a snapshot replaces none: choose another name",
        )));
    }
    let mut new = Replacement::new(copy).map_err(cannot_write)?;
    // Nobody else may read the copy until it has the group and the mode of the index.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        new.file().set_permissions(Permissions::from_mode(0o600)).map_err(cannot_write)?;
    }
    let mut whole = file.by_ref().take(summary.bytes);
    io::copy(&mut whole, new.file()).and_then(|_| new.file().sync_all()).map_err(cannot_write)?;
    let copied = inspect(new.path())?;
    if (copied.documents, copied.bytes, copied.torn) != (summary.documents, summary.bytes, None) {
        return Err(cannot_write(io::Error::other(
            "the copy differs from what was read: the disk may be failing, or the index was changed by another program",
        )));
    }
    new.take_rights(path).map_err(cannot_write)?;
    new.commit_new().map_err(cannot_write)?;
    Ok(copied)
}

/// The result of a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removed {
    /// The number of documents that were forgotten.
    pub documents: u64,
    /// Ids that no document has.
    pub unknown: BTreeSet<String>,
    /// The incomplete end of an interrupted write, which was cut off.
    pub torn: Option<Repair>,
}

/// Makes an index forget all documents with these ids. They take space until the index is [compacted](compact).
///
/// # Errors
/// The file cannot be read or written, is not an index, is damaged, or has another writer.
pub fn remove(path: &Path, mut ids: BTreeSet<String>) -> Result<Removed, Error> {
    let (mut log, mut stored) = Log::open_any(path)?;
    stored.reads.skips_evidence = true;
    let gone = survey(&mut stored, 0)?.gone;
    let (mut places, mut found) = (Vec::new(), BTreeSet::new());
    let end = stored.each(|place, entry, _| {
        if let Entry::Document(record) = entry
            && ids.contains(&record.id)
            && !gone.contains(&place)
        {
            places.push(place);
            found.insert(record.id);
        }
        Ok(())
    })?;
    let checkpoint = Checkpoint::of(path);
    if checkpoint.read().is_some_and(|made| made.limits.window.is_some()) {
        // Without these, documents are in the window that its tables do not have.
        checkpoint.remove();
    }
    stored.remove_stale_checkpoint(&end);
    log.start_at(&end)?;
    log.remove(&places);
    log.seal()?;
    ids.retain(|id| !found.contains(id));
    Ok(Removed { documents: places.len() as u64, unknown: ids, torn: end.torn })
}

/// The documents that compacting leaves out, beside removed ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outdated {
    /// Documents that passed before this time, in seconds since 1970.
    pub before: u64,
    /// All but this many latest documents.
    pub window: Option<u64>,
    /// Whether damaged parts are left out too; otherwise they are an error.
    pub damaged: bool,
}

/// The result of compacting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// The number of documents that were kept.
    pub documents: u64,
    /// The number of documents that were left out because they had been removed or were too old.
    pub dropped: u64,
    /// Bytes of the file before, including incomplete ones, and after.
    pub bytes: (u64, u64),
    /// Damaged bytes of the file, which were left out. How many documents were in them is not known.
    pub damaged: u64,
    /// Bytes that were lost before, and were not in the file any more, as far as the records after them, which moved, show it.
    pub missing: u64,
    /// How many bytes longer the file was when its checkpoint was made: they are lost, unless it is an older copy.
    pub missing_at_end: u64,
    /// The incomplete end of an interrupted write, which was left out. Of a damaged file it may be damage.
    pub torn: Option<Repair>,
    /// Where the damaged file was kept, if anything of it was left out with [`Outdated::damaged`].
    pub kept: Option<PathBuf>,
}

/// Rewrites an index without removed and outdated documents. The new file replaces the old one once it is complete and
/// on the disk. It keeps the owner, mode and access control list, and a symbolic link continues to point to it. If damaged parts are
/// left out, the old file is kept beside it, with `.damaged` after its name, and a number if that is taken.
///
/// The last decisions of an interrupted run can be repeated from the new file: it keeps their notes, and outdated
/// documents that others were dropped for. What it remembered and perhaps did not write stays unconfirmed. Where damaged parts are left out, notes of
/// what was written may be among them: what follows is then unconfirmed, unless a later note says that it was written.
///
/// # Errors
/// The file cannot be read, is not an index, is damaged, has another writer, or has another hard link; a file beside it
/// cannot be written, or cannot be given its owner.
///
/// # Cost
/// The file is read twice; three times with a window. The disk must have space for both files. Memory: 8 bytes for each
/// removed document, and at most some 50 MB for decisions of an interrupted run.
pub fn compact(path: &Path, outdated: Outdated) -> Result<Compacted, Error> {
    let (held, mut stored) = Log::open_any(path)?;
    let old = held.file().expect("it is in a file");
    stored.reads.skips_evidence = true;
    stored.salvages = outdated.damaged;
    let Survey { gone, tail, forgetting, left } = survey(&mut stored, KEPT_DECISIONS)?;
    let too_many = match outdated.window {
        Some(window) => remaining(&mut stored, &gone)?.saturating_sub(window),
        None => 0,
    };
    let failed = |error| Error::io(format!("cannot replace the index {}", path.display()), error);
    let mut new = Replacement::new(path).map_err(failed)?;
    // Checked before the work, not only after it.
    new.check_exact().map_err(failed)?;
    let mut log = Log::beside(&mut new, &stored.header)?;
    log.note_forgetting(forgetting);
    let mut rewriting = Rewriting::new(log, gone, tail, left, outdated.before, too_many);
    let end = stored.each(|place, entry, bytes| rewriting.take(place, entry, bytes))?;
    rewriting.note_left(u64::MAX);
    let Rewriting { mut log, documents, dropped, .. } = rewriting;
    if left == Left::All {
        log.note_left(left);
    }
    let before = end.at + end.torn.map_or(0, |torn| torn.bytes);
    let missing_at_end = if outdated.damaged { stored.missing_after(&end) } else { 0 };
    let has_lost = end.damaged > 0 || end.missing > 0 || missing_at_end > 0 || end.torn.is_some();
    log.seal()?;
    let after = log.len();
    if !is_at(old, new.target()).map_err(failed)? {
        return Err(failed(io::Error::other("it was moved or replaced meanwhile")));
    }
    let target = new.target().to_path_buf();
    // It is that of the old file.
    Checkpoint::of(&target).remove();
    let kept = match outdated.damaged && has_lost {
        true => new.commit_exact_keeping(".damaged").map_err(failed)?,
        false => new.commit_exact().map(|()| None).map_err(failed)?,
    };
    sync_folder(&target);
    let End { damaged, missing, torn, .. } = end;
    Ok(Compacted { documents, dropped, bytes: (before, after), damaged, missing, missing_at_end, torn, kept })
}

/// The number of documents that were not removed.
fn remaining(stored: &mut Stored, gone: &BTreeSet<u64>) -> Result<u64, Error> {
    let mut documents = 0;
    stored.each(|place, entry, _| {
        documents += u64::from(matches!(entry, Entry::Document(_)) && !gone.contains(&place));
        Ok(())
    })?;
    Ok(documents)
}

/// The entries of an old log on their way into a new one.
struct Rewriting {
    log: Log,
    /// The places of removed documents.
    gone: BTreeSet<u64>,
    /// The last decisions of an interrupted run.
    tail: Tail,
    /// What is known of what has left, until it was noted.
    left: Left,
    /// Documents that passed before this time are outdated, and so are this many of the next ones.
    before: u64,
    too_many: u64,
    /// Outdated documents that are kept because others were dropped for them, and the new place of each.
    originals: Vec<u64>,
    moved: Vec<Option<u64>>,
    /// Whether the run with the last decisions has begun, how many it has logged, and the first that is kept.
    has_begun: bool,
    count: u64,
    first: u64,
    documents: u64,
    dropped: u64,
}

impl Rewriting {
    fn new(log: Log, gone: BTreeSet<u64>, tail: Tail, left: Left, before: u64, too_many: u64) -> Self {
        let mut originals: Vec<u64> =
            tail.past().filter_map(|past| past.original).filter(|place| !gone.contains(place)).collect();
        originals.sort_unstable();
        originals.dedup();
        let (moved, first) = (vec![None; originals.len()], tail.count() - tail.past().len() as u64);
        let (has_begun, count, documents, dropped) = (false, 0, 0, 0);
        Rewriting {
            log,
            gone,
            tail,
            left,
            before,
            too_many,
            originals,
            moved,
            has_begun,
            count,
            first,
            documents,
            dropped,
        }
    }

    /// Notes that what is before a place has left, once all of that is taken over.
    fn note_left(&mut self, place: u64) {
        if matches!(self.left, Left::Before(left) if left <= place) {
            let now = self.log.next_place();
            self.log.note_left(Left::Before(now));
            self.left = Left::All;
        }
    }

    /// Takes over the next entry, if it is kept.
    fn take(&mut self, place: u64, entry: Entry, bytes: &[u8]) -> Result<(), Error> {
        match entry {
            Entry::Document(record) => {
                self.note_left(place);
                self.document(place, &record, bytes);
            }
            Entry::Notes(words) if words == [BEGIN] => {
                if self.tail.is_on && place == self.tail.begin {
                    self.has_begun = true;
                    self.log.mark(BEGIN);
                }
            }
            Entry::Notes(words) if self.has_begun && words.first() != Some(&DIGEST) => self.notes(&words),
            Entry::Notes(_) | Entry::Removed(_) | Entry::Synced | Entry::Call(_) => {}
        }
        if self.log.bytes_pending() > WRITTEN_AT_ONCE { self.log.commit(true) } else { Ok(()) }
    }

    fn document(&mut self, place: u64, record: &Record, bytes: &[u8]) {
        let is_decision = self.has_begun && !record.is_added;
        let is_recent = is_decision && self.count >= self.first;
        self.count += u64::from(is_decision);
        let is_gone = self.gone.contains(&place);
        let is_old = self.too_many > 0 || record.time < self.before;
        let original = self.originals.binary_search(&place);
        if is_gone || (is_old && original.is_err()) {
            self.dropped += 1;
            if is_recent {
                self.log.note(Past { name: name(&record.id, record.sequence), original: None });
            }
        } else {
            self.documents += 1;
            let now = self.log.copy(bytes);
            if let Ok(number) = original {
                self.moved[number] = Some(now);
            }
        }
        self.too_many -= u64::from(self.too_many > 0 && !is_gone);
    }

    fn notes(&mut self, words: &[u64]) {
        for past in Past::all(words) {
            let now = |place: u64| self.originals.binary_search(&place).ok().and_then(|at| self.moved[at]);
            let original = past.original.map(now);
            // The document that it was dropped for was removed: it is decided on again.
            if self.count >= self.first && original != Some(None) {
                self.log.note(Past { original: original.flatten(), ..past });
            }
            self.count += 1;
        }
    }
}

/// The maximum number of decisions of an interrupted run that are kept.
const KEPT_DECISIONS: usize = 1 << 20;

const WRITTEN_AT_ONCE: usize = 1 << 24;
