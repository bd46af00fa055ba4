//! Numbers, dates and times in running text, and the tokens that replace them.
//!
//! Masking works on characters, not on tokens, so that it is the same for every tokenizer. A run of digits counts as a
//! whole: `12024` does not contain the year 2024.
//!
//! # A number
//! Digits of any script, and `.` `,` `'` `’` `٫` `٬` and no-break spaces (U+00A0, U+202F) between digits: `1,234.50`,
//! `1 234`, `192.168.0.1`. A sign is not part of it. Digits that touch a letter, a mark or `_` are part of a word and
//! left unchanged (`mp3`, `3rd`). Han, Kana, Thai, Lao, Khmer and Burmese, which are written without spaces, may touch
//! them.
//!
//! # A date
//! With Y four digits, M from 1 to 12 and D from 1 to 31 in one or two digits; `␣` is one white space:
//!
//! | form | for example |
//! |---|---|
//! | Y-M-D, Y/M/D, Y.M.D | `2024-05-01` |
//! | D-M-Y, D/M/Y, D.M.Y, and month first | `1.5.2024`, `05/01/2024` |
//! | Y年M月, Y年M月D日, M月D日 (also 号, 號), with or without ␣ between | `2024年5月1日` |
//! | month␣D,␣Y; a point after the month and a letter ending (`1st`) may be there, the comma may not | `May 1, 2024` |
//! | D␣month␣Y; a point or an ending after the day, `of` or `de` before month and year may be there | `1. Mai 2024` |
//!
//! Months are the names in [`MONTHS`], in any case. If the same separator and a digit follow (`1.5.2024.7`), it is not
//! a date. A year of two digits is not part of a date either.
//!
//! # A time
//! H:MM or H:MM:SS with a fraction (`.` or `,`), and `am` or `pm` after it. Directly after a date and `T` it may have a zone
//! (`Z`, `+02:00`, `+0200`): `2024-05-01T12:34:56.7Z` is a date and a time, as it is with a space.

use super::super::properties::Properties;
use super::super::room::reserve;
use std::ops::Range;

/// The kinds of text that may be masked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Masks {
    /// Numbers become `<number>`.
    pub numbers: bool,
    /// Dates become `<date>`, times `<time>`. They are searched before numbers.
    pub dates: bool,
}

/// The names of [`Masks`], each with a line of help.
pub const MASKS: &[(&str, &str)] = &[
    ("numbers", "numbers become one token <number>: 1,234.50, 192.168.0.1"),
    ("dates", "dates become <date> and times <time>: 2024-05-01, 1.5.2024, May 1, 2024, 12:34"),
];

impl Masks {
    /// Adds the masks for a name of [`MASKS`]. Returns whether the name is known.
    pub fn add(&mut self, name: &str) -> bool {
        match name {
            "numbers" => self.numbers = true,
            "dates" => self.dates = true,
            _ => return false,
        }
        true
    }

    /// The names of the masks, in the order of [`MASKS`].
    pub fn names(self) -> Vec<&'static str> {
        let both = [self.numbers, self.dates];
        MASKS.iter().zip(both).filter(|(_, wanted)| *wanted).map(|((name, _), _)| *name).collect()
    }
}

/// Names of the months from January to December, and short forms, in English, German, French, Spanish, Italian,
/// Portuguese and Russian (in the case used in dates), with and without accents. Lower case.
pub const MONTHS: [&str; 12] = [
    "january jan januar jänner janner janvier enero gennaio janeiro января",
    "february feb februar février fevrier febrero febbraio fevereiro февраля",
    "march mar märz marz mars marzo março marco марта",
    "april apr avril abril aprile апреля",
    "may mai mayo maggio maio мая",
    "june jun juni juin junio giugno junho июня",
    "july jul juli juillet julio luglio julho июля",
    "august aug août aout agosto августа",
    "september sep sept septembre septiembre settembre setembro сентября",
    "october oct oktober okt octobre octubre ottobre outubro октября",
    "november nov novembre noviembre novembro ноября",
    "december dec dezember dez décembre decembre diciembre dicembre dezembro декабря",
];

