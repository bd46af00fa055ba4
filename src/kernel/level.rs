//! The vector instructions in use, as a token that only detection creates.

use std::sync::OnceLock;

/// The vector instructions that a kernel uses. Every kernel takes a level, and a level proves that the processor has
/// the instructions: only detection creates levels, so safe code cannot call a kernel that the processor lacks.
///
/// ```
/// use neardups::kernel::Level;
///
/// assert!(Level::available().eq(Level::NAMES.iter().filter_map(|name| Level::by_name(name).ok())));
/// assert_eq!(Level::available().next(), Some(Level::plain()));
/// ```
///
/// Nothing else creates a level:
///
/// ```compile_fail,E0599
/// let level = neardups::kernel::Level::Avx512;
/// ```
///
/// ```compile_fail,E0423
/// let level = neardups::kernel::Level(2);
/// ```
///
/// ```compile_fail,E0603
/// let set = neardups::kernel::level::Set::Avx512;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(Set);

/// The instruction set of a level. It proves nothing by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Set {
    /// What every processor of the architecture has.
    Plain,
    /// AVX2, with BMI1, BMI2 and POPCNT.
    Avx2,
    /// AVX-512 F, BW, DQ, VL and VBMI, and the set of `Avx2`.
    Avx512,
}

/// Every set, the lowest first.
const SETS: [Set; 3] = [Set::Plain, Set::Avx2, Set::Avx512];

impl Set {
    fn name(self) -> &'static str {
        Level::NAMES[self as usize]
    }

    #[cfg(target_arch = "x86_64")]
    fn is_available(self) -> bool {
        let avx2 = || {
            is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
        };
        match self {
            Set::Plain => true,
            Set::Avx2 => avx2(),
            Set::Avx512 => {
                avx2()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_available(self) -> bool {
        self == Set::Plain
    }
}

impl Level {
    /// The names of all levels, available or not, the lowest first.
    pub const NAMES: [&'static str; 3] = ["plain", "avx2", "avx512"];

    /// The environment variable that names the level to use.
    pub const VARIABLE: &'static str = "NEARDUPS_KERNEL";

    /// What every processor of the architecture has.
    pub const fn plain() -> Level {
        Level(Set::Plain)
    }

    /// Returns the levels that this processor has, the lowest first.
    pub fn available() -> impl Iterator<Item = Level> {
        SETS.into_iter().filter(|set| set.is_available()).map(Level)
    }

    /// Returns the highest level that this processor has.
    pub fn detected() -> Level {
        Level::available().last().unwrap_or(Level::plain())
    }

    /// Returns the level of a name, if this processor has it.
    ///
    /// # Errors The level is unknown, or the processor lacks it; the error names the levels that it has.
    pub fn by_name(name: &str) -> Result<Level, String> {
        let available = || Level::available().map(Level::name).collect::<Vec<_>>().join(", ");
        match SETS.into_iter().find(|set| set.name() == name) {
            Some(set) if set.is_available() => Ok(Level(set)),
            Some(_) => Err(format!("this processor lacks {name}; it has {}", available())),
            None => Err(format!("unknown kernel level '{name}'; this processor has {}", available())),
        }
    }

    /// Returns the name of the level.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns the level that the environment requests, if any.
    ///
    /// # Errors Those of [`Level::by_name`]. A program may refuse to run; [`Level::current`] ignores an unavailable
    /// level.
    pub fn requested() -> Result<Option<Level>, String> {
        let name = std::env::var_os(Level::VARIABLE);
        name.map(|name| Level::by_name(&name.to_string_lossy())).transpose()
    }

    /// Returns the level in use: the one that the environment requests if this processor has it, otherwise the highest.
    #[inline]
    pub fn current() -> Level {
        static CURRENT: OnceLock<Level> = OnceLock::new();
        *CURRENT.get_or_init(|| Level::requested().ok().flatten().unwrap_or_else(Level::detected))
    }

    /// Whether it looks up many entries of a table at once in less time than one after the other.
    #[inline]
    pub(crate) fn looks_up_at_once(self) -> bool {
        self.0 == Set::Avx512
    }

    /// The highest set that the processor has.
    #[inline]
    pub(super) fn set(self) -> Set {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_processor_has_can_be_named() {
        for set in SETS {
            match set.is_available() {
                true => assert_eq!(Level::by_name(set.name()), Ok(Level(set))),
                false => assert!(Level::by_name(set.name()).unwrap_err().contains("lacks")),
            }
        }
        for name in ["", "AVX2", "avx", "neon"] {
            let error = Level::by_name(name).unwrap_err();
            assert!(error.starts_with(&format!("unknown kernel level '{name}'; this processor has plain")), "{error}");
        }
        assert!(Level::available().is_sorted());
        assert_eq!(Some(Level::detected()), Level::available().last());
    }

    /// The kernels' tests run every available level. Which these are is printed even if the tests pass: what is written to the
    /// stream itself is not captured.
    #[test]
    fn the_levels_that_tests_cover_are_printed() {
        use std::io::Write;
        let covered: Vec<_> = Level::available().map(Level::name).collect();
        let lacking: Vec<_> = Level::NAMES.into_iter().filter(|name| !covered.contains(name)).collect();
        let lacking = if lacking.is_empty() { "none".to_string() } else { lacking.join(", ") };
        let current = Level::current().name();
        let line = format!(
            "\nkernel levels: tested {}; not tested, because this processor lacks them: {lacking}; all else ran at {current}\n",
            covered.join(", ")
        );
        std::io::stderr().write_all(line.as_bytes()).expect("standard error is open");
    }
}
