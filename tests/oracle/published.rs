//! Published numbers. More of them are tested next to the code: banding curves in `algorithm/bands.rs`, distances and
//! block tables in `hamming.rs`, resemblances in `similarity.rs`, XXH3 and SplitMix64 in `hash.rs`.

use crate::support::corpus::Text;
use crate::support::plain::{shingles, token_texts};
use crate::support::scanning::{always, features, made, outcome, pairs};
use md5::{Digest, Md5};
use neardups::algorithm::minhash::bands::Bands;
use neardups::algorithm::minhash::sketch::Kind;
use neardups::algorithm::minhash::{MinHash, Shingles};
use neardups::algorithm::shingles::ShingleHash;
use neardups::algorithm::simhash::{SimHash, Weights};
use neardups::algorithm::{Algorithm, CompareOn, Features, Profile, Row};
use neardups::hamming::{distance, sign_bits};
use neardups::hash::shingle_hashes;
use neardups::similarity::{Similarity, Threshold, jaccard_at_least};
use neardups::tokenizer::{CharNgram, TokenDetail, Tokenizer, Tokens, Whitespace, Word};
use sha1::Sha1;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The feature hash of 1e0ng/simhash: the last eight bytes of the MD5 digest, big-endian.
pub fn md5_low_64(feature: &str) -> u64 {
    u64::from_be_bytes(Md5::digest(feature)[8..].try_into().unwrap())
}

/// Noll's FNV-1a; the upper half of the 32-bit variant is 0.
fn fnv1a_64(feature: &str) -> u64 {
    feature.bytes().fold(0xcbf29ce484222325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100000001b3))
}

fn fnv1a_32(feature: &str) -> u64 {
    let hash = feature.bytes().fold(0x811c9dc5u32, |h, byte| (h ^ u32::from(byte)).wrapping_mul(0x01000193));
    u64::from(hash)
}

/// How often each feature comes.
type Bag = BTreeMap<String, u32>;

fn bag<S: Into<String>>(features: impl IntoIterator<Item = S>) -> Bag {
    features.into_iter().fold(Bag::new(), |mut bag, feature| {
        *bag.entry(feature.into()).or_default() += 1;
        bag
    })
}

fn windows(text: &str, length: usize) -> Bag {
    let chars: Vec<char> = text.chars().collect();
    bag(chars.windows(length).map(String::from_iter))
}

/// The SimHash of features that weigh 1 each, or as often as they come.
fn simhash(features: &Bag, counted: bool, hash: fn(&str) -> u64) -> u64 {
    let hashes: Vec<u64> = features.keys().map(|feature| hash(feature)).collect();
    let weights: Vec<u32> = if counted { features.values().copied().collect() } else { vec![] };
    sign(&hashes, &weights)
}

fn sign(hashes: &[u64], weights: &[u32]) -> u64 {
    let mut word = Vec::new();
    sign_bits(hashes, weights, 64, &mut word);
    word[0]
}

fn apart<const N: usize>(codes: [u64; N]) -> Vec<u32> {
    (0..N).flat_map(|i| (i + 1..N).map(move |j| distance(&codes[i..=i], &codes[j..=j]))).collect()
}

#[test]
fn fnv1a_test_vectors() {
    // Noll's test suite, as in RFC 9923.
    assert_eq!(["", "a", "foobar"].map(fnv1a_64), [0xcbf29ce484222325, 0xaf63dc4c8601ec8c, 0x85944171f73967e8]);
    assert_eq!(fnv1a_32("foobar"), 0xbf9cf968);
}

/// The sentences of a much copied introduction to SimHash in Ruby.
const SENTENCES: [&str; 3] = ["the cat sat on the mat", "the cat sat on a mat", "we all scream for ice cream"];

