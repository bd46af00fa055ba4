//! The pairs that meet in runs of tables, each once.

use super::sided::Sided;
use super::table::Table;
use crate::kernel::fetch::fetch;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The runs of tables, row by row: for each of some members, those that it [meets](Sided) in its runs.
///
/// Two members that share many keys meet many times, and are compared once: a member that was met is marked.
struct Rows<'a> {
    tables: &'a [Table],
    sided: &'a Sided,
    /// The members, and how many there are in all.
    range: Range<u32>,
    numbers: usize,
    /// The places of the members, in parts, and the number of members in each part but the last.
    parts: Vec<Places>,
    size: usize,
    /// The members that meet others in some run. Those of one long run are adjacent, so that their data stays in the
    /// caches.
    order: Vec<u32>,
}

/// The places of some members in their runs, in the order of these, one member after the other; and the end of each member's.
struct Places {
    places: Vec<RunPlace>,
    ends: Vec<usize>,
}

impl Places {
    /// Those of the members in this range.
    fn of(range: Range<u32>, each_row: impl Fn(&mut dyn FnMut(u32, RunPlace))) -> Self {
        let each = |found: &mut dyn FnMut(usize, RunPlace)| {
            each_row(&mut |member, place| {
                if range.contains(&member) {
                    found((member - range.start) as usize, place);
                }
            });
        };
        let mut ends = vec![0; range.len()];
        each(&mut |member, _| ends[member] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // At first the start of each member; filling moves each to its end.
            sum += std::mem::replace(end, sum);
        }
        let mut places = vec![RunPlace::default(); sum];
        each(&mut |member, place| {
            places[ends[member]] = place;
            ends[member] += 1;
        });
        Places { places, ends }
    }

    #[inline]
    fn get(&self, member: usize) -> &[RunPlace] {
        let start = if member == 0 { 0 } else { self.ends[member - 1] };
        &self.places[start..self.ends[member]]
    }
}

/// Where a member and another one that it meets are in the same run.
pub(super) struct MeetingPlace {
    /// The place of the member whose row it is.
    pub row: RunPlace,
    /// The position of the other one in the members of the table.
    pub other: u32,
}

/// The place of a member in a run.
#[derive(Clone, Copy, Default)]
pub(super) struct RunPlace {
    pub table: u32,
    pub run: u32,
    /// The position in the members of the table.
    pub at: u32,
}

/// Passes the members of some runs to a function that may meet others there, each with its place.
fn each_row(
    tables: &[Table],
    sided: &Sided,
    is_wanted: impl Fn(&Table, usize) -> bool,
    each: &mut dyn FnMut(u32, RunPlace),
) {
    for (number, table) in (0..).zip(tables) {
        for run in (0..table.runs()).filter(|&run| is_wanted(table, run)) {
            let (members, start) = (table.run(run), table.range(run).start);
            for at in (0..members.len()).filter(|&at| sided.meets(members, at)) {
                each(members[at], RunPlace { table: number, run: run as u32, at: (start + at) as u32 });
            }
        }
    }
}

/// Each part of the members takes a pass over all runs, on a thread of its own: no more parts than these.
const MOST_PARTS: usize = 8;

/// How many of so many members are in each part, at least one.
fn size_of_part(members: usize) -> usize {
    members.div_ceil(rayon::current_num_threads().min(MOST_PARTS)).max(1)
}

/// What the promise about the memory of the process allows for the places of rows, in addition to a share of the memory.
const PLACES_BYTES: u64 = 16 << 20;

/// The ranges of all numbers, below `places.len()`, such that the rows of each have at most so many places, if they are not
/// one.
fn row_ranges(places: &[u32], most: u64) -> Vec<Range<u32>> {
    let (mut ranges, mut start, mut taken) = (Vec::new(), 0, 0);
    for (number, &own) in (0..).zip(places) {
        if taken > 0 && taken + u64::from(own) > most {
            ranges.push(start..number);
            (start, taken) = (number, 0);
        }
        taken += u64::from(own);
    }
    if taken > 0 {
        ranges.push(start..places.len() as u32);
    }
    ranges
}

/// Passes every pair that meets in some runs of tables to `look`, as [`Rows::search`] does; all members are below `numbers`.
/// Places take at most an eighth of this memory and 16 MiB at a time.
pub(super) fn search_rows<T>(
    (tables, numbers): (&[Table], usize),
    sided: &Sided,
    is_wanted: impl Fn(&Table, usize) -> bool + Sync,
    memory: u64,
    (stops, begin, fetch): (impl Fn() -> bool + Sync, impl Fn() -> T + Sync, impl Fn(u32) + Sync),
    look: impl Fn((u32, u32), &MeetingPlace, &mut T) + Sync,
) {
    let mut places = vec![0u32; numbers];
    let size = size_of_part(numbers);
    places.par_chunks_mut(size).enumerate().for_each(|(part, places)| {
        each_row(tables, sided, &is_wanted, &mut |member, _| {
            let place = (member as usize).checked_sub(part * size).and_then(|own| places.get_mut(own));
            place.into_iter().for_each(|count| *count += 1);
        });
    });
    let ranges = row_ranges(&places, (memory / 8).saturating_add(PLACES_BYTES) / size_of::<RunPlace>() as u64);
    drop(places);
    for range in ranges {
        Rows::new(tables, range, numbers, sided, &is_wanted).search(memory, (&stops, &begin, &fetch), &look);
    }
}

