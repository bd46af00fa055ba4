//! The longest common subsequence of two short stretches of words, with the words that it keeps.

use crate::passages::Run;

/// The most words of the shorter stretch: lengths of subsequences fit 16 bits.
pub(super) const LONGEST: usize = u16::MAX as usize;

/// The table of lengths, whose memory is used again.
#[derive(Default)]
pub(super) struct Lcs {
    longest: Vec<u16>,
}

impl Lcs {
    /// Appends the runs of a longest common subsequence, in their order. Of several the one that keeps words early.
    ///
    /// Cost: time and memory are the product of the lengths, so callers bound them: at most [`LONGEST`].
    pub fn common(&mut self, a: &[u64], b: &[u64], runs: &mut Vec<Run>) {
        let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
        push(runs, Run { a: 0, b: 0, tokens: head });
        self.middle(&a[head..a.len() - tail], &b[head..b.len() - tail], head, runs);
        push(runs, Run { a: a.len() - tail, b: b.len() - tail, tokens: tail });
    }

    /// [`common`](Self::common) of what is between equal ends, `before` words from the beginning.
    fn middle(&mut self, a: &[u64], b: &[u64], before: usize, runs: &mut Vec<Run>) {
        if a.is_empty() || b.is_empty() {
            return;
        }
        // longest[i][j]: of a[i..] and b[j..].
        let width = b.len() + 1;
        debug_assert!(a.len().min(b.len()) <= LONGEST, "lengths of {} and {} words", a.len(), b.len());
        self.longest.clear();
        self.longest.resize((a.len() + 1) * width, 0);
        let longest = &mut self.longest[..];
        for i in (0..a.len()).rev() {
            for j in (0..b.len()).rev() {
                longest[i * width + j] = if a[i] == b[j] {
                    longest[(i + 1) * width + j + 1] + 1
                } else {
                    longest[(i + 1) * width + j].max(longest[i * width + j + 1])
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            if a[i] == b[j] {
                push(runs, Run { a: before + i, b: before + j, tokens: 1 });
                (i, j) = (i + 1, j + 1);
            } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
    }
}

/// Appends a run, or makes the last one longer if it goes on.
pub(super) fn push(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        _ if run.tokens == 0 => {}
        Some(last) if (last.a + last.tokens, last.b + last.tokens) == (run.a, run.b) => last.tokens += run.tokens,
        _ => runs.push(run),
    }
}
