//! The positions of passages in `dedup compare --json` are correct.

use super::records::{self, PassagePlace};
use super::shell::{Shell, root};
use crate::support::plain::token_texts;
use neardups::tokenizer::Word;

#[test]
fn passages_stand_in_the_lines_and_bytes_that_are_named() {
    let shell = Shell::new();
    let mut passages = 0;
    for (a, b) in [
        ("english/docs/isaiah-39-kjv.txt", "english/docs/2-kings-20-kjv.txt"),
        ("english/docs/gettysburg.txt", "english/docs/gettysburg-inscription.txt"),
        ("english/docs/carmilla-early-fright.txt", "english/docs/mirror-carmilla-p03.txt"),
        ("chinese/docs/kongyiji.txt", "chinese/docs/kongyiji-posted.txt"),
        ("chinese/docs/efanggong.txt", "chinese/docs/efanggong-variants.txt"),
        ("code/docs/getrandom-0.3.4-windows.rs", "code/docs/getrandom-0.4.3-windows.rs"),
    ] {
        let read = |name: &str| std::fs::read_to_string(root().join("fixtures").join(name)).unwrap();
        let texts = [read(a), read(b)];
        let run = shell.dedup(&format!("compare --json -q fixtures/{a} fixtures/{b}"));
        let comparison = records::comparisons(&run.done()).remove(0);
        assert!(comparison.complete, "{a}");
        for passage in &comparison.passages {
            let slice = |place: &PassagePlace, text: &str| {
                let [start, end] = place.bytes;
                let line = |byte: usize| 1 + text[..byte].matches('\n').count();
                assert_eq!(place.lines, [line(start), line(end)], "{a} and {b}: {:?}", passage.text);
                text[start..end].to_string()
            };
            let (in_a, in_b) = (slice(&passage.a, &texts[0]), slice(&passage.b, &texts[1]));
            assert_eq!(in_a, passage.text);
            let tokens = [in_a, in_b].map(|text| token_texts(&Word, &text));
            assert_eq!(tokens[0], tokens[1]);
            passages += 1;
        }
    }
    assert!(passages > 20, "{passages}");
}