impl<'a> Rows<'a> {
    /// The rows of members in this range in some runs of tables; all members are below `numbers`.
    ///
    /// Cost: two passes over the runs for each part of the members, in parallel, and a sort of the members. 12 bytes for each
    /// membership and 20 for each number of the range.
    fn new(
        tables: &'a [Table],
        range: Range<u32>,
        numbers: usize,
        sided: &'a Sided,
        is_wanted: impl Fn(&Table, usize) -> bool + Sync,
    ) -> Self {
        let size = size_of_part(range.len());
        let part = |first: u32| {
            let members = first..range.end.min(first.saturating_add(size as u32));
            Places::of(members, |found| each_row(tables, sided, &is_wanted, found))
        };
        let parts = range.clone().into_par_iter().step_by(size).map(part).collect();
        let mut rows = Rows { tables, sided, range, numbers, parts, size, order: Vec::new() };
        let length = |place: &RunPlace| tables[place.table as usize].run(place.run as usize).len();
        let longest = |place: &RunPlace| (length(place), place.table, place.run);
        let together = |number| {
            let (_, table, run) = rows.of(number).iter().map(longest).max()?;
            Some((table, run, number))
        };
        let mut order: Vec<(u32, u32, u32)> = rows.range.clone().into_par_iter().filter_map(together).collect();
        order.par_sort_unstable();
        rows.order = order.into_iter().map(|(_, _, number)| number).collect();
        rows
    }

    /// The places of a member.
    #[inline]
    fn of(&self, number: u32) -> &[RunPlace] {
        let own = (number - self.range.start) as usize;
        self.parts[own / self.size].get(own % self.size)
    }

    /// Passes the members that a member meets to a function, once each, with the place where they meet first. `marks` has an entry for each number, initially `u32::MAX`; each thread needs its own.
    /// Some of them are listed first, without branches, since which ones were met before is unpredictable, and passed to `fetch`.
    #[inline]
    fn partners(&self, number: u32, marks: &mut [u32], fetch: impl Fn(u32), mut each: impl FnMut(u32, &MeetingPlace)) {
        for place in self.of(number) {
            let table = &self.tables[place.table as usize];
            let (run, start) = (table.run(place.run as usize), table.range(place.run as usize).start);
            let (mut met, mut count) = ([0; MET_AT_ONCE], 0);
            let mut pass = |met: &[u32]| {
                met.iter().for_each(|&position| fetch(run[position as usize]));
                for &position in met {
                    each(run[position as usize], &MeetingPlace { row: *place, other: start as u32 + position });
                }
            };
            self.sided.each_met(run, place.at as usize - start, |position| {
                // No member is its own partner, so its own number can serve as the mark.
                let is_new = std::mem::replace(&mut marks[run[position] as usize], number) != number;
                met[count] = position as u32;
                count += usize::from(is_new);
                if count == MET_AT_ONCE {
                    pass(&met);
                    count = 0;
                }
            });
            pass(&met[..count]);
        }
    }

    /// Prefetches the members after these places.
    fn fetch<'p>(&self, places: impl Iterator<Item = &'p RunPlace>) {
        for place in places {
            let table = &self.tables[place.table as usize];
            fetch(&table.members, place.at as usize + 1);
            table.fetch_range(place.run as usize);
        }
    }

    /// Passes every pair, ascending, to `look`, with the [place](Self::partners) where they meet first, on threads of the pool, each
    /// with what `begin` returns. No more rows are begun once `stops`. `fetch` prefetches what `look` reads of a number.
    ///
    /// Each thread that works has 4 bytes for each number: all of them at most a quarter of this memory, but two can work in any
    /// case.
    fn search<T>(
        &self,
        memory: u64,
        (stops, begin, fetch): (impl Fn() -> bool + Sync, impl Fn() -> T + Sync, impl Fn(u32) + Sync),
        look: impl Fn((u32, u32), &MeetingPlace, &mut T) + Sync,
    ) {
        let next = AtomicUsize::new(0);
        let a_thread = (size_of::<u32>() * self.numbers).max(1) as u64;
        let most = (memory / 4 / a_thread).max(2);
        rayon::broadcast(|thread| {
            if thread.index() as u64 >= most {
                return;
            }
            let (mut marks, mut came) = (vec![u32::MAX; self.numbers], begin());
            while let Some(numbers) = self.order.chunks(ROWS_AT_ONCE).nth(next.fetch_add(1, Ordering::Relaxed)) {
                let rows = |count: usize| numbers.iter().skip(count).take(1).flat_map(|&number| self.of(number));
                (0..ROWS_AHEAD).for_each(|count| self.fetch(rows(count)));
                for (count, &number) in numbers.iter().enumerate().take_while(|_| !stops()) {
                    self.fetch(rows(count + ROWS_AHEAD));
                    self.partners(number, &mut marks, &fetch, |other, place| {
                        look((number.min(other), number.max(other)), place, &mut came);
                    });
                }
            }
        });
    }
}

/// The number of members that are listed at once.
const MET_AT_ONCE: usize = if cfg!(test) { 3 } else { 32 };

/// How many rows ahead the members of runs are prefetched.
const ROWS_AHEAD: usize = 2;

/// The number of rows that a thread takes at once.
const ROWS_AT_ONCE: usize = 64;
