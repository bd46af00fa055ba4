//! Presets: settings by the name of a paper or a project that used them, for `--preset`.
//!
//! A preset consists of a family of the table, settings, and sometimes a tokenizer; all of it could be typed as flags.
//! Other differences from the original (other tokenizers, no verification, further stages) are not imitated;
//! [`Preset::differs`] lists them.

use super::parameter::Settings;
use super::{Entry, Provenance, TableFactory};
use crate::error::Error;
use crate::tokenizer;

/// One line of the table of presets.
#[non_exhaustive]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One line for help.
    pub summary: &'static str,
    /// The family, by its name in the table of algorithms.
    pub algorithm: &'static str,
    /// The tokenizer, if it is not the default.
    pub tokenizer: Option<&'static str>,
    /// Parameters and values, as they would be typed.
    pub settings: &'static [(&'static str, &'static str)],
    /// The source of the settings.
    pub source: &'static str,
    /// How a scan with the settings differs from the original; one sentence each.
    pub differs: &'static [&'static str],
    /// Advice on when to use it.
    pub advice: &'static str,
}

const EVERY_CANDIDATE: &str =
    "there every candidate counts as a duplicate; here each is verified by its exact similarity";
const TOKENS: &str = "tokens and normalisation are ours, so that features are not the same to the letter";
const CURVE: &str = "A pair at the threshold is found with the probability that the curve gives; `recall 0.99` instead of its bands \
                     and rows finds nearly all of them.";
const TRAINING: &str = "Made for training data, where some duplicates do little harm. For search, law or news give `recall 0.99` or \
                        `exact` in addition, which replace its bands and rows.";

