//! Numbers and times that may be very large, as people read them.

use super::terminal::count;

/// A whole number with commas; a large one as a power of ten.
pub fn whole(number: f64) -> String {
    if number < 1e15 { count(number as u64) } else { format!("{number:.2e}") }
}

/// A time in the unit that suits it.
pub fn time(nanoseconds: f64) -> String {
    const UNITS: [(f64, &str); 8] = [
        (365.25 * 86_400e9, "years"),
        (86_400e9, "days"),
        (3600e9, "h"),
        (60e9, "min"),
        (1e9, "s"),
        (1e6, "ms"),
        (1e3, "µs"),
        (1.0, "ns"),
    ];
    let (size, unit) = UNITS.into_iter().find(|(size, _)| nanoseconds >= *size).unwrap_or((1.0, "ns"));
    match nanoseconds / size {
        number if number < 10.0 && unit != "ns" => format!("{number:.1} {unit}"),
        number if number < 1e5 => format!("{} {unit}", count(number.round() as u64)),
        number => format!("{number:.0e} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_short() {
        let times = [0.4, 100.0, 1500.0, 2.5e6, 3e9, 7.2e12, 4.999e14, 1e17, 1e30].map(time);
        assert_eq!(
            times,
            ["0 ns", "100 ns", "1.5 µs", "2.5 ms", "3.0 s", "2.0 h", "5.8 days", "3.2 years", "3e13 years"]
        );
        assert_eq!([499_999_500_000.0, 5e23].map(whole), ["499,999,500,000", "5.00e23"]);
    }
}
