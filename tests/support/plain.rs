//! Plain reference implementations: strings in sets from the standard library, and every pair compared.

use neardups::tokenizer::{TokenDetail, Tokenizer, Tokens};
use std::collections::HashSet;

/// The texts of the tokens.
pub fn token_texts(tokenizer: &dyn Tokenizer, text: &str) -> Vec<String> {
    let mut tokens = Tokens::new(TokenDetail::Everything, 0);
    tokenizer.tokenize(text, &mut tokens);
    (0..tokens.len()).map(|i| tokens.text(i).to_string()).collect()
}

/// Every run of `width` consecutive tokens; fewer tokens than that are one run of all of them.
pub fn shingles(tokens: &[String], width: usize) -> HashSet<Vec<String>> {
    match tokens.len() {
        0 => HashSet::new(),
        count => tokens.windows(width.min(count)).map(<[String]>::to_vec).collect(),
    }
}

/// How many elements two sets share, and how many there are in either.
pub fn shared_and_either<T: Eq + std::hash::Hash>(a: &HashSet<T>, b: &HashSet<T>) -> (u64, u64) {
    let shared = a.iter().filter(|element| b.contains(*element)).count();
    (shared as u64, (a.len() + b.len() - shared) as u64)
}

/// All `(i, j)` with `i < j` below `count`.
pub fn all_pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |i| (i + 1..count).map(move |j| (i, j)))
}

/// The connected components of a graph, each ascending, in the order of their first members; single nodes left out.
pub fn components(nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut label: Vec<usize> = (0..nodes).collect();
    for &(a, b) in edges {
        let (from, to) = (label[a].max(label[b]), label[a].min(label[b]));
        label.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
    }
    let of = |wanted: usize| (0..nodes).filter(|&node| label[node] == wanted).collect::<Vec<_>>();
    (0..nodes).filter(|&node| label[node] == node).map(of).filter(|members| members.len() > 1).collect()
}
