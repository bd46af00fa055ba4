//! The content of JSON strings.

use super::{Level, Set};

/// Returns the number of leading bytes that need no escape in a JSON string: those before a quotation mark, a backslash
/// or a control character, or all of them.
///
/// Cost: 64 bytes a step with AVX-512, 32 with AVX2.
#[inline]
pub fn plain_prefix(level: Level, bytes: &[u8]) -> usize {
    match level.set() {
        Set::Plain => plain(bytes),
        // SAFETY: the level says that the processor has AVX2.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { avx2(bytes) },
        // SAFETY: the level says that the processor has AVX-512 BW.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { avx512(bytes) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => plain(bytes),
    }
}

fn stands_for_itself(byte: u8) -> bool {
    byte != b'"' && byte != b'\\' && byte >= 0x20
}

fn plain(bytes: &[u8]) -> usize {
    // Sixteen bytes at a time without a branch, which the compiler vectorises; then the byte that ended the loop.
    let (chunks, _) = bytes.as_chunks::<16>();
    let whole = chunks.iter().take_while(|chunk| chunk.iter().fold(true, |all, &byte| all & stands_for_itself(byte)));
    let at = 16 * whole.count();
    at + bytes[at..].iter().take_while(|&&byte| stands_for_itself(byte)).count()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1")]
fn avx2(bytes: &[u8]) -> usize {
    let (chunks, _) = bytes.as_chunks::<32>();
    for (i, chunk) in chunks.iter().enumerate() {
        let stop = stops_avx2(chunk);
        if stop != 0 {
            return 32 * i + stop.trailing_zeros() as usize;
        }
    }
    let at = 32 * chunks.len();
    at + plain(&bytes[at..])
}

/// The bytes that do not stand for themselves, as bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1")]
fn stops_avx2(bytes: &[u8; 32]) -> u32 {
    use std::arch::x86_64::*;
    // SAFETY: these are 32 bytes, and the load needs no alignment.
    let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
    let quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"' as i8));
    let backslash = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\\' as i8));
    // Unsigned: at most 0x1f iff the greater of the two is 0x1f.
    let limit = _mm256_set1_epi8(0x1f);
    let control = _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, limit), limit);
    _mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(quote, backslash), control)) as u32
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
fn avx512(bytes: &[u8]) -> usize {
    use std::arch::x86_64::*;
    let (chunks, rest) = bytes.as_chunks::<64>();
    for (i, chunk) in chunks.iter().enumerate() {
        // SAFETY: the chunk is 64 bytes, and the load needs no alignment.
        let stop = stops_avx512(unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) });
        if stop != 0 {
            return 64 * i + stop.trailing_zeros() as usize;
        }
    }
    let there = (1u64 << rest.len()) - 1;
    // SAFETY: only the bytes of the rest are loaded, there are fewer than 64, and the load needs no alignment.
    let stop = stops_avx512(unsafe { _mm512_maskz_loadu_epi8(there, rest.as_ptr().cast()) }) & there;
    let length = if stop == 0 { rest.len() } else { stop.trailing_zeros() as usize };
    64 * chunks.len() + length
}

/// The bytes that do not stand for themselves, as bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn stops_avx512(bytes: std::arch::x86_64::__m512i) -> u64 {
    use std::arch::x86_64::*;
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'"' as i8))
        | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\\' as i8))
        | _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20))
}

/// The character that each byte stands for after a backslash; 0 if it does not stand for one alone.
const SHORT_ESCAPES: [u8; 256] = {
    let mut escapes = [0; 256];
    let pairs = [*b"\"\"", *b"\\\\", *b"//", *b"b\x08", *b"f\x0c", *b"n\n", *b"r\r", *b"t\t"];
    let mut i = 0;
    while i < pairs.len() {
        escapes[pairs[i][0] as usize] = pairs[i][1];
        i += 1;
    }
    escapes
};

/// Appends the beginning of a JSON string to `out`, with its escapes of one letter replaced. Returns the number of bytes up to a quotation
/// mark, a control character or another escape, or of all.
///
/// Cost: with AVX2 and AVX-512, a few operations for 64 bytes and for each escape.
#[inline]
pub fn unescape(level: Level, text: &str, out: &mut String) -> usize {
    match level.set() {
        Set::Plain => unescape_plain(level, text, out),
        // SAFETY: the level says that the processor has AVX2.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { unescape_avx2(level, text, out) },
        // SAFETY: the level says that the processor has AVX-512 BW.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { unescape_avx512(level, text, out) },
        #[cfg(not(target_arch = "x86_64"))]
        _ => unescape_plain(level, text, out),
    }
}

fn unescape_plain(level: Level, text: &str, out: &mut String) -> usize {
    let (bytes, mut at) = (text.as_bytes(), 0);
    loop {
        let end = at + plain_prefix(level, &bytes[at..]);
        out.push_str(&text[at..end]);
        match short_escape(bytes, end) {
            Some(stands_for) => out.push(char::from(stands_for)),
            None => return end,
        }
        at = end + 2;
    }
}

