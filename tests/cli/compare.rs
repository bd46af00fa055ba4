//! The positions of passages and differences in `dedup compare --json` are correct, its text has the same, and the commands that it
//! names find the documents.

use std::collections::BTreeMap;
use std::ops::Range;

use super::records::{self, Comparison, PassagePlace, Words};
use super::shell::{Shell, root};
use crate::support::plain::token_texts;
use crate::support::random::Random;
use neardups::tokenizer::Word;
use unicode_segmentation::UnicodeSegmentation;

#[test]
fn passages_stand_in_the_lines_and_bytes_that_are_named() {
    let shell = Shell::new();
    let mut passages = 0;
    for (a, b) in [
        ("english/docs/isaiah-39-kjv.txt", "english/docs/2-kings-20-kjv.txt"),
        ("english/docs/gettysburg.txt", "english/docs/gettysburg-inscription.txt"),
        ("english/docs/carmilla-early-fright.txt", "english/docs/mirror-carmilla-p03.txt"),
        ("chinese/docs/kongyiji.txt", "chinese/docs/kongyiji-posted.txt"),
        ("chinese/docs/efanggong.txt", "chinese/docs/efanggong-variants.txt"),
        ("code/docs/getrandom-0.3.4-windows.rs", "code/docs/getrandom-0.4.3-windows.rs"),
    ] {
        let read = |name: &str| std::fs::read_to_string(root().join("fixtures").join(name)).unwrap();
        let texts = [read(a), read(b)];
        let run = shell.dedup(&format!("compare --json -q fixtures/{a} fixtures/{b}"));
        let comparison = records::comparisons(&run.done()).remove(0);
        assert!(comparison.complete, "{a}");
        for passage in &comparison.passages {
            let slice = |place: &PassagePlace, text: &str| {
                let [start, end] = place.bytes;
                let line = |byte: usize| 1 + text[..byte].matches('\n').count();
                assert_eq!(place.lines, [line(start), line(end)], "{a} and {b}: {:?}", passage.text);
                text[start..end].to_string()
            };
            let (in_a, in_b) = (slice(&passage.a, &texts[0]), slice(&passage.b, &texts[1]));
            assert_eq!(in_a, passage.text);
            let tokens = [in_a, in_b].map(|text| token_texts(&Word, &text));
            assert_eq!(tokens[0], tokens[1]);
            passages += 1;
        }
    }
    assert!(passages > 20, "{passages}");
}

/// The words of a text by the same rule, without those in some ranges of bytes.
fn words_beside<'t>(text: &'t str, ranges: &[Range<usize>]) -> Vec<&'t str> {
    let mut ranges = ranges.iter().peekable();
    let words = text.split_word_bound_indices().filter(|(start, word)| {
        while ranges.next_if(|range| range.end <= *start).is_some() {}
        !word.trim().is_empty() && ranges.peek().is_none_or(|range| *start < range.start)
    });
    words.map(|(_, word)| word).collect()
}

