//! Real documents: numbers that an independent program gives for them (`golden.py`), and the pairs that the fixtures list.

use super::published::md5_low_64;
use crate::support::corpus::Text;
use crate::support::plain::token_texts;
use crate::support::scanning::{factory, made, outcome, pairs};
use neardups::algorithm::shingles::ShingleHash;
use neardups::algorithm::simhash::{SimHash, Weights};
use neardups::engine::{ScanOptions, scan};
use neardups::hamming::{distance, sign_bits};
use neardups::hash::shingle_hashes;
use neardups::similarity::{Similarity, Threshold, jaccard_at_least};
use neardups::source::{self, Input};
use neardups::tokenizer::{TokenDetail, Tokenizer, Tokens, Word};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use unicode_normalization::UnicodeNormalization;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The texts of a folder by file name.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = files.filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    texts
        .map(|path| (path.file_name().unwrap().to_str().unwrap().into(), std::fs::read_to_string(&path).unwrap()))
        .collect()
}

/// Hashes of the distinct 5-shingles, ascending.
fn shingle_set(tokenizer: &dyn Tokenizer, text: &str) -> Vec<u64> {
    let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
    tokenizer.tokenize(text, &mut tokens);
    let mut set = Vec::new();
    shingle_hashes(tokens.hashes(), 5, &mut set);
    set.sort_unstable();
    set.dedup();
    set
}

fn code<'a>(features: impl IntoIterator<Item = &'a String>) -> u64 {
    let hashes: Vec<u64> = features.into_iter().map(|feature| md5_low_64(feature)).collect();
    let mut code = Vec::new();
    sign_bits(&hashes, &[], 64, &mut code);
    code[0]
}

/// Han characters and runs of ASCII letters and digits, after NFKC; what the numbers of the five articles are about.
struct Plain;

impl Tokenizer for Plain {
    fn name(&self) -> Cow<'_, str> {
        "plain".into()
    }

    fn tokenize(&self, text: &str, tokens: &mut Tokens) {
        tokens.clear();
        let text: String = text.nfkc().collect::<String>().to_lowercase();
        let is_han = |c: char| ('\u{3400}'..='\u{9fff}').contains(&c);
        for piece in text.split(|c: char| !c.is_ascii_alphanumeric() && !is_han(c)) {
            for token in piece.split_inclusive(is_han) {
                // A run, or a Han character with or without a run before it.
                let run = token.trim_end_matches(is_han);
                tokens.push(run, 0..0);
                tokens.push(&token[run.len()..], 0..0);
            }
        }
    }
}

/// SimHashes by MD5: of the token occurrences, and of the sets of runs of 2 and of 5 tokens joined by a space.
fn codes(tokenizer: &dyn Tokenizer, text: &str) -> [u64; 3] {
    let tokens = token_texts(tokenizer, text);
    let runs = |width| tokens.windows(width).map(|run| run.join(" ")).collect::<BTreeSet<String>>();
    [code(&tokens), code(&runs(2)), code(&runs(5))]
}

#[test]
fn the_chinese_fixtures_by_an_independent_program() {
    let texts = texts(&fixtures().join("chinese/docs"));
    let mut lines = Vec::new();
    for (name, text) in &texts {
        let [tokens, pairs, _] = codes(&Word, text);
        let (count, set) = (token_texts(&Word, text).len(), shingle_set(&Word, text).len());
        lines.push(format!("{name}\t{count}\t{set}\t{tokens:016x}\t{pairs:016x}"));
    }
    let least = Threshold::new(1, 1_000_000).unwrap();
    for (a, text_a) in &texts {
        for (b, text_b) in texts.range(a.clone()..).skip(1) {
            let (x, y) = (shingle_set(&Word, text_a), shingle_set(&Word, text_b));
            if let Some(similarity) = jaccard_at_least(&x, &y, least) {
                let shared = x.iter().filter(|hash| y.binary_search(hash).is_ok()).count();
                let either = x.len() + y.len() - shared;
                assert_eq!(similarity, Similarity::ratio(shared as u64, either as u64));
                lines.push(format!("{a}\t{b}\t{shared}\t{either}"));
            }
        }
    }
    assert_eq!(lines.join("\n"), include_str!("golden.tsv").trim_end());
}

/// What [`codes`] does, by the algorithm itself.
fn simhashes(tokenizer: &dyn Tokenizer, text: &str) -> [u64; 3] {
    let code = |grams: usize, weights: Weights| {
        let simhash = SimHash::new(64, 3, vec![grams], weights, None).with_hash(ShingleHash::Md5);
        made(&simhash, tokenizer, 0, text).fingerprint[0]
    };
    [code(1, Weights::TermFrequency), code(2, Weights::Binary), code(5, Weights::Binary)]
}

#[test]
fn simhash_with_md5_by_an_independent_program() {
    for text in texts(&fixtures().join("chinese/docs")).values() {
        assert_eq!(simhashes(&Word, text), codes(&Word, text));
    }
}

