//! `dedup plan --json`: the same content as `dedup plan`, for programs.

use super::records::{self, Cost, Plan};
use super::shell::Shell;
use neardups::algorithm::presets::PRESETS;

fn plan(options: &str) -> Plan {
    let shell = Shell::new();
    let printed = shell.dedup(&format!("plan --json {options}")).done();
    let mut plans = records::plans(&printed);
    assert_eq!(plans.len(), 1);
    // The table has the same rows.
    let table = shell.dedup(&format!("plan {options}")).done();
    let plan = plans.remove(0);
    for (name, value) in plan.parameters() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        assert!(
            table.lines().any(|line| line.split_whitespace().take(2).eq([&*name, &*value])),
            "{name} {value}: {table}"
        );
    }
    for cost in plan.costs() {
        assert!(table.lines().any(|line| cost_line(line, &cost)), "{cost:?}: {table}");
    }
    assert!(plan.notes.iter().all(|note| table.contains(note)), "{table}");
    plan
}

/// Whether a line of the table is about this cost: what it is, how much, and the unit unless it is plain bytes.
fn cost_line(line: &str, cost: &Cost) -> bool {
    // Times are in the unit that suits them.
    let unit = if cost.unit == "bytes" { "B" } else { cost.unit.trim_start_matches("seconds") };
    line.strip_prefix(&format!("  {}: ", cost.what)).is_some_and(|value| value.ends_with(unit))
}

#[test]
fn minhash_as_a_record() {
    let default = plan("");
    assert_eq!((&*default.algo, default.documents, default.tokens), ("minhash", 1_000_000, 300));
    assert_eq!(default.curve_of, "jaccard");
    assert_eq!(default.parameters()["bands"], 16);
    for options in [
        "--threshold 0.5 --recall 0.95",
        "--bands 9 --rows 13",
        "--shingle 3",
        "--tokens 5 --documents 7",
        "--threshold 0.5 --tokens 20 --shingle 5",
    ] {
        assert_eq!(plan(options).algo, "minhash", "{options}");
    }
}

/// Writes so many documents of pseudo-random words, and remembers them in `seen.idx`.
fn remember(shell: &Shell, words: usize, documents: u32, options: &str) {
    let mut state = 1u64;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("w{}", (state >> 33) % 50_000)
    };
    let mut document = |number: u32| {
        let text = (0..words).map(|_| word()).collect::<Vec<_>>().join(" ");
        format!("{{\"id\":\"document-{number:011}\",\"text\":\"{text}\"}}\n")
    };
    shell.write("all.jsonl", (0..documents).map(&mut document).collect::<String>());
    let passed = shell.sh(&format!("dedup filter -q --index seen.idx {options} < all.jsonl | wc -l")).done();
    assert_eq!(passed.trim(), documents.to_string());
}

/// The size of an index of documents that all pass, against that of its file.
#[test]
fn an_index_of_features_is_as_large_as_planned() {
    for (words, documents) in [(217, 300), (60, 600)] {
        let shell = Shell::new();
        remember(&shell, words, documents, "");
        let size = std::fs::metadata(shell.folder().join("seen.idx")).unwrap().len() as f64 / f64::from(documents);
        // An index has the shingles of long documents.
        let plan = plan(&format!("--tokens {words} --documents {documents} --shingle 5"));
        let costs = plan.costs();
        let planned = |what: &str| costs.iter().find(|cost| cost.what.starts_with(what)).expect("it is planned").value;
        let [one, all] = [planned("index, for ids"), planned("index of all documents")];
        assert!((one - size).abs() < 0.03 * size, "{words}: {one} planned, {size} found");
        assert_eq!(all, one * f64::from(documents));
    }
}

/// The size of the folder beside an index follows from the number of keys.
#[test]
fn the_tables_of_an_index_are_as_large_as_planned() {
    for options in ["--threshold 0.8", "--threshold 0.95", "--bands 100 --rows 2"] {
        let (shell, documents) = (Shell::new(), 16_500);
        let options = format!("--shingle 5 {options}");
        remember(&shell, 20, documents, &options);
        let files = std::fs::read_dir(shell.folder().join("seen.idx.tables")).unwrap();
        let size = files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>() as f64;
        let plan = plan(&format!("--tokens 20 --documents {documents} {options}"));
        let costs = plan.costs();
        let planned = |what: &str| costs.iter().find(|cost| cost.what == what).expect("it is planned").value;
        let [one, all] = [planned("tables in the folder beside it"), planned("tables of all documents")];
        assert!((all - size).abs() < 0.03 * size, "{options}: {all} planned, {size} found");
        assert_eq!(all, one * f64::from(documents));
    }
}

