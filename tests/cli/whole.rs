//! `dedup passages --against REF --unit document`: the documents that a passage of the reference names are left out, and no others,
//! whatever the threads, the memory, and the places that are listed; every other record is the same, byte for byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use neardups::tokenizer::Word;

use super::records::{self, Record};
use super::shell::Shell;
use crate::support::plain::token_texts;
use crate::support::random::Random;

const WORDS: &[&str] =
    &["the", "of", "ship", "sail", "north", "storm", "island", "captain", "wind", "harbour", "a", "in", "was", "and"];

/// Some words; one in three is from a large vocabulary.
fn words(random: &mut Random, count: usize) -> Vec<String> {
    let word = |random: &mut Random| match random.below(3) {
        0 => format!("w{}", random.below(3_000)),
        _ => random.pick(WORDS).to_string(),
    };
    (0..count).map(|_| word(random)).collect()
}

/// A text of these words, with punctuation and capitals.
fn written(random: &mut Random, words: &[String]) -> String {
    let mut text = String::new();
    for word in words {
        text += if random.chance(0.1) { " \"" } else { " " };
        match random.below(6) {
            0 => text += &word.to_uppercase(),
            _ => text += word,
        }
        text += [",", ".\n", "!", ""][random.below(4)];
    }
    text
}

/// Some words of these are changed, left out or added.
fn edited(random: &mut Random, words: &[String], edits: usize) -> Vec<String> {
    let mut words = words.to_vec();
    for edit in 0..edits {
        let at = random.below(words.len());
        match random.below(3) {
            0 => words[at] = format!("changed{edit}"),
            1 if words.len() > 8 => _ = words.remove(at),
            _ => words.insert(at, format!("added{edit}")),
        }
    }
    words
}

/// A record.
fn line(id: &str, text: &str) -> String {
    format!("{{ \"text\": {},\t\"id\":\"{id}\"}}\n", serde_json::to_string(text).unwrap())
}

/// Questions, some of which are much like others, short, or empty, and pages, some of which have one. Returns the lines of the pages, and the
/// numbers of those with a question that is edited lightly.
fn corpus(shell: &Shell, seed: u64, ids_repeat: bool) -> (Vec<String>, BTreeSet<usize>) {
    let mut random = Random::new(seed);
    let mut questions: Vec<Vec<String>> = Vec::new();
    for number in 0..20 {
        let question = match number % 5 {
            3 if number > 5 => edited(&mut random, &questions[number - 3], 3),
            4 => {
                let count = random.below(6);
                words(&mut random, count)
            }
            _ => {
                let count = 14 + random.below(30);
                words(&mut random, count)
            }
        };
        questions.push(question);
    }
    let (mut pages, mut planted) = (Vec::new(), BTreeSet::new());
    for number in 0..90 {
        let (before, after) = (random.below(60), random.below(60));
        let question = &questions[random.below(questions.len())];
        let middle = match number % 6 {
            0 => {
                if question.len() >= 14 {
                    planted.insert(number);
                }
                edited(&mut random, question, question.len() / 16)
            }
            1 if !question.is_empty() => edited(&mut random, question, question.len() / 4),
            2 => question.clone(),
            3 => question[..question.len() / 2].to_vec(),
            _ => Vec::new(),
        };
        let all = [words(&mut random, before), middle, words(&mut random, after)].concat();
        let id = if ids_repeat { format!("p{}", number / 2) } else { format!("p{number}") };
        let text = written(&mut random, &all);
        pages.push(if number % 31 == 30 { "{not JSON\n".to_string() } else { line(&id, &text) });
    }
    planted.retain(|number| number % 31 != 30);
    let reference = questions.iter().enumerate().map(|(number, question)| {
        let id = if ids_repeat { "q".to_string() } else { format!("q{number}") };
        let text = written(&mut random, question);
        line(&id, &text)
    });
    shell.write("test.jsonl", reference.collect::<String>());
    shell.write("train.jsonl", pages.concat());
    (pages, planted)
}

/// The number of the record at a position such as `train.jsonl:3`, from 0.
fn number_at(position: &str) -> usize {
    position.rsplit(':').next().unwrap().parse::<usize>().unwrap() - 1
}

