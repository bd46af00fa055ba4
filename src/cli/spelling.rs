//! The library names parameters as `` `recall` `` or, with a value, `` `recall 0.99` ``; people type `--recall 0.99`.

use clap::Command;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

/// A message of the library with its parameters spelled as options. Other text in backticks stays as it is.
pub fn spelled(message: &str) -> Cow<'_, str> {
    if !message.contains('`') {
        return Cow::Borrowed(message);
    }
    let (mut out, mut rest) = (String::with_capacity(message.len()), message);
    let is_option = |name: &str| OPTIONS.get().is_some_and(|options| options.contains(name));
    while let Some((before, from)) = rest.split_once('`') {
        out += before;
        rest = match from.split_once('`') {
            Some((quoted, after)) if is_option(quoted.split(' ').next().unwrap_or_default()) => {
                out += "--";
                out += quoted;
                after
            }
            // The next backtick may open a name.
            _ => {
                out.push('`');
                from
            }
        };
    }
    Cow::Owned(out + rest)
}

/// The same for several messages.
pub fn spell_all<'a>(messages: impl IntoIterator<Item = &'a mut String>) {
    messages.into_iter().for_each(|message| *message = spelled(message).into_owned());
}

/// The long options of all commands.
static OPTIONS: OnceLock<HashSet<String>> = OnceLock::new();

/// Takes note of the options that there are: those of this command and its subcommands. Before that none is known.
pub fn learn_options(command: &Command) {
    OPTIONS.get_or_init(|| {
        let mut options = HashSet::new();
        collect(command, &mut options);
        options
    });
}

fn collect(command: &Command, options: &mut HashSet<String>) {
    options.extend(command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned));
    command.get_subcommands().for_each(|command| collect(command, options));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_become_options() {
        learn_options(&crate::cli::command());
        let check = |message: &str, expected: &str| assert_eq!(spelled(message), expected);
        check("nothing to do", "nothing to do");
        check("invalid value '0' for `shingle`: expected 1", "invalid value '0' for --shingle: expected 1");
        check("`recall` or `recall 0.99`", "--recall or --recall 0.99");
        check("`recall`", "--recall");
        check("`recall``recall`", "--recall--recall");
        check("`no such option` and `recall`", "`no such option` and --recall");
        check("a ` alone, then `recall`", "a ` alone, then --recall");
        check("`recall", "`recall");
        check("`recall` and `", "--recall and `");
        check("``", "``");
    }
}