#[test]
fn bigrams_of_the_cat_sat_on_the_mat() {
    let sets = SENTENCES.map(|sentence| {
        let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
        CharNgram::new(2).tokenize(sentence, &mut tokens);
        let mut set = tokens.hashes().to_vec();
        set.sort_unstable();
        set.dedup();
        (tokens.len(), set)
    });
    assert_eq!(sets.each_ref().map(|(count, set)| (*count, set.len())), [(21, 15), (19, 16), (26, 21)]);
    let listed = ["th", "he", "e ", " c", "ca", "at", "t ", " s", "sa", " o", "on", "n ", " t", " m", "ma"];
    let distinct: BTreeSet<String> = token_texts(&CharNgram::new(2), SENTENCES[0]).into_iter().collect();
    assert_eq!(distinct, listed.map(String::from).into());
    let least = Threshold::new(1, 1000).unwrap();
    let similarity = |i: usize, j: usize| jaccard_at_least(&sets[i].1, &sets[j].1, least).unwrap();
    assert_eq!(similarity(0, 1), Similarity::ratio(14, 17));
    assert_eq!(similarity(0, 2), Similarity::ratio(3, 33));
    assert_eq!(similarity(1, 2), Similarity::ratio(4, 33));
}

#[test]
fn fingerprints_of_those_bigrams_by_three_hashes() {
    // Computed independently, bit by bit. Unrelated sentences are 28 and 30 bits apart with MD5, which mixes, and 14 with
    // FNV-1a, which does not on two bytes.
    let check = |hash: fn(&str) -> u64, counted, codes: [u64; 3], distances: [u32; 3]| {
        let got = SENTENCES.map(|sentence| simhash(&windows(sentence, 2), counted, hash));
        assert_eq!((got, apart(got)), (codes, distances.to_vec()));
    };
    check(md5_low_64, false, [0xa053868aa7214d3b, 0xe013868887a14d03, 0x93049c884c488c7f], [8, 28, 30]);
    check(fnv1a_64, false, [0x08c55907b54e43f0, 0x08854b07b54e63f0, 0x088d7707b54d16a0], [4, 14, 14]);
    check(fnv1a_32, false, [0x74452450, 0x70050450, 0x7c046500], [3, 7, 8]);
    check(md5_low_64, true, [0xa1520488a539cd23, 0xe15386caa6b9ed23, 0x93049888044c8c7f], [10, 25, 31]);
    let words = SENTENCES.map(|sentence| simhash(&bag(sentence.split(' ')), true, md5_low_64));
    assert_eq!(words, [0x1a21e011c1124150, 0x182180b1c1122440, 0x1cf6e61f470e807b]);
    assert_eq!(apart(words), [10, 26, 30]);
}

#[test]
fn simhash_with_md5_gives_the_same() {
    let code = |tokenizer: &dyn Tokenizer, grams: usize, weights: Weights, text: &str| {
        let simhash = SimHash::new(64, 3, vec![grams], weights, None).with_hash(ShingleHash::Md5);
        // Whatever the seed.
        made(&simhash, tokenizer, 5, text).fingerprint[0]
    };
    let bigrams = SENTENCES.map(|sentence| code(&CharNgram::new(2), 1, Weights::Binary, sentence));
    assert_eq!(bigrams, [0xa053868aa7214d3b, 0xe013868887a14d03, 0x93049c884c488c7f]);
    let counted = SENTENCES.map(|sentence| code(&CharNgram::new(2), 1, Weights::TermFrequency, sentence));
    assert_eq!(counted, [0xa1520488a539cd23, 0xe15386caa6b9ed23, 0x93049888044c8c7f]);
    let words = SENTENCES.map(|sentence| code(&Word, 1, Weights::TermFrequency, sentence));
    assert_eq!(words, [0x1a21e011c1124150, 0x182180b1c1122440, 0x1cf6e61f470e807b]);
    // The tests of 1e0ng/simhash.
    assert_eq!(code(&Whitespace, 1, Weights::Binary, "aaa bbb"), 57087923692560392);
    let numbers: Vec<String> = (0..500).map(|n| n.to_string()).collect();
    assert_eq!(code(&Whitespace, 1, Weights::TermFrequency, &numbers.join(" ")), 7984652473404407437);
}

