//! `--algo`, `--preset` and a flag for each parameter, made from the tables of algorithms and presets.

use super::super::spelling::spelled_help;
use super::run::some_args;
use super::tokens::{self, Tokens};
use super::values::{Defaulted, is_file, is_typed, path, switch, value, values};
use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use neardups::algorithm::ALGORITHMS;
use neardups::algorithm::parameter::{LEXICON, LEXICON_WITHOUT, Parameter, Settings, Values, WEIGHTS};
use neardups::algorithm::presets::PRESETS;
use neardups::algorithm::spotsigs::{ANTECEDENTS, words::LANGUAGES};
use std::path::PathBuf;

/// How documents are compared, as typed.
pub struct Method {
    /// `--algo`.
    pub algorithm: Defaulted<String>,
    /// `--preset`.
    pub preset: Option<String>,
    /// The parameters that were typed.
    pub settings: Settings,
    /// Tokenizer and preparation.
    pub tokens: Tokens,
    /// `--seed`, which also seeds the hashes of a lexicon's terms; 0 for commands without this flag.
    pub seed: u64,
    /// `--memory`, of which a part is for the terms of a lexicon. Without a bound, all are in memory.
    pub memory: Option<u64>,
    /// `--temp-dir`, for the others.
    pub temp_dir: Option<PathBuf>,
}

impl Method {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        let algorithm = value::<String>(given, "algo").expect("has a default").clone();
        Method {
            algorithm: Defaulted { value: algorithm, is_typed: is_typed(given, "algo") },
            preset: value(given, "preset").cloned(),
            settings: settings(given),
            tokens: Tokens::new(given),
            seed: value(given, "seed").copied().unwrap_or(0),
            memory: value(given, "memory").copied(),
            temp_dir: path(given, "temp-dir"),
        }
    }

    /// Whether `--algo all` was typed.
    pub fn is_all(&self) -> bool {
        self.algorithm.value == ALL
    }

    /// The file of `--antecedents`.
    pub fn antecedents(&self) -> Option<PathBuf> {
        let typed = self.settings.has(&ANTECEDENTS).then(|| self.settings.text(&ANTECEDENTS));
        typed.filter(|typed| is_antecedents_file(typed)).map(PathBuf::from)
    }

    /// The file of `--weights`.
    pub fn weights(&self) -> Option<PathBuf> {
        let typed = self.settings.has(&WEIGHTS).then(|| self.settings.text(&WEIGHTS));
        typed.filter(|typed| WEIGHTS.check(typed).is_err()).map(PathBuf::from)
    }

    /// The files of `--lexicon`, `--lexicon-without` and `--weights`, whose terms are hashed when they are read, each with
    /// the name of its flag.
    pub fn terms(&self) -> Vec<(&'static str, PathBuf)> {
        let typed = [&LEXICON, &LEXICON_WITHOUT].into_iter().filter(|parameter| self.settings.has(parameter));
        let files = |parameter: &'static Parameter| self.settings.files(parameter).unwrap_or_default();
        let lexicons = typed.flat_map(|parameter| files(parameter).into_iter().map(|file| (parameter.name, file)));
        lexicons.chain(self.weights().map(|file| (WEIGHTS.name, file))).collect()
    }
}

/// Whether a value of `--antecedents` names a file, and not a language or words.
pub fn is_antecedents_file(typed: &str) -> bool {
    is_file(typed, |typed| ANTECEDENTS.check(typed).is_ok())
}

/// Refuses words that were probably meant as languages: `en,this` lists two words, and `en+de` adds the word `de`.
/// With a comma at the end they are words for certain.
fn refuse_languages_as_words(typed: &str) -> Result<(), String> {
    let Some(list) = ANTECEDENTS.word_list(typed).filter(|_| !typed.ends_with(',')) else { return Ok(()) };
    let languages: Vec<&str> = list.words.iter().copied().filter(|word| is_language(word)).collect();
    let Some(language) = languages.first() else { return Ok(()) };
    let as_words = format!("to list the words themselves, end with a comma: {typed},");
    match list.base {
        None if !is_language(list.words[0]) => Ok(()),
        None if languages.len() < list.words.len() => {
            let words = list.words[1..].join(",");
            Err(format!(
                "'{language}' is a language: {language}+{words} adds words to its antecedents, and {language}:{words} replaces \
                 them; {as_words}"
            ))
        }
        Some(_) if languages.len() < list.words.len() => Ok(()),
        _ => Err(format!("languages cannot be combined: name one; {as_words}")),
    }
}

fn is_language(word: &str) -> bool {
    LANGUAGES.iter().any(|language| language.code == word)
}

/// The flags that say how documents are compared, without those of any command.
#[cfg_attr(not(feature = "python"), allow(dead_code, reason = "Python compares two texts, and plans steps"))]
pub fn command() -> Command {
    let flags =
        [algorithm(), preset()].into_iter().chain(tokens::args()).chain(parameters()).chain(some_args(&["seed"]));
    Command::new("method").args(flags)
}