/// The longest name of a month, in characters.
const LONGEST_MONTH: usize = 10;

/// The zeros of the scripts whose digits can be read in dates. Each is followed by one to nine.
const ZEROS: [char; 16] = ['0', '٠', '۰', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦', '๐', '໐', '၀', '０'];

/// The kind of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Date,
    /// Whether it begins with the `T` that follows a date.
    Time {
        joined: bool,
    },
}

impl Kind {
    /// The token that replaces it.
    pub fn token(self) -> &'static str {
        match self {
            Kind::Number => "<number>",
            Kind::Date => "<date>",
            Kind::Time { .. } => "<time>",
        }
    }
}

/// A match, and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub kind: Kind,
    pub range: Range<usize>,
}

/// Matches in their order: working memory, refilled.
#[derive(Clone, Debug, Default)]
pub(super) struct Matches {
    pub list: Vec<Found>,
    /// The bytes of memory that they may take, and whether they would take more: some are missing then.
    room: usize,
    is_beyond_bound: bool,
}

impl Matches {
    /// Bytes of memory.
    pub fn bytes_held(&self) -> usize {
        size_of::<Found>() * self.list.capacity()
    }

    /// Removes all. The next ones take at most `room` bytes.
    fn begin(&mut self, room: usize) {
        self.list.clear();
        self.room = room;
        self.is_beyond_bound = false;
    }

    fn push(&mut self, found: Found) {
        let left = self.room.saturating_sub(self.bytes_held());
        if reserve(&mut self.list, 1, || left) {
            self.list.push(found);
        } else {
            self.is_beyond_bound = true;
        }
    }
}

/// Fills `found` with the matches in `text`, in order; `dates` is working memory. Returns whether the two take at most `room` bytes.
///
/// Cost: one step for each character, and a bounded number of steps at each run of digits.
pub(super) fn find(text: &str, masks: Masks, dates: &mut Matches, found: &mut Matches, room: usize) -> bool {
    dates.begin(room.saturating_sub(found.bytes_held()));
    if masks.dates {
        find_dates(text, dates);
    }
    found.begin(room.saturating_sub(dates.bytes_held()));
    let mut at = 0;
    for date in dates.list.drain(..) {
        if masks.numbers {
            find_numbers(text, at..date.range.start, found);
        }
        at = date.range.end;
        found.push(date);
    }
    if masks.numbers {
        find_numbers(text, at..text.len(), found);
    }
    !dates.is_beyond_bound && !found.is_beyond_bound
}

fn find_dates(text: &str, found: &mut Matches) {
    let mut at = 0;
    // Up to where everything is masked.
    let mut free = 0;
    while !found.is_beyond_bound
        && let Some(start) = next_digit(text, at)
    {
        if let Some(date) = date(text, start, free) {
            let mut end = date.end;
            found.push(Found { kind: Kind::Date, range: date });
            let mut time = Reader { text, at: end };
            if time.take(|c| matches!(c, 'T' | 't')).is_some() && time.time(true) {
                found.push(Found { kind: Kind::Time { joined: true }, range: end..time.at });
                end = time.at;
            }
            (at, free) = (end, end);
            continue;
        }
        let mut time = Reader { text, at: start };
        let begins = !touches(before(text, start)) && !follows_digit(text, start, |c| c == ':');
        if begins && time.time(false) {
            found.push(Found { kind: Kind::Time { joined: false }, range: start..time.at });
            (at, free) = (time.at, time.at);
        } else {
            at = digits_end(text, start);
        }
    }
}

/// The date that the run of digits from `start` on begins, or whose day it is after the name of a month. The date does
/// not start before `free`.
fn date(text: &str, start: usize, free: usize) -> Option<Range<usize>> {
    if let Some(month) = month_before(text, start, free) {
        let mut reader = Reader { text, at: start };
        if reader.month_first() && reader.ends_date() {
            return Some(month..reader.at);
        }
    }
    if touches(before(text, start)) {
        return None;
    }
    let mut reader = Reader { text, at: start };
    let found =
        reader.attempt(Reader::separated) || reader.attempt(Reader::chinese) || reader.attempt(Reader::day_first);
    found.then_some(start..reader.at)
}