#[test]
fn signatures_of_datasketch_1() {
    let signature = |slots: usize, width: usize, text: &str| {
        let bands = Bands { bands: slots, rows: 1 };
        let shingles = Shingles::new(width).with_hash(ShingleHash::Sha1);
        let minhash = MinHash::new("0.8".parse().unwrap(), shingles, Kind::Datasketch1, bands);
        made(&minhash, &Whitespace, 9, text).fingerprint
    };
    // MinHash(num_perm=4, seed=1).update(b'Hello'), by datasketch 1 itself.
    assert_eq!(signature(4, 1, "Hello"), [734825475, 960773806, 359816889, 342714745]);
    // By a few lines of Python after the public algorithm; the long one as the SHA-1 of its slots, 64 bits each, little-endian.
    let text = "the quick brown fox jumps over the lazy dog and runs away";
    let words = [
        407326892, 34383241, 44059036, 463220678, 136245013, 810772959, 196634065, 281574122, 945575762, 96528969,
        507079444, 604224000, 467893433, 791496607, 429187043, 269329519,
    ];
    assert_eq!(signature(16, 1, text), words);
    let long = signature(256, 5, text);
    assert_eq!(long[..4], [2106687621, 183870673, 201817220, 434003653]);
    assert_eq!((long[127], long[255], long.iter().sum()), (416494624, 484946453, 121397126138u64));
    let bytes: Vec<u8> = long.iter().flat_map(|slot| slot.to_le_bytes()).collect();
    let digest: String = Sha1::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, "e03c0175b98129dd1186946a98998342b767d5cd");
}

#[test]
fn signatures_by_datasketch_itself() {
    // signatures.tsv, which signatures.py printed with datasketch 2.0.0.
    let mut compared = 0;
    for line in include_str!("signatures.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, scheme, width, slots, first, digest] = fields[..] else { panic!("six fields: {line}") };
        let kind = match scheme {
            "affine32" => Kind::Datasketch,
            "legacy" => Kind::Datasketch1,
            _ => panic!("{scheme} is no scheme"),
        };
        let shingles = Shingles::new(width.parse().unwrap()).with_hash(ShingleHash::Sha1);
        let bands = Bands { bands: slots.parse().unwrap(), rows: 1 };
        let minhash = MinHash::new("0.8".parse().unwrap(), shingles, kind, bands);
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(file)).unwrap();
        let signature = made(&minhash, &Whitespace, 9, &text).fingerprint;
        let typed: Vec<String> = signature.iter().take(4).map(u64::to_string).collect();
        assert_eq!(typed.join(" "), first, "{line}");
        let bytes: Vec<u8> = signature.iter().flat_map(|slot| slot.to_le_bytes()).collect();
        let got: String = Sha1::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(got, digest, "{line}");
        compared += 1;
    }
    assert!(compared >= 100, "{compared} signatures");
}

#[test]
fn the_tests_of_seomoz_simhash_cpp() {
    assert_eq!(sign(&[], &[]), 0);
    assert_eq!(sign(&[0xDEADBEEF; 100], &[]), 0xDEADBEEF);
    assert_eq!(sign(&[0x0123456789ABCDEF, !0x0123456789ABCDEF], &[]), 0);
    assert_eq!(sign(&[0xABCD, 0xBCDE, 0xCDEF], &[]), 0xADCF);
    assert_eq!(distance(&[0xDEADBEEF], &[0xDEADBEAD]), 2);
}

#[test]
fn the_tests_of_1e0ng_simhash() {
    let numbers: Vec<u64> = (0..500).map(|n| md5_low_64(&n.to_string())).collect();
    assert_eq!(simhash(&bag(["aaa", "bbb"]), false, md5_low_64), 57087923692560392);
    assert_eq!(md5_low_64("aaa") & md5_low_64("bbb"), 57087923692560392);
    assert_eq!(sign(&numbers, &[]), 7984652473404407437);
    let weights: Vec<u32> = (0..500).map(|n| 50 * n).collect();
    assert_eq!(sign(&numbers, &weights), 3372825719632739723);
}

