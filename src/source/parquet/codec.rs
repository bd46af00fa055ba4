//! The compression of pages.

use std::io::Read;

use super::fault::Damage;

/// The compression of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    Snappy,
    Gzip,
    Brotli,
    /// LZ4 in one of three framings: that of Hadoop, that of LZ4, none.
    Lz4,
    Zstd,
    Lz4Raw,
}

impl Codec {
    pub fn by_code(code: i64) -> Result<Self, Damage> {
        Ok(match code {
            0 => Codec::None,
            1 => Codec::Snappy,
            2 => Codec::Gzip,
            3 => return Err("a column is compressed with LZO, which is not supported".into()),
            4 => Codec::Brotli,
            5 => Codec::Lz4,
            6 => Codec::Zstd,
            7 => Codec::Lz4Raw,
            code => return Err(format!("a column has the unknown compression {code}").into()),
        })
    }

    /// `before`, followed by the `size` bytes that `packed` unpacks to.
    pub fn unpack(self, before: &[u8], packed: &[u8], size: usize) -> Result<Vec<u8>, Damage> {
        let unpacked = match self {
            Codec::None => (packed.len() == size).then(|| [before, packed].concat()),
            // Without values, some writers compress nothing.
            _ if size == 0 => Some(before.to_vec()),
            Codec::Snappy => snappy(before, packed, size),
            Codec::Gzip => streamed(flate2::read::MultiGzDecoder::new(packed), before, size),
            Codec::Brotli => streamed(brotli_decompressor::Decompressor::new(packed, 4096), before, size),
            Codec::Lz4 => hadoop(before, packed, size)
                .or_else(|| streamed(lz4_flex::frame::FrameDecoder::new(packed), before, size))
                .or_else(|| lz4(before, packed, size)),
            Codec::Zstd => zstd(before, packed, size),
            Codec::Lz4Raw => lz4(before, packed, size),
        };
        unpacked.ok_or_else(|| "the compressed data of a page is damaged, or its size is wrong".into())
    }
}

/// The checksum of a page, that of gzip.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

/// Reads `size` bytes, and nothing more.
fn streamed(decoder: impl Read, before: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut out = before.to_vec();
    let read = decoder.take(size as u64 + 1).read_to_end(&mut out).ok()?;
    (read == size).then_some(out)
}

fn snappy(before: &[u8], packed: &[u8], size: usize) -> Option<Vec<u8>> {
    if snap::raw::decompress_len(packed).ok()? != size {
        return None;
    }
    filled(before, size, |out| snap::raw::Decoder::new().decompress(packed, out).ok())
}

fn zstd(before: &[u8], packed: &[u8], size: usize) -> Option<Vec<u8>> {
    filled(before, size, |out| zstd::bulk::decompress_to_buffer(packed, out).ok())
}

fn lz4(before: &[u8], packed: &[u8], size: usize) -> Option<Vec<u8>> {
    filled(before, size, |out| lz4_flex::block::decompress_into(packed, out).ok())
}

/// Blocks, each after its size and its compressed size.
fn hadoop(before: &[u8], mut packed: &[u8], size: usize) -> Option<Vec<u8>> {
    filled(before, size, |out| {
        let mut at = 0usize;
        while let Some((sizes, rest)) = packed.split_first_chunk::<8>() {
            let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | usize::from(byte));
            let (size, length) = (number(&sizes[..4]), number(&sizes[4..]));
            let (block, rest) = rest.split_at_checked(length)?;
            let into = out.get_mut(at..at.checked_add(size)?)?;
            if lz4_flex::block::decompress_into(block, into).ok()? != size {
                return None;
            }
            at += size;
            packed = rest;
        }
        packed.is_empty().then_some(at)
    })
}

/// `before`, followed by exactly `size` bytes that `fill` writes.
fn filled(before: &[u8], size: usize, fill: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<Vec<u8>> {
    let mut out = vec![0; before.len() + size];
    out[..before.len()].copy_from_slice(before);
    (fill(&mut out[before.len()..])? == size).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TEXT: &[u8] = b"what is compressed, what is compressed, what is compressed";

    fn packed(codec: Codec) -> Vec<u8> {
        let block = || lz4_flex::block::compress(TEXT);
        match codec {
            Codec::None => TEXT.to_vec(),
            Codec::Snappy => snap::raw::Encoder::new().compress_vec(TEXT).unwrap(),
            Codec::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(TEXT).unwrap();
                encoder.finish().unwrap()
            }
            Codec::Brotli => unreachable!("tested with whole files"),
            Codec::Lz4 => {
                let sizes = [(TEXT.len() as u32).to_be_bytes(), (block().len() as u32).to_be_bytes()].concat();
                [sizes, block()].concat()
            }
            Codec::Zstd => zstd::bulk::compress(TEXT, 1).unwrap(),
            Codec::Lz4Raw => block(),
        }
    }

    #[test]
    fn the_exact_size_or_nothing() {
        for codec in [Codec::None, Codec::Snappy, Codec::Gzip, Codec::Lz4, Codec::Zstd, Codec::Lz4Raw] {
            let packed = packed(codec);
            let unpacked = codec.unpack(b"levels", &packed, TEXT.len()).unwrap();
            assert_eq!(unpacked, [b"levels", TEXT].concat(), "{codec:?}");
            for size in [1, TEXT.len() - 1, TEXT.len() + 1, 1 << 20] {
                assert!(codec.unpack(b"", &packed, size).is_err(), "{codec:?} {size}");
            }
            assert!(codec.unpack(b"", &packed[..packed.len() - 1], TEXT.len()).is_err(), "{codec:?}");
            assert!(codec.unpack(b"", b"", TEXT.len()).is_err(), "{codec:?}");
        }
    }

    #[test]
    fn every_framing_of_lz4() {
        let mut framed = lz4_flex::frame::FrameEncoder::new(Vec::new());
        framed.write_all(TEXT).unwrap();
        for packed in [framed.finish().unwrap(), packed(Codec::Lz4Raw), packed(Codec::Lz4)] {
            assert_eq!(Codec::Lz4.unpack(b"", &packed, TEXT.len()).unwrap(), TEXT);
        }
    }
}