/// What is named: the words, the bytes, the similarity as printed, and those in the reference.
type Named = (u64, [usize; 2], String, String, [usize; 2]);

/// Of each page that a passage names, the passage with most words; of several, the first one in the page.
fn by_passages(shell: &Shell, flags: &str) -> BTreeMap<usize, Named> {
    let found = shell.dedup(&format!("passages train.jsonl --against test.jsonl {flags} --max-places 1000000 -q"));
    let mut best: BTreeMap<usize, Named> = BTreeMap::new();
    for passage in records::repeated(&found.stdout) {
        assert_eq!(passage.count, passage.places.len() as u64);
        let first = &passage.places[0];
        for place in passage.places.iter().filter(|place| place.id.starts_with('p')) {
            let number = place.at.as_deref().map_or_else(|| place.id[1..].parse().unwrap(), number_at);
            let in_reference = [first.start, first.end];
            let this: Named = (
                passage.words,
                [place.start, place.end],
                format!("{:?}", place.similarity),
                first.at.clone().unwrap_or(first.id.clone()),
                in_reference,
            );
            let order = |named: &Named| (u64::MAX - named.0, named.1[0], usize::MAX - named.1[1]);
            if best.get(&number).is_none_or(|known| order(&this) < order(known)) {
                best.insert(number, this);
            }
        }
    }
    best
}

/// The documents of `removed.jsonl`.
fn removed(list: &str, ids_repeat: bool) -> BTreeMap<usize, Named> {
    let named = |line: records::Removed| {
        let contains = line.contains.unwrap();
        let of = match ids_repeat {
            true => format!("{}:{}", contains.file.unwrap(), contains.record.unwrap()),
            false => contains.id,
        };
        let own = [line.start.unwrap(), line.end.unwrap()];
        let in_reference = [contains.start.unwrap(), contains.end.unwrap()];
        let similarity = line.similarity.unwrap().get().to_string();
        assert_eq!(line.file, "train.jsonl");
        (line.record.unwrap() as usize - 1, (line.words.unwrap(), own, similarity, of, in_reference))
    };
    records::removed(list).into_iter().filter(|line| line.error.is_none()).map(named).collect()
}

/// Those of verdicts, and whether each record is kept.
fn of_verdicts(output: &str) -> (BTreeMap<usize, Named>, Vec<bool>) {
    let (mut named, mut kept) = (BTreeMap::new(), Vec::new());
    for (number, line) in output.lines().enumerate() {
        kept.push(match records::parse(line) {
            Record::Verdict(verdict) => verdict.keep,
            Record::PassageVerdict(verdict) => {
                assert_eq!(verdict.at.as_deref().map_or(number, number_at), number);
                let of = verdict.contains_at.unwrap_or(verdict.contains);
                let (own, other) = ([verdict.start, verdict.end], [verdict.contains_start, verdict.contains_end]);
                named.insert(number, (verdict.words, own, verdict.similarity.get().to_string(), of, other));
                false
            }
            other => panic!("{other:?}"),
        });
    }
    (named, kept)
}

/// The words of the records of a file; none of one that cannot be read.
fn texts(lines: &[String]) -> Vec<Vec<String>> {
    let text = |line: &String| match serde_json::from_str::<serde_json::Value>(line) {
        Ok(record) => token_texts(&Word, record["text"].as_str().unwrap()),
        Err(_) => Vec::new(),
    };
    lines.iter().map(text).collect()
}

/// The length of the longest run of words that a page has in common with each question.
fn longest_runs(page: &[String], questions: &[Vec<String>]) -> usize {
    let mut longest = 0;
    for question in questions {
        for i in 0..page.len() {
            for j in 0..question.len() {
                let run = page[i..].iter().zip(&question[j..]).take_while(|(x, y)| x == y).count();
                longest = longest.max(run);
            }
        }
    }
    longest
}

