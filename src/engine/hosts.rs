//! Which sites repeat which: the pairs of a scan, counted by the hosts or folders of their documents.

use super::arrange::Outcome;
use super::decisions::Room;
use super::edges::sorter;
use crate::error::Error;
use crate::postings::{Buffer, Sorter, Stored};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// The maximum number of hosts that one text may be on. A text on more hosts does not show which of them repeats which,
/// and would take the square of their number.
pub const MAX_HOSTS_PER_TEXT: usize = 1000;

/// Two hosts that have near-duplicates of each other. `a` comes first in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostPair<'a> {
    /// The name of the one that comes first.
    pub a: &'a str,
    /// The name of the other.
    pub b: &'a str,
    /// The documents of each that have a near-duplicate on the other.
    pub pages: (u64, u64),
    /// All documents of each.
    pub of: (u64, u64),
}

/// The hosts of a scan; see [`Outcome::hosts`].
#[non_exhaustive]
pub struct Hosts {
    names: Vec<String>,
    documents: Vec<u64>,
    /// A row for each [pair](Self::pairs): the complement of the sum of both numbers of documents, for the order; both hosts; and the
    /// documents of the first that have a near-duplicate on the second, and the reverse.
    pairs: Stored,
    /// The number of documents whose id has no host.
    pub nameless: u64,
    /// The number of texts on more than [`MAX_HOSTS_PER_TEXT`] hosts, which were not counted.
    pub left_out: u64,
    /// The number of pairs of near-duplicates on different hosts, without those texts.
    pub document_pairs: u64,
}

impl fmt::Debug for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hosts { names, nameless, left_out, document_pairs, .. } = self;
        let mut hosts = f.debug_struct("Hosts");
        hosts.field("hosts", &names.len()).field("pairs", &self.count());
        hosts.field("nameless", nameless).field("left_out", left_out).field("document_pairs", document_pairs);
        hosts.finish_non_exhaustive()
    }
}

/// Two numbers below 2³² as one.
fn packed(a: u64, b: u64) -> u64 {
    a << 32 | b
}

fn unpacked(both: u64) -> (u64, u64) {
    (both >> 32, u64::from(both as u32))
}

/// The pairs of hosts that are read from a file at once.
const AT_ONCE: u64 = 1 << 10;

impl Hosts {
    /// The number of pairs of hosts.
    pub fn count(&self) -> u64 {
        self.pairs.len() / 3
    }

    /// The pairs of hosts: those with most repeated documents on both sides together first, then in input order. The iterator ends
    /// after an error.
    ///
    /// # Errors
    /// The pairs did not fit the memory of the scan, and the temporary file cannot be read.
    pub fn pairs(&self) -> impl Iterator<Item = Result<HostPair<'_>, Error>> {
        let (mut rows, mut at, mut buffer) = (Vec::new(), 0, Buffer::default());
        let (mut next, end) = (0, self.count());
        std::iter::from_fn(move || {
            if at == rows.len() {
                let some = next..end.min(next + AT_ONCE);
                rows.clear();
                (at, next) = (0, some.end);
                match self.pairs.rows::<3>(some, &mut buffer) {
                    Ok(read) => rows.extend_from_slice(read),
                    Err(error) => {
                        next = end;
                        return Some(Err(error));
                    }
                }
            }
            let &[_, hosts, pages] = rows.get(at)?;
            at += 1;
            let ((a, b), pages) = (unpacked(hosts), unpacked(pages));
            let [a, b] = [a as usize, b as usize];
            let of = (self.documents[a], self.documents[b]);
            Some(Ok(HostPair { a: &self.names[a], b: &self.names[b], pages, of }))
        })
    }
}

