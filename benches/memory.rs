//! Bytes of memory for each document, stage by stage.
//!
//! ```text
//! python3 benches/corpus.py passages 1000000 > passages.jsonl
//! cargo bench --bench memory -- passages.jsonl
//! ```
//!
//! Prints a table in Markdown: of each stage the most resident memory of the process while it lasted, and what was left
//! when it ended, both divided by the number of documents. Linux reports them in `/proc/self/status`, where the peak
//! can be reset to the current use. Each scan is a separate process, on all threads, with the memory budget given by
//! `NEARDUPS_BENCH_MEMORY` in bytes, or the usual one.

use neardups::algorithm::Entry;
use neardups::algorithm::parameter::Settings;
use neardups::engine::{Observer, ScanOptions, Stage, scan};
use neardups::source::{self, Input};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

/// A name, an algorithm and its settings.
type Scan = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const SCANS: [Scan; 3] =
    [("minhash", "minhash", &[]), ("minhash --exact", "minhash", &[("exact", "true")]), ("simhash", "simhash", &[])];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [corpus] if cfg!(target_os = "linux") => {
            println!("| scan | documents | stage | peak, bytes a document | held after it |\n|---|---|---|---|---|");
            for (name, ..) in SCANS {
                let own = env::current_exe().expect("it runs");
                assert!(Command::new(own).args([name, corpus]).status().expect("it runs").success());
            }
        }
        [name, corpus] => scanned(name, corpus),
        _ => println!("memory is not measured: on Linux, cargo bench --bench memory -- FILE does"),
    }
}

/// Bytes, by the name of a line.
fn status(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let kilobytes = status.lines().find_map(|one| one.strip_prefix(line)?.strip_prefix(':')?.strip_suffix(" kB"));
    1024 * kilobytes.expect("Linux has it").trim().parse::<u64>().expect("a number")
}

/// For each stage its name, the peak while it lasted and what was held at its end.
#[derive(Default)]
struct Peaks(Mutex<Vec<(String, u64, u64)>>);

impl Peaks {
    /// Ends the stage before, and begins one.
    fn begin(&self, stage: String) {
        let mut peaks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, peak, held)) = peaks.last_mut() {
            (*peak, *held) = (status("VmHWM"), status("VmRSS"));
        }
        fs::write("/proc/self/clear_refs", "5").expect("one's own peak can be set back");
        peaks.push((stage, 0, 0));
    }
}

impl Observer for Peaks {
    fn stage(&self, stage: Stage) {
        self.begin(format!("{stage:?}"));
    }
}

fn scanned(name: &str, corpus: &str) {
    let (_, algorithm, settings) = SCANS.into_iter().find(|(of, ..)| *of == name).expect("there is such a scan");
    let settings = Settings::from_pairs(settings.iter().copied());
    let factory = Entry::by_name(algorithm).and_then(|entry| entry.factory(settings)).expect("the settings are sound");
    let mut options = ScanOptions::default();
    if let Ok(memory) = env::var("NEARDUPS_BENCH_MEMORY") {
        options.memory = memory.parse().expect("NEARDUPS_BENCH_MEMORY is a number of bytes");
    }
    let mut input = Input::new(vec![corpus.into()], source::ReadOptions::default());
    let peaks = Peaks::default();
    let outcome = scan(&mut input, None, &factory, &options, &peaks).expect("the corpus can be scanned");
    peaks.begin("Writing pairs".into());
    let written = outcome.pairs().filter(Result::is_ok).count();
    assert_eq!(Some(written as u64), outcome.report.counts.pairs);
    peaks.begin(String::new());
    let documents = outcome.report.counts.documents.max(1);
    let peaks = peaks.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (stage, peak, held) in &peaks[..peaks.len() - 1] {
        println!("| {name} | {documents} | {stage} | {} | {} |", peak / documents, held / documents);
    }
}