/// Every preset, by age.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "altavista",
        summary: "6 supershingles of 14 minima, 2 equal; how AltaVista found near-copies on the web",
        algorithm: "minhash",
        tokenizer: None,
        settings: &[("supershingles", "6x14"), ("min-supershingles", "2"), ("shingle", "8"), ("sketch", "classic")],
        source: "Broder, Glassman, Manasse & Zweig, WWW 1997; Broder, CPM 2000; as run by Henzinger, SIGIR 2006",
        differs: &[
            "shingles are of 8 tokens, which duometer takes after Henzinger; 10 is commonly given for AltaVista, without a source \
             that we could check",
            "shingles are hashed by folded products of 64 bits, not by Rabin's fingerprints",
            TOKENS,
        ],
        advice: "A detector of pairs at 0.91 and above, whatever threshold you have in mind: .0258 of the pairs at 0.8 are reported. \
                 Henzinger found 38 of 100 reported pairs right, fewer on pages of one site.",
    },
    Preset {
        name: "henzinger",
        summary: "384 random projections, 372 equal; the second algorithm of Henzinger's comparison",
        algorithm: "projection",
        tokenizer: None,
        settings: &[("projection-bits", "384"), ("agree", "372")],
        source: "Henzinger, SIGIR 2006, algorithm C, after Charikar, STOC 2002",
        differs: &["all pairs with 372 equal bits are found; there the search was sure of 373", TOKENS],
        advice: "Henzinger found 50 of 100 reported pairs right, and 79 of 100 with a combination of this and altavista.",
    },
    Preset {
        name: "google2007",
        summary: "SimHash of 64 bits, at most 3 different; Google's crawler",
        algorithm: "simhash",
        tokenizer: None,
        settings: &[("bits", "64"), ("distance", "3")],
        source: "Manku, Jain & Das Sarma, WWW 2007",
        differs: &["features are distinct words and pairs of words, each weighing 1; there they have weights", TOKENS],
        advice: "For documents of 300 words and more with tiny edits. Of pairs that differ in 2 % of their words it finds about a quarter, \
                 `distance 6` three quarters.",
    },
    Preset {
        name: "spotsigs-reference",
        summary: "SpotSigs as its reference program is set: chains of 1 word, 0.85",
        algorithm: "spotsigs",
        tokenizer: None,
        settings: &[("threshold", "0.85"), ("spot-chain", "1"), ("spot-distance", "1"), ("min-spots", "4")],
        source: "Theobald, Siddharth & Paepcke, SIGIR 2008; their program as kept at luismmontielg/spotsigs",
        differs: &[
            "every pair at the threshold is found; there errors in the search lose some",
            "a spot includes its antecedent; there it is the chain alone",
            "antecedents are English ones; there the list also has a few French and Spanish articles",
        ],
        advice: "The default of `algo spotsigs`, chains of 2 words at 0.5, follows the examples of the paper instead.",
    },
    Preset {
        name: "imatch-reference",
        summary: "plain I-Match with terms of idf 0.2 to 0.8; the baseline of the SpotSigs program",
        algorithm: "imatch",
        tokenizer: None,
        settings: &[("idf-low", "0.2"), ("idf-high", "0.8"), ("lexicons", "0"), ("min-terms", "4"), ("min-share", "0")],
        source: "Chowdhury, Frieder, Grossman & McCabe, TOIS 2002; the band and the minimum of luismmontielg/spotsigs",
        differs: &[
            "terms are joined by a separator; there by nothing, so that other terms can make the same digest",
            "terms of a single document never count; below 1,000 documents the band is judged as if there were 1,000",
        ],
        advice: "One term that counts and differs loses a pair; `lexicons 10` finds nearly all such pairs.",
    },
    Preset {
        name: "gopher",
        summary: "word 13-grams at 0.8; MassiveText",
        algorithm: "minhash",
        tokenizer: None,
        settings: &[("threshold", "0.8"), ("shingle", "13")],
        source: "Rae et al. 2021 (Gopher), A.1.1",
        differs: &["the paper gives no bands and rows: here they follow from `recall`", TOKENS],
        advice: "Runs of 13 words are strict: a document needs 129 words for one changed word to leave it at 0.8.",
    },
    Preset {
        name: "lee",
        summary: "450 bands of 20 over 5-grams between white space, 0.8; Deduplicating Training Data",
        algorithm: "minhash",
        tokenizer: Some("whitespace"),
        settings: &[("threshold", "0.8"), ("shingle", "5"), ("bands", "450"), ("rows", "20")],
        source: "Lee et al., ACL 2022, 4.2 and appendix A (NearDup)",
        differs: &[
            "the paper also asks for an edit similarity above 0.8, and for a similarity above 0.8, not at it",
            "its other method, ExactSubstr, is not here",
        ],
        advice: "9,000 hashes a document; 16 bands of 6, the default at 0.8, find nearly as many pairs with 96 (at least .9923 of those \
                 at 0.8, not .9946) and compare more unrelated ones.",
    },
    Preset {
        name: "refinedweb",
        summary: "450 bands of 20 over 5-grams between white space, 0.8; RefinedWeb",
        algorithm: "minhash",
        tokenizer: Some("whitespace"),
        settings: &[("threshold", "0.8"), ("shingle", "5"), ("bands", "450"), ("rows", "20")],
        source: "Penedo et al. 2023 (RefinedWeb), appendix G.3.1, after Lee et al.",
        differs: &[
            "its section 3.3 says 20 buckets of 450 hashes, which would find next to nothing below 0.98; its appendix and its probabilities \
             say 450 of 20",
            "there each of 100 parts of the crawl is deduplicated by itself",
            "tokens are the unchanged runs of characters between white space",
        ],
        advice: TRAINING,
    },
    Preset {
        name: "roots",
        summary: "SimHash of word 6-grams, at most 4 bits different; the OSCAR part of ROOTS",
        algorithm: "simhash",
        tokenizer: None,
        settings: &[("bits", "64"), ("grams", "6"), ("distance", "4")],
        source: "Laurençon et al., NeurIPS 2022 (ROOTS)",
        differs: &[
            "there long documents were judged by common substrings too, because of wrong pairs among them",
            TOKENS,
        ],
        advice: "With runs of 6 words for features one changed word moves six of them; few pairs with more than tiny edits are found.",
    },
    Preset {
        name: "the-stack",
        summary: "code 5-grams at 0.7, 25 bands of 10; The Stack",
        algorithm: "minhash",
        tokenizer: Some("code"),
        settings: &[("threshold", "0.7"), ("shingle", "5"), ("bands", "25"), ("rows", "10")],
        source: "BigCode: Large-scale Near-deduplication Behind BigCode, 2023 (256 permutations, 0.7, 5-grams)",
        differs: &[
            "25 × 10 is what the optimiser of datasketch gives for 256 and 0.7",
            "there tokens are split at characters that are not letters or digits, and files with fewer than 10 are left out; here punctuation \
             marks are tokens",
            EVERY_CANDIDATE,
        ],
        advice: "BigCode found models best when whole clusters went, false positives included.",
    },
    Preset {
        name: "slimpajama",
        summary: "word 13-grams at 0.8, 9 bands of 13; SlimPajama",
        algorithm: "minhash",
        tokenizer: None,
        settings: &[("threshold", "0.8"), ("shingle", "13"), ("bands", "9"), ("rows", "13")],
        source: "Cerebras 2023 (SlimPajama): MinHashLSH of datasketch, 128 permutations, 0.8, lower-case 13-grams",
        differs: &[
            "9 × 13 is what the optimiser of datasketch gives for 128 and 0.8",
            "there punctuation is removed inside words too",
            EVERY_CANDIDATE,
        ],
        advice: CURVE,
    },
    Preset {
        name: "redpajama2-0.7",
        summary: "word 13-grams at 0.7, 14 bands of 9; RedPajama-V2",
        algorithm: "minhash",
        tokenizer: None,
        settings: &[("threshold", "0.7"), ("shingle", "13"), ("bands", "14"), ("rows", "9")],
        source: REDPAJAMA,
        differs: &[
            "14 × 9 is what the optimiser of datasketch, which the code has a copy of, gives for 128 and 0.7",
            SHORT_LEFT_OUT,
            EVERY_CANDIDATE,
        ],
        advice: CURVE,
    },
    Preset {
        name: "redpajama2-0.8",
        summary: "word 13-grams at 0.8, 9 bands of 13; RedPajama-V2",
        algorithm: "minhash",
        tokenizer: None,
        settings: &[("threshold", "0.8"), ("shingle", "13"), ("bands", "9"), ("rows", "13")],
        source: REDPAJAMA,
        differs: &[
            "9 × 13 is what the optimiser of datasketch, which the code has a copy of, gives for 128 and 0.8",
            SHORT_LEFT_OUT,
            EVERY_CANDIDATE,
        ],
        advice: CURVE,
    },
    Preset {
        name: "redpajama2-0.9",
        summary: "word 13-grams at 0.9, 5 bands of 25; RedPajama-V2",
        algorithm: "minhash",
        tokenizer: None,
        settings: &[("threshold", "0.9"), ("shingle", "13"), ("bands", "5"), ("rows", "25")],
        source: REDPAJAMA,
        differs: &[
            "5 × 25 is what the optimiser of datasketch, which the code has a copy of, gives for 128 and 0.9",
            SHORT_LEFT_OUT,
            EVERY_CANDIDATE,
        ],
        advice: CURVE,
    },
    Preset {
        name: "fineweb",
        summary: "word 5-grams at 0.75, 14 bands of 8; FineWeb and datatrove",
        algorithm: "minhash",
        tokenizer: None,
        settings: &[("threshold", "0.75"), ("shingle", "5"), ("bands", "14"), ("rows", "8")],
        source: "Penedo et al. 2024 (FineWeb): 112 hashes in 14 buckets of 8, for documents that are at least 75 % similar",
        differs: &[
            EVERY_CANDIDATE,
            "there each snapshot of the crawl is deduplicated by itself, which trained better models than all of them together",
            TOKENS,
        ],
        advice: TRAINING,
    },
    Preset {
        name: "zyda2",
        summary: "runs of 25 characters at 0.85, 8 bands of 16; Zyda-2",
        algorithm: "minhash",
        tokenizer: Some("char:25"),
        settings: &[("threshold", "0.85"), ("bands", "8"), ("rows", "16")],
        source: "Tokpanov et al. 2024 (Zyda-2): signatures of 128 in 8 bands, about 0.85",
        differs: &[EVERY_CANDIDATE, "characters are those after NFKC, case folding and joining of white space"],
        advice: CURVE,
    },
    Preset {
        name: "nemo",
        summary: "runs of 24 characters at 0.8, 20 bands of 13; NeMo Curator",
        algorithm: "minhash",
        tokenizer: Some("char:24"),
        settings: &[("threshold", "0.8"), ("bands", "20"), ("rows", "13")],
        source: "NVIDIA NeMo Curator: 260 hashes, 20 bands of 13, 24 characters (5 in older versions)",
        differs: &[
            "older versions check candidates against 0.8, unless disabled; here each is verified exactly",
            "characters are those after NFKC, case folding and joining of white space",
        ],
        advice: CURVE,
    },
    Preset {
        name: "finepdfs",
        summary: "word 5-grams at 0.75, 32 bands of 10; FinePDFs",
        algorithm: "minhash",
        tokenizer: None,
        settings: &[("threshold", "0.75"), ("shingle", "5"), ("bands", "32"), ("rows", "10")],
        source: "huggingface/finepdfs: 32 buckets of 10 hashes over 5-grams",
        differs: &[
            "its program gives no threshold: 0.75 is ours, as for FineWeb",
            "there only the beginning of a long document is read, and each language by itself",
            EVERY_CANDIDATE,
        ],
        advice: TRAINING,
    },
    Preset {
        name: "duplodocus",
        summary: "5-grams at 0.8, 26 bands of 11; the configured example of duplodocus",
        algorithm: "minhash",
        tokenizer: None,
        settings: &[("threshold", "0.8"), ("shingle", "5"), ("bands", "26"), ("rows", "11")],
        source: "allenai/duplodocus, the configuration in its README",
        differs: &[
            "there tokens are those of the BPE vocabulary cl100k",
            "it gives no threshold: 0.8 is ours",
            EVERY_CANDIDATE,
        ],
        advice: "Often given as what OLMo 3 was made with; we know of no source for that.",
    },
];

