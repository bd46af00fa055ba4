//! The JSON Schema of the records describes what the program prints: every record of the cases and of the guide, and further ones,
//! is valid; a field that the schema lacks, or a record without a field that all have, is not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;

use jsonschema::Validator;
use neardups::guide::{CHAPTERS, RECORDS_SCHEMA};
use serde_json::{Value, json};

use super::golden;
use super::shell::{Shell, root};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(RECORDS_SCHEMA).expect("the schema is JSON"));

/// The schema as it is, for any record.
static OPEN: LazyLock<Validator> = LazyLock::new(|| validator(&SCHEMA));

/// The same without fields that it does not know.
static STRICT: LazyLock<Validator> = LazyLock::new(|| {
    let mut schema = SCHEMA.clone();
    close(&mut schema["$defs"]);
    validator(&schema)
});

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).expect("the schema is valid")
}

/// Forbids unknown fields in every object with named fields.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.get("properties").is_some_and(Value::is_object) {
                fields.insert("unevaluatedProperties".into(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// A record, and where it is from.
struct Record {
    from: String,
    value: Value,
}

impl Record {
    fn kind(&self) -> &str {
        self.value["type"].as_str().expect("a record has a type")
    }

    /// Its type; of statistics, with a field that only one command has.
    fn group(&self) -> String {
        let marks = [
            "timings",
            "bytes_held",
            "seconds_deciding",
            "files_continued",
            "min_words",
            "shingle",
            "refused",
            "truth_is",
        ];
        let mark = marks.into_iter().find(|mark| self.value.get(mark).is_some());
        [Some(self.kind()), mark].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// The start of a record.
const START: &str = "{\"type\":\"";

/// A line of an expected output with something in place of what it leaves open.
fn filled(line: &str) -> String {
    line.replace(":[..]", ":1").replace("[..]", "any")
}

/// The record of a line, if it is one.
fn record(from: &str, line: &str) -> Option<Record> {
    let value: Value = serde_json::from_str(line).ok().filter(|_| line.starts_with('{'))?;
    value.get("type").is_some_and(Value::is_string).then(|| Record { from: format!("{from}: {line}"), value })
}

/// Whether a line is the beginning of one, by a command that prints such.
fn is_cut(command: &str, line: &str) -> bool {
    let ends_early = || serde_json::from_str::<Value>(line).is_err_and(|error| error.is_eof());
    (command.contains("cut -c") || command.contains("cut -d")) && ends_early()
}

/// The records of the cases. Only lines that a command cuts off are none, and the help of `--decisions`.
fn records_of_cases() -> Vec<Record> {
    let mut records = Vec::new();
    for file in fs::read_dir(golden::folder()).expect("the cases are there") {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for (command, output) in golden::outputs(&text) {
            for line in output {
                let found = record(&path.display().to_string(), &filled(&line));
                let is_no_record = !line.contains(START) || is_cut(&command, &line) || command.contains("--help");
                assert!(found.is_some() || is_no_record, "{}: {line}", path.display());
                records.extend(found);
            }
        }
    }
    records
}

/// The records of README.md and the guide.
fn records_of_texts() -> Vec<Record> {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let texts = CHAPTERS.iter().map(|chapter| (chapter.name, chapter.text)).chain([("README.md", &*readme)]);
    let mut records = Vec::new();
    for (name, text) in texts {
        let mut command = "";
        for line in text.lines() {
            command = line.strip_prefix("$ ").unwrap_or(command);
            let found = record(name, &filled(line));
            let is_no_record = !line.starts_with(START) || is_cut(command, line);
            assert!(found.is_some() || is_no_record, "{name}: {line}");
            records.extend(found);
        }
    }
    records
}

/// Commands that print what the cases do not show: statistics, summaries, further fields. Each comes after its status.
const COMMANDS: &str = r##"
3 dedup scan in.jsonl link.jsonl twice.jsonl fixtures/warc files --against twice.jsonl --exclude '*.txt' --preset gopher \
    --emit clusters --stats scan.json > /dev/null
0 dedup scan fixtures/jsonl/docs --fold marks --emit verdicts --stats marks.json > /dev/null
0 dedup scan fixtures/jsonl/docs --emit clusters --stats clusters.json > /dev/null
3 dedup scan in.jsonl --measure containment --stats containment.json > /dev/null
2 dedup scan in.jsonl --distance 3 --stats failed.json
3 dedup filter --mark --stats filter.json < in.jsonl > /dev/null
3 dedup scan in.jsonl --against twice.jsonl --text-field text,title --against-text-field text,body --stats lacking.json > /dev/null
3 dedup filter --text-field text,title --stats filter-lacking.json < in.jsonl > /dev/null
3 dedup passages in.jsonl --text-field text,title --stats passages-lacking.json > /dev/null
3 dedup contain in.jsonl --text-field text,title --stats contain-lacking.json > /dev/null
3 dedup clean in.jsonl --text-field text,title --index lacking.idx --output by-lacking --stats index-lacking.json
3 dedup clean in.jsonl link.jsonl torn --output out --stats clean.json
3 dedup clean in.jsonl link.jsonl torn --output out --stats again.json
3 dedup clean in.jsonl --index seen.idx --output decided --stats index.json
3 dedup clean in.jsonl --index seen.idx --output decided --stats index-again.json
3 dedup passages in.jsonl --exact --min-words 4 --output cut --stats cut.json
3 dedup passages in.jsonl --min-words 8 --emit spans --stats spans.json > /dev/null
3 dedup contain in.jsonl --against files --shingle 4 --emit verdicts --stats contain.json > /dev/null
3 dedup contain in.jsonl --against files --preset palm --stats palm.json > /dev/null
3 dedup contain in.jsonl --against files --of reference --emit kept --stats of.json > /dev/null
3 dedup contain in.jsonl --against files --shingle 4 --output contained > /dev/null
3 dedup contain in.jsonl --shingle 4 --output within > /dev/null
3 dedup passages in.jsonl --against files --unit document --min-words 4 --output whole > /dev/null
0 dedup plan fixtures/jsonl/docs --json > data.json
0 dedup plan fixtures/jsonl/docs --documents 1M --json > more.json
0 dedup plan --algo simhash --json --mask numbers --join-hyphens > search.json
0 dedup lexicon build files --min-df 1 > terms
0 dedup compare files/a.txt files/b.txt --algo imatch --lexicon terms --json > terms.json
0 dedup compare files/a.txt files/b.txt --json > compared.json
0 dedup eval --truth fixtures/jsonl/truth.jsonl fixtures/jsonl/docs --algo simhash > eval.json
0 dedup eval --truth fixtures/jsonl/truth.jsonl fixtures/jsonl/docs --fold marks --mask numbers --stop-words en --stem en > prepared.json
0 dedup index add new.idx < /dev/null
0 dedup index stats new.idx > new.json
3 dedup index query seen.idx --top 2 < in.jsonl > nearest.json
1 dedup check docs --report jsonl > copies.json
0 dedup check docs --baseline docs/accepted --update-baseline --reason 'They are equal.' --report jsonl > accepted.json
1 rm docs/b.md; dedup check docs --baseline docs/accepted --fail-on-stale --report jsonl > stale.json
3 dedup clean files --against in.jsonl --move-duplicates moved --threshold 0.5
3 cp moved/_dedup/summary.json moved.json; echo more >> moved/b.txt; dedup clean --undo moved
"##;

/// The files that the commands read.
fn prepare(shell: &Shell) {
    let words = "Every word of this sentence is also in another document, in the same order.";
    let texts = ["First of all.", "Second.", "Third: it is longer than the others, by these words.", "Fourth of four."];
    let line = |(id, text): (usize, &&str)| json!({"id": id, "text": format!("{text} {words}")}).to_string() + "\n";
    let lines: String = texts.iter().enumerate().map(line).collect();
    let made = shell.sh("mkdir files docs torn");
    assert_eq!(made.status, 0);
    shell.write("in.jsonl", format!("{lines}[1]\n{}", line((4, &texts[0]))));
    shell.write("files/a.txt", format!("{words} One."));
    shell.write("files/b.txt", format!("{words} Two."));
    let prose: String = (0..60).map(|number| format!("word{number} ")).collect();
    ["a", "b"].iter().for_each(|name| shell.write(&format!("docs/{name}.md"), format!("# {name}\n\n{prose}\n")));
    let more = "cp in.jsonl twice.jsonl && ln in.jsonl link.jsonl && gzip -c in.jsonl | head -c 150 > torn/in.jsonl.gz";
    assert_eq!(shell.sh(more).status, 0);
}

/// The records that the commands print or write.
fn records_of_commands() -> Vec<Record> {
    let shell = Shell::new();
    prepare(&shell);
    for line in COMMANDS.replace("\\\n", "").trim().lines() {
        let (status, command) = line.split_once(' ').unwrap();
        let run = shell.sh(command);
        assert_eq!(run.status.to_string(), status, "{command}: {}", run.stderr);
    }
    let run = shell.sh("cat *.json */_dedup/*.jsonl */_dedup/summary.json");
    assert_eq!(run.status, 0, "{}", run.stderr);
    run.stdout.lines().map(|line| record("a command", line).expect("each line is a record")).collect()
}

/// All of them.
static RECORDS: LazyLock<Vec<Record>> =
    LazyLock::new(|| [records_of_cases(), records_of_texts(), records_of_commands()].into_iter().flatten().collect());

/// The types that the schema chooses from.
fn types() -> BTreeSet<&'static str> {
    let names = SCHEMA["oneOf"].as_array().unwrap().iter().map(|choice| choice["$ref"].as_str().unwrap());
    let kinds = names.map(|name| &SCHEMA["$defs"][name.strip_prefix("#/$defs/").unwrap()]["properties"]["type"]);
    let values = kinds.flat_map(|kind| match kind["enum"].as_array() {
        Some(values) => values.iter().collect(),
        None => vec![&kind["const"]],
    });
    values.map(|value| value.as_str().expect("a type is a string")).collect()
}

#[test]
fn the_schema_is_valid() {
    assert_eq!(SCHEMA["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::draft202012::meta::validate(&SCHEMA).unwrap();
    // A name that is not defined would be found by the compiler of the schema; one that is not used, here.
    let definitions = SCHEMA["$defs"].as_object().unwrap();
    let unused = definitions.keys().find(|name| !RECORDS_SCHEMA.contains(&format!("\"#/$defs/{name}\"")));
    assert_eq!(unused, None);
}

#[test]
fn every_record_is_valid_and_has_no_other_field() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for record in RECORDS.iter() {
        *seen.entry(record.kind()).or_default() += 1;
        let errors =
            |validator: &Validator| validator.iter_errors(&record.value).map(|e| e.to_string()).collect::<Vec<_>>();
        assert!(STRICT.is_valid(&record.value), "{}\n{:#?}", record.from, errors(&STRICT));
        assert!(OPEN.is_valid(&record.value), "{}\n{:#?}", record.from, errors(&OPEN));
    }
    // Shown with --nocapture.
    println!("{seen:?}");
    assert_eq!(seen.keys().copied().collect::<BTreeSet<_>>(), types());
}

/// Fields that no record here has, the last one where the system does not state it.
const UNSEEN: [&str; 2] = ["neighbours/capped", "clean/peak_memory"];

/// The names of the fields of a schema.
fn names_of(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                names.extend(properties.iter().filter(|(_, field)| field.is_object()).map(|(name, _)| name.clone()));
            }
            fields.values().for_each(|inner| names_of(inner, names));
        }
        Value::Array(items) => items.iter().for_each(|inner| names_of(inner, names)),
        _ => {}
    }
}

#[test]
fn every_field_of_the_schema_was_seen() {
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for record in RECORDS.iter() {
        fields(&record.value, "", "", &mut |path, _, _| {
            let name = path.rsplit('/').next().unwrap();
            // Nested objects may have a definition of their own.
            seen.entry(record.kind()).or_default().insert(name.to_string());
            seen.entry("").or_default().insert(name.to_string());
        });
    }
    let mut unseen = BTreeSet::new();
    for (definition, schema) in SCHEMA["$defs"].as_object().unwrap() {
        let mut names = BTreeSet::new();
        names_of(schema, &mut names);
        let kind = schema["properties"]["type"]["const"].as_str().unwrap_or("");
        unseen.extend(names.difference(&seen[kind]).map(|name| format!("{definition}/{name}")));
    }
    unseen.retain(|path| !UNSEEN.contains(&path.as_str()));
    assert_eq!(unseen, BTreeSet::new());
}

/// Objects whose fields have names that the schema leaves open.
const FREE: [&str; 6] = ["parameters", "made_with", "request", "timings", "lacking_fields", "against_lacking_fields"];

/// Calls `each` with the path and the pointer of every field, those of nested objects too. All elements of an array have one path.
fn fields(value: &Value, path: &str, pointer: &str, each: &mut impl FnMut(&str, &str, &Value)) {
    let field = |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(object) => object.iter().for_each(|(name, inner)| {
            let path = format!("{path}/{name}");
            each(&path, &field(name), inner);
            fields(inner, &path, &field(name), each);
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(number, inner)| {
            each(&format!("{path}/[]"), &field(&number.to_string()), inner);
            fields(inner, &format!("{path}/[]"), &field(&number.to_string()), each);
        }),
        _ => {}
    }
}

/// Whether a field is in an object with free names.
fn is_free(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(parents, _)| parents.split('/').any(|name| FREE.contains(&name)))
}

