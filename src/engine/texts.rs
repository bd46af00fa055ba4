//! The texts of some documents, read again after a scan.

use super::arrange::Kept;
use super::read::Reader;
use super::{Observer, ScanOptions, Side, Stage};
use crate::error::Error;
use crate::kernel::bytes;
use crate::postings::{Buffer, Spilled};
use crate::run::batches::Numbered;
use crate::run::ordered::workers;
use crate::run::sign::Scratch;
use crate::source::{Rank, Source};

/// The beginnings of texts, in a temporary file.
pub(crate) struct Texts {
    file: Spilled,
    /// The documents, ascending.
    documents: Vec<u32>,
    /// Of each the position in the file, the length in bytes, and whether the text goes on; `None` if it could not be read
    /// again, or has changed.
    at: Vec<Option<(u64, u32, bool)>>,
    /// The rank of each; the default if the text is missing.
    ranks: Vec<Rank>,
}

/// The beginning of a text.
pub(crate) struct Beginning {
    pub text: String,
    /// Whether the text goes on.
    pub is_cut: bool,
}

impl Texts {
    /// The rank of a document, as it was read again; `None` as for its text.
    pub fn rank(&self, document: usize) -> Option<&Rank> {
        let number = self.documents.binary_search(&u32::try_from(document).ok()?).ok()?;
        self.at[number].map(|_| &self.ranks[number])
    }

    /// The beginning of the text of a document; `None` if it was not wanted, could not be read again, or has changed.
    ///
    /// # Errors
    /// The temporary file cannot be read.
    pub fn get(&self, document: usize) -> Result<Option<Beginning>, Error> {
        let found = u32::try_from(document).ok().and_then(|document| self.documents.binary_search(&document).ok());
        let Some((start, length, is_cut)) = found.and_then(|number| self.at[number]) else { return Ok(None) };
        let mut buffer = Buffer::default();
        let words = self.file.read(start, (length as usize).div_ceil(8), &mut buffer)?;
        let text = str::from_utf8(&bytes::of_words(words)[..length as usize]).map(str::to_owned);
        Ok(text.ok().map(|text| Beginning { text, is_cut }))
    }
}

/// The beginnings of texts of one batch: the number of each among those that are wanted, its end, and whether it is cut.
#[derive(Default)]
struct Chunk {
    texts: String,
    ends: Vec<(usize, usize, bool)>,
    ranks: Vec<Rank>,
}

impl Kept<'_> {
    /// Reads everything again, and returns the first `longest` bytes of the texts of these documents, which are named by
    /// their indices, ascending. The sources must be those of the scan, with the same options. A text that differs from
    /// the one that was compared is missing.
    ///
    /// # Errors
    /// A source fails as a whole, or the temporary file cannot be written.
    ///
    /// # Cost
    /// One reading, in which only these documents are tokenised. Memory: some 60 bytes for each of them, and what their ranks take; a
    /// temporary file for the texts.
    pub(crate) fn texts(
        &self,
        source: &mut dyn Source,
        reference: Option<&mut dyn Source>,
        (options, observer): (&ScanOptions, &dyn Observer),
        documents: Vec<u32>,
        longest: usize,
    ) -> Result<Texts, Error> {
        let (corpus, prepared) = (self.corpus(), self.prepared());
        let mut file = Spilled::new("texts", options.temp_dir.as_deref())?;
        let mut at = vec![None; documents.len()];
        let mut ranks = vec![Rank::default(); documents.len()];
        let reader = Reader::new(options, workers(options.threads), observer);
        let signer = reader.signer(prepared);
        observer.stage(Stage::Rereading);
        let work = |_: &(), numbered: Numbered, scratch: &mut Scratch| {
            let mut chunk = Chunk::default();
            let wanted = |document: u32| documents.binary_search(&document).ok();
            let records = corpus.records_of_part(numbered.number);
            let sought: Vec<(u32, u32, usize)> =
                records.filter_map(|(record, document)| Some((record, document, wanted(document)?))).collect();
            let number_of = |record: u32| sought.binary_search_by_key(&record, |sought| sought.0).ok();
            numbered.batch.selected(&mut |record| number_of(record).is_some(), &mut |record, read| {
                let (Ok(read), Some(found)) = (read, number_of(record)) else { return };
                let (_, document, number) = sought[found];
                let scratch = &mut *signer.begin(&read.text, scratch);
                let is_same = read.id == corpus.id(document)
                    && signer.cut(&read.text, scratch).is_ok()
                    && corpus
                        .group_of(document)
                        .is_some_and(|group| corpus.is_sequence(group, signer.sequence(scratch)));
                if is_same {
                    let end = read.text.floor_char_boundary(longest);
                    chunk.texts.push_str(&read.text[..end]);
                    chunk.ends.push((number, chunk.texts.len(), end < read.text.len()));
                    chunk.ranks.push(read.rank);
                }
            });
            ((numbered.batch.bytes_read(), numbered.batch.bytes_unpacked()), chunk)
        };
        let mut sources = Side::both(source, reference);
        reader.in_parallel(
            &mut sources,
            |_| Ok(()),
            work,
            |((bytes, unpacked), chunk): ((u64, u64), Chunk)| {
                observer.unpacked(unpacked);
                observer.progress(bytes, 0);
                let mut start = 0;
                for ((number, end, is_cut), rank) in chunk.ends.into_iter().zip(chunk.ranks) {
                    ranks[number] = rank;
                    let text = &chunk.texts.as_bytes()[start..end];
                    at[number] = Some((file.append(&words(text))?, text.len() as u32, is_cut));
                    start = end;
                }
                Ok(())
            },
        )?;
        Ok(Texts { file, documents, at, ranks })
    }
}

/// The bytes as words, of which the last is filled with zeros.
fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}
