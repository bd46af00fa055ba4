//! Flags that several commands share, made from the tables of algorithms, tokenizers and formats.

use super::preparation;
use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, ValueHint};
use neardups::Error;
use neardups::algorithm::Value;
use neardups::algorithm::parameter::{LEXICON, Parameter, Settings, Values};
use neardups::algorithm::presets::{PRESETS, Preset};
use neardups::algorithm::{ALGORITHMS, Entry, TableRecipe};
use neardups::lexicon::Lexicon;
use neardups::tokenizer::{self, TOKENIZERS};
use serde::{Serialize, Serializer};
use std::ops::RangeInclusive;

pub use crate::readable::{count, counted};

/// Where the flags made from the tables stand in the help.
const ALGORITHM_OPTIONS: &str = "Options of the algorithms";

/// `--algo`.
pub fn algorithm() -> Arg {
    let advice: Vec<_> = ALGORITHMS.iter().map(|e| format!("{}: {}. {}", e.name, e.summary, e.advice)).collect();
    Arg::new("algo")
        .long("algo")
        .value_name("NAME")
        .value_parser(PossibleValuesParser::new(algorithm_names()))
        .default_value(ALGORITHMS[0].name)
        .hide_possible_values(true)
        .help(format!(
            "How near-duplicates are found: {}",
            ALGORITHMS.iter().map(|e| e.name).collect::<Vec<_>>().join(", ")
        ))
        .long_help(format!("How near-duplicates are found.\n\n{}\n", advice.join("\n\n")))
}

fn algorithm_names() -> impl Iterator<Item = PossibleValue> {
    ALGORITHMS.iter().map(|e| PossibleValue::new(e.name).help(e.summary).aliases(e.aliases.iter().copied()))
}

/// `--preset`.
pub fn preset() -> Arg {
    let list: Vec<_> = PRESETS.iter().map(|p| format!("- {}: {} ({})", p.name, p.summary, p.algorithm)).collect();
    Arg::new("preset")
        .long("preset")
        .value_name("NAME")
        .value_parser(PossibleValuesParser::new(PRESETS.iter().map(|p| PossibleValue::new(p.name).help(p.summary))))
        .hide_possible_values(true)
        .help("Settings that a paper or a project has used, such as fineweb; other flags take precedence")
        .long_help(format!(
            "Settings that a paper or a project has used. Other flags take precedence. dedup plan --preset NAME says where they are from, \
             what they find, and in what a scan with them differs from what was done there.\n\n{}\n",
            list.join("\n")
        ))
}

/// The preset that was typed, where there is such a flag.
pub fn chosen_preset(given: &ArgMatches) -> Result<Option<&'static Preset>, Error> {
    let typed = given.try_get_one::<String>("preset").ok().flatten();
    typed.map(|typed| Preset::by_name(typed)).transpose()
}

/// The tokenizer that was typed.
fn typed_tokenizer(given: &ArgMatches) -> Option<&str> {
    let typed = given.value_source("tokenizer") == Some(ValueSource::CommandLine);
    given.get_one::<String>("tokenizer").filter(|_| typed).map(String::as_str)
}

/// The tokenizer that was typed, or that of the preset, and which of the two it is.
pub fn asked_tokenizer(given: &ArgMatches) -> Result<Option<(&str, String)>, Error> {
    let typed = typed_tokenizer(given).map(|name| (name, "as given".to_string()));
    let of_preset = chosen_preset(given)?
        .and_then(|preset| preset.tokenizer.map(|tokenizer| (tokenizer, format!("preset {}", preset.name))));
    Ok(typed.or(of_preset))
}

/// The tokenizer: what was typed, or that of the preset, or the default.
pub fn chosen_tokenizer(given: &ArgMatches) -> Result<&str, Error> {
    Ok(asked_tokenizer(given)?.map_or(TOKENIZERS[0].name, |(name, _)| name))
}

/// `--tokenizer`, and how its tokens are prepared.
pub fn tokens() -> Vec<Arg> {
    let args = [tokenizer()].into_iter().chain(preparation::args());
    args.map(|arg| arg.help_heading(ALGORITHM_OPTIONS)).collect()
}

