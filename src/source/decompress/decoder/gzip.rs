//! Members of gzip, one after the other; and the next one that holds a record of a web archive, after damage.
//!
//! In an archive each record is a member of its own, so damage to one need not cost the others. A decoder notices damage
//! late, perhaps within a later member: so the bytes since the start of the member are kept, and are searched from there.

use std::fmt;
use std::io::{self, BufRead, ErrorKind, Read};
use std::mem;
use std::ops::Range;

use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress};
use memchr::{memchr, memmem};

use super::super::super::compression::Unreadable;
use crate::readable::count;
use crate::source::members::Members;

/// How a member begins.
const MAGIC: &[u8] = b"\x1f\x8b\x08";

/// How the content of a member with a record begins, of any version; line ends may precede it.
const RECORD: &[u8] = b"WARC/";

/// At most this many bytes of the content of a member are examined.
const CONTENT_BYTES: usize = 64;

/// At most this many bytes of a member are examined to see how its content begins.
const TRIED_BYTES: usize = 1 << 10;

/// At least this many of the last bytes of a member are kept.
const KEPT_BYTES: usize = 1 << 20;

/// So many bytes may be examined to see whether members are whole, for each byte of the file and of [`KEPT_BYTES`].
const CHECKED_PER_BYTE: u64 = 8;

/// How reading continues after damage: the positions of the member that is damaged and of the next one with a record, if
/// there is one; compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) struct Resumed {
    pub from: u64,
    pub to: Option<u64>,
}

impl fmt::Display for Resumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from byte {} on; ", count(self.from))?;
        match self.to {
            Some(to) => write!(f, "reading continues with the member at byte {}", count(to)),
            None => f.write_str("the rest is not read: no later member begins with a record"),
        }
    }
}

impl std::error::Error for Resumed {}

/// The content of all members. Zeros after the last one are ignored, as by gzip(1): what writes whole blocks, such as a
/// tape, fills up the last one with them.
///
/// The read after an error of damage searches the next member with a record. It fails with [`Resumed`]. The content of that
/// member follows, if there is one; else the content has ended.
pub(super) struct Gzip<R>(State<R>, Produced);

/// The number of bytes of content so far, and where members begin in them.
struct Produced(u64, Members);

enum State<R> {
    Member(Box<GzDecoder<Kept<R>>>),
    Damaged(Box<Kept<R>>),
    Ended,
}

impl<R: BufRead> Gzip<R> {
    pub fn new(raw: R, members: Members) -> Self {
        Gzip(State::Member(Box::new(GzDecoder::new(Kept::new(raw)))), Produced(0, members))
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match mem::replace(&mut self.0, State::Ended) {
                State::Ended => return Ok(0),
                State::Member(mut member) => match member.read(buffer) {
                    Ok(0) => {
                        let mut raw = member.into_inner();
                        raw.mark();
                        match after_zeros(&mut raw) {
                            Ok(true) => {
                                self.1.1.push(self.1.0);
                                self.0 = State::Member(Box::new(GzDecoder::new(raw)));
                            }
                            Ok(false) => {}
                            Err(error) => return Err(self.fail(error, raw)),
                        }
                    }
                    Ok(n) => {
                        self.1.0 += n as u64;
                        self.0 = State::Member(member);
                        return Ok(n);
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {
                        self.0 = State::Member(member);
                        return Err(error);
                    }
                    Err(error) => return Err(self.fail(error, member.into_inner())),
                },
                State::Damaged(mut raw) => {
                    let from = raw.start_position();
                    let found = raw.find_record()?;
                    let to = found.then(|| raw.start_position());
                    if found {
                        self.1.1.push(self.1.0);
                        self.0 = State::Member(Box::new(GzDecoder::new(*raw)));
                    }
                    return Err(io::Error::other(Resumed { from, to }));
                }
            }
        }
    }
}

impl<R> Gzip<R> {
    fn fail(&mut self, error: io::Error, raw: Kept<R>) -> io::Error {
        if !error.get_ref().is_some_and(|inner| inner.is::<Unreadable>()) {
            self.0 = State::Damaged(Box::new(raw));
        }
        error
    }
}