/// The start of the name of a month before `at`, with a white space and perhaps a point in between.
fn month_before(text: &str, at: usize, free: usize) -> Option<usize> {
    let before = text[free..at].strip_suffix(char::is_whitespace)?;
    let before = before.strip_suffix('.').unwrap_or(before);
    let letters =
        before.chars().rev().take(LONGEST_MONTH + 1).take_while(|&c| is_letter(c)).map(char::len_utf8).sum::<usize>();
    let start = free + before.len() - letters;
    let name = &before[before.len() - letters..];
    (is_month(name) && !touches(self::before(text, start))).then_some(start)
}

fn find_numbers(text: &str, within: Range<usize>, found: &mut Matches) {
    let whole = |start| {
        let end = digits_end(text, start);
        (!touches(before(text, start)) && !touches(text[end..].chars().next())).then_some(end)
    };
    let mut at = within.start;
    while !found.is_beyond_bound
        && let Some(start) = next_digit(&text[..within.end], at)
    {
        let Some(mut end) = whole(start) else {
            at = digits_end(text, start);
            continue;
        };
        let mut reader = Reader { text: &text[..within.end], at: end };
        while reader.take(joins_number).is_some()
            && reader.peek().is_some_and(is_digit)
            && let Some(next) = whole(reader.at)
        {
            end = next;
            reader.at = next;
        }
        found.push(Found { kind: Kind::Number, range: start..end });
        at = end;
    }
}

