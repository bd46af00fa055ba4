//! Which documents count: those that were not removed, did not expire and are in the window.

use super::options::Limits;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of forgotten documents that may always stay in the tables.
const STALE_ALLOWED: usize = if cfg!(test) { 50 } else { 1000 };

/// Look-ups skip about so many removed documents in the time that it takes to copy one document to new tables, if its record is in the
/// memory of the system: 60 ns each was measured in an index of 150,000 documents.
pub(super) const SKIPS_OF_A_COPY: u64 = 64;

/// Which documents of the tables are remembered, by their numbers, which are given in turn.
#[derive(Default)]
pub(super) struct Remembered {
    window: Option<u64>,
    /// The age at which documents expire, in seconds.
    expire: Option<u64>,
    /// The number of documents in the tables.
    entered: u32,
    /// The times of the documents that have not expired, in seconds, the oldest first; only if documents expire.
    times: BinaryHeap<Reverse<(u32, u32)>>,
    /// Documents below this number are forgotten.
    forgotten: u32,
    /// The other forgotten documents: those that were removed, and the expired ones of the rest, with their times.
    removed: BTreeSet<u32>,
    /// The documents below `forgotten` that were removed: another run may remember more.
    removed_before: Vec<u32>,
    expired: BTreeMap<u32, u32>,
    /// All documents below this number are forgotten.
    gone: u32,
    /// The last time of the clock.
    now: u64,
    /// How often look-ups skipped a removed document of these tables.
    skipped: AtomicU64,
}

impl Remembered {
    pub fn new(limits: &Limits) -> Self {
        Remembered { window: limits.window, expire: limits.expire, ..Remembered::default() }
    }

    /// Continues with documents that are in the tables already: their number, their times if documents expire, and those
    /// that were removed.
    pub fn continue_with(&mut self, documents: u32, times: Vec<u32>, removed: Vec<u32>) {
        self.entered = documents;
        self.times = times.into_iter().zip(0..).map(Reverse).collect();
        self.removed = removed.into_iter().collect();
    }

    /// Enters the next document, with its time in seconds.
    pub fn enter(&mut self, time: u32) {
        if self.expire.is_some() {
            self.times.push(Reverse((time, self.entered)));
        }
        self.entered += 1;
    }

    /// Whether a document is remembered. A damaged table may have any document.
    pub fn has(&self, document: u32) -> bool {
        (self.forgotten..self.entered).contains(&document)
            && !self.removed.contains(&document)
            && !self.expired.contains_key(&document)
    }

    /// The same for a document that a look-up found, which is counted if it is skipped because it was removed.
    pub fn is_found(&self, document: u32) -> bool {
        let has = self.has(document);
        if !has && self.removed.contains(&document) {
            self.skipped.fetch_add(1, Ordering::Relaxed);
        }
        has
    }

    /// How many documents look-ups skipped because they were removed.
    pub fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Whether skipping removed documents has taken as much time as making the tables anew. An id that changes again and again is
    /// found under all of its texts, long before most of the tables is stale.
    pub fn is_skipped_often(&self) -> bool {
        self.removed.len() > STALE_ALLOWED && self.skipped() > SKIPS_OF_A_COPY * u64::from(self.entered)
    }

    /// The documents that are remembered, ascending.
    pub fn documents(&self) -> impl Iterator<Item = u32> {
        (self.gone..self.entered).filter(|&document| self.has(document))
    }

    /// The number of documents that are remembered.
    pub fn len(&self) -> u64 {
        self.in_window() - self.expired.len() as u64
    }

    /// The number of documents that are remembered at a time, which is that of the clock or a later one.
    pub fn len_at(&self, now: u64) -> u64 {
        let Some(expire) = self.expire else { return self.len() };
        let is_old = |time: u32| u64::from(time).saturating_add(expire) <= now;
        let is_expiring = |&&Reverse((time, document)): &&Reverse<(u32, u32)>| is_old(time) && self.has(document);
        self.len() - self.times.iter().filter(is_expiring).count() as u64
    }

    /// The number of documents that count for a window: expired ones do, removed ones do not.
    fn in_window(&self) -> u64 {
        u64::from(self.entered) - u64::from(self.forgotten) - self.removed.len() as u64
    }

    /// All documents before this one are forgotten, for whatever reason.
    pub fn first(&self) -> u32 {
        self.gone
    }

    /// Documents below this number are forgotten, and never remembered again.
    pub fn forgotten(&self) -> u32 {
        self.forgotten
    }

    /// All documents that were removed.
    pub fn removed(&self) -> impl ExactSizeIterator<Item = u32> {
        // A chain does not know its length.
        let all: Vec<u32> = self.removed_before.iter().chain(&self.removed).copied().collect();
        all.into_iter()
    }

    /// Bytes of memory.
    pub fn bytes_held(&self) -> u64 {
        8 * (self.times.capacity() + 2 * self.expired.len() + self.removed.len()) as u64
    }

    /// Removes a document.
    pub fn remove(&mut self, document: u32) {
        if document < self.forgotten {
            self.removed_before.push(document);
        } else {
            self.removed.insert(document);
            self.expired.remove(&document);
        }
    }

    /// Removes the document at a place, if it is among these, which are those of all documents.
    pub fn remove_at(&mut self, places: &[u64], place: u64) {
        if let Ok(document) = places.binary_search(&place) {
            self.remove(document as u32);
        }
    }

