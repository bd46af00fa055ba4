//! The field that `--mark` adds to records of duplicates and to those that could not be read, and removes from all others, so that
//! readers can trust it.

use memchr::memmem;
use std::ops::Range;

/// The key of the field.
pub const KEY: &str = "dedup";

/// Writes a record, which is a JSON object, without its top-level fields named `dedup`; with a value, adds one such field at its end. All
/// other bytes stay. Returns whether the record had such a field.
pub fn write_marked(record: &[u8], value: Option<&str>, out: &mut Vec<u8>) -> bool {
    let fields = if may_have_key(record) { fields(record).unwrap_or_default() } else { Vec::new() };
    // A record that was read as an object ends with a brace.
    let end = record.trim_ascii_end().len().saturating_sub(1);
    let had_field = fields.iter().any(|field| field.is_ours);
    let mut is_empty = record[..end].trim_ascii_end().ends_with(b"{");
    if had_field {
        is_empty = true;
        let mut last = fields[0].bytes.start;
        out.extend_from_slice(&record[..last]);
        for field in &fields {
            if !field.is_ours {
                // Include the comma before it, with white space.
                let start = if is_empty { field.bytes.start } else { last };
                out.extend_from_slice(&record[start..field.bytes.end]);
                is_empty = false;
            }
            last = field.bytes.end;
        }
        out.extend_from_slice(&record[last..end]);
    } else {
        out.extend_from_slice(&record[..end]);
    }
    if let Some(value) = value {
        let comma = if is_empty { "" } else { "," };
        out.extend_from_slice(format!("{comma}\"{KEY}\":{value}").as_bytes());
    }
    out.extend_from_slice(&record[end..]);
    had_field
}

/// Whether a record begins and ends as an object does, so that a field can be added. JSON may not read it.
pub fn is_bracketed(record: &[u8]) -> bool {
    let record = record.strip_prefix(b"\xef\xbb\xbf").unwrap_or(record).trim_ascii();
    record.len() > 1 && record.starts_with(b"{") && record.ends_with(b"}")
}

/// A field of an object, from the start of its key to the end of its value.
struct Field {
    bytes: Range<usize>,
    is_ours: bool,
}

/// Whether the record may have the key, whose letters can also be written as `\u0064`.
fn may_have_key(record: &[u8]) -> bool {
    memmem::find(record, b"\"dedup\"").is_some() || memmem::find(record, b"\\u00").is_some()
}

/// The fields of an object. `None` if the bytes are not a JSON object; only as much is checked as is needed to find the fields.
fn fields(record: &[u8]) -> Option<Vec<Field>> {
    let mut at = memchr::memchr(b'{', record)? + 1;
    let mut fields = Vec::new();
    loop {
        at = after_space(record, at);
        match record.get(at)? {
            b'}' => return Some(fields),
            b',' if !fields.is_empty() => at += 1,
            b'"' => {
                let start = at;
                at = after_string(record, start)?;
                let is_ours = is_ours(&record[start..at]);
                at = after_space(record, at);
                (record.get(at) == Some(&b':')).then_some(())?;
                at = after_value(record, after_space(record, at + 1))?;
                fields.push(Field { bytes: start..at, is_ours });
            }
            _ => return None,
        }
    }
}

fn is_ours(key: &[u8]) -> bool {
    match memchr::memchr(b'\\', key) {
        None => key[1..key.len() - 1] == *KEY.as_bytes(),
        Some(_) => serde_json::from_slice::<String>(key).is_ok_and(|key| key == KEY),
    }
}

