//! What longer findings covered at an earlier commit, or in a baseline, is not new once they are gone.

use super::shell::Shell;
use serde_json::Value;
use std::fs;

/// A paragraph of 36 words, four of which are its own: such paragraphs are similar, but not within one page.
fn paragraph(number: usize) -> String {
    let own = |at: usize| at % 9 == 4;
    let words: Vec<String> =
        (0..36).map(|at| if own(at) { format!("own{number}x{at}") } else { format!("common{at}") }).collect();
    words.join(" ") + "."
}

/// 50 words that no other page has.
fn other(name: &str) -> String {
    (0..50).map(|at| format!("{name}{at} ")).collect::<String>().trim_end().to_string() + "."
}

/// Two pages in `docs` with these parts, and words of their own between and around them.
fn tree(parts: &[String]) -> Shell {
    let shell = Shell::new();
    fs::create_dir(shell.folder().join("docs")).unwrap();
    for name in ["one", "two"] {
        let own = |index: usize| other(&format!("{name}{index}x"));
        let with_own = parts.iter().enumerate().flat_map(|(index, part)| [own(index), part.clone()]);
        let page: Vec<String> = with_own.chain([own(parts.len())]).collect();
        shell.write(&format!("docs/{name}.md"), page.join("\n\n") + "\n");
    }
    shell
}

/// Replaces a text in a page.
fn replace(shell: &Shell, name: &str, old: &str, new: &str) {
    let text = fs::read_to_string(shell.folder().join(name)).unwrap();
    assert!(text.contains(old), "{old} in {text}");
    shell.write(name, text.replace(old, new));
}

/// The lengths of the findings, in words.
fn words(shell: &Shell, arguments: &str) -> Vec<u64> {
    let records = shell.sh(&format!("dedup check docs -q --report jsonl {arguments}")).stdout;
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter(|record| record["type"] == "copy").map(|record| record["words"].as_u64().unwrap()).collect()
}

#[test]
fn paragraphs_in_longer_findings_at_the_commit_are_known() {
    let both = format!("{}\n\n{}", paragraph(0), paragraph(1));
    let shell = tree(&[both, format!("{}\n\n{}", paragraph(2), other("shared"))]);
    shell.sh("git init -q .; git add docs; git -c user.name=t -c user.email=t@t commit -q -m one").done();
    assert_eq!(words(&shell, ""), [72, 86]);
    // The second paragraph goes from one page, and is edited in the other: it is still like the others.
    replace(&shell, "docs/one.md", &paragraph(1), &paragraph(1).replace("common20", "edited20"));
    replace(&shell, "docs/two.md", &paragraph(1), "");
    assert_eq!(words(&shell, ""), [36, 86]);
    assert_eq!(shell.dedup("check docs -q --since HEAD").status, 0);
}

#[test]
fn a_baseline_knows_paragraphs_in_longer_findings() {
    let parts = [0, 1].map(|number| format!("{}\n\n{}", paragraph(number), other(&format!("shared{number}x"))));
    let shell = tree(&parts);
    shell.dedup("check docs -q --baseline b.json --update-baseline");
    assert_eq!(words(&shell, ""), [86, 86]);
    replace(&shell, "docs/two.md", &parts[0], "");
    assert_eq!(words(&shell, ""), [36, 86]);
    assert_eq!(shell.dedup("check docs -q --baseline b.json").status, 0);
}

#[test]
fn where_words_were_removed_two_known_copies_are_one() {
    let gap = other("gap");
    let part = |name: &str| [other(&format!("{name}a")), other(&format!("{name}b"))].join("\n\n");
    let shell = tree(&[[part("first"), part("second")].join("\n\n")]);
    replace(&shell, "docs/one.md", &part("first"), &format!("{}\n\n{gap}", part("first")));
    shell.sh("git init -q .; git add docs; git -c user.name=t -c user.email=t@t commit -q -m one").done();
    shell.dedup("check docs -q --baseline b.json --update-baseline");
    assert_eq!(words(&shell, ""), [100, 100]);
    replace(&shell, "docs/one.md", &gap, "");
    assert_eq!(words(&shell, ""), [200]);
    assert_eq!(shell.dedup("check docs -q --since HEAD").status, 0);
    assert_eq!(shell.dedup("check docs -q --baseline b.json").status, 0);
}

#[test]
fn a_second_copy_beside_another_is_new() {
    let copied = other("copied");
    let alike = copied.replace("copied7 ", "").replace("copied23 ", "");
    let shell = tree(&[format!("{alike}\n\n## Heading\n\n{copied}")]);
    replace(&shell, "docs/two.md", &format!("{alike}\n\n## Heading\n\n"), "");
    shell.sh("git init -q .; git add docs; git -c user.name=t -c user.email=t@t commit -q -m one").done();
    assert_eq!(words(&shell, "--since HEAD"), [0; 0]);
    for second in [&copied, &alike] {
        let both = format!("{copied}\n\n## More\n\n{second}");
        replace(&shell, "docs/two.md", &copied, &both);
        assert_eq!(words(&shell, "--since HEAD").len(), 1, "{second}");
        replace(&shell, "docs/two.md", &both, &copied);
    }
}