    /// Forgets documents that are too old, or too many for the window. Returns whether most of what is in the tables is
    /// forgotten.
    pub fn forget(&mut self, now: u64) -> bool {
        self.expire(now);
        if let Some(window) = self.window {
            while self.in_window() > window {
                match self.removed.remove(&self.forgotten) {
                    true => self.removed_before.push(self.forgotten),
                    false => _ = self.expired.remove(&self.forgotten),
                }
                self.forgotten += 1;
            }
        }
        self.gone = self.gone.max(self.forgotten);
        while self.removed.contains(&self.gone) || self.expired.contains_key(&self.gone) {
            self.gone += 1;
        }
        self.stale() > self.entered as usize / 2 + STALE_ALLOWED
    }

    /// Whether more than half of what is in the tables is forgotten.
    pub fn is_mostly_stale(&self) -> bool {
        self.stale() > self.entered as usize / 2
    }

    /// The number of stale documents in the tables. With a window, removed and expired ones count up to the first document
    /// that is remembered; they stay until the window has passed them.
    fn stale(&self) -> usize {
        match self.window {
            Some(_) => self.gone as usize,
            None => self.forgotten as usize + self.removed.len() + self.expired.len(),
        }
    }

    /// Expires documents that are too old by this clock. If the clock goes back, expired documents that are not too old
    /// are remembered again, as long as they are in the tables.
    fn expire(&mut self, now: u64) {
        let Some(expire) = self.expire else { return };
        let is_old = |time: u32| u64::from(time).saturating_add(expire) <= now;
        if now < self.now {
            let times = &mut self.times;
            self.expired.retain(|&document, &mut time| {
                if !is_old(time) {
                    times.push(Reverse((time, document)));
                }
                is_old(time)
            });
            self.gone = self.forgotten;
        }
        self.now = now;
        while let Some(&Reverse((time, document))) = self.times.peek()
            && is_old(time)
        {
            self.times.pop();
            if self.has(document) {
                self.expired.insert(document, time);
            }
        }
    }

    /// No document before this one [stays](Self::stays), now or later.
    pub fn first_staying(&self) -> u32 {
        if self.window.is_some() { self.gone } else { self.forgotten }
    }

    /// Whether a document has to be in new tables: it is remembered, or a window still counts it.
    pub fn stays(&self, document: u32) -> bool {
        (self.first_staying()..self.entered).contains(&document)
            && !self.removed.contains(&document)
            && (self.window.is_some() || !self.expired.contains_key(&document))
    }

    /// The last time of the clock.
    #[cfg(any(feature = "python", all(test, feature = "clean")))]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// For new tables, without documents.
    pub fn successor(&self) -> Self {
        Remembered { window: self.window, expire: self.expire, now: self.now, ..Remembered::default() }
    }

    /// Starts again without documents, and returns which stay: those that are remembered, and with a window those that it
    /// still counts. They are to be entered again, in this order.
    pub fn restart(&mut self) -> Vec<u32> {
        let staying = (self.first_staying()..self.entered).filter(|&document| self.stays(document)).collect();
        *self = self.successor();
        staying
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What happens to an index.
    #[derive(Clone, Debug)]
    enum Event {
        Enter,
        Remove(u32),
        Clock(u64),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![4 => Just(Event::Enter), 1 => (0u32..60).prop_map(Event::Remove), 2 => (0u64..40).prop_map(Event::Clock)]
    }

    proptest! {
        /// The plain rule, over all documents: not removed; among the last `window` of those; not older than `expire`.
        #[test]
        fn what_is_remembered_follows_the_plain_rule(
            events in prop::collection::vec(event(), 0..120),
            window in prop::option::of(1u64..12),
            expire in prop::option::of(1u64..20),
        ) {
            let limits = Limits { window, expire, ..Limits::default() };
            let mut remembered = Remembered::new(&limits);
            let mut documents: Vec<(u32, bool)> = Vec::new();
            // A window that has passed a document does not come back when others are removed.
            let (mut now, mut passed) = (0, 0);
            for event in events {
                match event {
                    Event::Enter => {
                        remembered.enter(now as u32);
                        documents.push((now as u32, false));
                    }
                    Event::Remove(document) if (document as usize) < documents.len() => {
                        remembered.remove(document);
                        documents[document as usize].1 = true;
                    }
                    Event::Remove(_) => {}
                    Event::Clock(time) => now = time,
                }
                remembered.forget(now);
                if let Some(window) = window {
                    while documents[passed..].iter().filter(|(_, removed)| !removed).count() as u64 > window {
                        passed += 1;
                    }
                }
                let is_young = |time: u32| expire.is_none_or(|expire| u64::from(time) + expire > now);
                let expected: Vec<u32> = (passed..documents.len())
                    .filter(|&i| !documents[i].1 && is_young(documents[i].0))
                    .map(|i| i as u32)
                    .collect();
                prop_assert_eq!(remembered.documents().collect::<Vec<_>>(), expected.clone());
                prop_assert_eq!(remembered.len(), expected.len() as u64);
                let later = |time: u32| expire.is_none_or(|expire| u64::from(time) + expire > now + 7);
                let left = expected.iter().filter(|&&i| later(documents[i as usize].0)).count();
                prop_assert_eq!(remembered.len_at(now + 7), left as u64);
                let removed: BTreeSet<u32> = remembered.removed().collect();
                let marked = (0..documents.len() as u32).filter(|&i| documents[i as usize].1);
                prop_assert_eq!(removed, marked.collect::<BTreeSet<_>>());
            }
        }
    }
}