fn tokenizer() -> Arg {
    let list: Vec<_> = TOKENIZERS.iter().map(|e| format!("- {}: {}", e.name, e.summary)).collect();
    Arg::new("tokenizer")
        .long("tokenizer")
        .value_name("NAME")
        .value_parser(|typed: &str| match tokenizer::by_name(typed) {
            Ok(_) => Ok(typed.to_string()),
            Err(Error::Parameter { expected, .. }) => Err(format!("expected {expected}")),
            Err(error) => Err(error.to_string()),
        })
        .default_value(TOKENIZERS[0].name)
        .help(format!("What a token is: {}", TOKENIZERS.iter().map(|e| e.name).collect::<Vec<_>>().join(", ")))
        .long_help(format!("What a token is:\n{}\n", list.join("\n")))
}

/// A flag for each parameter of each algorithm.
pub fn parameters() -> Vec<Arg> {
    let mut seen: Vec<&Parameter> = Vec::new();
    for parameter in ALGORITHMS.iter().flat_map(|entry| entry.parameters) {
        if !seen.iter().any(|other| other.name == parameter.name) {
            seen.push(parameter);
        }
    }
    seen.into_iter().map(flag).collect()
}

fn flag(parameter: &'static Parameter) -> Arg {
    let users: Vec<_> = ALGORITHMS.iter().filter(|e| e.uses(parameter.name)).map(|e| e.name).collect();
    let only = if users.len() == ALGORITHMS.len() { String::new() } else { format!(" ({})", users.join(", ")) };
    let arg = Arg::new(parameter.name).long(parameter.name).help_heading(ALGORITHM_OPTIONS);
    if matches!(parameter.values, Values::Switch) {
        return arg
            .action(ArgAction::SetTrue)
            .help(format!("{}{only}", parameter.help))
            .long_help(format!("{}{only}.\n\n{}", parameter.help, parameter.details));
    }
    let others = ALGORITHMS.iter().filter(|e| e.uses(parameter.name) && e.default_of(parameter) != parameter.default);
    let others: String = others.map(|e| format!("; {}: {}", e.name, e.default_of(parameter))).collect();
    let default = format!("{}{others}", parameter.default);
    let arg = arg
        .value_name(parameter.placeholder)
        // A negative number is out of range, not another flag.
        .allow_negative_numbers(true)
        .help(format!("{}{only} [default: {default}]", parameter.help))
        .long_help(format!(
            "{}{only}.\n\n{}\n\n[default: {default}] [values: {}]",
            parameter.help,
            parameter.details,
            parameter.expected()
        ));
    let arg = if let Values::File = parameter.values { arg.value_hint(ValueHint::FilePath) } else { arg };
    match parameter.values {
        Values::Choice(words) => {
            let words = words.iter().map(|(word, help)| PossibleValue::new(*word).help(*help));
            arg.value_parser(PossibleValuesParser::new(words)).hide_possible_values(true)
        }
        _ => arg.value_parser(ValueParser::new(|typed: &str| {
            parameter.check(typed).map(|()| typed.to_string()).map_err(|_| format!("expected {}", parameter.expected()))
        })),
    }
}

/// `--algo`, or all of them.
pub fn algorithm_or_all() -> Arg {
    let names = algorithm_names().chain([PossibleValue::new(ALL).help("each of them, with its defaults")]);
    let arg = algorithm().value_parser(PossibleValuesParser::new(names));
    let all = "; or all, each with its defaults";
    let help = arg.get_help().map(|help| format!("{help}{all}")).unwrap_or_default();
    let long = arg.get_long_help().map(|long| format!("{long}\n{ALL}: each of them, with its defaults.\n"));
    arg.help(help).long_help(long.unwrap_or_default())
}

/// What `--algo` takes for every algorithm, where it can.
pub const ALL: &str = "all";

/// Every parameter of an algorithm that was typed.
pub fn settings(given: &ArgMatches) -> Settings {
    let mut settings = Settings::default();
    for parameter in ALGORITHMS.iter().flat_map(|entry| entry.parameters) {
        if let Values::Switch = parameter.values {
            if given.get_flag(parameter.name) {
                settings.set(parameter.name, "true");
            }
        } else if let Some(value) = given.get_one::<String>(parameter.name) {
            settings.set(parameter.name, value);
        }
    }
    settings
}

