//! The share of planted copies that [`neardups::check::find`] finds, by their length and the share of edited words.
//!
//! ```text
//! cargo bench --bench check_recall
//! ```
//!
//! Prints two tables in Markdown: copies anywhere, which are found as passages, and copies that are a block in both
//! documents, which are found as paragraphs too. A word is edited by putting another in its place, leaving it out, or
//! putting one more before it. Words are as frequent as in natural text, and there are 400 others around each copy.

#[path = "../tests/support/planted.rs"]
#[allow(dead_code)]
mod planted;
#[path = "../tests/support/random.rs"]
#[allow(dead_code)]
mod random;

use random::Random;

const ROUNDS: usize = 500;
const RATES: [f64; 5] = [0.0, 0.05, 0.1, 0.15, 0.2];

fn main() {
    for (blocks, what) in [(false, "anywhere"), (true, "a block")] {
        println!("| words, {what} | 0 % edited | 5 % | 10 % | 15 % | 20 % |\n|---|---|---|---|---|---|");
        for length in [15, 20, 30, 40, 45, 50, 60, 100, 200, 400] {
            let shares = RATES.map(|rate| {
                format!("{:.3}", planted::recall(&mut Random::new(length as u64), length, rate, blocks, ROUNDS))
            });
            println!("| {length} | {} |", shares.join(" | "));
        }
        println!();
    }
}
