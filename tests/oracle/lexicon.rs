//! Lexicons: copies count once, files contain what they state, and fingerprints no longer depend on other documents.

use crate::support::corpus::{Text, related};
use crate::support::plain::token_texts;
use crate::support::random::Random;
use crate::support::scanning::{Batched, factory, outcome_with, pairs};
use neardups::algorithm::TableFactory;
use neardups::compare::{compare, fingerprint};
use neardups::engine::{ScanOptions, count_terms, scan};
use neardups::index::{Index, Limits, Plan, Seed};
use neardups::lexicon::Lexicon;
use neardups::source::Documents;
use neardups::tokenizer::{CharNgram, Tokenizer, Whitespace, Word};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// The lexicon file of documents, made by the library.
fn built(documents: &[Text], options: &ScanOptions, tokenizer: &str, min_df: u32) -> String {
    let (terms, counts) = count_terms(&mut Batched { documents, size: 7 }, options, &()).unwrap();
    assert_eq!((counts.documents, counts.documents - counts.copies), (documents.len() as u64, terms.documents()));
    let mut file = Vec::new();
    let digest = terms.write(tokenizer, min_df, &mut file).unwrap();
    let file = String::from_utf8(file).unwrap();
    assert!(file.lines().next().unwrap().ends_with(&format!(r#","digest":"{digest}"}}"#)));
    file
}

/// A separate file to read lexicons from.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join("lex");
        fs::write(&path, content).unwrap();
        path
    }

    fn read(&self, content: impl AsRef<[u8]>, seed: u64) -> Result<Lexicon, String> {
        Lexicon::read(&self.file(content), seed).map_err(|error| error.to_string())
    }
}

fn with_lexicon(factory: TableFactory, lexicon: Lexicon) -> TableFactory {
    factory.with_lexicon(lexicon).unwrap()
}

#[test]
fn a_file_lists_the_terms_of_distinct_documents() {
    let mut documents = related(&mut Random::new(1), 60, 40);
    documents.push(("odd".into(), "a\\b back\\slash tab".into()));
    documents.push(("odd too".into(), "a\\b back\\slash other".into()));
    let tokenizers: [(&str, Arc<dyn Tokenizer>); 3] =
        [("word", Arc::new(Word)), ("char:3", Arc::new(CharNgram::new(3))), ("whitespace", Arc::new(Whitespace))];
    for (name, tokenizer) in tokenizers {
        for min_df in [1, 2, 5] {
            let distinct: BTreeSet<Vec<String>> =
                documents.iter().map(|(_, text)| token_texts(&*tokenizer, text)).collect();
            let mut frequencies: BTreeMap<&str, u32> = BTreeMap::new();
            for tokens in &distinct {
                let terms: BTreeSet<&str> = tokens.iter().map(String::as_str).collect();
                terms.into_iter().for_each(|term| *frequencies.entry(term).or_default() += 1);
            }
            let listed = frequencies.iter().filter(|(_, df)| **df >= min_df);
            let expected: Vec<String> =
                listed.map(|(term, df)| format!("{df}\t{}", term.replace('\\', r"\\"))).collect();
            let of = |threads, seed| ScanOptions {
                tokenizer: Arc::clone(&tokenizer),
                threads,
                seed,
                ..ScanOptions::default()
            };
            let file = built(&documents, &of(1, 0), name, min_df);
            let mut lines = file.lines();
            let header: serde_json::Value = serde_json::from_str(lines.next().unwrap()).unwrap();
            assert_eq!(header["documents"], distinct.len());
            assert_eq!((&header["terms"], &header["min_df"]), (&expected.len().into(), &min_df.into()));
            assert_eq!((&header["tokenizer"], &header["version"]), (&name.into(), &2.into()));
            assert!(lines.eq(expected.iter().map(String::as_str)), "{name} {min_df}");
            // Nor do the order of the documents, threads and seeds show.
            let mut shuffled = documents.clone();
            Random::new(2).shuffle(&mut shuffled);
            assert_eq!(built(&shuffled, &of(4, 9), name, min_df), file);
        }
    }
}

#[test]
fn a_document_that_is_there_five_hundred_times_is_no_more_common() {
    let text: String = (0..60).map(|n| format!("term{n} ")).collect();
    let mut documents: Vec<Text> = (0..500).map(|n| (n.to_string(), text.clone())).collect();
    documents.push(("near".into(), format!("{text} more")));
    documents.extend((0..600).map(|n| (format!("other {n}"), format!("word{} word{} word{n}", n % 7, n % 5))));
    let found = pairs(&outcome_with(&documents, &factory("imatch", &[("idf-low", "0.5")]), &ScanOptions::default()));
    let near = found.iter().filter(|(_, b, similarity)| b == "near" && *similarity == 1.0);
    assert_eq!(near.count(), 500);
    // Without a near-copy no other document has any of its terms, and copies are copies all the same.
    documents.retain(|(id, _)| id != "near");
    let found = outcome_with(&documents, &factory("imatch", &[]), &ScanOptions::default());
    assert_eq!(found.report.counts.copies, 499);
}

#[test]
fn a_lexicon_of_the_same_documents_finds_what_learning_finds() {
    let folder = Folder::new();
    let documents = related(&mut Random::new(3), 300, 120);
    for seed in [0, 5] {
        let options = ScanOptions { seed, threads: 2, ..ScanOptions::default() };
        for (algorithm, settings) in [
            ("imatch", &[][..]),
            ("simhash", &[("weights", "idf"), ("distance", "10"), ("force", "true")]),
            ("projection", &[("weights", "idf")]),
            ("projection", &[("weights", "idf"), ("cosine", "0.9")]),
            ("simhash", &[("weights", "idf"), ("distance", "10"), ("force", "true"), ("drop-common", "0.01")]),
            ("projection", &[("weights", "idf"), ("cosine", "0.9"), ("drop-common", "0.01")]),
        ] {
            let counts_features = settings.iter().any(|(name, _)| *name == "drop-common");
            let factory = || factory(algorithm, settings);
            let learned = outcome_with(&documents, &factory(), &options);
            assert!(learned.report.compared > 0 && pairs(&learned).len() > 20, "{algorithm}");
            // Terms of one document, which are the unknown ones, need not be listed.
            for min_df in [1, 2] {
                let lexicon = folder.read(built(&documents, &options, "word", min_df), seed).unwrap();
                let digest = lexicon.origin().unwrap().digest.clone();
                let given = outcome_with(&documents, &with_lexicon(factory(), lexicon), &options);
                assert_eq!(pairs(&given), pairs(&learned), "{algorithm}");
                let counted = given.report.timings.iter().any(|(stage, _)| *stage == "count");
                assert_eq!(counted, counts_features, "otherwise the documents are read once");
                let row = given.report.parameters.iter().find(|row| row.name == "lexicon").unwrap();
                assert!(row.is_identity() && row.value == digest.into());
            }
        }
    }
}

#[test]
fn with_a_lexicon_a_document_more_leaves_the_pairs_as_they_are() {
    let folder = Folder::new();
    let mut documents = related(&mut Random::new(4), 200, 100);
    let file = built(&documents[..150], &ScanOptions::default(), "word", 2);
    let settings = [("weights", "idf"), ("distance", "8"), ("force", "true")];
    for (algorithm, settings) in [("imatch", &[][..]), ("simhash", &settings[..])] {
        let factory = || with_lexicon(factory(algorithm, settings), folder.read(&file, 0).unwrap());
        let before = pairs(&outcome_with(&documents, &factory(), &ScanOptions::default()));
        assert!(before.len() > 20);
        for n in 0..3 {
            documents.insert(
                50 * n,
                (format!("more {n}"), (0..90).map(|i| format!("w{} unheard{n}of{i} ", i * n)).collect()),
            );
        }
        let after = pairs(&outcome_with(&documents, &factory(), &ScanOptions::default()));
        let of_old = after.into_iter().filter(|(a, b, _)| !a.starts_with("more") && !b.starts_with("more"));
        assert_eq!(of_old.collect::<Vec<_>>(), before);
        documents.retain(|(id, _)| !id.starts_with("more"));
    }
}

/// Made by hand: `printf` of the first line without its digest and of the others, through `sha1sum`.
const SMALL: &str = "{\"type\":\"lexicon\",\"version\":2,\"hash_version\":3,\"documents\":3,\"terms\":3,\"tokenizer\":\"word\",\"min_df\":2,\
    \"digest\":\"8864474252f730dc9508c960fed86de132258612\"}\n2\tfox\n2\tquick\n3\tthe\n";

#[test]
fn the_digest_is_that_of_the_file_without_it() {
    let documents: Vec<Text> = ["the quick fox", "the fox", "quick, the"].map(|text| (text.into(), text.into())).into();
    assert_eq!(built(&documents, &ScanOptions::default(), "word", 2), SMALL);
    let folder = Folder::new();
    let lexicon = folder.read(SMALL, 0).unwrap();
    assert_eq!((lexicon.documents(), lexicon.len()), (3, 3));
    let frequency = |term: &str, seed| neardups::hash::token_hash(term.as_bytes(), seed);
    assert_eq!(["the", "fox", "dog"].map(|term| lexicon.document_frequency(frequency(term, 0))), [3, 2, 0]);
    let seeded = folder.read(SMALL, 7).unwrap();
    assert_eq!([0, 7].map(|seed| seeded.document_frequency(frequency("the", seed))), [0, 3]);
    // Spaces in the first line are not what is meant.
    assert_eq!(folder.read(SMALL.replacen(",", ", ", 3), 0).unwrap(), lexicon);
    // Compressed.
    assert_eq!(folder.read(zstd::encode_all(SMALL.as_bytes(), 3).unwrap(), 0).unwrap(), lexicon);
}

#[test]
fn a_lexicon_of_the_first_version_is_refused_with_advice() {
    let error = Lexicon::read("fixtures/lexicon/version-1.lexicon".as_ref(), 0).unwrap_err().to_string();
    assert!(error.starts_with("fixtures/lexicon/version-1.lexicon:1: a lexicon of version 1, "), "{error}");
    assert!(error.ends_with("build it again from its documents"), "{error}");
}

#[test]
fn damage_is_named_with_its_line() {
    let folder = Folder::new();
    let refused = |content: &str, line: u64, why: &str| {
        let error = folder.read(content, 0).expect_err(why);
        assert!(error.contains(&format!("lex:{line}: ")) && error.contains(why), "{error}\n{why}");
    };
    let changed = |from: &str, to: &str| {
        assert!(SMALL.contains(from));
        SMALL.replacen(from, to, 1)
    };
    refused("", 1, "not a lexicon");
    refused("fox\t2\n", 1, "not \"fox\\t2\"");
    refused(&"x".repeat(100_000), 1, "not a lexicon");
    refused("{\"type\":\"pair\",\"version\":1}\n", 1, "not a lexicon");
    refused(&changed("\"version\":2", "\"version\":3"), 1, "version 3, and only version 2 can be read; use a newer");
    refused(&changed("\"version\":2", "\"version\":1"), 1, "version 1, and only version 2 can be read; its terms");
    let other = changed("\"hash_version\":3", "\"hash_version\":2");
    refused(&other, 1, "hash version 2, and only hash version 3 can be read; its terms may have been cut");
    refused(&changed("\"hash_version\":3,", ""), 1, "'hash_version' is missing");
    refused(&changed("\"min_df\":2", "\"min_df\":2,\"more\":1"), 1, "unknown field 'more'");
    refused(&changed(",\"digest\":\"8864474252f730dc9508c960fed86de132258612\"", ""), 1, "it has no digest");
    refused(&changed("\"documents\":3", "\"documents\":4"), 1, "it was changed");
    refused(&changed("\"tokenizer\":\"word\"", "\"tokenizer\":\"code\""), 1, "it was changed");
    refused(&changed("2\tfox", "2\tfix"), 1, "it was changed");
    refused(&changed("2\tfox", "3\tfox"), 1, "it was changed");
    refused(&changed("2\tfox", "4\tfox"), 2, "\"4\" is not a document frequency: expected a whole number from 2 to 3");
    for df in ["1", "+2", "02", "", "2.0", "99999999999"] {
        refused(&changed("2\tfox", &format!("{df}\tfox")), 2, "is not a document frequency");
    }
    refused(&changed("2\tfox", "2 fox"), 2, "expected a number, a tab and a term, not \"2 fox\"");
    refused(&changed("\tfox", "\tquick"), 3, "the term \"quick\" is listed twice");
    refused(&changed("\tfox", "\tzebra"), 3, "the term \"quick\" comes after \"zebra\"");
    refused(&changed("\tfox", "\t"), 2, "\"\" is not a term");
    refused(&changed("\tfox", "\tf\\x"), 2, "is not a term");
    refused(&changed("\tfox", "\tf\tx"), 2, "is not a term");
    refused(SMALL.strip_suffix("3\tthe\n").unwrap(), 4, "the file ends after 2 of 3 terms");
    refused(SMALL.strip_suffix("he\n").unwrap(), 4, "the file ends within this line");
    refused(&format!("{SMALL}3\tzoo\n"), 5, "more lines than the 3 terms");
    refused(&changed("\"terms\":3", "\"terms\":18446744073709551615"), 5, "the file ends after 3 of");
    let error =
        folder.read([SMALL.as_bytes()[..SMALL.len() - 4].to_vec(), b"\xff\n".to_vec()].concat(), 0).unwrap_err();
    assert!(error.contains("lex:4: the term is not UTF-8"), "{error}");
    let compressed = zstd::encode_all(SMALL.as_bytes(), 3).unwrap();
    assert!(folder.read(&compressed[..compressed.len() - 5], 0).unwrap_err().contains("cannot read the lexicon"));
    let missing = Lexicon::read(&folder.0.path().join("missing"), 0).unwrap_err().to_string();
    assert!(missing.contains("cannot read the lexicon") && missing.contains("missing"));
}

#[test]
fn a_lexicon_goes_with_its_tokenizer_and_with_what_uses_it() {
    let folder = Folder::new();
    let lexicon = || Arc::new(folder.read(SMALL, 0).unwrap());
    let error =
        |result: Result<TableFactory, neardups::Error>| result.err().map(|error| error.to_string()).unwrap_or_default();
    let imatch = factory("imatch", &[]).with_lexicon(lexicon()).unwrap();
    // Wherever it is run.
    let runs = |tokenizer: Arc<dyn Tokenizer>, seed: u64| {
        let options = ScanOptions { tokenizer: Arc::clone(&tokenizer), seed, ..ScanOptions::default() };
        let mut documents = Documents::new([("a", "the quick brown fox"), ("b", "the lazy dog")]);
        let seeded = |plan: Plan| plan.with_seed(Seed::Fixed(seed));
        [
            scan(&mut documents, None, &imatch, &options, &()).map(drop),
            compare(["the fox", "the dog"], &imatch, &*tokenizer, seed).map(drop),
            fingerprint("the fox", &imatch, &*tokenizer, seed).map(drop),
            Plan::new(&imatch, tokenizer).and_then(seeded).map(drop),
        ]
        .map(|result| result.err().map(|error| error.to_string()).unwrap_or_default())
    };
    assert_eq!(runs(Arc::new(Word), 0), ["", "", "", ""]);
    for other in runs(Arc::new(CharNgram::new(4)), 0) {
        assert!(other.contains("'word'") && other.contains("'char:4'"), "{other}");
    }
    for other in runs(Arc::new(Word), 1) {
        assert!(other.contains("hashed with another seed"), "{other}");
    }
    let plan = Plan::new(&imatch, Arc::new(Word)).unwrap();
    assert_eq!(Index::in_memory(&plan, Limits::default()).spec().seed, 0);
    assert!(plan.with_seed(Seed::Random).is_err());
    assert!(error(factory("simhash", &[]).with_lexicon(lexicon())).contains("no effect on simhash"));
    assert!(error(factory("minhash", &[]).with_lexicon(lexicon())).contains("no effect on minhash"));
}