/// The memory that is planned for an index suffices for its documents, and less does not.
#[test]
fn the_memory_of_an_index_is_as_planned() {
    for (words, documents, options) in
        [(8, 30_000, ""), (8, 20_000, "--threshold 0.95"), (12, 40_000, "--bands 4 --rows 12")]
    {
        let (shell, options) = (Shell::new(), format!("--shingle 5 {options}"));
        let plan = plan(&format!("--tokens {words} --documents {documents} {options}"));
        let costs = plan.costs();
        let least = costs.iter().find(|cost| cost.what.starts_with("least --memory")).expect("it is planned").value;
        remember(&shell, words, documents, &format!("{options} --memory {least}"));
        // It is rounded up to a tenth of a MiB at most.
        let less = (0.99 * least - 0.1 * f64::from(1 << 20)) as u64;
        let full =
            shell.sh(&format!("dedup filter -q --index less.idx {options} --memory {less} < all.jsonl > less.jsonl"));
        assert!(full.status == 2 && full.stderr.contains("memory: remembering"), "{options}: {}", full.stderr);
    }
}

#[test]
fn simhash_as_a_record() {
    let default = plan("--algo simhash");
    assert_eq!((&*default.algo, &*default.curve_of), ("simhash", "cosine"));
    assert_eq!(default.parameters()["distance"], 3);
    for options in ["--distance 6 --documents 1000", "--cosine 0.95 --recall 0.9 --bits 128", "--grams 2+3 --tokens 20"]
    {
        assert_eq!(plan(&format!("--algo simhash {options}")).algo, "simhash", "{options}");
    }
}

/// An index with short keys compares all fingerprints, and has few tables.
#[test]
fn an_index_for_a_large_distance_has_few_tables() {
    for documents in ["300k", "1300k"] {
        let planned = plan(&format!("--algo simhash --distance 10 --documents {documents}"));
        let search = planned.search.as_ref().expect("simhash has tables");
        let of_index = search.iter().find(|search| search.of_index).unwrap();
        assert_eq!((of_index.tables, of_index.compares_all), (11.0, Some(true)));
        assert!(of_index.query_seconds < 1e-3 && of_index.building_seconds < Some(4.0));
    }
}

/// The numbers of Manku, Jain & Das Sarma 2007 for 2^34 fingerprints of 64 bits.
#[test]
fn the_designs_of_the_search() {
    let planned = plan("--algo simhash --documents 17179869184");
    let search = planned.search.as_ref().expect("simhash has tables");
    let of = |tables: f64| search.iter().find(|search| search.design == "tables" && search.tables == tables).unwrap();
    let numbers = [4.0, 10.0, 16.0, 20.0].map(|tables| {
        let search = of(tables);
        (search.blocks.as_deref().unwrap(), search.key_bits.unwrap(), search.candidates_of_a_probe)
    });
    let expected = [("4", [16, 16], 262_144.0), ("5", [25, 26], 512.0), ("4x4", [28, 28], 64.0), ("6", [31, 33], 8.0)];
    assert_eq!(numbers, expected);
    assert!(of(20.0).chosen && of(20.0).bytes == 20.0 * 8.0 * 17_179_869_184.0 && of(20.0).candidates == 88.0);
    assert_eq!((of(20.0).false_candidates, of(20.0).bytes_of_filters), (Some(1600.0), Some(30.0 * 17_179_869_184.0)));
    assert_eq!(of(20.0).compares_all, Some(false));
    assert!(of(20.0).building_seconds > of(4.0).building_seconds);
    let other = |design: &str| search.iter().find(|search| search.design == design).unwrap();
    assert_eq!(other("each-with-each").false_candidates, None);
    assert_eq!((other("changes-looked-up").probes, other("changes-stored").tables), (43_745.0, 43_745.0));
    assert_eq!(other("each-with-each").candidates, 17_179_869_184.0);
    for same in ["17,179,869,184", "17_179_869_184", "2^34"] {
        assert_eq!(plan(&format!("--algo simhash --documents {same}")).documents, 17_179_869_184);
    }
    assert_eq!(plan("--algo simhash --documents 8000000000").documents, 8_000_000_000);
    assert!(plan("--algo projection").search.is_some() && plan("--algo projection --cosine 0.9").search.is_none());
}