/// What the escape of one letter at byte `at` stands for, if there is one.
#[inline(always)]
fn short_escape(bytes: &[u8], at: usize) -> Option<u8> {
    let &[backslash, letter] = bytes.get(at..at + 2)?.as_array()?;
    let stands_for = SHORT_ESCAPES[usize::from(letter)];
    (backslash == b'\\' && stands_for > 0).then_some(stands_for)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn unescape_avx2(level: Level, text: &str, out: &mut String) -> usize {
    unescape_blocks(level, text, out, |block| {
        let (halves, _) = block.as_chunks::<32>();
        u64::from(stops_avx2(&halves[0])) | u64::from(stops_avx2(&halves[1])) << 32
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
fn unescape_avx512(level: Level, text: &str, out: &mut String) -> usize {
    unescape_blocks(level, text, out, |block| {
        // SAFETY: the block is 64 bytes, and the load needs no alignment.
        stops_avx512(unsafe { std::arch::x86_64::_mm512_loadu_si512(block.as_ptr().cast()) })
    })
}

/// The bytes of a block.
#[cfg(target_arch = "x86_64")]
const BLOCK: usize = 64;

/// [`unescape`], given a function that marks the bytes of a block that do not stand for themselves.
///
/// A whole block is copied from each place where the text goes on, up to an escape or the end of the block; what is too much is
/// overwritten.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn unescape_blocks(level: Level, text: &str, out: &mut String, stops: impl Fn(&[u8; BLOCK]) -> u64) -> usize {
    let bytes = text.as_bytes();
    out.reserve(bytes.len());
    // SAFETY: what is appended is whole characters of the text, and ASCII characters, so that it stays UTF-8; the length changes only once
    // all of it was written.
    let all = unsafe { out.as_mut_vec() };
    let (before, spare) = (all.len(), all.spare_capacity_mut());
    let (mut at, mut length, mut has_stopped) = (0, 0, false);
    // No more is written than is read, and a block from there.
    while !has_stopped && bytes.len() - at >= 2 * BLOCK {
        let mut stops = stops(block_from(bytes, at));
        let mut from = 0;
        while from < BLOCK && !has_stopped {
            let (block, to) = (block_from(bytes, at + from), &mut spare[length..length + BLOCK]);
            // SAFETY: both are a block, and only one of them is in the text. The length is constant: this is one store, not a call.
            unsafe { std::ptr::copy_nonoverlapping(block.as_ptr(), to.as_mut_ptr().cast(), BLOCK) };
            let end = stops.trailing_zeros() as usize;
            length += end - from;
            from = end;
            if end < BLOCK {
                match short_escape(bytes, at + end) {
                    Some(stands_for) => {
                        spare[length].write(stands_for);
                        length += 1;
                        from += 2;
                        stops &= u64::MAX.checked_shl(from as u32).unwrap_or(0);
                    }
                    None => has_stopped = true,
                }
            }
        }
        at += from;
    }
    // Of a character that the last block cuts, all bytes so far were copied.
    let cut = (0..at).rev().take_while(|&before| !text.is_char_boundary(before + 1)).count();
    (at, length) = (at - cut, length - cut);
    // SAFETY: so many bytes were written.
    unsafe { all.set_len(before + length) };
    if has_stopped { at } else { at + unescape_plain(level, &text[at..], out) }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn block_from(bytes: &[u8], at: usize) -> &[u8; BLOCK] {
    bytes[at..].first_chunk().expect("a block")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_level_stops_where_the_plain_loop_does(mut bytes in prop::collection::vec(0x20u8.., 0..200), at in 0usize..200, stop: u8) {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = stop;
            }
            let expected = bytes.iter().take_while(|&&byte| stands_for_itself(byte)).count();
            prop_assert_eq!(plain(&bytes), expected);
            for level in Level::available() {
                prop_assert_eq!(plain_prefix(level, &bytes), expected, "{:?}", level);
            }
        }

        #[test]
        fn every_level_replaces_the_escapes_that_serde_does(
            pieces in prop::collection::vec(prop_oneof!["[a-c é日😀/]{0,40}", r#"\\["\\/bfnrt]"#], 0..60),
            end in prop_oneof![Just(""), Just("\""), Just("\\u00e9"), Just("\n"), Just("\\"), Just("\\x")],
            rest in "[a-c\"\\\\é]{0,200}",
        ) {
            let content = pieces.concat();
            let text = format!("{content}{end}{}", if end.is_empty() { "" } else { &rest });
            // A backslash of the rest may make the end an escape.
            let is_short = end == "\\" && rest.starts_with(['"', '\\', 'b']);
            let expected: String = serde_json::from_str(&format!("\"{content}\"")).unwrap();
            for level in Level::available() {
                let mut out = String::from("é");
                let at = unescape(level, &text, &mut out);
                if !is_short {
                    prop_assert_eq!((at, &out[2..]), (content.len(), &*expected), "{:?}", level);
                }
                let mut plain = String::from("é");
                prop_assert_eq!(unescape_plain(level, &text, &mut plain), at);
                prop_assert_eq!(plain, out);
            }
        }
    }
}
