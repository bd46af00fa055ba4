//! Builders of the families: typed setters for what the command line takes as text.
//!
//! A builder only fills [`Settings`](super::parameter::Settings). [`Entry::factory`](super::Entry::factory) checks and
//! resolves them like settings from the command line, so both have the same ranges, the same messages and the same
//! results.

use super::parameter::{Parameter, Settings};
use crate::lexicon::Lexicon;
use crate::similarity::Threshold;
use std::sync::Arc;

/// An exact number: a decimal or a fraction. An `f64` becomes the shortest decimal that reads back as the same `f64`,
/// so `0.8` is four fifths, as on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(pub(super) String);

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        // The shortest digits that are read back as the same number, never with an exponent.
        Number(number.to_string())
    }
}

impl From<&str> for Number {
    fn from(typed: &str) -> Self {
        Number(typed.into())
    }
}

impl From<String> for Number {
    fn from(typed: String) -> Self {
        Number(typed)
    }
}

impl From<Threshold> for Number {
    fn from(threshold: Threshold) -> Self {
        let [numerator, denominator] = threshold.fraction();
        Number(format!("{numerator}/{denominator}"))
    }
}

/// What a setter sets a parameter to.
pub(super) enum Setting {
    /// The text that would be typed.
    Text(String),
    /// The content of the file that would be typed.
    Lexicon(Arc<Lexicon>),
    /// The content of the files that would be typed.
    LeftOut(Vec<Arc<Lexicon>>),
}

impl From<&str> for Setting {
    fn from(text: &str) -> Self {
        Setting::Text(text.into())
    }
}

impl From<String> for Setting {
    fn from(text: String) -> Self {
        Setting::Text(text)
    }
}

impl From<Arc<Lexicon>> for Setting {
    fn from(lexicon: Arc<Lexicon>) -> Self {
        Setting::Lexicon(lexicon)
    }
}

impl From<Vec<Arc<Lexicon>>> for Setting {
    fn from(lists: Vec<Arc<Lexicon>>) -> Self {
        Setting::LeftOut(lists)
    }
}

impl Setting {
    pub fn put(self, parameter: &Parameter, settings: &mut Settings) {
        match self {
            Setting::Text(text) => settings.set(parameter.name, text),
            Setting::Lexicon(lexicon) => settings.set_lexicon(lexicon),
            Setting::LeftOut(lists) => settings.set_left_out(lists),
        }
    }
}

