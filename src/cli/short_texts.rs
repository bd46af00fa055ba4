//! A remark on short texts that an index compares otherwise than a scan would.

use super::terminal::{count, counted};
use neardups::Error;
use neardups::algorithm::{AlgorithmFactory as _, TableFactory};
use neardups::source::{Input, ReadOptions, Source as _};
use neardups::tokenizer::{TokenDetail, Tokenizer, Tokens};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The number of documents that are looked at, and of bytes of their texts: those of more are not short.
const SAMPLE: usize = 1000;
const SAMPLE_BYTES: usize = 16 << 20;

/// The remark that a scan would choose shorter shingles than an index that was made, by the median length of the first documents.
///
/// # Errors
/// The algorithm cannot be prepared.
pub fn remark(
    (paths, options): (&[PathBuf], &ReadOptions),
    factory: &TableFactory,
    tokenizer: &dyn Tokenizer,
) -> Result<Option<String>, Error> {
    if !factory.depends_on_length() {
        return Ok(None);
    }
    let mut lengths = first_lengths(&mut Input::new(paths.to_vec(), options.clone()), tokenizer);
    let documents = lengths.len() as u64;
    lengths.retain(|&length| length > 0);
    lengths.sort_unstable();
    let Some(&median) = lengths.get(lengths.len().saturating_sub(1) / 2) else { return Ok(None) };
    let (by_index, by_scan) = (chosen(factory, 0)?, chosen(factory, median)?);
    if by_index == by_scan {
        return Ok(None);
    }
    let shown = |(shingle, tokenizer): &(String, Option<String>)| match tokenizer {
        // It has tokens that overlap, so that shingles have one.
        Some(tokenizer) => format!("--tokenizer {tokenizer}"),
        None => format!("--shingle {shingle}"),
    };
    Ok(Some(format!(
        "the documents are short (median {} of the first {}): a scan would compare them with {}, and this new index, which knows no \
         median, compares them with {} and finds fewer near-duplicates. To change that, make it again with {}",
        counted(median as u64, "word"),
        count(documents),
        shown(&by_scan),
        shown(&by_index),
        shown(&by_scan),
    )))
}

/// The length of shingles for documents of this median length, and the tokenizer if it is another one than requested.
fn chosen(factory: &TableFactory, median: usize) -> Result<(String, Option<String>), Error> {
    let prepared = factory.prepare(median)?;
    let shingle = prepared.algorithm.rows().into_iter().find(|row| row.name == "shingle");
    let shingle = shingle.map(|row| row.value.to_string()).unwrap_or_default();
    Ok((shingle, prepared.tokenizer.map(|tokenizer| tokenizer.name().to_string())))
}

/// The lengths of the first documents in tokens.
fn first_lengths(input: &mut Input, tokenizer: &dyn Tokenizer) -> Vec<usize> {
    let (mut lengths, mut tokens, mut bytes) = (Vec::new(), Tokens::new(TokenDetail::Hashes, 0), 0);
    input.read(&mut |batch| {
        batch.documents(&mut |document| {
            if let Ok(document) = document
                && lengths.len() < SAMPLE
                && bytes < SAMPLE_BYTES
            {
                bytes += document.text.len();
                tokens.clear();
                tokenizer.tokenize(&document.text, &mut tokens);
                lengths.push(tokens.len());
            }
        });
        if lengths.len() < SAMPLE && bytes < SAMPLE_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    lengths
}
