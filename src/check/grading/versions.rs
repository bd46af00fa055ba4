//! Numbers of versions in names.

/// Names of versions, besides numbers.
const NAMES: [&str; 8] = ["latest", "stable", "next", "dev", "nightly", "current", "main", "master"];

/// Words that a number follows which counts parts of one text: `section-1.2` is no version of a section.
const PARTS: &str = "act appendix article assignment case chap chapter clause day episode example exercise fig figure \
    homework hw lab lecture lesson level module page paragraph part phase problem question quiz quizzes rule scenario \
    scene sec section session sprint stage step task theorem topic tutorial unit vol volume week ch ex kapitel teil \
    abschnitt lektion aufgabe capitulo capítulo parte seccion sección leccion lección ejercicio chapitre partie leçon \
    lecon exercice capitolo sezione lezione esercizio hoofdstuk deel";

/// Marks of versions before a release, and of releases.
const MARKS: [&str; 11] =
    ["alpha", "beta", "dev", "final", "ga", "post", "pre", "preview", "rc", "release", "snapshot"];

/// Whether it is the number of a version: `1.2`, `2.x`, `v1`, `1.2.0-rc1`.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit() && !".x".contains(c)).unwrap_or(digits.len());
    let (number, rest) = digits.split_at(end);
    let is_valid = number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('.');
    is_valid
        && (number.contains('.') || digits.len() < text.len())
        && (is_before_release(rest) || rest.starts_with(['-', '+']))
}

/// Whether it is the end of a version before its release: `a1`, `b3`, `rc2`; or nothing.
fn is_before_release(rest: &str) -> bool {
    let number = ["rc", "a", "b"].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest);
    rest.is_empty()
        || number.len() < rest.len() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it is the name of a version without a number: `latest`, `main`.
pub(super) fn is_named(name: &str) -> bool {
    NAMES.contains(&name)
}

/// A name in parts: `docs-v1.2-en` has `docs` before its version and `en` after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InName<'a> {
    /// Without the separators beside the version.
    pub before: &'a str,
    /// As it is in the name; of a version before a release, with its mark.
    pub version: &'a str,
    pub after: &'a str,
    /// Whether the name alone shows that it is a version: a number with a dot or a `v`. A plain number may count parts of a text, a
    /// number such as `2023.11` or `10.0.0.1` may be a date or an address, and a name such as `dev` may mean something else.
    pub is_certain: bool,
}

/// The version in a name that has other words too: `guide-1.2.0`, `docs-v2`, `python3.11`; else a plain number, as in `guide-2`; else the
/// name of a version, as in `guide-latest`.
pub(super) fn in_name(name: &str) -> Option<InName<'_>> {
    let numbers: Vec<InName> = starts_of_numbers(name).filter_map(|start| number_at(name, start)).collect();
    let certain = numbers.iter().find(|number| number.is_certain).or(numbers.first()).copied();
    certain.or_else(|| {
        let (before, version) = name.rsplit_once(is_separator)?;
        let before = before.trim_end_matches(is_separator);
        (is_named(version) && has_letter(before)).then_some(InName { before, version, after: "", is_certain: false })
    })
}

/// The numbers of a version, for comparisons: `2.x` is newer than each `2.1`, and what follows the numbers does not count.
pub(super) fn numbers(version: &str) -> Vec<u64> {
    let number = version.trim_start_matches(['v', 'V']);
    let end = number.find(|c: char| !c.is_ascii_digit() && !"._-x".contains(c)).unwrap_or(number.len());
    let parts = number[..end].split(['.', '_', '-']).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}

fn is_separator(c: char) -> bool {
    "-_. @+".contains(c)
}

fn has_letter(text: &str) -> bool {
    text.contains(char::is_alphabetic)
}

/// Where the numbers of a name start, each with its `v` if that stands by itself.
fn starts_of_numbers(name: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = name.as_bytes();
    let is_digit = move |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    (0..bytes.len()).filter(move |&at| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let is_first = before.is_none_or(|before| is_separator(before as char));
        let follows_v = || before.is_some_and(|byte| byte.eq_ignore_ascii_case(&b'v'));
        match bytes[at] {
            b'v' | b'V' => is_first && is_digit(at + 1),
            b'0'..=b'9' => {
                let is_of_v = follows_v() && (at == 1 || is_separator(bytes[at - 2] as char));
                let is_inside = before.is_some_and(|byte| byte.is_ascii_digit())
                    || before == Some(b'.') && at > 1 && bytes[at - 2].is_ascii_digit();
                !is_of_v && !is_inside
            }
            _ => false,
        }
    })
}

/// The number that starts there, if it ends with the name or at a separator, and may be one of a version.
fn number_at(name: &str, start: usize) -> Option<InName<'_>> {
    let rest = &name[start..];
    let digits = rest.trim_start_matches(['v', 'V']);
    let has_v = digits.len() < rest.len();
    // `v1_2` and `v1-2` are written where a dot is not wanted.
    let is_joint = |c: char| c == '.' || has_v && "_-".contains(c);
    let (mut end, mut has_dot) = (0, false);
    while let Some(c) = digits[end..].chars().next() {
        let next = digits[end + c.len_utf8()..].chars().next();
        let is_joint = is_joint(c) && next.is_some_and(|next| next.is_ascii_digit() || next == 'x' && c == '.');
        if !(c.is_ascii_digit() || is_joint || c == 'x' && digits[..end].ends_with('.')) {
            break;
        }
        has_dot |= is_joint;
        end += c.len_utf8();
    }
    let number = &digits[..end];
    let end = end + mark_at(&digits[end..]);
    let end = start + rest.len() - digits.len() + end;
    let (before, after) = (&name[..start], &name[end..]);
    let is_whole = after.is_empty() || after.starts_with(is_separator);
    let stands_alone = has_dot || before.is_empty() || before.ends_with(is_separator);
    let [version, before, after] =
        [&name[start..end], before.trim_end_matches(is_separator), after.trim_start_matches(is_separator)];
    let is_certain = has_v || has_dot && !counts_parts(before) && !is_month(number) && !is_address(number);
    let is_version = is_whole && stands_alone && (has_letter(before) || has_letter(after));
    is_version.then_some(InName { before, version, after, is_certain })
}

