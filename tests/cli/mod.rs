//! The command line from outside: arguments, output, exit status.
//!
//! | file | one idea |
//! |---|---|
//! | `shell` | a folder of its own to run commands in |
//! | `golden`, `cases/` | text files with commands and what they print |
//! | `records` | a strict picture of every JSON line |
//! | `schema` | the JSON Schema of the records, against every record of cases and texts |
//! | `agreement` | pairs, clusters and verdicts agree with each other and with `truth.jsonl` |
//! | `same_bytes` | the same output for any number of threads, any memory, any way in |
//! | `check_allow` | what a configuration accepts, leaves out and asks for |
//! | `check_earlier` | which findings are new |
//! | `check_new` | which places of a copy are new, what is annotated then, and what a baseline accepts |
//! | `check_reports` | reports of copies follow the rules of their consumers |
//! | `check_versions` | copies within one version of a site are reported in that version |
//! | `bad_records` | `--max-bad`: the status of every command that reads records, and nothing else |
//! | `lacking` | how many records lack which text field |
//! | `bounds` | memory stays small whatever comes in |
//! | `endings` | closed pipes, files that may not be read |
//! | `outputs` | which files may be written, and which properties a replaced file keeps |
//! | `clean` | every record is in the output or listed, also after kills |
//! | `clean_parquet` | `clean` of Parquet files that are damaged in any column; what copies keep |
//! | `clean_index` | `clean --index` decides as `filter` does, and remembers once, also after kills |
//! | `moved` | files that move are identical after `--undo`, also after kills and changes |
//! | `review` | the page of `--report` shows what the records say, and nothing from documents controls it |
//! | `crawl` | the scripts of `examples/crawl/` |
//! | `server` | a stream with an answer for each line |
//! | `compare` | positions of passages |
//! | `contain` | documents in others: passages, changes, threads, memory |
//! | `passages` | passages that repeat: places, threads, memory |
//! | `cut` | `passages --output`: what is cut stands elsewhere, and nothing else changes, also after kills |
//! | `cut_parquet` | the same of Parquet files: as JSON lines are cut |
//! | `whole` | `passages --unit document`: the documents of passages are left out, and no others |
//! | `eval` | measures against a plain count |
//! | `plan`, `stats` | the JSON objects that are not results |
//! | `index_files` | damaged indexes, replacement, concurrent writers |
//! | `killed` | no document is lost or repeated when runs are killed |
//! | `terminal` | control characters in data do not reach a terminal |
//! | `generated` | completions and manual pages |
//!
//! Cases are lines of shell, so these tests need a Unix system.
#![cfg(unix)]

mod agreement;
mod bad_records;
mod bounds;
mod check_allow;
mod check_earlier;
mod check_new;
mod check_reports;
mod check_versions;
mod clean;
mod clean_index;
mod clean_parquet;
mod compare;
mod contain;
mod crawl;
mod cut;
mod cut_parquet;
mod endings;
mod eval;
mod generated;
pub mod golden;
mod index_files;
mod killed;
mod lacking;
mod moved;
mod outputs;
mod passages;
mod plan;
pub mod records;
mod review;
mod same_bytes;
mod schema;
mod server;
pub mod shell;
mod signals;
mod stats;
mod terminal;
mod whole;

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

/// The cases of the folder of this name.
mod cases {
    use super::golden;

    cases!(
        against,
        aliases,
        check,
        check_baseline,
        check_config,
        check_docstrings,
        check_files,
        check_report,
        check_since,
        check_staged,
        check_staged_settings,
        check_words,
        choice,
        clean,
        clean_always,
        clean_decisions,
        clean_index,
        clean_mistakes,
        common,
        compare,
        contain,
        encodings,
        encodings_named,
        eval,
        fields,
        filter,
        fingerprints,
        formats,
        #[cfg_attr(not(target_os = "linux"), ignore = "needs /dev/full")]
        full_disk,
        hashes,
        help,
        help_streams,
        help_topics,
        hosts,
        #[cfg_attr(not(feature = "main-content"), ignore = "needs the feature main-content")]
        html,
        imatch,
        #[cfg_attr(not(feature = "jieba"), ignore = "needs the feature jieba")]
        jieba,
        json_arrays,
        keep,
        kept,
        lexicon,
        limits,
        moved,
        nearest,
        #[cfg_attr(feature = "jieba", ignore = "tests the message of a build without the feature jieba")]
        no_jieba,
        output,
        parquet,
        passages,
        paths,
        plan_data,
        plan_table,
        preparation,
        pre,
        presets,
        projection,
        records_and_ids,
        review,
        scan_chinese,
        scan_code,
        scan_encodings,
        scan_english,
        scan_jsonl,
        scan_markdown,
        simhash,
        spelling,
        spotsigs,
        stdin,
        stream_operations,
        supershingles,
        tokens,
        trouble,
        usage,
        warc,
        whole,
        worked_examples,
    );
}