/// Skips zeros. Returns whether a member may follow.
///
/// # Errors
/// Something else follows zeros, or it cannot be read.
fn after_zeros(raw: &mut impl BufRead) -> io::Result<bool> {
    let mut has_zeros = false;
    loop {
        let ahead = raw.fill_buf()?;
        let zeros = ahead.iter().take_while(|&&byte| byte == 0).count();
        match (ahead.is_empty(), zeros < ahead.len()) {
            (true, _) => return Ok(false),
            (_, true) if has_zeros || zeros > 0 => {
                return Err(io::Error::new(ErrorKind::InvalidData, "other data follows the zeros after its end"));
            }
            (_, true) => return Ok(true),
            _ => {}
        }
        has_zeros = true;
        raw.consume(zeros);
    }
}

/// Compressed bytes that keeps those since the start of a member, or the last of them.
struct Kept<R> {
    inner: R,
    /// The bytes that are kept, and others before `start`.
    bytes: Vec<u8>,
    /// The position of `bytes`.
    base: u64,
    /// The first byte that is still needed.
    start: usize,
    /// The next byte that is read; after the last one, those of `inner` follow.
    at: usize,
    /// The position where the member starts.
    member: u64,
    /// The number of bytes that may be read again, which bounds the time: no more than are read.
    credit: u64,
    inflate: Decompress,
    /// The number of members that were tried.
    tries: u64,
    /// The number of bytes that were examined to see whether members are whole, compressed and not.
    checked: u64,
}

impl<R> Kept<R> {
    fn new(inner: R) -> Self {
        let inflate = Decompress::new(false);
        let credit = KEPT_BYTES as u64;
        Kept { inner, bytes: Vec::new(), base: 0, start: 0, at: 0, member: 0, credit, inflate, tries: 0, checked: 0 }
    }

    fn position(&self) -> u64 {
        self.base + self.at as u64
    }

    fn start_position(&self) -> u64 {
        self.member
    }

    /// A member starts here.
    fn mark(&mut self) {
        self.member = self.position();
        self.start = self.at;
        self.compact();
    }

    /// Drops bytes that are not needed, once they are more than the others.
    fn compact(&mut self) {
        if self.start * 2 > self.bytes.len() {
            self.bytes.drain(..self.start);
            self.base += self.start as u64;
            self.at -= self.start;
            self.start = 0;
        }
    }
}

impl<R: BufRead> Kept<R> {
    /// Keeps more bytes, which are still to be read. Returns whether there were any.
    fn pull(&mut self) -> io::Result<bool> {
        let more = loop {
            match self.inner.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(more) => break more,
            }
        };
        let n = more.len();
        self.bytes.extend_from_slice(more);
        self.inner.consume(n);
        self.credit += n as u64;
        Ok(n > 0)
    }

    /// Goes to the next member after the start of this one whose content begins like a record. Returns whether there is
    /// one.
    fn find_record(&mut self) -> io::Result<bool> {
        let here = self.position();
        let first = (self.member + 1).max(self.base + self.start as u64).max(here.saturating_sub(self.credit));
        if here > self.member && self.begins_record()? {
            self.go_back((first - self.base) as usize);
            self.mark();
            return Ok(true);
        }
        if first < here {
            self.credit -= here - first;
            self.at = (first - self.base) as usize;
        } else if first > here {
            // Nothing of the member was read.
            if self.at == self.bytes.len() && !self.pull()? {
                return Ok(false);
            }
            self.at += 1;
        }
        loop {
            match memmem::find(&self.bytes[self.at..], MAGIC) {
                Some(found) => {
                    self.at += found;
                    if self.begins_record()? {
                        self.mark();
                        return Ok(true);
                    }
                    self.at += 1;
                }
                None => {
                    // The last bytes may begin a member.
                    self.at = self.at.max(self.bytes.len().saturating_sub(MAGIC.len() - 1));
                    self.start = self.at;
                    self.compact();
                    if !self.pull()? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// The damaged member ends here, where the next one begins: goes back to the first of the whole members before, but
    /// not before `first`. If only the checksum is wrong, there are none, and what looks like one was a part of the damaged
    /// member: that has the last bytes for its own checksum.
    fn go_back(&mut self, first: usize) {
        let (mut end, mut before) = (self.at, self.at);
        while let Some(found) = memmem::rfind(&self.bytes[first..before], MAGIC) {
            before = first + found;
            if self.is_whole(before..end) {
                end = before;
            }
        }
        self.credit -= (self.at - end) as u64;
        self.at = end;
    }

    /// Whether these bytes are a member with a record and a right checksum. `false` if that takes too long to see.
    fn is_whole(&mut self, place: Range<usize>) -> bool {
        self.tries += 1;
        let allowed = CHECKED_PER_BYTE * (self.base + (self.bytes.len() + KEPT_BYTES) as u64);
        let mut may_check = |bytes: usize| {
            let checked = self.checked + bytes as u64;
            let may = checked <= allowed;
            self.checked = if may { checked } else { self.checked };
            may
        };
        let bytes = &self.bytes[place];
        let start = &bytes[..bytes.len().min(TRIED_BYTES)];
        if !may_check(start.len()) || begins_record(start, &mut self.inflate) != Some(true) || !may_check(bytes.len()) {
            return false;
        }
        let (mut member, mut content) = (GzDecoder::new(bytes), [0; 1 << 14]);
        loop {
            match member.read(&mut content) {
                Ok(0) => return member.get_ref().is_empty(),
                Ok(n) if may_check(n) => {}
                _ => return false,
            }
        }
    }

    /// Whether a member whose content begins like a record is at the current position. Reads no more bytes than needed
    /// to decide.
    fn begins_record(&mut self) -> io::Result<bool> {
        self.tries += 1;
        loop {
            let ahead = &self.bytes[self.at..];
            let most = ahead.len().min(TRIED_BYTES);
            match begins_record(&ahead[..most], &mut self.inflate) {
                Some(begins) => return Ok(begins),
                None if most == TRIED_BYTES || !self.pull()? => return Ok(false),
                None => {}
            }
        }
    }
}

impl<R: BufRead> Read for Kept<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buffer)?;
        self.consume(n);
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Kept<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at < self.bytes.len() {
            return Ok(&self.bytes[self.at..]);
        }
        if self.at - self.start > 2 * KEPT_BYTES {
            self.start = self.at - KEPT_BYTES;
            self.compact();
        }
        self.pull()?;
        Ok(&self.bytes[self.at..])
    }

    fn consume(&mut self, n: usize) {
        self.at += n;
    }
}

