//! Inner loops that gain from vector instructions, each beside a plain version that tests compare it with.
//!
//! The only unsafe code of the crate is here. It has three forms, and each place says which: calling a function that was
//! compiled for a CPU feature, which is sound where the feature is there; loading vectors through a pointer, which is
//! sound within a slice; and asking for memory ahead of time, which is sound anywhere.
//!
//! The level is found out once, when the first loop asks. `NEARDUPS_KERNEL` (`plain`, `avx2`, `avx512`) lowers it; no
//! result depends on it. On other processors than x86-64 the plain versions are all there is, and the compiler makes what
//! vector instructions it can of them (on AArch64, NEON).

pub(crate) mod counts;
pub(crate) mod fetch;
pub(crate) mod json;
pub(crate) mod near;
pub(crate) mod sketch;
pub(crate) mod words;

use std::sync::OnceLock;

/// Which vector instructions are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every processor of the architecture has.
    Plain,
    /// AVX2, with BMI1, BMI2 and POPCNT.
    Avx2,
    /// AVX-512 F, BW, DQ, VL and VBMI, and what AVX2 stands for.
    Avx512,
}

impl Level {
    /// Every level, the lowest first, with its name.
    pub const ALL: [(Level, &'static str); 3] =
        [(Level::Plain, "plain"), (Level::Avx2, "avx2"), (Level::Avx512, "avx512")];

    /// The levels that this processor has, the lowest first.
    pub fn available() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().map(|(level, _)| level).filter(|level| level.is_available())
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
            Level::Plain => true,
            Level::Avx2 => avx2(),
            Level::Avx512 => {
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
        self == Level::Plain
    }

    /// The level in use: the highest available, unless the environment asks for a lower one.
    #[inline]
    pub fn current() -> Level {
        static CURRENT: OnceLock<Level> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let highest = Level::available().last().unwrap_or(Level::Plain);
            let asked = std::env::var("NEARDUPS_KERNEL").ok();
            let asked = Level::ALL.into_iter().find(|(_, name)| Some(*name) == asked.as_deref());
            asked.map_or(highest, |(level, _)| level.min(highest))
        })
    }
}
