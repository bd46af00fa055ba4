//! How an index is opened.

use super::nearest::Wanted;
use std::path::PathBuf;

/// When a document that passed is written to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sync {
    /// Before the next decision.
    Always,
    /// Before its record leaves; several documents are written together.
    Batch,
    /// Whenever the operating system writes it. A crash of the program loses nothing; a power failure may.
    Off,
}

/// Limits of what is remembered, and of what is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Only this many latest documents are remembered. Removed ones do not count.
    pub window: Option<u64>,
    /// Documents are forgotten this many seconds after they passed.
    pub expire: Option<u64>,
    /// The maximum number of documents that are remembered.
    pub max_documents: Option<u64>,
    /// The maximum memory of the index, in bytes. In a file, it is full when what cannot leave the memory takes seven eighths
    /// of that, which depends on the documents alone.
    pub memory: Option<u64>,
    /// The maximum number of documents under a key that are compared: the latest ones. The default is
    /// [`MOST_OF_A_KEY`](super::MOST_OF_A_KEY). A decision says so if there were more ([`Decision::Crowded`](super::Decision::Crowded), [`Decision::Duplicate`](super::Decision::Duplicate)).
    pub candidates: Option<usize>,
}

/// How documents are processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// They are decided on, and those that pass are remembered.
    #[default]
    Filter,
    /// They are decided on, and none is remembered. Another process may write to the file at the same time.
    Query,
    /// The most similar documents are looked up, and none is remembered. Another process may write to the file at the
    /// same time.
    Nearest(Wanted),
    /// All are remembered without a decision, except those that are in the index already.
    Add,
}

impl Mode {
    /// Whether the file is only read.
    pub fn only_reads(self) -> bool {
        matches!(self, Mode::Query | Mode::Nearest(_))
    }
}

/// Options for opening an index in a file.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// Limits of what is remembered.
    pub limits: Limits,
    /// When a document that passed is written to the disk.
    pub sync: Sync,
    /// How documents are processed.
    pub mode: Mode,
    /// Tables leave the memory before they take more than this, in bytes. To find them on the disk takes 8 bytes per
    /// document and 12 bits per key.
    pub tables: u64,
    /// The folder for tables in temporary files. By default they are kept as a checkpoint in the folder `NAME.tables` beside
    /// the index, so that it opens fast; with this folder no checkpoint is made. A mode that only reads keeps none either,
    /// and uses the system's folder for temporary files.
    pub temp_dir: Option<PathBuf>,
    /// Whether documents can be [replaced](super::Index::replace): they are then found by their ids too, which takes a posting more
    /// for each. The first time, the tables are made again from the whole log. With an age at which documents expire, decisions are then not
    /// repeated after an interruption, but made anew.
    pub replaces: bool,
    /// Whether an index is created where there is no file or an empty one, and no checkpoint of an index either. Modes that only read
    /// never create one.
    pub creates: bool,
}

impl IndexOptions {
    /// The defaults for these limits: with a bound on memory, tables take half of it at most.
    pub fn within(limits: Limits) -> Self {
        let options = IndexOptions { limits, ..IndexOptions::default() };
        IndexOptions { tables: limits.memory.map_or(options.tables, |memory| memory / 2), ..options }
    }
}

impl Default for IndexOptions {
    /// No limits; documents are on the disk before their records leave; 512 MiB of tables in memory.
    fn default() -> Self {
        IndexOptions {
            limits: Limits::default(),
            sync: Sync::Batch,
            mode: Mode::Filter,
            tables: 512 << 20,
            temp_dir: None,
            replaces: false,
            creates: true,
        }
    }
}