/// Declares the parameters of a family, in the order of the help, and the builder that has a setter for each: its documentation, its
/// name, its arguments, the parameter, and the [`Setting`] that it is set to.
macro_rules! parameters {
    (
        $(#[$builder:meta])*
        builder;
        $($(#[$setter:meta])* $name:ident($($argument:ident: $type:ty),*) $parameter:ident = $text:expr;)*
    ) => {
        /// The parameters, in the order of the help.
        pub const PARAMETERS: &[&crate::algorithm::parameter::Parameter] = &[$(&$parameter),*];

        $(#[$builder])*
        #[derive(Clone, Debug, Default)]
        #[must_use = "a builder does nothing until it is built"]
        pub struct Builder {
            settings: crate::algorithm::parameter::Settings,
        }

        impl Builder {
            $(
                $(#[$setter])*
                pub fn $name(mut self, $($argument: $type),*) -> Self {
                    crate::algorithm::builder::Setting::from($text).put(&$parameter, &mut self.settings);
                    self
                }
            )*

            /// Returns the factory of the algorithm, which a scan takes.
            ///
            /// # Errors
            /// A value out of range, or values that contradict each other: see [`Entry::factory`](crate::algorithm::Entry::factory).
            pub fn build(self) -> Result<crate::algorithm::TableFactory, crate::error::Error> {
                const { &ENTRY }.factory(self.settings)
            }

            /// The setters and their parameters.
            #[cfg(test)]
            const SETTERS: &[(&str, &crate::algorithm::parameter::Parameter)] = &[$((stringify!($name), &$parameter)),*];
        }

        #[cfg(test)]
        #[test]
        fn the_builder_is_that_of_the_table() {
            crate::algorithm::builder::tests::check_builder(&ENTRY, Builder::SETTERS, Builder::default().build());
        }

        /// Returns what was set, as text; for example for a [preset](crate::algorithm::presets::Preset).
        impl From<Builder> for crate::algorithm::parameter::Settings {
            fn from(builder: Builder) -> Self {
                builder.settings
            }
        }
    };
}
pub(super) use parameters;

/// Numbers joined by `+`.
pub(super) fn sum(parts: impl IntoIterator<Item = usize>) -> String {
    parts.into_iter().map(|part| part.to_string()).collect::<Vec<_>>().join("+")
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::minhash::MinHash;
    use super::super::parameter::{LEXICON, LEXICON_WITHOUT};
    use super::super::simhash::SimHash;
    use super::super::spotsigs::SpotSigs;
    use super::super::{ALGORITHMS, AlgorithmFactory, Entry, TableFactory, same_identity};
    use super::*;
    use crate::error::Error;

    /// Checks that every parameter of a family has a setter of its name, that it is in the table, and that a builder without settings
    /// has the defaults of the table. The macro makes a test of it for each family.
    pub fn check_builder(entry: &Entry, setters: &[(&str, &Parameter)], built: Result<TableFactory, Error>) {
        let parameters: Vec<_> = entry.parameters.iter().map(|parameter| parameter.name).collect();
        let set: Vec<_> = setters.iter().map(|(_, parameter)| parameter.name).collect();
        assert_eq!(parameters, set, "{}", entry.name);
        for (setter, parameter) in setters {
            assert_eq!(setter.replace('_', "-"), parameter.name, "{}", entry.name);
        }
        let typed = Entry::by_name(entry.name).expect("ALGORITHMS has it").factory(Settings::default()).unwrap();
        assert_eq!(built.unwrap().plan(300, 1000).unwrap(), typed.plan(300, 1000).unwrap(), "{}", entry.name);
    }

    /// A lexicon for builders.
    pub fn lexicon() -> Arc<Lexicon> {
        Lexicon::new(2, [(7, 1)]).into()
    }

    /// Checks that a builder with every setter called, with [`lexicon`] for each lexicon and two of them to be left out, has these settings
    /// besides, and all parameters of the family among them.
    pub fn check_setters(built: impl Into<Settings>, entry: &Entry, typed: &[(&str, &str)]) {
        let built = built.into();
        let mut expected = Settings::from_pairs(typed.iter().copied());
        let uses_lexicon = entry.uses(LEXICON.name);
        if uses_lexicon {
            expected.set_lexicon(lexicon());
        }
        let uses_lists = entry.uses(LEXICON_WITHOUT.name);
        if uses_lists {
            expected.set_left_out(vec![lexicon(), lexicon()]);
        }
        assert_eq!(built, expected, "{}", entry.name);
        entry.check(&built).unwrap();
        let set = typed.len() + usize::from(uses_lexicon) + usize::from(uses_lists);
        assert_eq!(set, entry.parameters.len(), "{}: not every parameter is set here", entry.name);
    }

    #[test]
    fn a_number_is_the_decimal_that_it_is_written_as() {
        let threshold = |number: Number| number.0.parse::<Threshold>().ok();
        let four_fifths = Threshold::new(4, 5);
        assert_eq!(threshold(0.8.into()), four_fifths);
        assert_eq!(threshold("0.80".into()), four_fifths);
        assert_eq!(threshold("4/5".to_string().into()), four_fifths);
        assert_eq!(threshold(Threshold::new(4, 5).unwrap().into()), four_fifths);
        assert_eq!(threshold(1.0.into()), Threshold::new(1, 1));
        assert_eq!(threshold(0.000_000_000_001.into()), Threshold::new(1, 1_000_000_000_000));
        // 0.3 as typed, which the sum of the two doubles is not.
        assert_eq!(threshold(0.3.into()), Threshold::new(3, 10));
        assert_eq!(threshold((0.1 + 0.2).into()), None);
        for bad in [0.0, -0.8, 1.5, f64::NAN, f64::INFINITY, 2.0 / 3.0, 1e-13] {
            assert_eq!(threshold(bad.into()), None, "{bad}");
        }
    }

    #[test]
    fn what_is_built_is_checked_and_resolved_as_what_is_typed() {
        let typed = |pairs: &[(&str, &str)]| ALGORITHMS[0].factory(Settings::from_pairs(pairs.iter().copied()));
        let [built, typed_too] = [
            MinHash::builder().threshold(0.9).recall(0.999).shingle(3).build(),
            typed(&[("threshold", "0.9"), ("recall", "0.999"), ("shingle", "3")]),
        ]
        .map(|factory| factory.unwrap());
        assert_eq!(built.plan(300, 1000).unwrap(), typed_too.plan(300, 1000).unwrap());
        assert!(same_identity(&*built.prepare(0).unwrap().algorithm, &*typed_too.prepare(0).unwrap().algorithm));
        let refused = [
            (MinHash::builder().threshold(1.5), typed(&[("threshold", "1.5")])),
            (
                MinHash::builder().bands(9).rows(13).recall(0.9),
                typed(&[("bands", "9"), ("rows", "13"), ("recall", "0.9")]),
            ),
            (MinHash::builder().supershingles(33, 1), typed(&[("supershingles", "33x1")])),
        ];
        for (builder, typed) in refused {
            let messages = [builder.build(), typed].map(|factory| factory.err().unwrap().to_string());
            assert_eq!(messages[0], messages[1]);
        }
        assert!(SimHash::builder().grams([]).build().is_err());
        let message = SimHash::builder().lexicon(lexicon()).build().err().unwrap().to_string();
        assert_eq!(message, "a lexicon has no effect on simhash with these settings");
        assert!(SpotSigs::builder().antecedents("xx").build().is_err());
    }
}