#[test]
fn the_documents_of_passages_are_left_out_and_no_others() {
    let (mut planted_in_all, mut found_in_all) = (0, 0);
    for seed in 0..3 {
        let (shell, ids_repeat) = (Shell::new(), seed == 2);
        let (pages, planted) = corpus(&shell, seed, ids_repeat);
        let questions: Vec<String> =
            fs::read_to_string(shell.folder().join("test.jsonl")).unwrap().lines().map(str::to_string).collect();
        let (page_words, questions) = (texts(&pages), texts(&questions));
        for (mode, flags) in
            ["--min-words 8", "--min-words 6 --similarity 0.6 --min-documents 3", "--exact --min-words 7"]
                .into_iter()
                .enumerate()
        {
            let expected = by_passages(&shell, flags);
            assert!(expected.len() > 5 && expected.len() < 80, "{}", expected.len());
            if flags.contains("exact") {
                let runs = page_words.iter().map(|page| longest_runs(page, &questions)).enumerate();
                let runs: BTreeMap<usize, u64> =
                    runs.filter(|(_, run)| *run >= 7).map(|(number, run)| (number, run as u64)).collect();
                let words: BTreeMap<usize, u64> = expected.iter().map(|(number, named)| (*number, named.0)).collect();
                assert_eq!(words, runs, "{seed}");
            }
            if mode == 0 {
                planted_in_all += planted.len();
                found_in_all += planted.iter().filter(|number| expected.contains_key(number)).count();
            }
            let kept: String = pages
                .iter()
                .enumerate()
                .filter(|(number, _)| !expected.contains_key(number))
                .map(|(_, line)| line.as_str())
                .collect();
            for (run, tuning) in ["-j1", "-j3", "--memory 0", "--memory 1M -j2"].into_iter().enumerate() {
                let command = format!("passages train.jsonl --against test.jsonl {flags} {tuning} -q");
                let output = format!("out-{mode}-{run}");
                let written = shell.dedup(&format!("{command} --unit document --output {output}"));
                assert_eq!(written.status, 3, "{}", written.stderr);
                let read = |name: &str| fs::read_to_string(shell.folder().join(&output).join(name)).unwrap();
                assert_eq!(removed(&read("_dedup/removed.jsonl"), ids_repeat), expected, "{seed} {flags} {tuning}");
                assert!(read("train.jsonl") == kept, "{seed} {flags} {tuning}");
                assert!(shell.dedup(&format!("{command} --unit document --emit kept")).stdout == kept);
                let (named, keeps) = of_verdicts(&shell.dedup(&format!("{command} --emit verdicts")).stdout);
                assert_eq!(named, expected, "{seed} {flags} {tuning}");
                assert!(keeps.into_iter().eq((0..pages.len()).map(|number| !expected.contains_key(&number))));
            }
            // Records that cannot be read are left out too, if that is asked for.
            let dropped = shell.dedup(&format!(
                "passages train.jsonl --against test.jsonl {flags} -q --unit document --on-error drop --output dropped-{mode}"
            ));
            assert_eq!(dropped.status, 3);
            let read =
                |name: &str| fs::read_to_string(shell.folder().join(format!("dropped-{mode}")).join(name)).unwrap();
            assert_eq!(read("train.jsonl"), kept.replace("{not JSON\n", ""));
            let list = records::removed(&read("_dedup/removed.jsonl"));
            assert_eq!(list.len(), expected.len() + kept.matches("{not JSON\n").count());
        }
    }
    assert!(10 * found_in_all >= 9 * planted_in_all && planted_in_all > 20, "{found_in_all} of {planted_in_all}");
}

/// The share of the words of each page that are in its places, as two numbers, by the passages.
fn shares_by_passages(shell: &Shell, pages: &[String], flags: &str) -> BTreeMap<usize, (u64, u64)> {
    let found = shell.dedup(&format!("passages train.jsonl --against test.jsonl {flags} --max-places 1000000 -q"));
    let mut covered: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let text = |number: usize| serde_json::from_str::<serde_json::Value>(&pages[number]).unwrap()["text"].clone();
    let count = |text: &str| token_texts(&Word, text).len();
    for passage in records::repeated(&found.stdout) {
        for place in passage.places.iter().filter(|place| place.id.starts_with('p')) {
            let number = place.at.as_deref().map_or_else(|| place.id[1..].parse().unwrap(), number_at);
            let text = text(number);
            let [start, end] = [place.start, place.end].map(|at| count(&text.as_str().unwrap()[..at]));
            covered.entry(number).or_default().extend(start..end);
        }
    }
    let share = |(number, covered): (usize, BTreeSet<usize>)| {
        (number, (covered.len() as u64, count(text(number).as_str().unwrap()) as u64))
    };
    covered.into_iter().map(share).collect()
}

