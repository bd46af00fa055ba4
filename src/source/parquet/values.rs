//! The values of a page, in each of the encodings that columns of texts and integers have. Nothing that a page claims is
//! believed: a value that is not there is an error.

use super::fault::Damage;
use super::footer::Physical;

/// The values of one bit.
const BITS: [&[u8]; 2] = [&[0], &[1]];

const SHORT: Damage = Damage::Borrowed("a page holds fewer values than it claims");

/// Reads a number of variable length.
fn varint(rest: &mut &[u8]) -> Result<u64, Damage> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("a number in a page is too long".into())
}

fn zigzag(rest: &mut &[u8]) -> Result<i64, Damage> {
    let value = varint(rest)?;
    Ok((value >> 1) as i64 ^ -((value & 1) as i64))
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], Damage> {
    let (taken, left) = rest.split_at_checked(count).ok_or(SHORT)?;
    *rest = left;
    Ok(taken)
}

/// A length of four bytes.
pub(super) fn length(rest: &mut &[u8]) -> Result<usize, Damage> {
    let bytes = take(rest, 4)?;
    Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
}

/// `width` bits from a position in bits; bytes beyond the end are zero. The width is at most 64.
fn bits(bytes: &[u8], at: usize, width: u32) -> u64 {
    let (first, shift) = (at / 8, at % 8);
    let mut window = [0; 16];
    let there = bytes.get(first..).unwrap_or_default();
    let there = &there[..there.len().min(9)];
    window[..there.len()].copy_from_slice(there);
    let value = (u128::from_le_bytes(window) >> shift) as u64;
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

/// Small numbers in runs: repeated, or packed into bits (the encoding `RLE`). For levels and positions in a dictionary.
pub(super) struct Runs<'a> {
    rest: &'a [u8],
    width: u32,
    left: u64,
    run: Run<'a>,
}

enum Run<'a> {
    Repeated(u32),
    Packed { bytes: &'a [u8], at: usize },
}

impl<'a> Runs<'a> {
    /// Levels up to this one.
    pub fn of_levels(bytes: &'a [u8], max: u32) -> Result<Self, Damage> {
        Runs::new(bytes, u32::BITS - max.leading_zeros())
    }

    /// Numbers of `width` bits.
    pub fn new(bytes: &'a [u8], width: u32) -> Result<Self, Damage> {
        if width > 32 {
            return Err(format!("a page has numbers of {width} bits").into());
        }
        Ok(Runs { rest: bytes, width, left: 0, run: Run::Repeated(0) })
    }

    pub fn next(&mut self) -> Result<u32, Damage> {
        while self.left == 0 {
            self.next_run()?;
        }
        self.left -= 1;
        Ok(match &mut self.run {
            Run::Repeated(value) => *value,
            Run::Packed { bytes, at } => {
                let value = bits(bytes, *at, self.width);
                *at += self.width as usize;
                value as u32
            }
        })
    }

    fn next_run(&mut self) -> Result<(), Damage> {
        if self.width == 0 {
            // All are zero, and some writers write no runs then.
            (self.left, self.run) = (u64::MAX, Run::Repeated(0));
            return Ok(());
        }
        let head = varint(&mut self.rest)?;
        if head & 1 == 0 {
            let mut value = [0; 4];
            let bytes = take(&mut self.rest, self.width.div_ceil(8) as usize)?;
            value[..bytes.len()].copy_from_slice(bytes);
            (self.left, self.run) = (head >> 1, Run::Repeated(u32::from_le_bytes(value)));
        } else {
            // Groups of eight numbers. The last ones may be cut short.
            let most = (self.rest.len() as u64 * 8) / u64::from(self.width);
            let count = (head >> 1).saturating_mul(8).min(most);
            if count == 0 && head > 1 {
                return Err(SHORT);
            }
            let length = (count * u64::from(self.width)).div_ceil(8) as usize;
            let bytes = take(&mut self.rest, length)?;
            (self.left, self.run) = (count, Run::Packed { bytes, at: 0 });
        }
        Ok(())
    }
}

/// Integers as packed differences (the encoding `DELTA_BINARY_PACKED`).
pub(super) struct Deltas<'a> {
    rest: &'a [u8],
    miniblocks: usize,
    per_miniblock: usize,
    /// The numbers that were not returned yet.
    left: u64,
    value: i64,
    is_first: bool,
    least: i64,
    widths: &'a [u8],
    packed: &'a [u8],
    width: u32,
    /// The position in the miniblock.
    at: usize,
}