/// A reader that advances in a text while it matches.
#[derive(Clone, Copy)]
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// The next character, if it matches.
    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let c = self.peek().filter(|&c| wanted(c))?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn space(&mut self) -> bool {
        self.take(char::is_whitespace).is_some()
    }

    /// A whole run of digits, if their number and their value are in these ranges.
    fn number(&mut self, digits: Range<usize>, values: Range<u32>) -> bool {
        let (mut count, mut value) = (0, 0);
        while let Some(c) = self.take(is_digit) {
            let Some(digit) = digit_value(c) else { return false };
            (count, value) = (count + 1, 10 * value + digit);
            if count >= digits.end {
                return false;
            }
        }
        digits.contains(&count) && values.contains(&value)
    }

    fn day(&mut self) -> bool {
        self.number(1..3, 1..32)
    }

    fn month(&mut self) -> bool {
        self.number(1..3, 1..13)
    }

    fn year(&mut self) -> bool {
        self.number(4..5, 0..10_000)
    }

    /// A run of letters, unless it is longer than any name.
    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let len = rest.chars().take(LONGEST_MONTH + 1).take_while(|&c| is_letter(c)).map(char::len_utf8).sum();
        self.at += len;
        &rest[..len]
    }

    /// One of some words, if it comes next.
    fn word_of(&mut self, words: &[&str]) -> bool {
        let mut ahead = *self;
        let found = is_one_of(ahead.word(), words);
        if found {
            *self = ahead;
        }
        found
    }

    /// Tries an alternative, and resets the position if it fails.
    fn attempt(&mut self, read: impl Fn(&mut Self) -> bool) -> bool {
        let mut ahead = *self;
        let done = read(&mut ahead);
        if done {
            *self = ahead;
        }
        done
    }

    /// Digits with `-`, `/` or `.` between.
    fn separated(&mut self) -> bool {
        let start = self.at;
        let form = |reader: &mut Self,
                    first: fn(&mut Self) -> bool,
                    second: fn(&mut Self) -> bool,
                    third: fn(&mut Self) -> bool| {
            if !first(reader) {
                return false;
            }
            let Some(separator) = reader.take(|c| matches!(c, '-' | '/' | '.')) else { return false };
            let rest = second(reader) && reader.take(|c| c == separator).is_some() && third(reader);
            let mut next = *reader;
            let goes_on = next.take(|c| c == separator).is_some() && next.peek().is_some_and(is_digit);
            rest && !goes_on && reader.ends_date() && !follows_digit(reader.text, start, |c| c == separator)
        };
        self.attempt(|reader| form(reader, Self::year, Self::month, Self::day))
            || self.attempt(|reader| form(reader, Self::day, Self::month, Self::year))
            || self.attempt(|reader| form(reader, Self::month, Self::day, Self::year))
    }

    /// A number and one of some characters, with or without a white space before each.
    fn counted(&mut self, number: fn(&mut Self) -> bool, unit: &[char]) -> bool {
        self.attempt(|reader| {
            reader.space();
            if !number(reader) {
                return false;
            }
            reader.space();
            reader.take(|c| unit.contains(&c)).is_some()
        })
    }

    fn chinese(&mut self) -> bool {
        let with_year = self.counted(Self::year, &['年']);
        let month = self.counted(Self::month, &['月']);
        let day = self.counted(Self::day, &['日', '号', '號']);
        month && (with_year || day)
    }

    /// From the day on, after the name of the month.
    fn month_first(&mut self) -> bool {
        if !self.day() {
            return false;
        }
        self.word_of(&["st", "nd", "rd", "th"]);
        let comma = self.take(|c| c == ',').is_some();
        (self.space() || comma) && self.year()
    }

    fn day_first(&mut self) -> bool {
        if !self.day() {
            return false;
        }
        if self.take(|c| matches!(c, '.' | 'º')).is_none() {
            self.word_of(&["st", "nd", "rd", "th", "er"]);
        }
        self.space();
        self.attempt(|reader| reader.word_of(&["of", "de"]) && reader.space());
        if !is_month(self.word()) {
            return false;
        }
        self.take(|c| c == '.');
        self.take(|c| c == ',');
        if !self.space() {
            return false;
        }
        self.attempt(|reader| reader.word_of(&["of", "de"]) && reader.space());
        self.year() && self.ends_date()
    }

    /// Whether a date may end here: before anything that is not part of a word, or before `T` and a time.
    fn ends_date(&self) -> bool {
        let mut time = *self;
        !touches(self.peek()) || time.take(|c| matches!(c, 'T' | 't')).is_some() && time.time(true)
    }

    /// A time of day, with a zone if it is `joined` to a date.
    fn time(&mut self, joined: bool) -> bool {
        if !self.number(1..3, 0..25) || self.take(|c| c == ':').is_none() || !self.number(2..3, 0..60) {
            return false;
        }
        let seconds = self.attempt(|reader| reader.take(|c| c == ':').is_some() && reader.number(2..3, 0..61));
        if seconds {
            self.attempt(|reader| {
                let point = reader.take(|c| matches!(c, '.' | ',')).is_some() && reader.peek().is_some_and(is_digit);
                reader.at = digits_end(reader.text, reader.at);
                point
            });
        }
        if joined {
            if self.take(|c| matches!(c, 'Z' | 'z')).is_none() {
                self.attempt(Self::offset);
            }
        } else {
            self.attempt(|reader| {
                reader.space();
                reader.word_of(&["am", "pm"])
            });
        }
        let mut next = *self;
        let goes_on = next.take(|c| c == ':').is_some() && next.peek().is_some_and(is_digit);
        !goes_on && !touches(self.peek())
    }

    /// The offset of a zone from Greenwich.
    fn offset(&mut self) -> bool {
        let parts = |reader: &mut Self| {
            reader.number(2..3, 0..24) && reader.take(|c| c == ':').is_some() && reader.number(2..3, 0..60)
        };
        self.take(|c| matches!(c, '+' | '-' | '−')).is_some() && (self.attempt(parts) || self.number(4..5, 0..2400))
    }
}

/// Whether a character is a digit of any script. Han numerals are letters.
fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { Properties::of(c).any(Properties::NUMBER) }
}

fn digit_value(c: char) -> Option<u32> {
    if c.is_ascii_digit() {
        return c.to_digit(10);
    }
    ZEROS.iter().map(|&zero| (c as u32).wrapping_sub(zero as u32)).find(|&value| value < 10)
}

fn is_letter(c: char) -> bool {
    Properties::of(c).any(Properties::LETTER) && c != '_'
}