/// One record of each group and set of fields: enough to change.
fn samples() -> Vec<&'static Record> {
    let mut samples = BTreeMap::new();
    for record in RECORDS.iter() {
        let mut paths = BTreeSet::new();
        fields(&record.value, "", "", &mut |path, _, value| {
            paths.insert((path.to_string(), value.is_null()));
        });
        samples.entry((record.group(), paths)).or_insert(record);
    }
    samples.into_values().collect()
}

/// A value that is no field of the type of this one.
fn other_kind(value: &Value, path: &str) -> Value {
    match value {
        _ if is_free(path) => json!([]),
        Value::Number(_) => json!("x"),
        Value::Null => json!([]),
        _ => json!(7),
    }
}

/// Records with a value replaced, each with its pointer and the new value.
fn replaced(record: &Record, change: impl Fn(&str, &Value) -> Option<Value>) -> Vec<(String, Value)> {
    let mut changes = Vec::new();
    fields(&record.value, "", "", &mut |path, pointer, value| {
        // What a run was asked for can be anything.
        if let Some(new) = change(path, value).filter(|_| !path.starts_with("/request/")) {
            let mut changed = record.value.clone();
            *changed.pointer_mut(pointer).expect("it was found there") = new.clone();
            changes.push((format!("{pointer} = {new}"), changed));
        }
    });
    changes
}