/// The length of the mark of a version before a release that a text begins with, such as `-rc1`, `b2` or `-beta.2`; 0 if there is none.
fn mark_at(text: &str) -> usize {
    let mark = text.trim_start_matches(['-', '.', '_']);
    let letters = mark.len() - mark.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
    let word = mark[..letters].to_ascii_lowercase();
    // Without a separator, one letter is enough.
    if !MARKS.contains(&word.as_str()) && (mark.len() < text.len() || !["a", "b"].contains(&word.as_str())) {
        return 0;
    }
    let rest = &mark[letters..];
    let number = rest.trim_start_matches(['.', '-']);
    let digits = number.len() - number.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let end = if digits > 0 { rest.len() - number.len() + digits } else { 0 };
    text.len() - mark.len() + letters + end
}

/// Whether it is a month or a day with its year: `2023.11`, `2023.11.05`.
fn is_month(number: &str) -> bool {
    let parts: Vec<&str> = number.split('.').collect();
    let is_within =
        |part: &str, most: u32| part.len() == 2 && part.parse().is_ok_and(|part| (1..=most).contains(&part));
    let is_year = |part: &str| part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
    match parts[..] {
        [year, month] => is_year(year) && is_within(month, 12),
        [year, month, day] => is_year(year) && is_within(month, 12) && is_within(day, 31),
        _ => false,
    }
}

/// Whether it has four parts, as the address of a machine.
fn is_address(number: &str) -> bool {
    number.split('.').filter(|part| part.parse::<u8>().is_ok()).count() == 4 && number.split('.').count() == 4
}

/// Whether the last word of what precedes a number is one of parts of a text.
pub(super) fn counts_parts(before: &str) -> bool {
    let word = before.rsplit(is_separator).next().unwrap_or_default().to_lowercase();
    PARTS.split_whitespace().any(|part| part == word || word.strip_suffix('s') == Some(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_names() {
        for (name, before, version, after) in [
            ("guide-1.2.0", "guide", "1.2.0", ""),
            ("docs-v2", "docs", "v2", ""),
            ("project_1.4", "project", "1.4", ""),
            ("project_v1_4", "project", "v1_4", ""),
            ("release-v1-18", "release", "v1-18", ""),
            ("lib-1.2.x-docs", "lib", "1.2.x", "docs"),
            ("python3.11", "python", "3.11", ""),
            ("k8s-1.18", "k8s", "1.18", ""),
            ("guide-1.2.0-rc.1", "guide", "1.2.0-rc.1", ""),
            ("guide-1.2.0b3", "guide", "1.2.0b3", ""),
            ("guide-1.2-SNAPSHOT", "guide", "1.2-SNAPSHOT", ""),
            ("guide-1.2-beta", "guide", "1.2-beta", ""),
            ("guide-1.2-en", "guide", "1.2", "en"),
            ("v2 docs", "", "v2", "docs"),
            ("utf-8-1.2", "utf-8", "1.2", ""),
            ("chapter-v2", "chapter", "v2", ""),
            // Neither dates nor addresses.
            ("ubuntu-20.04", "ubuntu", "20.04", ""),
            ("guide-2023.1", "guide", "2023.1", ""),
            ("guide-2023.13", "guide", "2023.13", ""),
            ("guide-v2023.11", "guide", "v2023.11", ""),
            ("guide-1.2.3.400", "guide", "1.2.3.400", ""),
        ] {
            assert_eq!(in_name(name), Some(InName { before, version, after, is_certain: true }), "{name}");
        }
        for (name, before, version) in [
            ("guide-2", "guide", "2"),
            ("chapter-1", "chapter", "1"),
            ("section-1.2", "section", "1.2"),
            ("all_steps_1.2", "all_steps", "1.2"),
            ("guide-latest", "guide", "latest"),
            ("homework-1.2", "homework", "1.2"),
            ("use-cases-3.1", "use-cases", "3.1"),
            ("Quizzes 1.2", "Quizzes", "1.2"),
            ("Kapitel-1.1", "Kapitel", "1.1"),
            ("capítulo_2.1", "capítulo", "2.1"),
            ("notes-2023.11", "notes", "2023.11"),
            ("notes-1999.01.31", "notes", "1999.01.31"),
            ("host-10.0.0.1", "host", "10.0.0.1"),
        ] {
            assert_eq!(in_name(name), Some(InName { before, version, after: "", is_certain: false }), "{name}");
        }
        for name in ["", "guide", "mp3", "rev2", "ipv4", "1.2", "v1", "latest", "3d", "1.2guide", "-v-", "é", "v"] {
            assert_eq!(in_name(name), None, "{name}");
        }
    }

    #[test]
    fn numbers_are_compared_part_by_part() {
        assert!(numbers("v1_9") < numbers("1.10"));
        assert!(numbers("2.1") < numbers("2.x"));
        assert_eq!(numbers("1.2.0-rc1"), [1, 2, 0]);
    }
}