impl<'a> Deltas<'a> {
    /// At most `most` integers at the beginning of `bytes`.
    pub fn new(mut bytes: &'a [u8], most: u64) -> Result<Self, Damage> {
        let rest = &mut bytes;
        let (block, miniblocks) = (varint(rest)?, varint(rest)?);
        let (count, first) = (varint(rest)?, zigzag(rest)?);
        let per_miniblock = block.checked_div(miniblocks).unwrap_or(0);
        if block > 1 << 20 || per_miniblock == 0 || !per_miniblock.is_multiple_of(8) || block % miniblocks != 0 {
            return Err(format!("a page has blocks of {block} numbers in {miniblocks} parts").into());
        }
        if count > most {
            return Err("a page holds more values than it claims".into());
        }
        Ok(Deltas {
            rest: bytes,
            miniblocks: miniblocks as usize,
            per_miniblock: per_miniblock as usize,
            left: count,
            value: first,
            is_first: true,
            least: 0,
            widths: &[],
            packed: &[],
            width: 0,
            at: per_miniblock as usize,
        })
    }

    pub fn next(&mut self) -> Result<i64, Damage> {
        self.left = self.left.checked_sub(1).ok_or(SHORT)?;
        if std::mem::take(&mut self.is_first) {
            return Ok(self.value);
        }
        if self.at == self.per_miniblock {
            self.next_miniblock()?;
        }
        let delta = bits(self.packed, self.at * self.width as usize, self.width);
        self.at += 1;
        self.value = self.value.wrapping_add(self.least).wrapping_add(delta as i64);
        Ok(self.value)
    }

    fn next_miniblock(&mut self) -> Result<(), Damage> {
        if self.widths.is_empty() {
            self.least = zigzag(&mut self.rest)?;
            self.widths = take(&mut self.rest, self.miniblocks)?;
        }
        let (&width, widths) = self.widths.split_first().ok_or(SHORT)?;
        if width > 64 {
            return Err(format!("a page has numbers of {width} bits").into());
        }
        (self.width, self.widths, self.at) = (width.into(), widths, 0);
        self.packed = take(&mut self.rest, self.per_miniblock * usize::from(width) / 8)?;
        Ok(())
    }

    /// The bytes after the last integer. The others are not returned any more.
    fn after(mut self) -> Result<&'a [u8], Damage> {
        while self.left > 0 {
            self.next()?;
        }
        Ok(self.rest)
    }
}

/// Lengths from packed differences.
fn next_length(lengths: &mut Deltas) -> Result<usize, Damage> {
    usize::try_from(lengths.next()?).map_err(|_| "a length in a page is negative".into())
}

/// The values of a dictionary.
#[derive(Debug)]
pub(super) struct Dictionary {
    physical: Physical,
    /// The number of values.
    count: u64,
    /// Where each value starts, if they have different lengths.
    starts: Vec<u32>,
    /// The length of the longest of these.
    longest: usize,
}

impl Dictionary {
    /// The values of a page, of which there are `count`.
    pub fn new(page: &[u8], count: u64, physical: Physical) -> Result<Self, Damage> {
        let (mut starts, mut longest) = (Vec::new(), 0);
        if physical == Physical::Bytes {
            let mut rest = page;
            for _ in 0..count {
                let length = length(&mut rest)?;
                // A page is shorter than 4 GiB.
                starts.push((page.len() - rest.len()) as u32);
                take(&mut rest, length)?;
                longest = longest.max(length);
            }
        }
        if physical == Physical::Bit {
            return Err("a column of booleans has a dictionary".into());
        }
        if let Physical::Fixed(width) = physical
            && (page.len() as u64) < count.saturating_mul(width as u64)
        {
            return Err(SHORT);
        }
        Ok(Dictionary { physical, count, starts, longest })
    }

    /// The length of the longest value, if they have different lengths.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Its memory, in bytes, in addition to that of the page.
    pub fn bytes_held(count: u64) -> u64 {
        4 * count
    }

    fn get<'a>(&self, page: &'a [u8], at: u32) -> Result<&'a [u8], Damage> {
        let outside = || Damage::from(format!("a dictionary has no value {at}"));
        match self.physical {
            Physical::Bit => Err(outside()),
            Physical::Fixed(_) if u64::from(at) >= self.count => Err(outside()),
            Physical::Fixed(width) => {
                let start = at as usize * width;
                page.get(start..start + width).ok_or_else(outside)
            }
            Physical::Bytes => {
                let start = *self.starts.get(at as usize).ok_or_else(outside)? as usize;
                let mut before = page.get(start - 4..).ok_or(SHORT)?;
                let length = length(&mut before)?;
                take(&mut before, length)
            }
        }
    }
}

