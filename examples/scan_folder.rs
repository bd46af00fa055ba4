//! Scanning a folder through the library: which documents are near-duplicates, and which to keep.
//!
//! ```text
//! cargo run --release --example scan_folder -- fixtures/english/docs
//! ```

use neardups::engine::Observer;
use neardups::source::{self, Input, Problem};
use neardups::{Error, KeepPolicy, MinHash, Scan};

/// Hears of files that could not be read. The library itself prints nothing.
struct Complaints;

impl Observer for Complaints {
    fn problem(&self, problem: &Problem) {
        eprintln!("{problem}");
    }
}

fn report(folder: &str) -> Result<String, Error> {
    // Where documents come from: any number of files and folders; compressed files, JSON lines and CSV are understood.
    let mut input = Input::new(vec![folder.into()], source::ReadOptions::default());

    // How near-duplicates are found: an algorithm, with the parameters that the command line has.
    let minhash = MinHash::builder().threshold(0.8).recall(0.999).build()?;

    // One call reads, fingerprints, groups and verifies, on all cores. Where only what is kept matters, and not each pair,
    // `deduplicate` does less.
    let outcome = Scan::new(minhash).observer(&Complaints).run(&mut input)?;

    let mut lines = format!("{} documents\n", outcome.report.counts.documents);
    for pair in outcome.pairs() {
        let pair = pair?;
        lines += &format!("{:.3}  {}  {}\n", pair.similarity.value(), pair.a, pair.b);
    }
    // Of each group of near-duplicates the longest stays; every other one has a kept document that is similar enough.
    for verdict in outcome.keep(KeepPolicy::Longest)?.verdicts() {
        if let Some((kept, _)) = verdict.duplicate_of {
            lines += &format!("drop   {}  for {kept}\n", verdict.id);
        }
    }
    Ok(lines)
}

fn main() -> Result<(), Error> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "fixtures/english/docs".into());
    print!("{}", report(&folder)?);
    Ok(())
}

#[test]
fn finds_the_two_editions_of_a_speech() {
    let lines = report("fixtures/english/docs").unwrap();
    assert!(lines.contains("1.000  fixtures/english/docs/gettysburg-inscription.txt"), "{lines}");
    assert!(lines.contains("drop   "), "{lines}");
}
