//! Corpora with pairs at all similarities.

use super::random::Random;

/// An id and a text.
pub type Text = (String, String);

/// So many random words; `vocabulary` of them are all there are.
pub fn words(random: &mut Random, count: usize, vocabulary: usize) -> Vec<String> {
    (0..count).map(|_| format!("w{}", random.below(vocabulary))).collect()
}

/// Documents of up to `longest` words. Most are made from an earlier one by edits, from none at all to nearly every word, so
/// that there are pairs at all similarities, exact copies and empty documents among them.
pub fn related(random: &mut Random, documents: usize, longest: usize) -> Vec<Text> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for _ in 0..documents {
        let fresh = all.is_empty() || random.chance(0.2);
        let mut text = if fresh {
            let count = random.below(longest + 1);
            words(random, count, 50_000)
        } else {
            random.pick(&all).clone()
        };
        if !fresh {
            let rate = *random.pick(&[0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3]);
            edit(random, &mut text, rate);
        }
        all.push(text);
    }
    all.iter().enumerate().map(|(number, words)| (format!("d{number}"), words.join(" "))).collect()
}

/// The same documents as running text: an article before every other word, roughly.
pub fn with_articles(documents: Vec<Text>) -> Vec<Text> {
    let spoken = |text: String| {
        let words = text.split_whitespace().map(|word| match word.as_bytes().last() {
            Some(b'0' | b'2' | b'4' | b'6' | b'8') => format!("the {word}"),
            _ => word.to_string(),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    documents.into_iter().map(|(id, text)| (id, spoken(text))).collect()
}

/// Replaces, removes and adds words, each with a third of the rate; sometimes moves a block to the front.
fn edit(random: &mut Random, text: &mut Vec<String>, rate: f64) {
    let mut edited = Vec::with_capacity(text.len());
    for word in text.drain(..) {
        match random.chance(rate).then(|| random.below(3)) {
            None => edited.push(word),
            Some(0) => edited.extend(words(random, 1, 50_000)),
            Some(1) => {}
            _ => edited.extend([word, format!("w{}", random.below(50_000))]),
        }
    }
    if rate > 0.0 && edited.len() > 2 && random.chance(0.1) {
        let middle = 1 + random.below(edited.len() - 1);
        edited.rotate_left(middle);
    }
    *text = edited;
}

/// Two texts whose sets of `width`-shingles have exactly `shared` elements in common and `more` further ones in the second.
/// Their words occur in no text of another `name`.
pub fn pair_with(name: &str, width: usize, shared: usize, more: usize) -> (String, String) {
    let all: Vec<String> = (0..shared + more + width - 1).map(|i| format!("{name}x{i}")).collect();
    (all[..shared + width - 1].join(" "), all.join(" "))
}