fn joins_number(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’' | '٫' | '٬' | '\u{a0}' | '\u{202f}')
}

/// Whether digits beside this character are part of a word.
fn touches(c: Option<char>) -> bool {
    c.is_some_and(|c| {
        let properties = Properties::of(c);
        let unspaced = properties.any(Properties::ALONE.and(Properties::UNSPACED)) && !is_digit(c);
        !unspaced && properties.any(Properties::LETTER.and(Properties::NUMBER).and(Properties::MARK))
    })
}

/// The character before `at`, skipping its marks.
fn before(text: &str, at: usize) -> Option<char> {
    text[..at].chars().rev().find(|&c| !Properties::of(c).any(Properties::MARK))
}

/// Whether a character of this kind is before `at`, and a digit before it.
fn follows_digit(text: &str, at: usize, wanted: impl Fn(char) -> bool) -> bool {
    let mut back = text[..at].chars().rev();
    back.next().is_some_and(wanted) && back.next().is_some_and(is_digit)
}

fn next_digit(text: &str, from: usize) -> Option<usize> {
    text[from..].char_indices().find(|&(_, c)| is_digit(c)).map(|(at, _)| from + at)
}

fn digits_end(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    start + rest.find(|c| !is_digit(c)).unwrap_or(rest.len())
}

fn is_month(word: &str) -> bool {
    // What stands beside digits is mostly no word at all or begins otherwise, and there are many names.
    let Some(first) = word.chars().next().and_then(|c| c.to_lowercase().next()) else { return false };
    MONTHS.iter().any(|names| names.split(' ').any(|name| name.starts_with(first) && is_same(word, name)))
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| is_same(word, other))
}