fn after_space(record: &[u8], at: usize) -> usize {
    let space = record[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    at + space.count()
}

/// The end of a string that starts at a quote.
fn after_string(record: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', record.get(at..)?)?;
        match record[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

/// The end of a value of any kind.
fn after_value(record: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0usize);
    loop {
        match record.get(at)? {
            b'"' => at = after_string(record, at)?,
            b'{' | b'[' => (at, depth) = (at + 1, depth + 1),
            b'}' | b']' if depth > 0 => (at, depth) = (at + 1, depth - 1),
            _ if depth > 0 => {
                at += 1;
                continue;
            }
            // A number or a literal.
            _ => {
                let is_part = |byte: &&u8| !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                at += record[at..].iter().take_while(is_part).count();
                return (at > start).then_some(at);
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::{MapAccess, Visitor};
    use serde_json::value::RawValue;
    use std::fmt;

    /// All fields of an object as the JSON library reads them, those with the same key too.
    #[derive(Debug, PartialEq)]
    struct Fields(Vec<(String, String)>);

    impl<'de> serde::Deserialize<'de> for Fields {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Each;
            impl<'de> Visitor<'de> for Each {
                type Value = Fields;
                fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                    let mut fields = Vec::new();
                    while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                        fields.push((key, value.get().to_string()));
                    }
                    Ok(Fields(fields))
                }
            }
            deserializer.deserialize_map(Each)
        }
    }

    fn read(record: &[u8]) -> Vec<(String, String)> {
        serde_json::from_slice::<Fields>(record)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(record)))
            .0
    }

    #[test]
    fn what_could_be_an_object_has_brackets() {
        for (record, expected) in [
            ("{}", true),
            ("\u{feff} {\"a\":NaN}\r\n", true),
            ("{\"a\":1} {\"b\":2}", true),
            ("{", false),
            ("}", false),
            ("[{}]", false),
            ("{\"a\":", false),
            ("", false),
            ("\u{feff}", false),
        ] {
            assert_eq!(is_bracketed(record.as_bytes()), expected, "{record:?}");
        }
    }

    fn marked(record: &str, value: Option<&str>) -> (String, bool) {
        let mut out = Vec::new();
        let had = write_marked(record.as_bytes(), value, &mut out);
        (String::from_utf8(out).unwrap(), had)
    }

    /// What must hold of a record, by the JSON library alone.
    fn check(record: &str) {
        let old = read(record.as_bytes());
        let others: Vec<_> = old.iter().filter(|(key, _)| key != KEY).cloned().collect();
        for value in [None, Some("{\"duplicate_of\":\"a\",\"similarity\":1.0}")] {
            let (new, had) = marked(record, value);
            let mut expected = others.clone();
            expected.extend(value.map(|value| (KEY.to_string(), value.to_string())));
            assert_eq!(read(new.as_bytes()), expected, "{record} → {new}");
            assert_eq!(had, old.len() > others.len(), "{record}");
            if !had && value.is_none() {
                assert_eq!(new, record);
            }
            let around = |text: &str| [text.len() - text.trim_start().len(), text.len() - text.trim_end().len()];
            assert_eq!(around(&new), around(record));
        }
    }

    #[test]
    fn fields_of_that_name_are_removed_or_replaced() {
        for (record, passed, duplicate) in [
            (r#"{"id":1}"#, r#"{"id":1}"#, r#"{"id":1,"dedup":0}"#),
            ("{}", "{}", r#"{"dedup":0}"#),
            ("{ }\r\n", "{ }\r\n", "{ \"dedup\":0}\r\n"),
            (r#"{"dedup":{"a":[1,"}"]},"id":1}"#, r#"{"id":1}"#, r#"{"id":1,"dedup":0}"#),
            (r#"{ "id": 1, "dedup": null }"#, r#"{ "id": 1 }"#, r#"{ "id": 1 ,"dedup":0}"#),
            (r#"{"a":1,"dedup":2,"b":3}"#, r#"{"a":1,"b":3}"#, r#"{"a":1,"b":3,"dedup":0}"#),
            (r#"{"dedup":1,"dedup":2}"#, "{}", r#"{"dedup":0}"#),
            (r#"{"dedup":1 , "x" : "y" , "dedup":2 }"#, r#"{"x" : "y" }"#, r#"{"x" : "y" ,"dedup":0}"#),
            (r#"{"\u0064edup":1,"a":2}"#, r#"{"a":2}"#, r#"{"a":2,"dedup":0}"#),
            (r#"{"de\u0064u\u0070":"\\","a":2}"#, r#"{"a":2}"#, r#"{"a":2,"dedup":0}"#),
        ] {
            assert_eq!(marked(record, None).0, passed, "{record}");
            assert_eq!(marked(record, Some("0")).0, duplicate, "{record}");
            check(record);
        }
    }

    #[test]
    fn other_fields_stay() {
        for record in [
            r#"{"a":{"dedup":1},"b":[{"dedup":2}],"c":"\"dedup\":3,"}"#,
            r#"{"Dedup":1,"dedup ":2,"\"dedup\"":3,"dedup\u0000":4,"\\u0064edup":5}"#,
            r#"{"\ud83d\u0000":"a lone surrogate","text":"\u00e9"}"#,
        ] {
            assert_eq!(marked(record, None), (record.to_string(), false));
        }
    }

    #[test]
    fn a_huge_record_is_gone_through_once() {
        let deep = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
        let quotes = "\\\"dedup\\\":".repeat(1 << 18);
        let record = format!("{{\"a\":{deep},\"b\":\"{quotes}\",\"dedup\":{deep}}}");
        assert_eq!(marked(&record, None), (format!("{{\"a\":{deep},\"b\":\"{quotes}\"}}"), true));
    }

    #[test]
    fn other_text_stays_unchanged() {
        for record in
            ["", "{", "x", "[\"dedup\"]", "{\"dedup\"", "{\"dedup\":", "{\"dedup\":\"", "{\"dedup\":[", "{\"dedup\\"]
        {
            assert!(fields(record.as_bytes()).is_none(), "{record}");
            let mut out = Vec::new();
            assert!(!write_marked(record.as_bytes(), None, &mut out));
            assert_eq!(out, record.as_bytes());
        }
    }

    fn space() -> impl Strategy<Value = String> {
        "[ \t\r]{0,2}"
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "null",
            "true",
            "-1.5e3",
            "0",
            "\"\"",
            "\"dedup\"",
            "\"}\"",
            "\"\\\\\"",
            "\"\\\"dedup\\\":1\"",
            "\"é\\u0064\"",
        ]);
        leaf.prop_map(String::from).prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(" ,"))),
                prop::collection::vec((key(), inner), 0..3).prop_map(|fields| {
                    let fields: Vec<_> = fields.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                    format!("{{{}}}", fields.join(","))
                }),
            ]
        })
    }

    fn key() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "\"dedup\"",
            "\"\\u0064edup\"",
            "\"ded\\u0075p\"",
            "\"a\"",
            "\"dedup \"",
            "\"\"",
            "\"\\\\\"",
        ])
        .prop_map(String::from)
    }

    proptest! {
        #[test]
        fn as_the_json_library_reads_it(
            fields in prop::collection::vec((space(), key(), space(), space(), value(), space()), 0..6),
            around in [space(), space(), space()],
        ) {
            let fields: Vec<String> = fields.iter().map(|(a, key, b, c, value, d)| format!("{a}{key}{b}:{c}{value}{d}")).collect();
            let [before, inside, after] = around;
            let inside = if fields.is_empty() { inside } else { fields.join(",") };
            check(&format!("{before}{{{inside}}}{after}\n"));
        }
    }
}