/// The host that an id names. The host of a URL, in lower case and without user and default port, followed by at most
/// `depth` folders of its path. Of another id, the folders before the last `/`: at most `depth`, or all if `depth` is
/// 0. Empty folders and `.` do not count. `None` if there is no host or folder.
pub fn host_of(id: &str, depth: usize) -> Option<Cow<'_, str>> {
    let Some((scheme, rest)) = id.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        let (path, _) = id.rsplit_once('/')?;
        let folders = leading(path, if depth == 0 { usize::MAX } else { depth });
        let root = if path.starts_with('/') && !folders.is_empty() { "/" } else { "" };
        return (!folders.is_empty())
            .then(|| if path == folders { folders } else { format!("{root}{folders}").into() });
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let port = match &*scheme.to_ascii_lowercase() {
        "http" => ":80",
        "https" => ":443",
        _ => ":",
    };
    let host = host.strip_suffix(port).unwrap_or(host).trim_end_matches([':', '.']).to_lowercase();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let folders = path.rsplit_once('/').map_or(Cow::Borrowed(""), |(folders, _)| leading(folders, depth));
    match (host.is_empty(), folders.is_empty()) {
        (true, _) => None,
        (false, true) => Some(host.into()),
        (false, false) => Some(format!("{host}/{folders}").into()),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// The first folders of a path, without empty ones and `.`.
fn leading(path: &str, count: usize) -> Cow<'_, str> {
    let is_plain = path.split('/').all(|folder| !folder.is_empty() && folder != ".");
    if is_plain && count >= path.split('/').count() {
        return path.into();
    }
    let folders = path.split('/').filter(|folder| !folder.is_empty() && *folder != ".").take(count);
    folders.collect::<Vec<_>>().join("/").into()
}

/// The hosts of each group: `hosts[ends[g − 1]..ends[g]]`, ascending, each with its documents in the group.
struct Grouped {
    hosts: Vec<(u32, u32)>,
    ends: Vec<usize>,
}

impl Grouped {
    fn of(&self, group: u32) -> &[(u32, u32)] {
        let start = group.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.hosts[start..self.ends[group as usize]]
    }
}

/// Hosts are numbered in input order, those of the reference first.
#[derive(Default)]
struct Numbering {
    names: Vec<String>,
    documents: Vec<u64>,
    /// Hosts below this number are of the reference.
    references: u32,
    /// The number of each document's host; `NAMELESS` if it has none.
    of: Vec<u32>,
    nameless: u64,
}

const NAMELESS: u32 = u32::MAX;

/// What is counted of pairs of hosts: those of which few are in memory at once.
struct Repeated {
    /// For each pair of hosts, the documents of the first that have a near-duplicate on the other, and the reverse, since these were
    /// added to the rows.
    counts: HashMap<(u32, u32), [u64; 2]>,
    most: usize,
    rows: Sorter<3>,
}

/// The approximate memory of a pair of hosts in the map, while it grows.
const BYTES_A_PAIR: u64 = 96;

impl Repeated {
    fn new(room: &Room) -> Self {
        let rows = sorter("pairs of hosts", room.memory, room.folder.as_deref());
        let most = (room.memory / 4 / BYTES_A_PAIR).max(if cfg!(test) { 4 } else { 1 << 14 }) as usize;
        Repeated { counts: HashMap::new(), most, rows }
    }

