//! The same page in five markups: the same words.

use neardups::prose::{Kind, Markup, Prose, ProseOptions, read};
use std::path::Path;

fn page(name: &str) -> (String, Prose) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/prose/docs").join(name);
    let source = std::fs::read_to_string(&path).unwrap();
    let prose = read(Markup::of_path(&path).unwrap(), &source, &ProseOptions::default());
    (source, prose)
}

/// Runs of letters and digits in lower case.
fn words(prose: &Prose) -> Vec<String> {
    let words = prose.text().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[test]
fn a_page_has_the_same_words_in_any_markup() {
    for (page_name, count) in [("backup", 131), ("glossary", 58)] {
        let expected = words(&page(&format!("{page_name}.txt")).1);
        assert_eq!(expected.len(), count, "{page_name}");
        for ending in ["md", "rst", "adoc", "html"] {
            let (_, prose) = page(&format!("{page_name}.{ending}"));
            assert_eq!(words(&prose), expected, "{page_name}.{ending}");
            assert_eq!(prose.notices(), []);
        }
    }
}

#[test]
fn a_page_has_the_same_blocks_in_any_markup() {
    let kinds = |name: &str| page(name).1.blocks().iter().map(|block| (block.kind, block.section)).collect::<Vec<_>>();
    let expected = kinds("backup.md");
    let of = |kind| expected.iter().filter(|(other, _)| *other == kind).count();
    assert_eq!([Kind::Heading(1), Kind::Heading(2), Kind::Paragraph, Kind::Item, Kind::Cell].map(of), [1, 2, 7, 4, 6]);
    assert_eq!(kinds("backup.rst"), expected);
    assert_eq!(kinds("backup.html"), expected);
    // There the footnote is a part of its sentence.
    assert_eq!(kinds("backup.adoc"), expected[..expected.len() - 1]);
}

#[test]
fn words_stand_where_the_page_has_them() {
    for ending in ["md", "rst", "adoc", "html", "txt"] {
        for name in ["backup", "glossary"] {
            let (source, prose) = page(&format!("{name}.{ending}"));
            for word in prose.text().split_whitespace() {
                let start = word.as_ptr() as usize - prose.text().as_ptr() as usize;
                let place = &source[prose.source_of(start..start + word.len())];
                assert!(
                    place == word || place.contains(['&', '*', '`', '_', '<', '[']),
                    "{name}.{ending}: {word} at {place}"
                );
            }
        }
    }
}