/// Without the differences, both texts have the same words; each difference is in the lines and bytes that are named, and the pieces are
/// the words there.
fn check_differences(comparison: &Comparison, texts: [&str; 2]) {
    let differences = &comparison.differences;
    assert_eq!((differences.places.len(), differences.more), (differences.shown, 0));
    assert!(differences.complete);
    let sides = [0, 1].map(|side| {
        let places = differences.places.iter().map(|places| if side == 0 { &places.a } else { &places.b });
        let pieces = if side == 0 { &differences.a } else { &differences.b };
        let (text, mut ranges) = (texts[side], Vec::new());
        for PassagePlace { lines, bytes: [start, end] } in places {
            let line = |byte: usize| 1 + text.as_bytes()[..byte].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(*lines, [line(*start), line((*end).max(start + 1) - 1)]);
            ranges.push(*start..*end);
        }
        assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
        let own = pieces.iter().filter_map(|piece| match piece {
            Words::Own(text) => Some(text.as_str()),
            _ => None,
        });
        let expected: Vec<&str> =
            ranges.iter().filter(|range| !range.is_empty()).map(|range| &text[range.clone()]).collect();
        assert_eq!(own.collect::<Vec<_>>(), expected);
        words_beside(text, &ranges)
    });
    assert!(sides[0] == sides[1]);
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is in marks, in order.
fn marked(text: &str, [before, after]: [&str; 2]) -> Vec<String> {
    let parts = text.split(before).skip(1);
    parts.map(|part| part.split_once(after).expect("a mark is closed").0.to_string()).collect()
}

/// Compares two files with `--max-differences all`, as JSON and as text, which say the same. Returns the number of differences and of
/// paragraphs.
fn all_differences(shell: &Shell, a: &str, b: &str) -> (usize, usize) {
    let texts = [a, b].map(|name| std::fs::read_to_string(shell.folder().join(name)).unwrap());
    let line = format!("compare {a} {b} -q --algo minhash --max-differences all");
    let comparison = records::comparisons(&shell.dedup(&format!("{line} --json")).done()).remove(0);
    check_differences(&comparison, texts.each_ref().map(|text| &**text));
    let places = &comparison.differences.places;
    let printed = shell.dedup(&line).done();
    let at = printed.find("\nwords differ in ").expect("they differ");
    let (head, list) = printed[at + 1..].split_once('\n').unwrap();
    let expected = match places.len() {
        1 => "words differ in 1 place".to_string(),
        number => format!("words differ in {number} places"),
    };
    assert_eq!(head.replace(',', ""), expected);
    // A line of places, a line of words.
    let lines: Vec<&str> = list.lines().collect();
    let (headers, paragraphs): (Vec<_>, Vec<_>) = lines.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
    assert!(headers.iter().all(|header| header.starts_with("  line") && header.ends_with(" of b")), "{headers:?}");
    assert!(paragraphs.iter().all(|words| words.starts_with("    ") && words.contains(['[', '{'])), "{paragraphs:?}");
    let expected = |side: usize| -> Vec<String> {
        let bytes = places.iter().map(|places| [places.a.bytes, places.b.bytes][side]);
        bytes.filter(|[start, end]| start < end).map(|[start, end]| one_line(&texts[side][start..end])).collect()
    };
    let all = paragraphs.join("\n");
    assert_eq!(marked(&all, ["[-", "-]"]), expected(0));
    assert_eq!(marked(&all, ["{+", "+}"]), expected(1));
    // Each paragraph is between the bytes of its line, and what is not marked in it stands there in the first document.
    let range = |place: &str| -> Range<usize> {
        let (_, bytes) = place.split_once("(bytes ").unwrap();
        let (start, end) = bytes.split_once(')').unwrap().0.split_once('-').unwrap();
        start.parse().unwrap()..end.parse().unwrap()
    };
    let mut seen = 0;
    for (header, words) in headers.iter().zip(&paragraphs) {
        let (of_a, of_b) = header.split_once(" of a, ").unwrap();
        let [of_a, of_b] = [of_a, of_b].map(range);
        let number = places[seen..]
            .iter()
            .take_while(|places| places.a.bytes[1] <= of_a.end && places.b.bytes[1] <= of_b.end)
            .count();
        let here = &places[seen..seen + number];
        assert_eq!([of_a.start, of_b.start], [here[0].a.bytes[0], here[0].b.bytes[0]]);
        let last = &here[number - 1];
        assert_eq!([of_a.end, of_b.end], [last.a.bytes[1], last.b.bytes[1]]);
        seen += number;
        let without_b: String =
            words.split("{+").map(|part| part.split_once("+}").map_or(part, |(_, rest)| rest)).collect();
        let of_first: String = without_b.replace("[-", "").replace("-]", "");
        let solid = |text: &str| text.replace('…', " ").split_whitespace().collect::<String>();
        assert!(solid(&texts[0]).contains(&solid(&of_first)), "{words}");
    }
    assert_eq!(seen, places.len());
    (places.len(), headers.len())
}

#[test]
fn all_differences_are_listed() {
    let shell = Shell::new();
    let mut found = Vec::new();
    for (a, b) in [
        ("english/docs/isaiah-39-kjv.txt", "english/docs/2-kings-20-kjv.txt"),
        ("english/docs/alice-evidence-2.9.txt", "english/docs/alice-evidence-3.0.txt"),
        ("english/docs/genesis-09-asv.txt", "english/docs/genesis-09-kjv.txt"),
        ("english/docs/gettysburg.txt", "english/docs/declaration-preamble.txt"),
        ("chinese/docs/efanggong.txt", "chinese/docs/efanggong-variants.txt"),
        ("chinese/docs/kongyiji.txt", "chinese/docs/kongyiji-posted.txt"),
    ] {
        let (differences, paragraphs) = all_differences(&shell, &format!("fixtures/{a}"), &format!("fixtures/{b}"));
        assert!(paragraphs <= differences);
        found.push(differences);
    }
    assert!(found.iter().sum::<usize>() > 100, "{found:?}");
}

/// Long texts with known edits: words that are replaced, and passages of thousands of words that only one of them has.
#[test]
fn planted_differences_are_listed() {
    let shell = Shell::new();
    let mut random = Random::new(5);
    let common: Vec<String> = (0..200).map(|number| format!("often{number}")).collect();
    let word = |random: &mut Random| match random.chance(0.5) {
        true => random.pick(&common).clone(),
        false => format!("rare{}", random.below(1_000_000)),
    };
    let (mut a, mut b, mut edits) = (String::new(), String::new(), 0);
    for line in 0..3_000 {
        let words: Vec<String> = (0..12).map(|_| word(&mut random)).collect();
        let mut changed = words.clone();
        if line % 7 == 3 {
            (changed[6], edits) = (format!("changed{line}"), edits + 1);
        }
        a += &format!("{}.\n", words.join(" "));
        b += &format!("{}.\n", changed.join(" "));
        if [500, 1_500, 2_500].contains(&line) {
            let side = if line == 1_500 { &mut a } else { &mut b };
            (0..5_000).for_each(|_| *side += &format!("{} ", word(&mut random)));
            edits += 1;
        }
    }
    shell.write("a.txt", &a);
    shell.write("b.txt", &b);
    let (differences, paragraphs) = all_differences(&shell, "a.txt", "b.txt");
    assert_eq!(differences, edits);
    // Edits are 80 words apart, but for those beside the long passages.
    assert!((differences - 6..=differences).contains(&paragraphs), "{paragraphs} of {differences}");

    // Fewer of them.
    let first = shell.dedup("compare a.txt b.txt -q --algo minhash --max-differences 20").done();
    let head = format!("\nwords differ in {edits} places; the first 20 are shown\n");
    assert!(first.contains(&head) && first.ends_with(" …\n"), "{first}");
    assert_eq!(first.matches("{+changed").count(), 20);
    let json = shell.dedup("compare a.txt b.txt -q --algo minhash --max-differences 20 --json").done();
    let found = records::comparisons(&json).remove(0).differences;
    assert_eq!((found.shown, found.more, found.places.len()), (20, edits - 20, 20));
}

/// The commands that a comparison names in its line on partial copies, and the line.
fn named_commands(printed: &str) -> Option<(Vec<String>, String)> {
    let line = printed.lines().find(|line| line.starts_with("most of "))?;
    let Some((_, commands)) = line.split_once(": ") else { return Some((Vec::new(), line.into())) };
    let commands = commands.strip_suffix(" finds this pair").or(commands.strip_suffix(" find this pair")).expect(line);
    let commands = commands.split(" and dedup ").map(|command| match command.starts_with("dedup ") {
        true => command.to_string(),
        false => format!("dedup {command}"),
    });
    Some((commands.collect(), line.into()))
}

/// Compares two texts, and runs each command that the comparison names in a folder that has other documents with the same words too.
/// Returns the commands.
fn run_named_commands(shell: &Shell, [a, b]: [&str; 2], options: &str) -> Option<Vec<String>> {
    shell.sh("rm -rf docs; mkdir docs").done();
    shell.write("docs/a.txt", a);
    shell.write("docs/b.txt", b);
    // Others that have more of them.
    shell.write("docs/c.txt", format!("{b} further words {a}"));
    shell.write("docs/d.txt", format!("{a} {b}"));
    let printed =
        shell.sh(&format!("dedup compare docs/a.txt docs/b.txt --algo minhash --threshold 1 -q {options}")).done();
    let (commands, line) = named_commands(&printed)?;
    for command in &commands {
        let found = shell.sh(&format!("{command} docs -q")).done();
        let pair = ["docs/a.txt", "docs/b.txt"];
        let is_found = match command.starts_with("dedup contain") {
            true => {
                let coverages = records::coverages(&found);
                coverages.iter().any(|found| pair == [&*found.id, &*found.r#in] || pair == [&*found.r#in, &*found.id])
            }
            false => records::repeated(&found)
                .iter()
                .any(|passage| pair.iter().all(|id| passage.places.iter().any(|place| place.id == *id))),
        };
        assert!(is_found, "{command}: {line}\n{a}\n{b}");
    }
    Some(commands)
}

#[test]
fn named_commands_find_the_pair() {
    let shell = Shell::new();
    let fixture = |name: &str| std::fs::read_to_string(root().join("fixtures").join(name)).unwrap();
    let part = |name: &str, bytes: usize| fixture(name)[..bytes].to_string();
    let isaiah = fixture("english/docs/isaiah-39-kjv.txt");
    let xiangyu = ["zan", "wujiang"].map(|part| fixture(&format!("chinese/docs/xiangyu-{part}-shiji.txt")));
    let short = "The old house at the river was sold in May 1998.";
    let longer = "Nobody knew it, but the old house at the river was sold in May 1999, and not in June. So they said.";
    let scattered: String =
        (0..12).map(|n| format!("a{n} b{n} c{n} d{n} e{n} f{n} g{n} h{n} i{n} j{n} x{n} y{n} ")).collect();
    let sparse: String = (0..12).map(|n| format!("a{n} b{n} c{n} d{n} e{n} f{n} w{n} x{n} y{n} z{n} ")).collect();
    let gathered: String = (0..12).map(|n| format!("a{n} b{n} c{n} d{n} e{n} f{n} g{n} h{n} i{n} j{n} ")).collect();
    let cafe = [
        "Un café très fort, s'il vous plaît, et après, l'été déjà passé, un thé glacé à la crème.",
        "Un cafe tres fort, s'il vous plait, et apres, l'ete deja passe, un the glace a la creme. Et rien.",
    ];
    shell.write("my words.txt", "the\nof\nand\n");
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (texts, options, number) in [
        (
            [
                &*part("english/docs/genesis-09-asv.txt", 1_500),
                &*format!("{}\n{isaiah}", part("english/docs/genesis-09-asv.txt", 1_600)),
            ],
            "",
            2,
        ),
        ([&*xiangyu[0], &*xiangyu[1]], "", 2),
        ([&*xiangyu[0], &*xiangyu[1]], "--tokenizer uax29", 2),
        ([&*xiangyu[0], &*xiangyu[1]], "--tokenizer char:5 --min-run 20", 2),
        ([short, longer], "--min-run 3", 2),
        ([short, longer], "--min-run 1", 2),
        ([longer, short], "--min-run 5", 2),
        ([short, longer], "--min-run 5 --tokenizer char:auto", 2),
        ([short, longer], "--min-run 4 --mask numbers", 2),
        ([short, longer], "--min-run 3 --stopwords en --stem en", 2),
        ([short, longer], "--min-run 3 --stopwords 'my words.txt' --join-hyphens", 2),
        ([short, longer], "--min-run 3 --tokenizer whitespace", 2),
        ([short, longer], "--min-run 3 --tokenizer code --seed 9", 2),
        ([cafe[0], cafe[1]], "--fold marks", 2),
        ([&*scattered, &*gathered], "", 2),
        ([&*sparse, &*gathered], "--min-run 6", 2),
        (["甲乙丙丁戊", "子丑寅卯甲乙丙丁戊己"], "--min-run 4", 2),
        (["甲", "甲乙"], "--min-run 1", 2),
        (["one two", "one three one"], "--min-run 1", 2),
        // Passages of a text that repeats itself may be left out.
        ([&*gathered.repeat(2), &*format!("{} and more", gathered.repeat(9))], "", 1),
        // Characters in common, but no words.
        (["aaaabbbbccccddddeeeeffff", "1aaaabbbbccccddddeeeeffff2"], "--tokenizer char:4", 0),
    ] {
        let commands = run_named_commands(&shell, texts, options).unwrap_or_else(|| panic!("{options}: {}", texts[0]));
        assert_eq!(commands.len(), number, "{commands:?}");
        for command in commands {
            *seen.entry(command).or_default() += 1;
        }
    }
    for expected in [
        "dedup contain --emit pairs",
        "dedup passages --exact",
        "dedup contain --emit pairs --shingle 8 --join-hyphens --stopwords 'my words.txt'",
        "dedup contain --emit pairs --shingle 3 --min-coverage 0.40",
        "dedup passages --exact --min-words 1",
    ] {
        assert!(seen.contains_key(expected), "{expected} is not in {seen:#?}");
    }
}

/// Texts of few words, so that runs of all lengths are common.
#[test]
fn named_commands_find_random_pairs() {
    let shell = Shell::new();
    let mut random = Random::new(11);
    let (mut named, mut both) = (0, 0);
    for round in 0..40 {
        let letters = ["the", "of", "字", "word", "and", "川", "house", "river", "x", "y", "z", "old"];
        let letters = &letters[..3 + random.below(letters.len() - 2)];
        let text = |random: &mut Random, words: usize| -> String {
            (0..words).map(|_| format!("{} ", random.pick(letters))).collect()
        };
        let (length, more, min_run) = (5 + random.below(40), 10 + random.below(60), 1 + random.below(8));
        let a = text(&mut random, length);
        let mut b: Vec<String> = a.split_whitespace().map(String::from).collect();
        for word in &mut b {
            if random.chance(0.1) {
                *word = random.pick(letters).to_string();
            }
        }
        let b = format!("{}{} {}", text(&mut random, more), b.join(" "), text(&mut random, more / 2));
        if let Some(commands) = run_named_commands(&shell, [&a, &b], &format!("--min-run {min_run}")) {
            assert!(!commands.is_empty(), "{round}");
            named += 1;
            both += usize::from(commands.len() == 2);
        }
    }
    assert!(named > 20 && both > 10, "{named}, {both}");
}

#[test]
fn the_verdict_of_all_is_that_of_each() {
    let shell = Shell::new();
    for (a, b, options) in [
        ("english/docs/genesis-09-asv.txt", "english/docs/genesis-09-kjv.txt", ""),
        ("english/docs/gettysburg.txt", "english/docs/declaration-preamble.txt", ""),
        ("encodings/docs/empty.txt", "encodings/docs/punctuation.txt", ""),
        ("encodings/docs/zhufu-gbk.txt", "encodings/docs/zhufu-utf8.txt", "--exact"),
        ("english/docs/gettysburg.txt", "english/docs/declaration-preamble.txt", "--recall 0.9"),
        ("english/docs/gettysburg.txt", "english/docs/gettysburg-inscription.txt", "--recall 0.9"),
    ] {
        let line = format!("compare fixtures/{a} fixtures/{b} -q {options}");
        let printed = shell.dedup(&line).done();
        let verdicts: Vec<&str> = printed.lines().take_while(|line| !line.is_empty()).collect();
        let (summary, verdicts) = verdicts.split_last().unwrap();
        let word = |line: &&str| line.split_once("  ").unwrap().1.trim_start().split(':').next().unwrap().to_string();
        let words: Vec<String> = verdicts.iter().map(word).collect();
        let with = |wanted: &[&str]| words.iter().filter(|word| wanted.contains(&&***word)).count();
        let (reported, apart) = (with(&["reported"]), with(&["not compared", "not run"]));
        let compared = words.len() - apart;
        let others = if apart > 0 { format!(" ({apart} did not compare them)") } else { String::new() };
        let names: Vec<&str> = verdicts
            .iter()
            .filter(|line| word(line) == "reported")
            .map(|line| line.split_once(' ').unwrap().0)
            .collect();
        let expected = match (compared, reported) {
            (0, _) => format!("compared by none of {} algorithms", words.len()),
            (1, 0) => "not reported by the only algorithm that compared them: minhash".to_string(),
            (1, 1) => format!("reported by the only algorithm that compared them: {}", names[0]),
            (_, 0) => format!("reported by none of {compared} algorithms{others}"),
            _ => format!("reported by {reported} of {compared} algorithms{others}: {}", names.join(", ")),
        };
        assert_eq!(**summary, expected, "{printed}");
        let comparison = records::comparisons(&shell.dedup(&format!("{line} --json")).done()).remove(0);
        assert_eq!(comparison.reported_by.len(), reported);
        // With one algorithm, its line says it.
        let one = shell.dedup(&format!("{line} --algo minhash")).done();
        assert_eq!(one.lines().nth(1), Some(""), "{one}");
    }
}

/// An id that several records have: each command that is advised compares another of them with the other document.
#[test]
fn advised_places_of_an_id_name_other_pairs() {
    let shell = Shell::new();
    let lines = [("a", "one two three"), ("b", "four five six"), ("a", "seven eight nine"), ("c", "ten eleven")];
    let lines = lines.map(|(id, text)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n")).concat();
    shell.write("all ids.jsonl", &lines);
    for file in ["'all ids.jsonl'", "-"] {
        let place = |record: u32| format!("{}:{record}", file.trim_matches('\''));
        for (ids, expected) in [
            ("a b", vec![[1, 2], [3, 2]]),
            ("b a", vec![[2, 1], [2, 3]]),
            ("a c", vec![[1, 4], [3, 4]]),
            ("a a", vec![[1, 3]]),
        ] {
            let line = format!("dedup compare --json -q --in {file}");
            let error = shell.sh(&format!("{line} {ids} < 'all ids.jsonl' 2>&1 || true")).done();
            let (_, advice) = error.trim_end().split_once("name both documents by their places, with").unwrap();
            let (line, options) = match advice.strip_prefix("out --in: ") {
                Some(options) => ("dedup compare --json -q", options),
                None => (&*line, advice),
            };
            let compared = options.split(" or ").map(|options| {
                let run = shell.sh(&format!("{line} {options} < 'all ids.jsonl'"));
                let comparison = records::comparisons(&run.done()).remove(0);
                [comparison.a, comparison.b].map(|document| document.at.unwrap_or(document.id))
            });
            let expected: Vec<[String; 2]> = expected.iter().map(|pair| pair.map(place)).collect();
            assert_eq!(compared.collect::<Vec<_>>(), expected, "{ids}: {error}");
        }
    }
}

/// What an algorithm learns from the collection of `--in` is what a scan of it learns: each pair is judged as there.
#[test]
fn pairs_are_judged_as_in_a_scan_of_the_collection() {
    let shell = Shell::new();
    let mut reported = 0;
    for (path, options) in [
        ("fixtures/jsonl/docs", "--algo imatch"),
        ("fixtures/english/docs", "--algo imatch"),
        ("fixtures/english/docs", "--algo imatch --lexicons 1 --idf-low 0 --idf-high 1"),
        ("fixtures/english/docs", "--algo projection --weights idf --agree 336"),
        ("fixtures/english/docs", "--algo minhash --exact --drop-common 0.1 --threshold 0.5"),
        ("fixtures/english/docs", "--algo minhash --drop-common 0.05 --threshold 0.4"),
        ("fixtures/chinese/docs", "--algo imatch --tokenizer char:2"),
    ] {
        let pairs = shell.dedup(&format!("scan {path} {options} -q")).done();
        let pairs: BTreeMap<(String, String), f64> = pairs
            .lines()
            .map(|line| {
                let pair: serde_json::Value = serde_json::from_str(line).unwrap();
                let id = |side: &str| pair[side].as_str().unwrap().to_string();
                ((id("a"), id("b")), pair["similarity"].as_f64().unwrap())
            })
            .collect();
        // Pairs of the scan, and pairs of their members that it does not have.
        let ids: Vec<&String> = pairs.keys().flat_map(|(a, b)| [a, b]).take(12).collect();
        let others = ids.iter().zip(ids.iter().skip(3)).map(|(a, b)| ((*a).clone(), (*b).clone()));
        let asked = pairs.keys().take(8).cloned().chain(others.take(4)).filter(|(a, b)| a != b);
        for (a, b) in asked {
            let line = format!("dedup compare --in {path} '{a}' '{b}' {options} --json -q");
            let comparison: serde_json::Value = serde_json::from_str(&shell.sh(&line).done()).unwrap();
            let judged = &comparison["algorithms"][0];
            let expected = pairs.get(&(a.clone(), b.clone())).or(pairs.get(&(b, a)));
            assert_eq!(judged["reported"].as_bool(), Some(expected.is_some()), "{line}: {judged}");
            if let Some(expected) = expected {
                assert_eq!(judged["similarity"].as_f64(), Some(*expected), "{line}: {judged}");
                reported += 1;
            }
        }
    }
    assert!(reported >= 20, "{reported}");
}

/// Standard input is read again where an algorithm counts first.
#[test]
fn a_collection_on_standard_input_is_counted_too() {
    let shell = Shell::new();
    let by_name = "dedup compare --in fixtures/jsonl/docs/articles.jsonl 4.0.0/zeroth 4.4.7/zeroth --algo imatch -q";
    let piped = by_name.replace("fixtures/jsonl/docs/articles.jsonl", "-") + " < fixtures/jsonl/docs/articles.jsonl";
    let verdict = |line: &str| shell.sh(line).done().lines().next().unwrap().to_string();
    assert_eq!(verdict(&piped), verdict(by_name));
    assert!(verdict(by_name).starts_with("imatch  reported"), "{}", verdict(by_name));
}

/// Paths with characters that a terminal must not get are named so that a shell takes them, also in a message for people.
#[test]
fn commands_for_paths_with_control_characters_can_be_run() {
    let shell = Shell::new();
    let name = "it's \u{1b}[31m\u{9b}\u{202e}1\\ \n.jsonl";
    let record = r#"{"id":"x","text":"one two three"}"#;
    shell.write(name, format!("{record}\n{record}\n"));
    let run = shell.sh("dedup compare --in ./*.jsonl x x");
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(!run.stderr.trim_end().contains(|c: char| c.is_control() || c == '\u{202e}'), "{}", run.stderr);
    let (_, arguments) = run.stderr.trim_end().split_once("without --in: -- ").unwrap();
    if super::shell::command("bash", shell.folder()).arg("--version").output().is_ok() {
        shell.write("command", format!("dedup compare -q -- {arguments}"));
        assert!(shell.sh("bash command").done().starts_with("minhash     reported"), "{arguments}");
    }
    let several = shell.sh("dedup compare ./*.jsonl ./*.jsonl");
    assert!(several.stderr.contains("name one, as in $'./it\\'s \\033[31m\\302\\233"), "{}", several.stderr);
}