#[track_caller]
fn are_refused(change: impl Fn(&str, &Value) -> Option<Value>) -> usize {
    let mut count = 0;
    for record in samples() {
        for (what, changed) in replaced(record, &change) {
            assert!(!OPEN.is_valid(&changed), "{what} is valid in {}", record.from);
            count += 1;
        }
    }
    count
}

#[test]
fn values_of_another_kind_are_refused() {
    let count = are_refused(|path, value| Some(other_kind(value, path)));
    assert!(count > 1000, "{count}");
}

#[test]
fn numbers_out_of_range_are_refused() {
    let is_number = |path: &str, value: &Value| value.is_number() && !is_free(path);
    let below = are_refused(|path, value| is_number(path, value).then(|| json!(if path == "/ari" { -2 } else { -1 })));
    assert!(below > 1000, "{below}");
    let shares = [
        "similarity",
        "coverage",
        "coverage_all",
        "share_a",
        "share_b",
        "precision",
        "recall",
        "f1",
        "accuracy",
        "ari",
        "predicted",
        "probability",
        "contained",
        "jaccard",
        "cosine",
        "a_in_b",
        "b_in_a",
        "ones_mean",
        "cut",
        "threshold",
        "min_coverage",
    ];
    let seen = std::cell::RefCell::new(BTreeSet::new());
    are_refused(|path, value| {
        let name = shares.into_iter().find(|name| path.rsplit('/').next() == Some(name))?;
        // A curve by the number of terms that differ has no upper bound.
        let is_share = is_number(path, value) && path != "/curve/[]/similarity";
        is_share.then(|| seen.borrow_mut().insert(name));
        is_share.then(|| json!(2))
    });
    assert_eq!(seen.into_inner(), BTreeSet::from(shares), "each was tried");
}

