//! Tokens between white space.

use super::normalise::{counted, has_ignored};
use super::{Tokenizer, Tokens};
use std::borrow::Cow;

/// Runs of characters between white space, unchanged.
///
/// # What a token is
/// A run of characters without White_Space (`char::is_whitespace`). Punctuation stays with its word: `end` and `end.`
/// differ.
///
/// # What is normalised
/// Nothing: neither case nor composition. It is the one tokenizer for which canonically equivalent texts differ. Only
/// [what is not seen](super#what-does-not-count) is removed. The span of a token reaches from white space to white space.
///
/// # Cost
/// 340 to 410 MB/s whatever the text, more if it has few spaces. See [the module](crate::tokenizer) for what was
/// measured.
///
/// # Weak
/// Every change of case or punctuation is a change of words, and text in Chinese, Japanese or Thai has few spaces, so
/// that whole sentences are tokens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whitespace;

impl Tokenizer for Whitespace {
    fn name(&self) -> Cow<'_, str> {
        "whitespace".into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        tokens.clear();
        let (mut at, has_any_ignored) = (0, has_ignored(text));
        while let Some(skipped) = text[at..].find(|c: char| !c.is_whitespace()) {
            let start = at + skipped;
            at = text[start..].find(char::is_whitespace).map_or(text.len(), |length| start + length);
            let run = &text[start..at];
            if !has_any_ignored || !has_ignored(run) {
                tokens.push(run, start..at);
            } else {
                if let Some(building) = tokens.building_more(run.len()) {
                    building.extend(counted(run));
                }
                tokens.finish(start..at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::{nasty_text, shown, texts};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tokens_are_those_of_the_standard_library(text in prop_oneof![texts(), nasty_text(), any::<String>()]) {
            let tokens = shown(&Whitespace, &text);
            for (token, span) in &tokens {
                prop_assert_eq!(&counted(&text[span.clone()]).collect::<String>(), token);
            }
            let counted: String = counted(&text).collect();
            prop_assert!(tokens.iter().map(|(token, _)| token.as_str()).eq(counted.split_whitespace()));
        }
    }
}
