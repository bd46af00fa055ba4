//! The compact protocol of Thrift, in which Parquet writes its metadata. Sizes are untrusted: none is allocated, and each
//! value takes at least one byte of the input, so that the time is bounded by its length.

use super::fault::Damage;

/// The maximum depth of structures in structures. Parquet's own have fewer than ten.
const MAX_DEPTH: usize = 32;

/// The type of a value, as it is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool(bool),
    Byte,
    /// An integer of 16, 32 or 64 bits.
    Int,
    Double,
    Bytes,
    /// A list or a set.
    List,
    Map,
    Struct,
}

/// A cursor over encoded values.
#[derive(Clone, Debug)]
pub(super) struct Thrift<'a> {
    rest: &'a [u8],
    /// Whether reading failed because the bytes ended.
    pub ended: bool,
}

impl<'a> Thrift<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Thrift { rest: bytes, ended: false }
    }

    /// The bytes that were not read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn byte(&mut self) -> Result<u8, Damage> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], Damage> {
        let taken = usize::try_from(count).ok().and_then(|count| self.rest.split_at_checked(count));
        let Some((taken, rest)) = taken else {
            self.ended = true;
            return Err("its metadata ends prematurely".into());
        };
        self.rest = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, Damage> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a number in its metadata is too long".into())
    }

    /// An integer.
    pub fn int(&mut self) -> Result<i64, Damage> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Bytes, or the bytes of a text.
    pub fn bytes(&mut self) -> Result<&'a [u8], Damage> {
        let length = self.varint()?;
        self.take(length)
    }

    /// The type of the elements of a list, and their number. Elements of type `bool` take a byte each.
    pub fn list(&mut self) -> Result<(Kind, u64), Damage> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        // The type of no elements does not matter, and some writers leave it out.
        Ok((if count == 0 { Kind::Byte } else { kind(head & 15)? }, count))
    }

    /// Reads a structure. `each` receives every field, by its number and type, and reads it or returns `false`.
    pub fn fields(&mut self, each: &mut dyn FnMut(&mut Self, i64, Kind) -> Result<bool, Damage>) -> Result<(), Damage> {
        self.fields_within(MAX_DEPTH, each)
    }

    fn fields_within(
        &mut self,
        depth: usize,
        each: &mut dyn FnMut(&mut Self, i64, Kind) -> Result<bool, Damage>,
    ) -> Result<(), Damage> {
        let mut number = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            number = match head >> 4 {
                0 => self.int()?,
                step => number.wrapping_add(i64::from(step)),
            };
            let kind = kind(head & 15)?;
            if !each(self, number, kind)? {
                self.skip(kind, depth)?;
            }
        }
    }

    fn skip(&mut self, kind: Kind, depth: usize) -> Result<(), Damage> {
        let Some(depth) = depth.checked_sub(1) else { return Err("its metadata is nested too deeply".into()) };
        match kind {
            Kind::Bool(_) => {}
            Kind::Byte => _ = self.byte()?,
            Kind::Int => _ = self.varint()?,
            Kind::Double => _ = self.take(8)?,
            Kind::Bytes => _ = self.bytes()?,
            Kind::Struct => self.fields_within(depth, &mut |_, _, _| Ok(false))?,
            Kind::List => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    self.skip_element(kind, depth)?;
                }
            }
            Kind::Map => {
                let count = self.varint()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    let (key, value) = (self::kind(kinds >> 4)?, self::kind(kinds & 15)?);
                    for _ in 0..count {
                        self.skip_element(key, depth)?;
                        self.skip_element(value, depth)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn skip_element(&mut self, kind: Kind, depth: usize) -> Result<(), Damage> {
        match kind {
            Kind::Bool(_) => self.byte().map(drop),
            kind => self.skip(kind, depth),
        }
    }
}

fn kind(code: u8) -> Result<Kind, Damage> {
    Ok(match code {
        1 => Kind::Bool(true),
        2 => Kind::Bool(false),
        3 => Kind::Byte,
        4..=6 => Kind::Int,
        7 => Kind::Double,
        8 => Kind::Bytes,
        9 | 10 => Kind::List,
        11 => Kind::Map,
        12 => Kind::Struct,
        _ => return Err(format!("its metadata has a value of the unknown type {code}").into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a structure that are integers or bytes; the others are skipped.
    fn shown(bytes: &[u8]) -> Result<Vec<String>, Damage> {
        let (mut thrift, mut out) = (Thrift::new(bytes), Vec::new());
        thrift.fields(&mut |thrift, number, kind| {
            match kind {
                Kind::Int => out.push(format!("{number}={}", thrift.int()?)),
                Kind::Bytes => out.push(format!("{number}={}", String::from_utf8_lossy(thrift.bytes()?))),
                Kind::Bool(value) => out.push(format!("{number}={value}")),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        out.push(format!("{} left", thrift.rest().len()));
        Ok(out)
    }

    #[test]
    fn fields_by_number_and_type() {
        // 1: i32 = 1, 3: "ab", 20 (long form): true, then the end and one byte more.
        let bytes = [0x15, 0x02, 0x28, 0x02, b'a', b'b', 0x01, 0x28, 0x00, 0x99];
        assert_eq!(shown(&bytes).unwrap(), ["1=1", "3=ab", "20=true", "1 left"]);
    }

    #[test]
    fn unwanted_values_are_skipped() {
        // 1: a list of two structures, each with a byte; 2: a map from a byte to a text; 3: a double; 4: i64 = -2.
        let bytes = [
            &[0x19, 0x2c, 0x13, 7, 0, 0x13, 8, 0][..],
            &[0x1b, 1, 0x38, 9, 2, b'x', b'y'],
            &[0x17, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0x16, 3, 0],
        ]
        .concat();
        assert_eq!(shown(&bytes).unwrap(), ["4=-2", "0 left"]);
    }

    #[test]
    fn sizes_that_lie_are_errors() {
        for bytes in [
            &[][..],
            &[0x15],
            &[0x18, 0xff, 0xff, 0xff, 0xff, 0x0f],
            &[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x0f],
            &[0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x1d],
            &[0x1c; 10_000],
        ] {
            assert!(shown(bytes).is_err(), "{bytes:x?}");
        }
    }
}
