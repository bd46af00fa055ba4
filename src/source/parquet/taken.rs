//! Which elements of lists a path chooses, by columns and levels.

/// Which elements of a list are chosen.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// The repetition level of an element.
    pub level: u32,
    pub taken: Taken,
}

/// Elements of a list.
#[derive(Clone, Debug)]
pub(super) enum Taken {
    /// That with this number, from 0.
    At(u64),
    /// That with this number, where 1 is the last.
    FromEnd(u64),
    /// Those that have this value in the column of texts with this number.
    Where { column: usize, value: String },
}
