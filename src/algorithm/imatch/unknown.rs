//! Words that auxiliary lexicons lack, and the lexicon too.

use crate::hash::token_hash;
use crate::lexicon::Lexicon;
use std::sync::Arc;

/// The warning that words which auxiliary lexicons lack are not in the lexicon either, so that they make no difference.
pub(super) fn unknown_words(left_out: &[Arc<Lexicon>], lexicon: &Lexicon) -> Option<String> {
    const SHOWN: usize = 5;
    let unknown = |list: &&Arc<Lexicon>| list.held_terms().filter(|(term, _)| !lexicon.contains(*term)).count();
    let count: usize = left_out.iter().map(|list| unknown(&list)).sum();
    let all: usize = left_out.iter().map(|list| list.len()).sum();
    let words = left_out.iter().flat_map(|list| list.words());
    let is_unknown = |word: &&String| {
        let seeded = |list: &Arc<Lexicon>| list.origin().map(|origin| token_hash(word.as_bytes(), origin.seed));
        left_out.iter().find_map(seeded).is_some_and(|term| !lexicon.contains(term))
    };
    let some: Vec<&str> = words.filter(is_unknown).take(SHOWN).map(String::as_str).collect();
    let examples = if some.is_empty() { String::new() } else { format!(", such as {}", some.join(", ")) };
    (count > 0).then(|| {
        format!(
            "{count} of the {all} words of `lexicon-without` are not in the lexicon, so that leaving them out has no effect{examples}"
        )
    })
}
