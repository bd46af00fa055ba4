//! Where documents were read.

use crate::source::Place;
use std::fmt;
use std::sync::Arc;

/// A location, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct At<'a> {
    /// The path as given, `/`-separated.
    pub path: &'a str,
    /// The line, or the number of the record in an archive, from 1; `None` for a whole file.
    pub line: Option<u64>,
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.path),
            None => f.write_str(self.path),
        }
    }
}

/// The locations of documents: 4 bytes for each, and for each file its path and its first document.
#[derive(Default)]
pub(crate) struct Places {
    files: Vec<(u32, Arc<str>)>,
    /// The line minus that of the first document of the same file here, plus 1; 0 for a whole file.
    lines: Vec<u32>,
    first_lines: Vec<u64>,
}

impl Places {
    /// Adds that of the next document.
    pub fn push(&mut self, place: &Place) {
        self.add(&place.path, place.line);
    }

    fn add(&mut self, path: &Arc<str>, line: Option<u64>) {
        let number = line.unwrap_or(0);
        let fits = |first: u64| number >= first && number - first < u32::MAX.into();
        let same_file = self.files.last().is_some_and(|(_, last)| last == path);
        if !same_file || !self.first_lines.last().is_some_and(|&first| fits(first)) {
            self.files.push((self.lines.len() as u32, Arc::clone(path)));
            self.first_lines.push(number);
        }
        let first = self.first_lines[self.first_lines.len() - 1];
        self.lines.push(line.map_or(0, |line| (line - first) as u32 + 1));
    }

    /// Adds those of the next documents.
    pub fn append(&mut self, next: &Places) {
        let ends = next.files.iter().skip(1).map(|&(start, _)| start as usize).chain([next.lines.len()]);
        let mut start = 0;
        for (file, ((_, path), end)) in next.files.iter().zip(ends).enumerate() {
            next.lines[start..end].iter().for_each(|&line| self.add(path, next.line(file, line)));
            start = end;
        }
    }

    /// That of a document.
    pub fn at(&self, document: u32) -> At<'_> {
        let file = self.files.partition_point(|(start, _)| *start <= document) - 1;
        At { path: &self.files[file].1, line: self.line(file, self.lines[document as usize]) }
    }

    /// The line that is stored as `line` for a document of a file.
    fn line(&self, file: usize, line: u32) -> Option<u64> {
        (line > 0).then(|| self.first_lines[file] + u64::from(line) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back() {
        let file = |name: &str, line| Place { path: name.into(), line };
        let places = [
            file("a", Some(7)),
            file("a", Some(8)),
            file("a", Some(12)),
            file("b", None),
            file("b", Some(1)),
            file("c", Some(1 << 40)),
            file("c", Some((1 << 40) + u64::from(u32::MAX))),
            file("c", Some(3)),
        ];
        let back = |kept: &Places| -> Vec<Place> {
            let all = (0..kept.lines.len() as u32).map(|document| kept.at(document));
            all.map(|At { path, line }| Place { path: path.into(), line }).collect()
        };
        let mut kept = Places::default();
        places.iter().for_each(|place| kept.push(place));
        assert_eq!(back(&kept), places);
        // In parts, also within a file.
        for cut in 0..=places.len() {
            let mut kept = Places::default();
            for part in [&places[..cut], &places[cut..]] {
                let mut next = Places::default();
                part.iter().for_each(|place| next.push(place));
                kept.append(&next);
            }
            assert_eq!(back(&kept), places);
        }
    }
}