const REDPAJAMA: &str = "togethercomputer/RedPajama-Data: 13-grams, 128 permutations, similarities 0.7, 0.8, 0.9 and 1";
const SHORT_LEFT_OUT: &str = "there documents of fewer than 13 tokens are never duplicates; here they are one shingle";

/// Flags that decide one thing by other means: where the first is given, those of a preset that it takes the place of fall.
const INSTEAD: &[(&str, &[&str])] = &[
    ("exact", &["bands", "rows", "sketch"]),
    ("recall", &["bands", "rows"]),
    ("hashes", &["bands", "rows"]),
    ("cosine", &["distance", "agree"]),
];

impl Preset {
    /// Finds a preset by name.
    ///
    /// # Errors
    /// [`Error::Parameter`] that lists the names.
    pub fn by_name(typed: &str) -> Result<&'static Self, Error> {
        PRESETS.iter().find(|preset| preset.name == typed).ok_or_else(|| {
            let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
            Error::parameter("preset", typed, format!("one of {}", names.join(", ")))
        })
    }

    /// Its settings in addition to those that were given, and the tokenizer that was: what was given comes first.
    fn remaining(&self, given: &Settings, typed: Option<&str>) -> Vec<(&'static str, &'static str)> {
        let is_given = |name: &str| given.given().any(|(other, _)| other == name);
        let replaced = |name: &str| INSTEAD.iter().any(|(by, these)| is_given(by) && these.contains(&name));
        // Shingles are counted in other tokens where a run of characters is one.
        let counts_others =
            |name: &str| name == super::parameter::SHINGLE.name && typed.is_some_and(tokenizer::is_overlapping);
        let settings = self.settings.iter().copied();
        settings.filter(|(name, _)| !is_given(name) && !replaced(name) && !counts_others(name)).collect()
    }

    /// The factory of the preset, with whatever is given in the place of what it says itself; the tokenizer too.
    ///
    /// # Errors
    /// As for [`Entry::factory`] and [`TableFactory::with_tokenizer`].
    pub fn factory(&'static self, given: Settings, typed: Option<&str>) -> Result<TableFactory, Error> {
        let entry = Entry::by_name(self.algorithm)?;
        entry.check(&given)?;
        let own = self.remaining(&given, typed);
        let mut settings = given;
        own.iter().for_each(|(name, value)| settings.set_from(*name, *value, Provenance::preset(self.name)));
        let mut factory = entry.factory(settings).map_err(|error| match error {
            Error::Usage(message) => {
                let flags: Vec<_> = own.iter().map(|(name, value)| format!("`{name} {value}`")).collect();
                Error::Usage(format!("{message} (the preset {} gives {})", self.name, flags.join(", ")))
            }
            other => other,
        })?;
        if let Some(tokenizer) = typed.or(self.tokenizer) {
            factory = factory.with_tokenizer(tokenizer)?;
        }
        Ok(factory)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bands::Bands;
    use super::super::{AlgorithmFactory, Origin, PlannedRun};
    use super::*;

    fn plan(name: &str, given: &[(&str, &str)], tokenizer: Option<&str>) -> PlannedRun {
        let preset = Preset::by_name(name).unwrap();
        preset.factory(Settings::from_pairs(given.iter().copied()), tokenizer).unwrap().plan(300, 1_000_000).unwrap()
    }

    fn value(plan: &PlannedRun, row: &str) -> String {
        let row = plan.parameters.iter().find(|other| other.name == row);
        row.map(|row| format!("{}: {}", row.value, row.provenance)).unwrap_or_default()
    }

    fn error(name: &str, given: &[(&str, &str)]) -> String {
        let preset = Preset::by_name(name).unwrap();
        preset
            .factory(Settings::from_pairs(given.iter().copied()), None)
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn the_table_is_sound() {
        for (i, preset) in PRESETS.iter().enumerate() {
            let name = preset.name;
            assert!(PRESETS[..i].iter().all(|other| other.name != name), "{name} twice");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b)), "{name}");
            let entry = Entry::by_name(preset.algorithm).unwrap();
            assert_eq!(entry.name, preset.algorithm, "{name}: not an alias");
            for (j, (flag, _)) in preset.settings.iter().enumerate() {
                assert!(preset.settings[..j].iter().all(|(other, _)| other != flag), "{name}: --{flag} twice");
            }
            assert!(!preset.summary.is_empty() && !preset.source.is_empty() && !preset.differs.is_empty(), "{name}");
            assert!(!preset.summary.ends_with('.') && preset.advice.ends_with(['.', ';']), "{name}");
            // Each says what it is for documents of any length.
            for median in [0, 5, 300] {
                let factory = preset.factory(Settings::default(), None).unwrap();
                let prepared = factory.prepare(median).unwrap();
                assert!(prepared.tokenizer.is_none(), "{name}: the tokenizer depends on the documents");
                let plan = factory.plan(median, 1_000_000).unwrap();
                let from = |origin| plan.parameters.iter().filter(|row| row.provenance.origin == origin).count();
                assert_eq!(from(Origin::Preset(name)), preset.settings.len(), "{name}: {:?}", plan.parameters);
                assert_eq!(from(Origin::Given), 0, "{name}: {:?}", plan.parameters);
            }
        }
        for (by, these) in INSTEAD {
            for flag in these.iter().chain([by]) {
                assert!(super::super::ALGORITHMS.iter().any(|entry| entry.uses(flag)), "{flag}");
            }
        }
    }

    #[test]
    fn bands_and_rows_are_the_published_ones() {
        for (name, bands, rows) in [
            ("lee", 450, 20),
            ("refinedweb", 450, 20),
            ("the-stack", 25, 10),
            ("slimpajama", 9, 13),
            ("redpajama2-0.7", 14, 9),
            ("redpajama2-0.8", 9, 13),
            ("redpajama2-0.9", 5, 25),
            ("fineweb", 14, 8),
            ("zyda2", 8, 16),
            ("nemo", 20, 13),
            ("finepdfs", 32, 10),
            ("duplodocus", 26, 11),
        ] {
            let plan = plan(name, &[], None);
            let expected = [bands, rows].map(|n| format!("{n}: preset {name}"));
            assert_eq!([value(&plan, "bands"), value(&plan, "rows")], expected);
        }
    }

    #[test]
    fn curves_are_the_published_ones() {
        let close = |name, s: f64, expected: f64, off: f64| {
            // Published curves are those of independent slots.
            let settings: &[_] = if name == "altavista" { &[] } else { &[("sketch", "classic")] };
            let plan = plan(name, settings, None);
            let (_, got) = plan.forecast.curve.iter().find(|(at, _)| (at - s).abs() < 1e-9).unwrap();
            assert!((got - expected).abs() < off, "{name} at {s}: {got}");
        };
        // FineWeb prints 56, 77, 92 and 98.8 %.
        for (s, expected) in [(0.7, 0.5645), (0.75, 0.7716), (0.8, 0.9235), (0.85, 0.9884)] {
            close("fineweb", s, expected, 5e-5);
        }
        for (s, expected) in [(0.6, 0.01632), (0.7, 0.3018), (0.75, 0.7605), (0.8, 0.9946)] {
            close("refinedweb", s, expected, 5e-5);
        }
        close("altavista", 0.8, 0.0258, 5e-5);
        assert!(plan("altavista", &[], None).forecast.notes[1].contains("a detector of pairs at 0.91"));
        // As its paper prints them, the bands and rows of RefinedWeb would find nothing.
        assert!(Bands { bands: 20, rows: 450 }.probability(0.97) < 1e-4);
    }

    #[test]
    fn the_recall_of_fixed_bands_is_that_of_the_sketch_that_is_used() {
        // Of documents of 288 shingles each. `cargo bench --bench recall` measures it.
        for (name, expected, independent) in [("redpajama2-0.9", 0.292, 0.311), ("slimpajama", 0.389, 0.399)] {
            let stated = |settings: &[(&str, &str)]| {
                let plan = plan(name, settings, None);
                let recall = plan.parameters.iter().find(|row| row.name == "recall").unwrap();
                recall.value.as_decimal().unwrap()
            };
            let (own, classic) = (stated(&[]), stated(&[("sketch", "classic")]));
            assert!((own - expected).abs() < 2e-3, "{name}: {own}");
            assert!((classic - independent).abs() < 1e-3, "{name}, classic: {classic}");
        }
    }

    /// The bands and rows that datasketch takes: those with the least sum of the areas under the curve below the threshold
    /// and above it up to 1, by steps of a thousandth.
    fn optimum(threshold: f64, slots: usize) -> (usize, usize) {
        let step = 0.001;
        let area = |from: f64, to: f64, height: &dyn Fn(f64) -> f64| {
            let steps = ((to - from) / step).round() as usize;
            (0..steps).map(|i| height(from + (i as f64 + 0.5) * step) * step).sum::<f64>()
        };
        let mut best = (f64::INFINITY, (0, 0));
        for bands in 1..=slots {
            for rows in 1..=slots / bands {
                let found = |s: f64| Bands { bands, rows }.probability(s);
                let wrong = 0.5 * area(0.0, threshold, &found) + 0.5 * area(threshold, 1.0, &|s| 1.0 - found(s));
                if wrong < best.0 {
                    best = (wrong, (bands, rows));
                }
            }
        }
        best.1
    }

    #[test]
    fn bands_and_rows_that_datasketch_would_choose() {
        let chosen = [(0.7, 128), (0.8, 128), (0.9, 128), (0.7, 256)].map(|(s, slots)| optimum(s, slots));
        assert_eq!(chosen, [(14, 9), (9, 13), (5, 25), (25, 10)]);
    }

    #[test]
    fn what_is_given_comes_first() {
        let given = plan("fineweb", &[("threshold", "0.9"), ("rows", "9")], None);
        let values = ["threshold", "shingle", "bands", "rows"].map(|row| value(&given, row));
        assert_eq!(values, ["0.9: as given", "5: preset fineweb", "14: preset fineweb", "9: as given"]);
        let by_recall = plan("fineweb", &[("recall", "0.99")], None);
        assert_eq!(value(&by_recall, "threshold"), "0.75: preset fineweb");
        assert_eq!(value(&by_recall, "bands"), "17: the fewest that reach the recall");
        let exact = plan("lee", &[("exact", "true")], None);
        assert_eq!((value(&exact, "bands"), value(&exact, "shingle")), (String::new(), "5: preset lee".into()));
        assert_eq!(value(&plan("henzinger", &[("cosine", "0.97")], None), "cosine"), "0.97: as given");
        let by_cosine = plan("roots", &[("cosine", "0.95"), ("recall", "0.9")], None);
        assert_eq!(value(&by_cosine, "distance"), "11: from `cosine` and `recall`");
    }

    #[test]
    fn shingles_go_by_the_tokens_that_are_asked_for() {
        let shingle = |name, tokenizer| value(&plan(name, &[], Some(tokenizer)), "shingle");
        assert_eq!(shingle("fineweb", "uax29"), "5: preset fineweb");
        assert_eq!(shingle("fineweb", "char:9"), "1: runs of characters are shingles already");
        assert_eq!(shingle("nemo", "char:5"), "1: runs of characters are shingles already");
        assert_eq!(shingle("nemo", "word"), "5: tokens, for a median of 300 tokens a document");
    }

    #[test]
    fn what_does_not_go_with_a_preset_is_named() {
        let Err(Error::Parameter { name, value, expected }) = Preset::by_name("pile") else { panic!("accepted") };
        assert_eq!((name, &*value), ("preset", "pile"));
        assert!(expected.starts_with("one of altavista, henzinger"), "{expected}");
        let message = error("altavista", &[("threshold", "0.9")]);
        assert!(
            message.contains("`threshold` has no effect with `supershingles` (the preset altavista gives"),
            "{message}"
        );
        assert!(message.contains("`supershingles 6x14`"), "{message}");
        assert!(error("fineweb", &[("distance", "3")]).contains("`distance` is not used by minhash"));
        let zero = Preset::by_name("fineweb").unwrap().factory(Settings::from_pairs([("shingle", "0")]), None);
        assert!(matches!(zero, Err(Error::Parameter { name: "shingle", value, .. }) if value == "0"));
    }
}