/// Fields that every record here has, and others lack.
const OPTIONAL: [&str; 9] = [
    "clean/peak_memory",
    "cut/first",
    "cut/first/record",
    "cut/record",
    "decision/record",
    "index/distribution/ones",
    "plan/data/ranges/[]/examples/[]/differ",
    "stats bytes_held/replaced_fields",
    "stats timings/dropped",
];

#[test]
fn a_field_that_all_have_is_required() {
    // How often an object was seen at a path, and how often a field.
    let mut objects: BTreeMap<String, usize> = BTreeMap::new();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for record in RECORDS.iter() {
        let group = record.group();
        *objects.entry(group.clone()).or_default() += 1;
        fields(&record.value, &group, "", &mut |path, _, value| {
            *found.entry(path.to_string()).or_default() += 1;
            *objects.entry(path.to_string()).or_default() += usize::from(value.is_object());
        });
    }
    let (mut refused, mut accepted) = (0, BTreeSet::new());
    for record in samples() {
        let group = record.group();
        fields(&record.value, &group, "", &mut |path, pointer, _| {
            let (object, name) = path.rsplit_once('/').unwrap();
            // No part of a preparation is required.
            if name == "[]" || object.ends_with("/preparation") || is_free(path) || found[path] < objects[object] {
                return;
            }
            let mut changed = record.value.clone();
            let (parent, _) = pointer.rsplit_once('/').unwrap();
            changed.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
            if OPEN.is_valid(&changed) { _ = accepted.insert(path.to_string()) } else { refused += 1 }
        });
    }
    assert!(refused > 1000, "{refused}");
    let unexpected: Vec<_> = accepted.iter().filter(|path| !OPTIONAL.contains(&path.as_str())).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
}

#[test]
fn further_fields_are_allowed_and_further_types_are_not() {
    for record in samples() {
        let mut changed = record.value.clone();
        changed["later"] = json!(1);
        assert!(OPEN.is_valid(&changed) && !STRICT.is_valid(&changed), "{}", record.from);
        changed["type"] = json!("later");
        assert!(!OPEN.is_valid(&changed));
    }
}