    /// Counts documents of a host that have a near-duplicate on another one.
    fn add(&mut self, host: u32, other: u32, documents: u64) -> Result<(), Error> {
        let (pair, side) = if host < other { ((host, other), 0) } else { ((other, host), 1) };
        self.counts.entry(pair).or_default()[side] += documents;
        if self.counts.len() >= self.most { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let Repeated { counts, rows, .. } = self;
        counts.drain().try_for_each(|((a, b), [x, y])| rows.push([packed(a.into(), b.into()), x, y]))
    }

    /// The rows of [`Hosts`].
    fn finish(mut self, room: &Room) -> Result<Stored, Error> {
        self.flush()?;
        let mut ordered: Sorter<3> = sorter("pairs of hosts", room.memory, room.folder.as_deref());
        let mut add = |[hosts, x, y]: [u64; 3]| ordered.push([!(x + y), hosts, packed(x, y)]);
        let mut last = None::<[u64; 3]>;
        self.rows.for_each(|&row| match &mut last {
            Some(last) if last[0] == row[0] => {
                (last[1], last[2]) = (last[1] + row[1], last[2] + row[2]);
                Ok(())
            }
            other => other.replace(row).map_or(Ok(()), &mut add),
        })?;
        last.map_or(Ok(()), add)?;
        ordered.stored(|_| ())
    }
}

impl Outcome {
    /// Counts the pairs by the hosts of their documents, which their ids name; see [`host_of`]. Pairs within one host
    /// do not count. With a reference, the first host of each pair is of the reference and the other of the documents; the
    /// two may then have one name.
    ///
    /// # Errors
    /// Pairs do not fit the [memory](super::ScanOptions::memory) of the scan, and a temporary file cannot be written or read.
    ///
    /// # Cost
    /// Linear in the documents, and in the pairs of distinct texts times the hosts that a text is on, at most
    /// [`MAX_HOSTS_PER_TEXT`]. Memory: some 12 bytes for each document and 100 for each host.
    pub fn hosts(&self, depth: usize) -> Result<Hosts, Error> {
        let Numbering { names, documents, references, of, nameless } = self.numbered_hosts(depth);
        let grouped = self.grouped_hosts(&of);
        drop(of);
        let against = self.corpus.against();
        let is_pair = |a: u32, b: u32| if against { (a < references) != (b < references) } else { a != b };
        let is_counted = |group: u32| grouped.of(group).len() <= MAX_HOSTS_PER_TEXT;
        let split = against.then_some(references);
        let (mut in_both_orders, mut left_out, mut repeated) = (0, 0, Repeated::new(&self.room));
        self.each_similar(|group, similar| {
            if !is_counted(group) {
                left_out += 1;
                return Ok(());
            }
            let similar = similar.iter().copied().filter(|&other| is_counted(other));
            let mut others: BTreeSet<u32> = BTreeSet::new();
            for other in [group].into_iter().chain(similar) {
                others.extend(grouped.of(other).iter().map(|&(host, _)| host));
                in_both_orders += document_pairs(grouped.of(group), grouped.of(other), split);
            }
            for &(host, documents) in grouped.of(group) {
                for &other in others.iter().filter(|&&other| is_pair(host, other)) {
                    repeated.add(host, other, documents.into())?;
                }
            }
            Ok(())
        })?;
        let pairs = repeated.finish(&self.room)?;
        Ok(Hosts { names, documents, pairs, nameless, left_out, document_pairs: in_both_orders / 2 })
    }

    /// Calls `each` with every group and the groups that are similar to it.
    fn each_similar(&self, mut each: impl FnMut(u32, &[u32]) -> Result<(), Error>) -> Result<(), Error> {
        let mut earlier: Sorter<1> = sorter("pairs", self.room.memory, self.room.folder.as_deref());
        self.edges.for_each(|edge| earlier.push([packed(edge.b.into(), edge.a.into())]))?;
        let (mut earlier, mut similar, mut buffer) = (earlier.sorted()?, Vec::new(), Buffer::default());
        let mut next = earlier.next()?.map(|[groups]| unpacked(groups));
        for group in 0..self.corpus.distinct() as u32 {
            similar.clear();
            while let Some((_, other)) = next.filter(|&(of, _)| of == u64::from(group)) {
                similar.push(other as u32);
                next = earlier.next()?.map(|[groups]| unpacked(groups));
            }
            let later = self.edges.of(group, &mut buffer)?.map(|(other, _)| other);
            similar.extend(later.filter(|&other| other > group));
            each(group, &similar)?;
        }
        Ok(())
    }

