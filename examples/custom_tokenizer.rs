//! A custom tokenizer: words with masked digits, so that pages which differ in dates and counters are copies.
//!
//! ```text
//! cargo run --release --example custom_tokenizer
//! ```
//!
//! It needs nothing but the public trait: no line in the library's table, no change to its source.

use neardups::source::Documents;
use neardups::tokenizer::{TokenDetail, Tokenizer, Tokens, Word};
use neardups::{Error, MinHash, Scan};
use std::borrow::Cow;

/// The tokens of [`Word`] with each digit replaced by 0: `2024-05-17` and `2025-11-02` both become `0000 00 00`.
struct MaskedNumbers;

impl Tokenizer for MaskedNumbers {
    /// An index or a lexicon made with these tokens knows by this name which they are.
    fn name(&self) -> Cow<'_, str> {
        "word, digits masked".into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        // Building on another tokenizer gives Unicode normalisation and spans for free.
        let mut words = Tokens::new(TokenDetail::Everything, tokens.seed());
        Word.tokenize(text, &mut words);
        tokens.clear();
        let mut masked = String::new();
        for i in 0..words.len() {
            masked.clear();
            masked.extend(words.text(i).chars().map(|c| if c.is_numeric() { '0' } else { c }));
            tokens.push(&masked, words.span(i));
        }
    }
}

/// The pairs found with a tokenizer.
fn pairs(tokenizer: impl Tokenizer + 'static) -> Result<Vec<String>, Error> {
    let mut documents = Documents::new([
        (
            "monday",
            "Visitors today: 1,204. Last update 2024-05-17. The museum is open from 9 to 17 except on public holidays.",
        ),
        (
            "friday",
            "Visitors today: 3,977. Last update 2024-05-21. The museum is open from 9 to 17 except on public holidays.",
        ),
        (
            "other",
            "Tickets can be bought at the desk or online; children under twelve and members of the society enter free.",
        ),
    ]);
    let outcome = Scan::new(MinHash::builder().build()?).tokenizer(tokenizer).run(&mut documents)?;
    let pairs = outcome.pairs().map(|pair| {
        let pair = pair?;
        Ok(format!("{} {} {}", pair.a, pair.b, pair.similarity.value()))
    });
    pairs.collect()
}

fn main() -> Result<(), Error> {
    println!("words as they are: {:?}", pairs(Word)?);
    println!("digits masked:     {:?}", pairs(MaskedNumbers)?);
    Ok(())
}

#[test]
fn masked_numbers_make_copies_of_pages_that_differ_in_counters() {
    assert!(pairs(Word).unwrap().is_empty());
    assert_eq!(pairs(MaskedNumbers).unwrap(), ["monday friday 1"]);
}
