//! Different names, numbered through.

use xxhash_rust::xxh3::xxh3_64;

/// Names, each once. Takes 14 to 19 bytes for each in addition to the name.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The names, back to back, and where each ends.
    text: String,
    ends: Vec<usize>,
    /// A hash table of the numbers: each is in the first free place from that of its hash on.
    places: Vec<u32>,
}

/// Marks a place of the table.
const FREE: u32 = u32::MAX;

impl Names {
    /// The number of a name, which is added if it is not there.
    pub fn insert(&mut self, name: &str) -> u32 {
        // A quarter of the places stays free.
        if 4 * self.ends.len() >= 3 * self.places.len() {
            self.grow();
        }
        let place = self.place(name);
        if self.places[place] == FREE {
            self.places[place] = self.ends.len() as u32;
            self.text.push_str(name);
            self.ends.push(self.text.len());
        }
        self.places[place]
    }

    /// The number of a name, if it is there.
    pub fn find(&self, name: &str) -> Option<u32> {
        let number = *self.places.get(self.place(name))?;
        (number != FREE).then_some(number)
    }

    /// The name with this number.
    pub fn get(&self, number: u32) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.text[start..self.ends[number as usize]]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The place of a name, or the free one where it would be; 0 without any places.
    fn place(&self, name: &str) -> usize {
        let last = self.places.len().saturating_sub(1);
        let mut place = xxh3_64(name.as_bytes()) as usize & last;
        while self.places.get(place).is_some_and(|&number| number != FREE && self.get(number) != name) {
            place = (place + 1) & last;
        }
        place
    }

    fn grow(&mut self) {
        self.places = vec![FREE; (2 * self.places.len()).max(16)];
        for number in 0..self.ends.len() as u32 {
            let place = self.place(self.get(number));
            self.places[place] = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn each_name_has_one_number(typed in prop::collection::vec("[a-c]{0,4}", 0..300)) {
            let (mut names, mut expected) = (Names::default(), HashMap::new());
            prop_assert_eq!(names.find("a"), None);
            for name in &typed {
                let next = expected.len() as u32;
                let number = *expected.entry(name).or_insert(next);
                prop_assert_eq!(names.insert(name), number);
            }
            prop_assert_eq!(names.len(), expected.len());
            for (name, &number) in &expected {
                prop_assert_eq!((names.find(name), names.get(number)), (Some(number), name.as_str()));
            }
            prop_assert_eq!(names.find("abcde"), None);
        }
    }
}