    fn numbered_hosts(&self, depth: usize) -> Numbering {
        let mut numbering = Numbering::default();
        let mut numbers: HashMap<(bool, Cow<'_, str>), u32> = HashMap::new();
        for document in self.corpus.documents_read() {
            let Some(name) = host_of(self.corpus.id(document), depth) else {
                numbering.nameless += 1;
                numbering.of.push(NAMELESS);
                continue;
            };
            let is_reference = self.corpus.is_reference(document);
            let next = numbering.names.len() as u32;
            let number = *numbers.entry((is_reference, name)).or_insert_with_key(|(_, name)| {
                numbering.names.push(name.to_string());
                numbering.documents.push(0);
                next
            });
            numbering.references += u32::from(is_reference && number == next);
            numbering.documents[number as usize] += 1;
            numbering.of.push(number);
        }
        numbering
    }

    fn grouped_hosts(&self, host_of: &[u32]) -> Grouped {
        let mut grouped = Grouped { hosts: Vec::new(), ends: Vec::new() };
        let mut own = Vec::new();
        for group in 0..self.corpus.distinct() as u32 {
            let members = self.corpus.members(group).iter();
            own.clear();
            own.extend(members.map(|&document| host_of[document as usize]).filter(|&host| host != NAMELESS));
            own.sort_unstable();
            grouped.hosts.extend(own.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
            grouped.ends.push(grouped.hosts.len());
        }
        grouped
    }
}

/// The number of pairs of a document of one group and one of another on different hosts; with a reference, whose hosts are
/// below this number, of a document and one of the reference.
fn document_pairs(a: &[(u32, u32)], b: &[(u32, u32)], references: Option<u32>) -> u64 {
    let sum = |hosts: &[(u32, u32)]| hosts.iter().map(|&(_, documents)| u64::from(documents)).sum::<u64>();
    if let Some(references) = references {
        let sides = |hosts: &[(u32, u32)]| {
            let (before, after) = hosts.split_at(hosts.partition_point(|&(host, _)| host < references));
            (sum(before), sum(after))
        };
        let (a, b) = (sides(a), sides(b));
        return a.0 * b.1 + a.1 * b.0;
    }
    let (mut rest, mut on_one_host) = (b, 0);
    for &(host, documents) in a {
        rest = &rest[rest.partition_point(|&(other, _)| other < host)..];
        if let Some((_, others)) = rest.first().filter(|(other, _)| *other == host) {
            on_one_host += u64::from(documents) * u64::from(*others);
        }
    }
    sum(a) * sum(b) - on_one_host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_ids() {
        let table = [
            ("https://Example.com/a/b/page.html", 0, Some("example.com")),
            ("https://Example.com/a/b/page.html", 1, Some("example.com/a")),
            ("https://Example.com/a/b/page.html", 9, Some("example.com/a/b")),
            ("http://me:secret@example.com.:80?q=/x/", 3, Some("example.com")),
            ("https://example.com:8443/a/", 1, Some("example.com:8443/a")),
            ("http://example.com/page#a/b", 1, Some("example.com")),
            ("http:///a/b", 1, None),
            ("docs/1.0/guide/a.md", 0, Some("docs/1.0/guide")),
            ("docs/1.0/guide/a.md", 2, Some("docs/1.0")),
            ("docs/1.0/guide/a.md", 7, Some("docs/1.0/guide")),
            ("a.jsonl:7", 0, None),
            ("/a", 0, None),
            ("not a scheme://x/y", 0, Some("not a scheme:/x")),
            ("", 0, None),
            ("ftp://h:80/x/y", 1, Some("h:80/x")),
            ("http://h:/y", 0, Some("h")),
            ("https://h:80/y", 0, Some("h:80")),
            ("http://h//a/./b//c/y", 2, Some("h/a/b")),
            ("/data/x/a.md", 1, Some("/data")),
            ("/data/x/a.md", 0, Some("/data/x")),
            ("./q/a.md", 0, Some("q")),
            ("a//b/c.md", 2, Some("a/b")),
            ("http://[::1]:80/a/b", 0, Some("[::1]")),
        ];
        for (id, depth, expected) in table {
            assert_eq!(host_of(id, depth).as_deref(), expected, "{id} {depth}");
        }
    }
}
