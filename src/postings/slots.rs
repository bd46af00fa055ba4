//! Numbers that change, in memory as far as they fit, and otherwise in a temporary file.

use super::spilled::cannot_write;
use crate::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The numbers of a page; tests use fewer, so that small collections have many pages.
const NUMBERS: usize = if cfg!(test) { 4 } else { 1 << 10 };

/// The bytes of a page.
const BYTES: u64 = 4 * NUMBERS as u64;

/// A fixed count of numbers, all 0 at first. Page `n` of the file is kept in frame `n` modulo the number of frames, until another page
/// needs this frame. If there are as many frames as pages, there is no file.
pub(crate) struct Slots {
    /// What the numbers are, in errors.
    what: &'static str,
    frames: Vec<Frame>,
    file: Option<File>,
    folder: Option<PathBuf>,
    /// The end of what was written, in pages.
    written: u64,
}

/// A page in memory.
#[derive(Default)]
struct Frame {
    /// The number of the page, from 1; 0 if there is none yet.
    page: u64,
    is_changed: bool,
    numbers: Vec<u32>,
}

impl Slots {
    /// So many, of which `most_bytes` are in memory, or one page if that is more. The file is in `folder`, or in the system's.
    pub fn new(what: &'static str, count: u64, most_bytes: u64, folder: Option<&Path>) -> Self {
        let frames = count.div_ceil(NUMBERS as u64).min(most_bytes / BYTES).max(1);
        let frames = (0..frames).map(|_| Frame::default()).collect();
        Slots { what, frames, file: None, folder: folder.map(Path::to_path_buf), written: 0 }
    }

    /// The bytes in a file.
    pub fn bytes_spilled(&self) -> u64 {
        BYTES * self.written
    }

    /// The number at a place.
    ///
    /// # Errors
    /// The file cannot be read or written; likewise for the others.
    #[inline]
    pub fn get(&mut self, at: u64) -> Result<u32, Error> {
        Ok(self.page(at / NUMBERS as u64)?.numbers[at as usize % NUMBERS])
    }

    /// Replaces the number at a place.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    #[inline]
    pub fn set(&mut self, at: u64, number: u32) -> Result<(), Error> {
        let page = self.page(at / NUMBERS as u64)?;
        page.numbers[at as usize % NUMBERS] = number;
        page.is_changed = true;
        Ok(())
    }

    /// Calls `each` with the numbers at these places.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn for_each(&mut self, mut start: u64, end: u64, mut each: impl FnMut(u32)) -> Result<(), Error> {
        while start < end {
            let (page, first) = (start / NUMBERS as u64, start as usize % NUMBERS);
            let count = ((end - start) as usize).min(NUMBERS - first);
            self.page(page)?.numbers[first..first + count].iter().for_each(|&number| each(number));
            start += count as u64;
        }
        Ok(())
    }

    #[inline]
    fn page(&mut self, number: u64) -> Result<&mut Frame, Error> {
        let frame = (number % self.frames.len() as u64) as usize;
        if self.frames[frame].page != number + 1 {
            self.load(frame, number)?;
        }
        Ok(&mut self.frames[frame])
    }

    /// Writes back the page that a frame has, and loads another one.
    fn load(&mut self, frame: usize, number: u64) -> Result<(), Error> {
        let Frame { page, is_changed, ref numbers } = self.frames[frame];
        let folder = || self.folder.clone().unwrap_or_else(std::env::temp_dir);
        if is_changed {
            let file = match &mut self.file {
                Some(file) => Ok(&mut *file),
                empty => tempfile::tempfile_in(folder()).map(|file| empty.insert(file)),
            };
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            file.and_then(|file| file.seek(SeekFrom::Start(BYTES * (page - 1))).and_then(|_| file.write_all(&bytes)))
                .map_err(|error| cannot_write(self.what, &folder(), error))?;
            self.written = self.written.max(page);
        }
        let mut bytes = vec![0; BYTES as usize];
        // Pages between those that were written are zeros.
        if number < self.written
            && let Some(file) = &mut self.file
        {
            let read = file.seek(SeekFrom::Start(BYTES * number)).and_then(|_| file.read_exact(&mut bytes));
            read.map_err(|error| cannot_read(self.what, &folder(), error))?;
        }
        let frame = &mut self.frames[frame];
        frame.numbers.clear();
        frame.numbers.extend(bytes.as_chunks().0.iter().map(|&number| u32::from_le_bytes(number)));
        (frame.page, frame.is_changed) = (number + 1, false);
        Ok(())
    }
}

fn cannot_read(what: &str, folder: &Path, error: io::Error) -> Error {
    Error::io(format!("cannot read {what} back from a temporary file in {}", folder.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(
            count in 1u64..60, most_bytes in 0u64..200, changes in prop::collection::vec((any::<u64>(), any::<u32>()), 0..80),
        ) {
            let mut slots = Slots::new("numbers", count, most_bytes, None);
            let mut expected = vec![0; count as usize];
            for (at, number) in changes {
                let at = at % count;
                slots.set(at, number).unwrap();
                expected[at as usize] = number;
                prop_assert_eq!(slots.get(at).unwrap(), number);
            }
            let mut found = Vec::new();
            slots.for_each(0, count, |number| found.push(number)).unwrap();
            prop_assert_eq!(&found, &expected);
            prop_assert!(slots.bytes_spilled() == 0 || most_bytes < BYTES * count.div_ceil(NUMBERS as u64));
            let part = count / 3..count / 2;
            found.clear();
            slots.for_each(part.start, part.end, |number| found.push(number)).unwrap();
            prop_assert_eq!(&found[..], &expected[part.start as usize..part.end as usize]);
        }
    }
}