/// The algorithm that was chosen.
pub fn entry(given: &ArgMatches) -> Result<&'static Entry, Error> {
    let entry = Entry::by_name(given.get_one::<String>("algo").expect("has a default"))?;
    let Some(preset) = chosen_preset(given)? else { return Ok(entry) };
    if given.value_source("algo") == Some(ValueSource::CommandLine) && entry.name != preset.algorithm {
        return Err(Error::Usage(format!(
            "--preset {} is for --algo {}, not {}: leave --algo out",
            preset.name, preset.algorithm, entry.name
        )));
    }
    Entry::by_name(preset.algorithm)
}

/// The recipe of an algorithm with these settings, the tokenizer and the preparation that were typed, and for the rest those of the
/// preset.
pub fn recipe_of(entry: &'static Entry, settings: Settings, given: &ArgMatches) -> Result<TableRecipe, Error> {
    let (typed, lexicon) = (typed_tokenizer(given), settings.file(&LEXICON)?);
    let recipe = match (chosen_preset(given)?, typed) {
        (Some(preset), typed) => preset.recipe(settings, typed)?,
        (None, Some(typed)) => entry.recipe(settings)?.with_tokenizer(typed)?,
        (None, None) => entry.recipe(settings)?,
    };
    let mut recipe = recipe.with_steps(&preparation::steps(given)?)?;
    if let Some(path) = lexicon {
        // Plans hash nothing, and have no seed.
        let seed = given.try_get_one("seed").ok().flatten().copied().unwrap_or(0);
        recipe = recipe.with_lexicon(Lexicon::read(&path, seed)?.into(), &preparation::tokenizer(given)?.0.name())?;
    }
    Ok(recipe)
}

/// The recipe of the algorithm that was chosen, with the parameters and the tokenizer that were typed.
pub fn recipe(given: &ArgMatches) -> Result<(&'static Entry, TableRecipe), Error> {
    let entry = entry(given)?;
    Ok((entry, recipe_of(entry, settings(given), given)?))
}

/// A parser of whole numbers in a range, with an error like that of every other parameter.
pub fn whole_number(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |typed| match typed.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ if *range.end() == u64::MAX => Err(format!("expected a whole number from {}", range.start())),
        _ => Err(format!("expected a whole number from {} to {}", range.start(), range.end())),
    }
}

/// An object whose fields stay in their order.
pub struct Ordered<'a>(pub Vec<(&'a str, &'a Value)>);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// A number of bytes: digits, and perhaps K, M, G or T for powers of 1024.
pub fn size(typed: &str) -> Result<u64, String> {
    let wrong = || "expected a number of bytes, such as 64M or 2G".to_string();
    let upper = typed.trim().to_ascii_uppercase();
    let upper = upper.strip_suffix("IB").or(upper.strip_suffix('B')).unwrap_or(&upper);
    let (digits, shift) = match upper.chars().last() {
        Some('K') => (&upper[..upper.len() - 1], 10),
        Some('M') => (&upper[..upper.len() - 1], 20),
        Some('G') => (&upper[..upper.len() - 1], 30),
        Some('T') => (&upper[..upper.len() - 1], 40),
        _ => (upper, 0),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

/// The first of some words, and how many more there are.
pub fn some_of<'a>(words: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 10;
    let more = words.len().saturating_sub(SHOWN);
    let shown: Vec<_> = words.take(SHOWN).map(|word| format!("'{}'", super::terminal::escaped(word))).collect();
    let shown = shown.join(", ");
    if more > 0 { format!("{shown} and {} more", count(more as u64)) } else { shown }
}

/// A number of bytes, for people.
pub fn bytes(n: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut n = n;
    let mut unit = 0;
    while n >= 1024.0 && unit + 1 < units.len() {
        n /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n:.0} B") } else { format!("{n:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("64M"), Ok(64 << 20));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("100"), Ok(100));
        assert_eq!(size("1kb"), Ok(1024));
        for bad in ["", "M", "-1", "1.5G", "99999999T", "12X"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bytes_for_people() {
        assert_eq!([bytes(17.0), bytes(1536.0), bytes(3e9)], ["17 B", "1.5 KiB", "2.8 GiB"]);
    }
}
