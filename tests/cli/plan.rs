//! `dedup plan --json`: for programs, what `dedup plan` says to people.

use super::records::{self, Cost, Plan};
use super::shell::Shell;

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
    let unit = if cost.unit == "bytes" { "B" } else { &cost.unit };
    line.strip_prefix(&format!("  {}: ", cost.what)).is_some_and(|value| value.ends_with(unit))
}

#[test]
fn minhash_as_a_record() {
    let default = plan("");
    assert_eq!((&*default.algo, default.documents, default.tokens), ("minhash", 1_000_000, 300));
    assert_eq!(default.curve_of, "jaccard");
    assert_eq!(default.parameters()["bands"], 26);
    for options in ["--threshold 0.5 --recall 0.95", "--bands 9 --rows 13", "--shingle 3", "--tokens 5 --documents 7"] {
        assert_eq!(plan(options).algo, "minhash", "{options}");
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

#[test]
fn what_is_planned_is_what_is_run() {
    let shell = Shell::new();
    for options in
        ["", "--threshold 0.7 --recall 0.9", "--bands 20 --sketch classic", "--algo simhash --distance 5 --grams 1"]
    {
        let planned = plan(options).parameters();
        shell.dedup(&format!("scan fixtures/english/docs -q --stats stats.json {options}")).done();
        let stats = std::fs::read_to_string(shell.folder().join("stats.json")).unwrap();
        let stats = records::stats(&stats).remove(0);
        for (name, value) in stats.parameters() {
            // The number of tables goes by the number of documents, and here there are few.
            if let Some(planned) = planned.get(&name).filter(|_| name != "tables" && name != "blocks") {
                assert_eq!(&value, planned, "{options} {name}");
            }
        }
    }
}