#[test]
fn the_same_pairs_by_whatever_hash() {
    for folder in ["english", "chinese", "markdown", "code"] {
        let found = |settings: &[(&str, &str)]| {
            let mut input = Input::new(vec![fixtures().join(folder).join("docs")], source::ReadOptions::default());
            let settings = [settings, &[("shingle", "5")]].concat();
            pairs(&scan(&mut input, None, &factory("minhash", &settings), &ScanOptions::default(), &()).unwrap())
        };
        let exact = found(&[("exact", "true"), ("threshold", "0.3")]);
        let sketched = found(&[]);
        assert!(exact.len() >= sketched.len() && sketched.len() >= 6, "{folder}");
        for hash in ["md5", "sha1"] {
            assert_eq!(found(&[("exact", "true"), ("threshold", "0.3"), ("hash", hash)]), exact, "{folder} {hash}");
            assert_eq!(found(&[("hash", hash)]), sketched, "{folder} {hash}");
        }
        assert_eq!(found(&[("sketch", "datasketch")]), sketched, "{folder}");
    }
}

#[test]
fn a_scan_reports_the_similarities_of_the_independent_program() {
    let documents: Vec<Text> = texts(&fixtures().join("chinese/docs")).into_iter().collect();
    let expected: Vec<(String, String, f64)> = include_str!("golden.tsv")
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [a, b, shared, either] = fields[..] else { return None };
            let similarity = shared.parse::<f64>().unwrap() / either.parse::<f64>().unwrap();
            (similarity >= 0.5).then(|| (a.to_string(), b.to_string(), similarity))
        })
        .collect();
    assert_eq!(expected.len(), 8);
    assert_eq!(
        pairs(&outcome(&documents, &factory("minhash", &[("threshold", "0.5"), ("recall", "0.999999")]))),
        expected
    );
}

#[test]
fn the_pairs_that_the_fixtures_list() {
    for (folder, count) in [("english", 7), ("chinese", 6), ("markdown", 6), ("code", 6)] {
        let truth = std::fs::read_to_string(fixtures().join(folder).join("truth.jsonl")).unwrap();
        let mut expected: BTreeMap<(String, String), f64> = BTreeMap::new();
        for line in truth.lines() {
            let pair: serde_json::Value = serde_json::from_str(line).unwrap();
            let id = |name: &str| pair[name].as_str().unwrap().rsplit('/').next().unwrap().to_string();
            expected.insert((id("a"), id("b")), pair["jaccard"].as_f64().unwrap());
        }
        assert_eq!(expected.len(), count);
        let mut input = Input::new(vec![fixtures().join(folder).join("docs")], source::ReadOptions::default());
        let factory = factory("minhash", &[("shingle", "5")]);
        let outcome = scan(&mut input, None, &factory, &ScanOptions::default(), &()).unwrap();
        let mut found: BTreeMap<(String, String), f64> = BTreeMap::new();
        for pair in outcome.pairs().map(Result::unwrap) {
            let name = |id: &str| id.rsplit('/').next().unwrap().to_string();
            found.insert((name(pair.a), name(pair.b)), pair.similarity.value());
        }
        assert!(found.keys().eq(expected.keys()), "{folder}: {found:?}");
        for (pair, similarity) in &found {
            // As printed, to four places.
            assert!((similarity - expected[pair]).abs() <= 5.1e-5, "{pair:?}: {similarity}, not {}", expected[pair]);
        }
    }
}

/// Five Chinese articles on this very subject, which are not ours to pass on. `NEARDUPS_SEEDS` says where they are, as
/// `000_….txt` to `004_….txt`.
#[test]
fn the_articles_that_are_not_in_the_repository() {
    let Some(folder) = std::env::var_os("NEARDUPS_SEEDS") else {
        eprintln!("skipped: NEARDUPS_SEEDS names no folder with the five articles");
        return;
    };
    let texts: Vec<String> = texts(Path::new(&folder)).into_values().collect();
    let sets: Vec<Vec<u64>> = texts.iter().map(|text| shingle_set(&Plain, text)).collect();
    assert_eq!(sets.iter().map(Vec::len).collect::<Vec<_>>(), [1386, 2065, 1764, 1412, 2987]);
    let least = Threshold::new(1, 1_000_000).unwrap();
    for i in 0..5 {
        for j in i + 1..5 {
            let similarity = jaccard_at_least(&sets[i], &sets[j], least).map_or(0.0, Similarity::value);
            let expected = if (i, j) == (3, 4) { 0.1010..0.1012 } else { 0.0..0.0018 };
            assert!(expected.contains(&similarity), "{i}, {j}: {similarity}");
        }
    }
    let contained = sets[3].iter().filter(|hash| sets[4].binary_search(hash).is_ok()).count() as f64 / 1412.0;
    assert!((0.2855..0.2865).contains(&contained), "{contained}");
    let codes: Vec<[u64; 3]> = texts.iter().map(|text| codes(&Plain, text)).collect();
    assert_eq!(texts.iter().map(|text| simhashes(&Plain, text)).collect::<Vec<_>>(), codes);
    let expected = [
        [0x5b5fbcddd595dcb7, 0xfe55be6d95958cf7, 0xf6579ccdd59578b7, 0xce579cddb1855cbf, 0xda779c5d9585debf],
        [0xa05c75fb9e9cf682, 0x11bc5a5dd4978c60, 0xef30fcc4153cd6c0, 0x768588731a38d4e1, 0x31c77eb5593e5444],
        [0xc0ce36c924ba84b6, 0xa370f5456ec38b6f, 0x91e8a8216f1c198a, 0x428a1ba8451c4883, 0xe2a6368cdb100026],
    ];
    for (kind, (expected, apart)) in expected.iter().zip([8, 26, 24]).enumerate() {
        assert_eq!(codes.iter().map(|codes| codes[kind]).collect::<Vec<_>>(), expected, "features of kind {kind}");
        assert_eq!(distance(&[codes[3][kind]], &[codes[4][kind]]), apart);
    }
}
