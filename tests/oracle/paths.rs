//! Paths of texts against a plain evaluation of the same values.

use neardups::source::{Input, ReadOptions, Severity, Source, TextFields};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

/// A step, written by hand for each path that is compared.
#[derive(Clone, Copy, Debug)]
enum Step {
    Field(&'static str),
    All,
    At(i64),
    Where(&'static str, &'static str),
}

use Step::{All, At, Field, Where};

const PATHS: &[(&str, &[Step])] = &[
    ("chat[].content", &[Field("chat"), All, Field("content")]),
    ("chat[role=user].content", &[Field("chat"), Where("role", "user"), Field("content")]),
    ("chat[role=system].content", &[Field("chat"), Where("role", "system"), Field("content")]),
    ("chat[0].content", &[Field("chat"), At(0), Field("content")]),
    ("chat[2].content", &[Field("chat"), At(2), Field("content")]),
    ("chat[-1].content", &[Field("chat"), At(-1), Field("content")]),
    ("chat[-3].content", &[Field("chat"), At(-3), Field("content")]),
    ("chat[role=user].role", &[Field("chat"), Where("role", "user"), Field("role")]),
    (
        "chat[role=user].parts[kind=text].text",
        &[Field("chat"), Where("role", "user"), Field("parts"), Where("kind", "text"), Field("text")],
    ),
    ("chat[-1].parts[-1].text", &[Field("chat"), At(-1), Field("parts"), At(-1), Field("text")]),
    ("chat[].parts[0].text", &[Field("chat"), All, Field("parts"), At(0), Field("text")]),
    ("chat[1].parts[].text", &[Field("chat"), At(1), Field("parts"), All, Field("text")]),
    ("grid[0][-1]", &[Field("grid"), At(0), At(-1)]),
    ("grid[][1]", &[Field("grid"), All, At(1)]),
    ("grid[-2][]", &[Field("grid"), At(-2), All]),
    ("tags[0]", &[Field("tags"), At(0)]),
    ("title", &[Field("title")]),
];

/// A value that the path says is another one.
struct Wrong;

/// Adds the strings that steps lead to. A field is asked of an element of an array, if it is one.
fn follow<'v>(value: &'v Value, steps: &[Step], is_element: bool, texts: &mut Vec<&'v str>) -> Result<(), Wrong> {
    let Some((step, rest)) = steps.split_first() else {
        return match value {
            Value::String(text) => {
                texts.push(text);
                Ok(())
            }
            Value::Null => Ok(()),
            _ => Err(Wrong),
        };
    };
    let chosen: Vec<&Value> = match (step, value) {
        (_, Value::Null) => return Ok(()),
        (Field(name), Value::Object(fields)) => {
            return fields.get(*name).map_or(Ok(()), |value| follow(value, rest, false, texts));
        }
        (Field(_), _) if is_element => return Err(Wrong),
        (Field(_), _) => return Ok(()),
        (All, Value::Array(elements)) => elements.iter().collect(),
        (At(number), Value::Array(elements)) => {
            let at = if *number < 0 { elements.len() as i64 + number } else { *number };
            elements.iter().enumerate().filter(|(own, _)| *own as i64 == at).map(|(_, element)| element).collect()
        }
        (Where(field, wanted), Value::Array(elements)) => {
            elements.iter().filter(|element| element.get(field) == Some(&json!(wanted))).collect()
        }
        _ => return Err(Wrong),
    };
    chosen.into_iter().try_for_each(|element| follow(element, rest, true, texts))
}

/// The text of a record, if it has one.
fn text(record: &Value, paths: &[usize]) -> Option<String> {
    let (mut texts, mut met) = (Vec::new(), HashSet::new());
    for &path in paths {
        let (name, steps) = PATHS[path];
        let as_name = [Field(name)];
        let steps = if record.get(name).is_some() { &as_name } else { steps };
        let mut own = Vec::new();
        follow(record, steps, false, &mut own).ok()?;
        texts.extend(own.into_iter().filter(|text| met.insert(text.as_ptr())));
    }
    let full: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| full.join("\n\n"))
}

fn maybe(value: impl Strategy<Value = Value> + 'static, often: f64) -> impl Strategy<Value = Option<Value>> {
    prop::option::weighted(often, value)
}

fn object(fields: Vec<(&str, Option<Value>)>) -> Value {
    Value::Object(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect::<Map<_, _>>())
}

fn string() -> impl Strategy<Value = Value> {
    "[a-c\"\\\\é\n]{0,4}".prop_map(Value::from)
}

/// Values of which few are not what the paths say.
fn records() -> impl Strategy<Value = Value> {
    let odd = prop::sample::select(vec![json!(null), json!(7), json!("odd"), json!({}), json!([])]);
    let or_odd = |value: BoxedStrategy<Value>| prop_oneof![30 => value, 1 => odd.clone()].boxed();
    let list = |value: BoxedStrategy<Value>| prop::collection::vec(value, 0..4).prop_map(Value::from).boxed();
    let one_of = |values: &[&str]| prop::sample::select(values.iter().map(|value| json!(value)).collect::<Vec<_>>());
    let part = (maybe(one_of(&["text", "image"]), 0.9), maybe(or_odd(string().boxed()), 0.9))
        .prop_map(|(kind, text)| object(vec![("kind", kind), ("text", text)]));
    let parts = or_odd(list(or_odd(part.boxed())));
    let role = or_odd(one_of(&["user", "system", "user "]).boxed());
    let turn = (maybe(role, 0.9), maybe(or_odd(string().boxed()), 0.9), maybe(parts, 0.8))
        .prop_map(|(role, content, parts)| object(vec![("content", content), ("role", role), ("parts", parts)]));
    let chat = or_odd(list(or_odd(turn.boxed())));
    let grid = or_odd(list(or_odd(list(or_odd(string().boxed())))));
    let fields = (
        maybe(chat, 0.9),
        maybe(grid, 0.9),
        maybe(or_odd(list(string().boxed())), 0.9),
        maybe(string(), 0.1),
        maybe(string(), 0.5),
    );
    fields.prop_map(|(chat, grid, tags, name, title)| {
        object(vec![("chat", chat), ("tags[0]", name), ("grid", grid), ("tags", tags), ("title", title)])
    })
}

/// The text of each record of a file; `None` for one that cannot be read.
fn read(file: &Path, options: &ReadOptions) -> Vec<Option<String>> {
    let mut texts = Vec::new();
    Input::new(vec![file.to_path_buf()], options.clone()).read(&mut |batch| {
        batch.documents(&mut |document| match document {
            Ok(document) => texts.push(Some(document.text.into_owned())),
            Err(problem) if problem.severity == Severity::Failed => texts.push(None),
            Err(_) => {}
        });
        ControlFlow::Continue(())
    });
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn texts_are_those_of_a_plain_evaluation(
        records in prop::collection::vec(records(), 1..20),
        paths in prop::sample::subsequence((0..PATHS.len()).collect::<Vec<_>>(), 1..4).prop_shuffle(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.jsonl");
        fs::write(&file, records.iter().map(|record| format!("{record}\n")).collect::<String>()).unwrap();
        let text_fields = TextFields::new(paths.iter().map(|&path| PATHS[path].0)).unwrap();
        let expected: Vec<_> = records.iter().map(|record| text(record, &paths)).collect();
        prop_assert_eq!(read(&file, &ReadOptions { text_fields, ..ReadOptions::default() }), expected);
    }
}