#[test]
fn character_windows_of_1e0ng_simhash() {
    // Lower case, runs of \w joined, windows of characters counted.
    let features = |text: &str, length| {
        let joined: String = text.to_lowercase().chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
        windows(&joined, length)
    };
    let texts = ["How are you? I AM fine. Thanks. And you?", "How old are you ? :-) i am fine. Thanks. And you?"];
    let codes = texts.map(|text| simhash(&features(text, 4), true, md5_low_64));
    assert_eq!((codes, apart(codes)), ([13831624873712969754, 10949321070319912978], vec![7]));
    // With windows of two and ties counted as 1, as it was until 2013, these were 7 apart; ties are 0 here.
    assert_eq!(apart(texts.map(|text| simhash(&features(text, 2), true, md5_low_64))), [16]);
    let chinese = ["你好　世界！　　呼噜。", "你好，世界　呼噜"].map(|text| features(text, 4));
    assert_eq!(chinese[0], bag(["你好世界", "好世界呼", "世界呼噜"]));
    assert_eq!(chinese[0], chinese[1]);
}

#[test]
fn tf_idf_weights_of_1e0ng_simhash() {
    // Its example, weighted as scikit-learn's TfidfVectorizer does: tf · (ln((1 + N)/(1 + df)) + 1), which is then scaled to
    // length 1; here to whole millionths instead, for scaling changes nothing.
    let texts = [
        "How are you? I Am fine. blar blar blar blar blar Thanks.",
        "How are you i am fine. blar blar blar blar blar than",
        "This is simhash test.",
        "How are you i am fine. blar blar blar blar blar thank1",
    ];
    let bags = texts.map(|text| bag(token_texts(&Word, text).into_iter().filter(|word| word.chars().count() > 1)));
    let codes = bags.each_ref().map(|own| {
        let weight = |(word, &count): (&String, &u32)| {
            let documents = bags.iter().filter(|bag| bag.contains_key(word)).count() as f64;
            (f64::from(count) * ((5.0 / (1.0 + documents)).ln() + 1.0) * 1e6).round() as u32
        };
        let hashes: Vec<u64> = own.keys().map(|word| md5_low_64(word)).collect();
        sign(&hashes, &own.iter().map(weight).collect::<Vec<_>>())
    });
    assert_eq!(codes[0], 17583409636488780916);
    assert_eq!(apart(codes), [3, 27, 2, 26, 5, 29]);
}

#[test]
fn the_tests_of_text_dedup() {
    assert_eq!(sign(&[13352372148217134600, 5020219685658847592], &[]), 74633958390507528);
    // Its feature hash: the first bytes of the SHA-1 digest, little-endian. A feature alone is its own fingerprint.
    let digest = Sha1::digest("hello world");
    assert_eq!(u32::from_le_bytes(digest[..4].try_into().unwrap()), 896314922);
    let feature = u64::from_le_bytes(digest[..8].try_into().unwrap());
    assert_eq!((feature, sign(&[feature], &[])), (13028719972609469994, 13028719972609469994));
}

#[test]
fn shingles_of_abcdabd() {
    // *Mining of Massive Datasets*, example 3.3: the set of 2-shingles has "ab" once.
    let single: Vec<String> = "abcdabd".chars().map(String::from).collect();
    let joined: BTreeSet<String> = shingles(&single, 2).into_iter().map(|pair| pair.concat()).collect();
    assert_eq!(joined, ["ab", "bc", "cd", "da", "bd"].map(String::from).into());
    let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
    CharNgram::new(1).tokenize("abcdabd", &mut tokens);
    let mut hashes = Vec::new();
    shingle_hashes(tokens.hashes(), 2, &mut hashes);
    assert_eq!((hashes.len(), BTreeSet::from_iter(hashes).len()), (6, 5));
}

#[test]
fn a_rose_is_a_rose_is_a_rose() {
    // Broder 1997, section 2: five 4-shingles, three distinct ones.
    let mut tokens = Tokens::new(TokenDetail::Hashes, 0);
    Word.tokenize("a rose is a rose is a rose", &mut tokens);
    let mut hashes = Vec::new();
    shingle_hashes(tokens.hashes(), 4, &mut hashes);
    assert_eq!((hashes.len(), BTreeSet::from_iter(hashes).len()), (5, 3));
}

