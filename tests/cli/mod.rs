//! The command line from outside: what is typed, what is printed, how it ends.
//!
//! | file | one idea |
//! |---|---|
//! | `shell` | a folder of its own to run commands in |
//! | `golden`, `cases/` | text files with commands and what they print |
//! | `records` | a strict picture of every JSON line |
//! | `agreement` | pairs, clusters and verdicts tell one story, the one in `truth.jsonl` |
//! | `same_bytes` | the same output for any number of threads, any memory, any way in |
//! | `check_reports` | reports of copies, by the rules of those who read them |
//! | `bounds` | memory stays small whatever comes in |
//! | `endings` | closed pipes, files that may not be read |
//! | `outputs` | what may be written, and what a file that is replaced keeps |
//! | `crawl` | the scripts of `examples/crawl/` |
//! | `compare` | passages stand where it says |
//! | `eval` | measures against a plain count |
//! | `plan`, `stats` | the JSON objects that are not results |
//! | `index_files` | what an index may hold, what replaces it, who writes to it |
//! | `killed` | nothing is lost and nothing comes twice, however often it is killed |
//! | `terminal` | what comes from data does not control a terminal |
//! | `generated` | completions and manual pages |
//!
//! Cases are lines of shell, so this is for systems that have one.
#![cfg(unix)]

mod agreement;
mod bounds;
mod check_reports;
mod compare;
mod crawl;
mod endings;
mod eval;
mod generated;
pub mod golden;
mod index_files;
mod killed;
mod outputs;
mod plan;
pub mod records;
mod same_bytes;
pub mod shell;
mod stats;
mod terminal;

macro_rules! cases {
    ($($(#[$attribute:meta])* $name:ident),* $(,)?) => {
        $(
            $(#[$attribute])*
            #[test]
            fn $name() {
                golden::check(concat!(stringify!($name), ".txt"));
            }
        )*

        #[test]
        fn every_case_is_run() {
            let files = std::fs::read_dir(golden::folder()).expect("the cases are there");
            let mut files: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
            files.sort();
            let mut run = vec![$(concat!(stringify!($name), ".txt")),*];
            run.sort();
            assert_eq!(files, run);
        }
    };
}

cases!(
    against,
    check,
    check_baseline,
    check_config,
    check_docstrings,
    check_files,
    check_report,
    check_since,
    check_words,
    common,
    compare,
    eval,
    filter,
    formats,
    #[cfg_attr(not(target_os = "linux"), ignore = "needs /dev/full")]
    full_disk,
    hashes,
    help,
    help_topics,
    #[cfg_attr(not(feature = "main-content"), ignore = "needs the feature main-content")]
    html,
    imatch,
    #[cfg_attr(not(feature = "jieba"), ignore = "needs the feature jieba")]
    jieba,
    lexicon,
    limits,
    #[cfg_attr(feature = "jieba", ignore = "is about what the feature jieba mends")]
    no_jieba,
    output,
    paths,
    plan_table,
    preparation,
    presets,
    projection,
    records_and_ids,
    scan_chinese,
    scan_code,
    scan_encodings,
    scan_english,
    scan_jsonl,
    scan_markdown,
    simhash,
    spotsigs,
    stdin,
    supershingles,
    tokens,
    trouble,
    usage,
    warc,
);
