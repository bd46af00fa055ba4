//! Hashed shingles against runs of strings in a set from the standard library: as many distinct ones in every text, and the
//! same resemblance of every pair (Broder 1997, section 2).

use crate::support::plain::{shared_and_either, shingles, token_texts};
use neardups::hash::shingle_hashes;
use neardups::similarity::{Threshold, jaccard_at_least};
use neardups::tokenizer::{TOKENIZERS, TokenDetail, Tokenizer, Tokens, by_name};
use proptest::prelude::*;

/// Ascending, without repeats.
fn hashed(tokenizer: &dyn Tokenizer, text: &str, width: usize, seed: u64) -> Vec<u64> {
    let mut tokens = Tokens::new(TokenDetail::Hashes, seed);
    tokenizer.tokenize(text, &mut tokens);
    let mut hashes = Vec::new();
    shingle_hashes(tokens.hashes(), width, &mut hashes);
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

fn check(texts: &[String], width: usize, seed: u64) -> Result<(), TestCaseError> {
    let least = Threshold::new(1, 1_000_000_000_000).unwrap();
    for entry in TOKENIZERS.iter().filter(|entry| entry.build.is_some()) {
        let tokenizer = by_name(entry.name).expect("this build has it");
        let plain: Vec<_> = texts.iter().map(|text| shingles(&token_texts(&*tokenizer, text), width)).collect();
        let fast: Vec<_> = texts.iter().map(|text| hashed(&*tokenizer, text, width, seed)).collect();
        for (i, (a, fast_a)) in plain.iter().zip(&fast).enumerate() {
            prop_assert_eq!(a.len(), fast_a.len(), "{} shingles of text {}", entry.name, i);
            for (b, fast_b) in plain.iter().zip(&fast) {
                let (shared, either) = shared_and_either(a, b);
                let expected = (shared > 0).then(|| shared as f64 / either as f64);
                prop_assert_eq!(jaccard_at_least(fast_a, fast_b, least).map(|s| s.value()), expected, "{}", entry.name);
            }
        }
    }
    Ok(())
}

/// Texts put together from few pieces, so that they share many shingles and repeat some.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let pieces = prop::sample::select(vec![
        "the cat sat on the mat ",
        "a rose is a rose is a rose. ",
        "The Quick brown fox, ",
        "The Quick brown dog\r\n",
        "\r\n\r\n",
        "\n",
        "项王军壁垓下，兵少食尽，",
        "项王军壁垓下。兵少",
        "シャーロック・ホームズ ",
        "한국어 문장 ",
        "👍🏽 👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} ",
        "cafe\u{301} ",
        "caf\u{e9} ",
        "re\u{301}sume\u{301} a\u{308}\u{323} ",
        "ภาษาไทย ",
        "x = y[i] + 1; ",
    ]);
    let text = prop::collection::vec(pieces, 0..9).prop_map(|pieces| pieces.concat());
    prop::collection::vec(prop_oneof![4 => text, 1 => any::<String>()], 2..5)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_many_and_as_alike_as_sets_of_strings(texts in texts(), width in 1usize..9, seed in 0u64..3) {
        check(&texts, width, seed)?;
    }
}

#[test]
fn a_text_of_one_word_repeated_has_one_shingle() {
    let texts = [4, 5, 6, 1000].map(|times| "word ".repeat(times));
    check(&texts, 5, 0).unwrap();
    let counts = texts.map(|text| hashed(&neardups::tokenizer::Word, &text, 5, 0).len());
    assert_eq!(counts, [1; 4]);
}

#[test]
fn shingles_of_the_widest_kind() {
    let text = (0..300).map(|n| format!("w{} ", n % 101)).collect::<String>();
    check(&[text.clone(), text.replace("w100", "other"), text[..500].to_string()], 64, 9).unwrap();
}