/// Whether a word is this one, in any case.
fn is_same(word: &str, lower: &str) -> bool {
    word.chars().flat_map(char::to_lowercase).eq(lower.chars())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::{nasty_text, texts};
    use proptest::prelude::*;

    const BOTH: Masks = Masks { numbers: true, dates: true };
    const NUMBERS: Masks = Masks { numbers: true, dates: false };
    const DATES: Masks = Masks { numbers: false, dates: true };

    #[test]
    fn months_in_any_case() {
        for name in MONTHS.iter().flat_map(|names| names.split(' ')) {
            let mut folded = String::new();
            super::super::fold::push_folded(name, &mut folded);
            assert!(is_month(&folded), "{name}");
            let mut title = name.chars();
            let title: String = title.next().unwrap().to_uppercase().chain(title).collect();
            assert!(is_month(name) && is_month(&name.to_uppercase()) && is_month(&title), "{name}");
        }
        assert!(["", "m", "mayor", "年", "İ"].iter().all(|word| !is_month(word)));
    }

    fn found(text: &str, masks: Masks) -> Vec<Found> {
        let mut found = Matches::default();
        assert!(find(text, masks, &mut Matches::default(), &mut found, usize::MAX));
        found.list
    }

    /// The text with one letter for each thing found in it.
    fn masked(text: &str, masks: Masks) -> String {
        let (mut out, mut at) = (String::new(), 0);
        for Found { kind, range } in found(text, masks) {
            assert!(at <= range.start && range.start < range.end, "{text:?}");
            out += &text[at..range.start];
            out += match kind {
                Kind::Number => "N",
                Kind::Date => "D",
                Kind::Time { .. } => "T",
            };
            at = range.end;
        }
        out + &text[at..]
    }

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("call 5 times", "call N times"),
            ("1,234.50 and 1'000 and 1’000 or 1\u{a0}000\u{202f}000.", "N and N and N or N."),
            ("192.168.0.1:8080", "N:N"),
            ("-5 +3 50% $7", "-N +N N% $N"),
            ("in 2024, 2025.", "in N, N."),
            ("mp3 3rd x_1 1_000 0x1F 3.14abc", "mp3 3rd x_1 1_000 0x1F N.14abc"),
            ("1,\u{301}2 1\u{301}.5", "N,\u{301}N 1\u{301}.N"),
            ("2024年 第3章", "N年 第N章"),
            ("٣٫١٤ و ١٬٠٠٠", "N و N"),
            ("๑๒๓ บาท กำ๑๒๓", "N บาท กำN"),
            ("１２３ ½ ②", "N N N"),
            ("二〇二四年", "二〇二四年"),
            ("12:34 2024-05-01", "N:N N-N-N"),
            ("", ""),
        ] {
            assert_eq!(masked(text, NUMBERS), expected, "{text:?}");
        }
    }

    #[test]
    fn dates_and_times() {
        for (text, expected) in [
            ("on 2024-05-01.", "on D."),
            ("2024/5/1, 2024.05.01", "D, D"),
            ("01/05/2024 05/31/2024 31/05/2024 1.5.2024", "D D D D"),
            ("2024年5月1日に 2024年5月の 5月1日は", "Dに Dの Dは"),
            ("2024 年 5 月 1 日，5月1号", "D，D"),
            ("May 1, 2024; May 1 2024; may 1st, 2024; Sept. 30, 2024", "D; D; D; D"),
            ("1 May 2024, 1st of May 2024, 31 DEC. 2024", "D, D, D"),
            ("am 1. Mai 2024 und 24. Dezember 2024", "am D und D"),
            ("le 1er août 2024, el 3 de mayo de 2024, il 2 giugno 1946", "le D, el D, il D"),
            ("1 de março de 2024, 9 мая 1945 г.", "D, D г."),
            ("٢٠٢٤-٠٥-٠١ २०२४-०५-०१ ๑/๕/๒๕๖๗", "D D D"),
            ("at 12:34, 9:05:59 and 23:59:60.125 or 1:02 pm", "at T, T and T or T"),
            ("12:34pm", "T"),
            ("2024-05-01T12:34:56.789Z 2024-05-01t12:34+02:00 2024-05-01T12:34:56-0700", "DT DT DT"),
            ("2024-05-01 12:34:56,7", "D T"),
            ("2024-05-01/2024-06-01", "D/D"),
            // Near misses.
            (
                "2024-13-01 2024-00-01 2024-05-32 32.5.2024 13/13/2024",
                "2024-13-01 2024-00-01 2024-05-32 32.5.2024 13/13/2024",
            ),
            ("2024-05/01 1.5.24 12024-05-01 2024-05-011", "2024-05/01 1.5.24 12024-05-01 2024-05-011"),
            (
                "1.5.2024.7 7.1.5.2024 2024-05-01-02 x2024-05-01 2024-05-01x",
                "1.5.2024.7 7.1.5.2024 2024-05-01-02 x2024-05-01 2024-05-01x",
            ),
            ("25:00 12:60 1:2 12:34:56:78 a12:34 12:34x", "25:00 12:60 1:2 12:34:56:78 a12:34 12:34x"),
            (
                "May 2024, mayor 1, 2024, dismay 1, 2024, May 32, 2024",
                "May 2024, mayor 1, 2024, dismay 1, 2024, May 32, 2024",
            ),
            ("1 Mayor 2024, 1 May 20245, 1 May 2024x", "1 Mayor 2024, 1 May 20245, 1 May 2024x"),
            ("2024-05-01T12:34x 2024-05-01T", "2024-05-01T12:34x 2024-05-01T"),
        ] {
            assert_eq!(masked(text, DATES), expected, "{text:?}");
        }
    }

    #[test]
    fn dates_come_before_numbers() {
        for (text, expected) in [
            ("1,2024-05-01 5", "N,D N"),
            ("May 1, 2024, 12:34: 1,000", "D, T: N"),
            ("1.5.24 and 1.5.2024", "N and D"),
            ("7.1.5.2024", "N"),
        ] {
            assert_eq!(masked(text, BOTH), expected, "{text:?}");
        }
    }

    #[test]
    fn every_name_of_a_month() {
        for name in MONTHS.iter().flat_map(|names| names.split(' ')) {
            assert!(name.chars().count() <= LONGEST_MONTH && name.to_lowercase() == name, "{name}");
            for text in
                [format!("{name} 1, 2024"), format!("1 {name} 2024"), format!("1. {} 2024", name.to_uppercase())]
            {
                assert_eq!(masked(&text, DATES), "D", "{text}");
            }
        }
    }

    /// Numbers by their definition: at each place the longest stretch that is one.
    fn plain_numbers(text: &str) -> Vec<Range<usize>> {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let is_number = |range: Range<usize>| {
            let inside = &text[range.clone()];
            let parts: Vec<&str> = inside.split(joins_number).collect();
            let is_mark = |c: &char| unicode_normalization::char::is_combining_mark(*c);
            let neighbours =
                [text[..range.start].chars().rev().find(|c| !is_mark(c)), text[range.end..].chars().next()];
            parts.iter().all(|part| !part.is_empty() && part.chars().all(is_digit))
                && neighbours.into_iter().flatten().all(|c| {
                    let word = c.is_alphanumeric() || c == '_' || is_mark(&c);
                    let unspaced = Properties::of(c).any(Properties::ALONE.and(Properties::UNSPACED));
                    !is_digit(c) && (!word || unspaced)
                })
        };
        let mut all: Vec<Range<usize>> = Vec::new();
        for &start in &places {
            let free = all.last().is_none_or(|last| last.end <= start);
            let end = places.iter().rev().find(|&&end| end > start && is_number(start..end));
            if let (true, Some(&end)) = (free, end) {
                all.push(start..end);
            }
        }
        all
    }

    fn number_like() -> impl Strategy<Value = String> {
        let pieces =
            vec!["1", "23", "٣", "๕", "½", ".", ",", "'", "\u{a0}", " ", "x", "_", "年", "é", "\u{301}", "-", ":"];
        prop::collection::vec(prop::sample::select(pieces), 0..14).prop_map(|pieces| pieces.concat())
    }

    fn date_like() -> impl Strategy<Value = String> {
        let pieces = vec![
            "2024", "05", "1", "31", "12", "-", "/", ".", ":", " ", ",", "T", "Z", "May", "mai", "de", "st", "年",
            "月", "日", "x", "pm", "+02:00", "٢", "é",
        ];
        prop::collection::vec(prop::sample::select(pieces), 0..14).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_the_definition(text in prop_oneof![number_like(), nasty_text()]) {
            let ranges: Vec<_> = found(&text, NUMBERS).into_iter().map(|found| found.range).collect();
            prop_assert_eq!(ranges, plain_numbers(&text), "{:?}", text);
        }

        #[test]
        fn a_date_is_found_wherever_it_stands(
            (before, after) in (texts(), texts()),
            (year, month, day) in (1000..3000, 1..=12usize, 1..=31),
            (hour, minute) in (0..24, 0..60),
            form in 0..9,
        ) {
            let name = MONTHS[month - 1].split(' ').next().unwrap();
            let date = match form {
                0 => format!("{year}-{month:02}-{day:02}"),
                1 => format!("{year}.{month}.{day}"),
                2 => format!("{month:02}/{day:02}/{year}"),
                3 => format!("{day}.{month}.{year}"),
                4 => format!("{year}年{month}月{day}日"),
                5 => format!("{name} {day}, {year}"),
                6 => format!("{day}. {name} {year}"),
                7 => format!("{day} de {name} de {year}"),
                _ => format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z"),
            };
            let text = format!("{before} « {date} » {after}");
            let start = before.len() + " « ".len();
            let inside: Vec<_> = found(&text, BOTH).into_iter().filter(|f| f.range.end > start && f.range.start < start + date.len()).collect();
            prop_assert_eq!(inside[0].kind, Kind::Date);
            prop_assert_eq!((inside[0].range.start, inside.last().unwrap().range.end), (start, start + date.len()), "{}", text);
            prop_assert_eq!(inside.len(), if form > 7 { 2 } else { 1 });
        }

        #[test]
        fn what_is_found_is_in_order_and_dates_do_not_hang_on_numbers(text in prop_oneof![date_like(), texts(), nasty_text(), any::<String>()]) {
            masked(&text, BOTH);
            let mut both = found(&text, BOTH);
            both.retain(|found| found.kind != Kind::Number);
            prop_assert_eq!(both, found(&text, DATES));
        }
    }
}
