//! Exact bounds for statistical claims, so that a test of one fails by chance less than once in a million changes of
//! the hashes. With the current hashes, seeds are fixed and the tests are deterministic.

/// A claim whose data would be this improbable if it were true is taken to be false.
pub const IMPROBABLE: f64 = 1e-9;

/// So many standard deviations away is less probable than one in a million for a sum of many parts.
pub const SIGMAS: f64 = 5.0;

/// `ln n!`
fn ln_factorial(n: usize) -> f64 {
    if n < 20 {
        return (1..=n).map(|i| (i as f64).ln()).sum();
    }
    // Stirling's series; the first term left out is below 1e-12.
    let x = n as f64;
    x * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI * x).ln() + 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3))
        + 1.0 / (1260.0 * x.powi(5))
}

/// Probability of exactly `successes` in `trials` trials that succeed with probability `p`.
pub fn binomial(trials: usize, p: f64, successes: usize) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return f64::from(u8::from(successes == if p <= 0.0 { 0 } else { trials }));
    }
    let ways = ln_factorial(trials) - ln_factorial(successes) - ln_factorial(trials - successes);
    (ways + successes as f64 * p.ln() + (trials - successes) as f64 * (-p).ln_1p()).exp()
}

/// Returns the probability of at most this many successes.
pub fn binomial_at_most(trials: usize, p: f64, successes: usize) -> f64 {
    (0..=successes).map(|i| binomial(trials, p, i)).sum::<f64>().min(1.0)
}

/// Returns the probability of at least this many successes.
pub fn binomial_at_least(trials: usize, p: f64, successes: usize) -> f64 {
    (successes..=trials).map(|i| binomial(trials, p, i)).sum::<f64>().min(1.0)
}

/// Above this a sum of `degrees` squared standard normals comes with less probability than [`IMPROBABLE`] (Wilson & Hilferty
/// 1931, six standard deviations).
pub fn chi_squared_limit(degrees: usize) -> f64 {
    let part = 2.0 / (9.0 * degrees as f64);
    degrees as f64 * (1.0 - part + 6.0 * part.sqrt()).powi(3)
}

/// The mean, and the standard deviation of one value.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt())
}

#[test]
fn tails_of_known_distributions() {
    let near = |got: f64, expected: f64| assert!((got / expected - 1.0).abs() < 1e-9, "{got} is not {expected}");
    near(binomial(4, 0.5, 2), 6.0 / 16.0);
    near(binomial(60, 0.5, 30), 118264581564861424.0 / 2f64.powi(60));
    near(binomial_at_most(10, 0.1, 1), 0.9f64.powi(10) + 0.9f64.powi(9));
    near(binomial_at_least(10, 0.1, 9), 0.1f64.powi(10) + 9.0 * 0.1f64.powi(9));
    near(binomial_at_most(1000, 0.3, 1000), 1.0);
    assert_eq!((binomial(5, 0.0, 0), binomial(5, 1.0, 5), binomial(5, 1.0, 4)), (1.0, 1.0, 0.0));
    // Integrated numerically: one in a thousand million lies above 209.32 at 100 degrees, and above 60.66 at 9.
    assert!((chi_squared_limit(100) / 209.32 - 1.0).abs() < 0.01);
    assert!((chi_squared_limit(9) / 60.66 - 1.0).abs() < 0.05);
}
