//! Settings of published reports on test data that was found in training data.

use super::runs::ContainOptions;
use crate::error::Error;
use crate::similarity::Threshold;

/// What a report calls contaminated, for [`find_contained`](super::find_contained) of the questions of a test set against training data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContainPreset {
    /// Its name.
    pub name: &'static str,
    /// One line for help.
    pub summary: &'static str,
    /// The length of a run in tokens.
    pub shingle: usize,
    /// The least share of the runs of a question that stand in the training data.
    pub min_coverage_all: Threshold,
    /// The source of the settings.
    pub source: &'static str,
    /// How the result differs from that of the report; one sentence each.
    pub differs: &'static [&'static str],
}

impl ContainPreset {
    /// The preset of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn by_name(name: &str) -> Result<&'static Self, Error> {
        CONTAIN_PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
            let names: Vec<_> = CONTAIN_PRESETS.iter().map(|preset| preset.name).collect();
            Error::parameter("preset", name, names.join(", "))
        })
    }

    /// The default options with the runs and the share of this preset. The share is that in all documents together; what stands in one
    /// of them stands in all, so it is the least share in one too.
    ///
    /// ```
    /// use neardups::passages::{ContainOptions, ContainPreset};
    ///
    /// let palm = ContainPreset::by_name("palm")?.options();
    /// let options = ContainOptions { threads: 2, ..palm };
    /// assert_eq!((options.shingle, options.min_coverage_all.map(|least| least.as_f64())), (8, Some(0.7)));
    /// # Ok::<(), neardups::Error>(())
    /// ```
    pub fn options(&self) -> ContainOptions {
        let ContainPreset { shingle, min_coverage_all, .. } = *self;
        let min_coverage = min_coverage_all;
        ContainOptions { shingle, min_coverage, min_coverage_all: Some(min_coverage_all), ..ContainOptions::default() }
    }
}

const fn share(part: u64, all: u64) -> Threshold {
    match Threshold::new(part, all) {
        Some(threshold) => threshold,
        None => panic!("not a share"),
    }
}

/// Every preset, by age.
pub static CONTAIN_PRESETS: &[ContainPreset] = &[
    ContainPreset {
        name: "gpt-3",
        summary: "any run of 13 words of the question",
        shingle: 13,
        min_coverage_all: Threshold::LEAST,
        source: "Brown et al., Language Models are Few-Shot Learners, 2020, appendix C",
        differs: &[
            "there the length is the 5th percentile of the lengths of the questions of a test set, from 8 to 13 words; here it is 13, so \
             that shorter questions are not compared",
            "there runs that stand in many documents are left out, with their number depending on the test set; here none are",
            "there 200 characters on each side of a run were cut from the training data; here nothing is cut",
        ],
    },
    ContainPreset {
        name: "palm",
        summary: "70 % of the runs of 8 words of the question",
        shingle: 8,
        min_coverage_all: share(7, 10),
        source: "Chowdhery et al., PaLM: Scaling Language Modeling with Pathways, 2022, section 8",
        differs: &["there a run counts each time it stands in the question; here it counts once"],
    },
    ContainPreset {
        name: "llama-2",
        summary: "80 % of the runs of 11 words of the question",
        shingle: 11,
        min_coverage_all: share(4, 5),
        source: "Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023, appendix A.6",
        differs: &[
            "there tokens are those of the model, and the share is that of the tokens in a common run of more than 10; here words, and \
             the share of the runs",
            "there up to 4 tokens of a run may differ; here none",
            "there below 20 % is clean; `min-coverage-all 0.2` reports the rest",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the guide's table: name, runs, share.
    #[test]
    fn the_guide_has_these_presets() {
        let guide = include_str!("../guide/containing.md");
        let rows: Vec<Vec<&str>> = guide
            .lines()
            .skip_while(|line| !line.starts_with("| `--preset` |"))
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .map(|line| line.split('|').map(str::trim).skip(1).take(3).collect())
            .collect();
        let of_preset = |preset: &ContainPreset| {
            let ContainOptions { shingle, min_coverage, min_coverage_all, .. } = preset.options();
            assert_eq!(min_coverage_all, Some(min_coverage));
            let share = match min_coverage {
                Threshold::LEAST => "any run".to_string(),
                share => format!("{} %", (100.0 * share.as_f64()).round()),
            };
            [format!("`{}`", preset.name), format!("{shingle} words"), share]
        };
        let expected: Vec<_> = CONTAIN_PRESETS.iter().map(of_preset).collect();
        assert_eq!(rows, expected);
    }
}