#[test]
fn every_pair_of_a_million_documents_takes_days() {
    let costs = plan("--documents 1000000").costs();
    let of = |what: &str| costs.iter().find(|cost| cost.what == what).map(|cost| (cost.value, &*cost.unit)).unwrap();
    assert_eq!(of("pairs of documents"), (499_999_500_000.0, "pairs"));
    assert_eq!(of("comparing each of them"), (500_000.0, "seconds at 1 µs each"));
    assert_eq!(of("text of a document").0, 1800.0);
}

#[test]
fn imatch_as_a_record() {
    let default = plan("--algo imatch");
    assert_eq!((&*default.algo, &*default.curve_of), ("imatch", "differing"));
    assert_eq!((&default.parameters()["least_df"], &default.parameters()["most_df"]), (&16.into(), &63_095.into()));
    for options in ["--documents 22", "--lexicons 0 --idf-low 0.8 --tokens 7", "--idf-high 0.9 --drop-fraction 0.5"] {
        assert_eq!(plan(&format!("--algo i-match {options}")).algo, "imatch", "{options}");
    }
}

#[test]
fn projection_as_a_record() {
    let default = plan("--algo random-projection");
    assert_eq!((&*default.algo, &*default.curve_of), ("projection", "cosine"));
    assert_eq!((&default.parameters()["bits"], &default.parameters()["agree"]), (&384.into(), &372.into()));
    for options in ["--agree 350 --documents 1000", "--projection-bits 64", "--cosine 0.95 --recall 0.9", "--cosine 1"]
    {
        assert_eq!(plan(&format!("--algo projection {options}")).algo, "projection", "{options}");
    }
}

#[test]
fn supershingles_as_a_record() {
    let six = plan("--supershingles 6x14");
    assert_eq!((&*six.algo, &*six.curve_of), ("minhash", "jaccard"));
    assert_eq!((&six.parameters()["tables"], &six.parameters()["hashes"]), (&15.into(), &84.into()));
}

#[test]
fn spotsigs_as_a_record() {
    let default = plan("--algo spotsigs");
    assert_eq!((&*default.algo, &*default.curve_of), ("spotsigs", "jaccard"));
    assert_eq!((&default.parameters()["threshold"], &default.parameters()["min_spots"]), (&0.5.into(), &4.into()));
    assert_eq!(plan("--algo spotsigs --threshold 1 --spot-chain 3").parameters()["spot_chain"], 3);
}

/// With the parameters in backticks as options.
fn spelled(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("--{part}") } else { part.into() }).collect()
}

#[test]
fn presets_as_records() {
    assert!(plan("").preset.is_none());
    for preset in PRESETS {
        let planned = plan(&format!("--preset {}", preset.name));
        assert_eq!(planned.algo, preset.algorithm);
        let about = planned.preset.expect("it was asked for");
        assert_eq!((&*about.name, &*about.source), (preset.name, preset.source));
        assert_eq!(
            (&*about.summary, about.differs.len(), &*about.advice),
            (preset.summary, preset.differs.len(), &*spelled(preset.advice))
        );
    }
}

#[test]
fn what_is_planned_is_what_is_run() {
    let shell = Shell::new();
    for options in [
        "",
        "--threshold 0.7 --recall 0.9",
        "--bands 20 --sketch classic",
        "--supershingles 4x10 --min-supershingles 1",
        "--algo simhash --distance 5 --grams 1",
        "--algo imatch --lexicons 3",
        "--algo projection --projection-bits 128",
        "--algo projection --cosine 0.97",
        "--algo spotsigs --threshold 0.44 --antecedents zh",
        "--sketch datasketch --hash sha1",
        "--exact --hash md5",
        "--supershingles 6x14 --sketch datasketch",
        "--algo simhash --hash md5",
        "--preset zyda2",
    ] {
        let planned = plan(options).parameters();
        shell.dedup(&format!("scan fixtures/english/docs -q --stats stats.json {options}")).done();
        let stats = std::fs::read_to_string(shell.folder().join("stats.json")).unwrap();
        let stats = records::stats(&stats).remove(0);
        for (name, value) in stats.parameters() {
            // These go by the number of documents, and here there are few.
            let by_documents = ["tables", "blocks", "least_df", "most_df"].contains(&&*name);
            if let Some(planned) = planned.get(&name).filter(|_| !by_documents) {
                assert_eq!(&value, planned, "{options} {name}");
            }
        }
    }
}