/// `--algo`.
pub fn algorithm() -> Arg {
    let advice: Vec<_> =
        ALGORITHMS.iter().map(|e| format!("{}: {}. {}", e.name, e.summary, spelled_help(e.advice))).collect();
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
            "Settings that a paper or a project has used. Other flags take precedence. dedup plan --preset NAME shows their source, \
             what they find, and how a scan with them differs from the source.\n\n{}\n",
            list.join("\n")
        ))
}

/// One flag for each parameter of all algorithms: first those that several algorithms have, then the others by algorithm.
pub fn parameters() -> Vec<Arg> {
    let mut seen: Vec<&Parameter> = Vec::new();
    for parameter in ALGORITHMS.iter().flat_map(|entry| entry.parameters) {
        if !seen.iter().any(|other| other.name == parameter.name) {
            seen.push(parameter);
        }
    }
    let (shared, own): (Vec<_>, Vec<_>) = seen.into_iter().partition(|parameter| users(parameter).len() > 1);
    shared.into_iter().chain(own).map(flag).collect()
}

/// The names of the algorithms that have a parameter.
fn users(parameter: &Parameter) -> Vec<&'static str> {
    ALGORITHMS.iter().filter(|entry| entry.uses(parameter.name)).map(|entry| entry.name).collect()
}

fn flag(parameter: &'static Parameter) -> Arg {
    let users = users(parameter);
    let (heading, only) = match *users {
        [name] => (format!("Parameters of {name}"), String::new()),
        _ => ("Parameters of several algorithms".into(), format!(" ({})", users.join(", "))),
    };
    let (help, details) = (spelled_help(parameter.help), spelled_help(parameter.details));
    let arg = Arg::new(parameter.name).long(parameter.name).help_heading(heading);
    if matches!(parameter.values, Values::Switch) {
        return arg
            .action(ArgAction::SetTrue)
            .help(format!("{help}{only}"))
            .long_help(format!("{help}{only}.\n\n{details}"));
    }
    let others = ALGORITHMS.iter().filter(|e| e.uses(parameter.name) && e.default_of(parameter) != parameter.default);
    let others: String = others.map(|e| format!("; {}: {}", e.name, e.default_of(parameter))).collect();
    let default = format!("{}{others}", parameter.default);
    let arg = arg
        .value_name(parameter.placeholder)
        // A negative number is a value out of range, not another flag.
        .allow_negative_numbers(true)
        .help(format!("{help}{only} [default: {default}]"))
        .long_help(format!("{help}{only}.\n\n{details}\n\n[default: {default}] [values: {}]", parameter.expected()));
    let arg = match parameter.values {
        Values::File => arg.value_hint(ValueHint::FilePath),
        Values::Files => arg.value_hint(ValueHint::FilePath).action(ArgAction::Append),
        _ => arg,
    };
    match parameter.values {
        _ if std::ptr::eq(parameter, &WEIGHTS) => {
            arg.value_hint(ValueHint::FilePath).value_parser(ValueParser::new(|typed: &str| {
                let fine = is_file(typed, |_| false) || parameter.check(typed).is_ok();
                if fine {
                    Ok(typed.to_string())
                } else {
                    Err("expected binary, tf, idf, or a file of weights".to_string())
                }
            }))
        }
        Values::Choice(words) => {
            let words =
                words.iter().map(|(word, help)| PossibleValue::new(*word).help(spelled_help(help).into_owned()));
            arg.value_parser(PossibleValuesParser::new(words)).hide_possible_values(true)
        }
        Values::ChoiceOrWords(_) => {
            arg.value_hint(ValueHint::FilePath).value_parser(ValueParser::new(|typed: &str| {
                if is_antecedents_file(typed) {
                    return Ok(typed.to_string());
                }
                parameter.check(typed).map_err(|_| format!("expected a file; {}", parameter.expected()))?;
                refuse_languages_as_words(typed).map(|()| typed.to_string())
            }))
        }
        _ => arg.value_parser(ValueParser::new(|typed: &str| {
            parameter.check(typed).map(|()| typed.to_string()).map_err(|_| format!("expected {}", parameter.expected()))
        })),
    }
}

/// `--algo` with the additional value `all`.
pub fn algorithm_or_all() -> Arg {
    let names = algorithm_names().chain([PossibleValue::new(ALL).help("each of them, with its defaults")]);
    let arg = algorithm().value_parser(PossibleValuesParser::new(names));
    let all = "; or all, each with its defaults";
    let help = arg.get_help().map(|help| format!("{help}{all}")).unwrap_or_default();
    let long = arg.get_long_help().map(|long| format!("{long}\n{ALL}: each of them, with its defaults.\n"));
    arg.help(help).long_help(long.unwrap_or_default())
}

/// The value of `--algo` for every algorithm.
pub const ALL: &str = "all";

/// The parameters that were typed.
fn settings(given: &ArgMatches) -> Settings {
    let mut settings = Settings::default();
    for parameter in ALGORITHMS.iter().flat_map(|entry| entry.parameters) {
        if let Values::Switch = parameter.values {
            if switch(given, parameter.name) {
                settings.set(parameter.name, "true");
            }
        } else {
            // All but lists of files can be typed once.
            let typed: Vec<String> = values(given, parameter.name);
            if !typed.is_empty() {
                settings.set(parameter.name, typed.join("\n"));
            }
        }
    }
    settings
}
