//! Passages that repeat: their places, and what may not change them.

use std::fs;

use neardups::tokenizer::Word;

use crate::support::plain::token_texts;

use super::records;
use super::shell::{Shell, root};

#[test]
fn places_cut_the_same_words() {
    let found = Shell::new().dedup("passages fixtures/english/docs --exact --min-words 20 -q").done();
    let passages = records::repeated(&found);
    assert!(passages.len() > 20, "{}", passages.len());
    for passage in &passages {
        let expected = token_texts(&Word, &passage.text);
        assert_eq!(expected.len() as u64, passage.words);
        for (number, place) in passage.places.iter().enumerate() {
            let text = fs::read_to_string(root().join(&place.id)).unwrap();
            let cut = &text[place.start..place.end];
            assert!(number > 0 || cut == passage.text);
            assert_eq!(token_texts(&Word, cut), expected, "{}", place.id);
        }
    }
}

#[test]
fn threads_and_memory_change_no_passages() {
    let shell = Shell::new();
    for emit in ["passages", "spans"] {
        let run = |tuning: &str| {
            shell
                .dedup(&format!("passages fixtures/english/docs --exact --min-words 10 --emit {emit} -q {tuning}"))
                .done()
        };
        let expected = run("-j1");
        match emit {
            "spans" => assert!(records::spans(&expected).len() > 10),
            _ => assert!(records::repeated(&expected).len() > 20),
        }
        for tuning in ["-j2", "-j5", "--memory 0", "--memory 1M -j3", "--seed 7"] {
            assert!(run(tuning) == expected, "{emit} {tuning}");
        }
    }
}