/// Whether these bytes begin a member whose content begins like a record; `None` if that depends on more of them.
fn begins_record(bytes: &[u8], inflate: &mut Decompress) -> Option<bool> {
    let start = &bytes[..bytes.len().min(MAGIC.len())];
    if !MAGIC.starts_with(start) {
        return Some(false);
    }
    let flags = *bytes.get(3)?;
    if flags & 0xe0 != 0 {
        return Some(false);
    }
    let mut at = 10;
    if flags & 4 != 0 {
        let length = bytes.get(at..at + 2)?;
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
        if at >= TRIED_BYTES {
            return Some(false);
        }
    }
    for text in [8, 16] {
        if flags & text != 0 {
            at += memchr(0, bytes.get(at..)?)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    let data = bytes.get(at..)?;
    inflate.reset(false);
    let mut content = [0; CONTENT_BYTES];
    let status = inflate.decompress(data, &mut content, FlushDecompress::None);
    let content = &content[..inflate.total_out() as usize];
    let is_full = content.len() == CONTENT_BYTES;
    let line_ends = content.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let content = &content[line_ends..];
    match status {
        _ if content.starts_with(RECORD) => Some(true),
        Ok(flate2::Status::Ok | flate2::Status::BufError) if !is_full && RECORD.starts_with(content) => None,
        _ => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::gzip;
    use super::*;

    /// The content up to the end, with the members where reading continued; and how many members were tried.
    fn read(raw: &[u8]) -> (Vec<u8>, Vec<Resumed>, u64) {
        let mut reader = Gzip::new(raw, Members::default());
        let (mut out, mut resumed, mut tries, mut is_damaged) = (Vec::new(), Vec::new(), 0, false);
        loop {
            let mut buffer = [0; 100];
            let read = reader.read(&mut buffer);
            match &reader.0 {
                State::Member(member) => tries = member.get_ref().tries,
                State::Damaged(raw) => tries = raw.tries,
                State::Ended => {}
            }
            match read {
                Ok(0) => return (out, resumed, tries),
                Ok(n) => out.extend_from_slice(&buffer[..n]),
                Err(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<Resumed>()) {
                    Some(&at) if is_damaged => {
                        resumed.push(at);
                        is_damaged = false;
                    }
                    _ => is_damaged = true,
                },
            }
        }
    }

    #[test]
    fn only_a_member_with_a_record_is_where_reading_continues() {
        let [a, b] = [gzip(b"WARC/1.0 first"), gzip(b"WARC/1.1 second")];
        let other = gzip(b"no record");
        let false_starts = [&b"\x1f\x8b\x08\xe0"[..], MAGIC, b"\x1f\x8b", b"\x1f\x8b\x08\x04........\xff\xff"].concat();
        for between in [&b"x"[..], &other[1..], &false_starts, &[b"?", &other[..]].concat()] {
            let raw = [&a[..], between, &b].concat();
            let (out, resumed, _) = read(&raw);
            let (from, to) = (a.len() as u64, (a.len() + between.len()) as u64);
            let resumed_at = [Resumed { from, to: Some(to) }];
            assert_eq!((&out[..], &resumed[..]), (&b"WARC/1.0 firstWARC/1.1 second"[..], &resumed_at[..]));
        }
    }

    const HEADER: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\xff";

    /// A block of this length, not the last one, that is not compressed; without its content.
    fn block(length: usize) -> Vec<u8> {
        let length = u16::try_from(length).unwrap();
        [&[0][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat()
    }

    /// A member whose only block is longer than its content, so that it runs over so many of the bytes after it.
    fn running_over(content: &[u8], more: usize) -> Vec<u8> {
        [HEADER, &block(content.len() + more), content].concat()
    }

    /// Where reading continues in these bytes, whose first member is damaged and ends at `here`; and the bytes decoded to
    /// decide that.
    fn resumes_at(raw: &[u8], here: usize) -> (Option<u64>, u64) {
        let mut kept = Kept::new(raw);
        while kept.pull().unwrap() {}
        kept.at = here;
        let found = kept.find_record().unwrap();
        (found.then(|| kept.start_position()), kept.checked)
    }

    #[test]
    fn whole_members_that_a_damaged_one_ran_into_are_read() {
        let [a, b, c] = ["WARC/1.0 a", "WARC/1.0 bb", "WARC/1.1 ccc"].map(|content| gzip(content.as_bytes()));
        let long =
            gzip(&b"WARC/1.0 ".iter().copied().chain((0..200_000u32).flat_map(u32::to_le_bytes)).collect::<Vec<_>>());
        for over in [&[&b][..], &[&b, &c], &[&long], &[&c, &b, &long]] {
            let over: Vec<&[u8]> = over.iter().map(|member| &member[..]).collect();
            let (last, before) = over.split_last().unwrap();
            let damaged = running_over(b"WARC/1.0 x", before.concat().len() + HEADER.len());
            let raw = [&a[..], &damaged, &over.concat(), &a].concat();
            let (out, resumed, _) = read(&raw);
            let from = a.len() as u64;
            assert_eq!(resumed, [Resumed { from, to: Some(from + damaged.len() as u64) }]);
            let mut expected = Vec::new();
            flate2::read::MultiGzDecoder::new(&[&over.concat(), &a[..]].concat()[..])
                .read_to_end(&mut expected)
                .unwrap();
            assert!(out.ends_with(&expected));
            // One of them is damaged, too: those after it are read.
            let mut raw = raw;
            let end = from as usize + damaged.len() + over.concat().len();
            let start = end - last.len();
            raw[start - 1] ^= 1;
            if over.len() > 1 {
                assert_eq!(resumes_at(&raw[from as usize..], end - from as usize).0, Some((start as u64) - from));
            }
        }
    }

    /// An archive may hold archives.
    #[test]
    fn a_member_within_the_content_of_a_damaged_one_is_not_where_reading_continues() {
        let inner = gzip(b"WARC/1.0 inner");
        for content in [[b"WARC/1.0 ", &inner[..]].concat(), [b"WARC/1.0 ", &inner[..inner.len() - 8]].concat()] {
            let mut encoder = flate2::read::GzEncoder::new(&content[..], flate2::Compression::none());
            let mut raw = Vec::new();
            encoder.read_to_end(&mut raw).unwrap();
            let end = raw.len();
            raw[end - 5] ^= 1;
            raw.extend(gzip(b"WARC/1.0 next"));
            assert_eq!(read(&raw).1, [Resumed { from: 0, to: Some(end as u64) }]);
        }
    }

    /// Each of these members begins like a record, and is damaged after blocks that reach over those that follow.
    #[test]
    fn members_within_members_are_not_read_again_and_again() {
        let stored = [&b"\x01\x40\x00\xbf\xff"[..], RECORD].concat();
        let one = [HEADER, &block(RECORD.len()), RECORD, &stored].concat();
        for count in [1000, 4000] {
            let raw = one.repeat(count);
            let (out, _, tries) = read(&raw);
            assert!(tries <= 4 * count as u64, "{tries} for {count}");
            assert!(out.len() <= 4 * raw.len() + KEPT_BYTES, "{} for {count}", out.len());
        }
        // False starts alone.
        let raw = [&b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x07"[..], &MAGIC.repeat(100_000)].concat();
        let mut kept = Kept::new(&raw[..]);
        assert!(!kept.find_record().unwrap());
        assert_eq!(kept.tries, 100_000);
    }

    /// So many members that begin like a record, all of which have these blocks as their last ones.
    fn sharing(count: usize, blocks: &[u8]) -> Vec<u8> {
        let starts = (0..count).rev().flat_map(|others| {
            // Over those that follow.
            let over = others * (HEADER.len() + 2 * block(0).len() + RECORD.len());
            [HEADER, &block(RECORD.len()), RECORD, &block(over)].concat()
        });
        starts.chain(blocks.iter().copied()).collect()
    }

    /// Hundreds of members share megabytes, and none has a right checksum: neither those that are read on, nor those that
    /// are examined because they may be whole.
    #[test]
    fn members_that_share_megabytes_are_not_read_again_and_again() {
        let most = [block(0xffff), vec![b'x'; 0xffff]].concat();
        for (blocks, repeated) in [(14, 3), (60, 1)] {
            // With an end that is none, and with one after which a record begins.
            for end in [&b"\x07"[..], b"\x03\0checksum"] {
                let raw = sharing(300, &[&most.repeat(blocks), end].concat()).repeat(repeated);
                let raw = [raw, gzip(b"WARC/1.0 last")].concat();
                let (out, resumed, tries) = read(&raw);
                assert!(out.ends_with(b"WARC/1.0 last"));
                assert!(out.len() <= 2 * raw.len() + 2 * KEPT_BYTES, "{} for {}", out.len(), raw.len());
                assert!(tries <= 4 * 300 * repeated as u64 && !resumed.is_empty(), "{tries}");
            }
        }
    }

    #[test]
    fn what_is_decoded_to_find_whole_members_is_bounded() {
        // 16 MiB of zeros in 16 KiB, then an end with a wrong checksum.
        let mut zeros = gzip(&vec![0; 16 << 20])[HEADER.len()..].to_vec();
        let checksum = zeros.len() - 8;
        zeros[checksum] ^= 1;
        let most = [block(0xffff), vec![b'x'; 0xffff]].concat().repeat(14);
        // Names that share an end, and blocks without content after it: each beginning takes long to examine.
        let names = [&b"\x1f\x8b\x08\x08".repeat(120)[..], b"\0", &block(0).repeat(90)].concat();
        let names = [block(names.len()), names].concat().repeat(900);
        for blocks in [zeros, [&most[..], b"\x03\0checksum"].concat(), [&names[..], b"\x03\0checksum"].concat()] {
            let mut raw = sharing(300, &blocks);
            let here = raw.len();
            raw.extend(gzip(b"WARC/1.0 last"));
            let (found, checked) = resumes_at(&raw, here);
            assert_eq!(found, Some(here as u64));
            assert!((1..=8 * (raw.len() + KEPT_BYTES) as u64).contains(&checked), "{checked}");
        }
    }

    #[test]
    fn what_is_kept_of_a_long_member_is_bounded() {
        let content = vec![b'x'; 16 << 20];
        let mut encoder = flate2::read::GzEncoder::new(&content[..], flate2::Compression::none());
        let mut raw = Vec::new();
        encoder.read_to_end(&mut raw).unwrap();
        let mut reader = Gzip::new(io::BufReader::with_capacity(4096, &raw[..]), Members::default());
        let mut buffer = vec![0; 1 << 16];
        while reader.read(&mut buffer).unwrap() > 0 {
            if let State::Member(member) = &reader.0 {
                assert!(member.get_ref().bytes.len() <= 5 * KEPT_BYTES);
            }
        }
    }
}
