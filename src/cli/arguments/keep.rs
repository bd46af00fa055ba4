//! Which of several near-duplicates is kept: `--keep`, `--prefer` and `--decisions`.

use super::values::{path, value, values};
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use neardups::Error;
use neardups::engine::{KEEP_POLICIES, KeepPolicy};
use neardups::source::{FieldPath, Globs, RankBy, Ranking};
use std::path::PathBuf;

/// The choice, as typed.
pub struct Keep {
    /// `--keep`, if it was typed.
    pub which: Option<Which>,
    /// `--prefer`, in order.
    pub prefer: Vec<String>,
    /// `--decisions`.
    pub decisions: Option<PathBuf>,
}

/// A value of `--keep`.
#[derive(Clone)]
pub struct Which {
    policy: KeepPolicy,
    by: RankBy,
}

impl Keep {
    /// Takes the values from what clap parsed.
    pub fn new(given: &ArgMatches) -> Self {
        Keep {
            which: value(given, "keep").cloned(),
            prefer: values(given, "prefer"),
            decisions: path(given, "decisions"),
        }
    }

    /// What was typed.
    pub fn typed(&self) -> Option<&'static str> {
        let prefer = (!self.prefer.is_empty()).then_some("--prefer");
        let decisions = self.decisions.as_ref().map(|_| "--decisions");
        self.which.as_ref().map(|_| "--keep").or(prefer).or(decisions)
    }

    /// The policy among documents of equal rank.
    pub fn policy(&self) -> KeepPolicy {
        self.which.as_ref().map(|which| which.policy).unwrap_or_default()
    }

    /// What ranks documents before the policy.
    ///
    /// # Errors
    /// A glob is invalid.
    pub fn ranking(&self) -> Result<Ranking, Error> {
        let by = self.which.as_ref().map(|which| which.by.clone()).unwrap_or_default();
        let globs = self.prefer.iter().map(|glob| Globs::new("prefer", std::slice::from_ref(glob)));
        Ok(Ranking { prefer: globs.collect::<Result<_, _>>()?, by })
    }
}

/// The files whose time is compared.
const BY_TIME: [(&str, RankBy, &str); 2] = [
    ("newest", RankBy::Newest, "the one whose file was modified last"),
    ("oldest", RankBy::Oldest, "the one whose file was modified first"),
];

fn parse(typed: &str) -> Result<Which, String> {
    let by = |by| Which { policy: KeepPolicy::First, by };
    if let Some(&(_, policy, _)) = KEEP_POLICIES.iter().find(|row| row.0 == typed) {
        return Ok(Which { policy, by: RankBy::Nothing });
    }
    if let Some((_, time, _)) = BY_TIME.iter().find(|row| row.0 == typed) {
        return Ok(by(time.clone()));
    }
    let field = |field: &str| FieldPath::parse("keep", field).map_err(|_| format!("'{field}' is no field"));
    match typed.split_once(':') {
        Some(("max", path)) => Ok(by(RankBy::Greatest(field(path)?))),
        Some(("min", path)) => Ok(by(RankBy::Least(field(path)?))),
        _ => {
            let names = KEEP_POLICIES.iter().map(|row| row.0).chain(BY_TIME.iter().map(|row| row.0));
            Err(format!("expected one of {}, max:FIELD, min:FIELD", names.collect::<Vec<_>>().join(", ")))
        }
    }
}

/// The flag `--report`.
pub fn report_arg() -> Arg {
    let parse = |typed: &str| match typed.split_once('=') {
        Some(("html", file)) if !file.is_empty() => Ok(PathBuf::from(file)),
        _ => Err("expected html=FILE".to_string()),
    };
    Arg::new("report")
        .long("report")
        .value_name("html=FILE")
        .value_parser(parse)
        .help("Also write a page on which people review the clusters and choose what is kept")
        .long_help(
            "Also write a page for a browser: the clusters with the differences of their members marked, a histogram of the similarities, \
             filters, and a button to choose what is kept. It exports the choice as a file for --decisions.",
        )
}

/// The flags.
pub fn args(help: &'static str) -> [Arg; 3] {
    let rows = KEEP_POLICIES.iter().map(|row| (row.0, row.2)).chain(BY_TIME.iter().map(|row| (row.0, row.2)));
    let rows = rows.chain([
        ("max:FIELD", "the one with the largest number, or the latest time, in this field of JSON, CSV or Parquet"),
        ("min:FIELD", "the one with the smallest number, or the earliest time, in it"),
    ]);
    let names = rows.clone().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    let rows: String = rows.map(|(name, what)| format!("\n- {name}: {what}")).collect();
    let keep = Arg::new("keep").long("keep").value_name("WHICH").value_parser(parse).help(format!("{help}: {names} [default: first]")).long_help(format!(
        "{help}; by default the first:{rows}\n\nAmong equal ones the earliest is kept. Times are dates such as 2024-05-01, or with a time of day as in RFC 3339. A field has either numbers or times. Records without one come last, and so does standard input for newest and oldest."
    ));
    let prefer = Arg::new("prefer")
        .long("prefer")
        .value_name("GLOB")
        .action(ArgAction::Append)
        .help("Keep records of files that match, rather than of others; may be repeated, earlier ones first")
        .long_help(
            "Keep records of files that match, rather than near-duplicates of them in others. May be repeated: files that match an earlier \
             glob are preferred to those that match a later one. Among equally preferred files --keep decides. Globs are as in --include.",
        );
    let decisions = Arg::new("decisions")
        .long("decisions")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Keep the documents that this file names, rather than near-duplicates of them")
        .long_help(
            "Keep the documents that this file names, rather than near-duplicates of them: they come first in the choice, before --prefer \
             and --keep. Of two that are near-duplicates only the first by these is kept, or else the first in the input. JSON lines such as \
             {\"type\":\"decision\",\"keep\":ID,\"file\":FILE,\"record\":N}; without file the id alone names the document.",
        );
    [keep, prefer, decisions]
}
