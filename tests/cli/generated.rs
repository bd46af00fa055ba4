//! Completion scripts and manual pages, made from the command line itself.

use super::shell::{Run, Shell, command};

/// Runs a program of the system, if it is installed.
fn with_tool(shell: &Shell, tool: &str, arguments: &[&str]) -> Option<Run> {
    match command(tool, shell.folder()).args(arguments).output() {
        Ok(output) => Some(output.into()),
        Err(_) => {
            eprintln!("skipped: no {tool} here");
            None
        }
    }
}

#[test]
fn completions_for_every_shell() {
    let shell = Shell::new();
    for (name, check) in
        [("bash", Some("-n")), ("zsh", Some("-n")), ("fish", Some("-n")), ("elvish", None), ("powershell", None)]
    {
        let script = shell.dedup(&format!("completions {name}")).done();
        for word in ["dedup", "scan", "threshold", "--emit"] {
            // Some shells put the dashes on themselves.
            assert!(script.contains(word.trim_start_matches('-')), "{name}: {word}");
        }
        shell.write(name, script);
        if let Some(run) = check.and_then(|flag| with_tool(&shell, name, &[flag, name])) {
            assert_eq!((run.status, &*run.stderr), (0, ""), "{name}");
        }
    }
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let shell = Shell::new();
    shell.write("script", shell.dedup("completions bash").done());
    let complete = |words: &str| {
        let count = words.split(' ').count() - 1;
        let line = format!(
            ". ./script; COMP_WORDS=({words} ''); COMP_CWORD={count}; _dedup dedup \"${{COMP_WORDS[COMP_CWORD]}}\" \
             \"${{COMP_WORDS[COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        with_tool(&shell, "bash", &["-c", &line]).map(Run::done)
    };
    for (words, offered) in [
        ("dedup s", "scan"),
        ("dedup scan --thresh", "--threshold"),
        ("dedup scan --emit v", "verdicts"),
        ("dedup plan --algo si", "simhash"),
        ("dedup help filt", "filter filtering"),
    ] {
        if let Some(found) = complete(words) {
            assert_eq!(found.trim(), offered, "{words}");
        }
    }
}

#[test]
fn manual_pages_for_the_program_and_each_command() {
    let shell = Shell::new();
    for (arguments, name) in [
        ("man", "dedup"),
        ("man scan", "dedup-scan"),
        ("man plan", "dedup-plan"),
        ("man completions", "dedup-completions"),
        ("man man", "dedup-man"),
        ("man help", "dedup-help"),
    ] {
        let page = shell.dedup(arguments).done();
        assert!(page.lines().any(|line| line.starts_with(&format!(".TH {name} 1"))), "{arguments}: {page}");
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS"] {
            assert!(page.contains(section), "{arguments}: {section}");
        }
        shell.write("page", &page);
        if let Some(run) = with_tool(&shell, "groff", &["-man", "-Tutf8", "-P-cbou", "-ww", "page"]) {
            assert_eq!((run.status, &*run.stderr), (0, ""), "{arguments}");
            assert!(run.stdout.contains("SYNOPSIS"), "{arguments}");
        }
    }
}