#[test]
fn a_share_of_the_document_decides() {
    for seed in 0..3 {
        let (shell, ids_repeat) = (Shell::new(), seed == 2);
        let (pages, _) = corpus(&shell, seed, ids_repeat);
        for flags in ["--min-words 8", "--exact --min-words 5"] {
            let shares = shares_by_passages(&shell, &pages, flags);
            let named = by_passages(&shell, flags);
            // One that a page has exactly, and one just above it.
            let mut sorted: Vec<(u64, u64)> = shares.values().copied().filter(|(part, all)| part < all).collect();
            sorted.sort_by(|(a, b), (c, d)| (a * d).cmp(&(c * b)));
            let (part, all) = sorted[sorted.len() / 2];
            let exactly = format!("{part}/{all}");
            for (least, reaches) in [
                (exactly.as_str(), &(|(a, b): (u64, u64)| a * all >= part * b) as &dyn Fn((u64, u64)) -> bool),
                ("0.25", &|(a, b)| 4 * a >= b),
                ("1", &|(a, b)| a == b),
                ("0.000001", &|_| true),
            ] {
                let dropped: BTreeMap<usize, (u64, u64)> = shares
                    .iter()
                    .filter(|(_, share)| reaches(**share))
                    .map(|(number, share)| (*number, *share))
                    .collect();
                assert!(dropped.len() < shares.len() || least.starts_with("0.0"), "{least}");
                let expected: BTreeMap<usize, Named> =
                    named.clone().into_iter().filter(|(number, _)| dropped.contains_key(number)).collect();
                for tuning in ["-j1", "--memory 0 -j2"] {
                    let command =
                        format!("passages train.jsonl --against test.jsonl {flags} --min-coverage {least} {tuning} -q");
                    let verdicts = shell.dedup(&format!("{command} --emit verdicts")).stdout;
                    assert_eq!(of_verdicts(&verdicts).0, expected, "{seed} {flags} {least}");
                    for line in verdicts.lines().filter(|line| line.contains("contains")) {
                        let Record::PassageVerdict(verdict) = records::parse(line) else { panic!("{line}") };
                        let number = verdict.at.as_deref().map_or_else(|| verdict.id[1..].parse().unwrap(), number_at);
                        let (part, all) = dropped[&number];
                        assert_eq!(verdict.coverage.unwrap().get(), format!("{:?}", part as f64 / all as f64));
                    }
                    let kept: String = (pages.iter().enumerate())
                        .filter(|(number, _)| !dropped.contains_key(number))
                        .map(|(_, line)| line.as_str())
                        .collect();
                    assert!(shell.dedup(&format!("{command} --unit document --emit kept")).stdout == kept);
                }
            }
        }
    }
}

/// A page at a place that is not listed, of 150 with the same question.
#[test]
fn pages_at_places_that_are_not_listed_are_left_out() {
    let shell = Shell::new();
    let question = "Who was the first to sail around the world alone, and in which year did he return?";
    shell.write("test.jsonl", line("q", question));
    let page = |number: usize| match number % 2 {
        0 => line(&format!("p{number}"), &format!("Page {number}. {question} Answer {number}.")),
        _ => line(&format!("p{number}"), &format!("Page {number} has another text, which is its own.")),
    };
    let pages: Vec<String> = (0..300).map(page).collect();
    shell.write("train.jsonl", pages.concat());
    let kept: String = pages.iter().skip(1).step_by(2).map(String::as_str).collect();
    for flags in ["", "--exact"] {
        let command = format!("passages train.jsonl --against test.jsonl --min-words 10 {flags} -q");
        assert_eq!(records::repeated(&shell.dedup(&command).done())[0].places.len(), 100);
        assert_eq!(shell.dedup(&format!("{command} --unit document --emit kept")).done(), kept);
    }
}
