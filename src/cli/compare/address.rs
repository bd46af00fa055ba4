//! What the two sides name, and the reading of it: files, records of files by their numbers, or ids.

use super::super::arguments::compare::Arguments;
use super::super::input;
use super::super::spelling;
use super::super::status::usage_error;
use super::super::terminal::{self, counted};
use super::document::{Collection, Read};
use crate::readable::shell_word;
use neardups::Error;
use neardups::compare::MeasuredSource;
use neardups::source::{self, Input, NoRecord, Place, Record as SourceRecord, Source as _};
use neardups::tokenizer::Tokenizer;
use std::io;
use std::path::{Path, PathBuf};

/// What a side names: a file, or one of its records.
pub struct Address {
    pub path: PathBuf,
    pub record: Option<u64>,
}

impl Address {
    /// The file of this name, if there is one. Otherwise a number after the last colon is that of a record.
    pub fn of(typed: &Path) -> Self {
        let whole = || Address { path: typed.to_path_buf(), record: None };
        if typed.symlink_metadata().is_ok() {
            return whole();
        }
        let split = typed.to_str().and_then(|typed| typed.rsplit_once(':'));
        let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
        match split.and_then(|(path, digits)| Some((path, number(digits)?))) {
            Some((path, record)) if !path.is_empty() => Address { path: path.into(), record: Some(record) },
            _ => whole(),
        }
    }

    /// For messages.
    fn file(&self) -> String {
        terminal::escaped(&self.path.to_string_lossy())
    }

    /// The error for a record that cannot be read.
    fn refusal(&self, why: NoRecord) -> Error {
        let file = self.file();
        let number = self.record.map(|number| format!(":{number}")).unwrap_or_default();
        let cannot =
            |problem: String| Error::input(format!("cannot compare {file}{number}"), io::Error::other(problem));
        match why {
            NoRecord::Several => usage_error(format!(
                "{file} has more than one document: name one, as in {} for the first line, or use --format text",
                shell_word(&format!("{}:1", self.path.to_string_lossy()))
            )),
            NoRecord::Whole => usage_error(format!(
                "{file} is one document, without record {}: choose --format lines, jsonl, csv, …, or name the file alone",
                self.record.unwrap_or_default()
            )),
            NoRecord::Unreadable(problem) => {
                let line = match self.record {
                    None => problem.place.line.map(|line| format!(":{line}")).unwrap_or_default(),
                    Some(_) => number,
                };
                let message = terminal::escaped(&spelling::of_problem(&problem));
                Error::input(format!("cannot compare {file}{line}"), io::Error::other(message))
            }
            NoRecord::Absent { numbers: Some((first, last)), records } => cannot(format!(
                "there is no such record: the file has {}, the first at :{first}, the last at :{last}",
                counted(records, "record")
            )),
            NoRecord::Absent { .. } => cannot("it has no document".into()),
            _ => cannot("the record holds no document".into()),
        }
    }
}

/// Reads one document.
pub fn read(address: &Address, options: &source::ReadOptions) -> Result<Read, Error> {
    if address.path.is_dir() {
        return Err(usage_error(format!("{} is a folder: name two files, or two ids with --in", address.file())));
    }
    let mut input = Input::new(vec![address.path.clone()], options.clone());
    let record = SourceRecord::read(&mut input, address.record).map_err(|why| address.refusal(why))?;
    Ok((record, address.record.is_some()))
}

/// Reads the documents with the typed ids, and measures all. The input can be read again.
pub fn read_ids(
    arguments: &Arguments,
    options: &source::ReadOptions,
    tokenizer: &dyn Tokenizer,
    seed: u64,
) -> Result<([Read; 2], Collection, Input), Error> {
    let ids = arguments.sides.each_ref().map(|id| id.to_string_lossy());
    let mut input = Input::new(arguments.within.clone(), options.clone());
    // An algorithm may count its terms.
    input.keep_for_second_read();
    let mut measured = MeasuredSource::new(&mut input, tokenizer, seed);
    let [a, b] = SourceRecord::with_ids(&mut measured, ids.each_ref().map(|id| &**id));
    let collection = Collection { documents: measured.documents(), median_tokens: measured.median_tokens() };
    match [a, b] {
        [Ok(a), Ok(b)] => Ok(([(a, true), (b, true)], collection, input)),
        found => Err(no_records_of_ids(ids.each_ref().map(|id| &**id), found, arguments)),
    }
}

