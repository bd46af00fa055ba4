//! Choosing `k` of `n`.

/// Returns all ways to choose `k` of `0..n`, ascending: 012, 013, … (the order of Manku's tables).
///
/// # Panics
/// If `k` is greater than `n`.
pub fn combinations(n: usize, k: usize) -> Vec<Vec<usize>> {
    assert!(k <= n, "{k} of {n} cannot be chosen");
    let mut all = Vec::new();
    let mut chosen: Vec<usize> = (0..k).collect();
    loop {
        all.push(chosen.clone());
        // The last position that can still move up.
        let Some(i) = (0..k).rev().find(|&i| chosen[i] < n - k + i) else {
            return all;
        };
        chosen[i] += 1;
        for j in i + 1..k {
            chosen[j] = chosen[j - 1] + 1;
        }
    }
}

/// Returns `n` over `k`, as a double (exact below 2⁵³); 0 if `k` is greater than `n`.
pub fn binomial(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |c, i| c * n.saturating_sub(i) as f64 / (i + 1) as f64)
}
