//! What is wrong with a file.

use std::borrow::Cow;

use crate::source::ProblemKind;

/// What is damaged in a file: the end of a sentence.
pub(super) type Damage = Cow<'static, str>;

/// Why a file, or a part of it, is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) struct Fault {
    pub kind: ProblemKind,
    pub message: String,
}

impl From<Damage> for Fault {
    fn from(damage: Damage) -> Self {
        Fault { kind: ProblemKind::Damaged, message: format!("damaged Parquet file: {damage}") }
    }
}