/// The error for two ids of `--in` that are not those of one record each. Where records have to be chosen, all of them are there.
fn no_records_of_ids(ids: [&str; 2], found: [Result<SourceRecord, NoRecord>; 2], arguments: &Arguments) -> Error {
    let mut places = Vec::new();
    for (id, found) in ids.into_iter().zip(found) {
        match found {
            Ok(record) => places.push(vec![record.place]),
            Err(NoRecord::Repeated(several)) => places.push(several.to_vec()),
            Err(why) => return no_record_of_id(id, why, arguments),
        }
    }
    let side = places.iter().position(|places| places.len() > 1).unwrap_or_default();
    let pairs = match ids[0] == ids[1] {
        true => vec![[&places[side][0], &places[side][1]]],
        false => {
            places[side].iter().map(|own| if side == 0 { [own, &places[1][0]] } else { [&places[0][0], own] }).collect()
        }
    };
    let shown = |place: &Place| terminal::escaped(&place.to_string());
    let word = |place: &Place| shell_word(&place.to_string());
    // Standard input has places only as ids of a collection, and records of WARC only as places of a file.
    let (how, options) = match pairs.iter().flatten().any(|place| &*place.path == "-") {
        true => ("with ", format!("--id-field {} ", input::NO_FIELD)),
        false => ("without --in: ", String::new()),
    };
    let commands: Vec<String> = pairs.iter().map(|[a, b]| format!("{options}-- {} {}", word(a), word(b))).collect();
    let among = |side: usize| format!("among them {} and {}", shown(&places[side][0]), shown(&places[side][1]));
    let other = match side == 0 && ids[0] != ids[1] && places[1].len() > 1 {
        true => format!(", and so is '{}', {}", terminal::escaped(ids[1]), among(1)),
        false => String::new(),
    };
    usage_error(format!(
        "'{}' is the id of several records, {}{other}: name both documents by their places, {how}{}",
        terminal::escaped(ids[side]),
        among(side),
        commands.join(" or ")
    ))
}

/// The error for an id of `--in` that no record has, or one that cannot be read.
fn no_record_of_id(typed: &str, why: NoRecord, arguments: &Arguments) -> Error {
    let within = &arguments.within;
    let id = terminal::escaped(typed);
    let cannot = |problem: String| Error::input(format!("cannot compare '{id}'"), io::Error::other(problem));
    match why {
        NoRecord::Unreadable(problem) => {
            let place = terminal::escaped(&problem.place.to_string());
            let why = format!("{place}: {}", terminal::escaped(&spelling::of_problem(&problem)));
            cannot(match (&problem.id, id_of_file(typed, within)) {
                (Some(own), _) if own == typed => why,
                (_, Some(file)) => format!("no document has this id: did you mean '{file}'?"),
                _ => format!("no document has this id, unless it is in what cannot be read, first of all {why}"),
            })
        }
        NoRecord::Absent { records, .. } => {
            let paths: Vec<_> = within.iter().map(|path| terminal::escaped(&path.to_string_lossy())).collect();
            let documents = counted(records, "document");
            let advice = match (id_of_file(typed, within), is_place(typed, within)) {
                (Some(file), _) => format!("did you mean '{file}'?"),
                (None, _) if arguments.input.id_field.value == input::NO_FIELD => {
                    format!("with --id-field {} the ids of all are their places, FILE:RECORD", input::NO_FIELD)
                }
                (None, true) => {
                    format!(
                        "with --id-field {} the ids of all are their places: name both documents as FILE:RECORD",
                        input::NO_FIELD
                    )
                }
                (None, false) => "--id-field names the field".into(),
            };
            cannot(format!("none of {documents} in {} has this id ({advice})", paths.join(", ")))
        }
        _ => cannot("the record holds no document".into()),
    }
}

/// The id of a file in one of these folders, whose path within the folder was typed.
fn id_of_file(typed: &str, within: &[PathBuf]) -> Option<String> {
    let files = within.iter().map(|folder| folder.join(typed));
    files.filter(|file| file.is_file()).map(|file| terminal::escaped(&file.to_string_lossy())).next()
}

/// Whether an id is the place of a record in one of these files or folders.
fn is_place(id: &str, within: &[PathBuf]) -> bool {
    let address = Address::of(Path::new(id));
    let plain = |path: &Path| path.strip_prefix(".").unwrap_or(path).to_path_buf();
    address.record.is_some() && within.iter().any(|path| plain(&address.path).starts_with(plain(path)))
}