#[test]
fn three_grams_of_the_bigcode_deduplication_article() {
    // Three of five; its printed table leaves out "much fun and".
    let texts = ["Deduplication is so much fun!", "Deduplication is so much fun and easy!"];
    let documents: Vec<Text> = texts.iter().enumerate().map(|(n, text)| (n.to_string(), text.to_string())).collect();
    let factory = |threshold| {
        let settings = [("shingle", "3"), ("threshold", threshold), ("rows", "1"), ("bands", "64")];
        crate::support::scanning::factory("minhash", &settings)
    };
    assert_eq!(pairs(&outcome(&documents, &factory("0.6"))), [("0".to_string(), "1".to_string(), 0.6)]);
    assert_eq!(pairs(&outcome(&documents, &factory("0.61"))), []);
}

/// The rows 0 to 4 of the characteristic matrix of *Mining of Massive Datasets*, figure 3.4, as columns, by name.
const COLUMNS: [(&str, &[u64]); 4] = [("S1", &[0, 3]), ("S2", &[2]), ("S3", &[1, 3, 4]), ("S4", &[0, 2, 3])];

/// Minima of the two hash functions of example 3.8, one row a band; the share of equal minima is the similarity.
struct Textbook;

impl Algorithm for Textbook {
    fn profile(&self) -> Profile {
        Profile::new("textbook", "estimate", CompareOn::Fingerprints).with_tables(2)
    }
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
    fn features(&self, tokens: &mut Tokens, features: &mut Features) {
        let rows = "abcde".chars().map(|row| neardups::hash::token_hash(row.to_string().as_bytes(), 0));
        let numbers = rows.enumerate().filter(|(_, hash)| tokens.hashes().contains(hash));
        features.hashes.extend(numbers.map(|(number, _)| number as u64));
    }
    fn fingerprint(&self, features: &Features, fingerprint: &mut Vec<u64>) {
        let functions: [fn(u64) -> u64; 2] = [|x| (x + 1) % 5, |x| (3 * x + 1) % 5];
        fingerprint.extend(functions.iter().filter_map(|h| features.hashes.iter().map(|&x| h(x)).min()));
    }
    fn keys(&self, fingerprint: &[u64], keys: &mut Vec<u64>) {
        keys.extend_from_slice(fingerprint);
    }
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Similarity> {
        let equal = a.iter().zip(b).filter(|(x, y)| x == y).count();
        (equal > 0).then(|| Similarity::ratio(equal as u64, 2))
    }
}

#[test]
fn signatures_of_mining_of_massive_datasets_example_3_8() {
    let text = |rows: &[u64]| rows.iter().map(|&row| format!("{} ", (b'a' + row as u8) as char)).collect::<String>();
    let documents: Vec<Text> = COLUMNS.iter().map(|(name, rows)| (name.to_string(), text(rows))).collect();
    let signature = |rows: &[u64]| {
        let mut signature = Vec::new();
        Textbook.fingerprint(&features(rows), &mut signature);
        signature
    };
    assert_eq!(COLUMNS.map(|(_, rows)| signature(rows)), [[1, 0], [3, 2], [0, 0], [1, 0]]);
    let named = |a: &str, b: &str, estimate| (a.to_string(), b.to_string(), estimate);
    let found = pairs(&outcome(&documents, &always(|| Textbook)));
    assert_eq!(found, [named("S1", "S3", 0.5), named("S1", "S4", 1.0), named("S3", "S4", 0.5)]);
    // The true similarities.
    let least = Threshold::new(1, 10).unwrap();
    let similarity = |i: usize, j: usize| jaccard_at_least(COLUMNS[i].1, COLUMNS[j].1, least).map(Similarity::value);
    assert_eq!([(0, 2), (0, 3), (2, 3)].map(|(i, j)| similarity(i, j).unwrap()), [1.0 / 4.0, 2.0 / 3.0, 1.0 / 5.0]);
}

#[test]
fn minhashes_of_mining_of_massive_datasets_example_3_7() {
    // The rows in the order b, e, a, d, c: the first row of each column.
    let order = [1, 4, 0, 3, 2];
    let first = |rows: &[u64]| order.into_iter().find(|row| rows.contains(row)).unwrap();
    assert_eq!(COLUMNS.map(|(_, rows)| first(rows)), [0, 2, 1, 0]);
}