/// The values of a page that are not null.
pub(super) enum Values<'p> {
    Plain(&'p [u8], Physical),
    Dictionary {
        positions: Runs<'p>,
        dictionary: &'p Dictionary,
        page: &'p [u8],
    },
    Integers {
        deltas: Deltas<'p>,
        width: usize,
        value: [u8; 8],
    },
    /// Lengths, then the values.
    Lengths {
        lengths: Deltas<'p>,
        rest: &'p [u8],
    },
    /// What each value has in common with the one before it, and the rest of each.
    Prefixes {
        prefixes: Deltas<'p>,
        suffixes: Deltas<'p>,
        rest: &'p [u8],
        value: Vec<u8>,
        physical: Physical,
    },
    /// Bits, the lowest one of each byte first.
    Bits {
        bytes: &'p [u8],
        at: usize,
    },
    /// Bits in runs.
    BitRuns(Runs<'p>),
    /// The first bytes of all values, then the second bytes, and so on.
    Split {
        bytes: &'p [u8],
        at: usize,
        width: usize,
        value: Vec<u8>,
    },
}

impl<'p> Values<'p> {
    /// The values in `bytes`, of which there are at most `most`.
    pub fn new(
        encoding: i64,
        bytes: &'p [u8],
        physical: Physical,
        dictionary: Option<(&'p Dictionary, &'p [u8])>,
        most: u64,
    ) -> Result<Self, Damage> {
        Ok(match (encoding, physical, dictionary) {
            (0, Physical::Bit, _) => Values::Bits { bytes, at: 0 },
            // A page without values may have no length either.
            (3, Physical::Bit, _) if bytes.is_empty() => Values::Bits { bytes, at: 0 },
            (3, Physical::Bit, _) => {
                let mut rest = bytes;
                let length = length(&mut rest)?;
                Values::BitRuns(Runs::new(take(&mut rest, length)?, 1)?)
            }
            (0, ..) => Values::Plain(bytes, physical),
            (2 | 8, _, Some((dictionary, page))) => {
                // Without values, some writers write no width.
                let (width, bytes) = bytes.split_first().map_or((0, bytes), |(&width, rest)| (width, rest));
                Values::Dictionary { positions: Runs::new(bytes, width.into())?, dictionary, page }
            }
            (2 | 8, _, None) => return Err("a page needs a dictionary that is not there".into()),
            (5, Physical::Fixed(width @ (4 | 8)), _) => {
                Values::Integers { deltas: Deltas::new(bytes, most)?, width, value: [0; 8] }
            }
            (6, Physical::Bytes, _) => {
                let lengths = Deltas::new(bytes, most)?;
                Values::Lengths { lengths, rest: Deltas::new(bytes, most)?.after()? }
            }
            (7, ..) => {
                let prefixes = Deltas::new(bytes, most)?;
                let bytes = Deltas::new(bytes, most)?.after()?;
                let suffixes = Deltas::new(bytes, most)?;
                let rest = Deltas::new(bytes, most)?.after()?;
                Values::Prefixes { prefixes, suffixes, rest, value: Vec::new(), physical }
            }
            (9, Physical::Fixed(width), _) => Values::Split { bytes, at: 0, width, value: vec![0; width] },
            _ => return Err(format!("a page has the encoding {encoding}, which does not suit its column").into()),
        })
    }

    /// Whether values may be longer together than their page.
    pub fn may_repeat(&self) -> bool {
        matches!(self, Values::Dictionary { .. } | Values::Prefixes { .. })
    }

    pub fn next(&mut self) -> Result<&[u8], Damage> {
        match self {
            // Of bits there are those below.
            Values::Plain(_, Physical::Bit) => Err(SHORT),
            Values::Bits { bytes, at } => {
                let bit = bytes.get(*at / 8).ok_or(SHORT)? >> (*at % 8) & 1;
                *at += 1;
                Ok(BITS[usize::from(bit)])
            }
            Values::BitRuns(runs) => Ok(BITS[(runs.next()? & 1) as usize]),
            Values::Plain(rest, Physical::Fixed(width)) => take(rest, *width),
            Values::Plain(rest, Physical::Bytes) => {
                let length = length(rest)?;
                take(rest, length)
            }
            Values::Dictionary { positions, dictionary, page } => dictionary.get(page, positions.next()?),
            Values::Integers { deltas, width, value } => {
                *value = deltas.next()?.to_le_bytes();
                Ok(&value[..*width])
            }
            Values::Lengths { lengths, rest } => take(rest, next_length(lengths)?),
            Values::Prefixes { prefixes, suffixes, rest, value, physical } => {
                let (prefix, suffix) = (next_length(prefixes)?, next_length(suffixes)?);
                if prefix > value.len() {
                    return Err("a value in a page begins like one that is shorter".into());
                }
                value.truncate(prefix);
                value.extend_from_slice(take(rest, suffix)?);
                match *physical {
                    Physical::Fixed(width) if value.len() != width => Err(SHORT),
                    _ => Ok(value),
                }
            }
            Values::Split { bytes, at, width, value } => {
                let count = bytes.len() / *width;
                if *at >= count {
                    return Err(SHORT);
                }
                for (byte, value) in value.iter_mut().enumerate() {
                    *value = bytes[byte * count + *at];
                }
                *at += 1;
                Ok(value)
            }
        }
    }
}