/// Of documents that are read, their mean counts and not the median: an index of them is as large as planned, and both parts of the plan
/// state the same sizes.
#[test]
fn a_plan_of_documents_goes_by_their_mean_length() {
    let shell = Shell::new();
    let text = |number: usize| {
        let words = if number.is_multiple_of(10) { 3_000 } else { 120 };
        (0..words).map(|word| format!("w{number}x{word} ")).collect::<String>()
    };
    let line = |number| format!("{{\"id\":\"document-{number:011}\",\"text\":\"{}\"}}\n", text(number));
    shell.write("all.jsonl", (0..300).map(line).collect::<String>());
    let plan = records::plans(&shell.dedup("plan --json -q all.jsonl --shingle 5 --memory 1M").done()).remove(0);
    shell.sh("dedup filter -q --index seen.idx --shingle 5 < all.jsonl > passed.jsonl").done();
    let size = std::fs::metadata(shell.folder().join("seen.idx")).unwrap().len() as f64;
    let costs = plan.costs();
    let planned = |what: &str| costs.iter().find(|cost| cost.what.starts_with(what)).expect("it is planned").value;
    let all = planned("index of all documents");
    // The longer of the documents have larger numbers of features, whose differences take fewer bits.
    assert!((all - size).abs() < 0.1 * size, "{all} planned, {size} found");
    // What a scan takes is that of as many documents of the mean length, 408 tokens, but for the 4 shingles fewer; and stated once.
    let expected = &plan.data.as_ref().unwrap().expected;
    let of_mean = shell.dedup("plan --json -q --tokens 408 --documents 300 --shingle 5 --memory 1M").done();
    let of_mean = records::plans(&of_mean).remove(0).costs();
    for (what, value) in [
        ("memory of a scan, at most", expected.memory_bytes),
        ("temporary files of a scan, if all are", expected.most_temporary_bytes),
    ] {
        let mean = of_mean.iter().find(|cost| cost.what == what).expect("it is planned").value;
        assert!(value > 0.0 && (mean - value).abs() < 0.02 * value, "{what}: {mean}, {expected:?}");
        assert!(costs.iter().all(|cost| cost.what != what), "{what}");
    }
    assert!(plan.notes.iter().all(|note| !note.contains("plan with a sample")), "{:?}", plan.notes);
}

/// With all documents in the sample, the numbers are those of scans that find every pair.
#[test]
fn a_plan_of_documents_counts_what_scans_find() {
    let shell = Shell::new();
    let common = "fixtures/english/docs --tokenizer word --shingle 5";
    let plan = records::plans(&shell.dedup(&format!("plan --json -q {common}")).done()).remove(0);
    let data = plan.data.unwrap();
    assert_eq!((plan.documents, u64::from(plan.tokens)), (data.documents, data.median_words));
    assert_eq!(data.sampled, data.distinct);
    let scan = shell.dedup(&format!("scan {common} -q --exact --threshold 0.3")).done();
    let similarities: Vec<f64> =
        records::pairs(&scan).iter().map(|pair| pair.similarity().parse::<f64>().unwrap()).collect();
    assert!(similarities.len() > 5);
    for range in &data.ranges {
        let is_in = |similarity: &&f64| (**similarity * 10.0 + 1e-9).floor() / 10.0 == range.from;
        let copies = if range.from == 1.0 { data.copy_pairs } else { 0 };
        assert_eq!(range.pairs as u64 + copies, similarities.iter().filter(is_in).count() as u64, "{range:?}");
        assert_eq!([range.low, range.high], [range.pairs; 2]);
        assert_eq!(range.examples.len() as f64, range.pairs.min(3.0));
        assert!(range.examples.iter().all(|example| example.differ.is_some() && example.similarity >= range.from));
    }
    for removal in &data.removals {
        let scan = shell.dedup(&format!("scan {common} -q --exact --threshold {}", removal.threshold)).done();
        let later: std::collections::BTreeSet<String> = records::pairs(&scan).into_iter().map(|pair| pair.b).collect();
        assert_eq!(removal.documents as usize, later.len(), "{removal:?}");
    }
    let threads = |options: &str| shell.dedup(&format!("plan --json -q {common} {options}")).done();
    let without_time = |plan: String| plan.split("\"measure\"").last().unwrap().to_string();
    assert_eq!(without_time(threads("--sample 5 -j 1")), without_time(threads("--sample 5 -j 3 --memory 1K")));
}
